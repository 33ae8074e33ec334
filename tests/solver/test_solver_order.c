// The nodal order: a permutation, groups unbroken, any graph accepted.
#include <stdlib.h>
#include "check.h"
#include "solver/solver_impl.h"
#include "solver_cases.h"

static void expect_permutation(const solver_case *c)
{
    pl_error err;
    solver_groups groups;

    PL_CHECK_OK(solver_groups_create(&c->matrix, c->group, c->group_count, &groups, &err));
    const int32_t n = c->matrix.n;
    int32_t *order = malloc((size_t)c->group_count * sizeof *order),
            *unknowns = malloc((size_t)n * sizeof *unknowns);
    int *seen = calloc((size_t)n, sizeof *seen);
    PL_CHECK_OK(solver_groups_order(&groups, order, &err));
    solver_groups_expand(&groups, order, unknowns);
    for (int32_t p = 0; p < n; ++p) {
        assert_in_range(unknowns[p], 0, n - 1);
        assert_int_equal(seen[unknowns[p]]++, 0);
        // within a group unknowns ascend; a group that was left does not come back
        if (p > 0 && c->group[unknowns[p]] == c->group[unknowns[p - 1]]) {
            assert_true(unknowns[p] > unknowns[p - 1]);
        }
    }

    int changes = 0;
    for (int32_t p = 1; p < n; ++p) {
        changes += c->group[unknowns[p]] != c->group[unknowns[p - 1]];
    }

    int occupied = 0;
    for (int32_t k = 0; k < c->group_count; ++k) {
        occupied += groups.size[k] > 0;
    }
    assert_int_equal(changes, occupied - 1);
    free(order);
    free(unknowns);
    free(seen);
    solver_groups_clear(&groups);
}

static void expect_solution(const solver_case *c, pl_factor_kind kind)
{
    pl_error err;
    pl_factor *factor;

    PL_CHECK_OK(pl_factor_create(kind, &c->matrix, c->group, c->group_count, &factor, &err));
    PL_CHECK_OK(pl_factor_update(factor, &c->matrix, NULL, &err));
    double *x = case_right_sides(c->matrix.n, 1), *b = case_right_sides(c->matrix.n, 1);
    pl_factor_solve(factor, x, 1);
    PL_CHECK_BELOW(case_residual(&c->matrix, x, b, 1), 1e-13);
    free(x);
    free(b);
    pl_factor_destroy(factor);
}

static void expect_all(const solver_case *c)
{
    expect_permutation(c);
    expect_solution(c, PL_FACTOR_CHOLESKY);
    expect_solution(c, PL_FACTOR_INDEFINITE);
    expect_solution(c, PL_FACTOR_MULTIFRONTAL);
}

static void test_groups(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 6, .ny = 5, .nz = 4, .seed = 1});
    const int32_t n = c.matrix.n, nodes = c.group_count;
    expect_all(&c);

    // all unknowns in one group
    c.group_count = 1;
    for (int32_t i = 0; i < n; ++i) {
        c.group[i] = 0;
    }
    expect_all(&c);

    // two groups, interleaved
    c.group_count = 2;
    for (int32_t i = 0; i < n; ++i) {
        c.group[i] = i % 2;
    }
    expect_all(&c);

    // groups without unknowns between the others, and unknowns of a node far apart in number
    c.group_count = 3 * nodes;
    for (int32_t i = 0; i < n; ++i) {
        c.group[i] = 3 * (i % nodes) + 1;
    }
    expect_all(&c);

    // every unknown on its own
    c.group_count = n;
    for (int32_t i = 0; i < n; ++i) {
        c.group[i] = n - 1 - i;
    }
    expect_all(&c);
    case_clear(&c);
}

// A diagonal matrix has a graph without edges; a matrix of separate blocks has a forest.
static void test_isolated(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 8, .ny = 4, .nz = 1, .seed = 1});
    for (int32_t keep = 0; keep < 2; ++keep) {
        int64_t write = 0, begin = 0;
        for (int32_t j = 0; j < c.matrix.n; ++j) {
            const int64_t end = c.matrix.start[j + 1];
            for (int64_t p = begin; p < end; ++p) {
                const int32_t i = c.matrix.row[p];
                if (i == j || (keep == 0 && i / 12 == j / 12)) {
                    c.matrix.row[write] = i;
                    c.matrix.value[write++] = c.matrix.value[p];
                }
            }
            begin = end;
            c.matrix.start[j + 1] = write;
        }
        expect_all(&c);
    }

    case_clear(&c);
}

