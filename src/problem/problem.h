// The problem: what pulls on the body, as a list of terms, and the unknowns, the tangent and the linear
// system they share. For the rooms that look for an equilibrium (statics) or a motion on it; how they go
// there, in which increments and by which descent, is their own affair.
//
//   G(x) = sum over terms dE/dx + A^T p = 0,   h(x) = target for the rows A = dh/dx of constraints
//
// Reading order: rows, terms, unknowns, tangent, linear system, then the functions in the order a solve calls
// them. Vectors "full" have 3 entries per vertex; vectors of unknowns have one entry per displacement
// unknown, six per rigid body and, interleaved, one per pressure (kept 0 outside of the linear solver).
#ifndef PL_PROBLEM_ROOM_H
#define PL_PROBLEM_ROOM_H

#include "actuator/actuator.h"
#include "base/base.h"
#include "base/vec.h"
#include "element/element.h"
#include "pliant/problem.h"
#include "robot/robot.h"
#include "solver/solver.h"

#define PL_ROWS_MAX 64 // most rows: the small systems of the bordered solve live on the stack
// Strain: a fibre or spring this near to being taut counts as taut, the side that acts.
#define PL_TAUT 1e-12
#define PL_TERMS_MAX 16
#define PL_CONTACT_LIMIT 3e-3 // of the largest pressure: change that friction takes no notice of

typedef struct pl_problem pl_problem;
typedef struct pl_pattern pl_pattern;

// ---- rows: the few dense rows that border the sparse tangent
// A constraint h(x) = target (or h <= target, multiplier >= 0), or a potential Phi(h) whose curvature Phi''
// would fill the tangent: the rank-one part Phi'' a a^T is kept as a row of compliance 1 / Phi''.
typedef struct pl_row {
    int term; // that owns it
    const pl_functional *h;
    // set by its term in begin and set
    bool wanted;         // acts on the present load path
    bool constraint;     // otherwise a potential
    bool inequality;     // h <= target only
    double target, unit; // of h; violations are judged relative to `unit`
    // set by its term in evaluate (measure also by pl_problem_restore), valid at the x evaluated last
    double measure;   // h(x)
    double curvature; // Phi''(h); 0: none
    double *a;        // n: dh/d(unknowns); only after an evaluation with gradient
    // set by its term in begin, changed by the active-set strategy
    bool active;     // constraints: holds
    bool was_active; // in the state the path began with
    // computed by pl_problem_residual for constraints: dPhi/dh, the force along the row
    double multiplier;
} pl_row;

// ---- terms
// Numbers a term can tell about a solution, with exact derivatives. Measures and efforts belong to actuators.
typedef enum pl_output_kind { PL_OUTPUT_MEASURE, PL_OUTPUT_EFFORT, PL_OUTPUT_READING } pl_output_kind;

typedef struct pl_output {
    pl_output_kind kind;
    int actuator;         // measures and efforts
    pl_reading_info info; // readings
} pl_output;

// Inequalities g >= 0 of a term that hold and stay at their status in a derivative: how many numbers `y` they
// have (0: none holds; y is 0 for those that do not), with the weights w of their inner product; g's change
// for a motion dx, with `rate` also by the parameter itself; full += sum w y dg/dx; and the y in the end.
typedef struct pl_term_hold {
    int64_t (*count)(void *self, pl_problem *p, const double *x);
    void (*weight)(const void *self, const pl_problem *p, double *w);
    void (*gap)(const void *self, const pl_problem *p, const double *x, const double *dx, bool rate,
                double *y);
    void (*force)(const void *self, const pl_problem *p, const double *x, const double *y, double *full);
    void (*end)(void *self, const double *y);
} pl_term_hold;

// Forces without a potential that otherwise change only when a shape is accepted, limits of friction and
// forces on open rims: at each evaluation they become those of its shape; they stay as they were at the last
// one; they go back to what they were before.
typedef enum pl_follow_mode { PL_FOLLOW_SHAPE, PL_FOLLOW_KEPT, PL_FOLLOW_BACK } pl_follow_mode;

// Steps of friction (statics_path.c): what it holds at x is noted; its forces at x are noted (returns the sum
// of their sizes, N); that is exchanged with what it holds now; forces at x are compared with those noted
// (returns the largest difference, N); back to what was noted, x included.
typedef enum pl_retrace {
    PL_RETRACE_MARK,
    PL_RETRACE_FORCES,
    PL_RETRACE_EXCHANGE,
    PL_RETRACE_COMPARE,
    PL_RETRACE_BACK
} pl_retrace;

