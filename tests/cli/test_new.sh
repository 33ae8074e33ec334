#!/usr/bin/env bash
# new: designs, their parameters, one's own part; nothing is overwritten.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

expect_status 0 new --list
# a first command is proposed; the specimen is moved by its support and has none
for kind in specimen bending_finger cable_finger three_chamber segment beam sphere_shell tube planar_arm dea_crawler cbha twister membrane pillows \
    fiber_bender knuckle_finger gripper_finger tentacle parallel bellows_trunk trunk_cc segment_beam; do
    expect_words out.txt "$kind:"
    expect_status 0 new "$kind" "d_$kind"
    expect_words out.txt "pliant fk d_$kind $([ "$kind" = specimen ] || echo --set)"
    expect_file "d_$kind/robot.yaml"
    expect_status 0 new --list
done
expect_status 0 new --list --json designs.json
expect_keys designs.json designs beam parameters default range

expect_status 2 new bending_finger d_bending_finger
expect_words err.txt "exists and is not overwritten" "--force"
echo "# mine" >d_bending_finger/robot.yaml
expect_status 0 new bending_finger d_bending_finger --force
expect_no_words d_bending_finger/robot.yaml "# mine"

expect_status 0 new bending_finger long --param length=14cm --param modules=10
expect_words long/robot.yaml "length: 140 " "modules: 10 "
expect_status 2 new bending_finger x --param lenght=140
expect_words err.txt "did you mean 'length'"
expect_status 2 new bending_finger x --param modules=2.5
expect_words err.txt "a whole number"
expect_status 2 new bending_finger x --param length=1e9
expect_status 2 new bending_finger x --param length
expect_status 2 new bending_fingr x
expect_words err.txt "did you mean 'bending_finger'"
expect_no_file x
expect_status 2 new bending_finger
: >file
expect_status 2 new beam file
expect_words err.txt "not a folder"
expect_status 3 new beam no/such/folder
expect_words err.txt "cannot be created"

# one's own part: a hollow block, as an STL written here. Outer 60 x 20 x 16 mm, cavity 40 x 10 x 8 mm.
block() { # low x y z, high x y z, sign: 1 faces outward, -1 inward
    awk -v a="$1" -v b="$2" -v c="$3" -v d="$4" -v e="$5" -v f="$6" -v s="$7" 'BEGIN {
        split(a " " d, X, " "); split(b " " e, Y, " "); split(c " " f, Z, " ")
        n = split("1 3 2 2 3 4 5 6 7 6 8 7 1 2 5 2 6 5 3 7 4 4 7 8 1 5 3 3 5 7 2 4 6 4 8 6", I, " ")
        for (t = 1; t <= n; t += 3) {
            print "facet normal 0 0 0\nouter loop"
            for (k = 0; k < 3; ++k) {
                v = I[t + (s > 0 ? k : 2 - k)] - 1
                printf "vertex %s %s %s\n", X[1 + v % 2], Y[1 + int(v / 2) % 2], Z[1 + int(v / 4)]
            }
            print "endloop\nendfacet"
        }
    }'
}
{ echo "solid part"; block 0 0 0 60 20 16 1; block 10 5 4 50 15 12 -1; echo "endsolid part"; } >part.stl
expect_status 0 new --from part.stl mine
expect_file mine/part.stl
expect_words mine/robot.yaml "part.stl" "60 x 20 x 16 mm" "kind: chamber" "base: {plane: {point: [0, 10, 8]" "unit: mm"
expect_status 0 info mine --size 8 --json -
expect_near "volume of the chamber" "$(grep -A12 '"actuators"' out.txt | grep -oE '"volume": *[0-9.]+' | sed 's/.*: *//')" 3200 1
expect_status 2 new --from part.stl mine
# the ends that were found are ends of the mesh, whatever the digits of their places
python3 - <<'Y'
for n, a in enumerate((42.6195534, 97.3333333, 123.456789, 31.4159265, 271.828182, 66.6666667)):
    v = [(x, y, z) for x in (0.7071068, 0.7071068 + a) for y in (0, 11.1111111) for z in (-3.3333333, 8.8888889)]
    quads = (0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)
    with open(f"bar{n}.stl", "w") as f:
        f.write("solid s\n")
        for q in quads:
            for t in (q[:3], (q[0], q[2], q[3])):
                f.write("facet normal 0 0 0\nouter loop\n" + "".join("vertex %.9g %.9g %.9g\n" % v[k] for k in t) + "endloop\nendfacet\n")
        f.write("endsolid s\n")
