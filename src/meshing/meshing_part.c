// The part as triangles: samples with wall thickness and curvature, feature edges, mid-edge nodes drawn onto
// it, and the comparison of a mesh with it: volume, area, and the distance of the two boundaries both ways.
#include <stdlib.h>
#include "meshing/meshing_part.h"

// points on the skin, spread by area
#define PART_SAMPLES 8000
#define PART_TRIANGLES 1200.0 // that round walls may cost before they are followed less closely,
#define PART_SHARE 1.5        // and in times of those for walls and size alone
#define PART_MID_REACH 0.3    // of an edge: how far its mid node may move

void part_clear(part_shape *p)
{
    pl_trisurf_tree_clear(&p->walls_tree);
    pl_trisurf_tree_clear(&p->skin_tree);
    pl_trisurf_clear(&p->walls);
    pl_trisurf_clear(&p->skin);
    pl_bvh_clear(&p->features);
    pl_free(p->patch);
    pl_free(p->feature);
    pl_free(p->feature_side);
    pl_free(p->sample);
    *p = (part_shape){0};
}

// Corner k of triangle t.
static const double *part_corner(const pl_trisurf *s, int32_t t, int k)
{
    return s->position + 3 * (int64_t)s->corner[3 * (int64_t)t + k % 3];
}

// Unit normal; returns the area.
static double part_normal(const pl_trisurf *s, int32_t t, double n[3])
{
    double u[3], v[3];
    pl_sub3(part_corner(s, t, 1), part_corner(s, t, 0), u);
    pl_sub3(part_corner(s, t, 2), part_corner(s, t, 0), v);
    pl_cross3(u, v, n);
    const double twice = pl_norm3(n);
    for (int i = 0; i < 3; ++i) {
        n[i] /= twice > 0 ? twice : 1;
    }

    return 0.5 * twice;
}

// ---- triangles
// Whether there is material on a side.
static bool part_filled(const cells *c, int32_t side)
{
    return c->side_cell[side] >= 0 && !c->cell[c->side_cell[side]].hollow;
}

// The walls or the skin of the parts. False without memory.
static bool part_take(const cells *c, bool skin, pl_trisurf *out)
{
    out->position = PL_NEW_ARRAY(double, 3 * (int64_t)c->vertex_count);
    out->corner = PL_NEW_ARRAY(int32_t, 3 * (int64_t)c->triangle_count);
    if (!out->position || !out->corner) {
        return false;
    }
    out->vertex_count = c->vertex_count;
    memcpy(out->position, c->position, 3 * (size_t)c->vertex_count * sizeof *out->position);

    for (int32_t t = 0; t < c->triangle_count; ++t) {
        const bool front = part_filled(c, 2 * t), back = part_filled(c, 2 * t + 1);
        if (skin ? front == back : !front && !back) {
            continue;
        }

        // material in front: the triangle looks into it
        const bool turn = skin && front;
        int32_t *to = out->corner + 3 * (int64_t)out->triangle_count++;
        for (int k = 0; k < 3; ++k) {
            to[k] = c->corner[3 * (int64_t)t + (turn ? 2 - k : k)];
        }
    }

    return out->triangle_count > 0;
}

// ---- edges: features, and curvature across the others
typedef struct part_edges {
    pl_table table;
    int32_t *first, *second; // triangles on the edge, 3 t + k; -1
    int32_t *count;          // triangles
} part_edges;

static void part_edges_clear(part_edges *e)
{
    pl_table_clear(&e->table);
    pl_free(e->first);
    pl_free(e->second);
    pl_free(e->count);
}

// Every edge with its first two triangles.
static bool part_edges_init(part_edges *e, const pl_trisurf *s)
{
    const int64_t most = 3 * (int64_t)s->triangle_count;
    e->first = PL_NEW_ARRAY(int32_t, most);
    e->second = PL_NEW_ARRAY(int32_t, most);
    e->count = PL_NEW_ARRAY(int32_t, most);
    if (!e->first || !e->second || !e->count || !pl_table_init(&e->table, 2, most)) {
        return false;
    }

    for (int32_t u = 0; u < most; ++u) {
        int32_t key[2] = {s->corner[u], s->corner[u / 3 * 3 + (u + 1) % 3]};
        pl_sort_small(key, 2);
        const int32_t at = pl_table_add(&e->table, key);
        *(e->count[at]++ == 0 ? &e->first[at] : &e->second[at]) = u;
    }

    return true;
}

