// The loop of Bieze et al. 2018: inverse model -> set points; readings -> estimated shape ->
// Jacobian -> controller -> next command. Controller, estimator and inverse are those of other
// files; here they are combined.
#include "control/control_estimate.h"
#include "control/control.h"
#include "robot/robot_kind.h"

// A sensor is frozen if it says nothing of a motion of the model beyond both of these.
#define FROZEN_SIGMAS 12 // three steps of a coarse potentiometer
#define FROZEN_SIZE 0.01 // of the robot: no model is better everywhere
#define IMPLAUSIBLE 0.25 // of the robot: a length that is farther from the model is no reading
#define RUN_FOLLOW 3     // ticks within which an actuator is taken to have followed

struct pl_loop {
    pl_model *model;
    pl_model_info info;
    pl_loop_options options;
    pl_controller *controller;
    pl_estimator *estimator;
    pl_ik *ik;
    int outputs; // numbers controlled: 3 of a marker, or one per sensor
    // sent last; of the goal; wanted, present and derivative of the outputs;
    // last reading and the model's then
    double *command, *planned, *set_point, *output, *jacobian, *last, *since;
    double *metric;     // commands x commands: work of the actuators
    double *compliance; // 3 rows per marker, 3 columns: of the controlled marker by a force at it
    int force;          // of the estimator's forces, that at the marker; -1: none
    int *still;         // per sensor: ticks without a change of the reading
    bool *frozen;       // per sensor: it seems frozen, until its reading changes
    bool *rejected;     // per sensor: not used in this tick
    bool *varies;       // per sensor: of the options
    double *reading;    // per sensor: NAN where it is not used
    double *scale;      // per output: for the controller
    double *queue;      // commands sent, a ring of `slots`
    double *acting;     // per command: after delay and lag
    double *widen;      // per command: standard deviation of what acts, since it may not have followed yet
    double *before;     // per command: the last
    int slots, tick;    // of the queue; since the start
    double goal[3], aim[3]; // mm: of the user, and where an impedance yields to
    double *effort_by;      // actuators x commands: derivatives of the efforts
    pl_effort_bound *bound;
    pl_control_kind kind;
    double *rate, *low, *high, period;
    double stiffness[3]; // impedance
    bool energy;         // the controller weighs the work of the actuators
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
    void *const block[] = {s->command,  s->planned,   s->set_point, s->output, s->jacobian,   s->last,
                           s->since,    s->still,     s->rate,      s->metric, s->compliance, s->frozen,
                           s->rejected, s->reading,   s->scale,     s->queue,  s->acting,     s->widen,
                           s->before,   s->effort_by, s->bound,     s->low,    s->high,       s->varies};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(s);
}

// Sizes of the outputs: sensors count by their noise, the most precise length as the controller's size.
static void run_scales(pl_loop *s, const pl_controller_options *o)
{
    double least = INFINITY;
    for (int i = 0; !s->options.control_marker && s->options.estimator && i < s->outputs; ++i) {
        if (pl_sensor_is_line(s->info.sensor_kind[i])) {
            least = fmin(least, s->options.estimator->measured[i].sigma);
        }
    }

    for (int i = 0; i < s->outputs; ++i) {
        const bool sensor = !s->options.control_marker && s->options.estimator;
        const double sigma = sensor ? s->options.estimator->measured[i].sigma : 1;
        s->scale[i] = !sensor        ? o->output_scale
                      : isinf(least) ? 100 * sigma
                                     : o->output_scale * sigma / least;
    }
}

// A command that is itself the bounded pressure or tension keeps the bound exactly, wherever the estimate is.
static void run_limit(pl_loop *s)
{
    for (int i = 0; i < s->options.effort_count; ++i) {
        const pl_effort_bound *b = &s->bound[i];
        const pl_actuator_info *a = &s->info.actuator[b->actuator];
        const int j = a->command;
        if (j < 0 || a->growth || a->factor == 0 || a->drive != pl_actuator_kind_get(a->kind)->effort_drive) {
            continue;
        }

        // an antagonist has a negative factor: its largest effort is at a lower bound
        const double most = b->high / a->factor;
        double *end = a->factor > 0 ? &s->high[j] : &s->low[j];
        *end = a->factor > 0 ? fmax(fmin(*end, most), s->low[j]) : fmin(fmax(*end, most), s->high[j]);
    }
}

