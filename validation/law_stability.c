// Solved means stable. Random slender bodies (clamped strips shortened, columns under a dead load, columns
// with a cable along their axis) below and beyond their buckling loads, at two mesh sizes each: at every
// state called solved the tangent, factored again for a derivative, has no negative eigenvalue, and beyond
// the critical load the body is bent. What is not solved is counted, and its state is in balance or not
// there. usage: law_stability [SEED]
#include "base/base.h"
#include "validate.h"

#define CASES 12
#define PI 3.14159265358979323846

typedef struct tally {
    int cases, solved, wrong, unbalanced;
    double most_factors;
} tally;

// Negative eigenvalues of the exact tangent at the state; -1: no derivative.
static int law_negative(validate_robot *v)
{
    double marker[6];
    const pl_parameter gravity = {.kind = PL_PARAMETER_GRAVITY, .part = 2};
    const pl_jacobian out = {.marker = marker};
    pl_jacobian_report report;
    return pl_statics_jacobian(v->statics, v->state, &gravity, 1, &out, &report, &v->err) == PL_OK
               ? report.negative_count
               : -1;
}

static bool law_balanced(validate_robot *v)
{
    double residual = 0, largest = 0;
    bool inverted = false;
    return pl_statics_check(v->statics, v->state, &residual, &largest, &inverted, &v->err) == PL_OK &&
           !inverted && residual <= fmax(1e-5 * largest, 1e-10);
}

// One body at `times` its critical load.
static void law_case(tally *t, int kind, double length, double width, double height, double size,
                     double times)
{
    static const char *const name[] = {"strip", "column", "cable"};
    const double inertia = width * pow(height, 3) / 12, area = width * height,
                 clamped = 4 * PI * PI * inertia / (length * area), // Euler's shortening, Young's modulus 1
        free_end = PI * PI * inertia / (4 * length * length),
                 guided = PI * PI * inertia / (length * length); // a force along the deformed axis at the tip
    char what[400] = "";
    double command = NAN;

    if (kind == 0) {
        snprintf(what, sizeof what, "  - {surface: tip, move: [%.9g, 0, 0]}\n", -times * clamped);
    } else if (kind == 1) {
        snprintf(what, sizeof what, "loads: {forces: [{marker: tip, force: [%.9g, 0, 0]}]}\n",
                 -times * free_end);
    } else {
        snprintf(
            what, sizeof what,
            "actuators:\n  - {name: pull, kind: cable, through: [[0, 0, 0], [%.9g, 0, 0]], radius: %.9g, "
            "drive: tension, range: [0, 100]}\n",
            0.98 * length, 0.5 * height);
        command = times * guided;
    }

    validate_robot v;
    if (!validate_open(&v, NULL,
                       "pliant: 1\nname: slender\n"
                       "mesh: {design: {kind: beam, length: %.9g, width: %.9g, height: %.9g}, size: %.9g}\n"
                       "materials: {m: {model: linear, young: 1 MPa, poisson: 0.3, density: 1000 kg/m^3}}\n"
                       "regions: {body: m}\nfixed:\n  - {surface: base}\n%s"
                       "markers: {tip: {surface: tip}, middle: {at: [%.9g, 0, 0]}}\n%s",
                       length, width, height, size, kind == 0 ? what : "", 0.5 * length,
                       kind == 0 ? "" : what)) {
        t->wrong++;
        return;
    }

    ++t->cases;
    const bool done = pl_statics_solve(v.statics, v.state, &command, &v.report, &v.err) == PL_OK,
               solved = done && v.report.outcome == PL_SOLVED;
    const int negative = solved ? law_negative(&v) : -1;
    const double y = validate_tip(&v, kind == 0, 1), z = validate_tip(&v, kind == 0, 2), bent = hypot(y, z);

    // near the critical load neither side is certain: shear and mesh move it by a few percent
    const bool straight_wrong = solved && times > 1.15 && kind < 2 && bent < 0.02 * height;
    const bool wrong = (solved && negative != 0) || straight_wrong;
    t->solved += solved;
    t->wrong += wrong;
    t->unbalanced += !law_balanced(&v);
    t->most_factors = fmax(t->most_factors, v.report.factorizations);
    printf(
        "%-6s %5.1f x %4.2f x %4.2f mm, size %4.2f, %.2f of its critical load: %s, %d negative, bent by %.3f "
        "mm, %d factorisations%s\n",
        name[kind], length, width, height, size, times, pl_outcome_name(v.report.outcome), negative, bent,
        v.report.factorizations, wrong ? "  <-- WRONG" : "");
    fflush(stdout);
    validate_close(&v);
}

int main(int argc, char **argv)
{
    pl_random random;
    pl_random_seed(&random, argc > 1 ? (uint64_t)strtoull(argv[1], NULL, 10) : 27);
    tally t = {0};
    for (int k = 0; k < CASES; ++k) {
        const double height = pl_random_uniform(&random, 1.5, 3),
                     width = height * pl_random_uniform(&random, 1.2, 2.5),
                     length = height * pl_random_uniform(&random, 20, 40),
                     times = exp(pl_random_uniform(&random, log(0.5), log(k % 3 == 0 ? 6 : 1.8)));
        for (int fine = 0; fine < 2; ++fine) {
            law_case(&t, k % 3, length, width, height, fine ? 1.2 * height : 2 * height, times);
        }
    }

    printf("%d solved of %d, at most %.0f factorisations\n", t.solved, t.cases, t.most_factors);
    const bool stable = t.wrong == 0 && t.solved > 0, balanced = t.unbalanced == 0;
    printf("law: solved means stable | cases %d | worst %d of %d solved are not | allowed 0 | %s\n", t.cases,
           t.wrong, t.solved, stable ? "ok" : "FAIL");
    printf("law: a returned state is in balance | cases %d | worst %d are not | allowed 0 | %s\n", t.cases,
           t.unbalanced, balanced ? "ok" : "FAIL");

    return stable && balanced ? 0 : 1;
}
