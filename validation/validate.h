// What the validation programs share: a table of expected, got and error with a verdict at the end, and a
// robot described in YAML text together with its solver.
#ifndef PL_VALIDATE_H
#define PL_VALIDATE_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pliant/result.h"
#include "document/document.h"
#include "pliant/meshing.h"
#include "statics/statics.h"

// ---- the table
typedef struct validate_table {
    int rows, failed;
} validate_table;

static inline void validate_head(const char *title)
{
    printf("%s\n%-46s %14s %14s %10s %10s\n", title, "case", "expected", "got", "error", "allowed");
}

static inline bool validate_verdict(validate_table *t, bool good)
{
    t->rows++;
    t->failed += !good;
    printf("%s\n", good ? "" : "   <-- FAIL");
    fflush(stdout);
    return good;
}

// One row judged by its relative error.
static inline bool validate_row(validate_table *t, const char *name, double expected, double got,
                                double allowed)
{
    const double error = fabs(got - expected) / fabs(expected);
    printf("%-46s %14.7g %14.7g %9.2g%% %9.2g%%", name, expected, got, 100 * error, 100 * allowed);
    return validate_verdict(t, error <= allowed);
}

// One row judged by its absolute error.
static inline bool validate_absolute(validate_table *t, const char *name, double expected, double got,
                                     double allowed)
{
    const double error = fabs(got - expected);
    printf("%-46s %14.7g %14.7g %10.2g %10.2g", name, expected, got, error, allowed);
    return validate_verdict(t, error <= allowed);
}

static inline int validate_end(const validate_table *t)
{
    printf("%s: %d of %d rows within what is allowed\n", t->failed ? "FAIL" : "PASS", t->rows - t->failed,
           t->rows);
    return t->failed ? 1 : 0;
}

// ---- a robot, its solver and its state
typedef struct validate_robot {
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
    pl_solve_report report;
    pl_error err;
} validate_robot;

static inline void validate_close(validate_robot *v)
{
    pl_state_destroy(v->state);
    pl_statics_destroy(v->statics);
    pl_robot_destroy(v->robot);
    *v = (validate_robot){0};
}

static inline bool validate_start(validate_robot *v, const pl_statics_options *options)
{
    const pl_statics_options standard = pl_statics_options_default();
    if (pl_statics_create(v->robot, options ? options : &standard, &v->statics, &v->err) != PL_OK ||
        pl_state_create(v->robot, &v->state, &v->err) != PL_OK) {
        printf("not built: %s\n", v->err.text);
        validate_close(v);
        return false;
    }

    return true;
}

// Text of a robot file to a robot at rest; says why when it cannot be.
static inline bool validate_open(validate_robot *v, const pl_statics_options *options, const char *format,
                                 ...) PL_PRINTF(3, 4);
static inline bool validate_open(validate_robot *v, const pl_statics_options *options, const char *format,
                                 ...)
{
    static char text[20000];
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *v = (validate_robot){0};
    const pl_load_options load = {.mesher = pl_meshing_mesher(), .no_cache = true};
    if (length < 0 || (size_t)length >= sizeof text ||
        pl_robot_load_text(text, (size_t)length, "validation.yaml", &load, &v->robot, NULL, &v->err) !=
            PL_OK) {
        printf("not loaded: %s\n", v->err.text);
        return false;
    }

    return validate_start(v, options);
}

// Solves and checks from scratch; a row of its own when that fails.
static inline bool validate_solve(validate_table *t, validate_robot *v, const double *command)
{
    double residual = 0, largest = 0;
    bool inverted = false;

    if (pl_statics_solve(v->statics, v->state, command, &v->report, &v->err) != PL_OK) {
        printf("%s", v->err.text);
    } else if (v->report.outcome != PL_SOLVED) {
        printf("%s: %s", pl_outcome_name(v->report.outcome), v->report.message);
    } else if (pl_statics_check(v->statics, v->state, &residual, &largest, &inverted, &v->err) != PL_OK) {
        printf("%s", v->err.text);
    } else if (inverted || residual > fmax(1e-5 * largest, 1e-10)) {
        printf("called solved with a residual of %.3g of %.3g N, %s", residual, largest,
               inverted ? "inverted" : "not inverted");
    } else {
        return true;
    }

    return validate_verdict(t, false);
}

static inline double validate_tip(const validate_robot *v, int marker, int axis)
{
    return pl_statics_marker(v->statics, v->state, marker).displacement[axis];
}

static inline int32_t validate_elements(const validate_robot *v)
{
    return pl_mesh_get(pl_robot_mesh(v->robot)).element_count;
}

#endif
