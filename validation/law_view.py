"""Law: what pages of the view show in the end is the last request, solved. Random sequences of requests on two designs at two mesh sizes (`attack_serve.py
order`): bursts, serials that run backwards, a page loaded again in the middle of a solve, a second page, a target in between, the robot
read again, parameters edited and put back; both pages show the commands asked for and the markers of `pliant fk`.
usage: law_view.py [--pliant PLIANT]"""
import argparse
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--pliant", default="build/pliant")
pliant = os.path.abspath(parser.parse_args().pliant)
attack = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attack_serve.py")
done = subprocess.run([sys.executable, attack, pliant, "order"], capture_output=True, text=True)
print(done.stdout, end="")
found = re.search(r"order: (\d+) sequences.*, (\S+) mm from fk", done.stdout)
cases, worst = (int(found.group(1)), found.group(2)) if found else (0, "no answer")
good = done.returncode == 0 and cases >= 10
print(f"law: pages show the last request, solved | cases {cases} | worst {worst} mm from fk | allowed 1e-3 | {'ok' if good else 'FAIL'}")
sys.exit(0 if good else 1)