Y
for n in 0 1 2 3 4 5; do
    expect_status 0 new --from bar$n.stl bar$n --unit mm
    expect_status 0 info bar$n --order 1
done
# the same part as a volume mesh: the cavity is found by looking around
expect_status 0 mesh mine --size 8 --out part.vtu
expect_status 0 new --from part.vtu meshed
expect_words out.txt "60 x 20 x 16 mm" "3.2 mL (closed)" "low end of x"
expect_words meshed/robot.yaml "seen_from" "kind: chamber" "base: {plane: {point: [0, 10, 8]"
expect_status 0 info meshed --json -
expect_near "volume of the chamber" "$(grep -A12 '"actuators"' out.txt | grep -oE '"volume": *[0-9.]+' | sed 's/.*: *//')" 3200 1
expect_status 3 new --from absent.stl other
expect_status 2 new --from part.stl other --unit parsec
# what describes a part means nothing for a design
expect_status 2 new beam other --material tpu_95a
expect_words err.txt "only for --from"
expect_status 2 new --from part.stl other --param length=3
# a surface with a hole is refused, with the place
{ echo "solid part"; block 0 0 0 60 20 16 1 | head -n -7; echo "endsolid part"; } >open.stl
expect_status 2 new --from open.stl holed
expect_words err.txt "error:"

# A mesh that is not like its part: every verb says so and refuses, on a mesh made now or kept; with `accept` it computes.
awk 'BEGIN {
    pi = 3.14159265358979; n = 10; r = 0
    for (z = 0; z <= 49; z += 7) { # a rod with grooves
        radius[r] = 6; height[r++] = z; radius[r] = 6; height[r++] = z + 3
        if (z < 49) { radius[r] = 2.5; height[r++] = z + 3; radius[r] = 2.5; height[r++] = z + 7 } }
    print "v 0 0 0"; print "v 0 0", height[r - 1]
    for (i = 0; i < r; i++) for (k = 0; k < n; k++) print "v", radius[i] * cos(2 * pi * k / n), radius[i] * sin(2 * pi * k / n), height[i]
    for (k = 0; k < n; k++) { j = (k + 1) % n
        print "f 1", 3 + j, 3 + k; print "f 2", 3 + (r - 1) * n + k, 3 + (r - 1) * n + j
        for (i = 0; i + 1 < r; i++) { a = 3 + i * n; print "f", a + k, a + j, a + n + j; print "f", a + k, a + n + j, a + n + k } } }' >rod.obj
cat >rod.yaml <<'END'
pliant: 1
mesh: {parts: [{surface: rod.obj, region: body}], unit: mm, size: 1000, order: 1}
surfaces: {base: {plane: {point: [0, 0, 0], normal: [0, 0, -1]}}}
materials: {m: {use: dragon_skin_20}}
regions: {body: m}
fixed: [{surface: base}]
actuators: [{name: t, kind: cable, through: [[0, 0, 1], [0, 0, 51]], radius: 3, drive: shortening, range: [0, 2]}]
markers: {tip: {at: [0, 0, 51], radius: 3}}
END
printf 'x,y,z\n0,0,50\n' >path.csv
for verb in "info" "fk --set t=1" "info" "doctor" "jacobian --set t=1" "sweep --set t=0:1:2" "ik --target 0,0,50" "workspace --samples 3 --out w.csv" \
    "study --vary t=0:1:2 --out s.csv" "follow path.csv" "mesh"; do
    set -- $verb
    word=$1
    shift
    expect_status 2 "$word" rod.yaml "$@"
    cat out.txt err.txt >all.txt
    expect_words all.txt "rod.yaml:2: error: mesh: the mesh differs from the part: volume -"
