// Actuators and dead loads in one solve: the measure of each on the corner mesh, what a command asks of it,
// the forces of those driven by effort and the rows of those that are constraints.
#include "geometric/geometric_impl.h"

#define STEP_LIMIT 0.05 // of the rest measure: how far a constraint moves in one iteration

static pl_status chamber_functional(pl_geometric *g, const pl_actuator *a, pl_functional *h)
{
    pl_status status = pl_functional_add_volume_faces(h, g->corner, a->face, a->face_count);
    for (int k = 0; status == PL_OK && k < a->rim_count; ++k) {
        const int32_t first = a->rim_start[k], count = a->rim_start[k + 1] - first;
        const int step = a->rim_quadratic ? 2 : 1;
        int32_t *node = PL_NEW_ARRAY(int32_t, count / step);
        for (int32_t j = 0; node && j < count / step; ++j) {
            node[j] = g->corner_of[a->rim_node[first + j * step]];
        }
        status = node ? pl_functional_add_rim(h, node, count / step, false, NULL) : PL_NO_MEMORY;
        pl_free(node);
    }
    return status;
}

static pl_status drive_functional(pl_geometric *g, int i)
{
    const pl_actuator *a = &g->robot->actuator[i];
    geo_drive *d = &g->drive[i];
    if (a->kind == PL_CHAMBER) {
        return chamber_functional(g, a, &d->h);
    }
    if (a->kind == PL_FILM) {
        return pl_functional_add_area_faces(&d->h, g->corner, a->face, a->face_count);
    }
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k + 1 < a->guide_count; ++k) {
        const pl_point *p = &d->guide[k], *q = &d->guide[k + 1];
        status = pl_functional_add_segment(&d->h, p->count, p->node, p->weight, p->rest, q->count, q->node,
                                           q->weight, q->rest);
    }
    return status;
}

static bool drive_is_measure(const pl_actuator *a)
{
    return a->growth || a->table.count > 0 || pl_drive_is_geometric(a->drive) ||
           (a->drive == PL_DRIVE_SYRINGE && a->liquid);
}

// Elements that can grow for an actuator.
static bool drive_has_elements(const pl_geometric *g, const pl_actuator *a)
{
    if (a->kind == PL_CABLE) {
        return true;
    }
    if (a->growth && a->region >= 0) {
        return true;
    }
    if (a->kind == PL_CHAMBER) {
        return a->fill_count > 0;
    }
    for (int64_t k = 0; k < a->face_count; ++k) {
        if (g->mesh.kind[a->face[k] / 8] != PL_PRISM6) {
            return false;
        }
    }
    return a->face_count > 0;
}

static pl_status drive_choose(pl_geometric *g, int i, pl_error *err)
{
    const pl_actuator *a = &g->robot->actuator[i];
    geo_drive *d = &g->drive[i];
    const bool can = drive_has_elements(g, a);
    if (g->options.actuation == PL_ACTUATE_GROWTH && !can) {
        return pl_fail(err, PL_BAD_INPUT, "local_global: %s '%s' has no actuation elements to grow%s",
                       pl_actuator_kind_name(a->kind), a->name,
                       a->kind == PL_CHAMBER
                           ? "; mesh its cavity (mesh: {fill: true}) or use actuation: constraint"
                           : ": its faces belong to tets, and a film grows as prisms");
    }
    // a cable is exact as a constraint, and no dearer: it grows where it is told to
    d->has_elements = can && g->options.actuation != PL_ACTUATE_CONSTRAINT &&
                      (g->options.actuation == PL_ACTUATE_GROWTH || a->growth ||
                       (a->kind != PL_CABLE && drive_is_measure(a)));
    return PL_OK;
}

