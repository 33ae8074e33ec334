// Stress-free shapes: regions that differ from the drawing come with the dead loads (0 at rest, 1 in full),
// actuators that grow with their commands. The ratio of a region is A = a(load) g(command).
//
// The effort of such an actuator is what pushes its ratio on: e = dE/d(g m0), m0 its rest measure; at
// equilibrium that is the derivative of the whole elastic energy with respect to the volume (a pressure) or
// area asked for.
#include "problem/term_growth.h"
#include "problem/term_material.h"

static void growth_destroy(void *object)
{
    growth_term *t = object;
    for (int i = 0; t->drive && i < t->count; ++i) {
        pl_functional_clear(&t->drive[i].h);
        pl_functional_clear(&t->drive[i].grown);
        pl_slots_clear(&t->drive[i].slots);
    }

    pl_free(t->drive);
    pl_free(t->growth);
    pl_free(t->growth_kept);
    pl_free(t);
}

static void growth_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    const growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        pl_pattern_functional(out, p, &t->drive[i].grown);
    }
}

static pl_status growth_bind(void *self, pl_problem *p, pl_error *err)
{
    growth_term *t = self;
    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < t->count; ++i) {
        status = pl_slots_bind(p, &t->drive[i].grown, &t->drive[i].slots, err);
    }
    return status;
}

// ---- shapes along the load path
static double growth_ramp(const pl_problem *p, int32_t region, int part, double load)
{
    return 1 + load * (p->robot->region_rest[2 * region + part] - 1);
}

// How much of a region's ratio is its own, not the actuator's.
static double growth_own(const pl_problem *p, const pl_actuator *a, double load)
{
    return growth_ramp(p, a->region, a->kind == PL_FILM, load);
}

static void growth_ask(growth_term *t, growing *g, double ratio)
{
    if (g->drawn) {
        grown_ask(g, ratio);
        return;
    }
    *(g->a->kind == PL_FILM ? &t->growth[g->a->region].area : &t->growth[g->a->region].volume) *= ratio;
}

static void growth_apply(growth_term *t, pl_problem *p)
{
    if (memcmp(t->growth, p->elements->growth, (size_t)p->mesh.region_count * sizeof *t->growth) != 0) {
        pl_error err;
        t->failed = pl_elements_grow(p->elements, &p->mesh, t->growth, &err) != PL_OK;
        p->shapes++;
    }
}

static void growth_start(growth_term *t, const pl_problem *p)
{
    for (int32_t r = 0; r < p->mesh.region_count; ++r) {
        t->growth[r] = (pl_growth){growth_ramp(p, r, 0, p->load), growth_ramp(p, r, 1, p->load)};
    }
}

static void growth_begin(void *self, pl_problem *p, const pl_step *step)
{
    const pl_state *state = step->from;
    const double *command = step->command;
    (void)p;
    growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        growing *g = &t->drive[i];
        const drive_ends ends = drive_path_begin(&g->path, g->a, state, command);
        g->path.from = isnan(ends.old) ? 1 : pl_actuator_goal(g->a, ends.old);
        g->path.to = g->path.idle ? 1 : pl_actuator_goal(g->a, ends.value);
    }
}

static void growth_set(void *self, pl_problem *p, double at)
{
    growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        drive_path_set(&t->drive[i].path, t->drive[i].a, at);
    }
    growth_start(t, p);
    for (int i = 0; i < t->count; ++i) {
        growth_ask(t, &t->drive[i], t->drive[i].path.value);
    }
    growth_apply(t, p);
}

static void growth_recall(void *self, pl_problem *p, const pl_state *state)
{
    growth_term *t = self;
    memcpy(t->growth_kept, p->elements->growth, (size_t)p->mesh.region_count * sizeof *t->growth);
    for (int i = 0; i < t->count; ++i) {
        t->drive[i].target_kept = t->drive[i].target;
    }
    growth_start(t, p);
    for (int i = 0; i < t->count; ++i) {
        const pl_actuator *a = t->drive[i].a;
        const double value = drive_state_value(a, state);
        growth_ask(t, &t->drive[i], isnan(value) ? 1 : pl_actuator_goal(a, value));
    }

    growth_apply(t, p);
}

