#!/usr/bin/env bash
# Learning: data sets that survive kill -9, MPI shards, learned models, adaptation, calibration, refusals.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
# Debian's Python has the package onnx; any other will do
python=/usr/bin/python3
[ -x $python ] || python=python3

cat > rod.yaml <<'END'
pliant: 1
name: rod-trunk
model:
  kind: rod
  sections:
    - {name: body, length: 136, diameter: [30, 30], young: 0.4 MPa, poisson: 0.45, density: 1070 kg/m^3, elements: 10}
  tendons:
    - {name: t1, drive: shortening, radius: 12, angle: 90 deg, range: [0 mm, 30 mm]}
    - {name: t2, drive: shortening, radius: 12, angle: 210 deg, range: [0 mm, 30 mm]}
    - {name: t3, drive: shortening, radius: 12, angle: 330 deg, range: [0 mm, 30 mm]}
markers:
  tip: {at: 136}
loads:
  gravity: [0, 0, -9.81 m/s^2]
END

# the same samples from one process, from two, and from two ranks of a launcher joined
expect_status 0 sample rod.yaml --samples 120 --shapes --jobs 1 --out one.sqlite --json sample.json
expect_keys sample.json planned stored computed failed seconds
expect_status 0 sample rod.yaml --samples 120 --shapes --jobs 2 --out two.sqlite
export OMPI_COMM_WORLD_SIZE=2
OMPI_COMM_WORLD_RANK=0 expect_status 0 sample rod.yaml --samples 120 --shapes --out ranks.sqlite
OMPI_COMM_WORLD_RANK=1 expect_status 0 sample rod.yaml --samples 120 --shapes --out ranks.sqlite
unset OMPI_COMM_WORLD_SIZE
expect_status 0 sample --merge joined.sqlite ranks.0-of-2.sqlite ranks.1-of-2.sqlite
expect_words out.txt "120 samples added"

# killed at random, continued until whole
for delay in 0.2 0.35 0.5 0.3 0.4; do
    "$pliant" sample rod.yaml --samples 120 --shapes --jobs 2 --out killed.sqlite >/dev/null 2>&1 &
    child=$!
    sleep "$delay"
    kill -9 "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
done
expect_status 0 sample rod.yaml --samples 120 --shapes --jobs 2 --out killed.sqlite
if command -v sqlite3 >/dev/null; then
    dump() { sqlite3 "$1" "SELECT number, outcome, hex(command), hex(marker), hex(jacobian) FROM sample ORDER BY number"; }
    dump one.sqlite > one.txt
    for other in two joined killed; do
        dump $other.sqlite > other.txt
        if cmp -s one.txt other.txt; then pass "$other.sqlite holds the same samples"; else fail "$other.sqlite differs"; fi
    done
fi
expect_status 2 sample rod.yaml --samples 50 --out one.sqlite
expect_words err.txt "another sampling"
expect_status 2 sample rod.yaml --samples 50
expect_words err.txt "--out"

# learning, and all that takes a model
expect_status 0 learn one.sqlite --hidden 10,10 --epochs 20 --out model.yaml --out t.csv --out t.png --out u.svg --out t.onnx --json learn.json
expect_words out.txt "position" "rotation" "shape" "held out"
expect_keys learn.json networks held_rms held_largest weights
for f in model.yaml t.csv t.png u.svg t.onnx; do expect_file "$f"; done
expect_status 0 fk model.yaml --set t1=10 --set t2=2 --set t3=4 --check --out m.png --json fk.json
expect_words out.txt "learned" "checked by the full model, solved" "estimate"
expect_file m.png

