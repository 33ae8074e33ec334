// Is a description of a reduced model complete and possible? Every defect is a finding that names the field,
// what was found and what was expected.
#include <stdarg.h>
#include <stdio.h>
#include "reduced/reduced_impl.h"
#include "robot/robot.h"
#include "robot/robot_kind.h"

// The checks' common data: defects are counted and the first one becomes the error message.
typedef struct check {
    const pl_reduced_def *def;
    pl_findings *findings;
    double length; // mm, of all sections
    int defects;
    char first[400]; // text of the first defect
} check;

static void check_defect(check *c, int line, const char *format, ...) PL_PRINTF(3, 4);
static void check_defect(check *c, int line, const char *format, ...)
{
    char text[400];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pl_findings_add(c->findings, PL_DEFECT, c->def->file, line, "%s", text);
    if (c->defects++ == 0) {
        snprintf(c->first, sizeof c->first, "%s", text);
    }
}

// A quantity that must be positive and finite; reports it otherwise.
static bool check_positive(check *c, int line, const char *what, const char *field, double value)
{
    if (value > 0 && isfinite(value)) {
        return true;
    }
    check_defect(c, line, "%s: %s is %g, must be positive", what, field, value);
    return false;
}

static bool check_finite(const double *value, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!isfinite(value[i])) {
            return false;
        }
    }

    return true;
}

// Names of one kind of item differ; stride walks over the defs, whose first member is the name.
static void check_names(check *c, const char *what, const void *item, int count, size_t stride,
                        size_t line_offset)
{
    const char *at = item;
    for (int i = 0; i < count; ++i) {
        const char *name = *(const char *const *)(at + (size_t)i * stride);
        const int line = *(const int *)(at + (size_t)i * stride + line_offset);
        if (!name || !name[0]) {
            check_defect(c, line, "%s %d has no name", what, i + 1);
            continue;
        }

        if (!pl_name_is_valid(name)) {
            char shown[80];
            check_defect(c, line, "%s: '%s' is not a valid name: %s", what,
                         pl_name_shown(name, shown, sizeof shown), PL_NAME_RULE);
        }

        for (int j = 0; j < i; ++j) {
            const char *other = *(const char *const *)(at + (size_t)j * stride);
            if (other && strcmp(name, other) == 0) {
                check_defect(c, line, "%s: the name '%s' is given twice", what, name);
            }
        }
    }
}

// Beams and rods always; arcs where a force or pressure decides the shape.
static bool check_needs_stiffness(const pl_reduced_def *d)
{
    if (d->kind == PL_BEAM || d->kind == PL_ROD) {
        return true;
    }

    for (int i = 0; d->kind == PL_CONSTANT_CURVATURE && i < d->actuator_count; ++i) {
        if (!pl_drive_is_geometric(d->actuator[i].drive)) {
            return true;
        }
    }

    return false;
}

// Shares of the gaps: positive, one per gap, sum 1.
static void check_shares(check *c, const pl_section_def *s, const char *what)
{
    double sum = 0;
    for (int i = 0; i < s->share_count; ++i) {
        if (!check_positive(c, s->line, what, "a share", s->share[i])) {
            return;
        }
        sum += s->share[i];
    }

    if (s->pieces > 0 && s->pieces != s->share_count) {
        check_defect(c, s->line, "%s: %d shares for %d gaps", what, s->share_count, s->pieces);
    } else if (fabs(sum - 1) > 1e-6) {
        check_defect(c, s->line, "%s: the shares add up to %g, expected 1", what, sum);
    }
}

