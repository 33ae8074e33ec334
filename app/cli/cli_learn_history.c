// pliant learn --history: a model with memory from a table of measured sequences, beside models that see the
// present commands only, and the last three: a memory that is no better is not needed.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"

static const char *const extensions[] = {".yaml", ".yml", ".csv", ".png", ".svg", ".onnx", NULL};

// The most runs that --held-runs can name.
#define HISTORY_HELD 64

// What the verb holds; cli_learn_history releases all of it.
typedef struct remembering {
    pl_sequences *rows;
    pl_history_options options;
    pl_history_report report;
    pl_learned *learned;
    char *names;                    // copy of --held-runs, which `held` points into
    const char *held[HISTORY_HELD]; // names of runs
    double *curve;                  // epoch, trained, ending the training: three numbers per epoch
    int count, room;
    bool no_memory;
} remembering;

// Called after each epoch: keeps the errors for the files.
static void history_record(void *user, int epoch, double train, double held)
{
    remembering *h = user;
    if (h->count == h->room) {
        double *more = realloc(h->curve, 3 * (size_t)(2 * h->room + 64) * sizeof *more);
        if (!more) {
            h->no_memory = true;
            return;
        }

        h->curve = more;
        h->room = 2 * h->room + 64;
    }

    double *at = h->curve + 3 * (size_t)h->count++;
    at[0] = epoch;
    at[1] = train;
    at[2] = held;
}

