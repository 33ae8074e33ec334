// Collision response as published (Fang et al. 2022, equations 5, 8 and 9): a vertex v of the surface that is
// inside an obstacle or another part of the body is drawn to a place c outside by a spring,
//   E = sum_v k_v ((v - c) . d)^2,
// (|v - c|^2 in the paper, which holds the vertex along the surface too: it crept for hundreds of rounds), c
// on the surface that was passed, plus a small offset eps along the path out: towards the closest point of an
// obstacle, along the inverse normal -n(v) of the vertex where the body meets itself. There c rides on the
// face that was passed, which bears the opposite force (with places fixed in space, springs of the body with
// itself held it up like supports: a finger that touched itself nowhere bent half as far). Springs are added
// while the shape is found. Once it stands, places are updated: with the pull a = (c - v) . d along d
// and the gap g of the vertex,
//   a <- a + (eps - g) / (d . n),   c = v + a d,
// so that what the spring bears is kept and the gap becomes eps; a spring that would draw inwards (a <= 0) is
// released, which is equation 8 with the pull taken into account. Nothing is inside when the pulls stand.
#include "contact/contact.h"
#include "geometric/geometric_impl.h"

#define CONTACT_REACH 0.6  // of the edge: faces of the body are looked for this far
#define CONTACT_SLANT 0.9  // least d . n of a path out along the inverse normal; else along n
#define CONTACT_STRIDE 0.5 // of the shortest edge: an obstacle goes so far at once
#define CONTACT_LEAST 0.02 // of eps: a spring that bears less is released at once
#define CONTACT_STANDS 0.3 // of eps: change of gaps below which pulls stand

// Where the other end of a spring stands: in space (face < 0), or on a face of the body, which bears as much
// in the opposite direction.
typedef struct contact_foot {
    int32_t face;
    double weight[3];
} contact_foot;

struct geo_contact {
    const pl_robot_contact *world;
    pl_contact_surface *surface; // of the corner mesh
    pl_contact_finder *finder;   // NULL: obstacles only
    double *place;               // 3 per obstacle: how far its command has moved it, on its path
    double *from, *to;           // per obstacle: its command at the start and at the end of the path
    double *own;                 // per corner vertex: k_v once it has a spring; 0: it cannot have one
    double *diagonal;            // per corner vertex: what springs add to the matrix
    double *pull;                // per corner vertex: a, mm; 0: no spring
    double *direction;           // 3 per corner vertex: d
    double *target;              // 3 per corner vertex: c, seen from its foot
    contact_foot *foot, *found;  // per corner vertex: of its spring; found last
    double *gap, *across;        // per corner vertex, found last: g and d . n
};

static pl_status contact_room(geo_contact *c, const pl_geometric *g, pl_error *err)
{
    const int64_t n = g->corner_count;
    c->place = PL_NEW_ARRAY(double, 3 * (int64_t)c->world->obstacle_count + 1);
    c->from = PL_NEW_ARRAY(double, c->world->obstacle_count + 1);
    c->to = PL_NEW_ARRAY(double, c->world->obstacle_count + 1);
    c->own = PL_NEW_ARRAY(double, n);
    c->pull = PL_NEW_ARRAY(double, n);
    c->direction = PL_NEW_ARRAY(double, 3 * n);
    c->target = PL_NEW_ARRAY(double, 3 * n);
    c->gap = PL_NEW_ARRAY(double, n);
    c->across = PL_NEW_ARRAY(double, n);
    c->diagonal = PL_NEW_ARRAY(double, n);
    c->foot = PL_NEW_ARRAY(contact_foot, n);
    c->found = PL_NEW_ARRAY(contact_foot, n);

    return c->place && c->from && c->to && c->own && c->pull && c->direction && c->target && c->gap &&
                   c->across && c->diagonal && c->foot && c->found
               ? PL_OK
               : pl_fail_memory(err, "local_global: contact");
}

