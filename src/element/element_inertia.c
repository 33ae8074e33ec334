// The consistent mass M_ab = int rho N_a N_b dV over all elements of a mesh, rigid ones included: one number
// per pair of vertices that share an element, the same for all three axes. The products of quadratic shape
// functions on curved elements are polynomials of degree 7, which the rule integrates exactly.
#include "base/vec.h"
#include "element/element.h"
#include <stdlib.h>

#define INERTIA_GAUSS 5
#define INERTIA_POINTS (INERTIA_GAUSS * INERTIA_GAUSS * INERTIA_GAUSS)

// Gauss points on [0, 1].
static const double gauss_at[INERTIA_GAUSS] = {0.046910077030668004, 0.23076534494715845, 0.5,
                                               0.76923465505284155, 0.953089922969332};
static const double gauss_weight[INERTIA_GAUSS] = {
    0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324, 0.11846344252809454};

// The cube collapsed to a tetrahedron, xi = (u, (1 - u) v, (1 - u) (1 - v) w), or to a prism, xi = (u, (1 -
// u) v, 2 w - 1).
static double inertia_point(bool prism, int q, double xi[3])
{
    const int i = q % INERTIA_GAUSS, j = q / INERTIA_GAUSS % INERTIA_GAUSS,
              k = q / (INERTIA_GAUSS * INERTIA_GAUSS);
    const double u = gauss_at[i], v = gauss_at[j], w = gauss_at[k];
    const double weight = gauss_weight[i] * gauss_weight[j] * gauss_weight[k];

    xi[0] = u;
    xi[1] = (1 - u) * v;
    xi[2] = prism ? 2 * w - 1 : (1 - u) * (1 - v) * w;

    return prism ? 2 * (1 - u) * weight : (1 - u) * (1 - u) * (1 - v) * weight;
}

// Shape functions and their derivatives at the points, one table per kind of element.
typedef struct inertia_table {
    double N[INERTIA_POINTS][PL_ELEMENT_NODES_MAX], dN[INERTIA_POINTS][3 * PL_ELEMENT_NODES_MAX];
    double weight[INERTIA_POINTS];
} inertia_table;

static void inertia_fill(pl_element_kind kind, inertia_table *table)
{
    const bool prism = !pl_element_is_tet(kind);
    for (int q = 0; q < INERTIA_POINTS; ++q) {
        double xi[3];
        table->weight[q] = inertia_point(prism, q, xi);
        pl_shape_eval(kind, xi, table->N[q], table->dN[q]);
    }
}

// int N_a N_b dV of one element, row-major.
static void inertia_element(const pl_mesh_view *mesh, int32_t e, const inertia_table *table, double *m)
{
    const int32_t *node = mesh->node + mesh->node_start[e];
    const int n = (int)(mesh->node_start[e + 1] - mesh->node_start[e]);

    memset(m, 0, (size_t)(n * n) * sizeof *m);
    for (int q = 0; q < INERTIA_POINTS; ++q) {
        // dX_i / dxi_j
        double X[9] = {0};
        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 9; ++i) {
                X[i] += mesh->position[3 * (int64_t)node[a] + i / 3] * table->dN[q][3 * a + i % 3];
            }
        }

        const double w = table->weight[q] * pl_det3(X);
        for (int a = 0; a < n; ++a) {
            for (int b = 0; b < n; ++b) {
                m[a * n + b] += w * table->N[q][a] * table->N[q][b];
            }
        }
    }
}

static int inertia_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The elements of each vertex.
typedef struct inertia_stars {
    int64_t *start;
    int32_t *element;
} inertia_stars;

static bool inertia_stars_fill(const pl_mesh_view *mesh, inertia_stars *stars)
{
    const int64_t total = mesh->node_start[mesh->element_count];
    stars->start = PL_NEW_ARRAY(int64_t, (int64_t)mesh->vertex_count + 2);
    stars->element = PL_NEW_ARRAY(int32_t, total);
    if (!stars->start || !stars->element) {
        return false;
    }

    int64_t *next = stars->start + 1;
    for (int64_t i = 0; i < total; ++i) {
        next[mesh->node[i] + 1]++;
    }
    for (int32_t v = 0; v < mesh->vertex_count; ++v) {
        next[v + 1] += next[v];
    }

    for (int32_t e = 0; e < mesh->element_count; ++e) {
        for (int64_t i = mesh->node_start[e]; i < mesh->node_start[e + 1]; ++i) {
            stars->element[next[mesh->node[i]]++] = e;
        }
    }

    return true;
}

