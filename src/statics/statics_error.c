// How far the discretisation lets a shape be wrong: an indicator from the elements themselves, after
// Zienkiewicz and Zhu. The deformation gradient F of a quadratic element is linear inside and jumps between
// elements. Averaged at the corners (per material) it becomes a continuous F*, which is nearer to the truth
// than F. In the frame of the material, R the rotation of F,
//   |e|^2 = sum int mu |dev sym R^T (F* - F)|^2 dV,   |u|^2 = sum int mu |dev (U - I)|^2 dV
// (kappa / 2 of the traces squared is added where no pressure is interpolated). For dead loads the work of
// the loads is too small by |e|^2 of |u|^2 + |e|^2, a share of the motion itself. Meshes far too coarse hide
// most of it: then the linear response on a second level tells (see model_error.c).
#include "statics/statics_impl.h"

typedef struct error_work {
    double *recovered; // 9 per vertex: F*, of one law at a time
    double *weight;    // per vertex
} error_work;

// Values at the corners of the linear function nearest to those at the quadrature points (least squares).
static bool error_corners(const pl_block *block, int lane, const double *F, double *corner)
{
    const int n = block->corner_count;
    double M[PL_CORNERS_MAX * PL_CORNERS_MAX] = {0};
    memset(corner, 0, 9 * (size_t)n * sizeof *corner);
    for (int q = 0; q < block->point_count; ++q) {
        const double *N = block->corner_weight + q * n;
        const double w = block->weight[q * PL_LANES + lane];
        for (int a = 0; a < n; ++a) {
            for (int b = 0; b < n; ++b) {
                M[a * n + b] += w * N[a] * N[b];
            }
            for (int i = 0; i < 9; ++i) {
                corner[9 * a + i] += w * N[a] * F[9 * q + i];
            }
        }
    }
    return pl_dense_solve(n, M, corner, 9);
}

static void error_gradients(const pl_block *block, int lane, const double *x, double *F)
{
    for (int q = 0; q < block->point_count; ++q) {
        pl_block_gradient(block, lane, q, x, F + 9 * q);
    }
}

static void error_recover(const pl_elements *E, int law, const double *x, error_work *w)
{
    memset(w->recovered, 0, 9 * (size_t)E->vertex_count * sizeof *w->recovered);
    memset(w->weight, 0, (size_t)E->vertex_count * sizeof *w->weight);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        double at_node[PL_ELEMENT_NODES_MAX][PL_CORNERS_MAX];
        for (int a = 0; a < block->node_count; ++a) {
            double xi[3];
            pl_shape_node(block->kind, a, xi);
            pl_shape_eval(block->corner_count == 4 ? PL_TET4 : PL_PRISM6, xi, at_node[a], NULL);
        }
        for (int l = 0; block->law == law && l < block->lane_count; ++l) {
            double F[9 * PL_POINTS_MAX], corner[9 * PL_CORNERS_MAX], volume = 0;
            error_gradients(block, l, x, F);
            const bool linear = block->point_count > 1 && error_corners(block, l, F, corner);
            for (int q = 0; q < block->point_count; ++q) {
                volume += block->weight[q * PL_LANES + l];
            }
            for (int a = 0; a < block->node_count; ++a) {
                const int64_t v = block->node[a][l];
                const double *N = at_node[a];
                w->weight[v] += volume;
                for (int i = 0; i < 9; ++i) {
                    double value = linear ? 0 : F[i];
                    for (int c = 0; linear && c < block->corner_count; ++c) {
                        value += N[c] * corner[9 * c + i];
                    }
                    w->recovered[9 * v + i] += volume * value;
                }
            }
        }
    }
    for (int32_t v = 0; v < E->vertex_count; ++v) {
        for (int i = 0; i < 9 && w->weight[v] > 0; ++i) {
            w->recovered[9 * (int64_t)v + i] /= w->weight[v];
        }
    }
}

// mu |dev S|^2 + kappa / 2 (tr S)^2 of the symmetric part S of R^T A.
static double error_density(const pl_law *law, const double R[9], const double A[9])
{
    double B[9], square = 0;
    for (int i = 0; i < 9; ++i) {
        B[i] = R[i / 3] * A[i % 3] + R[3 + i / 3] * A[3 + i % 3] + R[6 + i / 3] * A[6 + i % 3];
    }
    const double trace = B[0] + B[4] + B[8];
    for (int i = 0; i < 9; ++i) {
        const double s = 0.5 * (B[i] + B[3 * (i % 3) + i / 3]) - (i % 4 == 0 ? trace / 3 : 0);
        square += s * s;
    }
    return law->mu * square + (law->mixed ? 0 : 0.5 * law->kappa * trace * trace);
}

