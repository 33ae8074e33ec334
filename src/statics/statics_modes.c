// The softest modes of the tangent at an equilibrium: K v = lambda W v on the null space of the constraints,
// with the volumes that belong to the vertices as W, by Lanczos' method on the exact factor S = [K A^T; A
// -c]^-1, whose eigenvalues of largest magnitude belong to them: S W v = v / lambda.
#include "statics/statics_shapes.h"
#include "mesh/mesh.h"

#define MODES_VECTORS 64
#define MODES_ACCURACY 1e-4

// Volumes of the elements shared by their vertices (mm^3), by unknowns; rotations of rigid bodies with the
// square of their radius. Pressures have none.
static void modes_weights(const pl_problem *p, double *vertex, double *weight)
{
    const pl_mesh_view *mesh = &p->mesh;
    memset(vertex, 0, (size_t)mesh->vertex_count * sizeof *vertex);
    for (int64_t e = 0; e < mesh->element_count; ++e) {
        const int32_t *node = mesh->node + mesh->node_start[e];
        const int count = (int)(mesh->node_start[e + 1] - mesh->node_start[e]);
        double x[3 * PL_ELEMENT_NODES_MAX];
        for (int a = 0; a < count; ++a) {
            memcpy(x + 3 * a, mesh->position + 3 * (int64_t)node[a], 3 * sizeof *x);
        }
        const double share = fabs(pl_element_volume((pl_element_kind)mesh->kind[e], x)) / count;
        for (int a = 0; a < count; ++a) {
            vertex[node[a]] += share;
        }
    }

    memset(weight, 0, (size_t)p->unknowns.n * sizeof *weight);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->vertex_count; ++i) {
        if (p->unknowns.dof[i] >= 0) {
            weight[p->unknowns.dof[i]] = vertex[i / 3];
        }
    }

    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &p->unknowns.rigid[b];
        double volume = 0;
        for (int32_t j = 0; j < body->node_count; ++j) {
            volume += vertex[body->node[j]];
        }
        for (int i = 0; i < 6; ++i) {
            weight[body->unknown + i] = i < 3 ? volume : volume * body->radius * body->radius;
        }
    }
}

static bool modes_apply(void *user, const double *b, double *out)
{
    double mu[PL_ROWS_MAX];
    return pl_problem_solve_bordered(user, b, NULL, out, mu);
}

// Largest displacement 1; v . W v was 1 before, so that the stiffness is lambda over the square of the scale.
static double modes_scale(const pl_problem *p, double lambda, double *full)
{
    double largest = 0;
    for (int64_t v = 0; v < p->mesh.vertex_count; ++v) {
        largest = fmax(largest, pl_norm3(full + 3 * v));
    }
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        full[i] /= largest;
    }

    return lambda / (largest * largest);
}

pl_status pl_statics_modes(pl_statics *s, const pl_state *state, int count, double *stiffness, double *shape,
                           int *found, pl_error *err)
{
    pl_problem *p = s->problem;
    *found = 0;
    if (count < 1 || count > PL_MODES_MOST) {
        return pl_fail(err, PL_BAD_INPUT, "modes: count is %d, must be 1 to %d", count, PL_MODES_MOST);
    }

    pl_sensitivity_report ignored;
    pl_status status = pl_sensitivity_begin(p, state, true, &ignored, err);
    if (status != PL_OK) {
        return status;
    }

    const int32_t n = p->unknowns.n;
    double *vertex = PL_NEW_ARRAY(double, p->mesh.vertex_count), *weight = PL_NEW_ARRAY(double, n),
           *start = PL_NEW_ARRAY(double, n), *vector = PL_NEW_ARRAY(double, count *(int64_t)n),
           value[PL_MODES_MOST];
    int pairs = -1;
    if (vertex && weight && start && vector) {
        modes_weights(p, vertex, weight);
        pl_problem_draw(p, NULL, start);
        const pl_lanczos_options options = {
            .wanted = count, .most = n < MODES_VECTORS ? n : MODES_VECTORS, .accuracy = MODES_ACCURACY};
        pairs = pl_lanczos(n, weight, modes_apply, p, &options, start, value, vector);
        for (int k = 0; k < pairs; ++k) {
            double *full = shape + 3 * (int64_t)k * p->mesh.vertex_count;
            pl_problem_expand(p, state->x, vector + (int64_t)k * n, full);
            stiffness[k] = modes_scale(p, 1 / value[k], full);
        }
        *found = pairs > 0 ? pairs : 0;
    } else {
        status = pl_fail_memory(err, "modes");
    }

    pl_free(vertex);
    pl_free(weight);
    pl_free(start);
    pl_free(vector);
    if (status == PL_OK && pairs < 0) {
        status = pl_fail(err, PL_FAILED, "modes: the constraints are linearly dependent");
    }

    return status;
}

// ---- the mode of a critical load
void statics_keep_mode(pl_statics *s, const double *x, const double *v, double load, bool limit, bool better)
{
    pl_problem *p = s->problem;
    if (s->mode.known && !better) {
        return;
    }
    memcpy(s->mode.x, x, pl_problem_full_bytes(p));
    pl_problem_expand(p, x, v, s->mode.motion);
    modes_scale(p, 0, s->mode.motion);
    s->mode.load = load;
    s->mode.limit = limit;
    s->mode.known = true;
}

bool pl_statics_critical(const pl_statics *s, pl_critical_mode *out)
{
    *out = (pl_critical_mode){
        .load = s->mode.load, .limit = s->mode.limit, .position = s->mode.x, .motion = s->mode.motion};
    return s->mode.known;
}
