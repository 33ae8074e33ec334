// Flips of edges of the part's surface: towards Delaunay, and out of needles (meshing_remesh.c).
#include <stdlib.h>
#include "meshing/meshing_remesh.h"

#define REMESH_NEEDLE 1e-5 // height of a triangle without a direction, of the part's length
#define REMESH_GAP 0.1     // how far a flip may move the surface, of the size
#define REMESH_FLAT 1e-3   // least height of a triangle a flip may make, of the new edge

// ---- flipping
// Angle at `apex`, rad; from both sine and cosine, so that it is accurate near 0 and pi.
static double remesh_angle(const double *apex, const double *a, const double *b)
{
    double u[3], v[3], n[3];
    pl_sub3(a, apex, u);
    pl_sub3(b, apex, v);
    pl_cross3(u, v, n);
    return atan2(pl_norm3(n), pl_dot3(u, v));
}

// The two triangles on an edge, from a to b in the first, with the corners c and d opposite to it.
typedef struct remesh_quad {
    remesh_tri *s, *t;
    int j, k; // the edge in s and t
    int32_t a, b, c, d;
} remesh_quad;

// False when the edge cannot be flipped: it has not two triangles of one orientation, one of them has changed
// already, or c and d are joined.
static bool remesh_quad_of(remesh *r, const remesh_edge *e, remesh_quad *q)
{
    const int32_t u = e->first, w = r->next[u];
    if (w < 0 || r->next[w] >= 0 || r->touched[u / 3] || r->touched[w / 3]) {
        return false;
    }
    *q = (remesh_quad){.s = &r->tri[u / 3], .t = &r->tri[w / 3], .j = u % 3, .k = w % 3};
    q->a = q->s->v[q->j];
    q->b = q->s->v[(q->j + 1) % 3];
    q->c = q->s->v[(q->j + 2) % 3];
    q->d = q->t->v[(q->k + 2) % 3];
    int32_t key[2] = {q->c, q->d};
    pl_sort_small(key, 2);

    return q->c != q->d && q->t->v[q->k] == q->b && pl_table_find(&r->table, key) < 0;
}

// (a b c) + (b a d) become (a d c) + (d b c).
static void remesh_turn(remesh *r, const remesh_quad *q, const remesh_tri *like)
{
    const int32_t origin = like->origin, patch = like->patch;
    const bool bc = q->s->sharp[(q->j + 1) % 3], ca = q->s->sharp[(q->j + 2) % 3],
               ad = q->t->sharp[(q->k + 1) % 3], db = q->t->sharp[(q->k + 2) % 3];
    int32_t key[2] = {q->c, q->d};

    pl_sort_small(key, 2);
    pl_table_add(&r->table, key); // no other flip may make the same edge
    r->touched[q->s - r->tri] = r->touched[q->t - r->tri] = 1;
    *q->s = (remesh_tri){{q->a, q->d, q->c}, {ad, false, ca}, origin, patch};
    *q->t = (remesh_tri){{q->d, q->b, q->c}, {db, bc, false}, origin, patch};
}

// How far apart the edges a b and c d pass: what a flip moves the surface by.
static double remesh_gap(const double *A, const double *B, const double *C, const double *D)
{
    double u[3], v[3], w[3], n[3];
    pl_sub3(B, A, u);
    pl_sub3(D, C, v);
    pl_sub3(C, A, w);
    pl_cross3(u, v, n);
    return fabs(pl_dot3(w, n)) / fmax(pl_norm3(n), 1e-300);
}

int32_t remesh_flip(remesh *r)
{
    int32_t flipped = 0;
    for (int32_t i = 0; i < r->edge_count; ++i) {
        remesh_quad q;
        if (r->tri[r->edge[i].first / 3].sharp[r->edge[i].first % 3] || !remesh_quad_of(r, &r->edge[i], &q)) {
            continue;
        }
        const double *A = remesh_at(r, q.a), *B = remesh_at(r, q.b), *C = remesh_at(r, q.c),
                     *D = remesh_at(r, q.d);
        if (remesh_angle(C, A, B) + remesh_angle(D, A, B) < PL_PI + 1e-6) {
            continue; // Delaunay already
        }

        // normals before and after; with `exact` all must be the same
        double n[2][3], m[2][3];
        const double turn = r->exact ? 1 - 1e-12 : 0.9;
        remesh_normal(A, B, C, n[0]);
        remesh_normal(B, A, D, n[1]);
        remesh_normal(A, D, C, m[0]);
        remesh_normal(D, B, C, m[1]);
        bool turned = false;
        for (int p = 0; p < 4; ++p) {
            turned = turned || pl_dot3(n[p / 2], m[p % 2]) < turn * pl_norm3(n[p / 2]) * pl_norm3(m[p % 2]) ||
                     pl_norm3(m[p % 2]) < REMESH_FLAT * pow(pl_distance3(C, D), 2);
        }

        // on a curved surface a flip cuts a corner: compare with the part
        const double gap = remesh_gap(A, B, C, D);
        turned = turned || gap > fmin(REMESH_GAP * size_field_at(r->field, C), r->near);
        if (!turned && gap > 1e-6 * pl_distance3(C, D)) {
            turned = remesh_off(r, (const double *const[]){A, D, C}, q.s->patch) ||
                     remesh_off(r, (const double *const[]){D, B, C}, q.s->patch);
        }

        if (!turned) {
            remesh_turn(r, &q, q.s);
            ++flipped;
        }
    }

    return flipped;
}

// ---- needles: triangles as flat as the digits of a file, whose normals mean nothing. The long side of one
// (a b, with c on it) is flipped, whatever lies behind it: the neighbour becomes two.
static bool remesh_is_needle(const remesh *r, const remesh_tri *t, int k)
{
    const double *a = remesh_at(r, t->v[k]), *b = remesh_at(r, t->v[(k + 1) % 3]),
                 *c = remesh_at(r, t->v[(k + 2) % 3]);
    double n[3];

    remesh_normal(a, b, c, n);
    const double side = pl_distance3(a, b);
    return pl_norm3(n) < REMESH_NEEDLE * r->part->length * side && side >= pl_distance3(b, c) &&
           side >= pl_distance3(c, a);
}

bool remesh_needles(remesh *r)
{
    const int32_t *shell = r->c->side_shell;
    int32_t turned = 1;

    for (int pass = 0; turned > 0 && pass < REMESH_ROUNDS_MAX; ++pass) {
        turned = 0;
        for (int32_t i = 0; i < r->edge_count; ++i) {
            remesh_quad q;
            if (!remesh_quad_of(r, &r->edge[i], &q)) {
                continue;
            }
            const bool first = remesh_is_needle(r, q.s, q.j), second = remesh_is_needle(r, q.t, q.k);
            if (first != second && shell[2 * q.s->origin] == shell[2 * q.t->origin] &&
                shell[2 * q.s->origin + 1] == shell[2 * q.t->origin + 1]) {
                remesh_turn(r, &q, first ? q.t : q.s);
                ++turned;
            }
        }

        if (turned > 0 && !remesh_round(r)) {
            return false;
        }
    }

    return true;
}
