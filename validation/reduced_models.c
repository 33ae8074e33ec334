// How accurate the reduced models are (docs/explanation/papers.md has the references): the two pressure
// sequences of Lindenroth et al. 2016 with the beam as published, the chain, the rod and the full threaded
// segment; the comparison of geometric models of Bieze et al. 2018 on fifty random poses of a rod and of the
// full body `cbha`.
//   reduced_models [PICTURES]      plots go into the folder PICTURES
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "base/vec.h"
#include "document/document.h"
#include "model/model.h"
#include "pliant/pliant.h"
#include "pliant/meshing.h"
#include "reduced/reduced.h"
#include "statics/statics.h"

static const double degree = PL_PI / 180;

static void stop(const char *what, const pl_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(1);
}

static pl_model *build(const pl_reduced_def *def)
{
    pl_error err = {0};
    pl_model *model = NULL;
    if (pl_reduced_create(def, &model, NULL, &err) != PL_OK) {
        stop(def->name, &err);
    }
    return model;
}

static pl_model *full_body(const char *what, const pl_text *yaml)
{
    pl_error err = {0};
    pl_robot *robot = NULL;
    pl_model *model = NULL;
    const pl_load_options load = {.mesher = pl_meshing_mesher(), .no_cache = true};
    const pl_statics_options statics = pl_statics_options_default();

    if (pl_robot_load_text(yaml->data, yaml->length, NULL, &load, &robot, NULL, &err) != PL_OK ||
        pl_model_from_robot(robot, &statics, &model, &err) != PL_OK) {
        stop(what, &err);
    }

    return model;
}

// ---- the full segment of Lindenroth et al. 2016: the thread around a chamber as rings of cable that keep
// their length
static pl_model *full_segment(double size)
{
    pl_text t = {0};
    pl_text_add(&t,
                "pliant: 1\nname: segment\nmesh:\n  design: {kind: segment, chamber_diameter: 7}\n  size: "
                "%g\n  order: 2\n"
                "materials: {silicone: {model: neo_hookean, c10: 0.1 MPa, poisson: 0.49}}\n"
                "regions: {body: silicone}\nfixed: [{surface: base}]\nactuators:\n",
                size);
    for (int c = 0; c < 3; ++c) {
        pl_text_add(&t, "  - {name: chamber%d, kind: chamber, surface: chamber%d, drive: pressure}\n", c + 1,
                    c + 1);
    }

    for (int c = 0; c < 3; ++c) {
        const double a = PL_PI / 2 + 2 * PL_PI * c / 3, x = 7 * cos(a), y = 7 * sin(a);
        for (int k = 0; k < 8; ++k) {
            pl_text_add(
                &t,
                "  - {name: ring%d_%d, kind: cable, drive: length_ratio, idle: hold, radius: 1, through: [",
                c + 1, k + 1);
            for (int i = 0; i <= 10; ++i) {
                pl_text_add(&t, "%s[%.4f, %.4f, %.4f]", i ? ", " : "", x + 4.2 * cos(2 * PL_PI * i / 10),
                            y + 4.2 * sin(2 * PL_PI * i / 10), 4.5 + 36 * (k + 0.5) / 8);
            }
            pl_text_add(&t, "]}\n");
        }
    }

    pl_text_add(&t, "markers: {tip: {surface: tip}}\n");
    pl_model *model = full_body("segment", &t);
    pl_text_clear(&t);

    return model;
}

static pl_model *reduced_segment(pl_reduced_kind kind, bool as_published, int elements, double EI, double EA)
{
    static const char *const name[] = {"chamber1", "chamber2", "chamber3"};
    pl_line_actuator_def chamber[3];
    const pl_section_def section = {.name = "segment",
                                    .length = 45,
                                    .diameter = {25, 25},
                                    .EA = EA,
                                    .EI = {EI, EI},
                                    .GJ = 0.7 * EI,
                                    .GA = {0.3 * EA, 0.3 * EA},
                                    .pieces = elements};
    const pl_line_marker_def tip = {.name = "tip", .at = 45};

    for (int i = 0; i < 3; ++i) {
        chamber[i] = (pl_line_actuator_def){
            .name = name[i],
            .kind = PL_CHAMBER,
            .drive = PL_DRIVE_PRESSURE,
            .area = PL_PI * 3.5 * 3.5,
            .effectiveness = {1, 1},
            .path = {.span = {0, 45}, .radius = {7, 7}, .angle = PL_PI / 2 + 2 * PL_PI * i / 3}};
    }

    const pl_reduced_def def = {.name = "segment",
                                .kind = kind,
                                .as_published = as_published,
                                .section = &section,
                                .section_count = 1,
                                .actuator = chamber,
                                .actuator_count = 3,
                                .marker = &tip,
                                .marker_count = 1};

    return build(&def);
}

