// A model answers every question that a program asks of a robot, whatever stands behind it: the full body
// (statics), the geometric method, a reduced model, a model of the user's own. Inverse kinematics, paths,
// workspaces, the command, the server and Python ask here and nowhere else.
//
//   pl_model_fk             commands -> equilibrium
//   pl_model_get_answer     markers, sensors, efforts, readings of the last equilibrium
//   pl_model_differentiate  their derivatives with respect to the commands
//   pl_model_record         all of it as one record with names and display units, for people, files and pages
//
// A model belongs to one thread at a time.
#ifndef PLIANT_MODEL_H
#define PLIANT_MODEL_H

#include "pliant/geometric.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- what a model consists of; all arrays are the model's and live as long as it does
typedef struct pl_model_info {
    const char *name;    // of the robot
    const char *kind;    // "full", "beam", "rod", "constant_curvature", "vertebrae", or the user's own word
    const char *method;  // "exact", "local_global"; of other kinds the kind
    uint64_t hash;       // of everything that decides the answers: robot, method, kind of elements
    uint64_t robot_hash; // of the robot alone; states can be exchanged between the methods of one robot
    int command_count, actuator_count, marker_count, sensor_count, support_count, reading_count;
    const pl_command_info *command;
    const pl_actuator_info *actuator;
    const char *const *marker_name;
    const double *marker_at; // 3 per marker, undeformed
    const char *const *sensor_name;
    const pl_sensor_kind *sensor_kind;
    const char *const *support_name;     // those that reactions are reported for
    const pl_reading_info *reading;      // what terms report: springs
    int32_t point_count;                 // of the body: vertices, or points along a centre line
    const double *rest;                  // 3 per body point, undeformed
    int32_t vertex_count, element_count; // of the discretisation, for reports
    unsigned fields;                     // bit (1u << pl_field) for every field pl_model_field answers
    bool approximate_derivative;         // by differences instead of exact
    double difference_step; // of derivatives by differences, in parts of a command's span; 0: 1e-4
    double size;            // mm, of the whole robot
    // the same as in `actuator`
    const char *const *actuator_name;
    const pl_actuator_kind *actuator_kind;
} pl_model_info;
typedef pl_command_info pl_model_command;

// What an actuator was asked for and what became of it.
typedef struct pl_actuator_state {
    double ratio;                 // measure over its undeformed value
    double asked;                 // ratio asked for; NAN: idle, or driven by an effort
    double reached;               // ratio reached, on the mesh the method works on
    double local_low, local_high; // range of the local ratios of growing elements; NAN: does not grow
    bool slack;                   // a cable without tension
    bool growth;                  // acts by growing elements
} pl_actuator_state;

// The model where it stands; borrowed until the next call that moves it.
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
    double energy;                     // mJ, elastic
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

// Derivatives with respect to the commands: row-major, command_count columns; those not asked for are NULL.
// The columns of idle commands are 0. Borrowed until the next call that moves the model or asks for
// derivatives.
typedef struct pl_model_derivative {
    const double *marker;   // 3 marker_count rows
    const double *rotation; // 3 marker_count rows, rad
    const double *sensor, *effort, *measure;
    const double *point;  // 3 point_count rows
    const double *energy; // one row
    const double *reading;
} pl_model_derivative;

// An equilibrium judged anew, sharing no intermediate with the solve.
typedef struct pl_model_check {
    double residual;      // N, largest nodal force out of balance; NAN: the model cannot tell
    double largest_force; // N, to compare it with
    bool inverted;        // some element is turned inside out
} pl_model_check;

