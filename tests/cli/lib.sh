# Helpers of the command-line tests: each script gets the command's path, works in a folder of its own, and prints one
# line per check.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 PLIANT"; exit 2; }
[ -x "$1" ] || { echo "$1 is no program"; exit 2; }
pliant=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
checks=0
failures=0

pass() {
    checks=$((checks + 1))
    echo "  ok      $1"
}

fail() {
    checks=$((checks + 1))
    failures=$((failures + 1))
    echo "  FAILED  $1"
    echo "--- standard output"
    head -40 out.txt 2>/dev/null || true
    echo "--- standard error"
    head -40 err.txt 2>/dev/null || true
    echo "---"
}

# run ARGUMENTS: keeps the output in out.txt and err.txt, the exit status in $status; records (--json) are kept for `finish`
records=$work/.records
run() {
    status=0
    : >"$work/.begun"
    "$pliant" "$@" >out.txt 2>err.txt || status=$?
    local word before="" record=""
    for word in "$@"; do
        [ "$before" != --json ] || record=$word
        before=$word
    done
    [ "$record" != - ] || record=out.txt
    # a file that was there already, and stayed, is none
    if [ -n "$record" ] && [ -s "$record" ] && [ "$record" -nt "$work/.begun" ]; then
        mkdir -p "$records"
        cp "$record" "$records/$((checks + 1000))-$1.json"
    fi
}

# expect_status NUMBER ARGUMENTS
expect_status() {
    local expected=$1
    shift
    run "$@"
    if [ "$status" -eq "$expected" ]; then
        pass "exit $expected: pliant $*"
    else
        fail "exit $status, expected $expected: pliant $*"
    fi
}

# expect_words FILE WORDS...: every word (a fixed string) stands in the file
expect_words() {
    local file=$1 word
    shift
    for word in "$@"; do
        if grep -qF -e "$word" "$file"; then
            pass "says '$word'"
        else
            fail "does not say '$word' in $file"
        fi
    done
}

# expect_no_words FILE WORDS...
expect_no_words() {
    local file=$1 word
    shift
    for word in "$@"; do
        if grep -qF -e "$word" "$file"; then
            fail "says '$word' in $file"
        else
            pass "does not say '$word'"
        fi
    done
}

# expect_file NAME: is there and not empty
expect_file() {
    if [ -s "$1" ]; then pass "wrote $1"; else fail "did not write $1"; fi
}

expect_no_file() {
    if [ -e "$1" ]; then fail "left $1"; else pass "left no $1"; fi
}

# expect_keys FILE KEYS...: the keys stand in a JSON file
expect_keys() {
    local file=$1 key
    shift
    for key in "$@"; do
        if grep -qE "\"$key\":" "$file"; then pass "key $key"; else fail "no key $key in $file"; fi
    done
}

# json_number FILE KEY: the first number under that key
json_number() {
    grep -m1 -oE "\"$2\": *-?[0-9.eE+-]+" "$1" | head -1 | sed 's/.*: *//'
}

# expect_near WHAT GOT EXPECTED TOLERANCE
expect_near() {
    if awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= t) }'; then
        pass "$1: $2, expected $3 within $4"
    else
        fail "$1: '$2', expected $3 within $4"
    fi
}

# await COMMAND...: until the command succeeds; for as long as a machine under load may take
await() {
    local k
    for ((k = 0; k < 6000; ++k)); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    echo "  waited in vain for: $*"
    return 1
}

# await_or_end PID COMMAND...: the same, or until that program has ended
await_or_end() {
    local pid=$1
    shift
    succeeds_or_ended() { "$@" || ! kill -0 "$pid" 2>/dev/null; }
    await succeeds_or_ended "$@" || true
}

# No temporary files stay behind.
expect_clean() {
    local left
    left=$(find . -name '*.tmp*' -o -name '*~' | head -3)
    if [ -z "$left" ]; then pass "no temporary files"; else fail "left $left"; fi
}

# The records of this script follow the published schema.
finish() {
    if [ -d "$records" ]; then
        if PYTHONDONTWRITEBYTECODE=1 python3 "$tests/check_records.py" "$tests/../../docs/reference/schema.json" "$records" >"$work/schema.txt" 2>&1; then
            pass "$(find "$records" -name '*.json' | wc -l) records follow docs/reference/schema.json"
        else
            fail "records do not follow docs/reference/schema.json: $(head -n 8 "$work/schema.txt")"
        fi
    fi
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ]
}