// ---- sequences
#define MODELS 4
#define POINTS_MAX 80
typedef struct sequence {
    const char *name;
    int count;
    bool mirror; // the path back is the path there: nothing of an elastic body lags behind
    double time[POINTS_MAX], pressure[POINTS_MAX][3]; // s, MPa
    double value[MODELS][5][POINTS_MAX];              // x, y, z mm; angles about x and y, degrees
} sequence;

static const char *const model_name[MODELS] = {"full segment", "beam as published", "chain", "rod"};
static const char *const value_name[5] = {"x", "y", "z", "theta_x", "theta_y"};

static bool solve(pl_model *model, const double pressure[3], double value[5])
{
    const pl_model_info info = pl_model_get_info(model);
    double command[40];
    pl_error err = {0};
    pl_solve_report report;

    for (int i = 0; i < info.command_count; ++i) {
        command[i] = i < 3 ? pressure[i] : NAN;
    }
    if (pl_model_fk(model, command, &report, &err) != PL_OK) {
        stop("fk", &err);
    }

    const pl_model_answer a = pl_model_get_answer(model);
    memcpy(value, a.marker, 3 * sizeof *value);
    value[3] = atan2(-a.rotation[5], a.rotation[8]) / degree;
    value[4] = atan2(a.rotation[2], a.rotation[8]) / degree;

    return report.outcome == PL_SOLVED;
}

static void add(sequence *s, double time, double p1, double p2, double p3)
{
    s->time[s->count] = time;
    s->pressure[s->count][0] = p1;
    s->pressure[s->count][1] = p2;
    s->pressure[s->count++][2] = p3;
}

static void run(sequence *s, pl_model *const model[MODELS])
{
    int unsolved = 0;
    for (int m = 0; m < MODELS; ++m) {
        pl_model_reset(model[m]);
        for (int i = 0; i < s->count; ++i) {
            double v[5];
            const int twin = s->count - 1 - i;
            if (s->mirror && i > twin) {
                for (int k = 0; k < 5; ++k) {
                    s->value[m][k][i] = s->value[m][k][twin];
                }
                continue;
            }
            unsolved += !solve(model[m], s->pressure[i], v);
            for (int k = 0; k < 5; ++k) {
                s->value[m][k][i] = v[k];
            }
        }
    }

    printf("\n%s: %d points, %d not solved; largest gap to the full segment\n", s->name, s->count, unsolved);
    printf("%-20s %9s %9s %9s %12s %12s\n", "", "x mm", "y mm", "z mm", "theta_x deg", "theta_y deg");
    for (int m = 0; m < MODELS; ++m) {
        printf("%-20s", m ? model_name[m] : "motion of the full");
        for (int k = 0; k < 5; ++k) {
            double worst = 0;
            for (int i = 0; i < s->count; ++i) {
                const double reference = m ? s->value[0][k][i] : s->value[0][k][0];
                worst = fmax(worst, fabs(s->value[m][k][i] - reference));
            }
            printf(k < 3 ? " %9.3f" : " %12.3f", worst);
        }
        printf("\n");
    }
}

