// Constant curvature: every section is a circular arc (a cone: a few arcs in series) with three unknowns, the
// elongation e and the rotation vector (T1, T2) of its end. An actuator at the offset d along a piece has
//   length = h + e share + T1 d_y weight - T2 d_x weight,
// linear in the unknowns, so that the shape follows from the commands by one constant matrix: the least
// elastic energy under the lengths asked for. Three lengths in a section decide it alone, whatever the
// stiffness. In a cone every arc takes its part of an actuator's length, hence turns as 1 / diameter.
#include "reduced/reduced_cc.h"
#include "robot/robot_kind.h"
#include "solver/solver.h"
#include "robot/robot_def.h"

// Pieces between stations with their share of a section's elongation and of its rotation.
static void cc_piece_create(const pl_reduced_model *m, cc_data *c)
{
    for (int i = 0; i + 1 < m->station_count; ++i) {
        const double a = m->station_s[i], b = m->station_s[i + 1], mid = 0.5 * (a + b);
        const int k = reduced_section_at(m, mid);
        const double share = (b - a) / m->section[k].length;
        c->piece[i] = (cc_piece){k, b - a, share, share / reduced_diameter(m, mid)};
    }

    // weights of a section add up to 1: they are proportional to h / diameter
    for (int k = 0; k < m->section_count; ++k) {
        double sum = 0;
        for (int i = 0; i + 1 < m->station_count; ++i) {
            sum += c->piece[i].section == k ? c->piece[i].weight : 0;
        }
        for (int i = 0; i + 1 < m->station_count; ++i) {
            c->piece[i].weight /= c->piece[i].section == k ? sum : 1;
        }
    }
}

// The derivative of a path's length by the unknowns; `push`, `bend` weigh stretching and bending. Adds to
// `row`; returns the length at rest, mm.
static double cc_row(const pl_reduced_model *m, const cc_data *c, const reduced_path *path, double push,
                     double bend, double *row)
{
    double rest = 0;
    for (int i = 0; i + 1 < m->station_count; ++i) {
        double d[3], slope[3];
        if (!reduced_path_at(path, 0.5 * (m->station_s[i] + m->station_s[i + 1]), d, slope)) {
            continue;
        }
        double *r = row + 3 * c->piece[i].section;
        rest += c->piece[i].h;
        r[0] += push * c->piece[i].share;
        r[1] += bend * c->piece[i].weight * d[1];
        r[2] -= bend * c->piece[i].weight * d[0];
    }

    return rest;
}

// Diagonal stiffness of elongation (N/mm) and rotation (N mm). Where none is given, lengths alone decide;
// that of a solid cylinder chooses among what they leave open.
static void cc_stiffness(const pl_reduced_model *m, cc_data *c)
{
    for (int k = 0; k < m->section_count; ++k) {
        const reduced_section *s = &m->section[k];
        const double D = 0.5 * (s->diameter[0] + s->diameter[1]), EA = s->EA > 0 ? s->EA : 1;
        c->has_stiffness = c->has_stiffness && s->EA > 0 && s->EI[0] > 0 && s->EI[1] > 0;
        c->K[3 * k] = EA / s->length;

        for (int i = 0; i + 1 < m->station_count; ++i) {
            for (int b = 0; c->piece[i].section == k && b < 2; ++b) {
                // EI / EA of a solid circle: (pi D^4 / 64) / (pi D^2 / 4) = D^2 / 16
                const double EI = s->EI[b] > 0 ? s->EI[b] : EA * D * D / 16;
                c->K[3 * k + 1 + b] += EI * c->piece[i].weight * c->piece[i].weight / c->piece[i].h;
            }
        }
    }
}

// A cable's tension works against its length, a pressure with its volume.
double cc_sign(const pl_reduced_model *m, int a)
{
    return pl_actuator_kind_get(m->actuator[a].kind)->sign;
}

// An actuator that holds a length or volume.
bool cc_is_held(const pl_reduced_model *m, const cc_data *c, int a)
{
    return pl_drive_is_geometric(m->actuator[a].drive) && (!c->idle[a] || m->actuator[a].idle_hold);
}

