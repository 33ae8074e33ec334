// Inside the newton room: what its files share.
//
//   newton_minimise   the iteration
//   newton_factor     when a tangent is factored, and with which stresses
//   newton_step       how far along a direction
//   newton_memory     the factor at hand with pairs of L-BFGS; newton_corotate: steps that rotate
#ifndef PL_NEWTON_IMPL_H
#define PL_NEWTON_IMPL_H

#include "newton/newton.h"

// Energy norms (sqrt(mJ)) of the directions found with one factor, newest first, and of the first, with its
// largest displacement (mm).
#define NEWTON_CHORD 4
typedef struct newton_chord {
    double norm[NEWTON_CHORD], first, first_length;
    int count;
    bool known; // the first direction was found where the factor was made, or predicts a motion from there
} newton_chord;

// The factor at hand.
typedef enum newton_factor_state {
    FACTOR_OLD,
    FACTOR_STEPPED, // x is the end of a step with it from where it was made: the stresses at x are predicted
    FACTOR_FRESH    // made at x
} newton_factor_state;

// What the gradient at hand is: that of the energy, or of a model of it that only the next step is taken
// with.
typedef enum newton_gradient {
    GRADIENT_TRUE,
    GRADIENT_FOLLOWS, // obstacles that press have moved: the contacts of the factor follow them
    GRADIENT_CONTACTS // the contacts in the factor act, pressed or not
} newton_gradient;

typedef struct newton_run {
    const pl_newton_goal *goal;
    pl_newton_report *report;
    int iteration;

    // the factor
    newton_factor_state factor;
    newton_chord chord;
    newton_gradient gradient;

    // the direction
    double gap[PL_ROWS_MAX], opening; // of the constraints: absolute; the largest, relative
    double slope, norm;               // mJ; sqrt(mJ): in the norm of the tangent
    int set_changes;                  // of constraints that hold

    // the step
    double scale, turn; // of the direction; rad: it rotates the body by

    // full steps in a row that raised the energy above `reference`, that of x_reference; -1: none may until
    // it has fallen
    int raised;
    double reference;

    // contacts: factors in a row made with those that a step would have hit
    int hits;
    pl_contact_mode contacts; // of the factor
} newton_run;

// Is the first step the prediction of a motion from an equilibrium?
static inline bool newton_predicts(const newton_run *run)
{
    return run->goal->start == NEWTON_EQUILIBRIUM || run->goal->start == NEWTON_CARRIED;
}

// Is a step straight and hardly shortened, so that its length is the error before it?
static inline bool newton_whole(const newton_run *run)
{
    return run->turn <= NEWTON_STRAIGHT && run->scale > 0.5;
}

// ---- newton_factor.c
// The tangent at x; where x is the end of a step with the factor before, with the stresses, pressures and
// multipliers that it predicted. `at`: contacts, positive part, whether x was evaluated last.
bool newton_factor(pl_newton_solver *N, double *x, newton_run *run, pl_linearization at, pl_error *err);

// Notes what the step `scale` d from x predicts; or that stresses are those of the equilibrium x_start.
void newton_note_prediction(pl_newton_solver *N, const double *x, double scale);
void newton_note_equilibrium(pl_newton_solver *N);
void newton_chord_note(newton_chord *chord, double norm, double length);
void newton_chord_drop(newton_chord *chord); // the last one

// How far the equilibrium still is after a step of that length (mm): theta / (1 - theta) of it, theta the
// mean of the last two contractions where the last one is the better.
double newton_chord_left(const newton_chord *chord, double length);
bool newton_slow(const pl_newton_solver *N, const newton_run *run);

// ---- newton_step.c
// Along the direction work.d: co-rotated where it rotates, shorter until the energy falls. It may end
// nowhere, or meet contacts that the factor does not have and that cost more than it gains.
typedef enum newton_search_end { SEARCH_FOUND, SEARCH_NOWHERE, SEARCH_HIT } newton_search_end;
newton_search_end newton_search(pl_newton_solver *N, const double *x, newton_run *run, double *energy);

// The shape `scale` d from x, back on the constraints: work.x_best, its gradient; INFINITY: not possible.
// `limit`: the part of the step that a term allows.
double newton_trial(pl_newton_solver *N, const double *x, double scale, newton_run *run,
                    pl_contact_mode contacts, double *limit);

// ---- newton_create.c, newton_corotate.c
pl_status newton_corotate_create(pl_newton_solver *N, pl_error *err);
void newton_corotate_destroy(pl_newton_solver *N);

#endif
