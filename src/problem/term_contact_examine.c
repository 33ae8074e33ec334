// A last look at a state in contact: whether an obstacle overlaps the body, between the points of contact
// too, and whether a free body is held as Coulomb's law says.
//
// The pressure of a contact acts along the common normal of both surfaces. Next to an edge of the obstacle
// the signed distance of a point of the body has the normal of the obstacle's side, although the face below
// it looks up: such a point catches the body. What it carries in that direction is the part of its force
// outside of the cone of normals that the body has there,
//   c = sum_k a_k p_k (-n_k - m_k),   m_k: the direction nearest to -n_k in the cone.
#include "problem/term_contact.h"

#define CONTACT_CAUGHT 0.03 // of the limit of friction: accepted error of Coulomb's law

// of the edge: obstacles of a smaller half width, and footprints of a smaller one, are not resolved
// (build/contact_small)
#define CONTACT_COARSE 0.5
#define CONTACT_FOOTPRINT 0.25
#define CONTACT_CAUGHT_LOAD 0.01 // of weight and pull: the same without friction

// Mean normal of the faces around a point and the cosine of the widest of them.
static double examine_cone(const contact_term *t, int32_t k, const double *x, double mean[3])
{
    const pl_contact_surface *s = t->s;
    const int32_t v = s->vertex[k], first = v >= 0 ? s->around_start[v] : 0,
                  end = v >= 0 ? s->around_start[v + 1] : 1;
    double widest = 1;

    memset(mean, 0, 3 * sizeof *mean);
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t i = first; i < end; ++i) {
            double n[3];
            pl_contact_normal(s, v >= 0 ? s->around[i] : s->home[k], v, x, n);
            for (int j = 0; pass == 0 && j < 3; ++j) {
                mean[j] += n[j];
            }
            widest = pass == 1 ? fmin(widest, pl_dot3(n, mean)) : widest;
        }
        const double length = pl_norm3(mean);
        for (int j = 0; pass == 0 && length > 0 && j < 3; ++j) {
            mean[j] /= length;
        }
    }

    return widest;
}

// caught += f (u - m), u the direction of the force f on the obstacle
static void examine_point(const contact_term *t, int32_t k, const double *x, const double u[3], double f,
                          double caught[3])
{
    double mean[3], across[3];
    const double widest = examine_cone(t, k, x, mean), along = pl_dot3(u, mean);

    for (int i = 0; i < 3; ++i) {
        across[i] = u[i] - along * mean[i];
    }

    const double length = pl_norm3(across), sine = sqrt(fmax(0, 1 - widest * widest));
    if (along >= widest || !(length > 0)) {
        return;
    }
    for (int i = 0; i < 3; ++i) {
        caught[i] += f * (u[i] - widest * mean[i] - sine * across[i] / length);
    }
}

// A body is certainly held where friction has so much in reserve that it could carry the caught part as well.
static void examine_free(contact_term *t, int o, const double *x, pl_contact_fault *fault)
{
    const double load = t->grip[o].load;
    double caught[3] = {0}, used = 0, limit = 0;

    contact_find_feet(t, x, t->offset);
    CONTACT_EACH(t, o, k)
    {
        contact_touch touch;
        double traction[3];
        bool stick;
        if (contact_touch_at(t, o, k, x, false, &touch)) {
            const double u[3] = {-touch.n[0], -touch.n[1], -touch.n[2]}, f = t->area[k] * touch.pressure;
            if (k < t->points) { // features have normals of faces
                examine_point(t, k, x, u, f, caught);
            }
            contact_friction(t, o, k, x, traction, &stick, NULL);
            used += contact_rough_area(t, k) * pl_norm3(traction);
            limit += t->c->obstacle[o].friction * f;
        }
    }
    const double force = pl_norm3(caught), reserve = fmax(0, limit - used),
                 accepted = limit > 0 ? CONTACT_CAUGHT * limit : CONTACT_CAUGHT_LOAD * load;
    pl_log(1, "  free body '%s': wrong normals carry %.3g of %.3g N; friction %.3g of %.3g N",
           t->c->obstacle[o].name, force, load, used, limit);
    if (force > reserve + accepted && force > fault->caught_force) {
        fault->caught = t->c->obstacle[o].name;
        fault->caught_force = force;
        fault->load = load;
    }
}

// Where and how strongly an obstacle presses.
typedef struct examine_press {
    double force, feet; // N: of all points; of the obstacle's features alone
    double edge, soft;  // weighted by force: edge of the faces, mm; 1 / E*, E* = E / (1 - nu^2), 1/MPa
    double sharp;       // N: of edges, rims and vertices
    double strongest;   // N: of one point
    double at[3], n[3]; // where that is, and the normal into the body
    double side;        // N: on the round side of a cylinder
    double low, high;   // mm: the part of its axis that presses
} examine_press;

// 1 / E* of the element behind a face.
static double examine_softness(const contact_term *t, const pl_problem *p, int32_t face)
{
    double mu, kappa;
    const int32_t region = p->mesh.region[t->s->face[face] / 8];
    pl_material_moduli(&p->robot->material[p->robot->region_material[region]], &mu, &kappa);
    const double E = 9 * kappa * mu / (3 * kappa + mu), nu = (3 * kappa - 2 * mu) / (6 * kappa + 2 * mu);
    return (1 - nu * nu) / E;
}

