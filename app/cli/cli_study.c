// pliant study: tables and plots over parameters of the design, the materials and the loads. Each variant is
// a robot of its own, meshed and solved by the library on several cores.
#include <math.h>
#include <string.h>
#include "cli.h"

#define STUDY_ROUND_OFF 1e-9 // mm, N, deg: a smaller number is printed as 0; files have all digits

static const cli_option options[] = {
    {"vary", 0, "NAME=...", "what is varied: NAME=FROM:TO:COUNT or NAME=A,B,C; may be repeated", NULL},
    {"set", 0, "NAME=VALUE", "a command, or a value of the robot file, for all points; may be repeated",
     NULL},
    {"marker", 0, "NAME", "the marker of --stiffness and --blocked (default: the only one, or tip)", NULL},
    {"stiffness", 0, NULL, "stiffness of the marker along x, y, z, from the exact compliance", NULL},
    {"blocked", 0, NULL, "force of the marker where it is held at its undeformed position", NULL},
    {"blocked-axis", 0, "x|y|z", "the same, held along one axis alone, as a load cell measures it", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    {"plot", 0, "QUANTITY", "what .png and .svg show, a column such as tip.z; may be repeated", NULL},
    {"store", 0, "FILE", "keep every point here as soon as it is solved; continue an earlier run", NULL},
    {"jobs", 0, "N", "variants solved at the same time (default: one per core)", NULL, CLI_WHOLE(1, 64)},
    {"out", 0, "FILE", "write .csv, .png or .svg; may be repeated", NULL},
    {"limit-each", 0, "TIME", "time limit of each solve", NULL},
    CLI_JSON,
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

// What --out may end in.
static const char *const study_extensions[] = {".csv", ".png", ".svg", NULL};

// What --vary and --set say. The text of a variation is one block that its path begins.
typedef struct study_args {
    pl_study_axis axis[PL_STUDY_AXES];
    pl_variation set[48];
    int axis_count, set_count;
} study_args;

// Reads --vary and --set; whether the names exist is found when the robot is loaded.
static int study_read(const cli_args *args, study_args *s)
{
    pl_error err = {0};
    int cursor = 0;

    for (const char *text; (text = cli_next(args, "vary", &cursor));) {
        if (s->axis_count == PL_STUDY_AXES) {
            cli_error(args, "--vary: at most %d axes", PL_STUDY_AXES);
            return CLI_EXIT_USAGE;
        }

        if (pl_study_axis_parse(text, &s->axis[s->axis_count], &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        ++s->axis_count;
    }

    if (s->axis_count == 0) {
        cli_error(args, "expected --vary NAME=FROM:TO:COUNT, such as --vary design.wall=1:2:5");
        return CLI_EXIT_USAGE;
    }

    // NAME and VALUE stay in one copy, cut at the equals sign
    cursor = 0;
    for (const char *text; (text = cli_next(args, "set", &cursor));) {
        const size_t n = strcspn(text, "=");
        char *copy = malloc(strlen(text) + 1);
        if (!copy) {
            return cli_no_memory(args);
        }
        strcpy(copy, text);

        if (n == 0 || !text[n] || !text[n + 1] || s->set_count == 48) {
            cli_error(args, "--set %s: expected NAME=VALUE, such as air=20kPa", text);
            free(copy);
            return CLI_EXIT_USAGE;
        }

        copy[n] = 0;
        s->set[s->set_count++] = (pl_variation){copy, copy + n + 1};
    }

    return CLI_DONE;
}

// Whether a column was asked for: by --plot (its beginning is enough), --stiffness or --blocked.
static bool study_wants(const cli_args *args, const char *quantity)
{
    int cursor = 0;
    for (const char *plot; (plot = cli_next(args, "plot", &cursor));) {
        if (strncmp(quantity, plot, strlen(plot)) == 0) {
            return true;
        }
    }

    return strstr(quantity, ".stiffness_") || strstr(quantity, ".blocked");
}

// A table of what was varied and of what moves: constant columns are left to the files.
static void study_print(const cli_args *args, const pl_study *s)
{
    cli_table table = {0};
    char line[1000];
    int column[12], columns = 0;

    // first what was asked for, then what else changes
    bool shown[2000] = {false};

    for (int k = 0; k < 2 * s->quantity_count && columns < 10 - s->axis_count; ++k) {
        const int q = k % s->quantity_count;
        if (q >= 2000 || shown[q] || (k < s->quantity_count && !study_wants(args, s->quantity[q]))) {
            continue;
        }
        double low = INFINITY, high = -INFINITY;

        for (int p = 0; p < s->count; ++p) {
            const double v = s->value[(size_t)p * (size_t)s->quantity_count + (size_t)q];
            low = fmin(low, v);
            high = fmax(high, v);
        }

        // a relative change of 1e-6 is rounding; the floor keeps values around 0 from counting as changing
        if (high - low > 1e-6 * fmax(fabs(high), 1e-3)) {
            shown[q] = true;
            column[columns++] = q;
        }
    }

    // the head
    size_t at = 0;
    for (int i = 0; i < s->axis_count && at < sizeof line; ++i) {
        at += (size_t)snprintf(line + at, sizeof line - at, "%s\t", s->axis[i]);
    }
    for (int c = 0; c < columns && at < sizeof line; ++c) {
        at += (size_t)snprintf(line + at, sizeof line - at, "%s\t", s->quantity[column[c]]);
    }
    cli_row(&table, "%s", line);

    // one row per point; one that was not solved says why instead of results
    for (int p = 0; p < s->count; ++p) {
        at = 0;
        for (int i = 0; i < s->axis_count && at < sizeof line; ++i) {
            at += (size_t)snprintf(line + at, sizeof line - at, "%s\t",
                                   s->setting[(size_t)p * (size_t)s->axis_count + (size_t)i]);
        }

        const bool solved = s->outcome[p] && strcmp(s->outcome[p], "solved") == 0;
        for (int c = 0; solved && c < columns && at < sizeof line; ++c) {
            double v = s->value[(size_t)p * (size_t)s->quantity_count + (size_t)column[c]];
            v = fabs(v) < STUDY_ROUND_OFF ? 0 : v;
            at += (size_t)snprintf(line + at, sizeof line - at, isfinite(v) ? "%.5g\t" : "-\t", v);
        }

        if (!solved && at < sizeof line) {
            snprintf(line + at, sizeof line - at, "%.120s", s->outcome[p] ? s->outcome[p] : "not reached");
        }
        cli_row(&table, "%s", line);
    }

    cli_table_print(args, &table);
}

// The largest error of a surrogate's markers over the solved points, from the columns NAME.model_error.
static void study_print_error(const cli_args *args, const pl_study *s)
{
    for (int q = 0; q < s->quantity_count; ++q) {
        const char *end = strstr(s->quantity[q], ".model_error [");
        double most = 0;

        for (int p = 0; end && p < s->count; ++p) {
            const double error = s->value[(size_t)p * (size_t)s->quantity_count + (size_t)q];
            const bool solved = s->outcome[p] && strcmp(s->outcome[p], "solved") == 0;
            most = !solved ? most : isnan(most) || isnan(error) ? NAN : fmax(most, error);
        }

        if (end && isfinite(most)) {
            cli_say(args, "  %.*s of a surrogate model: off by %.2g mm at most\n",
                    (int)(end - s->quantity[q]), s->quantity[q], most);
        } else if (end) {
            cli_say(args, "  %.*s of a surrogate model whose error is not known at some points\n",
                    (int)(end - s->quantity[q]), s->quantity[q]);
        }
    }
}

// Whether a point was refused because of a command's range.
static bool study_is_outside(const pl_study *s)
{
    bool outside = false;
    for (int p = 0; p < s->count; ++p) {
        outside = outside || (s->outcome[p] && strstr(s->outcome[p], "outside its range"));
    }

    return outside;
}

// The result for programs, with all columns.
static int study_json(const cli_args *args, const pl_study *s, const pl_findings *findings)
{
    json_t *root = cli_json_head(0, findings), *rows = json_array(), *names = json_array();
    for (int i = 0; i < s->quantity_count; ++i) {
        json_array_append_new(names, json_string(s->quantity[i]));
    }

    for (int p = 0; p < s->count; ++p) {
        json_t *row = json_object(), *given = json_object(), *values = json_object();
        for (int i = 0; i < s->axis_count; ++i) {
            json_object_set_new(given, s->axis[i],
                                json_string(s->setting[(size_t)p * (size_t)s->axis_count + (size_t)i]));
        }

        for (int i = 0; i < s->quantity_count; ++i) {
            json_object_set_new(values, s->quantity[i],
                                cli_json_number(s->value[(size_t)p * (size_t)s->quantity_count + (size_t)i]));
        }

        json_object_set_new(row, "given", given);
        json_object_set_new(row, "outcome", s->outcome[p] ? json_string(s->outcome[p]) : json_null());
        json_object_set_new(row, "results", values);
        json_array_append_new(rows, row);
    }

    json_object_set_new(root, "points", json_integer(s->count));
    json_object_set_new(root, "solved", json_integer(s->solved));
    json_object_set_new(root, "quantities", names);
    json_object_set_new(root, "rows", rows);

    return cli_json_write(args, root);
}

// NAME.svg for one quantity; NAME-QUANTITY.svg where several are asked for.
// Without --plot the first column that says how far a marker moved.
static int study_plot(const cli_args *args, const pl_study *s, const char *path)
{
    int cursor = 0, count = 0;
    while (cli_next(args, "plot", &cursor)) {
        ++count;
    }
    cursor = 0;

    for (int i = 0; i < (count ? count : 1); ++i) {
        const char *wanted = count ? cli_next(args, "plot", &cursor) : NULL;
        int q = wanted ? pl_study_find(s, wanted) : -1;
        for (int k = 0; !wanted && q < 0 && k < s->quantity_count; ++k) {
            q = strstr(s->quantity[k], ".moved") ? k : -1;
        }
        if (q < 0) {
            cli_error(args, "--plot %s: the study has no such column", wanted ? wanted : "");
            cli_advice("the first line of the .csv file names all columns");
            return CLI_EXIT_USAGE;
        }

        char name[1200], word[120];
        const char *extension = cli_extension(path);
        snprintf(word, sizeof word, "%.*s", (int)strcspn(s->quantity[q], " "), s->quantity[q]);
        snprintf(name, sizeof name, "%.*s%s%s%s", (int)(strlen(path) - strlen(extension)), path,
                 count > 1 ? "-" : "", count > 1 ? word : "", extension);
        pl_error err = {0};
        if (pl_study_plot(s, q, name, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        cli_say(args, "  wrote %s\n", name);
    }

    return CLI_DONE;
}

// The files of --out.
static int study_write(const cli_args *args, const pl_study *s)
{
    int cursor = 0, status = CLI_DONE;
    for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
        if (strcmp(cli_extension(path), ".csv") == 0) {
            pl_error err = {0};
            status = pl_study_write_csv(s, path, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
            if (!status) {
                cli_say(args, "  wrote %s\n", path);
            }
        } else {
            status = study_plot(args, s, path);
        }
    }

    return status;
}

// Runs the study, prints and writes it; an interrupted one shows the points solved.
static int study_solve(const cli_args *args, const pl_robot_document *document, const study_args *given,
                       pl_findings *findings)
{
    pl_study_def def = {.document = document,
                        .load = {.load = {.mesher = pl_meshing_mesher()}},
                        .axis = given->axis,
                        .axis_count = given->axis_count,
                        .set = given->set,
                        .set_count = given->set_count,
                        .marker = cli_value(args, "marker"),
                        .stiffness = cli_flag(args, "stiffness"),
                        .blocked = cli_flag(args, "blocked"),
                        .beyond_range = cli_flag(args, "beyond-range"),
                        .store = cli_value(args, "store"),
                        .progress = cli_progress_search};

    const char *axis = cli_value(args, "blocked-axis");

    if (axis && (strlen(axis) != 1 || !strchr("xyz", axis[0]))) {
        cli_error(args, "--blocked-axis %s: must be x, y or z", axis);
        return CLI_EXIT_USAGE;
    }

    def.blocked = def.blocked || axis;
    if (def.marker && !def.stiffness && !def.blocked) {
        cli_error(args, "--marker %s is for --stiffness and --blocked", def.marker);
        return CLI_EXIT_USAGE;
    }
    def.blocked_axis = axis ? axis[0] - 'x' + 1 : 0;

    def.load.load.no_cache = cli_flag(args, "no-cache");
    def.load.displacement = cli_flag(args, "displacement");
    if (!cli_number(args, "size", &def.load.load.size) || !cli_whole(args, "order", &def.load.load.order) ||
        !cli_whole(args, "jobs", &def.worker_count) || !cli_limit(args, "limit-each", &def.load.time_limit)) {
        return CLI_EXIT_USAGE;
    }

    pl_study study;
    pl_error err = {0};
    cli_stage("solving", false);
    const pl_status ran = pl_study_run(&def, &study, findings, &err);
    cli_stage(NULL, false);
    cli_findings(findings);

    // a defect of the robot file was printed as a finding: no second message for it
    if (ran != PL_OK && ran != PL_INTERRUPTED) {
        return pl_findings_defect_count(findings) > 0 ? cli_robot_refused(args, ran, findings, &err)
                                                      : cli_fail(args, &err);
    }

    study_print(args, &study);
    study_print_error(args, &study);
    cli_say(args, "  %d of %d points solved%s", study.solved, study.count, study.kept ? "" : "\n");
    if (study.kept) {
        cli_say(args, ", %d of them read from %s\n", study.kept, def.store);
    }

    int status = study_write(args, &study);
    status = status ? status : study_json(args, &study, findings);
    if (!status && ran == PL_INTERRUPTED) {
        cli_error(args, "%s after %d of %d points", cli_stop_reason(), study.done, study.count);
        cli_outcome_advice("interrupted");
        if (def.store) {
            cli_advice("the same command goes on from there");
        }
        status = CLI_EXIT_UNSOLVED;
    } else if (!status && study.solved < study.count) {
        cli_error(args, "%d of %d points could not be solved", study.count - study.solved, study.count);
        int first = 0;
        while (first + 1 < study.count && study.outcome[first] &&
               strcmp(study.outcome[first], "solved") == 0) {
            ++first;
        }
        if (study_is_outside(&study)) {
            cli_advice("add --beyond-range to try values outside of a command's range");
        } else {
            cli_outcome_advice(study.outcome[first] ? study.outcome[first] : "");
        }
        status = CLI_EXIT_UNSOLVED;
    }

    pl_study_clear(&study);

    return status;
}

// The verb from its options to its exit status.
static int study_run(cli_args *args)
{
    study_args given = {0};
    char *path = NULL;
    pl_robot_document *document = NULL;
    pl_findings *findings = NULL;
    int status = cli_setup(args);

    status = status ? status : study_read(args, &given);
    status = status ? status : cli_document_open(args, args->plain[0], &path, &document, &findings);
    status = status ? status : cli_check_outputs(args, study_extensions, path, NULL);
    status = status ? status : study_solve(args, document, &given, findings);

    for (int i = 0; i < given.axis_count; ++i) {
        pl_study_axis_clear(&given.axis[i]);
    }
    for (int i = 0; i < given.set_count; ++i) {
        free((char *)given.set[i].path);
    }
    pl_robot_document_destroy(document);
    pl_findings_destroy(findings);
    free(path);

    return status;
}

const cli_verb cli_verb_study = {
    .name = "study",
    .summary = "tables and plots over parameters of the design, the materials and the loads",
    .usage = "ROBOT --vary NAME=FROM:TO:COUNT [--vary ...] [options]",
    .about =
        "Solves every combination of what --vary names: commands of the robot (air=0kPa:30kPa:4) and values\n"
        "of its file by their path (design.wall=1:2:5, materials.silicone.c10=0.1,0.2,\n"
        "materials.silicone=ecoflex_00_30,dragon_skin_20). Each variant is meshed and solved on a core of "
        "its "
        "own.\n"
        "Positions, efforts, and on request stiffness and blocked force of a marker come out as a table\n"
        "and as plots over the last axis.",
    .examples =
        "  pliant study finger --vary design.wall=1:2:5 --set air=20kPa --out walls.csv --out walls.svg\n"
        "  pliant study finger --vary materials.silicone.c10=0.08,0.12 --vary air=0kPa:30kPa:4 --blocked\n"
        "  pliant study finger --vary design.wall=1.5:2.5:3 --set air=20kPa --stiffness --plot "
        "tip.stiffness_z "
        "--out k.png\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = study_run,
    .stopping = "stopping, keeping the points solved so far",
};
