// Equilibrium with Coulomb friction: one semismooth Newton iteration whose limits follow the pressures,
//   t = projection of t_old + e P (x - x_old) onto |t| <= mu p(x),   p = max(0, l - e g(x)).
// The radius of the disc is differentiated too, so the tangent J is not symmetric. GMRES with the factor K at
// hand finds the step,
//   K^-1 J d = -K^-1 r,   rows of constraints bordered as usual,
// with differences of the residual for J v: what slips or sticks since K was factored, and what its limits
// add, is in them, so a factor serves many steps. A step is taken where it lowers |K^-1 r|: there is no
// energy. Limits that lag behind (a fixed point of minimisations) let a body slip away as soon as their sum
// is below its load in one round.
#include "newton/newton_impl.h"

#define FRICTION_VECTORS 40  // of GMRES
#define FRICTION_LINEAR 1e-4 // of the right side: residual of GMRES

// Of the robot's size: longest and shortest difference. Between them it has the length of K^-1 r, so that
// kinks that the step passes, not those far beyond, are in it.
#define FRICTION_PROBE 1e-6
#define FRICTION_PROBE_LEAST 1e-10
#define FRICTION_STEPS 60    // of Newton's method
#define FRICTION_FACTORS 12  // made in them
#define FRICTION_PATIENCE 4  // steps in which |K^-1 r| has to be halved
#define FRICTION_TRIALS 6    // halvings of a step
#define FRICTION_CHEAP 6.0   // vectors for which no factor is made
#define FRICTION_MOTION 0.25 // of the robot's size: longest step
#define FRICTION_INCREASE                                                                                    \
    4.0 // of |K^-1 r|: a full step with contacts that changed may raise it so much, once

typedef struct friction_run {
    pl_problem *p;
    double *base[FRICTION_VECTORS + 1]; // of the Krylov space
    double *b, *z, *z_to, *x_to, *d, *r, *r_to, *g;
    double gap[PL_ROWS_MAX]; // of the rows, at x like r and z = -K^-1 r
    double norm, length;     // |z|; mm: largest motion of it
    double largest;          // N: nodal residual at the last evaluation
    int vectors;             // of the last direction
    bool raised;
} friction_run;

static double friction_norm(const friction_run *f, const double *a)
{
    double sum = 0;
    for (int32_t i = 0; i < f->p->unknowns.n; ++i) {
        sum += a[i] * a[i];
    }
    return sqrt(sum);
}

// z = -K^-1 r with the gaps of the rows; its norm.
static double friction_preconditioned(friction_run *f, const double *r, const double *gap, double *z)
{
    double mu[PL_ROWS_MAX];

    for (int32_t i = 0; i < f->p->unknowns.n; ++i) {
        f->b[i] = -r[i];
    }

    return pl_problem_solve_bordered(f->p, f->b, gap, z, mu) ? friction_norm(f, z) : INFINITY;
}

// The residual at x and the gaps of its rows. False: not possible.
static bool friction_residual(friction_run *f, const double *x, double *r, double gap[PL_ROWS_MAX])
{
    if (!isfinite(pl_problem_evaluate(f->p, x, f->g))) {
        return false;
    }
    f->largest = pl_problem_residual(f->p, f->g, r);
    pl_problem_gaps(f->p, gap);
    return true;
}

// z = K^-1 J v at x, by the difference from the residual f->r and the gaps there.
static bool friction_apply(friction_run *f, const double *x, const double *v, double *z)
{
    pl_problem *p = f->p;
    const double length = pl_problem_largest(p, v, false);
    const double probe = fmin(FRICTION_PROBE * p->size, fmax(FRICTION_PROBE_LEAST * p->size, f->length));
    const double h = length > 0 ? probe / length : 0;
    double gap[PL_ROWS_MAX];

    memset(z, 0, (size_t)p->unknowns.n * sizeof *z);
    if (!(h > 0)) {
        return true;
    }
    pl_problem_move(p, x, v, h, f->x_to);
    if (!friction_residual(f, f->x_to, f->r_to, gap)) {
        return false;
    }
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        f->r_to[i] = (f->r[i] - f->r_to[i]) / h;
    }
    for (int i = 0; i < p->linear.border_count; ++i) {
        gap[i] = (f->gap[i] - gap[i]) / h;
    }

    return isfinite(friction_preconditioned(f, f->r_to, gap, z));
}

