// Membrane and bending energy of a layer on one face (layer.h), with gradient, tangent and derivatives with
// respect to thickness and material constants.
//
// Everything is a function of the strains s = (d, K): U(s), so dU/dx = U_s ds/dx and
//   d2U/dx2 = (ds/dx)^T U_ss ds/dx + sum_i U_i d2s_i/dx2.
#include "element/curvature.h"

#define LAYER_ALL (PL_LAYER_STRAINS + 3)
#define LAYER_DOFS (3 * PL_LAYER_NODES)

// ---- strains of a face
typedef struct layer_strain {
    double d[PL_LAYER_STRAINS]; // d - d0
    pl_curvature c;
} layer_strain;

static bool layer_curves(const pl_layer_law *law)
{
    return law->bending;
}

static void layer_strains(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                          const double *x, layer_strain *s)
{
    pl_face_strains(t, x, s->d);
    for (int k = 0; k < t->strains; ++k) {
        s->d[k] -= f->rest[k];
    }
    memset(s->c.K, 0, sizeof s->c.K);
    if (layer_curves(law)) {
        pl_curvature_eval(t, f, x, &s->c);
    }
}

static void mul3(const double A[9], const double v[3], bool transpose, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = transpose ? A[i] * v[0] + A[3 + i] * v[1] + A[6 + i] * v[2]
                           : A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2];
    }
}

// out = scale A^T C A
static void congruent(const double A[9], const double C[9], double scale, double out[9])
{
    double T[9];
    pl_mul33(C, A, T);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out[3 * i + j] = scale * (A[i] * T[j] + A[3 + i] * T[3 + j] + A[6 + i] * T[6 + j]);
        }
    }
}

// p^2
static double layer_ratio(const pl_layer_law *law)
{
    return 1 + 2 * law->prestrain;
}

// The strain of the middle of the layer at a point relative to its own rest, orthonormal components.
static void layer_point(const pl_face_table *t, const pl_layer_law *law, const layer_strain *s,
                        const double M[3 * PL_LAYER_STRAINS], const double frame[9], double e[3])
{
    double E[3];
    for (int i = 0; i < 3; ++i) {
        E[i] = -law->offset * s->c.K[i];
        for (int k = 0; k < t->strains; ++k) {
            E[i] += M[PL_LAYER_STRAINS * i + k] * s->d[k];
        }
    }

    mul3(frame, E, false, e);
    for (int i = 0; i < 3; ++i) {
        e[i] = layer_ratio(law) * e[i] + (i < 2 ? law->prestrain : 0);
    }
}

static double layer_stiffness(const pl_layer_law *law)
{
    return layer_ratio(law) * law->thickness * law->thickness * law->thickness / 12;
}

static void clip_positive(double C[9])
{
    double value[3], V[9];
    pl_eigen3(C, value, V);
    if (value[0] >= 0) {
        return;
    }
    memset(C, 0, 9 * sizeof *C);

    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 9; ++i) {
            C[i] += fmax(value[k], 0) * V[3 * (i / 3) + k] * V[3 * (i % 3) + k];
        }
    }
}

