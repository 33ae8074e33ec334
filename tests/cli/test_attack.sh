#!/usr/bin/env bash
# Limits of the machine and files made to harm: the program says what is wrong and ends with the right status.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# limited OPTION VALUE ARGUMENTS: runs under a limit of the shell, for at most 40 s
limited() {
    local option=$1 value=$2
    shift 2
    status=0
    (
        ulimit "$option" "$value"
        exec timeout 40 "$pliant" "$@"
    ) >out.txt 2>err.txt || status=$?
}
expect_ended() { # STATUS WHAT
    if [ "$status" -eq "$1" ]; then pass "exit $1: $2"; else fail "exit $status, expected $1: $2"; fi
}

"$pliant" new trunk_cc trunk >/dev/null
"$pliant" new bending_finger finger >/dev/null
coarse="--size 12 --order 1"
"$pliant" mesh finger $coarse --out ball.msh >/dev/null
mv ball.msh finger/mesh.msh

# ---- files that cannot grow: a limit is an error of writing, nothing stays behind
for out in a.vtu a.msh a.stl a.png a.inp; do
    limited -f 2 mesh finger $coarse --out $out
    expect_ended 3 "$out under ulimit -f"
    expect_words err.txt "$out: cannot be written"
    expect_no_file $out
done
left=$(find . -name 'a.*' | head -3)
if [ -z "$left" ]; then pass "nothing left behind"; else fail "left $left"; fi
# a full disk
status=0
"$pliant" fk trunk --json - >/dev/full 2>err.txt || status=$?
expect_ended 3 "a full disk behind standard output"
for out in full.vtu full.csv full.png; do
    ln -sf /dev/full $out
    run fk trunk --out $out
    expect_ended 3 "a full disk behind $out"
done
rm -f full.*

# ---- address space: OpenBLAS asks again for ever where it gets no memory
expect_status 0 mesh finger $coarse
limited -v 120000 fk finger $coarse --set air=5kPa
expect_ended 3 "ulimit -v 120000"
expect_words err.txt "memory"

# ---- pipes in place of stored meshes: not waited for, neither to read nor to write
for stored in finger/.pliant/*; do
    rm "$stored"
    mkfifo "$stored"
done
limited -n 256 fk finger $coarse --set air=5kPa
expect_ended 0 "named pipes in the folder of stored meshes"
rm -r finger/.pliant

# ---- memory: no single allocation that fails may look like a result
if command -v cc >/dev/null && cc -shared -fPIC -O1 -o fail.so "$here/fail_memory.c" 2>/dev/null &&
    LD_PRELOAD=./fail.so FAIL_COUNT=count.txt "$pliant" ik trunk --marker tip --target 30,10,200 --json - >whole.txt 2>/dev/null &&
    [ -s count.txt ]; then
    count=$(cat count.txt)
    for at in 0 1 7 $((count / 5)) $((count / 3)) $((count / 2)) $((count - 40)) $((count - 9)) $((count - 1)); do
        status=0
        LD_PRELOAD=./fail.so FAIL_AT=$at "$pliant" ik trunk --marker tip --target 30,10,200 --json - \
            >out.txt 2>err.txt || status=$?
        expect_ended 3 "ik when allocation $at of $count fails"
        expect_words err.txt "out of memory"
    done
    status=0
    LD_PRELOAD=./fail.so FAIL_AT=30 "$pliant" doctor trunk >out.txt 2>err.txt || status=$?
    expect_ended 3 "doctor when an allocation fails"
    expect_no_words out.txt "no defects"
fi

# ---- what is not what it seems
mkfifo pipe.yaml
status=0
timeout 20 "$pliant" fk pipe.yaml >out.txt 2>err.txt || status=$?
expect_ended 2 "a named pipe in place of the robot file"
expect_words err.txt "is a named pipe, expected a file"
mkdir fifo
printf 'pliant: 1\nname: f\nmesh: {file: part.msh}\nmaterials: {s: {model: neo_hookean, c10: 0.1}}\nregions: {skin: s}\nfixed: [{surface: base}]\n' >fifo/robot.yaml
mkfifo fifo/part.msh
status=0
timeout 20 "$pliant" info fifo >out.txt 2>err.txt || status=$?
expect_ended 2 "a named pipe in place of a mesh"

# names that would steer the terminal
sed 's/^name:.*/name: "red\\e[31m\\e]0;title\\a"/' trunk/robot.yaml >evil.yaml
expect_status 0 fk evil.yaml
if grep -q $'\033' out.txt err.txt; then fail "an escape sequence reached the terminal"; else pass "no escape sequence"; fi

