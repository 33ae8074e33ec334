"""Law: a half, quarter or eighth of a pressurised part answers as the whole, from STL files (cavity seen from inside, and a
second file with `cavity: true`), STEP and mesh files. Bodies of rectangular cells drawn at random. The parts are meshed by Pliant;
the whole is the part's own mesh and its mirror images, so that meshes differ by nothing: displacement of the tip and volume of the
chamber within 0.1 %. A second law compares with the whole meshed by itself: within 0.1 % or the sum of the estimated mesh errors. A
third one: a cut that is not normal to an axis, which no support can hold, is reported.
usage: law_chamber_files.py [--pliant PLIANT] [--seed SEED] [--count COUNT]"""
import argparse
import itertools
import json
import math
import os
import random
import subprocess
import tempfile

MATERIAL = "materials: {rubber: {model: neo_hookean, c10: 0.1, poisson: 0.47}}\nregions: {body: rubber}\n"
failed = False


def law(name, cases, worst, allowed, good):
    global failed
    failed = failed or not good
    print(f"law: {name} | cases {cases} | worst {worst} | allowed {allowed} | {'ok' if good else 'FAIL'}", flush=True)


# ---- bodies: cells of a grid in the first octant; the whole is symmetric in x and y, and in z where it has no base
class Body:
    def __init__(self, rng):
        self.eighth = rng.random() < 0.3
        self.wall = rng.uniform(2, 3)
        self.hollow = [rng.uniform(4, 8), rng.uniform(4, 8), rng.uniform(6, 14)]
        self.floor = 0 if self.eighth else rng.uniform(2, 4)
        self.step = rng.uniform(0.5, 0.8)  # the outer half of the cavity is narrower
        self.size = rng.uniform(2.2, 3.2)
        self.pressure = rng.uniform(4, 9)

    def grid(self, cut):
        """Coordinates of the planes and which cells are solid, and hollow; `cut`: the axes cut at 0."""
        x = [0, self.step * self.hollow[0], self.hollow[0], self.hollow[0] + self.wall]
        y = [0, self.hollow[1], self.hollow[1] + self.wall]
        z = [self.floor, self.floor + 0.5 * self.hollow[2], self.floor + self.hollow[2], self.floor + self.hollow[2] + self.wall]
        z = z if self.eighth else [0] + z
        first = 0 if self.eighth else 1
        inside = {(0, 0, first), (1, 0, first), (0, 0, first + 1)}
        axes, mirrored = [x, y, z], []
        for i, planes in enumerate(axes):
            whole = i not in cut and (i < 2 or self.eighth)
            mirrored.append(len(planes) - 1 if whole else 0)
            axes[i] = [-p for p in reversed(planes[1:])] + planes if whole else planes
        cell = lambda c, m: c - m if c >= m else m - 1 - c
        cells = itertools.product(*(range(len(a) - 1) for a in axes))
        hollow = {c for c in cells if tuple(cell(c[i], mirrored[i]) for i in range(3)) in inside}
        return axes, hollow

    def axis_low(self):
        return self.grid([0])[0][2][0]

    def cut_supports(self, cut):
        names = [f"{{surface: cut_{'xyz'[i]}, axes: [{'xyz'[i]}]}}" for i in cut]
        # a whole without a base must not move as a rigid body: its planes of symmetry stay in place
        box = lambda i, r: "[" + ", ".join("%g" % (r * (1e-5 if k == i else 1000)) for k in range(3)) + "]"
        boxes = [f"{{box: [{box(i, -1)}, {box(i, 1)}], axes: [{'xyz'[i]}]}}" for i in range(3) if self.eighth and i not in cut]
        return names + boxes + ([] if self.eighth else ["{surface: base}"])


