// Actuation elements: drawn to their own shape, grown by a ratio r. A point of one has the energy
//   e = w |F - R G(r)|^2 = w (|F|^2 + |G|^2 - 2 R : F G),   R the rotation of F G = R S,
// with G = cbrt(r) I (chamber), sqrt(r) (I - n n^T) + n n^T / r (film) or diag(r, 1, 0) (triangle of a cable,
// which runs along its first axis; F has no third column). R turns with
//   DR[dA] = R [v]x,   (tr(S) I - S) v = axial(R^T dA - dA^T R),
// so that, with G', G'' by r and B = F G',
//   e_F  = 2 w (F - R G)                        e_FF[dF] = 2 w (dF - DR[dF G] G)
//   e_r  = 2 w (G : G' - R : B)                 e_Fr     = -2 w (R G' + DR[B] G)
//   e_rr = 2 w (G' : G' + G : G'' - R : F G'' - B : DR[B])
//
// Ratios are the same for all points, or those of least energy with sum u r = target. The latter makes
//   e_r = pull u,   dr = (u dpull - e_Fr : dF) / e_rr
// at every point: each loses e_Fr (x) e_Fr / e_rr of its tangent, and all share one row, d(sum u r)/dx.
#include "base/threads.h"
#include "actuator/actuator_impl.h"

// layout of a point's data: weight, share, ratio, normal (3), constant part of F (9), e_r, e_rr, gradients
enum { AT_WEIGHT, AT_SHARE, AT_RATIO, AT_NORMAL, AT_FIXED = 6, AT_BY_R = 15, AT_BY_RR, AT_GRADIENT };

#define MEET_ROUNDS 60 // of Newton's method for all ratios

// One quadrature point at x and its ratio r.
typedef struct grown_point {
    double w, u, r;              // weight, share, ratio
    double F[9], R[9], T[9];     // T = R G
    double energy, by_r, by_rr;  // e, e_r, e_rr
    double G[9], by_Fr[9], Y[9]; // Y = (tr(S) I - S)^-1
} grown_point;

// Numbers per quadrature point.
static int32_t grown_size(int32_t nodes)
{
    return AT_GRADIENT + 3 * nodes;
}

static double *grown_data(const pl_functional *h, const pl_piece *piece, int q)
{
    return h->data + piece->data_start + (int64_t)q * grown_size(piece->node_count);
}

// A : B
static double mat_dot(const double A[9], const double B[9])
{
    return pl_dot3(A, B) + pl_dot3(A + 3, B + 3) + pl_dot3(A + 6, B + 6);
}

// G, G' and G'' at r.
static void grown_shape(pl_grown_kind kind, const double n[3], double r, double G[9], double dG[9],
                        double ddG[9])
{
    if (kind == PL_GROWN_TRIANGLE) {
        memset(G, 0, 9 * sizeof *G);
        memset(dG, 0, 9 * sizeof *dG);
        memset(ddG, 0, 9 * sizeof *ddG);
        G[0] = r;
        G[4] = dG[0] = 1;
        return;
    }

    // in the plane and across; a scaled element has no normal
    const bool film = kind == PL_GROWN_FILM;
    const double s = film ? sqrt(r) : cbrt(r), power = film ? 0.5 : 1.0 / 3;
    const double own[3] = {s, power * s / r, power * (power - 1) * s / (r * r)};
    const double across[3] = {1 / r, -1 / (r * r), 2 / (r * r * r)};
    double *const out[3] = {G, dG, ddG};

    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 9; ++i) {
            const double nn = film ? n[i / 3] * n[i % 3] : 0;
            out[k][i] = own[k] * ((i % 4 == 0) - nn) + across[k] * nn;
        }
    }
}

// The rotation of A; the missing direction of a triangle is that across it.
static void grown_rotation(pl_grown_kind kind, const double A[9], double R[9])
{
    double M[9];
    memcpy(M, A, sizeof M);
    if (kind == PL_GROWN_TRIANGLE) {
        const double a[3] = {A[0], A[3], A[6]}, b[3] = {A[1], A[4], A[7]};
        double n[3];
        pl_cross3(a, b, n);
        const double length = pl_norm3(n);
        for (int i = 0; i < 3; ++i) {
            M[3 * i + 2] = length > 0 ? n[i] / length : 0;
        }
    }

    pl_polar3(M, R);
}

// out = DR[dA]
static void grown_spin(const grown_point *p, const double dA[9], double out[9])
{
    double M[9], v[3];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            M[3 * i + j] = p->R[i] * dA[j] + p->R[3 + i] * dA[3 + j] + p->R[6 + i] * dA[6 + j];
        }
    }

    const double axial[3] = {M[7] - M[5], M[2] - M[6], M[3] - M[1]};
    pl_mulv3(p->Y, axial, v);
    const double skew[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
    pl_mul33(p->R, skew, out);
}

