// The outputs of a model that an inverse problem reads, as rows of one vector y(z), and their Jacobian: exact
// when asked for, carried along by Broyden's updates in between. Rotations have three rows, whose changes are
// spatial rotation vectors.
#include "kinematics/kinematics_impl.h"
#include "base/rotation.h"

// A list of -1: not read.
static int *outputs_list(int count)
{
    int *list = PL_NEW_ARRAY(int, count);
    for (int i = 0; list && i < count; ++i) {
        list[i] = -1;
    }
    return list;
}

// Numbers the outputs that are read from `next` on, `rows` each; returns the next free number.
static int outputs_number(int *list, int count, int rows, int next)
{
    for (int i = 0; i < count; ++i) {
        if (list[i] >= 0) {
            list[i] = next;
            next += rows;
        }
    }

    return next;
}

// Marks what objectives, bounds and kinks read, then numbers the rows.
pl_status ik_outputs_create(pl_ik *ik, pl_error *err)
{
    ik_outputs *o = &ik->outputs;
    const pl_model_info *info = &ik->info;

    o->energy = -1;
    o->marker = outputs_list(info->marker_count);
    o->rotation = outputs_list(info->marker_count);
    o->sensor = outputs_list(info->sensor_count);
    o->effort = outputs_list(info->actuator_count);
    bool points = false;
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        points = points || ik->goal.objective[i].point_count > 0;
    }

    if (points) {
        o->point = PL_NEW_ARRAY(int32_t, info->point_count);
        for (int32_t v = 0; o->point && v < info->point_count; ++v) {
            o->point[v] = -1;
        }
    }

    if (!o->marker || !o->rotation || !o->sensor || !o->effort || (points && !o->point)) {
        return pl_fail_memory(err, "ik: outputs");
    }

    // mark
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        ik_objective_reads(&ik->goal.objective[i], o);
    }
    for (int i = 0; i < ik->bound_count; ++i) {
        o->effort[ik->bound[i].actuator] = 0;
    }

    for (int j = 0; ik->kink.possible && j < ik->n; ++j) {
        if (ik->kink.cable[j] >= 0) {
            o->effort[ik->kink.cable[j]] = 0; // whether it is taut
        }
    }

    // number; parts: what the model has to differentiate
    o->parts = 0;
    int next = outputs_number(o->marker, info->marker_count, 3, 0);
    o->parts |= next > 0 ? PL_PART_MARKER : 0;
    int before = next;
    next = outputs_number(o->rotation, info->marker_count, 3, next);
    o->parts |= next > before ? PL_PART_ROTATION : 0;
    before = next;
    next = outputs_number(o->sensor, info->sensor_count, 1, next);
    o->parts |= next > before ? PL_PART_SENSOR : 0;
    before = next;
    next = outputs_number(o->effort, info->actuator_count, 1, next);
    o->parts |= next > before ? PL_PART_EFFORT : 0;
    if (o->energy >= 0) {
        o->energy = next++;
        o->parts |= PL_PART_ENERGY;
    }

    for (int32_t v = 0; points && v < info->point_count; ++v) {
        if (o->point[v] >= 0) {
            o->point[v] = next;
            next += 3;
            o->parts |= PL_PART_POINT;
        }
    }

    o->count = next;
    for (int i = 0; i < ik->bound_count; ++i) {
        ik->bound[i].row = o->effort[ik->bound[i].actuator];
    }

    return PL_OK;
}

void ik_outputs_clear(pl_ik *ik)
{
    ik_outputs *o = &ik->outputs;
    pl_free(o->marker);
    pl_free(o->rotation);
    pl_free(o->sensor);
    pl_free(o->effort);
    pl_free(o->point);
    *o = (ik_outputs){0};
}

// Outputs of the model at its state.
void ik_outputs_read(const pl_ik *ik, ik_place *place)
{
    const pl_model_answer a = pl_model_get_answer(ik->model);
    ik_outputs_take(ik, &a, place);
}

// Outputs of an answer, which may be that of an iterate.
void ik_outputs_take(const pl_ik *ik, const pl_model_answer *answer, ik_place *place)
{
    const ik_outputs *o = &ik->outputs;
    const pl_model_info *info = &ik->info;
    const pl_model_answer a = *answer;

    // only outputs that some objective or bound asks for have a place
    for (int i = 0; i < info->marker_count; ++i) {
        if (o->marker[i] >= 0) {
            memcpy(place->y + o->marker[i], a.marker + 3 * i, 3 * sizeof *place->y);
        }
        if (o->rotation[i] >= 0) {
            memcpy(place->R + 9 * i, a.rotation + 9 * i, 9 * sizeof *place->R);
        }
    }

    for (int i = 0; i < info->sensor_count; ++i) {
        if (o->sensor[i] >= 0) {
            place->y[o->sensor[i]] = a.sensor[i];
        }
    }

    for (int i = 0; i < info->actuator_count; ++i) {
        if (o->effort[i] >= 0) {
            place->y[o->effort[i]] = a.effort[i];
        }
    }

    if (o->energy >= 0) {
        place->y[o->energy] = a.energy;
    }

    for (int32_t v = 0; o->point && v < info->point_count; ++v) {
        if (o->point[v] >= 0) {
            memcpy(place->y + o->point[v], a.point + 3 * (int64_t)v, 3 * sizeof *place->y);
        }
    }
}

