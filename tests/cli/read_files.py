"""Reads what pliant has written, with the programs of others: meshio, VTK, h5py. What is not installed is skipped, with
words. Surfaces (OBJ, PLY, GLB) are also read here by hand, after their specifications.
usage: read_files.py SERIES SHAPE: stems of files"""
import importlib
import json
import struct
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed (python3-numpy)")
    sys.exit(0)

series, shape = sys.argv[1:3]
failed = 0


def check(what, good, found=""):
    global failed
    failed += not good
    print(f"  {'ok     ' if good else 'FAILED '} {what} {found}")


def have(name, package):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"  skipped: files are not read by {name}, which is not installed ({package})")
        return None


def volume(x, triangle):
    """Of a closed surface: sum of the tetrahedra from the origin."""
    a, b, c = (x[triangle[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def closed(triangle):
    edge = np.concatenate([triangle[:, [k, (k + 1) % 3]] for k in range(3)])
    there = {tuple(e) for e in edge.tolist()}
    return len(there) == len(edge) and all((b, a) in there for a, b in there)


def read_obj(path):
    x, triangle, groups, lines = [], [], [], 0
    for line in open(path):
        word = line.split()
        if word[:1] == ["v"]:
            x.append([float(w) for w in word[1:4]])
        elif word[:1] == ["f"]:
            triangle.append([int(w) - 1 for w in word[1:]])
        elif word[:1] == ["g"]:
            groups.append(word[1])
        elif word[:1] == ["l"]:
            lines += 1
    return np.array(x), np.array(triangle), groups, lines


def read_ply(path):
    data = open(path, "rb").read()
    head, body = data.split(b"end_header\n", 1)
    lines = head.decode().split("\n")
    assert lines[1] == "format binary_little_endian 1.0"
    count, kinds, faces, seen = 0, [], 0, ""
    for line in lines:
        word = line.split()
        if word[:1] == ["element"]:
            seen = word[1]
            count, faces = (int(word[2]), faces) if seen == "vertex" else (count, int(word[2]))
        elif word[:1] == ["property"] and seen == "vertex":
            kinds.append((word[2], {"float": "<f4", "uchar": "u1"}[word[1]]))
    vertex = np.frombuffer(body, np.dtype(kinds), count)
    face = np.dtype([("n", "u1"), ("v", "<i4", 3)])
    rest = body[count * vertex.dtype.itemsize :]
    check("a PLY file ends where its elements end", len(rest) == faces * face.itemsize)
    return vertex, np.frombuffer(rest, face, faces)["v"]


SIZE = {5120: 1, 5121: 1, 5123: 2, 5125: 4, 5126: 4}
TYPE = {5120: "i1", 5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDE = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def read_glb(path):
    """The document and a function that gives the numbers of an accessor; checks what glTF 2.0 demands."""
    data = open(path, "rb").read()
    magic, version, total = struct.unpack("<4sII", data[:12])
    check("GLB: head", magic == b"glTF" and version == 2 and total == len(data))
    length, kind = struct.unpack("<I4s", data[12:20])
    document = json.loads(data[20 : 20 + length])
    length2, kind2 = struct.unpack("<I4s", data[20 + length : 28 + length])
    check("GLB: chunks", kind == b"JSON" and kind2 == b"BIN\0" and length % 4 == 0 and length2 % 4 == 0 and 28 + length + length2 == len(data))
    blob = data[28 + length :]
    views = document["bufferViews"]
    check("GLB: views inside the buffer, aligned", all(v["byteOffset"] % 4 == 0 and v["byteOffset"] + v["byteLength"] <= len(blob) for v in views))

    def numbers(i):
        a = document["accessors"][i]
        view = views[a["bufferView"]]
        wide = WIDE[a["type"]]
        assert a["count"] * wide * SIZE[a["componentType"]] == view["byteLength"], a
        return np.frombuffer(blob, TYPE[a["componentType"]], a["count"] * wide, view["byteOffset"]).reshape(a["count"], wide)

    good = True
    for i, a in enumerate(document["accessors"]):
        x = numbers(i)
        if a["componentType"] == 5126:
            good = good and bool(np.isfinite(x).all())
        if "min" in a:
            good = good and bool((x.min(0) == np.float32(a["min"])).all() and (x.max(0) == np.float32(a["max"])).all())
    check("GLB: finite numbers, true limits", good)
    for mesh in document["meshes"]:
        for p in mesh["primitives"]:
            n = len(numbers(p["attributes"]["POSITION"]))
            same = all(len(numbers(k)) == n for t in [p["attributes"], *p.get("targets", [])] for k in t.values())
            limits = all("min" in document["accessors"][t["POSITION"]] for t in [p["attributes"], *p.get("targets", [])])
            normal = numbers(p["attributes"]["NORMAL"])
            check(
                f"GLB: {mesh['name']}: counts, indices, limits of positions, unit normals",
                same and limits and numbers(p["indices"]).max() == n - 1 and np.allclose((normal**2).sum(1), 1, atol=1e-5),
            )
    return document, numbers


# ---- by hand
x, triangle, groups, lines = read_obj(f"{shape}.obj")
whole = volume(x, triangle)
check("OBJ: closed", closed(triangle), f"{len(triangle)} triangles, {whole:.6g} mm^3, groups {' '.join(groups)}, {lines} lines")
check("OBJ: body first, cables as lines", groups[0] == "body" and lines == len(groups) - 1 > 0)
vertex, triangle = read_ply(f"{shape}.ply")
x = np.stack([vertex["x"], vertex["y"], vertex["z"]], 1).astype(float)
check("PLY: closed, of the same volume", closed(triangle) and abs(volume(x, triangle) / whole - 1) < 1e-5)
check("PLY: the numbers of the colours", np.ptp(vertex["displacement_mm"]) > 0 and np.ptp(vertex["red"]) > 100)
document, numbers = read_glb(f"{shape}.glb")
document, numbers = read_glb(f"{series}.glb")
names = [n["name"] for n in document["nodes"]]
check("GLB: outside and cavity are nodes of their own", names[1:] == ["body", "air"], names)
one = document["animations"][0]
time, weight = (numbers(one["samplers"][0][k]) for k in ("input", "output"))
shapes = len(time)
check("GLB: times increase from 0", time[0] == 0 and (np.diff(time[:, 0]) > 0).all() and shapes == 3)
check("GLB: weights pick one target at a time", (weight.reshape(shapes, -1) == np.eye(shapes)[:, 1:]).all())
check("GLB: every mesh moves", len(one["channels"]) == len(document["meshes"]))
# the last target of all meshes put together is the closed surface of the last shape
last = 0.0
for mesh in document["meshes"]:
    p = mesh["primitives"][0]
    x = numbers(p["attributes"]["POSITION"]) + numbers(p["targets"][-1]["POSITION"])
    last += volume(x.astype(float), numbers(p["indices"]).reshape(-1, 3))

# ---- by others
meshio = have("meshio", "python3-meshio")
h5py = have("h5py", "python3-h5py")
vtk = have("vtk", "python3-vtk9")
if meshio:
    mesh = meshio.read(f"{shape}.vtu")
    check("meshio: VTU holds the body alone", [c.type for c in mesh.cells] == ["tetra10"], mesh.cells)
    stress, mises = mesh.point_data["cauchy_stress_kpa"], mesh.point_data["von_mises_kpa"]
    a, b, c, d, e, f = stress.T
    again = np.sqrt(0.5 * ((a - b) ** 2 + (b - c) ** 2 + (c - a) ** 2) + 3 * (d * d + e * e + f * f))
    # an average of the tensor is no larger than the average of what is computed from it
    check("meshio: stress and von Mises belong together", bool((again <= mises * (1 + 1e-9) + 1e-9).all()) and again.max() > 0.5 * mises.max())
    check("meshio: OBJ, PLY", all(len(meshio.read(f"{shape}.{k}").cells[0].data) == len(triangle) for k in ("obj", "ply")))
    for name in (f"{series}_0002.vtu", f"{series}_0002_cavity_air.vtu", f"{shape}_cable_flexor.vtu", f"{shape}_body.vtu", "mesh.vtu", "points.vtu"):
        mesh = meshio.read(name)
        check(f"meshio: {name}", len(mesh.points) > 0 and len(mesh.cells) > 0, f"{sum(len(c.data) for c in mesh.cells)} cells; {' '.join([*mesh.point_data, *mesh.cell_data])}")
if meshio and h5py:
    with meshio.xdmf.TimeSeriesReader(f"{series}.xdmf") as reader:
        points, cells = reader.read_points_cells()
        steps = [reader.read_data(k) for k in range(reader.num_steps)]
    tet = cells[0].data
    rest = points - steps[0][1]["displacement_mm"]
    moved = rest + steps[-1][1]["displacement_mm"]

    def tets(at):
        a, b, c, d = (at[tet[:, k]] for k in range(4))
        return np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a)).sum() / 6

    check("meshio: XDMF has all shapes", len(steps) == 3)
    check("meshio: XDMF, the last shape is that of the GLB", abs(tets(moved) / last - 1) < 1e-5, f"{tets(moved):.6g} and {last:.6g} mm^3")
    ratio = steps[-1][2]["J"][0]
    a, b, c, d = (rest[tet[:, k]] for k in range(4))
    size = np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a)) / 6
    check("meshio: XDMF, J is the ratio of volumes", abs((size * ratio).sum() / tets(moved) - 1) < 1e-5)
    stress = steps[-1][1]["cauchy_stress_kpa"].reshape(-1, 3, 3)
    check("meshio: XDMF, the stress is symmetric", np.array_equal(stress, stress.transpose(0, 2, 1)) and abs(stress).max() > 1)
    check("meshio: XDMF of one shape", len(meshio.read(f"{shape}.xdmf").points) > 0)
    file = h5py.File(f"{series}.h5", "r")
    check("h5py: every array can be read", all(np.isfinite(np.array(file[k])).all() for k in file), f"{len(file)} arrays")
