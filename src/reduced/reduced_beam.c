// Lindenroth et al. 2016 as published: the segment as one linear Timoshenko element, clamped at its base,
// with the paper's equations in their order and with its letters. What is kept although it is not right
// (docs/explanation/reduced.md):
//   equation 12: the elongating force is the chamber area times the mean pressure, not the sum;
//   equation 13: the tip direction takes the compliance of rotation by force, L^2 / (2 E I) in metres, where
//                rotation by moment, L / (E I), belongs;
//   equation 14: the tip direction adds two rotation matrices instead of multiplying them;
//   equation 17: z follows from a circle, x and y from the straight beam. The paper has two curvatures in 16
//                and one in 17, and took that of the x-z plane for its experiment; here it is that of both,
//                sqrt(kx^2 + ky^2), which is the same where the beam bends in that plane.
// External tip loads enter equations 8 to 10 and 16 by their vectors at rest.
#include "reduced/reduced_impl.h"

// Letters of the paper. Loads are in the base frame, at the tip.
typedef struct beam_data {
    double L;                // mm
    double C[36];            // compliance, X = C T with T = (F, M), X = (delta, theta)
    double Fext[3], Mext[3]; // N, N mm
} beam_data;

// Tip compliance of a clamped Timoshenko element:
//   delta_x = (L^3/3EIy + L/GAx) Fx + L^2/2EIy My     theta_y = L^2/2EIy Fx + L/EIy My
//   delta_y = (L^3/3EIx + L/GAy) Fy - L^2/2EIx Mx     theta_x = -L^2/2EIx Fy + L/EIx Mx
//   delta_z = L/EA Fz                                 theta_z = L/GJ Mz
static void beam_compliance(const reduced_section *s, double C[36])
{
    const double L = s->length, EIx = s->EI[0], EIy = s->EI[1];
    memset(C, 0, 36 * sizeof *C);
    C[0] = L * L * L / (3 * EIy) + L / s->GA[0];
    C[7] = L * L * L / (3 * EIx) + L / s->GA[1];
    C[14] = L / s->EA;
    C[21] = L / EIx;
    C[28] = L / EIy;
    C[35] = L / s->GJ;
    C[4] = C[24] = L * L / (2 * EIy);
    C[9] = C[19] = -L * L / (2 * EIx);
}

// One element, two stations (base and tip), 17 points of the drawn curve.
static pl_status beam_create(pl_reduced_model *m, pl_error *err)
{
    beam_data *b = REDUCED_TAKE(m, beam_data, 1);
    m->kind_data = b;
    m->station_count = 2;
    m->station_s = REDUCED_TAKE(m, double, 2);
    m->point_count = 17;
    m->point_s = REDUCED_TAKE(m, double, m->point_count);
    if (!b || !m->station_s || !m->point_s) {
        return pl_fail_memory(err, "the beam");
    }
    b->L = m->length;
    m->station_s[1] = m->length;
    for (int i = 0; i < m->point_count; ++i) {
        m->point_s[i] = m->length * i / (m->point_count - 1);
    }
    beam_compliance(&m->section[0], b->C);

    // a chamber's volume at rest is its area times its length
    for (int a = 0; a < m->actuator_count; ++a) {
        reduced_actuator *act = &m->actuator[a];
        act->rest = act->area * (act->path.span[1] - act->path.span[0]);
    }

    m->own_count = 7; // delta, theta, dL

    return PL_OK;
}

// Loads at the tip in the base frame, moved from the markers' places at rest.
static void beam_reset(pl_reduced_model *m)
{
    beam_data *b = m->kind_data;
    memset(b->Fext, 0, sizeof b->Fext);
    memset(b->Mext, 0, sizeof b->Mext);

    for (int i = 0; i < m->force_count; ++i) {
        const reduced_force *f = &m->force[i];
        double F[3], M[3], lever[3];
        pl_mulTv3(m->base.R, f->force, F);
        pl_mulTv3(m->base.R, f->moment, M);
        pl_cross3(f->offset, F, lever);
        reduced_axpy3(1, F, b->Fext);
        reduced_axpy3(1, M, b->Mext);
        reduced_axpy3(1, lever, b->Mext);
    }
}

