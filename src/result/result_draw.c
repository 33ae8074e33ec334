// What pictures and plots share: a cairo canvas that ends as PNG or SVG, text, scales with round numbers,
// colours.
#include <stdio.h>
#include <strings.h>
#include "result/result_draw.h"

// Fontconfig keeps what it has read about fonts until the program ends; leak checkers may ignore it.
#if defined(__SANITIZE_ADDRESS__)
PL_API const char *__lsan_default_suppressions(void);
PL_API const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\nleak:libcairo\n";
}
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

static cairo_status_t draw_append(void *user, const unsigned char *data, unsigned length)
{
    pl_text *text = user;
    pl_text_add_bytes(text, data, length);
    return text->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static pl_status draw_fail(cairo_status_t status, const char *path, pl_error *err)
{
    return status == CAIRO_STATUS_NO_MEMORY
               ? pl_fail_memory(err, path)
               : pl_fail(err, PL_FAILED, "%s: drawing failed: %s", path, cairo_status_to_string(status));
}

pl_status pl_canvas_begin(pl_canvas *canvas, const char *what, const char *path, int width, int height,
                          pl_error *err)
{
    *canvas = (pl_canvas){0};
    const char *dot = strrchr(path, '.');
    const bool png = dot && strcasecmp(dot, ".png") == 0, svg = dot && strcasecmp(dot, ".svg") == 0;
    if (!png && !svg) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the file %s must end in .png or .svg", what, path);
    }
    if (width < 64 || width > 10000 || height < 64 || height > 10000) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the size is %d x %d pixels, expected 64 to 10000 each", what,
                       width, height);
    }

    const pl_status library = text_cairo_open(err);
    if (library != PL_OK) {
        return library;
    }

    canvas->is_svg = svg;
    canvas->surface = svg ? cairo_svg_surface_create_for_stream(draw_append, &canvas->svg, width, height)
                          : cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    canvas->cr = cairo_create(canvas->surface);
    const cairo_status_t status = cairo_status(canvas->cr);
    if (status != CAIRO_STATUS_SUCCESS) {
        pl_canvas_clear(canvas);
        return draw_fail(status, path, err);
    }

    return PL_OK;
}

void pl_canvas_clear(pl_canvas *canvas)
{
    if (canvas->cr) {
        cairo_destroy(canvas->cr);
    }
    if (canvas->surface) {
        cairo_surface_finish(canvas->surface);
        cairo_surface_destroy(canvas->surface);
    }

    pl_text_clear(&canvas->svg);
    *canvas = (pl_canvas){0};
}

pl_status pl_canvas_take(pl_canvas *canvas, const char *path, pl_text *out, pl_error *err)
{
    cairo_status_t status = cairo_status(canvas->cr);
    if (status == CAIRO_STATUS_SUCCESS && canvas->is_svg) {
        cairo_surface_finish(canvas->surface);
        status = cairo_surface_status(canvas->surface);
        pl_text_add_bytes(out, canvas->svg.data ? canvas->svg.data : "", canvas->svg.length);
    } else if (status == CAIRO_STATUS_SUCCESS) {
        status = cairo_surface_write_to_png_stream(canvas->surface, draw_append, out);
    }

    pl_canvas_clear(canvas);
    return status != CAIRO_STATUS_SUCCESS ? draw_fail(status, path, err)
           : out->failed                  ? pl_fail_memory(err, path)
                                          : PL_OK;
}

pl_status result_image_png(cairo_surface_t *image, pl_text *out, const char *path, pl_error *err)
{
    const cairo_status_t status = cairo_surface_write_to_png_stream(image, draw_append, out);
    return status != CAIRO_STATUS_SUCCESS ? draw_fail(status, path, err) : PL_OK;
}

pl_status pl_canvas_end(pl_canvas *canvas, const char *path, pl_error *err)
{
    pl_text file = {0};
    pl_status status = pl_canvas_take(canvas, path, &file, err);

    if (status == PL_OK) {
        status = pl_file_write(path, file.data, file.length, err);
    }
    pl_text_clear(&file);
    return status;
}

// ---- text

void pl_draw_font(cairo_t *cr, double size, bool bold)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

double pl_draw_text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t box;
    cairo_text_extents(cr, text, &box);
    return box.x_advance;
}

void pl_draw_text(cairo_t *cr, double x, double y, double ax, double ay, const char *text)
{
    cairo_font_extents_t font;
    cairo_font_extents(cr, &font);
    // letters reach about 0.72 of the ascent above the base line
    cairo_move_to(cr, x - ax * pl_draw_text_width(cr, text), y + ay * 0.76 * font.ascent);
    cairo_show_text(cr, text);
    cairo_new_path(cr);
}

void pl_draw_rgb(cairo_t *cr, const double rgb[3], double alpha)
{
    cairo_set_source_rgba(cr, rgb[0], rgb[1], rgb[2], alpha);
}

// ---- scales

double pl_round_step(double low, double high, int count)
{
    const double raw = (high - low) / count;
    if (!(raw > 0) || !isfinite(raw)) {
        return 1;
    }
    const double decade = pow(10, floor(log10(raw))), part = raw / decade;
    return decade * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

void pl_round_text(char *text, size_t room, double value, double step)
{
    const int digits = (int)ceil(-log10(step) - 1e-9);
    if (fabs(value) < 1e-9 * step) {
        snprintf(text, room, "0");
    } else if (fabs(value) >= 1e6 || digits > 5) {
        snprintf(text, room, "%.4g", value);
    } else {
        snprintf(text, room, "%.*f", digits > 0 ? digits : 0, value);
    }
}

// ---- colours

void pl_palette(int index, double rgb[3])
{
    static const unsigned table[] = {0x4f9d9d, 0xe8a54b, 0x6f8fc4, 0xdb7560, 0x87b06d,
                                     0xa07fb0, 0xc9b38a, 0x8d949c, 0x3f6f8f, 0xd98ca8};
    const unsigned c = table[(unsigned)index % PL_COUNT(table)];
    rgb[0] = (c >> 16 & 255) / 255.0;
    rgb[1] = (c >> 8 & 255) / 255.0;
    rgb[2] = (c & 255) / 255.0;
}

void pl_colour_map(double t, double rgb[3])
{
    static const double table[][3] = {{0.20, 0.12, 0.40}, {0.22, 0.24, 0.53}, {0.18, 0.37, 0.57},
                                      {0.14, 0.49, 0.57}, {0.13, 0.60, 0.55}, {0.24, 0.70, 0.47},
                                      {0.46, 0.79, 0.36}, {0.73, 0.86, 0.25}, {0.98, 0.90, 0.20}};
    if (isnan(t)) {
        rgb[0] = rgb[1] = rgb[2] = 0.65;
        return;
    }

    const int last = PL_COUNT(table) - 1;
    const double s = (t < 0 ? 0 : t > 1 ? 1 : t) * last;
    const int i = s >= last ? last - 1 : (int)s;
    for (int k = 0; k < 3; ++k) {
        rgb[k] = table[i][k] + (s - i) * (table[i + 1][k] - table[i][k]);
    }
}
