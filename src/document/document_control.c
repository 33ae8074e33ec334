// What a robot file says about estimation and control, as options for a model of that robot.
#include <stdio.h>
#include "document/document_control.h"
#include "document/document_tree.h"
#include "learned/learned.h"
#include "robot/robot_kind.h"

#define CONTROL_NOISE_MARKER 0.2 // mm: a common motion capture

void pl_control_clear(pl_control_setup *setup)
{
    void *const block[] = {setup->noise,    setup->resolution,   setup->dead_zone,   setup->backlash,
                           setup->low,      setup->high,         setup->rate,        setup->command_sigma,
                           setup->measured, setup->force_marker, setup->sensor_rate, setup->fault};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    *setup = (pl_control_setup){0};
}

// All arrays of the setup; false without memory, after which pl_control_clear frees what there is.
static bool control_room(pl_control_setup *s, const pl_model_info *info, int forces, int faults)
{
    const int n = info->command_count, sensors = info->sensor_count;
    s->noise = PL_NEW_ARRAY(double, sensors);
    s->resolution = PL_NEW_ARRAY(double, sensors);
    s->dead_zone = PL_NEW_ARRAY(double, n);
    s->backlash = PL_NEW_ARRAY(double, n);
    s->low = PL_NEW_ARRAY(double, n);
    s->high = PL_NEW_ARRAY(double, n);
    s->rate = PL_NEW_ARRAY(double, n);
    s->command_sigma = PL_NEW_ARRAY(double, n);
    s->measured = PL_NEW_ARRAY(pl_measurement, sensors);
    s->force_marker = PL_NEW_ARRAY(int, forces);
    s->sensor_rate = PL_NEW_ARRAY(double, sensors);
    s->fault = PL_NEW_ARRAY(pl_plant_fault, faults);

    return s->noise && s->resolution && s->dead_zone && s->backlash && s->low && s->high && s->rate &&
           s->command_sigma && s->measured && s->force_marker && s->sensor_rate && s->fault;
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

// Names become indices, shares of ranges become units. Defects go to the findings.
static void control_fill(doc_robot_file *f, const pl_model *model, const pl_model_info *info,
                         pl_control_setup *s)
{
    const doc_control *c = f->control;
    double delay = c->plant.delay;

    // sensors: standard deviation of noise and rounding
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

    // commands: limits, and what is given as a share of the span
    const pl_actuator_def *actuator = f->actuator.item;
    for (int j = 0; j < info->command_count; ++j) {
        const pl_command_info *command = &info->command[j];
        const double span = command->span[1] - command->span[0];
        s->low[j] = command->span[0];
        s->high[j] = command->span[1];
        s->rate[j] = command->rate;
        s->backlash[j] = c->plant.backlash * span;
        s->command_sigma[j] = c->estimator.command_sigma * span;
    }

    // dead zones and delays of actuators, in units of the command that drives them
    for (int a = 0; a < info->actuator_count; ++a) {
        for (int k = 0; k < f->actuator.count; ++k) {
            const int j = info->actuator[a].command;
            if (j < 0 || strcmp(actuator[k].name, info->actuator[a].name) != 0) {
                continue;
            }
            const double factor = fabs(info->actuator[a].factor);
            s->dead_zone[j] = fmax(s->dead_zone[j], factor > 0 ? actuator[k].dead_zone / factor : 0);
            delay = fmax(delay, actuator[k].delay);
        }
    }

    // controller
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
    s->controller.low = s->low;
    s->controller.high = s->high;
    s->controller.rate = s->rate;

    // estimator
    s->estimator = pl_estimator_options_default();
    s->estimator.measured = s->measured;
    s->estimator.measured_count = info->sensor_count;
    s->estimator.command_sigma = s->command_sigma;
    s->estimator.force_marker = s->force_marker;
    for (int i = 0; i < c->estimator.force_count; ++i) {
        const int marker =
            control_marker(f, model, "estimator: forces", c->estimator.force[i], c->estimator.line);
        if (marker >= 0) {
            s->force_marker[s->estimator.force_count++] = marker;
        }
    }

    s->estimator.force_sigma = c->estimator.force_sigma;
    s->estimator.command_drift = c->estimator.command_drift;
    s->estimator.force_drift = c->estimator.force_drift;
    s->estimator.outlier = c->estimator.outlier;
    s->estimator.stiffness_sigma = c->estimator.stiffness_sigma;
    s->estimator.model_error = c->estimator.model_error;
    s->estimator.recursive = c->estimator.recursive;

    // plant
    s->plant = pl_plant_options_default();
    s->plant.period = c->controller.period;
    s->plant.delay = delay;
    s->plant.lag = c->plant.lag;
    s->plant.dead_zone = s->dead_zone;
    s->plant.backlash = s->backlash;
    s->plant.noise = s->noise;
    s->plant.resolution = s->resolution;
    s->plant.rate = s->sensor_rate;
    s->plant.fault = s->fault;
    for (int i = 0; i < c->plant.fault_count; ++i) {
        const doc_control_fault *fault = &c->plant.fault[i];
        const int sensor = control_find_sensor(f, info, fault);
        if (sensor >= 0) {
            s->fault[s->plant.fault_count++] =
                (pl_plant_fault){(pl_plant_fault_kind)fault->kind, sensor, fault->from, fault->to,
                                 fault->value * pl_sensor_scale(info->sensor_kind[sensor])};
        }
    }

    s->plant.seed = (uint64_t)c->plant.seed;
    if (c->plant.payload.marker) {
        s->plant.payload_marker =
            control_marker(f, model, "plant: payload", c->plant.payload.marker, c->plant.payload_line);
        memcpy(s->plant.payload, c->plant.payload.force, sizeof s->plant.payload);
        s->plant.payload_from = c->plant.payload.from;
        s->plant.payload_to = c->plant.payload.to;
    }
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
        !control_room(out, &info, f.control->estimator.force_count, f.control->plant.fault_count)) {
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
