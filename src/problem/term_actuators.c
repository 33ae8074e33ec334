// Actuators and functional loads in one solve: which mode, from where to where, what they weigh at a shape.
#include "statics/statics_impl.h"

static pl_status cable_functional(pl_functional *h, const pl_point *guide, int count)
{
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k + 1 < count; ++k) {
        const pl_point *a = &guide[k], *b = &guide[k + 1];
        status = pl_functional_add_segment(h, a->count, a->node, a->weight, a->rest, b->count, b->node,
                                           b->weight, b->rest);
    }
    return status;
}

static pl_status actuator_functional(const pl_statics *s, const pl_actuator *a, pl_functional *h)
{
    switch (a->kind) {
    case PL_CABLE:
        return cable_functional(h, a->guide, a->guide_count);
    case PL_CHAMBER:
        return pl_chamber_functional(s->robot->mesh, a, h);
    default:
        return pl_functional_add_area_faces(h, s->robot->mesh, a->face, a->face_count);
    }
}

static pl_status loads_create(pl_statics *s, pl_error *err)
{
    const pl_robot *robot = s->robot;
    s->load_term = PL_NEW_ARRAY(load_term, robot->force_count + robot->pressure_count);
    s->dead = PL_NEW_ARRAY(double, 3 * (int64_t)s->mesh.vertex_count);
    if (!s->load_term || !s->dead) {
        return pl_fail_memory(err, "statics: loads");
    }
    for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
        for (int i = 0; i < 3; ++i) {
            s->dead[3 * (int64_t)v + i] = s->elements->vertex_mass[v] * robot->gravity[i];
        }
    }
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < robot->force_count; ++k) {
        const pl_force *force = &robot->force[k];
        // forces act on the marker's own point, so that they do work exactly on its motion; moments on its
        // patch
        const pl_point *point = &robot->marker[force->marker].point,
                       *patch = &robot->marker[force->marker].patch;
        for (int32_t j = 0; j < point->count; ++j) {
            for (int i = 0; i < 3; ++i) {
                s->dead[3 * (int64_t)point->node[j] + i] += point->weight[j] * force->force[i];
            }
        }
        const double moment = pl_norm3(force->moment);
        if (moment > 0) {
            const double axis[3] = {force->moment[0] / moment, force->moment[1] / moment,
                                    force->moment[2] / moment};
            load_term *term = &s->load_term[s->load_term_count++];
            *term = (load_term){.factor = moment, .force = k, .pressure = -1};
            status = pl_functional_add_angle(&term->h, patch->count, patch->node, patch->weight,
                                             s->mesh.position, axis);
        }
    }
    for (int k = 0; status == PL_OK && k < robot->pressure_count; ++k) {
        load_term *term = &s->load_term[s->load_term_count++];
        *term = (load_term){.factor = robot->pressure[k].pressure, .force = -1, .pressure = k};
        status = statics_pressure_create(s, term, err);
    }
    if (status == PL_OK && s->has_open) {
        const int64_t n = 3 * (int64_t)s->mesh.vertex_count;
        s->dead_still = PL_NEW_ARRAY(double, n);
        if (!s->dead_still) {
            return pl_fail_memory(err, "statics: loads");
        }
        memcpy(s->dead_still, s->dead, (size_t)n * sizeof *s->dead);
    }
    return status;
}

pl_status statics_drives_create(pl_statics *s, pl_error *err)
{
    s->drive_count = s->robot->actuator_count;
    s->drive = PL_NEW_ARRAY(drive, s->drive_count);
    if (!s->drive) {
        return pl_fail_memory(err, "statics: actuators");
    }
    if (s->drive_count > STATICS_BORDERS) {
        return pl_fail(err, PL_BAD_INPUT, "statics: %d actuators, at most %d are possible", s->drive_count,
                       STATICS_BORDERS);
    }
    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        const pl_actuator *a = &s->robot->actuator[i];
        d->sign = a->kind == PL_CABLE ? 1 : -1;
        d->inequality = a->kind == PL_CABLE;
        d->row = PL_NEW_ARRAY(double, s->n);
        status = d->row ? actuator_functional(s, a, &d->h) : PL_NO_MEMORY;
    }
    if (status == PL_OK) {
        status = loads_create(s, err);
    }
    return status == PL_NO_MEMORY ? pl_fail_memory(err, "statics: actuators") : status;
}

