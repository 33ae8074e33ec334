// Derivatives of a model that gives none of its own, by differences of forward solves:
//   dy/dc = (y(c + h) - y(c - h)) / 2h,          or beside a bound
//   dy/dc = (-3 y(c) + 4 y(c + s h) - y(c + 2 s h)) / (2 s h),   s = +1 or -1,
// both to second order in h. Rotations are compared as vectors: log(R(c + h) R(c)^T).
#include <stdio.h>
#include "base/rotation.h"
#include "model/model_impl.h"

typedef enum difference_part {
    DIFFERENCE_MARKER,
    DIFFERENCE_ROTATION,
    DIFFERENCE_SENSOR,
    DIFFERENCE_EFFORT,
    DIFFERENCE_MEASURE,
    DIFFERENCE_ENERGY,
    DIFFERENCE_READING,
    DIFFERENCE_POINT, // last, for its memory comes later
    DIFFERENCE_PARTS
} difference_part;

static const unsigned difference_bit[DIFFERENCE_PARTS] = {PL_PART_MARKER,  PL_PART_ROTATION, PL_PART_SENSOR,
                                                          PL_PART_EFFORT,  PL_PART_MEASURE,  PL_PART_ENERGY,
                                                          PL_PART_READING, PL_PART_POINT};

struct model_differences {
    int64_t start[DIFFERENCE_PARTS + 1]; // first row of each part
    int64_t rows;                        // memory is there for so many: all, or all but points
    double *y[3];                        // at c, and at the two places beside it
    double *J;                           // rows x commands
    double *R;                           // 9 per marker, at c
    char reason[240];                    // why the last forward solve beside c is no equilibrium
    double *command;
};

// Memory for more rows; never shrinks. False when out of memory.
static bool difference_room(model_differences *d, int64_t rows, int commands)
{
    if (rows <= d->rows) {
        return true;
    }

    for (int k = 0; k < 3; ++k) {
        double *y = pl_resize_array(d->y[k], (size_t)rows, sizeof *y);
        if (!y) {
            return false;
        }
        d->y[k] = y;
    }

    double *J = pl_resize_array(d->J, (size_t)rows * (size_t)commands + 1, sizeof *J);
    if (!J) {
        return false;
    }
    d->J = J;
    d->rows = rows;

    return true;
}

// Memory for everything but the derivatives of points, which are many and seldom asked for.
pl_status model_differences_create(pl_model *model, pl_error *err)
{
    const pl_model_info *i = &model->info;
    const int64_t count[DIFFERENCE_PARTS] = {3 * (int64_t)i->marker_count,
                                             3 * (int64_t)i->marker_count,
                                             i->sensor_count,
                                             i->actuator_count,
                                             i->actuator_count,
                                             1,
                                             i->reading_count,
                                             3 * (int64_t)i->point_count};
    model_differences *d = model->differences = PL_NEW(model_differences);

    if (!d) {
        return pl_fail_memory(err, "derivatives by differences");
    }

    // rows of the parts, one after the other
    for (int p = 0; p < DIFFERENCE_PARTS; ++p) {
        d->start[p + 1] = d->start[p] + count[p];
    }
    d->R = PL_NEW_ARRAY(double, 9 * i->marker_count);
    d->command = PL_NEW_ARRAY(double, i->command_count);
    const bool enough =
        d->R && d->command && difference_room(d, d->start[DIFFERENCE_POINT], i->command_count);

    return enough ? PL_OK : pl_fail_memory(err, "derivatives by differences");
}

void model_differences_destroy(model_differences *d)
{
    if (d) {
        for (int k = 0; k < 3; ++k) {
            pl_free(d->y[k]);
        }
        pl_free(d->J);
        pl_free(d->R);
        pl_free(d->command);
        pl_free(d);
    }
}

// All outputs where the model stands; points only when there is room for them.
static void difference_read(const pl_model *m, double *y)
{
    const model_differences *d = m->differences;
    const pl_model_answer *a = &m->answer;
    const double *const from[DIFFERENCE_PARTS] = {a->marker,  NULL,       a->sensor,  a->effort,
                                                  a->measure, &a->energy, a->reading, a->point};

    for (int p = 0; p < DIFFERENCE_PARTS && d->start[p + 1] <= d->rows; ++p) {
        const size_t count = (size_t)(d->start[p + 1] - d->start[p]);
        if (p != DIFFERENCE_ROTATION && count > 0) {
            memcpy(y + d->start[p], from[p], count * sizeof *y);
        }
    }

    for (int i = 0; i < m->info.marker_count; ++i) {
        double turn[9];
        pl_rotation_mul_transposed(a->rotation + 9 * i, d->R + 9 * i, turn);
        pl_rotation_log(turn, y + d->start[DIFFERENCE_ROTATION] + 3 * i);
    }
}