static void growth_resume(void *self, pl_problem *p)
{
    growth_term *t = self;
    memcpy(t->growth, t->growth_kept, (size_t)p->mesh.region_count * sizeof *t->growth);
    for (int i = 0; i < t->count; ++i) {
        growing *g = &t->drive[i];
        if (g->drawn && g->target != g->target_kept) {
            g->target = g->target_kept;
            if (!g->grown.joint) {
                pl_grown_set(&g->grown, g->target / g->whole);
            }
        }
    }

    growth_apply(t, p);
}

static pl_status growth_check(const void *self, const pl_problem *p, const double *command, pl_error *err)
{
    (void)p;
    const growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const growing *g = &t->drive[i];
        const pl_actuator *a = g->a;
        const double value = a->command >= 0 ? pl_actuator_value(a, command[a->command]) : NAN;
        if (isnan(value)) {
            continue;
        }
        const pl_status status = pl_actuator_check(a, value, err);
        if (status != PL_OK) {
            return status;
        }
        const double goal = pl_actuator_goal(a, value);
        if (a->kind == PL_CABLE && goal > 1) {
            return pl_fail(err, PL_BAD_INPUT,
                           "actuator '%s': the command prescribes %g of the rest length, but a cable cannot "
                           "push: expected at most 1",
                           a->name, goal);
        }
        if (g->drawn && !(goal > grown_least(g))) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "actuator '%s': the command prescribes a ratio of %g; for its elements it must be above %g",
                a->name, goal, grown_least(g));
        }
    }

    return PL_OK;
}

// Where whole elements grow, the body itself changes; joint ratios have their row.
static bool growth_renews(const void *self, const pl_problem *p)
{
    (void)p;
    const growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        if (t->drive[i].row < 0) {
            return true;
        }
    }

    return false;
}

static bool growth_one_sided(const void *self, const pl_problem *p, const pl_state *state)
{
    (void)p;
    const growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        if (drive_path_one_sided(&t->drive[i].path, t->drive[i].a, state)) {
            return true;
        }
    }

    return false;
}

// ---- at positions x
static void growth_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                            double *full)
{
    const double *x = here->x;
    growth_term *t = self;
    double own = 0;
    for (int i = 0; i < t->count && !isinf(own); ++i) {
        own += grown_energy(p, &t->drive[i], x, full);
    }
    *energy = t->failed ? INFINITY : *energy + own;
}

static void growth_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        t->drive[i].grown.positive = positive;
        pl_problem_add_functional(p, &t->drive[i].grown, &t->drive[i].slots, x, 1);
    }
}

static uint64_t growth_fingerprint(const void *self, const pl_problem *p, uint64_t hash)
{
    const growth_term *t = self;
    hash = pl_hash_bytes(hash, p->elements->growth, (size_t)p->mesh.region_count * sizeof *t->growth);
    for (int i = 0; i < t->count; ++i) {
        hash = pl_hash_bytes(hash, &t->drive[i].target, sizeof t->drive[i].target);
    }
    return hash;
}

// ---- states
static void growth_store(const void *self, const pl_problem *p, const double *command, double at,
                         pl_state *state)
{
    (void)p;
    (void)command;
    const growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const growing *g = &t->drive[i];
        if (at < 1 && !g->path.idle) {
            state->command[g->a->command] = drive_path_command(&g->path, g->a);
        }
        state->multiplier[g->actuator] = 0; // it acts through its elements
        state->active[g->actuator] = 1;
    }
}

static void growth_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        grown_energy(p, &t->drive[i], state->x, full);
    }
}

// ---- derivatives
static pl_growth_kind growth_kind_of(const growing *g)
{
    return g->a->kind == PL_FILM ? PL_GROW_AREA : PL_GROW_VOLUME;
}

// Effort after an evaluation at x; its derivative with respect to the ratio at fixed x (may be NULL); scale
// times that with respect to x is added to `full` (may be NULL).
static double growth_effort(pl_problem *p, const growing *g, const double *x, double load, double *by_ratio,
                            double scale, double *full)
{
    if (g->drawn) {
        return grown_effort(p, g, x, by_ratio, scale, full);
    }

    const pl_actuator *a = g->a;
    const double own = growth_own(p, a, load);
    double rate[2];
    pl_elements_growth_rate(p->elements, &p->mesh, a->region, growth_kind_of(g), x, rate,
                            scale * own / a->rest, full);
    if (by_ratio) {
        *by_ratio = own * own * rate[1] / a->rest;
    }

    return own * rate[0] / a->rest;
}

