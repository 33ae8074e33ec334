// One stage of a step: the minimum of inertia, elastic energy and loads at fixed loads and commands, by
// Newton's method (room newton) with the factor of an earlier shape, co-rotated with the body. Pairs of
// L-BFGS are those of this stage only: those of another one belong to another rotation of the factor.
#include "dynamics/dynamics_impl.h"

#define STAGE_ITERATIONS 60
#define STAGE_WORK_SHARE 5 // work of what is left unbalanced: this part of the tolerance
#define STAGE_WORK_LEAST 1e-3
#define STAGE_ROUNDS 25    // updates of contact, or of forces that follow the shape, in one stage
#define STAGE_FORCE 1e-5   // residual over the largest nodal force, with contact
#define STAGE_RESOLVED 0.1 // of the tolerance
#define STAGE_GAP 1e-3     // of the edge: gaps of contacts that press, at most
#define STAGE_HARD 1.0
#define STAGE_HARD_MOST 1048576.0
#define STAGE_CONTRACTION_LOW 0.05
#define STAGE_CONTRACTION_HIGH 0.9

// ---- the factor
void dynamics_stage_count(pl_dynamics *d)
{
    pl_linear *l = &d->problem->linear;
    d->report.factorizations += l->factorizations;
    d->report.solves += l->solves;
    l->factorizations = l->solves = 0;
}

// Is the step too long for tangents that are not positive? Fibres and layers that ring are compressed for a
// moment: modes that the error of the step controls. Of the shortest step the modes are made positive.
static bool stage_too_long(const pl_dynamics *d)
{
    return !pl_problem_stiff(d->problem) && d->level < d->options.halvings;
}

pl_status dynamics_stage_factor(pl_dynamics *d, const double *x, stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    pl_error why = {0};
    const pl_status status =
        pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = PL_MODES_FLIPPED}, &why);

    d->levels.level[d->levels.now].best = -1;
    d->levels.level[d->levels.now].extra = 0;
    dynamics_stage_count(d);
    if (status != PL_OK && status != PL_FAILED) {
        return pl_fail(err, status, "%s", why.text);
    }

    const bool indefinite = status == PL_FAILED || p->linear.blend > 0 || p->linear.mode_count > 0;
    *outcome = indefinite && (status == PL_FAILED || stage_too_long(d)) ? STAGE_INDEFINITE : STAGE_SOLVED;

    return PL_OK;
}

// ---- where it ends
typedef struct stage {
    pl_dynamics *d;
    double tolerance;   // mm
    const double *from; // full: where it began
} stage;

// Work of the force r that the iteration leaves unbalanced, along the motion of the stage; `exchange`: what
// inertia exchanges, vertex by vertex. Rigid bodies take part with the mean motion of their vertices.
static double stage_work(const pl_dynamics *d, const double *from, const double *x, const double *r,
                         double *exchange)
{
    const pl_problem *p = d->problem;
    const pl_unknowns *u = &p->unknowns;
    double work = 0;

    *exchange = 0;
    for (int64_t v = 0; v < dynamics_full(d); v += 3) {
        double moved = 0;
        for (int i = 0; i < 3; ++i) {
            const double step = x[v + i] - from[v + i];
            const int32_t k = u->dof[v + i];
            moved += d->inertia->product[v + i] * step;
            work += k >= 0 ? r[k] * step : 0;
        }
        *exchange += fabs(d->inertia->coefficient * moved);
    }

    for (int b = 0; b < u->rigid_count; ++b) {
        const pl_rigid_motion *body = &u->rigid[b];
        double mean[3] = {0};
        for (int32_t k = 0; k < body->node_count; ++k) {
            for (int i = 0; i < 3; ++i) {
                const int64_t at = 3 * (int64_t)body->node[k] + i;
                mean[i] += (x[at] - from[at]) / body->node_count;
            }
        }
        work += pl_dot3(r + body->unknown, mean);
    }

    return work;
}

