// pliant new --from: reads the user's part, lets the library guess, copies the part beside the robot file.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli_guess.h"

// Whether a path ends in one of two extensions, in upper or lower case.
static bool guess_is(const char *path, const char *one, const char *other)
{
    return strcasecmp(cli_extension(path), one) == 0 || strcasecmp(cli_extension(path), other) == 0;
}

// Copies the part beside the robot file, so that the folder is complete. A part that is already there (the
// same file by its inode) is left alone, another file of that name is overwritten only with --force.
static int guess_copy(const cli_args *args, const char *from, const char *folder, const char *name)
{
    char *to = cli_join(folder, name), *data = NULL;
    size_t bytes = 0;
    pl_error err = {0};
    struct stat s, t;

    if (!to) {
        return cli_no_memory(args);
    }

    int status = CLI_DONE;
    const bool same =
        stat(from, &s) == 0 && stat(to, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    if (!same && cli_exists(to) && !cli_flag(args, "force")) {
        cli_error(args, "%s exists and is not overwritten", to);
        cli_advice("choose another folder, or add --force");
        status = CLI_EXIT_USAGE;
    } else if (!same && pl_file_read(from, &data, &bytes, &err) != PL_OK) {
        status = cli_fail(args, &err);
    } else if (!same && pl_file_write(to, data, bytes, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }

    pl_file_free(data);
    free(to);

    return status;
}

// The exit status for a part that could not be read, after saying why; defects were printed with the
// findings.
static int guess_refuse(const cli_args *args, pl_status status, pl_findings *findings, pl_error *err)
{
    err->status = status;
    const int defects = pl_findings_defect_count(findings);
    return defects > 0 && status == PL_BAD_INPUT ? CLI_EXIT_USAGE : cli_fail(args, err);
}

// The mesh of a part that is a volume: made from a STEP file, or read from a
// mesh file. The caller destroys it.
static int guess_mesh(const cli_args *args, const char *part, pl_mesh **mesh)
{
    double unit = 0;
    if (!cli_unit(args, &unit)) {
        return CLI_EXIT_USAGE;
    }

    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    const pl_status status = guess_is(part, ".step", ".stp")
                                 ? pl_meshing_from_step(part, cli_value(args, "unit") ? unit : 0, 0, 1,
                                                        &cli_progress, mesh, findings, &err)
                                 : cli_mesh_read(part, unit, mesh, findings, &err);

    // findings come first: they say more than the error does
    cli_findings(findings);
    const int refused = status == PL_OK ? CLI_DONE : guess_refuse(args, status, findings, &err);
    pl_findings_destroy(findings);

    return refused;
}

// One line that says what was guessed, so that a wrong guess is seen at once.
static void guess_report(const cli_args *args, const pl_guess *g)
{
    // a base at the end of an axis is named by the axis that the direction is nearest to
    int axis = 0;
    for (int i = 1; i < 3; ++i) {
        axis = fabs(g->axis[i]) > fabs(g->axis[axis]) ? i : axis;
    }
    cli_say(args, "%.4g x %.4g x %.4g mm; base: ", g->high[0] - g->low[0], g->high[1] - g->low[1],
            g->high[2] - g->low[2]);
    if (g->across) {
        cli_say(args, "flat face of %.4g mm^2 at (%.4g, %.4g, %.4g); ", g->base_area, g->base[0], g->base[1],
                g->base[2]);
    } else {
        cli_say(args, "%s end of %c%s; ", g->axis[axis] < 0 ? "high" : "low", 'x' + axis,
                g->base_area > 0 ? "" : " (not flat)");
    }

    // volumes are NaN where an opening could not be closed to measure it
    cli_say(args, g->cavity_count ? "cavities:" : "no cavity found");
    for (int k = 0; k < g->cavity_count; ++k) {
        cli_say(args, k ? "," : "");
        if (isnan(g->volume[k])) {
            cli_say(args, g->open[k] ? " one, open" : " one, closed");
        } else {
            cli_say(args, g->open[k] ? " %.4g mL (open)" : " %.4g mL (closed)", g->volume[k] / 1000);
        }
    }

    if (g->channel_count > 0) {
        cli_say(args, "; %d narrow hole%s, proposed as tendon%s", g->channel_count,
                g->channel_count > 1 ? "s" : "", g->channel_count > 1 ? "s" : "");
    }

    if (g->crossing_count > 0) {
        cli_say(args, "; %d narrow hole%s across the part, left alone", g->crossing_count,
                g->crossing_count > 1 ? "s" : "");
    }

    cli_say(args, "\n");
}

// Puts the material that --material names in place of the guessed one. `*text` moves to the heap of this
// program.
static int guess_material(const cli_args *args, char **text)
{
    static const char guessed[] = "{use: dragon_skin_20}",
                      about[] =
                          "# guessed: a soft silicone. `pliant materials` lists the measured materials.";
    const char *name = cli_value(args, "material");

    // the library writes both texts: the guessed material, and above it the note that it is guessed
    const char *at = strstr(*text, guessed), *note = strstr(*text, about);
    char *copy = malloc(strlen(*text) + strlen(name ? name : "") + 64);

    if (!copy) {
        return cli_no_memory(args);
    }

    if (!name) {
        strcpy(copy, *text);
    } else if (at && note && note < at) {
        sprintf(copy, "%.*s# `pliant materials` lists the measured materials.%.*s{use: %s}%s",
                (int)(note - *text), *text, (int)(at - note - (ptrdiff_t)strlen(about)), note + strlen(about),
                name, at + strlen(guessed));

        // a part with several materials has no single place for the name
    } else {
        cli_error(args, "--material %s: the file names its materials, set them in robot.yaml", name);
        free(copy);
        return CLI_EXIT_USAGE;
    }

    pl_meshing_free_text(*text);
    *text = copy;

    return CLI_DONE;
}

// ---- repair
#define GUESS_TRIANGLES 100000 // more than any mesh of a robot needs; the repair reduces finer surfaces

static void guess_repair_report(const cli_args *args, const pl_repair *r)
{
    cli_say(
        args,
        "repaired: %d triangles read, %d duplicate and %d degenerate removed, %d turned, %d hole%s closed",
        r->triangles, r->duplicates, r->degenerate, r->turned, r->holes, r->holes == 1 ? "" : "s");
    if (r->holes_left > 0) {
        cli_say(args, ", %d left: `--holes %.0fmm` closes %s too", r->holes_left, ceil(1.1 * r->largest_left),
                r->holes_left == 1 ? "it" : "them");
    }
    if (r->decimated) {
        cli_say(args, ", reduced to %d triangles (at most %.3g mm away)", r->result, r->deviation);
    }
    cli_say(args, "\n");
}

// A surface as binary STL, in the unit of the file that it came from: 80 bytes, a count, then per triangle a
// normal, which readers compute, three corners and two bytes.
static char *guess_stl(const pl_trisurf *s, double unit, size_t *bytes)
{
    *bytes = 84 + 50 * (size_t)s->triangle_count;
    unsigned char *data = calloc(1, *bytes);
    if (!data) {
        return NULL;
    }

    memcpy(data, "repaired by pliant", 18);
    for (int i = 0; i < 4; ++i) {
        data[80 + i] = (unsigned char)((uint32_t)s->triangle_count >> 8 * i);
    }
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        for (int k = 0; k < 9; ++k) {
            const float x =
                (float)(s->position[3 * (int64_t)s->corner[3 * (int64_t)t + k / 3] + k % 3] / unit);
            memcpy(data + 84 + 50 * (size_t)t + 12 + 4 * (size_t)k, &x, sizeof x);
        }
    }

    return (char *)data;
}

// Repairs the part; the result goes to `path`.
static int guess_repair(const cli_args *args, const char *part, double unit, const char *path)
{
    double holes = 0;
    if (!guess_is(part, ".stl", ".obj")) {
        cli_error(args, "--repair is for surfaces (.stl, .obj)");
        return CLI_EXIT_USAGE;
    }

    if (!cli_number(args, "holes", &holes)) {
        return CLI_EXIT_USAGE;
    }

    pl_trisurf surface = {0};
    pl_repair report;
    pl_error err = {0};
    cli_stage("repairing", true);
    pl_status status = pl_meshing_read_surface(part, unit, &surface, &err);
    if (status == PL_OK) {
        status = pl_meshing_repair(&surface, holes, GUESS_TRIANGLES, &report, &err);
    }

    size_t bytes = 0;
    char *data = status == PL_OK ? guess_stl(&surface, unit, &bytes) : NULL;
    if (status == PL_OK) {
        guess_repair_report(args, &report);
        status = data ? pl_file_write(path, data, bytes, &err) : PL_NO_MEMORY;
    }

    free(data);
    pl_trisurf_clear(&surface);
    cli_stage(NULL, false);

    return status == PL_OK ? CLI_DONE : status == PL_NO_MEMORY ? cli_no_memory(args) : cli_fail(args, &err);
}

static int guess_write(const cli_args *args, const char *part, const char *folder, const char *path);

// Whether the repaired part may be written: a file that is there is overwritten only with --force.
static int guess_replaceable(const cli_args *args, const char *repaired)
{
    struct stat s;
    if (stat(repaired, &s) != 0) {
        return CLI_DONE;
    }
    if (S_ISDIR(s.st_mode)) {
        cli_error(args, "%s: is a folder, expected a file", repaired);
        return CLI_EXIT_USAGE;
    }

    if (!cli_flag(args, "force")) {
        cli_error(args, "%s exists and is not overwritten", repaired);
        cli_advice("choose another folder, or add --force");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Repairs in a folder of its own and moves the result to its place last: whatever fails before, a file that
// is there stays. The name is the final one, since the robot file and messages take it.
static int guess_write_repaired(const cli_args *args, const char *part, double unit, const char *folder,
                                const char *repaired, const char *path)
{
    char *own = cli_join(folder, ".repair-XXXXXX");
    if (!own) {
        return cli_no_memory(args);
    }
    if (!mkdtemp(own)) {
        cli_error(args, "%s: cannot be written: %s", folder, strerror(errno));
        free(own);
        return CLI_EXIT_SYSTEM;
    }

    char *made = cli_join(own, strrchr(repaired, '/') + 1);
    int status = made ? guess_repair(args, part, unit, made) : cli_no_memory(args);
    status = status ? status : guess_write(args, made, NULL, path);
    if (!status && rename(made, repaired) != 0) {
        cli_error(args, "%s: cannot be written: %s", repaired, strerror(errno));
        status = CLI_EXIT_SYSTEM;
    }

    if (made && status) {
        remove(made);
    }
    rmdir(own);
    free(made);
    free(own);

    return status;
}

// Writes the robot file `path` for a part, and the part beside it; with --repair the repaired part.
int cli_guess_write(const cli_args *args, const char *part, const char *folder, const char *path)
{
    if (!cli_flag(args, "repair")) {
        if (cli_value(args, "holes")) {
            cli_error(args, "--holes is for --repair");
            return CLI_EXIT_USAGE;
        }

        return guess_write(args, part, folder, path);
    }

    const char *slash = strrchr(part, '/'), *name = slash ? slash + 1 : part, *dot = strrchr(name, '.');
    const int stem = (int)(dot ? dot - name : (ptrdiff_t)strlen(name));
    char *repaired = malloc(strlen(folder) + strlen(name) + 20);
    double unit = 1;
    if (!repaired) {
        return cli_no_memory(args);
    }

    sprintf(repaired, "%s/%.*s-repaired.stl", folder, stem, name);
    int status = cli_unit(args, &unit) ? CLI_DONE : CLI_EXIT_USAGE;
    status = status ? status : guess_replaceable(args, repaired);
    status = status ? status : guess_write_repaired(args, part, unit, folder, repaired, path);
    free(repaired);

    return status;
}

// `folder`: where the part is copied to; NULL: the caller puts it beside the robot file.
static int guess_write(const cli_args *args, const char *part, const char *folder, const char *path)
{
    const char *slash = strrchr(part, '/');
    const char *name = slash ? slash + 1 : part;
    double unit = 0;

    if (!cli_unit(args, &unit)) {
        return CLI_EXIT_USAGE;
    }

    // a surface goes to the library as it is, a volume as its mesh
    pl_mesh *mesh = NULL;
    int status = guess_is(part, ".stl", ".obj") ? CLI_DONE : guess_mesh(args, part, &mesh);
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    char *text = NULL;
    if (status == CLI_DONE) {
        const pl_guess_source source = {part, mesh, cli_value(args, "unit") ? unit : 0, name};
        pl_guess summary;
        const pl_status guessed = pl_meshing_guess(&source, &text, &summary, findings, &err);
        cli_findings(findings);
        status = guessed == PL_OK ? CLI_DONE : guess_refuse(args, guessed, findings, &err);
        if (status && !mesh && !cli_flag(args, "repair") && pl_findings_defect_count(findings) > 0) {
            cli_advice("`--repair` removes duplicate triangles, turns those that look inwards and "
                       "closes small holes");
        }

        if (status == CLI_DONE) {
            guess_report(args, &summary);
        }
    }

    // write only after everything else succeeded: the folder is never left with half of it
    status = status ? status : guess_material(args, &text);
    status = status || !folder ? status : guess_copy(args, part, folder, name);
    if (status == CLI_DONE && pl_file_write(path, text, strlen(text), &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    pl_findings_destroy(findings);
    free(text);
    pl_mesh_destroy(mesh);

    return status;
}
