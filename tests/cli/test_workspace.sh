#!/usr/bin/env bash
# workspace: samples, hull, a store that survives a kill and refuses strangers, starts for ik and follow.
. "$(dirname "$0")/lib.sh"
export PLIANT_THREADS=1

expect_status 0 new cable_finger claw
coarse="--size 12 --order 1"
expect_status 0 workspace claw $coarse --levels 2 --out w.csv --out w.vtu --out w.png --json w.json
expect_words out.txt "8 of 8 samples, 8 solved" "convex hull"
for f in w.csv w.vtu w.png; do expect_file "$f"; done
expect_near "rows" "$(wc -l <w.csv)" 9 0
expect_words w.csv "flexor [mm],left [mm],right [mm],tip.x [mm]"
expect_keys w.json robot warnings marker hull_dimension computed now hull_volume solved planned low high outcomes crossing cold_starts hull_corners
volume=$(json_number w.json hull_volume)
if awk -v v="$volume" 'BEGIN { exit !(v > 100) }'; then pass "hull of $volume mm^3"; else fail "hull of $volume mm^3"; fi

# a kill loses no sample that was finished; the same command goes on
"$pliant" workspace claw $coarse --samples 40 --store k.sqlite >/dev/null 2>&1 &
pid=$!
await_or_end "$pid" [ -s k.sqlite ]
sleep 0.3
kill -KILL "$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
expect_status 0 workspace claw $coarse --samples 40 --store k.sqlite --out k.csv
expect_words out.txt "40 of 40 samples"
expect_status 0 workspace claw $coarse --samples 40 --store whole.sqlite --out whole.csv
if cut -d, -f1-3 k.csv | cmp -s - <(cut -d, -f1-3 whole.csv); then pass "same samples as without the kill"; else fail "other samples"; fi
expect_status 0 workspace claw $coarse --samples 40 --store k.sqlite
expect_words out.txt "40 of 40 samples are already stored"

# another mesh is another robot; other files are refused
expect_status 2 workspace claw --size 11 --order 1 --samples 40 --store k.sqlite
expect_words err.txt "its samples are of another robot"
# so are other elements: their samples are others
expect_status 2 workspace claw $coarse --samples 40 --store k.sqlite --displacement
expect_words err.txt "its samples are of another robot"
echo "some text that is no database at all" >text.sqlite
run workspace claw $coarse --samples 4 --store text.sqlite
if [ "$status" -ne 0 ]; then pass "a text is no store"; else fail "a text is taken for a store"; fi
# ik starts there
sample=$(tail -1 k.csv | cut -d, -f4-6)
expect_status 0 ik claw $coarse --target "$sample" --workspace k.sqlite
expect_status 2 ik claw --size 11 --order 1 --target "$sample" --workspace k.sqlite

# a reduced robot has a workspace too
expect_status 0 new trunk_cc reduced
expect_status 0 workspace reduced --samples 50 --store r.sqlite
expect_words out.txt "50 of 50 samples, 50 solved"
expect_status 2 workspace claw $coarse --samples 4 --store r.sqlite
expect_status 0 workspace reduced --samples 9 --store :memory: --out r.png
expect_file :memory:
expect_status 3 workspace reduced --samples 9 --store nowhere/r.sqlite
rm -f :memory: r.png

expect_status 2 workspace claw $coarse --levels 2 --samples 3
expect_status 2 workspace claw $coarse --levels 0
expect_status 2 workspace claw $coarse --levels 500
expect_words err.txt "the limit is"
expect_status 2 workspace claw $coarse --levels 2 --marker elbow
expect_status 2 workspace claw $coarse --levels 2 --out w.stl
expect_status 3 workspace claw $coarse --levels 2 --out nowhere/w.csv
expect_clean
finish
