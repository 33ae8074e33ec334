// A model is the interface to every kind of robot: the full body (statics), the geometric method, a reduced
// model, or a model implemented by the user. Inverse kinematics, paths, workspaces, the command and the
// server use this interface only.
//
//   pl_model_fk             commands -> equilibrium
//   pl_model_get_answer     markers, sensors, efforts, readings of the last equilibrium
//   pl_model_differentiate  their derivatives with respect to the commands
//   pl_model_record         all of it as one record with names and display units, for people, files and pages
//
// A model belongs to one thread at a time.
#ifndef PLIANT_MODEL_H
#define PLIANT_MODEL_H

#include "pliant/shapes.h"
#include "pliant/statics.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- description of a model; the arrays belong to the model
typedef struct pl_model_info {
    const char *name;    // of the robot
    const char *kind;    // "full", "beam", "rod", "constant_curvature", "vertebrae", or defined by the user
    const char *method;  // "exact", "local_global"; for other kinds the kind
    uint64_t hash;       // of everything that determines the results: robot, method, kind of elements
    uint64_t robot_hash; // of the robot only; states can be exchanged between the methods of one robot
    int command_count, actuator_count, marker_count, sensor_count, support_count, reading_count;
    const pl_command_info *command;
    const pl_actuator_info *actuator;
    const char *const *marker_name;
    const double *marker_at; // 3 per marker, undeformed
    const char *const *sensor_name;
    const pl_sensor_kind *sensor_kind;
    const char *const *support_name;     // the supports with reactions
    const pl_reading_info *reading;      // reported by terms, for example springs
    int32_t point_count;                 // of the body: vertices, or points along a centre line
    const double *rest;                  // 3 per body point, undeformed
    int32_t vertex_count, element_count; // of the discretisation, for reports
    unsigned fields;                     // bit (1u << pl_field) for every field available from pl_model_field
    bool approximate_derivative;         // derivatives by differences instead of exact
    double difference_step; // for derivatives by differences, as a fraction of the command's span; 0: 1e-4
    double size;            // mm, of the whole robot
} pl_model_info;

// Prescribed and computed state of an actuator.
typedef struct pl_actuator_state {
    double ratio;                 // measure over its undeformed value
    double asked;                 // prescribed ratio; NAN: idle, or driven by an effort
    double reached;               // ratio reached, on the mesh used by the method
    double local_low, local_high; // range of the local ratios of growing elements; NAN: does not grow
    bool slack;                   // a cable without tension
    bool growth;                  // acts by growing elements
} pl_actuator_state;

// What the error of a surrogate (a reduced, learned or adapted model) was measured against.
#define PL_ERROR_SOURCE_LIST(X)                                                                              \
    X(PL_ERROR_NONE, "none")                 /* no surrogate: the model is the reference */                  \
    X(PL_ERROR_UNMEASURED, "not measured")   /* a reduced model written by hand: it has no reference */      \
    X(PL_ERROR_FULL_BODY, "full body")       /* commands at which the full body was solved */                \
    X(PL_ERROR_SAMPLES, "held-out samples")  /* of the full body */                                          \
    X(PL_ERROR_MEASUREMENTS, "measurements") /* of the real robot, each predicted from the others */

typedef enum pl_error_source {
#define X(code, text) code,
    PL_ERROR_SOURCE_LIST(X)
#undef X
} pl_error_source;

PL_API const char *pl_error_source_name(pl_error_source source);

// Bounds on the error of an answer: with probability `confidence` the error is below each. NAN: not known.
typedef struct pl_answer_error {
    pl_error_source source;
    double confidence;      // 0.95, less where it was measured at few points; NAN: nothing was measured
    const double *marker;   // per marker: distance, mm
    const double *rotation; // per marker: angle, rad
    const double *sensor;   // per sensor: mm, mm^3, MPa
    double shape;           // RMS distance of the vertices, mm
    const char *unknown;    // why a bound is not known here; NULL: it was not measured
} pl_answer_error;

