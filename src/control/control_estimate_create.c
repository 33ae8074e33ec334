// An estimator is made from its options: what is checked, copied and allocated, the prior it begins with, and
// its end. What it computes is in control_estimate.c, with the formulas.
#include "control/control_estimate.h"
#include "control/control.h"
#include "learned/learned.h"
#include "robot/robot_def.h"
#include "robot/robot_kind.h"

// Huber's bound at 4 sigma hardly touches normal noise; a step below 1 % of the error bars is converged.
pl_estimator_options pl_estimator_options_default(void)
{
    return (pl_estimator_options){
        .force_sigma = INFINITY, .outlier = 4, .iteration_limit = 12, .tolerance = 1e-2};
}

// Every measured number must exist in the model and have a finite sigma; every failure names the field.
static pl_status estimate_check(const pl_model_info *info, const pl_estimator_options *o, pl_error *err)
{
    const int limit[] = {[PL_MEASUREMENT_SENSOR] = info->sensor_count,
                         [PL_MEASUREMENT_MARKER] = info->marker_count,
                         [PL_MEASUREMENT_EFFORT] = info->actuator_count,
                         [PL_MEASUREMENT_MEASURE] = info->actuator_count};
    if (o->measured_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "estimator: nothing is measured");
    }

    for (int i = 0; i < o->measured_count; ++i) {
        const pl_measurement *m = &o->measured[i];
        if ((int)m->kind < 0 || (int)m->kind >= PL_COUNT(limit) || m->index < 0 ||
            m->index >= limit[m->kind] ||
            (m->kind == PL_MEASUREMENT_MARKER && (m->axis < 0 || m->axis > 2))) {
            return pl_fail(err, PL_BAD_INPUT, "estimator: measured number %d does not exist in the model",
                           i + 1);
        }

        if (!(m->sigma > 0) || !isfinite(m->sigma)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "estimator: sigma of measured number %d is %g, must be greater than 0", i + 1,
                           m->sigma);
        }
    }

    // forces and commands among the unknowns
    for (int i = 0; i < o->force_count; ++i) {
        if (o->force_marker[i] < 0 || o->force_marker[i] >= info->marker_count) {
            return pl_fail(err, PL_BAD_INPUT, "estimator: a force at marker %d, the model has %d markers",
                           o->force_marker[i], info->marker_count);
        }
    }

    if (o->force_count > 0 && !(o->force_sigma > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "estimator: force_sigma is %g, must be greater than 0",
                       o->force_sigma);
    }

    for (int j = 0; o->command_sigma && j < info->command_count; ++j) {
        if (!(o->command_sigma[j] >= 0)) {
            return pl_fail(err, PL_BAD_INPUT, "estimator: sigma of command '%s' is %g, must be at least 0",
                           info->command[j].name, o->command_sigma[j]);
        }
    }

    // numbers
    if (!(o->stiffness_sigma >= 0) || !isfinite(o->stiffness_sigma) || !(o->model_error >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "estimator: stiffness_sigma and model_error must be at least 0");
    }

    if (!(o->outlier >= 0) || o->iteration_limit < 1 || !(o->tolerance > 0) || !(o->command_drift >= 0) ||
        !(o->force_drift >= 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "estimator: outlier, tolerance, drifts or iteration_limit out of range");
    }

    return PL_OK;
}

