// A material point as a weighted sum of vertices, spread over a radius.
//
// Vertices j within r of the point p, reached through elements from the element p lies in, get
//   k_j = m_j (1 - (|X_j - p| / r)^2)^2,    m_j the lumped volume of vertex j,
// corrected by a linear factor, w_j = k_j (a + b . (X_j - p)), with a and b from the 4 x 4 system
//   sum_j w_j = 1,   sum_j w_j (X_j - p) = 0,
// so that constant and linear fields are reproduced exactly. With few vertices inside, a singular system or
// weights that swing (sum |w_j| > 4) the element's own shape functions take over.
#include "robot/robot_impl.h"

// enough for the 4 equations to be well determined
#define POINT_VERTICES_MIN 8

// sum |w_j|: beyond it a force on the point would push some vertices with several times its size
#define POINT_SWING_MAX 4.0

// The share of an element's mass at one of its nodes.
double robot_lump(pl_element_kind kind, int node)
{
    const pl_element_traits *t = pl_element_get(kind);
    return t->lumped[node < t->corners ? 0 : node < 12 ? 1 : 2]; // vertical mid nodes of prism15 come last
}

// Frees the weights; NULL pointers are fine.
void pl_point_clear(pl_point *point)
{
    pl_free(point->node);
    pl_free(point->weight);
    *point = (pl_point){0};
}

// Allocates `count` nodes and weights, which `out` owns.
static pl_status point_take(pl_point *out, int32_t count, pl_error *err)
{
    out->node = PL_NEW_ARRAY(int32_t, count);
    out->weight = PL_NEW_ARRAY(double, count);
    if (!out->node || !out->weight) {
        pl_point_clear(out);
        return pl_fail_memory(err, "a point's weights");
    }

    out->count = count;
    return PL_OK;
}

// rest = sum_j w_j X_j
static void point_rest(const pl_mesh *mesh, pl_point *point)
{
    const double *X = pl_mesh_get(mesh).position;
    point->rest[0] = point->rest[1] = point->rest[2] = 0;
    for (int32_t j = 0; j < point->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            point->rest[i] += point->weight[j] * X[3 * (size_t)point->node[j] + i];
        }
    }
}

// Kernel of the vertices around a point: nodes with k_j > 0, nodes reached from `element` only.
typedef struct point_kernel {
    int32_t count;
    int32_t *node;
    double *weight;
} point_kernel;

static void kernel_clear(point_kernel *kernel)
{
    pl_free(kernel->node);
    pl_free(kernel->weight);
}

// Spreads the mark 2 (reached) over elements that hold vertices inside the ball (mark 1) until it stands
// still.
static void kernel_reach(const pl_mesh_view *v, const int32_t *element, int32_t count, uint8_t *mark)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (int32_t i = 0; i < count; ++i) {
            const int32_t *node = v->node + v->node_start[element[i]];
            const int n = (int)(v->node_start[element[i] + 1] - v->node_start[element[i]]);
            bool touched = false;
            for (int a = 0; a < n; ++a) {
                touched = touched || mark[node[a]] == 2;
            }
            for (int a = 0; touched && a < n; ++a) {
                if (mark[node[a]] == 1) {
                    mark[node[a]] = 2;
                    grown = true;
                }
            }
        }
    }
}

// m_j: the lumped volume of each vertex, mm^3, over the listed elements.
static void kernel_lump(const pl_mesh *mesh, const int32_t *element, int32_t count, double *mass)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t e = element[i];
        double x[3 * PL_ELEMENT_NODES_MAX];
        const int n = pl_mesh_gather(mesh, e, x);
        const double volume = pl_element_volume((pl_element_kind)v.kind[e], x);
        for (int a = 0; a < n; ++a) {
            mass[v.node[v.node_start[e] + a]] += volume * robot_lump((pl_element_kind)v.kind[e], a);
        }
    }
}

// Elements with a vertex inside the ball.
static int32_t kernel_elements(const pl_mesh_view *v, const uint8_t *mark, int32_t *element)
{
    int32_t count = 0;
    for (int32_t e = 0; e < v->element_count; ++e) {
        bool inside = false;
        for (int64_t a = v->node_start[e]; a < v->node_start[e + 1]; ++a) {
            inside = inside || mark[v->node[a]] != 0;
        }
        if (inside) {
            element[count++] = e;
        }
    }

    return count;
}

