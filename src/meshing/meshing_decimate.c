// Fewer triangles for surfaces that are finer than any mesh of them: edges are collapsed, cheapest first.
//
// The quadric of a vertex, Q = sum A_t n n^T with the planes n = (a, b, c, d) of its triangles, gives the sum
// of the squared distances of a point p to them: (p, 1)^T Q (p, 1).
#include "mesh/mesh.h"
#include "meshing/meshing_impl.h"
#include "meshing/meshing_repair.h"

#define DECIMATE_COSINE                                                                                      \
    0.2 // of the angle by which a triangle may turn in one collapse: below, the surface would fold
#define DECIMATE_NEIGHBOURS 64 // of a vertex; edges at vertices with more are kept
#define DECIMATE_SAMPLES 20000 // old vertices whose distance to the new surface is measured

typedef struct decimate_edge {
    double cost, at[3];
    int32_t a, b, stamp; // stamps of both ends when it was computed
} decimate_edge;

typedef struct decimation {
    pl_trisurf *s;
    double (*Q)[10];              // per vertex: upper triangle of the quadric, row by row
    int32_t *head, *next, *stamp; // corners of each vertex as a list; changes of a vertex
    decimate_edge *heap;
    int32_t heap_capacity;
    int64_t heap_count;
    int32_t alive;
} decimation;

static const double *decimate_point(const decimation *d, int32_t v)
{
    return d->s->position + 3 * (int64_t)v;
}

static void decimate_normal(const double *a, const double *b, const double *c, double n[3])
{
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    for (int i = 0; i < 3; ++i) {
        n[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    }
}

static double decimate_cost(const double Q[10], const double p[3])
{
    const double h[4] = {p[0], p[1], p[2], 1};
    double sum = 0;
    for (int i = 0, k = 0; i < 4; ++i) {
        for (int j = i; j < 4; ++j, ++k) {
            sum += (i == j ? 1 : 2) * Q[k] * h[i] * h[j];
        }
    }

    return sum;
}

// ---- the heap
static bool decimate_less(const decimate_edge *p, const decimate_edge *q)
{
    return p->cost != q->cost ? p->cost < q->cost : p->a != q->a ? p->a < q->a : p->b < q->b;
}

static bool decimate_push(decimation *d, const decimate_edge *edge)
{
    if (!pl_grow((void **)&d->heap, &d->heap_capacity, d->heap_count + 1, sizeof *d->heap)) {
        return false;
    }
    int64_t k = d->heap_count++;
    for (; k > 0 && decimate_less(edge, &d->heap[(k - 1) / 2]); k = (k - 1) / 2) {
        d->heap[k] = d->heap[(k - 1) / 2];
    }
    d->heap[k] = *edge;
    return true;
}

static decimate_edge decimate_pop(decimation *d)
{
    const decimate_edge top = d->heap[0], last = d->heap[--d->heap_count];
    int64_t k = 0;
    for (int64_t child = 1; child < d->heap_count; child = 2 * k + 1) {
        child += child + 1 < d->heap_count && decimate_less(&d->heap[child + 1], &d->heap[child]);
        if (!decimate_less(&d->heap[child], &last)) {
            break;
        }
        d->heap[k] = d->heap[child];
        k = child;
    }

    if (d->heap_count > 0) {
        d->heap[k] = last;
    }
    return top;
}

// The place of least cost, among the point where the gradient vanishes, the ends and the middle.
static bool decimate_offer(decimation *d, int32_t a, int32_t b)
{
    double Q[10];
    for (int k = 0; k < 10; ++k) {
        Q[k] = d->Q[a][k] + d->Q[b][k];
    }
    const double *p = decimate_point(d, a), *q = decimate_point(d, b);
    double place[4][3], length = 0;

    for (int i = 0; i < 3; ++i) {
        place[0][i] = p[i];
        place[1][i] = q[i];
        place[2][i] = 0.5 * (p[i] + q[i]);
        length += (p[i] - q[i]) * (p[i] - q[i]);
    }

    // Cramer's rule; flat places have no unique minimum
    const double M[9] = {Q[0], Q[1], Q[2], Q[1], Q[4], Q[5], Q[2], Q[5], Q[7]}, r[3] = {-Q[3], -Q[6], -Q[8]};
    double C[9];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            C[3 * i + j] = M[3 * ((i + 1) % 3) + (j + 1) % 3] * M[3 * ((i + 2) % 3) + (j + 2) % 3] -
                           M[3 * ((i + 1) % 3) + (j + 2) % 3] * M[3 * ((i + 2) % 3) + (j + 1) % 3];
        }
    }

    const double det = M[0] * C[0] + M[1] * C[1] + M[2] * C[2], trace = M[0] + M[4] + M[8];
    int places = 3;
    if (fabs(det) > 1e-6 * trace * trace * trace) {
        double off = 0;
        for (int i = 0; i < 3; ++i) {
            place[3][i] = (C[i] * r[0] + C[3 + i] * r[1] + C[6 + i] * r[2]) / det;
            off += (place[3][i] - place[2][i]) * (place[3][i] - place[2][i]);
        }

        places = off < 4 * length ? 4 : 3;
    }

    // where all planes agree the shorter edge comes first
    decimate_edge edge = {.cost = INFINITY, .a = a, .b = b, .stamp = d->stamp[a] + d->stamp[b]};
    for (int k = 0; k < places; ++k) {
        const double cost = fmax(decimate_cost(Q, place[k]), 0) + 1e-12 * trace * length;
        if (cost < edge.cost) {
            edge.cost = cost;
            memcpy(edge.at, place[k], sizeof edge.at);
        }
    }

    return decimate_push(d, &edge);
}

