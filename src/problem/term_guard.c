// Guards of curved tets. The map of a tet10 may fold between its quadrature points, where its energy does not
// see it: in a wall that has become thin (a ball inflated to a hundred times its volume) the slope across the
// wall is smaller than what quadratic edges miss of the true curve. Elements that come near to that get an
// energy of their own,
//   E = sum over elements, n of   mu V / 20 phi(c_n / (6 V j)),   phi(s) = -(s - 1)^2 ln s  for s < 1, else
//   0,
// with c_n the 20 Bernstein coefficients of det(dx/dxi) (mesh_jacobian.c), whose smallest bounds it from
// below, and V the volume at rest. phi is twice differentiable and grows without bound where c_n -> 0: a
// guarded element cannot invert. Where every c_n / 6 V > j there is no such energy, so finer meshes have
// none.
//
// c_n is the mean of det(column 0 of A_p, column 1 of A_q, column 2 of A_s) over the orders of three corners
// p, q, s, with A_p = dx/dxi at corner p, linear in the nodes.
#include "problem/problem_impl.h"

#define GUARD_J 0.05    // relative determinant below which a guard acts
#define GUARD_WATCH 0.3 // and below which an element is looked at in every evaluation
#define GUARD_NODES 10
#define GUARD_TERMS 20

typedef struct guard_list {
    int32_t *item; // 8 block + lane
    int32_t count;
} guard_list;

typedef struct guard_term {
    double slope[12][GUARD_NODES]; // dN_a/dxi_c at corner i: row 3 i + c
    int8_t of[4][4][4];            // coefficient of the corners p, q, s
    double share[GUARD_TERMS];     // one over the number of their orders
    guard_list now, kept;
    bool *watched; // per element
    double *bound; // scratch, per element
} guard_term;

static void guard_destroy(void *object)
{
    guard_term *t = object;
    pl_free(t->now.item);
    pl_free(t->kept.item);
    pl_free(t->watched);
    pl_free(t->bound);
    pl_free(t);
}

typedef struct guard_element {
    const pl_block *block;
    int lane;
    double volume, weight, A[12][3], c[GUARD_TERMS]; // A: column c of corner i in row 3 i + c
    double slope[GUARD_TERMS], curve[GUARD_TERMS];   // dE/dc, d2E/dc2
    bool acts;
} guard_element;

// Coefficients and their energy at x.
static double guard_look(const guard_term *t, const pl_elements *E, int32_t item, const double *x,
                         guard_element *g)
{
    const pl_block *block = g->block = &E->block[item / PL_LANES];
    const int lane = g->lane = item % PL_LANES;

    g->volume = 0;
    for (int q = 0; q < block->point_count; ++q) {
        g->volume += block->weight[q * PL_LANES + lane];
    }
    memset(g->A, 0, sizeof g->A);
    memset(g->c, 0, sizeof g->c);
    for (int a = 0; a < GUARD_NODES; ++a) {
        const double *xa = x + 3 * (int64_t)block->node[a][lane];
        for (int k = 0; k < 12; ++k) {
            for (int i = 0; i < 3; ++i) {
                g->A[k][i] += t->slope[k][a] * xa[i];
            }
        }
    }

    for (int p = 0; p < 4; ++p) {
        for (int q = 0; q < 4; ++q) {
            double cross[3];
            pl_cross3(g->A[3 * p], g->A[3 * q + 1], cross);
            for (int s = 0; s < 4; ++s) {
                const int n = t->of[p][q][s];
                g->c[n] += t->share[n] * pl_dot3(cross, g->A[3 * s + 2]);
            }
        }
    }

    const double unit = 6 * g->volume * GUARD_J, w = E->law[block->law].mu * g->volume / GUARD_TERMS;
    double energy = 0;
    g->acts = false;
    for (int n = 0; n < GUARD_TERMS; ++n) {
        const double s = g->c[n] / unit, d = s - 1;
        g->slope[n] = g->curve[n] = 0;
        if (s <= 0) {
            return INFINITY;
        }
        if (s < 1) {
            const double l = log(s);
            energy -= w * d * d * l;
            g->slope[n] = w / unit * (-2 * d * l - d * d / s);
            g->curve[n] = w / (unit * unit) * (-2 * l - 4 * d / s + d * d / (s * s));
            g->acts = true;
        }
    }

    return energy;
}

// Where elements stand at x: those near an inversion are watched from now on. False where a guard that acts
// is new: the equilibrium x was found without it.
static bool guard_update(guard_term *t, const pl_problem *p, const double *x, bool renewed)
{
    const pl_elements *E = p->elements;
    bool same = true;

    if (renewed) {
        memset(t->watched, 0, (size_t)p->mesh.element_count * sizeof *t->watched);
        t->now.count = 0;
    }

    if (pl_elements_bound(p->elements, x, t->bound, NULL) >= GUARD_WATCH) {
        return true;
    }

    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        for (int l = 0; block->kind == PL_TET10 && l < block->lane_count; ++l) {
            const int32_t e = block->element[l];
            guard_element g;
            if (t->bound[e] >= GUARD_WATCH || t->watched[e] ||
                isinf(guard_look(t, E, PL_LANES * b + l, x, &g))) {
                continue;
            }
            t->watched[e] = true;
            t->now.item[t->now.count++] = PL_LANES * b + l;
            same = same && !g.acts;
        }
    }

    return same;
}

