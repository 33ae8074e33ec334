// The loop of Bieze et al. 2018: inverse model -> set points; readings -> estimated shape -> Jacobian ->
// controller
// -> next command. Controller, estimator and inverse are those of the rooms; here they are put together.
#include "control/control_impl.h"
#include "pliant/inverse.h"

#define RUN_SLOT 3 // of the model: where it stood before a goal was computed
// A sensor is frozen if it says nothing of a motion of the model beyond both of these.
#define FROZEN_SIGMAS 12 // three steps of a coarse potentiometer
#define FROZEN_SIZE 0.01 // of the robot: no model is better everywhere

struct pl_loop {
    pl_model *model;
    pl_model_info info;
    pl_loop_options options;
    pl_controller *controller;
    pl_estimator *estimator;
    pl_ik *ik;
    int outputs;
    double *command, *planned, *set_point, *output, *jacobian, *last, *since;
    double *metric;     // commands x commands: work of the actuators
    double *compliance; // 3 rows per marker, 3 columns: of the controlled marker by a force at it
    int force;          // of the estimator's forces, that at the marker; -1: none
    int *still;         // per sensor: ticks without a change of the reading
    pl_control_kind kind;
    double *rate, period;
    bool energy; // the controller weighs the work of the actuators
};

int pl_loop_output_count(const pl_loop *loop)
{
    return loop->outputs;
}

const double *pl_loop_command(const pl_loop *loop)
{
    return loop->command;
}

void pl_loop_destroy(pl_loop *s)
{
    if (!s) {
        return;
    }
    pl_controller_destroy(s->controller);
    pl_estimator_destroy(s->estimator);
    pl_ik_destroy(s->ik);
    void *const block[] = {s->command, s->planned, s->set_point, s->output, s->jacobian,  s->last,
                           s->since,   s->still,   s->rate,      s->metric, s->compliance};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(s);
}

static pl_status run_parts(pl_loop *s, const pl_loop_options *o, pl_error *err)
{
    const int n = s->info.command_count;
    pl_controller_options controller = *o->controller;
    controller.command_count = n;
    controller.output_count = s->outputs;
    s->kind = controller.kind;
    s->period = controller.period;
    s->energy = controller.energy > 0;
    for (int j = 0; j < n; ++j) {
        s->rate[j] = controller.rate ? controller.rate[j] : 0;
    }
    pl_status status = pl_controller_create(&controller, &s->controller, err);
    if (status == PL_OK && o->estimator) {
        status = pl_estimator_create(s->model, o->estimator, &s->estimator, err);
    }
    pl_objective goal = pl_objective_default(PL_OBJECTIVE_POSITION);
    goal.index = o->marker;
    pl_ik_options ik = pl_ik_options_default();
    ik.low = controller.low;
    ik.high = controller.high;
    if (status == PL_OK) {
        status = pl_ik_create(s->model, &goal, 1, &ik, &s->ik, err);
    }
    return status;
}

pl_status pl_loop_create(pl_model *model, const pl_loop_options *o, pl_loop **out, pl_error *err)
{
    *out = NULL;
    const pl_model_info info = pl_model_get_info(model);
    if (o->marker < 0 || o->marker >= info.marker_count) {
        return pl_fail(err, PL_BAD_INPUT, "loop: there is no marker %d for the goals", o->marker);
    }
    if (!o->control_marker && info.sensor_count == 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "loop: the robot has no sensors to control: add `sensors:`, or control a "
                       "marker");
    }
    if (o->estimator && o->estimator->measured_count != info.sensor_count) {
        return pl_fail(err, PL_BAD_INPUT, "loop: the estimator measures %d numbers, expected the %d sensors",
                       o->estimator->measured_count, info.sensor_count);
    }
    int force = -1;
    for (int i = 0; o->estimator && i < o->estimator->force_count; ++i) {
        force = o->estimator->force_marker[i] == o->marker ? i : force;
    }
    if (o->controller->kind == PL_CONTROL_IMPEDANCE && (force < 0 || !o->control_marker)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "loop: impedance controls a marker whose force is estimated: expected '%s' in "
                       "`estimator: forces` and as `marker` of the controller",
                       info.marker_name[o->marker]);
    }
    pl_loop *s = PL_NEW(pl_loop);
    if (!s) {
        return pl_fail_memory(err, "the loop");
    }
    s->model = model;
    s->info = info;
    s->options = *o;
    s->outputs = o->control_marker ? 3 : info.sensor_count;
    s->command = PL_NEW_ARRAY(double, info.command_count);
    s->planned = PL_NEW_ARRAY(double, info.command_count);
    s->rate = PL_NEW_ARRAY(double, info.command_count);
    s->set_point = PL_NEW_ARRAY(double, s->outputs);
    s->output = PL_NEW_ARRAY(double, s->outputs);
    s->jacobian = PL_NEW_ARRAY(double, s->outputs *info.command_count);
    s->last = PL_NEW_ARRAY(double, info.sensor_count);
    s->since = PL_NEW_ARRAY(double, info.sensor_count);
    s->still = PL_NEW_ARRAY(int, info.sensor_count);
    s->metric = PL_NEW_ARRAY(double, info.command_count *info.command_count);
    s->compliance = PL_NEW_ARRAY(double, 9 * info.marker_count);
    s->force = force;
    pl_status status = s->command && s->planned && s->rate && s->set_point && s->output && s->jacobian &&
                               s->last && s->since && s->still && s->metric && s->compliance
                           ? run_parts(s, o, err)
                           : pl_fail_memory(err, "the loop");
    if (status != PL_OK) {
        pl_loop_destroy(s);
        return status;
    }
    for (int j = 0; j < info.command_count; ++j) {
        const double low = o->controller->low[j], high = o->controller->high[j];
        s->command[j] = s->planned[j] = fmin(fmax(info.command[j].rest, low), high);
    }
    *out = s;
    return PL_OK;
}