// Angle between the normals across an edge; more than two triangles meet sharply.
static double part_edge_angle(const pl_trisurf *s, const part_edges *e, int32_t at)
{
    double n[3], m[3];
    if (e->count[at] != 2) {
        return PL_PI;
    }
    part_normal(s, e->first[at] / 3, n);
    part_normal(s, e->second[at] / 3, m);
    return acos(fmax(-1, fmin(1, pl_dot3(n, m))));
}

// Height of a triangle over its edge `use`, mm.
static double part_altitude(const pl_trisurf *s, int32_t use)
{
    double n[3];
    const int32_t t = use / 3, k = use % 3;
    return 2 * part_normal(s, t, n) /
           fmax(pl_distance3(part_corner(s, t, k), part_corner(s, t, k + 1)), 1e-300);
}

// The root of t's patch, with path halving.
static int32_t part_root(int32_t *parent, int32_t t)
{
    for (; parent[t] != t; t = parent[t]) {
        parent[t] = parent[parent[t]];
    }
    return t;
}

// Patches: triangles joined across edges that are no features, named by their first triangle.
static bool part_patches(part_shape *p, const part_edges *e)
{
    p->patch = PL_NEW_ARRAY(int32_t, p->walls.triangle_count);
    for (int32_t t = 0; p->patch && t < p->walls.triangle_count; ++t) {
        p->patch[t] = t;
    }

    for (int32_t at = 0; p->patch && at < e->table.count; ++at) {
        if (part_edge_angle(&p->walls, e, at) <= PART_ANGLE) {
            const int32_t a = part_root(p->patch, e->first[at] / 3),
                          b = part_root(p->patch, e->second[at] / 3);
            p->patch[a > b ? a : b] = a > b ? b : a;
        }
    }

    for (int32_t t = 0; p->patch && t < p->walls.triangle_count; ++t) {
        p->patch[t] = part_root(p->patch, t);
    }

    return p->patch != NULL;
}

// Edges sharper than PART_ANGLE as segments in a tree.
static bool part_features(part_shape *p, const part_edges *e)
{
    const pl_trisurf *s = &p->walls;
    p->feature_side = PL_NEW_ARRAY(int32_t, 2 * (int64_t)e->table.count);
    p->feature = PL_NEW_ARRAY(double, 6 * (int64_t)e->table.count);
    double *box = PL_NEW_ARRAY(double, 6 * (int64_t)e->table.count);

    for (int32_t at = 0; p->feature && p->feature_side && box && at < e->table.count; ++at) {
        if (part_edge_angle(s, e, at) > PART_ANGLE) {
            double *to = p->feature + 6 * (int64_t)p->feature_count;

            for (int i = 0; i < 3; ++i) {
                const double a = s->position[3 * (int64_t)e->table.key[2 * (int64_t)at] + i],
                             b = s->position[3 * (int64_t)e->table.key[2 * (int64_t)at + 1] + i];
                to[i] = a;
                to[3 + i] = b;
                box[6 * (int64_t)p->feature_count + i] = fmin(a, b);
                box[6 * (int64_t)p->feature_count + 3 + i] = fmax(a, b);
            }

            int32_t *side = p->feature_side + 2 * (int64_t)p->feature_count++;
            side[0] = e->count[at] == 2 ? p->patch[e->first[at] / 3] : -1;
            side[1] = e->count[at] == 2 ? p->patch[e->second[at] / 3] : -1;
            pl_sort_small(side, 2);
        }
    }

    const bool room = p->feature && p->feature_side && box &&
                      (p->feature_count == 0 || pl_bvh_init(&p->features, p->feature_count, box));
    pl_free(box);

    return room;
}

// Radius of curvature of each triangle of the walls: the least across its smooth edges. Across an edge whose
// triangles have the altitudes h1 and h2 and meet at the angle theta, R is between (h1 + h2) / (3 theta), for
// even triangles, and (h1 + h2) / (2 theta), for the strips of a cylinder.
static void part_radii(const pl_trisurf *s, const part_edges *e, double *radius)
{
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        radius[t] = INFINITY;
    }
    for (int32_t at = 0; at < e->table.count; ++at) {
        const double angle = part_edge_angle(s, e, at);
        // angles below 1e-3 rad are flat to the digits of a file
        if (angle > 1e-3 && angle <= PART_ANGLE) {
            const double h = part_altitude(s, e->first[at]) + part_altitude(s, e->second[at]);
            for (int k = 0; k < 2; ++k) {
                double *r = &radius[(k ? e->second : e->first)[at] / 3];
                *r = fmin(*r, h / (2.4 * angle));
            }
        }
    }
}

