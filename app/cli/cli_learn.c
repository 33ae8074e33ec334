// pliant learn: a learned model from a data set; a share of the samples is held out to measure its error.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"

static const cli_option options[] = {
    {"out", 0, "FILE",
     "the learned model (.yaml; required); .csv and .png: errors over epochs; .onnx: the network of\n"
     "the marker positions; may be repeated",
     NULL},
    {"hidden", 0, "N,N", "neurons of the hidden layers (default 24,24)", NULL},
    {"activation", 0, "NAME", "tansig (default), logistic, softplus, silu, sine",
     "tansig logistic softplus silu sine"},
    {"trainer", 0, "NAME", "lm (Levenberg-Marquardt, default), lbfgs or adam", "lm adam lbfgs"},
    {"epochs", 0, "N", "largest number of passes over the data (default: lm 100, others 2000)", NULL,
     CLI_WHOLE(1, 10000000)},
    {"patience", 0, "N",
     "stop after N epochs without a smaller held-out error (default: lm 20, others 300; 0: never)", NULL,
     CLI_WHOLE(0, 10000000)},
    {"batch", 0, "N", "samples per step of adam (default 200)", NULL, CLI_WHOLE(1, 10000000)},
    {"learning-rate", 0, "RATE", "learning rate of adam (default 0.005)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1e-9, 10)},
    {"jacobian-weight", 0, "W", "weight of the derivatives in the loss (default 0.5; 0: values only)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 1000)},
    {"decay", 0, "W", "weight decay (default 0)", NULL, CLI_NUMBER(PL_DIM_NUMBER, 0, 1000)},
    {"held", 0, "SHARE", "fraction of the samples held out (default 0.3)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 0.9)},
    {"use", 0, "N", "use N of the samples only, evenly chosen", NULL, CLI_WHOLE(10, INT_MAX)},
    {"seed", 0, "N", "seed of weights, split and batches (default 1)", NULL, CLI_WHOLE(0, 1 << 30)},
    {"modes", 0, "N", "largest number of modes of the shape (default 24)", NULL, CLI_WHOLE(1, 200)},
    {"no-skip", 0, NULL, "no linear part from inputs to outputs (as published)", NULL},
    {"positions-only", 0, NULL, "learn the marker positions only", NULL},
    {"separate-jacobian", 0, NULL, "also learn the derivatives by a network of their own (as published)",
     NULL},
    {"history", 0, NULL,
     "learn from measured sequences (MEASURED.csv): a recurrent network that knows the past", NULL},
    {"cells", 0, "N", "with --history: cells of memory (default 16)", NULL, CLI_WHOLE(1, 1000)},
    {"piece", 0, "N", "with --history: steps of a training sequence (default 30)", NULL,
     CLI_WHOLE(2, 100000)},
    {"burn", 0, "N", "with --history: first steps of a sequence that do not count (default 5)", NULL,
     CLI_WHOLE(0, 100000)},
    {"held-runs", 0, "RUN,RUN", "with --history: runs held out, by name (default: --held of them)", NULL},
    {"inverse", 0, NULL, "also learn the direct inverse from the first marker to the commands", NULL},
    CLI_JSON,
    CLI_FORCE,
    {0},
};

// What --out may end in.
static const char *const extensions[] = {".yaml", ".yml", ".csv", ".png", ".svg", ".onnx", NULL};

// In rad.
static const double degree = 3.14159265358979323846 / 180;

// Errors over epochs; the three arrays lie in one block that `epoch` begins.
typedef struct curve {
    double *epoch, *train, *held; // train, held: rms relative to the spread
    int count, room;
} curve;

// What the verb holds; learn_run releases all of it.
typedef struct learning {
    pl_dataset *data;
    pl_learned_options options;
    pl_learned_report report;
    pl_learned *learned;
    curve curve[PL_LEARN_PART_COUNT];
    pl_learned_part part; // the network being trained
    bool no_memory;       // a curve could not grow
    int begun;            // networks begun, for the progress
} learning;

// Called before each network is trained.
static void learn_begin(void *user, pl_learned_part part)
{
    learning *l = user;
    l->part = part;
    const int n = PL_LEARN_PART_COUNT;
    cli_progress_part(l->begun < n ? l->begun : n - 1, n, "%s", pl_learned_part_name(part));
    ++l->begun;
}

// Called after each epoch: keeps the errors for the files.
static void learn_record(void *user, int epoch, double train, double held)
{
    learning *l = user;
    curve *c = &l->curve[l->part];

    if (c->count == c->room) {
        const int room = 2 * c->room + 64;
        double *e = realloc(c->epoch, 3 * (size_t)room * sizeof *e);
        if (!e) {
            l->no_memory = true;
            return;
        }

        // three arrays in one block: move the last two
        memmove(e + 2 * room, e + 2 * c->room, (size_t)c->count * sizeof *e);
        memmove(e + room, e + c->room, (size_t)c->count * sizeof *e);
        c->epoch = e;
        c->train = e + room;
        c->held = e + 2 * room;
        c->room = room;
    }

    c->epoch[c->count] = epoch;
    c->train[c->count] = train;
    c->held[c->count++] = held;
}

// --hidden: widths of the hidden layers, separated by commas.
static bool learn_hidden(const cli_args *args, pl_network_def *def)
{
    const char *text = cli_value(args, "hidden");
    if (!text) {
        return true;
    }

    def->layer_count = 0;
    for (const char *at = text; *at;) {
        char *end;
        const long width = strtol(at, &end, 10);
        if (end == at || width < 1 || width > PL_NETWORK_WIDTH || def->layer_count == PL_NETWORK_LAYERS ||
            (*end && *end != ',')) {
            cli_error(args, "--hidden %s: expected 1 to %d numbers of neurons, such as 35,35", text,
                      PL_NETWORK_LAYERS);
            return false;
        }

        def->width[def->layer_count++] = (int)width;
        at = *end ? end + 1 : end;
    }

    return true;
}

// The options of the training, checked.
static int learn_read(const cli_args *args, learning *l)
{
    pl_learned_options *o = &l->options;
    *o = pl_learned_options_default();
    int seed = 1;

    o->network.skip = !cli_flag(args, "no-skip");
    if (!learn_hidden(args, &o->network) || !cli_whole(args, "epochs", &o->train.epoch_limit) ||
        !cli_whole(args, "patience", &o->train.patience) || !cli_whole(args, "batch", &o->train.batch) ||
        !cli_number(args, "learning-rate", &o->train.rate) ||
        !cli_number(args, "jacobian-weight", &o->train.jacobian_weight) ||
        !cli_number(args, "decay", &o->train.decay) || !cli_number(args, "held", &o->train.held_share) ||
        !cli_whole(args, "modes", &o->mode_count) || !cli_whole(args, "seed", &seed)) {
        return CLI_EXIT_USAGE;
    }

    o->train.seed = o->network.seed = (uint64_t)seed;
    const char *trainer = cli_value(args, "trainer"), *activation = cli_value(args, "activation");
    if (trainer && (o->train.trainer = pl_trainer_find(trainer)) == PL_TRAINER_COUNT) {
        cli_error(args, "--trainer %s: expected lm, adam or lbfgs", trainer);
        return CLI_EXIT_USAGE;
    }

    if (o->train.trainer != PL_LEVENBERG) { // many cheap steps instead of few good ones
        o->train.epoch_limit = cli_value(args, "epochs") ? o->train.epoch_limit : 2000;
        o->train.patience = cli_value(args, "patience") ? o->train.patience : 300;
    }

    if (activation && (o->network.activation = pl_activation_find(activation)) == PL_ACTIVATION_COUNT) {
        cli_error(args, "--activation %s: expected tansig, logistic, softplus, silu or sine", activation);
        return CLI_EXIT_USAGE;
    }

    if (cli_flag(args, "positions-only")) {
        o->parts = 1u << PL_LEARN_POSITION;
    }
    o->parts |= cli_flag(args, "separate-jacobian") ? 1u << PL_LEARN_JACOBIAN : 0;
    o->parts |= cli_flag(args, "inverse") ? 1u << PL_LEARN_INVERSE : 0;

    o->train.progress = cli_progress;
    o->train.record = learn_record;
    o->train.user = l;
    o->begin = learn_begin;

    // exactly one model is written; other outputs are additions
    int cursor = 0, models = 0;
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

// its source is never before its place.
static int learn_thin(const cli_args *args, pl_dataset *d)
{
    const int count = pl_dataset_get_info(d).count;
    int use = count;
    if (!cli_whole(args, "use", &use)) {
        return CLI_EXIT_USAGE;
    }
    if (use > count) {
        cli_error(args, "--use is '%d', expected at most the %d samples of the data set", use, count);
        return CLI_EXIT_USAGE;
    }

    pl_dataset_thin(d, use);

    return CLI_DONE;
}

// Warns about what is missing from the data set or damaged: the model will be as good as its samples.
static void learn_state(const cli_args *args, const pl_dataset_info *d)
{
    const int stored = d->count + d->failed + d->damaged;
    char text[160];

    if (stored < d->planned) {
        snprintf(text, sizeof text, "its sampling is not finished: %d of %d samples are stored", stored,
                 d->planned);
        cli_finding(&(pl_finding){.severity = PL_WARNING,
                                  .file = args->plain[0],
                                  .text = text,
                                  .advice = "the `pliant sample` command that began it continues it"});
    }

    if (d->damaged) {
        snprintf(text, sizeof text,
                 "%d sample%s damaged and not used: the checksum of number %d does not match", d->damaged,
                 d->damaged == 1 ? " is" : "s are", d->first_damaged);
        cli_finding(&(pl_finding){.severity = PL_WARNING,
                                  .file = args->plain[0],
                                  .text = text,
                                  .advice = "the `pliant sample` command that made it solves them again"});
    }

    if (d->unchecked) {
        cli_finding(
            &(pl_finding){.severity = PL_WARNING,
                          .file = args->plain[0],
                          .text = "was written by an older version, without checksums: damage is not seen"});
    }
}

// One row per network, with errors on the samples held out.
static void learn_print(const cli_args *args, const learning *l)
{
    static const char *const unit[PL_LEARN_PART_COUNT] = {"mm", "deg", "mm, mm^3, MPa", "N, MPa, mm, mm^3",
                                                          "mJ", "mm",  "mm per unit",   "command"};
    const pl_learned_report *r = &l->report;
    const pl_dataset_info d = pl_dataset_get_info(l->data);
    cli_table table = {0};

    cli_say(args, "%s: %d samples%s, %d commands, %d markers; the first marker moves over %.4g mm\n\n",
            d.robot->name, d.count, d.derivatives ? " with derivatives" : "", d.robot->command_count,
            d.robot->marker_count, r->width);

    cli_row(&table, "network\toutputs\tweights\tepochs\tended by\theld-out rms\tlargest\tin");
    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        const pl_learned_fit_report *f = &r->part[p];
        const double scale = p == PL_LEARN_ROTATION ? 1 / degree : 1;

        if (f->fitted) {
            cli_row(&table, "%s\t%d\t%d\t%d\t%s\t%.3g\t%.3g\t%s", pl_learned_part_name(p), f->output_count,
                    f->weight_count, f->train.epochs, pl_train_outcome_name(f->train.outcome), scale * f->rms,
                    scale * f->largest, unit[p]);
        }
    }

    cli_table_print(args, &table);

    // beside the size of the workspace an error can be judged
    cli_say(args, "\n  positions: %.3g %% of the width rms, %.3g %% at most, over %d samples held out\n",
            100 * r->part[0].rms / r->width, 100 * r->part[0].largest / r->width,
            r->part[0].train.held_count);
    if (r->mode_count) {
        cli_say(args, "  shape: %d modes leave %.3g mm rms\n", r->mode_count, r->mode_error);
    }
}

// Errors over epochs as .csv.
static int learn_csv(const cli_args *args, const learning *l, const char *path)
{
    size_t bytes = 200;
    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        bytes += (size_t)l->curve[p].count * 100;
    }

    // 100 bytes hold any line of it
    char *text = malloc(bytes), *at = text;
    if (!text) {
        return cli_no_memory(args);
    }
    at += sprintf(at, "network,epoch,train_rms,held_rms\n");

    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        for (int k = 0; k < l->curve[p].count; ++k) {
            at += sprintf(at, "%s,%g,%.6g,%.6g\n", pl_learned_part_name(p), l->curve[p].epoch[k],
                          l->curve[p].train[k], l->curve[p].held[k]);
        }
    }

    pl_error err = {0};
    const pl_status status = pl_file_write(path, text, (size_t)(at - text), &err);
    free(text);

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The curves as they are plotted: in place, once.
static void learn_logarithms(learning *l)
{
    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        curve *c = &l->curve[p];
        for (int k = 0; c->count > 1 && k < c->count; ++k) {
            c->train[k] = log10(fmax(c->train[k], 1e-12));
            c->held[k] = log10(fmax(c->held[k], 1e-12));
        }
    }
}

// Errors over epochs as a picture; takes the logarithms in place, so nothing may use the curves after it.
static int learn_plot(const cli_args *args, learning *l, const char *path)
{
    pl_curve list[2 * PL_LEARN_PART_COUNT];
    static char name[2 * PL_LEARN_PART_COUNT][40];
    int count = 0;

    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        curve *c = &l->curve[p];
        for (int which = 0; which < 2 && c->count > 1; ++which) {
            const double *y = which ? c->held : c->train;

            if (which == 0 || isfinite(y[0])) {
                snprintf(name[count], sizeof name[0], "%s, %s", pl_learned_part_name(p),
                         which ? "held out" : "trained");
                list[count] = (pl_curve){name[count], c->epoch, y, c->count, false};
                ++count;
            }
        }
    }

    const pl_plot plot = {.title = "training",
                          .x_label = "epoch",
                          .y_label = "log10 of the error (RMS, relative to the spread)",
                          .curve = list,
                          .curve_count = count};
    pl_error err = {0};

    return pl_plot_write(&plot, path, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The files of --out; the model carries its error in a comment.
static int learn_write(const cli_args *args, learning *l)
{
    int cursor = 0, status = CLI_DONE;
    const pl_learned_report *r = &l->report;

    for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
        const char *extension = cli_extension(path);
        pl_error err = {0};
        if (strcasecmp(extension, ".csv") == 0) {
            status = learn_csv(args, l, path);
        } else if (strcasecmp(extension, ".onnx") == 0) {
            status = pl_network_write_onnx(pl_learned_network(l->learned, PL_LEARN_POSITION), "position",
                                           path, &err) == PL_OK
                         ? CLI_DONE
                         : cli_fail(args, &err);
        } else if (extension[1] == 'y' || extension[1] == 'Y') {
            char comment[400];
            snprintf(comment, sizeof comment,
                     "# Learned by `pliant learn` from %d samples. Error of the marker positions on %d "
                     "samples held "
                     "out:\n# %.3g mm rms, %.3g mm at most (%.2g %% of the workspace's width of %.4g mm).\n",
                     pl_dataset_get_info(l->data).count, r->part[0].train.held_count, r->part[0].rms,
                     r->part[0].largest, 100 * r->part[0].largest / r->width, r->width);
            status =
                pl_learned_write(l->learned, comment, path, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
        }

        if (!status && strcasecmp(extension, ".png") != 0 && strcasecmp(extension, ".svg") != 0) {
            cli_say(args, "  wrote %s\n", path);
        }
    }

    learn_logarithms(l); // pictures last
    cursor = 0;
    for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
        if (strcasecmp(cli_extension(path), ".png") == 0 || strcasecmp(cli_extension(path), ".svg") == 0) {
            status = learn_plot(args, l, path);
            if (!status) {
                cli_say(args, "  wrote %s\n", path);
            }
        }
    }

    return status;
}

// The result for programs; errors in internal units. The caller owns it.
static json_t *learn_json(const learning *l)
{
    json_t *root = cli_json_head(pl_dataset_get_info(l->data).robot->hash, NULL), *parts = json_object();
    json_object_set_new(root, "samples", json_integer(pl_dataset_get_info(l->data).count));
    json_object_set_new(root, "width", cli_json_number(l->report.width));
    json_object_set_new(root, "interrupted", json_boolean(l->report.stopped));

    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        const pl_learned_fit_report *f = &l->report.part[p];
        if (f->fitted) {
            json_t *one = json_object();
            json_object_set_new(one, "outputs", json_integer(f->output_count));
            json_object_set_new(one, "weights", json_integer(f->weight_count));
            json_object_set_new(one, "epochs", json_integer(f->train.epochs));
            json_object_set_new(one, "ended", json_string(pl_train_outcome_name(f->train.outcome)));
            json_object_set_new(one, "held_rms", cli_json_number(f->rms));
            json_object_set_new(one, "held_largest", cli_json_number(f->largest));
            json_object_set_new(one, "seconds", cli_json_number(f->train.seconds));
            json_object_set_new(parts, pl_learned_part_name(p), one);
        }
    }

    json_object_set_new(root, "networks", parts);

    return root;
}

