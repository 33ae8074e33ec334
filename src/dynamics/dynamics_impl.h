// Inside the dynamics room: what its files share.
#ifndef PL_DYNAMICS_IMPL_H
#define PL_DYNAMICS_IMPL_H

#include "dynamics/dynamics.h"
#include "newton/newton.h"
#include "problem/problem.h"

// ---- dynamics_inertia.c: the term |x - target|^2_M coefficient / 2 of the problem
typedef struct dynamics_inertia {
    pl_consistent_mass M;
    // masses at markers: M += mass w w^T with the weights w of the marker's point
    double *marker_mass; // per marker
    // masses that hang on strings: M += mass w w^T (x) n n^T with the direction n of gravity; otherwise I
    bool hang;
    double down[3];
    const pl_marker *marker;
    int marker_count;
    // of the stage in progress
    double coefficient;   // 1/s^2; 0: no inertia
    const double *target; // full
    // drag: the potential pace / 3 sum drag |v|^3 with v = (x - rest) / pace, convex, whose gradient is the
    // force
    double *drag;       // t/mm, per vertex: D area / 2; NULL: none
    const double *rest; // full
    double pace;        // s
    // where the entries of M stand in K: 3 per entry above or on the diagonal; -1: not an unknown, or rigid
    int64_t *slot;
    double *product; // full: scratch
} dynamics_inertia;

// For its constructor, in the options of the problem.
typedef struct dynamics_masses {
    const double *mass; // per marker; NULL: none
    bool hang;
    const double *drag; // t/mm^3, per surface; NULL: none
} dynamics_masses;

pl_status dynamics_inertia_create(pl_problem *p, pl_problem_term *out, pl_error *err);

// y = M x
void dynamics_mass_multiply(const dynamics_inertia *inertia, const double *x, double *y);
double dynamics_drag_power(const dynamics_inertia *inertia, const double *v); // mJ/s, taken from the body

// ---- factors of several step lengths: dynamics_levels.c
#define DYNAMICS_LEVELS 3 // kept at one time
typedef struct dynamics_level {
    pl_linear linear; // of a level not in use: that in use is in the problem
    double s;         // that its factor was made for; 0: none
    int age;          // steps since it was used last
    int best;         // iterations of the cheapest step with its factor; -1: none yet
    int extra;        // iterations beyond these, since the factor was made
    int layouts;      // of the problem when it was in use last
    bool created;
} dynamics_level;

typedef struct dynamics_levels {
    dynamics_level level[DYNAMICS_LEVELS];
    int now; // the one whose linear part is in the problem
} dynamics_levels;

// Puts the factor for s into the problem; without one the level is there without a factor.
pl_status dynamics_levels_use(pl_dynamics *d, double s, pl_error *err);
void dynamics_levels_clear(pl_dynamics *d);

// ---- one stage: dynamics_stage.c
typedef enum stage_outcome { STAGE_SOLVED, STAGE_DIVERGED, STAGE_INVERTED, STAGE_INDEFINITE } stage_outcome;

// Minimises from x (full; left at the solution) at the loads set; `tolerance` in mm; `from`: where the stage
// began.
pl_status dynamics_stage_solve(pl_dynamics *d, double s, double tolerance, const double *from, double *x,
                               stage_outcome *outcome, pl_error *err);

// The factor at x and the present loads.
pl_status dynamics_stage_factor(pl_dynamics *d, const double *x, stage_outcome *outcome, pl_error *err);
void dynamics_stage_count(pl_dynamics *d); // work of the linear solver, into the report

// ---- a point in time
typedef struct dynamics_point {
    double time;
    double *x, *v, *a; // full; with contact, a is the acceleration without its forces
    double *total;     // full: with contact, the acceleration with its forces, for predictions
    pl_state *state;   // x, commands, efforts
    // of constraints: measures and the forces along their rows; 0 for others
    double measure[PL_ROWS_MAX], force[PL_ROWS_MAX];
    double base[3]; // mm/s^2: acceleration of the supports
} dynamics_point;

// Of the step in progress: potentials of actuators and loads where it began, and how fast the commands of its
// first stage change them at its first two points, over the step.
typedef struct dynamics_work {
    bool changes;
    double start[2], rate_start[2], rate_middle[2];
} dynamics_work;

#define STEP_JUMP 1e-4 // of the change in a step: more than that just before its end is a jump

// Jumps of prescribed lengths and volumes: dynamics_spread.c. Per command: the value before its last jump,
// the time of that, whether it prescribes a measure, and whether it keeps that at rest where it is idle.
typedef struct dynamics_spread {
    pl_signal given;
    double *from, *begin, length; // s: in which it goes over
    bool *prescribes, *holds;
} dynamics_spread;

