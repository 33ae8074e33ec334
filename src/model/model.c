// pl_model: questions are passed on to the kind behind it (pl_model_type), what the kind leaves open is
// completed, and costs are counted.
#include "model/model_impl.h"

// ---- making one
// A count and its array belong together.
static pl_status check_array(const char *what, int count, const void *array, pl_error *err)
{
    if (count < 0 || (count > 0 && !array)) {
        return pl_fail(err, PL_BAD_INPUT, "model: info has %d %s%s", count, what,
                       count > 0 ? " but no array of them" : "");
    }

    return PL_OK;
}

static pl_status check_name(const char *what, const char *name, pl_error *err)
{
    char shown[80];
    return name && pl_name_is_valid(name)
               ? PL_OK
               : pl_fail(err, PL_BAD_INPUT, "%s: '%s' is not a valid name: %s", what,
                         name ? pl_name_shown(name, shown, sizeof shown) : "", PL_NAME_RULE);
}

// The names that become columns of tables.
// Commands, actuators, markers and sensors become columns of tables, so their names must be valid.
static pl_status model_check_names(const pl_model_info *i, pl_error *err)
{
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < i->command_count; ++k) {
        status = check_name("commands", i->command[k].name, err);
    }
    for (int k = 0; status == PL_OK && k < i->actuator_count; ++k) {
        status = check_name("actuators", i->actuator[k].name, err);
    }
    for (int k = 0; status == PL_OK && k < i->marker_count; ++k) {
        status = check_name("markers", i->marker_name[k], err);
    }
    for (int k = 0; status == PL_OK && k < i->sensor_count; ++k) {
        status = check_name("sensors", i->sensor_name[k], err);
    }

    return status;
}

// What a kind says of itself is input: a user may have written it.
static pl_status model_check(const pl_model_info *i, pl_error *err)
{
    const struct {
        const char *what;
        int count;
        const void *array;
    } list[] = {
        {"commands", i->command_count, i->command},      {"actuators", i->actuator_count, i->actuator},
        {"markers", i->marker_count, i->marker_name},    {"markers", i->marker_count, i->marker_at},
        {"sensors", i->sensor_count, i->sensor_name},    {"sensors", i->sensor_count, i->sensor_kind},
        {"supports", i->support_count, i->support_name}, {"readings", i->reading_count, i->reading},
        {"body points", i->point_count, i->rest}};
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < PL_COUNT(list); ++k) {
        status = check_array(list[k].what, list[k].count, list[k].array, err);
    }

    return status == PL_OK ? model_check_names(i, err) : status;
}

// The longest array of an answer except the body points: the size of the array of NAN
// that stands for what is not known.
static int64_t model_longest(const pl_model_info *i)
{
    int64_t n = 9 * (int64_t)i->marker_count;
    n = n > i->actuator_count ? n : i->actuator_count;
    n = n > i->sensor_count ? n : i->sensor_count;
    return n > i->reading_count ? n : i->reading_count;
}

// All memory of the model. Without a packed state of the kind, the commands are the state.
static pl_status model_room(pl_model *m, pl_error *err)
{
    const pl_model_info *i = &m->info;
    const int64_t longest = model_longest(i);

    m->state_size = m->type->pack ? m->type->pack(m->self, NULL, 0) : (size_t)i->command_count;
    m->asked = PL_NEW_ARRAY(double, i->command_count);
    m->nothing = PL_NEW_ARRAY(double, longest);
    m->no_force = PL_NEW_ARRAY(double, 3 * i->marker_count);
    m->actuator = PL_NEW_ARRAY(pl_actuator_state, i->actuator_count);
    m->base.state = m->type->derivative ? NULL : PL_NEW_ARRAY(double, m->state_size);
    bool enough =
        m->asked && m->nothing && m->no_force && m->actuator && (m->type->derivative || m->base.state);

    // slots for pl_model_keep
    for (int k = 0; enough && k < PL_MODEL_SLOTS; ++k) {
        m->slot[k].state = PL_NEW_ARRAY(double, m->state_size);
        enough = m->slot[k].state;
    }

    if (!enough) {
        return pl_fail_memory(err, "the model");
    }
    for (int64_t k = 0; k < longest; ++k) {
        m->nothing[k] = NAN;
    }

    return m->type->derivative ? PL_OK : model_differences_create(m, err);
}

