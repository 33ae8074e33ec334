// Reduced models: robots described by a few numbers along a centre line instead of a mesh. Each implements
// pl_model like the full body, with exact derivatives, in microseconds per solve.
//
//   beam                a chain of corotational Timoshenko elements; as published: one linear element
//   rod                 geometrically exact (Cosserat) rod: bends, twists, stretches, shears
//   constant_curvature  circular arcs from actuator lengths or pressures
//   vertebrae           plates connected by 3UPS-1UP parallel joints (the hybrid model of Bieze et al. 2018)
//
// The undeformed centre line is straight: s starts with 0 at the base and runs along the z axis of the base
// frame. Offsets, paths and bending axes are given in the frame of the cross-section, which is parallel to
// the base frame in the undeformed configuration.
#ifndef PLIANT_REDUCED_H
#define PLIANT_REDUCED_H

#include "pliant/model.h"

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
PL_API double pl_reduced_length(const pl_model *model);        // mm, undeformed

// What looks wrong with it, as findings: no markers, commands without a range, no equilibrium at the middle
// of the ranges (where it leaves the model).
PL_API_CHECKED pl_status pl_reduced_examine(pl_model *model, pl_findings *findings, pl_error *err);

// ---- designs without a mesh, in addition to those of meshing.h
typedef struct pl_reduced_design {
    const char *kind, *summary;
    const char *robot_yaml; // the commented robot file that `pliant new` writes
} pl_reduced_design;

PL_API int pl_reduced_design_count(void);
PL_API const pl_reduced_design *pl_reduced_design_at(int i);

// ---- fitting to a full model. It must be loaded with a probe (pl_load_options of io.h): its last four loads
// are a force of zero and moments of PL_PROBE_MOMENT about x, y and z at the marker
#define PL_PROBE_MOMENT 1e-6 // N mm
typedef struct pl_reduce_options {
    pl_reduced_kind kind; // beam, rod or constant_curvature
    const char *marker;   // the marker whose motion is fitted; NULL: the first
    int sample_count;     // random commands at which the error is measured
    uint64_t seed;
    double load_share;      // fraction of the ranges at which the model is fitted
    const char *robot_file; // of the full model, as in pl_reduced_errors; NULL: not known
    pl_progress progress;
} pl_reduce_options;

PL_API pl_reduce_options pl_reduce_options_default(void);

typedef struct pl_reduce_report {
    int solves;                          // of the full model
    double length, diameter;             // mm, of the body
    double position_rms, position_max;   // mm, over the samples
    double direction_rms, direction_max; // rad
    double motion;                       // mm, RMS displacement of the marker over the samples
    int sample_count;                    // samples solved by the full model
    double EA, EI[2], GJ, GA[2];         // N, N mm^2: stiffness of the fitted section
} pl_reduce_report;

// A fitted model, with everything its definition refers to.
typedef struct pl_reduction pl_reduction;
PL_API_CHECKED pl_status pl_reduce(pl_model *full, const pl_reduce_options *options, pl_reduction **out,
                                   pl_reduce_report *report, pl_error *err);
PL_API void pl_reduction_destroy(pl_reduction *reduction);

// Its definition, for pl_reduced_write; belongs to the reduction.
typedef struct pl_reduced_def pl_reduced_def;
PL_API const pl_reduced_def *pl_reduction_def(const pl_reduction *reduction);

// What was fitted for an actuator: its distance from the centre line and its direction there, the area of a
// chamber, and the share of its effort that acts.
typedef struct pl_fitted_actuator {
    const char *name;
    pl_actuator_kind kind;
    double radius, angle; // mm, rad
    double area;          // mm^2
    double effectiveness;
} pl_fitted_actuator;

PL_API int pl_reduction_actuator_count(const pl_reduction *reduction);
PL_API pl_fitted_actuator pl_reduction_actuator(const pl_reduction *reduction, int i);

#ifdef __cplusplus
}
#endif
#endif
