// Estimation from six strings, on two bodies: a square trunk pulled by four tendons and the silicone platform
// on four legs. Random commands and a random force at the tip, solved by a full model; the readings go to the
// estimator.
//   without noise   the tip within 0.2 mm, the force within 10 %
//   with noise      the error of the tip within 1.5 times the predicted bar; 95 % bars cover 90 to 99 %
// usage: estimation [POSES]   (default 500 per body and kind)
#include "pliant/control.h"
#include "validate.h"

enum { STRINGS = 6, COMMANDS_MAX = 8 };

static const char trunk[] =
    "pliant: 1\nname: trunk\n"
    "mesh: {design: {kind: beam, length: 120, width: 14, height: 14}, size: 12, order: 2}\n"
    "materials: {silicone: {model: neo_hookean, c10: 0.06 MPa, poisson: 0.45}}\nregions: {body: silicone}\n"
    "fixed: [{surface: base}]\nmarkers: {tip: {surface: tip}}\n"
    "actuators:\n"
    "  - {name: a, kind: cable, through: [[0, %1$s, 0], [40, %1$s, 0], [80, %1$s, 0], [118, %1$s, 0]], "
    "radius: 4, drive: tension, range: [0, 1]}\n"
    "  - {name: b, kind: cable, through: [[0, -%1$s, 0], [40, -%1$s, 0], [80, -%1$s, 0], [118, -%1$s, 0]], "
    "radius: 4, drive: tension, range: [0, 1]}\n"
    "  - {name: c, kind: cable, through: [[0, 0, %1$s], [40, 0, %1$s], [80, 0, %1$s], [118, 0, %1$s]], "
    "radius: 4, drive: tension, range: [0, 1]}\n"
    "  - {name: d, kind: cable, through: [[0, 0, -%1$s], [40, 0, -%1$s], [80, 0, -%1$s], [118, 0, -%1$s]], "
    "radius: 4, drive: tension, range: [0, 1]}\n"
    "sensors:\n"
    "  - {name: s1, kind: length, through: [[0, 6, 6], [30, 6, 6], [60, 6, 6]], radius: 4}\n"
    "  - {name: s2, kind: length, through: [[0, -6, 6], [30, -6, 6], [60, -6, 6]], radius: 4}\n"
    "  - {name: s3, kind: length, through: [[0, 0, -6], [30, 0, -6], [60, 0, -6]], radius: 4}\n"
    "  - {name: s4, kind: length, through: [[0, 6, -6], [40, 6, -6], [80, 6, -6], [118, 6, -6]], radius: 4}\n"
    "  - {name: s5, kind: length, through: [[0, -6, -6], [40, -6, -6], [80, -6, -6], [118, -6, -6]], radius: "
    "4}\n"
    "  - {name: s6, kind: length, through: [[0, 0, 6], [40, 0, 6], [80, 0, 6], [118, 0, 6]], radius: 4}\n";

static const char platform[] =
    "pliant: 1\nname: platform\n"
    "mesh: {design: {kind: parallel}, size: 25, order: 2}\n"
    "materials: {silicone: {model: neo_hookean, c10: 0.06 MPa, poisson: 0.49, density: 1070 "
    "kg/m^3}}\nregions: {body: silicone}\n"
    "fixed: [{surface: base}]\nloads: {gravity: [0, 0, -9.81 m/s^2]}\nmarkers: {tip: {surface: tip}}\n"
    "actuators:\n"
    "  - {name: east, kind: cable, through: [{at: [8, 0, 20], space: true}, [81, 0, 60]], radius: 8, drive: "
    "tension, range: [0, 2]}\n"
    "  - {name: north, kind: cable, through: [{at: [0, 8, 20], space: true}, [0, 81, 60]], radius: 8, drive: "
    "tension, range: [0, 2]}\n"
    "  - {name: west, kind: cable, through: [{at: [-8, 0, 20], space: true}, [-81, 0, 60]], radius: 8, "
    "drive: tension, range: [0, 2]}\n"
    "  - {name: south, kind: cable, through: [{at: [0, -8, 20], space: true}, [0, -81, 60]], radius: 8, "
    "drive: tension, range: [0, 2]}\n"
    "sensors:\n"
    "  - {name: s1, kind: length, through: [{at: [60, 0, 0], space: true}, [18, 0, 125]], radius: 8}\n"
    "  - {name: s2, kind: length, through: [{at: [-60, 0, 0], space: true}, [-18, 0, 125]], radius: 8}\n"
    "  - {name: s3, kind: length, through: [{at: [0, 60, 0], space: true}, [0, 18, 125]], radius: 8}\n"
    "  - {name: s4, kind: length, through: [{at: [0, -60, 0], space: true}, [0, -18, 125]], radius: 8}\n"
    "  - {name: s5, kind: length, through: [{at: [40, 40, 0], space: true}, [-16, 16, 125]], radius: 8}\n"
    "  - {name: s6, kind: length, through: [{at: [-40, -40, 0], space: true}, [16, -16, 125]], radius: 8}\n";

typedef struct body {
    const char *name, *text;
    double force; // N, standard deviation of each part
    double noise; // mm, of a string
    double share; // of the range, standard deviation of a command
} body;