// The results at the current solution; borrowed until the next call that moves the model.
typedef struct pl_model_answer {
    const double *command;  // internal units; NAN: idle
    const double *marker;   // 3 per marker, mm
    const double *rotation; // 9 per marker, row-major, from the undeformed configuration; NAN: no frame
    const double *sensor;   // mm, mm^3, MPa
    const double *effort;   // per actuator: N, MPa; NAN: not known
    const double *measure;  // per actuator: mm, mm^3, mm^2
    const pl_actuator_state *actuator; // per actuator
    const double *reading;             // per reading, internal units
    const double *point;               // 3 per body point, mm
    const double *force;               // 3 per marker, N: those of pl_model_set_forces that act
    double energy;                     // mJ, elastic
    pl_answer_error error;             // of a surrogate
} pl_model_answer;

typedef enum pl_model_part {
    PL_PART_MARKER = 1,   // positions
    PL_PART_ROTATION = 2, // spatial rotation vectors of the markers
    PL_PART_SENSOR = 4,
    PL_PART_EFFORT = 8,
    PL_PART_MEASURE = 16,
    PL_PART_POINT = 32,
    PL_PART_ENERGY = 64,
    PL_PART_READING = 128
} pl_model_part;

// Derivatives with respect to the commands: row-major, command_count columns; parts not requested are NULL.
// The columns of idle commands are 0. Borrowed until the next call that moves the model or computes
// derivatives.
typedef struct pl_model_derivative {
    const double *marker;   // 3 marker_count rows
    const double *rotation; // 3 marker_count rows, rad
    const double *sensor, *effort, *measure;
    const double *point;  // 3 point_count rows
    const double *energy; // one row
    const double *reading;
} pl_model_derivative;

// Derivatives of a scalar function f of the results with respect to these; each may be NULL.
typedef struct pl_model_weights {
    const double *marker;   // 3 per marker: of the positions
    const double *rotation; // 3 per marker: of the spatial rotation vectors
    const double *effort;   // per actuator
    const double *point;    // 3 per body point
} pl_model_weights;

// Independent check of an equilibrium, which shares no intermediate results with the solve.
typedef struct pl_model_check {
    double residual;      // N, largest nodal residual force; NAN: not available for this model
    double largest_force; // N, for comparison
    bool inverted;        // some element is inverted
} pl_model_check;

// ---- a kind of model: the functions behind a pl_model. `self` is the data of the model.
typedef struct pl_model_type {
    void (*info)(void *self, pl_model_info *out);
    // Solves for the equilibrium at `command`, starting from the current state. Failure to converge is an
    // outcome in `report`; the model is then left at the last equilibrium, whose commands are in the answer.
    pl_status (*fk)(void *self, const double *command, pl_solve_report *report, pl_error *err);
    // Fills in the results at the current state; called once after every move. Pointers left NULL are
    // replaced by the given commands, by NAN, by the undeformed configuration (points) or by 0 (forces).
    void (*answer)(void *self, pl_model_answer *out);
    // To the undeformed configuration, without anything kept of earlier solves.
    void (*reset)(void *self);

    // All functions below may be NULL.
    void (*destroy)(void *self);
    // Derivatives of `parts` (pl_model_part, combined with |) at the current state, with linear systems
    // solved to the relative residual `tolerance`; 0: exact (1e-8 or better). NULL: by central differences of
    // fk.
    pl_status (*derivative)(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                            pl_jacobian_report *report, pl_error *err);
    // The state as a block of doubles: written if `room` is sufficient; returns the size in any case. unpack
    // restores it without a solve. NULL: the state follows from the commands, by a forward solve.
    size_t (*pack)(void *self, double *block, size_t room);
    pl_status (*unpack)(void *self, const double *block, size_t count, pl_error *err);
    // For drawing: a mesh (owned by the model) and the current positions of its vertices. NULL: nothing.
    pl_status (*body)(void *self, const pl_mesh **out, pl_error *err);
    void (*shape)(void *self, double *position);
    // Polyline of an actuator in the current shape; returns its number of points, writes at most `room`.
    int (*line)(void *self, int actuator, double *point, int room);
    // What the library's own kinds can besides: derivatives with respect to loads, fields, reactions, a hand
    // that pulls, memory. NULL in a model of yours.
    const struct pl_model_extras *extras;
} pl_model_type;

