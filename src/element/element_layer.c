// Membrane and bending energy of a layer on one face (layer.h), with gradient, tangent and derivatives with
// respect to thickness and material constants.
//
// Everything is a function of the strains s = (d, K): U(s), so dU/dx = U_s ds/dx and
//   d2U/dx2 = (ds/dx)^T U_ss ds/dx + sum_i U_i d2s_i/dx2.
#include "element/layer.h"

// Penalty of kinks over the bending stiffness per distance of the faces; any positive value is stable. Chosen
// on plates and strips (tests/element/test_layer.c), not on robots.
#define LAYER_PENALTY 0.5

#define LAYER_ALL (PL_LAYER_STRAINS + 3)
#define LAYER_DOFS (3 * PL_LAYER_NODES)

// ---- the angle across an edge
// t along the edge, m1 into the face, m2 into its neighbour. The angle by which the normal turns from the
// face to the neighbour, positive where the neighbour rises towards the normal, has the derivatives
//   d phi/d m1 = g(t, m1),  d phi/d m2 = -g(t, m2),  d phi/dt = -c1 g(t, m1) + c2 g(t, m2),
//   g(t, m) = |t| u / |u|^2,  u = t x m,  c = m . t / |t|^2.
typedef struct kink {
    double t[3], m[2][3];
    double phi;
    double g[2][3], c[2]; // of both sides
} kink;

static double kink_angle(const double t[3], const double m1[3], const double m2[3])
{
    double u[3], v[3], w[3];
    pl_cross3(t, m1, u);
    pl_cross3(m2, t, v);
    pl_cross3(u, v, w);
    return atan2(-pl_dot3(w, t) / pl_norm3(t), pl_dot3(u, v));
}

static void kink_side(const double t[3], const double m[3], double g[3], double *c)
{
    double u[3];
    pl_cross3(t, m, u);
    const double scale = pl_norm3(t) / pl_dot3(u, u);
    for (int i = 0; i < 3; ++i) {
        g[i] = scale * u[i];
    }
    *c = pl_dot3(m, t) / pl_dot3(t, t);
}

static void kink_slopes(kink *k)
{
    for (int side = 0; side < 2; ++side) {
        kink_side(k->t, k->m[side], k->g[side], &k->c[side]);
    }
}

static void combine(const double *c, int nodes, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int a = 0; a < nodes; ++a) {
        for (int i = 0; i < 3; ++i) {
            out[i] += c[a] * x[3 * a + i];
        }
    }
}

static const double *kink_other(const pl_face_table *t, const pl_layer_edge *e, int g)
{
    return t->edge[e->other_edge][e->reversed ? 1 - g : g][1];
}

static void kink_init(const pl_face_table *t, const pl_layer_face *f, int edge, int g, const double *x,
                      kink *k)
{
    const pl_layer_edge *e = &f->edge[edge];
    combine(t->edge[edge][g][0], t->nodes, x, k->t);
    combine(t->edge[edge][g][1], t->nodes, x, k->m[0]);
    if (e->kind == PL_LAYER_HELD) {
        memcpy(k->m[1], e->outward[g], sizeof k->m[1]);
    } else {
        const double *c = kink_other(t, e, g);
        memset(k->m[1], 0, sizeof k->m[1]);
        for (int a = 0; a < t->nodes; ++a) {
            for (int i = 0; i < 3; ++i) {
                k->m[1][i] += c[a] * x[3 * e->other_node[a] + i];
            }
        }
    }
    const double change = kink_angle(k->t, k->m[0], k->m[1]) - e->rest[g];
    k->phi = change > PL_PI ? change - 2 * PL_PI : change < -PL_PI ? change + 2 * PL_PI : change;
}

// out += scale dphi/dx
static void kink_pull(const pl_face_table *t, const pl_layer_face *f, int edge, int g, const kink *k,
                      double scale, double *out)
{
    const pl_layer_edge *e = &f->edge[edge];
    const double *along = t->edge[edge][g][0], *in = t->edge[edge][g][1];
    for (int i = 0; i < 3; ++i) {
        const double by_t = scale * (-k->c[0] * k->g[0][i] + k->c[1] * k->g[1][i]);
        for (int a = 0; a < t->nodes; ++a) {
            out[3 * a + i] += by_t * along[a] + scale * k->g[0][i] * in[a];
        }
        for (int a = 0; e->kind == PL_LAYER_JOINED && a < t->nodes; ++a) {
            out[3 * e->other_node[a] + i] -= scale * k->g[1][i] * kink_other(t, e, g)[a];
        }
    }
}

