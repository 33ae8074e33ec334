#!/usr/bin/env python3
"""The payload at which the gripper lets its bar slip.

Closes the fingers on the free bar of held.yaml while it is held, lets it go, then pulls at it along gravity in
growing steps, each from the equilibrium before, until it is not held any more; the last step is halved until
it is small.

    python3 payload.py [--grip 30kPa] [--most 0.4] [--pliant pliant] [--robot held.yaml]
"""
import argparse
import csv
import io
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def sweep(args, low, high, count):
    """Rows of a sweep of the pull from low to high N."""
    out = subprocess.run([args.pliant, "sweep", args.robot, "--set", f"grip={args.grip}",
                          "--set", f"bar={low:.6g}N:{high:.6g}N:{count}"],
                         capture_output=True, text=True, check=False)
    rows = list(csv.DictReader(io.StringIO(out.stdout)))
    if not rows:
        raise SystemExit(out.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description="the pull and the payload at which the bar slips")
    parser.add_argument("--grip", default="30kPa", help="pressure of both fingers")
    parser.add_argument("--most", type=float, default=0.4, help="N: the largest pull tried")
    parser.add_argument("--steps", type=int, default=9, help="steps of each of the two sweeps")
    parser.add_argument("--pliant", default="pliant", help="the program")
    parser.add_argument("--robot", default=os.path.join(HERE, "held.yaml"), help="the robot file")
    args = parser.parse_args()
    low, high, row = 0.0, args.most, None
    for _ in range(2):
        rows = sweep(args, low, high, args.steps)
        step = (high - low) / (args.steps - 1)
        held = 0
        while held < len(rows) and rows[held]["outcome"] == "solved":
            held += 1
        if held == 0 and row is None:
            raise SystemExit(f"at {args.grip} the bar is not held at all")
        row = rows[held - 1] if held else row
        low, high = low + max(held - 1, 0) * step, low + held * step
        if held == len(rows):
            raise SystemExit(f"still held at {args.most} N: raise --most")
    weight = float(row["bar.force_x [N]"])
    normal = float(row["bar.normal_force [N]"])
    print(f"grip {args.grip}: holds {weight:.4f} N ({1e3 * weight / 9.81:.1f} g), slips at {high - low:.4f} N more;"
          f" normal forces {normal:.4f} N, friction / normal {weight / normal:.3f}")


if __name__ == "__main__":
    main()
