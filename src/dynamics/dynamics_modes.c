// Free vibrations about an equilibrium: K u = lambda M u on the null space of the constraints, lambda = (2 pi
// f)^2. Lanczos' method on the exact factor, S = [K A^T; A -c]^-1 restricted to displacements: in the inner
// product of M the operator S M is symmetric, with the eigenvalues theta = 1 / lambda, so that the lowest
// frequencies come first. Full orthogonalisation.
#include "dynamics/dynamics_impl.h"

#define MODES_MOST 32
#define MODES_ROOT_STEPS 60
#define MODES_ROOT_DIFFERENCE 1e-6
#define MODES_VECTORS 120    // most Lanczos vectors
#define MODES_RESIDUAL 1e-10 // of theta: an eigenvalue this good

typedef struct modes {
    pl_dynamics *d;
    const double *x;
    int32_t n;
    double *basis, *image; // vectors q_k, and M q_k
    double diagonal[MODES_VECTORS], beta[MODES_VECTORS + 1];
    double *value, *vector; // of the tridiagonal matrix
    int count;
} modes;

// out = M u, by unknowns
static void modes_mass(const modes *z, const double *u, double *out)
{
    pl_dynamics *d = z->d;
    pl_problem_expand(d->problem, z->x, u, d->work);
    dynamics_mass_multiply(d->inertia, d->work, d->target);
    pl_problem_gather(d->problem, d->target, z->x, out);
}

// Eigenvalues of the tridiagonal matrix, ascending, and eigenvectors in columns.
static bool modes_eigen(modes *z)
{
    const int m = z->count;
    double *T = PL_NEW_ARRAY(double, m *m);

    if (!T) {
        return false;
    }

    for (int i = 0; i < m; ++i) {
        T[i * m + i] = z->diagonal[i];
        if (i + 1 < m) {
            T[i * m + i + 1] = T[(i + 1) * m + i] = z->beta[i + 1];
        }
    }

    pl_dense_eigen(m, T, z->value, z->vector);
    pl_free(T);

    return true;
}

// The k-th largest |theta|: unstable modes, theta < 0, come from the lower end.
static int modes_pick(const modes *z, int k)
{
    int low = 0, high = z->count - 1, at = 0;
    for (int i = 0; i <= k; ++i) {
        at = fabs(z->value[low]) > fabs(z->value[high]) ? low++ : high--;
    }
    return at;
}

static int modes_converged(const modes *z, int wanted)
{
    int good = 0;
    while (good < wanted && good < z->count) {
        const int at = modes_pick(z, good);
        const double residual = fabs(z->beta[z->count] * z->vector[(z->count - 1) * z->count + at]);
        if (residual > MODES_RESIDUAL * fabs(z->value[at])) {
            break;
        }
        ++good;
    }

    return good;
}

static bool modes_lanczos(modes *z, int wanted)
{
    pl_dynamics *d = z->d;
    const int32_t n = z->n;
    double mu[PL_ROWS_MAX];

    pl_problem_draw(d->problem, NULL, d->newton.work.y);
    if (!pl_problem_solve_bordered(d->problem, d->newton.work.y, NULL, z->basis, mu)) {
        return false;
    }

    for (int m = 0; m < MODES_VECTORS; ++m) {
        double *q = z->basis + (int64_t)m * n, *Mq = z->image + (int64_t)m * n;

        // normalised in the inner product of M
        modes_mass(z, q, Mq);
        const double norm = sqrt(pl_newton_dot(q, Mq, n));
        if (m > 0) {
            z->beta[m] = norm;
        }
        if (m > 0 && m % 4 == 0) {
            z->count = m;
            if (!modes_eigen(z) || modes_converged(z, wanted) >= wanted) {
                return true;
            }
        }
        if (!(norm > 1e-14 * fabs(z->diagonal[0]))) {
            break;
        }
        for (int32_t i = 0; i < n; ++i) {
            q[i] /= norm;
            Mq[i] /= norm;
        }

        // next direction, orthogonal to all before
        if (!pl_problem_solve_bordered(d->problem, Mq, NULL, q + n, mu)) {
            return false;
        }
        z->diagonal[m] = pl_newton_dot(Mq, q + n, n);
        for (int twice = 0; twice < 2; ++twice) {
            for (int k = 0; k <= m; ++k) {
                const double h = pl_newton_dot(z->image + (int64_t)k * n, q + n, n),
                             *u = z->basis + (int64_t)k * n;
#pragma omp simd
                for (int32_t i = 0; i < n; ++i) {
                    q[n + i] -= h * u[i];
                }
            }
        }
        z->count = m + 1;
    }

    return modes_eigen(z);
}

