// Fitting a law to a tensile test. The incompressible uniaxial stress is linear in the constants of every
// law,
//   sigma(s) = sum_j c_j b_j(s),   s = 1 + strain,
// so a fit is one linear least-squares problem of at most three unknowns:
//   min sum_i w_i (sum_j c_j b_j(s_i) - sigma_i)^2,   w_i = h_i / max(|sigma_i|, sigma_max / 10)^2,
// with h_i the length of strain a sample stands for. The weight makes errors relative above a tenth of the
// largest stress, so that the small strains in which most of a robot works are not drowned, and absolute
// below it, where load cells drift; h_i takes out the sampling rate.
#include "base/base.h"
#include "pliant/calib.h"

#define UNKNOWNS 3
#define STRETCH_LOW 0.5  // compression over which a fit must be stable
#define STABLE_STEPS 500 // of the check, in each mode of deformation
#define POISSON 0.49     // what a rubber law gets where nothing is said, as in robot files

// The constants of a law in the order of its basis.
typedef struct basis {
    int count;
    pl_material_constant constant[UNKNOWNS];
} basis;

static bool basis_of(pl_material_model model, basis *out)
{
    switch (model) {
    case PL_LINEAR:
        *out = (basis){1, {PL_YOUNG}};
        return true;
    case PL_NEO_HOOKEAN:
        *out = (basis){1, {PL_C10}};
        return true;
    case PL_MOONEY_RIVLIN:
        *out = (basis){2, {PL_C10, PL_C01}};
        return true;
    case PL_YEOH:
        *out = (basis){3, {PL_C10, PL_C20, PL_C30}};
        return true;
    default:
        return false;
    }
}

// ---- least squares by Givens rotations, a row at a time: R c = d, and the squared rest

typedef struct triangle {
    double R[UNKNOWNS][UNKNOWNS], d[UNKNOWNS], rest;
} triangle;

static void triangle_add(triangle *t, int n, const double row[UNKNOWNS], double value)
{
    double a[UNKNOWNS];
    memcpy(a, row, sizeof a);
    for (int j = 0; j < n; ++j) {
        const double r = hypot(t->R[j][j], a[j]);
        if (r == 0) {
            continue;
        }
        const double c = t->R[j][j] / r, s = a[j] / r;
        for (int k = j; k < n; ++k) {
            const double x = t->R[j][k];
            t->R[j][k] = c * x + s * a[k];
            a[k] = c * a[k] - s * x;
        }
        const double x = t->d[j];
        t->d[j] = c * x + s * value;
        value = c * value - s * x;
    }
    t->rest += value * value;
}

// False when the columns are not independent in double precision.
static bool triangle_solve(const triangle *t, int n, double c[UNKNOWNS])
{
    for (int j = n - 1; j >= 0; --j) {
        double length = 0;
        for (int i = 0; i <= j; ++i) {
            length = hypot(length, t->R[i][j]);
        }
        if (!(fabs(t->R[j][j]) > 1e-11 * length)) {
            return false;
        }
        c[j] = t->d[j];
        for (int k = j + 1; k < n; ++k) {
            c[j] -= t->R[j][k] * c[k];
        }
        c[j] /= t->R[j][j];
    }
    return true;
}

// The least squares with c >= 0: the answer is the free least squares over the constants it does not hold at
// 0, so with at most 3 unknowns all 7 choices are tried. False when every choice has a negative constant.
static bool triangle_solve_positive(const triangle *t, int n, double c[UNKNOWNS])
{
    double best = INFINITY;
    for (unsigned choice = 1; choice < 1u << n; ++choice) {
        triangle part = {.rest = t->rest};
        int m = 0, column[UNKNOWNS];
        for (int j = 0; j < n; ++j) {
            if (choice >> j & 1u) {
                column[m++] = j;
            }
        }
        for (int i = 0; i < n; ++i) {
            double row[UNKNOWNS] = {0};
            for (int j = 0; j < m; ++j) {
                row[j] = t->R[i][column[j]];
            }
            triangle_add(&part, m, row, t->d[i]);
        }
        double try[UNKNOWNS];
        bool good = part.rest < best && triangle_solve(&part, m, try);
        for (int j = 0; good && j < m; ++j) {
            good = try[j] >= 0;
        }
        if (good) {
            best = part.rest;
            memset(c, 0, UNKNOWNS * sizeof *c);
            for (int j = 0; j < m; ++j) {
                c[column[j]] = try[j];
            }
        }
    }
    return best < INFINITY;
}

