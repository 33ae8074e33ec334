// Pressure on an open surface whose rim can move. Its force f_a = -p int N_a n dA has no potential: closing
// the surface by caps over its rims gives one, h, whose gradient also carries the pressure on the caps. What
// is too much,
//   r(x) = p (f/p - dh/dx),   on the nodes of the rims only,
// is added to the dead loads and brought up to date when an equilibrium is found, so an increment is solved
// with a potential. At the end of the path it follows the shape (pl_follow_mode), and Newton's method finds
// the equilibrium with the force itself. r is quadratic in x, so its change along dx is C dx = (r(x + dx) -
// r(x - dx)) / 2 exactly.
#include "problem/term_loads.h"

void follower_add(const surface_load *load, const double *x, double scale, double *out)
{
    pl_functional_press(&load->h, x, -scale, out);
    pl_functional_gradient(&load->h, x, -scale, out);
}

void follower_update(loads_term *l, const pl_problem *p, const double *x)
{
    if (!l->has_open) {
        return;
    }
    memcpy(l->dead, l->dead_still, pl_problem_full_bytes(p));
    for (int i = 0; i < l->count; ++i) {
        if (l->load[i].open) {
            follower_add(&l->load[i], x, l->load[i].factor, l->dead);
        }
    }
}

bool follower_follow(void *self, pl_problem *p, pl_follow_mode how)
{
    loads_term *l = self;

    if (l->has_open && how == PL_FOLLOW_SHAPE) {
        memcpy(l->dead_kept, l->dead, pl_problem_full_bytes(p));
    } else if (l->has_open && how == PL_FOLLOW_BACK) {
        memcpy(l->dead, l->dead_kept, pl_problem_full_bytes(p));
    }

    l->follows = l->has_open && how == PL_FOLLOW_SHAPE;

    return l->has_open;
}

// full += load C dx. The step is made of the robot's size first: the formula is exact for any, and rounding
// is least for that.
bool follower_lag(const void *self, pl_problem *p, const double *x, const double *dx, double *full)
{
    const loads_term *l = self;
    if (!l->has_open || !full) {
        return l->has_open;
    }

    const int64_t n = 3 * (int64_t)p->mesh.vertex_count;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *moved = pl_problem_take_full(p), largest = 0;
    for (int64_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(dx[i]));
    }

    const double t = largest > 0 ? p->size / largest : 0;
    for (int side = -1; side <= 1 && t > 0; side += 2) {
        for (int64_t i = 0; i < n; ++i) {
            moved[i] = x[i] + side * t * dx[i];
        }
        for (int i = 0; i < l->count; ++i) {
            if (l->load[i].open) {
                follower_add(&l->load[i], moved, 0.5 * side / t * l->load[i].factor * p->load, full);
            }
        }
    }

    pl_arena_end(&p->scratch, mark);

    return true;
}

// Closes the surface of `load` when its rim can move: caps over the rims, in the order of the faces.
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

pl_status follower_create(loads_term *l, const pl_problem *p, surface_load *load, pl_error *err)
{
    const pl_surface_pressure *given = &p->robot->pressure[load->pressure];
    const pl_unknowns *u = &p->unknowns;
    pl_status status =
        pl_functional_add_volume_faces(&load->h, p->robot->mesh, given->face, given->face_count);
    pl_rims rims = {0};

    if (status == PL_OK) {
        status = pl_mesh_rims(p->robot->mesh, given->face, given->face_count, &rims, err);
    }

    for (int32_t j = 0; status == PL_OK && rims.count > 0 && j < rims.start[rims.count]; ++j) {
        for (int k = 0; k < 6; ++k) {
            const int32_t v = k < 3 ? rims.corner[j] : rims.mid[j];
            load->open = load->open || (v >= 0 && (u->dof[3 * v + k % 3] >= 0 || u->rigid_of[v] >= 0));
        }
    }

    if (status == PL_OK && load->open) {
        l->has_open = true;
        status = follower_caps(&load->h, &rims);
    }

    pl_rims_clear(&rims);

    return status == PL_NO_MEMORY ? pl_fail_memory(err, "problem: pressures") : status;
}
