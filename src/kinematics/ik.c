// The inverse problem as an object: checked and sized once, then solved as often as targets change. Unknowns
// are z, the free commands in parts of their ranges.
#include "kinematics/kinematics_impl.h"
#include "kinematics/kinematics.h"
#include "solver/solver.h"

static const char *const method_name[PL_IK_METHOD_COUNT] = {"newton", "gradient", "descent"};

const char *pl_ik_method_name(pl_ik_method method)
{
    return (int)method >= 0 && method < PL_IK_METHOD_COUNT ? method_name[method] : "unknown";
}

pl_ik_method pl_ik_method_find(const char *name)
{
    int k = 0;
    while (k < PL_IK_METHOD_COUNT && strcmp(method_name[k], name) != 0) {
        ++k;
    }
    return (pl_ik_method)k;
}

const char *pl_ik_outcome_name(pl_ik_outcome outcome)
{
    static const char *const name[] = {
#define X(code, text) [code] = text,
        PL_IK_OUTCOME_LIST(X)
#undef X
    };
    return (int)outcome >= 0 && (int)outcome < PL_COUNT(name) ? name[outcome] : "unknown";
}

// Commands are moved by 0.01 mm per range at most for the sake of least motion,
// which biases a target by 1e-6 mm.
pl_ik_options pl_ik_options_default(void)
{
    return (pl_ik_options){
        .method = PL_IK_NEWTON,
        .period = 1,
        .least_motion = 0.01,
        .iteration_limit = 60,
        .start_limit = 3,
    };
}

// Every failure names the option.
static pl_status options_check(const pl_ik_options *o, pl_error *err)
{
    if ((int)o->method < 0 || o->method >= PL_IK_METHOD_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "ik: method %d does not exist", (int)o->method);
    }
    if (o->iteration_limit < 1) {
        return pl_fail(err, PL_BAD_INPUT, "ik: iteration_limit is %d, must be >= 1", o->iteration_limit);
    }
    if (!(o->least_motion >= 0) || !isfinite(o->least_motion)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: least_motion is %g, must be >= 0", o->least_motion);
    }
    if (!(o->length_tolerance >= 0) || !isfinite(o->length_tolerance)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: length_tolerance is %g mm, must be >= 0", o->length_tolerance);
    }
    if (!(o->time_limit >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: time_limit is %g s, must be >= 0", o->time_limit);
    }

    if (o->start_limit < 0 || o->start_limit > IK_STARTS) {
        return pl_fail(err, PL_BAD_INPUT, "ik: start_limit is %d, must be 0 to %d", o->start_limit,
                       IK_STARTS);
    }

    if (o->rate && !(o->period > 0 && isfinite(o->period))) {
        return pl_fail(err, PL_BAD_INPUT, "ik: period is %g s, must be > 0 if rates are given", o->period);
    }

    return PL_OK;
}

// Which commands move, and between which ends: those held or with one possible value do not.
static pl_status variables_choose(pl_ik *ik, pl_error *err)
{
    const pl_ik_options *o = &ik->options;
    for (int i = 0; i < ik->info.command_count; ++i) {
        const pl_command_info *c = &ik->info.command[i];
        ik->range.fixed[i] = NAN;
        if (o->hold && o->hold[i]) {
            continue;
        }
        const bool low_given = o->low && !isnan(o->low[i]), high_given = o->high && !isnan(o->high[i]);

        if (!c->has_range && !(low_given && high_given)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "ik: command `%s` has no range; give it one in the robot, or bounds here",
                           c->name);
        }

        // given bounds replace the range of the robot
        const double low = low_given ? o->low[i] : c->range[0], high = high_given ? o->high[i] : c->range[1];
        if (!(low <= high) || !isfinite(low) || !isfinite(high)) {
            return pl_fail(err, PL_BAD_INPUT, "ik: command `%s` is bounded by %g and %g", c->name, low, high);
        }
        if (low == high) {
            ik->range.fixed[i] = low;
            continue;
        }

        // free: bounds, span and rate per variable
        const double rate = o->rate && o->rate[i] > 0 ? o->rate[i] : INFINITY;
        ik->variable[ik->n] = i;
        ik->range.low[ik->n] = low;
        ik->range.high[ik->n] = high;
        ik->range.span[ik->n] = high - low;
        ik->range.rate[ik->n] = rate / (high - low);
        ++ik->n;
    }

    if (ik->n == 0) {
        return pl_fail(err, PL_BAD_INPUT, "ik: no command is free: all are held, or there are none");
    }

    return PL_OK;
}