// Equations 3 to 6: F_i = P_i A, M_i = d_i x F_i with F_i along z.
static void beam_chamber(const reduced_actuator *a, double M[3], double *F)
{
    double d[3], slope[3];
    reduced_path_at(&a->path, a->path.span[1], d, slope);
    *F = a->area * a->effectiveness[0];
    M[0] = a->area * a->effectiveness[1] * d[1];
    M[1] = -a->area * a->effectiveness[1] * d[0];
    M[2] = 0;
}

// Everything that is linear in the pressures: moments, forces, equations 8 to 12.
typedef struct beam_linear {
    double F[3], M[3], dL, delta[3], theta[3], aim[2]; // aim: equation 13
} beam_linear;

// Adds the deformation due to a tip wrench (F, M). `push` is the elongating force of equation 12 in N, `act`
// the moments that enter equation 13 (only those of the chambers do).
static void beam_add(const pl_reduced_model *m, const double F[3], const double M[3], double push,
                     const double act[2], beam_linear *x)
{
    const beam_data *b = m->kind_data;
    const double T[6] = {F[0], F[1], F[2], M[0], M[1], M[2]};

    for (int i = 0; i < 3; ++i) {
        x->F[i] += F[i];
        x->M[i] += M[i];
        for (int j = 0; j < 6; ++j) {
            x->delta[i] += b->C[6 * i + j] * T[j];
            x->theta[i] += b->C[6 * (3 + i) + j] * T[j];
        }
    }

    x->dL += m->length / m->section[0].EA * push;

    // metres: the number L^2 / (2 E I) M of an SI calculation, taken for radians
    x->aim[0] += 1e-3 * b->C[19] * act[1];
    x->aim[1] += 1e-3 * b->C[24] * act[0];
}

// What chamber a adds at the pressure P (MPa). Equation 12 divides by the number of chambers.
static void beam_value_part(const pl_reduced_model *m, int a, double P, beam_linear *x)
{
    static const double none[3] = {0};
    double M[3], F;

    beam_chamber(&m->actuator[a], M, &F);
    for (int i = 0; i < 3; ++i) {
        M[i] *= P;
    }
    beam_add(m, none, M, F * P / fmax(1, m->actuator_count), M, x);
}

// z of equation 17: sin(k l)/k = l S1(k^2 l^2) with k the curvature of equation 16 in the plane of bending
// and l = L + dL; also its derivatives by l and by the two moments.
static double beam_height(const pl_reduced_model *m, const beam_linear *x, double *by_length, double by_M[2])
{
    const double *EI = m->section[0].EI, k1 = x->M[0] / EI[0], k2 = x->M[1] / EI[1];
    const double l = m->length + x->dL, s = (k1 * k1 + k2 * k2) * l * l;
    const reduced_trig t = reduced_trig_of(s);
    const double slope = 0.5 * (t.S2 - t.C1); // dS1/ds

    *by_length = t.S1 + 2 * s * slope;
    by_M[0] = l * slope * 2 * k1 / EI[0] * l * l;
    by_M[1] = l * slope * 2 * k2 / EI[1] * l * l;

    return l * t.S1;
}

// Equation 14: O = (Rx + Ry) u_z = (sin y, -sin x, cos x + cos y), and its unit vector.
static double beam_aim(const double aim[2], double O[3])
{
    O[0] = sin(aim[1]);
    O[1] = -sin(aim[0]);
    O[2] = cos(aim[0]) + cos(aim[1]);
    return pl_norm3(O);
}

// A force at a marker that stands off the tip by o: moment o x F, in the base frame.
static void beam_force_part(const pl_reduced_model *m, int marker, const double force[3], beam_linear *x)
{
    // only the tip moves: a force at the base does nothing
    static const double none[2] = {0};
    double F[3], M[3];

    if (m->marker[marker].station == 1) {
        pl_mulTv3(m->base.R, force, F);
        pl_cross3(m->marker[marker].offset, F, M);
        beam_add(m, F, M, 0, none, x);
    }
}

// All that acts now: loads of the file, forces set at markers, pressures (idle chambers have none).
static beam_linear beam_linear_of(const pl_reduced_model *m)
{
    const beam_data *b = m->kind_data;
    static const double none[2] = {0};
    beam_linear x = {0};

    beam_add(m, b->Fext, b->Mext, 0, none, &x);
    for (int i = 0; i < m->marker_count; ++i) {
        beam_force_part(m, i, m->acting + 3 * i, &x);
    }

    for (int a = 0; a < m->actuator_count; ++a) {
        if (!isnan(m->value[a])) {
            beam_value_part(m, a, m->value[a], &x);
        }
    }

    return x;
}

