// The blocks about what moves and what is read: actuators, commands, markers, sensors, loads.
#include <stdio.h>
#include "document/document_reader.h"
#include "robot/robot_kind.h"

#define DRIVE_AMBIENT 0.101325 // MPa, the standard atmosphere

// A list of points a cable or string runs through: [x, y, z], {at: [x, y, z], space: true} for one fixed in
// space, or {at: [x, y, z], radius: 3} for one with a radius of its own.
// The list lives in the file's arena. All points are read before it fails, so that all defects are reported.
static bool drive_through(doc_robot_file *f, const doc_node *node, const doc_scope *scope,
                          const pl_guide_def **guide, int *count)
{
    static const doc_key keys[] = {
        {"at", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_guide_def, point), DOC_REQUIRED},
        {"space", DOC_BOOL, 0, offsetof(pl_guide_def, space), 0},
        {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_guide_def, radius), 0},
    };
    if (!doc_expect(f, node, DOC_LIST, "through")) {
        return false;
    }
    if (node->count < 2) {
        doc_defect(f, node->line, "through: %d point%s given, at least 2 are needed", node->count,
                   node->count == 1 ? "" : "s");
        return false;
    }

    pl_guide_def *list = doc_arena_take(&f->arena, (size_t)node->count * sizeof *list);
    if (!list) {
        f->no_memory = true;
        return false;
    }

    bool good = true;
    int i = 0;
    for (const doc_node *n = node->child; n; n = n->next, ++i) {
        list[i].line = n->line;
        good = (n->kind == DOC_MAP ? doc_read_map(f, n, "through", keys, PL_COUNT(keys), &list[i])
                                   : doc_read_vector(f, n, "through", PL_DIM_LENGTH, list[i].point)) &&
               good;
        doc_place_point(scope, list[i].point);
    }

    *guide = list;
    *count = node->count;

    return good;
}

// The drive, one of those that belong to the kind.
static bool actuator_drive(doc_robot_file *f, const doc_node *node, pl_actuator_def *def)
{
    const char *name[PL_DRIVE_COUNT];
    pl_drive drive[PL_DRIVE_COUNT];
    int count = 0;

    for (int d = 0; d < PL_DRIVE_COUNT; ++d) {
        if (pl_drive_kind((pl_drive)d) == def->kind) {
            drive[count] = (pl_drive)d;
            name[count++] = pl_drive_name((pl_drive)d);
        }
    }

    char what[120];
    snprintf(what, sizeof what, "actuator '%.60s': drive of a %s", def->name ? def->name : "?",
             pl_actuator_kind_name(def->kind));
    const int i = doc_read_choice(f, node, what, name, count);
    if (i >= 0) {
        def->drive = drive[i];
    }

    return i >= 0;
}

// Kind, then drive, because the kind decides which drives there are.
static bool actuator_kind(doc_robot_file *f, const doc_node *node, pl_actuator_def *def)
{
    const doc_node *kind = doc_child(node, "kind"), *drive = doc_child(node, "drive");
    if (!kind || !drive) {
        return false; // reported by the table
    }

    const char *name[PL_ACTUATOR_KIND_COUNT];
    for (int i = 0; i < PL_ACTUATOR_KIND_COUNT; ++i) {
        name[i] = pl_actuator_kind_name((pl_actuator_kind)i);
    }

    const int k = doc_read_choice(f, kind, "actuator: kind", name, PL_ACTUATOR_KIND_COUNT);
    if (k < 0) {
        return false;
    }
    def->kind = (pl_actuator_kind)k;

    return actuator_drive(f, drive, def);
}

// The keys of an actuator, with the kind and the drive that they belong to: a key of another one would be
// ignored silently, so it is refused.
#define ANY (-1)
typedef struct actuator_key {
    doc_key key;
    int kind, drive; // ANY: of all
} actuator_key;

