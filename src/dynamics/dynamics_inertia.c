// Inertia as a term of the problem: E = coefficient / 2 (x - target) . M (x - target), with the consistent
// mass of all elements and the masses attached at markers. The tangent is coefficient M; rigid bodies get
// theirs through the motion of their vertices.
#include "base/threads.h"
#include "dynamics/dynamics_impl.h"

#define MASS_GRAIN 256 // rows, some 10 us

// ---- products
typedef struct mass_loop {
    const pl_consistent_mass *M;
    const double *x;
    double *y;
} mass_loop;

static void mass_rows(void *context, int64_t from, int64_t to)
{
    const mass_loop *w = context;
    for (int64_t v = from; v < to; ++v) {
        double sum[3] = {0};
        for (int64_t k = w->M->start[v]; k < w->M->start[v + 1]; ++k) {
            const double *x = w->x + 3 * (int64_t)w->M->column[k], m = w->M->value[k];
            sum[0] += m * x[0];
            sum[1] += m * x[1];
            sum[2] += m * x[2];
        }
        memcpy(w->y + 3 * v, sum, sizeof sum);
    }
}

void dynamics_mass_multiply(const dynamics_inertia *t, const double *x, double *y)
{
    mass_loop w = {.M = &t->M, .x = x, .y = y};
    pl_loop(t->M.n, MASS_GRAIN, mass_rows, &w);

    // m w w^T x of the masses at markers
    for (int k = 0; k < t->marker_count; ++k) {
        const pl_point *point = &t->marker[k].point;
        double at[3] = {0};
        for (int32_t j = 0; t->marker_mass[k] > 0 && j < point->count; ++j) {
            for (int i = 0; i < 3; ++i) {
                at[i] += point->weight[j] * x[3 * (int64_t)point->node[j] + i];
            }
        }
        if (t->hang) {
            const double along = pl_dot3(at, t->down);
            for (int i = 0; i < 3; ++i) {
                at[i] = along * t->down[i];
            }
        }
        for (int32_t j = 0; t->marker_mass[k] > 0 && j < point->count; ++j) {
            for (int i = 0; i < 3; ++i) {
                y[3 * (int64_t)point->node[j] + i] += t->marker_mass[k] * point->weight[j] * at[i];
            }
        }
    }
}

// ---- the term
static void inertia_destroy(void *object)
{
    dynamics_inertia *t = object;
    pl_consistent_mass_clear(&t->M);
    pl_free(t->marker_mass);
    pl_free(t->slot);
    pl_free(t->product);
    pl_free(t);
}

// Rigid regions and masses at markers couple vertices that no elastic element couples.
static void inertia_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    const dynamics_inertia *t = self;
    for (int32_t v = 0; v < t->M.n; ++v) {
        for (int64_t k = t->M.start[v]; k < t->M.start[v + 1] && t->M.column[k] <= v; ++k) {
            pl_pattern_couple(out, pl_problem_group(p, t->M.column[k]), pl_problem_group(p, v));
        }
    }

    for (int m = 0; m < t->marker_count; ++m) {
        const pl_point *point = &t->marker[m].point;
        for (int32_t j = 0; t->marker_mass[m] > 0 && j < point->count; ++j) {
            for (int32_t k = 0; k <= j; ++k) {
                pl_pattern_couple(out, pl_problem_group(p, point->node[k]),
                                  pl_problem_group(p, point->node[j]));
            }
        }
    }
}

static pl_status inertia_bind(void *self, pl_problem *p, pl_error *err)
{
    dynamics_inertia *t = self;
    const pl_unknowns *u = &p->unknowns;

    pl_free(t->slot);
    t->slot = PL_NEW_ARRAY(int64_t, 3 * t->M.start[t->M.n]);
    if (!t->slot) {
        return pl_fail_memory(err, "dynamics: mass matrix");
    }

    for (int32_t v = 0; v < t->M.n; ++v) {
        for (int64_t k = t->M.start[v]; k < t->M.start[v + 1] && t->M.column[k] <= v; ++k) {
            for (int i = 0; i < 3; ++i) {
                const int32_t a = u->dof[3 * (int64_t)t->M.column[k] + i], b = u->dof[3 * (int64_t)v + i];
                t->slot[3 * k + i] =
                    a < 0 || b < 0 ? -1 : pl_sparse_slot(&p->tangent.K, a < b ? a : b, a < b ? b : a);
            }
        }
    }

    return PL_OK;
}

