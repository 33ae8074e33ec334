// Laws of the factors: A x = b holds for any number of right sides, inertia equals the count of negative
// eigenvalues, a singular matrix is named, wrong input is answered with a sentence.
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "solver_cases.h"

static const pl_factor_kind all_kinds[] = {PL_FACTOR_CHOLESKY, PL_FACTOR_INDEFINITE, PL_FACTOR_MULTIFRONTAL};

static double solve_residual(pl_factor *factor, const pl_sparse *A, int count)
{
    const size_t bytes = (size_t)A->n * (size_t)count * sizeof(double);
    double *b = case_right_sides(A->n, count), *x = malloc(bytes);

    memcpy(x, b, bytes);
    pl_factor_solve(factor, x, count);
    const double residual = case_residual(A, x, b, count);
    free(b);
    free(x);

    return residual;
}

// Factors and solves for 1, 3 and 21 right sides; returns the worst relative residual.
static double factor_residual(const solver_case *c, pl_factor_kind kind, pl_factor_report *report)
{
    pl_error err;
    pl_factor *factor;

    PL_CHECK_OK(pl_factor_create(kind, &c->matrix, c->group, c->group_count, &factor, &err));
    PL_CHECK_OK(pl_factor_update(factor, &c->matrix, report, &err));
    assert_false(report->singular);
    assert_true(pl_factor_bytes(factor) > 0);
    assert_true(pl_factor_flops(factor) > 0);
    const double one = solve_residual(factor, &c->matrix, 1), three = solve_residual(factor, &c->matrix, 3),
                 many = solve_residual(factor, &c->matrix, 21);
    pl_factor_destroy(factor);

    return fmax(one, fmax(three, many));
}

static void test_positive_definite(void **state)
{
    (void)state;
    const int sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 3, 3}, {30, 1, 1}, {12, 9, 8}};
    for (int i = 0; i < PL_COUNT(sizes); ++i) {
        solver_case c = case_grid(
            (grid_spec){.nx = sizes[i][0], .ny = sizes[i][1], .nz = sizes[i][2], .seed = (uint64_t)i});
        for (int k = 0; k < PL_COUNT(all_kinds); ++k) {
            pl_factor_report report;
            PL_CHECK_BELOW(factor_residual(&c, all_kinds[k], &report), 1e-14);
            assert_int_equal(report.negative_count, 0);
            assert_int_equal(report.perturbed_count, 0);
        }
        case_clear(&c);
    }
}

// Right sides solved together (in blocks, by BLAS 3) have the solutions they have alone.
static void test_sides_together(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 9, .ny = 8, .nz = 7, .pressure = true, .C = 1e-2, .seed = 5});
    const int count = 19, kinds[] = {PL_FACTOR_INDEFINITE, PL_FACTOR_MULTIFRONTAL};
    const size_t n = (size_t)c.matrix.n;
    for (int k = 0; k < PL_COUNT(kinds); ++k) {
        pl_error err;
        pl_factor *factor;
        pl_factor_report report;
        PL_CHECK_OK(
            pl_factor_create((pl_factor_kind)kinds[k], &c.matrix, c.group, c.group_count, &factor, &err));
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, &report, &err));
        double *together = case_right_sides(c.matrix.n, count), *alone = case_right_sides(c.matrix.n, count);
        pl_factor_solve(factor, together, count);
        for (int j = 0; j < count; ++j) {
            double apart = 0, size = 0;
            pl_factor_solve(factor, alone + (size_t)j * n, 1);
            for (size_t i = (size_t)j * n; i < (size_t)(j + 1) * n; ++i) {
                apart = fmax(apart, fabs(together[i] - alone[i]));
                size = fmax(size, fabs(alone[i]));
            }
            PL_CHECK_BELOW(apart, 1e-12 * size);
        }
        free(together);
        free(alone);
        pl_factor_destroy(factor);
    }

    case_clear(&c);
}

