#!/usr/bin/env bash
# run, plant and control check: the loop reaches its goals, and stops safely when the plant is lost, refuses or goes silent.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"

expect_status 0 control check --json g.json
expect_words out.txt "0.986873" "Lyapunov" "sampled"
expect_status 1 control check --kp 2.5
expect_words out.txt "unstable"
expect_status 1 control check --kp 0.5 --delay 0.2s --lag 0.1s --json late.json
expect_words out.txt "poorly damped" "overshoots by"
expect_words late.json '"stable": true' '"damped": false'
expect_status 1 control check --kp 0.9 --delay 0.5s
expect_words out.txt "a delay of 0.5 s and a lag of 0 s: unstable"
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
sed 's/^plant: .*/plant: {delay: 0.2 s, lag: 0.1 s}/' claw/robot.yaml >claw/late.yaml
expect_status 1 control check claw/late.yaml $coarse --kp 0.5
expect_words out.txt "a delay of 0.2 s and a lag of 0.1 s: stable, but poorly damped"
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

# the protocol by hand: greeting, a step, wrong lines answered, the end of input ends it; a refused message changes nothing
printf '%s\n' '{"seq": 1, "t": 0, "set": {"flexor": 1}}' 'nonsense' '{"seq": 2, "t": 0, "set": {"flexr": 1}}' '{"seq": 3, "t": 0, "set": {"flexor": 1e9}}' \
    '{"seq": 4, "t": 0, "set": {"flexor": null}}' '{"seq": 1, "t": 0, "set": {"flexor": 1}}' '{"seq": 5, "t": 0, "set": {"flexor": 5, "thumb": 1}}' \
    "$(head -c 1000000 /dev/zero | tr '\0' x)" '{"seq": 6, "t": 0, "set": {}}' |
    "$pliant" plant claw $coarse --stdio >talk.txt 2>err.txt && pass "plant ends with its input" || fail "plant"
expect_near "lines answered" "$(wc -l <talk.txt)" 10 0
expect_words talk.txt '"hello":"pliant plant 2"' '"t":0.1' "no such command" "outside its range" "not a number" "one JSON object per line" \
    '"range":[0.0,20.0]' "above the last" "too long" '"seq":6,"t":0.2'
expect_near "a refused set is not applied in part, mm" "$(tail -1 talk.txt | grep -o '"acts":{"flexor":[0-9.]*' | grep -o '[0-9.]*$')" 0.5 0.5

# a plant that is killed: the log is whole, the loop says so
"$pliant" plant claw $coarse --listen 0 --period 0.05s 2>listen.txt >/dev/null &
server=$!
await_or_end "$server" grep -q listening listen.txt
port=$(sed 's/.*://' listen.txt)
# once it has answered for some ticks: a line each
written() { awk '/^wchar/ { print $2 }' "/proc/$server/io" 2>/dev/null || echo 0; }
before=$(written)
answered() { [ "$(written)" -gt $((before + 3000)) ]; }
(await_or_end "$server" answered; kill -9 "$server") 2>/dev/null &
expect_status 1 run claw $coarse --goal 114,0,-4 --steps 100000 --real-time --period 0.05s --plant "127.0.0.1:$port" --out lost.csv
expect_words out.txt "the plant is gone"
expect_near "columns of the last row" "$(tail -1 lost.csv | tr -cd , | wc -c)" "$(head -1 lost.csv | tr -cd , | wc -c)" 0

if command -v python3 >/dev/null; then
    # start MODE: a robot that reports wrong positions in the given mode
    start() {
        rm -f port.txt received.txt
        python3 "$here/fake_plant.py" "$1" received.txt "$pliant" plant claw $coarse --stdio >port.txt 2>/dev/null &
        await_or_end $! [ -s port.txt ]
        port=$(cat port.txt)
    }
    last_set() { grep -o '"set":{"flexor":[-0-9.e]*' received.txt | tail -1 | grep -o '[-0-9.e]*$'; }
    far="run claw $coarse --goal 112,0,-8 --steps 60"
    # a greeting that does not fit is refused before anything is sent
    while read -r mode words; do
        start "$mode"
        expect_status 2 $far --plant "127.0.0.1:$port"
        expect_words err.txt "the plant does not fit the robot" "$words"
        expect_near "messages sent to '$mode'" "$(wc -l <received.txt)" 0 0
    done <<'M'
