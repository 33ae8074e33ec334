// Fibres: where they run on the faces they are bonded to, face by face.
//
// Helices and rings lie where rays from the axis meet the surface, lines where their points, joined by
// straight pieces, are nearest to it. A fibre ends where its ray misses the surface and goes on where it
// meets it again, as another piece.
#include <stdio.h>
#include "robot/robot_impl.h"

#define FIBRE_STEP 0.35         // of the mean edge of the faces: length of its pieces
#define FIBRE_CROSSINGS 40      // of faces in one such path
#define FIBRE_HALVINGS 30       // to find where a face ends
#define FIBRE_STEPS_MAX 2000000 // of one fibre
#define FIBRE_INEXTENSIBLE 1e4  // stiffness over that of the body's cross-section (its modulus V / L)

// Flat triangles of the faces in a tree.
typedef struct fibre_ground {
    const pl_mesh *mesh;
    const double *position; // of the vertices
    int64_t *face;
    int64_t face_count;
    int32_t *of;    // face of each triangle
    int8_t *local;  // 3 local nodes
    double *corner; // 9 coordinates
    int32_t count;
    pl_bvh bvh;
    double edge; // mm: mean edge length
    // of the current search
    // the ray, or the point (then without direction)
    const double *origin, *direction;
    int32_t best;     // triangle found, -1: none
    double weight[3]; // of its corners at the point found
} fibre_ground;

// local coordinates (xi, eta) of a face's nodes: corners, then mid nodes
static const double fibre_local[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0.5, 0}, {0.5, 0.5}, {0, 0.5}};

static void ground_clear(fibre_ground *g)
{
    pl_free(g->face);
    pl_free(g->of);
    pl_free(g->local);
    pl_free(g->corner);
    pl_bvh_clear(&g->bvh);
}

// Triangles of the faces in `g->face` and a tree of them.
static pl_status ground_init(fibre_ground *g, robot_build *b)
{
    g->mesh = b->robot->mesh;
    g->position = pl_mesh_get(g->mesh).position;
    const int64_t most = g->face_count * PL_FACE_TRIANGLES_MAX;
    g->of = PL_NEW_ARRAY(int32_t, most);
    g->local = PL_NEW_ARRAY(int8_t, 3 * most);
    g->corner = PL_NEW_ARRAY(double, 9 * most);
    double *box = PL_NEW_ARRAY(double, 6 * most);
    if (!g->of || !g->local || !g->corner || !box) {
        pl_free(box);
        return robot_memory(b);
    }

    // boxes of the triangles, corners copied for the searches
    for (int64_t f = 0; f < g->face_count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*triangle)[3];
        const int nodes = pl_mesh_face_nodes(g->mesh, g->face[f], node),
                  n = pl_face_triangles(nodes, &triangle);
        for (int t = 0; t < n; ++t, ++g->count) {
            g->of[g->count] = (int32_t)f;
            double *low = box + 6 * (int64_t)g->count, *high = low + 3;

            for (int k = 0; k < 3; ++k) {
                const double *x = g->position + 3 * (int64_t)node[triangle[t][k]];
                g->local[3 * g->count + k] = triangle[t][k];
                memcpy(g->corner + 9 * (int64_t)g->count + 3 * k, x, 3 * sizeof *x);
                for (int i = 0; i < 3; ++i) {
                    low[i] = k == 0 ? x[i] : fmin(low[i], x[i]);
                    high[i] = k == 0 ? x[i] : fmax(high[i], x[i]);
                }
            }
        }
    }

    // equilateral triangles of area A have the edge sqrt(4 / sqrt 3 A) = sqrt(2.31 A)
    g->edge = sqrt(2.31 * pl_mesh_faces_area(g->mesh, g->face, g->face_count) / (double)g->face_count);
    const bool good = pl_bvh_init(&g->bvh, g->count, box);
    pl_free(box);

    return good ? PL_OK : robot_memory(b);
}

// Visitor of the tree: keeps the first hit along the ray.
static double ground_ray_visit(void *user, int32_t item, double limit)
{
    fibre_ground *g = user;
    const double *c = g->corner + 9 * (int64_t)item;
    const double t = pl_triangle_ray(g->origin, g->direction, c, c + 3, c + 6);

    if (t >= 0 && t < limit) {
        g->best = item;
        return t;
    }

    return limit;
}

