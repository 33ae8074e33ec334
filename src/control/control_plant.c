// A simulated robot that is not the model: the commands reach the body through a delay, a dead zone, a
// hysteresis loop and a first-order lag; a payload is switched on and off; sensors have noise and steps. The
// body takes the equilibrium of every period, or it moves in time.
#include "control/control_impl.h"
#include "control/control.h"
#include "pliant/simulation.h"

#define PLANT_DELAY_MAX 10000 // ticks

struct pl_plant {
    pl_model *model;
    pl_simulation *simulation; // NULL: no motion in time
    pl_plant_options options;
    int commands, sensors, markers, delay_ticks, tick;        // counts; of the delay; since the start
    double *dead_zone, *backlash, *noise, *resolution, *rate; // copies
    pl_plant_fault *fault;
    double *queue;                  // delay_ticks + 1 commands, a ring
    double *valve;                  // per command: after dead zone and hysteresis
    double *now;                    // per command: after the lag, acts on the body
    double *sensor, *truth, *force; // readings, exact values; N, 3 per marker
    uint64_t random;
};

pl_plant_options pl_plant_options_default(void)
{
    return (pl_plant_options){.period = 0.1, .payload_marker = -1, .payload_to = INFINITY, .seed = 1};
}

// Every failure names the field.
static pl_status plant_check(const pl_model_info *info, const pl_plant_options *o, pl_error *err)
{
    if (!(o->period > 0) || !isfinite(o->period)) {
        return pl_fail(err, PL_BAD_INPUT, "plant: period is %g s, must be greater than 0", o->period);
    }
    if (!(o->delay >= 0) || o->delay / o->period > PLANT_DELAY_MAX) {
        return pl_fail(err, PL_BAD_INPUT, "plant: delay is %g s, must be between 0 and %d periods", o->delay,
                       PLANT_DELAY_MAX);
    }

    if (!(o->lag >= 0) || !isfinite(o->lag)) {
        return pl_fail(err, PL_BAD_INPUT, "plant: lag is %g s, must be at least 0", o->lag);
    }
    if (o->payload_marker >= info->marker_count) {
        return pl_fail(err, PL_BAD_INPUT, "plant: a payload at marker %d, the model has %d markers",
                       o->payload_marker, info->marker_count);
    }

    for (int i = 0; i < o->fault_count; ++i) {
        if (o->fault[i].sensor < 0 || o->fault[i].sensor >= info->sensor_count) {
            return pl_fail(err, PL_BAD_INPUT, "plant: a fault of sensor %d, the model has %d sensors",
                           o->fault[i].sensor, info->sensor_count);
        }
    }

    // arrays per command or sensor
    const double *const list[] = {o->dead_zone, o->backlash, o->noise, o->resolution, o->rate};
    static const char *const name[] = {"dead_zone", "backlash", "noise", "resolution", "rate"};
    for (int k = 0; k < PL_COUNT(list); ++k) {
        const int count = k < 2 ? info->command_count : info->sensor_count;

        for (int i = 0; list[k] && i < count; ++i) {
            if (!(list[k][i] >= 0) || !isfinite(list[k][i])) {
                return pl_fail(err, PL_BAD_INPUT, "plant: %s %d is %g, must be at least 0", name[k], i + 1,
                               list[k][i]);
            }
        }
    }

    return PL_OK;
}

// A copy; zeros where nothing is given.
static double *plant_copy(const double *from, int count)
{
    double *copy = PL_NEW_ARRAY(double, count);
    for (int i = 0; copy && from && i < count; ++i) {
        copy[i] = from[i];
    }
    return copy;
}

// The motion begins at the equilibrium at rest. Its steps are parts of a period.
static pl_status plant_start_motion(pl_plant *p, pl_error *err)
{
    pl_dynamics_options options = pl_dynamics_options_default();
    pl_solve_report report = {0};

    options.largest_step = p->options.period;
    pl_status status = pl_simulation_create(p->model, &options, &p->simulation, err);
    status = status == PL_OK ? pl_model_fk(p->model, p->now, &report, err) : status;
    if (status == PL_OK && report.outcome != PL_SOLVED) {
        status =
            pl_fail(err, PL_FAILED, "plant: the motion has no equilibrium to begin with: %s", report.message);
    }
    status = status == PL_OK ? pl_simulation_from_model(p->simulation, err) : status;

    return status == PL_OK ? pl_simulation_start(p->simulation, err) : status;
}

