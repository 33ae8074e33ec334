// Building and freeing a problem: all memory is taken here.
#include <float.h>
#include "problem/problem_impl.h"

// Most vectors taken from the scratch arena at one time: a linear solve inside a sensitivity inside a term,
// or inside a path by arc length.
#define SCRATCH_FULL 12
#define SCRATCH_UNKNOWN 18

// Rounding errors add up over nodes, points and the pressures: measured residuals at rest are 0.1 to 0.4 of
// the estimate without it (tests/statics/test_statics_layers.c prints them).
#define NOISE_MARGIN 2.0

static const pl_term_create term_list[] = {
#define X(create) create,
    PROBLEM_TERMS(X)
#undef X
        NULL};

static pl_status create_forces(pl_problem *p, pl_error *err)
{
    double **const field[] = {&p->forces.asked, &p->forces.from, &p->forces.to, &p->forces.now,
                              &p->forces.kept};
    for (int i = 0; i < PL_COUNT(field); ++i) {
        *field[i] = PL_NEW_ARRAY(double, 3 * ((int64_t)p->robot->marker_count + 1));
        if (!*field[i]) {
            return pl_fail_memory(err, "problem: forces at markers");
        }
    }

    return PL_OK;
}

static pl_status create_elements(pl_problem *p, pl_error *err)
{
    const pl_robot *robot = p->robot;
    const int32_t regions = p->mesh.region_count;
    const pl_material **material = PL_NEW_ARRAY(const pl_material *, regions);
    bool *skip = PL_NEW_ARRAY(bool, regions);
    pl_status status = material && skip ? PL_OK : pl_fail_memory(err, "problem");

    for (int32_t r = 0; status == PL_OK && r < regions; ++r) {
        material[r] = &robot->material[robot->region_material[r]];
        double mu, kappa;
        pl_material_moduli(material[r], &mu, &kappa);
        p->stiffness = fmax(p->stiffness, mu);
        for (int k = 0; k < robot->rigid_count; ++k) {
            skip[r] = skip[r] || strcmp(robot->rigid[k].name, p->mesh.region_name[r]) == 0;
        }
        p->modulus = skip[r] ? p->modulus : fmax(p->modulus, mu + kappa);
    }

    if (status == PL_OK) {
        status = pl_elements_create(robot->mesh, material, skip, p->options.displacement, &p->elements, err);
    }
    pl_free(material);
    pl_free(skip);

    return status;
}

// What rounding alone leaves of a balance. A position is good to eps |x|, so an element's strains are good to
//   eps |x| sum_b |grad N_b|,
// and its force on node a to weight * modulus * |grad N_a| times that, the errors of elements and points
// being independent. Flat elements of a thin stiff layer have large gradients: theirs decides, not a mean
// edge.
static pl_status create_noise(pl_problem *p, pl_error *err)
{
    const pl_elements *E = p->elements;
    double *square = PL_NEW_ARRAY(double, p->mesh.vertex_count);

    if (!square) {
        return pl_fail_memory(err, "problem");
    }

    double largest = 0;
    for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
        p->reach = fmax(p->reach, pl_norm3(p->mesh.position + 3 * (int64_t)v));
    }
    p->reach += p->size;
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        double mu, kappa;
        pl_material_moduli(&p->robot->material[p->robot->region_material[block->law]], &mu, &kappa);
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                double size[PL_ELEMENT_NODES_MAX], sum = 0;
                for (int a = 0; a < block->node_count; ++a) {
                    const double *g =
                        block->gradient + (int64_t)(q * block->node_count + a) * 3 * PL_LANES + l;
                    size[a] =
                        sqrt(g[0] * g[0] + g[PL_LANES] * g[PL_LANES] + g[2 * PL_LANES] * g[2 * PL_LANES]);
                    sum += size[a];
                }
                const double error =
                    DBL_EPSILON * p->reach * sum * (mu + kappa) * block->weight[q * PL_LANES + l];
                for (int a = 0; a < block->node_count; ++a) {
                    square[block->node[a][l]] += error * error * size[a] * size[a];
                }
            }
        }
    }

    for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
        largest = fmax(largest, square[v]);
    }
    pl_free(square);
    p->noise = NOISE_MARGIN * sqrt(largest);

    return PL_OK;
}

