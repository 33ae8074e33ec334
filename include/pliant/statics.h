// Quasi-static equilibrium: finds the positions x at which the total energy is stationary,
//   E(x, c) = sum_e int W(F) dV + sum_a Phi_a(h_a(x); c_a) - loads,   under h_a(x) = target_a for geometric
//   drives.
// A pl_statics belongs to one thread at a time; many may share one robot.
#ifndef PLIANT_STATICS_H
#define PLIANT_STATICS_H

#include "pliant/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

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
PL_API pl_statics_options pl_statics_options_default(void);

typedef struct pl_statics pl_statics;

// Builds the sparsity pattern, orders and analyses it, and allocates all memory needed later. Keeps a
// reference to `robot`, which must outlive the result.
PL_API_CHECKED pl_status pl_statics_create(const pl_robot *robot, const pl_statics_options *options,
                                           pl_statics **out, pl_error *err);
PL_API void pl_statics_destroy(pl_statics *statics);

// Solves for the equilibrium at `command` (one value per command in internal units; NAN: idle), starting from
// `state` (an equilibrium, or the undeformed configuration), in as many load increments as necessary. Unless
// solved, `state` is the last equilibrium on the load path, at the fraction report->load_reached: it meets
// the same tolerances. Where there is none, `state` is left as it was given (report->no_state).
PL_API_CHECKED pl_status pl_statics_solve(pl_statics *statics, pl_state *state, const double *command,
                                          pl_solve_report *report, pl_error *err);

// The shape `seconds` after the commands (and forces) were applied at once and then held: viscous branches of
// the materials (prony) are relaxed in `state`, as they are in every other solve, and relax again by what
// time is given. Quasi-static: without inertia, without what swings. seconds 0: the instantaneous shape.
// Results at the state (reactions, fields, checks) are those with the branches, until the next solve;
// derivatives too, at constant strain of the branches: those of a sudden further change of commands and
// loads. With respect to constants of materials, layers and fibres they are refused. The report is that of
// the last solve with the work of all of them. Refused: layers with viscous branches.
typedef struct pl_creep_report {
    int steps, rejected;
    double error; // largest error of a step: of the stresses, over the stress of the body
} pl_creep_report;
PL_API_CHECKED pl_status pl_statics_hold(pl_statics *statics, pl_state *state, const double *command,
                                         double seconds, pl_creep_report *creep, pl_solve_report *report,
                                         pl_error *err);
// The long-term laws again, before states other than the held one are examined; solves do it themselves.
PL_API void pl_statics_relax(pl_statics *statics);

// The mode that lost its stiffness at the first critical load of the last solve: how the body begins to
// buckle or snap. False: there was none, or it was not found. The arrays belong to `statics`, until its next
// solve.
typedef struct pl_critical_mode {
    double load;            // fraction of the load path
    bool limit;             // a limit point; otherwise a bifurcation
    const double *position; // 3 per vertex, mm: the equilibrium there
    const double *motion;   // 3 per vertex, largest displacement 1
} pl_critical_mode;
PL_API bool pl_statics_critical(const pl_statics *statics, pl_critical_mode *out);

// Equilibria by arc length, stable and not, on a path on which the load may rise and fall: from `state` (an
// equilibrium at its commands) towards `command`, which stand at the load 1. `visit` gets every point, the
// start included, with the state there; it returns false to end. Ends too at the load 1, below the start,
// after `steps`, or where the path cannot be followed (*complete: it ended at the load 1 or by `visit`).
// Refused with contact, pressures on open surfaces, driven clamps and cables of prescribed length.
typedef struct pl_arc_point {
    double load;        // fraction of the path to the commands
    double distance;    // mm along the path: root of the sum of squares over all vertices
    int negative_count; // eigenvalues of the tangent; 0: stable
} pl_arc_point;
typedef bool (*pl_arc_visit)(void *user, const pl_arc_point *point, const pl_state *state);
PL_API_CHECKED pl_status pl_statics_follow_arc(pl_statics *statics, pl_state *state, const double *command,
                                               int steps, pl_arc_visit visit, void *user, bool *complete,
                                               pl_error *err);

