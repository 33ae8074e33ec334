// One step of TR-BDF2, with s = gamma h / 2 in both stages:
//   trapezoidal rule to t + gamma h:  y* = x + 2 s v + s^2 a,   v_g = (x_g - x) / s - v,
//   BDF2 to t + h:  X = c1 x_g - c0 x, V = c1 v_g - c0 v,  y* = X + s V,  v1 = (x1 - X) / s, a1 = (v1 - V) /
//   s.
// With damping forces -b M v and v = (y - z) / s (z = x + s v, then X) the quadratic term of a stage is
//   1/2 (1/s^2 + b/s) |y - (y* / s^2 + b z / s) / (1/s^2 + b/s)|^2_M.
#include "dynamics/dynamics_impl.h"

#define ACCELERATION_PASSES 3
#define JUMP_HALVINGS 10 // of the largest step: the time in which a drive that starts takes the body along
#define CONTACT_MASS_TOLERANCE 1e-4 // of the contact forces, in the acceleration they cause
#define CONTACT_MASS_STEPS 200
#define STEP_BEFORE 1e-6 // of a step: just before its end; less than STEP_JUMP

// ---- prediction: rigid bodies stay rigid
// The rigid motion nearest to what was predicted for the vertices of a body: the mean of the displacements
// and the rotation of sum (predicted arm) (arm)^T.
static void predict_rigid(const pl_problem *p, const double *x, double *predicted)
{
    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &p->unknowns.rigid[b];
        double c0[3] = {0}, c1[3] = {0}, A[9] = {0}, R[9];
        for (int32_t k = 0; k < body->node_count; ++k) {
            for (int i = 0; i < 3; ++i) {
                c0[i] += x[3 * (int64_t)body->node[k] + i] / body->node_count;
                c1[i] += predicted[3 * (int64_t)body->node[k] + i] / body->node_count;
            }
        }
        for (int32_t k = 0; k < body->node_count; ++k) {
            const int64_t v = 3 * (int64_t)body->node[k];
            for (int i = 0; i < 9; ++i) {
                A[i] += (predicted[v + i / 3] - c1[i / 3]) * (x[v + i % 3] - c0[i % 3]);
            }
        }
        if (!(pl_det3(A) > 0)) {
            continue;
        }
        pl_polar3(A, R);
        for (int32_t k = 0; k < body->node_count; ++k) {
            const int64_t v = 3 * (int64_t)body->node[k];
            double arm[3], turned[3];
            pl_sub3(x + v, c0, arm);
            pl_mulv3(R, arm, turned);
            for (int i = 0; i < 3; ++i) {
                predicted[v + i] = c1[i] + turned[i];
            }
        }
    }
}

// Vertices that are held stay where they are; rigid bodies follow as a whole.
static void predict_finish(const pl_problem *p, const double *x, double *predicted)
{
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        if (p->unknowns.dof[i] < 0 && p->unknowns.rigid_of[i / 3] < 0) {
            predicted[i] = x[i];
        }
    }
    predict_rigid(p, x, predicted);
}

// ---- stages
// Commands of time t; the step of the problem leads there from the state. `contact`: numbers that contact
// begins with instead of those of the state (NULL): pressures of a first stage are twice the mean ones, those
// of an impact are not there before it.
static pl_status stage_begin(pl_dynamics *d, const pl_state *from, const double *contact, double t,
                             pl_error *err)
{
    pl_problem *p = d->problem;
    if (d->signal.command) {
        d->signal.command(d->signal.user, t, d->command);
    } else {
        memcpy(d->command, from->command, (size_t)from->command_count * sizeof *d->command);
    }

    if (d->signal.force) {
        d->signal.force(d->signal.user, t, d->force);
        pl_problem_set_forces(p, d->force);
    }

    if (d->signal.base) {
        d->signal.base(d->signal.user, t, d->base);
    }

    pl_status status = pl_problem_check(p, d->command, err);
    if (status == PL_OK) {
        const double load = d->signal.load ? fmin(1, fmax(0, d->signal.load(d->signal.user, t))) : 1;
        const pl_step step = {.from = from, .command = d->command, .load = load, .contact = contact};
        status = pl_problem_begin_step(p, &step, err);
    }
    if (status == PL_OK) {
        pl_problem_set(p, 1);
    }

    return status;
}