static void check_section(check *c, const pl_section_def *s)
{
    const pl_reduced_def *d = c->def;
    char what[120];

    snprintf(what, sizeof what, "section '%.80s'", s->name ? s->name : "");

    // geometry, then the stiffness that the kind needs
    check_positive(c, s->line, what, "length", s->length);
    check_positive(c, s->line, what, "diameter",
                   s->diameter[0] < s->diameter[1] ? s->diameter[0] : s->diameter[1]);
    if (check_needs_stiffness(d)) {
        const bool ok = check_positive(c, s->line, what, "EA", s->EA) &&
                        check_positive(c, s->line, what, "EI", fmin(s->EI[0], s->EI[1]));
        if (ok && d->kind != PL_CONSTANT_CURVATURE && check_positive(c, s->line, what, "GJ", s->GJ)) {
            check_positive(c, s->line, what, "GA", fmin(s->GA[0], s->GA[1]));
        }
    }

    // mass per length, pieces and shares
    if (!(s->mass >= 0) || !isfinite(s->mass)) {
        check_defect(c, s->line, "%s: mass is %g t/mm, must be >= 0", what, s->mass);
    }
    if (s->pieces < 0 || s->pieces > 1000) {
        check_defect(c, s->line, "%s: pieces is %d, must be 1 to 1000", what, s->pieces);
    }

    if (s->share_count > 0 && d->kind != PL_VERTEBRAE) {
        check_defect(c, s->line, "%s: 'shares' needs a model of kind vertebrae", what);
    } else if (s->share_count > 0) {
        check_shares(c, s, what);
    }
}

// The span lies on the line, and the path over it is given either by radius and angle or by points.
static void check_path(check *c, const pl_line_path_def *p, int line, const char *what)
{
    if (!check_finite(p->span, 2) || p->span[0] < -1e-9 * c->length || p->span[1] > c->length * (1 + 1e-9) ||
        !(p->span[1] > p->span[0])) {
        check_defect(c, line, "%s: extends from %g to %g mm, expected a part of 0 to %g", what, p->span[0],
                     p->span[1], c->length);
        return;
    }

    // by radius, angle and turns
    const double numbers[] = {p->radius[0], p->radius[1], p->angle, p->turns};
    if (p->waypoint_count == 0 && (!check_finite(numbers, 4) || p->radius[0] < 0 || p->radius[1] < 0)) {
        check_defect(c, line, "%s: radius %g to %g, angle %g, turns %g: expected finite numbers, radius >= 0",
                     what, p->radius[0], p->radius[1], p->angle, p->turns);
    }

    // by points: rising s from one end of the span to the other
    if (p->waypoint_count == 1) {
        check_defect(c, line, "%s: a path of one point, expected at least two", what);
    }

    for (int i = 0; i < p->waypoint_count; ++i) {
        if (!check_finite(p->waypoint + 3 * i, 3) ||
            (i > 0 && !(p->waypoint[3 * i] > p->waypoint[3 * i - 3]))) {
            check_defect(c, line, "%s: point %d of the path does not come after the previous one", what,
                         i + 1);
            return;
        }
    }

    if (p->waypoint_count > 1 &&
        (fabs(p->waypoint[0] - p->span[0]) > 1e-9 * c->length ||
         fabs(p->waypoint[3 * p->waypoint_count - 3] - p->span[1]) > 1e-9 * c->length)) {
        check_defect(c, line, "%s: the points and the span of the path differ", what);
    }
}

// What the kind of model does not accept of an actuator.
static void check_actuator_kind(check *c, const pl_line_actuator_def *a, const char *what)
{
    const pl_reduced_def *d = c->def;
    if (d->kind == PL_VERTEBRAE && !pl_actuator_pulls_only(a->kind)) {
        check_defect(c, a->line, "%s: a model of vertebrae is driven by lengths, not by chambers", what);
    }
    if (d->kind == PL_VERTEBRAE && !pl_drive_is_geometric(a->drive)) {
        check_defect(c, a->line, "%s: drive is %s, but vertebrae accept length, length_ratio and shortening",
                     what, pl_drive_name(a->drive));
    }

    if ((d->kind == PL_VERTEBRAE || d->kind == PL_CONSTANT_CURVATURE) && (a->path.turns != 0)) {
        check_defect(c, a->line, "%s: turns is %g; only beam and rod accept helical paths", what,
                     a->path.turns);
    }

    if (d->as_published && (!pl_actuator_encloses(a->kind) || a->drive != PL_DRIVE_PRESSURE)) {
        check_defect(c, a->line, "%s: as_published accepts only chambers driven by pressure", what);
    }
}