// Y = (tr(S) I - S)^-1 with S = R^T A, by cofactors.
static void grown_inverse_spin(const double R[9], const double A[9], double Y[9])
{
    double S[9], M[9], C[9];

    // S = R^T A
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            S[3 * i + j] = R[i] * A[j] + R[3 + i] * A[3 + j] + R[6 + i] * A[6 + j];
        }
    }

    const double trace = S[0] + S[4] + S[8];
    for (int i = 0; i < 9; ++i) {
        M[i] = (i % 4 == 0 ? trace : 0) - S[i];
    }

    // inverse: cof^T / det
    pl_cofactor3(M, C);
    const double det = pl_dot3(M, C);
    for (int i = 0; i < 9; ++i) {
        Y[i] = C[3 * (i % 3) + i / 3] / det;
    }
}

// F = sum x_a grad N_a^T + the constant part.
static void grown_gradient_at(const pl_functional *h, const pl_piece *piece, const double *data,
                              const double *x, double F[9])
{
    memcpy(F, data + AT_FIXED, 9 * sizeof *F);
    for (int a = 0; a < piece->node_count; ++a) {
        const double *g = data + AT_GRADIENT + 3 * a, *v = piece_vertex(h, piece, a, x);
        for (int i = 0; i < 9; ++i) {
            F[i] += v[i / 3] * g[i % 3];
        }
    }
}

// Everything at one point for its ratio r.
static void grown_at(const pl_functional *h, const pl_piece *piece, const double *data, const double *x,
                     double r, grown_point *p)
{
    double dG[9], ddG[9], A[9], B[9], C[9], DB[9], turned[9];
    *p = (grown_point){.w = data[AT_WEIGHT], .u = data[AT_SHARE], .r = r};
    grown_gradient_at(h, piece, data, x, p->F);
    grown_shape(piece->grown, data + AT_NORMAL, r, p->G, dG, ddG);

    // A = F G, B = F G', C = F G''
    pl_mul33(p->F, p->G, A);
    pl_mul33(p->F, dG, B);
    pl_mul33(p->F, ddG, C);

    // rotation and its derivative along B
    grown_rotation(piece->grown, A, p->R);
    grown_inverse_spin(p->R, A, p->Y);
    grown_spin(p, B, DB);

    // e_Fr = -2 w (R G' + DR[B] G)
    pl_mul33(p->R, p->G, p->T);
    pl_mul33(DB, p->G, turned);
    pl_mul33(p->R, dG, p->by_Fr);
    for (int i = 0; i < 9; ++i) {
        p->by_Fr[i] = -2 * p->w * (p->by_Fr[i] + turned[i]);
    }

    // energy and its derivatives by r
    p->energy = p->w * (mat_dot(p->F, p->F) + mat_dot(p->G, p->G) - 2 * mat_dot(p->R, A));
    p->by_r = 2 * p->w * (mat_dot(p->G, dG) - mat_dot(p->R, B));
    p->by_rr = 2 * p->w * (mat_dot(dG, dG) + mat_dot(p->G, ddG) - mat_dot(p->R, C) - mat_dot(B, DB));
}

// At the ratio stored with the point.
static void grown_point_now(const pl_functional *h, const pl_piece *piece, int q, const double *x,
                            grown_point *p)
{
    const double *data = grown_data(h, piece, q);
    grown_at(h, piece, data, x, data[AT_RATIO], p);
}

// g += scale sum_a P . grad N_a
static void grown_spread(const pl_functional *h, const pl_piece *piece, const double *data, const double P[9],
                         double scale, double *g)
{
    for (int a = 0; a < piece->node_count; ++a) {
        const double *grad = data + AT_GRADIENT + 3 * a;
        for (int i = 0; i < 3; ++i) {
            piece_slot(h, piece, a, g)[i] += scale * pl_dot3(P + 3 * i, grad);
        }
    }
}

double pl_grown_value(const pl_functional *h, const pl_piece *piece, const double *x)
{
    double sum = 0;
    for (int q = 0; q < piece->point_count; ++q) {
        grown_point p;
        grown_point_now(h, piece, q, x, &p);
        sum += p.energy;
    }

    return sum;
}

