"""Parts made of cubes, as STL files: the boundary of a block of cells from which chambers, inlets and holes are taken.

    voxels.py FILE CELL NX,NY,NZ [X0:X1,Y0:Y1,Z0:Z1 ...]      (ranges of cells that are empty)
"""
import struct
import sys

name, cell = sys.argv[1], float(sys.argv[2])
n = [int(x) for x in sys.argv[3].split(",")]
solid = {(i, j, k) for i in range(n[0]) for j in range(n[1]) for k in range(n[2])}
for box in sys.argv[4:]:
    (a, b), (c, d), (e, f) = [tuple(int(x) for x in r.split(":")) for r in box.split(",")]
    solid -= {(i, j, k) for i in range(a, b) for j in range(c, d) for k in range(e, f)}
# the four corners of each side, counter-clockwise seen from outside
SIDES = {(1, 0, 0): [(1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)], (-1, 0, 0): [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)],
         (0, 1, 0): [(0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)], (0, -1, 0): [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)],
         (0, 0, 1): [(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], (0, 0, -1): [(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)]}
triangles = []
for v in solid:
    for side, corner in SIDES.items():
        if tuple(a + b for a, b in zip(v, side)) not in solid:
            p = [tuple(cell * (a + b) for a, b in zip(v, c)) for c in corner]
            triangles += [(side, p[0], p[1], p[2]), (side, p[0], p[2], p[3])]
with open(name, "wb") as f:
    f.write(b"\0" * 80 + struct.pack("<I", len(triangles)))
    for normal, *p in sorted(triangles):
        f.write(struct.pack("<12fH", *normal, *(x for q in p for x in q), 0))
