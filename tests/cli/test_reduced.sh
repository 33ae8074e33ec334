#!/usr/bin/env bash
# Reduced robots: designs, the verbs that take them, shapes, refusals, and reduce.
. "$(dirname "$0")/lib.sh"

expect_status 0 new trunk_cc trunk
expect_status 0 new segment_beam beam
expect_status 2 new trunk_cc other --param length=3
expect_words err.txt "has no parameters"
expect_status 0 info trunk --json info.json
expect_words out.txt "constant_curvature" "206 mm" "l6"
expect_keys info.json model length commands actuators markers range drive

lengths="--set l1=95 --set l2=110 --set l3=104 --set l4=120 --set l5=99 --set l6=103"
expect_status 0 fk trunk $lengths --json fk.json --out t.vtu --out t.pvd --out t.stl --out t.csv --out t.png
expect_keys fk.json format pliant robot warnings converged outcome message iterations factorizations solves residual \
    step seconds energy vertices elements commands actuators markers sensors reactions contacts min_J max_stretch \
    position displacement rotation ratio slack length tension
for f in t.vtu t.pvd t.stl t.csv t.png; do expect_file "$f"; done
expect_words t.vtu "displacement"

# straight up: every length at 120 of 103
expect_status 0 fk trunk --set l1=120 --set l2=120 --set l3=120 --set l4=120 --set l5=120 --set l6=120 --out up.csv --json up.json
expect_words up.json '"converged": true'
expect_words up.csv ",240"

expect_status 0 jacobian beam --set chamber1=80kPa --json j.json --out j.csv
expect_keys j.json jacobian by markers rotations efforts measures
expect_words j.csv "per kPa of chamber1" "tip.y [mm]"
expect_status 0 sweep beam --set chamber1=0:160kPa:5 --out s.csv --out s.pvd
expect_words s.csv "chamber1 [kPa]" "tip.z [mm]" "160,"
expect_file s_0004.vtu
expect_status 0 doctor beam
expect_words out.txt "no defects"
expect_status 0 ik trunk --marker tip --target 40,20,210

# what is not finite has no shape
expect_status 2 fk trunk --set l1=1e308 --beyond-range
expect_words err.txt "below a million times its rest"
sed -e 's/drive: length, range: \[85, 135\]/drive: tension/' -e 's/arcs: 8}/arcs: 8, young: 1}/' trunk/robot.yaml >pulled.yaml
expect_status 0 fk pulled.yaml --set l1=0.1
expect_status 1 fk pulled.yaml --set l1=1e308
expect_words err.txt "is not finite"
# the other key of a file in one line, and the other actuators of a file with commands
printf '{pliant: 1, "model": {kind: rod, sections: [{length: 50, diameter: 9, young: 1}], tendons: [{name: a, radius: 3}, {name: b, radius: 3, angle: 180 deg}]}, markers: {tip: {}}, commands: {lean: {drives: {a: 1}}}}' >flow.yaml
expect_status 0 fk flow.yaml --set lean=0.01 --set b=0.02

# refused, with line and reason
expect_status 2 fk trunk --set l1=20
expect_words err.txt "outside its range"
expect_status 2 fk trunk --size 3
expect_words err.txt "--size is only for a robot with a mesh"
expect_status 2 mesh trunk
expect_words err.txt "reduced model"
sed 's/length: 103/lenght: 103/' trunk/robot.yaml >bad.yaml
expect_status 2 info bad.yaml
expect_words err.txt "bad.yaml:12" "unknown key 'lenght'" "did you mean 'length'"
sed 's/constant_curvature$/rod/' trunk/robot.yaml >bad.yaml
expect_status 2 info bad.yaml
expect_words err.txt "bad.yaml:12" "EA is 0, must be positive"
printf 'pliant: 1\nmodel: {kind: rod, sections: [{length: 10, diameter: 2, young: 1}]}\nmesh: {file: x.msh}\n' >bad.yaml
expect_status 2 info bad.yaml
expect_words err.txt "bad.yaml:3" "'mesh' is only for a robot with a mesh"

