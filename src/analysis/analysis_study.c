// Design studies: every combination of values of a robot file and of commands, solved and tabulated. The
// combinations of file values are the variants; each is built once, its commands follow one another from a
// warm start, and several variants are solved at the same time.
//
// Stiffness of a marker: the exact derivative C of its position by a force on it; along an axis, with the
// other directions free, it is 1 / C_aa. Blocked force: the variant is solved with three stiff springs from
// the marker along x, y, z to points far away. With spring force f, displacement u of the marker, spring
// stiffness k and its compliance C_b under the springs, the body's own stiffness is K = C_b^-1 - k I, and the
// force at u = 0 is f - K u, with an error of second order in u (about 1e-3 mm).
#define _DEFAULT_SOURCE // sysconf of processors; asked for beside C17
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "base/vec.h"
#include "analysis/analysis_study.h"
#include "model/model_record.h"

#define STUDY_FAR 1e5       // mm, from the marker to the other ends of the springs
#define STUDY_STIFFER 300.0 // of the springs over the marker's largest stiffness at rest
#define STUDY_NAME 200      // bytes

// ---- points. A point is a number; its digits in the mixed base of the axes are the indices of its values.
// Index of the value of an axis at a point.
static int study_digit(const pl_study_def *d, int point, int axis)
{
    for (int i = d->axis_count - 1; i > axis; --i) {
        point /= d->axis[i].count;
    }
    return point % d->axis[axis].count;
}

// The point whose digits along `order` are those of `variant` and `inner`.
static int study_point(const study_work *w, int variant, int inner)
{
    const pl_study_def *d = w->def;
    int digit[PL_STUDY_AXES], rest = variant * w->inner + inner, point = 0;

    // from the mixed base of `order` to that of the axes
    for (int i = d->axis_count - 1; i >= 0; --i) {
        digit[w->order[i]] = rest % d->axis[w->order[i]].count;
        rest /= d->axis[w->order[i]].count;
    }

    for (int i = 0; i < d->axis_count; ++i) {
        point = point * d->axis[i].count + digit[i];
    }

    return point;
}

// ---- quantities
static bool study_add(pl_study *s, const char *format, ...) PL_PRINTF(2, 3);

// Appends the name of a column; false when out of memory.
static bool study_add(pl_study *s, const char *format, ...)
{
    char name[STUDY_NAME];
    va_list list;

    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    char **more = pl_resize_array(s->quantity, (size_t)s->quantity_count + 1, sizeof *more);

    if (more) {
        s->quantity = more;
        more[s->quantity_count] = pl_strdup(name);
        s->quantity_count += more[s->quantity_count] != NULL;
    }

    return more && more[s->quantity_count - 1];
}

// Names and units of all columns, in the order in which study_record writes the values.
static bool study_name_quantities(const study_work *w, const pl_record *r)
{
    pl_study *s = w->out;
    bool good = true;

    for (int i = 0; i < r->marker_count; ++i) {
        const char *name = r->marker[i].name;
        good = good && study_add(s, "%s.x [mm]", name) && study_add(s, "%s.y [mm]", name) &&
               study_add(s, "%s.z [mm]", name) && study_add(s, "%s.moved [mm]", name) &&
               study_add(s, "%s.bend [deg]", name);
        good = good && (!w->surrogate || study_add(s, "%s.model_error [mm]", name));
    }

    for (int i = 0; i < r->actuator_count; ++i) {
        const pl_record_actuator *a = &r->actuator[i];
        good = good && study_add(s, "%s.%s [%s]", a->name, a->measure_name, a->measure_unit) &&
               study_add(s, "%s.effort [%s]", a->name, a->effort_unit);
    }

    good = good && study_add(s, "energy [mJ]") && study_add(s, "min_J [1]");
    good = good && (!w->surrogate || study_add(s, "model_confidence [1]"));
    const char *marker = r->marker_count ? r->marker[w->marker].name : "";
    if (w->def->stiffness) {
        good = good && study_add(s, "%s.stiffness_x [N/mm]", marker) &&
               study_add(s, "%s.stiffness_y [N/mm]", marker) && study_add(s, "%s.stiffness_z [N/mm]", marker);
    }

    if (w->def->blocked) {
        good = good && study_add(s, "%s.blocked_x [N]", marker) && study_add(s, "%s.blocked_y [N]", marker) &&
               study_add(s, "%s.blocked_z [N]", marker) && study_add(s, "%s.blocked [N]", marker);
    }

    return good;
}