// The vertices around v; -1: too many.
static int decimate_neighbours(const decimation *d, int32_t v, int32_t *out)
{
    int n = 0;
    for (int32_t c = d->head[v]; c >= 0; c = d->next[c]) {
        for (int k = 1; k < 3; ++k) {
            const int32_t u = d->s->corner[c - c % 3 + (c + k) % 3];
            int i = 0;
            while (i < n && out[i] != u) {
                ++i;
            }
            if (i == n) {
                if (n == DECIMATE_NEIGHBOURS) {
                    return -1;
                }
                out[n++] = u;
            }
        }
    }

    return n;
}

// Whether the triangles of v that do not contain `other` keep their side when v moves.
static bool decimate_stays(const decimation *d, int32_t v, int32_t other, const double at[3])
{
    for (int32_t c = d->head[v]; c >= 0; c = d->next[c]) {
        const int32_t p = d->s->corner[c - c % 3 + (c + 1) % 3], q = d->s->corner[c - c % 3 + (c + 2) % 3];
        if (p == other || q == other) {
            continue;
        }
        double before[3], after[3], dot = 0, b2 = 0, a2 = 0;
        decimate_normal(decimate_point(d, v), decimate_point(d, p), decimate_point(d, q), before);
        decimate_normal(at, decimate_point(d, p), decimate_point(d, q), after);

        for (int i = 0; i < 3; ++i) {
            dot += before[i] * after[i];
            b2 += before[i] * before[i];
            a2 += after[i] * after[i];
        }

        if (!(dot > DECIMATE_COSINE * sqrt(a2 * b2))) {
            return false;
        }
    }

    return true;
}

// The link condition: the ends share exactly the two vertices opposite to the edge, so that a manifold stays
// one.
static bool decimate_allowed(const decimation *d, const decimate_edge *e)
{
    int32_t around_a[DECIMATE_NEIGHBOURS], around_b[DECIMATE_NEIGHBOURS];
    const int na = decimate_neighbours(d, e->a, around_a), nb = decimate_neighbours(d, e->b, around_b);
    int shared = 0;

    for (int i = 0; i < na; ++i) {
        for (int j = 0; j < nb; ++j) {
            shared += around_a[i] == around_b[j];
        }
    }

    return na > 0 && nb > 0 && na + nb - 4 > 3 && shared == 2 && decimate_stays(d, e->a, e->b, e->at) &&
           decimate_stays(d, e->b, e->a, e->at);
}

// b becomes a, at its new place; the triangles with both are gone.
static bool decimate_collapse(decimation *d, const decimate_edge *e)
{
    int32_t *corner = d->s->corner, *lists[2] = {&d->head[e->a], &d->head[e->b]}, list = -1;
    for (int k = 0; k < 2; ++k) {
        for (int32_t c = *lists[k], after; c >= 0; c = after) {
            after = d->next[c];
            const int32_t t = c / 3, other = k == 0 ? e->b : e->a;
            const bool both =
                corner[3 * t] == other || corner[3 * t + 1] == other || corner[3 * t + 2] == other;
            if (both && k == 0) {
                // out of the list of its third vertex, and dead
                for (int i = 0; i < 3; ++i) {
                    const int32_t v = corner[3 * t + i];
                    if (v != e->a && v != e->b) {
                        int32_t *link = &d->head[v];
                        while (*link != 3 * t + i) {
                            link = &d->next[*link];
                        }
                        *link = d->next[*link];
                    }
                }

                corner[3 * t] = corner[3 * t + 1] = corner[3 * t + 2] = -1;
                --d->alive;
            } else if (corner[3 * t] >= 0) {
                corner[c] = e->a;
                d->next[c] = list;
                list = c;
            }
        }
    }

    d->head[e->a] = list;
    d->head[e->b] = -1;
    memcpy(d->s->position + 3 * (int64_t)e->a, e->at, sizeof e->at);
    for (int k = 0; k < 10; ++k) {
        d->Q[e->a][k] += d->Q[e->b][k];
    }
    ++d->stamp[e->a];
    d->stamp[e->b] = -(1 << 30); // gone

    int32_t around[DECIMATE_NEIGHBOURS];
    const int n = decimate_neighbours(d, e->a, around);
    for (int i = 0; i < n; ++i) {
        if (!decimate_offer(d, e->a, around[i])) {
            return false;
        }
    }

    return true;
}