// All memory, sized by unknowns, measured numbers, markers and forces; nothing is allocated later.
static pl_status estimate_room(pl_estimator *s, pl_error *err)
{
    const int n = s->n > 0 ? s->n : 1, m = s->options.measured_count, M = s->info.marker_count,
              F = s->options.force_count;
    struct {
        double **field;
        int count;
    } const room[] = {{&s->mean, n},
                      {&s->information, n * n},
                      {&s->prior, n * n},
                      {&s->extra, s->info.command_count},
                      {&s->at_rest, m},
                      {&s->solved_command, s->info.command_count},
                      {&s->solved_force, 3 * M},
                      {&s->x, n},
                      {&s->trial, n},
                      {&s->J, m * n},
                      {&s->D, 3 * M * n},
                      {&s->H, n * n},
                      {&s->g, n},
                      {&s->low, n},
                      {&s->high, n},
                      {&s->step, n},
                      {&s->box, n},
                      {&s->covariance, n * n},
                      {&s->square, n * n},
                      {&s->vector, n * n},
                      {&s->value, n},
                      {&s->weakest, n},
                      {&s->command, s->info.command_count},
                      {&s->residual, m},
                      {&s->sigma, m},
                      {&s->residual_trial, m},
                      {&s->all_force, 3 * M},
                      {&s->force, 3 * F},
                      {&s->force_sigma, 3 * F},
                      {&s->command_sigma, s->info.command_count},
                      {&s->marker_sigma, 3 * M},
                      {&s->f_marker, 9 * M * F},
                      {&s->f_sensor, 3 * s->info.sensor_count * F},
                      {&s->f_effort, 3 * s->info.actuator_count * F},
                      {&s->f_measure, 3 * s->info.actuator_count * F}};
    for (int i = 0; i < PL_COUNT(room); ++i) {
        *room[i].field = PL_NEW_ARRAY(double, room[i].count);
        if (!*room[i].field) {
            return pl_fail_memory(err, "the estimator");
        }
    }

    // what is not an array of doubles
    s->parameter = PL_NEW_ARRAY(pl_parameter, 3 * F);
    s->rejected = PL_NEW_ARRAY(bool, m);
    s->others = PL_NEW_ARRAY(bool, m);
    s->quadratic = pl_quadratic_create(n, 0);

    return s->parameter && s->rejected && s->others && s->quadratic ? PL_OK
                                                                    : pl_fail_memory(err, "the estimator");
}

// Readings that scale with the stiffness of the body.
bool estimate_is_effort(const pl_estimator *s, const pl_measurement *m)
{
    return m->kind == PL_MEASUREMENT_EFFORT ||
           (m->kind == PL_MEASUREMENT_SENSOR &&
            pl_sensor_traits_get(s->info.sensor_kind[m->index])->reads == PL_READS_EFFORT);
}

// The power p of command j: a body of q times the stiffness has the shape of the model at c / q^p. 0: it
// prescribes a measure, whatever the stiffness.
static double estimate_power(const pl_estimator *s, int j)
{
    for (int a = 0; a < s->info.actuator_count; ++a) {
        if (s->info.actuator[a].command == j && s->info.actuator[a].growth) {
            return 0;
        }
    }

    const pl_drive drive = s->info.command[j].drive;
    if (drive == PL_DRIVE_VOLTAGE) {
        return 0.5;
    }

    return drive == pl_actuator_kind_get(pl_drive_kind(drive))->effort_drive ? 1 : 0;
}

// Whether the stiffness shows in what is measured.
static bool estimate_sees_stiffness(pl_estimator *s)
{
    bool seen = s->options.force_count > 0;
    for (int j = 0; j < s->info.command_count; ++j) {
        s->power[j] = estimate_power(s, j);
        seen = seen || s->power[j] > 0;
    }

    for (int i = 0; i < s->options.measured_count; ++i) {
        seen = seen || estimate_is_effort(s, &s->measured[i]);
    }

    return seen && s->options.stiffness_sigma > 0;
}

// The estimator keeps copies, so the caller's arrays may be freed; here the number of unknowns is decided.
static pl_status estimate_copy_options(pl_estimator *s, const pl_estimator_options *o, pl_error *err)
{
    s->options = *o;
    s->measured = PL_NEW_ARRAY(pl_measurement, o->measured_count);
    s->force_marker = PL_NEW_ARRAY(int, o->force_count);
    s->uncertain = PL_NEW_ARRAY(int, s->info.command_count);
    s->sent_sigma = PL_NEW_ARRAY(double, s->info.command_count);
    if (!s->measured || !s->force_marker || !s->uncertain || !s->sent_sigma) {
        return pl_fail_memory(err, "the estimator");
    }
    memcpy(s->measured, o->measured, (size_t)o->measured_count * sizeof *s->measured);
    for (int i = 0; i < o->force_count; ++i) {
        s->force_marker[i] = o->force_marker[i];
    }

    // commands with a sigma are unknowns, the others are taken as sent
    for (int j = 0; j < s->info.command_count; ++j) {
        s->sent_sigma[j] = o->command_sigma ? o->command_sigma[j] : 0;
        if (s->sent_sigma[j] > 0) {
            s->uncertain[s->uncertain_count++] = j;
        }
    }

    s->power = PL_NEW_ARRAY(double, s->info.command_count);
    if (!s->power) {
        return pl_fail_memory(err, "the estimator");
    }

    // order of the unknowns: commands, forces, stiffness
    s->n = s->uncertain_count + 3 * o->force_count;
    s->stiffness = estimate_sees_stiffness(s) ? s->n++ : -1;
    s->options.measured = s->measured;
    s->options.force_marker = s->force_marker;
    s->options.command_sigma = s->sent_sigma;

    return PL_OK;
}