// Starts at rest, with a queue full of rest commands.
pl_status pl_plant_create(pl_model *model, const pl_plant_options *options, pl_plant **out, pl_error *err)
{
    *out = NULL;
    const pl_model_info info = pl_model_get_info(model);
    const pl_status status = plant_check(&info, options, err);
    if (status != PL_OK) {
        return status;
    }

    pl_plant *p = PL_NEW(pl_plant);
    if (!p) {
        return pl_fail_memory(err, "the plant");
    }
    p->model = model;
    p->options = *options;
    p->commands = info.command_count;
    p->sensors = info.sensor_count;
    p->markers = info.marker_count;
    p->delay_ticks = (int)(options->delay / options->period + 0.5);
    p->dead_zone = plant_copy(options->dead_zone, p->commands);
    p->backlash = plant_copy(options->backlash, p->commands);
    p->noise = plant_copy(options->noise, p->sensors);
    p->resolution = plant_copy(options->resolution, p->sensors);
    p->rate = plant_copy(options->rate, p->sensors);
    p->fault = PL_NEW_ARRAY(pl_plant_fault, options->fault_count);
    p->queue = PL_NEW_ARRAY(double, (p->delay_ticks + 1) * p->commands);
    p->valve = PL_NEW_ARRAY(double, p->commands);
    p->now = PL_NEW_ARRAY(double, p->commands);
    p->sensor = PL_NEW_ARRAY(double, p->sensors);
    p->truth = PL_NEW_ARRAY(double, p->sensors);
    p->force = PL_NEW_ARRAY(double, 3 * p->markers);
    p->random = options->seed;
    if (!p->dead_zone || !p->backlash || !p->noise || !p->resolution || !p->rate || !p->fault || !p->queue ||
        !p->valve || !p->now || !p->sensor || !p->truth || !p->force) {
        pl_plant_destroy(p);
        return pl_fail_memory(err, "the plant");
    }

    // faults, and the state at rest
    for (int i = 0; i < options->fault_count; ++i) {
        p->fault[i] = options->fault[i];
    }

    for (int j = 0; j < p->commands; ++j) {
        p->valve[j] = p->now[j] = info.command[j].rest;
        for (int k = 0; k <= p->delay_ticks; ++k) {
            p->queue[k * p->commands + j] = info.command[j].rest;
        }
    }

    const pl_status moving = options->motion ? plant_start_motion(p, err) : PL_OK;
    if (moving != PL_OK) {
        pl_plant_destroy(p);
        return moving;
    }

    *out = p;

    return PL_OK;
}

void pl_plant_destroy(pl_plant *p)
{
    if (!p) {
        return;
    }

    pl_simulation_destroy(p->simulation);
    void *const block[] = {p->dead_zone, p->backlash, p->noise, p->resolution, p->rate,  p->fault,
                           p->queue,     p->valve,    p->now,   p->sensor,     p->truth, p->force};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(p);
}

// From the command sent to what acts: delay, dead zone (small changes are not followed at all), hysteresis
// (the valve follows at a distance of half the loop's width), lag.
static void plant_drive(pl_plant *p, const double *command)
{
    const int n = p->commands, slots = p->delay_ticks + 1;
    double *in = p->queue + (p->tick % slots) * n;

    memcpy(in, command, (size_t)n * sizeof *in);
    const double *arrived = p->queue + ((p->tick + 1) % slots) * n; // the oldest

    // first-order lag over one period, exact for a constant input
    const double follow = p->options.lag > 0 ? 1 - exp(-p->options.period / p->options.lag) : 1;
    for (int j = 0; j < n; ++j) {
        // the valve follows only beyond both thresholds, and stops half the loop's width behind
        const double gap = arrived[j] - p->valve[j], half = 0.5 * p->backlash[j];
        if (fabs(gap) > fmax(p->dead_zone[j], half)) {
            p->valve[j] = arrived[j] - (gap > 0 ? half : -half);
        }
        p->now[j] += follow * (p->valve[j] - p->now[j]);
    }
}