// Rows of actuators that hold nothing get `scale` on the diagonal: their effort is prescribed, and the matrix
// stays well conditioned.
void cc_matrix(const pl_reduced_model *m, const cc_data *c, const double *H, double *S)
{
    const int U = c->unknowns, A = m->actuator_count, n = U + A;
    double scale = 0;

    memset(S, 0, (size_t)n * (size_t)n * sizeof *S);

    // K - H
    for (int i = 0; i < U; ++i) {
        for (int j = 0; H && j < U; ++j) {
            S[i * n + j] = -H[i * U + j];
        }
        S[i * n + i] += c->K[i];
        scale = fmax(scale, c->K[i]);
    }

    // held measures: constraint rows and the efforts that enforce them
    for (int a = 0; a < A; ++a) {
        const double *R = c->row + a * U, sign = cc_sign(m, a);
        for (int i = 0; cc_is_held(m, c, a) && i < U; ++i) {
            S[i * n + U + a] = sign * R[i];
            S[(U + a) * n + i] = R[i];
        }

        S[(U + a) * n + U + a] = cc_is_held(m, c, a) ? 0 : scale;
    }
}

// Solves [K R^T; R 0] [q; -f] = [forces; lengths] for the pattern of idle actuators: the map from values to
// unknowns and efforts. False when the lengths contradict each other.
bool cc_map(const pl_reduced_model *m, const cc_data *c, const double *H, double *map)
{
    const int U = c->unknowns, A = m->actuator_count, n = U + A, w = A + 1;
    double *S = c->work, *b = c->side;

    // one right side per value, and one for the constant part
    cc_matrix(m, c, H, S);
    memset(b, 0, (size_t)n * (size_t)w * sizeof *b);
    for (int a = 0; a < A; ++a) {
        const reduced_actuator *act = &m->actuator[a];
        const double *R = c->row + a * U;
        const bool idle = c->idle[a];

        if (cc_is_held(m, c, a)) {
            b[(U + a) * w + a] = idle ? 0 : pl_drive_slope(act->drive, act->rest);
            b[(U + a) * w + A] = (idle ? act->rest : pl_drive_target(act->drive, act->rest, 0)) - act->rest;
            continue;
        }

        const bool driven = !idle && !pl_drive_is_geometric(act->drive);
        for (int i = 0; i < U && driven; ++i) {
            b[i * w + a] = -cc_sign(m, a) * R[i];
        }
        b[(U + a) * w + a] = driven ? S[(U + a) * n + U + a] : 0;
    }

    if (!pl_dense_solve(n, S, b, w)) {
        return false;
    }

    // lengths that nearly contradict each other pass the solver with absurd numbers
    for (int i = 0; i < n * w; ++i) {
        if (!(fabs(b[i]) < 1e9)) {
            return false;
        }
    }

    memcpy(map, b, (size_t)n * (size_t)w * sizeof *b);

    return true;
}

// All arrays of the kind; sizes follow from the stations and actuators.
static pl_status cc_memory(pl_reduced_model *m, cc_data *c, pl_error *err)
{
    const size_t U = (size_t)c->unknowns, A = (size_t)m->actuator_count, n = U + A;
    c->piece = REDUCED_TAKE(m, cc_piece, m->station_count);
    c->K = REDUCED_TAKE(m, double, U);
    c->row = REDUCED_TAKE(m, double, (A + (size_t)m->sensor_count) * U);
    c->map = REDUCED_TAKE(m, double, n *(A + 1));
    c->work = REDUCED_TAKE(m, double, n *n + 6 * U);
    c->side = REDUCED_TAKE(m, double, n *(A + 1));
    c->idle = REDUCED_TAKE(m, bool, A);
    m->point_count = (m->station_count - 1) * c->sub + 1;
    m->point_s = REDUCED_TAKE(m, double, m->point_count);

    return c->piece && c->K && c->row && c->map && c->work && c->side && c->idle && m->point_s &&
                   cc_load_memory(m, c)
               ? PL_OK
               : pl_fail_memory(err, "the constant-curvature model");
}

