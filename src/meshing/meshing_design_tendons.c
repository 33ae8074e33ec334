// Robots pulled by tendons: gripper_finger (two materials along its length), tentacle (a cone), parallel (a
// platform on four legs).
#include "meshing/meshing_impl.h"

// ---- gripper_finger: a notched block, stiff from `split` to the tip. x runs along it, the notches are cut
// from below.
enum { GRIP_LENGTH, GRIP_WIDTH, GRIP_HEIGHT, GRIP_KNUCKLES, GRIP_NOTCH, GRIP_DEPTH, GRIP_FLAT, GRIP_SPLIT };

static const pl_design_parameter grip_parameter[] = {
    [GRIP_LENGTH] = {"length", "mm", "from the base to the tip", 120, 20, 1000, false},
    [GRIP_WIDTH] = {"width", "mm", "across, along y", 20, 2, 500, false},
    [GRIP_HEIGHT] = {"height", "mm", "along z", 20, 2, 500, false},
    [GRIP_KNUCKLES] = {"knuckles", "", "V notches, evenly spaced", 5, 1, 12, true},
    [GRIP_NOTCH] = {"notch_width", "mm", "opening of a notch", 12, 0.5, 200, false},
    [GRIP_DEPTH] = {"notch_depth", "mm", "from the underside up", 14, 0.5, 400, false},
    [GRIP_FLAT] = {"notch_flat", "mm", "flat end of a notch, which avoids a stress concentration", 2, 0.1, 50,
                   false},
    [GRIP_SPLIT] = {"split", "mm", "from the base to where the second material begins", 70, 0.5, 999, false},
};

// x of the middle of notch i, mm.
static double grip_notch_at(const double *p, int i)
{
    return p[GRIP_LENGTH] * (i + 1) / (p[GRIP_KNUCKLES] + 1);
}

// 5 % and 1.1: a little material must remain for elements.
static const char *grip_check(const double *p)
{
    if (p[GRIP_DEPTH] > 0.95 * p[GRIP_HEIGHT]) {
        return "notch_depth leaves less than 5 % of height: the finger would be cut through";
    }
    if (p[GRIP_FLAT] >= p[GRIP_NOTCH]) {
        return "notch_flat is not smaller than notch_width";
    }
    if ((p[GRIP_KNUCKLES] + 1) * 1.1 * p[GRIP_NOTCH] > p[GRIP_LENGTH]) {
        return "notch_width times knuckles does not fit into length";
    }
    if (p[GRIP_SPLIT] > p[GRIP_LENGTH] - 0.5) {
        return "split lies beyond the tip: make it smaller than length";
    }

    for (int i = 0; i < (int)p[GRIP_KNUCKLES]; ++i) {
        if (fabs(p[GRIP_SPLIT] - grip_notch_at(p, i)) < 0.55 * p[GRIP_NOTCH]) {
            return "split lies in a notch: move it into the material between two notches";
        }
    }

    return NULL;
}

// Near and far part are drawn apart, so that each cuts its own notches.
static void grip_draw(drawing *d, const double *p)
{
    const double L = p[GRIP_LENGTH], w = p[GRIP_WIDTH], h = p[GRIP_HEIGHT], split = p[GRIP_SPLIT];
    for (int far = 0; far < 2; ++far) {
        int notch[12], count = 0,
                       part = drawing_box(d, far ? split : 0, -w / 2, 0, far ? L - split : split, w, h);
        for (int i = 0; i < (int)p[GRIP_KNUCKLES]; ++i) {
            const double x = grip_notch_at(p, i), a = p[GRIP_NOTCH] / 2, b = p[GRIP_FLAT] / 2;
            const double xz[8] = {x - a, 0, x + a, 0, x + b, p[GRIP_DEPTH], x - b, p[GRIP_DEPTH]};
            if ((x > split) == far) {
                notch[count++] = drawing_sweep(d, xz, 4, -w / 2, w);
            }
        }

        if (count > 0) {
            drawing_cut(d, &part, notch, count);
        }
        drawing_add(d, part, SOLID_REGION, far ? "far" : "near");
    }

    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, L);
    drawing_plane(d, "back", 2, h);
    d->length = L;
    d->thinnest = fmin(h - p[GRIP_DEPTH], w) / 2;
}

// Prisms minus trapezoid notches, mm^3; -1 for another name.
static double grip_volume(const double *p, const char *name)
{
    const double notch = (p[GRIP_NOTCH] + p[GRIP_FLAT]) / 2 * p[GRIP_DEPTH] * p[GRIP_WIDTH];
    const bool near = strcmp(name, "near") == 0;

    if (!near && strcmp(name, "far") != 0) {
        return -1;
    }

    int cut = 0;
    for (int i = 0; i < (int)p[GRIP_KNUCKLES]; ++i) {
        cut += (grip_notch_at(p, i) < p[GRIP_SPLIT]) == near;
    }

    const double length = near ? p[GRIP_SPLIT] : p[GRIP_LENGTH] - p[GRIP_SPLIT];

    return length * p[GRIP_WIDTH] * p[GRIP_HEIGHT] - cut * notch;
}

