// A real silicone beam, clamped and let go (data of srl-ethz/diffPD_sim2real: beam_gravity_a/b,
// beam_load52_a/b). Fitted to the two runs under its own weight: the long-term modulus and the weights of
// four viscous branches of given times, and per run the moment and the duration of the release (the hand lets
// go over some frames). Predicted with that material: the two runs with 52 g at the tip, whose moments of
// release are fitted alone.
//
//   PLIANT_DATA=FOLDER dynamics_beam [fit]     without `fit`: the constants below, fitted before
//
// A release that lasts T is taken as the mean of sudden ones over T, as in a linear system.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dynamics/dynamics.h"
#include "document/document.h"
#include "pliant/result.h"
#include "pliant/meshing.h"
#include "statics/statics.h"

#define SIZE 13.0     // mm: the modulus belongs to this mesh
#define STEP 0.005    // s
#define SAMPLE 0.0025 // s
#define SPAN 3.0      // s compared after the release
#define UNTIL 3.6     // s simulated
#define SAMPLES 1440  // UNTIL / SAMPLE
#define PARAMETERS 5
#define HOOKS 5
#define ROWS 700

static const double tau[4] = {0.003, 0.03, 0.3, 2};

typedef struct run {
    const char *name;
    double mass; // t
    int count;
    double drop[ROWS]; // mm, at 100 Hz
    double start, duration;
} run;

// ---- measurements: the mean drop of tip1 and tip2 (columns 2 and 5), from the mean of the first three rows
static bool run_read(run *r, const char *folder)
{
    char path[600], line[2000];
    snprintf(path, sizeof path, "%s/beam/%s.csv", folder, r->name);
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("%s is not there\n", path);
        return false;
    }

    double first = 0;
    while (fgets(line, sizeof line, file) && r->count < ROWS) {
        double t, x1, y1, z1, x2;
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &t, &x1, &y1, &z1, &x2) == 5) {
            const double height = 0.5 * (x1 + x2);
            first += r->count < 3 ? height / 3 : 0;
            r->drop[r->count++] = height;
        }
    }

    fclose(file);
    for (int i = 0; i < r->count; ++i) {
        r->drop[i] = first - r->drop[i];
    }

    return r->count > 400;
}

// ---- simulation: the drop of the tip after a sudden release, every SAMPLE
typedef struct recorder {
    pl_dynamics *dynamics;
    pl_statics *statics;
    pl_state *state;
    double *drop;
    int count;
} recorder;

static bool record(void *user)
{
    recorder *r = user;
    pl_error err = {0};

    while (r->count < SAMPLES && r->count * SAMPLE <= pl_dynamics_time(r->dynamics) + 1e-9) {
        if (pl_dynamics_sample(r->dynamics, r->count * SAMPLE, r->state, NULL, &err) != PL_OK) {
            return false;
        }
        double sum = 0;
        for (int k = 0; k < 2; ++k) {
            sum -= 0.5 * pl_statics_marker(r->statics, r->state, k).displacement[2];
        }
        r->drop[r->count++] = sum;
    }

    return true;
}

