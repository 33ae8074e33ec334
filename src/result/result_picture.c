// Pictures of meshes and shapes: an orthographic view of the boundary, shaded, by region or by value, with a
// ghost of another shape, wires, a cut, a legend, a triad and a scale bar.
#include <stdio.h>
#include <strings.h>
#include "base/vec.h"
#include "result/result_picture.h"

static const double picture_ink[3] = {0.16, 0.18, 0.23};

pl_picture pl_picture_default(void)
{
    return (pl_picture){.view = {1.0, -1.35, 0.85}, .width = 1200, .height = 800};
}

pl_status pl_picture_view(const char *text, double view[3], pl_error *err)
{
    static const struct {
        const char *name;
        double view[3];
    } known[] = {{"iso", {1.0, -1.35, 0.85}}, {"front", {0, -1, 0}}, {"back", {0, 1, 0}},
                 {"left", {-1, 0, 0}},        {"right", {1, 0, 0}},  {"top", {0, 0, 1}},
                 {"bottom", {0, 0, -1}}};
    for (int i = 0; i < PL_COUNT(known); ++i) {
        if (strcasecmp(text, known[i].name) == 0) {
            memcpy(view, known[i].view, sizeof known[i].view);
            return PL_OK;
        }
    }

    double v[3];
    const char *at = text;
    bool good = true;

    for (int i = 0; good && i < 3; ++i) {
        char *end;
        v[i] = pl_real_read(at, &end);
        good = end != at && isfinite(v[i]);
        at = end + strspn(end, " \t");
        good = good && *at == (i < 2 ? ',' : '\0');
        at += i < 2;
    }

    if (good && v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > 0) {
        memcpy(view, v, sizeof v);
        return PL_OK;
    }

    return pl_fail(err, PL_BAD_INPUT,
                   "view '%.60s': expected iso, front, back, left, right, top, bottom or three numbers x,y,z",
                   text);
}

// ---- the camera

// Up on the screen is z, or y when one looks along z.
void pl_camera_look(pl_camera *camera, const double view[3])
{
    double *right = camera->axis, *up = camera->axis + 3, *eye = camera->axis + 6;
    const double length = pl_norm3(view);

    for (int i = 0; i < 3; ++i) {
        eye[i] = view[i] / length;
    }

    const double sky[3] = {0, fabs(eye[2]) > 0.999, fabs(eye[2]) <= 0.999};
    pl_cross3(sky, eye, right);
    const double r = pl_norm3(right);
    for (int i = 0; i < 3; ++i) {
        right[i] /= r;
    }
    pl_cross3(eye, right, up);
}

pl_spot pl_camera_spot(const pl_camera *camera, const double x[3])
{
    double y[3], d[3];
    pl_mulv3(camera->axis, x, y);
    pl_spot spot = {.x = camera->x + camera->scale * (y[0] - camera->centre[0]),
                    .y = camera->y - camera->scale * (y[1] - camera->centre[1]),
                    .z = y[2] - camera->centre[2]};
    if (camera->clip) {
        pl_sub3(x, camera->clip_point, d);
        spot.beyond = pl_dot3(d, camera->clip_normal);
    }

    return spot;
}

// ---- what there is to draw

// Measures of the layout, in pixels of the picture.
typedef struct picture_layout {
    int width, height, fine;
    double unit;                     // size of things relative to 1200 x 800
    double left, right, top, bottom; // margins
    double low, high;                // of the values
    double extent;                   // mm, largest of the view box
} picture_layout;

static void picture_widen(const pl_camera *camera, const double *x, int64_t count, double low[3],
                          double high[3])
{
    for (int64_t v = 0; v < count; ++v) {
        double y[3];
        pl_mulv3(camera->axis, x + 3 * v, y);
        for (int i = 0; i < 3; ++i) {
            low[i] = fmin(low[i], y[i]);
            high[i] = fmax(high[i], y[i]);
        }
    }
}

static bool picture_all_finite(const double *x, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        if (!(fabs(x[i]) < 1e30)) {
            return false;
        }
    }

    return true;
}

