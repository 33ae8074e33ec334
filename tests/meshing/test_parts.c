// Closed surfaces to volume meshes: voids, filled chambers, two materials, nesting; what is refused; STL,
// OBJ, STEP.
#include <gmshc.h>
#include "box_mesh.h"
#include "meshing/meshing.h"
#include "meshing_tools.h"
#include "pliant/text.h"

// The surface of a box, 12 triangles, outward (inward when `inside_out`), as a part that owns its arrays.
static pl_trisurf box_surface(double x, double y, double z, double dx, double dy, double dz, bool inside_out)
{
    static const int32_t quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    pl_trisurf s = {.vertex_count = 8, .triangle_count = 12};

    s.position = calloc(24, sizeof(double));
    s.corner = calloc(36, sizeof(int32_t));
    for (int i = 0; i < 8; ++i) {
        s.position[3 * i] = x + (i & 1 ? dx : 0);
        s.position[3 * i + 1] = y + (i & 2 ? dy : 0);
        s.position[3 * i + 2] = z + (i & 4 ? dz : 0);
    }

    for (int f = 0; f < 6; ++f) {
        const int32_t *q = quad[f], t[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
        for (int k = 0; k < 6; ++k) {
            s.corner[6 * f + k] = t[k];
        }
    }

    for (int t = 0; inside_out && t < 12; ++t) {
        const int32_t keep = s.corner[3 * t];
        s.corner[3 * t] = s.corner[3 * t + 1];
        s.corner[3 * t + 1] = keep;
    }

    return s;
}

static void surface_free(pl_trisurf *s)
{
    free(s->position);
    free(s->corner);
}

// Appends b to a.
static void surface_append(pl_trisurf *a, pl_trisurf b)
{
    a->position = realloc(a->position, 3 * (size_t)(a->vertex_count + b.vertex_count) * sizeof(double));
    a->corner = realloc(a->corner, 3 * (size_t)(a->triangle_count + b.triangle_count) * sizeof(int32_t));
    memcpy(a->position + 3 * a->vertex_count, b.position, 3 * (size_t)b.vertex_count * sizeof(double));
    for (int i = 0; i < 3 * b.triangle_count; ++i) {
        a->corner[3 * a->triangle_count + i] = b.corner[i] + a->vertex_count;
    }
    a->vertex_count += b.vertex_count;
    a->triangle_count += b.triangle_count;
    surface_free(&b);
}

static pl_mesh *mesh_parts(pl_meshing_part *part, int count, double size)
{
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    pl_findings *findings = pl_findings_create();

    PL_CHECK_OK(pl_meshing_from_parts(part, count, size, 2, NULL, &mesh, findings, &err));
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        print_message("finding: %s\n", pl_findings_at(findings, i)->text);
    }

    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    print_message("%d elements, mean edge %.2f, worst quality %.3f\n", pl_mesh_get(mesh).element_count,
                  q.mean_edge, q.worst);
    assert_int_equal(q.inverted_count, 0);
    pl_findings_destroy(findings);
    for (int i = 0; i < count; ++i) {
        surface_free(&part[i].surface);
    }

    return mesh;
}

static double region_volume(const pl_mesh *mesh, const char *name)
{
    const int32_t r = pl_mesh_find_region(mesh, name);
    assert_true(r >= 0);
    return pl_mesh_region_volume(mesh, r);
}

static void test_parts_cavity(void **state)
{
    (void)state;
    pl_meshing_part part[] = {{box_surface(0, 0, 0, 30, 10, 10, false), "skin", false},
                              {box_surface(3, 3, 3, 24, 4, 4, false), "air", true}};
    pl_mesh *mesh = mesh_parts(part, 2, 3);
    PL_CHECK_NEAR(region_volume(mesh, "skin"), 3000 - 384, 1e-6);
    PL_CHECK_NEAR(tools_enclosed(mesh, "air"), 384, 1e-6);
    assert_int_equal(pl_mesh_get(mesh).region_count, 1);

    // remeshed: the edges are near the size asked for
    PL_CHECK_NEAR(pl_mesh_measure_quality(mesh).mean_edge, 3, 1.2);
    pl_mesh_destroy(mesh);
}

