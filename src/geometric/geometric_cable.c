// Cables: guide points on the corner vertices, and the triangles between a cable and the body that growth
// actuation shrinks. A triangle stands on a piece of cable that crosses a gap of the body, its apex at the
// bottom of the gap; where a cable crosses no gap, on every piece. Its corners are p_a, its map
// F = sum p_a (x) g_a (3 x 2) is drawn to T = R diag(s, 1), with R the nearest 3 x 2 matrix of orthonormal
// columns. As in the papers its area stands for its volume (a thickness of 1 mm). In the vertex metric
// differences are weighed by the centred corners V_a: M = sum V_a (x) V_a stands where the gradient metric
// has I.
#include "geometric/geometric_impl.h"
#include "robot/robot_kind.h"

void geo_point_at(const pl_point *point, const double *x, double out[3])
{
    if (point->count == 0) {
        memcpy(out, point->rest, 3 * sizeof *out);
        return;
    }

    out[0] = out[1] = out[2] = 0;
    for (int32_t j = 0; j < point->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            out[i] += point->weight[j] * x[3 * (size_t)point->node[j] + (size_t)i];
        }
    }
}

pl_status geo_point_convert(const pl_geometric *g, const pl_point *from, double *work, pl_point *to,
                            pl_error *err)
{
    memcpy(to->rest, from->rest, sizeof to->rest);
    for (int32_t j = 0; j < from->count; ++j) {
        const int32_t c = g->map.corner_of[from->node[j]];
        if (c >= 0) {
            work[c] += from->weight[j];
        } else {
            const geo_mid *mid = &g->map.mid[-1 - c];
            work[mid->a] += 0.5 * from->weight[j];
            work[mid->b] += 0.5 * from->weight[j];
        }
    }

    for (int32_t v = 0; v < g->corner_count; ++v) {
        to->count += work[v] != 0;
    }
    to->node = PL_NEW_ARRAY(int32_t, to->count);
    to->weight = PL_NEW_ARRAY(double, to->count);
    int32_t n = 0;

    for (int32_t v = 0; v < g->corner_count; ++v) {
        if (work[v] != 0 && to->node && to->weight) {
            to->node[n] = v;
            to->weight[n++] = work[v];
        }

        work[v] = 0;
    }

    return to->node && to->weight ? PL_OK : pl_fail_memory(err, "local_global: guides");
}

pl_status geo_guides_create(pl_geometric *g, pl_error *err)
{
    double *work = PL_NEW_ARRAY(double, g->corner_count);
    pl_status status = work ? PL_OK : pl_fail_memory(err, "local_global: guides");

    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        const pl_actuator *a = &g->robot->actuator[i];
        g->drive[i].guide = PL_NEW_ARRAY(pl_point, a->guide_count);
        status = g->drive[i].guide ? PL_OK : pl_fail_memory(err, "local_global: guides");
        for (int k = 0; status == PL_OK && k < a->guide_count; ++k) {
            status = geo_point_convert(g, &a->guide[k], work, &g->drive[i].guide[k], err);
        }
    }

    pl_free(work);
    return status;
}

// Reference gradients in the frame (along the cable, towards the apex): sum_a g_a = 0, sum_a p_a (x) g_a = I.
static void triangle_init(geo_triangle *t, const double p[3][3], pl_metric metric)
{
    t->length = pl_triangle_gradient(p, t->gradient, &t->area);
    const double y2 = 1 / t->gradient[2][1], x2 = -t->gradient[1][1] * t->length * y2;
    const double arm[3][2] = {{-(t->length + x2) / 3, -y2 / 3},
                              {(2 * t->length - x2) / 3, -y2 / 3},
                              {(2 * x2 - t->length) / 3, 2 * y2 / 3}};
    const bool vertex = metric == PL_METRIC_VERTEX;
    memcpy(t->out, vertex ? arm : (const double(*)[2])t->gradient, sizeof t->out);
    t->M[0] = t->M[2] = vertex ? 0 : 1;

    for (int a = 0; vertex && a < 3; ++a) {
        t->M[0] += arm[a][0] * arm[a][0];
        t->M[1] += arm[a][0] * arm[a][1];
        t->M[2] += arm[a][1] * arm[a][1];
    }
}

static void triangle_corner(geo_triangle *t, int corner, const pl_point *point)
{
    t->count[corner] = point->count;
    t->node[corner] = point->node;
    t->weight[corner] = point->weight;
    memcpy(t->fixed[corner], point->rest, sizeof point->rest);
}

static pl_status cable_triangles(pl_geometric *g, int i, pl_error *err)
{
    const pl_actuator *a = &g->robot->actuator[i];
    geo_drive *d = &g->drive[i];

    d->first_triangle = g->growth.triangle_count;
    pl_cable_triangle *found = PL_NEW_ARRAY(pl_cable_triangle, a->guide_count);
    int count = 0;
    const pl_status status = found ? pl_cable_triangles(g->robot, a, found, &count, err)
                                   : pl_fail_memory(err, "local_global: cables");
    for (int n = 0; n < count; ++n) {
        const int k = found[n].piece;
        const int32_t apex = g->map.corner_of[found[n].apex];
        double p[3][3];
        geo_point_at(&d->guide[k], g->X, p[0]);
        geo_point_at(&d->guide[k + 1], g->X, p[1]);
        geo_triangle *t = &g->growth.triangle[g->growth.triangle_count++];
        *t = (geo_triangle){.actuator = i, .apex = apex, .one = 1, .ratio = NAN};
        t->weight_factor = geo_actuation_weight(g, i);
        memcpy(p[2], g->X + 3 * (size_t)apex, sizeof p[2]);
        triangle_corner(t, 0, &d->guide[k]);
        triangle_corner(t, 1, &d->guide[k + 1]);
        t->count[2] = 1;
        t->node[2] = &t->apex;
        t->weight[2] = &t->one;
        triangle_init(t, (const double(*)[3])p, g->options.metric);
    }

    d->triangle_count = g->growth.triangle_count - d->first_triangle;
    pl_free(found);

    return status;
}