static double uniform(void)
{
    return (rand() + 0.5) / (RAND_MAX + 1.0);
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static pl_model *open_model(const char *text)
{
    static char whole[8000];
    const int length = snprintf(whole, sizeof whole, text, "5");
    const pl_model_load_options o = {.load = {.mesher = pl_meshing_mesher(), .no_cache = true}};
    pl_error err = {0};
    pl_model *model = NULL;

    if (pl_model_load_text(whole, (size_t)length, "estimation.yaml", &o, &model, NULL, &err) != PL_OK) {
        printf("not loaded: %s\n", err.text);
    }

    return model;
}

typedef struct score {
    int poses, unsolved, unfitted, inside, total;
    double worst_tip, worst_force, error2, bar2;
} score;

// One pose: truth, readings, estimate.
static void pose(const body *b, pl_model *truth, pl_estimator *estimator, bool noisy, score *s)
{
    const pl_model_info info = pl_model_get_info(truth);
    double sent[COMMANDS_MAX], really[COMMANDS_MAX], force[3], value[STRINGS], tip[3];

    for (int j = 0; j < info.command_count; ++j) {
        const double span = info.command[j].range[1] - info.command[j].range[0];
        sent[j] = info.command[j].range[0] + (0.1 + 0.8 * uniform()) * span;
        really[j] = fmax(sent[j] + (noisy ? b->share * span * normal() : 0), info.command[j].range[0]);
    }

    for (int i = 0; i < 3; ++i) {
        force[i] = b->force * normal();
    }

    pl_error err = {0};
    pl_solve_report report;
    if (pl_model_set_forces(truth, force, &err) != PL_OK ||
        pl_model_fk(truth, really, &report, &err) != PL_OK || report.outcome != PL_SOLVED) {
        ++s->unsolved;
        return;
    }

    const pl_model_answer answer = pl_model_get_answer(truth);
    memcpy(tip, answer.marker, sizeof tip);
    for (int i = 0; i < STRINGS; ++i) {
        value[i] = answer.sensor[i] + (noisy ? b->noise * normal() : 0);
    }

    pl_estimate e;
    if (pl_estimator_update(estimator, sent, value, &e, &err) != PL_OK || !e.converged) {
        ++s->unfitted;
        return;
    }

    ++s->poses;
    double off2 = 0, force2 = 0, size2 = 0;
    for (int i = 0; i < 3; ++i) {
        off2 += pow(e.marker[i] - tip[i], 2);
        force2 += pow(e.force[i] - force[i], 2);
        size2 += force[i] * force[i];
        s->inside += fabs(e.marker[i] - tip[i]) < 1.96 * e.marker_sigma[i];
        s->bar2 += e.marker_sigma[i] * e.marker_sigma[i];
    }

    s->total += 3;
    s->error2 += off2;
    s->worst_tip = fmax(s->worst_tip, sqrt(off2));
    s->worst_force = fmax(s->worst_force, sqrt(force2 / size2));
}

static score study(const body *b, int poses, bool noisy)
{
    score s = {0};
    pl_model *truth = open_model(b->text), *model = open_model(b->text);

    if (!truth || !model) {
        return s;
    }

    const pl_model_info info = pl_model_get_info(model);
    pl_measurement measured[STRINGS];
    double sigma[COMMANDS_MAX];
    const int marker = 0;
    for (int i = 0; i < STRINGS; ++i) {
        measured[i] = (pl_measurement){PL_MEASUREMENT_SENSOR, i, 0, noisy ? b->noise : 0.001};
    }
    for (int j = 0; j < info.command_count; ++j) {
        sigma[j] = noisy ? b->share * (info.command[j].range[1] - info.command[j].range[0]) : 0;
    }

    pl_estimator_options o = pl_estimator_options_default();
    o.measured = measured;
    o.measured_count = STRINGS;
    o.command_sigma = sigma;
    o.force_marker = &marker;
    o.force_count = 1;
    o.force_sigma = noisy ? b->force : INFINITY;
    o.outlier = noisy ? o.outlier : 0;
    o.iteration_limit = 30;
    pl_estimator *estimator = NULL;
    pl_error err = {0};
    if (pl_estimator_create(model, &o, &estimator, &err) != PL_OK) {
        printf("no estimator: %s\n", err.text);
    }
    srand(noisy ? 7 : 3);
    for (int k = 0; estimator && k < poses; ++k) {
        pose(b, truth, estimator, noisy, &s);
    }
    pl_estimator_destroy(estimator);
    pl_model_destroy(truth);
    pl_model_destroy(model);

    return s;
}

int main(int argc, char **argv)
{
    const int poses = argc > 1 ? atoi(argv[1]) : 500;
    const body bodies[] = {{"trunk, four tendons", trunk, 0.01, 0.05, 0.02},
                           {"platform, four cables", platform, 0.2, 0.05, 0.02}};
    validate_table t = {0};

    validate_head("estimation from six strings");
    for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; ++k) {
        char name[100];
        const score exact = study(&bodies[k], poses, false), noisy = study(&bodies[k], poses, true);
        printf("%s: without noise %d poses, %d without equilibrium, %d not fitted; with noise %d, %d, %d\n",
               bodies[k].name, exact.poses, exact.unsolved, exact.unfitted, noisy.poses, noisy.unsolved,
               noisy.unfitted);
        validate_absolute(&t, "poses fitted without noise", poses, exact.poses + exact.unsolved,
                          0.01 * poses);
        validate_absolute(&t, "tip without noise, worst, mm", 0, exact.worst_tip, 0.2);
        validate_absolute(&t, "force without noise, worst, share", 0, exact.worst_force, 0.1);
        validate_absolute(&t, "poses fitted with noise", poses, noisy.poses + noisy.unsolved, 0.01 * poses);
        snprintf(name, sizeof name, "error over predicted bar (%.3f mm)",
                 sqrt(noisy.bar2 / (noisy.total + 1e-9)));
        validate_absolute(&t, name, 1, sqrt(noisy.error2 / noisy.bar2), 0.5);
        validate_absolute(&t, "share within 95 % bars", 0.945, (double)noisy.inside / (noisy.total + 1e-9),
                          0.045);
    }

    return validate_end(&t);
}
