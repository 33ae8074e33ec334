// The volume enclosed by a cavity, integrated exactly on its curved faces and caps.
//
// A face contributes -1/3 int x . (x_xi x x_eta): trilinear in its nodes and alternating, so
//   V_face = -sum_{a<b<c} tau_abc det(x_a, x_b, x_c)
// with constants tau of the face kind. (Minus: faces look out of the body, into the cavity.)
#include "actuator/actuator_volume.h"
#include "base/isa.h"

// The row of weights of nodes b < c.
static double *volume_pair(volume_table *table, int b, int c)
{
    for (int p = 0; p < table->pair_count; ++p) {
        if (table->pair[p][0] == b && table->pair[p][1] == c) {
            return table->weight[p];
        }
    }

    table->pair[table->pair_count][0] = b;
    table->pair[table->pair_count][1] = c;
    return table->weight[table->pair_count++];
}

// det(x, x_xi, x_eta)/3 = 1/3 sum_abc N_a dN_b/dxi dN_c/deta det(x_a, x_b, x_c): gather the six orders of a
// triple.
// Exact: the quadrature integrates the polynomial of a face without error.
static void volume_table_make(int nodes, volume_table *table)
{
    double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
    int points;

    pl_face_quadrature(nodes, &points, xi, weight);
    *table = (volume_table){0};
    for (int a = 0; a < nodes; ++a) {
        for (int b = a + 1; b < nodes; ++b) {
            for (int c = b + 1; c < nodes; ++c) {
                // tau_abc: the integral of the 3 x 3 determinant of N, N_xi, N_eta of the three nodes
                double tau = 0;
                for (int q = 0; q < points; ++q) {
                    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX];
                    pl_face_shape_eval(nodes, xi[q], N, dN);
                    const double *u = dN; // (xi, eta) per node
                    const double M[9] = {N[a],         u[2 * a], u[2 * a + 1], N[b],        u[2 * b],
                                         u[2 * b + 1], N[c],     u[2 * c],     u[2 * c + 1]};
                    tau += weight[q] / 3 * pl_det3(M);
                }

                // most triples of a quadratic face vanish by symmetry
                if (fabs(tau) > 1e-14) {
                    table->triple[table->count][0] = a;
                    table->triple[table->count][1] = b;
                    table->triple[table->count][2] = c;
                    table->tau[table->count++] = tau;
                    // det(a, b, c) = a . b x c = -b . a x c = c . a x b
                    volume_pair(table, b, c)[a] -= tau;
                    volume_pair(table, a, c)[b] += tau;
                    volume_pair(table, a, b)[c] -= tau;
                }
            }
        }
    }
}

// Tables for 3, 6, 4, 8 nodes, one set per thread.
static const volume_table *volume_table_of(int nodes)
{
    static _Thread_local volume_table table[4];
    static _Thread_local bool ready[4];
    const int k = nodes == 3 ? 0 : nodes == 6 ? 1 : nodes == 4 ? 2 : 3;
    if (!ready[k]) {
        volume_table_make(nodes, &table[k]);
        ready[k] = true;
    }

    return &table[k];
}

extern const volume_kernel volume_kernel_generic;
#ifdef PL_KERNELS_X86
extern const volume_kernel volume_kernel_avx2, volume_kernel_avx512;
#endif

// The kernel of the best instruction set of this processor.
static const volume_kernel *volume_kernel_choose(void)
{
#ifdef PL_KERNELS_X86
    switch (pl_isa_best()) {
    case PL_ISA_AVX512:
        return &volume_kernel_avx512;
    case PL_ISA_AVX2:
        return &volume_kernel_avx2;
    case PL_ISA_GENERIC:
        break;
    }
#endif
    return &volume_kernel_generic;
}

int pl_volume_run(const pl_functional *h, int t)
{
    int end = t + 1;
    while (end < h->piece_count && h->piece[end].kind == PL_PIECE_VOLUME &&
           h->piece[end].node_count == h->piece[t].node_count) {
        ++end;
    }

    return end - t;
}

