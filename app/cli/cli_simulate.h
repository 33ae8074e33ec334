// What the files of `pliant simulate` share.
#ifndef PL_CLI_SIMULATE_H
#define PL_CLI_SIMULATE_H
#include "cli_motion.h"

// What the verb holds; simulate_run releases all of it.
typedef struct simulate {
    const cli_args *args;
    cli_motion s;
    double until, every, ramp, load_ramp, begin; // all s; begin: time of the state it starts from
    pl_dynamics_options options;
    double *first, *last; // commands where it begins and ends
    double *drag;         // t/mm^3, per surface of the mesh; NULL: none
    double *line;         // s: times of filling, then of venting, per command; NAN: those of the robot
    pl_measured table;    // of --table, with times in `extra`
    bool has_table;
    pl_simulation *simulation;
    pl_schedule *schedule; // what the commands are asked to be
    // output
    FILE *csv;
    char *csv_text;
    size_t csv_bytes;
    json_t *rows; // of --json, or NULL
    cli_series series;
    double *time; // of the rows
    int count, capacity;
    pl_motion_report report;
    int status; // of a row that failed
} simulate;

// ---- options, read into the verb (cli_simulate_read.c); an exit status each
// The options that are numbers, checked and brought into a consistent whole.
int cli_simulate_numbers(const cli_args *args, simulate *d);
// --set or --before: commands by name into `command`; those not given keep their value.
int cli_simulate_read_set(const cli_args *args, simulate *d, const char *option, double *command);
// --table: commands over time, each value checked against its range.
int cli_simulate_read_table(const cli_args *args, simulate *d);
// --sine NAME=MEAN,AMPLITUDE,FREQUENCY: into the schedule, or before there is one its values at the start.
int cli_simulate_read_sines(const cli_args *args, simulate *d, bool schedule);
// --fill and --vent NAME=TIME instead of those of the robot file.
int cli_simulate_read_lines(const cli_args *args, simulate *d);
// --line NAME=CONDUCTANCE,VOLUME[,RATIO]
int cli_simulate_read_air(const cli_args *args, simulate *d);
// --push MARKER=FX,FY,FZ@FROM,TO, besides the weight of masses at markers.
int cli_simulate_read_pushes(const cli_args *args, simulate *d);
// --shake AXIS=AMPLITUDE,FREQUENCY and --carry AXIS=DISTANCE@FROM,TO.
int cli_simulate_read_base(const cli_args *args, simulate *d);
// --drag SURFACE=DENSITY
int cli_simulate_read_drag(const cli_args *args, simulate *d);

#endif
