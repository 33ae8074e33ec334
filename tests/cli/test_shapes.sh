#!/usr/bin/env bash
# shapes: as many stable shapes as theory has, at the loads at which it has them. A straight beam has one; a column has one
# below Euler's load and two, mirrored, above; a strip between clamps likewise, by its shortening; a shallow arch and a
# dome have two between their limit loads, and the arch one outside.
. "$(dirname "$0")/lib.sh"

python3 - <<'PY'
import math, os

def write(name, text):
    os.makedirs(name, exist_ok=True)
    open(name + "/robot.yaml", "w").write(text)

def beam(name, length, width, height, rest, material="{model: linear, young: 1 MPa, poisson: 0.3}"):
    write(name, "pliant: 1\nname: %s\nmesh: {design: {kind: beam, length: %g, width: %g, height: %g}, size: %g}\n"
          "materials: {m: %s}\nregions: {body: m}\n%s" % (name, length, width, height, 1.5 * height, material, rest))

TIP = "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
# of a column that is held at its base: P_E = pi^2 E I / 4 L^2
euler = math.pi ** 2 * (7 * 4 ** 3 / 12) / (4 * 70 ** 2)
beam("bent", 50, 8, 5, TIP + "loads: {forces: [{marker: tip, force: [0, 0, -0.004]}]}\n")
for name, times in (("column_below", 0.8), ("column_above", 1.25)):
    beam(name, 70, 7, 4, TIP + "loads: {forces: [{marker: tip, force: [%.9g, 0, 0]}]}\n" % (-times * euler))
# between clamps: 4 pi^2 E I / L^2 over the stiffness E A / L
beam("strip", 55, 5, 2, "fixed: [{surface: base}, {surface: tip, move: [%.9g, 0, 0]}]\nmarkers: {middle: {at: [27.5, 0, 0]}}\n"
     % (-2.5 * 4 * math.pi ** 2 * (2 ** 2 / 12) / 55))

# a shallow arch, clamped, under a force at its crown; a dome, clamped at its sides, under one at its pole
def mesh(name, points, cells):
    order = [(a, b, c) for a in range(3) for b in range(3) for c in range(3) if len({a, b, c}) == 3]
    number, list_, tets = {}, [], []
    for cell in cells:
        for steps in order:
            corner, tet = list(cell), [tuple(cell)]
            for axis in steps:
                corner[axis] += 1
                tet.append(tuple(corner))
            if steps in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
                tet[2], tet[3] = tet[3], tet[2]
            for v in tet:
                if v not in number:
                    number[v] = len(list_) + 1
                    list_.append(points(*v))
            tets.append([number[v] for v in tet])
    os.makedirs(name, exist_ok=True)
    with open(name + "/part.inp", "w") as f:
        f.write("*NODE\n" + "".join("%d, %.12g, %.12g, %.12g\n" % (n, *p) for n, p in enumerate(list_, 1)))
        f.write("*ELEMENT, TYPE=C3D4, ELSET=body\n" + "".join("%d, %d, %d, %d, %d\n" % (e, *t) for e, t in enumerate(tets, 1)))

span, rise, thick, n = 70, 9, 3, 16
def arch(i, j, k):
    s = i / n
    return (span * s, 9 * j, thick * k / 2 + 4 * rise * s * (1 - s))
mesh("arch", arch, [(i, 0, k) for i in range(n) for k in range(2)])
PART = "pliant: 1\nname: arch\nmesh: {file: part.inp, unit: mm}\nmaterials: {m: {model: neo_hookean, c10: 0.05 MPa, poisson: 0.45}}\nregions: {body: m}\n"
ARCH = PART + ("surfaces: {left: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}, right: {plane: {point: [%g, 0, 0], normal: [1, 0, 0]}}}\n"
               "fixed: [{surface: left}, {surface: right}]\nmarkers: {crown: {at: [%g, 4.5, %g]}}\n"
               "loads: {forces: [{marker: crown, force: [0, 0, -%%.9g]}]}\n" % (span, span / 2, rise + thick / 2))
write("arch", ARCH % 0.018)
open("arch.txt", "w").write(ARCH)

# a parabolic arch far beyond its limit load: an increment may jump over the snap and call it a step
mesh("parabola", lambda i, j, k: (3 * i, 10 * j, 1.5 * k + 32 * i / 20 * (1 - i / 20)), [(i, 0, k) for i in range(20) for k in range(2)])
for name, force in (("p16", 0.16), ("p18", 0.18), ("p30", 0.30)):
    write(name, PART.replace("part.inp", "../parabola/part.inp") +
          "surfaces: {left: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}, right: {plane: {point: [60, 0, 0], normal: [1, 0, 0]}}}\n"
          "fixed: [{surface: left}, {surface: right}]\nmarkers: {crown: {at: [30, 5, 9.5]}}\n"
          "loads: {forces: [{marker: crown, force: [0, 0, %g]}]}\n" % -force)

