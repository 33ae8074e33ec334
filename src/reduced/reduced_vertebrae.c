// The hybrid model of Bieze et al. 2018: plates (vertebrae), and between two of them a parallel joint. Its
// passive leg is a universal and a prismatic joint, roll a about x, then pitch b about y, then the length q
// along the new axis, which lets the upper plate neither shear nor twist:
//   R = Rx(a) Ry(b),  p = q R e_z.
// Three limbs between universal joints below and spherical ones above have the lengths
//   q_n = | p + R A_n - B_n |,  A_n, B_n where their paths meet the plates,
// and each is a given share of its actuator's length. Forward: three equations for (a, b, q) in every gap, by
// Newton; derivatives by the implicit function theorem. Inverse of a gap: the formula above.
#include "reduced/reduced_impl.h"
#include "robot/robot_kind.h"
#include "solver/solver.h"
#include "robot/robot_def.h"

// x and y of B_n on the plate below and A_n on the one above
typedef struct gap_ends {
    double low[3][2], high[3][2];
} gap_ends;

// One gap between two plates, at rest.
typedef struct gap_data {
    int section;
    double share; // of the section's lengths
    gap_ends ends;
    double rest;         // mm, length at rest
    double limb_rest[3]; // mm, at rest
} gap_data;

typedef struct vertebrae_data {
    gap_data *gap;
    pl_gap *found;  // of a solve in progress
    int (*limb)[3]; // per section: the actuator of each limb
} vertebrae_data;

// Limb lengths and their derivatives by (roll, pitch, length).
static void gap_limbs(const pl_gap *g, const gap_ends *ends, double limb[3], double J[9])
{
    const double ca = cos(g->roll), sa = sin(g->roll), cb = cos(g->pitch), sb = sin(g->pitch);
    for (int n = 0; n < 3; ++n) {
        const double x = ends->high[n][0], y = ends->high[n][1], q = g->length;
        // u = Ry(b) (x, y, q), v = Rx(a) u - B
        const double u[3] = {cb * x + sb * q, y, -sb * x + cb * q};
        const double v[3] = {u[0] - ends->low[n][0], ca * u[1] - sa * u[2] - ends->low[n][1],
                             sa * u[1] + ca * u[2]};
        limb[n] = pl_norm3(v);

        if (J) {
            const double by_roll[3] = {0, -sa * u[1] - ca * u[2], ca * u[1] - sa * u[2]};
            const double du[3] = {-sb * x + cb * q, 0, -cb * x - sb * q};
            const double by_pitch[3] = {du[0], -sa * du[2], ca * du[2]};
            const double by_length[3] = {sb, -sa * cb, ca * cb};
            J[3 * n] = pl_dot3(v, by_roll) / limb[n];
            J[3 * n + 1] = pl_dot3(v, by_pitch) / limb[n];
            J[3 * n + 2] = pl_dot3(v, by_length) / limb[n];
        }
    }
}

// Newton on limb(a, b, q) = given, from *gap; false: no convergence, or the plates would interpenetrate (q <=
// 0).
static bool gap_solve(const double limb[3], const gap_ends *ends, pl_gap *gap)
{
    // size of the joint, for tolerances
    double size = gap->length;
    for (int n = 0; n < 3; ++n) {
        size = fmax(size, gap->length + hypot(ends->low[n][0], ends->low[n][1]) +
                              hypot(ends->high[n][0], ends->high[n][1]));
    }

    for (int iteration = 0; iteration < 50; ++iteration) {
        double now[3], J[9], step[3];
        gap_limbs(gap, ends, now, J);
        for (int n = 0; n < 3; ++n) {
            step[n] = limb[n] - now[n];
        }
        if (!pl_dense_solve(3, J, step, 1)) {
            return false;
        }
        // a plate does not turn by more than half a radian at once
        const double turn = fmax(fabs(step[0]), fabs(step[1])), f = turn > 0.5 ? 0.5 / turn : 1;
        gap->roll += f * step[0];
        gap->pitch += f * step[1];
        gap->length += f * step[2];
        // far beyond any joint: it diverges
        if (!(fabs(gap->roll) < 3 && fabs(gap->pitch) < 3 && gap->length > -size &&
              gap->length < 1e6 * size)) {
            return false;
        }

        if (turn < 1e-14 + 1e-15 * size && fabs(step[2]) < 1e-14 * size) {
            return gap->length > 0;
        }
        // curved functions can stall at rounding level
        if (iteration > 8 && turn < 1e-12 && fabs(step[2]) < 1e-12 * size) {
            return gap->length > 0;
        }
    }

    return false;
}