// ---- samples
// Points in a triangle by the R2 sequence, mirrored into it: even without a pattern that meets the mesh's.
static void part_point(const pl_trisurf *s, int32_t t, int32_t k, double x[3])
{
    double u = 0.5 + 0.7548776662466927 * (k + 1), v = 0.5 + 0.5698402909980532 * (k + 1);
    u -= floor(u);
    v -= floor(v);
    if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
    }

    for (int i = 0; i < 3; ++i) {
        x[i] =
            part_corner(s, t, 0)[i] * (1 - u - v) + part_corner(s, t, 1)[i] * u + part_corner(s, t, 2)[i] * v;
    }
}

// From x inwards to a face that looks in the opposite direction (within 60 degrees).
static double part_wall(const part_shape *p, const double x[3], const double n[3])
{
    const double inward[3] = {-n[0], -n[1], -n[2]};
    double t, m[3];
    const int32_t hit = pl_trisurf_tree_cast(&p->skin_tree, x, inward, 1e-6 * p->length, &t);

    if (hit < 0) {
        return INFINITY;
    }
    part_normal(&p->skin, hit, m);

    return pl_dot3(n, m) < -0.5 ? t : INFINITY;
}

// Every triangle has at least one sample, so that small ones count, too.
static bool part_samples(part_shape *p)
{
    const pl_trisurf *s = &p->skin;
    part_edges e = {0};
    double *radius = PL_NEW_ARRAY(double, s->triangle_count), total = 0;
    bool room = radius && part_edges_init(&e, s);

    // radii of the triangles, then samples in proportion to their areas
    if (room) {
        part_radii(s, &e, radius);
    }

    double n[3];
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        total += part_normal(s, t, n);
    }
    p->sample = PL_NEW_ARRAY(part_sample, (int64_t)PART_SAMPLES + s->triangle_count);
    room = room && p->sample;

    for (int32_t t = 0; room && t < s->triangle_count; ++t) {
        const double area = part_normal(s, t, n);
        const int32_t count = 1 + (int32_t)(PART_SAMPLES * area / total);

        for (int32_t k = 0; k < count && p->sample_count < PART_SAMPLES + s->triangle_count; ++k) {
            part_sample *at = &p->sample[p->sample_count++];
            part_point(s, t, k, at->x);
            at->area = area / count;
            at->radius = radius[t];
            at->wall = area > 0 ? part_wall(p, at->x, n) : INFINITY;
        }
    }

    part_edges_clear(&e);
    pl_free(radius);

    return room;
}

// `p` is empty on failure.
pl_status part_init(part_shape *p, const cells *c, pl_error *err)
{
    *p = (part_shape){0};
    part_edges e = {0};

    // walls, skin, patches and features
    bool room = part_take(c, false, &p->walls) && part_take(c, true, &p->skin) &&
                part_edges_init(&e, &p->walls) && part_patches(p, &e) && part_features(p, &e);
    part_edges_clear(&e);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t k = 0; room && k < 3 * (int64_t)p->walls.vertex_count; ++k) {
        low[k % 3] = fmin(low[k % 3], p->walls.position[k]);
        high[k % 3] = fmax(high[k % 3], p->walls.position[k]);
    }

    p->length = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));

    // trees, then samples, which need them
    room = room && pl_trisurf_tree_init(&p->walls_tree, &p->walls, err) == PL_OK &&
           pl_trisurf_tree_init(&p->skin_tree, &p->skin, err) == PL_OK && part_samples(p);
    if (!room) {
        part_clear(p);
        return pl_fail_memory(err, "the surface of the parts");
    }

    return PL_OK;
}

// By wall thickness, rising.
static int part_compare(const void *a, const void *b)
{
    const double x = ((const part_sample *)a)->wall, y = ((const part_sample *)b)->wall;
    return (x > y) - (x < y);
}

double part_thinnest(const part_shape *p)
{
    part_sample *sorted = PL_NEW_ARRAY(part_sample, p->sample_count);
    double total = 0, below = 0, wall = INFINITY;

    if (!sorted) {
        return INFINITY;
    }
    memcpy(sorted, p->sample, (size_t)p->sample_count * sizeof *sorted);
    qsort(sorted, (size_t)p->sample_count, sizeof *sorted, part_compare);
    for (int32_t i = 0; i < p->sample_count; ++i) {
        total += sorted[i].area;
    }
    for (int32_t i = 0; i < p->sample_count && below <= 0.02 * total; ++i) {
        below += sorted[i].area;
        wall = sorted[i].wall;
    }

    pl_free(sorted);

    return wall;
}

