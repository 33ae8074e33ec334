"""Checks every record that a script of tests wrote against docs/reference/schema.json, with check_schema.py.

    check_records.py SCHEMA FOLDER     (files NUMBER-VERB.json)
"""
import json
import os
import sys

from check_schema import errors

# verbs that write one of several records
ALSO = {"compare": ["compare_robots"], "jacobian": ["compliance"], "new": ["new_list"], "learn": ["learn_history"]}


def difference(root, verb, record):
    """The first differences from the definition that comes nearest; none: the record follows one."""
    names = ["failure"] if "failure" in record else [verb, *ALSO.get(verb, [])]
    names = [n for name in names for n in ([r["$ref"].rsplit("/", 1)[1] for r in root["$defs"].get(name, {}).get("anyOf", [])] or [name])]
    found = [list(errors(root, root["$defs"][name], record, "$")) if name in root["$defs"] else [f"no definition of {name}"] for name in names]
    return min(found, key=len)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        root = json.load(file)
    wrong = 0
    for name in sorted(os.listdir(sys.argv[2])):
        with open(os.path.join(sys.argv[2], name), encoding="utf-8") as file:
            text = file.read()
        try:
            found = difference(root, name.rsplit(".", 1)[0].split("-", 1)[1], json.loads(text))
        except ValueError as error:
            found = [f"no record: {error}"]
        for one in found[:5]:
            print(f"{name}: {one}")
        wrong += bool(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