// U and its derivatives by (d, K); Uss (LAYER_ALL^2) may be NULL. Penalties of kinks are apart.
static double layer_potential(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                              const layer_strain *s, bool positive, double Us[LAYER_ALL], double *Uss)
{
    double energy = 0;
    memset(Us, 0, LAYER_ALL * sizeof *Us);
    if (Uss) {
        memset(Uss, 0, LAYER_ALL * LAYER_ALL * sizeof *Uss);
    }

    const int n = t->strains, K = PL_LAYER_STRAINS;
    for (int q = 0; q < t->points; ++q) {
        double M[3 * PL_LAYER_STRAINS], e[3], W, S[3], C[9], cov[3];
        pl_face_field(t, t->point[q], M);
        layer_point(t, law, s, M, f->frame[q], e);
        if (!pl_sheet_stress(&law->sheet, e, &W, S, Uss ? C : NULL)) {
            return INFINITY;
        }
        const double scale = f->weight[q] * law->thickness;
        energy += scale / layer_ratio(law) * W;
        mul3(f->frame[q], S, true, cov);
        // E - z0 K by (d, K), three rows
        double B[3][LAYER_ALL] = {{0}};
        for (int i = 0; i < 3; ++i) {
            memcpy(B[i], M + PL_LAYER_STRAINS * i, (size_t)n * sizeof *M);
            B[i][K + i] = -law->offset;
            for (int k = 0; k < LAYER_ALL; ++k) {
                Us[k] += scale * cov[i] * B[i][k];
            }
        }

        if (Uss) {
            double D[9], T[3][LAYER_ALL];
            if (positive) {
                clip_positive(C);
            }
            congruent(f->frame[q], C, scale * layer_ratio(law), D);

            for (int i = 0; i < 3; ++i) {
                for (int k = 0; k < LAYER_ALL; ++k) {
                    T[i][k] = D[3 * i] * B[0][k] + D[3 * i + 1] * B[1][k] + D[3 * i + 2] * B[2][k];
                }
            }

            for (int r = 0; r < LAYER_ALL; ++r) {
                for (int c = 0; c < LAYER_ALL; ++c) {
                    Uss[LAYER_ALL * r + c] += B[0][r] * T[0][c] + B[1][r] * T[1][c] + B[2][r] * T[2][c];
                }
            }
        }
    }

    if (!layer_curves(law)) {
        return energy;
    }

    double D[9];
    congruent(f->centre, law->sheet.moduli, f->area * layer_stiffness(law), D);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            energy += 0.5 * s->c.K[i] * D[3 * i + j] * s->c.K[j];
            Us[K + i] += D[3 * i + j] * s->c.K[j];
            if (Uss) {
                Uss[LAYER_ALL * (K + i) + K + j] += D[3 * i + j];
            }
        }
    }

    return energy;
}

// Stiffness that the penalties of kinks are multiples of.
static double layer_penalty(const pl_layer_law *law)
{
    return layer_stiffness(law) * law->sheet.moduli[0];
}

double pl_layer_energy(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                       const double *x, double *g)
{
    layer_strain s;
    double Us[LAYER_ALL];

    layer_strains(t, law, f, x, &s);
    double energy = layer_potential(t, law, f, &s, false, Us, NULL);
    if (!isfinite(energy)) {
        return INFINITY;
    }

    const double penalty = layer_penalty(law);
    for (int e = 0; layer_curves(law) && e < 3; ++e) {
        for (int p = 0; f->edge[e].kind != PL_LAYER_FREE && p < 2; ++p) {
            energy += 0.5 * penalty * f->edge[e].penalty[p] * s.c.kink[e][p].phi * s.c.kink[e][p].phi;
        }
    }

    if (g) {
        pl_face_strains_pull(t, x, Us, g);
        if (layer_curves(law)) {
            pl_curvature_pull(t, f, &s.c, Us + PL_LAYER_STRAINS, penalty, g);
        }
    }

    return energy;
}

// Rows ds/dx of all strains.
static void layer_rows(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                       const double *x, layer_strain *s, int m, double *J)
{
    pl_face_strains_rows(t, x, m, J);
    for (int k = 0; layer_curves(law) && k < 3; ++k) {
        double unit[3] = {0};
        unit[k] = 1;
        pl_curvature_pull(t, f, &s->c, unit, 0, J + (int64_t)(PL_LAYER_STRAINS + k) * m);
    }
}

void pl_layer_ahead(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f, const double *x,
                    const double *dx, double ahead[PL_LAYER_AHEAD])
{
    layer_strain s;
    double J[LAYER_ALL * LAYER_DOFS] = {0};
    const int m = 3 * f->node_count;

    layer_strains(t, law, f, x, &s);
    layer_rows(t, law, f, x, &s, m, J);
    memset(ahead, 0, PL_LAYER_AHEAD * sizeof *ahead);
    memcpy(ahead, s.d, (size_t)t->strains * sizeof *ahead);
    memcpy(ahead + PL_LAYER_STRAINS, s.c.K, sizeof s.c.K);

    for (int k = 0; k < LAYER_ALL; ++k) {
        for (int i = 0; i < m; ++i) {
            ahead[k] += J[(int64_t)k * m + i] * dx[i];
        }
    }

    for (int e = 0; layer_curves(law) && e < 3; ++e) {
        for (int p = 0; f->edge[e].kind != PL_LAYER_FREE && p < 2; ++p) {
            double row[LAYER_DOFS] = {0}, *phi = &ahead[LAYER_ALL + 2 * e + p];
            pl_kink_pull(t, f, e, p, &s.c.kink[e][p], 1, row);
            *phi = s.c.kink[e][p].phi;
            for (int i = 0; i < m; ++i) {
                *phi += row[i] * dx[i];
            }
        }
    }
}

