// By how much the discretisation lets the markers be wrong. The equilibrium found lies in the space V of the
// elements; with the functions W of the next order added (element/enrich.h) the linearised equilibrium of the
// larger space is
//   [K_vv K_vw; K_wv K_ww][e_v; e_w] = -[r_v; r_w],
// and the markers' motion in (e_v, e_w) is what V lacks. r_v is what better quadrature leaves of the balance
// found, r_w what the stresses and the loads do on W. With the factor of K_vv (pressures, contacts and rows
// of actuators in it)
//   S e_w = -(r_w - K_wv K_vv^-1 r_v),   S = K_ww - K_wv K_vv^-1 K_vw,
// is solved by conjugate gradients, preconditioned by the blocks of the functions: each iteration costs two
// loops over the elements and a solve with the factor. They end when what the following ones would add to the
// estimate, summed as a geometric series with the rate of the last two changes, is 2 % of it.
//
// V + W is finite too. Where the solution is smooth it leaves next to nothing of the error; at edges where it
// behaves like r^lambda (clamped rims, notches, corners of chambers: 1/2 <= lambda < 1) the error of order p
// on a given mesh is C p^(-4 lambda), so that the share (2/3)^(4 lambda) of it, up to 4/9, is outside of V +
// W as well. The true error lies between 1 and 9/5 times the motion found; the estimate is the geometric
// mean, off by a factor of sqrt(9/5) at most from this cause.
//
// Contact is judged at vertices and centres of faces. Where it begins and ends between them, and what an
// obstacle does between them, is not in V + W; such errors change their sign from mesh to mesh, and may hide
// others. The estimate is an order of magnitude there, and says so by its factor.
#include "statics/statics_error.h"

#define ERROR_ITERATIONS 40     // limit: meshes far too coarse need 10 to 20, usual ones 2 to 6
#define ERROR_TOLERANCE 0.02    // of the estimate: what the iterations left out would add
#define ERROR_NEGLECT 3e-4      // of the motion, likewise
#define ERROR_FACTOR 3          // in either direction: validation/law_mesh_error.c
#define ERROR_FACTOR_TOUCHED 10 // where something presses on the body

static void error_clear(error_work *w)
{
    void *owned[] = {w->bonded, w->faces,   w->area,     w->goal,     w->full,      w->step,
                     w->side,   w->unknown, w->pressure, w->residual, w->direction, w->product,
                     w->image,  w->normal,  w->unit,     w->block,    w->row,       w->target};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
    pl_enrichment_destroy(w->added);
}

// ---- what the added functions may do
static void error_bond_face(error_work *w, int64_t face)
{
    int32_t node[PL_FACE_NODES_MAX];
    const int n = pl_mesh_face_nodes(w->s->robot->mesh, face, node);
    for (int i = 0; i < n; ++i) {
        w->bonded[node[i]] = ERROR_BONDED;
    }
}

// Layers, fibres and films resist the motion of their faces; where something presses on all vertices of an
// edge or face it moves along the surface at most, with friction not at all.
static void error_bond(error_work *w)
{
    const pl_robot *robot = w->s->robot;
    for (int k = 0; k < robot->layer_count; ++k) {
        for (int64_t i = 0; i < robot->layer[k].face_count; ++i) {
            error_bond_face(w, robot->layer[k].face[i]);
        }
    }

    for (int k = 0; k < robot->fibre_count; ++k) {
        for (int i = 0; i < robot->fibre[k].step_count; ++i) {
            error_bond_face(w, robot->fibre[k].step[i].face);
        }
    }

    for (int k = 0; k < robot->actuator_count; ++k) {
        for (int64_t i = 0; robot->actuator[k].kind == PL_FILM && i < robot->actuator[k].face_count; ++i) {
            error_bond_face(w, robot->actuator[k].face[i]);
        }
    }

    double *pressure = w->unknown; // at least one per vertex
    const int64_t vertices = robot->contact.surface ? w->s->problem->mesh.vertex_count : 0;
    memset(pressure, 0, (size_t)vertices * sizeof *pressure);
    if (vertices > 0) {
        pl_problem_contact_field(w->s->problem, w->state, false, pressure);
    }

    for (int64_t v = 0; v < vertices; ++v) {
        if (pressure[v] > 0 && w->bonded[v] != ERROR_BONDED) {
            w->bonded[v] = robot->contact.friction ? ERROR_BONDED : ERROR_PRESSED;
            w->touched = true;
        }
    }
}

