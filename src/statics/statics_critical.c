// Critical loads. On a load path the lowest eigenvalue lambda of the tangent, with its mode v, goes to zero
//   at a limit point as sqrt(l_c - l): the motion per load t = K^-1 dr/dl turns into the mode and grows,
//   at a bifurcation as l_c - l: the mode is orthogonal to t, and nothing on the path shows it.
// Two equilibria, at loads b < a, give l_c; which of the two it is follows from the angle between t and v.
//
// A bifurcation that was passed lies between a stable equilibrium A and a saddle B of the same path. The load
// at which the curvature v . K(l) v along the mode v at B is zero, by linear interpolation between A and B,
// errs by the square of the error of v; the mode there gives the next one, until it is found.
#include "statics/statics_impl.h"

// The lowest eigenvalue at the equilibrium x; NAN: it is not positive. Its mode is in s->stability.
static double critical_eigenvalue(pl_statics *s, const double *x, int *negative, pl_error *err)
{
    if (statics_prove(s, x, negative, err) != PL_OK || *negative != 0 ||
        !statics_softest(s, STATICS_ROUNDS)) {
        return NAN;
    }
    return s->stability.curvature;
}

// |t . v| / |t| |v| at x, with the factor made there
static double critical_angle(pl_statics *s, const double *x, double at)
{
    pl_problem *p = s->problem;
    double here[PL_ROWS_MAX], gap[PL_ROWS_MAX], tv = 0, tt = 0, vv = 0;

    pl_problem_set(p, at * (1 - STATICS_BEYOND));
    pl_problem_evaluate(p, x, s->newton.work.g_new);
    pl_problem_gaps(p, gap);
    pl_problem_set(p, at);
    pl_problem_evaluate(p, x, s->newton.work.g);
    pl_problem_gaps(p, here);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        s->newton.work.r[i] = s->newton.work.g[i] - s->newton.work.g_new[i];
    }
    for (int k = 0; k < p->linear.border_count; ++k) {
        gap[k] = here[k] - gap[k];
    }
    pl_newton_direction(&s->newton, s->newton.work.r, gap, s->newton.work.d);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        tv += s->newton.work.d[i] * s->stability.mode[i];
        tt += s->newton.work.d[i] * s->newton.work.d[i];
        vv += s->stability.mode[i] * s->stability.mode[i];
    }

    return tt > 0 && vv > 0 ? fabs(tv) / sqrt(tt * vv) : 0;
}

statics_critical statics_find_critical(pl_statics *s, double at, const pl_newton_goal *tolerance, double *x,
                                       int *negative, pl_error *err)
{
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *before = pl_problem_take_full(p);
    statics_critical found = {0};
    const double lambda = critical_eigenvalue(s, x, negative, err);

    if (lambda > 0) {
        const double angle = critical_angle(s, x, at), below = at * (1 - STATICS_BEYOND);
        const int there = *negative;
        int ignored;
        pl_newton_report ignored_report;
        memcpy(before, x, pl_problem_full_bytes(p));
        pl_problem_set(p, below);
        statics_carry(s, before);
        const double other =
            pl_newton_minimise(&s->newton, before, tolerance, &ignored_report, err) == NEWTON_DONE
                ? critical_eigenvalue(s, before, &ignored, err)
                : NAN;
        found.bifurcation = angle < 0.5; // t and v more than 60 degrees apart
        const double power = found.bifurcation ? 1 : 2, a = pow(lambda, power), b = pow(other, power);
        found.load = at + (at - below) * a / (b - a);
        found.found = b > a && found.load <= fmin(at + 2 * STATICS_BEYOND,
                                                  1); // extrapolated no farther than the points are apart
        pl_log(1, "  lowest eigenvalue %.3e N/mm at %.4f, %.3e at %.4f: zero at %.4f, angle %.2f", lambda, at,
               other, below, found.load, angle);
        *negative = there;

        // back to the equilibrium: multipliers and pressures are those of the last evaluation
        pl_problem_set(p, at);
        pl_problem_evaluate(p, x, s->newton.work.g);
        pl_problem_residual(p, s->newton.work.g, s->newton.work.r);
    }

    pl_arena_end(&p->scratch, mark);

    return found;
}

