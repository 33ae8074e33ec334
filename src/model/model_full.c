// The full body by the exact method: statics solves, its sensitivities are the derivatives.
#include "model/model_body.h"
#include "robot/robot.h"

// The first member makes it a model_body for the functions of model_body.h.
typedef struct full_model {
    model_body body;            // first: see model_body.h
    pl_statics_options options; // for solvers beside its own: searches leave the model where it is
    pl_parameter *parameter;
    double *d_marker, *d_rotation, *d_sensor, *d_effort, *d_measure, *d_reading, *d_energy;
    double *d_point, *force; // taken when first asked for; 3 per vertex
} full_model;

static void full_destroy(void *self)
{
    full_model *m = self;
    model_body_clear(&m->body);
    void *const block[] = {m->parameter, m->d_marker,  m->d_rotation, m->d_sensor, m->d_effort,
                           m->d_measure, m->d_reading, m->d_energy,   m->d_point,  m->force};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(m);
}

static pl_status full_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    full_model *m = self;
    return pl_statics_solve(m->body.statics, m->body.state, command, report, err);
}

static pl_status full_hold(void *self, const double *command, double seconds, pl_creep_report *creep,
                           pl_solve_report *report, pl_error *err)
{
    full_model *m = self;
    return pl_statics_hold(m->body.statics, m->body.state, command, seconds, creep, report, err);
}

static void full_answer(void *self, pl_model_answer *out)
{
    full_model *m = self;
    model_body_answer(&m->body, out);
}

// ---- derivatives
// Room for the derivatives of all body points, which most questions do not need.
static bool full_point_room(full_model *m)
{
    const int64_t rows = 3 * (int64_t)m->body.info.point_count;
    if (!m->d_point) {
        m->d_point = PL_NEW_ARRAY(double, rows * m->body.info.command_count);
    }
    if (!m->force) {
        m->force = PL_NEW_ARRAY(double, rows);
    }

    return m->d_point && m->force;
}

// dE/dc = (dE/dx) . (dx/dc) + dE/dc at held x, E the elastic energy.
static void full_energy_row(full_model *m)
{
    const int columns = m->body.info.command_count;
    pl_statics_elastic(m->body.statics, m->body.state, m->force);
    for (int j = 0; j < columns; ++j) {
        m->d_energy[j] = pl_statics_elastic_rate(m->body.statics, m->body.state, j);
    }

    for (int64_t i = 0; i < 3 * (int64_t)m->body.info.point_count; ++i) {
        for (int j = 0; j < columns; ++j) {
            m->d_energy[j] += m->force[i] * m->d_point[i * columns + j];
        }
    }
}

// All columns from one factorisation at the solution. The energy needs the derivatives of all points.
static pl_status full_derivative(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                                 pl_jacobian_report *report, pl_error *err)
{
    full_model *m = self;
    const bool points = (parts & (PL_PART_POINT | PL_PART_ENERGY)) != 0;

    // a factor at the solution costs less than an iteration per command, and serves the next fk
    (void)tolerance;
    if (points && !full_point_room(m)) {
        return pl_fail_memory(err, "derivatives of the body points");
    }

    const pl_jacobian wanted = {.position = points ? m->d_point : NULL,
                                .marker = parts & PL_PART_MARKER ? m->d_marker : NULL,
                                .rotation = parts & PL_PART_ROTATION ? m->d_rotation : NULL,
                                .sensor = parts & PL_PART_SENSOR ? m->d_sensor : NULL,
                                .effort = parts & PL_PART_EFFORT ? m->d_effort : NULL,
                                .measure = parts & PL_PART_MEASURE ? m->d_measure : NULL,
                                .reading = parts & PL_PART_READING ? m->d_reading : NULL};
    const pl_status status = pl_statics_jacobian(m->body.statics, m->body.state, m->parameter,
                                                 m->body.info.command_count, &wanted, report, err);
    if (status == PL_OK && (parts & PL_PART_ENERGY)) {
        full_energy_row(m);
    }
    *out = (pl_model_derivative){.marker = wanted.marker,
                                 .rotation = wanted.rotation,
                                 .sensor = wanted.sensor,
                                 .effort = wanted.effort,
                                 .measure = wanted.measure,
                                 .reading = wanted.reading,
                                 .point = parts & PL_PART_POINT ? m->d_point : NULL,
                                 .energy = parts & PL_PART_ENERGY ? m->d_energy : NULL};

    return status;
}

