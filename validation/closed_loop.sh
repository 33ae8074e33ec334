#!/usr/bin/env bash
# The experiment of Bieze et al. 2018 on the nearest design, the silicone platform on four legs: 2500 steps, the set
# point changes at 1000, an unknown force of 0.3 N pulls from 1050 on, three starts. The simulated robot is softer than the
# model (a sixth), its cables follow with a lag, its six string potentiometers have steps of 0.05 mm. Open loop, the paper's PI
# controller, and ours (marker position estimated together with the force).
# usage: validation/closed_loop.sh PLIANT [STEPS [STARTS]]
set -eu
pliant=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
steps=${2:-2500} starts=${3:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$pliant" new parallel platform >/dev/null
# stiffer legs than the design's, which carry the platform without the cables
sed -i 's/size: 16 /size: 25 /; s/leg_thickness: 11 /leg_thickness: 18 /; s/c10: 0.022 MPa/c10: 0.06 MPa/
    s/drive: length, range: \[60, 112\]/drive: shortening, range: [0, 30]/; s/84/81/' platform/robot.yaml
string() { echo "  - {name: s$1, kind: length, through: [{at: [$2], space: true}, [$3]], radius: 8, resolution: 0.05}"; }
{
    echo "sensors:"
    string 1 "60, 0, 0" "18, 0, 125"
    string 2 "-60, 0, 0" "-18, 0, 125"
    string 3 "0, 60, 0" "0, 18, 125"
    string 4 "0, -60, 0" "0, -18, 125"
    string 5 "40, 40, 0" "-16, 16, 125"
    string 6 "-40, -40, 0" "16, -16, 125"
} >>platform/robot.yaml
cp platform/robot.yaml platform/real.yaml
echo "estimator: {forces: [tip], force_sigma: 0.5 N, command_sigma: 0.02}" >>platform/robot.yaml
sed -i 's/c10: 0.06 MPa/c10: 0.05 MPa/' platform/real.yaml
from() { awk -v n="$1" -v s="$steps" 'BEGIN { printf "%g", 0.1 * n * s / 2500 }'; }
echo "plant: {lag: 0.2 s, payload: {marker: tip, force: [0.3, 0, 0], from: $(from 1050) s}}" >>platform/real.yaml
# goals that the model can reach: where it goes at these commands
place() { # COMMANDS: x,y,z of the tip
    "$pliant" fk platform "$@" --json - | tr -d ' \n' | sed 's/.*"tip":{"position":\[\([^]]*\)\].*/\1/'
}
goals=("$(place --set west=15 --set east=0 --set north=0 --set south=0)" "$(place --set west=0 --set east=0 --set north=15 --set south=0)"
    "$(place --set west=0 --set east=10 --set north=0 --set south=10)")
last=$(place --set west=8 --set east=0 --set north=6 --set south=0)
printf '%-22s %-6s %12s %12s %10s %8s %12s\n' controller start "first error" "final error" overshoot settled "tip off, mm"
for kind in open pi ours; do
    for ((k = 0; k < starts; ++k)); do
        case $kind in
        open) how=(--controller open --no-estimator) ;;
        pi) how=(--controller pi --no-estimator) ;;
        ours) how=(--controller track --control-marker) ;;
        esac
        "$pliant" run platform --plant platform/real.yaml "${how[@]}" --goal "${goals[k]}" --goal "$(from 1000)s:$last" --steps "$steps" \
            --out "$kind$k.csv" --json "$kind$k.json" >"$kind$k.txt" || true
        awk -v name="$kind" -v start="$((k + 1))" '/, .*, .* +[0-9.e-]+ +[0-9.e-]+/ {
            printf "%-22s %-6s %12s %12s %10s %8s %12s\n", name " from " $1 " s", start, $(NF - 5), $(NF - 4), $(NF - 3) " %", $(NF - 1), $NF }' "$kind$k.txt"
        grep -E "computing|stopped|held was" "$kind$k.txt" || true
    done
done
