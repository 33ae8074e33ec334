// Steps that turn. A Newton step is straight; a slender body that bends turns. Each quadrature point's step
// is split into a rotation w and a stretch e (skew and symmetric part of dF F^-1), the rotation is carried
// out in full,
//   F' = exp(w) (I + e) F,
// and the pieces are stitched by the positions x' that minimise int mu |grad x' - F'|^2: one Laplacian solve.
#include "base/threads.h"
#include "newton/newton_impl.h"

// ---- the Laplacian
typedef struct triplet {
    int32_t row, column;
    double value;
} triplet;

// Stable counting sort by row or column, numbers below n: equal entries add up in element order. `first` has
// n + 1 entries.
static void triplet_sort(const triplet *from, int64_t count, bool by_column, int32_t n, int64_t *first,
                         triplet *to)
{
    memset(first, 0, ((size_t)n + 1) * sizeof *first);
    for (int64_t i = 0; i < count; ++i) {
        first[(by_column ? from[i].column : from[i].row) + 1]++;
    }
    for (int32_t i = 0; i < n; ++i) {
        first[i + 1] += first[i];
    }
    for (int64_t i = 0; i < count; ++i) {
        to[first[by_column ? from[i].column : from[i].row]++] = from[i];
    }
}

// Compressed columns with equal entries added up.
static pl_status triplet_compress(triplet *t, int64_t count, int32_t rows, int32_t n, pl_sparse *out,
                                  pl_error *err)
{
    triplet *work = pl_resize_array(NULL, (size_t)count, sizeof *work);
    int64_t *first = pl_resize_array(NULL, (size_t)(rows > n ? rows : n) + 1, sizeof *first);

    if (work && first) {
        triplet_sort(t, count, false, rows, first, work);
        triplet_sort(work, count, true, n, first, t);
    }

    const bool sorted = work && first;
    pl_free(work);
    pl_free(first);
    if (!sorted) {
        return pl_fail_memory(err, "statics: warp");
    }

    int64_t unique = 0;
    for (int64_t i = 0; i < count; ++i) {
        unique += i == 0 || t[i].row != t[i - 1].row || t[i].column != t[i - 1].column;
    }

    const pl_status status = pl_sparse_create(n, unique, out, err);
    if (status != PL_OK) {
        return status;
    }

    int64_t slot = -1;
    for (int64_t i = 0; i < count; ++i) {
        if (i == 0 || t[i].row != t[i - 1].row || t[i].column != t[i - 1].column) {
            out->row[++slot] = t[i].row;
            out->start[t[i].column + 1] = slot + 1;
        }
        out->value[slot] += t[i].value;
    }

    for (int32_t c = 0; c < n; ++c) {
        out->start[c + 1] = out->start[c + 1] < out->start[c] ? out->start[c] : out->start[c + 1];
    }

    return PL_OK;
}

// Stiff parts weigh more.
static bool warp_weights(pl_newton_solver *N)
{
    const pl_elements *E = N->problem->elements;
    N->laplacian.weight = PL_NEW_ARRAY(double, E->law_count);
    for (int r = 0; N->laplacian.weight && r < E->law_count; ++r) {
        N->laplacian.weight[r] = E->law[r].mu / N->problem->stiffness;
    }
    return N->laplacian.weight != NULL;
}

static double warp_weight(const pl_newton_solver *N, const pl_block *block)
{
    return N->laplacian.weight[block->law];
}

// int mu grad N_a . grad N_c of one element
static double warp_entry(const pl_newton_solver *N, const pl_block *block, int lane, int a, int c)
{
    const int n = block->node_count;
    double sum = 0;

    for (int q = 0; q < block->point_count; ++q) {
        const double *ga = block->gradient + (int64_t)(q * n + a) * 3 * PL_LANES + lane;
        const double *gc = block->gradient + (int64_t)(q * n + c) * 3 * PL_LANES + lane;
        for (int j = 0; j < 3; ++j) {
            sum += block->weight[q * PL_LANES + lane] * ga[j * PL_LANES] * gc[j * PL_LANES];
        }
    }

    return sum * warp_weight(N, block);
}