// ---- a kind of model: what stands behind a pl_model. `self` is the model's own memory.
typedef struct pl_model_type {
    void (*info)(void *self, pl_model_info *out);
    // Goes from where the model stands to the equilibrium at `command`. Not solving is an outcome in
    // `report`; the model then stands at the best it reached, whose commands the answer gives.
    pl_status (*fk)(void *self, const double *command, pl_statics_report *report, pl_error *err);
    // Fills in what the model knows where it stands; called once after every move. Pointers left NULL are
    // filled with the commands asked for, with NAN, or (points) with the undeformed configuration.
    void (*answer)(void *self, pl_model_answer *out);

    // All below may be NULL.
    void (*destroy)(void *self);
    // Derivatives of `parts` (pl_model_part, or-ed) at the answer, to the relative residual `tolerance` of
    // the linear systems; 0: exact (1e-8 or better). NULL: by central differences of fk.
    pl_status (*derivative)(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                            pl_jacobian_report *report, pl_error *err);
    // Derivatives with respect to other parameters: loads, materials. NULL: refused.
    pl_status (*sensitivity)(void *self, const pl_parameter *parameter, int count, const pl_jacobian *out,
                             pl_jacobian_report *report, pl_error *err);
    // The state as a block of doubles: writes it where `room` suffices and returns the size in any case; and
    // back to it without a solve. NULL: the state follows from the commands, by a forward solve.
    size_t (*pack)(void *self, double *block, size_t room);
    pl_status (*unpack)(void *self, const double *block, size_t count, pl_error *err);
    void (*reset)(void *self); // to the undeformed configuration. NULL: a forward solve without commands
    // What is drawn: a mesh (kept by the model), and where its vertices are now. NULL: nothing.
    pl_status (*body)(void *self, const pl_mesh **out, pl_error *err);
    void (*shape)(void *self, double *position);
    // Polyline of an actuator in the current shape; returns its number of points, writes at most `room`.
    int (*line)(void *self, int actuator, double *point, int room);
    pl_status (*field)(void *self, pl_field field, double *out, pl_error *err);
    pl_status (*reactions)(void *self, pl_reaction *reaction, pl_error *err); // per support
    pl_status (*check)(void *self, pl_model_check *out, pl_error *err);
} pl_model_type;

typedef struct pl_model pl_model;
// Checks what `type` and its info say and takes `self` over; on failure `self` is destroyed. All memory for
// answers, slots and derivatives except those of body points is taken here.
PL_API pl_status pl_model_create(const pl_model_type *type, void *self, pl_model **out, pl_error *err);
PL_API void pl_model_destroy(pl_model *model);

// The full body as a model, by the exact method or by the geometric one (whose derivatives are differences).
// Keeps a reference to `robot`, which must outlive it.
PL_API pl_status pl_model_from_robot(const pl_robot *robot, const pl_statics_options *options, pl_model **out,
                                     pl_error *err);
PL_API pl_status pl_model_from_robot_geometric(const pl_robot *robot, const pl_geometric_options *options,
                                               pl_model **out, pl_error *err);
// The robot of a full body, for what describes it (materials, surfaces); NULL for other kinds.
PL_API const pl_robot *pl_model_robot(const pl_model *model);

PL_API pl_model_info pl_model_get_info(const pl_model *model);
PL_API int pl_model_find_command(const pl_model *model, const char *name); // -1 when there is none
PL_API int pl_model_find_marker(const pl_model *model, const char *name);
PL_API int pl_model_find_sensor(const pl_model *model, const char *name);
PL_API int pl_model_find_actuator(const pl_model *model, const char *name);
// How actuator i is driven; of an index that is not there, an info with no name and command -1.
PL_API pl_actuator_info pl_model_actuator(const pl_model *model, int i);

// ---- moving it
// `command`: one per command, internal units; NAN: idle.
PL_API pl_status pl_model_fk(pl_model *model, const double *command, pl_statics_report *report,
                             pl_error *err);
// Keeps where the model stands in a slot, and goes back there. Both say what failed. Going back to a slot
// never kept is refused; inverse kinematics uses slots 0 to 2.
#define PL_MODEL_SLOTS 4
PL_API pl_status pl_model_keep(pl_model *model, int slot, pl_error *err);
PL_API pl_status pl_model_recall(pl_model *model, int slot, pl_error *err);
PL_API void pl_model_reset(pl_model *model); // to the undeformed configuration, all commands idle
// The state as doubles, for files and for more than PL_MODEL_SLOTS places.
PL_API size_t pl_model_state_size(const pl_model *model);
PL_API void pl_model_pack(const pl_model *model, double *block); // pl_model_state_size doubles
PL_API pl_status pl_model_unpack(pl_model *model, const double *block, size_t count, pl_error *err);

// ---- asking it
PL_API pl_model_answer pl_model_get_answer(const pl_model *model);
// Of the forward solve that brought the model where it stands.
PL_API pl_statics_report pl_model_get_report(const pl_model *model);
PL_API pl_status pl_model_differentiate(pl_model *model, unsigned parts, double tolerance,
                                        pl_model_derivative *out, pl_jacobian_report *report, pl_error *err);
// With respect to loads and materials, as pl_statics_jacobian; refused by models that know none.
PL_API pl_status pl_model_sensitivity(pl_model *model, const pl_parameter *parameter, int count,
                                      const pl_jacobian *out, pl_jacobian_report *report, pl_error *err);