static void check_actuator(check *c, const pl_line_actuator_def *a)
{
    char what[140];
    snprintf(what, sizeof what, "actuator '%.80s'", a->name ? a->name : "");
    if (!pl_actuator_pulls_only(a->kind) && !pl_actuator_encloses(a->kind)) {
        check_defect(c, a->line, "%s: kind is %s, but reduced models accept cable and chamber", what,
                     pl_actuator_kind_name(a->kind));
        return;
    }

    if (pl_drive_kind(a->drive) != a->kind || a->drive == PL_DRIVE_SYRINGE) {
        check_defect(c, a->line, "%s: drive %s does not fit; a %s here is driven by %s", what,
                     pl_drive_name(a->drive), pl_actuator_kind_name(a->kind),
                     pl_actuator_pulls_only(a->kind) ? "tension, length, length_ratio or shortening"
                                                     : "pressure, volume or volume_ratio");
    }

    if (a->has_range && !(a->range[0] < a->range[1] && check_finite(a->range, 2))) {
        check_defect(c, a->line, "%s: the range is reversed, from %g to %g", what, a->range[0], a->range[1]);
    }
    if (pl_actuator_encloses(a->kind) && check_positive(c, a->line, what, "area", a->area) &&
        !check_finite(a->effectiveness, 2)) {
        check_defect(c, a->line, "%s: effectiveness is not finite", what);
    }

    check_path(c, &a->path, a->line, what);
    check_actuator_kind(c, a, what);
}

// Markers, sensors, forces and distributed loads.
static void check_others(check *c)
{
    const pl_reduced_def *d = c->def;
    for (int i = 0; i < d->marker_count; ++i) {
        const pl_line_marker_def *m = &d->marker[i];
        if (!(m->at >= 0 && m->at <= c->length * (1 + 1e-9)) || !check_finite(m->offset, 3)) {
            check_defect(c, m->line, "marker '%s': at is %g mm, expected 0 to %g", m->name ? m->name : "",
                         m->at, c->length);
        }

        if (d->as_published && m->at < c->length * (1 - 1e-9)) {
            check_defect(c, m->line, "marker '%s': as_published has only the tip, at %g mm",
                         m->name ? m->name : "", c->length);
        }
    }

    // sensors: a path of their own, or the chamber they belong to
    for (int i = 0; i < d->sensor_count; ++i) {
        const pl_line_sensor_def *s = &d->sensor[i];
        int found = -1;
        for (int k = 0; s->actuator && k < d->actuator_count; ++k) {
            found = d->actuator[k].name && strcmp(d->actuator[k].name, s->actuator) == 0 ? k : found;
        }
        if (pl_sensor_is_line(s->kind)) {
            check_path(c, &s->path, s->line, "sensor");
        } else if (found < 0 || d->actuator[found].kind != pl_sensor_traits_get(s->kind)->of) {
            check_defect(c, s->line, "sensor '%s': there is no %s '%s'", s->name ? s->name : "",
                         pl_actuator_kind_name(pl_sensor_traits_get(s->kind)->of),
                         s->actuator ? s->actuator : "");
        }
    }

    // forces act at markers
    for (int i = 0; i < d->force_count; ++i) {
        const pl_line_force_def *f = &d->force[i];
        bool found = false;
        for (int k = 0; f->marker && k < d->marker_count; ++k) {
            found = found || (d->marker[k].name && strcmp(d->marker[k].name, f->marker) == 0);
        }
        if (!found) {
            check_defect(c, f->line, "force %d: there is no marker '%s'", i + 1, f->marker ? f->marker : "");
        }
        if (!check_finite(f->force, 3) || !check_finite(f->moment, 3)) {
            check_defect(c, f->line, "force %d is not finite", i + 1);
        }
    }

    // distributed loads: a section, or all
    for (int i = 0; i < d->load_count; ++i) {
        const pl_line_load_def *l = &d->load[i];
        bool found = !l->section;
        for (int k = 0; l->section && k < d->section_count; ++k) {
            found = found || (d->section[k].name && strcmp(d->section[k].name, l->section) == 0);
        }
        if (!found || !check_finite(l->force, 3)) {
            check_defect(c, l->line, "distributed load %d: %s '%s'", i + 1,
                         found ? "not finite on" : "there is no section", l->section ? l->section : "all");
        }
    }
}

