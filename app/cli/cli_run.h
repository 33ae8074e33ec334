// Inside `pliant run`: the run, its machine side and its log.
#ifndef PL_CLI_RUN_H
#define PL_CLI_RUN_H

#include <sys/types.h>
#include "cli_goal.h"
#include "cli_marlin.h"
#include "cli_wire.h"

#define RUN_GOALS 64
#define RUN_LOGS 4

// A set point and how it went.
typedef struct goal {
    double from, target[3], distance; // s; mm, or units of the sensors; mm
    int first;                        // tick it began at; -1: not yet
    double overshoot;   // farthest that an output went beyond its set point, over the first error
    int settled;        // ticks until the measured error stayed below 5 % of the first; -1: never
    double first_error; // of the outputs, the first measured; NAN: none
    double final_error; // mean over the last tenth of its ticks, as far as measured; NAN: none was
    double miss;        // mm, mean over the same ticks: of the marker, the larger of estimated and measured
    bool measured;      // some of these ticks had readings
    double uncertainty; // mm (95 %), the largest in these ticks of a marker that nothing measures; NAN: not
                        // known
    bool reached, uncertain; // uncertain: reached by the model, but not within its own error
} goal;

// What the commands are when the run has ended, however it ends.
typedef enum run_on_stop { RUN_HOLD, RUN_REST, RUN_VENT } run_on_stop;

typedef struct run {
    cli_model m;
    pl_control_setup setup;
    pl_loop *loop;
    wire w;      // to the plant; in < 0: none
    pid_t child; // the plant, if it is a process of ours
    marlin machine;
    pl_gcode *gcode; // NULL: no machine
    double due;      // the clock when the current tick began
    goal goal[RUN_GOALS];
    int goal_count, marker, steps, done; // index of the marker; ticks of the run, and so far
    double period, timeout;              // timeout 0: a few periods of a real clock
    double tolerance;                    // mm, of the goals
    run_on_stop on_stop;
    bool real_time;   // ticks follow the clock; else as fast as possible
    cli_goals limits; // bounds on efforts
    // messages
    json_int_t sequence; // of the last one sent
    double heard;        // time of the last reply, s
    double *sent;        // per command: taken by the plant last
    bool connected;      // the plant has accepted the run
    int stale, unsolved; // replies that were old or repeated; of a simulated robot without an equilibrium
    char why[300];       // text of a reason to stop
    double *sensor, *true_marker;           // as read; of a simulated plant, mm
    double *first;                          // per output: error when the goal began
    double *time, *error, *distance, *busy; // per tick; error NAN: not measured
    double *estimated_miss;                 // per tick: of the estimated marker, mm
    double *uncertainty;                    // per tick: of the marker, mm; NAN: not known
    int *rejected;                          // per sensor: ticks in which its reading was not used
    double *rejected_at;                    // s: the first of them
    int missed, held, saturated, lost;      // ticks; lost: missing readings
    int contradicted, bounded;              // ticks
    int unreached;                          // goals
    const char *held_why;                   // of the first tick held
    double held_at;                         // s
    int held_now;                           // ticks held one after the other
    double jitter;                          // s, largest
    const char *stop;                       // why it ended before the last tick
    pl_run_log *log[RUN_LOGS];
    int log_count;
    double *row; // of the logs
} run;

double run_now(void); // s, a clock that never jumps

// ---- the machine side (cli_run_link.c)
int run_connect(const cli_args *args, run *r); // returns an exit status

// Sends the command of the loop, fills the readings. NULL, or why the loop must stop.
const char *run_exchange(run *r, double t);

// Brings the commands to the state of --on-stop and ends the connection, also after errors and signals.
void run_disconnect(const cli_args *args, run *r);

// ---- the log (cli_run_log.c)
int run_log_open(const cli_args *args, run *r);
int run_log_row(const cli_args *args, run *r, double t, const pl_loop_report *p, double busy);
int run_log_write(const cli_args *args, run *r); // and the pictures

#endif
