// `pliant new --from`: cavity, base, tip and size are found again on parts whose answer is known.
#include "meshing_tools.h"

// Boundary triangles of a design as an ASCII STL, in units of `unit` mm.
static void export_stl(const char *path, const pl_mesh *mesh, double unit)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "solid part\n");
    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        pl_mesh_face_nodes(mesh, face[f], node);
        fprintf(file, " facet normal 0 0 0\n  outer loop\n");
        for (int k = 0; k < 3; ++k) {
            const double *x = v.position + 3 * node[k];
            fprintf(file, "   vertex %.9g %.9g %.9g\n", x[0] / unit, x[1] / unit, x[2] / unit);
        }
        fprintf(file, "  endloop\n endfacet\n");
    }

    fprintf(file, "endsolid part\n");
    fclose(file);
}

static char *guess_text(const char *path, double unit)
{
    pl_error err = {0};
    char *text = NULL;
    const pl_guess_source source = {.path = path, .unit = unit};
    PL_CHECK_OK(pl_meshing_guess(&source, &text, NULL, NULL, &err));
    print_message("%s\n", text);
    return text;
}

static void expect(const char *text, const char *words)
{
    if (!strstr(text, words)) {
        print_error("the guess lacks \"%s\"\n", words);
        fail();
    }
}

// The number after `key`, for example "size: ".
static double number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (!at) {
        print_error("the guess lacks \"%s\"\n", key);
        fail();
    }
    return strtod(at + strlen(key), NULL);
}

static void export_design(const char *kind, double size, double unit, const char *path)
{
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = kind, .size = size, .order = 1};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    export_stl(path, mesh, unit);
    pl_mesh_destroy(mesh);
}

static void test_guess_bending_finger(void **state)
{
    (void)state;
    export_design("bending_finger", 5, 1, tools_path("finger.stl"));
    char *text = guess_text(tools_path("finger.stl"), 1);
    expect(text, "surface: \"finger.stl\", region: body");
    expect(text, "1 closed void");
    expect(text, "surface: cavity");
    expect(text, "base: {plane: {point: [0, 0, 9], normal: [-1, 0, 0]}}");
    expect(text, "tip: {plane: {point: [100, 0, 9], normal: [1, 0, 0]}}");

    // walls of 2 and 2.5 mm
    PL_CHECK_NEAR(number_after(text, "size: "), 2.9, 0.5);
    PL_CHECK_NEAR(number_after(text, "flat end of "), 360, 1);
    PL_CHECK_NEAR(number_after(text, "(the volume of the largest is "), 11565, 10);
    pl_meshing_free_text(text);

    // and the part meshes: skin and layer together, the cavity named
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s", tools_path("finger.stl"));
    const pl_source_part part = {path, "body", false, 1};
    const pl_mesh_source source = {
        .kind = PL_SOURCE_PARTS, .part = &part, .part_count = 1, .unit = 1, .size = 5, .order = 1};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, -1), 21355, 1);
    PL_CHECK_NEAR(tools_enclosed(mesh, "cavity"), 11565, 1);
    pl_mesh_destroy(mesh);
}

// Three voids, the axis upright, the file in cm.
static void test_guess_three_chambers(void **state)
{
    (void)state;
    export_design("three_chamber", 10, 10, tools_path("trunk.stl"));
    char *text = guess_text(tools_path("trunk.stl"), 10);
    expect(text, "unit: cm");
    expect(text, "3 closed voids");
    expect(text, "surface: cavity3");
    expect(text, "normal: [0, 0, -1]");
    pl_meshing_free_text(text);
}