// A point of the path between a stable equilibrium and a saddle: load, lowest eigenvalue, shape.
typedef struct bifurcation_point {
    double load, value, *x;
} bifurcation_point;

// The eigenvalue that changes its sign at a stationary point with the factor at hand, the most negative one
// or the lowest; its mode is in s->stability.
static double bifurcation_eigenvalue(pl_statics *s)
{
    pl_problem *p = s->problem;
    if (pl_problem_unstable(p) <= 0) {
        return statics_softest(s, STATICS_ROUNDS) ? s->stability.curvature : NAN;
    }

    const bool found = pl_problem_modes(p);
    p->linear.mode_count = 0;
    if (found) {
        memcpy(s->stability.mode, p->linear.mode, (size_t)p->unknowns.n * sizeof *p->linear.mode);
    }

    return found ? 1 / p->linear.mode_theta[0] : NAN;
}

// K v at x, with the multipliers and the gradient g + A^T mu of x in `r`: the change of the residual along v.
static bool bifurcation_multiply(pl_statics *s, const double *x, const double *multiplier, const double *r,
                                 const double *v, double *Kv)
{
    pl_problem *p = s->problem;
    const int32_t n = p->unknowns.n;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *to = pl_problem_take_full(p);
    const double length = STATICS_PROBE * p->size / pl_problem_largest(p, v, false);

    pl_problem_move(p, x, v, length, to);
    const bool possible = isfinite(pl_problem_evaluate(p, to, Kv));
    for (int i = 0; i < p->row_count && possible; ++i) {
        const pl_row *row = &p->row[i];
        for (int32_t k = 0; row->wanted && row->constraint && row->active && k < n; ++k) {
            Kv[k] += multiplier[i] * row->a[k];
        }
    }
    for (int32_t k = 0; k < n; ++k) {
        Kv[k] = (Kv[k] - r[k]) / length;
    }
    pl_arena_end(&p->scratch, mark);

    return possible;
}

