// Objectives as weighted deviations r(y) of the model's outputs y, with their rows of the Jacobian dr/dz =
// (dr/dy) (dy/dz). The deviations and their units are listed in docs/explanation/kinematics.md.
#include <stdio.h>
#include "kinematics/kinematics_impl.h"
#include "base/rotation.h"
#include "kinematics/kinematics.h"
#include "robot/robot_kind.h"

static const char *const kind_name[PL_OBJECTIVE_KIND_COUNT] = {
    "position",  "direction", "orientation", "distance", "orthogonal", "shape",
    "curvature", "sensor",    "effort",      "energy",   "command"};

const char *pl_objective_kind_name(pl_objective_kind kind)
{
    return (int)kind >= 0 && kind < PL_OBJECTIVE_KIND_COUNT ? kind_name[kind] : "unknown";
}

pl_objective_kind pl_objective_kind_find(const char *name)
{
    int k = 0;
    while (k < PL_OBJECTIVE_KIND_COUNT && strcmp(kind_name[k], name) != 0) {
        ++k;
    }
    return (pl_objective_kind)k;
}

bool pl_objective_is_goal(pl_objective_kind kind)
{
    return kind != PL_OBJECTIVE_EFFORT && kind != PL_OBJECTIVE_ENERGY && kind != PL_OBJECTIVE_COMMAND;
}

pl_objective pl_objective_default(pl_objective_kind kind)
{
    return (pl_objective){.kind = kind, .weight = 1, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

// ---- validation

// Kinds whose index is a marker: they come first in the list.
static bool objective_has_marker(pl_objective_kind kind)
{
    return kind <= PL_OBJECTIVE_ORTHOGONAL;
}

// Kinds that need the rotation of the marker.
static bool objective_has_frame(pl_objective_kind kind)
{
    return kind == PL_OBJECTIVE_DIRECTION || kind == PL_OBJECTIVE_ORIENTATION ||
           kind == PL_OBJECTIVE_ORTHOGONAL;
}

// Squares of what is larger would leave the range of numbers.
#define OBJECTIVE_LARGEST 1e12

// False also for NAN.
static bool finite_all(const double *v, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        if (!(fabs(v[i]) <= OBJECTIVE_LARGEST)) {
            return false;
        }
    }

    return true;
}

// The index exists, and the model knows the quantity.
static pl_status objective_check_index(const pl_ik *ik, const pl_objective *o, int i, pl_error *err)
{
    const pl_model_info *info = &ik->info;
    const int limit = objective_has_marker(o->kind)    ? info->marker_count
                      : o->kind == PL_OBJECTIVE_SENSOR ? info->sensor_count
                      : o->kind == PL_OBJECTIVE_EFFORT ? info->actuator_count
                                                       : o->index + 1;
    const char *what = objective_has_marker(o->kind)    ? "markers"
                       : o->kind == PL_OBJECTIVE_SENSOR ? "sensors"
                                                        : "actuators";

    if (o->index < 0 || o->index >= limit) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (%s): index %d, the robot has %d %s", i,
                       kind_name[o->kind], o->index, limit, what);
    }

    const pl_model_answer a = pl_model_get_answer(ik->model);
    const bool unknown = (o->kind == PL_OBJECTIVE_EFFORT && isnan(a.effort[o->index])) ||
                         (o->kind == PL_OBJECTIVE_ENERGY && isnan(a.energy));
    if (unknown) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (%s): not available for a model of kind %s", i,
                       kind_name[o->kind], info->kind);
    }

    if (objective_has_frame(o->kind)) {
        if (!isfinite(a.rotation[9 * o->index])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "ik: objective %d (%s): marker `%s` has no frame; put it on a surface", i,
                           kind_name[o->kind], info->marker_name[o->index]);
        }
    }

    return PL_OK;
}