pl_status geo_cables_create(pl_geometric *g, pl_error *err)
{
    int64_t pieces = 0;
    for (int i = 0; i < g->drive_count; ++i) {
        pieces += g->robot->actuator[i].guide_count;
    }
    g->growth.triangle = PL_NEW_ARRAY(geo_triangle, pieces);
    if (!g->growth.triangle) {
        return pl_fail_memory(err, "local_global: cables");
    }

    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < g->drive_count; ++i) {
        if (pl_actuator_growth_form(g->robot->actuator[i].kind) == PL_GROWTH_LINE &&
            g->drive[i].has_elements) {
            status = cable_triangles(g, i, err);
        }
    }

    return status;
}

static void triangle_points(const geo_triangle *t, const double *x, double p[3][3])
{
    for (int a = 0; a < 3; ++a) {
        memcpy(p[a], t->fixed[a], sizeof p[a]);
        for (int i = 0; t->count[a] > 0 && i < 3; ++i) {
            p[a][i] = 0;
            for (int32_t j = 0; j < t->count[a]; ++j) {
                p[a][i] += t->weight[a][j] * x[3 * (size_t)t->node[a][j] + (size_t)i];
            }
        }
    }
}

double geo_triangle_length(const geo_triangle *t, const double *x)
{
    double p[3][3];
    triangle_points(t, x, p);
    return pl_distance3(p[0], p[1]);
}

void geo_triangle_map(const geo_triangle *t, const double *x, double F[6])
{
    double p[3][3];
    triangle_points(t, x, p);
    memset(F, 0, 6 * sizeof *F);

    for (int a = 0; a < 3; ++a) {
        for (int i = 0; i < 6; ++i) {
            F[i] += p[a][i / 2] * t->gradient[a][i % 2];
        }
    }
}

// R = A (A^T A)^(-1/2) for A = F M diag(s, 1): with C = A^T A and d = sqrt(det C),
// C^(1/2) = (C + d I) / sqrt(tr C + 2 d).
static void triangle_rotation(const geo_triangle *t, const double F[6], double R[6])
{
    double A[6], M[3] = {0};
    for (int i = 0; i < 3; ++i) {
        A[2 * i] = (F[2 * i] * t->M[0] + F[2 * i + 1] * t->M[1]) * t->ratio;
        A[2 * i + 1] = F[2 * i] * t->M[1] + F[2 * i + 1] * t->M[2];
        M[0] += A[2 * i] * A[2 * i];
        M[1] += A[2 * i] * A[2 * i + 1];
        M[2] += A[2 * i + 1] * A[2 * i + 1];
    }

    const double d = sqrt(fmax(M[0] * M[2] - M[1] * M[1], 1e-24 * M[0] * M[2] + 1e-300));
    const double k = sqrt(M[0] + M[2] + 2 * d);
    const double a = (M[0] + d) / k, b = M[1] / k, c = (M[2] + d) / k, det = a * c - b * b;
    for (int i = 0; i < 3; ++i) {
        R[2 * i] = (A[2 * i] * c - A[2 * i + 1] * b) / det;
        R[2 * i + 1] = (A[2 * i + 1] * a - A[2 * i] * b) / det;
    }
}

double geo_triangles_force(pl_geometric *g, const double *x, double *f)
{
    double energy = 0;
    for (int k = 0; k < g->growth.triangle_count; ++k) {
        const geo_triangle *t = &g->growth.triangle[k];
        if (!(t->ratio > 0)) {
            continue;
        }
        double F[6], R[6];
        geo_triangle_map(t, x, F);
        triangle_rotation(t, F, R);
        const double w = t->weight_factor * t->area;

        for (int i = 0; i < 3; ++i) {
            F[2 * i] -= R[2 * i] * t->ratio;
            F[2 * i + 1] -= R[2 * i + 1];
            energy += w * (F[2 * i] * F[2 * i] * t->M[0] + 2 * F[2 * i] * F[2 * i + 1] * t->M[1] +
                           F[2 * i + 1] * F[2 * i + 1] * t->M[2]);
        }

        for (int a = 0; f && a < 3; ++a) {
            for (int i = 0; i < 3; ++i) {
                const double force = 2 * w * (F[2 * i] * t->out[a][0] + F[2 * i + 1] * t->out[a][1]);
                for (int32_t j = 0; j < t->count[a]; ++j) {
                    f[3 * (size_t)t->node[a][j] + (size_t)i] += t->weight[a][j] * force;
                }
            }
        }
    }

    return energy;
}
