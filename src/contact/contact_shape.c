// Signed distances to rigid obstacles with first and second derivatives. In local coordinates y = R (x - c):
//   plane      g = y_3
//   sphere     g = |y| - r,                n = y / |y|,       H = (I - n n^T) / |y|
//   cylinder   of r and y_3 only: the distance to a rectangle in the plane (rho, y_3)
//   box        g = |max(|y| - h, 0)| outside, max(|y_i| - h_i) inside
//   mesh       distance to the nearest triangle; the sign by normals of triangle, edge or vertex, averaged
//   with
//              the angles (exact for closed surfaces); H = 0: triangles are flat
// Hollow obstacles have -g, -n, -H.
#include <float.h>
#include "contact/contact.h"

#define SHAPE_TINY 1e-12 // mm: below it a direction is not defined

static void shape_zero(double n[3], double *H)
{
    memset(n, 0, 3 * sizeof *n);
    if (H) {
        memset(H, 0, 9 * sizeof *H);
    }
}

static double shape_sphere(const pl_shape *s, const double y[3], double n[3], double *H)
{
    const double r = pl_norm3(y);
    for (int i = 0; i < 3; ++i) {
        n[i] = r > SHAPE_TINY ? y[i] / r : (i == 2);
    }
    for (int i = 0; H && i < 9; ++i) {
        H[i] = r > SHAPE_TINY ? ((i % 4 == 0) - n[i / 3] * n[i % 3]) / r : 0;
    }

    return r - s->radius;
}

// With rho the distance from the axis, e its direction, t = e_3 x e: g depends on (rho, z) only, so
// H = g_rr e e^T + g_rz (e z^T + z e^T) + g_zz z z^T + g_r / rho t t^T.
static double shape_cylinder(const pl_shape *s, const double y[3], double n[3], double *H)
{
    const double rho = hypot(y[0], y[1]), a = rho - s->radius, b = fabs(y[2]) - s->half[2];
    const double up = y[2] < 0 ? -1 : 1,
                 e[2] = {rho > SHAPE_TINY ? y[0] / rho : 1, rho > SHAPE_TINY ? y[1] / rho : 0};
    double g, gr, gz, curve = 0;

    if (a > 0 && b > 0) {
        // nearest to the rim of an end
        g = hypot(a, b);
        gr = a / g;
        gz = up * b / g;
        curve = 1 / g;
    } else if (a >= b) {
        g = a;
        gr = 1;
        gz = 0;
    } else {
        g = b;
        gr = 0;
        gz = up;
    }

    n[0] = gr * e[0];
    n[1] = gr * e[1];
    n[2] = gz;
    if (H) {
        const double t[3] = {-e[1], e[0], 0}, m[3] = {-gz * e[0], -gz * e[1], gr};
        for (int i = 0; i < 9; ++i) {
            H[i] = curve * m[i / 3] * m[i % 3] + (rho > SHAPE_TINY ? gr / rho * t[i / 3] * t[i % 3] : 0);
        }
    }

    return g;
}

static double shape_box(const pl_shape *s, const double y[3], double n[3], double *H)
{
    double d[3], sum = 0;
    int widest = 0, outside = 0;

    for (int i = 0; i < 3; ++i) {
        d[i] = fabs(y[i]) - s->half[i];
        widest = d[i] > d[widest] ? i : widest;
        outside += d[i] > 0;
        sum += d[i] > 0 ? d[i] * d[i] : 0;
    }

    shape_zero(n, H);
    if (outside <= 1) {
        n[widest] = y[widest] < 0 ? -1 : 1;
        return d[widest];
    }

    const double g = sqrt(sum);
    for (int i = 0; i < 3; ++i) {
        n[i] = d[i] > 0 ? (y[i] < 0 ? -d[i] : d[i]) / g : 0;
    }
    for (int i = 0; H && i < 9; ++i) {
        H[i] = ((i % 4 == 0 && d[i / 3] > 0) - n[i / 3] * n[i % 3]) / g;
    }

    return g;
}

// ---- meshes
typedef struct mesh_search {
    const pl_shape *shape;
    const double *x;
    int32_t best;
    double distance, weight[3];
} mesh_search;