// What a stage begins with: the pressures of the same stage of the last step, none after a rejected one
// (those of an impact grow as its step shrinks). Friction remembers places: it begins with its own.
static const double *stage_contact(const pl_dynamics *d, const double *last)
{
    return d->robot->contact.friction || !d->touches ? NULL : d->contact_known ? last : d->contact_none;
}

// A step that ends where something jumps ends with the values before the jump: the time at which the signal
// has them.
static double step_end(pl_dynamics *d, double h)
{
    const pl_signal *signal = &d->signal;
    const double t = d->now.time + h, before = t - fmax(STEP_BEFORE * h, 1e-10);
    const double corner = signal->corner ? signal->corner(signal->user, d->now.time) : INFINITY;

    if (t < corner - 1e-9 * h) {
        return t;
    }

    pl_problem *p = d->problem;
    const int commands = d->now.state->command_count, forces = 3 * d->robot->marker_count;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *at[3]; // commands, load, base and forces at the start, just before the end and at the end
    for (int k = 0; k < 3; ++k) {
        const double time = k == 0 ? d->now.time : k == 1 ? before : t;
        at[k] = PL_TAKE(&p->scratch, double, commands + 4 + forces);
        memset(at[k], 0, (size_t)(commands + 4 + forces) * sizeof *at[k]);
        if (signal->command) {
            signal->command(signal->user, time, at[k]);
        }
        at[k][commands] = signal->load ? signal->load(signal->user, time) : 1;
        if (signal->force) {
            signal->force(signal->user, time, at[k] + commands + 4);
        }
        if (signal->base) {
            signal->base(signal->user, time, at[k] + commands + 1);
        }
    }

    bool jumps = false;
    for (int i = 0; i < commands + 4 + forces; ++i) {
        const double change = fabs(at[1][i] - at[0][i]), jump = fabs(at[2][i] - at[1][i]);
        jumps = jumps || isnan(at[2][i]) != isnan(at[1][i]) ||
                jump > STEP_JUMP * change + 1e-12 * (fabs(at[1][i]) + fabs(at[2][i]));
    }

    pl_arena_end(&p->scratch, mark);

    return jumps ? before : t;
}

// The inertia of the body in the frame of the supports, -M a: the target moves by -a / coefficient.
static void stage_base(pl_dynamics *d, double coefficient)
{
    for (int64_t i = 0; d->signal.base && i < dynamics_full(d); ++i) {
        d->target[i] -= d->base[i % 3] / coefficient;
    }
}

// y* -> target and coefficient of the inertia, z in `rest` for damping.
static void stage_inertia(pl_dynamics *d, double s, const double *rest)
{
    const double b = d->options.mass_damping, k = 1 / (s * s) + b / s;
    const double weight = b / s / k;

    for (int64_t i = 0; b > 0 && i < dynamics_full(d); ++i) {
        d->target[i] += weight * (rest[i] - d->target[i]);
    }
    stage_base(d, k);
    d->inertia->coefficient = k;
    d->inertia->target = d->target;
    d->inertia->rest = rest;
    d->inertia->pace = s;
}

// Energy that damping takes, b v . M v and drag |v|^3, by the same quadrature as work.
static void step_damped(pl_dynamics *d, double h)
{
    const dynamics_point *at[3] = {&d->now, &d->middle, &d->next};
    const double weight[3] = {TR_W0, TR_WG, TR_W1}, b = d->options.mass_damping;

    for (int k = 0; k < 3; ++k) {
        const double kinetic = b > 0 ? dynamics_kinetic(d, at[k]->v) : 0;
        d->energy_next.damped +=
            h * weight[k] * (2 * b * kinetic + dynamics_drag_power(d->inertia, at[k]->v));
    }
}

