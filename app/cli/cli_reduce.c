// pliant reduce: a reduced robot fitted to a full one, and how far it may be trusted.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const cli_option options[] = {
    {"kind", 0, "KIND", "beam, rod (default) or constant_curvature", "beam rod constant_curvature"},
    {"marker", 0, "NAME", "the marker at the tip (default: the first)", NULL},
    {"samples", 0, "N", "number of random commands at which the error is measured (default 60)", NULL,
     CLI_WHOLE(1, 100000)},
    {"seed", 0, "N", "seed of the random commands (default 1)", NULL, CLI_WHOLE(0, 1 << 30)},
    {"share", 0, "SHARE",
     "fraction of each range at which the actuators are fitted (default 0.75; 0: at rest)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 1)},
    {"out", 0, "FILE", "the reduced robot file (.yaml; default: ROBOT-KIND.yaml next to the robot file)",
     NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".yaml", ".yml", NULL};

static const double degree = 3.14159265358979323846 / 180;

// What is loaded, fitted and written.
typedef struct reduce {
    char *path, *out, *file; // the last: of the full robot, as the reduced file names it
    pl_robot_document *document;
    pl_findings *findings;
    pl_model *full;
    pl_reduction *reduction;
    pl_reduce_options options;
    pl_reduce_report report;
} reduce;

static int reduce_read(const cli_args *args, reduce *r)
{
    int samples = pl_reduce_options_default().sample_count, seed = 1;
    double share = 0.75;

    r->options = pl_reduce_options_default();
    if (!cli_whole(args, "samples", &samples) || !cli_whole(args, "seed", &seed) ||
        !cli_number(args, "share", &share)) {
        return CLI_EXIT_USAGE;
    }

    // vertebrae cannot be fitted: the kinds before it can
    const char *kind = cli_value(args, "kind");
    pl_reduced_kind k = PL_BEAM;
    while (kind && k < PL_VERTEBRAE && strcmp(kind, pl_reduced_kind_name(k)) != 0) {
        ++k;
    }
    if (kind && k == PL_VERTEBRAE) {
        cli_error(args, "--kind %s: expected beam, rod or constant_curvature", kind);
        return CLI_EXIT_USAGE;
    }

    r->options.kind = kind ? k : PL_ROD;
    r->options.sample_count = samples;
    r->options.seed = (uint64_t)seed;
    r->options.load_share = share;
    r->options.marker = cli_value(args, "marker");
    r->options.progress = cli_progress_search;

    return CLI_DONE;
}

// What acts on the full robot and not on the reduced one: stiffness is measured under it, but it is gone.
static void reduce_warn(reduce *r)
{
    // a block, and an entry that it has if it is given
    static const char *const lost[][2] = {{"loads: forces", "loads.forces.0.marker"},
                                          {"loads: pressures", "loads.pressures.0.surface"},
                                          {"springs", "springs.0.name"},
                                          {"contact", "contact.obstacles.0.name"}};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; ++i) {
        if (pl_robot_document_value(r->document, lost[i][1])) {
            pl_findings_add(
                r->findings, PL_WARNING, r->path, 0,
                "the reduced model does not have the `%s` of the robot: its errors show what they do",
                lost[i][0]);
            cli_finding(pl_findings_at(r->findings, pl_findings_count(r->findings) - 1));
        }
    }
}

// `probe`: the marker whose compliance the fit needs; NULL: none.
static int reduce_load(const cli_args *args, reduce *r, const char *probe)
{
    pl_load_options load = {.mesher = pl_meshing_mesher(), .progress = &cli_progress, .probe = probe};
    load.no_cache = cli_flag(args, "no-cache");
    pl_error err = {0};
    if (!cli_number(args, "size", &load.size) || !cli_whole(args, "order", &load.order)) {
        return CLI_EXIT_USAGE;
    }

    // the fit needs derivatives with respect to loads, which only the exact method has
    const pl_model_load_options how = {.load = load, .method = "exact"};
    const pl_status status = pl_model_from_document(r->document, &how, &r->full, r->findings, &err);
    if (status == PL_OK) {
        if (probe) {
            reduce_warn(r);
        }
        return CLI_DONE;
    }
    cli_findings(r->findings);

    // what `err` repeats has been printed with its line
    if ((status == PL_BAD_INPUT || status == PL_BAD_FILE) && pl_findings_defect_count(r->findings) > 0) {
        return CLI_EXIT_USAGE;
    }
    err.status = status;

    return cli_fail(args, &err);
}

