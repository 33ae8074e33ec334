// Which coordinates are unknown: free vertices, sliding ones, rigid bodies with six unknowns each, pressures;
// and the maps between positions and unknowns.
#include "problem/problem_impl.h"

static void rigid_centre(const pl_rigid_motion *body, const double *x, double c[3])
{
    c[0] = c[1] = c[2] = 0;
    for (int32_t j = 0; j < body->node_count; ++j) {
        for (int i = 0; i < 3; ++i) {
            c[i] += x[3 * (int64_t)body->node[j] + i] / body->node_count;
        }
    }
}

// A rigid region that touches a clamp is clamped as a whole.
static void number_supports(pl_problem *p)
{
    const pl_robot *robot = p->robot;
    for (int k = 0; k < robot->support_count; ++k) {
        const pl_support *support = &robot->support[k];
        for (int32_t j = 0; j < support->node_count; ++j) {
            const int32_t v = support->node[j];
            for (int i = 0; i < 3; ++i) {
                if (support->axis[i]) {
                    p->unknowns.support_of[3 * v + i] = k;
                    p->unknowns.dof[3 * v + i] = -2;
                }
            }
        }
    }

    for (int b = 0; b < robot->rigid_count; ++b) {
        const pl_rigid *rigid = &robot->rigid[b];
        int support = -1;
        for (int32_t j = 0; j < rigid->node_count && support < 0; ++j) {
            const int32_t *dof = p->unknowns.dof + 3 * rigid->node[j];
            if (dof[0] == -2 && dof[1] == -2 && dof[2] == -2) {
                support = p->unknowns.support_of[3 * rigid->node[j]];
            }
        }
        for (int32_t j = 0; j < rigid->node_count; ++j) {
            const int32_t v = rigid->node[j];
            if (support >= 0) {
                p->unknowns.support_of[3 * v] = p->unknowns.support_of[3 * v + 1] =
                    p->unknowns.support_of[3 * v + 2] = support;
                p->unknowns.dof[3 * v] = p->unknowns.dof[3 * v + 1] = p->unknowns.dof[3 * v + 2] = -2;
            } else {
                p->unknowns.rigid_of[v] = p->unknowns.rigid_count;
                p->unknowns.dof[3 * v] = p->unknowns.dof[3 * v + 1] = p->unknowns.dof[3 * v + 2] = -2;
            }
        }
        if (support < 0) {
            pl_rigid_motion *body = &p->unknowns.rigid[p->unknowns.rigid_count++];
            *body = (pl_rigid_motion){.node_count = rigid->node_count, .node = rigid->node};
            double c[3];
            rigid_centre(body, p->mesh.position, c);
            for (int32_t j = 0; j < body->node_count; ++j) {
                const double arm = pl_distance3(p->mesh.position + 3 * (int64_t)body->node[j], c);
                body->radius = fmax(body->radius, arm);
            }
        }
    }
}

pl_status problem_number(pl_problem *p, pl_error *err)
{
    const int32_t vertices = p->mesh.vertex_count;
    p->unknowns.dof = PL_NEW_ARRAY(int32_t, 3 * (int64_t)vertices);
    p->unknowns.rigid_of = PL_NEW_ARRAY(int32_t, vertices);
    p->unknowns.support_of = PL_NEW_ARRAY(int32_t, 3 * (int64_t)vertices);
    p->unknowns.turns = PL_NEW_ARRAY(bool, vertices);
    p->unknowns.rigid = PL_NEW_ARRAY(pl_rigid_motion, p->robot->rigid_count);
    p->unknowns.pressure_dof = PL_NEW_ARRAY(int32_t, p->elements->pressure_count);
    int32_t *start = PL_NEW_ARRAY(int32_t, vertices + 1),
            *order = PL_NEW_ARRAY(int32_t, p->elements->pressure_count);
    if (!p->unknowns.dof || !p->unknowns.rigid_of || !p->unknowns.support_of || !p->unknowns.turns ||
        !p->unknowns.rigid || !p->unknowns.pressure_dof || !start || !order) {
        pl_free(start);
        pl_free(order);
        return pl_fail_memory(err, "problem: unknowns");
    }

    for (int32_t v = 0; v < vertices; ++v) {
        p->unknowns.rigid_of[v] = -1;
        // vertices of no deformable element have no stiffness: they stay where they are
        const bool used = p->elements->vertex_start[v + 1] > p->elements->vertex_start[v];
        for (int i = 0; i < 3; ++i) {
            p->unknowns.support_of[3 * v + i] = -1;
            p->unknowns.dof[3 * v + i] = used ? 0 : -2;
        }
    }

    number_supports(p);

    // pressures sorted by vertex, so that each follows its vertex's displacements
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        start[p->elements->pressure_vertex[k] + 1]++;
    }
    for (int32_t v = 0; v < vertices; ++v) {
        start[v + 1] += start[v];
    }
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        order[start[p->elements->pressure_vertex[k]]++] = k;
    }
    p->unknowns.n = 0;
    for (int32_t v = 0, next = 0; v < vertices; ++v) {
        int free_axes = 0;
        for (int i = 0; i < 3; ++i) {
            int32_t *dof = &p->unknowns.dof[3 * v + i];
            *dof = *dof == -2 ? -1 : p->unknowns.n++;
            free_axes += *dof >= 0;
        }
        p->unknowns.turns[v] = free_axes == 3;
        for (; next < p->elements->pressure_count && p->elements->pressure_vertex[order[next]] == v; ++next) {
            p->unknowns.pressure_dof[order[next]] = p->unknowns.n++;
        }
    }

    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        p->unknowns.rigid[b].unknown = p->unknowns.n;
        p->unknowns.n += 6;
    }

    pl_free(start);
    pl_free(order);

    return p->unknowns.n > 0 ? PL_OK
                             : pl_fail(err, PL_BAD_INPUT, "problem: nothing can move: every vertex is fixed");
}

