// Quasi-static equilibrium, for the rooms right of statics: finds the positions x at which the total energy
// is stationary,
//   E(x, c) = sum_e int W(F) dV + sum_a Phi_a(h_a(x); c_a) - loads,   under h_a(x) = target_a for geometric
//   drives.
// Also shape and commands found together, and the outputs of a motion. A pl_statics belongs to one thread at
// a time; many may share one robot.
#ifndef PL_STATICS_ROOM_H
#define PL_STATICS_ROOM_H

#include "pliant/shapes.h"
#include "pliant/statics.h"

typedef struct pl_statics_options {
    double force_tolerance;   // largest nodal residual force over the largest nodal load or internal force
    double length_tolerance;  // mm, largest displacement of the next preconditioned step
    int iteration_limit;      // descent iterations in one solve
    int increment_limit;      // load increments in one solve
    double time_limit;        // s; 0: none
    double contact_tolerance; // of the local edge length: gaps of contacts that press, when solved
    pl_linear_solver linear_solver;
    bool displacement;  // displacement elements everywhere, regardless of the materials
    bool warp;          // rotation-warped predictor steps
    bool extrapolate;   // start by linear extrapolation of the two previous solutions
    bool stop_at_limit; // a load path ends at a limit point; otherwise the body snaps and lands beyond it
    bool spare_factor;  // derivatives have a second factor beside that of the solves (factors below 0.5 GB):
                        // interrupted, they cost the next solve nothing
    pl_distribution distribution; // uniform, or joint for elements given by a modulus
    pl_progress progress;         // may stop the solve
} pl_statics_options;

pl_statics_options pl_statics_options_default(void);

typedef struct pl_statics pl_statics;

// Builds the sparsity pattern, orders and analyses it, and allocates all memory needed later. Keeps a
// reference to `robot`, which must outlive the result.
pl_status pl_statics_create(const pl_robot *robot, const pl_statics_options *options, pl_statics **out,
                            pl_error *err);
void pl_statics_destroy(pl_statics *statics);

// Solves for the equilibrium at `command` (one value per command in internal units; NAN: idle), starting from
// `state` (an equilibrium, or the undeformed configuration), in as many load increments as necessary. Unless
// solved, `state` is the last equilibrium on the load path, at the fraction report->load_reached: it meets
// the same tolerances. Where there is none, `state` is left as it was given (report->no_state).
pl_status pl_statics_solve(pl_statics *statics, pl_state *state, const double *command,
                           pl_solve_report *report, pl_error *err);

// The shape `seconds` after the commands (and forces) were applied at once and then held: viscous branches of
// the materials (prony) are relaxed in `state`, as they are in every other solve, and relax again by what
// time is given. Quasi-static: without inertia, without what swings. seconds 0: the instantaneous shape.
// Results at the state (reactions, fields, checks) are those with the branches, until the next solve;
// derivatives too, at constant strain of the branches: those of a sudden further change of commands and
// loads. With respect to constants of materials, layers and fibres they are refused. The report is that of
// the last solve with the work of all of them. Refused: layers with viscous branches.
pl_status pl_statics_hold(pl_statics *statics, pl_state *state, const double *command, double seconds,
                          pl_creep_report *creep, pl_solve_report *report, pl_error *err);

// The long-term laws again, before states other than the held one are examined; solves do it themselves.
void pl_statics_relax(pl_statics *statics);

// False: the last solve met no critical load, or its mode was not found. The arrays belong to `statics`,
// until its next solve.
bool pl_statics_critical(const pl_statics *statics, pl_critical_mode *out);

// Equilibria by arc length, stable and not, on a path on which the load may rise and fall: from `state` (an
// equilibrium at its commands) towards `command`, which stand at the load 1. `visit` gets every point, the
// start included, with the state there; it returns false to end. Ends too at the load 1, below the start,
// after `steps`, or where the path cannot be followed (*complete: it ended at the load 1 or by `visit`).
// Refused with contact, pressures on open surfaces, driven clamps and cables of prescribed length.
typedef bool (*pl_arc_visit)(void *user, const pl_arc_point *point, const pl_state *state);
pl_status pl_statics_follow_arc(pl_statics *statics, pl_state *state, const double *command, int steps,
                                pl_arc_visit visit, void *user, bool *complete, pl_error *err);

// The solves that follow take at most `iterations`; returns the limit before.
int pl_statics_limit(pl_statics *statics, int iterations);

// Forgets what earlier solves left (factors, search directions, solved shapes): the next solve depends on its
// state, commands and forces only, to the last bit.
void pl_statics_forget(pl_statics *statics);

// Forces at the markers (3 per marker, N), in addition to the loads of the robot: the solves that follow lead
// to them, along the same load path as to the commands. NULL: none, which is the default. They are part of
// a state, as commands are.
void pl_statics_set_forces(pl_statics *statics, const double *force);

