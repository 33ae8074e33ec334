#!/usr/bin/env bash
# Contact end to end, with a small bar: an obstacle from an STL file that a command moves, a plane; in every verb.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
export PLIANT_THREADS=1

# a cube of 12 mm, closed, outward
python3 - >block.stl <<'PY'
v = [(x, y, z) for x in (-6, 6) for y in (-6, 6) for z in (-6, 6)]
print("solid block")
for a, b, c, d in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)):
    for t in ((a, b, c), (a, c, d)):
        print("facet normal 0 0 0\nouter loop")
        for i in t:
            print("vertex %g %g %g" % v[i])
        print("endloop\nendfacet")
print("endsolid block")
PY
robot() { # FILE OBSTACLES
    cat >"$1" <<YAML
pliant: 1
name: bar
mesh: {design: {kind: beam, length: 30, width: 6, height: 6}, size: 6}
materials: {m: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.45}}
regions: {body: m}
fixed: [{surface: base}]
actuators:
  - {name: cable, kind: cable, through: [[0, 0, -2], [10, 0, -2], [20, 0, -2], [29, 0, -2]], radius: 2, drive: shortening, range: [0, 6]}
markers: {tip: {surface: tip}}
contact: {obstacles: [$2]}
YAML
}
robot moved.yaml '{name: block, surface: block.stl, unit: mm, at: [26, 0, -14], friction: 0.3, move: [0, 0, 1], range: [0, 4]}'
# the same cube as OBJ, with quadrilaterals
python3 - >block.obj <<'PY'
for x in (-6, 6):
    for y in (-6, 6):
        for z in (-6, 6):
            print("v %g %g %g" % (x, y, z))
for f in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)):
    print("f", *(i + 1 for i in f))
PY
robot quads.yaml '{name: block, surface: block.obj, unit: mm, at: [26, 0, -14], friction: 0.3, move: [0, 0, 1], range: [0, 4]}'
robot loose.yaml '{name: block, surface: block.obj, unit: mm, at: [26, 0, -14], free: true, mass: 5 g}'
sed -i 's/^contact:/loads: {gravity: [0, 0, -9.81 m\/s^2]}\ncontact:/' loose.yaml
robot floor.yaml '{name: floor, plane: {point: [0, 0, -7], normal: [0, 0, 1]}}'
robot inside.yaml '{name: floor, plane: {point: [0, 0, -2.5], normal: [0, 0, 1]}}'
force() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["contacts"][sys.argv[2]]["force"][2])' "$@"; }

expect_status 0 fk moved.yaml --set cable=4 --json a.json
expect_status 0 fk moved.yaml --set cable=4 --set block=2 --json b.json
expect_near "the block presses harder when it comes nearer" \
    "$(python3 -c "print(int($(force b.json block) > $(force a.json block) > 0.05))")" 1 0
expect_status 0 fk quads.yaml --set cable=4 --set block=2 --json q.json
expect_near "an OBJ file presses as the STL file does" "$(force q.json block)" "$(force b.json block)" 1e-6
# below the bar nothing holds it: the bar only touches it from above
expect_status 1 fk loose.yaml --set cable=4
expect_words out.txt "no equilibrium was found in which the free body 'block' is held"
expect_status 0 sweep floor.yaml --set cable=0:6:4
expect_near "sweep: the force on the floor grows" \
    "$(python3 -c 'import csv; r = list(csv.DictReader(open("out.txt"))); f = [float(x["floor.force_z [N]"]) for x in r]
