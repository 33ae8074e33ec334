#!/usr/bin/env python3
"""Cost of a solve against its load: twenty generated robots, sixty loads each, 2.5 % apart, every solve from the undeformed
configuration. Factorisations as a table and a plot; neighbours should differ by at most 1.5 times (and two factorisations,
below which a ratio says nothing), except where a mode of the tangent changes its sign between them: the solves then report
a buckling or limit load, or one load more than the other.

    cost_against_load.py [--pliant BUILD/pliant] [--seed N] [--loads 60] [--out FOLDER] [NAME ...]

Writes FOLDER/cost_against_load.csv and .svg and prints, per robot, median, largest count and the worst pair of neighbours
with the commands that repeat it. Exit status 1: some pair without a reported critical load differs by more.
"""
import argparse
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hard_cases as hard

RATIO, STEP, SMALL = 1.5, 1.025, 2


def bent_beam(times, draw):
    """A cantilever under a force across its tip, to large rotations."""
    length, width, height = draw(80), draw(8), draw(4)
    scale = width * height ** 3 / 12 / length ** 2  # P L^2 / E I = 1
    return hard.beam(length, width, height, height,
                     "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
                     "loads: {forces: [{marker: tip, force: [0, 0, %.9g]}]}\n" % (times * scale)), {}


def curled_beam(times, draw):
    """A beam that a cable beside its axis curls up."""
    length, width, height = draw(80), draw(8), draw(6)
    tension = math.pi * width * height ** 3 / 12 / (length * 0.35 * height)  # half a turn
    return hard.beam(length, width, height, height,
                     "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\nactuators:\n"
                     "  - {name: pull, kind: cable, through: [%s], radius: %g, drive: tension, range: [0, 99]}\n"
                     % (", ".join("[%g, 0, %g]" % (length * k / 8, 0.35 * height) for k in range(9)), height / 3)), \
        {"pull": "%.9g" % (times * tension)}


def balloon_tube(times, draw):
    """A quarter of a rubber tube under pressure, held at both ends."""
    radius, wall = draw(10), draw(2)
    return ("pliant: 1\nname: tube\nmesh: {design: {kind: tube, inner_radius: %g, wall: %g, length: 30, quarter: 1}, size: 4}\n"
            "materials: {m: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}}\nregions: {tube: m}\n"
            "fixed: [{surface: bottom}, {surface: top}, {surface: sx, axes: [x]}, {surface: sy, axes: [y]}]\n"
            "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [-1 MPa, 1 MPa]}]\n"
            "markers: {side: {at: [%g, 0, 15]}}\n" % (radius, wall, radius + wall)), {"air": "%.9gkPa" % (times * 100 * wall / radius)}


def discs(ratio, share):
    def make(times, draw):
        text, command, files = hard.discs(ratio, draw)
        return text, {"pull": "%.9g" % (command["pull"] * share * times)}, files
    return make


def cube(times, draw):
    return hard.cube(1 + times, draw)


def design(kind, size, command, changes={}):
    """A built-in design with another mesh size; `command`: name -> (value at the largest load, unit)."""
    def make(times, draw):
        return "DESIGN " + kind, {k: "%.9g%s" % (times * v, u) for k, (v, u) in command.items()}, {}, \
            {**{k: draw(v) for k, v in changes.items()}, "size": size}
    return make