// NAN: idle.
static void model_idle(double *command, int count)
{
    for (int i = 0; i < count; ++i) {
        command[i] = NAN;
    }
}

// The model owns `self` from here on: it is destroyed with it, also when this fails.
pl_status pl_model_create(const pl_model_type *type, void *self, pl_model **out, pl_error *err)
{
    *out = NULL;
    if (!type || !type->info || !type->fk || !type->answer || !type->reset) {
        if (type && type->destroy) {
            type->destroy(self);
        }
        return pl_fail(err, PL_BAD_INPUT, "model: a type needs info, fk, answer and reset");
    }

    pl_model *m = PL_NEW(pl_model);
    if (!m) {
        if (type->destroy) {
            type->destroy(self);
        }
        return pl_fail_memory(err, "the model");
    }

    static const pl_model_extras none = {0};
    *m = (pl_model){.type = type,
                    .extras = type->extras ? type->extras : &none,
                    .self = self,
                    .report = {.outcome = PL_SOLVED, .negative_count = -1}};

    // defaults for what the kind does not say
    type->info(self, &m->info);
    pl_model_info *i = &m->info;
    i->name = i->name ? i->name : "robot";
    i->kind = i->kind ? i->kind : "own";
    i->method = i->method ? i->method : i->kind;
    i->robot_hash = i->robot_hash ? i->robot_hash : i->hash;
    i->difference_step = i->difference_step > 0 ? i->difference_step : MODEL_DIFFERENCE_STEP;
    i->approximate_derivative = i->approximate_derivative || !type->derivative;
    pl_status status = model_check(i, err);
    if (status == PL_OK) {
        status = model_room(m, err);
    }
    if (status != PL_OK) {
        pl_model_destroy(m);
        return status;
    }

    model_idle(m->asked, i->command_count);
    model_refresh(m, NULL);
    *out = m;

    return PL_OK;
}

void pl_model_destroy(pl_model *model)
{
    if (!model) {
        return;
    }
    if (model->type->destroy) {
        model->type->destroy(model->self);
    }
    if (model->release) {
        model->release(model->owned);
    }
    for (int k = 0; k < PL_MODEL_SLOTS; ++k) {
        pl_free(model->slot[k].state);
    }
    pl_free(model->base.state);
    pl_free(model->asked);
    pl_free(model->nothing);
    pl_free(model->no_force);
    pl_free(model->actuator);
    model_differences_destroy(model->differences);
    model_record_destroy(model->record);
    pl_free(model);
}

// For the room that made a kind: its own memory, if the model is of its type.
void *pl_model_self(const pl_model *model, const pl_model_type *type)
{
    return model && model->type == type ? model->self : NULL;
}

void pl_model_own(pl_model *model, void *owned, void (*release)(void *owned))
{
    model->owned = owned;
    model->release = release;
}

// ---- what it consists of
pl_model_info pl_model_get_info(const pl_model *model)
{
    return model->info;
}

pl_actuator_info pl_model_actuator(const pl_model *model, int i)
{
    if (i < 0 || i >= model->info.actuator_count) {
        return (pl_actuator_info){.name = "", .command = -1};
    }
    return model->info.actuator[i];
}

static int model_find(const char *const *name, int count, const char *wanted)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(name[i], wanted) == 0) {
            return i;
        }
    }

    return -1;
}

int pl_model_find_command(const pl_model *model, const char *name)
{
    for (int i = 0; i < model->info.command_count; ++i) {
        if (strcmp(model->info.command[i].name, name) == 0) {
            return i;
        }
    }

    return -1;
}

int pl_model_find_marker(const pl_model *model, const char *name)
{
    return model_find(model->info.marker_name, model->info.marker_count, name);
}

int pl_model_find_sensor(const pl_model *model, const char *name)
{
    return model_find(model->info.sensor_name, model->info.sensor_count, name);
}

int pl_model_find_actuator(const pl_model *model, const char *name)
{
    for (int i = 0; i < model->info.actuator_count; ++i) {
        if (strcmp(model->info.actuator[i].name, name) == 0) {
            return i;
        }
    }

    return -1;
}

