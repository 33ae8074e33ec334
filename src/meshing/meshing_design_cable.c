// cable_finger and knuckle_finger: a block with V notches cut from below, so that three hinges stay near its
// back. Three tendons: along the whole finger on both sides, or below it and ending behind the first, second
// and third notch. x runs along the finger (base at 0), y across (0 in the middle), z up from the notched
// side.
#include "meshing/meshing_impl.h"

enum { LENGTH, WIDTH, HEIGHT, KNUCKLES, NOTCH_WIDTH, NOTCH_DEPTH, NOTCH_FLAT };

static const pl_design_parameter parameter[] = {
    [LENGTH] = {"length", "mm", "from the base to the tip", 120, 20, 1000, false},
    [WIDTH] = {"width", "mm", "across, along y", 25, 2, 500, false},
    [HEIGHT] = {"height", "mm", "along z", 25, 2, 500, false},
    [KNUCKLES] = {"knuckles", "", "V notches, evenly spaced", 3, 1, 12, true},
    [NOTCH_WIDTH] = {"notch_width", "mm", "opening of a notch", 16, 0.5, 200, false},
    [NOTCH_DEPTH] = {"notch_depth", "mm", "from the underside up", 17, 0.5, 400, false},
    [NOTCH_FLAT] = {"notch_flat", "mm", "flat end of a notch, which avoids a stress concentration", 2, 0.1,
                    50, false},
};

static const char *cable_check(const double *p)
{
    if (p[NOTCH_DEPTH] > 0.95 * p[HEIGHT]) {
        return "notch_depth leaves less than 5 % of height: the finger would be cut through";
    }
    if (p[NOTCH_FLAT] >= p[NOTCH_WIDTH]) {
        return "notch_flat is not smaller than notch_width";
    }
    if ((p[KNUCKLES] + 1) * 1.1 * p[NOTCH_WIDTH] > p[LENGTH]) {
        return "notch_width times knuckles does not fit into length";
    }

    return NULL;
}

static void cable_draw(drawing *d, const double *p)
{
    // the side view, counter-clockwise from the lower base corner
    const int knuckles = (int)p[KNUCKLES];
    double xz[2 * (4 + 4 * 12)];
    int n = 0;
#define CORNER(x, z) (xz[2 * n] = (x), xz[2 * n + 1] = (z), ++n)
    CORNER(0, 0);

    for (int i = 0; i < knuckles; ++i) {
        const double x = p[LENGTH] * (i + 1) / (knuckles + 1);
        CORNER(x - p[NOTCH_WIDTH] / 2, 0);
        CORNER(x - p[NOTCH_FLAT] / 2, p[NOTCH_DEPTH]);
        CORNER(x + p[NOTCH_FLAT] / 2, p[NOTCH_DEPTH]);
        CORNER(x + p[NOTCH_WIDTH] / 2, 0);
    }

    CORNER(p[LENGTH], 0);
    CORNER(p[LENGTH], p[HEIGHT]);
    CORNER(0, p[HEIGHT]);
#undef CORNER
    drawing_add(d, drawing_sweep(d, xz, n, -p[WIDTH] / 2, p[WIDTH]), SOLID_REGION, "body");
    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, p[LENGTH]);
    drawing_plane(d, "back", 2, p[HEIGHT]);
    d->length = p[LENGTH];
    d->thinnest = fmin(p[HEIGHT] - p[NOTCH_DEPTH], p[WIDTH]) / 2;
}

// Block minus trapezoid notches, mm^3.
static double cable_volume(const double *p, const char *name)
{
    const double notch = (p[NOTCH_WIDTH] + p[NOTCH_FLAT]) / 2 * p[NOTCH_DEPTH] * p[WIDTH];
    return strcmp(name, "body") == 0 ? p[LENGTH] * p[WIDTH] * p[HEIGHT] - p[KNUCKLES] * notch : -1;
}

