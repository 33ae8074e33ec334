// Films of a series: the shapes are kept until all are known, then drawn with one camera and one range of
// colours, as an animated GIF, as a video (ffmpeg) or as numbered pictures. No shape is invented between two
// of the series: each stays until the next.
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "result/result_animation.h"
#include "result/result_draw.h"
#include "result/result_gif.h"
#include "result/result_video.h"

#define FILM_RATE 25   // frames per second
#define FILM_STEP 0.1  // s between two shapes without times, at least
#define FILM_LEAST 2.0 // s: shorter motions are shown slower
#define FILM_MOST 30.0 // s: longer ones faster
#define FILM_HOLD 0.6  // s for which the last shape stays
#define FILM_WIDTH 900 // pixels, both even as videos want them
#define FILM_HEIGHT 600

typedef struct film_shape {
    float *position, *value, *line, *obstacle; // value NULL: by region
    int32_t *line_start;
    int line_count, obstacle_count;
    char title[200]; // the commands
} film_shape;

struct result_film {
    pl_field color;
    pl_picture look;
    film_shape *shape;
    int32_t capacity;
    int count;
};

// ---- numbered pictures: one %d, %4d or %04d in the name
static bool film_numbered(const char *path)
{
    const char *percent = strchr(path, '%'), *dot = strrchr(path, '.');
    if (!percent || !dot || strcasecmp(dot, ".png") != 0 || strchr(percent + 1, '%')) {
        return false;
    }

    const char *at = percent + 1;
    while (*at >= '0' && *at <= '9' && at - percent < 4) {
        ++at;
    }

    return *at == 'd';
}

bool result_film_is(const char *path)
{
    const char *dot = strrchr(path, '.');
    return film_numbered(path) || (dot && (strcasecmp(dot, ".gif") == 0 || strcasecmp(dot, ".webm") == 0 ||
                                           strcasecmp(dot, ".mp4") == 0));
}

// The name of picture k, on the heap.
static char *film_name(const char *path, int k)
{
    pl_text name = {0};
    const char *percent = strchr(path, '%');
    const int width = atoi(percent + 1);
    const char *rest = strchr(percent, 'd') + 1;

    pl_text_add(&name, percent[1] == '0' ? "%.*s%0*d%s" : "%.*s%*d%s", (int)(percent - path), path, width, k,
                rest);

    return name.failed ? NULL : name.data;
}

// ---- taking shapes
static float *film_floats(const double *x, int64_t count)
{
    float *out = PL_NEW_ARRAY(float, count);
    for (int64_t i = 0; out && i < count; ++i) {
        out[i] = (float)x[i];
    }
    return out;
}

static void film_title(const pl_model *model, char *text, size_t size)
{
    const pl_model_info info = pl_model_get_info(model);
    const double *command = pl_model_get_answer(model).command;
    size_t at = 0;

    for (int c = 0; c < info.command_count && at + 1 < size; ++c) {
        const pl_command_info *k = &info.command[c];
        const char *unit = pl_drive_unit(k->drive);
        if (isnan(command[c])) {
            continue;
        }
        at += (size_t)snprintf(text + at, size - at, "%s%s = %.3g%s%s", at ? ", " : "", k->name,
                               command[c] / pl_drive_scale(k->drive) + 0.0, strcmp(unit, "1") ? " " : "",
                               strcmp(unit, "1") ? unit : "");
    }
}

// Cables and fibres as polylines, one after the other.
static bool film_lines(film_shape *f, const result_blocks *b)
{
    int32_t points = 0;
    for (int i = 0; i < b->count; ++i) {
        points += b->block[i].vertex ? 0 : b->block[i].point_count;
    }
    f->line = PL_NEW_ARRAY(float, 3 * (int64_t)points);
    f->line_start = PL_NEW_ARRAY(int32_t, b->count + 1);
    int32_t at = 0;

    for (int i = 0; f->line && f->line_start && i < b->count; ++i) {
        const result_block *k = &b->block[i];
        if (k->vertex) {
            continue;
        }
        for (int32_t j = 0; j < 3 * k->point_count; ++j) {
            f->line[3 * (int64_t)at + j] = (float)k->point[j];
        }
        at += k->point_count;
        f->line_start[++f->line_count] = at;
    }

    return f->line && f->line_start;
}

