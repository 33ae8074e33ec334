// Rigid regions that are not clamped: each moves with six unknowns, exactly.
//
// A rigid step of region b is d_j = t + w x (R r_j), r_j the rest offsets from its centre. Each coordinate of
// it is a sum of the four fields 1, r_x, r_y, r_z on the region's vertices; let E be such a field continued
// into the rest of the body so that L E = 0 there (one solve each, once). A step is y = L^-1 b on the free
// vertices plus sum a E, and the best a, restricted to rigid steps a = A q, solves
//   A^T S A q = A^T E^T b,   S = E^T L E,
// six equations per region. Forces on the region's vertices count by their sum and moment alone and are
// spread as a rigid field; positions are set back onto the rigid motion that fits them best.
#include "geometric/geometric_impl.h"

#define FIELDS 4 // per region

static bool rigid_init(const pl_geometric *g, const pl_rigid *from, geo_rigid *to)
{
    to->node = PL_NEW_ARRAY(int32_t, from->node_count);
    to->arm = PL_NEW_ARRAY(double, 3 * (int64_t)from->node_count);
    if (!to->node || !to->arm) {
        return false;
    }

    for (int32_t j = 0; j < from->node_count; ++j) {
        if (g->map.corner_of[from->node[j]] >= 0) {
            to->node[to->count++] = g->map.corner_of[from->node[j]];
        }
    }

    for (int32_t j = 0; j < to->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            to->centre[i] += g->X[3 * (size_t)to->node[j] + (size_t)i] / to->count;
        }
    }

    double inertia[9] = {0}, C[9];
    for (int32_t j = 0; j < to->count; ++j) {
        double *r = to->arm + 3 * (size_t)j;
        pl_sub3(g->X + 3 * (size_t)to->node[j], to->centre, r);
        for (int i = 0; i < 9; ++i) {
            inertia[i] += (i % 4 == 0 ? pl_dot3(r, r) : 0) - r[i / 3] * r[i % 3];
        }
    }

    pl_cofactor3(inertia, C);
    const double det = pl_det3(inertia);
    for (int i = 0; i < 9; ++i) {
        to->inverse[i] = C[i] / det; // symmetric
        to->R[i] = i % 4 == 0;
    }

    return true;
}

// A rigid region that touches a clamp is clamped with it.
static bool rigid_clamped(pl_geometric *g, const pl_rigid *rigid)
{
    int32_t support = -1;
    for (int32_t j = 0; j < rigid->node_count && support < 0; ++j) {
        const int32_t c = g->map.corner_of[rigid->node[j]];
        const int32_t *held = c >= 0 ? g->support_of + 3 * (size_t)c : NULL;
        support = held && held[0] >= 0 && held[1] >= 0 && held[2] >= 0 ? held[0] : -1;
    }

    for (int32_t j = 0; support >= 0 && j < rigid->node_count; ++j) {
        const int32_t c = g->map.corner_of[rigid->node[j]];
        for (int i = 0; c >= 0 && i < 3; ++i) {
            g->support_of[3 * (size_t)c + (size_t)i] = support;
        }
    }

    return support >= 0;
}

pl_status geo_rigid_create(pl_geometric *g, pl_error *err)
{
    g->rigids.of = PL_NEW_ARRAY(int32_t, g->vertex_count);
    g->rigids.body = PL_NEW_ARRAY(geo_rigid, g->robot->rigid_count);
    if (!g->rigids.of || !g->rigids.body) {
        return pl_fail_memory(err, "local_global: rigid regions");
    }
    for (int32_t v = 0; v < g->vertex_count; ++v) {
        g->rigids.of[v] = -1;
    }

    for (int b = 0; b < g->robot->rigid_count; ++b) {
        if (rigid_clamped(g, &g->robot->rigid[b])) {
            continue;
        }
        if (g->rigids.count == GEO_RIGIDS) {
            return pl_fail(err, PL_BAD_INPUT, "local_global: at most %d rigid regions can be free",
                           GEO_RIGIDS);
        }

        geo_rigid *rigid = &g->rigids.body[g->rigids.count++];
        if (!rigid_init(g, &g->robot->rigid[b], rigid)) {
            return pl_fail_memory(err, "local_global: rigid regions");
        }
        for (int32_t j = 0; j < rigid->count; ++j) {
            g->rigids.of[rigid->node[j]] = g->rigids.count - 1;
        }
    }

    return PL_OK;
}

void geo_rigid_destroy(pl_geometric *g)
{
    for (int b = 0; g->rigids.body && b < g->rigids.count; ++b) {
        pl_free(g->rigids.body[b].node);
        pl_free(g->rigids.body[b].arm);
    }

    pl_free(g->rigids.body);
    pl_free(g->rigids.of);
    pl_free(g->rigids.field);
}