void statics_drives_destroy(pl_statics *s)
{
    for (int i = 0; s->drive && i < s->drive_count; ++i) {
        pl_functional_clear(&s->drive[i].h);
        pl_functional_clear(&s->drive[i].grown);
        pl_free(s->drive[i].row);
    }
    for (int i = 0; s->load_term && i < s->load_term_count; ++i) {
        pl_functional_clear(&s->load_term[i].h);
    }
    pl_free(s->drive);
    pl_free(s->load_term);
    pl_free(s->dead);
    pl_free(s->dead_still);
}

static drive_mode drive_mode_of(const pl_actuator *a)
{
    static const drive_mode mode[] = {[PL_LAW_MEASURE] = MODE_CONSTRAINT,
                                      [PL_LAW_EFFORT] = MODE_EFFORT,
                                      [PL_LAW_GAS] = MODE_GAS,
                                      [PL_LAW_VOLTAGE] = MODE_VOLTAGE,
                                      [PL_LAW_GROWTH] = MODE_GROWTH};
    return mode[pl_actuator_law(a)];
}

// The volume pushed at which a line closed now holds its present pressure: p = amb (V0 + VL + q) / (V + VL) -
// amb.
static double gas_pushed(const pl_actuator *a, double volume, double pressure)
{
    return (pressure + a->ambient) * (volume + a->line_volume) / a->ambient - a->rest - a->line_volume;
}

void statics_drives_begin(pl_statics *s, const pl_state *state, const double *command)
{
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        const pl_actuator *a = &s->robot->actuator[i];
        const double now = pl_functional_value(&d->h, state->x);
        // not yet clamped: on the way, all actuators of one command stand where the command stands
        const double value = a->command >= 0 ? a->factor * command[a->command] : NAN;
        const double old = a->command >= 0 ? a->factor * state->command[a->command] : NAN;
        d->idle = isnan(value);
        d->one_sided = a->one_sided && !d->idle;
        d->slope = d->idle ? a->factor : pl_command_slope(a->factor, a->one_sided, command[a->command]);
        d->input = a->command >= 0 ? pl_actuator_value(a, command[a->command]) : NAN;
        d->effort = state->multiplier[i];
        if (a->growth) {
            d->mode = MODE_GROWTH;
            d->from = isnan(old) ? 1 : pl_actuator_goal(a, old);
            d->to = d->idle ? 1 : pl_actuator_goal(a, value);
        } else if (d->idle && a->idle_hold) {
            d->mode = MODE_CONSTRAINT;
            d->inequality = a->kind == PL_CABLE;
            d->from = d->inequality && state->active[i] == 0 ? a->rest : now;
            d->to = a->rest;
        } else if (d->idle) {
            d->mode = MODE_EFFORT; // let go: the effort it had fades
            d->from = state->multiplier[i];
            d->to = 0;
        } else {
            d->mode = drive_mode_of(a);
            d->to = pl_actuator_goal(a, value);
            d->inequality = a->kind == PL_CABLE;
            if (d->one_sided && !isnan(old)) {
                d->from = pl_actuator_goal(a, old);
            } else if (d->mode == MODE_CONSTRAINT) {
                // a slack cable starts from where its target was, everything else from its measure
                const bool was_slack = d->inequality && !isnan(old) && state->active[i] == 0;
                d->from = was_slack ? pl_actuator_goal(a, old) : now;
            } else if (d->mode == MODE_EFFORT) {
                d->from = state->multiplier[i];
            } else {
                d->from = !isnan(old)           ? pl_actuator_goal(a, old)
                          : d->mode == MODE_GAS ? gas_pushed(a, now, state->multiplier[i])
                                                : 0;
            }
        }
        // a taut cable that is being shortened takes hold at once; another one when it is stretched
        const bool taut = d->from <= now * (1 + 1e-9) && d->to < now * (1 - 1e-12);
        d->active = d->mode == MODE_CONSTRAINT && (!d->inequality || state->active[i] != 0 || taut);
    }
    s->load_from = state->load;
    s->load_to = 1;
}

void statics_drives_set(pl_statics *s, double at)
{
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        d->value = at >= 1 ? d->to : d->from + at * (d->to - d->from);
        d->way = d->value;
        if (d->one_sided) {
            const pl_actuator *a = &s->robot->actuator[i];
            const double rest = pl_actuator_goal(a, 0);
            d->value = pl_actuator_goal_rises(a) ? fmax(d->value, rest) : fmin(d->value, rest);
        }
    }
    s->load = at >= 1 ? s->load_to : s->load_from + at * (s->load_to - s->load_from);
    statics_grow(s);
}