# ONNX: another reader gets the same numbers; of the kinked networks of one-sided commands too
tip() { $python -c 'import json,sys; print(*json.load(open(sys.argv[1]))["markers"]["tip"]["position"])' "$1"; }
same() { # NAME FILE.onnx INPUTS FK.json
    if $python "$here/read_onnx.py" "$2" "$3" >onnx.txt 2>err.txt &&
        $python -c 'import sys; a, b = ([float(v) for v in t.split()] for t in sys.argv[1:]); sys.exit(max(abs(x - y) for x, y in zip(a, b, strict=True)) > 1e-6)' "$(cat onnx.txt)" "$(tip "$4")"
    then pass "$1: $(cat onnx.txt)"; else fail "$1: ONNX $(cat onnx.txt), fk $(tip "$4")"; fi
}
same "ONNX read elsewhere" t.onnx 10,2,4 fk.json
sed '/^markers:/i commands:\n  lean: {drives: {t1: 1, t2: -1}, one_sided: true}\n  side: {drives: {t3: 1}}' rod.yaml > lean.yaml
expect_status 0 sample lean.yaml --samples 60 --jobs 1 --out lean.sqlite
for f in tansig silu; do
    expect_status 0 learn lean.sqlite --hidden 8 --epochs 10 --activation $f --positions-only --out lean-model.yaml --out lean.onnx
    for lean in -7 9; do
        expect_status 0 fk lean-model.yaml --set lean=$lean --set side=3 --json lean.json
        same "ONNX with a kink, $f" lean.onnx $lean,3 lean.json
    done
done
expect_words lean-model.yaml 'kinks: "1 0"'
expect_status 0 fk model.yaml --set t1=40 --set t2=2 --set t3=4 --beyond-range
expect_words out.txt "outside of its samples: 't1'" "error is not known"
expect_status 0 fk model.yaml --set t1=40 --set t2=2 --set t3=4 --beyond-range --fallback
expect_no_words out.txt "outside of its samples"
# every answer carries the model's own error; a target is reached when both together are within the tolerance
expect_status 0 fk model.yaml --set t1=10 --set t2=2 --set t3=4 --json fk.json --out fk.csv
expect_words out.txt "learned model: markers within" "(95 %, from held-out samples)" "model error mm"
expect_keys fk.json model_error mm confidence source
expect_status 1 ik model.yaml --target 20,10,120
expect_words out.txt "uncertain"
expect_words err.txt "reached by the model" "which is itself" "uncertain (95 %)"
expect_status 0 ik model.yaml --target 20,10,120 --tolerance 1 --check --json ik.json
expect_words out.txt "reached" "checked by the full model"
expect_keys ik.json model_error confidence
# a full body with a learned shape: Newton steps from it find the error that a solve finds
"$pliant" new cable_finger claw >/dev/null
expect_status 0 sample claw --size 20 --samples 30 --shapes --out claw.sqlite
if command -v sqlite3 >/dev/null; then # a chain continued in its middle: the same bits, of a full body too
    dump claw.sqlite > one.txt
    cp claw.sqlite part.sqlite
    sqlite3 part.sqlite "DELETE FROM sample WHERE number BETWEEN 3 AND 8 OR number > 20"
    expect_status 0 sample claw --size 20 --samples 30 --shapes --out part.sqlite
    dump part.sqlite > other.txt
    if cmp -s one.txt other.txt; then pass "continued in the middle of a chain: the same bits"; else fail "part.sqlite differs"; fi
fi
# what a sample may cost
expect_status 0 sample claw --size 20 --samples 6 --jobs 1 --iteration-limit 1 --out cheap.sqlite
expect_words out.txt "6 could not be solved"
expect_status 0 sample claw --size 20 --samples 6 --jobs 1 --iteration-limit none --out dear.sqlite
expect_no_words out.txt "could not be solved"
expect_status 2 sample claw --size 20 --samples 6 --iteration-limit 5s --out x.sqlite
expect_status 0 learn claw.sqlite --hidden 8 --epochs 20 --out claw-model.yaml
found() { sed -n 's/.*largest error \([^ ]*\) mm.*/\1/p' out.txt; }
for c in "3 2 1" "12 1 5"; do
    set -- $c
    expect_status 0 fk claw-model.yaml --set flexor=$1 --set left=$2 --set right=$3 --check-full
    expect_words out.txt "checked by the full model, solved"
    solved=$(found)
    expect_status 0 fk claw-model.yaml --set flexor=$1 --set left=$2 --set right=$3 --check
    expect_words out.txt "Newton step"
    expect_near "error found by steps" "$(found)" "$solved" "$($python -c "print(0.1 * $solved)")"