// Eight faces at a time; lanes that are missing repeat the first face and are not counted.
double pl_volume_faces(const pl_functional *h, int t, int count, const double *x, double scale, double *g)
{
    const volume_kernel *kernel = volume_kernel_choose();
    const int nodes = h->piece[t].node_count;
    const volume_table *table = volume_table_of(nodes);
    double V = 0;

    for (int from = t; from < t + count; from += VOLUME_LANES) {
        const int lanes = t + count - from < VOLUME_LANES ? t + count - from : VOLUME_LANES;
        const int32_t *node[VOLUME_LANES];
        for (int l = 0; l < VOLUME_LANES; ++l) { // those that are missing repeat the first
            node[l] = h->node + h->piece[l < lanes ? from + l : from].node_start;
        }

        V += kernel->faces(table, nodes, node, lanes, x, scale, g);
    }

    return V;
}

// d2 det(a, b, c) / da db: a . (b x c) = b . (c x a), so d/da = b x c and d2/da db = -[c]x
void pl_volume_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale,
                       double *H)
{
    const volume_table *table = volume_table_of(piece->node_count);
    for (int t = 0; t < table->count; ++t) {
        const int *i = table->triple[t];
        const double s = -scale * table->tau[t];

        for (int k = 0; k < 3; ++k) {
            const int a = i[k], b = i[(k + 1) % 3], c = i[(k + 2) % 3];
            const double *vc = piece_vertex(h, piece, c, x);
            hessian_add_cross(H, piece->node_count, a, b, vc, -s);
            hessian_add_cross(H, piece->node_count, b, a, vc, s);
        }
    }
}

// ---- caps. A fan from apex c over the curve r contributes -1/6 (c - o) . A with A = contour integral of
// (r - o) x dr, exact for quadratic edges: a, m, b give 4/3 a x m + 4/3 m x b - 1/3 a x b. Along each axis
// the apex is fixed or the mean of the curve. The curve is closed, or the part of a rim between two planes
// that contain o, in which what the fan leaves open lies.
// A term of the contour integral.
typedef struct rim_pair {
    int i, j;
    double s; // A += s r_i x r_j
} rim_pair;

// Terms of one edge of the curve; returns their number.
static int rim_pairs(const pl_piece *piece, int edge, rim_pair pair[3])
{
    const int n = piece->node_count;
    if (!piece->quadratic) {
        pair[0] = (rim_pair){edge, (edge + 1) % n, 1};
        return 1;
    }

    const int a = 2 * edge, m = a + 1, b = (a + 2) % n;
    pair[0] = (rim_pair){a, m, 4.0 / 3};
    pair[1] = (rim_pair){m, b, 4.0 / 3};
    pair[2] = (rim_pair){a, b, -1.0 / 3};

    return 3;
}

// Edges of the curve; an open chain has one less than vertices.
static int rim_edges(const pl_piece *piece)
{
    const int steps = piece->node_count - (piece->open ? 1 : 0);
    return piece->quadratic ? steps / 2 : steps;
}

// The weight of a vertex in the mean of the curve: an end of an open one is shared with its mirror image.
static double rim_weight(const pl_piece *piece, int j)
{
    const int n = piece->node_count;
    return piece->open ? (j == 0 || j == n - 1 ? 0.5 : 1.0) / (n - 1) : 1.0 / n;
}

static void rim_at(const pl_functional *h, const pl_piece *piece, int j, const double *x, double r[3])
{
    pl_sub3(piece_vertex(h, piece, j, x), piece->origin, r);
}

// c - o
static void rim_apex(const pl_functional *h, const pl_piece *piece, const double *x, double c[3])
{
    double mean[3] = {0};
    for (int j = 0; j < piece->node_count; ++j) {
        for (int i = 0; i < 3; ++i) {
            mean[i] += rim_weight(piece, j) * piece_vertex(h, piece, j, x)[i];
        }
    }

    for (int i = 0; i < 3; ++i) {
        c[i] = (piece->follows[i] ? mean[i] : piece->constant[i]) - piece->origin[i];
    }
}

// A, the contour integral of (r - o) x dr: twice the vector area.
static void rim_area(const pl_functional *h, const pl_piece *piece, const double *x, double A[3])
{
    A[0] = A[1] = A[2] = 0;
    for (int e = 0; e < rim_edges(piece); ++e) {
        rim_pair pair[3];

        for (int k = 0, count = rim_pairs(piece, e, pair); k < count; ++k) {
            double p[3], q[3], n[3];
            rim_at(h, piece, pair[k].i, x, p);
            rim_at(h, piece, pair[k].j, x, q);
            pl_cross3(p, q, n);
            for (int i = 0; i < 3; ++i) {
                A[i] += pair[k].s * n[i];
            }
        }
    }
}

