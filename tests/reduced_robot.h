// Small reduced robots for tests: a plan collects what to build; derivatives are compared with central
// differences.
#ifndef PL_REDUCED_ROBOT_H
#define PL_REDUCED_ROBOT_H

#include <string.h>
#include "check.h"
#include "base/base.h"
#include "reduced/reduced.h"

typedef struct line_plan {
    pl_reduced_def def;
    pl_section_def section[4];
    pl_line_actuator_def actuator[8];
    pl_line_marker_def marker[4];
    pl_line_sensor_def sensor[4];
    pl_line_force_def force[3];
    pl_line_load_def load[2];
} line_plan;

static inline void line_init(line_plan *p, pl_reduced_kind kind)
{
    memset(p, 0, sizeof *p);
    p->def.kind = kind;
    p->def.name = "line";
}

// A round section of E, G; area, I and J of a solid circle.
static inline pl_section_def *line_section(line_plan *p, const char *name, double length, double diameter,
                                           double E, double G, int pieces)
{
    pl_section_def *s = &p->section[p->def.section_count++];
    const double r = 0.5 * diameter, area = PL_PI * r * r, I = PL_PI * r * r * r * r / 4;
    *s = (pl_section_def){.name = name, .length = length, .diameter = {diameter, diameter}, .pieces = pieces};
    pl_section_stiffness(s, E, G, area, I, I, 2 * I, 0.9);
    return s;
}

static inline pl_line_actuator_def *line_actuator(line_plan *p, const char *name, pl_actuator_kind kind,
                                                  pl_drive drive, double from, double to, double radius,
                                                  double angle)
{
    pl_line_actuator_def *a = &p->actuator[p->def.actuator_count++];
    *a = (pl_line_actuator_def){.name = name,
                                .kind = kind,
                                .drive = drive,
                                .area = 10,
                                .effectiveness = {1, 1},
                                .path = {.span = {from, to}, .radius = {radius, radius}, .angle = angle}};
    return a;
}

static inline void line_marker(line_plan *p, const char *name, double at)
{
    p->marker[p->def.marker_count++] = (pl_line_marker_def){.name = name, .at = at};
}

static inline pl_line_force_def *line_force(line_plan *p, const char *marker, double x, double y, double z)
{
    pl_line_force_def *f = &p->force[p->def.force_count++];
    *f = (pl_line_force_def){.marker = marker, .force = {x, y, z}};
    return f;
}

static inline pl_model *line_build(line_plan *p)
{
    pl_error err = {0};
    pl_model *model = NULL;

    p->def.section = p->section;
    p->def.actuator = p->actuator;
    p->def.marker = p->marker;
    p->def.sensor = p->sensor;
    p->def.force = p->force;
    p->def.load = p->load;
    PL_CHECK_OK(pl_reduced_create(&p->def, &model, NULL, &err));

    return model;
}

static inline void line_solve(pl_model *model, const double *command)
{
    pl_error err = {0};
    pl_solve_report report;

    PL_CHECK_OK(pl_model_fk(model, command, &report, &err));
    if (report.outcome != PL_SOLVED) {
        print_error("outcome %s: %s\n", pl_outcome_name(report.outcome), report.message);
        fail();
    }
}

static inline const double *line_tip(pl_model *model, const double *command)
{
    line_solve(model, command);
    return pl_model_get_answer(model).marker;
}

// Spatial rotation vector of the small rotation A B^T: its skew part.
static inline void line_spin(const double A[9], const double B[9], double w[3])
{
    double R[9];
    for (int i = 0; i < 9; ++i) {
        R[i] = 0;
        for (int k = 0; k < 3; ++k) {
            R[i] += A[3 * (i / 3) + k] * B[3 * (i % 3) + k];
        }
    }

    w[0] = 0.5 * (R[7] - R[5]);
    w[1] = 0.5 * (R[2] - R[6]);
    w[2] = 0.5 * (R[3] - R[1]);
}

#define LINE_ROWS_MAX 4000
typedef struct line_values {
    double v[LINE_ROWS_MAX];
} line_values;

static inline int line_gather(pl_model *model, double *v)
{
    const pl_model_info i = pl_model_get_info(model);
    const pl_model_answer a = pl_model_get_answer(model);
    int n = 0;
#define TAKE(from, count)                                                                                    \
    do {                                                                                                     \
        memcpy(v + n, from, (size_t)(count) * sizeof *v);                                                    \
        n += count;                                                                                          \
    } while (0)
    TAKE(a.marker, 3 * i.marker_count);
    TAKE(a.sensor, i.sensor_count);
    TAKE(a.effort, i.actuator_count);
    TAKE(a.measure, i.actuator_count);
    TAKE(&a.energy, 1);
    TAKE(a.point, 3 * i.point_count);
#undef TAKE
    return n;
}

// Largest difference between the exact derivatives and central differences, over the largest entry of its
// kind (at least 1e-3 of the overall largest).
static inline double line_jacobian_error(pl_model *model, const double *command, double h)
{
    static line_values plus, minus, exact;
    pl_error err = {0};
    const pl_model_info info = pl_model_get_info(model);
    const int C = info.command_count;
    double worst = 0;

    for (int c = 0; c < C; ++c) {
        double moved[32], Rp[9 * 4], Rm[9 * 4];
        pl_model_derivative d;
        pl_jacobian_report report;
        line_solve(model, command);
        PL_CHECK_OK(pl_model_differentiate(model, 127, 0, &d, &report, &err));
        // one column in the order of line_gather
        const double *const part[] = {d.marker, d.sensor, d.effort, d.measure, d.energy, d.point};
        const int rows[] = {
            3 * info.marker_count, info.sensor_count, info.actuator_count, info.actuator_count, 1,
            3 * info.point_count};
        int n = 0;
        for (int k = 0; k < 6; ++k) {
            for (int i = 0; i < rows[k]; ++i) {
                exact.v[n++] = part[k][i * C + c];
            }
        }
        double spin[3 * 4];
        for (int i = 0; i < 3 * info.marker_count; ++i) {
            spin[i] = d.rotation[i * C + c];
        }
        memcpy(moved, command, (size_t)C * sizeof *moved);
        moved[c] = command[c] + h;
        line_solve(model, moved);
        line_gather(model, plus.v);
        memcpy(Rp, pl_model_get_answer(model).rotation, 9 * (size_t)info.marker_count * sizeof *Rp);
        moved[c] = command[c] - h;
        line_solve(model, moved);
        line_gather(model, minus.v);
        memcpy(Rm, pl_model_get_answer(model).rotation, 9 * (size_t)info.marker_count * sizeof *Rm);
        n = 0;
        for (int k = 0; k < 6; ++k) {
            double scale = 0, off = 0;
            for (int i = 0; i < rows[k]; ++i, ++n) {
                if (isnan(exact.v[n])) {
                    continue;
                }
                scale = fmax(scale, fabs(exact.v[n]));
                off = fmax(off, fabs((plus.v[n] - minus.v[n]) / (2 * h) - exact.v[n]));
            }
            worst = scale > 1e-9 ? fmax(worst, off / scale) : fmax(worst, off);
        }
        for (int i = 0; i < info.marker_count; ++i) {
            double w[3], off = 0, scale = 1e-12;
            line_spin(Rp + 9 * i, Rm + 9 * i, w);
            for (int k = 0; k < 3; ++k) {
                off = fmax(off, fabs(w[k] / (2 * h) - spin[3 * i + k]));
                scale = fmax(scale, fabs(spin[3 * i + k]));
            }
            worst = scale > 1e-9 ? fmax(worst, off / scale) : worst;
        }
    }

    return worst;
}

#endif
