// By how much the discretisation lets the markers be wrong. The equilibrium found lies in the space V of the
// elements; with the functions W of the next order added (element/enrich.h) the linearised equilibrium of the
// larger space is
//   [K_vv K_vw; K_wv K_ww][e_v; e_w] = -[r_v; r_w],
// and the markers' motion in (e_v, e_w) is what V lacks. r_v is what better quadrature leaves of the balance
// found, r_w what the stresses and the loads do on W. With the factor of K_vv (pressures, contacts and rows
// of actuators in it)
//   S e_w = -(r_w - K_wv K_vv^-1 r_v),   S = K_ww - K_wv K_vv^-1 K_vw,
// is solved by conjugate gradients, preconditioned by the blocks of the functions: each iteration costs two
// loops over the elements and a solve with the factor. Three are enough, with a guess at the sum of the
// following ones: on a mesh that is far too coarse W moves the body as a whole, a little in each.
#include "element/enrich.h"
#include "statics/statics_impl.h"

#define ERROR_ITERATIONS 3
#define ERROR_SAME 1e-6      // of the area of a surface: differences of weights that are rounding errors
#define ERROR_RATE_MOST 0.95 // of two changes in a row: the series of changes is summed with no more
#define ERROR_ENOUGH 0.05    // of the estimate, by which the sum of the changes to come may be left out
#define ERROR_NEGLECT 3e-4   // of the motion, likewise

typedef struct error_work {
    pl_statics *s;
    const pl_state *state;
    pl_enrichment *added;
    bool *bonded;   // per vertex: on faces that something holds together besides the elements, or presses on
    int32_t *faces; // per marker: the surface of the mesh that it is the mean of; -1: none
    double *area;   // per surface of the mesh, undeformed
    double *goal;   // 3 per marker: the estimate so far, and its last change
    // forces and motions: 3 per vertex; per unknown; pressures or integrals of the dilatation
    double *full, *step, *side, *unknown, *pressure;
    // conjugate gradients, 3 per added function
    double *residual, *direction, *product, *image;
    double *normal; // 3 per added function: the direction it does not move in; 0: none
    double *block;  // 9 per added function: inverse of its diagonal block
    double *unit;   // per pressure number
} error_work;

static void error_clear(error_work *w)
{
    void *owned[] = {w->bonded, w->faces,   w->area,     w->goal,     w->full,      w->step,
                     w->side,   w->unknown, w->pressure, w->residual, w->direction, w->product,
                     w->image,  w->normal,  w->unit,     w->block};
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
        w->bonded[node[i]] = true;
    }
}

// Layers, fibres and films resist the motion of their faces, and obstacles that of the faces they press on.
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
    const int64_t *face;
    const int64_t count = robot->contact.surface ? pl_mesh_boundary(robot->mesh, &face) : 0;
    double *pressure = w->unknown; // at least one per vertex
    if (count > 0) {
        memset(pressure, 0, (size_t)w->s->problem->mesh.vertex_count * sizeof *pressure);
        pl_problem_contact_field(w->s->problem, w->state, false, pressure);
    }
    for (int64_t i = 0; i < count; ++i) {
        int32_t node[PL_FACE_NODES_MAX];
        bool pressed = false;
        for (int n = pl_mesh_face_nodes(robot->mesh, face[i], node); n > 0; --n) {
            pressed = pressed || pressure[node[n - 1]] > 0;
        }
        if (pressed) {
            error_bond_face(w, face[i]);
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
        bonded = bonded && w->bonded[v];
        rigid = rigid && u->rigid_of[v] >= 0 && u->rigid_of[v] == u->rigid_of[node[0]];
        for (int k = 0; k < 3; ++k) {
            held[k] = held[k] && u->dof[3 * v + k] < 0 && u->rigid_of[v] < 0;
        }
    }
    return bonded || rigid ? 7 : (uint8_t)(held[0] | held[1] << 1 | held[2] << 2);
}

// ---- loads on the added functions
// Nodal functions N (may be NULL) and the normal, not of unit length, at a point of a face of n nodes.
static void error_normal(int n, const int32_t *node, const double *x, const double xi[2], double *N,
                         double normal[3])
{
    double dN[2 * PL_FACE_NODES_MAX], t[3] = {0}, s[3] = {0};
    pl_face_shape_eval(n, xi, N, dN);
    for (int a = 0; a < n; ++a) {
        for (int i = 0; i < 3; ++i) {
            t[i] += dN[2 * a] * x[3 * (int64_t)node[a] + i];
            s[i] += dN[2 * a + 1] * x[3 * (int64_t)node[a] + i];
        }
    }
    pl_cross3(t, s, normal);
}