static int64_t warp_triplets(const pl_newton_solver *N, bool edge, triplet *out)
{
    int64_t count = 0;
    for (int b = 0; b < N->problem->elements->block_count; ++b) {
        const pl_block *block = &N->problem->elements->block[b];
        const int n = block->node_count;
        for (int l = 0; l < block->lane_count; ++l) {
            for (int a = 0; a < n; ++a) {
                const int32_t va = block->node[a][l], ra = N->laplacian.dof[va];
                for (int c = 0; ra >= 0 && c < n; ++c) {
                    const int32_t vc = block->node[c][l], rc = N->laplacian.dof[vc];
                    if (edge ? rc >= 0 : rc < ra) {
                        continue;
                    }
                    if (!out) {
                        count++;
                        continue;
                    }
                    out[count++] = (triplet){ra, edge ? vc : rc, warp_entry(N, block, l, a, c)};
                }
            }
        }
    }

    return count;
}

static pl_status warp_matrix(pl_newton_solver *N, bool edge, pl_sparse *out, pl_error *err)
{
    const int64_t count = warp_triplets(N, edge, NULL);
    triplet *t = pl_resize_array(NULL, (size_t)count, sizeof *t);

    if (!t) {
        return pl_fail_memory(err, "statics: warp");
    }
    warp_triplets(N, edge, t);
    const pl_status status = triplet_compress(
        t, count, N->laplacian.n, edge ? N->problem->mesh.vertex_count : N->laplacian.n, out, err);
    pl_free(t);

    return status;
}

// Where an entry of a pattern stands; the rectangular one has no triangle.
static int64_t warp_slot(const pl_sparse *A, int32_t row, int32_t column)
{
    int64_t low = A->start[column], high = A->start[column + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        *(A->row[middle] < row ? &low : &high) = A->row[middle] < row ? middle + 1 : middle;
    }
    return low;
}

// Computes the values again on the same patterns, after the elements' stress-free shapes have changed.
static void warp_update(pl_newton_solver *N)
{
    newton_laplacian *l = &N->laplacian;
    const pl_elements *E = N->problem->elements;

    memset(l->L.value, 0, (size_t)l->L.start[l->L.n] * sizeof *l->L.value);
    memset(l->edge.value, 0, (size_t)l->edge.start[l->edge.n] * sizeof *l->edge.value);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int lane = 0; lane < block->lane_count; ++lane) {
            for (int a = 0; a < block->node_count; ++a) {
                const int32_t ra = l->dof[block->node[a][lane]];
                for (int c = 0; ra >= 0 && c < block->node_count; ++c) {
                    const int32_t vc = block->node[c][lane], rc = l->dof[vc];
                    pl_sparse *A = rc < 0 ? &l->edge : &l->L;
                    if (rc < 0 || rc >= ra) {
                        A->value[warp_slot(A, ra, rc < 0 ? vc : rc)] += warp_entry(N, block, lane, a, c);
                    }
                }
            }
        }
    }

    pl_factor_report report;
    pl_error err;
    l->failed = pl_factor_update(l->factor, &l->L, &report, &err) != PL_OK || report.singular ||
                report.perturbed_count > 0;
}

bool pl_newton_can_corotate(pl_newton_solver *N)
{
    newton_laplacian *l = &N->laplacian;
    if (l->factor && l->shapes != N->problem->shapes) {
        warp_update(N);
        l->shapes = N->problem->shapes;
    }
    return l->factor && !l->failed;
}

void newton_corotate_destroy(pl_newton_solver *N)
{
    pl_factor_destroy(N->laplacian.factor);
    pl_sparse_clear(&N->laplacian.L);
    pl_sparse_clear(&N->laplacian.edge);
    pl_free(N->laplacian.dof);
    pl_free(N->laplacian.rhs);
    pl_free(N->laplacian.weight);
}

static int32_t part_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        v = parent[v] = parent[parent[v]];
    }
    return v;
}

