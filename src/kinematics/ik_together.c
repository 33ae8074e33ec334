// Near a solution: simultaneous solve for commands and shape (pl_model_find_together) instead of one forward
// solve for each trial of the commands. An iteration costs one solve; the goals are evaluated where the shape
// is going to be, y(x) + G d, and the commands take the step of ik_newton.c from there, with the same bounds.
// What is found is checked by an ordinary forward solve, and ik_newton goes on from it where it is not good
// enough. Slack cables stay as they are; where one has to become taut, one-sided commands at 0, objectives
// that read body points or the energy, and long steps are left to ik_newton alone.
#include "base/rotation.h"
#include "kinematics/kinematics_impl.h"

#define TOGETHER_STEP 0.35     // of the ranges: a longer step does not lead to a neighbour
#define TOGETHER_MET 0.3       // of the tolerances: error expected, at which the commands stay
#define TOGETHER_SURE 0.5      // of the tolerances: by how much an expectation was wrong, or can be
#define TOGETHER_GROWTH 1.5    // of the error at the start: a larger one leads away
#define TOGETHER_EXPLAINED 0.3 // of the last step: what columns may miss of it
#define TOGETHER_PAUSE 7       // solves that do without after failures in a row
#define TOGETHER_ROUNDS 2      // forward solves

// Body points and the energy are not among the outputs of an iterate.
static bool together_reads(const pl_ik *ik)
{
    return (ik->outputs.parts & (PL_PART_POINT | PL_PART_ENERGY)) == 0;
}

// Memory, if the model and the problem allow it.
pl_status ik_together_create(pl_ik *ik, pl_error *err)
{
    ik_together *t = &ik->together;
    const pl_model_info *info = &ik->info;
    const int64_t columns = ik->n + 1;

    t->possible = pl_model_can_find_together(ik->model) && ik->options.method == PL_IK_NEWTON &&
                  ik->n <= PL_AIM_MOST && together_reads(ik);
    if (!t->possible) {
        return PL_OK;
    }
    t->command = PL_NEW_ARRAY(double, info->command_count);
    t->drift = PL_NEW_ARRAY(double, ik->outputs.count);
    t->Jy = PL_NEW_ARRAY(double, ik->outputs.count * ik->n);
    t->plain = PL_NEW_ARRAY(double, ik->goal.rows);
    t->carried = PL_NEW_ARRAY(double, ik->outputs.count * ik->n);
    t->wanted = PL_NEW_ARRAY(double, ik->goal.rows);
    t->marker = PL_NEW_ARRAY(double, 3 * info->marker_count * columns);
    t->rotation = PL_NEW_ARRAY(double, 3 * info->marker_count * columns);
    t->sensor = PL_NEW_ARRAY(double, info->sensor_count *columns);
    t->effort = PL_NEW_ARRAY(double, info->actuator_count *columns);
    const bool ok = ik_place_create(ik, &t->from) && ik_place_create(ik, &t->before) && t->command &&
                    t->drift && t->Jy && t->carried && t->plain && t->wanted && t->marker && t->rotation &&
                    t->sensor && t->effort;

    return ok ? PL_OK : pl_fail_memory(err, "ik: commands and shape together");
}

void ik_together_clear(pl_ik *ik)
{
    ik_together *t = &ik->together;
    ik_place_clear(&t->from);
    ik_place_clear(&t->before);
    void *const block[] = {t->command, t->Jy,     t->carried,  t->plain,  t->drift,
                           t->wanted,  t->marker, t->rotation, t->sensor, t->effort};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    *t = (ik_together){0};
}

// ---- an iteration

// Column `column` of all outputs, times `scale`: `out`, `stride` apart.
static void together_column(const pl_ik *ik, int column, double scale, int stride, double *out)
{
    const ik_together *t = &ik->together;
    const ik_outputs *o = &ik->outputs;
    const pl_model_info *info = &ik->info;
    const int columns = t->count + 1;
#define TAKE(row, array, index) out[(row)*stride] = scale * (array)[(index)*columns + column]
    for (int m = 0; m < info->marker_count; ++m) {
        for (int i = 0; i < 3; ++i) {
            if (o->marker[m] >= 0) {
                TAKE(o->marker[m] + i, t->marker, 3 * m + i);
            }
            if (o->rotation[m] >= 0) {
                TAKE(o->rotation[m] + i, t->rotation, 3 * m + i);
            }
        }
    }

    for (int m = 0; m < info->sensor_count; ++m) {
        if (o->sensor[m] >= 0) {
            TAKE(o->sensor[m], t->sensor, m);
        }
    }

    for (int m = 0; m < info->actuator_count; ++m) {
        if (o->effort[m] >= 0) {
            TAKE(o->effort[m], t->effort, m);
        }
    }
#undef TAKE
}

