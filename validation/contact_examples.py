#!/usr/bin/env python3
"""Every contact example, judged independently of the solver: no vertex inside an obstacle or in another part.

Solves each example with `pliant fk --out shape.vtu --json`, reads the deformed vertices and asks closed forms of
the obstacles for their depth, and the record for crossing triangles, inverted elements and the penetration at the
points of contact. Depths are reported in parts of the mesh size of the example.

    python3 validation/contact_examples.py [--pliant build/pliant] [case ...]
"""
import argparse
import array
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "examples")

# name: file, commands, edge length (mm), obstacles as distance functions of a place (x, y, z)
CASES = {
    "finger on ball": ("contact/robot.yaml", ["air=40kPa"], 4.5,
                       lambda p: math.dist(p, (48, 0, -12)) - 10),
    "gripper, bar fixed": ("gripper/robot.yaml", ["grip=30kPa"], 5,
                           lambda p: bar(p, (48, 0, 0), [1, 0, 0, 0, 1, 0, 0, 0, 1])),
    "gripper, bar free": ("gripper/held.yaml", ["grip=30kPa"], 5, None),
}


def bar(p, centre, R):
    """Distance to the cylinder of the gripper (axis y, radius 10, length 40) at a pose."""
    d = [p[i] - centre[i] for i in range(3)]
    y = [sum(R[3 * k + i] * d[k] for k in range(3)) for i in range(3)]
    a, b = math.hypot(y[0], y[2]) - 10, abs(y[1]) - 20
    return max(a, b) if max(a, b) < 0 else math.hypot(max(a, 0), max(b, 0))


def rotation(w):
    """Rows of the rotation of a rotation vector."""
    t = math.sqrt(sum(v * v for v in w))
    if t < 1e-14:
        return [1, 0, 0, 0, 1, 0, 0, 0, 1]
    k = [v / t for v in w]
    K = [0, -k[2], k[1], k[2], 0, -k[0], -k[1], k[0], 0]
    KK = [sum(K[3 * i + m] * K[3 * m + j] for m in range(3)) for i in range(3) for j in range(3)]
    return [(i % 4 == 0) + math.sin(t) * K[i] + (1 - math.cos(t)) * KK[i] for i in range(9)]


def main():
    parser = argparse.ArgumentParser(description="depth of every vertex in the contact examples")
    parser.add_argument("--pliant", default=os.path.join(HERE, "..", "build", "pliant"))
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    bad = 0
    print(f"{'example':22}{'depth / edge':>14}{'at points':>12}{'crossings':>11}{'smallest J':>12}{'balance N':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, commands, edge, distance) in CASES.items():
            if args.case and name not in args.case:
                continue
            points, record = os.path.join(folder, "points.vtu"), os.path.join(folder, "record.json")
            run = [args.pliant, "fk", os.path.join(EXAMPLES, path), "--json", record, "--out", points]
            for c in commands:
                run += ["--set", c]
            out = subprocess.run(run, capture_output=True, text=True, check=False)
            if out.returncode != 0:
                print(f"{name:22}not solved: {out.stderr.strip()}")
                bad += 1
                continue
            with open(record, encoding="utf-8") as f:
                r = json.load(f)
            if distance is None:
                body = r["free_bodies"]["bar"]
                R = rotation(body["rotation"])
                distance = lambda p, c=body["position"], R=R: bar(p, c, R)
            # the frame of a free body (4 vertices, the last ones) is inside of it by design
            frames = 4 * len(r.get("free_bodies", {}))
            x = vertices(points)
            x = x[:len(x) - frames] if frames else x
            depth = max(0.0, max(-distance(p) for p in x)) / edge
            reported = max(c["penetration"] for c in r["contacts"].values()) / edge
            total = [sum(s["force"][i] for s in r["reactions"].values()) +
                     sum(c["force"][i] for n, c in r["contacts"].items() if "/" not in n and n != "self") for i in range(3)]
            balance = max(map(abs, total)) if "held" not in path else float("nan")
            crossings = r["crossings"]["pairs"]
            wrong = depth > 1e-3 or reported > 1e-3 or crossings > 0 or r["min_J"] <= 0
            bad += wrong
            print(f"{name:22}{depth:14.1e}{reported:12.1e}{crossings:11d}{r['min_J']:12.3f}{balance:12.1e}"
                  f"{'   <-- FAIL' if wrong else ''}")
    return 1 if bad else 0


def vertices(path):
    """Deformed positions in a VTU file of `pliant fk`: a raw appended block with a 64-bit length."""
    with open(path, "rb") as f:
        data = f.read()
    start = data.index(b"<AppendedData")
    head = data[:start].decode("utf-8")
    offset = int(re.search(r'<Points>.*?offset="(\d+)"', head, re.S).group(1))
    at = data.index(b"_", start) + 1 + offset
    v = array.array("d", data[at + 8:at + 8 + int.from_bytes(data[at:at + 8], "little")])
    return [v[i:i + 3] for i in range(0, len(v), 3)]


if __name__ == "__main__":
    sys.exit(main())