// Values of a record in the order of their names; returns where the next ones go.
static double *study_record(const study_work *w, const pl_record *r, double *to)
{
    for (int i = 0; i < r->marker_count; ++i) {
        const pl_record_marker *m = &r->marker[i];
        for (int k = 0; k < 3; ++k) {
            *to++ = m->position[k];
        }
        *to++ = sqrt(m->displacement[0] * m->displacement[0] + m->displacement[1] * m->displacement[1] +
                     m->displacement[2] * m->displacement[2]);
        *to++ = m->bend;
        if (w->surrogate) {
            *to++ = m->model_error;
        }
    }

    for (int i = 0; i < r->actuator_count; ++i) {
        *to++ = r->actuator[i].measure;
        *to++ = r->actuator[i].effort;
    }

    *to++ = r->report.energy;
    *to++ = r->report.min_J;
    if (w->surrogate) {
        *to++ = r->model_error.confidence;
    }

    return to;
}

// C[3 a + b]: displacement of the marker along a, mm, per N along b
static pl_status study_compliance(pl_model *model, int marker, double C[9], pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    double *row = PL_NEW_ARRAY(double, 9 * info.marker_count);

    if (!row) {
        return pl_fail_memory(err, "the study");
    }

    pl_parameter parameter[3];
    for (int i = 0; i < 3; ++i) {
        parameter[i] = (pl_parameter){PL_PARAMETER_MARKER_FORCE, marker, i};
    }

    const pl_jacobian out = {.marker = row};
    pl_jacobian_report report;
    const pl_status status = pl_model_sensitivity(model, parameter, 3, &out, &report, err);
    memcpy(C, row + 9 * marker, 9 * sizeof *C);
    pl_free(row);

    return status;
}

// B = A^-1 by cofactors; false: singular.
static bool study_invert(const double A[9], double B[9])
{
    const double c[3] = {A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]};
    const double det = A[0] * c[0] + A[1] * c[1] + A[2] * c[2];

    if (!(fabs(det) > 0)) {
        return false;
    }

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, p = (i + 1) % 3, q = (i + 2) % 3;
            B[3 * i + j] = (A[3 * a + p] * A[3 * b + q] - A[3 * a + q] * A[3 * b + p]) / det;
        }
    }

    return true;
}

// ---- a variant
typedef struct study_variant {
    pl_model *free, *held; // held: with springs at the marker, or NULL
    double spring;         // N/mm
    double at[3];          // the marker at rest
    double *command;
} study_variant;

// Progress of loads and solves: stops all workers as soon as one of them has to.
static bool study_step(void *user, double fraction, const char *what)
{
    (void)fraction;
    (void)what;
    study_work *w = user;
    return !atomic_load(&w->stop);
}

// The values of the file for a variant, then those set for all; returns how many.
static int study_variations(const study_work *w, int point, pl_variation *v)
{
    const pl_study_def *d = w->def;
    int count = 0;

    for (int i = 0; i < d->axis_count; ++i) {
        if (!w->is_command[i]) {
            v[count++] = (pl_variation){d->axis[i].name, d->axis[i].value[study_digit(d, point, i)]};
        }
    }

    return count;
}

// A copy of the document with other values.
static pl_status study_edit(const study_work *w, const pl_variation *v, int count, pl_robot_document **out,
                            pl_error *err)
{
    pl_status status = pl_robot_document_copy(w->def->document, out, err);
    for (int i = 0; status == PL_OK && i < count; ++i) {
        status = pl_robot_document_set(*out, v[i].path, v[i].value, err);
    }
    return status;
}

// A model of the robot file with other values.
static pl_status study_load(study_work *w, const pl_variation *v, int count, pl_model **out, pl_error *err)
{
    const pl_progress progress = {study_step, w};
    pl_model_load_options options = w->def->load;

    options.load.progress = &progress;
    options.progress = progress;
    pl_robot_document *variant = NULL;
    pl_status status = study_edit(w, v, count, &variant, err);
    if (status == PL_OK) {
        status = pl_model_from_document(variant, &options, out, NULL, err);
    }
    pl_robot_document_destroy(variant);

    return status;
}

