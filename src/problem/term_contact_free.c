// Where obstacles stand, and free rigid bodies. A free body is a frame of four vertices that moves rigidly
// (a regular tetrahedron, corners x_a = c + r d_a, sum_a d_a d_a^T = 4/3 I). A place `at` of the body has
// the weights
//   b_a = 1/4 + 3 / (4 r^2) (x_a - c) . (at - c),   grad b_a = 3 / (4 r^2) (x_a - c),
// so the motion of a point of the surface relative to the body is delta = dx - sum_a b_a dx_a, and what acts
// on the point acts on the frame with -b_a: forces and moments balance. In the frame of the body
// y = R^T (at - c) + c_0 changes by R^T delta, and to second order
//   f . d2y = -2 sum_a (grad b_a . delta) (f . dx_a).
#include "problem/term_contact.h"

#define GRIP_FIRM 90.0    // times modulus and size: stiffness of the hand
#define GRIP_SAG 1e-3     // of the size: the hand yields no further under the weight
#define GRIP_SOFT 0.02    // times load over size: stiffness of the softest spring
#define GRIP_FIRST 2.0    // the same of the first one, so that friction takes hold before it slides away
#define GRIP_MOTION 0.1   // of the size: what a body that rolls or slips moves in one update
#define GRIP_TIGHTER 10.0 // times: the next spring, where a body went farther than twice that or nowhere
#define GRIP_TIGHTENED (CONTACT_STAGES / 2) // most: a path that asks for more leads nowhere
#define GRIP_LEAST 1e-6                     // of the hand's: the softest spring
#define GRIP_NONE 1e-10                     // of the hand's: in derivatives, for motions that nothing resists
#define GRIP_RESIDUAL 10.0 // times the tolerance of residuals, which move a body that can roll: the same
#define GRIP_BALANCE 3e-8  // of weight and pull: force of the spring that is accepted

// ---- poses
pl_pose contact_pose(const contact_term *t, int o, const double *x, const double *offset)
{
    pl_pose pose = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (t->c->obstacle[o].free) {
        pl_frame_pose(&t->c->obstacle[o], t->X, x, &pose);
    } else {
        memcpy(pose.centre, offset + 6 * o, sizeof pose.centre);
    }

    return pose;
}

void contact_local(const pl_pose *pose, const double at[3], double y[3])
{
    double d[3];
    pl_sub3(at, pose->centre, d);
    for (int i = 0; i < 3; ++i) {
        y[i] = pose->rest[i] + pose->R[i] * d[0] + pose->R[3 + i] * d[1] + pose->R[6 + i] * d[2];
    }
}

void contact_global(const pl_pose *pose, const double y[3], double at[3])
{
    double d[3];
    pl_sub3(y, pose->rest, d);
    pl_mulv3(pose->R, d, at);
    for (int i = 0; i < 3; ++i) {
        at[i] += pose->centre[i];
    }
}

void contact_turn(const pl_pose *pose, double v[3])
{
    const double w[3] = {v[0], v[1], v[2]};
    pl_mulv3(pose->R, w, v);
}

// ---- motions relative to an obstacle
// Centre of a frame, arms of its vertices and the square of their length.
double contact_arms(const pl_obstacle *o, const double *x, double c[3], double arm[4][3])
{
    double square = 0;
    for (int i = 0; i < 3; ++i) {
        c[i] = 0;
        for (int a = 0; a < 4; ++a) {
            c[i] += 0.25 * x[3 * (size_t)o->frame[a] + (size_t)i];
        }
    }

    for (int a = 0; a < 4; ++a) {
        pl_sub3(x + 3 * (size_t)o->frame[a], c, arm[a]);
        square += 0.25 * pl_dot3(arm[a], arm[a]);
    }

    return square;
}

static int free_point_nodes(const contact_term *t, int32_t k, bool held, const int32_t **node, double *weight)
{
    return k < t->points ? pl_contact_point_nodes(t->s, k, node, weight)
                         : contact_foot_nodes(t, k, held, node, weight);
}

void contact_position(const contact_term *t, int32_t k, bool held, const double *x, double out[3])
{
    const int32_t *node = NULL;
    double weight[PL_FACE_NODES_MAX];
    const int count = free_point_nodes(t, k, held, &node, weight);

    memset(out, 0, 3 * sizeof *out);
    for (int j = 0; j < 3 * count; ++j) {
        out[j % 3] += weight[j / 3] * x[3 * (size_t)node[j / 3] + (size_t)(j % 3)];
    }
}

