#!/usr/bin/env bash
# Files for other programs: written here, read by read_files.py with the programs of others. None is left half
# written.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
# Debian's Python has the packages; any other will do
python=/usr/bin/python3
[ -x $python ] || python=python3

"$pliant" new bending_finger finger >/dev/null
"$pliant" new cable_finger claw >/dev/null
"$pliant" new trunk_cc trunk >/dev/null
linear="--size 12 --order 1"
expect_status 0 sweep finger $linear --set air=0:8kPa:3 --out t.pvd --out t.xdmf --out t.glb
for f in t.pvd t_0002.vtu t_0002_cavity_air.vtu t.xdmf t.h5 t.glb; do expect_file $f; done
expect_words t.pvd 'timestep="2" part="0" name="body" file="t_0002.vtu"' 'part="1" name="air" file="t_0002_cavity_air.vtu"'
expect_status 0 fk claw --size 12 --set flexor=5 --out s.vtu --out s.vtm --out s.xdmf --out s.glb --out s.obj --out s.ply
for f in s.vtu s.vtm s_body.vtu s_cable_flexor.vtu s.xdmf s.h5 s.glb s.obj s.ply; do expect_file $f; done
expect_words s.vtu displacement_mm von_mises_kpa cauchy_stress_kpa
expect_no_words s.vtu 'type="String"' pressure_kpa
expect_words s.vtm 'name="cables"' 'file="s_cable_flexor.vtu"'
expect_status 0 mesh finger $linear --out mesh.vtu
expect_status 0 workspace claw --size 12 --samples 2 --out points.vtu
expect_words points.vtu flexor_mm
expect_status 0 fk claw --size 12 --set flexor=5 --out c.ply --out c.obj --out c.glb --color von_mises_kpa
expect_words c.ply "property float von_mises_kpa"
expect_words c.obj "colours: von_mises_kpa from"
expect_status 0 fk claw --size 12 --set flexor=5 --out r.ply --out r.glb --color region
expect_no_words r.glb extras

status=0
$python "$here/read_files.py" t s >out.txt 2>err.txt || status=$?
cat out.txt
if [ $status -eq 0 ]; then pass "read by others"; else fail "read by others: exit $status"; fi

# ---- a disk that is full: said, and nothing stays behind
mkdir small
for out in a.vtm a.pvd a.xdmf a.glb a.obj a.ply; do
    status=0
    (
        cd small
        ulimit -f 2
        exec "$pliant" fk ../trunk --out $out
    ) >out.txt 2>err.txt || status=$?
    if [ $status -eq 3 ]; then pass "exit 3: $out under ulimit -f"; else fail "exit $status, expected 3: $out under ulimit -f"; fi
    expect_words err.txt "cannot be written"
done
left=$(ls small)
if [ -z "$left" ]; then pass "nothing left behind"; else fail "left $left"; fi
finish
