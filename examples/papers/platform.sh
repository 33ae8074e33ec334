#!/bin/sh
# Bieze et al. 2018, Figures 12 to 14, on the design `parallel`: 28 points of the platform, and how far loads of 0.05 to 0.2 N
# on it bring it down, cables at rest: sh examples/papers/platform.sh [FOLDER]. PLIANT names the program.
set -eu
pliant=${PLIANT:-pliant}
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-papers}
mkdir -p "$out"
[ -f "$out/platform/robot.yaml" ] || "$pliant" new parallel "$out/platform"
"$pliant" follow "$out/platform" "$here/platform.csv" --out "$out/platform.csv" | tail -n 4
for load in 0 0.05 0.1 0.15 0.2; do
    sed "s/^  gravity: .*/&\n  forces: [{marker: tip, force: [0, 0, -$load N]}]/" "$out/platform/robot.yaml" >"$out/platform/load.yaml"
    printf '%s N: ' $load
    "$pliant" fk "$out/platform/load.yaml" --set east=80 --set north=80 --set west=80 --set south=80 | grep '^  tip '
done
