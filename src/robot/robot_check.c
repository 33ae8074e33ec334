// The checks of a def that need no mesh: names, materials, ranges, references between its items, implausible
// values.
#include "robot/robot_check.h"
#include "material/material.h"
#include "robot/robot_kind.h"

#define PRESTRETCH_MIN 0.5 // of layers and fibres
#define PRESTRETCH_MAX 4.0

// Names are read through a stride, so that one function serves every list of the def: each item starts with
// its name.
static const char *check_name(const void *item, size_t size, int i)
{
    return *(const char *const *)((const char *)item + size * (size_t)i);
}

// Index of a name, or -1.
int robot_check_find(const void *item, size_t size, int count, const char *name)
{
    for (int i = 0; i < count; ++i) {
        const char *other = check_name(item, size, i);
        if (other && strcmp(other, name) == 0) {
            return i;
        }
    }

    return -1;
}

// Index of `name` in a list, or -1 after a finding with the nearest.
int robot_check_reference(check *c, const void *item, size_t size, int count, const char *name,
                          const char *what, const char *thing, int line)
{
    const int found = name ? robot_check_find(item, size, count, name) : -1;
    if (found >= 0) {
        return found;
    }
    for (int i = 0; i < count; ++i) {
        c->word[i] = check_name(item, size, i) ? check_name(item, size, i) : "";
    }

    const char *nearest = name ? pl_nearest_word(name, c->word, count) : NULL;
    if (nearest) {
        CHECK_DEFECT(c, line, "%s: there is no %s '%s' (did you mean '%s'?)", what, thing, name, nearest);
    } else {
        CHECK_DEFECT(c, line, "%s: there is no %s '%s'", what, thing, name ? name : "");
    }

    return -1;
}

// Names are given and differ; a repetition names the first line.
static void check_names(check *c, const void *item, size_t size, int count, size_t line_offset,
                        const char *what)
{
    for (int i = 0; i < count; ++i) {
        const char *name = check_name(item, size, i);
        const int line = *(const int *)((const char *)item + size * (size_t)i + line_offset);
        if (!name || !name[0]) {
            CHECK_DEFECT(c, line, "%s: a name is missing", what);
            continue;
        }

        const int first = robot_check_find(item, size, i, name);
        if (first >= 0) {
            CHECK_DEFECT(c, line, "%s: the name '%s' is given twice, first on line %d", what, name,
                         *(const int *)((const char *)item + size * (size_t)first + line_offset));
        }
    }
}

// Names that become columns of tables must be valid words. Surfaces and regions are named by mesh files.
static void check_columns(check *c, const void *item, size_t size, int count, size_t line_offset,
                          const char *what)
{
    check_names(c, item, size, count, line_offset, what);
    for (int i = 0; i < count; ++i) {
        const char *name = check_name(item, size, i);
        char shown[80];

        if (name && name[0] && !pl_name_is_valid(name)) {
            CHECK_DEFECT(c, *(const int *)((const char *)item + size * (size_t)i + line_offset),
                         "%s: '%s' is not a valid name: %s", what, pl_name_shown(name, shown, sizeof shown),
                         PL_NAME_RULE);
        }
    }
}

// Lists of the def, each with its own name space.
static void check_all_names(check *c)
{
    const pl_robot_def *d = c->def;
    check_names(c, d->body, sizeof *d->body, d->body_count, offsetof(pl_body_def, line), "bodies");
    check_names(c, d->surface, sizeof *d->surface, d->surface_count, offsetof(pl_surface_def, line),
                "surfaces");
    check_names(c, d->material, sizeof *d->material, d->material_count, offsetof(pl_material_def, line),
                "materials");
    check_names(c, d->region, sizeof *d->region, d->region_count, offsetof(pl_region_def, line), "regions");
    check_columns(c, d->actuator, sizeof *d->actuator, d->actuator_count, offsetof(pl_actuator_def, line),
                  "actuators");
    check_columns(c, d->command, sizeof *d->command, d->command_count, offsetof(pl_command_def, line),
                  "commands");
    check_columns(c, d->marker, sizeof *d->marker, d->marker_count, offsetof(pl_marker_def, line), "markers");
    check_columns(c, d->sensor, sizeof *d->sensor, d->sensor_count, offsetof(pl_sensor_def, line), "sensors");
    check_columns(c, d->spring, sizeof *d->spring, d->spring_count, offsetof(pl_spring_def, line), "springs");
    check_columns(c, d->layer, sizeof *d->layer, d->layer_count, offsetof(pl_layer_def, line), "layers");
    check_columns(c, d->fibre, sizeof *d->fibre, d->fibre_count, offsetof(pl_fibre_def, line), "fibres");
    check_columns(c, d->rigid, sizeof *d->rigid, d->rigid_count, offsetof(pl_rigid_def, line), "rigid");
}

