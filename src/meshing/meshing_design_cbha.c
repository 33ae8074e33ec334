// cbha: two sections in series, each of three hexagonal bellows, 120 degrees apart, between plates; the width
// falls from the base to the tip. The plates and the levels at which the three necks are joined are the
// vertebrae. z runs along the arm (base at 0); bellows 1 and 4 lie towards +y, the others follow
// counter-clockwise; 1 to 3 are those of the section at the base.
#include "meshing/meshing_impl.h"

#define CBHA_WALLS 4.0 // edges in wall thicknesses: quadratic elements of a folded wall may be flat

enum { WIDTH, TIP_WIDTH, SECTION, PLATE, FOLDS, NECK, GAP, WALL };

static const pl_design_parameter parameter[] = {
    [WIDTH] = {"width", "mm", "across the bellows at the base", 100, 10, 1000, false},
    [TIP_WIDTH] = {"tip_width", "mm", "across the bellows at the tip", 80, 10, 1000, false},
    [SECTION] = {"section", "mm", "length of each of the two sections", 103, 10, 2000, false},
    [PLATE] = {"plate", "mm", "thickness of the plates at the base, between the sections and at the tip", 5,
               0.5, 200, false},
    [FOLDS] = {"folds", "", "cells of each bellows", 4, 1, 10, true},
    [NECK] = {"neck", "", "radius of the necks between cells, of the radius of the cells", 0.56, 0.2, 0.95,
              false},
    [GAP] = {"gap", "mm", "between two cells, and between a cell and a plate", 8, 0.2, 100, false},
    [WALL] = {"wall", "mm", "of cells and necks", 3, 0.2, 50, false},
};

static const char *const bellows_name[6] = {"bellows1", "bellows2", "bellows3",
                                            "bellows4", "bellows5", "bellows6"};

// The radius to a corner inside a wall: the flat sides of a hexagon lie at radius cos 30 from its axis.
static double cbha_inside(const double *p, double radius)
{
    return radius - p[WALL] / cos(PL_PI / 6);
}

// Height of a cell, mm. A plate belongs to each end of a section; half of the one in the middle does, too.
static double cbha_cell(const double *p)
{
    return (p[SECTION] - 1.5 * p[PLATE] - (p[FOLDS] + 1) * p[GAP]) / p[FOLDS];
}

// Radius of the cells, to a corner, at height z: the outermost corners of the three cells lie on a circle of
// the arm's width there.
static double cbha_radius(const double *p, double z)
{
    const double t = z / (2 * p[SECTION]);
    return ((1 - t) * p[WIDTH] + t * p[TIP_WIDTH]) / 4;
}

// The narrower end decides.
static const char *cbha_check(const double *p)
{
    const double least = fmin(p[WIDTH], p[TIP_WIDTH]) / 4;
    if (cbha_cell(p) < 2.2 * p[WALL]) {
        return "folds do not fit into section: use fewer folds, a smaller gap or a thinner wall";
    }
    if (cbha_inside(p, p[NECK] * least) < 0.2 * p[WALL]) {
        return "wall leaves no bore inside the necks (neck times a quarter of the smaller width)";
    }

    return NULL;
}

// The z at which gap k of a section begins; its first plate ends at gap 0.
static double cbha_gap(const double *p, int section, int k)
{
    const double begin = section == 0 ? p[PLATE] : p[SECTION] + p[PLATE] / 2;
    return begin + k * (cbha_cell(p) + p[GAP]);
}

// A hexagonal prism of bellows i; `level` is the height at which the taper is
// taken, so that prisms are straight.
static int cbha_hexagon(drawing *d, const double *p, int i, double z, double height, double level,
                        double radius)
{
    const double angle = PL_PI / 2 + i % 3 * 2 * PL_PI / 3, off = cbha_radius(p, level);
    return drawing_hexagon(d, off * cos(angle), off * sin(angle), z, height, radius, angle);
}

