// Pressure on an open surface whose rim can move. Its force f_a = -p int N_a n dA has no potential: closing
// the surface by caps over its rims gives one, h, whose gradient also carries the pressure on the caps. What
// is too much,
//   r(x) = p (f/p - dh/dx),   on the nodes of the rims only,
// is added to the dead loads and brought up to date when an equilibrium is found, until it no longer changes:
// each round solves a problem with a potential, and the end is the equilibrium with the force itself. r is
// quadratic in x, so its change along dx is C dx = (r(x + dx) - r(x - dx)) / 2 exactly.
#include "statics/statics_impl.h"

void statics_follower_add(const load_term *term, const double *x, double scale, double *out)
{
    pl_functional_press(&term->h, x, -scale, out);
    pl_functional_gradient(&term->h, x, -scale, out);
}

void statics_follow(pl_statics *s, const double *x)
{
    if (!s->has_open) {
        return;
    }
    memcpy(s->dead, s->dead_still, 3 * (size_t)s->mesh.vertex_count * sizeof *s->dead);
    for (int i = 0; i < s->load_term_count; ++i) {
        if (s->load_term[i].open) {
            statics_follower_add(&s->load_term[i], x, s->load_term[i].factor, s->dead);
        }
    }
}

// The step is made of the robot's size first: the formula is exact for any, and rounding is least for that.
void statics_follow_change(pl_statics *s, const double *x, const double *dx, double *out)
{
    const int64_t n = 3 * (int64_t)s->mesh.vertex_count;
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(dx[i]));
    }
    memset(out, 0, (size_t)n * sizeof *out);
    const double t = largest > 0 ? s->size / largest : 0;
    for (int side = -1; side <= 1 && t > 0; side += 2) {
        for (int64_t i = 0; i < n; ++i) {
            s->x_best[i] = x[i] + side * t * dx[i];
        }
        for (int i = 0; i < s->load_term_count; ++i) {
            if (s->load_term[i].open) {
                statics_follower_add(&s->load_term[i], s->x_best, 0.5 * side / t * s->load_term[i].factor,
                                     out);
            }
        }
    }
}

// Closes the surface of `term` when its rim can move: caps over the rims, in the order of the faces.
static pl_status follower_caps(pl_functional *h, const pl_rims *rims)
{
    pl_status status = PL_OK;
    for (int32_t r = 0; status == PL_OK && r < rims->count; ++r) {
        const int32_t first = rims->start[r], n = rims->start[r + 1] - first;
        bool quadratic = true;
        for (int32_t k = 0; k < n; ++k) {
            quadratic = quadratic && rims->mid[first + k] >= 0;
        }
        const int per = quadratic ? 2 : 1;
        int32_t *node = PL_NEW_ARRAY(int32_t, (int64_t)n * per);
        if (!node) {
            return PL_NO_MEMORY;
        }
        for (int32_t k = 0; k < n; ++k) {
            // corner 0, then back along the edge from the last corner to it, and so on
            node[per * k] = rims->corner[first + (k == 0 ? 0 : n - k)];
            if (quadratic) {
                node[2 * k + 1] = rims->mid[first + n - 1 - k];
            }
        }
        status = pl_functional_add_rim(h, node, n * per, quadratic, NULL);
        pl_free(node);
    }
    return status;
}

pl_status statics_pressure_create(pl_statics *s, load_term *term, pl_error *err)
{
    const pl_surface_pressure *p = &s->robot->pressure[term->pressure];
    pl_status status = pl_functional_add_volume_faces(&term->h, s->robot->mesh, p->face, p->face_count);
    pl_rims rims = {0};
    if (status == PL_OK) {
        status = pl_mesh_rims(s->robot->mesh, p->face, p->face_count, &rims, err);
    }
    for (int32_t j = 0; status == PL_OK && rims.count > 0 && j < rims.start[rims.count]; ++j) {
        for (int k = 0; k < 6; ++k) {
            const int32_t v = k < 3 ? rims.corner[j] : rims.mid[j];
            term->open = term->open || (v >= 0 && (s->dof[3 * v + k % 3] >= 0 || s->rigid_of[v] >= 0));
        }
    }
    if (status == PL_OK && term->open) {
        s->has_open = true;
        status = follower_caps(&term->h, &rims);
    }
    pl_rims_clear(&rims);
    return status == PL_NO_MEMORY ? pl_fail_memory(err, "statics: pressures") : status;
}

// Reactions feel the force itself: the potential of an open surface, capped or held, has more along the rim.
void statics_pressure_correct(pl_statics *s, const double *x, double load, double *gradient)
{
    for (int i = 0; i < s->load_term_count; ++i) {
        if (s->load_term[i].pressure >= 0) {
            statics_follower_add(&s->load_term[i], x, -load * s->load_term[i].factor, gradient);
        }
    }
}
