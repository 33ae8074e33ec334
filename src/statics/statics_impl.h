// The inside of pl_statics, for this folder. Flow of one solve:
//
// - statics_solve: load increments, from the state's commands to the new ones
// - statics_descent: equilibrium at one load: factor, warped Newton step, L-BFGS with the factor turned along
// - statics_eval: energy, gradient, actuator measures at positions x
// - statics_assemble: tangent K of everything at x as one sparse matrix
// - statics_linear: factors K, solves with the few dense rows of constraints and gases, turns the factor
// - statics_warp: steps that turn
//
// Vectors of unknowns have one entry per displacement unknown and, interleaved, one per pressure (kept 0
// outside of the linear solver).
#ifndef PL_STATICS_IMPL_H
#define PL_STATICS_IMPL_H

#include "actuator/actuator.h"
#include "base/base.h"
#include "base/vec.h"
#include "element/element.h"
#include "pliant/statics.h"
#include "robot/robot.h"
#include "solver/solver.h"

#define STATICS_MEMORY 10  // pairs of L-BFGS
#define STATICS_BORDERS 64 // most actuators with a dense row

// What an actuator does in the solve under way. The energy of a functional h is Phi(h); sign * effort =
// dPhi/dh with sign +1 for cables and -1 for chambers and films.
typedef enum drive_mode {
    MODE_EFFORT,     // Phi = sign * effort * h
    MODE_CONSTRAINT, // h = target, the effort is the multiplier
    MODE_GAS,        // Phi = -nRT ln(h + V_line) + p_amb h
    MODE_VOLTAGE,    // Phi = -eps U^2 h^2 / (2 Vol)
    MODE_GROWTH      // no potential: the stress-free shape of its elements, `value` being the ratio
} drive_mode;

typedef struct drive {
    pl_functional h;
    double sign;
    bool inequality; // cables: h <= target, effort >= 0
    drive_mode mode;
    double from, to; // target, effort, volume pushed or voltage at both ends of the way
    bool idle;       // not commanded
    bool one_sided;  // the way goes on beyond rest, the value stays there
    double input;    // the actuator's own value at the end of the way
    double slope;    // d(actuator value)/d(command): its factor, or 0 while a one-sided command points away
    // at the load under way
    double way;       // interpolated between from and to
    double value;     // the same, kept at rest where a one-sided command points away
    bool active;      // constraints: holds
    double effort;    // multiplier, or what the potential gives
    double measure;   // h(x)
    double curvature; // Phi''
    double *row;      // dh/d(unknowns), for constraints and potentials with curvature
    // actuation elements drawn to their grown shape: see statics_grown.c
    pl_functional grown;
    double grown_whole, grown_target;
    // when the exact factor was made
    double exact_effort;
    bool exact_row;
} drive;

// A load that is a functional: moments and surface pressures. Energy = -factor * load * h.
typedef struct load_term {
    pl_functional h;
    double factor;
    int force, pressure; // which entry of the robot it came from; -1
    bool open;           // a pressure on a surface whose rim can move: see statics_follower.c
} load_term;

// Where the tangent of one functional's terms goes: slots of the upper triangle of each term's dense matrix.
typedef struct term_slots {
    const pl_functional *h;
    int64_t *start; // per term
    int64_t *slot;  // -1: not an unknown; NULL when a term touches a rigid body
} term_slots;

typedef struct node_pair {
    int64_t base[3];                                    // slot of the first row for each column unknown
    int64_t first, count;                               // contributions
    uint8_t rows, columns, row_part[3], column_part[3]; // unknowns of both and their axes
    bool diagonal, pressure;
} node_pair;

typedef struct rigid_body {
    int32_t unknown; // first of six: translation, rotation
    int32_t node_count;
    const int32_t *node;
    double centre[3];
    double radius; // mm: the farthest vertex at rest
} rigid_body;

