// Limits of friction that follow the pressures. A point that friction holds has the limit mu p(x) at every
// evaluation; points that come into contact take hold between two steps of the iteration. The change of the
// limit for a motion,
//   dp = -e n . delta,   df = mu (a dp + p da) s,   s the direction of the traction, where the point slips,
// is the part of the tangent that is not symmetric; the area a of a foot changes with its share. What the
// shares add to the symmetric part is taken here too: it couples nodes that have no entry in the factor.
#include "problem/term_contact.h"

bool contact_follow(void *self, pl_problem *p, pl_follow_mode how)
{
    contact_term *t = self;
    const int64_t count = contact_rough_numbers(t);

    (void)p;
    if (how == PL_FOLLOW_SHAPE) {
        memcpy(t->kept_limit, t->now.limit, (size_t)count * sizeof *t->kept_limit);
        for (int64_t i = 0; i < count; ++i) {
            t->gripped[i] = t->now.limit[i] > 0;
        }
    } else if (how == PL_FOLLOW_BACK) {
        memcpy(t->now.limit, t->kept_limit, (size_t)count * sizeof *t->kept_limit);
        // feet that took hold in between let go
        for (int32_t i = 0; count > 0 && i < t->slots; ++i) {
            double *kept = t->now.foot + CONTACT_FOOT * (int64_t)i;
            const int64_t at = count - t->slots + i;
            if (t->gripped[at] && !(t->now.limit[at] > 0)) {
                memset(kept, 0, CONTACT_FOOT * sizeof *kept);
            }
        }
        t->feet_found = false;
    }

    t->follows_pressure = how == PL_FOLLOW_SHAPE && count > 0;

    return count > 0;
}

bool contact_take_hold(void *self, pl_problem *p, const double *x)
{
    contact_term *t = self;
    bool any = false;

    (void)p;
    if (!t->follows_pressure) {
        return false;
    }
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            const int64_t at = contact_rough_at(t, o, k);
            contact_touch touch;
            if (!(t->c->obstacle[o].friction > 0) || t->gripped[at] ||
                !contact_touch_at(t, o, k, x, false, &touch)) {
                continue;
            }
            contact_anchor(t, o, k, x, touch.gap, t->now.place + 3 * at);
            memset(t->now.traction + 3 * at, 0, 3 * sizeof *t->now.traction);
            if (k >= t->points) {
                contact_remember_foot(t, o, k, x);
            }
            t->now.limit[at] = touch.pressure;
            t->gripped[at] = any = true;
        }
    }

    any = contact_pairs_take_hold(t, x) || any;
    t->feet_found = t->feet_found && !any;

    return any;
}

void contact_follow_pressure(contact_term *t, int o, int32_t k, double pressure)
{
    if (!(t->c->obstacle[o].friction > 0)) {
        return;
    }

    const int64_t at = contact_rough_at(t, o, k);
    const double area = contact_rough_area(t, k);
    if (t->gripped[at]) {
        t->now.limit[at] = area > 0 ? pressure * t->area[k] / area : 0;
    }
}

void contact_nonsymmetric(const void *self, pl_problem *p, const double *x, const double *dx, double *full)
{
    contact_term *t = (contact_term *)self; // keeps the feet
    (void)p;
    if (!t->follows_pressure) {
        return;
    }
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        const double mu = t->c->obstacle[o].friction;
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            double traction[3], motion[3];
            bool stick;
            if (k >= t->points) {
                contact_share_nonsymmetric(t, o, k, x, dx, full);
            }
            if (!(mu > 0) || !(contact_limit(t, o, k) > 0) || !contact_touch_at(t, o, k, x, false, &touch)) {
                continue;
            }
            contact_friction(t, o, k, x, traction, &stick, NULL);
            const double size = pl_norm3(traction);
            if (stick || !(size > 0)) {
                continue;
            }
            contact_relative(t, o, k, false, x, dx, motion);
            const double dp = -t->stiffness[k] * pl_dot3(touch.n, motion);
            const double da = k < t->points ? 0 : t->whole_area * contact_share_change(t, o, k, x, dx);
            contact_spread(t, o, k, true, x, -mu * (t->area[k] * dp + touch.pressure * da) / size, traction,
                           full);
        }
    }
    contact_pairs_nonsymmetric(t, x, dx, full);
}