static double *rigid_field(const pl_geometric *g, int system, int k)
{
    return g->rigids.field +
           ((size_t)system * FIELDS * (size_t)g->rigids.count + (size_t)k) * (size_t)g->vertex_count;
}

// One field of one system: given on the region, continued on the free vertices. `work` has room for two.
static void rigid_continue(pl_geometric *g, int system, int k, double *work)
{
    const geo_rigid *rigid = &g->rigids.body[k / FIELDS];
    const geo_system *s = &g->matrix.system[system];
    double *E = rigid_field(g, system, k), *right = work + g->vertex_count;

    for (int32_t j = 0; j < rigid->count; ++j) {
        E[rigid->node[j]] = k % FIELDS == 0 ? 1 : rigid->arm[3 * (size_t)j + (size_t)(k % FIELDS) - 1];
    }
    geo_matrix_apply(g, E, work);

    for (int32_t v = 0; v < g->vertex_count; ++v) {
        if (s->unknown[v] >= 0) {
            right[s->unknown[v]] = -work[v];
        }
    }

    if (s->n > 0) {
        pl_factor_solve(s->factor, right, 1);
    }
    for (int32_t v = 0; v < g->vertex_count; ++v) {
        E[v] = s->unknown[v] >= 0 ? right[s->unknown[v]] : E[v];
    }
}

pl_status geo_rigid_fields(pl_geometric *g, pl_error *err)
{
    if (g->rigids.count == 0) {
        return PL_OK;
    }

    const int fields = FIELDS * g->rigids.count;
    g->rigids.field = PL_NEW_ARRAY(double, (int64_t)g->matrix.count *fields * g->vertex_count);
    double *work = PL_NEW_ARRAY(double, 2 * (int64_t)g->vertex_count);
    if (!g->rigids.field || !work) {
        pl_free(work);
        return pl_fail_memory(err, "local_global: rigid regions");
    }

    for (int system = 0; system < g->matrix.count; ++system) {
        for (int k = 0; k < fields; ++k) {
            rigid_continue(g, system, k, work);
        }
        for (int k = 0; k < fields; ++k) {
            geo_matrix_apply(g, rigid_field(g, system, k), work);

            for (int m = 0; m < fields; ++m) {
                const geo_rigid *rigid = &g->rigids.body[m / FIELDS];
                double sum = 0;
                // L E is nothing but on rigid vertices
                for (int32_t j = 0; j < rigid->count; ++j) {
                    sum += rigid_field(g, system, m)[rigid->node[j]] * work[rigid->node[j]];
                }
                g->rigids.schur[system][m * fields + k] = sum;
            }
        }
    }

    pl_free(work);

    return PL_OK;
}

// What unknown p (t, then w) of a region does to coordinate i of field k: t_i for the first, (w x R column)_i
// for the others.
static double rigid_entry(const geo_rigid *rigid, int p, int i, int k)
{
    if (p < 3 || k == 0) {
        return p < 3 && k == 0 && i == p;
    }

    const double column[3] = {rigid->R[k - 1], rigid->R[3 + k - 1], rigid->R[6 + k - 1]};
    double axis[3] = {0}, turned[3];
    axis[p - 3] = 1;
    pl_cross3(axis, column, turned);

    return turned[i];
}

// Coordinates a of the fields from the unknowns q: a[3 * field + axis].
static void rigid_coordinates(const pl_geometric *g, const double *q, double *a)
{
    for (int b = 0; b < g->rigids.count; ++b) {
        for (int k = 0; k < FIELDS; ++k) {
            for (int i = 0; i < 3; ++i) {
                double sum = 0;
                for (int p = 0; p < 6; ++p) {
                    sum += rigid_entry(&g->rigids.body[b], p, i, k) * q[6 * b + p];
                }
                a[3 * (FIELDS * b + k) + i] = sum;
            }
        }
    }
}

