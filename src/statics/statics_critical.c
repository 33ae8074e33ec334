// Critical loads. On a load path the lowest eigenvalue lambda of the tangent, with its mode v, goes to zero
//   at a limit point as sqrt(l_c - l): the motion per load t = K^-1 dr/dl turns into the mode and grows,
//   at a bifurcation as l_c - l: the mode is orthogonal to t, and nothing on the path shows it.
// Two equilibria, at loads b < a, give l_c; which of the two it is follows from the angle between t and v.
//
// A bifurcation that was passed lies between a stable equilibrium A and a saddle B of the same path: regula
// falsi on lambda(l), at stationary points found from the interpolation of both ends.
#include "statics/statics_impl.h"

#define CRITICAL_BACK 0.01 // of the load: how far below the second equilibrium is
#define CRITICAL_NEAR 0.02 // of the path: a critical load farther beyond the last equilibrium is no evidence
#define CRITICAL_REACH 0.015 // of the robot's size: stationary points that near belong to the same path
#define CRITICAL_SECANTS 8
#define CRITICAL_ACCURACY 5e-4 // of the load
#define CRITICAL_ROUNDS 60     // inverse iterations
#define CRITICAL_ANSWERS 0.5   // cosine between t and v above which the mode answers the load

// The lowest eigenvalue at the equilibrium x; NAN: it is not positive. Its mode is in s->stability.
static double critical_eigenvalue(pl_statics *s, const double *x, int *negative, pl_error *err)
{
    if (statics_prove(s, x, negative, err) != PL_OK || *negative != 0 ||
        !statics_softest(s, CRITICAL_ROUNDS)) {
        return NAN;
    }
    return s->stability.curvature;
}

// |t . v| / |t| |v| at x, with the factor made there
static double critical_angle(pl_statics *s, const double *x, double at)
{
    pl_problem *p = s->problem;
    double here[PL_ROWS_MAX], gap[PL_ROWS_MAX], tv = 0, tt = 0, vv = 0;

    pl_problem_set(p, at * (1 - CRITICAL_BACK));
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
        const double angle = critical_angle(s, x, at), below = at * (1 - CRITICAL_BACK);
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
        found.bifurcation = angle < CRITICAL_ANSWERS;
        const double power = found.bifurcation ? 1 : 2, a = pow(lambda, power), b = pow(other, power);
        found.load = at + (at - below) * a / (b - a);
        found.found =
            b > a && found.load <= fmin(at + CRITICAL_NEAR, 1); // beyond 1 it does not end this path
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

// The eigenvalue at the stationary point x, whose factor is at hand, that changes its sign: the most negative
// one, or the lowest.
static double bifurcation_eigenvalue(pl_statics *s)
{
    pl_problem *p = s->problem;
    if (pl_problem_unstable(p) > 0) {
        const double value = pl_problem_modes(p) ? 1 / p->linear.mode_theta[0] : NAN;
        p->linear.mode_count = 0;
        return value;
    }

    return statics_softest(s, CRITICAL_ROUNDS) ? s->stability.curvature : NAN;
}

double statics_bifurcation(pl_statics *s, const double *stable, double below, const double *saddle,
                           double above, pl_error *err)
{
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *low = pl_problem_take_full(p), *high = pl_problem_take_full(p), *x = pl_problem_take_full(p);

    memcpy(low, stable, pl_problem_full_bytes(p));
    memcpy(high, saddle, pl_problem_full_bytes(p));
    double a = NAN, b = NAN, load = NAN;
    const double reach = fmax(pl_newton_distance(&s->newton, low, high), CRITICAL_REACH * p->size);
    pl_problem_set(p, below);
    if (statics_stationary(s, low, reach, err)) {
        a = bifurcation_eigenvalue(s);
    }
    pl_problem_set(p, above);
    if (statics_stationary(s, high, reach, err)) {
        b = bifurcation_eigenvalue(s);
    }

    for (int k = 0; k < CRITICAL_SECANTS && a > 0 && b < 0; ++k) {
        const double part = a / (a - b), at = below + part * (above - below);
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            x[i] = low[i] + part * (high[i] - low[i]);
        }
        statics_set_load(s, at, x);
        const double value = statics_stationary(s, x, reach, err) ? bifurcation_eigenvalue(s) : NAN;
        pl_log(1, "  bifurcation: lowest eigenvalue %.3e N/mm at %.5f", value, at);
        if (!isfinite(value)) {
            break;
        }
        statics_keep_mode(s, x, value < 0 ? p->linear.mode : s->stability.mode, at, false, k > 0);

        // what is left by the slope between this point and the nearer end
        const double slope = value > 0 ? (value - b) / (above - at) : (a - value) / (at - below);
        load = at + value / slope;
        if (fabs(load - at) < CRITICAL_ACCURACY * at) {
            break;
        }
        double *end = value > 0 ? low : high;
        memcpy(end, x, pl_problem_full_bytes(p));
        if (value > 0) {
            below = at;
            a = value;
        } else {
            above = at;
            b = value;
        }
    }

    pl_arena_end(&p->scratch, mark);

    return load;
}
