// Repair of surfaces: whatever order the defects come in, the repaired surface passes the checks of meshing
// and has the volume of the one without defects; what is too large is left and reported; decimation stays
// near the surface.
#include <math.h>
#include <string.h>
#include "check.h"
#include "mesh/mesh.h"
#include "pliant/meshing.h"

#define ROUND 48 // vertices around
#define RINGS 24 // between the poles

// A sphere of radius 10 by longitude and latitude.
static pl_trisurf ball(int around, int rings)
{
    pl_trisurf s = {.vertex_count = around * rings + 2, .triangle_count = 2 * around * rings};
    s.position = pl_alloc((size_t)s.vertex_count * 3 * sizeof(double));
    s.corner = pl_alloc((size_t)s.triangle_count * 3 * sizeof(int32_t));
    for (int r = 0; r < rings; ++r) {
        const double polar = acos(-1.0) * (r + 1) / (rings + 1);
        for (int k = 0; k < around; ++k) {
            const double angle = 2 * acos(-1.0) * k / around;
            double *x = s.position + 3 * (r * around + k);
            x[0] = 10 * sin(polar) * cos(angle);
            x[1] = 10 * sin(polar) * sin(angle);
            x[2] = 10 * cos(polar);
        }
    }
    const double pole[6] = {0, 0, 10, 0, 0, -10};
    memcpy(s.position + 3 * (s.vertex_count - 2), pole, sizeof pole);

    int32_t *c = s.corner;
    for (int k = 0; k < around; ++k) {
        const int next = (k + 1) % around;
        const int32_t top[3] = {s.vertex_count - 2, k, next},
                      bottom[3] = {s.vertex_count - 1, (rings - 1) * around + next, (rings - 1) * around + k};
        memcpy(c, top, sizeof top);
        memcpy(c + 3, bottom, sizeof bottom);
        c += 6;
        for (int r = 0; r + 1 < rings; ++r) {
            const int32_t a = r * around + k, b = r * around + next, d = a + around, e = b + around;
            const int32_t pair[6] = {a, d, e, a, e, b};
            memcpy(c, pair, sizeof pair);
            c += 6;
        }
    }

    return s;
}

// The surface as a file has it: every triangle with corners of its own.
static void apart(pl_trisurf *s)
{
    double *x = pl_alloc((size_t)s->triangle_count * 9 * sizeof(double));
    for (int k = 0; k < 3 * s->triangle_count; ++k) {
        memcpy(x + 3 * k, s->position + 3 * s->corner[k], 3 * sizeof(double));
        s->corner[k] = k;
    }
    pl_free(s->position);
    s->position = x;
    s->vertex_count = 3 * s->triangle_count;
}

static int defects(const pl_trisurf *s)
{
    pl_findings *found = pl_findings_create();
    pl_error err = {0};
    assert_int_equal(pl_trisurf_check(s, "part", found, &err), PL_OK);
    const int count = pl_findings_defect_count(found);
    for (int i = 0; i < pl_findings_count(found) && i < 3; ++i) {
        print_message("  %s\n", pl_findings_at(found, i)->text);
    }
    pl_findings_destroy(found);
    return count;
}