// A store in memory.
static struct {
    uint64_t key;
    int32_t count, order[12000];
    int found, kept;
} shelf;

static bool shelf_find(const char *folder, uint64_t key, int32_t count, int32_t *order)
{
    (void)folder;
    const bool there = shelf.count == count && shelf.key == key;
    shelf.found += there;
    if (there) {
        memcpy(order, shelf.order, (size_t)count * sizeof *order);
    }

    return there;
}

static void shelf_keep(const char *folder, uint64_t key, int32_t count, const int32_t *order)
{
    (void)folder;
    assert_in_range(count, 1, 12000);
    shelf.key = key;
    shelf.count = count;
    memcpy(shelf.order, order, (size_t)count * sizeof *order);
    shelf.kept++;
}

// Orders are found once per graph; what a store tells is accepted only if it is an order.
static void test_store(void **state)
{
    (void)state;
    char folder[] = "shelf";
    const pl_order_store store = {folder, shelf_find, shelf_keep};
    solver_case c = case_grid((grid_spec){.nx = 15, .ny = 14, .nz = 13, .seed = 1});
    double *x[3], *b = case_right_sides(c.matrix.n, 1);
    for (int i = 0; i < 3; ++i) {
        pl_error err;
        pl_factor *factor;
        if (i == 2) {
            shelf.order[7] = shelf.order[8]; // one node twice
        }
        PL_CHECK_OK(pl_factor_create_stored(PL_FACTOR_MULTIFRONTAL, &c.matrix, c.group, c.group_count, &store,
                                            &factor, &err));
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, NULL, &err));
        x[i] = case_right_sides(c.matrix.n, 1);
        pl_factor_solve(factor, x[i], 1);
        assert_int_equal(shelf.kept, i < 2 ? 1 : 2);
        assert_int_equal(shelf.found, i);
        PL_CHECK_BELOW(case_residual(&c.matrix, x[i], b, 1), 1e-13);
        assert_memory_equal(x[i], x[0], (size_t)c.matrix.n * sizeof *b);
        pl_factor_destroy(factor);
    }

    for (int i = 0; i < 3; ++i) {
        free(x[i]);
    }
    free(b);
    case_clear(&c);
}

// The elimination tree and the supernodes are kept with the order; whatever a store tells of them, the factor
// solves, and of what does not fit nothing is accepted.
static void test_wrong_fronts(void **state)
{
    (void)state;
    char folder[] = "shelf";
    const pl_order_store store = {folder, shelf_find, shelf_keep};
    solver_case c = case_grid((grid_spec){.nx = 15, .ny = 14, .nz = 10, .seed = 3});
    double *b = case_right_sides(c.matrix.n, 1), *x = case_right_sides(c.matrix.n, 1), worst = 0;
    static int32_t good[12000];
    pl_random random;
    pl_random_seed(&random, 11);
    for (int i = 0; i < 20; ++i) {
        pl_error err;
        pl_factor *factor;
        if (i > 0) {
            memcpy(shelf.order, good, sizeof good);
        }
        // single numbers that make no sense, or a tree that holds together but is not the one of the graph
        const int32_t n = c.group_count;
        int32_t *parent = shelf.order + n, *head = parent + n;
        for (int32_t j = 0; i % 2 == 1 && j < n; ++j) {
            head[j] = j;
        }
        for (int k = 0; k < i; ++k) {
            const int32_t j = (int32_t)(pl_random_next(&random) % (uint64_t)n), later = n - 1 - j;
            if (i % 2 == 1) {
                parent[j] = later > 0 ? j + 1 + (int32_t)(pl_random_next(&random) % (uint64_t)later) : -1;
            } else {
                (k % 2 ? parent : head)[j] = (int32_t)(pl_random_next(&random) % (uint64_t)(n + 1)) - 1;
            }
        }
        PL_CHECK_OK(pl_factor_create_stored(PL_FACTOR_MULTIFRONTAL, &c.matrix, c.group, c.group_count, &store,
                                            &factor, &err));
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, NULL, &err));
        memcpy(x, b, (size_t)c.matrix.n * sizeof *b);
        pl_factor_solve(factor, x, 1);
        worst = fmax(worst, case_residual(&c.matrix, x, b, 1));
        pl_factor_destroy(factor);
        if (i == 0) {
            memcpy(good, shelf.order, sizeof good);
        }
    }

    printf("20 kept analyses with wrong numbers: largest residual %.1e\n", worst);
    PL_CHECK_BELOW(worst, 1e-12);
    free(b);
    free(x);
    case_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_isolated),
                                       cmocka_unit_test(test_store), cmocka_unit_test(test_wrong_fronts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
