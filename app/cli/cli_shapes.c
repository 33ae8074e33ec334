// pliant shapes: the stable shapes at given commands. Each of them is put into the model once more, so that
// files and records are those of `pliant fk`.
#include <math.h>
#include <string.h>
#include "cli_motion.h"

static const cli_option options[] = {
    {"set", 0, "NAME=VALUE", "a command and its value, with a unit (air=20kPa); may be repeated", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    {"modes", 0, "N", "softest modes of each shape along which searches start, 0 to 12 (default 3)", NULL,
     CLI_WHOLE(0, 12)},
    {"up-to", 0, "FACTOR", "loads up to which shapes are followed, more than 1 (default 2)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1.001, 1000)},
    {"no-branches", 0, NULL, "do not look for the loads at which shapes appear and disappear", NULL},
    {"out", 0, "FILE",
     "write every shape, numbered (shape.png: shape-1.png, shape-2.png ...): .vtu .vtm .glb .obj .ply .stl "
     ".csv "
     ".png .svg; may be repeated",
     NULL},
    {"save-state", 0, "FILE", "save every state, numbered as above, for `pliant fk --state`", NULL},
    CLI_JSON,
    {"color", 0, "FIELD", "for pictures: displacement, von_mises, stretch or region",
     "displacement von_mises stretch region"},
    CLI_PICTURE,
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

// What --out may end in: one file per shape, so no series.
static const char *const shapes_extensions[] = {".vtu", ".vtm", ".glb", ".obj", ".ply",
                                                ".stl", ".csv", ".png", ".svg", NULL};

// What the verb holds; shapes_run_verb releases all of it.
typedef struct shapes_run {
    cli_model m;
    pl_shapes *shapes;
    pl_shapes_report report;
    pl_shapes_options options;
    double *block; // a packed state, from the search to the model
} shapes_run;

// The options of the search, checked.
static int shapes_options_read(const cli_args *args, shapes_run *r)
{
    r->options = pl_shapes_options_default();
    r->options.branches = !cli_flag(args, "no-branches");
    r->options.progress = cli_progress_search;
    return cli_whole(args, "modes", &r->options.modes) && cli_number(args, "up-to", &r->options.load_most)
               ? CLI_DONE
               : CLI_EXIT_USAGE;
}

// Looks for the shapes at the commands of --set. PL_FAILED is an answer (no equilibrium), not a defect.
static int shapes_find(const cli_args *args, shapes_run *r)
{
    if (!pl_model_robot(r->m.model) || strcmp(r->m.info.method, "exact") != 0) {
        cli_error(args, "%s: shapes are looked for on full bodies with the exact method, this robot is '%s'",
                  r->m.path, r->m.info.method);
        return CLI_EXIT_USAGE;
    }

    pl_error err = {0};
    cli_stage("shapes", false);
    const pl_status status =
        pl_model_find_shapes(r->m.model, r->m.command, &r->options, &r->shapes, &r->report, &err);
    cli_stage(NULL, false);
    cli_progress_done();

    if (status == PL_FAILED) {
        cli_error(args, "%s", err.text);
        return CLI_EXIT_UNSOLVED;
    }

    err.status = status;

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// Where a shape ends on one side of the load: "0.423 (limit)", "0", "beyond 2", or "?".
static void shapes_end_text(const pl_stable_shape *shape, int side, double most, char *text, size_t size)
{
    const double load = shape->load[side];
    if (shape->end[side] == PL_SHAPE_UNKNOWN) {
        snprintf(text, size, "?");
    } else if (shape->end[side] == PL_SHAPE_CONTINUES) {
        snprintf(text, size, side == 0 ? "0" : "beyond %.4g", most);
    } else {
        snprintf(text, size, "%.4f (%s)", load, pl_shape_end_name(shape->end[side]));
    }
}

// Whether no command is set: the loads followed are then the dead loads.
static bool shapes_idle(const shapes_run *r)
{
    bool idle = true;
    for (int c = 0; c < r->m.info.command_count; ++c) {
        idle = idle && isnan(r->m.command[c]);
    }
    return idle;
}

// Puts the model at shape i, where it stays: files and records are made from the model.
static int shapes_show(const cli_args *args, shapes_run *r, int i)
{
    pl_error err = {0};
    const size_t size = pl_model_state_size(r->m.model);

    if (!r->block && !(r->block = calloc(size + 1, sizeof *r->block))) {
        return cli_no_memory(args);
    }

    const pl_stable_shape shape = pl_shapes_get(r->shapes, i);
    pl_state_pack(shape.state, r->block, size);
    r->m.report = shape.report;

    return pl_model_unpack(r->m.model, r->block, size, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// One row per shape: energies, the softest stiffness, the loads between which it is stable, its image.
static void shapes_print(const cli_args *args, shapes_run *r)
{
    char text[400], low[60], high[60];
    const int count = pl_shapes_count(r->shapes);

    cli_commands_text(cli_model_commands(&r->m), r->m.command, text, sizeof text);
    cli_say(args, "%d stable shape%s at %s\n\n", count, count == 1 ? "" : "s", text);

    const bool marker = r->m.info.marker_count > 0;
    cli_table table = {0};
    cli_row(&table, "shape\tenergy mJ\tabove lowest mJ\tsoftest N/mm\tstable from\tto%s%s%s\tfound by\timage",
            marker ? "\t" : "", marker ? r->m.info.marker_name[0] : "", marker ? " x\ty\tz mm" : "");

    for (int i = 0; i < count; ++i) {
        const pl_stable_shape s = pl_shapes_get(r->shapes, i);
        char place[100] = "", image[60] = "-";

        shapes_end_text(&s, 0, r->options.load_most, low, sizeof low);
        shapes_end_text(&s, 1, r->options.load_most, high, sizeof high);
        if (marker) {
            shapes_show(args, r, i);
            const double *at = pl_model_get_answer(r->m.model).marker;
            snprintf(place, sizeof place, "\t%.3f\t%.3f\t%.3f", cli_tidy(at[0], 3), cli_tidy(at[1], 3),
                     cli_tidy(at[2], 3));
        }

        if (s.image >= 0) {
            snprintf(image, sizeof image, "%d %s", s.image + 1, s.image_of);
        }
        cli_row(&table, "%d\t%.5g\t%.4g\t%.3g\t%s\t%s%s\t%s\t%s", i + 1, s.energy,
                s.potential - pl_shapes_get(r->shapes, 0).potential, s.stiffness, low, high, place,
                pl_shape_source_name(s.source), image);
    }

    cli_table_print(args, &table);
    cli_say(args,
            "\n  loads are fractions of the %s; %d searches, %d without a stable shape, %d saddles, %d "
            "factorizations\n",
            shapes_idle(r) ? "dead loads" : "commands", r->report.starts, r->report.failed, r->report.saddles,
            r->report.factorizations);

    // say why the columns are empty although they were asked for
    if (r->options.branches && !r->report.branches) {
        cli_say(args,
                "  loads at which shapes appear are not known with contact, pressures on open surfaces and "
                "cables of prescribed length\n");
    }
}

// `shape.png` -> `shape-2.png`, on the heap
static char *shapes_numbered(const char *path, int number)
{
    const char *dot = cli_extension(path);
    const size_t stem = strlen(path) - strlen(dot), size = strlen(path) + 16;
    char *out = malloc(size);

    if (out) {
        snprintf(out, size, "%.*s-%d%s", (int)stem, path, number, dot);
    }

    return out;
}

// Writes shape i, or its state, under its numbered name.
static int shapes_write_one(const cli_args *args, shapes_run *r, int i, const char *path, bool state)
{
    pl_error err = {0};
    char *name = shapes_numbered(path, i + 1);

    if (!name) {
        return cli_no_memory(args);
    }

    const pl_status status =
        state ? pl_state_save(pl_shapes_get(r->shapes, i).state, pl_model_robot(r->m.model), name, &err)
              : cli_shape_write(args, &r->m, name, &err);
    if (status == PL_OK) {
        cli_say(args, "  wrote %s\n", name);
    }
    free(name);

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// All files of all shapes.
static int shapes_write(const cli_args *args, shapes_run *r)
{
    int status = CLI_DONE;
    for (int i = 0; i < pl_shapes_count(r->shapes) && !status; ++i) {
        int cursor = 0;
        status = shapes_show(args, r, i);
        for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
            status = shapes_write_one(args, r, i, path, false);
        }
        const char *state = cli_value(args, "save-state");
        if (!status && state) {
            status = shapes_write_one(args, r, i, state, true);
        }
    }

    return status;
}

// One end of the loads at which a shape is stable; null where it is not known.
static json_t *shapes_json_end(const pl_stable_shape *shape, int side)
{
    const bool known = shape->end[side] != PL_SHAPE_UNKNOWN;
    return json_pack("{s:o,s:s}", "load", known ? cli_json_number(shape->load[side]) : json_null(), "end",
                     pl_shape_end_name(shape->end[side]));
}

// The result for programs: per shape what the table shows and the record of `pliant fk`. The caller owns it.
static json_t *shapes_json(const cli_args *args, shapes_run *r)
{
    json_t *root = cli_json_head(r->m.info.robot_hash, r->m.findings), *list = json_array();
    const double lowest = pl_shapes_get(r->shapes, 0).potential;

    for (int i = 0; i < pl_shapes_count(r->shapes); ++i) {
        const pl_stable_shape s = pl_shapes_get(r->shapes, i);
        shapes_show(args, r, i);
        json_t *one = json_pack("{s:o,s:o,s:o,s:s,s:o,s:o}", "energy_mj", cli_json_number(s.energy),
                                "above_lowest_mj", cli_json_number(s.potential - lowest), "softest_n_per_mm",
                                cli_json_number(s.stiffness), "found_by", pl_shape_source_name(s.source),
                                "from", shapes_json_end(&s, 0), "to", shapes_json_end(&s, 1));
        json_object_set_new(one, "image_of", s.image >= 0 ? json_integer(s.image + 1) : json_null());
        json_object_set_new(one, "image", s.image >= 0 ? json_string(s.image_of) : json_null());
        json_object_set_new(one, "record", cli_record_json(&r->m));
        json_array_append_new(list, one);
    }

    json_object_set_new(root, "shapes", list);

    json_object_set_new(root, "search",
                        json_pack("{s:i,s:i,s:i,s:i,s:b,s:b}", "starts", r->report.starts, "failed",
                                  r->report.failed, "saddles", r->report.saddles, "factorizations",
                                  r->report.factorizations, "branches", r->report.branches, "complete",
                                  !r->report.stopped));

    return root;
}

// The verb from its options to its exit status; a search that is interrupted reports what it has.
static int shapes_work(const cli_args *args, shapes_run *r)
{
    int status = cli_setup(args);
    status = status ? status : shapes_options_read(args, r);
    status = status ? status : cli_check_outputs(args, shapes_extensions, NULL, NULL);
    status = status ? status : cli_model_open(args, args->plain[0], &r->m);
    status = status ? status : cli_check_outputs(args, NULL, r->m.path, NULL);
    status = status ? status : cli_shape_check(args, &r->m);
    status = status ? status : cli_commands_read(args, cli_model_commands(&r->m), r->m.command);
    status = status ? status : shapes_find(args, r);
    if (status) {
        return status;
    }

    shapes_print(args, r);
    status = shapes_write(args, r);
    status = status ? status : cli_json_write(args, cli_value(args, "json") ? shapes_json(args, r) : NULL);
    if (!status && r->report.stopped) {
        cli_error(args, "%s: the search is not complete", cli_stop_reason());
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

static int shapes_run_verb(cli_args *args)
{
    shapes_run r = {0};
    const int status = shapes_work(args, &r);

    pl_shapes_destroy(r.shapes);
    free(r.block);
    cli_model_close(&r.m);

    return status;
}

const cli_verb cli_verb_shapes = {
    .name = "shapes",
    .summary = "the stable shapes at given commands: buckled and snapped ones",
    .usage = "ROBOT --set NAME=VALUE ... [options]",
    .about =
        "A body that buckles or snaps has several stable shapes at the same commands. They are looked for\n"
        "by the load path, paths through other commands, branches of equilibria by arc length, starts\n"
        "along the softest modes, and deflation. Each is solved and proved stable; images of each other\n"
        "under a reflection or half turn are named. A shape is stable between two loads, fractions of the\n"
        "commands (of the dead loads, if no command is set); there it snaps (limit) or buckles\n"
        "(bifurcation). That no further shapes exist is not proved.",
    .examples = "  pliant shapes dome --set air=-3kPa\n"
                "  pliant shapes arch --out shape.png --save-state shape.state\n"
                "  pliant fk arch --state shape-2.state          # continues from the second shape\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = shapes_run_verb,
    .stopping = "stopping, keeping the shapes found so far",
};
