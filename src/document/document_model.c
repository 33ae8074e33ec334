// The `model:` block: a robot described by sections along a centre line instead of a mesh, with its tendons
// and chambers, and the reduced forms of `markers`, `sensors` and `loads`.
#include <stdio.h>
#include <stdlib.h>
#include "base/vec.h"
#include "document/document_learned.h"
#include "document/document_reader.h"
#include "document/document_model.h"
#include "robot/robot_kind.h"

// One number, or a pair; one number counts twice.
static bool model_pair(doc_robot_file *f, const doc_node *node, const char *what, pl_dimension dimension,
                       double pair[2])
{
    if (node->kind != DOC_LIST) {
        const bool good = doc_read_quantity(f, node, what, dimension, &pair[0]);
        pair[1] = pair[0];
        return good;
    }

    if (node->count != 2) {
        doc_defect(f, node->line, "%s: expected one number or two, found a list of %d", what, node->count);
        return false;
    }

    return doc_read_quantity(f, node->child, what, dimension, &pair[0]) &&
           doc_read_quantity(f, node->child->next, what, dimension, &pair[1]);
}

// The same of a key; true without the key.
static bool model_pair_child(doc_robot_file *f, const doc_node *map, const char *key, pl_dimension dimension,
                             double pair[2])
{
    const doc_node *n = doc_child(map, key);
    return !n || model_pair(f, n, key, dimension, pair);
}

// A list of plain numbers in the arena; NULL after a defect.
static double *model_numbers(doc_robot_file *f, const doc_node *node, const char *what, int *count)
{
    if (!doc_expect(f, node, DOC_LIST, what)) {
        return NULL;
    }

    double *list = doc_arena_take(&f->arena, ((size_t)node->count + 1) * sizeof *list);
    f->no_memory = f->no_memory || !list;
    *count = 0;

    for (const doc_node *n = node->child; list && n; n = n->next) {
        if (!doc_read_quantity(f, n, what, PL_DIM_NUMBER, &list[*count])) {
            return NULL;
        }
        ++*count;
    }

    return list;
}

// ---- sections
// A section and what its stiffness is computed from.
typedef struct model_section {
    pl_section_def def;
    double young, poisson, shear_modulus, area, torsion, shear, density, inertia[2];
} model_section;

static const doc_key section_keys[] = {
    {"name", DOC_NAME, 0, offsetof(model_section, def.name), 0},
    {"length", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(model_section, def.length), DOC_REQUIRED | DOC_POSITIVE},
    {"diameter", DOC_OTHER, 0, 0, DOC_REQUIRED},
    {"young", DOC_QUANTITY, PL_DIM_STRESS, offsetof(model_section, young), DOC_POSITIVE},
    {"poisson", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(model_section, poisson), 0},
    {"shear_modulus", DOC_QUANTITY, PL_DIM_STRESS, offsetof(model_section, shear_modulus), DOC_POSITIVE},
    {"area", DOC_QUANTITY, PL_DIM_AREA, offsetof(model_section, area), DOC_POSITIVE},
    {"inertia", DOC_OTHER, 0, 0, 0},
    {"torsion", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(model_section, torsion), DOC_POSITIVE},
    {"shear_coefficient", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(model_section, shear), DOC_POSITIVE},
    {"density", DOC_QUANTITY, PL_DIM_DENSITY, offsetof(model_section, density), DOC_NOT_NEGATIVE},
    {"EA", DOC_QUANTITY, PL_DIM_FORCE, offsetof(model_section, def.EA), DOC_POSITIVE},
    {"EI", DOC_OTHER, 0, 0, 0},
    {"GJ", DOC_QUANTITY, PL_DIM_NUMBER, offsetof(model_section, def.GJ), DOC_POSITIVE},
    {"GA", DOC_OTHER, 0, 0, 0},
    {"elements", DOC_WHOLE, 0, offsetof(model_section, def.pieces), DOC_POSITIVE},
    {"arcs", DOC_WHOLE, 0, offsetof(model_section, def.pieces), DOC_POSITIVE},
    {"gaps", DOC_WHOLE, 0, offsetof(model_section, def.pieces), DOC_POSITIVE},
    {"shares", DOC_OTHER, 0, 0, 0},
};

