// pliant control check: how wrong the Jacobian of the PI loop may be, by four routes.
#include <math.h>
#include <string.h>
#include "cli.h"
#include "cli_lmi.h"

static const cli_option options[] = {
    {"kp", 0, "GAIN", "proportional gain per tick (default: as in the robot file, else 0.14)", NULL},
    {"ki", 0, "GAIN", "integral gain per tick (default: as in the robot file, else 0.0003)", NULL},
    {"samples", 0, "N", "directions of the error to try (default 10000)", NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    {0},
};

static int control_gains(const cli_args *args, double *kp, double *ki)
{
    const pl_controller_options usual = pl_controller_options_default();
    *kp = usual.kp;
    *ki = usual.ki;
    if (args->plain_count > 1) {
        cli_model m = {0};
        pl_control_setup setup = {0};
        pl_error err = {0};
        int status = cli_model_open(args, args->plain[1], &m);
        if (!status && pl_control_load(m.path, m.model, &setup, NULL, &err) != PL_OK) {
            status = cli_fail(args, &err);
        }
        *kp = status ? *kp : setup.controller.kp;
        *ki = status ? *ki : setup.controller.ki;
        pl_control_clear(&setup);
        cli_model_close(&m);
        if (status) {
            return status;
        }
    }
    return cli_number(args, "kp", PL_DIM_NUMBER, 0, 1e6, kp) &&
                   cli_number(args, "ki", PL_DIM_NUMBER, 0, 1e6, ki)
               ? CLI_DONE
               : CLI_WRONG;
}

static int control_check(const cli_args *args)
{
    double kp, ki;
    int samples = 10000, status = control_gains(args, &kp, &ki);
    if (status || !cli_whole(args, "samples", 0, 100000000, &samples)) {
        return status ? status : CLI_WRONG;
    }
    pl_margin m;
    pl_error err = {0};
    if (pl_margin_compute(kp, ki, samples, 1, &m, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    double lmi = NAN, P[3] = {NAN, NAN, NAN}, largest_M = NAN, smallest_P = NAN;
    const char *lmi_why =
        m.stable && ki > 0 ? cli_lmi_margin(kp, ki, &lmi, P) : "the loop has no integral or is unstable";
    if (!lmi_why) {
        // the solver stops at the edge of the inequality: verified a little below
        pl_margin_verify(kp, ki, lmi * (1 - 1e-3), P, &largest_M, &smallest_P);
    }
    cli_say(args, "PI loop with kp %g, ki %g per tick: %s\n\n", kp, ki,
            m.stable ? "stable" : "unstable even with an exact Jacobian");
    if (m.stable) {
        cli_table table = {0};
        cli_row(&table, "largest relative error of the Jacobian\tby");
        cli_row(&table, "%.6f\tthe H-infinity norm, %.6f at %.4g rad per tick", m.gamma, m.norm, m.frequency);
        cli_row(&table, "%.6f\t%d sampled directions: the first unstable loop", m.sampled, samples);
        cli_row(&table, "%.6f\ta Lyapunov matrix, its inequality checked by eigenvalues", m.proven);
        if (!lmi_why) {
            cli_row(&table, "%.6f\tlinear matrix inequality (CSDP); checked 1e-3 below: M < %.1e, P > %.1e",
                    lmi, largest_M, smallest_P);
        }
        cli_table_print(args, &table);
        if (lmi_why) {
            cli_say(args, "  no linear matrix inequality: %s\n", lmi_why);
        }
    }
    if (cli_value(args, "json")) {
        json_t *root = cli_json_head(0, NULL);
        json_object_set_new(root, "kp", cli_json_number(kp));
        json_object_set_new(root, "ki", cli_json_number(ki));
        json_object_set_new(root, "stable", json_boolean(m.stable));
        json_object_set_new(root, "gamma", cli_json_number(m.gamma));
        json_object_set_new(root, "norm", cli_json_number(m.norm));
        json_object_set_new(root, "sampled", cli_json_number(m.sampled));
        json_object_set_new(root, "proven", cli_json_number(m.proven));
        json_object_set_new(root, "lmi", cli_json_number(lmi));
        status = cli_json_write(args, root);
    }
    return status ? status : m.stable ? CLI_DONE : CLI_BADLY;
}

static int control_run(cli_args *args)
{
    if (strcmp(args->plain[0], "check") != 0) {
        cli_error(args, "'%s': expected check", args->plain[0]);
        return CLI_WRONG;
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
        "sampling, from a Lyapunov matrix, and as a linear matrix inequality with CSDP.",
    .examples = "  pliant control check\n  pliant control check trunk --kp 0.3\n",
    .option = options,
    .least = 1,
    .most = 2,
    .run = control_run,
    .stopping = "stopping",
};