// Body points exist and have non-negative shares, not all 0.
static pl_status objective_check_points(const pl_ik *ik, const pl_objective *o, int i, pl_error *err)
{
    const int32_t least = o->kind == PL_OBJECTIVE_CURVATURE ? 3 : 1;
    if (o->kind != PL_OBJECTIVE_CURVATURE && o->kind != PL_OBJECTIVE_SHAPE) {
        return PL_OK;
    }
    if (!o->point || o->point_count < least) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (%s): %d body points, at least %d needed", i,
                       kind_name[o->kind], (int)o->point_count, (int)least);
    }

    // points and shares
    double share = 0;
    for (int32_t k = 0; k < o->point_count; ++k) {
        if (o->point[k] < 0 || o->point[k] >= ik->info.point_count) {
            return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (%s): body point %d, there are %d", i,
                           kind_name[o->kind], (int)o->point[k], (int)ik->info.point_count);
        }

        const double w = o->kind == PL_OBJECTIVE_SHAPE && o->share ? o->share[k] : 1;
        if (!(w >= 0) || !isfinite(w)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "ik: objective %d (shape): share of point %d is %g, must be >= 0", i, (int)k, w);
        }

        share += w;
    }

    if (!(share > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (shape): all shares are 0", i);
    }
    if (o->kind == PL_OBJECTIVE_SHAPE && (!o->place || !finite_all(o->place, 3 * (int64_t)o->point_count))) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (shape): places are missing or beyond %g mm", i,
                       OBJECTIVE_LARGEST);
    }

    return PL_OK;
}

// R R^T = I to 1e-6, right-handed.
static bool is_rotation(const double R[9])
{
    double I[9], worst = 0;
    pl_rotation_mul_transposed(R, R, I);
    for (int k = 0; k < 9; ++k) {
        worst = fmax(worst, fabs(I[k] - (k % 4 == 0)));
    }
    return worst < 1e-6 && pl_det3(R) > 0; // NAN is no rotation
}

// Everything about one objective; the message names it by its number and kind.
pl_status ik_objective_check(const pl_ik *ik, const pl_objective *o, int i, pl_error *err)
{
    if ((int)o->kind < 0 || o->kind >= PL_OBJECTIVE_KIND_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d: kind %d does not exist", i, (int)o->kind);
    }

    const char *name = kind_name[o->kind];
    if (!(o->weight > 0 && o->weight <= OBJECTIVE_LARGEST)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (%s): weight is %g, must be > 0 and at most %g",
                       i, name, o->weight, OBJECTIVE_LARGEST);
    }

    if (!(o->tolerance >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (%s): tolerance is %g, must be >= 0", i, name,
                       o->tolerance);
    }

    // numbers
    if (!finite_all(o->target, 3) || !finite_all(&o->value, 1) || !finite_all(o->axis, 3)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "ik: objective %d (%s): target %g %g %g, axis %g %g %g, value %g: expected finite "
                       "numbers, at most %g",
                       i, name, o->target[0], o->target[1], o->target[2], o->axis[0], o->axis[1], o->axis[2],
                       o->value, OBJECTIVE_LARGEST);
    }

    if (o->kind == PL_OBJECTIVE_DISTANCE && o->value < 0) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (distance): value is %g mm, must be >= 0", i,
                       o->value);
    }

    // directions need a length
    const bool turns = o->kind == PL_OBJECTIVE_DIRECTION || o->kind == PL_OBJECTIVE_ORTHOGONAL;
    if (turns && !(pl_norm3(o->axis) > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (%s): axis is 0 0 0", i, name);
    }
    if (o->kind == PL_OBJECTIVE_DIRECTION && !(pl_norm3(o->target) > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (direction): target is 0 0 0", i);
    }
    if (o->kind == PL_OBJECTIVE_ORIENTATION && !is_rotation(o->rotation)) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d (orientation): rotation is not a rotation matrix",
                       i);
    }

    for (int j = 0; o->kind == PL_OBJECTIVE_COMMAND && o->place && j < ik->n; ++j) {
        if (!isfinite(o->place[ik->variable[j]])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "ik: objective %d (command): place of command `%s` is not finite", i,
                           ik->info.command[ik->variable[j]].name);
        }
    }

    const pl_status status = objective_check_index(ik, o, i, err);

    return status == PL_OK ? objective_check_points(ik, o, i, err) : status;
}

// ---- sizes

// Without selected axes all count.
static bool objective_counts(const pl_objective *o, int axis)
{
    return o->axes[axis] || !(o->axes[0] || o->axes[1] || o->axes[2]);
}