// Visitor of the tree: keeps the nearest triangle and the weights of the
// nearest point. Distances are squared.
static double ground_near_visit(void *user, int32_t item, double best)
{
    fibre_ground *g = user;
    const double *c = g->corner + 9 * (int64_t)item;
    double w[3];
    const double d = pl_triangle_nearest(g->origin, c, c + 3, c + 6, w);

    if (d < best) {
        g->best = item;
        memcpy(g->weight, w, sizeof w);
        return d;
    }

    return best;
}

// A point of the triangle with weights as a point of its face.
static void ground_point(const fibre_ground *g, int32_t triangle, const double w[3], pl_fibre_point *out)
{
    *out = (pl_fibre_point){.face = g->face[g->of[triangle]]};
    for (int k = 0; k < 3; ++k) {
        const double *xi = fibre_local[g->local[3 * triangle + k]];
        out->xi[0] += w[k] * xi[0];
        out->xi[1] += w[k] * xi[1];
    }
}

// First point of the surface along a ray; false: none.
static bool ground_cast(fibre_ground *g, const double origin[3], const double direction[3],
                        pl_fibre_point *out)
{
    g->origin = origin;
    g->direction = direction;
    g->best = -1;
    pl_bvh_ray(&g->bvh, origin, direction, 1e30, ground_ray_visit, g);
    if (g->best < 0) {
        return false;
    }

    // weights of the point hit
    const double *c = g->corner + 9 * (int64_t)g->best;
    const double t = pl_triangle_ray(origin, direction, c, c + 3, c + 6);
    double at[3], w[3];
    for (int i = 0; i < 3; ++i) {
        at[i] = origin[i] + t * direction[i];
    }
    pl_triangle_nearest(at, c, c + 3, c + 6, w);
    ground_point(g, g->best, w, out);

    return true;
}

// Nearest point of the surface; returns its distance in mm.
static double ground_nearest(fibre_ground *g, const double at[3], pl_fibre_point *out)
{
    g->origin = at;
    g->best = -1;
    pl_bvh_nearest(&g->bvh, at, INFINITY, ground_near_visit, g);
    if (g->best < 0) {
        return INFINITY;
    }
    ground_point(g, g->best, g->weight, out);
    const double *c = g->corner + 9 * (int64_t)g->best;
    double d = 0;
    for (int i = 0; i < 3; ++i) {
        const double p = g->weight[0] * c[i] + g->weight[1] * c[3 + i] + g->weight[2] * c[6 + i];
        d += (p - at[i]) * (p - at[i]);
    }

    return sqrt(d);
}

// x = sum_a N_a(xi) x_a and, if wanted, the tangents dx/dxi, dx/deta.
static void fibre_place(const pl_mesh *mesh, const double *position, const pl_fibre_point *p, double x[3],
                        double tangent[2][3])
{
    int32_t node[PL_FACE_NODES_MAX];
    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX];
    const int n = pl_mesh_face_nodes(mesh, p->face, node);

    pl_face_shape_eval(n, p->xi, N, dN);
    for (int i = 0; i < 3; ++i) {
        x[i] = 0;
        for (int k = 0; tangent && k < 2; ++k) {
            tangent[k][i] = 0;
        }
        for (int a = 0; a < n; ++a) {
            const double value = position[3 * (int64_t)node[a] + i];
            x[i] += N[a] * value;
            for (int k = 0; tangent && k < 2; ++k) {
                tangent[k][i] += dN[2 * a + k] * value;
            }
        }
    }
}

// ---- the fibre under construction
// A step is the crossing of one face, from its entry to its exit.
typedef struct fibre_path {
    robot_build *b;
    const pl_fibre_def *def;
    pl_fibre *fibre;
    fibre_ground *ground;
    int step_room, point_room, piece_room; // capacities
    bool open;                             // a piece is being drawn
    bool crossing;                         // and a face is being crossed, from `entry` to `last`
    pl_fibre_point entry, last;
    double crossed;        // mm: length of the crossing so far
    double farthest;       // mm: of a line's points from the surface
    double far[3];         // where
    double missed;         // mm: length off the surface, where rays miss it
    double miss[3];        // where first
    bool failed, too_long; // no memory; more than FIBRE_STEPS_MAX
} fibre_path;

