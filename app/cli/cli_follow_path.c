// The path of `follow`: points of a table or of a built-in kind, in any plane, resampled where asked.
#include <stdlib.h>
#include <string.h>
#include "cli_follow.h"

// The plane of a built-in path: --plane as the name of two axes (xy: the first axis to the right, the second
// upward) or as two vectors. Without the option `def` keeps its own plane.
static int follow_plane(const cli_args *args, pl_path_def *def)
{
    static const struct {
        const char *name;
        double x[3], y[3];
    } known[] = {{"xy", {1, 0, 0}, {0, 1, 0}}, {"yz", {0, 1, 0}, {0, 0, 1}}, {"zx", {0, 0, 1}, {1, 0, 0}},
                 {"xz", {1, 0, 0}, {0, 0, 1}}, {"yx", {0, 1, 0}, {1, 0, 0}}, {"zy", {0, 0, 1}, {0, 1, 0}}};
    const char *text = cli_value(args, "plane");

    for (int i = 0; text && i < 6; ++i) {
        if (strcmp(text, known[i].name) == 0) {
            memcpy(def->x, known[i].x, sizeof def->x);
            memcpy(def->y, known[i].y, sizeof def->y);
            return CLI_DONE;
        }
    }

    // not a name: two vectors separated by a colon
    const char *colon = text ? strchr(text, ':') : NULL;
    if (!text) {
        return CLI_DONE;
    }
    if (!colon) {
        cli_error(args, "--plane %s: expected xy, yz, zx or two vectors X,Y,Z:X,Y,Z", text);
        return CLI_EXIT_USAGE;
    }

    char first[200];
    snprintf(first, sizeof first, "%.*s", (int)(colon - text), text);

    return cli_triple(args, "plane", first, PL_DIM_NUMBER, def->x) &&
                   cli_triple(args, "plane", colon + 1, PL_DIM_NUMBER, def->y)
               ? CLI_DONE
               : CLI_EXIT_USAGE;
}

// --span: one to three sizes of the path, mm; those not given keep their defaults.
static int follow_span(const cli_args *args, pl_path_def *def)
{
    const char *text = cli_value(args, "span");
    char copy[200], *part = copy;

    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (int i = 0; text && i < 4 && part; ++i) {
        char *comma = strchr(part, ',');

        pl_error err = {0};
        if (comma) {
            *comma = 0;
        }

        // a fourth length is an error, not ignored
        if (i == 3 || pl_quantity_parse(part, PL_DIM_LENGTH, &def->size[i], &err) != PL_OK ||
            !(def->size[i] > 0)) {
            cli_error(args, "--span %s: expected one to three lengths greater than 0%s%s", text,
                      err.text[0] ? ": " : "", err.text);
            return CLI_EXIT_USAGE;
        }

        part = comma ? comma + 1 : NULL;
    }

    return CLI_DONE;
}

// Waypoints of a built-in kind, around --center or, by default, around the marker at rest. The caller frees
// f->point.
static int follow_built_in(const cli_args *args, follow *f, const char *name)
{
    const pl_path_kind kind = pl_path_find(name);
    if (kind == PL_PATH_KIND_COUNT) {
        cli_error(args, "--path %s: expected circle, eight, flower, square, ell, flame, line or box", name);
        return CLI_EXIT_USAGE;
    }

    // the size is a default of the kind until --span says otherwise
    pl_path_def def = pl_path_default(kind);
    memcpy(def.centre, f->m.info.marker_at + 3 * f->g.marker, sizeof def.centre);
    const char *center = cli_value(args, "center");
    if ((center && !cli_triple(args, "center", center, PL_DIM_LENGTH, def.centre)) ||
        !cli_whole(args, "count", &def.count)) {
        return CLI_EXIT_USAGE;
    }

    int status = follow_plane(args, &def);
    status = status ? status : follow_span(args, &def);
    if (status) {
        return status;
    }

    // the number of points is known: make room, then compute them
    pl_error err = {0};
    f->count = def.count;
    f->closed = pl_path_is_closed(kind);
    f->point = calloc(3 * (size_t)def.count + 1, sizeof *f->point);
    if (!f->point) {
        return cli_no_memory(args);
    }

    return pl_path_points(&def, f->point, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// A copy on the heap; NULL for NULL or when memory is out.
static double *follow_copy(const double *from, size_t count)
{
    double *to = from ? malloc((count + 1) * sizeof *to) : NULL;
    return to ? memcpy(to, from, count * sizeof *to) : NULL;
}

// Waypoints of a table, with directions, rotations and times where it has such columns.
static int follow_file(const cli_args *args, follow *f, const char *path)
{
    pl_error err = {0};
    pl_path_file file;

    if (pl_path_read(path, &file, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    // the file belongs to the library: copy what is needed, then release it
    f->count = file.count;
    f->point = follow_copy(file.point, 3 * (size_t)file.count);
    f->normal = follow_copy(file.direction, 3 * (size_t)file.count);
    f->turn = follow_copy(file.rotation, 3 * (size_t)file.count);
    f->time = follow_copy(file.time, (size_t)file.count);
    const bool kept =
        f->point && (f->normal || !file.direction) && (f->turn || !file.rotation) && (f->time || !file.time);
    pl_path_clear(&file);
    if (!kept) {
        return cli_no_memory(args);
    }
    if (f->count > FOLLOW_COUNT) {
        cli_error(args, "%s: %d waypoints, the limit is %d", path, f->count, FOLLOW_COUNT);
        return CLI_EXIT_USAGE;
    }

    // a table does not say whether it is closed, nor where its origin is
    f->closed = cli_flag(args, "closed");
    for (int i = 0; cli_flag(args, "relative") && i < 3 * f->count; ++i) {
        f->point[i] += f->m.info.marker_at[3 * f->g.marker + i % 3];
    }

    return CLI_DONE;
}

// --resample: as many waypoints as asked, evenly spaced along the path.
static int follow_resample(const cli_args *args, follow *f)
{
    int count = 0;
    if (!cli_whole(args, "resample", &count)) {
        return CLI_EXIT_USAGE;
    }
    if (count == 0) {
        return CLI_DONE;
    }

    // between waypoints there is nothing to say which direction or time would hold
    if (f->normal || f->turn || f->time) {
        cli_error(
            args,
            "--resample: the directions, rotations or times of the file are only for its own waypoints");
        return CLI_EXIT_USAGE;
    }

    pl_error err = {0};
    double *point = calloc(3 * (size_t)count + 1, sizeof *point);
    if (!point) {
        return cli_no_memory(args);
    }
    if (pl_path_resample(f->point, f->count, f->closed, count, point, &err) != PL_OK) {
        free(point);
        return cli_fail(args, &err);
    }

    free(f->point);
    f->point = point;
    f->count = count;

    return CLI_DONE;
}

// The waypoints of `follow`, from exactly one source: a file or a built-in kind.
int cli_follow_path(const cli_args *args, follow *f)
{
    const char *kind = cli_value(args, "path"), *file = args->plain_count > 1 ? args->plain[1] : NULL;
    if ((kind != NULL) == (file != NULL)) {
        cli_error(args, kind ? "a path file and --path are both given, expected one"
                             : "no path is given: expected a file of points (x,y,z) or --path KIND");
        return CLI_EXIT_USAGE;
    }

    if (f->g.marker < 0) {
        cli_error(args, "the marker is not given: add --marker NAME");
        return CLI_EXIT_USAGE;
    }

    const int status = kind ? follow_built_in(args, f, kind) : follow_file(args, f, file);
    return status ? status : follow_resample(args, f);
}
