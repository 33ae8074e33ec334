// A last look at a state in contact: whether an obstacle overlaps the body, between the points of contact
// too, and whether a free body is held as Coulomb's law says.
//
// The pressure of a contact acts along the common normal of both surfaces. Next to an edge of the obstacle
// the signed distance of a point of the body has the normal of the obstacle's side, although the face below
// it looks up: such a point catches the body. What it carries that way is the part of its force outside of
// the cone of normals that the body has there,
//   c = sum_k a_k p_k (-n_k - m_k),   m_k: the direction nearest to -n_k in the cone.
#include "problem/term_contact.h"

#define CONTACT_CAUGHT 0.03 // of the limit of friction: accepted error of Coulomb's law
#define CONTACT_COARSE                                                                                       \
    0.5 // of the edge: obstacles of a smaller half width are not resolved (build/contact_small)
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

// An obstacle that presses mostly with its features on faces that are wide compared with it.
static void examine_coarse(contact_term *t, int o, const double *x, pl_contact_fault *fault)
{
    const double width = pl_shape_thickness(&t->c->obstacle[o].shape);
    double total = 0, feet = 0, edge = 0;
    contact_find_feet(t, x, t->offset);
    CONTACT_EACH(t, o, k)
    {
        contact_touch touch;
        if (contact_touch_at(t, o, k, x, false, &touch)) {
            const double f = t->area[k] * touch.pressure;
            total += f;
            feet += k < t->points ? 0 : f;
            edge += k < t->points ? 0 : f * t->s->edge[t->foot[k - t->points].face];
        }
    }
    if (feet > 0.5 * total && width < CONTACT_COARSE * edge / feet &&
        (!fault->coarse || width < fault->coarse_width)) {
        fault->coarse = t->c->obstacle[o].name;
        fault->coarse_edge = edge / feet;
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
        examine_coarse(t, o, x, fault);
        if (t->c->obstacle[o].free) {
            examine_free(t, o, x, fault);
        }
    }
}
