// Fitting a law to a tensile test. The Kirchhoff stress of a bar depends on its stretch s at constant volume,
// and is linear in the constants of a law but for the limit of gent and the exponents of ogden,
//   sigma(l) l = sum_j c_j b_j(s) s,   s = l J^(-1/3),   l = 1 + strain,   3 K J (J - 1) = sigma l.
// With J that of the measured stress, at the bulk modulus K of the last round (the first one: of an
// incompressible bar; K / mu is given by Poisson's ratio), a fit is one linear least-squares problem
// of at most three unknowns, inside a search over the others:
//   min sum_i w_i (sum_j c_j b_j(s_i) - sigma_i)^2,   w_i = h_i / max(|sigma_i|, sigma_max / 10)^2,
// with h_i the length of strain a sample stands for. The weight makes errors relative above a tenth of the
// largest stress, so that the small strains in which most of a robot works are not drowned, and absolute
// below it, where load cells drift; h_i takes out the sampling rate.
#include "base/base.h"
#include "calib/calib_search.h"
#include "material/material.h"
#include "material/material_table.h"
#include "pliant/calib.h"

#define UNKNOWNS 3
#define STRETCH_LOW 0.5  // compression over which a fit must be stable
#define STABLE_STEPS 500 // of the check, in each mode of deformation
#define BULK_ROUNDS 20   // of the bulk modulus, which changes a stress by less than a tenth
#define NEWTON_STEPS 6

// The constants of a law in the order of its basis, and the others as they are at the moment.
typedef struct basis {
    int count;
    pl_material_constant constant[UNKNOWNS];
    int other_count;
    pl_material_constant other[UNKNOWNS];
    double value[UNKNOWNS]; // of the others
} basis;

// Those that the stress is linear in, and those that it is not, from the table of laws. `terms`: of ogden.
static bool basis_of(pl_material_model model, int terms, basis *out)
{
    const pl_material_row *law = pl_material_row_of(model);
    const unsigned fixed = PL_TAKES_BULK | PL_TAKES(PL_YOUNG);
    const int most = model == PL_OGDEN ? terms : UNKNOWNS;

    *out = (basis){0};
    for (int c = 0; law && law->fit && c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        if (law->fit >> c & 1u && out->count < most) {
            out->constant[out->count++] = (pl_material_constant)c;
        } else if ((law->takes & ~law->fit & ~fixed) >> c & 1u && out->other_count < most) {
            out->other[out->other_count++] = (pl_material_constant)c;
        }
    }

    return out->count > 0;
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
static bool triangle_solve_positive(const triangle *t, int n, double c[UNKNOWNS], double *rest)
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

        // the triangle of these columns alone, from the rows of the whole
        for (int i = 0; i < n; ++i) {
            double row[UNKNOWNS] = {0};
            for (int j = 0; j < m; ++j) {
                row[j] = t->R[i][column[j]];
            }
            triangle_add(&part, m, row, t->d[i]);
        }

        // better than the best choice so far, and nothing below 0
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

    if (rest) {
        *rest = best;
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
    pl_material material = {.model = model, .poisson = PL_POISSON_DEFAULT};
    for (int j = 0; j < b->count; ++j) {
        *pl_material_at(&material, b->constant[j]) = c[j];
    }
    for (int j = 0; j < b->other_count; ++j) {
        *pl_material_at(&material, b->other[j]) = b->value[j];
    }

    return material;
}

// b_j(s) s / l: the stress of the law with its j-th constant 1 and the others 0, at the volume ratio J.
static void basis_row(pl_material_model model, const basis *b, double stretch, double J, double row[UNKNOWNS])
{
    const double own = stretch / cbrt(J);
    for (int j = 0; j < UNKNOWNS; ++j) {
        row[j] = 0;
    }

    for (int j = 0; j < b->count; ++j) {
        double unit[UNKNOWNS] = {0};
        unit[j] = 1;
        const pl_material material = fit_material(model, b, unit);
        row[j] = pl_material_uniaxial(&material, own) * own / stretch;
    }
}

// The strain sample i stands for: midway to its neighbours.
static double fit_spacing(const pl_tensile *test, int count, int i)
{
    const double left = test->strain[i > 0 ? i - 1 : 0];
    const double right = test->strain[i + 1 < count ? i + 1 : count - 1];
    return 0.5 * (right - left);
}

// Root mean square of the stress error over the samples, over the largest stress.
static double fit_error(const pl_tensile *test, int count, double largest, const pl_material *material)
{
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        const double e = (pl_material_tensile(material, 1 + test->strain[i]) - test->stress[i]) / largest;
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
            "tensile fit: %d samples with a strain up to %g, expected at least %d; the test has %d", inside,
            strain_high, UNKNOWNS, test->count);
    }

    if (!(*largest > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "tensile fit: every stress up to strain %g is 0", strain_high);
    }

    return PL_OK;
}

// The part of a test that is fitted, by one law.
typedef struct fit_job {
    const pl_tensile *test;
    int count;
    double largest, stretch_high;
    pl_material_model model;
    basis b;
    double bulk;   // MPa; infinite: incompressible
    bool positive; // constants >= 0 only, which are stable
    int stride;    // of the samples used in a search
} fit_job;

