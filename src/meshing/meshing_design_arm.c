// planar_arm: three bending sections, joined by rigid plates. A section has a stiff spine in the middle and a
// chamber on either side of it (left: +y, right: -y), divided into cells by stiff ribs that keep the outer
// wall from ballooning; air on one side makes that side longer and bends the section to the other. x runs
// along the arm (base at 0), the arm bends in the xy plane.
#include "meshing/meshing_impl.h"

#define ARM_SECTIONS 3

enum { SECTION, PLATE, WIDTH, HEIGHT, CELLS, RIB, WALL, SPINE };

static const pl_design_parameter parameter[] = {
    [SECTION] = {"section", "mm", "length of one bending section", 48, 5, 1000, false},
    [PLATE] = {"plate", "mm", "thickness of the rigid plates at the base, between sections and at the tip", 6,
               0.5, 200, false},
    [WIDTH] = {"width", "mm", "across, along y: the bending direction", 36, 4, 500, false},
    [HEIGHT] = {"height", "mm", "along z", 32, 2, 500, false},
    [CELLS] = {"cells", "", "of each chamber, in a row along the section", 3, 1, 12, true},
    [RIB] = {"rib", "mm", "stiff plate across the section, between two cells", 4, 0.2, 100, false},
    [WALL] = {"wall", "mm", "of the chambers, to the outside", 4, 0.2, 50, false},
    [SPINE] = {"spine", "mm", "thickness of the stiff layer between the two sides", 4, 0.1, 100, false},
};

static const char *const chamber_name[2][ARM_SECTIONS] = {{"left1", "left2", "left3"},
                                                          {"right1", "right2", "right3"}};
static const char *const plate_name[ARM_SECTIONS + 1] = {"base_plate", "plate1", "plate2", "plate3"};
static const char *const end_name[ARM_SECTIONS] = {"end1", "end2", "end3"};

static double arm_cell(const double *p)
{
    return (p[SECTION] - (p[CELLS] - 1) * p[RIB]) / p[CELLS];
}

static double arm_length(const double *p)
{
    return ARM_SECTIONS * p[SECTION] + (ARM_SECTIONS + 1) * p[PLATE];
}

// How far a chamber reaches across the arm.
static double arm_depth(const double *p)
{
    return (p[WIDTH] - p[SPINE]) / 2 - p[WALL];
}

static const char *arm_check(const double *p)
{
    if (arm_cell(p) < 0.2 * p[RIB]) {
        return "cells leave no space between ribs: use fewer cells, a thinner rib or a longer section";
    }
    if (p[HEIGHT] - 2 * p[WALL] < 0.2 * p[WALL]) {
        return "wall leaves no space inside height";
    }
    if (arm_depth(p) < 0.2 * p[WALL]) {
        return "spine and wall leave no space inside width";
    }
    return NULL;
}

// One side of one section: its cells, joined by bores through the ribs too fine to be drawn.
static void arm_side(drawing *d, const double *p, double x, int side, const char *name)
{
    const double depth = arm_depth(p), inside = p[HEIGHT] - 2 * p[WALL];
    const double y = side == 0 ? p[SPINE] / 2 : -p[SPINE] / 2 - depth;
    for (int i = 0; i < (int)p[CELLS]; ++i) {
        const double at = x + i * (arm_cell(p) + p[RIB]);
        drawing_add(d, drawing_box(d, at, y, -inside / 2, arm_cell(p), depth, inside), SOLID_CAVITY, name);
    }
}

static void arm_draw(drawing *d, const double *p)
{
    const double length = arm_length(p), step = p[SECTION] + p[PLATE];

    // a block, the spine in its middle, plates across
    const int body = drawing_box(d, 0, -p[WIDTH] / 2, -p[HEIGHT] / 2, length, p[WIDTH], p[HEIGHT]);
    drawing_add(d, body, SOLID_REGION, "body");
    drawing_add(d, drawing_box(d, 0, -p[SPINE] / 2, -p[HEIGHT] / 2, length, p[SPINE], p[HEIGHT]),
                SOLID_REGION, "spine");
    for (int k = 0; k < ARM_SECTIONS; ++k) {
        for (int i = 1; i < (int)p[CELLS]; ++i) {
            const double x = p[PLATE] + k * step + i * arm_cell(p) + (i - 1) * p[RIB];
            drawing_add(d, drawing_box(d, x, -p[WIDTH] / 2, -p[HEIGHT] / 2, p[RIB], p[WIDTH], p[HEIGHT]),
                        SOLID_REGION, "ribs");
        }
    }
    for (int k = 0; k <= ARM_SECTIONS; ++k) {
        drawing_add(d, drawing_box(d, k * step, -p[WIDTH] / 2, -p[HEIGHT] / 2, p[PLATE], p[WIDTH], p[HEIGHT]),
                    SOLID_REGION, plate_name[k]);
    }
    for (int k = 0; k < ARM_SECTIONS; ++k) {
        arm_side(d, p, p[PLATE] + k * step, 0, chamber_name[0][k]);
        arm_side(d, p, p[PLATE] + k * step, 1, chamber_name[1][k]);
        drawing_plane(d, end_name[k], 0, (k + 1) * step);
        d->plane[d->plane_count - 1].inner = true;
    }
    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, length);
    d->length = length;
    d->thinnest = fmin(p[WALL], fmin(p[RIB], p[SPINE]));
}