// What is not given follows from a solid circle of the mean diameter, I = pi D^4 / 64, A = pi D^2 / 4, J = 2
// I, shear coefficient 0.9; EA, EI, GJ, GA are put over it.
static void section_stiffness(const doc_node *node, model_section *s)
{
    const double D = 0.5 * (s->def.diameter[0] + s->def.diameter[1]), I = PL_PI * D * D * D * D / 64;
    const pl_section_def given = s->def;
    const double G = s->shear_modulus > 0 ? s->shear_modulus : s->young / (2 * (1 + s->poisson));

    s->area = s->area > 0 ? s->area : PL_PI * D * D / 4;
    if (s->young > 0) {
        pl_section_stiffness(&s->def, s->young, G, s->area, s->inertia[0] > 0 ? s->inertia[0] : I,
                             s->inertia[1] > 0 ? s->inertia[1] : I, s->torsion > 0 ? s->torsion : 2 * I,
                             s->shear > 0 ? s->shear : 0.9);
    }

    s->def.mass = s->density * s->area;
    s->def.EA = given.EA > 0 ? given.EA : s->def.EA;
    s->def.GJ = given.GJ > 0 ? given.GJ : s->def.GJ;
    if (doc_child(node, "EI")) {
        memcpy(s->def.EI, given.EI, sizeof given.EI);
    }
    if (doc_child(node, "GA")) {
        memcpy(s->def.GA, given.GA, sizeof given.GA);
    }
}

// False after a defect.
static bool section_read(doc_robot_file *f, const doc_node *node, model_section *s)
{
    bool good = doc_read_map(f, node, "section", section_keys, PL_COUNT(section_keys), s);
    if (node->kind != DOC_MAP) {
        return false;
    }
    good = model_pair_child(f, node, "diameter", PL_DIM_LENGTH, s->def.diameter) && good;
    good = model_pair_child(f, node, "EI", PL_DIM_NUMBER, s->def.EI) && good;
    good = model_pair_child(f, node, "GA", PL_DIM_FORCE, s->def.GA) && good;
    good = model_pair_child(f, node, "inertia", PL_DIM_NUMBER, s->inertia) && good;

    if (!(s->poisson > -1 && s->poisson < 0.5)) {
        doc_defect(f, node->line, "section: poisson is %g, expected a number above -1 and below 0.5",
                   s->poisson);
        good = false;
    }

    const doc_node *shares = doc_child(node, "shares");
    if (shares) {
        s->def.share = model_numbers(f, shares, "shares", &s->def.share_count);
        good = s->def.share && good;
    }

    section_stiffness(node, s);

    return good;
}

// Sections without a name are section1, section2, ...
static void model_sections(doc_robot_file *f, const doc_node *node)
{
    if (!doc_expect(f, node, DOC_LIST, "model: sections")) {
        return;
    }

    int number = 1;
    for (const doc_node *n = node->child; n; n = n->next, ++number) {
        model_section s = {.def.line = n->line, .poisson = 0.45};
        if (!section_read(f, n, &s)) {
            doc_mark_broken(f, n->line);
            f->model->broken = true;
        }

        if (!s.def.name) {
            s.def.name = doc_arena_format(&f->arena, "section%d", number);
            f->no_memory = f->no_memory || !s.def.name;
        }

        pl_section_def *slot = doc_append(f, &f->model->section, sizeof *slot);
        if (slot) {
            *slot = s.def;
            f->model->length += s.def.length;
        }
    }
}

// The part of the line a section takes; false when there is none of that name.
static bool model_span(const doc_robot_file *f, const char *name, double span[2])
{
    const pl_section_def *s = f->model->section.item;
    double at = 0;

    for (int i = 0; i < f->model->section.count; ++i) {
        if (strcmp(s[i].name, name) == 0) {
            span[0] = at;
            span[1] = at + s[i].length;
            return true;
        }

        at += s[i].length;
    }

    return false;
}

// Radius of the body at a place of the line, mm.
static double model_radius(const doc_robot_file *f, double at)
{
    const pl_section_def *s = f->model->section.item;
    double start = 0, radius = 0;

    for (int i = 0; i < f->model->section.count; ++i) {
        const double t = (at - start) / s[i].length;
        if (t >= -1e-9) {
            radius = 0.5 * (s[i].diameter[0] + fmin(fmax(t, 0), 1) * (s[i].diameter[1] - s[i].diameter[0]));
        }
        start += s[i].length;
    }

    return radius;
}