static const char grip_yaml[] =
    "# A gripper finger of two materials along its length, closed by one tendon (Fang et al. 2020, Figure "
    "11).\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: gripper-finger\n"
    "\n"
    "# The shape is generated from parameters. x runs along the finger from the base at 0, z points up, the "
    "notches are\n"
    "# cut from below.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: gripper_finger\n"
    "    length: 120         # from the base to the tip\n"
    "    width: 20\n"
    "    height: 20\n"
    "    knuckles: 5         # V notches, evenly spaced\n"
    "    notch_width: 12     # opening of a notch\n"
    "    notch_depth: 14     # the material above it is the hinge\n"
    "    notch_flat: 2       # flat end of a notch\n"
    "    split: 70           # the region near ends here, far begins\n"
    "  size: 7               # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra\n"
    "\n"
    "# Two rubbers, one four times as stiff as the other. Exchange them, and the finger closes from its tip "
    "instead.\n"
    "materials:\n"
    "  soft: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}\n"
    "  stiff: {model: neo_hookean, c10: 0.4 MPa, poisson: 0.49}\n"
    "regions: {near: soft, far: stiff}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip and back.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "parameters: {pitch: length / (knuckles + 1), low: 0.15*height, hole: \"0.1*min(width, height)\"}\n"
    "actuators:\n"
    "  - name: tendon\n"
    "    kind: cable\n"
    "    through:\n"
    "      - [0, 0, low]\n"
    "      - repeat: {index: i, to: knuckles, each: [[($i - 1/2)*pitch, 0, low]]}\n"
    "      - [length - 0.3*pitch, 0, low]\n"
    "    radius: hole\n"
    "    drive: shortening\n"
    "    range: [0, 7*knuckles*notch_width/12]\n"
    "\n"
    "# Points whose displacement is reported: along the back, as in the figure.\n"
    "markers:\n"
    "  tip: {surface: tip}\n"
    "  back1: {at: [length/3, 0, height], radius: 0.15*height}\n"
    "  back2: {at: [2*length/3, 0, height], radius: 0.15*height}\n"
    "  back3: {at: [length, 0, height], radius: 0.15*height}\n";

const design design_gripper_finger = {
    .open = {"gripper_finger", "notched gripper finger of two materials, one tendon", grip_parameter,
             PL_COUNT(grip_parameter), grip_yaml},
    .check = grip_check,
    .draw = grip_draw,
    .volume = grip_volume,
};

// ---- tentacle: a cone along x
enum { CONE_LENGTH, CONE_BASE, CONE_TIP };

static const pl_design_parameter cone_parameter[] = {
    [CONE_LENGTH] = {"length", "mm", "from the base to the tip", 200, 10, 2000, false},
    [CONE_BASE] = {"base_diameter", "mm", "at the base", 32, 1, 500, false},
    [CONE_TIP] = {"tip_diameter", "mm", "at the tip", 12, 0.5, 499, false},
};

static const char *cone_check(const double *p)
{
    return p[CONE_TIP] >= p[CONE_BASE] ? "tip_diameter is not smaller than base_diameter" : NULL;
}

// The tip sets the size: it is the thinnest place.
static void cone_draw(drawing *d, const double *p)
{
    drawing_add(d, drawing_cone(d, 0, p[CONE_LENGTH], p[CONE_BASE] / 2, p[CONE_TIP] / 2), SOLID_REGION,
                "body");
    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, p[CONE_LENGTH]);
    d->length = p[CONE_LENGTH];
    d->thinnest = p[CONE_TIP] / 2;
}

// Frustum: pi L / 12 (D^2 + D e + e^2).
static double cone_volume(const double *p, const char *name)
{
    const double D = p[CONE_BASE], e = p[CONE_TIP];
    return strcmp(name, "body") == 0 ? PL_PI / 12 * p[CONE_LENGTH] * (D * D + D * e + e * e) : -1;
}

