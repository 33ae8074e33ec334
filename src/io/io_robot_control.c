// The blocks of a robot file about estimation and control: `controller`, `estimator`, `plant`. What they name
// (markers) is looked up when a model is at hand (io_control.c).
#include <stdio.h>
#include "io/io_control.h"

static void control_controller(io_robot_file *f, const io_node *node, io_control *c)
{
    static const io_key keys[] = {
        {"kind", IO_OTHER, 0, 0, 0},
        {"marker", IO_TEXT, 0, offsetof(io_control, controller.marker), 0},
        {"period", IO_QUANTITY, PL_DIM_TIME, offsetof(io_control, controller.period), IO_POSITIVE},
        {"kp", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, controller.kp), IO_NOT_NEGATIVE},
        {"ki", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, controller.ki), IO_NOT_NEGATIVE},
        {"gain", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, controller.gain), IO_NOT_NEGATIVE},
        {"damping", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, controller.damping), IO_POSITIVE},
        {"energy", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, controller.energy), IO_NOT_NEGATIVE},
        {"stiffness", IO_VECTOR, PL_DIM_STIFFNESS, offsetof(io_control, controller.stiffness), 0},
    };
    const char *kind[PL_CONTROL_KIND_COUNT];
    for (int i = 0; i < PL_CONTROL_KIND_COUNT; ++i) {
        kind[i] = pl_control_kind_name((pl_control_kind)i);
    }
    if (!io_read_map(f, node, "controller", keys, PL_COUNT(keys), c)) {
        return;
    }
    const io_node *n = io_child(node, "kind");
    const int found =
        n ? io_read_choice(f, n, "controller: kind", kind, PL_CONTROL_KIND_COUNT) : PL_CONTROL_PI;
    c->controller.kind = found < 0 ? PL_CONTROL_PI : found;
    for (int i = 0; i < 3; ++i) {
        if (!(c->controller.stiffness[i] > 0)) {
            io_defect(f, io_child(node, "stiffness")->line, "controller: stiffness must be greater than 0");
            break;
        }
    }
}

static void control_estimator(io_robot_file *f, const io_node *node, io_control *c)
{
    static const io_key keys[] = {
        {"forces", IO_OTHER, 0, 0, 0},
        {"force_sigma", IO_QUANTITY, PL_DIM_FORCE, offsetof(io_control, estimator.force_sigma), IO_POSITIVE},
        {"command_sigma", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, estimator.command_sigma),
         IO_NOT_NEGATIVE},
        {"command_drift", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, estimator.command_drift),
         IO_NOT_NEGATIVE},
        {"force_drift", IO_QUANTITY, PL_DIM_FORCE, offsetof(io_control, estimator.force_drift),
         IO_NOT_NEGATIVE},
        {"outlier", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, estimator.outlier), IO_NOT_NEGATIVE},
        {"stiffness_sigma", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, estimator.stiffness_sigma),
         IO_NOT_NEGATIVE},
        {"model_error", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, estimator.model_error),
         IO_NOT_NEGATIVE},
        {"recursive", IO_BOOL, 0, offsetof(io_control, estimator.recursive), 0},
    };
    c->estimator.line = node->line;
    if (!io_read_map(f, node, "estimator", keys, PL_COUNT(keys), c)) {
        return;
    }
    const io_node *forces = io_child(node, "forces");
    if (!forces || !io_expect(f, forces, IO_LIST, "estimator: forces")) {
        return;
    }
    c->estimator.force = io_arena_take(&f->arena, ((size_t)forces->count + 1) * sizeof *c->estimator.force);
    for (const io_node *n = forces->child; n && c->estimator.force; n = n->next) {
        if (io_expect(f, n, IO_SCALAR, "estimator: forces")) {
            c->estimator.force[c->estimator.force_count++] = n->text;
        }
    }
}