// The units in which the linear system counts the pressures, K_kk = -unit^2 M_kk / kappa: its rows are scaled
// by them.
static void error_units(error_work *w)
{
    const pl_problem *p = w->s->problem;
    const pl_elements *E = p->elements;
    const pl_sparse *K = &p->tangent.K, *M = &E->mass;

    for (int32_t k = 0; k < E->pressure_count; ++k) {
        const int32_t dof = p->unknowns.pressure_dof[k];
        w->unit[k] = sqrt(-K->value[pl_sparse_slot(K, dof, dof)] * E->pressure_kappa[k] /
                          M->value[pl_sparse_slot(M, k, k)]);
    }
}

static uint8_t error_held(void *user, const int32_t *node, int count)
{
    const error_work *w = user;
    const pl_unknowns *u = &w->s->problem->unknowns;
    bool bonded = true, rigid = true, held[3] = {true, true, true};

    for (int i = 0; i < count; ++i) {
        const int64_t v = node[i];
        bonded = bonded && w->bonded[v] == ERROR_BONDED;
        rigid = rigid && u->rigid_of[v] >= 0 && u->rigid_of[v] == u->rigid_of[node[0]];
        for (int k = 0; k < 3; ++k) {
            held[k] = held[k] && u->dof[3 * v + k] < 0 && u->rigid_of[v] < 0;
        }
    }

    return bonded || rigid ? 7 : (uint8_t)(held[0] | held[1] << 1 | held[2] << 2);
}

// ---- the linear system
static double error_dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Unit normals of the faces of nearly incompressible elements, where the functions of faces stay tangential:
// the functions of edges have no flux through a face, so that W keeps the volume of every element. The
// pressures, which stay linear, would let it change.
static void error_normals(error_work *w)
{
    const pl_elements *E = w->s->problem->elements;
    static const double centre[2][2] = {{1.0 / 3, 1.0 / 3}, {0, 0}};

    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const int edges = pl_element_edge_count(block->kind), added = w->added->rule[block->kind].added;
        for (int k = edges; E->law[block->law].mixed && k < added; ++k) {
            int local[PL_FACE_NODES_MAX];
            const int n = pl_element_face_nodes(block->kind, k - edges, local);
            for (int l = 0; l < block->lane_count; ++l) {
                int32_t node[PL_FACE_NODES_MAX];
                const int32_t code = w->added->function[(int64_t)PL_ADDED_MAX * block->element[l] + k];
                double *normal = w->normal + 3 * (int64_t)(code / 2);
                for (int a = 0; a < n; ++a) {
                    node[a] = block->node[local[a]][l];
                }
                error_normal(n, node, w->state->x, centre[n == 8], NULL, normal);
                const double length = pl_norm3(normal);
                for (int i = 0; i < 3; ++i) {
                    normal[i] /= length;
                }
            }
        }
    }
}

// Whether something presses on one of these vertices of an element's face: nothing but the vertices would
// keep the functions beside it out of the obstacle.
static bool error_pressed(const error_work *w, const int32_t *vertex, const int *local, int count)
{
    for (int i = 0; i < count; ++i) {
        if (w->bonded[vertex[local[i]]] != ERROR_FREE) {
            return true;
        }
    }
    return false;
}

// Edges and faces that something presses on keep to the surface: means of the normals of their faces.
static void error_contacts(error_work *w)
{
    static const double centre[2][2] = {{1.0 / 3, 1.0 / 3}, {0, 0}};
    const pl_mesh_view *mesh = &w->s->problem->mesh;
    const int64_t *face;
    const int64_t count = w->s->robot->contact.surface ? pl_mesh_boundary(w->s->robot->mesh, &face) : 0;

    for (int64_t i = 0; i < count; ++i) {
        const int32_t e = (int32_t)(face[i] / 8), *vertex = mesh->node + mesh->node_start[e],
                      *function = w->added->function + (int64_t)PL_ADDED_MAX * e;
        const pl_element_kind kind = mesh->kind[e];
        const int edges = pl_element_edge_count(kind), added = w->added->rule[kind].added;
        int local[PL_FACE_NODES_MAX], end[PL_FACE_NODES_MAX];
        int32_t node[PL_FACE_NODES_MAX];
        double normal[3];
        const int n = pl_element_face_nodes(kind, (int)(face[i] % 8), local);
        pl_mesh_face_nodes(w->s->robot->mesh, face[i], node);
        error_normal(n, node, w->state->x, centre[n == 8 || n == 4], NULL, normal);
        for (int k = 0; k < added && function[0] >= 0; ++k) {
            int held = 0, ends = 0;
            if (k < edges) {
                pl_element_edge_nodes(kind, k, end);
                ends = end[2] >= 0 ? 3 : 2;
                for (int a = 0; a < n; ++a) {
                    held += local[a] == end[0] || local[a] == end[1];
                }
            }
            if (k < edges ? held == 2 && error_pressed(w, vertex, end, ends)
                          : k - edges == (int)(face[i] % 8) && error_pressed(w, vertex, local, n)) {
                for (int c = 0; c < 3; ++c) {
                    w->normal[3 * (int64_t)(function[k] / 2) + c] += normal[c];
                }
            }
        }
    }

    for (int64_t f = 0; f < w->added->count && count > 0; ++f) {
        const double length = pl_norm3(w->normal + 3 * f);
        for (int c = 0; c < 3 && length > 0; ++c) {
            w->normal[3 * f + c] /= length;
        }
    }
}