// Unit of unknown j: commands in parts of their span, forces in N, stiffness relative.
double estimate_scale(const pl_estimator *s, int j)
{
    if (j >= s->uncertain_count) {
        return 1;
    }
    const pl_command_info *c = &s->info.command[s->uncertain[j]];
    return c->span[1] - c->span[0];
}

// Forgets earlier readings: mean 0 and the information 1 / sigma^2 of the options (infinite sigma: 0).
void pl_estimator_reset(pl_estimator *s)
{
    memset(s->information, 0, (size_t)s->n * (size_t)s->n * sizeof *s->information);
    for (int j = 0; j < s->n; ++j) {
        const double sigma = j < s->uncertain_count ? s->sent_sigma[s->uncertain[j]] / estimate_scale(s, j)
                             : j == s->stiffness    ? s->options.stiffness_sigma
                                                    : s->options.force_sigma;
        s->mean[j] = 0;
        s->information[j * s->n + j] = isinf(sigma) ? 0 : 1 / (sigma * sigma);
    }
}

pl_status pl_estimator_create(pl_model *model, const pl_estimator_options *options, pl_estimator **out,
                              pl_error *err)
{
    *out = NULL;
    const pl_model_info info = pl_model_get_info(model);
    pl_status status = estimate_check(&info, options, err);
    if (status != PL_OK) {
        return status;
    }

    // an adapted model corrects marker positions only
    const pl_learned *learned = pl_model_learned(model);
    for (int i = 0; learned && pl_learned_is_adapted(learned) && i < options->measured_count; ++i) {
        if (options->measured[i].kind != PL_MEASUREMENT_MARKER) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "estimator: the model was adapted to measured markers, but its sensors were not: use "
                "the model that it was adapted from, or readings of markers only");
        }
    }

    pl_estimator *s = PL_NEW(pl_estimator);
    if (!s) {
        return pl_fail_memory(err, "the estimator");
    }
    s->model = model;
    s->info = info;
    status = estimate_copy_options(s, options, err);
    if (status == PL_OK) {
        status = estimate_room(s, err);
    }
    if (status != PL_OK) {
        pl_estimator_destroy(s);
        return status;
    }

    for (int i = 0; i < options->measured_count; ++i) {
        s->sigma[i] = s->measured[i].sigma;
    }

    // forces as parameters, then the prior and the readings at rest
    for (int j = 0; j < 3 * options->force_count; ++j) {
        s->parameter[j] = (pl_parameter){PL_PARAMETER_MARKER_FORCE, s->force_marker[j / 3], j % 3};
    }
    pl_estimator_reset(s);
    status = outlier_prepare(s, err);
    if (status != PL_OK) {
        pl_estimator_destroy(s);
        return status;
    }

    *out = s;

    return PL_OK;
}

// Standard deviations that are added to the commands in the next update only (see estimate_prior).
void pl_estimator_widen(pl_estimator *s, const double *command_sigma)
{
    memcpy(s->extra, command_sigma, (size_t)s->info.command_count * sizeof *s->extra);
}

void pl_estimator_destroy(pl_estimator *s)
{
    if (!s) {
        return;
    }

    void *const block[] = {s->measured,
                           s->force_marker,
                           s->uncertain,
                           s->sent_sigma,
                           s->mean,
                           s->information,
                           s->prior,
                           s->extra,
                           s->rejected,
                           s->others,
                           s->at_rest,
                           s->power,
                           s->solved_command,
                           s->solved_force,
                           s->x,
                           s->trial,
                           s->J,
                           s->D,
                           s->H,
                           s->g,
                           s->low,
                           s->high,
                           s->step,
                           s->box,
                           s->covariance,
                           s->square,
                           s->vector,
                           s->value,
                           s->weakest,
                           s->command,
                           s->residual,
                           s->sigma,
                           s->residual_trial,
                           s->all_force,
                           s->force,
                           s->force_sigma,
                           s->command_sigma,
                           s->marker_sigma,
                           s->f_marker,
                           s->f_sensor,
                           s->f_effort,
                           s->f_measure,
                           s->parameter};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_quadratic_destroy(s->quadratic);
    pl_free(s);
}