// Every `stride`-th sample.
static void fit_gather(const fit_job *job, int stride, triangle *out)
{
    const pl_tensile *test = job->test;
    *out = (triangle){0};
    for (int i = 0; i < job->count; i += stride) {
        const double stress = test->stress[i], stretch = 1 + test->strain[i];
        const double w = sqrt(fit_spacing(test, job->count, i)) / fmax(fabs(stress), 0.1 * job->largest);
        double row[UNKNOWNS];
        basis_row(job->model, &job->b, stretch, pl_material_tensile_volume(job->bulk, stretch, stress), row);
        for (int j = 0; j < job->b.count; ++j) {
            row[j] *= w;
        }
        triangle_add(out, job->b.count, row, w * stress);
    }
}

// The same linearised at a law: sigma + sum_j (c_j - own_j) dsigma/dc_j, with the bulk modulus that follows
// from the constants.
static void fit_gather_at(const fit_job *job, const pl_material *own, triangle *out)
{
    const pl_tensile *test = job->test;
    *out = (triangle){0};
    for (int i = 0; i < job->count; ++i) {
        const double stress = test->stress[i], stretch = 1 + test->strain[i];
        const double w = sqrt(fit_spacing(test, job->count, i)) / fmax(fabs(stress), 0.1 * job->largest);
        double row[UNKNOWNS] = {0}, value = stress - pl_material_tensile(own, stretch);

        for (int j = 0; j < job->b.count; ++j) {
            pl_material side[2] = {*own, *own};
            double *low = pl_material_at(&side[0], job->b.constant[j]),
                   *high = pl_material_at(&side[1], job->b.constant[j]);
            const double c = *low, h = 1e-6 * job->largest;
            *low = c - h;
            *high = c + h;
            row[j] = (pl_material_tensile(&side[1], stretch) - pl_material_tensile(&side[0], stretch)) /
                     (*high - *low);
            value += row[j] * c;
            row[j] *= w;
        }

        triangle_add(out, job->b.count, row, w * value);
    }
}

// Least squares over the linear constants with the others as they are, linearised at the law `own` if given;
// where the free ones give an unstable law, none below 0. False when nothing fits.
static bool fit_linear(const fit_job *job, const pl_material *own, pl_material *material)
{
    triangle t;
    double c[UNKNOWNS] = {0};

    if (own) {
        fit_gather_at(job, own, &t);
    } else {
        fit_gather(job, 1, &t);
    }

    bool solved = triangle_solve(&t, job->b.count, c);
    *material = fit_material(job->model, &job->b, c);
    if (!solved || !fit_stable(material, job->stretch_high)) {
        solved = triangle_solve_positive(&t, job->b.count, c, NULL);
        *material = fit_material(job->model, &job->b, c);
    }

    return solved && pl_material_check(material, "fit", NULL) == PL_OK &&
           isfinite(fit_error(job->test, job->count, job->largest, material));
}

// ---- constants in which the stress is not linear

#define SEARCH_SAMPLES 100 // of the test, enough to tell exponents apart

// The least weighted squared error with the other constants as they are.
static double fit_rest(const fit_job *job)
{
    triangle t;
    double c[UNKNOWNS] = {0}, rest;

    fit_gather(job, job->stride, &t);
    const bool solved = job->positive ? triangle_solve_positive(&t, job->b.count, c, &rest)
                                      : triangle_solve(&t, job->b.count, c);
    rest = job->positive ? rest : t.rest;

    return solved && isfinite(rest) ? rest : INFINITY;
}

// Gent: Jm = (I1 - 3 at the largest strain) (1 + e^x).
static double fit_gent_at(void *user, const double *x)
{
    fit_job *job = user;
    const double reached = mode_I1(MODE_UNIAXIAL, job->stretch_high) - 3;

    if (x[0] > 20) {
        return INFINITY; // without any influence
    }
    job->b.value[0] = reached * (1 + exp(x[0]));
    return fit_rest(job);
}

// Ogden: exponents that differ and are neither 0 nor beyond what rubber shows.
static double fit_ogden_at(void *user, const double *x)
{
    fit_job *job = user;
    for (int k = 0; k < job->b.other_count; ++k) {
        if (!(fabs(x[k]) > 0.2 && fabs(x[k]) < 30)) {
            return INFINITY;
        }
        for (int j = 0; j < k; ++j) {
            if (fabs(x[k] - x[j]) < 0.5) {
                return INFINITY;
            }
        }

        job->b.value[k] = x[k];
    }

    return fit_rest(job);
}

#define OGDEN_STARTS 5
static const double ogden_start[UNKNOWNS][OGDEN_STARTS][UNKNOWNS] = {
    {{2}, {-2}, {1}, {4}, {8}},
    {{2, -2}, {1.5, 5}, {1, 10}, {-1, 4}, {2, 16}},
    {{1.3, 5, -2}, {2, -2, 8}, {1, 4, 12}, {-1, 3, 8}, {2, 6, 18}}};

