"""Law: an equilibrium that exists is found. Robots of `hard_cases.py` that were once refused with a claim about the robot (columns, strips, rings and
arches that bifurcate, domes that snap, nearly incompressible cubes), sizes and loads drawn within 10 %, each solved; where the solver fails it says that no
equilibrium was found, not that there is none.
usage: law_refusals.py [--pliant PLIANT] [--seeds 2] [--first 20]"""
import argparse
import os
import sys
import tempfile

import hard_cases

KINDS = ("column", "strip", "ring", "arch", "cube", "dome")
CLAIMS = ("it would snap", "cannot carry", "there is no equilibrium")

parser = argparse.ArgumentParser()
parser.add_argument("--pliant", default="build/pliant")
parser.add_argument("--seeds", type=int, default=2)
parser.add_argument("--first", type=int, default=20)
args = parser.parse_args()
cases, unsolved, claims, most = 0, 0, 0, 0
with tempfile.TemporaryDirectory() as folder:
    for seed in range(args.first, args.first + args.seeds):
        place = os.path.join(folder, str(seed))
        os.makedirs(place)
        for name in (n for n in hard_cases.CASES if n.startswith(KINDS)):
            r = hard_cases.run(name, os.path.abspath(args.pliant), seed, 120, place)
            cases += 1
            if r.get("outcome") == "solved":
                most = max(most, r["factorizations"])
                continue
            unsolved += 1
            claims += any(claim in r.get("message", "") for claim in CLAIMS)
            print(f"  {name} of seed {seed}: {r.get('outcome')}: {r.get('message', '')[:160]}", flush=True)
good = cases >= 10 and not unsolved
print(f"law: what exists is found | cases {cases} | worst {unsolved} refused, {claims} with a claim, at most {most} factorisations | allowed 0 | {'ok' if good else 'FAIL'}")
sys.exit(0 if good else 1)