// One file with an outer skin and inner shells, however they are turned: the inner ones are voids.
static void test_parts_nested_shells(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; ++turned) {
        pl_trisurf s = box_surface(0, 0, 0, 30, 10, 10, turned);
        surface_append(&s, box_surface(2, 2, 2, 10, 6, 6, turned));
        surface_append(&s, box_surface(16, 2, 2, 12, 6, 6, !turned));
        pl_meshing_part part = {s, "skin", false};
        pl_mesh *mesh = mesh_parts(&part, 1, 0);
        PL_CHECK_NEAR(region_volume(mesh, "skin"), 3000 - 360 - 432, 1e-6);
        PL_CHECK_NEAR(tools_enclosed(mesh, "cavity"), 432, 1e-6);
        PL_CHECK_NEAR(tools_enclosed(mesh, "cavity2"), 360, 1e-6);
        pl_mesh_destroy(mesh);
    }
}

static void test_parts_filled(void **state)
{
    (void)state;
    pl_meshing_part part[] = {{box_surface(0, 0, 0, 30, 10, 10, false), "skin", false},
                              {box_surface(3, 3, 3, 24, 4, 4, true), "core", false}};
    pl_mesh *mesh = mesh_parts(part, 2, 3);
    PL_CHECK_NEAR(region_volume(mesh, "skin"), 3000 - 384, 1e-6);
    PL_CHECK_NEAR(region_volume(mesh, "core"), 384, 1e-6);

    // conforming: the only boundary is the outside
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 2 * (300 + 300 + 100), 1e-6);
    pl_mesh_destroy(mesh);
}

// Two boxes side by side share the triangles of one face.
static void test_parts_side_by_side(void **state)
{
    (void)state;
    pl_meshing_part part[] = {{box_surface(0, 0, 0, 10, 10, 10, false), "left", false},
                              {box_surface(10, 0, 0, 20, 10, 10, false), "right", false}};
    pl_mesh *mesh = mesh_parts(part, 2, 4);
    PL_CHECK_NEAR(region_volume(mesh, "left"), 1000, 1e-6);
    PL_CHECK_NEAR(region_volume(mesh, "right"), 2000, 1e-6);
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 2 * (300 + 300 + 100), 1e-6);
    pl_mesh_destroy(mesh);
}

static void expect_refused(pl_meshing_part *part, int count, const char *word)
{
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    pl_findings *findings = pl_findings_create();

    assert_int_equal(pl_meshing_from_parts(part, count, 3, 2, NULL, &mesh, findings, &err), PL_BAD_INPUT);
    assert_null(mesh);
    print_message("%s\n", err.text);
    if (!strstr(err.text, word)) {
        print_error("\"%s\" does not say %s\n", err.text, word);
        fail();
    }

    pl_findings_destroy(findings);
    for (int i = 0; i < count; ++i) {
        surface_free(&part[i].surface);
    }
}

static void test_parts_refused(void **state)
{
    (void)state;
    pl_meshing_part open = {box_surface(0, 0, 0, 1, 1, 1, false), "skin", false};
    --open.surface.triangle_count;
    expect_refused(&open, 1, "triangle");
    pl_meshing_part crossing[] = {{box_surface(0, 0, 0, 10, 10, 10, false), "skin", false},
                                  {box_surface(5, 5, 5, 10, 10, 10, false), "air", true}};
    expect_refused(crossing, 2, "air");
    pl_meshing_part hollow = {box_surface(0, 0, 0, 10, 10, 10, false), "air", true};
    expect_refused(&hollow, 1, "cavity");
    pl_meshing_part nameless = {box_surface(0, 0, 0, 10, 10, 10, false), "", false};
    expect_refused(&nameless, 1, "name");
}