static bool release(const double *p, double mass, double *drop)
{
    char text[2000];
    snprintf(text, sizeof text,
             "pliant: 1\nname: beam\nmesh: {design: {kind: beam}, size: %g, order: 2}\nmaterials:\n"
             "  silicone: {model: neo_hookean, young: %.9g MPa, poisson: 0.499, density: 1070 kg/m^3, prony: "
             "[{g: %.9g, "
             "tau: %g s}, {g: %.9g, tau: %g s}, {g: %.9g, tau: %g s}, {g: %.9g, tau: %g s}]}\n"
             "regions: {body: silicone}\nfixed: [{surface: base}]\nmarkers:\n  tip1: {at: [100, 0, 21]}\n"
             "  tip2: {at: [100, -21, 9]}\n  h1: {at: [100, -12, 15], radius: 4}\n  h2: {at: [100, -6, 15], "
             "radius: "
             "4}\n  h3: {at: [100, 0, 15], radius: 4}\n  h4: {at: [100, 6, 15], radius: 4}\n  h5: {at: [100, "
             "12, 15], "
             "radius: 4}\n"
             "loads: {gravity: [0, 0, -9.81 m/s^2]}\n",
             SIZE, exp(p[0]), exp(p[1]), tau[0], exp(p[2]), tau[1], exp(p[3]), tau[2], exp(p[4]), tau[3]);
    pl_error err = {0};
    pl_robot *robot = NULL;
    recorder r = {.drop = drop};
    const pl_load_options load = {.mesher = pl_meshing_mesher()};
    const pl_statics_options statics = pl_statics_options_default();
    pl_dynamics_options options = pl_dynamics_options_default();
    options.step = STEP;
    // along the upper edge: at a point the indentation grows without a limit as the mesh is refined
    double hung[2 + HOOKS] = {0}, weight[3 * (2 + HOOKS)] = {0};
    for (int k = 2; k < 2 + HOOKS; ++k) {
        hung[k] = mass / HOOKS;
        weight[3 * k + 2] = -9810 * mass / HOOKS;
    }
    options.marker_mass = hung;
    options.masses_hang = true; // on a string
    pl_motion_report report;
    bool ok = pl_robot_load_text(text, strlen(text), "beam.yaml", &load, &robot, NULL, &err) == PL_OK &&
              pl_statics_create(robot, &statics, &r.statics, &err) == PL_OK &&
              pl_dynamics_create(robot, &options, &r.dynamics, &err) == PL_OK &&
              pl_state_create(robot, &r.state, &err) == PL_OK &&
              pl_dynamics_start(r.dynamics, r.state, NULL, &err) == PL_OK;
    if (ok) {
        pl_dynamics_set_forces(r.dynamics, weight);
        record(&r);
        ok = pl_dynamics_advance(r.dynamics, UNTIL, record, &r, &report, &err) == PL_OK &&
             report.outcome == PL_MOTION_DONE;
    }

    for (; r.count > 0 && r.count < SAMPLES; ++r.count) {
        drop[r.count] = drop[r.count - 1];
    }
    if (!ok) {
        printf("no motion: %s\n", err.text);
    }
    pl_state_destroy(r.state);
    pl_dynamics_destroy(r.dynamics);
    pl_statics_destroy(r.statics);
    pl_robot_destroy(robot);

    return ok;
}

// ---- comparison
// The drop at time t after a release that lasts T: the mean of u over [t - T, t], by the integral U of u.
static double integral(const double *U, double t)
{
    const double at = fmax(0, t / SAMPLE);
    const int i = at < SAMPLES - 1 ? (int)at : SAMPLES - 2;
    return U[i] + (at - i) * (U[i + 1] - U[i]);
}

static void integrate(const double *u, double *U)
{
    U[0] = 0;
    for (int i = 1; i < SAMPLES; ++i) {
        U[i] = U[i - 1] + 0.5 * SAMPLE * (u[i - 1] + u[i]);
    }
}

static double model_drop(const double *U, double t, double duration)
{
    const double T = fmax(duration, SAMPLE);
    return t <= 0 ? 0 : (integral(U, t) - integral(U, t - T)) / T;
}

static double run_rms(const run *r, const double *U, double start, double duration)
{
    double sum = 0;
    int count = 0;

    for (int i = 0; i < r->count; ++i) {
        const double t = 0.01 * i - start;
        if (t >= -0.05 && t <= SPAN) {
            const double e = model_drop(U, t, duration) - r->drop[i];
            sum += e * e;
            ++count;
        }
    }

    return sqrt(sum / count);
}