// The same designs as volume meshes: their cavities are seen from inside, and a slot is none.
static void test_guess_meshes(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        double size;
        int cavities;
        double volume; // mm^3, of the first
    } part[] = {{"bending_finger", 5, 1, 11565}, {"three_chamber", 10, 3, 0}, {"cable_finger", 8, 0, 0}};
    for (int i = 0; i < 3; ++i) {
        pl_error err = {0};
        pl_mesh *mesh = NULL;
        const pl_mesh_source build = {
            .kind = PL_SOURCE_DESIGN, .design = part[i].kind, .size = part[i].size, .order = 1};
        PL_CHECK_OK(tools_build(&build, &mesh, NULL, &err));
        const pl_guess_source source = {.path = "part.vtu", .mesh = mesh};
        pl_guess summary;
        char *text = NULL;
        PL_CHECK_OK(pl_meshing_guess(&source, &text, &summary, NULL, &err));
        print_message("%s\n", text);
        expect(text, "file: \"part.vtu\"");
        assert_int_equal(summary.cavity_count, part[i].cavities);
        for (int k = 0; k < summary.cavity_count && part[i].volume > 0; ++k) {
            PL_CHECK_NEAR(summary.volume[k], part[i].volume, 1);
            assert_false(summary.open[k]);
        }
        assert_true(summary.base_area > 0);
        pl_meshing_free_text(text);
        pl_mesh_destroy(mesh);
    }
}

// A cup with a narrow mouth: the skin is one shell, the cavity is open to the outside.
static void test_guess_open_cavity(void **state)
{
    (void)state;

    // rings of 8 points: outside bottom, outside top, mouth rim, mouth inner edge, inside top, inside bottom
    static const double radius[] = {10, 10, 2, 2, 8, 8}, height[] = {0, 30, 30, 28, 28, 2};
    enum { RINGS = 6, SIDES = 8 };
    FILE *file = fopen(tools_path("cup.obj"), "w");
    fprintf(file, "v 0 0 0\nv 0 0 2\n");
    for (int r = 0; r < RINGS; ++r) {
        for (int k = 0; k < SIDES; ++k) {
            const double angle = k * 2 * 3.14159265358979 / SIDES;
            fprintf(file, "v %.9f %.9f %.9f\n", radius[r] * cos(angle), radius[r] * sin(angle), height[r]);
        }
    }

    for (int k = 0; k < SIDES; ++k) {
        const int next = (k + 1) % SIDES;
        for (int r = 0; r + 1 < RINGS; ++r) {
            fprintf(file, "f %d %d %d %d\n", 3 + r * SIDES + k, 3 + r * SIDES + next,
                    3 + (r + 1) * SIDES + next, 3 + (r + 1) * SIDES + k);
        }
        fprintf(file, "f 1 %d %d\n", 3 + next, 3 + k);
        fprintf(file, "f 2 %d %d\n", 3 + 5 * SIDES + k, 3 + 5 * SIDES + next);
    }

    fclose(file);
    char *text = guess_text(tools_path("cup.obj"), 0);
    expect(text, "assumed: the file does not say");
    expect(text, "cavity: {seen_from: [");
    expect(text, "surface: cavity");

    // the eye is inside: well off its walls (2 < z < 28, radius 8)
    const char *eye = strstr(text, "seen_from: [") + strlen("seen_from: [");
    double p[3];
    assert_int_equal(sscanf(eye, "%lf, %lf, %lf", &p[0], &p[1], &p[2]), 3);
    assert_true(p[2] > 4 && p[2] < 26 && hypot(p[0], p[1]) < 6);
    pl_meshing_free_text(text);
}

