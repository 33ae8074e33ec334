// Actuators in one solve: the measure of each on the corner mesh, what a command asks of it, the forces of
// those driven by effort and the rows of those that are constraints or stiffen.
#include "geometric/geometric_impl.h"
#include "robot/robot_kind.h"

#define STEP_LIMIT 0.05 // of the rest measure: how far a constraint moves in one iteration

static pl_status chamber_functional(pl_geometric *g, const pl_actuator *a, pl_functional *h)
{
    const pl_status status = pl_functional_add_volume_faces(h, g->corner, a->face, a->face_count);
    return status == PL_OK ? pl_chamber_caps(a, g->map.corner_of, h) : status;
}

static pl_status drive_functional(pl_geometric *g, int i)
{
    const pl_actuator *a = &g->robot->actuator[i];
    geo_drive *d = &g->drive[i];

    if (pl_actuator_encloses(a->kind)) {
        return chamber_functional(g, a, &d->h);
    }

    if (pl_actuator_growth_form(a->kind) == PL_GROWTH_AREA) {
        const pl_status status = pl_film_functional(g->corner, a, PL_FILM_AREA, &d->h);
        return status == PL_OK && pl_actuator_law(a) == PL_LAW_VOLTAGE
                   ? pl_film_functional(g->corner, a, PL_FILM_CHARGE, &d->charge)
                   : status;
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
    const pl_drive_law law = pl_actuator_law(a);
    return law == PL_LAW_MEASURE || law == PL_LAW_GROWTH;
}

// Elements that can grow for an actuator.
static bool drive_has_elements(const pl_geometric *g, const pl_actuator *a)
{
    if (pl_actuator_growth_form(a->kind) == PL_GROWTH_LINE) {
        return true;
    }
    if (a->growth && a->region >= 0) {
        return true;
    }
    if (pl_actuator_encloses(a->kind)) {
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
                       pl_actuator_encloses(a->kind)
                           ? "; mesh its cavity (mesh: {fill: true}) or use actuation: constraint"
                           : ": its faces belong to tets, but growth of a film needs prisms");
    }

    // a cable is exact as a constraint, and no dearer: it grows where it is reported to
    d->has_elements = can && g->options.actuation != PL_ACTUATE_CONSTRAINT &&
                      (g->options.actuation == PL_ACTUATE_GROWTH || a->growth ||
                       (pl_actuator_growth_form(a->kind) != PL_GROWTH_LINE && drive_is_measure(a)));

    return PL_OK;
}

pl_status geo_drives_create(pl_geometric *g, pl_error *err)
{
    g->drive_count = g->robot->actuator_count;
    g->drive = PL_NEW_ARRAY(geo_drive, g->drive_count);
    pl_status status = g->drive ? geo_guides_create(g, err) : pl_fail_memory(err, "local_global: actuators");
    if (status == PL_OK && g->drive_count > GEO_ROWS) {
        status = pl_fail(err, PL_BAD_INPUT, "local_global: %d actuators, the limit is %d", g->drive_count,
                         GEO_ROWS);
    }

    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        if (pl_actuator_kind_get(g->robot->actuator[i].kind)->place == PL_PLACE_REGION) {
            return pl_fail(err, PL_BAD_INPUT, "local_global: '%s' is a %s, which only the method exact has",
                           g->robot->actuator[i].name, pl_actuator_kind_name(g->robot->actuator[i].kind));
        }

        if (g->robot->actuator[i].friction > 0) {
            return pl_fail(err, PL_BAD_INPUT,
                           "local_global: the friction of cable '%s' is in the method exact only",
                           g->robot->actuator[i].name);
        }

        d->sign = pl_actuator_kind_get(g->robot->actuator[i].kind)->sign;
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

    return status == PL_OK ? geo_loads_create(g, err) : status;
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
        pl_functional_clear(&d->charge);
        pl_free(d->row);
        pl_free(d->row_old);
        pl_free(d->z);
    }

    pl_free(g->drive);
}

// A drive by effort: tension, pressure, gas, voltage.
static pl_status drive_push(pl_geometric *g, int i, double value, pl_error *err)
{
    const pl_actuator *a = &g->robot->actuator[i];
    geo_drive *d = &g->drive[i];

    if (g->options.metric == PL_METRIC_VERTEX || d->has_elements) {
        return pl_fail(err, PL_BAD_INPUT,
                       "local_global: '%s' is driven by %s, and %s; drive it by its %s_ratio", a->name,
                       pl_drive_name(a->drive),
                       d->has_elements ? "growth has no effort" : "the vertex metric has no unit of force",
                       pl_actuator_kind_get(a->kind)->measure);
    }

    if (pl_actuator_law(a) == PL_LAW_GAS) {
        d->mode = GEO_GAS;
        d->value = a->ambient * (d->rest + a->line_volume + value);
    } else if (pl_actuator_law(a) == PL_LAW_VOLTAGE) {
        d->mode = GEO_VOLTAGE;
        d->value = PL_VACUUM_PERMITTIVITY * a->permittivity * value * value / (a->thickness * a->thickness);
    } else {
        d->mode = GEO_FORCE;
        d->effort = value;
    }

    return PL_OK;
}