static bool film_obstacles(film_shape *f, const pl_model *model, const double *position)
{
    f->obstacle_count = pl_model_obstacles(model, position, NULL);
    double *triangle = PL_NEW_ARRAY(double, 9 * (int64_t)f->obstacle_count);
    if (triangle) {
        pl_model_obstacles(model, position, triangle);
        f->obstacle = film_floats(triangle, 9 * (int64_t)f->obstacle_count);
    }

    pl_free(triangle);
    return f->obstacle != NULL;
}

static pl_status film_add(pl_series *s, pl_error *err)
{
    result_film *m = s->film;
    double *value = NULL;
    result_blocks b;

    if (!pl_grow((void **)&m->shape, &m->capacity, m->count + 1, sizeof *m->shape)) {
        return pl_fail_memory(err, s->path);
    }

    film_shape *f = &m->shape[m->count];
    *f = (film_shape){0};
    ++m->count;
    pl_status status = result_blocks_take(&b, s->model, RESULT_BLOCKS_PARTS, "film", err);
    if (status == PL_OK) {
        status = result_skin_values(s->model, b.body, m->color, &value, err);
    }

    if (status == PL_OK) {
        const int32_t vertices = pl_mesh_get(b.body).vertex_count;
        film_title(s->model, f->title, sizeof f->title);
        f->position = film_floats(b.position, 3 * (int64_t)vertices);
        f->value = value ? film_floats(value, vertices) : NULL;
        if (!f->position || (value && !f->value) || !film_lines(f, &b) ||
            !film_obstacles(f, s->model, b.position)) {
            status = pl_fail_memory(err, s->path);
        }
    }

    pl_free(value);
    result_blocks_clear(&b);

    return status;
}

// ---- drawing
typedef struct film_scene {
    const pl_mesh *body;
    int32_t vertices;
    double *position, *value, *line, *obstacle; // of the shape being drawn
    double low, high;                           // of the values of all shapes
    double corner[24];                          // of the box around all shapes
} film_scene;

static void film_widen(const float *x, int64_t points, double low[3], double high[3])
{
    for (int64_t i = 0; i < 3 * points; ++i) {
        low[i % 3] = fmin(low[i % 3], x[i]);
        high[i % 3] = fmax(high[i % 3], x[i]);
    }
}

static pl_status film_prepare(const pl_series *s, film_scene *scene, pl_error *err)
{
    const result_film *m = s->film;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int32_t lines = 0, obstacles = 0;
    pl_status status = pl_model_body(s->model, &scene->body, err);

    if (status != PL_OK) {
        return status;
    }
    scene->vertices = pl_mesh_get(scene->body).vertex_count;
    scene->low = INFINITY;
    scene->high = -INFINITY;

    for (int k = 0; k < m->count; ++k) {
        const film_shape *f = &m->shape[k];
        const int32_t points = f->line_start[f->line_count];
        film_widen(f->position, scene->vertices, low, high);
        film_widen(f->line, points, low, high);
        film_widen(f->obstacle, 3 * (int64_t)f->obstacle_count, low, high);
        lines = points > lines ? points : lines;
        obstacles = f->obstacle_count > obstacles ? f->obstacle_count : obstacles;
        for (int32_t v = 0; f->value && v < scene->vertices; ++v) {
            scene->low = fmin(scene->low, f->value[v]);
            scene->high = fmax(scene->high, f->value[v]);
        }
    }

    for (int i = 0; i < 24; ++i) {
        scene->corner[i] = i / 3 >> i % 3 & 1 ? high[i % 3] : low[i % 3];
    }
    scene->position = PL_NEW_ARRAY(double, 3 * (int64_t)scene->vertices);
    scene->value = PL_NEW_ARRAY(double, scene->vertices);
    scene->line = PL_NEW_ARRAY(double, 3 * (int64_t)lines);
    scene->obstacle = PL_NEW_ARRAY(double, 9 * (int64_t)obstacles);

    return scene->position && scene->value && scene->line && scene->obstacle ? PL_OK
                                                                             : pl_fail_memory(err, s->path);
}

static void film_doubles(const float *x, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; ++i) {
        out[i] = x[i];
    }
}

