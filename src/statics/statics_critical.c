// Critical loads. On a load path the lowest eigenvalue lambda of the tangent, with its mode v, goes to zero
//   at a limit point as sqrt(l_c - l): the motion per load t = K^-1 dr/dl turns into the mode and grows,
//   at a bifurcation as l_c - l: the mode is orthogonal to t, and nothing on the path shows it.
// Two equilibria, at loads b < a, give l_c; which of the two it is follows from the angle between t and v.
#include "statics/statics_impl.h"

#define CRITICAL_BACK 0.01 // of the load: how far below the second equilibrium is
#define CRITICAL_NEAR 0.02 // of the path: a critical load farther beyond the last equilibrium is no evidence
#define CRITICAL_ROUNDS 60 // inverse iterations
#define CRITICAL_ANSWERS 0.5 // cosine between t and v above which the mode answers the load

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
    pl_problem_evaluate(p, x, s->work.g_new);
    pl_problem_gaps(p, gap);
    pl_problem_set(p, at);
    pl_problem_evaluate(p, x, s->work.g);
    pl_problem_gaps(p, here);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        s->work.r[i] = s->work.g[i] - s->work.g_new[i];
    }
    for (int k = 0; k < p->linear.border_count; ++k) {
        gap[k] = here[k] - gap[k];
    }
    statics_direction(s, s->work.r, gap, s->work.d);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        tv += s->work.d[i] * s->stability.mode[i];
        tt += s->work.d[i] * s->work.d[i];
        vv += s->stability.mode[i] * s->stability.mode[i];
    }
    return tt > 0 && vv > 0 ? fabs(tv) / sqrt(tt * vv) : 0;
}

statics_critical statics_find_critical(pl_statics *s, double at, const descent *tolerance, double *x,
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
        descent D = *tolerance;
        memcpy(before, x, pl_problem_full_bytes(p));
        pl_problem_set(p, below);
        statics_extend(s, p->load, before);
        const double other = statics_descend(s, before, &D, err) == DESCENT_DONE
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
        pl_problem_evaluate(p, x, s->work.g);
        pl_problem_residual(p, s->work.g, s->work.r);
    }
    pl_arena_end(&p->scratch, mark);
    return found;
}