// ---- moving it
static void refresh_actuators(pl_model *m)
{
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const double ratio = m->answer.measure[i] / m->info.actuator[i].rest;
        m->actuator[i] = (pl_actuator_state){
            .ratio = ratio, .asked = NAN, .reached = ratio, .local_low = NAN, .local_high = NAN};
    }

    m->answer.actuator = m->actuator;
}

// Everything derived from the state is out of date after a move: estimates of the mesh error and of crossings
// are reset, the answer is read again.
void model_refresh(pl_model *m, const double *moved_to)
{
    const size_t commands = (size_t)m->info.command_count * sizeof *m->asked;
    if (moved_to) {
        memmove(m->asked, moved_to, commands); // may be the array itself
    }
    m->mesh_error = (pl_mesh_error){.relative = NAN, .factor = NAN};
    m->crossings = (pl_crossings){.count = -1, .face = {-1, -1}};
    pl_model_answer *a = &m->answer;
    *a = (pl_model_answer){.energy = NAN, .error = {.confidence = NAN, .shape = NAN}};
    m->type->answer(m->self, a);

    // what the kind does not know is NAN (forces 0, points at rest), so that callers need not check pointers
    a->command = a->command ? a->command : m->asked;
    const double **const open[] = {&a->marker, &a->rotation, &a->sensor,
                                   &a->effort, &a->measure,  &a->reading};
    for (int k = 0; k < PL_COUNT(open); ++k) {
        *open[k] = *open[k] ? *open[k] : m->nothing;
    }
    a->point = a->point ? a->point : m->info.rest;
    a->force = a->force ? a->force : m->no_force;
    pl_answer_error *e = &a->error;
    e->marker = e->marker ? e->marker : m->nothing;
    e->rotation = e->rotation ? e->rotation : m->nothing;
    e->sensor = e->sensor ? e->sensor : m->nothing;
    if (!a->actuator) {
        refresh_actuators(m);
    }
}

// Counts the costs and reads the answer; returns `status`.
static pl_status model_solved(pl_model *model, const double *command, pl_status status,
                              const pl_solve_report *report)
{
    ++model->costs.fk_calls;
    model->costs.iterations += report->iterations;
    model->costs.factorizations += report->factorizations;
    model->costs.solves += report->solves;
    if (status == PL_OK) {
        model->report = *report;
    }

    // also after a failure, which may have moved it; only then the commands in
    // force are not the ones asked for
    model_refresh(model, status == PL_OK ? command : NULL);

    return status;
}

pl_status pl_model_fk(pl_model *model, const double *command, pl_solve_report *report, pl_error *err)
{
    *report = (pl_solve_report){.negative_count = -1};
    const pl_status status = model->type->fk(model->self, command, report, err);
    return model_solved(model, command, status, report);
}

pl_status pl_model_hold(pl_model *model, const double *command, double seconds, pl_creep_report *creep,
                        pl_solve_report *report, pl_error *err)
{
    if (!model->extras->hold) {
        return pl_fail(err, PL_BAD_INPUT, "shapes held for a time need a full body with the exact method");
    }
    const pl_status status = model->extras->hold(model->self, command, seconds, creep, report, err);
    return model_solved(model, command, status, report);
}

// Stores the state in a slot; the size of a state never changes.
pl_status model_keep(pl_model *model, model_slot *slot, pl_error *err)
{
    if (model->type->pack) {
        const size_t size = model->type->pack(model->self, slot->state, model->state_size);
        if (size != model->state_size) {
            return pl_fail(err, PL_FAILED, "model: its state has %zu numbers, previously %zu", size,
                           model->state_size);
        }
    } else {
        memcpy(slot->state, model->answer.command, model->state_size * sizeof *slot->state);
    }

    slot->report = model->report;
    slot->used = true;
    return PL_OK;
}

// Without a packed state the commands are the state: one more forward solve leads back.
static pl_status model_return(pl_model *model, const double *command, pl_error *err)
{
    pl_solve_report report;
    const pl_status status = pl_model_fk(model, command, &report, err);

    if (status == PL_OK && report.outcome != PL_SOLVED) {
        return pl_fail(err, PL_FAILED, "model: cannot return to the saved commands: %s",
                       report.message[0] ? report.message : pl_outcome_name(report.outcome));
    }

    return status;
}