static const actuator_key actuator_keys[] = {
    {{"name", DOC_NAME, 0, offsetof(pl_actuator_def, name), DOC_REQUIRED}, ANY, ANY},
    {{"kind", DOC_OTHER, 0, 0, DOC_REQUIRED}, ANY, ANY},
    {{"drive", DOC_OTHER, 0, 0, DOC_REQUIRED}, ANY, ANY},
    {{"range", DOC_OTHER, 0, 0, 0}, ANY, ANY},
    {{"idle", DOC_OTHER, 0, 0, 0}, ANY, ANY},
    {{"surface", DOC_TEXT, 0, offsetof(pl_actuator_def, surface), 0}, ANY, ANY},
    {{"region", DOC_TEXT, 0, offsetof(pl_actuator_def, region), 0}, ANY, ANY},
    {{"through", DOC_OTHER, 0, 0, 0}, PL_CABLE, ANY},
    {{"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_actuator_def, radius), DOC_NOT_NEGATIVE},
     PL_CABLE,
     ANY},
    {{"friction", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_actuator_def, friction), DOC_NOT_NEGATIVE},
     PL_CABLE,
     ANY},
    {{"line_volume", DOC_QUANTITY, PL_DIM_VOLUME, offsetof(pl_actuator_def, line_volume), DOC_NOT_NEGATIVE},
     PL_CHAMBER,
     PL_DRIVE_SYRINGE},
    {{"fluid", DOC_OTHER, 0, 0, 0}, PL_CHAMBER, PL_DRIVE_SYRINGE},
    {{"ambient", DOC_QUANTITY, PL_DIM_PRESSURE, offsetof(pl_actuator_def, ambient), DOC_POSITIVE},
     PL_CHAMBER,
     PL_DRIVE_SYRINGE},
    {{"thickness", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_actuator_def, thickness), DOC_POSITIVE},
     PL_FILM,
     ANY},
    {{"permittivity", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(pl_actuator_def, permittivity), DOC_POSITIVE},
     PL_FILM,
     PL_DRIVE_VOLTAGE},
    {{"remanence", DOC_VECTOR, PL_DIM_FLUX_DENSITY, offsetof(pl_actuator_def, remanence), 0}, PL_MAGNET, ANY},
    {{"direction", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_actuator_def, direction), 0}, PL_MAGNET, ANY},
    {{"rate", DOC_OTHER, 0, 0, 0}, ANY, ANY},
    {{"delay", DOC_QUANTITY, PL_DIM_TIME, offsetof(pl_actuator_def, delay), DOC_NOT_NEGATIVE}, ANY, ANY},
    {{"dead_zone", DOC_OTHER, 0, 0, 0}, ANY, ANY},
    {{"fill", DOC_QUANTITY, PL_DIM_TIME, offsetof(pl_actuator_def, fill), DOC_NOT_NEGATIVE}, ANY, ANY},
    {{"vent", DOC_QUANTITY, PL_DIM_TIME, offsetof(pl_actuator_def, vent), DOC_NOT_NEGATIVE}, ANY, ANY},
    {{"table", DOC_OTHER, 0, 0, 0}, ANY, ANY},
    {{"actuation", DOC_OTHER, 0, 0, 0}, ANY, ANY},
    {{"modulus", DOC_QUANTITY, PL_DIM_STRESS, offsetof(pl_actuator_def, modulus), DOC_POSITIVE}, ANY, ANY},
};

