// membrane, pillows: a square sheet and the plate of inflatable chambers that lifts it, after the free-form
// surface of Fang et al. 2022 (250 x 250 mm over four chambers). They are separate bodies, which only touch.
// Both are centred on the z axis and stand on z = 0.
#include <stdio.h>
#include "meshing/meshing_impl.h"

// ---- membrane: the sheet
enum { SHEET_SIDE, SHEET_THICKNESS };

static const pl_design_parameter sheet_parameter[] = {
    [SHEET_SIDE] = {"side", "mm", "of the square, along x and y", 250, 5, 5000, false},
    [SHEET_THICKNESS] = {"thickness", "mm", "along z", 4, 0.1, 200, false},
};

static const char *sheet_check(const double *p)
{
    return p[SHEET_THICKNESS] > p[SHEET_SIDE] ? "the sheet is thicker than wide (side, thickness)" : NULL;
}

// The four sides of a square, all of one name.
static void rim_planes(drawing *d, const char *name, double half)
{
    for (int k = 0; k < 4; ++k) {
        drawing_plane(d, name, k / 2, k % 2 ? half : -half);
    }
}

static void sheet_draw(drawing *d, const double *p)
{
    const double a = p[SHEET_SIDE], t = p[SHEET_THICKNESS];
    drawing_add(d, drawing_box(d, -a / 2, -a / 2, 0, a, a, t), SOLID_REGION, "sheet");
    rim_planes(d, "rim", a / 2);
    drawing_plane(d, "bottom", 2, 0);
    drawing_plane(d, "top", 2, t);
    d->length = a;
    d->thinnest = t;
    d->walls = 3;
}

static double sheet_volume(const double *p, const char *name)
{
    return strcmp(name, "sheet") == 0 ? p[SHEET_SIDE] * p[SHEET_SIDE] * p[SHEET_THICKNESS] : -1;
}

static const char sheet_yaml[] =
    "# A silicone membrane over four chambers, after Fang et al. 2022. Membrane and chambers are separate\n"
    "# bodies: where a chamber bulges it touches the membrane and lifts it.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: membrane\n"
    "\n"
    "# Dragon Skin 20 with the constants of the paper.\n"
    "parameters: {side: 250}   # of both squares\n"
    "materials:\n"
    "  silicone: {use: dragon_skin_20_fang}\n"
    "\n"
    "# Both shapes are generated from parameters. The chambers stand on z = 0, the membrane lies above "
    "them.\n"
    "bodies:\n"
    "  - name: membrane\n"
    "    pose: {move: [0, 0, 21]}\n"
    "    mesh:\n"
    "      design:\n"
    "        kind: membrane\n"
    "        side: side        # of the square\n"
    "        thickness: 4\n"
    "      size: 14            # target edge length of the elements\n"
    "      order: 2            # quadratic tetrahedra\n"
    "    regions: {sheet: silicone}\n"
    "    # the rim is clamped; the design names the surfaces rim, bottom and top\n"
    "    fixed:\n"
    "      - {surface: rim}\n"
    "    markers:\n"
    "      middle: {at: [0, 0, thickness]}\n"
    "      over1: {at: [-0.24*side, -0.24*side, thickness]}\n"
    "      over2: {at: [0.24*side, -0.24*side, thickness]}\n"
    "      over3: {at: [-0.24*side, 0.24*side, thickness]}\n"
    "      over4: {at: [0.24*side, 0.24*side, thickness]}\n"
    "  - name: pillows\n"
    "    mesh:\n"
    "      design: {kind: pillows, side: side, height: 20, across: 2, wall: 15, roof: 4, floor: 5}\n"
    "      size: 14\n"
    "      order: 2\n"
    "    regions: {plate: silicone}\n"
    "    fixed:\n"
    "      - {surface: base}\n"
    "    # the commands are the pressures\n"
    "    actuators:\n"
    "      - {name: air1, kind: chamber, surface: chamber1, drive: pressure, range: [0 kPa, 12 kPa]}\n"
    "      - {name: air2, kind: chamber, surface: chamber2, drive: pressure, range: [0 kPa, 12 kPa]}\n"
    "      - {name: air3, kind: chamber, surface: chamber3, drive: pressure, range: [0 kPa, 12 kPa]}\n"
    "      - {name: air4, kind: chamber, surface: chamber4, drive: pressure, range: [0 kPa, 12 kPa]}\n"
    "\n"
    "# Bodies keep each other out as soon as this block is there.\n"
    "contact: {self: false}\n";

const design design_membrane = {
    .open = {"membrane", "sheet that four chambers under it lift", sheet_parameter, PL_COUNT(sheet_parameter),
             sheet_yaml, false},
    .check = sheet_check,
    .draw = sheet_draw,
    .volume = sheet_volume,
};

// ---- pillows: a plate with chambers under a thin roof, in rows along x, then y
enum { PLATE_SIDE, PLATE_HEIGHT, PLATE_ACROSS, PLATE_WALL, PLATE_ROOF, PLATE_FLOOR };
#define PLATE_ACROSS_MAX 6