struct pl_statics {
    const pl_robot *robot;
    pl_statics_options options;
    pl_mesh_view mesh;
    pl_elements *elements;
    double size, stiffness; // mm: diagonal of the bounding box; MPa: largest mu
    double modulus;         // MPa: largest mu + kappa of the deformable regions

    // unknowns
    int32_t n;         // all, pressures included
    int32_t *dof;      // 3 per vertex: unknown or -1
    int32_t *rigid_of; // per vertex: rigid body or -1
    rigid_body *rigid;
    int rigid_count;
    int32_t *pressure_dof; // per pressure number
    bool *turns;           // per vertex: all three axes free, may be rotated
    int32_t *support_of;   // 3 per vertex: support that holds the axis (the last one), or -1

    // actuators and loads
    drive *drive;
    int drive_count;
    load_term *load_term;
    int load_term_count;
    double load_from, load_to, load; // dead loads and clamps
    double *dead;                    // 3 per vertex: gravity and forces at full load
    bool has_open;                   // some pressure follows an open surface:
    double *dead_still;              // what does not change of `dead`; NULL without any

    // stress-free shapes
    bool grows, growth_failed;
    pl_growth *growth; // per region

    // tangent
    pl_sparse K;
    pl_factor *factor;
    pl_factor_kind factor_kind;
    double *tangent;    // element tangents
    int64_t *mass_slot; // per entry of the pressure mass: where it stands in K
    node_pair *pair;
    int64_t pair_count;
    int64_t *pair_code;  // contributions: (offset in `tangent`) * 2 + transposed
    int64_t *rigid_code; // contributions that touch rigid bodies: block * 8 + lane, elements
    int64_t rigid_code_count;
    term_slots *slots;   // per drive, per load term, per drive's elements that grow
    double *term_matrix; // the largest term's dense matrix

    // the factor: where it was made
    bool has_factor, exact_factor; // exact: made at an equilibrium with its own multipliers and pressures
    double *x_factor;              // 3 per vertex
    double exact_load;             // of the exact factor
    double blend;
    pl_factor_report factor_report;
    int border_count;
    int border[STATICS_BORDERS]; // drives with a row
    double *border_row, *border_plain,
        *border_solution;    // a_k at the factor, K^-1 a_k, the same turned; n each
    double *rotation;        // 9 per vertex: turned since the factor
    double *border_pressure; // pressures in K^-1 a_k, per border and pressure number
    double *pressure_step;   // per pressure number: its change in the last linear solve
    double *pressure_ahead;  // what the tangent is made with after a step: before it plus the change
    bool rotated;

    // warp
    pl_sparse L; // Laplacian of the free vertices
    pl_factor *laplace;
    int32_t *warp_dof; // per vertex
    int32_t warp_n;
    double *warp_rhs;    // 3 columns
    pl_sparse warp_edge; // rows: free vertices, columns: held ones (by vertex number), rectangular

    // work: 3 per vertex
    double *g_full, *x_work, *x_trial, *x_best, *x_start, *g_trial, *x_old[2];
    int old_count;
    double *command_old[2];
    // work: n
    double *g, *r, *d, *y, *work, *g_new;
    double *memory_s[STATICS_MEMORY], *memory_y[STATICS_MEMORY];
    double memory_rho[STATICS_MEMORY];
    int memory_count, memory_first;

    // counts of the solve under way
    int iterations, factorizations, solves, increments;
    double started;
    bool stopped;
    bool finishing; // the way has ended: limits and requests to stop no longer count
};

// ---- statics_unknowns.c
pl_status statics_number(pl_statics *s, pl_error *err);
void statics_gather(const pl_statics *s, const double *full, const double *x,
                    double *u); // gradient to unknowns
void statics_move(const pl_statics *s, const double *x, const double *u, double scale,
                  double *out);                                  // retraction
void statics_clamp(const pl_statics *s, double load, double *x); // puts held vertices where they belong
// Largest nodal entry; INFINITY when any entry is not a number.
double statics_largest(const pl_statics *s, const double *u, bool force);

