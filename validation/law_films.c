// Free dielectric films against the ideal dielectric elastomer. A film held at three points only, so that
// nothing but its own stiffness keeps it flat, under a voltage: with the stretches l in its plane and l3
// across,
//   psi = W(l, l, l3) - eps / 2 (U / t)^2 l^2 / l3,   dpsi/dl = dpsi/dl3 = 0,
// has solutions up to the pull-in voltage, the maximum of U over l. Films given by a region of prisms and by
// a face of a body of tets.
#include "validate.h"

#define CASES 10
#define PERMITTIVITY 8.8541878128e-12
#define FLAT 1e-6    // of the length
#define STRAIN 0.005 // of the strain
#define PULL_IN 0.01 // of the voltage

typedef struct film_case {
    double length, width, thickness, permittivity, c10, c01, jm, poisson, mu, bulk;
    bool prisms;
} film_case;

static double uniform(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

static film_case film_random(uint64_t *seed, int i)
{
    film_case c = {
        .length = uniform(seed, 8, 30), .permittivity = uniform(seed, 2.5, 8), .prisms = i % 5 != 4};
    c.width = c.length * uniform(seed, 0.4, 1);
    c.thickness = c.length * uniform(seed, 0.01, 0.05) * (c.prisms ? 1 : 5);
    c.poisson = uniform(seed, 0.45, 0.495);
    c.c10 = uniform(seed, 0.01, 0.2);
    c.c01 = i % 4 == 1 ? c.c10 * uniform(seed, 0, 0.1) : 0;
    c.jm = i % 4 == 3 ? uniform(seed, 60, 150) : 0;
    c.mu = 2 * (c.c10 + c.c01);
    c.bulk = 2 * c.mu * (1 + c.poisson) / (3 * (1 - 2 * c.poisson));

    return c;
}

// ---- the ideal dielectric elastomer
static double film_energy(const film_case *c, double l, double l3)
{
    const double J = l * l * l3, I1 = (2 * l * l + l3 * l3) / cbrt(J * J);
    const double I2 = (l * l * l * l + 2 * l * l * l3 * l3) / cbrt(J * J * J * J);
    const double e =
        c->jm > 0 ? -c->mu * c->jm / 2 * log(1 - (I1 - 3) / c->jm) : c->c10 * (I1 - 3) + c->c01 * (I2 - 3);
    return e + c->bulk / 2 * (J - 1) * (J - 1);
}

// eps (U / t)^2 at the stretch l, and l3 there: W_l = k l / l3 and W_l3 = -k l^2 / (2 l3^2).
static double film_field(const film_case *c, double l, double *l3)
{
    const double h = 1e-5;
    double low = 0.7 / (l * l), high = 1.3 / (l * l), W_l = 0;

    for (int i = 0; i < 80; ++i) {
        *l3 = 0.5 * (low + high);
        W_l = (film_energy(c, l + h, *l3) - film_energy(c, l - h, *l3)) / (2 * h);
        const double W_3 = (film_energy(c, l, *l3 + h) - film_energy(c, l, *l3 - h)) / (2 * h);
        *(W_3 + W_l * l / (2 * *l3) > 0 ? &high : &low) = *l3;
    }

    return W_l * *l3 / l;
}

static double film_volts(const film_case *c, double field)
{
    return c->thickness * sqrt(field / (PERMITTIVITY * c->permittivity));
}

// The stretch at which the field is largest.
static double film_pull_in(const film_case *c)
{
    double low = 1, high = 1.8, l3;
    for (int i = 0; i < 60; ++i) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        *(film_field(c, a, &l3) < film_field(c, b, &l3) ? &low : &high) =
            film_field(c, a, &l3) < film_field(c, b, &l3) ? a : b;
    }

    return 0.5 * (low + high);
}

static double film_stretch(const film_case *c, double field, double most, double *l3)
{
    double low = 1, high = most;
    for (int i = 0; i < 60; ++i) {
        const double l = 0.5 * (low + high);
        *(film_field(c, l, l3) < field ? &low : &high) = l;
    }
    return low;
}

// ---- the same, solved
static bool film_open(validate_robot *v, const film_case *c, double size)
{
    const double L = c->length, W = c->width, e = 1e-3;
    char law[200], mesh[300], held[600];
    const double y0 = c->prisms ? 0 : -W / 2, z0 = c->prisms ? 0 : -c->thickness / 2;

    if (c->jm > 0) {
        snprintf(law, sizeof law, "model: gent, mu: %.17g, jm: %.17g", c->mu, c->jm);
    } else {
        snprintf(law, sizeof law, "model: mooney_rivlin, c10: %.17g, c01: %.17g", c->c10, c->c01);
    }

    if (c->prisms) {
        snprintf(
            mesh, sizeof mesh,
            "sheets: [{region: body, outline: [[0, 0], [%.17g, 0], [%.17g, %.17g], [0, %.17g]], from: 0, "
            "to: %.17g}]",
            L, L, W, W, c->thickness);
    } else {
        snprintf(mesh, sizeof mesh, "design: {kind: beam, length: %.17g, width: %.17g, height: %.17g}", L, W,
                 c->thickness);
    }

    snprintf(held, sizeof held,
             "  - {name: a, box: [[%g, %g, %g], [%g, %g, %g]]}\n"
             "  - {name: b, box: [[%g, %g, %g], [%g, %g, %g]], axes: [y, z]}\n"
             "  - {name: c, box: [[%g, %g, %g], [%g, %g, %g]], axes: [z]}\n",
             -e, y0 - e, z0 - e, e, y0 + e, z0 + e, L - e, y0 - e, z0 - e, L + e, y0 + e, z0 + e, -e,
             y0 + W - e, z0 - e, e, y0 + W + e, z0 + e);
    pl_statics_options options = pl_statics_options_default();
    options.force_tolerance = 1e-9;
    options.length_tolerance = 1e-8;

    return validate_open(v, &options,
                         "pliant: 1\nmesh: {%s, size: %g, order: 2}\nmaterials: {m: {%s, poisson: %.17g}}\n"
                         "regions: {body: m}\nfixed:\n%sactuators:\n  - {name: U, kind: film, %s, drive: "
                         "voltage, thickness: %.17g, permittivity: %.17g}\n",
                         mesh, size, law, c->poisson, held, c->prisms ? "region: body" : "surface: top",
                         c->thickness, c->permittivity);
}

