// A library material that states a fit error keeps it when it is solved: a bar of the material, free to
// contract, is stretched to strains of the fitted range, and its stress is compared with the tensile test
// the material was fitted to (PLIANT_DATA/tensile), over as many strains. Where the data are absent, with the
// closed form that the fit minimised.
#include "pliant/calib.h"
#include "validate.h"

#define STRAINS 3
#define SIDE 4.0
#define LENGTH 12.0
#define ALLOWED_ERROR 0.001 // of the largest stress, beyond the error stated
#define ALLOWED_CURVE 1e-5  // of the closed form

// Engineering stress of a solved bar at a strain; NAN if it is not solved.
static double bar_stress(const char *material, double strain, double size)
{
    validate_robot v;
    validate_table t = {0};

    if (!validate_open(
            &v, NULL,
            "pliant: 1\nmesh: {design: {kind: beam, length: %g, width: %g, height: %g}, size: %g}\n"
            "surfaces: {left: {plane: {point: [0, %g, 0], normal: [0, 1, 0]}}}\n"
            "materials: {m: {use: %s}}\nregions: {body: m}\nfixed:\n"
            "  - {surface: base, axes: [x]}\n  - {surface: tip, axes: [x], move: [%.17g, 0, 0]}\n"
            "  - {surface: left, axes: [y]}\n  - {surface: bottom, axes: [z]}\n",
            LENGTH, SIDE, SIDE, size, -SIDE / 2, material, strain * LENGTH)) {
        return NAN;
    }

    pl_reaction reaction[4];
    double stress = NAN;
    if (validate_solve(&t, &v, NULL) && pl_statics_reactions(v.statics, v.state, reaction) == PL_OK) {
        stress = reaction[1].force[0] / (SIDE * SIDE);
    }
    validate_close(&v);

    return stress;
}

// The test an entry names: the word before ".csv" in its source.
static bool test_read(const pl_material_entry *entry, pl_tensile *test)
{
    const char *data = getenv("PLIANT_DATA"), *end = strstr(entry->source, ".csv"), *start = end;
    while (start > entry->source && start[-1] != ' ') {
        --start;
    }

    char path[800], *text = NULL;
    size_t length = 0;
    pl_error err = {0};
    snprintf(path, sizeof path, "%s/tensile/%.*s.csv", data ? data : "../shared/data", (int)(end - start),
             start);
    const bool read = pl_file_read(path, &text, &length, &err) == PL_OK &&
                      pl_tensile_parse(text, length, path, test, &err) == PL_OK;
    free(text);

    return read;
}

// Measured stress at a strain, between the samples beside it.
static double test_stress(const pl_tensile *test, double strain)
{
    int i = 1;
    while (i + 1 < test->count && test->strain[i] < strain) {
        ++i;
    }

    const double a = test->strain[i - 1], b = test->strain[i];
    const double w = b > a ? (strain - a) / (b - a) : 1;
    return (1 - w) * test->stress[i - 1] + w * test->stress[i];
}

typedef struct law_result {
    int cases, measured;
    double worst_error, worst_curve; // beyond the error stated; relative to the closed form
    char error_name[80], curve_name[80];
} law_result;

// A bar of one material at one mesh size; the closed form over the same strains says what the fit promises
// there, the error stated what it promises over the whole test.
static void law_material(const pl_material_entry *entry, double size, law_result *r)
{
    pl_tensile test = {0};
    const bool measured = test_read(entry, &test);
    double sum = 0, own = 0, largest = 0, curve = 0;

    for (int k = 1; k <= STRAINS; ++k) {
        const double strain = entry->strain_high * k / STRAINS;
        const double stress = bar_stress(entry->name, strain, size);
        const double closed = pl_material_tensile(&entry->material, 1 + strain);
        const double goal = measured ? test_stress(&test, strain) : closed;
        largest = fmax(largest, fabs(goal));
        sum += (stress - goal) * (stress - goal);
        own += (closed - goal) * (closed - goal);
        curve = isnan(stress) ? INFINITY : fmax(curve, fabs(stress / closed - 1));
    }

    const double error = sqrt(sum / STRAINS) / largest, promised = sqrt(own / STRAINS) / largest;
    const double beyond = isnan(error) ? INFINITY : error - fmax(entry->fit_error, promised);
    printf("%-28s size %g: error %.2f %% (stated %.2f %%), closed form %.1e\n", entry->name, size,
           100 * error, 100 * entry->fit_error, curve);
    fflush(stdout);
    r->cases++;
    r->measured += measured;
    if (r->cases == 1 || beyond > r->worst_error) {
        r->worst_error = beyond;
        snprintf(r->error_name, sizeof r->error_name, "%s", entry->name);
    }

    if (r->cases == 1 || curve > r->worst_curve) {
        r->worst_curve = curve;
        snprintf(r->curve_name, sizeof r->curve_name, "%s", entry->name);
    }

    pl_tensile_clear(&test);
}

int main(void)
{
    const double size[] = {8, 4};
    law_result r = {0};

    for (int i = 0; i < pl_material_library_count(); ++i) {
        const pl_material_entry *entry = pl_material_library_at(i);
        for (int k = 0; entry->fit_error >= 0 && k < 2; ++k) {
            law_material(entry, size[k], &r);
        }
    }

    const bool error = r.worst_error <= ALLOWED_ERROR, curve = r.worst_curve <= ALLOWED_CURVE;
    printf("%d of %d against measurements\n", r.measured, r.cases);
    printf("law: a solved bar keeps the error its material states | cases %d | worst %+.3f %% of the largest "
           "stress (%s) | allowed %+.3f %% | %s\n",
           r.cases, 100 * r.worst_error, r.error_name, 100 * ALLOWED_ERROR, error ? "ok" : "FAIL");
    printf("law: a solved bar follows the closed form of its material | cases %d | worst %.1e (%s) | allowed "
           "%.0e | %s\n",
           r.cases, r.worst_curve, r.curve_name, ALLOWED_CURVE, curve ? "ok" : "FAIL");

    return error && curve ? 0 : 1;
}
