// A point p and a face y(xi) of the surface: the signed distance g of the nearest point and its derivatives
// by all nodes z of both.
//
// With d = p - y = g n, D = dd/dz at fixed xi (weights c_j of the nodes: those of the point, minus the shape
// functions of the face), a_i = dy/dxi_i, m_ij = a_i . a_j, k_ij = n . d2y/dxi_i dxi_j, M = m - g k and
// S_i = (dD/dxi_i)^T n, T_i = D^T a_i:
//   dg/dz   = D^T n
//   d2g/dz2 = -T (m^-1 k M^-1) T^T + T M^-1 S^T + S M^-1 T^T - g S M^-1 S^T
// from the second derivative of min |d|^2 / 2 over xi; nothing is divided by g. Where a point is nearest to
// the rim of a face its second derivative, which has 1 / g, is left out; balls, which are farther away, have
// it (edge_hessian).
#include "contact/contact_impl.h"

#define NEAREST_STEPS 8
#define NEAREST_DONE 1e-14 // of the reference coordinates, squared
#define NEAREST_FLAT 1e-14 // rounding of a squared distance
#define NEAREST_OUT 1e-10  // outside of the face by less is inside

// Beyond its edges a face goes on by this much of its reference coordinates: the distance to a sharp edge
// would turn its normal by a right angle within the distance that bodies keep.
#define NEAREST_BEYOND 0.03

// On a rim the distance goes on smoothly as a point slides off the face; below it the point must be inside.
#define RIM_ABOVE 0.05
#define RIM_BELOW 0.7

// d2N/dxi2 per node: uu, uv, vv.
static void pair_curvature(int size, const double xi[2], double ddN[3 * PL_FACE_NODES_MAX])
{
    static const double tri6[18] = {4, 4, 4, 4, 0, 0, 0, 0, 4, -8, -4, 0, 0, 4, 0, 0, -4, -8};
    memset(ddN, 0, 3 * PL_FACE_NODES_MAX * sizeof *ddN);
    if (size == 6) {
        memcpy(ddN, tri6, sizeof tri6);
    } else if (size > 3) {
        // polynomials of degree 2 in each coordinate: central differences of the first derivative are exact
        const double h = 0.5;
        for (int a = 0; a < 2; ++a) {
            double up[2] = {xi[0], xi[1]}, down[2] = {xi[0], xi[1]}, dU[2 * PL_FACE_NODES_MAX],
                   dD[2 * PL_FACE_NODES_MAX];
            up[a] += h;
            down[a] -= h;
            pl_face_shape_eval(size, up, NULL, dU);
            pl_face_shape_eval(size, down, NULL, dD);
            for (int k = 0; k < size; ++k) {
                ddN[3 * k + 2 * a] = (dU[2 * k + a] - dD[2 * k + a]) / (2 * h);
                if (a == 0) {
                    ddN[3 * k + 1] = (dU[2 * k + 1] - dD[2 * k + 1]) / (2 * h);
                }
            }
        }
    }
}

// Second derivatives of y: three vectors.
static void pair_bend(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2],
                      double b[9])
{
    double ddN[3 * PL_FACE_NODES_MAX];
    const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)face;

    pair_curvature(s->size[face], xi, ddN);
    memset(b, 0, 9 * sizeof *b);
    for (int k = 0; k < s->size[face]; ++k) {
        for (int c = 0; c < 3; ++c) {
            for (int i = 0; i < 3; ++i) {
                b[3 * c + i] += ddN[3 * k + c] * x[3 * (size_t)node[k] + (size_t)i];
            }
        }
    }
}

void pl_contact_face_frame(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2],
                           double y[3], double frame[9])
{
    double a[6];
    contact_face_at(s, face, x, xi, y, a);
    pl_cross3(a, a + 3, frame + 6);
    const double area = pl_norm3(frame + 6), length = pl_norm3(a);
    for (int i = 0; i < 3; ++i) {
        frame[i] = a[i] / length;
        frame[6 + i] /= area;
    }
    pl_cross3(frame + 6, frame, frame + 3);
}