if vtk:
    # VTK prints what it does not like
    class Listener:
        said = ""

        def hear(self, *what):
            self.said += str(what)

    listener = Listener()

    def vtk_read(reader, name):
        reader.AddObserver("ErrorEvent", listener.hear)
        reader.AddObserver("WarningEvent", listener.hear)
        reader.SetFileName(name)
        reader.Update()
        return reader.GetOutput()

    grid = vtk_read(vtk.vtkXMLUnstructuredGridReader(), f"{shape}.vtu")
    check("VTK: VTU", grid.GetNumberOfCells() > 0 and grid.GetPointData().GetArray("cauchy_stress_kpa").GetNumberOfComponents() == 6)
    blocks = vtk_read(vtk.vtkXMLMultiBlockDataReader(), f"{shape}.vtm")
    found, walk = {}, blocks.NewIterator()
    walk.InitTraversal()
    while not walk.IsDoneWithTraversal():
        found[walk.GetCurrentMetaData().Get(vtk.vtkCompositeDataSet.NAME())] = walk.GetCurrentDataObject()
        walk.GoToNextItem()
    tension = found["flexor"].GetCellData().GetArray("tension_n").GetValue(0) if "flexor" in found else 0
    check("VTK: VTM, the body and every cable is a block", set(found) >= {"body", "flexor"} and tension > 0, f"{' '.join(found)}, tension {tension:.4g} N")
    if hasattr(vtk, "vtkGLTFReader"):
        reader = vtk.vtkGLTFReader()
        bounds = [0.0] * 6
        vtk_read(reader, f"{series}.glb").GetBounds(bounds)
        check("VTK: GLB in metres with an animation", reader.GetNumberOfAnimations() == 1 and 0.05 < bounds[1] < 0.2, [round(b, 4) for b in bounds])
    check("VTK: PLY", vtk_read(vtk.vtkPLYReader(), f"{shape}.ply").GetNumberOfCells() == len(triangle))
    check("VTK: nothing to complain of", not listener.said, listener.said)
sys.exit(1 if failed else 0)