static pl_status picture_check(const pl_picture *p, const char *path, pl_error *err)
{
    if (!p->mesh) {
        return pl_fail(err, PL_BAD_INPUT, "picture %s: mesh is NULL", path);
    }

    const int64_t count = 3 * (int64_t)pl_mesh_get(p->mesh).vertex_count;
    if (!picture_all_finite(p->view, 3) || (p->position && !picture_all_finite(p->position, count)) ||
        (p->ghost && !picture_all_finite(p->ghost, count)) ||
        (p->line_count > 0 && !picture_all_finite(p->line, 3 * (int64_t)p->line_start[p->line_count]))) {
        return pl_fail(err, PL_BAD_INPUT, "picture %s: view, positions and lines must be finite numbers",
                       path);
    }

    if (p->clip && (!picture_all_finite(p->clip_point, 3) || !picture_all_finite(p->clip_normal, 3) ||
                    !(pl_norm3(p->clip_normal) > 0))) {
        return pl_fail(err, PL_BAD_INPUT, "picture %s: clip_normal must not be zero", path);
    }

    if (p->width < 0 || p->width > 10000 || p->height < 0 || p->height > 10000) {
        return pl_fail(err, PL_BAD_INPUT, "picture %s: the size is %d x %d pixels, expected 64 to 10000 each",
                       path, p->width, p->height);
    }

    return PL_OK;
}

// Puts everything that will be drawn into the middle of what the margins leave.
static void picture_frame(const pl_picture *p, picture_layout *l, pl_camera *camera)
{
    static const double iso[3] = {1.0, -1.35, 0.85};
    const pl_mesh_view v = pl_mesh_get(p->mesh);

    pl_camera_look(camera, pl_norm3(p->view) > 0 ? p->view : iso);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    picture_widen(camera, p->position ? p->position : v.position, v.vertex_count, low, high);
    if (p->ghost) {
        picture_widen(camera, p->ghost, v.vertex_count, low, high);
    }
    if (p->line_count > 0) {
        picture_widen(camera, p->line, p->line_start[p->line_count], low, high);
    }
    if (p->triangle_count > 0) {
        picture_widen(camera, p->triangle, 3 * p->triangle_count, low, high);
    }
    picture_widen(camera, p->within, p->within_count, low, high);
    const double room_x = l->width - l->left - l->right, room_y = l->height - l->top - l->bottom;
    const double size_x = fmax(high[0] - low[0], 1e-9), size_y = fmax(high[1] - low[1], 1e-9);
    camera->scale = fmin(room_x / size_x, room_y / size_y) * l->fine;
    camera->x = (l->left + 0.5 * room_x) * l->fine;
    camera->y = (l->top + 0.5 * room_y) * l->fine;
    for (int i = 0; i < 3; ++i) {
        camera->centre[i] = 0.5 * (low[i] + high[i]);
    }
    l->extent = fmax(fmax(size_x, size_y), high[2] - low[2]);
    camera->clip = p->clip;
    const double length = pl_norm3(p->clip_normal);
    for (int i = 0; p->clip && i < 3; ++i) {
        camera->clip_point[i] = p->clip_point[i];
        camera->clip_normal[i] = p->clip_normal[i] / length;
    }
}

static void picture_lay_out(const pl_picture *p, picture_layout *l)
{
    l->width = p->width ? p->width : 1200;
    l->height = p->height ? p->height : 800;
    l->unit = fmin(l->width / 1200.0, l->height / 800.0);
    l->fine = (int64_t)l->width * l->height > 4000000 ? 2 : 3;
    const bool legend = p->vertex_value || pl_mesh_get(p->mesh).region_count > 1;
    l->left = 50 * l->unit;
    l->right = (legend ? 190 : 50) * l->unit;
    l->top = (p->title ? 90 : 45) * l->unit;
    l->bottom = 100 * l->unit;
    l->low = p->value_low;
    l->high = p->value_high;

    if (p->vertex_value && l->low == 0 && l->high == 0) {
        l->low = INFINITY;
        l->high = -INFINITY;

        for (int32_t v = 0; v < pl_mesh_get(p->mesh).vertex_count; ++v) {
            if (isfinite(p->vertex_value[v])) {
                l->low = fmin(l->low, p->vertex_value[v]);
                l->high = fmax(l->high, p->vertex_value[v]);
            }
        }
    }

    if (!(l->high - l->low > 0) || !isfinite(l->high - l->low)) {
        l->low = isfinite(l->low) ? l->low : 0;
        l->high = l->low + fmax(1e-12, 1e-6 * fabs(l->low));
    }
}

// Wires: a round stroke in a warm red.
static void picture_draw_lines(const pl_picture *p, const pl_camera *camera, const picture_layout *l,
                               pl_raster *raster)
{
    static const double red[3] = {0.80, 0.16, 0.20};
    pl_camera whole = *camera;

    whole.clip = false;
    for (int k = 0; k < p->line_count; ++k) {
        for (int32_t i = p->line_start[k]; i + 1 < p->line_start[k + 1]; ++i) {
            const pl_spot a = pl_camera_spot(&whole, p->line + 3 * (int64_t)i);
            const pl_spot b = pl_camera_spot(&whole, p->line + 3 * (int64_t)i + 3);
            const double width = fmax(2.0, 4.5 * l->unit) * l->fine;
            pl_raster_stroke(raster, &a, &b, width, width / camera->scale, red, 1, false);
        }
    }
}