// The outputs where the shape is going to be with the present commands: y + G d, rotations turned by theirs.
static void together_expect(pl_ik *ik, const pl_model_answer *now, ik_place *place)
{
    ik_together *t = &ik->together;
    const ik_outputs *o = &ik->outputs;

    // outputs of the iterate, stored as the residuals of the shape as it is
    ik_outputs_take(ik, now, place);
    for (int j = 0; j < ik->n; ++j) {
        place->z[j] = (now->command[ik->variable[j]] - ik->range.low[j]) / ik->range.span[j];
    }
    ik_evaluate(ik, place);
    memcpy(t->plain, place->r, (size_t)ik->goal.rows * sizeof *t->plain);

    // plus what the shape is about to change
    together_column(ik, t->count, 1, 1, t->drift);
    for (int m = 0; m < ik->info.marker_count; ++m) {
        if (o->rotation[m] >= 0) {
            double D[9], R[9];
            pl_rotation_exp(t->drift + o->rotation[m], D);
            pl_mul33(D, place->R + 9 * m, R);
            memcpy(place->R + 9 * m, R, sizeof R);
        }
    }

    for (int i = 0; i < o->count; ++i) {
        place->y[i] += t->drift[i];
    }
    ik_evaluate(ik, place);
}

// How far the deviations expected are from others, over the tolerances.
static double together_apart(const pl_ik *ik, double error, const double *r)
{
    double apart = 0, size = 0;
    for (int i = 0; i < ik->goal.row[ik->goal.objective_count]; ++i) {
        const double d = ik->here.r[i] - r[i];
        apart += d * d;
        size += ik->here.r[i] * ik->here.r[i];
    }

    return apart > 0 ? error * sqrt(apart / size) : 0;
}

static size_t together_jacobian_bytes(const pl_ik *ik)
{
    return (size_t)ik->outputs.count * (size_t)ik->n * sizeof(double);
}

// The Jacobian of the outputs by the variables in use.
static void together_jacobian(pl_ik *ik)
{
    const ik_together *t = &ik->together;
    memset(ik->slope.Jy, 0, (size_t)ik->outputs.count * (size_t)ik->n * sizeof *ik->slope.Jy);
    for (int k = 0; k < t->count; ++k) {
        const int j = t->variable[k];
        together_column(ik, k, ik->range.span[j], ik->n, ik->slope.Jy + j);
    }

    ik->slope.known = true;
    ik->slope.fresh = false;
}

// Does Jy explain the path from the solution before the last to the last? |dr - J dz| <= share |dr| over the
// goals.
static bool together_explains(pl_ik *ik)
{
    ik_together *t = &ik->together;
    double miss = 0, size = 0;

    if (t->places < 2) {
        return true;
    }
    ik_evaluate(ik, &t->before);
    ik_evaluate(ik, &t->from);
    ik_jacobian(ik, &t->from, ik->local.J, ik->local.E);

    for (int i = 0; i < ik->goal.row[ik->goal.objective_count]; ++i) {
        const double dr = t->from.r[i] - t->before.r[i];
        double d = dr;
        for (int j = 0; j < ik->n; ++j) {
            d -= ik->local.J[(int64_t)i * ik->n + j] * (t->from.z[j] - t->before.z[j]);
        }
        miss += d * d;
        size += dr * dr;
    }

    pl_log(2, "  together: columns miss %.2f of the last step", sqrt(miss / size));

    return miss <= TOGETHER_EXPLAINED * TOGETHER_EXPLAINED * size;
}