// Calls visit with the values of the added functions at each point of a face, at positions x: `normal`
// outward, its length the area that the point stands for.
typedef void (*error_visit)(void *user, const int32_t *function, const double *value, int count,
                            const double normal[3]);
static void error_face(const error_work *w, int64_t face, const double *x, error_visit visit, void *user)
{
    const int32_t e = (int32_t)(face / 8), *function = w->added->function + (int64_t)PL_ADDED_MAX * e;
    const pl_element_kind kind = w->s->problem->mesh.kind[e];
    int32_t node[PL_FACE_NODES_MAX];
    double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
    int points = 0;
    const int n = pl_mesh_face_nodes(w->s->robot->mesh, face, node);
    if (function[0] < 0) {
        return; // of a rigid region
    }
    pl_face_quadrature(n, &points, xi, weight);
    for (int q = 0; q < points; ++q) {
        double normal[3], at[3], value[PL_ADDED_MAX];
        error_normal(n, node, x, xi[q], NULL, normal);
        for (int i = 0; i < 3; ++i) {
            normal[i] *= weight[q];
        }
        pl_shape_from_face(kind, (int)(face % 8), xi[q], at);
        visit(user, function, value, pl_enrich_values(kind, at, value), normal);
    }
}

typedef struct error_traction {
    double pressure, traction[3]; // of the deformed area, against the normal; of the undeformed area
    double *force;                // 3 per added function, subtracted from
} error_traction;

static void error_press(void *user, const int32_t *function, const double *value, int count,
                        const double normal[3])
{
    const error_traction *t = user;
    const double area = pl_norm3(normal);
    for (int k = 0; k < count; ++k) {
        const double v = function[k] & 1 ? -value[k] : value[k];
        for (int i = 0; i < 3; ++i) {
            t->force[3 * (int64_t)(function[k] / 2) + i] -=
                v * (area * t->traction[i] - t->pressure * normal[i]);
        }
    }
}

static void error_pressures(const error_work *w, double *force)
{
    const pl_robot *robot = w->s->robot;
    for (int k = 0; k < robot->actuator_count; ++k) {
        const pl_actuator *a = &robot->actuator[k];
        error_traction t = {.pressure = w->state->multiplier[k], .force = force};
        for (int64_t i = 0; a->kind == PL_CHAMBER && !a->growth && i < a->face_count; ++i) {
            error_face(w, a->face[i], w->state->x, error_press, &t);
        }
    }
    for (int k = 0; k < robot->pressure_count; ++k) {
        const pl_surface_pressure *given = &robot->pressure[k];
        error_traction t = {.pressure = w->state->load * given->pressure, .force = force};
        for (int64_t i = 0; i < given->face_count; ++i) {
            error_face(w, given->face[i], w->state->x, error_press, &t);
        }
    }
}

// Forces at a marker that is the mean of a surface are spread over it evenly.
static void error_forces(const error_work *w, double *force)
{
    const pl_robot *robot = w->s->robot;
    const pl_mesh_view *mesh = &w->s->problem->mesh;
    for (int m = 0; m < robot->marker_count; ++m) {
        const int32_t surface = w->faces[m];
        double sum[3];
        memcpy(sum, w->state->force + 3 * m, sizeof sum);
        for (int k = 0; k < robot->force_count; ++k) {
            for (int i = 0; i < 3 && robot->force[k].marker == m; ++i) {
                sum[i] += w->state->load * robot->force[k].force[i];
            }
        }
        if (surface < 0 || pl_norm3(sum) == 0) {
            continue;
        }
        error_traction t = {.force = force};
        for (int i = 0; i < 3; ++i) {
            t.traction[i] = sum[i] / w->area[surface];
        }
        for (int64_t i = mesh->surface_start[surface]; i < mesh->surface_start[surface + 1]; ++i) {
            error_face(w, mesh->surface_face[i], mesh->position, error_press, &t);
        }
    }
}

// ---- markers
typedef struct error_mean {
    const double *c; // 3 per added function
    double sum[3];
} error_mean;

static void error_add_mean(void *user, const int32_t *function, const double *value, int count,
                           const double normal[3])
{
    error_mean *mean = user;
    const double area = pl_norm3(normal);
    for (int k = 0; k < count; ++k) {
        const double v = function[k] & 1 ? -value[k] : value[k];
        for (int i = 0; i < 3; ++i) {
            mean->sum[i] += area * v * mean->c[3 * (int64_t)(function[k] / 2) + i];
        }
    }
}