// The solves that follow take at most `iterations`; returns the limit before.
PL_API int pl_statics_limit(pl_statics *statics, int iterations);
// Forgets what earlier solves left (factors, search directions, solved shapes): the next solve depends on its
// state, commands and forces only, to the last bit.
PL_API void pl_statics_forget(pl_statics *statics);

// Forces at the markers (3 per marker, N), in addition to the loads of the robot: the solves that follow lead
// to them, along the same load path as to the commands. NULL: none, which is the default. They are part of
// a state, as commands are.
PL_API void pl_statics_set_forces(pl_statics *statics, const double *force);
// A hand at a point of the undeformed body (mm; NULL: none), spread over `radius`, and the force (N; NULL:
// none) with which it pulls in the solves that follow. Let go (solve without a force) before another point is
// gripped. States in files do not contain it.
PL_API_CHECKED pl_status pl_statics_grip(pl_statics *statics, const double at[3], double radius,
                                         pl_error *err);
PL_API void pl_statics_pull(pl_statics *statics, const double force[3]);
// The mean, at the gripped point, of a vector given at the vertices (3 entries each, `stride` apart): of the
// positions, where it is; false: nothing is gripped.
PL_API bool pl_statics_grip_mean(const pl_statics *statics, const double *vector, int stride, double mean[3]);

// The solves that follow end at `factor` (1 to 1000) times the tolerances of the options, for shapes shown
// while a hand moves; robots in contact and those with pressures on open surfaces keep theirs.
PL_API void pl_statics_set_tolerance_factor(pl_statics *statics, double factor);

// Sizes, for reports.
typedef struct pl_statics_sizes {
    int32_t vertices, elements, unknowns, pressure_unknowns;
    int64_t matrix_entries;
    size_t factor_bytes;
    const char *linear_solver, *instruction_set;
} pl_statics_sizes;
PL_API pl_statics_sizes pl_statics_get_sizes(const pl_statics *statics);

// An independent check, which shares no intermediate results with the solve: the largest nodal residual force
// (N) of `state` with its own multipliers, and whether any element is inverted.
PL_API_CHECKED pl_status pl_statics_check(pl_statics *statics, const pl_state *state, double *residual,
                                          double *largest_force, bool *inverted, pl_error *err);

// ---- how far the discretisation lets a shape be wrong
// The error of the markers' motion at an equilibrium, as a share of the motion: that of the linearised
// equilibrium with functions of the next order added to the elements (docs/explanation/elements.md). NAN
// where no marker moves. The true error is expected between relative / factor and relative * factor.
PL_API_CHECKED pl_status pl_statics_mesh_error(pl_statics *statics, const pl_state *state, double *relative,
                                               double *factor, pl_error *err);

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
PL_API_CHECKED pl_status pl_statics_newton(pl_statics *statics, const double *command, const double *position,
                                           const double *reference, double enough, int limit, double *marker,
                                           pl_newton *out, pl_error *err);

// ---- results at a state
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
typedef struct pl_reaction {
    double force[3];  // N, exerted by the support on the body
    double moment[3]; // N mm, about the origin
} pl_reaction;

// Questions about any state of the robot. They use scratch memory of `statics` only: a later solve proceeds
// as if nobody had asked.
PL_API pl_actuator_result pl_statics_actuator(pl_statics *statics, const pl_state *state, int actuator);
PL_API pl_marker_result pl_statics_marker(const pl_statics *statics, const pl_state *state, int marker);
PL_API double pl_statics_sensor(pl_statics *statics, const pl_state *state, int sensor); // mm, mm^3, MPa
// Readings, numbered from 0 (pl_reading_info in pliant/problem.h).
PL_API int pl_statics_reading_count(const pl_statics *statics);
PL_API pl_reading_info pl_statics_reading_info(const pl_statics *statics, int i);
PL_API double pl_statics_reading(pl_statics *statics, const pl_state *state, int i);
// Elastic energy (mJ) of the shape and, if `gradient` is given (3 per vertex), its derivative with respect to
// the positions, N.
PL_API double pl_statics_elastic(pl_statics *statics, const pl_state *state, double *gradient);
// Its derivative with respect to a command at constant positions, mJ per internal unit; not 0 if the command
// changes stress-free shapes (growth).
PL_API double pl_statics_elastic_rate(pl_statics *statics, const pl_state *state, int command);
PL_API_CHECKED pl_status pl_statics_reactions(pl_statics *statics, const pl_state *state,
                                              pl_reaction *reaction); // per support
