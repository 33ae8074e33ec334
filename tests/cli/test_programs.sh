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
