#!/usr/bin/env bash
# run, plant and control check: the loop reaches its goals, and stops safely when the plant is lost, refuses or goes silent.
. "$(dirname "$0")/lib.sh"

expect_status 0 control check --json g.json
expect_words out.txt "0.986873" "Lyapunov" "sampled"
expect_status 1 control check --kp 2.5
expect_words out.txt "unstable"
expect_status 2 control chekc
expect_status 0 new cable_finger claw
cat >>claw/robot.yaml <<'Y'
sensors:
  - {name: s1, kind: length, through: [[0, -8, 4], [50, -8, 4], [70, -8, 4], [116, -8, 4]], radius: 3, noise: 0.02}
  - {name: s2, kind: length, through: [[0, 8, 4], [50, 8, 4], [70, 8, 4], [116, 8, 4]], radius: 3, noise: 0.02}
  - {name: s3, kind: length, through: [[0, 0, 21], [60, 0, 21], [116, 0, 21]], radius: 3, noise: 0.02}
plant: {delay: 0.1 s, lag: 0.1 s}
Y
coarse="--size 14 --order 1"
expect_status 0 run claw $coarse --goal 114,0,-4 --steps 60 --out log.csv --out log.svg --json r.json
expect_words out.txt "60 ticks" "controller pi" "0 ticks held"
expect_file log.csv
expect_file log.svg
expect_near "rows of the log" "$(wc -l <log.csv)" 61 0
expect_near "final error, mm" "$(grep -o '"final_error": [0-9.e-]*' r.json | cut -d' ' -f2)" 0 0.3
expect_words r.json '"stopped": null'
expect_status 2 run claw $coarse --steps 5
expect_words err.txt "--goal X,Y,Z is missing"
expect_status 2 run claw $coarse --goal 1,2 --steps 5
expect_status 2 run claw $coarse --goal 114,0,-4 --plant nowhere:1
expect_words err.txt "127.0.0.1:PORT"
expect_status 2 plant claw
expect_words err.txt "--listen PORT"

# the protocol by hand: greeting, a step, wrong lines answered, the end of input ends it
printf '%s\n' '{"set": {"flexor": 1}}' 'nonsense' '{"set": {"flexr": 1}}' '{"set": {"flexor": 1e9}}' '{"set": {"flexor": null}}' |
    "$pliant" plant claw $coarse --stdio >talk.txt 2>err.txt && pass "plant ends with its input" || fail "plant"
expect_near "lines answered" "$(wc -l <talk.txt)" 6 0
expect_words talk.txt '"hello":"pliant plant 1"' '"t":0.1' "no such command" "outside its range" "not a number" "one JSON object per line"

# a plant that is killed: the log is whole, the loop says so
"$pliant" plant claw $coarse --listen 0 2>listen.txt >/dev/null &
server=$!
for _ in $(seq 300); do grep -q listening listen.txt && break; sleep 0.1; done
port=$(sed 's/.*://' listen.txt)
(sleep 2; kill -9 $server) 2>/dev/null &
expect_status 1 run claw $coarse --goal 114,0,-4 --steps 100000 --real-time --period 0.05s --plant "127.0.0.1:$port" --out lost.csv
expect_words out.txt "the plant is gone" "the last command was kept"
expect_near "columns of the last row" "$(tail -1 lost.csv | tr -cd , | wc -c)" "$(head -1 lost.csv | tr -cd , | wc -c)" 0
expect_clean
finish
