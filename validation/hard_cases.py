#!/usr/bin/env python3
"""Robots that are hard for an equilibrium solver: slender bodies beyond their buckling loads, rings, domes that snap,
nearly incompressible rubber, stiff discs beside silicone, vacuum boxes, pressure on open surfaces, wound fingers. Every
robot is generated; SEED varies sizes and loads within 10 % (0: the nominal ones). Prints outcome, counts of
factorisations and solves, and the largest of them.

    hard_cases.py [--pliant BUILD/pliant] [--seed N] [--limit S] [NAME ...]
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

# the six tetrahedra of a cube around its diagonal, by the order in which the axes are followed
KUHN = [(a, b, c) for a in range(3) for b in range(3) for c in range(3) if len({a, b, c}) == 3]


def box_mesh(cells, size, keep=lambda i, j, k: "body"):
    """Vertices and {region: tets} of a box of cells; keep(i, j, k) names the region of a cell, None: empty."""
    number, points, regions = {}, [], {}

    def vertex(key):
        if key not in number:
            number[key] = len(points) + 1
            points.append([key[a] * size[a] / cells[a] for a in range(3)])
        return number[key]

    for i in range(cells[0]):
        for j in range(cells[1]):
            for k in range(cells[2]):
                region = keep(i, j, k)
                if region is None:
                    continue
                for order in KUHN:
                    corner, tet = [i, j, k], [vertex((i, j, k))]
                    for axis in order:
                        corner[axis] += 1
                        tet.append(vertex(tuple(corner)))
                    if order in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
                        tet[2], tet[3] = tet[3], tet[2]
                    regions.setdefault(region, []).append(tet)
    return points, regions


def write_inp(path, points, regions):
    with open(path, "w") as f:
        f.write("*NODE\n")
        for n, p in enumerate(points, 1):
            f.write("%d, %.12g, %.12g, %.12g\n" % (n, *p))
        e = 0
        for region, tets in regions.items():
            f.write("*ELEMENT, TYPE=C3D4, ELSET=%s\n" % region)
            for tet in tets:
                e += 1
                f.write("%d, %d, %d, %d, %d\n" % (e, *tet))


LINEAR = "materials: {m: {model: linear, young: 1 MPa, poisson: 0.3}}\nregions: {body: m}\n"


def beam(length, width, height, size, rest):
    return ("pliant: 1\nname: beam\nmesh: {design: {kind: beam, length: %g, width: %g, height: %g}, size: %g}\n%s%s"
            % (length, width, height, size, LINEAR, rest))


def strip(times, draw):
    length, width, height = draw(60), draw(4), draw(2)
    euler = 4 * math.pi ** 2 * (width * height ** 3 / 12) / (length * width * height)
    return beam(length, width, height, 2 * height,
                "fixed: [{surface: base}, {surface: tip, move: [%g, 0, 0]}]\nmarkers: {middle: {at: [%g, 0, 0]}}\n"
                % (-times * euler, length / 2)), {}


def column(times, draw):
    length, width, height = draw(60), draw(5), draw(3)
    critical = math.pi ** 2 * (width * height ** 3 / 12) / (4 * length ** 2)
    return beam(length, width, height, 1.5 * height,
                "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
                "loads: {forces: [{marker: tip, force: [%g, 0, 0]}]}\n" % (-times * critical)), {}


def deep_cantilever(times, draw):
    """A high and narrow cantilever with a force down at its tip: it buckles sideways, P_cr = 4.013 sqrt(EI GJ) / L^2."""
    length, width, height = draw(80), draw(2), draw(10)
    bending, torsion = height * width ** 3 / 12, height * width ** 3 / 3 * (1 - 0.63 * width / height) / 2.6
    critical = 4.013 * math.sqrt(bending * torsion) / length ** 2
    return beam(length, width, height, 2.5,
                "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
                "loads: {forces: [{marker: tip, force: [0, 0, %.9g]}]}\n" % (-times * critical)), {}


def own_weight(times, draw):
    """A column that stands on its base under its own weight: q L^3 = 7.837 E I (Greenhill)."""
    length, width, height = draw(60), draw(5), draw(3)
    density = times * 7.837 * height ** 2 / 12 / length ** 3 / 9.81 * 1e9  # kg/m^3
    return beam(length, width, height, 1.5 * height,
                "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
                "loads: {gravity: [-9.81 m/s^2, 0 m/s^2, 0 m/s^2]}\n").replace(
                    "poisson: 0.3", "poisson: 0.3, density: %.9g kg/m^3" % density), {}


def cable_column(times, draw):
    length, width, height = draw(60), draw(5), draw(3)
    critical = math.pi ** 2 * (width * height ** 3 / 12) / (length ** 2)
    return beam(length, width, height, 1.5 * height,
                "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\nactuators:\n"
                "  - {name: pull, kind: cable, through: [[0, 0, 0], [%g, 0, 0]], radius: %g, drive: tension, range: [0, 9]}\n"
                % (0.98 * length, height / 2)), {"pull": times * critical}


def ring(times, draw):
    """Half of a ring in plane strain under a pressure on its outside: p_cr = 3 E I / ((1 - nu^2) R^3)."""
    radius, wall, young, poisson = draw(20), draw(1.5), 1.0, 0.3
    critical = 3 * young * wall ** 3 / 12 / ((1 - poisson ** 2) * radius ** 3)
    return ("pliant: 1\nname: ring\nmesh: {design: {kind: tube, inner_radius: %g, wall: %g, length: 2, quarter: 1}, size: 2}\n"
            "materials: {m: {model: linear, young: 1 MPa, poisson: 0.3}}\nregions: {tube: m}\n"
            "fixed: [{surface: bottom, axes: [z]}, {surface: top, axes: [z]}, {surface: sx, axes: [x]}, {surface: sy, axes: [y]}]\n"
            "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [-1 MPa, 1 MPa]}]\n"
            "markers: {side: {at: [%g, 0, 1]}}\n" % (radius - wall / 2, wall, radius + wall / 2)), \
        {"air": "%gkPa" % (-1000 * times * critical)}


def cube(stretch, draw):
    points, regions = box_mesh((1, 1, 1), (draw(10), 10, 10))
    side = max(p[0] for p in points)
    text = ("pliant: 1\nname: cube\nmesh: {file: cube.inp, unit: mm}\n"
            "materials: {m: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.4999}}\nregions: {body: m}\n"
            "surfaces:\n  left: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}\n"
            "  right: {plane: {point: [%.9g, 0, 0], normal: [1, 0, 0]}}\n"
            "fixed: [{surface: left}, {surface: right, move: [%.9g, 0, 0]}]\n"
            "markers: {side: {at: [%g, 10, 10]}}\n" % (side, (stretch - 1) * side, side))
    return text, {}, {"cube.inp": (points, regions)}


def pad(kpa, draw):
    """A soft slab with a pressure on its open top."""
    return beam(draw(40), draw(30), draw(10), 6,
                "fixed: [{surface: base}]\n"
                "surfaces: {top: {plane: {point: [0, 0, 5], normal: [0, 0, 1]}}}\n"
                "markers: {tip: {surface: tip}}\nactuators: []\n"), {"_pad": kpa}


def discs(ratio, draw):
    """A trunk of alternating silicone and discs that are `ratio` times as stiff, bent by a tendon."""
    sections, cell = 6, draw(4)
    n = sections * 5
    points, regions = box_mesh((n, 3, 3), (n * cell, 15, 15),
                               lambda i, j, k: "disc" if i % 5 == 4 else "body")
    length = n * cell
    through = ", ".join("[%g, 7.5, 14]" % ((s + 0.5) * cell) for s in range(4, n, 5))
    text = ("pliant: 1\nname: discs\nmesh: {file: discs.inp, unit: mm}\n"
            "materials:\n  soft: {model: neo_hookean, c10: 0.05 MPa, poisson: 0.49}\n"
            "  hard: {model: linear, young: %g MPa, poisson: 0.35}\nregions: {body: soft, disc: hard}\n"
            "surfaces: {left: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}}\nfixed: [{surface: left}]\n"
            "actuators:\n  - {name: pull, kind: cable, through: [[0, 7.5, 14], %s], radius: 2, drive: shortening, range: [0, %g]}\n"
            "markers: {tip: {at: [%g, 7.5, 7.5]}}\n" % (0.3 * ratio, through, 0.5 * length, length))
    return text, {"pull": 0.25 * length}, {"discs.inp": (points, regions)}


def vacuum_box(kpa, draw):
    """A closed box of thin walls that collapses under vacuum."""
    side, wall, n = draw(30), 3, 10
    points, regions = box_mesh((n, n, n), (side, side, side),
                               lambda i, j, k: "body" if min(i, j, k) < 1 or max(i, j, k) > n - 2 else None)
    text = ("pliant: 1\nname: box\nmesh: {file: box.inp, unit: mm}\n"
            "materials: {m: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}}\nregions: {body: m}\n"
            "surfaces: {cavity: {seen_from: [%g, %g, %g]}, floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}\n"
            "fixed: [{surface: floor}]\n"
            "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [-100 kPa, 100 kPa]}]\n"
            "markers: {top: {at: [%g, %g, %g]}}\n" % ((side / 2,) * 3 + (side / 2, side / 2, side)))
    return text, {"air": "%gkPa" % -kpa}, {"box.inp": (points, regions)}


def arch(times, draw):
    """Shallow arch of DESIGN: span 60, rise 8, thickness 3 under a force at its crown; limit load about 34 mN x width."""
    n, span, rise, thick = 20, draw(60), 8, 3
    points, regions = box_mesh((n, 1, 2), (span, 10, thick))
    for p in points:
        s = p[0] / span
        p[2] += 4 * rise * s * (1 - s)
    text = ("pliant: 1\nname: arch\nmesh: {file: arch.inp, unit: mm}\n"
            "materials: {m: {model: neo_hookean, c10: 0.05 MPa, poisson: 0.45}}\nregions: {body: m}\n"
            "surfaces:\n  left: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}\n"
            "  right: {plane: {point: [%.9g, 0, 0], normal: [1, 0, 0]}}\nfixed: [{surface: left}, {surface: right}]\n"
            "markers: {crown: {at: [%g, 5, %g]}}\n"
            "loads: {forces: [{marker: crown, force: [0, 0, %g]}]}\n" % (span, span / 2, rise + thick / 2, -0.2 * times))
    return text, {}, {"arch.inp": (points, regions)}


def design(kind, changes, command, actuators=""):
    """A built-in design with its own file, sizes changed."""
    return lambda draw: ("DESIGN " + kind, {**command}, {}, {k: draw(v) for k, v in changes.items()})


def arm(kpa):
    return lambda draw: ("DESIGN planar_arm", {"bend1": "%gkPa" % kpa, "bend2": "%gkPa" % kpa, "bend3": "%gkPa" % kpa}, {}, {})


CASES = {
    "strip_1.5": lambda d: strip(1.5, d), "strip_10": lambda d: strip(10, d),
    "column_1.2": lambda d: column(1.2, d), "column_1.5": lambda d: column(1.5, d), "column_2": lambda d: column(2, d),
    "deep_1.6": lambda d: deep_cantilever(1.6, d), "deep_3": lambda d: deep_cantilever(3, d),
    "weight_1.05": lambda d: own_weight(1.05, d), "weight_2": lambda d: own_weight(2, d),
    "cable_column_1.2": lambda d: cable_column(1.2, d), "cable_column_2": lambda d: cable_column(2, d),
    "ring_0.9": lambda d: ring(0.9, d), "ring_1.1": lambda d: ring(1.1, d), "ring_1.2": lambda d: ring(1.2, d),
    "ring_1.6": lambda d: ring(1.6, d), "ring_2": lambda d: ring(2, d),
    "cube_1.5": lambda d: cube(1.5, d), "cube_2": lambda d: cube(2, d),
    "discs_100": lambda d: discs(100, d), "discs_1000": lambda d: discs(1000, d), "discs_10000": lambda d: discs(10000, d),
    "vacuum_2": lambda d: vacuum_box(2, d), "vacuum_6": lambda d: vacuum_box(6, d), "vacuum_12": lambda d: vacuum_box(12, d),
    "arch_0.9": lambda d: arch(0.9, d), "arch_1.5": lambda d: arch(1.5, d),
    "arm_20": arm(20), "arm_21.5": arm(21.5), "arm_22": arm(22),
    "crawler": design("dea_crawler", {}, {"voltage": "8kV"}),
    "wound_160": design("fiber_bender", {"length": 160}, {"air": "50kPa"}),
    "thin_bellows": design("bellows_trunk", {"wall": 2}, {"chamber1": "15kPa"}),
    "finger": design("bending_finger", {}, {"air": "30kPa"}),
    "three_chamber": design("three_chamber", {}, {"chamber1": "1.6"}),
}


def edit_design(folder, kind, changes):
    """The file of `pliant new` with other sizes."""
    path = os.path.join(folder, "robot.yaml")
    name = [n for n in os.listdir(folder) if n.endswith(".yaml")][0]
    text = open(os.path.join(folder, name)).read().split("\n")
    for i, line in enumerate(text):
        key = line.strip().split(":")[0]
        if key in changes and line.startswith("    "):
            text[i] = "    %s: %.6g" % (key, changes[key])
    open(path, "w").write("\n".join(text))
    return path


def run(name, pliant, seed, limit, folder):
    source = random.Random(seed * 1000003 + sum(map(ord, name)))
    draw = (lambda v: v) if seed == 0 else (lambda v: v * source.uniform(0.9, 1.1))
    made = list(CASES[name](draw)) + [{}, {}]
    text, command, files, changes = made[0], made[1], made[2], made[3]
    where = os.path.join(folder, name)
    if text.startswith("DESIGN "):
        subprocess.run([pliant, "new", text[7:], where], check=True, stdout=subprocess.DEVNULL)
        path = edit_design(where, text[7:], changes)
    else:
        os.makedirs(where)
        path = os.path.join(where, "robot.yaml")
        open(path, "w").write(text)
        for file, mesh in files.items():
            write_inp(os.path.join(where, file), *mesh)
    call = [pliant, "fk", path, "--json", "-", "--no-mesh-error"]
    for key, value in command.items():
        call += ["--set", "%s=%s" % (key, value)]
    begun = time.process_time()
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"outcome": "over the limit of %g s" % limit}
    try:
        record = json.loads(done.stdout)
    except ValueError:
        return {"outcome": "refused", "message": done.stderr.strip().split("\n")[-1]}
    record["status"] = done.returncode
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pliant", default="build/pliant")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    counts, unsolved = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or CASES:
            r = run(name, os.path.abspath(args.pliant), args.seed, args.limit, folder)
            marker = next(iter(r.get("markers", {}).values()), {}).get("displacement", [])
            print("%-18s %-12s %4s factorisations %5s solves %6.1f s  tet %6s  %s  %s"
                  % (name, r.get("outcome"), r.get("factorizations", "-"), r.get("solves", "-"), r.get("seconds", 0),
                     r.get("elements", "-"), " ".join("%.4g" % v for v in marker), r.get("message", "")[:150]), flush=True)
            if r.get("outcome") == "solved":
                counts.append(r["factorizations"])
            else:
                unsolved.append(name)
    if counts:
        print("%d solved, median %g, at most %d factorisations; not solved: %s"
              % (len(counts), statistics.median(counts), max(counts), ", ".join(unsolved) or "none"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