// Polyline of the guide points of a cable in the current shape; returns their number, writes at most `room`
// points.
PL_API int pl_statics_cable_points(const pl_statics *statics, const pl_state *state, int actuator,
                                   double *point, int room);

// Fields for pictures and files. Vertex fields are volume-weighted averages over the adjacent elements.
typedef enum pl_field {
    PL_FIELD_DISPLACEMENT, // vertex, 3: mm
    PL_FIELD_STRAIN,       // vertex, 6: logarithmic strain xx yy zz xy yz zx
    PL_FIELD_VON_MISES,    // vertex, 1: MPa, of the Cauchy stress
    PL_FIELD_STRETCH,      // vertex, 1: largest principal stretch
    PL_FIELD_J,            // element, 1: mean volume ratio
    PL_FIELD_J_BOUND,      // element, 1: proven lower bound of the volume ratio over the element
    PL_FIELD_PRESSURE,     // vertex, 1: contact pressure, MPa of deformed area; 0 inside the body
    PL_FIELD_GAP,          // vertex, 1: mm to the nearest obstacle or face; no more than is looked for
    PL_FIELD_STRESS,       // vertex, 6: Cauchy stress, MPa, xx yy zz xy yz zx
    PL_FIELD_COUNT
} pl_field;
PL_API const char *pl_field_name(pl_field field);
// The name in files, with the unit ("von_mises_kpa"), and what a value is multiplied by to be in that unit.
PL_API const char *pl_field_label(pl_field field);
PL_API double pl_field_scale(pl_field field);
PL_API int pl_field_components(pl_field field);
PL_API bool pl_field_on_elements(pl_field field);
PL_API_CHECKED pl_status pl_statics_field(pl_statics *statics, const pl_state *state, pl_field field,
                                          double *out, pl_error *err);

// ---- exact sensitivities, from the tangent at the solution and the constraint rows
// Derivatives with respect to parameter j = 0 .. count-1; each array may be NULL. Row-major, `count` columns.
typedef struct pl_jacobian {
    double *position; // 3 vertex_count rows
    double *marker;   // 3 marker_count rows, mm per unit of the parameter
    double *rotation; // 3 marker_count rows: spatial rotation vector, rad
    double *sensor;   // sensor_count rows
    double *effort;   // actuator_count rows
    double *measure;  // actuator_count rows
    double *reading;  // reading_count rows
} pl_jacobian;
typedef struct pl_jacobian_report {
    int factorizations, solves;
    double residual;    // relative residual of the linear systems
    bool one_sided;     // a cable has tension 0: the derivative is for further shortening; or a one-sided
                        // command is 0: the derivative is for an increasing command
    bool friction;      // acts at a contact: the derivative is approximate (sticking points yield a little,
                        // slipping ones keep their limit)
    int negative_count; // as in pl_solve_report
} pl_jacobian_report;
PL_API_CHECKED pl_status pl_statics_jacobian(pl_statics *statics, const pl_state *state,
                                             const pl_parameter *parameter, int count, const pl_jacobian *out,
                                             pl_jacobian_report *report, pl_error *err);

// Gradient of an objective J(x, effort) with respect to all parameters, with one solve: `by_position` is
// dJ/dx (3 per vertex, may be NULL), `by_effort` dJ/d(effort) (per actuator, may be NULL).
PL_API_CHECKED pl_status pl_statics_adjoint(pl_statics *statics, const pl_state *state,
                                            const double *by_position, const double *by_effort,
                                            const pl_parameter *parameter, int count, double *gradient,
                                            pl_jacobian_report *report, pl_error *err);
// The part of dJ/dx that comes from a marker: adds to `by_position` (3 per vertex) the derivative of
// by_marker . (its position) + by_rotation . (its spatial rotation vector). Each may be NULL.
PL_API void pl_statics_pull_marker(const pl_statics *statics, const pl_state *state, int marker,
                                   const double *by_marker, const double *by_rotation, double *by_position);

#ifdef __cplusplus
}
#endif
#endif