// m dxi = a . v
void pl_contact_face_shift(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2],
                           const double v[3], double out[2])
{
    double y[3], a[6];
    contact_face_at(s, face, x, xi, y, a);
    const double m[3] = {pl_dot3(a, a), pl_dot3(a, a + 3), pl_dot3(a + 3, a + 3)},
                 r[2] = {pl_dot3(a, v), pl_dot3(a + 3, v)}, det = m[0] * m[2] - m[1] * m[1];
    out[0] = (m[2] * r[0] - m[1] * r[1]) / det;
    out[1] = (m[0] * r[1] - m[1] * r[0]) / det;
}

static bool pair_is_triangle(int size)
{
    return size == 3 || size == 6;
}

static bool pair_outside(int size, const double xi[2], double tolerance)
{
    return pair_is_triangle(size) ? xi[0] < -tolerance || xi[1] < -tolerance || xi[0] + xi[1] > 1 + tolerance
                                  : fabs(xi[0]) > 1 + tolerance || fabs(xi[1]) > 1 + tolerance;
}

double contact_flat(const pl_contact_surface *s, int32_t face, const double *x, const double p[3],
                    double xi[2])
{
    const int8_t(*triangle)[3];
    const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)face;
    const int size = s->size[face], count = pl_face_triangles(size, &triangle);
    double best = INFINITY;
    for (int t = 0; t < count; ++t) {
        double weight[3];
        const double d =
            pl_triangle_nearest(p, x + 3 * (size_t)node[triangle[t][0]], x + 3 * (size_t)node[triangle[t][1]],
                                x + 3 * (size_t)node[triangle[t][2]], weight);
        if (d < best) {
            best = d;
            xi[0] = xi[1] = 0;
            for (int c = 0; c < 3; ++c) {
                double at[2];
                contact_reference(size, triangle[t][c], at);
                xi[0] += weight[c] * at[0];
                xi[1] += weight[c] * at[1];
            }
        }
    }

    return sqrt(best);
}

// Newton's method for the nearest point, M kept positive; false when it leaves the face.
static bool pair_inner(const pl_contact_surface *s, int32_t face, const double *x, const double p[3],
                       double xi[2])
{
    for (int step = 0; step < NEAREST_STEPS; ++step) {
        double y[3], a[6], b[9], d[3];
        contact_face_at(s, face, x, xi, y, a);
        pair_bend(s, face, x, xi, b);
        pl_sub3(p, y, d);
        double M[3] = {pl_dot3(a, a) - pl_dot3(d, b), pl_dot3(a, a + 3) - pl_dot3(d, b + 3),
                       pl_dot3(a + 3, a + 3) - pl_dot3(d, b + 6)};
        double det = M[0] * M[2] - M[1] * M[1];
        const double plain = pl_dot3(a, a) * pl_dot3(a + 3, a + 3) - pow(pl_dot3(a, a + 3), 2);
        if (!(det > 0.1 * plain && M[0] > 0)) {
            M[0] = pl_dot3(a, a);
            M[1] = pl_dot3(a, a + 3);
            M[2] = pl_dot3(a + 3, a + 3);
            det = plain;
        }
        if (!(det > 0)) {
            return false;
        }
        const double r[2] = {pl_dot3(a, d), pl_dot3(a + 3, d)};
        const double du = (M[2] * r[0] - M[1] * r[1]) / det, dv = (M[0] * r[1] - M[1] * r[0]) / det;
        xi[0] += du;
        xi[1] += dv;
        if (!(fabs(xi[0]) + fabs(xi[1]) < 5)) {
            return false;
        }
        if (du * du + dv * dv < NEAREST_DONE) {
            break;
        }
    }
    return !pair_outside(s->size[face], xi, NEAREST_OUT);
}