// False for NAN, too.
bool robot_check_finite(const double *x, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }

    return true;
}

// Poses are rotations and translations; surfaces belong to bodies.
static void check_bodies(check *c)
{
    for (int i = 0; i < c->def->body_count; ++i) {
        const pl_body_def *body = &c->def->body[i];
        double worst = 0;

        for (int r = 0; r < 3; ++r) {
            for (int s = 0; s < 3; ++s) {
                const double dot = pl_dot3(body->rotation + 3 * r, body->rotation + 3 * s);
                worst = fmax(worst, fabs(dot - (r == s)));
            }
        }

        if (!(worst < 1e-9) || !(pl_det3(body->rotation) > 0) || !robot_check_finite(body->translation, 3)) {
            CHECK_DEFECT(c, body->line, "body '%s': its pose is not a rotation and a translation",
                         body->name ? body->name : "");
        }
    }

    for (int i = 0; i < c->def->surface_count; ++i) {
        const pl_surface_def *s = &c->def->surface[i];
        if (s->body < 0 || s->body >= c->def->body_count) {
            CHECK_DEFECT(c, s->line, "surface '%s' belongs to body %d, there are %d", s->name ? s->name : "",
                         s->body, c->def->body_count);
        }
    }
}

// Constants that are possible and plausible, and regions that refer to materials.
static void check_materials(check *c)
{
    for (int i = 0; i < c->def->material_count; ++i) {
        const pl_material_def *m = &c->def->material[i];
        pl_error err;
        if (pl_material_check(&m->material, m->name ? m->name : "", &err) != PL_OK) {
            CHECK_DEFECT(c, m->line, "%s", err.text);
            continue;
        }

        // moduli: impossible values are defects, unusual ones warnings
        double mu, kappa;
        pl_material_moduli(&m->material, &mu, &kappa);
        // rubber laws are for rubber; the others may be a frame of steel
        const bool rubber = pl_material_is_rubber(m->material.model);
        if (!(mu < 1e9 && mu > 1e-9)) {
            CHECK_DEFECT(
                c, m->line,
                "material '%s': a shear modulus of %.3g MPa, no material has that (silicone: about 0.1)",
                m->name, mu);
        } else if (mu > (rubber ? 100 : 1e6) || mu < 1e-6) {
            CHECK_WARN(c, m->line,
                       "material '%s': a shear modulus of %.3g MPa is implausible (silicone: about 0.1)",
                       m->name, mu);
        }

        if (kappa > 1e7 * mu) {
            CHECK_WARN(c, m->line,
                       "material '%s': the bulk modulus is %.2g times the shear modulus, which loses "
                       "accuracy (rubber: about 1e4, poisson 0.49995)",
                       m->name, kappa / mu);
        }

        // t/mm^3: 1e-9 is water
        const double density = m->material.density;
        if (density > 3e-8 || (density > 0 && density < 1e-12)) {
            CHECK_WARN(c, m->line,
                       "material '%s': a density of %.4g kg/m^3 is implausible (silicone: about 1070)",
                       m->name, density * 1e12);
        }
    }

    // regions
    for (int i = 0; i < c->def->region_count; ++i) {
        const pl_region_def *r = &c->def->region[i];
        robot_check_reference(c, c->def->material, sizeof *c->def->material, c->def->material_count,
                              r->material, "regions", "material", r->line);
        if (!(r->rest_area >= 0 && r->rest_area <= 10) || !(r->rest_volume >= 0 && r->rest_volume <= 10) ||
            (r->rest_area > 0 && r->rest_area < 0.1) || (r->rest_volume > 0 && r->rest_volume < 0.1)) {
            CHECK_DEFECT(c, r->line,
                         "region '%s': rest_area %g and rest_volume %g, expected ratios between 0.1 and 10 "
                         "(0: the mesh is stress-free)",
                         r->region, r->rest_area, r->rest_volume);
        }
    }

    if (c->def->material_count == 0) {
        CHECK_DEFECT(c, c->def->body_count ? c->def->body[0].line : 0,
                     "'materials' is missing: no region has a material law");
    }
}