// Bounds on efforts; the scale makes violations comparable between N and MPa.
static pl_status bounds_take(pl_ik *ik, pl_error *err)
{
    if (ik->options.effort_count > 0 && ik->options.method != PL_IK_NEWTON) {
        return pl_fail(err, PL_BAD_INPUT, "ik: method %s cannot keep efforts within bounds; use newton",
                       method_name[ik->options.method]);
    }

    for (int i = 0; i < ik->options.effort_count; ++i) {
        const pl_effort_bound *b = &ik->options.effort[i];
        if (b->actuator < 0 || b->actuator >= ik->info.actuator_count) {
            return pl_fail(err, PL_BAD_INPUT, "ik: effort bound %d: actuator %d, the robot has %d", i,
                           b->actuator, ik->info.actuator_count);
        }

        if (isnan(pl_model_get_answer(ik->model).effort[b->actuator])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "ik: the effort of `%s` cannot be bounded: a model of kind %s has no efforts",
                           ik->info.actuator[b->actuator].name, ik->info.kind);
        }

        if (!(b->low < b->high)) {
            return pl_fail(err, PL_BAD_INPUT, "ik: effort of `%s` is bounded by %g and %g",
                           ik->info.actuator[b->actuator].name, b->low, b->high);
        }

        const double low = isfinite(b->low) ? fabs(b->low) : 0, high = isfinite(b->high) ? fabs(b->high) : 0;
        const double scale = fmax(low, high);
        ik->bound[i] = (ik_bound){
            .actuator = b->actuator, .low = b->low, .high = b->high, .scale = scale > 0 ? scale : 1};
    }

    ik->bound_count = ik->options.effort_count;
    return PL_OK;
}

// Copies the objectives; rows of the residual follow in their order, then one row
// per variable for least motion.
static pl_status objectives_take(pl_ik *ik, const pl_objective *objective, int count, pl_error *err)
{
    ik->goal.objective_count = count;
    for (int i = 0; i < count; ++i) {
        const pl_status status = ik_objective_check(ik, &objective[i], i, err);
        if (status != PL_OK) {
            return status;
        }
        pl_objective *o = &ik->goal.objective[i];
        *o = objective[i];
        if (o->kind != PL_OBJECTIVE_SHAPE && o->kind != PL_OBJECTIVE_CURVATURE) {
            o->point_count = 0;
        }
        const int64_t places = o->kind == PL_OBJECTIVE_SHAPE     ? 3 * (int64_t)o->point_count
                               : o->kind == PL_OBJECTIVE_COMMAND ? ik->info.command_count
                                                                 : 0;

        // places are copied, because targets change
        if (places > 0 && o->place) {
            ik->goal.place[i] = PL_NEW_ARRAY(double, places);
            if (!ik->goal.place[i]) {
                return pl_fail_memory(err, "ik: places of an objective");
            }
            memcpy(ik->goal.place[i], o->place, (size_t)places * sizeof(double));
        }

        o->place = ik->goal.place[i];
        ik->goal.choosing = ik->goal.choosing || !pl_objective_is_goal(o->kind);
        ik->goal.widest = o->kind == PL_OBJECTIVE_CURVATURE && o->point_count > ik->goal.widest
                              ? o->point_count
                              : ik->goal.widest;
        ik->goal.row[i + 1] = ik->goal.row[i] + ik_objective_rows(ik, o);
    }

    if (ik->goal.choosing && ik->options.method != PL_IK_NEWTON) {
        return pl_fail(err, PL_BAD_INPUT,
                       "ik: method %s accepts goals only; for effort, energy and command use newton",
                       method_name[ik->options.method]);
    }

    ik->goal.rows = ik->goal.row[count] + ik->n;
    ik->goal.least_motion = ik->goal.choosing ? 0 : ik->options.least_motion; // not both

    return PL_OK;
}