# from the full model: the file it writes is a robot that answers
expect_status 0 new segment full
coarse="--size 12 --order 1"
expect_status 0 reduce full $coarse --kind rod --samples 2 --share 0 --json r.json
expect_keys r.json EA EI GJ GA position_rms direction_max
expect_words out.txt "random commands" "chamber3"
expect_status 0 fk full/robot-rod.yaml --set chamber1=20kPa
expect_status 2 reduce full $coarse --kind rod --samples 2
expect_words err.txt "not overwritten"
sed 's/drive: pressure, range: \[0 kPa, 160 kPa\]/drive: volume_ratio, range: [1, 1.4]/' full/robot.yaml >full/volume.yaml
expect_status 2 reduce full/volume.yaml $coarse
expect_words err.txt "chamber 'chamber1' is driven by volume_ratio" "drive it by pressure"
expect_status 2 reduce full --kind vertebrae
expect_words err.txt "expected beam, rod or constant_curvature"
expect_status 2 reduce trunk
expect_words err.txt "already a reduced robot"
expect_status 0 compare beam trunk --json c.json
expect_status 0 compare beam full/robot-rod.yaml --set chamber1=20kPa
expect_words out.txt "apart mm" "rod" "beam" "model error mm" "not known" "%)"
# the error of a fitted model beside every answer
expect_status 0 workspace full/robot-rod.yaml --samples 6 --out ws.csv --json ws.json --store ws.sqlite
expect_words out.txt "of a rod model: its positions are off by"
expect_words ws.csv "tip.model_error [mm],model_confidence [1]"
expect_keys ws.json model_error mm confidence source
expect_status 0 jacobian full/robot-rod.yaml --set chamber1=20kPa --out j.csv --json j.json
expect_words out.txt "of the full body" "their own error was not measured"
expect_words j.csv "model_error (of the quantity)"
expect_keys j.json model_error mm confidence source
expect_status 0 study full/robot-rod.yaml --vary chamber1=0kPa:20kPa:2 --out st.csv
expect_words out.txt "tip of a surrogate model: off by"
expect_words st.csv "tip.model_error [mm]" "model_confidence [1]"
# a stiffness that is varied is not the model whose errors were measured
expect_status 0 study full/robot-rod.yaml --vary model.sections.0.EI=5000,9000 --set chamber1=20kPa
expect_words out.txt "whose error is not known"
# bending beyond half a turn, signed: three lengths of a constant curvature in closed form
cat >arc.yaml <<'YAML'
pliant: 1
name: arc
model:
  kind: constant_curvature
  base: {at: [0, 0, 0], axis: [0, 0, 1]}
  sections: [{name: s, length: 100, diameter: 10, arcs: 20}]
  tendons:
    - {name: l1, section: s, angle: 0 deg, drive: length, range: [20, 180]}
    - {name: l2, section: s, angle: 120 deg, drive: length, range: [20, 180]}
    - {name: l3, section: s, angle: 240 deg, drive: length, range: [20, 180]}
markers: {tip: {at: 100}}
YAML
for bend in 204 -204 400; do
    run fk arc.yaml $(awk -v t=$bend 'BEGIN { d = 5 * t * 3.14159265358979 / 180; printf "--set l1=%.9fmm --set l2=%.9fmm --set l3=%.9fmm", 100 - d, 100 + d / 2, 100 + d / 2 }') --json arc.json
    expect_near "a bend of $bend degrees" "$(json_number arc.json bend_deg)" $bend 1e-5
done

# a force at the tip: in the robot file of a rod and of arcs, and found again by the estimator from strings
cat >arm.yaml <<'YAML'
pliant: 1
name: arm
model:
  kind: rod
  sections: [{name: s, length: 100, diameter: 14, young: 1 MPa, poisson: 0.45, elements: 20}]
  tendons:
    - {name: t1, radius: 5, angle: 0 deg, drive: tension, range: [0, 10]}
    - {name: t2, radius: 5, angle: 120 deg, drive: tension, range: [0, 10]}
    - {name: t3, radius: 5, angle: 240 deg, drive: tension, range: [0, 10]}
