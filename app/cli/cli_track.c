// pliant track: markers in pictures, as pixels and, from two or more cameras, as positions.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli_frames.h"
#include "pliant/dataset.h"

#define TRACK_DOTS 32

static const cli_option options[] = {
    {"dot", 0, "NAME=#RRGGBB", "a marker: the largest dot of this colour; may be repeated", NULL},
    {"reach", 0, "NUMBER",
     "how far a pixel may be from the colour, as a distance in RGB of 0 to 1 (default 0.3)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1e-3, 2)},
    {"smallest", 0, "PIXELS", "size of the smallest dot (default 12)", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 1, 1e9)},
    {"out", 0, "FILE", "table of positions (and pixels): .csv", NULL},
    CLI_JSON,
    CLI_FORCE,
    {0},
};

typedef struct track_dot {
    char name[64];
    double color[3];
} track_dot;

typedef struct track {
    cli_frames frames;
    pl_camera camera[CLI_CAMERAS];
    pl_camera_pose rig[CLI_CAMERAS];
    int cameras, dots, least;
    double reach;
    track_dot dot[TRACK_DOTS];
    double *pixel;    // 2 per frame, dot and camera; NAN: not seen
    double *area;     // pixels, per frame, dot and camera
    int apart;        // positions that are none: the cameras see different dots
    double *position; // 5 per frame and dot: x, y, z, rms in pixels, deviation; NAN
} track;

