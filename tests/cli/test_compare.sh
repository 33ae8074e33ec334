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
# the file's own method; growth by --method; the exact one
expect_status 0 fk finger.yaml --order 1 --set air=1.1 --json own.json
expect_words out.txt "asked for 1.1000 of rest, reached 1.1000 as a constraint"
expect_words own.json '"method": "local_global"' '"reached": 1.1'
expect_status 1 fk finger.yaml --order 1 --set air=1.1 --method fang2020
expect_words out.txt "by growth (local ratios"
expect_words err.txt "which is not convergence"
expect_status 0 fk finger.yaml --order 1 --displacement --set air=1.1 --method exact --json exact.json
expect_near "tip x as the exact one" "$(jq .markers.tip.position[0] own.json)" "$(jq .markers.tip.position[0] exact.json)" 1e-2
expect_near "tip z as the exact one" "$(jq .markers.tip.position[2] own.json)" "$(jq .markers.tip.position[2] exact.json)" 1e-2
expect_status 2 fk finger.yaml --set air=1.1 --method newton
expect_words err.txt "expected exact, local_global or fang2020"
expect_status 0 sweep finger.yaml --order 1 --set air=1:1.1:2 --method local_global
expect_words out.txt "solved"

# side by side
expect_status 0 compare finger.yaml --set air=1.1 --json c.json --out d.vtu --histogram h.png
expect_words out.txt "exact, quadratic" "exact, corners" "local_global" "fang2020" "reached"
for f in c.json d.vtu h.png; do expect_file "$f"; done
expect_words d.vtu "to local_global"
expect_near "method error of local_global" "$(jq '.methods[] | select(.name == "local_global") | .from_corners < 0.01' c.json | grep -c true)" 1 0
expect_near "mesh error is larger" "$(jq '.methods[1].from_quadratic > .methods[2].from_corners' c.json | grep -c true)" 1 0
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
