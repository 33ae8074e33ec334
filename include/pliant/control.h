// Estimation and closed loop: the shape that fits measured sensors, controllers that correct it, a simulated
// robot to test them on, and the margin of a loop. Everything here sees a robot through pl_model only, so a
// full body, a reduced or a learned model can be inside the loop.
//
//   pl_compliance      how efforts and forces move actuators, markers and sensors
//   pl_estimator       sensors -> commands and forces that really act, with error bars
//   pl_controller      set point and measurement -> next command; fixed memory, bounded time
//   pl_plant           a simulated robot that is not the model: payload, dead zone, delay, noise
//   pl_margin          how wrong the Jacobian of a loop may be
#ifndef PLIANT_CONTROL_H
#define PLIANT_CONTROL_H

#include "pliant/inverse.h"
#include "pliant/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- compliance (Bieze et al. 2018: W = H K^-1 H^T). Inputs, the columns: the effort of each actuator (N,
// MPa), then a force at each marker (x, y, z; N). Outputs, the rows: what each effort does work on (the
// shortening of a cable, mm; the volume of a chamber, mm^3), the positions of the markers (mm), then the
// sensors. All efforts are free to vary: lengths and volumes that are held by a command are released. The
// square part of actuators and markers is symmetric. Actuators that grow have zero rows and columns.
PL_API int pl_compliance_rows(const pl_model *model);
PL_API int pl_compliance_columns(const pl_model *model);

// At the current solution, row-major. Exact, from one factor. Refused by models without derivatives with
// respect to loads.
PL_API_CHECKED pl_status pl_compliance(pl_model *model, double *W, pl_jacobian_report *report, pl_error *err);

// ---- state estimation
// A measured number: which one, and its standard deviation in internal units.
typedef enum pl_measurement_kind {
    PL_MEASUREMENT_SENSOR, // index: sensor
    PL_MEASUREMENT_MARKER, // index: marker, axis
    PL_MEASUREMENT_EFFORT, // index: actuator: N, MPa
    PL_MEASUREMENT_MEASURE // index: actuator: mm, mm^3, mm^2
} pl_measurement_kind;

typedef struct pl_measurement {
    pl_measurement_kind kind;
    int index, axis;
    double sigma; // > 0
} pl_measurement;

typedef struct pl_estimator_options {
    const pl_measurement *measured;
    int measured_count;
    const double *command_sigma; // per command: of (true - sent); 0: exactly as sent. NULL: 0 for all.
                                 // INFINITY: nothing is known about it
    const int *force_marker;     // markers where an unknown force acts
    int force_count;
    double force_sigma; // N: expected size of the forces; INFINITY: unknown
    // Recursive: an update starts from the last estimate. Standard deviations of what may have changed since.
    bool recursive;
    double command_drift; // per update, fraction of the command's span
    double force_drift;   // N per update
    // The body may be stiffer than the model by an unknown factor 1 + x, x of this standard deviation: shapes
    // under pressures, tensions and forces are those of the model at 1 / (1 + x) of them, and measured
    // pressures and tensions (1 + x) times the model's. Weight counts as if it scaled too. 0: exact.
    double stiffness_sigma;
    // A reading is an outlier, and treated as missing, if it is farther off than `outlier` standard
    // deviations of its difference from what the other readings tell; 0: never. `model_error`, a fraction of
    // the change of the reading from rest, is tolerated besides.
    double outlier, model_error;
    bool keep_rejected; // an update starts with the readings rejected in the last one
    int iteration_limit;
    double tolerance; // a step below this fraction of the error bars ends the iteration
} pl_estimator_options;

// What robot files without an `estimator` block and Python use: rubber of one recipe differs by a fifth in
// its stiffness; a reading's change from rest is modelled to 3 %. The default options have 0 for both.
#define PL_ESTIMATOR_STIFFNESS 0.2
#define PL_ESTIMATOR_MODEL_ERROR 0.03
PL_API pl_estimator_options pl_estimator_options_default(void);

// One estimate; the arrays belong to the estimator and hold until the next update.
typedef struct pl_estimate {
    bool converged;
    int iterations;
    const double *command, *command_sigma; // per command: what really acts, and its standard deviation
    const double *force, *force_sigma;     // 3 per marker of options.force_marker, N
    const double *marker, *marker_sigma;   // 3 per marker, mm
    double stiffness, stiffness_error;     // x of `stiffness_sigma` and its standard deviation
    const double *residual;      // per measured number: (measured - estimated) / sigma; NAN: missing
    const bool *rejected;        // per measured number: an outlier, not used
    int used, missing, outliers; // measured numbers
    // More than a half of the readings disagree, or what is left of all of them and of what was known before
    // is beyond `outlier` sigmas (rms): the model is wrong, or most sensors. In the first case none is
    // rejected; those beyond `outlier` sigmas count less (Huber).
    bool contradicted;
    double fit; // root mean square of the residuals used; about 1 when the sigmas are right
    // Observability: directions of the unknowns that the readings say less about than was known before.
    int unknown_count, unseen_count;
    const double *weakest; // per unknown (commands as fractions of their span, then forces in N): the
                           // direction known least
    double weakest_sigma;  // standard deviation along it
} pl_estimate;