// Takes the motions out that W does not have.
static void error_mask(const error_work *w, double *c)
{
    for (int64_t f = 0; f < w->added->count; ++f) {
        const double *n = w->normal + 3 * f, along = pl_dot3(n, c + 3 * f);
        for (int i = 0; i < 3; ++i) {
            c[3 * f + i] = w->added->held[f] >> i & 1 ? 0 : c[3 * f + i] - along * n[i];
        }
    }
}

// Inverses of the diagonal blocks, on the axes that can move; a block that is not positive counts by its
// size.
static void error_precondition(error_work *w)
{
    pl_enrichment_diagonal(w->added, w->block);
    for (int32_t f = 0; f < w->added->count; ++f) {
        double *B = w->block + 9 * (int64_t)f, C[9];
        const double size = fabs(B[0]) + fabs(B[4]) + fabs(B[8]);
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 3 && w->added->held[f] >> i & 1; ++k) {
                B[3 * i + k] = B[3 * k + i] = i == k ? (size > 0 ? size : 1) : 0;
            }
        }
        pl_cofactor3(B, C);
        const double det = pl_det3(B);
        const bool positive = B[0] > 0 && C[8] > 0 && det > 1e-12 * size * size * size;
        for (int i = 0; i < 9; ++i) {
            B[i] = positive ? C[i] / det : i % 4 == 0 && size > 0 ? 1 / size : 0;
        }
    }
}

static void error_apply_blocks(const error_work *w, const double *r, double *z)
{
    for (int32_t f = 0; f < w->added->count; ++f) {
        pl_mulv3(w->block + 9 * (int64_t)f, r + 3 * (int64_t)f, z + 3 * (int64_t)f);
    }
    error_mask(w, z);
}

// motion (full) = -K_vv^-1 of forces (w->full) and moments (w->pressure) that act besides the equilibrium,
// and w->pressure becomes the change of pressures; `side` (unknowns, NULL: none) is added to the forces.
// Rows of actuators: a_v . motion + a_w . c = rho, with `rho` before and the multipliers' changes after it.
static bool error_relax(error_work *w, const double *side, double *rho, double *motion)
{
    pl_problem *p = w->s->problem;
    double mu[PL_ROWS_MAX] = {0};

    pl_problem_gather(p, w->full, w->state->x, w->side);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        w->side[i] = -w->side[i] - (side ? side[i] : 0);
    }
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        w->side[p->unknowns.pressure_dof[k]] = -w->unit[k] * w->pressure[k];
    }
    if (!pl_problem_solve_bordered(p, w->side, rho, w->unknown, mu)) {
        return false;
    }
    memcpy(rho, mu, (size_t)p->linear.border_count * sizeof *rho);
    memcpy(w->pressure, p->linear.pressure_step, (size_t)p->elements->pressure_count * sizeof *w->pressure);
    pl_problem_expand(p, w->state->x, w->unknown, motion);

    return true;
}

// force += sum over the rows of multiplier times dh/dw
static void error_add_rows(const error_work *w, const double *mu, double *force)
{
    const int64_t n = 3 * (int64_t)w->added->count;
    for (int b = 0; b < w->s->problem->linear.border_count; ++b) {
        for (int64_t i = 0; i < n && mu[b] != 0; ++i) {
            force[i] += mu[b] * w->row[n * b + i];
        }
    }
}

// product = S direction, and the motion of the vertices that goes with it.
static bool error_schur(error_work *w)
{
    pl_enrichment_apply(w->added, NULL, w->direction, NULL, w->full, w->product, w->pressure);
    const int64_t n = 3 * (int64_t)w->added->count;
    double rho[PL_ROWS_MAX];
    for (int b = 0; b < w->s->problem->linear.border_count; ++b) {
        rho[b] = -error_dot(w->row + n * b, w->direction, n);
    }
    if (!error_relax(w, NULL, rho, w->step)) {
        return false;
    }
    pl_enrichment_apply(w->added, w->step, NULL, w->pressure, NULL, w->image, NULL);
    error_add_rows(w, rho, w->image);
    for (int64_t i = 0; i < n; ++i) {
        w->product[i] += w->image[i];
    }
    error_mask(w, w->product);

    return true;
}