print(int(f[0] == 0 and f == sorted(f) and f[-1] > 0.1 and all(x["outcome"] == "solved" for x in r)))')" 1 0
# a target below the floor ends on it, and says so
expect_status 1 ik floor.yaml --target 26,0,-12 --json ik.json
expect_words err.txt "not reached (nearest)" "in contact with floor"
expect_near "ik: force on the floor" "$(python3 -c "print(int($(force ik.json floor) > 0.1))")" 1 0
expect_status 0 jacobian floor.yaml --set cable=5
expect_words out.txt "exact: linear systems"
expect_status 0 jacobian moved.yaml --set cable=4 --json j.json
expect_words out.txt "approximate: friction acts"
expect_words j.json '"friction": true'
printf 'x,y,z\n29,0,-3.5\n28,0,-5.3\n26,0,-9\n' >path.csv
run follow floor.yaml path.csv --json f.json
expect_near "follow: below the floor is not reached" "$status" 1 0
printf 'task: 1\nmarker: tip\nstages:\n- {do: move, to: [26, 0, -9]}\n' >task.yaml
expect_status 1 task floor.yaml task.yaml
expect_words err.txt "did not reach"
expect_status 0 workspace floor.yaml --levels 4
expect_words out.txt "4 of 4 samples, 4 solved"
expect_status 1 doctor inside.yaml
expect_words err.txt "obstacle 'floor' and the undeformed body overlap by 0.5 mm"
# an obstacle inside the material is refused, one beside it is not
robot swallowed.yaml '{name: ball, sphere: {centre: [15, 0, 0], radius: 1}}'
expect_status 2 fk swallowed.yaml
expect_words err.txt "obstacle 'ball' and the undeformed body overlap by 4 mm" "it stands inside"
# a ball smaller than the faces pushes the bar down, and nothing of it enters
robot small.yaml '{name: ball, sphere: {centre: [22, 0.5, 5], radius: 1.5}, move: [0, 0, -1], range: [0, 8]}'
expect_status 0 fk small.yaml --set ball=4 --json small.json
expect_near "small ball: force on the bar, downwards" "$(python3 -c "print(int($(force small.json ball) < -0.01))")" 1 0
robot beside.yaml '{name: ball, sphere: {centre: [15, 0, 4.5], radius: 1}}'
expect_status 0 fk beside.yaml
cat >overlap.yaml <<'YAML'
pliant: 1
name: overlap
materials: {m: {model: linear, young: 1 MPa, poisson: 0.4}}
bodies:
  - {name: a, mesh: {design: {kind: beam, length: 10, width: 6, height: 6}, size: 6, order: 1}, regions: {body: m}, fixed: [{surface: base}]}
  - {name: b, pose: {move: [8, 1, 1]}, mesh: {design: {kind: beam, length: 10, width: 6, height: 6}, size: 6, order: 1}, regions: {body: m}, fixed: [{surface: tip}]}
contact: {}
YAML
expect_status 2 fk overlap.yaml
expect_words err.txt "overlap.yaml:5" "bodies 'a' and 'b' overlap by 2 mm" "one stands in the other"
# a little overlap is a preload
sed 's/move: .8, 1, 1./move: [9.5, 1, 1]/' overlap.yaml >preload.yaml
expect_status 1 doctor preload.yaml
expect_words err.txt "warning: bodies 'a' and 'b' overlap by 0.5 mm" "the undeformed surface passes through itself"
# a beam on a pin smaller than its elements: it slides on the pin while it sags
cat >pin.yaml <<'YAML'
pliant: 1
name: pin
materials: {m: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49, density: 1070 kg/m^3}}
mesh: {design: {kind: beam, length: 70, width: 7, height: 9}, size: 4}
regions: {body: m}
fixed: [{surface: base}]
markers: {tip: {surface: tip}}
loads: {gravity: [0, 0, -9.81 m/s^2]}
contact: {friction: 0.3, obstacles: [{name: pin, cylinder: {centre: [60, 0, -5.6], axis: [0, 1, 0], radius: 1.1}}]}
YAML
expect_status 0 fk pin.yaml --no-mesh-error --json pin.json
# 0.02227 without friction
expect_near "pin: force on the beam as on a mesh of 2.5 mm, N" "$(force pin.json pin)" 0.02297 0.0001
# a tube blown up inside a bore: mu = 0.2 MPa, radii 10 and 13 become sqrt(156) and 15
expect_status 0 fk "$root/examples/ball_in_tube/bore.yaml" --size 4 --set air=100kPa --json bore.json
expect_near "bore: pressure on the wall, kPa" "$(python3 -c '
import json; c = json.load(open("bore.json"))["contacts"]["bore"]; print(1e3 * c["normal_force"] / c["area"])')" 73.143 0.4
finish