// Which contacts act in an evaluation or a tangent: those that press; the same, and those that the factor
// does not have are counted (pl_problem.contact_hits); with those that stand at their surface; with those
// that were counted, closed from the start; those in the factor at hand, linear in the obstacles' motion
// since the last equilibrium, for the first step of an increment; none, where the length of an increment is
// chosen.
typedef enum pl_contact_mode {
    PL_CONTACT_ACTS,
    PL_CONTACT_COUNTED,
    PL_CONTACT_TOUCHING,
    PL_CONTACT_HIT,
    PL_CONTACT_LINEAR,
    PL_CONTACT_ABSENT
} pl_contact_mode;

// What a factor is made of where the constrained tangent is not positive: its positive part; the tangent as
// it is; the tangent with its modes of negative curvature made positive, where they are few.
typedef enum pl_indefinite { PL_POSITIVE_PART, PL_AS_IT_IS, PL_MODES_FLIPPED } pl_indefinite;

// Where and how the equations are evaluated and linearised. With `predicted` the tangent has the pressures
// and stresses that a step predicted instead of those of the shape x, which are far from smooth where the
// shape is still out of balance.
typedef struct pl_linearization {
    const double *x;           // full
    double positive_part;      // 0: the tangent, 1: its positive part
    pl_indefinite indefinite;  // where it is not positive
    bool evaluated;            // the last evaluation, and its residual, were at x
    bool exact;                // for derivatives: nothing may be left out that only steps can spare
    const pl_ahead *predicted; // NULL: the stresses of x
    pl_contact_mode contacts;
} pl_linearization;

// A step of everything that acts on the body: from a state to new commands, along a load path or in time. To
// stand at a state the step leads to its own commands and load.
typedef struct pl_step {
    const pl_state *from;  // shape, commands, loads and histories where it begins
    const double *command; // at its end
    double load;           // of dead loads and driven clamps at its end
    const double
        *force; // at its end, as pl_state.force; NULL: what pl_problem_set_forces and pl_problem_pull gave
    const double *contact; // NULL: contact begins with the history of `from`; else with these numbers
} pl_step;

static inline pl_step pl_step_at(const pl_state *state)
{
    return (pl_step){.from = state, .command = state->command, .load = state->load, .force = state->force};
}

// How a shape is accepted: at the end of an increment, where the next begins; or within one, at a load that
// stays: multipliers follow, and friction keeps the places where the increment began.
typedef enum pl_accept { PL_ACCEPT_INCREMENT, PL_ACCEPT_UPDATE } pl_accept;

// Steps of a term: of its commands and loads, and of what it remembers. Functions may be NULL.
typedef struct pl_term_steps {
    // Refuses commands that nothing can follow.
    pl_status (*check)(const void *self, const pl_problem *p, const double *command, pl_error *err);
    // Takes both ends of a step; goes to the fraction `at` between them.
    void (*begin)(void *self, pl_problem *p, const pl_step *step);
    void (*set)(void *self, pl_problem *p, double at);
    // What changes once a shape is accepted.
    void (*accept)(void *self, pl_problem *p, const double *x, pl_accept how);
    // What accepting changes, as numbers: their count, with `out` the numbers; and back to such numbers.
    int64_t (*save)(const void *self, double *out);
    void (*revert)(void *self, pl_problem *p, const double *saved);
    // Writes its share of a state found at `at`.
    void (*store)(const void *self, const pl_problem *p, const double *command, double at, pl_state *state);
    // Stands where a state stands, without a step; back to where it stood before.
    void (*recall)(void *self, pl_problem *p, const pl_state *state);
    void (*resume)(void *self, pl_problem *p);
    // Does a command stand where its derivative is one-sided?
    bool (*one_sided)(const void *self, const pl_problem *p, const pl_state *state);
    // Is a factor made at other loads of no use, because the body itself changes along the path?
    bool (*renews)(const void *self, const pl_problem *p);
} pl_term_steps;

// Outputs of a term, numbered 0 .. count - 1.
typedef struct pl_term_outputs {
    int (*count)(const void *self);
    pl_output (*about)(const void *self, int k);
    double (*value)(void *self, pl_problem *p, const pl_state *state, int k);
    // Its change for a motion dx (full; NULL: none), changes mu of the rows' multipliers and the direct
    // effect of a parameter (NULL: none).
    double (*change)(void *self, pl_problem *p, const pl_state *state, int k, const double *dx,
                     const double *mu, const pl_parameter *q);
    // The transpose: full += weight d(output)/dx, rho[row] += weight d(output)/d(multiplier).
    void (*pull_back)(void *self, pl_problem *p, const pl_state *state, int k, double weight, double *full,
                      double *rho);
} pl_term_outputs;