// r = -(r_w - K_wv K_vv^-1 r_v), and e_v for e_w = 0.
static bool error_start(error_work *w)
{
    pl_problem *p = w->s->problem;
    const int64_t n = 3 * (int64_t)w->added->count;
    const double *x = w->state->x, body[3] = {w->state->load * w->s->robot->gravity[0],
                                              w->state->load * w->s->robot->gravity[1],
                                              w->state->load * w->s->robot->gravity[2]};
    double *g = w->s->newton.work.g, *r = w->s->newton.work.r;

    pl_problem_evaluate(p, x, g);
    pl_problem_residual(p, g, r);
    pl_elements_energy(p->elements, x, w->step, NULL);
    pl_enrichment_linearize(w->added, &p->mesh, x, p->elements->pressure, body, w->full, w->residual,
                            w->pressure);
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        w->full[i] -= w->step[i];
    }
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        w->pressure[k] -= p->elements->moment[k];
    }
    error_loads(w, w->full, w->residual);
    if (!error_relax(w, r, w->target, w->step)) {
        return false;
    }
    pl_enrichment_apply(w->added, w->step, NULL, w->pressure, NULL, w->image, NULL);
    error_add_rows(w, w->target, w->image);
    for (int64_t i = 0; i < n; ++i) {
        w->residual[i] = -w->residual[i] - w->image[i];
    }
    error_mask(w, w->residual);

    return true;
}

// The largest motion of a marker in the equilibrium, and the largest one of a correction.
static double error_largest(const error_work *w, const double *goal, bool moved)
{
    double most = 0;
    for (int m = 0; m < w->s->robot->marker_count; ++m) {
        const pl_marker_result found = pl_statics_marker(w->s, w->state, m);
        double d[3];
        for (int i = 0; i < 3; ++i) {
            d[i] = goal[3 * m + i] + (moved ? found.displacement[i] : 0);
        }
        most = fmax(most, pl_norm3(d));
    }

    return most;
}

// One step of the conjugate gradients; `change` (3 per marker) is what it adds to the estimate. False: at the
// end.
static bool error_step(error_work *w, double *rz, double *change)
{
    const int64_t n = 3 * (int64_t)w->added->count;
    const double curvature = *rz > 0 && error_schur(w) ? error_dot(w->direction, w->product, n) : 0;

    if (!(curvature > 0)) {
        return false;
    }

    const double a = *rz / curvature;
    for (int64_t i = 0; i < n; ++i) {
        w->residual[i] -= a * w->product[i];
    }
    memset(change, 0, 3 * (size_t)w->s->robot->marker_count * sizeof *change);
    error_goal(w, w->step, w->direction, a, change);
    error_apply_blocks(w, w->residual, w->image);
    const double next = error_dot(w->residual, w->image, n), b = next / *rz;
    for (int64_t i = 0; i < n; ++i) {
        w->direction[i] = w->image[i] + b * w->direction[i];
    }
    *rz = next;

    return true;
}

// Conjugate gradients until the estimate stands still. With changes of sizes s and q s the following ones sum
// up to q / (1 - q) s, which is added at the end. Curvature that is not positive ends the iteration: the
// equilibrium found is not a stable one of the larger space.
static void error_iterate(error_work *w)
{
    const int numbers = 3 * w->s->robot->marker_count;
    double *change = w->goal + numbers, before = 0;

    error_goal(w, w->step, w->direction, 1, w->goal);
    error_precondition(w);
    error_apply_blocks(w, w->residual, w->direction);
    double rz = error_dot(w->residual, w->direction, 3 * (int64_t)w->added->count);
    for (int k = 0; k < ERROR_ITERATIONS && error_step(w, &rz, change); ++k) {
        for (int i = 0; i < numbers; ++i) {
            w->goal[i] += change[i];
        }
        const double size = error_largest(w, change, false), estimate = error_largest(w, w->goal, false),
                     motion = error_largest(w, w->goal, true), rate = k > 0 ? size / before : INFINITY,
                     rest = rate < 1 ? rate / (1 - rate) : INFINITY;
        before = size;
        pl_log(2, "    mesh error: %.3g of %.4g mm, last change %.3g", estimate, motion, size);
        if (size == 0 || rest * size < fmax(ERROR_TOLERANCE * estimate, ERROR_NEGLECT * motion)) {
            for (int i = 0; i < numbers && size > 0; ++i) {
                w->goal[i] += rest * change[i];
            }
            break;
        }
    }
}