protocol expected pliant plant 2
unit the unit of command 'flexor' is N, expected mm
range the range of command 'flexor' is 0 to 10 mm
rate the rate of command 'flexor'
period the period is 0.25 s
command command 'flexor' is missing
extra command 'thumb' is unknown
sensor the unit of sensor 's2' is kPa
M
    # replies that cannot be trusted end the run; whatever ends it, the commands go to rest
    while read -r mode words; do
        start "$mode"
        expect_status 1 $far --plant "127.0.0.1:$port" --on-stop rest --out $mode.csv
        expect_words out.txt "$words"
        expect_near "the command after '$mode'" "$(last_set)" 0 0
    done <<'M'
silent the plant does not answer
repeat the readings are lost
unsent no sequence number, or one that was not sent
unnumbered no sequence number
text neither a number nor null
nan no JSON object
refuse valve 3 is hot
long too long
unsolved the simulated robot had no equilibrium; its readings were not used
twice no JSON object
marker neither [x, y, z] nor null
M
    start stale
    expect_status 0 $far --plant "127.0.0.1:$port"
    expect_words out.txt "replies were old or repeated" "left at hold"
    start absurd
    expect_status 0 $far --plant "127.0.0.1:$port" --json absurd.json
    expect_words err.txt "sensor 's1' is contradicted by the others"
    expect_words absurd.json '"reached": true'
    # where nothing measures the marker, what its estimate may be off counts
    start blind
    status=0
    "$pliant" $far --plant "127.0.0.1:$port" --tolerance 50mm --json blind.json >out.txt 2>err.txt || status=$?
    expect_near "exit within any uncertainty" $status 0 0
    off=$(json_number blind.json uncertainty)
    expect_near "2 sigma of the estimate are known and not 0" "$(awk -v u="$off" 'BEGIN { print (u > 1e-3 && u < 50) }')" 1 0
    start blind
    status=0
    "$pliant" $far --plant "127.0.0.1:$port" --tolerance "$(awk -v u="$off" -v m="$(json_number blind.json miss)" 'BEGIN { print m + 0.5 * u }')mm" >out.txt 2>err.txt || status=$?
    expect_near "exit below the uncertainty" $status 1 0
    expect_words out.txt "uncertain" "is reached by the estimate, which is itself"
    # a signal: the commands go to rest, and the program says so
    start good
    "$pliant" $far --steps 100000 --real-time --plant "127.0.0.1:$port" --on-stop vent >out.txt 2>err.txt &
    loop=$!
    asked() { [ "$(cat received.txt 2>/dev/null | wc -l)" -gt 15 ]; }
    await_or_end $loop asked
    kill -TERM $loop
    status=0
    wait $loop || status=$?
    expect_near "exit after a signal" $status 1 0
    expect_near "the command after a signal" "$(last_set)" 0 0
    expect_words received.txt '"on_stop":{"flexor":0.0,' '"timeout"'
fi

# sensors that fail: a frozen one ends the run, a missing one is replaced by the estimate, all missing hold and end it
fault() { sed "s/^plant: .*/plant: {delay: 0.1 s, faults: [$1]}/" claw/robot.yaml >claw/$2.yaml; }
fault '{sensor: s3, kind: frozen, from: 0.5 s}' frozen
expect_status 0 run claw $coarse --goal 112,0,-8 --steps 120 --plant claw/frozen.yaml --out frozen.csv
expect_words err.txt "the reading of sensor 's3'" "it is not used"
for kind in 'offset, value: 8' 'offset, value: -8' 'drift, value: 2' 'value, value: 9999' 'value, value: 0'; do
    fault "{sensor: s2, kind: $kind, from: 0.6 s}" wrong
    expect_status 0 run claw $coarse --goal 112,0,-8 --steps 80 --plant claw/wrong.yaml --json w.json
    expect_words out.txt "sensor s2:" "left at hold"
    expect_near "tip with s2 '$kind', mm off" "$(grep -o '"miss": [0-9.e-]*' w.json | cut -d' ' -f2)" 0 1
done
fault '{sensor: s1, kind: missing, from: 1 s, to: 3 s}' missing
expect_status 0 run claw $coarse --goal 114,0,-4 --steps 60 --plant claw/missing.yaml --out missing.csv --json m.json
expect_words out.txt "20 without a reading" "0 ticks held"
expect_near "final error with a missing sensor" "$(grep -o '"final_error": [0-9.e-]*' m.json | cut -d' ' -f2)" 0 0.3
fault '{sensor: s1, kind: missing, from: 1 s}, {sensor: s2, kind: missing, from: 1 s}, {sensor: s3, kind: missing, from: 1 s}' blind
expect_status 1 run claw $coarse --goal 114,0,-4 --steps 100 --plant claw/blind.yaml --out blind.sqlite
expect_words out.txt "the readings are lost"
expect_words err.txt "no reading can be used"
expect_file blind.sqlite
expect_status 3 run claw $coarse --goal 114,0,-4 --steps 3 --out blind.sqlite
expect_words err.txt "exists already"
fault '{sensor: s9, kind: missing}' wrong
expect_status 1 run claw $coarse --goal 114,0,-4 --steps 3 --plant claw/wrong.yaml
expect_words err.txt "there is no sensor 's9'" "did you mean"

