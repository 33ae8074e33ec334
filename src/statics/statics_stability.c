// Is an equilibrium stable? It is where the tangent K has no negative eigenvalue on the null space of the
// constraints A: the energy then rises in every direction the body may move in.
//
// At the end of a load path this is proved by the inertia of the tangent factored there. A small move keeps
// the factor of an earlier state, and a factorisation would cost more than the move: there the curvature of
// the energy along the softest mode v of the last proof,
//   c(v) = v . K v / v . v,   K v = (G(x + e v) - G(x)) / e,
// is followed with one evaluation, and the proof is repeated where c has fallen by half since.
#include <float.h>
#include "statics/statics_impl.h"

static double stability_dot(const pl_problem *p, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

bool statics_softest(pl_statics *s, int rounds)
{
    pl_problem *p = s->problem;
    statics_stability *known = &s->stability;
    double mu[PL_ROWS_MAX];
    const size_t mark = pl_arena_begin(&p->scratch);
    double *b = pl_problem_take_unknown(p), *v = known->mode;

    pl_problem_draw(p, NULL, b);
    bool found = true;
    for (int round = 0; round < rounds && found; ++round) {
        const double before = known->curvature;
        found = pl_problem_solve_bordered(p, b, NULL, v, mu);
        const double vv = stability_dot(p, v, v);
        found = found && vv > 0 && isfinite(vv);
        known->curvature = stability_dot(p, b, v) / vv;
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            v[i] /= sqrt(vv);
        }
        memcpy(b, v, (size_t)p->unknowns.n * sizeof *b);
        if (round > 0 && fabs(known->curvature - before) < STATICS_LOAD_POINT * fabs(before)) {
            break;
        }
    }

    if (found && p->linear.turned) {
        pl_problem_rotate(p, v, true);
    }
    pl_arena_end(&p->scratch, mark);

    return found;
}

double statics_curvature(pl_statics *s, const double *x)
{
    pl_problem *p = s->problem;
    const int32_t n = p->unknowns.n;
    double along[PL_ROWS_MAX];
    const size_t mark = pl_arena_begin(&p->scratch);
    double *v = pl_problem_take_unknown(p), *g = pl_problem_take_unknown(p), *r = pl_problem_take_unknown(p),
           *to = pl_problem_take_full(p);

    memcpy(v, s->stability.mode, (size_t)n * sizeof *v);
    if (p->linear.turned) {
        pl_problem_rotate(p, v, false);
    }

    // the gradient a little along the mode, and its rows along the mode
    const double length = STATICS_PROBE * p->size / pl_problem_largest(p, v, false);
    pl_problem_move(p, x, v, length, to);
    const bool finite = isfinite(pl_problem_evaluate(p, to, g));
    double change = finite ? stability_dot(p, g, v) : 0;
    for (int i = 0; i < p->row_count && finite; ++i) {
        const pl_row *row = &p->row[i];
        const bool acts = row->wanted && row->constraint && row->active;
        along[i] = acts ? stability_dot(p, row->a, v) : 0;
    }

    // at the solution, with the multipliers there
    pl_problem_evaluate(p, x, g);
    pl_problem_residual(p, g, r);
    for (int i = 0; i < p->row_count && finite; ++i) {
        change += p->row[i].multiplier * along[i];
    }
    const double curvature = finite ? (change - stability_dot(p, r, v)) / length / stability_dot(p, v, v) : 0;

    pl_arena_end(&p->scratch, mark);

    return curvature;
}

pl_status statics_prove(pl_statics *s, const double *x, int *negative, pl_error *err)
{
    pl_problem *p = s->problem;
    const pl_status status = pl_problem_factor_proof(p, x, err);

    pl_newton_forget(&s->newton);
    s->stability.version = 0;

    // Cholesky's method ends at the first negative pivot and does not count further
    *negative = status != PL_OK                        ? -1
                : p->linear.has_factor                 ? pl_problem_unstable(p)
                : p->linear.kind == PL_FACTOR_CHOLESKY ? 1
                                                       : -1;
    if (*negative == 0) {
        s->stability.version = p->linear.version;
        s->stability.curvature = 0; // the mode is looked for when a move asks for it
    }

    return status;
}

