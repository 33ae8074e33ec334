"""Law: a motion does not depend on the steps it is computed with. Random robots are let go: under their weight from the undeformed shape, or
from a pose whose commands go to rest at once; fingers with a closed chamber are vented, or filled in a ramp (pressure, volume); each with first steps from 1 to 20 ms at one tolerance. The first five extrema of the marker
that swings most, along the direction in which it swings, must agree within 0.5 % of the largest displacement. Energy must not be created: the
imbalance of every row is at most the tolerance times the energy exchanged until then.
usage: law_motion.py [--pliant PLIANT] [--robots 10] [--seed 1] [--tolerance 1e-3]"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import tempfile

from lattice_mesh import lattice, write

ALLOWED = 0.005
STEPS = ["1ms", "2.3ms", "5ms", "10ms", "20ms"]
failed = False


def law(name, cases, worst, allowed, good):
    global failed
    failed = failed or not good
    print(f"law: {name} | cases {cases} | worst {worst} | allowed {allowed} | {'ok' if good else 'FAIL'}", flush=True)


def material(draw):
    young = draw.uniform(0.1, 1.0)
    prony = ""
    if draw.random() < 0.6:
        branches = [f"{{g: {draw.uniform(0.02, 0.3):.3f}, tau: {10 ** draw.uniform(-2.7, 0):.4f} s}}" for _ in range(draw.randint(1, 3))]
        prony = f", prony: [{', '.join(branches)}]"
    law_text = draw.choice(
        [
            f"model: neo_hookean, young: {young:.3f} MPa",
            f"model: mooney_rivlin, c10: {young / 8:.4f} MPa, c01: {young / 24:.4f} MPa",
            f"model: yeoh, c10: {young / 6:.4f} MPa, c20: {young / 200:.5f} MPa, c30: 0 MPa",
        ]
    )
    return f"{{{law_text}, poisson: {draw.choice([0.4, 0.45, 0.49])}, density: {draw.uniform(900, 1300):.0f} kg/m^3{prony}}}"


def pneumatic(draw, folder):
    """A finger with one closed chamber above its middle plane, inflated and vented at once, or filled at once."""
    length, side = draw.uniform(60, 110), draw.uniform(16, 26)
    cells = (6, 3, 4)
    points, tets = lattice(cells, lambda u, v, w: (length * u, side * (v - 0.5), side * (w - 0.5)), lambda i, j, k: not (0 < i < 5 and j == 1 and k == 2))
    write(os.path.join(folder, "finger.inp"), points, tets)
    young, drive = draw.uniform(0.1, 0.6), draw.choice(["pressure", "volume"])
    law = f"model: neo_hookean, young: {young:.3f} MPa, poisson: {draw.choice([0.4, 0.45, 0.49])}, density: {draw.uniform(900, 1300):.0f} kg/m^3"
    prony = f", prony: [{{g: {draw.uniform(0.05, 0.3):.3f}, tau: {10 ** draw.uniform(-2.7, -0.5):.4f} s}}]" if draw.random() < 0.5 else ""
    text = (
        f"pliant: 1\nname: drawn\nmesh: {{file: finger.inp}}\nmaterials: {{soft: {{{law}{prony}}}}}\nregions: {{body: soft}}\n"
        f"surfaces:\n  base: {{plane: {{point: [0, 0, 0], normal: [1, 0, 0]}}}}\n  tip: {{plane: {{point: [{length!r}, 0, 0], normal: [1, 0, 0]}}}}\n"
        f"  cavity: {{seen_from: [{length / 2!r}, 0, {side / 8!r}]}}\nfixed: [{{surface: base}}]\nmarkers: {{tip: {{surface: tip}}}}\n"
        f"actuators: [{{name: air, kind: chamber, surface: cavity, drive: {drive}}}]\n"
    )
    volume = length * side * side * 4 / (6 * 3 * 4)
    air = f"air={1e3 * young * draw.uniform(0.1, 0.2):.3f}kPa" if drive == "pressure" else f"air={volume * draw.uniform(1.4, 1.8) / 1e3:.4f}mL"
    options = ["--before", air, "--set", "air=0kPa"] if drive == "pressure" and draw.random() < 0.5 else ["--set", air, "--ramp", f"{draw.uniform(5, 30):.1f}ms"]
    return f"kind: pneumatic {drive},", text, options


def robot(draw, folder):
    """The text of a robot file and the options that let it go."""
    kind = draw.choice(["beam", "tentacle", "pulled", "cable_finger", "pneumatic", "pneumatic"])
    if kind == "pneumatic":
        label, text, options = pneumatic(draw, folder)
        return f"# {label}\n{text}", options
    gravity = "loads: {gravity: [0, 0, -9.81 m/s^2]}\n"
    head = "pliant: 1\nname: drawn\nmaterials:\n  soft: " + material(draw) + "\n"
    tail = "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
    if kind == "beam":
        length, side = draw.uniform(60, 140), draw.uniform(14, 34)
        mesh = f"mesh: {{design: {{kind: beam, length: {length:.1f}, width: {side:.1f}, height: {side * draw.uniform(0.6, 1):.1f}}}, size: {0.9 * side:.1f}, order: 2}}\n"
        return head + mesh + "regions: {body: soft}\n" + tail + gravity, ["--start", "undeformed"]
    if kind == "tentacle":
        mesh = f"mesh: {{design: {{kind: tentacle, length: {draw.uniform(120, 180):.1f}, base_diameter: {draw.uniform(24, 34):.1f}}}, size: 16, order: 2}}\n"
        return head + mesh + "regions: {body: soft}\n" + tail + gravity, ["--start", "undeformed"]
    if kind == "pulled":
        length, side = draw.uniform(80, 140), draw.uniform(16, 26)
        mesh = f"mesh: {{design: {{kind: beam, length: {length:.1f}, width: {side:.1f}, height: {side:.1f}}}, size: {0.9 * side:.1f}, order: 2}}\n"
        path = ", ".join(f"[{part * length:.2f}, 0, {0.35 * side:.2f}]" for part in (0, 0.25, 0.5, 0.75, 0.95))
        pull = f"actuators: [{{name: pull, kind: cable, through: [{path}], drive: tension}}]\n"
        newton = draw.uniform(0.2, 0.6)
        return head + mesh + "regions: {body: soft}\n" + tail + pull, ["--before", f"pull={newton:.3f}N", "--set", "pull=0N"]
    mesh = f"mesh: {{design: {{kind: cable_finger, length: {draw.uniform(90, 130):.1f}}}, size: 14, order: 2}}\n"
    return head + mesh + "regions: {body: soft}\n" + tail + gravity, ["--start", "undeformed"]


def run(pliant, folder, *args, limit=500):
    try:
        done = subprocess.run([pliant, *args], cwd=folder, capture_output=True, text=True, timeout=limit)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, "took too long"


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    return [{name.split(" [")[0]: float(value) if value else math.nan for name, value in row.items()} for row in table]


def direction(table):
    """Along which the tip swings: its largest displacement from where it began."""
    start = [table[0][f"tip.{axis}"] for axis in "xyz"]
    far = max(table, key=lambda row: sum((row[f"tip.{axis}"] - s) ** 2 for axis, s in zip("xyz", start)))
    span = [far[f"tip.{axis}"] - s for axis, s in zip("xyz", start)]
    size = math.sqrt(sum(v * v for v in span))
    return start, [v / size for v in span], size


def extrema(table, start, along, size, count):
    """Values at the first turning points, by parabolas through three rows; a turn counts when the distance back exceeds 2 % of the largest displacement, so
    that ripples which one step resolves and another does not are left out."""
    u = [sum((row[f"tip.{axis}"] - s) * a for axis, s, a in zip("xyz", start, along)) for row in table]
    out, best, sign = [], 0, 0
    for i in range(1, len(u)):
        if sign == 0 and abs(u[i] - u[0]) > 0.02 * size:
            sign = 1 if u[i] > u[0] else -1
        if sign * (u[i] - u[best]) >= 0:
            best = i
        elif sign and abs(u[i] - u[best]) > 0.02 * size:
            curve, slope = u[best + 1] - 2 * u[best] + u[best - 1], 0.5 * (u[best + 1] - u[best - 1])
            out.append(u[best] - 0.5 * slope * slope / curve if curve else u[best])
            best, sign = i, -sign
    return out[:count]


def created(table):
    """The largest imbalance over the energy exchanged until then."""
    exchanged = worst = 0.0
    for before, row in zip(table, table[1:]):
        exchanged += sum(abs(row[part] - before[part]) for part in ("kinetic", "elastic", "viscous", "actuators", "loads")) / 2
        worst = max(worst, row["imbalance"] / exchanged) if exchanged > 0 else worst
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pliant", default="pliant")
    parser.add_argument("--robots", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=1e-3)
    given = parser.parse_args()
    given.pliant = os.path.abspath(given.pliant) if os.sep in given.pliant else given.pliant
    draw = random.Random(given.seed)
    spread = gained = 0.0
    cases = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.robots):
            text, options = robot(draw, folder)
            kind = text.split("kind: ")[1].split(",")[0].rstrip("}")
            with open(os.path.join(folder, "robot.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
            status, said = run(given.pliant, folder, "modes", "robot.yaml", "--count", "1", "--json", "modes.json")
            if status != 0:
                print(f"  {number} {kind}: modes: {said.strip()}")
                law("frequency of the robot drawn", number, "none", "one", False)
                continue
            with open(os.path.join(folder, "modes.json"), encoding="utf-8") as file:
                period = 1 / abs(json.load(file)["modes"][0]["frequency_hz"])
            found, counts = [], []
            for first in STEPS:
                status, said = run(given.pliant, folder, "simulate", "robot.yaml", *options, "--until", f"{3.2 * period:.5f}s", "--every",
                                   f"{period / 200:.7f}s", "--tolerance", str(given.tolerance), "--first-step", first, "--out", "motion.csv", "--force")
                if status != 0:
                    print(f"  {number} {kind} {first}: {said.strip()}")
                    law("motion of the robot drawn", number, "none", "one", False)
                    continue
                table = rows(os.path.join(folder, "motion.csv"))
                if not found:
                    start, along, size = direction(table)
                found.append(extrema(table, start, along, size, 5))
                gained = max(gained, created(table))
                counts.append(said.split(" in ")[1].split(" steps")[0])
            least = min((len(e) for e in found), default=0)
            off = max((max(e[k] for e in found) - min(e[k] for e in found)) / size for k in range(least)) if least else math.inf
            print(f"  {number} {kind}, {size:.2f} mm, {period * 1e3:.0f} ms, {least} extrema, {'/'.join(counts)} steps: spread {100 * off:.3f} %, created {100 * gained:.3f} %", flush=True)
            spread, cases = max(spread, off), cases + len(found)
    law("extrema do not depend on the first step", cases, f"{100 * spread:.3f} %", f"{100 * ALLOWED} %", spread <= ALLOWED)
    law("energy is not created, over that exchanged", cases, f"{gained:.2e}", f"{given.tolerance:.0e}", gained <= given.tolerance)
    raise SystemExit(failed)


main()
