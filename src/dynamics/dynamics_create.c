// Building and freeing a solver of motions, where a motion begins, and what it leaves in a state.
#include "dynamics/dynamics_impl.h"

// Machine balance: floating-point operations of a factorisation that take as long as reading one byte of the
// factor in a solve and evaluating the forces (bench_dynamics).
#define COST_FLOPS_PER_BYTE 4.0
#define COST_LEAST 4.0

const char *pl_motion_outcome_name(pl_motion_outcome outcome)
{
    static const char *const name[] = {"done", "interrupted", "stalled"};
    return (unsigned)outcome < PL_COUNT(name) ? name[outcome] : "unknown";
}

pl_dynamics_options pl_dynamics_options_default(void)
{
    return (pl_dynamics_options){.tolerance = 1e-3, .largest_step = 0.08, .halvings = 16};
}

static pl_status options_check(const pl_robot *robot, const pl_dynamics_options *o, pl_error *err)
{
    if (!(o->tolerance > 0 && o->tolerance <= 0.1)) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: tolerance is %g, must lie between 0 and 0.1",
                       o->tolerance);
    }

    if (!(o->step >= 0) || isinf(o->step)) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: step is %g s, must be 0 (automatic) or positive",
                       o->step);
    }

    if (!(o->largest_step > 0) || isinf(o->largest_step)) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: largest_step is %g s, must be positive",
                       o->largest_step);
    }

    if (!(o->first_step >= 0) || isinf(o->first_step)) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: first_step is %g s, must be 0 (automatic) or positive",
                       o->first_step);
    }

    if (o->halvings < 0 || o->halvings > 40) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: halvings is %d, must lie between 0 and 40", o->halvings);
    }
    if (!(o->solve_tolerance >= 0) || !(o->mass_damping >= 0) || isinf(o->mass_damping) ||
        !(o->stiffness_damping >= 0) || isinf(o->stiffness_damping)) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: solve_tolerance and damping must not be negative");
    }

    for (int k = 0; o->marker_mass && k < robot->marker_count; ++k) {
        if (!(o->marker_mass[k] >= 0) || isinf(o->marker_mass[k])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "dynamics: the mass at marker '%s' is %g t, must not be negative",
                           robot->marker[k].name, o->marker_mass[k]);
        }
    }

    const pl_mesh_view mesh = pl_mesh_get(robot->mesh);
    for (int32_t s = 0; o->surface_drag && s < mesh.surface_count; ++s) {
        if (!(o->surface_drag[s] >= 0) || isinf(o->surface_drag[s])) {
            return pl_fail(err, PL_BAD_INPUT,
                           "dynamics: the drag of surface '%s' is %g t/mm^3, must not be negative",
                           mesh.surface_name[s], o->surface_drag[s]);
        }
    }

    return PL_OK;
}

static bool create_point(dynamics_point *point, const pl_robot *robot, int64_t full, pl_error *err)
{
    point->x = PL_NEW_ARRAY(double, full);
    point->v = PL_NEW_ARRAY(double, full);
    point->a = PL_NEW_ARRAY(double, full);
    point->total = PL_NEW_ARRAY(double, full);
    return point->x && point->v && point->a && point->total &&
           pl_state_create(robot, &point->state, err) == PL_OK;
}

static pl_status create_work(pl_dynamics *d, pl_error *err)
{
    const int64_t full = dynamics_full(d);
    dynamics_point *point[] = {&d->now, &d->before, &d->middle, &d->next};
    double **fulls[] = {&d->start, &d->v_before, &d->target, &d->work};
    bool ok = true;

    for (int i = 0; i < PL_COUNT(point); ++i) {
        ok = ok && create_point(point[i], d->robot, full, err);
    }
    for (int i = 0; i < PL_COUNT(fulls); ++i) {
        ok = ok && (*fulls[i] = PL_NEW_ARRAY(double, full));
    }

    ok = ok && (d->force = PL_NEW_ARRAY(double, 3 * (int64_t)d->robot->marker_count + 1));
    ok = ok && (d->command = PL_NEW_ARRAY(double, d->robot->command_count));

    return ok ? PL_OK : pl_fail_memory(err, "dynamics: work space");
}

