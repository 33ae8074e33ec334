// A robot: everything that is constant. It is built from a document (document.h) and immutable; a pl_state
// holds everything that changes. Lengths in mm, forces N, pressures MPa, volumes mm^3, angles rad. In a robot
// with several bodies, names have the form `body.name` and points are in the world frame.
#ifndef PLIANT_ROBOT_H
#define PLIANT_ROBOT_H

#include "pliant/material.h"
#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pl_actuator_kind {
    PL_CABLE,
    PL_CHAMBER,
    PL_FILM,
    PL_MAGNET,
    PL_ACTUATOR_KIND_COUNT
} pl_actuator_kind;

typedef enum pl_drive {
    PL_DRIVE_LENGTH_RATIO, // cable: L / L0
    PL_DRIVE_LENGTH,       // cable: L, mm
    PL_DRIVE_SHORTENING,   // cable: L0 - L, mm
    PL_DRIVE_TENSION,      // cable, N
    PL_DRIVE_VOLUME_RATIO, // chamber: V / V0
    PL_DRIVE_VOLUME,       // chamber: V, mm^3
    PL_DRIVE_PRESSURE,     // chamber: gauge, MPa
    PL_DRIVE_SYRINGE,      // chamber: volume pushed into a closed line, mm^3
    PL_DRIVE_AREA_RATIO,   // film: A / A0
    PL_DRIVE_VOLTAGE,      // film, V
    PL_DRIVE_FIELD,        // magnet: flux density of the field, V s/mm^2 (1e6 T)
    PL_DRIVE_COUNT
} pl_drive;

// The machine axis (G-code) that moves an actuator, and what the machine does with pressures below 0.
typedef struct pl_hardware pl_hardware;

typedef enum pl_sensor_kind {
    PL_SENSOR_LENGTH,   // of a line through points
    PL_SENSOR_VOLUME,   // of a chamber
    PL_SENSOR_PRESSURE, // of a chamber
    PL_SENSOR_TENSION   // of a cable
} pl_sensor_kind;

typedef struct pl_robot pl_robot;
PL_API void pl_robot_destroy(pl_robot *robot);

// Reports suspicious properties of a valid robot, as findings with positions and elements: what
// pl_mesh_examine finds, chambers that are open or inverted, markers and cables outside the body. Findings
// that are already in `findings` (from loading) are not repeated.
PL_API_CHECKED pl_status pl_robot_examine(const pl_robot *robot, pl_findings *findings, pl_error *err);

// Contents.
PL_API const char *pl_robot_name(const pl_robot *robot);
PL_API uint64_t pl_robot_hash(const pl_robot *robot);       // of everything that determines its behaviour
PL_API const pl_mesh *pl_robot_mesh(const pl_robot *robot); // all bodies, in the world frame
PL_API const char *pl_robot_region_material(const pl_robot *robot, int region); // name of the material

typedef struct pl_command_info {
    const char *name;
    double range[2]; // internal units
    bool has_range;
    pl_drive drive; // of its first actuator; determines the unit
    int actuator_count;
    double rate;       // largest change, internal units per second; 0: no limit
    double fill, vent; // s: times in which the drives follow upwards and downwards, the longest; 0: at once
    double rest;       // the value at which its first actuator is at rest
    double span[2];    // the range, or if there is none, a typical one for its drives, including factors
} pl_command_info;

typedef struct pl_actuator_info {
    const char *name;
    pl_actuator_kind kind;
    pl_drive drive;
    double range[2];
    bool has_range, idle_hold;
    double rest; // rest measure: mm, mm^3 or mm^2
    int command; // the command that drives it; -1 if none
    double factor;
    bool one_sided; // its value is max(0, factor * command) instead of factor * command
    bool growth;    // acts by the stress-free shape of its elements
    int table_count;
    int rim_count;               // chambers: openings that were capped
    double rate;                 // largest change, internal units per second; 0: no limit
    char axis;                   // of the machine, A to Z; 0: none
    const pl_hardware *hardware; // for exports; NULL: none
} pl_actuator_info;