static pl_status step_first(pl_dynamics *d, double h, double tolerance, stage_outcome *outcome, pl_error *err)
{
    const dynamics_point *now = &d->now;
    dynamics_point *to = &d->middle;
    const double s = dynamics_stage_length(h);
    const int64_t n = dynamics_full(d);

    to->time = now->time + TR_GAMMA * h;
    pl_status status = stage_begin(d, now->state, stage_contact(d, d->contact_first), to->time, err);
    if (status != PL_OK) {
        return status;
    }
    pl_viscous_begin(d->viscous, s, false);

    // predicted by the acceleration of the last step
    for (int64_t i = 0; i < n; ++i) {
        d->target[i] = now->x[i] + 2 * s * now->v[i] + s * s * now->a[i];
        to->x[i] = d->target[i] + s * s * now->a[i];
        to->x[i] += d->touches ? 2 * s * s * (now->total[i] - now->a[i]) : 0;
        d->work[i] = now->x[i] + s * now->v[i];
    }

    predict_finish(d->problem, now->x, to->x);
    stage_inertia(d, s, d->work);
    status = dynamics_stage_solve(d, s, tolerance, now->x, to->x, outcome, err);
    if (status != PL_OK || *outcome != STAGE_SOLVED) {
        return status;
    }
    for (int64_t i = 0; i < n; ++i) {
        to->v[i] = (to->x[i] - now->x[i]) / s - now->v[i];
        to->a[i] = (to->v[i] - now->v[i]) / s - now->a[i];
    }

    memcpy(to->base, d->base, sizeof to->base);
    dynamics_work_first(d);
    pl_problem_store(d->problem, d->command, 1, to->x, to->state);
    d->energy_next.viscous += pl_viscous_end(d->viscous, s, false, to->x);
    pl_softening_advance(d->softening, to->x);

    return PL_OK;
}

// Contact acts implicitly in both stages: the first one then takes x + 2 s v + s^2 a with the acceleration a
// of everything else, and its contact forces are twice the mean ones, so that a force that was there when the
// step began cannot push a body that leaves (Deuflhard, Krause, Ertel 2008; otherwise impacts create energy).
// a <- a - M^-1 f with the contact forces f at the end of the step, by conjugate gradients.
static void step_without_contact(pl_dynamics *d, dynamics_point *to)
{
    pl_problem *p = d->problem;
    const int32_t n = p->unknowns.n;

    if (!d->touches) {
        return;
    }
    memcpy(to->total, to->a, (size_t)dynamics_full(d) * sizeof *to->a);
    double *f = d->newton.work.g, *r = d->newton.work.r, *q = d->newton.work.g_new, *u = d->newton.work.d,
           *w = d->newton.work.y;
    pl_problem_evaluate(p, to->x, f);
    pl_problem_evaluate_as(p, PL_CONTACT_ABSENT, to->x, r);
    for (int32_t i = 0; i < n; ++i) {
        r[i] -= f[i]; // the force, minus the gradient
        q[i] = r[i];
        u[i] = 0;
    }

    double square = pl_newton_dot(r, r, n);
    const double end = CONTACT_MASS_TOLERANCE * CONTACT_MASS_TOLERANCE * square;
    for (int k = 0; k < CONTACT_MASS_STEPS && square > end && square > 0; ++k) {
        pl_problem_expand(p, to->x, q, d->work);
        dynamics_mass_multiply(d->inertia, d->work, d->newton.work.x_trial);
        pl_problem_gather(p, d->newton.work.x_trial, to->x, w);
        const double along = square / pl_newton_dot(q, w, n);
        double next = 0;
        for (int32_t i = 0; i < n; ++i) {
            u[i] += along * q[i];
            r[i] -= along * w[i];
        }
        next = pl_newton_dot(r, r, n);
        for (int32_t i = 0; i < n; ++i) {
            q[i] = r[i] + next / square * q[i];
        }
        square = next;
    }

    pl_problem_expand(p, to->x, u, d->work);
    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        to->a[i] -= d->work[i];
    }
}