// Error and size of one element.
static void error_element(const pl_elements *E, const pl_block *block, int lane, const double *x,
                          const error_work *w, double *error, double *size)
{
    const pl_law *law = &E->law[block->law];
    double F[9 * PL_POINTS_MAX];
    *error = *size = 0;
    error_gradients(block, lane, x, F);
    for (int q = 0; q < block->point_count; ++q) {
        double R[9], difference[9], stretch[9], xi[3], N[PL_ELEMENT_NODES_MAX];
        pl_block_point(block, q, xi);
        pl_shape_eval(block->kind, xi, N, NULL);
        pl_polar3(F + 9 * q, R);
        for (int i = 0; i < 9; ++i) {
            difference[i] = -F[9 * q + i];
            stretch[i] = F[9 * q + i] - R[i];
            for (int a = 0; a < block->node_count; ++a) {
                difference[i] += N[a] * w->recovered[9 * (int64_t)block->node[a][lane] + i];
            }
        }
        *error += block->weight[q * PL_LANES + lane] * error_density(law, R, difference);
        *size += block->weight[q * PL_LANES + lane] * error_density(law, R, stretch);
    }
}

pl_status pl_statics_strain_jumps(pl_statics *s, const pl_state *state, double *share, double *per_element,
                                  pl_error *err)
{
    pl_problem *p = s->problem;
    const pl_elements *E = p->elements;
    const int64_t vertices = p->mesh.vertex_count;
    *share = NAN;
    if (state->vertex_count != p->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }
    error_work w = {.recovered = PL_NEW_ARRAY(double, 9 * vertices),
                    .weight = PL_NEW_ARRAY(double, vertices)};
    if (!w.recovered || !w.weight) {
        pl_free(w.recovered);
        pl_free(w.weight);
        return pl_fail_memory(err, "statics: mesh error");
    }
    double error = 0, size = 0;
    for (int32_t e = 0; per_element && e < p->mesh.element_count; ++e) {
        per_element[e] = 0; // rigid ones
    }
    pl_problem_recall(p, state);
    for (int law = 0; law < E->law_count; ++law) {
        error_recover(E, law, state->x, &w);
        for (int b = 0; b < E->block_count; ++b) {
            const pl_block *block = &E->block[b];
            for (int l = 0; block->law == law && l < block->lane_count; ++l) {
                double e, u;
                error_element(E, block, l, state->x, &w, &e, &u);
                error += e;
                size += u;
                if (per_element) {
                    per_element[block->element[l]] = e;
                }
            }
        }
    }
    pl_problem_resume(p);
    *share = error + size > 0 ? error / (error + size) : 0;
    pl_free(w.recovered);
    pl_free(w.weight);
    return PL_OK;
}

// ---- the linear response
#define RESPONSE_LOAD 1e-3 // of the way: a tangent next to the one at rest

// The Newton step at x: s->work.d, of all vertices in `full`; `residual` (may be NULL) as it is at x.
static pl_status response_step(pl_statics *s, const double *x, double *full, double *residual, pl_error *err)
{
    pl_problem *p = s->problem;
    double gap[PL_ROWS_MAX], mu[PL_ROWS_MAX];
    double *g = s->work.g, *r = s->work.r, *d = s->work.d;
    if (!isfinite(pl_problem_evaluate(p, x, g))) {
        return pl_fail(err, PL_BAD_INPUT, "statics: an element is inverted at the start of the step");
    }
    pl_problem_residual(p, g, r);
    for (int change = 0; change < TUNE_ACTIVE_CHANGES && pl_problem_activate(p, false); ++change) {
        pl_problem_residual(p, g, r);
    }
    const pl_status status = pl_problem_refactor(p, x, 0, false, NULL, err);
    if (status != PL_OK) {
        return status;
    }
    pl_problem_evaluate(p, x, g);
    const double largest = pl_problem_residual(p, g, r);
    if (residual) {
        *residual = largest;
    }
    pl_problem_gaps(p, gap);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        r[i] = -r[i];
    }
    if (!pl_problem_solve_bordered(p, r, gap, d, mu)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "statics: the prescribed values of two actuators are not independent");
    }
    pl_problem_expand(p, x, d, full);
    return PL_OK;
}