// ---- paths
#define PATH_KEYS                                                                                            \
    {"section", DOC_OTHER, 0, 0, 0}, {"from", DOC_OTHER, 0, 0, 0}, {"to", DOC_OTHER, 0, 0, 0},               \
        {"radius", DOC_OTHER, 0, 0, 0}, {"angle", DOC_OTHER, 0, 0, 0}, {"turns", DOC_OTHER, 0, 0, 0},        \
    {                                                                                                        \
        "through", DOC_OTHER, 0, 0, 0                                                                        \
    }

// Points [s, x, y] with rising s; their ends are the span.
static bool path_through(doc_robot_file *f, const doc_node *node, const char *what, pl_line_path_def *p)
{
    if (!doc_expect(f, node, DOC_LIST, what) || node->count < 2) {
        doc_defect(f, node->line, "%s: through needs at least two points [s, x, y]", what);
        return false;
    }

    double *point = doc_arena_take(&f->arena, 3 * (size_t)node->count * sizeof *point);
    f->no_memory = f->no_memory || !point;
    bool good = point != NULL;
    int i = 0;
    for (const doc_node *n = node->child; point && n; n = n->next, ++i) {
        good = doc_read_vector(f, n, what, PL_DIM_LENGTH, point + 3 * i) && good;
    }

    if (good) {
        p->waypoint = point;
        p->waypoint_count = node->count;
        p->span[0] = point[0];
        p->span[1] = point[3 * node->count - 3];
    }

    return good;
}

// The part of the line and where the path runs in the cross-section. Tendons without a radius lie on
// the surface, chambers need one.
static bool model_path(doc_robot_file *f, const doc_node *node, const char *what, bool needs_radius,
                       pl_line_path_def *p)
{
    const doc_node *section = doc_child(node, "section"), *n;
    bool good = true;

    p->span[1] = f->model->length;
    if (section && (!doc_expect(f, section, DOC_SCALAR, what) || !model_span(f, section->text, p->span))) {
        doc_defect(f, section->line, "%s: there is no section '%s'", what,
                   section->kind == DOC_SCALAR ? section->text : "");
        return false;
    }

    // a part of the line
    if ((n = doc_child(node, "from"))) {
        good = doc_read_quantity(f, n, what, PL_DIM_LENGTH, &p->span[0]) && good;
    }
    if ((n = doc_child(node, "to"))) {
        good = doc_read_quantity(f, n, what, PL_DIM_LENGTH, &p->span[1]) && good;
    }
    if ((n = doc_child(node, "angle"))) {
        good = doc_read_quantity(f, n, what, PL_DIM_ANGLE, &p->angle) && good;
    }
    if ((n = doc_child(node, "turns"))) {
        good = doc_read_quantity(f, n, what, PL_DIM_NUMBER, &p->turns) && good;
    }

    // by points, or by a radius
    if ((n = doc_child(node, "through"))) {
        return path_through(f, n, what, p) && good;
    }

    if (!(n = doc_child(node, "radius"))) {
        p->radius[0] = model_radius(f, p->span[0]);
        p->radius[1] = model_radius(f, p->span[1] - 1e-6 * f->model->length);
        if (needs_radius) {
            doc_defect(f, node->line, "%s: 'radius' (its distance from the centre line) is missing", what);
        }
        return good && !needs_radius;
    }

    return model_pair(f, n, what, PL_DIM_LENGTH, p->radius) && good;
}

// ---- actuators
// The lists of a centre line: key, name of an entry, kind, and its drives, of which the first is the default.
typedef struct line_list {
    const char *key, *entry;
    pl_actuator_kind kind;
    int drive_count;
    pl_drive drive[4];
} line_list;

static const line_list line_lists[] = {
    {"tendons",
     "tendon",
     PL_CABLE,
     4,
     {PL_DRIVE_TENSION, PL_DRIVE_LENGTH, PL_DRIVE_LENGTH_RATIO, PL_DRIVE_SHORTENING}},
    {"chambers", "chamber", PL_CHAMBER, 3, {PL_DRIVE_PRESSURE, PL_DRIVE_VOLUME, PL_DRIVE_VOLUME_RATIO}},
};

static const line_list *line_list_of(pl_actuator_kind kind)
{
    return &line_lists[kind == line_lists[0].kind ? 0 : 1];
}