// Uses the columns, unless they predict less than the Jacobian carried along. True: they are used.
static bool together_take(pl_ik *ik, bool fresh)
{
    ik_together *t = &ik->together;
    const bool known = ik->slope.known;

    if (known && !fresh) {
        return false;
    }

    // compare both on the last step
    double *kept = t->carried;
    memcpy(kept, ik->slope.Jy, together_jacobian_bytes(ik));
    together_jacobian(ik);
    if (known && !together_explains(ik)) {
        memcpy(ik->slope.Jy, kept, together_jacobian_bytes(ik));
        return false;
    }

    return true;
}

// The step p as new values of the variables in use, and the deviations it is expected
// to lead to. Returns its length.
static double together_step(pl_ik *ik, double *value)
{
    ik_together *t = &ik->together;
    const double *p = ik->local.p;
    double largest = 0;

    for (int j = 0; j < ik->n; ++j) {
        largest = fmax(largest, fabs(p[j]));
        ik->trial.z[j] = ik->here.z[j] + p[j];
    }

    ik_command(ik, ik->trial.z, ik->command);
    for (int k = 0; k < t->count; ++k) {
        value[k] = ik->command[ik->variable[t->variable[k]]];
    }

    for (int i = 0; i < ik->goal.rows; ++i) {
        t->wanted[i] = ik->here.r[i];
        for (int j = 0; j < ik->n; ++j) {
            t->wanted[i] += ik->local.J[(int64_t)i * ik->n + j] * p[j];
        }
    }

    t->stepped = true;

    return largest;
}

// The decision after each iteration: met, go on with new commands, or leave to ik_newton.
static pl_aim_answer together_choose(void *user, const pl_model_answer *now, bool fresh, double *value)
{
    pl_ik *ik = user;
    ik_together *t = &ik->together;
    double distance;

    // outputs expected, and the Jacobian for the next step
    together_expect(ik, now, &ik->trial);
    const bool take = together_take(ik, fresh);
    if (!take && t->stepped) {
        ik_outputs_update(ik, &ik->here, &ik->trial);
    }
    ik_swap(&ik->here, &ik->trial);

    // what the last expectation missed, and what the shape has still to move
    const double error = ik_error(ik, &ik->here, &distance),
                 missed = t->stepped ? together_apart(ik, error, t->wanted) : INFINITY,
                 drift = t->stepped ? together_apart(ik, error, t->plain) : INFINITY;
    pl_log(2, "  together: error expected %.3e of the tolerance, missed %.2e, drift %.2e%s", error, missed,
           drift, take ? ", new columns" : "");
    if (error <= TOGETHER_MET && fmin(missed, drift) <= TOGETHER_SURE && ik->here.excess <= IK_HOLDS) {
        return PL_AIM_MET;
    }
    t->first = t->stepped ? t->first : error;
    if (!isfinite(error) || error > TOGETHER_GROWTH * t->first) {
        return PL_AIM_LEAVE;
    }

    // the step, with the extrapolated mean slope for the first one
    const bool bend = !take && !t->stepped && t->bend_scale > 0;
    if (bend) {
        ik_outputs_bend(ik, 1);
    }

    const bool found = ik_newton_step(ik) > 0;
    if (bend) {
        ik_outputs_bend(ik, -1);
    }
    if (!found) {
        return PL_AIM_LEAVE;
    }

    return together_step(ik, value) <= TOGETHER_STEP ? PL_AIM_GO : PL_AIM_LEAVE;
}

// ---- a solve

// z, outputs and rotations; residuals follow by evaluation.
static void place_copy(const pl_ik *ik, const ik_place *from, ik_place *to)
{
    memcpy(to->z, from->z, (size_t)ik->n * sizeof *to->z);
    memcpy(to->y, from->y, (size_t)ik->outputs.count * sizeof *to->y);
    memcpy(to->R, from->R, 9 * (size_t)ik->info.marker_count * sizeof *to->R);
}

// Point and Jacobian before the attempt, to return to and to test columns on.
static void together_save(pl_ik *ik)
{
    ik_together *t = &ik->together;
    ik_swap(&t->from, &t->before);
    place_copy(ik, &ik->here, &t->from);
    t->places = t->places < 2 ? t->places + 1 : 2;
    memcpy(t->Jy, ik->slope.Jy, together_jacobian_bytes(ik));
    t->known = ik->slope.known;
    t->bend_scale = ik->slope.bend_scale;
}

