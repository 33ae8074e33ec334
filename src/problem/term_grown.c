// Actuation elements that are drawn to their own grown shape (actuator_grown.c): the triangles of cables,
// and, where local ratios are minimised jointly, the elements of chambers and films. Chamber and film
// elements with the same ratio everywhere are ordinary elements with another stress-free shape
// (statics_growth.c).
//
// With sum u r = target, target = U + (ratio - 1) M: U the elements' measure, M that of the whole actuator (a
// cable's pieces without a triangle keep their rest length). Eliminating the ratios leaves an energy of
// positions alone; its tangent has one dense row a = d(sum u r)/dx with curvature 1 / (d(sum u r)/dpull).
#include "statics/statics_impl.h"

static bool grown_joint(const pl_statics *s, const pl_actuator *a)
{
    return a->growth && s->options.distribution == PL_RATIOS_JOINT;
}

bool statics_is_grown(const pl_statics *s, int i)
{
    const pl_actuator *a = &s->robot->actuator[i];
    return a->growth && (a->kind == PL_CABLE || grown_joint(s, a));
}

// The corners of a triangle by vertices: gradients of its three points, shared out by their weights.
static pl_status grown_triangle(pl_statics *s, const pl_actuator *a, const pl_cable_triangle *t,
                                pl_functional *h, pl_error *err)
{
    const pl_point *guide[2] = {&a->guide[t->piece], &a->guide[t->piece + 1]};
    double p[3][3], g[3][2], area, fixed[9] = {0};
    memcpy(p[0], guide[0]->rest, sizeof p[0]);
    memcpy(p[1], guide[1]->rest, sizeof p[1]);
    memcpy(p[2], s->mesh.position + 3 * (int64_t)t->apex, sizeof p[2]);
    const double length = pl_triangle_gradient((const double(*)[3])p, g, &area);
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
            fixed[3 * i] += p[c][i] * g[c][0];
            fixed[3 * i + 1] += p[c][i] * g[c][1];
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
    return status == PL_OK ? PL_OK : pl_fail_memory(err, "statics: cables");
}

static pl_status grown_cable(pl_statics *s, const pl_actuator *a, pl_functional *h, pl_error *err)
{
    pl_cable_triangle *t = PL_NEW_ARRAY(pl_cable_triangle, a->guide_count);
    int count = 0;
    pl_status status =
        t ? pl_cable_triangles(s->robot, a, t, &count, err) : pl_fail_memory(err, "statics: cables");
    for (int k = 0; status == PL_OK && k < count; ++k) {
        status = grown_triangle(s, a, &t[k], h, err);
    }
    pl_free(t);
    return status;
}

// An element of the region: its points, gradients and weights as drawn.
static pl_status grown_element(pl_statics *s, const pl_actuator *a, const pl_block *block, int lane,
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
        memcpy(X + 3 * k, s->mesh.position + 3 * (int64_t)node[k], 3 * sizeof *X);
    }
    const double per_volume = film ? pl_prism_area(X) / volume : 1;
    for (int q = 0; q < block->point_count; ++q) {
        const double w = block->weight[q * PL_LANES + lane];
        weight[q] = 0.5 * a->modulus * w;
        share[q] = per_volume * w;
        if (film) {
            pl_block_normal(block, lane, q, &s->mesh, normal + 3 * q);
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
static pl_status grown_region(pl_statics *s, const pl_actuator *a, pl_functional *h, pl_error *err)
{
    const double *rest = s->robot->region_rest + 2 * a->region;
    if (!(a->modulus > 0) || rest[0] != 1 || rest[1] != 1) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "actuator '%s': ratios are minimised jointly (distribution: joint) for elements given by a "
            "modulus alone; region '%s' has %s",
            a->name, s->mesh.region_name[a->region],
            a->modulus > 0 ? "a stress-free shape of its own" : "a material");
    }
    pl_status status = PL_OK;
    for (int b = 0; b < s->elements->block_count; ++b) {
        const pl_block *block = &s->elements->block[b];
        for (int l = 0; block->law == a->region && status == PL_OK && l < block->lane_count; ++l) {
            status = grown_element(s, a, block, l, h);
        }
    }
    s->elements->law[a->region].mu = s->elements->law[a->region].kappa = 0;
    return status == PL_OK ? PL_OK : pl_fail_memory(err, "statics: actuation elements");
}

