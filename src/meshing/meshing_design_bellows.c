// bellows_trunk: three hexagonal bellows, 120 degrees apart, between two square plates. A bellows is a stack
// of hollow cells joined by narrow necks; three cells of one level share their sides and meet on the axis. z
// runs along the trunk (base at 0); chamber1 lies towards +y, chamber2 and chamber3 follow counter-clockwise.
#include "meshing/meshing_impl.h"

#define BELLOWS_WALLS 4.0 // edges in wall thicknesses: quadratic elements of a folded wall may be flat

enum { WIDTH, HEIGHT, PLATE, CELL, NECK, FOLDS, GAP, WALL };

static const pl_design_parameter parameter[] = {
    [WIDTH] = {"width", "mm", "of the square plates", 48, 5, 500, false},
    [HEIGHT] = {"height", "mm", "from the base to the tip", 136, 10, 2000, false},
    [PLATE] = {"plate", "mm", "thickness of the plates at both ends", 6, 0.5, 200, false},
    [CELL] = {"cell_radius", "mm", "of the hexagonal cells, to a corner", 12, 1, 250, false},
    [NECK] = {"neck_radius", "mm", "of the necks between cells, to a corner", 8.5, 0.5, 249, false},
    [FOLDS] = {"folds", "", "cells of each bellows", 3, 1, 20, true},
    [GAP] = {"gap", "mm", "between two cells, and between a cell and a plate", 8, 0.2, 100, false},
    [WALL] = {"wall", "mm", "of cells and necks", 3, 0.2, 50, false},
};

static const char *const chamber_name[3] = {"chamber1", "chamber2", "chamber3"};

// The radius to a corner inside a wall: the flat sides of a hexagon lie at radius cos 30 from its axis.
static double bellows_inside(const double *p, double radius)
{
    return radius - p[WALL] / cos(PL_PI / 6);
}

// Height of a cell, mm: what plates and gaps leave.
static double bellows_cell(const double *p)
{
    return (p[HEIGHT] - 2 * p[PLATE] - (p[FOLDS] + 1) * p[GAP]) / p[FOLDS];
}

static const char *bellows_check(const double *p)
{
    if (bellows_cell(p) < 2.2 * p[WALL]) {
        return "folds do not fit into height: use fewer folds, a smaller gap or a thinner wall";
    }
    if (p[NECK] > 0.95 * p[CELL]) {
        return "neck_radius must be smaller than cell_radius";
    }
    if (bellows_inside(p, p[NECK]) < 0.2 * p[WALL]) {
        return "wall leaves no bore inside neck_radius";
    }
    if (2 * p[CELL] > p[WIDTH] / 2 + 1e-9) {
        return "cell_radius reaches beyond width: it can be a quarter of width at most";
    }

    return NULL;
}

// Axis of bellows i, and the angle of the hexagons' first corner: outwards, so that cells meet on the axis.
static void bellows_place(const double *p, int i, double *x, double *y, double *angle)
{
    *angle = PL_PI / 2 + i * 2 * PL_PI / 3;
    *x = p[CELL] * cos(*angle);
    *y = p[CELL] * sin(*angle);
}