// Back to where the attempt began, after a failure.
static pl_status together_back(pl_ik *ik, pl_error *err)
{
    const ik_together *t = &ik->together;
    const pl_status status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);

    place_copy(ik, &t->from, &ik->here);
    ik_evaluate(ik, &ik->here);
    memcpy(ik->slope.Jy, t->Jy, together_jacobian_bytes(ik));
    ik->slope.known = t->known;
    ik->slope.bend_scale = t->bend_scale;
    ik->slope.fresh = false;

    return status;
}

// One round: simultaneous solve, then the forward solve at the commands found.
// `*better`: model and `here` are there.
static pl_status together_round(pl_ik *ik, bool *better, pl_error *err)
{
    ik_together *t = &ik->together;
    const double before = ik->here.value;
    bool met = false, solved = false;

    together_save(ik);
    t->stepped = false;
    pl_model_aim aim = {.command = t->command,
                        .count = t->count,
                        .out = {.marker = t->marker,
                                .rotation = ik->outputs.parts & PL_PART_ROTATION ? t->rotation : NULL,
                                .sensor = ik->outputs.parts & PL_PART_SENSOR ? t->sensor : NULL,
                                .effort = ik->outputs.parts & PL_PART_EFFORT ? t->effort : NULL},
                        .choose = together_choose,
                        .user = ik};
    for (int k = 0; k < t->count; ++k) {
        aim.variable[k] = ik->variable[t->variable[k]];
    }
    *better = false;
    pl_status status = pl_model_find_together(ik->model, &aim, &met, err);
    if (status == PL_OK && met) {
        // the commands to the last digit, so that the forward solve knows the shape
        for (int j = 0; j < ik->n; ++j) {
            ik->trial.z[j] = (t->command[ik->variable[j]] - ik->range.low[j]) / ik->range.span[j];
        }
        ++ik->search.steps;
        status = ik_go_to(ik, t->command, &ik->trial, &solved, err);
        *better = status == PL_OK && solved && ik->trial.excess <= IK_HOLDS && ik->trial.value < before;
    }

    if (status != PL_OK) {
        return status;
    }
    if (!*better) {
        return together_back(ik, err);
    }

    // the new point, and what the whole step tells about the Jacobian
    ik_swap(&ik->here, &ik->trial);
    ++ik->record.iterations;

    // what the whole step shows, from solution to solution
    ik->local.was_fresh = false;
    ik_outputs_note_bend(ik, &t->from, &ik->here);
    ik_outputs_update(ik, &t->from, &ik->here);

    return pl_model_keep(ik->model, PL_SLOT_IK_HERE, err);
}

// Which variables take part: commands of slack cables stay where they are.
static bool together_begin(pl_ik *ik)
{
    ik_together *t = &ik->together;
    double distance;
    pl_ik_outcome ignored;

    if (!t->possible || ik_kinks_at_zero(ik) || ik->here.excess > IK_HOLDS ||
        ik_error(ik, &ik->here, &distance) <= 1 || !ik_go_on(ik, &ignored)) {
        return false;
    }

    t->count = 0;
    for (int j = 0; j < ik->n; ++j) {
        if (!ik_kinks_slack(ik, j)) {
            t->variable[t->count++] = j;
        }
    }

    return t->count > 0;
}

// After failures in a row the next 1, 3 or 7 solves do without.
pl_status ik_together_solve(pl_ik *ik, pl_error *err)
{
    ik_together *t = &ik->together;
    pl_status status = PL_OK;
    bool better = true;

    if (t->skip > 0) {
        --t->skip;
        return PL_OK;
    }

    for (int round = 0; status == PL_OK && better && round < TOGETHER_ROUNDS && together_begin(ik); ++round) {
        ik->search.radius = ik->search.reach = 0.5;
        ik->local.second_order = false;
        ik->slope.bent = ik->kink.active = false;
        status = together_round(ik, &better, err);
        t->pause = better ? 0 : t->pause < TOGETHER_PAUSE ? 2 * t->pause + 1 : t->pause;
        t->skip = t->pause;
    }

    return status;
}
