// Tendons of a part of the user's own: narrow holes through the body, and, where there is none, an example of
// a tendon that runs in the material of this very part.
#include "meshing/meshing_guess.h"

#define GUESS_CHANNEL 0.04 // of the body's length: radius of the widest hole taken for a tendon's
#define GUESS_DEPTH 0.25   // of the material on a line across the body: how deep an example's guide lies

// Whether a channel ends in the open: nothing lies straight ahead of one of its ends for three radii. Both
// ends of a slender closed chamber have a lid.
static bool guess_channel_opens(const guess *g, const pl_channel *h)
{
    for (int end = 0; end < 2; ++end) {
        const double *last = h->point[end ? h->point_count - 1 : 0],
                     *before = h->point[end ? h->point_count - 2 : 1];
        double d[3], from[3], t;
        pl_sub3(last, before, d);
        const double length = pl_norm3(d);
        for (int i = 0; i < 3; ++i) {
            d[i] /= length > 0 ? length : 1;
            from[i] = last[i] - 0.5 * fmin(h->radius, length) * d[i];
        }
        if (pl_trisurf_tree_cast(&g->tree, from, d, 0, &t) < 0 || t > 3 * h->radius) {
            return true;
        }
    }
    return false;
}

// Whether a channel leads into a chamber: beyond one of its mouths lies an enclosed place. Such a hole is an
// air inlet or a duct between chambers, and no tendon runs in it. Beyond the mouths of a tendon's hole lies
// the outside, or a notch.
static bool guess_channel_feeds(const guess *g, const pl_channel *h)
{
    for (int end = 0; end < 2; ++end) {
        const double *last = h->point[end ? h->point_count - 1 : 0],
                     *first = h->point[end ? 0 : h->point_count - 1];
        double d[3], beyond[3], clearance;
        pl_sub3(last, first, d);
        const double length = pl_norm3(d);
        for (int i = 0; i < 3; ++i) {
            beyond[i] = last[i] + 1.5 * h->radius * d[i] / (length > 0 ? length : 1);
        }
        if (guess_enclosed(g, beyond, &clearance) >= GUESS_ENCLOSED) {
            return true;
        }
    }
    return false;
}

// Whether b goes on where a ends: alike in radius, in line with it, with a gap (a notch) shorter than both.
static bool guess_channel_follows(const pl_channel *a, const pl_channel *b)
{
    const double *end = a->point[a->point_count - 1], *start = b->point[0];
    double along[3], gap[3], on[3];

    pl_sub3(end, a->point[0], along);
    pl_sub3(start, end, gap);
    pl_sub3(b->point[b->point_count - 1], start, on);
    const double wide = pl_norm3(gap), length = fmin(pl_norm3(along), pl_norm3(on));

    return fabs(a->radius - b->radius) < 0.2 * a->radius && wide > 0 && wide < length &&
           pl_dot3(along, gap) > 0.98 * wide * pl_norm3(along) &&
           pl_dot3(on, gap) > 0.98 * wide * pl_norm3(on);
}

// Adds a piece behind: of joined channels only the ends of the pieces are kept.
static void guess_append(pl_channel *h, const pl_channel *next, int pieces)
{
    if (pieces == 1) {
        memmove(h->point[1], h->point[h->point_count - 1], sizeof h->point[1]);
        h->point_count = 2;
    }

    h->length += next->length + pl_distance3(h->point[h->point_count - 1], next->point[0]);
    memcpy(h->point[h->point_count++], next->point[0], sizeof h->point[0]);
    memcpy(h->point[h->point_count++], next->point[next->point_count - 1], sizeof h->point[0]);
}

// Place of a channel's start along the axis.
static double guess_start(const guess *g, int c)
{
    return pl_dot3(g->channel[c].point[0], g->axis);
}

// Pieces of one hole that notches cut are one channel.
static void guess_join_channels(guess *g)
{
    for (int a = 1; a < g->channel_count; ++a) { // in the order along the axis
        for (int b = a; b > 0 && guess_start(g, b) < guess_start(g, b - 1); --b) {
            const pl_channel keep = g->channel[b];
            g->channel[b] = g->channel[b - 1];
            g->channel[b - 1] = keep;
        }
    }

    // each channel takes all pieces that follow it, one after the other
    for (int a = 0; a < g->channel_count; ++a) {
        int pieces = 1;
        for (int b = a + 1; b < g->channel_count; ++b) {
            pl_channel *h = &g->channel[a];
            if ((pieces == 1 ? 2 : h->point_count) + 2 > PL_CHANNEL_POINTS ||
                !guess_channel_follows(h, &g->channel[b])) {
                continue;
            }
            guess_append(h, &g->channel[b], pieces++);
            --g->channel_count;
            memmove(&g->channel[b], &g->channel[b + 1], (size_t)(g->channel_count - b) * sizeof *g->channel);
            --b;
        }
    }
}

// A tendon runs from base to tip: holes whose ends lie farther apart across that direction than along it are
// for screws or pins. They go behind the others.
static void guess_cross(guess *g)
{
    double along[3];
    pl_sub3(g->tip, g->base, along);
    const double length = pl_norm3(along);
    for (int c = g->channel_count; c-- > 0 && length > 0;) {
        const pl_channel h = g->channel[c];
        double d[3];
        pl_sub3(h.point[h.point_count - 1], h.point[0], d);
        if (pl_dot3(d, d) > 2 * pl_dot3(d, along) * pl_dot3(d, along) / (length * length)) {
            --g->channel_count;
            memmove(&g->channel[c], &g->channel[c + 1],
                    (size_t)(g->channel_count + g->crossing_count - c) * sizeof *g->channel);
            ++g->crossing_count;
            g->channel[g->channel_count + g->crossing_count - 1] = h;
        }
    }
}

