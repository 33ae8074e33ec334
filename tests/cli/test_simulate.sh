#!/usr/bin/env bash
# simulate and modes: motions from an equilibrium, the undeformed body and a saved state; ramps and tables; what
# is refused.
. "$(dirname "$0")/lib.sh"

expect_status 0 new beam beam
coarse="--size 30" # words and laws are tested here, not accuracy

# free vibrations: the frequency of modes is that of a release
expect_status 0 modes beam $coarse --count 3 --json m.json --out mode.glb
expect_words out.txt "frequency [Hz]"
expect_file mode.glb
expect_near "modes" "$(grep -c frequency_hz m.json)" 3 0
expect_status 2 modes beam $coarse --count 50
expect_words err.txt "--count"

# let go under gravity: columns with units, energy in every row, at least as much lost as gained
expect_status 0 simulate beam $coarse --until 0.2s --start undeformed --every 10ms --out fall.csv --out fall.pvd --save-state fall.state
expect_words fall.csv "t [s]"
expect_words fall.csv "tip.z [mm]"
expect_words fall.csv "tip.vz [mm/s]"
expect_words fall.csv "imbalance [mJ]"
expect_near "rows" "$(wc -l <fall.csv)" 22 0
expect_words out.txt "energy [mJ]"
for f in fall.pvd fall_0000.vtu fall_0020.vtu fall.state; do expect_file "$f"; done
expect_near "gains no energy" "$(tail -n +2 fall.csv | awk -F, '$NF > 1e-3 {n++} END {print n + 0}')" 0 0

# a hand that lets go slowly: the tip falls less far
expect_status 0 simulate beam $coarse --until 0.2s --start undeformed --load-ramp 200ms --every 10ms --out slow.csv
lowest() { tail -n +2 "$1" | cut -d, -f5 | sort -g | head -1; }
expect_near "falls less far" "$(awk -v a="$(lowest slow.csv)" -v b="$(lowest fall.csv)" 'BEGIN {print (a > 0.8 * b)}')" 1 0

# the end is a row, also where it is no multiple of --every; a name has one value
expect_status 0 simulate beam $coarse --until 20ms --every 15ms --out end.csv
expect_near "times of rows" "$(awk -F, 'NR > 1 {s += $1} END {print s}' end.csv)" 0.035 1e-9
expect_status 2 simulate beam $coarse --until 20ms --set tendon=1mm --set tendon=2mm
expect_words err.txt "set twice"
expect_status 2 simulate beam $coarse --until 0.2s --load-ramp 20ms
expect_words err.txt "--start undeformed"

# goes on from the state, to the same rows as in one run
expect_status 0 simulate beam $coarse --until 0.3s --start fall.state --every 10ms --out on.csv
expect_status 0 simulate beam $coarse --until 0.3s --start undeformed --every 10ms --out whole.csv
expect_near "tip at the end" "$(tail -1 on.csv | cut -d, -f5)" "$(tail -1 whole.csv | cut -d, -f5)" 0.05

# a ball that falls beside nothing: its place and the force of contact are columns
cat >ball.yaml <<'END'
pliant: 1
name: drop
mesh: {design: {kind: beam, length: 20, width: 12, height: 8}, size: 8, order: 2}
materials: {soft: {model: neo_hookean, c10: 0.05 MPa, poisson: 0.4, density: 1070 kg/m^3, mullins: {r: 1.5, m: 1 kPa}}}
regions: {body: soft}
fixed: [{surface: bottom}]
loads: {gravity: [0, 0, -9.81 m/s^2]}
contact: {obstacles: [{name: ball, sphere: {centre: [10, 0, 15], radius: 6}, free: true, mass: 5 g}]}
END
expect_status 0 simulate ball.yaml --until 20ms --start undeformed --every 10ms --out ball.csv
column() { head -1 "$1" | tr , '\n' | grep -n -F "$2" | head -1 | cut -d: -f1; }
expect_near "the ball falls" "$(tail -1 ball.csv | cut -d, -f"$(column ball.csv 'ball.position_z [mm]')")" 13.038 1e-5
expect_near "nothing touches it" "$(tail -1 ball.csv | cut -d, -f"$(column ball.csv 'ball.normal_force [N]')")" 0 0

