// Collapses of edges of the part's surface: those shorter than their size, and those that a file leaves too
// short to mean anything (meshing_remesh.c).
#include <stdlib.h>
#include "meshing/meshing_remesh.h"

#define REMESH_SHORT 0.01 // edges of a file that are merged, of the size

// ---- moving one vertex onto another
bool remesh_may_move(const remesh *r, int32_t gone, int32_t kept, const double to[3])
{
    for (int32_t i = r->start[gone]; i < r->start[gone + 1]; ++i) {
        const remesh_tri *t = &r->tri[r->around[i]];
        const double *old[3], *new[3];
        bool dies = false;

        for (int k = 0; k < 3; ++k) {
            dies = dies || t->v[k] == kept;
            old[k] = remesh_at(r, t->v[k]);
            new[k] = t->v[k] == gone ? to : old[k];
        }

        double n[3], m[3];
        remesh_normal(old[0], old[1], old[2], n);
        remesh_normal(new[0], new[1], new[2], m);
        if (dies) {
            continue;
        }
        double longest = 0, before = 0;
        for (int k = 0; k < 3; ++k) {
            longest = fmax(longest, pl_distance3(new[k], new[(k + 1) % 3]));
            before = fmax(before, pl_distance3(old[k], old[(k + 1) % 3]));
        }

        // a triangle that is thin already may stay so, but not become thinner
        const double least = fmin(0.05, 0.9 * pl_norm3(n) / (before * before));
        if (pl_dot3(n, m) < REMESH_TURN * pl_norm3(n) * pl_norm3(m) ||
            pl_norm3(m) < least * longest * longest ||
            (kept >= 0 && longest > fmax(r->polish ? 0 : before, 4.0 / 3 * size_field_at(r->field, to))) ||
            (remesh_off(r, new, t->patch) && (kept >= 0 || !remesh_off(r, old, t->patch)))) {
            return false;
        }
    }

    return true;
}

// Vertices joined to both ends of an edge must be just those of the triangles on it: otherwise a collapse
// would glue two sheets of the surface together. False also for more neighbours than the list holds.
static bool remesh_link(const remesh *r, int32_t a, int32_t b, int32_t uses)
{
    int32_t common = 0, seen[64], seen_count = 0;

    // neighbours of a, then those that are neighbours of b, too
    for (int32_t i = r->start[a]; i < r->start[a + 1]; ++i) {
        for (int k = 0; k < 3; ++k) {
            const int32_t v = r->tri[r->around[i]].v[k];
            bool known = v == a || v == b;
            for (int32_t s = 0; s < seen_count && !known; ++s) {
                known = seen[s] == v;
            }
            if (!known && seen_count < PL_COUNT(seen)) {
                seen[seen_count++] = v;
            }
        }
    }

    for (int32_t s = 0; s < seen_count; ++s) {
        bool joined = false;
        for (int32_t i = r->start[b]; i < r->start[b + 1] && !joined; ++i) {
            const int32_t *v = r->tri[r->around[i]].v;
            joined = v[0] == seen[s] || v[1] == seen[s] || v[2] == seen[s];
        }

        common += joined;
    }

    return common == uses && seen_count < PL_COUNT(seen);
}

// Whether the round has changed nothing around v; what it has changed is not in its lists.
static bool remesh_untouched(const remesh *r, int32_t v)
{
    for (int32_t i = r->start[v]; i < r->start[v + 1]; ++i) {
        if (r->touched[r->around[i]]) {
            return false;
        }
    }

    return true;
}

static void remesh_touch(remesh *r, int32_t v)
{
    for (int32_t i = r->start[v]; i < r->start[v + 1]; ++i) {
        r->touched[r->around[i]] = 1;
    }
}

// Whether one of the triangles that would vanish has a feature beside the edge itself, at the vertex that
// goes.
static bool remesh_feature_beside(const remesh *r, const remesh_edge *e, int32_t gone)
{
    bool beside = false;
    for (int32_t u = e->first; u >= 0; u = r->next[u]) {
        const remesh_tri *t = &r->tri[u / 3];
        for (int k = 0; k < 3; ++k) {
            beside = beside || (k != u % 3 && t->sharp[k] && (t->v[k] == gone || t->v[(k + 1) % 3] == gone));
        }
    }

    return beside;
}

