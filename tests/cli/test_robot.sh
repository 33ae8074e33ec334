#!/usr/bin/env bash
# info, mesh and doctor; robot files that are wrong, end to end.
. "$(dirname "$0")/lib.sh"

expect_status 0 new bending_finger finger
expect_status 0 info finger --size 6 --json finger.json
expect_words out.txt "bending-finger" "skin" "layer" "cavity" "air" "kPa" "tip" "held at base"
expect_keys finger.json format pliant robot warnings vertices elements regions surfaces commands actuators markers \
    sensors volume material area closed unit range kind drive quality
expect_status 0 info finger/robot.yaml --size 6 --order 1 --json -
expect_keys out.txt tet4
expect_no_words out.txt "bending-finger:" # the machine owns standard output
# the volume of the stiff layer in closed form: 100 x 20 x 2 mm
expect_near "volume of the layer" "$(grep -A3 '"layer"' finger.json | grep -oE '"volume": *[0-9.]+' | sed 's/.*: *//')" 4000 40

# mesh: every format, and back
expect_status 0 mesh finger --size 6 --out m.vtu --out m.msh --out m.inp --out m.stl --out m.png --out m.node
for f in m.vtu m.msh m.inp m.stl m.png m.node m.ele; do expect_file "$f"; done
expect_words out.txt "quality: worst" "wrote m.vtu"
expect_status 0 mesh finger --size 6 --json quality.json
expect_keys quality.json quality worst slivers longest_edge volume area
elements=$(json_number quality.json elements)
for f in m.vtu m.msh m.inp m.node; do
    expect_status 0 mesh "$f" --json back.json
    expect_near "elements in $f" "$(json_number back.json elements)" "$elements" 0
done
expect_status 0 mesh m.vtu --order 1 --out linear.vtu
expect_status 0 mesh m.vtu --unit cm --json -
expect_status 0 mesh finger --size 6 --out cavity.stl --surface cavity
expect_status 2 mesh finger --size 6 --out cavity.stl --surface cavty
expect_words err.txt "no such surface" "cavity"
expect_status 0 mesh finger --size 6 --out cut.png --cut y --view front --edges
expect_file cut.png
expect_status 2 mesh finger --size 6 --out cut.png --cut q
expect_status 2 mesh finger --size 6 --out cut.png --view sideways
expect_status 2 mesh finger --size -3
expect_status 2 mesh finger --order 3
expect_status 2 mesh m.vtu --size 3
expect_status 3 mesh absent.vtu
echo "<VTKFile" >broken.vtu
expect_status 2 mesh broken.vtu
expect_words err.txt "broken.vtu"

# outputs are judged before the work, inputs are safe
expect_status 3 mesh finger --out no_such_folder/m.vtu
expect_words err.txt "there is no folder no_such_folder"
expect_status 2 mesh m.vtu --out m.vtu
expect_words err.txt "would be overwritten" "--force"
expect_status 0 mesh m.vtu --out m.vtu --force
mkdir parts
cp m.msh parts/body.msh
cp m.vtu parts/body.vtu
cat >parts/robot.yaml <<'END'
pliant: 1
name: parts
mesh: {file: body.vtu}
materials: {rubber: {model: neo_hookean, c10: 0.1 MPa}}
regions: {skin: rubber, layer: rubber}
fixed: [{surface: base}]
END
expect_status 2 mesh parts --out parts/body.vtu
expect_words err.txt "an input file of the robot"
expect_status 2 info parts --json parts/robot.yaml
expect_words err.txt "the robot file itself"

# a robot may stand on any mesh file
for f in body.vtu body.msh; do
    sed "s/body.vtu/$f/" parts/robot.yaml >parts/from.yaml
    rm -f from.json
    expect_status 0 info parts/from.yaml --json from.json
    expect_near "elements of a robot on $f" "$(json_number from.json elements)" "$elements" 0
done

# doctor
expect_status 0 doctor finger --size 6 --out defects.vtu --json doctor.json
expect_words out.txt "no defects"
expect_keys doctor.json findings severity advice place elements
expect_words defects.vtu 'Name="defect"'
expect_status 1 doctor finger --size 6 --order 1
expect_words err.txt "warning:" "span the full thickness of a wall" "--order 2"
cat >parts/off.yaml <<'END'
pliant: 1
name: off
mesh: {file: body.vtu}
materials: {rubber: {model: neo_hookean, c10: 0.1 MPa}}
regions: {skin: rubber, layer: rubber}
fixed: [{surface: base}]
actuators:
  - {name: tendon, kind: cable, through: [[6, 0, 17], [94, 0, 17]], radius: 1, drive: shortening, range: [0, 5]}