// U and its derivatives at the strains that a step predicted; false where they cannot be.
static bool layer_predicted(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                            const double *ahead, bool positive, double Us[LAYER_ALL], double *Uss)
{
    layer_strain s;
    memcpy(s.d, ahead, sizeof s.d);
    memcpy(s.c.K, ahead + PL_LAYER_STRAINS, sizeof s.c.K);
    return isfinite(layer_potential(t, law, f, &s, positive, Us, Uss));
}

double pl_layer_energy_ahead(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                             const double *x, const double ahead[PL_LAYER_AHEAD], double *g)
{
    layer_strain s;
    double Us[LAYER_ALL], Uss[LAYER_ALL * LAYER_ALL];

    if (!layer_predicted(t, law, f, ahead, false, Us, Uss)) {
        return pl_layer_energy(t, law, f, x, g);
    }
    layer_strains(t, law, f, x, &s);

    for (int c = 0; c < LAYER_ALL; ++c) {
        const bool membrane = c < PL_LAYER_STRAINS;
        const double now = membrane ? (c < t->strains ? s.d[c] : 0) : s.c.K[c - PL_LAYER_STRAINS];
        for (int r = 0; r < LAYER_ALL; ++r) {
            Us[r] += Uss[LAYER_ALL * r + c] * (now - ahead[c]);
        }
    }

    pl_face_strains_pull(t, x, Us, g);
    if (layer_curves(law)) {
        pl_curvature_pull(t, f, &s.c, Us + PL_LAYER_STRAINS, layer_penalty(law), g);
    }

    return pl_layer_energy(t, law, f, x, NULL);
}

void pl_layer_tangent(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                      const double *x, bool positive, const double *ahead, double *H)
{
    layer_strain s;
    double Us[LAYER_ALL], Uss[LAYER_ALL * LAYER_ALL], J[LAYER_ALL * LAYER_DOFS] = {0}, T[LAYER_DOFS];
    const int m = 3 * f->node_count, K = PL_LAYER_STRAINS;

    memset(H, 0, (size_t)m * m * sizeof *H);
    layer_strains(t, law, f, x, &s);

    // first and second derivatives of the energy with respect to the strains, at predicted strains where
    // there are some
    if (!(ahead && layer_predicted(t, law, f, ahead, positive, Us, Uss)) &&
        !isfinite(layer_potential(t, law, f, &s, positive, Us, Uss))) {
        return;
    }

    // H = J^T Uss J with J the derivatives of the strains
    layer_rows(t, law, f, x, &s, m, J);
    for (int r = 0; r < LAYER_ALL; ++r) {
        memset(T, 0, sizeof T);

        for (int c = 0; c < LAYER_ALL; ++c) {
            const double u = Uss[LAYER_ALL * r + c];
            for (int j = 0; u != 0 && j < m; ++j) {
                T[j] += u * J[(int64_t)c * m + j];
            }
        }

        for (int i = 0; i < m; ++i) {
            const double v = J[(int64_t)r * m + i];
            for (int j = 0; v != 0 && j < m; ++j) {
                H[(int64_t)i * m + j] += v * T[j];
            }
        }
    }

    // and the strains' own curvature, weighted by the stresses
    pl_face_strains_curve(t, Us, positive, m, H);
    if (!layer_curves(law)) {
        return;
    }

    const double penalty = layer_penalty(law), *U = Us + K;
    if (!positive) {
        pl_curvature_curve(t, &s.c, U, m, H);
    }

    // penalty of the kink over each edge: stiff phi^2 / 2 at two points
    for (int e = 0; e < 3; ++e) {
        const pl_layer_edge *edge = &f->edge[e];
        for (int p = 0; edge->kind != PL_LAYER_FREE && p < 2; ++p) {
            const pl_kink *k = &s.c.kink[e][p];
            const double *lift = edge->lift[p], stiff = penalty * edge->penalty[p];
            double row[LAYER_DOFS] = {0};
            pl_kink_pull(t, f, e, p, k, 1, row);

            for (int i = 0; i < m; ++i) {
                for (int j = 0; row[i] != 0 && j < m; ++j) {
                    H[(int64_t)i * m + j] += stiff * row[i] * row[j];
                }
            }

            if (!positive) {
                pl_kink_curve(t, f, e, p, k,
                              U[0] * lift[0] + U[1] * lift[1] + U[2] * lift[2] +
                                  stiff * (ahead ? ahead[LAYER_ALL + 2 * e + p] : k->phi),
                              m, H);
            }
        }
    }
}