// A dashpot of b beside the springs as a branch whose relaxation is too fast to be seen: tau = b / DASHPOT,
// g tau = b. At frequencies below 1 / (2 pi tau) its stress is b dS_d/dt.
#define DASHPOT 50.0
static pl_status dashpot_add(pl_material *m, const char *name, double b, pl_error *err)
{
    if (m->prony_count == PL_PRONY_TERMS) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s' has %d viscous branches: no room for stiffness-proportional damping",
                       name, m->prony_count);
    }

    m->prony_g[m->prony_count] = DASHPOT;
    m->prony_tau[m->prony_count++] = b / DASHPOT;
    return PL_OK;
}

// Branches and softening of the materials of all regions; thin layers have none.
static pl_status create_histories(pl_dynamics *d, pl_error *err)
{
    const pl_robot *robot = d->robot;
    for (int i = 0; i < robot->layer_count; ++i) {
        const pl_material *m = &robot->material[robot->layer[i].material];
        if (m->prony_count > 0 || m->mullins_r > 0) {
            return pl_fail(err, PL_BAD_INPUT,
                           "layer '%s': its material '%s' has %s, which layers do not have yet: use a "
                           "material without",
                           robot->layer[i].name, robot->material_name[robot->layer[i].material],
                           m->prony_count > 0 ? "viscous branches (prony)" : "softening (mullins)");
        }
    }

    const int32_t regions = d->problem->mesh.region_count;
    const pl_material **material = PL_NEW_ARRAY(const pl_material *, regions);
    pl_material *own = PL_NEW_ARRAY(pl_material, regions);
    pl_status status = material && own ? PL_OK : pl_fail_memory(err, "dynamics: viscous branches");
    for (int32_t r = 0; status == PL_OK && r < regions; ++r) {
        const int k = robot->region_material[r];
        own[r] = robot->material[k];
        material[r] = &own[r];
        if (d->options.stiffness_damping > 0) {
            status = dashpot_add(&own[r], robot->material_name[k], d->options.stiffness_damping, err);
        }
    }

    if (status == PL_OK) {
        status = pl_softening_create(d->problem->elements, material, &d->softening, err);
    }
    if (status == PL_OK) {
        status = pl_viscous_create(d->problem->elements, material, &d->viscous, err);
    }
    pl_free(material);
    pl_free(own);

    return status;
}