# behind the socket of plant: the same motion as from a table, a command at a time
for k in 1 2 3 4 5; do echo "{\"seq\": $k, \"t\": 0, \"set\": {\"tendon\": 2}}"; done >commands.jsonl
printf 't [ms],tendon [mm]\n0,0\n20,2\n100,2\n' >one.csv
expect_status 0 simulate beam $coarse --until 0.1s --table one.csv --every 20ms --out one_run.csv
"$pliant" plant beam $coarse --stdio --motion --period 20ms <commands.jsonl >plant.jsonl 2>err.txt
expect_near "readings of the plant" "$(wc -l <plant.jsonl)" 6 0
for k in 2 6; do
    expect_near "tip of the plant" "$(sed -n "${k}p" plant.jsonl | sed 's/.*"tip": *\[[^,]*,[^,]*,\([^]]*\)\].*/\1/')" "$(sed -n "$((k + 1))p" one_run.csv | cut -d, -f5)" 0.02
done

# a state of a motion is a start for statics too
expect_status 0 fk beam $coarse --state fall.state --save-state rest.state --no-mesh-error

# at rest in its equilibrium nothing moves
expect_status 0 simulate beam $coarse --until 0.1s --every 50ms --out rest.csv
expect_near "stays" "$(tail -1 rest.csv | cut -d, -f5)" "$(sed -n 2p rest.csv | cut -d, -f5)" 1e-3

# a ramp and the same ramp as a table
printf 't [ms],tendon [mm]\n0,0\n50,4\n200,4\n' >c.csv
expect_status 0 simulate beam $coarse --until 0.2s --set tendon=4mm --ramp 50ms --every 20ms --out ramp.csv
expect_status 0 simulate beam $coarse --until 0.2s --table c.csv --every 20ms --json table.json
expect_words table.json '"outcome": "done"'
expect_words table.json '"tendon [mm]"'
expect_status 0 simulate beam $coarse --until 0.2s --table c.csv --every 20ms --out table.csv
expect_near "tip of the table" "$(tail -1 table.csv | cut -d, -f5)" "$(tail -1 ramp.csv | cut -d, -f5)" 0.05

# a sine, an air line, a push: values at given times, and what is refused
expect_status 0 simulate beam $coarse --until 0.1s --sine tendon=2mm,1mm,5Hz --every 50ms --out sine.csv
expect_status 2 simulate beam $coarse --until 0.1s --sine tendon=2mm,1mm,5Hz --set tendon=3mm
expect_words err.txt "'tendon' is in --set"
expect_status 2 simulate beam $coarse --until 0.1s --sine tendon=2mm,1mm,5Hz --table c.csv
expect_words err.txt "'tendon' is in --table"
expect_near "crest of the sine" "$(sed -n 3p sine.csv | cut -d, -f2)" 3 1e-6
expect_status 0 simulate beam $coarse --until 0.1s --set tendon=4mm --fill tendon=50ms --every 50ms --out fill.csv
expect_near "filled to 1 - 1/e" "$(sed -n 3p fill.csv | cut -d, -f2)" 2.528482 1e-5
expect_status 0 simulate beam $coarse --until 0.1s --push tip=0,0,-2@10ms,20ms --every 20ms --out push.csv
expect_near "pushed down" "$(awk -F, 'NR == 4 {print ($5 < -2.2)}' push.csv)" 1 0
expect_status 2 simulate beam $coarse --until 0.1s --push tip=0,0,-2
expect_words err.txt "tip=0,0,-2@50ms,80ms"

# a cable that rubs: at rest where statics with its memory of pulling and releasing is, not where pulling alone leads; its work is not counted
cat >rubs.yaml <<'END'
pliant: 1
name: rubs
materials: {silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49, density: 1070 kg/m^3}}
mesh: {design: {kind: beam, length: 80, width: 10, height: 10}, size: 20, order: 2}
regions: {body: silicone}
fixed: [{surface: base}]
markers: {tip: {surface: tip}}
actuators:
  - {name: pull, kind: cable, drive: tension, friction: 0.3, radius: 3, through: [[0, 0, 3], [20, 0, 3], [40, 0, 3], [60, 0, 3], [80, 0, 3]]}