// What a term answers. A function may be NULL where a term has nothing to say. `full` is added to, never set.
// What one term alone offers are functions of its file (problem_contact.c, and pl_problem_rate,
// pl_problem_couples, pl_problem_guarded).
typedef struct pl_term {
    const char *name;
    bool elastic; // its energy is the elastic energy of the body
    bool stiff;   // it resists strain far more than the body does: see pl_problem_stiff
    void (*destroy)(void *self);

    // Sparsity: announces which groups of unknowns it couples; whether that has changed since (asked between
    // increments); looks up where its entries stand in the matrix just laid out.
    void (*pattern)(const void *self, const pl_problem *p, pl_pattern *out);
    bool (*changed)(const void *self);
    // Begins as when it was created, its pattern too: nothing is left of shapes before.
    void (*forget)(void *self);
    pl_status (*bind)(void *self, pl_problem *p, pl_error *err);

    // Adds its energy, INFINITY where the shape is not possible, and with `full` dE/dx, and leaves measures,
    // curvatures and gradients in its rows; forces of constraints are not in it.
    void (*evaluate)(void *self, pl_problem *p, const pl_linearization *here, double *energy, double *full);
    // Adds d2E/dx2 and the multipliers' share to p->tangent.K, where it was evaluated last.
    void (*tangent)(void *self, pl_problem *p, const pl_linearization *here);
    // Does some force of the term follow the shape only when it is accepted? With `full` the change of that
    // force for dx is added, the part of the tangent that is not symmetric and was left out.
    bool (*lag)(const void *self, pl_problem *p, const double *x, const double *dx, double *full);
    // Does such a force follow the shape within one equilibrium where the solver asks for it? `how`: from now
    // on.
    bool (*follow)(void *self, pl_problem *p, pl_follow_mode how);
    // Of everything besides x that its tangent depends on.
    uint64_t (*fingerprint)(const void *self, const pl_problem *p, uint64_t hash);
    // The largest fraction of the step from x to `to` that may be taken (an energy that becomes infinite
    // needs none); whether an equilibrium x is admissible beyond doubt.
    double (*step_limit)(const void *self, const pl_problem *p, const double *x, const double *to);
    bool (*admissible)(void *self, pl_problem *p, const double *x);

    // At a state (after pl_problem_recall), with its own multipliers: adds dE/dx.
    void (*forces)(void *self, pl_problem *p, const pl_state *state, double *full);
    // At a state (begun and evaluated there): adds -dG/dq to `full` and d(target)/dq to `target` (per row).
    pl_status (*derivative)(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                            double *full, double *target, pl_error *err);

    const pl_term_steps *steps;
    const pl_term_outputs *outputs;
} pl_term;

typedef struct pl_problem_term {
    const pl_term *kind;
    void *self;
} pl_problem_term;

// Leaves out->kind NULL when the robot has nothing of the kind.
typedef pl_status (*pl_term_create)(pl_problem *p, pl_problem_term *out, pl_error *err);

// ---- unknowns
typedef struct pl_rigid_motion {
    int32_t unknown; // first of six: translation, rotation about the centre
    int32_t node_count;
    const int32_t *node;
    double centre[3]; // where the tangent was assembled last
    double radius;    // mm: the farthest vertex in the undeformed configuration
} pl_rigid_motion;

typedef struct pl_unknowns {
    int32_t n;             // all, pressures included
    int32_t *dof;          // 3 per vertex: unknown or -1
    int32_t *rigid_of;     // per vertex: rigid body or -1
    int32_t *pressure_dof; // per pressure number
    int32_t *support_of;   // 3 per vertex: support that holds the axis (the last one), or -1
    bool *turns;           // per vertex: all three axes free, may be rotated
    pl_rigid_motion *rigid;
    int rigid_count;
} pl_unknowns;

// ---- tangent
typedef struct pl_tangent {
    pl_sparse K;     // computed by pl_problem_assemble, holds until the next
    double *dense;   // scratch: the second derivative of one piece of a functional
    int32_t largest; // vertices of the largest such piece
} pl_tangent;

