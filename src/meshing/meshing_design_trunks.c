// three_chamber and segment: upright bodies with three round chambers 120 degrees apart, a square block and a
// cylinder. z runs along the body (base at 0); chamber1 lies towards +y, chamber2 and chamber3 follow
// counter-clockwise.
#include "meshing/meshing_impl.h"

static const char *const chamber_name[3] = {"chamber1", "chamber2", "chamber3"};

// What both share: how long the body is, how thick its ends are, and where the chambers stand.
typedef struct trunk {
    double height, cap, offset, radius; // mm; radius: of a chamber
    double clearance;                   // from the chamber's centre to the nearest outside
} trunk;

// Wall thicknesses of at least 2 % of what is available: thinner ones cannot be meshed.
static const char *trunk_check(const trunk *t)
{
    if (t->height - 2 * t->cap < t->cap / 5) {
        return "cap leaves no space for chambers inside height";
    }
    if (t->radius >= 0.98 * t->clearance) {
        return "chamber_diameter reaches the outside: make it smaller, or chamber_offset";
    }

    // chambers stand 120 degrees apart: their middles are 2 offset sin 60 apart
    if (t->radius >= 0.98 * t->offset * sin(PL_PI / 3)) {
        return "chamber_diameter makes the chambers touch each other: make it smaller, or chamber_offset "
               "larger";
    }

    return NULL;
}

// Chambers, planes and sizes; the body is drawn by the caller. `across`: its width, mm.
static void trunk_draw(drawing *d, const trunk *t, double across)
{
    for (int i = 0; i < 3; ++i) {
        const double angle = PL_PI / 2 + i * 2 * PL_PI / 3;
        const int hole = drawing_cylinder(d, t->offset * cos(angle), t->offset * sin(angle), t->cap,
                                          t->height - 2 * t->cap, t->radius);
        drawing_add(d, hole, SOLID_CAVITY, chamber_name[i]);
    }

    drawing_plane(d, "base", 2, 0);
    drawing_plane(d, "tip", 2, t->height);
    d->length = fmax(t->height, across);
    const double between = 2 * (t->offset * sin(PL_PI / 3) - t->radius);
    d->thinnest = fmin(t->cap, fmin(t->clearance - t->radius, between));
}

// mm^3 of a body of the given section (mm^2), or of one of its chambers.
static double trunk_volume(const trunk *t, double section, const char *name)
{
    const double chamber = PL_PI * t->radius * t->radius * (t->height - 2 * t->cap);
    if (strcmp(name, "body") == 0) {
        return section * t->height - 3 * chamber;
    }

    for (int i = 0; i < 3; ++i) {
        if (strcmp(name, chamber_name[i]) == 0) {
            return chamber;
        }
    }

    return -1;
}

// ---- three_chamber
enum { BLOCK_WIDTH, BLOCK_HEIGHT, BLOCK_DIAMETER, BLOCK_OFFSET, BLOCK_CAP };

static const pl_design_parameter block_parameter[] = {
    [BLOCK_WIDTH] = {"width", "mm", "of the square section", 48, 5, 500, false},
    [BLOCK_HEIGHT] = {"height", "mm", "from the base to the tip", 136, 5, 2000, false},
    [BLOCK_DIAMETER] = {"chamber_diameter", "mm", "of each chamber", 16, 0.5, 400, false},
    [BLOCK_OFFSET] = {"chamber_offset", "mm", "from the axis to a chamber's axis", 12, 0.5, 300, false},
    [BLOCK_CAP] = {"cap", "mm", "solid end below and above the chambers", 8, 0.2, 400, false},
};

// The chamber on +y has the plane y = width/2 next to it; the others, at 30 degrees, are farther from theirs.
static trunk block_trunk(const double *p)
{
    return (trunk){.height = p[BLOCK_HEIGHT],
                   .cap = p[BLOCK_CAP],
                   .offset = p[BLOCK_OFFSET],
                   .radius = p[BLOCK_DIAMETER] / 2,
                   .clearance = p[BLOCK_WIDTH] / 2 - p[BLOCK_OFFSET]};
}