// The drive of an entry.
static bool actuator_drive(doc_robot_file *f, const doc_node *node, const char *what, pl_line_actuator_def *a)
{
    const pl_drive *drive = line_list_of(a->kind)->drive;
    const int count = line_list_of(a->kind)->drive_count;
    const char *name[4];

    for (int i = 0; i < count; ++i) {
        name[i] = pl_drive_name(drive[i]);
    }

    const doc_node *n = doc_child(node, "drive");
    const int i = n ? doc_read_choice(f, n, what, name, count) : 0;
    a->drive = drive[i < 0 ? 0 : i];

    return i >= 0;
}

// Tendons have all keys but the last two, which are those of chambers.
static bool actuator_read(doc_robot_file *f, const doc_node *node, pl_line_actuator_def *a)
{
    static const char *const idle[] = {"free", "hold"};
    static const doc_key keys[] = {
        {"name", DOC_NAME, 0, offsetof(pl_line_actuator_def, name), DOC_REQUIRED},
        {"drive", DOC_OTHER, 0, 0, 0},
        {"range", DOC_OTHER, 0, 0, 0},
        {"idle", DOC_OTHER, 0, 0, 0},
        {"rate", DOC_OTHER, 0, 0, 0},
        PATH_KEYS,
        {"area", DOC_QUANTITY, PL_DIM_AREA, offsetof(pl_line_actuator_def, area), DOC_POSITIVE},
        {"effectiveness", DOC_OTHER, 0, 0, 0},
    };
    const bool chamber = pl_actuator_encloses(a->kind);
    char what[120];
    bool good =
        doc_read_map(f, node, line_list_of(a->kind)->entry, keys, PL_COUNT(keys) - (chamber ? 0 : 2), a);

    if (node->kind != DOC_MAP || !a->name) {
        return false;
    }
    snprintf(what, sizeof what, "%s '%.60s'", chamber ? "chamber" : "tendon", a->name);
    good = actuator_drive(f, node, what, a) && good;
    good = model_path(f, node, what, chamber, &a->path) && good;
    good = (!chamber || model_pair_child(f, node, "effectiveness", PL_DIM_NUMBER, a->effectiveness)) && good;
    if (chamber && !doc_child(node, "area")) {
        doc_defect(f, node->line, "%s: 'area' (its cross-section) is missing", what);
        good = false;
    }

    const doc_node *n = doc_child(node, "range");
    if (n) {
        a->has_range = doc_read_range(f, n, what, pl_drive_dimension(a->drive), a->range);
        good = a->has_range && good;
    }

    n = doc_child(node, "rate");
    if (n) {
        good = doc_read_rate(f, n, what, pl_drive_dimension(a->drive), &a->rate) && good;
    }
    n = doc_child(node, "idle");

    if (n) {
        const int i = doc_read_choice(f, n, what, idle, 2);
        a->idle_hold = i == 1;
        good = i >= 0 && good;
    }

    return good;
}

static void model_actuators(doc_robot_file *f, const doc_node *node, const line_list *list)
{
    char what[40];
    snprintf(what, sizeof what, "model: %s", list->key);
    if (!doc_expect(f, node, DOC_LIST, what)) {
        return;
    }
    for (const doc_node *n = node->child; n; n = n->next) {
        pl_line_actuator_def a = {.kind = list->kind, .effectiveness = {1, 1}, .line = n->line};
        if (!actuator_read(f, n, &a)) {
            doc_mark_broken(f, n->line);
            f->model->broken = true;
        }

        a.name = a.name ? a.name : "";
        pl_line_actuator_def *slot = doc_append(f, &f->model->actuator, sizeof *slot);
        // commands look up the drive of what they drive
        pl_actuator_def *also = doc_append(f, &f->actuator, sizeof *also);
        if (slot && also) {
            *slot = a;
            *also = (pl_actuator_def){.name = a.name, .kind = list->kind, .drive = a.drive, .line = n->line};
        }
    }
}

