// The body: its elements, with the pressures of locking-free ones. First in the list of terms: it finds
// energy and gradient empty and sets them.
//
// The tangent is added up block by block: for every pair of groups of unknowns the list of element results
// that belong to it, so that pairs can be summed in parallel, each in the order of the elements.
#include "base/threads.h"
#include "problem/problem_impl.h"
#include "problem/term_material.h"

#define PAIRS_AHEAD 24 // contributions: they lie far apart, and are asked for before they are needed

typedef struct element_pair {
    int32_t row, column;                                // first unknowns of the groups
    int64_t base[3];                                    // slot of the first row for each column unknown
    int64_t first, count;                               // contributions
    uint8_t rows, columns, row_part[3], column_part[3]; // unknowns of both and their axes
    bool diagonal, pressure;
    double unit; // of the pressure in a coupling of displacements to a pressure; otherwise 1
} element_pair;

typedef struct elements_term {
    double *tangent; // element tangents: computed and used by elements_tangent
    element_pair *pair;
    int64_t pair_count;
    int64_t *code;  // contributions: (offset in `tangent`) * 2 + transposed; PAIRS_AHEAD zeros follow
    int64_t *rigid; // elements that touch rigid bodies: block * PL_LANES + lane
    int64_t rigid_count;
    int64_t *mass_slot; // per entry of the pressure mass: where it stands in K
} elements_term;

static void elements_destroy(void *object)
{
    elements_term *e = object;
    pl_free(e->tangent);
    pl_free(e->pair);
    pl_free(e->code);
    pl_free(e->rigid);
    pl_free(e->mass_slot);
    pl_free(e);
}

// ---- pattern
// The pairs of one element. With `rigid` those that touch rigid bodies, without code; otherwise the others.
static void element_pairs(const pl_problem *p, pl_pattern *out, const pl_block *block, int lane, bool rigid)
{
    const pl_unknowns *u = &p->unknowns;
    const int n = block->node_count;
    const int64_t base = block->tangent_start + (int64_t)lane * block->tangent_count,
                  coupling = base + (int64_t)n * (n + 1) / 2 * 9;

    for (int a = 0; a < n; ++a) {
        const int32_t va = block->node[a][lane], ga = pl_problem_group(p, va);
        const bool rigid_a = u->rigid_of[va] >= 0;
        for (int b = a; b < n; ++b) {
            const int32_t vb = block->node[b][lane];
            if ((rigid_a || u->rigid_of[vb] >= 0) == rigid) {
                pattern_add(out, ga, pl_problem_group(p, vb),
                            rigid ? -1 : base + (int64_t)pl_pair_index(n, a, b) * 9);
            }
        }
        for (int c = 0; rigid_a == rigid && p->elements->law[block->law].mixed && c < block->corner_count;
             ++c) {
            pattern_add(out, ga, u->pressure_dof[block->pressure[c][lane]],
                        rigid ? -1 : coupling + (int64_t)(c * n + a) * 3);
        }
    }
}

static void elements_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    const elements_term *e = self;
    for (int64_t k = 0; k < e->pair_count; ++k) {
        pl_pattern_couple(out, e->pair[k].row, e->pair[k].column);
    }
    for (int64_t k = 0; k < e->rigid_count; ++k) {
        element_pairs(p, out, &p->elements->block[e->rigid[k] / PL_LANES], (int)(e->rigid[k] % PL_LANES),
                      true);
    }

    const pl_sparse *M = &p->elements->mass;
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        for (int64_t i = M->start[k]; i < M->start[k + 1]; ++i) {
            pl_pattern_couple(out, p->unknowns.pressure_dof[M->row[i]], p->unknowns.pressure_dof[k]);
        }
    }
}

