#!/usr/bin/env bash
# study: variants of a robot, stiffness, blocked force, plots, resuming.
. "$(dirname "$0")/lib.sh"

"$pliant" new bending_finger finger >/dev/null
coarse="--size 9 --order 1"
expect_status 0 study finger --vary design.wall=1.6:2.4:2 --set air=4kPa $coarse --stiffness --blocked \
    --store s.store --out s.csv --out s.svg --plot tip.z --plot tip.blocked --json s.json
expect_words out.txt "design.wall" "1.6" "2.4" "2 of 2 points solved" "wrote s-tip.z.svg"
expect_file s-tip.z.svg
expect_file s-tip.blocked.svg
expect_keys s.json points solved quantities rows given outcome results
cell() { # ROW NAME
    awk -F, -v row="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if (index($i, name " ") == 1) c = i }
        NR == row + 1 { print $c }' s.csv
}
# a point is that of fk with the same values
sed 's/wall: 2  /wall: 1.6/' finger/robot.yaml >finger/thin.yaml
expect_status 0 fk finger/thin.yaml $coarse --set air=4kPa --json fk.json
expect_near "tip.z as fk has it" "$(cell 1 tip.z)" "$(awk '/"position"/ { getline; getline; getline; gsub(/[ ,]/, ""); print; exit }' fk.json)" 1e-6
# the blocked force, put on the tip as a load, brings it back to where it was
minus() { awk -v a="$1" 'BEGIN { printf "%.12g", -a }'; }
(cat finger/thin.yaml && echo "loads: {forces: [{marker: tip, force: [$(minus "$(cell 1 tip.blocked_x)"), $(minus \
    "$(cell 1 tip.blocked_y)"), $(minus "$(cell 1 tip.blocked_z)")]}]}") >finger/held.yaml
moved() { awk '/"displacement"/ { for (i = 0; i < 3; ++i) { getline; gsub(/[ ,]/, ""); s += $0 * $0; z = $0 } print direction == "z" ? z : sqrt(s); exit }' direction="${2:-}" "$1"; }
expect_status 0 fk finger/held.yaml $coarse --set air=4kPa --json held.json
expect_near "the tip held where it was" "$(moved held.json)" 0 0.002
# along one axis alone: that force brings it back along z, and it is less than with all three held
expect_status 0 study finger/thin.yaml --vary air=4kPa,5kPa $coarse --blocked-axis z --out axis.csv
axis() { awk -F, -v name="$1 [N]" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) c = i } NR == 2 { print $c }' axis.csv; }
expect_near "no force across" "$(axis tip.blocked_x)" 0 1e-12
(cat finger/thin.yaml && echo "loads: {forces: [{marker: tip, force: [0, 0, $(minus "$(axis tip.blocked_z)")]}]}") >finger/axis.yaml
expect_status 0 fk finger/axis.yaml $coarse --set air=4kPa --json axis.json
expect_near "the tip held along z" "$(moved axis.json z)" 0 0.002
expect_status 2 study finger/thin.yaml --vary air=4kPa,5kPa $coarse --blocked-axis w
# stiffness: a small force at the tip moves it by the inverse
(cat finger/thin.yaml && echo "loads: {forces: [{marker: tip, force: [0, 0, 1e-4]}]}") >finger/push.yaml
expect_status 0 fk finger/push.yaml $coarse --set air=4kPa --json push.json
expect_near "stiffness along z" "$(cell 1 tip.stiffness_z)" \
    "$(awk -v a="$(moved push.json z)" -v b="$(moved fk.json z)" 'BEGIN { print 1e-4 / (a - b) }')" 1e-5

# all of it again comes from the store; one more value only costs its own points
expect_status 0 study finger --vary design.wall=1.6:2.4:2 --set air=4kPa $coarse --stiffness --blocked \
    --store s.store --out again.csv
expect_words out.txt "2 of them read from s.store"
if cmp -s s.csv again.csv; then pass "the same table"; else fail "another table"; fi
expect_status 0 study finger --vary materials.silicone.c10=0.1,0.2 $coarse --jobs 1
expect_words out.txt "2 of 2 points solved"
# what is wrong is said before the work, or with its point
expect_status 2 study finger --vary desgn.wall=1:2:2 $coarse
expect_status 2 study finger --vary aire=1kPa,2kPa $coarse
expect_words err.txt "did you mean 'air'"
expect_status 2 study finger --vary air=1:2 $coarse
# one unit for both ends
expect_status 2 study finger --vary air=100kPa:2bar:2 $coarse
expect_words err.txt "different units"
expect_status 2 study finger --vary air=a:b:3 $coarse
expect_words err.txt "two numbers"
expect_status 2 study finger --vary air=1kPa,2kPa --set air=3kPa $coarse
expect_words err.txt "given twice"
# outside of a command's range, as fk: refused unless asked for, point by point
expect_status 1 study finger --vary air=1kPa,900kPa $coarse --store range.store --out range.csv
expect_words out.txt "1 of 2 points solved" "air is 900 kPa; outside its range"
expect_words err.txt "--beyond-range"
expect_status 1 study finger --vary design.wall=2,2.1 --set air=900kPa $coarse
expect_words out.txt "0 of 2 points solved"
expect_status 1 study finger --vary air=-1Pa,1kPa $coarse
expect_status 0 study finger --vary air=-1Pa,1kPa $coarse --beyond-range --store range.store
expect_words out.txt "2 of 2 points solved"
# a command that no body could follow says nothing about the next point
"$pliant" new cable_finger pulled >/dev/null
expect_status 1 study pulled --size 14 --order 1 --vary flexor=500,2 --beyond-range --out refused.csv
expect_words out.txt "1 of 2 points solved" "prescribes a length"
expect_words refused.csv "2,solved"
expect_status 2 study finger --vary air=1kPa,2kPa --marker tip $coarse
expect_words err.txt "--marker tip is for --stiffness and --blocked"
expect_status 2 study finger
expect_status 1 study finger --vary design.wall=2,900 $coarse
expect_words out.txt "1 of 2 points solved"
expect_clean
finish