done
if command -v python3 >/dev/null && "$pliant" serve --help >/dev/null 2>&1; then # a server says it too, and stays
    mkdir -p page/three/build
    touch page/index.html page/three/build/three.module.js
    PLIANT_WEB=$work/page "$pliant" serve rod.yaml --port 0 >serve.txt 2>&1 &
    server=$!
    await_or_end "$server" grep -q "http://127.0.0.1:" serve.txt
    port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/.*|\1|p' serve.txt)
    python3 "$here/talk_serve.py" "$port" 1 >out.txt 2>err.txt || true
    expect_words out.txt "refused:" "the mesh differs from the part: volume -"
    kill -INT "$server"
    status=0
    wait "$server" || status=$?
    if [ "$status" -eq 0 ]; then pass "the server ends with 0"; else fail "the server ended with $status"; fi
fi
sed 's/order: 1}/order: 1, accept: true}/' rod.yaml >accepted.yaml
expect_status 0 fk accepted.yaml --set t=0.5
cat out.txt err.txt >all.txt
expect_words all.txt "accepted.yaml:2: warning: mesh: the mesh differs from the part: volume -" "solved"
expect_clean

# an inlet and the duct between two pockets are no tendons: one chamber
python3 "$here/voxels.py" pockets.stl 2 40,10,8 4:14,2:8,2:6 18:28,2:8,2:6 0:20,5:6,4:5
expect_status 0 new --from pockets.stl pockets --unit mm
expect_words out.txt "cavities: one, open" "pliant fk pockets --set air=8.2kPa"
expect_no_words out.txt "tendon" "open,"
expect_words pockets/robot.yaml "name: air,"
expect_no_words pockets/robot.yaml "kind: cable" "name: air2"
# two chambers with an inlet each are both found
python3 "$here/voxels.py" two.stl 2 40,16,8 3:36,2:7,2:6 3:36,9:14,2:6 0:4,4:5,4:5 0:4,11:12,4:5
expect_status 0 new --from two.stl two --unit mm
expect_words two/robot.yaml "name: air," "name: air2,"
expect_no_words two/robot.yaml "kind: cable"
# a hole from end to end holds no air
python3 "$here/voxels.py" hole.stl 2 40,8,8 0:40,4:5,2:3
expect_status 0 new --from hole.stl hole --unit mm
expect_words out.txt "no cavity found"
expect_no_words hole/robot.yaml "kind: chamber"
python3 "$here/voxels.py" bore.stl 2 40,8,8 0:40,2:6,2:6
expect_status 0 new --from bore.stl bore --unit mm
expect_no_words bore/robot.yaml "kind: chamber"
# a small part in a file without a unit: inches are suspected
python3 "$here/voxels.py" inches.stl 0.1 40,8,8
expect_status 0 new --from inches.stl inches
expect_words err.txt "in inches it is 101.6 mm" "--unit in"

