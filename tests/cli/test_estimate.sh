#!/usr/bin/env bash
# jacobian --compliance and estimate: words, files, wrong tables.
. "$(dirname "$0")/lib.sh"

expect_status 0 new cable_finger claw
cat >>claw/robot.yaml <<'Y'
sensors:
  - {name: s1, kind: length, through: [[0, -8, 4], [50, -8, 4], [70, -8, 4], [116, -8, 4]], radius: 3, noise: 0.05}
  - {name: s2, kind: length, through: [[0, 8, 4], [50, 8, 4], [70, 8, 4], [116, 8, 4]], radius: 3, noise: 0.05, resolution: 0.1}
  - {name: s3, kind: length, through: [[0, 0, 21], [60, 0, 21], [116, 0, 21]], radius: 3}
estimator: {command_sigma: 0.05}
Y
coarse="--size 12 --order 1"
expect_status 0 jacobian claw $coarse --set flexor=4 --compliance --json w.json --out w.csv
expect_words out.txt "per N of flexor" "flexor.shortening" "force at tip.z" "exact"
expect_file w.csv
expect_words w.json '"compliance"' '"inputs"'

# readings made by the model itself: the command that acts is found from the strings
expect_status 0 sweep claw $coarse --set flexor=3:5:3 --out truth.csv
head -1 truth.csv | tr ',' '\n' | grep -n 's1' >/dev/null && pass "sensors are columns of a sweep" || fail "no sensor columns"
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) c[$i] = i; print "flexor [mm],s1 [mm],s2 [mm],s3 [mm]"; next }
    { print $1 + 0.3 "," $c["s1 [mm]"] "," $c["s2 [mm]"] "," $c["s3 [mm]"] }' truth.csv >read.csv
expect_status 0 estimate claw $coarse --read read.csv --command-sigma 1 --out found.csv --json found.json
expect_words out.txt "estimates from 3 readings" "3 rows: 0 not converged"
expect_near "flexor of row 1" "$(sed -n 2p found.csv | cut -d, -f3)" 3 0.01
expect_near "flexor of row 3" "$(sed -n 4p found.csv | cut -d, -f3)" 5 0.01
expect_words found.json '"estimates"' '"sigma"'
expect_status 0 estimate claw $coarse --read read.csv --place tip
expect_words out.txt "sensors in the order"
expect_status 2 estimate claw $coarse
expect_words err.txt "--read FILE is missing"
expect_status 2 estimate claw $coarse --read read.csv --force-at tpi
expect_words err.txt "tip"
expect_status 2 estimate claw $coarse --read read.csv --noise s1=3kPa
sed 's/s1 \[mm\]/s9 [mm]/' read.csv >wrong.csv
expect_status 2 estimate claw $coarse --read wrong.csv
expect_words err.txt "column 2 's9'" "did you mean"
printf 't [s],flexor [mm]\n0,3\n' >none.csv
expect_status 2 estimate claw $coarse --read none.csv
expect_words err.txt "nothing to fit"

# a cell that is no number is refused with file, line and column; an empty reading is missing, an empty command is not
cell() { awk -F, -v OFS=, -v c="$1" -v t="$2" 'NR == 3 { $c = t } 1' read.csv >cell.csv; }
for text in 4O.5 0x2D 5mm; do
    cell 2 "$text"
    expect_status 2 estimate claw $coarse --read cell.csv
    expect_words err.txt "cell.csv:3: column 2 s1: expected a number, found '$text'"
done
cell 1 ""
expect_status 2 estimate claw $coarse --read cell.csv
expect_words err.txt "cell.csv:3: column 1 flexor: expected a number, the cell is empty"
cell 1 nan
expect_status 2 estimate claw $coarse --read cell.csv
expect_words err.txt "cell.csv:3: column 1 flexor: expected a number, found 'nan'"
cell 2 nan
expect_status 0 estimate claw $coarse --read cell.csv
expect_words out.txt "1 missing reading;"
# a command called t is no time
sed 's/name: flexor/name: t/' claw/robot.yaml >claw/t.yaml
sed '1s/flexor/t/' read.csv >t.csv
expect_status 0 estimate claw/t.yaml $coarse --read t.csv --command-sigma 1 --out t-found.csv
expect_near "t of row 1" "$(sed -n 2p t-found.csv | cut -d, -f3)" 3 0.01
cell 2 ""
expect_status 0 estimate claw $coarse --read cell.csv
expect_words out.txt "1 missing reading;"
# readings that no command near those sent explains contradict the model, even where a shape fits them
awk -F, 'NR == 1 || NR == 4' OFS=, read.csv | sed '2s/^[^,]*/-60/' >far.csv
expect_status 1 estimate claw $coarse --read far.csv --command-sigma 0.01 --out far-found.csv --json far.json
expect_words far.json '"contradicted": true'
expect_words far-found.csv "converged,contradicted" ",1,1"
expect_words err.txt "1 of 1 rows the readings contradict the model and the commands"
expect_status 2 estimate claw $coarse --read far.csv --force-drift 1N
expect_words err.txt "--force-drift is for --recursive"
printf 'flexor [mm],s1 [mm],s2 [mm],s3 [mm]\n3,,,\n' >blind.csv
expect_status 1 estimate claw $coarse --read blind.csv --out blind-found.csv --json blind.json
expect_no_words blind-found.csv ",-nan" ",nan,0,3"
expect_words err.txt "1 of 1 rows have no reading"
expect_words out.txt "1 row: " "no reading was used"
expect_status 1 estimate claw $coarse --read read.csv --noise s1=1e-300mm
expect_words out.txt "3 rows: 3 not converged"
printf 'flexor [mm];s1 [mm];s2 [mm];s3 [mm]\n3,5;110,2;110,2;108,1\n' >comma.csv
expect_status 2 estimate claw $coarse --read comma.csv
expect_words err.txt "comma.csv:2: column 1 flexor: expected a number" "write the decimal sign as a point"

# readings that contradict the model are no estimate: every string 20 mm short
awk -F, -v OFS=, 'NR > 1 { $2 -= 20; $3 += 20; $4 -= 15 } 1' read.csv >contradict.csv
expect_status 1 estimate claw $coarse --read contradict.csv
expect_words err.txt "the readings contradict the model"

# a length sensor is met within the 0.005 mm of the help, a missing coordinate of a calibration is refused
expect_status 0 ik claw $coarse --sensor s3=113 --json ik.json
expect_near "s3 met, mm" "$(grep -A3 '"s3"' ik.json | grep -o '11[0-9]\.[0-9]*' | tail -1)" 113 0.005
printf 'flexor [mm],tip.x [mm],tip.z [mm]\n2,117,10\n4,113,5\n' >two.csv
expect_status 2 calibrate poses claw/robot.yaml two.csv --free flexor.factor
expect_words err.txt "two.csv:1: has no column 'tip.y [mm]'" "together"
finish
