#!/usr/bin/env bash
# sweep and jacobian: tables, series, grids, derivatives against differences of fk.
. "$(dirname "$0")/lib.sh"

expect_status 0 new bending_finger finger
coarse="--size 9 --order 1" # fast, and far too stiff: words and laws are tested here, not accuracy
expect_status 0 sweep finger $coarse --set air=0:6kPa:4
expect_words out.txt "air [kPa],converged,outcome,tip.x [mm]"
expect_near "rows" "$(wc -l <out.txt)" 5 0
expect_near "last pressure" "$(tail -1 out.txt | cut -d, -f1)" 6 1e-9
expect_status 0 sweep finger $coarse --set air=2kPa:6:3 --out t.csv --out t.pvd --json t.json
for f in t.csv t.pvd t_0000.vtu t_0002.vtu; do expect_file "$f"; done
expect_near "rows of the file" "$(wc -l <t.csv)" 4 0
expect_words t.pvd "t_0001.vtu"
expect_near "records" "$(grep -c '"converged": true' t.json)" 3 0
expect_words out.txt "3 points, 3 solved"

expect_status 2 sweep finger $coarse --set air=0:6:3
expect_words err.txt "write 6 kPa"
expect_status 2 sweep finger $coarse --set air=0:6kPa
expect_words err.txt "FROM:TO:N"
expect_status 2 sweep finger $coarse --set air=0:6kPa:0
expect_status 2 sweep finger $coarse --set air=0:900kPa:3
expect_words err.txt "outside its range"
expect_status 2 sweep finger $coarse --set air=3kPa
expect_words err.txt "nothing is varied"
expect_status 2 sweep finger $coarse --set air=0:6kPa:3 --out t.png
expect_status 3 sweep finger $coarse --set air=0:6kPa:3 --out nowhere/t.csv
expect_status 1 sweep finger $coarse --set air=0:50kPa:2 --limit-each 0.001s --out bad.csv
expect_words err.txt "did not converge"
expect_file bad.csv

# several commands: together or as a grid
expect_status 0 new cable_finger claw
expect_status 0 sweep claw --size 12 --order 1 --set flexor=1:2:2 --set left=0.1:0.2:2 --out pair.csv
expect_near "rows together" "$(wc -l <pair.csv)" 3 0
expect_status 0 sweep claw --size 12 --order 1 --set flexor=1:2:2 --set left=0.1:0.3:3 --grid --out grid.csv
expect_near "rows of the grid" "$(wc -l <grid.csv)" 7 0
expect_status 2 sweep claw --size 12 --order 1 --set flexor=1:2:2 --set left=0.1:0.3:3
expect_words err.txt "--grid"

# the derivative of the tip by the pressure is the slope of fk
expect_status 0 jacobian finger $coarse --set air=4kPa --json j.json --out j.csv
expect_words out.txt "per kPa of air" "tip.z" "exact:"
expect_keys j.json jacobian by markers rotations efforts measures residual one_sided
expect_words j.csv "per kPa of air" "tip.z [mm]"
tip() {
    run fk finger $coarse --set "air=$1" --out tip.csv
    tail -1 tip.csv | cut -d, -f6
}
low=$(tip 3.9kPa)
high=$(tip 4.1kPa)
slope=$(awk -v a="$low" -v b="$high" 'BEGIN { print (b - a) / 0.2 }')
exact=$(grep "tip.z" j.csv | cut -d, -f2)
expect_near "d tip.z / d air, exact and by differences" "$exact" "$slope" "$(awk -v s="$slope" 'BEGIN { print (s < 0 ? -s : s) * 1e-3 }')"
expect_status 0 jacobian finger $coarse --set air=4kPa --by material --by loads
expect_words out.txt "silicone.c10" "gravity.z"
expect_status 2 jacobian finger $coarse
expect_words err.txt "nothing to differentiate with respect to"
expect_status 2 jacobian finger $coarse --set air=4kPa --by weather
expect_clean
finish
