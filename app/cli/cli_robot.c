// Loading a robot with a mesh, and its commands on the command line.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"

// Indented by level; the bar is wiped first.
static void robot_log(void *user, int level, const char *text)
{
    (void)user;
    char line[1100];
    cli_progress_done();
    snprintf(line, sizeof line, "%*s%s\n", 2 * level, "", text);
    cli_text_tame(line);
    fputs(line, stderr);
}

int cli_setup(const cli_args *args)
{
    int threads = 0;
    if (!cli_whole(args, "threads", &threads)) {
        return CLI_EXIT_USAGE;
    }
    pl_threads_set(threads);
    double limit = 0;
    if (!cli_limit(args, "time-limit", &limit)) {
        return CLI_EXIT_USAGE;
    }
    if (limit > 0) {
        cli_time_limit(limit);
    }

    const int level = cli_flag_count(args, "verbose");
    if (level > 0) {
        cli_stage_talk();
        pl_log_set(robot_log, NULL, level > 2 ? 2 : level);
    }

    return CLI_DONE;
}

char *cli_robot_path(const char *given)
{
    struct stat s;
    if (stat(given, &s) == 0 && S_ISDIR(s.st_mode)) {
        return cli_join(given, "robot.yaml");
    }
    char *copy = malloc(strlen(given) + 1);
    return copy ? strcpy(copy, given) : NULL;
}

// A robot file from standard input; the files it names are found from the folder the program runs in.
#define ROBOT_INPUT_MOST ((size_t)64 << 20) // bytes: a robot file is text

// Its text, kept for the verbs that open the robot more than once.
static struct {
    char *text;
    size_t length;
    bool read;
} robot_input;

void cli_input_clear(void)
{
    free(robot_input.text);
    robot_input.text = NULL;
    robot_input.length = 0;
    robot_input.read = false;
}

#define ROBOT_INPUT_HANDED "PLIANT_ROBOT_INPUT" // number of an open file: the text, for a process of our own

bool cli_input_handed(void)
{
    return getenv(ROBOT_INPUT_HANDED) != NULL;
}

void cli_input_hand(FILE *copy)
{
    if (copy) {
        dup2(fileno(copy), CLI_INPUT_FD);
        char number[16];
        snprintf(number, sizeof number, "%d", CLI_INPUT_FD);
        setenv(ROBOT_INPUT_HANDED, number, 1);
    }
}

FILE *cli_input_copy(const char *robot)
{
    FILE *copy = robot_input.read && strcmp(robot, "-") == 0 ? tmpfile() : NULL;
    if (copy && (fwrite(robot_input.text, 1, robot_input.length, copy) != robot_input.length ||
                 fflush(copy) != 0 || fseek(copy, 0, SEEK_SET) != 0)) {
        fclose(copy);
        copy = NULL;
    }

    return copy;
}

static pl_status robot_read_input(pl_robot_document **document, pl_error *err)
{
    if (robot_input.read) {
        return pl_robot_document_parse(robot_input.text, robot_input.length, "standard input", document, err);
    }

    // a worker of `sample` and the plant of `run` get the text from the process that has read it
    const char *handed = getenv(ROBOT_INPUT_HANDED);
    FILE *from = handed ? fdopen(atoi(handed), "r") : stdin;
    if (!from) {
        *err = (pl_error){.status = PL_BAD_FILE, .text = "standard input: cannot be read"};
        return err->status;
    }

    // doubled, so that the number of copies stays small
    size_t length = 0, capacity = 1 << 16;
    char *text = malloc(capacity);

    for (size_t got = 1; text && got > 0 && length < ROBOT_INPUT_MOST;) {
        got = fread(text + length, 1, capacity - length, from);
        length += got;

        if (length == capacity) {
            char *longer = realloc(text, 2 * capacity);
            if (!longer) {
                free(text);
            }
            text = longer;
            capacity *= 2;
        }
    }

    if (!text) {
        *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the robot file"};
    } else if (ferror(from) || length >= ROBOT_INPUT_MOST) {
        *err = (pl_error){.status = PL_BAD_FILE};
        snprintf(err->text, sizeof err->text, "standard input: %s",
                 ferror(from) ? "reading failed" : "more than 64 MB, which is no robot file");
        free(text);
    } else {
        robot_input.text = text;
        robot_input.length = length;
        robot_input.read = true;
        err->status = pl_robot_document_parse(text, length, "standard input", document, err);
    }

    if (from != stdin) {
        fclose(from);
    }

    return err->status;
}