static pl_status full_sensitivity(void *self, const pl_parameter *parameter, int count,
                                  const pl_jacobian *out, pl_jacobian_report *report, pl_error *err)
{
    full_model *m = self;
    return pl_statics_jacobian(m->body.statics, m->body.state, parameter, count, out, report, err);
}

// Weights of markers become weights of positions (the transpose of their
// derivative), then one solve with K^T.
static pl_status full_adjoint(void *self, const pl_model_weights *by, const pl_parameter *parameter,
                              int count, double *gradient, pl_jacobian_report *report, pl_error *err)
{
    full_model *m = self;
    const pl_model_info *info = &m->body.info;
    const int64_t n = 3 * (int64_t)info->point_count;
    double *by_position = PL_NEW_ARRAY(double, n);

    if (!by_position) {
        return pl_fail_memory(err, "the adjoint");
    }
    for (int64_t i = 0; by->point && i < n; ++i) {
        by_position[i] = by->point[i];
    }
    for (int k = 0; k < info->marker_count; ++k) {
        pl_statics_pull_marker(m->body.statics, m->body.state, k, by->marker ? by->marker + 3 * k : NULL,
                               by->rotation ? by->rotation + 3 * k : NULL, by_position);
    }

    const pl_status status = pl_statics_adjoint(m->body.statics, m->body.state, by_position, by->effort,
                                                parameter, count, gradient, report, err);
    pl_free(by_position);

    return status;
}

// ---- the state
static size_t full_pack(void *self, double *block, size_t room)
{
    return pl_state_pack(((full_model *)self)->body.state, block, room);
}

// Numbers behind the state of the robot belong to the geometric method and are ignored. A state of a motion
// is taken at rest: the model has equilibria only.
static pl_status full_unpack(void *self, const double *block, size_t count, pl_error *err)
{
    full_model *m = self;
    pl_statics_relax(m->body.statics);
    const pl_status status = pl_state_unpack(m->body.state, block, count, err);
    if (status == PL_OK) {
        pl_state_rest(m->body.state);
    }

    return status;
}

// Also what the solver remembers of earlier solutions.
static void full_reset(void *self)
{
    full_model *m = self;
    pl_state_reset(m->body.state, m->body.robot);
    pl_statics_forget(m->body.statics);
}

static pl_status full_reactions(void *self, pl_reaction *reaction, pl_error *err)
{
    full_model *m = self;
    const pl_status status = pl_statics_reactions(m->body.statics, m->body.state, reaction);
    return status == PL_OK ? PL_OK : pl_fail(err, status, "the reactions cannot be computed");
}

static pl_status full_check(void *self, pl_model_check *out, pl_error *err)
{
    full_model *m = self;
    return pl_statics_check(m->body.statics, m->body.state, &out->residual, &out->largest_force,
                            &out->inverted, err);
}

static pl_status full_set_forces(void *self, const double *force, pl_error *err)
{
    (void)err;
    full_model *m = self;
    pl_statics_set_forces(m->body.statics, force);
    return PL_OK;
}

static void full_set_tolerance_factor(void *self, double factor)
{
    pl_statics_set_tolerance_factor(((full_model *)self)->body.statics, factor);
}

static bool full_critical(const void *self, pl_critical_mode *out)
{
    return pl_statics_critical(((const full_model *)self)->body.statics, out);
}

static int full_limit(void *self, int iterations)
{
    return pl_statics_limit(((full_model *)self)->body.statics, iterations);
}

static pl_status full_grip(void *self, const double at[3], double radius, pl_error *err)
{
    return pl_statics_grip(((full_model *)self)->body.statics, at, radius, err);
}

static void full_pull(void *self, const double force[3])
{
    pl_statics_pull(((full_model *)self)->body.statics, force);
}