// Whether the marker is held along an axis.
static bool study_holds(const study_work *w, int axis)
{
    return w->def->blocked_axis == 0 || w->def->blocked_axis == axis + 1;
}

// The same variant with springs at the marker, much stiffer than the body.
static pl_status study_load_held(study_work *w, const pl_variation *given, int count, study_variant *v,
                                 pl_error *err)
{
    const pl_model_info info = pl_model_get_info(v->free);
    double C[9];
    pl_status status = study_compliance(v->free, w->marker, C, err);

    if (status != PL_OK) {
        return status;
    }

    // stiffness of the springs from the smallest compliance
    const double softest = fmin(C[0], fmin(C[4], C[8]));
    v->spring = STUDY_STIFFER / (softest > 0 ? softest : 1e-3);
    memcpy(v->at, info.marker_at + 3 * w->marker, sizeof v->at);

    // springs as text of a robot file
    pl_text springs = {0};
    pl_text_add(&springs, "[");
    for (int i = 0; i < 3; ++i) {
        if (!study_holds(w, i)) {
            continue;
        }
        pl_text_add(&springs,
                    "%s{name: pliant_held_%c, from: \"%s\", to: [%.17g, %.17g, %.17g], stiffness: %.17g, "
                    "rest_length: %.17g}",
                    i && !w->def->blocked_axis ? ", " : "", 'x' + i, info.marker_name[w->marker],
                    v->at[0] + (i == 0) * STUDY_FAR, v->at[1] + (i == 1) * STUDY_FAR,
                    v->at[2] + (i == 2) * STUDY_FAR, v->spring, STUDY_FAR);
    }

    pl_text_add(&springs, "]");
    pl_variation all[PL_STUDY_AXES + 64];
    memcpy(all, given, (size_t)count * sizeof *all);
    all[count] = (pl_variation){"springs+", springs.data};
    status = springs.failed ? pl_fail_memory(err, "the study") : study_load(w, all, count + 1, &v->held, err);
    pl_text_clear(&springs);

    return status;
}

// The force of the marker on what holds it: F = -(f - K u). Along one axis alone K is 1 / C_aa, the marker
// being free across.
static pl_status study_blocked(study_work *w, study_variant *v, double *to, pl_error *err)
{
    pl_solve_report report;
    double C[9], S[9];
    pl_status status = pl_model_fk(v->held, v->command, &report, err);

    if (status != PL_OK || report.outcome != PL_SOLVED) {
        return status;
    }

    // compliance under the springs; along one axis alone the others are left out
    status = study_compliance(v->held, w->marker, C, err);
    const int axis = w->def->blocked_axis - 1;
    for (int i = 0; axis >= 0 && i < 9; ++i) {
        C[i] = i == 4 * axis ? C[i] : i % 4 == 0;
    }
    if (status != PL_OK || !study_invert(C, S)) {
        return status;
    }

    // displacement and spring forces
    const double *x = pl_model_get_answer(v->held).marker + 3 * w->marker;
    double f[3] = {0}, u[3], square = 0;
    for (int i = 0; i < 3; ++i) {
        u[i] = x[i] - v->at[i];
    }

    for (int i = 0; i < 3; ++i) {
        double along[3] = {-u[0], -u[1], -u[2]};
        along[i] += STUDY_FAR;
        const double length = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
        for (int k = 0; study_holds(w, i) && k < 3; ++k) {
            f[k] += v->spring * (length - STUDY_FAR) * along[k] / length;
        }
    }

    // extrapolated to u = 0
    for (int i = 0; i < 3; ++i) {
        if (!study_holds(w, i)) {
            to[i] = 0;
            continue;
        }

        double K_u = -v->spring * u[i];
        for (int k = 0; k < 3; ++k) {
            K_u += S[3 * i + k] * u[k];
        }
        to[i] = -(f[i] - K_u);
        square += to[i] * to[i];
    }

    to[3] = sqrt(square);

    return PL_OK;
}