// A plain block has no cavity, and that is said; an odd size is warned of; an open surface is refused.
static void test_guess_says_what_it_misses(void **state)
{
    (void)state;
    export_design("beam", 0, 1, tools_path("beam.stl"));
    char *text = guess_text(tools_path("beam.stl"), 1);
    expect(text, "no cavity was found");
    expect(text, "# actuators:");
    pl_meshing_free_text(text);
    text = guess_text(tools_path("beam.stl"), 1000);
    expect(text, "unusual size");
    pl_meshing_free_text(text);
    static const char open[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n";
    tools_write(tools_path("open.obj"), open, sizeof open - 1);
    pl_error err = {0};
    const pl_guess_source source = {.path = tools_path("open.obj"), .unit = 1};
    assert_int_equal(pl_meshing_guess(&source, &text, NULL, NULL, &err), PL_BAD_INPUT);
    assert_null(text);
    assert_non_null(strstr(err.text, "open.obj"));
}

// A prism over the outline `xz` (counter-clockwise seen along -y), 14 wide in y, turned by `angle` about z.
static void write_prism(const char *path, const double (*xz)[2], int n, double angle)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int side = 0; side < 2; ++side) {
        for (int k = 0; k < n; ++k) {
            const double x = xz[k][0], y = 14.0 * side;
            fprintf(file, "v %.9f %.9f %.9f\n", x * cos(angle) - y * sin(angle),
                    x * sin(angle) + y * cos(angle), xz[k][1]);
        }
    }

    fprintf(file, "f");
    for (int k = 0; k < n; ++k) {
        fprintf(file, " %d", k + 1);
    }
    fprintf(file, "\nf");
    for (int k = n; k > 0; --k) { // from the first corner too: it sees all others
        fprintf(file, " %d", n + k % n + 1);
    }
    fprintf(file, "\n");
    for (int k = 0; k < n; ++k) {
        const int next = (k + 1) % n;
        fprintf(file, "f %d %d %d\nf %d %d %d\n", k + 1, n + k + 1, n + next + 1, k + 1, n + next + 1,
                next + 1);
    }

    fclose(file);
}

// A ball of radius 15 as OpenSCAD draws it: rings of 24 points, flat polygons at the poles.
static void write_ball(const char *path)
{
    enum { RINGS = 12, SIDES = 24 };
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int r = 0; r < RINGS; ++r) {
        for (int k = 0; k < SIDES; ++k) {
            const double polar = 3.14159265358979 * (r + 0.5) / RINGS,
                         angle = 2 * 3.14159265358979 * k / SIDES;
            fprintf(file, "v %.9f %.9f %.9f\n", 15 * sin(polar) * cos(angle), 15 * sin(polar) * sin(angle),
                    15 * cos(polar));
        }
    }

    for (int end = 0; end < 2; ++end) {
        fprintf(file, "f");
        for (int k = 0; k < SIDES; ++k) {
            fprintf(file, " %d", end ? (RINGS - 1) * SIDES + SIDES - k : k + 1);
        }
        fprintf(file, "\n");
    }

    for (int r = 0; r + 1 < RINGS; ++r) {
        for (int k = 0; k < SIDES; ++k) {
            const int a = r * SIDES + k + 1, b = r * SIDES + (k + 1) % SIDES + 1;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a, a + SIDES, b + SIDES, a, b + SIDES, b);
        }
    }

    fclose(file);
}

// Adds a closed surface of revolution about z: rings at (radius, height), joined in turn; `closed` joins the
// last to the first (a body with a hole along its axis), otherwise both ends get a lid.
static void add_turned(FILE *file, int *vertices, const double (*rz)[2], int n, bool closed)
{
    enum { SIDES = 16 };
    const int first = *vertices + 1;
    for (int r = 0; r < n; ++r) {
        for (int k = 0; k < SIDES; ++k) {
            const double angle = 2 * 3.14159265358979 * k / SIDES;
            fprintf(file, "v %.9f %.9f %.9f\n", rz[r][0] * cos(angle), rz[r][0] * sin(angle), rz[r][1]);
        }
    }

    *vertices += n * SIDES;
    for (int r = 0; r + 1 < n || (closed && r < n); ++r) {
        for (int k = 0; k < SIDES; ++k) {
            const int a = first + r * SIDES + k, b = first + r * SIDES + (k + 1) % SIDES,
                      up = ((r + 1) % n - r) * SIDES;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, b + up, a, b + up, a + up);
        }
    }

    for (int end = 0; end < 2 && !closed; ++end) {
        fprintf(file, "f");
        for (int k = 0; k < SIDES; ++k) {
            fprintf(file, " %d", first + (end ? (n - 1) * SIDES + k : SIDES - 1 - k));
        }
        fprintf(file, "\n");
    }
}

