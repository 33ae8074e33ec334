// pliant calibrate cycles: softening (mullins) of a material from a cyclic tensile test.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "pliant/calib.h"
#include "pliant/dataset.h"

// What the verb holds; cli_calibrate_cycles releases all of it.
typedef struct cycles {
    pl_recording *series;
    double *column; // strain, stress, stress of the fit: one after another, each of all rows of the table
    pl_cycles test;
    pl_cycles_fit fit;
} cycles;

// Takes strain and stress from a table whose columns may have one of several usual names, kPa or MPa.
static int cycles_columns(const cli_args *args, const char *path, cycles *c)
{
    static const char *const strain[] = {"strain", "stretch"}, *const stress[] = {"stress", "load"};
    const int e = pl_recording_find(c->series, strain, 2), s = pl_recording_find(c->series, stress, 2),
              n = pl_recording_count(c->series);
    pl_error err = {0};

    if (e < 0 || s < 0) {
        cli_error(args, "%s: expected columns named strain (or stretch) and stress [MPa] or [kPa]", path);
        return CLI_EXIT_USAGE;
    }

    c->column = calloc(3 * (size_t)n, sizeof *c->column);
    if (!c->column) {
        return cli_no_memory(args);
    }
    if (pl_recording_column(c->series, e, PL_DIM_NUMBER, c->column, 1, &err) != PL_OK ||
        pl_recording_column(c->series, s, PL_DIM_STRESS, c->column + n, 1, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    // a stretch is 1 at rest, a strain 0
    const bool stretch = pl_recording_find(c->series, strain, 1) != e;
    for (int k = 0; stretch && k < n; ++k) {
        c->column[k] -= 1;
    }

    // the test ends where it goes beyond the limit: what follows remembers that strain
    double limit = INFINITY;
    if (!cli_number(args, "max-strain", &limit)) {
        return CLI_EXIT_USAGE;
    }
    int used = 0;
    while (used < n && c->column[used] <= limit) {
        ++used;
    }
    c->test = (pl_cycles){.count = used, .strain = c->column, .stress = c->column + n};

    return CLI_DONE;
}

static int cycles_model(const cli_args *args, pl_material_model *model)
{
    static const pl_material_model models[] = {PL_YEOH, PL_NEO_HOOKEAN, PL_MOONEY_RIVLIN, PL_GENT, PL_OGDEN};
    const char *only = cli_value(args, "model");
    for (int k = 0; k < 5; ++k) {
        if (!only || strcmp(only, pl_material_model_name(models[k])) == 0) {
            *model = models[k];
            return CLI_DONE;
        }
    }
    cli_error(args, "--model %s: expected neo_hookean, mooney_rivlin, yeoh, gent or ogden", only);
    return CLI_EXIT_USAGE;
}

// The constants of the first loading as in a robot file.
static void cycles_constants(const pl_material *material, char *buffer, size_t size)
{
    pl_material copy = *material;
    buffer[0] = 0;
    for (int k = 0; k < PL_MATERIAL_CONSTANT_COUNT; ++k) {
        const pl_material_constant which = (pl_material_constant)k;
        const double value = *pl_material_at(&copy, which);
        if (value != 0 && which != PL_POISSON && which != PL_BULK && which != PL_DENSITY) {
            const bool number =
                which == PL_JM || which == PL_ALPHA1 || which == PL_ALPHA2 || which == PL_ALPHA3;
            const size_t at = strlen(buffer);
            snprintf(buffer + at, size - at, "%s: %.6g%s, ", pl_material_constant_name(which), value,
                     number ? "" : " MPa");
        }
    }
}

// The result for people: the constants with their uncertainty, and the line for a robot file.
static void cycles_print(const cli_args *args, const cycles *c)
{
    const pl_cycles_fit *f = &c->fit;
    const pl_material *m = &f->material;
    char text[240];

    cli_say(args,
            "%d rows, %d of the first loading; rms %.2f %% of the largest stress (first loading %.2f %%)\n",
            c->test.count, f->first_rows, 100 * f->error, 100 * f->first_error);
    cli_say(args, "work that does not come back: %.1f %% in the test, %.1f %% of the fit\n",
            100 * f->lost_measured, 100 * f->lost);

    cli_table table = {0};
    cli_row(&table, "\tvalue\t+- (95 %%)");
    cli_row(&table, "r\t%.5g\t%.2g", m->mullins_r, f->half_width[0]);
    cli_row(&table, "m MPa\t%.5g\t%.2g", m->mullins_m, f->half_width[1]);
    cli_row(&table, "beta\t%.5g\t%.2g", m->mullins_beta, f->half_width[2]);
    cli_table_print(args, &table);
    if (f->correlation > 0.5) {
        cli_say(
            args,
            "residuals of neighbouring rows are correlated (%.2f): softening alone does not follow the test "
            "to its noise (viscous losses, lasting strains); the intervals account for it\n",
            f->correlation);
    }
    if (!f->stable) {
        cli_say(args, "the law is not stable: its stress decreases somewhere; try another --model\n");
    }

    cycles_constants(m, text, sizeof text);
    cli_say(args,
            "\nin a robot file:\n  silicone: {model: %s, %spoisson: %g, mullins: {r: %.5g, m: %.5g MPa, "
            "beta: %.5g}}\n",
            pl_material_model_name(m->model), text, m->poisson, m->mullins_r, m->mullins_m, m->mullins_beta);
}

// The result for programs. The caller owns it.
static json_t *cycles_json(const cycles *c)
{
    const pl_cycles_fit *f = &c->fit;
    pl_material copy = f->material;
    json_t *root = cli_json_head(0, NULL), *constants = json_object();

    for (int k = 0; k < PL_MATERIAL_CONSTANT_COUNT; ++k) {
        const double value = *pl_material_at(&copy, (pl_material_constant)k);
        if (value != 0) {
            json_object_set_new(constants, pl_material_constant_name((pl_material_constant)k),
                                cli_json_number(value));
        }
    }
    json_object_set_new(root, "model", json_string(pl_material_model_name(copy.model)));
    json_object_set_new(root, "constants", constants);
    json_object_set_new(root, "mullins",
                        cli_json_numbers((double[]){copy.mullins_r, copy.mullins_m, copy.mullins_beta}, 3));
    json_object_set_new(root, "half_width", cli_json_numbers(f->half_width, 3));
    json_object_set_new(root, "error", cli_json_number(f->error));
    json_object_set_new(root, "first_error", cli_json_number(f->first_error));
    json_object_set_new(root, "correlation", cli_json_number(f->correlation));
    json_object_set_new(root, "lost", cli_json_number(f->lost));
    json_object_set_new(root, "lost_measured", cli_json_number(f->lost_measured));
    json_object_set_new(root, "stable", json_boolean(f->stable));

    return root;
}

// The test and the fitted law, in the order of measurement.
static int cycles_plot(const cli_args *args, const cycles *c, const char *path)
{
    const int n = c->test.count;
    double *y = c->column + 2 * pl_recording_count(c->series), largest = 0;

    for (int k = 0; k < n; ++k) {
        y[k] = pl_material_cycled(&c->fit.material, 1 + c->test.strain[k], &largest);
    }

    const pl_curve curve[2] = {{"test", c->test.strain, c->test.stress, n, true},
                               {"fit", c->test.strain, y, n, false}};
    const pl_plot plot = {.title = "cyclic tensile test",
                          .x_label = "engineering strain",
                          .y_label = "engineering stress (MPa)",
                          .curve = curve,
                          .curve_count = 2};
    pl_error err = {0};
    if (pl_plot_write(&plot, path, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    cli_say(args, "  wrote %s\n", path);

    return CLI_DONE;
}

// Reads, fits, prints and writes.
static int cycles_work(const cli_args *args, const char *path, cycles *c)
{
    pl_error err = {0};
    pl_material_model model = PL_YEOH;
    int status = cycles_model(args, &model);
    if (status) {
        return status;
    }

    if (pl_recording_read(path, &c->series, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    status = cycles_columns(args, path, c);
    if (status) {
        return status;
    }
    if (pl_cycles_calibrate(&c->test, model, &c->fit, &err) != PL_OK) {
        return cli_fail_file(args, path, &err);
    }

    cycles_print(args, c);
    int cursor = 0;
    for (const char *out; status == CLI_DONE && (out = cli_next(args, "out", &cursor));) {
        status = cycles_plot(args, c, out);
    }

    return status ? status : cli_json_write(args, cli_value(args, "json") ? cycles_json(c) : NULL);
}

int cli_calibrate_cycles(const cli_args *args, const char *path)
{
    cycles c = {0};
    const int status = cycles_work(args, path, &c);
    pl_recording_destroy(c.series);
    free(c.column);
    return status;
}