// Controller, estimator and inverse with their options; pointers to the caller's arrays are replaced by
// copies.
static pl_status run_parts(pl_loop *s, const pl_loop_options *o, pl_error *err)
{
    // controller: sizes and limits
    const int n = s->info.command_count;
    pl_controller_options controller = *o->controller;

    controller.command_count = n;
    controller.output_count = s->outputs;
    run_scales(s, &controller);
    controller.output_scales = s->scale;
    s->kind = controller.kind;
    s->period = controller.period;
    s->energy = controller.energy > 0;

    for (int j = 0; j < n; ++j) {
        s->rate[j] = controller.rate ? controller.rate[j] : 0;
        s->low[j] = controller.low ? controller.low[j] : 0;
        s->high[j] = controller.high ? controller.high[j] : 0;
    }

    memcpy(s->stiffness, controller.stiffness, sizeof s->stiffness);

    // copies of what later ticks need
    for (int i = 0; i < o->effort_count; ++i) {
        s->bound[i] = o->effort[i];
    }
    for (int i = 0; o->varies && i < s->info.sensor_count; ++i) {
        s->varies[i] = o->varies[i];
    }
    s->options.effort = s->bound;
    run_limit(s);
    controller.low = s->low;
    controller.high = s->high;

    // parts; rejected readings are kept rejected between ticks
    pl_status status = pl_controller_create(&controller, &s->controller, err);
    if (status == PL_OK && o->estimator) {
        pl_estimator_options estimator = *o->estimator;
        estimator.keep_rejected = true;
        status = pl_estimator_create(s->model, &estimator, &s->estimator, err);
    }

    s->options.controller = NULL; // of the caller
    s->options.estimator = s->estimator ? &s->estimator->options : NULL;

    // goals are found by inverse kinematics within the same bounds
    pl_objective goal = pl_objective_default(PL_OBJECTIVE_POSITION);
    goal.index = o->marker;
    pl_ik_options ik = pl_ik_options_default();
    ik.low = controller.low;
    ik.high = controller.high;
    ik.effort = s->bound;
    ik.effort_count = o->effort_count;
    if (status == PL_OK) {
        status = pl_ik_create(s->model, &goal, 1, &ik, &s->ik, err);
    }

    return status;
}

// All memory of later ticks; false when out of memory.
static bool run_memory(pl_loop *s, const pl_loop_options *o)
{
    const int n = s->info.command_count, sensors = s->info.sensor_count, A = s->info.actuator_count;
    const struct {
        double **field;
        int count;
    } block[] = {{&s->command, n},
                 {&s->planned, n},
                 {&s->rate, n},
                 {&s->low, n},
                 {&s->high, n},
                 {&s->set_point, s->outputs},
                 {&s->output, s->outputs},
                 {&s->jacobian, s->outputs * n},
                 {&s->last, sensors},
                 {&s->since, sensors},
                 {&s->metric, n * n},
                 {&s->compliance, 9 * s->info.marker_count},
                 {&s->reading, sensors},
                 {&s->scale, s->outputs},
                 {&s->queue, s->slots * n},
                 {&s->acting, n},
                 {&s->widen, n},
                 {&s->before, n},
                 {&s->effort_by, A * n}};
    bool whole = true;
    for (int i = 0; i < PL_COUNT(block); ++i) {
        *block[i].field = PL_NEW_ARRAY(double, block[i].count);
        whole = whole && *block[i].field;
    }

    s->still = PL_NEW_ARRAY(int, sensors);
    s->frozen = PL_NEW_ARRAY(bool, sensors);
    s->rejected = PL_NEW_ARRAY(bool, sensors);
    s->varies = PL_NEW_ARRAY(bool, sensors);
    s->bound = PL_NEW_ARRAY(pl_effort_bound, o->effort_count);

    return whole && s->still && s->frozen && s->rejected && s->varies && s->bound;
}

