#!/usr/bin/env bash
# calibrate cameras and track: drawn pictures of two cameras with distortion give back base line, constants and positions.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
python3 "$here/draw_boards.py" .

expect_status 0 calibrate cameras 'left_*.png' 'right_*.png' --board 6x5 --square 8mm --out cameras.json --json fit.json
python3 - <<'END' && pass "constants, base line and residual" || fail "cameras: $(cat fit.json | head -c 600)"
import json, math
fit = json.load(open("fit.json"))
base = math.hypot(40, 5)
assert fit["converged"] and fit["views"] >= 9 and fit["rms_px"] < 0.1, fit["rms_px"]
assert abs(fit["baseline_mm"] / base - 1) < 0.01, fit["baseline_mm"]
for camera in fit["cameras"]:
    for name, truth in (("fx", 260), ("fy", 260), ("cx", 99.5), ("cy", 74.5)):
        value, half = camera[name]
        assert abs(value - truth) < max(2 * half, 0.5), (name, value, half)
END
expect_status 0 track cameras.json 'dots_left_*.png' 'dots_right_*.png' --dot tip=#e61414 --dot base=#1428e6 --out track.csv --json track.json
python3 - <<'END' && pass "positions of the dots" || fail "track: $(head -c 600 track.json)"
import json
frame = json.load(open("track.json"))["frames"][0]["markers"]
# the principal point is known to a pixel, which moves both dots alike
apart = [a - b for a, b in zip(frame["tip"]["position_mm"], frame["base"]["position_mm"])]
assert max(abs(a - b) for a, b in zip(apart, (13, -10, -8))) < 0.2, apart
for name, truth in (("tip", (5, -6, 120)), ("base", (-8, 4, 128))):
    m = frame[name]
    assert max(abs(a - b) for a, b in zip(m["position_mm"], truth)) < 2 and m["rms_px"] < 0.2, m
header = open("track.csv").readline()
assert header.startswith("frame,tip.x [mm],tip.y [mm],tip.z [mm]"), header
END
expect_status 2 calibrate cameras 'left_*.png' --square 8mm
expect_status 2 calibrate cameras left_0.png --board 6x5 --square 8mm
expect_status 3 calibrate cameras 'none_*.png' --board 6x5 --square 8mm
expect_status 2 calibrate cameras 'left_[01]*.png' --board 6x5 --square 8mm
# a colour that is nowhere, and dots that are not the same in both pictures, are no positions
expect_status 1 track cameras.json 'dots_left_*.png' 'dots_right_*.png' --dot tip=#00ff00
expect_words err.txt "--dot tip: found in none of 1 frames"
cp left_2.png only_left_a.png
cp right_2.png only_right_a.png
expect_status 1 track cameras.json 'only_left_*.png' 'only_right_*.png' --dot tip=#000000 --json apart.json
expect_words out.txt "0 of 1 positions found" "the cameras see different dots"
expect_status 2 track cameras.json 'dots_left_*.png' --dot tip=#e61414
expect_status 2 track cameras.json 'dots_left_*.png' 'dots_right_*.png' --dot tip=red
# a place that is no rotation, or its mirror image, or a picture without pixels, would give wrong positions
for wrong in 'one["rotation"] = [1.01 * v for v in one["rotation"]]' 'one["rotation"] = [-v for v in one["rotation"]]' 'one["width"] = 0' \
    'one["height"] = 2**40'; do
    python3 -c "import json; all = json.load(open('cameras.json')); one = all['cameras'][1]; $wrong; json.dump(all, open('wrong.json', 'w'))"
    expect_status 2 track wrong.json 'dots_left_*.png' 'dots_right_*.png' --dot tip=#e61414
    expect_words err.txt "not a file of 1 to"
done
cp fit.json notpng.png
expect_status 3 track cameras.json 'notpn*.png' 'dots_right_*.png' --dot tip=#e61414

