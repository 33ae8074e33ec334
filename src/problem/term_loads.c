// Loads that the robot file gives: gravity and forces (dead), moments, pressures on closed and open surfaces.
// All are applied in proportion to the load, 0 at rest and 1 in full.
//
// Moments and pressures are functionals h: their energy is -load factor h. A pressure on an open surface
// whose rim can move has no potential: see term_follower.c.
#include "problem/term_loads.h"
#include "problem/term_material.h"

static void loads_destroy(void *object)
{
    loads_term *l = object;
    for (int i = 0; l->load && i < l->count; ++i) {
        pl_functional_clear(&l->load[i].h);
        pl_slots_clear(&l->load[i].slots);
    }

    pl_free(l->load);
    pl_free(l->dead);
    pl_free(l->dead_still);
    pl_free(l->dead_kept);
    pl_free(l);
}

static void loads_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    const loads_term *l = self;
    for (int i = 0; i < l->count; ++i) {
        pl_pattern_functional(out, p, &l->load[i].h);
    }
}

static pl_status loads_bind(void *self, pl_problem *p, pl_error *err)
{
    loads_term *l = self;
    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < l->count; ++i) {
        status = pl_slots_bind(p, &l->load[i].h, &l->load[i].slots, err);
    }
    return status;
}

static void loads_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                           double *full)
{
    const double *x = here->x;
    const loads_term *l = self;
    const int64_t n = 3 * (int64_t)p->mesh.vertex_count;
    double work = 0;

    if (l->follows) {
        follower_update(self, p, x);
    }
    for (int64_t i = 0; i < n; ++i) {
        work += l->dead[i] * (x[i] - p->mesh.position[i]);
    }
    *energy -= p->load * work;
    for (int i = 0; i < l->count; ++i) {
        *energy -= p->load * l->load[i].factor * pl_functional_value(&l->load[i].h, x);
    }
    for (int64_t i = 0; full && i < n; ++i) {
        full[i] -= p->load * l->dead[i];
    }
    for (int i = 0; full && i < l->count; ++i) {
        pl_functional_gradient(&l->load[i].h, x, -p->load * l->load[i].factor, full);
    }
}

static void loads_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    const loads_term *l = self;
    for (int i = 0; !positive && i < l->count; ++i) {
        // second derivatives of functionals have no sign
        pl_problem_add_functional(p, &l->load[i].h, &l->load[i].slots, x, -p->load * l->load[i].factor);
    }
}

static uint64_t loads_fingerprint(const void *self, const pl_problem *p, uint64_t hash)
{
    (void)self;
    const double load = p->load + 0.0;
    return pl_hash_bytes(hash, &load, sizeof load);
}

// Angles of moments are counted on from the shape x, over full turns; forces on open rims are those of x.
static void loads_accept(void *self, pl_problem *p, const double *x, pl_accept how)
{
    (void)how;
    loads_term *l = self;
    for (int i = 0; i < l->count; ++i) {
        l->load[i].h.near = pl_functional_value(&l->load[i].h, x);
    }
    follower_update(l, p, x);
}

// Angles that moments are counted from; forces on open rims.
static int64_t loads_save(const void *self, double *out)
{
    const loads_term *l = self;
    const int64_t full = l->has_open ? l->full : 0;

    for (int i = 0; out && i < l->count; ++i) {
        out[i] = l->load[i].h.near;
    }
    if (out && full > 0) {
        memcpy(out + l->count, l->dead, (size_t)full * sizeof *out);
    }

    return l->count + full;
}

static void loads_revert(void *self, pl_problem *p, const double *saved)
{
    loads_term *l = self;
    for (int i = 0; i < l->count; ++i) {
        l->load[i].h.near = saved[i];
    }
    if (l->has_open) {
        memcpy(l->dead, saved + l->count, pl_problem_full_bytes(p));
    }
}

static void loads_begin(void *self, pl_problem *p, const pl_step *step)
{
    loads_accept(self, p, step->from->x, PL_ACCEPT_INCREMENT);
}

// Reactions feel the force itself of a pressure: the potential of an open surface, capped or held, has more
// along the rim.
static void loads_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    const loads_term *l = self;
    const double *dead = l->has_open ? l->dead_still : l->dead;

    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        full[i] -= state->load * dead[i];
    }

    for (int i = 0; i < l->count; ++i) {
        const double scale = -state->load * l->load[i].factor;
        pl_functional_gradient(&l->load[i].h, state->x, scale, full);
        if (l->load[i].pressure >= 0) {
            follower_add(&l->load[i], state->x, scale, full);
        }
    }
}

