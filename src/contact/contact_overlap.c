// How deep a rigid obstacle and the deformed body overlap, whatever their sizes: the deepest point of the
// curved faces inside the obstacle, and samples of the obstacle that lie inside the body.
//
// The faces are divided into quadratic triangles, whose control points b_i span a hull that contains them. A
// lower bound of the signed distance g over such a patch with a point c is
//   convex obstacles    min_i g(c) + n(c) . (b_i - c)      (a convex function is above its tangent plane)
//   hollow ones         min_i g(b_i)                       (a concave one is least at a corner of the hull)
//   meshes              g(c) - max_i |b_i - c|             (no distance changes faster)
// Patches whose bound is above what was found, or above what counts, are left; the others are quartered.
//
// An obstacle that no face passes through is inside or outside of the body as a whole: a sample of it, a ball
// (p, r) inside the obstacle, is inside when the faces wind around p, and its depth is then the distance of
// p from the faces, plus r.
#include "contact/contact_impl.h"

#define OVERLAP_LEVELS 10
#define OVERLAP_CLOSE 1.02 // times the deepest point found: patches that promise no more are left
#define OVERLAP_SAMPLES 48 // of an obstacle, at most

typedef struct overlap_patch {
    double p[6][3]; // corners, then middles of the edges 0 1, 1 2, 2 0
} overlap_patch;

typedef struct overlap_search {
    const pl_shape *shape;
    double least; // mm: what counts at this face
    double depth;
    double at[3]; // of the obstacle's frame
} overlap_search;

// ---- curved faces in the obstacle
static void patch_eval(const overlap_patch *p, const double l[3], double out[3])
{
    const double N[6] = {l[0] * (2 * l[0] - 1), l[1] * (2 * l[1] - 1), l[2] * (2 * l[2] - 1),
                         4 * l[0] * l[1],       4 * l[1] * l[2],       4 * l[2] * l[0]};
    for (int i = 0; i < 3; ++i) {
        out[i] = 0;
        for (int k = 0; k < 6; ++k) {
            out[i] += N[k] * p->p[k][i];
        }
    }
}

static void patch_quarter(const overlap_patch *p, int child, overlap_patch *out)
{
    static const double place[6][3] = {{1, 0, 0},     {0, 1, 0},     {0, 0, 1},
                                       {0.5, 0.5, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}};
    static const int corner[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};

    for (int c = 0; c < 3; ++c) {
        const double *a = place[corner[child][c]], *b = place[corner[child][(c + 1) % 3]];
        const double middle[3] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])};
        memcpy(out->p[c], p->p[corner[child][c]], sizeof out->p[c]);
        patch_eval(p, middle, out->p[3 + c]);
    }
}

static double patch_bound(const pl_shape *shape, const overlap_patch *p, const double c[3], double g,
                          const double n[3])
{
    double bound = INFINITY;
    for (int k = 0; k < 6; ++k) {
        double b[3], d[3], m[3];
        for (int i = 0; i < 3; ++i) {
            b[i] = k < 3 ? p->p[k][i] : 2 * p->p[k][i] - 0.5 * (p->p[k - 3][i] + p->p[(k - 2) % 3][i]);
        }
        pl_sub3(b, c, d);
        const double least = shape->hollow                  ? pl_shape_gap(shape, b, INFINITY, m, NULL)
                             : shape->kind == PL_SHAPE_MESH ? g - pl_norm3(d)
                                                            : g + pl_dot3(n, d);
        bound = fmin(bound, least);
    }

    return bound;
}

