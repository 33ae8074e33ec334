// pliant adapt: a learned model corrected by measurements of the real robot.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const cli_option options[] = {
    {"out", 0, "FILE", "the adapted model (.yaml; required)", NULL},
    {"kind", 0, "KIND", "process (Gaussian process with error bars, default) or layer (as published)",
     "process layer"},
    {"extra", 0, "NAME", "a column that is a further input (load, speed); may be repeated; process only",
     NULL},
    {"neurons", 0, "SHARE", "layer: hidden neurons per measurement (default 0.25)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1e-6, 10)},
    {"held", 0, "SHARE", "fraction of the measurements held out to measure the error (default 0.3)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 0.9)},
    {"next", 0, "N", "propose the next N commands worth measuring; process only", NULL, CLI_WHOLE(1, 100)},
    {"seed", 0, "N", "seed of the split (default 1)", NULL, CLI_WHOLE(0, 1 << 30)},
    CLI_JSON,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".yaml", ".yml", NULL};

// What is fitted and reported.
typedef struct adapting {
    cli_model m;
    pl_measured measured;
    pl_adapt_options options;
    pl_adapt_report report;
    double *next;
    int next_count;
} adapting;

// Options; those that do not fit the kind are refused.
static int adapt_read(const cli_args *args, adapting *a)
{
    int seed = 1;
    a->options = pl_adapt_options_default();
    if (!cli_number(args, "neurons", &a->options.neurons) ||
        !cli_number(args, "held", &a->options.held_share) || !cli_whole(args, "next", &a->next_count) ||
        !cli_whole(args, "seed", &seed)) {
        return CLI_EXIT_USAGE;
    }

    a->options.seed = (uint64_t)seed;
    a->options.progress = cli_progress;
    const char *kind = cli_value(args, "kind");
    if (kind && (a->options.kind = pl_adapt_kind_find(kind)) == PL_ADAPT_KIND_COUNT) {
        cli_error(args, "--kind %s: expected process or layer", kind);
        return CLI_EXIT_USAGE;
    }

    if (a->options.kind == PL_ADAPT_LAYER && (cli_value(args, "extra") || a->next_count)) {
        cli_error(args, "--extra and --next need --kind process");
        return CLI_EXIT_USAGE;
    }

    if (!cli_value(args, "out")) {
        cli_error(args, "expected --out FILE.yaml");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Errors before and after, on measurements that were not used for the fit.
static void adapt_print(const cli_args *args, const adapting *a, const pl_learned *l)
{
    const pl_adapt_report *r = &a->report;
    cli_say(args, "%s: %d measurements of %d marker%s, %s\n", a->m.info.name, r->count, r->marker_count,
            r->marker_count == 1 ? "" : "s", pl_adapt_kind_name(a->options.kind));
    cli_say(args, "  before: %.3g mm rms, %.3g mm at most\n", r->before_rms, r->before_largest);
    if (r->held_count) {
        cli_say(args, "  after, on %d measurements held out: %.3g mm rms, %.3g mm at most\n", r->held_count,
                r->held_rms, r->held_largest);
    }

    if (isfinite(r->noise)) {
        cli_say(args, "  noise of the measurements, as found: %.3g mm\n", r->noise);
    }
    (void)l;

    if (a->next_count) {
        cli_say(args, "\n  worth measuring next:\n");
        for (int k = 0; k < a->next_count; ++k) {
            char text[600];
            cli_commands_text(cli_model_commands(&a->m),
                              a->next + (size_t)k * (size_t)a->m.info.command_count, text, sizeof text);
            cli_say(args, "    %s\n", text);
        }
    }
}

static json_t *adapt_json(const adapting *a)
{
    const pl_adapt_report *r = &a->report;
    json_t *root = cli_json_head(a->m.info.hash, NULL), *next = json_array();

    json_object_set_new(root, "kind", json_string(pl_adapt_kind_name(a->options.kind)));
    json_object_set_new(root, "measurements", json_integer(r->count));
    json_object_set_new(root, "held", json_integer(r->held_count));
    json_object_set_new(root, "before_rms", cli_json_number(r->before_rms));
    json_object_set_new(root, "before_largest", cli_json_number(r->before_largest));
    json_object_set_new(root, "held_rms", cli_json_number(r->held_rms));
    json_object_set_new(root, "held_largest", cli_json_number(r->held_largest));
    json_object_set_new(root, "noise", cli_json_number(r->noise));

    for (int k = 0; k < a->next_count; ++k) {
        json_t *one = json_object();
        for (int c = 0; c < a->m.info.command_count; ++c) {
            const pl_command_info *i = &a->m.info.command[c];
            json_object_set_new(
                one, i->name,
                cli_json_number(a->next[(size_t)k * (size_t)a->m.info.command_count + (size_t)c] /
                                pl_drive_scale(i->drive)));
        }

        json_array_append_new(next, one);
    }

    json_object_set_new(root, "next", next);

    return root;
}

// Options, outputs and the model first: mistakes are found before the fit.
static int adapt_work(const cli_args *args, adapting *a)
{
    int status = adapt_read(args, a);
    status = status ? status : cli_check_outputs(args, extensions, NULL, args->plain[1]);
    status = status ? status : cli_model_open(args, args->plain[0], &a->m);
    if (status) {
        return status;
    }

    pl_learned *l = pl_model_learned(a->m.model);
    if (!l) {
        cli_error(args, "%s is not a learned model", args->plain[0]);
        cli_advice("take samples with `pliant sample` and fit a model with `pliant learn`");
        return CLI_EXIT_USAGE;
    }

    // measurements, with further inputs by name
    const char *extra[16];
    int count = 0, cursor = 0;
    for (const char *name; count < 16 && (name = cli_next(args, "extra", &cursor));) {
        extra[count++] = name;
    }

    pl_error err = {0};
    if (pl_measured_read(args->plain[1], &a->m.info, extra, count, &a->measured, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    // the correction, and where to measure next
    cli_stage("adapting", false);
    if (pl_learned_adapt(l, &a->measured, &a->options, &a->report, &err) != PL_OK) {
        cli_error(args, "%s: %s", args->plain[1], err.text);
        return err.status == PL_BAD_INPUT ? CLI_EXIT_USAGE : CLI_EXIT_SYSTEM;
    }

    if (a->next_count) {
        a->next = calloc((size_t)a->next_count * (size_t)a->m.info.command_count + 1, sizeof *a->next);
        if (!a->next) {
            return cli_no_memory(args);
        }
        if (pl_learned_next_poses(l, a->next_count, a->next, &err) != PL_OK) {
            return cli_fail_file(args, args->plain[0], &err);
        }
    }

    cli_progress_done();
    adapt_print(args, a, l);

    // the file says what it was made from
    char comment[300];
    snprintf(comment, sizeof comment,
             "# Adapted by `pliant adapt` to %d measurements (%s): %.3g mm rms before, %.3g "
             "mm on %d held out.\n",
             a->report.count, pl_adapt_kind_name(a->options.kind), a->report.before_rms, a->report.held_rms,
             a->report.held_count);
    if (pl_learned_write(l, comment, cli_value(args, "out"), &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    cli_say(args, "  wrote %s\n", cli_value(args, "out"));

    return cli_value(args, "json") ? cli_json_write(args, adapt_json(a)) : CLI_DONE;
}

static int adapt_run(cli_args *args)
{
    adapting a = {0};
    const int status = adapt_work(args, &a);
    pl_measured_clear(&a.measured);
    free(a.next);
    cli_model_close(&a.m);
    return status;
}

const cli_verb cli_verb_adapt = {
    .name = "adapt",
    .summary = "correct a learned model by measurements of the real robot",
    .usage = "MODEL.yaml MEASURED.csv --out ADAPTED.yaml [options]",
    .about = "Fits a correction of the marker positions to measurements: a CSV with a column per command "
             "(with its\n"
             "unit) and columns NAME.x, NAME.y, NAME.z per marker. `process` adds a Gaussian process of the\n"
             "commands (and of further inputs such as load and speed) and knows its error; `layer` is the\n"
             "published single hidden layer. The adapted model is a model like any other: ik, follow and "
             "serve use\n"
             "the correction and its exact derivative.",
    .examples = "  pliant adapt trunk-model.yaml measured.csv --out real.yaml --next 5\n"
                "  pliant adapt trunk-model.yaml measured.csv --kind layer --out published.yaml\n"
                "  pliant follow real.yaml --path flower --out flower.csv\n",
    .option = options,
    .least = 2,
    .most = 2,
    .run = adapt_run,
    .stopping = "stopping, keeping the best correction so far",
};
