"""Motions against other codes.

  csm3      Turek and Hron's elastic beam behind a cylinder (St. Venant-Kirchhoff, plane strain) under gravity: statics (CSM1) and the
            undamped motion (CSM3), mean and amplitude of every period. The motion is not periodic: energy wanders between the first two modes, so
            that the values of a period depend on which one it is (published: the last of 10 s).
  calculix  a neo-Hookean beam let go under gravity, the same mesh in CalculiX (*DYNAMIC, trapezoidal rule): largest distance of the two curves
            over five periods, over the amplitude.

usage: dynamics_codes.py csm3|calculix [--pliant PLIANT] [--cells 70,4,1] [--step 2.5ms] [--until 6s] [--ccx-step 0.5]"""
import argparse
import csv
import math
import os
import re
import shutil
import subprocess
import tempfile

from lattice_mesh import lattice, write

CSM1 = {"ux": -7.187, "uy": -66.10}
CSM3 = {"f": 1.0995, "uy": (-63.607, 65.160), "ux": (-14.305, 14.305)}


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def motion(folder, pliant, *options):
    """Columns of a motion by name, units left out."""
    said = run(folder, pliant, "simulate", "robot.yaml", "--start", "undeformed", "--out", "motion.csv", "--force", *options)
    print("  " + said.strip().splitlines()[0])
    with open(os.path.join(folder, "motion.csv"), newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    return {name.split(" [")[0]: [float(row[name] or "nan") for row in table] for name in table[0]}


def extrema(t, u):
    """Times and values of the turning points, by parabolas through three rows."""
    found = []
    for i in range(1, len(u) - 1):
        if (u[i] - u[i - 1]) * (u[i + 1] - u[i]) < 0:
            curve, slope = u[i + 1] - 2 * u[i] + u[i - 1], 0.5 * (u[i + 1] - u[i - 1])
            found.append((t[i] - slope / curve * (t[1] - t[0]), u[i] - 0.5 * slope * slope / curve))
    return found


# ---- Turek and Hron
def cylinder(y):
    """The end of the beam on the cylinder of radius 50 mm: x = 0 at its middle."""
    return math.sqrt(2500 - y * y) - 50


def csm3(folder, given):
    cells = tuple(int(c) for c in given.cells.split(","))

    def place(u, v, w):
        y = 20 * v - 10
        return cylinder(y) + u * (350 - cylinder(y)), y, 10 * w

    write(os.path.join(folder, "beam.inp"), *lattice(cells, place))
    with open(os.path.join(folder, "robot.yaml"), "w", encoding="utf-8") as file:
        file.write(
            "pliant: 1\nname: csm\nmesh: {file: beam.inp}\nsurfaces:\n  base: {box: [[-2, -11, -1], [0.01, 11, 11]]}\n"
            "  low: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n  high: {plane: {point: [0, 0, 10], normal: [0, 0, 1]}}\n"
            "materials: {soft: {model: stvk, young: 1.4 MPa, poisson: 0.4, density: 1000 kg/m^3, formulation: displacement}}\nregions: {body: soft}\n"
            "fixed: [{surface: base}, {surface: low, axes: [z]}, {surface: high, axes: [z]}]\nmarkers: {A: {at: [350, 0, 5]}}\n"
            "loads: {gravity: [0, -2 m/s^2, 0]}\n"
        )
    line = next(line for line in run(folder, given.pliant, "fk", "robot.yaml").splitlines() if line.strip().startswith("A "))
    still = [float(word) for word in line.split()[4:6]]
    off = max(abs(still[0] / CSM1["ux"] - 1), abs(still[1] / CSM1["uy"] - 1))
    print(f"CSM1: u {still[0]:.3f}, {still[1]:.3f} mm; published {CSM1['ux']}, {CSM1['uy']}: {100 * off:.2f} % off")
    m = motion(folder, given.pliant, "--until", given.until, "--every", "5ms", "--step", given.step)
    t, x, y = m["t"], [v - 350 for v in m["A.x"]], m["A.y"]
    turns = extrema(t, y)
    low = [e for e in turns if e[1] < -100]
    for a, b in zip(low, low[1:]):
        top, bottom = max(e[1] for e in turns if a[0] < e[0] < b[0]), min(a[1], b[1])
        ux = [v for time, v in zip(t, x) if a[0] <= time <= b[0]]
        print(f"  period from {a[0]:.3f} s: {1 / (b[0] - a[0]):.4f} Hz, uy {0.5 * (top + bottom):.3f} +- {0.5 * (top - bottom):.3f}, "
              f"ux {0.5 * (max(ux) + min(ux)):.3f} +- {0.5 * (max(ux) - min(ux)):.3f} mm")
    mean = (len(low) - 1) / (low[-1][0] - low[0][0])
    amplitude = 0.5 * (top - bottom)
    print(f"CSM3: {mean:.4f} Hz in the mean, published {CSM3['f']}: {100 * (mean / CSM3['f'] - 1):+.2f} %; last amplitude of uy {amplitude:.3f}, "
          f"published {CSM3['uy'][1]}: {100 * (amplitude / CSM3['uy'][1] - 1):+.2f} %")
    return off < 0.005 and abs(mean / CSM3["f"] - 1) < 0.005 and abs(amplitude / CSM3["uy"][1] - 1) < 0.005


# ---- CalculiX
def calculix(folder, given):
    if not shutil.which("ccx"):
        print("skipped: ccx is not installed (calculix-ccx)")
        return True
    h, until, nu, young = 1e-3 * given.ccx_step, 0.7, 0.45, 0.264
    c10, d1 = young / (4 * (1 + nu)), 6 * (1 - 2 * nu) / young
    points, tets = lattice((6, 2, 2), lambda u, v, w: (100 * u, 30 * v - 15, 30 * w - 15))
    write(os.path.join(folder, "beam.inp"), points, tets)
    tip = points.index((100, 0, 0)) + 1
    with open(os.path.join(folder, "job.inp"), "w", encoding="utf-8") as file:
        file.write(f"*INCLUDE, INPUT=beam.inp\n*MATERIAL, NAME=M\n*HYPERELASTIC, NEO HOOKE\n{c10!r}, {d1!r}\n*DENSITY\n1.07e-9\n"
                   "*SOLID SECTION, ELSET=body, MATERIAL=M\n*BOUNDARY\n")
        file.writelines(f"{i}, 1, 3\n" for i, p in enumerate(points, 1) if p[0] == 0)
        file.write(f"*NSET, NSET=TIP\n{tip}\n*AMPLITUDE, NAME=A\n0., 1., 100., 1.\n*STEP, NLGEOM, INC=100000\n*DYNAMIC, ALPHA=0., DIRECT\n{h!r}, {until}\n"
                   "*CONTROLS, PARAMETERS=FIELD\n1e-5, 1e-4, , , 1e-5, 1e-5\n*DLOAD, AMPLITUDE=A\nbody, GRAV, 9810., 0., 0., -1.\n"
                   "*NODE PRINT, NSET=TIP, FREQUENCY=1\nU\n*END STEP\n")
    with open(os.path.join(folder, "robot.yaml"), "w", encoding="utf-8") as file:
        file.write(
            "pliant: 1\nname: beam\nmesh: {file: beam.inp}\nsurfaces: {base: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}}\n"
            f"materials: {{soft: {{model: neo_hookean, c10: {c10!r} MPa, poisson: {nu}, density: 1070 kg/m^3, formulation: displacement}}}}\n"
            "regions: {body: soft}\nfixed: [{surface: base}]\nmarkers: {A: {at: [100, 0, 0]}}\nloads: {gravity: [0, 0, -9.81 m/s^2]}\n"
        )
    run(folder, "env", "OMP_NUM_THREADS=1", "ccx", "job")
    reference, time = {}, 0.0
    with open(os.path.join(folder, "job.dat"), encoding="utf-8") as file:
        for line in file:
            stamp, words = re.search(r"time\s+(\S+)", line), line.split()
            time = float(stamp.group(1)) if stamp else time
            if not stamp and len(words) == 4 and words[0] == str(tip):
                reference[round(time / h)] = float(words[3])
    amplitude, good = 0.5 * (max(reference.values()) - min(reference.values())), True
    for options in (["--step", f"{h!r}s"], ["--tolerance", "1e-4"], ["--tolerance", "1e-3"]):
        m = motion(folder, given.pliant, "--until", f"{until}s", "--every", f"{h!r}s", *options)
        off, at = max((abs(z - reference[round(t / h)]), t) for t, z in zip(m["t"], m["A.z"]) if round(t / h) in reference)
        print(f"{' '.join(options)}: amplitude {amplitude:.3f} mm, largest distance {off:.4f} mm at {at:.3f} s: {100 * off / amplitude:.3f} %")
        good = good and (off < 0.005 * amplitude or options[0] == "--tolerance")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["csm3", "calculix"])
    parser.add_argument("--pliant", default="pliant")
    parser.add_argument("--cells", default="70,4,1")
    parser.add_argument("--step", default="2.5ms")
    parser.add_argument("--until", default="6s")
    parser.add_argument("--ccx-step", type=float, default=0.5, help="ms")
    given = parser.parse_args()
    given.pliant = os.path.abspath(given.pliant) if os.sep in given.pliant else given.pliant
    with tempfile.TemporaryDirectory() as folder:
        good = {"csm3": csm3, "calculix": calculix}[given.what](folder, given)
    print("ok" if good else "FAIL")
    raise SystemExit(not good)


main()