// The options, checked; those of networks without memory are refused, not ignored.
static int history_read(const cli_args *args, remembering *h)
{
    static const char *const other[] = {"hidden", "activation",      "trainer", "batch",
                                        "use",    "jacobian-weight", "modes"};
    static const char *const flags[] = {"no-skip", "positions-only", "separate-jacobian", "inverse"};

    for (size_t i = 0; i < sizeof other / sizeof other[0]; ++i) {
        if (cli_value(args, other[i])) {
            cli_error(args,
                      "--%s is not for --history: its network has cells (--cells) and is trained by Adam",
                      other[i]);
            return CLI_EXIT_USAGE;
        }
    }

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; ++i) {
        if (cli_flag(args, flags[i])) {
            cli_error(args, "--%s is not for --history", flags[i]);
            return CLI_EXIT_USAGE;
        }
    }

    pl_history_options *o = &h->options;
    *o = pl_history_options_default();
    int seed = 1, models = 0, cursor = 0;
    if (!cli_whole(args, "cells", &o->cell_count) || !cli_whole(args, "piece", &o->piece) ||
        !cli_whole(args, "burn", &o->burn) || !cli_whole(args, "epochs", &o->train.epoch_limit) ||
        !cli_whole(args, "patience", &o->train.patience) ||
        !cli_number(args, "learning-rate", &o->train.rate) || !cli_number(args, "decay", &o->train.decay) ||
        !cli_number(args, "held", &o->held_share) || !cli_whole(args, "seed", &seed)) {
        return CLI_EXIT_USAGE;
    }
    if (o->held_share < 0.01) {
        cli_error(args, "--held %g: with --history at least 0.01 of the rows are held out", o->held_share);
        return CLI_EXIT_USAGE;
    }

    o->train.seed = (uint64_t)seed;
    o->train.progress = cli_progress;
    o->train.record = history_record;
    o->train.user = h;

    // names of runs, cut out of one copy
    if (cli_value(args, "held-runs")) {
        h->names = strdup(cli_value(args, "held-runs"));
        if (!h->names) {
            return cli_no_memory(args);
        }
        char *rest = NULL;

        for (char *at = strtok_r(h->names, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
            if (o->held_count == HISTORY_HELD) {
                cli_error(args, "--held-runs: at most %d runs", HISTORY_HELD);
                return CLI_EXIT_USAGE;
            }

            h->held[o->held_count++] = at;
        }

        o->held = h->held;
    }

    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        models +=
            strcasecmp(cli_extension(path), ".yaml") == 0 || strcasecmp(cli_extension(path), ".yml") == 0;
    }

    if (models != 1) {
        cli_error(args, "expected one --out FILE.yaml for the learned model");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Errors of the three networks side by side, by marker.
static void history_print(const cli_args *args, const remembering *h)
{
    const pl_history_report *r = &h->report;
    const pl_model_info *i = pl_learned_robot(h->learned);
    cli_table table = {0};

    cli_say(args,
            "%s: %d rows in %d run%s, %d commands, %d markers; trained on %d rows in %d pieces, %s %d run%s "
            "held out (%d rows counted)\n\n",
            i->name, pl_sequences_row_count(h->rows), r->run_count, r->run_count == 1 ? "" : "s",
            i->command_count, i->marker_count, r->train_count, r->piece_count, r->by_time ? "the end of" : "",
            r->held_run_count, r->held_run_count == 1 ? "" : "s", r->held_count);

    cli_row(&table, "marker\tspread\tpresent commands\tlast three\twith memory\tmm rms, held out");
    for (int m = 0; m < i->marker_count; ++m) {
        cli_row(&table, "%s\t%.4g\t%.4g\t%.4g\t%.4g", i->marker_name[m], r->spread[m], r->rms[0][m],
                r->rms[1][m], r->rms[2][m]);
    }

    cli_row(&table, "all\t\t%.4g\t%.4g\t%.4g", r->all[0], r->all[1], r->all[2]);
    cli_row(&table, "largest\t\t%.4g\t%.4g\t%.4g", r->largest[0], r->largest[1], r->largest[2]);
    cli_table_print(args, &table);

    cli_say(args, "\n  memory: %d cells, %d weights, %d epochs (best %d), ended by %s, %.3g s\n",
            h->options.cell_count, r->weight_count, r->train.epochs, r->train.best_epoch,
            pl_train_outcome_name(r->train.outcome), r->train.seconds);
    if (r->all[PL_HISTORY_MEMORY] >= r->all[PL_HISTORY_PRESENT]) {
        cli_say(args, "  the memory does not help on the rows held out: the present commands say as much\n");
    }
}

// The result for programs. The caller owns it.
static json_t *history_json(const remembering *h)
{
    static const char *const kind[PL_HISTORY_KIND_COUNT] = {"present", "last_three", "memory"};
    const pl_history_report *r = &h->report;
    const pl_model_info *i = pl_learned_robot(h->learned);
    json_t *root = cli_json_head(i->hash, NULL), *errors = json_object(), *spread = json_object();

    json_object_set_new(root, "rows", json_integer(pl_sequences_row_count(h->rows)));
    json_object_set_new(root, "runs", json_integer(r->run_count));
    json_object_set_new(root, "held_runs", json_integer(r->held_run_count));
    json_object_set_new(root, "held_by_time", json_boolean(r->by_time));
    json_object_set_new(root, "train_rows", json_integer(r->train_count));
    json_object_set_new(root, "held_rows", json_integer(r->held_count));
    json_object_set_new(root, "pieces", json_integer(r->piece_count));
    json_object_set_new(root, "cells", json_integer(h->options.cell_count));
    json_object_set_new(root, "weights", json_integer(r->weight_count));
    json_object_set_new(root, "epochs", json_integer(r->train.epochs));
    json_object_set_new(root, "ended", json_string(pl_train_outcome_name(r->train.outcome)));
    json_object_set_new(root, "seconds", cli_json_number(r->train.seconds));
    json_object_set_new(root, "width", cli_json_number(r->width));
    json_object_set_new(root, "interrupted", json_boolean(r->stopped));

    // errors of each network, in all and by marker
    for (int k = 0; k < PL_HISTORY_KIND_COUNT; ++k) {
        json_t *one = json_object(), *markers = json_object();
        json_object_set_new(one, "held_rms", cli_json_number(r->all[k]));
        json_object_set_new(one, "held_largest", cli_json_number(r->largest[k]));
        for (int m = 0; m < i->marker_count; ++m) {
            json_object_set_new(markers, i->marker_name[m], cli_json_number(r->rms[k][m]));
        }
        json_object_set_new(one, "markers", markers);
        json_object_set_new(errors, kind[k], one);
    }

    for (int m = 0; m < i->marker_count; ++m) {
        json_object_set_new(spread, i->marker_name[m], cli_json_number(r->spread[m]));
    }
    json_object_set_new(root, "spread", spread);
    json_object_set_new(root, "networks", errors);

    return root;
}

// Errors over epochs as .csv.
static int history_csv(const cli_args *args, const remembering *h, const char *path)
{
    // 80 bytes hold any line of it
    char *text = malloc(100 + 80 * (size_t)h->count), *at = text;
    if (!text) {
        return cli_no_memory(args);
    }
    at += sprintf(at, "network,epoch,train_rms,held_rms\n");
    for (int k = 0; k < h->count; ++k) {
        const double *c = h->curve + 3 * (size_t)k;
        at += sprintf(at, "history,%g,%.6g,%.6g\n", c[0], c[1], c[2]);
    }

    pl_error err = {0};
    const pl_status status = pl_file_write(path, text, (size_t)(at - text), &err);
    free(text);

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// Errors over epochs as a picture, in logarithms.
static int history_plot(const cli_args *args, const remembering *h, const char *path)
{
    const size_t n = (size_t)h->count;
    double *x = malloc((3 * n + 1) * sizeof *x);

    if (!x) {
        return cli_no_memory(args);
    }

    // the three columns of the curve become three arrays
    for (size_t k = 0; k < n; ++k) {
        x[k] = h->curve[3 * k];
        x[n + k] = log10(fmax(h->curve[3 * k + 1], 1e-12));
        x[2 * n + k] = log10(fmax(h->curve[3 * k + 2], 1e-12));
    }

    const pl_curve list[2] = {{"memory, trained", x, x + n, h->count, false},
                              {"memory, ends the training", x, x + 2 * n, h->count, false}};
    const pl_plot plot = {.title = "training",
                          .x_label = "epoch",
                          .y_label = "log10 of the error (RMS, relative to the spread)",
                          .curve = list,
                          .curve_count = 2};
    pl_error err = {0};
    const pl_status status = pl_plot_write(&plot, path, &err);
    free(x);

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The files of --out; the model carries its error, and that without memory, in a comment.
static int history_write(const cli_args *args, const remembering *h)
{
    int cursor = 0, status = CLI_DONE;
    const pl_history_report *r = &h->report;

    for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
        const char *extension = cli_extension(path);
        pl_error err = {0};
        pl_status written = PL_OK;
        if (strcasecmp(extension, ".csv") == 0) {
            status = history_csv(args, h, path);
        } else if (strcasecmp(extension, ".png") == 0 || strcasecmp(extension, ".svg") == 0) {
            status = history_plot(args, h, path);
        } else if (strcasecmp(extension, ".onnx") == 0) {
            written = pl_lstm_write_onnx(pl_learned_history(h->learned), "history", path, &err);
        } else {
            char comment[300];
            snprintf(comment, sizeof comment,
                     "# Learned by `pliant learn --history` from %d measured rows. Error of the markers on "
                     "%d rows "
                     "held\n# out: %.4g mm rms, %.4g mm at most; without memory %.4g mm rms.\n",
                     pl_sequences_row_count(h->rows), r->held_count, r->all[2], r->largest[2], r->all[0]);
            written = pl_learned_write(h->learned, comment, path, &err);
        }

        status = written != PL_OK ? cli_fail(args, &err) : status;
        if (!status) {
            cli_say(args, "  wrote %s\n", path);
        }
    }

    return status;
}

// The work from its options to its exit status.
static int history_work(const cli_args *args, remembering *h)
{
    pl_error err = {0};
    int status = history_read(args, h);

    status = status ? status : cli_check_outputs(args, extensions, NULL, args->plain[0]);
    if (status) {
        return status;
    }
    if (pl_sequences_read(args->plain[0], &h->rows, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    cli_stage("training", false);
    const pl_status fitted = pl_learned_fit_history(h->rows, &h->options, &h->learned, &h->report, &err);
    cli_stage(NULL, false);
    if (fitted == PL_BAD_INPUT) {
        cli_error(args, "%s: %s", args->plain[0], err.text);
        return CLI_EXIT_USAGE;
    }

    if (fitted != PL_OK || h->no_memory) {
        return fitted != PL_OK ? cli_fail(args, &err) : cli_no_memory(args);
    }

    // an interrupted training still gives a network: it is written before the exit status says so
    history_print(args, h);
    status = cli_value(args, "json") ? cli_json_write(args, history_json(h)) : CLI_DONE;
    status = status ? status : history_write(args, h);
    if (!status && h->report.stopped) {
        cli_error(args, "%s: the best network so far was written", cli_stop_reason());
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

int cli_learn_history(const cli_args *args)
{
    remembering h = {0};
    const int status = history_work(args, &h);

    pl_sequences_destroy(h.rows);
    pl_learned_destroy(h.learned);
    free(h.names);
    free(h.curve);

    return status;
}