// One place, at least one axis, finite motions.
static void check_fixed(check *c)
{
    for (int i = 0; i < c->def->fixed_count; ++i) {
        const pl_fixed_def *f = &c->def->fixed[i];
        if ((f->surface != NULL) + (f->region != NULL) + f->has_box != 1) {
            CHECK_DEFECT(c, f->line, "fixed: expected exactly one of surface, region, box");
        }
        if (!f->axis[0] && !f->axis[1] && !f->axis[2]) {
            CHECK_DEFECT(c, f->line, "fixed: no axis is fixed");
        }
        if (!robot_check_finite(f->move, 3) || !robot_check_finite(f->rotate, 3) ||
            !robot_check_finite(f->about, 3)) {
            CHECK_DEFECT(c, f->line, "fixed: move, rotate and about must be finite");
        }
    }
}

// Markers and sensors.
static void check_readings(check *c)
{
    const pl_robot_def *d = c->def;
    for (int i = 0; i < d->marker_count; ++i) {
        const pl_marker_def *m = &d->marker[i];
        if (!m->surface && !robot_check_finite(m->at, 3)) {
            CHECK_DEFECT(c, m->line, "marker '%s': its position is not finite", m->name ? m->name : "");
        }
        if (!(m->radius >= 0) || !isfinite(m->radius)) {
            CHECK_DEFECT(c, m->line, "marker '%s': the radius is %g mm", m->name ? m->name : "", m->radius);
        }
    }

    for (int i = 0; i < d->sensor_count; ++i) {
        const pl_sensor_def *s = &d->sensor[i];
        const char *name = s->name ? s->name : "";
        if (pl_sensor_is_line(s->kind)) {
            robot_check_guides(c, "sensor", name, s->guide, s->guide_count, s->radius, s->line);
            continue;
        }

        const int a = robot_check_reference(c, d->actuator, sizeof *d->actuator, d->actuator_count,
                                            s->actuator, "sensors", "actuator", s->line);
        const pl_actuator_kind of = pl_sensor_traits_get(s->kind)->of;
        if (a >= 0 && d->actuator[a].kind != of) {
            CHECK_DEFECT(c, s->line, "sensor '%s' measures a %s, but '%s' is a %s", name,
                         pl_actuator_kind_name(of), s->actuator, pl_actuator_kind_name(d->actuator[a].kind));
        }
    }
}

// Forces at markers, pressures on surfaces, gravity and who is heavy.
static void check_loads(check *c)
{
    const pl_robot_def *d = c->def;
    for (int i = 0; i < d->force_count; ++i) {
        const pl_force_def *f = &d->force[i];
        robot_check_reference(c, d->marker, sizeof *d->marker, d->marker_count, f->marker, "loads", "marker",
                              f->line);
        if (!robot_check_finite(f->force, 3) || !robot_check_finite(f->moment, 3)) {
            CHECK_DEFECT(c, f->line, "loads: force and moment must be finite");
        }
    }

    for (int i = 0; i < d->pressure_count; ++i) {
        const pl_surface_pressure_def *p = &d->pressure[i];
        if (!p->surface || !isfinite(p->pressure)) {
            CHECK_DEFECT(c, p->line, "loads: a pressure needs a surface and a finite value");
        } else if (fabs(p->pressure) > 1) {
            CHECK_WARN(c, p->line, "loads: a pressure of %g kPa is implausible for a soft body",
                       1e3 * p->pressure);
        }
    }

    // gravity needs a density
    const double g = pl_norm3(d->gravity);
    if (!isfinite(g)) {
        CHECK_DEFECT(c, 0, "loads: gravity must be finite");
    } else if (g > 1e5) {
        CHECK_WARN(c, 0, "loads: gravity of %g m/s^2 is implausible (on earth: 9.81)", 1e-3 * g);
    }

    bool heavy = g == 0 || d->material_count == 0;
    for (int i = 0; i < d->material_count; ++i) {
        heavy = heavy || d->material[i].material.density > 0;
    }
    if (!heavy) {
        CHECK_WARN(c, d->material[0].line, "gravity is given, but no material has a density");
    }
}