// The verb from its options to its exit status.
static int learn_work(const cli_args *args, learning *l)
{
    pl_error err = {0};

    // options of the other kind of learning are refused, not ignored
    static const char *const only[] = {"cells", "piece", "burn", "held-runs"};

    for (size_t i = 0; i < sizeof only / sizeof only[0]; ++i) {
        if (cli_value(args, only[i])) {
            cli_error(args, "--%s is for --history", only[i]);
            return CLI_EXIT_USAGE;
        }
    }

    int status = learn_read(args, l);
    status = status ? status : cli_check_outputs(args, extensions, NULL, args->plain[0]);
    if (status) {
        return status;
    }

    // a table of measurements is a likely mistake: say which option reads it
    if (pl_dataset_read(args->plain[0], &l->data, &err) != PL_OK) {
        const int failed = cli_fail(args, &err);
        if (strcasecmp(cli_extension(args->plain[0]), ".csv") == 0) {
            cli_advice("measured sequences are learned with --history");
        }
        return failed;
    }

    const pl_dataset_info stored = pl_dataset_get_info(l->data);
    learn_state(args, &stored);
    status = learn_thin(args, l->data);
    if (status) {
        return status;
    }

    cli_stage("training", false);
    const pl_status fitted = pl_learned_fit(l->data, &l->options, &l->learned, &l->report, &err);
    cli_stage(NULL, false);

    if (fitted != PL_OK || l->no_memory) {
        if (fitted == PL_BAD_INPUT) {
            cli_error(args, "%s: %s", args->plain[0], err.text);
            return CLI_EXIT_USAGE;
        }

        return fitted != PL_OK ? cli_fail(args, &err) : cli_no_memory(args);
    }

    // an interrupted training still gives networks: they are written before the exit status says so
    learn_print(args, l);
    status = cli_value(args, "json") ? cli_json_write(args, learn_json(l)) : CLI_DONE;
    status = status ? status : learn_write(args, l);
    if (!status && l->report.stopped) {
        cli_error(args, "%s: the best networks so far were written", cli_stop_reason());
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

static int learn_run(cli_args *args)
{
    if (cli_flag(args, "history")) {
        return cli_learn_history(args);
    }

    learning l = {0};
    const int status = learn_work(args, &l);
    pl_dataset_destroy(l.data);
    pl_learned_destroy(l.learned);
    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        free(l.curve[p].epoch);
    }

    return status;
}

const cli_verb cli_verb_learn = {
    .name = "learn",
    .summary = "fit networks to a data set: a model that answers in microseconds",
    .usage = "DATA.sqlite --out MODEL.yaml [options]\n"
             "       pliant learn --history MEASURED.csv --out MODEL.yaml [options]",
    .about =
        "Fits networks to the samples of `pliant sample`: marker poses, sensors, efforts, energy, shape. "
        "Where\n"
        "the samples have derivatives, values and derivatives are fitted together. 30 % of the samples are\n"
        "held out: training stops when their error no longer decreases, and the error of an answer is\n"
        "estimated from them. All verbs take the model in place of a robot. Ctrl-C keeps the best so far.\n"
        "--history learns from a table of measured poses in the order in which they were taken (commands,\n"
        "markers, and a column `run` where there are several runs): the next pose then depends on the ones\n"
        "before. Whole runs are held out, and networks without memory are fitted for comparison.",
    .examples =
        "  pliant learn trunk.sqlite --out trunk-model.yaml --out training.png\n"
        "  pliant learn trunk.sqlite --hidden 35,35 --jacobian-weight 0 --no-skip --out published.yaml\n"
        "  pliant ik trunk-model.yaml --target 10,5,140\n"
        "  pliant learn --history measured.csv --out remembers.yaml --out training.png\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = learn_run,
    .stopping = "stopping, keeping the best weights so far",
};

// --check and --check-full after an answer of a learned model: how far it is
// from the full one, by a few Newton
// steps from the answer or by a whole solve.
int cli_learned_check(const cli_args *args, cli_model *m)
{
    const bool step = cli_flag(args, "check"), solve = cli_flag(args, "check-full");
    if (!step && !solve) {
        return CLI_DONE;
    }
    if (!pl_model_is_learned(m->model)) {
        cli_error(args, "--check is for learned models; this one is the full model itself");
        return CLI_EXIT_USAGE;
    }

    pl_learned_check check;
    pl_error err = {0};
    if (pl_learned_check_full(m->model, !solve, &check, &err) != PL_OK) {
        return cli_fail_file(args, m->path, &err);
    }
    cli_progress_done();

    // without an equilibrium there is nothing to compare with
    const char *marker = check.marker >= 0 ? m->info.marker_name[check.marker] : "";
    if (check.full.outcome != PL_SOLVED) {
        cli_say(args, "  checked: the full model gives no equilibrium here (%s)\n",
                pl_outcome_name(check.full.outcome));
        return CLI_EXIT_UNSOLVED;
    }

    if (check.steps) {
        cli_say(
            args,
            "  checked by %d Newton step%s of the full model (%.3g s, residual force %.3g N): largest error "
            "%.3g mm, marker '%s'\n",
            check.steps, check.steps == 1 ? "" : "s", check.seconds, check.residual, check.largest, marker);
    } else {
        cli_say(args, "  checked by the full model, solved (%.3g s): largest error %.3g mm, marker '%s'\n",
                check.seconds, check.largest, marker);
    }

    return CLI_DONE;
}