pl_status pl_loop_goal(pl_loop *s, const double target[3], double *distance, pl_error *err)
{
    pl_ik_report report;
    pl_status status = pl_model_keep(s->model, RUN_SLOT, err);
    if (status == PL_OK) {
        status = pl_model_set_forces(s->model, NULL, err); // a goal is planned for the robot without a load
    }
    if (status == PL_OK) {
        status = pl_ik_set_target(s->ik, 0, target, err);
    }
    if (status == PL_OK) {
        status = pl_ik_solve(s->ik, s->command, &report, err);
    }
    if (status != PL_OK) {
        return status;
    }
    *distance = report.distance;
    const pl_model_answer answer = pl_model_get_answer(s->model);
    memcpy(s->planned, answer.command, (size_t)s->info.command_count * sizeof *s->planned);
    for (int i = 0; i < s->outputs; ++i) {
        s->set_point[i] = s->options.control_marker ? target[i] : answer.sensor[i];
    }
    return pl_model_recall(s->model, RUN_SLOT, err);
}

// A reading that stays the same to the bit while the model says that it moved by more than its noise.
static int run_frozen(pl_loop *s, const double *sensor)
{
    const pl_model_answer answer = pl_model_get_answer(s->model);
    int frozen = -1;
    for (int i = 0; i < s->info.sensor_count && s->options.frozen_limit > 0; ++i) {
        const double sigma = s->options.estimator ? s->options.estimator->measured[i].sigma : 0;
        const bool length = s->info.sensor_kind[i] == PL_SENSOR_LENGTH;
        if (sensor[i] != s->last[i] || s->still[i] == 0) {
            s->last[i] = sensor[i];
            s->since[i] = answer.sensor[i];
            s->still[i] = 1;
        } else if (++s->still[i] > s->options.frozen_limit &&
                   fabs(answer.sensor[i] - s->since[i]) >
                       fmax(FROZEN_SIGMAS * sigma, length ? FROZEN_SIZE * s->info.size : 0)) {
            frozen = i;
        }
    }
    return frozen;
}

// Where the model is taken: at the estimate, or at the commands sent.
static pl_status run_place(pl_loop *s, const double *sensor, pl_loop_report *report, const char **why,
                           pl_error *err)
{
    if (s->estimator) {
        pl_estimate estimate;
        pl_error own = {0};
        const pl_status status = pl_estimator_update(s->estimator, s->command, sensor, &estimate, &own);
        if (status == PL_NO_MEMORY) {
            return pl_fail(err, status, "%s", own.text);
        }
        report->estimated = status == PL_OK && estimate.used > 0;
        report->outliers = status == PL_OK ? estimate.outliers : 0;
        report->missing = status == PL_OK ? estimate.missing : s->info.sensor_count;
        report->force = status == PL_OK && s->options.estimator->force_count > 0 ? estimate.force : NULL;
        *why = status != PL_OK      ? "no shape fits the readings"
               : estimate.used == 0 ? "no reading can be used"
                                    : NULL;
        return PL_OK;
    }
    pl_statics_report solve;
    const pl_status status = pl_model_fk(s->model, s->command, &solve, err);
    *why = status == PL_OK && solve.outcome != PL_SOLVED ? "the model finds no equilibrium" : NULL;
    return status;
}