// Rows of the residual that an objective has.
int ik_objective_rows(const pl_ik *ik, const pl_objective *o)
{
    switch (o->kind) {
    case PL_OBJECTIVE_POSITION:
    case PL_OBJECTIVE_DIRECTION:
    case PL_OBJECTIVE_ORIENTATION:
    case PL_OBJECTIVE_DISTANCE:
        return 3; // rows of axes that do not count are 0
    case PL_OBJECTIVE_SHAPE:
        return 3 * o->point_count;
    case PL_OBJECTIVE_COMMAND:
        return ik->n;
    default:
        return 1;
    }
}

// Marks with 0 the outputs an objective reads.
void ik_objective_reads(const pl_objective *o, ik_outputs *outputs)
{
    switch (o->kind) {
    case PL_OBJECTIVE_POSITION:
    case PL_OBJECTIVE_DISTANCE:
        outputs->marker[o->index] = 0;
        break;
    case PL_OBJECTIVE_DIRECTION:
    case PL_OBJECTIVE_ORIENTATION:
        outputs->rotation[o->index] = 0;
        break;
    case PL_OBJECTIVE_ORTHOGONAL:
        outputs->marker[o->index] = outputs->rotation[o->index] = 0;
        break;
    case PL_OBJECTIVE_SHAPE:
    case PL_OBJECTIVE_CURVATURE:
        for (int32_t k = 0; k < o->point_count; ++k) {
            outputs->point[o->point[k]] = 0;
        }
        break;
    case PL_OBJECTIVE_SENSOR:
        outputs->sensor[o->index] = 0;
        break;
    case PL_OBJECTIVE_EFFORT:
        outputs->effort[o->index] = 0;
        break;
    case PL_OBJECTIVE_ENERGY:
        outputs->energy = 0;
        break;
    default:
        break;
    }
}

// ---- deviations and their derivatives; J (rows x n) may be NULL

// J's row += factor * output's row
static void row_add(const pl_ik *ik, double *row, double factor, int output)
{
    const double *from = ik->slope.Jy + (int64_t)output * ik->n;
    for (int j = 0; j < ik->n; ++j) {
        row[j] += factor * from[j];
    }
}

// The same for three outputs in a row.
static void row_add3(const pl_ik *ik, double *row, const double factor[3], int output)
{
    for (int k = 0; k < 3; ++k) {
        row_add(ik, row, factor[k], output + k);
    }
}

// d = p - t on the selected axes
static void deviation_position(const pl_ik *ik, const ik_place *at, const pl_objective *o, double *d,
                               double *J)
{
    const int out = ik->outputs.marker[o->index];
    for (int k = 0; k < 3; ++k) {
        const bool counts = objective_counts(o, k);
        d[k] = counts ? at->y[out + k] - o->target[k] : 0;
        if (J && counts) {
            row_add(ik, J + (int64_t)k * ik->n, 1, out + k);
        }
    }
}

// The marker's axis now: a = R axis / |axis|
static void marker_axis(const ik_place *at, const pl_objective *o, double a[3])
{
    const double length = pl_norm3(o->axis);
    pl_mulv3(at->R + 9 * o->index, o->axis, a);
    for (int k = 0; k < 3; ++k) {
        a[k] /= length;
    }
}

// d = a - t, of length 2 sin(angle / 2); da = w x a
static void deviation_direction(const pl_ik *ik, const ik_place *at, const pl_objective *o, double *d,
                                double *J)
{
    const int out = ik->outputs.rotation[o->index];
    const double length = pl_norm3(o->target);
    double a[3];

    marker_axis(at, o, a);
    for (int k = 0; k < 3; ++k) {
        d[k] = a[k] - o->target[k] / length;
    }

    const double W[9] = {0, a[2], -a[1], -a[2], 0, a[0], a[1], -a[0], 0};
    for (int k = 0; J && k < 3; ++k) {
        row_add3(ik, J + (int64_t)k * ik->n, W + 3 * k, out);
    }
}

