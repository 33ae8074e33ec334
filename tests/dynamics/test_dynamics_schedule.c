// Commands over time and the response of the hardware, against closed forms.
#include <string.h>
#include "check.h"
#include "dynamics/dynamics.h"

static pl_schedule *schedule_new(double rate, double fill, double vent, double first)
{
    const pl_command_info info = {.name = "air", .rate = rate, .fill = fill, .vent = vent, .rest = 0};
    pl_schedule *s = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_schedule_create(&info, 1, 0, &first, &s, &err));
    return s;
}

// A step fills with one time and vents with another: y = y1 + (y0 - y1) exp(-t / tau).
static void test_fill_and_vent(void **state)
{
    (void)state;
    pl_error err = {0};
    const double fill = 0.03, vent = 0.11;
    pl_schedule *s = schedule_new(0, fill, vent, 0);
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0.1, 0, 2, &err));
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0.25, 0, 0.5, &err));
    PL_CHECK_OK(pl_schedule_prepare(s, 1, &err));
    const double top = 2 * (1 - exp(-0.15 / fill));
    double worst = 0;
    for (int k = 0; k <= 1000; ++k) {
        const double t = 1e-3 * k, y = t <= 0.1    ? 0
                                       : t <= 0.25 ? 2 * (1 - exp(-(t - 0.1) / fill))
                                                   : 0.5 + (top - 0.5) * exp(-(t - 0.25) / vent);
        worst = fmax(worst, fabs(pl_schedule_value(s, 0, t) - y));
    }

    print_message("filled and vented: %.1e off\n", worst);
    PL_CHECK_BELOW(worst, 1e-8);
    const pl_signal signal = pl_schedule_signal(s);
    PL_CHECK_NEAR(signal.corner(signal.user, 0.0), 0.1, 1e-12);
    PL_CHECK_NEAR(signal.corner(signal.user, 0.15), 0.25, 1e-12);
    pl_schedule_destroy(s);
}

// The response to a ramp lags behind by tau; that to a sine has the gain and phase of a first-order lag.
static void test_lag(void **state)
{
    (void)state;
    pl_error err = {0};
    const double tau = 0.05, f = 3, w = 2 * 3.14159265358979323846 * f;
    pl_schedule *s = schedule_new(0, tau, tau, 0);
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0, 10, 10, &err));
    PL_CHECK_OK(pl_schedule_prepare(s, 2, &err));
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 1.5), 1.5 - tau, 1e-9);
    pl_schedule_destroy(s);
    s = schedule_new(0, tau, tau, 1);
    PL_CHECK_OK(pl_schedule_sine(s, 0, 0, 1, 0.5, f, &err));
    PL_CHECK_OK(pl_schedule_prepare(s, 3, &err));
    double worst = 0;
    for (double t = 2; t < 3; t += 1e-3) {
        const double y = 1 + 0.5 / hypot(1, w * tau) * sin(w * t - atan(w * tau));
        worst = fmax(worst, fabs(pl_schedule_value(s, 0, t) - y));
    }

    print_message("sine through a lag: %.1e off\n", worst);
    PL_CHECK_BELOW(worst, 1e-4);
    pl_schedule_destroy(s);
}

// A motor with a largest speed: a straight line until the command is met, with a corner there.
static void test_rate(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_schedule *s = schedule_new(4, 0, 0, 1);
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0.2, 0, 3, &err));
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 1.5, 0.1, 2.9, &err)); // slow enough to be followed
    PL_CHECK_OK(pl_schedule_prepare(s, 3, &err));
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.1), 1, 1e-12);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.45), 2, 1e-9);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.7), 3, 1e-9);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 1.2), 3, 1e-9);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 1.55), 2.95, 1e-9);
    const pl_signal signal = pl_schedule_signal(s);
    PL_CHECK_NEAR(signal.corner(signal.user, 0.3), 0.7, 1e-9);
    pl_schedule_destroy(s);
}

// A table: linear between rows, a jump at two rows of one time, idle where there is no number.
static void test_table(void **state)
{
    (void)state;
    pl_error err = {0};
    const double time[5] = {0, 1, 1, 2, 3}, value[5] = {0, 2, 5, 5, NAN};
    pl_schedule *s = schedule_new(0, 0, 0, 0);
    PL_CHECK_OK(pl_schedule_table(s, 0, time, value, 1, 5, &err));
    PL_CHECK_OK(pl_schedule_prepare(s, 4, &err));
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.5), 1, 1e-12);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 1 - 1e-6), 2, 1e-5);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 1), 5, 1e-12);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 2.5), 5, 1e-12);
    assert_true(isnan(pl_schedule_value(s, 0, 3.5)));
    const pl_signal signal = pl_schedule_signal(s);
    PL_CHECK_NEAR(signal.corner(signal.user, 0.2), 1, 1e-12);
    PL_CHECK_NEAR(signal.corner(signal.user, 1.2), 2, 1e-12);
    const double back[2] = {1, 0};
    assert_int_equal(pl_schedule_table(s, 0, back, value, 1, 2, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "go back"));
    assert_int_equal(pl_schedule_sine(s, 0, 5, 0, 1, 0, &err), PL_BAD_INPUT);
    pl_schedule_destroy(s);
}