// A quasi-definite matrix [A B; B^T -C] has as many negative eigenvalues as rows in C.
static void test_quasi_definite(void **state)
{
    (void)state;
    for (int i = 0; i < 3; ++i) {
        const double C[] = {1e-3, 1e-8, 10};
        solver_case c =
            case_grid((grid_spec){.nx = 9, .ny = 8, .nz = 7, .pressure = true, .C = C[i], .seed = 3});
        const int pressures = c.matrix.n - 3 * c.group_count;
        for (int k = 1; k < PL_COUNT(all_kinds); ++k) {
            pl_factor_report report;
            PL_CHECK_BELOW(factor_residual(&c, all_kinds[k], &report), 1e-13);
            assert_int_equal(report.negative_count, pressures);
            assert_int_equal(report.perturbed_count, 0);
        }
        case_clear(&c);
    }
}

// Pressures ordered apart from their nodes meet pivots as small as C; the answer must be as good as before.
static void test_small_pivots(void **state)
{
    (void)state;
    const double C[] = {1e-5, 1e-8, 1e-12};
    for (int i = 0; i < PL_COUNT(C); ++i) {
        solver_case c =
            case_grid((grid_spec){.nx = 8, .ny = 7, .nz = 6, .pressure = true, .C = C[i], .seed = 4});
        const int pressures = c.matrix.n - 3 * c.group_count;
        for (int32_t j = 3; j < c.matrix.n; ++j) {
            if (c.group[j] == c.group[j - 3]) {
                c.group[j] = c.group_count++;
            }
        }
        pl_factor_report report;
        PL_CHECK_BELOW(factor_residual(&c, PL_FACTOR_MULTIFRONTAL, &report), 1e-11);
        assert_int_equal(report.negative_count, pressures);
        assert_int_equal(report.perturbed_count, 0);
        case_clear(&c);
    }
}

// A shift makes A indefinite: from a few negative eigenvalues to no definiteness left at all.
static void test_indefinite(void **state)
{
    (void)state;
    for (int i = 0; i < 8; ++i) {
        solver_case c = case_grid((grid_spec){
            .nx = 4, .ny = 3, .nz = 3, .pressure = i % 2 == 1, .shift = 21 + i, .seed = 10 + (uint64_t)i});
        const int negative = case_negative_eigenvalues(&c.matrix);
        assert_true(negative > 0);
        for (int k = 1; k < PL_COUNT(all_kinds); ++k) {
            pl_factor_report report;
            PL_CHECK_BELOW(factor_residual(&c, all_kinds[k], &report), 1e-12);
            assert_int_equal(report.negative_count, negative);
            assert_int_equal(report.perturbed_count, 0);
        }
        case_clear(&c);
    }
}

static void test_indefinite_large(void **state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        solver_case c = case_grid((grid_spec){
            .nx = 11, .ny = 10, .nz = 9, .pressure = i == 1, .shift = 27, .seed = 20 + (uint64_t)i});
        pl_factor_report mumps, ours;
        PL_CHECK_BELOW(factor_residual(&c, PL_FACTOR_INDEFINITE, &mumps), 1e-11);
        PL_CHECK_BELOW(factor_residual(&c, PL_FACTOR_MULTIFRONTAL, &ours), 1e-11);
        assert_int_equal(ours.negative_count, mumps.negative_count);
        case_clear(&c);
    }
}

// Pairs coupled only off the diagonal, [0 1; 1 0]: no 1x1 pivot exists anywhere.
static void test_zero_diagonal(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 5, .ny = 4, .nz = 2, .seed = 5});
    for (int32_t j = 0; j < c.matrix.n; ++j) {
        c.matrix.value[c.matrix.start[j + 1] - 1] = 0;
    }

    const int negative = case_negative_eigenvalues(&c.matrix);
    for (int k = 1; k < PL_COUNT(all_kinds); ++k) {
        pl_factor_report report;
        PL_CHECK_BELOW(factor_residual(&c, all_kinds[k], &report), 1e-12);
        assert_int_equal(report.negative_count, negative);
    }

    case_clear(&c);
}

