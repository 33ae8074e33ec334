// Actuation elements that are drawn to their own grown shape (actuator_grown.c): the triangles of cables,
// and, where local ratios are minimised jointly, the elements of chambers and films. Chamber and film
// elements with the same ratio everywhere are ordinary elements with another stress-free shape
// (term_growth.c).
//
// With sum u r = target, target = U + (ratio - 1) M: U the elements' measure, M that of the whole actuator (a
// cable's pieces without a triangle keep their rest length). Eliminating the ratios leaves an energy of
// positions alone; its tangent has one dense row a = d(sum u r)/dx with curvature 1 / (d(sum u r)/dpull).
#include "problem/term_growth.h"

static bool grown_joint(const pl_problem *p, const pl_actuator *a)
{
    return a->growth && p->options.distribution == PL_RATIOS_JOINT;
}

bool grown_is_drawn(const pl_problem *p, const pl_actuator *a)
{
    return a->growth && (a->kind == PL_CABLE || grown_joint(p, a));
}

// The corners of a triangle by vertices: gradients of its three points, shared out by their weights.
static pl_status grown_triangle(const pl_problem *p, const pl_actuator *a, const pl_cable_triangle *t,
                                pl_functional *h, pl_error *err)
{
    const pl_point *guide[2] = {&a->guide[t->piece], &a->guide[t->piece + 1]};
    double corner[3][3], g[3][2], area, fixed[9] = {0};

    memcpy(corner[0], guide[0]->rest, sizeof corner[0]);
    memcpy(corner[1], guide[1]->rest, sizeof corner[1]);
    memcpy(corner[2], p->mesh.position + 3 * (int64_t)t->apex, sizeof corner[2]);
    const double length = pl_triangle_gradient((const double(*)[3])corner, g, &area);
    const double weight = 0.5 * a->modulus * area; // 1 mm thick
    const int32_t count = guide[0]->count + guide[1]->count + 1;
    int32_t *node = PL_NEW_ARRAY(int32_t, count);
    double *gradient = PL_NEW_ARRAY(double, 3 * (int64_t)count);
    pl_status status = node && gradient ? PL_OK : PL_NO_MEMORY;
    int32_t n = 0;
    for (int c = 0; status == PL_OK && c < 2; ++c) {
        for (int32_t j = 0; j < guide[c]->count; ++j, ++n) {
            node[n] = guide[c]->node[j];
            gradient[3 * n] = guide[c]->weight[j] * g[c][0];
            gradient[3 * n + 1] = guide[c]->weight[j] * g[c][1];
        }
        // a guide fixed in space moves no vertex
        for (int i = 0; guide[c]->count == 0 && i < 3; ++i) {
            fixed[3 * i] += corner[c][i] * g[c][0];
            fixed[3 * i + 1] += corner[c][i] * g[c][1];
        }
    }

    if (status == PL_OK) {
        node[n] = t->apex;
        gradient[3 * n] = g[2][0];
        gradient[3 * n + 1] = g[2][1];
        status = pl_functional_add_grown(h, PL_GROWN_TRIANGLE, count, node, 1, &weight, &length, NULL, fixed,
                                         gradient);
    }

    pl_free(node);
    pl_free(gradient);

    return status == PL_OK ? PL_OK : pl_fail_memory(err, "problem: cables");
}

static pl_status grown_cable(const pl_problem *p, const pl_actuator *a, pl_functional *h, pl_error *err)
{
    pl_cable_triangle *t = PL_NEW_ARRAY(pl_cable_triangle, a->guide_count);
    int count = 0;
    pl_status status =
        t ? pl_cable_triangles(p->robot, a, t, &count, err) : pl_fail_memory(err, "problem: cables");

    for (int k = 0; status == PL_OK && k < count; ++k) {
        status = grown_triangle(p, a, &t[k], h, err);
    }
    pl_free(t);

    return status;
}

// An element of the region: its points, gradients and weights as drawn.
static pl_status grown_element(const pl_problem *p, const pl_actuator *a, const pl_block *block, int lane,
                               pl_functional *h)
{
    const bool film = a->kind == PL_FILM;
    const int n = block->node_count;
    int32_t node[PL_ELEMENT_NODES_MAX];
    double weight[PL_POINTS_MAX], share[PL_POINTS_MAX], normal[3 * PL_POINTS_MAX], volume = 0;
    double gradient[3 * PL_POINTS_MAX * PL_ELEMENT_NODES_MAX], X[3 * PL_ELEMENT_NODES_MAX];

    for (int q = 0; q < block->point_count; ++q) {
        volume += block->weight[q * PL_LANES + lane];
    }
    for (int k = 0; k < n; ++k) {
        node[k] = block->node[k][lane];
        memcpy(X + 3 * k, p->mesh.position + 3 * (int64_t)node[k], 3 * sizeof *X);
    }

    const double per_volume = film ? pl_prism_area(X) / volume : 1;
    for (int q = 0; q < block->point_count; ++q) {
        const double w = block->weight[q * PL_LANES + lane];
        weight[q] = 0.5 * a->modulus * w;
        share[q] = per_volume * w;
        if (film) {
            pl_block_normal(block, lane, q, &p->mesh, normal + 3 * q);
        }
        for (int k = 0; k < n; ++k) {
            for (int i = 0; i < 3; ++i) {
                gradient[3 * (q * n + k) + i] =
                    block->gradient[((int64_t)(q * n + k) * 3 + i) * PL_LANES + lane];
            }
        }
    }

    return pl_functional_add_grown(h, film ? PL_GROWN_FILM : PL_GROWN_SCALED, n, node, block->point_count,
                                   weight, share, film ? normal : NULL, NULL, gradient);
}

