// Exact derivatives by three actuators at a solution: factorisations and solves of the first call (which
// makes the factor at the solution) and of one after it, against central differences with warm solves, and
// the gradient of an objective by the adjoint. The square trunk with three chambers, driven by pressure and
// by volume.
//
//   bench_jacobian
#include "bench.h"
#include "statics/statics_impl.h"

#define ACTUATORS 3

static const char trunk[] = "pliant: 1\n"
                            "name: trunk\n"
                            "mesh: {design: {kind: three_chamber}, size: %g, order: 2}\n"
                            "materials: {silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49}}\n"
                            "regions: {body: silicone}\n"
                            "fixed: [{surface: base}]\n"
                            "actuators:\n"
                            "  - {name: c1, kind: chamber, surface: chamber1, drive: %s, range: [%s]}\n"
                            "  - {name: c2, kind: chamber, surface: chamber2, drive: %s, range: [%s]}\n"
                            "  - {name: c3, kind: chamber, surface: chamber3, drive: %s, range: [%s]}\n"
                            "markers: {tip: {surface: tip}}\n";

typedef struct drive_case {
    const char *drive, *range;
    double command[ACTUATORS], change; // change: of the central differences
} drive_case;

static void row(const char *name, int factor, int solves, bench_clock t, const char *note)
{
    printf("%-38s %7d %7d %11.2f %9.0f %9.0f  %s\n", name, factor, solves, solves / (double)ACTUATORS,
           1e3 * t.cpu, 1e3 * t.wall, note);
    fflush(stdout);
}

static bool exact(bench_robot *b, const char *name, const pl_parameter *p, double *marker)
{
    pl_error err = {0};
    pl_jacobian_report report;
    const pl_jacobian out = {.marker = marker};
    const bench_clock start = bench_now();

    if (pl_statics_jacobian(b->statics, b->state, p, ACTUATORS, &out, &report, &err) != PL_OK) {
        return bench_failed(name, &err);
    }

    const bench_clock t = bench_since(start);
    char note[80];
    snprintf(note, sizeof note, "linear residual %.1e", report.residual);
    row(name, report.factorizations, report.solves, t, note);

    return true;
}

// Columns by solving a little to both sides.
static bool differences(bench_robot *b, const drive_case *c, const double *marker, bench_clock *spent)
{
    pl_state *home = NULL;
    pl_error err = {0};

    if (pl_state_create(b->robot, &home, &err) != PL_OK || pl_state_copy(home, b->state) != PL_OK) {
        return bench_failed("state", &err);
    }

    int factor = 0, solves = 0;
    double error = 0, largest = 0, column[2][3];
    bool done = true;
    const bench_clock start = bench_now();
    for (int j = 0; done && j < ACTUATORS; ++j) {
        for (int side = 0; done && side < 2; ++side) {
            double command[ACTUATORS];
            memcpy(command, c->command, sizeof command);
            command[j] += side ? c->change : -c->change;
            pl_state_copy(b->state, home);
            done = pl_statics_solve(b->statics, b->state, command, &b->report, &err) == PL_OK &&
                   b->report.outcome == PL_SOLVED;
            factor += b->report.factorizations;
            solves += b->report.solves;
            memcpy(column[side], pl_statics_marker(b->statics, b->state, 0).position, sizeof column[0]);
        }
        for (int i = 0; i < 3; ++i) {
            const double d = (column[1][i] - column[0][i]) / (2 * c->change), e = marker[i * ACTUATORS + j];
            error = fmax(error, fabs(d - e));
            largest = fmax(largest, fabs(e));
        }
    }

    *spent = bench_since(start);
    pl_state_copy(b->state, home);
    pl_state_destroy(home);
    char note[80];
    snprintf(note, sizeof note, "differs from exact by %.1e", error / largest);
    row("central differences, warm", factor, solves, *spent, note);

    return done;
}

