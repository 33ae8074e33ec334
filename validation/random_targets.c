// Random reachable targets: random commands give tip positions; inverse kinematics, started from rest with a
// stored workspace for further starts, must find commands that reach them to 0.01 mm. What it does not reach
// must end with a true certificate: the projected gradient of a fresh problem at the commands it reported.
//
//   random_targets [COUNT]       500 targets on each of three robots of about 1k quadratic tetrahedra
#include "base/base.h"
#include "path_robot.h"

#define WORKSPACE 64
#define CERTIFIED 1e-3

// Three tendons along a bar, 120 degrees apart: a trunk that leans to every side.
static const char trunk[] =
    "pliant: 1\n"
    "name: trunk\n"
    "mesh:\n"
    "  design: {kind: beam, length: 100, width: 20, height: 20}\n"
    "  size: 7\n"
    "  order: 2\n"
    "materials: {silicone: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}}\n"
    "regions: {body: silicone}\n"
    "fixed: [{surface: base}]\n"
    "actuators:\n"
    "  - {name: up, kind: cable, through: [[0, 0, 8], [33, 0, 8], [66, 0, 8], [96, 0, 8]], radius: 4,\n"
    "     drive: shortening, range: [0, 15]}\n"
    "  - {name: left, kind: cable, through: [[0, 7, -4], [33, 7, -4], [66, 7, -4], [96, 7, -4]], radius: 4,\n"
    "     drive: shortening, range: [0, 15]}\n"
    "  - {name: right, kind: cable, through: [[0, -7, -4], [33, -7, -4], [66, -7, -4], [96, -7, -4]], "
    "radius: 4,\n"
    "     drive: shortening, range: [0, 15]}\n"
    "markers: {tip: {surface: tip}}\n";

// Three chambers under pressure in a short block.
static const char block[] =
    "pliant: 1\n"
    "name: block\n"
    "mesh:\n"
    "  design: {kind: three_chamber, width: 70, height: 50, chamber_diameter: 26, chamber_offset: 18, cap: "
    "8}\n"
    "  size: 40\n"
    "  order: 2\n"
    "materials: {silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49}}\n"
    "regions: {body: silicone}\n"
    "fixed: [{surface: base}]\n"
    "actuators:\n"
    "  - {name: chamber1, kind: chamber, surface: chamber1, drive: pressure, range: [0 kPa, 40 kPa]}\n"
    "  - {name: chamber2, kind: chamber, surface: chamber2, drive: pressure, range: [0 kPa, 40 kPa]}\n"
    "  - {name: chamber3, kind: chamber, surface: chamber3, drive: pressure, range: [0 kPa, 40 kPa]}\n"
    "markers: {tip: {surface: tip}}\n";

typedef struct store {
    int count, commands, markers;
    double *command, *marker;
} store;

static bool store_add(void *user, const pl_sample *sample)
{
    store *s = user;
    if (sample->fk->outcome == PL_SOLVED) {
        memcpy(s->command + (size_t)(s->count * s->commands), sample->command,
               (size_t)s->commands * sizeof *s->command);
        memcpy(s->marker + (size_t)(s->count * 3 * s->markers), sample->answer.marker,
               3 * (size_t)s->markers * sizeof *s->marker);
        ++s->count;
    }

    return true;
}

typedef struct tally {
    int tried, skipped, reached, certified, wrong;
    double worst, forward, factor, solves;
} tally;

// Is the point stationary, asked of a problem that has seen nothing of the solve?
static bool certify(path_robot *r, const double target[3], const pl_ik_report *claimed)
{
    pl_error err = {0};
    pl_ik *ik = NULL;
    pl_ik_report report = {0};
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    pl_ik_options options = pl_ik_options_default();

    memcpy(o.target, target, sizeof o.target);
    options.iteration_limit = 1;
    const double distance = claimed->distance;
    const bool asked = pl_ik_create(r->model, &o, 1, &options, &ik, &err) == PL_OK &&
                       pl_ik_solve(ik, NULL, &report, &err) == PL_OK;
    const bool good = asked && claimed->outcome == PL_IK_NEAREST && report.gradient <= CERTIFIED &&
                      report.distance > 0.99 * distance;
    printf("    target %.3f %.3f %.3f: %s, %.4f mm off; asked again: gradient %.1e, %.4f mm\n", target[0],
           target[1], target[2], pl_ik_outcome_name(claimed->outcome), distance, report.gradient,
           report.distance);
    pl_ik_destroy(ik);

    return good;
}

