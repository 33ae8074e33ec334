// Plots of curves: axes with round numbers, a grid, lines or dots, a legend.
#include <stdio.h>
#include "result/result_draw.h"

static const double plot_ink[3] = {0.16, 0.18, 0.23};

typedef struct plot_axis {
    double low, high, step; // of the data, widened to whole steps
    double begin, end;      // pixels
} plot_axis;

static double plot_place(const plot_axis *axis, double value)
{
    return axis->begin + (value - axis->low) / (axis->high - axis->low) * (axis->end - axis->begin);
}

// The range of all finite points, widened to round numbers.
static void plot_range(const pl_plot *plot, bool vertical, int parts, plot_axis *axis)
{
    double low = INFINITY, high = -INFINITY;
    for (int c = 0; c < plot->curve_count; ++c) {
        for (int i = 0; i < plot->curve[c].count; ++i) {
            const double x = plot->curve[c].x[i], y = plot->curve[c].y[i], value = vertical ? y : x;
            if (fabs(x) < 1e100 && fabs(y) < 1e100) {
                low = fmin(low, value);
                high = fmax(high, value);
            }
        }
    }

    if (!(low <= high)) {
        low = 0;
        high = 1;
    }

    if (!(high - low > 1e-12 * fmax(fabs(low), fabs(high)))) {
        const double pad = low != 0 ? 0.5 * fabs(low) : 1;
        low -= pad;
        high += pad;
    }

    axis->step = pl_round_step(low, high, parts);
    axis->low = floor(low / axis->step + 1e-9) * axis->step;
    axis->high = ceil(high / axis->step - 1e-9) * axis->step;
}

// Ticks, grid lines and numbers along one axis; `other` gives the extent across.
static void plot_draw_axis(cairo_t *cr, const plot_axis *axis, const plot_axis *other, bool vertical,
                           double unit)
{
    const int ticks = (int)lround((axis->high - axis->low) / axis->step);
    pl_draw_font(cr, 14 * unit, false);
    for (int k = 0; k <= ticks; ++k) {
        const double value = axis->low + k * axis->step, at = plot_place(axis, value);
        char text[32];
        pl_round_text(text, sizeof text, value, axis->step);
        cairo_set_line_width(cr, fmax(0.6, 0.8 * unit));
        pl_draw_rgb(cr, plot_ink, 0.14);
        cairo_move_to(cr, vertical ? other->begin : at, vertical ? at : other->begin);
        cairo_line_to(cr, vertical ? other->end : at, vertical ? at : other->end);
        cairo_stroke(cr);
        pl_draw_rgb(cr, plot_ink, 1);
        if (vertical) {
            pl_draw_text(cr, other->begin - 9 * unit, at, 1, 0.5, text);
        } else {
            pl_draw_text(cr, at, other->begin + 10 * unit, 0.5, 1, text);
        }
    }

    pl_draw_rgb(cr, plot_ink, 0.8);
    cairo_set_line_width(cr, 1.2 * unit);
    cairo_move_to(cr, vertical ? other->begin : axis->begin, vertical ? axis->begin : other->begin);
    cairo_line_to(cr, vertical ? other->begin : axis->end, vertical ? axis->end : other->begin);
    cairo_stroke(cr);
}

static void plot_curve_colour(const pl_plot *plot, int c, double rgb[3])
{
    // one curve alone is dark; several take turns, a little deeper than on bodies
    pl_palette(plot->curve_count == 1 ? 8 : c, rgb);
    for (int i = 0; i < 3; ++i) {
        rgb[i] *= 0.9;
    }
}

static void plot_draw_curve(cairo_t *cr, const pl_curve *curve, const plot_axis *ax, const plot_axis *ay,
                            double unit)
{
    bool down = false;
    cairo_set_line_width(cr, 2.4 * unit);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);

    for (int i = 0; i < curve->count; ++i) {
        const double x = curve->x[i], y = curve->y[i];
        if (!(fabs(x) < 1e100 && fabs(y) < 1e100)) {
            down = false; // a gap
            continue;
        }

        const double px = plot_place(ax, x), py = plot_place(ay, y);
        if (curve->points) {
            cairo_arc(cr, px, py, 3.6 * unit, 0, 2 * PL_PI);
            cairo_fill(cr);
        } else if (down) {
            cairo_line_to(cr, px, py);
        } else {
            cairo_move_to(cr, px, py);
        }
        down = true;
    }

    cairo_stroke(cr);
}

#define PLOT_SAMPLES 16 // of a line between two points

// How much of the curves falls into a box of the plot: points, and samples of the lines between them.
static int64_t plot_crowd(const pl_plot *plot, const plot_axis *ax, const plot_axis *ay, double x0, double y0,
                          double x1, double y1)
{
    int64_t n = 0;
    for (int c = 0; c < plot->curve_count; ++c) {
        const pl_curve *curve = &plot->curve[c];

        for (int i = 0; i < curve->count; ++i) {
            const int next = i + 1 < curve->count ? i + 1 : i, samples = curve->points ? 1 : PLOT_SAMPLES;
            for (int k = 0; k < samples; ++k) {
                const double t = (double)k / samples;
                const double x = plot_place(ax, curve->x[i] + t * (curve->x[next] - curve->x[i])),
                             y = plot_place(ay, curve->y[i] + t * (curve->y[next] - curve->y[i]));
                n += x >= x0 && x <= x1 && y >= y0 && y <= y1;
            }
        }
    }

    return n;
}