static void overlap_patches(overlap_search *s, const overlap_patch *p, int level)
{
    static const double centre[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    double c[3], n[3];

    patch_eval(p, centre, c);
    const double g = pl_shape_gap(s->shape, c, INFINITY, n, NULL);
    if (-g > s->depth) {
        s->depth = -g;
        memcpy(s->at, c, sizeof c);
    }

    const double bound = patch_bound(s->shape, p, c, g, n);
    if (level == OVERLAP_LEVELS || -bound <= fmax(s->least, OVERLAP_CLOSE * s->depth)) {
        return;
    }

    for (int child = 0; child < 4; ++child) {
        overlap_patch part;
        patch_quarter(p, child, &part);
        overlap_patches(s, &part, level + 1);
    }
}

// Quadratic triangles of a face in the frame of the obstacle, y = R^T (x - t); quadrilaterals give eight,
// which are near enough to them.
static int overlap_divide(const pl_contact_surface *s, int32_t face, const double *x, const double R[9],
                          const double t[3], overlap_patch out[8])
{
    static const double tri[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    const bool triangle = s->size[face] == 3 || s->size[face] == 6;
    const int count = triangle ? 1 : 8;

    for (int q = 0; q < count; ++q) {
        const double u = -1 + q / 2 % 2, v = -1 + q / 4;
        const double quad[2][3][2] = {{{u, v}, {u + 1, v}, {u + 1, v + 1}},
                                      {{u, v}, {u + 1, v + 1}, {u, v + 1}}};
        for (int k = 0; k < 6; ++k) {
            double xi[2], y[3], a[6], d[3];
            for (int i = 0; i < 2; ++i) {
                const double from = triangle ? tri[k % 3][i] : quad[q % 2][k % 3][i],
                             to = triangle ? tri[(k + 1) % 3][i] : quad[q % 2][(k + 1) % 3][i];
                xi[i] = k < 3 ? from : 0.5 * (from + to);
            }
            contact_face_at(s, face, x, xi, y, a);
            pl_sub3(y, t, d);
            for (int i = 0; i < 3; ++i) {
                out[q].p[k][i] = R[i] * d[0] + R[3 + i] * d[1] + R[6 + i] * d[2];
            }
        }
    }

    return count;
}

// ---- samples of the obstacle in the body
double pl_shape_thickness(const pl_shape *s)
{
    switch (s->kind) {
    case PL_SHAPE_SPHERE:
        return s->hollow ? INFINITY : s->radius;
    case PL_SHAPE_CYLINDER:
        return s->hollow ? INFINITY : fmin(s->radius, s->half[2]);
    case PL_SHAPE_BOX:
        return fmin(s->half[0], fmin(s->half[1], s->half[2]));
    case PL_SHAPE_MESH: {
        const double *b = s->tree.box;
        return 0.5 * fmin(b[3] - b[0], fmin(b[4] - b[1], b[5] - b[2]));
    }
    default:
        return INFINITY;
    }
}

// Balls (three coordinates and a radius) inside the obstacle, at its rest position; returns their number.
static int overlap_samples(const pl_shape *s, double sample[OVERLAP_SAMPLES][4])
{
    int count = 0;
    if (s->hollow || s->kind == PL_SHAPE_PLANE) {
        return 0;
    }

    if (s->kind == PL_SHAPE_MESH) {
        const int32_t all = s->surface.vertex_count, step = 1 + (all - 1) / OVERLAP_SAMPLES;
        for (int32_t v = 0; v < all; v += step) {
            memcpy(sample[count], s->surface.position + 3 * (size_t)v, 3 * sizeof(double));
            sample[count++][3] = 0;
        }
        return count;
    }

    double local[OVERLAP_SAMPLES][4] = {{0, 0, 0, pl_shape_thickness(s)}};
    count = 1;
    if (s->kind == PL_SHAPE_BOX) {
        for (int k = 0; k < 8; ++k) {
            for (int i = 0; i < 3; ++i) {
                local[count][i] = k >> i & 1 ? s->half[i] : -s->half[i];
            }
            local[count++][3] = 0;
        }
    } else if (s->kind == PL_SHAPE_CYLINDER && isfinite(s->half[2]) && s->half[2] > s->radius) {
        const int n = (int)fmin(10, ceil((s->half[2] - s->radius) / s->radius));
        for (int k = -n; k <= n; ++k) {
            const double at[4] = {0, 0, (s->half[2] - s->radius) * k / n, s->radius};
            memcpy(local[count++], at, sizeof at);
        }
    }

    for (int k = 0; k < count; ++k) {
        pl_mulTv3(s->frame, local[k], sample[k]);
        for (int i = 0; i < 3; ++i) {
            sample[k][i] += s->centre[i];
        }
        sample[k][3] = local[k][3];
    }

    return count;
}

// Solid angle of a triangle seen from p, over 4 pi (van Oosterom and Strackee).
static double overlap_angle(const double *const corner[3], const double p[3])
{
    double r[3][3], length[3], w[3];
    for (int k = 0; k < 3; ++k) {
        pl_sub3(corner[k], p, r[k]);
        length[k] = pl_norm3(r[k]);
    }

    pl_cross3(r[1], r[2], w);
    const double up = pl_dot3(r[0], w),
                 down = length[0] * length[1] * length[2] + pl_dot3(r[0], r[1]) * length[2] +
                        pl_dot3(r[1], r[2]) * length[0] + pl_dot3(r[2], r[0]) * length[1];
    return atan2(up, down) / (2 * PL_PI);
}

// Distance of p from the faces, positive inside the body; -1: outside.
static double overlap_inside(const pl_contact_surface *s, const double *x, const double p[3],
                             int32_t *nearest)
{
    double winding = 0, best = INFINITY;
    for (int32_t f = 0; f < s->face_count; ++f) {
        const int8_t(*triangle)[3];
        const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)f;
        const int count = pl_face_triangles(s->size[f], &triangle);
        for (int k = 0; k < count; ++k) {
            const double *const corner[3] = {x + 3 * (size_t)node[triangle[k][0]],
                                             x + 3 * (size_t)node[triangle[k][1]],
                                             x + 3 * (size_t)node[triangle[k][2]]};
            winding += overlap_angle(corner, p);
        }
    }

    if (winding < 0.5) {
        return -1;
    }

    for (int32_t f = 0; f < s->face_count; ++f) {
        double xi[2];
        const double d = contact_flat(s, f, x, p, xi);
        if (d < best) {
            best = d;
            *nearest = f;
        }
    }

    return best;
}

static void overlap_contained(const pl_contact_surface *s, const double *x, const pl_shape *shape,
                              const double R[9], const double t[3], const double box[6], pl_overlap *out)
{
    double sample[OVERLAP_SAMPLES][4];
    const int count = overlap_samples(shape, sample);

    for (int k = 0; k < count; ++k) {
        double p[3];
        bool outside = false;
        int32_t face = -1;
        pl_mulv3(R, sample[k], p);
        for (int i = 0; i < 3; ++i) {
            p[i] += t[i];
            outside = outside || p[i] < box[i] || p[i] > box[3 + i];
        }
        const double inside = outside ? -1 : overlap_inside(s, x, p, &face);
        if (inside >= 0 && inside + sample[k][3] > out->depth) {
            *out = (pl_overlap){.depth = inside + sample[k][3], .face = face};
            memcpy(out->place, p, sizeof p);
        }
    }
}

pl_overlap pl_contact_overlap(const pl_contact_surface *s, const double *x, const pl_shape *shape,
                              const double R[9], const double t[3], double tolerance)
{
    pl_overlap out = {.face = -1};
    double box[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY}, worst = 0;

    for (int32_t f = 0; f < s->face_count; ++f) {
        overlap_patch patch[8];
        overlap_search search = {.shape = shape, .least = pl_contact_overlap_limit(s, f, shape, tolerance)};
        const int count = overlap_divide(s, f, x, R, t, patch);
        for (int q = 0; q < count; ++q) {
            overlap_patches(&search, &patch[q], 0);
        }
        if (search.depth > worst * search.least) {
            worst = search.depth / search.least;
            out = (pl_overlap){.depth = search.depth, .face = f};
            pl_mulv3(R, search.at, out.place);
            for (int i = 0; i < 3; ++i) {
                out.place[i] += t[i];
            }
        }
        for (int k = 0; k < s->size[f]; ++k) {
            const double *v = x + 3 * (size_t)s->node[PL_FACE_NODES_MAX * (size_t)f + (size_t)k];
            for (int i = 0; i < 3; ++i) {
                box[i] = fmin(box[i], v[i]);
                box[3 + i] = fmax(box[3 + i], v[i]);
            }
        }
    }

    overlap_contained(s, x, shape, R, t, box, &out);
    return out;
}

double pl_contact_overlap_limit(const pl_contact_surface *s, int32_t face, const pl_shape *shape,
                                double tolerance)
{
    return tolerance * fmin(s->edge[face], pl_shape_thickness(shape));
}