static bool full_grip_mean(void *self, const double *vector, int stride, double mean[3])
{
    return pl_statics_grip_mean(((full_model *)self)->body.statics, vector, stride, mean);
}

static const pl_model_extras full_extras = {.sensitivity = full_sensitivity,
                                            .adjoint = full_adjoint,
                                            .field = model_body_field,
                                            .reactions = full_reactions,
                                            .check = full_check,
                                            .set_forces = full_set_forces,
                                            .grip = full_grip,
                                            .pull = full_pull,
                                            .grip_mean = full_grip_mean,
                                            .set_tolerance_factor = full_set_tolerance_factor,
                                            .critical = full_critical,
                                            .limit = full_limit,
                                            .hold = full_hold};

static const pl_model_type full_type = {.info = model_body_info,
                                        .fk = full_fk,
                                        .answer = full_answer,
                                        .destroy = full_destroy,
                                        .derivative = full_derivative,
                                        .pack = full_pack,
                                        .unpack = full_unpack,
                                        .reset = full_reset,
                                        .body = model_body_mesh,
                                        .shape = model_body_shape,
                                        .line = model_body_line,
                                        .extras = &full_extras};

// ---- making one
// False when out of memory.
static bool full_room(full_model *m)
{
    const pl_model_info *i = &m->body.info;
    const int commands = i->command_count;

    m->parameter = PL_NEW_ARRAY(pl_parameter, commands);
    m->d_marker = PL_NEW_ARRAY(double, 3 * i->marker_count * commands);
    m->d_rotation = PL_NEW_ARRAY(double, 3 * i->marker_count * commands);
    m->d_sensor = PL_NEW_ARRAY(double, i->sensor_count *commands);
    m->d_effort = PL_NEW_ARRAY(double, i->actuator_count *commands);
    m->d_measure = PL_NEW_ARRAY(double, i->actuator_count *commands);
    m->d_reading = PL_NEW_ARRAY(double, i->reading_count *commands);
    m->d_energy = PL_NEW_ARRAY(double, commands);

    return m->parameter && m->d_marker && m->d_rotation && m->d_sensor && m->d_effort && m->d_measure &&
           m->d_reading && m->d_energy;
}

// The robot must outlive the model.
pl_status pl_model_from_robot(const pl_robot *robot, const pl_statics_options *options, pl_model **out,
                              pl_error *err)
{
    *out = NULL;
    full_model *m = PL_NEW(full_model);
    if (!m) {
        return pl_fail_memory(err, "the model");
    }

    m->options = *options;
    pl_status status = model_body_init(&m->body, robot, options, err);
    if (status == PL_OK && !full_room(m)) {
        status = pl_fail_memory(err, "the derivatives of the model");
    }
    if (status != PL_OK) {
        full_destroy(m);
        return status;
    }

    // the method is part of the identity
    pl_model_info *info = &m->body.info;
    info->method = "exact";

    // other elements give other answers, so a stored workspace of one is not valid for the other
    if (options->displacement) {
        info->hash = pl_hash_bytes(info->hash, "displacement", sizeof "displacement");
    }
    for (int i = 0; i < info->command_count; ++i) {
        m->parameter[i] = (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = i};
    }

    return pl_model_create(&full_type, m, out, err);
}

// ---- simultaneous solve for commands and shape
// Passes a pl_model_aim through pl_statics_aim.
typedef struct full_aim {
    full_model *m;
    const pl_model_aim *aim;
} full_aim;

// Shows the outputs of an iterate to the caller and returns its choice of commands.
static pl_aim_answer full_choose(void *user, const pl_state *state, bool fresh, double *value)
{
    const full_aim *a = user;
    pl_model_answer now;
    model_body_outputs(&a->m->body, state, &now);
    return a->aim->choose(a->aim->user, &now, fresh, value);
}

bool pl_model_can_find_together(const pl_model *model)
{
    return model->type == &full_type;
}

