// pliant calibrate syringe: the volume ratio of a chamber by pressure, as a table for a robot file. The
// pushed volume is known and the pressure measured; what the air in syringe and tube takes up is subtracted.
#include <string.h>
#include "cli.h"
#include "pliant/calib.h"

// The volumes of syringe, tube and chamber, and the pressure around; internal units (mm^3, MPa).
static int syringe_line(const cli_args *args, pl_syringe_line *line)
{
    *line = (pl_syringe_line){.ambient = 0.1, .gauge = cli_flag(args, "gauge")};
    if (!cli_number(args, "chamber", &line->chamber) || !cli_number(args, "tube", &line->tube) ||
        !cli_number(args, "syringe", &line->syringe) || !cli_number(args, "ambient", &line->ambient)) {
        return CLI_EXIT_USAGE;
    }

    if (!(line->chamber > 0)) {
        cli_error(args, "expected --chamber, the volume of the undeformed chamber, such as --chamber 12mL");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// What was measured while the pressure rose, or fell; nothing for a branch that was not measured.
static void syringe_print_branch(const cli_args *args, const char *name, const pl_syringe_branch *b)
{
    if (b->count < 2) {
        return;
    }
    cli_say(args, "  %s: %d measurements, %d points, 0 to %.4g kPa, ratio %.4f to %.4f, scatter %.4f\n", name,
            b->measured, b->count, 1e3 * b->pressure[b->count - 1], b->ratio[0], b->ratio[b->count - 1],
            b->error);
}

// A branch as the table of a robot file.
static void syringe_print_table(const cli_args *args, const char *name, const pl_syringe_branch *b)
{
    if (b->count < 2) {
        return;
    }
    cli_say(args, "    # %s\n    table: [", name);
    for (int i = 0; i < b->count; ++i) {
        cli_say(args, "%s[%.6g kPa, %.6g]", i ? ", " : "", 1e3 * b->pressure[i], b->ratio[i]);
    }
    cli_say(args, "]\n");
}

// A branch for programs. The caller owns it.
static json_t *syringe_json_branch(const pl_syringe_branch *b)
{
    json_t *list = json_array();
    for (int i = 0; i < b->count; ++i) {
        json_array_append_new(list, cli_json_numbers((double[]){1e3 * b->pressure[i], b->ratio[i]}, 2));
    }

    json_t *one = json_object();
    json_object_set_new(one, "table_kpa_ratio", list);
    json_object_set_new(one, "measured", json_integer(b->measured));
    json_object_set_new(one, "error", cli_json_number(b->error));

    return one;
}

// Measurements and both branches over gauge pressure.
static int syringe_plot(const cli_args *args, const pl_syringe *test, const pl_syringe_line *line,
                        const pl_syringe_result *r, const char *path)
{
    double *x = malloc((size_t)test->count * sizeof *x), *y = malloc((size_t)test->count * sizeof *y);
    int status = x && y ? CLI_DONE : cli_no_memory(args);

    // MPa to kPa; the library takes absolute pressures
    for (int i = 0; status == CLI_DONE && i < test->count; ++i) {
        const double p = test->pressure[i] + (line->gauge ? line->ambient : 0);
        x[i] = 1e3 * (p - line->ambient);
        y[i] = pl_syringe_ratio(line, p, test->pushed[i]);
    }

    if (status == CLI_DONE) {
        double kpa[2][PL_SYRINGE_POINTS];
        const pl_syringe_branch *branch[2] = {&r->loading, &r->unloading};
        pl_curve curve[3] = {{"measured", x, y, test->count, true}};
        int count = 1;

        for (int b = 0; b < 2; ++b) {
            for (int i = 0; i < branch[b]->count; ++i) {
                kpa[b][i] = 1e3 * branch[b]->pressure[i];
            }
            if (branch[b]->count > 1) {
                curve[count++] = (pl_curve){b ? "unloading" : "loading", kpa[b], branch[b]->ratio,
                                            branch[b]->count, false};
            }
        }

        const pl_plot plot = {.title = "Volume of the chamber over pressure",
                              .x_label = "gauge pressure (kPa)",
                              .y_label = "volume over rest",
                              .curve = curve,
                              .curve_count = count};
        pl_error err = {0};
        status = pl_plot_write(&plot, path, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
    }

    free(x);
    free(y);
    if (status == CLI_DONE) {
        cli_say(args, "  wrote %s\n", path);
    }

    return status;
}

// Fits the test, prints the tables and writes the files.
static int syringe_report(const cli_args *args, const pl_syringe *test, const pl_syringe_line *line)
{
    pl_syringe_result result;
    pl_error err = {0};

    if (pl_syringe_fit(test, line, &result, &err) != PL_OK) {
        return cli_fail_file(args, args->plain[1], &err);
    }

    cli_say(args, "%d measurements of pressure and pushed volume\n", test->count);
    syringe_print_branch(args, "loading", &result.loading);
    syringe_print_branch(args, "unloading", &result.unloading);
    cli_say(args, "\nin a robot file, for an actuator {kind: chamber, drive: pressure, ...}:\n");
    syringe_print_table(args, "inflating", &result.loading);
    syringe_print_table(args, "letting out", &result.unloading);

    int cursor = 0, status = CLI_DONE;
    for (const char *out; status == CLI_DONE && (out = cli_next(args, "out", &cursor));) {
        status = syringe_plot(args, test, line, &result, out);
    }

    if (status == CLI_DONE && cli_value(args, "json")) {
        json_t *root = cli_json_head(0, NULL);
        json_object_set_new(root, "loading", syringe_json_branch(&result.loading));
        json_object_set_new(root, "unloading", syringe_json_branch(&result.unloading));
        status = cli_json_write(args, root);
    }

    return status;
}

// Reads the test and reports it.
int cli_calibrate_syringe(const cli_args *args, const char *path)
{
    pl_syringe_line line;
    int status = syringe_line(args, &line);

    if (status) {
        return status;
    }

    char *text = NULL;
    size_t bytes = 0;
    pl_error err = {0};
    pl_syringe test = {0};
    pl_status read = pl_file_read(path, &text, &bytes, &err);
    if (read == PL_OK) {
        read = pl_syringe_parse(text, bytes, path, &test, &err);
    }
    pl_file_free(text);
    if (read != PL_OK) {
        return cli_fail(args, &err);
    }
    status = syringe_report(args, &test, &line);
    pl_syringe_clear(&test);

    return status;
}