pl_status pl_dynamics_create(const pl_robot *robot, const pl_dynamics_options *options, pl_dynamics **out,
                             pl_error *err)
{
    static const pl_term_create extra[] = {dynamics_inertia_create, NULL};
    *out = NULL;
    pl_status status = options_check(robot, options, err);
    if (status != PL_OK) {
        return status;
    }

    pl_dynamics *d = PL_NEW(pl_dynamics);
    if (!d) {
        return pl_fail_memory(err, "dynamics");
    }
    d->robot = robot;
    d->options = *options;
    const dynamics_masses masses = {
        .mass = options->marker_mass, .hang = options->masses_hang, .drag = options->surface_drag};
    const pl_problem_options problem = {.displacement = options->displacement,
                                        .distribution = options->distribution,
                                        .linear_solver = options->linear_solver,
                                        .contact_tolerance = 1e-3,
                                        .inertia = true,
                                        .force_tolerance = 1e-6,
                                        .extra = &masses};
    status = pl_problem_create(robot, &problem, extra, &d->problem, err);
    if (status == PL_OK) {
        d->problem->options.extra = NULL;
        d->options.marker_mass = d->options.surface_drag = NULL;
        d->inertia = d->problem->term[d->problem->term_count - 1].self;
        d->levels.level[0].created = true;
        d->watch = (pl_watch){.progress = options->progress, .fraction = -1};
        d->problem->watch = &d->watch;
        d->cost =
            fmax(COST_LEAST, pl_factor_flops(d->problem->linear.factor) /
                                 (COST_FLOPS_PER_BYTE * (double)pl_factor_bytes(d->problem->linear.factor)));
        pl_log(1, "dynamics: a factorisation costs as much as %.1f iterations", d->cost);
        status = pl_newton_init(&d->newton, d->problem, false, err);
    }
    if (status == PL_OK) {
        status = create_work(d, err);
    }

    d->touches = status == PL_OK && pl_problem_touches(d->problem);
    if (d->touches) {
        const int64_t numbers = d->now.state->history[PL_STATE_CONTACT].count;
        d->contact_none = PL_NEW_ARRAY(double, numbers);
        d->contact_first = PL_NEW_ARRAY(double, numbers);
        status = d->contact_none && d->contact_first ? PL_OK : pl_fail_memory(err, "dynamics: contact");
    }

    if (status == PL_OK) {
        status = dynamics_spread_create(d, err);
    }
    if (status == PL_OK) {
        status = create_histories(d, err);
    }
    if (status != PL_OK) {
        pl_dynamics_destroy(d);
        return status;
    }

    *out = d;

    return PL_OK;
}

void pl_dynamics_destroy(pl_dynamics *d)
{
    if (!d) {
        return;
    }
    pl_viscous_destroy(d->viscous);
    pl_softening_destroy(d->softening);
    pl_free(d->force);
    dynamics_spread_destroy(d);
    if (d->problem) {
        pl_newton_clear(&d->newton);
    }
    dynamics_levels_clear(d);
    pl_problem_destroy(d->problem);
    dynamics_point *point[] = {&d->now, &d->before, &d->middle, &d->next};
    for (int i = 0; i < PL_COUNT(point); ++i) {
        pl_free(point[i]->x);
        pl_free(point[i]->v);
        pl_free(point[i]->a);
        pl_free(point[i]->total);
        pl_state_destroy(point[i]->state);
    }

    void *owned[] = {d->start,  d->v_before, d->contact_none, d->contact_first,
                     d->target, d->work,     d->command};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
    pl_free(d);
}

// ---- where a motion begins
static pl_status start_check(const pl_dynamics *d, const pl_state *state, pl_error *err)
{
    if (state->robot_hash != d->robot->hash || state->vertex_count != d->problem->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: the state belongs to another robot");
    }

    for (int k = 0; state->load < 1 && k < d->robot->support_count; ++k) {
        const pl_support *s = &d->robot->support[k];
        if (pl_norm3(s->move) > 0 || pl_norm3(s->rotate) > 0) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "support '%s' moves with the load: a motion must begin at an equilibrium, where it "
                "has moved",
                s->name);
        }
    }

    return PL_OK;
}

// Time, velocity, acceleration and branches of a state that has them; otherwise at rest.
static pl_status start_motion(pl_dynamics *d, const pl_state *state, bool *moves, pl_error *err)
{
    const int64_t n = dynamics_full(d), count = pl_viscous_count(d->viscous);
    *moves = state->velocity;
    if (!*moves) {
        d->now.time = 0;
        memset(d->now.v, 0, (size_t)n * sizeof *d->now.v);
        pl_problem_recall(d->problem, state); // regions as they have grown there
        pl_softening_start(d->softening, state->x);
        pl_viscous_relax(d->viscous, state->x);
        pl_problem_resume(d->problem);
        return PL_OK;
    }

    const pl_state_block *viscous = &state->history[PL_STATE_VISCOUS],
                         *softening = &state->history[PL_STATE_SOFTENING],
                         *acceleration = &state->history[PL_STATE_ACCELERATION];
    if (viscous->count != count || softening->count != pl_softening_count(d->softening) ||
        acceleration->count != n) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "dynamics: the state has %lld numbers of viscous branches, %lld of softening and %lld of "
            "its acceleration, the robot needs %lld, %lld and %lld",
            (long long)viscous->count, (long long)softening->count, (long long)acceleration->count,
            (long long)count, (long long)pl_softening_count(d->softening), (long long)n);
    }

    d->now.time = state->time;
    memcpy(d->now.v, state->velocity, (size_t)n * sizeof *d->now.v);
    memcpy(d->now.a, acceleration->value, (size_t)n * sizeof *d->now.a);
    pl_softening_read(d->softening, softening->value);
    pl_viscous_read(d->viscous, viscous->value, state->x);

    return PL_OK;
}