// P = e_F = 2 w (F - R G), spread to the nodes.
void pl_grown_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                       double *g)
{
    for (int q = 0; q < piece->point_count; ++q) {
        grown_point p;
        double P[9];
        grown_point_now(h, piece, q, x, &p);
        for (int i = 0; i < 9; ++i) {
            P[i] = 2 * p.w * (p.F[i] - p.T[i]);
        }
        grown_spread(h, piece, grown_data(h, piece, q), P, scale, g);
    }
}

// A[i][j] = d2/dF_i dF_j; with `positive` only 2 w I, which is above it.
static void grown_tangent(const pl_functional *h, const grown_point *p, double A[81])
{
    memset(A, 0, 81 * sizeof *A);
    for (int j = 0; j < 9; ++j) {
        A[9 * j + j] = 2 * p->w;
        if (h->positive) {
            continue;
        }
        double dF[9] = {0}, dA[9], D[9], DG[9];
        dF[j] = 1;
        pl_mul33(dF, p->G, dA);
        grown_spin(p, dA, D);
        pl_mul33(D, p->G, DG);
        for (int i = 0; i < 9; ++i) {
            A[9 * i + j] -= 2 * p->w * DG[i] + (h->joint ? p->by_Fr[i] * p->by_Fr[j] / p->by_rr : 0);
        }
    }
}

// H = sum over points of grad^T A grad.
void pl_grown_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *H)
{
    const int n = piece->node_count;
    for (int q = 0; q < piece->point_count; ++q) {
        const double *grad = grown_data(h, piece, q) + AT_GRADIENT;
        grown_point p;
        double A[81];
        grown_point_now(h, piece, q, x, &p);
        grown_tangent(h, &p, A);

        for (int r = 0; r < 3 * n; ++r) {
            // row of A for the motion of one node along one axis
            double row[9] = {0};
            for (int k = 0; k < 9; ++k) {
                for (int j = 0; j < 3; ++j) {
                    row[k] += scale * grad[3 * (r / 3) + j] * A[9 * (3 * (r % 3) + j) + k];
                }
            }

            for (int c = 0; c < 3 * n; ++c) {
                H[(int64_t)r * 3 * n + c] += pl_dot3(row + 3 * (c % 3), grad + 3 * (c / 3));
            }
        }
    }
}

pl_status pl_functional_add_grown(pl_functional *h, pl_grown_kind kind, int32_t nodes, const int32_t *node,
                                  int points, const double *weight, const double *share, const double *normal,
                                  const double *fixed, const double *gradient)
{
    const int32_t size = grown_size(nodes);
    pl_piece *piece = pl_functional_new_piece(h, PL_PIECE_GROWN, nodes, points * size);

    if (!piece) {
        return PL_NO_MEMORY;
    }
    piece->grown = kind;
    piece->point_count = points;
    memcpy(h->node + piece->node_start, node, (size_t)nodes * sizeof *node);

    // numbers of the points; every ratio starts at 1
    for (int q = 0; q < points; ++q) {
        double *data = h->data + piece->data_start + (int64_t)q * size;
        memset(data, 0, (size_t)size * sizeof *data);
        data[AT_WEIGHT] = weight[q];
        data[AT_SHARE] = share[q];
        data[AT_RATIO] = 1;
        if (normal) {
            memcpy(data + AT_NORMAL, normal + 3 * q, 3 * sizeof *data);
        }
        if (fixed) {
            memcpy(data + AT_FIXED, fixed + 9 * q, 9 * sizeof *data);
        }
        memcpy(data + AT_GRADIENT, gradient + (int64_t)3 * nodes * q, 3 * (size_t)nodes * sizeof *data);
    }

    return PL_OK;
}

double pl_grown_whole(const pl_functional *h)
{
    double sum = 0;
    for (int t = 0; t < h->piece_count; ++t) {
        for (int q = 0; q < h->piece[t].point_count; ++q) {
            sum += grown_data(h, &h->piece[t], q)[AT_SHARE];
        }
    }

    return sum;
}

void pl_grown_set(pl_functional *h, double ratio)
{
    for (int t = 0; t < h->piece_count; ++t) {
        for (int q = 0; q < h->piece[t].point_count; ++q) {
            grown_data(h, &h->piece[t], q)[AT_RATIO] = ratio;
        }
    }
}

// e_r and e_rr of a piece's points at their ratios, left in its data. Beyond the largest ratio with e_rr > 0
// no energy holds a point: it steps back.
static void meet_rates(pl_functional *h, const pl_piece *piece, const double *x)
{
    for (int q = 0; q < piece->point_count; ++q) {
        double *data = grown_data(h, piece, q), *r = &data[AT_RATIO];
        grown_point p;
        grown_at(h, piece, data, x, *r, &p);
        // a small positive bound on e_rr in units of w / r^2
        for (; p.by_rr <= 0.02 * p.w / (p.r * p.r) && *r > 1e-3; *r *= 0.8) {
            grown_at(h, piece, data, x, 0.8 * *r, &p);
        }
        data[AT_BY_R] = p.by_r;
        data[AT_BY_RR] = p.by_rr;
    }
}