// ---- the factored tangent and its border
// What a factor is good for; each includes those before.
typedef enum pl_factor_use {
    PL_FACTOR_STEPS,
    PL_FACTOR_PROOF, // made at an equilibrium with its own multipliers and pressures: its inertia counts
    PL_FACTOR_EXACT  // and in double precision: derivatives
} pl_factor_use;
#define PROBLEM_SOFT 3   // soft modes
#define PL_MODES_MOST 12 // modes of negative curvature; with more the positive part of the tangent is taken
typedef struct pl_linear {
    pl_factor *factor;
    pl_factor *spare; // a second one, for pl_problem_factor_exact with `aside`; NULL: none yet
    bool aside;       // an exact factor that is interrupted leaves the one before as it was
    pl_factor_kind kind;
    pl_factor_report report;
    bool has_factor; // usable: factored since the pattern was laid out, not singular
    bool turned;     // by `rotation`, since pl_problem_turn
    double blend;    // 0: the true tangent, 1: its positive part
    pl_factor_use use;
    uint64_t print; // of what besides x the factor depends on, where `use` is more than steps
    double *x;      // full: where the factor was made
    int border_count;
    int border[PL_ROWS_MAX]; // the rows it has
    // per border, made with the factor: row a_k, K^-1 a_k, the same turned; pressures in K^-1 a_k
    double *row, *plain, *solution, *pressure;
    // right sides of several parameters and their solutions, PL_SIDES each; taken when first needed
    double *side, *sided;
    double (*target)[PL_ROWS_MAX]; // of their rows
    double *rotation;              // 9 per vertex: turned since the factor; by pl_problem_turn
    double *turn;                  // 9 per element of a block: scratch of pl_problem_turn
    int32_t *turn_code;            // per entry of pl_elements.vertex_code: its element there
    double *pressure_step;         // per pressure number: its change in the last linear solve
    int factorizations, solves;    // counts; whoever solves resets them
    int64_t version;               // of the factor: counts all that were made
    // single precision (pl_factor_update_single) for factors that only precondition
    bool single_certain;               // its inertia is beyond doubt
    double single_error;               // of a solve with the last one that was looked at; 0: none yet
    int single_unseen;                 // made since without a look
    bool single_refused;               // it did not serve: the following ones are made in double precision
    int single_count, single_refusals; // counts, as factorizations
    // soft modes W that such a factor is put right for, K W and (W^T K W)^-1: problem_single.c
    double *soft, *soft_force, soft_inverse[PROBLEM_SOFT * PROBLEM_SOFT];
    int soft_count; // 0: none
    // how many steps this version of the factor has preconditioned, and whether in 16 bits by now
    int64_t served_version;
    int served;
    bool packed;
    // modes of negative curvature, in the frame of the factor, which is used with their eigenvalues made
    // positive (problem_modes.c): displacements, pressures that go with them, 1 / eigenvalue
    double *mode, *mode_pressure, mode_theta[PL_MODES_MOST];
    int mode_count; // 0: none, the factor is used as it is
} pl_linear;

// ---- forces at markers, set at run time: a load path of their own beside that of the robot's loads
typedef struct pl_marker_forces {
    // 3 per marker and 3 for the grip, N: where the next path goes to; both ends of the present path, and now
    double *asked, *from, *to, *now;
    double *kept;  // `now` before pl_problem_recall
    pl_point grip; // where a hand pulls; without vertices: nowhere
} pl_marker_forces;

// The point at which force k of pl_marker_forces acts.
static inline const pl_point *pl_force_point(const pl_robot *robot, const pl_marker_forces *forces, int k)
{
    return k < robot->marker_count ? &robot->marker[k].point : &forces->grip;
}

typedef struct pl_problem_options {
    bool displacement; // plain elements everywhere, whatever the materials say
    pl_distribution distribution;
    pl_linear_solver linear_solver;
    double
        contact_tolerance;  // of the edge length: gap, or multiplier over stiffness, that ends their updates
    double force_tolerance; // relative: below it a balance cannot be distinguished from rounding
    bool inertia;           // it, and no hand, holds free bodies that nothing touches
    const void *extra;      // for the constructors of further terms (pl_problem_create)
} pl_problem_options;

struct pl_problem {
    const pl_robot *robot;
    pl_problem_options options;
    pl_mesh_view mesh;
    pl_elements *elements; // the body; its buffers hold the last evaluation
    int shapes;            // counts changes of the elements' stress-free shapes
    int layouts;           // counts changes of the pattern
    double size;           // mm: diagonal of the bounding box
    double stiffness;      // MPa: largest mu
    double modulus;        // MPa: largest mu + kappa of the deformable regions
    double reach;          // mm: largest distance of a vertex from the origin, plus `size` for its motion
    double noise;          // N: what rounding leaves of a balance of nodal forces; terms may raise it

    pl_problem_term term[PL_TERMS_MAX];
    int term_count;
    struct contact_term *contact; // one of them; NULL: no contact
    pl_row row[PL_ROWS_MAX];
    int row_count;