markers: {far: {at: [100, 0, 90]}}
END
expect_status 1 doctor parts/off.yaml
expect_words err.txt "marker 'far' is 72 mm outside the body" "cable 'tendon' leaves the body between guide points 1 and 2"
expect_near "a marker is named once" "$(grep -c "marker 'far'" err.txt)" 1 0
sed 's/94, 0, 17/94, 0, 40/' parts/off.yaml >parts/outside.yaml
expect_status 2 doctor parts/outside.yaml
expect_words err.txt "parts/outside.yaml:8: error:" "22 mm outside the body"

# doctor: layers and fibres
cat >parts/thin.yaml <<'END'
pliant: 1
name: thin
mesh: {file: body.vtu}
materials:
  rubber: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.48}
  paper: {model: linear, young: 2000 GPa, poisson: 0.3}
  jelly: {model: linear, young: 0.01, poisson: 0.3}
  good: {model: linear, young: 2 GPa, poisson: 0.3}
regions: {skin: rubber, layer: rubber}
fixed: [{surface: base}]
layers:
  - {name: right, surface: bottom, material: good, thickness: 0.1}
  - {name: hard, surface: bottom, material: paper, thickness: 0.1}
  - {name: soft, surface: bottom, material: jelly, thickness: 4}
fibres:
  - {name: on, kind: line, surface: bottom, through: [[10, 0, 0], [90, 0, 0]]}
  - {name: astray, kind: line, surface: bottom, through: [[10, 0, 0], [90, 0, 20]]}
  - {name: steel, kind: line, surface: bottom, through: [[10, 1, 0], [90, 1, 0]], young: 3000 GPa, diameter: 0.2}
  - {name: wrap, kind: helix, surface: bottom, axis: [1, 0, 0], about: [0, 0, 8], angle: 70 deg, range: [-50, 60]}
  - {name: rings, kind: rings, surface: bottom, axis: [1, 0, 0], about: [0, 0, 8], pitch: 20}
END
expect_status 1 doctor parts/thin.yaml --json thin.json
expect_words err.txt "parts/thin.yaml:13: warning: layer 'hard' has a modulus of 2000 GPa, expected at most 1000 GPa" \
    "parts/thin.yaml:14: warning: layer 'soft' is 4 mm thick, thicker than the wall under" "(2 mm at" \
    "parts/thin.yaml:14: warning: layer 'soft' has a modulus of 0.01 MPa, softer than the body under it; expected above 0.592 MPa" \
    "parts/thin.yaml:17: warning: fibre 'astray' leaves the surface by up to 20 mm near (90, 0, 20)" \
    "parts/thin.yaml:18: warning: fibre 'steel' has a modulus of 3000 GPa" \
    "parts/thin.yaml:19: warning: fibre 'wrap' leaves the surface: its range along the axis is -50 to 60 mm" \
    "parts/thin.yaml:19: note: fibre 'wrap' leaves the surface over"
expect_words thin.json "fibre 'rings' leaves the surface over"
expect_no_words err.txt "'right'" "'on'"
sed '13,20d; s/surface: bottom/between: [skin, base]/' parts/thin.yaml >parts/no_ground.yaml
expect_status 2 doctor parts/no_ground.yaml
expect_words err.txt "parts/no_ground.yaml:12: error: layer 'right'" "'base'"
sed '13,20d; s/thickness: 0.1/&, prestretch: 5/' parts/thin.yaml >parts/prestretch.yaml
expect_status 2 doctor parts/prestretch.yaml
expect_words err.txt "parts/prestretch.yaml:12: error: layer 'right': the prestretch is 5, expected 0.5 to 4"
sed -i 's/prestretch: 5/prestretch: 1.05/' parts/prestretch.yaml
expect_status 0 info parts/prestretch.yaml --json prestretch.json
expect_near "prestretch of a layer" "$(json_number prestretch.json prestretch)" 1.05 0
sed '13,20d; s/surface: bottom/surface: none/; 11i surfaces: {none: {plane: {point: [0, 0, -50], normal: [0, 0, 1]}}}' parts/thin.yaml >parts/no_face.yaml
expect_status 2 doctor parts/no_face.yaml
expect_words err.txt "parts/no_face.yaml:11: error: surface 'none' selects no face"

# wrong robot files: status 2, the line, the words
wrong() { # NAME LINE WORDS; the file comes from standard input
    local name=$1 line=$2
    shift 2
    cat >"parts/$name.yaml"
    expect_status 2 info "parts/$name.yaml"
    expect_words err.txt "parts/$name.yaml:$line: error:" "$@"
}
head="pliant: 1
name: wrong
mesh: {file: body.vtu}
materials: {rubber: {model: neo_hookean, c10: 0.1 MPa}}
regions: {skin: rubber, layer: rubber}
fixed: [{surface: base}]"
wrong unknown_key 7 "actuator" "actuators" <<<"$head
actuator: []"
wrong no_surface 7 "cavty" <<<"$head
actuators: [{name: air, kind: chamber, surface: cavty, drive: pressure, range: [0 kPa, 9 kPa]}]"
wrong no_unit 7 "unit" <<<"$head
actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [0, 9]}]"
wrong range_order 7 "range" <<<"$head
actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [9 kPa, 0 kPa]}]"
wrong bad_drive 7 "drive" <<<"$head
actuators: [{name: air, kind: chamber, surface: cavity, drive: shortening, range: [0, 9]}]"
wrong reserved 7 "reserved" <<<"$head
joints: {}"
wrong two_names 8 "air" <<<"$head
actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure},
  {name: air, kind: chamber, surface: cavity, drive: pressure}]"
