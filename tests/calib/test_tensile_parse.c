// Reading tensile tests: both layouts, units, decimal commas; wrong files are refused with the line; no text
// crashes.
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "base/base.h"
#include "material/material.h"
#include "pliant/calib.h"

static pl_status parse(const char *text, pl_tensile *test, pl_error *err)
{
    return pl_tensile_parse(text, strlen(text), "test.csv", test, err);
}

static const char database[] =
    "PARAMETER;INFO;URL;;\n"
    "Standard;ASTM D412;;;\n"
    "Strain Measurement;Global;;;\n"
    "Lab;A lab;;;\n"
    "Material supplier;A maker;https://example.org;;\n"
    "Material;Rubber 20;;;\n"
    ";;;;\n"
    "Time (s);True Strain;True Stress (MPa);Engineering Strain;Engineering Stress (MPa)\n"
    "0.1;0.0953;0.011;0.1;0.01\n"
    "0.2;0.1823;0.0264;0.2;0.022\n"
    "0.3;0.2624;0.0455;0.3;3.5e-2\n";

// The database layout gives engineering values, a title and a source.
static void test_database_layout(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_tensile test;
    PL_CHECK_OK(parse(database, &test, &err));
    assert_int_equal(test.count, 3);
    assert_string_equal(test.title, "Rubber 20");
    assert_string_equal(test.source, "A maker, ASTM D412, A lab");
    PL_CHECK_NEAR(test.strain[2], 0.3, 1e-16);
    PL_CHECK_NEAR(test.stress[2], 0.035, 1e-17);
    pl_tensile_clear(&test);
    assert_null(test.strain);
    pl_tensile_clear(NULL);
}

// The same test written in different ways is the same test.
static void test_plain_layouts_agree(void **state)
{
    (void)state;
    const char *same[] = {
        "0.1,0.01\n0.2,0.022\n0.3,0.035\n",
        "\xef\xbb\xbf"
        "0.1,0.01\r\n\r\n# a comment\r\n0.2,+0.022\r\n0.3,3.5e-2",
        "0,1;0,01\n0,2;0,022\n0,3;0,035\n",
        "strain\tstress\n0.1\t0.01\n0.2\t0.022\n0.3\t0.035\n",
        "Strain (%),Stress [kPa]\n10,10\n20,22\n30,35\n",
        "Stress (Pa);time;Strain (mm/mm)\n10000;x;0.1\n22000;y;0.2\n35000;z;.3\n",
        "nominal strain,nominal stress (N/mm^2)\n0.1,0.01\n0.2,0.022\n0.2985,0.0350\n0.2985,0.035\n0.3,0.035",
        "True Strain,True Stress (MPa)\n0.09531017980432493,0.011\n0.18232155679395459,0.0264\n"
        "0.26236426446749106,0.0455\n",
        "0.1,0.01\n0.201,0.022\n0.2,0.022\n0.3,0.035\n",
    };
    for (int i = 0; i < PL_COUNT(same); ++i) {
        pl_error err = {0};
        pl_tensile test;
        PL_CHECK_OK(parse(same[i], &test, &err));
        PL_CHECK_NEAR(test.strain[0], 0.1, 1e-15);
        PL_CHECK_NEAR(test.stress[0], 0.01, 1e-15);
        PL_CHECK_NEAR(test.strain[1], 0.2, 1e-15);
        PL_CHECK_NEAR(test.stress[1], 0.022, 1e-15);
        PL_CHECK_NEAR(test.strain[test.count - 1], 0.3, 1e-15);
        PL_CHECK_NEAR(test.stress[test.count - 1], 0.035, 1e-15);
        for (int k = 1; k < test.count; ++k) {
            assert_true(test.strain[k] >= test.strain[k - 1]);
        }
        assert_string_equal(test.title, "test.csv");
        pl_tensile_clear(&test);
    }
}