// Options that contradict each other are refused here, with the key of the robot file.
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

    if (!(o->delay >= 0) || !(o->delay <= 1e4 * o->controller->period) || !(o->lag >= 0) ||
        !isfinite(o->lag)) {
        return pl_fail(err, PL_BAD_INPUT, "loop: delay %g s or lag %g s is out of range", o->delay, o->lag);
    }

    for (int i = 0; i < o->effort_count; ++i) {
        if (o->effort[i].actuator < 0 || o->effort[i].actuator >= info.actuator_count) {
            return pl_fail(err, PL_BAD_INPUT,
                           "loop: a bound on the effort of actuator %d, the model has %d actuators",
                           o->effort[i].actuator, info.actuator_count);
        }
    }

    if (o->estimator && o->estimator->measured_count != info.sensor_count) {
        return pl_fail(err, PL_BAD_INPUT, "loop: the estimator measures %d numbers, expected the %d sensors",
                       o->estimator->measured_count, info.sensor_count);
    }

    // impedance needs the estimated force at the controlled marker
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

    // memory and parts
    pl_loop *s = PL_NEW(pl_loop);
    if (!s) {
        return pl_fail_memory(err, "the loop");
    }
    s->model = model;
    s->info = info;
    s->options = *o;
    s->outputs = o->control_marker ? 3 : info.sensor_count;
    s->force = force;
    s->slots = (int)(o->delay / o->controller->period + 0.5) + RUN_FOLLOW;
    pl_status status = run_memory(s, o) ? run_parts(s, o, err) : pl_fail_memory(err, "the loop");
    if (status != PL_OK) {
        pl_loop_destroy(s);
        return status;
    }

    // start at rest, within the limits, with a queue full of that command
    for (int j = 0; j < info.command_count; ++j) {
        const double low = o->controller->low[j], high = o->controller->high[j];
        s->command[j] = s->planned[j] = fmin(fmax(info.command[j].rest, low), high);
        s->acting[j] = s->command[j];
        for (int k = 0; k < s->slots; ++k) {
            s->queue[k * info.command_count + j] = s->command[j];
        }
    }

    *out = s;

    return PL_OK;
}

// Set points of the goal `target` (mm): the commands and sensor readings of the model there. *distance: what
// is left, mm.
pl_status pl_loop_goal(pl_loop *s, const double target[3], double *distance, pl_error *err)
{
    // inverse kinematics from the present command; afterwards the model returns to the estimated state
    pl_ik_report report;
    pl_status status = pl_model_keep(s->model, PL_SLOT_CALLER, err);

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

    // a goal out of reach is no failure: the nearest point counts, and *distance tells
    if (report.outcome == PL_IK_INFEASIBLE || report.outcome == PL_IK_FORWARD ||
        report.outcome == PL_IK_STOPPED) {
        return pl_fail(err, report.outcome == PL_IK_STOPPED ? PL_INTERRUPTED : PL_FAILED,
                       "no command found for the goal %g, %g, %g: %s", target[0], target[1], target[2],
                       pl_ik_outcome_name(report.outcome));
    }

    *distance = report.distance;
    memcpy(s->goal, target, sizeof s->goal);
    const pl_model_answer answer = pl_model_get_answer(s->model);
    memcpy(s->planned, answer.command, (size_t)s->info.command_count * sizeof *s->planned);
    for (int i = 0; i < s->outputs; ++i) {
        s->set_point[i] = s->options.control_marker ? target[i] : answer.sensor[i];
    }

    return pl_model_recall(s->model, PL_SLOT_CALLER, err);
}

