#!/usr/bin/env python3
"""The error that comes with every answer of a learned, adapted or reduced model holds: at random commands the true error, against a
solve of the robot, is below the reported one as often as it claims, and the 95 % quantile of the reported errors is at most five times that
of the true ones. Random robots, each at two resolutions (elements of a rod, edge lengths of a body).

The claim. A bound is the k-th smallest of n scaled errors at random commands, so the share C of new commands that it covers is itself random over the
choice of the n: Beta(k, n + 1 - k), with a mean of at least 95 % and C >= 90 % for 95 % of the choices. Of q queries a number with the beta-binomial
distribution is covered. A model fails if so few are covered that the claim gives them a probability below 0.01 / models (one of a hundred runs of
the law fails by chance); a kind fails if its mean is three standard deviations below 95 %.
usage: law_surrogate.py [--pliant PLIANT] [SEED]"""
import argparse
import math
import os
import sys
import tempfile
import warnings

import numpy as np
import pliant as pl

CLAIM, LEAST, MOST, CHANCE = 0.95, 0.90, 5.0, 0.01
QUERIES = 200
POINTS = {"learned": 36, "adapted": 60, "reduced": 60}  # that the bounds come from: 0.3 of 120 samples held out; measurements; solves
MODELS = 34
warnings.simplefilter("ignore")
parser = argparse.ArgumentParser()
parser.add_argument("--pliant", help="as the other laws have it; this one calls the module")
parser.add_argument("seed", nargs="?", type=int, default=20)
rng = np.random.default_rng(parser.parse_args().seed)


def order(n):
    """The order statistic of n errors that is the bound (PL_ERROR_CONFIDENCE, PL_ERROR_COVERAGE of pliant/learn.h)."""
    k = math.ceil(CLAIM * (n + 1) - 1e-9)
    while k < n and sum(math.comb(n, i) * LEAST**i * (1 - LEAST) ** (n - i) for i in range(k, n + 1)) > 0.05:
        k += 1
    return min(k, n)


def chance(covered, queries, n):
    """P(at most so many of the queries are covered), beta-binomial."""
    a, b = order(n), n + 1 - order(n)
    log_beta = lambda x, y: math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)
    term = lambda i: math.exp(math.log(math.comb(queries, i)) + log_beta(i + a, queries - i + b) - log_beta(a, b))
    return min(1.0, sum(term(i) for i in range(covered + 1)))


def spread(queries, n):
    """Standard deviation of the share covered of one model."""
    a, b = order(n), n + 1 - order(n)
    mean = a / (a + b)
    return math.sqrt(mean * (1 - mean) / (a + b + 1) * (a + b + queries) / queries)


def rod(drawn, elements, stiffness=1.0, shift=0.0):
    """A random rod with three tendons; a stiffness and a shift of the tip make the real robot of it."""
    length, diameter, radius, young, load, first = drawn
    tendons = "".join(
        f"    - {{name: t{k + 1}, drive: tension, radius: {radius}, angle: {first + 120 * k} deg, range: [0 N, {load} N]}}\n" for k in range(3)
    )
    text = (
        f"pliant: 1\nname: rod\nmodel:\n  kind: rod\n  sections:\n    - {{name: body, length: {length}, diameter: {diameter}, "
        f"young: {stiffness * young} MPa, poisson: 0.45, density: 1070 kg/m^3, elements: {elements}}}\n  tendons:\n{tendons}"
        f"markers: {{tip: {{at: {length}, offset: [{shift}, 0, 0]}}, mid: {{at: {0.5 * length}}}}}\nloads: {{gravity: [0, 0, -9.81 m/s^2]}}\n"
    )
    return pl.load(write(text))


def draw_rod():
    length, diameter = rng.uniform(80, 160), rng.uniform(14, 26)
    young = rng.uniform(0.2, 0.8)
    radius = rng.uniform(0.25, 0.45) * diameter
    load = rng.uniform(0.6, 1.4) * young * np.pi * diameter**4 / 64 / (radius * length)  # bends by about 1 rad
    return length, diameter, radius, young, load, rng.uniform(0, 120)