// ---- nearest feature
// Nearest point of the features to x so far.
typedef struct feature_search {
    const part_shape *p;
    const int32_t *side;
    const double *x;
    double best[3];
} feature_search;

// Visitor of the tree; distances are squared.
static double feature_visit(void *user, int32_t item, double best)
{
    feature_search *s = user;
    const double *a = s->p->feature + 6 * (int64_t)item, *b = a + 3;
    const int32_t *side = s->p->feature_side + 2 * (int64_t)item;

    if (s->side && (side[0] != s->side[0] || side[1] != s->side[1])) {
        return best;
    }

    double d[3], r[3], at[3];
    pl_sub3(b, a, d);
    pl_sub3(s->x, a, r);
    const double t = fmax(0, fmin(1, pl_dot3(r, d) / fmax(pl_dot3(d, d), 1e-300)));
    for (int i = 0; i < 3; ++i) {
        at[i] = a[i] + t * d[i];
    }

    const double away = pl_distance3(at, s->x);
    if (away * away < best) {
        memcpy(s->best, at, sizeof at);
        return away * away;
    }

    return best;
}

double part_nearest_feature(const part_shape *p, const int32_t *side, const double x[3], double nearest[3])
{
    if (p->feature_count == 0) {
        return INFINITY;
    }

    feature_search s = {.p = p, .side = side, .x = x, .best = {INFINITY}};
    pl_bvh_nearest(&p->features, x, INFINITY, feature_visit, &s);
    memcpy(nearest, s.best, sizeof s.best);
    return pl_distance3(nearest, x);
}

// ---- sizes
// How round walls are followed: edges around a full turn, and the least edge, as a share of the size.
typedef struct part_turns {
    int round; // 0: not at all
    double least;
} part_turns;

// mm: the least of the size, the wall and the part of a turn; a fifth of the size and `least` bound what thin
// walls and small fillets may ask for.
static double part_sample_size(const part_sample *s, double size, double factor, part_turns turns)
{
    const double wall = fmax(factor * s->wall, size / 5),
                 turn = turns.round > 0 ? 2 * PL_PI * s->radius / turns.round : size;
    return fmin(size, fmin(wall, fmax(turn, turns.least * size)));
}

// The field of all samples.
static pl_status part_field(const part_shape *p, double size, double factor, part_turns turns, size_field *f,
                            pl_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t k = 0; k < 3 * (int64_t)p->skin.vertex_count; ++k) {
        low[k % 3] = fmin(low[k % 3], p->skin.position[k]);
        high[k % 3] = fmax(high[k % 3], p->skin.position[k]);
    }

    // the grid must resolve the smallest size
    double finest = size;
    for (int32_t i = 0; i < p->sample_count; ++i) {
        finest = fmin(finest, part_sample_size(&p->sample[i], size, factor, turns));
    }

    const pl_status status = size_field_begin(f, low, high, size, finest, err);
    for (int32_t i = 0; status == PL_OK && i < p->sample_count; ++i) {
        const double s = part_sample_size(&p->sample[i], size, factor, turns);
        if (s < size) {
            size_field_lower(f, p->sample[i].x, s);
        }
    }

    if (status == PL_OK) {
        size_field_end(f);
    }

    return status;
}

// Triangles a field asks for: equilateral ones of edge s have the area sqrt(3)/4 s^2.
static double part_triangles(const part_shape *p, const size_field *f)
{
    double count = 0;
    for (int32_t i = 0; i < p->sample_count; ++i) {
        const double s = size_field_at(f, p->sample[i].x);
        count += p->sample[i].area / (0.433 * s * s);
    }

    return count;
}

