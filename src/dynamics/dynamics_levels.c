// Factors of several step lengths. The tangent K + M / s^2 depends on the step; a run that changes between a
// few lengths keeps one factor for each of them.
#include "dynamics/dynamics_impl.h"

static bool level_matches(const dynamics_level *level, double s)
{
    return level->created && level->s > 0 && fabs(s / level->s - 1) < 1e-9;
}

// A level for a new length: one never used, or the one unused for longest.
static int levels_choose(const dynamics_levels *levels)
{
    int oldest = -1;
    for (int i = 0; i < DYNAMICS_LEVELS; ++i) {
        const dynamics_level *level = &levels->level[i];
        if (!level->created || level->s == 0) {
            return i;
        }
        if (oldest < 0 || level->age > levels->level[oldest].age) {
            oldest = i;
        }
    }

    return oldest;
}

// The linear part that came into the problem was laid out for a pattern that contacts have changed since.
static pl_status levels_follow(pl_problem *p, pl_error *err)
{
    p->linear.has_factor = false;
    p->linear.border_count = 0;
    pl_factor_destroy(p->linear.spare);
    p->linear.spare = NULL;
    return pl_factor_reanalyse(p->linear.factor, &p->tangent.K, err);
}

pl_status dynamics_levels_use(pl_dynamics *d, double s, pl_error *err)
{
    dynamics_levels *levels = &d->levels;
    pl_problem *p = d->problem;

    for (int i = 0; i < DYNAMICS_LEVELS; ++i) {
        levels->level[i].age++;
    }

    int want = -1;
    for (int i = 0; i < DYNAMICS_LEVELS; ++i) {
        want = level_matches(&levels->level[i], s) ? i : want;
    }

    const bool fresh = want < 0;
    want = fresh ? levels_choose(levels) : want;

    // the linear part of the problem changes places with that of the level
    pl_status status = PL_OK;
    if (want != levels->now) {
        levels->level[levels->now].linear = p->linear;
        levels->level[levels->now].layouts = p->layouts;
        p->linear = levels->level[want].linear;
        levels->level[want].linear = (pl_linear){0};
        levels->now = want;
        if (!levels->level[want].created) {
            status = pl_problem_linear_create(p, err);
            levels->level[want].created = true;
        } else if (levels->level[want].layouts != p->layouts) {
            status = levels_follow(p, err);
        }
    }

    dynamics_level *level = &levels->level[want];
    level->age = 0;
    if (fresh) {
        level->s = s;
        level->best = -1;
        level->extra = 0;
        p->linear.has_factor = false;
    }

    return status;
}

void dynamics_levels_clear(pl_dynamics *d)
{
    if (!d->problem) {
        return;
    }

    const pl_linear now = d->problem->linear;
    for (int i = 0; i < DYNAMICS_LEVELS; ++i) {
        if (i != d->levels.now && d->levels.level[i].created) {
            d->problem->linear = d->levels.level[i].linear;
            pl_problem_linear_destroy(d->problem);
        }
    }

    d->problem->linear = now; // destroyed with the problem
}