static pl_status error_allocate(error_work *w, pl_error *err)
{
    const pl_problem *p = w->s->problem;
    const int64_t vertices = p->mesh.vertex_count, markers = w->s->robot->marker_count;

    w->bonded = PL_NEW_ARRAY(uint8_t, vertices);
    w->faces = PL_NEW_ARRAY(int32_t, markers);
    w->area = PL_NEW_ARRAY(double, p->mesh.surface_count);
    w->goal = PL_NEW_ARRAY(double, 6 * markers);
    w->unknown = PL_NEW_ARRAY(double, p->unknowns.n + vertices);
    w->side = PL_NEW_ARRAY(double, p->unknowns.n);
    w->pressure = PL_NEW_ARRAY(double, p->elements->pressure_count);
    w->unit = PL_NEW_ARRAY(double, p->elements->pressure_count);
    w->target = PL_NEW_ARRAY(double, PL_ROWS_MAX);
    double **full[] = {&w->full, &w->step};
    bool good = w->bonded && w->faces && w->area && w->goal && w->unknown && w->side && w->pressure &&
                w->unit && w->target;
    for (int i = 0; i < PL_COUNT(full); ++i) {
        *full[i] = PL_NEW_ARRAY(double, 3 * vertices);
        good = good && *full[i];
    }

    if (!good) {
        return pl_fail_memory(err, "mesh error");
    }
    error_units(w);
    error_bond(w);
    const pl_status status = pl_enrichment_create(p->elements, &p->mesh, error_held, w, &w->added, err);
    if (status != PL_OK) {
        return status;
    }

    double **added[] = {&w->normal, &w->residual, &w->direction, &w->product, &w->image};
    for (int i = 0; i < PL_COUNT(added); ++i) {
        *added[i] = PL_NEW_ARRAY(double, 3 * (int64_t)w->added->count);
        good = good && *added[i];
    }

    w->block = PL_NEW_ARRAY(double, 9 * (int64_t)w->added->count);
    w->row = PL_NEW_ARRAY(double, 3 * (int64_t)w->added->count * p->linear.border_count + 1);
    good = good && w->row;
    if (good) {
        error_normals(w);
        error_contacts(w);
    }

    return good && w->block ? PL_OK : pl_fail_memory(err, "mesh error");
}

// Stands at the state with the tangent factored there: the factor at hand where it is that one.
static pl_status error_begin(error_work *w, pl_error *err)
{
    pl_problem *p = w->s->problem;
    const pl_linear *l = &p->linear;
    const pl_step stand = pl_step_at(w->state);
    pl_status status = pl_problem_begin_step(p, &stand, err);

    if (status != PL_OK) {
        return status;
    }
    pl_problem_set(p, 1);
    if (!pl_problem_factor_serves(p) || memcmp(l->x, w->state->x, pl_problem_full_bytes(p)) != 0) {
        status =
            pl_problem_refactor(p, &(pl_linearization){.x = w->state->x, .indefinite = PL_AS_IT_IS}, err);
    }

    return status == PL_OK && !l->has_factor
               ? pl_fail(err, PL_FAILED, "mesh error: the tangent at the solution is singular")
               : status;
}

pl_status pl_statics_mesh_error(pl_statics *s, const pl_state *state, double *relative, double *factor,
                                pl_error *err)
{
    *relative = *factor = NAN;
    if (state->vertex_count != s->problem->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }
    if (s->creep.on) {
        return PL_OK; // stresses of branches are known at the points of the elements only
    }

    error_work w = {.s = s, .state = state};
    pl_newton_watch(&s->newton, &s->options.progress, "mesh error", 0);
    pl_status status = error_begin(&w, err);
    if (status == PL_OK) {
        status = error_allocate(&w, err);
    }

    if (status == PL_OK) {
        error_match(&w);
        if (error_start(&w)) {
            error_iterate(&w);
            for (int i = 0; i < 3 * s->robot->marker_count; ++i) {
                w.goal[i] *= sqrt(9.0 / 5); // what functions beyond the next order add
            }
            const double motion = error_largest(&w, w.goal, true);
            *factor = w.touched ? ERROR_FACTOR_TOUCHED : ERROR_FACTOR;
            *relative = motion > 0 ? error_largest(&w, w.goal, false) / motion : NAN;
        }
    }

    error_clear(&w);

    return status;
}
