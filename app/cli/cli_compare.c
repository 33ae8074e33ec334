// pliant compare: one pose by several methods, side by side.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli_compare.h"

static const cli_option options[] = {
    {"set", 0, "NAME=VALUE", "a command and its value, with a unit (air=20kPa); may be repeated", NULL},
    {"methods", 0, "LIST", "of exact, local_global, fang2020, comma-separated (default: all three)", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    {"out", 0, "FILE", "write the differences on the exact shape: .vtu; may be repeated", NULL},
    {"histogram", 0, "FILE",
     "write a histogram of the element strains for each method, weighted by volume: .png .svg .csv", NULL},
    CLI_JSON,
    {"limit-each", 0, "TIME", "time limit of each method", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

static const char *const extensions[] = {".vtu", NULL};

// Bars of the histogram.
#define COMPARE_BINS 40
#define COMPARE_METHODS 4 // exact has two rows

// What the verb holds; compare_close releases all of it.
typedef struct compare {
    cli_robot r;           // as the file says
    pl_robot *linear;      // the same with order 1
    pl_command_info *info; // of the commands
    double *command;
    char list[200]; // of --methods, split
    const char *method[COMPARE_METHODS];
    pl_compare_def def;
    pl_comparison result;
    int begun; // methods so far
} compare;

static void compare_close(compare *c)
{
    pl_comparison_clear(&c->result);
    pl_robot_destroy(c->linear);
    free(c->command);
    free(c->info);
    cli_robot_close(&c->r);
}

// The commands of the robot, for reading --set.
static cli_commands compare_commands(const compare *c)
{
    return (cli_commands){c->info, pl_robot_command_count(c->r.robot)};
}

// ---- loading
// Whether the mesh has elements of second order.
static bool compare_is_quadratic(const pl_robot *robot)
{
    const pl_mesh_view view = pl_mesh_get(pl_robot_mesh(robot));
    for (int32_t e = 0; e < view.element_count; ++e) {
        if (view.kind[e] == PL_TET10 || view.kind[e] == PL_PRISM15) {
            return true;
        }
    }

    return false;
}

// Loads the robot once more with linear elements; cavities are filled, as the geometric methods need it.
static int compare_linear(const cli_args *args, compare *c)
{
    pl_load_options load = {
        .mesher = pl_meshing_mesher(), .progress = &cli_progress, .order = 1, .fill = true};
    load.no_cache = cli_flag(args, "no-cache");
    pl_error err = {0};
    if (!cli_number(args, "size", &load.size)) {
        return CLI_EXIT_USAGE;
    }

    return pl_robot_from_document(c->r.document, &load, &c->linear, NULL, &err) == PL_OK
               ? CLI_DONE
               : cli_fail(args, &err);
}

// Opens the robot; the second mesh is made only where the first is not linear.
static int compare_open(const cli_args *args, compare *c)
{
    const int status = cli_robot_open(args, args->plain[0], true, &c->r);
    if (status) {
        return status;
    }

    const int commands = pl_robot_command_count(c->r.robot);
    c->command = calloc((size_t)commands + 1, sizeof *c->command);
    c->info = calloc((size_t)commands + 1, sizeof *c->info);
    if (!c->command || !c->info) {
        return cli_no_memory(args);
    }
    for (int i = 0; i < commands; ++i) {
        c->info[i] = pl_robot_command(c->r.robot, i);
    }

    return compare_is_quadratic(c->r.robot) ? compare_linear(args, c) : CLI_DONE;
}

// ---- the methods
// --methods, cut at its commas.
static int compare_list(const cli_args *args, compare *c)
{
    static const char *const known[] = {"exact", "local_global", "fang2020"};
    const char *list = cli_value(args, "methods");

    snprintf(c->list, sizeof c->list, "%s", list ? list : "exact,local_global,fang2020");

    char *rest = c->list;
    for (char *word; (word = strtok_r(rest, ",", &rest));) {
        bool good = false;
        for (int k = 0; k < 3; ++k) {
            good = good || strcmp(word, known[k]) == 0;
        }
        if (!good) {
            cli_error(args, "--methods: there is no method '%s'; expected exact, local_global or fang2020",
                      word);
            return CLI_EXIT_USAGE;
        }

        if (c->def.method_count == COMPARE_METHODS) {
            cli_error(args, "--methods %s: at most %d methods", list, COMPARE_METHODS);
            return CLI_EXIT_USAGE;
        }

        c->method[c->def.method_count++] = word;
    }

    if (c->def.method_count == 0) {
        cli_error(args, "--methods %s: expected exact, local_global or fang2020", list);
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Called by the library before each method.
static void compare_begin(void *user, const char *method)
{
    compare *c = user;
    const int n = c->def.method_count;
    cli_progress_part(c->begun < n ? c->begun : n - 1, n, "method %s", method);
    ++c->begun;
}

// Solves with all methods; the options of the robot file hold for each.
static int compare_solve(const cli_args *args, compare *c)
{
    pl_error err = {0};

    c->def.progress = cli_progress;
    c->def.linear = c->linear;
    c->def.method = c->method;
    c->def.command = c->command;
    c->def.begin = compare_begin;
    c->def.user = c;

    cli_stage("solving", false);
    const pl_status status = pl_compare_methods(c->r.document, c->r.robot, &c->def, &c->result, &err);
    cli_stage(NULL, false);
    if (status == PL_OK && c->linear && !c->result.alike) {
        fprintf(
            stderr,
            "%s: note: the mesh of order 1 has different vertices, so shapes are compared by markers only\n",
            c->r.path);
    }

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// ---- for people
// A number, or a dash for one that is not known.
static void compare_number(char *text, size_t size, const char *format, double value)
{
    if (isnan(value)) {
        snprintf(text, size, "-");
    } else {
        snprintf(text, size, format, value);
    }
}

// One row per method, then for every actuator what was asked of it and what each method reached.
static void compare_print(const cli_args *args, const compare *c)
{
    char set[300];
    cli_commands_text(compare_commands(c), c->command, set, sizeof set);
    cli_say(args, "%s at %s: %d elements, %d corner vertices\n\n", pl_robot_name(c->r.robot), set,
            (int)pl_mesh_get(c->result.corner).element_count,
            (int)pl_mesh_get(c->result.corner).vertex_count);

    cli_table table = {0};
    cli_row(&table,
            "method\t%s x\ty\tz mm\tenergy mJ\titerations\tsolves\tfactors\ts\tfrom corners mm\tmean "
            "mm\tfrom quadratic mm\toutcome",
            pl_robot_marker_count(c->r.robot) > 0 ? pl_robot_marker_name(c->r.robot, 0) : "tip");

    for (int i = 0; i < c->result.row_count; ++i) {
        const pl_compare_row *row = &c->result.row[i];
        char text[3][32];
        compare_number(text[0], sizeof text[0], "%.4g", row->from_corners);
        compare_number(text[1], sizeof text[1], "%.4g", row->mean_corners);
        compare_number(text[2], sizeof text[2], "%.4g", row->from_quadratic);
        const double *p = row->tip;
        cli_row(&table, "%s\t%.3f\t%.3f\t%.3f\t%.4g\t%d\t%d\t%d\t%.2f\t%s\t%s\t%s\t%s", row->name, p[0], p[1],
                p[2], row->report.energy, row->report.iterations, row->report.solves,
                row->report.factorizations, row->report.seconds, text[0], text[1], text[2],
                pl_outcome_name(row->report.outcome));
    }

    cli_table_print(args, &table);
    const int actuators = pl_robot_actuator_count(c->r.robot);
    cli_table ratios = {0};
    cli_row(&ratios, "actuator\tmethod\tasked\treached");

    for (int a = 0; a < actuators; ++a) {
        for (int i = 0; i < c->result.row_count; ++i) {
            char text[2][32];
            compare_number(text[0], sizeof text[0], "%.4f", c->result.row[i].asked[a]);
            compare_number(text[1], sizeof text[1], "%.4f", c->result.row[i].ratio[a]);
            cli_row(&ratios, "%s\t%s\t%s\t%s", pl_robot_actuator(c->r.robot, a).name, c->result.row[i].name,
                    text[0], text[1]);
        }
    }

    cli_say(args, "\n");
    cli_table_print(actuators > 0 ? args : &(cli_args){.silent = true}, &ratios);
}

// ---- for machines
// The result for programs. The caller owns it.
static json_t *compare_json(const compare *c)
{
    json_t *root = cli_json_head(pl_robot_hash(c->r.robot), c->r.findings), *all = json_array();
    for (int i = 0; i < c->result.row_count; ++i) {
        const pl_compare_row *row = &c->result.row[i];

        json_t *one = json_object(), *actuators = json_object();
        json_object_set_new(one, "name", json_string(row->name));
        json_object_set_new(one, "method", json_string(row->method));
        json_object_set_new(one, "outcome", json_string(pl_outcome_name(row->report.outcome)));
        json_object_set_new(one, "message", json_string(row->report.message));
        json_object_set_new(one, "iterations", json_integer(row->report.iterations));
        json_object_set_new(one, "solves", json_integer(row->report.solves));
        json_object_set_new(one, "factorizations", json_integer(row->report.factorizations));
        json_object_set_new(one, "seconds", cli_json_number(row->report.seconds));
        json_object_set_new(one, "energy", cli_json_number(row->report.energy));
        json_object_set_new(one, "step", cli_json_number(row->report.step));
        json_object_set_new(one, "min_J", cli_json_number(row->report.min_J));
        json_object_set_new(one, "tip", isnan(row->tip[0]) ? json_null() : cli_json_numbers(row->tip, 3));
        json_object_set_new(one, "from_corners", cli_json_number(row->from_corners));
        json_object_set_new(one, "mean_from_corners", cli_json_number(row->mean_corners));
        json_object_set_new(one, "from_quadratic", cli_json_number(row->from_quadratic));

        for (int a = 0; a < pl_robot_actuator_count(c->r.robot); ++a) {
            json_t *ratio = json_object();
            json_object_set_new(ratio, "asked", cli_json_number(row->asked[a]));
            json_object_set_new(ratio, "reached", cli_json_number(row->ratio[a]));
            json_object_set_new(actuators, pl_robot_actuator(c->r.robot, a).name, ratio);
        }

        json_object_set_new(one, "actuators", actuators);
        json_array_append_new(all, one);
    }

    json_object_set_new(root, "methods", all);
    return root;
}

// ---- files
// The exact shape on the corner mesh (or the first one there is), with the displacement from it to every
// other method's.
static pl_status compare_vtu(const compare *c, const char *path, pl_error *err)
{
    const pl_comparison *r = &c->result;

    const size_t n = 3 * (size_t)pl_mesh_get(r->corner).vertex_count;
    const pl_compare_row *from = &r->row[0];

    for (int i = r->row_count - 1; i >= 0; --i) {
        from = strcmp(r->row[i].method, "exact") == 0 && r->row[i].corners ? &r->row[i] : from;
    }

    pl_data_array array[PL_COMPARE_ROWS];
    char name[PL_COMPARE_ROWS][80];
    double *value = malloc(n * (size_t)r->row_count * sizeof *value + 1);
    int count = 0;

    for (int i = 0; value && i < r->row_count; ++i) {
        double *d = value + n * (size_t)i;
        for (size_t k = 0; k < n; ++k) {
            d[k] = r->row[i].x[k] - from->x[k];
        }
        snprintf(name[i], sizeof name[i], "to_%s_mm", r->row[i].name);
        if (&r->row[i] != from) {
            array[count++] = (pl_data_array){.name = name[i], .value = d, .components = 3};
        }
    }

    const pl_status status =
        value ? pl_shape_write_vtu(r->corner, from->x, array, count, path, err) : PL_NO_MEMORY;
    free(value);

    return status;
}

// The histogram as .csv; one column per method.
static pl_status compare_histogram_csv(const compare *c, const char *path, const double *middle,
                                       const double *share, pl_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *t = open_memstream(&text, &size);

    if (!t) {
        return PL_NO_MEMORY;
    }

    fprintf(t, "strain");
    for (int i = 0; i < c->result.row_count; ++i) {
        fprintf(t, ",\"%s %%\"", c->result.row[i].name);
    }

    for (int b = 0; b < COMPARE_BINS; ++b) {
        fprintf(t, "\n%.6g", middle[b]);
        for (int i = 0; i < c->result.row_count; ++i) {
            fprintf(t, ",%.6g", share[i * COMPARE_BINS + b]);
        }
    }

    fprintf(t, "\n");
    const bool failed = ferror(t);
    const pl_status status = fclose(t) == 0 && !failed ? pl_file_write(path, text, size, err) : PL_NO_MEMORY;
    free(text);

    return status;
}

// Volume over strain, as a picture or a table.
static pl_status compare_histogram(const compare *c, const char *path, pl_error *err)
{
    double share[PL_COMPARE_ROWS * COMPARE_BINS], middle[COMPARE_BINS];
    const pl_status status = pl_comparison_strains(&c->result, COMPARE_BINS, middle, share, err);

    if (status != PL_OK) {
        return status;
    }
    if (strcasecmp(cli_extension(path), ".csv") == 0) {
        return compare_histogram_csv(c, path, middle, share, err);
    }

    pl_curve curve[PL_COMPARE_ROWS];
    for (int i = 0; i < c->result.row_count; ++i) {
        curve[i] = (pl_curve){
            .name = c->result.row[i].name, .x = middle, .y = share + i * COMPARE_BINS, .count = COMPARE_BINS};
    }

    const pl_plot plot = {.title = "Strain of the elements",
                          .x_label = "largest principal strain",
                          .y_label = "fraction of the volume, %",
                          .curve = curve,
                          .curve_count = c->result.row_count};

    return pl_plot_write(&plot, path, err);
}

// The files of --out and --histogram, and the record.
static int compare_write(const cli_args *args, const compare *c)
{
    pl_error err = {0};
    int cursor = 0;

    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        if (compare_vtu(c, path, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }

    const char *path = cli_value(args, "histogram");
    if (path && compare_histogram(c, path, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    if (path) {
        cli_say(args, "  wrote %s\n", path);
    }

    return cli_json_write(args, cli_value(args, "json") ? compare_json(c) : NULL);
}

// Refuses a wrong extension of --histogram before the work, not after it.
static int compare_check_histogram(const cli_args *args)
{
    const char *path = cli_value(args, "histogram"), *end = path ? cli_extension(path) : NULL;
    if (!path || strcasecmp(end, ".png") == 0 || strcasecmp(end, ".svg") == 0 ||
        strcasecmp(end, ".csv") == 0) {
        return CLI_DONE;
    }

    cli_error(args, "--histogram %s: unknown extension, expected one of .png .svg .csv", path);
    return CLI_EXIT_USAGE;
}

// Compares methods on one robot; from the options to the exit status.
static int compare_work(const cli_args *args, compare *c)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    status = status ? status : compare_check_histogram(args);
    if (!status && !cli_limit(args, "limit-each", &c->def.time_limit)) {
        status = CLI_EXIT_USAGE;
    }
    status = status ? status : compare_list(args, c);
    status = status ? status : compare_open(args, c);
    status = status ? status : cli_check_outputs(args, NULL, c->r.path, NULL);
    status = status ? status : cli_commands_read(args, compare_commands(c), c->command);
    status = status ? status : compare_solve(args, c);
    if (status) {
        return status;
    }

    compare_print(args, c);
    status = compare_write(args, c);
    for (int i = 0; status == CLI_DONE && i < c->result.row_count; ++i) {
        const pl_compare_row *row = &c->result.row[i];
        // as published it stops before it has converged: that is part of the comparison
        if (row->report.outcome != PL_SOLVED && strcmp(row->method, "fang2020") != 0) {
            cli_error(args, "%s did not converge: %s", row->name, row->report.message);
            cli_outcome_advice(pl_outcome_name(row->report.outcome));
            status = CLI_EXIT_UNSOLVED;
        }
    }

    return status;
}

// One robot with a mesh: its methods are compared. Several robots, or one without a mesh: the robots.
static int compare_run(cli_args *args)
{
    compare c = {0};
    int status = CLI_DONE;

    if (args->plain_count == 1) {
        status = cli_document_open(args, args->plain[0], &c.r.path, &c.r.document, &c.r.findings);
    }

    if (!status && (!c.r.document || pl_robot_document_kind(c.r.document) != PL_ROBOT_FULL)) {
        status = cli_compare_robots(args);
    } else if (!status) {
        status = compare_work(args, &c);
    }

    compare_close(&c);

    return status;
}

const cli_verb cli_verb_compare = {
    .name = "compare",
    .summary = "compare several methods at the same commands",
    .usage = "ROBOT --set NAME=VALUE ... [--methods exact,local_global,fang2020] [options]",
    .about = "Solves the robot at the given commands with each method: exact on its own (quadratic) mesh\n"
             "and on its corner mesh with linear elements, local_global with the options of the robot\n"
             "file, and fang2020 as published. The distance from the exact shape on the corner mesh is the\n"
             "error of the method; the distance between the two exact shapes is that of the mesh. Methods\n"
             "that accept volumes but no pressures are given the volume that the exact method reached.\n"
             "Cavities of designs are meshed for growth. Several robots (the full one and reduced ones)\n"
             "are compared marker by marker instead.",
    .examples =
        "  pliant compare finger --set air=30kPa\n"
        "  pliant compare segment segment/robot-rod.yaml --set chamber1=20kPa\n"
        "  pliant compare finger --set air=30kPa --out difference.vtu --histogram strain.png --json -\n",
    .option = options,
    .least = 1,
    .most = 16,
    .run = compare_run,
};