markers: {tip: {at: 100}}
sensors:
  - {name: s1, kind: length, radius: 6, angle: 45 deg, noise: 0.02}
  - {name: s2, kind: length, radius: 6, angle: 165 deg, noise: 0.02}
  - {name: s3, kind: length, radius: 6, angle: 285 deg, noise: 0.02}
  - {name: s4, kind: length, radius: 6, angle: 0 deg, noise: 0.02, to: 50}
  - {name: s5, kind: length, radius: 6, angle: 120 deg, noise: 0.02, to: 50}
  - {name: s6, kind: length, radius: 6, angle: 240 deg, noise: 0.02, to: 50}
estimator: {forces: [tip]}
plant: {payload: {marker: tip, force: [0.02, 0, -0.05], from: 2 s}}
YAML
for kind in rod constant_curvature; do
    { sed "s/kind: rod/kind: $kind/; s/elements: 20/$([ $kind = rod ] && echo elements: 20 || echo arcs: 20)/" arm.yaml; echo 'loads: {forces: [{marker: tip, force: [0.03, -0.02, 0.04]}]}'; } >loaded.yaml
    sed '/^loads/d' loaded.yaml >unloaded.yaml
    expect_status 0 fk loaded.yaml --set t1=2 --set t2=0 --set t3=1 --out fk.csv
    cut -d, -f1-3,17-22 fk.csv >strings.csv
    expect_status 0 estimate unloaded.yaml --read strings.csv --force-at tip --command-sigma 0
    if [ $kind = rod ]; then # two bending strains cannot tell three components from a moment: arcs only fit
        expect_words out.txt "0.03, -0.02, 0.04"
    fi
    expect_status 0 ik loaded.yaml --target 10,5,95
    expect_status 0 run unloaded.yaml --goal 10,5,95 --steps 60
done
# every kind of sensor is a goal, in its unit
{ sed '/^sensors/,/s6/d' arm.yaml; echo 'sensors: [{name: cell, kind: tension, actuator: t1}]'; } >cell.yaml
expect_status 0 ik cell.yaml --sensor cell=500mN --set t2=1 --set t3=1 --json cell.json
expect_near "tension met, N" "$(grep -A3 '"cell"' cell.json | grep -o '0\.[0-9]*' | tail -1)" 0.5 0.0005
expect_status 2 ik cell.yaml --sensor cell=3kPa
expect_words err.txt "is a pressure"
sed 's/kind: rod/kind: constant_curvature/; s/elements: 20/arcs: 4/' arm.yaml >weight.yaml
echo 'loads: {gravity: [0, 0, -9.81 m/s^2]}' >>weight.yaml
expect_status 2 fk weight.yaml --set t1=1
expect_words err.txt "weight.yaml" "accepts no weight"

# what acts on the full robot only is said
sed 's/^markers/loads: {forces: [{marker: tip, force: [-0.01, 0, 0]}]}\nmarkers/' >loaded.yaml <<'END'
pliant: 1
name: column
mesh: {design: {kind: beam, length: 40, width: 8, height: 8}, size: 8, order: 1}
materials: {soft: {model: linear, young: 1 MPa, poisson: 0.3}}
regions: {body: soft}
fixed: [{surface: base}]
actuators:
  - {name: pull, kind: cable, through: [[0, 0, 3], [39, 0, 3]], radius: 2, drive: tension, range: [0 N, 0.1 N]}
markers: {tip: {surface: tip}}
END
expect_status 0 reduce loaded.yaml --samples 5
expect_words err.txt 'the reduced model does not have the `loads: forces` of the robot'
echo 'springs: [{name: post, from: tip, to: [60, 0, 0], stiffness: 1e-4 N/mm}]' >>loaded.yaml
expect_status 0 reduce loaded.yaml --samples 5 --force
expect_near "each is said once" "$(grep -c 'does not have the' err.txt)" 2 0
finish
