// Surfaces with defects: vertices that lie together are joined, degenerate and duplicate triangles removed,
// triangles turned so that neighbours agree, small holes closed. What cannot be repaired stays and is
// reported by the checks that follow.
#include "mesh/mesh.h"
#include "meshing/meshing_impl.h"
#include "meshing/meshing_repair.h"

#define REPAIR_WELD 1e-6     // of the size of the part: the accuracy of the floats of an STL file
#define REPAIR_HOLE 0.05     // of the size of the part: larger holes are more likely meant
#define REPAIR_LOOP_MOST 200 // edges around a hole: the time of closing it grows with their cube

// A side of a triangle, from the smaller to the larger vertex.
typedef struct repair_side {
    int32_t low, high, triangle;
    bool ascending; // the triangle runs from low to high
} repair_side;

static int repair_side_order(const void *a, const void *b)
{
    const repair_side *p = a, *q = b;
    const int32_t x[3] = {p->low, p->high, p->triangle}, y[3] = {q->low, q->high, q->triangle};
    for (int i = 0; i < 3; ++i) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }

    return 0;
}

// All sides, sorted: those of one edge are neighbours. NULL without memory.
static repair_side *repair_sides(const pl_trisurf *s)
{
    repair_side *side = PL_NEW_ARRAY(repair_side, 3 * (int64_t)s->triangle_count);
    for (int64_t k = 0; side && k < 3 * (int64_t)s->triangle_count; ++k) {
        const int32_t a = s->corner[k], b = s->corner[k - k % 3 + (k + 1) % 3];
        side[k] = (repair_side){a < b ? a : b, a < b ? b : a, (int32_t)(k / 3), a < b};
    }

    if (side) {
        qsort(side, 3 * (size_t)s->triangle_count, sizeof *side, repair_side_order);
    }
    return side;
}

// The number of sides from `k` on that lie on the same edge.
static int64_t repair_side_run(const repair_side *side, int64_t count, int64_t k)
{
    int64_t n = 1;
    while (k + n < count && side[k + n].low == side[k].low && side[k + n].high == side[k].high) {
        ++n;
    }
    return n;
}

// ---- duplicate and degenerate triangles
typedef struct repair_key {
    int32_t corner[3], triangle;
} repair_key;

static int repair_key_order(const void *a, const void *b)
{
    const repair_key *p = a, *q = b;
    for (int i = 0; i < 3; ++i) {
        if (p->corner[i] != q->corner[i]) {
            return p->corner[i] < q->corner[i] ? -1 : 1;
        }
    }

    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static void repair_sort3(int32_t x[3])
{
    for (int i = 0; i < 3; ++i) {
        const int j = i < 2 ? i : 0;
        if (x[j] > x[j + 1]) {
            const int32_t keep = x[j];
            x[j] = x[j + 1];
            x[j + 1] = keep;
        }
    }
}

static pl_status repair_remove(pl_trisurf *s, pl_repair *report, pl_error *err)
{
    const int32_t n = s->triangle_count;
    repair_key *key = PL_NEW_ARRAY(repair_key, n);
    bool *gone = PL_NEW_ARRAY(bool, n);

    if (!key || !gone) {
        pl_free(key);
        pl_free(gone);
        return pl_fail_memory(err, "the repair");
    }

    for (int32_t t = 0; t < n; ++t) {
        memcpy(key[t].corner, s->corner + 3 * (int64_t)t, sizeof key[t].corner);
        key[t].triangle = t;
        repair_sort3(key[t].corner);
        gone[t] = key[t].corner[0] == key[t].corner[1] || key[t].corner[1] == key[t].corner[2];
        report->degenerate += gone[t];
    }

    // the same three corners, in any order: one is enough
    qsort(key, (size_t)n, sizeof *key, repair_key_order);
    for (int32_t t = 1; t < n; ++t) {
        if (!gone[key[t].triangle] && memcmp(key[t].corner, key[t - 1].corner, sizeof key[t].corner) == 0) {
            gone[key[t].triangle] = true;
            ++report->duplicates;
        }
    }

    int32_t kept = 0;
    for (int32_t t = 0; t < n; ++t) {
        if (!gone[t]) {
            memmove(s->corner + 3 * (int64_t)kept++, s->corner + 3 * (int64_t)t, 3 * sizeof *s->corner);
        }
    }

    s->triangle_count = kept;
    pl_free(key);
    pl_free(gone);

    return PL_OK;
}

// ---- orientation: neighbours run along their edge in opposite directions
// Parity of every triangle against the first of its shell; edges with more than two triangles are no
// connection.
static void repair_parity(const pl_trisurf *s, const repair_side *side, int32_t (*beside)[3],
                          bool (*agrees)[3], int32_t *queue, int32_t *shell, bool *turned)
{
    const int64_t sides = 3 * (int64_t)s->triangle_count;
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        beside[t][0] = beside[t][1] = beside[t][2] = -1;
        shell[t] = -1;
    }

    for (int64_t k = 0; k < sides; k += repair_side_run(side, sides, k)) {
        if (repair_side_run(side, sides, k) != 2) {
            continue;
        }
        for (int e = 0; e < 2; ++e) {
            const int32_t t = side[k + e].triangle;
            const int at = beside[t][0] < 0 ? 0 : beside[t][1] < 0 ? 1 : 2;
            beside[t][at] = side[k + 1 - e].triangle;
            agrees[t][at] = side[k].ascending != side[k + 1].ascending;
        }
    }

    int32_t shells = 0;
    for (int32_t first = 0; first < s->triangle_count; ++first) {
        if (shell[first] >= 0) {
            continue;
        }
        int32_t done = 0, count = 1, wrong = 0;
        queue[0] = first;
        shell[first] = shells;

        for (; done < count; ++done) {
            const int32_t t = queue[done];
            wrong += turned[t];

            for (int k = 0; k < 3 && beside[t][k] >= 0; ++k) {
                const int32_t u = beside[t][k];
                if (shell[u] < 0) {
                    shell[u] = shells;
                    turned[u] = turned[t] == agrees[t][k];
                    queue[count++] = u;
                }
            }
        }

        // most of a shell is right
        for (int32_t k = 0; 2 * wrong > count && k < count; ++k) {
            turned[queue[k]] = !turned[queue[k]];
        }
        ++shells;
    }
}

