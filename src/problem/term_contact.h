// Inside the contact term: what its files share.
#ifndef PL_TERM_CONTACT_H
#define PL_TERM_CONTACT_H

#include "problem/problem_impl.h"

#define CONTACT_QUANTITIES 10 // numbers reported about each obstacle and pair
#define FREE_QUANTITIES 6     // about each free body

// Multipliers and, with friction, tractions and places of the last update; see pl_robot_contact.
typedef struct contact_memory {
    double *lambda;   // channels x points, MPa
    double *traction; // obstacles x points x 3, of pairs in the frame of the place; of slots
    double *place;    // the same, in the frame of the obstacle; of pairs: face (from 1 on), place on it
    double *limit;    // the same x 1, MPa: pressure that friction takes its limit from
    double *let_go;   // per obstacle: 1 when it is free and nothing but contact holds it
    double *foot;   // per slot of a feature: its face (from 1 on), place on it, normal and weight at the last
                    // update
    double *origin; // pairs with friction, 2 per point, mm: where slip is counted from
    double *slide;  // per obstacle, 4: direction in which a slide holds it (0: none), its place along it, mm
} contact_memory;

// What is reported about one obstacle or pair of bodies.
typedef struct contact_reading {
    double force[3], moment[3], normal_force, area, max_pressure, penetration;
} contact_reading;

// What a free body hangs on besides contact: at first a hand holds it where it was drawn. At the end of the
// path the hand lets go in steps, first along the weight, so that friction finds its pressures, then across:
// its force is taken away while a soft spring keeps the body near where it was at the last update. In the end
// the spring has no force either.
typedef struct contact_grip {
    double hand[12];   // where it holds the frame's vertices
    double anchor[12]; // where the spring holds them
    double force[12];  // N: of the hand when it began to let go
    double down[3];    // direction of the weight
    double firm;       // N/mm: of the hand
    double load;       // N: weight and pull
    bool touched;      // something has pressed on it since the path began
    bool alone;        // nothing touched it in the last equilibrium since the hand began to let go
    double spring;     // of load over size: stiffness of the spring
    double pull;       // N: of the spring at the last update
    bool arrived;      // there was one at the end of the path
    int tightened;     // so many times
    int stage;         // 0: held .. half: the weight is let go .. CONTACT_STAGES: all
    // a slide (term_contact_slide.c): its direction, 0: none; where it holds the centre along it, mm, at both
    // ends of the path and now
    double slide[3], slide_from, slide_to, slide_at;
} contact_grip;
#define CONTACT_STAGES 8

typedef struct contact_term {
    const pl_robot_contact *c;
    const pl_contact_surface *s;
    int64_t points;
    int obstacles, channels; // sets of multipliers: obstacles, then pairs
    bool pairs, rubs;        // contact within and between bodies; it has friction
    contact_memory now;
    double *block, *kept_block; // its numbers; those before pl_problem_recall
    int64_t numbers;            // in the state
    double *area, *spacing;     // per point and slot: weight, mm^2; edge, mm
    double *stiffness;          // the same: eps, MPa/mm
    double *pair_stiffness;
    double hard, kept_hard; // both stiffnesses are so many times the usual ones
    double factored_hard;   // in the tangent assembled last
    double *from, *to;      // per obstacle: value of its command at both ends of the path
    double *offset;         // 6 per obstacle: displacement, mm; pull, N
    double *kept_offset;
    double *slide_wanted; // 4 per obstacle: the slide that load paths lead to, as contact_memory.slide
    const double *X;      // full: undeformed
    double at;            // of the path
    bool inertia;         // holds free bodies: no hand does
    contact_grip *kept_grip;
    contact_grip *grip;                 // per obstacle: what holds free bodies besides contact
    bool *linked;                       // obstacles x points: has entries with the free body in the tangent
    double *settled_offset, *settled_x; // at the last equilibrium
    double reach;                       // mm: obstacles farther away are not felt
    // faces that features of obstacles meet: PL_FEATURE_FACES slots each, numbered from `points` on like
    // points
    int32_t slots;
    pl_contact_pair *foot;        // per slot; face -1: none
    double *foot_x, *foot_offset; // where they were found
    bool feet_found;
    double feature_reach; // mm
    double whole_area;    // mm^2: of a foot that is not shared
    double *ball;         // 4 per face
    int32_t *near;        // scratch: faces
    // contact within and between bodies, at the last evaluation
    pl_contact_finder *finder;
    pl_contact_pair *pair;
    int32_t pair_count;
    double *x;          // full: there
    pl_table coupled;   // (point, face) that have entries in the tangent
    bool coupled_ready; // the table is in use
    bool stale;         // an active pair has none
    bool forgotten;     // the entries are those of shapes before contact_forget
    bool settled;       // by contact_complementarity_error: the contacts are
    bool *factored;     // channels x points: acts in the tangent assembled last
    bool *hit;          // the same: acts in it because a step that was rejected met it
    double *push;       // the same: l - e g where it was assembled; -INFINITY: far away
    double *met;        // the same: part of the rejected step after which it was met
    double met_first;
    // the guard of steps
    double *guard_x, *guard_found; // full: where their gaps are from; where they were found
    pl_contact_pair *guard;
    int32_t guard_count;
    // friction whose limits follow the pressures: points that it holds; limits when that began
    bool follows_pressure, *gripped;
    double *kept_limit;
    // where a pair of steps began: numbers, shape, obstacles; forces of friction at its end, 3 per obstacle
    double *marked, *marked_x, *marked_offset, *marked_force;
    double *press, *marked_rub; // points: MPa, of pairs; x 3: their tractions at that end
    // sensitivities: changes of the multipliers, and of the gaps by the parameter itself
    bool *held;
    double *mu, *rate;
    // outputs
    char (*name)[96];
    int reading_count; // obstacles, self, pairs of bodies
    contact_reading *reading;
    uint64_t reading_hash;
    double *pressure; // per vertex: MPa of deformed area
    double *open;     // per vertex: gap, mm
    double *weight;   // per vertex: scratch
} contact_term;

