// Controllers. Each tick turns what is wanted of the outputs into a change of the commands by one small
// quadratic problem (the allocation):
//   min over d  |(J d - u) / s|^2 + damping^2 |(d - p) / span|^2 + energy (c + d) . W (c + d),
//   low <= c + d <= high, |d| <= rate period,
// with s the size of the outputs and p the path to the posture, as much of it as of an error per tick. The
// kinds differ in u, the wanted change of the outputs:
//   PI         u = kp e + ki h,  h += e where the limits leave room (no wind-up)
//   track      u = gain e + velocity period
//   impedance  as track, about the set point moved by (K^-1 - C) f: the marker yields by K^-1 f in all,
//              of which the body itself yields C f
#include "control/control_impl.h"
#include "control/control.h"
#include "solver/solver.h"

struct pl_controller {
    pl_controller_options options;
    double *low, *high, *rate, *span; // per command
    double *h;                        // per output: the integral
    double *weight;                   // per output: 1 / its size^2
    // scratch of one tick
    double *e, *u, *got; // per output
    double *H, *g, *step_low, *step_high, *d, *box;
    pl_quadratic *quadratic;
};

const char *pl_control_kind_name(pl_control_kind kind)
{
    static const char *const name[] = {
#define X(code, text) text,
        PL_CONTROL_LIST(X)
#undef X
    };
    return kind >= 0 && kind < PL_CONTROL_KIND_COUNT ? name[kind] : "?";
}

pl_control_kind pl_control_kind_find(const char *name)
{
    int kind = 0;
    while (kind < PL_CONTROL_KIND_COUNT && strcmp(pl_control_kind_name((pl_control_kind)kind), name) != 0) {
        ++kind;
    }
    return (pl_control_kind)kind;
}

// kp and ki as published by Bieze et al. 2018, per tick.
pl_controller_options pl_controller_options_default(void)
{
    return (pl_controller_options){.kind = PL_CONTROL_PI,
                                   .period = 0.1,
                                   .kp = 0.14, // Bieze et al. 2018
                                   .ki = 0.0003,
                                   .gain = 0.5,
                                   .damping = 1e-3,
                                   .output_scale = 1,
                                   .stiffness = {1, 1, 1}};
}

// Sizes, gains and ranges; every failure names the field.
static pl_status loop_check(const pl_controller_options *o, pl_error *err)
{
    if (o->command_count < 1 || o->output_count < 1) {
        return pl_fail(err, PL_BAD_INPUT,
                       "controller: %d commands and %d outputs, expected at least one of each",
                       o->command_count, o->output_count);
    }

    if (o->kind == PL_CONTROL_IMPEDANCE && o->output_count != 3) {
        return pl_fail(err, PL_BAD_INPUT,
                       "controller: impedance has %d outputs, expected the 3 of a position", o->output_count);
    }

    // numbers with their names
    const struct {
        const char *name;
        double value;
        bool zero; // may be 0
    } number[] = {{"period", o->period, false},
                  {"kp", o->kp, true},
                  {"ki", o->ki, true},
                  {"gain", o->gain, true},
                  {"damping", o->damping, false},
                  {"output_scale", o->output_scale, false},
                  {"energy", o->energy, true},
                  {"stiffness x", o->stiffness[0], false},
                  {"stiffness y", o->stiffness[1], false},
                  {"stiffness z", o->stiffness[2], false}};
    for (int i = 0; i < PL_COUNT(number); ++i) {
        if (!isfinite(number[i].value) || number[i].value < 0 || (number[i].value == 0 && !number[i].zero)) {
            return pl_fail(err, PL_BAD_INPUT, "controller: %s is %g, must be %s", number[i].name,
                           number[i].value, number[i].zero ? "at least 0" : "greater than 0");
        }
    }

    // sizes of outputs, ranges of commands
    for (int i = 0; o->output_scales && i < o->output_count; ++i) {
        if (!(o->output_scales[i] > 0) || !isfinite(o->output_scales[i])) {
            return pl_fail(err, PL_BAD_INPUT, "controller: size of output %d is %g, must be greater than 0",
                           i + 1, o->output_scales[i]);
        }
    }

    for (int j = 0; j < o->command_count; ++j) {
        if (!o->low || !o->high || !(o->low[j] < o->high[j]) || !isfinite(o->low[j]) ||
            !isfinite(o->high[j])) {
            return pl_fail(err, PL_BAD_INPUT, "controller: command %d has no finite range", j + 1);
        }
    }

    return PL_OK;
}