pl_status model_recall(pl_model *model, const model_slot *slot, pl_error *err)
{
    if (!slot->used) {
        return pl_fail(err, PL_BAD_INPUT, "model: nothing was saved in this slot");
    }

    const pl_status status = pl_model_unpack(model, slot->state, model->state_size, err);
    if (status == PL_OK) {
        model->report = slot->report;
    }

    return status;
}

pl_status pl_model_keep(pl_model *model, pl_model_slot slot, pl_error *err)
{
    if ((unsigned)slot >= PL_MODEL_SLOTS) {
        return pl_fail(err, PL_BAD_INPUT, "model: slot %d, must lie between 0 and %d", slot,
                       PL_MODEL_SLOTS - 1);
    }

    return model_keep(model, &model->slot[slot], err);
}

pl_status pl_model_recall(pl_model *model, pl_model_slot slot, pl_error *err)
{
    if ((unsigned)slot >= PL_MODEL_SLOTS) {
        return pl_fail(err, PL_BAD_INPUT, "model: slot %d, must lie between 0 and %d", slot,
                       PL_MODEL_SLOTS - 1);
    }

    return model_recall(model, &model->slot[slot], err);
}

bool pl_model_critical(const pl_model *model, pl_critical_mode *out)
{
    *out = (pl_critical_mode){0};
    return model->extras->critical && model->extras->critical(model->self, out);
}

int pl_model_limit(pl_model *model, int iterations)
{
    return model->extras->limit ? model->extras->limit(model->self, iterations) : 0;
}

// True where the kind has something to commit (see pl_model_type).
bool pl_model_commit(pl_model *model)
{
    if (model->extras->settle) {
        model->extras->settle(model->self);
    }
    return model->extras->settle != NULL;
}

void pl_model_reset(pl_model *model)
{
    model->type->reset(model->self);
    model_idle(model->asked, model->info.command_count);
    model->report = (pl_solve_report){.outcome = PL_SOLVED, .negative_count = -1};
    model_refresh(model, NULL);
}

size_t pl_model_state_size(const pl_model *model)
{
    return model->state_size;
}

// The commands where the kind has no packed state of its own.
void pl_model_pack(const pl_model *model, double *block)
{
    if (model->type->pack) {
        model->type->pack(model->self, block, model->state_size);
    } else {
        memcpy(block, model->answer.command, model->state_size * sizeof *block);
    }
}

// A stored equilibrium counts as solved; its energy is the only number of a report that is known.
pl_status pl_model_unpack(pl_model *model, const double *block, size_t count, pl_error *err)
{
    if (!model->type->unpack) {
        return count == model->state_size
                   ? model_return(model, block, err)
                   : pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, expected %zu", count,
                             model->state_size);
    }

    const pl_status status = model->type->unpack(model->self, block, count, err);
    if (status == PL_OK) {
        model_refresh(model, NULL);
        model->report = (pl_solve_report){
            .outcome = PL_SOLVED, .load_reached = 1, .energy = model->answer.energy, .negative_count = -1};
        memcpy(model->asked, model->answer.command, (size_t)model->info.command_count * sizeof *model->asked);
    }

    return status;
}

// ---- asking it
pl_model_answer pl_model_get_answer(const pl_model *model)
{
    return model->answer;
}

pl_solve_report pl_model_get_report(const pl_model *model)
{
    return model->report;
}

const char *pl_error_source_name(pl_error_source source)
{
    static const char *const name[] = {
#define X(code, text) [code] = text,
        PL_ERROR_SOURCE_LIST(X)
#undef X
    };
    return (int)source >= 0 && (int)source < PL_COUNT(name) ? name[source] : "unknown";
}

bool pl_answer_has_error(const pl_model_answer *answer)
{
    return answer->error.source > PL_ERROR_UNMEASURED;
}

pl_status pl_model_differentiate(pl_model *model, unsigned parts, double tolerance, pl_model_derivative *out,
                                 pl_jacobian_report *report, pl_error *err)
{
    *out = (pl_model_derivative){0};
    *report = (pl_jacobian_report){.negative_count = -1};
    ++model->costs.derivative_calls;
    if (!model->type->derivative) {
        return model_differentiate(model, parts, out, report, err); // counts its forward solves itself
    }

    const pl_status status = model->type->derivative(model->self, parts, tolerance, out, report, err);
    model->costs.factorizations += report->factorizations;
    model->costs.solves += report->solves;

    return status;
}

