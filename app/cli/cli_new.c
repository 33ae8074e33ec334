// pliant new: writes a ready, commented robot: a parametric design, or a first guess for the user's own part.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"
#include "cli_guess.h"

static const cli_option options[] = {
    {"list", 0, NULL, "list the designs and their parameters", NULL},
    {"param", 0, "NAME=VALUE", "a parameter of the design (length=80); may be repeated", NULL},
    {"from", 0, "FILE",
     "start from your own part: .stl .obj .step .stp, or a mesh .msh .vtu .vtk .unv .inp .node", NULL},
    {"material", 0, "NAME",
     "with --from: the soft material, from `pliant materials` (default dragon_skin_20)", NULL},
    {"unit", 0, "UNIT",
     "with --from: the unit of the file: mm (default), cm, m, in; a STEP file states its own", "mm cm m in"},
    {"repair", 0, NULL,
     "with --from: repair an .stl or .obj (duplicate and degenerate triangles, mixed normals, small holes)\n"
     "and reduce more than 100000 triangles; reports what was changed",
     NULL},
    {"holes", 0, "LENGTH", "with --repair: the largest hole to close (default: 5 % of the part)", NULL,
     CLI_NUMBER(PL_DIM_LENGTH, 0, 1e6)},
    {"force", 0, NULL, "replace an existing robot.yaml", NULL},
    CLI_JSON,
    {0},
};

static json_t *new_list_json(void)
{
    json_t *root = cli_json_head(0, NULL), *all = json_object();
    for (int i = 0; i < pl_design_count(); ++i) {
        const pl_design *d = pl_design_at(i);
        json_t *one = json_object(), *parameters = json_object();

        for (int k = 0; k < d->parameter_count; ++k) {
            const pl_design_parameter *p = &d->parameter[k];
            json_t *j = json_object();
            json_object_set_new(j, "default", cli_json_number(p->value));
            json_object_set_new(j, "range", cli_json_numbers((double[]){p->low, p->high}, 2));
            json_object_set_new(j, "unit", json_string(p->unit));
            json_object_set_new(j, "help", json_string(p->help));
            json_object_set_new(parameters, p->name, j);
        }

        json_object_set_new(one, "summary", json_string(d->summary));
        json_object_set_new(one, "test_body", json_boolean(d->test_body));
        json_object_set_new(one, "parameters", parameters);
        json_object_set_new(all, d->kind, one);
    }

    for (int i = 0; i < pl_reduced_design_count(); ++i) {
        const pl_reduced_design *d = pl_reduced_design_at(i);
        json_t *one = json_object();
        json_object_set_new(one, "summary", json_string(d->summary));
        json_object_set_new(one, "parameters", json_object());
        json_object_set_new(all, d->kind, one);
    }

    json_object_set_new(root, "designs", all);
    return root;
}

// Designs with their parameters; test bodies come last in the table.
static int new_list(const cli_args *args)
{
    for (int i = 0; i < pl_design_count(); ++i) {
        const pl_design *d = pl_design_at(i);
        if (d->test_body && !pl_design_at(i - 1)->test_body) {
            cli_say(args, "\nTest bodies, for measurements and closed forms:\n");
        }
        cli_say(args, "%s%s: %s\n", i ? "\n" : "", d->kind, d->summary);
        cli_table table = {0};

        for (int k = 0; k < d->parameter_count; ++k) {
            const pl_design_parameter *p = &d->parameter[k];
            cli_row(&table, "  %s\t%g %s\t(%g to %g)\t%s", p->name, p->value, p->unit, p->low, p->high,
                    p->help);
        }

        cli_table_print(args, &table);
    }

    for (int i = 0; i < pl_reduced_design_count(); ++i) {
        cli_say(args, "\n%s: %s\n", pl_reduced_design_at(i)->kind, pl_reduced_design_at(i)->summary);
    }
    return cli_json_write(args, cli_value(args, "json") ? new_list_json() : NULL);
}

