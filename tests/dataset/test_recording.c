// Laws of recordings: units in brackets are converted, whatever the separator, byte order mark or line ends;
// what is no number, or not the number that was meant, is refused with its place.
#include <string.h>
#include "check.h"
#include "dataset/dataset.h"

// Column `name` of the text in internal units; the status of reading it.
static pl_status read_column(const char *text, const char *name, pl_dimension dimension, double out[3],
                             pl_error *err)
{
    pl_recording *r = NULL;
    pl_status status = pl_recording_parse(text, strlen(text), "table.csv", &r, err);
    const int column = status == PL_OK ? pl_recording_find(r, &name, 1) : -1;
    if (status == PL_OK) {
        assert_true(column >= 0);
        assert_true(pl_recording_count(r) <= 3);
        status = pl_recording_column(r, column, dimension, out, 1, err);
    }
    pl_recording_destroy(r);
    return status;
}

static void test_units_and_layouts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        pl_dimension dimension;
        double value[2];
    } good[] = {
        {"t [ms],tip.x [m]\n0,1\n250,2\n", "t", PL_DIM_TIME, {0, 0.25}},
        {"t [ms],tip.x [m]\n0,1\n250,2\n", "tip.x", PL_DIM_LENGTH, {1000, 2000}},
        {"\xef\xbb\xbft [min];a\r\n1;2\r\n3;4\r\n", "t", PL_DIM_TIME, {60, 180}},
        {"Time (s)\tStress (kPa)\n# a comment\n0\t5\n\n1\t4\n", "stress", PL_DIM_STRESS, {5e-3, 4e-3}},
        {"t  strain [%]\n0  50\n1  100\n", "strain", PL_DIM_NUMBER, {0.5, 1}},
        {"\"t [s]\",\"strain [-]\"\n0,0.5\n1,1\n", "strain", PL_DIM_NUMBER, {0.5, 1}},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
        double out[3];
        pl_error err = {0};
        PL_CHECK_OK(read_column(good[i].text, good[i].name, good[i].dimension, out, &err));
        PL_CHECK_NEAR(out[0], good[i].value[0], 1e-12);
        PL_CHECK_NEAR(out[1], good[i].value[1], 1e-12);
    }
}

static void test_wrong_tables_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } wrong[] = {
        {"t [furlong],a\n0,1\n1,2\n", "table.csv:1: column 1 't'"},
        {"t [kPa],a\n0,1\n1,2\n", "table.csv:1: column 1 't'"},
        {"t,a\n0,1\n0x2D,2\n", "table.csv:3: column 1 t"},
        {"t,a\n0,1\nnan,2\n", "table.csv:3: column 1 t"},
        {"t,a\n0,1\ninf,2\n", "table.csv:3: column 1 t"},
        {"t,a\n0,1\n,2\n", "table.csv:3: column 1 t"},
        {"t;a\n0;1\n0,5;2\n", "write the decimal sign as a point"},
        {"t,a\n0,1\n1,2,3\n", "table.csv:3: 3 columns"},
        {"t,a\n0,1\n1\n", "table.csv:3: 1 column"},
        {"t,a,t\n0,1,2\n1,2,3\n", "both called 't'"},
        {"0,1\n1,2\n", "names of the columns"},
        {"t,a\n0,1\n", "fewer than two rows"},
        {"", "no rows"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        double out[3];
        pl_error err = {0};
        assert_int_equal(read_column(wrong[i].text, "t", PL_DIM_TIME, out, &err), PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].word)) {
            fail_msg("table %zu: '%s' expected, found '%s'", i, wrong[i].word, err.text);
        }
    }
}

static void test_syringe_columns(void **state)
{
    (void)state;
    static const char good[] = "# a cycle\ntime; P [bar]; dV\n0; 1; 0\n1; 2; 3\n2; 3; 5\n";
    pl_syringe test;
    pl_error err = {0};
    PL_CHECK_OK(pl_syringe_parse(good, strlen(good), "pv.csv", &test, &err));
    assert_int_equal(test.count, 3);
    PL_CHECK_NEAR(test.pressure[2], 0.3, 1e-12);
    PL_CHECK_NEAR(test.pushed[2], 5e3, 1e-9);
    pl_syringe_clear(&test);

    static const struct {
        const char *text, *word;
    } wrong[] = {
        {"P [kPa], dV [mL]\n100, 0\n120, x\n110, 1\n", "pv.csv:3: column 2 dv"},
        {"P [furlong], dV [mL]\n100, 0\n101, 0\n102, 0\n", "pv.csv:1: column 1 'p'"},
        {"P, dV\n100, 0\n101, 0\n102, 0\n", "write 'P [kPa]'"},
        {"point, dV\n100, 0\n101, 0\n102, 0\n", "named P [kPa]"},
        {"P [kPa], dV\n100\n", ":2:"},
        {"P [kPa], dV\n100, 1\n101, 2\n", "at least 3"},
        {"P [kPa], dV\n100, inf\n101, 0\n102, 0\n", ":2:"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(pl_syringe_parse(wrong[i].text, strlen(wrong[i].text), "pv.csv", &test, &err),
                         PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].word)) {
            fail_msg("table %zu: '%s' expected, found '%s'", i, wrong[i].word, err.text);
        }
        assert_null(test.pressure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_and_layouts),
        cmocka_unit_test(test_wrong_tables_are_refused),
        cmocka_unit_test(test_syringe_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