// Positions are good to the tolerance, and the force left unbalanced does no more than a small part of the
// work that is exchanged: an error of positions is one of velocities, larger by 1 / s, and would create
// energy. Far below the tolerance of the positions that is rounding.
static bool stage_accepts(void *user, const double *x, double left, const double *r)
{
    const stage *run = user;
    const pl_dynamics *d = run->d;
    double exchange;
    const double work = stage_work(d, run->from, x, r, &exchange);

    return fabs(work) <= d->options.tolerance / STAGE_WORK_SHARE * (exchange + d->exchanged) ||
           left < STAGE_WORK_LEAST * run->tolerance;
}

// ---- contacts
static double stage_edge(const pl_dynamics *d)
{
    const pl_elements *E = d->problem->elements;
    return cbrt(E->volume / fmax(1, E->element_count));
}

// Contacts are harder than the inertia that hits them, over the usual stiffness, some mu / h of a face: with
// M / s^2 about rho h^3 / s^2 the ratio is rho h^2 / (mu s^2), as a power of two.
static double stage_hard(const pl_dynamics *d, double s)
{
    const pl_elements *E = d->problem->elements;
    double mu = INFINITY, density = 0;

    for (int r = 0; r < E->law_count; ++r) {
        mu = E->law[r].mu > 0 ? fmin(mu, E->law[r].mu) : mu;
        density = fmax(density, E->density[r]);
    }

    const double h = stage_edge(d), ratio = STAGE_HARD * (1 + density * h * h / (mu * s * s));
    return fmin(STAGE_HARD_MOST, exp2(ceil(log2(ratio))));
}

// ---- the minimum
// With contacts to their forces, which velocities depend on; otherwise until the motion is good enough.
static pl_status stage_newton(stage *run, double *x, stage_outcome *outcome, pl_error *err)
{
    pl_dynamics *d = run->d;
    const pl_newton_goal goal = {.force_tolerance = STAGE_FORCE,
                                 .length_tolerance = run->tolerance,
                                 .limit = STAGE_ITERATIONS,
                                 .accepts = d->touches ? NULL : stage_accepts,
                                 .user = run,
                                 .contraction = d->contraction};
    pl_newton_report found;
    pl_error why = {0};

    memcpy(d->newton.work.x_start, x, pl_problem_full_bytes(d->problem));
    pl_newton_forget(&d->newton);
    const int before = d->newton.iterations;
    pl_newton_end end = pl_newton_minimise(&d->newton, x, &goal, &found, &why);

    // a prediction that inverts an element is replaced by the last shape
    if (end == NEWTON_INVERTED && d->newton.iterations == before) {
        memcpy(x, run->from, pl_problem_full_bytes(d->problem));
        end = pl_newton_minimise(&d->newton, x, &goal, &found, &why);
    }
    d->report.evaluations += d->newton.iterations - before;
    if (found.factors > 0) {
        d->levels.level[d->levels.now].best = -1;
        d->levels.level[d->levels.now].extra = 0;
    }
    if (found.contraction > 0) {
        d->contraction = fmin(STAGE_CONTRACTION_HIGH, fmax(STAGE_CONTRACTION_LOW, found.contraction));
    }

    // with hard contacts the energy does not resolve steps far below the tolerance; a search that fails
    // before its first direction has none
    const bool stepped = d->newton.iterations > before;
    const bool resolved = d->touches && stepped && found.step < STAGE_RESOLVED * run->tolerance;
    const bool solved = end == NEWTON_DONE || resolved;
    *outcome = solved ? STAGE_SOLVED : end == NEWTON_INVERTED ? STAGE_INVERTED : STAGE_DIVERGED;
    if (found.indefinite > 0 && !d->touches && stage_too_long(d)) {
        *outcome = STAGE_INDEFINITE;
    }
    if (end == NEWTON_STOPPED) {
        return pl_fail(err, PL_INTERRUPTED, "interrupted");
    }

    const bool fatal = why.status == PL_NO_MEMORY || why.status == PL_INTERRUPTED;
    return fatal ? pl_fail(err, why.status, "%s", why.text) : PL_OK;
}

