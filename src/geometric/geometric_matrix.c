// The matrix of the global step and its solves. With forces f = 2 sum w Vol (F - T) grad N, the positions
// that fit all targets best are x - L^-1 f, where L_ab = 2 sum w Vol grad N_a . grad N_b (vertex metric: 2
// sum w Vol N_ab) is the same for the three coordinates. Held vertices are left out of it, so they stay where
// they are to the last bit. Where supports hold single axes there is one matrix per set of held vertices.
#include <stdlib.h>
#include "base/threads.h"
#include "geometric/geometric_impl.h"

// The cells around every vertex, and the cable triangles as cells of many vertices.
typedef struct cliques {
    int64_t *start; // per vertex
    int32_t *list;  // (block * 8 + lane) or -1 - triangle
} cliques;

static pl_status cliques_create(const pl_geometric *g, cliques *c, pl_error *err)
{
    *c = (cliques){.start = PL_NEW_ARRAY(int64_t, (int64_t)g->vertex_count + 2)};
    for (int pass = 0; c->start && pass < 2; ++pass) {
        for (int b = 0; b < g->cells.block_count; ++b) {
            for (int l = 0; l < g->cells.block[b].lane_count; ++l) {
                for (int a = 0; a < g->cells.block[b].node_count; ++a) {
                    const int32_t v = g->cells.block[b].node[a][l];
                    if (pass == 0) {
                        c->start[v + 2]++;
                    } else {
                        c->list[c->start[v + 1]++] = b * GEO_LANES + l;
                    }
                }
            }
        }

        for (int t = 0; t < g->growth.triangle_count; ++t) {
            for (int k = 0; k < 3; ++k) {
                for (int32_t j = 0; j < g->growth.triangle[t].count[k]; ++j) {
                    const int32_t v = g->growth.triangle[t].node[k][j];
                    if (pass == 0) {
                        c->start[v + 2]++;
                    } else {
                        c->list[c->start[v + 1]++] = -1 - t;
                    }
                }
            }
        }

        if (pass == 0) {
            for (int32_t v = 0; v < g->vertex_count; ++v) {
                c->start[v + 2] += c->start[v + 1];
            }
            c->list = PL_NEW_ARRAY(int32_t, c->start[g->vertex_count + 1]);
            if (!c->list) {
                break;
            }
        }
    }

    return c->start && c->list ? PL_OK : pl_fail_memory(err, "local_global: matrix");
}

static int matrix_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Rows up to j of column j, sorted; `mark` remembers j. Returns their number.
static int32_t matrix_column(const pl_geometric *g, const geo_system *s, const cliques *c, int32_t v,
                             int32_t *mark, int32_t *row)
{
    const int32_t j = s->unknown[v];
    int32_t n = 0;

    for (int64_t k = c->start[v]; k < c->start[v + 1]; ++k) {
        const int32_t id = c->list[k];
        if (id >= 0) {
            const geo_block *block = &g->cells.block[id / GEO_LANES];

            for (int a = 0; a < block->node_count; ++a) {
                const int32_t i = s->unknown[block->node[a][id % GEO_LANES]];
                if (i >= 0 && i <= j && mark[i] != j + 1) {
                    mark[i] = j + 1;
                    row[n++] = i;
                }
            }

            continue;
        }

        const geo_triangle *t = &g->growth.triangle[-1 - id];
        for (int corner = 0; corner < 3; ++corner) {
            for (int32_t m = 0; m < t->count[corner]; ++m) {
                const int32_t i = s->unknown[t->node[corner][m]];
                if (i >= 0 && i <= j && mark[i] != j + 1) {
                    mark[i] = j + 1;
                    row[n++] = i;
                }
            }
        }
    }

    qsort(row, (size_t)n, sizeof *row, matrix_compare);
    return n;
}

