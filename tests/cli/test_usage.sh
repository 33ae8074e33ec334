#!/usr/bin/env bash
# The program as a whole: help, version, wrong usage, output that cannot be written.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

expect_status 0 --version
expect_words out.txt "pliant 0."
expect_status 0 help
expect_words out.txt "usage: pliant VERB" "new" "doctor" "jacobian" "Exit status"
expect_status 2
expect_words err.txt "usage: pliant VERB"

for verb in new info doctor mesh materials calibrate fk sweep jacobian compare reduce ik follow workspace task serve \
    completion; do
    expect_status 0 "$verb" --help
    expect_words out.txt "usage: pliant $verb" "examples:"
    expect_status 0 help "$verb"
done

expect_status 2 inof
expect_words err.txt "there is no verb 'inof'" "did you mean 'info'" "sweep"
expect_status 2 help nonsense
expect_status 2 fk robot.yaml --sett air=1kPa
expect_words err.txt "there is no option '--sett'" "did you mean '--set'"
expect_status 2 fk robot.yaml --set
expect_words err.txt "--set needs a value"
expect_status 2 fk robot.yaml --set --out shape.vtu
expect_words err.txt "--set needs a value, found the option --out"
expect_status 2 fk robot.yaml --beyond-range=3
expect_words err.txt "takes no value"
expect_status 2 fk
expect_words err.txt "an argument is missing" "usage: pliant fk"
expect_status 2 info a b
expect_words err.txt "unexpected argument 'b'"
expect_status 2 fk robot.yaml --threads many
expect_words err.txt "--threads is 'many'"
expect_status 2 fk robot.yaml --out shape.xyz
expect_words err.txt "expected one of .vtu"
# a file that cannot be opened is a failure of the system, what it contains is input
expect_status 3 info nowhere.yaml
expect_words err.txt "nowhere.yaml" "cannot be opened"
expect_status 3 serve nowhere.yaml
expect_status 3 sweep nowhere.yaml --set air=0:1kPa:2

# the completion script is valid and completes
expect_status 0 completion bash
cp out.txt completion.sh
if bash -n completion.sh; then pass "completion parses"; else fail "completion does not parse"; fi
reply=$(bash -c '. ./completion.sh; COMP_WORDS=(pliant sw); COMP_CWORD=1; _pliant; echo "${COMPREPLY[*]}"')
if [ "$reply" = sweep ]; then pass "completes sw to sweep"; else fail "completes sw to '$reply'"; fi
reply=$(bash -c '. ./completion.sh; COMP_WORDS=(pliant fk --beyo); COMP_CWORD=2; _pliant; echo "${COMPREPLY[*]}"')
if [ "$reply" = --beyond-range ]; then pass "completes an option"; else fail "completes --beyo to '$reply'"; fi
expect_status 2 completion tcsh
for shell in zsh fish; do
    expect_status 0 completion $shell
    expect_words out.txt "stop-at-limit" "bending_finger" "limit_point"
    if command -v $shell >/dev/null; then
        if $shell -n out.txt; then pass "$shell reads its completion"; else fail "$shell does not read its completion"; fi
    fi
done

# every verb has a manual page that man reads without complaint
for verb in $("$pliant" help --json - | awk -F'"' '/^  "common"/ { exit } /^      "name"/ { print $4 }') ""; do
    "$pliant" help --man $verb >page.1
    if ! grep -q '^.SH EXIT STATUS' page.1; then fail "manual page of '$verb'"; fi
    if command -v groff >/dev/null && [ -n "$(groff -man -Tutf8 -ww page.1 2>&1 >/dev/null)" ]; then fail "groff complains about the manual page of '$verb'"; fi
done
pass "manual pages"
expect_status 2 help --man nonsense

# the tables: the same option means the same everywhere; every outcome has its page
"$pliant" help --json - >tables.json
if python3 "$here/check_tables.py" tables.json "$here/../.." >check.txt; then pass "$(cat check.txt)"; else fail "tables: $(cat check.txt)"; fi
if python3 "$here/check_verbs.py" "$pliant" "$PWD" >check.txt; then pass "$(cat check.txt)"; else fail "verbs: $(cat check.txt)"; fi
expect_status 0 help limit_point
expect_words out.txt "# Limit point" "## Causes" "drive: volume"
expect_status 0 help "limit point"
expect_status 2 help limit_pint
expect_words err.txt "did you mean 'limit_point'"

# a robot from standard input; -q prints nothing but warnings and errors
"$pliant" new trunk_cc piped -q >out.txt 2>err.txt
if [ -s out.txt ] || [ -s err.txt ]; then fail "new -q prints"; else pass "new -q is quiet"; fi
status=0
"$pliant" fk - --set l1=104 -q --json piped.json <piped/robot.yaml >out.txt 2>err.txt || status=$?
if [ "$status" -eq 0 ] && [ ! -s out.txt ] && [ ! -s err.txt ]; then pass "fk - -q is quiet"; else fail "fk - -q: exit $status"; fi
"$pliant" fk piped --set l1=104 -q --json named.json
if diff <(grep -v seconds piped.json) <(grep -v seconds named.json); then pass "the same answer from standard input"; else fail "another answer from standard input"; fi
status=0
printf 'nonsense: 1\n' | "$pliant" info - >out.txt 2>err.txt || status=$?
if [ "$status" -eq 2 ]; then pass "exit 2: a wrong file on standard input"; else fail "exit $status for a wrong file on standard input"; fi
expect_words err.txt "standard input:1"
expect_status 2 fk piped --set l1=104 -q --no-such
expect_words err.txt "there is no option"

# a full disk is no success
if [ -w /dev/full ]; then
    status=0
    "$pliant" materials >/dev/full 2>err.txt || status=$?
    if [ "$status" -eq 3 ]; then pass "exit 3 on a full disk"; else fail "exit $status on a full disk"; fi
fi
# no time is no limit: say so
"$pliant" new trunk_cc limited >/dev/null
expect_status 2 fk limited --time-limit 0s
expect_words err.txt "--time-limit 0s: there would be no time" "leave it out"
expect_status 2 sweep limited --set l1=100:110:2 --limit-each 0s
expect_words err.txt "--limit-each 0"
expect_status 2 materials dragnskin
expect_words err.txt "did you mean 'dragon_skin_"

# a number that completion offers as a word is a number
"$pliant" new bending_finger coarse >/dev/null
expect_status 0 info coarse --order 1 --size 8
expect_words out.txt "tet4"

# numbers are checked by the tables of options, before any file is looked at
"$pliant" help --json - >all.json
python3 - all.json >numbers.txt <<'EOF'
import json, sys
for verb in json.load(open(sys.argv[1]))["verbs"]:
    for option in verb["options"]:
        if "low" in option:
            print(verb["name"], option["name"], f"{option['high'] * 2 + 1:.0f}")
EOF
count=0 wrong=""
while read -r verb option value; do
    status=0
    "$pliant" "$verb" no_such_file "--$option" "$value" >out.txt 2>err.txt || status=$?
    count=$((count + 1))
    if [ "$status" -ne 2 ] || ! grep -q -- "--$option" err.txt; then wrong="$wrong $verb --$option"; fi
done <numbers.txt
if [ "$count" -gt 60 ] && [ -z "$wrong" ]; then pass "$count numbers out of their range are refused by name"; else fail "of $count numbers not refused:$wrong"; fi
finish