static pl_status step_second(pl_dynamics *d, double h, double tolerance, stage_outcome *outcome,
                             pl_error *err)
{
    const dynamics_point *now = &d->now, *middle = &d->middle;
    dynamics_point *to = &d->next;
    const double s = dynamics_stage_length(h);
    const int64_t n = dynamics_full(d);

    to->time = now->time + h;
    pl_status status = stage_begin(
        d, middle->state, stage_contact(d, now->state->history[PL_STATE_CONTACT].value), step_end(d, h), err);
    if (status != PL_OK) {
        return status;
    }
    pl_viscous_begin(d->viscous, s, true);

    // predicted by the acceleration, extrapolated
    for (int64_t i = 0; i < n; ++i) {
        const double X = TR_C1 * middle->x[i] - TR_C0 * now->x[i],
                     V = TR_C1 * middle->v[i] - TR_C0 * now->v[i];
        d->work[i] = X;
        d->target[i] = X + s * V;
        const double a = d->touches ? now->total[i] : (middle->a[i] - now->a[i]) / TR_GAMMA + now->a[i];
        to->x[i] = d->target[i] + s * s * a;
        to->v[i] = V;
    }

    predict_finish(d->problem, middle->x, to->x);
    stage_inertia(d, s, d->work);
    status = dynamics_stage_solve(d, s, tolerance, middle->x, to->x, outcome, err);
    if (status != PL_OK || *outcome != STAGE_SOLVED) {
        return status;
    }

    for (int64_t i = 0; i < n; ++i) {
        const double V = to->v[i];
        to->v[i] = (to->x[i] - d->work[i]) / s;
        to->a[i] = (to->v[i] - V) / s;
    }

    memcpy(to->base, d->base, sizeof to->base);
    dynamics_work_second(d, &d->energy_next);
    pl_problem_store(d->problem, d->command, 1, to->x, to->state);
    step_without_contact(d, to);
    step_damped(d, h);
    if (d->signal.base) {
        dynamics_work_base(d, &d->energy_next);
    }
    d->energy_next.viscous += pl_viscous_end(d->viscous, s, true, to->x);
    pl_softening_advance(d->softening, to->x);

    return PL_OK;
}

static double step_largest(const pl_dynamics *d, const double *full)
{
    double largest = 0;
    for (int64_t v = 0; v < dynamics_full(d); v += 3) {
        largest = fmax(largest, pl_dot3(full + v, full + v));
    }
    return sqrt(largest);
}

// e = 2 k h (v_n / gamma - v_g / (gamma (1 - gamma)) + v1 / (1 - gamma)),
// k = (-3 gamma^2 + 4 gamma - 2) / (12 (2 - gamma)): the largest over the vertices.
static double step_error(pl_dynamics *d, double h)
{
    const double g = TR_GAMMA, k = 2 * h * (-3 * g * g + 4 * g - 2) / (12 * (2 - g));
    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        d->work[i] = k * (d->now.v[i] / g - d->middle.v[i] / (g * (1 - g)) + d->next.v[i] / (1 - g));
    }
    return step_largest(d, d->work);
}

// The same without what the step does not resolve: (K + M / s^2)^-1 (M / s^2) e (Hosea and Shampine 1996).
double dynamics_filtered_error(pl_dynamics *d, double h)
{
    pl_problem *p = d->problem;
    const double s = dynamics_stage_length(h);
    double mu[PL_ROWS_MAX];

    step_error(d, h);
    dynamics_mass_multiply(d->inertia, d->work, d->newton.work.x_trial);
    pl_problem_gather(p, d->newton.work.x_trial, d->next.x, d->newton.work.y);
    if (!pl_problem_solve_bordered(p, d->newton.work.y, NULL, d->newton.work.d, mu)) {
        return INFINITY;
    }
    dynamics_stage_count(d);
    pl_problem_expand(p, d->next.x, d->newton.work.d, d->work);

    return step_largest(d, d->work) / (s * s);
}

