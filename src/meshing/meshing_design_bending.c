// bending_finger: a pneumatic bellows finger. A row of hollow modules, open to a common channel, stands on a
// stiff layer; slots separate the modules, so that air makes the top longer while the layer keeps its length:
// the finger bends down, towards the layer. x runs along the finger (base at 0), z up from the layer's
// underside.
#include "meshing/meshing_impl.h"

enum { LENGTH, WIDTH, HEIGHT, MODULES, SLOT, WALL, SIDE, TOP, CHANNEL_HEIGHT, CHANNEL_WIDTH, LAYER };

static const pl_design_parameter parameter[] = {
    [LENGTH] = {"length", "mm", "from the base to the tip", 100, 10, 1000, false},
    [WIDTH] = {"width", "mm", "across, along y", 20, 4, 500, false},
    [HEIGHT] = {"height", "mm", "layer included", 18, 4, 500, false},
    [MODULES] = {"modules", "", "hollow modules in a row", 8, 1, 40, true},
    [SLOT] = {"slot", "mm", "gap between two modules", 2, 0.1, 100, false},
    [WALL] = {"wall", "mm", "walls across the finger: module ends, and the roof of the channel", 2, 0.2, 50,
              false},
    [SIDE] = {"side_wall", "mm", "walls along the finger", 2.5, 0.2, 50, false},
    [TOP] = {"top_wall", "mm", "roof of the modules", 2.5, 0.2, 50, false},
    [CHANNEL_HEIGHT] = {"channel_height", "mm", "of the channel that connects the modules", 3, 0.2, 100,
                        false},
    [CHANNEL_WIDTH] = {"channel_width", "mm", "of that channel", 5, 0.2, 200, false},
    [LAYER] = {"layer", "mm", "thickness of the stiff bottom layer", 2, 0.1, 100, false},
};

// Length of one module, mm.
static double bending_module(const double *p)
{
    return (p[LENGTH] - (p[MODULES] - 1) * p[SLOT]) / p[MODULES];
}

// Each message names the parameters that must change.
static const char *bending_check(const double *p)
{
    if (bending_module(p) - 2 * p[WALL] < 0.2 * p[WALL]) {
        return "modules leave no space for chambers: use fewer modules, a smaller slot or wall, or "
               "more length";
    }

    if (p[WIDTH] - 2 * p[SIDE] < 0.2 * p[SIDE]) {
        return "side_wall leaves no space inside width";
    }
    if (p[CHANNEL_WIDTH] >= p[WIDTH] - 2 * p[SIDE]) {
        return "channel_width is not smaller than the chambers (width minus two side_wall)";
    }
    if (p[HEIGHT] - p[LAYER] - p[TOP] <= p[CHANNEL_HEIGHT]) {
        return "height leaves no space for chambers above channel_height, between layer and top_wall";
    }
    if (p[LAYER] + p[CHANNEL_HEIGHT] + p[WALL] >= p[HEIGHT]) {
        return "height leaves no slot above the channel's roof (layer + channel_height + wall)";
    }

    return NULL;
}

