// Inside the newton room: what its files share.
//
//   newton_minimise   the iteration
//   newton_factor     when a tangent is factored, and with which stresses
//   newton_step       how far along a direction
//   newton_memory     the factor at hand with pairs of L-BFGS; newton_corotate: steps that rotate
#ifndef PL_NEWTON_IMPL_H
#define PL_NEWTON_IMPL_H

#include "newton/newton.h"

// How the last steps with one factor have shrunk: what tells whether another factor would get there sooner.
typedef struct newton_pace {
    double decrement[4]; // mJ: of the energy as the linear solves saw it, newest first
    double length[3];    // mm: of the steps, newest first
    int since_factor;
} newton_pace;

// What the gradient at hand is: that of the energy, or of a model of it that only the next step is taken
// with.
typedef enum newton_gradient {
    GRADIENT_TRUE,
    GRADIENT_LINEAR,  // stiff parts with their law linearised at the predicted strains
    GRADIENT_CONTACTS // the contacts in the factor act, pressed or not
} newton_gradient;

typedef struct newton_run {
    const pl_newton_goal *goal;
    pl_newton_report *report;
    int iteration;

    // the factor
    newton_pace pace;
    bool fresh;             // made at x
    bool evaluated;         // x was evaluated last, at the end of a step
    double relative_factor; // residual where it was made
    double positive_part;   // of the next one: 0 the tangent, 1 its positive part
    newton_gradient gradient;
    bool ready; // the direction of the first iteration is at hand

    // the direction
    double gap[PL_ROWS_MAX], opening; // of the constraints: absolute; the largest, relative
    double slope;                     // mJ
    double norm, norm_first; // sqrt(mJ): of the direction in the norm of the tangent, and of the first one
    int set_changes;         // of constraints that hold

    // the step
    double scale;
    bool corotated;
    bool whole;         // it was straight and hardly shortened: its length tells the error before it
    double newton_step; // mm: the last one with a fresh factor

    // full steps in a row that raised the energy above that of x_reference; they are not tried twice
    int raised;
    double reference;
    bool monotone;

    // contacts
    bool follows;  // the first step follows obstacles that have moved
    bool hit;      // the last full step met contacts that its factor did not have
    int hits;      // factors made with such contacts
    bool touching; // contacts that stand at their surface were tried
} newton_run;

// ---- newton_factor.c
// The tangent at x; `predicted`: with the stresses, pressures and multipliers that the last step predicted.
bool newton_factor(pl_newton_solver *N, double *x, newton_run *run, bool predicted, pl_error *err);
// How many may be made: an increment that takes many is better divided, the descent from a saddle cannot be.
int newton_factor_limit(const newton_run *run);
// Notes what the step `scale` d from x predicts; of a step that was not taken only the pressures.
void newton_note_prediction(pl_newton_solver *N, const double *x, double scale, bool taken);
void newton_pace_note(newton_pace *pace, double decrement, double length);
double newton_pace_left(const newton_pace *pace);
bool newton_pace_slow(const pl_newton_solver *N, const newton_run *run);

// ---- newton_step.c
// Along the direction work.d: co-rotated where it rotates, shorter until the energy falls. False: nowhere.
bool newton_search(pl_newton_solver *N, const double *x, newton_run *run, double *energy);
// The shape `scale` d from x, back on the constraints: work.x_best, its gradient; INFINITY: not possible.
// `limit`: the part of the step that a term allows.
double newton_trial(pl_newton_solver *N, const double *x, double scale, newton_run *run, double *limit);

// ---- newton_create.c, newton_corotate.c
pl_status newton_corotate_create(pl_newton_solver *N, pl_error *err);
void newton_corotate_destroy(pl_newton_solver *N);

#endif