// What contact gave to the body in the step beyond its force at the beginning: an impact acts somewhere
// within the step, or over a time that it does not resolve, so that mean positions are uncertain by
//   h |sum M (v1 - v0 - h (a0_contact + (a0 + a1) / 2))| / sum M,
// with the accelerations a of everything but contact and a0_contact of contact.
double dynamics_struck(pl_dynamics *d, double h)
{
    const dynamics_point *now = &d->now, *next = &d->next;
    double mass = 0, momentum[3] = {0};

    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        d->work[i] = next->v[i] - d->v_before[i] - h * (now->total[i] + 0.5 * (next->a[i] - now->a[i]));
    }
    dynamics_mass_multiply(d->inertia, d->work, d->inertia->product);
    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        momentum[i % 3] += d->inertia->product[i];
    }
    for (int64_t k = 0; k < d->inertia->M.start[d->inertia->M.n]; ++k) {
        mass += d->inertia->M.value[k];
    }

    return h * pl_norm3(momentum) / mass;
}

// Moreau's velocity: before a step, the velocity nearest to that of `now`, in the metric of the mass, with
// which nothing penetrates within s: y minimises |y - x - s v|^2_M / (2 s^2) under contact, v <- (y - x) / s.
// The trapezoidal rule would throw a vertex back that it finds on an obstacle. Kinetic energy can only fall.
static pl_status step_impact(pl_dynamics *d, double h, double tolerance, stage_outcome *outcome,
                             pl_error *err)
{
    dynamics_point *now = &d->now, *scratch = &d->next;
    const double s = dynamics_stage_length(h), b = d->options.mass_damping;
    const int64_t n = dynamics_full(d);

    *outcome = STAGE_SOLVED;
    if (!d->touches) {
        return PL_OK;
    }
    memcpy(d->v_before, now->v, (size_t)n * sizeof *now->v);
    pl_status status = stage_begin(d, now->state, d->contact_none, now->time, err);
    if (status != PL_OK) {
        return status;
    }
    pl_viscous_begin(d->viscous, s, false);
    for (int64_t i = 0; i < n; ++i) {
        // what else acts is balanced; of it the stage has no damping, which is part of a, and has drag
        d->target[i] = now->x[i] + s * now->v[i] - s * s * (now->a[i] + b * now->v[i]);
        scratch->x[i] = now->x[i] + s * now->v[i];
    }
    stage_base(d, 1 / (s * s));

    predict_finish(d->problem, now->x, scratch->x);
    d->inertia->coefficient = 1 / (s * s);
    d->inertia->target = d->target;
    d->inertia->rest = now->x;
    d->inertia->pace = s;
    pl_problem_evaluate(d->problem, scratch->x, NULL);
    double penetration = 0;
    if (pl_problem_complementarity_error(d->problem, scratch->x, &penetration) <= 1 && !(penetration > 0)) {
        return PL_OK; // nothing is near
    }
    status = dynamics_stage_solve(d, s, tolerance, now->x, scratch->x, outcome, err);
    for (int64_t i = 0; status == PL_OK && *outcome == STAGE_SOLVED && i < n; ++i) {
        now->v[i] = (scratch->x[i] - now->x[i]) / s;
    }

    return status;
}

static pl_status step_stages(pl_dynamics *d, double h, double tolerance, double *error,
                             stage_outcome *outcome, pl_error *err)
{
    d->energy_next = d->energy;
    pl_status status = step_first(d, h, tolerance, outcome, err);
    if (status == PL_OK && *outcome == STAGE_SOLVED) {
        status = step_second(d, h, tolerance, outcome, err);
    }
    if (status == PL_OK && *outcome == STAGE_SOLVED && !pl_problem_admissible(d->problem, d->next.x)) {
        *outcome = STAGE_INVERTED; // between its quadrature points
    }
    *error = status == PL_OK && *outcome == STAGE_SOLVED ? step_error(d, h) : INFINITY;

    return status;
}