END
printf 't [s],pull [N]\n0,0\n0.2,1.2\n0.4,1.2\n0.6,0.6\n1,0.6\n' >rub.csv
printf 'pull [N]\n1.2\n0.6\n' >rubbed.csv
expect_status 0 simulate rubs.yaml --until 1s --table rub.csv --damping 30 --every 0.5s --out rubs.csv
expect_status 0 sweep rubs.yaml --table rubbed.csv --out still.csv
printf 'pull [N]\n0.6\n' >once.csv
expect_status 0 sweep rubs.yaml --table once.csv --out pulled.csv
z_of() { awk -F, -v row="$2" 'NR == 1 {for (i = 1; i <= NF; ++i) if ($i == "tip.z [mm]") c = i} NR == row {print $c}' "$1"; }
still=$(z_of still.csv 3)
expect_near "cable that rubs" "$(awk -v a="$(tail -1 rubs.csv | cut -d, -f5)" -v b="$still" 'BEGIN {print (a - b < 0.01 * b && b - a < 0.01 * b)}')" 1 0
expect_near "remembers" "$(awk -v a="$still" -v b="$(z_of pulled.csv 2)" 'BEGIN {print (a > 1.02 * b)}')" 1 0
expect_near "its work is not counted" "$(tail -1 rubs.csv | awk -F, '{print ($NF == "")}')" 1 0

# supports that shake and are carried, and a fluid: the tip lags behind an acceleration along y, drag takes energy
expect_status 0 simulate beam $coarse --until 0.1s --carry y=20mm@0s,0.2s --every 20ms --out carried.csv
expect_near "lags behind" "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; ++i) if ($i == "tip.y [mm]") c = i} NR == 3 {print ($c < -0.1)}' carried.csv)" 1 0
expect_status 0 simulate beam $coarse --until 0.1s --start undeformed --shake z=2mm,5Hz --drag tip=50000kg/m^3 --every 20ms --out wet.csv
expect_near "drag takes energy" "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; ++i) if ($i == "damped [mJ]") c = i} END {print ($c > 0.01)}' wet.csv)" 1 0
expect_status 2 simulate beam $coarse --until 0.1s --set tendon=4mm --line tendon=0.05,20mL
expect_words err.txt "not a pressure"
expect_status 2 simulate beam $coarse --until 0.1s --shake 2mm,5Hz
expect_words err.txt "an axis first"
for shake in z=2mm,5Hz,10Hz z=2mm,5Hzzz "z=2mm,5Hz 10"; do
    expect_status 2 simulate beam $coarse --until 0.1s --shake "$shake"
    expect_words err.txt "AXIS=AMPLITUDE,FREQUENCY"
done
expect_status 2 simulate beam $coarse --until 0.1s --carry y=20mm
expect_words err.txt "AXIS=DISTANCE@FROM,TO"
expect_status 2 simulate beam $coarse --until 0.1s --drag skin=1000kg/m^3
expect_words err.txt "no surface 'skin'"
expect_status 2 simulate beam $coarse --until 0.1s --sine tendon=2mm,1mm
expect_words err.txt "FREQUENCY"
for sine in tendon=2mm,1mm,2Hz,3Hz tendon=2mm,1mm,2Hzzz; do
    expect_status 2 simulate beam $coarse --until 0.1s --sine $sine
done
expect_status 2 simulate beam $coarse --until 0.1s --carry "y=20mm@0s,0.2s 3"

# an arch beyond its limit load: fk ends there, and lands with --after-snap
mkdir arch
(cd arch && python3 -) <<'PY'
import math, itertools
nx, ny, nz = 24, 2, 2
def v(i, j, k): return i + (nx + 1) * (j + (ny + 1) * k)
pts = []
for k in range(nz + 1):
    for j in range(ny + 1):
        for i in range(nx + 1):
            x = 60 * i / nx
            pts.append((x, 8 * j / ny, 3 * k / nz + 8 * math.sin(math.pi * x / 60)))