// Makes room for item `count`; false without memory.
static bool path_room(fibre_path *p, void **item, int *room, int count, size_t size)
{
    if (count < *room) {
        return true;
    }

    const int wanted = *room + *room / 2 + 256;
    void *larger = pl_resize_array(*item, (size_t)wanted, size);
    p->failed = p->failed || !larger;
    if (larger) {
        *item = larger;
        *room = wanted;
    }

    return larger != NULL;
}

// A corner of the drawn line.
static void path_point(fibre_path *p, const pl_fibre_point *point)
{
    pl_fibre *f = p->fibre;
    if (path_room(p, (void **)&f->point, &p->point_room, f->point_count, sizeof *f->point)) {
        f->point[f->point_count++] = *point;
    }
}

// The current crossing is complete: a step at its middle, with the direction dx = x,xi dxi + x,eta deta.
static void path_cross(fibre_path *p)
{
    pl_fibre *f = p->fibre;
    const pl_fibre_point middle = {
        .face = p->entry.face,
        .xi = {0.5 * (p->entry.xi[0] + p->last.xi[0]), 0.5 * (p->entry.xi[1] + p->last.xi[1])}};
    double tangent[2][3], at[3], d[3];

    fibre_place(p->ground->mesh, p->ground->position, &middle, at, tangent);
    for (int i = 0; i < 3; ++i) {
        d[i] = (p->last.xi[0] - p->entry.xi[0]) * tangent[0][i] +
               (p->last.xi[1] - p->entry.xi[1]) * tangent[1][i];
    }

    // a touch of a corner has no direction
    const double flat = pl_norm3(d);
    p->crossing = false;
    if (!(flat > 1e-7 * p->ground->edge)) {
        return;
    }
    p->too_long = p->too_long || f->step_count >= FIBRE_STEPS_MAX;
    if (p->too_long || !path_room(p, (void **)&f->step, &p->step_room, f->step_count, sizeof *f->step)) {
        return;
    }

    // its length is that of the path, not of the chord
    pl_fibre_step *s = &f->step[f->step_count++];
    *s = (pl_fibre_step){.face = middle.face, .xi = {middle.xi[0], middle.xi[1]}, .length = p->crossed};
    for (int i = 0; i < 3; ++i) {
        s->direction[i] = d[i] / flat;
    }
    f->length += p->crossed;
}

// Ends the current piece.
static void path_break(fibre_path *p)
{
    if (p->crossing) {
        path_cross(p);
    }
    p->open = false;
}

// On from a to c, both on one face.
static void path_go(fibre_path *p, const pl_fibre_point *a, const pl_fibre_point *c)
{
    pl_fibre *f = p->fibre;
    double x[3], y[3];

    // the first point of a piece; one entry more than pieces, for the end of the last
    if (!p->open) {
        if (!path_room(p, (void **)&f->piece, &p->piece_room, f->piece_count + 1, sizeof *f->piece)) {
            return;
        }
        f->piece[f->piece_count++] = f->point_count;
        path_point(p, a);
        p->open = true;
    }

    // another face: the crossing before it is complete
    if (p->crossing && p->entry.face != a->face) {
        path_cross(p);
    }

    if (!p->crossing) {
        p->entry = *a;
        p->crossed = 0;
        p->crossing = true;
    }

    // along this face
    fibre_place(p->ground->mesh, p->ground->position, a, x, NULL);
    fibre_place(p->ground->mesh, p->ground->position, c, y, NULL);
    p->crossed += pl_distance3(x, y);
    p->last = *c;
    path_point(p, c);
}

// A short path, u from 0 to 1: the point on the surface, or none.
typedef bool (*path_at)(fibre_path *p, const void *path, double u, pl_fibre_point *out);

// A piece of a path off the surface, after its last point.
static void path_miss(fibre_path *p, double length)
{
    if (p->missed == 0 && p->fibre->point_count > 0) {
        fibre_place(p->ground->mesh, p->ground->position, &p->fibre->point[p->fibre->point_count - 1],
                    p->miss, NULL);
    }

    p->missed += length;
}

