#!/usr/bin/env bash
# What the command says: early, in the right number, without noise.
. "$(dirname "$0")/lib.sh"

# an unknown command is reported before anything is meshed
"$pliant" new bending_finger finger >/dev/null
expect_status 2 fk finger --set ari=20kPa
expect_words err.txt "the robot has no command 'ari'; did you mean 'air'?" "its commands are air"
[ ! -d finger/.pliant ] && pass "nothing was meshed" || fail "the robot was meshed first"
"$pliant" new pillows pillows >/dev/null
expect_status 2 fk pillows --set air5=2kPa
expect_words err.txt "its commands are air1, air2, air3, air4"
"$pliant" new planar_arm arm >/dev/null
expect_status 2 fk arm --set left1=2kPa
expect_words err.txt "its commands are bend1, bend2, bend3"
[ ! -d arm/.pliant ] && pass "nothing was meshed" || fail "the robot was meshed first"

# designs follow their parameters: each of seven edits of a tendon robot gives a robot
for edit in length=90 length=200 width=18 height=32 knuckles=2 notch_width=10 notch_depth=14; do
    "$pliant" new cable_finger c-$edit --param $edit >/dev/null
    expect_status 0 info c-$edit --order 1 --size 12
done

# one of a kind is singular
cat >open.stl <<'S'
solid o
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid o
S
cat >two.yaml <<'Y'
pliant: 1
mesh: {design: {kind: beam}}
materials: {m: {model: neo_hookean, c10: 0.1, colour: 3, flavour: 4}}
regions: {body: m}
Y
run doctor two.yaml
expect_no_words err.txt "at lines" "1 edges" "1 elements are"

# counts and numbers of right runs: one of a kind, no round-off of either sign
cat >beam.yaml <<'Y'
pliant: 1
mesh: {design: {kind: beam, length: 100, width: 20, height: 20}, size: 10, order: 1}
materials: {m: {model: neo_hookean, c10: 0.1}}
regions: {body: m}
fixed: [{surface: base}]
actuators: [{name: t1, kind: cable, through: [[0, 0, 4], [98, 0, 4]], radius: 2, drive: shortening, range: [0, 10]}]
markers: {tip: {surface: tip}, dot: {at: [50, 0, 5], radius: 2}}
Y
run mesh beam.yaml
expect_words out.txt "1 region, 4 surfaces"
run fk beam.yaml
expect_words out.txt "elastic energy 0 mJ" "1 load increment, "
expect_no_words out.txt "-0.00"
run info beam.yaml
expect_no_words out.txt "-0.000"
printf 'x,y,z\n1,2,3\n' >one.csv
expect_status 1 follow beam.yaml one.csv
expect_words err.txt "1 of 1 waypoint not reached"
expect_words out.txt "0 of 1 waypoint reached"
expect_no_words out.txt "of those reached"
run workspace beam.yaml --samples 1
expect_words out.txt "convex hull: one position"
run materials tpu_95a
expect_words out.txt "not fitted: constants as published"
expect_no_words out.txt "1.000"
expect_status 2 fk beam.yaml --set t1=150 --beyond-range
expect_words err.txt "prescribes a length of -52 mm, expected more than 0 (98 mm at rest)"
expect_status 2 ik beam.yaml --sensor s=3
expect_words err.txt "the robot has no sensors"
printf 'task: 2\nstages: []\n' >late.yaml
expect_status 2 task beam.yaml late.yaml
expect_words err.txt "late.yaml:1" "this program reads version 1"

# run says how a robot without sensors can be controlled
"$pliant" new trunk_cc trunk >/dev/null
expect_status 2 run trunk --goal 20,0,205
expect_words err.txt "the robot has no sensors to control" "--control-marker"
finish
