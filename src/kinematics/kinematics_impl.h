// The inside of kinematics, for this folder.
#ifndef PL_KINEMATICS_IMPL_H
#define PL_KINEMATICS_IMPL_H

#include "base/base.h"
#include "base/vec.h"
#include "model/model.h"
#include "pliant/motion.h"

// ---- what an inverse problem reads of the model: rows side by side (ik_outputs.c)
typedef struct ik_outputs {
    unsigned parts;                           // pl_model_part
    int count;                                // rows
    int *marker, *rotation, *sensor, *effort; // first row of each one read, or -1
    int32_t *point;                           // per body point; NULL when none is read
    int energy;                               // row or -1
} ik_outputs;

// A command and what the model answers there.
typedef struct ik_place {
    double *z;     // the variables, in parts of their spans
    double *y;     // outputs; rows of rotations are not used
    double *R;     // 9 per marker
    double *r;     // weighted deviations, then least motion
    double value;  // 1/2 |r|^2 of goals and least motion
    double choice; // of the objectives that choose
    double excess; // largest violation of an effort's bound, over its scale; <= 0: none
} ik_place;

// A bound on an effort.
typedef struct ik_bound {
    int actuator, row;       // of the outputs
    double low, high, scale; // N or MPa
    double margin[2];        // kept back from each side: what the bend of the effort took
} ik_bound;

#define IK_STATIONARY 1e-5 // relative projected gradient below which a point is considered nearest
#define IK_JACOBIAN 1e-4   // relative residual of the linear systems of a Jacobian used for steps
#define IK_SHRINK 0.1      // published gradient search: tau of Fang et al. 2020
#define IK_DIFFERENCE 1e-3 // and its step of central differences, as a fraction of the range
#define IK_STARTS 16       // most further starts
#define IK_HOLDS 1e-9      // a bound on an effort holds when it is broken by less than this, over its scale

// The commands that move: c = low + span z, z in parts of the span.
typedef struct ik_range {
    double *low, *high, *span;        // per variable
    double *rate;                     // parts per second; INFINITY: none
    double *fixed;                    // per command: value of those with one value only, else NAN
    double *now_low, *now_high;       // z of this solve: bounds and rates
    bool *by_rate_low, *by_rate_high; // the rate is the tighter one
} ik_range;

// What is asked for.
typedef struct ik_goal {
    pl_objective *objective;
    int objective_count;
    double **place;                         // copies of `place`
    int *row;                               // first row of each; row[objective_count] = rows of objectives
    int rows;                               // and least motion
    bool choosing;                          // some objective is no goal
    bool choose;                            // the phase in which these count
    double least_motion;                    // in use
    int widest;                             // most points of a curvature
    double *fit, *fit_gradient, *deviation; // scratch
} ik_goal;

// The Jacobian of the outputs, exact or carried along by updates.
typedef struct ik_slope {
    double *Jy;              // outputs x variables
    bool known, fresh;       // fresh: exact at `here`
    double *bend_z, *bend_y; // a long step, and what the Jacobian missed of it; bend_scale 0: none
    double bend_scale;
    bool bent; // the bend is in Jy now
} ik_slope;

// Commands with a kink (ik_kink.c).
typedef struct ik_kinks {
    bool possible;   // the model answers what is needed, and some command has a kink
    bool on;         // in use
    bool active;     // Jy is with respect to the coordinates below; otherwise with respect to the commands
    int *cable;      // per variable: the cable it drives by its length, and nothing else; or -1
    bool *one_sided; // per variable
    bool *tension;   // per variable: its coordinate is the tension of its cable, which is slack
    int *side;       // per variable: 1 or -1 at the kink of a one-sided command: the side in Jy; else 0
    double *length_rate; // per variable: mm of target length per part of the span
    double *length;      // per variable: mm, of its cable at `here`
    double *dL;          // variables x variables: change of these lengths
    double *up, *down;   // columns of Jy on both sides, where side is not 0
    pl_parameter *parameter;
    double *marker, *rotation, *sensor, *effort, *measure, *point; // up to 2 n columns
} ik_kinks;

// The quadratic problem at `here`.
typedef struct ik_local {
    double *J, *J_old; // rows x variables
    double *E, *E_old; // bounds x variables: derivative of the efforts
    double *S;         // second derivatives not in J^T J, from differences of J
    double *H, *model_H, *g, *p, *step, *step_low, *step_high, *work, *eigen, *eigenvector;
    double *row_a, *row_b;                            // bounds on efforts as rows
    double *box_multiplier, *row_multiplier, *mu_old; // of the last quadratic problem
    uint64_t signature;                               // of the coordinates of J_old and S
    bool second_order, was_fresh;                     // S is in use; J was exact before the trial
} ik_local;