// One point: record, stiffness and blocked force into `value`. A point without an equilibrium is an outcome.
static pl_status study_solve(study_work *w, study_variant *v, double *value, char *outcome, size_t room,
                             pl_error *err)
{
    const pl_record *record = NULL;
    pl_solve_report report;
    pl_status status = pl_model_fk(v->free, v->command, &report, err);

    if (status != PL_OK) {
        return status;
    }
    snprintf(outcome, room, "%s", pl_outcome_name(report.outcome));

    // the next point does not start from a failed shape
    if (report.outcome != PL_SOLVED) {
        pl_model_reset(v->free);
        return atomic_load(&w->stop) ? PL_INTERRUPTED : PL_OK;
    }

    status = pl_model_record(v->free, &report, &record, err);
    if (status != PL_OK) {
        return status;
    }

    double *to = study_record(w, record, value);
    if (w->def->stiffness) {
        double C[9];
        status = study_compliance(v->free, w->marker, C, err);
        for (int i = 0; status == PL_OK && i < 3; ++i) {
            to[i] = C[4 * i] > 0 ? 1 / C[4 * i] : NAN;
        }
        to += 3;
    }

    if (status == PL_OK && w->def->blocked) {
        status = study_blocked(w, v, to, err);
    }

    return atomic_load(&w->stop) ? PL_INTERRUPTED : status;
}

