// Readings of contact: per obstacle and pair of bodies the force on the body, its moment about the origin,
// the area in contact, the largest pressure and the deepest penetration; and pressure and gap as fields.
//
// Pressures of the points are smoothed: each vertex at a corner gets the force on the hat around it over the
// deformed area of the hat, whatever point of the contact carries it, on either side.
#include <stdio.h>
#include "base/rotation.h"
#include "problem/term_contact.h"

static const char *const reading_quantity[CONTACT_QUANTITIES] = {
    "force_x",  "force_y",      "force_z", "moment_x",         "moment_y",
    "moment_z", "normal_force", "area",    "max_pressure_kpa", "penetration"};
static const char *const reading_unit[CONTACT_QUANTITIES] = {"N",    "N", "N",    "N mm", "N mm",
                                                             "N mm", "N", "mm^2", "kPa",  "mm"};

static int reading_first_pair(const contact_term *t)
{
    return t->obstacles + (t->c->self ? 1 : 0);
}

void contact_names(contact_term *t)
{
    int next = reading_first_pair(t);
    for (int o = 0; o < t->obstacles; ++o) {
        snprintf(t->name[o], sizeof t->name[o], "%s", t->c->obstacle[o].name);
    }
    if (t->c->self) {
        snprintf(t->name[t->obstacles], sizeof t->name[0], "self");
    }

    for (int i = 0; t->pairs && i < t->c->body_count; ++i) {
        for (int j = i + 1; j < t->c->body_count; ++j) {
            snprintf(t->name[next++], sizeof t->name[0], "%.40s/%.40s", t->c->body_name[i],
                     t->c->body_name[j]);
        }
    }
}

// The pair of bodies of a pair of points, and whether the point belongs to the second one.
static int reading_channel(const contact_term *t, const pl_contact_pair *pair, bool *second)
{
    const int a = t->s->group[t->s->home[pair->point]], b = t->s->group[pair->face];
    *second = a > b;
    if (a == b) {
        return t->obstacles;
    }

    const int i = a < b ? a : b, j = a < b ? b : a;
    return reading_first_pair(t) + i * t->c->body_count - i * (i + 1) / 2 + j - i - 1;
}

static int reading_corners(const contact_term *t, int32_t face)
{
    return t->s->size[face] == 3 || t->s->size[face] == 6 ? 3 : 4;
}

// weight += amount at the corners around the place xi of a face
static void reading_spread(contact_term *t, int32_t face, const double xi[2], double amount)
{
    double N[PL_FACE_NODES_MAX];
    const int corners = pl_face_shape_eval(reading_corners(t, face), xi, N, NULL);
    for (int c = 0; c < corners; ++c) {
        t->weight[t->s->node[PL_FACE_NODES_MAX * (size_t)face + (size_t)c]] += N[c] * amount;
    }
}

static void reading_spread_point(contact_term *t, int32_t k, double amount)
{
    if (k >= t->points) {
        reading_spread(t, t->foot[k - t->points].face, t->foot[k - t->points].xi, amount);
        return;
    }
    reading_spread(t, t->s->home[k], t->s->xi + 2 * (size_t)k, amount);
}

static void reading_add_force(contact_reading *reading, const double at[3], const double f[3], double sign)
{
    double m[3];
    pl_cross3(at, f, m);
    for (int i = 0; i < 3; ++i) {
        reading->force[i] += sign * f[i];
        reading->moment[i] += sign * m[i];
    }
}

// Deformed area around a point, of the faces that look against n only: edges of a body belong to other sides
// too.
static double reading_area(const contact_term *t, int32_t k, const double *x, const double n[3])
{
    const pl_contact_surface *s = t->s;
    const int32_t v = s->vertex[k];
    double sum = 0;

    for (int32_t i = v >= 0 ? s->around_start[v] : 0, end = v >= 0 ? s->around_start[v + 1] : 1; i < end;
         ++i) {
        const int32_t f = v >= 0 ? s->around[i] : s->home[k], *node = s->node + PL_FACE_NODES_MAX * (size_t)f;
        double u[3], w[3], m[3];
        pl_sub3(x + 3 * (size_t)node[1], x + 3 * (size_t)node[0], u);
        pl_sub3(x + 3 * (size_t)node[2], x + 3 * (size_t)node[0], w);
        pl_cross3(u, w, m);
        if (pl_dot3(m, n) < -0.5 * pl_norm3(m)) {
            sum += pl_contact_point_area(s, k, f, x);
        }
    }

    return sum;
}