// Suggests the nearest design and lists all.
static int new_unknown(const cli_args *args, const char *kind)
{
    const char *known[64];
    char list[600] = "";
    int count = 0;

    for (; count < pl_design_count() && count < 64; ++count) {
        known[count] = pl_design_at(count)->kind;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "", known[count]);
    }

    for (int i = 0; i < pl_reduced_design_count() && count < 64; ++i, ++count) {
        known[count] = pl_reduced_design_at(i)->kind;
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %s", known[count]);
    }

    const char *near = cli_nearest(kind, known, count);
    cli_error(args, "there is no design '%s'%s%s%s", kind, near ? "; did you mean '" : "", near ? near : "",
              near ? "'?" : "");
    cli_advice("designs are %s; `pliant new --list` shows them", list);

    return CLI_EXIT_USAGE;
}

// NULL after a message that names the nearest one.
static const pl_design_parameter *new_parameter(const cli_args *args, const pl_design *d, const char *text,
                                                size_t length)
{
    const char *known[64];
    char list[800] = "", name[100];

    snprintf(name, sizeof name, "%.*s", (int)(length < 99 ? length : 99), text);
    int count = 0;
    for (; count < d->parameter_count && count < 64; ++count) {
        known[count] = d->parameter[count].name;
        if (strcmp(known[count], name) == 0) {
            return &d->parameter[count];
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "", known[count]);
    }

    const char *near = cli_nearest(name, known, count);
    cli_error(args, "--param: the design %s has no parameter '%s'%s%s%s", d->kind, name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    cli_advice("its parameters are %s", list);

    return NULL;
}

// One --param: checked against the design's limits, then set in the document.
static int new_apply(const cli_args *args, const pl_design *d, const char *text, pl_robot_document *document)
{
    const size_t length = strcspn(text, "=");
    if (!text[length] || length == 0 || !text[length + 1]) {
        cli_error(args, "--param %s: expected NAME=VALUE, such as length=80", text);
        return CLI_EXIT_USAGE;
    }

    const pl_design_parameter *p = new_parameter(args, d, text, length);
    if (!p) {
        return CLI_EXIT_USAGE;
    }

    pl_error err = {0};
    double value = 0;
    const pl_dimension dimension = strcmp(p->unit, "mm") == 0 ? PL_DIM_LENGTH : PL_DIM_NUMBER;
    if (pl_quantity_parse(text + length + 1, dimension, &value, &err) != PL_OK) {
        cli_error(args, "--param %s: %s", text, err.text);
        return CLI_EXIT_USAGE;
    }

    if (!(value >= p->low && value <= p->high) || (p->whole && value != (double)(long)value)) {
        cli_error(args, "--param %s: expected %s between %g and %g %s", text,
                  p->whole ? "a whole number" : "a value", p->low, p->high, p->unit);
        return CLI_EXIT_USAGE;
    }

    char key[100], number[40];
    snprintf(key, sizeof key, "design.%.60s", p->name);
    snprintf(number, sizeof number, "%.10g", value);

    return pl_robot_document_set(document, key, number, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The robot file of a design with the parameters that are given; on the heap.
static int new_text(const cli_args *args, const pl_design *d, char **text)
{
    pl_error err = {0};
    pl_robot_document *document = NULL;
    const char *yaml = d->robot_yaml;
    int status = CLI_DONE, cursor = 0;

    if (pl_robot_document_parse(yaml, strlen(yaml), d->kind, &document, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    for (const char *given; status == CLI_DONE && (given = cli_next(args, "param", &cursor));) {
        status = new_apply(args, d, given, document);
    }
    if (status == CLI_DONE && pl_robot_document_text(document, text, NULL, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    pl_robot_document_destroy(document);

    return status;
}

// Makes the folder; a robot that exists is not replaced without --force.
static int new_folder(const cli_args *args, const char *folder, char **robot_path)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        cli_error(args, "the folder %s cannot be created: %s", folder, strerror(errno));
        return CLI_EXIT_SYSTEM;
    }

    struct stat s;
    if (stat(folder, &s) != 0 || !S_ISDIR(s.st_mode)) {
        cli_error(args, "%s exists and is not a folder", folder);
        return CLI_EXIT_USAGE;
    }

    *robot_path = cli_join(folder, "robot.yaml");
    if (!*robot_path) {
        return cli_no_memory(args);
    }

    if (cli_exists(*robot_path) && !cli_flag(args, "force")) {
        cli_error(args, "%s exists and is not overwritten", *robot_path);
        cli_advice("choose another folder, or add --force");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

static json_t *new_json(const char *path)
{
    json_t *root = cli_json_head(0, NULL);
    json_object_set_new(root, "file", json_string(path));
    return root;
}

// The number at `key`, where $index of a repeated entry is 1; false: there is none.
static bool new_number(pl_robot_document *document, const char *key, const char *index,
                       pl_dimension dimension, double *value)
{
    const char *text = pl_robot_document_value(document, key), *at;
    char first[200] = "";

    while (text && index && (at = strstr(text, index)) && strlen(first) + strlen(text) < sizeof first - 2) {
        strncat(first, text, (size_t)(at - text));
        strcat(first, "1");
        text = at + strlen(index);
    }

    if (first[0]) {
        strncat(first, text, sizeof first - strlen(first) - 1);
        if (pl_robot_document_set(document, key, first, NULL) != PL_OK) {
            return false;
        }
    }

    return pl_robot_document_evaluate(document, key, dimension, value, NULL) == PL_OK;
}

// The value at that share of the distance from rest to the farther end of a range; for lengths and volumes,
// whose rest the file does not have, between the ends.
static double new_value(pl_drive drive, const double range[2], double share)
{
    if (drive == PL_DRIVE_LENGTH || drive == PL_DRIVE_VOLUME) {
        return range[0] + 0.5 * share * (range[1] - range[0]);
    }
    const double rest = pl_drive_dimension(drive) == PL_DIM_NUMBER ? 1 : 0;
    const bool low = fabs(range[0] - rest) >= fabs(range[1] - rest);
    return (1 - share) * rest + share * range[low ? 0 : 1];
}

// The list that the first actuator stands in: of the robot, of its first body that has any, or of a reduced
// model. Returns the name of that body; "": none.
static const char *new_first_actuators(const pl_robot_document *document, char *list, size_t size)
{
    static const char *const lists[] = {"actuators", "model.tendons", "model.chambers"};
    char key[80];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        snprintf(key, sizeof key, "%s.0.name", lists[i]);
        if (pl_robot_document_value(document, key)) {
            snprintf(list, size, "%s", lists[i]);
            return "";
        }
    }

    const char *body = NULL;
    for (int b = 0; snprintf(key, sizeof key, "bodies.%d.name", b),
             (body = pl_robot_document_value(document, key)) != NULL;
         ++b) {
        snprintf(list, size, "bodies.%d.actuators", b);
        snprintf(key, sizeof key, "%s.0.name", list);
        if (pl_robot_document_value(document, key)) {
            return body;
        }
    }
    snprintf(list, size, "actuators");

    return "";
}

// A first command to try: the first command of the robot, at a share of the range of
// the first actuator.
static void new_try(const char *yaml, double share, char *text, size_t size)
{
    pl_robot_document *document = NULL;
    text[0] = 0;
    if (pl_robot_document_parse(yaml, strlen(yaml), NULL, &document, NULL) != PL_OK) {
        return;
    }

    // the first actuator may be the first of a repeated entry: its index is then 1
    char list[40], entry[80], key[96], name[160] = "", repeated[40] = "";
    const char *body = new_first_actuators(document, list, sizeof list);
    snprintf(key, sizeof key, "%s.0.repeat.index", list);
    const char *index = pl_robot_document_value(document, key);
    snprintf(entry, sizeof entry, "%s.0%s", list, index ? ".repeat.each.0" : "");
    snprintf(repeated, sizeof repeated, "$%.30s", index ? index : "");
    snprintf(key, sizeof key, "%s.name", entry);
    const char *actuator = pl_robot_document_value(document, key);
    const char *mark = actuator && index ? strstr(actuator, repeated) : NULL;
    snprintf(name, sizeof name, "%.50s%s%.*s%s", body, body[0] ? "." : "", mark ? (int)(mark - actuator) : 50,
             actuator ? actuator : "", mark ? "1" : "");
    const char *command = strstr(yaml, "\ncommands:\n  ");
    if (command) {
        command += strlen("\ncommands:\n  ");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(command, ":\n"), command);
    }

    snprintf(key, sizeof key, "%s.drive", entry);
    const char *drive = pl_robot_document_value(document, key);
    for (int d = 0; name[0] && drive && d < PL_DRIVE_COUNT; ++d) {
        if (strcmp(drive, pl_drive_name((pl_drive)d)) != 0) {
            continue;
        }
        const pl_dimension dimension = pl_drive_dimension((pl_drive)d);
        double range[2];
        bool known = true;
        for (int i = 0; known && i < 2; ++i) {
            snprintf(key, sizeof key, "%s.range.%d", entry, i);
            known = new_number(document, key, index ? repeated : NULL, dimension, &range[i]);
        }

        if (known) {
            snprintf(text, size, " --set %s=%.4g%s", name,
                     new_value((pl_drive)d, range, share) / pl_drive_scale((pl_drive)d),
                     dimension == PL_DIM_NUMBER ? "" : pl_drive_unit((pl_drive)d));
        }
        break;
    }

    pl_robot_document_destroy(document);
}

// What a newcomer would do next.
static void new_next(const cli_args *args, const char *folder, const char *yaml)
{
    char try[120];
    new_try(yaml, 0.5, try, sizeof try);
    cli_say(args, "next:\n  pliant info %s\n  pliant fk %s%s --out %s/shape.png\n", folder, folder, try,
            folder);
}

// The same for a part: little at first, as the guessed range may be too much for it.
static void new_next_part(const cli_args *args, const char *folder, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    pl_error err = {0};
    char try[120];
    if (pl_file_read(path, &text, &length, &err) == PL_OK) {
        new_try(text, 0.2, try, sizeof try);
        cli_say(args, try[0] ? "  pliant fk %s%s --out %s/shape.png\n" : "", folder, try, folder);
    }
    pl_file_free(text);
}

// A robot without a mesh: written as it is, its numbers stand in the file.
static int new_reduced(const cli_args *args, const pl_reduced_design *d, const char *folder)
{
    char *path = NULL;
    int status = cli_flag(args, "param") ? CLI_EXIT_USAGE : CLI_DONE;

    if (status) {
        cli_error(args, "--param: the design %s has no parameters; change its numbers in the file", d->kind);
    }
    status = status ? status : new_folder(args, folder, &path);
    pl_error err = {0};
    if (status == CLI_DONE && pl_file_write(path, d->robot_yaml, strlen(d->robot_yaml), &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    if (status == CLI_DONE) {
        cli_say(args, "wrote %s: %s\n", path, d->summary);
        new_next(args, folder, d->robot_yaml);
        status = cli_json_write(args, cli_value(args, "json") ? new_json(path) : NULL);
    }

    free(path);

    return status;
}

// The file is made before the folder, so that a mistake leaves nothing behind.
static int new_design(const cli_args *args, const char *kind, const char *folder)
{
    const pl_design *d = pl_design_find(kind);
    for (int i = 0; !d && i < pl_reduced_design_count(); ++i) {
        if (strcmp(pl_reduced_design_at(i)->kind, kind) == 0) {
            return new_reduced(args, pl_reduced_design_at(i), folder);
        }
    }

    if (!d) {
        return new_unknown(args, kind);
    }

    char *yaml = NULL, *path = NULL;
    int status = new_text(args, d, &yaml);
    status = status ? status : new_folder(args, folder, &path);
    if (status == CLI_DONE) {
        pl_error err = {0};
        if (pl_file_write(path, yaml, strlen(yaml), &err) != PL_OK) {
            status = cli_fail(args, &err);
        }
    }

    if (status == CLI_DONE) {
        cli_say(args, "wrote %s: %s\n", path, d->summary);
        new_next(args, folder, yaml);
        status = cli_json_write(args, cli_value(args, "json") ? new_json(path) : NULL);
    }

    pl_file_free(yaml);
    free(path);

    return status;
}

static int new_material_unknown(const cli_args *args, const char *name)
{
    const char *known[128];
    int count = 0;

    for (; count < pl_material_library_count() && count < 128; ++count) {
        known[count] = pl_material_library_at(count)->name;
    }

    const char *near = cli_nearest(name, known, count);
    cli_error(args, "--material: the library has no '%s'%s%s%s", name, near ? "; did you mean '" : "",
              near ? near : "", near ? "'?" : "");
    cli_advice("`pliant materials` lists it");

    return CLI_EXIT_USAGE;
}

// A part of the user's own.
static int new_from(const cli_args *args, const char *part, const char *folder)
{
    char *path = NULL;
    int status = cli_flag(args, "param") ? CLI_EXIT_USAGE : CLI_DONE;

    if (status) {
        cli_error(args, "--param is only for a design, not for --from");
    }
    if (status == CLI_DONE && !cli_exists(part)) {
        cli_error(args, "--from %s: %s", part, strerror(ENOENT));
        status = CLI_EXIT_SYSTEM;
    }

    const char *material = cli_value(args, "material");
    if (status == CLI_DONE && material && !pl_material_library_find(material)) {
        status = new_material_unknown(args, material);
    }

    const bool mine = !cli_exists(folder);
    status = status ? status : new_folder(args, folder, &path);
    status = status ? status : cli_guess_write(args, part, folder, path);
    if (status && mine) {
        rmdir(folder); // made above; stays when anything is in it
    }

    if (status == CLI_DONE) {
        cli_say(args,
                "wrote %s\nnext: check what was guessed (see the comments in the file), then\n  pliant "
                "doctor %s\n",
                path, folder);
        new_next_part(args, folder, path);
        status = cli_json_write(args, cli_value(args, "json") ? new_json(path) : NULL);
    }

    free(path);

    return status;
}

static int new_run(cli_args *args)
{
    const char *from = cli_value(args, "from");
    const int status = cli_check_outputs(args, NULL, NULL, from);

    if (status) {
        return status;
    }
    if (cli_flag(args, "list")) {
        return new_list(args);
    }
    if (args->plain_count == 0 && args->given_count == 0 && cli_ask_possible()) {
        return cli_ask_new(args, new_run);
    }

    // what describes a part means nothing for a design
    static const char *const of_parts[] = {"material", "unit", "repair", "holes"};
    for (int i = 0; !from && i < (int)(sizeof of_parts / sizeof *of_parts); ++i) {
        if (cli_value(args, of_parts[i]) || cli_flag(args, of_parts[i])) {
            cli_error(args, "--%s is only for --from, not for a design", of_parts[i]);
            return CLI_EXIT_USAGE;
        }
    }

    if (args->plain_count != (from ? 1 : 2)) {
        cli_error(args, from ? "--from FILE needs one folder to write to" : "expected a design and a folder");
        cli_advice("usage: pliant new KIND DIR, or pliant new --from FILE DIR; `pliant new --list` shows the "
                   "designs");
        return CLI_EXIT_USAGE;
    }

    return from ? new_from(args, from, args->plain[0]) : new_design(args, args->plain[0], args->plain[1]);
}

const cli_verb cli_verb_new = {
    .name = "new",
    .summary = "write a commented robot file: a design, or a first version for your own part",
    .usage = "KIND DIR [--param NAME=VALUE ...] | --from FILE DIR | --list",
    .about = "Creates the folder DIR and writes robot.yaml into it. With --from the part is copied\n"
             "there; cavity, base and tip are guessed, and the file says so in comments. An existing\n"
             "robot.yaml is not replaced without --force. Without arguments, on a terminal, it asks.",
    .examples = "  pliant new                            # asks\n"
                "  pliant new --list\n"
                "  pliant new bending_finger finger\n"
                "  pliant new bending_finger long --param length=140 --param modules=12\n"
                "  pliant new --from gripper.stl gripper --unit mm --material ecoflex_00_50\n"
                "  pliant new --from scan.stl scan --repair\n",
    .option = options,
    .least = 0,
    .most = 2,
    .run = new_run,
    .stopping = "stopping",
};
