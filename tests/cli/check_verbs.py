"""Laws of every verb, tried with the program: a file that is not there ends with 3 and a record of the failure, an unknown option with 2,
-q prints nothing on standard output, and a robot from standard input gives the results of the file.

    check_verbs.py PLIANT WORK_FOLDER
"""
import json
import os
import subprocess
import sys

pliant = sys.argv[1]
os.chdir(sys.argv[2])
wrong = []
tried = 0


def run(*words, given=""):
    global tried
    tried += 1
    return subprocess.run([pliant, *words], input=given, capture_output=True, text=True, timeout=120)


# what a verb needs besides a robot, and where the robot stands
AFTER = {
    "sweep": ["--set=chamber1=0:10kPa:2"], "ik": ["--target=2,1,46"], "follow": ["--path=circle", "--center=1,0,46", "--span=1", "--count=3"],
    "study": ["--vary=chamber1=0kPa,10kPa"], "run": ["--goal=1,0,46", "--control-marker", "--steps=60"], "simulate": ["--until=10ms"],
    "estimate": ["--read=readings.csv"], "task": ["task.yaml"], "workspace": ["--samples=4"], "adapt": ["measured.csv", "--out=adapted.yaml"],
    "sample": ["--samples=4", "--jobs=2", "--out={}.sqlite"], "plant": ["--listen=0"], "learn": ["--out=learned.yaml"],
    "fk": ["--set=chamber1=10kPa"], "jacobian": ["--set=chamber1=10kPa"], "compare": ["--set=chamber1=10kPa"], "track": ["left_*.png", "--dot=a=#e02020"],
}  # fmt: skip
BEFORE = {"control": ["check"], "calibrate": ["tensile"], "new": ["--from"]}
NO_FILE = {"completion", "materials", "help"}
for name in ("task.yaml", "measured.csv", "readings.csv", "left_1.png"):
    open(name, "w").write("task: 1\nname: t\nmarker: tip\nstages: [{do: move, to: [1, 0, 46]}]\n" if name == "task.yaml" else "t [s]\n")

verbs = [v["name"] for v in json.loads(run("help", "--json", "-").stdout)["verbs"] if v["name"] not in NO_FILE]
for verb in verbs:
    words = [verb, *BEFORE.get(verb, []), "missing.file", *(w.format("missing") for w in AFTER.get(verb, []))] + (["out"] if verb == "new" else [])
    plain, quiet, json_too, other = run(*words), run(*words, "-q"), run(*words, "--json", "-"), run(*words, "--no-such-option")
    if plain.returncode != 3 or "missing.file" not in plain.stderr:
        wrong.append(f"{verb}: a missing file ends with {plain.returncode}: {plain.stderr.strip()}")
    if quiet.returncode != 3 or quiet.stdout or not quiet.stderr:
        wrong.append(f"{verb} -q: {quiet.returncode}, printed {quiet.stdout!r}")
    try:
        failure = json.loads(json_too.stdout)["failure"]
        if failure["exit_status"] != 3 or json_too.returncode != 3 or not failure["reported"]:
            wrong.append(f"{verb} --json: {failure}")
    except (ValueError, KeyError):
        wrong.append(f"{verb} --json: no record of the failure, but {json_too.stdout!r}")
    if other.returncode != 2 or "--no-such-option" not in other.stderr:
        wrong.append(f"{verb}: an unknown option ends with {other.returncode}")

# the same robot by name and from standard input; what differs from run to run is left out
run("new", "segment_beam", "beam")
text = open("beam/robot.yaml").read()
VOLATILE = ("seconds", "rate", "path", "robot", "per_second", "file", "out", "name")


def stable(thing):
    if isinstance(thing, dict):
        return {k: stable(v) for k, v in thing.items() if not any(w in k for w in VOLATILE)}
    return [stable(v) for v in thing] if isinstance(thing, list) else thing


same = []
for verb in ("info", "doctor", "fk", "sweep", "jacobian", "compare", "ik", "follow", "workspace", "task", "study", "run", "control", "sample"):
    records = []
    for robot, given in (("beam/robot.yaml", ""), ("-", text)):
        after = [w.format("a" if given else "b") for w in AFTER.get(verb, [])]
        done = run(verb, *BEFORE.get(verb, []), robot, *after, "--json", "-", given=given)
        records.append((done.returncode, stable(json.loads(done.stdout)) if done.stdout else done.stderr))
    if records[0] != records[1]:
        wrong.append(f"{verb} -: {records[1]!r:.600}\n  by name: {records[0]!r:.600}")
    elif records[0][0] == 0:
        same.append(verb)
for verb in ("serve", "plant"):
    refused = run(verb, "-", *(["--stdio"] if verb == "plant" else []), given=text)
    if refused.returncode != 2 or "standard input" not in refused.stderr:
        wrong.append(f"{verb} -: ended with {refused.returncode}: {refused.stderr}")
if len(same) < 13:
    wrong.append(f"from standard input only {same} ended with 0")

print("\n".join(wrong) or f"{len(verbs)} verbs, {tried} runs: missing files, -q, --json, unknown options; {len(same)} from standard input")
sys.exit(1 if wrong else 0)