// ---- statics_drives.c
pl_status statics_drives_create(pl_statics *s, pl_error *err);
void statics_drives_destroy(pl_statics *s);
void statics_drives_begin(pl_statics *s, const pl_state *state, const double *command);
// Refuses commands no actuator can follow, whatever the body: negative tension, less gas than none, measures
// below 0.
pl_status statics_drives_check(const pl_statics *s, const double *command, pl_error *err);
// The command that belongs to what drive i is at now.
double drive_command_value(const pl_statics *s, int i);
void statics_drives_set(pl_statics *s, double at);                    // interpolates to `at` in [0, 1]
void drive_evaluate(drive *d, const pl_actuator *a, const double *x); // measure, effort, curvature
double drive_energy(const drive *d, const pl_actuator *a);
// dh/d(parameter of the drive) pieces for sensitivities: d(target), d(dPhi/dh) by the drive's own value
void drive_command_derivative(const drive *d, const pl_actuator *a, double *target, double *force);

// ---- statics_follower.c
pl_status statics_pressure_create(pl_statics *s, load_term *term, pl_error *err);
// out += scale * (f / p - dh/dx): what the potential of the pressure lacks
void statics_follower_add(const load_term *term, const double *x, double scale, double *out);
void statics_follow(pl_statics *s, const double *x); // brings the dead loads up to date with the shape x
void statics_follow_change(pl_statics *s, const double *x, const double *dx,
                           double *out); // C dx; uses x_best
// Puts the force itself of every surface pressure into a gradient that has their potentials.
void statics_pressure_correct(pl_statics *s, const double *x, double load, double *gradient);

// ---- statics_growth.c
pl_status statics_growth_create(pl_statics *s, pl_error *err);
void statics_grow(pl_statics *s);                           // to the load and the drives' values under way
void statics_grow_to(pl_statics *s, const pl_state *state); // to those of a state
pl_growth_kind statics_growth_kind(const pl_actuator *a);
// Effort of a growing actuator after an evaluation at x; its derivative by the ratio at fixed x (may be
// NULL); scale times that by x is added to by_position (3 per vertex, may be NULL).
double statics_growth_effort(pl_statics *s, int i, const double *x, double load, double *by_ratio,
                             double scale, double *by_position);
double statics_growth_rate(pl_statics *s, int i, const double *x, double load); // dE/d(ratio) at fixed x
// full += scale dG/d(ratio)
void statics_growth_force(pl_statics *s, int i, const double *x, double load, double scale, double *full);

// ---- statics_grown.c
pl_status statics_grown_create(pl_statics *s, pl_error *err);
bool statics_is_grown(const pl_statics *s, int i);
double statics_grown_least(const pl_statics *s, int i); // ratio below which nothing is left to shorten
// Sets the ratio asked for; true when it changed.
bool statics_grown_ask(pl_statics *s, int i, double ratio);
// Energy of these elements at x; INFINITY when no ratios meet the target. Forces are added to `full` (may be
// NULL).
double statics_grown_energy(pl_statics *s, const double *x, double *full);
// That and the energy of all other elements, `full` set to the forces of both.
double statics_elastic(pl_statics *s, const double *x, double *full, double *min_J);
void statics_grown_row(pl_statics *s, int i, const double *x); // row and curvature of joint ratios
// As statics_growth_effort, statics_growth_rate and statics_growth_force.
double statics_grown_effort(pl_statics *s, int i, const double *x, double *by_ratio, double scale,
                            double *full);
double statics_grown_rate(pl_statics *s, int i, const double *x);
void statics_grown_force(pl_statics *s, int i, const double *x, double scale, double *full);

// ---- statics_pattern.c, statics_assemble.c
pl_status statics_pattern(pl_statics *s, pl_error *err);
void statics_pattern_destroy(pl_statics *s);
void statics_assemble(pl_statics *s, const double *x, double blend);