pl_status dynamics_step(pl_dynamics *d, double h, double tolerance, double *error, stage_outcome *outcome,
                        pl_error *err)
{
    *error = INFINITY;
    const pl_status status = step_impact(d, h, tolerance, outcome, err);
    return status == PL_OK && *outcome == STAGE_SOLVED ? step_stages(d, h, tolerance, error, outcome, err)
                                                       : status;
}

void dynamics_step_undo(pl_dynamics *d)
{
    pl_softening_revert(d->softening);
    if (d->touches) {
        memcpy(d->now.v, d->v_before, (size_t)dynamics_full(d) * sizeof *d->now.v);
        d->contact_known = false;
    }
}

pl_status dynamics_recall(pl_dynamics *d, pl_error *err)
{
    const pl_status status = stage_begin(d, d->now.state, NULL, d->now.time, err);
    if (status == PL_OK) {
        d->inertia->coefficient = 0;
        pl_problem_evaluate(d->problem, d->now.x, NULL);
        dynamics_rows(d->problem, &d->now);
    }

    return status;
}

// ---- where commands have a corner
// Rates of the targets of constraints just after `now`, and how far the velocity is from them: rho per
// border. False: no active constraint.
static bool velocity_gaps(pl_dynamics *d, double *rho, pl_error *err)
{
    pl_problem *p = d->problem;
    const double ahead = 1e-6 * dynamics_stage_length(d->options.largest_step);
    double target[PL_ROWS_MAX], rate[PL_ROWS_MAX];
    bool any = false;

    for (int i = 0; i < p->row_count; ++i) {
        target[i] = p->row[i].target;
    }
    if (stage_begin(d, d->now.state, NULL, d->now.time + ahead, err) != PL_OK) {
        return false;
    }
    for (int i = 0; i < p->row_count; ++i) {
        rate[i] = (p->row[i].target - target[i]) / ahead;
    }

    // dh/dt along the velocity, by a difference over a small part of the body's size
    const double speed = step_largest(d, d->now.v), step = speed > 0 ? 1e-6 * p->size / speed : 0;
    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        d->newton.work.x_trial[i] = d->now.x[i] + step * d->now.v[i];
    }

    for (int k = 0; k < p->linear.border_count; ++k) {
        const int i = p->linear.border[k];
        const pl_row *row = &p->row[i];
        rho[k] = 0;
        if (!row->wanted || !row->constraint || !row->active) {
            continue;
        }
        pl_problem_row_at(p, d->newton.work.x_trial, i);
        const double moved = row->measure;
        pl_problem_row_at(p, d->now.x, i);
        const double drift = step > 0 ? (moved - row->measure) / step : 0;
        // a cable that is let out becomes slack by itself
        rho[k] = row->inequality && drift < rate[i] ? 0 : rate[i] - drift;
        any = any || rho[k] != 0;
    }

    return any;
}

// A drive that starts to move takes the body along: the velocity jumps by the least change, in the metric of
// K
// + M / s^2, that meets the rates of the targets.
static pl_status acceleration_jump(pl_dynamics *d, pl_error *err)
{
    pl_problem *p = d->problem;
    double rho[PL_ROWS_MAX], mu[PL_ROWS_MAX];
    pl_error why = {0};

    if (p->row_count == 0 || !d->signal.command || !velocity_gaps(d, rho, &why)) {
        return stage_begin(d, d->now.state, NULL, d->now.time, err);
    }
    memset(d->newton.work.y, 0, (size_t)p->unknowns.n * sizeof *d->newton.work.y);
    if (pl_problem_solve_bordered(p, d->newton.work.y, rho, d->newton.work.d, mu)) {
        pl_problem_expand(p, d->now.x, d->newton.work.d, d->work);
        const double before = dynamics_kinetic(d, d->now.v);
        for (int64_t i = 0; i < dynamics_full(d); ++i) {
            d->now.v[i] += d->work[i];
        }
        d->energy.actuators += dynamics_kinetic(d, d->now.v) - before;
    }

    return stage_begin(d, d->now.state, NULL, d->now.time, err);
}