pl_status pl_statics_response(pl_statics *s, const double *command, double *marker, pl_error *err)
{
    pl_problem *p = s->problem;
    pl_state *rest = NULL;
    statics_watch(s, "mesh error", 0);
    pl_status status = pl_state_create(s->robot, &rest, err);
    if (status == PL_OK) {
        status = pl_problem_begin(p, rest, command, err);
    }
    if (status == PL_OK) {
        const size_t mark = pl_arena_begin(&p->scratch);
        double *x = pl_problem_take_full(p), *full = pl_problem_take_full(p);
        memcpy(x, rest->x, pl_problem_full_bytes(p));
        pl_problem_set(p, RESPONSE_LOAD);
        pl_problem_clamp(p, p->load, x);
        status = response_step(s, x, full, NULL, err);
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            full[i] += x[i] - rest->x[i];
        }
        for (int m = 0; status == PL_OK && m < s->robot->marker_count; ++m) {
            const pl_point *point = &s->robot->marker[m].point;
            double *out = marker + 3 * m;
            out[0] = out[1] = out[2] = 0;
            for (int32_t j = 0; j < point->count; ++j) {
                for (int i = 0; i < 3; ++i) {
                    out[i] += point->weight[j] * full[3 * (int64_t)point->node[j] + i] / RESPONSE_LOAD;
                }
            }
        }
        pl_arena_end(&p->scratch, mark);
    }
    p->linear.has_factor = false; // the next solve starts at another shape
    pl_state_destroy(rest);
    return status;
}

// ---- steps from a shape that is nearly an equilibrium
// The markers at a state; the largest distance from where they were, and from a reference.
static double newton_markers(pl_statics *s, const pl_state *state, const double *reference, double *marker,
                             double *distance)
{
    double last = 0;
    *distance = 0;
    for (int m = 0; m < s->robot->marker_count; ++m) {
        const pl_marker_result found = pl_statics_marker(s, state, m);
        const double moved = pl_distance3(found.position, marker + 3 * m);
        const double away = pl_distance3(found.position, reference + 3 * m);
        last = moved > last || isnan(moved) ? moved : last;
        *distance = away > *distance ? away : *distance;
        memcpy(marker + 3 * m, found.position, sizeof found.position);
    }
    return last;
}

pl_status pl_statics_newton(pl_statics *s, const double *command, const double *position,
                            const double *reference, double enough, int limit, double *marker, pl_newton *out,
                            pl_error *err)
{
    pl_problem *p = s->problem;
    pl_state *state = NULL;
    *out = (pl_newton){.residual = NAN};
    statics_watch(s, "steps", 0);
    pl_status status = pl_state_create(s->robot, &state, err);
    if (status == PL_OK) {
        status = pl_problem_begin(p, state, command, err);
    }
    if (status == PL_OK && pl_problem_touches(p)) {
        status = pl_fail(err, PL_BAD_INPUT, "statics: steps alone do not settle contacts");
    }
    if (status == PL_OK) {
        const size_t mark = pl_arena_begin(&p->scratch);
        double *x = pl_problem_take_full(p), *full = pl_problem_take_full(p), distance;
        memcpy(state->x, position, pl_problem_full_bytes(p));
        pl_problem_set(p, 1);
        pl_problem_clamp(p, p->load, state->x);
        newton_markers(s, state, reference, marker, &distance);
        while (status == PL_OK && !out->ended && out->steps < limit) {
            double residual;
            memcpy(x, state->x, pl_problem_full_bytes(p));
            status = response_step(s, x, full, &residual, err);
            if (status == PL_OK) {
                pl_problem_move(p, x, s->work.d, 1, state->x);
                const double last = newton_markers(s, state, reference, marker, &distance);
                out->residual = out->steps++ == 0 ? residual : out->residual;
                out->ended = last <= enough * distance;
                status = isfinite(last) ? PL_OK : pl_fail(err, PL_BAD_INPUT, "statics: a step is not finite");
            }
        }
        pl_arena_end(&p->scratch, mark);
    }
    p->linear.has_factor = false; // the next solve starts at another shape
    pl_state_destroy(state);
    return status;
}