// full += scale dG/d(ratio)
static void growth_force(pl_problem *p, const growing *g, const double *x, double load, double scale,
                         double *full)
{
    if (g->drawn) {
        grown_force(p, g, x, scale, full);
        return;
    }

    double rate[2];
    pl_elements_growth_rate(p->elements, &p->mesh, g->a->region, growth_kind_of(g), x, rate,
                            scale * growth_own(p, g->a, load), full);
}

// d(ratio)/d(command) at the end of the path; 0: another command's
static double growth_slope(const growing *g, const pl_parameter *q)
{
    if (!q || q->kind != PL_PARAMETER_COMMAND || g->a->command != q->index || g->path.idle) {
        return 0;
    }
    return drive_path_slope(&g->path, q) * pl_actuator_goal_slope(g->a, g->path.input);
}

// Is q a constant of the material that grows?
static bool growth_of_material(const pl_problem *p, const growing *g, const pl_parameter *q)
{
    return q && q->kind == PL_PARAMETER_MATERIAL && q->part != PL_DENSITY && g->a->region >= 0 &&
           p->robot->region_material[g->a->region] == q->index;
}

static pl_status growth_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                   double *full, double *target, pl_error *err)
{
    (void)target;
    growth_term *t = self;
    for (int i = 0; i < t->count; ++i) {
        const growing *g = &t->drive[i];
        if (g->drawn && growth_of_material(p, g, q)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "jacobian: no derivative with respect to the material of elements whose ratios "
                           "are minimised jointly "
                           "('%s')",
                           p->robot->material_name[q->index]);
        }
        const double slope = growth_slope(g, q);
        if (slope != 0) {
            growth_force(p, g, state->x, state->load, -slope, full);
        }
    }

    return PL_OK;
}

// Two outputs per actuator: measure, effort.
static int growth_output_count(const void *self)
{
    return 2 * ((const growth_term *)self)->count;
}

static pl_output growth_output(const void *self, int k)
{
    const growth_term *t = self;
    return (pl_output){.kind = k % 2 == 0 ? PL_OUTPUT_MEASURE : PL_OUTPUT_EFFORT,
                       .actuator = t->drive[k / 2].actuator};
}

static double growth_value(void *self, pl_problem *p, const pl_state *state, int k)
{
    const growing *g = &((const growth_term *)self)->drive[k / 2];
    const double measure = pl_functional_value(&g->h, state->x);

    if (k % 2 == 0) {
        return measure;
    }
    pl_problem_elastic(p, state->x, NULL); // pressures, local ratios
    return drive_reported(g->a, growth_effort(p, g, state->x, state->load, NULL, 0, NULL), measure);
}