static bool actuator_other_keys(doc_robot_file *f, const doc_node *node, const pl_actuator_def *def)
{
    bool good = true;
    for (int i = 0; i < PL_COUNT(actuator_keys); ++i) {
        const actuator_key *k = &actuator_keys[i];
        const doc_node *n = doc_child(node, k->key.name);

        if (n && k->kind != ANY && (int)def->kind != k->kind) {
            doc_defect(f, n->key_line, "actuator '%s': '%s' is only for a %s, this is a %s", def->name,
                       n->key, pl_actuator_kind_name((pl_actuator_kind)k->kind),
                       pl_actuator_kind_name(def->kind));
            good = false;
        } else if (n && k->drive != ANY && (int)def->drive != k->drive) {
            doc_defect(f, n->key_line, "actuator '%s': '%s' is only for the drive %s, this is %s", def->name,
                       n->key, pl_drive_name((pl_drive)k->drive), pl_drive_name(def->drive));
            good = false;
        }
    }

    if (pl_actuator_kind_get(def->kind)->place == PL_PLACE_POINTS && (def->surface || def->region)) {
        doc_defect(f, node->line, "actuator '%s': a cable runs through points; it has no surface or region",
                   def->name);
        good = false;
    }

    return good;
}

// Points, region or surface, by kind.
static bool actuator_where(doc_robot_file *f, const doc_node *node, const doc_scope *scope,
                           pl_actuator_def *def)
{
    const doc_node *through = doc_child(node, "through");
    const pl_actuator_place place = pl_actuator_kind_get(def->kind)->place;

    if (place == PL_PLACE_POINTS) {
        if (!through) {
            doc_defect(f, node->line, "actuator '%s': 'through' (the points of the cable) is missing",
                       def->name);
            return false;
        }

        return drive_through(f, through, scope, &def->guide, &def->guide_count);
    }

    if (place == PL_PLACE_REGION) {
        doc_place_vector(scope, def->remanence);
        return true; // the rest is checked with the robot
    }

    if ((def->surface != NULL) + (def->region != NULL) != 1) {
        doc_defect(f, node->line, "actuator '%s': expected exactly one of surface, region", def->name);
        return false;
    }

    return true;
}

// Pairs [value of the drive, ratio].
static bool actuator_table(doc_robot_file *f, const doc_node *node, pl_actuator_def *def)
{
    char what[120];
    snprintf(what, sizeof what, "actuator '%.60s': table", def->name);
    if (!doc_expect(f, node, DOC_LIST, what)) {
        return false;
    }

    double *pair = doc_arena_take(&f->arena, (2 * (size_t)node->count + 1) * sizeof *pair);
    if (!pair) {
        f->no_memory = true;
        return false;
    }

    bool good = true;
    int i = 0;
    for (const doc_node *n = node->child; n; n = n->next, ++i) {
        if (n->kind != DOC_LIST || n->count != 2) {
            doc_defect(f, n->line, "%s: point %d: expected [%s, ratio], found %s", what, i + 1,
                       pl_drive_name(def->drive),
                       n->kind == DOC_LIST ? "a list of another length" : doc_kind_name(n));
            good = false;
            continue;
        }

        good = doc_read_quantity(f, n->child, what, pl_drive_dimension(def->drive), &pair[2 * i]) && good;
        good = doc_read_quantity(f, n->child->next, what, PL_DIM_NUMBER, &pair[2 * i + 1]) && good;
        // values must rise: the table is inverted later
        if (good && i > 0 && !(pair[2 * i] > pair[2 * i - 2])) {
            doc_defect(f, n->line, "%s: %s must come after the previous point", what, n->child->text);
            good = false;
        }
    }

    def->table = pair;
    def->table_count = node->count;

    return good;
}

// Keys with words as values.
static bool actuator_choices(doc_robot_file *f, const doc_node *node, pl_actuator_def *def)
{
    static const char *const idle[] = {"free", "hold"}, *const fluid[] = {"gas", "liquid"},
                             *const actuation[] = {"constraint", "growth"};
    const doc_node *n = doc_child(node, "actuation");
    bool good = true;

    if (n) {
        const int i = doc_read_choice(f, n, "actuator: actuation", actuation, 2);
        def->growth = i == 1;
        good = i >= 0;
    }

    n = doc_child(node, "table");
    good = (!n || actuator_table(f, n, def)) && good;
    n = doc_child(node, "idle");

    if (n) {
        const int i = doc_read_choice(f, n, "actuator: idle", idle, 2);
        def->idle_hold = i == 1;
        good = good && i >= 0;
    }

    n = doc_child(node, "fluid");
    if (n) {
        const int i = doc_read_choice(f, n, "actuator: fluid", fluid, 2);
        def->liquid = i == 1;
        good = good && i >= 0;
    }

    return good;
}

