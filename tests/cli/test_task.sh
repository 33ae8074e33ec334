#!/usr/bin/env bash
# task: stages run in order, each from the one before; wrong task files are refused with line and words.
. "$(dirname "$0")/lib.sh"
export PLIANT_THREADS=1

expect_status 0 new cable_finger claw
coarse="--size 12 --order 1"
cat >move.yaml <<'YAML'
task: 1
name: two moves
marker: tip
stages:
  - {do: move, to: [114.5, 0, -5], steps: 2}
  - {do: move, name: sideways, to: [114.5, 1.5, -6]}
YAML
expect_status 0 task claw move.yaml $coarse --out m.csv --out m.html --out m.pvd --json m.json
expect_words out.txt "two moves" "sideways" "reached"
for f in m.csv m.html m.pvd m_0002.vtu; do expect_file "$f"; done
expect_near "steps" "$(wc -l <m.csv)" 4 0
expect_words m.json '"stage": "sideways"' '"reached_count": 3'
expect_near "the end" "$(tail -1 m.csv | cut -d, -f7)" 1.5 0.005
printf 'task: 1\nstages:\n- {do: move, to: [60, 60, 60]}\n' >far.yaml
expect_status 1 task claw far.yaml $coarse
expect_words err.txt "did not reach"
# the end segment is brought near an object, then bent to it, and takes it along
cat >grasp.yaml <<'YAML'
task: 1
gripper: {marker: tip, normal: [1, 0, 0], clearance: 2, line: [[5, 0, 12], [115, 0, 12]], commands: [left, right]}
objects:
  ball: {center: [116, 0, -15], radius: 8}
stages:
  - {do: reach, object: ball}
  - {do: place, object: ball, to: [114, 0, -18], steps: 2}
YAML
run task claw grasp.yaml $coarse --json g.json
expect_words out.txt "reach" "place"
expect_near "three steps" "$(grep -c '"stage":' g.json)" 3 0

printf 'task: 1\nstages:\n- {do: move, marker: tpi, to: [1, 2, 3]}\n' >w.yaml
expect_status 2 task claw w.yaml $coarse
expect_words err.txt "w.yaml:3" "no marker 'tpi'"
printf 'task: 1\nstages:\n- {do: fly}\n- {do: move, hight: 3}\n' >w.yaml
expect_status 2 task claw w.yaml $coarse
expect_words err.txt "w.yaml:3: error" "'fly' is unknown" "w.yaml:4: error" "unknown key 'hight'"
sed 's/left, right/lift/' grasp.yaml >w.yaml
expect_status 2 task claw w.yaml $coarse
expect_words err.txt "w.yaml:2" "no command 'lift'"
expect_status 3 task claw nowhere.yaml $coarse
expect_status 2 task claw claw/robot.yaml $coarse
expect_words err.txt "is this a task file?"
expect_status 2 task claw move.yaml $coarse --out move.yaml
expect_status 2 task claw
expect_clean
finish