# name: (robot, largest load); the smallest is 1.025^-59 = 0.233 of it
ROBOTS = {
    "bent_beam": (bent_beam, 8), "bent_beam_slow": (bent_beam, 1), "curled_beam": (curled_beam, 1.2),
    "strip": (hard.strip, 8), "strip_short": (hard.strip, 2), "column": (hard.column, 2.2), "column_high": (hard.column, 4),
    "cable_column": (hard.cable_column, 2), "ring": (hard.ring, 1.6), "ring_low": (hard.ring, 0.98),
    "cube": (cube, 1), "discs_100": (discs(100, 1), 1), "discs_10000": (discs(10000, 1), 1),
    "arch": (hard.arch, 1.5), "arch_low": (hard.arch, 0.24), "vacuum_box": (hard.vacuum_box, 8), "balloon_tube": (balloon_tube, 1),
    "finger": (design("bending_finger", "6 mm", {"air": (40, "kPa")}), 1),
    "cable_finger": (design("cable_finger", "9 mm", {"flexor": (14, "mm")}), 1),
    "bellows": (design("bellows_trunk", "9 mm", {"chamber1": (20, "kPa")}), 1),
}


def write_robot(name, times, pliant, seed, folder):
    """Robot file and options of the command that solves it at `times`."""
    make, _ = ROBOTS[name]
    source = random.Random(seed * 1000003 + sum(map(ord, name)))
    draw = (lambda v: v) if seed == 0 else (lambda v: v * source.uniform(0.9, 1.1))
    made = list(make(times, draw)) + [{}, {}]
    text, command, files, changes = made[:4]
    where = os.path.join(folder, "%s_%.6g" % (name, times))
    if text.startswith("DESIGN "):
        where = os.path.join(folder, name)
        if not os.path.exists(where):
            subprocess.run([pliant, "new", text[7:], where], check=True, stdout=subprocess.DEVNULL)
            set_design(where, changes)
        path = os.path.join(where, [n for n in os.listdir(where) if n.endswith(".yaml")][0])
    else:
        os.makedirs(where, exist_ok=True)
        path = os.path.join(where, "robot.yaml")
        open(path, "w").write(text)
        for file, mesh in files.items():
            hard.write_inp(os.path.join(where, file), *mesh)
    options = []
    for key, value in command.items():
        options += ["--set", "%s=%s" % (key, value)]
    return path, options


def set_design(where, changes):
    """Sizes of the design, and the mesh size, of the file that `pliant new` wrote."""
    path = os.path.join(where, [n for n in os.listdir(where) if n.endswith(".yaml")][0])
    lines = open(path).read().split("\n")
    for i, line in enumerate(lines):
        key = line.strip().split(":")[0]
        if key in changes and line.startswith("  "):
            lines[i] = line[:len(line) - len(line.lstrip())] + "%s: %s" % (key, changes[key])
    open(path, "w").write("\n".join(lines))


def solve(pliant, path, options, limit):
    call = [pliant, "fk", path, "--json", "-", "--no-mesh-error", "--beyond-range", *options]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=limit)
        record = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        record = {"outcome": "over the limit of %g s" % limit}
    except ValueError:
        record = {"outcome": "refused", "message": done.stderr.strip().split("\n")[-1]}
    record["call"] = " ".join(call)
    return record


def critical(record):
    """The kind of critical load that a solve reports; '' for a path without any."""
    return ("buckling " if record.get("buckling_load") else "") + ("limit " if record.get("limit_load") else "") + \
        ("" if record.get("outcome") == "solved" else record.get("outcome", "?"))


def worst_pair(rows):
    """Largest ratio of neighbours whose paths report the same critical points, and the pair."""
    worst = (1.0, None)
    for a, b in zip(rows, rows[1:]):
        low, high = sorted((a["factorizations"], b["factorizations"]))
        if low > 0 and a["critical"] == b["critical"] and high - low > SMALL and high / low > worst[0]:
            worst = (high / low, (a, b))
    return worst