int contact_nodes(const contact_term *t, int o, int32_t k, bool held, const double *x,
                  int32_t node[CONTACT_NODES_MAX], double weight[CONTACT_NODES_MAX], int *own)
{
    const int32_t *from = NULL;
    const int count = free_point_nodes(t, k, held, &from, weight);

    *own = count;
    if (count == 0) {
        return 0;
    }
    memcpy(node, from, (size_t)count * sizeof *node);
    if (!t->c->obstacle[o].free) {
        return count;
    }

    if (k >= t->points && !held) {
        contact_feature_frame(t, o, k, node + count, weight + count);
        for (int a = 0; a < 4; ++a) {
            weight[count + a] *= -1;
        }
        return count + 4;
    }

    double at[3], c[3], arm[4][3];
    const double square = contact_arms(&t->c->obstacle[o], x, c, arm);
    contact_position(t, k, held, x, at);
    pl_sub3(at, c, at);
    for (int a = 0; a < 4; ++a) {
        node[count + a] = t->c->obstacle[o].frame[a];
        weight[count + a] = -0.25 - 0.75 * pl_dot3(arm[a], at) / square;
    }

    return count + 4;
}

void contact_spread(const contact_term *t, int o, int32_t k, bool held, const double *x, double scale,
                    const double v[3], double *full)
{
    int32_t node[CONTACT_NODES_MAX];
    double weight[CONTACT_NODES_MAX];
    int own;
    const int count = contact_nodes(t, o, k, held, x, node, weight, &own);

    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < 3; ++i) {
            full[3 * (int64_t)node[j] + i] += scale * weight[j] * v[i];
        }
    }
}

void contact_relative(const contact_term *t, int o, int32_t k, bool held, const double *x, const double *dx,
                      double out[3])
{
    int32_t node[CONTACT_NODES_MAX];
    double weight[CONTACT_NODES_MAX];
    int own;
    const int count = contact_nodes(t, o, k, held, x, node, weight, &own);

    out[0] = out[1] = out[2] = 0;
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < 3; ++i) {
            out[i] += weight[j] * dx[3 * (int64_t)node[j] + i];
        }
    }
}

void contact_add_bending(const contact_term *t, pl_problem *p, int o, int32_t k, const double f[3],
                         const double *x)
{
    int32_t node[CONTACT_NODES_MAX];
    double weight[CONTACT_NODES_MAX], c[3], arm[4][3];
    int own;
    const int count = contact_nodes(t, o, k, true, x, node, weight, &own);
    const double square = contact_arms(&t->c->obstacle[o], x, c, arm);

    for (int a = 0; a < 4; ++a) {
        for (int j = 0; j < count; ++j) {
            double B[9], Bt[9];
            for (int i = 0; i < 9; ++i) {
                B[i] = -weight[j] * 0.75 / square * arm[a][i / 3] * f[i % 3];
                Bt[3 * (i % 3) + i / 3] = B[i];
            }
            pl_problem_add_block(p, node[j], t->c->obstacle[o].frame[a], B, 3, x);
            pl_problem_add_block(p, t->c->obstacle[o].frame[a], node[j], Bt, 3, x);
        }
    }
}

// ---- what holds free bodies besides contact
void contact_grip_create(contact_term *t, const pl_problem *p)
{
    double modulus = 0;
    for (int32_t k = 0; k < t->points; ++k) {
        modulus = fmax(modulus, t->stiffness[k] * t->spacing[k] / 30);
    }

    for (int o = 0; o < t->obstacles; ++o) {
        const pl_obstacle *body = &t->c->obstacle[o];
        if (body->free) {
            const double weight = body->mass * pl_norm3(p->robot->gravity);
            t->grip[o].firm = fmax(GRIP_FIRM * modulus * body->size, weight / (GRIP_SAG * body->size));
        }
    }
}

static void grip_copy(const contact_term *t, int o, const double *x, double out[12])
{
    for (int a = 0; a < 4; ++a) {
        memcpy(out + 3 * a, x + 3 * (size_t)t->c->obstacle[o].frame[a], 3 * sizeof *x);
    }
}

