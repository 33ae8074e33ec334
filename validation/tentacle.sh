#!/usr/bin/env bash
# The measured tentacle (PLIANT_DATA/tentacle: eight poses of a tapered cone with two tendons, 3.1 to 7.7 N) as a rod of 22 sections:
# stiffness (as factors of the tensions) and base from four poses predict the other four. Published, a rod fitted to all eight poses:
# 11, 18, 19, 36 mm root mean square per marker.
# usage: validation/tentacle.sh BUILD
set -eu
pliant=$(cd "${1:?usage: tentacle.sh BUILD}" && pwd)/pliant
data=${PLIANT_DATA:-}/tentacle/tentacle_static.csv
[ -r "$data" ] || { echo "skipped: PLIANT_DATA has no tentacle/tentacle_static.csv"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# The frame of the file is turned by 180 degrees about x: the body then runs along +z, and so does gravity. The bending
# stiffness goes with the fourth power of the diameter: the cone is cut into short pieces.
awk 'BEGIN {
    print "pliant: 1\nname: tentacle\nmodel:\n  kind: rod\n  sections:"
    law = "young: 0.36 MPa, poisson: 0.45, density: 1200 kg/m^3"
    for (k = 0; k < 20; ++k) printf "    - {name: c%d, length: 15.25, diameter: %.6g, %s, elements: 2}\n", k, 2 * (15.41 - 8.99 * (k + 0.5) / 20), law
    for (k = 0; k < 2; ++k) printf "    - {name: e%d, length: 27.5, diameter: %.6g, %s, elements: 3}\n", k, 2 * (6.42 - 1.62 * (k + 0.5) / 2), law
    print "  tendons:"
    for (k = 1; k <= 2; ++k) { y = (k == 1 ? -1 : 1) * sqrt(3) / 2; printf "    - {name: t%d, through: [[0, 5.7, %.6g], [305, 1.2, %.6g]], drive: tension, range: [0 N, 12 N]}\n", k, 11.4 * y, 2.4 * y }
    print "markers:\n  m1: {at: 129.1, offset: [25, 0, 0]}\n  m2: {at: 219.5, offset: [-21, 0, 0]}\n  m3: {at: 280, offset: [20, 0, 0]}"
    print "  m4: {at: 360, offset: [0, 0, 8]}\nloads:\n  gravity: [0, 0, 9.81 m/s^2]" }' > tentacle.yaml
awk -F, 'NR == 1 { printf "t1 [N],t2 [N]"; for (m = 1; m <= 4; ++m) printf ",m%d.x [mm],m%d.y [mm],m%d.z [mm]", m, m, m; print ""; next }
    { printf "%s,%s", $1, $2; for (k = 3; k <= 14; k += 3) printf ",%g,%g,%g", $k, -$(k + 1), -$(k + 2); print "" }' "$data" > poses.csv
failed=0
for hold in "2,3,6,7 4.6 and 6.2 N" "1,2,5,6 3.1 and 4.6 N" "3,4,7,8 6.2 and 7.7 N"; do
    set -- $hold
    poses=$1
    shift
    echo "== predicted: poses $poses, at $*"
    if "$pliant" calibrate poses tentacle.yaml poses.csv --free t1.factor,t2.factor,base.x,base.y,base.z --held-rows "$poses" >report.txt 2>&1
    then sed -n '/factor\|base\|  m[1-4]\|marker /p' report.txt; else cat report.txt; failed=1; fi
done
exit $failed
