// Local ratios of the actuation elements: alpha_i of chamber tets, lambda_i of film points, s_i of cable
// triangles, with sum_i ratio_i u_i = target over the elements of one actuator (u_i the rest measures).
//
// - least norm, as published: the present ratios r_i changed as little as possible,
//     ratio_i = r_i + u_i (target - sum r_j u_j) / sum u_j^2
// - joint: those that leave the least energy. For chamber tets, with g_i = cbrt(alpha_i) and
//   t_i = tr(R^T F) / 3, minimise sum u_i (3 g_i^2 - 6 g_i t_i) under sum u_i g_i^3 = target: with a
//   multiplier m,  g_i - t_i + m / 2 g_i^2 = 0,  g_i = 2 t_i / (1 + sqrt(1 + 2 m t_i)).
// - uniform: the global ratio for all
#include "geometric/geometric_impl.h"

#define SMALLEST_RATIO 0.05 // no element is asked to shrink below

static void growth_range(geo_drive *d, double ratio, bool first)
{
    d->local_low = first ? ratio : fmin(d->local_low, ratio);
    d->local_high = first ? ratio : fmax(d->local_high, ratio);
}

// The rest measure of all elements of an actuator; for a film that of its middle, not of its face.
static double growth_whole(const pl_geometric *g, const geo_drive *d)
{
    double sum = 0;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        sum += g->share[k];
    }
    return sum;
}

static void growth_least_norm(pl_geometric *g, const geo_drive *d)
{
    double sum = 0, square = 0;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        sum += g->measure[k] * g->share[k];
        square += g->share[k] * g->share[k];
    }
    const double rise = (d->target / d->rest * growth_whole(g, d) - sum) / square;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        g->ratio[k] = fmax(SMALLEST_RATIO, g->measure[k] + rise * g->share[k]);
    }
}

// sum u g^3 at the multiplier m, the g_i left as ratios.
static double growth_joint_at(pl_geometric *g, const geo_drive *d, double m)
{
    double sum = 0;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        const double t = fmax(g->stretch[k], 1e-3);
        const double root = 1 + sqrt(fmax(0, 1 + 2 * m * t)), s = 2 * t / root;
        g->ratio[k] = fmax(s * s * s, 1e-9);
        sum += g->share[k] * g->ratio[k];
    }
    return sum;
}

// The sum falls as m grows; the least m allowed is -1 / (2 max t), where the largest g is 2 t.
static void growth_joint(pl_geometric *g, const geo_drive *d)
{
    const double goal = d->target / d->rest * growth_whole(g, d);
    double most = 1e-3;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        most = g->share[k] > 0 ? fmax(most, g->stretch[k]) : most;
    }
    double low = -0.5 / most, high = 1;
    if (growth_joint_at(g, d, low) <= goal) {
        // not to be had from here: as far as the energy allows, the same factor for all on top
        const double factor = goal / growth_joint_at(g, d, low);
        for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
            g->ratio[k] *= factor;
        }
        return;
    }
    for (int i = 0; i < 60 && growth_joint_at(g, d, high) > goal; ++i) {
        low = high;
        high *= 4;
    }
    // regula falsi with halving (Illinois): 52 bits in about ten evaluations
    double at_low = growth_joint_at(g, d, low) - goal, at_high = growth_joint_at(g, d, high) - goal;
    for (int i = 0, side = 0; i < 60; ++i) {
        const double m = (low * at_high - high * at_low) / (at_high - at_low);
        const double at = growth_joint_at(g, d, m) - goal;
        if (fabs(at) <= 1e-13 * goal || !(high - low > 1e-15 * (1 + fabs(m)))) {
            return;
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
}

static void growth_cells(pl_geometric *g, geo_drive *d)
{
    const bool film = d->sign < 0 && g->robot->actuator[d - g->drive].kind == PL_FILM;
    d->active = d->mode == GEO_GROWTH;
    if (!d->active) {
        for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
            g->ratio[k] = NAN;
        }
        return;
    }
    if (g->options.distribution == PL_RATIOS_JOINT && !film) {
        growth_joint(g, d);
    } else if (g->options.distribution == PL_RATIOS_UNIFORM) {
        for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
            g->ratio[k] = d->target / d->rest;
        }
    } else {
        growth_least_norm(g, d);
    }
    bool first = true;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        if (g->share[k] > 0) {
            growth_range(d, g->ratio[k], first);
            first = false;
        }
    }
}

// The pieces of cable without a triangle keep the length they have: L = L_R + sum s_i l_i. A cable shorter
// than its target is slack and pulls nothing.
static void growth_cable(pl_geometric *g, geo_drive *d, const double *x)
{
    double total = 0, shrunk = 0, square = 0;
    geo_triangle *t = g->triangle + d->first_triangle;
    for (int k = 0; k < d->triangle_count; ++k) {
        shrunk += geo_triangle_length(&t[k], x);
        square += t[k].length * t[k].length;
    }
    total = pl_functional_value(&d->h, x);
    const bool slack = d->mode != GEO_GROWTH || (d->target >= d->rest && total <= d->target);
    d->active = !slack;
    const double rise = (d->target - total) / square;
    for (int k = 0; k < d->triangle_count; ++k) {
        const double now = geo_triangle_length(&t[k], x) / t[k].length;
        const double uniform = now * (d->target - (total - shrunk)) / shrunk;
        t[k].ratio =
            slack ? NAN
                  : fmax(SMALLEST_RATIO,
                         g->options.distribution == PL_RATIOS_UNIFORM ? uniform : now + rise * t[k].length);
        growth_range(d, t[k].ratio, k == 0);
    }
}

void geo_growth(pl_geometric *g, const double *x)
{
    const geo_kernels *kernels = geo_kernels_choose();
    if (g->point_count > 0) {
#pragma omp parallel for schedule(static) num_threads(pl_threads_get())
        for (int b = 0; b < g->block_count; ++b) {
            const geo_block *block = &g->block[b];
            if (block->growth_start >= 0) {
                kernels->measure(block, &g->law[block->law], x, g->measure + block->growth_start,
                                 g->stretch + block->growth_start);
            }
        }
    }
    for (int i = 0; i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        if (d->triangle_count > 0) {
            growth_cable(g, d, x);
        } else if (d->point_count > 0) {
            growth_cells(g, d);
        }
    }
}
