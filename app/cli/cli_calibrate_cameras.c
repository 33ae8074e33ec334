// pliant calibrate cameras: constants and places of cameras from pictures of a chessboard.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli_frames.h"
#include "pliant/dataset.h"

typedef struct cameras {
    cli_frames frames;
    pl_board board;
    pl_board_view *view;
    double *pixel;
    int *placement_of; // frame -> placement, -1
    int views, placements, seen[CLI_CAMERAS];
    pl_camera camera[CLI_CAMERAS];
    pl_camera_pose rig[CLI_CAMERAS], *placement;
    double interval[CLI_CAMERAS * PL_CAMERA_CONSTANTS];
    pl_camera_fit fit;
} cameras;

static int cameras_read(const cli_args *args, cameras *c)
{
    const char *board = cli_value(args, "board");
    c->board.square = 0;
    if (!board || sscanf(board, "%dx%d", &c->board.columns, &c->board.rows) != 2) {
        cli_error(args,
                  "expected --board COLUMNSxROWS, the inner corners of the chessboard, such as --board 9x6");
        return CLI_EXIT_USAGE;
    }

    if (!cli_number(args, "square", &c->board.square)) {
        return CLI_EXIT_USAGE;
    }
    if (!(c->board.square > 0)) {
        cli_error(args, "expected --square LENGTH, the side of a square, such as --square 5.5mm");
        return CLI_EXIT_USAGE;
    }

    return cli_frames_find(args, 1, &c->frames);
}