static const char cone_yaml[] =
    "# A tapered tentacle with three tendons, 120 degrees apart, close to its surface.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: tentacle\n"
    "\n"
    "# The shape is generated from parameters. x runs along the tentacle from the base at 0.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: tentacle\n"
    "    length: 200            # from the base to the tip\n"
    "    base_diameter: 32\n"
    "    tip_diameter: 12\n"
    "  size: 10                 # target edge length of the elements\n"
    "  order: 2                 # quadratic tetrahedra\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.06 MPa, poisson: 0.49}\n"
    "regions: {body: silicone}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base and tip.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# Tendons through guides every 40 mm. The command is the length over the length at rest; above 1 a "
    "tendon is\n"
    "# paid out, so that the others can bend the tentacle away from it.\n"
    "parameters: {taper: 13*base_diameter/32 - tip_diameter/3}      # of the circle that the tendons run on\n"
    "actuators:\n"
    "  - name: tendon1\n"
    "    kind: cable\n"
    "    through:\n"
    "      - repeat: {index: i, to: 5, each: [[($i - 1)*length/5, 13*base_diameter/32 - ($i - 1)*taper/5, "
    "0]]}\n"
    "      - [0.98*length, 0.35*tip_diameter, 0]\n"
    "    radius: 5*tip_diameter/24\n"
    "    drive: length_ratio\n"
    "    range: [0.85, 1.15]\n"
    "  - name: tendon2\n"
    "    kind: cable\n"
    "    through:\n"
    "      - repeat: {index: i, to: 5, each: [[($i - 1)*length/5, -(13*base_diameter/32 - ($i - "
    "1)*taper/5)/2, (13*base_diameter/32 - ($i - 1)*taper/5)*sin(60 deg)]]}\n"
    "      - [0.98*length, -0.175*tip_diameter, 0.35*tip_diameter*sin(60 deg)]\n"
    "    radius: 5*tip_diameter/24\n"
    "    drive: length_ratio\n"
    "    range: [0.85, 1.15]\n"
    "  - name: tendon3\n"
    "    kind: cable\n"
    "    through:\n"
    "      - repeat: {index: i, to: 5, each: [[($i - 1)*length/5, -(13*base_diameter/32 - ($i - "
    "1)*taper/5)/2, -(13*base_diameter/32 - ($i - 1)*taper/5)*sin(60 deg)]]}\n"
    "      - [0.98*length, -0.175*tip_diameter, -0.35*tip_diameter*sin(60 deg)]\n"
    "    radius: 5*tip_diameter/24\n"
    "    drive: length_ratio\n"
    "    range: [0.85, 1.15]\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n"
    "  middle: {at: [length/2, 0, 0], radius: tip_diameter/3}\n";

const design design_tentacle = {
    .open = {"tentacle", "tapered tentacle with three tendons", cone_parameter, PL_COUNT(cone_parameter),
             cone_yaml},
    .check = cone_check,
    .draw = cone_draw,
    .volume = cone_volume,
};

// ---- parallel: a square platform on four bent legs along x and y. z points up.
enum { LEGS_WIDTH, LEGS_HEIGHT, LEGS_PLATFORM, LEGS_WIDE, LEGS_THICK, LEGS_KNEE };

static const pl_design_parameter legs_parameter[] = {
    [LEGS_WIDTH] = {"width", "mm", "over opposite feet", 180, 20, 2000, false},
    [LEGS_HEIGHT] = {"height", "mm", "of the platform's upper face", 130, 10, 2000, false},
    [LEGS_PLATFORM] = {"platform", "mm", "side of the square platform", 50, 5, 1000, false},
    [LEGS_WIDE] = {"leg_width", "mm", "of a leg, across", 24, 1, 500, false},
    [LEGS_THICK] = {"leg_thickness", "mm", "of a leg and of the platform", 11, 1, 300, false},
    [LEGS_KNEE] = {"knee", "mm", "height of the knee's inner corner", 60, 1, 1900, false},
};

static const char *legs_check(const double *p)
{
    if (p[LEGS_WIDE] > p[LEGS_PLATFORM]) {
        return "leg_width is larger than platform";
    }
    if (p[LEGS_PLATFORM] / 2 + 1.5 * p[LEGS_THICK] > p[LEGS_WIDTH] / 2) {
        return "platform leaves no space for the legs inside width";
    }
    if (p[LEGS_KNEE] + p[LEGS_THICK] > p[LEGS_HEIGHT]) {
        return "knee is too high: knee and leg_thickness together exceed height";
    }

    return NULL;
}

// The six corners of a leg in its plane: from the platform over the knee to the foot.
static void legs_profile(const double *p, double xz[12])
{
    const double x0 = p[LEGS_PLATFORM] / 2, x1 = p[LEGS_WIDTH] / 2, t = p[LEGS_THICK], h = p[LEGS_HEIGHT],
                 k = p[LEGS_KNEE];
    const double corner[12] = {x0, h - t, x1 - t, k, x1 - t, 0, x1, 0, x1, k + t / 2, x0, h};
    memcpy(xz, corner, sizeof corner);
}