static void bellows_draw(drawing *d, const double *p)
{
    const double cell = bellows_cell(p), w = p[WIDTH], top = p[HEIGHT] - p[PLATE];
    const int folds = (int)p[FOLDS];

    drawing_add(d, drawing_box(d, -w / 2, -w / 2, 0, w, w, p[PLATE]), SOLID_REGION, "body");
    drawing_add(d, drawing_box(d, -w / 2, -w / 2, top, w, w, p[PLATE]), SOLID_REGION, "body");
    for (int i = 0; i < 3; ++i) {
        double x, y, a;
        bellows_place(p, i, &x, &y, &a);
        // a neck before each cell and after the last; its bore passes through the walls of the cells
        for (int k = 0; k <= folds; ++k) {
            const double z = p[PLATE] + k * (cell + p[GAP]);
            drawing_add(d, drawing_hexagon(d, x, y, z, p[GAP], p[NECK], a), SOLID_REGION, "body");
            const double low = z - (k > 0 ? p[WALL] : 0), high = z + p[GAP] + (k < folds ? p[WALL] : 0);
            drawing_add(d, drawing_hexagon(d, x, y, low, high - low, bellows_inside(p, p[NECK]), a),
                        SOLID_CAVITY, chamber_name[i]);
            if (k < folds) {
                drawing_add(d, drawing_hexagon(d, x, y, z + p[GAP], cell, p[CELL], a), SOLID_REGION, "body");
                drawing_add(d,
                            drawing_hexagon(d, x, y, z + p[GAP] + p[WALL], cell - 2 * p[WALL],
                                            bellows_inside(p, p[CELL]), a),
                            SOLID_CAVITY, chamber_name[i]);
            }
        }
    }

    drawing_plane(d, "base", 2, 0);
    drawing_plane(d, "tip", 2, p[HEIGHT]);
    d->length = fmax(p[HEIGHT], w);
    d->thinnest = p[WALL];
    d->walls = BELLOWS_WALLS;
}

// A regular hexagon of radius r has the area 3/2 sqrt(3) r^2.
static double bellows_volume(const double *p, const char *name)
{
    const double hexagon = 1.5 * sqrt(3), n = p[FOLDS], cell = bellows_cell(p),
                 inside = bellows_inside(p, p[CELL]), bore = bellows_inside(p, p[NECK]),
                 hollow = n * (cell - 2 * p[WALL]);
    const double chamber =
        hexagon * (inside * inside * hollow + bore * bore * (p[HEIGHT] - 2 * p[PLATE] - hollow));

    for (int i = 0; i < 3; ++i) {
        if (strcmp(name, chamber_name[i]) == 0) {
            return chamber;
        }
    }

    const double bellows = hexagon * (p[CELL] * p[CELL] * n * cell + p[NECK] * p[NECK] * (n + 1) * p[GAP]);
    return strcmp(name, "body") == 0 ? 2 * p[PLATE] * p[WIDTH] * p[WIDTH] + 3 * (bellows - chamber) : -1;
}

static const char yaml[] =
    "# A trunk of three bellows between square plates; it bends away from the bellows that is inflated.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: bellows-trunk\n"
    "\n"
    "# The shape is generated from parameters. z runs along the trunk from the base at 0; chamber1 lies "
    "towards +y, the\n"
    "# others follow counter-clockwise.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: bellows_trunk\n"
    "    width: 48               # of the square plates\n"
    "    height: 136             # from the base to the tip\n"
    "    plate: 6                # thickness of the plates\n"
    "    cell_radius: 12         # of the hexagonal cells, to a corner\n"
    "    neck_radius: 8.5        # of the necks between them\n"
    "    folds: 3                # cells of each bellows\n"
    "    gap: 8                  # between two cells\n"
    "    wall: 3                 # of cells and necks\n"
    "  size: 6                   # target edge length of the elements; 20 is 9 % too stiff\n"
    "  order: 2                  # quadratic tetrahedra\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: yeoh, c10: 0.05 MPa, c20: 0.004 MPa, c30: 0 MPa, poisson: 0.49}\n"
    "regions: {body: silicone}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip and chamber1 to chamber3.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Gauge pressures. Other drives: volume, volume_ratio, syringe.\n"
    "actuators:\n"
    "  - {name: chamber1, kind: chamber, surface: chamber1, drive: pressure, range: [0 kPa, 34 kPa]}\n"
    "  - {name: chamber2, kind: chamber, surface: chamber2, drive: pressure, range: [0 kPa, 34 kPa]}\n"
    "  - {name: chamber3, kind: chamber, surface: chamber3, drive: pressure, range: [0 kPa, 34 kPa]}\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_bellows_trunk = {
    .open = {"bellows_trunk", "trunk of three bellows between square plates; bends in all directions",
             parameter, PL_COUNT(parameter), yaml},
    .check = bellows_check,
    .draw = bellows_draw,
    .volume = bellows_volume,
};