// Obstacles: grey, lit from both sides.
static void picture_draw_triangles(const pl_picture *p, const pl_camera *camera, pl_raster *raster)
{
    static const double grey[3] = {0.70, 0.72, 0.75};
    pl_camera whole = *camera;

    whole.clip = false;
    for (int k = 0; k < p->triangle_count; ++k) {
        const double *x = p->triangle + 9 * (size_t)k;
        double u[3], v[3], n[3], seen[3];
        pl_spot spot[3];
        pl_sub3(x + 3, x, u);
        pl_sub3(x + 6, x, v);
        pl_cross3(u, v, n);
        pl_mulv3(whole.axis, n, seen);
        const double length = pl_norm3(seen), sign = seen[2] < 0 ? -1 : 1;

        for (int c = 0; c < 3; ++c) {
            spot[c] = pl_camera_spot(&whole, x + 3 * c);
            for (int i = 0; i < 3; ++i) {
                spot[c].normal[i] = length > 0 ? sign * seen[i] / length : i == 2;
            }
        }

        pl_raster_triangle(raster, &spot[0], &spot[1], &spot[2], grey);
    }
}

// Where something is wrong: a red dot in front of everything.
static void picture_draw_marks(const pl_picture *p, const pl_camera *camera, const picture_layout *l,
                               pl_raster *raster)
{
    static const double red[3] = {0.90, 0.05, 0.05};
    pl_camera whole = *camera;

    whole.clip = false;
    for (int k = 0; k < p->mark_count; ++k) {
        const pl_spot a = pl_camera_spot(&whole, p->mark + 3 * (size_t)k);
        pl_raster_stroke(raster, &a, &a, 18 * l->unit * l->fine, l->extent, red, 1, false);
    }
}

// The body, and behind it the shape at rest as a grey veil, which no plane cuts.
static pl_status picture_render(const pl_picture *p, const picture_layout *l, const pl_camera *camera,
                                cairo_surface_t *image, pl_error *err)
{
    static const double grey[3] = {0.62, 0.66, 0.72};
    pl_scene scene = {0}, ghost_scene = {0};
    pl_raster raster = {0}, ghost = {0};
    const pl_scene_style style = {.value = p->vertex_value,
                                  .low = l->low,
                                  .high = l->high,
                                  .line_width = fmax(1.0, 1.5 * l->unit) * l->fine,
                                  .line_alpha = 0.75,
                                  .wireframe = p->wireframe,
                                  .caps = true};

    // the veil has no colours of its own
    pl_scene_style veil = style;

    veil.value = NULL;
    veil.colour = grey;
    veil.wireframe = false;
    veil.caps = false;
    veil.line_alpha = 0.6;
    pl_camera whole = *camera;
    whole.clip = false;
    pl_status status = pl_scene_create(&scene, p->mesh, p->position, err);
    if (status == PL_OK && !pl_raster_begin(&raster, l->width, l->height, l->fine)) {
        status = pl_fail_memory(err, "picture");
    }

    // drawn apart, so that it does not hide the body
    if (status == PL_OK && p->ghost) {
        status = pl_scene_create(&ghost_scene, p->mesh, p->ghost, err);
        if (status == PL_OK && !pl_raster_begin(&ghost, l->width, l->height, l->fine)) {
            status = pl_fail_memory(err, "picture");
        }

        // everything that is in space shares one depth buffer; words are drawn over it
        if (status == PL_OK) {
            pl_scene_draw(&ghost_scene, &whole, &veil, &ghost);
        }
    }

    if (status == PL_OK) {
        pl_scene_draw(&scene, camera, &style, &raster);
        picture_draw_triangles(p, camera, &raster);
        picture_draw_lines(p, camera, l, &raster);
        picture_draw_marks(p, camera, l, &raster);
        cairo_surface_flush(image);
        pl_raster_resolve(&raster, camera->scale, 0.045 * l->extent, p->ghost ? &ghost : NULL,
                          cairo_image_surface_get_data(image), cairo_image_surface_get_stride(image));
        cairo_surface_mark_dirty(image);
    }

    pl_raster_end(&raster);
    pl_raster_end(&ghost);
    pl_scene_clear(&scene);
    pl_scene_clear(&ghost_scene);

    return status;
}