// The ratio at which a film that grows answers a voltage.
static pl_status drive_charge(pl_geometric *g, int i, double voltage, pl_error *err)
{
    const pl_actuator *a = &g->robot->actuator[i];
    const int32_t region = g->mesh.region[a->face[0] / 8];
    double highest;
    const double ratio = geo_film_ratio(&g->robot->material[g->robot->region_material[region]], a->thickness,
                                        PL_VACUUM_PERMITTIVITY * a->permittivity, voltage, &highest);

    if (isnan(ratio)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "local_global: '%s' is set to %g V, but from %.6g V a free film of its material thins "
                       "without limit",
                       a->name, voltage, highest);
    }

    g->drive[i].target = ratio * g->drive[i].rest;

    return PL_OK;
}

static pl_status drive_begin(pl_geometric *g, int i, double value, pl_error *err)
{
    const pl_actuator *a = &g->robot->actuator[i];
    geo_drive *d = &g->drive[i];

    d->target = NAN;
    d->effort = 0;
    d->mode = GEO_IDLE;
    pl_status status = isnan(value) || !isnan(d->asked) ? PL_OK : pl_actuator_check(a, value, err);
    if (!isnan(d->asked)) {
        d->target = d->asked * d->rest;
    } else if (isnan(value)) {
        d->target = a->idle_hold ? d->rest : NAN;
    } else if (drive_is_measure(a)) {
        d->target = pl_actuator_target(a, d->rest, value);
    } else if (status == PL_OK && pl_actuator_law(a) == PL_LAW_VOLTAGE && d->has_elements) {
        status = drive_charge(g, i, value, err);
    } else if (status == PL_OK) {
        status = drive_push(g, i, value, err);
    }

    if (status != PL_OK || isnan(d->target)) {
        return status;
    }
    if (!(d->target > 0 && isfinite(d->target))) {
        return pl_fail(err, PL_BAD_INPUT, "'%s': the prescribed measure is %g, must be above 0", a->name,
                       d->target);
    }

    d->mode = d->has_elements ? GEO_GROWTH : GEO_CONSTRAINT;
    const double rigid = d->mode == GEO_GROWTH && d->sign > 0 ? geo_cable_rigid(g, d) : 0;
    if (d->target <= rigid) {
        return pl_fail(err, PL_BAD_INPUT,
                       "local_global: '%s' is set to a length of %g mm, but its pieces without a triangle "
                       "are already %g mm long; use a larger length, or actuation: constraint",
                       a->name, d->target, rigid);
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

    g->potential = ratios && geo_loads_derive(g) && g->options.form == PL_FORM_MU_LAMBDA;

    return status;
}

// Gas in chamber and line; a chamber turned inside out is no volume.
static double gas_volume(const geo_drive *d, const pl_actuator *a)
{
    return fmax(d->measure + a->line_volume, 1e-3 * (d->rest + a->line_volume));
}

// What drives by effort push with at their present measure, and their energy:
//   gas -n R T ln(V + V_line) + p_ambient V,   charged film -(eps / 2) (U / t)^2 int J N . C^-1 N dV
static double drive_energy(geo_drive *d, const pl_actuator *a, const double *x)
{
    if (d->mode == GEO_FORCE) {
        return d->sign * d->effort * d->measure;
    }

    if (d->mode == GEO_GAS) {
        const double V = gas_volume(d, a);
        d->effort = d->value / V - a->ambient;
        d->yielding = V * V / d->value;
        return -d->value * log(V / (d->rest + a->line_volume)) + a->ambient * d->measure;
    }

    if (d->mode == GEO_VOLTAGE) {
        const double charge = pl_functional_value(&d->charge, x);
        d->effort = d->value * charge / d->measure;
        return -0.5 * d->value * charge;
    }

    return 0;
}

double geo_drives_force(pl_geometric *g, const double *x, double *f)
{
    double energy = 0;
    for (int i = 0; i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        d->measure = pl_functional_value(&d->h, x);
        energy += drive_energy(d, &g->robot->actuator[i], x);
        if (f && d->mode == GEO_VOLTAGE) {
            pl_functional_gradient(&d->charge, x, -0.5 * d->value, f);
        } else if (f && (d->mode == GEO_FORCE || d->mode == GEO_GAS)) {
            pl_functional_gradient(&d->h, x, d->sign * d->effort, f);
        }
        if (d->mode == GEO_CONSTRAINT || d->mode == GEO_GAS) {
            const double limit = STEP_LIMIT * d->rest;
            d->gap = d->mode == GEO_GAS ? 0 : fmin(limit, fmax(-limit, d->target - d->measure));
            d->yielding = d->mode == GEO_GAS ? d->yielding : 0;
            memset(d->row, 0, 3 * (size_t)g->vertex_count * sizeof *d->row);
            pl_functional_gradient(&d->h, x, 1, d->row);
            geo_rigid_project(g, d->row);
        }
    }

    return energy;
}