// A one-sided command leaves an actuator at 0 while it points in the opposite direction: 0 must mean rest.
static void check_one_sided(check *c, const pl_command_def *m, const pl_line_actuator_def *a)
{
    if (!pl_drive_rests_at_zero(a->drive)) {
        check_defect(
            c, m->line,
            "command '%s' is one_sided: it sets '%s' to 0, which is not the rest value of the drive %s "
            "(expected shortening, tension or pressure)",
            m->name, a->name, pl_drive_name(a->drive));
    } else if (a->has_range && a->range[0] > 0) {
        check_defect(c, m->line, "command '%s' is one_sided: it sets '%s' to 0, but its range starts at %g",
                     m->name, a->name, a->range[0] / pl_drive_scale(a->drive));
    }
}

static int check_find_actuator(const pl_reduced_def *d, const char *name)
{
    for (int a = 0; name && a < d->actuator_count; ++a) {
        if (d->actuator[a].name && strcmp(d->actuator[a].name, name) == 0) {
            return a;
        }
    }

    return -1;
}

// One actuator of a command; driver[a] is the number of the command that drives a, from 1.
static void check_drive(check *c, int index, const pl_command_drive *drive, int *driver)
{
    const pl_reduced_def *d = c->def;
    const pl_command_def *m = &d->command[index];
    const int a = check_find_actuator(d, drive->actuator);

    if (a < 0) {
        check_defect(c, m->line, "command '%s': there is no actuator '%s'", m->name, drive->actuator);
        return;
    }

    if (!isfinite(drive->factor) || drive->factor == 0) {
        check_defect(c, m->line, "command '%s': the factor of '%s' is %g, must be a number other than 0",
                     m->name, drive->actuator, drive->factor);
    }

    if (driver[a] > 0) {
        check_defect(c, m->line, "actuator '%s' is driven by two commands, '%s' and '%s'", drive->actuator,
                     d->command[driver[a] - 1].name, m->name);
    }

    if (m->one_sided) {
        check_one_sided(c, m, &d->actuator[a]);
    }
    driver[a] = index + 1;
}

// Every actuator has at most one command, and every command drives at least one.
static void check_commands(check *c)
{
    const pl_reduced_def *d = c->def;
    int driver[REDUCED_ACTUATORS_MAX] = {0};

    if (d->actuator_count > REDUCED_ACTUATORS_MAX) {
        return; // reported with the kind
    }

    for (int i = 0; i < d->command_count; ++i) {
        const pl_command_def *m = &d->command[i];
        if (m->drive_count < 1) {
            check_defect(c, m->line, "command '%s' drives nothing", m->name);
        }
        if (m->has_range && !(check_finite(m->range, 2) && m->range[0] <= m->range[1])) {
            check_defect(c, m->line, "command '%s': the range is reversed, from %g to %g", m->name,
                         m->range[0], m->range[1]);
        }

        if (!(m->rate >= 0) || !isfinite(m->rate)) {
            check_defect(c, m->line, "command '%s': the rate is %g, must be positive", m->name, m->rate);
        }
        for (int k = 0; k < m->drive_count; ++k) {
            check_drive(c, i, &m->drive[k], driver);
        }
    }

    // a command that takes the name of an actuator nobody drives would stand for two things
    for (int i = 0; i < d->command_count; ++i) {
        const int a = check_find_actuator(d, d->command[i].name);
        if (a >= 0 && driver[a] == 0) {
            check_defect(c, d->command[i].line,
                         "command '%s' has the name of an actuator that it does not drive",
                         d->command[i].name);
        }
    }
}

