// Calibration: parameters from measurements.
#ifndef PLIANT_CALIB_H
#define PLIANT_CALIB_H

#include "pliant/camera.h"
#include "pliant/material.h"
#include "pliant/mesh.h"
#include "pliant/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// A tensile test: engineering stress (MPa) over engineering strain (1 = 100 %), in ascending order of strain.
typedef struct pl_tensile {
    char title[80], source[160];
    double *strain, *stress;
    int count;
} pl_tensile;

PL_API void pl_tensile_clear(pl_tensile *test);

// Reads the CSV layout of the Soft Robotics Materials Database (`;` separated, a header block, then columns)
// or a plain CSV of strain and stress. `text` is the whole file; `name` is used in messages.
PL_API_CHECKED pl_status pl_tensile_parse(const char *text, size_t length, const char *name, pl_tensile *out,
                                          pl_error *err);

typedef struct pl_tensile_fit {
    pl_material material;
    double error; // root mean square of the stress error over the largest stress in the range
    double strain_low, strain_high;
    bool stable; // stress increases with stretch: in tension over the range and in compression to 0.5; in
                 // pure shear and equibiaxial stretch up to the same I1
} pl_tensile_fit;

// Least squares of a tensile bar (pl_material_tensile) over strains up to `strain_high` (0: the whole test),
// for linear and the rubber laws. If the unconstrained fit is unstable, constants >= 0 are fitted instead.
// The resulting material has poisson PL_POISSON_DEFAULT, with which its constants are fitted, and no density.
PL_API_CHECKED pl_status pl_tensile_fit_model(const pl_tensile *test, pl_material_model model,
                                              double strain_high, pl_tensile_fit *out, pl_error *err);

// ---- softening (mullins) from a cyclic tensile test
// Engineering strain (1 = 100 %) and stress (MPa) of a bar that is loaded and unloaded, in the order of
// measurement.
typedef struct pl_cycles {
    int count;
    const double *strain, *stress;
} pl_cycles;

typedef struct pl_cycles_fit {
    pl_material material; // constants of the first loading, and mullins_r, mullins_m, mullins_beta
    double half_width[3]; // of the 95 % intervals of r, m (MPa) and beta; infinite: the test does not tell
    double correlation;   // of neighbouring residuals, which the intervals account for
    double error;         // root mean square of the stress error over the largest stress
    double first_error;   // of the first loading alone
    int first_rows;       // rows beyond every strain before them
    bool stable;          // as in pl_tensile_fit
    double lost, lost_measured; // share of the work put in that does not come back: of the fit, of the test
} pl_cycles_fit;

// Fits the law to the rows of the first loading and r, m, beta to the others.
PL_API_CHECKED pl_status pl_cycles_calibrate(const pl_cycles *test, pl_material_model model,
                                             pl_cycles_fit *fit, pl_error *err);

// ---- two materials from an elongation test (Fang et al. 2020, equation 16)
// A bar of `length` mm: material A from the clamped end to the interface, B beyond it. Elongated by `pull`
// mm, its interface moves by `moved`. The method that computes the bar: the exact solver with the (E, nu)
// that correspond to (w, R_omega), the geometric method iterated to its fixed point, or the geometric method
// as published.
typedef enum pl_ratio_method { PL_RATIO_EXACT, PL_RATIO_LOCAL_GLOBAL, PL_RATIO_FANG2020 } pl_ratio_method;

typedef struct pl_ratio_test {
    double length, interface, pull, moved;
    double r_omega; // of the stiffer material, in (0, 1]
    pl_ratio_method method;
    pl_progress progress; // of the bisection; may be zero
} pl_ratio_test;

typedef struct pl_ratio_fit {
    double elasticity;           // R_m = E_A / E_B, from the strains
    double r_omega[2], ratio;    // of A and B, and A over B
    double young[2], poisson[2]; // equivalent constants, per MPa of the common weight
    double moved;                // mm, displacement of the computed interface
    double twist, twisted; // rad: rotating the tip by `twist` rotates the computed interface by `twisted`
    double twisted_thin;   // the same for a thin bar, in proportion to L / (w R_omega)
    int solves;
} pl_ratio_fit;