// Memory of a point z with outputs y, rotations R and residuals r; false when out of memory.
bool ik_place_create(const pl_ik *ik, ik_place *place)
{
    place->z = PL_NEW_ARRAY(double, ik->n);
    place->y = PL_NEW_ARRAY(double, ik->outputs.count);
    place->R = PL_NEW_ARRAY(double, 9 * ik->info.marker_count);
    place->r = PL_NEW_ARRAY(double, ik->goal.rows);
    return place->z && place->y && place->R && place->r;
}

void ik_place_clear(ik_place *place)
{
    pl_free(place->z);
    pl_free(place->y);
    pl_free(place->R);
    pl_free(place->r);
}

// Allocates and reports success, so that calls can be chained.
static bool take(double **where, int64_t count)
{
    *where = PL_NEW_ARRAY(double, count);
    return *where != NULL;
}

// What does not depend on the objectives.
static pl_status ik_room_first(pl_ik *ik, int objectives, pl_error *err)
{
    const int commands = ik->info.command_count, efforts = ik->options.effort_count;
    bool ok = take(&ik->range.low, commands) && take(&ik->range.high, commands) &&
              take(&ik->range.span, commands) && take(&ik->range.rate, commands) &&
              take(&ik->range.fixed, commands) && take(&ik->command, commands) && take(&ik->start, commands);

    ik->variable = PL_NEW_ARRAY(int, commands);
    ik->bound = PL_NEW_ARRAY(ik_bound, efforts);
    ik->goal.objective = PL_NEW_ARRAY(pl_objective, objectives);
    ik->goal.place = PL_NEW_ARRAY(double *, objectives);
    ik->goal.row = PL_NEW_ARRAY(int, objectives + 1);
    ok = ok && ik->variable && ik->bound && ik->goal.objective && ik->goal.place && ik->goal.row;

    return ok ? PL_OK : pl_fail_memory(err, "ik");
}

// What depends on the number of variables, residuals and outputs.
static pl_status ik_room_second(pl_ik *ik, pl_error *err)
{
    const int64_t n = ik->n, rows = ik->goal.rows, bounds = ik->bound_count, outputs = ik->outputs.count;
    const int64_t square = n * n;
    bool ok = take(&ik->range.now_low, n) && take(&ik->range.now_high, n) && take(&ik->entry, n) &&
              take(&ik->best_z, n) && take(&ik->slope.bend_z, n) && take(&ik->slope.bend_y, outputs) &&
              take(&ik->slope.Jy, outputs * n) && take(&ik->local.J, rows * n) &&
              take(&ik->local.J_old, rows * n) && take(&ik->local.E, bounds * n) &&
              take(&ik->local.E_old, bounds * n) && take(&ik->local.S, square) &&
              take(&ik->local.H, square) && take(&ik->local.model_H, square) && take(&ik->local.g, n) &&
              take(&ik->local.p, n) && take(&ik->local.step, n) && take(&ik->local.step_low, n) &&
              take(&ik->local.step_high, n) && take(&ik->local.work, square + n + outputs) &&
              take(&ik->local.eigen, n) && take(&ik->local.eigenvector, square) &&
              take(&ik->local.row_a, (2 * bounds + 2 * n) * n) &&
              take(&ik->local.row_b, 2 * bounds + 2 * n) && take(&ik->local.box_multiplier, n) &&
              take(&ik->local.row_multiplier, 2 * bounds + 2 * n) && take(&ik->local.mu_old, 2 * bounds) &&
              take(&ik->goal.fit, 3 * (int64_t)ik->goal.widest) &&
              take(&ik->goal.fit_gradient, 3 * (int64_t)ik->goal.widest) && take(&ik->goal.deviation, rows) &&
              take(&ik->ended, (IK_STARTS + 1) * rows);

    ik->range.by_rate_low = PL_NEW_ARRAY(bool, n);
    ik->range.by_rate_high = PL_NEW_ARRAY(bool, n);
    ik->record.active = PL_NEW_ARRAY(pl_ik_active, n + bounds);
    ik->quadratic = pl_quadratic_create((int)n, (int)(2 * bounds + 2 * n));
    ok = ok && ik->range.by_rate_low && ik->range.by_rate_high && ik->record.active && ik->quadratic &&
         ik_place_create(ik, &ik->here) && ik_place_create(ik, &ik->trial);

    return ok ? PL_OK : pl_fail_memory(err, "ik");
}

