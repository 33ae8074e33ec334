// For the rooms right of statics: shape and commands looked for together, outputs of a motion.
#ifndef PL_STATICS_ROOM_H
#define PL_STATICS_ROOM_H

#include "pliant/statics.h"

#define PL_AIM_MOST 16 // commands that may change

// Commands c whose equilibrium x is as a caller wants it, from near a solution:
//   g(x, c) = 0,   y(x) as wanted.
// Each iteration costs one solve with the factor at hand. With d = -K^-1 g and Y = -K^-1 dg/dc the caller is
// shown the outputs y(x), the change that d will make of them and their derivatives by c, and answers with
// dc; then x <- x + d + Y dc, c <- c + dc.
typedef enum pl_aim_answer {
    PL_AIM_GO,   // change the commands
    PL_AIM_MET,  // the commands are found: the rest is a solve at them
    PL_AIM_LEAVE // not this way
} pl_aim_answer;

typedef struct pl_aim {
    double *command;                  // per command: room; left where they ended
    int count, variable[PL_AIM_MOST]; // the commands that may change
    pl_jacobian out;                  // what the caller reads; `count` + 1 columns, the last one for d
    // `state`: the iterate; `fresh`: the columns by the commands are those of a factor made there, otherwise
    // as good as an old factor; `value`: of the variables, to be changed by dc.
    pl_aim_answer (*choose)(void *user, const pl_state *state, bool fresh, double *value);
    void *user;
} pl_aim;

typedef struct pl_aim_report {
    bool met;
    int iterations, factorizations, solves;
} pl_aim_report;

// Met: the next pl_statics_solve starts from the shape found if its commands are `command`; whether it is an
// equilibrium, and how good a one, that solve tells. Not met is no failure: robots with contact, stiff layers
// or forces that lag behind, cables that become slack, long ways and slow progress are left to other methods.
// `state` is not changed. PL_INTERRUPTED when the progress of the options says so.
pl_status pl_statics_aim(pl_statics *statics, const pl_state *state, const pl_aim *aim, pl_aim_report *report,
                         pl_error *err);

// What a motion dx of the body (3 per vertex) does to positions, markers, their rotations and sensors of
// length: column j of `count` of those arrays of `out` that are given; efforts, measures and readings are
// left alone.
void pl_statics_motion(const pl_statics *statics, const pl_state *state, const double *dx, int j, int count,
                       const pl_jacobian *out);

// A search for commands solves many of them, but only the last is carried out: while the history is held,
// cables with friction have at the start of every solve the tensions that they had at the start of the next
// one.
void pl_statics_hold_history(pl_statics *s, bool hold);

#endif