// Sensors that fail: - {sensor: s1, kind: frozen, from: 2 s, to: 5 s}
static void control_faults(io_robot_file *f, const io_node *list, io_control *c)
{
    static const io_key keys[] = {
        {"sensor", IO_TEXT, 0, offsetof(io_control_fault, sensor), IO_REQUIRED},
        {"kind", IO_OTHER, 0, 0, IO_REQUIRED},
        {"from", IO_QUANTITY, PL_DIM_TIME, offsetof(io_control_fault, from), IO_NOT_NEGATIVE},
        {"to", IO_QUANTITY, PL_DIM_TIME, offsetof(io_control_fault, to), IO_NOT_NEGATIVE},
        {"value", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control_fault, value), 0},
    };
    static const char *const kinds[] = {"frozen", "missing", "offset", "drift", "value"};
    if (!io_expect(f, list, IO_LIST, "plant: faults")) {
        return;
    }
    c->plant.fault = io_arena_take(&f->arena, ((size_t)list->count + 1) * sizeof *c->plant.fault);
    for (const io_node *n = list->child; n && c->plant.fault; n = n->next) {
        io_control_fault one = {.to = INFINITY, .line = n->line};
        const io_node *kind = io_child(n, "kind");
        if (io_read_map(f, n, "plant: faults", keys, PL_COUNT(keys), &one) && kind) {
            one.kind = io_read_choice(f, kind, "plant: faults: kind", kinds, PL_COUNT(kinds));
            c->plant.fault[c->plant.fault_count++] = one;
        }
    }
}

static void control_plant(io_robot_file *f, const io_node *node, io_control *c)
{
    static const io_key keys[] = {
        {"delay", IO_QUANTITY, PL_DIM_TIME, offsetof(io_control, plant.delay), IO_NOT_NEGATIVE},
        {"lag", IO_QUANTITY, PL_DIM_TIME, offsetof(io_control, plant.lag), IO_NOT_NEGATIVE},
        {"backlash", IO_QUANTITY, PL_DIM_NUMBER, offsetof(io_control, plant.backlash), IO_NOT_NEGATIVE},
        {"seed", IO_WHOLE, 0, offsetof(io_control, plant.seed), IO_NOT_NEGATIVE},
        {"payload", IO_OTHER, 0, 0, 0},
        {"faults", IO_OTHER, 0, 0, 0},
    };
    static const io_key payload[] = {
        {"marker", IO_TEXT, 0, offsetof(io_control_payload, marker), IO_REQUIRED},
        {"force", IO_VECTOR, PL_DIM_FORCE, offsetof(io_control_payload, force), IO_REQUIRED},
        {"from", IO_QUANTITY, PL_DIM_TIME, offsetof(io_control_payload, from), IO_NOT_NEGATIVE},
        {"to", IO_QUANTITY, PL_DIM_TIME, offsetof(io_control_payload, to), IO_NOT_NEGATIVE},
    };
    if (!io_read_map(f, node, "plant", keys, PL_COUNT(keys), c)) {
        return;
    }
    const io_node *n = io_child(node, "payload");
    if (n) {
        c->plant.payload_line = n->line;
        io_read_map(f, n, "plant: payload", payload, PL_COUNT(payload), &c->plant.payload);
    }
    const io_node *faults = io_child(node, "faults");
    if (faults) {
        control_faults(f, faults, c);
    }
}

void io_read_control(io_robot_file *f, const io_node *root)
{
    io_control *c = io_arena_take(&f->arena, sizeof *c);
    if (!c) {
        return;
    }
    const pl_controller_options usual = pl_controller_options_default();
    c->controller.kind = usual.kind;
    c->controller.period = usual.period;
    c->controller.kp = usual.kp;
    c->controller.ki = usual.ki;
    c->controller.gain = usual.gain;
    c->controller.damping = usual.damping;
    memcpy(c->controller.stiffness, usual.stiffness, sizeof usual.stiffness);
    c->estimator.force_sigma = INFINITY;
    c->estimator.command_sigma = 0.02;
    c->estimator.stiffness_sigma = PL_ESTIMATOR_STIFFNESS;
    c->estimator.model_error = PL_ESTIMATOR_MODEL_ERROR;
    c->estimator.outlier = pl_estimator_options_default().outlier;
    c->plant.payload.to = INFINITY;
    c->plant.seed = 1;
    f->control = c;
    const io_node *controller = io_child(root, "controller"), *estimator = io_child(root, "estimator"),
                  *plant = io_child(root, "plant");
    if (controller) {
        control_controller(f, controller, c);
    }
    if (estimator) {
        control_estimator(f, estimator, c);
    }
    if (plant) {
        control_plant(f, plant, c);
    }
}
