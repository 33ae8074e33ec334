// What a state means: measures, efforts, markers, sensors, reactions, and the independent check of a
// residual.
#include "statics/statics_impl.h"

static double result_effort(pl_statics *s, const pl_state *state, int i)
{
    if (!s->robot->actuator[i].growth) {
        return state->multiplier[i];
    }
    statics_grow_to(s, state);
    statics_elastic(s, state->x, NULL, NULL); // pressures, local ratios
    return statics_growth_effort(s, i, state->x, state->load, NULL, 0, NULL);
}

pl_actuator_result pl_statics_actuator(pl_statics *s, const pl_state *state, int i)
{
    const pl_actuator *a = &s->robot->actuator[i];
    pl_actuator_result out = {.measure = pl_functional_value(&s->drive[i].h, state->x)};
    out.ratio = out.measure / a->rest;
    out.effort = result_effort(s, state, i);
    if (a->kind == PL_FILM && a->thickness > 0) {
        out.effort *=
            out.measure / (a->rest * a->thickness); // -dPhi/dA to a stress over the current thickness
    }
    out.slack = a->kind == PL_CABLE && !a->growth && state->multiplier[i] <= 0;
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
            c0[i] += patch->weight[j] * s->mesh.position[3 * (int64_t)patch->node[j] + i];
            c1[i] += patch->weight[j] * x[3 * (int64_t)patch->node[j] + i];
        }
    }
    memset(A, 0, 9 * sizeof *A);
    for (int32_t j = 0; j < patch->count; ++j) {
        const int64_t v = 3 * (int64_t)patch->node[j];
        for (int i = 0; i < 9; ++i) {
            A[i] += patch->weight[j] * (x[v + i / 3] - c1[i / 3] / total) *
                    (s->mesh.position[v + i % 3] - c0[i % 3] / total);
        }
    }
}

// The rotation R that maximises tr(R^T A) = the orthogonal factor of A with det +1, also when A has rank 2.
void statics_rotation_of(const double A[9], double R[9])
{
    double C[9], norm = 0, scale = 0;
    pl_cofactor3(A, C);
    for (int i = 0; i < 9; ++i) {
        norm += C[i] * C[i];
        scale += A[i] * A[i];
    }
    // cof A fills the missing direction of a flat patch
    double M[9];
    const bool flat = norm > 0 && !(fabs(pl_det3(A)) > 1e-9 * scale * sqrt(scale));
    const double k = flat ? sqrt(scale / norm) : 0;
    for (int i = 0; i < 9; ++i) {
        M[i] = A[i] + k * C[i];
    }
    pl_polar3(M, R);
}

