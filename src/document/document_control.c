// What a robot file says about estimation and control, as options for a model of that robot.
#include <stdio.h>
#include "document/document_control.h"
#include "control/control.h"
#include "document/document_tree.h"
#include "learned/learned.h"
#include "robot/robot_kind.h"

#define CONTROL_NOISE_MARKER 0.2 // mm: a common motion capture
#define CONTROL_FROZEN 8         // ticks a reading may stay the same while the model moves

// What programs do not read of a setup.
struct pl_control_memory {
    double *dead_zone, *backlash, *low, *high, *rate; // per command
    int *force_marker;
    pl_plant_fault *fault;
    pl_plant_options plant;
};

void pl_control_clear(pl_control_setup *setup)
{
    struct pl_control_memory *m = setup->memory;
    void *const shown[] = {setup->noise, setup->resolution, setup->sensor_rate, setup->command_sigma,
                           setup->measured};
    for (int i = 0; i < PL_COUNT(shown); ++i) {
        pl_free(shown[i]);
    }
    if (m) {
        void *const hidden[] = {m->dead_zone, m->backlash,     m->low,  m->high,
                                m->rate,      m->force_marker, m->fault};
        for (int i = 0; i < PL_COUNT(hidden); ++i) {
            pl_free(hidden[i]);
        }
    }

    pl_free(m);
    *setup = (pl_control_setup){0};
}

// All arrays of the setup; false without memory, after which pl_control_clear frees what there is.
static bool control_allocate(pl_control_setup *s, const pl_model_info *info, int forces, int faults)
{
    const int n = info->command_count, sensors = info->sensor_count;
    s->noise = PL_NEW_ARRAY(double, sensors);
    s->resolution = PL_NEW_ARRAY(double, sensors);
    s->sensor_rate = PL_NEW_ARRAY(double, sensors);
    s->command_sigma = PL_NEW_ARRAY(double, n);
    s->measured = PL_NEW_ARRAY(pl_measurement, sensors);

    struct pl_control_memory *m = s->memory = PL_NEW(struct pl_control_memory);
    if (!m) {
        return false;
    }
    m->dead_zone = PL_NEW_ARRAY(double, n);
    m->backlash = PL_NEW_ARRAY(double, n);
    m->low = PL_NEW_ARRAY(double, n);
    m->high = PL_NEW_ARRAY(double, n);
    m->rate = PL_NEW_ARRAY(double, n);
    m->force_marker = PL_NEW_ARRAY(int, forces);
    m->fault = PL_NEW_ARRAY(pl_plant_fault, faults);

    return s->noise && s->resolution && s->sensor_rate && s->command_sigma && s->measured && m->dead_zone &&
           m->backlash && m->low && m->high && m->rate && m->force_marker && m->fault;
}

// Index of a marker, -1 after a defect.
static int control_marker(doc_robot_file *f, const pl_model *model, const char *what, const char *name,
                          int line)
{
    const int found = pl_model_find_marker(model, name);
    if (found < 0) {
        const pl_model_info info = pl_model_get_info(model);
        doc_defect(f, line, "%s: there is no marker '%s'%s", what, name,
                   doc_did_you_mean(f, name, info.marker_name, info.marker_count));
    }

    return found;
}

// Index of a sensor, -1 after a defect.
static int control_find_sensor(doc_robot_file *f, const pl_model_info *info, const doc_control_fault *fault)
{
    for (int i = 0; i < info->sensor_count; ++i) {
        if (strcmp(info->sensor_name[i], fault->sensor) == 0) {
            return i;
        }
    }

    doc_defect(f, fault->line, "plant: faults: there is no sensor '%s'%s", fault->sensor,
               doc_did_you_mean(f, fault->sensor, info->sensor_name, info->sensor_count));
    return -1;
}

// What the file says about a sensor of the model; NULL for sensors that others have added.
static const pl_sensor_def *control_sensor(const doc_robot_file *f, const char *name)
{
    const pl_sensor_def *sensor = f->sensor.item;
    for (int i = 0; i < f->sensor.count; ++i) {
        if (strcmp(sensor[i].name, name) == 0) {
            return &sensor[i];
        }
    }

    return NULL;
}

// Sensors: standard deviation of noise and rounding.
static void control_fill_sensors(doc_robot_file *f, const pl_model_info *info, pl_control_setup *s)
{
    for (int i = 0; i < info->sensor_count; ++i) {
        const pl_sensor_def *def = control_sensor(f, info->sensor_name[i]);
        s->noise[i] = def ? def->noise : 0;
        s->resolution[i] = def ? def->resolution : 0;
        s->sensor_rate[i] = def ? def->rate : 0;
        // a reading rounded to steps of q has an error of variance q^2 / 12
        const double sigma = sqrt(s->noise[i] * s->noise[i] + s->resolution[i] * s->resolution[i] / 12);
        s->measured[i] =
            (pl_measurement){PL_MEASUREMENT_SENSOR, i, 0,
                             sigma > 0 ? sigma : pl_sensor_traits_get(info->sensor_kind[i])->noise};
    }
}

