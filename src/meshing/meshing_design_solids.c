// specimen, beam, sphere_shell, tube: the shapes that have closed-form answers.
#include "meshing/meshing_impl.h"

// ---- beam: a block, x along it, base at 0
enum { BEAM_LENGTH, BEAM_WIDTH, BEAM_HEIGHT };

static const pl_design_parameter beam_parameter[] = {
    [BEAM_LENGTH] = {"length", "mm", "from the base to the tip", 100, 1, 5000, false},
    [BEAM_WIDTH] = {"width", "mm", "across, along y", 30, 0.5, 2000, false},
    [BEAM_HEIGHT] = {"height", "mm", "along z", 30, 0.5, 2000, false},
};

static void beam_draw(drawing *d, const double *p)
{
    const double l = p[BEAM_LENGTH], w = p[BEAM_WIDTH], h = p[BEAM_HEIGHT];
    drawing_add(d, drawing_box(d, 0, -w / 2, -h / 2, l, w, h), SOLID_REGION, "body");
    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, l);
    drawing_plane(d, "top", 2, h / 2);
    drawing_plane(d, "bottom", 2, -h / 2);
    d->length = fmax(l, fmax(w, h));
    d->thinnest = fmin(l, fmin(w, h));
}

static double beam_volume(const double *p, const char *name)
{
    return strcmp(name, "body") == 0 ? p[BEAM_LENGTH] * p[BEAM_WIDTH] * p[BEAM_HEIGHT] : -1;
}

static const char beam_yaml[] =
    "# A silicone beam, clamped at one end, that sags under its own weight; a tendon lifts it.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: beam\n"
    "\n"
    "# The shape is generated from parameters. x runs along the beam from the base at 0, the axis is y = z = "
    "0.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: beam\n"
    "    length: 100\n"
    "    width: 30           # along y\n"
    "    height: 30          # along z\n"
    "  size: 10              # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra\n"
    "\n"
    "# Weight needs a density.\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49, density: 1070 kg/m^3}\n"
    "regions: {body: silicone}\n"
    "\n"
    "# The base is clamped. The design names the surfaces base, tip, top and bottom.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "\n"
    "# A tendon along the top; the command is its shortening in mm.\n"
    "actuators:\n"
    "  - name: tendon\n"
    "    kind: cable\n"
    "    through: [[0, 0, 11*height/30], [length/4, 0, 11*height/30], [length/2, 0, 11*height/30], "
    "[3*length/4, 0, 11*height/30], [0.95*length, 0, 11*height/30]]\n"
    "    radius: \"2*min(width, height)/15\"\n"
    "    drive: shortening\n"
    "    range: [0, 0.12*length]\n"
    "\n"
    "# Points whose displacement is reported.\n"
    "markers:\n"
    "  tip: {surface: tip}\n"
    "\n"
    "loads:\n"
    "  gravity: [0, 0, -9.81 m/s^2]\n";

const design design_beam = {
    .open = {"beam", "clamped block under its own weight, with a tendon", beam_parameter,
             PL_COUNT(beam_parameter), beam_yaml, true},
    .draw = beam_draw,
    .volume = beam_volume,
};

// ---- specimen: two blocks end to end, soft then stiff
enum { SPECIMEN_SOFT, SPECIMEN_STIFF, SPECIMEN_WIDTH, SPECIMEN_HEIGHT };

static const pl_design_parameter specimen_parameter[] = {
    [SPECIMEN_SOFT] = {"soft_length", "mm", "of the soft half, at the base", 40, 0.5, 2000, false},
    [SPECIMEN_STIFF] = {"stiff_length", "mm", "of the stiff half, at the tip", 40, 0.5, 2000, false},
    [SPECIMEN_WIDTH] = {"width", "mm", "across, along y", 12, 0.5, 2000, false},
    [SPECIMEN_HEIGHT] = {"height", "mm", "along z", 12, 0.5, 2000, false},
};