def boundary(axes, cells):
    """Outer faces of a set of cells, as triangles."""
    out = []
    for c in sorted(cells):
        for axis in range(3):
            for side in (0, 1):
                other = list(c)
                other[axis] += 2 * side - 1
                if tuple(other) in cells:
                    continue
                u, v = (axis + 1) % 3, (axis + 2) % 3
                corner = []
                for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    p = [0.0] * 3
                    p[axis], p[u], p[v] = axes[axis][c[axis] + side], axes[u][c[u] + a], axes[v][c[v] + b]
                    corner.append(p)
                if side == 0:
                    corner.reverse()
                out += [(corner[0], corner[1], corner[2]), (corner[0], corner[2], corner[3])]
    return out


def write_stl(path, triangles):
    with open(path, "w") as f:
        f.write("solid part\n")
        for t in triangles:
            f.write("facet normal 0 0 0\nouter loop\n")
            for p in t:
                f.write("vertex %.9g %.9g %.9g\n" % tuple(p))
            f.write("endloop\nendfacet\n")
        f.write("endsolid part\n")


# ---- STEP: a solid of planar faces
def write_step(path, triangles, merge):
    """Faces are the rectangles of `merge`: lists of four corners, counter-clockwise from outside."""
    lines, points, number = [], {}, [0]

    def add(text):
        number[0] += 1
        lines.append(f"#{number[0]}={text};")
        return number[0]

    def point(p):
        return add("CARTESIAN_POINT('',(%.9g,%.9g,%.9g))" % tuple(p))

    def direction(d):
        return add("DIRECTION('',(%.9g,%.9g,%.9g))" % tuple(d))

    def vertex(p):
        key = tuple(round(c, 7) for c in p)
        if key not in points:
            points[key] = add(f"VERTEX_POINT('',#{point(p)})")
        return points[key]

    edges = {}

    def edge(a, b):
        ka, kb = (tuple(round(c, 7) for c in p) for p in (a, b))
        if (ka, kb) not in edges:
            d = [b[i] - a[i] for i in range(3)]
            length = sum(c * c for c in d) ** 0.5
            line = add(f"LINE('',#{point(a)},#{add(f'VECTOR({chr(39)}{chr(39)},#{direction([c / length for c in d])},1.)')})")
            e = add(f"EDGE_CURVE('',#{vertex(a)},#{vertex(b)},#{line},.T.)")
            edges[(ka, kb)], edges[(kb, ka)] = (e, ".T."), (e, ".F.")
        return edges[(ka, kb)]

    faces = []
    for quad in merge:
        loop = [add(f"ORIENTED_EDGE('',*,*,#{e},{s})") for e, s in (edge(quad[k], quad[(k + 1) % 4]) for k in range(4))]
        bound = add(f"FACE_OUTER_BOUND('',#{add('EDGE_LOOP(' + chr(39) * 2 + ',(' + ','.join('#%d' % l for l in loop) + '))')},.T.)")
        u, v = ([quad[k][i] - quad[0][i] for i in range(3)] for k in (1, 3))
        n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        ln, lu = (sum(c * c for c in w) ** 0.5 for w in (n, u))
        frame = add(f"AXIS2_PLACEMENT_3D('',#{point(quad[0])},#{direction([c / ln for c in n])},#{direction([c / lu for c in u])})")
        faces.append(add(f"ADVANCED_FACE('',(#{bound}),#{add(f'PLANE({chr(39)}{chr(39)},#{frame})')},.T.)"))
    solid = add(f"MANIFOLD_SOLID_BREP('',#{add('CLOSED_SHELL(' + chr(39) * 2 + ',(' + ','.join('#%d' % f for f in faces) + '))')})")
    length = add("(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.))")
    angle = add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))")
    solid_angle = add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())")
    tolerance = add(f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-07),#{length},'distance_accuracy_value','')")
    context = add(f"(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#{tolerance}))"
                  f"GLOBAL_UNIT_ASSIGNED_CONTEXT((#{length},#{angle},#{solid_angle}))REPRESENTATION_CONTEXT('',''))")
    origin = add(f"AXIS2_PLACEMENT_3D('',#{point([0, 0, 0])},#{direction([0, 0, 1])},#{direction([1, 0, 0])})")
    shape = add(f"ADVANCED_BREP_SHAPE_REPRESENTATION('',(#{origin},#{solid}),#{context})")
    application = add("APPLICATION_CONTEXT('automotive design')")
    product = add(f"PRODUCT('body','body','',(#{add(f'PRODUCT_CONTEXT({chr(39)}{chr(39)},#{application},{chr(39)}mechanical{chr(39)})')}))")
    formation = add(f"PRODUCT_DEFINITION_FORMATION('','',#{product})")
    definition = add(f"PRODUCT_DEFINITION('design','',#{formation},"
                     f"#{add(f'PRODUCT_DEFINITION_CONTEXT({chr(39)}part definition{chr(39)},#{application},{chr(39)}design{chr(39)})')})")
    add(f"SHAPE_DEFINITION_REPRESENTATION(#{add(f'PRODUCT_DEFINITION_SHAPE({chr(39)}{chr(39)},{chr(39)}{chr(39)},#{definition})')},#{shape})")
    with open(path, "w") as f:
        f.write("ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\nFILE_NAME('part.step','',(''),(''),'','','');\n"
                "FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));\nENDSEC;\nDATA;\n")
        f.write("\n".join(lines) + "\nENDSEC;\nEND-ISO-10303-21;\n")