static pl_status repair_orient(pl_trisurf *s, pl_repair *report, pl_error *err)
{
    const int32_t n = s->triangle_count;
    repair_side *side = repair_sides(s);
    int32_t(*beside)[3] = pl_alloc((size_t)n * sizeof *beside + 1);
    bool(*agrees)[3] = pl_alloc((size_t)n * sizeof *agrees + 1);
    int32_t *queue = PL_NEW_ARRAY(int32_t, n), *shell = PL_NEW_ARRAY(int32_t, n);
    bool *turned = PL_NEW_ARRAY(bool, n);
    const bool room = side && beside && agrees && queue && shell && turned;

    if (room) {
        repair_parity(s, side, beside, agrees, queue, shell, turned);
        for (int32_t t = 0; t < n; ++t) {
            if (turned[t]) {
                int32_t *corner = s->corner + 3 * (int64_t)t;
                const int32_t keep = corner[1];
                corner[1] = corner[2];
                corner[2] = keep;
                ++report->turned;
            }
        }
    }

    void *block[] = {side, beside, agrees, queue, shell, turned};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    return room ? PL_OK : pl_fail_memory(err, "the repair");
}

// ---- holes
static double repair_area(const double *x, int32_t a, int32_t b, int32_t c)
{
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = x[3 * (int64_t)b + i] - x[3 * (int64_t)a + i];
        v[i] = x[3 * (int64_t)c + i] - x[3 * (int64_t)a + i];
    }

    for (int i = 0; i < 3; ++i) {
        w[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    }
    return 0.5 * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

// The triangles of least area on a loop of n vertices (Barequet and Sharir 1995): W[i, j] is the least area
// between the vertices i and j, reached with a triangle at cut[i, j].
static void repair_span(const double *x, const int32_t *loop, int n, double *W, int *cut)
{
    for (int step = 2; step < n; ++step) {
        for (int i = 0; i + step < n; ++i) {
            const int j = i + step;
            W[i * n + j] = INFINITY;

            for (int k = i + 1; k < j; ++k) {
                const double area = W[i * n + k] + W[k * n + j] + repair_area(x, loop[i], loop[k], loop[j]);
                if (area < W[i * n + j]) {
                    W[i * n + j] = area;
                    cut[i * n + j] = k;
                }
            }
        }
    }
}

static void repair_emit(pl_trisurf *s, const int32_t *loop, const int *cut, int n, int i, int j)
{
    if (j - i < 2) {
        return;
    }
    const int k = cut[i * n + j];
    int32_t *corner = s->corner + 3 * (int64_t)s->triangle_count++;
    corner[0] = loop[i];
    corner[1] = loop[k];
    corner[2] = loop[j];
    repair_emit(s, loop, cut, n, i, k);
    repair_emit(s, loop, cut, n, k, j);
}

static double repair_extent(const double *x, const int32_t *vertex, int64_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
    for (int64_t k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i) {
            const double v = x[3 * (int64_t)(vertex ? vertex[k] : (int32_t)k) + i];
            low[i] = fmin(low[i], v);
            high[i] = fmax(high[i], v);
        }
    }

    for (int i = 0; i < 3; ++i) {
        sum += (high[i] - low[i]) * (high[i] - low[i]);
    }
    return count > 0 ? sqrt(sum) : 0;
}

