// Integrals over films, int f(t1, t2, t3) w: t_j = sum_a x_a dN_a/dX_j are the columns of F in axes of which
// the third is normal to the film, n = t1 x t2, J = n . t3.
//   area          f = |n|
//   charge        f = |n|^2 / J = J N . C^-1 N, twice the energy of an ideal dielectric per permittivity and
//                 square of the nominal field
//   charge, face  f = |n|^2, the same of a film that keeps its volume
#include "actuator/actuator_impl.h"

// f and its derivatives by (n, t3).
typedef struct film_density {
    double f, by_n[3], by_t[3], by_nn[9], by_nt[9], by_tt[9];
} film_density;

// A quadrature point: weight (mm^2 or mm^3), t1, t2, t3, n and J.
typedef struct film_point {
    double w, t[3][3], n[3], J;
} film_point;

// Numbers per quadrature point: the weight and three derivatives per node.
static int64_t film_size(const pl_piece *piece)
{
    return 1 + 3 * (int64_t)piece->node_count;
}

static const double *film_data(const pl_functional *h, const pl_piece *piece, int q)
{
    return h->data + piece->data_start + q * film_size(piece);
}

// The point at x.
static void film_at(const pl_functional *h, const pl_piece *piece, int q, const double *x, film_point *p)
{
    const double *data = film_data(h, piece, q);
    *p = (film_point){.w = data[0]};
    for (int a = 0; a < piece->node_count; ++a) {
        const double *v = piece_vertex(h, piece, a, x), *g = data + 1 + 3 * a;

        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 3; ++i) {
                p->t[j][i] += g[j] * v[i];
            }
        }
    }

    pl_cross3(p->t[0], p->t[1], p->n);
    p->J = pl_dot3(p->n, p->t[2]);
}

// An inverted point has no field: minus infinity, which no energy of a voltage can gain from.
static double film_value(pl_film_kind kind, const film_point *p)
{
    const double nn = pl_dot3(p->n, p->n);
    switch (kind) {
    case PL_FILM_AREA:
        return sqrt(nn);
    case PL_FILM_CHARGE_FACE:
        return nn;
    default:
        return p->J > 0 ? nn / p->J : -INFINITY;
    }
}

// f, its gradient and its second derivatives with respect to n and t3; t1 and t2 enter through n alone.
static void film_derive(pl_film_kind kind, const film_point *p, film_density *d)
{
    const double *n = p->n, *t = p->t[2], J = p->J, nn = pl_dot3(n, n), length = sqrt(nn);
    *d = (film_density){.f = film_value(kind, p)};

    // charge: f = n.n / J, dJ/dn = t3, dJ/dt3 = n
    for (int i = 0; i < 3; ++i) {
        d->by_n[i] = kind == PL_FILM_AREA ? n[i] / length : 2 * n[i];
        if (kind == PL_FILM_CHARGE) {
            d->by_n[i] = 2 * n[i] / J - nn / (J * J) * t[i];
            d->by_t[i] = -nn / (J * J) * n[i];
        }

        for (int k = 0; k < 3; ++k) {
            double *by_nn = &d->by_nn[3 * i + k];
            *by_nn = kind == PL_FILM_AREA ? ((i == k) - n[i] * n[k] / nn) / length : 2.0 * (i == k);

            if (kind == PL_FILM_CHARGE) {
                *by_nn = 2 * (i == k) / J - 2 * (n[i] * t[k] + t[i] * n[k]) / (J * J) +
                         2 * nn * t[i] * t[k] / (J * J * J);
                d->by_nt[3 * i + k] =
                    -(2 * n[i] * n[k] + nn * (i == k)) / (J * J) + 2 * nn * t[i] * n[k] / (J * J * J);
                d->by_tt[3 * i + k] = 2 * nn * n[i] * n[k] / (J * J * J);
            }
        }
    }
}

double pl_film_value(const pl_functional *h, const pl_piece *piece, const double *x)
{
    double sum = 0;
    for (int q = 0; q < piece->point_count; ++q) {
        film_point p;
        film_at(h, piece, q, x, &p);
        sum += p.w * film_value(piece->film, &p);
    }

    return sum;
}