# ---- meshes: quadratic tetrahedra in Gmsh's format 2.2
def read_inp(path):
    """Nodes and quadratic tetrahedra of an Abaqus file."""
    node, tet, block, pending = {}, [], None, []
    for line in open(path):
        text = line.strip()
        if text.startswith("**"):
            continue
        if text.startswith("*"):
            word = text.split(",")[0].lower()
            block = "node" if word == "*node" else "element" if word == "*element" and "c3d10" in text.lower() else None
            pending = []
            continue
        values = [v for v in text.split(",") if v.strip()]
        if block == "node":
            node[int(values[0])] = tuple(float(v) for v in values[1:4])
        elif block == "element":
            pending += [int(v) for v in values]
            if len(pending) >= 11:
                tet.append(pending[1:11])
                pending = []
    return node, tet


def mirror(node, tet, axis):
    order = [0, 2, 1, 3, 6, 5, 4, 7, 9, 8]  # corners 1 and 2 exchanged; edges 01 12 02 03 13 23
    image, out, last = {}, dict(node), max(node)
    for k, p in node.items():
        if abs(p[axis]) < 1e-7:
            image[k] = k
        else:
            last += 1
            image[k] = last
            out[last] = tuple(-c if i == axis else c for i, c in enumerate(p))
    return out, tet + [[image[t[o]] for o in order] for t in tet]


def write_inp(path, node, tet):
    with open(path, "w") as f:
        f.write("*NODE\n")
        f.writelines("%d, %.16g, %.16g, %.16g\n" % ((k,) + p) for k, p in sorted(node.items()))
        f.write("*ELEMENT, TYPE=C3D10, ELSET=body\n")
        f.writelines("%d, %s\n" % (i + 1, ", ".join(map(str, t))) for i, t in enumerate(tet))