// A reading that stays the same to the bit while the model says that it moved by more than its noise.
// Returns a sensor that seems frozen, or -1. Compared with the model's own motion since the reading changed
// last, beyond its noise and the model's error.
static int run_frozen(pl_loop *s, const double *sensor)
{
    const pl_model_answer answer = pl_model_get_answer(s->model);
    int frozen = -1;

    for (int i = 0; i < s->info.sensor_count && s->options.frozen_limit > 0; ++i) {
        // noise and resolution of the sensor: a reading may rest for that long
        const double sigma = s->options.estimator ? s->options.estimator->measured[i].sigma : 0;
        const bool length = pl_sensor_is_line(s->info.sensor_kind[i]);

        if (sensor[i] != s->last[i] || s->still[i] == 0) {
            s->last[i] = sensor[i];
            s->since[i] = answer.sensor[i];
            s->still[i] = 1;
            s->frozen[i] = false;
        } else if (++s->still[i] > s->options.frozen_limit &&
                   (s->varies[i] ||
                    fabs(answer.sensor[i] - s->since[i]) >
                        fmax(FROZEN_SIGMAS * sigma, length ? FROZEN_SIZE * s->info.size : 0))) {
            s->frozen[i] = true;
        }

        frozen = s->frozen[i] ? i : frozen;
    }

    return frozen;
}

// What acts of the commands sent, by delay and lag, and how far it may be from that: an actuator that is
// slower than assumed has not followed the changes of the last ticks.
static void run_act(pl_loop *s)
{
    const int n = s->info.command_count, delay = s->slots - RUN_FOLLOW;
    const double follow = s->options.lag > 0 ? 1 - exp(-s->period / s->options.lag) : 1;

    memcpy(s->queue + (s->tick % s->slots) * n, s->command, (size_t)n * sizeof *s->command);
    for (int j = 0; j < n; ++j) {
        const double arrived = s->queue[((s->tick + s->slots - delay) % s->slots) * n + j];
        s->acting[j] += follow * (arrived - s->acting[j]);
        s->widen[j] = 0;
        // half of the largest difference among the commands of that time
        for (int k = 0; k < s->slots; ++k) {
            s->widen[j] = fmax(s->widen[j], 0.5 * fabs(s->queue[k * n + j] - s->command[j]));
        }
    }

    ++s->tick;
}

// Readings that can be used before they are compared with each other.
// Not used: frozen sensors, and lengths that are implausibly far from the model.
static void run_readings(pl_loop *s, const double *sensor)
{
    const pl_model_answer answer = pl_model_get_answer(s->model);
    for (int i = 0; i < s->info.sensor_count; ++i) {
        const bool length = pl_sensor_is_line(s->info.sensor_kind[i]);
        const bool frozen = s->frozen[i] && sensor[i] == s->last[i];
        s->rejected[i] =
            isfinite(sensor[i]) &&
            (frozen || (length && fabs(sensor[i] - answer.sensor[i]) > IMPLAUSIBLE * s->info.size));
        s->reading[i] = s->rejected[i] ? NAN : sensor[i];
    }
}

// The state at which the loop continues: the estimate, or the model at the commands sent. *why: reason to
// hold the command.
static pl_status run_place(pl_loop *s, pl_loop_report *report, double *stiffness, const char **why,
                           pl_error *err)
{
    // with an estimator
    if (s->estimator) {
        pl_estimate estimate;
        pl_error own = {0};
        pl_estimator_widen(s->estimator, s->widen);
        const pl_status status = pl_estimator_update(s->estimator, s->acting, s->reading, &estimate, &own);
        if (status == PL_NO_MEMORY) {
            return pl_fail(err, status, "%s", own.text);
        }
        report->estimated = report->measured = status == PL_OK && estimate.used > 0;
        report->contradicted = status == PL_OK && estimate.contradicted;
        report->marker_sigma = status == PL_OK ? estimate.marker_sigma : NULL;
        report->force = status == PL_OK && s->options.estimator->force_count > 0 ? estimate.force : NULL;
        *stiffness = status == PL_OK ? 1 + estimate.stiffness : 1;

        for (int i = 0; status == PL_OK && i < s->info.sensor_count; ++i) {
            if (estimate.rejected[i]) {
                s->rejected[i] = true;
                s->reading[i] = NAN;
            }
        }

        *why = status != PL_OK      ? "no shape fits the readings"
               : estimate.used == 0 ? "no reading can be used"
                                    : NULL;
        return PL_OK;
    }

    // without one
    pl_solve_report solve;
    const pl_status status = pl_model_fk(s->model, s->acting, &solve, err);
    *why = status == PL_OK && solve.outcome != PL_SOLVED ? "the model finds no equilibrium" : NULL;
    for (int i = 0; i < s->info.sensor_count; ++i) {
        report->measured = report->measured || isfinite(s->reading[i]);
    }

    return status;
}

