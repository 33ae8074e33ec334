// fiber_bender: a half-round tube on a flat floor, closed at both ends. A thread wound about the chamber
// keeps its section, a strip under the floor keeps its length: under pressure the round side gets longer and
// the finger bends towards the floor. z runs along the finger (base at 0), x up from the floor's upper side.
#include "meshing/meshing_impl.h"

enum { LENGTH, RADIUS, WALL, FLOOR, CAP };

static const pl_design_parameter parameter[] = {
    [LENGTH] = {"length", "mm", "from the base to the tip, caps included", 100, 10, 1000, false},
    [RADIUS] = {"radius", "mm", "of the half-round chamber", 6, 1, 200, false},
    [WALL] = {"wall", "mm", "thickness of the round wall", 2, 0.2, 100, false},
    [FLOOR] = {"floor", "mm", "thickness of the flat floor", 2, 0.2, 100, false},
    [CAP] = {"cap", "mm", "thickness of both ends", 4, 0.2, 100, false},
};

static const char *fibre_check(const double *p)
{
    return p[LENGTH] - 2 * p[CAP] < p[RADIUS] ? "length leaves no chamber between the caps" : NULL;
}

// The half of a cylinder along z with x > 0.
static int fibre_half(drawing *d, double from, double length, double radius)
{
    int half = drawing_cylinder(d, 0, 0, from, length, radius);
    int knife = drawing_box(d, -2 * radius, -2 * radius, from - 1, 2 * radius, 4 * radius, length + 2);
    drawing_cut(d, &half, &knife, 1);
    return half;
}

// The wall, the floor below it, and the chamber inside the wall.
static void fibre_draw(drawing *d, const double *p)
{
    const double outer = p[RADIUS] + p[WALL];
    drawing_add(d, fibre_half(d, 0, p[LENGTH], outer), SOLID_REGION, "wall");
    drawing_add(d, drawing_box(d, -p[FLOOR], -outer, 0, p[FLOOR], 2 * outer, p[LENGTH]), SOLID_REGION,
                "floor");
    drawing_add(d, fibre_half(d, p[CAP], p[LENGTH] - 2 * p[CAP], p[RADIUS]), SOLID_CAVITY, "cavity");
    drawing_plane(d, "base", 2, 0);
    drawing_plane(d, "tip", 2, p[LENGTH]);
    drawing_plane(d, "bottom", 0, -p[FLOOR]);
    d->outer = "outside";
    d->length = p[LENGTH];
    d->thinnest = fmin(fmin(p[WALL], p[FLOOR]), p[CAP]);
}

static double fibre_volume(const double *p, const char *name)
{
    const double outer = p[RADIUS] + p[WALL],
                 chamber = 0.5 * PL_PI * p[RADIUS] * p[RADIUS] * (p[LENGTH] - 2 * p[CAP]);
    return strcmp(name, "cavity") == 0  ? chamber
           : strcmp(name, "floor") == 0 ? 2 * outer * p[FLOOR] * p[LENGTH]
           : strcmp(name, "wall") == 0  ? 0.5 * PL_PI * outer * outer * p[LENGTH] - chamber
                                        : -1;
}

static const char yaml[] =
    "# A fibre-reinforced bending finger: a thread keeps its section, a strip keeps the length of its "
    "floor.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: fiber-bender\n"
    "\n"
    "# The shape is generated from parameters. z runs along the finger from the base at 0, x points up.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: fiber_bender\n"
    "    length: 100          # from the base to the tip\n"
    "    radius: 6            # of the half-round chamber\n"
    "    wall: 2              # the round wall\n"
    "    floor: 2             # the flat floor\n"
    "    cap: 4               # both ends\n"
    "  size: 4                # target edge length of the elements\n"
    "  order: 2               # quadratic tetrahedra; linear ones are far too stiff in bending\n"
    "\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}\n"
    "  fabric: {model: linear, young: 100 MPa, poisson: 0.3}\n"
    "regions: {wall: silicone, floor: silicone}\n"
    "\n"
    "# What is bonded to faces of the body, without elements of its own (docs/explanation/layers.md): an "
    "inextensible "
    "thread in\n"
    "# both directions about the chamber, 3 mm per turn, and a strip under the floor.\n"
    "fibres:\n"
    "  - {name: thread, kind: helix, surface: cavity, axis: [0, 0, 1], about: [floor, 0, 0], pitch: 3, hand: "
    "both}\n"
    "layers:\n"
    "  - {name: strip, surface: bottom, material: fabric, thickness: 0.3}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip, bottom, outside and cavity.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "actuators:\n"
    "  - {name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 80 kPa]}\n"
    "\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_fiber_bender = {
    .open = {"fiber_bender", "fibre-reinforced finger: wound thread and a strip that keeps its length; bends",
             parameter, PL_COUNT(parameter), yaml},
    .check = fibre_check,
    .draw = fibre_draw,
    .volume = fibre_volume,
};
