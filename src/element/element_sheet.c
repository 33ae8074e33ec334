// Material laws in plane stress: the stretch across a thin sheet is the one that leaves its faces free.
//
//   linear  W = mu |U - I|^2 + lambda'/2 tr(U - I)^2,   stvk  W = mu E : E + lambda'/2 (tr E)^2,
//
// both with lambda' = 2 mu lambda / (lambda + 2 mu), exactly: their stress across is linear in the stretch
// (the strain) across. Both may wrinkle. Rubber laws: the stretch across by Newton's method on the
// three-dimensional law.
#include "element/layer.h"
#include "material/material.h"

#define SHEET_ROUNDS 40

void pl_sheet_init(pl_sheet *s, const pl_material *m)
{
    double mu, kappa;
    pl_material_moduli(m, &mu, &kappa);
    *s = (pl_sheet){.law = {.model = m->model, .mu = mu, .kappa = kappa}, .mu = mu};
    pl_law_constants(&s->law, m);
    s->rubber = pl_material_is_rubber(m->model);
    const double lambda = s->rubber ? kappa - 2 * mu / 3 : kappa;
    s->lambda = 2 * mu * lambda / (lambda + 2 * mu);
    s->moduli[0] = s->moduli[4] = s->lambda + 2 * mu;
    s->moduli[1] = s->moduli[3] = s->lambda;
    s->moduli[8] = mu;
}

// With y = (C11, C22, C12): T = tr U = sqrt(tr C + 2 sqrt(det C)),
//   W = mu (tr C - 2 T + 2) + lambda/2 (T - 2)^2.
static bool sheet_linear(double mu, double lambda, const double e[3], double *W, double S[3], double C[9])
{
    const double c11 = 1 + 2 * e[0], c22 = 1 + 2 * e[1], g = e[2], det = c11 * c22 - g * g;
    if (!(det > 0) || !(c11 > 0)) {
        return false;
    }

    const double r = sqrt(det), T = sqrt(c11 + c22 + 2 * r), f = lambda * (T - 2) - 2 * mu;
    const double dD[3] = {c22, c11, -2 * g}, factor[3] = {2, 2, 1};
    double dT[3];
    for (int i = 0; i < 3; ++i) {
        dT[i] = ((i < 2) + dD[i] / r) / (2 * T);
        S[i] = factor[i] * (mu * (i < 2) + f * dT[i]);
    }

    *W = mu * (c11 + c22 - 2 * T + 2) + 0.5 * lambda * (T - 2) * (T - 2);
    for (int i = 0; C && i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double hD = i + j == 1 ? 1 : i == 2 && j == 2 ? -2 : 0;
            const double hq = hD / r - dD[i] * dD[j] / (2 * r * det);
            const double hT = hq / (2 * T) - dT[i] * dT[j] / T;
            C[3 * i + j] = factor[i] * factor[j] * (f * hT + lambda * dT[i] * dT[j]);
        }
    }

    return true;
}

static void sheet_stvk(double mu, double lambda, const double e[3], double *W, double S[3], double C[9])
{
    const double trace = e[0] + e[1];
    *W = mu * (e[0] * e[0] + e[1] * e[1] + 0.5 * e[2] * e[2]) + 0.5 * lambda * trace * trace;
    S[0] = lambda * trace + 2 * mu * e[0];
    S[1] = lambda * trace + 2 * mu * e[1];
    S[2] = mu * e[2];
    for (int i = 0; C && i < 9; ++i) {
        C[i] = i == 8 ? mu : i % 3 == 2 || i > 5 ? 0 : lambda + (i == 0 || i == 4 ? 2 * mu : 0);
    }
}