// Adds to dU/d(strains, curvatures) what stresses dS at point q contribute; M as pl_face_field gives it.
static void layer_gather(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f, int q,
                         const double *M, const double dS[3], double *Us)
{
    const double scale = f->weight[q] * law->thickness;
    double cov[3];

    mul3(f->frame[q], dS, true, cov);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < t->strains; ++k) {
            Us[k] += scale * cov[i] * M[PL_LAYER_STRAINS * i + k];
        }
        Us[PL_LAYER_STRAINS + i] -= scale * law->offset * cov[i];
    }
}

// The same of a bending stiffness `moduli` and a penalty on kinks, pulled back to the nodes.
static void layer_bend(const pl_face_table *t, const pl_layer_face *f, layer_strain *s,
                       const double moduli[9], double stiffness, double penalty, double *Us, double *g)
{
    double D[9];
    congruent(f->centre, moduli, stiffness, D);
    for (int i = 0; i < 3; ++i) {
        Us[PL_LAYER_STRAINS + i] +=
            D[3 * i] * s->c.K[0] + D[3 * i + 1] * s->c.K[1] + D[3 * i + 2] * s->c.K[2];
    }

    pl_curvature_pull(t, f, &s->c, Us + PL_LAYER_STRAINS, penalty, g);
}

// ---- derivatives with respect to thickness, prestrain and material
void pl_layer_by_thickness(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                           const double *x, double *g)
{
    // U_s = h B^T w S + ...: by h directly, and through z0 = (z0/h) h in B and in the strain
    layer_strain s;
    double Us[LAYER_ALL] = {0};
    const double h = law->thickness, slope = law->offset / h, ratio = layer_ratio(law);

    layer_strains(t, law, f, x, &s);
    for (int q = 0; q < t->points; ++q) {
        double M[3 * PL_LAYER_STRAINS], e[3], de[3], W, S[3], C[9], dS[3], cov[3];
        pl_face_field(t, t->point[q], M);
        layer_point(t, law, &s, M, f->frame[q], e);
        if (!pl_sheet_stress(&law->sheet, e, &W, S, C)) {
            return;
        }
        mul3(f->frame[q], s.c.K, false, de);
        for (int i = 0; i < 3; ++i) {
            dS[i] =
                S[i] / h - ratio * slope * (C[3 * i] * de[0] + C[3 * i + 1] * de[1] + C[3 * i + 2] * de[2]);
        }

        layer_gather(t, law, f, q, M, dS, Us);
        mul3(f->frame[q], S, true, cov);
        for (int i = 0; i < 3; ++i) {
            Us[PL_LAYER_STRAINS + i] -= f->weight[q] * h * slope * cov[i];
        }
    }

    pl_face_strains_pull(t, x, Us, g);
    if (layer_curves(law)) {
        layer_bend(t, f, &s, law->sheet.moduli, 3 / h * f->area * layer_stiffness(law),
                   3 / h * layer_penalty(law), Us, g);
    }
}

