// What loads and actuators do on the functions added for the estimate of the mesh error, and the markers'
// motion in them.
//
// A guide of radius r stands for the mean of the body around it with the weight (1 - (|X - p| / r)^2)^2,
// corrected by a linear factor so that linear fields are reproduced (robot_point.c). Vertices represent it as
// the mesh allows; here it is integrated by points in the ball, so that the difference is part of the error.
#include "statics/statics_error.h"

#define ERROR_SAME 1e-6 // of the area of a surface: differences of weights that are rounding errors
#define ERROR_RADII 4
#define ERROR_DIRECTIONS 14 // in a ball inside the body
#define ERROR_CUT_MOST 90   // in one that the surface cuts
#define ERROR_SAMPLES (ERROR_RADII * ERROR_CUT_MOST)

// Nodal functions N (may be NULL) and the normal, not of unit length, at a point of a face of n nodes.
void error_normal(int n, const int32_t *node, const double *x, const double xi[2], double *N,
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

// A chamber presses with its effort; `row` (NULL: none) gets dV/dw, what a pressure of -1 does.
static void error_chamber(const error_work *w, const pl_actuator *a, double pressure, double *force,
                          double *row)
{
    error_traction act = {.pressure = pressure, .force = force}, unit = {.pressure = -1, .force = row};
    for (int64_t i = 0; i < a->face_count; ++i) {
        error_face(w, a->face[i], w->state->x, error_press, &act);
        if (row) {
            error_face(w, a->face[i], w->state->x, error_press, &unit);
        }
    }
}

static void error_pressures(const error_work *w, double *force)
{
    const pl_robot *robot = w->s->robot;
    for (int k = 0; k < robot->pressure_count; ++k) {
        const pl_surface_pressure *given = &robot->pressure[k];
        error_traction t = {.pressure = w->state->load * given->pressure, .force = force};
        for (int64_t i = 0; i < given->face_count; ++i) {
            error_face(w, given->face[i], w->state->x, error_press, &t);
        }
    }
}

// ---- cables
typedef struct error_sample {
    pl_embedding at;
    double weight;
} error_sample;

// A direction of a rule on the sphere: of degree 5 with 14 directions, otherwise evenly on a spiral.
static double error_direction(int n, int count, double d[3])
{
    const double golden = PL_PI * (3 - sqrt(5.0)), z = 1 - (2 * n + 1.0) / count;
    if (count == ERROR_DIRECTIONS) {
        for (int i = 0; i < 3; ++i) {
            d[i] = n < 6 ? (n / 2 == i ? (n % 2 ? -1 : 1) : 0) : ((n - 6) >> i & 1 ? -1 : 1) / sqrt(3);
        }
        return n < 6 ? 1.0 / 15 : 3.0 / 40;
    }

    d[0] = sqrt(1 - z * z) * cos(golden * n);
    d[1] = sqrt(1 - z * z) * sin(golden * n);
    d[2] = z;

    return 1.0 / count;
}

// Points of the ball around a guide and their weights: Gauss's points along the radius, with the weight
// rho^2 (1 - rho^2)^2, times directions. Their number.
static int error_ball(int directions, double (*d)[3], double *weight)
{
    static const double gauss[ERROR_RADII] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                              0.8611363115940526},
                        share[ERROR_RADII] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461,
                                              0.3478548451374538};
    for (int n = 0; n < ERROR_RADII * directions; ++n) {
        const double rho = 0.5 * (1 + gauss[n / directions]), kernel = rho * (1 - rho * rho);
        weight[n] =
            share[n / directions] * kernel * kernel * error_direction(n % directions, directions, d[n]);
        for (int i = 0; i < 3; ++i) {
            d[n][i] *= rho;
        }
    }

    return ERROR_RADII * directions;
}

// Whether an element belongs to the surroundings of a point that its vertices reach.
static bool error_reached(const pl_point *point, const pl_embedding *at)
{
    for (int a = 0; a < at->node_count; ++a) {
        for (int32_t j = 0; j < point->count; ++j) {
            if (point->node[j] == at->node[a]) {
                return true;
            }
        }
    }
    return false;
}

