#!/usr/bin/env bash
# compare, and the methods local_global and fang2020 in fk and sweep: tables, files, exit status, refusals.
. "$(dirname "$0")/lib.sh"

cat >finger.yaml <<'Y'
pliant: 1
mesh: {design: {kind: bending_finger, length: 40, modules: 3}, size: 9}
materials:
  skin: {model: shape, weight: 1, r_omega: 0.5}
  layer: {model: linear, young: 5 MPa, poisson: 0.3}
regions: {skin: skin, layer: layer}
fixed: [{surface: base}]
actuators: [{name: air, kind: chamber, surface: cavity, drive: volume_ratio, range: [0.8, 1.5]}]
markers: {tip: {surface: tip}}
solver: {method: local_global, form: mu_lambda, actuation: constraint}
Y
# json_tip FILE LINE: x, y or z (1, 2, 3) of the first marker; json_method FILE NAME KEY: a number of one method
json_tip() { grep -m1 -A3 '"position"' "$1" | sed -n "$(($2 + 1))p" | tr -d ' ,'; }
json_method() { sed -n "/\"name\": \"$2\"/,\$p" "$1" | grep -m1 "\"$3\"" | sed 's/.*: *//; s/,.*//'; }
# the file's own method; growth by --method; the exact one
expect_status 0 fk finger.yaml --order 1 --set air=1.1 --json own.json
expect_words out.txt "prescribed 1.1000 of rest, reached 1.1000 as a constraint"
expect_words own.json '"method": "local_global"' '"ratio": 1.1'
expect_status 1 fk finger.yaml --order 1 --set air=1.1 --method fang2020
expect_words out.txt "by growth (local ratios"
expect_words err.txt "which is not convergence"
expect_status 0 fk finger.yaml --order 1 --displacement --set air=1.1 --method exact --json exact.json
expect_near "tip x as the exact one" "$(json_tip own.json 1)" "$(json_tip exact.json 1)" 1e-2
expect_near "tip z as the exact one" "$(json_tip own.json 3)" "$(json_tip exact.json 3)" 1e-2
expect_status 2 fk finger.yaml --set air=1.1 --method newton
expect_words err.txt "expected exact, local_global or fang2020"
expect_status 0 sweep finger.yaml --order 1 --set air=1:1.1:2 --method local_global
expect_words out.txt "solved"
# its derivatives are exact: those of its fixed point
expect_status 0 jacobian finger.yaml --order 1 --set air=1.1 --json j.json
expect_no_words out.txt "approximate"
expect_words j.json '"method": "local_global"' '"approximate": false'
expect_status 2 jacobian finger.yaml --order 1 --set air=1.1 --by material
expect_words err.txt "only the exact method"
# ratios minimised jointly, the air a material of its own
sed 's/size: 9/size: 9, fill: true/; s/layer: layer}/layer: layer, cavity: skin}/; s/surface: cavity,/&  actuation: growth,/
s/actuation: constraint/distribution: joint/' finger.yaml >joint.yaml
expect_status 0 fk joint.yaml --order 1 --set air=1.1
expect_words out.txt "prescribed 1.1000 of rest" "by growth (local ratios"
# with a modulus of its own the air is that of the exact method
sed 's/, cavity: skin}/}/; s/actuation: growth,/actuation: growth, modulus: 2 MPa,/' joint.yaml >modulus.yaml
expect_status 0 fk modulus.yaml --order 1 --set air=1.3 --json own.json
expect_status 0 fk modulus.yaml --order 1 --displacement --set air=1.3 --method exact --json exact.json
expect_words out.txt "air: prescribed 1.3000 of rest, reached 1." "by growth"
for k in 1 2 3; do
    expect_near "coordinate $k of the tip, growth by both" "$(json_tip own.json $k)" "$(json_tip exact.json $k)" 1e-3
done
# cavities of mesh files, read by Gmsh and by the core, are filled where asked for; sheets have none
expect_status 0 mesh finger.yaml --order 1 --out body.msh --out body.inp
for f in msh inp; do
    sed "s/^mesh: .*/mesh: {file: body.$f, order: 1, fill: true}/; s/actuation: constraint/actuation: growth/" finger.yaml >filled.yaml
    expect_status 0 fk filled.yaml --set air=1.1
    expect_words out.txt "prescribed 1.1000 of rest" "by growth (local ratios"
done
sed 's/^mesh: .*/mesh: {fill: true, sheets: [{region: skin, heights: [0, 1], outline: [[0, 0], [9, 0], [9, 9]]}]}/' finger.yaml >sheet.yaml
expect_status 2 fk sheet.yaml --set air=1.1
expect_words err.txt "sheet.yaml:2" "fill meshes closed cavities, but sheets have none"

# side by side
expect_status 2 compare finger.yaml --set air=1.1 --histogram h.xyz
expect_words err.txt "--histogram h.xyz" ".png .svg .csv"
# inputs are not overwritten without --force
ln -s finger.yaml input.png
expect_status 2 compare finger.yaml --set air=1.1 --histogram input.png
expect_words err.txt "--histogram input.png" "--force"
rm input.png
expect_status 0 compare finger.yaml --set air=1.1 --json c.json --out d.vtu --histogram h.png
expect_words out.txt "exact, quadratic" "exact, corners" "local_global" "fang2020" "reached"
for f in c.json d.vtu h.png; do expect_file "$f"; done
expect_words d.vtu "to_local_global_mm"
method=$(json_method c.json local_global from_corners)
mesh=$(json_method c.json "exact, corners" from_quadratic)
expect_near "method error of local_global" "$method" 0 0.01
if awk -v a="$mesh" -v b="$method" 'BEGIN { exit !(a > b) }'; then
    pass "the mesh error, $mesh, is larger"
else
    fail "the mesh error, '$mesh', is not above the method's, '$method'"
fi
expect_status 0 compare finger.yaml --order 1 --set air=1.1 --methods exact,local_global --histogram h.csv
expect_words h.csv "exact, corners %"
expect_status 2 compare finger.yaml --set air=1.1 --methods exact,magic
expect_words err.txt "there is no method 'magic'"
expect_status 2 compare finger.yaml --set air=9
expect_words err.txt "outside its range"
expect_status 2 compare finger.yaml --set air=1.1 --out d.stl

# a pressure has no place in growth; compare asks for the volume it led to
sed 's/drive: volume_ratio, range: \[0.8, 1.5\]/drive: pressure, range: [0 kPa, 20 kPa]/; /^solver/d' finger.yaml >pressure.yaml
expect_status 2 fk pressure.yaml --order 1 --set air=5kPa --method fang2020
expect_words err.txt "drive it by its volume_ratio"
expect_status 0 compare pressure.yaml --order 1 --set air=5kPa

finish