// `specimen` is a mesh of the design specimen with these lengths: regions soft (A) and stiff (B), surfaces
// base, tip, interface. Finds R_omega of the softer material by bisection.
PL_API_CHECKED pl_status pl_ratio_calibrate(const pl_mesh *specimen, const pl_ratio_test *test,
                                            pl_ratio_fit *out, pl_error *err);

// ---- volume of a chamber over pressure, from a syringe on a closed line (Fang et al. 2020, equation 19)
// Rows are in the order of measurement.
typedef struct pl_syringe {
    double *pressure; // MPa
    double *pushed;   // mm^3 pushed out of the syringe
    int count;
} pl_syringe;

// As pl_syringe_parse (dataset.h) reads it.
PL_API void pl_syringe_clear(pl_syringe *test);

typedef struct pl_syringe_line {
    double chamber, tube, syringe; // mm^3 at rest
    double ambient;                // MPa, absolute
    bool gauge;                    // true: gauge pressures; false: absolute, as published
} pl_syringe_line;

PL_API double pl_syringe_ratio(const pl_syringe_line *line, double pressure,
                               double pushed); // absolute pressure

#define PL_SYRINGE_POINTS 25

// A monotone table: gauge pressure (MPa) and volume ratio.
typedef struct pl_syringe_branch {
    double pressure[PL_SYRINGE_POINTS], ratio[PL_SYRINGE_POINTS];
    int count, measured;
    double error; // root mean square deviation of the ratio from the monotone cubic of the table
} pl_syringe_branch;

typedef struct pl_syringe_result {
    pl_syringe_branch loading, unloading; // count 0: none
} pl_syringe_result;

PL_API_CHECKED pl_status pl_syringe_fit(const pl_syringe *test, const pl_syringe_line *line,
                                        pl_syringe_result *out, pl_error *err);

// ---- parameters of a robot from measured poses (marker positions at known commands)
// The deviations of the markers are minimised by Gauss-Newton steps with damping. Derivatives by material
// constants and densities are exact sensitivities of the solution, those by command factors and offsets and
// by the placement of the base follow from exact Jacobians; other numbers of the robot file are
// differentiated by central differences of rebuilt models.
typedef enum pl_pose_kind {
    PL_POSE_NUMBER,   // any number of the robot
    PL_POSE_MATERIAL, // index: material, part: pl_material_constant
    PL_POSE_FACTOR,   // the commands of the table are multiplied by it; index: command
    PL_POSE_OFFSET,   // added to the commands, in display units; index: command
    PL_POSE_BASE // index 0-2: displacement of the measured frame along x, y, z (mm), 3-5: its rotation (rad)
} pl_pose_kind;

typedef struct pl_pose_parameter {
    const char *name;
    pl_pose_kind kind;
    int index, part;
    double unit;  // internal value of one unit of `value`
    double value; // start
    double scale; // typical size, for steps and identifiability; 0: the value
} pl_pose_parameter;

typedef struct pl_poses_def {
    const pl_pose_parameter *parameter;
    int parameter_count;
    int row_count, command_count, marker_count;
    const double *command; // internal units; NAN: idle
    const double *marker;  // 3 per marker, mm; NAN: not measured
    const bool *fit;       // rows used; the others are predicted only. NULL: all
    // Pixels instead (bundle adjustment): residuals are those of the markers in calibrated cameras, and the
    // measured frame is that of `rig`. 2 per row, marker and camera; NAN: not seen. `marker` is then not
    // used. 0: positions
    const pl_camera *camera;
    const pl_camera_pose *rig;
    int camera_count;
    const double *pixel;
    // Builds the model with these values of the parameters (only kinds NUMBER and MATERIAL differ).
    pl_status (*build)(void *user, const double *value, pl_model **out, pl_error *err);
    void *user;
    int iteration_limit; // 0: 12
    pl_progress progress;
} pl_poses_def;
#define PL_POSE_PARAMETERS 16
typedef struct pl_poses_report {
    double value[PL_POSE_PARAMETERS];
    double deviation[PL_POSE_PARAMETERS]; // one standard deviation, from the scatter of the fit
    double quantile;                      // 95 % interval: value +- quantile * deviation (Student's t)
    double rms_start, rms_fit,
        rms_held; // mm per marker, with cameras pixels per view of one; NAN: no such rows
    // directions in the space of relative changes, from the best known to the least: relative standard
    // deviation along it, and its components
    double direction_deviation[PL_POSE_PARAMETERS];
    double direction[PL_POSE_PARAMETERS][PL_POSE_PARAMETERS];
    int iterations, solves;
    bool converged;
} pl_poses_report;

