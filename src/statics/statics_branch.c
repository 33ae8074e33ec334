// The branch of equilibria (x, l) through a stable equilibrium at the load 1, by arc length (statics_arc.c).
//
// Its stable part ends where the first eigenvalue of the tangent changes its sign: at an extremum of the load
// along the branch (dl/ds changes its sign; the body snaps there, or the branch ends in another one,
// symmetric about it, as that of a buckled column), or at a bifurcation (l goes on). The branch is followed
// beyond, to where it meets the load 1 again.
#include "statics/statics_shapes.h"

#define BRANCH_STEPS 160
#define BRANCH_LOAD 0.08 // of the load: longest step

typedef struct branch {
    pl_statics *s;
    statics_arc at, before; // ends of the last step; vectors of their own
    statics_arc trial;      // in between
} branch;

static void branch_copy(const pl_problem *p, const statics_arc *from, statics_arc *to)
{
    double *x = to->x, *t = to->t;
    memcpy(x, from->x, pl_problem_full_bytes(p));
    memcpy(t, from->t, (size_t)p->unknowns.n * sizeof *t);
    *to = *from;
    to->x = x;
    to->t = t;
}

bool statics_branch_possible(pl_statics *s)
{
    bool possible = !pl_problem_touches(s->problem) && !pl_problem_lags(s->problem);
    for (int i = 0; i < s->problem->row_count; ++i) { // cables may become slack or taut
        possible = possible && !(s->problem->row[i].wanted && s->problem->row[i].inequality);
    }
    return possible;
}

// A step of `ds` from the beginning of the last one: the trial. False: it cannot be made at that length.
static bool branch_between(branch *b, double ds, pl_error *err)
{
    branch_copy(b->s->problem, &b->before, &b->trial);
    b->trial.ds = ds;
    return ds > 0 && statics_arc_step(b->s, &b->trial, ds, err) && b->trial.taken == ds;
}

// The load where it is extreme within the last step: the extremum of the cubic through both ends, then again
// between it and the end at which dl/ds has the other sign.
static double branch_limit(branch *b, pl_error *err)
{
    statics_arc part = b->at;
    double low = 0, load = b->at.l, last = INFINITY;

    for (int k = 0; k < STATICS_ROUNDS && fabs(load - last) > STATICS_LOAD * fabs(load); ++k) {
        last = load;
        const double ds = low + statics_arc_extreme(&part, &load);
        if (!branch_between(b, ds, err)) {
            break;
        }
        load = b->trial.l;
        if ((b->trial.rate > 0) == (part.rate_before > 0)) {
            part.taken -= ds - low;
            part.l_before = load;
            part.rate_before = b->trial.rate;
            low = ds;
        } else {
            part.taken = ds - low;
            part.l = load;
            part.rate = b->trial.rate;
        }
    }

    return load;
}

// The load within the last step at which the first eigenvalue changes its sign, by bisection on the count of
// negative ones.
static double branch_bifurcation(branch *b, pl_error *err)
{
    double low = 0, high = b->at.taken, load_low = b->before.l, load_high = b->at.l;
    const int negative = b->before.negative;

    for (int k = 0; k < STATICS_ROUNDS && fabs(load_high - load_low) > STATICS_LOAD * fabs(load_high); ++k) {
        const double ds = 0.5 * (low + high);
        if (!branch_between(b, ds, err)) {
            break;
        }
        if (b->trial.negative > negative) {
            high = ds;
            load_high = b->trial.l;
        } else {
            low = ds;
            load_low = b->trial.l;
        }
    }

    return 0.5 * (load_low + load_high);
}

// The last step passed the load 1: the equilibrium there, by regula falsi on the length of the step.
static bool branch_meet(branch *b, pl_error *err)
{
    double low = 0, high = b->at.taken, load_low = b->before.l, load_high = b->at.l;
    for (int k = 0; k < STATICS_ROUNDS; ++k) {
        const double share = (1 - load_low) / (load_high - load_low),
                     ds = low + fmin(fmax(share, 0.05), 0.95) * (high - low);
        if (!branch_between(b, ds, err)) {
            return false;
        }
        if (fabs(b->trial.l - 1) < STATICS_LOAD) {
            return true;
        }
        if ((b->trial.l < 1) == (load_low < 1)) {
            low = ds;
            load_low = b->trial.l;
        } else {
            high = ds;
            load_high = b->trial.l;
        }
    }

    return false;
}

// Where the stable part ends within the last step, if it does.
static bool branch_ends(branch *b, double most, statics_branch *out, pl_error *err)
{
    if (b->at.rate * b->at.rate_before <= 0) {
        // stable on both sides: the two branches of a pitchfork
        const bool both = b->at.negative == b->before.negative;
        *out = (statics_branch){.end = both ? PL_SHAPE_BIFURCATION : PL_SHAPE_LIMIT,
                                .load = branch_limit(b, err),
                                .meet = out->meet};
        return true;
    }

    if (b->at.negative > b->before.negative) {
        *out = (statics_branch){
            .end = PL_SHAPE_BIFURCATION, .load = branch_bifurcation(b, err), .meet = out->meet};
        return true;
    }

    if (b->at.l < 0 || b->at.l > most) {
        *out = (statics_branch){
            .end = PL_SHAPE_CONTINUES, .load = fmin(fmax(b->at.l, 0), most), .meet = out->meet};
        return true;
    }

    return false;
}

pl_status statics_branch_follow(pl_statics *s, const double *x, int side, double most, statics_branch *out,
                                pl_error *err)
{
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    pl_error local = {0};
    branch b = {.s = s};
    statics_arc *const arcs[] = {&b.before, &b.trial};

    for (int k = 0; k < 2; ++k) {
        arcs[k]->x = pl_problem_take_full(p);
        arcs[k]->t = pl_problem_take_unknown(p);
    }

    *out = (statics_branch){.end = PL_SHAPE_UNKNOWN, .load = 1, .meet = out->meet};
    bool ended = false, on = statics_arc_begin(s, x, 1, &b.at, &local);
    if (side < 0) {
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            b.at.t[i] = -b.at.t[i];
        }
        b.at.rate = -b.at.rate;
    }

    const double start = 1;
    for (int k = 0; on && k < BRANCH_STEPS && pl_newton_continue(&s->newton); ++k) {
        branch_copy(p, &b.at, &b.before);
        const double longest = fmin(STATICS_ARC_TURN / fmax(b.at.turn, 1e-12), BRANCH_LOAD / fabs(b.at.rate));
        on = statics_arc_step(s, &b.at, longest, &local);
        if (!on) {
            break;
        }
        if (!ended) {
            out->load = b.at.l;
            ended = branch_ends(&b, most, out, &local);
        }

        // the equilibria at the load 1 that the branch returns to
        const bool passed = k > 0 && (b.before.l - start) * (b.at.l - start) < 0;
        if (passed && branch_meet(&b, &local)) {
            memcpy(out->meet + 3 * (int64_t)p->mesh.vertex_count * out->meet_count, b.trial.x,
                   pl_problem_full_bytes(p));
            out->negative[out->meet_count++] = b.trial.negative;
        }
        on = out->meet_count < BRANCH_MEETS && b.at.l >= 0 && b.at.l <= most;
    }

    pl_arena_end(&p->scratch, mark);
    pl_newton_forget(&s->newton);

    return local.status == PL_NO_MEMORY ? pl_fail(err, PL_NO_MEMORY, "%s", local.text) : PL_OK;
}
