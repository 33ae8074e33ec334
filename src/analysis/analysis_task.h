// A task file as it was read, for this folder and for tests.
#ifndef PL_ANALYSIS_TASK_H
#define PL_ANALYSIS_TASK_H

#include "pliant/analysis.h"

typedef enum pl_task_do { PL_TASK_MOVE, PL_TASK_REACH, PL_TASK_GRASP, PL_TASK_PLACE } pl_task_do;

typedef struct pl_task_object {
    const char *name;
    double center[3], radius; // mm
    int line;
} pl_task_object;

typedef struct pl_task_item {
    pl_task_do what;
    const char *name;   // used in the table; default: the name of the action
    const char *marker; // move; NULL: that of the file
    int object;         // reach, grasp, place: index
    bool has_to, has_direction, has_axis;
    double to[3];        // move: target of the marker; place: new centre of the object
    double direction[3]; // move: target direction of the marker's axis
    double axis[3];      // axis of the marker, undeformed
    bool axes[3];        // move: coordinates that count; all false: all
    int steps;
    int line;
} pl_task_item;

struct pl_task_file {
    const char *name, *marker; // NULL if not given
    // the gripper: the end segment
    bool has_gripper;
    const char *gripper_marker;
    double normal[3], clearance, weight;
    double curl_axis[3], curl; // the segment bends about this axis, to +1/R or -1/R; 0 0 0: in either sense
    const char *segment;       // a surface or region of the body, or NULL and
    double line_from[3], line_to[3]; // a line in the undeformed configuration
    const char *const *command;
    int command_count;
    int gripper_line;
    const pl_task_object *object;
    int object_count;
    const pl_task_item *item;
    int item_count;
    void *memory;
};

#endif
