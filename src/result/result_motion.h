// Inside result: what the writers of motions share.
#ifndef PL_RESULT_MOTION_H
#define PL_RESULT_MOTION_H

#include "base/base.h"
#include "pliant/result.h"

// The separator and a number, or the separator alone when it is not finite.
void result_text_number(pl_text *text, const char *before, double value);

// Writes the text beside `path` and renames it; clears it in any case.
pl_status result_text_write(pl_text *text, const char *path, pl_error *err);
double result_effort_scale(pl_actuator_kind kind); // internal value of one unit on the terminal
const char *result_effort_unit(pl_actuator_kind kind);

#define RESULT_PRESSURE_NOISE 1e-5 // MPa, 10 Pa: what a solve leaves of zero, finer than any valve
#define RESULT_ROWS_SHOWN 12       // groups of rows named in one sentence

// "3-7, 12, 15": the rows that are true.
void result_rows_text(const bool *row, int count, pl_text *text);

// Marks the rows of a motion with a pressure below zero; returns how many. `lowest` in MPa.
int result_rows_below(const pl_motion *motion, int actuator, bool *row, double *lowest);
pl_status result_rows_refuse(const char *path, const char *name, const bool *row, int count, double lowest,
                             pl_error *err);
void result_rows_changed(pl_findings *changed, const char *path, const char *name, const char *how,
                         const bool *row, int count, double lowest);

#endif