// k_j of the vertices reached.
static void kernel_collect(const pl_mesh_view *v, const double at[3], double radius, const uint8_t *mark,
                           const double *mass, point_kernel *out)
{
    for (int32_t j = 0; j < v->vertex_count; ++j) {
        if (mark[j] == 2) {
            const double r = pl_distance3(v->position + 3 * (size_t)j, at) / radius;
            out->node[out->count] = j;
            out->weight[out->count++] = mass[j] * (1 - r * r) * (1 - r * r);
        }
    }
}

// The kernel over `radius` around a point that lies in `element`. Material across a gap is not reached: a
// marker on one finger must not move with its neighbour.
static pl_status kernel_create(const pl_mesh *mesh, const double at[3], double radius, int32_t element,
                               point_kernel *out, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    *out = (point_kernel){0};
    uint8_t *mark = PL_NEW_ARRAY(uint8_t, v.vertex_count);
    double *mass = PL_NEW_ARRAY(double, v.vertex_count);
    int32_t *near = PL_NEW_ARRAY(int32_t, v.element_count);
    int32_t inside = 0;

    // 1: in the ball
    if (mark) {
        for (int32_t j = 0; j < v.vertex_count; ++j) {
            mark[j] = pl_distance3(v.position + 3 * (size_t)j, at) < radius;
            inside += mark[j];
        }
    }

    out->node = PL_NEW_ARRAY(int32_t, inside + 1);
    out->weight = PL_NEW_ARRAY(double, inside + 1);
    const bool good = mark && mass && near && out->node && out->weight;

    // 2: reached, beginning with the element itself
    if (good) {
        for (int64_t a = v.node_start[element]; a < v.node_start[element + 1]; ++a) {
            mark[v.node[a]] = mark[v.node[a]] ? 2 : 0;
        }
        const int32_t count = kernel_elements(&v, mark, near);
        kernel_reach(&v, near, count, mark);
        kernel_lump(mesh, near, count, mass);
        kernel_collect(&v, at, radius, mark, mass, out);
    }

    pl_free(mark);
    pl_free(mass);
    pl_free(near);
    if (!good) {
        kernel_clear(out);
        return pl_fail_memory(err, "a point's kernel");
    }

    return PL_OK;
}

// Solves the n x n system in place (row-major, n columns plus one) with partial pivoting; false when a pivot
// is below `least`.
static bool point_solve(int n, double *A, double least, double *x)
{
    const int m = n + 1;
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int r = k + 1; r < n; ++r) {
            p = fabs(A[r * m + k]) > fabs(A[p * m + k]) ? r : p;
        }
        if (!(fabs(A[p * m + k]) > least)) {
            return false;
        }
        for (int c = 0; c < m; ++c) {
            const double t = A[k * m + c];
            A[k * m + c] = A[p * m + c];
            A[p * m + c] = t;
        }

        for (int r = k + 1; r < n; ++r) {
            const double f = A[r * m + k] / A[k * m + k];
            for (int c = k; c < m; ++c) {
                A[r * m + c] -= f * A[k * m + c];
            }
        }
    }

    for (int k = n - 1; k >= 0; --k) {
        double sum = A[k * m + n];
        for (int c = k + 1; c < n; ++c) {
            sum -= A[k * m + c] * x[c];
        }
        x[k] = sum / A[k * m + k];
    }

    return true;
}

// The linear correction of the kernel; false when the element's interpolation should be used instead.
static bool point_correct(const double *X, const double at[3], double radius, point_kernel *kernel)
{
    if (kernel->count < POINT_VERTICES_MIN) {
        return false;
    }

    double total = 0, A[20] = {0}, c[4];
    for (int32_t j = 0; j < kernel->count; ++j) {
        total += kernel->weight[j];
    }
    if (!(total > 0)) {
        return false;
    }

    for (int32_t j = 0; j < kernel->count; ++j) {
        const double *Xj = X + 3 * (size_t)kernel->node[j], k = kernel->weight[j] / total;
        const double d[4] = {1, (Xj[0] - at[0]) / radius, (Xj[1] - at[1]) / radius, (Xj[2] - at[2]) / radius};

        for (int r = 0; r < 4; ++r) {
            for (int s = 0; s < 4; ++s) {
                A[5 * r + s] += k * d[r] * d[s];
            }
        }
    }

    // unknowns a and b r in c, right side (1, 0, 0, 0); lengths over the
    // radius, so one bound suits all pivots
    A[4] = 1;
    if (!point_solve(4, A, 1e-6, c)) {
        return false;
    }

    // apply the factor; reject weights that swing
    double swing = 0;
    for (int32_t j = 0; j < kernel->count; ++j) {
        const double *Xj = X + 3 * (size_t)kernel->node[j];
        double factor = c[0];
        for (int i = 0; i < 3; ++i) {
            factor += c[i + 1] * (Xj[i] - at[i]) / radius;
        }
        kernel->weight[j] *= factor / total;
        swing += fabs(kernel->weight[j]);
    }

    return swing <= POINT_SWING_MAX;
}

