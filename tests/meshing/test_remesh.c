// A mesh that is the part: sizes from curvature and walls, our own remesher on long thin triangles, the
// comparison of mesh and part, and the cache that keeps it.
#include <math.h>
#include <sys/stat.h>
#include "meshing/meshing_part.h"
#include "document/document.h"
#include "meshing_tools.h"
#include "pliant/result.h"

// ---- bodies of revolution as CAD and OpenSCAD write them: strips as long as the body, fans for the ends
static void ring(double r, double z, int n, double *x)
{
    for (int i = 0; i < n; ++i) {
        x[3 * i] = r * cos(2 * PL_PI * i / n);
        x[3 * i + 1] = r * sin(2 * PL_PI * i / n);
        x[3 * i + 2] = z;
    }
}

// Outward, or inward with `turn`; vertices start at `at`.
static void frustum(double r0, double r1, double z0, double z1, int n, bool turn, pl_trisurf *s)
{
    const int32_t a = s->vertex_count, b = a + n;
    ring(r0, z0, n, s->position + 3 * a);
    ring(r1, z1, n, s->position + 3 * b);
    s->vertex_count += 2 * n;
    const int32_t first = s->triangle_count;
    for (int i = 0; i < n; ++i) {
        const int j = (i + 1) % n;
        const int32_t tri[2][3] = {{a + i, a + j, b + j}, {a + i, b + j, b + i}};
        memcpy(s->corner + 3 * s->triangle_count, tri, sizeof tri);
        s->triangle_count += 2;
    }

    for (int i = 1; i + 1 < n; ++i) {
        const int32_t tri[2][3] = {{a, a + i + 1, a + i}, {b, b + i, b + i + 1}};
        memcpy(s->corner + 3 * s->triangle_count, tri, sizeof tri);
        s->triangle_count += 2;
    }

    for (int32_t t = first; turn && t < s->triangle_count; ++t) {
        const int32_t keep = s->corner[3 * t + 1];
        s->corner[3 * t + 1] = s->corner[3 * t + 2];
        s->corner[3 * t + 2] = keep;
    }
}

static pl_trisurf surface_room(void)
{
    return (pl_trisurf){.position = pl_alloc_array(3 * 1000, sizeof(double)),
                        .corner = pl_alloc_array(3 * 2000, sizeof(int32_t))};
}

static double triangle_quality(const pl_trisurf *s, int32_t t)
{
    const double *x[3];
    double u[3], v[3], n[3], squares = 0;

    for (int k = 0; k < 3; ++k) {
        x[k] = s->position + 3 * (int64_t)s->corner[3 * (int64_t)t + k];
    }
    for (int k = 0; k < 3; ++k) {
        squares += pow(pl_distance3(x[k], x[(k + 1) % 3]), 2);
    }
    pl_sub3(x[1], x[0], u);
    pl_sub3(x[2], x[0], v);
    pl_cross3(u, v, n);

    return 2 * sqrt(3) * pl_norm3(n) / squares;
}

// Our remesher on a hollow cylinder: closed, without crossings, the same volume, even triangles, and the rims
// where they were.
static void test_remesh_long_triangles(void **state)
{
    (void)state;
    static const double size[] = {20, 6, 2};
    for (int k = 0; k < 3; ++k) {
        pl_error err = {0};
        pl_trisurf s = surface_room();
        frustum(12, 8, 0, 120, 48, false, &s);
        frustum(5, 5, 10, 110, 48, true, &s);
        const pl_meshing_part part = {.surface = s, .region = "body"};
        cells c, even;
        part_shape shape;
        size_field field;
        PL_CHECK_OK(cells_init(&part, 1, &c, &err));
        PL_CHECK_OK(part_init(&shape, &c, &err));
        PL_CHECK_OK(part_size_field(&shape, size[k], 2, &field, &err));
        PL_CHECK_OK(part_remesh(&shape, &c, &field, false, &even, &err));
        const pl_trisurf got = {even.vertex_count, even.triangle_count, even.position, even.corner};
        pl_findings *findings = pl_findings_create();
        PL_CHECK_OK(pl_trisurf_check(&got, "remeshed", findings, &err));
        for (int i = 0; i < pl_findings_count(findings); ++i) {
            print_message("%s\n", pl_findings_at(findings, i)->text);
        }
        assert_int_equal(pl_findings_defect_count(findings), 0);
        double mean = 0, worst = 1;
        int thin = 0;
        for (int32_t t = 0; t < got.triangle_count; ++t) {
            const double q = triangle_quality(&got, t);
            mean += q / got.triangle_count;
            worst = fmin(worst, q);
            thin += q < 0.3;
        }
        const double volume = pl_trisurf_volume(&got) / pl_trisurf_volume(&s) - 1;
        print_message(
            "size %4.1f: %d triangles become %d; quality mean %.3f, worst %.3f, %d thin; volume %+.3f %%\n",
            size[k], s.triangle_count, got.triangle_count, mean, worst, thin, 100 * volume);
        assert_true(mean > 0.75 && thin * 50 < got.triangle_count && fabs(volume) < 0.03);
        pl_findings_destroy(findings);
        cells_clear(&even);
        cells_clear(&c);
        size_field_clear(&field);
        part_clear(&shape);
        pl_trisurf_clear(&s);
    }
}

