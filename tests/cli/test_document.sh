#!/usr/bin/env bash
# The robot file: opened and parsed once by every verb, edited in any style, numbers as expressions.
. "$(dirname "$0")/lib.sh"

count() { grep -cE "$1" err.txt || true; }
once() { # VERB ARGUMENTS
    expect_status 0 "$@" -v -v
    if [ "$(count ': opened$')" -eq 1 ] && [ "$(count ': parsed, ')" -eq 1 ]; then
        pass "$1 opens and parses the robot file once"
    else
        fail "$1 opens the robot file $(count ': opened$') times and parses it $(count ': parsed, ') times"
    fi
}

"$pliant" new beam beam >/dev/null
coarse="--size 20 --order 1"
once info beam $coarse
once fk beam $coarse
once doctor beam
once mesh beam $coarse --out beam.vtu

# a study edits flow style, block style and JSON alike
cat >flow.yaml <<'Y'
pliant: 1
parameters: {reach: 80, side: reach/8}
mesh: {design: {kind: beam, length: reach, width: side, height: side}, size: 20, order: 1}
materials: {m: {model: neo_hookean, c10: 0.2 MPa, poisson: 0.4}}
regions: {body: m}
fixed: [{surface: base}]
markers: {tip: {at: [reach, 0, side/2]}, middle: {at: [reach/2, 0, side/2]}}
loads: {forces: [{marker: tip, force: [0, 0, -0.01 N]}]}
Y
python3 - <<'P'
import json
robot = {"pliant": 1, "parameters": {"reach": 80, "side": "reach/8"},
         "mesh": {"design": {"kind": "beam", "length": "reach", "width": "side", "height": "side"}, "size": 20, "order": 1},
         "materials": {"m": {"model": "neo_hookean", "c10": "0.2 MPa", "poisson": 0.4}}, "regions": {"body": "m"},
         "fixed": [{"surface": "base"}], "markers": {"tip": {"at": ["reach", 0, "side/2"]}, "middle": {"at": ["reach/2", 0, "side/2"]}},
         "loads": {"forces": [{"marker": "tip", "force": [0, 0, "-0.01 N"]}]}}
json.dump(robot, open("json.yaml", "w"))
P
for style in flow json; do
    expect_status 0 study $style.yaml --vary reach=60,80 --set "materials.m.c10=0.1 MPa" --json $style.json
done
python3 - <<'P'
import json
a, b = (json.load(open(f + ".json"))["rows"] for f in ("flow", "json"))
assert [r["outcome"] for r in a] == ["solved", "solved"], a
assert [r["results"] for r in a] == [r["results"] for r in b], (a, b)
x = [r["results"]["tip.x [mm]"] for r in a]
assert abs(x[0] - 60) < 1 and abs(x[1] - 80) < 1, x
P
pass "a study gives the same table for both styles, and markers follow a parameter"

# errors name the file, the line and what is known
sed 's/reach, 0, side/raech + 1, 0, side/' flow.yaml >wrong.yaml
expect_status 2 fk wrong.yaml
expect_words err.txt "wrong.yaml:7:" "there is no parameter 'raech' (did you mean 'reach'?)" "parameters are reach, side"
sed 's/side: reach/mm: reach/' flow.yaml >wrong.yaml
expect_status 2 fk wrong.yaml
expect_words err.txt "wrong.yaml:2:" "'mm' cannot be the name of a parameter: it is a unit"
finish