// K^-1 J d = z by GMRES: modified Gram-Schmidt, Givens rotations. False: no solution.
static bool friction_direction(friction_run *f, const double *x, const double *z, double *d)
{
    enum { M = FRICTION_VECTORS };
    const int32_t n = f->p->unknowns.n;
    double H[M + 1][M], c[M], s[M], y[M + 1] = {0};
    const double beta = friction_norm(f, z);
    int k = 0;
    memset(d, 0, (size_t)n * sizeof *d);
    if (!(beta > 0) || !isfinite(beta)) {
        return beta == 0;
    }
    for (int32_t i = 0; i < n; ++i) {
        f->base[0][i] = z[i] / beta;
    }
    y[0] = beta;
    for (; k < M && fabs(y[k]) > FRICTION_LINEAR * beta; ++k) {
        double *w = f->base[k + 1];
        if (!friction_apply(f, x, f->base[k], w)) {
            return false;
        }
        for (int j = 0; j <= k; ++j) {
            H[j][k] = 0;
            for (int32_t i = 0; i < n; ++i) {
                H[j][k] += w[i] * f->base[j][i];
            }
            for (int32_t i = 0; i < n; ++i) {
                w[i] -= H[j][k] * f->base[j][i];
            }
        }
        H[k + 1][k] = friction_norm(f, w);
        const double length = H[k + 1][k];
        for (int32_t i = 0; length > 0 && i < n; ++i) {
            w[i] /= length;
        }
        for (int j = 0; j < k; ++j) {
            const double upper = c[j] * H[j][k] + s[j] * H[j + 1][k];
            H[j + 1][k] = -s[j] * H[j][k] + c[j] * H[j + 1][k];
            H[j][k] = upper;
        }
        const double size = hypot(H[k][k], H[k + 1][k]);
        if (!(size > 0)) {
            return false;
        }
        c[k] = H[k][k] / size;
        s[k] = H[k + 1][k] / size;
        H[k][k] = size;
        y[k + 1] = -s[k] * y[k];
        y[k] *= c[k];
    }

    for (int i = k - 1; i >= 0; --i) {
        for (int j = i + 1; j < k; ++j) {
            y[i] -= H[i][j] * y[j];
        }
        y[i] /= H[i][i];
        for (int32_t j = 0; j < n; ++j) {
            d[j] += y[i] * f->base[i][j];
        }
    }

    f->vectors = k;

    return true;
}

// Along d from x, shorter until |K^-1 r| falls: the shape in f->x_to. The best trial is not enough: false.
static bool friction_search(friction_run *f, const double *x, const double *d, double *norm)
{
    pl_problem *p = f->p;
    const double length = pl_problem_largest(p, d, false);
    double scale = fmin(1, FRICTION_MOTION * p->size / length);

    for (int k = 0; k < FRICTION_TRIALS; ++k, scale *= 0.5) {
        pl_problem_move(p, x, d, scale, f->x_to);
        const double limit = k == 0 ? pl_problem_step_limit(p, x, f->x_to) : 1;
        if (limit < 1) {
            scale *= limit;
            pl_problem_move(p, x, d, scale, f->x_to);
        }
        double gap[PL_ROWS_MAX];
        if (!pl_problem_restore(p, f->x_to, NEWTON_GAP) || !friction_residual(f, f->x_to, f->r_to, gap)) {
            continue;
        }
        *norm = friction_preconditioned(f, f->r_to, gap, f->z_to);
        const bool falls = *norm <= (1 - 0.25 * scale) * f->norm;
        if (falls || (k == 0 && scale == 1 && !f->raised && *norm < FRICTION_INCREASE * f->norm)) {
            f->raised = !falls;
            return true;
        }
    }

    return false;
}