// Ends, stiffness and rest length.
static void check_springs(check *c)
{
    const pl_robot_def *d = c->def;
    for (int i = 0; i < d->spring_count; ++i) {
        const pl_spring_def *s = &d->spring[i];
        const char *name = s->name ? s->name : "";
        const int from = robot_check_reference(c, d->marker, sizeof *d->marker, d->marker_count, s->from,
                                               "springs", "marker", s->line);
        if (s->to) {
            const int to = robot_check_reference(c, d->marker, sizeof *d->marker, d->marker_count, s->to,
                                                 "springs", "marker", s->line);
            if (from >= 0 && from == to) {
                CHECK_DEFECT(c, s->line, "spring '%s' goes from marker '%s' to itself", name, s->to);
            }
        } else if (!robot_check_finite(s->point, 3)) {
            CHECK_DEFECT(c, s->line, "spring '%s': the point it is fixed to is not finite", name);
        }
        if (!(s->stiffness > 0) || !isfinite(s->stiffness)) {
            CHECK_DEFECT(c, s->line, "spring '%s': the stiffness is %g N/mm, must be above 0", name,
                         s->stiffness);
        }

        if (s->has_rest && (!(s->rest >= 0) || !isfinite(s->rest))) {
            CHECK_DEFECT(c, s->line, "spring '%s': the rest length is %g mm, must be 0 or more", name,
                         s->rest);
        }
    }
}

// A free body has a mass and a finite shape, and no command moves it: only a force can.
static void check_free(check *c, const pl_obstacle_def *o)
{
    const char *name = o->name ? o->name : "";
    if (!o->free) {
        if (o->mass != 0 || o->density != 0 || o->pulled) {
            CHECK_DEFECT(c, o->line, "obstacle '%s' has a %s but is not `free`", name,
                         o->pulled      ? "pull"
                         : o->mass != 0 ? "mass"
                                        : "density");
        }

        return;
    }

    const robot_obstacle_row *kind = robot_obstacle_kind(o->kind);
    if (!kind->measure || o->hollow || (kind->has_length && !(o->length > 0))) {
        CHECK_DEFECT(c, o->line,
                     "obstacle '%s': a free body is a sphere, a box, a cylinder with a length or a closed "
                     "surface, and not hollow",
                     name);
    }

    if (o->moves) {
        CHECK_DEFECT(c, o->line, "obstacle '%s' is free, so no command can move it; `pull` it instead", name);
    }
    if (!(o->mass >= 0 && o->density >= 0 && isfinite(o->mass) && isfinite(o->density)) ||
        (o->mass > 0) == (o->density > 0)) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': a free body needs a mass or a density, above 0", name);
    }

    if (o->pulled && !(robot_check_finite(o->pull, 3) && pl_norm3(o->pull) > 0)) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': `pull`, the force per N of its command, is 0", name);
    }
}

// Shape, motion and name of one obstacle.
static void check_obstacle(check *c, const pl_obstacle_def *o)
{
    const char *name = o->name ? o->name : "";
    const robot_obstacle_row *kind = robot_obstacle_kind(o->kind);

    if (!robot_check_finite(o->point, 3) || !robot_check_finite(o->move, 3) ||
        !robot_check_finite(o->rotate, 3)) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': its place is not finite", name);
    }
    if (kind->direction && !(pl_norm3(o->direction) > 0 && robot_check_finite(o->direction, 3))) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': its %s has no direction", name, kind->direction);
    }
    if (kind->has_radius && !(o->radius > 0 && isfinite(o->radius))) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': the radius is %g mm, must be above 0", name, o->radius);
    }
    if (kind->has_length && !(o->length >= 0 && isfinite(o->length))) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': the length is %g mm, must be 0 (without end) or more", name,
                     o->length);
    }

    for (int i = 0; kind->has_size && i < 3; ++i) {
        if (!(o->size[i] > 0 && isfinite(o->size[i]))) {
            CHECK_DEFECT(c, o->line, "obstacle '%s': an edge of the box is %g mm, must be above 0", name,
                         o->size[i]);
            break;
        }
    }

    if (o->moves && !(pl_norm3(o->move) > 0)) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': it is moved by a command, but `move` is 0", name);
    }
    if (o->has_range && !(o->range[0] < o->range[1])) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': the range is from %g to %g %s", name, o->range[0],
                     o->range[1], o->pulled ? "N" : "mm");
    }

    check_free(c, o);

    // its command has its own name, which must not be taken
    const bool commanded = o->moves || o->pulled;
    for (int i = 0; commanded && i < c->def->actuator_count; ++i) {
        if (c->def->actuator[i].name && strcmp(c->def->actuator[i].name, name) == 0) {
            CHECK_DEFECT(c, o->line, "obstacle '%s' has the name of an actuator", name);
        }
    }

    for (int i = 0; commanded && i < c->def->command_count; ++i) {
        if (c->def->command[i].name && strcmp(c->def->command[i].name, name) == 0) {
            CHECK_DEFECT(c, o->line, "obstacle '%s' has the name of a command", name);
        }
    }

    if (name[0] && (strcmp(name, "self") == 0 || strchr(name, '/'))) {
        CHECK_DEFECT(c, o->line, "obstacle '%s': the name stands for contact between bodies; choose another",
                     name);
    }
}

