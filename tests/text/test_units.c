// Numbers with units: every unit lands in mm, N, MPa, t, s, K, V, rad; what does not fit is refused with the
// reason.
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "check.h"
#include "pliant/result.h"
#include "text/text_scan.h"

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pl_dimension dimension;
        double value;
    } rows[] = {
        {"12", PL_DIM_LENGTH, 12},
        {"12 cm", PL_DIM_LENGTH, 120},
        {" 1.5m ", PL_DIM_LENGTH, 1500},
        {"250 um", PL_DIM_LENGTH, 0.25},
        {"2 in", PL_DIM_LENGTH, 50.8},
        {"-3e-2 mm", PL_DIM_LENGTH, -0.03},
        {"30 kPa", PL_DIM_PRESSURE, 0.03},
        {"2.5bar", PL_DIM_PRESSURE, 0.25},
        {"100 mbar", PL_DIM_PRESSURE, 0.01},
        {"1 psi", PL_DIM_PRESSURE, 6.894757293168361e-3},
        {"101325 Pa", PL_DIM_PRESSURE, 0.101325},
        {"0", PL_DIM_PRESSURE, 0},
        {"0.3 MPa", PL_DIM_STRESS, 0.3},
        {"2 GPa", PL_DIM_STRESS, 2000},
        {"0.3", PL_DIM_STRESS, 0.3},
        {"0.3 N/mm^2", PL_DIM_STRESS, 0.3},
        {"1070 kg/m^3", PL_DIM_DENSITY, 1.07e-9},
        {"1.07 g/cm^3", PL_DIM_DENSITY, 1.07e-9},
        {"1.07e-9 t/mm^3", PL_DIM_DENSITY, 1.07e-9},
        {"9.81 m/s^2", PL_DIM_ACCELERATION, 9810},
        {"9.81 m s^-2", PL_DIM_ACCELERATION, 9810},
        {"5 mL", PL_DIM_VOLUME, 5000},
        {"1 L", PL_DIM_VOLUME, 1e6},
        {"7 uL", PL_DIM_VOLUME, 7},
        {"2 cm^3", PL_DIM_VOLUME, 2000},
        {"3 cm^2", PL_DIM_AREA, 300},
        {"90 deg", PL_DIM_ANGLE, 1.57079632679489662},
        {"0.5 rad", PL_DIM_ANGLE, 0.5},
        {"2 kN", PL_DIM_FORCE, 2000},
        {"100 gf", PL_DIM_FORCE, 0.980665},
        {"1 kgf", PL_DIM_FORCE, 9.80665},
        {"3 N m", PL_DIM_MOMENT, 3000},
        {"3 N*mm", PL_DIM_MOMENT, 3},
        {"6 kV", PL_DIM_VOLTAGE, 6000},
        {"2 min", PL_DIM_TIME, 120},
        {"20 ms", PL_DIM_TIME, 0.02},
        {"20 degC", PL_DIM_TEMPERATURE, 293.15},
        {"300 K", PL_DIM_TEMPERATURE, 300},
        {"45 %", PL_DIM_NUMBER, 0.45},
        {"1.5", PL_DIM_NUMBER, 1.5},
        {".5", PL_DIM_NUMBER, 0.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        pl_error err;
        double value = NAN;
        print_message("%s\n", rows[i].text);
        PL_CHECK_OK(pl_quantity_parse(rows[i].text, rows[i].dimension, &value, &err));
        PL_CHECK_NEAR(value, rows[i].value, 1e-12 * fabs(rows[i].value));
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pl_dimension dimension;
        const char *words;
    } rows[] = {
        {"5 bar", PL_DIM_LENGTH, "'5 bar' is a pressure, expected a length (mm, cm, m)"},
        {"25", PL_DIM_PRESSURE, "25 could be Pa, kPa or MPa: write 25 kPa"},
        {"1070", PL_DIM_DENSITY, "kg/m^3"},
        {"9.81", PL_DIM_ACCELERATION, "m/s^2"},
        {"5 mpa", PL_DIM_STRESS, "did you mean 'MPa'"},
        {"5 furlong", PL_DIM_LENGTH, "unknown unit 'furlong'"},
        {"nan", PL_DIM_LENGTH, "expected a number"},
        {"inf", PL_DIM_LENGTH, "expected a number"},
        {"-inf mm", PL_DIM_LENGTH, "expected a number"},
        {"0x10", PL_DIM_LENGTH, "unknown unit"},
        {"1e999", PL_DIM_LENGTH, "too large"},
        {"1e308 m", PL_DIM_LENGTH, "too large"},
        {"1,5 mm", PL_DIM_LENGTH, "a point"},
        {"", PL_DIM_LENGTH, "expected a number"},
        {"mm", PL_DIM_LENGTH, "expected a number"},
        {"5 mm^", PL_DIM_LENGTH, "power"},
        {"5 mm2", PL_DIM_AREA, "'^'"},
        {"5 mm *", PL_DIM_LENGTH, "ends in '*'"},
        {"5 /", PL_DIM_LENGTH, "expected a number with a unit"},
        {"5 kg s", PL_DIM_LENGTH, "does not fit"},
        {"5 mm mm mm mm mm mm mm mm mm", PL_DIM_LENGTH, "too long"},
        {"3 mm", PL_DIM_NUMBER, "expected a plain number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        pl_error err = {0};
        double value = 7;
        const pl_status status = pl_quantity_parse(rows[i].text, rows[i].dimension, &value, &err);
        if (status != PL_BAD_INPUT || !strstr(err.text, rows[i].words)) {
            print_error("'%s': status %d, '%s', wanted '%s'\n", rows[i].text, (int)status, err.text,
                        rows[i].words);
            fail();
        }
        PL_CHECK_NEAR(value, 7, 0); // left alone
    }

    pl_error err;
    assert_int_equal(pl_quantity_parse(NULL, PL_DIM_LENGTH, NULL, &err), PL_BAD_INPUT);
}

// A program may have set a locale with a decimal comma: numbers are read and written with a point all the
// same.
static void test_locale(void **state)
{
    (void)state;
    char folder[] = "/tmp/pliant-locale-XXXXXX", command[200];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>%s/log", folder, folder);
    const bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    if (!made || !setlocale(LC_ALL, "de_DE.UTF-8") || strcmp(localeconv()->decimal_point, ",") != 0) {
        print_message("skipped: no locale with a decimal comma can be made here\n");
    } else {
        pl_error err = {0};
        double value = 0;
        char *end, text[40];
        pl_text written = {0};
        const char *at = "3.75 4", *stop = at + 6;
        PL_CHECK_OK(pl_quantity_parse("2.5 cm", PL_DIM_LENGTH, &value, &err));
        PL_CHECK_NEAR(value, 25, 0);
        PL_CHECK_NEAR(pl_real_read("1.25e1 x", &end), 12.5, 0);
        assert_string_equal(end, " x");
        assert_true(pl_scan_real(&at, stop, &value));
        PL_CHECK_NEAR(value, 3.75, 0);
        pl_text_add(&written, "%.3f;%g", 0.5, 1e-7);
        assert_string_equal(written.data, "0.500;1e-07");
        pl_format(text, sizeof text, "%g", 6.5);
        assert_string_equal(text, "6.5");
        snprintf(text, sizeof text, "%g", 6.5);
        assert_string_equal(text, "6,5"); // the program keeps its locale
        pl_text_clear(&written);
    }

    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_locale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
