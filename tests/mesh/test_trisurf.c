// Triangle surfaces: welding, volume, inside, and every kind of defect on surfaces built by hand.
#include "check.h"
#include "base/base.h"
#include "mesh/mesh.h"

static pl_error err;

// A cube [low, high]^3 as loose triangles (three vertices each), outward.
static pl_trisurf cube(double low, double high)
{
    static const int8_t quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    static const int8_t half[2][3] = {{0, 1, 2}, {0, 2, 3}};
    pl_trisurf s = {36, 12, PL_NEW_ARRAY(double, 108), PL_NEW_ARRAY(int32_t, 36)};

    for (int v = 0; v < 36; ++v) {
        const int corner = quad[v / 6][half[v / 3 % 2][v % 3]];
        for (int i = 0; i < 3; ++i) {
            s.position[3 * v + i] = corner >> i & 1 ? high : low;
        }
        s.corner[v] = v;
    }

    PL_CHECK_OK(pl_trisurf_weld(&s, 0, &err));

    return s;
}

// Both surfaces in one, b after a.
static pl_trisurf joined(const pl_trisurf *a, const pl_trisurf *b)
{
    pl_trisurf s = {a->vertex_count + b->vertex_count, a->triangle_count + b->triangle_count, NULL, NULL};
    s.position = PL_NEW_ARRAY(double, 3 * s.vertex_count);
    s.corner = PL_NEW_ARRAY(int32_t, 3 * s.triangle_count);
    memcpy(s.position, a->position, 3 * sizeof(double) * (size_t)a->vertex_count);
    memcpy(s.position + 3 * a->vertex_count, b->position, 3 * sizeof(double) * (size_t)b->vertex_count);
    memcpy(s.corner, a->corner, 3 * sizeof(int32_t) * (size_t)a->triangle_count);
    for (int i = 0; i < 3 * b->triangle_count; ++i) {
        s.corner[3 * a->triangle_count + i] = b->corner[i] + a->vertex_count;
    }

    return s;
}

// Expects defects whose texts contain `words` (NULL: none at all).
static void check_found(const pl_trisurf *s, const char *words)
{
    pl_findings *findings = pl_findings_create();
    PL_CHECK_OK(pl_trisurf_check(s, "part", findings, &err));
    bool said = words == NULL && pl_findings_defect_count(findings) == 0;
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        said = said || (words && strstr(f->text, words) && f->has_place && f->element_count > 0);
        if (!words) {
            print_error("%s\n", f->text);
        }
    }

    pl_findings_destroy(findings);
    if (!said) {
        fail_msg("nothing says '%s'", words ? words : "(clean)");
    }
}

static void test_clean_cube(void **state)
{
    (void)state;
    pl_trisurf s = cube(1, 3);
    assert_int_equal(s.vertex_count, 8);
    assert_int_equal(s.triangle_count, 12);
    PL_CHECK_NEAR(pl_trisurf_volume(&s), 8, 1e-13);
    check_found(&s, NULL);
    pl_random random;
    pl_random_seed(&random, 3);
    for (int i = 0; i < 500; ++i) {
        double p[3];
        bool in = true;
        for (int k = 0; k < 3; ++k) {
            p[k] = pl_random_uniform(&random, 0, 4);
            in = in && p[k] > 1 && p[k] < 3;
        }
        assert_int_equal(pl_trisurf_contains(&s, p), in);
    }

    // on the planes, edges and diagonals of the cube, but not on the cube itself
    for (int i = 0; i <= 4; ++i) {
        for (int j = 0; j <= 4; ++j) {
            const bool on = i >= 1 && i <= 3 && j >= 1 && j <= 3 && !(i == 2 && j == 2);
            assert_true(on || pl_trisurf_contains(&s, (double[3]){i, j, 2}) == (i == 2 && j == 2));
            assert_false(pl_trisurf_contains(&s, (double[3]){i, j, 0}));
        }
    }

    pl_trisurf_clear(&s);
}

static void test_weld(void **state)
{
    (void)state;
    pl_trisurf s = cube(0, 1);
    s.position[0] += 1e-3; // no longer a cube, nothing to weld
    PL_CHECK_OK(pl_trisurf_weld(&s, 0, &err));
    assert_int_equal(s.vertex_count, 8);

    // everything within reach of the first vertex: nothing is left
    PL_CHECK_OK(pl_trisurf_weld(&s, 10, &err));
    assert_int_equal(s.vertex_count, 1);
    assert_int_equal(s.triangle_count, 0);
    assert_int_equal(pl_trisurf_weld(&s, -1, &err), PL_BAD_INPUT);
    assert_int_equal(pl_trisurf_weld(&s, NAN, &err), PL_BAD_INPUT);
    pl_trisurf_clear(&s);
}

static void test_open_turned_duplicate(void **state)
{
    (void)state;
    pl_trisurf s = cube(0, 1);
    s.triangle_count = 11;
    check_found(&s, "open");
    s.triangle_count = 12;
    const int32_t first = s.corner[0];
    s.corner[0] = s.corner[1];
    s.corner[1] = first;
    check_found(&s, "opposite orientation");
    memcpy(s.corner, s.corner + 3, 3 * sizeof *s.corner);
    check_found(&s, "duplicate");
    check_found(&s, "open");
    s.corner[0] = s.corner[1];
    check_found(&s, "degenerate");
    s.triangle_count = 0;
    pl_findings *findings = pl_findings_create();
    PL_CHECK_OK(pl_trisurf_check(&s, "part", findings, &err));
    assert_int_equal(pl_findings_defect_count(findings), 1);
    pl_findings_destroy(findings);
    pl_trisurf_clear(&s);
}