// The Laplacian's null space are the translations of the parts that no held vertex is connected to, as of a
// body on sliding supports only (an eighth of a ball). It is found in the graph: the factor's pivots there
// are rounding errors, and whether they look singular is chance.
static pl_status warp_held(const newton_laplacian *l, bool *out, pl_error *err)
{
    int32_t *parent = PL_NEW_ARRAY(int32_t, l->n + 1);
    bool *held = PL_NEW_ARRAY(bool, l->n + 1), all = true;

    if (!parent || !held) {
        pl_free(parent);
        pl_free(held);
        return pl_fail_memory(err, "statics: warp");
    }
    for (int32_t v = 0; v < l->n; ++v) {
        parent[v] = v;
    }
    for (int32_t c = 0; c < l->n; ++c) {
        for (int64_t k = l->L.start[c]; k < l->L.start[c + 1]; ++k) {
            parent[part_root(parent, l->L.row[k])] = part_root(parent, c);
        }
    }

    for (int64_t k = 0; k < l->edge.start[l->edge.n]; ++k) {
        held[part_root(parent, l->edge.row[k])] = true;
    }
    for (int32_t v = 0; all && v < l->n; ++v) {
        all = held[part_root(parent, v)];
    }

    pl_free(parent);
    pl_free(held);
    *out = all && l->n > 0;
    return PL_OK;
}

pl_status newton_corotate_create(pl_newton_solver *N, pl_error *err)
{
    N->laplacian.shapes = N->problem->shapes;
    N->laplacian.dof = PL_NEW_ARRAY(int32_t, N->problem->mesh.vertex_count);
    if (!N->laplacian.dof || !warp_weights(N)) {
        return pl_fail_memory(err, "statics: warp");
    }

    for (int32_t v = 0; v < N->problem->mesh.vertex_count; ++v) {
        const bool used = N->problem->elements->vertex_start[v + 1] > N->problem->elements->vertex_start[v];
        const bool moves = N->problem->unknowns.dof[3 * v] >= 0 || N->problem->unknowns.dof[3 * v + 1] >= 0 ||
                           N->problem->unknowns.dof[3 * v + 2] >= 0 || N->problem->unknowns.rigid_of[v] >= 0;
        N->laplacian.dof[v] = used && moves ? N->laplacian.n++ : -1;
    }

    N->laplacian.rhs = PL_NEW_ARRAY(double, 3 * (int64_t)N->laplacian.n);
    int32_t *group = PL_NEW_ARRAY(int32_t, N->laplacian.n);
    if (!N->laplacian.rhs || !group) {
        pl_free(group);
        return pl_fail_memory(err, "statics: warp");
    }

    for (int32_t v = 0; v < N->problem->mesh.vertex_count; ++v) {
        if (N->laplacian.dof[v] >= 0) {
            group[N->laplacian.dof[v]] = v;
        }
    }

    pl_status status = warp_matrix(N, false, &N->laplacian.L, err);
    if (status == PL_OK) {
        status = warp_matrix(N, true, &N->laplacian.edge, err);
    }

    // straight steps serve a body that its Laplacian does not hold
    bool held = false;
    status = status == PL_OK ? warp_held(&N->laplacian, &held, err) : status;
    if (status != PL_OK || !held) {
        pl_free(group);
        return status;
    }

    // its graph is that of the tangent's vertices, except inside rigid bodies
    status = N->problem->unknowns.rigid_count > 0
                 ? pl_factor_create(PL_FACTOR_MULTIFRONTAL, &N->laplacian.L, group,
                                    N->problem->mesh.vertex_count, &N->laplacian.factor, err)
                 : pl_factor_create_like(PL_FACTOR_MULTIFRONTAL, &N->laplacian.L, group,
                                         N->problem->linear.factor, &N->laplacian.factor, err);
    pl_free(group);

    pl_factor_report report = {0};
    if (status == PL_OK) {
        status = pl_factor_update(N->laplacian.factor, &N->laplacian.L, &report, err);
    }
    N->laplacian.failed = report.singular || report.perturbed_count > 0;

    return status;
}

// Solves for the free vertices: warp_rhs <- L^-1 (warp_rhs - L_edge held), `held` 3 per vertex.
static void warp_solve(pl_newton_solver *N, const double *held)
{
    for (int32_t v = 0; v < N->problem->mesh.vertex_count; ++v) {
        for (int64_t k = N->laplacian.edge.start[v]; k < N->laplacian.edge.start[v + 1]; ++k) {
            for (int i = 0; i < 3; ++i) {
                N->laplacian.rhs[(int64_t)i * N->laplacian.n + N->laplacian.edge.row[k]] -=
                    N->laplacian.edge.value[k] * held[3 * (int64_t)v + i];
            }
        }
    }
    pl_factor_solve(N->laplacian.factor, N->laplacian.rhs, 3);
}