// Commands and shape found together (ik_together.c).
typedef struct ik_together {
    bool possible;
    int skip, pause;                  // solves that do without; how many after the next failure
    int count, variable[PL_AIM_MOST]; // variables in use: not those of slack cables, which stay
    double *command;                  // where it ended
    // where it began, and the Jacobian of the outputs there with its bend
    ik_place from;
    double *Jy, *carried, bend_scale;
    bool known;
    ik_place before; // where the solve before began: the path from there is a test of columns
    int places;      // how many of both are known
    double *drift;   // change of the outputs that the shape is about to make
    double *plain;   // deviations of the goals where the shape is
    double *wanted;  // deviations of the goals that the last step was to lead to
    double *marker, *rotation, *sensor, *effort; // count + 1 columns
    double first;                                // error at the start
    bool stepped;                                // `wanted` is known
} ik_together;

// How the search goes on.
typedef struct ik_search {
    bool renew, escape, interrupted; // J is to be evaluated; stationary points may be left; stop
    bool free_rate;                  // rates do not bind this solve
    int steps, held_back;            // forward solves tried; trials in a row that broke an effort's bound
    double radius, reach; // of trust, in parts of the spans; its limit next to shapes that cannot be computed
    int failures;         // forward solves that found none
} ik_search;

// What the report will say.
typedef struct ik_record {
    pl_ik_active *active;
    int active_count;
    double gradient;
    int iterations, agreed;
    double started;     // s, on the clock of pl_seconds
    double first_error; // over the tolerance: the largest so far
    pl_model_costs costs_before;
    char message[240];
} ik_record;

struct pl_ik {
    pl_model *model;
    pl_model_info info;
    pl_ik_options options;
    bool surrogate;   // the model has an error of its own, which counts
    int n, *variable; // commands that move, and their indices
    ik_range range;
    ik_bound *bound;
    int bound_count;
    ik_goal goal;
    ik_outputs outputs;
    ik_place here, trial;
    double *entry, *best_z;  // z where the model stood at the start; of the best start
    double *command, *start; // one per command
    ik_slope slope;
    ik_kinks kink;
    ik_local local;
    ik_search search;
    ik_together together;
    struct pl_quadratic *quadratic;
    pl_samples samples;
    int tried[IK_STARTS + 1];    // samples
    double *ended;               // deviations of the goals where each start ended
    bool settled[IK_STARTS + 1]; // whether it is stationary there
    ik_record record;
};

// ---- ik.c
bool ik_place_create(const pl_ik *ik, ik_place *place); // room; false: no memory
void ik_place_clear(ik_place *place);

// ---- ik_outputs.c
pl_status ik_outputs_create(pl_ik *ik, pl_error *err);
void ik_outputs_clear(pl_ik *ik);
void ik_outputs_read(const pl_ik *ik, ik_place *place); // where the model stands: y and R
void ik_outputs_take(const pl_ik *ik, const pl_model_answer *answer, ik_place *place); // of that answer

// Exact Jacobian of the outputs where the model stands, by the variables.
pl_status ik_outputs_differentiate(pl_ik *ik, double tolerance, pl_error *err);

// Broyden's update of it: the least change that explains the path from `from` to `to`.
void ik_outputs_update(pl_ik *ik, const ik_place *from, const ik_place *to);

// Keeps what the path from `from` to `to` shows of the bend of the outputs; call before the update.
void ik_outputs_note_bend(pl_ik *ik, const ik_place *from, const ik_place *to);

// Adds (1) or takes away (-1) the bend kept: the mean Jacobian of a step like the one before, once more.
void ik_outputs_bend(pl_ik *ik, double sign);

// ---- ik_objective.c
int ik_objective_rows(const pl_ik *ik, const pl_objective *objective);
pl_status ik_objective_check(const pl_ik *ik, const pl_objective *objective, int i, pl_error *err);
void ik_objective_reads(const pl_objective *objective, ik_outputs *outputs);

// r, value and excess of a place whose z, y and R are known.
void ik_evaluate(pl_ik *ik, ik_place *place);
void ik_jacobian(pl_ik *ik, const ik_place *place, double *J, double *E);