// At the state that `let_go` belongs to.
void contact_grip_begin(contact_term *t, const pl_problem *p, const double *x, const double *slide)
{
    for (int o = 0; o < t->obstacles; ++o) {
        if (t->c->obstacle[o].free) {
            const pl_obstacle *body = &t->c->obstacle[o];
            const double pull = fmax(fabs(t->from[o]), fabs(t->to[o])) * pl_norm3(body->pull);
            contact_slide_begin(t, o, x, slide + 4 * o);
            t->grip[o].load = body->mass * pl_norm3(p->robot->gravity) + pull +
                              fabs(contact_slide_force(t, o, x, (double[3]){0}));
            t->now.let_go[o] = t->inertia ? 1 : t->now.let_go[o];
            t->grip[o].stage = t->now.let_go[o] > 0 ? CONTACT_STAGES : 0;
            t->grip[o].spring = GRIP_SOFT;
            t->grip[o].tightened = 0;
            t->grip[o].pull = 0;
            t->grip[o].arrived = false;
            t->grip[o].touched = t->now.let_go[o] > 0;
            t->grip[o].alone = false;
            memset(t->grip[o].force, 0, sizeof t->grip[o].force);
            grip_copy(t, o, t->now.let_go[o] > 0 ? x : t->X, t->grip[o].hand);
            memcpy(t->grip[o].anchor, t->grip[o].hand, sizeof t->grip[o].hand);
            memcpy(t->grip[o].down, p->robot->gravity, sizeof t->grip[o].down);
            const double g = pl_norm3(t->grip[o].down);
            for (int i = 0; i < 3; ++i) {
                t->grip[o].down[i] = g > 0 ? t->grip[o].down[i] / g : i == 2;
            }
        }
    }
}

// Of the hand where it still holds the body, of the soft spring where it does not; along the weight and
// across. With inertia there is neither.
static double grip_stiffness(const contact_term *t, int o, bool across)
{
    const contact_grip *g = &t->grip[o];
    if (t->inertia) {
        return 0;
    }
    const double k = g->spring * g->load / t->c->obstacle[o].size;
    return g->stage <= (across ? CONTACT_STAGES / 2 : 0) ? g->firm : fmax(k, GRIP_LEAST * g->firm);
}

// What is left of the hand's force in a direction that it lets go of.
static double grip_left(const contact_grip *g, bool across)
{
    const double half = 0.5 * CONTACT_STAGES, gone = (g->stage - (across ? half : 0)) / half;
    return fmin(1, fmax(0, 1 - gone));
}

// Force of hand, spring and pull on vertex a of the frame, and its potential.
static double grip_force(const contact_term *t, int o, int a, const double *x, double force[3])
{
    const contact_grip *g = &t->grip[o];
    const double *v = x + 3 * (size_t)t->c->obstacle[o].frame[a],
                 *rest = t->X + 3 * (size_t)t->c->obstacle[o].frame[a];
    double spring[3] = {0}, energy = 0;

    // the slide acts on the centre, so the fourth part of its energy belongs to each vertex
    double slide[3];
    const double along = contact_slide_force(t, o, x, slide);
    energy += 0.25 * along * along / (2 * g->firm);
    for (int i = 0; i < 3; ++i) {
        force[i] = 0.25 * t->offset[6 * o + 3 + i];
        spring[i] = 0.25 * slide[i];
    }

    for (int across = 0; across < 2; ++across) {
        const bool held = g->stage <= (across ? CONTACT_STAGES / 2 : 0);
        const double k = 0.25 * grip_stiffness(t, o, across), left = held ? 0 : grip_left(g, across);
        double d[3];
        pl_sub3(v, (held ? g->hand : g->anchor) + 3 * a, d);
        const double d_down = pl_dot3(d, g->down), f_down = pl_dot3(g->force + 3 * a, g->down);
        for (int i = 0; i < 3; ++i) {
            const double part = across ? d[i] - d_down * g->down[i] : d_down * g->down[i];
            force[i] += left * (across ? g->force[3 * a + i] - f_down * g->down[i] : f_down * g->down[i]);
            spring[i] -= k * part;
            energy += 0.5 * k * part * part;
        }
    }

    for (int i = 0; i < 3; ++i) {
        energy -= force[i] * (v[i] - rest[i]);
        force[i] += spring[i];
    }

    return energy;
}

void contact_grip_evaluate(const contact_term *t, const double *x, double *energy, double *full)
{
    for (int o = 0; o < t->obstacles; ++o) {
        for (int a = 0; t->c->obstacle[o].free && a < 4; ++a) {
            double force[3];
            *energy += grip_force(t, o, a, x, force);
            for (int i = 0; full && i < 3; ++i) {
                full[3 * (int64_t)t->c->obstacle[o].frame[a] + i] -= force[i];
            }
        }
    }
}