// A slender closed void is a chamber, not a hole for a tendon; a hole that is interrupted is one tendon, tied
// to a washer at its end.
static void test_guess_holes(void **state)
{
    (void)state;
    static const double rod[][2] = {{10, 0}, {10, 80}}, slot[][2] = {{2, 4}, {2, 76}};
    static const double bored[][2] = {{10, 0}, {10, 80}, {1.5, 80}, {1.5, 45},
                                      {6, 45}, {6, 35},  {1.5, 35}, {1.5, 0}};
    int vertices = 0;
    FILE *file = fopen(tools_path("closed.obj"), "w");
    add_turned(file, &vertices, rod, 2, false);
    add_turned(file, &vertices, slot, 2, false);
    fclose(file);
    char *text = guess_text(tools_path("closed.obj"), 1);
    expect(text, "1 closed void");
    expect(text, "kind: chamber");
    assert_null(strstr(text, "kind: cable"));
    pl_meshing_free_text(text);
    vertices = 0;
    file = fopen(tools_path("bored.obj"), "w");
    add_turned(file, &vertices, bored, 8, true);
    fclose(file);
    text = guess_text(tools_path("bored.obj"), 1);
    expect(text, " mm, 80 mm long");
    expect(text,
           "      - [0, 0, 0]\n      - [0, 0, 35]\n      - [0, 0, 45]\n      - {at: [0, 0, 80], radius: ");
    assert_null(strstr(text, "tendon2"));
    pl_meshing_free_text(text);
}

// The ends of a bent part do not lie on its longest axis, and a part drawn askew has none along x, y or z; a
// ball has no flat end, and a facet is not taken for one.
static void test_guess_bent(void **state)
{
    (void)state;
    static const double ell[][2] = {{16, 36}, {44, 36}, {44, 50}, {0, 50}, {0, 0}, {16, 0}};
    static const double bar[][2] = {{0, 0}, {70, 0}, {70, 12}, {0, 12}};
    write_prism(tools_path("ell.obj"), ell, 6, 0);
    char *text = guess_text(tools_path("ell.obj"), 1);
    expect(text, "does not end on its longest axis");
    expect(text, "base: {plane: {point: [8, 7, 0], normal: [0, 0, -1]}}");
    expect(text, "tip: {plane: {point: [44, 7, 43], normal: [1, 0, 0]}}");
    expect(text, "tip: {surface: tip}");
    pl_meshing_free_text(text);
    write_prism(tools_path("askew.obj"), bar, 4, 0.6);
    text = guess_text(tools_path("askew.obj"), 1);
    expect(text, "base: {plane: {point: [");
    PL_CHECK_NEAR(number_after(text, "flat face of "), 14 * 12, 1e-3);
    const double x = number_after(text, "normal: [");
    PL_CHECK_NEAR(x, -cos(0.6), 1e-5);
    expect(text, "tolerance: ");
    pl_meshing_free_text(text);
    write_ball(tools_path("ball.obj"));
    text = guess_text(tools_path("ball.obj"), 1);
    expect(text, "no flat end was found");
    expect(text, "base: {box: [[");
    expect(text, "tip: {at: [");
    pl_meshing_free_text(text);
}

// A solid cone drawn askew: its middle at height z is (SKEW z, 0), its radius 12 - 0.06 z.
#define CONE_SKEW 0.1
#define CONE_RADIUS(z) (12 - 0.06 * (z))