// Largest deviation of a goal over its tolerance; in mm for goals that are lengths.
double ik_error(const pl_ik *ik, const ik_place *place, double *distance);
double ik_deviation(const pl_ik *ik, const ik_place *place, int i);

// Deviations of the goals at `here`, where the model stands, with the error of a surrogate.
typedef struct ik_certainty {
    double by_model;    // largest deviation over its tolerance
    double error;       // the same with the error of the model; INFINITY: not known
    double worst;       // error of the model in that goal
    const char *unit;   // of it
    double model_error; // mm, largest in the goals that are lengths
    double confidence;
    const char *unknown; // why; NULL: not measured
} ik_certainty;

ik_certainty ik_certain(const pl_ik *ik);

// "0.3 mm off", or what the goal farthest from its tolerance is and how far it is off at `here`.
void ik_off_text(const pl_ik *ik, int digits, char *text, size_t room);

// ---- ik_kink.c
pl_status ik_kinks_create(pl_ik *ik, pl_error *err);
pl_status ik_kinks_room(pl_ik *ik, pl_error *err); // once the outputs are known
void ik_kinks_clear(pl_ik *ik);
bool ik_kinks_present(const pl_ik *ik);       // at `here`, where the model stands
bool ik_kinks_slack(const pl_ik *ik, int j);  // the cable of variable j, where the model stands
bool ik_kinks_at_zero(const pl_ik *ik);       // some one-sided command at `here`
uint64_t ik_kinks_signature(const pl_ik *ik); // of the coordinates of Jy
pl_status ik_kinks_differentiate(pl_ik *ik, pl_error *err);

// Commands at the kink of a one-sided command, 0 also if they are too many to try all; bit b sets the side of
// the b-th of them.
int ik_kinks_side_count(const pl_ik *ik);
void ik_kinks_set_sides(pl_ik *ik, unsigned bits);
void ik_kinks_choose_sides(pl_ik *ik);

// Limits of a step, rows a . p <= b that hold besides (returns their number), and the z that p leads to.
void ik_kinks_box(const pl_ik *ik, double radius, double *low, double *high);
int ik_kinks_rows(pl_ik *ik, double *a, double *b);
void ik_kinks_apply(const pl_ik *ik, const double *p, double *z);

// ---- ik_newton.c, ik_gradient.c: from where the model stands, `here` evaluated; leaves the model and `here`
// at the best point.
pl_status ik_newton(pl_ik *ik, pl_ik_outcome *outcome, pl_error *err);
pl_status ik_gradient_search(pl_ik *ik, pl_ik_outcome *outcome, pl_error *err);

// With the goals met: moves on to commands that the other objectives like best, keeping them met.
pl_status ik_choose(pl_ik *ik, pl_error *err);

// The quadratic problem of H and g in the step p, between step_low and step_high and under the first `rows`
// of row_a and row_b; false when it is not solved.
bool ik_quadratic_step(pl_ik *ik, const double *H, const double *g, int rows);

// Both sides of every bounded effort as rows a . p <= b at `here`, over its scale. Returns their number.
int ik_effort_rows(pl_ik *ik, double *a, double *b, bool with_margin);

// J, E and g at `here`, from an exact Jacobian of the outputs when `exact`.
pl_status ik_linearise(pl_ik *ik, bool exact, pl_error *err);

// The certificate at `here`, with the multipliers of the bounds.
pl_status ik_certify(pl_ik *ik, pl_error *err);

// p and the decrease it promises from J^T J at `here`; -1: none.
double ik_newton_step(pl_ik *ik);

// ---- ik_together.c
pl_status ik_together_create(pl_ik *ik, pl_error *err); // once the outputs are known
void ik_together_clear(pl_ik *ik);

// From where the model stands, `here` evaluated: commands and shape together, then one forward solve. Leaves
// model and `here` at a better point, or as they were.
pl_status ik_together_solve(pl_ik *ik, pl_error *err);

// ---- ik_step.c
void ik_command(const pl_ik *ik, const double *z, double *command);

// Moves the model to `place->z` and evaluates there. Solved or not: `*solved`.
pl_status ik_go(pl_ik *ik, ik_place *place, bool *solved, pl_error *err);
pl_status ik_go_to(pl_ik *ik, const double *command, ik_place *place, bool *solved, pl_error *err);
bool ik_go_on(pl_ik *ik, pl_ik_outcome *outcome); // false: a limit or a request to stop
void ik_swap(ik_place *a, ik_place *b);

#endif
