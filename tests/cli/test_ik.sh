#!/usr/bin/env bash
# ik: what fk reached is found again; bounds hold; what is out of reach is said; wrong usage is refused.
. "$(dirname "$0")/lib.sh"
export PLIANT_THREADS=1

expect_status 0 new cable_finger claw
coarse="--size 12 --order 1" # fast, and far too stiff: words and laws are tested here, not accuracy
position() { # FILE: x,y,z of the first marker
    tr -d ' \n' <"$1" | grep -oE '"position":\[[^]]*\]' | head -1 | grep -oE '\[[^]]*\]' | tr -d '[]'
}
expect_status 0 fk claw $coarse --set flexor=6 --set left=2 --set right=1 --json fk.json --save-state there.state
target=$(position fk.json)
expect_status 0 ik claw $coarse --target "$target" --json ik.json --out ik.csv --out ik.png
expect_words out.txt "reached" "position  tip"
expect_keys ik.json reached error active_bounds certificate gradient bounds converged markers starts agreed
expect_words ik.json '"reached": true'
expect_near "error" "$(json_number ik.json error)" 0 0.005
expect_file ik.png
got=$(position ik.json)
for i in 1 2 3; do
    expect_near "coordinate $i" "$(echo "$got" | cut -d, -f$i)" "$(echo "$target" | cut -d, -f$i)" 0.01
done
# a marker holds for the goals after it: one that no goal uses is not taken silently for another
expect_status 2 ik claw $coarse --target "$target" --marker tip
expect_words err.txt "--marker tip: no goal of a marker comes after it"
expect_status 2 ik claw $coarse --marker tip --marker tip --target "$target"
# from the state itself nothing is left to do
expect_status 0 ik claw $coarse --target "$target" --start there.state
expect_words out.txt "reached in 0 steps"
# the published method gets there too
expect_status 0 ik claw $coarse --target 0,0,-3 --axes z --tolerance 0.05 --search gradient --json g.json
expect_words g.json '"reached": true'

# out of reach: nearest point, distance, bounds, certificate
expect_status 1 ik claw $coarse --target 90,30,-40 --json far.json
expect_words err.txt "not reached" "the nearest reachable point found is" "held by" "the upper end of flexor's range (20 mm)"
expect_words far.json '"reached": false' '"flexor"'
expect_near "certificate" "$(json_number far.json gradient)" 0 1e-4
# a bound on efforts holds
expect_status 1 ik claw $coarse --target 90,0,-40 --max-tension 2N --json bound.json
expect_words err.txt "tension of flexor (2 N)"
tension=$(grep -oE '"tension": *[0-9.e+-]+' bound.json | sed 's/.*: *//' | sort -g | tail -1)
expect_near "largest tension" "$tension" 2 0.001
# one coordinate, a distance, a direction, a held command
expect_status 0 ik claw $coarse --target 0,0,-10 --axes z --least motion
expect_status 0 ik claw $coarse --target 116,0,60 --distance 70
expect_status 0 ik claw $coarse --direction 1,0,-0.4 --axis 1,0,0 --tolerance 0.3
expect_status 0 ik claw $coarse --target 0,0,-10 --axes z --set left=1 --hold left --hold right
expect_words out.txt "left = 1 mm"
expect_no_words out.txt "right ="
# shapes: as written by fk, as a table
expect_status 0 fk claw $coarse --set flexor=5 --set left=1 --set right=1 --out shape.vtu
expect_status 0 ik claw $coarse --shape shape.vtu --tolerance 0.02
expect_words out.txt "shape " "body"
expect_status 0 fk claw $coarse --set flexor=5 --set left=1 --set right=1 --out back.stl --surface back
expect_status 0 ik claw $coarse --shape back.stl --of back --tolerance 0.2
printf 'x0,y0,z0,x,y,z\n120,12.5,25,118,12.5,15\n' >shape.csv
run ik claw $coarse --shape shape.csv
expect_words out.txt "shape " "body"
expect_status 0 ik claw $coarse --curvature 0.004 --along 5,0,12:115,0,12 --tolerance 1e-4

# a reduced robot answers in the same manner
expect_status 0 new trunk_cc reduced
expect_status 0 ik reduced --target 12,-8,203 --json r.json
expect_words r.json '"reached": true'
expect_status 1 ik reduced --target 12,-8,20
expect_words err.txt "held by"

# wrong usage
expect_status 2 ik claw $coarse
expect_words err.txt "no goal is given"
expect_status 2 ik claw $coarse --target 1,2
expect_words err.txt "three numbers X,Y,Z"
expect_status 2 ik claw $coarse --target 1,2,3kPa
expect_words err.txt "is a pressure, expected a length"
expect_status 2 ik claw $coarse --marker tpi --target 1,2,3
expect_words err.txt "no marker 'tpi'" "did you mean 'tip'"
expect_status 2 ik claw $coarse --direction 1,0,0
expect_words err.txt "--axis"
expect_status 2 ik claw $coarse --axes xy
expect_words err.txt "must come after"
expect_status 2 ik claw $coarse --curvature 0.01
expect_words err.txt "--along"
expect_status 2 ik claw $coarse --curvature 0.01 --along nowhere
expect_status 2 ik claw $coarse --sensor s=1
expect_words err.txt "--sensor s" "has no sensors"
expect_status 2 ik claw $coarse --target 1,2,3 --max-pressure 3kPa
expect_words err.txt "has no chamber"
expect_status 2 ik claw $coarse --target 1,2,3 --max-effort flexor=3kPa
expect_status 2 ik claw $coarse --target 1,2,3 --search magic
expect_status 2 ik claw $coarse --target 1,2,3 --least sleep
expect_status 3 ik claw $coarse --target 1,2,3 --workspace nowhere.sqlite
expect_status 2 ik claw $coarse --target 1,2,3 --start shape.csv
expect_status 2 ik claw $coarse --shape shape.txt
expect_status 3 ik claw $coarse --shape none.csv
expect_status 2 ik claw $coarse --shape shape.csv --out shape.csv
expect_words err.txt "is an input of this run"
printf 'x0,y0,z0,x,y,z\n500,0,12,118,0,4\n' >far.csv
expect_status 2 ik claw $coarse --shape far.csv
expect_words err.txt "far.csv:2: no body point within"

# a reduced robot starts from its rest, and what it cannot know it does not promise
run ik reduced --target 0,0,200 --iterations 1 --limit-each 0.000001ms
expect_words err.txt "the nearest reachable point found is 0.000,0.000,206.000"
expect_status 2 ik reduced --target 0,0,200 --max-tension 3N
expect_words err.txt "has no efforts"
expect_status 2 ik reduced --target 0,0,200 --least effort
expect_status 2 ik reduced --target 1e200,0,0
expect_words err.txt "1e+200"
run ik reduced --orientation 0,0,180deg
expect_words err.txt "rad off"
expect_clean
finish