static pl_status film_draw(const result_film *m, int k, const char *time, film_scene *scene,
                           cairo_surface_t **out, pl_error *err)
{
    const film_shape *f = &m->shape[k];
    char title[260];
    pl_picture picture = m->look;

    film_doubles(f->position, 3 * (int64_t)scene->vertices, scene->position);
    film_doubles(f->line, 3 * (int64_t)f->line_start[f->line_count], scene->line);
    film_doubles(f->obstacle, 9 * (int64_t)f->obstacle_count, scene->obstacle);
    snprintf(title, sizeof title, "%s%s%s", time, time[0] && f->title[0] ? "   " : "", f->title);
    picture.mesh = scene->body;
    picture.position = scene->position;
    picture.title = title;
    picture.line = scene->line;
    picture.line_start = f->line_start;
    picture.line_count = f->line_count;
    picture.triangle = scene->obstacle;
    picture.triangle_count = f->obstacle_count;
    picture.within = scene->corner;
    picture.within_count = 8;

    if (f->value) {
        film_doubles(f->value, scene->vertices, scene->value);
        picture.vertex_value = scene->value;
        picture.value_low = scene->low;
        picture.value_high = scene->high;
        picture.value_name = picture.value_name ? picture.value_name : pl_field_label(m->color);
    }

    return result_picture_image(&picture, out, err);
}

// ---- time
// Seconds of the film per second of the motion: 1, or a round number that keeps it between FILM_LEAST and
// FILM_MOST.
static double film_pace(const double *time, int count)
{
    const double span = time[count - 1] - time[0];
    double pace = 1;
    static const double step[3] = {2, 2.5, 2}; // 1 2 5 10

    for (int i = 0; span > 0 && span * pace < FILM_LEAST * (1 - 1e-9) && i < 60; ++i) {
        pace *= step[i % 3];
    }
    for (int i = 0; span * pace > FILM_MOST * (1 + 1e-9) && i < 60; ++i) {
        pace /= step[i % 3];
    }

    return pace;
}

// How many frames of 1/FILM_RATE s each shape stays: those whose time comes before that of the next shape.
// Shapes that follow each other faster are left out, except the last.
static void film_schedule(const double *time, int count, double pace, int *frames)
{
    const double wait = count > 1 ? fmin(fmax(FILM_LEAST / (count - 1), FILM_STEP), 1) : 0;
    int shown = 0;

    for (int k = 0; k < count; ++k) {
        const double end = k + 1 == count ? INFINITY : time ? pace * (time[k + 1] - time[0]) : wait * (k + 1);
        const int until =
            isinf(end) ? shown + (int)(FILM_HOLD * FILM_RATE) : (int)ceil(end * FILM_RATE - 1e-9);
        frames[k] = until > shown ? until - shown : 0;
        shown += frames[k];
    }
}

static void film_clock(const double *time, int k, double pace, char *text, size_t size)
{
    text[0] = 0;
    if (time) {
        char slower[40] = "";
        if (pace > 1) {
            snprintf(slower, sizeof slower, " (%.4g times slower)", pace);
        } else if (pace < 1) {
            snprintf(slower, sizeof slower, " (%.4g times faster)", 1 / pace);
        }
        const double span = time[k] - time[0];
        snprintf(text, size, "%.*f s%s", pace > 20 ? 4 : 2, span, slower);
    }
}

// ---- the files
typedef struct film_output {
    result_gif gif;
    result_video video;
    bool is_gif, is_video;
} film_output;

static pl_status film_put(const pl_series *s, film_output *o, cairo_surface_t *image, int k, int frames,
                          pl_error *err)
{
    const unsigned char *data = cairo_image_surface_get_data(image);
    const int stride = cairo_image_surface_get_stride(image), height = cairo_image_surface_get_height(image);

    if (o->is_gif) {
        return result_gif_add(&o->gif, data, stride, frames * 100 / FILM_RATE) ? PL_OK
                                                                               : pl_fail_memory(err, s->path);
    }

    pl_status status = PL_OK;
    if (o->is_video) {
        for (int i = 0; status == PL_OK && i < frames; ++i) {
            status = result_video_put(&o->video, data, (size_t)stride * (size_t)height, err);
        }
        return status;
    }

    pl_text file = {0};
    char *name = film_name(s->path, k);
    status = result_image_png(image, &file, s->path, err);
    if (status == PL_OK) {
        status = name ? pl_file_write(name, file.data, file.length, err) : pl_fail_memory(err, s->path);
    }
    pl_text_clear(&file);
    pl_free(name);

    return status;
}