// dg/dt and dg/dm: du = t x dm - m x dt,  dg = u / |u|^2 t.dt / |t| + |t| / |u|^2 (I - 2 u u^T / |u|^2) du.
static void kink_side_slopes(const double t[3], const double m[3], double by_t[9], double by_m[9])
{
    double u[3], P[9];
    pl_cross3(t, m, u);
    const double l = pl_norm3(t), uu = pl_dot3(u, u);
    const double T[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0};
    const double M[9] = {0, m[2], -m[1], -m[2], 0, m[0], m[1], -m[0], 0}; // -[m]x
    for (int i = 0; i < 9; ++i) {
        P[i] = l / uu * ((i % 4 == 0) - 2 * u[i / 3] * u[i % 3] / uu);
    }
    pl_mul33(P, T, by_m);
    pl_mul33(P, M, by_t);
    for (int i = 0; i < 9; ++i) {
        by_t[i] += u[i / 3] * t[i % 3] / (uu * l);
    }
}

// H += scale d2phi/dx2
static void kink_curve(const pl_face_table *t, const pl_layer_face *f, int edge, int g, const kink *k,
                       double scale, int stride, double *H)
{
    const pl_layer_edge *e = &f->edge[edge];
    const bool joined = e->kind == PL_LAYER_JOINED;
    double gt[2][9], gm[2][9], tt[9] = {0};
    const double tsq = pl_dot3(k->t, k->t), sign[2] = {1, -1};
    for (int s = 0; s < 2; ++s) {
        kink_side_slopes(k->t, k->m[s], gt[s], gm[s]);
        for (int i = 0; i < 9; ++i) {
            const double dc = (k->m[s][i % 3] - 2 * k->c[s] * k->t[i % 3]) / tsq;
            tt[i] -= sign[s] * (k->g[s][i / 3] * dc + k->c[s] * gt[s][i]);
        }
    }
    const double *along = t->edge[edge][g][0], *in = t->edge[edge][g][1];
    const double *other = joined ? kink_other(t, e, g) : NULL;
    for (int a = 0; a < t->nodes; ++a) {
        for (int b = 0; b < t->nodes; ++b) {
            double *own = H + (int64_t)3 * a * stride + 3 * b;
            for (int i = 0; i < 9; ++i) {
                const int tr = 3 * (i % 3) + i / 3;
                own[(i / 3) * stride + i % 3] +=
                    scale * (along[a] * along[b] * tt[i] + in[a] * along[b] * gt[0][i] +
                             along[a] * in[b] * gt[0][tr] + in[a] * in[b] * gm[0][i]);
            }
            if (!joined) {
                continue;
            }
            const int na = e->other_node[a], nb = e->other_node[b];
            double *far = H + (int64_t)3 * na * stride + 3 * nb;
            double *cross = H + (int64_t)3 * na * stride + 3 * b,
                   *back = H + (int64_t)3 * b * stride + 3 * na;
            for (int i = 0; i < 9; ++i) {
                far[(i / 3) * stride + i % 3] -= scale * other[a] * other[b] * gm[1][i];
                const double value = -scale * other[a] * along[b] * gt[1][i];
                cross[(i / 3) * stride + i % 3] += value;
                back[(i % 3) * stride + i / 3] += value;
            }
        }
    }
}

// ---- strains of a face
typedef struct layer_strain {
    double d[PL_LAYER_STRAINS], K[3]; // d - d0; K
    double a[2][3], second[3][3];     // tangents and second derivatives at the centre
    double n[3], length;              // normal, |a1 x a2|
    kink kink[3][2];
} layer_strain;

static bool layer_curves(const pl_layer_law *law)
{
    return law->bending;
}