static const char *block_check(const double *p)
{
    const trunk t = block_trunk(p);
    return trunk_check(&t);
}

static void block_draw(drawing *d, const double *p)
{
    const trunk t = block_trunk(p);
    const double w = p[BLOCK_WIDTH];
    drawing_add(d, drawing_box(d, -w / 2, -w / 2, 0, w, w, t.height), SOLID_REGION, "body");
    trunk_draw(d, &t, w);
}

static double block_volume(const double *p, const char *name)
{
    const trunk t = block_trunk(p);
    return trunk_volume(&t, p[BLOCK_WIDTH] * p[BLOCK_WIDTH], name);
}

static const char block_yaml[] =
    "# A square block with three chambers, 120 degrees apart: a trunk that bends in all directions.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: three-chamber\n"
    "\n"
    "# The shape is generated from parameters. z runs along the body from the base at 0; chamber1 lies "
    "towards "
    "+y, the\n"
    "# others follow counter-clockwise.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: three_chamber\n"
    "    width: 48               # of the square section\n"
    "    height: 136             # from the base to the tip\n"
    "    chamber_diameter: 16\n"
    "    chamber_offset: 12      # from the axis to a chamber's axis\n"
    "    cap: 8                  # solid end below and above the chambers\n"
    "  size: 8                   # target edge length of the elements; thin walls get smaller ones\n"
    "  order: 2                  # quadratic tetrahedra\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49}\n"
    "regions: {body: silicone}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip and chamber1 to chamber3.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Each chamber is driven by the ratio of its volume to its volume at rest. For air under pressure "
    "write\n"
    "# `drive: pressure, range: [0 kPa, 50 kPa]`.\n"
    "actuators:\n"
    "  - {name: chamber1, kind: chamber, surface: chamber1, drive: volume_ratio, range: [1, 2]}\n"
    "  - {name: chamber2, kind: chamber, surface: chamber2, drive: volume_ratio, range: [1, 2]}\n"
    "  - {name: chamber3, kind: chamber, surface: chamber3, drive: volume_ratio, range: [1, 2]}\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_three_chamber = {
    .open = {"three_chamber", "square trunk with three chambers; bends in all directions", block_parameter,
             PL_COUNT(block_parameter), block_yaml},
    .check = block_check,
    .draw = block_draw,
    .volume = block_volume,
};

// ---- segment
enum { ROUND_DIAMETER, ROUND_HEIGHT, ROUND_CHAMBER, ROUND_OFFSET, ROUND_CAP, ROUND_CAPS };

static const pl_design_parameter round_parameter[] = {
    [ROUND_DIAMETER] = {"diameter", "mm", "of the cylinder", 25, 2, 500, false},
    [ROUND_HEIGHT] = {"height", "mm", "from the base to the tip", 45, 2, 2000, false},
    [ROUND_CHAMBER] = {"chamber_diameter", "mm", "of each chamber", 8, 0.2, 300, false},
    [ROUND_OFFSET] = {"chamber_offset", "mm", "from the axis to a chamber's axis", 7, 0.2, 300, false},
    [ROUND_CAP] = {"cap", "mm", "solid end below and above the chambers", 4, 0.2, 300, false},
    [ROUND_CAPS] = {"caps", "", "1: the ends are regions of their own, base_cap and tip_cap; 0: of the body",
                    0, 0, 1, true},
};

static trunk round_trunk(const double *p)
{
    return (trunk){.height = p[ROUND_HEIGHT],
                   .cap = p[ROUND_CAP],
                   .offset = p[ROUND_OFFSET],
                   .radius = p[ROUND_CHAMBER] / 2,
                   .clearance = p[ROUND_DIAMETER] / 2 - p[ROUND_OFFSET]};
}

static const char *round_check(const double *p)
{
    const trunk t = round_trunk(p);
    return trunk_check(&t);
}