// False after a defect; what could be read is in `def` all the same.
static bool actuator_read(doc_robot_file *f, const doc_node *node, const doc_scope *scope,
                          pl_actuator_def *def)
{
    doc_key keys[PL_COUNT(actuator_keys)];
    for (int i = 0; i < PL_COUNT(actuator_keys); ++i) {
        keys[i] = actuator_keys[i].key;
    }

    bool good = doc_read_map(f, node, "actuator", keys, PL_COUNT(keys), def);

    // kind and drive first: units and allowed keys follow from them
    if (node->kind != DOC_MAP || !def->name || !actuator_kind(f, node, def)) {
        return false;
    }
    def->default_radius = pl_actuator_kind_get(def->kind)->place == PL_PLACE_POINTS && !def->growth &&
                          !doc_child(node, "radius");
    good = actuator_other_keys(f, node, def) && good;
    good = actuator_where(f, node, scope, def) && good;
    good = actuator_choices(f, node, def) && good;

    // numbers whose unit is that of the drive
    const doc_node *range = doc_child(node, "range");
    if (range) {
        char what[120];
        snprintf(what, sizeof what, "actuator '%.60s': range", def->name);
        def->has_range = doc_read_range(f, range, what, pl_drive_dimension(def->drive), def->range);
        good = good && def->has_range;
    }

    const doc_node *dead_zone = doc_child(node, "dead_zone");
    if (dead_zone) {
        good = doc_read_quantity(f, dead_zone, "actuator: dead_zone", pl_drive_dimension(def->drive),
                                 &def->dead_zone) &&
               good;
        if (def->dead_zone < 0) {
            doc_defect(f, dead_zone->line, "actuator '%s': dead_zone: %s must be at least 0", def->name,
                       dead_zone->text);
            good = false;
        }
    }

    const doc_node *rate = doc_child(node, "rate");
    if (rate) {
        char what[120];
        snprintf(what, sizeof what, "actuator '%.60s': rate", def->name);
        good = doc_read_rate(f, rate, what, pl_drive_dimension(def->drive), &def->rate) && good;
    }

    return good;
}