static void guard_begin(void *self, pl_problem *p, const pl_step *step)
{
    const pl_state *state = step->from;
    const double *command = step->command;
    (void)command;
    guard_update(self, p, state->x, true);
}

static void guard_recall(void *self, pl_problem *p, const pl_state *state)
{
    guard_term *t = self;
    const guard_list keep = t->kept;
    t->kept = t->now;
    t->now = keep;
    guard_update(t, p, state->x, true);
}

static void guard_resume(void *self, pl_problem *p)
{
    guard_term *t = self;
    const guard_list keep = t->kept;

    t->kept = t->now;
    t->now = keep;
    memset(t->watched, 0, (size_t)p->mesh.element_count * sizeof *t->watched);
    for (int32_t k = 0; k < t->now.count; ++k) {
        t->watched[p->elements->block[t->now.item[k] / PL_LANES].element[t->now.item[k] % PL_LANES]] = true;
    }
}

// dE/dA, one row per column of A.
static void guard_columns(const guard_term *t, const guard_element *g, double D[12][3])
{
    memset(D, 0, 36 * sizeof(double));
    for (int p = 0; p < 4; ++p) {
        for (int q = 0; q < 4; ++q) {
            for (int s = 0; s < 4; ++s) {
                const int n = t->of[p][q][s];
                const double w = g->slope[n] * t->share[n];
                if (w == 0) {
                    continue;
                }
                const int at[3] = {3 * p, 3 * q + 1, 3 * s + 2};
                for (int k = 0; k < 3; ++k) {
                    double cross[3];
                    pl_cross3(g->A[at[(k + 1) % 3]], g->A[at[(k + 2) % 3]], cross);
                    for (int i = 0; i < 3; ++i) {
                        D[at[k]][i] += w * cross[i];
                    }
                }
            }
        }
    }
}

static void guard_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                           double *full)
{
    const double *x = here->x;
    const guard_term *t = self;
    for (int32_t k = 0; k < t->now.count && isfinite(*energy); ++k) {
        guard_element g;
        *energy += guard_look(t, p->elements, t->now.item[k], x, &g);
        if (!full || !g.acts || isinf(*energy)) {
            continue;
        }
        double D[12][3];
        guard_columns(t, &g, D);
        for (int a = 0; a < GUARD_NODES; ++a) {
            double *f = full + 3 * (int64_t)g.block->node[a][g.lane];
            for (int m = 0; m < 12; ++m) {
                for (int i = 0; i < 3; ++i) {
                    f[i] += t->slope[m][a] * D[m][i];
                }
            }
        }
    }
}

// d2E/dA2 = sum of curve dc dc^T + slope d2c, 36 x 36; `positive` leaves the second part out.
static void guard_curvature(const guard_term *t, const guard_element *g, bool positive, double H[36][36])
{
    double one[GUARD_TERMS][12][3] = {{{0}}};
    memset(H, 0, 36 * 36 * sizeof(double));
    for (int p = 0; p < 4; ++p) {
        for (int q = 0; q < 4; ++q) {
            for (int s = 0; s < 4; ++s) {
                const int n = t->of[p][q][s];
                if (g->curve[n] == 0) {
                    continue;
                }
                const int at[3] = {3 * p, 3 * q + 1, 3 * s + 2};
                for (int k = 0; k < 3; ++k) {
                    const int u = at[(k + 1) % 3], v = at[(k + 2) % 3];
                    double cross[3];
                    pl_cross3(g->A[u], g->A[v], cross);
                    const double w = positive ? 0 : g->slope[n] * t->share[n];
                    for (int i = 0; i < 3; ++i) {
                        one[n][at[k]][i] += t->share[n] * cross[i];
                        // det(k, u, v) = e_ijl k_i u_j v_l
                        const int j = (i + 1) % 3, l = (i + 2) % 3;
                        H[3 * u + i][3 * v + j] += w * g->A[at[k]][l];
                        H[3 * v + j][3 * u + i] += w * g->A[at[k]][l];
                        H[3 * u + j][3 * v + i] -= w * g->A[at[k]][l];
                        H[3 * v + i][3 * u + j] -= w * g->A[at[k]][l];
                    }
                }
            }
        }
    }

    for (int n = 0; n < GUARD_TERMS; ++n) {
        const double *d = &one[n][0][0];
        for (int r = 0; g->curve[n] != 0 && r < 36; ++r) {
            for (int c = 0; c < 36; ++c) {
                H[r][c] += g->curve[n] * d[r] * d[c];
            }
        }
    }
}