// ---- what is written around it

static void picture_draw_legend(cairo_t *cr, const pl_picture *p, const picture_layout *l)
{
    const pl_mesh_view v = pl_mesh_get(p->mesh);
    const double u = l->unit, box = 20 * u, x = l->width - 170 * u;
    const int shown = v.region_count > 12 ? 12 : v.region_count;
    double y = l->top + 10 * u;

    pl_draw_font(cr, 17 * u, false);
    for (int r = 0; r < shown; ++r, y += 32 * u) {
        double rgb[3];
        pl_palette(r, rgb);
        pl_draw_rgb(cr, rgb, 1);
        cairo_rectangle(cr, x, y, box, box);
        cairo_fill_preserve(cr);
        pl_draw_rgb(cr, picture_ink, 0.6);
        cairo_set_line_width(cr, fmax(0.8, u));
        cairo_stroke(cr);
        pl_draw_rgb(cr, picture_ink, 1);
        pl_draw_text(cr, x + box + 10 * u, y + 0.5 * box, 0, 0.5, v.region_name[r]);
    }

    if (shown < v.region_count) {
        char more[40];
        snprintf(more, sizeof more, "and %d more", (int)v.region_count - shown);
        pl_draw_text(cr, x, y + 0.5 * box, 0, 0.5, more);
    }
}

static void picture_draw_bar(cairo_t *cr, const pl_picture *p, const picture_layout *l)
{
    const double u = l->unit, x = l->width - 150 * u, top = l->top + 40 * u, width = 22 * u;
    const double tall = fmax(10, l->height - l->top - l->bottom - 60 * u);
    const int steps = 128;

    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (int i = 0; i < steps; ++i) {
        double rgb[3];
        pl_colour_map((i + 0.5) / steps, rgb);
        pl_draw_rgb(cr, rgb, 1);
        cairo_rectangle(cr, x, top + tall * (steps - 1 - i) / steps, width, tall / steps + 1);
        cairo_fill(cr);
    }

    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
    pl_draw_rgb(cr, picture_ink, 1);
    cairo_set_line_width(cr, fmax(0.8, u));
    cairo_rectangle(cr, x, top, width, tall);
    cairo_stroke(cr);
    pl_draw_font(cr, 16 * u, false);
    const double step = pl_round_step(l->low, l->high, 5);

    for (double t = ceil(l->low / step - 1e-9) * step; t <= l->high + 1e-9 * step; t += step) {
        const double y = top + tall * (1 - (t - l->low) / (l->high - l->low));
        char text[32];
        pl_round_text(text, sizeof text, t, step);
        cairo_move_to(cr, x + width, y);
        cairo_line_to(cr, x + width + 6 * u, y);
        cairo_stroke(cr);
        pl_draw_text(cr, x + width + 11 * u, y, 0, 0.5, text);
        if (!(t + step > t)) {
            break;
        }
    }

    if (p->value_name) {
        pl_draw_font(cr, 16 * u, true);
        const double wide = pl_draw_text_width(cr, p->value_name);
        pl_draw_text(cr, fmin(x, l->width - 15 * u - wide), top - 14 * u, 0, 0, p->value_name);
    }
}

static void picture_draw_triad(cairo_t *cr, const pl_camera *camera, const picture_layout *l)
{
    static const char *const name[3] = {"x", "y", "z"};
    static const double rgb[3][3] = {{0.80, 0.25, 0.25}, {0.25, 0.58, 0.30}, {0.22, 0.40, 0.75}};
    const double u = l->unit, x = 70 * u, y = l->height - 62 * u, size = 38 * u;
    int order[3] = {0, 1, 2};

    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            if (camera->axis[6 + order[j]] > camera->axis[6 + order[j + 1]]) {
                const int t = order[j];
                order[j] = order[j + 1];
                order[j + 1] = t;
            }
        }
    }

    pl_draw_font(cr, 16 * u, true);
    cairo_set_line_width(cr, 2.6 * u);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);

    for (int k = 0; k < 3; ++k) {
        const int i = order[k];
        const double dx = camera->axis[i], dy = -camera->axis[3 + i], length = hypot(dx, dy);
        pl_draw_rgb(cr, rgb[i], 1);
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + size * dx, y + size * dy);
        cairo_stroke(cr);
        if (length > 0.2) {
            pl_draw_text(cr, x + size * dx + 12 * u * dx / length, y + size * dy + 12 * u * dy / length, 0.5,
                         0.5, name[i]);
        }
    }
}

