// Inside the contact term: what its files share.
#ifndef PL_TERM_CONTACT_H
#define PL_TERM_CONTACT_H

#include "problem/problem_impl.h"

#define CONTACT_QUANTITIES 10 // numbers told about each obstacle and pair
#define FREE_QUANTITIES 6     // about each free body

// Multipliers and, with friction, tractions and places of the last update; see pl_robot_contact.
typedef struct contact_memory {
    double *lambda;   // channels x points, MPa
    double *traction; // obstacles x points x 3
    double *place;    // the same; both in the frame of the obstacle
    double *limit;    // obstacles x points, MPa: pressure that friction takes its limit from
    double *let_go;   // per obstacle: 1 when it is free and nothing but contact holds it
} contact_memory;

// What is told about one obstacle or pair of bodies.
typedef struct contact_told {
    double force[3], moment[3], normal_force, area, max_pressure, penetration;
} contact_told;

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
    bool calm;         // it hardly moved in the last update: the spring is soft
    int stage;         // 0: held .. half: the weight is let go .. CONTACT_STAGES: all
} contact_grip;
#define CONTACT_STAGES 8

typedef struct contact_term {
    const pl_robot_contact *c;
    const pl_contact_surface *s;
    int64_t points;
    int obstacles, channels; // sets of multipliers: obstacles, then pairs
    bool pairs;
    contact_memory now;
    double *block, *kept_block; // its numbers; those before pl_problem_recall
    int64_t numbers;            // in the state
    double *stiffness;          // per point: eps, MPa/mm
    double *pair_stiffness;
    double hard, kept_hard; // both stiffnesses are so many times the usual ones
    double factored_hard;   // in the tangent assembled last
    double *from, *to;      // per obstacle: value of its command at both ends of the path
    double *offset;         // 6 per obstacle: displacement, mm; pull, N
    double *kept_offset;
    const double *X; // full: undeformed
    double at;       // of the path
    contact_grip *kept_grip;
    contact_grip *grip;                 // per obstacle: what holds free bodies besides contact
    bool *linked;                       // obstacles x points: has entries with the free body in the tangent
    double *settled_offset, *settled_x; // at the last equilibrium
    double reach;                       // mm: obstacles farther away are not felt
    // contact within and between bodies, at the last evaluation
    pl_contact_finder *finder;
    pl_contact_pair *pair;
    int32_t pair_count;
    double *x;          // full: there
    pl_table coupled;   // (point, face) that have entries in the tangent
    bool coupled_ready; // the table is in use
    bool stale;         // an active pair has none
    bool settled;       // by contact_unsettled: the contacts are
    bool *factored;     // channels x points: acts in the tangent assembled last
    bool *hit;          // the same: acts in it because a step that was rejected met it
    double *push;       // the same: l - e g where it was assembled; -INFINITY: far away
    double *met;        // the same: part of the rejected step after which it was met
    double met_first;
    // the guard of steps
    double *guard_x, *guard_found; // full: where their gaps are from; where they were found
    pl_contact_pair *guard;
    int32_t guard_count;
    // sensitivities: changes of the multipliers, and of the gaps by the parameter itself
    bool *held;
    double *mu, *rate;
    // outputs
    char (*name)[96];
    int told_count; // obstacles, self, pairs of bodies
    contact_told *told;
    uint64_t told_print;
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
// The traction at which a point slips, MPa; 0 without friction or contact.
static inline double contact_limit(const contact_term *t, int o, int32_t k)
{
    const double mu = t->c->obstacle[o].friction;
    return mu > 0 ? mu * t->now.limit[o * t->points + k] : 0;
}
// Tangential traction on the obstacle's side of a point; returns the potential per area. `stick`: no slip.
// With `tangent`, d(traction)/dx (9).
double contact_friction(const contact_term *t, int obstacle, int32_t point, const double *x,
                        double traction[3], bool *stick, double *tangent);

// ---- term_contact_free.c: where obstacles stand, and free bodies
#define CONTACT_NODES_MAX (PL_FACE_NODES_MAX + 4)
pl_pose contact_pose(const contact_term *t, int o, const double *x, const double *offset);
// A place in the frame of the obstacle, and back; a direction back.
void contact_local(const pl_pose *pose, const double at[3], double y[3]);
void contact_global(const pl_pose *pose, const double y[3], double at[3]);
void contact_turn(const pl_pose *pose, double v[3]);
// The nodes whose motion is that of a point relative to an obstacle, with weights: those of the point, and
// the vertices of a free body's frame, from the number that is returned in `own` on.
int contact_nodes(const contact_term *t, int o, int32_t k, const double *x, int32_t node[CONTACT_NODES_MAX],
                  double weight[CONTACT_NODES_MAX], int *own);
// full += scale v at these nodes; the motion `dx` of the point relative to the obstacle.
void contact_spread(const contact_term *t, int o, int32_t k, const double *x, double scale, const double v[3],
                    double *full);
void contact_relative(const contact_term *t, int o, int32_t k, const double *x, const double *dx,
                      double out[3]);
// K += second derivatives of the relative motion itself: f . d2y, f the force on the point.
void contact_add_bending(const contact_term *t, pl_problem *p, int o, int32_t k, const double f[3],
                         const double *x);
void contact_grip_begin(contact_term *t, const pl_problem *p, const double *x);
void contact_grip_evaluate(const contact_term *t, const double *x, double *energy, double *full);
void contact_grip_tangent(const contact_term *t, pl_problem *p, const double *x);
void contact_grip_advance(contact_term *t, pl_problem *p, const double *x, bool settled);
double contact_grip_unsettled(const contact_term *t, pl_problem *p, const double *x);
void contact_link(contact_term *t, const pl_problem *p, pl_pattern *out);
void contact_grip_create(contact_term *t, const pl_problem *p);
void contact_find_pairs(contact_term *t, const double *x);

// ---- term_contact_path.c
void contact_make_hard(contact_term *t, double hard);
pl_status contact_check(const void *self, const pl_problem *p, const double *command, pl_error *err);
void contact_begin(void *self, pl_problem *p, const pl_state *state, const double *command);
void contact_set(void *self, pl_problem *p, double at);
void contact_recall(void *self, pl_problem *p, const pl_state *state);
void contact_resume(void *self, pl_problem *p);
void contact_store(const void *self, const pl_problem *p, const double *command, double at, pl_state *state);
void contact_advance(void *self, pl_problem *p, const double *x);
bool contact_renews(const void *self, const pl_problem *p);
double contact_unsettled(void *self, pl_problem *p, const double *x, double *penetration);
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

// ---- term_contact_told.c: readings and fields
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