void contact_grip_tangent(const contact_term *t, pl_problem *p, const pl_linearization *here)
{
    for (int o = 0; o < t->obstacles; ++o) {
        const contact_grip *g = &t->grip[o];
        const bool none = here->exact && g->stage == CONTACT_STAGES && !t->inertia;
        const double down = 0.25 * (none ? GRIP_NONE * g->firm : grip_stiffness(t, o, false)),
                     across = 0.25 * (none ? GRIP_NONE * g->firm : grip_stiffness(t, o, true));
        double B[9];
        for (int i = 0; i < 9; ++i) {
            B[i] = across * (i % 4 == 0) + (down - across) * g->down[i / 3] * g->down[i % 3];
        }
        for (int a = 0; t->c->obstacle[o].free && a < 4; ++a) {
            const int32_t v = t->c->obstacle[o].frame[a];
            pl_problem_add_block(p, v, v, B, 3, here->x);
        }
        contact_slide_tangent(t, p, o, here->x);
    }
}

// How far the frame is from `from`.
static double grip_distance(const contact_term *t, int o, const double *x, const double from[12])
{
    double most = 0;
    for (int a = 0; a < 4; ++a) {
        most = fmax(most, pl_distance3(x + 3 * (size_t)t->c->obstacle[o].frame[a], from + 3 * a));
    }
    return most;
}

// How far it has moved since the last update.
static double grip_travel(const contact_term *t, int o, const double *x)
{
    return grip_distance(t, o, x, t->grip[o].anchor);
}

// The force with which the hand holds the body, along the weight or across, before it begins to let go.
static void grip_take_over(contact_term *t, int o, const double *x, bool across)
{
    contact_grip *g = &t->grip[o];
    for (int a = 0; a < 4; ++a) {
        double d[3];
        pl_sub3(x + 3 * (size_t)t->c->obstacle[o].frame[a], g->hand + 3 * a, d);
        const double down = pl_dot3(d, g->down);
        for (int i = 0; i < 3; ++i) {
            g->force[3 * a + i] -= 0.25 * g->firm * (across ? d[i] - down * g->down[i] : down * g->down[i]);
        }
    }
}

// Does any point press on the body?
static bool grip_touched(contact_term *t, int o, const double *x)
{
    contact_touch touch;
    bool any = false;

    contact_find_feet(t, x, t->offset);
    CONTACT_EACH(t, o, k)
    {
        any = any || contact_touch_at(t, o, k, x, false, &touch);
    }
    return any;
}

bool contact_grip_releases(const contact_term *t)
{
    bool any = false;
    for (int o = 0; o < t->obstacles; ++o) {
        any = any || (t->c->obstacle[o].free && t->grip[o].stage < CONTACT_STAGES);
    }
    return any && t->settled && t->at >= 1;
}

// `settled`: the end of the path is reached, and contacts agree with what holds the bodies now.
void contact_grip_advance(contact_term *t, pl_problem *p, const double *x, bool settled)
{
    p->releasing = false;
    for (int o = 0; o < t->obstacles; ++o) {
        contact_grip *g = &t->grip[o];
        const pl_obstacle *body = &t->c->obstacle[o];
        if (!body->free) {
            continue;
        }
        if (settled && (g->stage == 0 || g->stage == CONTACT_STAGES / 2)) {
            grip_take_over(t, o, x, g->stage > 0);
        }
        // the path carries along what was let go of before: from its end on it may get lost
        if (g->stage == CONTACT_STAGES && !g->arrived) {
            grip_copy(t, o, x, g->hand);
        }
        g->arrived = g->arrived || t->at >= 1;
        if (g->stage > 0 || settled) {
            g->pull = grip_stiffness(t, o, true) * grip_travel(t, o, x);
            const double moved = grip_travel(t, o, x) / (GRIP_MOTION * body->size);
            g->spring = g->stage == 0 ? GRIP_FIRST
                                      : fmax(GRIP_SOFT, fmin(moved * g->spring, fmax(g->spring, GRIP_FIRST)));
            grip_copy(t, o, x, g->anchor);
        }
        g->stage += g->stage < CONTACT_STAGES && settled;
        t->now.let_go[o] = g->stage == CONTACT_STAGES;
        p->releasing = p->releasing || g->stage < CONTACT_STAGES;
        // until an equilibrium is found, which alone tells that nothing touches it
        p->loose = g->stage > 0 ? body->name : p->loose;
        p->loose_alone = g->alone;
        g->touched = g->touched || grip_touched(t, o, x);
    }
}