done
expect_status 0 jacobian model.yaml --set t1=10 --set t2=2 --set t3=4
expect_status 0 sweep model.yaml --set t1=1:20:5 --set t2=2 --set t3=4 --out s.csv
expect_status 1 follow model.yaml --path circle --center 0,0,125 --span 20 --count 8 --out f.csv
expect_words err.txt "reached by the model only"
expect_status 0 follow model.yaml --path circle --center 0,0,125 --span 20 --count 8 --tolerance 1 --out f.csv
expect_words out.txt "model error mm"
expect_words f.csv "model_error [mm]" "model_confidence [1]"

expect_status 0 info model.yaml --json info.json
expect_words out.txt "a learned model of" "t1" "tip"
expect_status 0 doctor model.yaml
expect_status 0 compare model.yaml rod.yaml --set t1=5 --set t2=3 --set t3=4
expect_status 0 workspace model.yaml --samples 20
cat > task.yaml <<'END'
task: 1
stages:
  - {name: there, do: move, marker: tip, to: [20, 10, 120]}
  - {name: back, do: move, marker: tip, to: [0, 5, 125]}
END
expect_status 1 task model.yaml task.yaml --json task.json
expect_status 0 task model.yaml task.yaml --tolerance 1 --json task.json
expect_words out.txt "model error mm"
expect_status 0 run model.yaml --goal 20,10,120 --controller track --control-marker --period 1ms --steps 400 --plant rod.yaml --json run.json
expect_words out.txt "400 ticks of 0.001 s" "0 ticks held"
# a coarse model simulated by itself is where it should be, but not within its own error; estimates carry it too
expect_status 0 learn one.sqlite --hidden 3,3 --epochs 2 --out coarse.yaml
place() { "$pliant" fk coarse.yaml --set t1=5 --set t2=3 --set t3=4 --json - | tr -d ' \n' | grep -o '"position":\[[^]]*' | head -1 | cut -d'[' -f2; }
expect_status 1 run coarse.yaml "--goal=$(place)" --controller track --control-marker --steps 60 --json coarse.json
expect_words out.txt "uncertain" "is reached by the estimate, which is itself"
expect_words coarse.json '"uncertain": true' '"reached": false'
printf 't1 [mm],t2 [mm],t3 [mm],tip.x [mm],tip.y [mm],tip.z [mm]\n5,3,4,%s\n' \
    "$(place)" >at.csv
expect_status 0 estimate coarse.yaml --read at.csv --out at-found.csv --json at.json
expect_words out.txt "model error mm" "which is itself off by up to"
expect_words at-found.csv "tip.model_error [mm]" "model_confidence [1]"
expect_words at.json '"model_error"'

# the view: a viewer opens the page's socket, moves the commands and gets what fk answers
mkdir -p page/three/build
touch page/index.html page/three/build/three.module.js
view() { # MODEL VALUES: the position of the marker, or why not, in view.txt
    : >serve.txt
    PLIANT_WEB=$work/page "$pliant" serve "$1" --port 0 --idle 30s >serve.txt 2>&1 &
    local server=$! port=""
    await_or_end "$server" grep -q "http://127.0.0.1:" serve.txt
    port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/.*|\1|p' serve.txt)
    $python "$here/talk_serve.py" "$port" "$2" >view.txt 2>&1 || true
    kill "$server"
    wait "$server" 2>/dev/null || true
}
view claw-model.yaml 3,2,1
expect_status 0 fk claw-model.yaml --set flexor=3 --set left=2 --set right=1 --json claw.json
if $python -c 'import sys; a, b = ([float(v) for v in t.split()] for t in sys.argv[1:]); sys.exit(max(abs(x - y) for x, y in zip(a, b, strict=True)) > 1e-6)' "$(cat view.txt)" "$(tip claw.json)"
then pass "serve moves a learned body: $(cat view.txt)"; else fail "serve: $(cat view.txt), fk: $(tip claw.json)"; fi
view lean-model.yaml 3,2
expect_words view.txt "learned without shapes" "--shapes"