typedef struct pl_model pl_model;

// Checks `type` and its info and takes ownership of `self`; on failure `self` is destroyed. Allocates all
// memory for answers, slots and derivatives, except derivatives of body points.
PL_API_CHECKED pl_status pl_model_create(const pl_model_type *type, void *self, pl_model **out,
                                         pl_error *err);
PL_API void pl_model_destroy(pl_model *model);

// The robot of a full body, for its description (materials, surfaces); NULL for other kinds.
PL_API const pl_robot *pl_model_robot(const pl_model *model);

PL_API pl_model_info pl_model_get_info(const pl_model *model);
PL_API int pl_model_find_command(const pl_model *model, const char *name); // -1 if there is none
PL_API int pl_model_find_marker(const pl_model *model, const char *name);
PL_API int pl_model_find_sensor(const pl_model *model, const char *name);
PL_API int pl_model_find_actuator(const pl_model *model, const char *name);

// ---- solving
// `command`: one per command, internal units; NAN: idle.
PL_API_CHECKED pl_status pl_model_fk(pl_model *model, const double *command, pl_solve_report *report,
                                     pl_error *err);

// The shape `seconds` after the commands were applied at once and then held (pl_statics_hold), where
// materials have viscous branches: pl_model_fk is the relaxed shape. Refused by models other than full bodies
// with the exact method.
PL_API_CHECKED pl_status pl_model_hold(pl_model *model, const double *command, double seconds,
                                       pl_creep_report *creep, pl_solve_report *report, pl_error *err);

// Forces at the markers, in addition to the loads of the robot (3 per marker, N; NULL: none): the forward
// solves that follow lead to them, until they are set again. For payloads, estimated forces, a hand that
// pulls. Refused by models without them unless all are 0.
PL_API_CHECKED pl_status pl_model_set_forces(pl_model *model, const double *force, pl_error *err);

// A hand at any point of the body: grips the point `at` (mm, undeformed configuration; NULL: lets go), spread
// over `radius`; the forward solves that follow lead to the force (N; NULL: none) with which it pulls.
// Refused by models other than full bodies with the exact method. Saved states do not contain the hand: solve
// without a force before gripping another point or restoring a state. The derivative with respect to the
// force is that of PL_PARAMETER_GRIP.
PL_API_CHECKED pl_status pl_model_grip(pl_model *model, const double at[3], double radius, pl_error *err);
PL_API_CHECKED pl_status pl_model_pull(pl_model *model, const double force[3], pl_error *err);
PL_API bool pl_model_grip_place(const pl_model *model, double place[3]); // mm, now; false: nothing is gripped

// The mean, at the gripped point, of a vector given at the body points (3 entries each, `stride` apart).
PL_API bool pl_model_grip_mean(const pl_model *model, const double *vector, int stride, double mean[3]);

// The forward solves that follow end at `factor` (1 to 1000) times their tolerances: for shapes that are
// shown at once and completed later by another solve at the same commands. False: the tolerances stay.
PL_API bool pl_model_set_tolerance_factor(pl_model *model, double factor);

// The mode that lost its stiffness at the first critical load of the last forward solve, on the vertices of
// the body, as pl_statics_critical. False: none, or the model does not know.
PL_API bool pl_model_critical(const pl_model *model, pl_critical_mode *out);

