// Friction of cables in their guides, for the term of actuators.
//
// A cable slides over a guide where its tension changes by more than the capstan law allows,
//   T_k e^(-mu phi_k) <= T_(k+1) <= T_k e^(mu phi_k),   phi_k the angle by which it turns at guide k,
// T_1 the tension of the drive, which is at the first guide. A piece whose old tension is within these bounds
// keeps it (the guide sticks), otherwise it has that of the bound: pulling and releasing differ, and the
// tensions are part of the state.
//
// The forces T_k dl_k/dx have no potential, because phi follows the shape: angles and, for cables of given
// length, the tension of the drive are those of the last update, like the forces on open surfaces
// (term_follower.c). What the pieces carry beside the tension of the drive then has the energy
//   sum (T_k - T_1) l_k.
#ifndef PL_TERM_CAPSTAN_H
#define PL_TERM_CAPSTAN_H

#include "problem/problem_impl.h"

typedef struct capstan {
    const pl_actuator *a;
    int pieces;
    pl_functional *piece; // length of each
    pl_slots *slots;
    double *angle;        // per piece: at the guide where it begins, when last advanced; rad
    double *before;       // per piece: tension at the beginning of the path, N
    double *tension;      // per piece: at the last evaluation
    double *scratch;      // 3 per piece
    double pull;          // N: of the drive, when last advanced
    int64_t first;        // of its numbers in the state
    char (*quantity)[24]; // names of its readings
} capstan;

// NULL in *out where the cable has no friction.
pl_status capstan_create(const pl_robot *robot, int actuator, capstan **out);
void capstan_destroy(capstan *c);
pl_status capstan_bind(pl_problem *p, capstan *c, pl_error *err);
void capstan_begin(capstan *c, const pl_state *state, double pull);
void capstan_advance(capstan *c, const double *x, double pull);
int64_t capstan_save(const capstan *c, double *out); // what advancing changes: pl_term_steps
void capstan_revert(capstan *c, const double *saved);

// Energy beside that of the drive's tension `pull` in the whole cable; forces into `full`, if given.
double capstan_evaluate(capstan *c, const double *x, double pull, double *full);
void capstan_tangent(const capstan *c, pl_problem *p, const double *x, double pull);

// full += the change of the forces by the angles, for a motion dx.
void capstan_lag(const capstan *c, pl_problem *p, const double *x, const double *dx, double pull,
                 double *full);

// full += scale sum dT_k/dT_1 dl_k/dx
void capstan_rate(const capstan *c, const double *x, double pull, double scale, double *full);

// The change of a piece's tension for a motion dx (may be NULL) and a change of the drive's tension.
double capstan_change(const capstan *c, pl_problem *p, const double *x, int piece, double pull,
                      const double *dx, double pull_change);
void capstan_store(const capstan *c, pl_state *state);

// full += sum T_k dl_k/dx at a state
void capstan_forces(const capstan *c, const pl_state *state, double *full);

#endif
