#!/usr/bin/env bash
# follow: paths are met, limits hold, what goes to the machine gives the same motion; a kill leaves no half file.
. "$(dirname "$0")/lib.sh"
export PLIANT_THREADS=1

expect_status 0 new cable_finger claw
cat >>claw/robot.yaml <<'YAML'
hardware:
  flexor: {axis: X, per_unit: 1 mm, offset: 2, feed: 300}
  left: {axis: Y, per_unit: 0.5 mm, reverse: true}
  right: {axis: E, per_unit: 1 mm}
YAML
coarse="--size 12 --order 1"
place="--plane yz --center 114,0,-6 --span 2"
expect_status 0 follow claw $coarse --path circle $place --count 12 --out c.csv --out c.pvd --out c.html --out c.png \
    --json c.json --export marlin=c.gcode --rate flexor=2mm/s --rate left=1mm/s --rate right=1mm/s
expect_words out.txt "12 of 12 waypoints reached" "largest step of a command"
for f in c.csv c.pvd c_0000.vtu c_0011.vtu c.html c.png c.gcode; do expect_file "$f"; done
expect_near "rows" "$(wc -l <c.csv)" 13 0
expect_near "records" "$(grep -c '"reached": true' c.json)" 12 0
expect_keys c.json robot warnings reached_count times largest_error largest_step waypoints
# the report: the robot, and the plane of the path without the flat coordinate
expect_words c.html "12 of 12" "<svg" "data:image/png;base64," "path in the yz plane" "<th>flexor N"
expect_no_words c.html "path in the xy" "path in the xz"
expect_no_words c.html "http:" "https:" "<script"
# every error is below the tolerance
worst=$(tail -n +2 c.csv | cut -d, -f9 | sort -g | tail -1)
expect_near "largest error" "$worst" 0 0.005
# the G-code read back is the table: X = 2 + flexor, Y = -left / 0.5, E = right; no axis is faster than its limit
if awk -F, 'NR == FNR { if (FNR > 1) { f[FNR - 2] = $12; l[FNR - 2] = $13; r[FNR - 2] = $14 } next }
    /^G1/ { split($0, w, " "); x = substr(w[2], 2) + 0; y = substr(w[3], 2) + 0; e = substr(w[4], 2) + 0; feed = substr(w[5], 2) + 0
        if (d(x, 2 + f[n + 0]) > 1e-4 || d(y, -l[n + 0] / 0.5) > 1e-4 || d(e, r[n + 0]) > 1e-4) { print "place", n; bad = 1 }
        distance = sqrt((x - px) ^ 2 + (y - py) ^ 2); t = 60 * distance / feed
        if (n > 0 && (d(x, px) > 2.0001 * t || d(y, py) * 0.5 > 1.0001 * t || d(e, pe) > 1.0001 * t)) { print "rate", n; bad = 1 }
        px = x; py = y; pe = e; n++ }
    function d(a, b) { return a > b ? a - b : b - a }
    END { exit bad || n != 12 }' c.csv FS=' ' c.gcode; then
    pass "G-code gives the commands back within the rates"
else
    fail "G-code differs from the table"
fi
expect_words c.gcode "G21" "G90" "does not home" "M400"

# rates with a time step bound every step of the commands
expect_status 0 follow claw $coarse --path circle $place --count 12 --dt 1s --rate flexor=4mm/s --rate left=4mm/s --rate right=4mm/s
run follow claw $coarse --path circle $place --count 12 --dt 1s --rate flexor=0.05mm/s --rate left=0.05mm/s \
    --rate right=0.05mm/s --out slow.csv