// Holes through the body, each turned to run from the base.
pl_status guess_channels(guess *g, pl_error *err)
{
    const int count = pl_trisurf_channels(g->surface, g->channel, PL_GUESS_CAVITIES, err);

    // a wider one is a chamber without its lids
    for (int c = 0; c < count; ++c) {
        if (g->channel[c].radius < GUESS_CHANNEL * g->length && guess_channel_opens(g, &g->channel[c])) {
            g->channel[g->channel_count++] = g->channel[c];
        }
    }

    // run from the base
    for (int c = 0; c < g->channel_count; ++c) {
        pl_channel *h = &g->channel[c];
        double d[3];
        pl_sub3(h->point[h->point_count - 1], h->point[0], d);
        for (int k = 0; pl_dot3(d, g->axis) < 0 && k < h->point_count / 2; ++k) {
            double keep[3];
            memcpy(keep, h->point[k], sizeof keep);
            memcpy(h->point[k], h->point[h->point_count - 1 - k], sizeof keep);
            memcpy(h->point[h->point_count - 1 - k], keep, sizeof keep);
        }
    }

    guess_join_channels(g);

    // what leads into a chamber is no tendon's; judged of whole holes, which may cross pockets
    int kept = 0;
    for (int c = 0; c < g->channel_count; ++c) {
        if (!guess_channel_feeds(g, &g->channel[c])) {
            g->channel[kept++] = g->channel[c];
        }
    }

    g->channel_count = kept;
    guess_cross(g);

    return count < 0 ? PL_NO_MEMORY : PL_OK;
}

// Whether an eye looks around inside of a channel.
bool guess_in_channel(const guess *g, const double x[3])
{
    for (int c = 0; c < g->channel_count + g->crossing_count; ++c) {
        const pl_channel *h = &g->channel[c];
        for (int k = 0; k + 1 < h->point_count; ++k) {
            double d[3], r[3], at[3];
            pl_sub3(h->point[k + 1], h->point[k], d);
            pl_sub3(x, h->point[k], r);
            const double t = fmax(0, fmin(1, pl_dot3(r, d) / fmax(pl_dot3(d, d), 1e-300)));
            for (int i = 0; i < 3; ++i) {
                at[i] = h->point[k][i] + t * d[i];
            }
            if (pl_distance3(at, x) < 1.1 * h->radius) {
                return true;
            }
        }
    }
    return false;
}

// ---- an example
// The outermost material on a ray from inside of the body outwards: how far away its outer face is, and how
// thick it is. A ray that starts in the material has passed a part of it already.
static double guess_outer_material(const guess *g, const double from[3], const double d[3], double *thick)
{
    double done = 0, entered = 0, outer = 0;
    const double step = 1e-7 * g->length;

    *thick = 0;
    for (int k = 0; k < PL_GUESS_CAVITIES; ++k) {
        double o[3], n[3], t;
        for (int i = 0; i < 3; ++i) {
            o[i] = from[i] + done * d[i];
        }
        const int32_t hit = pl_trisurf_tree_cast(&g->tree, o, d, step, &t);
        if (hit < 0) {
            break;
        }
        done += t;
        guess_normal(g->surface, hit, n);
        if (pl_dot3(n, d) < 0) {
            entered = done;
        } else {
            outer = done;
            *thick = done - entered;
        }
    }

    return outer;
}

// Guides of a tendon along one side of the body, from base to tip: at each place on the line between them,
// GUESS_DEPTH into the material on that side. Of the directions across the line, the one with the shallowest
// thinnest guide loses.
void guess_example(guess *g)
{
    double along[3], best = 0;

    pl_sub3(g->tip, g->base, along);
    const double length = pl_norm3(along);
    if (!(length > 0) || g->channel_count > 0 || g->cavity_count > 0) {
        return;
    }
    for (int i = 0; i < 3; ++i) {
        along[i] /= length;
    }

    for (int side = 0; side < 6; ++side) {
        // across the line, along an axis as far as that goes
        double d[3] = {0}, guide[GUESS_GUIDES][3], depth = INFINITY;
        d[side / 2] = side % 2 ? -1 : 1;
        const double part = pl_dot3(d, along);
        for (int i = 0; i < 3; ++i) {
            d[i] -= part * along[i];
        }
        const double norm = pl_norm3(d);
        if (norm < 0.5) {
            continue;
        }
        for (int i = 0; i < 3; ++i) {
            d[i] /= norm;
        }

        // a hundredth of the line away from its ends, where rays would run in the end faces
        for (int k = 0; k < GUESS_GUIDES && depth > 0; ++k) {
            double from[3], thick;
            const double at = (0.01 + 0.98 * k / (GUESS_GUIDES - 1)) * length;
            for (int i = 0; i < 3; ++i) {
                from[i] = g->base[i] + at * along[i];
            }
            const double outer = guess_outer_material(g, from, d, &thick);
            depth = fmin(depth, GUESS_DEPTH * thick);
            for (int i = 0; i < 3; ++i) {
                guide[k][i] = from[i] + (outer - GUESS_DEPTH * thick) * d[i];
            }
        }
        if (depth > 1.001 * best) {
            best = depth;
            memcpy(g->example, guide, sizeof guide);
            g->example_count = GUESS_GUIDES;
            g->example_radius = depth;
        }
    }
}