// ---- stability

typedef enum mode { MODE_UNIAXIAL, MODE_SHEAR, MODE_BIAXIAL, MODE_COUNT } mode;

// First and second invariant of an incompressible stretch s:
//   uniaxial (s, s^-1/2, s^-1/2), pure shear (s, 1, 1/s), equibiaxial (s, s, s^-2).
static double mode_I1(mode m, double s)
{
    switch (m) {
    case MODE_UNIAXIAL:
        return s * s + 2 / s;
    case MODE_SHEAR:
        return s * s + 1 + 1 / (s * s);
    default:
        return 2 * s * s + 1 / (s * s * s * s);
    }
}

static double mode_stress(const pl_material *material, mode m, double s)
{
    if (m == MODE_UNIAXIAL || material->model == PL_LINEAR) {
        return pl_material_uniaxial(material, s);
    }
    return pl_material_sheet(material, s, m == MODE_SHEAR ? 1 : s);
}

// The largest stretch of a mode whose I1 does not pass `limit`, by bisection.
static double mode_reach(mode m, double limit)
{
    double low = 1, high = 1 + sqrt(limit);
    for (int i = 0; i < 60; ++i) {
        const double s = 0.5 * (low + high);
        if (mode_I1(m, s) <= limit) {
            low = s;
        } else {
            high = s;
        }
    }
    return low;
}

// Stress grows with stretch: in tension over the range of the test and in compression to half; in pure shear
// and in equal biaxial stretch up to the I1 reached in the test, for a wall of a chamber is stretched in both
// directions.
static bool fit_stable(const pl_material *material, double stretch_high)
{
    const double limit = mode_I1(MODE_UNIAXIAL, stretch_high);
    for (mode m = MODE_UNIAXIAL; m < MODE_COUNT; ++m) {
        const double low = m == MODE_UNIAXIAL ? fmin(STRETCH_LOW, stretch_high) : 1;
        const double high = m == MODE_UNIAXIAL ? fmax(stretch_high, 1) : mode_reach(m, limit);
        double before = -INFINITY;
        for (int i = 0; i <= STABLE_STEPS; ++i) {
            const double stress = mode_stress(material, m, low + (high - low) * i / STABLE_STEPS);
            if (!(stress > before)) {
                return false;
            }
            before = stress;
        }
    }
    return true;
}

// ---- the fit

static pl_material fit_material(pl_material_model model, const basis *b, const double c[UNKNOWNS])
{
    pl_material material = {.model = model, .poisson = POISSON};
    for (int j = 0; j < b->count; ++j) {
        *pl_material_at(&material, b->constant[j]) = c[j];
    }
    return material;
}

// b_j(s): the stress of the law with its j-th constant 1 and the others 0.
static void basis_row(pl_material_model model, const basis *b, double stretch, double row[UNKNOWNS])
{
    for (int j = 0; j < UNKNOWNS; ++j) {
        row[j] = 0;
    }
    for (int j = 0; j < b->count; ++j) {
        double unit[UNKNOWNS] = {0};
        unit[j] = 1;
        const pl_material material = fit_material(model, b, unit);
        row[j] = pl_material_uniaxial(&material, stretch);
    }
}

// The strain sample i stands for: half way to its neighbours.
static double fit_spacing(const pl_tensile *test, int count, int i)
{
    const double left = test->strain[i > 0 ? i - 1 : 0];
    const double right = test->strain[i + 1 < count ? i + 1 : count - 1];
    return 0.5 * (right - left);
}