// Commands: limits, and what is given as a share of the span.
static void control_fill_commands(doc_robot_file *f, const pl_model_info *info, pl_control_setup *s)
{
    const doc_control *c = f->control;
    struct pl_control_memory *m = s->memory;

    for (int j = 0; j < info->command_count; ++j) {
        const pl_command_info *command = &info->command[j];
        const double span = command->span[1] - command->span[0];
        m->low[j] = command->span[0];
        m->high[j] = command->span[1];
        m->rate[j] = command->rate;
        m->backlash[j] = c->plant.backlash * span;
        s->command_sigma[j] = c->estimator.command_sigma * span;
    }
}

// Dead zones and delays of actuators, in units of the command that drives them. Returns the longest delay.
static double control_fill_actuators(doc_robot_file *f, const pl_model_info *info, pl_control_setup *s)
{
    const doc_control *c = f->control;
    struct pl_control_memory *m = s->memory;
    const pl_actuator_def *actuator = f->actuator.item;
    double delay = c->plant.delay;

    for (int a = 0; a < info->actuator_count; ++a) {
        for (int k = 0; k < f->actuator.count; ++k) {
            const int j = info->actuator[a].command;
            if (j < 0 || strcmp(actuator[k].name, info->actuator[a].name) != 0) {
                continue;
            }
            const double factor = fabs(info->actuator[a].factor);
            m->dead_zone[j] = fmax(m->dead_zone[j], factor > 0 ? actuator[k].dead_zone / factor : 0);
            delay = fmax(delay, actuator[k].delay);
        }
    }

    return delay;
}

static void control_fill_controller(doc_robot_file *f, const pl_model *model, const pl_model_info *info,
                                    pl_control_setup *s)
{
    const doc_control *c = f->control;
    struct pl_control_memory *m = s->memory;

    s->marker = c->controller.marker ? control_marker(f, model, "controller", c->controller.marker, 0) : -1;
    s->controller = pl_controller_options_default();
    s->controller.kind = (pl_control_kind)c->controller.kind;
    s->controller.command_count = info->command_count;
    s->controller.output_count = s->marker >= 0 ? 3 : info->sensor_count;
    s->controller.period = c->controller.period;
    s->controller.kp = c->controller.kp;
    s->controller.ki = c->controller.ki;
    s->controller.gain = c->controller.gain;
    s->controller.damping = c->controller.damping;
    s->controller.energy = c->controller.energy;
    s->controller.output_scale = 0.1 * info->size;
    memcpy(s->controller.stiffness, c->controller.stiffness, sizeof s->controller.stiffness);
    s->controller.low = m->low;
    s->controller.high = m->high;
    s->controller.rate = m->rate;
}

static void control_fill_estimator(doc_robot_file *f, const pl_model *model, const pl_model_info *info,
                                   pl_control_setup *s)
{
    const doc_control *c = f->control;
    struct pl_control_memory *m = s->memory;

    s->estimator = pl_estimator_options_default();
    s->estimator.measured = s->measured;
    s->estimator.measured_count = info->sensor_count;
    s->estimator.command_sigma = s->command_sigma;
    s->estimator.force_marker = m->force_marker;

    for (int i = 0; i < c->estimator.force_count; ++i) {
        const int marker =
            control_marker(f, model, "estimator: forces", c->estimator.force[i], c->estimator.line);
        if (marker >= 0) {
            m->force_marker[s->estimator.force_count++] = marker;
        }
    }

    s->estimator.force_sigma = c->estimator.force_sigma;
    s->estimator.command_drift = c->estimator.command_drift;
    s->estimator.force_drift = c->estimator.force_drift;
    s->estimator.outlier = c->estimator.outlier;
    s->estimator.stiffness_sigma = c->estimator.stiffness_sigma;
    s->estimator.model_error = c->estimator.model_error;
    s->estimator.recursive = c->estimator.recursive;
}

