// The blocks about motors: rates of actuators and commands, and `hardware:`, the axis that moves each
// actuator and what the machine does with pressures below zero.
#include <stdio.h>
#include "document/document_reader.h"
#include "robot/robot_kind.h"

// A quantity per second, above 0.
bool doc_read_rate(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                   double *rate)
{
    if (node->kind != DOC_SCALAR) {
        doc_defect(f, node->line, "%s: expected a number per second, found %s", what, doc_kind_name(node));
        return false;
    }

    if (!doc_read_number(f, node, what, dimension, true, rate)) {
        return false;
    }
    if (!(*rate > 0)) {
        doc_defect(f, node->line, "%s: %s must be greater than 0", what, node->text);
        return false;
    }

    return true;
}

// The actuator of that name; NULL after a defect.
static pl_actuator_def *hardware_actuator(doc_robot_file *f, const doc_node *node)
{
    pl_actuator_def *actuator = f->actuator.item;
    for (int i = 0; i < f->actuator.count; ++i) {
        if (strcmp(actuator[i].name, node->key) == 0) {
            return &actuator[i];
        }
    }

    const char **known = doc_arena_take(&f->arena, ((size_t)f->actuator.count + 1) * sizeof *known);
    for (int i = 0; known && i < f->actuator.count; ++i) {
        known[i] = actuator[i].name;
    }
    doc_defect(f, node->key_line, "hardware: there is no actuator '%s'%s", node->key,
               known ? doc_did_you_mean(f, node->key, known, f->actuator.count) : "");

    return NULL;
}

// The character of a G-code axis, A to Z.
static bool hardware_axis(doc_robot_file *f, const doc_node *node, const char *what, pl_hardware *h)
{
    static const char *const letters[] = {"X", "Y", "Z", "A", "B", "C", "U", "V", "W", "E"};
    const int i = doc_read_choice(f, node, what, letters, PL_COUNT(letters));
    if (i >= 0) {
        h->axis = letters[i][0];
    }
    return i >= 0;
}

// `per_unit` is a length for a cable, a volume for a chamber.
static bool hardware_per_unit(doc_robot_file *f, const doc_node *node, const char *what,
                              const pl_actuator_def *actuator, pl_hardware *h)
{
    const pl_dimension dimension = pl_actuator_traits_get(actuator->kind)->travel;
    if (!doc_read_quantity(f, node, what, dimension, &h->per_unit)) {
        return false;
    }

    if (!(h->per_unit > 0)) {
        doc_defect(f, node->line,
                   "%s: %s must be greater than 0; for the other direction write reverse: true", what,
                   node->text);
        return false;
    }

    return true;
}

// What to do with pressures below zero: a pump can pull, a valve cannot.
static bool hardware_below(doc_robot_file *f, const doc_node *node, const char *what,
                           const pl_actuator_def *actuator, pl_hardware *h)
{
    static const char *const words[] = {"refuse", "clip", "pull"};
    const int i = doc_read_choice(f, node, what, words, PL_COUNT(words));

    if (i >= 0 && actuator && !pl_actuator_traits_get(actuator->kind)->encloses) {
        doc_defect(f, node->line, "%s: only a chamber has a pressure", what);
        return false;
    }

    h->below_zero = (pl_below_zero)(PL_BELOW_REFUSE + (i < 0 ? 0 : i));
    return i >= 0;
}

// One entry; the actuator changes only if all of it is good.
static void hardware_read(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"axis", DOC_OTHER, 0, 0, 0},
        {"per_unit", DOC_OTHER, 0, 0, 0},
        {"reverse", DOC_BOOL, 0, offsetof(pl_hardware, reverse), 0},
        {"offset", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_hardware, offset), 0},
        {"feed", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_hardware, feed), DOC_POSITIVE},
        {"range", DOC_OTHER, 0, 0, 0},
        {"below_zero", DOC_OTHER, 0, 0, 0},
    };
    char what[100], place[120];

    snprintf(what, sizeof what, "hardware: '%.60s'", node->key);
    pl_hardware h = {.line = node->key_line};
    pl_actuator_def *actuator = hardware_actuator(f, node);
    bool good = doc_read_map(f, node, what, keys, PL_COUNT(keys), &h) && actuator;
    const doc_node *axis = doc_child(node, "axis"), *per_unit = doc_child(node, "per_unit");
    const doc_node *range = doc_child(node, "range"), *below = doc_child(node, "below_zero");
    snprintf(place, sizeof place, "%s: below_zero", what);
    good = (!below || hardware_below(f, below, place, actuator, &h)) && good;

    // a valve has no axis: what it does below zero is all there is to say about it
    const bool moved = !below || axis || per_unit || range || doc_child(node, "feed") ||
                       doc_child(node, "offset") || doc_child(node, "reverse");
    if (moved && (!axis || !per_unit)) {
        doc_defect(f, node->key_line, "%s: '%s' is missing", what, axis ? "per_unit" : "axis");
        good = false;
    }

    // all keys are read, so that all defects are reported
    snprintf(place, sizeof place, "%s: axis", what);
    good = (!axis || hardware_axis(f, axis, place, &h)) && good;
    snprintf(place, sizeof place, "%s: per_unit", what);
    good = (!per_unit || (actuator && hardware_per_unit(f, per_unit, place, actuator, &h))) && good;
    snprintf(place, sizeof place, "%s: range", what);
    if (range) {
        h.has_range = doc_read_range(f, range, place, PL_DIM_NUMBER, h.range);
        good = good && h.has_range;
    }

    if (good) {
        actuator->hardware = h;
    }
}

void doc_read_hardware(doc_robot_file *f, const doc_node *node)
{
    if (!doc_expect(f, node, DOC_MAP, "hardware")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        hardware_read(f, n);
    }
}