// The elements of the region leave their stiffness to the functional and stay for what they are else: they
// must not invert.
static pl_status grown_region(const pl_problem *p, const pl_actuator *a, pl_functional *h, pl_error *err)
{
    const double *rest = p->robot->region_rest + 2 * a->region;
    if (!(a->modulus > 0) || rest[0] != 1 || rest[1] != 1) {
        return pl_fail(err, PL_BAD_INPUT,
                       "actuator '%s': ratios are minimised jointly (distribution: joint) only for elements "
                       "given by a modulus; region '%s' has %s",
                       a->name, p->mesh.region_name[a->region],
                       a->modulus > 0 ? "a stress-free shape of its own" : "a material");
    }

    pl_status status = PL_OK;
    for (int b = 0; b < p->elements->block_count; ++b) {
        const pl_block *block = &p->elements->block[b];
        for (int l = 0; block->law == a->region && status == PL_OK && l < block->lane_count; ++l) {
            status = grown_element(p, a, block, l, h);
        }
    }

    p->elements->law[a->region].mu = p->elements->law[a->region].kappa = 0;

    return status == PL_OK ? PL_OK : pl_fail_memory(err, "problem: actuation elements");
}

pl_status grown_create(pl_problem *p, growing *g, pl_error *err)
{
    const pl_actuator *a = g->a;
    pl_status status =
        a->kind == PL_CABLE ? grown_cable(p, a, &g->grown, err) : grown_region(p, a, &g->grown, err);

    if (status == PL_OK && grown_joint(p, a)) {
        g->grown.joint = true;
        status = pl_problem_new_row(p, &g->row, err);
    }

    if (status == PL_OK && g->row >= 0) {
        p->row[g->row].wanted = true;
        p->row[g->row].unit = a->rest;
    }

    g->whole = pl_grown_whole(&g->grown);
    g->target = g->whole;

    return status;
}

// M of the target
static double grown_per_ratio(const growing *g)
{
    return g->a->kind == PL_CABLE ? g->a->rest : g->whole;
}

double grown_least(const growing *g)
{
    return 1 - g->whole / grown_per_ratio(g);
}

void grown_ask(growing *g, double ratio)
{
    const double target = g->whole + (ratio - 1) * grown_per_ratio(g);
    if (target != g->target && !g->grown.joint) {
        pl_grown_set(&g->grown, target / g->whole);
    }
    g->target = target;
}

double grown_energy(pl_problem *p, growing *g, const double *x, double *full)
{
    if (g->grown.piece_count == 0) {
        return 0;
    }
    if (g->grown.joint && !pl_grown_meet(&g->grown, x, g->target)) {
        return INFINITY;
    }
    if (full) {
        pl_functional_gradient(&g->grown, x, 1, full);
    }

    if (full && g->row >= 0) {
        const size_t mark = pl_arena_begin(&p->scratch);
        double *gradient = pl_problem_take_full(p);
        memset(gradient, 0, pl_problem_full_bytes(p));
        p->row[g->row].curvature = 1 / pl_grown_row(&g->grown, x, 1, gradient);
        pl_problem_gather(p, gradient, x, p->row[g->row].a);
        pl_arena_end(&p->scratch, mark);
    }

    return pl_functional_value(&g->grown, x);
}

double grown_rate(const pl_problem *p, const growing *g, const double *x)
{
    const double sign = g->a->kind == PL_CABLE ? -1 : 1;
    return sign * grown_per_ratio(g) * grown_effort(p, g, x, NULL, 0, NULL);
}

// dE/d(target), by the ratio and by positions; a tension falls as its target grows.
double grown_effort(const pl_problem *p, const growing *g, const double *x, double *by_ratio, double scale,
                    double *full)
{
    const double sign = g->a->kind == PL_CABLE ? -1 : 1, M = grown_per_ratio(g);
    double rate[2];

    if (!g->grown.joint) {
        pl_grown_rate(&g->grown, x, rate, sign * scale / g->whole, full);
        if (by_ratio) {
            *by_ratio = sign * rate[1] * M / (g->whole * g->whole);
        }
        return sign * rate[0] / g->whole;
    }

    const double curvature = p->row[g->row].curvature;
    if (by_ratio) {
        *by_ratio = sign * M * curvature;
    }
    if (full) {
        pl_grown_row(&g->grown, x, -sign * scale * curvature, full);
    }

    return sign * g->grown.pull;
}

// By the ratio: uniform, the points' own ratio moves by M / U; jointly, dG/dratio = -a curvature M.
void grown_force(const pl_problem *p, const growing *g, const double *x, double scale, double *full)
{
    const double M = grown_per_ratio(g);
    double rate[2];

    if (g->grown.joint) {
        pl_grown_row(&g->grown, x, -scale * M * p->row[g->row].curvature, full);
    } else {
        pl_grown_rate(&g->grown, x, rate, scale * M / g->whole, full);
    }
}