// A box whose upper front edge has two more corners, `apart` from each other: the triangles between them and
// the far corners are as long as the box and nearly flat.
static pl_trisurf needle_box(double apart)
{
    static const double corner[8][3] = {{0, 0, 0},  {40, 0, 0},  {40, 20, 0},  {0, 20, 0},
                                        {0, 0, 10}, {40, 0, 10}, {40, 20, 10}, {0, 20, 10}};
    static const int32_t tri[][3] = {
        {0, 2, 1}, {0, 3, 2}, {1, 2, 6}, {1, 6, 5},
        {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}, // top, then front, with 8 and 9 on the edge 4 5
        {7, 4, 8}, {7, 8, 9}, {7, 9, 6}, {6, 9, 5},
        {0, 8, 4}, {0, 9, 8}, {0, 1, 9}, {1, 5, 9}};
    pl_trisurf s = surface_room();

    memcpy(s.position, corner, sizeof corner);
    memcpy(s.corner, tri, sizeof tri);
    const double more[2][3] = {{17, 0, 10}, {17 + apart, 0, 10}};
    memcpy(s.position + 24, more, sizeof more);
    s.vertex_count = 10;
    s.triangle_count = (int32_t)(sizeof tri / sizeof tri[0]);

    return s;
}

static void test_remesh_needles(void **state)
{
    (void)state;
    static const double apart[] = {1e-5, 1e-3, 0.02, 1};
    for (int k = 0; k < 4; ++k) {
        pl_error err = {0};
        pl_trisurf s = needle_box(apart[k]);
        const pl_meshing_part part = {.surface = s, .region = "body"};
        cells c, even;
        part_shape shape;
        size_field field;
        int32_t crossing = 1;
        PL_CHECK_OK(cells_init(&part, 1, &c, &err));
        PL_CHECK_OK(part_init(&shape, &c, &err));
        PL_CHECK_OK(part_size_field(&shape, 5, 2, &field, &err));
        PL_CHECK_OK(part_remesh_apart(&shape, &c, &field, &even, &crossing, &err));
        const pl_trisurf got = {even.vertex_count, even.triangle_count, even.position, even.corner};
        double worst = 1;
        for (int32_t t = 0; t < got.triangle_count; ++t) {
            worst = fmin(worst, triangle_quality(&got, t));
        }
        const double volume = pl_trisurf_volume(&got) / 8000 - 1;
        print_message("corners %g mm apart: %d triangles, worst %.3f, volume %+.4f %%\n", apart[k],
                      got.triangle_count, worst, 100 * volume);
        assert_true(crossing == 0 && worst > 0.2 && fabs(volume) < 1e-3 && got.triangle_count < 2000);
        // split only: the same volume to the last digit
        cells exact;
        PL_CHECK_OK(part_remesh(&shape, &c, &field, true, &exact, &err));
        const pl_trisurf split = {exact.vertex_count, exact.triangle_count, exact.position, exact.corner};
        PL_CHECK_NEAR(pl_trisurf_volume(&split), 8000, 1e-8);
        assert_true(split.triangle_count > 100);
        cells_clear(&exact);
        cells_clear(&even);
        cells_clear(&c);
        size_field_clear(&field);
        part_clear(&shape);
        pl_trisurf_clear(&s);
    }
}

// The cone of issue fame: 12 mm asked for, 14 % of the volume lost once.
static void test_remesh_cone_keeps_its_volume(void **state)
{
    (void)state;
    static const double size[] = {0, 12, 25};
    for (int k = 0; k < 3; ++k) {
        pl_error err = {0};
        pl_trisurf s = surface_room();
        frustum(30, 4, 0, 100, 64, false, &s);
        const pl_meshing_part part = {.surface = s, .region = "body"};
        pl_mesh *mesh = NULL;
        PL_CHECK_OK(pl_meshing_from_parts(&part, 1, size[k], 2, NULL, &mesh, NULL, &err));
        const pl_mesh_fit fit = pl_mesh_get_fit(mesh);
        const pl_mesh_view v = pl_mesh_get(mesh);
        const double volume = fit.mesh_volume / fit.part_volume - 1;
        print_message(
            "size %g: %d elements, volume %+.3f %%, area %+.3f %%, distance %.3g mm, wall %.3g mm\n", size[k],
            v.element_count, 100 * volume, 100 * (fit.mesh_area / fit.part_area - 1), fit.distance, fit.wall);
        PL_CHECK_NEAR(fit.part_volume, pl_trisurf_volume(&s), 1e-6 * fit.part_volume);
        PL_CHECK_NEAR(fit.mesh_volume, pl_mesh_region_volume(mesh, -1), 1e-6 * fit.part_volume);
        assert_true(fabs(volume) < 0.01 && fit.distance < 2 && fit.samples > 1000);
        pl_mesh_destroy(mesh);
        pl_trisurf_clear(&s);
    }
}