// Plates, then for each bellows necks and cells from the base up.
static void cbha_draw(drawing *d, const double *p)
{
    const double cell = cbha_cell(p), end = 2 * p[SECTION];
    const int folds = (int)p[FOLDS];
    const double plate_at[3] = {0, p[SECTION] - p[PLATE] / 2, end - p[PLATE]};

    for (int i = 0; i < 3; ++i) {
        drawing_add(d, drawing_cylinder(d, 0, 0, plate_at[i], p[PLATE], 2 * cbha_radius(p, plate_at[i])),
                    SOLID_REGION, "body");
    }

    for (int b = 0; b < 6; ++b) {
        for (int k = 0; k <= folds; ++k) {
            const double z = cbha_gap(p, b / 3, k), level = z + p[GAP] / 2;
            const double neck = p[NECK] * cbha_radius(p, level);
            drawing_add(d, cbha_hexagon(d, p, b, z, p[GAP], level, neck), SOLID_REGION, "body");
            const double low = z - (k > 0 ? p[WALL] : 0), high = z + p[GAP] + (k < folds ? p[WALL] : 0);
            drawing_add(d, cbha_hexagon(d, p, b, low, high - low, level, cbha_inside(p, neck)), SOLID_CAVITY,
                        bellows_name[b]);
            if (k < folds) {
                const double at = z + p[GAP], middle = at + cell / 2, radius = cbha_radius(p, middle);
                drawing_add(d, cbha_hexagon(d, p, b, at, cell, middle, radius), SOLID_REGION, "body");
                drawing_add(
                    d,
                    cbha_hexagon(d, p, b, at + p[WALL], cell - 2 * p[WALL], middle, cbha_inside(p, radius)),
                    SOLID_CAVITY, bellows_name[b]);
            }
        }
    }

    drawing_plane(d, "base", 2, 0);
    drawing_plane(d, "tip", 2, end);
    d->length = end;
    d->thinnest = p[WALL];
    d->walls = CBHA_WALLS;
}

// Of one bellows: its outside and its air. A bore passes through the walls of the cells at both of its ends.
static void cbha_bellows(const double *p, int section, double *outside, double *air)
{
    const double hexagon = 1.5 * sqrt(3), cell = cbha_cell(p);
    const int folds = (int)p[FOLDS];

    *outside = *air = 0;
    for (int k = 0; k <= folds; ++k) {
        const double z = cbha_gap(p, section, k), neck = p[NECK] * cbha_radius(p, z + p[GAP] / 2);
        const double bore = cbha_inside(p, neck);
        *outside += hexagon * neck * neck * p[GAP];
        *air += hexagon * bore * bore * (p[GAP] + ((k > 0) + (k < folds)) * p[WALL]);

        if (k < folds) {
            const double radius = cbha_radius(p, z + p[GAP] + cell / 2), inside = cbha_inside(p, radius);
            *outside += hexagon * radius * radius * cell;
            *air += hexagon * inside * inside * (cell - 2 * p[WALL]);
        }
    }
}

// mm^3, from the same steps as the drawing.
static double cbha_volume(const double *p, const char *name)
{
    double outside[2], air[2], body = 0;
    const double plate_at[3] = {0, p[SECTION] - p[PLATE] / 2, 2 * p[SECTION] - p[PLATE]};

    for (int s = 0; s < 2; ++s) {
        cbha_bellows(p, s, &outside[s], &air[s]);
        body += 3 * (outside[s] - air[s]);
    }

    for (int i = 0; i < 3; ++i) {
        const double r = 2 * cbha_radius(p, plate_at[i]);
        body += PL_PI * r * r * p[PLATE];
    }

    for (int b = 0; b < 6; ++b) {
        if (strcmp(name, bellows_name[b]) == 0) {
            return air[b / 3];
        }
    }

    return strcmp(name, "body") == 0 ? body : -1;
}