pl_status statics_grown_create(pl_statics *s, pl_error *err)
{
    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < s->drive_count; ++i) {
        const pl_actuator *a = &s->robot->actuator[i];
        drive *d = &s->drive[i];
        if (statics_is_grown(s, i)) {
            status =
                a->kind == PL_CABLE ? grown_cable(s, a, &d->grown, err) : grown_region(s, a, &d->grown, err);
            d->grown.joint = grown_joint(s, a);
            d->grown_whole = pl_grown_whole(&d->grown);
            d->grown_target = d->grown_whole;
        }
    }
    return status;
}

// M of the target
static double grown_per_ratio(const pl_statics *s, int i)
{
    const pl_actuator *a = &s->robot->actuator[i];
    return a->kind == PL_CABLE ? a->rest : s->drive[i].grown_whole;
}

double statics_grown_rate(pl_statics *s, int i, const double *x)
{
    const double sign = s->robot->actuator[i].kind == PL_CABLE ? -1 : 1;
    return sign * grown_per_ratio(s, i) * statics_grown_effort(s, i, x, NULL, 0, NULL);
}

double statics_grown_least(const pl_statics *s, int i)
{
    return 1 - s->drive[i].grown_whole / grown_per_ratio(s, i);
}

bool statics_grown_ask(pl_statics *s, int i, double ratio)
{
    drive *d = &s->drive[i];
    const double target = d->grown_whole + (ratio - 1) * grown_per_ratio(s, i);
    const bool changed = target != d->grown_target;
    d->grown_target = target;
    if (changed && !d->grown.joint) {
        pl_grown_set(&d->grown, target / d->grown_whole);
    }
    return changed;
}

double statics_grown_energy(pl_statics *s, const double *x, double *full)
{
    double energy = 0;
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        if (d->grown.term_count == 0) {
            continue;
        }
        if (d->grown.joint && !pl_grown_meet(&d->grown, x, d->grown_target)) {
            return INFINITY;
        }
        energy += pl_functional_value(&d->grown, x);
        if (full) {
            pl_functional_gradient(&d->grown, x, 1, full);
        }
    }
    return energy;
}

double statics_elastic(pl_statics *s, const double *x, double *full, double *min_J)
{
    const double energy = pl_elements_energy(s->elements, x, full, min_J);
    return isinf(energy) ? energy : energy + statics_grown_energy(s, x, full);
}

void statics_grown_row(pl_statics *s, int i, const double *x)
{
    drive *d = &s->drive[i];
    memset(s->g_trial, 0, 3 * (size_t)s->mesh.vertex_count * sizeof *s->g_trial);
    d->curvature = 1 / pl_grown_row(&d->grown, x, 1, s->g_trial);
    statics_gather(s, s->g_trial, x, d->row);
}

// dE/d(target), by the ratio and by positions; a tension falls as its target grows.
double statics_grown_effort(pl_statics *s, int i, const double *x, double *by_ratio, double scale,
                            double *full)
{
    const drive *d = &s->drive[i];
    const double sign = s->robot->actuator[i].kind == PL_CABLE ? -1 : 1, M = grown_per_ratio(s, i);
    double rate[2];
    if (!d->grown.joint) {
        pl_grown_rate(&d->grown, x, rate, sign * scale / d->grown_whole, full);
        if (by_ratio) {
            *by_ratio = sign * rate[1] * M / (d->grown_whole * d->grown_whole);
        }
        return sign * rate[0] / d->grown_whole;
    }
    if (by_ratio) {
        *by_ratio = sign * M * d->curvature;
    }
    if (full) {
        pl_grown_row(&d->grown, x, -sign * scale * d->curvature, full);
    }
    return sign * d->grown.pull;
}

// By the ratio: uniform, the points' own ratio moves by M / U; jointly, dG/dratio = -a curvature M.
void statics_grown_force(pl_statics *s, int i, const double *x, double scale, double *full)
{
    const drive *d = &s->drive[i];
    const double M = grown_per_ratio(s, i);
    double rate[2];
    if (d->grown.joint) {
        pl_grown_row(&d->grown, x, -scale * M * d->curvature, full);
    } else {
        pl_grown_rate(&d->grown, x, rate, scale * M / d->grown_whole, full);
    }
}