// 1/2 (F . delta + M . theta) of bending, twist and shear, and 1/2 EA/L (dL + delta_z)^2 along the axis; or
// its derivative along dx, in which it is bilinear.
static double beam_energy(const pl_reduced_model *m, const beam_linear *x, const beam_linear *dx)
{
    const beam_linear *by = dx ? dx : x;
    const double stiffness = m->section[0].EA / m->length;
    const double sum = x->F[0] * by->delta[0] + x->F[1] * by->delta[1] + pl_dot3(x->M, by->theta) +
                       stiffness * (x->dL + x->delta[2]) * (by->dL + by->delta[2]);
    return dx ? sum : 0.5 * sum;
}

// There is nothing to iterate: the tip follows from the linear part in closed form.
static void beam_solve(pl_reduced_model *m, pl_solve_report *report)
{
    (void)report;

    // forces act as wanted, at once
    memcpy(m->acting, m->wanted_force, 3 * (size_t)m->marker_count * sizeof *m->acting);
    const beam_linear x = beam_linear_of(m);
    double O[3], by_length, by_M[2];
    const double size = beam_aim(x.aim, O), z = beam_height(m, &x, &by_length, by_M);

    // equation 15, then 17 for z
    const double tip[3] = {x.delta[0] + x.dL * O[0] / size, x.delta[1] + x.dL * O[1] / size, z + x.delta[2]};

    // tip frame in the world
    double R[9];
    pl_rotation_exp(x.theta, R);
    reduced_frame *f = &m->frame[1];
    pl_mulv3(m->base.R, tip, f->r);
    reduced_axpy3(1, m->base.r, f->r);
    pl_mul33(m->base.R, R, f->R);

    // what the shape and the report need: delta, theta, dL
    memcpy(m->own, x.delta, sizeof x.delta);
    memcpy(m->own + 3, x.theta, sizeof x.theta);
    m->own[6] = x.dL;
    *m->answer.energy = beam_energy(m, &x, NULL);

    // a chamber's volume is conjugate to its pressure: rest + F/P dL + M/P . theta
    for (int a = 0; a < m->actuator_count; ++a) {
        const reduced_actuator *act = &m->actuator[a];
        double M[3], F;
        beam_chamber(act, M, &F);
        m->answer.effort[a] = isnan(m->value[a]) ? 0 : m->value[a];
        m->answer.measure[a] = act->rest + F * x.dL + M[0] * x.theta[0] + M[1] * x.theta[1];
    }
}

// Between base and tip, for pictures: the cubic that has both ends and the tip's direction.
static void beam_shape(pl_reduced_model *m)
{
    const reduced_frame *a = &m->frame[0], *b = &m->frame[1];
    const double L = pl_distance3(a->r, b->r);
    double axis[3];

    for (int i = 0; i < m->point_count; ++i) {
        const double t = (double)i / (m->point_count - 1), u = 1 - t;
        for (int k = 0; k < 3; ++k) {
            m->answer.point[3 * i + k] = u * u * (1 + 2 * t) * a->r[k] + t * t * (3 - 2 * t) * b->r[k] +
                                         L * t * u * (u * a->R[3 * k + 2] - t * b->R[3 * k + 2]);
            axis[k] = t * m->own[3 + k];
        }

        double R[9];
        pl_rotation_exp(axis, R);
        pl_mul33(m->base.R, R, m->answer.point_R + 9 * i);
    }
}

// Tip displacement dp and spatial rotation w along dx, in the base frame: derivatives of equations 14, 15 and
// 17.
static void beam_column(const pl_reduced_model *m, const beam_linear *x, const beam_linear *dx, double dp[3],
                        double w[3])
{
    double O[3], by_length, by_M[2], e[3], de[3];
    const double size = beam_aim(x->aim, O);

    beam_height(m, x, &by_length, by_M);
    const double dO[3] = {cos(x->aim[1]) * dx->aim[1], -cos(x->aim[0]) * dx->aim[0],
                          -sin(x->aim[0]) * dx->aim[0] - sin(x->aim[1]) * dx->aim[1]};

    // derivative of the unit vector e = O / |O|: the part of dO orthogonal to e
    for (int k = 0; k < 3; ++k) {
        e[k] = O[k] / size;
    }

    const double along = pl_dot3(e, dO);
    for (int k = 0; k < 3; ++k) {
        de[k] = (dO[k] - along * e[k]) / size;
        dp[k] = dx->delta[k] + dx->dL * e[k] + x->dL * de[k];
    }

    // z has the circle's formula instead
    dp[2] = dx->delta[2] + by_length * dx->dL + by_M[0] * dx->M[0] + by_M[1] * dx->M[1];
    const reduced_trig t = reduced_trig_of(pl_dot3(x->theta, x->theta));
    reduced_spin(&t, x->theta, dx->theta, w);
}