static void decimate_prepare(decimation *d)
{
    const pl_trisurf *s = d->s;
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        d->head[v] = -1;
    }
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        const int32_t *corner = s->corner + 3 * (int64_t)t;
        double n[4], area2 = 0;
        decimate_normal(decimate_point(d, corner[0]), decimate_point(d, corner[1]),
                        decimate_point(d, corner[2]), n);
        for (int i = 0; i < 3; ++i) {
            area2 += n[i] * n[i];
        }
        const double length = sqrt(area2), *p = decimate_point(d, corner[0]);
        for (int i = 0; i < 3 && length > 0; ++i) {
            n[i] /= length;
        }
        n[3] = -(n[0] * p[0] + n[1] * p[1] + n[2] * p[2]);

        for (int i = 0; i < 3; ++i) {
            for (int r = 0, k = 0; r < 4; ++r) {
                for (int c = r; c < 4; ++c, ++k) {
                    d->Q[corner[i]][k] += 0.5 * length * n[r] * n[c];
                }
            }

            const int32_t at = 3 * t + i;
            d->next[at] = d->head[corner[i]];
            d->head[corner[i]] = at;
        }
    }
}

// Without the dead triangles and the vertices that nothing uses. `label` has a number per vertex.
static void decimate_pack(pl_trisurf *s, int32_t *label)
{
    int32_t triangles = 0, vertices = 0;
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        label[v] = -1;
    }
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        if (s->corner[3 * (int64_t)t] >= 0) {
            memmove(s->corner + 3 * (int64_t)triangles++, s->corner + 3 * (int64_t)t, 3 * sizeof *s->corner);
        }
    }

    for (int64_t k = 0; k < 3 * (int64_t)triangles; ++k) {
        label[s->corner[k]] = 0;
    }
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        if (label[v] == 0) {
            memmove(s->position + 3 * (int64_t)vertices, s->position + 3 * (int64_t)v,
                    3 * sizeof *s->position);
            label[v] = vertices++;
        }
    }

    for (int64_t k = 0; k < 3 * (int64_t)triangles; ++k) {
        s->corner[k] = label[s->corner[k]];
    }
    s->triangle_count = triangles;
    s->vertex_count = vertices;
}

// The largest distance of old vertices from the new surface, mm.
static pl_status decimate_measure(const pl_trisurf *s, const double *old, int32_t count, pl_repair *report,
                                  pl_error *err)
{
    pl_trisurf_tree tree;
    const pl_status status = pl_trisurf_tree_init(&tree, s, err);
    const int32_t step = count / DECIMATE_SAMPLES + 1;

    for (int32_t v = 0; status == PL_OK && v < count; v += step) {
        double nearest[3];
        report->deviation =
            fmax(report->deviation, pl_trisurf_tree_nearest(&tree, old + 3 * (int64_t)v, nearest));
    }

    if (status == PL_OK) {
        pl_trisurf_tree_clear(&tree);
    }
    return status;
}

pl_status repair_decimate(pl_trisurf *surface, int32_t most, pl_repair *report, pl_error *err)
{
    const int32_t vertices = surface->vertex_count;
    const int64_t corners = 3 * (int64_t)surface->triangle_count;
    decimation d = {.s = surface, .alive = surface->triangle_count};
    d.Q = pl_alloc((size_t)vertices * sizeof *d.Q + 1);
    d.head = PL_NEW_ARRAY(int32_t, vertices);
    d.next = PL_NEW_ARRAY(int32_t, corners);
    d.stamp = PL_NEW_ARRAY(int32_t, vertices);
    double *old = PL_NEW_ARRAY(double, 3 * (int64_t)vertices);
    bool room = d.Q && d.head && d.next && d.stamp && old;

    if (room) {
        memset(d.Q, 0, (size_t)vertices * sizeof *d.Q);
        memcpy(old, surface->position, 3 * (size_t)vertices * sizeof *old);
        decimate_prepare(&d);
        for (int64_t k = 0; room && k < corners; ++k) {
            const int32_t a = surface->corner[k], b = surface->corner[k - k % 3 + (k + 1) % 3];
            room = a > b || decimate_offer(&d, a, b);
        }
    }

    while (room && d.alive > most && d.heap_count > 0) {
        const decimate_edge e = decimate_pop(&d);
        if (e.stamp == d.stamp[e.a] + d.stamp[e.b] && decimate_allowed(&d, &e)) {
            room = decimate_collapse(&d, &e);
        }
    }

    pl_status status = room ? PL_OK : pl_fail_memory(err, "the decimation");
    if (room) {
        decimate_pack(surface, d.stamp);
        report->decimated = true;
        status = decimate_measure(surface, old, vertices, report, err);
    }

    void *block[] = {d.Q, d.head, d.next, d.stamp, d.heap, old};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    return status;
}