// F = [a b 0; 0 d 0; 0 0 s] with F^T F in the plane as given and no stress across.
static bool sheet_stretch(const pl_sheet *s, const double e[3], double F[9], double *W, double P[9])
{
    const double c11 = 1 + 2 * e[0], c22 = 1 + 2 * e[1], det = c11 * c22 - e[2] * e[2];
    if (!(c11 > 0) || !(det > 0)) {
        return false;
    }
    memset(F, 0, 9 * sizeof *F);
    F[0] = sqrt(c11);
    F[1] = e[2] / F[0];
    F[4] = sqrt(det / c11);
    F[8] = 1 / sqrt(det); // of an incompressible sheet
    for (int round = 0; round < SHEET_ROUNDS; ++round) {
        double A[81];
        pl_law_stress(&s->law, F, 0, W, P);
        if (!isfinite(P[8])) {
            return false;
        }
        if (fabs(P[8]) <= 1e-15 * (s->mu + s->law.kappa)) {
            return true;
        }
        pl_law_tangent(&s->law, F, 0, A);
        const double step = A[80] > 0 ? -P[8] / A[80] : -copysign(0.1 * F[8], P[8]);
        if (fabs(step) <= 1e-15 * F[8]) {
            return true;
        }
        F[8] += fmax(fmin(step, F[8]), -0.5 * F[8]);
    }

    return true;
}

// F is upper triangular with a block of 2 x 2: its inverse.
static void sheet_inverse(const double F[9], double I[9])
{
    memset(I, 0, 9 * sizeof *I);
    I[0] = 1 / F[0];
    I[4] = 1 / F[4];
    I[1] = -F[1] / (F[0] * F[4]);
    I[8] = 1 / F[8];
}

// Second Piola-Kirchhoff stress S = F^-1 P as 11, 22, 12, 33.
static void sheet_second(const double I[9], const double P[9], double S[4])
{
    double full[9];
    pl_mul33(I, P, full);
    S[0] = full[0];
    S[1] = full[4];
    S[2] = 0.5 * (full[1] + full[3]);
    S[3] = full[8];
}

// dS/dE by 11, 22, 12 (for 2 E12), 33: with dF = F^-T X the strain changes by X; dS = F^-1 (A : dF - dF S).
static void sheet_moduli(const pl_sheet *s, const double F[9], const double P[9], double M[16])
{
    double A[81], I[9], S[9];
    static const double X[4][9] = {{1}, {0, 0, 0, 0, 1}, {0, 0.5, 0, 0.5}, {0, 0, 0, 0, 0, 0, 0, 0, 1}};

    pl_law_tangent(&s->law, F, 0, A);
    sheet_inverse(F, I);
    pl_mul33(I, P, S);

    for (int k = 0; k < 4; ++k) {
        double dF[9], dP[9], T[9], column[4];
        for (int i = 0; i < 9; ++i) {
            dF[i] = I[i / 3] * X[k][i % 3] + I[3 + i / 3] * X[k][3 + i % 3] + I[6 + i / 3] * X[k][6 + i % 3];
        }
        pl_mul33(dF, S, T);

        for (int i = 0; i < 9; ++i) {
            dP[i] = -T[i];
            for (int j = 0; j < 9; ++j) {
                dP[i] += A[9 * i + j] * dF[j];
            }
        }

        sheet_second(I, dP, column);
        for (int i = 0; i < 4; ++i) {
            M[4 * i + k] = column[i];
        }
    }
}

// ---- wrinkles
// The laws linear and stvk are linear in a strain b: U - I, or E. With b' = b + (1 - nu) w, w the strain of
// wrinkling, and principal values b1 >= b2 the relaxed energy is
//   b2' >= -nu b1'  W(b): flat
//   b1' > 0         E/2 b1'^2 - E w (b1 + b2) - E w^2 (1 - nu): folds along the first direction
//   else            -E w (b1 + b2) - E w^2 (1 - nu): folds both ways
typedef struct sheet_fold {
    double n[2];       // first principal direction
    double E[2], b[2]; // principal values
    double stretch[2]; // dE/db: of linear the principal stretches, of stvk 1
    double young, poisson;
    bool along;  // folds along the first direction only
    bool curved; // b is not linear in E
} sheet_fold;