// goal += scale times the motion of the markers for a motion (full) of the vertices and c of the added
// functions.
static void error_goal(const error_work *w, const double *full, const double *c, double scale, double *goal)
{
    const pl_robot *robot = w->s->robot;
    const pl_mesh_view *mesh = &w->s->problem->mesh;
    for (int m = 0; m < robot->marker_count; ++m) {
        const pl_point *point = &robot->marker[m].point;
        error_mean mean = {.c = c};
        for (int64_t k = w->faces[m] >= 0 ? mesh->surface_start[w->faces[m]] : 0;
             w->faces[m] >= 0 && k < mesh->surface_start[w->faces[m] + 1]; ++k) {
            error_face(w, mesh->surface_face[k], mesh->position, error_add_mean, &mean);
        }
        for (int i = 0; i < 3; ++i) {
            goal[3 * m + i] += w->faces[m] >= 0 ? scale * mean.sum[i] / w->area[w->faces[m]] : 0;
            for (int32_t j = 0; j < point->count; ++j) {
                goal[3 * m + i] += scale * point->weight[j] * full[3 * (int64_t)point->node[j] + i];
            }
        }
    }
}

// int N_j dA over a surface of the mesh, added to share (per vertex); returns its area.
static double error_shares(const error_work *w, int32_t surface, double *share)
{
    const pl_mesh_view *mesh = &w->s->problem->mesh;
    double area = 0;
    for (int64_t k = mesh->surface_start[surface]; k < mesh->surface_start[surface + 1]; ++k) {
        int32_t node[PL_FACE_NODES_MAX];
        double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
        int points = 0;
        const int n = pl_mesh_face_nodes(w->s->robot->mesh, mesh->surface_face[k], node);
        pl_face_quadrature(n, &points, xi, weight);
        for (int q = 0; q < points; ++q) {
            double N[PL_FACE_NODES_MAX], normal[3];
            error_normal(n, node, mesh->position, xi[q], N, normal);
            const double dA = weight[q] * pl_norm3(normal);
            area += dA;
            for (int a = 0; a < n; ++a) {
                share[node[a]] += dA * N[a];
            }
        }
    }
    return area;
}

// Which markers are means of surfaces of the mesh: those with the weights int N_j dA / A.
static void error_match(error_work *w)
{
    const pl_robot *robot = w->s->robot;
    const pl_mesh_view *mesh = &w->s->problem->mesh;
    double *share = w->unknown; // at least one per vertex
    for (int m = 0; m < robot->marker_count; ++m) {
        w->faces[m] = -1;
    }
    for (int32_t f = 0; f < mesh->surface_count; ++f) {
        memset(share, 0, (size_t)mesh->vertex_count * sizeof *share);
        w->area[f] = error_shares(w, f, share);
        for (int m = 0; m < robot->marker_count; ++m) {
            const pl_point *point = &robot->marker[m].point;
            double sum = 0, off = 0;
            for (int32_t j = 0; j < point->count; ++j) {
                sum += share[point->node[j]];
                off += fabs(share[point->node[j]] - w->area[f] * point->weight[j]);
            }
            if (fabs(sum - w->area[f]) + off <= ERROR_SAME * w->area[f]) {
                w->faces[m] = f;
            }
        }
    }
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
static bool error_relax(error_work *w, const double *side, double *motion)
{
    pl_problem *p = w->s->problem;
    double mu[PL_ROWS_MAX];
    pl_problem_gather(p, w->full, w->state->x, w->side);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        w->side[i] = -w->side[i] - (side ? side[i] : 0);
    }
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        w->side[p->unknowns.pressure_dof[k]] = -w->unit[k] * w->pressure[k];
    }
    if (!pl_problem_solve_bordered(p, w->side, NULL, w->unknown, mu)) {
        return false;
    }
    memcpy(w->pressure, p->linear.pressure_step, (size_t)p->elements->pressure_count * sizeof *w->pressure);
    pl_problem_expand(p, w->state->x, w->unknown, motion);
    return true;
}