// Along a short path of the given length, divided where it passes from face to face or leaves the surface.
static void path_walk(fibre_path *p, path_at at, const void *path, double length)
{
    pl_fibre_point a, c, end;
    double u = 0;
    bool on = at(p, path, 0, &a);
    const bool on_end = at(p, path, 1, &end);

    for (int round = 0; round < FIBRE_CROSSINGS && u < 1 && !p->failed && !p->too_long; ++round) {
        // off the surface: the piece ends
        if (!on) {
            path_break(p);
        }

        // the rest lies on one face, or entirely off the surface
        if (on == on_end && (!on || a.face == end.face)) {
            if (on) {
                path_go(p, &a, &end);
            } else {
                path_miss(p, (1 - u) * length);
            }
            return;
        }

        // otherwise the place where the face ends, by bisection
        double low = u, high = 1;
        pl_fibre_point last = a;
        for (int k = 0; k < FIBRE_HALVINGS; ++k) {
            const double middle = 0.5 * (low + high);
            const bool hit = at(p, path, middle, &c);
            if (hit == on && (!on || c.face == a.face)) {
                low = middle;
                last = c;
            } else {
                high = middle;
            }
        }

        // up to there, then on from just beyond it
        if (on && low > u) {
            path_go(p, &a, &last);
        }
        if (!on) {
            path_miss(p, (high - u) * length);
        }
        u = high;
        on = at(p, path, u, &a);
    }
}

// ---- about an axis
typedef struct fibre_axis {
    double e[3][3];   // two directions across, and the axis
    double low, high; // mm along the axis
    double radius;    // mm: mean distance of the surface from it
} fibre_axis;

// Directions, extent and mean radius of the surface about the axis. e0 is across the axis and the unit vector
// least parallel to it, so it never vanishes.
static void axis_init(fibre_axis *a, const fibre_path *p)
{
    const pl_fibre_def *def = p->def;
    const double l = pl_norm3(def->axis);
    int least = 0;

    for (int i = 0; i < 3; ++i) {
        a->e[2][i] = def->axis[i] / l;
        least = fabs(def->axis[i]) < fabs(def->axis[least]) ? i : least;
    }

    double other[3] = {0};
    other[least] = 1;
    pl_cross3(other, a->e[2], a->e[0]);
    const double n = pl_norm3(a->e[0]);
    for (int i = 0; i < 3; ++i) {
        a->e[0][i] /= n;
    }
    pl_cross3(a->e[2], a->e[0], a->e[1]);

    // extent along the axis and mean radius
    a->low = INFINITY;
    a->high = -INFINITY;
    a->radius = 0;

    for (int32_t k = 0; k < 3 * p->ground->count; ++k) {
        double d[3];
        pl_sub3(p->ground->corner + 3 * (int64_t)k, def->about, d);
        const double s = pl_dot3(d, a->e[2]);
        a->low = fmin(a->low, s);
        a->high = fmax(a->high, s);
        a->radius += hypot(pl_dot3(d, a->e[0]), pl_dot3(d, a->e[1])) / (3 * p->ground->count);
    }

    // the very rim belongs to the surface, but a ray along it may miss
    const double inset = 1e-6 * (a->high - a->low);
    if (def->has_range &&
        (def->range[0] < a->low - p->ground->edge || def->range[1] > a->high + p->ground->edge)) {
        ROBOT_FIND(
            p->b, PL_WARNING, def->line,
            "fibre '%s' leaves the surface: its range along the axis is %.4g to %.4g mm, the surface lies "
            "between %.4g and %.4g mm",
            def->name, def->range[0], def->range[1], pl_tidy(a->low), pl_tidy(a->high));
    }

    a->low = def->has_range ? fmax(def->range[0], a->low + inset) : a->low + inset;
    a->high = def->has_range ? fmin(def->range[1], a->high - inset) : a->high - inset;
}

