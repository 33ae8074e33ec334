// What a record has: names, values and units, in display units; NAN where there is no value. For the rooms
// that write records; programs get them as text, JSON or rows of a table.
#ifndef PL_MODEL_RECORD_H
#define PL_MODEL_RECORD_H

#include "pliant/model.h"

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
    double rotation[9], turned; // row-major; degrees, 0 to 180
    // Bending since rest, degrees, unwrapped (204, where `turned` is 156) and signed, about `bend_axis`,
    // whose largest component is positive. NAN: not known
    double bend, bend_axis[3];
    double force[3];    // N, set by pl_model_set_forces; 0: none
    double model_error; // mm, as pl_answer_error; NAN: not known, or no surrogate
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

// The error of a surrogate: the largest of its markers.
typedef struct pl_record_error {
    pl_error_source source;
    double mm, confidence; // NAN: not known
    const char *unknown;   // as pl_answer_error
} pl_record_error;

// Arrays have one entry per command, actuator, marker, sensor, support and reading.
struct pl_record {
    const char *robot, *kind, *method;
    uint64_t hash; // of the robot
    pl_solve_report report;
    int32_t vertex_count, element_count;
    pl_crossings crossings;      // of a full body; count -1: not examined
    bool contact;                // the robot keeps its bodies apart
    bool self_contact;           // and a body from passing through itself
    pl_mesh_error mesh_error;    // as estimated last at this solution; NAN: not computed, or not known
    pl_record_error model_error; // of a surrogate
    int command_count, actuator_count, marker_count, sensor_count, reaction_count, reading_count;
    const pl_record_command *command;
    const pl_record_actuator *actuator;
    const pl_record_marker *marker;
    const pl_record_sensor *sensor;
    const pl_record_reaction *reaction;
    const pl_record_reading *reading;
};

// Sentences for people; false where there is nothing to say: an estimated error of the mesh above
// PL_MESH_ERROR_LIMIT, elements that had to be kept from folding, an obstacle too small for the faces it
// presses on.
bool pl_record_mesh_error_text(const pl_record *record, char *buffer, size_t size);
bool pl_record_guard_text(const pl_record *record, char *buffer, size_t size);
bool pl_record_contact_text(const pl_record *record, char *buffer, size_t size);

#endif