static void reading_share(const contact_term *t, int o, int32_t k, const double *x, contact_reading *reading)
{
    int32_t node[CONTACT_NODES_MAX];
    double force[3 * CONTACT_NODES_MAX];
    int frame;
    const int count = contact_share_force(t, o, k, x, node, force, &frame);

    for (int j = count > 0 ? frame : 0; j < count; ++j) {
        reading_add_force(reading, x + 3 * (size_t)node[j], force + 3 * j, 1);
    }
}

// Overlap of an obstacle and the curved faces, mm.
static double reading_overlap(const contact_term *t, const pl_problem *p, int o, const double *x)
{
    const pl_pose pose = contact_pose(t, o, x, t->offset);
    double turned[3], translation[3];
    pl_mulv3(pose.R, pose.rest, turned);
    pl_sub3(pose.centre, turned, translation);
    return pl_contact_overlap(t->s, x, &t->c->obstacle[o].shape, pose.R, translation, contact_tolerance(p))
        .depth;
}

static void reading_obstacle(contact_term *t, const pl_problem *p, int o, const double *x)
{
    contact_reading *reading = &t->reading[o];
    contact_find_feet(t, x, t->offset);
    CONTACT_EACH(t, o, k)
    {
        contact_touch touch;
        const double a = t->area[k];
        const bool touches = contact_touch_at(t, o, k, x, false, &touch);
        if (k < t->points && t->s->vertex[k] >= 0) {
            t->open[t->s->vertex[k]] = fmin(t->open[t->s->vertex[k]], touch.gap);
        }
        double at[3], f[3] = {0}, traction[3] = {0};
        bool stick;
        if (t->c->obstacle[o].friction > 0) {
            contact_friction(t, o, k, x, traction, &stick, NULL);
        }
        if (touches) {
            reading->normal_force += a * touch.pressure;
            reading->area += k < t->points ? reading_area(t, k, x, touch.n) : 0;
            reading_spread_point(t, k, a * touch.pressure);
        }
        reading_share(t, o, k, x, reading);
        for (int held = 0; held < 2; ++held) {
            contact_position(t, k, held, x, at);
            for (int i = 0; i < 3; ++i) {
                f[i] = held      ? -contact_rough_area(t, k) * traction[i]
                       : touches ? a * touch.pressure * touch.n[i]
                                 : 0;
            }
            reading_add_force(reading, at, f, 1);
        }
    }
    reading->penetration = reading_overlap(t, p, o, x);
}

static void reading_pairs(contact_term *t, int channel, const double *x)
{
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const pl_contact_pair *pair = &t->pair[i];
        bool second;
        if (reading_channel(t, pair, &second) != channel) {
            continue;
        }
        contact_reading *reading = &t->reading[channel];
        const int32_t vertex = t->s->vertex[pair->point];
        const double p = contact_pair_pressure(t, pair), a = t->area[pair->point];
        reading->penetration = fmax(reading->penetration, -pair->gap);
        if (vertex >= 0) {
            t->open[vertex] = fmin(t->open[vertex], pair->gap);
        }
        if (!(p > 0)) {
            continue;
        }
        int32_t node[PL_PAIR_NODES_MAX];
        double gradient[3 * PL_PAIR_NODES_MAX];
        const int count = pl_contact_pair_nodes(t->s, pair, node), own = count - t->s->size[pair->face];
        pl_contact_pair_derivatives(t->s, pair, x, gradient, NULL);
        // on the first body of a pair; within a body the sum of both sides, which balance
        for (int j = 0; j < count; ++j) {
            const bool on_point = j < own;
            const double f[3] = {a * p * gradient[3 * j], a * p * gradient[3 * j + 1],
                                 a * p * gradient[3 * j + 2]};
            if (channel < reading_first_pair(t) || on_point != second) {
                reading_add_force(reading, x + 3 * (size_t)node[j], f, 1);
            }
        }
        reading->normal_force += a * p;
        reading->area += 0.5 * reading_area(t, pair->point, x, pair->n); // both sides are evaluated
        reading_spread_point(t, pair->point, a * p);
        reading_spread(t, pair->face, pair->xi, a * p);
    }
}

