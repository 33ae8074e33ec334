#!/usr/bin/env bash
# Films and USD of a sweep, read by read_films.py; a missing ffmpeg and wrong names are reported before the work.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
python=/usr/bin/python3
[ -x $python ] || python=python3

"$pliant" new bending_finger finger >/dev/null
linear="--size 12 --order 1"
webm="--out t.webm"
command -v ffmpeg >/dev/null 2>&1 || webm=
expect_status 0 sweep finger $linear --set air=0:8kPa:3 --out t.gif $webm --out t.usda --out t.glb --out 'f_%02d.png' --view front
for f in t.gif t.usda f_00.png f_01.png f_02.png; do expect_file $f; done
if $python -c 'import numpy' 2>/dev/null; then
    status=0
    $python "$here/read_films.py" t f_00.png f_01.png f_02.png >out.txt 2>err.txt || status=$?
    cat out.txt err.txt
    if [ $status -eq 0 ]; then pass "read by others"; else fail "read by others: exit $status"; fi
else
    echo "  left out: reading the films, numpy is not installed (python3-numpy)"
fi

# a motion in time is shown slower, and says so
expect_status 0 fk finger $linear --set air=8kPa --out one.usda
expect_file one.usda
expect_status 2 sweep finger $linear --set air=0:8kPa:3 --out t.png
expect_words err.txt "unknown extension"
mkdir bin
PATH="$PWD/bin" expect_status 2 sweep finger $linear --set air=0:8kPa:3 --out t2.webm
expect_words err.txt "needs the program ffmpeg"

# a library that cannot be opened is reported before the solve: nothing is solved, the message names the file
mkdir damaged
touch damaged/libcairo.so.2 damaged/libsqlite3.so.0
"$pliant" new segment_beam beam >/dev/null
for words in "fk beam --set chamber1=5kPa --out b.png" "sweep beam --set chamber1=0:5kPa:2 --out b.gif" \
    "follow beam --path circle --center 1,0,46 --span 1 --out b.html" "fk beam --set chamber1=5kPa --out b.vtu --follow-arc b.svg"; do
    # shellcheck disable=SC2086
    LD_LIBRARY_PATH="$PWD/damaged" expect_status 3 $words
    expect_words err.txt "pictures need cairo" "b."
    expect_no_words out.txt solved
done
LD_LIBRARY_PATH="$PWD/damaged" expect_status 0 fk beam --set chamber1=5kPa --out b.vtu
finish