PL_API int pl_robot_command_count(const pl_robot *robot);
PL_API pl_command_info pl_robot_command(const pl_robot *robot, int i);
PL_API int pl_robot_actuator_count(const pl_robot *robot);
PL_API pl_actuator_info pl_robot_actuator(const pl_robot *robot, int i);

// Faces of the mesh that a chamber or film acts on; the array belongs to the robot. 0 for cables.
PL_API int64_t pl_robot_actuator_faces(const pl_robot *robot, int i, const int64_t **face);
PL_API int pl_robot_marker_count(const pl_robot *robot);
PL_API const char *pl_robot_marker_name(const pl_robot *robot, int i);
PL_API void pl_robot_marker_rest(const pl_robot *robot, int i, double position[3],
                                 double *distance); // off the body
PL_API int pl_robot_sensor_count(const pl_robot *robot);
PL_API const char *pl_robot_sensor_name(const pl_robot *robot, int i);
PL_API pl_sensor_kind pl_robot_sensor_kind(const pl_robot *robot, int i);

// The polyline of a length sensor for vertices at `position` (3 each); returns its number of points (0 for
// other sensors), writes at most `room`.
PL_API int pl_robot_sensor_line(const pl_robot *robot, int i, const double *position, double *point,
                                int room);

typedef struct pl_spring_info {
    const char *name;
    int from, to;           // markers; to -1: `point`
    double point[3];        // fixed in space
    double stiffness, rest; // N/mm, mm
    bool tension_only;
} pl_spring_info;

PL_API int pl_robot_spring_count(const pl_robot *robot);
PL_API pl_spring_info pl_robot_spring(const pl_robot *robot, int i);
PL_API int pl_robot_fixed_count(const pl_robot *robot);
PL_API const char *pl_robot_fixed_name(const pl_robot *robot, int i);

// Vertices that a support holds and the axes it holds them in; the array belongs to the robot.
PL_API int32_t pl_robot_fixed_vertices(const pl_robot *robot, int i, const int32_t **vertex, bool axis[3]);
PL_API void pl_robot_gravity(const pl_robot *robot, double gravity[3]); // mm/s^2
PL_API int pl_robot_force_count(const pl_robot *robot);

// The marker at which force i acts, -1 if there is none; N, N mm.
PL_API int pl_robot_force(const pl_robot *robot, int i, double force[3], double moment[3]);

// Loads by pressure: the faces they act on (the array belongs to the robot), MPa.
PL_API int pl_robot_pressure_count(const pl_robot *robot);
PL_API int64_t pl_robot_pressure_faces(const pl_robot *robot, int i, const int64_t **face, double *pressure);
PL_API int pl_robot_material_count(const pl_robot *robot);
PL_API const char *pl_robot_material_name(const pl_robot *robot, int i);
PL_API pl_material pl_robot_material(const pl_robot *robot, int i);
PL_API int pl_robot_obstacle_count(const pl_robot *robot);
PL_API const char *pl_robot_obstacle_name(const pl_robot *robot, int i);
PL_API const char *pl_robot_obstacle_kind(const pl_robot *robot, int i); // "plane", "sphere" ...
PL_API double pl_robot_obstacle_friction(const pl_robot *robot, int i);

// Where it stands in a shape x (3 per vertex; NULL: at rest): a place p of the obstacle at rest is at
// rotation p + translation (row-major). Free bodies move with the shape, others with the commands.
PL_API bool pl_robot_obstacle_is_free(const pl_robot *robot, int i);
PL_API void pl_robot_obstacle_pose(const pl_robot *robot, int i, const double *command, const double *x,
                                   double rotation[9], double translation[3]);

// Triangles that show an obstacle at rest, 9 numbers each; `out` NULL: only their number. Of what has no end
// the part of `size` around `near` is shown.
PL_API int pl_robot_obstacle_triangles(const pl_robot *robot, int i, const double near[3], double size,
                                       double *out);