// Equilibria by arc length, stable and not, on a path on which the load may rise and fall: from the
// undeformed configuration towards `command`, which stand at the load 1. `visit` gets every point and the
// positions of the markers there (3 each, mm); it returns false to end. Ends too at the load 1, after
// `steps`, or where the path cannot be followed (*complete: it ended at the load 1 or by `visit`). The model
// stays where it is. Refused with contact, pressures on open surfaces, driven clamps, cables of prescribed
// length, and by models other than full bodies with the exact method.
PL_API_CHECKED pl_status pl_model_follow_arc(const pl_model *model, const double *command, int steps,
                                             bool (*visit)(void *user, const pl_arc_point *point,
                                                           const double *marker),
                                             void *user, bool *complete, pl_error *err);

// The stable shapes at `command`, lowest potential first (pliant/shapes.h). The model stays where it is; a
// shape is shown by pl_model_unpack of its packed state.
PL_API_CHECKED pl_status pl_model_find_shapes(const pl_model *model, const double *command,
                                              const pl_shapes_options *options, pl_shapes **out,
                                              pl_shapes_report *report, pl_error *err);

// Places in which the current state is saved and from which it is restored. Restoring an empty one is
// refused.
typedef enum pl_model_slot {
    PL_SLOT_IK_HERE,  // inverse kinematics: the last iterate accepted
    PL_SLOT_IK_ENTRY, // inverse kinematics: the shape at the start of the solve
    PL_SLOT_IK_BEST,  // inverse kinematics: the best of several starts
    PL_SLOT_CALLER,   // of whoever calls it: loops, estimators, programs
    PL_MODEL_SLOTS
} pl_model_slot;

PL_API_CHECKED pl_status pl_model_keep(pl_model *model, pl_model_slot slot, pl_error *err);
PL_API_CHECKED pl_status pl_model_recall(pl_model *model, pl_model_slot slot, pl_error *err);

// To the undeformed configuration, all commands idle, as if it had just been created: what follows does not
// depend on earlier solves, to the last bit. Forces that were set remain set.
PL_API void pl_model_reset(pl_model *model);

// The state as doubles, for files and for more than PL_MODEL_SLOTS saved states.
PL_API size_t pl_model_state_size(const pl_model *model);
PL_API void pl_model_pack(const pl_model *model, double *block); // pl_model_state_size doubles
PL_API_CHECKED pl_status pl_model_unpack(pl_model *model, const double *block, size_t count, pl_error *err);

// ---- results
PL_API pl_model_answer pl_model_get_answer(const pl_model *model);

// Of the forward solve that led to the current state.
PL_API pl_solve_report pl_model_get_report(const pl_model *model);

// Whether the model is a surrogate whose error counts: `reached` then means the target error and the model's
// error together.
PL_API bool pl_answer_has_error(const pl_model_answer *answer);
PL_API_CHECKED pl_status pl_model_differentiate(pl_model *model, unsigned parts, double tolerance,
                                                pl_model_derivative *out, pl_jacobian_report *report,
                                                pl_error *err);

// Derivatives with respect to loads and materials, as pl_statics_jacobian; refused by models without them.
PL_API_CHECKED pl_status pl_model_sensitivity(pl_model *model, const pl_parameter *parameter, int count,
                                              const pl_jacobian *out, pl_jacobian_report *report,
                                              pl_error *err);

// Gradient of a scalar function of the results, given its derivatives `by`, with respect to `count`
// parameters: one adjoint solve, whatever their number. Idle commands get 0. Models without an adjoint of
// their own use their derivatives and accept commands only.
PL_API_CHECKED pl_status pl_model_adjoint(pl_model *model, const pl_model_weights *by,
                                          const pl_parameter *parameter, int count, double *gradient,
                                          pl_jacobian_report *report, pl_error *err);