// d = log(R Rt^T)
static void deviation_orientation(const pl_ik *ik, const ik_place *at, const pl_objective *o, double *d,
                                  double *J)
{
    const int out = ik->outputs.rotation[o->index];
    double D[9], w[3], M[9];

    pl_rotation_mul_transposed(at->R + 9 * o->index, o->rotation, D);
    pl_rotation_log(D, w);
    pl_rotation_log_derivative(w, M);

    for (int k = 0; k < 3; ++k) {
        const bool counts = objective_counts(o, k);
        d[k] = counts ? w[k] : 0;
        if (J && counts) {
            row_add3(ik, J + (int64_t)k * ik->n, M + 3 * k, out);
        }
    }
}

// d = |p - t| - radius on the axes that count, or p - t when the radius is 0
static void deviation_distance(const pl_ik *ik, const ik_place *at, const pl_objective *o, double *d,
                               double *J)
{
    if (o->value == 0) {
        deviation_position(ik, at, o, d, J);
        return;
    }

    // vector on the selected axes
    const int out = ik->outputs.marker[o->index];
    double e[3];
    int first = 2;
    for (int k = 2; k >= 0; --k) {
        e[k] = objective_counts(o, k) ? at->y[out + k] - o->target[k] : 0;
        first = objective_counts(o, k) ? k : first;
    }

    const double length = pl_norm3(e);
    d[0] = length - o->value;
    for (int k = 0; k < 3; ++k) {
        e[k] = length > 0 ? e[k] / length : k == first; // at the centre any direction leads out
    }
    if (J) {
        row_add3(ik, J, e, out);
    }
}

// d = a . u, u = (t - p) / |t - p|
static void deviation_orthogonal(const pl_ik *ik, const ik_place *at, const pl_objective *o, double *d,
                                 double *J)
{
    const int out = ik->outputs.marker[o->index];
    double a[3], u[3], across[3], by_p[3];

    marker_axis(at, o, a);
    pl_sub3(o->target, at->y + out, u);

    // at the target itself the angle is not defined
    const double length = fmax(pl_norm3(u), 1e-12);
    for (int k = 0; k < 3; ++k) {
        u[k] /= length;
    }
    d[0] = pl_dot3(a, u);
    if (!J) {
        return;
    }
    pl_cross3(a, u, across);
    for (int k = 0; k < 3; ++k) {
        by_p[k] = -(a[k] - d[0] * u[k]) / length;
    }
    row_add3(ik, J, across, ik->outputs.rotation[o->index]);
    row_add3(ik, J, by_p, out);
}

// d = sqrt(share) (x - place), so that 1/2 |d|^2 is half the weighted mean square
static void deviation_shape(const pl_ik *ik, const ik_place *at, const pl_objective *o, const double *place,
                            double *d, double *J)
{
    double sum = 0;
    for (int32_t k = 0; k < o->point_count; ++k) {
        sum += o->share ? o->share[k] : 1;
    }

    for (int32_t k = 0; k < o->point_count; ++k) {
        const int out = ik->outputs.point[o->point[k]];
        const double w = sqrt((o->share ? o->share[k] : 1) / sum);

        for (int i = 0; i < 3; ++i) {
            d[3 * k + i] = w * (at->y[out + i] - place[3 * k + i]);
            if (J) {
                row_add(ik, J + (3 * (int64_t)k + i) * ik->n, w, out + i);
            }
        }
    }
}

// d = k - value, k of the fitted circle (fit_circle.c)
static void deviation_curvature(const pl_ik *ik, const ik_place *at, const pl_objective *o, double *d,
                                double *J)
{
    for (int32_t k = 0; k < o->point_count; ++k) {
        memcpy(ik->goal.fit + 3 * (int64_t)k, at->y + ik->outputs.point[o->point[k]],
               3 * sizeof *ik->goal.fit);
    }

    const double *axis = pl_norm3(o->axis) > 0 ? o->axis : NULL;
    d[0] = pl_fit_curvature(ik->goal.fit, o->point_count, axis, J ? ik->goal.fit_gradient : NULL) - o->value;
    for (int32_t k = 0; J && k < o->point_count; ++k) {
        row_add3(ik, J, ik->goal.fit_gradient + 3 * (int64_t)k, ik->outputs.point[o->point[k]]);
    }
}

// d = sqrt(2 E), so that 1/2 d^2 = E
static void deviation_energy(const pl_ik *ik, const ik_place *at, double *d, double *J)
{
    const int out = ik->outputs.energy;
    d[0] = sqrt(2 * fmax(at->y[out], 0));
    if (J && d[0] > 0) {
        row_add(ik, J, 1 / d[0], out);
    }
}