// Outliers were rejected, missing readings never came.
static void run_count_readings(const pl_loop *s, pl_loop_report *report)
{
    for (int i = 0; i < s->info.sensor_count; ++i) {
        report->outliers += s->rejected[i];
        report->missing += isnan(s->reading[i]) && !s->rejected[i];
    }

    report->rejected = s->rejected;
}

// The work of the actuators over a change d of the commands is d . M d / 2, M = sum over the actuators of
// d(shortening or volume)/dc^T d(effort)/dc: W between pressures, W^-1 between lengths.
static void run_metric(pl_loop *s, const pl_model_derivative *by)
{
    const int n = s->info.command_count;
    memset(s->metric, 0, (size_t)(n * n) * sizeof *s->metric);
    for (int a = 0; a < s->info.actuator_count; ++a) {
        const double sign =
            -pl_actuator_kind_get(s->info.actuator[a].kind)->sign; // its measure is the length
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                s->metric[i * n + j] += sign * by->measure[a * n + i] * by->effort[a * n + j];
            }
        }
    }
}

// With a body stiffer than the model by the factor `stiffness`, a pressure or tension moves it by that much
// less. The Jacobian of the outputs and what else the controller needs.
static pl_status run_derive(pl_loop *s, double stiffness, pl_error *err)
{
    pl_model_derivative by;
    pl_jacobian_report report;
    const bool marker = s->options.control_marker, energy = s->energy;
    const int parts = (marker ? PL_PART_MARKER : PL_PART_SENSOR) |
                      (energy || s->options.effort_count > 0 ? PL_PART_EFFORT | PL_PART_MEASURE : 0);
    pl_status status = pl_model_differentiate(s->model, parts, 0, &by, &report, err);

    if (status != PL_OK) {
        return status;
    }

    // outputs by commands, corrected by the stiffness found
    const int n = s->info.command_count, k = s->options.marker;
    const double *from = marker ? by.marker + 3 * k * n : by.sensor;
    memcpy(s->jacobian, from, (size_t)(s->outputs * n) * sizeof *from);
    for (int e = 0; s->estimator && e < s->outputs * n; ++e) {
        s->jacobian[e] /= pow(stiffness, s->estimator->power[e % n]);
    }

    // efforts E = q E'(c / q^p) by commands: prescribed pressures do not scale, those of lengths do
    for (int e = 0; s->options.effort_count > 0 && e < s->info.actuator_count * n; ++e) {
        s->effort_by[e] = by.effort[e] * pow(stiffness, 1 - (s->estimator ? s->estimator->power[e % n] : 0));
    }

    if (energy) {
        run_metric(s, &by);
    }

    // compliance of the marker, for its own yielding under the force
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
        const double change = s->planned[j] - s->command[j];
        s->command[j] += fmin(fmax(change, -most), most);
    }
}

// Limits the efforts, linearised about the estimated shape, to their bounds: projects the step onto each
// bound that it violates, within ranges and rates. Where a bound is violated already, the step returns to it.
static void run_bound(pl_loop *s, const double *before, double stiffness, pl_loop_report *report)
{
    const int n = s->info.command_count, passes = 1 + s->options.effort_count;
    const double *effort = pl_model_get_answer(s->model).effort;

    for (int pass = 0; pass < passes; ++pass) {
        for (int i = 0; i < s->options.effort_count; ++i) {
            const pl_effort_bound *b = &s->options.effort[i];
            const double *E = s->effort_by + b->actuator * n;

            // effort after the step, to first order
            double predicted = stiffness * effort[b->actuator], square = 0;
            for (int j = 0; j < n; ++j) {
                predicted += E[j] * (s->command[j] - before[j]);
                square += E[j] * E[j];
            }

            // smallest change of the commands that removes the excess, within rates and ranges
            const double excess = predicted > b->high ? predicted - b->high : fmin(predicted - b->low, 0);
            for (int j = 0; excess != 0 && square > 0 && j < n; ++j) {
                const double most = s->rate[j] > 0 ? s->rate[j] * s->period : INFINITY;
                const double change = s->command[j] - excess * E[j] / square - before[j];
                s->command[j] = before[j] + fmin(fmax(change, -most), most);
                s->command[j] = fmin(fmax(s->command[j], s->low[j]), s->high[j]);
                report->bounded = 1;
            }
        }
    }
}