# ---- keys that would be ignored, tolerances that make anything a solution
body='pliant: 1\nname: f\nmesh: {file: finger/mesh.msh}\nregions: {skin: s, layer: s}\nfixed: [{surface: base}]\n'
printf "$body"'materials: {s: {model: neo_hookean, c10: 0.1, poisson: 0.4, bulk: 20}}\n' >both.yaml
expect_status 2 info both.yaml
expect_words err.txt "both poisson and bulk are given"
printf "$body"'materials: {s: {model: neo_hookean, c10: 0.1}}\nsolver: {force_tolerance: 0.99, length_tolerance: 1e9 mm}\n' >loose.yaml
expect_status 2 fk loose.yaml
expect_words err.txt "force_tolerance is 0.99" "length_tolerance is 1e+09 mm"
expect_status 2 ik trunk --marker tip --target 30,10,200 --tolerance 1e9
printf "$body"'materials: {s: {model: neo_hookean, c10: 0.1}}\n' >plain.yaml
expect_status 0 info plain.yaml --size 2
expect_words err.txt "is not used"

# ---- a thread wound so densely that it never ends
"$pliant" new fiber_bender bender >/dev/null
for kind in helix rings; do
    sed "s/kind: helix/kind: $kind/; s/pitch: 3\\(, hand: both\\)*/pitch: 1e-30/" bender/robot.yaml >bender/dense.yaml
    status=0
    timeout 60 "$pliant" info bender/dense.yaml --size 8 --order 1 >out.txt 2>err.txt || status=$?
    expect_ended 2 "$kind with a pitch of 1e-30 mm"
    expect_words err.txt "is the pitch right?"
done

# ---- a store whose table is a view without end
if command -v sqlite3 >/dev/null; then
    expect_status 0 workspace trunk --samples 3 --store store.db
    sqlite3 store.db "ALTER TABLE sample RENAME TO old; CREATE VIEW sample AS WITH RECURSIVE c(sampling, number, solved, command, marker, effort) AS (SELECT 1,0,1,'[]','[]','[]' UNION ALL SELECT 1,number+1,1,command,marker,effort FROM c) SELECT * FROM c;"
    status=0
    timeout 20 "$pliant" workspace trunk --samples 3 --store store.db >out.txt 2>err.txt || status=$?
    expect_ended 2 "a store whose table is a view"
    expect_words err.txt "is not a stored workspace"
fi

# ---- a VTU that unpacks to gigabytes
if command -v python3 >/dev/null; then
    python3 - <<'PY'
import base64, struct, zlib
block = 24 << 21
packed = zlib.compress(bytes(block), 9)
n = 20
head = struct.pack("<%dQ" % (3 + n), n, block, 0, *[len(packed)] * n)
data = base64.b64encode(head) + base64.b64encode(packed * n)
points = n * block // 24
with open("bomb.vtu", "wb") as f:
    f.write(b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64" '
            b'compressor="vtkZLibDataCompressor"><UnstructuredGrid><Piece NumberOfPoints="%d" NumberOfCells="1"><Points>'
            b'<DataArray type="Float64" NumberOfComponents="3" format="binary">' % points)
    f.write(data)
    f.write(b'</DataArray></Points></Piece></UnstructuredGrid></VTKFile>\n')
PY
    limited -v 1500000 mesh bomb.vtu
    expect_ended 2 "a VTU bomb"
    expect_words err.txt "unpacks to more than a hundred times"
fi

# ---- the gallery's folder may belong to somebody else
mkdir -m 777 shared && ln -s "$work" "shared/pliant-gallery-$(id -u)"
status=0
env -u XDG_CACHE_HOME -u HOME TMPDIR="$work/shared" timeout 20 "$pliant" serve --demo --port 0 --idle 1 >out.txt 2>err.txt || status=$?
expect_ended 3 "a link in place of the gallery's folder"
finish
