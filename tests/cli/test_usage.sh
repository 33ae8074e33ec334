#!/usr/bin/env bash
# The program as a whole: help, version, wrong usage, output that cannot be written.
. "$(dirname "$0")/lib.sh"

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
expect_status 2 info nowhere.yaml
expect_words err.txt "nowhere.yaml"

# the completion script is valid and completes
expect_status 0 completion bash
cp out.txt completion.sh
if bash -n completion.sh; then pass "completion parses"; else fail "completion does not parse"; fi
reply=$(bash -c '. ./completion.sh; COMP_WORDS=(pliant sw); COMP_CWORD=1; _pliant; echo "${COMPREPLY[*]}"')
if [ "$reply" = sweep ]; then pass "completes sw to sweep"; else fail "completes sw to '$reply'"; fi
reply=$(bash -c '. ./completion.sh; COMP_WORDS=(pliant fk --beyo); COMP_CWORD=2; _pliant; echo "${COMPREPLY[*]}"')
if [ "$reply" = --beyond-range ]; then pass "completes an option"; else fail "completes --beyo to '$reply'"; fi
expect_status 2 completion fish

# a full disk is no success
if [ -w /dev/full ]; then
    status=0
    "$pliant" materials >/dev/full 2>err.txt || status=$?
    if [ "$status" -eq 3 ]; then pass "exit 3 on a full disk"; else fail "exit $status on a full disk"; fi
fi
# no time is no limit: say so
"$pliant" new trunk_cc limited >/dev/null
expect_status 2 fk limited --time-limit 0s
expect_words err.txt "--time-limit is 0" "leave it out"
expect_status 2 sweep limited --set l1=100:110:2 --limit-each 0s
expect_words err.txt "--limit-each is 0"
expect_status 2 materials dragnskin
expect_words err.txt "did you mean 'dragon_skin_"
finish
