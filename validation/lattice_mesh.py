"""Meshes of quadratic tetrahedra, six in each cell of a lattice, as an Abaqus file that Pliant and CalculiX both read."""

# corners of the six tetrahedra of a cell: the axes along which they go from one corner of the cell to the opposite one
PATHS = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]


def lattice(cells, place, filled=lambda i, j, k: True):
    """Points and tetrahedra of cells[0] x cells[1] x cells[2] cells; `place` maps the unit cube to mm, `filled` says which cells are there."""
    sizes = [2 * count for count in cells]
    number, points, tets = {}, [], []

    def node(at):
        if at not in number:
            number[at] = len(points) + 1
            points.append(place(*(a / size for a, size in zip(at, sizes))))
        return number[at]

    for cell in ((i, j, k) for i in range(cells[0]) for j in range(cells[1]) for k in range(cells[2])):
        for path in PATHS if filled(*cell) else []:
            at = [2 * c for c in cell]
            corner = [tuple(at)]
            for axis in path:
                at[axis] += 2
                corner.append(tuple(at))
            if PATHS.index(path) >= 3:  # positive volume
                corner[1], corner[2] = corner[2], corner[1]
            middle = [tuple((p + q) // 2 for p, q in zip(corner[a], corner[b])) for a, b in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))]
            tets.append([node(c) for c in corner + middle])
    return points, tets


def write(path, points, tets):
    with open(path, "w", encoding="utf-8") as file:
        file.write("*NODE, NSET=NALL\n")
        file.writelines(f"{i}, {p[0]!r}, {p[1]!r}, {p[2]!r}\n" for i, p in enumerate(points, 1))
        file.write("*ELEMENT, TYPE=C3D10, ELSET=body\n")
        file.writelines(", ".join(map(str, [i, *t])) + "\n" for i, t in enumerate(tets, 1))
