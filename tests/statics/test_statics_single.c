// Factors in single precision on a slender beam, whose bending is a small difference of large numbers: what
// they know least is put right (problem/problem_single.c), and equilibria are those of double precision.
#include "problem/problem_impl.h"
#include "statics/statics_impl.h"
#include "statics_robot.h"

#define LENGTH 30.0

static pl_mesh *slender(void)
{
    return tet_box(20, 1, 1, LENGTH, 2, 1, 2, NULL);
}

static rig slender_rig(const pl_mesh *mesh, pl_formulation formulation, const pl_statics_options *options)
{
    static plan p;
    const pl_material material = {
        .model = PL_NEO_HOOKEAN, .c10 = 0.3, .poisson = 0.47, .formulation = formulation};

    plan_init(&p, mesh, material);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, LENGTH);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {0, 0, -5e-4}};

    return plan_build(&p, options);
}

static double largest(const pl_problem *p, const double *v)
{
    return pl_problem_largest(p, v, false);
}

// The part of y = S b that S has wrong: |S (b - K y)| / |y| for a solve S.
static double wrong(pl_problem *p, bool put_right, const double *b, double *y, double *r)
{
    const int32_t n = p->unknowns.n;
    const int soft = p->linear.soft_count;

    p->linear.soft_count = put_right ? soft : 0;
    memcpy(y, b, (size_t)n * sizeof *y);
    problem_solve_columns(p, y, 1);
    memset(r, 0, (size_t)n * sizeof *r);
    pl_sparse_multiply(&p->tangent.K, y, r);
    for (int32_t i = 0; i < n; ++i) {
        r[i] = b[i] - r[i];
    }
    problem_solve_columns(p, r, 1);
    p->linear.soft_count = soft;

    return largest(p, r) / largest(p, y);
}

static void test_soft_modes(void **state)
{
    (void)state;
    pl_mesh *mesh = slender();
    for (int kind = 0; kind < 2; ++kind) {
        rig r = slender_rig(mesh, kind ? PL_DISPLACEMENT : PL_LOCKING_FREE, NULL);
        pl_problem *p = r.statics->problem;
        pl_error err;
        const int32_t n = p->unknowns.n;
        double *b = PL_NEW_ARRAY(double, n), *y = PL_NEW_ARRAY(double, n), *z = PL_NEW_ARRAY(double, n);
        assert_int_equal(pl_problem_refactor(p, &(pl_linearization){.x = rig_x(&r)}, &err), PL_OK);
        assert_true(p->linear.report.single);
        assert_int_equal(p->linear.soft_count, PROBLEM_SOFT);
        // H K W = W
        for (int k = 0; k < PROBLEM_SOFT; ++k) {
            const double *w = p->linear.soft + (int64_t)k * n;
            memcpy(y, p->linear.soft_force + (int64_t)k * n, (size_t)n * sizeof *y);
            problem_solve_columns(p, y, 1);
            for (int32_t i = 0; i < n; ++i) {
                z[i] = y[i] - w[i];
            }
            PL_CHECK_BELOW(largest(p, z) / largest(p, w), 1e-6);
        }
        // another right side: a force across the free end
        for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
            const int32_t dof = p->unknowns.dof[3 * (int64_t)v + 2];
            if (dof >= 0 && p->mesh.position[3 * (int64_t)v] > 0.9 * LENGTH) {
                b[dof] = 1;
            }
        }
        const double raw = wrong(p, false, b, y, z), right = wrong(p, true, b, y, z);
        print_message("kind %d: a part of %.1e is wrong, %.1e when put right\n", kind, raw, right);
        PL_CHECK_BELOW(right, 0.02);
        PL_CHECK_BELOW(right, 0.2 * raw);
        // H is symmetric: b . H c = c . H b
        double *c = PL_NEW_ARRAY(double, n), *Hb = y, *Hc = z, forth = 0, back = 0;
        for (int32_t i = 0; i < n; ++i) {
            c[i] = i % 7 - 3;
        }
        for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
            c[p->unknowns.pressure_dof[k]] = 0;
        }
        memcpy(Hb, b, (size_t)n * sizeof *b);
        memcpy(Hc, c, (size_t)n * sizeof *c);
        problem_solve_columns(p, Hb, 1);
        problem_solve_columns(p, Hc, 1);
        for (int32_t i = 0; i < n; ++i) {
            forth += b[i] * Hc[i];
            back += c[i] * Hb[i];
        }
        PL_CHECK_NEAR(forth / back, 1, 1e-3);
        pl_free(b);
        pl_free(c);
        pl_free(y);
        pl_free(z);
        rig_clear(&r);
    }

    pl_mesh_destroy(mesh);
}

