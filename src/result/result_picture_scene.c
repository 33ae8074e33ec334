// The boundary of a mesh, ready to be drawn: faces with smooth normals, creases, rims and borders between
// regions. Curved faces are drawn by their own shape functions, cut fine.
#include <stdlib.h>
#include "base/vec.h"
#include "result/result_picture.h"

#define SCENE_SMOOTH 0.80 // cosine of the angle below which neighbouring faces share a normal

// Shape functions N and their derivatives by r and s on a face of 3, 6, 4 or 8 nodes. Triangles live on r, s
// >= 0, r + s <= 1; quadrilaterals on [-1, 1]^2.
static void face_shape(int count, double r, double s, double *N, double *Nr, double *Ns)
{
    const double t = 1 - r - s;
    if (count == 3) {
        const double n[3] = {t, r, s}, nr[3] = {-1, 1, 0}, ns[3] = {-1, 0, 1};
        memcpy(N, n, sizeof n);
        memcpy(Nr, nr, sizeof nr);
        memcpy(Ns, ns, sizeof ns);
    } else if (count == 6) {
        const double n[6] = {t * (2 * t - 1), r * (2 * r - 1), s * (2 * s - 1),
                             4 * r * t,       4 * r * s,       4 * s * t};
        const double nr[6] = {1 - 4 * t, 4 * r - 1, 0, 4 * (t - r), 4 * s, -4 * s};
        const double ns[6] = {1 - 4 * t, 0, 4 * s - 1, -4 * r, 4 * r, 4 * (t - s)};
        memcpy(N, n, sizeof n);
        memcpy(Nr, nr, sizeof nr);
        memcpy(Ns, ns, sizeof ns);
    } else {
        static const double ri[8] = {-1, 1, 1, -1, 0, 1, 0, -1}, si[8] = {-1, -1, 1, 1, -1, 0, 1, 0};

        for (int a = 0; a < count; ++a) {
            const double p = 1 + r * ri[a], q = 1 + s * si[a], e = r * ri[a] + s * si[a] - 1;
            if (count == 4) {
                N[a] = 0.25 * p * q;
                Nr[a] = 0.25 * ri[a] * q;
                Ns[a] = 0.25 * p * si[a];
            } else if (a < 4) {
                N[a] = 0.25 * p * q * e;
                Nr[a] = 0.25 * ri[a] * q * (e + p);
                Ns[a] = 0.25 * p * si[a] * (e + q);
            } else if (ri[a] == 0) {
                N[a] = 0.5 * (1 - r * r) * q;
                Nr[a] = -r * q;
                Ns[a] = 0.5 * (1 - r * r) * si[a];
            } else {
                N[a] = 0.5 * p * (1 - s * s);
                Nr[a] = 0.5 * ri[a] * (1 - s * s);
                Ns[a] = -s * p;
            }
        }
    }
}

static void face_node_place(int count, int a, double *r, double *s)
{
    static const double tri[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0.5, 0}, {0.5, 0.5}, {0, 0.5}};
    static const double quad[8][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {0, -1}, {1, 0}, {0, 1}, {-1, 0}};
    const bool triangle = count == 3 || count == 6;
    *r = triangle ? tri[a][0] : quad[a][0];
    *s = triangle ? tri[a][1] : quad[a][1];
}

// ---- normals

// The normal at each node of a face by itself: cross product of the tangents, not normalised.
static void scene_own_normals(pl_scene_face *face, const double *x)
{
    for (int a = 0; a < face->count; ++a) {
        double r, s, N[8], Nr[8], Ns[8], u[3] = {0}, v[3] = {0};
        face_node_place(face->count, a, &r, &s);
        face_shape(face->count, r, s, N, Nr, Ns);

        for (int b = 0; b < face->count; ++b) {
            for (int i = 0; i < 3; ++i) {
                u[i] += Nr[b] * x[3 * (int64_t)face->node[b] + i];
                v[i] += Ns[b] * x[3 * (int64_t)face->node[b] + i];
            }
        }

        pl_cross3(u, v, face->normal[a]);
    }
}