// Rigid bodies go along: the rigid motion nearest to where those of their vertices went that touch deformable
// elements; of all their vertices where none does.
void pl_newton_fit_rigid(pl_newton_solver *N, double *out)
{
    for (int b = 0; b < N->problem->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &N->problem->unknowns.rigid[b];
        double c0[3] = {0}, c1[3] = {0}, A[9] = {0}, R[9];
        int32_t count = 0;
        for (int32_t j = 0; j < body->node_count; ++j) {
            count += N->laplacian.dof[body->node[j]] >= 0;
        }
        const int32_t least = count > 0 ? 0 : -1;
        count = count > 0 ? count : body->node_count;
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            for (int i = 0; N->laplacian.dof[body->node[j]] >= least && i < 3; ++i) {
                c0[i] += N->problem->mesh.position[v + i] / count;
                c1[i] += out[v + i] / count;
            }
        }
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            for (int i = 0; N->laplacian.dof[body->node[j]] >= least && i < 9; ++i) {
                A[i] += (out[v + i / 3] - c1[i / 3]) * (N->problem->mesh.position[v + i % 3] - c0[i % 3]);
            }
        }
        pl_nearest_rotation3(A, R);
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            double arm[3], turned[3];
            pl_sub3(N->problem->mesh.position + v, c0, arm);
            pl_mulv3(R, arm, turned);
            for (int i = 0; i < 3; ++i) {
                out[v + i] = c1[i] + turned[i];
            }
        }
    }
}

// x' of the stitched pieces from right sides in warp_rhs (filled per vertex, 3 columns); held vertices are in
// `out`.
static void warp_stitch(pl_newton_solver *N, double *out)
{
    warp_solve(N, out);
    for (int32_t v = 0; v < N->problem->mesh.vertex_count; ++v) {
        for (int i = 0; N->laplacian.dof[v] >= 0 && i < 3; ++i) {
            if (N->problem->unknowns.dof[3 * v + i] >= 0 || N->problem->unknowns.rigid_of[v] >= 0) {
                out[3 * (int64_t)v + i] = N->laplacian.rhs[(int64_t)i * N->laplacian.n + N->laplacian.dof[v]];
            }
        }
    }

    pl_newton_fit_rigid(N, out);
}

// G = dF F^-1 at one point for the motion from x to `moved`; F at x is handed back.
static void point_change(const pl_block *block, int lane, int q, const double *x, const double *moved,
                         double F[9], double G[9])
{
    double F1[9], C[9];
    pl_block_gradient(block, lane, q, x, F);
    pl_block_gradient(block, lane, q, moved, F1);
    pl_cofactor3(F, C);
    const double det = pl_dot3(F, C);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double sum = 0;
            for (int k = 0; k < 3; ++k) {
                sum += (F1[3 * i + k] - F[3 * i + k]) * C[3 * j + k];
            }
            G[3 * i + j] = sum / det;
        }
    }
}

// Rotation vector and stretch of the step at one point: dF F^-1 = skew + symmetric.
static void point_step(const pl_block *block, int lane, int q, const double *x, const double *moved,
                       double F[9], double w[3], double e[9])
{
    double G[9];
    point_change(block, lane, q, x, moved, F, G);
    w[0] = 0.5 * (G[7] - G[5]);
    w[1] = 0.5 * (G[2] - G[6]);
    w[2] = 0.5 * (G[3] - G[1]);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            e[3 * i + j] = 0.5 * (G[3 * i + j] + G[3 * j + i]);
        }
    }
}

#define WARP_BLOCKS 8     // of elements, some 10 us
#define WARP_VERTICES 512 // some 5 us

typedef struct warp_loop {
    pl_newton_solver *N;
    const double *x, *old; // shapes
    double small, ratio;
    _Atomic double turn, stretch;
} warp_loop;