double pl_rim_value(const pl_functional *h, const pl_piece *piece, const double *x)
{
    double c[3], A[3];
    rim_apex(h, piece, x, c);
    rim_area(h, piece, x, A);
    return -pl_dot3(c, A) / 6;
}

// dV = -1/6 (dc . A + c . dA).
void pl_rim_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *g)
{
    double c[3], A[3];
    rim_apex(h, piece, x, c);
    rim_area(h, piece, x, A);

    // by the apex, where it follows the curve
    for (int j = 0; j < piece->node_count; ++j) {
        for (int i = 0; i < 3; ++i) {
            piece_slot(h, piece, j, g)[i] -= piece->follows[i] ? scale / 6 * A[i] * rim_weight(piece, j) : 0;
        }
    }

    // c . (p x q): d/dp = q x c, d/dq = c x p
    for (int e = 0; e < rim_edges(piece); ++e) {
        rim_pair pair[3];
        for (int k = 0, count = rim_pairs(piece, e, pair); k < count; ++k) {
            double p[3], q[3], dp[3], dq[3];
            rim_at(h, piece, pair[k].i, x, p);
            rim_at(h, piece, pair[k].j, x, q);
            pl_cross3(q, c, dp);
            pl_cross3(c, p, dq);
            for (int i = 0; i < 3; ++i) {
                piece_slot(h, piece, pair[k].i, g)[i] -= scale / 6 * pair[k].s * dp[i];
                piece_slot(h, piece, pair[k].j, g)[i] -= scale / 6 * pair[k].s * dq[i];
            }
        }
    }
}

// H_ja += s E [v]x and H_aj -= s [v]x E, where E keeps the axes along which the apex follows vertex j.
static void rim_add_apex(double *H, const pl_piece *piece, int j, int a, const double v[3], double s)
{
    const int64_t w = 3 * (int64_t)piece->node_count;
    const double cross[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};

    for (int i = 0; i < 3; ++i) {
        for (int k = 0; piece->follows[i] && k < 3; ++k) {
            H[(3 * j + i) * w + 3 * a + k] += s * cross[3 * i + k];
            H[(3 * a + k) * w + 3 * j + i] += s * cross[3 * i + k];
        }
    }
}

void pl_rim_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *H)
{
    const int n = piece->node_count;
    double c[3];

    rim_apex(h, piece, x, c);
    for (int e = 0; e < rim_edges(piece); ++e) {
        rim_pair pair[3];

        for (int k = 0, count = rim_pairs(piece, e, pair); k < count; ++k) {
            const int p = pair[k].i, q = pair[k].j;
            const double s = -scale / 6 * pair[k].s;
            double rp[3], rq[3];
            rim_at(h, piece, p, x, rp);
            rim_at(h, piece, q, x, rq);
            // d2/dp dq of det(c, p, q) = -[c]x
            hessian_add_cross(H, n, p, q, c, -s);
            hessian_add_cross(H, n, q, p, c, s);
            // d2/dc dp = -[q]x, d2/dc dq = [p]x
            for (int j = 0; j < n; ++j) {
                rim_add_apex(H, piece, j, p, rq, -s * rim_weight(piece, j));
                rim_add_apex(H, piece, j, q, rp, s * rim_weight(piece, j));
            }
        }
    }
}

void pl_functional_press(const pl_functional *h, const double *x, double scale, double *out)
{
    for (int t = 0; t < h->piece_count; ++t) {
        const pl_piece *piece = &h->piece[t];
        if (piece->kind != PL_PIECE_VOLUME) {
            continue;
        }

        // t1, t2 and n at the points of the face
        double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
        int points;
        pl_face_quadrature(piece->node_count, &points, xi, weight);

        for (int q = 0; q < points; ++q) {
            double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX], t1[3] = {0}, t2[3] = {0}, n[3];
            pl_face_shape_eval(piece->node_count, xi[q], N, dN);

            for (int a = 0; a < piece->node_count; ++a) {
                for (int i = 0; i < 3; ++i) {
                    t1[i] += dN[2 * a] * piece_vertex(h, piece, a, x)[i];
                    t2[i] += dN[2 * a + 1] * piece_vertex(h, piece, a, x)[i];
                }
            }

            pl_cross3(t1, t2, n);
            // work of a pressure: N_a n dA
            for (int a = 0; a < piece->node_count; ++a) {
                for (int i = 0; i < 3; ++i) {
                    piece_slot(h, piece, a, out)[i] += scale * weight[q] * N[a] * n[i];
                }
            }
        }
    }
}
