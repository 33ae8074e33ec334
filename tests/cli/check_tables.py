"""Laws of the option tables (`pliant help --json -`): an option means the same in every verb, every verb has --json, every outcome of the
library has a page with three causes, and pages name only options that exist.

    check_tables.py TABLES.json SOURCE_FOLDER
"""
import json
import pathlib
import re
import sys

tables = json.load(open(sys.argv[1], encoding="utf-8"))
source = pathlib.Path(sys.argv[2])
wrong = []

# what stands for a value says its kind; these pairs mean the same
SAME = [{"NAME=VALUE", "NAME=FROM:TO:N"}, {"TIME", "auto|TIME"}, {"LENGTH", "NUMBER", "X"}]
# `simulate --start` also takes words besides a file
EXEMPT = {"start"}
values = {}
for verb in tables["verbs"]:
    for option in verb["options"]:
        values.setdefault(option["name"], {}).setdefault(option["value"], []).append(verb["name"])
    if verb["name"] not in ("help",) and not any(o["name"] == "json" for o in verb["options"]):
        wrong.append(f"{verb['name']} has no --json")
    twice = [o["name"] for o in verb["options"]]
    if len(set(twice)) < len(twice):
        wrong.append(f"{verb['name']} has an option twice")
for name, kinds in values.items():
    if len(kinds) > 1 and name not in EXEMPT and not any(set(kinds) <= same for same in SAME):
        wrong.append(f"--{name} takes different values: {kinds}")

# pages of outcomes
text = "".join((source / "include/pliant" / f).read_text() for f in ("statics.h", "inverse.h"))
for block in re.findall(r"#define PL_(?:IK_)?OUTCOME_LIST\(X\)(.*?)\ntypedef", text, re.S):
    for name in re.findall(r'X\(PL_\w+, "([^"]+)"\)', block):
        page = source / "docs/outcomes" / (name.replace(" ", "_") + ".md")
        if not page.is_file():
            wrong.append(f"the outcome '{name}' has no page {page.name}")
            continue
        body = page.read_text()
        if len(re.findall(r"^\d\. ", body, re.M)) < 3 or "## What to try" not in body:
            wrong.append(f"{page.name}: expected three causes and what to try")
known = set(values) | {o["name"] for o in tables["common"]} | {"man", "version"}
for page in (source / "docs/outcomes").glob("*.md"):
    for option in re.findall(r"(?<![\w-])--([a-z][a-z-]+)", page.read_text()):
        if option not in known:
            wrong.append(f"{page.name}: there is no option --{option}")

print("\n".join(wrong) or "the tables are consistent")
sys.exit(1 if wrong else 0)