// Averages normals at a shared vertex over the faces of about the same orientation. `slot` lists 8 f + a of
// the face nodes at each vertex.
static void scene_smooth(pl_scene *scene, const int64_t *start, const int64_t *slot, int32_t vertex_count,
                         double (*smooth)[PL_FACE_NODES_MAX][3])
{
    for (int32_t v = 0; v < vertex_count; ++v) {
        for (int64_t i = start[v]; i < start[v + 1]; ++i) {
            const double *n = scene->face[slot[i] / 8].normal[slot[i] % 8];
            double *to = smooth[slot[i] / 8][slot[i] % 8];

            for (int64_t j = start[v]; j < start[v + 1]; ++j) {
                const double *m = scene->face[slot[j] / 8].normal[slot[j] % 8];
                if (pl_dot3(n, m) > SCENE_SMOOTH * pl_norm3(n) * pl_norm3(m)) {
                    to[0] += m[0];
                    to[1] += m[1];
                    to[2] += m[2];
                }
            }
        }
    }
}

static pl_status scene_normals(pl_scene *scene, int32_t vertex_count, pl_error *err)
{
    int64_t *start = PL_NEW_ARRAY(int64_t, vertex_count + 2);
    int64_t *slot = PL_NEW_ARRAY(int64_t, 8 * scene->face_count);

    double(*smooth)[PL_FACE_NODES_MAX][3] = pl_alloc_array((size_t)scene->face_count, sizeof *smooth);
    const bool good = start && slot && smooth;
    if (good) {
        for (int64_t f = 0; f < scene->face_count; ++f) {
            scene_own_normals(scene->face + f, scene->x);
            for (int a = 0; a < scene->face[f].count; ++a) {
                start[scene->face[f].node[a] + 2]++;
            }
        }

        for (int32_t v = 0; v < vertex_count; ++v) {
            start[v + 2] += start[v + 1];
        }
        for (int64_t f = 0; f < scene->face_count; ++f) {
            for (int a = 0; a < scene->face[f].count; ++a) {
                slot[start[scene->face[f].node[a] + 1]++] = 8 * f + a;
            }
        }

        scene_smooth(scene, start, slot, vertex_count, smooth);
    }

    for (int64_t f = 0; good && f < scene->face_count; ++f) {
        for (int a = 0; a < scene->face[f].count; ++a) {
            const double length = pl_norm3(smooth[f][a]);
            for (int i = 0; i < 3; ++i) {
                scene->face[f].normal[a][i] = length > 0 ? smooth[f][a][i] / length : 0;
            }
        }
    }

    pl_free(start);
    pl_free(slot);
    pl_free(smooth);

    return good ? PL_OK : pl_fail_memory(err, "picture");
}

// ---- edges

typedef struct scene_side {
    int32_t low, high, mid;
    int64_t face;
    int corner; // of the face, where the edge begins
} scene_side;

static int scene_compare(const void *a, const void *b)
{
    const scene_side *s = a, *t = b;
    if (s->low != t->low) {
        return s->low < t->low ? -1 : 1;
    }
    if (s->high != t->high) {
        return s->high < t->high ? -1 : 1;
    }

    return (s->face > t->face) - (s->face < t->face);
}

// Sharp when it is no edge between exactly two faces of one region that lean alike at both ends.
static bool scene_is_sharp(const pl_scene *scene, const scene_side *side, int64_t count)
{
    if (count != 2) {
        return true;
    }

    const pl_scene_face *f = scene->face + side[0].face, *g = scene->face + side[1].face;
    if (f->region != g->region) {
        return true;
    }

    for (int a = 0; a < f->count; ++a) {
        for (int b = 0; b < g->count; ++b) {
            const bool end = f->node[a] == side->low || f->node[a] == side->high;
            if (end && f->node[a] == g->node[b] && pl_dot3(f->normal[a], g->normal[b]) < SCENE_SMOOTH) {
                return true;
            }
        }
    }

    return false;
}

