// A rectangle of quadratic faces without a body, assembled densely: how layers bend by themselves.
#ifndef PL_LAYER_GRID_H
#define PL_LAYER_GRID_H

#include <stdlib.h>
#include <string.h>
#include "element/layer.h"

typedef struct layer_grid {
    pl_face_table table;
    int nx, ny, nodes, faces; // cells; two faces each
    double lx, ly;
    double *X, *x, *f;
    bool *fixed;  // 3 per node
    bool held[4]; // sides whose slope is held: x = 0, x = lx, y = 0, y = ly
    int (*node)[6];
    pl_layer_face *face;
} layer_grid;

static inline int grid_node(const layer_grid *g, int i, int j) // on the grid of half cells
{
    return i + (2 * g->nx + 1) * j;
}

// `skew` moves the inner corners about, in cells.
static inline void grid_make(layer_grid *g, int nx, int ny, double lx, double ly, double skew)
{
    *g = (layer_grid){.nx = nx, .ny = ny, .lx = lx, .ly = ly};
    pl_face_table_init(&g->table, 6);
    g->nodes = (2 * nx + 1) * (2 * ny + 1);
    g->faces = 2 * nx * ny;
    g->X = calloc(3 * (size_t)g->nodes, sizeof *g->X);
    g->x = calloc(3 * (size_t)g->nodes, sizeof *g->x);
    g->f = calloc(3 * (size_t)g->nodes, sizeof *g->f);
    g->fixed = calloc(3 * (size_t)g->nodes, sizeof *g->fixed);
    g->node = malloc((size_t)g->faces * sizeof *g->node);
    g->face = calloc((size_t)g->faces, sizeof *g->face);
    uint32_t seed = 3;
    for (int j = 0; j <= ny; ++j) {
        for (int i = 0; i <= nx; ++i) {
            double d[2];
            for (int k = 0; k < 2; ++k) {
                seed = seed * 1664525u + 1013904223u;
                d[k] = skew * ((double)(seed >> 8) / (1 << 24) - 0.5);
            }
            double *X = g->X + 3 * grid_node(g, 2 * i, 2 * j);
            X[0] = lx * (i + (i > 0 && i < nx ? d[0] : 0)) / nx;
            X[1] = ly * (j + (j > 0 && j < ny ? d[1] : 0)) / ny;
        }
    }

    for (int j = 0; j <= 2 * ny; ++j) {
        for (int i = 0; i <= 2 * nx; ++i) {
            if (i % 2 == 0 && j % 2 == 0) {
                continue;
            }
            // a middle of an edge; diagonals run from the lower left to the upper right of a cell
            const double *a = g->X + 3 * grid_node(g, i - i % 2, j - j % 2),
                         *b = g->X + 3 * grid_node(g, i + i % 2, j + j % 2);
            for (int k = 0; k < 3; ++k) {
                g->X[3 * grid_node(g, i, j) + k] = 0.5 * (a[k] + b[k]);
            }
        }
    }

    memcpy(g->x, g->X, 3 * (size_t)g->nodes * sizeof *g->x);
    for (int c = 0; c < nx * ny; ++c) {
        const int i = 2 * (c % nx), j = 2 * (c / nx);
        const int lower[6][2] = {{0, 0}, {2, 0}, {2, 2}, {1, 0}, {2, 1}, {1, 1}};
        const int upper[6][2] = {{0, 0}, {2, 2}, {0, 2}, {1, 1}, {1, 2}, {0, 1}};
        for (int a = 0; a < 6; ++a) {
            g->node[2 * c][a] = grid_node(g, i + lower[a][0], j + lower[a][1]);
            g->node[2 * c + 1][a] = grid_node(g, i + upper[a][0], j + upper[a][1]);
        }
    }
}

static inline bool grid_on(const layer_grid *g, int side, int node)
{
    const double *X = g->X + 3 * node;
    return fabs(side < 2 ? X[0] - (side == 1 ? g->lx : 0) : X[1] - (side == 3 ? g->ly : 0)) < 1e-9;
}