// Gravity by the share of every element's volume, forces on the markers' points.
static pl_status loads_create(pl_geometric *g, pl_error *err)
{
    const pl_robot *robot = g->robot;
    g->dead = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
    if (!g->dead) {
        return pl_fail_memory(err, "local_global: loads");
    }
    bool any = robot->force_count > 0;
    const pl_mesh_view *v = &g->mesh;
    for (int32_t e = 0; e < v->element_count && pl_norm3(robot->gravity) > 0; ++e) {
        const double density = robot->material[robot->region_material[v->region[e]]].density;
        const int n = (int)(v->node_start[e + 1] - v->node_start[e]);
        double x[3 * PL_ELEMENT_NODES_MAX];
        pl_mesh_gather(g->corner, e, x);
        const double mass = density * pl_element_volume((pl_element_kind)v->kind[e], x) / n;
        any = any || mass > 0;
        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 3; ++i) {
                g->dead[3 * (size_t)v->node[v->node_start[e] + a] + (size_t)i] += mass * robot->gravity[i];
            }
        }
    }
    for (int k = 0; k < robot->force_count; ++k) {
        const pl_force *force = &robot->force[k];
        const pl_point *point = &robot->marker[force->marker].point;
        if (pl_norm3(force->moment) > 0) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "local_global: the moment on marker '%s' has no place in this method; use method: exact",
                robot->marker[force->marker].name);
        }
        for (int32_t j = 0; j < point->count; ++j) {
            const int32_t c = g->corner_of[point->node[j]];
            const geo_mid *mid = c < 0 ? &g->mid[-1 - c] : NULL;
            for (int i = 0; i < 3; ++i) {
                const double f = point->weight[j] * force->force[i];
                if (mid) {
                    g->dead[3 * (size_t)mid->a + (size_t)i] += 0.5 * f;
                    g->dead[3 * (size_t)mid->b + (size_t)i] += 0.5 * f;
                } else {
                    g->dead[3 * (size_t)c + (size_t)i] += f;
                }
            }
        }
    }
    if (robot->pressure_count > 0) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "local_global: pressures on surfaces (loads.pressures) have no place in this method; use "
            "method: exact");
    }
    if (any && g->options.metric == PL_METRIC_VERTEX) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "local_global: the vertex metric has no unit of force, so gravity and forces mean nothing "
            "in it; use metric: gradient");
    }
    return PL_OK;
}

pl_status geo_drives_create(pl_geometric *g, pl_error *err)
{
    g->drive_count = g->robot->actuator_count;
    g->drive = PL_NEW_ARRAY(geo_drive, g->drive_count);
    pl_status status = g->drive ? geo_guides_create(g, err) : pl_fail_memory(err, "local_global: actuators");
    if (status == PL_OK && g->drive_count > GEO_ROWS) {
        status = pl_fail(err, PL_BAD_INPUT, "local_global: %d actuators, at most %d are possible",
                         g->drive_count, GEO_ROWS);
    }
    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        d->sign = g->robot->actuator[i].kind == PL_CABLE ? 1 : -1;
        d->asked = NAN;
        d->row = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
        d->row_old = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
        d->z = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
        status = d->row && d->row_old && d->z ? drive_functional(g, i) : PL_NO_MEMORY;
        if (status != PL_OK) {
            return pl_fail_memory(err, "local_global: actuators");
        }
        d->rest = pl_functional_value(&d->h, g->X);
        status = drive_choose(g, i, err);
    }
    return status == PL_OK ? loads_create(g, err) : status;
}

void geo_drives_destroy(pl_geometric *g)
{
    for (int i = 0; g->drive && i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        for (int k = 0; d->guide && k < g->robot->actuator[i].guide_count; ++k) {
            pl_point_clear(&d->guide[k]);
        }
        pl_free(d->guide);
        pl_functional_clear(&d->h);
        pl_free(d->row);
        pl_free(d->row_old);
        pl_free(d->z);
    }
    pl_free(g->drive);
    pl_free(g->dead);
}

// The measure a value of the drive asks for, on the corner mesh.
static double drive_goal(const pl_actuator *a, double rest, double value)
{
    if (a->table.count > 0) {
        return rest * pl_monotone_value(&a->table, value, NULL);
    }
    switch (a->drive) {
    case PL_DRIVE_LENGTH_RATIO:
    case PL_DRIVE_VOLUME_RATIO:
    case PL_DRIVE_AREA_RATIO:
        return value * rest;
    case PL_DRIVE_SHORTENING:
        return rest - value;
    case PL_DRIVE_SYRINGE:
        return rest + value;
    default:
        return value * rest / a->rest;
    }
}