// Equilibria of the stage one after another, each with the pressures of the one before as multipliers, until
// gaps and pressures are complementary; otherwise the step is too long.
static pl_status stage_touch(stage *run, double *x, stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = run->d->problem;
    pl_status status = stage_newton(run, x, outcome, err);

    for (int round = 0; status == PL_OK && *outcome == STAGE_SOLVED; ++round) {
        double penetration = 0;
        const double complementarity = pl_problem_complementarity_error(p, x, &penetration);
        pl_log(2, "      contact: update %d, penetration %.2e of the edge, %.2e of the aim", round,
               penetration, complementarity);
        if (complementarity <= 1) {
            break;
        }
        if (round == STAGE_ROUNDS) {
            *outcome = STAGE_DIVERGED;
            break;
        }
        status = p->limits_off > PL_CONTACT_LIMIT ? pl_problem_accept(p, x, PL_ACCEPT_UPDATE, err)
                                                  : pl_problem_accept(p, x, PL_ACCEPT_INCREMENT, err);
        if (status == PL_OK) {
            status = stage_newton(run, x, outcome, err);
        }
    }

    return status;
}

// Forces that follow the shape only when advanced (pressures on open surfaces): equilibria one after another
// until they move by less than the tolerance.
static pl_status stage_follow(stage *run, double *x, stage_outcome *outcome, pl_error *err)
{
    pl_dynamics *d = run->d;
    const size_t bytes = pl_problem_full_bytes(d->problem);
    double *before = d->newton.work.x_trial;
    pl_status status = PL_OK;

    for (int round = 0;; ++round) {
        memcpy(before, x, bytes);
        status = pl_problem_accept(d->problem, x, PL_ACCEPT_INCREMENT, err);
        if (status == PL_OK) {
            status = stage_newton(run, x, outcome, err);
        }
        if (status != PL_OK || *outcome != STAGE_SOLVED ||
            pl_newton_distance(&d->newton, before, x) < run->tolerance) {
            return status;
        }
        if (round == STAGE_ROUNDS) {
            *outcome = STAGE_DIVERGED;
            return PL_OK;
        }
    }
}

// A prediction that goes through an obstacle ends before it.
static void stage_stop_before(const pl_dynamics *d, const double *from, double *x)
{
    const double limit = pl_problem_step_limit(d->problem, from, x);
    for (int64_t i = 0; limit < 1 && i < dynamics_full(d); ++i) {
        x[i] = d->problem->unknowns.rigid_count > 0 ? from[i] : from[i] + limit * (x[i] - from[i]);
    }
}

// The factor at hand, co-rotated; otherwise one at the last accepted shape, or at the predicted one.
static pl_status stage_prepare(pl_dynamics *d, const double *x, stage_outcome *outcome, pl_error *err)
{
    *outcome = STAGE_SOLVED;
    if (pl_problem_factor_serves(d->problem)) {
        return PL_OK;
    }
    const pl_status status = dynamics_stage_factor(d, d->now.x, outcome, err);
    return status == PL_OK && *outcome != STAGE_SOLVED ? dynamics_stage_factor(d, x, outcome, err) : status;
}

pl_status dynamics_stage_solve(pl_dynamics *d, double s, double tolerance, const double *from, double *x,
                               stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    stage run = {.d = d, .tolerance = tolerance, .from = from};
    pl_status status = dynamics_levels_use(d, s, err);

    if (status != PL_OK) {
        return status;
    }

    if (d->touches) {
        // an error of a gap is one of velocities, larger by 1 / s
        p->options.contact_tolerance = fmin(STAGE_GAP, tolerance / stage_edge(d));
        p->contact_hard = stage_hard(d, s);
        pl_problem_evaluate(p, from, NULL); // contacts take their stiffness
        stage_stop_before(d, from, x);
    }

    // a prediction strains stiff parts to second order: they begin at a shape in balance
    if (pl_problem_stiff(p)) {
        memcpy(x, from, pl_problem_full_bytes(p));
    }

    status = stage_prepare(d, x, outcome, err);
    if (status == PL_OK && *outcome == STAGE_SOLVED) {
        status = d->touches           ? stage_touch(&run, x, outcome, err)
                 : pl_problem_lags(p) ? stage_follow(&run, x, outcome, err)
                                      : stage_newton(&run, x, outcome, err);
    }
    dynamics_stage_count(d);

    return status;
}
