// `fk --follow-arc FILE`: load against displacement through limit points, as a table (.csv) or a plot (.png,
// .svg).
#include "cli_arc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARC_STEPS 400 // equilibria at most

// The path as text and as points of a plot.
typedef struct arc_table {
    const cli_model *m;
    FILE *csv;
    char *text;
    size_t bytes;
    double *load, *moved; // of the first marker, mm: for the plot
    int count;
    bool no_memory;
} arc_table;

static void arc_head(arc_table *t)
{
    fprintf(t->csv, "load,distance [mm],negative eigenvalues");
    for (int i = 0; i < t->m->info.marker_count; ++i) {
        const char *name = t->m->info.marker_name[i];
        fprintf(t->csv, ",%s.x [mm],%s.y [mm],%s.z [mm]", name, name, name);
    }

    fputs("\n", t->csv);
}

// One equilibrium; called along the path.
static bool arc_row(void *user, const pl_arc_point *point, const double *marker)
{
    arc_table *t = user;
    fprintf(t->csv, "%.9g,%.9g,%d", point->load, point->distance, point->negative_count);
    double moved = point->distance;

    for (int i = 0; i < t->m->info.marker_count; ++i) {
        const double *p = marker + 3 * i, *at = t->m->info.marker_at + 3 * i;
        fprintf(t->csv, ",%.9g,%.9g,%.9g", p[0], p[1], p[2]);
        if (i == 0) {
            moved = sqrt(pow(p[0] - at[0], 2) + pow(p[1] - at[1], 2) + pow(p[2] - at[2], 2));
        }
    }

    fputs("\n", t->csv);
    if (t->count <= ARC_STEPS) {
        t->load[t->count] = 100 * point->load;
        t->moved[t->count++] = moved;
    }

    return true;
}

// By extension: a table or a plot.
static int arc_write(const cli_args *args, const arc_table *t, const char *path)
{
    pl_error err = {0};
    const char *dot = strrchr(path, '.');
    const bool table = dot && strcmp(dot, ".csv") == 0;
    const pl_curve curve = {.name = "path", .x = t->moved, .y = t->load, .count = t->count};
    const pl_plot plot = {.title = "Load path by arc length",
                          .x_label = t->m->info.marker_count > 0 ? "displacement of the first marker, mm"
                                                                 : "distance along the path, mm",
                          .y_label = "load, %",
                          .curve = &curve,
                          .curve_count = 1};
    const pl_status status =
        table ? pl_file_write(path, t->text, t->bytes, &err) : pl_plot_write(&plot, path, &err);

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// From the undeformed configuration to the commands of the model.
static int arc_follow(const cli_args *args, cli_model *m, arc_table *t, const char *path)
{
    pl_error err = {0};
    bool complete = false;

    arc_head(t);
    const pl_status status =
        pl_model_follow_arc(m->model, m->command, ARC_STEPS, arc_row, t, &complete, &err);

    int result = status == PL_OK ? CLI_DONE : cli_fail(args, &err);
    if (!result && fflush(t->csv) != 0) {
        result = cli_no_memory(args);
    }
    result = result ? result : arc_write(args, t, path);
    if (!result) {
        cli_say(args, "%s: %d equilibria by arc length%s\n", path, t->count,
                complete ? "" : "; the path does not lead to these commands");
    }

    return result;
}

int cli_arc(const cli_args *args, cli_model *m)
{
    const char *path = cli_value(args, "follow-arc"), *dot = path ? strrchr(path, '.') : NULL;
    if (!path) {
        return CLI_DONE;
    }
    if (!dot || (strcmp(dot, ".csv") != 0 && strcmp(dot, ".png") != 0 && strcmp(dot, ".svg") != 0)) {
        cli_error(args, "--follow-arc %s: expected a name that ends in .csv, .png or .svg", path);
        return CLI_EXIT_USAGE;
    }

    if (!pl_model_robot(m->model) || strcmp(m->info.method, "exact") != 0) {
        cli_error(args, "--follow-arc: needs a full body with the exact method, this robot is '%s'",
                  m->info.method);
        return CLI_EXIT_USAGE;
    }

    arc_table t = {.m = m};
    t.load = calloc(ARC_STEPS + 1, sizeof *t.load);
    t.moved = calloc(ARC_STEPS + 1, sizeof *t.moved);
    t.csv = open_memstream(&t.text, &t.bytes);
    const int status = t.load && t.moved && t.csv ? arc_follow(args, m, &t, path) : cli_no_memory(args);
    if (t.csv) {
        fclose(t.csv);
    }
    free(t.text);
    free(t.load);
    free(t.moved);

    return status;
}