// An eigenvalue that a factor cannot tell from zero: a body that may move without force (a buckling pattern
// that turns about the axis of a tube) has one, with a sign that rounding decides.
bool statics_neutral(pl_statics *s)
{
    pl_problem *p = s->problem;
    const pl_sparse *K = &p->tangent.K;
    double stiffest = 0;

    for (int32_t j = 0; j < p->unknowns.n; ++j) { // the diagonal is last in a column of the upper triangle
        stiffest = fmax(stiffest, fabs(K->value[K->start[j + 1] - 1]));
    }

    const bool found = pl_problem_modes(p);
    const double lowest = found ? 1 / p->linear.mode_theta[0] : -INFINITY;
    p->linear.mode_count = 0; // the factor as it is

    return !p->linear.report.single && fabs(lowest) < p->unknowns.n * DBL_EPSILON * stiffest;
}

bool statics_known_stable(pl_statics *s, const double *x)
{
    const pl_linear *l = &s->problem->linear;
    statics_stability *known = &s->stability;
    const bool stable = l->has_factor && l->blend == 0 && pl_problem_unstable(s->problem) == 0;

    if (known->version != l->version && stable) { // a factor made during moves: its inertia is known too
        known->version = l->version;
        known->curvature = 0;
    }

    return known->version == l->version && l->has_factor && (known->curvature > 0 || statics_softest(s, 2)) &&
           statics_curvature(s, x) > 0.5 * known->curvature;
}

pl_status statics_prove_move(pl_statics *s, const double *x, int *negative, pl_error *err)
{
    *negative = 0;
    return statics_known_stable(s, x) ? PL_OK : statics_prove(s, x, negative, err);
}

// The energy `length` mm along the mode v from x, constraints met again; the shape is left in x_best.
static double stability_trial(pl_statics *s, const double *x, const double *v, double length)
{
    pl_problem *p = s->problem;
    double *to = s->newton.work.x_best;
    const double scale = length / pl_problem_largest(p, v, false);

    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        s->newton.work.y[i] = scale * v[i];
    }
    pl_newton_move(&s->newton, x, s->newton.work.y, to);
    if (pl_problem_step_limit(p, x, to) < 1 || !pl_problem_restore(p, to, NEWTON_GAP)) {
        return INFINITY;
    }

    return pl_problem_evaluate(p, to, NULL);
}

// Along the mode of the most negative eigenvalue as far as the energy falls, within the range of a step; the
// factor at hand is the proof at x, made usable there. False: it falls to neither side.
static bool stability_slide(pl_statics *s, double *x)
{
    pl_problem *p = s->problem;
    if (!pl_problem_modes(p)) {
        return false;
    }

    double lowest = pl_problem_evaluate(p, x, s->newton.work.g), length = 0, strain;
    const double turn = pl_newton_step_rotation(&s->newton, x, p->linear.mode, &strain),
                 reach =
                     NEWTON_LEAVE_STEP * pl_problem_largest(p, p->linear.mode, false) / fmax(turn, strain),
                 most = fmin(0.5 * p->size, reach);
    for (int side = 1; side >= -1 && length == 0; side -= 2) {
        for (double a = STATICS_LENGTH * p->size; a < most; a *= 2) {
            const double energy = stability_trial(s, x, p->linear.mode, side * a);
            if (!(energy < lowest)) {
                break;
            }
            lowest = energy;
            length = side * a;
        }
    }

    pl_log(1, "  unstable (eigenvalue %.2e N/mm): %.3g mm along the mode", 1 / p->linear.mode_theta[0],
           length);
    if (length == 0) {
        return false;
    }
    stability_trial(s, x, p->linear.mode, length);
    memcpy(x, s->newton.work.x_best, pl_problem_full_bytes(p));

    return true;
}

pl_status statics_stabilise(pl_statics *s, double *x, const pl_newton_goal *goal, pl_newton_report *found,
                            int *negative, int *left, pl_error *err)
{
    pl_newton_goal down = *goal;
    down.start = NEWTON_LEAVE;
    const size_t mark = pl_arena_begin(&s->problem->scratch);
    double *saddle = pl_problem_take_full(s->problem);
    pl_status status = PL_OK;
    for (*left = 0; *negative > 0 && *left < PL_MODES_MOST && status == PL_OK; ++*left) {
        memcpy(saddle, x, pl_problem_full_bytes(s->problem));
        pl_newton_report there = {0};
        if (!stability_slide(s, x) || pl_newton_minimise(&s->newton, x, &down, &there, err) != NEWTON_DONE ||
            !pl_problem_admissible(s->problem, x)) {
            memcpy(x, saddle, pl_problem_full_bytes(s->problem));
            pl_problem_evaluate(s->problem, x, s->newton.work.g);
            pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
            break;
        }
        *found = there;
        status = statics_prove(s, x, negative, err);
    }

    pl_arena_end(&s->problem->scratch, mark);

    return status;
}