// Stations, stiffness and the constant map for the case that no actuator is idle.
static pl_status cc_create(pl_reduced_model *m, pl_error *err)
{
    cc_data *c = REDUCED_TAKE(m, cc_data, 1);
    pl_status status = c ? reduced_line(m, err) : pl_fail_memory(err, "the constant-curvature model");

    if (status != PL_OK) {
        return status;
    }
    m->kind_data = c;
    c->has_stiffness = true;
    c->unknowns = 3 * m->section_count;

    // at least eight points per section are drawn
    c->sub = (int)fmax(1, ceil(8.0 * m->section_count / (m->station_count - 1)));
    status = cc_memory(m, c, err);
    if (status != PL_OK) {
        return status;
    }

    // pieces and stiffness
    cc_piece_create(m, c);
    cc_stiffness(m, c);
    m->rigid =
        c->has_stiffness ? NULL : "arcs bend under forces only with a stiffness; give young, or EA and EI";

    // points of the centre line
    for (int i = 0; i < m->point_count - 1; ++i) {
        const int at = i / c->sub;
        m->point_s[i] = m->station_s[at] + c->piece[at].h * (i % c->sub) / c->sub;
    }

    m->point_s[m->point_count - 1] = m->length;

    // rows of actuators and of length sensors: constant, because lengths are linear in the unknowns
    for (int a = 0; a < m->actuator_count; ++a) {
        reduced_actuator *act = &m->actuator[a];
        const double area = pl_actuator_encloses(act->kind) ? act->area : 1;
        const double *eff = act->effectiveness;
        const bool chamber = pl_actuator_encloses(act->kind);
        act->rest = area * cc_row(m, c, &act->path, chamber ? area * eff[0] : 1, chamber ? area * eff[1] : 1,
                                  c->row + a * c->unknowns);
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (pl_sensor_is_line(m->sensor[i].kind)) {
            cc_row(m, c, &m->sensor[i].path, 1, 1, c->row + (m->actuator_count + i) * c->unknowns);
        }
    }

    m->own_count = (size_t)c->unknowns + 1;

    // the map must exist: three lengths in one section decide it, a fourth contradicts
    if (!cc_map(m, c, NULL, c->map)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "model: the prescribed lengths of the actuators are inconsistent; at most three can "
                       "be prescribed in a section, not in one plane with its axis");
    }

    c->mapped = true;

    return PL_OK;
}

// p = length (C1 T2, -C1 T1, S1), R = exp(T1, T2, 0) of an arc that starts along z.
static void cc_arc(double length, double T1, double T2, double p[3], double R[9])
{
    const reduced_trig t = reduced_trig_of(T1 * T1 + T2 * T2);
    p[0] = length * t.C1 * T2;
    p[1] = -length * t.C1 * T1;
    p[2] = length * t.S1;

    if (R) {
        R[0] = 1 - t.C1 * T2 * T2;
        R[1] = R[3] = t.C1 * T1 * T2;
        R[2] = t.S1 * T2;
        R[4] = 1 - t.C1 * T1 * T1;
        R[5] = -t.S1 * T1;
        R[6] = -t.S1 * T2;
        R[7] = t.S1 * T1;
        R[8] = 1 - t.C1 * (T1 * T1 + T2 * T2);
    }
}

// Frame of the end of an arc from that of its start; `to` may be `from`.
static void cc_compose(const reduced_frame *from, const double p[3], const double R[9], reduced_frame *to)
{
    double at[3];
    pl_mulv3(from->R, p, at);
    to->r[0] = from->r[0] + at[0];
    to->r[1] = from->r[1] + at[1];
    to->r[2] = from->r[2] + at[2];
    pl_mul33(from->R, R, to->R);
}

// rest + R q: a length (mm) or volume (mm^3).
static double cc_measure(const cc_data *c, const double *q, int row, double rest)
{
    const double *R = c->row + row * c->unknowns;
    for (int i = 0; i < c->unknowns; ++i) {
        rest += R[i] * q[i];
    }
    return rest;
}

// Measures, sensors and energy from the unknowns.
static void cc_answers(pl_reduced_model *m, const cc_data *c)
{
    const int U = c->unknowns, A = m->actuator_count;
    for (int a = 0; a < A; ++a) {
        m->answer.measure[a] = cc_measure(c, m->own, a, m->actuator[a].rest);
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (pl_sensor_is_line(m->sensor[i].kind)) {
            const double rest = m->sensor[i].path.span[1] - m->sensor[i].path.span[0];
            m->answer.sensor[i] = cc_measure(c, m->own, A + i, rest);
        }
    }

    *m->answer.energy = c->has_stiffness ? 0 : NAN; // unknown without a stiffness
    for (int i = 0; i < U; ++i) {
        *m->answer.energy += 0.5 * c->K[i] * m->own[i] * m->own[i];
    }
}