static int track_dots(const cli_args *args, track *t)
{
    int cursor = 0;
    for (const char *text; (text = cli_next(args, "dot", &cursor));) {
        const char *equals = strchr(text, '=');
        unsigned rgb[3];
        if (!equals || equals == text || equals - text > 63 || t->dots == TRACK_DOTS || strlen(equals) != 8 ||
            sscanf(equals, "=#%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2]) != 3) {
            cli_error(args, "--dot %s: expected NAME=#RRGGBB, such as tip=#e02020", text);
            return CLI_EXIT_USAGE;
        }

        track_dot *dot = &t->dot[t->dots++];
        memcpy(dot->name, text, (size_t)(equals - text));
        for (int i = 0; i < 3; ++i) {
            dot->color[i] = rgb[i] / 255.0;
        }
    }

    double least = 12;
    t->reach = 0.3;
    if (!cli_number(args, "reach", &t->reach) || !cli_number(args, "smallest", &least)) {
        return CLI_EXIT_USAGE;
    }

    t->least = (int)least;
    if (t->dots == 0) {
        cli_error(args, "expected at least one --dot NAME=#RRGGBB");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

static double *track_pixel(const track *t, int frame, int dot, int camera)
{
    return t->pixel +
           2 * (((size_t)frame * (size_t)t->dots + (size_t)dot) * (size_t)t->cameras + (size_t)camera);
}

static double *track_position(const track *t, int frame, int dot)
{
    return t->position + 5 * ((size_t)frame * (size_t)t->dots + (size_t)dot);
}

static int track_look(const cli_args *args, track *t, int camera, int frame)
{
    pl_error err = {0};
    pl_image image = {0};

    if (pl_image_read(t->frames.path[camera][frame], &image, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    if (image.width != t->camera[camera].width || image.height != t->camera[camera].height) {
        cli_error(args, "%s: %d x %d pixels, but camera %d was calibrated with %d x %d",
                  t->frames.path[camera][frame], image.width, image.height, camera + 1,
                  t->camera[camera].width, t->camera[camera].height);
        pl_image_clear(&image);
        return CLI_EXIT_USAGE;
    }

    for (int d = 0; d < t->dots; ++d) {
        pl_dot dot;
        if (pl_dots_find(&image, t->dot[d].color, t->reach, t->least, &dot, 1) > 0) {
            memcpy(track_pixel(t, frame, d, camera), dot.pixel, sizeof dot.pixel);
            t->area[(frame * t->dots + d) * t->cameras + camera] = dot.area;
        }
    }

    pl_image_clear(&image);

    return CLI_DONE;
}

// Of the smallest picture of a dot, in pixels.
static double track_radius(const track *t, int frame, int d)
{
    double least = INFINITY;
    for (int c = 0; c < t->cameras; ++c) {
        const double area = t->area[(frame * t->dots + d) * t->cameras + c];
        least = area > 0 ? fmin(least, area) : least;
    }

    return sqrt(least / 3.14159265358979323846);
}

// Pixels of every dot in every picture, then positions from the cameras that see it.
static int track_work(const cli_args *args, track *t)
{
    pl_error err = {0};
    if (pl_cameras_read(args->plain[0], t->camera, t->rig, CLI_CAMERAS, &t->cameras, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    if (t->cameras != t->frames.cameras) {
        cli_error(args, "%s has %d cameras, but %d patterns are given", args->plain[0], t->cameras,
                  t->frames.cameras);
        return CLI_EXIT_USAGE;
    }

    // NAN: not seen
    const size_t points = (size_t)t->frames.count * (size_t)t->dots;
    t->pixel = malloc(2 * points * (size_t)t->cameras * sizeof *t->pixel);
    t->position = malloc(5 * points * sizeof *t->position);
    t->area = calloc(points * (size_t)t->cameras, sizeof *t->area);
    if (!t->pixel || !t->position || !t->area) {
        cli_error(args, "no memory for %zu points", points);
        return CLI_EXIT_SYSTEM;
    }

    for (size_t i = 0; i < 2 * points * (size_t)t->cameras; ++i) {
        t->pixel[i] = NAN;
    }

    int status = CLI_DONE;
    cli_stage("looking for dots", true);
    for (int k = 0; k < t->frames.count; ++k) {
        cli_progress_part(k, t->frames.count, "picture %d of %d", k + 1, t->frames.count);
        cli_progress.step(cli_progress.user, 0, "");

        // each picture is read once, for all its dots
        for (int c = 0; status == CLI_DONE && c < t->cameras; ++c) {
            status = t->frames.path[c][k] ? track_look(args, t, c, k) : CLI_DONE;
        }
        for (int d = 0; status == CLI_DONE && d < t->dots; ++d) {
            double *p = track_position(t, k, d), deviation[3];
            for (int i = 0; i < 5; ++i) {
                p[i] = NAN;
            }
            if (pl_camera_triangulate(t->camera, t->rig, t->cameras, track_pixel(t, k, d, 0), p, &p[3],
                                      deviation)) {
                p[4] = sqrt(deviation[0] * deviation[0] + deviation[1] * deviation[1] +
                            deviation[2] * deviation[2]);
            } else {
                p[0] = p[1] = p[2] = NAN;
            }

            // rays that miss each other by more than a dot's radius are those of different dots
            if (p[3] > track_radius(t, k, d)) {
                p[0] = p[1] = p[2] = p[4] = NAN;
                ++t->apart;
            }
        }
    }
    cli_stage(NULL, true);
    cli_progress_done();

    return status;
}

static void csv_number(FILE *file, double value, const char *format)
{
    fputc(',', file);
    if (isfinite(value)) {
        fprintf(file, format, value);
    }
}

static int track_write(const cli_args *args, const track *t, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        cli_error(args, "%s: cannot be written", path);
        return CLI_EXIT_SYSTEM;
    }

    fprintf(file, "frame");
    for (int d = 0; d < t->dots; ++d) {
        const char *n = t->dot[d].name;
        fprintf(file, ",%s.x [mm],%s.y [mm],%s.z [mm],%s.rms [px]", n, n, n, n);
        for (int c = 0; c < t->cameras; ++c) {
            fprintf(file, ",%s.u%d [px],%s.v%d [px]", n, c + 1, n, c + 1);
        }
    }

    fputc('\n', file);
    for (int k = 0; k < t->frames.count; ++k) {
        fprintf(file, "%s", t->frames.key[k]);

        for (int d = 0; d < t->dots; ++d) {
            for (int i = 0; i < 4; ++i) {
                csv_number(file, track_position(t, k, d)[i], "%.5f");
            }
            for (int i = 0; i < 2 * t->cameras; ++i) {
                csv_number(file, track_pixel(t, k, d, 0)[i], "%.3f");
            }
        }

        fputc('\n', file);
    }

    const bool written = fflush(file) == 0 && !ferror(file);
    fclose(file);
    if (!written) {
        cli_error(args, "%s: cannot be written", path);
        return CLI_EXIT_SYSTEM;
    }

    cli_say(args, "  wrote %s\n", path);

    return CLI_DONE;
}

static json_t *track_json(const track *t)
{
    json_t *root = cli_json_head(0, NULL), *list = json_array();
    for (int k = 0; k < t->frames.count; ++k) {
        json_t *one = json_object(), *markers = json_object();
        json_object_set_new(one, "frame", json_string(t->frames.key[k]));

        for (int d = 0; d < t->dots; ++d) {
            json_t *m = json_object();
            json_object_set_new(m, "position_mm", cli_json_numbers(track_position(t, k, d), 3));
            json_object_set_new(m, "rms_px", cli_json_number(track_position(t, k, d)[3]));
            json_object_set_new(m, "pixels", cli_json_numbers(track_pixel(t, k, d, 0), 2 * t->cameras));
            json_object_set_new(markers, t->dot[d].name, m);
        }

        json_object_set_new(one, "markers", markers);
        json_array_append_new(list, one);
    }

    json_object_set_new(root, "frames", list);
    return root;
}

static void track_print(const cli_args *args, const track *t)
{
    cli_table table = {0};
    cli_row(&table, "frame\tmarker\tx\ty\tz mm\trms px\tmm per px\tseen by");
    int complete = 0;

    for (int k = 0; k < t->frames.count; ++k) {
        for (int d = 0; d < t->dots; ++d) {
            const double *p = track_position(t, k, d);
            int seen = 0;
            for (int c = 0; c < t->cameras; ++c) {
                seen += !isnan(track_pixel(t, k, d, c)[0]);
            }
            complete += isfinite(p[0]);
            char text[5][40];
            for (int i = 0; i < 5; ++i) {
                snprintf(text[i], sizeof text[i], isnan(p[i]) ? "-" : i < 4 ? "%.3f" : "%.4f", p[i]);
            }
            cli_row(&table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d of %d", t->frames.key[k], t->dot[d].name, text[0],
                    text[1], text[2], text[3], text[4], seen, t->cameras);
        }
    }

    cli_table_print(args, &table);
    cli_say(args, "\n  %d of %d positions found\n", complete, t->frames.count * t->dots);
    if (t->apart > 0) {
        cli_say(args,
                "  %d times the cameras see different dots: their rays miss each other by more than a dot's "
                "radius\n",
                t->apart);
    }
}

// A dot that is nowhere was described wrongly. One camera gives pixels only.
static int track_judge(const cli_args *args, const track *t)
{
    int status = CLI_DONE;
    for (int d = 0; d < t->dots; ++d) {
        bool found = false;
        for (int k = 0; k < t->frames.count; ++k) {
            found =
                found || isfinite(t->cameras > 1 ? track_position(t, k, d)[0] : track_pixel(t, k, d, 0)[0]);
        }
        if (!found) {
            cli_error(args, "--dot %s: found in none of %d frames", t->dot[d].name, t->frames.count);
            status = CLI_EXIT_UNSOLVED;
        }
    }

    return status;
}

static int track_run(cli_args *args)
{
    static const char *const extensions[] = {".csv", NULL};
    track t = {0};
    int status = cli_check_outputs(args, extensions, NULL, args->plain[0]);

    status = status ? status : track_dots(args, &t);
    status = status ? status : cli_frames_find(args, 1, &t.frames);
    status = status ? status : track_work(args, &t);
    if (status == CLI_DONE) {
        track_print(args, &t);
        int cursor = 0;
        for (const char *out; status == CLI_DONE && (out = cli_next(args, "out", &cursor));) {
            status = track_write(args, &t, out);
        }
        status = status ? status : cli_json_write(args, cli_value(args, "json") ? track_json(&t) : NULL);
        status = status ? status : track_judge(args, &t);
    }

    cli_frames_clear(&t.frames);
    free(t.pixel);
    free(t.position);
    free(t.area);

    return status;
}

const cli_verb cli_verb_track = {
    .name = "track",
    .summary = "markers in pictures: pixels, and positions from two or more cameras",
    .usage = "CAMERAS.json PATTERN... --dot NAME=#RRGGBB [options]",
    .about =
        "Finds dots of given colours in the pictures of calibrated cameras (`calibrate cameras`), to a part "
        "of a\n"
        "pixel, and where two or more cameras see a dot, its position (mm, in the frame of the first camera) "
        "with\n"
        "the residual in pixels. One pattern of images with a * per camera; pictures of one moment have the\n"
        "same text in its place. PNG and JPEG.",
    .examples = "  pliant track cameras.json 'left_*.png' 'right_*.png' --dot tip=#e02020 --out track.csv\n",
    .option = options,
    .least = 2,
    .most = 9,
    .run = track_run,
    .stopping = "stopping",
};