# a goal beyond what the range allows: the valve saturates, the command stays inside and the integral does not wind up
expect_status 1 run claw $coarse --goal 60,0,-90 --goal 4s:114,0,-4 --steps 90 --out full.csv --json full.json
expect_words err.txt "1 of 2 goals not reached"
expect_words full.json '"reached": false' '"reached": true'
expect_near "the command stays within its range" "$(awk -F, 'NR > 1 && $2 > m { m = $2 } END { print (m <= 30.0000001) }' full.csv)" 1 0
expect_near "final error after saturation" "$(grep -o '"final_error": [0-9.e-]*' full.json | tail -1 | cut -d' ' -f2)" 0 0.3

# a command that is a tension never exceeds its bound, wherever the estimate is
sed '/name: flexor/,/range/{s/drive: shortening/drive: tension/;s/range: .*/range: [0 N, 6 N]/}' claw/robot.yaml >claw/pulled.yaml
expect_status 1 run claw/pulled.yaml $coarse --goal 60,0,-90 --steps 40 --max-tension 2N --out pulled.csv
expect_near "largest tension sent, N" "$(awk -F, 'NR > 1 && $2 > m { m = $2 } END { print m + 0 }' pulled.csv)" 2 1e-9

# impedance: the force at the marker is estimated, and the marker yields by force / stiffness (0.05 N / 0.05 N/mm)
expect_status 2 run claw $coarse --goal 114,0,-4 --steps 5 --controller impedance
expect_words err.txt "estimator: forces"
sed -e 's/^plant: .*/plant: {payload: {marker: tip, force: [0, 0, -0.05], from: 3 s}}/' -e 's/noise: 0.02/noise: 0.002/' claw/robot.yaml >claw/soft.yaml
cat >>claw/soft.yaml <<'Y'
estimator: {forces: [tip], force_sigma: 0.1 N, command_sigma: 0}
controller: {kind: impedance, marker: tip, stiffness: [0.05, 0.05, 0.05], gain: 0.3}
Y
expect_status 0 run claw/soft.yaml $coarse --goal 112,0,-8 --steps 80 --out soft.csv
z=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "tip.z [mm]") c = i } END { print $c }' soft.csv)
expect_near "tip below its goal by force / stiffness, mm" "$z" -8.95 0.15

# a machine on a serial line: numbered lines, a damaged one sent again, busy, silence, an error
if command -v cc >/dev/null && cc -o fake_marlin "$here/fake_marlin.c" 2>/dev/null; then
    cat >>claw/robot.yaml <<'Y'
hardware:
  flexor: {axis: X, per_unit: 1 mm, feed: 6000}
Y
    board() {
        rm -f board.txt
        "$work/fake_marlin" "$@" >board.txt &
        board=$!
        await_or_end $board [ -s board.txt ]
        terminal=$(head -1 board.txt)
    }
    board
    expect_status 0 run claw $coarse --goal 114,0,-4 --steps 5 --controller open --marlin "$terminal"
    expect_words out.txt "asked for 1 lines again"
    expect_words board.txt "G21" "G90" "G1 X" "M400"
    expect_near "moves taken" "$(grep -c '^G[14] ' board.txt)" 5 0
    kill $board
    board mute 5
    expect_status 1 run claw $coarse --goal 114,0,-4 --steps 9 --controller open --marlin "$terminal" --timeout 0.5s --out mute.csv
    expect_words out.txt "the machine does not answer"
    kill $board
    board halt 5
    expect_status 1 run claw $coarse --goal 114,0,-4 --steps 9 --controller open --marlin "$terminal" --timeout 1s
    expect_words out.txt "Printer halted"
    kill $board
    expect_status 2 run claw $coarse --goal 114,0,-4 --marlin /dev/null --controller open
    expect_words err.txt "not a serial line"
    expect_status 2 run claw $coarse --goal 114,0,-4 --marlin x@12
    expect_status 2 run claw $coarse --goal 114,0,-4 --marlin /dev/null
    expect_words err.txt "has no sensors"
else
    echo "  skipped: no compiler for the machine on a serial line"
fi
expect_clean
finish