// Numbers are read to the last place, whatever the number of digits.
static void test_numbers_are_exact(void **state)
{
    (void)state;
    const char *numbers[] = {
        "0.043636667",         "1e-3",    "0.0029600000000000000000001", "12.5E+0",
        "0.10000000000000001", "-0.0013", "2.2204460492503131e-16",      "29.999999999999996"};
    for (int i = 0; i < PL_COUNT(numbers); ++i) {
        char text[200];
        snprintf(text, sizeof text, "0,%s\n0,1e6\n0.5,-1\n", numbers[i]);
        pl_error err = {0};
        pl_tensile test;
        PL_CHECK_OK(parse(text, &test, &err));
        const double want = strtod(numbers[i], NULL);
        const double got = test.stress[want < 1e6 ? 0 : 1];
        PL_CHECK_NEAR(got, want, 2.3e-16 * fabs(want));
        pl_tensile_clear(&test);
    }
}

// Each wrong file is refused with its name, the line and what was expected; nothing is left behind.
static void test_wrong_files_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "no data"},
        {"\n\n  \n# only a comment\n", "no data"},
        {";;;\n;;\n", "no data"},
        {"0.1,0.01\n0.2,0.02\n", "2 rows of numbers, expected at least 3"},
        {"0.1,0.01\n0.2,abc\n0.3,0.03\n", "test.csv:2: column 2 contains 'abc', expected a number"},
        {"0.1,0.01\n0.2\n0.3,0.03\n", "test.csv:2: column 2 contains ''"},
        {"0.1,0.01\n0.2,0.02,5\n0.3,0.03\n", "test.csv:2: 3 columns, expected 2"},
        {"0.1,0.01\n0.2,nan\n0.3,0.03\n", "contains 'nan'"},
        {"0.1,0.01\n0.2,inf\n0.3,0.03\n", "contains 'inf'"},
        {"0.1,0.01\n0.2,0x10\n0.3,0.03\n", "contains '0x10'"},
        {"0.1,0.01\n0.2,1e\n0.3,0.03\n", "contains '1e'"},
        {"0.1,0.01\n0.2,1e999\n0.3,0.03\n", "contains '1e999'"},
        {"0.1,0.01\n0.2,1e7\n0.3,0.03\n", "stress is 1e+07 MPa"},
        {"0.1,0.01\n0.2,.\n0.3,0.03\n", "contains '.'"},
        {"0.1,0.01\n0.3,0.03\n0.2,0.02\n0.1,0.01\n", "test.csv:3: strain decreases from 0.3 to 0.2"},
        {"-1,0.01\n0.2,0.02\n0.3,0.03\n", "test.csv:1: strain is -1"},
        {"10,0.01\n20,0.02\n50,0.03\n", "test.csv:3: strain is 50"},
        {"0.1,0.01,7\n0.2,0.02,7\n0.3,0.03,7\n", "3 columns without names"},
        {"time,stress\n1,2\n", "no column is named strain"},
        {"strain,force\n1,2\n", "no column is named stress"},
        {"hello world\n", "no column is named strain"},
        {"strain,strain,stress\n1,1,2\n", "columns 1 and 2 both contain strain"},
        {"strain (inch),stress\n0.1,2\n", "test.csv:1: column 1 has the unit 'inch'"},
        {"strain,stress (bar)\n0.1,2\n", "test.csv:1: column 2 has the unit 'bar'"},
        {"PARAMETER;INFO;URL\nMaterial;X\n", "ends before the line with the names of the columns"},
        {"PARAMETER;INFO;URL\nTime (s);Engineering Strain\n1;2\n", "test.csv:2: no column is named stress"},
        {"PARAMETER;INFO;URL\nStrain;Stress\n0.1;0.1\nx;0.2\n", "test.csv:4: column 1 contains 'x'"},
        {",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,1\n",
         "more than 64 columns"},
    };
    for (int i = 0; i < PL_COUNT(wrong); ++i) {
        pl_error err = {0};
        pl_tensile test;
        assert_int_equal(parse(wrong[i].text, &test, &err), PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].says) || !strstr(err.text, "test.csv")) {
            print_error("case %d: '%s' does not say '%s'\n", i, err.text, wrong[i].says);
            fail();
        }
        assert_null(test.strain);
        assert_null(test.stress);
        assert_int_equal(parse(wrong[i].text, &test, NULL), PL_BAD_INPUT);
    }

    // a zero byte is no number either
    pl_tensile test;
    pl_error err = {0};
    assert_int_equal(pl_tensile_parse("0.1,0.1\n0.2,\0\n0.3,1\n", 20, "test.csv", &test, &err), PL_BAD_INPUT);
}