class Run:
    def __init__(self, pliant, folder):
        self.pliant, self.folder = pliant, folder

    def call(self, *args):
        done = subprocess.run([self.pliant, *args], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def robot(self, name, body, mesh, cut, cavity="surfaces"):
        """Writes NAME.yaml; `cavity`: `surfaces` (seen from inside) or the name that the mesh has for it."""
        tip = body.floor + body.hollow[2] + body.wall
        surfaces = {f"cut_{'xyz'[i]}": f"{{plane: {{point: [0, 0, 0], normal: [{', '.join(str(int(k == i)) for k in range(3))}]}}}}"
                    for i in cut}
        if not body.eighth:
            surfaces["base"] = "{plane: {point: [0, 0, 0], normal: [0, 0, 1]}}"
        if cavity == "surfaces":
            eye = [0.3 * body.step * body.hollow[0], 0.3 * body.hollow[1], body.floor + 0.3 * body.hollow[2]]
            surfaces["cavity"] = f"{{seen_from: [{', '.join('%.6g' % e for e in eye)}]}}"
        with open(os.path.join(self.folder, name + ".yaml"), "w") as f:
            f.write(f"pliant: 1\nname: part\nmesh: {mesh}\n{MATERIAL}surfaces:\n")
            f.writelines(f"  {k}: {v}\n" for k, v in surfaces.items())
            f.write(f"fixed: [{', '.join(body.cut_supports(cut))}]\n")
            f.write("actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}]\n")
            f.write(f"markers: {{tip: {{at: [0, 0, {tip:.9g}]}}}}\n")

    def answer(self, name, body):
        status, text = self.call("fk", name + ".yaml", "--set", "air=%.6gkPa" % body.pressure, "--json", name + ".json")
        if status != 0:
            return None, " ".join(text.split())[:300]
        j = json.load(open(os.path.join(self.folder, name + ".json")))
        pick = lambda v: v[0] if isinstance(v, list) else next(iter(v.values()))
        tip, air = pick(j["markers"]), pick(j["actuators"])
        return {"tip": tip["displacement"], "volume": air.get("volume", air.get("measure")), "error": j["mesh_error"] or 0}, ""


def off(a, b, share):
    size = sum(c * c for c in b["tip"]) ** 0.5
    return max(sum((p - q) ** 2 for p, q in zip(a["tip"], b["tip"])) ** 0.5 / size, abs(share * a["volume"] / b["volume"] - 1))


def sources(run, body, cut, name):
    """Writes the part in every format; yields (format, mesh block, name of the cavity)."""
    axes, hollow = body.grid(cut)
    cells = set(itertools.product(*(range(len(a) - 1) for a in axes)))
    solid = cells - hollow
    put = lambda ending, part: write_stl(os.path.join(run.folder, name + ending), boundary(axes, part))
    put(".stl", solid)
    size = f"unit: mm, size: {body.size:.3g}"
    yield "stl", f"{{parts: [{{surface: {name}.stl, region: body}}], {size}}}", "surfaces"
    put("_block.stl", cells)
    put("_air.stl", hollow)
    yield ("cavity", f"{{parts: [{{surface: {name}_block.stl, region: body}}, "
           f"{{surface: {name}_air.stl, region: cavity, cavity: true}}], {size}}}", "cavity")
    faces = boundary(axes, solid)
    quads = [[faces[k][0], faces[k][1], faces[k][2], faces[k + 1][2]] for k in range(0, len(faces), 2)]
    write_step(os.path.join(run.folder, name + ".step"), faces, quads)
    yield "step", f"{{step: {name}.step, size: {body.size:.3g}}}", "surfaces"


def oblique(run, body, angle, k):
    """Half a part turned about z, its cut held along x: what `doctor` says of it."""
    axes, hollow = body.grid([0])
    cells = set(itertools.product(*(range(len(a) - 1) for a in axes)))
    c, s = math.cos(angle), math.sin(angle)
    turn = lambda p: (c * p[0] - s * p[1], s * p[0] + c * p[1], p[2])
    write_stl(os.path.join(run.folder, f"oblique{k}.stl"), [tuple(map(turn, t)) for t in boundary(axes, cells - hollow)])
    eye = turn((0.3 * body.step * body.hollow[0], 0.3 * body.hollow[1], body.floor + 0.3 * body.hollow[2]))
    with open(os.path.join(run.folder, f"oblique{k}.yaml"), "w") as f:
        f.write(f"pliant: 1\nname: part\nmesh: {{parts: [{{surface: oblique{k}.stl, region: body}}], unit: mm, size: 4}}\n{MATERIAL}"
                f"surfaces:\n  cut: {{plane: {{point: [0, 0, 0], normal: [{c:.12g}, {s:.12g}, 0]}}}}\n"
                f"  low: {{plane: {{point: [0, 0, {body.axis_low():.9g}], normal: [0, 0, 1]}}}}\n"
                f"  cavity: {{seen_from: [{', '.join('%.6g' % e for e in eye)}]}}\n"
                "fixed: [{surface: low}, {surface: cut, axes: [x]}]\n"
                "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}]\nmarkers: {tip: {at: [0, 0, 0]}}\n")
    return run.call("doctor", f"oblique{k}.yaml")[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pliant", default="build/pliant")
    parser.add_argument("--seed", type=int, default=27)
    parser.add_argument("--count", type=int, default=8)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    worst = worst_own = 0.0
    cases = own = lost = 0
    with tempfile.TemporaryDirectory() as folder:
        run = Run(os.path.abspath(args.pliant), folder)
        for k in range(args.count):
            body = Body(rng)
            symmetric = [0, 1, 2] if body.eighth else [0, 1]
            cut = sorted(rng.sample(symmetric, rng.randint(1, len(symmetric))))
            whole_axes, whole_hollow = body.grid([])
            whole_cells = set(itertools.product(*(range(len(a) - 1) for a in whole_axes)))
            write_stl(os.path.join(folder, f"whole{k}.stl"), boundary(whole_axes, whole_cells - whole_hollow))
            run.robot(f"whole{k}", body, f"{{parts: [{{surface: whole{k}.stl, region: body}}], unit: mm, size: {body.size:.3g}}}", [])
            whole, why = (None, "") if body.eighth else run.answer(f"whole{k}", body)  # a free mesh has no vertices in the planes
            for kind, mesh, cavity in sources(run, body, cut, f"part{k}"):
                name = f"{kind}{k}"
                run.robot(name, body, mesh, cut, cavity)
                part, why = run.answer(name, body)
                status, text = run.call("mesh", name + ".yaml", "--out", name + ".inp") if part else (1, why)
                image, why_image, same = None, text, None
                if status == 0:
                    node, tet = read_inp(os.path.join(folder, name + ".inp"))
                    write_inp(os.path.join(folder, name + "_file.inp"), node, tet)
                    run.robot(name + "_file", body, f"{{file: {name}_file.inp}}", cut)
                    same, why_image = run.answer(name + "_file", body)
                    for axis in cut:
                        node, tet = mirror(node, tet, axis)
                    write_inp(os.path.join(folder, name + "_image.inp"), node, tet)
                    run.robot(name + "_image", body, f"{{file: {name}_image.inp}}", [])
                    image, why_image = run.answer(name + "_image", body)
                share = 2 ** len(cut)
                if not (part and image and same):
                    lost += 1
                    print(f"body {k} {kind}, cut along {cut}: {why or why_image}", flush=True)
                    continue
                d, e = off(part, image, share), off(same, image, share)
                print(f"body {k} {kind:6} cut along {''.join('xyz'[i] for i in cut):3} volume {share * part['volume']:9.3f} mm^3, tip "
                      f"{sum(c * c for c in image['tip']) ** 0.5:.4f} mm: part {d:.1e}, its mesh file {e:.1e} off the mirrored mesh", end="")
                worst = max(worst, d, e)
                cases += 2
                if whole:
                    w = off(part, whole, share)
                    allowed = max(1e-3, part["error"] + whole["error"])
                    worst_own = max(worst_own, w / allowed)
                    own += 1
                    print(f", {w:.1e} off a mesh of the whole (estimated errors {part['error']:.1e}, {whole['error']:.1e})", end="")
                print(flush=True)
        silent = sum("supports hold along these axes only" not in oblique(run, Body(rng), rng.uniform(0.05, 1.5), k) for k in range(10))
    law("parts from files", cases, f"{worst:.1e} of motion or volume, {lost} not solved", "1e-03, 0", worst <= 1e-3 and lost == 0 and cases > 0)
    law("parts and wholes meshed apart", own, f"{worst_own:.2f} of the estimated mesh errors or of 1e-3", "1", worst_own <= 1 and own > 0)
    law("cuts that are not normal to an axis are reported", 10, f"{silent} not reported", "0", silent == 0)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