static void picture_draw_scale(cairo_t *cr, const pl_camera *camera, const picture_layout *l)
{
    const double u = l->unit, per_mm = camera->scale / l->fine;
    const double length = pl_round_step(0, 150 * u / per_mm, 1), pixels = length * per_mm;
    const double x1 = l->width - 50 * u, y = l->height - 45 * u, x0 = x1 - pixels, tick = 6 * u;
    char number[32], text[40];

    pl_round_text(number, sizeof number, length, length);
    snprintf(text, sizeof text, "%s mm", number);
    pl_draw_rgb(cr, picture_ink, 1);
    cairo_set_line_width(cr, 2 * u);
    cairo_move_to(cr, x0, y - tick);
    cairo_line_to(cr, x0, y);
    cairo_line_to(cr, x1, y);
    cairo_line_to(cr, x1, y - tick);
    cairo_stroke(cr);
    pl_draw_font(cr, 16 * u, false);
    pl_draw_text(cr, 0.5 * (x0 + x1), y - 8 * u, 0.5, 0, text);
}

static void picture_annotate(cairo_t *cr, const pl_picture *p, const pl_camera *camera,
                             const picture_layout *l)
{
    pl_draw_rgb(cr, picture_ink, 1);
    if (p->title) {
        pl_draw_font(cr, 26 * l->unit, true);
        pl_draw_text(cr, 40 * l->unit, 52 * l->unit, 0, 0, p->title);
    }

    if (p->vertex_value) {
        picture_draw_bar(cr, p, l);
    } else if (pl_mesh_get(p->mesh).region_count > 1) {
        picture_draw_legend(cr, p, l);
    }

    picture_draw_triad(cr, camera, l);
    picture_draw_scale(cr, camera, l);
}

// Draws the body into an image of its own and then onto `cr`, with what is written around it.
static pl_status picture_draw(const pl_picture *picture, const picture_layout *layout, cairo_t *cr,
                              pl_error *err)
{
    picture_layout l = *layout;
    pl_camera camera = {0};

    picture_frame(picture, &l, &camera);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, l.width, l.height);
    const pl_status status = cairo_surface_status(image) != CAIRO_STATUS_SUCCESS
                                 ? pl_fail_memory(err, "picture")
                                 : picture_render(picture, &l, &camera, image, err);
    if (status == PL_OK) {
        cairo_set_source_surface(cr, image, 0, 0);
        cairo_paint(cr);
        picture_annotate(cr, picture, &camera, &l);
    }

    cairo_surface_destroy(image);

    return status;
}

// The bytes of a file of that name.
static pl_status picture_take(const pl_picture *picture, const char *path, pl_text *out, pl_error *err)
{
    pl_status status = picture_check(picture, path, err);
    if (status != PL_OK) {
        return status;
    }

    picture_layout layout = {0};
    pl_canvas canvas;
    picture_lay_out(picture, &layout);
    status = pl_canvas_begin(&canvas, "picture", path, layout.width, layout.height, err);
    if (status != PL_OK) {
        return status;
    }
    status = picture_draw(picture, &layout, canvas.cr, err);
    if (status == PL_OK) {
        status = pl_canvas_take(&canvas, path, out, err);
    }
    pl_canvas_clear(&canvas);

    return status;
}

pl_status result_picture_image(const pl_picture *picture, cairo_surface_t **out, pl_error *err)
{
    *out = NULL;
    pl_status status = picture_check(picture, "film", err);
    if (status == PL_OK) {
        status = text_cairo_open(err);
    }
    if (status != PL_OK) {
        return status;
    }

    picture_layout layout = {0};
    picture_lay_out(picture, &layout);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, layout.width, layout.height);
    cairo_t *cr = cairo_create(image);
    status = cairo_status(cr) != CAIRO_STATUS_SUCCESS ? pl_fail_memory(err, "film")
                                                      : picture_draw(picture, &layout, cr, err);
    cairo_destroy(cr);
    cairo_surface_flush(image);
    if (status != PL_OK) {
        cairo_surface_destroy(image);
        return status;
    }

    *out = image;

    return PL_OK;
}

pl_status result_picture_png(const pl_picture *picture, pl_text *out, pl_error *err)
{
    return picture_take(picture, "picture.png", out, err);
}

pl_status pl_picture_write(const pl_picture *picture, const char *path, pl_error *err)
{
    pl_text file = {0};
    pl_status status = picture_take(picture, path, &file, err);

    if (status == PL_OK) {
        status = pl_file_write(path, file.data, file.length, err);
    }
    pl_text_clear(&file);
    return status;
}