pl_status geo_contact_create(pl_geometric *g, pl_error *err)
{
    const pl_robot_contact *world = &g->robot->contact;
    if (!world->surface) {
        return PL_OK;
    }
    if (g->rigids.count > 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "local_global: contact with rigid regions that are not clamped needs method: exact");
    }

    if (world->friction) {
        return pl_fail(err, PL_BAD_INPUT, "local_global: friction needs method: exact");
    }

    geo_contact *c = g->contact = PL_NEW(geo_contact);
    if (!c) {
        return pl_fail_memory(err, "local_global: contact");
    }
    c->world = world;
    pl_status status = contact_room(c, g, err);
    if (status == PL_OK) {
        status = pl_contact_surface_create(g->corner, world->body_count > 1 ? world->region_body : NULL,
                                           &c->surface, err);
    }

    for (int32_t f = 0; status == PL_OK && world->pairs && f < c->surface->face_count; ++f) {
        if (c->surface->size[f] != 3) {
            status = pl_fail(err, PL_BAD_INPUT,
                             "local_global: contact of prisms with each other needs method: exact");
        }
    }

    if (status == PL_OK && world->pairs) {
        status = pl_contact_finder_create(c->surface, g->mesh.position, world->self, &c->finder, err);
    }

    for (int32_t v = 0; status == PL_OK && v < g->corner_count; ++v) {
        const bool free = g->support_of[3 * (size_t)v] < 0 && g->support_of[3 * (size_t)v + 1] < 0 &&
                          g->support_of[3 * (size_t)v + 2] < 0;
        const bool outside = c->surface->point_of[v] >= 0;
        c->own[v] = free && outside ? 0.5 * g->options.contact_spring * geo_matrix_diagonal(g, v) : 0;
    }

    return status;
}

void geo_contact_destroy(pl_geometric *g)
{
    geo_contact *c = g->contact;
    if (!c) {
        return;
    }
    pl_contact_finder_destroy(c->finder);
    pl_contact_surface_destroy(c->surface);
    void *owned[] = {c->place,  c->from,     c->to,   c->own,   c->pull, c->direction, c->target, c->gap,
                     c->across, c->diagonal, c->foot, c->found, c};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
}

static double contact_command(const pl_obstacle *obstacle, const double *command)
{
    const int k = obstacle->command;
    return k >= 0 && command && !isnan(command[k]) ? command[k] : 0;
}

int geo_contact_begin(pl_geometric *g, const double *before, const double *command)
{
    geo_contact *c = g->contact;
    g->now.springs = g->now.rounds = g->now.inside = 0;
    g->now.depth = 0;
    if (!c) {
        return 1;
    }
    memset(c->pull, 0, (size_t)g->corner_count * sizeof *c->pull);
    double edge = INFINITY, distance = 0;
    for (int32_t k = 0; k < c->surface->point_count; ++k) {
        edge = fmin(edge, c->surface->spacing[k]);
    }

    for (int o = 0; o < c->world->obstacle_count; ++o) {
        const pl_obstacle *obstacle = &c->world->obstacle[o];
        c->from[o] = contact_command(obstacle, before);
        c->to[o] = contact_command(obstacle, command);
        distance = fmax(distance, fabs(c->to[o] - c->from[o]) * pl_norm3(obstacle->move));
    }

    return 1 + (int)fmin(1000, distance / (CONTACT_STRIDE * edge));
}

void geo_contact_place(pl_geometric *g, double at)
{
    geo_contact *c = g->contact;
    for (int o = 0; c && o < c->world->obstacle_count; ++o) {
        const double value = at >= 1 ? c->to[o] : c->from[o] + at * (c->to[o] - c->from[o]);
        for (int i = 0; i < 3; ++i) {
            c->place[3 * o + i] = value * c->world->obstacle[o].move[i];
        }
    }
}

double geo_contact_stiffness(const pl_geometric *g, int32_t v)
{
    return g->contact && v < g->corner_count ? g->contact->diagonal[v] : 0;
}

static const int32_t *foot_nodes(const geo_contact *c, const contact_foot *foot)
{
    return c->surface->node + (size_t)PL_FACE_NODES_MAX * (size_t)foot->face;
}

static void foot_at(const geo_contact *c, const contact_foot *foot, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int j = 0; foot->face >= 0 && j < 3; ++j) {
        const double *y = x + 3 * (size_t)foot_nodes(c, foot)[j];
        for (int i = 0; i < 3; ++i) {
            out[i] += foot->weight[j] * y[i];
        }
    }
}

// |v - p|^2 <= 2 |v|^2 + 2 sum w |x_j|^2: a diagonal that is above the springs of the body with itself.
static void contact_diagonal(const pl_geometric *g)
{
    geo_contact *c = g->contact;
    memset(c->diagonal, 0, (size_t)g->corner_count * sizeof *c->diagonal);
    for (int32_t v = 0; v < g->corner_count; ++v) {
        const contact_foot *foot = &c->foot[v];
        if (!(c->pull[v] > 0)) {
            continue;
        }
        c->diagonal[v] += (foot->face >= 0 ? 4 : 2) * c->own[v];
        for (int j = 0; foot->face >= 0 && j < 3; ++j) {
            c->diagonal[foot_nodes(c, foot)[j]] += 4 * c->own[v] * foot->weight[j];
        }
    }
}

