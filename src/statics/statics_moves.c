// Small moves live on an old factor that is turned with the body. Each of them takes a little more solves
// than the one before, and at some point a new factor is cheaper.
#include "statics/statics_impl.h"

// A move right after a new factor takes `fresh` solves, and with every further move the factor ages: the k-th
// takes fresh + g k. A factor of cost F made when moves take s solves gains (s - fresh)^2 / (2 g) until it is
// as old as the one it replaced: it pays from s = fresh + sqrt(2 g F) on. In 16 bits a solve takes half the
// time.
double statics_moves_limit(const pl_statics *s)
{
    const double cost = (s->problem->linear.packed ? 2 : 1) * pl_newton_factor_cost(&s->newton);
    return fmax(s->moves.fresh, STATICS_MOVE_FRESH) + sqrt(2 * STATICS_MOVE_AGING * cost);
}

// Moves that begin at a predicted shape are compared with such moves only: without a prediction one takes
// more solves with any factor.
bool statics_moves_renew(const pl_statics *s, bool predicted)
{
    const statics_moves *m = &s->moves;
    return m->count > 0 && m->predicted == predicted && m->version == s->problem->linear.version &&
           m->last > statics_moves_limit(s);
}

void statics_moves_note(pl_statics *s, int64_t version, int solves, bool renewed, bool predicted)
{
    statics_moves *m = &s->moves;
    const int64_t now = s->problem->linear.version;

    if (m->version != version || version != now) {
        *m = (statics_moves){.version = now, .fresh = renewed ? solves : m->fresh};
    }
    m->count++;
    m->last = solves;
    m->predicted = predicted;
}