// The message for a question that this kind cannot answer.
static pl_status model_cannot(const pl_model *model, const char *what, pl_error *err)
{
    return pl_fail(err, PL_BAD_INPUT, "a model of kind %s (method %s) has no %s", model->info.kind,
                   model->info.method, what);
}

pl_status pl_model_sensitivity(pl_model *model, const pl_parameter *parameter, int count,
                               const pl_jacobian *out, pl_jacobian_report *report, pl_error *err)
{
    *report = (pl_jacobian_report){.negative_count = -1};
    if (!model->extras->sensitivity) {
        return model_cannot(model, "derivatives with respect to loads or materials", err);
    }

    const pl_status status = model->extras->sensitivity(model->self, parameter, count, out, report, err);
    model->costs.factorizations += report->factorizations;
    model->costs.solves += report->solves;

    return status;
}

bool pl_model_set_tolerance_factor(pl_model *model, double factor)
{
    if (model->extras->set_tolerance_factor) {
        model->extras->set_tolerance_factor(model->self, factor);
    }
    return model->extras->set_tolerance_factor != NULL;
}

// Zero forces are accepted by every model; others only by kinds that bear them.
pl_status pl_model_set_forces(pl_model *model, const double *force, pl_error *err)
{
    bool any = false;
    for (int i = 0; force && i < 3 * model->info.marker_count; ++i) {
        if (!isfinite(force[i])) {
            return pl_fail(err, PL_BAD_INPUT, "the force at marker '%s' is not finite",
                           model->info.marker_name[i / 3]);
        }

        any = any || force[i] != 0;
    }

    if (model->extras->set_forces) {
        return model->extras->set_forces(model->self, force, err);
    }
    if (any) {
        return model_cannot(model, "forces at markers that can be set", err);
    }

    return PL_OK;
}

// Grips the surface within `radius` mm of a point, to pull at it; NULL releases it.
pl_status pl_model_grip(pl_model *model, const double at[3], double radius, pl_error *err)
{
    if (!model->extras->grip) {
        return at ? model_cannot(model, "a point that can be pulled", err) : PL_OK;
    }
    if (at && (!isfinite(at[0] + at[1] + at[2]) || !(radius >= 0) || !isfinite(radius))) {
        return pl_fail(err, PL_BAD_INPUT, "grip: the point and its radius must be finite");
    }
    return model->extras->grip(model->self, at, radius, err);
}

pl_status pl_model_pull(pl_model *model, const double force[3], pl_error *err)
{
    if (!model->extras->pull) {
        return force ? model_cannot(model, "a point that can be pulled", err) : PL_OK;
    }
    if (force && !isfinite(force[0] + force[1] + force[2])) {
        return pl_fail(err, PL_BAD_INPUT, "pull: the force is not finite");
    }
    model->extras->pull(model->self, force);
    return PL_OK;
}

bool pl_model_grip_place(const pl_model *model, double place[3])
{
    return model->extras->grip_mean && model->extras->grip_mean(model->self, model->answer.point, 1, place);
}

bool pl_model_grip_mean(const pl_model *model, const double *vector, int stride, double mean[3])
{
    return model->extras->grip_mean && model->extras->grip_mean(model->self, vector, stride, mean);
}

// gradient_j += by . J_j over the rows of one part.
static void adjoint_add(const double *by, const double *J, int64_t rows, int commands,
                        const pl_parameter *parameter, int count, double *gradient)
{
    for (int64_t i = 0; by && J && i < rows; ++i) {
        for (int j = 0; by[i] != 0 && j < count; ++j) {
            gradient[j] += by[i] * J[i * commands + parameter[j].index];
        }
    }
}