// Stores the outcome of a point and wakes the watcher.
static void study_done(study_work *w, int point, const char *outcome)
{
    pthread_mutex_lock(&w->lock);
    pl_study *s = w->out;
    char *copy = pl_strdup(outcome[0] ? outcome : "failed");
    for (char *c = copy; c && *c; ++c) {
        *c = *c == ',' || *c == '\n' || *c == '"' ? ';' : *c; // it stands in a table
    }
    s->outcome[point] = copy;

    if (copy) {
        ++s->done;
        s->solved += strcmp(copy, "solved") == 0;
        analysis_study_keep(w, point);
    } else {
        w->status = pl_fail_memory(&w->err, "the study");
        atomic_store(&w->stop, true);
    }

    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

// The first failure that concerns the whole study stops it.
static void study_give_up(study_work *w, pl_status status, const pl_error *err)
{
    pthread_mutex_lock(&w->lock);
    if (w->status == PL_OK) {
        w->status = status;
        w->err = *err;
    }

    atomic_store(&w->stop, true);
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

// Builds a variant: values of the file (those set for all have a path with dots), then commands.
static pl_status study_build(study_work *w, int point, study_variant *v, pl_error *err)
{
    const pl_study_def *d = w->def;
    pl_variation given[PL_STUDY_AXES + 64];
    int count = study_variations(w, point, given);
    pl_model_info info;

    for (int i = 0; i < d->set_count; ++i) {
        if (strchr(d->set[i].path, '.')) {
            given[count++] = d->set[i];
        }
    }

    pl_status status = study_load(w, given, count, &v->free, err);
    if (status != PL_OK) {
        return status;
    }
    info = pl_model_get_info(v->free);
    v->command = PL_NEW_ARRAY(double, info.command_count + 1);
    if (!v->command) {
        return pl_fail_memory(err, "the study");
    }
    for (int i = 0; i < info.command_count; ++i) {
        v->command[i] = NAN;
    }

    for (int i = 0; status == PL_OK && i < d->set_count; ++i) {
        const int c = strchr(d->set[i].path, '.') ? -1 : pl_model_find_command(v->free, d->set[i].path);
        if (c >= 0) {
            status = pl_quantity_parse(d->set[i].value, pl_drive_dimension(info.command[c].drive),
                                       &v->command[c], err);
        }
    }

    if (status == PL_OK && d->blocked) {
        status = study_load_held(w, given, count, v, err);
    }

    return status;
}

// Commands outside of their ranges, which may depend on what is varied, are refused point by point.
static pl_status study_check_ranges(const study_work *w, const study_variant *v, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(v->free);
    for (int i = 0; !w->def->beyond_range && i < info.command_count; ++i) {
        const pl_command_info *c = &info.command[i];
        const double x = v->command[i], scale = pl_drive_scale(c->drive);

        // a value in another unit may differ in the last bit
        const double slack = 1e-12 * (fabs(c->range[0]) + fabs(c->range[1]));
        if (c->has_range && (x < c->range[0] - slack || x > c->range[1] + slack)) {
            const char *unit = pl_drive_unit(c->drive);
            return pl_fail(err, PL_BAD_INPUT, "%s is %g %s, outside its range of %g to %g %s", c->name,
                           x / scale, unit, c->range[0] / scale, c->range[1] / scale, unit);
        }
    }

    return PL_OK;
}

// All points of a variant; the model is built at the first point that is not stored.
static void study_one(study_work *w, int variant)
{
    const pl_study_def *d = w->def;
    pl_study *s = w->out;
    study_variant v = {0};
    pl_error err = {0}, unbuilt = {0};
    pl_status build = PL_OK;
    bool built = false;

    for (int inner = 0; inner < w->inner && !atomic_load(&w->stop); ++inner) {
        const int point = study_point(w, variant, inner);
        char outcome[sizeof err.text] = "";
        // stored by an earlier run
        if (s->outcome[point]) {
            continue;
        }
        if (!built) {
            build = study_build(w, point, &v, &unbuilt);
            built = true;
        }

        // a variant that cannot be built fails at all of its points, with its reason; a point that is refused
        // says nothing about the next
        pl_status status = build;
        err = unbuilt;

        // commands of the point
        for (int i = 0; status == PL_OK && i < d->axis_count; ++i) {
            if (w->is_command[i]) {
                const pl_command_info c = pl_model_get_info(v.free).command[w->command[i]];
                status = pl_quantity_parse(d->axis[i].value[study_digit(d, point, i)],
                                           pl_drive_dimension(c.drive), &v.command[w->command[i]], &err);
            }
        }

        if (status == PL_OK) {
            status = study_check_ranges(w, &v, &err);
        }
        if (status == PL_OK) {
            status = study_solve(w, &v, s->value + (size_t)point * (size_t)s->quantity_count, outcome,
                                 sizeof outcome, &err);
        }

        if (status == PL_NO_MEMORY || status == PL_INTERRUPTED || atomic_load(&w->stop)) {
            study_give_up(w, status == PL_OK ? PL_INTERRUPTED : status, &err);
            break;
        }

        study_done(w, point, status == PL_OK ? outcome : err.text);
    }

    pl_model_destroy(v.free);
    pl_model_destroy(v.held);
    pl_free(v.command);
}

// Takes variants until none is left.
static void *study_worker(void *user)
{
    study_work *w = user;
    for (int i; !atomic_load(&w->stop) && (i = atomic_fetch_add(&w->next, 1)) < w->variant_count;) {
        study_one(w, i);
    }
    pthread_mutex_lock(&w->lock);
    --w->running;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);

    return NULL;
}

// Waits for the workers, and asks the caller ten times a second whether to go on.
static void study_watch(study_work *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        // pthread_cond_timedwait takes absolute times
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->changed, &w->lock, &until);
        char what[80];
        snprintf(what, sizeof what, "%d of %d points", w->out->done, w->out->count);
        const double fraction = (double)w->out->done / w->out->count;
        pthread_mutex_unlock(&w->lock);
        if (!pl_progress_step(&w->def->progress, fraction, what)) {
            atomic_store(&w->stop, true);
        }
        pthread_mutex_lock(&w->lock);
    }

    pthread_mutex_unlock(&w->lock);
}