// b_ab - B_ab + R_ab
static void layer_curvature(const pl_face_table *t, const pl_layer_face *f, const double *x, layer_strain *s)
{
    double u[3];
    combine(t->centre[0], t->nodes, x, s->a[0]);
    combine(t->centre[1], t->nodes, x, s->a[1]);
    pl_cross3(s->a[0], s->a[1], u);
    s->length = pl_norm3(u);
    for (int i = 0; i < 3; ++i) {
        s->n[i] = u[i] / s->length;
    }
    for (int k = 0; k < 3; ++k) {
        combine(t->second[k], t->nodes, x, s->second[k]);
        s->K[k] = pl_dot3(s->n, s->second[k]) - f->rest_curvature[k];
    }
    for (int e = 0; e < 3; ++e) {
        for (int g = 0; f->edge[e].kind != PL_LAYER_FREE && g < 2; ++g) {
            kink_init(t, f, e, g, x, &s->kink[e][g]);
            for (int k = 0; k < 3; ++k) {
                s->K[k] += f->edge[e].lift[g][k] * s->kink[e][g].phi;
            }
        }
    }
}

static void layer_strains(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                          const double *x, layer_strain *s)
{
    pl_face_strains(t, x, s->d);
    for (int k = 0; k < t->strains; ++k) {
        s->d[k] -= f->rest[k];
    }
    memset(s->K, 0, sizeof s->K);
    if (layer_curves(law)) {
        layer_curvature(t, f, x, s);
    }
}

static void mul3(const double A[9], const double v[3], bool transpose, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = transpose ? A[i] * v[0] + A[3 + i] * v[1] + A[6 + i] * v[2]
                           : A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2];
    }
}

// out = scale A^T C A
static void congruent(const double A[9], const double C[9], double scale, double out[9])
{
    double T[9];
    pl_mul33(C, A, T);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out[3 * i + j] = scale * (A[i] * T[j] + A[3 + i] * T[3 + j] + A[6 + i] * T[6 + j]);
        }
    }
}

// p^2
static double layer_ratio(const pl_layer_law *law)
{
    return 1 + 2 * law->prestrain;
}

// The strain of the middle of the layer at a point relative to its own rest, orthonormal components.
static void layer_point(const pl_face_table *t, const pl_layer_law *law, const layer_strain *s,
                        const double M[3 * PL_LAYER_STRAINS], const double frame[9], double e[3])
{
    double E[3];
    for (int i = 0; i < 3; ++i) {
        E[i] = -law->offset * s->K[i];
        for (int k = 0; k < t->strains; ++k) {
            E[i] += M[PL_LAYER_STRAINS * i + k] * s->d[k];
        }
    }
    mul3(frame, E, false, e);
    for (int i = 0; i < 3; ++i) {
        e[i] = layer_ratio(law) * e[i] + (i < 2 ? law->prestrain : 0);
    }
}

static double layer_stiffness(const pl_layer_law *law)
{
    return layer_ratio(law) * law->thickness * law->thickness * law->thickness / 12;
}

static void clip_positive(double C[9])
{
    double value[3], V[9];
    pl_eigen3(C, value, V);
    if (value[0] >= 0) {
        return;
    }
    memset(C, 0, 9 * sizeof *C);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 9; ++i) {
            C[i] += fmax(value[k], 0) * V[3 * (i / 3) + k] * V[3 * (i % 3) + k];
        }
    }
}