# bundle adjustment: pixels of a computed bar give back its modulus and its place before the cameras
bar() {
    cat <<END
pliant: 1
name: bar
mesh:
  design: {kind: beam, length: 60, width: 10, height: 10}
  size: 12
  order: 2
materials: {silicone: {model: neo_hookean, c10: $1 MPa, poisson: 0.45}}
regions: {body: silicone}
fixed: [{surface: base}]
actuators:
  - {name: up, kind: cable, through: [[0, 0, 4], [30, 0, 4], [58, 0, 4]], radius: 3, drive: tension, range: [0, 9]}
  - {name: side, kind: cable, through: [[0, 4, 0], [30, 4, 0], [58, 4, 0]], radius: 3, drive: tension, range: [0, 9]}
markers: {tip: {at: [60, 0, 5]}, middle: {at: [35, 5, 5]}, foot: {at: [8, -5, 5]}}
END
}
bar 0.1 >truth.yaml
bar 0.15 >guess.yaml
expect_status 0 sweep truth.yaml --set up=0:0.25N:3 --set side=0:0.2N:2 --grid --out truth.csv
python3 - <<'END' && pass "pixels of the bar" || fail "no pixels"
import csv, json, math
cameras = json.load(open("cameras.json"))["cameras"]
c, s = math.cos(0.4), math.sin(0.4)


def place(p):  # turned about y and moved before the cameras
    return [c * p[0] + s * p[2] - 20, p[1] + 4, -s * p[0] + c * p[2] + 150]


def pixel(camera, p):
    k, R, t = camera["constants"], camera["rotation"], camera["translation_mm"]
    x = [sum(R[3 * i + j] * p[j] for j in range(3)) + t[i] for i in range(3)]
    a, b = x[0] / x[2], x[1] / x[2]
    r2 = a * a + b * b
    d = 1 + k["k1"] * r2 + k["k2"] * r2 ** 2 + k["k3"] * r2 ** 3
    return (k["fx"] * (a * d + 2 * k["p1"] * a * b + k["p2"] * (r2 + 2 * a * a)) + k["cx"],
            k["fy"] * (b * d + k["p1"] * (r2 + 2 * b * b) + 2 * k["p2"] * a * b) + k["cy"])


rows = list(csv.DictReader(open("truth.csv")))
with open("seen.csv", "w") as out:
    names = ["tip", "middle", "foot"]
    out.write("up [N],side [N]," + ",".join(f"{n}.x [mm],{n}.y [mm],{n}.z [mm],{n}.u1 [px],{n}.v1 [px],{n}.u2 [px],{n}.v2 [px]"
                                            for n in names) + "\n")
    for k, row in enumerate(rows):
        line = [row["up [N]"], row["side [N]"]]
        for m, n in enumerate(names):
            p = place([float(row[f"{n}.{a} [mm]"]) for a in "xyz"])
            noise = [0.05 * math.sin(9.1 * k + 5.3 * m + 2.9 * i) for i in range(4)]
            line += [f"{v + 0.3 * math.sin(k + m):.6f}" for v in p]  # positions are a start only
            line += [f"{v + e:.6f}" for v, e in zip(pixel(cameras[0], p) + pixel(cameras[1], p), noise)]
        out.write(",".join(line) + "\n")
END
expect_status 0 calibrate poses guess.yaml seen.csv --images cameras.json --free silicone.c10,base.x,base.y,base.z,base.rx,base.ry,base.rz --json poses.json
python3 - <<'END' && pass "modulus and place" || fail "poses: $(head -c 900 poses.json)"
import json
fit = json.load(open("poses.json"))
p = fit["parameters"]
assert fit["converged"] and fit["rms_fit"] < 0.1, fit["rms_fit"]
assert abs(p["silicone.c10"]["value"] / 0.1 - 1) < 0.02, p
assert abs(p["base.z"]["value"] - 150) < 0.2 and abs(p["base.ry"]["value"] - 0.4) < 0.01, p
END
sed 's/tip.u1/tip.w1/; s/middle.u1/middle.w1/; s/foot.u1/foot.w1/; s/\.[uv][12] \[px\]/.q/g' seen.csv >none.csv
expect_status 2 calibrate poses guess.yaml none.csv --images cameras.json --free silicone.c10
expect_clean
finish