static void plot(const sequence *s, const char *folder, int number)
{
    for (int k = 0; k < 5 && folder; ++k) {
        pl_curve curve[MODELS];
        char title[120], path[400], label[60];
        for (int m = 0; m < MODELS; ++m) {
            curve[m] = (pl_curve){.name = model_name[m],
                                  .x = s->time,
                                  .y = s->value[m][k],
                                  .count = s->count,
                                  .points = m == 3};
        }
        snprintf(title, sizeof title, "Lindenroth et al. 2016, sequence %d: %s", number, value_name[k]);
        snprintf(label, sizeof label, "%s (%s)", value_name[k], k < 3 ? "mm" : "degrees");
        snprintf(path, sizeof path, "%s/lindenroth2016_sequence%d_%s.png", folder, number, value_name[k]);
        const pl_plot picture = {.title = title,
                                 .x_label = "time (s)",
                                 .y_label = label,
                                 .curve = curve,
                                 .curve_count = MODELS,
                                 .width = 640,
                                 .height = 420};
        pl_error err = {0};
        if (pl_plot_write(&picture, path, &err) != PL_OK) {
            stop("plot", &err);
        }
    }
}

static void lindenroth_2016(const char *folder)
{
    // E, I and the chambers' area are not in the paper: EI and EA from the full model at 10 kPa, then frozen
    pl_model *full = full_segment(6);
    const double low[3] = {0.01, 0, 0};
    double v[5];

    solve(full, low, v);
    const double area = PL_PI * 3.5 * 3.5, turn = v[3] * degree;
    const double EI = 45 * area * 7 * low[0] / turn, EA = 45 * area * low[0] / (v[2] - 45 * sin(turn) / turn);
    printf("Lindenroth et al. 2016: EI %.4g N mm^2, EA %.4g N from the full segment at 10 kPa (%.3f deg, "
           "%.4f mm)\n",
           EI, EA, v[3], v[2] - 45);
    pl_model *model[MODELS] = {full, reduced_segment(PL_BEAM, true, 1, EI, EA),
                               reduced_segment(PL_BEAM, false, 4, EI, EA),
                               reduced_segment(PL_ROD, false, 20, EI, EA)};
    static sequence one = {.name = "sequence 1, chamber 1 from 0 to 160 kPa and back", .mirror = true},
                    two = {.name = "sequence 2, chambers 1, 2, 3 in turn to 80 kPa, all down"};
    for (int i = 0; i <= 16; ++i) {
        add(&one, 12.0 * i / 16, 0.16 * (i <= 8 ? i : 16 - i) / 8, 0, 0);
    }

    for (int i = 0; i <= 16; ++i) {
        const double t = i / 4.0; // four phases
        const double p[3] = {fmin(t, 1), fmin(fmax(t - 1, 0), 1), fmin(fmax(t - 2, 0), 1)};
        const double down = t > 3 ? 4 - t : 1;
        add(&two, 3 * t, 0.08 * p[0] * down, 0.08 * p[1] * down, 0.08 * p[2] * down);
    }

    run(&one, model);
    plot(&one, folder, 1);
    run(&two, model);
    plot(&two, folder, 2);
    for (int m = 0; m < MODELS; ++m) {
        pl_robot *robot = (pl_robot *)pl_model_robot(model[m]);
        pl_model_destroy(model[m]);
        pl_robot_destroy(robot);
    }
}

// ---- Bieze et al. 2018: a two-section trunk, lying horizontally under its weight
static const char *const bellow[] = {"b1", "b2", "b3", "b4", "b5", "b6"};

// Truth: a rod whose sections taper in stiffness, bent by pressures, sagging; strings measure the bellows.
static pl_model *trunk_truth(void)
{
    static const char *const name[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};
    static const char *const string[] = {"s1", "s2", "s3", "s4", "s5", "s6"};
    pl_section_def section[8];
    pl_line_actuator_def act[6];
    pl_line_sensor_def sensor[6];

    for (int i = 0; i < 8; ++i) {
        const double D = 100 - 2.5 * (i + 0.5), f = pow(D / 100, 3);
        section[i] = (pl_section_def){.name = name[i],
                                      .length = 103 / 4.0,
                                      .diameter = {100 - 2.5 * i, 97.5 - 2.5 * i},
                                      .EA = 900 * D / 100,
                                      .EI = {3e5 * f, 3e5 * f},
                                      .GJ = 2e5 * f,
                                      .GA = {300 * D / 100, 300 * D / 100},
                                      .mass = 1e-6 * D / 100,
                                      .pieces = 5};
    }

    for (int i = 0; i < 6; ++i) {
        const int k = i / 3;
        const double angle = 2 * PL_PI * (i % 3) / 3;
        act[i] = (pl_line_actuator_def){
            .name = bellow[i],
            .kind = PL_CHAMBER,
            .drive = PL_DRIVE_PRESSURE,
            .area = 600,
            .effectiveness = {1, 1},
            .path = {.span = {103 * k, 103 * (k + 1)}, .radius = {30, 30}, .angle = angle}};
        sensor[i] = (pl_line_sensor_def){
            .name = string[i],
            .kind = PL_SENSOR_LENGTH,
            .path = {.span = {103 * k, 103 * (k + 1)}, .radius = {50 - 5 * k, 45 - 5 * k}, .angle = angle}};
    }

    const pl_line_marker_def tip = {.name = "tip", .at = 206};
    const pl_reduced_def def = {.name = "truth",
                                .kind = PL_ROD,
                                .section = section,
                                .section_count = 8,
                                .actuator = act,
                                .actuator_count = 6,
                                .sensor = sensor,
                                .sensor_count = 6,
                                .marker = &tip,
                                .marker_count = 1,
                                .gravity = {0, -9810, 0}};

    return build(&def);
}