static pl_status loads_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                  double *full, double *target, pl_error *err)
{
    (void)target;
    (void)err;
    const loads_term *l = self;
    if (q->kind == PL_PARAMETER_FORCE) {
        const pl_point *point = &p->robot->marker[p->robot->force[q->index].marker].point;
        for (int32_t j = 0; j < point->count; ++j) {
            full[3 * (int64_t)point->node[j] + q->part] += state->load * point->weight[j];
        }
    } else if (q->kind == PL_PARAMETER_GRAVITY) {
        for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
            full[3 * (int64_t)v + q->part] += state->load * p->elements->vertex_mass[v];
        }
    } else if (q->kind == PL_PARAMETER_MATERIAL && q->part == PL_DENSITY) {
        term_density_derivative(p, state, q->index, full);
    }

    for (int i = 0; i < l->count; ++i) {
        const surface_load *load = &l->load[i];
        const bool moment = q->kind == PL_PARAMETER_MOMENT && load->force == q->index;
        if (moment || (q->kind == PL_PARAMETER_PRESSURE && load->pressure == q->index)) {
            // a moment's parameter is its factor, a pressure's parameter its value
            pl_functional_gradient(&load->h, state->x, state->load * (moment ? load->factor : 1), full);
            if (load->open) {
                follower_add(load, state->x, state->load, full);
            }
        }
    }

    return PL_OK;
}

static const pl_term_steps loads_steps = {
    .begin = loads_begin, .accept = loads_accept, .save = loads_save, .revert = loads_revert};

static const pl_term loads_kind = {.name = "loads",
                                   .destroy = loads_destroy,
                                   .pattern = loads_pattern,
                                   .bind = loads_bind,
                                   .evaluate = loads_evaluate,
                                   .tangent = loads_tangent,
                                   .lag = follower_lag,
                                   .follow = follower_follow,
                                   .fingerprint = loads_fingerprint,
                                   .forces = loads_forces,
                                   .derivative = loads_derivative,
                                   .steps = &loads_steps};

// Forces act on the marker's own point, so that they do work exactly on its motion; moments on its patch.
static pl_status loads_add_force(loads_term *l, const pl_problem *p, int k)
{
    const pl_force *force = &p->robot->force[k];
    const pl_point *point = &p->robot->marker[force->marker].point,
                   *patch = &p->robot->marker[force->marker].patch;

    for (int32_t j = 0; j < point->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            l->dead[3 * (int64_t)point->node[j] + i] += point->weight[j] * force->force[i];
        }
    }

    const double moment = pl_norm3(force->moment);
    if (!(moment > 0)) {
        return PL_OK;
    }

    const double axis[3] = {force->moment[0] / moment, force->moment[1] / moment, force->moment[2] / moment};
    surface_load *load = &l->load[l->count++];
    *load = (surface_load){.factor = moment, .force = k, .pressure = -1};

    return pl_functional_add_angle(&load->h, patch->count, patch->node, patch->weight, p->mesh.position,
                                   axis);
}

static pl_status loads_fill(loads_term *l, const pl_problem *p, pl_error *err)
{
    const pl_robot *robot = p->robot;
    for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
        for (int i = 0; i < 3; ++i) {
            l->dead[3 * (int64_t)v + i] = p->elements->vertex_mass[v] * robot->gravity[i];
        }
    }

    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < robot->force_count; ++k) {
        status = loads_add_force(l, p, k);
    }

    for (int k = 0; status == PL_OK && k < robot->pressure_count; ++k) {
        surface_load *load = &l->load[l->count++];
        *load = (surface_load){.factor = robot->pressure[k].pressure, .force = -1, .pressure = k};
        status = follower_create(l, p, load, err);
    }

    if (status == PL_OK && l->has_open) {
        const size_t bytes = pl_problem_full_bytes(p);
        l->dead_still = pl_alloc(bytes);
        l->dead_kept = pl_alloc(bytes);
        if (!l->dead_still || !l->dead_kept) {
            return PL_NO_MEMORY;
        }
        memcpy(l->dead_still, l->dead, bytes);
    }

    return status;
}

pl_status term_loads_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    loads_term *l = PL_NEW(loads_term);
    if (!l) {
        return pl_fail_memory(err, "problem: loads");
    }
    *out = (pl_problem_term){&loads_kind, l};
    l->load = PL_NEW_ARRAY(surface_load, p->robot->force_count + p->robot->pressure_count);
    l->full = 3 * (int64_t)p->mesh.vertex_count;
    l->dead = PL_NEW_ARRAY(double, l->full);
    const pl_status status = l->load && l->dead ? loads_fill(l, p, err) : PL_NO_MEMORY;

    return status == PL_NO_MEMORY ? pl_fail_memory(err, "problem: loads") : status;
}