// product = S direction, and the motion of the vertices that goes with it.
static bool error_schur(error_work *w)
{
    pl_enrichment_apply(w->added, NULL, w->direction, NULL, w->full, w->product, w->pressure);
    if (!error_relax(w, NULL, w->step)) {
        return false;
    }
    pl_enrichment_apply(w->added, w->step, NULL, w->pressure, NULL, w->image, NULL);
    for (int64_t i = 0; i < 3 * (int64_t)w->added->count; ++i) {
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
    double *g = w->s->work.g, *r = w->s->work.r;
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
    error_pressures(w, w->residual);
    error_forces(w, w->residual);
    if (!error_relax(w, r, w->step)) {
        return false;
    }
    pl_enrichment_apply(w->added, w->step, NULL, w->pressure, NULL, w->image, NULL);
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

// Few steps; what the following ones would add is summed as a geometric series with the rate of the last two.
static void error_iterate(error_work *w)
{
    const int numbers = 3 * w->s->robot->marker_count;
    double *change = w->goal + numbers, before = 0, left = INFINITY;
    error_goal(w, w->step, w->direction, 1, w->goal);
    error_precondition(w);
    error_apply_blocks(w, w->residual, w->direction);
    double rz = error_dot(w->residual, w->direction, 3 * (int64_t)w->added->count);
    for (int k = 0; k < ERROR_ITERATIONS && left > 0 && error_step(w, &rz, change); ++k) {
        for (int i = 0; i < numbers; ++i) {
            w->goal[i] += change[i];
        }
        const double size = error_largest(w, change, false), estimate = error_largest(w, w->goal, false),
                     motion = error_largest(w, w->goal, true),
                     rate = k > 0 && before > 0 ? fmin(size / before, ERROR_RATE_MOST) : 0.5,
                     rest = rate / (1 - rate);
        before = size;
        left =
            rest * size < fmax(ERROR_ENOUGH * estimate, ERROR_NEGLECT * motion) || k + 1 == ERROR_ITERATIONS
                ? 0
                : 1;
        for (int i = 0; i < numbers && left == 0; ++i) {
            w->goal[i] += rest * change[i];
        }
        pl_log(2, "    mesh error: %.3g of %.4g mm, last change %.3g", estimate, motion, size);
    }
}

static pl_status error_allocate(error_work *w, pl_error *err)
{
    const pl_problem *p = w->s->problem;
    const int64_t vertices = p->mesh.vertex_count, markers = w->s->robot->marker_count;
    w->bonded = PL_NEW_ARRAY(bool, vertices);
    w->faces = PL_NEW_ARRAY(int32_t, markers);
    w->area = PL_NEW_ARRAY(double, p->mesh.surface_count);
    w->goal = PL_NEW_ARRAY(double, 6 * markers);
    w->unknown = PL_NEW_ARRAY(double, p->unknowns.n + vertices);
    w->side = PL_NEW_ARRAY(double, p->unknowns.n);
    w->pressure = PL_NEW_ARRAY(double, p->elements->pressure_count);
    w->unit = PL_NEW_ARRAY(double, p->elements->pressure_count);
    double **full[] = {&w->full, &w->step};
    bool good =
        w->bonded && w->faces && w->area && w->goal && w->unknown && w->side && w->pressure && w->unit;
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
    if (good) {
        error_normals(w);
    }
    return good && w->block ? PL_OK : pl_fail_memory(err, "mesh error");
}

// Stands at the state with the tangent factored there: the factor at hand where it is that one.
static pl_status error_begin(error_work *w, pl_error *err)
{
    pl_problem *p = w->s->problem;
    const pl_linear *l = &p->linear;
    pl_status status = pl_problem_begin(p, w->state, w->state->command, err);
    if (status != PL_OK) {
        return status;
    }
    p->load_to = w->state->load;
    memcpy(p->forces.to, w->state->force, 3 * ((size_t)p->robot->marker_count + 1) * sizeof *p->forces.to);
    pl_problem_set(p, 1);
    if (!pl_problem_factor_serves(p) || memcmp(l->x, w->state->x, pl_problem_full_bytes(p)) != 0) {
        status = pl_problem_refactor(p, w->state->x, 0, PL_AS_IT_IS, NULL, err);
    }
    return status == PL_OK && !l->has_factor
               ? pl_fail(err, PL_FAILED, "mesh error: the tangent at the solution is singular")
               : status;
}

pl_status pl_statics_mesh_error(pl_statics *s, const pl_state *state, double *relative, pl_error *err)
{
    *relative = NAN;
    if (state->vertex_count != s->problem->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }
    error_work w = {.s = s, .state = state};
    statics_watch(s, "mesh error", 0);
    pl_status status = error_begin(&w, err);
    if (status == PL_OK) {
        status = error_allocate(&w, err);
    }
    if (status == PL_OK) {
        error_match(&w);
        if (error_start(&w)) {
            error_iterate(&w);
            const double motion = error_largest(&w, w.goal, true);
            *relative = motion > 0 ? error_largest(&w, w.goal, false) / motion : NAN;
        }
    }
    error_clear(&w);
    return status;
}