// ---- steps
// Of an obstacle at x: the force of friction; returns the sum of the sizes of its parts, N.
static double friction_force(contact_term *t, int o, const double *x, double force[3])
{
    double size = 0;
    memset(force, 0, 3 * sizeof *force);
    contact_find_feet(t, x, t->offset);
    CONTACT_EACH(t, o, k)
    {
        double traction[3];
        bool stick;
        if (!(contact_limit(t, o, k) > 0)) {
            continue;
        }
        const double area = contact_rough_area(t, k);
        contact_friction(t, o, k, x, traction, &stick, NULL);
        size += area * pl_norm3(traction);
        for (int i = 0; i < 3; ++i) {
            force[i] += area * traction[i];
        }
    }

    return size;
}

static void friction_exchange(double *a, double *b, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        const double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

double contact_retrace(void *self, pl_problem *p, pl_retrace what, double *x)
{
    contact_term *t = self;
    const size_t bytes = pl_problem_full_bytes(p), offsets = 6 * (size_t)t->obstacles * sizeof *t->offset,
                 numbers = (size_t)t->numbers * sizeof *t->block;
    double value = 0;

    if (!t->c->friction) {
        return 0;
    }

    switch (what) {
    case PL_RETRACE_MARK:
        memcpy(t->marked, t->block, numbers);
        memcpy(t->marked_x, x, bytes);
        memcpy(t->marked_offset, t->settled_offset, offsets);
        break;
    case PL_RETRACE_FORCES:
        for (int o = 0; o < t->obstacles; ++o) {
            value = fmax(value, friction_force(t, o, x, t->marked_force + 3 * o));
        }
        value = fmax(value, contact_pairs_rub_force(t, x, t->marked_rub, false));
        break;
    case PL_RETRACE_EXCHANGE: // all but the multipliers
        friction_exchange(t->now.traction, t->marked + (t->now.traction - t->block),
                          t->numbers - (t->now.traction - t->block));
        friction_exchange(t->settled_x, t->marked_x, (int64_t)(bytes / sizeof *x));
        friction_exchange(t->settled_offset, t->marked_offset, 6 * t->obstacles);
        break;
    case PL_RETRACE_COMPARE:
        for (int o = 0; o < t->obstacles; ++o) {
            double force[3];
            friction_force(t, o, x, force);
            value = fmax(value, pl_distance3(force, t->marked_force + 3 * o));
        }
        value = fmax(value, contact_pairs_rub_force(t, x, t->marked_rub, true));
        break;
    case PL_RETRACE_BACK:
        memcpy(t->block, t->marked, numbers);
        memcpy(x, t->marked_x, bytes);
        memcpy(t->settled_x, t->marked_x, bytes);
        memcpy(t->settled_offset, t->marked_offset, offsets);
        if (t->pairs) {
            pl_contact_remember(t->finder, x);
        }
        break;
    }

    t->feet_found = false;

    return value;
}

// Without friction pressures are where the next attempt begins, and remember nothing.
int64_t contact_save(const void *self, double *out)
{
    const contact_term *t = self;
    const int64_t count = t->c->friction ? t->numbers : 0;
    if (out) {
        memcpy(out, t->block, (size_t)count * sizeof *out);
    }
    return count;
}

void contact_revert(void *self, pl_problem *p, const double *saved)
{
    contact_term *t = self;
    (void)p;
    memcpy(t->block, saved, (size_t)contact_save(t, NULL) * sizeof *saved);
    t->feet_found = false;
}
