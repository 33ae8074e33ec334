// Sweeps: commands varied from one value to another, each point solved from its nearest solved neighbour. In
// a grid the last axis varies fastest; where an outer axis advances and the inner ones begin again, the
// neighbour is the first point of the line before. A table is solved row by row.
#include "kinematics/kinematics_impl.h"

// One axis: its command, its points, and no command twice.
static pl_status sweep_axis_check(const pl_model_info *info, const pl_sweep_def *def, int a, pl_error *err)
{
    const pl_sweep_axis *x = &def->axis[a];
    if (x->command < 0 || x->command >= info->command_count) {
        return pl_fail(err, PL_BAD_INPUT, "sweep: axis %d varies command %d, the robot has %d", a, x->command,
                       info->command_count);
    }

    const char *name = info->command[x->command].name;
    if (x->count < 1 || x->count > PL_SWEEP_POINTS || !isfinite(x->from) || !isfinite(x->to)) {
        return pl_fail(err, PL_BAD_INPUT, "sweep: '%s' from %g to %g in %d points, expected between 1 and %d",
                       name, x->from, x->to, x->count, PL_SWEEP_POINTS);
    }

    for (int b = 0; b < a; ++b) {
        if (def->axis[b].command == x->command) {
            return pl_fail(err, PL_BAD_INPUT, "sweep: '%s' is varied twice", name);
        }
    }

    if (!def->grid && x->count != def->axis[0].count) {
        return pl_fail(err, PL_BAD_INPUT,
                       "commands varied together need the same number of points, found %d and %d",
                       def->axis[0].count, x->count);
    }

    return PL_OK;
}

// Number of points; fails where the definition is not possible.
pl_status pl_sweep_count(const pl_model *model, const pl_sweep_def *def, int *count, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    *count = 0;
    if (def->table) {
        if (def->axis_count != 0 || def->table_count < 1 || def->table_count > PL_SWEEP_POINTS) {
            return pl_fail(err, PL_BAD_INPUT,
                           "sweep: a table of %d rows and %d axes, expected 1 to %d rows and no axis",
                           def->table_count, def->axis_count, PL_SWEEP_POINTS);
        }

        *count = def->table_count;
        return PL_OK;
    }

    // axes: a product, or side by side
    if (def->axis_count < 1 || def->axis_count > PL_SWEEP_AXES) {
        return pl_fail(err, PL_BAD_INPUT, "sweep: %d commands are varied, expected between 1 and %d",
                       def->axis_count, PL_SWEEP_AXES);
    }

    double points = 1;
    for (int a = 0; a < def->axis_count; ++a) {
        const pl_status status = sweep_axis_check(&info, def, a, err);
        if (status != PL_OK) {
            return status;
        }
        points = def->grid ? points * def->axis[a].count : def->axis[a].count;
    }

    if (points > PL_SWEEP_POINTS) {
        return pl_fail(err, PL_BAD_INPUT, "%.0f points, the limit is %d", points, PL_SWEEP_POINTS);
    }
    *count = (int)points;

    return PL_OK;
}

// ---- a run
typedef struct sweep {
    pl_model *model;
    const pl_sweep_def *def;
    int levels, count; // axes of a grid, else 1; points
    size_t state_size;
    double *command; // of the current point
    double *start;   // per level but the innermost: the state at the beginning of its current line
} sweep;

// The index of point p along level d.
static int sweep_index(const sweep *s, int p, int d)
{
    if (!s->def->grid) {
        return p;
    }
    for (int a = s->def->axis_count - 1; a > d; --a) {
        p /= s->def->axis[a].count;
    }
    return p % s->def->axis[d].count;
}

// Commands of point p; the last point of an axis is exact.
static void sweep_commands(sweep *s, int p)
{
    const int commands = pl_model_get_info(s->model).command_count;
    for (int i = 0; s->def->table && i < commands; ++i) {
        s->command[i] = s->def->table[(int64_t)p * commands + i];
    }

    for (int a = 0; a < s->def->axis_count; ++a) {
        const pl_sweep_axis *x = &s->def->axis[a];
        const int i = sweep_index(s, p, a);
        const double t = x->count > 1 ? (double)i / (x->count - 1) : 0;
        s->command[x->command] = i == x->count - 1 && i > 0 ? x->to : x->from + t * (x->to - x->from);
    }
}