// The simulated robot: what the machine adds to the model.
static void control_fill_plant(doc_robot_file *f, const pl_model *model, const pl_model_info *info,
                               double delay, pl_control_setup *s)
{
    const doc_control *c = f->control;
    struct pl_control_memory *m = s->memory;

    m->plant = pl_plant_options_default();
    m->plant.period = c->controller.period;
    m->plant.delay = s->delay = delay;
    m->plant.lag = s->lag = c->plant.lag;
    m->plant.dead_zone = m->dead_zone;
    m->plant.backlash = m->backlash;
    m->plant.noise = s->noise;
    m->plant.resolution = s->resolution;
    m->plant.rate = s->sensor_rate;
    m->plant.fault = m->fault;

    for (int i = 0; i < c->plant.fault_count; ++i) {
        const doc_control_fault *fault = &c->plant.fault[i];
        const int sensor = control_find_sensor(f, info, fault);

        if (sensor >= 0) {
            m->fault[m->plant.fault_count++] =
                (pl_plant_fault){(pl_plant_fault_kind)fault->kind, sensor, fault->from, fault->to,
                                 fault->value * pl_sensor_scale(info->sensor_kind[sensor])};
        }
    }

    m->plant.seed = (uint64_t)c->plant.seed;
    m->plant.motion = c->plant.motion;
    if (c->plant.payload.marker) {
        m->plant.payload_marker =
            control_marker(f, model, "plant: payload", c->plant.payload.marker, c->plant.payload_line);
        memcpy(m->plant.payload, c->plant.payload.force, sizeof m->plant.payload);
        m->plant.payload_from = c->plant.payload.from;
        m->plant.payload_to = c->plant.payload.to;
    }
}

// Names become indices, shares of ranges become units. Defects go to the findings.
static void control_fill(doc_robot_file *f, const pl_model *model, const pl_model_info *info,
                         pl_control_setup *s)
{
    control_fill_sensors(f, info, s);
    control_fill_commands(f, info, s);
    const double delay = control_fill_actuators(f, info, s);
    control_fill_controller(f, model, info, s);
    control_fill_estimator(f, model, info, s);
    control_fill_plant(f, model, info, delay, s);
}

// `out` stays empty for a robot whose file has none of the blocks; clear it with pl_control_clear.
pl_status pl_control_from_document(const pl_robot_document *document, const pl_model *model,
                                   pl_control_setup *out, pl_findings *findings, pl_error *err)
{
    *out = (pl_control_setup){0};
    const pl_learned *learned = pl_model_learned(model);
    pl_robot_document *sampled = NULL;
    if (learned) { // the blocks are those of the robot it was learned from, where that is at hand
        if (!learned->robot_file ||
            pl_robot_document_read(learned->robot_file, &sampled, NULL, NULL) != PL_OK) {
            return PL_OK;
        }

        document = sampled;
    }

    const pl_model_info info = pl_model_get_info(model);
    doc_robot_file f;
    doc_robot_file_read(&f, document);
    if (!f.no_memory && f.control &&
        !control_allocate(out, &info, f.control->estimator.force_count, f.control->plant.fault_count)) {
        f.no_memory = true;
    }

    if (!f.no_memory && f.control) {
        control_fill(&f, model, &info, out);
    }

    const pl_status status =
        f.no_memory ? pl_fail_memory(err, "the controller") : doc_robot_file_report(&f, PL_OK, findings, err);
    doc_robot_file_clear(&f);
    pl_robot_document_destroy(sampled);
    if (status != PL_OK) {
        pl_control_clear(out);
    }

    return status;
}

pl_status pl_plant_from_setup(pl_model *model, const pl_control_setup *setup, double period, int seed,
                              bool motion, pl_plant **out, pl_error *err)
{
    pl_plant_options options = setup->memory ? setup->memory->plant : pl_plant_options_default();
    options.period = period;
    options.seed = seed >= 0 ? (uint64_t)seed : options.seed;
    options.motion = options.motion || motion;

    return pl_plant_create(model, &options, out, err);
}

pl_status pl_loop_from_setup(pl_model *model, const pl_control_setup *setup, const pl_loop_setup *asked,
                             pl_loop **out, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    bool *varies = PL_NEW_ARRAY(bool, info.sensor_count);
    *out = NULL;
    if (!varies) {
        return pl_fail_memory(err, "the loop");
    }

    // noise that exceeds the steps of the display: a reading that stays the same is then suspect
    for (int i = 0; setup->noise && i < info.sensor_count; ++i) {
        varies[i] = setup->noise[i] > 2 * setup->resolution[i];
    }

    const pl_loop_options options = {.controller = &setup->controller,
                                     .estimator =
                                         asked->estimate && info.sensor_count > 0 ? &setup->estimator : NULL,
                                     .marker = asked->marker >= 0   ? asked->marker
                                               : setup->marker >= 0 ? setup->marker
                                                                    : 0,
                                     .control_marker = asked->control_marker || setup->marker >= 0 ||
                                                       setup->controller.kind == PL_CONTROL_IMPEDANCE,
                                     .frozen_limit = CONTROL_FROZEN,
                                     .varies = varies,
                                     .delay = setup->delay,
                                     .lag = setup->lag,
                                     .effort = asked->bound,
                                     .effort_count = asked->bound_count};
    const pl_status status = pl_loop_create(model, &options, out, err);
    pl_free(varies);

    return status;
}