// A limit of rates that what is asked never reaches changes nothing, also where it goes down to zero by many
// ramps; and without a time of venting a pressure falls at once.
static void test_slow_ramps(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_schedule *s = NULL;
    const double zero = 0;
    pl_command_info info = {.name = "cable", .rate = 40};
    PL_CHECK_OK(pl_schedule_create(&info, 1, 0, &zero, &s, &err));
    for (int k = 1; k <= 20; ++k) {
        PL_CHECK_OK(pl_schedule_ramp(s, 0, 0.01 * (k - 1), 0.01,
                                     k <= 8 ? 0.05 * k : fmax(0, 0.4 - 0.1 * (k - 8)), &err));
    }

    PL_CHECK_OK(pl_schedule_prepare(s, 0.2, &err));
    for (double t = 0; t < 0.2; t += 0.0013) {
        PL_CHECK_NEAR(pl_schedule_value(s, 0, t), pl_schedule_asked(s, 0, t), 1e-7);
    }
    pl_schedule_destroy(s);

    info = (pl_command_info){.name = "air", .fill = 0.05};
    PL_CHECK_OK(pl_schedule_create(&info, 1, 0, &zero, &s, &err));
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0, 0, 1, &err));
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0.1, 0, 0.2, &err));
    PL_CHECK_OK(pl_schedule_prepare(s, 0.2, &err));
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.05), 1 - exp(-1), 1e-6);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.1 + 1e-9), 0.2, 1e-6);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.15), 0.2, 1e-6);
    pl_schedule_destroy(s);
}

// An air line. Filling from ambient pressure P0 to P1 absolute is choked, P = P0 + k P1 t, until P / P1 is
// the critical ratio b; then P / P1 = b + (1 - b) sin(k (t - t*) / (1 - b)). Venting is choked too at first,
// P = P1 exp(-k t).
static void test_air_line(void **state)
{
    (void)state;
    pl_error err = {0};
    const pl_air_line line = {.conductance = 2e6, .critical = 0.3, .volume = 5e4, .ambient = 0.1};
    const double k = line.ambient * line.conductance / line.volume, b = line.critical, P1 = 0.5, P0 = 0.1;
    pl_schedule *s = schedule_new(0, 0, 0, 0);
    PL_CHECK_OK(pl_schedule_line(s, 0, &line, &err));
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0, 0, P1 - P0, &err));
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 1, 0, 0, &err));
    PL_CHECK_OK(pl_schedule_prepare(s, 3, &err));

    const double turn = (b * P1 - P0) / (k * P1);
    double worst = 0;
    for (int i = 1; i < 40; ++i) {
        const double t = 0.01 * i, angle = k * (t - turn) / (1 - b);
        const double P = t < turn ? P0 + k * P1 * t : P1 * (b + (1 - b) * sin(fmin(angle, 0.5 * acos(-1))));
        worst = fmax(worst, fabs(P0 + pl_schedule_value(s, 0, t) - P));
    }
    print_message("k %.2f 1/s, choked until %.3f s: filling %.1e MPa off\n", k, turn, worst);
    PL_CHECK_BELOW(worst, 1e-3 * P1);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.99), P1 - P0, 1e-4);

    const double choked = log(P1 * b / P0) / k;
    worst = 0;
    for (int i = 0; i < 10; ++i) {
        const double t = choked * i / 10;
        worst = fmax(worst, fabs(P0 + pl_schedule_value(s, 0, 1 + t) - P1 * exp(-k * t)));
    }
    print_message("venting, choked until %.3f s: %.1e MPa off\n", choked, worst);
    PL_CHECK_BELOW(worst, 1e-5);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 2.9), 0, 1e-4);
    pl_schedule_destroy(s);

    // any critical ratio below 1: filling is choked to the end, P = P0 + k P1 t
    const pl_air_line choking = {.conductance = 2e6, .critical = 0.9999, .volume = 5e4, .ambient = 0.1};
    s = schedule_new(0, 0, 0, 0);
    PL_CHECK_OK(pl_schedule_line(s, 0, &choking, &err));
    PL_CHECK_OK(pl_schedule_ramp(s, 0, 0, 0, P1 - P0, &err));
    PL_CHECK_OK(pl_schedule_prepare(s, 1, &err));
    const double full = (P1 - P0) / (k * P1);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 0.5 * full), 0.5 * (P1 - P0), 1e-3 * P1);
    PL_CHECK_NEAR(pl_schedule_value(s, 0, 1), P1 - P0, 1e-4);
    pl_schedule_destroy(s);

    const pl_air_line wrong = {.conductance = 1, .volume = 0, .ambient = 0.1};
    s = schedule_new(0, 0, 0, 0);
    assert_int_equal(pl_schedule_line(s, 0, &wrong, &err), PL_BAD_INPUT);
    pl_schedule_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fill_and_vent), cmocka_unit_test(test_lag),
                                       cmocka_unit_test(test_rate),          cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_slow_ramps),    cmocka_unit_test(test_air_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