pl_status geo_contact_refresh(pl_geometric *g, pl_error *err)
{
    contact_diagonal(g);
    return geo_matrix_refresh(g, err);
}

double geo_contact_force(const pl_geometric *g, const double *x, double *f)
{
    const geo_contact *c = g->contact;
    double energy = 0;

    for (int32_t v = 0; c && v < g->corner_count; ++v) {
        if (!(c->pull[v] > 0)) {
            continue;
        }
        const contact_foot *foot = &c->foot[v];
        const double *d = c->direction + 3 * (size_t)v;
        double p[3], off = 0;
        foot_at(c, foot, x, p);
        for (int i = 0; i < 3; ++i) {
            off += d[i] * (x[3 * (size_t)v + (size_t)i] - p[i] - c->target[3 * (size_t)v + (size_t)i]);
        }
        energy += c->own[v] * off * off;

        for (int i = 0; i < 3; ++i) {
            f[3 * (size_t)v + (size_t)i] += 2 * c->own[v] * off * d[i];
            for (int j = 0; foot->face >= 0 && j < 3; ++j) {
                f[3 * (size_t)foot_nodes(c, foot)[j] + (size_t)i] -=
                    2 * c->own[v] * off * foot->weight[j] * d[i];
            }
        }
    }

    return energy;
}

// ---- gaps
// The mean normal of the faces around a vertex.
static bool contact_normal(const geo_contact *c, int32_t v, const double *x, double n[3])
{
    const pl_contact_surface *s = c->surface;
    n[0] = n[1] = n[2] = 0;
    for (int32_t k = s->around_start[v]; k < s->around_start[v + 1]; ++k) {
        const int32_t *node = s->node + (size_t)PL_FACE_NODES_MAX * (size_t)s->around[k];
        double a[3], b[3], m[3];
        pl_sub3(x + 3 * (size_t)node[1], x + 3 * (size_t)node[0], a);
        pl_sub3(x + 3 * (size_t)node[2], x + 3 * (size_t)node[0], b);
        pl_cross3(a, b, m);
        for (int i = 0; i < 3; ++i) {
            n[i] += m[i];
        }
    }

    const double size = pl_norm3(n);
    for (int i = 0; i < 3 && size > 0; ++i) {
        n[i] /= size;
    }

    return size > 0;
}

// What a vertex has found, if that is nearer than what it found before: its gap and the path out of it;
// `pair` NULL: an obstacle.
static void contact_take(geo_contact *c, int32_t v, double gap, const double n[3],
                         const pl_contact_pair *pair, const double *direction)
{
    if (!(gap < c->gap[v])) {
        return;
    }

    double *own = c->direction + 3 * (size_t)v;

    // a spring of the body with itself keeps its direction, one along an obstacle slides
    const double *d = !pair ? n : c->pull[v] > 0 ? own : direction;
    const double across = pl_dot3(d, n);
    const bool slant = across > CONTACT_SLANT;
    c->gap[v] = gap;
    c->across[v] = slant ? across : 1;
    memmove(own, slant ? d : n, 3 * sizeof *own);
    c->found[v] = (contact_foot){.face = -1};
    if (pair) {
        c->found[v] = (contact_foot){pair->face, {1 - pair->xi[0] - pair->xi[1], pair->xi[0], pair->xi[1]}};
    }
}

// A vertex meets a face that it was in front of at rest; behind it at rest lies the other side of its own
// wall.
static bool contact_met(const geo_contact *c, const pl_contact_pair *pair, const double *rest)
{
    pl_contact_pair at_rest = *pair;
    return !pl_contact_pair_gap(c->surface, &at_rest, rest) || at_rest.gap > 0;
}