// *met: the next forward solve at aim->command starts from the shape found.
pl_status pl_model_find_together(pl_model *model, const pl_model_aim *aim, bool *met, pl_error *err)
{
    *met = false;
    if (!pl_model_can_find_together(model)) {
        return PL_OK;
    }

    full_aim full = {.m = model->self, .aim = aim};
    pl_statics *statics = full.m->body.statics;
    const pl_state *state = full.m->body.state;
    pl_aim wanted = {
        .command = aim->command, .count = aim->count, .out = aim->out, .choose = full_choose, .user = &full};
    memcpy(wanted.variable, aim->variable, sizeof wanted.variable);
    pl_aim_report report;
    const pl_status status = pl_statics_aim(statics, state, &wanted, &report, err);
    model->costs.iterations += report.iterations;
    model->costs.factorizations += report.factorizations;
    model->costs.solves += report.solves;
    *met = status == PL_OK && report.met;

    // the arrays of the answer were those of the iterates
    pl_model_answer same;
    model_body_outputs(&full.m->body, state, &same); // the arrays of the answer were those of the iterates

    return status;
}

// ---- access for other rooms
// The body of either method, or NULL.
static model_body *full_body(const pl_model *model)
{
    const bool full = model->type->info == model_body_info;
    return full ? model->self : NULL;
}

pl_statics *pl_model_statics(const pl_model *model)
{
    return full_body(model) ? full_body(model)->statics : NULL;
}

const pl_robot *pl_model_robot(const pl_model *model)
{
    return full_body(model) ? full_body(model)->robot : NULL;
}

// ---- searches with a solver of their own
// The model as a full body with the exact method; refused otherwise.
static pl_status full_search(const pl_model *model, const char *what, full_model **out, pl_statics **statics,
                             pl_error *err)
{
    *out = pl_model_self(model, &full_type);
    *statics = NULL;
    return *out
               ? pl_statics_create((*out)->body.robot, &(*out)->options, statics, err)
               : pl_fail(err, PL_BAD_INPUT, "%s: needs a full body with the exact method, this model is '%s'",
                         what, pl_model_get_info(model).method);
}

pl_status pl_model_find_shapes(const pl_model *model, const double *command, const pl_shapes_options *options,
                               pl_shapes **out, pl_shapes_report *report, pl_error *err)
{
    full_model *m;
    pl_statics *statics;
    *out = NULL;
    *report = (pl_shapes_report){0};
    pl_status status = full_search(model, "shapes", &m, &statics, err);
    if (status == PL_OK) {
        status = pl_shapes_find(statics, command, options, out, report, err);
    }
    pl_statics_destroy(statics);

    return status;
}

// From a path of statics to a visitor that sees markers.
typedef struct full_arc {
    pl_statics *statics;
    int marker_count;
    double *marker;
    bool (*visit)(void *user, const pl_arc_point *point, const double *marker);
    void *user;
} full_arc;

static bool full_arc_visit(void *user, const pl_arc_point *point, const pl_state *state)
{
    full_arc *a = user;
    for (int i = 0; i < a->marker_count; ++i) {
        const pl_marker_result marker = pl_statics_marker(a->statics, state, i);
        memcpy(a->marker + 3 * i, marker.position, sizeof marker.position);
    }

    return a->visit(a->user, point, a->marker);
}

pl_status pl_model_follow_arc(const pl_model *model, const double *command, int steps,
                              bool (*visit)(void *user, const pl_arc_point *point, const double *marker),
                              void *user, bool *complete, pl_error *err)
{
    full_model *m;
    full_arc arc = {.visit = visit, .user = user};
    pl_state *state = NULL;
    *complete = false;
    pl_status status = full_search(model, "arc length", &m, &arc.statics, err);
    if (status == PL_OK) {
        arc.marker_count = m->body.info.marker_count;
        arc.marker = PL_NEW_ARRAY(double, 3 * arc.marker_count);
        status = arc.marker ? pl_state_create(m->body.robot, &state, err) : pl_fail_memory(err, "arc length");
    }

    if (status == PL_OK) {
        status =
            pl_statics_follow_arc(arc.statics, state, command, steps, full_arc_visit, &arc, complete, err);
    }

    pl_state_destroy(state);
    pl_free(arc.marker);
    pl_statics_destroy(arc.statics);

    return status;
}