// ---- short edges: two corners of a file closer than the digits or the sizes mean become one, whatever they
// are. Splitting the long sides of the triangle between them would make pairs of points without end.
static bool remesh_may_merge(const remesh *r, int32_t gone, int32_t kept)
{
    const double *to = remesh_at(r, kept), reach = pl_distance3(remesh_at(r, gone), to);
    for (int32_t i = r->start[gone]; i < r->start[gone + 1]; ++i) {
        const remesh_tri *t = &r->tri[r->around[i]];
        const double *old[3], *new[3];
        bool dies = false;

        for (int k = 0; k < 3; ++k) {
            dies = dies || t->v[k] == kept;
            old[k] = remesh_at(r, t->v[k]);
            new[k] = t->v[k] == gone ? to : old[k];
        }

        double n[3], m[3], longest = 0;
        remesh_normal(old[0], old[1], old[2], n);
        remesh_normal(new[0], new[1], new[2], m);
        for (int k = 0; k < 3; ++k) {
            longest = fmax(longest, pl_distance3(new[k], new[(k + 1) % 3]));
        }
        // one as thin as the edge is short has no direction to keep, but must not vanish
        const bool thin = pl_norm3(n) < 2 * reach * longest;
        if (!dies && (pl_norm3(m) < 1e-6 * longest * longest ||
                      (!thin && pl_dot3(n, m) < REMESH_TURN * pl_norm3(n) * pl_norm3(m)))) {
            return false;
        }
    }

    return true;
}

// Triangles with both vertices vanish, the others move along.
static void remesh_merge(remesh *r, int32_t gone, int32_t kept)
{
    remesh_touch(r, gone);
    remesh_touch(r, kept);
    for (int32_t j = r->start[gone]; j < r->start[gone + 1]; ++j) {
        remesh_tri *t = &r->tri[r->around[j]];
        const bool dies = t->v[0] == kept || t->v[1] == kept || t->v[2] == kept;
        for (int k = 0; k < 3 && !dies; ++k) {
            t->v[k] = t->v[k] == gone ? kept : t->v[k];
        }
        t->v[0] = dies ? -1 : t->v[0];
    }
}

bool remesh_short_edges(remesh *r)
{
    int32_t merged = 1;
    for (int pass = 0; merged > 0 && pass < REMESH_ROUNDS_MAX; ++pass) {
        merged = 0;

        for (int32_t i = r->edge_count - 1; i >= 0; --i) {
            const remesh_edge *e = &r->edge[i];
            if (e->ratio >= REMESH_SHORT) {
                continue;
            }

            // either end may be the one that goes
            const int32_t end[2] = {e->a, e->b};
            int32_t uses = 0;
            for (int32_t u = e->first; u >= 0; u = r->next[u]) {
                ++uses;
            }
            for (int k = 0; k < 2; ++k) {
                if (remesh_untouched(r, end[0]) && remesh_untouched(r, end[1]) &&
                    remesh_link(r, end[k], end[1 - k], uses) && remesh_may_merge(r, end[k], end[1 - k])) {
                    remesh_merge(r, end[k], end[1 - k]);
                    ++merged;
                }
            }
        }

        if (merged > 0 && !remesh_round(r)) {
            return false;
        }
    }

    return true;
}

// ---- collapsing
void remesh_collapse(remesh *r, double shorter)
{
    for (int32_t i = r->edge_count - 1; i >= 0; --i) {
        const remesh_edge *e = &r->edge[i];
        if (e->ratio >= shorter) {
            continue;
        }

        // a vertex goes onto one that is at least as much bound to features
        int32_t gone = e->b, kept = e->a, uses = 0;
        if (r->kind[gone] > r->kind[kept]) {
            gone = e->a;
            kept = e->b;
        }

        for (int32_t u = e->first; u >= 0; u = r->next[u]) {
            ++uses;
        }
        const bool sharp = r->tri[e->first / 3].sharp[e->first % 3];
        if (r->kind[gone] == VERTEX_CORNER || (r->kind[gone] == VERTEX_FEATURE && !sharp) ||
            !remesh_untouched(r, gone) || !remesh_untouched(r, kept) || remesh_feature_beside(r, e, gone) ||
            !remesh_link(r, gone, kept, uses) || !remesh_may_move(r, gone, kept, remesh_at(r, kept))) {
            continue;
        }

        remesh_merge(r, gone, kept);
    }
}

void remesh_agree(remesh *r)
{
    for (int32_t i = 0; i < r->edge_count; ++i) {
        bool sharp = false;
        for (int32_t u = r->edge[i].first; u >= 0; u = r->next[u]) {
            sharp = sharp || r->tri[u / 3].sharp[u % 3];
        }
        for (int32_t u = r->edge[i].first; u >= 0; u = r->next[u]) {
            r->tri[u / 3].sharp[u % 3] = sharp;
        }
    }
}