// Whatever bytes come, the parser answers; what it accepts keeps its promises, and is then fitted or refused.
static void test_mutations_do_not_crash(void **state)
{
    (void)state;
    const char *seeds[] = {database, "Strain (%),Stress [kPa]\n10,10\n20,22\n30,35\n",
                           "0,1;0,01\n0,2;0,022\n0,3;0,035\n"};
    const char bytes[] = "0123456789.,;-+eE\n\r\t #()[]%aS\xff";
    pl_random random;
    pl_random_seed(&random, 7);
    int accepted = 0;
    for (int round = 0; round < 6000; ++round) {
        char text[1000];
        size_t length = strlen(seeds[round % 3]);
        memcpy(text, seeds[round % 3], length);
        for (uint64_t k = 1 + pl_random_next(&random) % 6; k > 0 && length > 1; --k) {
            const size_t at = pl_random_next(&random) % length;
            switch (pl_random_next(&random) % 4) {
            case 0:
                text[at] = bytes[pl_random_next(&random) % sizeof bytes];
                break;
            case 1:
                memmove(text + at, text + at + 1, --length - at);
                break;
            case 2:
                length = at + 1;
                break;
            default:
                if (length + 1 < sizeof text) {
                    memmove(text + at + 1, text + at, length++ - at);
                    text[at] = bytes[pl_random_next(&random) % sizeof bytes];
                }
            }
        }
        // an exact heap copy lets the address sanitizer see a read past the end
        char *exact = pl_alloc(length);
        assert_non_null(exact);
        memcpy(exact, text, length);
        pl_tensile test;
        pl_error err = {0};
        if (pl_tensile_parse(exact, length, "mutant", &test, &err) == PL_OK) {
            ++accepted;
            assert_true(test.count >= 3);
            for (int k = 0; k < test.count; ++k) {
                assert_true(test.strain[k] > -1 && fabs(test.stress[k]) <= 1e6);
            }
            // the laws that need a search cost a hundred times as much: every fiftieth test
            const int models = accepted % 50 == 0 ? PL_MATERIAL_MODEL_COUNT : PL_GENT;
            for (int m = 0; m < models; ++m) {
                pl_tensile_fit fit;
                if (pl_tensile_fit_model(&test, (pl_material_model)m, 0, &fit, &err) == PL_OK) {
                    assert_true(isfinite(fit.error));
                    assert_int_equal(pl_material_check(&fit.material, "mutant", NULL), PL_OK);
                }
            }
        } else {
            assert_true(strlen(err.text) > 0);
        }
        pl_tensile_clear(&test);
        pl_free(exact);
    }

    print_message("6000 mutants, %d read as tests\n", accepted);
    assert_true(accepted > 100 && accepted < 5900);
}

static int allowed;
static void *failing_realloc(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return allowed-- > 0 ? realloc(block, bytes) : NULL;
}

// With the n-th allocation failing, for every n, the answer is "no memory" and nothing leaks.
static void test_out_of_memory(void **state)
{
    (void)state;
    pl_status status = PL_NO_MEMORY;
    int n = 0;
    for (; status == PL_NO_MEMORY && n < 100; ++n) {
        pl_tensile test;
        allowed = n;
        pl_memory_set(failing_realloc, NULL);
        status = parse(database, &test, NULL);
        pl_tensile_clear(&test);
        pl_memory_set(NULL, NULL);
    }

    assert_int_equal(status, PL_OK);
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_database_layout),        cmocka_unit_test(test_plain_layouts_agree),
        cmocka_unit_test(test_numbers_are_exact),      cmocka_unit_test(test_wrong_files_are_refused),
        cmocka_unit_test(test_mutations_do_not_crash), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
