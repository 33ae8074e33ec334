#!/usr/bin/env bash
# Runs every program and script validation/law_* and the metamorphic checks, and ends with one row per law: number of cases, worst
# case, what is allowed. Programs print `law: NAME | cases N | worst W | allowed A | ok` (or FAIL) per law. One that prints no such line, ends
# with another status than its lines say, or takes longer than LAW_LIMIT seconds (default 900) fails. Exit status 1 if anything failed. The
# output is kept in BUILD/laws.txt, the table in BUILD/laws-summary.md.
# The laws of solved results: stability (1 stable, 6 returned states), contact_overlap (2), chambers and chamber_files (3), films (4), contact_free (5),
# mesh_error, default_sizes and default_parts (7), materials (8), surrogate (9), loops (10), view (11), records and outputs (12), refusals and contact_oblique (13),
# files (14); mechanics, derivatives, creep, motion, designs and metamorphic hold for all of them.
# usage: validation/laws.sh [BUILD [NAME...]]      NAME: `stability` for law_stability; default: all
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
shift || true
limit=${LAW_LIMIT:-900}
log=$build/laws.txt
: >"$log" || exit 3
export PYTHONPATH=$PWD/$build/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0 laws=0 started=$SECONDS
rows=("| law | cases | worst | allowed | result | s |" "| --- | --- | --- | --- | --- | --- |")

run() { # NAME COMMAND...
    local name=$1 begun=$SECONDS status line result lines=0 bad=0
    shift
    printf '\n== %s\n' "$name" | tee -a "$log"
    timeout "$limit" "$@" >"$out" 2>&1
    status=$?
    tee -a "$log" <"$out"
    while IFS='|' read -r line cases worst allowed result; do
        lines=$((lines + 1)) laws=$((laws + 1))
        result=$(xargs <<<"$result")
        [ "$result" = ok ] || { result=FAIL; bad=$((bad + 1)); }
        rows+=("| $(sed 's/^law: *//; s/ *$//' <<<"$line") | $(sed 's/ *cases *//; s/ *$//' <<<"$cases") | $(sed 's/ *worst *//; s/ *$//' <<<"$worst") | $(sed 's/ *allowed *//; s/ *$//' <<<"$allowed") | $result | $((SECONDS - begun)) |")
    done < <(grep '^law: ' "$out")
    if [ "$lines" -eq 0 ]; then
        rows+=("| $name | | printed no law, status $status | | FAIL | $((SECONDS - begun)) |")
        bad=1
    elif [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        rows+=("| $name | | ended with status $status | | FAIL | $((SECONDS - begun)) |")
        bad=1
    fi
    failed=$((failed + bad))
}

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for source in validation/law_*; do
        name=$(basename "$source")
        case $name in *.c | *.py | *.sh) names+=("$(sed 's/^law_//; s/\..*//' <<<"$name")") ;; esac
    done
    names+=(metamorphic metamorphic_more)
fi
for name in "${names[@]}"; do
    if [ "$name" = metamorphic ]; then
        run metamorphic "$build/metamorphic"
    elif [ "$name" = metamorphic_more ]; then
        run metamorphic_more "$build/metamorphic" more
    elif [ -e "validation/law_$name.c" ]; then
        run "law_$name" "$build/law_$name"
    elif [ -e "validation/law_$name.py" ]; then
        run "law_$name" /usr/bin/python3 "validation/law_$name.py" --pliant "$build/pliant"
    else
        run "law_$name" bash "validation/law_$name.sh" "$build/pliant"
    fi
done
{
    printf '\n%d laws, commit %s, %d s in all, %d failed\n\n' "$laws" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" \
        $((SECONDS - started)) "$failed"
    printf '%s\n' "${rows[@]}"
} | tee "$build/laws-summary.md" | tee -a "$log"
[ "$failed" -eq 0 ]