// ---- files
static const char obj_box[] =
    "# a unit box\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n"
    "f 1 3 4 2\nf 5/1 6/1 8/1 7/1\nf 1//1 2//1 6//1 5//1\nf 3 7 8 4\nf -8 -4 -2 -6\nf 2 4 8 6\n";

static void write_binary_stl(const char *path, const pl_trisurf *s)
{
    FILE *file = fopen(path, "wb");
    char header[80] = "solid, but binary";
    const uint32_t count = (uint32_t)s->triangle_count;

    fwrite(header, 1, sizeof header, file);
    fwrite(&count, 4, 1, file);
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        float value[12] = {0};
        const uint16_t tail = 0;
        for (int k = 0; k < 9; ++k) {
            value[3 + k] = (float)s->position[3 * s->corner[3 * t + k / 3] + k % 3];
        }
        fwrite(value, sizeof(float), 12, file);
        fwrite(&tail, 2, 1, file);
    }

    fclose(file);
}

static void test_parts_files(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_trisurf s = {0};
    tools_write(tools_path("box.obj"), obj_box, sizeof obj_box - 1);
    PL_CHECK_OK(pl_meshing_read_surface(tools_path("box.obj"), 10, &s, &err));
    assert_int_equal(s.triangle_count, 12);
    assert_int_equal(s.vertex_count, 8);
    PL_CHECK_NEAR(pl_trisurf_volume(&s), 1000, 1e-9);
    write_binary_stl(tools_path("box.stl"), &s);
    pl_trisurf_clear(&s);
    PL_CHECK_OK(pl_meshing_read_surface(tools_path("box.stl"), 1, &s, &err));
    assert_int_equal(s.vertex_count, 8);
    PL_CHECK_NEAR(pl_trisurf_volume(&s), 1000, 1e-3);
    pl_trisurf_clear(&s);

    // through the mesher, and the unit must be given
    const pl_source_part part = {tools_path("box.stl"), "block", false, 7};
    pl_mesh_source source = {
        .kind = PL_SOURCE_PARTS, .part = &part, .part_count = 1, .order = 1, .file = "robot.yaml"};
    pl_mesh *mesh = NULL;
    assert_int_equal(tools_build(&source, &mesh, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "robot.yaml:7"));
    assert_non_null(strstr(err.text, "unit"));
    source.unit = 1;
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    PL_CHECK_NEAR(region_volume(mesh, "block"), 1000, 1e-3);
    pl_mesh_destroy(mesh);
}

static void test_parts_wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *word;
    } wrong[] = {
        {"a.obj", "v 0 0 0\nf 1 2 3\n", ":2:"},
        {"b.obj", "v 0 0\n", ":1:"},
        {"c.obj", "v 0 0 0\nf 1 1\n", "at least 3"},
        {"d.obj", "# nothing\n", "no triangle"},
        {"e.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 x\n", ":5:"},
        {"f.stl", "solid x\nfacet\nvertex 0 0 0\nvertex 1 0 0\nendfacet\nendsolid\n", "expected 3"},
        {"g.stl", "solid x\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\n", "truncated"},
        {"h.stl", "some text that is neither\n", "is no STL"},
        {"i.ply", "ply\n", ".stl or .obj"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        pl_error err = {0};
        pl_trisurf s = {0};
        tools_write(tools_path(wrong[i].name), wrong[i].text, strlen(wrong[i].text));
        assert_int_equal(pl_meshing_read_surface(tools_path(wrong[i].name), 1, &s, &err), PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].word)) {
            print_error("%s: \"%s\" does not say %s\n", wrong[i].name, err.text, wrong[i].word);
            fail();
        }
        assert_null(s.position);
    }
}

