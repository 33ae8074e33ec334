// Critical loads. On a load path the lowest eigenvalue lambda of the tangent, with its mode v, goes to zero
//   at a limit point as sqrt(l_c - l): the motion per load t = K^-1 dr/dl turns into the mode and grows,
//   at a bifurcation as l_c - l: the mode is orthogonal to t, and nothing on the path shows it.
// Two equilibria, at loads b < a, give l_c; which of the two it is follows from the angle between t and v.
//
// A bifurcation that was passed lies between a stable equilibrium A and a saddle B of the same path. The load
// at which the curvature v . K(l) v along the mode v at B is zero, by linear interpolation between A and B,
// errs by the square of the error of v; the mode there gives the next one, until it is found.
#include "statics/statics_impl.h"

#define CRITICAL_NEAR 0.02 // of the path: a critical load farther beyond the last equilibrium is no evidence
#define CRITICAL_ANSWERS 0.5 // cosine between t and v above which the mode answers the load

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

// The point of the path at out->load from the interpolation of two others, with the amplitude along the mode
// in s->stability held; that of the point is there afterwards.
static bool bifurcation_find(pl_statics *s, const bifurcation_point *low, const bifurcation_point *high,
                             double reach, bifurcation_point *out, pl_error *err)
{
    pl_problem *p = s->problem;
    const double part = (out->load - low->load) / (high->load - low->load);
    const size_t mark = pl_arena_begin(&p->scratch);
    double *mode = pl_problem_take_unknown(p);

    memcpy(mode, s->stability.mode, (size_t)p->unknowns.n * sizeof *mode);
    if (pl_newton_can_corotate(&s->newton)) {
        pl_newton_extrapolate(&s->newton, high->x, low->x, part - 1, out->x);
        pl_newton_fit_rigid(&s->newton, out->x);
    } else {
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            out->x[i] = low->x[i] + part * (high->x[i] - low->x[i]);
        }
    }
    statics_set_load(s, out->load, out->x);
    out->value =
        statics_stationary(s, out->x, reach, mode, 0.1 * STATICS_LOAD, err) ? bifurcation_eigenvalue(s) : NAN;
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
    bool on = high.value < 0, exact = false;
    double weight = 1, last = high.value;
    root = on ? bifurcation_root(s, &high, &low, 1) : NAN;
    for (int k = 0; k < STATICS_SUPERLINEAR && on && !exact; ++k) {
        next.load = root;
        on = bifurcation_find(s, &low, &high, reach, &next, err);
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
