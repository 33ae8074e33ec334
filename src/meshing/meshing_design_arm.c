// planar_arm: three bending sections, joined by stiff plates. A section has a stiff spine in the middle and a
// folded chamber on either side of it (left: +y, right: -y): cells in a row along the spine, joined by a
// narrower neck, so that a chamber unfolds when it is inflated and folds when the other side is. x runs along
// the arm (base at 0), the arm bends in the xy plane.
#include "meshing/meshing_impl.h"

#define ARM_SECTIONS 3
#define ARM_WALLS 6.0 // edges in wall thicknesses: quadratic elements of a folded wall may be flat

enum { SECTION1, SECTION2, SECTION3, PLATE, WIDTH, HEIGHT, CELLS, SLOT, FOLD, WALL, SPINE };

static const pl_design_parameter parameter[] = {
    [SECTION1] = {"section1", "mm", "length of the bending section at the base", 60, 5, 1000, false},
    [SECTION2] = {"section2", "mm", "length of the second section", 60, 5, 1000, false},
    [SECTION3] = {"section3", "mm", "length of the section at the tip", 60, 5, 1000, false},
    [PLATE] = {"plate", "mm", "stiff plates at the base, between sections and at the tip: the gaps", 6, 0.5,
               200, false},
    [WIDTH] = {"width", "mm", "across, along y: the bending direction", 26, 4, 500, false},
    [HEIGHT] = {"height", "mm", "along z", 24, 2, 500, false},
    [CELLS] = {"cells", "", "of each chamber, in a row along the section", 3, 1, 12, true},
    [SLOT] = {"slot", "mm", "between two cells", 9, 0.2, 100, false},
    [FOLD] = {"fold", "mm", "depth of the slots, from the outside to the neck that joins the cells", 5, 0.2,
              200, false},
    [WALL] = {"wall", "mm", "of cells and necks", 2, 0.2, 50, false},
    [SPINE] = {"spine", "mm", "thickness of the stiff layer between the two sides", 2, 0.1, 100, false},
};

static const char *const chamber_name[2][ARM_SECTIONS] = {{"left1", "left2", "left3"},
                                                          {"right1", "right2", "right3"}};
static const char *const plate_name[ARM_SECTIONS + 1] = {"base_plate", "plate1", "plate2", "plate3"};
static const char *const end_name[ARM_SECTIONS] = {"end1", "end2", "end3"};

// Length of one cell of section k, mm.
static double arm_cell(const double *p, int k)
{
    return p[SECTION1 + k] / p[CELLS] - p[SLOT];
}

// How far a side reaches from the spine, mm.
static double arm_depth(const double *p)
{
    return (p[WIDTH] - p[SPINE]) / 2;
}

// Every cell, and the neck that joins them, must have walls with space between them.
static const char *arm_check(const double *p)
{
    for (int k = 0; k < ARM_SECTIONS; ++k) {
        if (arm_cell(p, k) < 2.2 * p[WALL]) {
            return "cells do not fit into the sections: use fewer cells, a thinner wall, a narrower slot or "
                   "longer sections";
        }
    }

    if (arm_depth(p) - p[FOLD] < 1.2 * p[WALL]) {
        return "fold and wall leave no neck inside width";
    }
    if (p[HEIGHT] - 2 * p[FOLD] < 2.2 * p[WALL]) {
        return "fold and wall leave no neck inside height";
    }

    return NULL;
}

// A box on one side of the spine: from x, `depth` away from the spine, `height` along z.
static void arm_box(drawing *d, const double *p, int side, double x, double length, double depth,
                    double height, solid_role role, const char *name)
{
    const double y = side == 0 ? p[SPINE] / 2 : -p[SPINE] / 2 - depth;
    drawing_add(d, drawing_box(d, x, y, -height / 2, length, depth, height), role, name);
}

// One side of section k, which begins at x: the neck along the whole section, and the cells around it.
static void arm_side(drawing *d, const double *p, double x, int k, int side)
{
    const double depth = arm_depth(p), cell = arm_cell(p, k), w = p[WALL], f = p[FOLD];
    arm_box(d, p, side, x, p[SECTION1 + k], depth - f, p[HEIGHT] - 2 * f, SOLID_REGION, "body");
    arm_box(d, p, side, x, p[SECTION1 + k], depth - f - w, p[HEIGHT] - 2 * f - 2 * w, SOLID_CAVITY,
            chamber_name[side][k]);
    for (int i = 0; i < (int)p[CELLS]; ++i) {
        const double at = x + p[SLOT] / 2 + i * (cell + p[SLOT]);
        arm_box(d, p, side, at, cell, depth, p[HEIGHT], SOLID_REGION, "body");
        arm_box(d, p, side, at + w, cell - 2 * w, depth - w, p[HEIGHT] - 2 * w, SOLID_CAVITY,
                chamber_name[side][k]);
    }
}

// Plates and sections in turn along x; a plane at the end of each section, between
// two solids, is a surface, too.
static void arm_draw(drawing *d, const double *p)
{
    double x = 0;
    for (int k = 0; k <= ARM_SECTIONS; ++k) {
        drawing_add(d, drawing_box(d, x, -p[WIDTH] / 2, -p[HEIGHT] / 2, p[PLATE], p[WIDTH], p[HEIGHT]),
                    SOLID_REGION, plate_name[k]);
        x += p[PLATE];
        if (k == ARM_SECTIONS) {
            break;
        }
        drawing_add(d, drawing_box(d, x, -p[SPINE] / 2, -p[HEIGHT] / 2, p[SECTION1 + k], p[SPINE], p[HEIGHT]),
                    SOLID_REGION, "spine");
        arm_side(d, p, x, k, 0);
        arm_side(d, p, x, k, 1);
        x += p[SECTION1 + k];
        drawing_plane(d, end_name[k], 0, x);
        d->plane[d->plane_count - 1].inner = true;
    }

    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, x);
    d->length = x;
    d->thinnest = fmin(p[WALL], p[SPINE]);
    d->walls = ARM_WALLS;
}