typedef struct pl_layer_info {
    const char *name;
    const int64_t *face; // of the mesh; belongs to the robot
    int64_t face_count;
    double thickness, offset, area; // mm, mm from the face outwards to its middle, mm^2
    int material;
    bool bending;
    double wrinkle; // strain at which compression folds it; 0: never
    double prestretch;
} pl_layer_info;

typedef struct pl_fibre_info {
    const char *name;
    double length;    // mm, all its pieces together
    double stiffness; // N
    bool inextensible, tension_only;
    int piece_count; // connected pieces, each a polyline
    double prestretch;
} pl_fibre_info;

PL_API int pl_robot_layer_count(const pl_robot *robot);
PL_API pl_layer_info pl_robot_layer(const pl_robot *robot, int i);
PL_API int pl_robot_fibre_count(const pl_robot *robot);
PL_API pl_fibre_info pl_robot_fibre(const pl_robot *robot, int i);

// The polyline of a piece of a fibre for vertices at `position` (3 each); returns its number of points,
// writes at most `room`.
PL_API int pl_robot_fibre_line(const pl_robot *robot, int i, int piece, const double *position, double *point,
                               int room);

// ---- what a command means. A command c gives each actuator that it drives the value v = factor c; a
// one-sided command gives max(0, factor c), for antagonists. The drive determines what v prescribes: a
// measure m (the length of a cable, the volume of a chamber, the area of a film; m0 when undeformed), or an
// effort. NAN means idle everywhere. Values are in internal units (mm, mm^3, N, MPa, V).
// What a kind of actuator measures (length, volume, area, magnetic moment along the field), the effort that
// goes with it, and their units on the terminal.
typedef enum pl_actuator_place { PL_PLACE_POINTS, PL_PLACE_FACES, PL_PLACE_REGION } pl_actuator_place;

typedef struct pl_actuator_kind_info {
    const char *name;
    const char *measure, *measure_unit;
    double measure_scale;                          // internal value of one unit
    const char *effort, *effort_key, *effort_unit; // for people, in records
    double effort_scale;
    pl_dimension effort_dimension;
    pl_drive effort_drive;   // that prescribes an effort
    double sign;             // +1: its effort shortens its measure, -1: it enlarges it
    bool pulls_only;         // it is slack rather than push
    pl_actuator_place place; // what the robot file gives: `through`; `surface` or `region`; `region`
} pl_actuator_kind_info;

PL_API const pl_actuator_kind_info *pl_actuator_kind_get(pl_actuator_kind kind);
PL_API const char *pl_actuator_kind_name(pl_actuator_kind kind);
PL_API const char *pl_drive_name(pl_drive drive);
PL_API const char *pl_drive_unit(pl_drive drive); // "1", "mm", "N", "kPa", "mL", "V", "mT": on the terminal
PL_API double pl_drive_scale(pl_drive drive);     // internal value of one such unit (kPa: 1e-3, mL: 1000)
PL_API pl_dimension pl_drive_dimension(pl_drive drive);

// ---- state: everything that changes
typedef struct pl_state pl_state;
PL_API_CHECKED pl_status pl_state_create(const pl_robot *robot, pl_state **out, pl_error *err); // at rest
PL_API void pl_state_destroy(pl_state *state);
PL_API void pl_state_reset(pl_state *state, const pl_robot *robot);
PL_API const double *pl_state_positions(const pl_state *state); // 3 per vertex, mm
PL_API int32_t pl_state_vertex_count(const pl_state *state);
PL_API const double *pl_state_commands(const pl_state *state);        // internal units; NAN: idle
PL_API void pl_state_set_positions(pl_state *state, const double *x); // 3 per vertex, mm; for drawing

// For files: everything as one block of doubles, with the hash of the robot. `size` in doubles.
PL_API size_t pl_state_pack(const pl_state *state, double *block, size_t size);
PL_API_CHECKED pl_status pl_state_unpack(pl_state *state, const double *block, size_t size, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