// The direction in reference coordinates of the edge that xi lies on; false: xi is a corner.
static bool pair_edge_direction(int size, const double xi[2], double w[2])
{
    const int corners = pair_is_triangle(size) ? 3 : 4;
    int on = 0;

    for (int edge = 0; edge < corners; ++edge) {
        double from[2], to[2];
        contact_reference(size, edge, from);
        contact_reference(size, (edge + 1) % corners, to);
        const double d[2] = {to[0] - from[0], to[1] - from[1]};
        if (fabs(d[0] * (xi[1] - from[1]) - d[1] * (xi[0] - from[0])) < NEAREST_OUT) {
            memcpy(w, d, sizeof d);
            ++on;
        }
    }

    return on == 1;
}

// The nearest point of one edge of the face: Newton in one variable between its corners.
static double pair_edge(const pl_contact_surface *s, int32_t face, const double *x, const double p[3],
                        int edge, double xi[2])
{
    const int corners = pair_is_triangle(s->size[face]) ? 3 : 4;
    double from[2], to[2], t = 0.5, best = INFINITY;

    contact_reference(s->size[face], edge, from);
    contact_reference(s->size[face], (edge + 1) % corners, to);
    const double w[2] = {to[0] - from[0], to[1] - from[1]};
    for (int step = 0; step < NEAREST_STEPS; ++step) {
        const double at[2] = {from[0] + t * w[0], from[1] + t * w[1]};
        double y[3], a[6], b[9], d[3], u[3], c[3];
        contact_face_at(s, face, x, at, y, a);
        pair_bend(s, face, x, at, b);
        pl_sub3(p, y, d);
        for (int i = 0; i < 3; ++i) {
            u[i] = w[0] * a[i] + w[1] * a[3 + i];
            c[i] = w[0] * w[0] * b[i] + 2 * w[0] * w[1] * b[3 + i] + w[1] * w[1] * b[6 + i];
        }
        // near its minimum the distance does not tell two steps apart: the later one is nearer
        if (pl_dot3(d, d) < best * (1 + NEAREST_FLAT)) {
            best = fmin(best, pl_dot3(d, d));
            xi[0] = at[0];
            xi[1] = at[1];
        }
        const double uu = pl_dot3(u, u), curve = uu - pl_dot3(d, c);
        const double next = fmin(1, fmax(0, t + pl_dot3(u, d) / (curve > 0.1 * uu ? curve : uu)));
        if (fabs(next - t) < 1e-12) {
            break;
        }
        t = next;
    }

    return best;
}

bool contact_continued(const pl_contact_surface *s, const double *x, const double p[3], double beyond,
                       pl_contact_pair *pair)
{
    double y[3], a[6], d[3], normal[3];
    contact_flat(s, pair->face, x, p, pair->xi);
    pair->inner =
        pair_inner(s, pair->face, x, p, pair->xi) || !pair_outside(s->size[pair->face], pair->xi, beyond);
    if (!pair->inner) {
        return false;
    }
    contact_face_at(s, pair->face, x, pair->xi, y, a);
    pl_sub3(p, y, d);
    pl_cross3(a, a + 3, normal);
    const double length = pl_norm3(normal);
    pair->gap = pl_dot3(d, normal) / length;
    for (int i = 0; i < 3; ++i) {
        pair->n[i] = normal[i] / length;
    }

    return length > 0;
}

bool contact_nearest(const pl_contact_surface *s, const double *x, const double p[3], pl_contact_pair *pair)
{
    contact_flat(s, pair->face, x, p, pair->xi);
    return contact_nearest_from(s, x, p, pair);
}

bool contact_nearest_from(const pl_contact_surface *s, const double *x, const double p[3],
                          pl_contact_pair *pair)
{
    return contact_nearest_beyond(s, x, p, NEAREST_BEYOND, pair);
}