// Rows of the pattern: the vertices of all elements of a vertex, sorted, once each. With `column` NULL only
// counted.
static int64_t inertia_row(const pl_mesh_view *mesh, const inertia_stars *stars, int32_t v, int32_t *scratch,
                           int32_t *column)
{
    int64_t count = 0, kept = 0;
    for (int64_t k = stars->start[v]; k < stars->start[v + 1]; ++k) {
        const int32_t e = stars->element[k];
        for (int64_t i = mesh->node_start[e]; i < mesh->node_start[e + 1]; ++i) {
            scratch[count++] = mesh->node[i];
        }
    }

    qsort(scratch, (size_t)count, sizeof *scratch, inertia_compare);
    for (int64_t i = 0; i < count; ++i) {
        if (i == 0 || scratch[i] != scratch[i - 1]) {
            if (column) {
                column[kept] = scratch[i];
            }
            ++kept;
        }
    }

    return kept;
}

static bool inertia_pattern(const pl_mesh_view *mesh, const inertia_stars *stars, pl_consistent_mass *M)
{
    int64_t longest = 0;
    for (int32_t v = 0; v < mesh->vertex_count; ++v) {
        const int64_t count = stars->start[v + 1] - stars->start[v];
        longest = count > longest ? count : longest;
    }

    int32_t *scratch = PL_NEW_ARRAY(int32_t, longest * PL_ELEMENT_NODES_MAX);
    M->start = PL_NEW_ARRAY(int64_t, (int64_t)mesh->vertex_count + 1);
    bool ok = scratch && M->start;
    for (int32_t v = 0; ok && v < mesh->vertex_count; ++v) {
        M->start[v + 1] = M->start[v] + inertia_row(mesh, stars, v, scratch, NULL);
    }
    M->column = ok ? PL_NEW_ARRAY(int32_t, M->start[mesh->vertex_count]) : NULL;
    M->value = ok ? PL_NEW_ARRAY(double, M->start[mesh->vertex_count]) : NULL;
    ok = ok && M->column && M->value;
    for (int32_t v = 0; ok && v < mesh->vertex_count; ++v) {
        inertia_row(mesh, stars, v, scratch, M->column + M->start[v]);
    }
    pl_free(scratch);

    return ok;
}

static void inertia_add(pl_consistent_mass *M, int32_t row, int32_t column, double value)
{
    const int32_t *at = bsearch(&column, M->column + M->start[row],
                                (size_t)(M->start[row + 1] - M->start[row]), sizeof column, inertia_compare);
    M->value[at - M->column] += value;
}

pl_status pl_consistent_mass_create(const pl_mesh_view *mesh, const double *density, pl_consistent_mass *M,
                                    pl_error *err)
{
    *M = (pl_consistent_mass){.n = mesh->vertex_count};
    inertia_stars stars = {0};
    inertia_table *table = PL_NEW_ARRAY(inertia_table, PL_ELEMENT_KIND_COUNT);
    const bool ok = table && inertia_stars_fill(mesh, &stars) && inertia_pattern(mesh, &stars, M);
    pl_free(stars.start);
    pl_free(stars.element);

    if (!ok) {
        pl_free(table);
        pl_consistent_mass_clear(M);
        return pl_fail_memory(err, "elements: mass");
    }

    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        inertia_fill((pl_element_kind)kind, &table[kind]);
    }

    for (int32_t e = 0; e < mesh->element_count; ++e) {
        double m[PL_ELEMENT_NODES_MAX * PL_ELEMENT_NODES_MAX];
        const int32_t *node = mesh->node + mesh->node_start[e];
        const int n = (int)(mesh->node_start[e + 1] - mesh->node_start[e]);
        inertia_element(mesh, e, &table[mesh->kind[e]], m);
        for (int i = 0; i < n * n; ++i) {
            inertia_add(M, node[i / n], node[i % n], density[mesh->region[e]] * m[i]);
        }
    }

    pl_free(table);

    return PL_OK;
}

void pl_consistent_mass_clear(pl_consistent_mass *M)
{
    pl_free(M->start);
    pl_free(M->column);
    pl_free(M->value);
    *M = (pl_consistent_mass){0};
}