static void test_agrees_with_dense(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 3, .ny = 2, .nz = 2, .pressure = true, .seed = 9});
    const int32_t n = c.matrix.n;
    for (int k = 1; k < PL_COUNT(all_kinds); ++k) {
        pl_error err;
        pl_factor *factor;
        PL_CHECK_OK(pl_factor_create(all_kinds[k], &c.matrix, c.group, c.group_count, &factor, &err));
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, NULL, &err));
        double *x = case_right_sides(n, 1), *y = case_right_sides(n, 1), *A = case_dense(&c.matrix);
        pl_factor_solve(factor, x, 1);
        assert_true(pl_dense_solve(n, A, y, 1));
        for (int32_t i = 0; i < n; ++i) {
            PL_CHECK_NEAR(x[i], y[i], 1e-12);
        }
        free(x);
        free(y);
        free(A);
        pl_factor_destroy(factor);
    }

    case_clear(&c);
}

// Singular: a row of zeros, exactly. Named by every kind, and the factor is good again after the next update.
static void test_singular(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 4, .ny = 4, .nz = 3, .seed = 2});
    pl_sparse *A = &c.matrix;
    double *kept = malloc((size_t)A->start[A->n] * sizeof *kept);
    memcpy(kept, A->value, (size_t)A->start[A->n] * sizeof *kept);
    const int32_t victim = A->n / 2;
    for (int k = 0; k < PL_COUNT(all_kinds); ++k) {
        pl_error err;
        pl_factor *factor;
        pl_factor_report report;
        PL_CHECK_OK(pl_factor_create(all_kinds[k], A, c.group, c.group_count, &factor, &err));
        for (int32_t j = 0; j < A->n; ++j) {
            for (int64_t p = A->start[j]; p < A->start[j + 1]; ++p) {
                A->value[p] = A->row[p] == victim || j == victim ? 0 : kept[p];
            }
        }
        PL_CHECK_OK(pl_factor_update(factor, A, &report, &err));
        if (all_kinds[k] == PL_FACTOR_CHOLESKY) {
            assert_true(report.singular);
        } else {
            assert_int_equal(report.perturbed_count, 1);
        }
        memset(A->value, 0, (size_t)A->start[A->n] * sizeof *A->value);
        PL_CHECK_OK(pl_factor_update(factor, A, &report, &err));
        assert_true(report.singular);
        memcpy(A->value, kept, (size_t)A->start[A->n] * sizeof *kept);
        PL_CHECK_OK(pl_factor_update(factor, A, &report, &err));
        assert_false(report.singular);
        assert_int_equal(report.perturbed_count, 0);
        PL_CHECK_BELOW(solve_residual(factor, A, 2), 1e-13);
        pl_factor_destroy(factor);
    }

    free(kept);
    case_clear(&c);
}

static void test_not_positive_definite(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 4, .ny = 3, .nz = 3, .pressure = true, .seed = 2});
    pl_error err;
    pl_factor *factor;
    pl_factor_report report;
    PL_CHECK_OK(pl_factor_create(PL_FACTOR_CHOLESKY, &c.matrix, c.group, c.group_count, &factor, &err));
    PL_CHECK_OK(pl_factor_update(factor, &c.matrix, &report, &err));
    assert_true(report.singular);
    pl_factor_destroy(factor);
    case_clear(&c);
}

// Pivots of a diagonal matrix are its entries.
static void test_pivot_range(void **state)
{
    (void)state;
    pl_error err;
    pl_sparse A;
    int32_t group[6];
    PL_CHECK_OK(pl_sparse_create(6, 6, &A, &err));
    for (int32_t i = 0; i < 6; ++i) {
        A.row[i] = i;
        A.start[i + 1] = i + 1;
        A.value[i] = i + 2;
        group[i] = i / 2;
    }

    for (int k = 0; k < PL_COUNT(all_kinds); k += 2) {
        pl_factor *factor;
        pl_factor_report report;
        PL_CHECK_OK(pl_factor_create(all_kinds[k], &A, group, 3, &factor, &err));
        PL_CHECK_OK(pl_factor_update(factor, &A, &report, &err));
        PL_CHECK_NEAR(report.smallest_pivot, 2, 1e-14);
        PL_CHECK_NEAR(report.largest_pivot, 7, 1e-14);
        pl_factor_destroy(factor);
    }

    pl_sparse_clear(&A);
}