static void specimen_draw(drawing *d, const double *p)
{
    const double a = p[SPECIMEN_SOFT], b = p[SPECIMEN_STIFF], w = p[SPECIMEN_WIDTH], h = p[SPECIMEN_HEIGHT];
    drawing_add(d, drawing_box(d, 0, -w / 2, -h / 2, a, w, h), SOLID_REGION, "soft");
    drawing_add(d, drawing_box(d, a, -w / 2, -h / 2, b, w, h), SOLID_REGION, "stiff");
    drawing_plane(d, "base", 0, 0);
    drawing_plane(d, "tip", 0, a + b);
    drawing_plane(d, "interface", 0, a);
    d->plane[2].inner = true;
    d->length = fmax(a + b, fmax(w, h));
    d->thinnest = fmin(fmin(a, b), fmin(w, h)) / 2;
}

static double specimen_volume(const double *p, const char *name)
{
    const double section = p[SPECIMEN_WIDTH] * p[SPECIMEN_HEIGHT];
    return strcmp(name, "soft") == 0    ? section * p[SPECIMEN_SOFT]
           : strcmp(name, "stiff") == 0 ? section * p[SPECIMEN_STIFF]
                                        : -1;
}

static const char specimen_yaml[] =
    "# A bar of two materials, soft at the base and stiff at the tip, pulled by its tip.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: specimen\n"
    "\n"
    "# The shape is generated from parameters. x runs along the bar from the base at 0, the axis is y = z = "
    "0.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: specimen\n"
    "    soft_length: 40     # at the base\n"
    "    stiff_length: 40    # at the tip\n"
    "    width: 12           # along y\n"
    "    height: 12          # along z\n"
    "  size: 6               # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra\n"
    "\n"
    "# Two materials; the meshes of the halves conform at the interface.\n"
    "materials:\n"
    "  silicone: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}\n"
    "  rubber: {model: neo_hookean, c10: 0.5 MPa, poisson: 0.49}\n"
    "regions: {soft: silicone, stiff: rubber}\n"
    "\n"
    "# The base is clamped, the tip is pulled out by 8 mm. The design names the surfaces base, tip and "
    "interface.\n"
    "fixed:\n"
    "  - {surface: base}\n"
    "  - {surface: tip, move: [soft_length/5, 0, 0]}\n"
    "\n"
    "# The interface shows how the elongation is divided between the two halves.\n"
    "markers:\n"
    "  interface: {surface: interface}\n"
    "  tip: {surface: tip}\n";

const design design_specimen = {
    .open = {"specimen", "bar of two materials, pulled by its tip", specimen_parameter,
             PL_COUNT(specimen_parameter), specimen_yaml, true},
    .draw = specimen_draw,
    .volume = specimen_volume,
};

// ---- sphere_shell: whole, cut by its three planes of symmetry, or an eighth of it
enum { SPHERE_RADIUS, SPHERE_WALL, SPHERE_OCTANT };

static const pl_design_parameter sphere_parameter[] = {
    [SPHERE_RADIUS] = {"inner_radius", "mm", "of the cavity", 10, 0.2, 1000, false},
    [SPHERE_WALL] = {"wall", "mm", "thickness of the shell", 5, 0.05, 1000, false},
    [SPHERE_OCTANT] = {"octant", "", "1: only the eighth with x, y, z > 0; 0: the whole shell", 0, 0, 1,
                       true},
};

static const char *const symmetry_name[3] = {"sx", "sy", "sz"};

// Planes of symmetry: the sides of an eighth or quarter, or faces inside the whole body.
static void solids_symmetry(drawing *d, int axes, bool whole, double reach)
{
    for (int i = 0; i < axes; ++i) {
        drawing_plane(d, symmetry_name[i], i, 0);
        d->plane[d->plane_count - 1].inner = whole;

        if (whole) {
            double low[3] = {-reach, -reach, -reach}, extent[3] = {2 * reach, 2 * reach, 2 * reach};
            low[i] = 0;
            extent[i] = reach;
            drawing_add(d, drawing_box(d, low[0], low[1], low[2], extent[0], extent[1], extent[2]),
                        SOLID_KNIFE, "");
        }
    }
}