struct pl_dynamics {
    const pl_robot *robot;
    pl_dynamics_options options;
    pl_problem *problem;
    dynamics_inertia *inertia; // belongs to the problem
    dynamics_levels levels;
    pl_signal signal; // what was given, without jumps of lengths and volumes
    dynamics_spread spread;
    pl_watch watch;
    bool touches;            // contacts have multipliers
    pl_newton_solver newton; // its vectors serve as scratch between stages
    // numbers of contact that stages begin with: none before impacts, those of the last first stage for the
    // next
    double *contact_none, *contact_first;
    bool contact_known; // the last step was accepted at once: its numbers serve the next

    bool started;
    bool forces_changed;        // by pl_dynamics_set_forces, since the last step
    bool corner;                // the last step ended at a corner of a command
    dynamics_point now, before; // the ends of the last step
    dynamics_point middle;      // of the step in progress: after its first stage
    dynamics_point next;        // of the step in progress
    double *start;              // full: positions where the run began
    double *v_before;           // full: velocity of `now` before contact changed it
    double *target;             // full: y* of the stage in progress
    double *work;               // full
    double *command;            // of the stage in progress
    double *force;              // 3 per marker: of the stage in progress, where the signal has forces
    double base[3];             // mm/s^2: of the stage in progress

    double exchanged; // mJ: work in the last step and a small part of the largest kinetic energy so far
    double kinetic_most;
    double contraction; // of the last iterations, expected of the next stage

    int level;          // the step is the largest one halved so often
    double scale;       // mm: what errors are compared with
    double speed, push; // mm/s, mm/s^2: largest velocity and acceleration
    double cost;        // of a factorisation, in iterations
    double anchor;      // s: the time from which steps are counted
    pl_motion_report report;
    pl_motion_energy energy;      // work done until now
    pl_motion_energy energy_next; // until the end of the step in progress
    dynamics_work work_step;
    double energy_start;     // kinetic and elastic at the start
    bool energy_known;       // no growth drive
    pl_viscous *viscous;     // NULL: no material has viscous branches
    pl_softening *softening; // NULL: no material softens
    double softened_start;   // mJ: heat of softening where the motion began
};

// ---- dynamics_spread.c
pl_status dynamics_spread_create(pl_dynamics *d, pl_error *err);
void dynamics_spread_destroy(pl_dynamics *d);
void dynamics_spread_start(pl_dynamics *d, const pl_signal *signal, double length);

// True: a command that prescribes a measure jumps at `now`, and goes over to its new value from there.
bool dynamics_spread_jumps(pl_dynamics *d);

// ---- dynamics_step.c
// One step of length h from d->now into d->next, its stages solved to `tolerance` (mm); `error`: of the
// positions, mm.
pl_status dynamics_step(pl_dynamics *d, double h, double tolerance, double *error, stage_outcome *outcome,
                        pl_error *err);
void dynamics_step_undo(pl_dynamics *d); // after a step that is not accepted
double dynamics_filtered_error(pl_dynamics *d, double h);
double dynamics_struck(pl_dynamics *d, double h); // mm: that impacts leave uncertain

// The acceleration of `now` at the forces and commands that act now, with the factor for s; where drives
// start to move, the velocity too.
pl_status dynamics_acceleration(pl_dynamics *d, double s, pl_error *err);

// Stands at `now` with the efforts of its state.
pl_status dynamics_recall(pl_dynamics *d, pl_error *err);

// ---- dynamics_run.c
// Before the first step: the acceleration, at rest or where commands jump, and the scale of errors.
pl_status dynamics_prepare(pl_dynamics *d, bool rest, pl_error *err);

// ---- dynamics_energy.c
// Work of loads and actuators in the step in progress: after its first stage, and after its second one, the
// path of the problem leading along that stage.
void dynamics_work_first(pl_dynamics *d);
void dynamics_work_second(pl_dynamics *d, pl_motion_energy *energy);
void dynamics_work_base(pl_dynamics *d, pl_motion_energy *energy); // of a step, where the supports move

// Measures and forces of the constraints where the problem was evaluated last.
void dynamics_rows(const pl_problem *p, dynamics_point *point);
double dynamics_kinetic(const pl_dynamics *d, const double *v);
double dynamics_stored(pl_dynamics *d, const double *x); // elastic energy and springs

static inline int64_t dynamics_full(const pl_dynamics *d)
{
    return 3 * (int64_t)d->problem->mesh.vertex_count;
}

// The constants of TR-BDF2: gamma = 2 - sqrt 2, s = gamma h / 2, c1 = 1 / (gamma (2 - gamma)), c0 = c1 - 1.
#define TR_GAMMA 0.58578643762690495
#define TR_C1 (1 / (TR_GAMMA * (2 - TR_GAMMA)))
#define TR_C0 (TR_C1 - 1)

// quadrature over a step with the points 0, gamma, 1, exact for parabolas
#define TR_WG (1 / (6 * TR_GAMMA * (1 - TR_GAMMA)))
#define TR_W1 (0.5 - TR_GAMMA * TR_WG)
#define TR_W0 (1 - TR_WG - TR_W1)
static inline double dynamics_stage_length(double h)
{
    return 0.5 * TR_GAMMA * h;
}

#endif