static pl_status film_open(const pl_series *s, film_output *o, pl_error *err)
{
    const char *dot = strrchr(s->path, '.');
    const pl_picture *look = &s->film->look;

    o->is_gif = strcasecmp(dot, ".gif") == 0;
    o->is_video = !o->is_gif && strcasecmp(dot, ".png") != 0;
    o->gif.width = look->width;
    o->gif.height = look->height;
    o->video = (result_video){.file = {.fd = -1}, .socket = -1};

    return o->is_video ? result_video_begin(&o->video, s->path, look->width, look->height, FILM_RATE, err)
                       : PL_OK;
}

static pl_status film_close(const pl_series *s, film_output *o, pl_error *err)
{
    if (o->is_video) {
        return result_video_end(&o->video, err);
    }
    if (!o->is_gif) {
        return PL_OK;
    }

    pl_text file = {0};
    result_gif_write(&o->gif, &file);
    const pl_status status =
        file.failed ? pl_fail_memory(err, s->path) : pl_file_write(s->path, file.data, file.length, err);
    pl_text_clear(&file);

    return status;
}

static pl_status film_finish(pl_series *s, const double *time, pl_error *err)
{
    const result_film *m = s->film;
    film_scene scene = {0};
    film_output output = {0};
    const double pace = time ? film_pace(time, m->count) : 1;
    int *frames = PL_NEW_ARRAY(int, m->count);
    pl_status status = frames ? film_prepare(s, &scene, err) : pl_fail_memory(err, s->path);

    if (status == PL_OK) {
        film_schedule(time, m->count, pace, frames);
        status = film_open(s, &output, err);
    }

    for (int k = 0; status == PL_OK && k < m->count; ++k) {
        char clock[60];
        cairo_surface_t *image = NULL;
        if ((output.is_gif || output.is_video) && frames[k] == 0) {
            continue;
        }
        film_clock(time, k, pace, clock, sizeof clock);
        status = film_draw(m, k, clock, &scene, &image, err);
        if (status == PL_OK) {
            status = film_put(s, &output, image, k, frames[k], err);
            cairo_surface_destroy(image);
        }
    }

    if (status == PL_OK) {
        status = film_close(s, &output, err);
    }
    result_video_clear(&output.video);
    result_gif_clear(&output.gif);
    pl_free(frames);
    pl_free(scene.position);
    pl_free(scene.value);
    pl_free(scene.line);
    pl_free(scene.obstacle);

    return status;
}

// ---- entry points
pl_status result_film_begin(pl_series *s, pl_field color, pl_error *err)
{
    const pl_mesh *body = NULL;
    const char *dot = strrchr(s->path, '.');
    const bool video = strcasecmp(dot, ".webm") == 0 || strcasecmp(dot, ".mp4") == 0;

    s->add = film_add;
    s->finish = film_finish;
    pl_status status = video ? result_video_check(s->path, err) : PL_OK;
    if (status == PL_OK) {
        status = result_skin_check(s->model, color, s->path, err);
    }
    if (status == PL_OK) {
        status = pl_model_body(s->model, &body, err);
    }
    if (status == PL_OK && !body) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: the model has no body to draw", s->path);
    }
    s->film = status == PL_OK ? PL_NEW(result_film) : NULL;
    if (status == PL_OK && !s->film) {
        status = pl_fail_memory(err, s->path);
    }

    if (s->film) {
        s->film->color = color;
        s->film->look = pl_picture_default();
        s->film->look.width = FILM_WIDTH;
        s->film->look.height = FILM_HEIGHT;
    }

    return status;
}

void result_film_look(result_film *m, const pl_picture *picture)
{
    pl_picture *look = &m->look;
    memcpy(look->view, picture->view, sizeof look->view);
    memcpy(look->clip_point, picture->clip_point, sizeof look->clip_point);
    memcpy(look->clip_normal, picture->clip_normal, sizeof look->clip_normal);
    look->clip = picture->clip;
    look->wireframe = picture->wireframe;
    look->value_name = picture->value_name;

    // even, as videos want them
    look->width = picture->width > 0 ? picture->width / 2 * 2 : FILM_WIDTH;
    look->height = picture->height > 0 ? picture->height / 2 * 2 : FILM_HEIGHT;
}

void result_film_destroy(result_film *m)
{
    if (!m) {
        return;
    }

    for (int k = 0; k < m->count; ++k) {
        film_shape *f = &m->shape[k];
        pl_free(f->position);
        pl_free(f->value);
        pl_free(f->line);
        pl_free(f->obstacle);
        pl_free(f->line_start);
    }

    pl_free(m->shape);
    pl_free(m);
}