# without arguments, on a terminal, it asks: a design with other dimensions (one answer out of range, asked again) ...
status=0
python3 "$here/ask_new.py" "$pliant" 1 beam y 9999 80 "" "" asked >out.txt 2>err.txt || status=$?
if [ "$status" -eq 0 ]; then pass "answers make a robot"; else fail "exit $status after the questions"; fi
expect_words out.txt "expected between" "pliant new beam --param length=80" "wrote"
expect_words asked/robot.yaml "length: 80"
# ... or a part, its unit and its material
expect_status 0 mesh asked --size 40 --order 1 --out block.stl
python3 "$here/ask_new.py" "$pliant" 2 nowhere.stl block.stl mm ecoflex_00_50 fromask >out.txt 2>err.txt || fail "no answer for a part"
expect_words out.txt "there is no such file" "--material ecoflex_00_50"
expect_words fromask/robot.yaml "{use: ecoflex_00_50}"
# no terminal, no questions
expect_status 2 new
expect_words err.txt "expected a design and a folder"
expect_status 2 new --from block.stl other --unit mm --material ecoflex_0050
expect_words err.txt "did you mean 'ecoflex_00_50'"

# a surface with defects: refused with the advice, repaired with a report, and then without defects
python3 - <<'END'
import math, random, struct
def ring(r, z, n): return [(r * math.cos(2 * math.pi * k / n), r * math.sin(2 * math.pi * k / n), z) for k in range(n)]
n, rings = 24, [ring(8, 4 * k, 24) for k in range(11)]
out = []
for low, high in zip(rings, rings[1:]):
    for k in range(n):
        a, b, c, d = low[k], low[(k + 1) % n], high[(k + 1) % n], high[k]
        out += [(a, b, c), (a, c, d)]
for k in range(n):
    out += [((0, 0, 0), rings[0][(k + 1) % n], rings[0][k]), ((0, 0, 40), rings[-1][k], rings[-1][(k + 1) % n])]
del out[200], out[77]
random.seed(1)
out = [t if random.random() > 0.3 else t[::-1] for t in out] + out[30:33]
with open("scan.stl", "wb") as file:
    file.write(b"x" * 80 + struct.pack("<I", len(out)))
    for t in out:
        file.write(struct.pack("<12fH", 0, 0, 0, *(x for p in t for x in p), 0))
END
expect_status 2 new --from scan.stl broken
expect_words err.txt "duplicate" "--repair"
expect_status 0 new --from scan.stl scan --repair --holes 6mm
expect_words out.txt "3 duplicate and 0 degenerate removed" "2 holes closed"
expect_file scan/scan-repaired.stl
expect_status 0 doctor scan --size 6
expect_words out.txt "no defects"
# a repaired surface that is there is not overwritten, and stays as it is when anything fails
mkdir kept
echo "mine" >kept/scan-repaired.stl
cp meshed/part.vtu scan.vtu
expect_status 2 new --from scan.stl kept --repair --holes 6mm
expect_words err.txt "scan-repaired.stl exists and is not overwritten" "--force"
expect_status 2 new --from scan.stl kept --repair --holes 6kPa --force
expect_status 2 new --from scan.stl kept --repair --unit parsec --force
expect_status 2 new --from scan.vtu kept --repair --force
expect_status 2 new --from scan.stl kept --repair --holes 0.01mm --force
mkdir kept/robot.yaml
expect_status 3 new --from scan.stl kept --repair --holes 6mm --force
rmdir kept/robot.yaml
expect_words kept/scan-repaired.stl "mine"
expect_near "files left" "$(ls -A kept | wc -l)" 1 0
expect_status 0 new --from scan.stl kept --repair --holes 6mm --force
expect_no_words kept/scan-repaired.stl "mine"
expect_words kept/robot.yaml "scan-repaired.stl"
expect_no_words kept/robot.yaml ".repair-"
expect_near "files made" "$(ls -A kept | wc -l)" 2 0
# inches: the file that is written loads
expect_status 0 new --from scan.stl scan_inches --repair --holes 160mm --unit in
expect_words out.txt "1016 mm"
# a size of more than two digits is said in full
expect_status 2 new --from scan.stl wide --repair --unit in
expect_words out.txt '`--holes 1'
expect_no_words out.txt "e+0"
expect_status 0 info scan_inches --size 150mm --order 1
expect_status 2 new --from scan.stl other --holes 6mm
expect_words err.txt "--holes is for --repair"
finish