// To the state that point p starts from: the first point of the line before, or rest
// where a run of a table begins.
static pl_status sweep_go_back(sweep *s, int p, pl_error *err)
{
    if (s->def->table) {
        if (s->def->fresh && s->def->fresh[p]) {
            pl_model_reset(s->model);
        }
        return PL_OK;
    }

    int d = s->levels - 1;
    while (d > 0 && sweep_index(s, p, d) == 0) {
        --d;
    }

    return p > 0 && d < s->levels - 1
               ? pl_model_unpack(s->model, s->start + (size_t)d * s->state_size, s->state_size, err)
               : PL_OK;
}

// Stores the state for every level whose line begins at p.
static void sweep_remember(sweep *s, int p)
{
    for (int d = s->levels - 2; d >= 0 && sweep_index(s, p, d + 1) == 0; --d) {
        pl_model_pack(s->model, s->start + (size_t)d * s->state_size);
    }
}

static pl_status sweep_init(sweep *s, pl_model *model, const pl_sweep_def *def, pl_error *err)
{
    const int commands = pl_model_get_info(model).command_count;
    *s = (sweep){.model = model, .def = def, .levels = def->grid && !def->table ? def->axis_count : 1};
    pl_status status = pl_sweep_count(model, def, &s->count, err);
    if (status != PL_OK) {
        return status;
    }
    s->state_size = pl_model_state_size(model);
    s->command = PL_NEW_ARRAY(double, commands);
    s->start = PL_NEW_ARRAY(double, (size_t)(s->levels - 1) * s->state_size);
    if (!s->command || !s->start) {
        return pl_fail_memory(err, "the sweep");
    }
    for (int i = 0; i < commands; ++i) {
        s->command[i] = def->command ? def->command[i] : NAN;
    }

    return PL_OK;
}

// begin (may be NULL) and record return false to stop. Points without an equilibrium are recorded, too.
static pl_status sweep_points(sweep *s, bool (*begin)(void *user, int index, int count),
                              bool (*record)(void *user, const pl_sample *point), void *user,
                              pl_sweep_report *report, pl_error *err)
{
    for (int p = 0; p < s->count; ++p) {
        pl_solve_report fk;
        if (begin && !begin(user, p, s->count)) {
            report->stopped = true;
            return PL_OK;
        }

        // from the nearest solved neighbour
        sweep_commands(s, p);
        pl_status status = sweep_go_back(s, p, err);
        if (status == PL_OK) {
            status = pl_model_fk(s->model, s->command, &fk, err);
        }
        if (status != PL_OK) {
            return status;
        }
        if (fk.outcome == PL_STOPPED) {
            report->stopped = true;
            return PL_OK;
        }

        // a model with memory keeps the solved point
        if (fk.outcome == PL_SOLVED) {
            pl_model_commit(s->model);
        }
        sweep_remember(s, p);
        const pl_sample point = {
            .index = p, .command = s->command, .answer = pl_model_get_answer(s->model), .fk = &fk};
        ++report->count;
        report->solved += fk.outcome == PL_SOLVED;
        if (!record(user, &point)) {
            report->stopped = p + 1 < s->count;
            return PL_OK;
        }
    }

    return PL_OK;
}

pl_status pl_sweep_run(pl_model *model, const pl_sweep_def *def,
                       bool (*begin)(void *user, int index, int count),
                       bool (*record)(void *user, const pl_sample *point), void *user,
                       pl_sweep_report *report, pl_error *err)
{
    sweep s;
    *report = (pl_sweep_report){0};
    pl_status status = sweep_init(&s, model, def, err);
    if (status == PL_OK) {
        status = sweep_points(&s, begin, record, user, report, err);
    }
    pl_free(s.command);
    pl_free(s.start);

    return status;
}
