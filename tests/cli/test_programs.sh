#!/usr/bin/env bash
# Files for simulators: chains of rigid links, a SOFA scene (both read by read_programs.py), and a job that CalculiX solves to
# the same shape where it is installed.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
python=/usr/bin/python3
[ -x $python ] || python=python3
$python -c 'import numpy' 2>/dev/null || { echo "skipped: numpy is not installed (python3-numpy)"; exit 0; }

"$pliant" new bending_finger finger >/dev/null
"$pliant" new cable_finger claw >/dev/null
coarse="--size 14 --no-mesh-error"
expect_status 0 fk finger $coarse --set air=10kPa --out f.urdf --out f.sdf --out f.mjcf --out f.py --json f.json
expect_words out.txt "f.urdf: 8 links; tip off by"
expect_status 0 jacobian finger --size 14 --set air=10kPa --compliance --json c.json
status=0
$python "$here/read_programs.py" f f.json c.json >out.txt 2>err.txt || status=$?
cat out.txt err.txt
if [ $status -eq 0 ]; then pass "read by others"; else fail "read by others: exit $status"; fi

# MuJoCo itself: in the key frame, and where the springs and motors bring the chain from rest, the marker lies where the file says,
# as far from the full body as the file says
if printf '#include <mujoco/mujoco.h>\nint main(void) { return mj_version() == 0; }\n' >probe.c && cc probe.c -o probe -lmujoco 2>/dev/null; then
    cc -O1 "$here/chain_mujoco.c" -o chain_mujoco -lmujoco -lm
    ./chain_mujoco f.urdf >urdf.txt || cat urdf.txt
    ./chain_mujoco f.mjcf >mjcf.txt || cat mjcf.txt
    status=0
    $python - >out.txt <<'END' || status=$?
import json, re
found = dict((line.split()[0], [float(w) for w in line.split()[1:]]) for line in open("mjcf.txt") if line.split()[0] in ("key", "settled"))
solved = json.load(open("f.json"))["markers"]["tip"]["position"]
said = float(re.search(r"tip off by ([0-9.e-]+) mm", open("f.mjcf").read()).group(1))
apart = lambda a, b: sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5
print(f"  MuJoCo: key {apart(found['key'], solved):.4f} mm off the full body (the file says {said}), settles {apart(found['key'], found['settled']):.1e} mm from it")
print("  " + open("urdf.txt").readline().strip() + " of the URDF")
raise SystemExit(not (abs(apart(found["key"], solved) - said) < 1e-3 * said and apart(found["key"], found["settled"]) < 1e-4
                      and "joints 32 " in open("urdf.txt").read()))
END
    cat out.txt
    if [ $status -eq 0 ]; then pass "MuJoCo"; else fail "MuJoCo finds another shape"; fi
else
    echo "  skipped: libmujoco-dev is not installed, chains are not loaded by MuJoCo"
fi
# sdformat, the reader of Gazebo: links that it takes for massless are dropped, with all that hangs on them
sdformat=$(pkg-config --list-all 2>/dev/null | grep -oE '^sdformat[0-9]+' | tail -n 1 || true)
if [ -n "$sdformat" ] && c++ -std=c++17 "$here/chain_sdformat.cc" -o chain_sdformat $(pkg-config --cflags --libs "$sdformat") 2>/dev/null; then
    for file in f.urdf f.sdf; do
        ./chain_sdformat $file >out.txt || true
        expect_words out.txt "links 33 springs 32"
    done
else
    echo "  skipped: libsdformat-dev is not installed, chains are not read by Gazebo's reader"
fi
expect_status 2 fk finger $coarse --set air=10kPa --out f.urdf --links 5000
"$pliant" new trunk_cc trunk >/dev/null
expect_status 2 fk trunk --out t.urdf
expect_words err.txt "a chain is fitted to a full body"

# displacements of CalculiX, node by node
expect_status 0 fk claw $coarse --displacement --set flexor=4mm --out job.inp --out job.vtu
expect_words job.inp "*HYPERELASTIC, NEO HOOKE" "*STEP, NLGEOM" "** solved: marker tip at"
if command -v ccx >/dev/null 2>&1 && $python -c 'import meshio' 2>/dev/null; then
    OMP_NUM_THREADS=1 ccx job >ccx.txt 2>&1 || true
    status=0
    $python - >out.txt 2>err.txt <<'END' || status=$?
import meshio, numpy as np
U, time = {}, 0.0
for line in open("job.dat"):
    word = line.split()
    time = float(word[-1]) if "time" in line else time
    if len(word) == 4 and word[0].isdigit():
        U[int(word[0])] = [float(w) for w in word[1:]]
ours = np.array(meshio.read("job.vtu").point_data["displacement_mm"])
theirs = np.array([U[i + 1] for i in range(len(ours))])
off = np.abs(ours - theirs).max() / np.abs(ours).max()
print(f"  CalculiX: largest difference {off:.1e} of the largest displacement {np.abs(ours).max():.2f} mm, at time {time}")
raise SystemExit(not (time == 1 and off < 1e-3))
END
    cat out.txt
    if [ $status -eq 0 ]; then pass "CalculiX finds the same shape"; else fail "CalculiX finds another shape"; fi
else
    echo "  skipped: ccx (calculix-ccx) or meshio is not installed, the job is not solved by others"
fi
finish
