// A measured silicone beam, 30 x 30 x 100 mm, clamped at one end: the modulus is fitted on the run under its
// own weight and predicts the run with a weight hung on the upper edge of its tip. Data of
// github.com/srl-ethz/diffPD_sim2real (MIT licence), read from PLIANT_DATA/beam; where it is absent the four
// drops are used that were read from it.
#include "validate.h"

#define GRAVITY_RUN 6.65 // mm, mean of the two runs: 6.6 and 6.7
#define LOAD_RUN 17.35   // mm, mean of the two runs: 17.4 and 17.3
#define WEIGHT 0.51012   // N

// Mean of the upward coordinates of tip1 and tip2 in a line of the file; false at its end.
static bool next_frame(FILE *file, double *time, double *up)
{
    char line[1000];
    double v[7];

    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]) ==
            7) {
            *time = v[0];
            *up = 0.5 * (v[1] + v[4]);
            return true;
        }
    }

    return false;
}

// Static drop: mean of the first 0.2 s less mean of the last 0.5 s; negative when the file cannot be read.
static double read_drop(const char *name)
{
    enum { LAST = 50 }; // frames at 100 Hz
    const char *data = getenv("PLIANT_DATA");
    char path[600];
    snprintf(path, sizeof path, "%s/beam/%s", data ? data : "../shared/data", name);
    FILE *file = fopen(path, "r");
    if (!file) {
        return -1;
    }

    double time, up, first = 0, last[LAST] = {0}, end = 0;
    int early = 0, count = 0;
    while (next_frame(file, &time, &up)) {
        if (time < 0.2) {
            first += up;
            ++early;
        }
        last[count++ % LAST] = up;
    }

    fclose(file);
    for (int i = 0; i < LAST; ++i) {
        end += last[i] / LAST;
    }

    return early > 0 && count >= LAST ? first / early - end : -1;
}

// Mean of two runs, or the number kept here.
static double measured(const char *a, const char *b, double kept)
{
    const double drop_a = read_drop(a), drop_b = read_drop(b);
    if (drop_a < 0 || drop_b < 0) {
        printf(
            "%s and its sister are not here (PLIANT_DATA/beam): the drop of %.2f mm read from them is used\n",
            a, kept);
        return kept;
    }

    printf("%s: %.2f mm, %s: %.2f mm\n", a, drop_a, b, drop_b);
    return 0.5 * (drop_a + drop_b);
}

// Mean drop of the markers tip1 and tip2, which stand 6 mm off the silicone; NAN when not solved.
static double drop_of(validate_table *t, const char *model, double modulus, double weight, double size)
{
    validate_robot v;
    char law[120];

    if (strcmp(model, "linear") == 0) {
        snprintf(law, sizeof law, "model: linear, young: %.12g", modulus);
    } else {
        snprintf(law, sizeof law, "model: %s, c10: %.12g", model, modulus / 6);
    }

    if (!validate_open(&v, NULL,
                       "pliant: 1\nname: beam\n"
                       "mesh: {design: {kind: beam, length: 100, width: 30, height: 30}, size: %g}\n"
                       "materials: {silicone: {%s, poisson: 0.499, density: 1070 kg/m^3}}\n"
                       "regions: {body: silicone}\nfixed: [{surface: base}]\n"
                       "markers:\n  tip1: {at: [100, 0, 21]}\n  tip2: {at: [100, -21, 9]}\n"
                       "  hook: {at: [100, 0, 15], radius: 4}\n"
                       "loads:\n  gravity: [0, 0, -9.81 m/s^2]\n"
                       "  forces: [{marker: hook, force: [0, 0, %.12g]}]\n",
                       size, law, -weight)) {
        validate_verdict(t, false);
        return NAN;
    }

    const double drop =
        validate_solve(t, &v, NULL) ? -0.5 * (validate_tip(&v, 0, 2) + validate_tip(&v, 1, 2)) : NAN;
    validate_close(&v);

    return drop;
}

// The modulus that gives the drop: it is nearly inversely proportional.
static double fit_modulus(validate_table *t, const char *model, double drop, double size)
{
    double young = 0.25;
    for (int i = 0; i < 6; ++i) {
        const double got = drop_of(t, model, young, 0, size);
        young *= got / drop;
        if (isnan(got) || fabs(got / drop - 1) < 1e-5) {
            break;
        }
    }

    return young;
}

int main(void)
{
    static const char *const model[] = {"linear", "neo_hookean"};
    validate_table t = {0, 0};
    const double own = measured("beam_gravity_a.csv", "beam_gravity_b.csv", GRAVITY_RUN);
    const double loaded = measured("beam_load52_a.csv", "beam_load52_b.csv", LOAD_RUN);

    validate_head("a measured silicone beam: modulus from the gravity run, load run predicted");
    for (int m = 0; m < 2; ++m) {
        for (int k = 0; k < 2; ++k) {
            const double size = k ? 5 : 10;
            const double young = fit_modulus(&t, model[m], own, size);
            if (!(young > 0)) {
                continue;
            }
            char name[80];
            snprintf(name, sizeof name, "%s, E %.4f MPa, size %g: drop mm", model[m], young, size);
            validate_row(&t, name, loaded, drop_of(&t, model[m], young, WEIGHT, size), 0.1);
        }
    }

    printf("(the authors' own fit, corotated: 0.264 MPa)\n");

    return validate_end(&t);
}