// The probe needs a marker's name, which only the robot knows: loaded once more when it was not given.
static int reduce_open(const cli_args *args, reduce *r)
{
    int status = cli_document_open(args, args->plain[0], &r->path, &r->document, &r->findings);
    if (status) {
        return status;
    }
    if (pl_robot_document_kind(r->document) == PL_ROBOT_REDUCED) {
        cli_error(args, "%s is already a reduced robot", r->path);
        return CLI_EXIT_USAGE;
    }

    // the name must outlive the model it comes from
    static char name[200];
    if (!r->options.marker) {
        status = reduce_load(args, r, NULL);
        if (status == CLI_DONE && pl_model_get_info(r->full).marker_count == 0) {
            cli_error(args, "the robot has no markers; give it one at its tip");
            status = CLI_EXIT_USAGE;
        }

        if (status == CLI_DONE) {
            snprintf(name, sizeof name, "%s", pl_model_get_info(r->full).marker_name[0]);
            r->options.marker = name;
            pl_model_destroy(r->full);
            r->full = NULL;
        }
    }

    return status ? status : reduce_load(args, r, r->options.marker);
}

// The file to write: given, or beside the robot under the name of the kind.
static int reduce_place(const cli_args *args, reduce *r)
{
    const char *given = cli_value(args, "out"), *kind = pl_reduced_kind_name(r->options.kind);
    const size_t room = strlen(given ? given : r->path) + 60;

    r->out = malloc(room);
    if (!r->out) {
        return cli_no_memory(args);
    }

    const int stem = (int)(cli_extension(r->path) - r->path);
    if (given) {
        snprintf(r->out, room, "%s", given);
    } else {
        snprintf(r->out, room, "%.*s-%s.yaml", stem, r->path, kind);
    }

    if (!given && cli_exists(r->out) && !cli_flag(args, "force")) {
        cli_error(args, "%s exists and is not overwritten", r->out);
        cli_advice("choose another file with --out, or add --force");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// The robot file by its name alone where both lie in the same folder, otherwise by its whole path.
static int reduce_name(const cli_args *args, reduce *r)
{
    char *folder = strdup(r->out), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash) {
        slash[slash == folder] = 0;
    }

    char *place = folder ? realpath(slash ? folder : ".", NULL) : NULL;
    r->file = realpath(r->path, NULL);
    char *name = r->file ? strrchr(r->file, '/') : NULL;
    if (place && name && strlen(place) == (size_t)(name - r->file) &&
        strncmp(place, r->file, (size_t)(name - r->file)) == 0) {
        memmove(r->file, name + 1, strlen(name));
    }

    free(folder);
    free(place);
    r->options.robot_file = r->file;

    return r->file ? CLI_DONE : cli_no_memory(args);
}

// The errors stand in the file's first lines, where people see them.
static int reduce_write(const cli_args *args, reduce *r)
{
    const pl_reduce_report *p = &r->report;
    char comment[900];

    snprintf(comment, sizeof comment,
             "# Fitted by `pliant reduce` to %s (%d solves of the full model).\n"
             "# Over %d random commands (seed %llu) the RMS tip displacement is %.3g mm. Error with respect "
             "to the full\n"
             "# model: position %.3g mm RMS, %.3g mm at most; direction %.3g degrees RMS, %.3g at most.\n",
             strrchr(r->path, '/') ? strrchr(r->path, '/') + 1 : r->path, p->solves, p->sample_count,
             (unsigned long long)r->options.seed, p->motion, p->position_rms, p->position_max,
             p->direction_rms / degree, p->direction_max / degree);
    pl_error err = {0};
    if (pl_reduced_write(pl_reduction_def(r->reduction), comment, r->out, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    return CLI_DONE;
}

static void reduce_print(const cli_args *args, const reduce *r)
{
    const pl_reduce_report *p = &r->report;
    cli_table table = {0};

    cli_say(args,
            "%s as a %s: %.4g mm long, EA %.4g N, EI %.4g and %.4g, GJ %.4g N mm^2, GA %.4g and %.4g N\n\n",
            pl_model_get_info(r->full).name, pl_reduced_kind_name(r->options.kind), p->length, p->EA,
            p->EI[0], p->EI[1], p->GJ, p->GA[0], p->GA[1]);
    cli_row(&table, "actuator\tkind\tradius mm\tangle deg\tarea mm^2\teffectiveness");

    for (int i = 0; i < pl_reduction_actuator_count(r->reduction); ++i) {
        const pl_fitted_actuator a = pl_reduction_actuator(r->reduction, i);
        cli_row(&table, "%s\t%s\t%.4g\t%.4g\t%.4g\t%.4g", a.name, pl_actuator_kind_name(a.kind), a.radius,
                a.angle / degree, a.area, a.effectiveness);
    }

    cli_table_print(args, &table);
    cli_say(args, "\n");
    cli_row(&table, "error at %d random commands\tRMS\tmax", p->sample_count);
    cli_row(&table, "position, mm\t%.4g\t%.4g", p->position_rms, p->position_max);
    cli_row(&table, "position, %% of the motion\t%.3g\t%.3g", 100 * p->position_rms / p->motion,
            100 * p->position_max / p->motion);
    cli_row(&table, "direction, deg\t%.4g\t%.4g", p->direction_rms / degree, p->direction_max / degree);
    cli_table_print(args, &table);
    cli_say(args, "\n  %d solves of the full model; wrote %s\n", p->solves, r->out);
}

static json_t *reduce_json(const reduce *r)
{
    const pl_reduce_report *p = &r->report;
    json_t *root = cli_json_head(0, r->findings);

    json_object_set_new(root, "file", json_string(r->out));
    json_object_set_new(root, "kind", json_string(pl_reduced_kind_name(r->options.kind)));
    json_object_set_new(root, "length", cli_json_number(p->length));
    json_object_set_new(root, "EA", cli_json_number(p->EA));
    json_object_set_new(root, "EI", cli_json_numbers(p->EI, 2));
    json_object_set_new(root, "GJ", cli_json_number(p->GJ));
    json_object_set_new(root, "GA", cli_json_numbers(p->GA, 2));
    json_object_set_new(root, "solves", json_integer(p->solves));
    json_object_set_new(root, "samples", json_integer(p->sample_count));
    json_object_set_new(root, "seed", json_integer((json_int_t)r->options.seed));
    json_object_set_new(root, "motion_rms", cli_json_number(p->motion));
    json_object_set_new(root, "position_rms", cli_json_number(p->position_rms));
    json_object_set_new(root, "position_max", cli_json_number(p->position_max));
    json_object_set_new(root, "direction_rms", cli_json_number(p->direction_rms));
    json_object_set_new(root, "direction_max", cli_json_number(p->direction_max));

    return root;
}

// Everything that can be wrong is checked before the fit.
static int reduce_work(const cli_args *args, reduce *r)
{
    int status = cli_setup(args);
    status = status ? status : reduce_read(args, r);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    status = status ? status : reduce_open(args, r);
    status = status ? status : cli_check_outputs(args, NULL, r->path, NULL);
    status = status ? status : reduce_place(args, r);
    status = status ? status : reduce_name(args, r);
    if (status) {
        return status;
    }

    pl_error err = {0};
    cli_stage("fitting", false);
    const pl_status reduced = pl_reduce(r->full, &r->options, &r->reduction, &r->report, &err);
    cli_stage(NULL, false);
    if (reduced != PL_OK) {
        err.status = reduced;
        return cli_fail(args, &err);
    }

    status = reduce_write(args, r);
    if (status == CLI_DONE) {
        reduce_print(args, r);
        status = cli_json_write(args, cli_value(args, "json") ? reduce_json(r) : NULL);
    }

    if (status == CLI_DONE && r->report.sample_count < r->options.sample_count) {
        cli_error(args, "only %d of %d random commands were solved by both models", r->report.sample_count,
                  r->options.sample_count);
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

static int reduce_run(cli_args *args)
{
    reduce r = {0};
    const int status = reduce_work(args, &r);

    pl_reduction_destroy(r.reduction);
    pl_model_destroy(r.full);
    pl_robot_document_destroy(r.document);
    pl_findings_destroy(r.findings);
    free(r.path);
    free(r.out);
    free(r.file);

    return status;
}

const cli_verb cli_verb_reduce = {
    .name = "reduce",
    .summary = "fit a reduced model (beam, rod, constant curvature) to the full robot and measure its error",
    .usage = "ROBOT [--kind KIND] [options]",
    .about = "Takes section stiffness from the full model's compliance to forces and moments at the tip\n"
             "marker, positions and strengths of chambers and cables from its displacement per actuator,\n"
             "writes the reduced robot file, and measures its error at random commands. The result works\n"
             "with every verb that takes a robot, in microseconds per solve.",
    .examples = "  pliant reduce segment --kind rod\n"
                "  pliant reduce segment --kind constant_curvature --samples 50 --out small.yaml\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = reduce_run,
    .stopping = "stopping",
};