bool contact_nearest_beyond(const pl_contact_surface *s, const double *x, const double p[3], double beyond,
                            pl_contact_pair *pair)
{
    double y[3], a[6], d[3], normal[3];
    pair->inner = pair_inner(s, pair->face, x, p, pair->xi) ||
                  (beyond > 0 && !pair_outside(s->size[pair->face], pair->xi, beyond));
    if (!pair->inner) {
        // the edges that the search left the face across
        const bool triangle = pair_is_triangle(s->size[pair->face]);
        const double u = pair->xi[0], v = pair->xi[1];
        const bool across[4] = {triangle ? v < 0 : v < -1, triangle ? u + v > 1 : u > 1,
                                triangle ? u < 0 : v > 1, triangle ? false : u < -1};
        const bool lost = !(fabs(u) + fabs(v) < 5) || !(across[0] || across[1] || across[2] || across[3]);
        double best = INFINITY;
        for (int e = 0; e < (triangle ? 3 : 4); ++e) {
            double xi[2] = {0, 0};
            const double distance = lost || across[e] ? pair_edge(s, pair->face, x, p, e, xi) : INFINITY;
            if (distance < best) {
                best = distance;
                memcpy(pair->xi, xi, sizeof xi);
            }
        }
    }

    contact_face_at(s, pair->face, x, pair->xi, y, a);
    pl_sub3(p, y, d);
    pl_cross3(a, a + 3, normal);
    const double length = pl_norm3(normal), distance = pl_norm3(d);
    if (!(length > 0)) {
        return false;
    }

    const double along = pl_dot3(d, normal) / length;
    if (pair->inner || distance < 1e-12) {
        pair->gap = along;
        for (int i = 0; i < 3; ++i) {
            pair->n[i] = normal[i] / length;
        }
        return true;
    }

    const double sign = along < 0 ? -1 : 1;
    pair->gap = sign * distance;
    for (int i = 0; i < 3; ++i) {
        pair->n[i] = sign * d[i] / distance;
    }

    return fabs(along) > (along < 0 ? RIM_BELOW : RIM_ABOVE) * distance;
}

bool pl_contact_pair_gap(const pl_contact_surface *s, pl_contact_pair *pair, const double *x)
{
    double p[3];
    pl_contact_point_at(s, pair->point, x, p);
    return contact_nearest(s, x, p, pair);
}

int pl_contact_pair_nodes(const pl_contact_surface *s, const pl_contact_pair *pair,
                          int32_t node[PL_PAIR_NODES_MAX])
{
    const int32_t *own;
    double weight[PL_FACE_NODES_MAX];
    const int count = pl_contact_point_nodes(s, pair->point, &own, weight);

    memcpy(node, own, (size_t)count * sizeof *node);
    memcpy(node + count, s->node + PL_FACE_NODES_MAX * (size_t)pair->face,
           (size_t)s->size[pair->face] * sizeof *node);

    return count + s->size[pair->face];
}

// Weights c and their derivatives e (two per node) of all nodes of a pair.
static int pair_weights(const pl_contact_surface *s, const pl_contact_pair *pair, double *c, double *e)
{
    const int32_t *own;
    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX];
    const int count = pl_contact_point_nodes(s, pair->point, &own, c), size = s->size[pair->face];

    memset(e, 0, 2 * PL_PAIR_NODES_MAX * sizeof *e);
    pl_face_shape_eval(size, pair->xi, N, dN);
    for (int k = 0; k < size; ++k) {
        c[count + k] = -N[k];
        e[2 * (count + k)] = -dN[2 * k];
        e[2 * (count + k) + 1] = -dN[2 * k + 1];
    }

    return count + size;
}