// Holds the nodes of a side, and with `slope` its slope.
static inline void grid_clamp(layer_grid *g, int side, bool slope)
{
    g->held[side] = slope;
    for (int v = 0; v < g->nodes; ++v) {
        for (int i = 0; grid_on(g, side, v) && i < 3; ++i) {
            g->fixed[3 * v + i] = true;
        }
    }
}

static inline void grid_bind(layer_grid *g)
{
    for (int t = 0; t < g->faces; ++t) {
        pl_layer_face *f = &g->face[t];
        f->node_count = 6;
        double across[3] = {0};
        for (int a = 0; a < 6; ++a) {
            f->node[a] = g->node[t][a];
        }
        for (int e = 0; e < 3; ++e) {
            const int p = g->node[t][e], q = g->node[t][(e + 1) % 3];
            for (int o = 0; o < g->faces; ++o) {
                for (int k = 0; o != t && k < 3; ++k) {
                    if (g->node[o][k] != q || g->node[o][(k + 1) % 3] != p) {
                        continue;
                    }
                    f->edge[e] = (pl_layer_edge){.kind = PL_LAYER_JOINED, .other_edge = k, .reversed = true};
                    across[e] = 0.5 * g->lx * g->ly / (g->nx * g->ny);
                    for (int a = 0; a < 6; ++a) {
                        int at = 0;
                        while (at < f->node_count && f->node[at] != g->node[o][a]) {
                            ++at;
                        }
                        f->node[at] = g->node[o][a];
                        f->node_count += at == f->node_count;
                        f->edge[e].other_node[a] = at;
                    }
                }
            }
            for (int side = 0; side < 4; ++side) {
                if (g->held[side] && grid_on(g, side, p) && grid_on(g, side, q)) {
                    f->edge[e].kind = PL_LAYER_HELD;
                }
            }
        }
        double X[3 * PL_LAYER_NODES];
        for (int a = 0; a < f->node_count; ++a) {
            memcpy(X + 3 * a, g->X + 3 * f->node[a], 3 * sizeof *X);
        }
        pl_layer_face_init(&g->table, f, X, across);
    }
}

// Spreads a force over an edge x = at (axis 0), consistently with quadratic edges.
static inline void grid_load_edge(layer_grid *g, int side_axis, double at, int axis, double force)
{
    (void)side_axis;
    for (int j = 0; j <= 2 * g->ny; ++j) {
        const double share = (j % 2 ? 4.0 : j == 0 || j == 2 * g->ny ? 1.0 : 2.0) / (6.0 * g->ny);
        g->f[3 * grid_node(g, at > 0 ? 2 * g->nx : 0, j) + axis] += share * force;
    }
}

// A dead pressure along an axis: of a flat quadratic triangle each middle node gets a third.
static inline void grid_load_all(layer_grid *g, int axis, double pressure)
{
    for (int t = 0; t < g->faces; ++t) {
        for (int a = 3; a < 6; ++a) {
            g->f[3 * g->node[t][a] + axis] += pressure * g->face[t].area / 3;
        }
    }
}

static inline double grid_mean(const layer_grid *g, int side_axis, double at, int axis)
{
    (void)side_axis;
    double sum = 0;
    for (int j = 0; j <= 2 * g->ny; ++j) {
        const double share = (j % 2 ? 4.0 : j == 0 || j == 2 * g->ny ? 1.0 : 2.0) / (6.0 * g->ny);
        sum += share * g->x[3 * grid_node(g, at > 0 ? 2 * g->nx : 0, j) + axis];
    }

    return sum;
}

static inline double grid_nearest(const layer_grid *g, double x, double y, int axis)
{
    int best = 0;
    double distance = INFINITY;

    for (int v = 0; v < g->nodes; ++v) {
        const double d = hypot(g->X[3 * v] - x, g->X[3 * v + 1] - y);
        best = d < distance ? v : best;
        distance = fmin(d, distance);
    }

    return g->x[3 * best + axis];
}