    double load_from, load_to, load; // dead loads and driven clamps, 0 .. 1: both ends of the path, and now
    double load_kept;                // the load before pl_problem_recall
    pl_marker_forces forces;
    double limits_off;  // by pl_problem_complementarity_error: change of pressures that friction takes its
                        // limits from, over the largest pressure; 0 without friction
    bool friction_acts; // by pl_problem_holds, and where derivatives begin
    // by pl_problem_complementarity_error: a free body that contact does not hold, and how far it has moved
    // since the last update, mm; NULL: none
    const char *loose;
    const char *slips; // a free body whose friction is nearly used up; NULL: none
    double loose_travel;
    bool loose_alone; // nothing has touched it
    bool loose_lost;  // it has gone too far from where it was let go, or slips on under the same force
    double gaps_off;  // by pl_problem_complementarity_error: gap, or multiplier over stiffness, over what is
                      // accepted
    bool releasing;   // by pl_problem_advance: a free body is not let go of altogether yet
    double contact_hard; // stiffness of contacts over the usual one, a power of two; 1 when a path begins
    int contact_hits;    // by evaluations with PL_CONTACT_COUNTED: contacts that the factor does not have
    bool contact_moved;  // the last evaluation with PL_CONTACT_LINEAR: an obstacle that presses has moved
    bool contact_shared; // the same, with features, whose shares among faces change from step to step

    pl_unknowns unknowns;
    pl_tangent tangent;
    pl_linear linear;

    pl_watch *watch;  // asked during factorisations; NULL: none
    double *gradient; // full: dE/dx of the last evaluation with gradient, held vertices included
    double min_J;     // smallest over the quadrature points at the last evaluation
    pl_arena scratch;
};

// ---- creation. `extra` (may be NULL) ends with NULL: constructors of further terms, after those of the
// list.
pl_status pl_problem_create(const pl_robot *robot, const pl_problem_options *options,
                            const pl_term_create *extra, pl_problem **out, pl_error *err);
void pl_problem_destroy(pl_problem *p);

// Forces at the markers (3 per marker, N; NULL: none) that the load paths begun from now on lead to.
void pl_problem_set_forces(pl_problem *p, const double *force);

// The point (undeformed, mm; NULL: none) where a hand pulls, spread over `radius`; and its force (N),
// likewise.
pl_status pl_problem_grip(pl_problem *p, const double at[3], double radius, pl_error *err);
void pl_problem_pull(pl_problem *p, const double force[3]);

// A slide that holds the centre of the free obstacle along a unit direction (NULL: none) at `place`, mm: the
// load paths begun from now on lead to it. Part of a state. Its force on the body at a state, N.
void pl_problem_slide(pl_problem *p, int obstacle, const double direction[3], double place);
double pl_problem_slide_force(pl_problem *p, const pl_state *state, int obstacle);

// How the bodies of the robot hold a free obstacle at a state: two sums of normal forces each, N, of all
// points and of those whose friction is at its limit.
void pl_problem_hold_of(pl_problem *p, const pl_state *state, int obstacle, double *out);

// A vector of 3 entries per vertex, or of one per unknown, from the scratch arena: not zeroed, held until
// pl_arena_end.
static inline double *pl_problem_take_full(pl_problem *p)
{
    return PL_TAKE(&p->scratch, double, 3 * (int64_t)p->mesh.vertex_count);
}
static inline double *pl_problem_take_unknown(pl_problem *p)
{
    return PL_TAKE(&p->scratch, double, p->unknowns.n);
}
static inline size_t pl_problem_full_bytes(const pl_problem *p)
{
    return 3 * (size_t)p->mesh.vertex_count * sizeof(double);
}

// ---- unknowns (problem_unknowns.c)
void pl_problem_gather(const pl_problem *p, const double *full, const double *x,
                       double *u); // full to unknowns
void pl_problem_move(const pl_problem *p, const double *x, const double *u, double scale,
                     double *out); // retraction: displacements add, rigid bodies turn

// du to the motion of all vertices, to first order
void pl_problem_expand(const pl_problem *p, const double *x, const double *d, double *full);
void pl_problem_clamp(const pl_problem *p, double load, double *x); // puts held vertices where they belong

// Largest nodal entry; INFINITY when any entry is not a number.
double pl_problem_largest(const pl_problem *p, const double *u, bool force);

// ---- load path
pl_status pl_problem_check(const pl_problem *p, const double *command, pl_error *err);

// Begins a step; pl_problem_set goes to a fraction of it. Lays out a pattern that has changed, as
// pl_problem_accept does.
pl_status pl_problem_begin_step(pl_problem *p, const pl_step *step, pl_error *err);
void pl_problem_set(pl_problem *p, double at);

