// Local ratios of the actuation elements: alpha_i of chamber tets, lambda_i of film points, s_i of cable
// triangles, with sum_i ratio_i u_i = target over the elements of one actuator (u_i the rest measures).
//
// - least norm, as published: the present ratios r_i changed as little as possible,
//     ratio_i = r_i + u_i (target - sum r_j u_j) / sum u_j^2
// - joint: those that leave the least energy (geometric_joint.c)
// - uniform: the global ratio for all
#include "base/threads.h"
#include "geometric/geometric_impl.h"
#include "robot/robot_kind.h"

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
        sum += g->growth.share[k];
    }
    return sum;
}

static void growth_least_norm(pl_geometric *g, const geo_drive *d, double goal)
{
    double sum = 0, square = 0;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        sum += g->growth.measure[k] * g->growth.share[k];
        square += g->growth.share[k] * g->growth.share[k];
    }

    const double rise = (goal - sum) / square;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        g->growth.ratio[k] = fmax(GEO_SMALLEST_RATIO, g->growth.measure[k] + rise * g->growth.share[k]);
    }
}

static void growth_cells(pl_geometric *g, geo_drive *d, const double *x)
{
    const bool film =
        d->sign < 0 && pl_actuator_growth_form(g->robot->actuator[d - g->drive].kind) == PL_GROWTH_AREA;
    d->active = d->mode == GEO_GROWTH;

    if (!d->active) {
        for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
            g->growth.ratio[k] = NAN;
        }
        return;
    }

    const double goal = d->target / d->rest * d->whole;
    if (g->options.distribution == PL_RATIOS_JOINT && film) {
        geo_joint_film(g, d, x, goal);
    } else if (g->options.distribution == PL_RATIOS_JOINT) {
        geo_joint_chamber(g, d, goal);
    } else if (g->options.distribution == PL_RATIOS_UNIFORM) {
        for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
            g->growth.ratio[k] = goal / growth_whole(g, d);
        }
    } else {
        growth_least_norm(g, d, goal);
    }

    bool first = true;
    for (int64_t k = d->first_point; k < d->first_point + d->point_count; ++k) {
        if (g->growth.share[k] > 0) {
            growth_range(d, g->growth.ratio[k], first);
            first = false;
        }
    }
}

// The pieces of cable without a triangle keep their rest length L_R, as published: sum s_i l_i = L - L_R with
// L the length asked for. A cable shorter than its target is slack and pulls nothing.
static void growth_cable(pl_geometric *g, geo_drive *d, const double *x)
{
    geo_triangle *t = g->growth.triangle + d->first_triangle;
    const double goal = d->target - geo_cable_rigid(g, d);
    double sum = 0, square = 0, whole = 0;

    for (int k = 0; k < d->triangle_count; ++k) {
        sum += geo_triangle_length(&t[k], x);
        whole += t[k].length;
        square += t[k].length * t[k].length;
    }

    d->active =
        d->mode == GEO_GROWTH && !(d->target >= d->rest && pl_functional_value(&d->h, x) <= d->target);
    for (int k = 0; k < d->triangle_count; ++k) {
        const double now = geo_triangle_length(&t[k], x) / t[k].length;
        const double ratio = g->options.distribution == PL_RATIOS_UNIFORM
                                 ? goal / whole
                                 : now + (goal - sum) / square * t[k].length;
        t[k].ratio = d->active ? fmax(GEO_SMALLEST_RATIO, ratio) : NAN;
    }

    if (d->active && g->options.distribution == PL_RATIOS_JOINT) {
        geo_joint_cable(g, d, x, goal);
    }
    for (int k = 0; k < d->triangle_count; ++k) {
        growth_range(d, t[k].ratio, k == 0);
    }
}

double geo_cable_rigid(const pl_geometric *g, const geo_drive *d)
{
    double length = d->rest;
    for (int k = 0; k < d->triangle_count; ++k) {
        length -= g->growth.triangle[d->first_triangle + k].length;
    }
    return length;
}

void geo_growth_reset(pl_geometric *g)
{
    for (int64_t k = 0; k < g->growth.point_count; ++k) {
        g->growth.ratio[k] = 1;
    }
}

typedef struct growth_loop {
    pl_geometric *g;
    const geo_kernels *kernels;
    const double *x;
} growth_loop;

static void growth_measure(void *context, int64_t from, int64_t to)
{
    const growth_loop *w = context;
    pl_geometric *g = w->g;

    for (int64_t b = from; b < to; ++b) {
        const geo_block *block = &g->cells.block[b];
        if (block->growth_start >= 0) {
            w->kernels->measure(block, &g->cells.law[block->law], w->x,
                                g->growth.measure + block->growth_start,
                                g->growth.stretch + block->growth_start);
        }
    }
}

void geo_growth(pl_geometric *g, const double *x)
{
    growth_loop w = {.g = g, .kernels = geo_kernels_choose(), .x = x};
    if (g->growth.point_count > 0) {
        pl_loop(g->cells.block_count, GEO_GRAIN, growth_measure, &w);
    }

    for (int i = 0; i < g->drive_count; ++i) {
        geo_drive *d = &g->drive[i];
        if (d->triangle_count > 0) {
            growth_cable(g, d, x);
        } else if (d->point_count > 0) {
            growth_cells(g, d, x);
        }
    }
}