// Work of growth, of obstacles that are moved or pulled and of cables that rub is not counted.
static bool start_grows(const pl_robot *robot)
{
    bool grows = false;
    for (int o = 0; o < robot->contact.obstacle_count; ++o) {
        grows = grows || robot->contact.obstacle[o].command >= 0;
    }
    for (int i = 0; i < robot->actuator_count; ++i) {
        grows = grows || robot->actuator[i].growth || robot->actuator[i].friction > 0;
    }

    return grows;
}

static pl_status start_energies(pl_dynamics *d, pl_error *err)
{
    d->energy_known = !start_grows(d->robot);
    d->softened_start = pl_softening_heat(d->softening);
    d->energy_start = dynamics_kinetic(d, d->now.v) + dynamics_stored(d, d->now.x) - d->energy.actuators;
    if (!isfinite(d->energy_start)) {
        return pl_fail(err, PL_BAD_INPUT, "the state where the motion begins has inverted elements");
    }
    return PL_OK;
}

// The largest step halved so often is the first one, about.
static int start_level(const pl_dynamics_options *o)
{
    if (o->step > 0) {
        return 0;
    }
    const double first = o->first_step > 0 ? o->first_step : o->largest_step / 16;
    return (int)fmin(o->halvings, fmax(0, round(log2(o->largest_step / first))));
}

pl_status pl_dynamics_start(pl_dynamics *d, const pl_state *state, const pl_signal *signal, pl_error *err)
{
    bool moves;
    pl_status status = start_check(d, state, err);

    if (status != PL_OK) {
        return status;
    }
    d->started = false;
    const double largest = d->options.step > 0 ? d->options.step : d->options.largest_step;
    dynamics_spread_start(d, signal, ldexp(largest, -start_level(&d->options)));
    if (pl_state_copy(d->now.state, state) != PL_OK) {
        return pl_fail_memory(err, "dynamics: state");
    }
    pl_state_rest(d->now.state);
    memcpy(d->now.x, state->x, (size_t)dynamics_full(d) * sizeof *d->now.x);
    memcpy(d->start, d->now.x, (size_t)dynamics_full(d) * sizeof *d->start);
    pl_problem_set_forces(d->problem, state->force);
    pl_problem_pull(d->problem, NULL);
    status = start_motion(d, state, &moves, err);
    if (status != PL_OK) {
        return status;
    }

    d->report = (pl_motion_report){.time = d->now.time, .smallest_step = INFINITY};
    d->level = start_level(&d->options);
    d->contraction = 0.3;
    d->contact_known = false;
    d->scale = d->exchanged = d->kinetic_most = 0;
    d->anchor = d->now.time;
    d->energy = d->energy_next = (pl_motion_energy){0};
    status = dynamics_prepare(d, !moves, err);
    if (status == PL_OK) {
        status = start_energies(d, err);
    }
    d->started = status == PL_OK;

    return status;
}

