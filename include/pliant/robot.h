// A robot: all that does not change. A pl_robot_def says what to build (io fills one from a robot file);
// checking it against its meshes gives the immutable pl_robot. A pl_state holds all that changes.
#ifndef PLIANT_ROBOT_H
#define PLIANT_ROBOT_H

#include "pliant/material.h"
#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// Every item carries the line it came from (0 when made by a program). Lengths mm, forces N, pressures MPa,
// volumes mm^3, angles rad. Names in a robot of several bodies read `body.name`; io has put points into the
// world's frame.

typedef struct pl_body_def {
    const char *name; // "body" for the short form
    pl_mesh_source source;
    double rotation[9], translation[3]; // the body's pose in the world
    int line;
} pl_body_def;

typedef struct pl_surface_def {
    const char *name;
    int body; // index
    pl_pick pick;
    int line;
} pl_surface_def;

typedef struct pl_material_def {
    const char *name;
    pl_material material;
    int line;
} pl_material_def;

typedef struct pl_region_def {
    const char *region, *material;
    // The stress-free shape against the drawn one, ratios; 0: as drawn. Area: prisms only, in the plane of
    // their triangles, at constant volume (a film bonded while stretched has shrunk to less than 1).
    double rest_area, rest_volume;
    int line;
} pl_region_def;

// Where a support acts: exactly one of surface, region, box.
typedef struct pl_fixed_def {
    const char *name; // for reactions: the surface's or region's name, or "fixed1"...
    const char *surface, *region;
    bool has_box;
    double low[3], high[3];
    int body;       // for boxes: index, -1 for all bodies
    bool axis[3];   // which world axes are held; all three by default
    double move[3]; // driven clamp: displacement at full load
    double
        rotate[3];   // driven clamp: rotation vector (axis times angle) at full load, after which `move` acts
    double about[3]; // a point on the axis of rotation
    int line;
} pl_fixed_def;

typedef struct pl_rigid_def {
    const char *region;
    int line;
} pl_rigid_def;

typedef enum pl_actuator_kind { PL_CABLE, PL_CHAMBER, PL_FILM } pl_actuator_kind;
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
    PL_DRIVE_COUNT
} pl_drive;

typedef struct pl_guide_def {
    double point[3];
    bool space; // fixed in space instead of embedded in the body
    int line;
} pl_guide_def;

// How a motor moves an actuator: one axis of a machine that reads G-code. At travel t (mm of cable pulled in,
// or mm^3 of syringe pushed) the axis stands at offset + t / per_unit, or offset - t / per_unit when
// reversed.
typedef struct pl_hardware {
    char axis;       // its letter; 0: the actuator has none
    double per_unit; // mm or mm^3 per unit of the axis
    bool reverse;
    double offset;   // units of the axis, where the actuator is at rest
    double feed;     // units per minute, at most; 0: no limit of its own
    double range[2]; // units of the axis
    bool has_range;
    int line;
} pl_hardware;

typedef struct pl_actuator_def {
    const char *name;
    pl_actuator_kind kind;
    pl_drive drive;
    double range[2];
    bool has_range;
    bool idle_hold;            // false: slack or vented without a command; true: keeps its rest measure
    const char *surface;       // chamber, film; or
    const char *region;        // a region of chamber elements: its outer surface is the cavity
    const pl_guide_def *guide; // cable
    int guide_count;
    double radius; // cable guides: spread over this radius, mm
    // syringe
    double line_volume; // mm^3 of dead volume
    bool liquid;        // incompressible; otherwise an ideal gas
    double ambient;     // MPa, absolute
    // voltage
    double thickness;    // mm
    double permittivity; // relative
    double rate;         // of the drive's value per second, at most; 0: no limit
    pl_hardware hardware;
    // growth: the elements of the region (or of the region called like the surface) change their stress-free
    // shape instead of being constrained; `modulus` (MPa) makes them a linear material without transverse
    // contraction, 0: they have a material of their own. Cables: triangles between cable and body, 1 mm thick
    bool growth;
    double modulus;
    // pairs (value of the drive, ratio): the measure over its rest that belongs to a tension, pressure,
    // volume pushed or voltage; monotone, in between a monotone cubic
    const double *table;
    int table_count;
    int line;
} pl_actuator_def;

typedef struct pl_command_drive {
    const char *actuator;
    double factor; // actuator value = factor * command
} pl_command_drive;
typedef struct pl_command_def {
    const char *name;
    const pl_command_drive *drive;
    int drive_count;
    bool one_sided; // actuator value = max(0, factor * command): antagonists take turns, none goes below 0
    double range[2];
    bool has_range;
    double rate; // per second, at most; 0: what its actuators allow
    int line;
} pl_command_def;

typedef struct pl_marker_def {
    const char *name;
    const char *surface; // centroid and frame of a surface; or
    double at[3];        // a point, riding on the nearest element when it stands off the body
    double radius;       // spread, mm; 0: the element's own interpolation
    int line;
} pl_marker_def;

