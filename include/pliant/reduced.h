// Reduced models: robots described by a few numbers along a centre line instead of a mesh. Each answers the
// same questions as the full body through pl_model, with exact derivatives, in microseconds.
//
//   beam                a chain of corotational Timoshenko elements; as published: one linear element
//   rod                 geometrically exact (Cosserat) rod: bends, twists, stretches, shears
//   constant_curvature  circular arcs from actuator lengths or pressures
//   vertebrae           plates joined by 3UPS-1UP parallel joints (the hybrid model of Bieze et al. 2018)
//
// The centre line is straight at rest: s runs from 0 at the base along the base frame's z axis. Offsets,
// paths and bending axes are given in the frame of the cross-section, which is the base frame at rest.
#ifndef PLIANT_REDUCED_H
#define PLIANT_REDUCED_H

#include "pliant/kinematics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pl_reduced_kind {
    PL_BEAM,
    PL_ROD,
    PL_CONSTANT_CURVATURE,
    PL_VERTEBRAE,
    PL_REDUCED_KIND_COUNT
} pl_reduced_kind;
PL_API const char *pl_reduced_kind_name(pl_reduced_kind kind); // "beam", "rod", ...

// A piece of the centre line with one cross-section. Stiffness is needed by beam and rod, and by constant
// curvature where an actuator is driven by a force or a pressure or where fewer than three lengths decide.
typedef struct pl_section_def {
    const char *name;
    double length;       // mm
    double diameter[2];  // mm, at its start and end: the tube drawn, and where actuators run by default
    double EA;           // N, stretching
    double EI[2];        // N mm^2, bending about x and about y
    double GJ;           // N mm^2, torsion
    double GA[2];        // N, shear along x and along y, with the shear coefficient in it
    double mass;         // t/mm
    int pieces;          // elements, arcs or gaps; 0: 20 elements, 1 arc (8 for a cone), 8 gaps
    const double *share; // vertebrae: part of an actuator's length in each gap (adds up to 1); NULL: equal
    int share_count;
    int line;
} pl_section_def;
// Stiffness from a material and a cross-section: E, G in MPa, area mm^2, I and J mm^4, shear coefficient
// (5/6 for a rectangle, 0.9 for a circle).
PL_API void pl_section_stiffness(pl_section_def *section, double E, double G, double area, double Ix,
                                 double Iy, double J, double shear);

// A path beside the centre line, d(s) = radius(s) (cos angle(s), sin angle(s)) for s in `span`: radius runs
// from radius[0] to radius[1], the angle (rad, from x towards y) by `turns` full turns. Straight, tapered and
// helical paths are special cases. Or points (s, x, y) joined by straight lines.
typedef struct pl_line_path_def {
    double span[2];   // mm along the centre line
    double radius[2]; // mm
    double angle, turns;
    const double *way; // instead of radius, angle and turns: 3 numbers per point, s ascending
    int way_count;
} pl_line_path_def;

// An actuator along a path. A cable has the length int |v + u x d + d'| ds of its path and cannot push in a
// rod or a chain; a chamber has the volume area int (v_z + (u x d)_z) ds: its walls do not widen. Drives: all
// of cables; of chambers pressure, volume and volume_ratio.
typedef struct pl_line_actuator_def {
    const char *name;
    pl_actuator_kind kind; // PL_CABLE or PL_CHAMBER
    pl_drive drive;
    double range[2];
    bool has_range, idle_hold;
    pl_line_path_def path;
    double area;             // mm^2, chambers
    double effectiveness[2]; // chambers: part of the pressure that stretches, that bends; 1 when ideal
    double rate;             // internal units per second, at most; 0: no limit
    pl_hardware hardware;
    int line;
} pl_line_actuator_def;

typedef struct pl_line_marker_def {
    const char *name;
    double at;        // mm along the centre line
    double offset[3]; // mm, in the frame there
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
    double force[3], moment[3]; // N, N mm, in the world; a moment turns about its own axis, fixed in space
    bool follower;              // given in the marker's frame and turning with it
    int line;
} pl_line_force_def;

typedef struct pl_line_load_def {
    const char *section; // NULL: all
    double force[3];     // N/mm of the centre line at rest, in the world
    int line;
} pl_line_load_def;

typedef struct pl_reduced_def {
    const char *file; // for messages; NULL when made by a program
    const char *name;
    pl_reduced_kind kind;
    bool as_published; // beam only: equations 1 to 17 of Lindenroth et al. 2016
    double base[3];    // mm, where s = 0 lies
    double frame[9];   // row-major, columns x, y, z of the base frame; all 0: the world's
    const pl_section_def *section;
    int section_count;
    const pl_line_actuator_def *actuator;
    int actuator_count;
    const pl_command_def *command; // an actuator that none of them drives has one of its own, under its name
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
    int line;
} pl_reduced_def;