// Shells that cross, that lie flat on each other, and that keep apart.
static void test_intersections(void **state)
{
    (void)state;
    pl_trisurf a = cube(0, 2), b = cube(0.5, 3), c = cube(0.5, 1.5), d = cube(3, 4);
    pl_trisurf ab = joined(&a, &b), ac = joined(&a, &c), ad = joined(&a, &d);
    check_found(&ab, "intersect");
    check_found(&ac, NULL);
    check_found(&ad, NULL);

    // a smaller cube standing on the larger one's face: coplanar overlap
    pl_trisurf e = cube(0.25, 0.75);
    for (int v = 0; v < e.vertex_count; ++v) {
        e.position[3 * v + 2] += 1.75;
    }

    pl_trisurf ae = joined(&a, &e);
    check_found(&ae, "intersect");

    // and the same as two surfaces
    const pl_trisurf *other[] = {&b, &c, &d, &e, &a};
    const int crossing[] = {1, 0, 0, 1, 0};
    for (int i = 0; i < 5; ++i) {
        pl_findings *findings = pl_findings_create();
        PL_CHECK_OK(pl_trisurf_check_crossing(&a, "one", other[i], "two", findings, &err));
        assert_int_equal(pl_findings_defect_count(findings), crossing[i]);
        pl_findings_destroy(findings);
    }

    pl_trisurf *const all[] = {&a, &b, &c, &d, &e, &ab, &ac, &ad, &ae};
    for (int i = 0; i < PL_COUNT(all); ++i) {
        pl_trisurf_clear(all[i]);
    }
}

// Two triangles around a shared corner or edge, in all ways they may overlap.
static void test_shared_corners(void **state)
{
    (void)state;
    static const struct {
        double x[5][3];
        int32_t corner[6];
        int vertices;
        bool meet;
    } table[] = {
        // common edge: open book, flat book, closed book
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 1, 2, 1, 0, 3}, 4, false},
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}}, {0, 1, 2, 1, 0, 3}, 4, false},
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.7, 0.4, 0}}, {0, 1, 2, 1, 0, 3}, 4, true},
        // common corner: apart, piercing, coplanar inside, coplanar apart, coplanar larger
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 1}, {-1, 0, -1}}, {0, 1, 2, 0, 3, 4}, 5, false},
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.2, .2, 1}, {.2, .2, -1}}, {0, 1, 2, 0, 3, 4}, 5, true},
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.2, .3, 0}, {.3, .2, 0}}, {0, 1, 2, 0, 3, 4}, 5, true},
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, -1, 0}, {-1, 0, 0}}, {0, 1, 2, 0, 3, 4}, 5, false},
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {9, 3, 0}, {3, 9, 0}}, {0, 1, 2, 0, 3, 4}, 5, true},
    };
    for (int i = 0; i < PL_COUNT(table); ++i) {
        pl_trisurf s = {table[i].vertices, 2, (double *)table[i].x, (int32_t *)table[i].corner};
        pl_findings *findings = pl_findings_create();
        PL_CHECK_OK(pl_trisurf_check(&s, "pair", findings, &err));
        bool meet = false;
        for (int k = 0; k < pl_findings_count(findings); ++k) {
            meet = meet || strstr(pl_findings_at(findings, k)->text, "intersect");
        }
        pl_findings_destroy(findings);
        if (meet != table[i].meet) {
            fail_msg("pair %d: meeting is %d", i, meet);
        }
    }
}

static void test_wrong_arrays(void **state)
{
    (void)state;
    pl_trisurf s = cube(0, 1);
    s.corner[7] = 8;
    assert_int_equal(pl_trisurf_check(&s, "part", NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "triangle 2: corner 1 is vertex 8"));
    s.corner[7] = 0;
    s.position[5] = INFINITY;
    assert_int_equal(pl_trisurf_check_crossing(&s, "part", &s, "part", NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "vertex 1: coordinate z"));
    pl_trisurf_clear(&s);
    pl_trisurf_clear(NULL);
}

// Nearest points of a triangle: inside, on an edge, at a corner.
static void test_nearest(void **state)
{
    (void)state;
    double position[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    int32_t corner[3] = {0, 1, 2};
    const pl_trisurf surface = {3, 1, position, corner};
    const double point[9] = {1, 1, 5, 3, 3, 0, -1, -2, 0};
    const double want[9] = {1, 1, 0, 2, 2, 0, 0, 0, 0};
    double got[9], rms = 0;
    pl_error none;
    PL_CHECK_OK(pl_trisurf_nearest(&surface, point, 3, got, &rms, &none));
    PL_CHECK_NEAR(rms, sqrt((25 + 2 + 5) / 3.0), 1e-12);
    for (int i = 0; i < 9; ++i) {
        PL_CHECK_NEAR(got[i], want[i], 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clean_cube),
                                       cmocka_unit_test(test_weld),
                                       cmocka_unit_test(test_open_turned_duplicate),
                                       cmocka_unit_test(test_intersections),
                                       cmocka_unit_test(test_shared_corners),
                                       cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_wrong_arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