// Volume of what lies inside the outline of a side of section k, moved inwards by w.
static double arm_inside(const double *p, int k, double w)
{
    const double cells = p[CELLS] * (arm_cell(p, k) - 2 * w), depth = arm_depth(p), f = p[FOLD];
    return cells * (depth - w) * (p[HEIGHT] - 2 * w) +
           (p[SECTION1 + k] - cells) * (depth - f - w) * (p[HEIGHT] - 2 * f - 2 * w);
}

// mm^3; the boxes of a side overlap, so cells and neck are counted apart.
static double arm_volume(const double *p, const char *name)
{
    double body = 0, spine = 0;
    for (int k = 0; k < ARM_SECTIONS; ++k) {
        const double chamber = arm_inside(p, k, p[WALL]);
        body += 2 * (arm_inside(p, k, 0) - chamber);
        spine += p[SECTION1 + k] * p[SPINE] * p[HEIGHT];
        if (strcmp(name, chamber_name[0][k]) == 0 || strcmp(name, chamber_name[1][k]) == 0) {
            return chamber;
        }
    }

    if (strcmp(name, "body") == 0 || strcmp(name, "spine") == 0) {
        return name[0] == 'b' ? body : spine;
    }

    for (int k = 0; k <= ARM_SECTIONS; ++k) {
        if (strcmp(name, plate_name[k]) == 0) {
            return p[PLATE] * p[WIDTH] * p[HEIGHT];
        }
    }

    return -1;
}

static const char yaml[] =
    "# A planar arm: three bending sections connected by stiff plates, two chambers each, one signed command "
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
    "    section1: 60           # lengths of the bending sections\n"
    "    section2: 60\n"
    "    section3: 60\n"
    "    plate: 6               # stiff plates at the base, between sections and at the tip\n"
    "    width: 26              # across, along y\n"
    "    height: 24             # along z\n"
    "    cells: 3               # of each chamber, in a row along the section\n"
    "    slot: 9                # between two cells\n"
    "    fold: 5                # depth of the slots\n"
    "    wall: 2                # of the chambers\n"
    "    spine: 2               # stiff layer between the two sides\n"
    "  size: 16                 # target edge length of the elements; thin walls get smaller ones\n"
    "  # mesh error: about 14 % too stiff; size 6 is 7 % too stiff, 3.5 has 30,000 elements (a minute)\n"
    "  order: 2                 # quadratic tetrahedra\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: yeoh, c10: 0.03 MPa, c20: 0.003 MPa, c30: 0 MPa, poisson: 0.49}\n"
    "  stiff: {model: neo_hookean, c10: 1 MPa, poisson: 0.45}\n"
    "regions: {body: silicone, spine: stiff, base_plate: stiff, plate1: stiff, plate2: stiff, plate3: "
    "stiff}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base and tip, end1 to end3\n"
    "# (where a section ends and its plate begins), left1 to left3 and right1 to right3 (the chambers).\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Gauge pressures.\n"
    "actuators:\n"
    "  - {name: left1, kind: chamber, surface: left1, drive: pressure, range: [0 kPa, 22 kPa]}\n"
    "  - {name: right1, kind: chamber, surface: right1, drive: pressure, range: [0 kPa, 22 kPa]}\n"
    "  - {name: left2, kind: chamber, surface: left2, drive: pressure, range: [0 kPa, 22 kPa]}\n"
    "  - {name: right2, kind: chamber, surface: right2, drive: pressure, range: [0 kPa, 22 kPa]}\n"
    "  - {name: left3, kind: chamber, surface: left3, drive: pressure, range: [0 kPa, 22 kPa]}\n"
    "  - {name: right3, kind: chamber, surface: right3, drive: pressure, range: [0 kPa, 22 kPa]}\n"
    "\n"
    "# One signed number per section: positive inflates the right side and bends to the left (+y), negative "
    "the\n"
    "# opposite direction. One-sided: the other side stays vented, without vacuum.\n"
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
    "  - {name: left_string1, kind: length, through: [[plate, width/2, height/2], [plate + section1, "
    "width/2, height/2]]}\n"
    "  - {name: right_string1, kind: length, through: [[plate, -width/2, height/2], [plate + section1, "
    "-width/2, height/2]]}\n"
    "  - {name: left_string2, kind: length, through: [[2*plate + section1, width/2, height/2], [2*plate + "
    "section1 + section2, width/2, height/2]]}\n"
    "  - {name: right_string2, kind: length, through: [[2*plate + section1, -width/2, height/2], [2*plate + "
    "section1 + section2, -width/2, height/2]]}\n"
    "  - {name: left_string3, kind: length, through: [[3*plate + section1 + section2, width/2, height/2], "
    "[3*plate + section1 + section2 + section3, width/2, height/2]]}\n"
    "  - {name: right_string3, kind: length, through: [[3*plate + section1 + section2, -width/2, height/2], "
    "[3*plate + section1 + section2 + section3, -width/2, height/2]]}\n";

const design design_planar_arm = {
    .open = {"planar_arm", "planar arm of three bending sections, two chambers each", parameter,
             PL_COUNT(parameter), yaml},
    .check = arm_check,
    .draw = arm_draw,
    .volume = arm_volume,
};