// Load in `steps` increments of Newton's method (one step: small displacements).
static inline bool grid_solve(layer_grid *g, const pl_layer_law *law, int steps)
{
    const int n = 3 * g->nodes;
    double *K = malloc((size_t)n * n * sizeof *K), *r = malloc((size_t)n * sizeof *r),
           *start = calloc((size_t)n, sizeof *start);
    bool good = K && r && start;

    // internal forces at the start are carried by the loads applied before
    for (int t = 0; t < g->faces; ++t) {
        double x[45], f[45] = {0};
        for (int a = 0; a < g->face[t].node_count; ++a) {
            memcpy(x + 3 * a, g->x + 3 * g->face[t].node[a], 3 * sizeof *x);
        }
        pl_layer_energy(&g->table, law, &g->face[t], x, f);
        for (int i = 0; i < 3 * g->face[t].node_count; ++i) {
            start[3 * g->face[t].node[i / 3] + i % 3] += f[i];
        }
    }

    for (int step = 1; good && step <= steps; ++step) {
        for (int round = 0; good && round < (steps == 1 ? 1 : 40); ++round) {
            memset(K, 0, (size_t)n * n * sizeof *K);
            for (int i = 0; i < n; ++i) {
                r[i] = start[i] + (g->f[i] - start[i]) * step / steps;
            }
            for (int t = 0; t < g->faces; ++t) {
                const pl_layer_face *face = &g->face[t];
                const int m = 3 * face->node_count;
                double x[45], f[45] = {0}, H[45 * 45];
                for (int a = 0; a < face->node_count; ++a) {
                    memcpy(x + 3 * a, g->x + 3 * face->node[a], 3 * sizeof *x);
                }
                pl_layer_energy(&g->table, law, face, x, f);
                pl_layer_tangent(&g->table, law, face, x, false, NULL, H);
                for (int i = 0; i < m; ++i) {
                    const int I = 3 * face->node[i / 3] + i % 3;
                    r[I] -= f[i];
                    for (int j = 0; j < m; ++j) {
                        K[(size_t)n * I + 3 * face->node[j / 3] + j % 3] += H[m * i + j];
                    }
                }
            }
            for (int i = 0; i < n; ++i) {
                for (int j = 0; g->fixed[i] && j < n; ++j) {
                    K[(size_t)n * i + j] = K[(size_t)n * j + i] = i == j;
                }
                r[i] = g->fixed[i] ? 0 : r[i];
            }
            // symmetric elimination without pivoting, then back substitution
            for (int k = 0; k < n; ++k) {
                const double *row = K + (size_t)n * k;
                good = good && row[k] != 0;
                for (int i = k + 1; i < n; ++i) {
                    const double f = K[(size_t)n * i + k] / row[k];
                    if (f == 0) {
                        continue;
                    }
                    for (int j = k; j < n; ++j) {
                        K[(size_t)n * i + j] -= f * row[j];
                    }
                    r[i] -= f * r[k];
                }
            }
            double largest = 0;
            for (int i = n - 1; i >= 0; --i) {
                for (int j = i + 1; j < n; ++j) {
                    r[i] -= K[(size_t)n * i + j] * r[j];
                }
                r[i] /= K[(size_t)n * i + i];
                largest = fmax(largest, fabs(r[i]));
            }
            for (int i = 0; i < n; ++i) {
                g->x[i] += r[i];
            }
            good = good && isfinite(largest) && (round < 39 || largest < 1e-3);
            if (largest < 1e-8) {
                break;
            }
        }
    }

    free(K);
    free(r);
    free(start);

    return good;
}

static inline void grid_clear(layer_grid *g)
{
    free(g->X);
    free(g->x);
    free(g->f);
    free(g->fixed);
    free(g->node);
    free(g->face);
}

#endif