static examine_press examine_pressing(contact_term *t, const pl_problem *p, int o, const double *x)
{
    const pl_shape *shape = &t->c->obstacle[o].shape;
    const pl_pose pose = contact_pose(t, o, x, t->offset);
    examine_press out = {.low = INFINITY, .high = -INFINITY};

    contact_find_feet(t, x, t->offset);
    CONTACT_EACH(t, o, k)
    {
        contact_touch touch;
        if (!contact_touch_at(t, o, k, x, false, &touch)) {
            continue;
        }
        const int32_t face = k < t->points ? t->s->home[k] : t->foot[k - t->points].face;
        const double f = t->area[k] * touch.pressure;
        double axis[3], at[3], y[3];
        out.force += f;
        out.feet += k < t->points ? 0 : f;
        out.sharp += k >= t->points && contact_feature(t, k)->radius == 0 ? f : 0;
        out.edge += f * t->s->edge[face];
        out.soft += f * examine_softness(t, p, face);

        // along the axis of a cylinder
        memcpy(axis, shape->frame + 6, sizeof axis);
        contact_turn(&pose, axis);
        out.side += fabs(pl_dot3(axis, touch.n)) < 0.5 ? f : 0;
        contact_position(t, k, false, x, at);
        contact_local(&pose, at, y);
        pl_sub3(y, shape->centre, y);
        if (f > out.strongest) {
            out.strongest = f;
            memcpy(out.at, at, sizeof at);
            memcpy(out.n, touch.n, sizeof out.n);
        }
        out.low = fmin(out.low, pl_dot3(shape->frame + 6, y));
        out.high = fmax(out.high, pl_dot3(shape->frame + 6, y));
    }
    if (out.force > 0) {
        out.edge /= out.force;
        out.soft /= out.force;
    }

    return out;
}

// Half width of the footprint of a round obstacle on a flat body, by Hertz,
//   ball      a = (3 F R / (4 E*))^(1/3)
//   cylinder  a = (4 F R / (pi L E*))^(1/2), L the length that presses,
// an upper bound where the body is convex; INFINITY for planes, flat sides and hollow obstacles.
static double examine_footprint(const pl_shape *shape, const examine_press *press)
{
    const double FR = press->force * shape->radius * press->soft;
    if (shape->hollow || (shape->kind == PL_SHAPE_CYLINDER && press->side < 0.5 * press->force)) {
        return INFINITY;
    }
    return shape->kind == PL_SHAPE_SPHERE ? cbrt(0.75 * FR)
           : shape->kind == PL_SHAPE_CYLINDER
               ? sqrt(4 * FR / (PL_PI * (press->high - press->low + press->edge)))
               : INFINITY;
}

// Where the ray from p along n meets the triangle abc: its length; INFINITY: nowhere.
static double examine_ray(const double p[3], const double n[3], const double a[3], const double b[3],
                          const double c[3])
{
    double u[3], v[3], d[3], q[3], r[3];
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_sub3(p, a, d);
    pl_cross3(n, v, q);
    pl_cross3(d, u, r);
    const double det = pl_dot3(u, q), s = pl_dot3(d, q) / det, w = pl_dot3(n, r) / det;

    return det != 0 && s >= 0 && w >= 0 && s + w <= 1 ? pl_dot3(v, r) / det : INFINITY;
}

// How thick the body is below the place where an obstacle presses most.
static double examine_thickness(const contact_term *t, const examine_press *press, const double *x)
{
    double least = INFINITY;
    for (int32_t f = 0; f < t->s->face_count; ++f) {
        const int32_t *node = t->s->node + PL_FACE_NODES_MAX * (size_t)f;
        const int corners = t->s->size[f] == 4 || t->s->size[f] == 8 ? 4 : 3;
        for (int k = 2; k < corners; ++k) {
            const double at = examine_ray(press->at, press->n, x + 3 * (size_t)node[0],
                                          x + 3 * (size_t)node[k - 1], x + 3 * (size_t)node[k]);
            least = at > 0.1 * press->edge ? fmin(least, at) : least;
        }
    }

    return least;
}

// Is the mesh too coarse for the contact? The footprint of a round obstacle is narrower than half an edge;
// an obstacle presses mostly with its features on faces that are wide compared with it; or with a sharp edge,
// whose dent is as wide as the body is thick, on faces wider than that.
static void examine_coarse(contact_term *t, const pl_problem *p, int o, const double *x,
                           pl_contact_fault *fault)
{
    const pl_shape *shape = &t->c->obstacle[o].shape;
    const examine_press press = examine_pressing(t, p, o, x);
    const double size = pl_shape_thickness(shape), footprint = examine_footprint(shape, &press);
    double width = INFINITY;

    if (press.feet > 0.5 * press.force && size < CONTACT_COARSE * press.edge) {
        width = size;
    }
    if (footprint < CONTACT_FOOTPRINT * press.edge) {
        width = fmin(width, footprint);
    }
    if (press.sharp > 0.5 * press.force && examine_thickness(t, &press, x) < press.edge) {
        width = 0;
    }

    if (press.force > 0 && isfinite(width) && (!fault->coarse || width < fault->coarse_width)) {
        fault->coarse = t->c->obstacle[o].name;
        fault->coarse_edge = press.edge;
        fault->coarse_width = width;
    }
}

void contact_examine(void *self, pl_problem *p, const double *x, pl_contact_fault *fault)
{
    contact_term *t = self;
    for (int o = 0; o < t->obstacles; ++o) {
        const pl_pose pose = contact_pose(t, o, x, t->offset);
        double turned[3], translation[3];
        pl_mulv3(pose.R, pose.rest, turned);
        pl_sub3(pose.centre, turned, translation);
        pl_robot_obstacle_overlap(p->robot, o, pose.R, translation, x, fault);
        examine_coarse(t, p, o, x, fault);
        if (t->c->obstacle[o].free) {
            examine_free(t, o, x, fault);
        }
    }
}
