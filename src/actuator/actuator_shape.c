// Lengths of cable segments, areas of films, angles of patches.
#include "actuator/actuator_impl.h"

// ---- segment: l = |sum_j c_j x_j + constant|
// t: unit vector from a to b (0 where they coincide); returns the distance.
static double segment_vector(const pl_functional *h, const pl_piece *piece, const double *x, double t[3])
{
    memcpy(t, piece->constant, 3 * sizeof *t);
    for (int j = 0; j < piece->node_count; ++j) {
        for (int i = 0; i < 3; ++i) {
            t[i] += h->data[piece->data_start + j] * piece_vertex(h, piece, j, x)[i];
        }
    }

    const double length = pl_norm3(t);
    for (int i = 0; i < 3; ++i) {
        t[i] /= length > 0 ? length : 1;
    }

    return length;
}

double pl_segment_value(const pl_functional *h, const pl_piece *piece, const double *x)
{
    double t[3];
    return segment_vector(h, piece, x, t);
}

void pl_segment_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                         double *g)
{
    double t[3];
    segment_vector(h, piece, x, t);
    for (int j = 0; j < piece->node_count; ++j) {
        for (int i = 0; i < 3; ++i) {
            piece_slot(h, piece, j, g)[i] += scale * h->data[piece->data_start + j] * t[i];
        }
    }
}

// d2l = c_j c_k (I - t t^T) / l
void pl_segment_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                        double *H)
{
    double t[3];
    const double length = segment_vector(h, piece, x, t);
    const int n = piece->node_count;

    if (length <= 0) {
        return;
    }

    for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) {
            const double s = scale * h->data[piece->data_start + j] * h->data[piece->data_start + k] / length;

            for (int p = 0; p < 3; ++p) {
                for (int q = 0; q < 3; ++q) {
                    H[(int64_t)(3 * j + p) * 3 * n + 3 * k + q] += s * ((p == q) - t[p] * t[q]);
                }
            }
        }
    }
}

// ---- area: A = sum_q w |n|, n = t1 x t2, t1 = x_xi, t2 = x_eta
typedef struct area_point {
    double dN[2 * PL_FACE_NODES_MAX], t1[3], t2[3], unit[3], area, weight;
} area_point;

// All quadrature points of a face; returns their number.
static int area_points(const pl_functional *h, const pl_piece *piece, const double *x, area_point *point)
{
    double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
    int count;

    pl_face_quadrature(piece->node_count, &count, xi, weight);
    for (int q = 0; q < count; ++q) {
        area_point *p = &point[q];
        *p = (area_point){.weight = weight[q]};
        pl_face_shape_eval(piece->node_count, xi[q], NULL, p->dN);

        for (int j = 0; j < piece->node_count; ++j) {
            for (int i = 0; i < 3; ++i) {
                p->t1[i] += p->dN[2 * j] * piece_vertex(h, piece, j, x)[i];
                p->t2[i] += p->dN[2 * j + 1] * piece_vertex(h, piece, j, x)[i];
            }
        }

        pl_cross3(p->t1, p->t2, p->unit);
        p->area = pl_norm3(p->unit);
        for (int i = 0; i < 3; ++i) {
            p->unit[i] /= p->area > 0 ? p->area : 1;
        }
    }

    return count;
}

double pl_area_value(const pl_functional *h, const pl_piece *piece, const double *x)
{
    area_point point[PL_FACE_POINTS_MAX];
    double sum = 0;
    for (int q = 0, count = area_points(h, piece, x, point); q < count; ++q) {
        sum += point[q].weight * point[q].area;
    }
    return sum;
}

// d|n| = unit . (dt1 x t2 + t1 x dt2) = dt1 . (t2 x unit) + dt2 . (unit x t1)
void pl_area_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *g)
{
    area_point point[PL_FACE_POINTS_MAX];
    for (int q = 0, count = area_points(h, piece, x, point); q < count; ++q) {
        const area_point *p = &point[q];
        double g1[3], g2[3];
        pl_cross3(p->t2, p->unit, g1);
        pl_cross3(p->unit, p->t1, g2);

        for (int j = 0; j < piece->node_count; ++j) {
            for (int i = 0; i < 3; ++i) {
                piece_slot(h, piece, j, g)[i] +=
                    scale * p->weight * (p->dN[2 * j] * g1[i] + p->dN[2 * j + 1] * g2[i]);
            }
        }
    }
}