// From the state at c to `command[j] + step`; *solved is false when there is no equilibrium.
static pl_status difference_go(pl_model *m, int j, double step, double *y, bool *solved,
                               pl_jacobian_report *report, pl_error *err)
{
    model_differences *d = m->differences;
    const double c = d->command[j];
    pl_solve_report forward = {0};
    pl_error own = {0};

    *solved = false;

    // always from the same state, so that all columns belong to one branch
    pl_status status = model_recall(m, &m->base, err);
    if (status != PL_OK) {
        return status;
    }
    d->command[j] = c + step;
    status = pl_model_fk(m, d->command, &forward, &own);
    d->command[j] = c;
    report->factorizations += forward.factorizations;
    report->solves += forward.solves;

    // running out of memory and interruptions end the differentiation
    if (status == PL_NO_MEMORY) {
        return pl_fail(err, status, "%s", own.text);
    }
    if (status == PL_OK && forward.outcome == PL_STOPPED) {
        return pl_fail(err, PL_INTERRUPTED, "interrupted while taking derivatives");
    }

    // a command that is refused counts as one without an equilibrium: the other side may have one
    *solved = status == PL_OK && forward.outcome == PL_SOLVED;
    if (*solved) {
        difference_read(m, y);
    } else {
        snprintf(d->reason, sizeof d->reason, "%.239s", status == PL_OK ? forward.message : own.text);
    }

    return PL_OK;
}

// Which sides of c may be tried: within the range, unless the model stands outside already.
static void difference_sides(const pl_command_info *command, double c, double h, bool *down, bool *up)
{
    const double slack = 1e-9 * h;
    const bool inside =
        command->has_range && c >= command->range[0] - slack && c <= command->range[1] + slack;
    *down = !inside || c - h >= command->range[0] - slack;
    *up = !inside || c + h <= command->range[1] + slack;
}

// A column by two solves on one side, at s h and 2 s h.
static pl_status difference_beside(pl_model *m, int j, double step, bool *solved, pl_jacobian_report *report,
                                   pl_error *err)
{
    model_differences *d = m->differences;
    pl_status status = difference_go(m, j, step, d->y[1], solved, report, err);

    if (status == PL_OK && *solved) {
        status = difference_go(m, j, 2 * step, d->y[2], solved, report, err);
    }
    for (int64_t i = 0; status == PL_OK && *solved && i < d->rows; ++i) {
        d->J[i * m->info.command_count + j] = (-3 * d->y[0][i] + 4 * d->y[1][i] - d->y[2][i]) / (2 * step);
    }

    return status;
}

// Central where both sides exist, else one-sided; h is a share of the command's span.
static pl_status difference_column(pl_model *m, int j, pl_jacobian_report *report, pl_error *err)
{
    model_differences *d = m->differences;
    const pl_command_info *command = &m->info.command[j];
    const double span = command->span[1] - command->span[0];
    const double h = m->info.difference_step * (span > 0 ? span : 1);
    bool down, up, low = false, high = false;

    difference_sides(command, d->command[j], h, &down, &up);
    pl_status status = PL_OK;
    if (down && up) {
        status = difference_go(m, j, h, d->y[1], &high, report, err);
        if (status == PL_OK) {
            status = difference_go(m, j, -h, d->y[2], &low, report, err);
        }
        for (int64_t i = 0; status == PL_OK && low && high && i < d->rows; ++i) {
            d->J[i * m->info.command_count + j] = (d->y[1][i] - d->y[2][i]) / (2 * h);
        }
        if (status != PL_OK || (low && high)) {
            return status;
        }
        // one side failed: use the other
        up = high;
    }

    // beside a bound
    bool solved = false;
    report->one_sided = true;
    status = difference_beside(m, j, up ? h : -h, &solved, report, err);
    if (status == PL_OK && !solved) {
        status = pl_fail(err, PL_FAILED,
                         "no derivative with respect to command '%s': no equilibrium was found next to its "
                         "current value (%s)",
                         command->name, d->reason);
    }

    return status;
}

// Leaves the model where it was. Columns of idle commands are 0.
pl_status model_differentiate(pl_model *m, unsigned parts, pl_model_derivative *out,
                              pl_jacobian_report *report, pl_error *err)
{
    model_differences *d = m->differences;
    const int commands = m->info.command_count;

    if ((parts & PL_PART_POINT) && !difference_room(d, d->start[DIFFERENCE_PARTS], commands)) {
        return pl_fail_memory(err, "derivatives of the body points");
    }

    // the state at c, which all columns start from
    report->residual = NAN;
    memset(d->J, 0, (size_t)d->rows * (size_t)commands * sizeof *d->J);
    memcpy(d->R, m->answer.rotation, 9 * (size_t)m->info.marker_count * sizeof *d->R);
    memcpy(d->command, m->answer.command, (size_t)commands * sizeof *d->command);
    pl_status status = model_keep(m, &m->base, err);
    difference_read(m, d->y[0]);

    // columns
    bool moved = false;
    for (int j = 0; status == PL_OK && j < commands; ++j) {
        if (!isnan(d->command[j])) {
            moved = true;
            status = difference_column(m, j, report, err);
        }
    }

    // return
    if (moved) {
        pl_error own = {0};
        const pl_status back = model_recall(m, &m->base, &own);
        if (status == PL_OK && back != PL_OK) {
            status = pl_fail(err, back, "%s", own.text);
        }
    }

    if (status != PL_OK) {
        return status;
    }

    // rows of the parts asked for
    const double **const to[DIFFERENCE_PARTS] = {&out->marker,  &out->rotation, &out->sensor,  &out->effort,
                                                 &out->measure, &out->energy,   &out->reading, &out->point};
    for (int p = 0; p < DIFFERENCE_PARTS; ++p) {
        *to[p] = parts & difference_bit[p] ? d->J + d->start[p] * commands : NULL;
    }

    return PL_OK;
}