// All memory of a tick is allocated here.
pl_status pl_controller_create(const pl_controller_options *options, pl_controller **out, pl_error *err)
{
    *out = NULL;
    const pl_status status = loop_check(options, err);
    if (status != PL_OK) {
        return status;
    }

    pl_controller *c = PL_NEW(pl_controller);
    if (!c) {
        return pl_fail_memory(err, "the controller");
    }

    const int n = options->command_count, m = options->output_count;
    c->options = *options;

    // arrays
    struct {
        double **field;
        int count;
    } const room[] = {{&c->low, n},    {&c->high, n},     {&c->rate, n},      {&c->span, n}, {&c->h, m},
                      {&c->weight, m}, {&c->e, m},        {&c->u, m},         {&c->got, m},  {&c->H, n * n},
                      {&c->g, n},      {&c->step_low, n}, {&c->step_high, n}, {&c->d, n},    {&c->box, n}};
    bool whole = true;
    for (int i = 0; i < PL_COUNT(room); ++i) {
        *room[i].field = PL_NEW_ARRAY(double, room[i].count);
        whole = whole && *room[i].field;
    }

    c->quadratic = pl_quadratic_create(n, 0);
    if (!whole || !c->quadratic) {
        pl_controller_destroy(c);
        return pl_fail_memory(err, "the controller");
    }

    // copies: the caller's arrays may be freed
    for (int j = 0; j < n; ++j) {
        c->low[j] = options->low[j];
        c->high[j] = options->high[j];
        c->span[j] = c->high[j] - c->low[j];
        c->rate[j] = options->rate ? options->rate[j] : 0;
    }

    for (int i = 0; i < m; ++i) {
        const double size = options->output_scales ? options->output_scales[i] : options->output_scale;
        c->weight[i] = 1 / (size * size);
    }

    c->options.output_scales = NULL;
    c->options.low = c->low;
    c->options.high = c->high;
    c->options.rate = c->rate;
    *out = c;

    return PL_OK;
}

void pl_controller_destroy(pl_controller *c)
{
    if (!c) {
        return;
    }

    double *const block[] = {c->low, c->high, c->rate, c->span,     c->h,         c->weight, c->e,  c->u,
                             c->got, c->H,    c->g,    c->step_low, c->step_high, c->d,      c->box};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_quadratic_destroy(c->quadratic);
    pl_free(c);
}

// Whether an array is given and has only finite numbers.
static bool loop_finite(const double *v, int count)
{
    for (int i = 0; v && i < count; ++i) {
        if (!isfinite(v[i])) {
            return false;
        }
    }

    return v != NULL;
}

// Why this input cannot be used; NULL: it can.
static const char *loop_refuse(const pl_controller *c, const pl_control_input *in, const double *command)
{
    const pl_controller_options *o = &c->options;
    const int n = o->command_count, m = o->output_count;

    if (!loop_finite(command, n)) {
        return "the command is not a number";
    }
    if (!loop_finite(in->measured, m)) {
        return "a measured output is missing or not a number";
    }
    if (!loop_finite(in->set_point, m)) {
        return "the set point is not a number";
    }
    if (!loop_finite(in->jacobian, m * n)) {
        return "the Jacobian is not a number";
    }
    if (in->posture && !loop_finite(in->posture, n)) {
        return "the posture is not a number";
    }
    if (in->velocity && !loop_finite(in->velocity, m)) {
        return "the velocity of the set point is not a number";
    }
    if (o->kind == PL_CONTROL_IMPEDANCE && (!loop_finite(in->compliance, 9) || !loop_finite(in->force, 3))) {
        return "the compliance or the force is missing or not a number";
    }
    if (in->energy_metric && !loop_finite(in->energy_metric, n * n)) {
        return "the energy metric is not a number";
    }

    return NULL;
}

// The error e and the wanted change u of the outputs.
static void loop_request(pl_controller *c, const pl_control_input *in)
{
    const pl_controller_options *o = &c->options;
    for (int i = 0; i < o->output_count; ++i) {
        double goal = in->set_point[i];

        if (o->kind == PL_CONTROL_IMPEDANCE) {
            goal += in->force[i] / o->stiffness[i];
            for (int j = 0; j < 3; ++j) {
                goal -= in->compliance[3 * i + j] * in->force[j];
            }
        }

        c->e[i] = goal - in->measured[i];
        const double forward = in->velocity ? in->velocity[i] * o->period : 0;
        c->u[i] = o->kind == PL_CONTROL_PI ? o->kp * c->e[i] + o->ki * c->h[i] : o->gain * c->e[i] + forward;
    }
}