typedef struct pl_estimator pl_estimator;

// Keeps a reference to `model`, which must outlive it. Options are copied.
PL_API_CHECKED pl_status pl_estimator_create(pl_model *model, const pl_estimator_options *options,
                                             pl_estimator **out, pl_error *err);
PL_API void pl_estimator_destroy(pl_estimator *estimator);

// `sent`: the commands as sent (internal units; NAN: idle). `value`: the measured numbers; NAN: missing.
// The model is left at the estimated shape.
PL_API_CHECKED pl_status pl_estimator_update(pl_estimator *estimator, const double *sent, const double *value,
                                             pl_estimate *out, pl_error *err);

// The order in which measured numbers tell most about marker `marker`, at the poses `command` (command_count
// values each): greedy, each choice the one that reduces the mean variance of its position most. `order` and
// `sigma` have measured_count entries; sigma[k] is the root mean square error of the position with the first
// k + 1 of them, mm.
PL_API_CHECKED pl_status pl_estimator_place(pl_estimator *estimator, const double *command, int pose_count,
                                            int marker, int *order, double *sigma, pl_error *err);

// ---- controllers. All memory is taken in create; a tick does a bounded amount of work.
#define PL_CONTROL_LIST(X)                                                                                   \
    X(PL_CONTROL_OPEN, "open")           /* the command as computed, no feedback */                          \
    X(PL_CONTROL_PI, "pi")               /* Bieze et al. 2018: PI in output space, allocation by QP */       \
    X(PL_CONTROL_TRACK, "track")         /* resolved rates with feed-forward */                              \
    X(PL_CONTROL_IMPEDANCE, "impedance") /* a chosen stiffness about a pose */

typedef enum pl_control_kind {
#define X(code, text) code,
    PL_CONTROL_LIST(X)
#undef X
        PL_CONTROL_KIND_COUNT
} pl_control_kind;

PL_API const char *pl_control_kind_name(pl_control_kind kind);
PL_API pl_control_kind pl_control_kind_find(const char *name); // PL_CONTROL_KIND_COUNT: none

typedef struct pl_controller_options {
    pl_control_kind kind;
    int command_count, output_count;
    double period;               // s between ticks
    double kp, ki;               // per tick; as published 0.14 and 0.0003
    double gain;                 // track: part of the error corrected per tick, 0 to 1
    double damping;              // weight of the motion of the commands (fractions of their span) against the
                                 // outputs (fractions of `output_scale`)
    double output_scale;         // size of the outputs, in their unit
    const double *output_scales; // per output: instead of the one size; NULL: that for all. Copied
    double energy;               // weight of c . W c when the input has `energy_metric`; 0: none
    double stiffness[3];         // impedance: wanted, N/mm along x, y, z; the outputs are a position
    const double *low, *high;    // per command: limits that always hold
    const double *rate;          // per command: largest change per second; 0: none
} pl_controller_options;

PL_API pl_controller_options pl_controller_options_default(void);

typedef struct pl_control_report {
    bool held;        // the input could not be used: the last command was kept
    const char *why;  // held: the reason
    int saturated;    // commands at a limit or at their rate
    double shortfall; // norm of the output change that the limits did not allow
} pl_control_report;

// ---- the loop: goals become set points by inverse kinematics; each tick turns readings into the next
// command. With an estimator the Jacobian is taken at the shape that fits the readings, a marker can be
// controlled that no sensor sees, and a sensor without a reading counts as estimated; without, the Jacobian
// is taken at the shape of the commands sent. Readings that are frozen, or that the others contradict, are
// reported and treated as missing. Sensors are weighted by their noise. Impedance needs an estimator with a
// force at the marker, which is then controlled. With `energy` of the controller, the allocation also lowers
// the work of the actuators (the inverse of Duriez and of Bieze et al.: projected, with bounds).
typedef struct pl_loop_report {
    pl_control_report control;
    bool estimated;                   // the readings could be fitted
    bool measured;                    // a reading was used
    bool contradicted;                // the readings contradict the model (pl_estimate)
    int outliers, missing;            // of them
    int frozen;                       // a sensor that seems frozen; -1: none
    const bool *rejected;             // per sensor: frozen, implausible or an outlier: not used
    const double *marker;             // 3 per marker: estimated, or of the model
    const double *marker_sigma;       // 3 per marker: standard deviations of the estimate, mm; NULL: none
    const double *aim;                // where the goal's marker should be (impedance: where it yields to)
    const double *set_point, *output; // what was controlled, output_count numbers
    const double *force;              // 3 per marker of the estimator's forces, N; NULL: none
    double error;                     // largest |set point - output| (impedance: |aim - output|)
    int bounded;                      // 1: the step was shortened to keep an effort within its bound
} pl_loop_report;

