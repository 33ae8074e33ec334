#!/bin/sh
# Fang et al. 2020, Figure 17: error and time over the number of elements. The knuckle finger bends 60 degrees; the
# error is the distance of its tip from that on the finest mesh: sh examples/papers/meshes.sh [FOLDER]
set -eu
pliant=${PLIANT:-pliant}
out=${1:-papers}
mkdir -p "$out"
[ -f "$out/knuckle_finger/robot.yaml" ] || "$pliant" new knuckle_finger "$out/knuckle_finger"
for order in 1 2; do
    for size in 3.2 4 5 6.5 8 11; do
        "$pliant" fk "$out/knuckle_finger" --set tendon1=5 --set tendon2=10 --set tendon3=14 --order $order --size $size |
            awk -v order=$order -v size=$size '
                $1 == "tip" { x = $2; y = $3; z = $4 }
                $2 == "elements," { print order, size, $1, x, y, z, $(NF - 1) }'
    done
done >"$out/meshes.txt"
# the finest quadratic mesh is the reference
awk 'NR == FNR { if ($1 == 2 && !seen++) { x = $4; y = $5; z = $6 } next }
    FNR == 1 { print "order,size mm,elements,error mm,seconds" }
    { printf "%d,%g,%d,%.3f,%g\n", $1, $2, $3, sqrt(($4 - x)^2 + ($5 - y)^2 + ($6 - z)^2), $7 }' \
    "$out/meshes.txt" "$out/meshes.txt" | tee "$out/meshes.csv"