// The map for the actuators that are idle now; made again only when other actuators are idle than in the last
// call.
void cc_ready(pl_reduced_model *m, cc_data *c)
{
    bool same = c->mapped;
    for (int a = 0; a < m->actuator_count; ++a) {
        const bool idle = isnan(m->value[a]);
        same = same && c->idle[a] == idle;
        c->idle[a] = idle;
    }

    if (!same) {
        c->mapped = cc_map(m, c, NULL, c->map);
    }
}

// Row i of the map at the present values.
static double cc_mapped(const pl_reduced_model *m, const cc_data *c, int i)
{
    const int A = m->actuator_count;
    const double *G = c->map + i * (A + 1);
    double sum = G[A];

    for (int a = 0; a < A; ++a) {
        sum += c->idle[a] ? 0 : G[a] * m->value[a];
    }

    return sum;
}

bool cc_place(pl_reduced_model *m, const cc_data *c)
{
    bool positive = true;
    for (int i = 0; i + 1 < m->station_count; ++i) {
        const cc_piece *e = &c->piece[i];
        const double *q = m->own + 3 * e->section;
        const double length = e->h + e->share * q[0];
        double p[3], R[9];
        positive = positive && length > 0;
        cc_arc(length, e->weight * q[1], e->weight * q[2], p, R);
        cc_compose(&m->frame[i], p, R, &m->frame[i + 1]);
    }

    return positive;
}

// Forces move the result of the linear map by Newton's method (reduced_cc_load.c).
static void cc_solve(pl_reduced_model *m, pl_solve_report *report)
{
    cc_data *c = m->kind_data;
    const int U = c->unknowns;

    cc_ready(m, c);

    // without forces: linear in the values
    for (int i = 0; i < U; ++i) {
        m->own[i] = cc_mapped(m, c, i);
    }

    // efforts that hold a length are known only with a stiffness
    for (int a = 0; a < m->actuator_count; ++a) {
        const bool known = c->has_stiffness || !pl_drive_is_geometric(m->actuator[a].drive);
        m->answer.effort[a] = known ? cc_mapped(m, c, U + a) : NAN;
    }

    const bool positive = cc_place(m, c);
    cc_load_solve(m, c, report);

    // an arc of negative length is no shape
    if (!positive) {
        report->outcome = PL_INFEASIBLE;
    }
    cc_answers(m, c);
}

// Points of the drawn centre line: every arc divided into `sub` equal arcs.
static void cc_shape(pl_reduced_model *m)
{
    const cc_data *c = m->kind_data;
    for (int i = 0; i + 1 < m->station_count; ++i) {
        const cc_piece *e = &c->piece[i];
        const double *q = m->own + 3 * e->section, part = 1.0 / c->sub;
        double p[3], R[9];
        cc_arc((e->h + e->share * q[0]) * part, e->weight * q[1] * part, e->weight * q[2] * part, p, R);
        reduced_frame f = m->frame[i];

        for (int k = 0; k < c->sub; ++k) {
            memcpy(m->answer.point + 3 * (i * c->sub + k), f.r, sizeof f.r);
            memcpy(m->answer.point_R + 9 * (i * c->sub + k), f.R, sizeof f.R);
            cc_compose(&f, p, R, &f);
        }
    }

    // the last point is the tip itself
    const reduced_frame *tip = &m->frame[m->station_count - 1];
    memcpy(m->answer.point + 3 * (m->point_count - 1), tip->r, sizeof tip->r);
    memcpy(m->answer.point_R + 9 * (m->point_count - 1), tip->R, sizeof tip->R);
}