// A^T S A and A^T E^T b
static void rigid_equations(const pl_geometric *g, const double *b, double *M, double *q)
{
    const int n = 6 * g->rigids.count, fields = FIELDS * g->rigids.count;
    double A[3 * FIELDS * GEO_RIGIDS], image[3 * FIELDS * GEO_RIGIDS], load[3 * FIELDS * GEO_RIGIDS];

    // load = E^T b: what the fields of the rigid bodies feel of b
    for (int k = 0; k < fields; ++k) {
        for (int i = 0; i < 3; ++i) {
            const double *E = rigid_field(g, g->matrix.of[i], k);
            double sum = 0;
            for (int32_t v = 0; v < g->vertex_count; ++v) {
                sum += E[v] * b[3 * (size_t)v + (size_t)i];
            }
            load[3 * k + i] = sum;
        }
    }

    // column by column: A of a unit motion, S times it, and the products with all rows
    for (int column = 0; column < n; ++column) {
        double unit[6 * GEO_RIGIDS] = {0};
        unit[column] = 1;
        rigid_coordinates(g, unit, A);
        q[column] = 0;

        for (int k = 0; k < fields; ++k) {
            for (int i = 0; i < 3; ++i) {
                const double *S = g->rigids.schur[g->matrix.of[i]] + k * fields;
                double sum = 0;
                for (int m = 0; m < fields; ++m) {
                    sum += S[m] * A[3 * m + i];
                }
                image[3 * k + i] = sum;
                q[column] += A[3 * k + i] * load[3 * k + i];
            }
        }

        for (int row = 0; row < n; ++row) {
            const int first = FIELDS * (row / 6);
            double sum = 0;
            for (int k = 0; k < 3 * FIELDS; ++k) {
                sum += rigid_entry(&g->rigids.body[row / 6], row % 6, k % 3, k / 3) * image[3 * first + k];
            }
            M[row * n + column] = sum;
        }
    }
}

void geo_rigid_solve(const pl_geometric *g, const double *b, double *y)
{
    const int n = 6 * g->rigids.count;
    double M[36 * GEO_RIGIDS * GEO_RIGIDS], q[6 * GEO_RIGIDS], a[3 * FIELDS * GEO_RIGIDS];

    if (n == 0) {
        return;
    }
    rigid_equations(g, b, M, q);
    if (!pl_dense_solve(n, M, q, 1)) {
        return;
    }
    rigid_coordinates(g, q, a);

    for (int k = 0; k < FIELDS * g->rigids.count; ++k) {
        for (int i = 0; i < 3; ++i) {
            const double *E = rigid_field(g, g->matrix.of[i], k);
            for (int32_t v = 0; v < g->vertex_count; ++v) {
                y[3 * (size_t)v + (size_t)i] += a[3 * k + i] * E[v];
            }
        }
    }
}

// Where a region's centre is at x.
static void rigid_centre(const geo_rigid *rigid, const double *x, double c[3])
{
    c[0] = c[1] = c[2] = 0;
    for (int32_t j = 0; j < rigid->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            c[i] += x[3 * (size_t)rigid->node[j] + (size_t)i] / rigid->count;
        }
    }
}

void geo_rigid_set(pl_geometric *g, double *x)
{
    for (int b = 0; b < g->rigids.count; ++b) {
        geo_rigid *rigid = &g->rigids.body[b];
        double c[3], M[9] = {0};
        rigid_centre(rigid, x, c);

        for (int32_t j = 0; j < rigid->count; ++j) {
            for (int i = 0; i < 9; ++i) {
                M[i] += (x[3 * (size_t)rigid->node[j] + (size_t)(i / 3)] - c[i / 3]) *
                        rigid->arm[3 * (size_t)j + (size_t)(i % 3)];
            }
        }

        geo_rotation_slow(M, rigid->R);
        for (int32_t j = 0; j < rigid->count; ++j) {
            double turned[3];
            pl_mulv3(rigid->R, rigid->arm + 3 * (size_t)j, turned);
            for (int i = 0; i < 3; ++i) {
                x[3 * (size_t)rigid->node[j] + (size_t)i] = c[i] + turned[i];
            }
        }
    }
}

void geo_rigid_project(const pl_geometric *g, double *f)
{
    for (int b = 0; b < g->rigids.count; ++b) {
        const geo_rigid *rigid = &g->rigids.body[b];
        double sum[3] = {0}, moment[3] = {0}, own[3], spin[3];

        for (int32_t j = 0; j < rigid->count; ++j) {
            const double *force = f + 3 * (size_t)rigid->node[j];
            double r[3], m[3];
            pl_mulv3(rigid->R, rigid->arm + 3 * (size_t)j, r);
            pl_cross3(r, force, m);
            for (int i = 0; i < 3; ++i) {
                sum[i] += force[i];
                moment[i] += m[i];
            }
        }

        // the inertia turns with the region: w = R I^-1 R^T m
        pl_mulTv3(rigid->R, moment, own);
        pl_mulv3(rigid->inverse, own, spin);
        pl_mulv3(rigid->R, spin, own);

        for (int32_t j = 0; j < rigid->count; ++j) {
            double r[3], turned[3];
            pl_mulv3(rigid->R, rigid->arm + 3 * (size_t)j, r);
            pl_cross3(own, r, turned);
            for (int i = 0; i < 3; ++i) {
                f[3 * (size_t)rigid->node[j] + (size_t)i] = sum[i] / rigid->count + turned[i];
            }
        }
    }
}