// One random command, its tip, and the path there from rest.
static bool try_one(path_robot *r, pl_ik *ik, pl_random *random, double *command, tally *t)
{
    pl_error err = {0};
    pl_solve_report fk;
    pl_ik_report report;

    for (int i = 0; i < r->info.command_count; ++i) {
        const double *range = r->info.command[i].range;
        command[i] = pl_random_uniform(random, range[0], range[1]);
    }

    pl_model_reset(r->model);
    if (pl_model_fk(r->model, command, &fk, &err) != PL_OK) {
        printf("  %s\n", err.text);
        return false;
    }

    if (fk.outcome != PL_SOLVED) {
        ++t->skipped; // no target where there is no equilibrium
        return true;
    }

    double target[3];
    memcpy(target, pl_model_get_answer(r->model).marker, sizeof target);
    pl_model_reset(r->model);
    if (pl_ik_set_target(ik, 0, target, &err) != PL_OK || pl_ik_solve(ik, NULL, &report, &err) != PL_OK) {
        printf("  %s\n", err.text);
        return false;
    }

    const double *tip = pl_model_get_answer(r->model).marker;
    const double off =
        sqrt((tip[0] - target[0]) * (tip[0] - target[0]) + (tip[1] - target[1]) * (tip[1] - target[1]) +
             (tip[2] - target[2]) * (tip[2] - target[2]));
    bool within = true;
    for (int i = 0; i < r->info.command_count; ++i) {
        const double *range = r->info.command[i].range;
        within = within && report.command[i] >= range[0] && report.command[i] <= range[1];
    }

    ++t->tried;
    t->forward += (double)report.costs.fk_calls;
    t->factor += (double)report.costs.factorizations;
    t->solves += (double)report.costs.solves;
    if (off <= 0.01 && within) {
        ++t->reached;
        t->worst = fmax(t->worst, off);
    } else if (within && certify(r, target, &report)) {
        ++t->certified;
    } else {
        ++t->wrong;
    }

    return true;
}

static bool judge(const char *name, const char *text, int count)
{
    path_robot r;
    const bool made = text ? path_robot_load(text, &r) : path_robot_create("cable_finger", 9, &r);

    if (!made) {
        return false;
    }

    const int n = r.info.command_count;
    store s = {.commands = n, .markers = r.info.marker_count};
    s.command = calloc((size_t)(WORKSPACE * n), sizeof *s.command);
    s.marker = calloc((size_t)(WORKSPACE * 3 * r.info.marker_count), sizeof *s.marker);
    double *command = calloc((size_t)n, sizeof *command);
    pl_error err = {0};
    pl_workspace_plan plan = {0};
    const pl_workspace_def def = {.order = PL_WORKSPACE_HALTON, .count = WORKSPACE};
    const pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = NULL;
    bool done = s.command && s.marker && command &&
                pl_workspace_plan_init(r.model, &def, &plan, &err) == PL_OK &&
                pl_workspace_run(r.model, &plan, 0, store_add, &s, &err) == PL_OK &&
                pl_ik_create(r.model, &o, 1, &options, &ik, &err) == PL_OK;
    tally t = {0};
    if (done) {
        const pl_samples samples = {.count = s.count, .command = s.command, .marker = s.marker};
        pl_random random;
        pl_random_seed(&random, 20);
        pl_ik_set_samples(ik, &samples);
        for (int i = 0; done && i < count; ++i) {
            done = try_one(&r, ik, &random, command, &t);
        }
    } else {
        printf("%s: %s\n", name, err.text);
    }

    const bool good = done && t.reached >= 0.99 * t.tried && t.wrong == 0 && t.tried > 0.9 * count;
    const double each = t.tried > 0 ? t.tried : 1;
    printf("%-14s %6d %6d %7d %8d %10d %6d %9.4f %8.1f %7.1f %7.1f%s\n", name, r.elements, t.tried, t.skipped,
           t.reached, t.certified, t.wrong, t.worst, t.forward / each, t.factor / each, t.solves / each,
           good ? "" : "   <-- FAIL");
    fflush(stdout);
    pl_workspace_plan_clear(&plan);
    pl_ik_destroy(ik);
    free(command);
    free(s.command);
    free(s.marker);
    path_robot_clear(&r);

    return good;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 500;
    if (count < 1) {
        printf("random_targets [COUNT]\n");
        return 2;
    }

    printf("targets from random commands, started from rest; reached: within 0.01 mm and all ranges\n");
    printf("%-14s %6s %6s %7s %8s %10s %6s %9s %8s %7s %7s\n", "robot", "tet10", "tried", "skipped",
           "reached", "certified", "wrong", "worst mm", "forward", "factor", "solves");
    bool good = judge("cable_finger", NULL, count);
    good = judge("trunk", trunk, count) && good;
    good = judge("block", block, count) && good;
    printf("%s\n", good ? "PASS" : "FAIL");

    return good ? 0 : 1;
}