// Truth: the full body of the design, lying horizontally under its weight. Its strings run 2 mm inside of the
// outermost corners, and bellows 1 lies towards +y.
static pl_model *cbha_truth(void)
{
    pl_text t = {0};
    pl_text_add(&t, "%sloads: {gravity: [0, -9.81 m/s^2, 0]}\n", pl_design_find("cbha")->robot_yaml);
    pl_model *model = full_body("cbha", &t);
    pl_text_clear(&t);
    return model;
}

// Models that know the strings' lengths over their rest lengths, one value per bellow; the rod by pressure
// knows the pressures instead. Rods have two uniform sections of the truth's compliance.
typedef struct trunk_kind {
    const char *name;
    pl_reduced_kind kind;
    bool cone, by_pressure;
    int pieces;
} trunk_kind;

// `phase`: angle of the first string; `inset`: how far inside of the wall the strings run.
static pl_model *trunk_model(const trunk_kind *t, double phase, double inset)
{
    pl_section_def section[2];
    pl_line_actuator_def act[6];
    const bool rod = t->kind == PL_ROD;

    for (int k = 0; k < 2; ++k) {
        const double D0 = t->cone ? 100 - 10 * k : 95 - 10 * k, D1 = t->cone ? 90 - 10 * k : D0;
        double bend = 0, stretch = 0; // mean compliance of four pieces
        for (int i = 4 * k; i < 4 * k + 4; ++i) {
            const double D = 1 - 0.025 * (i + 0.5);
            bend += 0.25 / (3e5 * D * D * D);
            stretch += 0.25 / (900 * D);
        }
        section[k] = (pl_section_def){.name = k ? "upper" : "lower",
                                      .length = 103,
                                      .diameter = {D0, D1},
                                      .EA = 1 / stretch,
                                      .EI = {1 / bend, 1 / bend},
                                      .GJ = 0.7 / bend,
                                      .GA = {0.33 / stretch, 0.33 / stretch},
                                      .mass = rod ? 1e-6 * (0.95 - 0.1 * k) : 0,
                                      .pieces = t->pieces};
    }

    for (int i = 0; i < 6; ++i) {
        const int k = i / 3;
        const double r0 = t->by_pressure ? 30 : section[k].diameter[0] / 2 - inset,
                     r1 = t->by_pressure ? 30 : section[k].diameter[1] / 2 - inset;
        act[i] = (pl_line_actuator_def){.name = bellow[i],
                                        .kind = rod ? PL_CHAMBER : PL_CABLE,
                                        .drive = t->by_pressure ? PL_DRIVE_PRESSURE
                                                 : rod          ? PL_DRIVE_VOLUME_RATIO
                                                                : PL_DRIVE_LENGTH_RATIO,
                                        .area = 600,
                                        .effectiveness = {1, 1},
                                        .path = {.span = {103 * k, 103 * (k + 1)},
                                                 .radius = {r0, r1},
                                                 .angle = phase + 2 * PL_PI * (i % 3) / 3}};
    }

    const pl_line_marker_def tip = {.name = "tip", .at = 206};
    const pl_reduced_def def = {.name = "trunk",
                                .kind = t->kind,
                                .section = section,
                                .section_count = 2,
                                .actuator = act,
                                .actuator_count = 6,
                                .marker = &tip,
                                .marker_count = 1,
                                .gravity = {0, rod ? -9810 : 0, 0}};

    return build(&def);
}