// The work of the actuators over a change d of the commands is d . M d / 2, M = sum over the actuators of
// d(shortening or volume)/dc^T d(effort)/dc: W between pressures, W^-1 between lengths.
static void run_metric(pl_loop *s, const pl_model_derivative *by)
{
    const int n = s->info.command_count;
    memset(s->metric, 0, (size_t)(n * n) * sizeof *s->metric);
    for (int a = 0; a < s->info.actuator_count; ++a) {
        const double sign = s->info.actuator[a].kind == PL_CABLE ? -1 : 1; // its measure is the length
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                s->metric[i * n + j] += sign * by->measure[a * n + i] * by->effort[a * n + j];
            }
        }
    }
}

static pl_status run_derive(pl_loop *s, pl_error *err)
{
    pl_model_derivative by;
    pl_jacobian_report report;
    const bool marker = s->options.control_marker, energy = s->energy;
    const int parts =
        (marker ? PL_PART_MARKER : PL_PART_SENSOR) | (energy ? PL_PART_EFFORT | PL_PART_MEASURE : 0);
    pl_status status = pl_model_differentiate(s->model, parts, 0, &by, &report, err);
    if (status != PL_OK) {
        return status;
    }
    const int n = s->info.command_count, k = s->options.marker;
    const double *from = marker ? by.marker + 3 * k * n : by.sensor;
    memcpy(s->jacobian, from, (size_t)(s->outputs * n) * sizeof *from);
    if (energy) {
        run_metric(s, &by);
    }
    if (s->kind == PL_CONTROL_IMPEDANCE) {
        const pl_parameter force[3] = {{PL_PARAMETER_MARKER_FORCE, k, 0},
                                       {PL_PARAMETER_MARKER_FORCE, k, 1},
                                       {PL_PARAMETER_MARKER_FORCE, k, 2}};
        const pl_jacobian out = {.marker = s->compliance};
        status = pl_model_sensitivity(s->model, force, 3, &out, &report, err);
    }
    return status;
}

// Without feedback the planned command is approached as fast as the rates allow.
static void run_open(pl_loop *s)
{
    for (int j = 0; j < s->info.command_count; ++j) {
        const double most = s->rate[j] > 0 ? s->rate[j] * s->period : INFINITY;
        const double way = s->planned[j] - s->command[j];
        s->command[j] += fmin(fmax(way, -most), most);
    }
}

pl_status pl_loop_tick(pl_loop *s, const double *sensor, pl_loop_report *report, pl_error *err)
{
    *report = (pl_loop_report){.frozen = -1};
    const char *why = NULL;
    pl_status status = run_place(s, sensor, report, &why, err);
    if (status != PL_OK) {
        return status;
    }
    const pl_model_answer answer = pl_model_get_answer(s->model);
    for (int i = 0; i < s->outputs; ++i) {
        // a sensor without a reading is where the estimate says
        const bool known = !s->options.control_marker && (isfinite(sensor[i]) || !report->estimated);
        s->output[i] = s->options.control_marker ? answer.marker[3 * s->options.marker + i]
                       : known                   ? sensor[i]
                                                 : answer.sensor[i];
    }
    report->frozen = run_frozen(s, sensor);
    if (report->frozen >= 0) {
        why = "a sensor seems frozen";
    }
    report->marker = answer.marker;
    report->set_point = s->set_point;
    report->output = s->output;
    for (int i = 0; i < s->outputs; ++i) {
        report->error = fmax(report->error, fabs(s->set_point[i] - s->output[i]));
    }
    if (s->kind == PL_CONTROL_OPEN) {
        run_open(s);
        return PL_OK;
    }
    if (why) {
        report->control = (pl_control_report){.held = true, .why = why};
        return PL_OK;
    }
    status = run_derive(s, err);
    if (status == PL_OK) {
        const double *C = s->compliance + 9 * s->options.marker;
        const double *f = report->force && s->force >= 0 ? report->force + 3 * s->force : NULL;
        const bool yields = s->kind == PL_CONTROL_IMPEDANCE && f;
        double unloaded[3]; // where the marker would be without the force
        for (int i = 0; yields && i < 3; ++i) {
            unloaded[i] = s->output[i] - C[3 * i] * f[0] - C[3 * i + 1] * f[1] - C[3 * i + 2] * f[2];
        }
        const pl_control_input input = {.set_point = s->set_point,
                                        .measured = yields ? unloaded : s->output,
                                        .jacobian = s->jacobian,
                                        .posture = s->planned,
                                        .compliance = C,
                                        .force = f,
                                        .energy_metric = s->energy ? s->metric : NULL};
        pl_controller_tick(s->controller, &input, s->command, &report->control);
    }
    return status;
}