// The eigenvalue of the tangent at x that the mode v in s->stability leads to, and its mode, with an older
// factor P, turned to x, as preconditioner: Rayleigh-Ritz on v, t = P^-1 (K v - lambda v) and the last change
// of v (LOBPCG, Knyazev 2001), until the change t . (K v - lambda v) is below `tolerance`. NAN: it does not
// converge.
static double bifurcation_refine(pl_statics *s, const double *x, double tolerance)
{
    pl_problem *p = s->problem;
    const int32_t n = p->unknowns.n;
    double multiplier[PL_ROWS_MAX] = {0}, mu[PL_ROWS_MAX], lambda = NAN;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *basis[3], *image[3], *r = pl_problem_take_unknown(p), *rest = pl_problem_take_unknown(p);
    for (int k = 0; k < 3; ++k) {
        basis[k] = pl_problem_take_unknown(p);
        image[k] = pl_problem_take_unknown(p);
    }

    memcpy(basis[0], s->stability.mode, (size_t)n * sizeof *basis[0]);
    if (p->linear.turned) {
        pl_problem_rotate(p, basis[0], false);
    }
    pl_problem_evaluate(p, x, rest);
    pl_problem_residual(p, rest, r);
    for (int i = 0; i < p->row_count; ++i) {
        multiplier[i] = p->row[i].multiplier;
    }

    int count = 1;
    bool on = bifurcation_multiply(s, x, multiplier, r, basis[0], image[0]), done = false;
    for (int round = 0; round < STATICS_SUPERLINEAR && on && !done; ++round) {
        // |v| = 1, its Rayleigh quotient and what is left
        const double size = sqrt(pl_newton_dot(basis[0], basis[0], n));
        for (int32_t i = 0; i < n; ++i) {
            basis[0][i] /= size;
            image[0][i] /= size;
        }
        lambda = pl_newton_dot(basis[0], image[0], n);
        for (int32_t i = 0; i < n; ++i) {
            rest[i] = image[0][i] - lambda * basis[0][i];
        }

        // its correction, on the constraints, becomes the second vector; the last change is the third
        double *t = basis[count], *Kt = image[count];
        on = pl_problem_solve_bordered(p, rest, NULL, t, mu);
        const double change = pl_newton_dot(t, rest, n);
        done = on && fabs(change) < tolerance;
        for (int k = 0; k < count && on; ++k) { // orthonormal
            const double along = pl_newton_dot(t, basis[k], n) / pl_newton_dot(basis[k], basis[k], n);
            for (int32_t i = 0; i < n; ++i) {
                t[i] -= along * basis[k][i];
            }
        }
        const double length = sqrt(pl_newton_dot(t, t, n));
        on = on && length > 0 && isfinite(length);
        if (!on || done) {
            break;
        }
        for (int32_t i = 0; i < n; ++i) {
            t[i] /= length;
        }
        on = bifurcation_multiply(s, x, multiplier, r, t, Kt);
        ++count;

        // Ritz vector closest to v
        double T[9], value[3], vector[9];
        for (int a = 0; a < count; ++a) {
            for (int b = 0; b < count; ++b) {
                T[a * count + b] =
                    0.5 * (pl_newton_dot(basis[a], image[b], n) + pl_newton_dot(basis[b], image[a], n));
            }
        }
        pl_dense_eigen(count, T, value, vector);
        int best = 0;
        for (int k = 1; k < count; ++k) {
            best = fabs(vector[k]) > fabs(vector[best]) ? k : best;
        }

        // v, and its change without v: the third vector
        for (int32_t i = 0; i < n; ++i) {
            double v = 0, Kv = 0;
            for (int a = 0; a < count; ++a) {
                v += vector[a * count + best] * basis[a][i];
                Kv += vector[a * count + best] * image[a][i];
            }
            const double first = vector[best], w = v - first * basis[0][i], Kw = Kv - first * image[0][i],
                         rest_square = fmax(1 - first * first, 0);
            basis[1][i] = rest_square > 0 ? first * w - rest_square * basis[0][i] : 0;
            image[1][i] = rest_square > 0 ? first * Kw - rest_square * image[0][i] : 0;
            basis[0][i] = v;
            image[0][i] = Kv;
        }
        const double third = sqrt(pl_newton_dot(basis[1], basis[1], n));
        for (int32_t i = 0; i < n && third > 0; ++i) {
            basis[1][i] /= third;
            image[1][i] /= third;
        }
        count = third > 0 ? 2 : 1;
    }

    pl_log(2, "    lowest eigenvalue %.4e N/mm with an older factor: %s", lambda,
           done ? "found" : "not found");
    if (done) {
        memcpy(s->stability.mode, basis[0], (size_t)n * sizeof *basis[0]);
        if (p->linear.turned) {
            pl_problem_rotate(p, s->stability.mode, true);
        }
    }
    pl_problem_evaluate(p, x, rest);
    pl_problem_residual(p, rest, r);
    pl_arena_end(&p->scratch, mark);

    return done ? lambda : NAN;
}