// d = z - target, in parts of the ranges; without a target from the start of the solve
static void deviation_command(const pl_ik *ik, const ik_place *at, const double *place, double *d, double *J)
{
    for (int j = 0; j < ik->n; ++j) {
        const double to =
            place ? (place[ik->variable[j]] - ik->range.low[j]) / ik->range.span[j] : ik->entry[j];
        d[j] = at->z[j] - to;
        if (J) {
            J[(int64_t)j * ik->n + j] = 1;
        }
    }
}

// Deviations of objective i, not weighted; J's rows must be 0 before.
static void objective_deviations(const pl_ik *ik, const ik_place *at, int i, double *d, double *J)
{
    const pl_objective *o = &ik->goal.objective[i];
    memset(d, 0, (size_t)(ik->goal.row[i + 1] - ik->goal.row[i]) * sizeof *d);
    switch (o->kind) {
    case PL_OBJECTIVE_POSITION:
        deviation_position(ik, at, o, d, J);
        break;
    case PL_OBJECTIVE_DIRECTION:
        deviation_direction(ik, at, o, d, J);
        break;
    case PL_OBJECTIVE_ORIENTATION:
        deviation_orientation(ik, at, o, d, J);
        break;
    case PL_OBJECTIVE_DISTANCE:
        deviation_distance(ik, at, o, d, J);
        break;
    case PL_OBJECTIVE_ORTHOGONAL:
        deviation_orthogonal(ik, at, o, d, J);
        break;
    case PL_OBJECTIVE_SHAPE:
        deviation_shape(ik, at, o, ik->goal.place[i], d, J);
        break;
    case PL_OBJECTIVE_CURVATURE:
        deviation_curvature(ik, at, o, d, J);
        break;
    case PL_OBJECTIVE_ENERGY:
        deviation_energy(ik, at, d, J);
        break;
    case PL_OBJECTIVE_COMMAND:
        deviation_command(ik, at, ik->goal.place[i], d, J);
        break;
    default: {
        const bool sensor = o->kind == PL_OBJECTIVE_SENSOR;
        const int out = sensor ? ik->outputs.sensor[o->index] : ik->outputs.effort[o->index];
        d[0] = at->y[out] - o->value;
        if (J) {
            row_add(ik, J, 1, out);
        }
    }
    }
}

// ---- all of them

// How far an effort is beyond its bounds, over its scale; negative inside.
static double bound_excess(const ik_bound *b, double effort)
{
    return fmax(effort - b->high, b->low - effort) / b->scale;
}

// Residuals, their sums and the excess of efforts at a point whose outputs are known.
void ik_evaluate(pl_ik *ik, ik_place *place)
{
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        double *d = place->r + ik->goal.row[i];
        objective_deviations(ik, place, i, d, NULL);
        for (int k = 0; k < ik->goal.row[i + 1] - ik->goal.row[i]; ++k) {
            d[k] *= ik->goal.objective[i].weight;
        }
    }

    // least motion
    for (int j = 0; j < ik->n; ++j) {
        place->r[ik->goal.row[ik->goal.objective_count] + j] =
            ik->goal.least_motion * (place->z[j] - ik->entry[j]);
    }

    // value: half the sum of squares of the goals; choice: of the others
    place->value = place->choice = 0;
    for (int i = 0; i <= ik->goal.objective_count; ++i) {
        const bool goal = i == ik->goal.objective_count || pl_objective_is_goal(ik->goal.objective[i].kind);
        double *sum = goal ? &place->value : &place->choice;
        for (int k = ik->goal.row[i];
             k < (i < ik->goal.objective_count ? ik->goal.row[i + 1] : ik->goal.rows); ++k) {
            *sum += 0.5 * place->r[k] * place->r[k];
        }
    }

    place->excess = -INFINITY;
    for (int i = 0; i < ik->bound_count; ++i) {
        place->excess = fmax(place->excess, bound_excess(&ik->bound[i], place->y[ik->bound[i].row]));
    }
}