// Three joints at 120 degrees on circles of radius low and high, mm.
static gap_ends gap_circles(double low, double high, double first)
{
    gap_ends ends;
    for (int n = 0; n < 3; ++n) {
        const double c = cos(first + 2 * PL_PI * n / 3), s = sin(first + 2 * PL_PI * n / 3);
        ends.low[n][0] = low * c;
        ends.low[n][1] = low * s;
        ends.high[n][0] = high * c;
        ends.high[n][1] = high * s;
    }

    return ends;
}

void pl_gap_limbs(const pl_gap *gap, double low, double high, double angle, double limb[3])
{
    const gap_ends ends = gap_circles(low, high, angle);
    gap_limbs(gap, &ends, limb, NULL);
}

bool pl_gap_solve(const double limb[3], double low, double high, double angle, pl_gap *gap)
{
    const gap_ends ends = gap_circles(low, high, angle);
    return gap_solve(limb, &ends, gap);
}

// R = Rx(roll) Ry(pitch).
static void gap_rotation(const pl_gap *g, double R[9])
{
    const double ca = cos(g->roll), sa = sin(g->roll), cb = cos(g->pitch), sb = sin(g->pitch);
    const double Q[9] = {cb, 0, sb, sa * sb, ca, -sa * cb, -ca * sb, sa, ca * cb};
    memcpy(R, Q, sizeof Q);
}

// Each section has three actuators that run along all of it, and no other.
static pl_status vertebrae_limbs(pl_reduced_model *m, vertebrae_data *v, pl_error *err)
{
    for (int k = 0; k < m->section_count; ++k) {
        const reduced_section *s = &m->section[k];
        int count = 0;

        for (int a = 0; a < m->actuator_count; ++a) {
            const reduced_path *p = &m->actuator[a].path;
            const bool here = fabs(p->span[0] - s->start) < 1e-6 * m->length &&
                              fabs(p->span[1] - s->start - s->length) < 1e-6 * m->length;
            if (here && count < 3) {
                v->limb[k][count] = a;
            }
            count += here;
        }

        if (count != 3) {
            return pl_fail(err, PL_BAD_INPUT,
                           "model: section '%s' has %d actuators along all of it, vertebrae need exactly 3",
                           s->name, count);
        }
    }

    return m->actuator_count == 3 * m->section_count
               ? PL_OK
               : pl_fail(err, PL_BAD_INPUT, "model: %d actuators for %d sections, vertebrae need 3 in each",
                         m->actuator_count, m->section_count);
}

// Where an actuator's path meets the plate at s; paths run along all of their section, to rounding.
static void vertebrae_end(const reduced_actuator *a, double s, double end[2])
{
    double d[3], slope[3];
    reduced_path_at(&a->path, fmin(fmax(s, a->path.span[0]), a->path.span[1]), d, slope);
    end[0] = d[0];
    end[1] = d[1];
}

// Gaps share a section's length at rest as they share its actuators, so that it is straight at rest.
static void vertebrae_gaps(pl_reduced_model *m, vertebrae_data *v)
{
    int at = 0;
    for (int k = 0; k < m->section_count; ++k) {
        const reduced_section *s = &m->section[k];
        double start = s->start, total[3] = {0};

        for (int j = 0; j < s->pieces; ++j, ++at) {
            gap_data *g = &v->gap[at];
            const double end = j + 1 == s->pieces ? s->start + s->length : start + s->share[j] * s->length;
            *g = (gap_data){.section = k, .share = s->share[j], .rest = end - start};
            for (int n = 0; n < 3; ++n) {
                vertebrae_end(&m->actuator[v->limb[k][n]], start, g->ends.low[n]);
                vertebrae_end(&m->actuator[v->limb[k][n]], end, g->ends.high[n]);
            }

            // limb lengths of the straight gap; their sum is the actuator's length at rest
            const pl_gap rest = {.length = g->rest};
            gap_limbs(&rest, &g->ends, g->limb_rest, NULL);
            for (int n = 0; n < 3; ++n) {
                total[n] += g->limb_rest[n];
            }
            m->station_s[at + 1] = start = end;
        }

        for (int n = 0; n < 3; ++n) {
            m->actuator[v->limb[k][n]].rest = total[n];
        }
    }
}

