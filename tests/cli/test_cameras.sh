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
expect_status 2 track cameras.json 'dots_left_*.png' --dot tip=#e61414
expect_status 2 track cameras.json 'dots_left_*.png' 'dots_right_*.png' --dot tip=red
cp fit.json notpng.png
expect_status 3 track cameras.json 'notpn*.png' 'dots_right_*.png' --dot tip=#e61414
expect_clean
finish