static void test_repair_defects(void **state)
{
    (void)state;
    pl_trisurf s = ball(ROUND, RINGS);
    const double volume = pl_trisurf_volume(&s);
    assert_int_equal(defects(&s), 0);

    // four holes, two of which touch in a vertex; a third of the rest turned; five twice, two of them turned
    const int n = s.triangle_count;
    int32_t *c = pl_alloc((size_t)(n + 5) * 3 * sizeof *c);
    int kept = 0;
    for (int t = 0; t < n; ++t) {
        if (t == 100 || (t >= 400 && t < 402) || (t >= 900 && t < 903)) {
            continue;
        }
        memcpy(c + 3 * kept, s.corner + 3 * t, 3 * sizeof *c);
        if (t % 3 == 0) {
            c[3 * kept + 1] = s.corner[3 * t + 2];
            c[3 * kept + 2] = s.corner[3 * t + 1];
        }
        ++kept;
    }
    for (int k = 0; k < 5; ++k) {
        memcpy(c + 3 * (kept + k), c + 3 * (50 + 7 * k), 3 * sizeof *c);
        if (k < 2) {
            const int32_t keep = c[3 * (kept + k)];
            c[3 * (kept + k)] = c[3 * (kept + k) + 1];
            c[3 * (kept + k) + 1] = keep;
        }
    }
    pl_free(s.corner);
    s.corner = c;
    s.triangle_count = kept + 5;
    apart(&s);
    assert_true(defects(&s) > 0);

    pl_repair r;
    pl_error err = {0};
    assert_int_equal(pl_meshing_repair(&s, 6, 0, &r, &err), PL_OK);
    print_message("%d joined, %d duplicates, %d turned, %d holes; volume %.6f of %.6f\n", r.joined,
                  r.duplicates, r.turned, r.holes, fabs(pl_trisurf_volume(&s)), volume);
    assert_int_equal(r.duplicates, 5);
    assert_int_equal(r.holes, 4);
    assert_int_equal(r.holes_left, 0);
    assert_true(r.turned > n / 4 && r.turned < n / 2);
    assert_int_equal(defects(&s), 0);
    assert_int_equal(s.triangle_count, n);
    PL_CHECK_NEAR(fabs(pl_trisurf_volume(&s)) / volume, 1.0, 1e-3);
    pl_trisurf_clear(&s);
}

static void test_repair_leaves_large_holes(void **state)
{
    (void)state;
    pl_trisurf s = ball(ROUND, RINGS);
    int kept = 0;
    for (int t = 0; t < s.triangle_count; ++t) {
        const int32_t *corner = s.corner + 3 * t;
        if (s.position[3 * corner[0] + 2] < 6) {
            memmove(s.corner + 3 * kept++, corner, 3 * sizeof *corner);
        }
    }
    s.triangle_count = kept;

    pl_repair r;
    pl_error err = {0};
    assert_int_equal(pl_meshing_repair(&s, 0, 0, &r, &err), PL_OK);
    assert_int_equal(r.holes, 0);
    assert_int_equal(r.holes_left, 1);
    assert_true(r.largest_left > 10);
    assert_true(defects(&s) > 0);
    assert_int_equal(pl_meshing_repair(&s, 30, 0, &r, &err), PL_OK);
    assert_int_equal(r.holes, 1);
    assert_int_equal(defects(&s), 0);
    pl_trisurf_clear(&s);
}

// The error of a polyhedron of n triangles on a sphere falls with 1 / n: 4 pi R / (3^1.5 n) for equilateral
// ones.
static void test_repair_decimates(void **state)
{
    (void)state;
    const int most[2] = {4000, 1000};
    for (int k = 0; k < 2; ++k) {
        pl_trisurf s = ball(240, 120);
        const double volume = pl_trisurf_volume(&s);
        pl_repair r;
        pl_error err = {0};
        assert_int_equal(pl_meshing_repair(&s, 0, most[k], &r, &err), PL_OK);
        const double ideal = 4 * acos(-1.0) * 10 / (pow(3, 1.5) * most[k]);
        print_message("%d -> %d triangles, deviation %.4f mm (equilateral: %.4f), volume %.6f\n", r.triangles,
                      r.result, r.deviation, ideal, pl_trisurf_volume(&s) / volume);
        assert_true(r.decimated);
        assert_true(s.triangle_count <= most[k] && s.triangle_count > most[k] - 3);
        assert_int_equal(defects(&s), 0);
        assert_true(r.deviation < 6 * ideal);
        PL_CHECK_NEAR(pl_trisurf_volume(&s) / volume, 1.0, 6 * ideal / 10);
        pl_trisurf_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repair_defects),
                                       cmocka_unit_test(test_repair_leaves_large_holes),
                                       cmocka_unit_test(test_repair_decimates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