// U and its derivatives by (d, K); Uss (LAYER_ALL^2) may be NULL. Penalties of kinks are apart.
static double layer_potential(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                              const layer_strain *s, bool positive, double Us[LAYER_ALL], double *Uss)
{
    double energy = 0;
    memset(Us, 0, LAYER_ALL * sizeof *Us);
    if (Uss) {
        memset(Uss, 0, LAYER_ALL * LAYER_ALL * sizeof *Uss);
    }
    const int n = t->strains, K = PL_LAYER_STRAINS;
    for (int q = 0; q < t->points; ++q) {
        double M[3 * PL_LAYER_STRAINS], e[3], W, S[3], C[9], cov[3];
        pl_face_field(t, t->point[q], M);
        layer_point(t, law, s, M, f->frame[q], e);
        if (!pl_sheet_stress(&law->sheet, e, &W, S, Uss ? C : NULL)) {
            return INFINITY;
        }
        const double scale = f->weight[q] * law->thickness;
        energy += scale / layer_ratio(law) * W;
        mul3(f->frame[q], S, true, cov);
        // E - z0 K by (d, K), three rows
        double B[3][LAYER_ALL] = {{0}};
        for (int i = 0; i < 3; ++i) {
            memcpy(B[i], M + PL_LAYER_STRAINS * i, (size_t)n * sizeof *M);
            B[i][K + i] = -law->offset;
            for (int k = 0; k < LAYER_ALL; ++k) {
                Us[k] += scale * cov[i] * B[i][k];
            }
        }
        if (Uss) {
            double D[9], T[3][LAYER_ALL];
            if (positive) {
                clip_positive(C);
            }
            congruent(f->frame[q], C, scale * layer_ratio(law), D);
            for (int i = 0; i < 3; ++i) {
                for (int k = 0; k < LAYER_ALL; ++k) {
                    T[i][k] = D[3 * i] * B[0][k] + D[3 * i + 1] * B[1][k] + D[3 * i + 2] * B[2][k];
                }
            }
            for (int r = 0; r < LAYER_ALL; ++r) {
                for (int c = 0; c < LAYER_ALL; ++c) {
                    Uss[LAYER_ALL * r + c] += B[0][r] * T[0][c] + B[1][r] * T[1][c] + B[2][r] * T[2][c];
                }
            }
        }
    }
    if (!layer_curves(law)) {
        return energy;
    }
    double D[9];
    congruent(f->centre, law->sheet.moduli, f->area * layer_stiffness(law), D);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            energy += 0.5 * s->K[i] * D[3 * i + j] * s->K[j];
            Us[K + i] += D[3 * i + j] * s->K[j];
            if (Uss) {
                Uss[LAYER_ALL * (K + i) + K + j] += D[3 * i + j];
            }
        }
    }
    return energy;
}

// g += sum_k M_k db_k/dx: b = n . q,  db/dq = n,  db/du = (q - b n) / |u|,  u = a1 x a2.
static void curvature_pull(const pl_face_table *t, const layer_strain *s, const double M[3], double *g)
{
    double q[3] = {0}, by_u[3], by_1[3], by_2[3];
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            q[i] += M[k] * s->second[k][i];
        }
    }
    const double b = pl_dot3(q, s->n);
    for (int i = 0; i < 3; ++i) {
        by_u[i] = (q[i] - b * s->n[i]) / s->length;
    }
    pl_cross3(s->a[1], by_u, by_1);
    pl_cross3(by_u, s->a[0], by_2);
    for (int a = 0; a < t->nodes; ++a) {
        const double c = M[0] * t->second[0][a] + M[1] * t->second[1][a] + M[2] * t->second[2][a];
        for (int i = 0; i < 3; ++i) {
            g[3 * a + i] += c * s->n[i] + t->centre[0][a] * by_1[i] + t->centre[1][a] * by_2[i];
        }
    }
}

// H += d2/dx2 of sum_k M_k b_k, in the variables a1, a2 and q = sum M_k x,ab.
static void curvature_curve(const pl_face_table *t, const layer_strain *s, const double M[3], int stride,
                            double *H)
{
    double q[3] = {0}, g[3], uu[9], qu[9], c[6];
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            q[i] += M[k] * s->second[k][i];
        }
    }
    const double l = s->length, b = pl_dot3(q, s->n), *n = s->n;
    for (int i = 0; i < 3; ++i) {
        g[i] = (q[i] - b * n[i]) / l;
    }
    for (int i = 0; i < 9; ++i) {
        const int r = i / 3, k = i % 3;
        const double same = r == k;
        qu[i] = (same - n[r] * n[k]) / l;
        uu[i] = -(q[r] * n[k] + n[r] * q[k] + b * same - 3 * b * n[r] * n[k]) / (l * l);
    }
    // du/da1 = -[a2]x, du/da2 = [a1]x
    const double *a1 = s->a[0], *a2 = s->a[1];
    const double D[2][9] = {{0, a2[2], -a2[1], -a2[2], 0, a2[0], a2[1], -a2[0], 0},
                            {0, -a1[2], a1[1], a1[2], 0, -a1[0], -a1[1], a1[0], 0}};
    const double cross[9] = {0, g[2], -g[1], -g[2], 0, g[0], g[1], -g[0], 0}; // -[g]x: d2u between a1 and a2
    double aa[2][2][9], qa[2][9];
    for (int v = 0; v < 2; ++v) {
        pl_mul33(qu, D[v], qa[v]);
        for (int w = 0; w < 2; ++w) {
            double T[9];
            pl_mul33(uu, D[w], T);
            for (int i = 0; i < 9; ++i) {
                const int r = i / 3, k = i % 3;
                aa[v][w][i] = D[v][r] * T[k] + D[v][3 + r] * T[3 + k] + D[v][6 + r] * T[6 + k];
            }
        }
    }
    for (int i = 0; i < 9; ++i) {
        aa[0][1][i] += cross[i];
        aa[1][0][i] += cross[3 * (i % 3) + i / 3];
    }
    for (int a = 0; a < t->nodes; ++a) {
        c[a] = M[0] * t->second[0][a] + M[1] * t->second[1][a] + M[2] * t->second[2][a];
    }
    for (int a = 0; a < t->nodes; ++a) {
        for (int e = 0; e < t->nodes; ++e) {
            double *block = H + (int64_t)3 * a * stride + 3 * e;
            for (int i = 0; i < 9; ++i) {
                double sum = 0;
                for (int v = 0; v < 2; ++v) {
                    sum += c[a] * t->centre[v][e] * qa[v][i] +
                           t->centre[v][a] * c[e] * qa[v][3 * (i % 3) + i / 3];
                    for (int w = 0; w < 2; ++w) {
                        sum += t->centre[v][a] * t->centre[w][e] * aa[v][w][i];
                    }
                }
                block[(i / 3) * stride + i % 3] += sum;
            }
        }
    }
}