// Obstacles and friction.
static void check_contact(check *c)
{
    const pl_contact_def *d = &c->def->contact;
    check_names(c, d->obstacle, sizeof *d->obstacle, d->obstacle_count, offsetof(pl_obstacle_def, line),
                "contact: obstacles");
    if (!(d->friction >= 0 && isfinite(d->friction))) {
        CHECK_DEFECT(c, d->line, "contact: friction is %g, must be 0 or more", d->friction);
    } else if (d->friction > 3) {
        CHECK_WARN(c, d->line, "contact: a friction coefficient of %g is implausible", d->friction);
    }

    for (int i = 0; i < d->obstacle_count; ++i) {
        check_obstacle(c, &d->obstacle[i]);
    }
}

// Where a layer or fibre lies: on a surface or between two regions.
static void check_ground(check *c, const char *what, const char *name, const char *surface,
                         const char *const between[2], int line)
{
    if ((surface != NULL) == (between[0] != NULL)) {
        CHECK_DEFECT(c, line, "%s '%s' needs exactly one of 'surface' and 'between'", what, name);
    } else if (between[0] && (!between[1] || strcmp(between[0], between[1]) == 0)) {
        CHECK_DEFECT(c, line, "%s '%s': 'between' needs two different regions", what, name);
    }
}

// How far something was stretched before it was bonded; 0: not given.
static void check_prestretch(check *c, const char *what, const char *name, double prestretch, int line)
{
    if (!(prestretch == 0 || (prestretch >= PRESTRETCH_MIN && prestretch <= PRESTRETCH_MAX))) {
        CHECK_DEFECT(c, line, "%s '%s': the prestretch is %g, expected %g to %g (1.05: stretched by 5 %%)",
                     what, name, prestretch, PRESTRETCH_MIN, PRESTRETCH_MAX);
    }
}

// Place, material, thickness; what a layer does not use is a warning.
static void check_layers(check *c)
{
    const pl_robot_def *d = c->def;
    for (int i = 0; i < d->layer_count; ++i) {
        const pl_layer_def *l = &d->layer[i];
        const char *name = l->name ? l->name : "";
        check_ground(c, "layer", name, l->surface, l->between, l->line);
        const int m = robot_check_reference(c, d->material, sizeof *d->material, d->material_count,
                                            l->material ? l->material : "", "layers", "material", l->line);
        if (!(l->thickness > 0) || !isfinite(l->thickness)) {
            CHECK_DEFECT(c, l->line, "layer '%s': the thickness is %g mm, must be above 0", name,
                         l->thickness);
        } else if (l->thickness > 5) {
            CHECK_WARN(c, l->line, "layer '%s' is %g mm thick: draw it as a region of the mesh", name,
                       l->thickness);
        }

        check_prestretch(c, "layer", name, l->prestretch, l->line);
        if (l->between[0] && l->side != PL_SIDE_MIDDLE) {
            CHECK_DEFECT(c, l->line, "layer '%s' lies between two regions: its side is 'middle'", name);
        }
        if (m >= 0 && d->material[m].material.density > 0) {
            CHECK_WARN(c, l->line, "layer '%s': layers are weightless, the density of '%s' is not used", name,
                       l->material);
        }
    }
}