// Stands where the state stands, for what is asked about it, and goes back to where it stood before.
void pl_problem_recall(pl_problem *p, const pl_state *state);
void pl_problem_resume(pl_problem *p);

// ---- at positions x (problem_eval.c)
// Energy of everything except constraints; gradient by unknowns if `g` is given. INFINITY when not possible.
double pl_problem_evaluate(pl_problem *p, const double *x, double *g);
double pl_problem_evaluate_as(pl_problem *p, pl_contact_mode contacts, const double *x, double *g);

// The elastic part alone: elements and what grows; `full` (may be NULL) gets its gradient.
double pl_problem_elastic(pl_problem *p, const double *x, double *full);

// Multipliers of the active constraints from the gradient, and the residual r = g + A^T multiplier. Returns
// the largest nodal residual.
double pl_problem_residual(pl_problem *p, const double *g, double *r);
double pl_problem_force_scale(const pl_problem *p);     // largest nodal force at the last evaluation
void pl_problem_gaps(const pl_problem *p, double *rho); // target - measure per border, 0 for potentials

// Lets go of or takes hold of inequalities, at the multipliers and measures of the last evaluation. True when
// the set changed.
bool pl_problem_activate(pl_problem *p, bool let_go);
double pl_problem_step_limit(const pl_problem *p, const double *x, const double *to);
bool pl_problem_admissible(pl_problem *p, const double *x);

// Terms follow a shape that is accepted, and a pattern that has changed is laid out again.
pl_status pl_problem_accept(pl_problem *p, const double *x, pl_accept how, pl_error *err);

// Where a step that may fail begins: which rows hold, and what terms have accepted. Reverting leaves x and
// the fraction of the path to the caller.
typedef struct pl_mark {
    bool active[PL_ROWS_MAX];
    double *history;
} pl_mark;

pl_status pl_mark_create(const pl_problem *p, pl_mark *mark); // PL_OK or PL_NO_MEMORY
void pl_mark_clear(pl_mark *mark);
void pl_problem_mark(const pl_problem *p, pl_mark *mark);
void pl_problem_revert(pl_problem *p, const pl_mark *mark);

void pl_problem_soften(pl_problem *p, const double *x); // contacts have their usual stiffness again

// A free body that nothing but contact holds has gone too far from where it was at the last update, and can
// be held tighter; holds such bodies tighter. False: there is none, or they are held firmly.
bool pl_problem_strays(const pl_problem *p, const double *x);
bool pl_problem_tighten(pl_problem *p);
bool pl_problem_lags(pl_problem *p);    // some force follows the shape only when it is accepted
bool pl_problem_settles(pl_problem *p); // the same, and within one equilibrium it cannot follow

// Forces without a potential follow the shape from now on, or no longer. False: there are none.
bool pl_problem_follow(pl_problem *p, pl_follow_mode how);

// Measure and gradient of row i at x.
void pl_problem_row_at(pl_problem *p, const double *x, int i);
bool pl_problem_touches(const pl_problem *p); // some term has multipliers to settle at fixed loads
double pl_problem_complementarity_error(pl_problem *p, const double *x, double *penetration);

// Limits of friction that follow the pressures: what they add to the change of forces on all vertices for a
// motion dx, -d(dE/dx).
void pl_problem_take_limits(pl_problem *p, const double *x); // they become those of x, and stay as they are
bool pl_problem_take_hold(pl_problem *p, const double *x); // points that touch at x take hold; true: some did
double pl_problem_retrace(pl_problem *p, pl_retrace what, double *x);
void pl_problem_nonsymmetric(pl_problem *p, const double *x, const double *dx, double *full);
pl_contact_fault pl_problem_examine(pl_problem *p, const double *x);
double pl_problem_stride(pl_problem *p, const double *x, double at);
bool pl_problem_obsolete(const pl_problem *p, const double *x);
void pl_problem_contact_field(pl_problem *p, const pl_state *state, bool gap, double *out);
void pl_problem_couples(pl_problem *p, const pl_state *state, double *couple); // 3 per support, added to
bool pl_problem_holds(pl_problem *p, const double *x); // some inequality that holds stays so in a derivative

// Writes x, load, multipliers and commands of the fraction `at` of the load path into a state.
void pl_problem_store(const pl_problem *p, const double *command, double at, const double *x,
                      pl_state *state);

// The largest violation of an active constraint at x, over its unit.
double pl_problem_constraint_error(pl_problem *p, const double *x);

// Elements that a guard keeps from folding at x (term_guard.c).
int pl_problem_guarded(const pl_problem *p, const double *x);

