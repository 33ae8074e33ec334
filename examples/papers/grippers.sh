#!/bin/sh
# Fang et al. 2020, Figure 11: two grippers of the same shape with their two materials exchanged. Tables of the three
# markers along the back and pictures: sh examples/papers/grippers.sh [FOLDER]. PLIANT names the program.
set -eu
pliant=${PLIANT:-pliant}
out=${1:-papers}
mkdir -p "$out"
[ -f "$out/gripper/robot.yaml" ] || "$pliant" new gripper_finger "$out/gripper"
sed 's/near: soft, far: stiff/near: stiff, far: soft/' "$out/gripper/robot.yaml" >"$out/gripper/exchanged.yaml"
for name in robot exchanged; do
    "$pliant" sweep "$out/gripper/$name.yaml" --set tendon=0:30:7 --out "$out/gripper_$name.csv"
    "$pliant" fk "$out/gripper/$name.yaml" --set tendon=25 --color stretch --out "$out/gripper_$name.png" |
        grep -E "^  (tip|back[123]) "
done