static void pair_hessian(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                         const double *c, const double *e, int count, double *H)
{
    double y[3], a[6], b[9];
    const double *n = pair->n, g = pair->gap;

    contact_face_at(s, pair->face, x, pair->xi, y, a);
    pair_bend(s, pair->face, x, pair->xi, b);
    const double m[3] = {pl_dot3(a, a), pl_dot3(a, a + 3), pl_dot3(a + 3, a + 3)},
                 k[3] = {pl_dot3(n, b), pl_dot3(n, b + 3), pl_dot3(n, b + 6)},
                 M[3] = {m[0] - g * k[0], m[1] - g * k[1], m[2] - g * k[2]};
    const double dm = m[0] * m[2] - m[1] * m[1], dM = M[0] * M[2] - M[1] * M[1];
    const double mi[4] = {m[2] / dm, -m[1] / dm, -m[1] / dm, m[0] / dm},
                 Mi[4] = {M[2] / dM, -M[1] / dM, -M[1] / dM, M[0] / dM};

    // Q = m^-1 k M^-1
    const double kM[4] = {k[0] * Mi[0] + k[1] * Mi[2], k[0] * Mi[1] + k[1] * Mi[3],
                          k[1] * Mi[0] + k[2] * Mi[2], k[1] * Mi[1] + k[2] * Mi[3]};
    const double Q[4] = {mi[0] * kM[0] + mi[1] * kM[2], mi[0] * kM[1] + mi[1] * kM[3],
                         mi[2] * kM[0] + mi[3] * kM[2], mi[2] * kM[1] + mi[3] * kM[3]};
    double AA[9] = {0}, AN[2][9] = {{0}}; // sum Q a a^T; sum_i Mi_ij a_i n^T
    for (int i = 0; i < 9; ++i) {
        for (int p = 0; p < 2; ++p) {
            for (int q = 0; q < 2; ++q) {
                AA[i] += Q[2 * p + q] * a[3 * p + i / 3] * a[3 * q + i % 3];
                AN[q][i] += Mi[2 * p + q] * a[3 * p + i / 3] * n[i % 3];
            }
        }
    }

    const int row = 3 * count;
    for (int j = 0; j < count; ++j) {
        for (int l = 0; l < count; ++l) {
            double ee = 0;
            for (int p = 0; p < 2; ++p) {
                for (int q = 0; q < 2; ++q) {
                    ee += Mi[2 * p + q] * e[2 * j + p] * e[2 * l + q];
                }
            }
            for (int i = 0; i < 9; ++i) {
                const int t = 3 * (i % 3) + i / 3; // transposed
                H[(3 * j + i / 3) * row + 3 * l + i % 3] =
                    -c[j] * c[l] * AA[i] + c[j] * (e[2 * l] * AN[0][i] + e[2 * l + 1] * AN[1][i]) +
                    c[l] * (e[2 * j] * AN[0][t] + e[2 * j + 1] * AN[1][t]) - g * ee * n[i / 3] * n[i % 3];
            }
        }
    }
}

int pl_contact_pair_derivatives(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                                double *gradient, double *hessian)
{
    double c[PL_PAIR_NODES_MAX], e[2 * PL_PAIR_NODES_MAX];
    const int count = pair_weights(s, pair, c, e);

    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < 3; ++i) {
            gradient[3 * j + i] = c[j] * pair->n[i];
        }
    }

    if (hessian) {
        memset(hessian, 0, 9 * (size_t)count * (size_t)count * sizeof *hessian);
        if (pair->inner) {
            pair_hessian(s, pair, x, c, e, count, hessian);
        }
    }

    return count;
}

// From a_i . d = 0: M dxi = a . sum c_j dz_j - g n . sum e_j dz_j.
int pl_contact_foot_shift(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                          const double *weight, int own, const double slope[2], double *gradient)
{
    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX], y[3], a[6], b[9], t[3];
    const double *n = pair->n, g = pair->gap;
    const int size = pl_face_shape_eval(s->size[pair->face], pair->xi, N, dN);

    contact_face_at(s, pair->face, x, pair->xi, y, a);
    pair_bend(s, pair->face, x, pair->xi, b);
    const double M[3] = {pl_dot3(a, a) - g * pl_dot3(n, b), pl_dot3(a, a + 3) - g * pl_dot3(n, b + 3),
                         pl_dot3(a + 3, a + 3) - g * pl_dot3(n, b + 6)},
                 det = M[0] * M[2] - M[1] * M[1];

    // slope^T M^-1
    const double q[2] = {(M[2] * slope[0] - M[1] * slope[1]) / det,
                         (M[0] * slope[1] - M[1] * slope[0]) / det};
    for (int i = 0; i < 3; ++i) {
        t[i] = q[0] * a[i] + q[1] * a[3 + i];
    }

    for (int j = 0; j < own + size; ++j) {
        const int k = j - own;
        const double c = k < 0 ? weight[j] : -N[k],
                     e = k < 0 ? 0 : -(q[0] * dN[2 * k] + q[1] * dN[2 * k + 1]);
        for (int i = 0; i < 3; ++i) {
            gradient[3 * j + i] = c * t[i] - g * e * n[i];
        }
    }

    return own + size;
}