expect_near "too slow to follow" "$status" 1 0
step=$(tail -n +2 slow.csv | awk -F, 'NR > 1 { for (c = 12; c <= 14; c++) { s = $c - p[c]; if (s < 0) s = -s; if (s > m) m = s } }
    { for (c = 12; c <= 14; c++) p[c] = $c } END { print m }')
expect_near "largest step under a rate of 0.05 mm per step" "$step" 0.05 1e-6

# a file of points, resampled; units in the heading; out of reach is continuous and says so
printf '# a line\nx [cm];y;z\n11.4;-1;-6\n11.4;1;-6\n' >line.csv
expect_status 0 follow claw $coarse line.csv --resample 5 --out line_out.csv
expect_near "rows of the resampled line" "$(wc -l <line_out.csv)" 6 0
printf '0,0,-18\n0,3,-30\n' >away.csv
expect_status 1 follow claw $coarse away.csv --relative --resample 4 --out away_out.csv
expect_words err.txt "4 of 4 waypoints not reached" "nearest reachable points"
expect_near "all waypoints are there" "$(wc -l <away_out.csv)" 5 0

# a reduced robot follows too
expect_status 0 new trunk_cc reduced
expect_status 0 follow reduced --path eight --span 20,10 --count 40 --out r.csv --out r.html
expect_words out.txt "40 of 40 waypoints reached"

# where pressure is the command, it stands in the report once; coordinates that do not count are not drawn
expect_status 0 new segment_beam beam
expect_status 0 follow beam --path circle --axes xy --span 6 --count 8 --out b.html
expect_near "columns of a pressure" "$(grep -o '<th>chamber1 kPa' b.html | wc -l)" 1 0
expect_words b.html "path in the xy plane" "<th>target y mm" "<th>z mm"
expect_no_words b.html "<h2>Efforts" "<th>target z" "path in the xz" "path in the yz"

# its rates bound the steps and its axes reach the machine, as those of a full robot
sed -e 's/range: \[85, 135\]/range: [85, 135], rate: 2 mm\/s/' reduced/robot.yaml >limited.yaml
printf 'hardware:\n  l1: {axis: X, per_unit: 0.5 mm, offset: 100}\n' >>limited.yaml
expect_status 0 follow limited.yaml --path circle --span 30 --count 12 --out r.csv --out r.png --export marlin=r.gcode
step=$(tail -n +2 r.csv | awk -F, 'NR > 1 { for (c = 12; c <= 17; c++) { s = $c - p[c]; if (s < 0) s = -s; v = s / ($2 - t); if (v > m) m = v } }
    { t = $2; for (c = 12; c <= 17; c++) p[c] = $c } END { print m }')
expect_near "fastest change, mm/s" "$step" 2 1e-3
expect_words r.gcode "X moves l1" "no axis moves l2" "M400"
expect_status 0 follow limited.yaml --path line --span 2 --count 3 --save-state s.state
expect_status 0 ik limited.yaml --target 1,0,206 --axes x --start s.state
expect_words out.txt "reached"

# times of the file itself: its steps keep the rates
printf 't,x,y,z\n0,0,0,206\n1,1,0,206\n3,40,0,200\n' >timed.csv
expect_status 1 follow limited.yaml timed.csv --out timed_out.csv
expect_near "the last time" "$(tail -1 timed_out.csv | cut -d, -f2)" 3 0
step=$(tail -n +2 timed_out.csv | awk -F, 'NR > 1 { for (c = 12; c <= 17; c++) { s = $c - p[c]; if (s < 0) s = -s; v = s / ($2 - t); if (v > m) m = v } }
    { t = $2; for (c = 12; c <= 17; c++) p[c] = $c } END { print m }')
expect_near "fastest change, mm/s" "$step" 2 1e-3
expect_status 2 follow limited.yaml timed.csv --dt 1s
expect_words err.txt "already has times"

# wrong usage
sed 's/radius: .*/radius: 1e9/' claw/robot.yaml >claw/wide.yaml
expect_status 2 follow claw/wide.yaml $coarse --path circle
expect_words err.txt "claw/wide.yaml:" "a radius of 1e+09 mm is larger than the body (125.1 mm)"
expect_status 2 follow claw $coarse
expect_words err.txt "no path is given"
expect_status 2 follow claw $coarse line.csv --path circle
expect_status 2 follow claw $coarse --path heart
expect_words err.txt "expected circle"
expect_status 2 follow claw $coarse --path circle --span -3
expect_status 2 follow claw $coarse --path circle --plane q
expect_status 2 follow claw $coarse --path circle --count 0
expect_status 2 follow claw $coarse --path circle --rate flexor=3kPa/s
expect_words err.txt "per second"
expect_status 2 follow claw $coarse --path circle --export pressures=p.csv
expect_words err.txt "no chamber"
expect_status 2 follow claw $coarse --path circle --export stone=p.csv
expect_status 2 follow claw $coarse line.csv --export marlin=line.csv
expect_words err.txt "is an input of this run"
expect_status 2 follow claw $coarse line.csv --out line.csv
expect_status 2 follow claw $coarse --path circle --out c.xyz
printf 'x,y,z\n1,2,three\n' >wrong.csv
expect_status 2 follow claw $coarse wrong.csv
expect_words err.txt "wrong.csv:2: column 3 z: expected a number"
expect_status 3 follow claw $coarse nowhere.csv

# chambers: a time table of pressures
expect_status 0 new bending_finger finger
run follow finger --size 9 --order 1 --path line --count 3 --axes z --plane zx --export pressures=p.csv
expect_words p.csv "time [s],air [kPa]"
expect_near "rows of the time table" "$(wc -l <p.csv)" 4 0
# pressures below zero: refused with their rows, clipped or kept as the hardware block says
pulls="--size 9 --order 1 --path line --span 2 --count 3 --axes z --plane zx --force --export pressures=v.csv"
sed 's/range: \[0 kPa/range: [-20 kPa/' finger/robot.yaml >pull.yaml
run follow pull.yaml $pulls
expect_words err.txt "v.csv: the pressure of chamber 'air' is below 0 in rows "
expect_no_file v.csv
(cat pull.yaml; printf 'hardware: {air: {below_zero: clip}}\n') >clip.yaml
run follow clip.yaml $pulls
expect_words err.txt "of 'air' were below 0" "written as 0"
expect_near "pressures below zero after clipping" "$(grep -c ',-' v.csv || true)" 0 0
(cat pull.yaml; printf 'hardware: {air: {below_zero: pull}}\n') >keep.yaml
run follow keep.yaml $pulls
expect_near "pressures below zero kept" "$(grep -c ',-' v.csv || true)" 1 0

# killed in the middle: what is there is whole, nothing else
"$pliant" follow claw $coarse --path circle $place --count 5000 --out k.csv --out k.html \
    --out k.pvd --export marlin=k.gcode >/dev/null 2>&1 &
pid=$!
await_or_end "$pid" [ -e k_0001.vtu ]
kill -KILL "$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
for f in k.csv k.html k.gcode; do expect_no_file "$f"; done
# the series is whole: it ends as it should, and every file it names is there
expect_words k.pvd "</VTKFile>"
missing=0
for f in $(sed -n 's/.*file="\([^"]*\)".*/\1/p' k.pvd); do [ -s "$f" ] || missing=$((missing + 1)); done
expect_near "files of the series that are missing" "$missing" 0 0
rm -f k_* k.pvd
expect_clean
finish
