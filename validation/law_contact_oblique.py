#!/usr/bin/env python3
"""A ball pressed into a soft block by an oblique force: solved at every angle, size and friction, and in balance.

A cantilever of 30 x 14 x 14 mm is pressed onto a fixed ball under its tip by 0.8 N at -50 to 50 degrees from the normal
(one angle also sideways), with balls of 6 and 20 mm, elements of 6 and 4 mm, friction 0 and 0.4. Law: every pose is
solved, and the forces on support, ball and tip add up to zero.

    python3 validation/law_contact_oblique.py [--pliant build/pliant]
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROBOT = """pliant: 1
name: oblique
materials: {{m: {{model: neo_hookean, c10: 0.1 MPa, poisson: 0.45}}}}
mesh: {{design: {{kind: beam, length: 30, width: 14, height: 14}}, size: {size}}}
regions: {{body: m}}
fixed: [{{surface: base}}]
markers: {{tip: {{surface: tip}}}}
loads: {{forces: [{{marker: tip, force: [{fx} N, {fy} N, {fz} N]}}]}}
contact: {{friction: {mu}, obstacles: [{{name: ball, sphere: {{centre: [24, 0, {z}], radius: {radius}}}}}]}}
"""
ANGLES = (-50, -25, 0, 25, 50)
FORCE = 0.8
ALLOWED = 1e-6


def pose(pliant, folder, radius, size, mu, angle):
    """Outcome, unbalanced force over the applied one, normal force, factorisations."""
    force = [FORCE * math.sin(math.radians(angle)), 0.2 * FORCE if angle == 25 else 0, -FORCE * math.cos(math.radians(angle))]
    path = os.path.join(folder, "robot.yaml")
    with open(path, "w") as f:
        f.write(ROBOT.format(size=size, fx=force[0], fy=force[1], fz=force[2], mu=mu, z=-7.01 - radius, radius=radius))
    done = subprocess.run([pliant, "fk", path, "--no-mesh-error", "--json", "-"], capture_output=True, text=True)
    record = json.loads(done.stdout)
    ball, base = record["contacts"]["ball"], record["reactions"]["base"]
    left = [force[i] + ball["force"][i] + base["force"][i] for i in range(3)]
    return record["outcome"], math.hypot(*left) / FORCE, ball["normal_force"], record["factorizations"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pliant", default="build/pliant")
    arguments = parser.parse_args()
    cases, unsolved, worst, apart = 0, 0, 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for radius in (6, 20):
            for mu in (0, 0.4):
                for angle in ANGLES:
                    normal = []
                    for size in (6, 4):
                        outcome, off, n, factorisations = pose(arguments.pliant, folder, radius, size, mu, angle)
                        print(f"ball {radius:2d} mm, size {size}, friction {mu}, {angle:4d} degrees: {outcome}, "
                              f"normal {n:.4f} N, unbalanced {off:.1e}, {factorisations} factorisations", flush=True)
                        cases += 1
                        unsolved += outcome != "solved"
                        worst = max(worst, off if outcome == "solved" else 0)
                        normal.append(n)
                    apart = max(apart, abs(normal[0] / normal[1] - 1) if normal[1] > 0 else 0)
    print(f"normal forces at both sizes differ by at most {100 * apart:.1f} %")
    good = unsolved == 0 and worst <= ALLOWED
    print(f"law: contact under an oblique force | cases {cases} | worst {unsolved} not solved, {worst:.1e} unbalanced"
          f" | allowed 0, {ALLOWED:g} | {'ok' if good else 'FAIL'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