static void mesh_corners(const pl_trisurf *t, int32_t k, const double *corner[3])
{
    for (int c = 0; c < 3; ++c) {
        corner[c] = t->position + 3 * (size_t)t->corner[3 * (size_t)k + (size_t)c];
    }
}

static double mesh_visit(void *user, int32_t item, double best)
{
    mesh_search *s = user;
    const double *c[3];
    double weight[3];

    mesh_corners(&s->shape->surface, item, c);
    const double d = pl_triangle_nearest(s->x, c[0], c[1], c[2], weight);
    if (d < s->distance || (d == s->distance && item < s->best)) {
        s->distance = d;
        s->best = item;
        memcpy(s->weight, weight, sizeof weight);
    }

    return fmin(best, s->distance);
}

// The normal of the feature that holds the nearest point: face, edge or vertex.
static const double *mesh_feature(const pl_shape *s, int32_t k, const double weight[3], double face[3])
{
    const double *c[3];
    int zero = 0, at = 0, missing = 0;

    for (int i = 0; i < 3; ++i) {
        if (weight[i] < 1e-9) {
            ++zero;
            missing = i;
        } else {
            at = i;
        }
    }

    if (zero == 2) {
        return s->vertex_normal + 3 * (size_t)s->surface.corner[3 * (size_t)k + (size_t)at];
    }
    if (zero == 1) {
        return s->edge_normal + 9 * (size_t)k + 3 * (size_t)((missing + 1) % 3);
    }

    double u[3], v[3];
    mesh_corners(&s->surface, k, c);
    pl_sub3(c[1], c[0], u);
    pl_sub3(c[2], c[0], v);
    pl_cross3(u, v, face);

    return face;
}

static double shape_mesh(const pl_shape *s, const double y[3], double reach, double n[3], double *H)
{
    // far away the box of the whole is enough; inside of it distances are computed
    double apart = 0;
    for (int i = 0; i < 3; ++i) {
        const double d = fmax(0, fmax(s->tree.box[i] - y[i], y[i] - s->tree.box[3 + i]));
        apart += d * d;
    }

    shape_zero(n, H);
    if (apart > reach * reach) {
        return sqrt(apart);
    }

    mesh_search search = {.shape = s, .x = y, .best = -1, .distance = INFINITY};
    pl_bvh_nearest(&s->tree, y, INFINITY, mesh_visit, &search);
    const double *c[3];
    double face[3], foot[3], d[3];
    mesh_corners(&s->surface, search.best, c);
    for (int i = 0; i < 3; ++i) {
        foot[i] = search.weight[0] * c[0][i] + search.weight[1] * c[1][i] + search.weight[2] * c[2][i];
    }
    pl_sub3(y, foot, d);
    const double *normal = mesh_feature(s, search.best, search.weight, face), length = pl_norm3(d),
                 sign = pl_dot3(d, normal) < 0 ? -1 : 1;
    const double scale = pl_norm3(normal);
    for (int i = 0; i < 3; ++i) {
        n[i] = length > 1e-9 ? sign * d[i] / length : normal[i] / scale;
    }

    return sign * length;
}

double pl_shape_gap(const pl_shape *s, const double x[3], double reach, double n[3], double *H)
{
    double d[3], y[3], m[3] = {0}, L[9], g;
    pl_sub3(x, s->centre, d);
    if (s->kind == PL_SHAPE_MESH) {
        return shape_mesh(s, x, reach, n, H);
    }

    if (s->kind == PL_SHAPE_PLANE) {
        memcpy(n, s->frame + 6, 3 * sizeof *n);
        if (H) {
            memset(H, 0, 9 * sizeof *H);
        }
        return pl_dot3(n, d);
    }

    pl_mulv3(s->frame, d, y);
    g = (s->kind == PL_SHAPE_SPHERE     ? shape_sphere
         : s->kind == PL_SHAPE_CYLINDER ? shape_cylinder
                                        : shape_box)(s, y, m, H ? L : NULL);
    const double sign = s->hollow ? -1 : 1;
    pl_mulTv3(s->frame, m, n);
    for (int i = 0; i < 3; ++i) {
        n[i] *= sign;
    }

    if (H) {
        // R^T L R
        double T[9];
        pl_mul33(L, s->frame, T);
        for (int i = 0; i < 9; ++i) {
            H[i] = sign * (s->frame[i / 3] * T[i % 3] + s->frame[3 + i / 3] * T[3 + i % 3] +
                           s->frame[6 + i / 3] * T[6 + i % 3]);
        }
    }

    return sign * g;
}