// An update is a step of the body from where it is, bounded by the spring: the force that nothing balances
// over the stiffness. A body that rolls or slips goes on step by step, on a path that does not depend on how
// an equilibrium far away happens to be found.
static bool grip_tightens(const contact_term *t, int o)
{
    const contact_grip *g = &t->grip[o];
    const pl_obstacle *body = &t->c->obstacle[o];
    return body->free && !t->inertia && g->stage > 0 && g->tightened < GRIP_TIGHTENED &&
           g->spring * g->load < g->firm * body->size;
}

bool contact_grip_strays(const contact_term *t, const double *x)
{
    bool any = false;
    for (int o = 0; o < t->obstacles; ++o) {
        const contact_grip *g = &t->grip[o];
        any = any || (grip_tightens(t, o) && g->stage > CONTACT_STAGES / 2 && g->touched &&
                      grip_travel(t, o, x) > 2 * GRIP_MOTION * t->c->obstacle[o].size);
    }
    return any;
}

bool contact_grip_tighten(contact_term *t)
{
    bool any = false;
    for (int o = 0; o < t->obstacles; ++o) {
        if (grip_tightens(t, o)) {
            t->grip[o].spring *= GRIP_TIGHTER;
            t->grip[o].tightened++;
            any = true;
        }
    }
    return any;
}

// Over what is accepted: the force of the springs, more than that before the hand has let go.
double contact_grip_error(contact_term *t, pl_problem *p, const double *x)
{
    double worst = 0;
    p->loose = NULL;
    p->loose_travel = 0;
    p->loose_lost = false;
    for (int o = 0; o < t->obstacles; ++o) {
        contact_grip *g = &t->grip[o];
        const pl_obstacle *body = &t->c->obstacle[o];
        if (!body->free) {
            continue;
        }
        const double travel = grip_travel(t, o, x);
        const double balance = fmax(GRIP_BALANCE, GRIP_RESIDUAL * p->options.force_tolerance),
                     off = grip_stiffness(t, o, true) * travel / fmax(balance * g->load, 1e-10);
        worst = fmax(worst, g->stage < CONTACT_STAGES ? fmax(off, 2) : off);
        // what slips on under the same force is stopped by nothing near
        const double gone = g->stage < CONTACT_STAGES ? travel
                            : g->arrived              ? grip_distance(t, o, x, g->hand)
                                                      : 0;
        const double pull = grip_stiffness(t, o, true) * travel;
        const bool slips = p->slips == body->name && gone > 2 * GRIP_MOTION * body->size &&
                           fabs(pull - g->pull) <= PL_CONTACT_LIMIT * pull;
        p->loose_lost = p->loose_lost || (off > 1 && (gone > 0.5 * p->size || slips));
        if (g->stage > 0 && (!p->loose || travel > p->loose_travel) && off > 1) {
            p->loose = body->name;
            p->loose_travel = travel;
            // one that is held tighter has not fallen as far as it would
            p->loose_alone = g->alone = g->spring <= GRIP_FIRST && !g->touched && !grip_touched(t, o, x);
        }
    }

    return worst;
}

// ---- pattern: free bodies are coupled with the points near them
void contact_link(contact_term *t, const pl_problem *p, pl_pattern *out)
{
    for (int o = 0; o < t->obstacles; ++o) {
        const pl_obstacle *body = &t->c->obstacle[o];
        if (!body->free) {
            continue;
        }
        const pl_pose pose = contact_pose(t, o, t->x, t->offset);
        for (int32_t k = 0; k < t->points; ++k) {
            double at[3], y[3], n[3], weight[PL_FACE_NODES_MAX];
            const int32_t *node;
            bool *linked = &t->linked[o * t->points + k];
            pl_contact_point_at(t->s, k, t->x, at);
            contact_local(&pose, at, y);
            *linked = *linked || pl_shape_gap(&body->shape, y, t->reach, n, NULL) < t->reach;
            const int count = *linked ? pl_contact_point_nodes(t->s, k, &node, weight) : 0;
            for (int j = 0; j < count; ++j) {
                pl_pattern_couple(out, pl_problem_group(p, node[j]), pl_problem_group(p, body->frame[0]));
            }
        }
    }
}