// Round walls are followed as closely as their triangles are few beside those of the walls: thin holes and
// small fillets would otherwise cost more than the rest of the part.
pl_status part_size_field(const part_shape *p, double size, double factor, size_field *f, pl_error *err)
{
    // from closely followed to hardly
    static const part_turns turns[] = {{0, 1},        {14, 1 / 20.0}, {12, 1 / 20.0}, {10, 1 / 20.0},
                                       {8, 1 / 20.0}, {6, 1 / 20.0},  {6, 1 / 12.0},  {6, 1 / 8.0},
                                       {6, 1 / 6.0},  {5, 1 / 5.0},   {4, 1 / 4.5},   {3, 1 / 3.3}};
    double plain = 0;
    pl_status status = PL_OK;

    // the first entry counts without round walls, the others until they are few
    // enough; the last is used in any case
    for (int k = 0; k < PL_COUNT(turns) && status == PL_OK; ++k) {
        status = part_field(p, size, factor, turns[k], f, err);
        const double count = status == PL_OK ? part_triangles(p, f) : 0;
        plain = k == 0 ? count : plain;

        if (k > 0 && count <= PART_TRIANGLES + PART_SHARE * plain) {
            pl_log(1, "parts: %d edges around a full turn, about %.0f triangles (%.0f without)",
                   turns[k].round, count, plain);
            break;
        }

        // the next entry makes its own field
        if (k + 1 < PL_COUNT(turns)) {
            size_field_clear(f);
        }
    }

    return status;
}

// ---- mid-edge nodes
// Boundary edges of a quadratic mesh.
typedef struct follow {
    pl_mesh_view v;
    double *position; // mm, of all vertices
    pl_table edge;
    double *normal; // of the first face on each edge
    uint8_t *sharp; // the two faces on it meet in a feature
    int32_t *mid;   // mid node of each edge
} follow;

// Edges of the boundary, their mid nodes, and which of them lie on a feature.
static bool follow_init(follow *w, const pl_mesh *mesh)
{
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);

    w->v = pl_mesh_get(mesh);
    w->position = PL_NEW_ARRAY(double, 3 * (int64_t)w->v.vertex_count);
    w->normal = PL_NEW_ARRAY(double, 9 * count);
    w->sharp = PL_NEW_ARRAY(uint8_t, 3 * count);
    w->mid = PL_NEW_ARRAY(int32_t, 3 * count);
    if (!w->position || !w->normal || !w->sharp || !w->mid || !pl_table_init(&w->edge, 2, 3 * count)) {
        return false;
    }
    memcpy(w->position, w->v.position, 3 * (size_t)w->v.vertex_count * sizeof *w->position);

    for (int64_t f = 0; f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        double u[3], v[3], n[3];
        if (pl_mesh_face_nodes(mesh, face[f], node) != 6) {
            continue;
        }
        pl_sub3(w->position + 3 * (int64_t)node[1], w->position + 3 * (int64_t)node[0], u);
        pl_sub3(w->position + 3 * (int64_t)node[2], w->position + 3 * (int64_t)node[0], v);
        pl_cross3(u, v, n);
        const double length = fmax(pl_norm3(n), 1e-300);

        for (int k = 0; k < 3; ++k) {
            int32_t key[2] = {node[k], node[(k + 1) % 3]};
            pl_sort_small(key, 2);
            const int32_t before = w->edge.count, at = pl_table_add(&w->edge, key);

            if (at == before) {
                for (int i = 0; i < 3; ++i) {
                    w->normal[3 * (int64_t)at + i] = n[i] / length;
                }
                w->mid[at] = node[3 + k];
            } else {
                w->sharp[at] = pl_dot3(w->normal + 3 * (int64_t)at, n) < cos(PART_ANGLE) * length;
            }
        }
    }

    return true;
}

static void follow_clear(follow *w)
{
    pl_free(w->position);
    pl_free(w->normal);
    pl_free(w->sharp);
    pl_free(w->mid);
    pl_table_clear(&w->edge);
}

// Mid nodes go to the nearest point of skin or feature; far away it would be another wall.
static void follow_move(follow *w, const part_shape *p)
{
    for (int32_t at = 0; at < w->edge.count; ++at) {
        const double *a = w->v.position + 3 * (int64_t)w->edge.key[2 * (int64_t)at],
                     *b = w->v.position + 3 * (int64_t)w->edge.key[2 * (int64_t)at + 1];
        double middle[3], to[3];
        for (int i = 0; i < 3; ++i) {
            middle[i] = 0.5 * (a[i] + b[i]);
        }
        const double away = w->sharp[at] ? part_nearest_feature(p, NULL, middle, to)
                                         : pl_trisurf_tree_nearest(&p->skin_tree, middle, to);
        if (away < PART_MID_REACH * pl_distance3(a, b)) {
            memcpy(w->position + 3 * (int64_t)w->mid[at], to, sizeof to);
        }
    }
}