static void inertia_evaluate(void *self, pl_problem *p, const double *x, double *energy, double *full)
{
    const dynamics_inertia *t = self;
    if (!(t->coefficient > 0)) {
        return;
    }

    const int64_t n = 3 * (int64_t)p->mesh.vertex_count;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *difference = pl_problem_take_full(p);
    for (int64_t i = 0; i < n; ++i) {
        difference[i] = x[i] - t->target[i];
    }
    dynamics_mass_multiply(t, difference, t->product);
    *energy += 0.5 * t->coefficient * pl_newton_dot(difference, t->product, n);
    pl_arena_end(&p->scratch, mark);
    for (int64_t i = 0; full && i < n; ++i) {
        full[i] += t->coefficient * t->product[i];
    }
}

// coefficient M_ab I at two vertices of which one is rigid, or of a mass at a marker; `along`: n n^T instead
// of I.
static void inertia_add_block(pl_problem *p, int32_t a, int32_t b, double m, const double *along,
                              const double *x)
{
    double B[9] = {m, 0, 0, 0, m, 0, 0, 0, m};
    for (int i = 0; along && i < 9; ++i) {
        B[i] = m * along[i / 3] * along[i % 3];
    }
    pl_problem_add_block(p, a, b, B, 3, x);
    if (a != b) {
        pl_problem_add_block(p, b, a, B, 3, x);
    }
}

static void inertia_tangent(void *self, pl_problem *p, const double *x, bool positive)
{
    (void)positive; // it is
    const dynamics_inertia *t = self;
    if (!(t->coefficient > 0)) {
        return;
    }

    const int32_t *rigid = p->unknowns.rigid_of;
    double *value = p->tangent.K.value;
    for (int32_t v = 0; v < t->M.n; ++v) {
        for (int64_t k = t->M.start[v]; k < t->M.start[v + 1] && t->M.column[k] <= v; ++k) {
            const double m = t->coefficient * t->M.value[k];
            if (rigid[v] >= 0 || rigid[t->M.column[k]] >= 0) {
                inertia_add_block(p, t->M.column[k], v, m, NULL, x);
                continue;
            }
            for (int i = 0; i < 3; ++i) {
                if (t->slot[3 * k + i] >= 0) {
                    value[t->slot[3 * k + i]] += m;
                }
            }
        }
    }

    for (int m = 0; m < t->marker_count; ++m) {
        const pl_point *point = &t->marker[m].point;
        for (int32_t j = 0; t->marker_mass[m] > 0 && j < point->count; ++j) {
            for (int32_t k = 0; k <= j; ++k) {
                const double w = t->coefficient * t->marker_mass[m] * point->weight[j] * point->weight[k];
                inertia_add_block(p, point->node[k], point->node[j], w, t->hang ? t->down : NULL, x);
            }
        }
    }
}

static const pl_term inertia_kind = {.name = "inertia",
                                     .destroy = inertia_destroy,
                                     .pattern = inertia_pattern,
                                     .bind = inertia_bind,
                                     .evaluate = inertia_evaluate,
                                     .tangent = inertia_tangent};

pl_status dynamics_inertia_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    const pl_robot *robot = p->robot;
    const dynamics_masses *masses = p->options.extra;
    const double *mass = masses->mass, g = pl_norm3(robot->gravity);
    dynamics_inertia *t = PL_NEW(dynamics_inertia);

    if (!t) {
        return pl_fail_memory(err, "dynamics: mass matrix");
    }
    *out = (pl_problem_term){&inertia_kind, t};
    t->hang = masses->hang && g > 0;
    for (int i = 0; t->hang && i < 3; ++i) {
        t->down[i] = robot->gravity[i] / g;
    }
    t->marker = robot->marker;
    t->marker_count = robot->marker_count;
    t->marker_mass = PL_NEW_ARRAY(double, robot->marker_count);
    t->product = PL_NEW_ARRAY(double, 3 * (int64_t)p->mesh.vertex_count);
    double *density = PL_NEW_ARRAY(double, p->mesh.region_count);
    pl_status status = t->marker_mass && t->product && density ? PL_OK : pl_fail_memory(err, "dynamics");
    for (int k = 0; status == PL_OK && mass && k < robot->marker_count; ++k) {
        t->marker_mass[k] = mass[k];
    }

    for (int32_t r = 0; status == PL_OK && r < p->mesh.region_count; ++r) {
        density[r] = robot->material[robot->region_material[r]].density;
        if (!(density[r] > 0)) {
            status = pl_fail(err, PL_BAD_INPUT,
                             "material '%s' of region '%s' has no density: a motion in time needs one "
                             "(density: 1070 kg/m^3)",
                             robot->material_name[robot->region_material[r]], p->mesh.region_name[r]);
        }
    }

    if (status == PL_OK) {
        status = pl_consistent_mass_create(&p->mesh, density, &t->M, err);
    }
    pl_free(density);

    return status;
}
