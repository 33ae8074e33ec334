// twister: a cylinder with a spiral chamber, after the twining robot of Fang et al. 2022. The chamber lies
// off the axis and goes around it: inflated, the cylinder bends everywhere away from it and coils. It is
// drawn with a straight chamber beside the axis and then twisted as a whole by an angle in proportion to z;
// the twist keeps volumes.
#include "meshing/meshing_impl.h"

enum { LENGTH, RADIUS, TURNS, SPIRAL, BORE, END };

static const pl_design_parameter parameter[] = {
    [LENGTH] = {"length", "mm", "along z", 200, 10, 2000, false},
    [RADIUS] = {"radius", "mm", "of the cylinder", 7, 1, 200, false},
    [TURNS] = {"turns", "", "of the chamber around the axis, over the length", 0.6, 0, 12, false},
    [SPIRAL] = {"spiral", "mm", "distance of the chamber's middle line from the axis", 3, 0.1, 190, false},
    [BORE] = {"bore", "mm", "radius of the chamber", 2.7, 0.2, 100, false},
    [END] = {"end", "mm", "from the chamber to both ends of the cylinder", 6, 0.5, 200, false},
};

#define TWISTER_SHEAR 1.5 // largest slope of the outer wall against z that elements are sheared by

// The chamber inside the wall, space between the ends, and a twist that elements can follow.
static const char *twister_check(const double *p)
{
    if (p[SPIRAL] + p[BORE] > 0.95 * p[RADIUS]) {
        return "spiral and bore reach through the wall of the cylinder (radius)";
    }
    if (p[LENGTH] - 2 * p[END] < p[BORE]) {
        return "the ends leave no room for a chamber (length, end)";
    }
    if (2 * PL_PI * p[TURNS] * p[RADIUS] > TWISTER_SHEAR * p[LENGTH]) {
        return "too many turns for the length: the wall would run more around than along (turns, radius, "
               "length)";
    }

    return NULL;
}

static void twister_draw(drawing *d, const double *p)
{
    const double height = p[LENGTH] - 2 * p[END];
    drawing_add(d, drawing_cylinder(d, 0, 0, 0, p[LENGTH], p[RADIUS]), SOLID_REGION, "body");
    drawing_add(d, drawing_cylinder(d, p[SPIRAL], 0, p[END], height, p[BORE]), SOLID_CAVITY, "cavity");
    drawing_plane(d, "base", 2, 0);
    drawing_plane(d, "tip", 2, p[LENGTH]);
    d->round = 9; // the chamber is long and thin, and its section stays smooth
    d->outer = "outside";
    d->length = p[LENGTH];
    d->thinnest = fmin(p[RADIUS] - p[SPIRAL] - p[BORE], p[END]);
}

// Twist: rotation about z by 2 pi turns z / length.
static void twister_place(const double *p, double x[3])
{
    const double angle = 2 * PL_PI * p[TURNS] * x[2] / p[LENGTH], c = cos(angle), s = sin(angle), a = x[0];
    x[0] = c * a - s * x[1];
    x[1] = s * a + c * x[1];
}

// A twist has the Jacobian 1, so volumes are those of the straight drawing.
static double twister_volume(const double *p, const char *name)
{
    const double bore = PL_PI * p[BORE] * p[BORE] * (p[LENGTH] - 2 * p[END]);
    if (strcmp(name, "cavity") == 0) {
        return bore;
    }
    return strcmp(name, "body") == 0 ? PL_PI * p[RADIUS] * p[RADIUS] * p[LENGTH] - bore : -1;
}

static const char yaml[] =
    "# A cylinder with a spiral chamber: inflated, it coils (after Fang et al. 2022).\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: twister\n"
    "\n"
    "# The shape is generated from parameters. z runs along the cylinder from the base at 0.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: twister\n"
    "    length: 200\n"
    "    radius: 7\n"
    "    turns: 0.6          # of the chamber around the axis\n"
    "    spiral: 3           # from the axis to the middle of the chamber\n"
    "    bore: 2.7           # radius of the chamber\n"
    "    end: 6              # of full rubber at both ends\n"
    "  size: 8               # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra\n"
    "\n"
    "# Ecoflex 00-30 with the constants of the paper.\n"
    "materials:\n"
    "  rubber: {use: ecoflex_00_30_fang}\n"
    "regions: {body: rubber}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip, outside and cavity.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# The command is the volume of the chamber over that at rest.\n"
    "actuators:\n"
    "  - name: air\n"
    "    kind: chamber\n"
    "    surface: cavity\n"
    "    drive: volume_ratio\n"
    "    range: [1, 8]\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_twister = {
    .open = {"twister", "cylinder with a spiral chamber that coils", parameter, PL_COUNT(parameter), yaml,
             false},
    .check = twister_check,
    .draw = twister_draw,
    .place = twister_place,
    .volume = twister_volume,
};
