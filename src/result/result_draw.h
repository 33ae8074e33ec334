// Inside result: what pictures and plots share. A canvas in PNG or SVG, text, round numbers on scales,
// colours.
#ifndef PL_RESULT_DRAW_H
#define PL_RESULT_DRAW_H

#include "base/base.h"
#include "text/text_cairo.h"
#include "pliant/result.h"

typedef struct pl_canvas {
    cairo_surface_t *surface;
    cairo_t *cr;
    pl_text svg; // the file, when it is SVG
    bool is_svg;
} pl_canvas;

// Opens a canvas for a file name that ends in .png or .svg; `what` begins the sentence when it does not. The
// canvas must not move in memory until it is ended.
pl_status pl_canvas_begin(pl_canvas *canvas, const char *what, const char *path, int width, int height,
                          pl_error *err);

// The picture as it stands in a file, and closes the canvas.
pl_status pl_canvas_take(pl_canvas *canvas, const char *path, pl_text *out, pl_error *err);

// Writes the file and closes the canvas.
pl_status pl_canvas_end(pl_canvas *canvas, const char *path, pl_error *err);
void pl_canvas_clear(pl_canvas *canvas); // gives up without writing

// Text at (x, y): `ax` 0 left, 0.5 centred, 1 right; `ay` 0 on the base line, 0.5 centred in height, 1
// hanging.
void pl_draw_text(cairo_t *cr, double x, double y, double ax, double ay, const char *text);
double pl_draw_text_width(cairo_t *cr, const char *text);
void pl_draw_font(cairo_t *cr, double size, bool bold);
void pl_draw_rgb(cairo_t *cr, const double rgb[3], double alpha);

// A round step (1, 2 or 5 times a power of ten) that cuts [low, high] into about `count` parts.
double pl_round_step(double low, double high, int count);

// A number of a scale with that step: "0.25", "-30", "1e+06".
void pl_round_text(char *text, size_t room, double value, double step);

// Colours of regions and curves, one after the other; and of values in [0, 1] (dark blue over green to
// yellow, even in lightness). NAN gives grey.
void pl_palette(int index, double rgb[3]);
void pl_colour_map(double t, double rgb[3]);

// A picture as the bytes of a PNG file.
pl_status result_picture_png(const pl_picture *picture, pl_text *out, pl_error *err);

// A picture as an image in memory (RGB24), for films; release with cairo_surface_destroy.
pl_status result_image_png(cairo_surface_t *image, pl_text *out, const char *path, pl_error *err);
pl_status result_picture_image(const pl_picture *picture, cairo_surface_t **out, pl_error *err);

#endif
