// Local ratios that leave the least energy: every growth point i has e_i(r) = |F - R G(r)|^2, R the best
// rotation, weighed by its volume v_i; minimise sum_i v_i e_i(r_i) under sum_i u_i r_i = goal (u_i the rest
// measures), so that v_i e_i' = p u_i with one multiplier p for all.
//
// - chamber tets, G = g I, g = cbrt(r), t = tr(R^T F) / 3:  g - t + m / 2 g^2 = 0 with m = -p u / v,
//   g = 2 t / (1 + sqrt(1 + 2 m t)): a root in p, from which all g follow. In the vertex metric, with V the
//   covariance of a tet's vertices, v tr V / 3 stands for v and tr(R^T F V) / tr V for t
// - film points, G = sqrt(r) (I - n n^T) + n n^T / r: Newton's method for all r and p at once, downhill on
//   the plane sum u r = goal
// - cable triangles, G = diag(r, 1): a root in p, and for each p a root in r
#include "base/threads.h"
#include "geometric/geometric_impl.h"

// ---- a root in between: f falls from low to high; about ten evaluations
typedef double (*joint_function)(void *of, double at);

// Regula falsi with halving (Illinois). `low` and `high` have values of different sign.
static double joint_root(joint_function f, void *of, double low, double high, double tolerance)
{
    double at_low = f(of, low), at_high = f(of, high), m = low;
    for (int i = 0, side = 0; i < 100 && at_high != at_low; ++i) {
        m = (low * at_high - high * at_low) / (at_high - at_low);
        const double at = f(of, m);
        if (fabs(at) <= tolerance || !(high - low > 1e-15 * (1 + fabs(m)))) {
            break;
        }
        if (at > 0) {
            low = m;
            at_low = at;
            at_high = side == 1 ? at_high / 2 : at_high;
            side = 1;
        } else {
            high = m;
            at_high = at;
            at_low = side == -1 ? at_low / 2 : at_low;
            side = -1;
        }
    }

    return m;
}

// ---- chambers
typedef struct joint_chamber {
    pl_geometric *g;
    const geo_drive *d;
    double goal;
} joint_chamber;

// sum u g^3 - goal at the multiplier m, the g^3 left as ratios.
static double chamber_at(void *of, double m)
{
    const joint_chamber *c = of;
    pl_geometric *g = c->g;
    double sum = 0;

    for (int64_t k = c->d->first_point; k < c->d->first_point + c->d->point_count; ++k) {
        const double t = fmax(g->growth.stretch[k], 1e-3);
        const double root = 1 + sqrt(fmax(0, 1 + 2 * m * g->growth.joint.soft[k] * t)), s = 2 * t / root;
        g->growth.ratio[k] = fmax(s * s * s, 1e-9);
        sum += g->growth.share[k] * g->growth.ratio[k];
    }

    return sum - c->goal;
}

// The sum falls as m grows; the least m allowed is -1 / (2 max soft t), where the largest g is 2 t.
void geo_joint_chamber(pl_geometric *g, const geo_drive *d, double goal)
{
    joint_chamber c = {g, d, goal};
    double most = 1e-9;

    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        most = g->growth.share[k] > 0 ? fmax(most, g->growth.joint.soft[k] * g->growth.stretch[k]) : most;
    }

    double low = -0.5 / most, high = 1;
    const double highest = chamber_at(&c, low);
    if (highest <= 0) {
        // not to be had from here: as far as the energy allows, the same factor for all on top
        for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
            g->growth.ratio[k] *= goal / (highest + goal);
        }
        return;
    }

    for (int i = 0; i < 60 && chamber_at(&c, high) > 0; ++i) {
        low = high;
        high *= 4;
    }

    joint_root(chamber_at, &c, low, high, 1e-13 * goal);
}

// ---- films
typedef struct film_loop {
    pl_geometric *g;
    const geo_drive *d;
    const geo_kernels *kernels;
    const double *x, *ratio;
} film_loop;

static void film_blocks(void *context, int64_t from, int64_t to)
{
    const film_loop *w = context;
    pl_geometric *g = w->g;

    for (int64_t b = from; b < to; ++b) {
        const int64_t at = g->cells.block[b].growth_start;
        if (at >= w->d->first_point && at < w->d->first_point + w->d->point_count) {
            w->kernels->film(&g->cells.block[b], w->x, w->ratio + at, g->growth.joint.value + at,
                             g->growth.joint.slope + at, g->growth.joint.bend + at);
        }
    }
}

// Energy of the drive's points at `ratio`, and derivatives per point.
static double film_energy(pl_geometric *g, const geo_drive *d, const double *x, const double *ratio)
{
    film_loop w = {.g = g, .d = d, .kernels = geo_kernels_choose(), .x = x, .ratio = ratio};
    pl_loop(g->cells.block_count, GEO_GRAIN, film_blocks, &w);
    double sum = 0;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        sum += g->growth.joint.value[k];
    }

    return sum;
}

// From the ratios of the last iteration onto the plane sum u r = goal.
static void film_start(pl_geometric *g, const geo_drive *d, double goal)
{
    double sum = 0;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        g->growth.ratio[k] = g->growth.ratio[k] > 0 ? g->growth.ratio[k] : 1;
        sum += g->growth.share[k] * g->growth.ratio[k];
    }

    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        g->growth.ratio[k] *= goal / sum;
    }
}