// g += sum_k U_k dK_k/dx, kinks included; penalties apart.
static void layer_pull_curvature(const pl_face_table *t, const pl_layer_face *f, layer_strain *s,
                                 const double U[3], double penalty, double *g)
{
    curvature_pull(t, s, U, g);
    for (int e = 0; e < 3; ++e) {
        const pl_layer_edge *edge = &f->edge[e];
        for (int p = 0; edge->kind != PL_LAYER_FREE && p < 2; ++p) {
            kink *k = &s->kink[e][p];
            const double *lift = edge->lift[p];
            kink_slopes(k);
            kink_pull(t, f, e, p, k,
                      U[0] * lift[0] + U[1] * lift[1] + U[2] * lift[2] + penalty * edge->penalty[p] * k->phi,
                      g);
        }
    }
}

// Stiffness that the penalties of kinks are multiples of.
static double layer_penalty(const pl_layer_law *law)
{
    return layer_stiffness(law) * law->sheet.moduli[0];
}

double pl_layer_energy(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                       const double *x, double *g)
{
    layer_strain s;
    double Us[LAYER_ALL];
    layer_strains(t, law, f, x, &s);
    double energy = layer_potential(t, law, f, &s, false, Us, NULL);
    if (!isfinite(energy)) {
        return INFINITY;
    }
    const double penalty = layer_penalty(law);
    for (int e = 0; layer_curves(law) && e < 3; ++e) {
        for (int p = 0; f->edge[e].kind != PL_LAYER_FREE && p < 2; ++p) {
            energy += 0.5 * penalty * f->edge[e].penalty[p] * s.kink[e][p].phi * s.kink[e][p].phi;
        }
    }
    if (g) {
        pl_face_strains_pull(t, x, Us, g);
        if (layer_curves(law)) {
            layer_pull_curvature(t, f, &s, Us + PL_LAYER_STRAINS, penalty, g);
        }
    }
    return energy;
}

// Rows ds/dx of all strains.
static void layer_rows(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                       const double *x, layer_strain *s, int m, double *J)
{
    pl_face_strains_rows(t, x, m, J);
    for (int k = 0; layer_curves(law) && k < 3; ++k) {
        double unit[3] = {0};
        unit[k] = 1;
        layer_pull_curvature(t, f, s, unit, 0, J + (int64_t)(PL_LAYER_STRAINS + k) * m);
    }
}

void pl_layer_ahead(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f, const double *x,
                    const double *dx, double ahead[PL_LAYER_AHEAD])
{
    layer_strain s;
    double J[LAYER_ALL * LAYER_DOFS] = {0};
    const int m = 3 * f->node_count;
    layer_strains(t, law, f, x, &s);
    layer_rows(t, law, f, x, &s, m, J);
    memset(ahead, 0, PL_LAYER_AHEAD * sizeof *ahead);
    memcpy(ahead, s.d, (size_t)t->strains * sizeof *ahead);
    memcpy(ahead + PL_LAYER_STRAINS, s.K, sizeof s.K);
    for (int k = 0; k < LAYER_ALL; ++k) {
        for (int i = 0; i < m; ++i) {
            ahead[k] += J[(int64_t)k * m + i] * dx[i];
        }
    }
    for (int e = 0; layer_curves(law) && e < 3; ++e) {
        for (int p = 0; f->edge[e].kind != PL_LAYER_FREE && p < 2; ++p) {
            double row[LAYER_DOFS] = {0}, *phi = &ahead[LAYER_ALL + 2 * e + p];
            kink_pull(t, f, e, p, &s.kink[e][p], 1, row);
            *phi = s.kink[e][p].phi;
            for (int i = 0; i < m; ++i) {
                *phi += row[i] * dx[i];
            }
        }
    }
}

