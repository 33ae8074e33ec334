// pliant compare: one pose by several methods, side by side.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"
#include "cli_reduced.h"

static const cli_option options[] = {
    {"set", 0, "NAME=VALUE", "a command and its value, with a unit (air=20kPa); may be repeated", NULL},
    {"methods", 0, "LIST", "of exact, local_global, fang2020, comma-separated (default: all three)", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range the robot file gives", NULL},
    {"out", 0, "FILE", "write the differences on the exact shape: .vtu; may be repeated", NULL},
    {"histogram", 0, "FILE",
     "write the strains of the elements by method, weighted by volume: .png .svg .csv", NULL},
    CLI_JSON,
    {"time-limit", 0, "TIME", "at most so many seconds per method", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".vtu", NULL};

#define COMPARE_ROWS 8
#define COMPARE_BINS 40

// One method at the pose.
typedef struct compare_row {
    const char *name;   // as printed
    const char *method; // as asked for
    bool corners;       // of the corner mesh: `x` fits `corner`
    pl_statics_report report;
    pl_marker_result tip;
    bool has_tip;
    double *ratio, *asked;                // per actuator
    double *x;                            // 3 per corner vertex
    double apart_corner, apart_quadratic; // mm, farthest vertex from the exact shapes; NAN: none
    double mean_corner;
} compare_row;

typedef struct compare {
    cli_robot r;      // as the file says
    pl_robot *linear; // the same with order 1
    pl_mesh *corner;  // corner mesh of r
    int32_t *vertex_of;
    int32_t corner_count;
    bool quadratic, same; // r has mid nodes; `linear` has the vertices of `corner`
    double *command;
    compare_row row[COMPARE_ROWS];
    int row_count;
    double time_limit;
} compare;

static void compare_close(compare *c)
{
    for (int i = 0; i < c->row_count; ++i) {
        free(c->row[i].ratio);
        free(c->row[i].asked);
        free(c->row[i].x);
    }
    pl_robot_destroy(c->linear);
    pl_mesh_destroy(c->corner);
    pl_mesh_free_indices(c->vertex_of);
    free(c->command);
    cli_robot_close(&c->r);
}

// ---- loading
static int compare_linear(const cli_args *args, compare *c)
{
    pl_load_options load = {
        .mesher = pl_meshing_mesher(), .progress = &cli_progress, .order = 1, .fill = true};
    load.no_cache = cli_flag(args, "no-cache");
    pl_error err = {0};
    if (!cli_number(args, "size", PL_DIM_LENGTH, 1e-4, 1e6, &load.size)) {
        return CLI_WRONG;
    }
    if (pl_robot_load(c->r.path, &load, &c->linear, NULL, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    const pl_mesh_view a = pl_mesh_get(pl_robot_mesh(c->linear)), b = pl_mesh_get(c->corner);
    double apart = a.vertex_count == b.vertex_count ? 0 : INFINITY;
    for (int32_t i = 0; apart < 1e-9 && i < 3 * a.vertex_count; ++i) {
        apart = fmax(apart, fabs(a.position[i] - b.position[i]));
    }
    c->same = apart < 1e-6;
    if (!c->same) {
        fprintf(stderr,
                "%s: note: the mesh of order 1 has other vertices, so shapes on it are compared by markers "
                "only\n",
                c->r.path);
    }
    return CLI_DONE;
}

static int compare_open(const cli_args *args, compare *c)
{
    pl_error err = {0};
    int status = cli_robot_open(args, args->plain[0], &c->r);
    if (status) {
        return status;
    }
    const pl_mesh *mesh = pl_robot_mesh(c->r.robot);
    if (pl_mesh_corners(mesh, &c->corner, &c->vertex_of, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    c->corner_count = pl_mesh_get(c->corner).vertex_count;
    c->quadratic = c->corner_count < pl_mesh_get(mesh).vertex_count;
    c->command = calloc((size_t)pl_robot_command_count(c->r.robot) + 1, sizeof *c->command);
    if (!c->command) {
        return cli_no_memory(args);
    }
    return c->quadratic ? compare_linear(args, c) : CLI_DONE;
}

// ---- one method
static compare_row *compare_add(compare *c, const char *name, const char *method, bool corners)
{
    const size_t n = (size_t)pl_robot_actuator_count(c->r.robot) + 1;
    compare_row *row = &c->row[c->row_count++];
    *row = (compare_row){.name = name, .method = method, .corners = corners};
    row->ratio = calloc(n, sizeof *row->ratio);
    row->asked = calloc(n, sizeof *row->asked);
    row->x = malloc(3 * (size_t)c->corner_count * sizeof *row->x + 1);
    row->apart_corner = row->apart_quadratic = row->mean_corner = NAN;
    return row->ratio && row->asked && row->x ? row : NULL;
}

// Takes the shape and what the solver tells of it; `of` gives the robot vertex of a corner, NULL: the same.
static void compare_take(const compare *c, compare_row *row, pl_statics *statics, const pl_state *state,
                         const pl_robot *robot, const int32_t *of)
{
    for (int32_t v = 0; v < c->corner_count; ++v) {
        memcpy(row->x + 3 * v, pl_state_positions(state) + 3 * (size_t)(of ? of[v] : v), 3 * sizeof *row->x);
    }
    row->has_tip = pl_robot_marker_count(robot) > 0;
    if (row->has_tip) {
        row->tip = pl_statics_marker(statics, state, 0);
    }
    for (int i = 0; i < pl_robot_actuator_count(robot); ++i) {
        row->ratio[i] = pl_statics_actuator(statics, state, i).ratio;
        row->asked[i] = NAN;
    }
}

static int compare_exact_on(const cli_args *args, compare *c, const pl_robot *robot, compare_row *row,
                            bool displacement, const int32_t *of)
{
    pl_error err = {0};
    pl_statics_options o = pl_robot_file_options(c->r.path, &err);
    o.progress = cli_progress;
    o.displacement = o.displacement || displacement;
    o.time_limit = c->time_limit > 0 ? c->time_limit : o.time_limit;
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    pl_status status = err.status;
    if (status == PL_OK) {
        status = pl_statics_create(robot, &o, &statics, &err);
    }
    if (status == PL_OK) {
        status = pl_state_create(robot, &state, &err);
    }
    if (status == PL_OK) {
        status = pl_statics_solve(statics, state, c->command, &row->report, &err);
    }
    if (status == PL_OK) {
        compare_take(c, row, statics, state, robot, of);
        for (int i = 0; i < pl_robot_actuator_count(robot); ++i) {
            row->asked[i] = pl_robot_actuator_asked(c->r.robot, i, c->command);
        }
    }
    pl_statics_destroy(statics);
    pl_state_destroy(state);
    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

static int compare_exact(const cli_args *args, compare *c)
{
    int status = CLI_DONE;
    if (c->quadratic) {
        compare_row *row = compare_add(c, "exact, quadratic", "exact", false);
        status = row ? compare_exact_on(args, c, c->r.robot, row, false, c->vertex_of) : cli_no_memory(args);
    }
    if (status == CLI_DONE && (!c->quadratic || c->same)) {
        compare_row *row = compare_add(c, "exact, corners", "exact", true);
        const pl_robot *robot = c->quadratic ? c->linear : c->r.robot;
        status = row ? compare_exact_on(args, c, robot, row, true, NULL) : cli_no_memory(args);
    }
    return status;
}

// The row of the exact method on the corner mesh, or on the quadratic one; NULL when there is none.
static const compare_row *compare_reference(const compare *c, bool corners)
{
    for (int i = 0; i < c->row_count; ++i) {
        if (strcmp(c->row[i].method, "exact") == 0 && c->row[i].corners == corners) {
            return &c->row[i];
        }
    }
    return NULL;
}

// The papers' growth knows volumes, not pressures: an actuator driven by effort is asked for the ratio that
// the exact method reached.
static void compare_ask(const compare *c, pl_geometric *g)
{
    const compare_row *exact = compare_reference(c, true);
    exact = exact ? exact : compare_reference(c, false);
    for (int i = 0; exact && i < pl_robot_actuator_count(c->r.robot); ++i) {
        const pl_actuator_info a = pl_robot_actuator(c->r.robot, i);
        const bool commanded = a.command >= 0 && !isnan(c->command[a.command]);
        if (commanded && isnan(pl_robot_actuator_asked(c->r.robot, i, c->command))) {
            pl_geometric_ask(g, i, exact->ratio[i]);
        }
    }
}

static int compare_geometric(const cli_args *args, compare *c, const char *method)
{
    const bool published = strcmp(method, "fang2020") == 0;
    compare_row *row = compare_add(c, method, method, true);
    if (!row) {
        return cli_no_memory(args);
    }
    pl_error err = {0};
    pl_geometric_options o;
    pl_robot_file_method(c->r.path, &o, &err);
    if (published) {
        pl_geometric_preset(method, &o, &err);
    }
    o.progress = cli_progress;
    o.time_limit = c->time_limit > 0 ? c->time_limit : o.time_limit;
    const pl_statics_options so = pl_statics_options_default();
    pl_geometric *g = NULL;
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    pl_status status = pl_geometric_create(c->r.robot, &o, &g, &err);
    if (status == PL_OK) {
        status = pl_statics_create(c->r.robot, &so, &statics, &err);
    }
    if (status == PL_OK) {
        status = pl_state_create(c->r.robot, &state, &err);
    }
    if (status == PL_OK) {
        if (published || o.actuation == PL_ACTUATE_GROWTH || o.metric == PL_METRIC_VERTEX) {
            compare_ask(c, g);
        }
        status = pl_geometric_solve(g, state, c->command, &row->report, &err);
        row->report.factorizations = pl_geometric_get_info(g).factors;
    }
    if (status == PL_OK) {
        compare_take(c, row, statics, state, c->r.robot, c->vertex_of);
        for (int i = 0; i < pl_robot_actuator_count(c->r.robot); ++i) {
            const pl_geometric_actuator_result a = pl_geometric_actuator(g, i);
            row->ratio[i] = a.ratio;
            row->asked[i] = a.asked;
        }
    }
    pl_geometric_destroy(g);
    pl_statics_destroy(statics);
    pl_state_destroy(state);
    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

static int compare_methods(const cli_args *args, compare *c)
{
    const char *list = cli_value(args, "methods");
    char text[200];
    snprintf(text, sizeof text, "%s", list ? list : "exact,local_global,fang2020");
    char *rest = text;
    for (char *word; (word = strtok_r(rest, ",", &rest));) {
        int status = CLI_WRONG;
        cli_progress_prefix(word);
        if (c->row_count + 2 > COMPARE_ROWS) {
            cli_error(args, "--methods %s: at most %d methods", list, COMPARE_ROWS / 2);
        } else if (strcmp(word, "exact") == 0) {
            status = compare_exact(args, c);
        } else if (strcmp(word, "local_global") == 0) {
            status = compare_geometric(args, c, "local_global");
        } else if (strcmp(word, "fang2020") == 0) {
            status = compare_geometric(args, c, "fang2020");
        } else {
            cli_error(args, "--methods: there is no method '%s'; expected exact, local_global or fang2020",
                      word);
        }
        cli_progress_prefix(NULL);
        if (status) {
            return status;
        }
    }
    if (c->row_count == 0) {
        cli_error(args, "--methods %s: expected exact, local_global or fang2020", list);
        return CLI_WRONG;
    }
    return CLI_DONE;
}

// ---- distances
static double compare_apart(const compare *c, const double *a, const double *b, double *mean)
{
    double largest = 0, sum = 0;
    for (int32_t v = 0; v < c->corner_count; ++v) {
        double square = 0;
        for (int i = 0; i < 3; ++i) {
            const double d = a[3 * v + i] - b[3 * v + i];
            square += d * d;
        }
        largest = fmax(largest, sqrt(square));
        sum += sqrt(square) / c->corner_count;
    }
    *mean = sum;
    return largest;
}

static void compare_distances(compare *c)
{
    const compare_row *corner = compare_reference(c, true), *quadratic = compare_reference(c, false);
    for (int i = 0; i < c->row_count; ++i) {
        compare_row *row = &c->row[i];
        double ignored;
        if (corner) {
            row->apart_corner = compare_apart(c, row->x, corner->x, &row->mean_corner);
        }
        if (quadratic) {
            row->apart_quadratic = compare_apart(c, row->x, quadratic->x, &ignored);
        }
    }
}

// ---- for people
static void compare_number(char *text, size_t size, const char *format, double value)
{
    if (isnan(value)) {
        snprintf(text, size, "-");
    } else {
        snprintf(text, size, format, value);
    }
}

static void compare_print(const cli_args *args, const compare *c)
{
    char set[300];
    cli_commands_text(c->r.robot, c->command, set, sizeof set);
    cli_say(args, "%s at %s: %d elements, %d corner vertices\n\n", pl_robot_name(c->r.robot), set,
            (int)pl_mesh_get(c->corner).element_count, (int)c->corner_count);
    cli_table table = {0};
    cli_row(&table,
            "method\t%s x\ty\tz mm\tenergy mJ\titerations\tsolves\tfactors\ts\tfrom corners mm\tmean "
            "mm\tfrom quadratic mm\toutcome",
            pl_robot_marker_count(c->r.robot) > 0 ? pl_robot_marker_name(c->r.robot, 0) : "tip");
    for (int i = 0; i < c->row_count; ++i) {
        const compare_row *row = &c->row[i];
        char text[3][32];
        compare_number(text[0], sizeof text[0], "%.4g", row->apart_corner);
        compare_number(text[1], sizeof text[1], "%.4g", row->mean_corner);
        compare_number(text[2], sizeof text[2], "%.4g", row->apart_quadratic);
        const double *p = row->tip.position;
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
        for (int i = 0; i < c->row_count; ++i) {
            char text[2][32];
            compare_number(text[0], sizeof text[0], "%.4f", c->row[i].asked[a]);
            compare_number(text[1], sizeof text[1], "%.4f", c->row[i].ratio[a]);
            cli_row(&ratios, "%s\t%s\t%s\t%s", pl_robot_actuator(c->r.robot, a).name, c->row[i].name, text[0],
                    text[1]);
        }
    }
    cli_say(args, "\n");
    cli_table_print(actuators > 0 ? args : &(cli_args){.silent = true}, &ratios);
}

// ---- for machines
static json_t *compare_json(const compare *c)
{
    json_t *root = cli_json_head(c->r.robot, c->r.findings), *all = json_array();
    for (int i = 0; i < c->row_count; ++i) {
        const compare_row *row = &c->row[i];
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
        json_object_set_new(one, "tip", row->has_tip ? cli_json_numbers(row->tip.position, 3) : json_null());
        json_object_set_new(one, "from_corners", cli_json_number(row->apart_corner));
        json_object_set_new(one, "mean_from_corners", cli_json_number(row->mean_corner));
        json_object_set_new(one, "from_quadratic", cli_json_number(row->apart_quadratic));
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
// The exact shape on the corner mesh (or the first one there is), with the way from it to every other
// method's.
static pl_status compare_vtu(const compare *c, const char *path, pl_error *err)
{
    const compare_row *from = compare_reference(c, true);
    from = from ? from : &c->row[0];
    pl_data_array array[COMPARE_ROWS];
    char name[COMPARE_ROWS][80];
    double *value = malloc(3 * (size_t)c->corner_count * (size_t)c->row_count * sizeof *value + 1);
    int count = 0;
    for (int i = 0; value && i < c->row_count; ++i) {
        double *d = value + 3 * (size_t)c->corner_count * (size_t)i;
        for (int32_t k = 0; k < 3 * c->corner_count; ++k) {
            d[k] = c->row[i].x[k] - from->x[k];
        }
        snprintf(name[i], sizeof name[i], "to %s", c->row[i].name);
        if (&c->row[i] != from) {
            array[count++] = (pl_data_array){.name = name[i], .value = d, .components = 3};
        }
    }
    const pl_status status =
        value ? pl_shape_write_vtu(c->corner, from->x, array, count, NULL, 0, path, err) : PL_NO_MEMORY;
    free(value);
    return status;
}

// Share of the body's volume by the largest principal strain of its elements; the last bin has the rest.
static void compare_bins(const compare *c, const compare_row *row, double width, double *strain,
                         double *volume, double *share)
{
    const int32_t n = pl_mesh_get(c->corner).element_count;
    double whole = 0;
    memset(share, 0, COMPARE_BINS * sizeof *share);
    pl_mesh_strain(c->corner, row->x, strain, volume);
    for (int32_t e = 0; e < n; ++e) {
        whole += volume[e];
    }
    for (int32_t e = 0; e < n; ++e) {
        const int bin = (int)fmin(COMPARE_BINS - 1, fmax(0, strain[e] / width));
        share[bin] += 100 * volume[e] / whole;
    }
}

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
    for (int i = 0; i < c->row_count; ++i) {
        fprintf(t, ",\"%s %%\"", c->row[i].name);
    }
    for (int b = 0; b < COMPARE_BINS; ++b) {
        fprintf(t, "\n%.6g", middle[b]);
        for (int i = 0; i < c->row_count; ++i) {
            fprintf(t, ",%.6g", share[i * COMPARE_BINS + b]);
        }
    }
    fprintf(t, "\n");
    const bool failed = ferror(t);
    const pl_status status = fclose(t) == 0 && !failed ? pl_file_write(path, text, size, err) : PL_NO_MEMORY;
    free(text);
    return status;
}

// The strain that all but 0.5 % of the volume stay below: a few elements in corners would stretch the axis.
static double compare_reach(int32_t n, const double *strain, const double *volume)
{
    enum { FINE = 2000 };
    double share[FINE] = {0}, whole = 0, largest = 1e-6, sum = 0;
    for (int32_t e = 0; e < n; ++e) {
        largest = fmax(largest, strain[e]);
        whole += volume[e];
    }
    for (int32_t e = 0; e < n; ++e) {
        share[(int)fmin(FINE - 1, fmax(0, strain[e] / largest * FINE))] += volume[e];
    }
    int k = 0;
    while (k < FINE && (sum += share[k]) < 0.995 * whole) {
        ++k;
    }
    return largest * (k + 1) / FINE;
}

static pl_status compare_histogram(const compare *c, const char *path, pl_error *err)
{
    const int32_t n = pl_mesh_get(c->corner).element_count;
    double *strain = malloc((size_t)n * sizeof *strain + 1), *volume = malloc((size_t)n * sizeof *volume + 1);
    double share[COMPARE_ROWS * COMPARE_BINS], middle[COMPARE_BINS], largest = 1e-6;
    if (!strain || !volume) {
        free(strain);
        free(volume);
        return PL_NO_MEMORY;
    }
    for (int i = 0; i < c->row_count; ++i) {
        pl_mesh_strain(c->corner, c->row[i].x, strain, volume);
        largest = fmax(largest, compare_reach(n, strain, volume));
    }
    const double width = largest / COMPARE_BINS;
    for (int b = 0; b < COMPARE_BINS; ++b) {
        middle[b] = (b + 0.5) * width;
    }
    for (int i = 0; i < c->row_count; ++i) {
        compare_bins(c, &c->row[i], width, strain, volume, share + i * COMPARE_BINS);
    }
    free(strain);
    free(volume);
    if (strcasecmp(cli_extension(path), ".csv") == 0) {
        return compare_histogram_csv(c, path, middle, share, err);
    }
    pl_curve curve[COMPARE_ROWS];
    for (int i = 0; i < c->row_count; ++i) {
        curve[i] = (pl_curve){
            .name = c->row[i].name, .x = middle, .y = share + i * COMPARE_BINS, .count = COMPARE_BINS};
    }
    const pl_plot plot = {.title = "Strain of the elements",
                          .x_label = "largest principal strain",
                          .y_label = "share of the volume, %",
                          .curve = curve,
                          .curve_count = c->row_count};
    return pl_plot_write(&plot, path, err);
}

static int compare_write(const cli_args *args, const compare *c)
{
    pl_error err = {0};
    int cursor = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        if (compare_vtu(c, path, &err) != PL_OK) {
            return cli_fail_writing(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }
    const char *path = cli_value(args, "histogram");
    if (path && compare_histogram(c, path, &err) != PL_OK) {
        return cli_fail_writing(args, &err);
    }
    if (path) {
        cli_say(args, "  wrote %s\n", path);
    }
    return cli_json_write(args, cli_value(args, "json") ? compare_json(c) : NULL);
}

// Before the work, not after it.
static int compare_check_histogram(const cli_args *args)
{
    const char *path = cli_value(args, "histogram"), *end = path ? cli_extension(path) : NULL;
    if (!path || strcasecmp(end, ".png") == 0 || strcasecmp(end, ".svg") == 0 ||
        strcasecmp(end, ".csv") == 0) {
        return CLI_DONE;
    }
    cli_error(args, "--histogram %s: the extension tells what to write, expected one of .png .svg .csv",
              path);
    return CLI_WRONG;
}

static int compare_work(const cli_args *args, compare *c)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    status = status ? status : compare_check_histogram(args);
    if (!status && !cli_number(args, "time-limit", PL_DIM_TIME, 0, 1e9, &c->time_limit)) {
        status = CLI_WRONG;
    }
    status = status ? status : compare_open(args, c);
    status = status ? status : cli_check_outputs(args, NULL, c->r.path, NULL);
    status = status ? status : cli_commands_read(args, c->r.robot, c->command);
    status = status ? status : compare_methods(args, c);
    if (status) {
        return status;
    }
    compare_distances(c);
    compare_print(args, c);
    status = compare_write(args, c);
    for (int i = 0; status == CLI_DONE && i < c->row_count; ++i) {
        const compare_row *row = &c->row[i];
        // as published it stops before it has converged: that is part of the comparison
        if (row->report.outcome != PL_SOLVED && strcmp(row->method, "fang2020") != 0) {
            cli_error(args, "%s did not converge: %s", row->name, row->report.message);
            status = CLI_BADLY;
        }
    }
    return status;
}

static int compare_run(cli_args *args)
{
    if (args->plain_count > 1 || cli_is_reduced(args->plain[0])) {
        return cli_reduced_compare(args);
    }
    compare c = {0};
    const int status = compare_work(args, &c);
    compare_close(&c);
    return status;
}

const cli_verb cli_verb_compare = {
    .name = "compare",
    .summary = "one pose by several methods, side by side",
    .usage = "ROBOT --set NAME=VALUE ... [--methods exact,local_global,fang2020] [options]",
    .about =
        "Solves the robot at the commands set by each method: exact on the robot's own (quadratic) mesh and\n"
        "on its corner mesh with plain linear elements, local_global with the options of the robot file, "
        "and\n"
        "fang2020 as published. Distances to the exact shape on the corner mesh are the method's error, the\n"
        "distance between the two exact shapes is the mesh's. Methods that know volumes but no pressures "
        "are\n"
        "asked for the volume that the exact one reached. Cavities of designs are meshed for the methods "
        "that\n"
        "grow them. Several robots (the full one and reduced ones) are compared marker by marker instead.",
    .examples =
        "  pliant compare finger --set air=30kPa\n"
        "  pliant compare segment segment/robot-rod.yaml --set chamber1=20kPa\n"
        "  pliant compare finger --set air=30kPa --out difference.vtu --histogram strain.png --json -\n",
    .option = options,
    .least = 1,
    .most = 16,
    .run = compare_run,
};