// Friction of pairs, on the first body too.
typedef struct reading_rub {
    contact_term *t;
    const double *x;
    int channel;
} reading_rub;

static void reading_add_rub(void *context, int32_t k, int32_t face, const int32_t *node, const double *force,
                            int own, int count)
{
    const reading_rub *r = context;
    const pl_contact_pair pair = {.point = k, .face = face};
    bool second;
    if (reading_channel(r->t, &pair, &second) != r->channel) {
        return;
    }
    for (int j = 0; j < count; ++j) {
        if (r->channel < reading_first_pair(r->t) || (j < own) != second) {
            reading_add_force(&r->t->reading[r->channel], r->x + 3 * (size_t)node[j], force + 3 * j, 1);
        }
    }
}

// Largest smoothed pressure of a channel; the field gets the sum of all.
static double reading_smooth(contact_term *t, const double *area)
{
    double largest = 0;
    for (int32_t v = 0; v < t->s->vertex_count; ++v) {
        const double p = area[v] > 0 ? t->weight[v] / area[v] : 0;
        largest = fmax(largest, p);
        t->pressure[v] += p;
    }

    return largest;
}

void contact_tell(contact_term *t, pl_problem *p, const double *x)
{
    const pl_contact_surface *s = t->s;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *area = PL_TAKE(&p->scratch, double, s->vertex_count);

    memset(area, 0, (size_t)s->vertex_count * sizeof *area);
    memset(t->pressure, 0, (size_t)s->vertex_count * sizeof *t->pressure);
    memset(t->reading, 0, (size_t)t->reading_count * sizeof *t->reading);
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        t->open[v] = t->reach;
    }

    for (int32_t f = 0; f < s->face_count; ++f) {
        double part[9];
        const double whole = pl_contact_face_area(s, f, x, part);
        for (int c = 0; c < reading_corners(t, f); ++c) {
            area[s->node[PL_FACE_NODES_MAX * (size_t)f + (size_t)c]] += whole / reading_corners(t, f);
        }
    }

    for (int c = 0; c < t->reading_count; ++c) {
        memset(t->weight, 0, (size_t)s->vertex_count * sizeof *t->weight);
        if (c < t->obstacles) {
            reading_obstacle(t, p, c, x);
        } else {
            reading_pairs(t, c, x);
            contact_pairs_each_force(t, x, reading_add_rub, &(reading_rub){t, x, c});
        }
        t->reading[c].max_pressure = reading_smooth(t, area);
    }

    // mid nodes: the mean of their corners
    for (int32_t f = 0; f < s->face_count; ++f) {
        const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)f;
        const int corners = reading_corners(t, f);
        for (int k = corners; k < s->size[f]; ++k) {
            t->pressure[node[k]] =
                0.5 * (t->pressure[node[k - corners]] + t->pressure[node[(k - corners + 1) % corners]]);
        }
    }

    pl_arena_end(&p->scratch, mark);
}

// ---- outputs: of contacts, then of free bodies
static const char *const free_quantity[FREE_QUANTITIES] = {"position_x", "position_y", "position_z",
                                                           "rotation_x", "rotation_y", "rotation_z"};

// The obstacle of the output k of free bodies.
static int free_obstacle(const contact_term *t, int k)
{
    int o = 0;
    for (int left = k / FREE_QUANTITIES; !t->c->obstacle[o].free || left-- > 0; ++o) {
    }
    return o;
}

int contact_output_count(const void *self)
{
    const contact_term *t = self;
    return t->reading_count * CONTACT_QUANTITIES + t->c->free_count * FREE_QUANTITIES;
}