// The placement of the base that brings positions `from` (of the model) onto `to` (measured) best, 3 each,
// NAN: left out: a start for PL_POSE_BASE, displacement and rotation vector. False: fewer than three, or on a
// line.
PL_API bool pl_poses_place(const double *from, const double *to, int count, double base[6]);

// `predicted` (3 marker_count per row) receives the positions at the result, in the measured frame.
PL_API_CHECKED pl_status pl_poses_calibrate(const pl_poses_def *def, double *predicted,
                                            pl_poses_report *report, pl_error *err);

// ---- constants from a relaxation test
// A relaxation test: stress (any unit) over time at a strain that is applied and held. Arrays are borrowed.
typedef struct pl_relaxation {
    int count;
    const double *time;   // s, increasing
    const double *strain; // NULL: 1 from the first row on, applied at once
    const double *stress;
} pl_relaxation;

typedef struct pl_relaxation_fit {
    double modulus; // long-term stress over strain
    int count;
    double tau[PL_PRONY_TERMS], g[PL_PRONY_TERMS];
    double half_width[PL_PRONY_TERMS]; // of the 95 % interval of g; NAN: g is 0
    double error;       // root mean square of the residuals over log t, over the largest stress
    double correlation; // of neighbouring residuals: near 1 the model, not the noise, is left over
} pl_relaxation_fit;

// Prony weights g >= 0 of the relaxation times `tau` (count 0: those that the test resolves, three in two
// decades).
PL_API_CHECKED pl_status pl_relaxation_calibrate(const pl_relaxation *test, const double *tau, int count,
                                                 pl_relaxation_fit *fit, pl_error *err);
PL_API double pl_relaxation_stress(const pl_relaxation *test, const pl_relaxation_fit *fit, int row);

// ---- constants from releases: markers over time after a body was let go (ring-down and creep)
#define PL_RELEASE_PARAMETERS 12
#define PL_RELEASE_RUNS 8

// A run. The hand lets go from `start` on over `duration`: both are fitted, and were not measured.
typedef struct pl_release_run {
    int count;              // rows
    const double *time;     // s, increasing
    const double *moved;    // mm, `channel_count` per row, from where the body was held; NAN: not measured
    double start, duration; // s; results
    double rms;             // mm, of all channels; result
} pl_release_run;

typedef struct pl_release_def {
    int parameter_count;
    const double *value; // positive: where the fit begins
    int run_count, channel_count;
    pl_release_run *run;
    double every, until; // s: of the samples of a response
    // The channels (mm, `channel_count` per sample, the first at 0 s) after a sudden release; samples after
    // `until` are not used.
    pl_status (*respond)(void *user, const double *value, double until, double *moved, pl_error *err);
    void *user;
    int iteration_limit; // 0: 12
    pl_progress progress;
} pl_release_def;

typedef struct pl_release_report {
    double value[PL_RELEASE_PARAMETERS];
    double deviation[PL_RELEASE_PARAMETERS]; // one standard deviation of the logarithm; INFINITY: the runs
                                             // do not depend on it
    double correlation[PL_RELEASE_PARAMETERS][PL_RELEASE_PARAMETERS]; // of the logarithms: near 1 or -1 the
                                                                      // runs cannot separate the two
    double rms, largest;         // mm: of all rows; the largest displacement
    double residual_correlation; // of neighbouring rows: near 1 the model, not the noise, is left over
    int iterations, responses;
    bool converged;
} pl_release_report;

// Least squares by Levenberg and Marquardt's method in the logarithms of the parameters, and in start and
// duration of every run. A release that lasts is taken as the mean of sudden ones over its duration, as in a
// linear system. `response`: room for the samples of the result, may be NULL.
PL_API_CHECKED pl_status pl_release_calibrate(const pl_release_def *def, double *response,
                                              pl_release_report *report, pl_error *err);

// The channel of a response at a time after the start of a release of that duration.
PL_API double pl_release_at(const pl_release_def *def, const double *response, int channel, double time,
                            double duration);

#ifdef __cplusplus
}
#endif
#endif