static pl_status drive_begin(pl_geometric *g, int i, double value, pl_error *err)
{
    const pl_actuator *a = &g->robot->actuator[i];
    geo_drive *d = &g->drive[i];
    d->target = NAN;
    d->effort = 0;
    d->mode = GEO_IDLE;
    if (!isnan(d->asked)) {
        d->target = d->asked * d->rest;
    } else if (isnan(value)) {
        d->target = a->idle_hold ? d->rest : NAN;
    } else if (drive_is_measure(a)) {
        d->target = drive_goal(a, d->rest, value);
    } else if (a->drive == PL_DRIVE_TENSION || a->drive == PL_DRIVE_PRESSURE) {
        if (g->options.metric == PL_METRIC_VERTEX || d->has_elements) {
            return pl_fail(
                err, PL_BAD_INPUT, "local_global: '%s' is driven by %s, and %s; drive it by its %s", a->name,
                pl_drive_name(a->drive),
                d->has_elements ? "growth knows no effort" : "the vertex metric has no unit of force",
                a->kind == PL_CABLE ? "length_ratio" : "volume_ratio");
        }
        d->mode = GEO_FORCE;
        d->effort = value;
        return PL_OK;
    } else {
        return pl_fail(
            err, PL_BAD_INPUT,
            "local_global: '%s' is driven by %s, which this method does not know; use method: exact", a->name,
            pl_drive_name(a->drive));
    }
    if (!isnan(d->target)) {
        if (!(d->target > 0 && isfinite(d->target))) {
            return pl_fail(err, PL_BAD_INPUT, "'%s': a measure of %g is asked for, must be above 0", a->name,
                           d->target);
        }
        d->mode = d->has_elements ? GEO_GROWTH : GEO_CONSTRAINT;
        const double rigid = d->mode == GEO_GROWTH && d->sign > 0 ? geo_cable_rigid(g, d) : 0;
        if (d->target <= rigid) {
            return pl_fail(err, PL_BAD_INPUT,
                           "local_global: '%s' is asked for a length of %g mm, and the pieces of it that no "
                           "triangle shrinks are %g mm long; ask for more, or use actuation: constraint",
                           a->name, d->target, rigid);
        }
    }
    return PL_OK;
}

pl_status geo_drives_begin(pl_geometric *g, const double *command, pl_error *err)
{
    pl_status status = PL_OK;
    bool ratios = true;
    geo_growth_reset(g);
    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        const pl_actuator *a = &g->robot->actuator[i];
        status = drive_begin(g, i, a->command >= 0 ? pl_actuator_value(a, command[a->command]) : NAN, err);
        ratios =
            ratios && (g->drive[i].mode != GEO_GROWTH || g->options.distribution != PL_RATIOS_LEAST_NORM);
    }
    g->potential = ratios && g->options.form == PL_FORM_MU_LAMBDA;
    return status;
}

double geo_drives_force(pl_geometric *g, const double *x, double *f)
{
    double energy = 0;
    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        energy -= g->dead[i] * (x[i] - g->X[i]);
        if (f) {
            f[i] -= g->dead[i];
        }
    }
    for (int i = 0; i < g->drive_count; ++i) {
        const geo_drive *d = &g->drive[i];
        if (d->mode == GEO_FORCE) {
            energy += d->sign * d->effort * pl_functional_value(&d->h, x);
            if (f) {
                pl_functional_gradient(&d->h, x, d->sign * d->effort, f);
            }
        }
    }
    return energy;
}

void geo_drives_measure(pl_geometric *g, const double *x)
{
    for (int i = 0; i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        d->measure = pl_functional_value(&d->h, x);
        if (d->mode != GEO_CONSTRAINT) {
            continue;
        }
        const double limit = STEP_LIMIT * d->rest;
        d->gap = fmin(limit, fmax(-limit, d->target - d->measure));
        memset(d->row, 0, 3 * (size_t)g->vertex_count * sizeof *d->row);
        pl_functional_gradient(&d->h, x, 1, d->row);
    }
}