// Runs the workers and waits; at most one per variant, and one per processor by default.
static pl_status study_parallel(study_work *w, pl_error *err)
{
    pthread_t thread[64];
    int count = w->def->worker_count > 0 ? w->def->worker_count : (int)sysconf(_SC_NPROCESSORS_ONLN),
        made = 0;

    count = count > w->variant_count ? w->variant_count : count;
    count = count < 1 ? 1 : count > PL_COUNT(thread) ? PL_COUNT(thread) : count;
    if (pthread_mutex_init(&w->lock, NULL) != 0) {
        return pl_fail(err, PL_FAILED, "study: a lock cannot be created");
    }
    pthread_cond_init(&w->changed, NULL);
    w->running = count;
    for (; made < count && pthread_create(&thread[made], NULL, study_worker, w) == 0; ++made) {
    }
    if (made < count) {
        pthread_mutex_lock(&w->lock);
        w->running -= count - made;
        pthread_mutex_unlock(&w->lock);
    }

    study_watch(w);
    for (int i = 0; i < made; ++i) {
        pthread_join(thread[i], NULL);
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    if (made == 0) {
        return pl_fail(err, PL_FAILED, "study: no thread can be started");
    }
    if (w->status != PL_OK) {
        *err = w->err;
        return w->status == PL_INTERRUPTED ? pl_fail(err, PL_INTERRUPTED, "study: interrupted") : w->status;
    }

    return atomic_load(&w->stop) ? pl_fail(err, PL_INTERRUPTED, "study: interrupted") : PL_OK;
}

// ---- all of it
// Sorts the axes into values of the file and commands; checks names, `set` and the marker.
static pl_status study_meet(study_work *w, const pl_model *model, pl_error *err)
{
    const pl_study_def *d = w->def;
    const pl_model_info info = pl_model_get_info(model);

    // names: a command, or a value of the file
    int last = 0;

    for (int i = 0; i < d->axis_count + d->set_count; ++i) {
        const char *name = i < d->axis_count ? d->axis[i].name : d->set[i - d->axis_count].path;
        const int c = pl_model_find_command(model, name);

        if (c < 0 && !strchr(name, '.') && !pl_robot_document_value(w->def->document, name)) {
            const char *known[64];
            int count = 0;
            for (; count < info.command_count && count < 64; ++count) {
                known[count] = info.command[count].name;
            }
            const char *near = pl_nearest_word(name, known, count);
            return pl_fail(err, PL_BAD_INPUT,
                           "study: '%s' is neither a command of the robot nor a value of its file such as "
                           "design.wall, materials.NAME.young or one of its parameters%s%s%s",
                           name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }

        for (int k = 0; k < i; ++k) {
            if (strcmp(name, k < d->axis_count ? d->axis[k].name : d->set[k - d->axis_count].path) == 0) {
                return pl_fail(err, PL_BAD_INPUT, "study: '%s' is given twice", name);
            }
        }

        if (i < d->axis_count) {
            w->is_command[i] = c >= 0;
            w->command[i] = c;
        }
    }

    // values in the file and units of commands are checked before the work
    for (int i = 0; i < d->axis_count + d->set_count; ++i) {
        const pl_variation v = i < d->axis_count ? (pl_variation){d->axis[i].name, d->axis[i].value[0]}
                                                 : d->set[i - d->axis_count];
        const int c = pl_model_find_command(model, v.path);
        pl_robot_document *variant = NULL;
        double value;
        pl_error own = {0};
        const pl_status status =
            c >= 0 ? pl_quantity_parse(v.value, pl_drive_dimension(info.command[c].drive), &value, &own)
                   : study_edit(w, &v, 1, &variant, &own);
        pl_robot_document_destroy(variant);
        if (status != PL_OK) {
            return pl_fail(err, status, "study: %s%s%s", c >= 0 ? v.path : "", c >= 0 ? ": " : "", own.text);
        }
    }

    // order of the axes: the file first, so that commands vary fastest within a variant
    w->inner = 1;
    w->variant_count = 1;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < d->axis_count; ++i) {
            if (w->is_command[i] == (pass == 1)) {
                w->order[last++] = i;
                *(pass ? &w->inner : &w->variant_count) *= d->axis[i].count;
            }
        }
    }

    // what stiffness and blocked force need
    w->marker = d->marker ? pl_model_find_marker(model, d->marker) : 0;
    if ((d->stiffness || d->blocked) && (w->marker < 0 || info.marker_count == 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "study: the robot has no marker '%s' for stiffness and blocked force",
                       d->marker ? d->marker : "");
    }

    if ((d->stiffness || d->blocked) &&
        (strcmp(info.kind, "full") != 0 || strcmp(info.method, "exact") != 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "study: stiffness and blocked force need a robot with a mesh and the exact method");
    }

    return PL_OK;
}