// e = (1 + 2 P) f + P (1, 1, 0)
void pl_layer_strain_by_prestrain(const pl_layer_law *law, const double strain[3], double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (2 * strain[i] + (i < 2)) / layer_ratio(law);
    }
}

void pl_layer_by_prestrain(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                           const double *x, double *g)
{
    layer_strain s;
    double Us[LAYER_ALL] = {0};

    layer_strains(t, law, f, x, &s);
    for (int q = 0; q < t->points; ++q) {
        double M[3 * PL_LAYER_STRAINS], e[3], de[3], W, S[3], C[9], dS[3];
        pl_face_field(t, t->point[q], M);
        layer_point(t, law, &s, M, f->frame[q], e);
        if (!pl_sheet_stress(&law->sheet, e, &W, S, C)) {
            return;
        }
        pl_layer_strain_by_prestrain(law, e, de);
        mul3(C, de, false, dS);
        layer_gather(t, law, f, q, M, dS, Us);
    }

    pl_face_strains_pull(t, x, Us, g);
    if (layer_curves(law)) {
        const double more = 2 / layer_ratio(law);
        layer_bend(t, f, &s, law->sheet.moduli, more * f->area * layer_stiffness(law),
                   more * layer_penalty(law), Us, g);
    }
}

void pl_layer_by_constant(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                          const pl_material *material, pl_material_constant constant, const double *x,
                          double *g)
{
    layer_strain s;
    double Us[LAYER_ALL] = {0}, moduli[9] = {0};

    layer_strains(t, law, f, x, &s);
    for (int q = 0; q < t->points; ++q) {
        double M[3 * PL_LAYER_STRAINS], e[3], dS[3];
        pl_face_field(t, t->point[q], M);
        layer_point(t, law, &s, M, f->frame[q], e);
        pl_sheet_derivative(&law->sheet, material, constant, e, dS, moduli);
        layer_gather(t, law, f, q, M, dS, Us);
    }

    pl_face_strains_pull(t, x, Us, g);
    if (layer_curves(law)) {
        layer_bend(t, f, &s, moduli, f->area * layer_stiffness(law), layer_stiffness(law) * moduli[0], Us, g);
    }
}

void pl_layer_state(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f, const double *x,
                    double strain[3], double tension[3], double curvature[3])
{
    layer_strain s;
    const double centre[2] = {1.0 / 3, 1.0 / 3};
    double M[3 * PL_LAYER_STRAINS], e[3], W, S[3] = {0};

    layer_strains(t, law, f, x, &s);
    pl_face_field(t, centre, M);
    layer_point(t, law, &s, M, f->centre, e);
    if (strain) {
        memcpy(strain, e, sizeof e);
    }

    if (tension) {
        pl_sheet_stress(&law->sheet, e, &W, S, NULL);
        for (int i = 0; i < 3; ++i) {
            tension[i] = law->thickness * S[i];
        }
    }

    if (curvature) {
        mul3(f->centre, s.c.K, false, curvature);
        for (int i = 0; i < 3; ++i) {
            curvature[i] *= layer_ratio(law);
        }
    }
}

void pl_layer_strain_pull(const pl_face_table *t, const pl_layer_law *law, const pl_layer_face *f,
                          const double *x, const double weight[3], double *g)
{
    layer_strain s;
    const double centre[2] = {1.0 / 3, 1.0 / 3};
    double M[3 * PL_LAYER_STRAINS], cov[3], U[PL_LAYER_STRAINS] = {0}, UK[3];

    layer_strains(t, law, f, x, &s);
    pl_face_field(t, centre, M);
    mul3(f->centre, weight, true, cov);

    for (int i = 0; i < 3; ++i) {
        cov[i] *= layer_ratio(law);
        UK[i] = -law->offset * cov[i];
        for (int k = 0; k < t->strains; ++k) {
            U[k] += cov[i] * M[PL_LAYER_STRAINS * i + k];
        }
    }

    pl_face_strains_pull(t, x, U, g);
    if (layer_curves(law) && law->offset != 0) {
        pl_curvature_pull(t, f, &s.c, UK, 0, g);
    }
}
