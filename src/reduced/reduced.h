// Definitions of reduced models, which the document room reads and writes, and closed forms of constant
// curvature and of vertebrae, for the rooms that may call `reduced`. Programs build reduced models from
// documents or by pl_reduce.
#ifndef PL_REDUCED_ROOM_H
#define PL_REDUCED_ROOM_H

#include "pliant/reduced.h"
#include "robot/robot_def.h"

// A part of the centre line with one cross-section. Stiffness is required for beam and rod, and for constant
// curvature if an actuator is driven by a force or a pressure or if fewer than three lengths are given.
typedef struct pl_section_def {
    const char *name;
    double length;       // mm
    double diameter[2];  // mm, at its start and end: for drawing, and the default path of actuators
    double EA;           // N, axial
    double EI[2];        // N mm^2, bending about x and about y
    double GJ;           // N mm^2, torsion
    double GA[2];        // N, shear along x and along y, including the shear coefficient
    double mass;         // t/mm
    int pieces;          // elements, arcs or gaps; 0: 20 elements, 1 arc (8 for a cone), 8 gaps
    const double *share; // vertebrae: fraction of the actuator length in each gap (sum 1); NULL: equal
    int share_count;
    int line;
} pl_section_def;

// Stiffness from a material and a cross-section: E, G in MPa, area mm^2, I and J mm^4, shear coefficient
// (5/6 for a rectangle, 0.9 for a circle).
void pl_section_stiffness(pl_section_def *section, double E, double G, double area, double Ix, double Iy,
                          double J, double shear);

// A path parallel to the centre line, d(s) = radius(s) (cos angle(s), sin angle(s)) for s in `span`: the
// radius varies linearly from radius[0] to radius[1], the angle (rad, from x towards y) by `turns` full
// turns. Straight, tapered and helical paths are special cases. Or points (s, x, y) connected by straight
// lines.
typedef struct pl_line_path_def {
    double span[2];   // mm along the centre line
    double radius[2]; // mm
    double angle, turns;
    const double *waypoint; // instead of radius, angle and turns: 3 numbers per point, s ascending
    int waypoint_count;
} pl_line_path_def;

// An actuator along a path. The length of a cable is int |v + u x d + d'| ds along its path; in a rod or
// chain it cannot push. The volume of a chamber is area int (v_z + (u x d)_z) ds: its cross-section does not
// expand. Drives: all drives of cables; pressure, volume and volume_ratio of chambers.
typedef struct pl_line_actuator_def {
    const char *name;
    pl_actuator_kind kind; // that pulls (a tendon) or encloses (a chamber)
    pl_drive drive;
    double range[2];
    bool has_range, idle_hold;
    pl_line_path_def path;
    double area;             // mm^2, chambers
    double effectiveness[2]; // chambers: fraction of the pressure that stretches, that bends; ideally 1
    double rate;             // largest change, internal units per second; 0: no limit
    pl_hardware hardware;
    int line;
} pl_line_actuator_def;

typedef struct pl_line_marker_def {
    const char *name;
    double at;        // mm along the centre line
    double offset[3]; // mm, in the frame of the cross-section
    int line;
} pl_line_marker_def;

typedef struct pl_line_sensor_def {
    const char *name;
    pl_sensor_kind kind;
    pl_line_path_def path; // length
    const char *actuator;  // volume, pressure: of this chamber
    int line;
} pl_line_sensor_def;

typedef struct pl_line_force_def {
    const char *marker;
    double force[3], moment[3]; // N, N mm, fixed in space
    bool follower;              // given in the frame of the marker and rotating with it
    int line;
} pl_line_force_def;

typedef struct pl_line_load_def {
    const char *section; // NULL: all
    double force[3];     // N per mm of the undeformed centre line, in the world frame
    int line;
} pl_line_load_def;