// Order matters: variables, bounds and objectives fix the outputs, these the sizes.
pl_status pl_ik_create(pl_model *model, const pl_objective *objective, int objective_count,
                       const pl_ik_options *options, pl_ik **out, pl_error *err)
{
    *out = NULL;
    pl_status status = options_check(options, err);
    if (status != PL_OK) {
        return status;
    }
    if (objective_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "ik: %d objectives, at least one is needed", objective_count);
    }

    pl_ik *ik = PL_NEW(pl_ik);
    if (!ik) {
        return pl_fail_memory(err, "ik");
    }
    ik->model = model;
    ik->info = pl_model_get_info(model);
    const pl_model_answer now = pl_model_get_answer(model);
    ik->surrogate = pl_answer_has_error(&now);
    ik->options = *options;
    ik->search.escape = true;
    status = ik_room_first(ik, objective_count, err);
    if (status == PL_OK) {
        status = variables_choose(ik, err);
    }
    if (status == PL_OK) {
        status = bounds_take(ik, err);
    }
    if (status == PL_OK) {
        status = objectives_take(ik, objective, objective_count, err);
    }
    if (status == PL_OK) {
        status = ik_kinks_create(ik, err);
    }
    if (status == PL_OK) {
        status = ik_outputs_create(ik, err);
    }
    if (status == PL_OK) {
        status = ik_kinks_room(ik, err);
    }
    if (status == PL_OK) {
        status = ik_room_second(ik, err);
    }
    if (status == PL_OK) {
        status = ik_together_create(ik, err);
    }

    // borrowed arrays of the options are not looked at again
    ik->options.low = ik->options.high = ik->options.rate = NULL;
    ik->options.hold = NULL;
    ik->options.effort = NULL;
    if (status != PL_OK) {
        pl_ik_destroy(ik);
        return status;
    }

    *out = ik;

    return PL_OK;
}

void pl_ik_destroy(pl_ik *ik)
{
    if (!ik) {
        return;
    }
    for (int i = 0; ik->goal.place && i < ik->goal.objective_count; ++i) {
        pl_free(ik->goal.place[i]);
    }

    void *const block[] = {ik->range.low,
                           ik->range.high,
                           ik->range.span,
                           ik->range.rate,
                           ik->range.fixed,
                           ik->command,
                           ik->start,
                           ik->variable,
                           ik->bound,
                           ik->goal.objective,
                           ik->goal.place,
                           ik->goal.row,
                           ik->range.now_low,
                           ik->range.now_high,
                           ik->entry,
                           ik->best_z,
                           ik->slope.bend_z,
                           ik->slope.bend_y,
                           ik->slope.Jy,
                           ik->local.J,
                           ik->local.J_old,
                           ik->local.E,
                           ik->local.E_old,
                           ik->local.S,
                           ik->local.H,
                           ik->local.model_H,
                           ik->local.g,
                           ik->local.p,
                           ik->local.step,
                           ik->local.step_low,
                           ik->local.step_high,
                           ik->local.work,
                           ik->local.eigen,
                           ik->local.eigenvector,
                           ik->local.row_a,
                           ik->local.row_b,
                           ik->local.box_multiplier,
                           ik->local.row_multiplier,
                           ik->local.mu_old,
                           ik->goal.fit,
                           ik->goal.fit_gradient,
                           ik->goal.deviation,
                           ik->range.by_rate_low,
                           ik->range.by_rate_high,
                           ik->record.active,
                           ik->ended};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_quadratic_destroy(ik->quadratic);
    ik_kinks_clear(ik);
    ik_together_clear(ik);
    ik_place_clear(&ik->here);
    ik_place_clear(&ik->trial);
    ik_outputs_clear(ik);
    pl_free(ik);
}