static pl_status matrix_pattern(const pl_geometric *g, geo_system *s, const cliques *c, pl_error *err)
{
    int32_t *mark = PL_NEW_ARRAY(int32_t, s->n), *row = PL_NEW_ARRAY(int32_t, s->n);
    int64_t entries = 0;
    pl_status status = mark && row ? PL_OK : pl_fail_memory(err, "local_global: matrix");

    for (int pass = 0; status == PL_OK && pass < 2; ++pass) {
        int64_t at = 0;
        for (int32_t v = 0; v < g->vertex_count; ++v) {
            if (s->unknown[v] < 0) {
                continue;
            }
            const int32_t n = matrix_column(g, s, c, v, mark, row);
            if (pass == 1) {
                s->L.start[s->unknown[v]] = at;
                memcpy(s->L.row + at, row, (size_t)n * sizeof *row);
            }

            at += n;
        }

        entries = at;
        if (pass == 0) {
            status = pl_sparse_create(s->n, entries, &s->L, err);
            memset(mark, 0, (size_t)s->n * sizeof *mark);
        } else {
            s->L.start[s->n] = entries;
        }
    }

    pl_free(mark);
    pl_free(row);

    return status;
}

static void matrix_add(geo_system *s, int32_t u, int32_t v, double value)
{
    const int32_t i = s->unknown[u], j = s->unknown[v];
    if (i >= 0 && j >= 0 && i <= j) {
        s->L.value[pl_sparse_slot(&s->L, i, j)] += value;
    }
}

// 2 w Vol grad N_a . grad N_b over the points, or 2 w Vol (delta_ab - 1/k)
static double block_entry(const geo_block *block, const geo_law *law, int lane, int a, int b)
{
    if (block->arm) {
        return 2 * law->w * block->weight[lane] * ((a == b) - 1.0 / block->node_count);
    }

    double sum = 0;
    for (int q = 0; q < block->point_count; ++q) {
        const double *g = block->gradient + (size_t)q * 3 * (size_t)block->node_count * GEO_LANES + lane;
        for (int i = 0; i < 3; ++i) {
            sum += 2 * law->w * block->weight[q * GEO_LANES + lane] * g[(3 * a + i) * GEO_LANES] *
                   g[(3 * b + i) * GEO_LANES];
        }
    }

    return sum;
}

static double triangle_entry(const geo_triangle *t, int a, int b)
{
    return 2 * t->weight_factor * t->area *
           (t->out[a][0] * t->gradient[b][0] + t->out[a][1] * t->gradient[b][1]);
}

static void matrix_values(const pl_geometric *g, geo_system *s)
{
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            for (int a = 0; a < block->node_count; ++a) {
                for (int c = 0; c < block->node_count; ++c) {
                    matrix_add(s, block->node[a][l], block->node[c][l],
                               block_entry(block, &g->cells.law[block->law], l, a, c));
                }
            }
        }
    }

    for (int k = 0; k < g->growth.triangle_count; ++k) {
        const geo_triangle *t = &g->growth.triangle[k];
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) {
                const double value = triangle_entry(t, a, b);

                for (int32_t i = 0; i < t->count[a]; ++i) {
                    for (int32_t j = 0; j < t->count[b]; ++j) {
                        matrix_add(s, t->node[a][i], t->node[b][j],
                                   value * t->weight[a][i] * t->weight[b][j]);
                    }
                }
            }
        }
    }
}

void geo_matrix_apply(const pl_geometric *g, const double *x, double *y)
{
    memset(y, 0, (size_t)g->vertex_count * sizeof *y);
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];

        for (int l = 0; l < block->lane_count; ++l) {
            for (int a = 0; a < block->node_count; ++a) {
                for (int c = 0; c < block->node_count; ++c) {
                    y[block->node[a][l]] +=
                        block_entry(block, &g->cells.law[block->law], l, a, c) * x[block->node[c][l]];
                }
            }
        }
    }

    for (int k = 0; k < g->growth.triangle_count; ++k) {
        const geo_triangle *t = &g->growth.triangle[k];
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) {
                double value = 0;
                for (int32_t j = 0; j < t->count[b]; ++j) {
                    value += triangle_entry(t, a, b) * t->weight[b][j] * x[t->node[b][j]];
                }
                for (int32_t i = 0; i < t->count[a]; ++i) {
                    y[t->node[a][i]] += t->weight[a][i] * value;
                }
            }
        }
    }
}

