// Algorithm 2 of Fang et al. 2020 on its own forward kinematics: gradient and soft line search on the
// local/global fixed point, whose derivatives come from the implicit function theorem. Random commands give
// tip positions; the search starts from rest and must reach them to 0.2 mm although tendons go slack, once
// without help and once with the 125 samples of a workspace as further starts.
//
//   algorithm_two [COUNT [WITH]]    200 targets on each of two fingers and a trunk; WITH of them with samples
#include "base/base.h"
#include "geometric/geometric.h"
#include "path_robot.h"

#define WORKSPACE 125
#define CLOSE 0.2 // mm

// A finger with four knuckles and antagonistic tendons.
static const char finger[] =
    "pliant: 1\n"
    "name: finger\n"
    "mesh:\n"
    "  design: {kind: cable_finger, length: 100, knuckles: 3, notch_width: 18, notch_flat: 6}\n"
    "  size: 8\n"
    "  order: 1\n"
    "materials: {body: {model: linear, young: 1 MPa, poisson: 0.3}}\n"
    "fixed: [{surface: base}]\n"
    "actuators:\n"
    "  - {name: flexor, kind: cable, through: [[1, 0, 3], [33, 0, 3], [66, 0, 3], [98, 0, 3]], radius: 3,\n"
    "     drive: shortening, range: [0, 14]}\n"
    "  - {name: extensor, kind: cable, through: [[1, 0, 14], [33, 0, 14], [66, 0, 14], [98, 0, 14]],\n"
    "     radius: 3, drive: shortening, range: [0, 6]}\n"
    "markers: {tip: {surface: tip}}\n";

// A slender bar with a tendon above, one below that ends midway, and one at its side.
static const char crooked[] =
    "pliant: 1\n"
    "name: crooked\n"
    "mesh:\n"
    "  design: {kind: beam, length: 90, width: 14, height: 12}\n"
    "  size: 6\n"
    "  order: 1\n"
    "materials: {body: {model: linear, young: 0.6 MPa, poisson: 0.35}}\n"
    "fixed: [{surface: base}]\n"
    "actuators:\n"
    "  - {name: above, kind: cable, through: [[1, 0, 4], [30, 0, 4], [60, 0, 4], [88, 0, 4]], radius: 3,\n"
    "     drive: shortening, range: [0, 12]}\n"
    "  - {name: below, kind: cable, through: [[1, 0, -4], [25, 0, -4], [45, 0, -4]], radius: 3,\n"
    "     drive: shortening, range: [0, 6]}\n"
    "  - {name: side, kind: cable, through: [[1, 5, 0], [30, 5, 0], [60, 5, 0], [88, 5, 0]], radius: 3,\n"
    "     drive: shortening, range: [0, 12]}\n"
    "markers: {tip: {surface: tip}}\n";

// Three tendons 120 degrees apart.
static const char trunk[] =
    "pliant: 1\n"
    "name: trunk\n"
    "mesh:\n"
    "  design: {kind: beam, length: 100, width: 20, height: 20}\n"
    "  size: 8\n"
    "  order: 1\n"
    "materials: {body: {model: linear, young: 0.5 MPa, poisson: 0.4}}\n"
    "fixed: [{surface: base}]\n"
    "actuators:\n"
    "  - {name: up, kind: cable, through: [[0, 0, 8], [33, 0, 8], [66, 0, 8], [96, 0, 8]], radius: 4,\n"
    "     drive: shortening, range: [0, 15]}\n"
    "  - {name: left, kind: cable, through: [[0, 7, -4], [33, 7, -4], [66, 7, -4], [96, 7, -4]], radius: 4,\n"
    "     drive: shortening, range: [0, 15]}\n"
    "  - {name: right, kind: cable, through: [[0, -7, -4], [33, -7, -4], [66, -7, -4], [96, -7, -4]],\n"
    "     radius: 4, drive: shortening, range: [0, 15]}\n"
    "markers: {tip: {surface: tip}}\n";

typedef struct store {
    int count, commands, markers;
    double command[WORKSPACE * 4], marker[WORKSPACE * 3];
} store;

static bool store_add(void *user, const pl_sample *sample)
{
    store *s = user;
    if (sample->fk->outcome == PL_SOLVED) {
        memcpy(s->command + s->count * s->commands, sample->command,
               (size_t)s->commands * sizeof *s->command);
        memcpy(s->marker + 3 * s->count++, sample->answer.marker, 3 * sizeof *s->marker);
    }

    return true;
}

typedef struct tally {
    int tried, skipped, slack, reached, not_a_number;
    double worst, forward, derivative, solves, seconds;
} tally;

