// pliant control check: how wrong the Jacobian of the PI loop may be, by four routes.
#include <math.h>
#include <string.h>
#include "cli.h"
#include "cli_lmi.h"

static const cli_option options[] = {
    {"kp", 0, "GAIN", "proportional gain per tick (default: as in the robot file, else 0.14)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 1e6)},
    {"ki", 0, "GAIN", "integral gain per tick (default: as in the robot file, else 0.0003)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 1e6)},
    {"delay", 0, "TIME", "of the actuators (default: as in the robot file, else 0)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 0, 1e6)},
    {"lag", 0, "TIME", "time constant of the actuators (default: as in the robot file, else 0)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 0, 1e6)},
    {"period", 0, "TIME", "between ticks (default: as in the robot file, else 0.1 s)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 1e-6, 1e6)},
    {"directions", 0, "N", "directions of the error to try (default 10000)", NULL, CLI_WHOLE(0, 100000000)},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    {0},
};

// The loop that is checked.
typedef struct loop_numbers {
    double kp, ki, delay, lag, period; // s; gains per tick
} loop_numbers;

// As in the robot file, then as in the options. `track` and `impedance` are proportional.
static int control_numbers(const cli_args *args, loop_numbers *n)
{
    const pl_controller_options usual = pl_controller_options_default();
    *n = (loop_numbers){.kp = usual.kp, .ki = usual.ki, .period = usual.period};
    if (args->plain_count > 1) {
        cli_model m = {0};
        pl_control_setup setup = {0};
        pl_error err = {0};
        int status = cli_model_open(args, args->plain[1], &m);
        if (!status && pl_control_from_document(m.document, m.model, &setup, NULL, &err) != PL_OK) {
            status = cli_fail(args, &err);
        }
        if (!status) {
            const pl_controller_options *c = &setup.controller;
            const bool pi = c->kind == PL_CONTROL_PI || c->kind == PL_CONTROL_OPEN;
            *n = (loop_numbers){.kp = pi ? c->kp : c->gain,
                                .ki = pi ? c->ki : 0,
                                .delay = setup.delay,
                                .lag = setup.lag,
                                .period = c->period};
        }

        pl_control_clear(&setup);
        cli_model_close(&m);
        if (status) {
            return status;
        }
    }

    // options win over the file
    return cli_number(args, "kp", &n->kp) && cli_number(args, "ki", &n->ki) &&
                   cli_number(args, "delay", &n->delay) && cli_number(args, "lag", &n->lag) &&
                   cli_number(args, "period", &n->period)
               ? CLI_DONE
               : CLI_EXIT_USAGE;
}

// With the actuators as they are: delay and lag.
static void control_print_response(const cli_args *args, const loop_numbers *n, const pl_response *r)
{
    if (!r->stable) {
        cli_say(args, "with a delay of %g s and a lag of %g s: unstable\n", n->delay, n->lag);
        return;
    }

    char settled[40] = "does not settle";
    if (r->settled >= 0) {
        snprintf(settled, sizeof settled, "settles in %d ticks", r->settled);
    }
    cli_say(args, "with a delay of %g s and a lag of %g s: %s\n\n", n->delay, n->lag,
            r->damped ? "stable" : "stable, but poorly damped");
    cli_say(
        args,
        "  a step overshoots by %.0f %% and %s; disturbances are amplified up to %.2f times (at most %g)\n",
        100 * r->overshoot, settled, r->sensitivity, PL_RESPONSE_SENSITIVITY);
    cli_say(args, "  largest relative error of the Jacobian: %.6f\n\n", r->gamma);
}

static json_t *control_json(const loop_numbers *n, const pl_margin *m, const pl_response *r, double lmi)
{
    json_t *root = cli_json_head(0, NULL);
    json_object_set_new(root, "kp", cli_json_number(n->kp));
    json_object_set_new(root, "ki", cli_json_number(n->ki));
    json_object_set_new(root, "delay", cli_json_number(n->delay));
    json_object_set_new(root, "lag", cli_json_number(n->lag));
    json_object_set_new(root, "period", cli_json_number(n->period));
    json_object_set_new(root, "stable", json_boolean(r->stable));
    json_object_set_new(root, "damped", json_boolean(r->damped));
    json_object_set_new(root, "overshoot", cli_json_number(r->overshoot));
    json_object_set_new(root, "settled", r->settled >= 0 ? json_integer(r->settled) : json_null());
    json_object_set_new(root, "sensitivity", cli_json_number(r->sensitivity));
    json_object_set_new(root, "gamma", cli_json_number(r->gamma));
    json_object_set_new(root, "gamma_immediate", cli_json_number(m->gamma));
    json_object_set_new(root, "norm", cli_json_number(m->norm));
    json_object_set_new(root, "sampled", cli_json_number(m->sampled));
    json_object_set_new(root, "proven", cli_json_number(m->proven));
    json_object_set_new(root, "lmi", cli_json_number(lmi));

    return root;
}

// The bounds of the published loop, whose actuators follow at once.
static void control_print_margin(const cli_args *args, const loop_numbers *n, const pl_margin *m, int samples,
                                 double *lmi)
{
    double P[3] = {NAN, NAN, NAN}, largest_M = NAN, smallest_P = NAN;
    const char *why = n->ki > 0 ? cli_lmi_margin(n->kp, n->ki, lmi, P) : "the loop has no integral";

    if (!why) {
        // the solver stops at the edge of the inequality: verified a little below
        pl_margin_verify(n->kp, n->ki, *lmi * (1 - 1e-3), P, &largest_M, &smallest_P);
    }

    cli_table table = {0};
    cli_row(&table, "largest relative error of the Jacobian\tby");
    cli_row(&table, "%.6f\tthe H-infinity norm, %.6f at %.4g rad per tick", m->gamma, m->norm, m->frequency);
    cli_row(&table, "%.6f\t%d sampled directions: the first unstable loop", m->sampled, samples);
    cli_row(&table, "%.6f\ta Lyapunov matrix, its inequality checked by eigenvalues", m->proven);
    if (!why) {
        cli_row(&table, "%.6f\tlinear matrix inequality (CSDP); checked 1e-3 below: M < %.1e, P > %.1e", *lmi,
                largest_M, smallest_P);
    }

    cli_table_print(args, &table);
    if (why) {
        cli_say(args, "  no linear matrix inequality: %s\n", why);
    }
}

// Exit 0 only for a loop that is stable and well damped.
static int control_check(const cli_args *args)
{
    loop_numbers n;
    int samples = 10000, status = control_numbers(args, &n);

    if (status || !cli_whole(args, "directions", &samples)) {
        return status ? status : CLI_EXIT_USAGE;
    }

    pl_margin m;
    pl_response r;
    pl_error err = {0};

    // ticks
    const int delay = (int)fmin(n.delay / n.period + 0.5, 1e9);
    if (pl_margin_compute(n.kp, n.ki, samples, 1, &m, &err) != PL_OK ||
        pl_response_compute(n.kp, n.ki, delay, n.lag / n.period, &r, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    double lmi = NAN;
    cli_say(args, "PI loop with kp %g, ki %g per tick of %g s, ", n.kp, n.ki, n.period);
    control_print_response(args, &n, &r);
    cli_say(args, "if the actuators followed at once: %s\n",
            m.stable ? "stable" : "unstable even with an exact Jacobian");
    if (m.stable) {
        cli_say(args, "\n");
        control_print_margin(args, &n, &m, samples, &lmi);
    }

    if (cli_value(args, "json")) {
        status = cli_json_write(args, control_json(&n, &m, &r, lmi));
    }

    return status ? status : r.damped ? CLI_DONE : CLI_EXIT_UNSOLVED;
}

static int control_run(cli_args *args)
{
    if (strcmp(args->plain[0], "check") != 0) {
        cli_error(args, "'%s': expected check", args->plain[0]);
        return CLI_EXIT_USAGE;
    }

    const int status = cli_setup(args);
    return status ? status : control_check(args);
}

const cli_verb cli_verb_control = {
    .name = "control",
    .summary = "check: how wrong the Jacobian of a PI loop may be",
    .usage = "check [ROBOT] [options]",
    .about =
        "The loop e' = e - (I + w) u, u = kp e + ki h, h' = h + e (Bieze et al. 2018) is stable for every\n"
        "error |w| of the Jacobian below a bound. It is computed as the inverse of the H-infinity norm, by\n"
        "sampling, from a Lyapunov matrix, and as a linear matrix inequality with CSDP. With the delay and "
        "lag of\n"
        "the actuators (of the robot file, or --delay and --lag) the loop is checked for stability, "
        "overshoot\n"
        "and damping: exit 0 only if it is stable and amplifies no disturbance more than twice.",
    .examples = "  pliant control check\n  pliant control check trunk --kp 0.3\n",
    .option = options,
    .least = 1,
    .most = 2,
    .run = control_run,
    .stopping = "stopping",
};