typedef enum pl_sensor_kind { PL_SENSOR_LENGTH, PL_SENSOR_VOLUME, PL_SENSOR_PRESSURE } pl_sensor_kind;
typedef struct pl_sensor_def {
    const char *name;
    pl_sensor_kind kind;
    const pl_guide_def *guide; // length
    int guide_count;
    double radius;
    const char *actuator; // volume, pressure: of this chamber
    int line;
} pl_sensor_def;

typedef struct pl_force_def {
    const char *marker;
    double force[3], moment[3]; // N, N mm; a moment turns about its own axis, fixed in space
    int line;
} pl_force_def;
typedef struct pl_surface_pressure_def {
    const char *surface;
    double pressure; // MPa, pushes against the surface and follows it
    int line;
} pl_surface_pressure_def;

typedef struct pl_robot_def {
    const char *file; // for messages; NULL when made by a program
    const char *name;
    const pl_body_def *body;
    int body_count;
    const pl_surface_def *surface;
    int surface_count;
    const pl_material_def *material;
    int material_count;
    const pl_region_def *region;
    int region_count;
    const pl_fixed_def *fixed;
    int fixed_count;
    const pl_rigid_def *rigid;
    int rigid_count;
    const pl_actuator_def *actuator;
    int actuator_count;
    const pl_command_def *command; // none: one per actuator, under its name
    int command_count;
    const pl_marker_def *marker;
    int marker_count;
    const pl_sensor_def *sensor;
    int sensor_count;
    double gravity[3]; // mm/s^2
    const pl_force_def *force;
    int force_count;
    const pl_surface_pressure_def *pressure;
    int pressure_count;
} pl_robot_def;

typedef struct pl_robot pl_robot;

// Checks `def` against the meshes of its bodies (in their own frames, one per body, not kept) and builds the
// robot. Every defect found becomes a finding with its line; any PL_DEFECT refuses the robot with
// PL_BAD_INPUT and `err` repeats the first. Nothing of `def` is referenced afterwards.
PL_API pl_status pl_robot_create(const pl_robot_def *def, const pl_mesh *const *mesh, pl_robot **out,
                                 pl_findings *findings, pl_error *err);
PL_API void pl_robot_destroy(pl_robot *robot);

// What looks wrong with a robot although it can be built, as findings with places and elements: what
// pl_mesh_examine finds, chambers that are open or turned inside out, markers and cables off the body.
// What is already among `findings` (from loading) is not repeated.
PL_API pl_status pl_robot_examine(const pl_robot *robot, pl_findings *findings, pl_error *err);

// What is in it.
PL_API const char *pl_robot_name(const pl_robot *robot);
PL_API uint64_t pl_robot_hash(const pl_robot *robot);       // of everything that decides its behaviour
PL_API const pl_mesh *pl_robot_mesh(const pl_robot *robot); // all bodies, in the world's frame
PL_API const char *pl_robot_region_material(const pl_robot *robot, int region); // name of the material

typedef struct pl_command_info {
    const char *name;
    double range[2]; // internal units
    bool has_range;
    pl_drive drive; // of the first actuator driven: gives the unit
    int actuator_count;
    double rate;    // internal units per second, at most; 0: no limit
    double rest;    // the value at which the first actuator driven is at rest
    double span[2]; // the range, or where there is none, a usual one for its drives, factors included
} pl_command_info;
typedef struct pl_actuator_info {
    const char *name;
    pl_actuator_kind kind;
    pl_drive drive;
    double range[2];
    bool has_range, idle_hold;
    double rest; // rest measure: mm, mm^3 or mm^2
    int command; // the command that drives it; -1 when none
    double factor;
    bool one_sided; // its value is max(0, factor * command) instead of factor * command
    bool growth;    // drives the stress-free shape of its elements
    int table_count;
    int rim_count; // chambers: openings that were capped
    double rate;   // internal units per second, at most; 0: no limit
    pl_hardware hardware;
} pl_actuator_info;

PL_API int pl_robot_command_count(const pl_robot *robot);
PL_API pl_command_info pl_robot_command(const pl_robot *robot, int i);
PL_API int pl_robot_find_command(const pl_robot *robot, const char *name); // -1 when there is none
PL_API int pl_robot_actuator_count(const pl_robot *robot);
PL_API pl_actuator_info pl_robot_actuator(const pl_robot *robot, int i);
// Faces of the robot's mesh that a chamber or a film acts on; the array is the robot's. 0 for cables.
PL_API int64_t pl_robot_actuator_faces(const pl_robot *robot, int i, const int64_t **face);
PL_API int pl_robot_marker_count(const pl_robot *robot);
PL_API const char *pl_robot_marker_name(const pl_robot *robot, int i);
PL_API void pl_robot_marker_rest(const pl_robot *robot, int i, double position[3],
                                 double *distance); // off the body