// A motor winds cable or pushes a syringe; air at a pressure comes from elsewhere.
static void check_hardware(check *c, int index)
{
    const pl_line_actuator_def *a = &c->def->actuator[index];
    const pl_hardware *h = &a->hardware;

    if (!(a->rate >= 0) || !isfinite(a->rate)) {
        check_defect(c, a->line, "actuator '%s': the rate is %g, must be positive", a->name, a->rate);
    }

    // the axis of the machine that moves it
    if (!h->axis) {
        return;
    }

    for (int other = 0; other < index; ++other) {
        if (c->def->actuator[other].hardware.axis == h->axis) {
            check_defect(c, h->line, "hardware: '%s' and '%s' share the axis %c", a->name,
                         c->def->actuator[other].name, h->axis);
        }
    }

    if (!strchr("XYZABCUVWE", h->axis) || !(h->per_unit > 0) || !isfinite(h->per_unit) ||
        !isfinite(h->offset) || !(h->feed >= 0) || !isfinite(h->feed)) {
        check_defect(c, h->line, "hardware: '%s': axis %c, per_unit %g, offset %g and feed %g are impossible",
                     a->name, h->axis, h->per_unit, h->offset, h->feed);
    }

    if (h->has_range && !(h->range[0] <= h->offset && h->offset <= h->range[1])) {
        check_defect(c, h->line, "hardware: '%s': the offset %g is outside the range of the axis, %g to %g",
                     a->name, h->offset, h->range[0], h->range[1]);
    }

    if (!pl_drive_has_motor(a->drive)) {
        check_defect(c, h->line,
                     "hardware: '%s': an axis winds a cable or pushes a syringe; the drive %s has no axis",
                     a->name, pl_drive_name(a->drive));
    }
}

// Whether forces can bend arcs: every section has EA and EI.
static bool check_has_stiffness(const pl_reduced_def *d)
{
    bool all = true;
    for (int i = 0; i < d->section_count; ++i) {
        all = all && d->section[i].EA > 0 && d->section[i].EI[0] > 0 && d->section[i].EI[1] > 0;
    }
    return all;
}

// What a kind cannot do is refused, not ignored: a model that ignored its weight would be silently wrong.
static void check_kind(check *c)
{
    const pl_reduced_def *d = c->def;
    const bool geometric = d->kind == PL_CONSTANT_CURVATURE || d->kind == PL_VERTEBRAE;
    const bool heavy = d->gravity[0] != 0 || d->gravity[1] != 0 || d->gravity[2] != 0;
    const char *kind = pl_reduced_kind_name(d->kind);

    if (!check_finite(d->gravity, 3)) {
        check_defect(c, d->line, "gravity is not finite");
    }

    // geometric kinds have no loads along the line
    if (geometric && (heavy || d->load_count > 0)) {
        check_defect(c, d->line,
                     "a model of kind %s accepts no weight and no distributed loads; use beam or rod", kind);
    }

    for (int i = 0; geometric && i < d->force_count; ++i) {
        const double *M = d->force[i].moment;
        if (d->kind == PL_VERTEBRAE) {
            check_defect(c, d->force[i].line,
                         "vertebrae accept no forces: they have no stiffness; use beam or rod");
        } else if (d->force[i].follower || M[0] != 0 || M[1] != 0 || M[2] != 0) {
            check_defect(
                c, d->force[i].line,
                "a model of kind %s accepts forces fixed in space, no moments and no followers; use rod",
                kind);
        } else if (!check_has_stiffness(d)) {
            check_defect(
                c, d->force[i].line,
                "arcs bend under forces only with a stiffness; give young, or EA and EI, in every section");
        }
    }

    // the published beam is one element with tip loads
    if (d->as_published && d->kind != PL_BEAM) {
        check_defect(c, d->line, "as_published needs kind beam, not %s", kind);
    }
    if (d->as_published && (heavy || d->load_count > 0 || d->section_count != 1 || d->sensor_count > 0)) {
        check_defect(c, d->line, "as_published allows only one section with chambers and tip loads");
    }

    for (int i = 0; d->as_published && i < d->force_count; ++i) {
        if (d->force[i].follower) {
            check_defect(c, d->force[i].line, "as_published accepts no follower loads");
        }
    }

    if (d->actuator_count > REDUCED_ACTUATORS_MAX) {
        check_defect(c, d->line, "%d actuators, the limit is %d", d->actuator_count, REDUCED_ACTUATORS_MAX);
    }
}

