// pliant compare of several robots: side by side at the same commands, whatever stands behind them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cli.h"
#include "cli_compare.h"

// Seconds that only go forward.
static double side_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// marker of that name of the first robot.
static int side_one(const cli_args *args, int i, cli_model *m, cli_model *first, cli_table *table,
                    json_t *all)
{
    int status = cli_model_open(args, args->plain[i], m);
    status = status ? status : cli_commands_read(args, cli_model_commands(m), m->command);
    const double start = side_seconds();
    status = status ? status : cli_model_solve(args, m);
    if (status) {
        return status;
    }

    const double seconds = side_seconds() - start;
    const pl_model_answer a = pl_model_get_answer(m->model);
    json_t *one = json_object(), *markers = json_object();

    for (int k = 0; k < m->info.marker_count; ++k) {
        const double *p = a.marker + 3 * k;
        const double off = pl_compare_marker(m->model, k, first->model);
        char apart[32] = "-";
        if (isfinite(off) && i > 0) {
            snprintf(apart, sizeof apart, "%.3f", off);
        }
        // of a surrogate, as measured before: what `apart` is compared with
        const double error = a.error.marker ? a.error.marker[k] : NAN;
        char bound[48] = "-";
        if (isfinite(error)) {
            snprintf(bound, sizeof bound, "%.2g (%.0f %%)", error, 100 * a.error.confidence);
        } else if (a.error.source != PL_ERROR_NONE) {
            snprintf(bound, sizeof bound, "not known");
        }

        cli_row(table, "%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%s\t%s\t%.2g", k ? "" : args->plain[i],
                m->info.kind, pl_outcome_name(m->report.outcome), m->info.marker_name[k], cli_tidy(p[0], 3),
                cli_tidy(p[1], 3), cli_tidy(p[2], 3), apart, bound, seconds);

        json_t *marker = json_object();
        json_object_set_new(marker, "position", cli_json_numbers(p, 3));
        json_object_set_new(marker, "apart", cli_json_number(off));
        if (a.error.source != PL_ERROR_NONE) {
            json_object_set_new(marker, "model_error", cli_json_number(error));
        }
        json_object_set_new(markers, m->info.marker_name[k], marker);
    }

    json_object_set_new(one, "file", json_string(args->plain[i]));
    json_object_set_new(one, "model", json_string(m->info.kind));
    json_object_set_new(one, "converged", json_boolean(m->report.outcome == PL_SOLVED));
    json_object_set_new(one, "outcome", json_string(pl_outcome_name(m->report.outcome)));
    json_object_set_new(one, "seconds", cli_json_number(seconds));
    if (a.error.source != PL_ERROR_NONE) {
        json_object_set_new(one, "model_confidence", cli_json_number(a.error.confidence));
    }
    json_object_set_new(one, "markers", markers);
    json_array_append_new(all, one);

    return CLI_DONE;
}

// Compares robots; options that are for methods are refused, not ignored.
int cli_compare_robots(cli_args *args)
{
    static const char *const only_methods[] = {"methods", "out", "histogram", "limit-each"};
    int status = cli_setup(args), bad = 0;
    pl_outcome first_bad = PL_SOLVED;

    for (int i = 0; i < 4 && !status; ++i) {
        if (cli_value(args, only_methods[i])) {
            cli_error(args, "--%s is for comparing methods on one robot with a mesh, not robots",
                      only_methods[i]);
            status = CLI_EXIT_USAGE;
        }
    }

    status = status ? status : cli_check_outputs(args, NULL, NULL, NULL);
    cli_table table = {0};
    cli_model *m = calloc((size_t)args->plain_count, sizeof *m);
    json_t *all = json_array();
    cli_row(&table, "robot\tmodel\toutcome\tmarker\tx\ty\tz mm\tapart mm\tmodel error mm\tseconds");
    for (int i = 0; m && i < args->plain_count && !status; ++i) {
        status = side_one(args, i, &m[i], &m[0], &table, all);
        if (m[i].report.outcome != PL_SOLVED && bad++ == 0) {
            first_bad = m[i].report.outcome;
        }
    }

    // a table that is not complete would be taken for the result: released without printing
    status = m ? status : cli_no_memory(args);
    cli_table_print(status ? &(cli_args){.silent = true} : args, &table);
    if (status == CLI_DONE) {
        json_t *root = cli_json_head(0, NULL);
        json_object_set(root, "robots", all);
        status = cli_json_write(args, root);
    }

    for (int i = 0; m && i < args->plain_count; ++i) {
        cli_model_close(&m[i]);
    }
    free(m);
    json_decref(all);

    if (!status && bad > 0) {
        cli_error(args, "%d of %d robots did not converge", bad, args->plain_count);
        cli_outcome_advice(pl_outcome_name(first_bad));
    }

    return status ? status : bad ? CLI_EXIT_UNSOLVED : CLI_DONE;
}