// Two solids that touch, written as STEP and read back: regions, volumes, one shared interface.
static void test_step_round_trip(void **state)
{
    (void)state;
    int ierr = 0;
    gmshInitialize(0, NULL, 0, &ierr);
    gmshOptionSetNumber("General.Terminal", 0, &ierr);
    gmshModelOccAddBox(0, 0, 0, 20, 10, 10, 1, &ierr);
    gmshModelOccAddCylinder(20, 5, 5, 20, 0, 0, 4, 2, 2 * 3.14159265358979, &ierr);
    gmshModelOccSynchronize(&ierr);
    gmshWrite(tools_path("two.step"), &ierr);
    gmshFinalize(&ierr);
    assert_int_equal(ierr, 0);

    pl_error err = {0};
    pl_mesh *mesh = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s", tools_path("two.step"));
    const pl_mesh_source source = {.kind = PL_SOURCE_STEP, .path = path, .order = 2};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    const pl_mesh_view v = pl_mesh_get(mesh);
    print_message("%d elements, regions %s, %s\n", v.element_count, v.region_name[0], v.region_name[1]);
    assert_int_equal(v.region_count, 2);
    const double a = pl_mesh_region_volume(mesh, 0), b = pl_mesh_region_volume(mesh, 1);
    const double cylinder = 3.14159265358979 * 16 * 20;
    PL_CHECK_NEAR(fmax(a, b), 2000, 1e-3);
    PL_CHECK_NEAR(fmin(a, b), cylinder, 0.01 * cylinder);
    pl_mesh_destroy(mesh);

    // millimetres with blanks and line ends between the words: a unit given is accepted as without them
    static const char tight[] = ".MILLI.,.METRE.", loose[] = ".MILLI. ,\r\n .METRE.";
    char *text = NULL;
    size_t bytes = 0, length = 0;
    PL_CHECK_OK(pl_file_read(path, &text, &bytes, &err));
    char *longer = calloc(2, bytes + 1);
    assert_non_null(longer);
    assert_non_null(strstr(text, tight));
    for (const char *at = text; *at;) {
        const bool unit = strncmp(at, tight, strlen(tight)) == 0;
        memcpy(longer + length, unit ? loose : at, unit ? strlen(loose) : 1);
        length += unit ? strlen(loose) : 1;
        at += unit ? strlen(tight) : 1;
    }
    tools_write(path, longer, length);
    const pl_mesh_source drawn = {.kind = PL_SOURCE_STEP, .path = path, .order = 1, .unit = 10};
    PL_CHECK_OK(tools_build(&drawn, &mesh, NULL, &err));
    PL_CHECK_NEAR(fmax(pl_mesh_region_volume(mesh, 0), pl_mesh_region_volume(mesh, 1)), 2000e3, 1);
    pl_mesh_destroy(mesh);

    // another unit is refused still
    for (char *at = longer; (at = strstr(at, ".MILLI."));) {
        memcpy(at, ".CENTI.", 7);
    }
    tools_write(path, longer, length);
    assert_int_equal(tools_build(&drawn, &mesh, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "states a unit other than mm"));
    free(longer);
    pl_file_free(text);

    tools_write(path, "not STEP\n", 9);
    assert_int_equal(tools_build(&source, &mesh, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "ISO-10303-21"));
}

static void write_hollow_step(void)
{
    int ierr = 0, *out = NULL, **map = NULL, outer[2] = {3, 1}, inner[2] = {3, 2};
    size_t out_n = 0, *map_n = NULL, map_nn = 0;

    gmshInitialize(0, NULL, 0, &ierr);
    gmshOptionSetNumber("General.Terminal", 0, &ierr);
    gmshModelOccAddBox(0, 0, 0, 20, 10, 10, 1, &ierr);
    gmshModelOccAddBox(3, 3, 3, 14, 4, 4, 2, &ierr);
    gmshModelOccCut(outer, 2, inner, 2, &out, &out_n, &map, &map_n, &map_nn, -1, 1, 1, &ierr);
    for (size_t i = 0; i < map_nn; ++i) {
        gmshFree(map[i]);
    }
    gmshFree(out);
    gmshFree(map);
    gmshFree(map_n);
    gmshModelOccSynchronize(&ierr);
    gmshWrite(tools_path("hollow.step"), &ierr);
    gmshFinalize(&ierr);
    assert_int_equal(ierr, 0);
}