// U and its derivatives at the strains that a step predicted; false where they cannot be.
static bool layer_predicted(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                            const double *ahead, bool positive, double Us[LAYER_ALL], double *Uss)
{
    layer_strain s;
    memcpy(s.d, ahead, sizeof s.d);
    memcpy(s.K, ahead + PL_LAYER_STRAINS, sizeof s.K);
    return isfinite(layer_potential(t, law, f, &s, positive, Us, Uss));
}

double pl_layer_energy_ahead(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                             const double *x, const double ahead[PL_LAYER_AHEAD], double *g)
{
    layer_strain s;
    double Us[LAYER_ALL], Uss[LAYER_ALL * LAYER_ALL];
    if (!layer_predicted(t, law, f, ahead, false, Us, Uss)) {
        return pl_layer_energy(t, law, f, x, g);
    }
    layer_strains(t, law, f, x, &s);
    for (int c = 0; c < LAYER_ALL; ++c) {
        const bool membrane = c < PL_LAYER_STRAINS;
        const double now = membrane ? (c < t->strains ? s.d[c] : 0) : s.K[c - PL_LAYER_STRAINS];
        for (int r = 0; r < LAYER_ALL; ++r) {
            Us[r] += Uss[LAYER_ALL * r + c] * (now - ahead[c]);
        }
    }
    pl_face_strains_pull(t, x, Us, g);
    if (layer_curves(law)) {
        layer_pull_curvature(t, f, &s, Us + PL_LAYER_STRAINS, layer_penalty(law), g);
    }
    return pl_layer_energy(t, law, f, x, NULL);
}

void pl_layer_tangent(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                      const double *x, bool positive, const double *ahead, double *H)
{
    layer_strain s;
    double Us[LAYER_ALL], Uss[LAYER_ALL * LAYER_ALL], J[LAYER_ALL * LAYER_DOFS] = {0}, T[LAYER_DOFS];
    const int m = 3 * f->node_count, K = PL_LAYER_STRAINS;
    memset(H, 0, (size_t)m * m * sizeof *H);
    layer_strains(t, law, f, x, &s);
    if (!(ahead && layer_predicted(t, law, f, ahead, positive, Us, Uss)) &&
        !isfinite(layer_potential(t, law, f, &s, positive, Us, Uss))) {
        return;
    }
    layer_rows(t, law, f, x, &s, m, J);
    for (int r = 0; r < LAYER_ALL; ++r) {
        memset(T, 0, sizeof T);
        for (int c = 0; c < LAYER_ALL; ++c) {
            const double u = Uss[LAYER_ALL * r + c];
            for (int j = 0; u != 0 && j < m; ++j) {
                T[j] += u * J[(int64_t)c * m + j];
            }
        }
        for (int i = 0; i < m; ++i) {
            const double v = J[(int64_t)r * m + i];
            for (int j = 0; v != 0 && j < m; ++j) {
                H[(int64_t)i * m + j] += v * T[j];
            }
        }
    }
    pl_face_strains_curve(t, Us, positive, m, H);
    if (!layer_curves(law)) {
        return;
    }
    const double penalty = layer_penalty(law), *U = Us + K;
    if (!positive) {
        curvature_curve(t, &s, U, m, H);
    }
    for (int e = 0; e < 3; ++e) {
        const pl_layer_edge *edge = &f->edge[e];
        for (int p = 0; edge->kind != PL_LAYER_FREE && p < 2; ++p) {
            const kink *k = &s.kink[e][p];
            const double *lift = edge->lift[p], stiff = penalty * edge->penalty[p];
            double row[LAYER_DOFS] = {0};
            kink_pull(t, f, e, p, k, 1, row);
            for (int i = 0; i < m; ++i) {
                for (int j = 0; row[i] != 0 && j < m; ++j) {
                    H[(int64_t)i * m + j] += stiff * row[i] * row[j];
                }
            }
            if (!positive) {
                kink_curve(t, f, e, p, k,
                           U[0] * lift[0] + U[1] * lift[1] + U[2] * lift[2] +
                               stiff * (ahead ? ahead[LAYER_ALL + 2 * e + p] : k->phi),
                           m, H);
            }
        }
    }
}