pl_status part_follow(const part_shape *p, pl_mesh **mesh, pl_error *err)
{
    follow w = {0};
    pl_status status = follow_init(&w, *mesh) ? PL_OK : pl_fail_memory(err, "mid-edge nodes");

    if (status == PL_OK) {
        follow_move(&w, p);
        meshing_relax(w.v.element_count, w.v.kind, w.v.node_start, w.v.node, w.position);
        pl_mesh *moved = NULL;
        // elements that would still be inverted leave the straight mesh as it is
        if (pl_mesh_moved(*mesh, w.position, &moved, NULL) == PL_OK) {
            pl_mesh_destroy(*mesh);
            *mesh = moved;
        }
    }

    follow_clear(&w);
    return status;
}

// ---- comparison
// The mesh's boundary as flat triangles, every one with vertices of its own.
static bool part_boundary(const pl_mesh *mesh, pl_trisurf *out)
{
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);

    out->position = PL_NEW_ARRAY(double, 9 * PL_FACE_TRIANGLES_MAX * count);
    out->corner = PL_NEW_ARRAY(int32_t, 3 * PL_FACE_TRIANGLES_MAX * count);
    for (int64_t f = 0; out->position && out->corner && f < count; ++f) {
        double x[3 * PL_FACE_NODES_MAX];
        const int8_t(*split)[3];
        const int pieces = pl_face_triangles(pl_mesh_gather_face(mesh, face[f], x), &split);

        for (int k = 0; k < 3 * pieces; ++k) {
            const int32_t v = out->vertex_count++;
            memcpy(out->position + 3 * (int64_t)v, x + 3 * split[k / 3][k % 3], 3 * sizeof *x);
            out->corner[v] = v;
        }

        out->triangle_count += pieces;
    }

    return out->position && out->corner;
}

// The largest distance from samples of the mesh's boundary triangles to the part.
static double part_from_mesh(const part_shape *p, const pl_trisurf *boundary, int64_t *samples,
                             double place[3])
{
    double most = 0;
    for (int32_t t = 0; t < boundary->triangle_count; ++t) {
        double x[3], nearest[3];

        for (int i = 0; i < 3; ++i) {
            x[i] = (part_corner(boundary, t, 0)[i] + part_corner(boundary, t, 1)[i] +
                    part_corner(boundary, t, 2)[i]) /
                   3;
        }

        const double *const at[2] = {x, part_corner(boundary, t, 0)};
        for (int k = 0; k < 2; ++k) {
            const double away = pl_trisurf_tree_nearest(&p->skin_tree, at[k], nearest);
            if (away > most) {
                most = away;
                memcpy(place, at[k], sizeof x);
            }
        }

        *samples += 2;
    }

    return most;
}

pl_status part_measure(const part_shape *p, pl_mesh *mesh, pl_error *err)
{
    pl_trisurf boundary = {0};
    pl_trisurf_tree tree = {0};

    // both boundaries in trees
    pl_status status = part_boundary(mesh, &boundary) ? PL_OK : pl_fail_memory(err, "the mesh's boundary");

    if (status == PL_OK) {
        status = pl_trisurf_tree_init(&tree, &boundary, err);
    }

    // the largest distance both ways: from the mesh to the part, and from the part to the mesh
    if (status == PL_OK) {
        const int64_t *face = NULL;
        const int64_t count = pl_mesh_boundary(mesh, &face);
        pl_mesh_fit fit = {.part_volume = pl_trisurf_volume(&p->skin),
                           .mesh_volume = pl_mesh_region_volume(mesh, -1),
                           .mesh_area = pl_mesh_faces_area(mesh, face, count),
                           .samples = p->sample_count};
        double place[3] = {0};
        fit.distance = part_from_mesh(p, &boundary, &fit.samples, place);

        for (int32_t i = 0; i < p->sample_count; ++i) {
            double nearest[3];
            fit.part_area += p->sample[i].area;
            const double away = pl_trisurf_tree_nearest(&tree, p->sample[i].x, nearest);
            if (away > fit.distance) {
                fit.distance = away;
                memcpy(place, p->sample[i].x, sizeof place);
            }
        }

        pl_log(1, "parts: mesh and part are %.3g mm apart at (%.4g, %.4g, %.4g)", fit.distance, place[0],
               place[1], place[2]);
        const double wall = part_thinnest(p);
        fit.wall = isfinite(wall) ? wall : 0;
        pl_mesh_set_fit(mesh, &fit);
    }

    pl_trisurf_tree_clear(&tree);
    pl_trisurf_clear(&boundary);

    return status;
}
