#!/bin/sh
# The two pressure sequences of Lindenroth et al. 2016 (Figures 4 and 5) on the full segment:
# sh examples/papers/sequences.sh [FOLDER]. PLIANT names the program. About 3 CPU minutes.
set -eu
pliant=${PLIANT:-pliant}
out=${1:-papers}
mkdir -p "$out"
[ -f "$out/segment/robot.yaml" ] || "$pliant" new segment "$out/segment"
rm -f "$out/sequence.state"
# first: chamber 1 to 160 kPa and back
"$pliant" sweep "$out/segment" --set chamber1=0kPa:160kPa:9 --out "$out/first_up.csv" --state "$out/sequence.state"
"$pliant" sweep "$out/segment" --set chamber1=160kPa:0kPa:9 --out "$out/first_down.csv" --state "$out/sequence.state"
# second: chambers 1, 2 and 3 one after the other to 80 kPa, then all down
rm -f "$out/sequence.state"
step() {
    name=$1
    shift
    "$pliant" sweep "$out/segment" "$@" --out "$out/second_$name.csv" --state "$out/sequence.state"
}
step 1 --set chamber1=0kPa:80kPa:5 --set chamber2=0kPa --set chamber3=0kPa
step 2 --set chamber1=80kPa --set chamber2=0kPa:80kPa:5 --set chamber3=0kPa
step 3 --set chamber1=80kPa --set chamber2=80kPa --set chamber3=0kPa:80kPa:5
step 4 --set chamber1=80kPa:0kPa:5 --set chamber2=80kPa:0kPa:5 --set chamber3=80kPa:0kPa:5