// A sensor with a rate of its own has a reading in the step where its clock ticks.
static bool plant_due(const pl_plant *p, int sensor, double time)
{
    const double rate = p->rate[sensor];
    return !(rate > 0) || floor(time * rate + 1e-9) > floor((time - p->options.period) * rate + 1e-9);
}

// Readings of all sensors at `time`: noise, fault, then the steps of the resolution.
static void plant_read(pl_plant *p, double time)
{
    const pl_model_answer answer = pl_model_get_answer(p->model);
    for (int i = 0; i < p->sensors; ++i) {
        p->truth[i] = answer.sensor[i];

        // the fault that acts now; of several the last
        const pl_plant_fault *fault = NULL;
        for (int k = 0; k < p->options.fault_count; ++k) {
            const pl_plant_fault *f = &p->fault[k];
            fault = f->sensor == i && time >= f->from && time < f->to ? f : fault;
        }

        // the reading stays what it is
        if (fault && fault->kind == PL_FAULT_FROZEN) {
            continue;
        }
        if ((fault && fault->kind == PL_FAULT_MISSING) || !plant_due(p, i, time)) {
            p->sensor[i] = NAN;
            continue;
        }

        double value = p->truth[i] + (p->noise[i] > 0 ? p->noise[i] * control_normal(&p->random) : 0);
        if (fault) {
            value = fault->kind == PL_FAULT_VALUE   ? fault->value
                    : fault->kind == PL_FAULT_DRIFT ? value + fault->value * (time - fault->from)
                                                    : value + fault->value;
        }

        if (p->resolution[i] > 0) {
            value = p->resolution[i] * nearbyint(value / p->resolution[i]);
        }
        p->sensor[i] = value;
    }
}

// The body one period later. A body that cannot follow is reported, not an error.
static pl_status plant_move(pl_plant *p, bool *solved, pl_error *err)
{
    if (p->simulation) {
        pl_motion_report report;
        const pl_status status =
            pl_simulation_advance(p->simulation, p->now, p->force, p->options.period, NULL, &report, err);
        *solved = status == PL_OK && report.outcome == PL_MOTION_DONE;
        return status;
    }

    pl_solve_report report;
    pl_status status = pl_model_set_forces(p->model, p->force, err);
    status = status == PL_OK ? pl_model_fk(p->model, p->now, &report, err) : status;
    *solved = status == PL_OK && report.outcome == PL_SOLVED;

    return status;
}

pl_status pl_plant_step(pl_plant *p, const double *command, pl_plant_reading *out, pl_error *err)
{
    for (int j = 0; j < p->commands; ++j) {
        if (!isfinite(command[j])) {
            return pl_fail(err, PL_BAD_INPUT, "plant: command %d is not a number", j + 1);
        }
    }

    // what acts on the body at the end of the step
    plant_drive(p, command);
    const double time = (p->tick + 1) * p->options.period;
    const bool loaded =
        p->options.payload_marker >= 0 && time >= p->options.payload_from && time < p->options.payload_to;
    for (int i = 0; loaded && i < 3; ++i) {
        p->force[3 * p->options.payload_marker + i] = p->options.payload[i];
    }
    for (int i = 0; !loaded && i < 3 * p->markers; ++i) {
        p->force[i] = 0;
    }

    bool solved;
    const pl_status status = plant_move(p, &solved, err);
    if (status != PL_OK) {
        return status;
    }
    ++p->tick;
    plant_read(p, time);
    *out = (pl_plant_reading){.time = time,
                              .sensor = p->sensor,
                              .truth = p->truth,
                              .marker = pl_model_get_answer(p->model).marker,
                              .command = p->now,
                              .solved = solved};

    return PL_OK;
}