// Where the ray at height s and angle phi meets the surface, and how far from the axis.
static bool axis_cast(const fibre_path *p, const fibre_axis *a, double s, double phi, pl_fibre_point *out,
                      double *radius)
{
    double origin[3], direction[3], x[3];
    for (int i = 0; i < 3; ++i) {
        origin[i] = p->def->about[i] + s * a->e[2][i];
        direction[i] = cos(phi) * a->e[0][i] + sin(phi) * a->e[1][i];
    }

    if (!ground_cast(p->ground, origin, direction, out)) {
        return false;
    }
    fibre_place(p->ground->mesh, p->ground->position, out, x, NULL);
    pl_sub3(x, origin, x);
    *radius = pl_norm3(x);

    return true;
}

// From (s, phi) by (ds, dphi).
typedef struct axis_path {
    const fibre_axis *axis;
    double s, phi, ds, dphi;
} axis_path;

static bool axis_at(fibre_path *p, const void *path, double u, pl_fibre_point *out)
{
    const axis_path *w = path;
    double r;
    return axis_cast(p, w->axis, w->s + u * w->ds, w->phi + u * w->dphi, out, &r);
}

// One step about the axis. `r`: distance from the axis, mm.
static void path_axis_step(fibre_path *p, const fibre_axis *a, double s, double phi, double ds, double dphi,
                           double r)
{
    const axis_path path = {a, s, phi, ds, dphi};
    path_walk(p, axis_at, &path, hypot(ds, r * dphi));
}

// phi' = dphi/ds = 2 pi / pitch, or tan(angle) / r for a constant angle to the axis; ds such that the step
// has its length on the surface of radius r.
static void path_helix(fibre_path *p, const fibre_axis *a, double start, double hand)
{
    const double step = FIBRE_STEP * p->ground->edge;
    double s = a->low, phi = start, r = a->radius;

    path_break(p);
    for (int k = 0; s < a->high - 1e-12 * fabs(a->high) && !p->failed && !p->too_long; ++k) {
        pl_fibre_point here;
        axis_cast(p, a, s, phi, &here, &r); // the last radius where it misses, first the mean one
        const double slope = p->def->pitch > 0 ? 2 * PL_PI / p->def->pitch : tan(p->def->angle) / r;
        const double ds = fmin(step / sqrt(1 + slope * slope * r * r), a->high - s);
        path_axis_step(p, a, s, phi, ds, hand * slope * ds, r);
        s += ds;
        phi += hand * slope * ds;
        p->too_long = p->too_long || k + 1 == FIBRE_STEPS_MAX;
    }
}

// Whether the windings would take too many steps, before the first is made; angles are few turns or none.
static bool axis_too_long(const fibre_axis *a, const fibre_path *p)
{
    const double turns = p->def->pitch > 0 ? (a->high - a->low) / p->def->pitch : 0;
    const double steps = fmax(12, 2 * PL_PI * a->radius / (FIBRE_STEP * p->ground->edge));
    return !(turns * steps < FIBRE_STEPS_MAX);
}

// Rings `pitch` apart, centred in the range.
static void path_rings(fibre_path *p, const fibre_axis *a)
{
    const int rings = (int)fmax(1, floor((a->high - a->low) / p->def->pitch + 0.5));
    const double gap = 0.5 * (a->high - a->low - (rings - 1) * p->def->pitch);

    for (int k = 0; k < rings; ++k) {
        const double s = a->low + fmax(gap, 0) + k * p->def->pitch;
        pl_fibre_point at;

        // the largest radius sets the number of steps around
        double r = 0, largest = 0;
        for (int i = 0; i < 12; ++i) {
            largest = axis_cast(p, a, s, 2 * PL_PI * i / 12, &at, &r) ? fmax(largest, r) : largest;
        }
        const int n = (int)fmax(12, ceil(2 * PL_PI * largest / (FIBRE_STEP * p->ground->edge)));
        path_break(p);
        for (int i = 0; i < n && !p->failed && !p->too_long; ++i) {
            path_axis_step(p, a, s, 2 * PL_PI * i / n, 0, 2 * PL_PI / n, largest);
        }
    }
}

// A part of the straight line between two points.
typedef struct line_path {
    const double *from, *to;
    double start, length; // parts of the path between them
} line_path;