void cc_arc_derivative(double length, double T1, double T2, double dp[3][3], double w[3][3])
{
    const reduced_trig t = reduced_trig_of(T1 * T1 + T2 * T2);

    // dC1/ds and dS1/ds with s = T1^2 + T2^2
    const double dC = t.C2 - 0.5 * t.S2, dS = 0.5 * (t.S2 - t.C1), theta[3] = {T1, T2, 0};

    dp[0][0] = t.C1 * T2, dp[0][1] = -t.C1 * T1, dp[0][2] = t.S1;
    memset(w, 0, sizeof(double[3]));
    dp[1][0] = length * 2 * dC * T1 * T2;
    dp[1][1] = -length * (t.C1 + 2 * dC * T1 * T1);
    dp[1][2] = length * 2 * dS * T1;
    dp[2][0] = length * (t.C1 + 2 * dC * T2 * T2);
    dp[2][1] = -length * 2 * dC * T1 * T2;
    dp[2][2] = length * 2 * dS * T2;
    reduced_spin(&t, theta, (const double[3]){1, 0, 0}, w[1]);
    reduced_spin(&t, theta, (const double[3]){0, 1, 0}, w[2]);
}

void cc_piece_twist(const pl_reduced_model *m, const cc_data *c, int i, double part, const double at[3],
                    const double r[3], double *twist)
{
    const cc_piece *e = &c->piece[i];
    const double *q = m->own + 3 * e->section;
    const double scale[3] = {part * e->share, part * e->weight, part * e->weight};
    double dp[3][3], w[3][3], arm[3];

    // derivatives in the piece's start frame; `part` is the share of the arc up to the point
    cc_arc_derivative(part * (e->h + e->share * q[0]), part * e->weight * q[1], part * e->weight * q[2], dp,
                      w);
    pl_sub3(r, at, arm);

    // a point that the arc carries moves with its end and turns about it
    for (int j = 0; j < 3; ++j) {
        double p[3], v[3], lever[3];
        pl_mulv3(m->frame[i].R, dp[j], p);
        pl_mulv3(m->frame[i].R, w[j], v);
        pl_cross3(v, arm, lever);
        double *column = twist + 3 * e->section + j;
        for (int k = 0; k < 3; ++k) {
            column[k * c->unknowns] += scale[j] * (p[k] + lever[k]);
            column[(3 + k) * c->unknowns] += scale[j] * v[k];
        }
    }
}

// Unknowns and efforts by values: constant without forces, otherwise that of the present state.
static const double *cc_current_map(const pl_reduced_model *m, const cc_data *c)
{
    return cc_is_loaded(m, c) ? c->slope : c->map;
}

// The chain rule: rows x unknowns into rows x actuators.
static void cc_by_values(const pl_reduced_model *m, const cc_data *c, const double *by_q, int rows,
                         double *out)
{
    const double *map = cc_current_map(m, c);
    const int U = c->unknowns, A = m->actuator_count;

    for (int i = 0; i < rows; ++i) {
        for (int a = 0; a < A; ++a) {
            double sum = 0;
            for (int j = 0; j < U; ++j) {
                sum += by_q[i * U + j] * map[j * (A + 1) + a];
            }
            out[i * A + a] = sum;
        }
    }
}

// d_point of all drawn points.
static void cc_point_twists(pl_reduced_model *m, cc_data *c)
{
    double *twist = c->work;
    for (int n = 0; n < m->point_count; ++n) {
        const int piece = n / c->sub, full = n % c->sub ? piece : piece - 1;
        memset(twist, 0, 6 * (size_t)c->unknowns * sizeof *twist);
        // pieces below move the point as a rigid body, its own piece by the part up to it
        for (int i = 0; i < piece; ++i) {
            cc_piece_twist(m, c, i, 1, m->frame[i + 1].r, m->answer.point + 3 * n, twist);
        }
        if (full == piece) {
            cc_piece_twist(m, c, piece, (double)(n % c->sub) / c->sub, m->answer.point + 3 * n,
                           m->answer.point + 3 * n, twist);
        }

        cc_by_values(m, c, twist, 3, m->by.point + 3 * n * m->actuator_count);
    }
}