// The weights times a + b . d, such that sum w = 1 and sum w d = 0; false where the points do not allow it.
static bool error_correct(int count, double (*const d)[3], error_sample *sample)
{
    double A[16] = {0}, b[4] = {1, 0, 0, 0}, total = 0;
    for (int n = 0; n < count; ++n) {
        total += sample[n].weight;
    }

    for (int n = 0; n < count; ++n) {
        const double f[4] = {1, d[n][0], d[n][1], d[n][2]};
        for (int i = 0; i < 16; ++i) {
            A[i] += sample[n].weight / total * f[i / 4] * f[i % 4];
        }
    }

    if (count < 4 || !pl_dense_solve(4, A, b, 1)) {
        return false;
    }
    for (int n = 0; n < count; ++n) {
        sample[n].weight *= (b[0] + b[1] * d[n][0] + b[2] * d[n][1] + b[3] * d[n][2]) / total;
    }

    return true;
}

// The points of the ball inside the body.
static int error_inside(const error_work *w, const pl_point *point, int directions, double (*d)[3],
                        error_sample *sample)
{
    double ball[ERROR_SAMPLES][3], weight[ERROR_SAMPLES];
    const int all = error_ball(directions, ball, weight);
    int count = 0;

    for (int n = 0; n < all; ++n) {
        double at[3];
        for (int i = 0; i < 3; ++i) {
            at[i] = point->rest[i] + point->radius * ball[n][i];
        }
        if (pl_mesh_embed(w->s->robot->mesh, at, &sample[count].at, NULL) == PL_OK &&
            sample[count].at.distance == 0 && error_reached(point, &sample[count].at)) {
            memcpy(d[count], ball[n], sizeof ball[n]);
            sample[count++].weight = weight[n];
        }
    }

    return count;
}

// The points that a guide stands for; one, the guide itself, where it is not spread.
static int error_samples(const error_work *w, const pl_point *point, error_sample *sample)
{
    double d[ERROR_SAMPLES][3];
    int count = point->radius > 0 ? error_inside(w, point, ERROR_DIRECTIONS, d, sample) : 0;

    if (point->radius > 0 && count < ERROR_RADII * ERROR_DIRECTIONS) {
        count = error_inside(w, point, ERROR_CUT_MOST, d, sample);
    }
    if (error_correct(count, d, sample)) {
        return count;
    }
    sample[0].weight = 1;

    return pl_mesh_embed(w->s->robot->mesh, point->rest, &sample[0].at, NULL) == PL_OK ? 1 : 0;
}

// force += f times the weights of the added functions at a sample; its reference coordinates are a linear
// field, which the weights of the nodes reproduce.
static void error_at_sample(const error_work *w, const error_sample *s, const double f[3], double *force)
{
    const int32_t *function = w->added->function + (int64_t)PL_ADDED_MAX * s->at.element;
    const pl_element_kind kind = w->s->problem->mesh.kind[s->at.element];
    double xi[3] = {0}, value[PL_ADDED_MAX];

    if (function[0] < 0) {
        return;
    }

    for (int a = 0; a < s->at.node_count; ++a) {
        double node[3];
        pl_shape_node(kind, a, node);
        for (int i = 0; i < 3; ++i) {
            xi[i] += s->at.weight[a] * node[i];
        }
    }

    const int count = pl_enrich_values(kind, xi, value);
    for (int k = 0; k < count; ++k) {
        const double v = s->weight * (function[k] & 1 ? -value[k] : value[k]);
        for (int i = 0; i < 3; ++i) {
            force[3 * (int64_t)(function[k] / 2) + i] += v * f[i];
        }
    }
}

static void error_place(const error_work *w, const pl_point *point, double y[3])
{
    memcpy(y, point->rest, sizeof point->rest);
    for (int i = 0; i < 3 && point->count > 0; ++i) {
        y[i] = 0;
        for (int32_t j = 0; j < point->count; ++j) {
            y[i] += point->weight[j] * w->state->x[3 * (int64_t)point->node[j] + i];
        }
    }
}

