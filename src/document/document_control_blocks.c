// The blocks of a robot file about estimation and control: `controller`, `estimator`, `plant`. What they name
// (markers) is looked up when a model is at hand (document_control.c).
#include <stdio.h>
#include "document/document_control.h"

// Defaults are in `c` already; keys replace them.
static void control_controller(doc_robot_file *f, const doc_node *node, doc_control *c)
{
    static const doc_key keys[] = {
        {"kind", DOC_OTHER, 0, 0, 0},
        {"marker", DOC_TEXT, 0, offsetof(doc_control, controller.marker), 0},
        {"period", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_control, controller.period), DOC_POSITIVE},
        {"kp", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, controller.kp), DOC_NOT_NEGATIVE},
        {"ki", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, controller.ki), DOC_NOT_NEGATIVE},
        {"gain", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, controller.gain), DOC_NOT_NEGATIVE},
        {"damping", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, controller.damping), DOC_POSITIVE},
        {"energy", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, controller.energy), DOC_NOT_NEGATIVE},
        {"stiffness", DOC_VECTOR, PL_DIM_STIFFNESS, offsetof(doc_control, controller.stiffness), 0},
    };
    const char *kind[PL_CONTROL_KIND_COUNT];

    for (int i = 0; i < PL_CONTROL_KIND_COUNT; ++i) {
        kind[i] = pl_control_kind_name((pl_control_kind)i);
    }
    if (!doc_read_map(f, node, "controller", keys, PL_COUNT(keys), c)) {
        return;
    }

    const doc_node *n = doc_child(node, "kind");
    const int found =
        n ? doc_read_choice(f, n, "controller: kind", kind, PL_CONTROL_KIND_COUNT) : PL_CONTROL_PI;
    c->controller.kind = found < 0 ? PL_CONTROL_PI : found;

    for (int i = 0; i < 3; ++i) {
        if (!(c->controller.stiffness[i] > 0)) {
            doc_defect(f, doc_child(node, "stiffness")->line, "controller: stiffness must be greater than 0");
            break;
        }
    }
}

// Markers are stored by name.
static void control_estimator(doc_robot_file *f, const doc_node *node, doc_control *c)
{
    static const doc_key keys[] = {
        {"forces", DOC_OTHER, 0, 0, 0},
        {"force_sigma", DOC_QUANTITY, PL_DIM_FORCE, offsetof(doc_control, estimator.force_sigma),
         DOC_POSITIVE},
        {"command_sigma", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, estimator.command_sigma),
         DOC_NOT_NEGATIVE},
        {"command_drift", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, estimator.command_drift),
         DOC_NOT_NEGATIVE},
        {"force_drift", DOC_QUANTITY, PL_DIM_FORCE, offsetof(doc_control, estimator.force_drift),
         DOC_NOT_NEGATIVE},
        {"outlier", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, estimator.outlier), DOC_NOT_NEGATIVE},
        {"stiffness_sigma", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, estimator.stiffness_sigma),
         DOC_NOT_NEGATIVE},
        {"model_error", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, estimator.model_error),
         DOC_NOT_NEGATIVE},
        {"recursive", DOC_BOOL, 0, offsetof(doc_control, estimator.recursive), 0},
    };
    c->estimator.line = node->line;
    if (!doc_read_map(f, node, "estimator", keys, PL_COUNT(keys), c)) {
        return;
    }

    const doc_node *forces = doc_child(node, "forces");
    if (!forces || !doc_expect(f, forces, DOC_LIST, "estimator: forces")) {
        return;
    }
    c->estimator.force = doc_arena_take(&f->arena, ((size_t)forces->count + 1) * sizeof *c->estimator.force);

    for (const doc_node *n = forces->child; n && c->estimator.force; n = n->next) {
        if (doc_expect(f, n, DOC_SCALAR, "estimator: forces")) {
            c->estimator.force[c->estimator.force_count++] = n->text;
        }
    }
}

// Sensors that fail: - {sensor: s1, kind: frozen, from: 2 s, to: 5 s}
static void control_faults(doc_robot_file *f, const doc_node *list, doc_control *c)
{
    static const doc_key keys[] = {
        {"sensor", DOC_TEXT, 0, offsetof(doc_control_fault, sensor), DOC_REQUIRED},
        {"kind", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"from", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_control_fault, from), DOC_NOT_NEGATIVE},
        {"to", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_control_fault, to), DOC_NOT_NEGATIVE},
        {"value", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control_fault, value), 0},
    };
    static const char *const kinds[] = {"frozen", "missing", "offset", "drift", "value"};

    if (!doc_expect(f, list, DOC_LIST, "plant: faults")) {
        return;
    }
    c->plant.fault = doc_arena_take(&f->arena, ((size_t)list->count + 1) * sizeof *c->plant.fault);

    for (const doc_node *n = list->child; n && c->plant.fault; n = n->next) {
        doc_control_fault one = {.to = INFINITY, .line = n->line};
        const doc_node *kind = doc_child(n, "kind");
        if (doc_read_map(f, n, "plant: faults", keys, PL_COUNT(keys), &one) && kind) {
            one.kind = doc_read_choice(f, kind, "plant: faults: kind", kinds, PL_COUNT(kinds));
            c->plant.fault[c->plant.fault_count++] = one;
        }
    }
}

// What differs between the real machine and the model.
static void control_plant(doc_robot_file *f, const doc_node *node, doc_control *c)
{
    static const doc_key keys[] = {
        {"delay", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_control, plant.delay), DOC_NOT_NEGATIVE},
        {"lag", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_control, plant.lag), DOC_NOT_NEGATIVE},
        {"backlash", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(doc_control, plant.backlash), DOC_NOT_NEGATIVE},
        {"seed", DOC_WHOLE, 0, offsetof(doc_control, plant.seed), DOC_NOT_NEGATIVE},
        {"motion", DOC_BOOL, 0, offsetof(doc_control, plant.motion), 0},
        {"payload", DOC_OTHER, 0, 0, 0},
        {"faults", DOC_OTHER, 0, 0, 0},
    };
    static const doc_key payload[] = {
        {"marker", DOC_TEXT, 0, offsetof(doc_control_payload, marker), DOC_REQUIRED},
        {"force", DOC_VECTOR, PL_DIM_FORCE, offsetof(doc_control_payload, force), DOC_REQUIRED},
        {"from", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_control_payload, from), DOC_NOT_NEGATIVE},
        {"to", DOC_QUANTITY, PL_DIM_TIME, offsetof(doc_control_payload, to), DOC_NOT_NEGATIVE},
    };

    if (!doc_read_map(f, node, "plant", keys, PL_COUNT(keys), c)) {
        return;
    }

    const doc_node *n = doc_child(node, "payload");
    if (n) {
        c->plant.payload_line = n->line;
        doc_read_map(f, n, "plant: payload", payload, PL_COUNT(payload), &c->plant.payload);
    }

    const doc_node *faults = doc_child(node, "faults");
    if (faults) {
        control_faults(f, faults, c);
    }
}

// Without memory the blocks are ignored here; the arena remembers the failure.
void doc_read_control(doc_robot_file *f, const doc_node *root)
{
    doc_control *c = doc_arena_take(&f->arena, sizeof *c);
    if (!c) {
        return;
    }

    // defaults of the library
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
    const doc_node *controller = doc_child(root, "controller"), *estimator = doc_child(root, "estimator"),
                   *plant = doc_child(root, "plant");
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