// Memory, texts of all points, and the key under which points are stored.
static pl_status study_allocate(study_work *w, uint64_t hash, pl_error *err)
{
    const pl_study_def *d = w->def;
    pl_study *s = w->out;
    uint64_t key = pl_hash_bytes(PL_HASH_SEED, &hash, sizeof hash);
    int64_t count = 1;

    for (int i = 0; i < d->axis_count; ++i) {
        count *= d->axis[i].count;
        if (count > PL_STUDY_POINTS) {
            return pl_fail(err, PL_BAD_INPUT, "study: more than %d points", PL_STUDY_POINTS);
        }
    }

    s->count = (int)count;
    s->axis = PL_NEW_ARRAY(char *, d->axis_count + 1);
    s->setting = PL_NEW_ARRAY(char *, count * d->axis_count + 1);
    s->outcome = PL_NEW_ARRAY(char *, count);
    s->value = PL_NEW_ARRAY(double, count * s->quantity_count + 1);
    bool good = s->axis && s->setting && s->outcome && s->value;

    // everything that decides the values is part of the key
    for (int i = 0; good && i < d->axis_count; ++i) {
        good = (s->axis[i] = pl_strdup(d->axis[i].name));
        s->axis_count += good;
        key = pl_hash_bytes(key, d->axis[i].name, strlen(d->axis[i].name) + 1);
        for (int k = 0; k < d->axis[i].count; ++k) {
            key = pl_hash_bytes(key, d->axis[i].value[k], strlen(d->axis[i].value[k]) + 1);
        }
    }

    for (int i = 0; i < d->set_count; ++i) {
        key = pl_hash_bytes(key, d->set[i].path, strlen(d->set[i].path) + 1);
        key = pl_hash_bytes(key, d->set[i].value, strlen(d->set[i].value) + 1);
    }

    const int more[] = {
        d->stiffness,         d->blocked + 2 * d->blocked_axis,  w->marker, d->load.load.order,
        d->load.displacement, w->surrogate + 2 * d->beyond_range};
    key = pl_hash_bytes(key, more, sizeof more);
    w->key = pl_hash_bytes(key, &d->load.load.size, sizeof d->load.load.size);

    // settings of every point; values are NAN until they are known
    for (int64_t p = 0; good && p < count; ++p) {
        for (int i = 0; good && i < d->axis_count; ++i) {
            good = (s->setting[p * d->axis_count + i] =
                        pl_strdup(d->axis[i].value[study_digit(d, (int)p, i)])) != NULL;
        }

        for (int i = 0; i < s->quantity_count; ++i) {
            s->value[p * s->quantity_count + i] = NAN;
        }
    }

    return good ? PL_OK : pl_fail_memory(err, "the study");
}

// An interrupted study returns PL_INTERRUPTED with the points done so far; other failures return nothing.
pl_status pl_study_run(const pl_study_def *def, pl_study *out, pl_findings *findings, pl_error *err)
{
    *out = (pl_study){0};
    study_work w = {.def = def, .out = out, .store = -1};
    if (def->axis_count < 1 || def->axis_count > PL_STUDY_AXES || def->set_count > 48) {
        return pl_fail(err, PL_BAD_INPUT, "study: expected 1 to %d axes", PL_STUDY_AXES);
    }

    // the model as it is: it gives the columns
    pl_model *base = NULL;
    pl_model_load_options options = def->load;
    options.progress = def->progress;
    options.load.progress = &def->progress;
    pl_status status = pl_model_from_document(def->document, &options, &base, findings, err);
    if (status == PL_OK) {
        status = study_meet(&w, base, err);
    }

    const pl_record *record = NULL;
    if (status == PL_OK) {
        status = pl_model_record(base, NULL, &record, err);
    }
    w.surrogate = record && record->model_error.source > PL_ERROR_UNMEASURED;
    if (status == PL_OK && !study_name_quantities(&w, record)) {
        status = pl_fail_memory(err, "the study");
    }
    if (status == PL_OK) {
        status = study_allocate(&w, pl_model_get_info(base).hash, err);
    }
    pl_model_destroy(base);

    // stored points, then the missing ones
    if (status == PL_OK && def->store) {
        status = analysis_study_recall(&w, err);
    }
    if (status == PL_OK && out->done < out->count) {
        status = study_parallel(&w, err);
    }
    if (w.store >= 0 && close(w.store) != 0 && status == PL_OK) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written", def->store);
    }
    if (status != PL_OK && status != PL_INTERRUPTED) {
        pl_study_clear(out);
    }

    return status;
}