// The same shape as with MUMPS, which works in double precision.
static void test_same_shape(void **state)
{
    (void)state;
    pl_mesh *mesh = slender();
    pl_statics_options options = pl_statics_options_default();
    rig single = slender_rig(mesh, PL_LOCKING_FREE, &options);
    options.linear_solver = PL_SOLVER_MUMPS;
    rig r = slender_rig(mesh, PL_LOCKING_FREE, &options);
    rig_solve(&single, NULL);
    rig_solve(&r, NULL);
    const double off = shape_distance(&r, rig_x(&r), rig_x(&single)),
                 drop = -pl_statics_marker(r.statics, r.state, 0).displacement[2];
    print_message("drop %.3f mm, %.1e mm apart, %d factors in single precision\n", drop, off,
                  single.statics->problem->linear.single_count);
    assert_true(single.statics->problem->linear.single_count > 0);
    assert_int_equal(single.statics->problem->linear.single_refusals, 0);
    assert_true(drop > 5);
    PL_CHECK_BELOW(off, 1e-5 * drop);
    rig_clear(&single);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A beam stretched, and pressed beyond its buckling loads: where single precision calls its inertia certain,
// it is that of double precision.
static void test_inertia(void **state)
{
    (void)state;
    pl_mesh *mesh = slender();
    rig r = slender_rig(mesh, PL_LOCKING_FREE, NULL);
    pl_problem *p = r.statics->problem;
    pl_error err;
    const double *rest = rig_x(&r), part[] = {-0.05, 0, 3e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.02, 0.04, 0.08};
    double *x = PL_NEW_ARRAY(double, 3 * (int64_t)p->mesh.vertex_count);
    int certain = 0, indefinite = 0;
    for (int k = 0; k < PL_COUNT(part); ++k) {
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            x[i] = rest[i] * (i % 3 == 0 ? 1 - part[k] : 1);
        }
        int unstable[2];
        for (int twice = 0; twice < 2; ++twice) {
            p->linear.single_refused = twice;
            assert_int_equal(
                pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = PL_AS_IT_IS}, &err), PL_OK);
            assert_int_equal(p->linear.report.single, !twice);
            unstable[twice] = pl_problem_unstable(p);
        }
        print_message("pressed by %g: %d negative in single precision%s, %d in double\n", part[k],
                      unstable[0], p->linear.single_certain ? ", certain" : "", unstable[1]);
        assert_true(!p->linear.single_certain || unstable[0] == unstable[1]);
        certain += p->linear.single_certain;
        indefinite += p->linear.single_certain && unstable[1] > 0;
    }

    assert_true(certain > 4 && indefinite > 3 && indefinite < certain);
    pl_free(x);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A bulky block has no soft modes: three of four factors are accepted without a look, and they are good. The
// slender beam is looked at until it is stretched so much that it resists bending.
static void test_unseen(void **state)
{
    (void)state;
    for (int bulky = 0; bulky < 2; ++bulky) {
        pl_mesh *mesh = bulky ? tet_box(4, 4, 4, LENGTH, 28, 26, 2, NULL) : slender();
        rig r = slender_rig(mesh, PL_LOCKING_FREE, NULL);
        pl_problem *p = r.statics->problem;
        pl_error err;
        const int32_t n = p->unknowns.n;
        double *b = PL_NEW_ARRAY(double, n), *y = PL_NEW_ARRAY(double, n), *z = PL_NEW_ARRAY(double, n);
        double *x = PL_NEW_ARRAY(double, 3 * (int64_t)p->mesh.vertex_count);
        for (int32_t i = 0; i < n; ++i) {
            b[i] = i % 3 - 1;
        }
        for (int k = 0; k < 6; ++k) {
            for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
                x[i] = rig_x(&r)[i] * (i % 3 == 0 ? 1 + 0.01 * k : 1);
            }
            assert_int_equal(pl_problem_refactor(p, &(pl_linearization){.x = x}, &err), PL_OK);
            const double error = wrong(p, true, b, y, z);
            print_message("%s, stretched by %d %%: %s, error %.1e\n", bulky ? "block" : "beam", k,
                          p->linear.soft_count > 0 ? "looked at" : "not looked at", error);
            assert_true(bulky ? (p->linear.soft_count > 0) == (k % 4 == 0)
                              : k > 1 || p->linear.soft_count > 0);
            PL_CHECK_BELOW(error, 0.01);
        }
        pl_free(b);
        pl_free(y);
        pl_free(z);
        pl_free(x);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_soft_modes), cmocka_unit_test(test_inertia),
                                       cmocka_unit_test(test_unseen), cmocka_unit_test(test_same_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
