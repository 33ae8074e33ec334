#!/usr/bin/env python3
"""Self-contact in narrow slots: a bellows finger bent to 150 degrees, with contact off and on.

Raises the pressure in steps until the tip has turned by 150 degrees, for each width of the slots. Per slot and setting: the tip, pairs of surface triangles that
cross, the deepest penetration at the points of contact (vertices and centres of faces) over the edge there, normal
forces, the smallest J, factorisations and CPU time of the whole path.

    python3 validation/contact_slots.py [--pliant build/pliant] [--size 4.5] [--picture FOLDER] [slot mm ...]
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROBOT = """pliant: 1
name: slots
mesh:
  design: {{kind: bending_finger, length: 96, width: 16, height: 16, modules: 8, slot: {slot}, wall: 2, side_wall: 2.5,
           top_wall: 2.5, channel_height: 3, channel_width: 5, layer: 2}}
  size: {size}
materials:
  silicone: {{model: neo_hookean, c10: 0.12 MPa, poisson: 0.49}}
  fabric: {{model: linear, young: 30 MPa, poisson: 0.4}}
regions: {{skin: silicone, layer: fabric}}
fixed: [{{surface: base}}]
actuators: [{{name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 200 kPa]}}]
markers: {{tip: {{surface: tip}}}}
contact: {{self: {contact}}}
"""
ANGLE = 150.0


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bend(args, folder, slot, contact):
    """The record of the first step beyond ANGLE, or of the last one solved, and counts of the path to it."""
    robot = os.path.join(folder, "robot.yaml")
    state = os.path.join(folder, "state")
    record = os.path.join(folder, "record.json")
    with open(robot, "w", encoding="utf-8") as file:
        file.write(ROBOT.format(slot=slot, size=args.size, contact=str(contact).lower()))
    if os.path.exists(state):
        os.remove(state)
    best, factors, start, said = None, 0, cpu(), ""
    pressure = 0.0
    while pressure < args.most - 1e-9:
        # longer steps at first
        pressure += args.step * (2 if pressure == 0 else 1)
        run = [args.pliant, "fk", robot, "--set", f"air={pressure:.4g}kPa", "--state", state, "--json", record,
               "--time-limit", "120s"]
        if args.picture and best and best["markers"]["tip"]["bend_deg"] > ANGLE - 60:
            run += ["--color", "contact_pressure" if contact else "displacement", "--out",
                    os.path.join(args.picture, f"slot_{slot:g}_{'on' if contact else 'off'}.png")]
        if os.path.exists(record):
            os.remove(record)
        out = subprocess.run(run, capture_output=True, text=True, check=False)
        if not os.path.exists(record):
            said = out.stderr
            break
        with open(record, encoding="utf-8") as file:
            now = json.load(file)
        factors += now["factorizations"]
        if now["outcome"] != "solved":
            said = now.get("message", out.stderr)
            break
        best = now
        if now["markers"]["tip"]["bend_deg"] >= ANGLE:
            break
    return best, factors, cpu() - start, said


def main():
    parser = argparse.ArgumentParser(description="self-contact in narrow slots")
    parser.add_argument("--pliant", default=os.path.join(HERE, "..", "build", "pliant"))
    parser.add_argument("--size", type=float, default=4.5, help="mm: edge length")
    parser.add_argument("--step", type=float, default=20, help="kPa")
    parser.add_argument("--most", type=float, default=160, help="kPa: largest pressure")
    parser.add_argument("--picture", help="a folder for pictures of the last shapes")
    parser.add_argument("slot", nargs="*", type=float, default=[0.5, 1, 2, 3])
    args = parser.parse_args()
    wrong = 0
    print("| slot mm | contact | turned deg | tip x, z mm | kPa | crossings | penetration / edge |"
          " normal forces N | smallest J | factorisations | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for slot in args.slot:
        seconds = {}
        for contact in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                now, factors, seconds[contact], said = bend(args, folder, slot, contact)
            if now is None:
                print(f"| {slot:g} | {contact} | nothing solved: {said} |")
                wrong += 1
                continue
            tip = now["markers"]["tip"]
            deep = now["contact_penetration"][-1] if contact else float("nan")
            force = now["contacts"]["self"]["normal_force"] if contact else 0
            turned = tip["bend_deg"]
            effort = now["actuators"]["air"].get("pressure_kpa", float("nan"))
            print(f"| {slot:g} | {'on' if contact else 'off'} | {turned:.1f} | {tip['position'][0]:.2f},"
                  f" {tip['position'][2]:.2f} | {effort:.1f} | {now['crossings']['pairs']} | {deep:.1e} |"
                  f" {force:.3f} | {now['min_J']:.2f} | {factors} | {seconds[contact]:.1f} |", flush=True)
            if said:
                print(f"  {said}")
            wrong += contact and (turned < ANGLE or now["crossings"]["pairs"] > 0 or deep > 1e-3 or now["min_J"] <= 0)
        if len(seconds) == 2 and seconds[False] > 0:
            print(f"  slot {slot:g}: CPU with contact over without {seconds[True] / seconds[False]:.2f}")
    print("FAIL" if wrong else "PASS")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
