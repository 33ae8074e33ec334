"""Laws of what is kept of a result: the same commands give the same numbers whatever was solved before, what acted is in the
record, damage is seen, a file is replaced whole or not at all, nothing that was handed out changes a record. Random commands
and forces on five designs at two mesh sizes; the same numbers also where bodies touch.
usage: law_records.py --pliant PLIANT      (PYTHONPATH: the folder of the module)"""
import argparse
import json
import os
import pickle
import resource
import sqlite3
import subprocess
import sys
import tempfile

import numpy as np
import pliant as pl

DESIGNS = {"bending_finger": (9, 7), "cable_finger": (16, 12), "beam": (12, 9), "three_chamber": (10, 8), "segment_beam": (0, 0)}
failed = False


def law(name, cases, worst, allowed, good):
    global failed
    failed = failed or not good
    print(f"law: {name} | cases {cases} | worst {worst} | allowed {allowed} | {'ok' if good else 'FAIL'}")


def numbers(state):
    return np.asarray(state._block).tobytes() + np.asarray(state._answer).tobytes()


def draw(robot, rng):
    return {c.name: float(rng.uniform(c.span[0], c.span[0] + 0.3 * (c.span[1] - c.span[0]))) for c in robot.commands.values()}


def robots():
    for kind, sizes in DESIGNS.items():
        for size in sizes:
            yield pl.design(kind, size=size, order=1) if size else pl.design(kind)


def history(everyone, rng):
    """Solve, do other things, solve again: the same bits; also in a robot of its own."""
    cases = differ = 0
    apart = 0.0
    for robot in everyone:
        for _ in range(2):
            commands = draw(robot, rng)
            first = robot.solve(commands)
            other = robot.solve(draw(robot, rng))
            if other.converged and robot.commands:
                other.jacobian()
                other.solve(draw(robot, rng))
            again = robot.solve(commands)
            cases += 1
            differ += numbers(again) != numbers(first)
            apart = max(apart, float(np.abs(again.points - first.points).max()))
    law("same commands, same numbers", cases, f"{differ} differ, {apart:.1e} mm apart", "0", differ == 0)


def forces(everyone, rng):
    """Forces given are those of the record, the table, the pickle, and of the next solve."""
    cases = wrong = 0
    for robot in everyone:
        if robot.kind != "full":
            continue
        for _ in range(2):
            marker = str(rng.choice(list(robot.markers)))
            force = [float(v) for v in rng.normal(0, 1e-3, 3)]
            state = robot.solve(draw(robot, rng), forces={marker: force})
            if not state.converged:
                continue
            kept = [state, pickle.loads(pickle.dumps(state)), state.solve(draw(robot, rng))]
            state.save("f.state")
            kept.append(robot.load_state("f.state"))
            wrong += any(s.to_dict()["forces"] != {marker: force} for s in kept)
            wrong += robot.solve(draw(robot, rng)).forces != {}
            cases += 1
    law("forces stay with the state", cases, f"{wrong} lost", "0", wrong == 0 and cases >= 10)


def read_only(everyone, rng):
    """Writing into anything handed out fails, and the record is as before."""
    cases = written = 0
    for robot in everyone:
        state = robot.solve(draw(robot, rng))
        before = json.dumps(state.to_dict()["markers"])
        arrays = [robot.markers[m] for m in robot.markers] + [state.points, state.mesh.points, state.mesh.rest]
        for m in state.markers.values():
            arrays += [m.position, m.displacement] + ([] if m.rotation is None else [m.rotation])
        for a in arrays:
            cases += 1
            try:
                a[...] = 1e6
                written += 1
            except ValueError:
                pass
        written += json.dumps(state.to_dict()["markers"]) != before
    law("results are read-only", cases, f"{written} written", "0", written == 0)


def damage(everyone, rng, command):
    """A bit of a pickle or of a stored sample is flipped: refused, left out, or without effect."""
    cases = unseen = 0
    for robot in everyone:
        data = pickle.dumps(robot.solve(draw(robot, rng)))
        want = numbers(pickle.loads(data))
        for k in rng.integers(0, len(data), 20):
            wrong = bytearray(data)
            wrong[k] ^= 1 << int(rng.integers(8))
            cases += 1
            try:
                unseen += numbers(pickle.loads(bytes(wrong))) != want
            except Exception:
                pass
    beam = pl.design("segment_beam")
    beam.save("beam.yaml")
    subprocess.run([command, "sample", "beam.yaml", "--samples", "20", "--jobs", "1", "--out", "d.sqlite"], check=True, capture_output=True)
    for _ in range(20):
        with open("d.sqlite", "rb") as file, open("w.sqlite", "wb") as out:
            out.write(file.read())
        column = str(rng.choice(["command", "marker", "rotation", "jacobian", "effort", "measure"]))
        number = int(rng.integers(20))
        with sqlite3.connect("w.sqlite") as db:
            blob = bytearray(db.execute(f"SELECT {column} FROM sample WHERE number = ?", (number,)).fetchone()[0])
            blob[int(rng.integers(len(blob)))] ^= 1 << int(rng.integers(8))
            db.execute(f"UPDATE sample SET {column} = ? WHERE number = ?", (bytes(blob), number))
        db.close()
        said = subprocess.run(
            [command, "learn", "w.sqlite", "--epochs", "1", "--hidden", "2", "--positions-only", "--out", "m.yaml", "--force"],
            capture_output=True, text=True,
        )
        cases += 1
        unseen += f"the checksum of number {number}" not in said.stderr
    law("damage is seen", cases, f"{unseen} unseen", "0", unseen == 0)


def whole_files(everyone, rng):
    """A save that fails leaves the file that was there."""
    cases = changed = 0
    for robot in everyone:
        state = robot.solve(draw(robot, rng))
        table = robot.sweep({c.name: np.full(6, c.span[0]) for c in robot.commands.values()}) if robot.commands else None
        writers = {n: state.save for n in ("a.csv", "a.json", "a.stl", "a.state", "a.png")}
        writers["r.yaml"] = robot.save
        if table is not None:
            writers["t.csv"] = table.save
        for name, write in writers.items():
            with open(name, "w") as file:
                file.write("before")
            limit = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, limit[1]))
            try:
                write(name)
                changed += 1
            except pl.Error:
                pass
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            with open(name) as file:
                changed += file.read() != "before"
            cases += 1
    law("a failed save keeps the file", cases, f"{changed} changed", "0", changed == 0)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pliant", required=True)
    arguments.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    given = arguments.parse_args()
    command = os.path.abspath(given.pliant)
    rng = np.random.default_rng(given.seed)
    print(f"seed {given.seed}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        os.chdir(folder)
        everyone = list(robots())
        history([*everyone, *(pl.design("membrane", size=size, order=1) for size in (40, 25))], rng)
        forces(everyone, rng)
        read_only(everyone, rng)
        damage(everyone, rng, command)
        whole_files(everyone, rng)
        os.chdir("/")
    return failed


if __name__ == "__main__":
    sys.exit(main())
