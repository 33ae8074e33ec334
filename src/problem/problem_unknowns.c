// Which coordinates are unknown: free vertices, sliding ones, rigid bodies with six unknowns each, pressures;
// and the maps between positions and unknowns.
#include "statics/statics_impl.h"

static void rigid_centre(const rigid_body *body, const double *x, double c[3])
{
    c[0] = c[1] = c[2] = 0;
    for (int32_t j = 0; j < body->node_count; ++j) {
        for (int i = 0; i < 3; ++i) {
            c[i] += x[3 * (int64_t)body->node[j] + i] / body->node_count;
        }
    }
}

// A rigid region that touches a clamp is clamped as a whole.
static void number_supports(pl_statics *s)
{
    const pl_robot *robot = s->robot;
    for (int k = 0; k < robot->support_count; ++k) {
        const pl_support *support = &robot->support[k];
        for (int32_t j = 0; j < support->node_count; ++j) {
            const int32_t v = support->node[j];
            for (int i = 0; i < 3; ++i) {
                if (support->axis[i]) {
                    s->support_of[3 * v + i] = k;
                    s->dof[3 * v + i] = -2;
                }
            }
        }
    }
    for (int b = 0; b < robot->rigid_count; ++b) {
        const pl_rigid *rigid = &robot->rigid[b];
        int support = -1;
        for (int32_t j = 0; j < rigid->node_count && support < 0; ++j) {
            const int32_t *dof = s->dof + 3 * rigid->node[j];
            if (dof[0] == -2 && dof[1] == -2 && dof[2] == -2) {
                support = s->support_of[3 * rigid->node[j]];
            }
        }
        for (int32_t j = 0; j < rigid->node_count; ++j) {
            const int32_t v = rigid->node[j];
            if (support >= 0) {
                s->support_of[3 * v] = s->support_of[3 * v + 1] = s->support_of[3 * v + 2] = support;
                s->dof[3 * v] = s->dof[3 * v + 1] = s->dof[3 * v + 2] = -2;
            } else {
                s->rigid_of[v] = s->rigid_count;
                s->dof[3 * v] = s->dof[3 * v + 1] = s->dof[3 * v + 2] = -2;
            }
        }
        if (support < 0) {
            rigid_body *body = &s->rigid[s->rigid_count++];
            *body = (rigid_body){.node_count = rigid->node_count, .node = rigid->node};
            double c[3];
            rigid_centre(body, s->mesh.position, c);
            for (int32_t j = 0; j < body->node_count; ++j) {
                const double arm = pl_distance3(s->mesh.position + 3 * (int64_t)body->node[j], c);
                body->radius = fmax(body->radius, arm);
            }
        }
    }
}

pl_status statics_number(pl_statics *s, pl_error *err)
{
    const int32_t vertices = s->mesh.vertex_count;
    s->dof = PL_NEW_ARRAY(int32_t, 3 * (int64_t)vertices);
    s->rigid_of = PL_NEW_ARRAY(int32_t, vertices);
    s->support_of = PL_NEW_ARRAY(int32_t, 3 * (int64_t)vertices);
    s->turns = PL_NEW_ARRAY(bool, vertices);
    s->rigid = PL_NEW_ARRAY(rigid_body, s->robot->rigid_count);
    s->pressure_dof = PL_NEW_ARRAY(int32_t, s->elements->pressure_count);
    int32_t *start = PL_NEW_ARRAY(int32_t, vertices + 1),
            *order = PL_NEW_ARRAY(int32_t, s->elements->pressure_count);
    if (!s->dof || !s->rigid_of || !s->support_of || !s->turns || !s->rigid || !s->pressure_dof || !start ||
        !order) {
        pl_free(start);
        pl_free(order);
        return pl_fail_memory(err, "statics: unknowns");
    }
    for (int32_t v = 0; v < vertices; ++v) {
        s->rigid_of[v] = -1;
        // vertices of no deformable element have no stiffness: they stay where they are
        const bool used = s->elements->vertex_start[v + 1] > s->elements->vertex_start[v];
        for (int i = 0; i < 3; ++i) {
            s->support_of[3 * v + i] = -1;
            s->dof[3 * v + i] = used ? 0 : -2;
        }
    }
    number_supports(s);
    // pressures sorted by vertex, so that each follows its vertex's displacements
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        start[s->elements->pressure_vertex[p] + 1]++;
    }
    for (int32_t v = 0; v < vertices; ++v) {
        start[v + 1] += start[v];
    }
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        order[start[s->elements->pressure_vertex[p]]++] = p;
    }
    s->n = 0;
    for (int32_t v = 0, next = 0; v < vertices; ++v) {
        int free_axes = 0;
        for (int i = 0; i < 3; ++i) {
            int32_t *dof = &s->dof[3 * v + i];
            *dof = *dof == -2 ? -1 : s->n++;
            free_axes += *dof >= 0;
        }
        s->turns[v] = free_axes == 3;
        for (; next < s->elements->pressure_count && s->elements->pressure_vertex[order[next]] == v; ++next) {
            s->pressure_dof[order[next]] = s->n++;
        }
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        s->rigid[b].unknown = s->n;
        s->n += 6;
    }
    pl_free(start);
    pl_free(order);
    return s->n > 0 ? PL_OK : pl_fail(err, PL_BAD_INPUT, "statics: nothing can move: every vertex is held");
}