// ---- markers, sensors, loads
// A marker without keys is the tip.
static void model_markers(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"at", DOC_QUANTITY, PL_DIM_LENGTH, offsetof(pl_line_marker_def, at), DOC_NOT_NEGATIVE},
        {"offset", DOC_VECTOR, PL_DIM_LENGTH, offsetof(pl_line_marker_def, offset), 0},
    };
    if (!doc_expect(f, node, DOC_MAP, "markers")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_line_marker_def def = {.name = n->key, .at = f->model->length, .line = n->key_line};
        char what[100];
        snprintf(what, sizeof what, "marker '%.60s'", n->key);
        if (n->kind != DOC_NULL && !doc_read_map(f, n, what, keys, PL_COUNT(keys), &def)) {
            doc_mark_broken(f, n->key_line);
            f->model->broken = true;
        }

        pl_line_marker_def *slot = doc_append(f, &f->model->marker, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// Sensors of a reduced robot run along paths instead of points.
static void model_sensors(doc_robot_file *f, const doc_node *node)
{
    const char *kinds[PL_SENSOR_KIND_COUNT];
    for (int k = 0; k < PL_SENSOR_KIND_COUNT; ++k) {
        kinds[k] = pl_sensor_traits_get((pl_sensor_kind)k)->name;
    }

    static const doc_key keys[] = {
        {"name", DOC_NAME, 0, offsetof(pl_line_sensor_def, name), DOC_REQUIRED},
        {"kind", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"actuator", DOC_TEXT, 0, offsetof(pl_line_sensor_def, actuator), 0},
        {"noise", DOC_OTHER, 0, 0, 0},
        {"resolution", DOC_OTHER, 0, 0, 0},
        {"rate", DOC_OTHER, 0, 0, 0},
        PATH_KEYS,
    };
    if (!doc_expect(f, node, DOC_LIST, "sensors")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_line_sensor_def def = {.line = n->line};
        bool good = doc_read_map(f, n, "sensor", keys, PL_COUNT(keys), &def);
        const int kind =
            good ? doc_read_choice(f, doc_child(n, "kind"), "sensor: kind", kinds, PL_COUNT(kinds)) : -1;
        good = kind >= 0;
        def.kind = good ? (pl_sensor_kind)kind : PL_SENSOR_LENGTH;
        good = good && (!pl_sensor_is_line(def.kind) || model_path(f, n, "sensor", true, &def.path));
        // what control needs to know of it (document_control.c)
        pl_sensor_def quality = {.name = def.name ? def.name : "", .kind = def.kind, .line = n->line};
        good = good && doc_read_sensor_quality(f, n, &quality);
        pl_sensor_def *known = doc_append(f, &f->sensor, sizeof *known);
        if (known) {
            *known = quality;
        }
        if (!good) {
            doc_mark_broken(f, n->line);
            f->model->broken = true;
        }

        pl_line_sensor_def *slot = doc_append(f, &f->model->sensor, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

static void model_forces(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"marker", DOC_TEXT, 0, offsetof(pl_line_force_def, marker), DOC_REQUIRED},
        {"force", DOC_VECTOR, PL_DIM_FORCE, offsetof(pl_line_force_def, force), 0},
        {"moment", DOC_VECTOR, PL_DIM_MOMENT, offsetof(pl_line_force_def, moment), 0},
        {"follower", DOC_BOOL, 0, offsetof(pl_line_force_def, follower), 0},
    };
    if (!doc_expect(f, node, DOC_LIST, "loads: forces")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_line_force_def def = {.line = n->line};
        f->model->broken =
            !doc_read_map(f, n, "loads: forces", keys, PL_COUNT(keys), &def) || f->model->broken;
        pl_line_force_def *slot = doc_append(f, &f->model->force, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

// N/mm along a section, or all of the line.
static void model_distributed(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"section", DOC_TEXT, 0, offsetof(pl_line_load_def, section), 0},
        {"force", DOC_VECTOR, PL_DIM_NUMBER, offsetof(pl_line_load_def, force), DOC_REQUIRED},
    };
    if (!doc_expect(f, node, DOC_LIST, "loads: distributed")) {
        return;
    }

    for (const doc_node *n = node->child; n; n = n->next) {
        pl_line_load_def def = {.line = n->line};
        f->model->broken =
            !doc_read_map(f, n, "loads: distributed", keys, PL_COUNT(keys), &def) || f->model->broken;
        pl_line_load_def *slot = doc_append(f, &f->model->load, sizeof *slot);
        if (slot) {
            *slot = def;
        }
    }
}

static void model_loads(doc_robot_file *f, const doc_node *node)
{
    static const doc_key keys[] = {
        {"gravity", DOC_VECTOR, PL_DIM_ACCELERATION, offsetof(pl_reduced_def, gravity), 0},
        {"forces", DOC_OTHER, 0, 0, 0},
        {"distributed", DOC_OTHER, 0, 0, 0},
    };
    doc_read_map(f, node, "loads", keys, PL_COUNT(keys), &f->model->def);
    const doc_node *forces = doc_child(node, "forces"), *distributed = doc_child(node, "distributed");
    if (forces) {
        model_forces(f, forces);
    }
    if (distributed) {
        model_distributed(f, distributed);
    }
}

// Axes are read as for every robot, beside the names of the actuators.
static void model_hardware(doc_robot_file *f, const doc_node *node)
{
    doc_read_hardware(f, node);
    const pl_actuator_def *read = f->actuator.item;
    pl_line_actuator_def *actuator = f->model->actuator.item;
    for (int i = 0; i < f->model->actuator.count && i < f->actuator.count; ++i) {
        actuator[i].hardware = read[i].hardware;
    }
}

// ---- the base frame: z along `axis`, x as near to the given one as it can be
static bool model_base(doc_robot_file *f, const doc_node *node, pl_reduced_def *d)
{
    struct {
        double at[3], axis[3], x[3];
    } b = {.axis = {0, 0, 1}, .x = {1, 0, 0}};
    static const doc_key keys[] = {
        {"at", DOC_VECTOR, PL_DIM_LENGTH, 0, 0},
        {"axis", DOC_VECTOR, PL_DIM_NUMBER, 3 * sizeof(double), 0},
        {"x", DOC_VECTOR, PL_DIM_NUMBER, 6 * sizeof(double), 0},
    };
    if (!doc_read_map(f, node, "model: base", keys, PL_COUNT(keys), &b)) {
        return false;
    }

    // x is made normal to the axis: y = axis x x, then x = y x axis
    const double length = pl_norm3(b.axis);
    double y[3], x[3];
    if (!doc_child(node, "x") && length > 0 && fabs(b.axis[0]) > 0.9 * length) {
        b.x[0] = 0, b.x[1] = 1; // the default lies along the axis
    }
    pl_cross3(b.axis, b.x, y);
    const double side = pl_norm3(y);

    if (!(length > 1e-12) || !(side > 1e-9 * length * pl_norm3(b.x))) {
        doc_defect(f, node->line, "model: base: axis [%g, %g, %g] and x [%g, %g, %g] do not define a frame",
                   b.axis[0], b.axis[1], b.axis[2], b.x[0], b.x[1], b.x[2]);
        return false;
    }

    pl_cross3(y, b.axis, x);
    const double along = pl_norm3(x);
    for (int i = 0; i < 3; ++i) {
        d->base[i] = b.at[i];
        d->frame[3 * i] = x[i] / along;
        d->frame[3 * i + 1] = y[i] / side;
        d->frame[3 * i + 2] = b.axis[i] / length;
    }

    return true;
}

// Sections before tendons and chambers, which refer to them.
static void model_block(doc_robot_file *f, const doc_node *node)
{
    static const char *const kinds[] = {"beam", "rod", "constant_curvature", "vertebrae"};
    static const doc_key keys[] = {
        {"kind", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"as_published", DOC_BOOL, 0, offsetof(pl_reduced_def, as_published), 0},
        {"base", DOC_OTHER, 0, 0, 0},
        {"sections", DOC_OTHER, 0, 0, DOC_REQUIRED},
        {"chambers", DOC_OTHER, 0, 0, 0},
        {"tendons", DOC_OTHER, 0, 0, 0},
    };
    doc_model *m = f->model;

    m->broken = !doc_read_map(f, node, "model", keys, PL_COUNT(keys), &m->def);
    if (node->kind != DOC_MAP) {
        return;
    }

    const doc_node *n = doc_child(node, "kind");
    if (n) {
        const int kind = doc_read_choice(f, n, "model: kind", kinds, PL_COUNT(kinds));
        m->def.kind = kind < 0 ? PL_ROD : (pl_reduced_kind)kind;
        m->broken = m->broken || kind < 0;
    }

    if ((n = doc_child(node, "base"))) {
        m->broken = !model_base(f, n, &m->def) || m->broken;
    }
    if ((n = doc_child(node, "sections"))) {
        model_sections(f, n);
    }
    for (int i = 0; i < PL_COUNT(line_lists); ++i) {
        if ((n = doc_child(node, line_lists[i].key))) {
            model_actuators(f, n, &line_lists[i]);
        }
    }
}

// ---- errors measured by `pliant reduce`
// Numbers in the arena; NULL after a defect.
static double *errors_numbers(doc_robot_file *f, const doc_node *node, const char *key, int64_t count,
                              bool gaps)
{
    double *list = doc_arena_take(&f->arena, (size_t)(count + 1) * sizeof *list);
    f->no_memory = f->no_memory || !list;
    return list && doc_numbers_read(f, node, key, list, count, gaps) ? list : NULL;
}

// NULL: none, or empty.
static const char *errors_text(const doc_node *node, const char *key)
{
    const doc_node *n = doc_child(node, key);
    return n && n->kind == DOC_SCALAR && n->text[0] ? n->text : NULL;
}

// A block with defects counts as no errors at all.
static void model_errors(doc_robot_file *f, const doc_node *node)
{
    pl_reduced_errors *e = &f->model->def.errors;
    if (!doc_expect(f, node, DOC_MAP, "errors") ||
        !doc_whole_read(f, node, "samples", 0, 100000, &e->count) ||
        !doc_whole_read(f, node, "commands", 0, 1000, &e->command_count)) {
        return;
    }

    const char *hash = errors_text(node, "model"), *print = errors_text(node, "robot_print");
    e->marker = errors_text(node, "marker");
    e->model_hash = hash ? strtoull(hash, NULL, 16) : 0;
    e->robot_file = errors_text(node, "robot_file");
    e->robot_print = print ? strtoull(print, NULL, 16) : 0;
    e->command = errors_numbers(f, node, "at", (int64_t)e->count * e->command_count, false);
    e->position = errors_numbers(f, node, "position", e->count, false);
    e->rotation = errors_numbers(f, node, "rotation", e->count, true);
    if (!e->command || !e->position || !e->rotation) {
        e->count = 0;
        return;
    }

    for (int i = 0; i < e->count; ++i) {
        if (e->position[i] < 0 || e->rotation[i] < 0) {
            doc_defect(f, node->line, "errors: number %d is negative", i + 1);
            break;
        }
    }
}

// Checks of the whole model; findings carry their lines.
static void model_check(doc_robot_file *f)
{
    pl_findings *more = pl_findings_create();
    if (!more) {
        f->no_memory = true;
        return;
    }

    f->no_memory = pl_reduced_check(&f->model->def, more, NULL) == PL_NO_MEMORY || f->no_memory;
    for (int i = 0; i < pl_findings_count(more); ++i) {
        const pl_finding *item = pl_findings_at(more, i);
        doc_defect(f, item->line, "%s", item->text);
    }

    pl_findings_destroy(more);
}

void doc_read_model(doc_robot_file *f, const doc_node *root, const doc_node *node)
{
    doc_model *m = doc_arena_take(&f->arena, sizeof *m);
    f->model = m;
    if (!m) {
        f->no_memory = true;
        return;
    }

    m->def.file = f->path;
    m->def.name = f->def.name;
    m->def.line = node->key_line;
    model_block(f, node);
    const doc_node *n;
    if ((n = doc_child(root, "markers"))) {
        model_markers(f, n);
    }
    if ((n = doc_child(root, "sensors"))) {
        model_sensors(f, n);
    }
    if ((n = doc_child(root, "loads"))) {
        model_loads(f, n);
    }
    if ((n = doc_child(root, "commands"))) {
        doc_read_commands(f, n);
    }
    if ((n = doc_child(root, "hardware"))) {
        model_hardware(f, n);
    }
    if ((n = doc_child(root, "errors"))) {
        model_errors(f, n);
    }

// the def borrows the lists
#define FILL(what) (m->def.what = m->what.item, m->def.what##_count = m->what.count)
    FILL(section);
    FILL(actuator);
    FILL(marker);
    FILL(sensor);
    FILL(force);
    FILL(load);
#undef FILL
    m->def.command = f->command.item;
    m->def.command_count = f->command.count;
    // only a model without defects is checked as a whole: others would be reported twice
    if (!m->broken && !f->no_memory && pl_findings_defect_count(f->findings) == 0) {
        model_check(f);
    }
}

void doc_model_clear(doc_model *m)
{
    if (m) {
        doc_array *const arrays[] = {&m->section, &m->actuator, &m->marker, &m->sensor, &m->force, &m->load};
        for (int i = 0; i < PL_COUNT(arrays); ++i) {
            pl_free(arrays[i]->item);
        }
    }
}