double geo_matrix_diagonal(const pl_geometric *g, int32_t v)
{
    for (int k = 0; k < g->matrix.count; ++k) {
        const geo_system *s = &g->matrix.system[k];
        if (s->unknown[v] >= 0) {
            return s->L.value[pl_sparse_slot(&s->L, s->unknown[v], s->unknown[v])];
        }
    }

    return 0;
}

pl_status geo_matrix_refresh(pl_geometric *g, pl_error *err)
{
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < g->matrix.count; ++k) {
        geo_system *s = &g->matrix.system[k];
        if (s->n == 0) {
            continue;
        }
        memset(s->L.value, 0, (size_t)s->L.start[s->n] * sizeof *s->L.value);
        matrix_values(g, s);
        for (int32_t v = 0; v < g->vertex_count; ++v) {
            matrix_add(s, v, v, geo_contact_stiffness(g, v));
        }
        pl_factor_report report = {0};
        status = pl_factor_update(s->factor, &s->L, &report, err);
    }

    return status;
}

static pl_status matrix_factor(const pl_geometric *g, geo_system *s, pl_error *err)
{
    int32_t *group = PL_NEW_ARRAY(int32_t, s->n);
    if (!group) {
        return pl_fail_memory(err, "local_global: matrix");
    }
    for (int32_t i = 0; i < s->n; ++i) {
        group[i] = i;
    }

    pl_status status = pl_factor_create(PL_FACTOR_MULTIFRONTAL, &s->L, group, s->n, &s->factor, err);
    pl_free(group);
    pl_factor_report report = {0};
    if (status == PL_OK) {
        status = pl_factor_update(s->factor, &s->L, &report, err);
    }

    if (status == PL_OK && (report.singular || report.negative_count > 0 || report.perturbed_count > 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "local_global: the supports leave a part of '%s' free to move; fix it in x, y and z",
                       pl_robot_name(g->robot));
    }

    return status;
}

// Unknowns of one axis; false when another axis has the same.
static bool system_same(const pl_geometric *g, const geo_system *a, const geo_system *b)
{
    return memcmp(a->unknown, b->unknown, (size_t)g->vertex_count * sizeof *a->unknown) == 0;
}

// The matrix is the same for the three axes but for what is held: axes with equal unknowns share a factor.
pl_status geo_matrix_create(pl_geometric *g, pl_error *err)
{
    cliques c = {0};
    pl_status status = cliques_create(g, &c, err);

    for (int axis = 0; status == PL_OK && axis < 3; ++axis) {
        geo_system *s = &g->matrix.system[g->matrix.count];
        s->unknown = PL_NEW_ARRAY(int32_t, g->vertex_count);
        if (!s->unknown) {
            status = pl_fail_memory(err, "local_global: matrix");
            break;
        }

        // held vertices and those of rigid regions are no unknowns
        s->n = 0;
        for (int32_t v = 0; v < g->vertex_count; ++v) {
            const bool held = g->support_of[3 * (size_t)v + axis] >= 0 || g->rigids.of[v] >= 0;
            s->unknown[v] = held ? -1 : s->n++;
        }

        // an axis with the same unknowns was factored already
        int same = -1;
        for (int k = 0; k < g->matrix.count; ++k) {
            same = system_same(g, &g->matrix.system[k], s) ? k : same;
        }
        if (same >= 0) {
            pl_free(s->unknown);
            *s = (geo_system){0};
            g->matrix.of[axis] = same;
            continue;
        }

        g->matrix.of[axis] = g->matrix.count++;
        if (s->n == 0) {
            continue;
        }
        status = matrix_pattern(g, s, &c, err);
        if (status == PL_OK) {
            matrix_values(g, s);
            status = matrix_factor(g, s, err);
        }
    }

    g->matrix.right = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
    if (status == PL_OK && !g->matrix.right) {
        status = pl_fail_memory(err, "local_global: matrix");
    }
    pl_free(c.start);
    pl_free(c.list);

    return status;
}