void statics_gather(const pl_statics *s, const double *full, const double *x, double *u)
{
    memset(u, 0, (size_t)s->n * sizeof *u);
    for (int64_t i = 0; i < 3 * (int64_t)s->mesh.vertex_count; ++i) {
        if (s->dof[i] >= 0) {
            u[s->dof[i]] = full[i];
        }
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        const rigid_body *body = &s->rigid[b];
        double c[3], *out = u + body->unknown;
        rigid_centre(body, x, c);
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            double arm[3], m[3];
            pl_sub3(x + v, c, arm);
            pl_cross3(arm, full + v, m);
            for (int i = 0; i < 3; ++i) {
                out[i] += full[v + i];
                out[3 + i] += m[i];
            }
        }
    }
}

// x_out = x moved by scale * u: displacements add, rigid bodies turn about their centre
void statics_move(const pl_statics *s, const double *x, const double *u, double scale, double *out)
{
    for (int64_t i = 0; i < 3 * (int64_t)s->mesh.vertex_count; ++i) {
        out[i] = s->dof[i] >= 0 ? x[i] + scale * u[s->dof[i]] : x[i];
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        const rigid_body *body = &s->rigid[b];
        const double *q = u + body->unknown;
        const double w[3] = {scale * q[3], scale * q[4], scale * q[5]};
        double c[3], R[9];
        rigid_centre(body, x, c);
        pl_rotation_exp(w, R);
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            double arm[3], turned[3];
            pl_sub3(x + v, c, arm);
            pl_mulv3(R, arm, turned);
            for (int i = 0; i < 3; ++i) {
                out[v + i] = c[i] + scale * q[i] + turned[i];
            }
        }
    }
}

void statics_clamp(const pl_statics *s, double load, double *x)
{
    for (int k = 0; k < s->robot->support_count; ++k) {
        const pl_support *support = &s->robot->support[k];
        const double w[3] = {load * support->rotate[0], load * support->rotate[1], load * support->rotate[2]};
        double R[9];
        pl_rotation_exp(w, R);
        for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
            const int32_t *held = s->support_of + 3 * (int64_t)v;
            if (held[0] != k && held[1] != k && held[2] != k) {
                continue;
            }
            double arm[3], turned[3];
            pl_sub3(s->mesh.position + 3 * (int64_t)v, support->about, arm);
            pl_mulv3(R, arm, turned);
            for (int i = 0; i < 3; ++i) {
                if (held[i] == k) {
                    x[3 * (int64_t)v + i] = support->about[i] + turned[i] + load * support->move[i];
                }
            }
        }
    }
}

double statics_largest(const pl_statics *s, const double *u, bool force)
{
    double largest = 0;
    for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
            const int32_t k = s->dof[3 * v + i];
            sum += k >= 0 ? u[k] * u[k] : 0;
        }
        if (!isfinite(sum)) {
            return INFINITY;
        }
        largest = sum > largest ? sum : largest;
    }
    largest = sqrt(largest);
    // a rigid body counts with its farthest vertex: moments over that arm, rotations times it
    for (int b = 0; b < s->rigid_count; ++b) {
        const rigid_body *body = &s->rigid[b];
        const double *q = u + body->unknown;
        const double move = pl_norm3(q), turn = pl_norm3(q + 3);
        const double whole = force ? fmax(move, turn / body->radius) : move + turn * body->radius;
        if (!isfinite(move + turn)) {
            return INFINITY;
        }
        largest = fmax(largest, whole);
    }
    return largest;
}