// ---- derivatives with respect to thickness and material
void pl_layer_by_thickness(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                           const double *x, double *g)
{
    // U_s = h B^T w S + ...: by h directly, and through z0 = (z0/h) h in B and in the strain
    layer_strain s;
    double Us[LAYER_ALL] = {0}, D[9];
    const double h = law->thickness, slope = law->offset / h, ratio = layer_ratio(law);
    const int K = PL_LAYER_STRAINS;
    layer_strains(t, law, f, x, &s);
    for (int q = 0; q < t->points; ++q) {
        double M[3 * PL_LAYER_STRAINS], e[3], de[3], W, S[3], C[9], dS[3], cov[3], dcov[3];
        pl_face_field(t, t->point[q], M);
        layer_point(t, law, &s, M, f->frame[q], e);
        if (!pl_sheet_stress(&law->sheet, e, &W, S, C)) {
            return;
        }
        mul3(f->frame[q], s.K, false, de);
        for (int i = 0; i < 3; ++i) {
            dS[i] =
                S[i] / h - ratio * slope * (C[3 * i] * de[0] + C[3 * i + 1] * de[1] + C[3 * i + 2] * de[2]);
        }
        mul3(f->frame[q], S, true, cov);
        mul3(f->frame[q], dS, true, dcov);
        const double scale = f->weight[q] * h;
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < t->strains; ++k) {
                Us[k] += scale * dcov[i] * M[PL_LAYER_STRAINS * i + k];
            }
            Us[K + i] -= scale * (law->offset * dcov[i] + slope * cov[i]);
        }
    }
    pl_face_strains_pull(t, x, Us, g);
    if (layer_curves(law)) {
        congruent(f->centre, law->sheet.moduli, 3 / h * f->area * layer_stiffness(law), D);
        for (int i = 0; i < 3; ++i) {
            Us[K + i] += D[3 * i] * s.K[0] + D[3 * i + 1] * s.K[1] + D[3 * i + 2] * s.K[2];
        }
        layer_pull_curvature(t, f, &s, Us + K, 3 / h * layer_penalty(law), g);
    }
}

void pl_layer_by_constant(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                          const pl_material *material, pl_material_constant constant, const double *x,
                          double *g)
{
    layer_strain s;
    double Us[LAYER_ALL] = {0}, moduli[9] = {0}, D[9];
    const int K = PL_LAYER_STRAINS;
    layer_strains(t, law, f, x, &s);
    for (int q = 0; q < t->points; ++q) {
        double M[3 * PL_LAYER_STRAINS], e[3], dS[3], cov[3];
        pl_face_field(t, t->point[q], M);
        layer_point(t, law, &s, M, f->frame[q], e);
        pl_sheet_derivative(&law->sheet, material, constant, e, dS, moduli);
        mul3(f->frame[q], dS, true, cov);
        const double scale = f->weight[q] * law->thickness;
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < t->strains; ++k) {
                Us[k] += scale * cov[i] * M[PL_LAYER_STRAINS * i + k];
            }
            Us[K + i] -= scale * law->offset * cov[i];
        }
    }
    pl_face_strains_pull(t, x, Us, g);
    if (layer_curves(law)) {
        congruent(f->centre, moduli, f->area * layer_stiffness(law), D);
        for (int i = 0; i < 3; ++i) {
            Us[K + i] += D[3 * i] * s.K[0] + D[3 * i + 1] * s.K[1] + D[3 * i + 2] * s.K[2];
        }
        layer_pull_curvature(t, f, &s, Us + K, layer_stiffness(law) * moduli[0], g);
    }
}