// The target's meaning follows the kind: 3 numbers, a rotation matrix, places of points, commands or one
// value. Checked as at creation; on failure the old target stays.
pl_status pl_ik_set_target(pl_ik *ik, int i, const double *target, pl_error *err)
{
    if (i < 0 || i >= ik->goal.objective_count) {
        return pl_fail(err, PL_BAD_INPUT, "ik: there is no objective %d, the problem has %d", i,
                       ik->goal.objective_count);
    }

    const pl_objective *old = &ik->goal.objective[i];
    pl_objective o = *old;
    switch (o.kind) {
    case PL_OBJECTIVE_ORIENTATION:
        memcpy(o.rotation, target, sizeof o.rotation);
        break;
    case PL_OBJECTIVE_SHAPE:
    case PL_OBJECTIVE_COMMAND:
        o.place = target;
        break;
    case PL_OBJECTIVE_CURVATURE:
    case PL_OBJECTIVE_SENSOR:
    case PL_OBJECTIVE_EFFORT:
        o.value = target[0];
        break;
    case PL_OBJECTIVE_ENERGY:
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (energy) has no target", i);
    default:
        memcpy(o.target, target, sizeof o.target);
    }

    const pl_status status = ik_objective_check(ik, &o, i, err);
    if (status != PL_OK) {
        return status;
    }

    // places have memory of their own
    const int64_t places = o.kind == PL_OBJECTIVE_SHAPE     ? 3 * (int64_t)o.point_count
                           : o.kind == PL_OBJECTIVE_COMMAND ? ik->info.command_count
                                                            : 0;
    if (places > 0 && !ik->goal.place[i]) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (command) was created without a place", i);
    }
    for (int64_t k = 0; k < places; ++k) {
        ik->goal.place[i][k] = target[k];
    }
    o.place = ik->goal.place[i];
    ik->goal.objective[i] = o;

    return PL_OK;
}

pl_status pl_ik_set_value(pl_ik *ik, int i, double value, pl_error *err)
{
    if (i < 0 || i >= ik->goal.objective_count) {
        return pl_fail(err, PL_BAD_INPUT, "ik: there is no objective %d, the problem has %d", i,
                       ik->goal.objective_count);
    }

    pl_objective o = ik->goal.objective[i];
    o.value = value;
    const pl_status status = ik_objective_check(ik, &o, i, err);
    if (status == PL_OK) {
        ik->goal.objective[i].value = value;
    }

    return status;
}

pl_status pl_ik_set_weight(pl_ik *ik, int i, double weight, pl_error *err)
{
    if (i < 0 || i >= ik->goal.objective_count) {
        return pl_fail(err, PL_BAD_INPUT, "ik: there is no objective %d, the problem has %d", i,
                       ik->goal.objective_count);
    }

    pl_objective o = ik->goal.objective[i];
    o.weight = weight;
    const pl_status status = ik_objective_check(ik, &o, i, err);
    if (status == PL_OK) {
        ik->goal.objective[i].weight = weight;
    }

    return status;
}

void pl_ik_set_period(pl_ik *ik, double period)
{
    ik->options.period = period > 0 && isfinite(period) ? period : ik->options.period;
}

void pl_ik_set_start_limit(pl_ik *ik, int starts)
{
    ik->options.start_limit = starts < 0 ? 0 : starts > IK_STARTS ? IK_STARTS : starts;
}

void pl_ik_set_samples(pl_ik *ik, const pl_samples *samples)
{
    ik->samples = samples ? *samples : (pl_samples){0};
}

double pl_ik_deviation(const pl_ik *ik, int i)
{
    return i >= 0 && i < ik->goal.objective_count ? ik_deviation(ik, &ik->here, i) : NAN;
}

int pl_ik_residual_count(const pl_ik *ik)
{
    return ik->goal.row[ik->goal.objective_count];
}
