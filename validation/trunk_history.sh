#!/usr/bin/env bash
# The measured trunk (PLIANT_DATA/trunk: 1620 static poses in 13 runs, strong hysteresis): networks without memory against one that
# knows the past, by `pliant learn --history`. Five splits by whole runs; root mean square of the tip disc over the runs held out.
# usage: validation/trunk_history.sh BUILD
set -eu
pliant=$(cd "${1:?usage: trunk_history.sh BUILD}" && pwd)/pliant
data=${PLIANT_DATA:-}/trunk/trunk_static.csv
[ -r "$data" ] || { echo "skipped: PLIANT_DATA has no trunk/trunk_static.csv"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
sed '1s/\([xyz]\)\([0-9]\)_mm/d\2.\1 [mm]/g' "$data" > trunk.csv
printf '%-26s %10s %10s %10s %10s\n' "runs held out" spread present "last three" memory
for hold in beta0,beta5,circle0 beta1,beta6,circle1,circle5 beta2,circle2 beta3,circle3 beta4,circle4; do
    "$pliant" learn --history trunk.csv --held-runs $hold --out model.yaml >out.txt
    awk -v hold=$hold '$1 == "d3" { printf "%-26s %10s %10s %10s %10s\n", hold, $2, $3, $4, $5 }' out.txt | tee -a all.txt
done
awk '{ for (k = 2; k <= 5; ++k) s[k] += $k * $k } END { printf "%-26s", "root mean square"; for (k = 2; k <= 5; ++k) printf " %10.1f", sqrt(s[k] / NR); print "" }' all.txt
