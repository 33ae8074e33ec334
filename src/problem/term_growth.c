// Stress-free shapes in a solve: regions that differ from the drawing come with the dead loads (0 at rest, 1
// in full), actuators that grow with their commands. The ratio of a region is A = a(load) g(command).
//
// The effort of such an actuator is what pushes its ratio on: e = dE/d(g m0), m0 its rest measure; at
// equilibrium that is the derivative of the whole elastic energy by the volume (a pressure) or area asked
// for.
#include "statics/statics_impl.h"

pl_status statics_growth_create(pl_statics *s, pl_error *err)
{
    const int32_t regions = s->mesh.region_count;
    s->growth = PL_NEW_ARRAY(pl_growth, regions);
    if (!s->growth) {
        return pl_fail_memory(err, "statics: growth");
    }
    for (int32_t k = 0; k < 2 * regions; ++k) {
        s->grows = s->grows || s->robot->region_rest[k] != 1;
    }
    for (int i = 0; i < s->robot->actuator_count; ++i) {
        s->grows = s->grows || s->robot->actuator[i].growth;
    }
    return PL_OK;
}

static double growth_ramp(const pl_statics *s, int32_t region, int part, double load)
{
    return 1 + load * (s->robot->region_rest[2 * region + part] - 1);
}

// How much of a region's ratio is its own, not the actuator's.
static double growth_own(const pl_statics *s, const pl_actuator *a, double load)
{
    return growth_ramp(s, a->region, a->kind == PL_FILM, load);
}

static void growth_begin(pl_statics *s, double load)
{
    for (int32_t r = 0; r < s->mesh.region_count; ++r) {
        s->growth[r] = (pl_growth){growth_ramp(s, r, 0, load), growth_ramp(s, r, 1, load)};
    }
}

static void growth_multiply(pl_statics *s, int i, double ratio)
{
    const pl_actuator *a = &s->robot->actuator[i];
    if (statics_is_grown(s, i)) {
        const bool changed = statics_grown_ask(s, i, ratio);
        s->exact_factor = s->exact_factor && !changed;
        return;
    }
    *(a->kind == PL_FILM ? &s->growth[a->region].area : &s->growth[a->region].volume) *= ratio;
}

static void growth_apply(pl_statics *s)
{
    if (memcmp(s->growth, s->elements->growth, (size_t)s->mesh.region_count * sizeof *s->growth) != 0) {
        pl_error err;
        s->growth_failed = pl_elements_grow(s->elements, &s->mesh, s->growth, &err) != PL_OK;
        s->exact_factor = false;
        statics_warp_update(s);
    }
}

void statics_grow(pl_statics *s)
{
    if (!s->grows) {
        return;
    }
    growth_begin(s, s->load);
    for (int i = 0; i < s->drive_count; ++i) {
        if (s->robot->actuator[i].growth) {
            growth_multiply(s, i, s->drive[i].value);
        }
    }
    growth_apply(s);
}

void statics_grow_to(pl_statics *s, const pl_state *state)
{
    if (!s->grows) {
        return;
    }
    growth_begin(s, state->load);
    for (int i = 0; i < s->robot->actuator_count; ++i) {
        const pl_actuator *a = &s->robot->actuator[i];
        const double value = a->command >= 0 ? pl_actuator_value(a, state->command[a->command]) : NAN;
        if (a->growth && !isnan(value)) {
            growth_multiply(s, i, pl_actuator_goal(a, value));
        }
    }
    growth_apply(s);
}

pl_growth_kind statics_growth_kind(const pl_actuator *a)
{
    return a->kind == PL_FILM ? PL_GROW_AREA : PL_GROW_VOLUME;
}

double statics_growth_effort(pl_statics *s, int i, const double *x, double load, double *by_ratio,
                             double scale, double *by_position)
{
    if (statics_is_grown(s, i)) {
        return statics_grown_effort(s, i, x, by_ratio, scale, by_position);
    }
    const pl_actuator *a = &s->robot->actuator[i];
    const double own = growth_own(s, a, load);
    double rate[2];
    pl_elements_growth_rate(s->elements, &s->mesh, a->region, statics_growth_kind(a), x, rate,
                            scale * own / a->rest, by_position);
    if (by_ratio) {
        *by_ratio = own * own * rate[1] / a->rest;
    }
    return own * rate[0] / a->rest;
}

double statics_growth_rate(pl_statics *s, int i, const double *x, double load)
{
    return statics_is_grown(s, i)
               ? statics_grown_rate(s, i, x)
               : s->robot->actuator[i].rest * statics_growth_effort(s, i, x, load, NULL, 0, NULL);
}

void statics_growth_force(pl_statics *s, int i, const double *x, double load, double scale, double *full)
{
    if (statics_is_grown(s, i)) {
        statics_grown_force(s, i, x, scale, full);
        return;
    }
    const pl_actuator *a = &s->robot->actuator[i];
    double rate[2];
    pl_elements_growth_rate(s->elements, &s->mesh, a->region, statics_growth_kind(a), x, rate,
                            scale * growth_own(s, a, load), full);
}