// The sorted contributions become pairs with their lists.
static pl_status elements_make_pairs(elements_term *e, const pl_problem *p, const pl_pattern *sorted,
                                     pl_error *err)
{
    pattern_group *info = pattern_groups(p);
    for (int64_t i = 0; i < sorted->count; ++i) {
        const pattern_entry *entry = &sorted->entry[i];
        e->pair_count += i == 0 || entry->row != entry[-1].row || entry->column != entry[-1].column;
    }

    e->pair = PL_NEW_ARRAY(element_pair, e->pair_count);
    e->code = PL_NEW_ARRAY(int64_t, sorted->count + PAIRS_AHEAD);
    if (!info || !e->pair || !e->code) {
        pl_free(info);
        return pl_fail_memory(err, "problem: elements");
    }

    int64_t pairs = 0;
    for (int64_t i = 0; i < sorted->count; ++i) {
        const pattern_entry *entry = &sorted->entry[i];
        if (i == 0 || entry->row != entry[-1].row || entry->column != entry[-1].column) {
            const pattern_group *row = &info[entry->row], *column = &info[entry->column];
            element_pair *pair = &e->pair[pairs++];
            *pair = (element_pair){.row = entry->row,
                                   .column = entry->column,
                                   .first = i,
                                   .rows = row->count,
                                   .columns = column->count,
                                   .diagonal = entry->row == entry->column,
                                   .pressure = row->pressure || column->pressure,
                                   .unit = row->pressure      ? p->elements->pressure_unit[row->number]
                                           : column->pressure ? p->elements->pressure_unit[column->number]
                                                              : 1};
            memcpy(pair->row_part, row->part, 3);
            memcpy(pair->column_part, column->part, 3);
        }
        e->code[i] = entry->code;
        e->pair[pairs - 1].count++;
    }

    pl_free(info);

    return PL_OK;
}

static bool element_touches_rigid(const pl_problem *p, const pl_block *block, int lane)
{
    for (int a = 0; a < block->node_count; ++a) {
        if (p->unknowns.rigid_of[block->node[a][lane]] >= 0) {
            return true;
        }
    }
    return false;
}

static pl_status elements_find_rigid(elements_term *e, const pl_problem *p, pl_error *err)
{
    for (int pass = 0; pass < 2; ++pass) {
        e->rigid_count = 0;
        for (int b = 0; p->unknowns.rigid_count > 0 && b < p->elements->block_count; ++b) {
            const pl_block *block = &p->elements->block[b];
            for (int l = 0; l < block->lane_count; ++l) {
                const bool touches = element_touches_rigid(p, block, l);
                if (touches && pass == 1) {
                    e->rigid[e->rigid_count] = (int64_t)b * PL_LANES + l;
                }
                e->rigid_count += touches;
            }
        }
        if (pass == 0) {
            e->rigid = PL_NEW_ARRAY(int64_t, e->rigid_count);
            if (!e->rigid) {
                return pl_fail_memory(err, "problem: rigid bodies");
            }
        }
    }
    return PL_OK;
}

static pl_status elements_bind(void *self, pl_problem *p, pl_error *err)
{
    (void)err;
    elements_term *e = self;
    const pl_sparse *K = &p->tangent.K, *M = &p->elements->mass;
    int64_t at = 0;
    for (int64_t k = 0; k < e->pair_count; ++k) {
        // pairs and columns are sorted alike; all columns of a group begin with the same rows
        element_pair *pair = &e->pair[k];
        at = k > 0 && pair[-1].column == pair->column ? at : K->start[pair->column];
        while (K->row[at] < pair->row) {
            ++at;
        }
        for (int j = 0; j < pair->columns; ++j) {
            pair->base[j] = K->start[pair->column + j] + (at - K->start[pair->column]);
        }
    }

    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        for (int64_t i = M->start[k]; i < M->start[k + 1]; ++i) {
            const int32_t a = p->unknowns.pressure_dof[M->row[i]], b = p->unknowns.pressure_dof[k];
            e->mass_slot[i] = pl_sparse_slot(K, a < b ? a : b, a < b ? b : a);
        }
    }

    return PL_OK;
}

// ---- energy, gradient, tangent
static void elements_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                              double *full)
{
    const double *x = here->x;
    (void)self;
    *energy = pl_elements_energy(p->elements, x, full, &p->min_J);
}

