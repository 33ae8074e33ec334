#!/usr/bin/env bash
# The table "Must reach" of docs/results/bench.md in one run: wall times, CPU times and counts on this machine, and the ratio of
# CalculiX's CPU time to ours on the bending finger and five other thin-walled robots. About ten minutes on two idle cores,
# most of it in CalculiX. What the programs print goes to BUILD/must_reach.txt, the table to standard output as well.
# usage: bench/must_reach.sh [BUILD] [quick]     quick: without CalculiX and the growth with the mesh
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
quick=${2:-}
log=$build/must_reach.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
: >"$log" || exit 3
missing=0
for program in pliant bench_robots bench_warm bench_serve bench_ik bench_growth; do
    [ -x "$build/$program" ] || { echo "$build/$program is missing: tools/build release --target bench_programs" && missing=1; }
done
[ $missing = 0 ] || exit 3

row() { printf '| %s | %s | %s |\n' "$1" "$2" "${3:-not measured}"; }
# wall and CPU seconds of a command, the quickest of $1 runs: "WALL CPU"
quickest() {
    local times=$1 best=""
    shift
    for ((i = 0; i < times; ++i)); do
        local line
        line=$({ TIMEFORMAT='%R %U %S'; time "$@" >>"$log" 2>&1; } 2>&1) || true
        best=$(printf '%s\n%s\n' "$best" "$line" | awk 'NF == 3' | sort -n | head -1)
    done
    awk '{ printf "%s %.2f", $1, $2 + $3 }' <<<"$best"
}
run() { # NAME SECONDS COMMAND...: its output, kept in the log too
    printf '\n== %s\n' "$1" >>"$log"
    timeout "$2" "${@:3}" 2>&1 | tee -a "$log"
}

printf '%s, %s cores, %s, load %s, commit %s\n\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" \
    "$(date -u '+%F %H:%M')" "$(cut -d' ' -f1 /proc/loadavg)" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" | tee -a "$log"
echo '| | asked | measured |'
echo '| --- | --- | --- |'

read -r wall cpu <<<"$(quickest 5 "$build/pliant" --version)"
row 'start of the program, `pliant --version`' '20 ms' "$(awk "BEGIN { printf \"%.0f ms, %.0f ms CPU\", 1e3 * $wall, 1e3 * $cpu }")"

finger=$(PLIANT_BENCH_COLD=1 run finger 300 "$build/bench_robots" ours "$folder" finger | grep '^finger ')
read -r wall cpu <<<"$(quickest 3 "$build/pliant" fk "$folder/finger/robot.yaml" --set air=34kPa)"
row 'bending finger, rest to 80 degrees, program start, mesh cached' '1.3 s' \
    "$wall s, $cpu CPU s ($(awk '{ printf "%d tet10, %.0f degrees, %d factorisations, %d solves", $2, $3, $6, $7 }' <<<"$finger"))"

run warm 300 "$build/bench_warm" | awk '/^default /{ printf "%s %s %s %s\n", $3, $5, $7, $8 }' >"$folder/warm"
row 'warm move of 2 %, plain elements (mean)' '120 ms; 6 solves, 0.1 factorisations' \
    "$(awk 'NR == 1 { printf "%s ms, %s CPU ms; %s solves, %s factorisations", $4, $3, $2, $1 }' "$folder/warm")"
row 'the same, locking-free' '120 ms' \
    "$(awk 'NR == 2 { printf "%s ms, %s CPU ms; %s solves, %s factorisations", $4, $3, $2, $1 }' "$folder/warm")"

run serve 300 "$build/bench_serve" "$build/pliant" >"$folder/serve"
# median until the shape has arrived after a rest, and with one move straight after the other
slider() { # NAME, as bench_serve has it
    awk -v name="$1" 'index($0, name ", no rest") == 1 { sub(name ", no rest", ""); busy = $3 } index($0, name " ") == 1 { sub(name, ""); tets = $1; rested = $3; solving = $5; solves = $6 }
        END { if (tets) printf "%s ms at %s tet10 (solving %s, %s solves); %s ms without a rest", rested, tets, solving, solves, busy }' "$folder/serve"
}
row 'slider to shape, half a finger' '60 ms' "$(slider 'half a finger')"
row 'slider to shape, finger' '150 ms' "$(slider finger)"

run ik 300 "$build/bench_ik" 16 14 0 >"$folder/ik"
row '`ik`, waypoints of 2 mm to 0.005 mm' '4 a second' \
    "$(awk '/tet10/{ n = $1 } /^newton, to 0.005/{ printf "%.1f a second at %d tet10 (median; %s solves, %s factorisations on the mean), error %s mm", 1 / $(NF - 1), n, $9, $7, $NF }' "$folder/ik")"
row "\`ik\`, the README's target" '1.5 s' \
    "$(run readme-ik 120 "$build/pliant" ik examples/finger --size 8 --target 108,6,-12 | awk '/reached in/{ sub(/^ */, ""); print }')"

if [ -z "$quick" ]; then
    run growth 500 "$build/bench_growth" 2 >"$folder/growth"
    row 'growth, 2k to 41k tet10' 'exponent of solving below 1.5 to 20k; 41k in 20 s' \
        "$(awk '$1 ~ /^[0-9]+$/ && $1 > 1000 && NF >= 10 { printf "%s%d: %s s wall, %s + %s CPU s, %s MB", more, $1, $5, $3, $4, $10; more = "; " }' "$folder/growth")"
    # two at a time: CPU times only
    (PLIANT_BENCH_COLD=1 run ccx 600 "$build/bench_robots" all "$folder" finger wide >"$folder/ccx0") &
    (PLIANT_BENCH_SCALE=1.6 PLIANT_BENCH_COLD=1 run ccx 600 "$build/bench_robots" all "$folder/coarse" bellows pneunet paper segment >"$folder/ccx1") &
    mkdir -p "$folder/coarse"
    wait
    for name in finger bellows pneunet paper wide segment; do
        row "CPU ratio to CalculiX, $name" "$([ $name = finger ] && echo 60 || echo 40)" \
            "$(awk -v name=$name '$1 == name && NF >= 16 { printf "%s at %d tet10: %.2f CPU s (%d factorisations), CalculiX %s s (%s)", $NF, $2, $8 + $9, $6, $(NF - 2), $(NF - 1) }' "$folder"/ccx?)"
    done
fi