static void bieze_2018(bool body)
{
    static const trunk_kind kind[] = {
        {"constant curvature, cylinders", PL_CONSTANT_CURVATURE, false, false, 1},
        {"constant curvature, cones of 8 arcs", PL_CONSTANT_CURVATURE, true, false, 8},
        {"vertebrae, 2 x 8 gaps", PL_VERTEBRAE, true, false, 8},
        {"rod, 2 uniform sections, by lengths", PL_ROD, true, false, 10},
        {"rod, 2 uniform sections, by pressure", PL_ROD, true, true, 10},
    };
    enum { KINDS = PL_COUNT(kind) };
    const int kinds = body ? 3 : KINDS; // the rods have the stiffness of the rod that is the truth
    pl_model *truth = body ? cbha_truth() : trunk_truth(), *model[KINDS];
    for (int m = 0; m < kinds; ++m) {
        model[m] = trunk_model(&kind[m], body ? PL_PI / 2 : 0, body ? 2 : 0);
    }

    double sum[KINDS] = {0}, worst[KINDS] = {0}, turn[KINDS] = {0}, motion = 0, rest[6];
    pl_error err = {0};
    pl_solve_report report;
    pl_random random;
    pl_random_seed(&random, 2018);
    memcpy(rest, pl_model_get_answer(truth).sensor, sizeof rest);
    int poses = 0;
    const int marker = body ? 1 : 0; // the tip; the body has one in the middle before it
    for (int i = 0; i < 50; ++i) {
        double pressure[6], ratio[6], tip[3], R[9];
        for (int c = 0; c < 6; ++c) {
            pressure[c] = pl_random_uniform(&random, 0, body ? 0.15 : 0.12);
        }
        if (pl_model_fk(truth, pressure, &report, &err) != PL_OK || report.outcome != PL_SOLVED) {
            continue;
        }
        const pl_model_answer a = pl_model_get_answer(truth);
        memcpy(tip, a.marker + 3 * marker, sizeof tip);
        memcpy(R, a.rotation + 9 * marker, sizeof R);
        motion += pow(pl_distance3(tip, (const double[3]){0, 0, 206}), 2);
        for (int c = 0; c < 6; ++c) {
            ratio[c] = a.sensor[c] / rest[c];
        }
        for (int m = 0; m < kinds; ++m) {
            if (pl_model_fk(model[m], kind[m].by_pressure ? pressure : ratio, &report, &err) != PL_OK ||
                report.outcome != PL_SOLVED) {
                stop(kind[m].name, &err);
            }
            const pl_model_answer b = pl_model_get_answer(model[m]);
            const double off = pl_distance3(b.marker, tip);
            const double cosine = R[2] * b.rotation[2] + R[5] * b.rotation[5] + R[8] * b.rotation[8];
            sum[m] += off * off;
            worst[m] = fmax(worst[m], off);
            turn[m] = fmax(turn[m], acos(fmin(cosine, 1)));
        }
        ++poses;
    }

    printf("\nBieze et al. 2018: %d random poses of a two-section trunk under its weight (truth: %s, seed "
           "2018);\ninputs are the six string lengths; the tip moves %.1f mm RMS\n",
           poses, body ? "the full body cbha" : "a tapered rod", sqrt(motion / poses));
    printf("%-38s %8s %8s %10s\n", "", "RMS mm", "max mm", "max deg");
    for (int m = 0; m < kinds; ++m) {
        printf("%-38s %8.2f %8.2f %10.2f\n", kind[m].name, sqrt(sum[m] / poses), worst[m], turn[m] / degree);
        pl_model_destroy(model[m]);
    }

    pl_robot *robot = (pl_robot *)pl_model_robot(truth);
    pl_model_destroy(truth);
    pl_robot_destroy(robot);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    bieze_2018(false);
    bieze_2018(true);
    lindenroth_2016(argc > 1 ? argv[1] : NULL);
    return 0;
}