static int64_t scene_list_sides(const pl_scene *scene, scene_side *side)
{
    int64_t n = 0;
    for (int64_t f = 0; f < scene->face_count; ++f) {
        const pl_scene_face *face = scene->face + f;
        const int corners = face->count == 3 || face->count == 6 ? 3 : 4;

        for (int a = 0; a < corners; ++a) {
            const int32_t p = face->node[a], q = face->node[(a + 1) % corners];
            side[n++] = (scene_side){p < q ? p : q, p < q ? q : p,
                                     face->count > corners ? face->node[corners + a] : -1, f, a};
        }
    }

    return n;
}

static pl_status scene_edges(pl_scene *scene, pl_error *err)
{
    scene_side *side = PL_NEW_ARRAY(scene_side, 4 * scene->face_count);
    scene->edge = PL_NEW_ARRAY(pl_scene_edge, 4 * scene->face_count);
    if (!side || !scene->edge) {
        pl_free(side);
        return pl_fail_memory(err, "picture");
    }

    const int64_t n = scene_list_sides(scene, side);
    qsort(side, (size_t)n, sizeof *side, scene_compare);
    for (int64_t i = 0; i < n;) {
        int64_t next = i + 1;
        while (next < n && side[next].low == side[i].low && side[next].high == side[i].high) {
            ++next;
        }
        scene->edge[scene->edge_count++] = (pl_scene_edge){
            {side[i].low, side[i].high}, side[i].mid, scene_is_sharp(scene, side + i, next - i)};
        i = next;
    }

    pl_free(side);

    return PL_OK;
}

pl_status pl_scene_create(pl_scene *scene, const pl_mesh *mesh, const double *position, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t *boundary;

    *scene = (pl_scene){.mesh = mesh, .x = position ? position : v.position};
    scene->face_count = pl_mesh_boundary(mesh, &boundary);
    scene->face = PL_NEW_ARRAY(pl_scene_face, scene->face_count);
    if (!scene->face) {
        return pl_fail_memory(err, "picture");
    }
    for (int64_t f = 0; f < scene->face_count; ++f) {
        scene->face[f].count = pl_mesh_face_nodes(mesh, boundary[f], scene->face[f].node);
        scene->face[f].region = v.region[boundary[f] / 8];
    }

    const pl_status status = scene_normals(scene, v.vertex_count, err);

    return status == PL_OK ? scene_edges(scene, err) : status;
}

void pl_scene_clear(pl_scene *scene)
{
    pl_free(scene->face);
    pl_free(scene->edge);
    *scene = (pl_scene){0};
}

// ---- drawing

static pl_spot scene_spot(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                          const pl_scene_face *face, double r, double s)
{
    double N[8], Nr[8], Ns[8], x[3] = {0}, n[3] = {0}, value = 0;
    face_shape(face->count, r, s, N, Nr, Ns);
    for (int a = 0; a < face->count; ++a) {
        for (int i = 0; i < 3; ++i) {
            x[i] += N[a] * scene->x[3 * (int64_t)face->node[a] + i];
            n[i] += N[a] * face->normal[a][i];
        }

        value += style->value ? N[a] * style->value[face->node[a]] : 0;
    }

    pl_spot spot = pl_camera_spot(camera, x);
    pl_mulv3(camera->axis, n, spot.normal);
    spot.value = (value - style->low) / (style->high - style->low);

    return spot;
}

#define SCENE_FINE 4

// The line where a drawn triangle meets the cutting plane.
static void scene_cut_line(const pl_spot *spot[3], const pl_scene_style *style, double lift,
                           pl_raster *raster)
{
    static const double ink[3] = {0.13, 0.15, 0.19};
    pl_spot cut[3];
    int n = 0;

    for (int a = 0; a < 3; ++a) {
        const pl_spot *p = spot[a], *q = spot[(a + 1) % 3];
        if ((p->beyond > 0) == (q->beyond > 0)) {
            continue;
        }
        const double t = p->beyond / (p->beyond - q->beyond);
        cut[n] = *p;
        cut[n].x += t * (q->x - p->x);
        cut[n].y += t * (q->y - p->y);
        cut[n].z += t * (q->z - p->z);
        cut[n++].beyond = 0;
    }

    if (n == 2) {
        pl_raster_stroke(raster, &cut[0], &cut[1], style->line_width, lift, ink, style->line_alpha, true);
    }
}