// The deepest overlap of every vertex, with its normal: with obstacles, then with other faces of the body.
static bool contact_look(pl_geometric *g, const double *x)
{
    geo_contact *c = g->contact;
    const pl_contact_surface *s = c->surface;

    for (int32_t v = 0; v < g->corner_count; ++v) {
        c->gap[v] = INFINITY;
    }

    for (int o = 0; o < c->world->obstacle_count; ++o) {
        for (int32_t v = 0; v < g->corner_count; ++v) {
            double at[3], n[3];
            if (!(c->own[v] > 0)) {
                continue;
            }
            pl_sub3(x + 3 * (size_t)v, c->place + 3 * o, at);
            const double gap = pl_shape_gap(&c->world->obstacle[o].shape, at, g->size, n, NULL);
            if (pl_norm3(n) > 0) {
                contact_take(c, v, gap, n, NULL, NULL);
            }
        }
    }

    // faces that were not beside each other at rest and look at each other
    const pl_contact_pair *pair = NULL;
    int32_t count = 0;
    if (c->finder && !pl_contact_find(c->finder, x, CONTACT_REACH, &pair, &count)) {
        return false;
    }

    for (int32_t k = 0; k < count; ++k) {
        const int32_t v = s->vertex[pair[k].point];
        double normal[3];
        if (v >= 0 && c->own[v] > 0 && contact_met(c, &pair[k], g->mesh.position) &&
            contact_normal(c, v, x, normal)) {
            const double direction[3] = {-normal[0], -normal[1], -normal[2]};
            contact_take(c, v, pair[k].gap, pair[k].n, &pair[k], direction);
        }
    }

    // what is left to push out, for the report
    g->now.inside = 0;
    g->now.depth = 0;
    for (int32_t v = 0; v < g->corner_count; ++v) {
        g->now.inside += c->gap[v] < 0;
        g->now.depth = fmax(g->now.depth, -c->gap[v]);
    }

    return true;
}

static double contact_offset(const pl_geometric *g, int32_t v)
{
    const pl_contact_surface *s = g->contact->surface;
    return g->options.contact_offset * s->spacing[s->point_of[v]];
}

// From where the vertex is, `pull` along its direction; true when the foot is on another face than before.
static bool contact_aim(geo_contact *c, int32_t v, const double *x, double pull, bool fresh)
{
    double p[3];
    const bool other = fresh || c->foot[v].face != c->found[v].face;

    c->foot[v] = c->found[v];
    c->pull[v] = pull;
    foot_at(c, &c->foot[v], x, p);
    for (int i = 0; i < 3; ++i) {
        const size_t at = 3 * (size_t)v + (size_t)i;
        c->target[at] = x[at] + pull * c->direction[at] - p[i];
    }

    return other;
}

int geo_contact_add(pl_geometric *g, const double *x)
{
    geo_contact *c = g->contact;
    int added = 0;

    if (!contact_look(g, x)) {
        return 0;
    }

    for (int32_t v = 0; v < g->corner_count; ++v) {
        if (c->gap[v] < 0 && !(c->pull[v] > 0)) {
            contact_aim(c, v, x, (contact_offset(g, v) - c->gap[v]) / c->across[v], true);
            ++added;
        }
    }

    g->now.springs += added;

    return added;
}

bool geo_contact_update(pl_geometric *g, const double *x, bool *changed)
{
    geo_contact *c = g->contact;
    const int before = g->now.springs;

    if (!contact_look(g, x)) {
        return false;
    }

    bool stands = g->now.inside == 0;
    *changed = false;
    for (int32_t v = 0; v < g->corner_count; ++v) {
        const double eps = c->own[v] > 0 ? contact_offset(g, v) : 0, gap = c->gap[v];

        if (!(c->pull[v] > 0)) {
            if (gap < 0) {
                *changed = contact_aim(c, v, x, (eps - gap) / c->across[v], true);
                ++g->now.springs;
            }

            continue;
        }

        double p[3], off[3];
        foot_at(c, &c->foot[v], x, p);
        for (int i = 0; i < 3; ++i) {
            off[i] = p[i] + c->target[3 * (size_t)v + (size_t)i] - x[3 * (size_t)v + (size_t)i];
        }
        // what it bears falls to a half at most, so that a body which hangs on few springs is not let go by a
        // shape that has not come to rest; a face that is not found any more is far away
        const double bears = pl_dot3(off, c->direction + 3 * (size_t)v),
                     asks = bears + (eps - gap) / c->across[v];
        const double pull = !isfinite(gap) ? 0 : bears > CONTACT_LEAST * eps ? fmax(asks, 0.5 * bears) : asks;
        stands = stands && pull > 0 && fabs(eps - gap) <= CONTACT_STANDS * eps;
        if (pull > 0) {
            *changed = contact_aim(c, v, x, pull, false) || *changed;
        } else {
            c->pull[v] = 0;
            *changed = true;
            --g->now.springs;
        }
    }

    ++g->now.rounds;
    pl_log(2, "contact round %d: %d springs (%+d), %d vertices inside, depth %.3g mm", g->now.rounds,
           g->now.springs, g->now.springs - before, g->now.inside, g->now.depth);

    return stands && !*changed;
}