wrong bad_unit 7 "parsec" <<<"$head
markers: {tip: {at: [1 parsec, 0, 0]}}"
wrong no_material 5 "rubbr" <<<"pliant: 1
name: wrong
mesh: {file: body.vtu}
materials: {rubber: {model: neo_hookean, c10: 0.1 MPa}}
regions: {skin: rubbr, layer: rubber}
fixed: [{surface: base}]"
wrong bad_poisson 4 "poisson" <<<"pliant: 1
name: wrong
mesh: {file: body.vtu}
materials: {rubber: {model: linear, young: 1 MPa, poisson: 0.7}}
regions: {skin: rubber, layer: rubber}
fixed: [{surface: base}]"
wrong no_yaml 4 "YAML" <<<"pliant: 1
name: wrong
mesh: {file: body.vtu"
wrong unknown_command 8 "name of an actuator" <<<"$head
actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}, {name: b, kind: chamber, surface: cavity, drive: pressure}]
commands: {b: {drives: {air: 1}}}"
wrong no_modulus 4 "no material has that" <<<"pliant: 1
name: wrong
mesh: {file: body.vtu}
materials: {rubber: {model: neo_hookean, c10: 1e-300, poisson: 0.4}}
regions: {skin: rubber, layer: rubber}
fixed: [{surface: base}]"
wrong all_held 6 "every vertex is fixed" <<<"pliant: 1
name: wrong
mesh: {file: body.vtu}
materials: {rubber: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.4}}
regions: {skin: rubber, layer: rubber}
fixed: [{region: skin}, {region: layer}]"
wrong bad_design_unit 2 "'50 kPa' is a pressure" <<<"pliant: 1
mesh: {design: {kind: beam, length: 50 kPa}, size: 20}"
wrong far_too_fine 4 "elements; the limit" <<<"pliant: 1
materials: {s: {model: neo_hookean, c10: 0.1, poisson: 0.4}}
regions: {body: s}
mesh: {design: {kind: beam}, size: 1e-9}
fixed: [{surface: base}]"
wrong bad_design 6 "mesh: design beam: width is 0.1 mm" <<<"pliant: 1
materials: {s: {model: neo_hookean, c10: 0.1, poisson: 0.4}}
regions: {body: s}
mesh:
  design: {kind: beam,
    width: 0.1}
fixed: [{surface: base}]"
expect_no_words err.txt "bad_design.yaml:4"
# two supports of one surface are reported apart
expect_status 0 new beam twice
sed 's/  - {surface: base}/  - {surface: base, axes: [x]}\n  - {surface: base, axes: [y, z]}/' twice/robot.yaml >twice/two.yaml
expect_status 0 fk twice/two.yaml --size 30 --order 1 --json two.json
expect_keys two.json base base2
# a part that cannot be read leaves no folder behind
echo "solid" >part.stl
expect_status 2 new --from part.stl made
if [ -d made ]; then fail "left the folder made"; else pass "leaves no folder"; fi
# several defects in one go
cat >parts/several.yaml <<<"$head
actuator: []
markers: {tip: {at: [1 parsec, 0, 0]}}"
expect_status 2 doctor parts/several.yaml
expect_words err.txt "several.yaml:7: error:" "several.yaml:8: error:"
expect_words out.txt "errors: 2"
# two bodies in the same place: none, touching, half in each other, one in the other exactly
twins() {
    cat <<YAML
pliant: 1
materials: {m: {model: linear, young: 1, poisson: 0.4}}
bodies:
  - {name: a, mesh: {design: {kind: segment}, size: 12, order: $2}, regions: {body: m}, fixed: [{surface: base}]}
  - {name: b, pose: {move: [$1, 0, 0]}, mesh: {design: {kind: segment}, size: 12, order: $2}, regions: {body: m}, fixed: [{surface: base}]}
YAML
}
for order in 1 2; do
    for apart in 40 25; do
        twins "$apart" "$order" >twins.yaml
        run doctor twins.yaml
        expect_no_words err.txt "overlap"
    done
    for apart in 20 0; do
        twins "$apart" "$order" >twins.yaml
        expect_status 1 doctor twins.yaml
        expect_words err.txt "elements overlap others" "regions 'a.body' and 'b.body'"
    done
done
rm -f twins.yaml

expect_clean
finish