static bool try_one(path_robot *r, pl_ik *ik, pl_random *random, tally *t)
{
    pl_error err = {0};
    pl_solve_report fk;
    pl_ik_report report;
    double command[8], target[3];

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
        ++t->skipped; // no target where there is no fixed point
        return true;
    }

    const pl_model_answer there = pl_model_get_answer(r->model);
    memcpy(target, there.marker, sizeof target);
    bool slack = false;
    for (int i = 0; i < r->info.actuator_count; ++i) {
        slack = slack || !(there.effort[i] > 0);
    }
    pl_model_reset(r->model);
    const double began = pl_seconds();
    if (pl_ik_set_target(ik, 0, target, &err) != PL_OK || pl_ik_solve(ik, NULL, &report, &err) != PL_OK) {
        printf("  %s\n", err.text);
        return false;
    }

    const double *tip = pl_model_get_answer(r->model).marker;
    const double off =
        sqrt(pow(tip[0] - target[0], 2) + pow(tip[1] - target[1], 2) + pow(tip[2] - target[2], 2));
    ++t->tried;
    t->slack += slack;
    t->seconds += pl_seconds() - began;
    t->forward += (double)report.costs.fk_calls;
    t->derivative += (double)report.costs.derivative_calls;
    t->solves += (double)report.costs.solves;
    t->reached += off <= CLOSE;
    t->not_a_number += !isfinite(off) || strstr(report.message, "nan") != NULL;
    t->worst = fmax(t->worst, off);
    if (!(off <= CLOSE)) {
        printf("    commands");
        for (int i = 0; i < r->info.command_count; ++i) {
            printf(" %.4f", command[i]);
        }
        printf(": %.3f mm off, %s\n", off, report.message);
    }

    return true;
}

static bool run(const char *text, int count, bool workspace)
{
    path_robot r;
    pl_error err = {0};
    pl_model *model = NULL;

    if (!path_robot_load(text, &r)) {
        return false;
    }

    pl_geometric_options g = pl_geometric_options_default();
    g.form = PL_FORM_MU_LAMBDA;
    bool done = pl_model_from_robot_geometric(r.robot, &g, &model, &err) == PL_OK;
    pl_model_destroy(r.model);
    r.model = model;

    static store s;
    s = (store){.commands = r.info.command_count};
    pl_workspace_plan plan = {0};
    pl_ik *ik = NULL;
    const pl_workspace_def def = {.order = PL_WORKSPACE_HALTON, .count = WORKSPACE};
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    o.tolerance = 0.5 * CLOSE;
    pl_ik_options options = pl_ik_options_default();
    options.method = PL_IK_DESCENT;
    options.iteration_limit = 200;
    done = done && pl_ik_create(r.model, &o, 1, &options, &ik, &err) == PL_OK;
    if (done && workspace) {
        done = pl_workspace_plan_init(r.model, &def, &plan, &err) == PL_OK &&
               pl_workspace_run(r.model, &plan, 0, store_add, &s, &err) == PL_OK;
        const pl_samples samples = {.count = s.count, .command = s.command, .marker = s.marker};
        pl_ik_set_samples(ik, &samples);
    }

    if (!done) {
        printf("%s\n", err.text);
    }

    tally t = {0};
    pl_random random;
    pl_random_seed(&random, 2020);
    for (int i = 0; done && i < count; ++i) {
        done = try_one(&r, ik, &random, &t);
    }

    const double each = t.tried > 0 ? t.tried : 1;
    const bool good = done && t.reached == t.tried && t.not_a_number == 0 && t.tried > 0.9 * count;
    printf("%-9s %9d %8d %9s %6d %5d %7d %9.4f %8.1f %7.1f %8.0f %7.2f%s\n", pl_robot_name(r.robot),
           r.elements, r.info.command_count, workspace ? "125" : "-", t.tried, t.slack, t.reached, t.worst,
           t.forward / each, t.derivative / each, t.solves / each, t.seconds / each,
           good ? "" : "   <-- FAIL");
    fflush(stdout);
    pl_workspace_plan_clear(&plan);
    pl_ik_destroy(ik);
    path_robot_clear(&r);

    return good;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 200, with = argc > 2 ? atoi(argv[2]) : count;
    if (count < 1 || with < 0) {
        printf("algorithm_two [COUNT [WITH]]\n");
        return 2;
    }

    printf("robot      elements commands workspace targets slack reached  worst mm forward   slopes   solves "
           "  s\n");
    const char *const text[] = {finger, crooked, trunk};
    bool good = true;
    for (int i = 0; i < PL_COUNT(text); ++i) {
        good = run(text[i], count, false) && good;
        good = (with == 0 || run(text[i], with, true)) && good;
    }

    return good ? 0 : 1;
}