// J of the residuals and E of the bounded efforts, from the Jacobian of the outputs. Rows of what chooses are
// 0 until the goals are met (goal.choose).
void ik_jacobian(pl_ik *ik, const ik_place *place, double *J, double *E)
{
    memset(J, 0, (size_t)ik->goal.rows * (size_t)ik->n * sizeof *J);
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        double *rows = J + (int64_t)ik->goal.row[i] * ik->n;
        if (!ik->goal.choose && !pl_objective_is_goal(ik->goal.objective[i].kind)) {
            continue;
        }
        const int64_t count = (int64_t)(ik->goal.row[i + 1] - ik->goal.row[i]) * ik->n;
        objective_deviations(ik, place, i, ik->goal.deviation, rows);
        for (int64_t k = 0; k < count; ++k) {
            rows[k] *= ik->goal.objective[i].weight;
        }
    }

    for (int j = 0; j < ik->n; ++j) {
        J[(int64_t)(ik->goal.row[ik->goal.objective_count] + j) * ik->n + j] = ik->goal.least_motion;
    }
    for (int i = 0; i < ik->bound_count; ++i) {
        memcpy(E + (int64_t)i * ik->n, ik->slope.Jy + (int64_t)ik->bound[i].row * ik->n,
               (size_t)ik->n * sizeof *E);
    }
}

// Length of the deviation of objective i, without its weight.
double ik_deviation(const pl_ik *ik, const ik_place *place, int i)
{
    double sum = 0;
    for (int k = ik->goal.row[i]; k < ik->goal.row[i + 1]; ++k) {
        sum += place->r[k] * place->r[k];
    }
    return sqrt(sum) / ik->goal.objective[i].weight;
}

// Tolerances where none is given: 0.005 mm, 1e-3 of curvatures and readings, 1e-3 rad.
static double objective_default(const pl_ik *ik, const pl_objective *o)
{
    double goal;
    switch (o->kind) {
    case PL_OBJECTIVE_POSITION:
    case PL_OBJECTIVE_DISTANCE:
    case PL_OBJECTIVE_SHAPE:
        return 0.005;
    case PL_OBJECTIVE_CURVATURE:
        return 1e-3 * fmax(fabs(o->value), 1 / ik->info.size);
    case PL_OBJECTIVE_SENSOR:
        goal = pl_sensor_traits_get(ik->info.sensor_kind[o->index])->goal;
        return goal > 0 ? goal : o->value != 0 ? 1e-3 * fabs(o->value) : 1e-3;
    default:
        return 1e-3;
    }
}

static bool objective_is_length(pl_objective_kind kind)
{
    return kind == PL_OBJECTIVE_POSITION || kind == PL_OBJECTIVE_DISTANCE || kind == PL_OBJECTIVE_SHAPE;
}

static double objective_tolerance(const pl_ik *ik, const pl_objective *o)
{
    const bool length = objective_is_length(o->kind) && ik->options.length_tolerance > 0;
    return o->tolerance > 0 ? o->tolerance : length ? ik->options.length_tolerance : objective_default(ik, o);
}

// What the search goes to: of a surrogate, whose error takes its part of the tolerance, no less than the
// default.
static double objective_search_tolerance(const pl_ik *ik, const pl_objective *o)
{
    const double tolerance = objective_tolerance(ik, o);
    return ik->surrogate ? fmin(tolerance, objective_default(ik, o)) : tolerance;
}

// Largest deviation over its tolerance: 1 is met. *distance: largest deviation that is a length, mm.
double ik_error(const pl_ik *ik, const ik_place *place, double *distance)
{
    double error = 0;
    *distance = 0;
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        const pl_objective *o = &ik->goal.objective[i];
        if (!pl_objective_is_goal(o->kind)) {
            continue;
        }
        const double d = ik_deviation(ik, place, i);
        error = fmax(error, d / objective_search_tolerance(ik, o));
        *distance = objective_is_length(o->kind) ? fmax(*distance, d) : *distance;
    }

    return error;
}