void pl_layer_state(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f, const double *x,
                    double strain[3], double tension[3], double curvature[3])
{
    layer_strain s;
    const double centre[2] = {1.0 / 3, 1.0 / 3};
    double M[3 * PL_LAYER_STRAINS], e[3], W, S[3] = {0};
    layer_strains(t, law, f, x, &s);
    pl_face_field(t, centre, M);
    layer_point(t, law, &s, M, f->centre, e);
    if (strain) {
        memcpy(strain, e, sizeof e);
    }
    if (tension) {
        pl_sheet_stress(&law->sheet, e, &W, S, NULL);
        for (int i = 0; i < 3; ++i) {
            tension[i] = law->thickness * S[i];
        }
    }
    if (curvature) {
        mul3(f->centre, s.K, false, curvature);
        for (int i = 0; i < 3; ++i) {
            curvature[i] *= layer_ratio(law);
        }
    }
}

void pl_layer_strain_pull(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                          const double *x, const double weight[3], double *g)
{
    layer_strain s;
    const double centre[2] = {1.0 / 3, 1.0 / 3};
    double M[3 * PL_LAYER_STRAINS], cov[3], U[PL_LAYER_STRAINS] = {0}, UK[3];
    layer_strains(t, law, f, x, &s);
    pl_face_field(t, centre, M);
    mul3(f->centre, weight, true, cov);
    for (int i = 0; i < 3; ++i) {
        cov[i] *= layer_ratio(law);
        UK[i] = -law->offset * cov[i];
        for (int k = 0; k < t->strains; ++k) {
            U[k] += cov[i] * M[PL_LAYER_STRAINS * i + k];
        }
    }
    pl_face_strains_pull(t, x, U, g);
    if (layer_curves(law) && law->offset != 0) {
        layer_pull_curvature(t, f, &s, UK, 0, g);
    }
}

// ---- at rest
void pl_layer_face_init(const pl_face_table *t, pl_layer_face *f, const double *X, const double across[3])
{
    double axis[2][3], a[2][3];
    f->area = 0;
    for (int q = 0; q < t->points; ++q) {
        pl_face_tangents(t, X, t->point[q], a);
        f->weight[q] = t->share[q] * pl_face_frame(a[0], a[1], f->frame[q], axis);
        f->area += f->weight[q];
    }
    pl_face_strains(t, X, f->rest);
    combine(t->centre[0], t->nodes, X, a[0]);
    combine(t->centre[1], t->nodes, X, a[1]);
    pl_face_frame(a[0], a[1], f->centre, axis);
    for (int e = 0; e < 3; ++e) {
        pl_layer_edge *edge = &f->edge[e];
        const double share = edge->kind == PL_LAYER_HELD ? 1 : 0.5;
        for (int g = 0; edge->kind != PL_LAYER_FREE && g < 2; ++g) {
            double tangent[3], in[3], out[3];
            combine(t->edge[e][g][0], t->nodes, X, tangent);
            combine(t->edge[e][g][1], t->nodes, X, in);
            const double l = pl_norm3(tangent), c = pl_dot3(in, tangent) / (l * l), ds = 0.5 * l;
            for (int i = 0; i < 3; ++i) {
                out[i] = c * tangent[i] - in[i];
            }
            const double size = pl_norm3(out);
            for (int i = 0; i < 3; ++i) {
                out[i] /= size;
            }
            if (edge->kind == PL_LAYER_HELD) {
                memcpy(edge->outward[g], out, sizeof out);
            }
            const double n1 = pl_dot3(out, a[0]), n2 = pl_dot3(out, a[1]);
            const double lift[3] = {n1 * n1, n2 * n2, n1 * n2};
            for (int k = 0; k < 3; ++k) {
                edge->lift[g][k] = share * ds / f->area * lift[k];
            }
            const double both = edge->kind == PL_LAYER_HELD ? 2 * f->area : f->area + across[e];
            edge->penalty[g] = t->nodes == 6 ? LAYER_PENALTY * share * ds * 2 * ds / both : 0;
            edge->rest[g] = 0;
            kink k;
            kink_init(t, f, e, g, X, &k);
            edge->rest[g] = k.phi;
        }
    }
    // b at rest; the kinks are relative to rest already
    layer_strain s;
    memset(f->rest_curvature, 0, sizeof f->rest_curvature);
    pl_layer_face plain = *f;
    for (int e = 0; e < 3; ++e) {
        plain.edge[e].kind = PL_LAYER_FREE;
    }
    layer_curvature(t, &plain, X, &s);
    memcpy(f->rest_curvature, s.K, sizeof s.K);
}