// ---- preparing a mesh
static double mesh_angle(const double *a, const double *b, const double *c)
{
    double u[3], v[3], w[3];
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_cross3(u, v, w);
    return atan2(pl_norm3(w), pl_dot3(u, v));
}

static void mesh_unit_normal(const double *const c[3], double n[3])
{
    double u[3], v[3];
    pl_sub3(c[1], c[0], u);
    pl_sub3(c[2], c[0], v);
    pl_cross3(u, v, n);
    const double length = pl_norm3(n);
    for (int i = 0; i < 3; ++i) {
        n[i] = length > 0 ? n[i] / length : 0;
    }
}

static void mesh_normals(pl_shape *s, pl_table *edges, double *sum)
{
    const pl_trisurf *t = &s->surface;
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t k = 0; k < t->triangle_count; ++k) {
            const double *c[3];
            double n[3];
            mesh_corners(t, k, c);
            mesh_unit_normal(c, n);
            for (int e = 0; e < 3; ++e) {
                const int32_t *corner = t->corner + 3 * (size_t)k;
                int32_t key[2] = {corner[e], corner[(e + 1) % 3]};
                pl_sort_small(key, 2);
                const int32_t at = pl_table_add(edges, key);
                const double angle = mesh_angle(c[e], c[(e + 1) % 3], c[(e + 2) % 3]);
                for (int i = 0; i < 3; ++i) {
                    if (pass == 0) {
                        sum[3 * (size_t)at + (size_t)i] += n[i];
                        s->vertex_normal[3 * (size_t)corner[e] + (size_t)i] += angle * n[i];
                    } else {
                        s->edge_normal[9 * (size_t)k + (size_t)(3 * e + i)] = sum[3 * (size_t)at + (size_t)i];
                    }
                }
            }
        }
    }
}

pl_status pl_shape_prepare(pl_shape *s, pl_error *err)
{
    const pl_trisurf *t = &s->surface;
    double *box = PL_NEW_ARRAY(double, 6 * (size_t)t->triangle_count),
           *sum = PL_NEW_ARRAY(double, 9 * (size_t)t->triangle_count);

    s->vertex_normal = PL_NEW_ARRAY(double, 3 * (size_t)t->vertex_count);
    s->edge_normal = PL_NEW_ARRAY(double, 9 * (size_t)t->triangle_count);
    pl_table edges = {0};
    bool good = box && sum && s->vertex_normal && s->edge_normal &&
                pl_table_init(&edges, 2, 3 * (int64_t)t->triangle_count);
    for (int32_t k = 0; good && k < t->triangle_count; ++k) {
        const double *c[3];
        mesh_corners(t, k, c);
        for (int i = 0; i < 3; ++i) {
            box[6 * (size_t)k + (size_t)i] = fmin(c[0][i], fmin(c[1][i], c[2][i]));
            box[6 * (size_t)k + 3 + (size_t)i] = fmax(c[0][i], fmax(c[1][i], c[2][i]));
        }
    }

    if (good) {
        mesh_normals(s, &edges, sum);
        good = pl_bvh_init(&s->tree, t->triangle_count, box);
    }

    pl_table_clear(&edges);
    pl_free(box);
    pl_free(sum);

    return good ? PL_OK : pl_fail_memory(err, "contact: an obstacle");
}

void pl_shape_clear(pl_shape *s)
{
    pl_trisurf_clear(&s->surface);
    pl_bvh_clear(&s->tree);
    pl_free(s->vertex_normal);
    pl_free(s->edge_normal);
    s->vertex_normal = s->edge_normal = NULL;
}

// ---- pictures
typedef struct shape_sink {
    const pl_shape *s;
    double *out;
    int count;
} shape_sink;