// ---- the cache
static size_t file_read(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static void robot_load(const char *path)
{
    const pl_load_options options = {.mesher = pl_meshing_mesher()};
    pl_error err = {0};
    pl_robot *robot = NULL;
    PL_CHECK_OK(pl_robot_load(path, &options, &robot, NULL, &err));
    pl_robot_destroy(robot);
}

// Single flipped bits, and another mesh under the name: the file is not accepted, and is computed again.
static void test_remesh_cache_is_checked(void **state)
{
    (void)state;
    static const char text[] = "pliant: 1\nname: x\nmesh: {design: {kind: beam}, size: 40, order: 1}\n"
                               "materials: {s: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.4}}\n"
                               "regions: {body: s}\nfixed: [{surface: base}]\n";
    static char whole[1 << 20], bytes[1 << 20];
    char robot[300], folder[300], cache[600] = "";
    snprintf(robot, sizeof robot, "%s", tools_path("robot.yaml"));
    snprintf(folder, sizeof folder, "%s", tools_path(".pliant"));
    tools_write(robot, text, sizeof text - 1);
    robot_load(robot);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.') {
            snprintf(cache, sizeof cache, "%s/%s", folder, entry->d_name);
        }
    }

    closedir(dir);
    const size_t size = file_read(cache, whole, sizeof whole);
    srand(60);
    for (int round = 0; round < 20; ++round) {
        const size_t at = (size_t)rand() % size;
        memcpy(bytes, whole, size);
        bytes[at] ^= (char)(1 << rand() % 8);
        tools_write(cache, bytes, size);
        robot_load(robot);
        assert_int_equal(file_read(cache, bytes, sizeof bytes), size);
        assert_memory_equal(bytes, whole, size);
    }

    print_message("20 flipped bits in %zu bytes: each computed again\n", size);
    unlink(cache);
    rmdir(folder);
}

// ---- limits: a mesh that has lost volume is refused or announced, made just now or taken from the cache
static int bad_builds;
static double bad_volume; // what the mesh has of the part's

static pl_status bad_build(void *user, const pl_mesh_source *source, const pl_progress *progress,
                           pl_mesh **out, pl_findings *findings, pl_error *err)
{
    (void)user;
    ++bad_builds;
    const pl_status status = pl_meshing_mesher()->build(NULL, source, progress, out, findings, err);
    if (status == PL_OK) {
        const pl_mesh_fit fit = {.part_volume = 1000,
                                 .mesh_volume = 1000 * bad_volume,
                                 .part_area = 600,
                                 .mesh_area = 600,
                                 .samples = 100};
        pl_mesh_set_fit(*out, &fit);
    }

    return status;
}

static void test_remesh_limits_hold_for_the_cache(void **state)
{
    (void)state;
    static const struct {
        double volume; // of the part's
        const char *accept;
        pl_status status;
        pl_severity severity;
        bool said;
    } cases[] = {
        {0.86, "", PL_BAD_INPUT, PL_DEFECT, true},
        {0.86, ", accept: true", PL_OK, PL_WARNING, true},
        {0.97, "", PL_OK, PL_WARNING, true},
        {0.999, "", PL_OK, PL_WARNING, false},
    };
    const pl_mesher mesher = {.build = bad_build};
    const pl_load_options options = {.mesher = &mesher};
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); ++i) {
        char text[600], robot_file[300];
        const int length = snprintf(text, sizeof text,
                                    "pliant: 1\nname: x\nmesh: {design: {kind: beam}, size: %d, order: 1%s}\n"
                                    "materials: {s: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.4}}\n"
                                    "regions: {body: s}\nfixed: [{surface: base}]\n",
                                    41 + i, cases[i].accept);
        snprintf(robot_file, sizeof robot_file, "%s", tools_path("limits.yaml"));
        tools_write(robot_file, text, (size_t)length);
        bad_builds = 0;
        bad_volume = cases[i].volume;
        for (int round = 0; round < 2; ++round) { // made, then from the cache
            pl_error err = {0};
            pl_robot *robot = NULL;
            pl_findings *findings = pl_findings_create();
            assert_int_equal(pl_robot_load(robot_file, &options, &robot, findings, &err), cases[i].status);
            bool said = false;
            for (int f = 0; f < pl_findings_count(findings); ++f) {
                const pl_finding *finding = pl_findings_at(findings, f);
                said = said || (finding->severity == cases[i].severity &&
                                strstr(finding->text, "differs from the part: volume"));
            }
            assert_true(said == cases[i].said);
            assert_int_equal(bad_builds, 1);
            pl_findings_destroy(findings);
            pl_robot_destroy(robot);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remesh_long_triangles),
        cmocka_unit_test(test_remesh_needles),
        cmocka_unit_test(test_remesh_cone_keeps_its_volume),
        cmocka_unit_test(test_remesh_cache_is_checked),
        cmocka_unit_test(test_remesh_limits_hold_for_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