// An actuator with defects is kept, so that references to it are not reported, too.
void doc_read_actuators(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    if (!doc_expect(f, node, DOC_LIST, "actuators")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_actuator_def def = {.ambient = DRIVE_AMBIENT, .line = n->line};
        if (!actuator_read(f, n, scope, &def)) {
            doc_mark_broken(f, n->line);
        }
        def.name = def.name ? doc_scoped(f, scope, def.name) : "";
        def.surface = doc_scoped(f, scope, def.surface);
        def.region = doc_scoped(f, scope, def.region);
        pl_actuator_def *slot = doc_append(f, &f->actuator, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// {actuator: factor, ...}
static bool command_drives(doc_robot_file *f, const doc_node *node, pl_command_def *def)
{
    if (!doc_expect(f, node, DOC_MAP, "command: drives")) {
        return false;
    }

    pl_command_drive *list = doc_arena_take(&f->arena, ((size_t)node->count + 1) * sizeof *list);
    if (!list) {
        f->no_memory = true;
        return false;
    }

    bool good = true;
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_command_drive *d = &list[def->drive_count++];
        d->actuator = n->key;
        good = doc_read_quantity(f, n, "command: factor", PL_DIM_NUMBER, &d->factor) && good;
    }

    def->drive = list;

    return good;
}

// The unit of a command's range is that of the first actuator it drives.
static pl_dimension command_dimension(const doc_robot_file *f, const pl_command_def *def)
{
    const pl_actuator_def *actuator = f->actuator.item;
    for (int i = 0; i < f->actuator.count && def->drive_count > 0; ++i) {
        if (strcmp(actuator[i].name, def->drive[0].actuator) == 0) {
            return pl_drive_dimension(actuator[i].drive);
        }
    }

    return PL_DIM_NUMBER;
}

// Actuators are read before commands, whose units they give.
static bool command_read(doc_robot_file *f, const doc_node *node, pl_command_def *def)
{
    static const doc_key keys[] = {
        {"drives", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"range", DOC_OTHER, 0, 0, 0},
        {"one_sided", DOC_BOOL, 0, offsetof(pl_command_def, one_sided), 0},
        {"rate", DOC_OTHER, 0, 0, 0},
    };
    bool good = doc_read_map(f, node, "command", keys, PL_COUNT(keys), def);
    const doc_node *drives = doc_child(node, "drives"), *range = doc_child(node, "range");

    good = drives && command_drives(f, drives, def) && good;
    if (good && range) {
        def->has_range = doc_read_range(f, range, "command: range", command_dimension(f, def), def->range);
        good = def->has_range;
    }

    const doc_node *rate = doc_child(node, "rate");
    if (good && rate) {
        good = doc_read_rate(f, rate, "command: rate", command_dimension(f, def), &def->rate);
    }

    return good;
}

void doc_read_commands(doc_robot_file *f, const doc_node *node)
{
    if (!doc_expect(f, node, DOC_MAP, "commands")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_command_def def = {.name = n->key, .line = n->key_line};
        if (!command_read(f, n, &def)) {
            doc_mark_broken(f, n->key_line);
        }
        pl_command_def *slot = doc_append(f, &f->command, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// Names and places in the scope: a part that is used several times gets a prefix and a pose.
void doc_read_markers(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    static const doc_key keys[] = {
        {"surface", DOC_TEXT, 0, offsetof(pl_marker_def, surface), 0},
        {"at", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_marker_def, at), 0},
        {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_marker_def, radius), DOC_NOT_NEGATIVE},
    };
    if (!doc_expect(f, node, DOC_MAP, "markers")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_marker_def def = {.line = n->key_line};
        char what[100];
        snprintf(what, sizeof what, "marker '%.60s'", n->key);
        bool good = doc_read_map(f, n, what, keys, PL_COUNT(keys), &def);
        if (good && (doc_child(n, "at") != NULL) == (def.surface != NULL)) {
            doc_defect(f, n->key_line, "%s: expected exactly one of surface, at", what);
            good = false;
        }

        if (!good) {
            doc_mark_broken(f, n->key_line);
        }
        def.name = doc_scoped(f, scope, n->key);
        def.surface = doc_scoped(f, scope, def.surface);
        doc_place_point(scope, def.at);
        pl_marker_def *slot = doc_append(f, &f->marker, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// Noise and resolution, in the unit of what the sensor reads.
static bool sensor_quality(doc_robot_file *f, const doc_node *node, const char *key, const pl_sensor_def *def,
                           double *value)
{
    const doc_node *n = doc_child(node, key);
    char what[100];

    snprintf(what, sizeof what, "sensor '%.60s': %s", def->name, key);
    if (!n) {
        return true;
    }
    if (!doc_read_quantity(f, n, what, pl_sensor_traits_get(def->kind)->dimension, value)) {
        return false;
    }
    if (*value < 0) {
        doc_defect(f, n->line, "%s: %s must be at least 0", what, n->text);
        return false;
    }

    return true;
}

// Readings per second, standard deviation of the noise, step of the display.
bool doc_read_sensor_quality(doc_robot_file *f, const doc_node *node, pl_sensor_def *def)
{
    const doc_node *rate = doc_child(node, "rate");
    char what[100];

    snprintf(what, sizeof what, "sensor '%.60s': rate", def->name);
    if (rate && (!doc_read_quantity(f, rate, what, PL_DIM_NUMBER, &def->rate) || !(def->rate > 0))) {
        doc_defect(f, rate->line, "%s: expected a number of readings per second", what);
        return false;
    }

    return sensor_quality(f, node, "noise", def, &def->noise) &&
           sensor_quality(f, node, "resolution", def, &def->resolution);
}

// A length has points, everything else an actuator.
static bool sensor_read(doc_robot_file *f, const doc_node *node, const doc_scope *scope, pl_sensor_def *def)
{
    const char *kinds[PL_SENSOR_KIND_COUNT];
    for (int k = 0; k < PL_SENSOR_KIND_COUNT; ++k) {
        kinds[k] = pl_sensor_traits_get((pl_sensor_kind)k)->name;
    }

    static const doc_key keys[] = {
        {"name", DOC_NAME, 0, offsetof(pl_sensor_def, name), DOC_REQUIRED},
        {"kind", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"through", DOC_OTHER, 0, 0, 0},
        {"radius", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_sensor_def, radius), DOC_NOT_NEGATIVE},
        {"actuator", DOC_TEXT, 0, offsetof(pl_sensor_def, actuator), 0},
        {"noise", DOC_OTHER, 0, 0, 0},
        {"resolution", DOC_OTHER, 0, 0, 0},
        {"rate", DOC_OTHER, 0, 0, 0},
    };
    if (!doc_read_map(f, node, "sensor", keys, PL_COUNT(keys), def)) {
        return false;
    }

    const int kind = doc_read_choice(f, doc_child(node, "kind"), "sensor: kind", kinds, PL_COUNT(kinds));
    if (kind < 0) {
        return false;
    }
    def->kind = (pl_sensor_kind)kind;
    if (!doc_read_sensor_quality(f, node, def)) {
        return false;
    }

    const doc_node *through = doc_child(node, "through");
    if (!pl_sensor_is_line(def->kind)) {
        if (!def->actuator || through) {
            doc_defect(f, node->line, "sensor '%s': a %s is measured %s: expected 'actuator'%s", def->name,
                       kinds[kind], pl_sensor_traits_get(def->kind)->where,
                       through ? " and no 'through'" : "");
            return false;
        }

        return true;
    }

    if (!through || def->actuator) {
        doc_defect(f, node->line, "sensor '%s': a length is measured along points: expected 'through'%s",
                   def->name, def->actuator ? " and no 'actuator'" : "");
        return false;
    }

    return drive_through(f, through, scope, &def->guide, &def->guide_count);
}

// A sensor with defects is kept, as actuators are.
void doc_read_sensors(doc_robot_file *f, const doc_node *node, const doc_scope *scope)
{
    if (!doc_expect(f, node, DOC_LIST, "sensors")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_sensor_def def = {.line = n->line};
        if (!sensor_read(f, n, scope, &def)) {
            doc_mark_broken(f, n->line);
        }
        def.name = def.name ? doc_scoped(f, scope, def.name) : "";
        def.actuator = doc_scoped(f, scope, def.actuator);
        pl_sensor_def *slot = doc_append(f, &f->sensor, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// Forces (N) and moments (N mm) at markers.
static void load_forces(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"marker", DOC_TEXT, 0, offsetof(pl_force_def, marker), DOC_REQUIRED},
        {"force", DOC_VECTOR, PL_DIM_FORCE, offsetof(pl_force_def, force), 0},
        {"moment", DOC_VECTOR, PL_DIM_MOMENT, offsetof(pl_force_def, moment), 0},
    };
    if (!doc_expect(f, node, DOC_LIST, "loads: forces")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_force_def def = {.line = n->line};
        bool good = doc_read_map(f, n, "loads: forces", keys, PL_COUNT(keys), &def);
        if (good && !doc_child(n, "force") && !doc_child(n, "moment")) {
            doc_defect(f, n->line, "loads: force: expected 'force', 'moment' or both");
            good = false;
        }

        if (!good) {
            doc_mark_broken(f, n->line);
        }
        def.marker = def.marker ? def.marker : "";
        pl_force_def *slot = doc_append(f, &f->force, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// Pressures on surfaces, MPa.
static void load_pressures(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"surface", DOC_TEXT, 0, offsetof(pl_surface_pressure_def, surface), DOC_REQUIRED},
        {"pressure", DOC_QUANTITY, PL_DIM_PRESSURE, offsetof(pl_surface_pressure_def, pressure),
         DOC_REQUIRED},
    };
    if (!doc_expect(f, node, DOC_LIST, "loads: pressures")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_surface_pressure_def def = {.line = n->line};
        if (!doc_read_map(f, n, "loads: pressures", keys, PL_COUNT(keys), &def)) {
            doc_mark_broken(f, n->line);
            continue;
        }

        pl_surface_pressure_def *slot = doc_append(f, &f->pressure, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// Gravity goes straight into the def.
void doc_read_loads(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"gravity", DOC_VECTOR, PL_DIM_ACCELERATION, offsetof(pl_robot_def, gravity), 0},
        {"forces", DOC_OTHER, 0, 0, 0},
        {"pressures", DOC_OTHER, 0, 0, 0},
    };
    doc_read_map(f, node, "loads", keys, PL_COUNT(keys), &f->def);
    const doc_node *forces = doc_child(node, "forces"), *pressures = doc_child(node, "pressures");
    if (forces) {
        load_forces(f, forces);
    }
    if (pressures) {
        load_pressures(f, pressures);
    }
}

// The other end is a marker or a point in space.
static bool spring_read(doc_robot_file *f, const doc_node *node, pl_spring_def *def)
{
    static const char *const modes[] = {"both", "tension_only"};
    static const doc_key keys[] = {
        {"name", DOC_NAME, 0, offsetof(pl_spring_def, name), DOC_REQUIRED},
        {"from", DOC_TEXT, 0, offsetof(pl_spring_def, from), DOC_REQUIRED},
        {"to", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"stiffness", DOC_QUANTITY, PL_DIM_STIFFNESS, offsetof(pl_spring_def, stiffness),
         DOC_REQUIRED | DOC_POSITIVE},
        {"rest_length", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_spring_def, rest), DOC_NOT_NEGATIVE},
        {"mode", DOC_OTHER, 0, 0, 0},
    };

    if (!doc_read_map(f, node, "spring", keys, PL_COUNT(keys), def)) {
        return false;
    }

    const doc_node *to = doc_child(node, "to"), *mode = doc_child(node, "mode");
    def->has_rest = doc_child(node, "rest_length") != NULL;
    if (to->kind == DOC_LIST) {
        if (!doc_read_vector(f, to, "spring: to", PL_DIM_LENGTH, def->point)) {
            return false;
        }
    } else if (!doc_expect(f, to, DOC_SCALAR, "spring: to (a marker, or a point in space)")) {
        return false;
    } else {
        def->to = to->text;
    }

    const int choice = mode ? doc_read_choice(f, mode, "spring: mode", modes, PL_COUNT(modes)) : 0;
    def->tension_only = choice == 1;

    return choice >= 0;
}

void doc_read_springs(doc_robot_file *f, const doc_node *node)
{
    if (!doc_expect(f, node, DOC_LIST, "springs")) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_spring_def def = {.line = n->line};
        if (!spring_read(f, n, &def)) {
            doc_mark_broken(f, n->line);
        }
        def.name = def.name ? def.name : "";
        def.from = def.from ? def.from : "";
        pl_spring_def *slot = doc_append(f, &f->spring, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}