pl_marker_result pl_statics_marker(pl_statics *s, const pl_state *state, int i)
{
    const pl_marker *marker = &s->robot->marker[i];
    pl_marker_result out = {.has_rotation = marker->frame};
    double rest[3], offset[3];
    memcpy(offset, marker->offset, sizeof offset);
    statics_point(&marker->point, state->x, out.position);
    statics_point(&marker->point, s->mesh.position, rest);
    if (marker->frame) {
        double A[9];
        statics_marker_moment(s, marker, state->x, A);
        statics_rotation_of(A, out.rotation);
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
    switch (sensor->kind) {
    case PL_SENSOR_LENGTH:
        return statics_string(sensor->guide, sensor->guide_count, state->x);
    case PL_SENSOR_VOLUME:
        return pl_functional_value(&s->drive[sensor->actuator].h, state->x);
    default:
        return result_effort(s, state, sensor->actuator);
    }
}

// Nothing reports a reading so far.
int pl_statics_reading_count(const pl_statics *s)
{
    (void)s;
    return 0;
}

pl_reading_info pl_statics_reading_info(const pl_statics *s, int i)
{
    (void)s;
    (void)i;
    return (pl_reading_info){"", "", "", ""};
}

double pl_statics_reading(pl_statics *s, const pl_state *state, int i)
{
    (void)s;
    (void)state;
    (void)i;
    return NAN;
}

double pl_statics_elastic(pl_statics *s, const pl_state *state, double *gradient)
{
    statics_grow_to(s, state);
    return statics_elastic(s, state->x, gradient, NULL);
}

double pl_statics_elastic_rate(pl_statics *s, const pl_state *state, int command)
{
    double sum = 0;
    statics_grow_to(s, state);
    statics_elastic(s, state->x, NULL, NULL); // pressures, local ratios
    for (int i = 0; i < s->drive_count; ++i) {
        const pl_actuator *a = &s->robot->actuator[i];
        if (!a->growth || a->command != command || isnan(state->command[command])) {
            continue;
        }
        double per_value = 1;
        if (a->table.count > 0) {
            pl_monotone_value(&a->table, pl_actuator_value(a, state->command[command]), &per_value);
        }
        sum += statics_growth_rate(s, i, state->x, state->load) * per_value *
               pl_command_slope(a->factor, a->one_sided, state->command[command]);
    }
    return sum;
}

int pl_statics_cable_points(pl_statics *s, const pl_state *state, int actuator, double *point, int room)
{
    const pl_actuator *a = &s->robot->actuator[actuator];
    for (int k = 0; k < a->guide_count && k < room; ++k) {
        statics_point(&a->guide[k], state->x, point + 3 * k);
    }
    return a->guide_count;
}

// Adds what loads and actuators do at a state, with its own multipliers, to the elements' forces in
// s->g_full.
static void result_add_loads(pl_statics *s, const pl_state *state)
{
    for (int64_t i = 0; i < 3 * (int64_t)s->mesh.vertex_count; ++i) {
        s->g_full[i] -= state->load * (s->has_open ? s->dead_still : s->dead)[i];
    }
    for (int i = 0; i < s->load_term_count; ++i) {
        pl_functional_gradient(&s->load_term[i].h, state->x, -state->load * s->load_term[i].factor,
                               s->g_full);
    }
    for (int i = 0; i < s->drive_count; ++i) {
        pl_functional_gradient(&s->drive[i].h, state->x, s->drive[i].sign * state->multiplier[i], s->g_full);
    }
}

pl_status pl_statics_reactions(pl_statics *s, const pl_state *state, pl_reaction *reaction)
{
    statics_grow_to(s, state);
    statics_elastic(s, state->x, s->g_full, NULL);
    result_add_loads(s, state);
    statics_pressure_correct(s, state->x, state->load, s->g_full);
    memset(reaction, 0, (size_t)s->robot->support_count * sizeof *reaction);
    for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
        for (int axis = 0; axis < 3; ++axis) {
            const int32_t k = s->support_of[3 * (int64_t)v + axis];
            if (k < 0) {
                continue;
            }
            double f[3] = {0}, m[3];
            f[axis] = s->g_full[3 * (int64_t)v + axis];
            pl_cross3(state->x + 3 * (int64_t)v, f, m);
            for (int i = 0; i < 3; ++i) {
                reaction[k].force[i] += f[i];
                reaction[k].moment[i] += m[i];
            }
        }
    }
    return PL_OK;
}

// Forces from the stresses point by point, in another order than the kernels and without their buffers: what
// the check stands on. The formulas of the laws are shared.
static void check_forces(pl_statics *s, const double *x, double *f)
{
    pl_elements_energy(s->elements, x, NULL, NULL); // pressures
    memset(f, 0, 3 * (size_t)s->mesh.vertex_count * sizeof *f);
    for (int b = 0; b < s->elements->block_count; ++b) {
        const pl_block *block = &s->elements->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                double F[9], P[9];
                pl_elements_stress(s->elements, block, l, q, x, F, P);
                const double w = block->weight[q * PL_LANES + l];
                for (int a = 0; a < block->node_count; ++a) {
                    const double *g =
                        block->gradient + (int64_t)(q * block->node_count + a) * 3 * PL_LANES + l;
                    for (int i = 0; i < 3; ++i) {
                        f[3 * (int64_t)block->node[a][l] + i] +=
                            w *
                            (P[3 * i] * g[0] + P[3 * i + 1] * g[PL_LANES] + P[3 * i + 2] * g[2 * PL_LANES]);
                    }
                }
            }
        }
    }
}

pl_status pl_statics_check(pl_statics *s, const pl_state *state, double *residual, double *largest_force,
                           bool *inverted, pl_error *err)
{
    if (state->vertex_count != s->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }
    statics_grow_to(s, state);
    check_forces(s, state->x, s->g_full);
    statics_grown_energy(s, state->x, s->g_full);
    double largest = 0;
    for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
        largest = fmax(largest, pl_norm3(s->g_full + 3 * (int64_t)v));
    }
    result_add_loads(s, state);
    statics_pressure_correct(s, state->x, state->load, s->g_full);
    statics_gather(s, s->g_full, state->x, s->work);
    *residual = statics_largest(s, s->work, true);
    *largest_force = largest;
    *inverted = pl_elements_bound(s->elements, state->x, NULL, NULL) <= 0;
    return PL_OK;
}
