// The estimator, between its two files.
#ifndef PL_CONTROL_ESTIMATE_H
#define PL_CONTROL_ESTIMATE_H

#include "control/control_impl.h"
#include "solver/solver.h"

struct pl_estimator {
    pl_model *model;
    pl_model_info info;
    pl_estimator_options options; // pointers to the copies below
    pl_measurement *measured;
    int *force_marker;
    double *sent_sigma;

    int *uncertain, uncertain_count; // commands among the unknowns
    double *power;                   // per command: shapes are equal at c / stiffness^power
    int n;                           // unknowns: uncertain commands, forces, then the stiffness
    int stiffness;                   // its index; -1: none
    // known before an update: n, n x n
    double *mean, *information, *prior; // prior: information of this update
    double *extra;                      // per command: pl_estimator_widen
    // outliers
    bool *rejected, *others; // per measured number; those of the attempt
    double *at_rest;         // per measured number: the model's
    // the iteration: unknowns (n), derivatives of measured numbers and markers, the quadratic problem
    double *x, *trial, *J, *D, *H, *g, *low, *high, *step, *box;
    double *sigma;                                      // per measured number: of the sensor alone
    double *residual, *residual_trial;                  // per measured number
    double *command, *all_force;                        // that act
    double *solved_command, *solved_force;              // what the model is solved at: over 1 + x
    double *f_marker, *f_sensor, *f_effort, *f_measure; // derivatives with respect to the forces
    pl_parameter *parameter;                            // the forces
    pl_quadratic *quadratic;
    // reported: n x n and per quantity
    double *covariance, *square, *vector, *value, *weakest;
    double *force, *force_sigma, *command_sigma, *marker_sigma;
};

// Unit of an unknown (control_estimate_create.c), and whether a reading scales with the stiffness of the
// body.
double estimate_scale(const pl_estimator *s, int unknown);
bool estimate_is_effort(const pl_estimator *s, const pl_measurement *m);

pl_status estimate_go(pl_estimator *s, const double *sent, const double *x, bool *solved, pl_error *err);
pl_status estimate_derive(pl_estimator *s, pl_error *err);

// The model's value of a measured number, with the stiffness of x.
double estimate_value(const pl_estimator *s, const double *x, const pl_measurement *m);

// The model's error in reading i, in standard deviations of the sensor: options.model_error of its change.
double estimate_model_error(const pl_estimator *s, int i);

// Gauss-Newton from s->x with the readings that are not rejected.
pl_status estimate_fit(pl_estimator *s, const double *sent, const double *value, pl_estimate *out,
                       pl_error *err);

// ---- control_outlier.c
// Readings at rest, which model errors are relative to.
pl_status outlier_prepare(pl_estimator *s, pl_error *err);

// After a fit: rejects the readings that the others contradict and fits again, or finds that too many do.
pl_status outlier_reject(pl_estimator *s, const double *sent, const double *value, pl_estimate *out,
                         pl_error *err);

#endif