// One picture: its corners become a view.
static int cameras_look(const cli_args *args, cameras *c, int camera, int frame)
{
    pl_error err = {0};
    pl_image image = {0};
    const char *path = c->frames.path[camera][frame];

    if (pl_image_read(path, &image, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    // one camera has one size of pictures
    pl_camera *to = &c->camera[camera];
    if (to->width && (to->width != image.width || to->height != image.height)) {
        cli_error(args, "%s: %d x %d pixels, but the pictures before are %d x %d", path, image.width,
                  image.height, to->width, to->height);
        pl_image_clear(&image);
        return CLI_EXIT_USAGE;
    }

    to->width = image.width;
    to->height = image.height;

    // corners go behind those of the views so far; a picture without the board is skipped and said
    double *pixel = c->pixel + 2 * (size_t)(c->views * c->board.columns * c->board.rows);
    const pl_status found = pl_board_find(&image, &c->board, pixel, &err);
    pl_image_clear(&image);
    if (found == PL_FAILED) {
        cli_say(args, "  %s: %s\n", path, err.text);
        return CLI_DONE;
    }

    if (found != PL_OK) {
        return cli_fail(args, &err);
    }

    // pictures of one moment show one placement of the board
    if (c->placement_of[frame] < 0) {
        c->placement_of[frame] = c->placements++;
    }
    c->view[c->views++] = (pl_board_view){.camera = camera, .board = c->placement_of[frame], .pixel = pixel};
    ++c->seen[camera];

    return CLI_DONE;
}

static int cameras_fit(const cli_args *args, cameras *c)
{
    const size_t most = (size_t)(c->frames.cameras * c->frames.count);
    c->view = calloc(most, sizeof *c->view);
    c->pixel = calloc(2 * most * (size_t)(c->board.columns * c->board.rows), sizeof *c->pixel);
    c->placement_of = malloc((size_t)c->frames.count * sizeof *c->placement_of);
    c->placement = calloc((size_t)c->frames.count, sizeof *c->placement);
    if (!c->view || !c->pixel || !c->placement_of || !c->placement) {
        cli_error(args, "no memory for %zu pictures", most);
        return CLI_EXIT_SYSTEM;
    }

    for (int k = 0; k < c->frames.count; ++k) {
        c->placement_of[k] = -1;
    }

    int status = CLI_DONE;
    cli_stage("looking for the board", true);
    for (int k = 0; k < c->frames.count; ++k) {
        cli_progress_part(k, c->frames.count, "placement %d of %d", k + 1, c->frames.count);
        cli_progress.step(cli_progress.user, 0, "");
        for (int i = 0; status == CLI_DONE && i < c->frames.cameras; ++i) {
            status = c->frames.path[i][k] ? cameras_look(args, c, i, k) : CLI_DONE;
        }
    }
    cli_stage("fitting", true);
    cli_progress_done();

    pl_error err = {0};
    if (status == CLI_DONE &&
        pl_cameras_calibrate(&c->board, c->view, c->views, c->placements, c->frames.cameras, c->camera,
                             c->rig, c->placement, c->interval, &c->fit, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    return status;
}

static double constant_of(const pl_camera *c, int k)
{
    const double constant[PL_CAMERA_CONSTANTS] = {c->fx, c->fy, c->cx, c->cy, c->k1,
                                                  c->k2, c->p1, c->p2, c->k3};
    return constant[k];
}

static void cameras_print(const cli_args *args, const cameras *c)
{
    cli_table table = {0};
    cli_row(&table, "camera\tviews\tfx\tfy\tcx\tcy\tk1\tk2\tp1\tp2\tk3");
    for (int i = 0; i < c->frames.cameras; ++i) {
        const pl_camera *k = &c->camera[i];
        const double *w = c->interval + PL_CAMERA_CONSTANTS * i;
        cli_row(&table, "%d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.4f\t%.4f\t%.5f\t%.5f\t%.4f", i + 1, c->seen[i],
                k->fx, k->fy, k->cx, k->cy, k->k1, k->k2, k->p1, k->p2, k->k3);
        cli_row(&table, "95 %%\t\t+-%.2f\t+-%.2f\t+-%.2f\t+-%.2f\t+-%.4f\t+-%.4f\t+-%.5f\t+-%.5f\t+-%.4f",
                w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]);
    }

    cli_table_print(args, &table);
    cli_say(args,
            "\n  %d views of %d placements: %.3f pixels root mean square per coordinate, %.2f at most, %d "
            "iterations%s\n",
            c->views, c->placements, c->fit.rms, c->fit.largest, c->fit.iterations,
            c->fit.converged ? "" : " (not converged)");
    if (c->frames.cameras > 1) {
        cli_say(args, "  base line of cameras 1 and 2: %.3f mm, +- %.3f\n", c->fit.distance,
                c->fit.distance_interval);
    }
}

static json_t *cameras_json(const cameras *c)
{
    json_t *root = cli_json_head(0, NULL), *list = json_array();
    json_object_set_new(root, "views", json_integer(c->views));
    json_object_set_new(root, "placements", json_integer(c->placements));
    json_object_set_new(root, "rms_px", cli_json_number(c->fit.rms));
    json_object_set_new(root, "largest_px", cli_json_number(c->fit.largest));
    json_object_set_new(root, "baseline_mm", cli_json_number(c->fit.distance));
    json_object_set_new(root, "baseline_interval_mm", cli_json_number(c->fit.distance_interval));
    json_object_set_new(root, "converged", json_boolean(c->fit.converged));

    for (int i = 0; i < c->frames.cameras; ++i) {
        json_t *one = json_object();
        for (int k = 0; k < PL_CAMERA_CONSTANTS; ++k) {
            json_object_set_new(
                one, pl_camera_constant_name(k),
                cli_json_numbers(
                    (double[]){constant_of(&c->camera[i], k), c->interval[PL_CAMERA_CONSTANTS * i + k]}, 2));
        }

        json_array_append_new(list, one);
    }

    json_object_set_new(root, "cameras", list);

    return root;
}

int cli_calibrate_cameras(const cli_args *args)
{
    cameras c = {0};
    int status = cameras_read(args, &c);

    status = status ? status : cameras_fit(args, &c);
    if (status == CLI_DONE) {
        cameras_print(args, &c);
        int cursor = 0;
        pl_error err = {0};

        for (const char *out; status == CLI_DONE && (out = cli_next(args, "out", &cursor));) {
            if (pl_cameras_write(out, c.camera, c.rig, c.interval, c.frames.cameras, &err) != PL_OK) {
                status = cli_fail(args, &err);
            } else {
                cli_say(args, "  wrote %s\n", out);
            }
        }

        status = status ? status : cli_json_write(args, cli_value(args, "json") ? cameras_json(&c) : NULL);
        status = status ? status : c.fit.converged ? CLI_DONE : CLI_EXIT_UNSOLVED;
    }

    cli_frames_clear(&c.frames);
    free(c.view);
    free(c.pixel);
    free(c.placement_of);
    free(c.placement);

    return status;
}