// Checks `def` and builds the model. Every defect becomes a finding with its line; any refuses the model with
// PL_BAD_INPUT and `err` repeats the first. Nothing of `def` is referenced afterwards. Calls of the model
// take no memory.
PL_API pl_status pl_reduced_create(const pl_reduced_def *def, pl_model **out, pl_findings *findings,
                                   pl_error *err);
// The checks alone.
PL_API pl_status pl_reduced_check(const pl_reduced_def *def, pl_findings *findings, pl_error *err);

// ---- what a reduced model knows beyond pl_model
PL_API bool pl_model_is_reduced(const pl_model *model);
PL_API double pl_reduced_length(const pl_model *model); // mm at rest
PL_API pl_actuator_info pl_reduced_actuator(const pl_model *model, int i);
PL_API bool pl_reduced_slack(const pl_model *model, int i); // a cable without tension
// The body as a solid tube of wedges, for files and pictures: the mesh at rest, and where its vertices are
// now (3 per vertex). PL_BAD_INPUT for models of other kinds.
PL_API pl_status pl_reduced_tube(const pl_model *model, pl_mesh **out, pl_error *err);
PL_API pl_status pl_reduced_tube_place(pl_model *model, const pl_mesh *tube, double *position, pl_error *err);
// An actuator's path in the shape last solved; returns the number of points, writes at most `room`.
PL_API int pl_reduced_path_points(pl_model *model, int actuator, double *point, int room);

// ---- ready robots without a mesh, beside the designs of meshing.h
typedef struct pl_reduced_design {
    const char *kind, *summary;
    const char *robot_yaml; // the commented robot file that `pliant new` writes
} pl_reduced_design;
PL_API int pl_reduced_design_count(void);
PL_API const pl_reduced_design *pl_reduced_design_at(int i);

// ---- constant curvature by itself
// One arc: length, and the rotation vector (x, y) of its end; its curvature is |turn| / length in the plane
// through z and (turn[1], -turn[0]).
typedef struct pl_arc {
    double length, turn[2];
} pl_arc;
// From three lengths at 120 degrees (the first at `angle` from x) on a circle of the given diameter, exact
// also for a straight section, and back.
PL_API pl_arc pl_arc_from_lengths(const double length[3], double diameter, double angle);
PL_API void pl_arc_to_lengths(const pl_arc *arc, double diameter, double angle, double length[3]);
PL_API void pl_arc_end(const pl_arc *arc, double position[3], double rotation[9]); // rotation may be NULL
// The one arc from the origin along z to `position`, in closed form. False at the origin and on the negative
// z axis.
PL_API bool pl_arc_reach(const double position[3], pl_arc *arc);

// ---- one gap of the vertebrae by itself: pitch about y after roll about x, then `length` along the new z
typedef struct pl_gap {
    double roll, pitch, length;
} pl_gap;
// Lengths of the three limbs between circles of radius low and high, the first at `angle`.
PL_API void pl_gap_limbs(const pl_gap *gap, double low, double high, double angle, double limb[3]);
// The gap that has these limbs, by Newton from `gap`. False when there is none near.
PL_API bool pl_gap_solve(const double limb[3], double low, double high, double angle, pl_gap *gap);

// ---- inverse by least squares, for any model: commands within their ranges that bring a marker to `target`,
// from the model's present command (idle: the middle of the range, or 0). Leaves the model there. `reached`
// says how far it stays off (mm). Takes no memory; at most 32 commands.
PL_API pl_status pl_reduced_reach(pl_model *model, int marker, const double target[3], double tolerance,
                                  double *command, double *reached, pl_error *err);

// ---- from the full model, which was loaded with a probe (pl_load_options of io.h): its last four loads are
// a force of zero and moments of PL_PROBE_MOMENT about x, y and z at the marker
#define PL_PROBE_MOMENT 1e-6 // N mm
typedef struct pl_reduce_options {
    pl_reduced_kind kind; // beam, rod or constant_curvature
    const char *marker;   // whose motion is followed; NULL: the first
    int sample_count;     // random commands for the table of errors
    uint64_t seed;
    double load_share; // of the ranges, for the solves that are fitted to
    pl_progress progress;
} pl_reduce_options;
PL_API pl_reduce_options pl_reduce_options_default(void);

typedef struct pl_reduce_report {
    int solves;                          // of the full model
    double length, diameter;             // mm, of the body
    double position_rms, position_max;   // mm, over the samples
    double direction_rms, direction_max; // rad
    double motion;                       // mm, RMS of how far the marker moves over the samples
    int sample_count;                    // those the full model solved
} pl_reduce_report;

// A model fitted to a full one, with all its def refers to.
typedef struct pl_reduction pl_reduction;
PL_API pl_status pl_reduce(pl_model *full, const pl_reduce_options *options, pl_reduction **out,
                           pl_reduce_report *report, pl_error *err);
PL_API void pl_reduction_destroy(pl_reduction *reduction);
PL_API const pl_reduced_def *pl_reduction_def(const pl_reduction *reduction);

#ifdef __cplusplus
}
#endif
#endif