// The nearest point of the surface always exists; how far it was is reported.
static bool line_at(fibre_path *p, const void *path, double u, pl_fibre_point *out)
{
    const line_path *w = path;
    const double t = w->start + u * w->length;
    double at[3];

    for (int j = 0; j < 3; ++j) {
        at[j] = (1 - t) * w->from[j] + t * w->to[j];
    }

    const double distance = ground_nearest(p->ground, at, out);
    if (distance > p->farthest) {
        p->farthest = distance;
        memcpy(p->far, at, sizeof at);
    }

    return true;
}

// Points joined by straight pieces, each divided into short steps.
static void path_line(fibre_path *p)
{
    path_break(p);
    for (int k = 0; k + 1 < p->def->point_count; ++k) {
        const double *a = p->def->point + 3 * k, *c = a + 3;
        const int n = (int)fmin(FIBRE_STEPS_MAX, ceil(pl_distance3(a, c) / (FIBRE_STEP * p->ground->edge)));
        for (int i = 0; i < n && !p->failed && !p->too_long; ++i) {
            const line_path path = {a, c, (double)i / n, 1.0 / n};
            path_walk(p, line_at, &path, pl_distance3(a, c) / n);
        }
    }
}

// Young's modulus of the body, its mean over the deformable regions by volume, times volume: N mm.
static double fibre_body(const robot_build *b)
{
    const pl_robot *robot = b->robot;
    const pl_mesh_view v = pl_mesh_get(robot->mesh);
    double sum = 0;

    for (int32_t r = 0; r < v.region_count; ++r) {
        double mu = 0, kappa = 0;
        bool rigid = robot->region_material[r] < 0;
        for (int k = 0; k < robot->rigid_count; ++k) {
            rigid = rigid || strcmp(robot->rigid[k].name, v.region_name[r]) == 0;
        }
        if (!rigid) {
            pl_material_moduli(&robot->material[robot->region_material[r]], &mu, &kappa);
            sum += 3 * mu * pl_mesh_region_volume(robot->mesh, r);
        }
    }

    return sum;
}

void robot_fibre_clear(pl_fibre *f)
{
    pl_free(f->name);
    pl_free(f->step);
    pl_free(f->point);
    pl_free(f->piece);
}

// Draws the fibre on its faces and reports where it leaves them.
static pl_status fibre_build(robot_build *b, const pl_fibre_def *def, pl_fibre *f)
{
    char what[100];
    snprintf(what, sizeof what, "fibre '%.60s'", def->name);
    fibre_ground g = {0};
    pl_status status =
        robot_layer_faces(b, what, def->surface, def->between, def->line, &g.face, &g.face_count);
    if (status != PL_OK || g.face_count == 0) {
        pl_free(g.face);
        return status;
    }

    // draw by kind
    status = ground_init(&g, b);
    fibre_path p = {.b = b, .def = def, .fibre = f, .ground = &g};
    if (status == PL_OK && def->kind == PL_FIBRE_LINE) {
        path_line(&p);
    } else if (status == PL_OK) {
        fibre_axis axis;
        axis_init(&axis, &p);
        p.too_long = axis_too_long(&axis, &p);
        const int starts = def->starts > 0 ? def->starts : 1;

        for (int k = 0; k < starts && def->kind == PL_FIBRE_HELIX; ++k) {
            for (int h = 0; h < 2; ++h) {
                if (def->hand == PL_HAND_BOTH || (int)def->hand == h) {
                    path_helix(&p, &axis, 2 * PL_PI * k / starts, h == 0 ? 1 : -1);
                }
            }
        }

        if (def->kind == PL_FIBRE_RINGS && !p.too_long) {
            path_rings(&p, &axis);
        }
    }

    path_break(&p);
    if (status == PL_OK && !p.failed && f->piece) {
        f->piece[f->piece_count] = f->point_count;
    }

    // what went wrong, or is noteworthy
    if (p.failed) {
        status = robot_memory(b);
    } else if (p.too_long) {
        ROBOT_DEFECT(b, def->line, "%s has more than %d steps of %.3g mm: is the pitch right?", what,
                     FIBRE_STEPS_MAX, FIBRE_STEP * g.edge);
    } else if (status == PL_OK && !(f->length > 0)) {
        ROBOT_DEFECT(b, def->line, "%s does not meet the %s", what,
                     def->surface ? "surface" : "faces between its regions");
        pl_findings_advise(b->findings,
                           def->kind == PL_FIBRE_LINE
                               ? "give points on the surface"
                               : "the axis must lie inside: rays from it have to meet the surface");
    } else if (status == PL_OK && p.farthest > 0.5 * g.edge) {
        ROBOT_FIND(
            b, PL_WARNING, def->line,
            "%s leaves the surface by up to %.3g mm near (%.4g, %.4g, %.4g) and was projected onto it; "
            "expected points on the surface",
            what, p.farthest, pl_tidy(p.far[0]), pl_tidy(p.far[1]), pl_tidy(p.far[2]));
        pl_findings_place(b->findings, p.far, NULL, 0);
    } else if (status == PL_OK && p.missed > FIBRE_STEP * g.edge) {
        ROBOT_FIND(
            b, PL_NOTE, def->line,
            "%s leaves the surface over %.3g mm beside %.4g mm on it, first near (%.4g, %.4g, %.4g); it "
            "ends there and goes on where it meets the surface again",
            what, p.missed, f->length, pl_tidy(p.miss[0]), pl_tidy(p.miss[1]), pl_tidy(p.miss[2]));
        pl_findings_advise(b->findings,
                           "correct at holes and in half or quarter models; otherwise check `axis`, "
                           "`about` and `range`");
        pl_findings_place(b->findings, p.miss, NULL, 0);
    }

    if (status == PL_OK && f->length > 0 && def->young > 0) {
        robot_thin_modulus(b, what, def->line, def->young, g.face, g.face_count);
    }
    ground_clear(&g);

    return status;
}

