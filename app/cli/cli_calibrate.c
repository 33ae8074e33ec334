// pliant calibrate: parameters from measurements. `tensile` fits the rubber laws to a tensile test; the other
// kinds have files of their own.
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const cli_option options[] = {
    {"model", 0, "NAME",
     "fit this law only: neo_hookean, mooney_rivlin, yeoh, gent or ogden (default: all; cycles: yeoh)",
     "neo_hookean mooney_rivlin yeoh gent ogden"},
    {"max-strain", 0, "STRAIN", "use the test up to this engineering strain (1 = 100 %)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1e-3, 100)},
    {"length", 0, "MM", "ratio: of the whole bar (default 80)", NULL, CLI_NUMBER(PL_DIM_LENGTH, 1e-3, 1e4)},
    {"interface", 0, "MM", "ratio: from the clamped end to the interface (default: the middle)", NULL,
     CLI_NUMBER(PL_DIM_LENGTH, 1e-3, 1e4)},
    {"pull", 0, "MM", "ratio: elongation of the bar (default 4)", NULL, CLI_NUMBER(PL_DIM_LENGTH, 1e-6, 1e4)},
    {"moved", 0, "MM", "ratio: displacement of the interface; or", NULL,
     CLI_NUMBER(PL_DIM_LENGTH, 1e-6, 1e4)},
    {"elasticity", 0, "R_M", "ratio: the elasticity ratio itself", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1e-3, 1e3)},
    {"r-omega", 0, "R", "ratio: shape parameter of the stiffer material (default 1)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1e-2, 1)},
    {"method", 0, "NAME", "ratio: exact (default), local_global or fang2020", "exact local_global fang2020"},
    {"size", 0, "LENGTH", "ratio: edge length of the computed bar", NULL,
     CLI_NUMBER(PL_DIM_LENGTH, 1e-4, 1e6)},
    {"chamber", 0, "VOLUME", "syringe: volume of the undeformed chamber (12mL)", NULL,
     CLI_NUMBER(PL_DIM_VOLUME, 1e-6, 1e12)},
    {"tube", 0, "VOLUME", "syringe: volume of the tube (default 0)", NULL,
     CLI_NUMBER(PL_DIM_VOLUME, 0, 1e12)},
    {"syringe", 0, "VOLUME", "syringe: initial volume of the syringe (default 0)", NULL,
     CLI_NUMBER(PL_DIM_VOLUME, 0, 1e12)},
    {"ambient", 0, "PRESSURE", "syringe: absolute ambient pressure (default 100kPa)", NULL,
     CLI_NUMBER(PL_DIM_PRESSURE, 1e-6, 10)},
    {"times", 0, "LIST", "relaxation: times of the branches (0.1s,1s,10s; default: those the test resolves)",
     NULL},
    {"gauge", 0, NULL, "syringe: the pressures are gauge pressures, not absolute", NULL},
    {"free", 0, "NAMES",
     "poses: parameters to fit, separated by commas: MATERIAL.CONSTANT, COMMAND.factor, "
     "COMMAND.offset, base.x .. base.rz, or the path of a number in the robot file; release: "
     "MATERIAL.CONSTANT, MATERIAL.prony.0.g, or such a path",
     NULL},
    {"until", 0, "TIME", "release: time after the release that is compared (default 3s)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 1e-3, 1e4)},
    {"step", 0, "TIME", "release: fixed step of the motions (default 5ms)", NULL,
     CLI_NUMBER(PL_DIM_TIME, 1e-6, 1)},
    {"images", 0, "CAMERAS.json",
     "poses: fit the pixels of the table (tip.u1, tip.v1, ..., as `track` writes them) in these cameras",
     NULL},
    {"held-rows", 0, "ROWS", "poses: rows that are predicted, not fitted, such as 5-8", NULL},
    {"folds", 0, "N", "poses: cross-validation, leaving out every N-th pose in turn", NULL,
     CLI_WHOLE(2, 1000)},
    {"board", 0, "COLUMNSxROWS", "cameras: inner corners of the chessboard (9x6)", NULL},
    {"square", 0, "LENGTH", "cameras: side of a square of the chessboard (5.5mm)", NULL,
     CLI_NUMBER(PL_DIM_LENGTH, 1e-3, 1e4)},
    {"out", 0, "FILE",
     "plot test and fits: .png or .svg; cameras: .json; poses also: .csv, .yaml (the robot with fitted "
     "numbers)",
     NULL},
    CLI_JSON,
    CLI_FORCE,
    {0},
};

#define CALIBRATE_MODELS 5
#define CALIBRATE_POINTS 120 // of a plotted curve
static const pl_material_model models[CALIBRATE_MODELS] = {PL_NEO_HOOKEAN, PL_MOONEY_RIVLIN, PL_YEOH, PL_GENT,
                                                           PL_OGDEN};

// A test and the laws fitted to it.
typedef struct calibration {
    pl_tensile test;
    pl_tensile_fit fit[CALIBRATE_MODELS];
    bool has[CALIBRATE_MODELS]; // the fit succeeded
} calibration;

// A constant that the fit has found: not the compressibility, and no ogden term that is absent.
static bool calibrate_fitted(const pl_material *material, int c, double *value)
{
    pl_material copy = *material;
    *value = *pl_material_at(&copy, (pl_material_constant)c);
    const bool stiffness = c != PL_YOUNG && c != PL_POISSON && c != PL_BULK && c != PL_DENSITY;
    return stiffness && pl_material_has(material->model, (pl_material_constant)c) &&
           (*value != 0 || material->model != PL_OGDEN);
}

// "c10 0.058, c20 0.0095", or as in a robot file: "mu: 0.08 MPa, jm: 35".
static void calibrate_constants(const pl_material *material, bool file, char *buffer, size_t size)
{
    buffer[0] = 0;
    for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        double value;

        if (calibrate_fitted(material, c, &value)) {
            const bool number = c == PL_JM || c == PL_ALPHA1 || c == PL_ALPHA2 || c == PL_ALPHA3;
            const size_t at = strlen(buffer);
            snprintf(buffer + at, size - at, file ? "%s%s: %.6g%s" : "%s%s %.5g", at ? ", " : "",
                     pl_material_constant_name((pl_material_constant)c), value, number ? "" : " MPa");
        }
    }
}

// All laws, or one. A law that cannot be fitted is no failure unless it was asked for.
static int calibrate_fit(const cli_args *args, calibration *c)
{
    const char *only = cli_value(args, "model");
    double limit = 0;
    bool known = !only;

    if (!cli_number(args, "max-strain", &limit)) {
        return CLI_EXIT_USAGE;
    }

    int fits = 0;
    for (int k = 0; k < CALIBRATE_MODELS; ++k) {
        pl_error err = {0};
        if (only && strcmp(only, pl_material_model_name(models[k])) != 0) {
            continue;
        }
        known = true;
        const pl_status status = pl_tensile_fit_model(&c->test, models[k], limit, &c->fit[k], &err);
        c->has[k] = status == PL_OK;
        fits += c->has[k];
        if (status != PL_OK) {
            const int failed = cli_fail_file(args, args->plain[1], &err);
            if (only || failed == CLI_EXIT_SYSTEM) {
                return failed;
            }
        }
    }

    if (!known) {
        cli_error(args, "--model %s: expected neo_hookean, mooney_rivlin, yeoh, gent or ogden", only);
        return CLI_EXIT_USAGE;
    }

    return fits ? CLI_DONE : CLI_EXIT_UNSOLVED;
}

// A law that is not stable can be fitted but not used.
static void calibrate_print(const cli_args *args, const calibration *c)
{
    const pl_tensile *t = &c->test;
    cli_say(args, "%s: %d points, strain up to %.3g, stress up to %.4g MPa\n", t->title, t->count,
            t->strain[t->count - 1], t->stress[t->count - 1]);
    if (t->source[0]) {
        cli_say(args, "  %s\n", t->source);
    }

    cli_table table = {0};
    cli_row(&table, "model\tconstants MPa\terror\tstrain\tstable");
    for (int k = 0; k < CALIBRATE_MODELS; ++k) {
        if (c->has[k]) {
            char text[200];
            calibrate_constants(&c->fit[k].material, false, text, sizeof text);
            cli_row(&table, "%s\t%s\t%.2f %%\t%.2f to %.2f\t%s", pl_material_model_name(models[k]), text,
                    100 * c->fit[k].error, c->fit[k].strain_low, c->fit[k].strain_high,
                    c->fit[k].stable ? "yes"
                                     : "NO: stress decreases somewhere between stretch 0.5 and the end");
        }
    }

    cli_table_print(args, &table);
    cli_say(args, "\nin a robot file:\n");
    for (int k = 0; k < CALIBRATE_MODELS; ++k) {
        if (c->has[k]) {
            char text[200];
            calibrate_constants(&c->fit[k].material, true, text, sizeof text);
            cli_say(args, "  silicone: {model: %s, %s, poisson: %g}\n", pl_material_model_name(models[k]),
                    text, c->fit[k].material.poisson);
        }
    }
}

static json_t *calibrate_json(const calibration *c)
{
    json_t *root = cli_json_head(0, NULL), *fits = json_object();
    json_object_set_new(root, "title", json_string(c->test.title));
    json_object_set_new(root, "source", json_string(c->test.source));
    json_object_set_new(root, "points", json_integer(c->test.count));

    for (int k = 0; k < CALIBRATE_MODELS; ++k) {
        if (!c->has[k]) {
            continue;
        }
        json_t *one = json_object();

        for (int m = 0; m < PL_MATERIAL_CONSTANT_COUNT; ++m) {
            double value;
            if (calibrate_fitted(&c->fit[k].material, m, &value)) {
                json_object_set_new(one, pl_material_constant_name((pl_material_constant)m),
                                    cli_json_number(value));
            }
        }

        json_object_set_new(one, "poisson", cli_json_number(c->fit[k].material.poisson));
        json_object_set_new(one, "error", cli_json_number(c->fit[k].error));
        json_object_set_new(one, "strain_range",
                            cli_json_numbers((double[]){c->fit[k].strain_low, c->fit[k].strain_high}, 2));
        json_object_set_new(one, "stable", json_boolean(c->fit[k].stable));
        json_object_set_new(fits, pl_material_model_name(models[k]), one);
    }

    json_object_set_new(root, "fits", fits);

    return root;
}

// Test as points, laws as curves over the same strains.
static int calibrate_plot(const cli_args *args, const calibration *c, const char *path)
{
    double x[CALIBRATE_POINTS], y[CALIBRATE_MODELS][CALIBRATE_POINTS];
    pl_curve curve[CALIBRATE_MODELS + 1] = {{"test", c->test.strain, c->test.stress, c->test.count, true}};
    int count = 1;
    const double end = c->test.strain[c->test.count - 1];

    for (int i = 0; i < CALIBRATE_POINTS; ++i) {
        x[i] = end * i / (CALIBRATE_POINTS - 1);
    }

    for (int k = 0; k < CALIBRATE_MODELS; ++k) {
        for (int i = 0; c->has[k] && i < CALIBRATE_POINTS; ++i) {
            y[k][i] = pl_material_tensile(&c->fit[k].material, 1 + x[i]);
        }
        if (c->has[k]) {
            curve[count++] = (pl_curve){pl_material_model_name(models[k]), x, y[k], CALIBRATE_POINTS, false};
        }
    }

    const pl_plot plot = {.title = c->test.title,
                          .x_label = "engineering strain",
                          .y_label = "engineering stress (MPa)",
                          .curve = curve,
                          .curve_count = count};
    pl_error err = {0};
    if (pl_plot_write(&plot, path, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    cli_say(args, "  wrote %s\n", path);

    return CLI_DONE;
}

static int calibrate_work(const cli_args *args, const char *path, calibration *c)
{
    char *text = NULL;
    size_t bytes = 0;
    pl_error err = {0};
    pl_status read = pl_file_read(path, &text, &bytes, &err);

    if (read == PL_OK) {
        read = pl_tensile_parse(text, bytes, path, &c->test, &err);
    }
    pl_file_free(text);
    if (read != PL_OK) {
        return cli_fail(args, &err);
    }

    int status = calibrate_fit(args, c);
    if (status) {
        return status;
    }
    calibrate_print(args, c);
    int cursor = 0;
    for (const char *out; status == CLI_DONE && (out = cli_next(args, "out", &cursor));) {
        status = calibrate_plot(args, c, out);
    }

    return status ? status : cli_json_write(args, cli_value(args, "json") ? calibrate_json(c) : NULL);
}

// Options of some kinds of measurement would be taken for what they do not do in the others.
static int calibrate_check(const cli_args *args, const char *kind)
{
    static const struct {
        const char *option, *kinds;
    } only[] = {{"model", "tensile, cycles"},
                {"max-strain", "tensile, cycles"},
                {"length", "ratio"},
                {"interface", "ratio"},
                {"pull", "ratio"},
                {"moved", "ratio"},
                {"elasticity", "ratio"},
                {"r-omega", "ratio"},
                {"method", "ratio"},
                {"size", "ratio, poses"},
                {"chamber", "syringe"},
                {"tube", "syringe"},
                {"syringe", "syringe"},
                {"ambient", "syringe"},
                {"gauge", "syringe"},
                {"times", "relaxation"},
                {"free", "poses, release"},
                {"until", "release"},
                {"step", "release"},
                {"images", "poses"},
                {"held-rows", "poses"},
                {"folds", "poses"},
                {"board", "cameras"},
                {"square", "cameras"}};
    for (int i = 0; i < args->given_count; ++i) {
        for (size_t k = 0; k < sizeof only / sizeof *only; ++k) {
            if (strcmp(args->given[i].option->name, only[k].option) == 0 && !strstr(only[k].kinds, kind)) {
                cli_error(args, "--%s is not for %s, it belongs to %s", only[k].option, kind, only[k].kinds);
                return CLI_EXIT_USAGE;
            }
        }
    }

    return CLI_DONE;
}

// The kind of measurement decides what else is expected.
static int calibrate_run(cli_args *args)
{
    static const char *const kinds[] = {"tensile", "relaxation", "cycles", "release",
                                        "ratio",   "syringe",    "poses",  "cameras"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        const int wrong = strcmp(args->plain[0], kinds[k]) == 0 ? calibrate_check(args, kinds[k]) : CLI_DONE;
        if (wrong) {
            return wrong;
        }
    }

    static const char *const extensions[] = {".png", ".svg", NULL};
    const char *kind = args->plain[0];
    const bool poses = strcmp(kind, "poses") == 0;
    static const char *const pose_extensions[] = {".png", ".svg", ".csv", ".yaml", NULL};

    // kinds that need a robot beside their measurements have their own outputs
    if (poses) {
        if (args->plain_count != 3) {
            cli_error(args, "poses: expected a robot and a table of measurements");
            return CLI_EXIT_USAGE;
        }

        const int wrong = cli_check_outputs(args, pose_extensions, args->plain[1], args->plain[2]);
        return wrong ? wrong : cli_calibrate_poses(args);
    }

    static const char *const release_extensions[] = {".png", ".svg", ".yaml", NULL};
    if (strcmp(kind, "release") == 0) {
        if (args->plain_count < 3) {
            cli_error(args, "release: expected a robot and tables of its markers over time");
            return CLI_EXIT_USAGE;
        }

        const int wrong = cli_check_outputs(args, release_extensions, args->plain[1], args->plain[2]);
        return wrong ? wrong : cli_calibrate_release(args);
    }

    static const char *const camera_extensions[] = {".json", NULL};
    if (strcmp(kind, "cameras") == 0) {
        const int wrong = cli_check_outputs(args, camera_extensions, NULL, NULL);
        return wrong ? wrong : cli_calibrate_cameras(args);
    }

    // kinds of a single file, or of none
    const bool ratio = strcmp(kind, "ratio") == 0, syringe = strcmp(kind, "syringe") == 0,
               relaxation = strcmp(kind, "relaxation") == 0, cycles = strcmp(kind, "cycles") == 0;
    if (!ratio && !syringe && !relaxation && !cycles && strcmp(kind, "tensile") != 0) {
        cli_error(args,
                  "'%s' is not a kind of measurement, expected tensile, relaxation, cycles, release, ratio, "
                  "syringe, poses or cameras",
                  kind);
        return CLI_EXIT_USAGE;
    }

    if ((args->plain_count == 1) != ratio || args->plain_count > 2) {
        cli_error(args, ratio ? "ratio takes no file" : "%s: expected a file of measurements", kind);
        return CLI_EXIT_USAGE;
    }

    if (ratio) {
        return cli_calibrate_ratio(args);
    }

    int status = cli_check_outputs(args, extensions, NULL, args->plain[1]);
    if (status) {
        return status;
    }
    if (relaxation) {
        return cli_calibrate_relaxation(args, args->plain[1]);
    }
    if (cycles) {
        return cli_calibrate_cycles(args, args->plain[1]);
    }
    if (syringe) {
        return cli_calibrate_syringe(args, args->plain[1]);
    }

    // tensile tests are what remains
    calibration c = {0};
    status = calibrate_work(args, args->plain[1], &c);
    pl_tensile_clear(&c.test);

    return status;
}

const cli_verb cli_verb_calibrate = {
    .name = "calibrate",
    .summary = "parameters from measurements: material laws, two materials of a bar, volume over pressure",
    .usage = "tensile FILE.csv | relaxation FILE.csv | cycles FILE.csv | release ROBOT RUN.csv... | ratio | "
             "syringe FILE.csv | "
             "poses ROBOT MEASURED.csv | cameras PATTERN... [options]",
    .about =
        "Fits neo-Hookean, Mooney-Rivlin and Yeoh constants to a tensile test: a CSV of the Soft Robotics\n"
        "Materials Database, or two columns of engineering strain and stress (MPa). Prints the error, the\n"
        "range and whether the law is stable, and lines to paste into a robot file.\n"
        "ratio: the shape parameters R_omega of two materials from how far the interface of a bar made of "
        "both\n"
        "moves when it is pulled, with a twist test as a check. syringe: a table of pressure and volume "
        "ratio\n"
        "from a CSV of pressure P and volume dV pushed into a closed line, for loading and unloading.\n"
        "relaxation: viscous branches (prony) from a CSV of t [s], stress and, if it is recorded, strain.\n"
        "cycles: a law and its softening (mullins) from a CSV of strain and stress of a bar that is loaded "
        "and\n"
        "unloaded, in the order of measurement.\n"
        "release: stiffness and viscous weights from markers over time after the body was let go (t [s], "
        "tip.x [mm]),\n"
        "with intervals; says which constants the runs cannot separate.\n"
        "poses: constants of a robot from measured marker positions, with confidence intervals.\n"
        "cameras: constants and places of cameras from pictures of a chessboard, with intervals; one pattern "
        "with\n"
        "a * per camera, pictures of one moment have the same text in its place.",
    .examples =
        "  pliant calibrate tensile Ecoflex_00-30.csv --max-strain 2 --out fit.png\n"
        "  pliant calibrate tensile mine.csv --model yeoh --json fit.json\n"
        "  pliant calibrate relaxation held.csv --out relaxation.png\n"
        "  pliant calibrate cycles cyclic.csv --model yeoh --out cycles.png\n"
        "  pliant calibrate release beam a.csv b.csv --free silicone.young,silicone.prony.0.g --out fit.png\n"
        "  pliant calibrate ratio --length 80 --interface 40 --pull 4 --moved 0.84\n"
        "  pliant calibrate syringe pv.csv --chamber 12mL --tube 3mL --syringe 50mL --out pv.png\n"
        "  pliant calibrate poses trunk measured.csv --free silicone.c10,silicone.density --held-rows 5-8\n"
        "  pliant calibrate cameras 'left_*.png' 'right_*.png' --board 9x6 --square 5.5mm --out "
        "cameras.json\n",
    .option = options,
    .least = 1,
    .most = 9,
    .run = calibrate_run,
    .stopping = "stopping",
};