// ---- statics_eval.c
// Energy of everything except constraints at x; gradient by unknowns if `g` is given (multipliers of
// constraints not in it). INFINITY when inverted. Leaves measures, efforts of potentials and rows in the
// drives.
double statics_evaluate(pl_statics *s, const double *x, double *g);
// Multipliers of the active constraints from the gradient, and the residual r = g + sum sign effort a.
// Returns the largest nodal residual.
double statics_residual(pl_statics *s, const double *g, double *r);
double statics_force_scale(pl_statics *s); // largest nodal force at the last evaluation

// ---- statics_linear.c
pl_status statics_linear_create(pl_statics *s, pl_error *err);
// Assembles and factors at x; takes the positive part when the constrained tangent is not positive, unless
// `exact`. With `pressure` the tangent is made at those instead of the ones of the shape x: after a step, the
// pressures it predicted are far smoother than those of a shape whose volumes are still off (the mixed Newton
// method's choice).
pl_status statics_refactor(pl_statics *s, const double *x, double blend, bool exact, const double *pressure,
                           pl_error *err);
// The true tangent at x with the efforts as they are in the drives; pressures and rows must be those of x.
pl_status statics_factor_exact(pl_statics *s, const double *x, pl_error *err);
// Is the factor at hand that one, for the same shape, efforts, rows and loads?
bool statics_is_exact(const pl_statics *s, const double *x);
void statics_unturn(pl_statics *s);
int statics_unstable(pl_statics *s); // negative eigenvalues on the constraints' null space at the factor
void statics_turn(pl_statics *s, const double *x);                   // rotations since the factor was made
void statics_solve_plain(pl_statics *s, const double *b, double *y); // y = P^-1 b, P the turned factor
// [K A^T; A -c][d; mu] = [b; rho] with current rows; rho per border (NULL: 0). Constraints not active are
// left out.
// False when the constraints depend on each other.
bool statics_solve_bordered(pl_statics *s, const double *b, const double *rho, double *d, double *mu);
bool statics_restore(pl_statics *s, double *x, double tolerance); // back onto the constraints

// ---- statics_warp.c
pl_status statics_warp_create(pl_statics *s, pl_error *err);
void statics_warp_update(pl_statics *s);
// The step d from x, its rotations carried out in full: out.
void statics_warp(pl_statics *s, const double *x, const double *d, double *out);
// The motion from x_old to x once more, `ratio` times as far; needs the Laplacian.
void statics_extrapolate(pl_statics *s, const double *x, const double *x_old, double ratio, double *out);
// Largest rotation (rad) and strain of the step d from x.
double statics_step_rotation(pl_statics *s, const double *x, const double *d, double *strain);
// Moves held vertices to `load` and the others along smoothly.
void statics_extend(pl_statics *s, double load, double *x);

// ---- statics_result.c
void statics_point(const pl_point *point, const double *x, double out[3]);
void statics_marker_moment(const pl_statics *s, const pl_marker *marker, const double *x, double A[9]);
void statics_rotation_of(const double A[9], double R[9]);
double statics_string(const pl_point *guide, int count, const double *x);

// ---- statics_material.c
pl_status statics_material_derivative(pl_statics *s, const pl_state *state, int material, int constant,
                                      double *full, pl_error *err);
pl_status statics_density_derivative(pl_statics *s, const pl_state *state, int material, double *full,
                                     pl_error *err);

// ---- statics_descent.c
typedef enum descent_end { DESCENT_DONE, DESCENT_LIMIT, DESCENT_STUCK, DESCENT_STOPPED } descent_end;
typedef struct descent {
    double force_tolerance, length_tolerance; // relative, mm
    int limit;
    bool predict; // the first step goes to new loads: it may turn, and a new factor follows it
    double residual, relative, step, energy;
    bool inverted, infeasible; // why it got stuck
} descent;
descent_end statics_descend(pl_statics *s, double *x, descent *d, pl_error *err);
bool statics_go_on(pl_statics *s);
// rho = target - measure per border
void statics_gaps(pl_statics *s, double *rho);

#endif