// A hand at a point of the undeformed body (mm; NULL: none), spread over `radius`, and the force (N; NULL:
// none) with which it pulls in the solves that follow. Let go (solve without a force) before another point is
// gripped. States in files do not contain it.
pl_status pl_statics_grip(pl_statics *statics, const double at[3], double radius, pl_error *err);
void pl_statics_pull(pl_statics *statics, const double force[3]);

// A slide that holds the centre of mass of the free obstacle (by its index in the robot) along a unit
// direction, and leaves its other motions free: the solves that follow lead to u . c = `place`, mm. From a
// state without a slide in this direction the path begins where the body is, without a force. NULL: none.
// Part of a state. The second function gives its force on the body at a state, N.
void pl_statics_slide(pl_statics *statics, int obstacle, const double direction[3], double place);
double pl_statics_slide_force(pl_statics *statics, const pl_state *state, int obstacle);

// How the bodies of the robot (robot->contact.body_count) hold a free obstacle: two sums of normal forces
// each, N, of all points and of those whose friction is at its limit.
void pl_statics_hold_of(pl_statics *statics, const pl_state *state, int obstacle, double *out);

// The mean, at the gripped point, of a vector given at the vertices (3 entries each, `stride` apart): of the
// positions, where it is; false: nothing is gripped.
bool pl_statics_grip_mean(const pl_statics *statics, const double *vector, int stride, double mean[3]);

// The solves that follow end at `factor` (1 to 1000) times the tolerances of the options, for shapes shown
// while a hand moves; robots in contact and those with pressures on open surfaces keep theirs.
void pl_statics_set_tolerance_factor(pl_statics *statics, double factor);

// Sizes, for reports.
typedef struct pl_statics_sizes {
    int32_t vertices, elements, unknowns, pressure_unknowns;
    int64_t matrix_entries;
    size_t factor_bytes;
    const char *linear_solver, *instruction_set;
} pl_statics_sizes;

pl_statics_sizes pl_statics_get_sizes(const pl_statics *statics);

// An independent check, which shares no intermediate results with the solve: the largest nodal residual force
// (N) of `state` with its own multipliers, and whether any element is inverted.
pl_status pl_statics_check(pl_statics *statics, const pl_state *state, double *residual,
                           double *largest_force, bool *inverted, pl_error *err);

// ---- how far the discretisation lets a shape be wrong
// The error of the markers' motion at an equilibrium, as a share of the motion: that of the linearised
// equilibrium with functions of the next order added to the elements (docs/explanation/elements.md). NAN
// where no marker moves. The true error is expected between relative / factor and relative * factor.
pl_status pl_statics_mesh_error(pl_statics *statics, const pl_state *state, double *relative, double *factor,
                                pl_error *err);

// Newton steps from any shape (`position`: 3 per vertex, mm; held vertices are put where they belong) towards
// the equilibrium at `command`, each of one evaluation, one factorisation and one solve: until one moves no
// marker by more than `enough` times the largest distance of a marker from `reference` (3 per marker), at
// most `limit`. A step leaves errors of the order of the error squared. `marker` gets where the markers are
// then. Not for robots in contact; a start too far away is refused.
typedef struct pl_newton {
    int steps;
    bool ended;      // by `enough`
    double residual; // N, largest nodal residual force at `position`
} pl_newton;

pl_status pl_statics_newton(pl_statics *statics, const double *command, const double *position,
                            const double *reference, double enough, int limit, double *marker, pl_newton *out,
                            pl_error *err);

typedef struct pl_actuator_result {
    double measure; // mm, mm^3 or mm^2
    double ratio;   // over the rest measure
    double effort;  // tension N, gauge pressure MPa, Maxwell stress MPa
    bool slack;     // cables
} pl_actuator_result;

typedef struct pl_marker_result {
    double position[3], displacement[3];
    bool has_rotation;
    double rotation[9]; // row-major, from the undeformed configuration
} pl_marker_result;

// Questions about any state of the robot. They use scratch memory of `statics` only: a later solve proceeds
// as if nobody had asked.
pl_actuator_result pl_statics_actuator(pl_statics *statics, const pl_state *state, int actuator);
pl_marker_result pl_statics_marker(const pl_statics *statics, const pl_state *state, int marker);
double pl_statics_sensor(pl_statics *statics, const pl_state *state, int sensor); // mm, mm^3, MPa

// Readings, numbered from 0 (pl_reading_info in pliant/problem.h).
int pl_statics_reading_count(const pl_statics *statics);
pl_reading_info pl_statics_reading_info(const pl_statics *statics, int i);
double pl_statics_reading(pl_statics *statics, const pl_state *state, int i);

// Elastic energy (mJ) of the shape and, if `gradient` is given (3 per vertex), its derivative with respect to
// the positions, N.
double pl_statics_elastic(pl_statics *statics, const pl_state *state, double *gradient);