static bool sheet_folds(const pl_sheet *s, const double e[3], sheet_fold *f)
{
    if (!(s->wrinkle > 0) || s->rubber) {
        return false;
    }

    const double half = 0.5 * (e[0] + e[1]), apart = 0.5 * (e[0] - e[1]), r = hypot(apart, 0.5 * e[2]);
    const double twice = atan2(0.5 * e[2], apart);
    f->n[0] = cos(0.5 * twice);
    f->n[1] = sin(0.5 * twice);
    f->curved = s->law.kernel == PL_KERNEL_LINEAR;

    for (int i = 0; i < 2; ++i) {
        f->E[i] = i == 0 ? half + r : half - r;
        if (!(1 + 2 * f->E[i] > 0)) {
            return false; // the law itself refuses it
        }
        f->stretch[i] = f->curved ? sqrt(1 + 2 * f->E[i]) : 1;
        f->b[i] = f->curved ? f->stretch[i] - 1 : f->E[i];
    }

    f->poisson = s->lambda / (s->lambda + 2 * s->mu);
    f->young = 2 * s->mu * (1 + f->poisson);
    const double shift = (1 - f->poisson) * s->wrinkle;
    f->along = f->b[0] + shift > 0;

    return f->b[1] + shift < -f->poisson * (f->b[0] + shift);
}

// From principal values T (stress by b) to S by E: S_i = T_i / stretch_i.
static void fold_stress(const sheet_fold *f, const double T[2], double S[3])
{
    const double c = f->n[0], s = f->n[1], S1 = T[0] / f->stretch[0], S2 = T[1] / f->stretch[1];
    S[0] = c * c * S1 + s * s * S2;
    S[1] = s * s * S1 + c * c * S2;
    S[2] = c * s * (S1 - S2);
}

// A direction in which the principal axes turn has (S1 - S2) / (E1 - E2) / 2.
static void fold_tangent(const sheet_fold *f, const double T[2], double C[9])
{
    const double c = f->n[0], s = f->n[1];
    const double own[2][3] = {{c * c, s * s, c * s}, {s * s, c * c, -c * s}};
    const double turn[3] = {-2 * c * s, 2 * c * s, c * c - s * s};
    double normal[2];

    for (int i = 0; i < 2; ++i) {
        const double l = f->stretch[i];
        normal[i] = (i == 0 && f->along ? f->young : 0) / (l * l) - (f->curved ? T[i] / (l * l * l) : 0);
    }

    const double apart = f->E[0] - f->E[1], step = T[0] / f->stretch[0] - T[1] / f->stretch[1];
    const double shear = 0.5 * (apart > 1e-9 ? step / apart : normal[0]);
    for (int i = 0; i < 9; ++i) {
        C[i] = normal[0] * own[0][i / 3] * own[0][i % 3] + normal[1] * own[1][i / 3] * own[1][i % 3] +
               shear * turn[i / 3] * turn[i % 3];
    }
}

static void sheet_wrinkled(const pl_sheet *s, const sheet_fold *f, double *W, double S[3], double C[9])
{
    const double w = s->wrinkle, nu = f->poisson, b = f->b[0] + (1 - nu) * w;
    const double T[2] = {f->young * ((f->along ? b : 0) - w), -f->young * w};

    *W = f->young * ((f->along ? 0.5 * b * b : 0) - w * (f->b[0] + f->b[1]) - w * w * (1 - nu));
    fold_stress(f, T, S);
    if (C) {
        fold_tangent(f, T, C);
    }
}