// Kinds without an adjoint: the Jacobian of the parts that have weights, times the weights. Commands only.
static pl_status adjoint_forward(pl_model *model, const pl_model_weights *by, const pl_parameter *parameter,
                                 int count, double *gradient, pl_jacobian_report *report, pl_error *err)
{
    const pl_model_info *info = &model->info;

    // parts that have weights
    const unsigned parts =
        (by->marker ? (unsigned)PL_PART_MARKER : 0) | (by->rotation ? (unsigned)PL_PART_ROTATION : 0) |
        (by->effort ? (unsigned)PL_PART_EFFORT : 0) | (by->point ? (unsigned)PL_PART_POINT : 0);

    for (int j = 0; j < count; ++j) {
        if (parameter[j].kind != PL_PARAMETER_COMMAND) {
            return model_cannot(model, "derivatives with respect to loads or materials", err);
        }
    }

    pl_model_derivative d;
    const pl_status status = pl_model_differentiate(model, parts, 0, &d, report, err);
    if (status == PL_OK) {
        const int n = info->command_count;
        adjoint_add(by->marker, d.marker, 3 * info->marker_count, n, parameter, count, gradient);
        adjoint_add(by->rotation, d.rotation, 3 * info->marker_count, n, parameter, count, gradient);
        adjoint_add(by->effort, d.effort, info->actuator_count, n, parameter, count, gradient);
        adjoint_add(by->point, d.point, 3 * (int64_t)info->point_count, n, parameter, count, gradient);
    }

    return status;
}

// gradient_j = sum of weight . d(output)/d(parameter j): one solve for all parameters
// where the kind has an adjoint.
pl_status pl_model_adjoint(pl_model *model, const pl_model_weights *by, const pl_parameter *parameter,
                           int count, double *gradient, pl_jacobian_report *report, pl_error *err)
{
    // check and clear
    *report = (pl_jacobian_report){.negative_count = -1};
    for (int j = 0; j < count; ++j) {
        gradient[j] = 0;
        if (parameter[j].kind == PL_PARAMETER_COMMAND &&
            (parameter[j].index < 0 || parameter[j].index >= model->info.command_count)) {
            return pl_fail(err, PL_BAD_INPUT, "adjoint: there is no command %d", parameter[j].index);
        }
    }

    if (!model->extras->adjoint) {
        return adjoint_forward(model, by, parameter, count, gradient, report, err);
    }

    const pl_status status = model->extras->adjoint(model->self, by, parameter, count, gradient, report, err);
    ++model->costs.derivative_calls;
    model->costs.factorizations += report->factorizations;
    model->costs.solves += report->solves;

    // an idle command acts on nothing
    for (int j = 0; j < count; ++j) {
        const bool idle =
            parameter[j].kind == PL_PARAMETER_COMMAND && isnan(model->answer.command[parameter[j].index]);
        gradient[j] = idle ? 0 : gradient[j];
    }

    return status;
}

pl_status pl_model_body(pl_model *model, const pl_mesh **out, pl_error *err)
{
    *out = NULL;
    return model->type->body && model->type->shape ? model->type->body(model->self, out, err) : PL_OK;
}

// Kinds without a shape leave `position` as it is.
void pl_model_shape(const pl_model *model, double *position)
{
    if (model->type->shape) {
        model->type->shape(model->self, position);
    }
}

int pl_model_line(const pl_model *model, int actuator, double *point, int room)
{
    const bool there = actuator >= 0 && actuator < model->info.actuator_count;
    return there && model->type->line ? model->type->line(model->self, actuator, point, room) : 0;
}

pl_status pl_model_field(pl_model *model, pl_field field, double *out, pl_error *err)
{
    if (!model->extras->field || field >= PL_FIELD_COUNT || !(model->info.fields & (1u << field))) {
        return model_cannot(model, field < PL_FIELD_COUNT ? pl_field_name(field) : "such field", err);
    }
    return model->extras->field(model->self, field, out, err);
}

pl_status pl_model_reactions(pl_model *model, pl_reaction *reaction, pl_error *err)
{
    return model->extras->reactions ? model->extras->reactions(model->self, reaction, err)
                                    : model_cannot(model, "reactions at its supports", err);
}

// NAN where the kind cannot check itself.
pl_status pl_model_verify(pl_model *model, pl_model_check *out, pl_error *err)
{
    *out = (pl_model_check){.residual = NAN, .largest_force = NAN};
    return model->extras->check ? model->extras->check(model->self, out, err) : PL_OK;
}

pl_model_costs pl_model_get_costs(const pl_model *model)
{
    return model->costs;
}
