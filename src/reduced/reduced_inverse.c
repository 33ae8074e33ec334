// Inverse kinematics by least squares, small and without memory of its own: commands within their ranges that
// bring a marker to a point. With more commands than equations the step is the shortest one, measured in
// parts of the ranges: D^2 J^T (J D^2 J^T + mu)^-1 e, D the ranges.
#include "reduced/reduced_impl.h"
#include "solver/solver.h"

#define REACH_COMMANDS_MAX 32 // on the stack: no memory is allocated
#define REACH_ITERATIONS 60

// One search; commands are in internal units.
typedef struct reach {
    pl_model *model;
    pl_model_info info;
    int marker;
    const double *target;
    double scale[REACH_COMMANDS_MAX]; // range of each command, 1 without a range
    double c[REACH_COMMANDS_MAX];     // present commands
    double e[3], error;               // target - marker
} reach;

// Distance of the marker from the target in mm; the vector goes to e.
static double reach_error(reach *r)
{
    const double *p = pl_model_get_answer(r->model).marker + 3 * r->marker;
    pl_sub3(r->target, p, r->e);
    return pl_norm3(r->e);
}

// The step from J, with commands that would leave their range held at the bound; returns its largest part.
static double reach_step(const reach *r, const double *J, double mu, double *step)
{
    const int C = r->info.command_count;
    bool held[REACH_COMMANDS_MAX] = {false};
    double size = 0;
    double e[3] = {r->e[0], r->e[1], r->e[2]};

    memset(step, 0, (size_t)C * sizeof *step);

    // each round either accepts the step or fixes one more command at its bound
    for (int round = 0; round <= C; ++round) {
        double S[9] = {0}, y[3] = {e[0], e[1], e[2]};
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                for (int c = 0; c < C; ++c) {
                    S[3 * i + j] += held[c] ? 0 : J[i * C + c] * J[j * C + c] * r->scale[c] * r->scale[c];
                }
            }
        }

        // relative damping: the same mu works for all units
        const double trace = S[0] + S[4] + S[8];
        for (int i = 0; i < 3; ++i) {
            S[4 * i] += mu * trace + 1e-300;
        }
        if (!pl_dense_solve(3, S, y, 1)) {
            break;
        }

        // the shortest step, and a command that it would move out of its range
        int worst = -1;
        size = 0;
        for (int c = 0; c < C; ++c) {
            if (held[c]) {
                continue;
            }
            const double d = r->scale[c] * r->scale[c];
            step[c] = d * (J[c] * y[0] + J[C + c] * y[1] + J[2 * C + c] * y[2]);
            const pl_command_info *k = &r->info.command[c];
            const double to = r->c[c] + step[c];
            worst = k->has_range && (to < k->range[0] || to > k->range[1]) ? c : worst;
            size = fmax(size, fabs(step[c]) / r->scale[c]);
        }

        if (worst < 0) {
            break;
        }
        // hold it at the bound and let the others do the rest
        const pl_command_info *k = &r->info.command[worst];
        const double bound = step[worst] > 0 ? k->range[1] : k->range[0];
        step[worst] = bound - r->c[worst];
        held[worst] = true;
        for (int i = 0; i < 3; ++i) {
            e[i] -= J[i * C + worst] * step[worst];
        }
        size = fmax(size, fabs(step[worst]) / r->scale[worst]);
    }

    return size;
}

// One accepted step; false when none makes it better. Levenberg-Marquardt: mu falls after success and grows
// by ten after failure.
static bool reach_improve(reach *r, const double *J, double *mu, pl_error *err, pl_status *status)
{
    const int C = r->info.command_count, slot = PL_SLOT_CALLER;
    *status = pl_model_keep(r->model, slot, err);
    for (int attempt = 0; attempt < 12 && *status == PL_OK; ++attempt) {
        double step[REACH_COMMANDS_MAX], trial[REACH_COMMANDS_MAX];
        // no command moves by more than half of its range at once: J is valid nearby only
        const double size = reach_step(r, J, *mu, step), f = size > 0.5 ? 0.5 / size : 1;
        for (int c = 0; c < C; ++c) {
            trial[c] = r->c[c] + f * step[c];
        }
        pl_solve_report report;
        *status = pl_model_fk(r->model, trial, &report, err);
        if (*status == PL_BAD_INPUT) {
            *status = PL_OK; // a length below 0: too far
        } else if (*status == PL_OK && report.outcome == PL_SOLVED) {
            const double before = r->error, now = reach_error(r);

            if (now < before) {
                r->error = now;
                memcpy(r->c, trial, (size_t)C * sizeof *trial);
                *mu = fmax(*mu * 0.1, 1e-12);
                return size > 1e-12;
            }
        }

        // return to the last accepted state, the start of the next attempt
        if (*status == PL_OK) {
            *status = pl_model_recall(r->model, slot, err);
        }
        reach_error(r);
        *mu = fmax(*mu, 1e-8) * 10;
    }

    return false;
}

// Starts at the present commands, moved into their ranges; idle ones start in the middle.
static pl_status reach_begin(reach *r, pl_error *err)
{
    const pl_model_answer a = pl_model_get_answer(r->model);
    for (int c = 0; c < r->info.command_count; ++c) {
        const pl_command_info *k = &r->info.command[c];
        r->c[c] = !isnan(a.command[c]) ? a.command[c] : k->has_range ? 0.5 * (k->range[0] + k->range[1]) : 0;
        r->scale[c] = k->has_range ? k->range[1] - k->range[0] : 1;
        if (k->has_range) {
            r->c[c] = fmin(fmax(r->c[c], k->range[0]), k->range[1]);
        }
    }

    pl_solve_report report;
    const pl_status status = pl_model_fk(r->model, r->c, &report, err);
    r->error = status == PL_OK ? reach_error(r) : NAN;

    return status;
}

// `command` gets the best commands found, *reached their distance in mm: reaching the target is the caller's
// question.
pl_status pl_reduced_reach(pl_model *model, int marker, const double target[3], double tolerance,
                           double *command, double *reached, pl_error *err)
{
    reach r = {.model = model, .info = pl_model_get_info(model), .marker = marker, .target = target};
    if (marker < 0 || marker >= r.info.marker_count) {
        return pl_fail(err, PL_BAD_INPUT, "reach: there is no marker %d, the model has %d", marker,
                       r.info.marker_count);
    }

    if (r.info.command_count < 1 || r.info.command_count > REACH_COMMANDS_MAX || !(tolerance > 0) ||
        !isfinite(target[0] + target[1] + target[2])) {
        return pl_fail(err, PL_BAD_INPUT,
                       "reach: %d commands (1 to %d are possible), tolerance %g, target %g %g %g",
                       r.info.command_count, REACH_COMMANDS_MAX, tolerance, target[0], target[1], target[2]);
    }

    pl_status status = reach_begin(&r, err);
    double mu = 1e-10;
    for (int i = 0; status == PL_OK && i < REACH_ITERATIONS && r.error > tolerance; ++i) {
        pl_model_derivative d;
        pl_jacobian_report report;
        status = pl_model_differentiate(model, PL_PART_MARKER, 0, &d, &report, err);
        if (status != PL_OK ||
            !reach_improve(&r, d.marker + (size_t)(3 * marker * r.info.command_count), &mu, err, &status)) {
            break;
        }
    }

    memcpy(command, r.c, (size_t)r.info.command_count * sizeof *command);
    *reached = r.error;

    return status;
}