static void expect_refusal(const pl_sparse *A, const int32_t *group, int32_t group_count, const char *word)
{
    for (int k = 0; k < PL_COUNT(all_kinds); ++k) {
        pl_error err;
        pl_factor *factor;
        assert_int_equal(pl_factor_create(all_kinds[k], A, group, group_count, &factor, &err), PL_BAD_INPUT);
        assert_null(factor);
        assert_non_null(strstr(err.text, word));
    }
}

static void test_wrong_input(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 2, .ny = 2, .nz = 1, .seed = 1});
    pl_sparse *A = &c.matrix;
    expect_refusal(A, c.group, 0, "group_count");
    expect_refusal(A, c.group, 3, "group[9]");
    A->row[1] = 7;
    expect_refusal(A, c.group, c.group_count, "column 1");
    A->row[1] = 1;
    expect_refusal(A, c.group, c.group_count, "column 1");
    A->row[1] = -3;
    expect_refusal(A, c.group, c.group_count, "column 1");
    A->row[1] = 0;
    A->row[2] = 0;
    expect_refusal(A, c.group, c.group_count, "column 1");
    A->row[2] = 1;
    expect_refusal(&(pl_sparse){.n = 0}, c.group, 1, "0 unknowns");
    case_clear(&c);
}

static void test_wrong_values(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 2, .ny = 2, .nz = 1, .seed = 1});
    solver_case other = case_grid((grid_spec){.nx = 3, .ny = 2, .nz = 1, .seed = 1});
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < PL_COUNT(all_kinds); ++k) {
        pl_error err;
        pl_factor *factor;
        PL_CHECK_OK(pl_factor_create(all_kinds[k], &c.matrix, c.group, c.group_count, &factor, &err));
        assert_int_equal(pl_factor_update(factor, &other.matrix, NULL, &err), PL_BAD_INPUT);
        for (int i = 0; i < PL_COUNT(bad); ++i) {
            const double kept = c.matrix.value[4];
            c.matrix.value[4] = bad[i];
            assert_int_equal(pl_factor_update(factor, &c.matrix, NULL, &err), PL_BAD_INPUT);
            assert_non_null(strstr(err.text, "(1, 2)"));
            c.matrix.value[4] = kept;
        }
        pl_factor_destroy(factor);
    }

    pl_factor_destroy(NULL);
    case_clear(&other);
    case_clear(&c);
}

// The grid again with one more pair of nodes coupled, the first and the last.
static solver_case case_with_link(const solver_case *c)
{
    const pl_sparse *A = &c->matrix;
    const int32_t j = A->n - 1;
    const int64_t entries = A->start[A->n];
    solver_case out = {.group_count = c->group_count, .group = malloc((size_t)A->n * sizeof *c->group)};

    memcpy(out.group, c->group, (size_t)A->n * sizeof *c->group);
    pl_error err;
    PL_CHECK_OK(pl_sparse_create(A->n, entries + 1, &out.matrix, &err));
    memcpy(out.matrix.start, A->start, ((size_t)A->n + 1) * sizeof *A->start);
    out.matrix.start[A->n]++;
    memcpy(out.matrix.row, A->row, (size_t)A->start[j] * sizeof *A->row);
    memcpy(out.matrix.value, A->value, (size_t)A->start[j] * sizeof *A->value);
    const int64_t at = A->start[j];
    out.matrix.row[at] = 0;
    out.matrix.value[at] = 0.5;
    memcpy(out.matrix.row + at + 1, A->row + at, (size_t)(entries - at) * sizeof *A->row);
    memcpy(out.matrix.value + at + 1, A->value + at, (size_t)(entries - at) * sizeof *A->value);

    return out;
}