// The strain of wrinkling is kept when a constant changes.
static void sheet_wrinkled_derivative(const pl_sheet *s, const sheet_fold *f, double dmu, double dlambda,
                                      double dS[3])
{
    const double sum = s->lambda + 2 * s->mu, w = s->wrinkle;
    const double dnu = 2 * (s->mu * dlambda - s->lambda * dmu) / (sum * sum);
    const double dE = 2 * dmu * (1 + f->poisson) + 2 * s->mu * dnu;
    const double along = dE * (f->b[0] + (1 - f->poisson) * w) - f->young * w * dnu;
    const double dT[2] = {(f->along ? along : 0) - dE * w, -dE * w};
    fold_stress(f, dT, dS);
}

bool pl_sheet_stress(const pl_sheet *s, const double e[3], double *W, double S[3], double C[9])
{
    sheet_fold fold;
    if (sheet_folds(s, e, &fold)) {
        sheet_wrinkled(s, &fold, W, S, C);
        return true;
    }

    if (s->law.kernel == PL_KERNEL_LINEAR) {
        return sheet_linear(s->mu, s->lambda, e, W, S, C);
    }
    if (s->law.kernel == PL_KERNEL_STVK) {
        sheet_stvk(s->mu, s->lambda, e, W, S, C);
        return true;
    }

    double F[9], P[9], I[9], S4[4], M[16];
    if (!sheet_stretch(s, e, F, W, P)) {
        return false;
    }
    sheet_inverse(F, I);
    sheet_second(I, P, S4);
    memcpy(S, S4, 3 * sizeof *S);

    if (C) {
        sheet_moduli(s, F, P, M);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                C[3 * i + j] = M[4 * i + j] - M[4 * i + 3] * M[12 + j] / M[15];
            }
        }
    }

    return true;
}

// lambda' = 2 mu lambda / (lambda + 2 mu); lambda = kappa, of rubber kappa - 2 mu / 3.
static void sheet_moduli_derivative(const pl_sheet *s, double dmu, double dkappa, double out[9],
                                    double *dlambda)
{
    const double lambda = s->rubber ? s->law.kappa - 2 * s->mu / 3 : s->law.kappa;
    const double dl = s->rubber ? dkappa - 2 * dmu / 3 : dkappa, sum = lambda + 2 * s->mu;

    *dlambda = (2 * lambda * lambda * dmu + 4 * s->mu * s->mu * dl) / (sum * sum);
    memset(out, 0, 9 * sizeof *out);
    out[0] = out[4] = *dlambda + 2 * dmu;
    out[1] = out[3] = *dlambda;
    out[8] = dmu;
}

void pl_sheet_derivative(const pl_sheet *s, const pl_material *material, pl_material_constant constant,
                         const double e[3], double dS[3], double dmoduli[9])
{
    double moduli[2], dlambda, W;
    pl_material_moduli_derivative(material, constant, moduli);
    sheet_moduli_derivative(s, moduli[0], moduli[1], dmoduli, &dlambda);
    memset(dS, 0, 3 * sizeof *dS);
    sheet_fold fold;
    if (sheet_folds(s, e, &fold)) {
        sheet_wrinkled_derivative(s, &fold, moduli[0], dlambda, dS);
    } else if (s->law.kernel == PL_KERNEL_LINEAR) {
        sheet_linear(moduli[0], dlambda, e, &W, dS, NULL); // the stress is linear in both
    } else if (s->law.kernel == PL_KERNEL_STVK) {
        sheet_stvk(moduli[0], dlambda, e, &W, dS, NULL);
    } else {
        // at fixed strain in the plane the stretch across follows: dS33 = 0
        double F[9], P[9], I[9], S4[4], M[16];
        pl_law rate = s->law;
        rate.mu = 0;
        rate.kappa = moduli[1];
        pl_law_constant_derivative(&rate, material, constant);
        if (!sheet_stretch(s, e, F, &W, P)) {
            return;
        }
        sheet_moduli(s, F, P, M);
        pl_law_stress(&rate, F, 0, &W, P);
        sheet_inverse(F, I);
        sheet_second(I, P, S4);
        for (int i = 0; i < 3; ++i) {
            dS[i] = S4[i] - M[4 * i + 3] * S4[3] / M[15];
        }
    }
}