# a "real" robot: the same with another length
sed 's/length: 136/length: 130/; s/at: 136/at: 130/' rod.yaml > real.yaml
expect_status 0 sweep real.yaml --set t1=1:25:5 --set t2=2:20:5 --set t3=3:20:3 --grid --out real.csv
cut -d, -f1-3,6-8 real.csv > measured.csv
expect_status 0 adapt model.yaml measured.csv --out adapted.yaml --next 2 --json adapt.json
expect_words out.txt "held out" "worth measuring next"
expect_keys adapt.json before_rms held_rms noise next
expect_status 0 adapt model.yaml measured.csv --kind layer --out layer.yaml
expect_status 1 ik adapted.yaml --target 20,10,115
expect_words err.txt "which is itself"
expect_status 0 ik adapted.yaml --target 20,10,115 --tolerance 1
expect_status 0 fk adapted.yaml --set t1=10 --set t2=2 --set t3=4
expect_words out.txt "of the real robot" "from measurements"

# a learned model of a robot that has changed says so, and its errors no longer hold; comments do not matter
cp rod.yaml kept.yaml
echo "# a remark" >> rod.yaml
expect_status 0 fk model.yaml --set t1=10
expect_no_words err.txt "changed"
sed -i 's/young: 0.4 MPa/young: 0.3 MPa/' rod.yaml
expect_status 0 fk model.yaml --set t1=10
expect_words err.txt "the robot has changed since"
expect_words out.txt "its error is not known here"
expect_status 1 ik model.yaml --target 20,10,120 --tolerance 1
mv rod.yaml moved.yaml
expect_status 0 fk model.yaml --set t1=10
expect_words err.txt "cannot be checked"
mv kept.yaml rod.yaml
# files of an earlier format are refused with what to do
sed '/^  format: 2/d' model.yaml > old.yaml
expect_status 2 fk old.yaml --set t1=10
expect_words err.txt "learned model of format 1" "learn it again"

# adaptive: as many samples as asked for, none twice
expect_status 0 sample rod.yaml --samples 30 --adaptive --jobs 1 --out adaptive.sqlite
expect_words out.txt "30 of 30 samples stored"

# data sets that cannot be learned from
: > empty.sqlite
expect_status 2 learn empty.sqlite --out x.yaml
expect_words err.txt "empty.sqlite: is not a data set"
if command -v sqlite3 >/dev/null; then
    expect_near "adaptive samples that differ" "$(sqlite3 adaptive.sqlite 'SELECT count(DISTINCT hex(command)) FROM sample')" 30 0
    damage() { # STATUS NAME SQL WORDS...: they stand in the messages
        local expected=$1 name=$2 sql=$3
        shift 3
        cp adaptive.sqlite "$name.sqlite"
        sqlite3 "$name.sqlite" "$sql"
        expect_status "$expected" learn "$name.sqlite" --epochs 3 --positions-only --out "$name.yaml"
        expect_words err.txt "$name.sqlite" "$@"
    }
    # any change of a stored sample is seen, and the sample is not used
    damage 0 nan "UPDATE sample SET marker = x'000000000000f87f000000000000f87f000000000000f87f' WHERE number = 7" \
        "1 sample is damaged and not used: the checksum of number 7"
    damage 0 short "UPDATE sample SET marker = x'0000' WHERE number = 7" "the checksum of number 7"
    damage 0 swapped "UPDATE sample SET command = (SELECT command FROM sample WHERE number = 3) WHERE number IN (4, 5)" \
        "2 samples are damaged and not used: the checksum of number 4"
    damage 0 label "UPDATE sample SET seconds = 7 WHERE number = 9" "the checksum of number 9"
    damage 2 constant "UPDATE sample SET marker = (SELECT marker FROM sample WHERE number = 0)" "29 samples are damaged" "at least 10 are needed"
    damage 2 few "DELETE FROM sample WHERE number > 5" "not finished: 6 of 30 samples" "at least 10 are needed"
    # unfinished: said when it is learned from, and by every verb that uses the model
    damage 0 part "DELETE FROM sample WHERE number > 20" "not finished: 21 of 30 samples are stored"
    expect_status 0 fk part.yaml
    expect_words err.txt "learned from an unfinished data set: 9 of its samples were missing"
    run run part.yaml --goal 0,0,0 --steps 1
    expect_words err.txt "learned from an unfinished data set"
    # the same command solves damaged samples again
    cp one.sqlite again.sqlite
    sqlite3 again.sqlite "UPDATE sample SET energy = 1, marker = x'00' WHERE number IN (20, 77)"
    expect_status 0 sample rod.yaml --samples 120 --shapes --jobs 1 --out again.sqlite
    expect_words out.txt "118 of 120 samples are already stored" "2 in this run"
    dump one.sqlite > one.txt
    dump again.sqlite > other.txt
    if cmp -s one.txt other.txt; then pass "damaged samples are solved again"; else fail "again.sqlite differs"; fi
