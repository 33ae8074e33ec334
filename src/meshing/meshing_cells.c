// Cells: each triangle has two sides; around an edge, sides that face each other belong to the same shell of
// a cell. Shells with positive volume bound a cell from outside, negative ones are holes in the cell around
// them.
#include <stdlib.h>
#include <stdio.h>
#include "mesh/mesh.h"
#include "meshing/meshing_cells.h"

// ---- union-find
static int32_t cells_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }

    return i;
}

static void cells_join(int32_t *parent, int32_t a, int32_t b)
{
    a = cells_root(parent, a);
    b = cells_root(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
}

// Times a surface winds around p: the solid angles of its triangles (Van Oosterom and Strackee),
double cells_winding(const double *position, const int32_t *corner, int32_t count, const double p[3])
{
    double sum = 0;
    for (int32_t t = 0; t < count; ++t) {
        double a[3], b[3], c[3], n[3];
        pl_sub3(position + 3 * (int64_t)corner[3 * (int64_t)t], p, a);
        pl_sub3(position + 3 * (int64_t)corner[3 * (int64_t)t + 1], p, b);
        pl_sub3(position + 3 * (int64_t)corner[3 * (int64_t)t + 2], p, c);
        pl_cross3(b, c, n);
        const double la = pl_norm3(a), lb = pl_norm3(b), lc = pl_norm3(c);
        //   tan(omega / 2) = a . b x c / (|a| |b| |c| + (a . b) |c| + (b . c) |a| + (c . a) |b|), summed over
        //   4 pi.
        sum += 2 * atan2(pl_dot3(a, n),
                         la * lb * lc + pl_dot3(a, b) * lc + pl_dot3(b, c) * la + pl_dot3(c, a) * lb);
    }

    return sum / (4 * PL_PI);
}

// a . b x c / 6: the volume between a triangle and the origin; summed over a closed shell, its volume.
static double cells_triangle_volume(const double *position, const int32_t *corner)
{
    double n[3];
    pl_cross3(position + 3 * (int64_t)corner[1], position + 3 * (int64_t)corner[2], n);
    return pl_dot3(position + 3 * (int64_t)corner[0], n) / 6;
}

// ---- edges and the triangles around them
typedef struct cell_edges {
    pl_table table;
    int32_t *start, *use; // use: 3 t + k for edge k of triangle t
} cell_edges;

static void cells_edges_clear(cell_edges *e)
{
    pl_table_clear(&e->table);
    pl_free(e->start);
    pl_free(e->use);
}

// Lists of the triangles around each edge, in compressed rows. False without memory.
static bool cells_edges_init(cell_edges *e, const int32_t *corner, int32_t triangle_count)
{
    *e = (cell_edges){0};
    const int64_t uses = 3 * (int64_t)triangle_count;
    int32_t *edge = PL_NEW_ARRAY(int32_t, uses);
    bool room = edge && pl_table_init(&e->table, 2, uses);

    // number the edges
    for (int64_t u = 0; room && u < uses; ++u) {
        const int32_t a = corner[u], b = corner[u - u % 3 + (u + 1) % 3];
        const int32_t key[2] = {a < b ? a : b, a < b ? b : a};
        edge[u] = pl_table_add(&e->table, key);
        room = edge[u] >= 0;
    }

    e->start = room ? PL_NEW_ARRAY(int32_t, (int64_t)e->table.count + 2) : NULL;
    e->use = room ? PL_NEW_ARRAY(int32_t, uses) : NULL;
    room = room && e->start && e->use;

    // counts, shifted by two so that filling turns them into starts
    if (room) {
        for (int64_t u = 0; u < uses; ++u) {
            ++e->start[edge[u] + 2];
        }
        for (int32_t i = 1; i < e->table.count; ++i) {
            e->start[i + 1] += e->start[i];
        }
        for (int64_t u = 0; u < uses; ++u) {
            e->use[e->start[edge[u] + 1]++] = (int32_t)u;
        }
    }

    pl_free(edge);

    return room;
}

// Triangles that share an edge belong to one shell.
int32_t cells_shells(const pl_trisurf *surface, int32_t *shell)
{
    const int32_t n = surface->triangle_count;
    cell_edges e;
    int32_t *parent = PL_NEW_ARRAY(int32_t, n), count = -1;

    if (cells_edges_init(&e, surface->corner, n) && parent) {
        for (int32_t t = 0; t < n; ++t) {
            parent[t] = t;
        }
        for (int32_t i = 0; i < e.table.count; ++i) {
            for (int32_t k = e.start[i] + 1; k < e.start[i + 1]; ++k) {
                cells_join(parent, e.use[k - 1] / 3, e.use[k] / 3);
            }
        }

        // a root comes before its members, so it is numbered when they ask
        count = 0;
        for (int32_t t = 0; t < n; ++t) {
            const int32_t root = cells_root(parent, t);
            shell[t] = root == t ? count++ : shell[root];
        }
    }

    cells_edges_clear(&e);
    pl_free(parent);

    return count;
}

// ---- orientation of one surface's shells by nesting
// Reverses a triangle.
static void cells_flip(int32_t *corner)
{
    const int32_t keep = corner[1];
    corner[1] = corner[2];
    corner[2] = keep;
}

// How many of the other shells lie around the first vertex of shell s. `corner` is grouped by shell.
static int cells_depth(const pl_trisurf *surface, const int32_t *corner, const int32_t *start, int32_t count,
                       int32_t s)
{
    const double *p = surface->position + 3 * (int64_t)corner[3 * (int64_t)start[s]];
    int depth = 0;

    for (int32_t k = 0; k < count; ++k) {
        const double turns = k == s ? 0
                                    : cells_winding(surface->position, corner + 3 * (int64_t)start[k],
                                                    start[k + 1] - start[k], p);
        depth += fabs(turns) > 0.5;
    }

    return depth;
}

// A shell at even depth encloses material and must have a positive volume, one at odd depth a void and a
// negative one; the volume is only a sign here.
pl_status cells_orient(pl_trisurf *surface, pl_error *err)
{
    const int32_t n = surface->triangle_count;
    int32_t *shell = PL_NEW_ARRAY(int32_t, n);
    int32_t *corner = PL_NEW_ARRAY(int32_t, 3 * (int64_t)n);
    const int32_t count = shell && corner ? cells_shells(surface, shell) : -1;
    int32_t *start = count >= 0 ? PL_NEW_ARRAY(int32_t, (int64_t)count + 2) : NULL;
    bool *turn = count >= 0 ? PL_NEW_ARRAY(bool, count) : NULL;

    if (start && turn) {
        // triangles grouped by shell
        for (int32_t t = 0; t < n; ++t) {
            ++start[shell[t] + 2];
        }
        for (int32_t s = 1; s < count; ++s) {
            start[s + 1] += start[s];
        }
        for (int32_t t = 0; t < n; ++t) {
            memcpy(corner + 3 * (int64_t)start[shell[t] + 1]++, surface->corner + 3 * (int64_t)t,
                   3 * sizeof *corner);
        }

        // which shells look inwards instead of outwards
        for (int32_t s = 0; s < count; ++s) {
            double volume = 0;
            for (int32_t t = start[s]; t < start[s + 1]; ++t) {
                volume += cells_triangle_volume(surface->position, corner + 3 * (int64_t)t);
            }
            turn[s] = (volume > 0) == (cells_depth(surface, corner, start, count, s) % 2 == 1);
        }

        for (int32_t t = 0; t < n; ++t) {
            if (turn[shell[t]]) {
                cells_flip(surface->corner + 3 * (int64_t)t);
            }
        }
    }

    const bool room = start && turn;
    void *block[] = {shell, corner, start, turn};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    return room ? PL_OK : pl_fail_memory(err, "the shells of a surface");
}

// ---- gathering: vertices of all parts welded, triangles once
static pl_status cells_gather(const pl_meshing_part *part, int part_count, cells *c, pl_error *err)
{
    int64_t vertices = 0, triangles = 0;
    for (int p = 0; p < part_count; ++p) {
        vertices += part[p].surface.vertex_count;
        triangles += part[p].surface.triangle_count;
    }

    if (vertices > INT32_MAX / 4 || triangles > INT32_MAX / 8) {
        return pl_fail(err, PL_BAD_INPUT, "parts: %lld triangles exceed the limit", (long long)triangles);
    }
    c->position = PL_NEW_ARRAY(double, 3 * vertices);
    c->corner = PL_NEW_ARRAY(int32_t, 3 * triangles);
    int32_t *same = PL_NEW_ARRAY(int32_t, vertices);
    pl_table table = {0};
    bool room = c->position && c->corner && same && pl_table_init(&table, 3, triangles);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    // all vertices, and their extent for the tolerance of welding
    for (int p = 0; room && p < part_count; ++p) {
        const pl_trisurf *s = &part[p].surface;
        memcpy(c->position + 3 * (int64_t)c->vertex_count, s->position,
               3 * (size_t)s->vertex_count * sizeof(double));
        c->vertex_count += s->vertex_count;
    }

    for (int64_t i = 0; room && i < 3 * vertices; ++i) {
        low[i % 3] = fmin(low[i % 3], c->position[i]);
        high[i % 3] = fmax(high[i % 3], c->position[i]);
    }

    room = room && pl_points_weld(c->vertex_count, c->position, 1e-7 * pl_distance3(low, high), same) >= 0;

    // triangles by their sorted corners: parts that touch share theirs, which are stored once
    int32_t first = 0;
    for (int p = 0; room && p < part_count; ++p) {
        const pl_trisurf *s = &part[p].surface;

        for (int32_t t = 0; room && t < s->triangle_count; ++t) {
            int32_t corner[3], key[3];
            for (int k = 0; k < 3; ++k) {
                corner[k] = key[k] = same[first + s->corner[3 * (int64_t)t + k]];
            }
            pl_sort_small(key, 3);
            const int32_t index = pl_table_add(&table, key);
            room = index >= 0;
            if (index == c->triangle_count) {
                memcpy(c->corner + 3 * (int64_t)index, corner, sizeof corner);
                ++c->triangle_count;
            }
        }

        first += s->vertex_count;
    }

    pl_table_clear(&table);
    pl_free(same);

    return room ? PL_OK : pl_fail_memory(err, "the triangles of the parts");
}

// ---- shells of sides: side 2 t is the one that the normal of triangle t points to
typedef struct around {
    double angle;        // rad, around the edge
    int32_t plus, minus; // the side that looks towards larger angles, and the other
} around;

// By angle; equal angles by number, so that the order does not depend on qsort.
static int cells_compare_angle(const void *a, const void *b)
{
    const around *p = a, *q = b;
    return p->angle != q->angle ? (p->angle > q->angle) - (p->angle < q->angle)
                                : (p->plus > q->plus) - (p->plus < q->plus);
}

// Joins the sides that face each other around edge i. With e from a to b and w towards the third corner, the
// normal of a triangle that runs a -> b is along e x w: it looks towards larger angles.
static void cells_glue_edge(const cells *c, const cell_edges *edges, int32_t i, around *list, int32_t *parent)
{
    const int32_t *key = edges->table.key + 2 * (int64_t)i;
    const double *a = c->position + 3 * (int64_t)key[0], *b = c->position + 3 * (int64_t)key[1];
    double e[3], u[3] = {0}, v[3] = {0};

    pl_sub3(b, a, e);
    const double length = pl_norm3(e);
    for (int k = 0; k < 3; ++k) {
        e[k] /= length;
    }

    // angle of each triangle around the edge
    const int32_t n = edges->start[i + 1] - edges->start[i];
    for (int32_t k = 0; k < n; ++k) {
        const int32_t use = edges->use[edges->start[i] + k], t = use / 3;
        const int32_t *corner = c->corner + 3 * (int64_t)t;
        double w[3];
        pl_sub3(c->position + 3 * (int64_t)corner[(use % 3 + 2) % 3], a, w);

        if (k == 0) {
            // the frame of angles: u along the first triangle, v = e x u
            const double along = pl_dot3(w, e);
            for (int d = 0; d < 3; ++d) {
                u[d] = w[d] - along * e[d];
            }
            pl_cross3(e, u, v);
        }

        const bool forward = corner[use % 3] == key[0];
        list[k].angle = k == 0 ? 0 : atan2(pl_dot3(w, v), pl_dot3(w, u));
        list[k].angle += list[k].angle < 0 ? 2 * PL_PI : 0;
        list[k].plus = 2 * t + (forward ? 0 : 1);
        list[k].minus = 2 * t + (forward ? 1 : 0);
    }

    // neighbours in the order of angles face each other
    qsort(list, (size_t)n, sizeof *list, cells_compare_angle);
    for (int32_t k = 0; k < n; ++k) {
        cells_join(parent, list[k].plus, list[(k + 1) % n].minus);
    }
}

// Numbers the shells of sides; *component has one entry per side. Returns their number or -1.
static int32_t cells_components(const cells *c, int32_t *component)
{
    const int32_t sides = 2 * c->triangle_count;
    cell_edges edges;
    int32_t *parent = PL_NEW_ARRAY(int32_t, sides), most = 0, count = -1;

    // sides that face each other around some edge are one shell
    if (cells_edges_init(&edges, c->corner, c->triangle_count) && parent) {
        for (int32_t i = 0; i < edges.table.count; ++i) {
            most = edges.start[i + 1] - edges.start[i] > most ? edges.start[i + 1] - edges.start[i] : most;
        }
        around *list = PL_NEW_ARRAY(around, most);
        for (int32_t s = 0; s < sides; ++s) {
            parent[s] = s;
        }
        for (int32_t i = 0; list && i < edges.table.count; ++i) {
            cells_glue_edge(c, &edges, i, list, parent);
        }
        count = list ? 0 : -1;
        for (int32_t s = 0; list && s < sides; ++s) {
            const int32_t root = cells_root(parent, s);
            component[s] = root == s ? count++ : component[root];
        }

        pl_free(list);
    }

    cells_edges_clear(&edges);
    pl_free(parent);

    return count;
}

// A point in the cell that side s looks into: midway to the next triangle. False when there is none
// (outside).
static bool cells_point(const cells *c, int32_t s, double point[3])
{
    const int32_t *corner = c->corner + 3 * (int64_t)(s / 2);
    const double *a = c->position + 3 * (int64_t)corner[0], *b = c->position + 3 * (int64_t)corner[1],
                 *d = c->position + 3 * (int64_t)corner[2];

    // off the centroid, so that the ray does not run into an edge of a symmetric part
    double u[3], v[3], n[3], o[3], best = INFINITY;

    pl_sub3(b, a, u);
    pl_sub3(d, a, v);
    pl_cross3(u, v, n);
    const double length = pl_norm3(n) * (s % 2 ? -1 : 1);
    for (int k = 0; k < 3; ++k) {
        n[k] /= length;
        o[k] = a[k] + 0.41 * u[k] + 0.27 * v[k];
    }

    // the first triangle that the ray meets
    for (int32_t t = 0; t < c->triangle_count; ++t) {
        const int32_t *other = c->corner + 3 * (int64_t)t;
        const double hit = t == s / 2 ? -1
                                      : pl_triangle_ray(o, n, c->position + 3 * (int64_t)other[0],
                                                        c->position + 3 * (int64_t)other[1],
                                                        c->position + 3 * (int64_t)other[2]);
        best = hit > 0 && hit < best ? hit : best;
    }

    for (int k = 0; k < 3; ++k) {
        point[k] = o[k] + n[k] * (isinf(best) ? 0 : best / 2);
    }

    return !isinf(best);
}

// Winding of the shell `component` around p: side 2 t + 1 sees triangle t from behind, so its normal leaves
// the cell.
static double cells_component_winding(const cells *c, const int32_t *component, int32_t which,
                                      const double p[3])
{
    double turns = 0;
    for (int32_t s = 0; s < 2 * c->triangle_count; ++s) {
        if (component[s] == which) {
            turns += (s % 2 ? 1 : -1) * cells_winding(c->position, c->corner + 3 * (int64_t)(s / 2), 1, p);
        }
    }

    return turns;
}

// The cells: shells of positive volume, then each other shell goes to the smallest cell around it, because
// that is the cell it is a hole of; without one it bounds the outside.
static pl_status cells_build(cells *c, const int32_t *component, int32_t count, pl_error *err)
{
    double *volume = PL_NEW_ARRAY(double, count);
    int32_t *first = PL_NEW_ARRAY(int32_t, count), *owner = PL_NEW_ARRAY(int32_t, count);

    c->cell = PL_NEW_ARRAY(cell, count);
    c->side_cell = PL_NEW_ARRAY(int32_t, 2 * (int64_t)c->triangle_count);
    const bool room = volume && first && owner && c->cell && c->side_cell;

    // volume of each shell and one of its sides
    for (int32_t s = 2 * c->triangle_count - 1; room && s >= 0; --s) {
        volume[component[s]] +=
            (s % 2 ? 1 : -1) * cells_triangle_volume(c->position, c->corner + 3 * (int64_t)(s / 2));
        first[component[s]] = s;
    }

    // outer shells make the cells
    for (int32_t k = 0; room && k < count; ++k) {
        owner[k] = -1;
        if (volume[k] > 0) {
            owner[k] = c->cell_count;
            cell *made = &c->cell[c->cell_count++];
            *made = (cell){.component = k, .volume = volume[k], .part = -1};
            cells_point(c, first[k], made->inside);
        }
    }

    // inner shells are holes of the smallest cell around them
    for (int32_t k = 0; room && k < count; ++k) {
        double point[3];
        if (volume[k] > 0 || !cells_point(c, first[k], point)) {
            continue;
        }
        for (int32_t i = 0; i < c->cell_count; ++i) {
            if ((owner[k] < 0 || c->cell[i].volume < c->cell[owner[k]].volume) &&
                cells_component_winding(c, component, c->cell[i].component, point) > 0.5) {
                owner[k] = i;
            }
        }
    }

    for (int32_t s = 0; room && s < 2 * c->triangle_count; ++s) {
        c->side_cell[s] = owner[component[s]];
    }
    pl_free(volume);
    pl_free(first);
    pl_free(owner);

    return room ? PL_OK : pl_fail_memory(err, "the cells between the parts");
}

// Whom a cell belongs to: a cavity part if one holds it, else the smallest part around it.
static void cells_name(const pl_meshing_part *part, int part_count, cells *c)
{
    for (int32_t i = 0; i < c->cell_count; ++i) {
        cell *it = &c->cell[i];
        double best = INFINITY;

        for (int p = 0; p < part_count; ++p) {
            const pl_trisurf *s = &part[p].surface;
            const double size = fabs(pl_trisurf_volume(s));
            // cavities first; among equals the smallest, so that a part inside another one keeps its name
            if ((part[p].cavity > it->hollow || (part[p].cavity == it->hollow && size < best)) &&
                cells_winding(s->position, s->corner, s->triangle_count, it->inside) > 0.5) {
                it->part = p;
                it->hollow = part[p].cavity;
                best = size;
            }
        }

        if (it->part >= 0) {
            snprintf(it->name, sizeof it->name, "%s", part[it->part].region);
        }
    }

    // voids inside a body, the largest first
    for (int number = 1;; ++number) {
        cell *largest = NULL;
        for (int32_t i = 0; i < c->cell_count; ++i) {
            cell *it = &c->cell[i];
            if (it->part < 0 && !it->hollow && (!largest || it->volume > largest->volume)) {
                largest = it;
            }
        }

        if (!largest) {
            break;
        }
        largest->hollow = true;
        snprintf(largest->name, sizeof largest->name, number > 1 ? "cavity%d" : "cavity", number);
    }
}

// Triangles once, shells of sides, cells, names. `out` is empty on failure.
pl_status cells_init(const pl_meshing_part *part, int part_count, cells *out, pl_error *err)
{
    *out = (cells){0};
    pl_status status = cells_gather(part, part_count, out, err);
    if (status == PL_OK) {
        out->side_shell = PL_NEW_ARRAY(int32_t, 2 * (int64_t)out->triangle_count);
        out->shell_count = out->side_shell ? cells_components(out, out->side_shell) : -1;
        status = out->shell_count >= 0 ? cells_build(out, out->side_shell, out->shell_count, err)
                                       : pl_fail_memory(err, "the cells of the parts");
    }

    if (status == PL_OK) {
        cells_name(part, part_count, out);
    } else {
        cells_clear(out);
    }

    return status;
}

void cells_clear(cells *c)
{
    void *block[] = {c->position, c->corner, c->side_shell, c->side_cell, c->cell};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    *c = (cells){0};
}