// Unit of a deviation for messages.
static const char *objective_unit(const pl_ik *ik, const pl_objective *o)
{
    // of the internal value
    static const char *const of_dimension[PL_DIM_COUNT] = {[PL_DIM_LENGTH] = " mm",
                                                           [PL_DIM_VOLUME] = " mm^3",
                                                           [PL_DIM_PRESSURE] = " MPa",
                                                           [PL_DIM_FORCE] = " N"};
    const char *unit;
    switch (o->kind) {
    case PL_OBJECTIVE_DIRECTION:
    case PL_OBJECTIVE_ORIENTATION:
        return " rad";
    case PL_OBJECTIVE_CURVATURE:
        return "/mm";
    case PL_OBJECTIVE_SENSOR:
        unit = of_dimension[pl_sensor_traits_get(ik->info.sensor_kind[o->index])->dimension];
        return unit ? unit : "";
    case PL_OBJECTIVE_ORTHOGONAL:
        return ""; // a cosine
    default:
        return " mm";
    }
}

// The error of a surrogate in the deviation of a goal, where the model stands; NAN: not known.
static double objective_model_error(const pl_objective *o, const pl_model_answer *a)
{
    const pl_answer_error *e = &a->error;
    switch (o->kind) {
    case PL_OBJECTIVE_POSITION:
    case PL_OBJECTIVE_DISTANCE:
        return e->marker[o->index];
    case PL_OBJECTIVE_DIRECTION:
    case PL_OBJECTIVE_ORIENTATION:
        return e->rotation[o->index];
    case PL_OBJECTIVE_ORTHOGONAL: // both ends of the angle between the axis and the line to the target
        return e->rotation[o->index] +
               e->marker[o->index] / fmax(pl_distance3(a->marker + 3 * o->index, o->target), 1e-9);
    case PL_OBJECTIVE_SHAPE:
        return e->shape;
    case PL_OBJECTIVE_SENSOR:
        return e->sensor[o->index];
    default:
        return NAN;
    }
}

// As ik_error, with the error of a surrogate added to every deviation.
ik_certainty ik_certain(const pl_ik *ik)
{
    const pl_model_answer a = pl_model_get_answer(ik->model);
    const bool counts = pl_answer_has_error(&a);
    ik_certainty c = {.confidence = counts ? a.error.confidence : NAN};

    for (int i = 0; i < ik->goal.objective_count; ++i) {
        const pl_objective *o = &ik->goal.objective[i];
        if (!pl_objective_is_goal(o->kind)) {
            continue;
        }
        const double d = ik_deviation(ik, &ik->here, i), tolerance = objective_tolerance(ik, o);
        const double e = counts ? objective_model_error(o, &a) : 0;
        // unknown errors count as infinite
        const double error = isnan(d + e) ? INFINITY : (d + e) / tolerance;
        c.by_model = isnan(d) ? INFINITY : fmax(c.by_model, d / tolerance);
        if (error >= c.error) {
            c.error = error;
            c.worst = e;
            c.unit = objective_unit(ik, o);
        }

        if (objective_is_length(o->kind)) {
            c.model_error = isnan(c.model_error) || isnan(e) ? NAN : fmax(c.model_error, e);
        }
    }

    c.unknown = a.error.unknown;

    return c;
}

// What is left of the worst goal, as text: "0.3 mm off" or "direction of `tip` 0.1 rad off".
void ik_off_text(const pl_ik *ik, int digits, char *text, size_t room)
{
    int worst = -1;
    double most = -1, distance;

    for (int i = 0; i < ik->goal.objective_count; ++i) {
        const pl_objective *o = &ik->goal.objective[i];
        const double error = ik_deviation(ik, &ik->here, i) / objective_search_tolerance(ik, o);
        if (pl_objective_is_goal(o->kind) && error > most) {
            most = error;
            worst = i;
        }
    }

    if (worst < 0 || objective_is_length(ik->goal.objective[worst].kind)) {
        ik_error(ik, &ik->here, &distance);
        snprintf(text, room, "%.*g mm off", digits, distance);
        return;
    }

    const pl_objective *o = &ik->goal.objective[worst];
    const char *of = objective_has_marker(o->kind)    ? ik->info.marker_name[o->index]
                     : o->kind == PL_OBJECTIVE_SENSOR ? ik->info.sensor_name[o->index]
                                                      : NULL;
    snprintf(text, room, "%s%s%.60s%s %.*g%s off", kind_name[o->kind], of ? " of `" : "", of ? of : "",
             of ? "`" : "", digits, ik_deviation(ik, &ik->here, worst), objective_unit(ik, o));
}
