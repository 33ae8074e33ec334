#!/usr/bin/env python3
"""Two laws of the records, on random fingers and beams at two mesh sizes:

records      the same solve gives the same numbers in the JSON of `fk` and `sweep`, the CSV of `sweep` and `study`, and the Python module
exit status  every verb ends with 0 exactly when its record says that what was asked is true: solved, or reached

usage: law_outputs.py [--pliant PLIANT] [--cases N]"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import numpy
import pliant

DIGITS = 1e-8  # CSV has ten digits


def robot(rng, folder, fine):
    """Writes a random robot; returns its path, a command within its range and one far beyond it."""
    kind = rng.choice(["cable", "beam", "air"])
    scale = rng.uniform(0.7, 1.4)
    mu = rng.uniform(0.05, 0.3)
    material = rng.choice([f"{{model: neo_hookean, c10: {mu / 2:.5g}, poisson: 0.45}}",
                           f"{{model: mooney_rivlin, c10: {0.4 * mu:.5g}, c01: {0.1 * mu:.5g}, poisson: 0.48}}",
                           f"{{model: linear, young: {2.8 * mu:.5g}, poisson: 0.4}}"])  # fmt: skip
    length, width, height = 60 * scale, 14 * scale, 16 * scale
    size = height * (0.35 if fine else 0.6)
    if kind == "air":
        radius, wall = 10 * scale, 4 * scale
        design = f"{{kind: sphere_shell, inner_radius: {radius:.5g}, wall: {wall:.5g}, octant: 1}}"
        body = ("regions: {shell: soft}\nfixed: [{surface: sx, axes: [x]}, {surface: sy, axes: [y]}, {surface: sz, axes: [z]}]\n"
                f"markers: {{tip: {{at: [{radius + wall:.5g}, 0, 0]}}}}\n"
                f"actuators: [{{name: pull, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, {300 * mu:.5g} kPa]}}]\n")  # fmt: skip
        good, bad, size = f"{rng.uniform(30, 100) * mu:.5g}kPa", f"{20000 * mu:.5g}kPa", wall * (0.6 if fine else 1.2)
    else:
        knuckles = 3 if kind == "cable" else 2
        design = f"{{kind: beam, length: {length:.5g}, width: {width:.5g}, height: {height:.5g}}}"
        points = ", ".join(f"[{length * (0.03 + 0.94 * i / knuckles):.5g}, 0, {0.2 * height:.5g}]" for i in range(knuckles + 1))
        body = ("regions: {body: soft}\nfixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
                f"actuators: [{{name: pull, kind: cable, radius: {0.15 * height:.5g}, through: [{points}], drive: shortening,"
                f" range: [0, {0.2 * length:.5g}]}}]\n")  # fmt: skip
        good, bad = f"{rng.uniform(0.02, 0.08) * length:.5g}mm", f"{0.9 * length:.5g}mm"
    path = os.path.join(folder, "robot.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"pliant: 1\nname: random\nmesh:\n  design: {design}\n  size: {size:.5g}\n  order: {rng.choice([1, 2])}\n"
                   f"materials: {{soft: {material}}}\n{body}")  # fmt: skip
    return path, good, bad


class Runner:
    def __init__(self, command, folder):
        self.command, self.folder = os.path.abspath(command), folder

    def __call__(self, *words, out=None):
        """Runs a verb; returns its exit status, its JSON record (None: none) and the rows of its CSV."""
        record, table = os.path.join(self.folder, "record.json"), os.path.join(self.folder, "table.csv")
        for path in (record, table):
            if os.path.exists(path):
                os.remove(path)
        words = [self.command, *words, "--json", record] + (["--out", table] if out else [])
        status = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        data = json.load(open(record, encoding="utf-8")) if os.path.exists(record) else None
        rows = list(csv.DictReader(open(table, encoding="utf-8"))) if os.path.exists(table) else []
        return status, data, rows


class Law:
    def __init__(self, name, what, allowed):
        self.name, self.what, self.allowed, self.cases, self.worst, self.failed = name, what, allowed, 0, 0.0, []

    def case(self, error, words):
        self.cases += 1
        self.worst = max(self.worst, error)
        if not error <= self.allowed:
            self.failed.append(words)
            print(f"  {self.name}: {words}", flush=True)

    def end(self):
        print(f"law: {self.name} | cases {self.cases} | worst {self.worst:.2g} {self.what} | allowed {self.allowed:g} |"
              f" {'FAIL' if self.failed or self.cases < 10 else 'ok'}")  # fmt: skip
        return bool(self.failed)


def difference(a, b, scale):
    return max(abs(x - y) for x, y in zip(a, b)) / scale


def check_records(law, run, path, command, seed):
    _, fk, _ = run("fk", path, "--set", f"pull={command}")
    _, sweep, rows = run("sweep", path, "--set", f"pull={command}:{command}:1", out=True)
    _, _, studied = run("study", path, "--vary", f"pull={command},{command}", out=True)
    state = pliant.load(path).solve(pull=command)
    tip = fk["markers"]["tip"]["position"]
    actuator = fk["actuators"]["pull"]
    measure, effort = (actuator[a] if a in actuator else actuator[b] for a, b in (("length", "volume"), ("tension", "pressure_kpa")))
    axes = [f"tip.{axis} [mm]" for axis in "xyz"]
    size = max(numpy.ptp(state.mesh.rest, axis=0))

    def column(row, word):
        return next(float(value) for name, value in row.items() if name.startswith(word))

    for name, found in (("sweep JSON", sweep[0]["markers"]["tip"]["position"]), ("sweep CSV", [float(rows[0][a]) for a in axes]),
                        ("study CSV", [float(studied[0][a]) for a in axes]), ("Python", state["tip"].position)):  # fmt: skip
        error = difference(tip, found, size)
        law.case(error, f"seed {seed}: position in {name} {found}, in fk {tip}")
    efforts = {"sweep CSV": column(rows[0], "pull.effort"), "study CSV": column(studied[0], "pull.effort"),
               "Python": float(state["pull"].effort)}  # fmt: skip
    for name, value in efforts.items():
        law.case(abs(value - effort) / abs(effort), f"seed {seed}: effort in {name} {value}, in fk {effort}")
    for name, value in {"energy": float(state.energy) - fk["energy"], "measure": float(state["pull"].measure) - measure}.items():
        law.case(abs(value) / max(abs(fk["energy"]), abs(measure)), f"seed {seed}: {name} in Python differs by {value}")


def solved(record):
    return record is not None and record["outcome"] == "solved" and record["converged"]


def check_status(law, run, path, command, seed, words):
    def expect(verb, status, good):
        law.case(int((status == 0) != good), f"seed {seed}: {verb} {words} ended with {status}, its record says {good}")

    status, fk, _ = run("fk", path, "--set", f"pull={command}", "--beyond-range")
    expect("fk", status, solved(fk))
    status, sweep, rows = run("sweep", path, "--set", f"pull=0:{command}:2", "--beyond-range", out=True)
    expect("sweep", status, sweep is not None and all(solved(r) for r in sweep) and all(r["outcome"] == "solved" for r in rows))
    status, data, _ = run("jacobian", path, "--set", f"pull={command}", "--beyond-range")
    expect("jacobian", status, solved(fk))
    status, data, rows = run("study", path, "--vary", f"pull=0,{command}", out=True)
    expect("study", status, data is not None and data["solved"] == data["points"] and all(r["outcome"] == "solved" for r in rows))
    goal = fk["markers"]["tip"]["position"] if solved(fk) else [1e3, 0, 0]
    target = ",".join(f"{x:.6f}" for x in goal)
    status, data, _ = run("ik", path, "--target", target, "--tolerance", "0.01")
    expect("ik", status, data is not None and solved(data) and data["reached"] is True and math.dist(goal, data["markers"]["tip"]["position"]) <= 0.011)
    waypoints = os.path.join(run.folder, "path.csv")
    with open(waypoints, "w", encoding="utf-8") as file:
        file.write("x,y,z\n" + target + "\n")
    status, data, rows = run("follow", path, waypoints, "--tolerance", "0.01mm", out=True)
    expect("follow", status, data is not None and data["reached_count"] == len(rows) and all(r["reached"] == "1" for r in rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pliant", default="build/pliant")
    parser.add_argument("--cases", type=int, default=6, help="robots, each at two mesh sizes")
    options = parser.parse_args()
    records = Law("records", "of the value (JSON, CSV, Python)", DIGITS)
    status = Law("exit status", "wrong statuses (fk, sweep, jacobian, study, ik, follow)", 0)
    for seed in range(options.cases):
        for fine in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                path, good, bad = robot(random.Random(seed), folder, fine)
                run = Runner(options.pliant, folder)
                check_records(records, run, path, good, seed)
                check_status(status, run, path, good, seed, good)
                if not fine:
                    check_status(status, run, path, bad, seed, bad)
    return 1 if records.end() + status.end() else 0


if __name__ == "__main__":
    sys.exit(main())
