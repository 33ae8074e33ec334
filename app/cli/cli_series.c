// Series of shapes and films: every --out that is one by its extension is filled while a verb works.
#include <string.h>
#include <strings.h>
#include "cli.h"

bool cli_series_is(const char *path)
{
    static const char *const extensions[] = {CLI_SERIES_EXTENSIONS};
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; ++i) {
        if (strcasecmp(cli_extension(path), extensions[i]) == 0) {
            return true;
        }
    }

    return strcasecmp(cli_extension(path), ".png") == 0 && strchr(path, '%');
}

// Opened at the first shape, when the model is there.
static int series_begin(const cli_args *args, cli_series *series, cli_model *m)
{
    int cursor = 0;
    pl_picture look = pl_picture_default();

    look.width = look.height = 0; // that of films
    series->begun = true;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        if (!cli_series_is(path)) {
            continue;
        }
        if (series->count == CLI_SERIES) {
            cli_error(args, "--out %s: at most %d series", path, CLI_SERIES);
            return CLI_EXIT_USAGE;
        }

        if (pl_series_create(m->model, path, cli_shape_color(args, m, path), &series->series[series->count],
                             &err) != PL_OK) {
            return cli_fail(args, &err);
        }

        ++series->count;
        if (cli_shape_look(args, m, &look, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        pl_series_set_picture(series->series[series->count - 1], &look);
    }

    return CLI_DONE;
}

int cli_series_frame(const cli_args *args, cli_series *series, cli_model *m)
{
    int status = series->begun ? CLI_DONE : series_begin(args, series, m);
    for (int i = 0; !status && i < series->count; ++i) {
        pl_error err = {0};
        status = pl_series_add(series->series[i], &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
    }

    return status;
}

int cli_series_finish(const cli_args *args, cli_series *series, const double *time)
{
    int status = CLI_DONE;
    for (int i = 0; !status && i < series->count; ++i) {
        pl_error err = {0};
        status = pl_series_finish(series->series[i], time, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
    }

    return status;
}

void cli_series_clear(cli_series *series)
{
    for (int i = 0; i < series->count; ++i) {
        pl_series_destroy(series->series[i]);
    }
    *series = (cli_series){0};
}
