// The pressure mass M_cd = int N_c N_d dV, one block per material: what turns the moments b_c = int N_c d dV
// of the dilatation into its projection dbar = M^-1 b. Quadratic elements have the consistent mass: it
// reproduces a dilatation that varies across a wall of a single element. (A lumped mass flattens it to a
// third at the boundary, and such a wall bends too easily.) Linear elements are lumped: their dilatation is
// constant.
#include "element/element.h"
#include <stdlib.h>

static bool mass_is_lumped(const pl_block *block)
{
    return !pl_element_is_quadratic(block->kind);
}

// int N_c N_d dV of one lane; lumped: row sums on the diagonal.
static double mass_entry(const pl_block *block, int lane, int c, int d)
{
    double sum = 0;
    for (int q = 0; q < block->point_count; ++q) {
        const double *N = block->corner_weight + q * block->corner_count;
        const double w = block->weight[q * PL_LANES + lane] * N[c];
        sum += mass_is_lumped(block) ? (c == d ? w : 0) : w * N[d];
    }

    return sum;
}

// Calls nothing but adds: the values of M on its pattern.
static void mass_fill(pl_elements *E)
{
    memset(E->mass.value, 0, (size_t)E->mass.start[E->mass.n] * sizeof *E->mass.value);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];

        for (int l = 0; E->law[block->law].mixed && l < block->lane_count; ++l) {
            for (int c = 0; c < block->corner_count; ++c) {
                for (int d = 0; d < block->corner_count; ++d) {
                    const int32_t row = block->pressure[c][l], column = block->pressure[d][l];
                    if (row <= column && (row == column || !mass_is_lumped(block))) {
                        E->mass.value[pl_sparse_slot(&E->mass, row, column)] += mass_entry(block, l, c, d);
                    }
                }
            }
        }
    }
}

static int mass_compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The pattern: pairs of corners that share an element, sorted by column and row, once each.
static pl_status mass_pattern(pl_elements *E, pl_error *err)
{
    int64_t limit = E->pressure_count, count = 0;
    for (int b = 0; b < E->block_count; ++b) {
        const int corners = E->block[b].corner_count;
        limit += (int64_t)corners * (corners - 1) / 2 * E->block[b].lane_count;
    }

    int64_t *pair = PL_NEW_ARRAY(int64_t, limit);
    if (!pair) {
        return pl_fail_memory(err, "elements: pressure mass");
    }
    for (int32_t p = 0; p < E->pressure_count; ++p) {
        pair[count++] = (int64_t)p * E->pressure_count + p;
    }

    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const bool coupled = E->law[block->law].mixed && !mass_is_lumped(block);

        for (int l = 0; coupled && l < block->lane_count; ++l) {
            for (int c = 0; c < block->corner_count; ++c) {
                for (int d = 0; d < c; ++d) {
                    const int32_t i = block->pressure[c][l], j = block->pressure[d][l];
                    pair[count++] = (int64_t)(i > j ? i : j) * E->pressure_count + (i > j ? j : i);
                }
            }
        }
    }

    qsort(pair, (size_t)count, sizeof *pair, mass_compare);
    int64_t unique = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (i == 0 || pair[i] != pair[i - 1]) {
            pair[unique++] = pair[i];
        }
    }

    const pl_status status = pl_sparse_create(E->pressure_count, unique, &E->mass, err);
    for (int64_t i = 0; status == PL_OK && i < unique; ++i) {
        E->mass.row[i] = (int32_t)(pair[i] % E->pressure_count);
        E->mass.start[pair[i] / E->pressure_count + 1]++;
    }

    for (int32_t p = 0; status == PL_OK && p < E->pressure_count; ++p) {
        E->mass.start[p + 1] += E->mass.start[p];
    }
    pl_free(pair);

    return status;
}

// sqrt(kappa mu) / cbrt(M_kk); every pressure belongs to one material.
static void mass_units(pl_elements *E)
{
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const pl_law *law = &E->law[block->law];

        for (int i = 0; law->mixed && i < block->corner_count * block->lane_count; ++i) {
            const int32_t k = block->pressure[i / block->lane_count][i % block->lane_count];
            const double mass = E->mass.value[E->mass.start[k + 1] - 1]; // the diagonal ends a column
            E->pressure_unit[k] = sqrt(E->pressure_kappa[k] * law->mu) / cbrt(mass);
        }
    }
}

pl_status pl_elements_mass_create(pl_elements *E, pl_error *err)
{
    if (E->pressure_count == 0) {
        return PL_OK;
    }

    int32_t *group = PL_NEW_ARRAY(int32_t, E->pressure_count);
    if (!group) {
        return pl_fail_memory(err, "elements: pressure mass");
    }
    for (int32_t p = 0; p < E->pressure_count; ++p) {
        group[p] = p;
    }

    pl_status status = mass_pattern(E, err);
    if (status == PL_OK) {
        status = pl_factor_create(PL_FACTOR_MULTIFRONTAL, &E->mass, group, E->pressure_count, &E->mass_factor,
                                  err);
    }

    pl_free(group);
    status = status == PL_OK ? pl_elements_mass_update(E, err) : status;
    if (status == PL_OK) {
        mass_units(E);
    }

    return status;
}

pl_status pl_elements_mass_update(pl_elements *E, pl_error *err)
{
    if (E->pressure_count == 0) {
        return PL_OK;
    }
    mass_fill(E);
    pl_factor_report report;
    const pl_status status = pl_factor_update(E->mass_factor, &E->mass, &report, err);
    if (status == PL_OK && (report.singular || report.negative_count > 0)) {
        return pl_fail(err, PL_FAILED, "elements: the pressure mass matrix is not positive definite");
    }

    return status;
}

void pl_elements_mass_solve(pl_elements *E, double *b)
{
    if (E->pressure_count > 0) {
        pl_factor_solve(E->mass_factor, b, 1);
    }
}