static void sink_add(shape_sink *k, const double a[3], const double b[3], const double c[3])
{
    const double *const corner[3] = {a, b, c};
    for (int v = 0; k->out && v < 3; ++v) {
        double world[3];
        pl_mulTv3(k->s->frame, corner[v], world);
        for (int i = 0; i < 3; ++i) {
            k->out[9 * k->count + 3 * v + i] = world[i] + k->s->centre[i];
        }
    }

    ++k->count;
}

static void sink_quad(shape_sink *k, const double a[3], const double b[3], const double c[3],
                      const double d[3])
{
    sink_add(k, a, b, c);
    sink_add(k, a, c, d);
}

#define SHAPE_ROUND 48

static void shape_draw_round(shape_sink *k, double low, double high)
{
    const pl_shape *s = k->s;
    const int rows = s->kind == PL_SHAPE_SPHERE ? SHAPE_ROUND / 2 : 1;

    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < SHAPE_ROUND; ++c) {
            double v[4][3];
            for (int q = 0; q < 4; ++q) {
                const double turn = 2 * PL_PI * (c + (q == 1 || q == 2)) / SHAPE_ROUND;
                const double tilt = PL_PI * ((r + (q >= 2)) / (double)rows - 0.5);
                const bool ball = s->kind == PL_SHAPE_SPHERE;
                const double rho = ball ? s->radius * cos(tilt) : s->radius;
                v[q][0] = rho * cos(turn);
                v[q][1] = rho * sin(turn);
                v[q][2] = ball ? s->radius * sin(tilt) : q >= 2 ? high : low;
            }
            sink_quad(k, v[0], v[1], v[2], v[3]);
            for (int end = 0; s->kind == PL_SHAPE_CYLINDER && !s->hollow && end < 2; ++end) {
                const double centre[3] = {0, 0, end ? high : low};
                sink_add(k, centre, v[end ? 3 : 1], v[end ? 2 : 0]);
            }
        }
    }
}

static void shape_draw_box(shape_sink *k)
{
    const double *h = k->s->half;
    for (int axis = 0; axis < 3; ++axis) {
        for (int side = -1; side <= 1; side += 2) {
            const int u = (axis + 1) % 3, w = (axis + 2) % 3;
            double v[4][3];
            for (int q = 0; q < 4; ++q) {
                v[q][axis] = side * h[axis];
                v[q][u] = (q == 1 || q == 2 ? 1 : -1) * side * h[u];
                v[q][w] = (q >= 2 ? 1 : -1) * h[w];
            }
            sink_quad(k, v[0], v[1], v[2], v[3]);
        }
    }
}

int pl_shape_triangles(const pl_shape *s, const double near[3], double size, double *out)
{
    shape_sink k = {s, out, 0};
    double d[3], y[3];

    pl_sub3(near, s->centre, d);
    pl_mulv3(s->frame, d, y);
    if (s->kind == PL_SHAPE_MESH) {
        for (int32_t t = 0; t < s->surface.triangle_count; ++t) {
            const double *c[3];
            mesh_corners(&s->surface, t, c);
            for (int v = 0; out && v < 3; ++v) {
                memcpy(out + 9 * t + 3 * v, c[v], 3 * sizeof *out);
            }
        }
        return (int)s->surface.triangle_count;
    }

    if (s->kind == PL_SHAPE_PLANE) {
        const double r = size / 2;
        // several squares, so that a picture can sort them
        enum { PARTS = 8 };
        for (int i = 0; i < PARTS * PARTS; ++i) {
            const double x0 = y[0] - r + size * (i % PARTS) / PARTS,
                         y0 = y[1] - r + size * (i / PARTS) / PARTS, w = size / PARTS;
            const double v[4][3] = {{x0, y0, 0}, {x0 + w, y0, 0}, {x0 + w, y0 + w, 0}, {x0, y0 + w, 0}};
            sink_quad(&k, v[0], v[1], v[2], v[3]);
        }
    } else if (s->kind == PL_SHAPE_BOX) {
        shape_draw_box(&k);
    } else {
        const bool endless = isinf(s->half[2]);
        shape_draw_round(&k, endless ? y[2] - size / 2 : -s->half[2], endless ? y[2] + size / 2 : s->half[2]);
    }

    return k.count;
}