PL_API int pl_robot_sensor_count(const pl_robot *robot);
PL_API const char *pl_robot_sensor_name(const pl_robot *robot, int i);
PL_API pl_sensor_kind pl_robot_sensor_kind(const pl_robot *robot, int i);
PL_API int pl_robot_fixed_count(const pl_robot *robot);
PL_API const char *pl_robot_fixed_name(const pl_robot *robot, int i);
PL_API int pl_robot_force_count(const pl_robot *robot);
PL_API int pl_robot_material_count(const pl_robot *robot);
PL_API const char *pl_robot_material_name(const pl_robot *robot, int i);
PL_API pl_material pl_robot_material(const pl_robot *robot, int i);

// ---- what a command means. A command c gives each actuator that it drives the value v = factor c; a
// one-sided command gives max(0, factor c), so that antagonists take turns. The drive says what v asks of the
// actuator: a measure m (the length of a cable, the volume of a chamber, the area of a film; m0 when
// undeformed), or an effort. NAN is idle everywhere. Values are in internal units (mm, mm^3, N, MPa, V).
typedef enum pl_dimension {
    PL_DIM_NUMBER,
    PL_DIM_LENGTH,
    PL_DIM_FORCE,
    PL_DIM_PRESSURE,
    PL_DIM_STRESS,
    PL_DIM_VOLUME,
    PL_DIM_ANGLE,
    PL_DIM_TIME,
    PL_DIM_DENSITY,
    PL_DIM_ACCELERATION,
    PL_DIM_VOLTAGE,
    PL_DIM_MOMENT,
    PL_DIM_TEMPERATURE,
    PL_DIM_AREA,
    PL_DIM_COUNT
} pl_dimension;

PL_API const char *pl_actuator_kind_name(pl_actuator_kind kind);
PL_API const char *pl_drive_name(pl_drive drive);
PL_API pl_actuator_kind pl_drive_kind(pl_drive drive);
PL_API bool pl_drive_is_geometric(pl_drive drive); // asks for a measure: enters as a constraint
PL_API const char *pl_drive_unit(pl_drive drive);  // "1", "mm", "N", "kPa", "mL", "V": on the terminal
PL_API double pl_drive_scale(pl_drive drive);      // internal value of one such unit (kPa: 1e-3, mL: 1000)
PL_API pl_dimension pl_drive_dimension(pl_drive drive);
// The measure m a value asks for, its derivative with respect to the value, and the value that asks for m,
// given the rest measure m0. For a syringe, as if its fluid kept its volume. NAN (derivative: 0) for efforts.
PL_API double pl_drive_target(pl_drive drive, double rest, double value);
PL_API double pl_drive_slope(pl_drive drive, double rest);
PL_API double pl_drive_value(pl_drive drive, double rest, double measure);
PL_API double pl_drive_rest(pl_drive drive, double rest); // the value that leaves an actuator at rest
// A usual range of values, where a robot names none.
PL_API void pl_drive_span(pl_drive drive, double rest, double span[2]);
PL_API pl_drive pl_drive_of_effort(pl_actuator_kind kind); // tension, pressure or voltage

// An actuator's value v, and dv/dc; at 0 of a one-sided command, that of an increasing command.
PL_API double pl_command_apply(double factor, bool one_sided, double command);
PL_API double pl_command_slope(double factor, bool one_sided, double command);
// The ratio m / m0 that the commands ask of actuator i, through its table if it has one; NAN: idle, or an
// effort.
PL_API double pl_robot_actuator_asked(const pl_robot *robot, int i, const double *command);

// What the motor of an actuator has to do at `value` (NAN: idle) where its measure is `measure`: mm of cable
// pulled in, or mm^3 of syringe pushed; NAN where no motor can follow the drive. An idle cable is let out as
// far as the body pulls it. And the travel per second that belongs to a rate of the value; 0: it says nothing
// of travel (N/s).
PL_API double pl_actuator_travel(const pl_actuator_info *actuator, double value, double measure);
PL_API double pl_actuator_travel_rate(const pl_actuator_info *actuator, double rate);

// ---- state: all that changes
typedef struct pl_state pl_state;
PL_API pl_status pl_state_create(const pl_robot *robot, pl_state **out, pl_error *err); // at rest
PL_API void pl_state_destroy(pl_state *state);
PL_API pl_status pl_state_copy(pl_state *to, const pl_state *from); // same robot
PL_API void pl_state_reset(pl_state *state, const pl_robot *robot);
PL_API const double *pl_state_positions(const pl_state *state); // 3 per vertex, mm
PL_API int32_t pl_state_vertex_count(const pl_state *state);
// For files: everything as one block of doubles, with the robot's hash. `size` in doubles.
PL_API size_t pl_state_pack(const pl_state *state, double *block, size_t size);
PL_API pl_status pl_state_unpack(pl_state *state, const double *block, size_t size, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