// One leg, drawn four times and turned about z.
static void legs_draw(drawing *d, const double *p)
{
    const double side = p[LEGS_PLATFORM], t = p[LEGS_THICK], h = p[LEGS_HEIGHT];
    double xz[12];

    legs_profile(p, xz);
    drawing_add(d, drawing_box(d, -side / 2, -side / 2, h - t, side, side, t), SOLID_REGION, "body");
    for (int i = 0; i < 4; ++i) {
        const int leg = drawing_sweep(d, xz, 6, -p[LEGS_WIDE] / 2, p[LEGS_WIDE]);
        drawing_turn(d, leg, i * PL_PI / 2);
        drawing_add(d, leg, SOLID_REGION, "body");
    }

    drawing_plane(d, "base", 2, 0);
    drawing_plane(d, "tip", 2, h);
    d->length = fmax(p[LEGS_WIDTH], h);
    d->thinnest = fmin(t, p[LEGS_WIDE]) / 2;
}

// Area of the profile by the shoelace formula, mm^3 in all.
static double legs_volume(const double *p, const char *name)
{
    double xz[12], area = 0;
    legs_profile(p, xz);
    for (int i = 0; i < 6; ++i) {
        const double *a = xz + 2 * i, *b = xz + 2 * ((i + 1) % 6);
        area += (a[0] * b[1] - b[0] * a[1]) / 2;
    }

    const double platform = p[LEGS_PLATFORM] * p[LEGS_PLATFORM] * p[LEGS_THICK];
    return strcmp(name, "body") == 0 ? platform + 4 * fabs(area) * p[LEGS_WIDE] : -1;
}

static const char legs_yaml[] =
    "# A silicone platform on four legs, moved by four cables against gravity (Bieze et al. 2018, Figure "
    "11).\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: parallel\n"
    "\n"
    "# The shape is generated from parameters. z points up, the feet stand at z = 0, the legs point along x "
    "and y.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: parallel\n"
    "    width: 180             # over opposite feet\n"
    "    height: 130            # of the platform's upper face\n"
    "    platform: 50           # side of the square platform\n"
    "    leg_width: 24          # across a leg\n"
    "    leg_thickness: 11      # of legs and platform\n"
    "    knee: 60               # height of the knee's inner corner\n"
    "  size: 6                  # target edge length of the elements; 16 is 13 % too stiff\n"
    "  order: 2                 # quadratic tetrahedra\n"
    "\n"
    "# Materials (`pliant materials` lists measured ones).\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.022 MPa, poisson: 0.49, density: 1070 kg/m^3}\n"
    "regions: {body: silicone}\n"
    "\n"
    "# The feet are clamped. The design names the surfaces base (the feet) and tip (the platform's upper "
    "face).\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "loads:\n"
    "  gravity: [0, 0, -9.81 m/s^2]\n"
    "\n"
    "# Each cable runs from a pulley below the platform to a knee and pulls it inwards, which holds the "
    "platform up and\n"
    "# moves it away from that leg. The command is the free length of the cable, 85.9 mm without gravity.\n"
    "parameters:\n"
    "  out: width/2 - 6*leg_thickness/11                 # from the middle to a cable's end in a leg\n"
    "  winch: 2*width/45                                 # from the middle to where a cable is wound up\n"
    "  low: knee/3\n"
    "  rest: sqrt((out - winch)^2 + (knee - low)^2)      # length of a cable\n"
    "actuators:\n"
    "  - {name: east, kind: cable, through: [{at: [winch, 0, low], space: true}, [out, 0, knee]], radius: "
    "leg_width/3, drive: length, range: [0.69*rest, 1.31*rest]}\n"
    "  - {name: north, kind: cable, through: [{at: [0, winch, low], space: true}, [0, out, knee]], radius: "
    "leg_width/3, drive: length, range: [0.69*rest, 1.31*rest]}\n"
    "  - {name: west, kind: cable, through: [{at: [-winch, 0, low], space: true}, [-out, 0, knee]], radius: "
    "leg_width/3, drive: length, range: [0.69*rest, 1.31*rest]}\n"
    "  - {name: south, kind: cable, through: [{at: [0, -winch, low], space: true}, [0, -out, knee]], radius: "
    "leg_width/3, drive: length, range: [0.69*rest, 1.31*rest]}\n"
    "\n"
    "# Points whose displacement is reported: the end-effector is the platform's upper face.\n"
    "markers:\n"
    "  tip: {surface: tip}\n";

const design design_parallel = {
    .open = {"parallel", "silicone platform on four legs, four cables, gravity", legs_parameter,
             PL_COUNT(legs_parameter), legs_yaml},
    .check = legs_check,
    .draw = legs_draw,
    .volume = legs_volume,
};