static double growth_change(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                            const double *mu, const pl_parameter *q)
{
    (void)mu;
    const growing *g = &((const growth_term *)self)->drive[k / 2];
    const double measure_change = dx ? drive_measure_change(p, &g->h, state->x, dx) : 0;
    if (k % 2 == 0) {
        return measure_change;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *full = pl_problem_take_full(p), by_ratio;
    memset(full, 0, pl_problem_full_bytes(p));
    const double effort = growth_effort(p, g, state->x, state->load, &by_ratio, 1, full);
    double change = by_ratio * growth_slope(g, q);
    if (growth_of_material(p, g, q)) {
        change += growth_own(p, g->a, state->load) / g->a->rest *
                  term_material_growth(p, g->a->region, growth_kind_of(g), state->x, q->part);
    }
    for (int64_t i = 0; dx && i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        change += full[i] * dx[i];
    }
    pl_arena_end(&p->scratch, mark);

    return drive_reported_change(g->a, effort, pl_functional_value(&g->h, state->x), change, measure_change);
}

static void growth_pull_back(void *self, pl_problem *p, const pl_state *state, int k, double weight,
                             double *full, double *rho)
{
    (void)rho;
    const growing *g = &((const growth_term *)self)->drive[k / 2];
    const pl_actuator *a = g->a;
    if (k % 2 == 0) {
        pl_functional_gradient(&g->h, state->x, weight, full);
        return;
    }

    const double measure = pl_functional_value(&g->h, state->x);
    const double effort =
        growth_effort(p, g, state->x, state->load, NULL, drive_reported(a, weight, measure), full);
    if (drive_reports_stress(a)) {
        pl_functional_gradient(&g->h, state->x, weight * effort / (a->rest * a->thickness), full);
    }
}

static const pl_term_steps growth_steps = {.check = growth_check,
                                           .begin = growth_begin,
                                           .set = growth_set,
                                           .recall = growth_recall,
                                           .resume = growth_resume,
                                           .one_sided = growth_one_sided,
                                           .renews = growth_renews,
                                           .store = growth_store};

static const pl_term_outputs growth_outputs = {.count = growth_output_count,
                                               .about = growth_output,
                                               .value = growth_value,
                                               .change = growth_change,
                                               .pull_back = growth_pull_back};

static const pl_term growth_kind = {.name = "growth",
                                    .elastic = true,
                                    .destroy = growth_destroy,
                                    .pattern = growth_pattern,
                                    .bind = growth_bind,
                                    .evaluate = growth_evaluate,
                                    .tangent = growth_tangent,
                                    .fingerprint = growth_fingerprint,
                                    .forces = growth_forces,
                                    .derivative = growth_derivative,
                                    .steps = &growth_steps,
                                    .outputs = &growth_outputs};

double pl_problem_rate(pl_problem *p, const pl_state *state, int command)
{
    const growth_term *t = problem_term_of(p, &growth_kind);
    double sum = 0;
    if (!t) {
        return 0;
    }

    pl_problem_recall(p, state);
    pl_problem_elastic(p, state->x, NULL); // pressures, local ratios
    for (int i = 0; i < t->count; ++i) {
        const growing *g = &t->drive[i];
        const pl_actuator *a = g->a;
        const double value = drive_state_value(a, state);
        if (a->command != command || isnan(value)) {
            continue;
        }
        const double by_ratio = g->drawn
                                    ? grown_rate(p, g, state->x)
                                    : a->rest * growth_effort(p, g, state->x, state->load, NULL, 0, NULL);
        sum += by_ratio * pl_actuator_goal_slope(a, value) *
               pl_command_slope(a->factor, a->one_sided, state->command[command]);
    }
    pl_problem_resume(p);

    return sum;
}

static pl_status growth_fill(growth_term *t, pl_problem *p, pl_error *err)
{
    const pl_robot *robot = p->robot;
    pl_status status = PL_OK;

    for (int i = 0; status == PL_OK && i < robot->actuator_count; ++i) {
        const pl_actuator *a = &robot->actuator[i];
        if (!a->growth) {
            continue;
        }
        growing *g = &t->drive[t->count++];
        *g = (growing){.a = a, .actuator = i, .row = -1, .drawn = grown_is_drawn(p, a)};
        status = drive_functional(p, a, &g->h);
        if (status == PL_OK && g->drawn) {
            status = grown_create(p, g, err);
        }
    }

    return status == PL_NO_MEMORY ? pl_fail_memory(err, "problem: growth") : status;
}

pl_status term_growth_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    const int32_t regions = p->mesh.region_count;
    bool grows = false;

    for (int32_t k = 0; k < 2 * regions; ++k) {
        grows = grows || p->robot->region_rest[k] != 1;
    }
    for (int i = 0; i < p->robot->actuator_count; ++i) {
        grows = grows || p->robot->actuator[i].growth;
    }
    if (!grows) {
        return PL_OK;
    }

    growth_term *t = PL_NEW(growth_term);
    if (!t) {
        return pl_fail_memory(err, "problem: growth");
    }
    *out = (pl_problem_term){&growth_kind, t};
    t->drive = PL_NEW_ARRAY(growing, p->robot->actuator_count);
    t->growth = PL_NEW_ARRAY(pl_growth, regions);
    t->growth_kept = PL_NEW_ARRAY(pl_growth, regions);

    return t->drive && t->growth && t->growth_kept ? growth_fill(t, p, err)
                                                   : pl_fail_memory(err, "problem: growth");
}