// The same where the nearest point is bound to an edge of the face, with u = dy/ds along it: one direction to
// slide in, and the direction across, b = n x u / |u|, in which the normal turns by 1 / g:
//   d2g/dz2 = D^T b b^T D / g + that of a face with s in place of xi.
// At a corner, where nothing slides, it turns so in both directions.
static void edge_hessian(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                         const double *c, const double *e, int count, double *H)
{
    double y[3], a[6], bend[9], u[3], b[3], w[2], k = 0;
    const double *n = pair->n, g = pair->gap;
    const bool slides = pair_edge_direction(s->size[pair->face], pair->xi, w);

    contact_face_at(s, pair->face, x, pair->xi, y, a);
    pair_bend(s, pair->face, x, pair->xi, bend);
    for (int i = 0; i < 3; ++i) {
        u[i] = w[0] * a[i] + w[1] * a[3 + i];
        k += n[i] * (w[0] * w[0] * bend[i] + 2 * w[0] * w[1] * bend[3 + i] + w[1] * w[1] * bend[6 + i]);
    }
    pl_cross3(n, u, b);
    const double m = pl_dot3(u, u), M = m - g * k;

    const int row = 3 * count;
    for (int j = 0; j < count; ++j) {
        for (int l = 0; l < count; ++l) {
            const double ej = w[0] * e[2 * j] + w[1] * e[2 * j + 1],
                         el = w[0] * e[2 * l] + w[1] * e[2 * l + 1];
            for (int i = 0; i < 9; ++i) {
                const int p = i / 3, q = i % 3;
                H[(3 * j + p) * row + 3 * l + q] =
                    slides ? c[j] * c[l] * (b[p] * b[q] / (m * g) - k / (m * M) * u[p] * u[q]) +
                                 (c[j] * el * u[p] * n[q] + c[l] * ej * n[p] * u[q] -
                                  g * ej * el * n[p] * n[q]) /
                                     M
                           : c[j] * c[l] * ((p == q) - n[p] * n[q]) / g;
            }
        }
    }
}

int pl_contact_foot_derivatives(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                                const double *weight, int own, double *gradient, double *hessian)
{
    double c[PL_PAIR_NODES_MAX], e[2 * PL_PAIR_NODES_MAX] = {0}, N[PL_FACE_NODES_MAX],
                                       dN[2 * PL_FACE_NODES_MAX];
    const int size = pl_face_shape_eval(s->size[pair->face], pair->xi, N, dN), count = own + size;

    memcpy(c, weight, (size_t)own * sizeof *c);
    for (int k = 0; k < size; ++k) {
        c[own + k] = -N[k];
        e[2 * (own + k)] = -dN[2 * k];
        e[2 * (own + k) + 1] = -dN[2 * k + 1];
    }

    for (int j = 0; j < 3 * count; ++j) {
        gradient[j] = c[j / 3] * pair->n[j % 3];
    }

    if (hessian) {
        memset(hessian, 0, 9 * (size_t)count * (size_t)count * sizeof *hessian);
        if (pair->inner) {
            pair_hessian(s, pair, x, c, e, count, hessian);
        } else {
            edge_hessian(s, pair, x, c, e, count, hessian);
        }
    }

    return count;
}