// Weights at `at`, or at the nearest point of the body where `at` lies outside;
// *distance (mm), if wanted, is how far.
pl_status pl_point_create(const pl_mesh *mesh, const double at[3], double radius, pl_point *out,
                          double *distance, pl_error *err)
{
    *out = (pl_point){0};
    pl_embedding embedding;
    pl_status status = pl_mesh_embed(mesh, at, &embedding, err);
    if (status != PL_OK) {
        return status;
    }
    if (distance) {
        *distance = embedding.distance;
    }

    // on a mesh coarser than the radius the spread grows with the mesh: a force on the few vertices of one
    // element would turn it inside out
    double spread = radius;
    for (int grown = 0; radius > 0 && grown < 5; ++grown, spread *= 1.4) {
        point_kernel kernel;
        status = kernel_create(mesh, at, spread, embedding.element, &kernel, err);
        if (status != PL_OK) {
            return status;
        }
        if (point_correct(pl_mesh_get(mesh).position, at, spread, &kernel)) {
            *out = (pl_point){
                .count = kernel.count, .node = kernel.node, .weight = kernel.weight, .radius = radius};
            point_rest(mesh, out);
            return PL_OK;
        }

        kernel_clear(&kernel);
    }

    // a point without radius, or with too few vertices around it: interpolation in its element
    status = point_take(out, embedding.node_count, err);
    if (status == PL_OK) {
        memcpy(out->node, embedding.node, (size_t)embedding.node_count * sizeof *out->node);
        memcpy(out->weight, embedding.weight, (size_t)embedding.node_count * sizeof *out->weight);
        out->radius = radius;
        point_rest(mesh, out);
    }

    return status;
}

// Maximum-entropy tilt: w_j = k_j exp(l . d_j) / sum, d_j = (X_j - p) / scale, with l from Newton's method on
// log sum_j k_j exp(l . d_j), whose gradient is the mean of d. Weights stay positive; where p lies on the rim
// of the nodes' convex hull l would run away and the weights are left as they were.
void robot_point_tilt(const double *position, const int32_t *node, int32_t count, const double at[3],
                      double scale, double *weight)
{
    double l[3] = {0};
    // gradient g = sum w d and Hessian H = sum w d d^T - g g^T, both over sum w
    for (int iteration = 0; iteration < 40; ++iteration) {
        double sum = 0, g[3] = {0}, H[12] = {0};
        for (int32_t j = 0; j < count; ++j) {
            double d[3];
            pl_sub3(position + 3 * (size_t)node[j], at, d);
            for (int i = 0; i < 3; ++i) {
                d[i] /= scale;
            }
            const double w = weight[j] * exp(pl_dot3(l, d));
            sum += w;

            for (int i = 0; i < 3; ++i) {
                g[i] += w * d[i];
                for (int k = 0; k < 3; ++k) {
                    H[4 * i + k] += w * d[i] * d[k];
                }
            }
        }

        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 3; ++k) {
                H[4 * i + k] = H[4 * i + k] / sum - g[i] * g[k] / (sum * sum);
            }
            H[4 * i + i] += 1e-9; // nodes of a face leave its normal undecided: no tilt along it
            H[4 * i + 3] = -g[i] / sum;
        }

        // converged: the mean of d is 0
        const double error = pl_norm3(g) / sum;
        if (error < 1e-14) {
            for (int32_t j = 0; j < count; ++j) {
                double d[3];
                pl_sub3(position + 3 * (size_t)node[j], at, d);
                weight[j] *= exp(pl_dot3(l, d) / scale) / sum;
            }

            return;
        }

        // Newton's step, at most 2 long: exp(l . d) grows fast
        double step[3];
        if (!point_solve(3, H, 1e-12, step)) {
            return;
        }
        const double length = pl_norm3(step), damp = length > 2 ? 2 / length : 1;
        for (int i = 0; i < 3; ++i) {
            l[i] += damp * step[i];
        }
        // |l| large: p on the rim of the convex hull
        if (!(pl_norm3(l) < 40)) {
            return;
        }
    }
}