def plot(path, table):
    """Small multiples: factorisations against the load; red where a critical load is reported."""
    across, w, h = 5, 230, 150
    down = (len(table) + across - 1) // across
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="10">'
           '<rect width="100%%" height="100%%" fill="white"/>' % (across * w, down * h)]
    for n, (name, rows) in enumerate(table.items()):
        x0, y0 = n % across * w + 32, n // across * h + 18
        most = max([r["factorizations"] for r in rows] + [10])
        logs = [math.log(r["load"]) for r in rows]
        at = lambda r: (x0 + (math.log(r["load"]) - logs[0]) / max(logs[-1] - logs[0], 1e-9) * (w - 45),
                        y0 + (h - 40) * (1 - r["factorizations"] / most))
        out.append('<text x="%g" y="%g" font-weight="bold">%s</text>' % (x0, y0 - 5, name))
        out.append('<path d="M%g %gv%gh%g" fill="none" stroke="#888"/>' % (x0, y0, h - 40, w - 45))
        out.append('<text x="%g" y="%g" text-anchor="end">%d</text><text x="%g" y="%g" text-anchor="end">0</text>'
                   % (x0 - 3, y0 + 8, most, x0 - 3, y0 + h - 40))
        out.append('<text x="%g" y="%g">%.3g</text><text x="%g" y="%g" text-anchor="end">%.3g</text>'
                   % (x0, y0 + h - 28, rows[0]["load"], x0 + w - 45, y0 + h - 28, rows[-1]["load"]))
        out.append('<polyline fill="none" stroke="#36c" points="%s"/>' % " ".join("%.1f,%.1f" % at(r) for r in rows))
        for r in rows:
            out.append('<circle cx="%.1f" cy="%.1f" r="1.6" fill="%s"/>' % (*at(r), "#c33" if r["critical"] else "#36c"))
    out.append("</svg>\n")
    open(path, "w").write("\n".join(out))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pliant", default="build/pliant")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--loads", type=int, default=60)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--out", default=".")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    pliant, table, failed = os.path.abspath(args.pliant), {}, []
    os.makedirs(args.out, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="cost_")
    for name in args.names or ROBOTS:
        rows = []
        for k in range(args.loads):
            times = ROBOTS[name][1] * STEP ** (k + 1 - args.loads)
            record = solve(pliant, *write_robot(name, times, pliant, args.seed, folder), args.limit)
            rows.append({"robot": name, "load": times, "outcome": record.get("outcome"), "critical": critical(record).strip(),
                         "factorizations": record.get("factorizations", 0), "solves": record.get("solves", 0),
                         "increments": record.get("increments", 0), "buckling_load": record.get("buckling_load") or 0,
                         "limit_load": record.get("limit_load") or 0, "elements": record.get("elements", 0), "call": record["call"]})
            if rows[-1]["outcome"] == "refused":
                print("%s: %s" % (name, record.get("message")), flush=True)
                break
        table[name] = rows
        ratio, pair = worst_pair(rows)
        counts = [r["factorizations"] for r in rows]
        print("%-15s %5d tets  median %5.1f, most %3d, not solved %2d, with a critical load %2d; neighbours differ %.2f times"
              % (name, rows[0]["elements"], statistics.median(counts), max(counts), sum(r["outcome"] != "solved" for r in rows),
                 sum(bool(r["buckling_load"] or r["limit_load"]) for r in rows), ratio), flush=True)
        if pair and ratio > RATIO:
            failed.append(name)
            for r in pair:
                print("    %3d factorisations at %.6g%s\n        %s" % (r["factorizations"], r["load"],
                                                                        ", " + r["critical"] if r["critical"] else "", r["call"]), flush=True)
        with open(os.path.join(args.out, "cost_against_load.csv"), "w", newline="") as f:
            writer = csv.DictWriter(f, [k for k in rows[0] if k != "call"], extrasaction="ignore")
            writer.writeheader()
            for each in table.values():
                writer.writerows(each)
        plot(os.path.join(args.out, "cost_against_load.svg"), table)
    counts = [r["factorizations"] for rows in table.values() for r in rows]
    print("%d solves, median %g, most %d factorisations; robots with neighbours more than %g times apart: %s"
          % (len(counts), statistics.median(counts), max(counts), RATIO, ", ".join(failed) or "none"))
    print("robot files: %s" % folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
