#!/usr/bin/env bash
# Ctrl-C and time limits: what is said, what is kept, and the exit status.
. "$(dirname "$0")/lib.sh"
export PLIANT_THREADS=1
expect_status 0 new bending_finger finger
expect_status 0 new trunk_cc reduced
coarse="--size 12 --order 1"
expect_status 0 mesh finger $coarse

# interrupted ARGUMENTS: sends SIGINT once there is output
interrupted() {
    : >out.txt
    "$pliant" "$@" >out.txt 2>err.txt &
    local pid=$!
    three_lines() { [ "$(wc -l <out.txt)" -gt 2 ]; }
    await_or_end "$pid" three_lines
    kill -INT "$pid" 2>/dev/null || true
    status=0
    wait "$pid" || status=$?
}
interrupted sweep finger $coarse --set air=0:30kPa:90000
if [ "$status" -eq 1 ]; then pass "status 1 after Ctrl-C"; else fail "status $status after Ctrl-C"; fi
expect_words err.txt "pliant sweep: stopping, keeping the last equilibrium" "interrupted after" "of 90000 points, which are kept"

# the limit of a run: samples so far are kept and measured
# on a slow machine a short one is reached before the first
for limit in 0.6 6 60; do
    expect_status 1 workspace reduced --levels 9 --time-limit ${limit}s --json limit.json
    [ ! -e limit.json ] || break
    expect_words err.txt "the time limit of $limit s was reached before anything was solved"
done
expect_words err.txt "the time limit of $limit s was reached after"
expect_keys limit.json outcomes computed cold_starts
# a run that is over its limit says so, wherever that was: on a slow machine before there is a record
expect_status 1 fk finger $coarse --set air=30kPa --time-limit 0.01s --json late.json --save-state late.state
expect_words err.txt "the time limit of 0.01 s was reached"
if [ -e late.json ]; then
    expect_words late.json '"outcome": "interrupted"'
    expect_file late.state
fi
# of each point: the run goes on
expect_status 1 sweep finger $coarse --set air=10kPa:30kPa:3 --limit-each 0.0001s --out each.csv
expect_near "rows" "$(wc -l <each.csv)" 4 0
# an interrupted search does not say what holds it
expect_status 1 ik finger $coarse --target 60,0,-40 --time-limit 0.01s
expect_words err.txt "the time limit of 0.01 s was reached"
expect_no_words err.txt "held by"
# times: with -v also where no terminal is, never on standard output
expect_status 0 fk finger $coarse --set air=5kPa -v
expect_words err.txt "(loading "
expect_no_words out.txt "(loading "
expect_status 0 fk finger $coarse --set air=5kPa
expect_no_words err.txt "loading"

# failures say where, and what is alike is reported once
expect_status 1 fk finger $coarse --set air=900kPa --beyond-range --json where.json
expect_words err.txt "mm in region"
expect_words where.json '"failed_at": {'
"$pliant" new cable_finger claw >/dev/null
sed -i '/^ *radius: hole/d' claw/robot.yaml
expect_status 0 info claw $coarse
expect_words err.txt "cable 'flexor' has no radius" "2 more like this, in lines"
expect_near "once" "$(grep -c 'no radius' err.txt)" 1 0
finish