// A ball, or its octant x, y, z > 0.
static int solids_sphere(drawing *d, double radius, bool octant)
{
    int tag = 0;
    const double low = octant ? 0 : -PL_PI / 2, round = octant ? PL_PI / 2 : 2 * PL_PI;
    GMSH(d->g, tag = gmshModelOccAddSphere(0, 0, 0, radius, -1, low, PL_PI / 2, round, &d->g->ierr));
    return tag;
}

static void sphere_draw(drawing *d, const double *p)
{
    const bool octant = p[SPHERE_OCTANT] != 0;
    const double outer = p[SPHERE_RADIUS] + p[SPHERE_WALL];

    drawing_add(d, solids_sphere(d, outer, octant), SOLID_REGION, "shell");
    drawing_add(d, solids_sphere(d, p[SPHERE_RADIUS], octant), SOLID_CAVITY, "cavity");
    solids_symmetry(d, 3, !octant, 2 * outer);
    d->outer = "outer";
    d->length = 2 * outer;
    d->thinnest = p[SPHERE_WALL];
}

static double sphere_volume(const double *p, const char *name)
{
    const double a = p[SPHERE_RADIUS], b = a + p[SPHERE_WALL];
    const double ball = 4 * PL_PI / 3 * (p[SPHERE_OCTANT] != 0 ? 0.125 : 1);
    return strcmp(name, "cavity") == 0  ? ball * a * a * a
           : strcmp(name, "shell") == 0 ? ball * (b * b * b - a * a * a)
                                        : -1;
}

static const char sphere_yaml[] =
    "# A hollow sphere under internal pressure: the textbook case for large strains.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: sphere-shell\n"
    "\n"
    "# The shape is generated from parameters, centred at the origin.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: sphere_shell\n"
    "    inner_radius: 10\n"
    "    wall: 5\n"
    "    octant: 0           # 1: only the eighth with x, y, z > 0\n"
    "  size: 3               # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra, curved along the walls\n"
    "\n"
    "materials:\n"
    "  rubber: {model: neo_hookean, c10: 0.2 MPa, poisson: 0.49}\n"
    "regions: {shell: rubber}\n"
    "\n"
    "# The planes of symmetry (sx is x = 0, and so on) may only slide in themselves: this supports the "
    "sphere in place\n"
    "# without disturbing it.\n"
    "fixed:\n"
    "  - {surface: sx, axes: [x]}\n"
    "  - {surface: sy, axes: [y]}\n"
    "  - {surface: sz, axes: [z]}\n"
    "\n"
    "# The pressure has a maximum; only a volume drive can pass it.\n"
    "actuators:\n"
    "  - {name: air, kind: chamber, surface: cavity, drive: volume_ratio, range: [1, 8]}\n"
    "\n"
    "markers:\n"
    "  outside: {at: [inner_radius + wall, 0, 0]}\n";

const design design_sphere_shell = {
    .open = {"sphere_shell", "hollow sphere under internal pressure", sphere_parameter,
             PL_COUNT(sphere_parameter), sphere_yaml, true},
    .draw = sphere_draw,
    .volume = sphere_volume,
};

// ---- tube: a slice of a long tube between two planes, whole ring or a quarter of it
enum { TUBE_RADIUS, TUBE_WALL, TUBE_LENGTH, TUBE_QUARTER };

static const pl_design_parameter tube_parameter[] = {
    [TUBE_RADIUS] = {"inner_radius", "mm", "of the bore", 10, 0.2, 1000, false},
    [TUBE_WALL] = {"wall", "mm", "thickness of the tube", 5, 0.05, 1000, false},
    [TUBE_LENGTH] = {"length", "mm", "of the slice, along z", 6, 0.1, 5000, false},
    [TUBE_QUARTER] = {"quarter", "", "1: only the quarter with x, y > 0; 0: the whole ring", 0, 0, 1, true},
};