def dome(i, j, k):
    u, v = i / 5 - 1, j / 5 - 1
    return (20 + 20 * u, 20 + 20 * v, k + 10 * (1 - u * u) * (1 - v * v))
mesh("dome", dome, [(i, j, 0) for i in range(10) for j in range(10)])
side = lambda n, at, normal: "%s: {plane: {point: %s, normal: %s}}" % (n, at, normal)
write("dome", PART + "surfaces: {%s}\nfixed: [{surface: a}, {surface: b}, {surface: c}, {surface: d}]\n"
      "markers: {pole: {at: [20, 20, 10.5], radius: 5}}\nloads: {forces: [{marker: pole, force: [0, 0, -0.056]}]}\n"
      % ", ".join((side("a", [0, 0, 0], [1, 0, 0]), side("b", [40, 0, 0], [1, 0, 0]), side("c", [0, 0, 0], [0, 1, 0]),
                   side("d", [0, 40, 0], [0, 1, 0]))))
PY

# number of shapes, and the value of a key of one
count() { python3 -c "import json; print(len(json.load(open('$1'))['shapes']))"; }
value() { python3 -c "import json; s = json.load(open('$1'))['shapes'][$2]; print(s$3)"; }

expect_status 0 shapes bent --modes 2 --json bent.json
expect_near "a straight beam has one shape" "$(count bent.json)" 1 0
expect_words out.txt "1 stable shape at" "beyond 2"

expect_status 0 shapes column_below --modes 1 --json below.json
expect_near "a column below Euler's load has one shape" "$(count below.json)" 1 0
expect_near "which ends at Euler's load" "$(python3 -c "print(0.8 * $(value below.json 0 "['to']['load']"))")" 1 0.01
expect_words below.json '"end": "bifurcation"'
expect_status 0 shapes column_above --json above.json --out c.png --save-state c.state
expect_near "a column above Euler's load has two" "$(count above.json)" 2 0
expect_near "which begin at Euler's load" "$(python3 -c "print(1.25 * $(value above.json 1 "['from']['load']"))")" 1 0.01
expect_words out.txt "1 mirrored in z" "wrote c-2.png"
for f in c-1.png c-2.png c-1.state c-2.state; do expect_file "$f"; done
expect_status 0 fk column_above --state c-2.state --save-state again.state --json fk.json --no-mesh-error
expect_near "a state is a start of fk" \
    "$(python3 -c "import json; print(json.load(open('fk.json'))['markers']['tip']['position'][2])")" \
    "$(value above.json 1 "['record']['markers']['tip']['position'][2]")" 1e-3

expect_status 0 shapes strip --json strip.json
expect_near "a strip between clamps has two shapes" "$(count strip.json)" 2 0
expect_near "which begin at Euler's shortening" "$(python3 -c "print(2.5 * $(value strip.json 0 "['from']['load']"))")" 1 0.01
expect_words out.txt "1 mirrored in z"

# the arch: two shapes between its limit loads, one outside, 2 % from them
expect_status 0 shapes arch --json arch.json
expect_near "an arch between its limit loads has two shapes" "$(count arch.json)" 2 0
python3 - <<'PY'
import json, os
s = json.load(open("arch.json"))["shapes"]
low = max(x["from"]["load"] for x in s)
high = min(x["to"]["load"] for x in s)
text = open("arch.txt").read()
for name, times in (("a", 0.98 * low), ("b", 1.02 * low), ("c", 0.98 * high), ("d", 1.02 * high)):
    os.makedirs("arch_" + name, exist_ok=True)
    open("arch_%s/robot.yaml" % name, "w").write(text.replace("part.inp", "../arch/part.inp") % (0.018 * times))
print("limit loads %.4f and %.4f mN" % (18 * low, 18 * high))
PY
for pair in a:1 b:2 c:2 d:1; do
    expect_status 0 shapes arch_${pair%:*} --modes 1 --json at.json
    expect_near "arch_${pair%:*} has ${pair#*:}" "$(count at.json)" "${pair#*:}" 0
done