// d2|n| = (dn . dn - (unit . dn)^2) / |n| + unit . d2n, with dn = M du, du the motion of one node along an
// axis: column (j, i) of dn is e_i x (dN1_j t2 - dN2_j t1), and unit . d2n couples (dN1_j dN2_k - dN2_j
// dN1_k) unit . (e_i x e_l).
void pl_area_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *H)
{
    area_point point[PL_FACE_POINTS_MAX];
    const int n = piece->node_count;

    for (int q = 0, count = area_points(h, piece, x, point); q < count; ++q) {
        const area_point *p = &point[q];
        double dn[3 * PL_FACE_NODES_MAX][3];

        // dn of every motion of a node along an axis
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < 3; ++i) {
                const double e[3] = {i == 0, i == 1, i == 2};
                double arm[3];
                for (int k = 0; k < 3; ++k) {
                    arm[k] = p->dN[2 * j] * p->t2[k] - p->dN[2 * j + 1] * p->t1[k];
                }
                pl_cross3(e, arm, dn[3 * j + i]);
            }
        }

        // (dn . dn - (unit . dn)^2) / |n|
        for (int r = 0; r < 3 * n; ++r) {
            for (int c = 0; c < 3 * n; ++c) {
                const double along = pl_dot3(p->unit, dn[r]) * pl_dot3(p->unit, dn[c]);
                H[(int64_t)r * 3 * n + c] += scale * p->weight * (pl_dot3(dn[r], dn[c]) - along) / p->area;
            }
        }

        // unit . d2n
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < n; ++k) {
                const double s = p->dN[2 * j] * p->dN[2 * k + 1] - p->dN[2 * j + 1] * p->dN[2 * k];
                // e_i^T [-[unit]x] e_l = unit . (e_i x e_l)
                hessian_add_cross(H, n, j, k, p->unit, -scale * p->weight * s);
            }
        }
    }
}

// ---- angle: atan2(s, c) with s = sum a_j . x_j, c = sum b_j . x_j
static void angle_parts(const pl_functional *h, const pl_piece *piece, const double *x, double *s, double *c)
{
    *s = *c = 0;
    for (int j = 0; j < piece->node_count; ++j) {
        const double *a = h->data + piece->data_start + 6 * j;
        *s += pl_dot3(a, piece_vertex(h, piece, j, x));
        *c += pl_dot3(a + 3, piece_vertex(h, piece, j, x));
    }
}

double pl_angle_value(const pl_functional *h, const pl_piece *piece, const double *x)
{
    double s, c;
    angle_parts(h, piece, x, &s, &c);
    // atan2 knows the angle up to whole turns: the one nearest to `near`
    const double angle = atan2(s, c);
    return angle + 2 * PL_PI * round((h->near - angle) / (2 * PL_PI));
}

// d atan2(s, c) = (c ds - s dc) / (s^2 + c^2)
void pl_angle_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                       double *g)
{
    double s, c;
    angle_parts(h, piece, x, &s, &c);
    const double r2 = s * s + c * c;

    for (int j = 0; j < piece->node_count; ++j) {
        const double *a = h->data + piece->data_start + 6 * j, *b = a + 3;
        for (int i = 0; i < 3; ++i) {
            piece_slot(h, piece, j, g)[i] += scale * (c * a[i] - s * b[i]) / r2;
        }
    }
}

// second derivatives by s and c: ss -2sc/r^4, cc 2sc/r^4, sc (s^2 - c^2)/r^4
void pl_angle_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *H)
{
    double s, c;
    angle_parts(h, piece, x, &s, &c);
    const double r4 = (s * s + c * c) * (s * s + c * c), ss = -2 * s * c / r4, sc = (s * s - c * c) / r4;
    const int n = piece->node_count;
    const double *data = h->data + piece->data_start;

    for (int j = 0; j < 3 * n; ++j) {
        const double aj = data[6 * (j / 3) + j % 3], bj = data[6 * (j / 3) + 3 + j % 3];
        for (int k = 0; k < 3 * n; ++k) {
            const double ak = data[6 * (k / 3) + k % 3], bk = data[6 * (k / 3) + 3 + k % 3];
            H[(int64_t)j * 3 * n + k] += scale * (ss * (aj * ak - bj * bk) + sc * (aj * bk + bj * ak));
        }
    }
}