// dE/d(command) of the elastic energy at a state, positions held.
double pl_problem_rate(pl_problem *p, const pl_state *state, int command);

// After pl_problem_recall: dE/dx of everything at a state with its own multipliers; `reference`: sharing
// nothing with evaluations. With `largest_elastic` the largest nodal elastic force.
void pl_problem_forces(pl_problem *p, const pl_state *state, bool reference, double *full,
                       double *largest_elastic);

// ---- pattern and tangent (problem_pattern.c, problem_assemble.c)
// First unknown of a vertex's displacements or of its rigid body; -1: held.
int32_t pl_problem_group(const pl_problem *p, int32_t vertex);

// Couples two groups (first unknowns); a group of -1 is left out.
void pl_pattern_couple(pl_pattern *pattern, int32_t a, int32_t b);
void pl_pattern_functional(pl_pattern *pattern, const pl_problem *p, const pl_functional *h);
pl_status pl_problem_layout(pl_problem *p, pl_error *err); // lays out K again and binds all terms

// Where the second derivatives of a functional go.
typedef struct pl_slots {
    int64_t *start; // per piece; -1: touches a rigid body, searched for
    int64_t *slot;  // of the upper triangle of each piece's dense matrix; -1: not an unknown
} pl_slots;

pl_status pl_slots_bind(pl_problem *p, const pl_functional *h, pl_slots *slots, pl_error *err);
void pl_slots_clear(pl_slots *slots);

// K += scale d2h/dx2
void pl_problem_add_functional(pl_problem *p, const pl_functional *h, const pl_slots *slots, const double *x,
                               double scale);

// K += the dense symmetric matrix of one piece of h, left in p->tangent.dense (3 m x 3 m, m vertices)
void pl_problem_add_piece(pl_problem *p, const pl_functional *h, const pl_slots *slots, int piece,
                          const double *x);

// K += Ja^T B Jb for the 3 x 3 block (row-major with `stride`) of vertices a and b, upper triangle only: to
// be called for (a, b) and, with the transpose, (b, a). Searches for its slots.
void pl_problem_add_block(pl_problem *p, int32_t a, int32_t b, const double *B, int stride, const double *x);
int pl_problem_vertex_unknowns(const pl_problem *p, int32_t v, const double *x, int32_t unknown[6],
                               double J[18]);

// The tangent, where everything was evaluated last.
void pl_problem_assemble(pl_problem *p, const pl_linearization *at);

// ---- linear system (problem_linear.c, problem_turn.c)
pl_status pl_problem_linear_create(pl_problem *p, pl_error *err);
void pl_problem_linear_destroy(pl_problem *p);

// Assembles and factors.
pl_status pl_problem_refactor(pl_problem *p, const pl_linearization *at, pl_error *err);

// The true tangent at x with the multipliers as they are in the rows; pressures and rows must be those of x.
// Nothing is done when the factor at hand is that one.
pl_status pl_problem_factor_exact(pl_problem *p, const double *x, pl_error *err);

// The true tangent at the equilibrium x, factored for its inertia (pl_problem_unstable): in single precision
// where that leaves no doubt. A singular one is PL_OK without a factor (linear.has_factor).
pl_status pl_problem_factor_proof(pl_problem *p, const double *x, pl_error *err);

// Has it parts so stiff that a step which turns them strains them to second order, and raises the energy by
// more than the step gains? The step is right nevertheless: the next tangent, made with the stresses it
// predicted, takes that strain away.
bool pl_problem_stiff(const pl_problem *p);

// Has the factor at hand all that acts on the present path, as a start for a new solve?
bool pl_problem_factor_serves(const pl_problem *p);
int pl_problem_unstable(
    const pl_problem *p); // negative eigenvalues on the constraints' null space at the factor

// Finds the modes of negative curvature of the factor just made, most negative eigenvalue first, and makes
// them positive in the solves that follow. False: there is none, or too many.
bool pl_problem_modes(pl_problem *p);

// Signs without a pattern, so that every mode takes part; none on pressures. `seed` (NULL: the usual one) is
// advanced.
void pl_problem_draw(const pl_problem *p, uint64_t *seed, double *b);
void pl_problem_turn(pl_problem *p, const double *x); // the factor turns with the body from where it was made

// y <- R y (or R^T y), with the rotations of the vertices since the factor was made; unknowns.
void pl_problem_rotate(const pl_problem *p, double *y, bool transpose);

// [K A^T; A -c][d; mu] = [b; rho] with the rows of the last evaluation and the turned factor; rho and mu per
// border (rho NULL: 0). Constraints not active are left out. False when constraints depend on each other.
bool pl_problem_solve_bordered(pl_problem *p, const double *b, const double *rho, double *d, double *mu);

