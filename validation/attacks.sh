#!/usr/bin/env bash
# Attacks that take too long for `make test`: damaged files, damaged caches, full disks, signals at the start,
# and attacks on a running server (attack_serve.py).
#
#   validation/attacks.sh [step] [cache] [disk] [signals] [serve]      (default: all)
#
# PLIANT names the command (default build/pliant), COUNT the cases of the first two (default 60). Needs gmsh for STEP files;
# `disk` needs the right to mount a tmpfs. Prints what happened and how often. Exit status 1: a crash, a changed answer, a
# cut file, or a success that was none.
set -u
pliant=$(realpath "${PLIANT:-build/pliant}")
count=${COUNT:-60}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 3
bad=0
declare -A outcome
note() { outcome["$1"]=$((${outcome["$1"]:-0} + 1)); }
report() { # WHAT: the counts of one attack
    local word
    for word in "${!outcome[@]}"; do printf '%s: %s: %d\n' "$1" "$word" "${outcome[$word]}"; done | sort
    outcome=()
}

# damage FILE OUT SEED KIND: one byte lost, or one bit flipped, at a place drawn by SEED
damage() {
    local size at bit byte
    size=$(stat -c %s "$1")
    read -r at bit < <(awk -v s="$3" -v n="$size" 'BEGIN { srand(s); rand(); print int(rand() * n), int(rand() * 8) }')
    head -c "$at" "$1" >"$2"
    if [ "$4" = flip ]; then
        byte=$(tail -c +$((at + 1)) "$1" | head -c 1 | od -An -tu1)
        printf '%b' "\\x$(printf '%02x' $((byte ^ (1 << bit))))" >>"$2"
    fi
    tail -c +$((at + 2)) "$1" >>"$2"
}

# ends COMMAND...: its status in $status; a signal or an abort is bad
ends() {
    timeout 120 "$@" >out.txt 2>err.txt
    status=$?
    case $status in
    0) note "exit 0" ;;
    1 | 2 | 3) if [ -s err.txt ]; then note "refused with a sentence"; else note "REFUSED WITHOUT A WORD"; bad=1; fi ;;
    124) note "time limit" ;;
    *) note "CRASH (status $status)"; bad=1 ;;
    esac
}

robot() { # PART: a robot file around part.step
    printf 'pliant: 1\nmesh: {step: part.step, size: 12, order: 1}\nsurfaces: {base: {plane: {point: [0, 0, 0], normal: [-1, 0, 0]}}}\n'
    printf 'materials: {m: {use: dragon_skin_20}}\nregions: {body: m}\nfixed: [{surface: base}]\nmarkers: {tip: {at: [40, 0, 0]}}\nloads: {gravity: [0, 0, -9.81 m/s^2]}\n'
}

attack_step() {
    local i
    printf 'SetFactory("OpenCASCADE");\nBox(1) = {0, -5, -5, 40, 10, 10};\nCylinder(2) = {20, 0, -6, 0, 0, 12, 2};\nBooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };\nSave "whole.step";\n' >part.geo
    gmsh -0 -v 1 part.geo >/dev/null 2>&1
    [ -s whole.step ] || { echo "step: not drawn (gmsh)"; return; }
    robot >robot.yaml
    for ((i = 1; i <= count; i++)); do
        damage whole.step part.step "$i" "$([ $((i % 2)) = 0 ] && echo flip || echo lose)"
        ends "$pliant" fk robot.yaml --no-cache
    done
    report "damaged STEP, fk"
}

attack_cache() {
    local i file before after
    "$pliant" new bending_finger finger >/dev/null
    "$pliant" fk finger --size 12 --order 1 --set air=5kPa --json before.json >/dev/null 2>&1
    file=$(find finger -path '*cache*' -type f | head -n 1)
    [ -n "$file" ] || file=$(find finger -type f ! -name robot.yaml | head -n 1)
    [ -n "$file" ] || { echo "cache: no file of it was found"; bad=1; return; }
    cp "$file" whole.bin
    before=$(grep -A3 '"position"' before.json)
    for ((i = 1; i <= count; i++)); do
        damage whole.bin "$file" "$i" flip
        ends "$pliant" fk finger --size 12 --order 1 --set air=5kPa --json after.json
        after=$(grep -A3 '"position"' after.json)
        if [ $status -eq 0 ] && [ "$before" != "$after" ]; then
            note "CHANGED ANSWER"
            bad=1
        fi
    done
    report "flipped bit in the mesh cache"
}

attack_disk() {
    mkdir -p small
    mount -t tmpfs -o size=1m none small 2>/dev/null || { echo "disk: no tmpfs could be mounted here"; return; }
    head -c 1040000 /dev/zero >small/full
    "$pliant" new bending_finger finger --force >/dev/null
    local name
    for name in a.msh a.vtu a.stl a.png a.glb; do
        ends "$pliant" mesh finger --size 12 --order 1 --out small/$name
        if [ $status -eq 0 ] || [ -e small/$name ]; then note "A CUT FILE OR SUCCESS: $name"; bad=1; fi
    done
    for name in "--json small/a.json" "--save small/a.state" "--out small/a.vtu" "--out small/a.csv"; do
        head -c 1048576 /dev/zero >small/full 2>/dev/null
        ends "$pliant" fk finger --size 12 --order 1 --set air=5kPa $name
        if [ $status -eq 0 ]; then note "SUCCESS ON A FULL DISK: $name"; bad=1; fi
    done
    find small -type f ! -name full | while read -r name; do echo "disk: left $name ($(stat -c %s "$name") bytes)"; done
    umount small
    report "full disk"
}

attack_signals() {
    local i signal pid
    "$pliant" new bending_finger finger --force >/dev/null
    for signal in INT TERM HUP PIPE; do
        for ((i = 0; i < 10; i++)); do
            # job control gives the child its own answer to INT
            (set -m; "$pliant" fk finger --size 12 --order 1 --set air=5kPa >out.txt 2>err.txt & pid=$!; sleep 0.0$i; kill -$signal $pid 2>/dev/null; wait $pid; exit $?) 2>/dev/null
            case $? in
            0) note "$signal: finished before" ;;
            1 | 2 | 3 | 4 | 130 | 143 | 129 | 141) note "$signal: ended" ;;
            *) note "$signal: STATUS $?"; bad=1 ;;
            esac
        done
    done
    find . -name '*.tmp*' -o -name '*.part*' | sed 's/^/signals: left /'
    report "signals in the first 100 ms"
}

attack_serve() {
    python3 "$here/attack_serve.py" "$pliant" || bad=1
}

for what in ${*:-step cache disk signals serve}; do
    case $what in
    step | cache | disk | signals | serve) "attack_$what" ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
exit $bad
