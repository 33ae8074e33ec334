// The change of curvature of a face of a layer (layer.h) with first and second derivatives: inside the face,
// and the kinks to its neighbours; and what a face is at rest.
#include "element/curvature.h"

// Penalty of kinks over the bending stiffness per distance of the faces; any positive value is stable. Chosen
// on plates and strips (tests/element/test_layer.c), not on robots.
#define LAYER_PENALTY 0.5

// ---- the angle across an edge
// t along the edge, m1 into the face, m2 into its neighbour. The angle by which the normal turns from the
// face to the neighbour, positive where the neighbour rises towards the normal, has the derivatives
//   d phi/d m1 = g(t, m1),  d phi/d m2 = -g(t, m2),  d phi/dt = -c1 g(t, m1) + c2 g(t, m2),
//   g(t, m) = |t| u / |u|^2,  u = t x m,  c = m . t / |t|^2.
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

static void kink_slopes(pl_kink *k)
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
                      pl_kink *k)
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
void pl_kink_pull(const pl_face_table *t, const pl_layer_face *f, int edge, int g, const pl_kink *k,
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
void pl_kink_curve(const pl_face_table *t, const pl_layer_face *f, int edge, int g, const pl_kink *k,
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

// ---- curvature
// b_ab - B_ab + R_ab
void pl_curvature_eval(const pl_face_table *t, const pl_layer_face *f, const double *x, pl_curvature *s)
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

// g += sum_k M_k db_k/dx: b = n . q,  db/dq = n,  db/du = (q - b n) / |u|,  u = a1 x a2.
static void curvature_pull(const pl_face_table *t, const pl_curvature *s, const double M[3], double *g)
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
void pl_curvature_curve(const pl_face_table *t, const pl_curvature *s, const double M[3], int stride,
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
void pl_curvature_pull(const pl_face_table *t, const pl_layer_face *f, pl_curvature *s, const double U[3],
                       double penalty, double *g)
{
    curvature_pull(t, s, U, g);
    for (int e = 0; e < 3; ++e) {
        const pl_layer_edge *edge = &f->edge[e];

        for (int p = 0; edge->kind != PL_LAYER_FREE && p < 2; ++p) {
            pl_kink *k = &s->kink[e][p];
            const double *lift = edge->lift[p];
            kink_slopes(k);
            pl_kink_pull(
                t, f, e, p, k,
                U[0] * lift[0] + U[1] * lift[1] + U[2] * lift[2] + penalty * edge->penalty[p] * k->phi, g);
        }
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
        // half of an edge belongs to each of its faces; a held edge joins the face to its mirror image, where
        // the angle is 2 phi: R takes 1/2 (2 phi), the penalty 1/2 (2 phi)^2
        pl_layer_edge *edge = &f->edge[e];
        const bool held = edge->kind == PL_LAYER_HELD;
        const double share = held ? 1 : 0.5, penalty_share = held ? 2 : 0.5;

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
            if (held) {
                memcpy(edge->outward[g], out, sizeof out);
            }
            const double n1 = pl_dot3(out, a[0]), n2 = pl_dot3(out, a[1]);
            const double lift[3] = {n1 * n1, n2 * n2, n1 * n2};
            for (int k = 0; k < 3; ++k) {
                edge->lift[g][k] = share * ds / f->area * lift[k];
            }
            const double both = held ? 2 * f->area : f->area + across[e];
            edge->penalty[g] = t->nodes == 6 ? LAYER_PENALTY * penalty_share * ds * 2 * ds / both : 0;
            edge->rest[g] = 0;
            pl_kink k;
            kink_init(t, f, e, g, X, &k);
            edge->rest[g] = k.phi;
        }
    }

    // b at rest; the kinks are relative to rest already
    pl_curvature s;
    memset(f->rest_curvature, 0, sizeof f->rest_curvature);
    pl_layer_face plain = *f;
    for (int e = 0; e < 3; ++e) {
        plain.edge[e].kind = PL_LAYER_FREE;
    }
    pl_curvature_eval(t, &plain, X, &s);
    memcpy(f->rest_curvature, s.K, sizeof s.K);
}