// The best of several starts on a part of the samples, then from there on all of them; leaves its constants
// in the job.
static double fit_search(fit_job *job)
{
    const bool gent = job->model == PL_GENT;
    const calib_function f = gent ? fit_gent_at : fit_ogden_at;
    const int n = job->b.other_count;
    double best = INFINITY, at[UNKNOWNS] = {0};

    job->stride = job->count > SEARCH_SAMPLES ? job->count / SEARCH_SAMPLES : 1;
    for (int k = 0; k < OGDEN_STARTS; ++k) {
        double x[UNKNOWNS];
        memcpy(x, ogden_start[n - 1][k], sizeof x);
        x[0] = gent ? 2.0 * k - 2 : x[0];
        const double error = calib_search(f, job, n, x, 0.4, 1e-10);
        if (error < best) {
            best = error;
            memcpy(at, x, sizeof at);
        }
    }

    job->stride = 1;
    best = isfinite(best) ? calib_search(f, job, n, at, 0.05, 1e-13) : best;
    f(job, at);

    return best;
}

#define OGDEN_WORTH 0.5    // a further term must at least halve the squared error
#define OGDEN_ENOUGH 1e-12 // relative squared error below which there is nothing left to explain

// Ogden with as many terms as are worth it; leaves its constants in the job.
static void fit_ogden(fit_job *job)
{
    double best = INFINITY;
    basis chosen = job->b;

    for (int terms = 1; terms <= PL_OGDEN_TERMS && best > OGDEN_ENOUGH * job->stretch_high; ++terms) {
        basis_of(PL_OGDEN, terms, &job->b);
        const double error = fit_search(job);
        if (error < OGDEN_WORTH * best) {
            best = error;
            chosen = job->b;
        }
    }

    job->b = chosen;
}

// False when nothing fits.
static bool fit_law(fit_job *job, pl_material *material)
{
    if (job->model == PL_GENT) {
        fit_search(job);
    } else if (job->model == PL_OGDEN) {
        fit_ogden(job);
        // where free constants give an unstable law, the search goes on among those that are stable
        triangle all;
        double c[UNKNOWNS] = {0};
        fit_gather(job, 1, &all);
        triangle_solve(&all, job->b.count, c);
        *material = fit_material(job->model, &job->b, c);
        if (!fit_stable(material, job->stretch_high)) {
            job->positive = true;
            fit_ogden(job);
        }
    }

    return fit_linear(job, NULL, material);
}

// The law and the bulk modulus that belongs to it: first rounds with the volume of the measured stress, then
// Gauss-Newton steps on the stress of the law itself. False when nothing fits.
static bool fit_compressible(fit_job *job, pl_material *material)
{
    job->bulk = INFINITY;
    bool fits = fit_law(job, material);
    if (!pl_material_is_rubber(job->model)) {
        return fits;
    }

    // the bulk modulus K = g(K) that its own law gives, by the secant method
    double last = INFINITY, last_gap = 0;
    for (int round = 0; fits && round < BULK_ROUNDS; ++round) {
        double mu, own;
        pl_material_moduli(material, &mu, &own);
        const double gap = own - job->bulk, run = job->bulk - last;
        if (fabs(gap) <= 1e-7 * own) {
            break;
        }
        const double slope = isfinite(run) && run != 0 ? (gap - last_gap) / run : -1;
        last = job->bulk;
        last_gap = gap;
        job->bulk = isfinite(gap) && slope < -0.1 ? job->bulk - gap / slope : own;
        fits = fit_law(job, material);
    }

    for (int step = 0; fits && step < NEWTON_STEPS; ++step) {
        const pl_material own = *material;
        if (!fit_linear(job, &own, material)) {
            *material = own;
            break;
        }
    }

    return fits;
}

pl_status pl_tensile_fit_model(const pl_tensile *test, pl_material_model model, double strain_high,
                               pl_tensile_fit *out, pl_error *err)
{
    *out = (pl_tensile_fit){0};
    fit_job job = {.test = test, .model = model};
    if (!basis_of(model, 1, &job.b)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "tensile fit: no fit of the law %s; expected linear, neo_hookean, mooney_rivlin, yeoh, "
            "gent or ogden",
            pl_material_model_name(model));
    }

    const pl_status status = fit_range(test, strain_high, &job.count, &job.largest, err);
    if (status != PL_OK) {
        return status;
    }
    job.stretch_high = 1 + test->strain[job.count - 1];
    pl_material material;

    if (!fit_compressible(&job, &material)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "tensile fit: no stable %s law fits; expected stress that increases with strain "
                       "(largest |stress| "
                       "%g MPa up to strain %g)",
                       pl_material_model_name(model), job.largest, job.stretch_high - 1);
    }

    *out = (pl_tensile_fit){.material = material,
                            .error = fit_error(test, job.count, job.largest, &material),
                            .strain_low = test->strain[0],
                            .strain_high = test->strain[job.count - 1],
                            .stable = fit_stable(&material, job.stretch_high)};

    return PL_OK;
}