// Newton's method from x to the tolerances of `goal`.
static pl_newton_end friction_iterate(pl_newton_solver *N, friction_run *f, double *x,
                                      const pl_newton_goal *goal, pl_newton_report *report, pl_error *err)
{
    pl_problem *p = f->p;
    const double cost = fmax(pl_newton_factor_cost(N), FRICTION_CHEAP);
    bool renew = !pl_problem_factor_serves(p);
    double before = INFINITY;

    for (int k = 0, factors = 0; k < FRICTION_STEPS && factors < FRICTION_FACTORS; ++k, factors += renew) {
        if (!pl_newton_continue(N)) {
            return NEWTON_STOPPED;
        }
        pl_problem_take_hold(p, x);
        // a saddle is left by minimisation
        if (renew &&
            (pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = PL_AS_IT_IS}, err) != PL_OK ||
             pl_problem_unstable(p) > 0)) {
            return NEWTON_NO_DESCENT;
        }
        if (!friction_residual(f, x, f->r, f->gap)) {
            return NEWTON_INVERTED;
        }

        // residual and direction
        report->residual = f->largest;
        report->relative = report->residual / pl_problem_force_scale(p);
        f->norm = friction_preconditioned(f, f->r, f->gap, f->z);
        f->length = pl_problem_largest(p, f->z, false);
        if (!isfinite(f->norm) || !friction_direction(f, x, f->z, f->d)) {
            return NEWTON_NO_DESCENT;
        }
        // far from an equilibrium steps go to and fro
        if (k % FRICTION_PATIENCE == 0) {
            if (k > 0 && f->norm > 0.5 * before) {
                return NEWTON_NO_DESCENT;
            }
            before = f->norm;
        }
        report->step = pl_problem_largest(p, f->d, false);
        pl_log(2, "    friction %2d: residual %.2e, step %.2e mm, %d vectors%s", k, report->relative,
               report->step, f->vectors, renew ? ", newton" : "");
        if (report->relative < goal->force_tolerance && report->step < goal->length_tolerance &&
            pl_problem_constraint_error(p, x) <= NEWTON_GAP) {
            pl_problem_evaluate(p, x, f->g); // limits, after differences
            return pl_problem_admissible(p, x) ? NEWTON_DONE : NEWTON_INVERTED;
        }

        // a step that an old factor does not find is tried with a new one
        double norm = INFINITY;
        N->iterations++;
        const bool found = friction_search(f, x, f->d, &norm);
        if (!found && renew) {
            return NEWTON_NO_DESCENT;
        }
        // differences cost what a solve costs
        renew = !found || f->vectors > cost;
        if (found) {
            memcpy(x, f->x_to, pl_problem_full_bytes(p));
        }
    }

    return NEWTON_LIMIT;
}

// All vectors in one block.
static double *friction_allocate(friction_run *f, double **before)
{
    const int64_t n = f->p->unknowns.n, full = 3 * (int64_t)f->p->mesh.vertex_count;
    double **const unknown[] = {&f->b, &f->z, &f->z_to, &f->d, &f->r, &f->r_to, &f->g},
                   **const vertex[] = {&f->x_to, before};
    double *block =
               PL_NEW_ARRAY(double, (FRICTION_VECTORS + 1 + PL_COUNT(unknown)) * n + PL_COUNT(vertex) * full),
           *next = block;

    for (int k = 0; block && k <= FRICTION_VECTORS; ++k, next += n) {
        f->base[k] = next;
    }
    for (int k = 0; block && k < PL_COUNT(unknown); ++k, next += n) {
        *unknown[k] = next;
    }
    for (int k = 0; block && k < PL_COUNT(vertex); ++k, next += full) {
        *vertex[k] = next;
    }

    return block;
}

pl_newton_end pl_newton_friction(pl_newton_solver *N, double *x, const pl_newton_goal *goal,
                                 pl_newton_report *report, pl_error *err)
{
    pl_problem *p = N->problem;
    friction_run f = {.p = p};
    double *before;

    *report = (pl_newton_report){.end = NEWTON_NO_DESCENT};
    double *block = friction_allocate(&f, &before);
    if (!block) {
        return report->end;
    }
    memcpy(before, x, pl_problem_full_bytes(p));
    if (pl_problem_follow(p, PL_FOLLOW_SHAPE)) {
        report->end = friction_iterate(N, &f, x, goal, report, err);
        pl_log(1, "  friction: %s, residual %.2e, step %.2e mm",
               report->end == NEWTON_DONE ? "equilibrium found" : "no equilibrium found", report->relative,
               report->step);
    }

    pl_problem_follow(p, report->end == NEWTON_DONE ? PL_FOLLOW_KEPT : PL_FOLLOW_BACK);
    pl_newton_forget(N);
    if (report->end != NEWTON_DONE) {
        memcpy(x, before, pl_problem_full_bytes(p));
    }
    pl_free(block);

    return report->end;
}