// A STEP solid with a void inside: the void is named.
// Adds a colour to each solid of a STEP file that has none, red, green and blue from 0 to 1.
static void colour_step(const char *path, const double colour[][3])
{
    pl_error err = {0};
    char *text = NULL;
    size_t bytes = 0;
    PL_CHECK_OK(pl_file_read(path, &text, &bytes, &err));
    char *end = NULL;
    for (char *at = text; (at = strstr(at, "ENDSEC;")); ++at) {
        end = at;
    }
    assert_non_null(end);
    int context = 0;
    for (char *at = strstr(text, "GEOMETRIC_REPRESENTATION_CONTEXT(3)"); at > text && !context; --at) {
        context = *at == '#' ? atoi(at + 1) : 0;
    }

    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, (size_t)(end - text), file);
    int k = 0;
    for (char *at = text; (at = strstr(at, "= MANIFOLD_SOLID_BREP")); ++at, ++k) {
        char *number = at;
        while (*number != '#') {
            --number;
        }
        const int n = 900000 + 10 * k;
        fprintf(file,
                "#%d=COLOUR_RGB('',%g,%g,%g);\n#%d=FILL_AREA_STYLE_COLOUR('',#%d);\n#%d=FILL_AREA_STYLE('',(#"
                "%d));\n"
                "#%d=SURFACE_STYLE_FILL_AREA(#%d);\n#%d=SURFACE_SIDE_STYLE('',(#%d));\n"
                "#%d=SURFACE_STYLE_USAGE(.BOTH.,#%d);\n#%d=PRESENTATION_STYLE_ASSIGNMENT((#%d));\n"
                "#%d=STYLED_ITEM('color',(#%d),#%d);\n"
                "#%d=MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION('',(#%d),#%d);\n",
                n, colour[k][0], colour[k][1], colour[k][2], n + 1, n, n + 2, n + 1, n + 3, n + 2, n + 4,
                n + 3, n + 5, n + 4, n + 6, n + 5, n + 7, n + 6, atoi(number + 1), n + 8, n + 7, context);
    }
    fputs(end, file);
    fclose(file);
    pl_file_free(text);
}