static const char yaml[] =
    "# A finger with three knuckles, pulled by three tendons: one on the notched side, two along the back.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: cable-finger\n"
    "\n"
    "# The shape is generated from parameters. x runs along the finger from the base at 0, z points up, the "
    "notches are\n"
    "# cut from below.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: cable_finger\n"
    "    length: 120         # from the base to the tip\n"
    "    width: 25\n"
    "    height: 25\n"
    "    knuckles: 3         # V notches, evenly spaced\n"
    "    notch_width: 16     # opening of a notch\n"
    "    notch_depth: 17     # the material above it is the hinge\n"
    "    notch_flat: 2       # flat end of a notch\n"
    "  size: 5               # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra\n"
    "\n"
    "# What follows the sizes: expressions of the numbers of the design.\n"
    "parameters:\n"
    "  pitch: length / (knuckles + 1)                            # from notch to notch\n"
    "  beside: notch_width/2 + (pitch - notch_width)/7           # from the middle of a notch to a guide\n"
    "  low: 0.16*height                                          # of the tendon on the notched side\n"
    "  high: (notch_depth + height)/2                            # of the tendons in the hinges\n"
    "  hole: \"0.08*min(width, height)\"\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.2 MPa, poisson: 0.49}\n"
    "regions: {body: silicone}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip and back.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Tendons run straight from guide point to guide point, without friction, and are attached at the last "
    "one;\n"
    "# `radius`: a guide distributes its force over this radius. The command is the shortening of a tendon "
    "in mm.\n"
    "actuators:\n"
    "  - name: flexor\n"
    "    kind: cable\n"
    "    through:\n"
    "      - [0, 0, low]\n"
    "      - repeat: {index: i, to: knuckles, each: [[$i*pitch - beside, 0, low], [$i*pitch + beside, 0, "
    "low]]}\n"
    "      - [length - 2*pitch/15, 0, low]\n"
    "    radius: hole\n"
    "    drive: shortening\n"
    "    range: [0, 5*knuckles*notch_width/12]\n"
    "  - name: left\n"
    "    kind: cable\n"
    "    through:\n"
    "      - repeat: {index: i, to: 6, each: [[($i - 1)*length/6, 0.32*width, high]]}\n"
    "      - [length - 2*pitch/15, 0.32*width, high]\n"
    "    radius: hole\n"
    "    drive: shortening\n"
    "    range: [0, length/15]\n"
    "  - name: right\n"
    "    kind: cable\n"
    "    through:\n"
    "      - repeat: {index: i, to: 6, each: [[($i - 1)*length/6, -0.32*width, high]]}\n"
    "      - [length - 2*pitch/15, -0.32*width, high]\n"
    "    radius: hole\n"
    "    drive: shortening\n"
    "    range: [0, length/15]\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_cable_finger = {
    .open = {"cable_finger", "finger with three knuckles and three tendons", parameter, PL_COUNT(parameter),
             yaml},
    .check = cable_check,
    .draw = cable_draw,
    .volume = cable_volume,
};

// ---- knuckle_finger: the same shape with deeper notches
static const pl_design_parameter knuckle_parameter[] = {
    [LENGTH] = {"length", "mm", "from the base to the tip", 120, 20, 1000, false},
    [WIDTH] = {"width", "mm", "across, along y", 25, 2, 500, false},
    [HEIGHT] = {"height", "mm", "along z", 25, 2, 500, false},
    [KNUCKLES] = {"knuckles", "", "V notches, evenly spaced", 3, 1, 12, true},
    [NOTCH_WIDTH] = {"notch_width", "mm", "opening of a notch", 18, 0.5, 200, false},
    [NOTCH_DEPTH] = {"notch_depth", "mm", "from the underside up", 18, 0.5, 400, false},
    [NOTCH_FLAT] = {"notch_flat", "mm", "flat end of a notch, which avoids a stress concentration", 3, 0.1,
                    50, false},
};

static const char knuckle_yaml[] =
    "# A finger with three knuckles that moves in a plane: one tendon ends behind each knuckle (Fang et al. "
    "2020,\n"
    "# Figures 12 to 14). Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: knuckle-finger\n"
    "\n"
    "# The shape is generated from parameters. x runs along the finger from the base at 0, z points up, the "
    "notches are\n"
    "# cut from below.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: knuckle_finger\n"
    "    length: 120         # from the base to the tip\n"
    "    width: 25\n"
    "    height: 25\n"
    "    knuckles: 3         # V notches, evenly spaced\n"
    "    notch_width: 18     # opening of a notch\n"
    "    notch_depth: 18     # the material above it is the hinge\n"
    "    notch_flat: 3       # flat end of a notch\n"
    "  size: 8               # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra\n"
    "\n"
    "# What follows the sizes: expressions of the numbers of the design.\n"
    "parameters:\n"
    "  pitch: length / (knuckles + 1)                            # from notch to notch\n"
    "  beside: notch_width/2 + (pitch - notch_width)/12          # from the middle of a notch to a guide\n"
    "  low: 0.16*height\n"
    "  hole: \"0.08*min(width, height)\"\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.2 MPa, poisson: 0.49}\n"
    "regions: {body: silicone}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip and back.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Tendons run straight from guide point to guide point, without friction, and end at the last one. A "
    "tendon that\n"
    "# another one has made slack is reported as slack; inverse kinematics knows where it becomes taut. "
    "`radius`: a\n"
    "# guide distributes its force over this radius. The command is the shortening of a tendon.\n"
    "actuators:\n"
    "  - repeat:\n"
    "      index: k\n"
    "      to: knuckles\n"
    "      each:\n"
    "        - name: tendon$k\n"
    "          kind: cable\n"
    "          through:\n"
    "            - [0, 0, low]\n"
    "            - repeat: {index: i, to: $k, each: [[$i*pitch - beside, 0, low], [$i*pitch + beside, 0, "
    "low]]}\n"
    "          radius: hole\n"
    "          drive: shortening\n"
    "          range: [0, \"min($k, 6)*(13 - min($k, 6))*notch_width/18\"]\n"
    "\n"
    "# Points whose displacement is reported; corner is the point that was followed in the experiments.\n"
    "markers:\n"
    "  tip: {surface: tip}\n"
    "  corner: {at: [length, 0, height], radius: 0.12*height}\n";

const design design_knuckle_finger = {
    .open = {"knuckle_finger", "finger with three knuckles and a tendon to each of them; moves in a plane",
             knuckle_parameter, PL_COUNT(knuckle_parameter), knuckle_yaml},
    .check = cable_check,
    .draw = cable_draw,
    .volume = cable_volume,
};