// Stations are the plates. Refused: sensors by length with paths of their own, and sections without three
// limbs.
static pl_status vertebrae_create(pl_reduced_model *m, pl_error *err)
{
    int gaps = 0;
    for (int k = 0; k < m->section_count; ++k) {
        gaps += m->section[k].pieces;
    }

    vertebrae_data *v = REDUCED_TAKE(m, vertebrae_data, 1);
    m->kind_data = v;
    m->rigid = "vertebrae are geometry without a stiffness; use rod, beam or constant_curvature";
    m->station_count = gaps + 1;
    m->station_s = REDUCED_TAKE(m, double, gaps + 1);
    if (!v || !m->station_s) {
        return pl_fail_memory(err, "the vertebrae");
    }
    v->gap = REDUCED_TAKE(m, gap_data, gaps);
    v->limb = reduced_take(m, (size_t)m->section_count, sizeof *v->limb);
    v->found = REDUCED_TAKE(m, pl_gap, gaps);
    if (!v->gap || !v->limb || !v->found) {
        return pl_fail_memory(err, "the vertebrae");
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (pl_sensor_is_line(m->sensor[i].kind)) {
            return pl_fail(err, PL_BAD_INPUT, "sensor '%s': vertebrae measure only the lengths of actuators",
                           m->info.sensor_name[i]);
        }
    }

    const pl_status status = vertebrae_limbs(m, v, err);
    if (status == PL_OK) {
        vertebrae_gaps(m, v);
        m->own_count = 3 * (size_t)gaps;
    }

    return status;
}

// Geometry alone tells no forces.
static void vertebrae_unknown(pl_reduced_model *m)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        m->answer.effort[a] = NAN;
    }
    *m->answer.energy = NAN;
}

static void vertebrae_reset(pl_reduced_model *m)
{
    const vertebrae_data *v = m->kind_data;
    pl_gap *gap = (pl_gap *)m->own;
    for (int i = 0; i + 1 < m->station_count; ++i) {
        gap[i] = (pl_gap){.length = v->gap[i].rest};
    }
    vertebrae_unknown(m);
}

// The length of an actuator; idle ones keep their rest length, because a joint needs three.
static double vertebrae_length(const pl_reduced_model *m, int a)
{
    return isnan(m->value[a]) ? m->actuator[a].rest
                              : pl_drive_target(m->actuator[a].drive, m->actuator[a].rest, m->value[a]);
}

// Shares refer to lengths over the rest length: at rest every limb has its rest length, also in a cone.
static void vertebrae_targets(const pl_reduced_model *m, const gap_data *g, double limb[3])
{
    const vertebrae_data *v = m->kind_data;
    for (int n = 0; n < 3; ++n) {
        const int a = v->limb[g->section][n];
        limb[n] = g->limb_rest[n] + g->share * (vertebrae_length(m, a) - m->actuator[a].rest);
    }
}

// The gaps that have the limbs asked for, each from where it is or from rest; false when one has none.
static bool vertebrae_find(pl_reduced_model *m)
{
    const vertebrae_data *v = m->kind_data;
    const pl_gap *gap = (const pl_gap *)m->own;
    bool all = true;

    for (int i = 0; all && i + 1 < m->station_count; ++i) {
        const gap_data *g = &v->gap[i];
        double limb[3];
        vertebrae_targets(m, g, limb);
        v->found[i] = gap[i];
        if (!gap_solve(limb, &g->ends, &v->found[i])) {
            v->found[i] = (pl_gap){.length = g->rest};
            all = gap_solve(limb, &g->ends, &v->found[i]);
        }
    }

    return all;
}

// Where a gap has no such limbs the whole spine stays where it was, with the values it had.
static void vertebrae_solve(pl_reduced_model *m, pl_solve_report *report)
{
    const vertebrae_data *v = m->kind_data;
    pl_gap *gap = (pl_gap *)m->own;

    if (!vertebrae_find(m)) {
        // values of the state that stays: idle actuators stay idle if they are at rest
        report->outcome = PL_INFEASIBLE;
        for (int a = 0; a < m->actuator_count; ++a) {
            const reduced_actuator *act = &m->actuator[a];
            const bool rests = fabs(m->answer.measure[a] - act->rest) < 1e-12 * act->rest;
            m->value[a] = rests && isnan(m->value[a])
                              ? NAN
                              : pl_drive_value(act->drive, act->rest, m->answer.measure[a]);
        }

        return;
    }

    // place the plates from the base on
    for (int i = 0; i + 1 < m->station_count; ++i) {
        double R[9];
        gap[i] = v->found[i];
        gap_rotation(&gap[i], R);
        const reduced_frame *from = &m->frame[i];
        reduced_frame *to = &m->frame[i + 1];
        pl_mul33(from->R, R, to->R);
        for (int k = 0; k < 3; ++k) {
            to->r[k] = from->r[k] + gap[i].length * to->R[3 * k + 2];
        }
    }

    for (int a = 0; a < m->actuator_count; ++a) {
        m->answer.measure[a] = vertebrae_length(m, a);
    }
    vertebrae_unknown(m);
}

