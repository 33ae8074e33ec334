#!/usr/bin/env bash
# Law: damage is seen. Damaged meshes in the cache and signals in the first 100 ms (`attacks.sh cache signals`), 24 cases each: no crash, no changed
# answer, no cut file.
# usage: law_files.sh PLIANT
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$(PLIANT=$1 COUNT=24 bash "$here/attacks.sh" cache signals)
status=$?
printf '%s\n' "$out"
cases=$(printf '%s\n' "$out" | awk -F': ' 'NF >= 3 && $NF ~ /^[0-9]+$/ { n += $NF } END { print n + 0 }')
good=FAIL
[ "$status" -eq 0 ] && [ "$cases" -ge 10 ] && good=ok
echo "law: damaged and interrupted files are seen | cases $cases | worst status $status | allowed 0 | $good"
[ "$good" = ok ]