// Place, stiffness, and what its kind needs: points, pitch or angle.
static void check_fibres(check *c)
{
    const pl_robot_def *d = c->def;
    for (int i = 0; i < d->fibre_count; ++i) {
        const pl_fibre_def *f = &d->fibre[i];
        const char *name = f->name ? f->name : "";
        check_ground(c, "fibre", name, f->surface, f->between, f->line);
        if (!(f->stiffness >= 0) || !isfinite(f->stiffness)) {
            CHECK_DEFECT(c, f->line, "fibre '%s': the stiffness is %g N, must not be negative", name,
                         f->stiffness);
        }

        check_prestretch(c, "fibre", name, f->prestretch, f->line);

        // a polyline has its points, a winding its axis
        if (f->kind == PL_FIBRE_LINE) {
            if (f->point_count < 2 || !robot_check_finite(f->point, 3 * f->point_count)) {
                CHECK_DEFECT(c, f->line, "fibre '%s' needs at least two points in 'through'", name);
            }
            continue;
        }

        if (!(pl_norm3(f->axis) > 0) || !robot_check_finite(f->axis, 3) || !robot_check_finite(f->about, 3)) {
            CHECK_DEFECT(c, f->line, "fibre '%s' needs an axis, a direction that is not 0", name);
        }
        if (f->kind == PL_FIBRE_RINGS && !(f->pitch > 0)) {
            CHECK_DEFECT(c, f->line, "fibre '%s': rings need a pitch above 0, their distance", name);
        }
        if (f->kind == PL_FIBRE_HELIX && (f->pitch > 0) == (f->angle != 0)) {
            CHECK_DEFECT(c, f->line, "fibre '%s': a helix needs exactly one of 'pitch' and 'angle'", name);
        }
        if (f->kind == PL_FIBRE_HELIX && f->angle != 0 && !(f->angle > 0 && f->angle < 0.5 * PL_PI)) {
            CHECK_DEFECT(c, f->line,
                         "fibre '%s': the angle to the axis is %.4g deg, must lie between 0 and 90 deg, both "
                         "excluded (for 90 deg use rings)",
                         name, f->angle * 180 / PL_PI);
        }

        // part of the body along the axis
        if (f->has_range && !(f->range[1] > f->range[0])) {
            CHECK_DEFECT(c, f->line, "fibre '%s': the range along the axis is empty", name);
        }
        if (f->starts < 0 || f->starts > 1000) {
            CHECK_DEFECT(c, f->line, "fibre '%s': %d starts, expected 1 to 1000", name, f->starts);
        }
    }
}

// Lists with a count must have items; everything after relies on it.
static bool check_counts(check *c)
{
    const pl_robot_def *d = c->def;
    const struct {
        const void *item;
        int count;
    } list[] = {{d->body, d->body_count},         {d->surface, d->surface_count},
                {d->material, d->material_count}, {d->region, d->region_count},
                {d->fixed, d->fixed_count},       {d->rigid, d->rigid_count},
                {d->actuator, d->actuator_count}, {d->command, d->command_count},
                {d->marker, d->marker_count},     {d->sensor, d->sensor_count},
                {d->force, d->force_count},       {d->pressure, d->pressure_count},
                {d->spring, d->spring_count},     {d->contact.obstacle, d->contact.obstacle_count},
                {d->layer, d->layer_count},       {d->fibre, d->fibre_count}};
    for (int i = 0; i < PL_COUNT(list); ++i) {
        if (list[i].count < 0 || (list[i].count > 0 && !list[i].item)) {
            CHECK_DEFECT(c, 0, "robot: a list of the def has a count of %d and %s", list[i].count,
                         list[i].item ? "items" : "no items");
            return false;
        }
    }

    if (d->body_count == 0) {
        CHECK_DEFECT(c, 0, "robot: there is no body");
        return false;
    }

    return true;
}

pl_status pl_robot_def_check(const pl_robot_def *def, pl_findings *findings)
{
    check c = {.def = def, .findings = findings};
    if (!check_counts(&c)) {
        return PL_OK;
    }

    // scratch for suggestions: the longest list that is referred to
    int64_t words = def->material_count;
    words = def->actuator_count > words ? def->actuator_count : words;
    words = def->marker_count > words ? def->marker_count : words;
    c.word = PL_NEW_ARRAY(const char *, words);
    c.driver = PL_NEW_ARRAY(int, def->actuator_count);

    if (!c.word || !c.driver) {
        pl_free(c.word);
        pl_free(c.driver);
        return PL_NO_MEMORY;
    }

    // independent of each other, so that one run reports all defects
    check_all_names(&c);
    check_bodies(&c);
    check_materials(&c);
    check_fixed(&c);
    robot_check_actuators(&c);
    robot_check_commands(&c);
    robot_check_hardware(def, findings);
    check_readings(&c);
    check_springs(&c);
    check_contact(&c);
    check_layers(&c);
    check_fibres(&c);
    check_loads(&c);
    pl_free(c.word);
    pl_free(c.driver);

    return PL_OK;
}