// d_point of the drawn cubic: its ends and the tip's direction move.
static void beam_point_columns(pl_reduced_model *m, int a)
{
    const int A = m->actuator_count;
    const reduced_frame *f = &m->frame[1];

    // velocity v and spin w of the tip, column a
    const double *T = m->by.twist + 6 * A;
    const double v[3] = {T[a], T[A + a], T[2 * A + a]}, w[3] = {T[3 * A + a], T[4 * A + a], T[5 * A + a]};
    const double axis[3] = {f->R[2], f->R[5], f->R[8]};
    double arm[3], turn[3];

    // the cubic's tangents scale with the chord
    pl_sub3(f->r, m->frame[0].r, arm);
    const double L = pl_norm3(arm), dL = pl_dot3(arm, v) / L;
    pl_cross3(w, axis, turn);

    for (int i = 0; i < m->point_count; ++i) {
        const double t = (double)i / (m->point_count - 1), u = 1 - t;
        for (int k = 0; k < 3; ++k) {
            m->by.point[(3 * i + k) * A + a] = t * t * (3 - 2 * t) * v[k] +
                                               dL * t * u * (u * m->base.R[3 * k + 2] - t * axis[k]) -
                                               L * t * u * t * turn[k];
        }
    }
}

// Derivatives with respect to each pressure; the base station's rows stay 0.
static void beam_differentiate(pl_reduced_model *m, bool points, pl_jacobian_report *report)
{
    (void)report;
    const int A = m->actuator_count;
    const beam_linear x = beam_linear_of(m);

    // all columns are exact: the model is a closed formula
    memset(m->by.twist, 0, 12 * (size_t)A * sizeof(double));
    memset(m->by.effort, 0, (size_t)(A * A) * sizeof(double));
    for (int a = 0; a < A; ++a) {
        beam_linear dx = {0};
        beam_value_part(m, a, 1, &dx);
        double dp[3], w[3], p[3], v[3];
        beam_column(m, &x, &dx, dp, w);
        pl_mulv3(m->base.R, dp, p);
        pl_mulv3(m->base.R, w, v);
        for (int k = 0; k < 3; ++k) {
            m->by.twist[(6 + k) * A + a] = p[k];
            m->by.twist[(9 + k) * A + a] = v[k];
        }

        m->by.effort[a * A + a] = 1;
        m->by.energy[a] = beam_energy(m, &x, &dx);
        for (int i = 0; i < A; ++i) {
            double M[3], F;
            beam_chamber(&m->actuator[i], M, &F);
            m->by.measure[i * A + a] = F * dx.dL + M[0] * dx.theta[0] + M[1] * dx.theta[1];
        }

        if (points) {
            beam_point_columns(m, a);
        }
    }
}

// As one column of beam_differentiate, for a unit load.
static void beam_respond(pl_reduced_model *m, const reduced_load *load, reduced_response *out,
                         pl_jacobian_report *report)
{
    (void)report;
    const beam_linear x = beam_linear_of(m);
    beam_linear dx = {0};
    if (load->marker >= 0) {
        const double axis[3] = {load->axis == 0, load->axis == 1, load->axis == 2};
        beam_force_part(m, load->marker, axis, &dx);
    } else {
        beam_value_part(m, load->actuator, 1, &dx);
    }

    double dp[3], w[3];
    beam_column(m, &x, &dx, dp, w);
    memset(out->twist, 0, 6 * sizeof *out->twist);
    pl_mulv3(m->base.R, dp, out->twist + 6);
    pl_mulv3(m->base.R, w, out->twist + 9);

    for (int i = 0; i < m->actuator_count; ++i) {
        double M[3], F;
        beam_chamber(&m->actuator[i], M, &F);
        out->effort[i] = i == load->actuator;
        out->measure[i] = F * dx.dL + M[0] * dx.theta[0] + M[1] * dx.theta[1];
    }
}

const reduced_ops reduced_beam_ops = {beam_create,        beam_solve, beam_shape,
                                      beam_differentiate, beam_reset, beam_respond};