static void fit_gather(const pl_tensile *test, int count, double largest, pl_material_model model,
                       const basis *b, triangle *out)
{
    *out = (triangle){0};
    for (int i = 0; i < count; ++i) {
        const double stress = test->stress[i];
        const double w = sqrt(fit_spacing(test, count, i)) / fmax(fabs(stress), 0.1 * largest);
        double row[UNKNOWNS];
        basis_row(model, b, 1 + test->strain[i], row);
        for (int j = 0; j < b->count; ++j) {
            row[j] *= w;
        }
        triangle_add(out, b->count, row, w * stress);
    }
}

// Root mean square of the stress error over the samples, over the largest stress.
static double fit_error(const pl_tensile *test, int count, double largest, const pl_material *material)
{
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        const double e = (pl_material_uniaxial(material, 1 + test->strain[i]) - test->stress[i]) / largest;
        sum += e * e;
    }
    return sqrt(sum / count);
}

static pl_status fit_range(const pl_tensile *test, double strain_high, int *count, double *largest,
                           pl_error *err)
{
    if (!(strain_high >= 0) || !isfinite(strain_high)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "tensile fit: strain_high is %g, must be > 0 (or 0 for the whole test)", strain_high);
    }
    int inside = 0;
    for (int i = 0; i < test->count; ++i) {
        const double strain = test->strain[i], stress = test->stress[i];
        if (!(strain > -1) || !isfinite(strain) || !isfinite(stress) ||
            (i > 0 && strain < test->strain[i - 1])) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "tensile fit: sample %d has strain %g and stress %g; expected finite numbers, strain above "
                "-1 and ascending",
                i, strain, stress);
        }
        if (strain_high == 0 || strain <= strain_high) {
            *count = i + 1;
            *largest = fmax(*largest, fabs(stress));
            inside += strain != 0;
        }
    }
    if (inside < UNKNOWNS) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "tensile fit: %d samples with a strain up to %g, expected at least %d; the test holds %d", inside,
            strain_high, UNKNOWNS, test->count);
    }
    if (!(*largest > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "tensile fit: every stress up to strain %g is 0", strain_high);
    }
    return PL_OK;
}

pl_status pl_tensile_fit_model(const pl_tensile *test, pl_material_model model, double strain_high,
                               pl_tensile_fit *out, pl_error *err)
{
    *out = (pl_tensile_fit){0};
    basis b;
    if (!basis_of(model, &b)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "tensile fit: no fit of the law %s; expected linear, neo_hookean, mooney_rivlin or yeoh",
            pl_material_model_name(model));
    }
    int count = 0;
    double largest = 0;
    const pl_status status = fit_range(test, strain_high, &count, &largest, err);
    if (status != PL_OK) {
        return status;
    }

    // free constants first; where they give an unstable law, none below 0
    triangle t;
    double c[UNKNOWNS] = {0};
    fit_gather(test, count, largest, model, &b, &t);
    const double stretch_high = 1 + test->strain[count - 1];
    bool solved = triangle_solve(&t, b.count, c);
    pl_material material = fit_material(model, &b, c);
    if (!solved || !fit_stable(&material, stretch_high)) {
        solved = triangle_solve_positive(&t, b.count, c);
        material = fit_material(model, &b, c);
    }
    if (!solved || pl_material_check(&material, "fit", NULL) != PL_OK) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "tensile fit: no stable %s law fits; expected stress that grows with strain (largest |stress| "
            "%g MPa up to strain %g)",
            pl_material_model_name(model), largest, stretch_high - 1);
    }
    *out = (pl_tensile_fit){.material = material,
                            .error = fit_error(test, count, largest, &material),
                            .strain_low = test->strain[0],
                            .strain_high = test->strain[count - 1],
                            .stable = fit_stable(&material, stretch_high)};
    return PL_OK;
}