// The quadratic problem for the wanted change u; false: it has no solution.
static bool loop_allocate(pl_controller *c, const pl_control_input *in, const double *command)
{
    const pl_controller_options *o = &c->options;
    const int n = o->command_count, m = o->output_count;

    for (int j = 0; j < n; ++j) {
        // outputs: weight |J d - u|^2
        c->g[j] = 0;
        for (int i = 0; i < m; ++i) {
            c->g[j] -= c->weight[i] * in->jacobian[i * n + j] * c->u[i];
        }
        // H = J^T w J, and the energy with the symmetric part of the metric
        for (int k = 0; k < n; ++k) {
            double sum = 0;
            for (int i = 0; i < m; ++i) {
                sum += c->weight[i] * in->jacobian[i * n + j] * in->jacobian[i * n + k];
            }
            c->H[j * n + k] = sum;

            if (in->energy_metric && o->energy > 0) {
                const double both = in->energy_metric[j * n + k] + in->energy_metric[k * n + j];
                c->H[j * n + k] += 0.5 * o->energy * both;
                c->g[j] += 0.5 * o->energy * both * command[k];
            }
        }

        // damping towards the posture
        const double stay = o->damping * o->damping / (c->span[j] * c->span[j]);
        c->H[j * n + j] += stay;
        if (in->posture) {
            c->g[j] -= stay * (o->kind == PL_CONTROL_PI ? o->kp : o->gain) * (in->posture[j] - command[j]);
        }

        // limits of the change: range and rate
        c->step_low[j] = c->low[j] - command[j];
        c->step_high[j] = c->high[j] - command[j];
        if (c->rate[j] > 0) {
            c->step_low[j] = fmax(c->step_low[j], -c->rate[j] * o->period);
            c->step_high[j] = fmin(c->step_high[j], c->rate[j] * o->period);
        }

        // a command outside of its range comes back as fast as it may
        c->step_low[j] = fmin(c->step_low[j], 0);
        c->step_high[j] = fmax(c->step_high[j], 0);
    }

    const pl_quadratic_problem problem = {
        .n = n, .H = c->H, .g = c->g, .low = c->step_low, .high = c->step_high, .p = c->d, .box = c->box};
    return pl_quadratic_solve(c->quadratic, &problem) && loop_finite(c->d, n);
}

// A tick that cannot be computed holds the command and says why; nothing is allocated and the work is
// bounded.
void pl_controller_tick(pl_controller *c, const pl_control_input *in, double *command,
                        pl_control_report *report)
{
    const pl_controller_options *o = &c->options;
    const int n = o->command_count, m = o->output_count;

    *report = (pl_control_report){0};
    if (o->kind == PL_CONTROL_OPEN) {
        return;
    }

    // wanted change and allocation
    report->why = loop_refuse(c, in, command);
    if (!report->why) {
        loop_request(c, in);
        if (!loop_allocate(c, in, command)) {
            report->why = "the allocation has no solution";
        }
    }

    report->held = report->why != NULL;
    if (report->held) {
        return;
    }

    // what the limits left undone
    double short2 = 0;
    for (int i = 0; i < m; ++i) {
        c->got[i] = 0;
        for (int j = 0; j < n; ++j) {
            c->got[i] += in->jacobian[i * n + j] * c->d[j];
        }
        short2 += (c->u[i] - c->got[i]) * (c->u[i] - c->got[i]);
    }

    // the command stays within its range also after rounding
    for (int j = 0; j < n; ++j) {
        report->saturated += c->box[j] != 0;
        command[j] = fmin(fmax(command[j] + c->d[j], c->low[j]), c->high[j]);
    }

    report->shortfall = sqrt(short2);

    // no wind-up: an error that the limits keep from being corrected is not summed
    for (int i = 0; i < m; ++i) {
        const bool blocked = report->saturated > 0 && (c->u[i] - c->got[i]) * c->e[i] > 0 &&
                             fabs(c->u[i] - c->got[i]) > 0.1 * fabs(c->u[i]);
        c->h[i] += blocked ? 0 : c->e[i];
    }
}
