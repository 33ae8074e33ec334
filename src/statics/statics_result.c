// What a state means: measures, efforts, markers, sensors, reactions, and the independent check of a
// residual.
#include "statics/statics_impl.h"
#include "robot/robot_kind.h"

// NAN when there is no such output.
static double result_output(pl_statics *s, const pl_state *state, pl_output_kind kind, int index)
{
    const int k = pl_problem_find_output(s->problem, kind, index);
    return k >= 0 ? pl_problem_value(s->problem, state, k) : NAN;
}

pl_actuator_result pl_statics_actuator(pl_statics *s, const pl_state *state, int i)
{
    const pl_actuator *a = &s->robot->actuator[i];
    pl_actuator_result out = {.measure = result_output(s, state, PL_OUTPUT_MEASURE, i),
                              .effort = result_output(s, state, PL_OUTPUT_EFFORT, i)};
    out.ratio = out.measure / a->rest;
    out.slack = pl_actuator_kind_get(a->kind)->pulls_only && !a->growth && state->multiplier[i] <= 0;
    return out;
}

void statics_point(const pl_point *point, const double *x, double out[3])
{
    memcpy(out, point->rest, 3 * sizeof *out);
    if (point->count > 0) {
        out[0] = out[1] = out[2] = 0;
    }

    for (int32_t j = 0; j < point->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            out[i] += point->weight[j] * x[3 * (int64_t)point->node[j] + i];
        }
    }
}

// A = sum w_j d_j r_j^T over the marker's patch: its rotation part turns rest offsets r into current ones d.
// A flat patch gets its normal as third direction.
void statics_marker_moment(const pl_statics *s, const pl_marker *marker, const double *x, double A[9])
{
    const pl_point *patch = &marker->patch;
    double total = 0, c0[3] = {0}, c1[3] = {0};

    for (int32_t j = 0; j < patch->count; ++j) {
        total += patch->weight[j];
        for (int i = 0; i < 3; ++i) {
            c0[i] += patch->weight[j] * s->problem->mesh.position[3 * (int64_t)patch->node[j] + i];
            c1[i] += patch->weight[j] * x[3 * (int64_t)patch->node[j] + i];
        }
    }

    memset(A, 0, 9 * sizeof *A);
    for (int32_t j = 0; j < patch->count; ++j) {
        const int64_t v = 3 * (int64_t)patch->node[j];
        for (int i = 0; i < 9; ++i) {
            A[i] += patch->weight[j] * (x[v + i / 3] - c1[i / 3] / total) *
                    (s->problem->mesh.position[v + i % 3] - c0[i % 3] / total);
        }
    }
}

pl_marker_result pl_statics_marker(const pl_statics *s, const pl_state *state, int i)
{
    const pl_marker *marker = &s->robot->marker[i];
    pl_marker_result out = {.has_rotation = marker->frame};
    double rest[3], offset[3];

    memcpy(offset, marker->offset, sizeof offset);
    statics_point(&marker->point, state->x, out.position);
    statics_point(&marker->point, s->problem->mesh.position, rest);
    if (marker->frame) {
        double A[9];
        statics_marker_moment(s, marker, state->x, A);
        pl_nearest_rotation3(A, out.rotation);
        pl_mulv3(out.rotation, marker->offset, offset);
    }

    for (int k = 0; k < 3; ++k) {
        out.position[k] += offset[k];
        out.displacement[k] = out.position[k] - rest[k] - marker->offset[k];
    }

    return out;
}

double statics_string(const pl_point *guide, int count, const double *x)
{
    double length = 0, a[3], b[3];
    for (int k = 0; k + 1 < count; ++k) {
        statics_point(&guide[k], x, a);
        statics_point(&guide[k + 1], x, b);
        length += pl_distance3(a, b);
    }

    return length;
}