// Shapes of all vertices, largest displacement 1 mm, and their masses.
static void modes_shape(const modes *z, int at, pl_mode *mode, double *shape)
{
    pl_dynamics *d = z->d;
    memset(d->newton.work.y, 0, (size_t)z->n * sizeof *d->newton.work.y);
    for (int k = 0; k < z->count; ++k) {
        const double c = z->vector[k * z->count + at], *u = z->basis + (int64_t)k * z->n;
        for (int32_t i = 0; i < z->n; ++i) {
            d->newton.work.y[i] += c * u[i];
        }
    }

    pl_problem_expand(d->problem, z->x, d->newton.work.y, d->newton.work.x_trial);
    double largest = 0, sign = 1;
    for (int64_t v = 0; v < dynamics_full(d); v += 3) {
        const double size = pl_norm3(d->newton.work.x_trial + v);
        if (size > largest) {
            const double *u = d->newton.work.x_trial + v;
            const int axis = fabs(u[0]) >= fabs(u[1]) && fabs(u[0]) >= fabs(u[2]) ? 0
                             : fabs(u[1]) >= fabs(u[2])                           ? 1
                                                                                  : 2;
            sign = u[axis] < 0 ? -1 : 1;
            largest = size;
        }
    }

    for (int64_t i = 0; i < dynamics_full(d); ++i) {
        d->newton.work.x_trial[i] *= sign / largest;
        if (shape) {
            shape[i] = d->newton.work.x_trial[i];
        }
    }

    mode->mass = 2 * dynamics_kinetic(d, d->newton.work.x_trial);
}

// The root s of m s^2 + b m s + k + Q(s) = 0 next to i omega, Q the stiffness of the viscous branches along
// the shape, by Newton's method with a difference for dQ/ds. Ringing and damping from it; NAN where it does
// not converge, is no vibration any more, or the equilibrium is unstable.
static void modes_damping(const modes *z, pl_mode *mode, const double *shape, double *share)
{
    const pl_dynamics *d = z->d;
    const double m = mode->mass, omega = 2 * PL_PI * mode->frequency, b = d->options.mass_damping;
    double s[2] = {0, omega}, worst = INFINITY;

    if (d->viscous) {
        pl_viscous_shares(d->viscous, z->x, shape, share);
    }
    for (int k = 0; omega > 0 && k < MODES_ROOT_STEPS && worst > 1e-12; ++k) {
        double f[2][2]; // at s and at s (1 + e)
        for (int side = 0; side < 2; ++side) {
            const double scale = side ? 1 + MODES_ROOT_DIFFERENCE : 1, re = scale * s[0], im = scale * s[1];
            double Q[2] = {0, 0};
            if (d->viscous) {
                pl_viscous_stiffness(d->viscous, share, (double[]){re, im}, Q);
            }
            f[side][0] = m * (re * re - im * im + b * re + omega * omega) + Q[0];
            f[side][1] = m * (2 * re * im + b * im) + Q[1];
        }

        // s <- s - f / f', f' = (f1 - f0) / (e s)
        const double g[2] = {f[1][0] - f[0][0], f[1][1] - f[0][1]}, square = g[0] * g[0] + g[1] * g[1],
                     q[2] = {(f[0][0] * g[0] + f[0][1] * g[1]) / square,
                             (f[0][1] * g[0] - f[0][0] * g[1]) / square},
                     e = MODES_ROOT_DIFFERENCE,
                     step[2] = {e * (q[0] * s[0] - q[1] * s[1]), e * (q[0] * s[1] + q[1] * s[0])};
        s[0] -= step[0];
        s[1] -= step[1];
        worst = hypot(step[0], step[1]) / omega;
    }

    const bool swings = worst <= 1e-9 && s[1] > 1e-6 * omega;
    mode->ringing = swings ? s[1] / (2 * PL_PI) : NAN;
    mode->damping = swings ? -s[0] / hypot(s[0], s[1]) : NAN;
}

