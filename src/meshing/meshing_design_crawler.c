// dea_crawler: a flat frame with a window, spanned by an elastomer film that was bonded to it while
// stretched. Let go, the film contracts and the frame arches up; a voltage on the film lets it down again,
// and with feet that grip in one direction the robot crawls. x runs from foot to foot, z up; the film lies
// below the frame.
#include "meshing/meshing_impl.h"

enum { LENGTH, WIDTH, FOOT, RAIL, FILM, FRAME };

static const pl_design_parameter parameter[] = {
    [LENGTH] = {"length", "mm", "from foot to foot, along x", 70, 5, 500, false},
    [WIDTH] = {"width", "mm", "along y", 40, 3, 500, false},
    [FOOT] = {"foot", "mm", "of the frame's strips at both ends", 8, 0.5, 200, false},
    [RAIL] = {"rail", "mm", "width of the frame's strips along both sides", 6, 0.3, 100, false},
    [FILM] = {"film", "mm", "thickness of the elastomer, as bonded (stretched)", 0.5, 0.005, 10, false},
    [FRAME] = {"frame", "mm", "thickness of the frame", 1, 0.005, 10, false},
};

// A tenth of the frame at least is window.
static const char *crawler_check(const double *p)
{
    if (2 * p[FOOT] > 0.9 * p[LENGTH]) {
        return "foot leaves no window inside length";
    }
    if (2 * p[RAIL] > 0.9 * p[WIDTH]) {
        return "rail leaves no window inside width";
    }
    return NULL;
}

// Film under the whole frame, bonded to it at the rim; the frame's window stays empty.
static int crawler_sheets(const double *p, sheet *out)
{
    const double L = p[LENGTH], w = p[WIDTH] / 2, f = p[FOOT], r = p[WIDTH] / 2 - p[RAIL];
    const double whole[] = {0, -w, L, -w, L, w, 0, w}, window[] = {f, -r, L - f, -r, L - f, r, f, r};
    const double top = p[FILM], roof = p[FILM] + p[FRAME];

    // the last sheet that covers a place wins; one without a region leaves it empty
    const sheet list[] = {
        {.region = "rim", .from = 0, .to = top, .corner_count = 4},
        {.region = "film", .from = 0, .to = top, .corner_count = 4},
        {.region = "frame", .from = top, .to = roof, .corner_count = 4},
        {.region = NULL, .from = top, .to = roof, .corner_count = 4},
    };

    for (int i = 0; i < 4; ++i) {
        out[i] = list[i];
        memcpy(out[i].xy, i % 2 ? window : whole, sizeof whole);
    }

    return 4;
}

static double crawler_volume(const double *p, const char *name)
{
    const double whole = p[LENGTH] * p[WIDTH], window = (p[LENGTH] - 2 * p[FOOT]) * (p[WIDTH] - 2 * p[RAIL]);
    if (strcmp(name, "film") == 0) {
        return window * p[FILM];
    }
    if (strcmp(name, "rim") == 0) {
        return (whole - window) * p[FILM];
    }

    return strcmp(name, "frame") == 0 ? (whole - window) * p[FRAME] : -1;
}

static const char yaml[] =
    "# A crawler driven by a dielectric elastomer: a stretched film arches a thin frame, a voltage flattens "
    "it.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: dea-crawler\n"
    "\n"
    "# The shape is generated from parameters, flat: x from foot to foot, z up, the film below the frame.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: dea_crawler\n"
    "    length: 70          # from foot to foot\n"
    "    width: 40\n"
    "    foot: 8             # the frame's strips at both ends\n"
    "    rail: 6             # the frame's strips along both sides\n"
    "    film: 0.5           # thickness of the elastomer, as bonded (stretched)\n"
    "    frame: 1            # thickness of the frame\n"
    "  size: 5               # target edge length of the triangles\n"
    "  order: 2              # prisms of 15 nodes; linear ones are far too stiff in bending\n"
    "\n"
    "materials:\n"
    "  elastomer: {model: neo_hookean, c10: 0.03 MPa, poisson: 0.49}\n"
    "  plastic: {model: linear, young: 60 MPa, poisson: 0.4}\n"
    "\n"
    "# The elastomer was bonded while stretched: its stress-free area is 0.7 of that of the mesh. film is\n"
    "# the part in the window, rim the part under the frame.\n"
    "regions:\n"
    "  film: {material: elastomer, rest_area: 0.7}\n"
    "  rim: {material: elastomer, rest_area: 0.7}\n"
    "  frame: plastic\n"
    "\n"
    "# The feet stay on the ground (their lower edges at z = 0): the rear one is the origin, the front one "
    "slides.\n"
    "# One point prevents the robot from sliding sideways.\n"
    "fixed:\n"
    "  - {name: rear_foot, box: [[-0.01, -500, -0.001], [0.01, 500, 0.001]], axes: [x, z]}\n"
    "  - {name: front_foot, box: [[length - 0.01, -500, -0.001], [length + 0.01, 500, 0.001]], axes: [z]}\n"
    "  - {name: sideways, box: [[-0.01, -width/2 - 0.01, -0.001], [0.01, -width/2 + 0.01, 0.001]], axes: "
    "[y]}\n"
    "\n"
    "# The film between its electrodes, driven by the Maxwell stress of a voltage. To drive it by a measured "
    "table\n"
    "# of voltage and area instead, see docs/explanation/dea.md.\n"
    "actuators:\n"
    "  - {name: voltage, kind: film, region: film, drive: voltage, thickness: film, permittivity: 4.7, "
    "range: [0, 8 kV]}\n"
    "\n"
    "# Points whose displacement is reported: the front foot, and the top of the arch (both rails).\n"
    "surfaces:\n"
    "  front: {plane: {point: [length, 0, 0], normal: [1, 0, 0]}}\n"
    "markers:\n"
    "  front: {surface: front}\n"
    "  top_left: {at: [length/2, width/2 - rail/3, film + frame]}\n"
    "  top_right: {at: [length/2, rail/3 - width/2, film + frame]}\n";

const design design_dea_crawler = {
    .open = {"dea_crawler", "frame arched by a stretched elastomer film; a voltage flattens it", parameter,
             PL_COUNT(parameter), yaml},
    .check = crawler_check,
    .sheets = crawler_sheets,
    .volume = crawler_volume,
};