// Its vertices lie up to `noise` off, as those of a scan do.
static void write_cone(const char *path, double noise)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    const int around = 40, rings = 25;
    uint32_t random = 11;

    for (int r = 0; r < rings; ++r) {
        for (int k = 0; k < around; ++k) {
            const double z = 5 * r, angle = 2 * PL_PI * k / around;
            double off[3];
            for (int i = 0; i < 3; ++i) {
                random = 1664525 * random + 1013904223;
                off[i] = noise * (2 * (random / 4294967296.0) - 1);
            }
            fprintf(file, "v %.17g %.17g %.17g\n", CONE_RADIUS(z) * cos(angle) + CONE_SKEW * z + off[0],
                    CONE_RADIUS(z) * sin(angle) + off[1], z + off[2]);
        }
    }
    fprintf(file, "v 0 0 0\nv %.17g 0 %d\n", CONE_SKEW * 5 * (rings - 1), 5 * (rings - 1));

    for (int k = 0; k < around; ++k) {
        const int next = (k + 1) % around, last = around * (rings - 1);
        for (int r = 0; r + 1 < rings; ++r) {
            const int a = around * r + 1, b = a + around;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a + k, a + next, b + next, a + k, b + next, b + k);
        }
        fprintf(file, "f %d %d %d\n", around * rings + 1, next + 1, k + 1);
        fprintf(file, "f %d %d %d\n", around * rings + 2, last + k + 1, last + next + 1);
    }
    fclose(file);
}

// A part with neither cavity nor hole gets no tendon, but an example of one: in its own material, beside its
// middle, from base to tip, and not where the material ends.
static void test_guess_example(void **state)
{
    (void)state;
    write_cone(tools_path("cone.obj"), 0);
    char *text = guess_text(tools_path("cone.obj"), 1);
    expect(text, "No actuator was found");
    const double radius = number_after(text, "#     radius: ");
    const char *at = strstr(text, "#     through:\n");
    double z = -INFINITY;
    int count = 0;

    assert_non_null(at);
    for (at = strstr(at, "#       - ["); at; at = strstr(at + 1, "#       - [")) {
        double x[3];
        assert_int_equal(sscanf(at, "#       - [%lf, %lf, %lf]", &x[0], &x[1], &x[2]), 3);
        const double off = hypot(x[0] - CONE_SKEW * x[2], x[1]);
        print_message("guide at (%g, %g, %g): %.3g mm off the middle of %.3g, acts within %.3g\n", x[0], x[1],
                      x[2], off, CONE_RADIUS(x[2]), radius);
        assert_true(x[2] > z && x[2] > 0 && x[2] < 120);
        assert_true(off > 0.5 * CONE_RADIUS(x[2]) && off + 0.95 * radius < CONE_RADIUS(x[2]));
        z = x[2];
        ++count;
    }
    assert_int_equal(count, 4);
    pl_meshing_free_text(text);
}

// The ends of a scan are flat up to its noise; the file selects them within that.
static void test_guess_scan(void **state)
{
    (void)state;
    const double noise = 0.05;
    write_cone(tools_path("scan.obj"), noise);
    char *text = guess_text(tools_path("scan.obj"), 1);
    const double area = PL_PI * CONE_RADIUS(0) * CONE_RADIUS(0),
                 tip = PL_PI * CONE_RADIUS(120) * CONE_RADIUS(120);
    PL_CHECK_NEAR(number_after(text, "the flat end of "), area, 0.02 * area);
    PL_CHECK_NEAR(number_after(text, "the opposite flat end, of "), tip, 0.02 * tip);
    const double tolerance = number_after(text, "tolerance: ");
    assert_true(tolerance > noise && tolerance < 6 * noise);
    pl_meshing_free_text(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guess_bending_finger),
        cmocka_unit_test(test_guess_three_chambers),
        cmocka_unit_test(test_guess_meshes),
        cmocka_unit_test(test_guess_open_cavity),
        cmocka_unit_test(test_guess_holes),
        cmocka_unit_test(test_guess_bent),
        cmocka_unit_test(test_guess_example),
        cmocka_unit_test(test_guess_scan),
        cmocka_unit_test(test_guess_says_what_it_misses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