int cli_document_open(const cli_args *args, const char *given, char **path, pl_robot_document **document,
                      pl_findings **findings)
{
    if (*document) {
        return CLI_DONE;
    }

    pl_error err = {0};
    *path = cli_robot_path(given);
    *findings = pl_findings_create();
    if (!*path || !*findings) {
        return cli_no_memory(args);
    }

    const pl_status status = strcmp(given, "-") == 0
                                 ? robot_read_input(document, &err)
                                 : pl_robot_document_read(*path, document, *findings, &err);
    if (status == PL_OK) {
        return CLI_DONE;
    }
    cli_findings(*findings);

    return cli_robot_refused(args, status, *findings, &err);
}

// Leaves the findings to the caller.
pl_status cli_robot_build(const cli_args *args, bool fill, cli_robot *r, pl_error *err)
{
    pl_load_options options = {.mesher = pl_meshing_mesher(), .progress = &cli_progress, .fill = fill};
    options.no_cache = cli_flag(args, "no-cache");
    *err = (pl_error){.status = PL_BAD_INPUT};
    if (!cli_number(args, "size", &options.size) || !cli_whole(args, "order", &options.order)) {
        return PL_BAD_INPUT;
    }

    cli_stage("loading", true);
    const pl_status status = pl_robot_from_document(r->document, &options, &r->robot, r->findings, err);
    cli_stage(NULL, false);

    return status;
}

int cli_robot_refused(const cli_args *args, pl_status status, const pl_findings *findings, pl_error *err)
{
    // `err` repeats the first defect, which has been printed with its line; a wrong option was reported when
    // it was read
    if (err->text[0] == 0 ||
        ((status == PL_BAD_INPUT || status == PL_BAD_FILE) && pl_findings_defect_count(findings) > 0)) {
        return status == PL_NO_MEMORY  ? cli_no_memory(args)
               : status == PL_BAD_FILE ? CLI_EXIT_SYSTEM
                                       : CLI_EXIT_USAGE;
    }

    err->status = status;
    return cli_fail(args, err);
}

int cli_robot_open(const cli_args *args, const char *given, bool fill, cli_robot *r)
{
    int opened = cli_document_open(args, given, &r->path, &r->document, &r->findings);
    opened = opened ? opened : cli_commands_check(args, r->document);
    if (opened) {
        return opened;
    }

    pl_error err = {0};
    const pl_status status = cli_robot_build(args, fill, r, &err);
    cli_findings(r->findings);

    return status == PL_OK ? CLI_DONE : cli_robot_refused(args, status, r->findings, &err);
}

void cli_robot_close(cli_robot *r)
{
    pl_robot_destroy(r->robot);
    pl_robot_document_destroy(r->document);
    pl_findings_destroy(r->findings);
    free(r->path);
    *r = (cli_robot){0};
}