// Moment and duration of the release with the smallest deviation, by grids that are refined.
static double run_align(run *r, const double *U)
{
    int begun = 0;
    const double end = r->drop[r->count - 1];

    while (begun < r->count - 1 && r->drop[begun] < 0.05 * end) {
        ++begun;
    }

    double best = INFINITY, at = 0.01 * begun - 0.02, lasts = 0.03, wide = 0.04, long_ = 0.03;
    for (int level = 0; level < 6; ++level, wide /= 4, long_ /= 4) {
        const double middle = at, T = lasts;
        for (int i = -6; i <= 6; ++i) {
            for (int k = -6; k <= 6; ++k) {
                const double start = middle + wide * i / 6, duration = fmax(0, T + long_ * k / 6);
                const double rms = run_rms(r, U, start, duration);
                if (rms < best) {
                    best = rms;
                    at = start;
                    lasts = duration;
                }
            }
        }
    }

    r->start = at;
    r->duration = lasts;

    return best;
}

// Mean frequency over the maxima of a signal within 1.2 s after the release.
static double frequency(const double *y, int count, double spacing, double start)
{
    double first = 0, last = 0;
    int maxima = 0;
    const int reach = (int)(0.03 / spacing);

    for (int i = reach; i < count - reach; ++i) {
        const double t = i * spacing - start;
        bool top = t > 0.03 && t < 1.2;
        for (int k = 1; top && k <= reach; ++k) {
            top = y[i] > y[i - k] && y[i] >= y[i + k];
        }
        if (top) {
            const double a = y[i] - y[i - 1], b = y[i + 1] - y[i];
            last = t - 0.5 * spacing * (a + b) / (b - a);
            first = maxima == 0 ? last : first;
            ++maxima;
        }
    }

    return maxima > 1 ? (maxima - 1) / (last - first) : NAN;
}

static double mean_end(const double *y, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; ++i) {
        sum += y[i] / (to - from);
    }
    return sum;
}

static void run_print(const run *r, const double *u, double rms, const char *kind)
{
    const double f = frequency(r->drop, r->count, 0.01, r->start), g = frequency(u, SAMPLES, SAMPLE, 0);
    const int i0 = (int)((r->start + SPAN - 0.5) / 0.01), i1 = (int)((r->start + SPAN) / 0.01);
    const int k0 = (int)((SPAN - 0.5) / SAMPLE), k1 = (int)(SPAN / SAMPLE);
    const double end = mean_end(r->drop, i0, i1), model = mean_end(u, k0, k1);

    printf("| %s | %s | %.0f | %.3f | %.3f | %+.1f %% | %.2f | %.2f | %+.1f %% | %.3f | %.1f %% |\n", r->name,
           kind, 1e3 * r->duration, f, g, 100 * (g / f - 1), end, model, 100 * (model / end - 1), rms,
           100 * rms / end);
    fflush(stdout);
}

// ---- fit: Gauss-Newton with differences, damped, on both gravity runs
static double residuals(run *r, const double *p, double *out, int *count)
{
    static double u[SAMPLES], U[SAMPLES];
    if (!release(p, 0, u)) {
        exit(1);
    }
    integrate(u, U);
    double sum = 0;
    *count = 0;
    for (int k = 0; k < 2; ++k) {
        run_align(&r[k], U);
        for (int i = 0; i < r[k].count; ++i) {
            const double t = 0.01 * i;
            if (t <= SPAN) {
                out[*count] = model_drop(U, t - r[k].start, r[k].duration) - r[k].drop[i];
                sum += out[*count] * out[*count];
                ++*count;
            }
        }
    }

    return sum;
}

static bool solve5(double A[PARAMETERS][PARAMETERS], double *b)
{
    for (int i = 0; i < PARAMETERS; ++i) {
        if (!(fabs(A[i][i]) > 0)) {
            return false;
        }
        for (int k = i + 1; k < PARAMETERS; ++k) {
            const double f = A[k][i] / A[i][i];
            for (int j = i; j < PARAMETERS; ++j) {
                A[k][j] -= f * A[i][j];
            }
            b[k] -= f * b[i];
        }
    }

    for (int i = PARAMETERS - 1; i >= 0; --i) {
        for (int j = i + 1; j < PARAMETERS; ++j) {
            b[i] -= A[i][j] * b[j];
        }
        b[i] /= A[i][i];
    }

    return true;
}

