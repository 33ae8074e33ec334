#!/usr/bin/env bash
# fk: what it says, writes and refuses; state files; runs that are interrupted.
. "$(dirname "$0")/lib.sh"

# a beam of known answer would be a test of statics: here the words, files and exit codes count
expect_status 0 new bending_finger finger
coarse="--size 9 --order 1" # fast, and far too stiff: words and laws are tested here, not accuracy
expect_status 0 fk finger $coarse --set air=5kPa --json fk.json
expect_words out.txt "bending-finger at air = 5 kPa: solved" "tip" "chamber" "5 kPa" "support" "base" "factorizations"
expect_keys fk.json format pliant robot warnings converged outcome message iterations factorizations solves residual \
    step seconds energy vertices elements commands actuators markers sensors reactions contacts min_J max_stretch value \
    unit kind drive volume ratio pressure_kpa position displacement rotation force moment
expect_words fk.json '"converged": true' '"outcome": "solved"' '"unit": "kPa"'
expect_near "pressure reported" "$(json_number fk.json pressure_kpa)" 5 1e-9
expect_near "command reported" "$(json_number fk.json value)" 5 1e-9
expect_status 0 fk finger $coarse --set air=0.05bar --json -
expect_no_words out.txt "bending-finger at"
expect_near "bar is understood" "$(json_number out.txt pressure_kpa)" 5 1e-9

expect_status 0 fk finger $coarse --set air=5kPa --out s.vtu --out s.pvd --out s.stl --out s.csv --out s.png --color von_mises
for f in s.vtu s.pvd s.stl s.csv s.png; do expect_file "$f"; done
expect_words s.vtu "displacement" "von_mises"
expect_words s.csv "air [kPa]" "tip.x [mm]" "converged"
expect_status 2 fk finger $coarse --set air=5kPa --out s.png --color rainbow
expect_words err.txt "--color takes"
expect_status 0 fk finger $coarse -v --set air=2kPa --threads 1
if [ -s err.txt ]; then pass "-v logs"; else fail "-v logs nothing"; fi

# without contact the modules of a strongly bent finger pass through each other: solved, but said so
expect_words fk.json '"crossings"' '"pairs": 0'
expect_no_words fk.json "penetrates itself"
expect_status 0 fk finger $coarse --set air=60kPa --json crossing.json
expect_words out.txt "the body penetrates itself" "contact is not computed"
expect_no_words crossing.json '"pairs": 0'
expect_words crossing.json "the body penetrates itself"

# a mesh far too coarse is said to be so, in words and in numbers: a short finger moves
# 3.78 mm, 2.05 mm away from where it is on a fine mesh, which moves 5.82 mm
expect_status 0 new bending_finger short --param modules=3 --param length=40
expect_status 0 fk short --size 1000 --set air=20kPa --json coarse.json
expect_words out.txt "the mesh is coarse: the motion may be wrong by about" "mesh error about"
expect_words coarse.json "the mesh is coarse"
awk -v e="$(json_number coarse.json mesh_error)" 'BEGIN { exit !(e > 0.18 && e <= 0.5) }' && pass "mesh_error of a coarse mesh (true: 0.35)" ||
    fail "mesh_error of a coarse mesh is $(json_number coarse.json mesh_error)"
expect_status 0 fk short --size 1000 --set air=20kPa --no-mesh-error --json coarse.json
expect_words coarse.json '"mesh_error": null'
expect_no_words out.txt "the mesh is coarse" "mesh error"

# wrong commands
expect_status 2 fk finger $coarse --set air=5
expect_words err.txt "write 5 kPa"
expect_status 2 fk finger $coarse --set air=5mm
expect_status 2 fk finger $coarse --set air
expect_words err.txt "expected NAME=VALUE"
expect_status 2 fk finger $coarse --set ari=5kPa
expect_words err.txt "no command 'ari'" "did you mean 'air'"
expect_status 2 fk finger $coarse --set air=5kPa --set air=6kPa
expect_words err.txt "set twice"
expect_status 2 fk finger $coarse --set air=900kPa
expect_words err.txt "outside its range of 0 to 60 kPa" "--beyond-range"
expect_status 0 fk finger $coarse --set air=-1kPa --beyond-range
expect_status 2 fk finger $coarse --set air=5kPa --method magic
expect_status 3 fk finger $coarse --set air=5kPa --out no_such_folder/x.vtu
expect_status 2 fk finger $coarse --set air=5kPa --out finger/robot.vtk

# states: go on from one, leave one, refuse another robot's
expect_status 0 fk finger $coarse --set air=5kPa --save-state five.state
expect_file five.state
expect_status 0 fk finger $coarse --set air=6kPa --state five.state --save-state six.state --json warm.json
expect_status 0 fk finger $coarse --set air=6kPa --json cold.json
expect_near "energy from a state and from rest" "$(json_number warm.json energy)" "$(json_number cold.json energy)" 1e-4
expect_status 0 fk finger $coarse --set air=5kPa --state fresh.state
expect_words err.txt "does not exist yet"
expect_file fresh.state
expect_status 2 fk finger --size 12 --order 1 --set air=5kPa --state five.state
echo "no state" >bad.state
expect_status 2 fk finger $coarse --set air=5kPa --state bad.state

# not converged: status 1, and what was reached is reported
expect_status 1 fk finger $coarse --set air=50kPa --time-limit 0.001s --json late.json
expect_words err.txt "time limit"
# a slow machine may be late before the solve begins: nothing is written then
[ ! -e late.json ] || expect_words late.json '"converged": false'

# interrupted: status 1, nothing half-written
expect_status 0 mesh finger --size 3
"$pliant" fk finger --size 3 --set air=55kPa -v --out late.vtu --save-state late.state >out.txt 2>err.txt &
child=$!
# the first line of the convergence log says that the solver is at work and listens
await_or_end "$child" grep -q "increment" err.txt
kill -INT "$child" 2>/dev/null || true
status=0
wait "$child" || status=$?
if [ "$status" -eq 1 ]; then pass "exit 1 when interrupted"; else fail "exit $status when interrupted"; fi
expect_words err.txt "interrupted"
# a liquid that is pulled at cannot pull harder than vacuum
expect_status 0 new segment segment
sed -e 's/{model: neo_hookean.*}/{model: linear, young: 200 MPa, poisson: 0.4}/' \
    -e 's/drive: pressure, range: .*]/drive: syringe, fluid: liquid, range: [-1 mL, 1 mL]/' segment/robot.yaml >segment/liquid.yaml
expect_status 0 fk segment/liquid.yaml --size 12 --order 1 --set chamber1=-0.001mL
expect_no_words err.txt "vacuum"
expect_status 0 fk segment/liquid.yaml --size 12 --order 1 --set chamber1=-0.1mL --json vacuum.json
expect_words err.txt "warning: chamber 'chamber1' is" "below ambient" "vacuum is reached at 101.3 kPa"
expect_words vacuum.json "below ambient"
expect_clean
# how a picture looks is judged before the solve
for look in "--view 0,0,0" "--cut q" "--color qq" "--surface nope"; do
    # shellcheck disable=SC2086
    expect_status 2 fk finger --size 8 --order 1 $look --out look.png
    expect_no_words out.txt "solved"
done
finish
