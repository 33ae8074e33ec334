// From plain steps to better ones. Both keep a window of differences of what was seen.
//
// Anderson (type II): with steps d = G(x) - x, the mix of the last ones whose step would be least,
//   x+ = x + d - sum_j c_j (dx_j + dd_j),   c = argmin |d - sum_j c_j dd_j|,
// in the norm of the matrix, |d|^2 = d . L d = -d . r: bending moves far and costs little, and would rule the
// plain norm alone.
// L-BFGS: quasi-Newton directions from the forces r, the prefactored matrix as first guess of the tangent.
#include "geometric/geometric_impl.h"

#define NEARLY 1e-6

void geo_memory_reset(pl_geometric *g)
{
    g->memory.count = g->memory.next = 0;
}

void geo_memory_push(pl_geometric *g, const double *s, const double *d, const double *r)
{
    const int k = g->memory.next;
    const size_t bytes = 3 * (size_t)g->vertex_count * sizeof *s;

    memcpy(g->memory.dx[k], s, bytes);
    memcpy(g->memory.dd[k], d, bytes);
    memcpy(g->memory.dr[k], r, bytes);
    g->memory.rho[k] = geo_dot(g, g->options.acceleration == PL_ACCELERATE_ANDERSON ? d : s, r);
    g->memory.next = (k + 1) % g->options.window;
    g->memory.count = g->memory.count < g->options.window ? g->memory.count + 1 : g->memory.count;
}

void geo_anderson(pl_geometric *g, const double *x, const double *d, double *out)
{
    const int m = g->memory.count;
    const int64_t n3 = 3 * (int64_t)g->vertex_count;
    double A[GEO_WINDOW * GEO_WINDOW], c[GEO_WINDOW], size[GEO_WINDOW];

    for (int i = 0; i < m; ++i) {
        size[i] = sqrt(fmax(-g->memory.rho[i], 1e-300));
    }

    for (int i = 0; i < m; ++i) {
        c[i] = -geo_dot(g, g->memory.dr[i], d) / size[i];
        for (int j = 0; j < m; ++j) {
            A[i * m + j] = -geo_dot(g, g->memory.dr[i], g->memory.dd[j]) / (size[i] * size[j]);
        }
        A[i * m + i] += NEARLY; // nearly parallel differences stay harmless
    }

    const bool ok = m > 0 && pl_dense_solve(m, A, c, 1);
    for (int i = 0; i < m; ++i) {
        c[i] /= size[i];
    }

    for (int64_t i = 0; i < n3; ++i) {
        double next = x[i] + d[i];
        for (int j = 0; ok && j < m; ++j) {
            next -= c[j] * (g->memory.dx[j][i] + g->memory.dd[j][i]);
        }
        out[i] = next;
    }
}

void geo_lbfgs(pl_geometric *g, const double *r, const double *plain, double *d)
{
    const int m = g->memory.count;
    const int64_t n3 = 3 * (int64_t)g->vertex_count;
    double a[GEO_WINDOW];
    double *q = g->work.r_old; // work

    memcpy(q, r, (size_t)n3 * sizeof *q);

    // newest first
    for (int k = 0; k < m; ++k) {
        const int j = (g->memory.next - 1 - k + 2 * g->options.window) % g->options.window;
        a[j] = geo_dot(g, g->memory.dx[j], q) / g->memory.rho[j];
        for (int64_t i = 0; i < n3; ++i) {
            q[i] -= a[j] * g->memory.dr[j][i];
        }
    }

    if (plain) {
        // L^-1 (r - sum a_j dr_j) is known: -plain + sum a_j dd_j
        for (int64_t i = 0; i < n3; ++i) {
            d[i] = -plain[i];
            for (int j = 0; j < m; ++j) {
                d[i] += a[j] * g->memory.dd[j][i];
            }
        }
    } else {
        geo_precondition(g, q, d);
    }

    for (int k = m - 1; k >= 0; --k) {
        const int j = (g->memory.next - 1 - k + 2 * g->options.window) % g->options.window;
        const double b = geo_dot(g, g->memory.dr[j], d) / g->memory.rho[j];
        for (int64_t i = 0; i < n3; ++i) {
            d[i] += (a[j] - b) * g->memory.dx[j][i];
        }
    }

    for (int64_t i = 0; i < n3; ++i) {
        d[i] = -d[i];
    }
}