// Weights sum to 1.
static void patch_normalise(pl_point *point)
{
    double sum = 0;
    for (int32_t j = 0; j < point->count; ++j) {
        sum += point->weight[j];
    }
    for (int32_t j = 0; j < point->count; ++j) {
        point->weight[j] /= sum;
    }
}

// Do the nodes span a plane? The largest triangle they form, over the largest distance squared.
static bool patch_spans(const double *X, const int32_t *node, int32_t count)
{
    double area = 0, far = 0;
    for (int32_t a = 1; a < count; ++a) {
        for (int32_t b = 1; b < count; ++b) {
            double p[3], q[3], n[3];
            pl_sub3(X + 3 * (size_t)node[a], X + 3 * (size_t)node[0], p);
            pl_sub3(X + 3 * (size_t)node[b], X + 3 * (size_t)node[0], q);
            pl_cross3(p, q, n);
            area = fmax(area, pl_norm3(n));
            far = fmax(far, pl_dot3(p, p));
        }
    }

    return area > 1e-6 * far && far > 0;
}

// The nodes of the element that take part in the point: those of a face when it lies on one, unless they span
// no plane and could carry no frame (a point on an edge or at a vertex takes the whole element).
static pl_status patch_element(const pl_mesh_view *v, const pl_embedding *embedding, pl_point *out,
                               double *scale, pl_error *err)
{
    const pl_element_kind kind = (pl_element_kind)v->kind[embedding->element];
    int32_t node[PL_ELEMENT_NODES_MAX], count = 0;
    double lump[PL_ELEMENT_NODES_MAX];

    for (int pass = 0; pass < 2 && !patch_spans(v->position, node, count); ++pass) {
        count = 0;
        for (int a = 0; a < embedding->node_count; ++a) {
            if (pass == 1 || fabs(embedding->weight[a]) > 1e-9) {
                node[count] = embedding->node[a];
                lump[count++] = robot_lump(kind, a);
            }
        }
    }

    const pl_status status = point_take(out, count, err);
    if (status == PL_OK) {
        memcpy(out->node, node, (size_t)count * sizeof *node);
        memcpy(out->weight, lump, (size_t)count * sizeof *lump);
        *scale = pl_distance3(v->position + 3 * (size_t)node[0], v->position + 3 * (size_t)node[1]);
    }

    return status;
}

// Non-negative weights, so that the patch's frame is that of a mean over material; see robot_point_tilt.
pl_status robot_point_patch(const pl_mesh *mesh, const double at[3], double radius, pl_point *out,
                            pl_error *err)
{
    *out = (pl_point){0};
    pl_embedding embedding;
    pl_status status = pl_mesh_embed(mesh, at, &embedding, err);
    if (status != PL_OK) {
        return status;
    }

    const pl_mesh_view v = pl_mesh_get(mesh);
    double scale = radius;

    // the kernel where enough vertices lie inside, else the element
    if (radius > 0) {
        point_kernel kernel;
        status = kernel_create(mesh, at, radius, embedding.element, &kernel, err);
        if (status != PL_OK) {
            return status;
        }
        if (kernel.count >= POINT_VERTICES_MIN) {
            *out = (pl_point){.count = kernel.count, .node = kernel.node, .weight = kernel.weight};
        } else {
            kernel_clear(&kernel);
        }
    }

    if (out->count == 0) {
        status = patch_element(&v, &embedding, out, &scale, err);
        if (status != PL_OK) {
            return status;
        }
    }

    // tilt the weights until their mean is the point
    patch_normalise(out);
    robot_point_tilt(v.position, out->node, out->count, at, scale, out->weight);
    patch_normalise(out);
    point_rest(mesh, out);

    return PL_OK;
}