static const pl_design_parameter plate_parameter[] = {
    [PLATE_SIDE] = {"side", "mm", "of the square plate, along x and y", 250, 10, 5000, false},
    [PLATE_HEIGHT] = {"height", "mm", "of the plate, along z", 20, 1, 1000, false},
    [PLATE_ACROSS] = {"across", "", "chambers along x, and as many along y", 2, 1, PLATE_ACROSS_MAX, true},
    [PLATE_WALL] = {"wall", "mm", "beside and between chambers", 15, 0.2, 500, false},
    [PLATE_ROOF] = {"roof", "mm", "over a chamber", 4, 0.2, 500, false},
    [PLATE_FLOOR] = {"floor", "mm", "under a chamber", 5, 0.2, 500, false},
};

// Width of a square chamber.
static double plate_chamber(const double *p)
{
    return (p[PLATE_SIDE] - (p[PLATE_ACROSS] + 1) * p[PLATE_WALL]) / p[PLATE_ACROSS];
}

static const char *plate_check(const double *p)
{
    if (plate_chamber(p) < 0.02 * p[PLATE_SIDE]) {
        return "the walls leave no room for chambers (wall, across, side)";
    }
    if (p[PLATE_ROOF] + p[PLATE_FLOOR] > 0.95 * p[PLATE_HEIGHT]) {
        return "roof and floor leave no room for chambers (height)";
    }
    return NULL;
}

// Names are static: the drawing only borrows them. One drawing at a time, as in every mesher process.
static void plate_draw(drawing *d, const double *p)
{
    static char name[PLATE_ACROSS_MAX * PLATE_ACROSS_MAX][24];
    const double a = p[PLATE_SIDE], c = plate_chamber(p), w = p[PLATE_WALL];
    const double deep = p[PLATE_HEIGHT] - p[PLATE_ROOF] - p[PLATE_FLOOR];
    const int across = (int)p[PLATE_ACROSS];

    drawing_add(d, drawing_box(d, -a / 2, -a / 2, 0, a, a, p[PLATE_HEIGHT]), SOLID_REGION, "plate");
    for (int i = 0; i < across * across; ++i) {
        snprintf(name[i], sizeof name[i], "chamber%d", i + 1);
        const double x = -a / 2 + w + (i % across) * (c + w), y = -a / 2 + w + (i / across) * (c + w);
        drawing_add(d, drawing_box(d, x, y, p[PLATE_FLOOR], c, c, deep), SOLID_CAVITY, name[i]);
    }

    rim_planes(d, "rim", a / 2);
    drawing_plane(d, "base", 2, 0);
    drawing_plane(d, "top", 2, p[PLATE_HEIGHT]);
    d->length = a;
    d->thinnest = fmin(p[PLATE_WALL], fmin(p[PLATE_ROOF], p[PLATE_FLOOR]));
    d->walls = 3;
}

static double plate_volume(const double *p, const char *name)
{
    const double c = plate_chamber(p), deep = p[PLATE_HEIGHT] - p[PLATE_ROOF] - p[PLATE_FLOOR];
    int number = 0;

    if (sscanf(name, "chamber%d", &number) == 1) {
        return number >= 1 && number <= p[PLATE_ACROSS] * p[PLATE_ACROSS] ? c * c * deep : -1;
    }

    return strcmp(name, "plate") == 0 ? p[PLATE_SIDE] * p[PLATE_SIDE] * p[PLATE_HEIGHT] -
                                            p[PLATE_ACROSS] * p[PLATE_ACROSS] * c * c * deep
                                      : -1;
}

static const char plate_yaml[] =
    "# A silicone plate with four chambers whose roofs bulge; see the design membrane for what lies on it.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: pillows\n"
    "\n"
    "# The shape is generated from parameters. The plate stands on z = 0, centred on the z axis; chambers "
    "are\n"
    "# counted along x, then y.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: pillows\n"
    "    side: 250           # of the square\n"
    "    height: 20\n"
    "    across: 2           # chambers along x, and as many along y\n"
    "    wall: 15            # beside and between chambers\n"
    "    roof: 4\n"
    "    floor: 5\n"
    "  size: 14              # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra\n"
    "\n"
    "# Dragon Skin 20 with the constants of Fang et al. 2022.\n"
    "materials:\n"
    "  silicone: {use: dragon_skin_20_fang}\n"
    "regions: {plate: silicone}\n"
    "\n"
    "# The underside is glued to the ground. The design names the surfaces base, top, rim and chamber1 to "
    "4.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# The commands are the pressures.\n"
    "parameters: {pitch: (side - wall)/across}      # from chamber to chamber\n"
    "actuators:\n"
    "  - repeat:\n"
    "      index: i\n"
    "      to: across^2\n"
    "      each: [{name: air$i, kind: chamber, surface: chamber$i, drive: pressure, range: [0 kPa, 12 "
    "kPa]}]\n"
    "\n"
    "# Points whose displacement is reported: the middles of the roofs.\n"
    "markers:\n"
    "  repeat:\n"
    "    index: j\n"
    "    to: across\n"
    "    each:\n"
    "      repeat:\n"
    "        index: i\n"
    "        to: across\n"
    "        each: {\"roof$(i + (j - 1)*across)\": {at: [($i - (across + 1)/2)*pitch, ($j - (across + "
    "1)/2)*pitch, height]}}\n";

const design design_pillows = {
    .open = {"pillows", "plate with four chambers whose roofs bulge", plate_parameter,
             PL_COUNT(plate_parameter), plate_yaml, false},
    .check = plate_check,
    .draw = plate_draw,
    .volume = plate_volume,
};
