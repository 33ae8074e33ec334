#!/usr/bin/env python3
"""Table I of the collision-aware simulator (paper 004) on our designs: finger, twisting robot, membrane.

Per robot, with contact off and on: elements, seconds for the mesh, for finding contacts (one search, and all of them) and for the
whole solve, the tip, and the pairs of surface triangles that cross. What contact costs is the difference of the solves. The paper's
numbers are for one step of the actuation on an Intel i7 and linear tetrahedra, ours for the whole path from rest on quadratic ones.

    python3 validation/table_one.py [--pliant build/pliant] [NAME ...]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# kind, commands, marker, the paper's tets, mesh, check, response, solver
ROBOTS = {
    "finger": ("bending_finger", ["air=40kPa"], "tip", 79048, 3.54, 0.07, 4.38, 7.46),
    "twister": ("twister", ["air=3"], "tip", 28198, 2.81, 0.03, 1.71, 3.54),
    "membrane": ("membrane", ["pillows.air1=6kPa"], "membrane.over1", 34680, 0.96, 0.12, 1.63, 3.83),
}


def without_contact(text):
    """The robot file without its block `contact:`."""
    return re.sub(r"(?m)^contact:.*\n(?:[ \t]+.*\n|\n)*", "", text)


def solve(pliant, robot, commands, folder):
    record = os.path.join(folder, "record.json")
    run = [pliant, "fk", robot, "-v", "--no-cache", "--json", record]
    for command in commands:
        run += ["--set", command]
    said = subprocess.run(run, capture_output=True, text=True, check=False)
    words = said.stdout + said.stderr
    if said.returncode != 0:
        print(words[-400:])
        return None
    loading, solving = re.search(r"loading ([0-9.]+) s, solving ([0-9.]+) s", words).groups()
    found = re.search(r"contact: (\d+) searches .* (\d+) in the list, .* ([0-9.]+) s", words)
    with open(record, encoding="utf-8") as file:
        reported = json.load(file)
    return {"loading": float(loading), "solving": float(solving), "record": reported,
            "searches": int(found[1]) + int(found[2]) if found else 0, "finding": float(found[3]) if found else 0.0}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pliant", default=os.path.join(HERE, "..", "build", "pliant"))
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    failed = 0
    print("| | elements | mesh s | one search ms (all, s) | solve off, on s | factorisations off, on | tip off, on mm | crossings off, on "
          "| paper: tets, mesh, check, response, solver s |")
    print("| --- " * 9 + "|")
    for name in args.names or ROBOTS:
        kind, commands, marker, *paper = ROBOTS[name]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([args.pliant, "new", kind, folder], check=True, capture_output=True)
            robot = os.path.join(folder, "robot.yaml")
            with open(robot, encoding="utf-8") as file:
                text = file.read()
            off, on = without_contact(text), text if re.search(r"(?m)^contact:", text) else text + "\ncontact: {self: true}\n"
            reported = []
            for version in off, on:
                with open(robot, "w", encoding="utf-8") as file:
                    file.write(version)
                reported.append(solve(args.pliant, robot, commands, folder))
        if None in reported:
            failed += 1
            print(f"| {name} | not solved |")
            continue
        tip = [", ".join(f"{x:.2f}" for x in t["record"]["markers"][marker]["position"]) for t in reported]
        crossings = [(t["record"].get("crossings") or {}).get("pairs", 0) for t in reported]
        factors = [t["record"]["factorizations"] for t in reported]
        failed += crossings[1] > 0
        print(f"| {name} | {reported[1]['record']['elements']} | {reported[1]['loading']:.2f} | {1e3 * reported[1]['finding'] / max(1, reported[1]['searches']):.1f} "
              f"({reported[1]['finding']:.2f}) | {reported[0]['solving']:.1f}, {reported[1]['solving']:.1f} | {factors[0]}, {factors[1]} | {tip[0]}; {tip[1]} | "
              f"{crossings[0]}, {crossings[1]} | {paper[0]}, {', '.join(f'{p:g}' for p in paper[1:])} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