// Everything is a product of derivatives by the unknowns and of the map's derivative.
static void cc_differentiate(pl_reduced_model *m, bool points, pl_jacobian_report *report)
{
    cc_data *c = m->kind_data;
    const int U = c->unknowns, A = m->actuator_count;

    cc_ready(m, c);
    if (cc_is_loaded(m, c) && !cc_load_slope(m, c)) {
        report->residual = NAN;
    }

    double *twist = c->work; // 6 x unknowns

    // stations that carry a marker
    for (int k = 0; k < m->station_count; ++k) {
        if (!m->station_used[k]) {
            continue;
        }
        memset(twist, 0, 6 * (size_t)U * sizeof *twist);
        for (int i = 0; i < k; ++i) {
            cc_piece_twist(m, c, i, 1, m->frame[i + 1].r, m->frame[k].r, twist);
        }
        cc_by_values(m, c, twist, 6, m->by.twist + 6 * k * A);
    }

    if (points) {
        cc_point_twists(m, c);
    }

    // measures, length sensors, efforts
    cc_by_values(m, c, c->row, A, m->by.measure);
    cc_by_values(m, c, c->row + A * U, m->sensor_count, m->by.sensor);
    for (int a = 0; a < A; ++a) {
        const bool known = c->has_stiffness || !pl_drive_is_geometric(m->actuator[a].drive);
        for (int j = 0; j < A; ++j) {
            m->by.effort[a * A + j] = known ? cc_current_map(m, c)[(U + a) * (A + 1) + j] : NAN;
        }
    }

    // dE/dq = K q
    double *force = c->work;
    for (int i = 0; i < U; ++i) {
        force[i] = c->K[i] * m->own[i];
    }
    cc_by_values(m, c, force, 1, m->by.energy);
}

// The straight shape: unknowns are 0, the share of the forces lies behind them in the same block.
static void cc_reset(pl_reduced_model *m)
{
    cc_data *c = m->kind_data; // straight, as every model at rest
    c->load = m->own + c->unknowns;
    for (int a = 0; a < m->actuator_count; ++a) {
        const bool known = c->has_stiffness || !pl_drive_is_geometric(m->actuator[a].drive);
        m->answer.effort[a] = known ? 0 : NAN;
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (pl_sensor_is_line(m->sensor[i].kind)) {
            m->answer.sensor[i] = m->sensor[i].path.span[1] - m->sensor[i].path.span[0];
        }
    }

    *m->answer.energy = c->has_stiffness ? 0 : NAN;
}

const reduced_ops reduced_cc_ops = {cc_create, cc_solve, cc_shape, cc_differentiate, cc_reset, cc_respond};

// ---- one arc by itself
// l_i = s + T1 d_y,i - T2 d_x,i with d_i = D/2 (cos a_i, sin a_i), a_i = angle + 120 degrees i: the mean is
// s, and the first harmonic gives T, because the sums of cos^2 and sin^2 are 3/2.
pl_arc pl_arc_from_lengths(const double length[3], double diameter, double angle)
{
    pl_arc arc = {.length = (length[0] + length[1] + length[2]) / 3};
    for (int i = 0; i < 3; ++i) {
        const double a = angle + 2 * PL_PI * i / 3, f = 4 / (3 * diameter) * length[i];
        arc.turn[0] += f * sin(a);
        arc.turn[1] -= f * cos(a);
    }

    return arc;
}

void pl_arc_to_lengths(const pl_arc *arc, double diameter, double angle, double length[3])
{
    for (int i = 0; i < 3; ++i) {
        const double a = angle + 2 * PL_PI * i / 3, r = 0.5 * diameter;
        length[i] = arc->length + r * (arc->turn[0] * sin(a) - arc->turn[1] * cos(a));

        // cosine and sine of the limb's angle on the circle
    }
}

void pl_arc_end(const pl_arc *arc, double position[3], double rotation[9])
{
    cc_arc(arc->length, arc->turn[0], arc->turn[1], position, rotation);
}

// The chord leaves the tangent by half the turn: turn = 2 atan2(rho, z), and chord = length S1(turn / 2).
bool pl_arc_reach(const double position[3], pl_arc *arc)
{
    const double rho = hypot(position[0], position[1]), chord = pl_norm3(position);
    if (!(chord > 0) || (rho <= 1e-12 * chord && position[2] < 0)) {
        return false;
    }

    const double turn = 2 * atan2(rho, position[2]);
    arc->length = chord / reduced_trig_of(0.25 * turn * turn).S1;

    // turn / rho is finite at rho = 0: 2 atan(x)/x / z
    const double per = rho > 1e-8 * chord || position[2] < 0 ? turn / rho : 2 / position[2];
    arc->turn[0] = -per * position[1];
    arc->turn[1] = per * position[0];

    return true;
}