// What is drawn: the robot's mesh, or a tube around a centre line, made when first asked for and kept by the
// model; *out is NULL where there is nothing to draw. Then the present places of its vertices (3 each).
PL_API pl_status pl_model_body(pl_model *model, const pl_mesh **out, pl_error *err);
PL_API void pl_model_shape(const pl_model *model, double *position);
// Polyline of a cable or of another actuator's path in the current shape; returns the number of points,
// writes at most `room`. 0: it has none.
PL_API int pl_model_line(const pl_model *model, int actuator, double *point, int room);
// A field on the vertices or elements of the body (see pl_field_components); refused unless in info.fields.
PL_API pl_status pl_model_field(pl_model *model, pl_field field, double *out, pl_error *err);
// One per support; refused by models that know none (info.support_count is 0 for them).
PL_API pl_status pl_model_reactions(pl_model *model, pl_reaction *reaction, pl_error *err);
PL_API pl_status pl_model_judge(pl_model *model, pl_model_check *out, pl_error *err);

// Costs since the model was made.
typedef struct pl_model_costs {
    int64_t fk_calls, derivative_calls, iterations, factorizations, solves;
} pl_model_costs;
PL_API pl_model_costs pl_model_get_costs(const pl_model *model);

// ---- leftovers, until the command and the server no longer look inside a full body; NULL for other kinds
PL_API pl_statics *pl_model_statics(pl_model *model);
PL_API pl_state *pl_model_state(pl_model *model);

// ---- the record of a result: names, numbers and units, made once and read by terminal, files and pages.
// Values are in display units; NAN where there is none.
typedef struct pl_record_command {
    const char *name, *unit;
    double value; // NAN: idle
} pl_record_command;
typedef struct pl_record_actuator {
    const char *name, *kind, *drive;
    bool idle, cable, slack, growth;
    const char *measure_name, *measure_unit; // "length", "mm"
    double measure, ratio;
    const char *effort_name,
        *effort_unit; // "tension", "N"; "pressure_kpa", "kPa"; "maxwell_stress_kpa", "kPa"
    double effort;
    double asked, reached, local_low, local_high; // as pl_actuator_state
} pl_record_actuator;
typedef struct pl_record_marker {
    const char *name;
    double position[3], displacement[3]; // mm
    bool has_rotation;
    double rotation[9], turned; // row-major; degrees
} pl_record_marker;
typedef struct pl_record_sensor {
    const char *name, *unit;
    double value;
} pl_record_sensor;
typedef struct pl_record_reaction {
    const char *name;
    double force[3], moment[3]; // N, N mm about the origin
} pl_record_reaction;
typedef struct pl_record_reading {
    const char *group, *name, *quantity, *unit;
    double value;
} pl_record_reading;

typedef struct pl_record {
    const char *robot, *kind, *method;
    uint64_t hash; // of the robot
    pl_statics_report report;
    int32_t vertex_count, element_count;
    pl_crossings crossings; // of a full body; count -1: not examined
    int command_count, actuator_count, marker_count, sensor_count, reaction_count, reading_count;
    const pl_record_command *command;
    const pl_record_actuator *actuator;
    const pl_record_marker *marker;
    const pl_record_sensor *sensor;
    const pl_record_reaction *reaction;
    const pl_record_reading *reading;
} pl_record;
// The model where it stands. `report` is what to say of the solve; NULL: that of the forward solve that led
// here. Borrowed until the next record; memory is taken by the first one only.
PL_API pl_status pl_model_record(pl_model *model, const pl_statics_report *report, const pl_record **out,
                                 pl_error *err);
// A sentence about a body that passes through itself; false when it does not.
PL_API bool pl_record_crossing_text(const pl_record *record, char *buffer, size_t size);
// Unit on the terminal of an actuator's effort and measure and of a sensor, and the internal value of one.
PL_API const char *pl_effort_unit(pl_actuator_kind kind);
PL_API double pl_effort_scale(pl_actuator_kind kind);
PL_API const char *pl_measure_name(pl_actuator_kind kind); // "length", "volume", "area"
PL_API const char *pl_measure_unit(pl_actuator_kind kind); // internal and on the terminal: mm, mm^3, mm^2
PL_API const char *pl_sensor_kind_name(pl_sensor_kind kind);
PL_API const char *pl_sensor_unit(pl_sensor_kind kind);
PL_API double pl_sensor_scale(pl_sensor_kind kind);

#ifdef __cplusplus
}
#endif
#endif
