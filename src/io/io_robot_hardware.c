// The blocks about motors: rates of actuators and commands, and `hardware:`, the axis that moves each
// actuator and what the machine does with pressures below zero.
#include <stdio.h>
#include "io/io_robot.h"

bool io_read_rate(io_robot_file *f, const io_node *node, const char *what, pl_dimension dimension,
                  double *rate)
{
    if (node->kind != IO_SCALAR) {
        io_defect(f, node->line, "%s: expected a number per second, found %s", what, io_kind_name(node));
        return false;
    }
    if (!io_read_number(f, node, what, dimension, true, rate)) {
        return false;
    }
    if (!(*rate > 0)) {
        io_defect(f, node->line, "%s: %s must be greater than 0", what, node->text);
        return false;
    }
    return true;
}

static pl_actuator_def *hardware_actuator(io_robot_file *f, const io_node *node)
{
    pl_actuator_def *actuator = f->actuator.item;
    for (int i = 0; i < f->actuator.count; ++i) {
        if (strcmp(actuator[i].name, node->key) == 0) {
            return &actuator[i];
        }
    }
    const char **known = io_arena_take(&f->arena, ((size_t)f->actuator.count + 1) * sizeof *known);
    for (int i = 0; known && i < f->actuator.count; ++i) {
        known[i] = actuator[i].name;
    }
    io_defect(f, node->key_line, "hardware: there is no actuator '%s'%s", node->key,
              known ? io_did_you_mean(f, node->key, known, f->actuator.count) : "");
    return NULL;
}

static bool hardware_axis(io_robot_file *f, const io_node *node, const char *what, pl_hardware *h)
{
    static const char *const letters[] = {"X", "Y", "Z", "A", "B", "C", "U", "V", "W", "E"};
    const int i = io_read_choice(f, node, what, letters, PL_COUNT(letters));
    if (i >= 0) {
        h->axis = letters[i][0];
    }
    return i >= 0;
}

// `per_unit` is a length for a cable, a volume for a chamber.
static bool hardware_per_unit(io_robot_file *f, const io_node *node, const char *what,
                              const pl_actuator_def *actuator, pl_hardware *h)
{
    const pl_dimension dimension = actuator->kind == PL_CABLE ? PL_DIM_LENGTH : PL_DIM_VOLUME;
    if (!io_read_quantity(f, node, what, dimension, &h->per_unit)) {
        return false;
    }
    if (!(h->per_unit > 0)) {
        io_defect(f, node->line, "%s: %s must be greater than 0; for the other direction write reverse: true",
                  what, node->text);
        return false;
    }
    return true;
}

static bool hardware_below(io_robot_file *f, const io_node *node, const char *what,
                           const pl_actuator_def *actuator, pl_hardware *h)
{
    static const char *const words[] = {"refuse", "clip", "pull"};
    const int i = io_read_choice(f, node, what, words, PL_COUNT(words));
    if (i >= 0 && actuator && actuator->kind != PL_CHAMBER) {
        io_defect(f, node->line, "%s: only a chamber has a pressure", what);
        return false;
    }
    h->below_zero = (pl_below_zero)(PL_BELOW_REFUSE + (i < 0 ? 0 : i));
    return i >= 0;
}

static void hardware_read(io_robot_file *f, const io_node *node)
{
    static const io_key keys[] = {
        {"axis", IO_OTHER, 0, 0, 0},
        {"per_unit", IO_OTHER, 0, 0, 0},
        {"reverse", IO_BOOL, 0, offsetof(pl_hardware, reverse), 0},
        {"offset", IO_QUANTITY, PL_DIM_NUMBER, offsetof(pl_hardware, offset), 0},
        {"feed", IO_QUANTITY, PL_DIM_NUMBER, offsetof(pl_hardware, feed), IO_POSITIVE},
        {"range", IO_OTHER, 0, 0, 0},
        {"below_zero", IO_OTHER, 0, 0, 0},
    };
    char what[100], place[120];
    snprintf(what, sizeof what, "hardware: '%.60s'", node->key);
    pl_hardware h = {.line = node->key_line};
    pl_actuator_def *actuator = hardware_actuator(f, node);
    bool good = io_read_map(f, node, what, keys, PL_COUNT(keys), &h) && actuator;
    const io_node *axis = io_child(node, "axis"), *per_unit = io_child(node, "per_unit");
    const io_node *range = io_child(node, "range"), *below = io_child(node, "below_zero");
    snprintf(place, sizeof place, "%s: below_zero", what);
    good = (!below || hardware_below(f, below, place, actuator, &h)) && good;
    // a valve has no axis: what it does below zero is all there is to say about it
    const bool moved = !below || axis || per_unit || range || io_child(node, "feed") ||
                       io_child(node, "offset") || io_child(node, "reverse");
    if (moved && (!axis || !per_unit)) {
        io_defect(f, node->key_line, "%s: '%s' is missing", what, axis ? "per_unit" : "axis");
        good = false;
    }
    snprintf(place, sizeof place, "%s: axis", what);
    good = (!axis || hardware_axis(f, axis, place, &h)) && good;
    snprintf(place, sizeof place, "%s: per_unit", what);
    good = (!per_unit || (actuator && hardware_per_unit(f, per_unit, place, actuator, &h))) && good;
    snprintf(place, sizeof place, "%s: range", what);
    if (range) {
        h.has_range = io_read_range(f, range, place, PL_DIM_NUMBER, h.range);
        good = good && h.has_range;
    }
    if (good) {
        actuator->hardware = h;
    }
}

void io_read_hardware(io_robot_file *f, const io_node *node)
{
    if (!io_expect(f, node, IO_MAP, "hardware")) {
        return;
    }
    for (const io_node *n = node->child; n; n = n->next) {
        hardware_read(f, n);
    }
}