static void fit(run *r, double *p)
{
    static double base[2 * ROWS], moved[PARAMETERS][2 * ROWS];
    double damping = 1e-3;
    int count;
    double sum = residuals(r, p, base, &count);

    for (int pass = 0; pass < 5; ++pass) {
        for (int k = 0; k < PARAMETERS; ++k) {
            double q[PARAMETERS];
            memcpy(q, p, sizeof q);
            q[k] += k == 0 ? 0.005 : 0.1;
            residuals(r, q, moved[k], &count);
            for (int i = 0; i < count; ++i) {
                moved[k][i] = (moved[k][i] - base[i]) / (q[k] - p[k]);
            }
        }
        for (int trial = 0; trial < 4; ++trial) {
            double A[PARAMETERS][PARAMETERS] = {{0}}, b[PARAMETERS] = {0}, q[PARAMETERS];
            for (int k = 0; k < PARAMETERS; ++k) {
                for (int i = 0; i < count; ++i) {
                    b[k] -= moved[k][i] * base[i];
                    for (int j = 0; j < PARAMETERS; ++j) {
                        A[k][j] += moved[k][i] * moved[j][i];
                    }
                }
            }
            for (int k = 0; k < PARAMETERS; ++k) {
                A[k][k] *= 1 + damping;
                A[k][k] += 1e-3; // a weight that the data do not determine stays
            }
            if (!solve5(A, b)) {
                return;
            }
            for (int k = 0; k < PARAMETERS; ++k) {
                q[k] = fmin(fmax(p[k] + fmin(fmax(b[k], -1), 1), -7), 2);
            }
            const double next = residuals(r, q, base, &count);
            if (next < sum) {
                memcpy(p, q, sizeof q);
                sum = next;
                damping /= 3;
                break;
            }
            damping *= 10;
        }
        printf("pass %d: rms %.4f mm; E %.4f MPa, g %.4f %.4f %.4f %.4f\n", pass, sqrt(sum / count),
               exp(p[0]), exp(p[1]), exp(p[2]), exp(p[3]), exp(p[4]));
        fflush(stdout);
        residuals(r, p, base, &count);
    }
}

int main(int argument_count, char **argument)
{
    const char *folder = getenv("PLIANT_DATA");
    run r[4] = {{.name = "beam_gravity_a"},
                {.name = "beam_gravity_b"},
                {.name = "beam_load52_a", .mass = 52e-6},
                {.name = "beam_load52_b", .mass = 52e-6}};

    for (int k = 0; k < 4; ++k) {
        if (!folder || !run_read(&r[k], folder)) {
            printf("skipped: the measurements are not there (PLIANT_DATA)\n");
            return 0;
        }
    }

    double p[PARAMETERS] = {log(0.2634), log(0.8327), log(0.0009), log(0.0049), log(0.0869)};
    if (argument_count > 1 && strcmp(argument[1], "fit") == 0) {
        fit(r, p);
    }
    printf("\nE %.4f MPa (long-term, mesh of %g mm), g %.4f %.4f %.4f %.4f at tau %g, %g, %g, %g s\n\n"
           "| run | | release ms | frequency Hz | model | | end mm | model | | rms mm | of the drop |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           exp(p[0]), SIZE, exp(p[1]), exp(p[2]), exp(p[3]), exp(p[4]), tau[0], tau[1], tau[2], tau[3]);
    for (int k = 0; k < 4; ++k) {
        static double u[SAMPLES], U[SAMPLES];
        if ((k == 0 || k == 2) && !release(p, r[k].mass, u)) {
            return 1;
        }
        integrate(u, U);
        run_print(&r[k], u, run_align(&r[k], U), k < 2 ? "fitted" : "predicted");
    }

    return 0;
}