// What is controlled: sensors that are used, as estimated where there is no reading, or the marker.
// Also the error reported: the largest difference from what is wanted.
static void run_outputs(pl_loop *s, pl_loop_report *report)
{
    const pl_model_answer answer = pl_model_get_answer(s->model);
    const double *f = report->force && s->force >= 0 ? report->force + 3 * s->force : NULL;
    const bool yields = s->kind == PL_CONTROL_IMPEDANCE && f;

    for (int i = 0; i < s->outputs; ++i) {
        const bool known = !s->options.control_marker && (isfinite(s->reading[i]) || !report->estimated);
        s->output[i] = s->options.control_marker ? answer.marker[3 * s->options.marker + i]
                       : known                   ? s->reading[i]
                                                 : answer.sensor[i];
    }

    for (int i = 0; i < 3; ++i) {
        s->aim[i] = s->goal[i] + (yields ? f[i] / s->stiffness[i] : 0);
    }
    report->marker = answer.marker;
    report->aim = s->aim;
    report->set_point = s->set_point;
    report->output = s->output;
    for (int i = 0; i < s->outputs; ++i) {
        const double wanted = s->options.control_marker ? s->aim[i] : s->set_point[i];
        report->error = fmax(report->error, fabs(wanted - s->output[i]));
    }
}

// One period: readings in, next command in pl_loop_command. A tick that cannot be controlled holds the
// command.
pl_status pl_loop_tick(pl_loop *s, const double *sensor, pl_loop_report *report, pl_error *err)
{
    *report = (pl_loop_report){.frozen = -1};
    const char *why = NULL;
    double stiffness = 1;

    // estimate where the robot is
    run_act(s);
    run_readings(s, sensor);
    pl_status status = run_place(s, report, &stiffness, &why, err);
    if (status != PL_OK) {
        return status;
    }

    // report
    run_count_readings(s, report);
    report->frozen = run_frozen(s, sensor);
    run_outputs(s, report);

    // without feedback, or without an estimate
    if (s->kind == PL_CONTROL_OPEN) {
        run_open(s);
        return PL_OK;
    }

    if (why) {
        report->control = (pl_control_report){.held = true, .why = why};
        return PL_OK;
    }

    // derivatives at the estimate
    status = run_derive(s, stiffness, err);
    if (status != PL_OK) {
        return status;
    }

    const double *C = s->compliance + 9 * s->options.marker;
    const double *f = report->force && s->force >= 0 ? report->force + 3 * s->force : NULL;
    const bool yields = s->kind == PL_CONTROL_IMPEDANCE && f;
    double unloaded[3]; // where the marker would be without the force
    for (int i = 0; yields && i < 3; ++i) {
        unloaded[i] = s->output[i] - C[3 * i] * f[0] - C[3 * i + 1] * f[1] - C[3 * i + 2] * f[2];
    }

    // controller, then bounds on efforts
    const pl_control_input input = {.set_point = s->set_point,
                                    .measured = yields ? unloaded : s->output,
                                    .jacobian = s->jacobian,
                                    .posture = s->planned,
                                    .compliance = C,
                                    .force = f,
                                    .energy_metric = s->energy ? s->metric : NULL};
    memcpy(s->before, s->command, (size_t)s->info.command_count * sizeof *s->before);
    pl_controller_tick(s->controller, &input, s->command, &report->control);
    if (s->options.effort_count > 0 && !report->control.held) {
        run_bound(s, s->before, stiffness, report);
    }

    return PL_OK;
}