static void warp_steps(void *context, int64_t from, int64_t to)
{
    warp_loop *loop = context;
    double turn = 0, stretch = 0;

    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &loop->N->problem->elements->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            double F[9], w[3], e[9], norm = 0;
            point_step(block, l, 0, loop->x, loop->N->work.x_trial, F, w, e);
            for (int i = 0; i < 9; ++i) {
                norm += e[i] * e[i];
            }
            turn = fmax(turn, pl_norm3(w));
            stretch = fmax(stretch, sqrt(norm));
        }
    }

    pl_atomic_max(&loop->turn, turn);
    pl_atomic_max(&loop->stretch, stretch);
}

double pl_newton_step_rotation(pl_newton_solver *N, const double *x, const double *d, double *strain)
{
    pl_problem_move(N->problem, x, d, 1e-6, N->work.x_trial); // small, so that rigid bodies move linearly
    warp_loop w = {.N = N, .x = x};
    pl_loop(N->problem->elements->block_count, WARP_BLOCKS, warp_steps, &w);
    *strain = w.stretch * 1e6;
    return w.turn * 1e6;
}

// Gathers the element buffer (as nodal forces) into the columns of warp_rhs.
static void warp_gather(void *context, int64_t from, int64_t to)
{
    pl_newton_solver *N = ((warp_loop *)context)->N;
    const pl_elements *E = N->problem->elements;

    for (int64_t v = from; v < to; ++v) {
        double f[3] = {0};
        for (int64_t i = E->vertex_start[v]; i < E->vertex_start[v + 1]; ++i) {
            for (int k = 0; k < 3; ++k) {
                f[k] += E->force[E->vertex_code[i] + k * PL_LANES];
            }
        }
        for (int k = 0; N->laplacian.dof[v] >= 0 && k < 3; ++k) {
            N->laplacian.rhs[(int64_t)k * N->laplacian.n + N->laplacian.dof[v]] = f[k];
        }
    }
}

// f_a += w mu T dN_a for one point
static void warp_add(pl_newton_solver *N, const pl_block *block, int lane, int q, const double T[9])
{
    double *out = N->problem->elements->force + block->force_start + lane;
    const double weight = block->weight[q * PL_LANES + lane] * warp_weight(N, block);

    for (int a = 0; a < block->node_count; ++a) {
        const double *g = block->gradient + (int64_t)(q * block->node_count + a) * 3 * PL_LANES + lane;
        for (int i = 0; i < 3; ++i) {
            const double f = T[3 * i] * g[0] + T[3 * i + 1] * g[PL_LANES] + T[3 * i + 2] * g[2 * PL_LANES];
            out[(3 * a + i) * PL_LANES] += weight * f;
        }
    }
}

static void warp_turn(void *context, int64_t from, int64_t to)
{
    const warp_loop *loop = context;
    pl_newton_solver *N = loop->N;

    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &N->problem->elements->block[b];
        memset(N->problem->elements->force + block->force_start, 0,
               3 * (size_t)block->node_count * PL_LANES * sizeof(double));
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                double F[9], w[3], e[9], R[9], T[9];
                point_step(block, l, q, loop->x, N->work.x_trial, F, w, e);
                for (int i = 0; i < 9; ++i) {
                    e[i] = e[i] / loop->small + (i % 4 == 0);
                }
                for (int i = 0; i < 3; ++i) {
                    w[i] /= loop->small;
                }
                pl_rotation_exp(w, R);
                pl_mul33(R, e, T);
                pl_mul33(T, F, T);
                warp_add(N, block, l, q, T);
            }
        }
    }
}

void pl_newton_corotate(pl_newton_solver *N, const double *x, const double *d, double *out)
{
    warp_loop w = {.N = N, .x = x, .small = 1e-3};
    pl_problem_move(N->problem, x, d, w.small, N->work.x_trial);
    pl_loop(N->problem->elements->block_count, WARP_BLOCKS, warp_turn, &w);
    pl_loop(N->problem->mesh.vertex_count, WARP_VERTICES, warp_gather, &w);
    if (out != x) {
        memcpy(out, x, 3 * (size_t)N->problem->mesh.vertex_count * sizeof *out);
    }

    // rigid bodies away from all elements take their own step
    if (N->problem->unknowns.rigid_count > 0) {
        pl_problem_move(N->problem, x, d, 1, N->work.x_trial);
    }

    for (int b = 0; b < N->problem->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &N->problem->unknowns.rigid[b];
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            if (N->laplacian.dof[body->node[j]] < 0) {
                memcpy(out + v, N->work.x_trial + v, 3 * sizeof *out);
            }
        }
    }

    warp_stitch(N, out);
}