// df = by_n . (dt1 x t2 + t1 x dt2) + by_t . dt3
void pl_film_gradient(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *g)
{
    for (int q = 0; q < piece->point_count; ++q) {
        film_point p;
        film_density d;
        double by[3][3];
        film_at(h, piece, q, x, &p);
        film_derive(piece->film, &p, &d);

        // by n = t1 x t2 to t1 and t2
        pl_cross3(p.t[1], d.by_n, by[0]);
        pl_cross3(d.by_n, p.t[0], by[1]);
        memcpy(by[2], d.by_t, sizeof by[2]);

        for (int a = 0; a < piece->node_count; ++a) {
            const double *grad = film_data(h, piece, q) + 1 + 3 * a;
            double *slot = piece_slot(h, piece, a, g);
            for (int i = 0; i < 3; ++i) {
                slot[i] += scale * p.w * (grad[0] * by[0][i] + grad[1] * by[1][i] + grad[2] * by[2][i]);
            }
        }
    }
}

// A motion of node a along axis i moves t_j by grad_j e_i, so n by e_i x (grad_0 t2 - grad_1 t1) and t3 by
// grad_2 e_i; by_n . d2n couples two of them as by_n . (e_i x e_k) (grad_0 other_1 - grad_1 other_0).
void pl_film_hessian(const pl_functional *h, const pl_piece *piece, const double *x, double scale, double *H)
{
    const int m = 3 * piece->node_count;
    for (int q = 0; q < piece->point_count; ++q) {
        const double *grad = film_data(h, piece, q) + 1;
        film_point p;
        film_density d;
        double dn[3 * PL_ELEMENT_NODES_MAX][3];
        film_at(h, piece, q, x, &p);
        film_derive(piece->film, &p, &d);

        // dn of every motion of a node along an axis
        for (int r = 0; r < m; ++r) {
            const double *g = grad + 3 * (r / 3), e[3] = {r % 3 == 0, r % 3 == 1, r % 3 == 2};
            const double arm[3] = {g[0] * p.t[1][0] - g[1] * p.t[0][0], g[0] * p.t[1][1] - g[1] * p.t[0][1],
                                   g[0] * p.t[1][2] - g[1] * p.t[0][2]};
            pl_cross3(e, arm, dn[r]);
        }

        for (int r = 0; r < m; ++r) {
            const double *g = grad + 3 * (r / 3);
            const int i = r % 3;
            // derivatives of by_n and by_t with this motion
            double by_n[3], by_t[3];
            for (int k = 0; k < 3; ++k) {
                by_n[k] = pl_dot3(d.by_nn + 3 * k, dn[r]) + d.by_nt[3 * k + i] * g[2];
                by_t[k] = d.by_nt[k] * dn[r][0] + d.by_nt[3 + k] * dn[r][1] + d.by_nt[6 + k] * dn[r][2] +
                          d.by_tt[3 * k + i] * g[2];
            }

            for (int c = 0; c < m; ++c) {
                const double *o = grad + 3 * (c / 3);
                const int k = c % 3;
                // by_n . (e_i x e_k): a component of by_n with the sign of the permutation
                const double turn = i == k ? 0 : (k - i == 1 || k - i == -2 ? 1 : -1) * d.by_n[3 - i - k];
                H[(int64_t)r * m + c] +=
                    scale * p.w *
                    (pl_dot3(by_n, dn[c]) + by_t[k] * o[2] + turn * (g[0] * o[1] - g[1] * o[0]));
            }
        }
    }
}

// Copies nodes, weights and derivatives.
pl_status pl_functional_add_film(pl_functional *h, pl_film_kind kind, int32_t nodes, const int32_t *node,
                                 int points, const double *weight, const double *gradient)
{
    pl_piece *piece = pl_functional_new_piece(h, PL_PIECE_FILM, nodes, points * (1 + 3 * nodes));
    if (!piece) {
        return PL_NO_MEMORY;
    }
    piece->film = kind;
    piece->point_count = points;
    memcpy(h->node + piece->node_start, node, (size_t)nodes * sizeof *node);

    for (int q = 0; q < points; ++q) {
        double *data = h->data + piece->data_start + q * film_size(piece);
        data[0] = weight[q];
        memcpy(data + 1, gradient + (int64_t)3 * nodes * q, 3 * (size_t)nodes * sizeof *data);
    }

    return PL_OK;
}