static pl_status create_terms(pl_problem *p, const pl_term_create *list, pl_error *err)
{
    pl_status status = PL_OK;
    for (; list && *list && status == PL_OK; ++list) {
        if (p->term_count == PL_TERMS_MAX) {
            return pl_fail(err, PL_FAILED, "problem: more than %d terms", PL_TERMS_MAX);
        }
        // a term that fails half-built is in the list already, and destroyed with it
        pl_problem_term *term = &p->term[p->term_count];
        status = (*list)(p, term, err);
        p->term_count += term->kind != NULL;
    }

    return status;
}

pl_status pl_problem_new_row(pl_problem *p, int *row, pl_error *err)
{
    if (p->row_count == PL_ROWS_MAX) {
        return pl_fail(err, PL_BAD_INPUT,
                       "problem: the actuators need more than %d constraint rows, which is the limit",
                       PL_ROWS_MAX);
    }

    *row = p->row_count++;
    p->row[*row] = (pl_row){.term = p->term_count, .unit = 1, .a = PL_NEW_ARRAY(double, p->unknowns.n)};
    return p->row[*row].a ? PL_OK : pl_fail_memory(err, "problem: rows");
}

static pl_status create_work(pl_problem *p, pl_error *err)
{
    const size_t full = 3 * (size_t)p->mesh.vertex_count, n = (size_t)p->unknowns.n;
    p->gradient = PL_NEW_ARRAY(double, full);
    const size_t bytes = SCRATCH_FULL * pl_arena_bytes(full, sizeof(double)) +
                         SCRATCH_UNKNOWN * pl_arena_bytes(n, sizeof(double));
    return p->gradient && pl_arena_init(&p->scratch, bytes) ? PL_OK
                                                            : pl_fail_memory(err, "problem: work space");
}

pl_status pl_problem_create(const pl_robot *robot, const pl_problem_options *options,
                            const pl_term_create *extra, pl_problem **out, pl_error *err)
{
    *out = NULL;
    pl_problem *p = PL_NEW(pl_problem);
    if (!p) {
        return pl_fail_memory(err, "problem");
    }
    p->robot = robot;
    p->options = *options;
    p->mesh = pl_mesh_get(robot->mesh);
    double low[3], high[3];
    pl_mesh_bounds(robot->mesh, low, high);
    p->size = pl_distance3(low, high);
    pl_status status = create_elements(p, err);
    if (status == PL_OK) {
        status = create_noise(p, err);
    }
    if (status == PL_OK) {
        status = problem_number(p, err);
    }
    if (status == PL_OK) {
        status = create_forces(p, err);
    }
    if (status == PL_OK) {
        status = create_terms(p, term_list, err);
    }
    if (status == PL_OK) {
        status = create_terms(p, extra, err);
    }
    pl_status (*const stage[])(pl_problem *, pl_error *) = {pl_problem_layout, create_work,
                                                            pl_problem_linear_create};
    for (int i = 0; status == PL_OK && i < PL_COUNT(stage); ++i) {
        status = stage[i](p, err);
    }
    if (status != PL_OK) {
        pl_problem_destroy(p);
        return status;
    }

    *out = p;

    return PL_OK;
}

void pl_problem_destroy(pl_problem *p)
{
    if (!p) {
        return;
    }
    for (int i = 0; i < p->term_count; ++i) {
        p->term[i].kind->destroy(p->term[i].self);
    }
    for (int i = 0; i < p->row_count; ++i) {
        pl_free(p->row[i].a);
    }
    pl_problem_linear_destroy(p);
    pl_sparse_clear(&p->tangent.K);
    pl_free(p->tangent.dense);
    problem_unknowns_clear(&p->unknowns);
    pl_elements_destroy(p->elements);
    double *const force[] = {p->forces.asked, p->forces.from, p->forces.to, p->forces.now, p->forces.kept};
    for (int i = 0; i < PL_COUNT(force); ++i) {
        pl_free(force[i]);
    }
    pl_point_clear(&p->forces.grip);
    pl_free(p->gradient);
    pl_arena_clear(&p->scratch);
    pl_free(p);
}

void *problem_term_of(const pl_problem *p, const pl_term *kind)
{
    for (int i = 0; i < p->term_count; ++i) {
        if (p->term[i].kind == kind) {
            return p->term[i].self;
        }
    }
    return NULL;
}
