#!/usr/bin/env bash
# Builds and runs every program and script validation/law_* and the metamorphic checks, and prints one row per law: number of cases, worst
# case, what is allowed, result, seconds. Programs print `law: NAME | cases N | worst W | allowed A | ok` (or FAIL) per law. One that prints
# no such line, ends with another status than its lines say, or takes longer than LAW_LIMIT seconds (default 900) fails, and the others are
# run all the same. Exit status 1 if anything failed, 3 if the programs could not be built. What a program prints is kept in BUILD/laws.txt
# (its end is shown when it fails), the table in BUILD/laws-summary.md.
# The laws of solved results: stability (1 stable, 6 returned states), contact_overlap (2), chambers and chamber_files (3), films (4), contact_free (5),
# mesh_error, default_sizes and default_parts (7), materials (8), surrogate (9), loops (10), view (11), records and outputs (12), refusals and contact_oblique (13),
# files (14); mechanics, derivatives, creep, motion, designs and metamorphic hold for all of them.
# usage: validation/laws.sh [BUILD [NAME...]]      BUILD: a configured build folder (default: build); NAME: `stability` for law_stability
#                                                  (default: all)
set -uo pipefail
from=$PWD
cd "$(dirname "$0")/.." || exit 3
# BUILD is meant from where the caller stands, or else from the top of the tree
build=${1:-build}
shift || true
case $build in
/*) ;;
*) if [ -d "$from/$build" ]; then build=$from/$build; else build=$PWD/$build; fi ;;
esac
if [ ! -e "$build/CMakeCache.txt" ]; then
    echo "laws: $build is not a configured build folder; run \`make\` (or \`cmake --preset release\`) first" >&2
    exit 3
fi
limit=${LAW_LIMIT:-900}
log=$build/laws.txt
: >"$log" || exit 3
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# what each law runs, and the targets it needs
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for source in validation/law_*; do
        name=$(basename "$source")
        case $name in *.c | *.py | *.sh) names+=("$(sed 's/^law_//; s/\..*//' <<<"$name")") ;; esac
    done
    names+=(metamorphic metamorphic_more)
fi
targets=()
for name in "${names[@]}"; do
    if [ "${name%_more}" = metamorphic ]; then
        targets+=(metamorphic)
    elif [ -e "validation/law_$name.c" ]; then
        targets+=("law_$name")
    elif [ -e "validation/law_$name.py" ] || [ -e "validation/law_$name.sh" ]; then
        targets+=(pliant_command)
        # the Python module is not built where Python's headers are missing
        ! grep -q 'import pliant' "validation/law_$name".* || [ ! -d "$build/python" ] || targets+=(python_module)
    else
        echo "laws: there is no validation/law_$name.c, .py or .sh" >&2
        exit 2
    fi
done
mapfile -t targets < <(printf '%s\n' "${targets[@]}" | sort -u)
if ! cmake --build "$build" -j "${JOBS:-$(nproc)}" --target "${targets[@]}" >"$out" 2>&1; then
    tail -n 20 "$out" >&2
    echo "laws: the programs could not be built (above)" >&2
    exit 3
fi

export PYTHONPATH=$build/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
failed=0 laws=0 started=$SECONDS
rows=()
row() { # LAW CASES WORST ALLOWED RESULT SECONDS
    rows+=("| $1 | $2 | $3 | $4 | $5 | $6 |")
    printf '%s\n' "${rows[-1]}"
}
trim() { # WORD TEXT: the text without the leading word and without spaces around
    local text=${2#"${2%%[![:space:]]*}"}
    text=${text#"$1"}
    text=${text#"${text%%[![:space:]]*}"}
    printf '%s' "${text%"${text##*[![:space:]]}"}"
}

run() { # NAME COMMAND...
    local name=$1 begun=$SECONDS status law cases worst allowed result lines=0 bad=0 seconds why
    shift
    printf '\n== %s\n' "$name" >>"$log"
    timeout -k 20 "$limit" "$@" >"$out" 2>&1 </dev/null
    status=$?
    seconds=$((SECONDS - begun))
    cat "$out" >>"$log"
    while IFS='|' read -r law cases worst allowed result; do
        lines=$((lines + 1)) laws=$((laws + 1))
        result=$(trim '' "$result")
        [ "$result" = ok ] || { result=FAIL; bad=$((bad + 1)); }
        row "$(trim law: "$law")" "$(trim cases "$cases")" "$(trim worst "$worst")" "$(trim allowed "$allowed")" "$result" "$seconds"
    done < <(grep '^law: ' "$out")
    why="ended with status $status"
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        why="stopped after $limit s"
    elif [ "$lines" -eq 0 ]; then
        why="printed no law, status $status"
    fi
    if [ "$lines" -eq 0 ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
        row "$name" "" "$why" "" FAIL "$seconds"
        bad=$((bad + 1))
    fi
    [ "$bad" -eq 0 ] || grep -v '^law: ' "$out" | tail -n 15 | sed 's/^/    /'
    failed=$((failed + bad))
}

head=("| law | cases | worst | allowed | result | s |" "| --- | --- | --- | --- | --- | --- |")
printf '%s\n' "${head[@]}"
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
summary="$laws laws, commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $((SECONDS - started)) s in all, $failed failed"
printf '\n%s\n' "$summary"
printf '%s\n' "$summary" "" "${head[@]}" "${rows[@]}" >"$build/laws-summary.md"
cat "$build/laws-summary.md" >>"$log"
[ "$failed" -eq 0 ]