// Errors of a marker, measured against the full robot (pl_reduce).
typedef struct pl_reduced_errors {
    int count;         // commands at which it was measured; 0: not measured
    int command_count; // of the model
    const char *marker;
    const double *command;  // command_count each, internal units
    const double *position; // mm
    const double *rotation; // rad; NAN: not known
    uint64_t model_hash;    // of the model they were measured with; 0: this one
    const char *robot_file; // of the full robot, absolute or relative to this file; NULL: not known
    uint64_t robot_print;   // of it at that time (pl_robot_file_print); 0: not known
    const char *distrust;   // why they do not hold any more (a constant text); NULL: they do
} pl_reduced_errors;

struct pl_reduced_def {
    const char *file; // for messages; NULL if created by a program
    const char *name;
    pl_reduced_kind kind;
    bool as_published; // beam only: equations 1 to 17 of Lindenroth et al. 2016
    double base[3];    // mm, position of s = 0
    double frame[9];   // row-major, columns x, y, z of the base frame; all 0: the world frame
    const pl_section_def *section;
    int section_count;
    const pl_line_actuator_def *actuator;
    int actuator_count;
    const pl_command_def *command; // an actuator driven by none of them has its own command, with its name
    int command_count;
    const pl_line_marker_def *marker;
    int marker_count;
    const pl_line_sensor_def *sensor;
    int sensor_count;
    double gravity[3]; // mm/s^2
    const pl_line_force_def *force;
    int force_count;
    const pl_line_load_def *load;
    int load_count;
    pl_reduced_errors errors;
    int line;
};

// Checks `def` and builds the model. Every defect becomes a finding with its line; if there is one, the model
// is refused with PL_BAD_INPUT and `err` repeats the first one. `def` is not referenced afterwards. Calls of
// the model allocate no memory.
pl_status pl_reduced_create(const pl_reduced_def *def, pl_model **out, pl_findings *findings, pl_error *err);

// Only the checks.
pl_status pl_reduced_check(const pl_reduced_def *def, pl_findings *findings, pl_error *err);

// ---- specific to reduced models
bool pl_model_is_reduced(const pl_model *model);

// ---- single arcs of constant curvature
// An arc: its length, and the rotation vector (x, y) of its end. Its curvature is |turn| / length, in the
// plane of z and (turn[1], -turn[0]).
typedef struct pl_arc {
    double length, turn[2];
} pl_arc;

// The arc of three lengths at 120 degrees (the first at `angle` from x) on a circle of the given diameter,
// accurate also for a straight section; and the inverse.
pl_arc pl_arc_from_lengths(const double length[3], double diameter, double angle);
void pl_arc_to_lengths(const pl_arc *arc, double diameter, double angle, double length[3]);
void pl_arc_end(const pl_arc *arc, double position[3], double rotation[9]); // rotation may be NULL

// The arc that starts at the origin along z and ends at `position`, in closed form. False at the origin and
// on the negative z axis.
bool pl_arc_reach(const double position[3], pl_arc *arc);

// ---- a single gap of the vertebrae: roll about x, then pitch about y, then `length` along the new z
typedef struct pl_gap {
    double roll, pitch, length;
} pl_gap;

// Lengths of the three limbs between circles of radius low and high, the first at `angle`.
void pl_gap_limbs(const pl_gap *gap, double low, double high, double angle, double limb[3]);

// The gap with these limb lengths, by Newton's method starting at `gap`. False if it does not converge.
bool pl_gap_solve(const double limb[3], double low, double high, double angle, pl_gap *gap);

// ---- inverse kinematics by least squares, for any model: commands within their ranges that bring a marker
// to `target`, starting from the current commands of the model (idle: the middle of the range, or 0). Leaves
// the model at the result. `reached` is the remaining distance (mm). Allocates no memory; at most 32
// commands.
pl_status pl_reduced_reach(pl_model *model, int marker, const double target[3], double tolerance,
                           double *command, double *reached, pl_error *err);

#endif
