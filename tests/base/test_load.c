// Libraries that are opened at their first use: found ones fill their table, missing ones and missing
// functions are reported.
#include <string.h>
#include "check.h"
#include "base/load.h"

static struct {
    double (*cosine)(double);
    double (*none)(double);
} calls;

static void test_load_found(void **state)
{
    (void)state;
    static const pl_library_call call[] = {{"cos", 0}};
    pl_library library = {"libm.so.6", "angles need libm", call, 1, &calls, false};
    pl_error err = {0};
    assert_int_equal(pl_library_open(&library, &err), PL_OK);
    assert_true(library.opened);
    PL_CHECK_NEAR(calls.cosine(0), 1.0, 0);
    assert_int_equal(pl_library_open(&library, &err), PL_OK);
}

static void test_load_missing(void **state)
{
    (void)state;
    static const pl_library_call call[] = {{"cos", 0}, {"no_such_function", sizeof(void *)}};
    pl_error err = {0};
    pl_library missing = {"libno_such_library.so.1", "pictures need it", call, 1, &calls, false};
    assert_int_equal(pl_library_open(&missing, &err), PL_FAILED);
    assert_non_null(strstr(err.text, "pictures need it"));
    assert_non_null(strstr(err.text, "libno_such_library.so.1"));
    assert_false(missing.opened);

    pl_library lacking = {"libm.so.6", "angles need libm", call, 2, &calls, false};
    assert_int_equal(pl_library_open(&lacking, &err), PL_FAILED);
    assert_non_null(strstr(err.text, "no_such_function"));
    assert_false(lacking.opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load_found),
                                       cmocka_unit_test(test_load_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