// A pattern that gains an entry, and loses it again, keeps its order and solves like one analysed from
// scratch.
static void test_reanalyse(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 9, .ny = 7, .nz = 6, .seed = 5}), linked = case_with_link(&c);
    for (int k = 0; k < PL_COUNT(all_kinds); ++k) {
        pl_error err;
        pl_factor *factor, *fresh;
        pl_factor_report report;
        PL_CHECK_OK(pl_factor_create(all_kinds[k], &c.matrix, c.group, c.group_count, &factor, &err));
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, &report, &err));
        assert_int_equal(pl_factor_update(factor, &linked.matrix, &report, &err), PL_BAD_INPUT);
        PL_CHECK_OK(pl_factor_reanalyse(factor, &linked.matrix, &err));
        PL_CHECK_OK(pl_factor_update(factor, &linked.matrix, &report, &err));
        assert_false(report.singular);
        PL_CHECK_BELOW(solve_residual(factor, &linked.matrix, 3), 1e-14);
        PL_CHECK_OK(
            pl_factor_create(all_kinds[k], &linked.matrix, linked.group, linked.group_count, &fresh, &err));
        PL_CHECK_OK(pl_factor_update(fresh, &linked.matrix, &report, &err));
        double *x = case_right_sides(c.matrix.n, 1), *y = case_right_sides(c.matrix.n, 1), apart = 0;
        pl_factor_solve(factor, x, 1);
        pl_factor_solve(fresh, y, 1);
        for (int32_t i = 0; i < c.matrix.n; ++i) {
            apart = fmax(apart, fabs(x[i] - y[i]));
        }
        PL_CHECK_BELOW(apart, 1e-14);
        PL_CHECK_OK(pl_factor_reanalyse(factor, &c.matrix, &err));
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, &report, &err));
        PL_CHECK_BELOW(solve_residual(factor, &c.matrix, 3), 1e-14);
        assert_int_equal(pl_factor_order_count(factor), 1);
        assert_int_equal(pl_factor_analysis_count(factor), 3);
        free(x);
        free(y);
        pl_factor_destroy(factor);
        pl_factor_destroy(fresh);
    }

    case_clear(&linked);
    case_clear(&c);
}

// A watch ends a factorisation on the path; the factor is then unusable and can be made again.
static bool watch_never(void *user, double fraction, const char *what)
{
    (void)fraction;
    assert_non_null(strstr(what, "factorisation"));
    ++*(int *)user;
    return false;
}

static void test_watch(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 9, .ny = 8, .nz = 7, .pressure = true, .C = 1, .seed = 3});
    for (int threads = 1; threads <= 2; ++threads) {
        for (int single = 0; single < 2; ++single) {
            pl_error err;
            pl_factor *factor;
            pl_factor_report report;
            int asked = 0;
            pl_watch watch = {.progress = {watch_never, &asked}};
            pl_threads_set(threads);
            PL_CHECK_OK(
                pl_factor_create(PL_FACTOR_MULTIFRONTAL, &c.matrix, c.group, c.group_count, &factor, &err));
            pl_factor_watch(factor, &watch);
            assert_int_equal(
                (single ? pl_factor_update_single : pl_factor_update)(factor, &c.matrix, &report, &err),
                PL_INTERRUPTED);
            assert_int_equal(asked, 1);
            assert_true(watch.stopped);
            // it stays stopped until another watch is set
            assert_int_equal(pl_factor_update(factor, &c.matrix, &report, &err), PL_INTERRUPTED);
            assert_int_equal(asked, 1);
            pl_factor_watch(factor, NULL);
            PL_CHECK_OK(pl_factor_update(factor, &c.matrix, &report, &err));
            PL_CHECK_BELOW(solve_residual(factor, &c.matrix, 1), 1e-13);
            pl_factor_destroy(factor);
        }
    }

    pl_threads_set(0);
    case_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positive_definite),
        cmocka_unit_test(test_sides_together),
        cmocka_unit_test(test_quasi_definite),
        cmocka_unit_test(test_small_pivots),
        cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_indefinite_large),
        cmocka_unit_test(test_zero_diagonal),
        cmocka_unit_test(test_agrees_with_dense),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_not_positive_definite),
        cmocka_unit_test(test_pivot_range),
        cmocka_unit_test(test_wrong_input),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_reanalyse),
        cmocka_unit_test(test_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