typedef struct film_law {
    int cases, failed;
    double flat, strain;
} film_law;

// Strain and flatness of a solved film.
static void film_compare(const film_case *c, const validate_robot *v, double l, double l3, film_law *r)
{
    const pl_mesh_view m = pl_mesh_get(pl_robot_mesh(v->robot));
    const double *x = pl_state_positions(v->state), z0 = c->prisms ? 0 : -c->thickness / 2;
    double flat = 0, far[2] = {0};

    for (int32_t i = 0; i < m.vertex_count; ++i) {
        const double *X = m.position + 3 * (size_t)i, *y = x + 3 * (size_t)i;
        flat = fmax(flat, fabs(y[2] - z0 - l3 * (X[2] - z0)) / c->length);
        far[0] = X[0] >= far[0] && X[2] == z0 ? X[0] : far[0];
        far[1] = far[0] == X[0] && X[2] == z0 ? y[0] : far[1];
    }

    r->flat = fmax(r->flat, flat);
    r->strain = fmax(r->strain, fabs((far[1] / far[0] - 1) / (l - 1) - 1));
}

static bool film_solves(validate_robot *v, double U)
{
    return pl_statics_solve(v->statics, v->state, &U, &v->report, &v->err) == PL_OK &&
           v->report.outcome == PL_SOLVED;
}

static void film_run(const film_case *c, double size, film_law *r)
{
    const double fraction[] = {0.1, 0.5, 0.95, 1 - PULL_IN}, most = film_pull_in(c);
    double l3, l_far = 0;
    const double highest = film_volts(c, film_field(c, most, &l3));
    validate_robot v;
    bool good = film_open(&v, c, size);

    for (int k = 0; good && k < 4; ++k) {
        const double U = fraction[k] * highest;
        const double l = film_stretch(c, film_field(c, most, &l3) * fraction[k] * fraction[k], most, &l3);
        l_far = l;
        good = film_solves(&v, U);
        if (!good) {
            printf("not solved at %g of the pull-in voltage: %s\n", fraction[k], v.report.message);
        } else if (k < 3) {
            film_compare(c, &v, l, l3, r);
        }
    }

    if (good && film_solves(&v, (1 + PULL_IN) * highest)) {
        printf("solved beyond the pull-in voltage\n");
        good = false;
    }

    if (v.robot) {
        printf(
            "%s %.1f x %.1f x %.2f mm, nu %.3f%s: %d elements, pull-in %.0f V, stretch %.4f there, %.4f at "
            "0.99 of it: flat to %.1e, strain to %.1e%s\n",
            c->prisms ? "prisms" : "tets  ", c->length, c->width, c->thickness, c->poisson,
            c->jm > 0    ? ", gent"
            : c->c01 > 0 ? ", mooney"
                         : "",
            validate_elements(&v), highest, most, l_far, r->flat, r->strain, good ? "" : "   <-- FAIL");
        fflush(stdout);
        validate_close(&v);
    }

    r->cases++;
    r->failed += !good;
}

int main(void)
{
    uint64_t seed = 20261118;
    film_law r = {0};

    for (int i = 0; i < CASES; ++i) {
        const film_case c = film_random(&seed, i);
        film_run(&c, c.length / 4, &r);
        film_run(&c, c.length / 7, &r);
    }

    const bool flat = r.flat <= FLAT, strain = r.strain <= STRAIN;
    printf("law: a free film stays flat | cases %d | worst %.1e of its length | allowed %.0e | %s\n", r.cases,
           r.flat, FLAT, flat ? "ok" : "FAIL");
    printf("law: strain of a free film as that of the ideal dielectric elastomer, to 0.95 of pull-in | cases "
           "%d | "
           "worst %.4f %% | allowed %.1f %% | %s\n",
           r.cases, 100 * r.strain, 100 * STRAIN, strain ? "ok" : "FAIL");
    printf("law: a film has an equilibrium at 0.99 of the pull-in voltage and none at 1.01 | cases %d | "
           "worst %d "
           "violated | allowed 0 | %s\n",
           r.cases, r.failed, r.failed ? "FAIL" : "ok");

    return flat && strain && !r.failed ? 0 : 1;
}
