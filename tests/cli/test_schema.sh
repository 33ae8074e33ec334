#!/usr/bin/env bash
# The JSON of every verb, and of errors, follows docs/reference/schema.json: no key is missing from it, none is undocumented.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
schema=$here/../../docs/reference/schema.json
coarse="--size 12 --order 1"

# expect_schema NAME FILE: the file is an instance of $defs/NAME
expect_schema() {
    if python3 "$here/check_schema.py" "$schema" "$1" "$2" >schema.txt 2>&1; then
        pass "$2 follows the schema of $1"
    else
        fail "$2 does not follow the schema of $1: $(head -3 schema.txt)"
    fi
}
# record STATUS NAME ARGUMENTS: runs with --json and checks the record
record() {
    local expected=$1 name=$2
    shift 2
    rm -f record.json
    run "$@" --json record.json
    if [ "$status" -eq "$expected" ]; then pass "exit $expected: pliant $*"; else fail "exit $status, expected $expected: pliant $*"; fi
    expect_schema "$name" record.json
}

python3 "$here/check_schema.py" "$schema" && pass "the schema is valid" || fail "the schema is not valid"

record 0 new new bending_finger finger
record 0 new_list new --list
record 0 new new cable_finger claw
record 0 new new trunk_cc trunk
record 0 info info finger $coarse
record 0 info info trunk
run doctor finger $coarse --json record.json
expect_schema doctor record.json
record 0 mesh mesh finger $coarse
record 0 materials materials
record 0 materials materials dragon_skin_30
record 0 fk fk finger $coarse --set air=10kPa
record 0 fk fk trunk --set l1=105
record 0 sweep sweep finger $coarse --set air=5:10kPa:2
record 0 jacobian jacobian finger $coarse --set air=10kPa
record 0 compliance jacobian claw $coarse --set flexor=1 --compliance
record 0 ik ik trunk --target 20,10,195
run follow trunk --path circle --count 6 --json record.json
expect_schema follow record.json
record 0 workspace workspace trunk --samples 20
sed 's/silicone: {/silicone: {density: 1070 kg\/m^3, /; s/fabric: {/fabric: {density: 1100 kg\/m^3, /' finger/robot.yaml >heavy.yaml
record 0 modes modes heavy.yaml $coarse --set air=5kPa --count 2
record 0 simulate simulate heavy.yaml $coarse --set air=1kPa --until 0.01s --every 0.005s
record 0 study study trunk --vary l1=100:110:3
record 0 compare_robots compare trunk trunk --set l1=104
record 0 sample sample trunk --samples 40 --jobs 1 --out data.sqlite
record 0 learn learn data.sqlite --epochs 5 --out model.yaml
record 0 new new beam beam
record 0 reduce reduce beam $coarse --samples 2 --out rod.yaml
# errors are records, too
record 3 failure fk nowhere --set air=3kPa
record 2 failure fk finger --set air=3
record 2 failure fk finger --sett
record 2 failure info finger extra
echo 'nonsense: {' >bad.yaml
record 2 failure fk bad.yaml
run fk bad.yaml --json -
cp out.txt record.json
expect_schema failure record.json

# every verb refers to the page of the outcome, whether it solves one point or many
run new sphere_shell ball
sed -i 's/drive: volume_ratio/drive: pressure/; s/range: \[1, 8\]/range: [0 kPa, 5000 kPa]/; s/^  order: 2.*/&\n  accept: true/' ball/robot.yaml
for words in "fk ball --set air=4000kPa" "sweep ball --set air=3000:4000kPa:2" "study ball --vary air=3000kPa:4000kPa:2" "jacobian ball --set air=4000kPa" \
    "compare ball ball --set air=4000kPa"; do
    # shellcheck disable=SC2086
    expect_status 1 $words --size 8 --order 1 --json -
    expect_words err.txt '`pliant help limit_point`: what it means, causes, what to try'
done
expect_status 1 ik trunk --target 300,0,0 --json -
expect_words err.txt '`pliant help nearest`'
expect_status 1 follow trunk --path circle --center 300,0,46 --span 10 --count 3 --json -
expect_words err.txt '`pliant help best_found`'

# the tables of the verbs
"$pliant" help --json - >record.json
expect_schema help record.json

finish