double pl_statics_sensor(pl_statics *s, const pl_state *state, int i)
{
    const pl_sensor *sensor = &s->robot->sensor[i];
    switch (pl_sensor_traits_get(sensor->kind)->reads) {
    case PL_READS_LINE:
        return statics_string(sensor->guide, sensor->guide_count, state->x);
    case PL_READS_MEASURE:
        return result_output(s, state, PL_OUTPUT_MEASURE, sensor->actuator);
    default:
        return result_output(s, state, PL_OUTPUT_EFFORT, sensor->actuator);
    }
}

int pl_statics_reading_count(const pl_statics *s)
{
    int readings = 0;
    for (int k = 0; k < pl_problem_output_count(s->problem); ++k) {
        readings += pl_problem_output(s->problem, k).kind == PL_OUTPUT_READING;
    }
    return readings;
}

pl_reading_info pl_statics_reading_info(const pl_statics *s, int i)
{
    const int k = pl_problem_find_output(s->problem, PL_OUTPUT_READING, i);
    return k >= 0 ? pl_problem_output(s->problem, k).info : (pl_reading_info){"", "", "", ""};
}

double pl_statics_reading(pl_statics *s, const pl_state *state, int i)
{
    return result_output(s, state, PL_OUTPUT_READING, i);
}

double pl_statics_elastic(pl_statics *s, const pl_state *state, double *gradient)
{
    pl_problem_recall(s->problem, state);
    const double energy = pl_problem_elastic(s->problem, state->x, gradient);
    pl_problem_resume(s->problem);
    return energy;
}

double pl_statics_elastic_rate(pl_statics *s, const pl_state *state, int command)
{
    return pl_problem_rate(s->problem, state, command);
}

int pl_statics_cable_points(const pl_statics *s, const pl_state *state, int actuator, double *point, int room)
{
    const pl_actuator *a = &s->robot->actuator[actuator];
    for (int k = 0; k < a->guide_count && k < room; ++k) {
        statics_point(&a->guide[k], state->x, point + 3 * k);
    }
    return a->guide_count;
}

pl_status pl_statics_reactions(pl_statics *s, const pl_state *state, pl_reaction *reaction)
{
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *force = pl_problem_take_full(p);

    pl_problem_recall(p, state);
    pl_problem_forces(p, state, false, force, NULL);
    double *couple = pl_problem_take_full(p); // a support holds a vertex at least: there is room
    memset(couple, 0, pl_problem_full_bytes(p));
    pl_problem_couples(p, state, couple);
    pl_problem_resume(p);
    memset(reaction, 0, (size_t)s->robot->support_count * sizeof *reaction);
    for (int i = 0; i < 3 * s->robot->support_count; ++i) {
        reaction[i / 3].moment[i % 3] = couple[i];
    }

    for (int32_t v = 0; v < s->problem->mesh.vertex_count; ++v) {
        for (int axis = 0; axis < 3; ++axis) {
            const int32_t k = p->unknowns.support_of[3 * (int64_t)v + axis];
            if (k < 0) {
                continue;
            }
            double f[3] = {0}, m[3];
            f[axis] = force[3 * (int64_t)v + axis];
            pl_cross3(state->x + 3 * (int64_t)v, f, m);
            for (int i = 0; i < 3; ++i) {
                reaction[k].force[i] += f[i];
                reaction[k].moment[i] += m[i];
            }
        }
    }

    pl_arena_end(&p->scratch, mark);

    return PL_OK;
}

pl_status pl_statics_check(pl_statics *s, const pl_state *state, double *residual, double *largest_force,
                           bool *inverted, pl_error *err)
{
    pl_problem *p = s->problem;
    if (state->vertex_count != p->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *force = pl_problem_take_full(p), *r = pl_problem_take_unknown(p);
    pl_problem_recall(p, state);
    pl_problem_forces(p, state, true, force, largest_force);
    *inverted = !pl_problem_admissible(p, state->x);
    pl_problem_resume(p);
    pl_problem_gather(p, force, state->x, r);
    *residual = pl_problem_largest(p, r, true);
    pl_arena_end(&p->scratch, mark);

    return PL_OK;
}