// With `caps` the ends are regions of their own, so that they can be stiff.
static void round_draw(drawing *d, const double *p)
{
    const trunk t = round_trunk(p);
    const double r = p[ROUND_DIAMETER] / 2, top = t.height - t.cap;

    if (p[ROUND_CAPS] > 0) {
        drawing_add(d, drawing_cylinder(d, 0, 0, 0, t.cap, r), SOLID_REGION, "base_cap");
        drawing_add(d, drawing_cylinder(d, 0, 0, t.cap, top - t.cap, r), SOLID_REGION, "body");
        drawing_add(d, drawing_cylinder(d, 0, 0, top, t.cap, r), SOLID_REGION, "tip_cap");
    } else {
        drawing_add(d, drawing_cylinder(d, 0, 0, 0, t.height, r), SOLID_REGION, "body");
    }

    trunk_draw(d, &t, 2 * r);
}

static double round_volume(const double *p, const char *name)
{
    const trunk t = round_trunk(p);
    const double section = PL_PI / 4 * p[ROUND_DIAMETER] * p[ROUND_DIAMETER],
                 ends = p[ROUND_CAPS] > 0 ? 2 * t.cap * section : 0;

    if (strcmp(name, "base_cap") == 0 || strcmp(name, "tip_cap") == 0) {
        return ends > 0 ? ends / 2 : -1;
    }

    return trunk_volume(&t, section, name) - (strcmp(name, "body") == 0 ? ends : 0);
}

static const char round_yaml[] =
    "# A round segment with three chambers and threads around them (Lindenroth et al. 2016); it bends away "
    "from the\n"
    "# inflated one.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: segment\n"
    "\n"
    "# The shape is generated from parameters. z runs along the body from the base at 0; chamber1 lies "
    "towards +y, the\n"
    "# others follow counter-clockwise.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: segment\n"
    "    diameter: 25            # of the cylinder\n"
    "    height: 45              # from the base to the tip\n"
    "    chamber_diameter: 8\n"
    "    chamber_offset: 7       # from the axis to a chamber's axis\n"
    "    cap: 4                  # end below and above the chambers\n"
    "    caps: 1                 # the ends are regions of their own\n"
    "  size: 5                   # target edge length of the elements; thin walls get smaller ones\n"
    "  order: 2                  # quadratic tetrahedra, curved along the walls\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.033 MPa, poisson: 0.49}\n"
    "  stiff: {model: neo_hookean, c10: 1 MPa, poisson: 0.45}\n"
    "regions:\n"
    "  body: silicone\n"
    "  repeat: {to: caps, each: {base_cap: stiff, tip_cap: stiff}}      # where the ends are regions of "
    "their own\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip and chamber1 to chamber3.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Gauge pressures. Other drives: volume, volume_ratio, syringe.\n"
    "actuators:\n"
    "  - {name: chamber1, kind: chamber, surface: chamber1, drive: pressure, range: [0 kPa, 160 kPa]}\n"
    "  - {name: chamber2, kind: chamber, surface: chamber2, drive: pressure, range: [0 kPa, 160 kPa]}\n"
    "  - {name: chamber3, kind: chamber, surface: chamber3, drive: pressure, range: [0 kPa, 160 kPa]}\n"
    "\n"
    "# A thread around each chamber keeps it from widening: rings 1 mm apart, about 40 N per unit of "
    "strain.\n"
    "fibres:\n"
    "  - {name: thread1, kind: rings, surface: chamber1, axis: [0, 0, 1], about: [0, chamber_offset, cap + "
    "0.5], pitch: 1,\n"
    "     range: [0, height - 2*cap - 1], stiffness: 40 N}\n"
    "  - {name: thread2, kind: rings, surface: chamber2, axis: [0, 0, 1], about: [-chamber_offset*sin(60 "
    "deg), -chamber_offset/2, cap + 0.5], pitch: 1,\n"
    "     range: [0, height - 2*cap - 1], stiffness: 40 N}\n"
    "  - {name: thread3, kind: rings, surface: chamber3, axis: [0, 0, 1], about: [chamber_offset*sin(60 "
    "deg), -chamber_offset/2, cap + 0.5], pitch: 1,\n"
    "     range: [0, height - 2*cap - 1], stiffness: 40 N}\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_segment = {
    .open = {"segment", "round segment with three chambers and threads around them", round_parameter,
             PL_COUNT(round_parameter), round_yaml},
    .check = round_check,
    .draw = round_draw,
    .volume = round_volume,
};