void geo_matrix_destroy(pl_geometric *g)
{
    for (int k = 0; k < 3; ++k) {
        pl_sparse_clear(&g->matrix.system[k].L);
        pl_factor_destroy(g->matrix.system[k].factor);
        pl_free(g->matrix.system[k].unknown);
    }

    pl_free(g->matrix.right);
}

typedef struct solve_loop {
    const geo_system *s;
    const double *b;
    double *y, *right;
    int axis[3], count;
} solve_loop;

static void solve_collect(void *context, int64_t from, int64_t to)
{
    const solve_loop *w = context;
    for (int64_t v = from; v < to; ++v) {
        const int32_t unknown = w->s->unknown[v];
        for (int c = 0; c < w->count && unknown >= 0; ++c) {
            w->right[(int64_t)c * w->s->n + unknown] = w->b[3 * v + w->axis[c]];
        }
    }
}

static void solve_spread(void *context, int64_t from, int64_t to)
{
    const solve_loop *w = context;
    for (int64_t v = from; v < to; ++v) {
        const int32_t unknown = w->s->unknown[v];
        for (int c = 0; c < w->count; ++c) {
            w->y[3 * v + w->axis[c]] = unknown >= 0 ? w->right[(int64_t)c * w->s->n + unknown] : 0;
        }
    }
}

void geo_solve(pl_geometric *g, const double *b, double *y)
{
    for (int k = 0; k < g->matrix.count; ++k) {
        const geo_system *s = &g->matrix.system[k];
        solve_loop w = {.s = s, .b = b, .y = y, .right = g->matrix.right};

        for (int i = 0; i < 3; ++i) {
            if (g->matrix.of[i] == k) {
                w.axis[w.count++] = i;
            }
        }

        pl_loop(g->vertex_count, 2048, solve_collect, &w);
        if (s->n > 0) {
            pl_factor_solve(s->factor, g->matrix.right, w.count);
        }
        pl_loop(g->vertex_count, 2048, solve_spread, &w);
    }

    geo_rigid_solve(g, b, y);
    ++g->now.solves;
}

double geo_dot(const pl_geometric *g, const double *a, const double *b)
{
    const int64_t n = 3 * (int64_t)g->vertex_count;

    // chunks of a fixed size, summed in order: the same bits for any number of threads
    double sum = 0;

    for (int64_t at = 0; at < n; at += 1024) {
        const int64_t end = at + 1024 < n ? at + 1024 : n;
        double part[4] = {0};
        int64_t i = at;

        for (; i + 4 <= end; i += 4) {
            part[0] += a[i] * b[i];
            part[1] += a[i + 1] * b[i + 1];
            part[2] += a[i + 2] * b[i + 2];
            part[3] += a[i + 3] * b[i + 3];
        }

        for (; i < end; ++i) {
            part[0] += a[i] * b[i];
        }
        sum += part[0] + part[1] + part[2] + part[3];
    }

    return sum;
}

static void vector_add(const pl_geometric *g, double *y, double scale, const double *x)
{
    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        y[i] += scale * x[i];
    }
}