// Solids without product names are called by their colours, if these differ.
static void test_step_colours(void **state)
{
    (void)state;
    int ierr = 0;
    gmshInitialize(0, NULL, 0, &ierr);
    gmshOptionSetNumber("General.Terminal", 0, &ierr);
    for (int k = 0; k < 3; ++k) {
        gmshModelOccAddBox(10 * k, 0, 0, 10, 10, 10, k + 1, &ierr);
    }
    gmshModelOccSynchronize(&ierr);
    gmshWrite(tools_path("colours.step"), &ierr);
    gmshFinalize(&ierr);
    assert_int_equal(ierr, 0);

    static const struct {
        double colour[3][3];
        const char *name[3];
    } cases[] = {
        {{{0.9, 0.5, 0.15}, {0.08, 0.08, 0.08}, {0.15, 0.35, 0.9}}, {"orange", "black", "blue"}},
        {{{0.9, 0.1, 0.1}, {0.6, 0.6, 0.6}, {0.9, 0.05, 0.1}}, {"red", "grey", "red3"}},
        {{{0.2, 0.8, 0.2}, {0.2, 0.8, 0.2}, {0.2, 0.8, 0.2}}, {"body", "body2", "body3"}},
    };
    pl_error err = {0};
    char path[256], *plain = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s", tools_path("colours.step"));
    PL_CHECK_OK(pl_file_read(path, &plain, &bytes, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        tools_write(path, plain, bytes);
        colour_step(path, cases[i].colour);
        const pl_mesh_source source = {.kind = PL_SOURCE_STEP, .path = path, .size = 10, .order = 1};
        pl_mesh *mesh = NULL;
        PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
        const pl_mesh_view v = pl_mesh_get(mesh);
        assert_int_equal(v.region_count, 3);
        for (int k = 0; k < 3; ++k) {
            print_message("%s ", v.region_name[k]);
            assert_string_equal(v.region_name[k], cases[i].name[k]);
        }
        print_message("\n");
        pl_mesh_destroy(mesh);
    }
    pl_file_free(plain);
}

// A hole along the part is proposed for a tendon, one across it is for a screw.
static void test_guess_screw(void **state)
{
    (void)state;
    const double turn = 2 * 3.14159265358979;
    int ierr = 0, *out = NULL, **map = NULL;
    size_t out_n = 0, *map_n = NULL, map_nn = 0;
    gmshInitialize(0, NULL, 0, &ierr);
    gmshOptionSetNumber("General.Terminal", 0, &ierr);
    gmshModelOccAddBox(0, 0, 0, 100, 20, 16, 1, &ierr);
    gmshModelOccAddCylinder(-1, 5, 12, 102, 0, 0, 0.9, 2, turn, &ierr);
    gmshModelOccAddCylinder(8, 13, -1, 0, 0, 18, 1.8, 3, turn, &ierr);
    int body[] = {3, 1}, hole[] = {3, 2, 3, 3};
    gmshModelOccCut(body, 2, hole, 4, &out, &out_n, &map, &map_n, &map_nn, -1, 1, 1, &ierr);
    gmshModelOccSynchronize(&ierr);
    gmshOptionSetNumber("Mesh.MeshSizeMax", 3, &ierr);
    gmshOptionSetNumber("Mesh.MeshSizeFromCurvature", 12, &ierr);
    gmshModelMeshGenerate(2, &ierr);
    gmshWrite(tools_path("screw.stl"), &ierr);
    gmshFinalize(&ierr);
    assert_int_equal(ierr, 0);

    pl_error err = {0};
    const pl_guess_source source = {.path = tools_path("screw.stl"), .unit = 1};
    char *text = NULL;
    pl_guess guess;
    PL_CHECK_OK(pl_meshing_guess(&source, &text, &guess, NULL, &err));
    print_message("%d along, %d across\n", guess.channel_count, guess.crossing_count);
    assert_int_equal(guess.channel_count, 1);
    assert_int_equal(guess.crossing_count, 1);
    assert_int_equal(guess.cavity_count, 0);
    assert_non_null(strstr(text, "- [0, 5, 12]"));
    assert_non_null(strstr(text, "from [8, 13, "));
    assert_null(strstr(text, "tendon2"));
    pl_meshing_free_text(text);
}

// A cavity in a thick body opens without limit at 2.5 mu: the guessed range ends at half of that at most, and
// is written as a plain number.
static void test_guess_thick(void **state)
{
    (void)state;
    pl_trisurf part = box_surface(0, 0, 0, 30, 30, 60, false);
    surface_append(&part, box_surface(12, 12, 8, 6, 6, 44, true));
    write_binary_stl(tools_path("thick.stl"), &part);
    surface_free(&part);

    pl_error err = {0};
    const pl_guess_source source = {.path = tools_path("thick.stl"), .unit = 1};
    char *text = NULL;
    PL_CHECK_OK(pl_meshing_guess(&source, &text, NULL, NULL, &err));
    static const char before[] = "range: [0 kPa, ";
    const char *number = strstr(text, before);
    assert_non_null(number);
    number += strlen(before);
    char *end = NULL;
    const double high = strtod(number, &end);
    print_message("up to %g kPa\n", high);
    assert_true(high > 50 && high <= 0.5 * 2.5 * 100);
    assert_null(memchr(number, 'e', (size_t)(end - number)));
    pl_meshing_free_text(text);
}

static void test_step_void(void **state)
{
    (void)state;
    write_hollow_step();
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const pl_mesh_source source = {
        .kind = PL_SOURCE_STEP, .path = tools_path("hollow.step"), .size = 4, .order = 2};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    PL_CHECK_NEAR(region_volume(mesh, "body"), 2000 - 224, 1e-3);
    PL_CHECK_NEAR(tools_enclosed(mesh, "cavity"), 224, 1e-3);
    assert_int_equal(pl_mesh_find_surface(mesh, "cavity2"), -1);
    pl_mesh_destroy(mesh);
}

// ---- filled cavities
// The region `name` takes up just what the surface of that name encloses, shares all its faces with the rest
// (which alone bounds the mesh), and no element is inverted.
static void check_filled(const pl_mesh *mesh, const char *name, double volume, double outside)
{
    const double filled = region_volume(mesh, name), enclosed = tools_enclosed(mesh, name);
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);

    print_message("%s: filled %.12g, enclosed %.12g, outside %.9g mm^2, worst quality %.3f\n", name, filled,
                  enclosed, pl_mesh_faces_area(mesh, face, count), q.worst);
    PL_CHECK_NEAR(filled / volume, 1, 1e-9);
    PL_CHECK_NEAR(enclosed / volume, 1, 1e-9);
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count) / outside, 1, 1e-9);
    assert_int_equal(q.inverted_count, 0);
}