// The same for one step of an iteration, whose errors the next one corrects: a factor that has served some is
// used in 16 bits (pl_factor_pack), which takes half the time.
bool pl_problem_precondition(pl_problem *p, const double *b, const double *rho, double *d, double *mu);

// The same where K^-1 b is known: `plain`, as pl_factor_solve leaves it, of a factor that is not turned.
bool pl_problem_solve_rows(pl_problem *p, const double *plain, const double *rho, double *d, double *mu);
bool pl_problem_restore(pl_problem *p, double *x, double tolerance); // back onto the constraints

// ---- derivatives (problem_sensitivity.c)
typedef struct pl_sensitivity_report {
    bool one_sided;
    int negative_count;
    double residual; // relative, the largest so far
} pl_sensitivity_report;

// Stands at the state with the true tangent factored there. A cable without tension that stands at its target
// takes hold when it is pulled further, unless `slack_free`.
pl_status pl_sensitivity_begin(pl_problem *p, const pl_state *state, bool slack_free,
                               pl_sensitivity_report *report, pl_error *err);
pl_status pl_parameter_check(const pl_problem *p, const pl_parameter *q, pl_error *err);

// Solves the right sides of up to PL_SIDES parameters at once, for the columns that follow: the factor is
// read once. False: not with contact, without memory, or where a parameter has no derivative; the columns are
// then solved one by one.
#define PL_SIDES 8
bool pl_sensitivity_together(pl_problem *p, const pl_state *state, const pl_parameter *q, int count);

// The motion dx (full) of all vertices and the change mu of the multipliers (per row, PL_ROWS_MAX entries)
// for one parameter; `together`: its number in the last pl_sensitivity_together, -1: not in it.
pl_status pl_sensitivity_column(pl_problem *p, const pl_state *state, const pl_parameter *q, int together,
                                double *dx, double *mu, pl_sensitivity_report *report, pl_error *err);

// Gradient of sum by_position . x + sum by_output . output over all parameters with one solve.
// `by_output` per output in the order of pl_problem_output.
pl_status pl_sensitivity_adjoint(pl_problem *p, const pl_state *state, const double *by_position,
                                 const double *by_output, const pl_parameter *parameter, int count,
                                 double *gradient, pl_sensitivity_report *report, pl_error *err);

// ---- derivatives with the factor at hand (problem_columns.c)
#define PL_COLUMNS_MOST 16

// Motion Y and change of the multipliers for each of a few parameters, [K A^T; A -c][Y; mu] = [-dG/dq;
// dt/dq], with the factor as it is: turned, of another shape, in single precision. Solved once per factor,
// then turned along with it.
typedef struct pl_columns {
    int count;
    double *side;                            // -dG/dq: count columns of unknowns
    double *plain;                           // K^-1 side, in the frame of the factor
    double *motion;                          // Y
    double *pressure;                        // change of the pressures that goes with it
    double mu[PL_COLUMNS_MOST][PL_ROWS_MAX]; // per row
    pl_parameter parameter[PL_COLUMNS_MOST]; // that `plain` belongs to
    int64_t version;                         // the factor it belongs to: pl_linear.version; 0: none
} pl_columns;

pl_status pl_columns_create(const pl_problem *p, pl_columns *columns, int count, pl_error *err);
void pl_columns_clear(pl_columns *columns);

// At a state that is evaluated, with a factor that serves. False: a parameter has no derivative there, or
// prescribed values depend on each other.
bool pl_columns_make(pl_problem *p, const pl_state *state, const pl_parameter *parameter,
                     pl_columns *columns);

// The factor and what was learned with it: as after pl_problem_create.
void pl_problem_forget(pl_problem *p);

// ---- outputs of all terms, numbered through (problem_outputs.c)
int pl_problem_output_count(const pl_problem *p);
pl_output pl_problem_output(const pl_problem *p, int k);

// The value at a state; leaves nothing changed but scratch.
double pl_problem_value(pl_problem *p, const pl_state *state, int k);

// After pl_sensitivity_begin: mu per row.
double pl_problem_change(pl_problem *p, const pl_state *state, int k, const double *dx, const double *mu,
                         const pl_parameter *q);

// The output of that kind of an actuator, or of the i-th reading; -1 when there is none.
int pl_problem_find_output(const pl_problem *p, pl_output_kind kind, int index);

// ---- for terms
// A new row for the term under construction; refused when there are too many.
pl_status pl_problem_new_row(pl_problem *p, int *row, pl_error *err);

#endif
