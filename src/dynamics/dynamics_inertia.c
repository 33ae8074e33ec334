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

// ---- drag
// Area of the surfaces at their vertices: an integral of the shape functions over flat faces.
static void drag_face(const pl_mesh *mesh, const double *X, int32_t face, double D, double *drag)
{
    int32_t node[PL_FACE_NODES_MAX];
    double a[3], b[3], normal[3];
    const int n = pl_mesh_face_nodes(mesh, face, node), corners = n == 3 || n == 6 ? 3 : 4;

    pl_sub3(X + 3 * (int64_t)node[1], X + 3 * (int64_t)node[0], a);
    pl_sub3(X + 3 * (int64_t)node[2], X + 3 * (int64_t)node[0], b);
    if (corners == 4) { // half the product of the diagonals
        pl_sub3(X + 3 * (int64_t)node[2], X + 3 * (int64_t)node[0], a);
        pl_sub3(X + 3 * (int64_t)node[3], X + 3 * (int64_t)node[1], b);
    }
    pl_cross3(a, b, normal);
    const double area = 0.5 * pl_norm3(normal);

    // quadratic triangles: all at the middles of the edges
    const int from = n == 6 ? 3 : 0, to = n == 6 ? 6 : corners;
    for (int k = from; k < to; ++k) {
        drag[node[k]] += 0.5 * D * area / (to - from);
    }
}

double dynamics_drag_power(const dynamics_inertia *t, const double *v)
{
    double power = 0;
    for (int32_t i = 0; t->drag && i < t->M.n; ++i) {
        const double speed = t->drag[i] > 0 ? pl_norm3(v + 3 * (int64_t)i) : 0;
        power += t->drag[i] * speed * speed * speed;
    }
    return power;
}

static void drag_evaluate(const dynamics_inertia *t, const double *x, double *energy, double *full)
{
    for (int64_t v = 0; v < t->M.n; ++v) {
        if (!(t->drag[v] > 0)) {
            continue;
        }
        double speed[3];
        for (int i = 0; i < 3; ++i) {
            speed[i] = (x[3 * v + i] - t->rest[3 * v + i]) / t->pace;
        }
        const double size = pl_norm3(speed);
        *energy += t->pace * t->drag[v] * size * size * size / 3;
        for (int i = 0; full && i < 3; ++i) {
            full[3 * v + i] += t->drag[v] * size * speed[i];
        }
    }
}

// drag / pace (|v| I + v v^T / |v|)
static void drag_tangent(const dynamics_inertia *t, pl_problem *p, const double *x)
{
    for (int32_t v = 0; v < t->M.n; ++v) {
        double speed[3], B[9];
        if (!(t->drag[v] > 0)) {
            continue;
        }
        for (int i = 0; i < 3; ++i) {
            speed[i] = (x[3 * (int64_t)v + i] - t->rest[3 * (int64_t)v + i]) / t->pace;
        }
        const double size = pl_norm3(speed), c = t->drag[v] / t->pace;
        for (int i = 0; i < 9; ++i) {
            const double along = size > 0 ? speed[i / 3] * speed[i % 3] / size : 0;
            B[i] = c * (along + (i % 4 == 0 ? size : 0));
        }
        pl_problem_add_block(p, v, v, B, 3, x);
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
    pl_free(t->drag);
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

static void inertia_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                             double *full)
{
    const double *x = here->x;
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
    if (t->drag && t->rest) {
        drag_evaluate(t, x, energy, full);
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

static void inertia_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    (void)positive; // it is
    const dynamics_inertia *t = self;
    if (!(t->coefficient > 0)) {
        return;
    }

    if (t->drag && t->rest) {
        drag_tangent(t, p, x);
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

// The frame of a free body has its mass and its second moments m S: with the weights b_a = 1/4 + 3 / (4 r^2)
// (x_a - c) . (X - c) of a place in the body,
//   M_ab = int rho b_a b_b dV = m (1 / 16 + 9 / (16 r^4) (x_a - c) . S (x_b - c)).
static void inertia_free_body(dynamics_inertia *t, const pl_obstacle *body, const double *X)
{
    double c[3] = {0}, arm[4][3], Sarm[3], square = 0;
    for (int a = 0; a < 4; ++a) {
        for (int i = 0; i < 3; ++i) {
            c[i] += 0.25 * X[3 * (int64_t)body->frame[a] + i];
        }
    }
    for (int a = 0; a < 4; ++a) {
        pl_sub3(X + 3 * (int64_t)body->frame[a], c, arm[a]);
        square += 0.25 * pl_dot3(arm[a], arm[a]);
    }

    for (int a = 0; a < 4; ++a) {
        const int32_t row = body->frame[a];
        pl_mulv3(body->second, arm[a], Sarm);
        for (int b = 0; b < 4; ++b) {
            const double m = body->mass * (1 + 9 / (square * square) * pl_dot3(Sarm, arm[b])) / 16;
            for (int64_t k = t->M.start[row]; k < t->M.start[row + 1]; ++k) {
                t->M.value[k] = t->M.column[k] == body->frame[b] ? m : t->M.value[k];
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
    if (status == PL_OK && masses->drag) {
        t->drag = PL_NEW_ARRAY(double, p->mesh.vertex_count);
        status = t->drag ? PL_OK : pl_fail_memory(err, "dynamics: drag");
    }
    for (int32_t s = 0; status == PL_OK && masses->drag && s < p->mesh.surface_count; ++s) {
        for (int64_t f = p->mesh.surface_start[s]; masses->drag[s] > 0 && f < p->mesh.surface_start[s + 1];
             ++f) {
            drag_face(robot->mesh, p->mesh.position, p->mesh.surface_face[f], masses->drag[s], t->drag);
        }
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
    for (int o = 0; status == PL_OK && o < robot->contact.obstacle_count; ++o) {
        if (robot->contact.obstacle[o].free) {
            inertia_free_body(t, &robot->contact.obstacle[o], p->mesh.position);
        }
    }
    pl_free(density);

    return status;
}