// An inextensible fibre is FIBRE_INEXTENSIBLE times stiffer than the body along it, k = 1e4 E V / L (N), so
// that it stretches by less than 1e-4 of what the body would.
pl_status robot_fibres(robot_build *b)
{
    pl_robot *robot = b->robot;
    robot->fibre = PL_NEW_ARRAY(pl_fibre, b->def->fibre_count);
    if (!robot->fibre) {
        return robot_memory(b);
    }

    for (int i = 0; i < b->def->fibre_count; ++i) {
        const pl_fibre_def *def = &b->def->fibre[i];
        pl_fibre *f = &robot->fibre[robot->fibre_count++];
        *f = (pl_fibre){.name = pl_strdup(def->name),
                        .tension_only = def->tension_only,
                        .parallel = def->kind == PL_FIBRE_RINGS,
                        .prestretch = def->prestretch > 0 ? def->prestretch : 1,
                        .inextensible = def->stiffness == 0};
        const pl_status status = f->name ? fibre_build(b, def, f) : robot_memory(b);
        if (status != PL_OK) {
            return status;
        }
        f->stiffness = f->inextensible && f->length > 0 ? FIBRE_INEXTENSIBLE * fibre_body(b) / f->length
                                                        : def->stiffness;
    }

    return PL_OK;
}

// ---- contents
int pl_robot_fibre_count(const pl_robot *robot)
{
    return robot->fibre_count;
}

pl_fibre_info pl_robot_fibre(const pl_robot *robot, int i)
{
    if (i < 0 || i >= robot->fibre_count) {
        return (pl_fibre_info){0};
    }

    const pl_fibre *f = &robot->fibre[i];
    return (pl_fibre_info){.name = f->name,
                           .length = f->length,
                           .stiffness = f->stiffness,
                           .inextensible = f->inextensible,
                           .tension_only = f->tension_only,
                           .piece_count = f->piece_count,
                           .prestretch = f->prestretch};
}

// Points of a piece for vertex positions `position`; returns their number, of
// which at most `room` are written.
int pl_robot_fibre_line(const pl_robot *robot, int i, int piece, const double *position, double *point,
                        int room)
{
    if (i < 0 || i >= robot->fibre_count || piece < 0 || piece >= robot->fibre[i].piece_count) {
        return 0;
    }

    const pl_fibre *f = &robot->fibre[i];
    const int first = f->piece[piece], count = f->piece[piece + 1] - first;
    for (int k = 0; k < count && k < room; ++k) {
        fibre_place(robot->mesh, position, &f->point[first + k], point + 3 * k, NULL);
    }

    return count;
}