tets = []
for i, j, k in itertools.product(range(nx), range(ny), range(nz)):
    for order in itertools.permutations(range(3)):
        at = [i, j, k]
        t = [v(*at)]
        for a in order:
            at[a] += 1
            t.append(v(*at))
        p = [pts[q] for q in t]
        d = [[p[r][c] - p[0][c] for c in range(3)] for r in (1, 2, 3)]
        det = (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0])
               + d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]))
        tets.append(t if det > 0 else [t[0], t[2], t[1], t[3]])
with open("arch.vtk", "w") as f:
    f.write("# vtk DataFile Version 3.0\narch\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n" % len(pts))
    for p in pts: f.write("%.12g %.12g %.12g\n" % p)
    f.write("CELLS %d %d\n" % (len(tets), 5 * len(tets)))
    for t in tets: f.write("4 %d %d %d %d\n" % tuple(t))
    f.write("CELL_TYPES %d\n" % len(tets) + "10\n" * len(tets))
PY
cat >arch/robot.yaml <<'YAML'
pliant: 1
name: arch
mesh: {file: arch.vtk, unit: mm, order: 2}
surfaces:
  left: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}
  right: {plane: {point: [60, 0, 0], normal: [1, 0, 0]}}
materials:
  rubber: {model: neo_hookean, young: 0.264 MPa, poisson: 0.49, density: 1070 kg/m^3}
regions: {body: rubber}
fixed: [{surface: left}, {surface: right}]
actuators:
  - {name: pull, kind: cable, through: [[30, 4, 11], {at: [30, 4, -3000], space: true}], radius: 3, drive: tension, range: [0, 0.1]}
markers:
  crown: {at: [30, 4, 11]}
YAML
# statics lands beyond the snap by itself, or ends at the limit point; the motion comes to rest at the same shape
expect_status 0 fk arch --set pull=0.0393N --no-mesh-error
expect_words out.txt "the body snapped at"
expect_near "crown, landed by statics" "$(awk '$1 == "crown" {print $7}' out.txt)" -13.253 0.02
expect_status 0 fk arch --set pull=0.0393N --no-mesh-error --follow-arc arc.csv --json landed.json
expect_words out.txt "equilibria by arc length"
top=$(awk -F, 'NR > 1 && $3 > 0 {exit} NR > 1 {m = $1 > m ? $1 : m} END {print m}' arc.csv)
expect_near "highest load of the path over the limit load" \
    "$(python3 -c "import json; print($top / json.load(open('landed.json'))['limit_load'])")" 0.99 0.011
expect_status 0 fk arch --set pull=0.0393N --no-mesh-error --follow-arc arc.png
expect_status 2 fk arch --set pull=0.0393N --follow-arc arc.xyz
expect_words err.txt "expected a name that ends in .csv, .png or .svg"
expect_status 1 fk arch --set pull=0.0393N --no-mesh-error --stop-at-limit
expect_words err.txt "limit point"
expect_status 0 fk arch --set pull=0.0393N --no-mesh-error --after-snap --json snap.json
expect_status 0 fk arch --set pull=0.0393N --no-mesh-error --after-snap
expect_words out.txt "snapped at"
expect_near "snap load in percent" "$(sed -n 's/^snapped at \([0-9.]*\) %.*/\1/p' out.txt)" "$(sed -n 's/.*"limit_load": \([0-9.]*\).*/\1/p' landed.json | awk '{print 100 * $1}')" 0.02
expect_near "crown" "$(awk '$1 == "crown" {print $7}' out.txt)" -13.253 0.02

# what is wrong is named
expect_status 2 simulate beam $coarse
expect_words err.txt "--until"
expect_status 2 simulate beam $coarse --until 1s --mass nose=5g
expect_words err.txt "nose"
expect_status 3 simulate beam $coarse --until 1s --start nowhere.state
expect_status 2 simulate beam $coarse --until 1s --table c.csv --set tendon=1mm
expect_words err.txt "--set and --ramp"
printf 't,tendon [mm]\n1,0\n0,4\n' >bad.csv
expect_status 2 simulate beam $coarse --until 1s --table bad.csv
expect_words err.txt "bad.csv:3"
sed 's/density: [^,}]*/density: 0 kg\/m^3/' beam/robot.yaml >beam/weightless.yaml
expect_status 2 simulate beam/weightless.yaml $coarse --until 1s
expect_words err.txt "density"
finish