// M a = -dG/dx - b M v - drag - M a_supports with the factor of K + M / s^2 as preconditioner: a <- a + (M +
// s^2 K)^-1 (f - M a). After a few passes slow motions are exact to the power of (s omega)^2, and what the
// step does not resolve stays filtered.
pl_status dynamics_acceleration(pl_dynamics *d, double s, pl_error *err)
{
    pl_problem *p = d->problem;
    const int64_t n = dynamics_full(d);
    pl_status status = stage_begin(d, d->now.state, NULL, d->now.time, err);

    if (status != PL_OK) {
        return status;
    }
    pl_viscous_hold(d->viscous);
    stage_outcome outcome = STAGE_SOLVED;
    status = dynamics_levels_use(d, s, err);
    memcpy(d->target, d->now.x, (size_t)n * sizeof *d->target);
    d->inertia->coefficient = 1 / (s * s);
    d->inertia->target = d->target;
    d->inertia->rest = NULL;
    if (status == PL_OK) {
        status = dynamics_stage_factor(d, d->now.x, &outcome, err);
    }
    memset(d->now.a, 0, (size_t)n * sizeof *d->now.a);
    if (status != PL_OK || !p->linear.has_factor) {
        return status;
    }

    // the jump of velocities is that of a step far shorter than any that follows: it does not depend on them
    const bool jumps = p->row_count > 0 && d->options.step == 0;
    const double brief = dynamics_stage_length(ldexp(d->options.largest_step, -JUMP_HALVINGS));
    if (jumps) {
        status = dynamics_levels_use(d, brief, err);
        d->inertia->coefficient = 1 / (brief * brief);
        status = status == PL_OK ? dynamics_stage_factor(d, d->now.x, &outcome, err) : status;
    }
    status = status == PL_OK && p->linear.has_factor ? acceleration_jump(d, err) : status;
    if (jumps && status == PL_OK) {
        status = dynamics_levels_use(d, s, err);
        d->inertia->coefficient = 1 / (s * s);
    }
    if (status != PL_OK) {
        return status;
    }

    double mu[PL_ROWS_MAX], *rest = d->newton.work.x_start;
    d->inertia->rest = rest;
    d->inertia->pace = s;
    for (int pass = 0; pass < ACCELERATION_PASSES; ++pass) {
        // the gradient of a target off by s^2 (a + b v) is G + M (a + b v)
        for (int64_t i = 0; i < n; ++i) {
            d->target[i] = d->now.x[i] - s * s * (d->now.a[i] + d->options.mass_damping * d->now.v[i]);
            rest[i] = d->now.x[i] - s * d->now.v[i]; // of drag: v = (x - rest) / s
        }
        stage_base(d, 1 / (s * s));
        const double energy = pl_problem_evaluate_as(p, PL_CONTACT_ABSENT, d->now.x, d->newton.work.g);
        if (isinf(energy)) {
            return pl_fail(err, PL_BAD_INPUT, "the state where the motion begins has inverted elements");
        }
        pl_problem_residual(p, d->newton.work.g, d->newton.work.r);
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            d->newton.work.y[i] = -d->newton.work.r[i];
        }
        if (!pl_problem_solve_bordered(p, d->newton.work.y, NULL, d->newton.work.d, mu)) {
            break;
        }
        pl_problem_expand(p, d->now.x, d->newton.work.d, d->work);
        for (int64_t i = 0; i < n; ++i) {
            d->now.a[i] += d->work[i] / (s * s);
        }
    }

    d->inertia->rest = NULL;
    memcpy(d->now.total, d->now.a, (size_t)n * sizeof *d->now.a);
    memcpy(d->now.base, d->base, sizeof d->now.base);
    dynamics_rows(p, &d->now);
    dynamics_stage_count(d);

    // the step that follows begins with the commands, loads and efforts after the jump
    pl_problem_store(p, d->command, 1, d->now.x, d->now.state);

    return PL_OK;
}