// n R T of the gas in chamber and line: what filled them at ambient pressure, and what was pushed in
static double gas_amount(const pl_actuator *a, double pushed)
{
    return a->ambient * (a->rest + a->line_volume + pushed);
}

static double film_permittivity(const pl_actuator *a)
{
    return PL_VACUUM_PERMITTIVITY * a->permittivity / (a->rest * a->thickness); // eps / Vol
}

void drive_evaluate(drive *d, const pl_actuator *a, const double *x)
{
    d->measure = pl_functional_value(&d->h, x);
    d->curvature = d->grown.joint ? d->curvature : 0;
    if (d->mode == MODE_GROWTH) {
        d->effort = 0; // acts through its elements
    } else if (d->mode == MODE_EFFORT) {
        d->effort = d->value;
    } else if (d->mode == MODE_GAS) {
        const double V = d->measure + a->line_volume, nRT = gas_amount(a, d->value);
        d->effort = nRT / V - a->ambient; // -dPhi/dV
        d->curvature = nRT / (V * V);
    } else if (d->mode == MODE_VOLTAGE) {
        const double k = film_permittivity(a) * d->value * d->value;
        d->effort = k * d->measure; // -dPhi/dA
        d->curvature = -k;
    }
}

double drive_energy(const drive *d, const pl_actuator *a)
{
    switch (d->mode) {
    case MODE_EFFORT:
        return d->sign * d->value * d->measure;
    case MODE_GAS: {
        const double V = d->measure + a->line_volume;
        return V > 0
                   ? -gas_amount(a, d->value) * log(V / (a->rest + a->line_volume)) + a->ambient * d->measure
                   : INFINITY;
    }
    case MODE_VOLTAGE:
        return -0.5 * film_permittivity(a) * d->value * d->value * d->measure * d->measure;
    default:
        return 0;
    }
}

// By the actuator's own command value c: d(target)/dc for constraints, d(dPhi/dh)/dc for potentials.
void drive_command_derivative(const drive *d, const pl_actuator *a, double *target, double *force)
{
    *target = *force = 0;
    switch (d->mode) {
    case MODE_CONSTRAINT:
        *target = pl_actuator_goal_slope(a, d->input);
        break;
    case MODE_GROWTH:
        break;
    case MODE_EFFORT:
        *force = d->sign;
        break;
    case MODE_GAS:
        *force = -a->ambient / (d->measure + a->line_volume);
        break;
    case MODE_VOLTAGE:
        *force = -2 * film_permittivity(a) * d->value * d->measure;
        break;
    }
}

pl_status statics_drives_check(const pl_statics *s, const double *command, pl_error *err)
{
    for (int i = 0; i < s->drive_count; ++i) {
        const pl_actuator *a = &s->robot->actuator[i];
        const double value = a->command >= 0 ? pl_actuator_value(a, command[a->command]) : NAN;
        if (isnan(value)) {
            continue;
        }
        const pl_status status = pl_actuator_check(a, value, err);
        if (status != PL_OK) {
            return status;
        }
        const double goal = pl_actuator_goal(a, value);
        if (!isfinite(goal)) {
            return pl_fail(err, PL_BAD_INPUT, "actuator '%s': the command is infinite", a->name);
        }
        if (a->growth && a->kind == PL_CABLE && goal > 1) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "actuator '%s': the command asks for %g of the rest length, and a cable cannot push: "
                "expected at most 1",
                a->name, goal);
        }
        if (statics_is_grown(s, i) && !(goal > statics_grown_least(s, i))) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "actuator '%s': the command asks for a ratio of %g; its elements can grow above %g only",
                a->name, goal, statics_grown_least(s, i));
        }
        if ((drive_mode_of(a) == MODE_CONSTRAINT || a->growth) && goal <= 0) {
            return pl_fail(err, PL_BAD_INPUT,
                           "actuator '%s': the command asks for a measure of %g, must be > 0 (at rest %g)",
                           a->name, goal, a->rest);
        }
    }
    return PL_OK;
}

double drive_command_value(const pl_statics *s, int i)
{
    const pl_actuator *a = &s->robot->actuator[i];
    return pl_actuator_goal_inverse(a, s->drive[i].way) / a->factor;
}
