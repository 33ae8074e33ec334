#!/usr/bin/env python3
"""One bending finger of two silicones, pressed onto a block and onto a ball: force and contact region compared.

    python3 press.py [--pliant pliant] [--size 5] [--pressures 20,30] [--out DIR for pictures]
"""
import argparse
import json
import os
import subprocess
import tempfile

ROBOT = """pliant: 1
name: press
mesh:
  design: {{kind: bending_finger, length: 60, width: 16, height: 16, modules: 5, slot: 2, wall: 2, side_wall: 2.5,
           top_wall: 2.5, channel_height: 3, channel_width: 5, layer: 2}}
  size: {size}
materials:
  silicone: {{use: {silicone}}}
  fabric: {{model: linear, young: 30 MPa, poisson: 0.4}}
regions: {{skin: silicone, layer: fabric}}
fixed: [{{surface: base}}]
actuators: [{{name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 60 kPa]}}]
markers: {{tip: {{surface: tip}}}}
contact:
  obstacles: [{{name: thing, {thing}}}]
"""
THINGS = {"block": "box: {centre: [55, 0, -12], size: [20, 24, 20]}", "ball": "sphere: {centre: [48, 0, -12], radius: 10}"}


def main():
    parser = argparse.ArgumentParser(description="Dragon Skin 20 against Ecoflex 00-30, on a block and on a ball")
    parser.add_argument("--pliant", default="pliant")
    parser.add_argument("--size", type=float, default=5)
    parser.add_argument("--out", help="folder for a picture of each case")
    parser.add_argument("--pressures", default="dragon_skin_20:40,ecoflex_00_30:5",
                        help="material:kPa, separated by commas")
    args = parser.parse_args()
    print("| material | on | pressure kPa | normal force N | contact area mm^2 | largest pressure kPa | tip turned deg |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for case in args.pressures.split(","):
            silicone, kpa = case.split(":")
            for thing, shape in THINGS.items():
                robot, record = os.path.join(folder, "robot.yaml"), os.path.join(folder, "record.json")
                with open(robot, "w", encoding="utf-8") as f:
                    f.write(ROBOT.format(size=args.size, silicone=silicone, thing=shape))
                run = [args.pliant, "fk", robot, "--set", f"air={kpa}kPa", "--json", record]
                if args.out:
                    run += ["--color", "contact_pressure", "--out", os.path.join(args.out, f"{silicone}_{thing}.png")]
                out = subprocess.run(run, capture_output=True, text=True, check=False)
                if out.returncode != 0:
                    print(f"| {silicone} | {thing} | {kpa} | {out.stderr.strip().splitlines()[-1]} | | | |", flush=True)
                    continue
                with open(record, encoding="utf-8") as f:
                    r = json.load(f)
                c = r["contacts"]["thing"]
                print(f"| {silicone} | {thing} | {kpa} | {c['normal_force']:.4f} | {c['area']:.1f} | "
                      f"{c['max_pressure_kpa']:.1f} | {r['markers']['tip'].get('bend_deg', float('nan')):.1f} |", flush=True)


if __name__ == "__main__":
    main()