static void test_fill_parts(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; ++order) {
        pl_meshing_part part[] = {{box_surface(0, 0, 0, 30, 10, 10, false), "skin", false},
                                  {box_surface(3, 3, 3, 10, 4, 4, false), "air", true},
                                  {box_surface(16, 3, 3, 11, 4, 4, false), "water", true}};
        pl_error err = {0};
        pl_mesh *mesh = NULL;
        PL_CHECK_OK(pl_meshing_from_parts(part, 3, 3, order, NULL, &mesh, NULL, &err));
        PL_CHECK_OK(pl_meshing_fill(&mesh, 3, NULL, NULL, &err));
        check_filled(mesh, "air", 160, 1400);
        check_filled(mesh, "water", 176, 1400);
        PL_CHECK_NEAR(region_volume(mesh, "skin"), 3000 - 336, 1e-6);
        for (int i = 0; i < 3; ++i) {
            surface_free(&part[i].surface);
        }
        pl_mesh_destroy(mesh);
    }
}

// A body that floats in the cavity stays as it is: 5 x 5 x 5 cells, the inner 27 hollow but for the middle.
static void test_fill_island(void **state)
{
    (void)state;
    bool hole[125] = {false};
    for (int c = 0; c < 125; ++c) {
        const int i = c % 5, j = c / 5 % 5, k = c / 25;
        hole[c] = i > 0 && i < 4 && j > 0 && j < 4 && k > 0 && k < 4 && c != 62;
    }

    pl_error err = {0};
    pl_mesh *plain = NULL, *mesh = NULL;
    PL_CHECK_OK(box_mesh(5, 5, 5, (const double[3]){10, 10, 10}, hole, NULL, &plain, &err));
    const int64_t *face = NULL, count = pl_mesh_boundary(plain, &face);
    int64_t *wall = calloc((size_t)count, sizeof *wall), start[2] = {0};
    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        double low = 10, high = 0;
        pl_mesh_face_nodes(plain, face[f], node);
        for (int i = 0; i < 9; ++i) {
            const double x = pl_mesh_get(plain).position[3 * node[i / 3] + i % 3];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        if (low > 1 && high < 9) {
            wall[start[1]++] = face[f];
        }
    }

    PL_CHECK_OK(pl_mesh_with_surfaces(plain, 1, (const char *const[]){"air"}, start, wall, &mesh, &err));
    PL_CHECK_OK(pl_meshing_fill(&mesh, 2, NULL, NULL, &err));
    check_filled(mesh, "air", 26 * 8, 600);
    PL_CHECK_NEAR(region_volume(mesh, "body"), 1000 - 26 * 8, 1e-9);
    free(wall);
    pl_mesh_destroy(plain);
    pl_mesh_destroy(mesh);
}