fi
# pipes are refused, not waited for
mkfifo pipe.sqlite
for verb in "learn pipe.sqlite --out x.yaml" "sample rod.yaml --samples 20 --out pipe.sqlite" "workspace rod.yaml --samples 20 --store pipe.sqlite"; do
    status=0
    # shellcheck disable=SC2086
    timeout 20 "$pliant" $verb >out.txt 2>err.txt || status=$?
    if [ "$status" -ge 2 ] && [ "$status" -le 3 ]; then pass "exit $status: pliant $verb"; else fail "exit $status: pliant $verb"; fi
    expect_words err.txt "pipe.sqlite: is a named pipe, expected a file"
done

# refusals name file, line and column
sed '1s/t1 \[mm\]/t1 [kPa]/' measured.csv > unit.csv
expect_status 2 adapt model.yaml unit.csv --out x.yaml
expect_words err.txt "unit.csv" "is a pressure, expected a length"
sed '3s/^[^,]*,/nan,/' measured.csv > nan.csv
expect_status 2 adapt model.yaml nan.csv --out x.yaml
expect_words err.txt "nan.csv:3"
sed '1s/tip.x/tpp.x/' measured.csv > column.csv
expect_status 2 adapt model.yaml column.csv --out x.yaml
expect_words err.txt "has no column 'tip.x"
head -3 measured.csv > few.csv
expect_status 2 adapt model.yaml few.csv --out x.yaml
expect_words err.txt "at least 5"
: > empty.csv
expect_status 2 adapt model.yaml empty.csv --out x.yaml
head -1 measured.csv >one.csv # one pose, again and again
for _ in 1 2 3 4 5 6; do sed -n 2p measured.csv >>one.csv; done
expect_status 2 adapt model.yaml one.csv --out x.yaml
expect_words err.txt "all 6 measurements have the same commands"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^tip\.z/) at = i } { line = ""; for (i = 1; i <= NF; i++) if (i != at) line = line (line == "" ? "" : ",") $i; print line }' \
    measured.csv >flat.csv
expect_status 2 adapt model.yaml flat.csv --out x.yaml
expect_words err.txt "has no column 'tip.z"
expect_status 2 adapt rod.yaml measured.csv --out x.yaml
expect_words err.txt "not a learned model"
expect_status 2 learn measured.csv --out x.yaml
expect_words err.txt "measured.csv"
expect_status 2 learn one.sqlite
expect_words err.txt "--out FILE.yaml"
sed 's/weights: "/weights: "zero /' model.yaml > broken.yaml
expect_status 2 fk broken.yaml --set t1=1
expect_words err.txt "broken.yaml" "weights"

# constants from poses: the "real" rod again, with another modulus
sed 's/young: 0.4 MPa/young: 0.3 MPa/; s/drive: shortening, radius: 12/drive: tension, radius: 12/; s/30 mm\]/6 N]/; s/0 mm,/0 N,/' rod.yaml > pulled.yaml
expect_status 0 sweep pulled.yaml --set t1=0.5:3:3 --set t2=0.2:2:2 --set t3=0.3 --grid --out pulled.csv
cut -d, -f1-3,6-8 pulled.csv > pulled_measured.csv
sed 's/young: 0.3 MPa/young: 0.4 MPa/' pulled.yaml > guess.yaml
expect_status 0 calibrate poses guess.yaml pulled_measured.csv --free model.sections.body.young,t1.factor --held-rows 2 --folds 3 --out fitted.yaml --out p.png --out p.csv --json p.json
expect_words out.txt "model.sections.body.young    0.4     0.3" "held" "cross-validation"
expect_keys p.json parameters rms_fit rms_held rms_cross interval
for f in fitted.yaml p.png p.csv; do expect_file "$f"; done
expect_status 2 calibrate poses guess.yaml pulled_measured.csv --free model.sections.body.yung
expect_words err.txt "yung"
expect_status 2 calibrate poses guess.yaml pulled_measured.csv
expect_words err.txt "--free"
# histories: a marker with play; the model remembers, its table of predictions, ONNX, refusals
$python - > play.csv <<'END'
import math, random
random.seed(3)
print("run,u [N],tip.x [mm],tip.y [mm],tip.z [mm]")
for run in "abcd":
    u = y = 0
    for _ in range(60):
        u = min(max(u + random.uniform(-3, 3), 0), 8)
        y = min(max(y, u - 1), u + 1)
        print(f"{run},{u:.6g},{10 * math.sin(y / 5):.6g},0,{10 * math.cos(y / 5):.6g}")
