// Inside robot: what the checks of a def share.
#ifndef PL_ROBOT_CHECK_H
#define PL_ROBOT_CHECK_H
#include "robot/robot_impl.h"

// What the checks share.
typedef struct check {
    const pl_robot_def *def;
    pl_findings *findings;
    const char **word; // scratch for the nearest word
    int *driver;       // per actuator: the command that drives it, plus 1
} check;

#define CHECK_DEFECT(c, line, ...)                                                                           \
    pl_findings_add((c)->findings, PL_DEFECT, (c)->def->file, line, __VA_ARGS__)
#define CHECK_WARN(c, line, ...) pl_findings_add((c)->findings, PL_WARNING, (c)->def->file, line, __VA_ARGS__)

// At least two finite points, not all fixed in space.
void robot_check_guides(check *c, const char *what, const char *name, const pl_guide_def *guide, int count,
                        double radius, int line);
// Kind by kind: drive, place, range, and what the drive needs.
void robot_check_actuators(check *c);
// Every actuator has at most one command; factors are not 0.
void robot_check_commands(check *c);
// Index of a name, or -1.
int robot_check_find(const void *item, size_t size, int count, const char *name);
// Index of `name` in a list, or -1 after a finding with the nearest.
int robot_check_reference(check *c, const void *item, size_t size, int count, const char *name,
                          const char *what, const char *thing, int line);
// Whether all numbers are finite; false for NAN, too.
bool robot_check_finite(const double *x, int count);

#endif