// A design fills its own cavities; STEP and mesh files get theirs afterwards. Without one there is a warning.
static void test_fill_sources(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const pl_source_parameter size[] = {{.name = "length", .value = 40}, {.name = "modules", .value = 3}};
    pl_mesh_source source = {.kind = PL_SOURCE_DESIGN,
                             .design = "bending_finger",
                             .parameter = size,
                             .parameter_count = 2,
                             .size = 6,
                             .order = 1,
                             .fill = true};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    const double volume = pl_design_volume("bending_finger", size, 2, "cavity");
    PL_CHECK_NEAR(region_volume(mesh, "cavity") / volume, 1, 1e-9);
    const int64_t *face = NULL;
    int64_t count = pl_mesh_boundary(mesh, &face);
    const double outside = pl_mesh_faces_area(mesh, face, count), wall = tools_area(mesh, "cavity");
    pl_mesh_destroy(mesh);
    source.fill = false;
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    count = pl_mesh_boundary(mesh, &face);
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count) / (outside + wall), 1, 1e-9);
    PL_CHECK_NEAR(tools_enclosed(mesh, "cavity") / volume, 1, 1e-9);
    pl_mesh_destroy(mesh);

    write_hollow_step();
    source = (pl_mesh_source){
        .kind = PL_SOURCE_STEP, .path = tools_path("hollow.step"), .size = 4, .order = 2, .fill = true};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    check_filled(mesh, "cavity", 224, 1000);
    pl_mesh_destroy(mesh);

    source.fill = false;
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    char file[256];
    snprintf(file, sizeof file, "%s", tools_path("hollow.msh"));
    PL_CHECK_OK(pl_meshing_write_msh(mesh, file, true, &err));
    pl_mesh_destroy(mesh);
    source = (pl_mesh_source){.kind = PL_SOURCE_FILE, .path = file, .order = 2, .fill = true};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    check_filled(mesh, "cavity", 224, 1000);

    pl_mesh_destroy(mesh);

    pl_meshing_part part = {box_surface(0, 0, 0, 10, 10, 10, false), "skin", false};
    pl_findings *findings = pl_findings_create();
    PL_CHECK_OK(pl_meshing_from_parts(&part, 1, 5, 1, NULL, &mesh, NULL, &err));
    PL_CHECK_OK(pl_meshing_fill(&mesh, 5, NULL, findings, &err));
    assert_int_equal(pl_findings_count(findings), 1);
    assert_non_null(strstr(pl_findings_at(findings, 0)->text, "no named closed cavity"));
    pl_findings_destroy(findings);
    surface_free(&part.surface);
    pl_mesh_destroy(mesh);
}

// A round void: on quadratic elements the air follows the curved wall.
static void test_fill_round(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = "sphere_shell", .size = 4, .order = 2};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    const double enclosed = tools_enclosed(mesh, "cavity");
    PL_CHECK_OK(pl_meshing_fill(&mesh, 4, NULL, NULL, &err));
    print_message("sphere: enclosed %.9g, filled %.9g\n", enclosed, region_volume(mesh, "cavity"));
    PL_CHECK_NEAR(region_volume(mesh, "cavity") / enclosed, 1, 1e-9);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_cavity),      cmocka_unit_test(test_parts_nested_shells),
        cmocka_unit_test(test_parts_filled),      cmocka_unit_test(test_parts_side_by_side),
        cmocka_unit_test(test_parts_refused),     cmocka_unit_test(test_parts_files),
        cmocka_unit_test(test_parts_wrong_files), cmocka_unit_test(test_step_round_trip),
        cmocka_unit_test(test_guess_screw),       cmocka_unit_test(test_guess_thick),
        cmocka_unit_test(test_step_colours),      cmocka_unit_test(test_step_void),
        cmocka_unit_test(test_fill_parts),        cmocka_unit_test(test_fill_island),
        cmocka_unit_test(test_fill_sources),      cmocka_unit_test(test_fill_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