pl_output contact_output(const void *self, int k)
{
    const contact_term *t = self;
    const int later = k - t->reading_count * CONTACT_QUANTITIES;

    if (later >= 0) {
        return (pl_output){.kind = PL_OUTPUT_READING,
                           .actuator = -1,
                           .info = {.group = "free_bodies",
                                    .name = t->name[free_obstacle(t, later)],
                                    .quantity = free_quantity[later % FREE_QUANTITIES],
                                    .unit = later % FREE_QUANTITIES < 3 ? "mm" : "rad"}};
    }

    return (pl_output){.kind = PL_OUTPUT_READING,
                       .actuator = -1,
                       .info = {.group = "contacts",
                                .name = t->name[k / CONTACT_QUANTITIES],
                                .quantity = reading_quantity[k % CONTACT_QUANTITIES],
                                .unit = reading_unit[k % CONTACT_QUANTITIES]}};
}

// Computed once per state: all numbers come from one look at the surface.
void contact_tell_state(contact_term *t, pl_problem *p, const pl_state *state)
{
    const pl_state_block *history = &state->history[PL_STATE_CONTACT];
    uint64_t print = pl_hash_bytes(PL_HASH_SEED, state->x, pl_problem_full_bytes(p));
    print = pl_hash_bytes(print, history->value, (size_t)history->count * sizeof *history->value);
    print = pl_hash_bytes(print, state->command, (size_t)state->command_count * sizeof *state->command);
    if (print == t->reading_hash) {
        return;
    }

    double energy = 0;
    pl_problem_recall(p, state);
    for (int i = 0; i < p->term_count; ++i) {
        if (p->term[i].self == t) {
            p->term[i].kind->evaluate(t, p, &(pl_linearization){.x = state->x}, &energy, NULL); // pairs
        }
    }

    contact_tell(t, p, state->x);
    pl_problem_resume(p);
    t->reading_hash = print;
}

void contact_field(void *self, pl_problem *p, const pl_state *state, bool gap, double *out)
{
    contact_term *t = self;
    contact_tell_state(t, p, state);
    memcpy(out, gap ? t->open : t->pressure, (size_t)t->s->vertex_count * sizeof *out);
}

double contact_value(void *self, pl_problem *p, const pl_state *state, int k)
{
    contact_term *t = self;
    const int later = k - t->reading_count * CONTACT_QUANTITIES;

    if (later >= 0) {
        pl_pose pose;
        double turn[3];
        pl_frame_pose(&t->c->obstacle[free_obstacle(t, later)], t->X, state->x, &pose);
        pl_rotation_log(pose.R, turn);
        return later % FREE_QUANTITIES < 3 ? pose.centre[later % FREE_QUANTITIES]
                                           : turn[later % FREE_QUANTITIES - 3];
    }

    contact_tell_state(t, p, state);
    const contact_reading *reading = &t->reading[k / CONTACT_QUANTITIES];
    switch (k % CONTACT_QUANTITIES) {
    case 6:
        return reading->normal_force;
    case 7:
        return reading->area;
    case 8:
        return 1e3 * reading->max_pressure;
    case 9:
        return reading->penetration;
    default:
        return k % CONTACT_QUANTITIES < 3 ? reading->force[k % CONTACT_QUANTITIES]
                                          : reading->moment[k % CONTACT_QUANTITIES - 3];
    }
}

// Where a force acts, how this place moves, and how relative to the obstacle.
typedef struct reading_motion {
    double at[3], motion[3], relative[3];
} reading_motion;

static reading_motion reading_motion_at(const contact_term *t, int o, int32_t k, bool held, const double *x,
                                        const double *dx, const double v[3])
{
    reading_motion out = {{0}, {0}, {0}};
    contact_position(t, k, held, x, out.at);
    if (dx) {
        contact_position(t, k, held, dx, out.motion);
    }
    pl_sub3(out.motion, v, out.relative);
    if (dx && t->c->obstacle[o].free) {
        contact_relative(t, o, k, held, x, dx, out.relative);
    }

    return out;
}