// A cylinder along z, or its quarter x, y > 0.
static int solids_bore(drawing *d, double z, double length, double radius, bool quarter)
{
    int tag = 0;
    GMSH(d->g, tag = gmshModelOccAddCylinder(0, 0, z, 0, 0, length, radius, -1,
                                             quarter ? PL_PI / 2 : 2 * PL_PI, &d->g->ierr));
    return tag;
}

static void tube_draw(drawing *d, const double *p)
{
    const bool quarter = p[TUBE_QUARTER] != 0;
    const double outer = p[TUBE_RADIUS] + p[TUBE_WALL];

    drawing_add(d, solids_bore(d, 0, p[TUBE_LENGTH], outer, quarter), SOLID_REGION, "tube");
    drawing_add(d, solids_bore(d, 0, p[TUBE_LENGTH], p[TUBE_RADIUS], quarter), SOLID_CAVITY, "cavity");
    solids_symmetry(d, 2, !quarter, 2 * (outer + p[TUBE_LENGTH]));
    drawing_plane(d, "bottom", 2, 0);
    drawing_plane(d, "top", 2, p[TUBE_LENGTH]);
    d->outer = "outer";
    d->length = fmax(2 * outer, p[TUBE_LENGTH]);
    d->thinnest = fmin(p[TUBE_WALL], p[TUBE_LENGTH]);
}

// Rings of area pi (b^2 - a^2).
static double tube_volume(const double *p, const char *name)
{
    const double a = p[TUBE_RADIUS], b = a + p[TUBE_WALL];
    const double slice = PL_PI * p[TUBE_LENGTH] * (p[TUBE_QUARTER] != 0 ? 0.25 : 1);
    return strcmp(name, "cavity") == 0 ? slice * a * a
           : strcmp(name, "tube") == 0 ? slice * (b * b - a * a)
                                       : -1;
}

static const char tube_yaml[] =
    "# A slice of a long thick tube under internal pressure (plane strain): the textbook case for "
    "cylinders.\n"
    "# Lengths in mm, forces in N, stresses in MPa; any number may have a unit.\n"
    "pliant: 1\n"
    "name: tube\n"
    "\n"
    "# The shape is generated from parameters. z is the axis; the slice lies between z = 0 and z = length.\n"
    "mesh:\n"
    "  design:\n"
    "    kind: tube\n"
    "    inner_radius: 10\n"
    "    wall: 5\n"
    "    length: 6           # of the slice\n"
    "    quarter: 0          # 1: only the quarter with x, y > 0\n"
    "  size: 3               # target edge length of the elements\n"
    "  order: 2              # quadratic tetrahedra, curved along the walls\n"
    "\n"
    "materials:\n"
    "  rubber: {model: neo_hookean, c10: 0.2 MPa, poisson: 0.49}\n"
    "regions: {tube: rubber}\n"
    "\n"
    "# The ends may not move along the axis (plane strain); the planes of symmetry sx (x = 0) and\n"
    "# sy (y = 0) support the ring without disturbing it.\n"
    "fixed:\n"
    "  - {surface: bottom, axes: [z]}\n"
    "  - {surface: top, axes: [z]}\n"
    "  - {surface: sx, axes: [x]}\n"
    "  - {surface: sy, axes: [y]}\n"
    "\n"
    "# The bore is open at both ends; they are capped flat when its volume is measured.\n"
    "actuators:\n"
    "  - {name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 60 kPa]}\n"
    "\n"
    "markers:\n"
    "  outside: {at: [inner_radius + wall, 0, length/2]}\n";

const design design_tube = {
    .open = {"tube", "slice of a thick tube under internal pressure", tube_parameter,
             PL_COUNT(tube_parameter), tube_yaml, true},
    .draw = tube_draw,
    .volume = tube_volume,
};