// Newton's step in the plane: dr = (p u - e') / e'', p so that sum u dr = 0; curvatures that are not positive
// are replaced by a small one. Returns the largest dr / r; `fall` is how fast the energy falls along dr.
static double film_step(pl_geometric *g, const geo_drive *d, double *fall)
{
    double mean = 0, up = 0, down = 0, largest = 0;
    int64_t count = 0;

    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        mean += fabs(g->growth.joint.bend[k]);
        count += g->growth.share[k] > 0;
    }

    const double least = 1e-3 * mean / (double)count;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        g->growth.joint.bend[k] = fmax(g->growth.joint.bend[k], least);
        up += g->growth.share[k] * g->growth.joint.slope[k] / g->growth.joint.bend[k];
        down += g->growth.share[k] * g->growth.share[k] / g->growth.joint.bend[k];
    }

    *fall = 0;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        double *dr = &g->growth.joint.step[k];
        *dr = g->growth.share[k] > 0
                  ? (up / down * g->growth.share[k] - g->growth.joint.slope[k]) / g->growth.joint.bend[k]
                  : 0;
        *fall -= *dr * g->growth.joint.slope[k];
        largest = fmax(largest, fabs(*dr) / g->growth.ratio[k]);
    }

    return largest;
}

void geo_joint_film(pl_geometric *g, const geo_drive *d, const double *x, double goal)
{
    film_start(g, d, goal);
    double energy = film_energy(g, d, x, g->growth.ratio);
    for (int i = 0; i < 60; ++i) {
        double fall;
        const double largest = film_step(g, d, &fall);
        // quadratic near the end: after a step of 1e-8 nothing is left to gain
        const bool last = largest < 1e-8;
        double t = largest > 0.5 ? 0.5 / largest : 1, trial = energy;
        for (int back = 0; back < 30; ++back, t /= 2) {
            for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
                g->growth.joint.ratio[k] = g->growth.ratio[k] + t * g->growth.joint.step[k];
            }
            if (last) {
                break;
            }
            trial = film_energy(g, d, x, g->growth.joint.ratio);
            if (trial <= energy - 1e-4 * t * fall + 1e-14 * fabs(energy)) {
                break;
            }
        }

        memcpy(g->growth.ratio + d->first_point, g->growth.joint.ratio + d->first_point,
               (size_t)d->point_count * sizeof *g->growth.ratio);
        if (last) {
            return;
        }
        energy = trial;
    }
}

// ---- cables
// Of one triangle: e(s) = s^2 M_xx + M_yy - 2 L(s) with L^2 = s^2 c11 + c22 + 2 s d, c = A^T A for A = F M,
// d = sqrt(det c); e' = 2 s M_xx - 2 (s c11 + d) / L.
typedef struct joint_edge {
    double c11, c22, d, M;
    double per_length; // area over length
    double p;
} joint_edge;

static double edge_slope(const joint_edge *e, double s)
{
    const double L = sqrt(fmax(s * s * e->c11 + e->c22 + 2 * s * e->d, 1e-300));
    return e->per_length * 2 * (s * e->M - (s * e->c11 + e->d) / L);
}

static double edge_at(void *of, double s)
{
    const joint_edge *e = of;
    return e->p - edge_slope(e, s);
}

// The ratio at which the slope is p, not below the smallest.
static double edge_ratio(joint_edge *e, double p)
{
    e->p = p;
    if (edge_at(e, GEO_SMALLEST_RATIO) <= 0) {
        return GEO_SMALLEST_RATIO;
    }

    double high = 2;
    for (int i = 0; i < 60 && edge_at(e, high) > 0; ++i) {
        high *= 2;
    }

    return joint_root(edge_at, e, GEO_SMALLEST_RATIO, high, 0);
}

typedef struct joint_cable {
    geo_triangle *triangle;
    int count;
    const double *x;
    double goal;
} joint_cable;

static joint_edge cable_edge(const geo_triangle *t, const double *x)
{
    double F[6], c[3] = {0};
    geo_triangle_map(t, x, F);
    for (int i = 0; i < 3; ++i) {
        const double a = F[2 * i] * t->M[0] + F[2 * i + 1] * t->M[1],
                     b = F[2 * i] * t->M[1] + F[2 * i + 1] * t->M[2];
        c[0] += a * a;
        c[1] += a * b;
        c[2] += b * b;
    }

    return (joint_edge){.c11 = c[0],
                        .c22 = c[2],
                        .d = sqrt(fmax(c[0] * c[2] - c[1] * c[1], 0)),
                        .M = t->M[0],
                        .per_length = t->area / t->length};
}

// goal - sum l r at the multiplier p, the r left as ratios.
static double cable_at(void *of, double p)
{
    const joint_cable *c = of;
    double sum = 0;

    for (int k = 0; k < c->count; ++k) {
        geo_triangle *t = &c->triangle[k];
        joint_edge e = cable_edge(t, c->x);
        t->ratio = edge_ratio(&e, p);
        sum += t->length * t->ratio;
    }

    return c->goal - sum;
}

void geo_joint_cable(pl_geometric *g, const geo_drive *d, const double *x, double goal)
{
    joint_cable c = {g->growth.triangle + d->first_triangle, d->triangle_count, x, goal};
    double low = -1, high = 1;

    for (int i = 0; i < 60 && cable_at(&c, low) < 0; ++i) {
        low *= 4;
    }
    for (int i = 0; i < 60 && cable_at(&c, high) > 0; ++i) {
        high *= 4;
    }
    joint_root(cable_at, &c, low, high, 2e-16 * goal);
}