// The force of a feature acts on the line through it and its foot: its place moves with the obstacle, and its
// normal as the foot slides.
static void reading_feature(const contact_term *t, int o, int32_t k, const double *x, const double *dx,
                            const double v[3], reading_motion *at, double turn[3])
{
    const pl_pose pose = contact_pose(t, o, x, t->offset);
    int32_t node[4];
    double weight[4];

    contact_global(&pose, contact_feature(t, k)->at, at->at);
    memcpy(at->motion, v, sizeof at->motion);
    const int frame = dx ? contact_feature_frame(t, o, k, node, weight) : 0;
    for (int a = 0; a < 3 * frame; ++a) {
        at->motion[a % 3] += weight[a / 3] * dx[3 * (size_t)node[a / 3] + (size_t)(a % 3)];
    }
    contact_foot_change(t, k, x, at->motion, dx, NULL, turn);
}

static void reading_add_change(contact_reading *out, const reading_motion *at, const double f[3],
                               const double df[3])
{
    double m[3];
    reading_add_force(out, at->at, df, 1);
    pl_cross3(at->motion, f, m);
    for (int i = 0; i < 3; ++i) {
        out->moment[i] += m[i];
    }
}

// d(force), d(moment), d(normal force) on an obstacle's channel for a motion; what is not smooth has none.
static void reading_change(contact_term *t, int o, const double *x, const double *dx, const double v[3],
                           contact_reading *out)
{
    contact_find_feet(t, x, t->offset);
    CONTACT_EACH(t, o, k)
    {
        contact_touch touch;
        const double a = t->area[k];
        double turn[3] = {0}, f[3], df[3], traction[3], T[9];
        bool stick;
        if (contact_touch_at(t, o, k, x, true, &touch)) {
            reading_motion at = reading_motion_at(t, o, k, false, x, dx, v);
            const double dp = t->mu[contact_at(t, o, k)] - t->stiffness[k] * pl_dot3(touch.n, at.relative);
            pl_mulv3(touch.H, at.relative, turn);
            if (k >= t->points) {
                reading_feature(t, o, k, x, dx, v, &at, turn);
            }
            out->normal_force += a * dp;
            for (int i = 0; i < 3; ++i) {
                f[i] = a * touch.pressure * touch.n[i];
                df[i] = a * (dp * touch.n[i] + touch.pressure * turn[i]);
            }
            reading_add_change(out, &at, f, df);
        }
        if (contact_limit(t, o, k) > 0) {
            const reading_motion at = reading_motion_at(t, o, k, true, x, dx, v);
            double drag[3];
            contact_friction(t, o, k, x, traction, &stick, T);
            pl_mulv3(T, at.relative, drag);
            for (int i = 0; i < 3; ++i) {
                f[i] = -contact_rough_area(t, k) * traction[i];
                df[i] = -contact_rough_area(t, k) * drag[i];
            }
            reading_add_change(out, &at, f, df);
        }
    }
}

double contact_change(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                      const double *mu, const pl_parameter *q)
{
    contact_term *t = self;
    const int channel = k / CONTACT_QUANTITIES, part = k % CONTACT_QUANTITIES;
    contact_reading change;

    memset(&change, 0, sizeof change);
    (void)p;
    (void)mu;
    const int later = k - t->reading_count * CONTACT_QUANTITIES;
    if (later >= 0) {
        const pl_obstacle *body = &t->c->obstacle[free_obstacle(t, later)];
        double sum = 0;
        for (int a = 0; dx && a < 4; ++a) {
            sum += 0.25 * dx[3 * (size_t)body->frame[a] + (size_t)(later % 3)];
        }
        return later % FREE_QUANTITIES < 3 ? sum : NAN;
    }

    if (part > 6) {
        return NAN;
    }
    if (channel >= t->obstacles) {
        return channel < reading_first_pair(t) && part < 6 ? 0 : NAN;
    }

    const pl_obstacle *o = &t->c->obstacle[channel];
    const bool moves = q && q->kind == PL_PARAMETER_COMMAND && q->index == o->command;
    static const double still[3] = {0};
    reading_change(t, channel, state->x, dx, moves ? o->move : still, &change);

    return part < 3 ? change.force[part] : part < 6 ? change.moment[part - 3] : change.normal_force;
}

// Asked only where nothing touches: then no force changes.
void contact_pull_back(void *self, pl_problem *p, const pl_state *state, int k, double weight, double *full,
                       double *rho)
{
    (void)self;
    (void)p;
    (void)state;
    (void)k;
    (void)weight;
    (void)full;
    (void)rho;
}