static double arm_volume(const double *p, const char *name)
{
    const double n = p[CELLS], ribs = (n - 1) * p[RIB];
    const double cells = n * arm_cell(p), cavity = arm_depth(p) * (p[HEIGHT] - 2 * p[WALL]);
    if (strcmp(name, "body") == 0) {
        return ARM_SECTIONS * cells * ((p[WIDTH] - p[SPINE]) * p[HEIGHT] - 2 * cavity);
    }
    if (strcmp(name, "ribs") == 0) {
        return ARM_SECTIONS * ribs * p[WIDTH] * p[HEIGHT];
    }
    if (strcmp(name, "spine") == 0) {
        return ARM_SECTIONS * cells * p[SPINE] * p[HEIGHT];
    }
    for (int k = 0; k <= ARM_SECTIONS; ++k) {
        if (strcmp(name, plate_name[k]) == 0) {
            return p[PLATE] * p[WIDTH] * p[HEIGHT];
        }
        if (k < ARM_SECTIONS &&
            (strcmp(name, chamber_name[0][k]) == 0 || strcmp(name, chamber_name[1][k]) == 0)) {
            return cells * cavity;
        }
    }
    return -1;
}

static const char yaml[] =
    "# A planar arm: three bending sections connected by rigid plates, two chambers each, one signed command "
    "each.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: planar-arm\n"
    "\n"
    "# The shape is generated from parameters. x runs along the arm from the base at 0; it bends in the xy "
    "plane.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: planar_arm\n"
    "    section: 48            # length of one bending section\n"
    "    plate: 6               # rigid plates at the base, between sections and at the tip\n"
    "    width: 36              # across, along y\n"
    "    height: 32             # along z\n"
    "    cells: 3               # of each chamber, in a row along the section\n"
    "    rib: 4                 # stiff plate between two cells\n"
    "    wall: 4                # of the chambers, to the outside\n"
    "    spine: 4               # stiff layer between the two sides\n"
    "  size: 10                 # target edge length of the elements; thin walls get smaller ones\n"
    "  order: 2                 # quadratic tetrahedra\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.02 MPa, poisson: 0.49}\n"
    "  fabric: {model: linear, young: 4 MPa, poisson: 0.4}\n"
    "regions: {body: silicone, spine: fabric, ribs: fabric, base_plate: fabric, plate1: fabric, plate2: "
    "fabric, plate3: "
    "fabric}\n"
    "\n"
    "# The base is clamped, the plates do not deform. The design names the surfaces base and tip, end1 to "
    "end3\n"
    "# (where a section ends and its plate begins), left1 to left3 and right1 to right3 (the chambers).\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "rigid:\n"
    "  - {region: plate1}\n"
    "  - {region: plate2}\n"
    "  - {region: plate3}\n"
    "\n"
    "# Gauge pressures.\n"
    "actuators:\n"
    "  - {name: left1, kind: chamber, surface: left1, drive: pressure, range: [0 kPa, 25 kPa]}\n"
    "  - {name: right1, kind: chamber, surface: right1, drive: pressure, range: [0 kPa, 25 kPa]}\n"
    "  - {name: left2, kind: chamber, surface: left2, drive: pressure, range: [0 kPa, 25 kPa]}\n"
    "  - {name: right2, kind: chamber, surface: right2, drive: pressure, range: [0 kPa, 25 kPa]}\n"
    "  - {name: left3, kind: chamber, surface: left3, drive: pressure, range: [0 kPa, 25 kPa]}\n"
    "  - {name: right3, kind: chamber, surface: right3, drive: pressure, range: [0 kPa, 25 kPa]}\n"
    "\n"
    "# One signed number per section: positive inflates the right side and bends to the left (+y), negative "
    "the\n"
    "# other way. One-sided: the other side stays vented, without vacuum.\n"
    "commands:\n"
    "  bend1: {drives: {right1: 1, left1: -1}, one_sided: true}\n"
    "  bend2: {drives: {right2: 1, left2: -1}, one_sided: true}\n"
    "  bend3: {drives: {right3: 1, left3: -1}, one_sided: true}\n"
    "\n"
    "# Points whose displacement is reported: the ends of the sections, and the tip.\n"
    "markers:\n"
    "  tip: {surface: tip}\n"
    "  section1: {surface: end1}\n"
    "  section2: {surface: end2}\n"
    "  section3: {surface: end3}\n"
    "\n"
    "# Strings along both edges of each section's upper side, as measured by draw-wire sensors.\n"
    "sensors:\n"
    "  - {name: left_string1, kind: length, through: [[6, 18, 16], [54, 18, 16]]}\n"
    "  - {name: right_string1, kind: length, through: [[6, -18, 16], [54, -18, 16]]}\n"
    "  - {name: left_string2, kind: length, through: [[60, 18, 16], [108, 18, 16]]}\n"
    "  - {name: right_string2, kind: length, through: [[60, -18, 16], [108, -18, 16]]}\n"
    "  - {name: left_string3, kind: length, through: [[114, 18, 16], [162, 18, 16]]}\n"
    "  - {name: right_string3, kind: length, through: [[114, -18, 16], [162, -18, 16]]}\n";

const design design_planar_arm = {
    .open = {"planar_arm", "planar arm of three bending sections, two chambers each", parameter,
             PL_COUNT(parameter), yaml},
    .check = arm_check,
    .draw = arm_draw,
    .volume = arm_volume,
};