// A point that touches an obstacle, at positions x.
typedef struct contact_touch {
    double gap, n[3], H[9];
    double pressure; // lambda - eps gap, when positive
} contact_touch;

// False: the obstacle does not press on the point.
bool contact_touch_at(const contact_term *t, int obstacle, int32_t point, const double *x, bool second,
                      contact_touch *out);
double contact_pair_pressure(const contact_term *t, const pl_contact_pair *pair);
double contact_pair_offset(const contact_term *t, const pl_contact_pair *pair);

// The points that obstacle o may press on, one after the other: those of the surface, then the slots of its
// features; -1 after the last.
static inline int32_t contact_point(const contact_term *t, int o, int64_t i)
{
    const int64_t slot = i - t->points + PL_FEATURE_FACES * t->c->feature_first[o];
    return (int32_t)(i < t->points                                          ? i
                     : slot < PL_FEATURE_FACES * t->c->feature_first[o + 1] ? t->points + slot
                                                                            : -1);
}
#define CONTACT_EACH(t, o, k)                                                                                \
    for (int32_t k##_next = 0, k; (k = contact_point(t, o, k##_next)) >= 0; ++k##_next)
// Where the numbers of a point and an obstacle are: multipliers and what goes with them; friction.
static inline int64_t contact_at(const contact_term *t, int o, int32_t k)
{
    return k < t->points ? o * t->points + k : t->channels * t->points + k - t->points;
}
static inline int64_t contact_rough_at(const contact_term *t, int o, int32_t k)
{
    return (k < t->points ? o : t->obstacles + t->rubs - 1) * t->points + k;
}
static inline int64_t contact_rough_numbers(const contact_term *t)
{
    return t->c->friction ? (t->obstacles + t->rubs) * t->points + t->slots : 0;
}
static inline int64_t contact_numbers(const contact_term *t)
{
    return t->channels * t->points + t->slots;
}
#define CONTACT_FOOT 7 // numbers per slot in contact_memory.foot

// Area on which friction acts: of slots that at the last update.
static inline double contact_rough_area(const contact_term *t, int32_t k)
{
    return k < t->points ? t->area[k] : t->now.foot[CONTACT_FOOT * (k - t->points) + 6];
}

// The traction at which a point slips, MPa; 0 without friction or contact.
static inline double contact_limit(const contact_term *t, int o, int32_t k)
{
    const double mu = o < t->obstacles ? t->c->obstacle[o].friction : t->c->pair_friction;
    return mu > 0 ? mu * t->now.limit[contact_rough_at(t, o, k)] : 0;
}
void contact_held_normal(const contact_term *t, int o, int32_t k, double n[3]);

// Position of a point, or of the foot of a slot; `held`: where friction holds it.
void contact_position(const contact_term *t, int32_t k, bool held, const double *x, double out[3]);

// ---- term_contact_feature.c
#define CONTACT_NODES_MAX (PL_FACE_NODES_MAX + 4)
bool contact_feature_create(contact_term *t);

// Which faces the features meet at x, where obstacles are moved by `offset`: call it before slots are looked
// at.
void contact_find_feet(contact_term *t, const double *x, const double *offset);
const pl_feature *contact_feature(const contact_term *t, int32_t k);
bool contact_foot_touch(const contact_term *t, int32_t k, contact_touch *out);

// Nodes of the face of a slot and their weights; 0: none.
int contact_foot_nodes(const contact_term *t, int32_t k, bool held, const int32_t **node, double *weight);

// Vertices of a free body's frame and the weights with which they move the feature; 0: not free.
int contact_feature_frame(const contact_term *t, int o, int32_t k, int32_t node[4], double weight[4]);
void contact_add_foot(const contact_term *t, pl_problem *p, int o, int32_t k, double bending,
                      const double *x);
int contact_share_force(const contact_term *t, int o, int32_t k, const double *x,
                        int32_t node[CONTACT_NODES_MAX], double force[3 * CONTACT_NODES_MAX], int *frame);
double contact_share_change(const contact_term *t, int o, int32_t k, const double *x, const double *dx);
void contact_share_nonsymmetric(const contact_term *t, int o, int32_t k, const double *x, const double *dx,
                                double *full);
void contact_foot_change(const contact_term *t, int32_t k, const double *x, const double v[3],
                         const double *dx, double *change, double dn[3]);

// What the state keeps of the feet at x: faces that press, the place on them and the normal.
void contact_remember_feet(contact_term *t, const double *x, bool same_load);
void contact_remember_foot(contact_term *t, int o, int32_t k, const double *x); // of one slot that presses
double contact_feature_limit(contact_term *t, const double *x, const double *to, const double *from,
                             const double *until, double depth);
double contact_feature_stride(contact_term *t, int o, const double *x, const double *offset,
                              const double travel[3], double depth);

// Gap, or multiplier over stiffness, that ends updates, of the edge.
static inline double contact_tolerance(const pl_problem *p)
{
    return p->options.contact_tolerance > 0 ? p->options.contact_tolerance : 3e-4;
}

// Tangential traction on the obstacle's side of a point; returns the potential per area. `stick`: no slip.
// With `tangent`, d(traction)/dx (9).
double contact_friction(const contact_term *t, int obstacle, int32_t point, const double *x,
                        double traction[3], bool *stick, double *tangent);

// ---- term_contact_friction.c: limits that follow the pressures
bool contact_follow(void *self, pl_problem *p, pl_follow_mode how);

// While they do: points that touch at x take hold where they met the obstacle.
bool contact_take_hold(void *self, pl_problem *p, const double *x);
double contact_retrace(void *self, pl_problem *p, pl_retrace what, double *x);
int64_t contact_save(const void *self, double *out);
void contact_revert(void *self, pl_problem *p, const double *saved);

// At an evaluation: the pressure of a point.
void contact_follow_pressure(contact_term *t, int o, int32_t k, double pressure);
void contact_nonsymmetric(const void *self, pl_problem *p, const double *x, const double *dx, double *full);

// ---- term_contact_pair.c: friction within and between bodies
typedef struct contact_rub_error {
    double total, change, moved; // N: of pressures; what limits are off, and the sum of its sizes
    double slip;                 // of the edge: of sticking points
} contact_rub_error;
double contact_pair_friction(const contact_term *t, int32_t k, const double *x, double traction[3],
                             bool *stick, double *tangent);
bool contact_pair_coupled(const contact_term *t, int32_t point, int32_t face);
void contact_pairs_rub(contact_term *t, const double *x, double *energy, double *full);
void contact_pairs_rub_tangent(contact_term *t, pl_problem *p, const double *x);
void contact_pairs_rub_link(contact_term *t);
void contact_pairs_nonsymmetric(contact_term *t, const double *x, const double *dx, double *full);
bool contact_pairs_take_hold(contact_term *t, const double *x);
void contact_pairs_advance_friction(contact_term *t, const double *x, bool same_load);
void contact_pairs_rebase(contact_term *t, const double *x, double *block);
void contact_pairs_rub_error(contact_term *t, const double *x, contact_rub_error *out); // pairs found at x
double contact_pairs_rub_force(contact_term *t, const double *x, double *marked, bool compare);

// Forces of friction on the nodes of point k (the first `own`) and of the face it holds.
typedef void contact_pair_visit(void *context, int32_t k, int32_t face, const int32_t *node,
                                const double *force, int own, int count);
void contact_pairs_each_force(const contact_term *t, const double *x, contact_pair_visit *visit,
                              void *context);

// ---- term_contact_free.c: where obstacles stand, and free bodies
pl_pose contact_pose(const contact_term *t, int o, const double *x, const double *offset);

// A place in the frame of the obstacle, and back; a direction back.
void contact_local(const pl_pose *pose, const double at[3], double y[3]);
void contact_global(const pl_pose *pose, const double y[3], double at[3]);
void contact_turn(const pl_pose *pose, double v[3]);

// The nodes whose motion is that of a point relative to an obstacle, with weights: those of the point, and
// the vertices of a free body's frame, from the number that is returned in `own` on. `held`: for slots, the
// place where friction holds the face, else the foot.
int contact_nodes(const contact_term *t, int o, int32_t k, bool held, const double *x,
                  int32_t node[CONTACT_NODES_MAX], double weight[CONTACT_NODES_MAX], int *own);
double contact_arms(const pl_obstacle *o, const double *x, double c[3], double arm[4][3]);

// full += scale v at these nodes; the motion `dx` of the point relative to the obstacle.
void contact_spread(const contact_term *t, int o, int32_t k, bool held, const double *x, double scale,
                    const double v[3], double *full);
void contact_relative(const contact_term *t, int o, int32_t k, bool held, const double *x, const double *dx,
                      double out[3]);

// K += second derivatives of the relative motion itself: f . d2y, f the force on the point.
void contact_add_bending(const contact_term *t, pl_problem *p, int o, int32_t k, const double f[3],
                         const double *x);
// `slide`: what the path leads to, as contact_memory.slide.
void contact_grip_begin(contact_term *t, const pl_problem *p, const double *x, const double *slide);
void contact_grip_evaluate(const contact_term *t, const double *x, double *energy, double *full);
void contact_grip_tangent(const contact_term *t, pl_problem *p, const pl_linearization *here);
void contact_grip_advance(contact_term *t, pl_problem *p, const double *x, bool settled);
bool contact_grip_releases(const contact_term *t); // the next update lets go of a body a little further
double contact_grip_error(contact_term *t, pl_problem *p, const double *x);
bool contact_grip_strays(const contact_term *t, const double *x); // a body has gone too far in one update
bool contact_grip_tighten(contact_term *t);                       // the springs; false: they are firm
void contact_link(contact_term *t, const pl_problem *p, pl_pattern *out);
void contact_grip_create(contact_term *t, const pl_problem *p);
void contact_find_pairs(contact_term *t, const double *x);

// ---- term_contact_slide.c: a free body whose centre is held along a direction
void contact_slide_begin(contact_term *t, int o, const double *x, const double *wanted);
double contact_slide_force(const contact_term *t, int o, const double *x, double force[3]);
void contact_slide_tangent(const contact_term *t, pl_problem *p, int o, const double *x);

// ---- term_contact_path.c
void contact_make_hard(contact_term *t, double hard);
void contact_soften(void *self, pl_problem *p, const double *x);
pl_status contact_check(const void *self, const pl_problem *p, const double *command, pl_error *err);
void contact_begin(void *self, pl_problem *p, const pl_step *step);
void contact_set(void *self, pl_problem *p, double at);
void contact_recall(void *self, pl_problem *p, const pl_state *state);
void contact_resume(void *self, pl_problem *p);
void contact_store(const void *self, const pl_problem *p, const double *command, double at, pl_state *state);
void contact_accept(void *self, pl_problem *p, const double *x, pl_accept how);

// Where friction takes hold of a point that touches at x, relative to the obstacle.
void contact_anchor(const contact_term *t, int o, int32_t k, const double *x, double gap, double place[3]);
bool contact_renews(const void *self, const pl_problem *p);
double contact_complementarity_error(void *self, pl_problem *p, const double *x, double *penetration);
double contact_step_limit(const void *object, const pl_problem *p, const double *x, const double *to);
double contact_stride(void *self, pl_problem *p, const double *x, double at);
bool contact_obsolete(const void *self, const pl_problem *p, const double *x);

// ---- term_contact_examine.c
void contact_examine(void *self, pl_problem *p, const double *x, pl_contact_fault *fault);

// ---- term_contact_hold.c
bool contact_one_sided(const void *self, const pl_problem *p, const pl_state *state);
pl_status contact_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                             double *full, double *target, pl_error *err);
extern const pl_term_hold contact_hold;

// ---- term_contact_readings.c: readings and fields
void contact_tell(contact_term *t, pl_problem *p, const double *x);
void contact_tell_state(contact_term *t, pl_problem *p, const pl_state *state);
void contact_names(contact_term *t);
void contact_field(void *self, pl_problem *p, const pl_state *state, bool gap, double *out);
int contact_output_count(const void *self);
pl_output contact_output(const void *self, int k);
double contact_value(void *self, pl_problem *p, const pl_state *state, int k);
double contact_change(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                      const double *mu, const pl_parameter *q);
void contact_pull_back(void *self, pl_problem *p, const pl_state *state, int k, double weight, double *full,
                       double *rho);

#endif