static void bending_draw(drawing *d, const double *p)
{
    const int modules = (int)p[MODULES];
    const double length = p[LENGTH], width = p[WIDTH], wall = p[WALL], module = bending_module(p);
    const double floor_z = p[LAYER], roof = p[LAYER] + p[CHANNEL_HEIGHT] + wall;

    // the skin is a block with slots sawn from above
    int skin = drawing_box(d, 0, -width / 2, floor_z, length, width, p[HEIGHT] - floor_z), slot[40];

    for (int i = 0; i + 1 < modules; ++i) {
        slot[i] = drawing_box(d, (i + 1) * module + i * p[SLOT], -width, roof, p[SLOT], 2 * width, p[HEIGHT]);
    }
    if (modules > 1) {
        drawing_cut(d, &skin, slot, modules - 1);
    }
    drawing_add(d, skin, SOLID_REGION, "skin");
    drawing_add(d, drawing_box(d, 0, -width / 2, 0, length, width, floor_z), SOLID_REGION, "layer");

    // chambers and channel stand on the layer
    const double inside = width - 2 * p[SIDE];
    for (int i = 0; i < modules; ++i) {
        drawing_add(d,
                    drawing_box(d, i * (module + p[SLOT]) + wall, -inside / 2, floor_z, module - 2 * wall,
                                inside, p[HEIGHT] - p[TOP] - floor_z),
                    SOLID_CAVITY, "cavity");
    }

    if (modules > 1) {
        drawing_add(d,
                    drawing_box(d, wall, -p[CHANNEL_WIDTH] / 2, floor_z, length - 2 * wall, p[CHANNEL_WIDTH],
                                p[CHANNEL_HEIGHT]),
                    SOLID_CAVITY, "cavity");
    }

    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, length);
    drawing_plane(d, "bottom", 2, 0);
    d->length = length;
    d->thinnest = fmin(fmin(wall, p[SIDE]), fmin(p[TOP], p[LAYER]));
}

// Chambers side by side with the channel's pieces between them; the skin is what is left of the slotted
// block.
static double bending_volume(const double *p, const char *name)
{
    const double n = p[MODULES], module = bending_module(p);
    const double chambers =
        n * (module - 2 * p[WALL]) * (p[WIDTH] - 2 * p[SIDE]) * (p[HEIGHT] - p[TOP] - p[LAYER]);
    const double links = (n - 1) * (2 * p[WALL] + p[SLOT]) * p[CHANNEL_WIDTH] * p[CHANNEL_HEIGHT];
    const double slots = (n - 1) * p[SLOT] * p[WIDTH] * (p[HEIGHT] - p[LAYER] - p[CHANNEL_HEIGHT] - p[WALL]);

    if (strcmp(name, "cavity") == 0) {
        return chambers + links;
    }
    if (strcmp(name, "layer") == 0) {
        return p[LENGTH] * p[WIDTH] * p[LAYER];
    }
    if (strcmp(name, "skin") == 0) {
        return p[LENGTH] * p[WIDTH] * (p[HEIGHT] - p[LAYER]) - slots - chambers - links;
    }

    return -1;
}

static const char yaml[] =
    "# A pneumatic bellows finger: when inflated it bends down towards its stiff layer.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: bending-finger\n"
    "\n"
    "# The shape is generated from parameters. x runs along the finger from the base at 0, z points up.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: bending_finger\n"
    "    length: 100          # from the base to the tip\n"
    "    width: 20\n"
    "    height: 18           # layer included\n"
    "    modules: 8           # hollow modules in a row\n"
    "    slot: 2              # gap between two modules\n"
    "    wall: 2              # module ends, roof of the channel\n"
    "    side_wall: 2.5       # walls along the finger\n"
    "    top_wall: 2.5        # roof of the modules\n"
    "    channel_height: 3    # the channel that connects the modules\n"
    "    channel_width: 5\n"
    "    layer: 2             # the stiff layer at the bottom\n"
    "  size: 3.2              # target edge length of the elements\n"
    "  order: 2               # quadratic tetrahedra; linear ones are far too stiff in bending\n"
    "\n"
    "# Materials, and the material of each region (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49}\n"
    "  fabric: {model: linear, young: 30 MPa, poisson: 0.4}\n"
    "regions: {skin: silicone, layer: fabric}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip, bottom and cavity.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# One chamber, driven by gauge pressure. Other drives: volume, volume_ratio, syringe.\n"
    "actuators:\n"
    "  - {name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 60 kPa]}\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_bending_finger = {
    .open = {"bending_finger", "pneumatic bellows finger on a stiff layer; bends when inflated", parameter,
             PL_COUNT(parameter), yaml},
    .check = bending_check,
    .draw = bending_draw,
    .volume = bending_volume,
};
