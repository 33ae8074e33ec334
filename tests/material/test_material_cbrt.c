// The cube root of the kernels, several at once: as exact as the library's over all magnitudes, and the same
// for numbers out of the usual range.
#define PL_VW 4
#include "check.h"
#include "base/base.h"
#include "material/material_kernel.h"

static void test_cube_root(void **state)
{
    (void)state;
    pl_random random;
    double worst = 0;
    pl_random_seed(&random, 11);
    for (int i = 0; i < 20000; ++i) {
        vd a;
        for (int l = 0; l < PL_VW; ++l) {
            a[l] = exp(pl_random_uniform(&random, -1, 1) * (i % 2 ? 2 : 450));
        }
        const vd root = v_cbrt(a);
        for (int l = 0; l < PL_VW; ++l) {
            worst = fmax(worst, fabs(root[l] / cbrt(a[l]) - 1));
        }
    }

    print_message("relative error %.1e\n", worst);
    PL_CHECK_BELOW(worst, 2e-15);
}

static void test_unusual_numbers(void **state)
{
    (void)state;
    const vd a = {-8, 0, INFINITY, 1e-300}, root = v_cbrt(a);
    for (int l = 0; l < PL_VW; ++l) {
        assert_true(root[l] == cbrt(a[l]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cube_root),
                                       cmocka_unit_test(test_unusual_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