// The legend stands in the corner where the least of the curves is.
static void plot_draw_legend(cairo_t *cr, const pl_plot *plot, const plot_axis *ax, const plot_axis *ay,
                             double unit)
{
    double width = 0;
    int named = 0;

    pl_draw_font(cr, 14 * unit, false);
    for (int c = 0; c < plot->curve_count; ++c) {
        if (plot->curve[c].name) {
            width = fmax(width, pl_draw_text_width(cr, plot->curve[c].name));
            ++named;
        }
    }

    if (named == 0) {
        return;
    }

    // four corners; the one with the fewest points of curves below it
    const double w = width + 56 * unit, h = (22 * named + 10) * unit, gap = 12 * unit;
    const double xs[2] = {ax->begin + gap, ax->end - gap - w}, ys[2] = {ay->end + gap, ay->begin - gap - h};
    double x = xs[0], y = ys[0];
    int64_t least = INT64_MAX;

    for (int k = 0; k < 4; ++k) {
        const int64_t n = plot_crowd(plot, ax, ay, xs[k % 2] - gap, ys[k / 2] - gap, xs[k % 2] + w + gap,
                                     ys[k / 2] + h + gap);
        if (n < least) {
            least = n;
            x = xs[k % 2];
            y = ys[k / 2];
        }
    }

    // nearly opaque, so that a curve behind it does not disturb
    cairo_rectangle(cr, x, y, w, h);
    cairo_set_source_rgba(cr, 1, 1, 1, 0.88);
    cairo_fill_preserve(cr);
    pl_draw_rgb(cr, plot_ink, 0.25);
    cairo_set_line_width(cr, fmax(0.6, 0.8 * unit));
    cairo_stroke(cr);

    for (int c = 0; c < plot->curve_count; ++c) {
        if (!plot->curve[c].name) {
            continue;
        }
        double rgb[3];
        plot_curve_colour(plot, c, rgb);
        y += 22 * unit;
        pl_draw_rgb(cr, rgb, 1);
        cairo_set_line_width(cr, 2.6 * unit);
        if (plot->curve[c].points) {
            cairo_arc(cr, x + 24 * unit, y - 6 * unit, 3.8 * unit, 0, 2 * PL_PI);
            cairo_fill(cr);
        } else {
            cairo_move_to(cr, x + 10 * unit, y - 6 * unit);
            cairo_line_to(cr, x + 38 * unit, y - 6 * unit);
            cairo_stroke(cr);
        }

        pl_draw_rgb(cr, plot_ink, 1);
        pl_draw_text(cr, x + 47 * unit, y - 6 * unit, 0, 0.5, plot->curve[c].name);
    }
}

static void plot_draw_labels(cairo_t *cr, const pl_plot *plot, const plot_axis *ax, const plot_axis *ay,
                             double unit)
{
    pl_draw_rgb(cr, plot_ink, 1);
    if (plot->title) {
        pl_draw_font(cr, 19 * unit, true);
        pl_draw_text(cr, ax->begin, 34 * unit, 0, 0, plot->title);
    }

    pl_draw_font(cr, 15 * unit, false);
    if (plot->x_label) {
        pl_draw_text(cr, 0.5 * (ax->begin + ax->end), ay->begin + 38 * unit, 0.5, 1, plot->x_label);
    }

    if (plot->y_label) {
        cairo_save(cr);
        cairo_translate(cr, 24 * unit, 0.5 * (ay->begin + ay->end));
        cairo_rotate(cr, -0.5 * PL_PI);
        pl_draw_text(cr, 0, 0, 0.5, 0.5, plot->y_label);
        cairo_restore(cr);
    }
}

pl_status pl_plot_write(const pl_plot *plot, const char *path, pl_error *err)
{
    const int width = plot->width ? plot->width : 900, height = plot->height ? plot->height : 600;
    for (int c = 0; c < plot->curve_count; ++c) {
        if (plot->curve[c].count < 0 ||
            (plot->curve[c].count > 0 && (!plot->curve[c].x || !plot->curve[c].y))) {
            return pl_fail(err, PL_BAD_INPUT, "plot %s: curve %d has no points", path, c);
        }
    }

    pl_canvas canvas;
    const pl_status status = pl_canvas_begin(&canvas, "plot", path, width, height, err);
    if (status != PL_OK) {
        return status;
    }

    cairo_t *cr = canvas.cr;
    const double unit = fmin(width / 900.0, height / 600.0);
    plot_axis ax = {.begin = 92 * unit, .end = width - 32 * unit};
    plot_axis ay = {.begin = height - 72 * unit, .end = (plot->title ? 56 : 28) * unit};
    plot_range(plot, false, 7, &ax);
    plot_range(plot, true, 6, &ay);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    plot_draw_axis(cr, &ax, &ay, false, unit);
    plot_draw_axis(cr, &ay, &ax, true, unit);

    for (int c = 0; c < plot->curve_count; ++c) {
        double rgb[3];
        plot_curve_colour(plot, c, rgb);
        pl_draw_rgb(cr, rgb, 1);
        plot_draw_curve(cr, plot->curve + c, &ax, &ay, unit);
    }

    plot_draw_legend(cr, plot, &ax, &ay, unit);
    plot_draw_labels(cr, plot, &ax, &ay, unit);

    return pl_canvas_end(&canvas, path, err);
}