// ---- commands
int cli_command_split(const cli_args *args, cli_commands commands, const char *option, const char *text,
                      const char **value)
{
    const size_t length = strcspn(text, "=");
    char name[200], list[600] = "";

    if (!text[length] || length == 0 || !text[length + 1] || length >= sizeof name) {
        cli_error(args, "--%s %s: expected NAME=VALUE, such as air=20kPa", option, text);
        return -1;
    }

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *value = text + length + 1;

    // not found: which there are
    const char *known[64];
    int kept = 0;
    for (int i = 0; i < commands.count; ++i) {
        const char *word = commands.info[i].name;
        if (strcmp(word, name) == 0) {
            return i;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", word);
        if (kept < 64) {
            known[kept++] = word;
        }
    }

    const char *near = cli_nearest(name, known, kept);
    cli_error(args, "--%s: the robot has no command '%s'%s%s%s", option, name, near ? "; did you mean '" : "",
              near ? near : "", near ? "'?" : "");
    cli_advice(commands.count ? "its commands are %s" : "it has no commands: give it actuators%s", list);

    return -1;
}

int cli_command_check(const cli_args *args, const pl_command_info *c, double value)
{
    // a value copied from the range in another unit may differ in the last bit
    const double slack = 1e-12 * (fabs(c->range[0]) + fabs(c->range[1]));
    if (!c->has_range || cli_flag(args, "beyond-range") ||
        (value >= c->range[0] - slack && value <= c->range[1] + slack)) {
        return CLI_DONE;
    }

    const double scale = pl_drive_scale(c->drive);
    const char *unit = pl_drive_unit(c->drive);
    cli_error(args, "%s is %g %s, outside its range of %g to %g %s", c->name, value / scale, unit,
              c->range[0] / scale, c->range[1] / scale, unit);
    cli_advice("add --beyond-range to try it anyway");

    return CLI_EXIT_USAGE;
}

// An unknown command is reported before the robot is meshed, which may take long.
int cli_commands_check(const cli_args *args, const pl_robot_document *document)
{
    char *names = cli_value(args, "set") ? pl_robot_document_commands(document) : NULL;
    pl_command_info known[64];
    cli_commands commands = {.info = known};

    for (char *rest = names, *name; rest && commands.count < 64 && (name = strtok_r(rest, " ", &rest));) {
        known[commands.count++] = (pl_command_info){.name = name};
    }

    int cursor = 0, status = CLI_DONE;
    for (const char *text, *value;
         names && commands.count < 64 && !status && (text = cli_next(args, "set", &cursor));) {
        status = cli_command_split(args, commands, "set", text, &value) < 0 ? CLI_EXIT_USAGE : CLI_DONE;
    }

    pl_file_free(names);

    return status;
}

// Commands without --set are idle.
int cli_commands_read(const cli_args *args, cli_commands commands, double *command)
{
    for (int i = 0; i < commands.count; ++i) {
        command[i] = NAN;
    }

    int cursor = 0;
    for (const char *text, *value; (text = cli_next(args, "set", &cursor));) {
        const int i = cli_command_split(args, commands, "set", text, &value);
        pl_error err = {0};
        if (i < 0) {
            return CLI_EXIT_USAGE;
        }
        if (pl_quantity_parse(value, pl_drive_dimension(commands.info[i].drive), &command[i], &err) !=
            PL_OK) {
            cli_error(args, "--set %s: %s", text, err.text);
            return CLI_EXIT_USAGE;
        }

        const int status = cli_command_check(args, &commands.info[i], command[i]);
        if (status) {
            return status;
        }
    }

    return CLI_DONE;
}

void cli_commands_text(cli_commands commands, const double *command, char *buffer, size_t size)
{
    buffer[0] = 0;
    for (int i = 0; i < commands.count; ++i) {
        if (isnan(command[i])) {
            continue;
        }
        const pl_command_info *c = &commands.info[i];
        const char *unit = pl_drive_unit(c->drive);
        const size_t at = strlen(buffer);
        // what rounding has left of a zero is a zero
        const bool zero = fabs(command[i]) < 1e-9 * fabs(c->span[1] - c->span[0]);
        snprintf(buffer + at, size - at, "%s%s = %.6g%s%s", at ? ", " : "", c->name,
                 zero ? 0 : command[i] / pl_drive_scale(c->drive), strcmp(unit, "1") ? " " : "",
                 strcmp(unit, "1") ? unit : "");
    }

    if (!buffer[0]) {
        snprintf(buffer, size, "no command set");
    }
}