// dL/dy of the length of a cable by the place of guide g.
static void error_pull(const error_work *w, const pl_actuator *a, int g, double pull[3])
{
    double y[3], other[3];
    error_place(w, &a->guide[g], y);
    memset(pull, 0, 3 * sizeof *pull);
    for (int side = -1; side <= 1; side += 2) {
        if (g + side >= 0 && g + side < a->guide_count) {
            error_place(w, &a->guide[g + side], other);
            const double length = pl_distance3(y, other);
            for (int i = 0; i < 3; ++i) {
                pull[i] += (y[i] - other[i]) / length;
            }
        }
    }
}

// E = tension L. `full` gets what the guides do on the vertices as they are spread by their radius, less what
// they do as the mesh spreads them; `row` (NULL: none) dL/dw. Returns by how much the cable is longer so.
static double error_cable(const error_work *w, const pl_actuator *a, double tension, double *full,
                          double *force, double *row)
{
    const double *x = w->state->x;
    double longer = 0;
    error_sample sample[ERROR_SAMPLES];

    for (int g = 0; g < a->guide_count; ++g) {
        const pl_point *point = &a->guide[g];
        double pull[3], act[3];
        error_pull(w, a, g, pull);
        const int count = point->count > 0 ? error_samples(w, point, sample) : 0;
        for (int i = 0; i < 3; ++i) {
            act[i] = tension * pull[i];
        }
        for (int n = 0; n < count; ++n) {
            const pl_embedding *at = &sample[n].at;
            for (int k = 0; k < 3 * at->node_count; ++k) {
                const int64_t entry = 3 * (int64_t)at->node[k / 3] + k % 3;
                const double share = sample[n].weight * at->weight[k / 3];
                full[entry] += share * act[k % 3];
                longer += share * pull[k % 3] * x[entry];
            }
            error_at_sample(w, &sample[n], act, force);
            if (row) {
                error_at_sample(w, &sample[n], pull, row);
            }
        }
        for (int k = 0; k < 3 * point->count && count > 0; ++k) {
            const int64_t entry = 3 * (int64_t)point->node[k / 3] + k % 3;
            full[entry] -= point->weight[k / 3] * act[k % 3];
            longer -= point->weight[k / 3] * pull[k % 3] * x[entry];
        }
    }

    return longer;
}

// ---- actuators
// The row of each actuator's measure among the borders of the factor; -1: none. Rows are made in the order of
// the actuators.
static void error_borders(const error_work *w, int *border)
{
    const pl_problem *p = w->s->problem;
    const pl_robot *robot = w->s->robot;
    int row = 0;

    for (int k = 0; k < robot->actuator_count; ++k) {
        border[k] = -1;
        while (!robot->actuator[k].growth && row < p->row_count &&
               strcmp(p->term[p->row[row].term].kind->name, "actuators") != 0) {
            ++row;
        }
        for (int b = 0; !robot->actuator[k].growth && b < p->linear.border_count; ++b) {
            border[k] = p->linear.border[b] == row ? b : border[k];
        }
        row += !robot->actuator[k].growth;
    }
}

static void error_actuators(error_work *w, double *full, double *force)
{
    const pl_robot *robot = w->s->robot;
    int border[PL_ROWS_MAX];

    error_borders(w, border);
    for (int k = 0; k < robot->actuator_count; ++k) {
        const pl_actuator *a = &robot->actuator[k];
        double *row = border[k] >= 0 ? w->row + 3 * (int64_t)w->added->count * border[k] : NULL;
        const double effort = w->state->multiplier[k];
        if (a->growth || (effort == 0 && !row)) {
            continue;
        }
        if (a->kind == PL_CHAMBER) {
            error_chamber(w, a, effort, force, row);
        } else if (a->kind == PL_CABLE) {
            const double longer = error_cable(w, a, effort, full, force, row);
            if (row) {
                w->target[border[k]] = -longer;
            }
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

void error_loads(error_work *w, double *full, double *force)
{
    error_actuators(w, full, force);
    error_pressures(w, force);
    error_forces(w, force);
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
void error_goal(const error_work *w, const double *full, const double *c, double scale, double *goal)
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
void error_match(error_work *w)
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