// For drawing: the mesh of the robot, or a tube around a centre line, created on the first call and owned by
// the model; *out is NULL if there is nothing to draw. pl_model_shape gives the current positions of its
// vertices.
PL_API_CHECKED pl_status pl_model_body(pl_model *model, const pl_mesh **out, pl_error *err);
PL_API void pl_model_shape(const pl_model *model, double *position);

// Polyline of a cable or of another actuator's path in the current shape; returns the number of points,
// writes at most `room`. 0: it has none.
PL_API int pl_model_line(const pl_model *model, int actuator, double *point, int room);

// A field on the vertices or elements of the body (see pl_field_components); refused unless in info.fields.
PL_API_CHECKED pl_status pl_model_field(pl_model *model, pl_field field, double *out, pl_error *err);

// One per support; refused by models without supports (info.support_count is 0).
PL_API_CHECKED pl_status pl_model_reactions(pl_model *model, pl_reaction *reaction, pl_error *err);
PL_API_CHECKED pl_status pl_model_verify(pl_model *model, pl_model_check *out, pl_error *err);

// ---- discretisation: by how much the motion may be wrong because of the mesh
typedef struct pl_mesh_error {
    double relative; // estimated error of the markers' motion, as a share of it; NAN: not known, or nothing
                     // moved
    double
        factor; // by which it may be off, in either direction: 3, and 10 where something presses on the body
} pl_mesh_error;
#define PL_MESH_ERROR_LIMIT 0.03 // above it a result is said to depend on the mesh

// Estimates the error of the current solution (pl_statics_mesh_error). Kept with the solution:
// pl_model_record repeats it. Unknown for models other than full bodies with the exact method.
PL_API_CHECKED pl_status pl_model_mesh_error(pl_model *model, pl_mesh_error *out, pl_error *err);

// Costs since the model was created.
typedef struct pl_model_costs {
    int64_t fk_calls, derivative_calls, iterations, factorizations, solves;
} pl_model_costs;

PL_API pl_model_costs pl_model_get_costs(const pl_model *model);

// ---- the record of a result: names, values and units of all that the model answers, for the terminal, files
// and the view. pliant/result.h writes it as text, JSON and rows of a table.
typedef struct pl_record pl_record;

// Record of the current solution. `report` describes the solve; NULL: the last forward solve. Borrowed until
// the next record; only the first call allocates memory.
PL_API_CHECKED pl_status pl_model_record(pl_model *model, const pl_solve_report *report,
                                         const pl_record **out, pl_error *err);

// The same without a search for crossings, which takes some milliseconds: it has those that are known.
PL_API_CHECKED pl_status pl_model_record_brief(pl_model *model, const pl_solve_report *report,
                                               const pl_record **out, pl_error *err);

// Whether the body penetrates itself, as far as that was examined: a point of the first place (mm), and a
// sentence about it.
PL_API bool pl_record_crossing(const pl_record *record, double at[3]);
PL_API bool pl_record_crossing_text(const pl_record *record, char *buffer, size_t size);

// A sentence about the error of a surrogate; false if the model is none.
PL_API bool pl_record_model_error_text(const pl_record *record, char *buffer, size_t size);

// Display units of the effort and measure of an actuator and of a sensor, and the internal value of one unit.
PL_API const char *pl_effort_unit(pl_actuator_kind kind);
PL_API double pl_effort_scale(pl_actuator_kind kind);
PL_API const char *pl_measure_name(pl_actuator_kind kind); // "length", "volume", "area"
PL_API const char *pl_measure_unit(pl_actuator_kind kind); // internal and on the terminal: mm, mm^3, mm^2
PL_API const char *pl_sensor_kind_name(pl_sensor_kind kind);
PL_API const char *pl_sensor_unit(pl_sensor_kind kind);
PL_API double pl_sensor_scale(pl_sensor_kind kind);
PL_API pl_dimension pl_sensor_dimension(pl_sensor_kind kind);

#ifdef __cplusplus
}
#endif
#endif