// The base frame's columns are orthonormal and right-handed, or all 0.
static void check_frame(check *c)
{
    const double *Q = c->def->frame;
    double zero = 0, off = 0;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double dot = Q[i] * Q[j] + Q[3 + i] * Q[3 + j] + Q[6 + i] * Q[6 + j];
            zero += fabs(Q[3 * i + j]);
            off = fmax(off, fabs(dot - (i == j)));
        }
    }

    if (!check_finite(Q, 9) || !check_finite(c->def->base, 3) ||
        (zero > 0 && !(off < 1e-9 && pl_det3(Q) > 0))) {
        check_defect(c, c->def->line, "the base frame is not a rotation");
    }
}

// Sections first: positions along the line are checked against their total length.
pl_status pl_reduced_check(const pl_reduced_def *def, pl_findings *findings, pl_error *err)
{
    check c = {.def = def, .findings = findings};
    if ((int)def->kind < 0 || def->kind >= PL_REDUCED_KIND_COUNT) {
        check_defect(&c, def->line, "model: kind is %d, unknown", (int)def->kind);
        return pl_fail(err, PL_BAD_INPUT, "%s", c.first);
    }

    if (def->section_count < 1 || def->section_count > 100) {
        check_defect(&c, def->line, "model: %d sections, expected 1 to 100", def->section_count);
    }
    for (int i = 0; i < def->section_count; ++i) {
        check_section(&c, &def->section[i]);
        c.length += def->section[i].length;
    }

    // without sound sections the other messages would mislead
    if (c.defects == 0) {
        for (int i = 0; i < def->actuator_count; ++i) {
            check_actuator(&c, &def->actuator[i]);
        }
        check_names(&c, "section", def->section, def->section_count, sizeof *def->section,
                    offsetof(pl_section_def, line));
        check_names(&c, "actuator", def->actuator, def->actuator_count, sizeof *def->actuator,
                    offsetof(pl_line_actuator_def, line));
        check_names(&c, "marker", def->marker, def->marker_count, sizeof *def->marker,
                    offsetof(pl_line_marker_def, line));
        check_names(&c, "command", def->command, def->command_count, sizeof *def->command,
                    offsetof(pl_command_def, line));
        check_names(&c, "sensor", def->sensor, def->sensor_count, sizeof *def->sensor,
                    offsetof(pl_line_sensor_def, line));
        check_others(&c);
        check_commands(&c);
        for (int i = 0; i < def->actuator_count; ++i) {
            check_hardware(&c, i);
        }
        check_kind(&c);
        check_frame(&c);
    }

    return c.defects ? pl_fail(err, PL_BAD_INPUT, "%s", c.first) : PL_OK;
}

const char *pl_reduced_kind_name(pl_reduced_kind kind)
{
    static const char *const name[] = {"beam", "rod", "constant_curvature", "vertebrae"};
    return (int)kind >= 0 && kind < PL_REDUCED_KIND_COUNT ? name[kind] : "unknown";
}

// EA, EI, GJ and GA of a section of one material; `shear` is the shear coefficient.
void pl_section_stiffness(pl_section_def *section, double E, double G, double area, double Ix, double Iy,
                          double J, double shear)
{
    section->EA = E * area;
    section->EI[0] = E * Ix;
    section->EI[1] = E * Iy;
    section->GJ = G * J;
    section->GA[0] = section->GA[1] = shear * G * area;
}
