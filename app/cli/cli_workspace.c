// pliant workspace: where the markers can go. Samples are kept one by one, so that a run that was killed goes
// on.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"

// the most samples of one run: a month at 3 s each
#define WORKSPACE_SAMPLES 1000000

static const cli_option options[] = {
    {"levels", 0, "N", "N values of every command, all combinations", NULL, CLI_WHOLE(1, 1000)},
    {"samples", 0, "N", "N samples of a low-discrepancy sequence (default 200)", NULL,
     CLI_WHOLE(1, WORKSPACE_SAMPLES)},
    {"marker", 0, "NAME", "the marker whose workspace is measured and drawn (default: the only one, or tip)",
     NULL},
    {"store", 0, "FILE", "store the samples here (SQLite); continue an earlier run", NULL},
    {"out", 0, "FILE", "write .csv, .vtu (points with commands) or .png; may be repeated", NULL},
    CLI_JSON,
    CLI_PICTURE,
    {"limit-each", 0, "TIME", "time limit of each sample", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".csv", ".vtu", ".png", ".svg", NULL};

// What the verb holds; workspace_run releases all of it.
typedef struct workspace {
    const cli_args *args;
    cli_model m;
    int marker;
    pl_workspace_plan plan;        // the commands to visit, in order
    pl_store *store;               // of --store, or NULL
    pl_store_samples samples;      // solved ones: read from the store, or kept in memory
    int before, done;              // samples found in the store, made now
    int outcome[PL_OUTCOME_COUNT]; // of those made now
    int crossing, cold;            // of them: solved bodies that penetrate themselves; started from rest
    const pl_mesh *mesh;           // of a full body, or NULL
    int status;                    // of a record that failed
    char settings[200];            // what decides the plan, for the store
} workspace;

// ---- what to visit
// The commands to visit: a grid with the same number of levels in all, or the ends of the ranges and a Halton
// sequence between them.
static int workspace_plan(const cli_args *args, workspace *w)
{
    int grid = 0, count = 200;
    const int commands = w->m.info.command_count;

    if (!cli_whole(args, "levels", &grid) || !cli_whole(args, "samples", &count)) {
        return CLI_EXIT_USAGE;
    }

    if (grid > 0 && cli_value(args, "samples")) {
        cli_error(args, "--levels and --samples are both given, expected one");
        return CLI_EXIT_USAGE;
    }

    // the number of combinations is computed as real: it may exceed every integer
    if (grid > 0 && pow(grid, commands) > WORKSPACE_SAMPLES) {
        cli_error(args, "--levels %d: %.0f samples, the limit is %d", grid, pow(grid, commands),
                  WORKSPACE_SAMPLES);
        return CLI_EXIT_USAGE;
    }

    int *steps = calloc((size_t)commands + 1, sizeof *steps);
    if (!steps) {
        return cli_no_memory(args);
    }
    for (int i = 0; i < commands; ++i) {
        steps[i] = grid;
    }

    const pl_workspace_def def = {.order = grid > 0 ? PL_WORKSPACE_GRID : PL_WORKSPACE_HALTON,
                                  .count = count,
                                  .ends = true,
                                  .steps = grid > 0 ? steps : NULL};
    pl_error err = {0};
    const pl_status status = pl_workspace_plan_init(w->m.model, &def, &w->plan, &err);
    free(steps);

    // what decides the plan: the same text finds the same samples again
    snprintf(w->settings, sizeof w->settings, "%s %d", grid > 0 ? "grid" : "ends and halton",
             grid > 0 ? grid : count);

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The marker to measure: of --marker, the only one, or the one named tip.
static int workspace_marker(const cli_args *args, workspace *w)
{
    const char *name = cli_value(args, "marker");
    w->marker = name                          ? cli_model_marker(args, &w->m, "marker", name)
                : w->m.info.marker_count == 1 ? 0
                                              : pl_model_find_marker(w->m.model, "tip");
    if (w->marker < 0 && !name) {
        cli_error(args, w->m.info.marker_count ? "the marker is not given: add --marker NAME"
                                               : "the robot has no marker, so there is no workspace");
    }

    return w->marker < 0 ? CLI_EXIT_USAGE : CLI_DONE;
}

// ---- the samples
// Without a store the samples are kept in memory.
static void workspace_keep(workspace *w, const pl_sample *s)
{
    const size_t n = (size_t)w->samples.count, commands = (size_t)w->m.info.command_count;
    const size_t markers = 3 * (size_t)w->m.info.marker_count, actuators = (size_t)w->m.info.actuator_count;
    memcpy(w->samples.command + n * commands, s->command, commands * sizeof(double));
    memcpy(w->samples.marker + n * markers, s->answer.marker, markers * sizeof(double));
    memcpy(w->samples.effort + n * actuators, s->answer.effort, actuators * sizeof(double));
    ++w->samples.count;
}

// Shows how many samples are done.
static void workspace_part(const workspace *w, int index)
{
    const int n = w->plan.count;
    cli_progress_part(index, n, "sample %d of %d", index < n ? index + 1 : n, n);
}

// Called by the library after every sample. A store gets all of them, also unsolved ones, which are not tried
// again; the lists in memory only the solved. Returns false to end the run.
static bool workspace_record(void *user, const pl_sample *s)
{
    workspace *w = user;
    pl_error err = {0};

    if (w->store && pl_store_put(w->store, s, &err) != PL_OK) {
        w->status = cli_fail(w->args, &err);
        return false;
    }

    if (!w->store && s->fk->outcome == PL_SOLVED) {
        workspace_keep(w, s);
    }

    ++w->done;
    ++w->outcome[s->fk->outcome < PL_OUTCOME_COUNT ? s->fk->outcome : PL_NOT_CONVERGED];
    w->cold += s->cold;

    // a body that penetrates itself is a solution of the equations but not of the robot: count them
    pl_crossings crossings = {0};
    if (w->mesh && s->fk->outcome == PL_SOLVED && s->answer.point &&
        pl_mesh_crossings(w->mesh, s->answer.point, &crossings, &err) == PL_OK) {
        w->crossing += crossings.count > 0;
    }

    workspace_part(w, s->index + 1);

    return !cli_interrupted();
}

// Room for every planned sample, since without a store nothing else keeps them.
static int workspace_room(const cli_args *args, workspace *w)
{
    const size_t n = (size_t)w->plan.count + 1;
    w->samples.command = calloc(n * ((size_t)w->m.info.command_count + 1), sizeof(double));
    w->samples.marker = calloc(n * (3 * (size_t)w->m.info.marker_count + 1), sizeof(double));
    w->samples.effort = calloc(n * ((size_t)w->m.info.actuator_count + 1), sizeof(double));
    return w->samples.command && w->samples.marker && w->samples.effort ? CLI_DONE : cli_no_memory(args);
}

// Computes the samples that the store does not have yet, then collects all.
static int workspace_go(const cli_args *args, workspace *w)
{
    const char *path = cli_value(args, "store");
    pl_error err = {0};

    if (path && pl_store_open(path, w->m.model, w->settings, &w->store, &err) != PL_OK) {
        return err.status == PL_BAD_FILE ? cli_fail(args, &err) : cli_fail(args, &err);
    }

    const int room = path ? CLI_DONE : workspace_room(args, w);
    if (room) {
        return room;
    }

    // a store may hold more than this plan asks for
    w->before = w->store ? pl_store_next(w->store) : 0;
    w->before = w->before < w->plan.count ? w->before : w->plan.count;
    if (w->before > 0) {
        cli_say(args, "%s: %d of %d samples are already stored\n", path, w->before, w->plan.count);
    }

    // only a full body's points are the vertices of its mesh; reduced models draw themselves as tubes
    const pl_robot *robot = pl_model_robot(w->m.model);
    w->mesh = robot ? pl_robot_mesh(robot) : NULL;

    cli_stage("solving", false);
    workspace_part(w, w->before);
    const pl_status status = pl_workspace_run(w->m.model, &w->plan, w->before, workspace_record, w, &err);
    cli_stage(NULL, false);

    if (w->status || (status != PL_OK && status != PL_INTERRUPTED)) {
        err.status = status;
        return w->status ? w->status : cli_fail(args, &err);
    }

    // samples of earlier runs count, too: what is reported comes from the store as a whole
    if (w->store && pl_store_read(w->store, &w->samples, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    return pl_samples_model_error(&w->samples, w->m.model, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// ---- what comes out
// The chosen marker's places, 3 each, on the heap.
static double *workspace_points(const workspace *w)
{
    const size_t n = (size_t)w->samples.count, markers = (size_t)w->m.info.marker_count;
    double *point = calloc(3 * n + 1, sizeof *point);
    for (size_t k = 0; point && k < n; ++k) {
        memcpy(point + 3 * k, w->samples.marker + 3 * (k * markers + (size_t)w->marker), 3 * sizeof *point);
    }
    return point;
}

// The body at rest with a small cross at every place the marker came to.
static pl_status workspace_picture(const cli_args *args, workspace *w, const double *point, const char *path,
                                   pl_error *err)
{
    const int n = w->samples.count;
    const char *view = cli_value(args, "view");

    // arms of the cross: small beside the body, yet visible
    const double arm = 0.004 * w->m.info.size;
    char title[200];
    double *place = NULL, *line = calloc(18 * (size_t)n + 1, sizeof *line);
    int32_t *start = calloc(3 * (size_t)n + 1, sizeof *start);
    pl_picture picture = pl_picture_default();
    pl_status status = PL_NO_MEMORY;

    *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the picture"};
    if (line && start) {
        status = cli_shape_body(&w->m, &place, &picture, err);
    }
    if (status == PL_OK && view) {
        status = pl_picture_view(view, picture.view, err);
    }

    // three lines per place, one along each axis: line k belongs to place k / 3 and goes along axis k % 3
    if (status == PL_OK) {
        for (int k = 0; k < 3 * n; ++k) {
            for (int end = 0; end < 2; ++end) {
                double *at = line + 6 * (size_t)k + 3 * (size_t)end;
                memcpy(at, point + 3 * (size_t)(k / 3), 3 * sizeof *at);
                at[k % 3] += end ? arm : -arm;
            }

            start[k + 1] = 2 * (k + 1);
        }

        // at rest: the shape last solved is only one of many
        snprintf(title, sizeof title, "%s: %d positions of %s", w->m.info.name, n,
                 w->m.info.marker_name[w->marker]);
        picture.position = picture.ghost = NULL;
        picture.wireframe = cli_flag(args, "edges");
        picture.title = title;
        picture.line = line;
        picture.line_start = start;
        picture.line_count = 3 * n;
        status = pl_picture_write(&picture, path, err);
    }

    free(place);
    free(line);
    free(start);

    return status;
}

// The files of --out by their extension; pictures are the rest.
static int workspace_write(const cli_args *args, workspace *w, const double *point)
{
    int cursor = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        const char *extension = cli_extension(path);
        const pl_status status = strcasecmp(extension, ".csv") == 0
                                     ? pl_samples_write_csv(&w->samples, w->m.model, path, &err)
                                 : strcasecmp(extension, ".vtu") == 0
                                     ? pl_samples_write_vtu(&w->samples, w->m.model, w->marker, path, &err)
                                     : workspace_picture(args, w, point, path, &err);
        if (status != PL_OK) {
            return cli_fail(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }

    return CLI_DONE;
}

// The largest error of the chosen marker's positions; NAN: one of them is not known.
static double workspace_error(const workspace *w)
{
    double most = 0;
    for (int k = 0; w->samples.model_error && k < w->samples.count; ++k) {
        const double error = w->samples.model_error[k * w->m.info.marker_count + w->marker];
        most = isnan(most) || isnan(error) ? NAN : fmax(most, error);
    }

    return most;
}

// The error of a model that is not the full one, or null.
static json_t *workspace_error_json(const workspace *w)
{
    if (!w->samples.model_error) {
        return json_null();
    }

    json_t *one = json_object();
    json_object_set_new(one, "mm", cli_json_number(workspace_error(w)));
    json_object_set_new(one, "confidence", cli_json_number(w->samples.confidence));
    const pl_error_source source = pl_model_get_answer(w->m.model).error.source;
    json_object_set_new(one, "source", json_string(pl_error_source_name(source)));

    return one;
}

// The result for programs. hull_* that have no meaning for the dimension found are 0 or null.
static json_t *workspace_json(const workspace *w, const pl_hull *hull, const double low[3],
                              const double high[3])
{
    json_t *root = cli_json_head(w->m.info.robot_hash, w->m.findings);
    json_object_set_new(root, "sampling", json_string(w->settings));
    json_object_set_new(root, "planned", json_integer(w->plan.count));
    json_object_set_new(root, "computed", json_integer(w->before + w->done));
    json_object_set_new(root, "solved", json_integer(w->samples.count));

    json_t *outcomes = json_object();
    for (int i = 0; i < PL_OUTCOME_COUNT; ++i) {
        if (w->outcome[i] > 0 || i == PL_SOLVED) {
            json_object_set_new(outcomes, pl_outcome_name((pl_outcome)i), json_integer(w->outcome[i]));
        }
    }

    json_object_set_new(root, "now", json_integer(w->done));
    json_object_set_new(root, "outcomes", outcomes);
    json_object_set_new(root, "crossing", w->mesh ? json_integer(w->crossing) : json_null());
    json_object_set_new(root, "cold_starts", json_integer(w->cold));

    json_object_set_new(root, "hull_corners", json_integer(hull->vertex_count));
    json_object_set_new(root, "marker", json_string(w->m.info.marker_name[w->marker]));
    json_object_set_new(root, "low", cli_json_numbers(low, 3));
    json_object_set_new(root, "high", cli_json_numbers(high, 3));
    json_object_set_new(root, "hull_dimension", json_integer(hull->dimension));
    json_object_set_new(root, "hull_volume", cli_json_number(hull->dimension == 3 ? hull->volume : 0));
    json_object_set_new(root, "hull_area", cli_json_number(hull->dimension >= 2 ? hull->area : 0));
    json_object_set_new(root, "hull_length", cli_json_number(hull->dimension == 1 ? hull->length : NAN));
    json_object_set_new(root, "model_error", workspace_error_json(w));

    return root;
}

// The outcomes of the samples made now, in words.
static void workspace_outcomes(const cli_args *args, const workspace *w)
{
    char text[400] = "";
    for (int i = 0; i < PL_OUTCOME_COUNT; ++i) {
        if (w->outcome[i] > 0) {
            const size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s%d %s", at ? ", " : "", w->outcome[i],
                     pl_outcome_name((pl_outcome)i));
        }
    }

    // all solved: the first line said so already
    if (w->done > w->outcome[PL_SOLVED]) {
        cli_say(args, "  outcomes: %s\n", text);
    }
    if (w->crossing > 0) {
        cli_say(args, "  in %d of the solved samples the body penetrates itself (contact is not modelled)\n",
                w->crossing);
    }

    if (w->cold > 0) {
        cli_say(
            args,
            "  %d samples were started from the undeformed shape: starts from the sample before cost more\n",
            w->cold);
    }
}

// Measures the positions and prints, writes and reports them.
static int workspace_report(const cli_args *args, workspace *w, const double *point)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * w->samples.count; ++i) {
        low[i % 3] = fmin(low[i % 3], point[i]);
        high[i % 3] = fmax(high[i % 3], point[i]);
    }

    // the convex hull may be flat: all positions in a plane or on a line, as with one command
    pl_hull hull = {0};
    pl_error err = {0};
    if (pl_hull_measure(point, w->samples.count, &hull, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    cli_say(args, "%s: %d of %d samples, %d solved\n", w->m.info.name, w->before + w->done, w->plan.count,
            w->samples.count);
    workspace_outcomes(args, w);
    cli_say(args, "  %s goes from %.2f,%.2f,%.2f to %.2f,%.2f,%.2f mm\n", w->m.info.marker_name[w->marker],
            cli_tidy(low[0], 2), cli_tidy(low[1], 2), cli_tidy(low[2], 2), cli_tidy(high[0], 2),
            cli_tidy(high[1], 2), cli_tidy(high[2], 2));
    if (hull.dimension == 3) {
        cli_say(args, "  convex hull: %.6g mm^3 (%d corners)\n", hull.volume, hull.vertex_count);
    } else if (hull.dimension == 2) {
        cli_say(args, "  convex hull: all positions lie in a plane, %.6g mm^2\n", hull.area);
    } else if (hull.length > 0) {
        cli_say(args, "  convex hull: all positions lie on a line of %.6g mm\n", hull.length);
    } else {
        cli_say(args, "  convex hull: one position\n");
    }

    // a model that is not the full one has an error of its own; NaN at one sample: not known for all
    const double error = workspace_error(w);
    if (w->samples.model_error && isfinite(error)) {
        cli_say(args, "  of a %s model: its positions are off by %.2g mm at most (%.0f %% each)\n",
                w->m.info.kind, error, 100 * w->samples.confidence);
    } else if (w->samples.model_error) {
        cli_say(args, "  of a %s model whose error is not known at some samples\n", w->m.info.kind);
    }

    const int status = workspace_write(args, w, point);

    return status || !cli_value(args, "json") ? status
                                              : cli_json_write(args, workspace_json(w, &hull, low, high));
}

// The verb from its options to its exit status; a run that is interrupted reports what it has.
static int workspace_work(const cli_args *args, workspace *w)
{
    w->args = args;
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, cli_value(args, "store"));
    status = status ? status : cli_model_open(args, args->plain[0], &w->m);
    status = status ? status : cli_check_outputs(args, NULL, w->m.path, NULL);
    status = status ? status : workspace_marker(args, w);
    cli_stage("planning", true);
    status = status ? status : workspace_plan(args, w);
    cli_stage(NULL, false);
    status = status ? status : workspace_go(args, w);
    if (status) {
        return status;
    }

    // whatever was solved is shown and stored, also after Ctrl-C
    const bool whole = w->before + w->done == w->plan.count;
    if (w->samples.count > 0) {
        double *point = workspace_points(w);
        status = point ? workspace_report(args, w, point) : cli_no_memory(args);
        free(point);
    }

    if (!status && !whole) {
        cli_error(args, "%s after %d of %d samples%s", cli_stop_reason(), w->before + w->done, w->plan.count,
                  w->store ? "; the same command continues" : "");
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    if (!status && w->samples.count == 0) {
        workspace_outcomes(args, w);
        cli_error(args, "none of %d samples could be solved", w->plan.count);
        cli_advice("`pliant fk` at one of the commands says why");
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

static int workspace_run(cli_args *args)
{
    workspace w = {0};
    const int status = workspace_work(args, &w);

    pl_workspace_plan_clear(&w.plan);

    // arrays of the store belong to the library, those of workspace_room to this program
    if (w.store) {
        pl_store_samples_clear(&w.samples);
    } else {
        free(w.samples.command);
        free(w.samples.marker);
        free(w.samples.effort);
        w.samples.command = w.samples.marker = w.samples.effort = NULL;
        pl_store_samples_clear(&w.samples); // what the library added
    }

    pl_store_close(w.store);
    cli_model_close(&w.m);

    return status;
}

const cli_verb cli_verb_workspace = {
    .name = "workspace",
    .summary =
        "sample the reachable marker positions, measure their convex hull, store them for ik and follow",
    .usage = "ROBOT [--levels N | --samples N] [options]",
    .about = "Solves the robot at commands distributed over their ranges, in an order with small steps,\n"
             "and measures the convex hull of a marker's positions. With --store every sample is saved as\n"
             "soon as it is solved: the same command continues after an interruption, and `ik --workspace`\n"
             "and `follow --workspace` start from the samples.",
    .examples = "  pliant workspace trunk --samples 500 --store trunk.sqlite --out trunk.vtu\n"
                "  pliant workspace finger --levels 5 --out finger.csv --out finger.png\n"
                "  pliant ik trunk --target 10,5,95 --workspace trunk.sqlite\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = workspace_run,
};