static const char yaml[] =
    "# An arm of two sections, three bellows each, in the manner of the compact bionic handling assistant; "
    "it bends\n"
    "# away from the bellows that is inflated. Lengths in mm, forces in N, stresses in MPa; any number may "
    "have a unit.\n"
    "pliant: 1\n"
    "name: cbha\n"
    "\n"
    "# The shape is generated from parameters. z runs along the arm from the base at 0; bellows 1 and 4 lie "
    "towards +y,\n"
    "# the others follow counter-clockwise; 1 to 3 are those of the section at the base. The three cells of "
    "a level are\n"
    "# joined: with the plates they are the vertebrae.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: cbha\n"
    "    width: 100              # across the bellows at the base\n"
    "    tip_width: 80           # and at the tip\n"
    "    section: 103            # length of each section\n"
    "    plate: 5                # thickness of the three plates\n"
    "    folds: 4                # cells of each bellows\n"
    "    neck: 0.56              # radius of the necks, of the radius of the cells\n"
    "    gap: 8                  # between two cells\n"
    "    wall: 3                 # of cells and necks\n"
    "  size: 30                  # target edge length of the elements; thin walls get smaller ones\n"
    "  # mesh error: about 11 % too stiff; size 4.5 is 4 % too stiff, but has 58,000 elements (minutes)\n"
    "  order: 2                  # quadratic tetrahedra\n"
    "\n"
    "# The real arm is sintered polyamide (1600 MPa) with walls of about 0.7 mm and eight folds. A fold "
    "works by\n"
    "# bending: four folds of 3 mm are as compliant as eight of 0.7 mm when the modulus is\n"
    "# 1600 * (0.7 / 3)^3 * 4 / 8 = 10 MPa.\n"
    "materials:\n"
    "  bellows: {model: neo_hookean, young: 10 MPa, poisson: 0.4, density: 500 kg/m^3}\n"
    "regions: {body: bellows}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip and bellows1 to bellows6.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Gauge pressures. Other drives: volume, volume_ratio, syringe.\n"
    "actuators:\n"
    "  - {name: bellows1, kind: chamber, surface: bellows1, drive: pressure, range: [0 kPa, 150 kPa]}\n"
    "  - {name: bellows2, kind: chamber, surface: bellows2, drive: pressure, range: [0 kPa, 150 kPa]}\n"
    "  - {name: bellows3, kind: chamber, surface: bellows3, drive: pressure, range: [0 kPa, 150 kPa]}\n"
    "  - {name: bellows4, kind: chamber, surface: bellows4, drive: pressure, range: [0 kPa, 150 kPa]}\n"
    "  - {name: bellows5, kind: chamber, surface: bellows5, drive: pressure, range: [0 kPa, 150 kPa]}\n"
    "  - {name: bellows6, kind: chamber, surface: bellows6, drive: pressure, range: [0 kPa, 150 kPa]}\n"
    "\n"
    "# Strings along the bellows, from plate to plate through a guide at every level; in mm.\n"
    "parameters:\n"
    "  rim: width/2 - 2*wall/3                     # of the strings, at the base\n"
    "  slope: (width - tip_width)/(4*section)      # of the outline\n"
    "  pitch: (section - 1.5*plate - gap)/folds    # from cell to cell\n"
    "  level: plate + gap + (pitch - gap)/2        # middle of the first cell\n"
    "  upper: section - plate/2                    # from a level of the first section to that of the "
    "second\n"
    "  turn: 120 deg\n"
    "sensors:\n"
    "  - repeat:\n"
    "      index: part       # section\n"
    "      to: 2\n"
    "      each:\n"
    "        - repeat:\n"
    "            index: k    # around the axis\n"
    "            to: 3\n"
    "            each:\n"
    "              - name: string$(k + 3*(part - 1))\n"
    "                kind: length\n"
    "                radius: 3\n"
    "                through:\n"
    "                  - [(rim - slope*(plate/2 + ($part - 1)*upper))*cos(turn*$k - 30 deg), (rim - "
    "slope*(plate/2 + ($part - 1)*upper))*sin(turn*$k - 30 deg), plate/2 + ($part - 1)*upper]\n"
    "                  - repeat:\n"
    "                      index: i\n"
    "                      to: folds\n"
    "                      each: [[(rim - slope*(level + ($i - 1)*pitch + ($part - 1)*upper))*cos(turn*$k - "
    "30 "
    "deg), (rim - slope*(level + ($i - 1)*pitch + ($part - 1)*upper))*sin(turn*$k - 30 deg), level + ($i - "
    "1)*pitch + ($part - 1)*upper]]\n"
    "                  - [(rim - slope*(plate/2 + $part*upper))*cos(turn*$k - 30 deg), (rim - slope*(plate/2 "
    "+ "
    "$part*upper))*sin(turn*$k - 30 deg), plate/2 + $part*upper]\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  middle: {at: [0, 0, section], radius: width/10}\n"
    "  tip: {surface: tip}\n";

const design design_cbha = {
    .open = {"cbha", "arm of two sections of three bellows each, six string sensors; bends in all directions",
             parameter, PL_COUNT(parameter), yaml},
    .check = cbha_check,
    .draw = cbha_draw,
    .volume = cbha_volume,
};