void pl_problem_gather(const pl_problem *p, const double *full, const double *x, double *u)
{
    memset(u, 0, (size_t)p->unknowns.n * sizeof *u);
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        if (p->unknowns.dof[i] >= 0) {
            u[p->unknowns.dof[i]] = full[i];
        }
    }

    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &p->unknowns.rigid[b];
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
void pl_problem_move(const pl_problem *p, const double *x, const double *u, double scale, double *out)
{
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        out[i] = p->unknowns.dof[i] >= 0 ? x[i] + scale * u[p->unknowns.dof[i]] : x[i];
    }
    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &p->unknowns.rigid[b];
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

void pl_problem_clamp(const pl_problem *p, double load, double *x)
{
    for (int k = 0; k < p->robot->support_count; ++k) {
        const pl_support *support = &p->robot->support[k];
        const double w[3] = {load * support->rotate[0], load * support->rotate[1], load * support->rotate[2]};
        double R[9];
        pl_rotation_exp(w, R);
        for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
            const int32_t *held = p->unknowns.support_of + 3 * (int64_t)v;
            if (held[0] != k && held[1] != k && held[2] != k) {
                continue;
            }
            double arm[3], turned[3];
            pl_sub3(p->mesh.position + 3 * (int64_t)v, support->about, arm);
            pl_mulv3(R, arm, turned);
            for (int i = 0; i < 3; ++i) {
                if (held[i] == k) {
                    x[3 * (int64_t)v + i] = support->about[i] + turned[i] + load * support->move[i];
                }
            }
        }
    }
}

double pl_problem_largest(const pl_problem *p, const double *u, bool force)
{
    double largest = 0;
    for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
            const int32_t k = p->unknowns.dof[3 * v + i];
            sum += k >= 0 ? u[k] * u[k] : 0;
        }
        if (!isfinite(sum)) {
            return INFINITY;
        }
        largest = sum > largest ? sum : largest;
    }

    largest = sqrt(largest);

    // a rigid body counts with its farthest vertex: moments over that arm, rotations times it
    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        const pl_rigid_motion *body = &p->unknowns.rigid[b];
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

void pl_problem_expand(const pl_problem *p, const double *x, const double *d, double *full)
{
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        full[i] = p->unknowns.dof[i] >= 0 ? d[p->unknowns.dof[i]] : 0;
    }
    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        // dx = t + w x arm
        const pl_rigid_motion *body = &p->unknowns.rigid[b];
        const double *q = d + body->unknown;
        double c[3];
        rigid_centre(body, x, c);
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            double arm[3], turn[3];
            pl_sub3(x + v, c, arm);
            pl_cross3(q + 3, arm, turn);
            for (int i = 0; i < 3; ++i) {
                full[v + i] = q[i] + turn[i];
            }
        }
    }
}

void problem_rigid_centres(pl_problem *p, const double *x)
{
    for (int b = 0; b < p->unknowns.rigid_count; ++b) {
        rigid_centre(&p->unknowns.rigid[b], x, p->unknowns.rigid[b].centre);
    }
}

void problem_unknowns_clear(pl_unknowns *u)
{
    pl_free(u->dof);
    pl_free(u->rigid_of);
    pl_free(u->pressure_dof);
    pl_free(u->support_of);
    pl_free(u->turns);
    pl_free(u->rigid);
}