// The rows that take part: constraints that hold, rows that yield (gas), or both.
static int rows_active(const pl_geometric *g, bool constraints, bool yielding, int index[GEO_ROWS])
{
    int n = 0;
    for (int i = 0; i < g->drive_count && n < GEO_ROWS; ++i) {
        const geo_drive *d = &g->drive[i];
        if ((constraints && d->mode == GEO_CONSTRAINT && d->active) || (yielding && d->mode == GEO_GAS)) {
            index[n++] = i;
        }
    }

    return n;
}

// Multiples mu of the rows' solutions that make a . d = gap + yielding mu; false when the rows depend on each
// other.
static bool rows_solve(const pl_geometric *g, const int *index, int n, const double *d, double *mu)
{
    double A[GEO_ROWS * GEO_ROWS];
    for (int i = 0; i < n; ++i) {
        const geo_drive *drive = &g->drive[index[i]];
        mu[i] = geo_dot(g, drive->row, d) - drive->gap;
        for (int j = 0; j < n; ++j) {
            A[i * n + j] = geo_dot(g, drive->row, g->drive[index[j]].z) + (i == j ? drive->yielding : 0);
        }
    }

    return pl_dense_solve(n, A, mu, 1);
}

void geo_restore(pl_geometric *g, double *d)
{
    int index[GEO_ROWS];
    double mu[GEO_ROWS];
    const int n = rows_active(g, true, false, index);

    if (n > 0 && rows_solve(g, index, n, d, mu)) {
        for (int i = 0; i < n; ++i) {
            vector_add(g, d, -mu[i], g->drive[index[i]].z);
        }
    }
}

void geo_precondition(pl_geometric *g, const double *b, double *y)
{
    int index[GEO_ROWS];
    double mu[GEO_ROWS];

    geo_solve(g, b, y);
    const int n = rows_active(g, false, true, index);
    if (n > 0 && rows_solve(g, index, n, y, mu)) {
        for (int i = 0; i < n; ++i) {
            vector_add(g, y, -mu[i], g->drive[index[i]].z);
        }
    }
}

void geo_global(pl_geometric *g, const double *f, double *d, double *r)
{
    const double started = pl_seconds();
    const int64_t n3 = 3 * (int64_t)g->vertex_count;

    geo_solve(g, f, d);
    for (int64_t i = 0; i < n3; ++i) {
        d[i] = -d[i];
    }
    memcpy(r, f, (size_t)n3 * sizeof *r);

    // all rows, then without the cables that would push
    for (int i = 0; i < g->drive_count; ++i) {
        geo_drive *drive = &g->drive[i];
        drive->active = drive->mode == GEO_CONSTRAINT;
        if (drive->active || drive->mode == GEO_GAS) {
            geo_solve(g, drive->row, drive->z);
        }
    }

    int index[GEO_ROWS], n = 0;
    double mu[GEO_ROWS];
    for (bool again = true; again;) {
        again = false;
        n = rows_active(g, true, true, index);
        if (n == 0 || !rows_solve(g, index, n, d, mu)) {
            n = 0;
            break;
        }

        for (int k = 0; k < n; ++k) {
            geo_drive *drive = &g->drive[index[k]];
            if (drive->mode == GEO_CONSTRAINT && drive->sign > 0 && mu[k] < 0) {
                drive->active = false;
                again = true;
            }
        }
    }

    for (int i = 0; i < g->drive_count; ++i) {
        if (g->drive[i].mode == GEO_CONSTRAINT) {
            g->drive[i].effort = 0;
        }
    }

    for (int k = 0; k < n; ++k) {
        geo_drive *drive = &g->drive[index[k]];
        vector_add(g, d, -mu[k], drive->z);
        if (drive->mode == GEO_CONSTRAINT) {
            drive->effort = drive->sign * mu[k];
            vector_add(g, r, mu[k], drive->row);
        }
    }

    // what supports hold is no residual
    for (int64_t i = 0; i < n3; ++i) {
        r[i] = g->support_of[i] < 0 ? r[i] : 0;
    }
    g->now.global_seconds += pl_seconds() - started;
}