static void guard_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    const guard_term *t = self;
    for (int32_t k = 0; k < t->now.count; ++k) {
        guard_element g;
        double H[36][36], half[36][3 * GUARD_NODES], full[3 * GUARD_NODES][3 * GUARD_NODES];
        if (!isfinite(guard_look(t, p->elements, t->now.item[k], x, &g)) || !g.acts) {
            continue;
        }
        guard_curvature(t, &g, positive, H);
        memset(half, 0, sizeof half);
        memset(full, 0, sizeof full);
        for (int r = 0; r < 36; ++r) {
            for (int c = 0; c < 36; ++c) {
                for (int a = 0; a < GUARD_NODES; ++a) {
                    half[r][3 * a + c % 3] += H[r][c] * t->slope[c / 3][a];
                }
            }
        }
        for (int r = 0; r < 36; ++r) {
            for (int a = 0; a < GUARD_NODES; ++a) {
                for (int c = 0; c < 3 * GUARD_NODES; ++c) {
                    full[3 * a + r % 3][c] += t->slope[r / 3][a] * half[r][c];
                }
            }
        }
        for (int a = 0; a < GUARD_NODES; ++a) {
            for (int b = 0; b < GUARD_NODES; ++b) {
                pl_problem_add_block(p, g.block->node[a][g.lane], g.block->node[b][g.lane],
                                     &full[3 * a][3 * b], 3 * GUARD_NODES, x);
            }
        }
    }
}

static bool guard_admissible(void *self, pl_problem *p, const double *x)
{
    return guard_update(self, p, x, false);
}

static void guard_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    double energy = 0;
    guard_evaluate(self, p, &(pl_linearization){.x = state->x}, &energy, full);
}

static const pl_term_steps guard_steps = {
    .begin = guard_begin, .recall = guard_recall, .resume = guard_resume};

static const pl_term guard_kind = {.name = "guards",
                                   .elastic = true,
                                   .destroy = guard_destroy,
                                   .evaluate = guard_evaluate,
                                   .tangent = guard_tangent,
                                   .admissible = guard_admissible,
                                   .forces = guard_forces,
                                   .steps = &guard_steps};

int pl_problem_guarded(const pl_problem *p, const double *x)
{
    const guard_term *t = problem_term_of(p, &guard_kind);
    int count = 0;

    for (int32_t k = 0; t && k < t->now.count; ++k) {
        guard_element g;
        guard_look(t, p->elements, t->now.item[k], x, &g);
        count += g.acts;
    }

    return count;
}

// Numbers the coefficients by the corners they come from, in any order.
static void guard_number(guard_term *t)
{
    int8_t count = 0;
    memset(t->of, -1, sizeof t->of);
    for (int p = 0; p < 4; ++p) {
        for (int q = p; q < 4; ++q) {
            for (int s = q; s < 4; ++s) {
                const int v[3] = {p, q, s};
                int orders = 0;
                for (int i = 0; i < 27; ++i) {
                    const int k[3] = {i % 3, i / 3 % 3, i / 9};
                    int8_t *of = &t->of[v[k[0]]][v[k[1]]][v[k[2]]];
                    if (k[0] != k[1] && k[1] != k[2] && k[0] != k[2] && *of < 0) {
                        *of = count;
                        ++orders;
                    }
                }
                t->share[count++] = 1.0 / orders;
            }
        }
    }
}

pl_status term_guard_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    int32_t tets = 0;
    for (int b = 0; b < p->elements->block_count; ++b) {
        tets += p->elements->block[b].kind == PL_TET10 ? p->elements->block[b].lane_count : 0;
    }
    if (tets == 0) {
        return PL_OK;
    }

    guard_term *t = PL_NEW(guard_term);
    if (!t) {
        return pl_fail_memory(err, "problem: guards");
    }
    *out = (pl_problem_term){&guard_kind, t};
    guard_number(t);
    for (int i = 0; i < 4; ++i) {
        double xi[3], dN[3 * PL_ELEMENT_NODES_MAX];
        pl_shape_node(PL_TET10, i, xi);
        pl_shape_eval(PL_TET10, xi, NULL, dN);
        for (int k = 0; k < 3 * GUARD_NODES; ++k) {
            t->slope[3 * i + k % 3][k / 3] = dN[k];
        }
    }

    t->now.item = PL_NEW_ARRAY(int32_t, tets);
    t->kept.item = PL_NEW_ARRAY(int32_t, tets);
    t->watched = PL_NEW_ARRAY(bool, p->mesh.element_count);
    t->bound = PL_NEW_ARRAY(double, p->mesh.element_count);

    return t->now.item && t->kept.item && t->watched && t->bound ? PL_OK
                                                                 : pl_fail_memory(err, "problem: guards");
}