def finger(drawn, size):
    length, width, height, depth, c10, pull = drawn
    through = lambda y, z: "[" + ", ".join(f"[{x:.4g}, {y:.4g}, {z:.4g}]" for x in length * np.array([0, 0.12, 0.24, 0.42, 0.58, 0.76, 0.86, 0.96])) + "]"
    cables = [("flexor", 0, 0.16 * height, pull), ("left", 0.3 * width, 0.84 * height, 0.4 * pull), ("right", -0.3 * width, 0.84 * height, 0.4 * pull)]
    text = (
        f"pliant: 1\nname: finger\nmesh:\n  design: {{kind: cable_finger, length: {length}, width: {width}, height: {height}, knuckles: 2, "
        f"notch_width: {0.1 * length}, notch_depth: {depth}, notch_flat: 2}}\n  size: {size}\n  order: 2\n"
        f"materials: {{silicone: {{model: neo_hookean, c10: {c10} MPa, poisson: 0.49}}}}\nregions: {{body: silicone}}\nfixed: [{{surface: base}}]\nactuators:\n"
        + "".join(f"  - {{name: {n}, kind: cable, through: {through(y, z)}, radius: 2, drive: shortening, range: [0, {r}]}}\n" for n, y, z, r in cables)
        + "markers: {tip: {surface: tip}}\n"
    )
    return pl.load(write(text))


def draw_finger():
    height = rng.uniform(18, 28)
    return rng.uniform(90, 140), rng.uniform(18, 28), height, rng.uniform(0.2, 0.5) * height, rng.uniform(0.1, 0.4), rng.uniform(3, 7)


def write(text):
    path = os.path.join(folder, f"{len(os.listdir(folder))}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def judge(kind, case, model, robot, queries):
    """True errors of the first marker against the reported ones."""
    true, reported = [], []
    for _ in range(queries):
        command = {n: float(rng.uniform(*c.range)) for n, c in robot.commands.items()}
        a, b = model.solve(**command), robot.solve(**command)
        if b.converged:
            true.append(float(np.linalg.norm(a["tip"].position - b["tip"].position)))
            reported.append(a.model_error.markers["tip"])
    true, reported = np.array(true), np.array(reported)
    likely = chance(int(np.sum(true <= reported)), len(true), POINTS[kind])
    share, often, most = float(np.mean(true <= reported)), float(np.quantile(true, 0.95)), float(np.quantile(reported, 0.95))
    print(f"{kind:8} {case:34} covered {100 * share:5.1f} % (chance {likely:.2g})  95 % of the true errors {often:8.4f} mm, of the reported {most:8.4f}, ratio {most / often:.2f}", flush=True)
    return share, most / often, likely


def measured(robot, real, count):
    rows = []
    for _ in range(count):
        command = {n: float(rng.uniform(*c.range)) for n, c in robot.commands.items()}
        p = real.solve(**command)["tip"].position + rng.normal(0, 0.02, 3)
        rows.append([*command.values(), *p])
    path = os.path.join(folder, f"{len(os.listdir(folder))}.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join([*(f"{n} [{c.unit}]" for n, c in robot.commands.items()), "tip.x [mm],tip.y [mm],tip.z [mm]"]) + "\n")
        file.writelines(",".join(f"{v:.9g}" for v in row) + "\n" for row in rows)
    return path


found = {"learned": [], "adapted": [], "reduced": []}
with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
    for k in range(6):
        drawn = draw_rod()
        for elements in (6, 14):
            robot = rod(drawn, elements)
            model = robot.learn(robot.sample(120, os.path.join(folder, f"r{k}-{elements}.sqlite")), hidden=[10, 10], epochs=25)
            found["learned"].append(judge("learned", f"rod {k}, {elements} elements", model, robot, QUERIES))
            real = rod(drawn, elements, stiffness=rng.uniform(0.8, 1.2), shift=rng.uniform(-3, 3))
            found["adapted"].append(judge("adapted", f"rod {k}, {elements} elements", model.adapt(measured(robot, real, 60)), real, QUERIES))
    for k in range(5):
        drawn = draw_finger()
        for size in (24, 16):
            robot = finger(drawn, size)
            found["reduced"].append(judge("reduced", f"finger {k}, size {size}", robot.reduce("rod"), robot, QUERIES))

failed = False
for kind, rows in found.items():
    least, most, likely = min(r[0] for r in rows), max(r[1] for r in rows), min(r[2] for r in rows)
    mean, needed = float(np.mean([r[0] for r in rows])), CLAIM - 3 * spread(QUERIES, POINTS[kind]) / math.sqrt(len(rows))
    good = mean >= needed and likely >= CHANCE / MODELS and most <= MOST
    failed = failed or not good
    print(
        f"law: error of {kind} models | cases {len(rows)} | worst {100 * least:.1f} % of the true errors below the reported (chance {likely:.2g}), mean "
        f"{100 * mean:.1f} %, 95 % quantiles {most:.1f} times apart | allowed chance {CHANCE / MODELS:.2g}, mean {100 * needed:.1f} %, {MOST:.0f} times | "
        f"{'ok' if good else 'FAIL'}"
    )
sys.exit(failed)