// Stands at the state, with the exact tangent of the long-term material factored.
static pl_status modes_factor(pl_dynamics *d, const pl_state *state, double *g, double *r, pl_error *err)
{
    pl_problem *p = d->problem;
    pl_viscous_off(d->viscous);
    pl_softening_start(d->softening, state->x);
    d->inertia->coefficient = 0;
    pl_problem_set_forces(p, state->force);
    const pl_step stand = pl_step_at(state);
    pl_status status = pl_problem_begin_step(p, &stand, err);
    if (status != PL_OK) {
        return status;
    }
    pl_problem_set(p, 1);
    if (isinf(pl_problem_evaluate(p, state->x, g))) {
        return pl_fail(err, PL_BAD_INPUT, "the state has inverted elements");
    }

    // the multipliers come from the residual, in the metric of a factor
    p->linear.has_factor = false;
    status = pl_problem_refactor(p, &(pl_linearization){.x = state->x, .indefinite = PL_AS_IT_IS}, err);
    if (status == PL_OK) {
        pl_problem_evaluate(p, state->x, g);
        pl_problem_residual(p, g, r);
        status = pl_problem_factor_exact(p, state->x, err);
    }

    return status;
}

pl_status pl_dynamics_modes(pl_dynamics *d, const pl_state *state, int count, pl_mode *mode, double *shape,
                            int *found, pl_error *err)
{
    pl_problem *p = d->problem;
    *found = 0;
    if (count < 1 || count > MODES_MOST) {
        return pl_fail(err, PL_BAD_INPUT, "modes: %d asked for, 1 to %d are possible", count, MODES_MOST);
    }
    if (state->robot_hash != d->robot->hash || state->vertex_count != p->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "modes: the state belongs to another robot");
    }

    // a factor of its own, which no step uses
    d->started = false;
    pl_status status = dynamics_levels_use(d, INFINITY, err);
    if (status == PL_OK) {
        status = modes_factor(d, state, d->newton.work.g, d->newton.work.r, err);
    }

    const int32_t n = p->unknowns.n;
    modes z = {.d = d, .x = state->x, .n = n};
    z.basis = PL_NEW_ARRAY(double, (MODES_VECTORS + 1) * (int64_t)n);
    z.image = PL_NEW_ARRAY(double, (MODES_VECTORS + 1) * (int64_t)n);
    z.value = PL_NEW_ARRAY(double, MODES_VECTORS);
    z.vector = PL_NEW_ARRAY(double, MODES_VECTORS *MODES_VECTORS);
    double *share = PL_NEW_ARRAY(double, p->elements->law_count);
    if (status == PL_OK && (!z.basis || !z.image || !z.value || !z.vector || !share)) {
        status = pl_fail_memory(err, "modes");
    }
    if (status == PL_OK && !modes_lanczos(&z, count)) {
        status = pl_fail(err, PL_FAILED, "modes: the constraints of the actuators are linearly dependent");
    }

    // ascending: unstable ones first
    const int good = status == PL_OK ? modes_converged(&z, count) : 0;
    for (int k = 0; k < good; ++k) {
        const int at = modes_pick(&z, k);
        const double lambda = 1 / z.value[at];
        mode[k].frequency = (lambda < 0 ? -1 : 1) * sqrt(fabs(lambda)) / (2 * PL_PI);
        modes_shape(&z, at, &mode[k], shape ? shape + k * dynamics_full(d) : NULL);
        modes_damping(&z, &mode[k], d->newton.work.x_trial, share);
    }

    *found = good;
    d->levels.level[d->levels.now].s = 0;
    p->linear.has_factor = false;
    dynamics_stage_count(d);
    pl_free(z.basis);
    pl_free(z.image);
    pl_free(z.value);
    pl_free(z.vector);
    pl_free(share);

    return status;
}