// `rows` rows of a model's derivative (all commands) into rows of Jy (the variables, per part of the span).
static void outputs_take(pl_ik *ik, int at, const double *from, int rows)
{
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < ik->n; ++j) {
            ik->slope.Jy[(at + i) * (int64_t)ik->n + j] =
                from[(int64_t)i * ik->info.command_count + ik->variable[j]] * ik->range.span[j];
        }
    }
}

// An exact Jacobian at the state of the model; with kinks in the coordinates that fit.
pl_status ik_outputs_differentiate(pl_ik *ik, double tolerance, pl_error *err)
{
    const ik_outputs *o = &ik->outputs;
    const pl_model_info *info = &ik->info;

    if (ik->kink.on) {
        return ik_kinks_differentiate(ik, err);
    }

    const int64_t columns = info->command_count;
    pl_model_derivative d;
    pl_jacobian_report report;
    const pl_status status = pl_model_differentiate(ik->model, o->parts, tolerance, &d, &report, err);
    if (status != PL_OK) {
        return status;
    }

    // rows in the order of the outputs
    for (int i = 0; i < info->marker_count; ++i) {
        if (o->marker[i] >= 0) {
            outputs_take(ik, o->marker[i], d.marker + 3 * i * columns, 3);
        }
        if (o->rotation[i] >= 0) {
            outputs_take(ik, o->rotation[i], d.rotation + 3 * i * columns, 3);
        }
    }

    for (int i = 0; i < info->sensor_count; ++i) {
        if (o->sensor[i] >= 0) {
            outputs_take(ik, o->sensor[i], d.sensor + i * columns, 1);
        }
    }

    for (int i = 0; i < info->actuator_count; ++i) {
        if (o->effort[i] >= 0) {
            outputs_take(ik, o->effort[i], d.effort + i * columns, 1);
        }
    }

    if (o->energy >= 0) {
        outputs_take(ik, o->energy, d.energy, 1);
    }

    for (int32_t v = 0; o->point && v < info->point_count; ++v) {
        if (o->point[v] >= 0) {
            outputs_take(ik, o->point[v], d.point + 3 * v * columns, 3);
        }
    }

    ik->slope.known = ik->slope.fresh = true;

    return PL_OK;
}

// dz, dy - Jy dz; returns |dz|^2
static double outputs_miss(const pl_ik *ik, const ik_place *from, const ik_place *to, double *dz,
                           double *miss)
{
    const ik_outputs *o = &ik->outputs;
    double length = 0;

    for (int j = 0; j < ik->n; ++j) {
        dz[j] = to->z[j] - from->z[j];
        length += dz[j] * dz[j];
    }

    // change of the outputs; of rotations as a vector
    for (int i = 0; i < o->count; ++i) {
        miss[i] = to->y[i] - from->y[i];
    }

    for (int m = 0; m < ik->info.marker_count; ++m) {
        if (o->rotation[m] >= 0) {
            double D[9];
            pl_rotation_mul_transposed(to->R + 9 * m, from->R + 9 * m, D);
            pl_rotation_log(D, miss + o->rotation[m]);
        }
    }

    // less what the Jacobian predicts
    for (int i = 0; i < o->count; ++i) {
        for (int j = 0; j < ik->n; ++j) {
            miss[i] -= ik->slope.Jy[(int64_t)i * ik->n + j] * dz[j];
        }
    }

    return length;
}

// Jy += factor miss dz^T
static void outputs_add(pl_ik *ik, const double *miss, const double *dz, double factor)
{
    for (int i = 0; i < ik->outputs.count; ++i) {
        for (int j = 0; j < ik->n; ++j) {
            ik->slope.Jy[(int64_t)i * ik->n + j] += factor * miss[i] * dz[j];
        }
    }
}

// Jy += (dy - Jy dz) dz^T / |dz|^2
void ik_outputs_update(pl_ik *ik, const ik_place *from, const ik_place *to)
{
    double *dz = ik->local.work, *miss = ik->local.work + ik->n;
    if (ik->kink.on && ik->kink.active) {
        ik->slope.known = ik->slope.fresh = false; // other coordinates at the next point
    }
    if (!ik->slope.known) {
        return;
    }

    const double length = outputs_miss(ik, from, to, dz, miss);
    if (length > 0) {
        outputs_add(ik, miss, dz, 1 / length);
        ik->slope.fresh = false;
    }
}

// Along a line y(s) = a s + b s^2 / 2, steps of length h have mean slopes that differ by b h: what the mean
// slope of the last step missed of this one is what this one will miss of the next (twice that when the slope
// was that at the start of the step).
void ik_outputs_note_bend(pl_ik *ik, const ik_place *from, const ik_place *to)
{
    const double length = outputs_miss(ik, from, to, ik->slope.bend_z, ik->slope.bend_y);
    ik->slope.bend_scale = length > 0 && ik->slope.known ? (ik->local.was_fresh ? 2 : 1) / length : 0;
}

// Adds (sign 1) or removes (sign -1) the extrapolated change of the mean slope.
void ik_outputs_bend(pl_ik *ik, double sign)
{
    outputs_add(ik, ik->slope.bend_y, ik->slope.bend_z, sign * ik->slope.bend_scale);
    ik->slope.bent = sign > 0;
}
