// What the verbs of motions share: a model, the same robot as a solver of motions, and states that go from
// one to the other.
#ifndef PL_CLI_MOTION_H
#define PL_CLI_MOTION_H

#include "cli.h"

typedef struct cli_motion {
    cli_model m;
    const pl_robot *robot;
    pl_dynamics *dynamics;
    pl_state *state;
    double *block;    // of the model's state
    double *mass;     // t, per marker
    double *force;    // N, 3 per marker: weight of the masses
    double *velocity; // mm/s, 3 per vertex
    double *moved;    // mm, 3 per vertex
} cli_motion;

// Options of both verbs: --mass MARKER=MASS, --hang.
#define CLI_MASS                                                                                             \
    {"hang", 0, NULL, "the masses hang on long strings: they follow their marker along gravity only", NULL}, \
    {                                                                                                        \
        "mass", 0, "MARKER=MASS", "a mass attached at a marker (tip=52g), with its weight; may be repeated", \
            NULL                                                                                             \
    }

// After cli_model_open: refuses robots that cannot move in time, reads --mass, takes memory. Returns an exit
// status, as all of these.
int cli_motion_prepare(const cli_args *args, cli_motion *s);
int cli_motion_create(const cli_args *args, cli_motion *s, pl_dynamics_options *options);

// The state of the model becomes s->state, or the reverse (for answers, shapes and files).
int cli_motion_from_model(const cli_args *args, cli_motion *s);
int cli_motion_to_model(const cli_args *args, cli_motion *s);
void cli_motion_clear(cli_motion *s);

// After a solve whose load path ended before the commands: the motion from the last equilibrium to the
// commands, damped, until it comes to rest, and the equilibrium there. Leaves the model and its report there.
int cli_motion_land(const cli_args *args, cli_model *m);

#endif