typedef struct pl_loop pl_loop;

PL_API void pl_loop_destroy(pl_loop *loop);
PL_API int pl_loop_output_count(const pl_loop *loop);
PL_API const double *pl_loop_command(const pl_loop *loop); // the last one

// A new goal for the marker, mm. *distance: how far the nearest point that the model can reach is from it.
PL_API_CHECKED pl_status pl_loop_goal(pl_loop *loop, const double target[3], double *distance, pl_error *err);

// `sensor`: readings, NAN where missing. A tick that cannot be computed keeps the command and says so in the
// report; PL_OK also then.
PL_API_CHECKED pl_status pl_loop_tick(pl_loop *loop, const double *sensor, pl_loop_report *report,
                                      pl_error *err);

// ---- a simulated robot: a model with what real machines add. Times in s.

typedef struct pl_plant_reading {
    double time;           // s
    const double *sensor;  // with noise and resolution; NAN: no reading
    const double *truth;   // sensors without
    const double *marker;  // 3 per marker: true positions
    const double *command; // what acts after dead zone, delay and lag
    bool solved;           // false: the body could not follow; the shape is the last one it reached
} pl_plant_reading;

typedef struct pl_plant pl_plant;
PL_API void pl_plant_destroy(pl_plant *plant);

// One period: `command` is sent at its beginning, the reading is taken at its end.
PL_API_CHECKED pl_status pl_plant_step(pl_plant *plant, const double *command, pl_plant_reading *out,
                                       pl_error *err);

// ---- robustness of the PI loop: e' = e - (I + w) u, u = kp e + ki h, h' = h + e, |w| <= gamma
typedef struct pl_margin {
    bool stable;      // without error of the Jacobian
    double norm;      // H-infinity norm from the error's effect to u
    double frequency; // rad per tick, where it is largest
    double gamma;     // 1 / norm: the loop is stable for every error below it, and not for some at it
    double sampled;   // smallest error that made a sampled loop unstable; INFINITY: none did
    double proven; // largest error for which a Lyapunov matrix was found and verified (below); 0: not sought,
                   // since ki is 0
    double P[3];   // that matrix
} pl_margin;

PL_API_CHECKED pl_status pl_margin_compute(double kp, double ki, int samples, uint64_t seed, pl_margin *out,
                                           pl_error *err);

// The matrix inequality of the Lyapunov proof, with the multiplier scaled to 1:
//   M = [A^T P A - P + gamma^2 C^T C, A^T P B; B^T P A, B^T P B - 1] < 0,  P = [p0 p1; p1 p2] > 0.
// Returns the largest eigenvalue of M and the smallest of P.
PL_API void pl_margin_verify(double kp, double ki, double gamma, const double P[3], double *largest_M,
                             double *smallest_P);

// ---- the same loop with actuators that follow late: the command c is the sum of u, and what acts is
//   a' = a + f (c of `delay` ticks before - a),  f = 1 - exp(-1 / lag),  lag in ticks (0: f = 1), e = r - a.
typedef struct pl_response {
    bool stable;        // every root of the closed loop is inside the unit circle
    double overshoot;   // of a step of the set point, as a fraction of it; INFINITY if unstable
    int settled;        // ticks until the error stays below 5 %; -1: not within PL_RESPONSE_TICKS
    double sensitivity; // largest amplification of a disturbance over all frequencies, max |1 / (1 + L)|
    double gamma;       // largest relative error of the Jacobian: 1 / max |L / (1 + L)|; 0 if unstable
    bool damped;        // stable with a sensitivity of at most PL_RESPONSE_SENSITIVITY
} pl_response;
#define PL_RESPONSE_TICKS 100000
#define PL_RESPONSE_SENSITIVITY 2.0 // the usual limit: gain margin 2, phase margin 29 degrees
#define PL_RESPONSE_DELAY_MAX 1000  // ticks
PL_API_CHECKED pl_status pl_response_compute(double kp, double ki, int delay, double lag, pl_response *out,
                                             pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