pl_status pl_dynamics_set_velocity(pl_dynamics *d, const double *velocity, pl_error *err)
{
    if (!d->started) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: start the motion before its velocity is set");
    }

    const pl_unknowns *u = &d->problem->unknowns;
    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        if (!isfinite(velocity[i])) {
            return pl_fail(err, PL_BAD_INPUT, "dynamics: the velocity of vertex %lld is not finite",
                           (long long)(i / 3));
        }
        d->now.v[i] = u->dof[i] >= 0 || u->rigid_of[i / 3] >= 0 ? velocity[i] : 0;
    }

    d->energy = d->energy_next = (pl_motion_energy){0};
    const pl_status status = dynamics_prepare(d, true, err);

    return status == PL_OK ? start_energies(d, err) : status;
}

void pl_dynamics_set_forces(pl_dynamics *d, const double *force)
{
    pl_problem_set_forces(d->problem, force);
    d->forces_changed = true;
}

pl_status pl_dynamics_grip(pl_dynamics *d, const double at[3], double radius, pl_error *err)
{
    d->forces_changed = true;
    return pl_problem_grip(d->problem, at, radius, err);
}

void pl_dynamics_pull(pl_dynamics *d, const double force[3])
{
    pl_problem_pull(d->problem, force);
    d->forces_changed = true;
}

// ---- results
double pl_dynamics_time(const pl_dynamics *d)
{
    return d->now.time;
}

pl_status pl_dynamics_store(const pl_dynamics *d, pl_state *state, pl_error *err)
{
    if (pl_state_copy(state, d->now.state) != PL_OK) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: the state belongs to another robot");
    }
    if (pl_state_set_motion(state, d->now.time, d->now.v) != PL_OK ||
        pl_state_set_part(state, PL_STATE_ACCELERATION, d->now.a, dynamics_full(d)) != PL_OK ||
        pl_state_set_part(state, PL_STATE_VISCOUS, NULL, pl_viscous_count(d->viscous)) != PL_OK ||
        pl_state_set_part(state, PL_STATE_SOFTENING, NULL, pl_softening_count(d->softening)) != PL_OK) {
        return pl_fail_memory(err, "dynamics: state");
    }
    pl_viscous_write(d->viscous, state->history[PL_STATE_VISCOUS].value);
    pl_softening_write(d->softening, state->history[PL_STATE_SOFTENING].value);

    return PL_OK;
}

// Cubic Hermite interpolation of positions and velocities between the ends of the last step; efforts are
// linear between them.
pl_status pl_dynamics_sample(const pl_dynamics *d, double time, pl_state *state, double *velocity,
                             pl_error *err)
{
    const dynamics_point *a = d->report.steps > 0 ? &d->before : &d->now, *b = &d->now;
    if (pl_state_copy(state, b->state) != PL_OK) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: the state belongs to another robot");
    }

    const double h = b->time - a->time, t = h > 0 ? (time - a->time) / h : 1;
    if (!(t > -1e-9 && t < 1 + 1e-9)) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: time %g s lies outside the last step, %g to %g s", time,
                       a->time, b->time);
    }

    const double f[4] = {(1 + 2 * t) * (1 - t) * (1 - t), t * (1 - t) * (1 - t) * h, t * t * (3 - 2 * t),
                         t * t * (t - 1) * h};
    const double g[4] = {h > 0 ? -6 * t * (1 - t) / h : 0, (1 - t) * (1 - 3 * t),
                         h > 0 ? 6 * t * (1 - t) / h : 0, t * (3 * t - 2)};
    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        state->x[i] = f[0] * a->x[i] + f[1] * a->v[i] + f[2] * b->x[i] + f[3] * b->v[i];
        if (velocity) {
            velocity[i] = g[0] * a->x[i] + g[1] * a->v[i] + g[2] * b->x[i] + g[3] * b->v[i];
        }
    }

    for (int i = 0; i < state->actuator_count; ++i) {
        state->multiplier[i] = (1 - t) * a->state->multiplier[i] + t * b->state->multiplier[i];
    }
    if (d->signal.command) {
        d->signal.command(d->signal.user, time, state->command);
    }

    return PL_OK;
}