// Adds up the element results of one pair of groups into its block.
static void pair_assemble(const elements_term *e, const element_pair *pair, double *value)
{
    double B[9] = {0};
    for (int64_t i = pair->first; i < pair->first + pair->count; ++i) {
        const double *entry = e->tangent + (e->code[i] >> 1),
                     *soon = e->tangent + (e->code[i + PAIRS_AHEAD] >> 1);
        __builtin_prefetch(soon);
        __builtin_prefetch(soon + 8);
        if (pair->pressure) {
            for (int k = 0; k < 3; ++k) {
                B[k] += entry[k];
            }
        } else if (e->code[i] & 1) {
            for (int k = 0; k < 9; ++k) {
                B[3 * (k % 3) + k / 3] += entry[k];
            }
        } else {
            for (int k = 0; k < 9; ++k) {
                B[k] += entry[k];
            }
        }
    }

    for (int j = 0; j < pair->columns; ++j) {
        const int rows = pair->diagonal ? j + 1 : pair->rows;
        for (int r = 0; r < rows; ++r) {
            // a pressure couples to three axes; which of the two is the pressure, its part is 0
            const int at = pair->pressure ? pair->row_part[r] + pair->column_part[j]
                                          : 3 * pair->row_part[r] + pair->column_part[j];
            value[pair->base[j] + r] = pair->unit * B[at];
        }
    }
}

static void rigid_pressures(pl_problem *p, const pl_block *block, int lane, int a, const double *coupling,
                            const double *x)
{
    pl_sparse *K = &p->tangent.K;
    int32_t unknown[6];
    double J[18];
    const int count = pl_problem_vertex_unknowns(p, block->node[a][lane], x, unknown, J);

    for (int c = 0; c < block->corner_count; ++c) {
        const int32_t number = block->pressure[c][lane], pressure = p->unknowns.pressure_dof[number];
        for (int k = 0; k < count; ++k) {
            double sum = 0;
            for (int i = 0; i < 3; ++i) {
                sum += J[6 * i + k] * coupling[(c * block->node_count + a) * 3 + i];
            }
            const bool upper = unknown[k] <= pressure;
            K->value[pl_sparse_slot(K, upper ? unknown[k] : pressure, upper ? pressure : unknown[k])] +=
                p->elements->pressure_unit[number] * sum;
        }
    }
}

static void rigid_element(const elements_term *e, pl_problem *p, const pl_block *block, int lane,
                          const double *x)
{
    const int n = block->node_count;
    const int32_t *rigid_of = p->unknowns.rigid_of;
    const double *pair = e->tangent + block->tangent_start + (int64_t)lane * block->tangent_count,
                 *coupling = pair + (int64_t)n * (n + 1) / 2 * 9;

    for (int a = 0; a < n; ++a) {
        const int32_t va = block->node[a][lane];
        for (int b = a; b < n; ++b) {
            const int32_t vb = block->node[b][lane];
            if (rigid_of[va] < 0 && rigid_of[vb] < 0) {
                continue;
            }
            double B[9], T[9];
            for (int k = 0; k < 9; ++k) {
                B[k] = pair[pl_pair_index(n, a, b) * 9 + k];
                T[3 * (k % 3) + k / 3] = B[k];
            }
            pl_problem_add_block(p, va, vb, B, 3, x);
            if (a != b) {
                pl_problem_add_block(p, vb, va, T, 3, x);
            }
        }
        if (rigid_of[va] >= 0 && p->elements->law[block->law].mixed) {
            rigid_pressures(p, block, lane, a, coupling, x);
        }
    }
}

typedef struct pair_loop {
    elements_term *e;
    double *value;
} pair_loop;

static void pairs_assemble(void *context, int64_t from, int64_t to)
{
    const pair_loop *w = context;
    for (int64_t k = from; k < to; ++k) {
        pair_assemble(w->e, &w->e->pair[k], w->value);
    }
}

static void elements_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    elements_term *e = self;
    double *value = p->tangent.K.value;

    pl_elements_tangent(p->elements, x, positive ? 1 : 0, here->predicted, e->tangent);

    // the first term writes into zeros, and every pair has entries of its own
    pair_loop w = {.e = e, .value = value};
    pl_loop(e->pair_count, 512, pairs_assemble, &w);
    const pl_sparse *M = &p->elements->mass;
    const double *unit = p->elements->pressure_unit;
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        for (int64_t i = M->start[k]; i < M->start[k + 1]; ++i) {
            value[e->mass_slot[i]] =
                -M->value[i] / p->elements->pressure_kappa[k] * unit[k] * unit[M->row[i]];
        }
    }

    for (int64_t k = 0; k < e->rigid_count; ++k) {
        rigid_element(e, p, &p->elements->block[e->rigid[k] / PL_LANES], (int)(e->rigid[k] % PL_LANES), x);
    }
}