// Context of the parallel loop.
typedef struct meet_loop {
    pl_functional *h;
    const double *x;
} meet_loop;

static void meet_all_rates(void *context, int64_t from, int64_t to)
{
    const meet_loop *w = context;
    for (int64_t t = from; t < to; ++t) {
        meet_rates(w->h, &w->h->piece[t], w->x);
    }
}

// One round of Newton's method for all ratios and the pull together: e_r + e_rr dr = pull u and
// sum u (r + dr) = target give the pull, then every dr. Returns the largest relative change.
static double meet_round(pl_functional *h, const double *x, double target)
{
    // derivatives at all points, in parallel
    meet_loop w = {.h = h, .x = x};
    pl_loop(h->piece_count, 16, meet_all_rates, &w);

    // first pass: the pull; second pass: the ratios, changed by at most 30 %
    double need = target, slope = 0, largest = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int t = 0; t < h->piece_count; ++t) {
            for (int q = 0; q < h->piece[t].point_count; ++q) {
                double *data = grown_data(h, &h->piece[t], q), *r = &data[AT_RATIO];
                const double u = data[AT_SHARE], by_r = data[AT_BY_R], by_rr = data[AT_BY_RR];

                if (pass == 0) {
                    need += u * (by_r / by_rr - *r);
                    slope += u * u / by_rr;
                    continue;
                }

                const double change = (h->pull * u - by_r) / by_rr;
                largest = fmax(largest, fabs(change) / *r);
                *r += fmax(-0.3 * *r, fmin(0.3 * *r, change));
            }
        }

        h->pull = pass == 0 ? need / slope : h->pull;
    }

    return largest;
}

bool pl_grown_meet(pl_functional *h, const double *x, double target)
{
    double last = INFINITY;
    for (int round = 0; round < MEET_ROUNDS; ++round) {
        const double change = meet_round(h, x, target);
        // done, or as far as rounding lets it come
        if (change <= 1e-13 || (change <= 1e-9 && change > 0.5 * last)) {
            return true;
        }
        if (!isfinite(change)) {
            break;
        }
        last = change;
    }

    // the next try starts afresh
    h->pull = 0;
    pl_grown_set(h, 1);
    return false;
}

// dr = -e_Fr : dF / e_rr at fixed pull, and u^2 / e_rr by the pull.
double pl_grown_row(const pl_functional *h, const double *x, double scale, double *g)
{
    double by_pull = 0;
    for (int t = 0; t < h->piece_count; ++t) {
        const pl_piece *piece = &h->piece[t];

        for (int q = 0; q < piece->point_count; ++q) {
            grown_point p;
            grown_point_now(h, piece, q, x, &p);
            by_pull += p.u * p.u / p.by_rr;
            grown_spread(h, piece, grown_data(h, piece, q), p.by_Fr, -scale * p.u / p.by_rr, g);
        }
    }

    return by_pull;
}

void pl_grown_rate(const pl_functional *h, const double *x, double rate[2], double scale, double *g)
{
    rate[0] = rate[1] = 0;
    for (int t = 0; t < h->piece_count; ++t) {
        const pl_piece *piece = &h->piece[t];

        for (int q = 0; q < piece->point_count; ++q) {
            grown_point p;
            grown_point_now(h, piece, q, x, &p);
            rate[0] += p.by_r;
            rate[1] += p.by_rr;
            if (g) {
                grown_spread(h, piece, grown_data(h, piece, q), p.by_Fr, scale, g);
            }
        }
    }
}

// For a triangle with corners (0, 0), (length, 0), (x, y).
double pl_triangle_gradient(const double p[3][3], double gradient[3][2], double *area)
{
    double e[3], q[3];
    pl_sub3(p[1], p[0], e);
    pl_sub3(p[2], p[0], q);
    const double length = pl_norm3(e), x = pl_dot3(q, e) / length, y = sqrt(pl_dot3(q, q) - x * x);
    *area = 0.5 * length * y;
    gradient[1][0] = 1 / length;
    gradient[1][1] = -x / (length * y);
    gradient[2][0] = 0;
    gradient[2][1] = 1 / y;
    for (int j = 0; j < 2; ++j) {
        gradient[0][j] = -gradient[1][j] - gradient[2][j];
    }

    return length;
}