// Closes a loop; its size decides whether it is a defect.
static pl_status repair_close(pl_trisurf *s, const int32_t *loop, int n, double largest, pl_repair *report,
                              pl_error *err)
{
    const double extent = repair_extent(s->position, loop, n);
    if (n < 3 || n > REPAIR_LOOP_MOST || extent > largest) {
        ++report->holes_left;
        report->largest_left = fmax(report->largest_left, extent);
        return PL_OK;
    }

    double *W = PL_NEW_ARRAY(double, n *(int64_t)n);
    int *cut = PL_NEW_ARRAY(int, n *(int64_t)n);
    int32_t *more = PL_NEW_ARRAY(int32_t, 3 * ((int64_t)s->triangle_count + n));

    if (more) {
        memcpy(more, s->corner, 3 * (size_t)s->triangle_count * sizeof *more);
        pl_free(s->corner);
        s->corner = more;
    }

    if (W && cut && more) {
        repair_span(s->position, loop, n, W, cut);
        repair_emit(s, loop, cut, n, 0, n - 1);
        ++report->holes;
    }

    const bool room = W && cut && more;
    pl_free(W);
    pl_free(cut);

    return room ? PL_OK : pl_fail_memory(err, "the repair");
}

// A step along the border of a hole.
typedef struct repair_step {
    int32_t from, to;
} repair_step;

static int repair_step_order(const void *a, const void *b)
{
    const repair_step *p = a, *q = b;
    return p->from != q->from ? (p->from < q->from ? -1 : 1) : p->to < q->to ? -1 : p->to > q->to;
}

// The borders of holes, sorted by where they start: a hole runs against the side of its triangle.
static int32_t repair_border(const pl_trisurf *s, const repair_side *side, repair_step *step)
{
    const int64_t sides = 3 * (int64_t)s->triangle_count;
    int32_t count = 0;
    for (int64_t k = 0; k < sides; k += repair_side_run(side, sides, k)) {
        if (repair_side_run(side, sides, k) == 1) {
            step[count++] = side[k].ascending ? (repair_step){side[k].high, side[k].low}
                                              : (repair_step){side[k].low, side[k].high};
        }
    }

    qsort(step, (size_t)count, sizeof *step, repair_step_order);
    return count;
}

// Follows the borders. Where holes touch in a vertex, the path comes back to it and the loop since then is a
// hole of its own. `first[v]`: the first step from v that is left; `place[v]`: of v on the path, -1: not on
// it.
static pl_status repair_follow(pl_trisurf *s, const repair_step *step, int32_t count, int32_t *first,
                               int32_t *place, int32_t *path, double largest, pl_repair *report,
                               pl_error *err)
{
    pl_status status = PL_OK;
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        first[v] = place[v] = -1;
    }
    for (int32_t k = count - 1; k >= 0; --k) {
        first[step[k].from] = k;
    }

    for (int32_t k = 0; status == PL_OK && k < count; ++k) {
        int32_t length = 0, at = step[k].from;
        while (status == PL_OK && at >= 0) {
            if (place[at] >= 0) {
                const int32_t begin = place[at];
                for (int32_t i = begin; i < length; ++i) {
                    place[path[i]] = -1;
                }
                status = repair_close(s, path + begin, length - begin, largest, report, err);
                length = begin;
            }

            const int32_t next = first[at];
            if (next < 0) {
                break;
            }
            first[at] = next + 1 < count && step[next + 1].from == at ? next + 1 : -1;
            place[at] = length;
            path[length++] = at;
            at = step[next].to;
        }

        // a path that does not come back: more than two triangles meet at its edges
        for (int32_t i = 0; i < length; ++i) {
            place[path[i]] = -1;
        }
    }

    return status;
}

static pl_status repair_holes(pl_trisurf *s, double largest, pl_repair *report, pl_error *err)
{
    repair_side *side = repair_sides(s);
    repair_step *step = PL_NEW_ARRAY(repair_step, 3 * (int64_t)s->triangle_count);
    int32_t *first = PL_NEW_ARRAY(int32_t, s->vertex_count), *place = PL_NEW_ARRAY(int32_t, s->vertex_count),
            *path = PL_NEW_ARRAY(int32_t, s->vertex_count);
    const pl_status status =
        side && step && first && place && path
            ? repair_follow(s, step, repair_border(s, side, step), first, place, path, largest, report, err)
            : pl_fail_memory(err, "the repair");

    void *block[] = {side, step, first, place, path};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    return status;
}

pl_status pl_meshing_repair(pl_trisurf *surface, double largest_hole, int32_t most_triangles,
                            pl_repair *report, pl_error *err)
{
    *report = (pl_repair){.triangles = surface->triangle_count};
    const double size = repair_extent(surface->position, NULL, surface->vertex_count);
    const int32_t vertices = surface->vertex_count;

    pl_status status = pl_trisurf_weld(surface, REPAIR_WELD * size, err);
    report->joined = vertices - surface->vertex_count;
    if (status == PL_OK) {
        status = repair_remove(surface, report, err);
    }
    if (status == PL_OK) {
        status = repair_orient(surface, report, err);
    }
    if (status == PL_OK) {
        status = repair_holes(surface, largest_hole > 0 ? largest_hole : REPAIR_HOLE * size, report, err);
    }
    if (status == PL_OK && most_triangles > 0 && surface->triangle_count > most_triangles) {
        status = repair_decimate(surface, most_triangles, report, err);
    }
    report->result = surface->triangle_count;

    return status;
}