END
expect_status 0 learn --history play.csv --cells 6 --epochs 40 --held-runs d --out past.yaml --out past.onnx --out past.csv --out past.png --json past.json
expect_words out.txt "with memory" "trained on 180 rows" "1 run"
expect_keys past.json rows runs held_runs held_by_time train_rows held_rows pieces cells weights epochs ended seconds width interrupted spread networks present last_three memory held_rms held_largest markers
for f in past.yaml past.onnx past.csv past.png; do expect_file "$f"; done
(echo "u [N]"; sed -n '2,4p' play.csv | cut -d, -f2) > commands.csv
expect_status 0 sweep past.yaml --table commands.csv --out predicted.csv
expect_words out.txt "3 points, 3 solved"
if $python "$here/read_onnx.py" past.onnx $(sed 1d commands.csv) >onnx.txt 2>err.txt && $python - predicted.csv onnx.txt <<'END'
import csv, sys
row = list(csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#")))[-1]
keys = [k for k in row if k and k.startswith("tip") and k.split("[")[0].strip().strip("_m")[-1:] in "xyz"][:3]
a, b = [float(row[k]) for k in keys], [float(v) for v in open(sys.argv[2]).read().split()]
sys.exit(max(abs(x - y) for x, y in zip(a, b, strict=True)) > 1e-5)
END
then pass "ONNX of the memory: the third step is the third row of the sweep"; else fail "ONNX $(cat onnx.txt err.txt), sweep $(tail -1 predicted.csv)"; fi
expect_status 0 sweep past.yaml --table play.csv --out all.csv
expect_words out.txt "240 points" "markers measured in play.csv: off by"
expect_status 0 follow past.yaml --path line --axes x --span 2 --center 5.5,0,8 --count 6 --tolerance 5 --out line.csv
expect_status 2 fk past.yaml --set u=2N --check
expect_words err.txt "no full model"
expect_status 2 adapt past.yaml play.csv --out no.yaml
expect_words err.txt "histories"
expect_status 2 learn one.sqlite --cells 3 --out no.yaml
expect_words err.txt "--history"
expect_status 2 learn --history play.csv --hidden 3 --out no.yaml
expect_words err.txt "--hidden"
expect_status 2 learn --history play.csv --held-runs e --out no.yaml
expect_words err.txt "no run 'e'"
expect_status 2 sweep past.yaml --table play.csv --set u=1:2:3
expect_words err.txt "--table"
expect_status 2 learn play.csv --out no.yaml
expect_words err.txt "play.csv" "--history"
sed '7s/,0,\([0-9.-]*\)$/,1e200,\1/' play.csv > huge.csv
expect_status 2 learn --history huge.csv --out no.yaml
expect_words err.txt "huge.csv:7: column 4 tip.y: 1e+200 mm is implausible"
(echo "# by hand"; echo "t1 [N],t2 [mm],t3 [mm],tip.x,tip.y,tip.z"; echo 1,2,3,4,5,6) > unit.csv
expect_status 2 adapt model.yaml unit.csv --out no.yaml
expect_words err.txt "unit.csv:2: column 1 't1': '1 N' is a force"
sed '5s/,[0-9.]*,/,99,/' play.csv > far.csv
expect_status 2 sweep past.yaml --table far.csv
expect_words err.txt "far.csv:5" "outside its range"
finish