// Its derivative with respect to a command at constant positions, mJ per internal unit; not 0 if the command
// changes stress-free shapes (growth).
double pl_statics_elastic_rate(pl_statics *statics, const pl_state *state, int command);
pl_status pl_statics_reactions(pl_statics *statics, const pl_state *state,
                               pl_reaction *reaction); // per support

// Polyline of the guide points of a cable in the current shape; returns their number, writes at most `room`
// points.
int pl_statics_cable_points(const pl_statics *statics, const pl_state *state, int actuator, double *point,
                            int room);

pl_status pl_statics_field(pl_statics *statics, const pl_state *state, pl_field field, double *out,
                           pl_error *err);

pl_status pl_statics_jacobian(pl_statics *statics, const pl_state *state, const pl_parameter *parameter,
                              int count, const pl_jacobian *out, pl_jacobian_report *report, pl_error *err);

// Gradient of an objective J(x, effort) with respect to all parameters, with one solve: `by_position` is
// dJ/dx (3 per vertex, may be NULL), `by_effort` dJ/d(effort) (per actuator, may be NULL).
pl_status pl_statics_adjoint(pl_statics *statics, const pl_state *state, const double *by_position,
                             const double *by_effort, const pl_parameter *parameter, int count,
                             double *gradient, pl_jacobian_report *report, pl_error *err);

// The part of dJ/dx that comes from a marker: adds to `by_position` (3 per vertex) the derivative of
// by_marker . (its position) + by_rotation . (its spatial rotation vector). Each may be NULL.
void pl_statics_pull_marker(const pl_statics *statics, const pl_state *state, int marker,
                            const double *by_marker, const double *by_rotation, double *by_position);

#define PL_AIM_MOST 16 // commands that may change

// Commands c whose equilibrium x is as a caller wants it, from near a solution:
//   g(x, c) = 0,   y(x) as wanted.
// Each iteration costs one solve with the factor at hand. With d = -K^-1 g and Y = -K^-1 dg/dc the caller is
// shown the outputs y(x), the change that d will make of them and their derivatives by c, and answers with
// dc; then x <- x + d + Y dc, c <- c + dc.
typedef enum pl_aim_answer {
    PL_AIM_GO,   // change the commands
    PL_AIM_MET,  // the commands are found: the rest is a solve at them
    PL_AIM_LEAVE // not by this method
} pl_aim_answer;

typedef struct pl_aim {
    double *command;                  // per command: room; left where they ended
    int count, variable[PL_AIM_MOST]; // the commands that may change
    pl_jacobian out;                  // what the caller reads; `count` + 1 columns, the last one for d
    // `state`: the iterate; `fresh`: the columns by the commands are those of a factor made there, otherwise
    // as good as an old factor; `value`: of the variables, to be changed by dc.
    pl_aim_answer (*choose)(void *user, const pl_state *state, bool fresh, double *value);
    void *user;
} pl_aim;

typedef struct pl_aim_report {
    bool met;
    int iterations, factorizations, solves;
} pl_aim_report;

// Met: the next pl_statics_solve starts from the shape found if its commands are `command`; whether it is an
// equilibrium, and how good a one, that solve tells. Not met is no failure: robots with contact, stiff layers
// or forces that lag behind, cables that become slack, long ways and slow progress are left to other methods.
// `state` is not changed. PL_INTERRUPTED when the progress of the options says so.
pl_status pl_statics_aim(pl_statics *statics, const pl_state *state, const pl_aim *aim, pl_aim_report *report,
                         pl_error *err);

// What a motion dx of the body (3 per vertex) does to positions, markers, their rotations and sensors of
// length: column j of `count` of those arrays of `out` that are given; efforts, measures and readings are
// left alone.
void pl_statics_motion(const pl_statics *statics, const pl_state *state, const double *dx, int j, int count,
                       const pl_jacobian *out);

// A search for commands solves many of them, but only the last is carried out: while the history is held,
// cables with friction have at the start of every solve the tensions that they had at the start of the next
// one.
void pl_statics_hold_history(pl_statics *s, bool hold);

// ---- modes of the tangent
// The softest modes at an equilibrium, those of negative stiffness included, in the order of |stiffness|:
// `shape` gets 3 per vertex and mode, largest displacement 1, `stiffness` (N/mm) the second derivative of the
// energy along it.
pl_status pl_statics_modes(pl_statics *statics, const pl_state *state, int count, double *stiffness,
                           double *shape, int *found, pl_error *err);

// ---- stable shapes
// Shapes at `command` (as pl_statics_solve), lowest potential first. `statics` is used for all solves.
pl_status pl_shapes_find(pl_statics *statics, const double *command, const pl_shapes_options *options,
                         pl_shapes **out, pl_shapes_report *report, pl_error *err);

#endif
