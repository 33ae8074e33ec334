// Inside `follow`: the run, and its path from a file or from a kind.
#ifndef PL_CLI_FOLLOW_H
#define PL_CLI_FOLLOW_H

#include "cli_goal.h"

#define FOLLOW_COUNT 100000 // waypoints at most

// A run of `follow`; freed at the end, however it ends.
typedef struct follow {
    const cli_args *args;
    cli_model m;
    cli_goals g;
    pl_ik *ik;
    double *point;                // 3 per waypoint
    double *normal, *turn, *time; // from a file, or NULL
    int count;
    bool closed;
    int direction, orientation; // goals of these columns; -1: none
    double period;              // s; 0: none given
    pl_motion motion;
    json_t *json; // the record
    cli_series series;
    pl_follow_report report;
    int status; // exit status so far
} follow;

// Reads the waypoints: of a file, or of --path; resampled where asked. Returns an exit status.
int cli_follow_path(const cli_args *args, follow *f);

#endif