// Gradient of J = z of the tip's nearest vertex: compared with the forward derivative of the same vertex.
static bool adjoint(bench_robot *b, const char *name, const pl_parameter *p)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(b->robot));
    double *by = calloc(3 * (size_t)v.vertex_count, sizeof *by);
    double *position = calloc(3 * (size_t)v.vertex_count * ACTUATORS, sizeof *position);
    int32_t top = 0;

    for (int32_t i = 0; i < v.vertex_count; ++i) {
        top = v.position[3 * i + 2] > v.position[3 * top + 2] ? i : top;
    }

    pl_error err = {0};
    pl_jacobian_report report, forward;
    const pl_jacobian out = {.position = position};
    double gradient[ACTUATORS], error = 0, largest = 0;
    bool done = by && position;
    bench_clock t = {0};
    if (done) {
        by[3 * top + 2] = 1;
        const bench_clock start = bench_now();
        done = pl_statics_adjoint(b->statics, b->state, by, NULL, p, ACTUATORS, gradient, &report, &err) ==
               PL_OK;
        t = bench_since(start);
        done = done && pl_statics_jacobian(b->statics, b->state, p, ACTUATORS, &out, &forward, &err) == PL_OK;
    }

    for (int j = 0; done && j < ACTUATORS; ++j) {
        const double e = position[(3 * (int64_t)top + 2) * ACTUATORS + j];
        error = fmax(error, fabs(gradient[j] - e));
        largest = fmax(largest, fabs(e));
    }

    free(by);
    free(position);
    if (!done) {
        return bench_failed(name, &err);
    }

    char note[80];
    snprintf(note, sizeof note, "differs from forward by %.1e", error / largest);
    row(name, report.factorizations, report.solves, t, note);

    return true;
}

// Right sides solved together over one by one, with the factor at the solution: CPU time, best of three.
static void together(bench_robot *b)
{
    static const int sides[] = {2, 3, 8, 16};
    pl_problem *p = b->statics->problem;
    const size_t n = (size_t)p->unknowns.n;
    double *x = malloc(16 * n * sizeof *x), alone = INFINITY;

    printf("right sides at once over one by one, CPU:");
    for (int k = -1; x && k < PL_COUNT(sides); ++k) {
        double least = INFINITY;
        for (int round = 0; round < 3; ++round) {
            for (size_t i = 0; i < 16 * n; ++i) {
                x[i] = (double)(i % 17) - 8;
            }
            const bench_clock start = bench_now();
            if (k < 0) {
                for (int j = 0; j < 16; ++j) {
                    pl_factor_solve(p->linear.factor, x + (size_t)j * n, 1);
                }
            } else {
                pl_factor_solve(p->linear.factor, x, sides[k]);
            }
            least = fmin(least, bench_since(start).cpu);
        }
        if (k < 0) {
            alone = least / 16;
            printf(" one %.1f ms;", 1e3 * alone);
        } else {
            printf(" %d: %.2f", sides[k], least / (sides[k] * alone));
        }
    }

    printf("\n");
    free(x);
}

static bool jacobian_table(const drive_case *c, double size)
{
    const pl_parameter p[ACTUATORS] = {
        {PL_PARAMETER_COMMAND, 0, 0}, {PL_PARAMETER_COMMAND, 1, 0}, {PL_PARAMETER_COMMAND, 2, 0}};

    // the differences are taken of shapes solved further than usual
    pl_statics_options options = pl_statics_options_default();

    options.force_tolerance = 1e-9;
    options.length_tolerance = 1e-8;
    double marker[3 * ACTUATORS];
    bench_clock spent = {0};
    bench_robot b;
    if (!bench_load(&b, trunk, size, c->drive, c->range, c->drive, c->range, c->drive, c->range) ||
        !bench_start(&b, &options) || !bench_solve(&b, c->command)) {
        bench_close(&b);
        return false;
    }

    printf("\ndriven by %s: %d tet10, tip turned %.1f degrees\n", c->drive,
           (int)pl_statics_get_sizes(b.statics).elements, bench_turn(&b));
    printf("%-38s %7s %7s %11s %9s %9s\n", "", "factor", "solves", "per column", "CPU ms", "wall ms");
    bool done = exact(&b, "Jacobian after a solve", p, marker);
    const bench_clock start = bench_now();
    done = done && exact(&b, "Jacobian, factor at the solution", p, marker);
    const bench_clock again = bench_since(start);
    together(&b);
    done = done && adjoint(&b, "adjoint gradient, factor at the solution", p);
    done = done && differences(&b, c, marker, &spent);
    if (done) {
        printf("central differences over the Jacobian, CPU: %.0f\n", spent.cpu / again.cpu);
    }
    bench_close(&b);

    return done;
}

int main(void)
{
    static const drive_case cases[] = {{"pressure", "0 kPa, 100 kPa", {50e-3, 25e-3, 0}, 2e-5},
                                       {"volume_ratio", "0.5, 3", {1.5, 1.2, 1.0}, 1e-3}};
    bench_title("derivatives by three actuators, square trunk");
    bool done = true;
    for (int i = 0; i < PL_COUNT(cases); ++i) {
        done = jacobian_table(&cases[i], 8) && done;
    }

    return done ? 0 : 1;
}