# the dome: the loads where its shapes end enclose the one given
expect_status 0 shapes dome --modes 1 --json dome.json
expect_near "a dome between its limit loads has two shapes" "$(count dome.json)" 2 0
expect_near "one of which began below this load and one ends above" "$(python3 -c "
import json
s = json.load(open('dome.json'))['shapes']
print(int(max(x['from']['load'] for x in s) < 1 < min(x['to']['load'] for x in s) and
          sorted(x['from']['end'] + ' ' + x['to']['end'] for x in s) == ['continues limit', 'limit continues']))")" 1 0

# a parabolic arch snaps at the same load, however far beyond it the path leads, and lies lower the more it carries
for p in p16 p18 p30; do
    expect_status 0 fk $p --no-mesh-error --json $p.json
done
expect_near "limit loads differ by, in 1e-3" "$(python3 -c "
import json
load = [f * json.load(open(n + '.json'))['limit_load'] for n, f in (('p16', 0.16), ('p18', 0.18), ('p30', 0.3))]
print(1e3 * (max(load) / min(load) - 1))")" 0 1
expect_near "and its crown is inverted, lower and lower" "$(python3 -c "
import json
z = [json.load(open(n + '.json'))['markers']['crown']['position'][2] for n in ('p16', 'p18', 'p30')]
print(int(0 > z[0] > z[1] > z[2]))")" 1 0

# the mode of a critical load: drawn, and in the record. A column moves across, an arch down at its crown;
# without a critical load nothing is drawn
expect_status 0 fk column_above --no-mesh-error --out mode.png --out mode.csv --json mode.json
expect_file mode.png
expect_words out.txt "wrote mode.png: the mode at" "where the body buckles"
expect_near "the tip moves across in the mode" "$(python3 -c "
import json
c = json.load(open('mode.json'))['critical']
print(abs(c['markers']['tip'][2]) if c['kind'] == 'bifurcation' else c['kind'])")" 1 0.01
expect_near "at Euler's load" "$(python3 -c "import json; print(1.25 * json.load(open('mode.json'))['critical']['load'])")" 1 0.01
expect_status 0 fk arch_d --no-mesh-error --json limit.json
expect_near "the crown of the arch moves down in its mode" "$(python3 -c "
import json
c = json.load(open('limit.json'))['critical']
print(-c['markers']['crown'][2] if c['kind'] == 'limit' else c['kind'])")" 1 0.1
rm -f mode.png
expect_status 0 fk column_below --no-mesh-error --out mode.png
expect_words out.txt "no critical load was found"
[ ! -e mode.png ] && pass "and nothing is written" || fail "mode.png was written"

# what cannot be done is said
expect_status 2 shapes bent --up-to 0.5
expect_status 2 shapes bent --modes 99
expect_status 2 shapes bent --set air=3kPa
expect_status 2 shapes bent --out shape.pvd

# the solver block of the robot file counts here too: the path by arc length passes the shape of fk, and shapes finds it
mkdir block
{ sed 's/poisson: 0.3/poisson: 0.499/' bent/robot.yaml; echo 'solver: {formulation: displacement}'; } >block/robot.yaml
expect_status 0 fk block --no-mesh-error --follow-arc arc.csv --json fk.json
expect_status 0 shapes block --no-branches --modes 0 --json shapes.json
expect_near "the path passes the solved shape" "$(python3 -c "
import csv, json
tip = json.load(open('fk.json'))['markers']['tip']['position']
a, b = [[float(x) for x in row] for row in list(csv.reader(open('arc.csv')))[-2:]]
t = (1 - a[0]) / (b[0] - a[0])
print(max(abs(a[k] + t * (b[k] - a[k]) - tip[k - 3]) for k in (3, 4, 5)) if 0 <= t <= 1 else 'load 1 is not on it')")" 0 1e-4
expect_near "and so does the only shape" "$(python3 -c "
import json
tip = json.load(open('fk.json'))['markers']['tip']['position']
print(max(abs(a - b) for a, b in zip(json.load(open('shapes.json'))['shapes'][0]['record']['markers']['tip']['position'], tip)))")" 0 1e-4

# tables have as many columns as they are asked for
expect_status 0 jacobian bent $(printf -- '--by loads %.0s' {1..40}) --out wide.csv
expect_near "columns shown" "$(grep -o 'of gravity.z' out.txt | wc -l)" 40 0
expect_near "columns written" "$(head -1 wide.csv | grep -o 'of gravity.z' | wc -l)" 40 0
expect_near "numbers in a row of the table" "$(awk '$1 == "tip.z" { print NF - 2; exit }' out.txt)" 240 0
ln -s bent/robot.yaml taken.csv
expect_status 2 fk bent --follow-arc taken.csv
expect_words err.txt "--follow-arc taken.csv" "--force"
finish