// ---- increments, states, derivatives
static bool elements_admissible(void *self, pl_problem *p, const double *x)
{
    (void)self;
    const double bound = pl_elements_bound(p->elements, x, NULL, NULL);
    if (!(bound > 0)) {
        pl_log(1, "  not admissible: lower bound of J is %.3g", bound);
    }
    return bound > 0;
}

static void elements_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    (void)self;
    pl_elements_energy(p->elements, state->x, full, NULL);
}

// Forces from the stresses point by point, in another order than the kernels and without their buffers: what
// the independent check stands on. The formulas of the laws are shared.
void problem_elements_reference(pl_problem *p, const pl_state *state, double *full)
{
    const pl_elements *E = p->elements;
    pl_elements_energy(p->elements, state->x, NULL, NULL); // pressures
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                double F[9], P[9];
                pl_elements_stress(E, block, l, q, state->x, F, P);
                const double w = block->weight[q * PL_LANES + l];
                for (int a = 0; a < block->node_count; ++a) {
                    const double *g =
                        block->gradient + (int64_t)(q * block->node_count + a) * 3 * PL_LANES + l;
                    for (int i = 0; i < 3; ++i) {
                        full[3 * (int64_t)block->node[a][l] + i] +=
                            w *
                            (P[3 * i] * g[0] + P[3 * i + 1] * g[PL_LANES] + P[3 * i + 2] * g[2 * PL_LANES]);
                    }
                }
            }
        }
    }
}

static pl_status elements_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                     double *full, double *target, pl_error *err)
{
    (void)self;
    (void)target;
    if (q->kind != PL_PARAMETER_MATERIAL || q->part == PL_DENSITY) {
        return PL_OK;
    }
    return term_material_derivative(p, state, q->index, q->part, full, err);
}

static const pl_term elements_kind = {.name = "elements",
                                      .elastic = true,
                                      .destroy = elements_destroy,
                                      .pattern = elements_pattern,
                                      .bind = elements_bind,
                                      .evaluate = elements_evaluate,
                                      .tangent = elements_tangent,
                                      .admissible = elements_admissible,
                                      .forces = elements_forces,
                                      .derivative = elements_derivative};

pl_status term_elements_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    elements_term *e = PL_NEW(elements_term);
    if (!e) {
        return pl_fail_memory(err, "problem: elements");
    }
    *out = (pl_problem_term){&elements_kind, e};
    pl_pattern pattern = {0};
    int64_t most = 0;
    for (int b = 0; b < p->elements->block_count; ++b) {
        const pl_block *block = &p->elements->block[b];
        most += (int64_t)block->lane_count * block->node_count *
                ((block->node_count + 1) / 2 + 1 +
                 (p->elements->law[block->law].mixed ? block->corner_count : 0));
    }

    pattern_reserve(&pattern, most);
    for (int b = 0; b < p->elements->block_count; ++b) {
        for (int l = 0; l < p->elements->block[b].lane_count; ++l) {
            element_pairs(p, &pattern, &p->elements->block[b], l, false);
        }
    }

    pl_status status = pattern_sort(&pattern, p->unknowns.n, err);
    if (status == PL_OK) {
        status = elements_make_pairs(e, p, &pattern, err);
    }
    pattern_clear(&pattern);
    if (status == PL_OK) {
        status = elements_find_rigid(e, p, err);
    }

    const pl_sparse *M = &p->elements->mass;
    e->mass_slot = PL_NEW_ARRAY(int64_t, p->elements->pressure_count > 0 ? M->start[M->n] : 0);
    e->tangent = pl_resize_array(NULL, (size_t)p->elements->tangent_size, sizeof *e->tangent);

    return status == PL_OK && (!e->mass_slot || !e->tangent) ? pl_fail_memory(err, "problem: elements")
                                                             : status;
}