// One face as a fine grid of triangles. With `lines` only its cut is drawn.
static void scene_draw_face(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                            const pl_scene_face *face, bool lines, double lift, pl_raster *raster)
{
    pl_spot grid[SCENE_FINE + 1][SCENE_FINE + 1];
    const bool triangle = face->count == 3 || face->count == 6;
    const int n = face->count == 3 ? 1 : face->count == 4 ? 2 : SCENE_FINE;

    for (int i = 0; i <= n; ++i) {
        for (int j = 0; j <= (triangle ? n - i : n); ++j) {
            const double r = (double)i / n, s = (double)j / n;
            grid[i][j] =
                scene_spot(scene, camera, style, face, triangle ? r : 2 * r - 1, triangle ? s : 2 * s - 1);
        }
    }

    double colour[3];
    pl_palette(face->region, colour);
    const double *rgb = style->colour ? style->colour : style->value ? NULL : colour;

    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < (triangle ? n - i : n); ++j) {
            const pl_spot *one[3] = {&grid[i][j], &grid[i + 1][j], &grid[i][j + 1]};
            const bool second = !triangle || j < n - i - 1;
            const pl_spot *two[3] = {&grid[i + 1][j], second ? &grid[i + 1][j + 1] : NULL, &grid[i][j + 1]};
            if (lines) {
                scene_cut_line(one, style, lift, raster);
            } else {
                pl_raster_triangle(raster, one[0], one[1], one[2], rgb);
            }
            if (second && lines) {
                scene_cut_line(two, style, lift, raster);
            } else if (second) {
                pl_raster_triangle(raster, two[0], two[1], two[2], rgb);
            }
        }
    }
}

// Sharp edges dark; with a wireframe the others fine.
static void scene_draw_edge(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                            const pl_scene_edge *edge, double lift, pl_raster *raster)
{
    static const double ink[3] = {0.13, 0.15, 0.19};
    const int parts = edge->mid >= 0 ? SCENE_FINE : 1;
    const double width = style->line_width * (edge->sharp ? 1 : 0.7),
                 alpha = style->line_alpha * (edge->sharp ? 1 : 0.7);
    const double *p = scene->x + 3 * (int64_t)edge->node[0], *q = scene->x + 3 * (int64_t)edge->node[1];
    const double *m = edge->mid >= 0 ? scene->x + 3 * (int64_t)edge->mid : NULL;
    pl_spot last = pl_camera_spot(camera, p);

    for (int k = 1; k <= parts; ++k) {
        const double t = (double)k / parts;
        double x[3];
        for (int i = 0; i < 3; ++i) {
            x[i] = m ? (1 - t) * (1 - 2 * t) * p[i] + 4 * t * (1 - t) * m[i] + t * (2 * t - 1) * q[i]
                     : (1 - t) * p[i] + t * q[i];
        }

        const pl_spot next = pl_camera_spot(camera, x);
        pl_raster_stroke(raster, &last, &next, width, lift, ink, alpha, true);
        last = next;
    }
}

void pl_scene_draw(const pl_scene *scene, const pl_camera *camera, const pl_scene_style *style,
                   pl_raster *raster)
{
    const double lift = 1.5 * style->line_width / camera->scale;
    for (int64_t f = 0; f < scene->face_count; ++f) {
        scene_draw_face(scene, camera, style, scene->face + f, false, 0, raster);
    }

    if (camera->clip && style->caps) {
        pl_scene_draw_caps(scene, camera, style, raster);
        for (int64_t f = 0; f < scene->face_count; ++f) {
            scene_draw_face(scene, camera, style, scene->face + f, true, lift, raster);
        }
    }

    for (int64_t e = 0; e < scene->edge_count; ++e) {
        if (scene->edge[e].sharp || style->wireframe) {
            scene_draw_edge(scene, camera, style, scene->edge + e, lift, raster);
        }
    }
}