// The point of the path at out->load from the interpolation of two others, with the amplitude along the mode
// in s->stability held; that of the point is there afterwards.
static bool bifurcation_find(pl_statics *s, const bifurcation_point *low, const bifurcation_point *high,
                             double reach, double tolerance, bifurcation_point *out, pl_error *err)
{
    pl_problem *p = s->problem;
    const double part = (out->load - low->load) / (high->load - low->load);
    const size_t mark = pl_arena_begin(&p->scratch);
    double *mode = pl_problem_take_unknown(p);

    memcpy(mode, s->stability.mode, (size_t)p->unknowns.n * sizeof *mode);
    const int made = p->linear.factorizations;
    if (pl_newton_can_corotate(&s->newton)) {
        pl_newton_extrapolate(&s->newton, high->x, low->x, part - 1, out->x);
        pl_newton_fit_rigid(&s->newton, out->x);
    } else {
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            out->x[i] = low->x[i] + part * (high->x[i] - low->x[i]);
        }
    }
    statics_set_load(s, out->load, out->x);
    out->value = NAN;
    if (statics_stationary(s, out->x, reach, mode, STATICS_LOAD_POINT, err)) {
        const bool older = p->linear.factorizations == made;
        out->value = older ? bifurcation_refine(s, out->x, tolerance) : bifurcation_eigenvalue(s);
        if (older && isnan(out->value) && pl_problem_factor_exact(p, out->x, err) == PL_OK) {
            out->value = bifurcation_eigenvalue(s);
        }
    }
    pl_log(1, "  bifurcation: lowest eigenvalue %.3e N/mm at %.5f", out->value, out->load);
    pl_arena_end(&p->scratch, mark);

    return isfinite(out->value);
}

// Where the curvature along the mode of the point `at`, whose factor is at hand, is zero between it and
// `other`, where it counts `weight` times. As Rayleigh's quotient does, it errs by the square of the error of
// the mode only, and it does not depend on how modes are scaled.
static double bifurcation_root(pl_statics *s, const bifurcation_point *at, const bifurcation_point *other,
                               double weight)
{
    pl_problem *p = s->problem;
    pl_problem_set(p, other->load);
    pl_newton_turn(&s->newton, other->x);
    const double there = weight * statics_curvature(s, other->x);
    const bool crosses = there * at->value < 0;

    return crosses ? at->load + at->value / (at->value - there) * (other->load - at->load)
                   : 0.5 * (at->load + other->load);
}

double statics_bifurcation(pl_statics *s, const double *stable, double below, const double *saddle,
                           double above, pl_error *err)
{
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    bifurcation_point low = {.load = below, .value = INFINITY, .x = pl_problem_take_full(p)},
                      high = {.load = above, .value = NAN, .x = pl_problem_take_full(p)},
                      next = {.load = above, .x = pl_problem_take_full(p)};
    double root = NAN;

    memcpy(low.x, stable, pl_problem_full_bytes(p));
    memcpy(high.x, saddle, pl_problem_full_bytes(p));
    const double reach = fmax(pl_newton_distance(&s->newton, low.x, high.x), NEWTON_NEAR * p->size);
    pl_problem_set(p, above);
    if (statics_stationary(s, high.x, reach, NULL, STATICS_FORCE, err)) {
        high.value = bifurcation_eigenvalue(s);
    }

    // from the saddle on, each point lies where the mode of the one before loses its stiffness; an end that
    // stays counts half (Illinois), so that both close in
    const double high_value = high.value;
    bool on = high.value < 0, exact = false;
    double weight = 1, last = high.value;
    root = on ? bifurcation_root(s, &high, &low, 1) : NAN;
    for (int k = 0; k < STATICS_SUPERLINEAR && on && !exact; ++k) {
        next.load = root;
        on = bifurcation_find(s, &low, &high, reach, STATICS_LOAD_POINT * -high_value, &next, err);
        if (!on) {
            break;
        }
        statics_keep_mode(s, next.x, s->stability.mode, next.load, false, k > 0);
        const bifurcation_point *other = next.value > 0 ? &high : &low;
        root = bifurcation_root(s, &next, other, 1);
        exact = fabs(root - next.load) < STATICS_LOAD * next.load;
        weight = next.value * last > 0 ? 0.5 * weight : 1;
        if (!exact && weight < 1) {
            root = bifurcation_root(s, &next, other, weight);
        }

        // it replaces the end on its side
        last = next.value;
        bifurcation_point *end = next.value > 0 ? &low : &high;
        const bifurcation_point replaced = *end;
        *end = next;
        next = replaced;
    }

    pl_arena_end(&p->scratch, mark);

    return exact ? root : NAN;
}
