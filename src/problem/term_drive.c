// Paths of drives, and what actuators measure and report.
#include "problem/term_drive.h"

drive_ends drive_path_begin(drive_path *path, const pl_actuator *a, const pl_state *state,
                            const double *command)
{
    const drive_ends ends = {.old = a->command >= 0 ? a->factor * state->command[a->command] : NAN,
                             .value = a->command >= 0 ? a->factor * command[a->command] : NAN};
    path->idle = isnan(ends.value);
    path->one_sided = a->one_sided && !path->idle;
    path->slope = path->idle ? a->factor : pl_command_slope(a->factor, a->one_sided, command[a->command]);

    // v(c) = max(0, f c): seen from below, -c rises and the factor is -f
    path->slope_down =
        path->idle ? a->factor : -pl_command_slope(-a->factor, a->one_sided, -command[a->command]);
    path->input = a->command >= 0 ? pl_actuator_value(a, command[a->command]) : NAN;

    return ends;
}

void drive_path_set(drive_path *path, const pl_actuator *a, double at)
{
    path->value = at == 1 ? path->to : path->from + at * (path->to - path->from);
    path->value_now = path->value;
    if (path->one_sided) {
        const double rest = pl_actuator_goal(a, 0);
        path->value = pl_actuator_goal_rises(a) ? fmax(path->value, rest) : fmin(path->value, rest);
    }
}

double drive_path_command(const drive_path *path, const pl_actuator *a)
{
    return pl_actuator_goal_inverse(a, path->value_now) / a->factor;
}

double drive_path_slope(const drive_path *path, const pl_parameter *q)
{
    return q->part < 0 ? path->slope_down : path->slope;
}

bool drive_path_one_sided(const drive_path *path, const pl_actuator *a, const pl_state *state)
{
    return path->one_sided && state->command[a->command] == 0;
}

double drive_state_value(const pl_actuator *a, const pl_state *state)
{
    return a->command >= 0 ? pl_actuator_value(a, state->command[a->command]) : NAN;
}

pl_status drive_functional(const pl_problem *p, const pl_actuator *a, pl_functional *h)
{
    return pl_actuator_functional(p->robot->mesh, a, h);
}

double drive_measure_change(pl_problem *p, const pl_functional *h, const double *x, const double *dx)
{
    const size_t mark = pl_arena_begin(&p->scratch);
    double *gradient = pl_problem_take_full(p), sum = 0;

    memset(gradient, 0, pl_problem_full_bytes(p));
    pl_functional_gradient(h, x, 1, gradient);
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        sum += gradient[i] * dx[i];
    }
    pl_arena_end(&p->scratch, mark);

    return sum;
}

bool drive_reports_stress(const pl_actuator *a)
{
    return a->kind == PL_FILM && a->thickness > 0;
}

double drive_reported(const pl_actuator *a, double effort, double measure)
{
    return drive_reports_stress(a) ? effort * (measure / (a->rest * a->thickness)) : effort;
}

double drive_reported_change(const pl_actuator *a, double effort, double measure, double effort_change,
                             double measure_change)
{
    if (!drive_reports_stress(a)) {
        return effort_change;
    }
    return 1 / (a->rest * a->thickness) * (effort_change * measure + effort * measure_change);
}