// Rotation vector of R, angles below pi.
static void rotation_log(const double R[9], double w[3])
{
    const double c = 0.5 * (R[0] + R[4] + R[8] - 1);
    w[0] = 0.5 * (R[7] - R[5]);
    w[1] = 0.5 * (R[2] - R[6]);
    w[2] = 0.5 * (R[3] - R[1]);
    const double sine = pl_norm3(w), angle = atan2(sine, c);
    for (int i = 0; i < 3; ++i) {
        w[i] *= sine > 1e-12 ? angle / sine : 1;
    }
}

// F' = exp(ratio w) (I + ratio (U - I)) F for F F_old^-1 = exp(w) U: the last motion once more, piece by
// piece.
static void warp_repeat(void *context, int64_t from, int64_t to)
{
    const warp_loop *loop = context;
    pl_newton_solver *N = loop->N;

    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &N->problem->elements->block[b];
        memset(N->problem->elements->force + block->force_start, 0,
               3 * (size_t)block->node_count * PL_LANES * sizeof(double));
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                double F[9], w[3], G[9], R[9], U[9], T[9];
                point_change(block, l, q, loop->old, loop->x, F, G);
                for (int i = 0; i < 3; ++i) {
                    G[4 * i] += 1;
                }
                pl_polar3(G, R);
                rotation_log(R, w);
                for (int i = 0; i < 3; ++i) {
                    w[i] *= loop->ratio;
                    for (int j = 0; j < 3; ++j) {
                        const double u = R[i] * G[j] + R[3 + i] * G[3 + j] + R[6 + i] * G[6 + j];
                        U[3 * i + j] = (i == j) + loop->ratio * (u - (i == j));
                    }
                }
                pl_rotation_exp(w, R);
                pl_mul33(R, U, T);
                pl_block_gradient(block, l, q, loop->x, F);
                pl_mul33(T, F, T);
                warp_add(N, block, l, q, T);
            }
        }
    }
}

void pl_newton_extrapolate(pl_newton_solver *N, const double *x, const double *x_old, double ratio,
                           double *out)
{
    warp_loop w = {.N = N, .x = x, .old = x_old, .ratio = ratio};
    pl_loop(N->problem->elements->block_count, WARP_BLOCKS, warp_repeat, &w);
    pl_loop(N->problem->mesh.vertex_count, WARP_VERTICES, warp_gather, &w);
    memmove(out, x, 3 * (size_t)N->problem->mesh.vertex_count * sizeof *out);
    warp_stitch(N, out);
}

void pl_newton_move(pl_newton_solver *N, const double *x, const double *d, double *out)
{
    if (N->corotate && pl_newton_can_corotate(N)) {
        pl_newton_corotate(N, x, d, out);
    } else {
        pl_problem_move(N->problem, x, d, 1, out);
    }
}

void pl_newton_carry(pl_newton_solver *N, double *held, double *x)
{
    const int64_t full = 3 * (int64_t)N->problem->mesh.vertex_count;
    if (!pl_newton_can_corotate(N)) {
        memcpy(x, held, (size_t)full * sizeof *x);
        return;
    }

    // the smooth motion is the Laplacian's: L u_free = -L_edge u_held, u the motion from x
    double *u = held;
    for (int64_t i = 0; i < full; ++i) {
        u[i] -= x[i];
    }
    memset(N->laplacian.rhs, 0, 3 * (size_t)N->laplacian.n * sizeof *N->laplacian.rhs);
    warp_solve(N, u);
    for (int32_t v = 0; v < N->problem->mesh.vertex_count; ++v) {
        for (int i = 0; i < 3; ++i) {
            const bool free_axis = N->problem->unknowns.dof[3 * v + i] >= 0 ||
                                   (N->problem->unknowns.rigid_of[v] >= 0 && N->laplacian.dof[v] >= 0);
            x[3 * (int64_t)v + i] += free_axis
                                         ? N->laplacian.rhs[(int64_t)i * N->laplacian.n + N->laplacian.dof[v]]
                                         : u[3 * (int64_t)v + i];
        }
    }

    pl_newton_fit_rigid(N, x);
}