// The points of a spine are its plates.
static void vertebrae_shape(pl_reduced_model *m)
{
    for (int i = 0; i < m->point_count; ++i) {
        memcpy(m->answer.point + 3 * i, m->frame[i].r, sizeof m->frame[i].r);
        memcpy(m->answer.point_R + 9 * i, m->frame[i].R, sizeof m->frame[i].R);
    }
}

// x = (da, db, dq) by the three limb lengths: the inverse of J, columns per limb.
static void vertebrae_gap_columns(const pl_reduced_model *m, int i, double x[9])
{
    const vertebrae_data *v = m->kind_data;
    const gap_data *g = &v->gap[i];
    const pl_gap *gap = (const pl_gap *)m->own + i;
    double limb[3], J[9];

    gap_limbs(gap, &g->ends, limb, J);

    // the identity as right sides
    for (int n = 0; n < 9; ++n) {
        x[n] = n % 4 == 0;
    }
    if (!pl_dense_solve(3, J, x, 3)) {
        memset(x, 0, 9 * sizeof *x);
    }
}

// Twist of everything above a gap: w = R0 (da e_x + db Rx e_y), dp = w x p + dq R e_z.
static void vertebrae_differentiate(pl_reduced_model *m, bool points, pl_jacobian_report *report)
{
    (void)report;
    const vertebrae_data *v = m->kind_data;
    const int A = m->actuator_count;
    double *T = m->by.twist;
    memset(T, 0, (size_t)(6 * m->station_count * A) * sizeof *T);

    for (int i = 0; i + 1 < m->station_count; ++i) {
        const gap_data *g = &v->gap[i];
        const pl_gap *gap = (const pl_gap *)m->own + i;
        const double *R0 = m->frame[i].R, *R1 = m->frame[i + 1].R;
        const double axis_b[3] = {0, cos(gap->roll), sin(gap->roll)};
        double arm[3], x[9], ex[3] = {R0[0], R0[3], R0[6]}, ey[3];

        // axes of roll and pitch in the world, and the leg
        pl_mulv3(R0, axis_b, ey);
        pl_sub3(m->frame[i + 1].r, m->frame[i].r, arm);
        vertebrae_gap_columns(m, i, x);
        double *from = T + 6 * i * A, *to = from + 6 * A;
        // what lies below carries the plate along
        for (int a = 0; a < A; ++a) {
            const double w[3] = {from[3 * A + a], from[4 * A + a], from[5 * A + a]};
            double lever[3];
            pl_cross3(w, arm, lever);
            for (int k = 0; k < 3; ++k) {
                to[k * A + a] = from[k * A + a] + lever[k];
                to[(3 + k) * A + a] = w[k];
            }
        }

        // what this gap's own limbs add
        for (int n = 0; n < 3; ++n) {
            const int a = v->limb[g->section][n];
            const double f =
                isnan(m->value[a]) ? 0 : g->share * pl_drive_slope(m->actuator[a].drive, m->actuator[a].rest);
            double w[3], lever[3];
            for (int k = 0; k < 3; ++k) {
                w[k] = f * (x[n] * ex[k] + x[3 + n] * ey[k]);
            }
            pl_cross3(w, arm, lever);
            for (int k = 0; k < 3; ++k) {
                to[k * A + a] += lever[k] + f * x[6 + n] * R1[3 * k + 2];
                to[(3 + k) * A + a] += w[k];
            }
        }
    }

    for (int i = 0; points && i < m->point_count; ++i) {
        memcpy(m->by.point + 3 * i * A, T + 6 * i * A, 3 * (size_t)A * sizeof *T);
    }

    for (int a = 0; a < A * A; ++a) {
        const int i = a / A;
        m->by.effort[a] = NAN;
        m->by.measure[a] =
            i == a % A && !isnan(m->value[i]) ? pl_drive_slope(m->actuator[i].drive, m->actuator[i].rest) : 0;
    }

    memset(m->by.energy, 0, (size_t)A * sizeof *m->by.energy);
}

const reduced_ops reduced_vertebrae_ops = {vertebrae_create,        vertebrae_solve, vertebrae_shape,
                                           vertebrae_differentiate, vertebrae_reset, NULL};
