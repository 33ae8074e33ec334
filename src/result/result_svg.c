// Plots as SVG text: axes with round numbers, curves, dots, a legend.
#include "result/result_svg.h"

enum { SVG_LEFT = 58, SVG_RIGHT = 14, SVG_TOP = 30, SVG_BOTTOM = 40 };

// A linear map from values to pixels.
typedef struct svg_axis {
    double low, high, from, to; // values, pixels
} svg_axis;

void result_html_text(pl_text *out, const char *text)
{
    for (; *text; ++text) {
        switch (*text) {
        case '<':
            pl_text_add(out, "&lt;");
            break;
        case '>':
            pl_text_add(out, "&gt;");
            break;
        case '&':
            pl_text_add(out, "&amp;");
            break;
        case '"':
            pl_text_add(out, "&quot;");
            break;
        case '\'':
            pl_text_add(out, "&#39;");
            break;
        default:
            if ((unsigned char)*text >= 0x20 || *text == '\n') {
                pl_text_add(out, "%c", *text);
            }
        }
    }
}

static double svg_pixel(const svg_axis *a, double value)
{
    return a->from + (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

static const double *svg_x(const result_svg_plot *p, const result_svg_curve *c, int k)
{
    return c->x ? c->x + (int64_t)k * c->stride_x : p->x + k;
}

static const double *svg_y(const result_svg_curve *c, int k)
{
    return c->y + (int64_t)k * (c->stride_y ? c->stride_y : 1);
}

// The round step (1, 2 or 5 times a power of ten) that gives about `parts` parts.
static double svg_step(double span, int parts)
{
    const double rough = span / parts, power = pow(10, floor(log10(rough)));
    const double digit = rough / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

static void svg_limits(const result_svg_plot *p, double low[2], double high[2])
{
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (int c = 0; c < p->curve_count; ++c) {
        for (int k = 0; k < p->count; ++k) {
            const double v[2] = {*svg_x(p, &p->curve[c], k), *svg_y(&p->curve[c], k)};

            if (isfinite(v[0]) && isfinite(v[1])) {
                for (int i = 0; i < 2; ++i) {
                    low[i] = fmin(low[i], v[i]);
                    high[i] = fmax(high[i], v[i]);
                }
            }
        }
    }

    low[1] = p->zero ? fmin(0, low[1]) : low[1];
    for (int i = 0; i < 2; ++i) {
        if (!(low[i] <= high[i])) {
            low[i] = 0, high[i] = 1;
        }
        // a constant gets some room; what is only rounding must not fill the picture
        const double room = fmax(1e-6 * fmax(fabs(low[i]), fabs(high[i])), 1e-9);
        if (high[i] - low[i] < room) {
            const double more = fmax(0.5 * fabs(high[i]), 1e-3);
            low[i] -= p->zero && i == 1 ? 0 : more, high[i] += more;
        } else {
            const double margin = 0.04 * (high[i] - low[i]);
            low[i] -= (p->zero && i == 1) || (i == 0 && !p->equal) ? 0 : margin;
            high[i] += i == 0 && !p->equal ? 0 : margin;
        }
    }
}

static void svg_axes_of(const result_svg_plot *p, svg_axis axis[2])
{
    double low[2], high[2];
    svg_limits(p, low, high);
    const double width = p->width - SVG_LEFT - SVG_RIGHT, height = p->height - SVG_TOP - SVG_BOTTOM;

    if (p->equal) {
        // the same mm per pixel both ways, both in the middle
        const double scale = fmax((high[0] - low[0]) / width, (high[1] - low[1]) / height);
        const double size[2] = {width, height};
        for (int i = 0; i < 2; ++i) {
            const double middle = 0.5 * (low[i] + high[i]);
            low[i] = middle - 0.5 * scale * size[i];
            high[i] = middle + 0.5 * scale * size[i];
        }
    }

    axis[0] = (svg_axis){low[0], high[0], SVG_LEFT, SVG_LEFT + width};
    axis[1] = (svg_axis){low[1], high[1], SVG_TOP + height, SVG_TOP};
}

static void svg_ticks(pl_text *out, const result_svg_plot *p, const svg_axis *axis, int i)
{
    const double step = svg_step(axis[i].high - axis[i].low, i == 0 ? 6 : 5);
    const double first = ceil(axis[i].low / step - 1e-9) * step;

    for (int n = 0; n < 20 && first + n * step <= axis[i].high + 1e-9 * step; ++n) {
        const double value = fabs(first + n * step) < 1e-9 * step ? 0 : first + n * step;
        const double at = svg_pixel(&axis[i], value);

        if (i == 0) {
            pl_text_add(out,
                        "<line class=grid x1=%.1f x2=%.1f y1=%d y2=%d /><text class=tick x=%.1f y=%d "
                        "text-anchor=middle>%.6g</text>",
                        at, at, SVG_TOP, p->height - SVG_BOTTOM, at, p->height - SVG_BOTTOM + 15, value);
        } else {
            pl_text_add(out,
                        "<line class=grid y1=%.1f y2=%.1f x1=%d x2=%d /><text class=tick x=%d y=%.1f "
                        "text-anchor=end>%.6g</text>",
                        at, at, SVG_LEFT, p->width - SVG_RIGHT, SVG_LEFT - 6, at + 3.5, value);
        }
    }
}

static void svg_line(pl_text *out, const result_svg_plot *p, const result_svg_curve *c, const svg_axis *axis)
{
    bool pen = false;
    pl_text_add(out, "<path class=\"curve%s c%d\" d=\"", c->dashed ? " dashed" : "", c->colour);
    for (int k = 0; k < p->count; ++k) {
        const double x = *svg_x(p, c, k), y = *svg_y(c, k);
        if (isfinite(x) && isfinite(y)) {
            pl_text_add(out, "%c%.2f %.2f", pen ? 'L' : 'M', svg_pixel(&axis[0], x), svg_pixel(&axis[1], y));
        }
        pen = isfinite(x) && isfinite(y);
    }

    pl_text_add(out, "\"/>");
}

static void svg_dots(pl_text *out, const result_svg_plot *p, const result_svg_curve *c, const svg_axis *axis,
                     const bool *mark)
{
    for (int k = 0; k < p->count; ++k) {
        const double x = *svg_x(p, c, k), y = *svg_y(c, k);
        const bool marked = mark && mark[k] == p->mark_value;

        if (isfinite(x) && isfinite(y) && (c->dots || marked)) {
            pl_text_add(
                out, "<circle class=\"%s c%d\" cx=%.2f cy=%.2f r=%g><title>%d: %.6g, %.6g</title></circle>",
                marked ? "mark" : "dot", c->colour, svg_pixel(&axis[0], x), svg_pixel(&axis[1], y),
                marked ? 3.0 : 1.8, k, x, y);
        }
    }
}

static void svg_legend(pl_text *out, const result_svg_plot *p)
{
    double x = SVG_LEFT;
    int row = 0;

    for (int c = 0; c < p->curve_count; ++c) {
        const double width = 26 + 6.6 * (double)strlen(p->curve[c].name);
        if (x + width > p->width && x > SVG_LEFT) {
            x = SVG_LEFT;
            ++row;
        }

        const int y = p->height + 6 + 16 * row;
        pl_text_add(out,
                    "<line class=\"curve%s c%d\" x1=%.1f x2=%.1f y1=%d y2=%d /><text class=tick x=%.1f y=%d>",
                    p->curve[c].dashed ? " dashed" : "", p->curve[c].colour, x, x + 16, y, y, x + 21, y + 4);
        result_html_text(out, p->curve[c].name);
        pl_text_add(out, "</text>");
        x += width;
    }
}

static int svg_legend_rows(const result_svg_plot *p)
{
    double x = SVG_LEFT;
    int rows = 1;

    for (int c = 0; c < p->curve_count; ++c) {
        const double width = 26 + 6.6 * (double)strlen(p->curve[c].name);
        if (x + width > p->width && x > SVG_LEFT) {
            x = SVG_LEFT;
            ++rows;
        }

        x += width;
    }

    return rows;
}

void result_svg_add(pl_text *out, const result_svg_plot *plot)
{
    svg_axis axis[2];
    svg_axes_of(plot, axis);
    const int height = plot->height + 16 * svg_legend_rows(plot);
    pl_text_add(out, "<figure><svg viewBox=\"0 0 %d %d\" role=img><text class=title x=%d y=17>", plot->width,
                height, SVG_LEFT);
    result_html_text(out, plot->title);
    pl_text_add(out, "</text>");
    svg_ticks(out, plot, axis, 0);
    svg_ticks(out, plot, axis, 1);
    pl_text_add(out, "<rect class=frame x=%d y=%d width=%d height=%d />", SVG_LEFT, SVG_TOP,
                plot->width - SVG_LEFT - SVG_RIGHT, plot->height - SVG_TOP - SVG_BOTTOM);
    for (int c = 0; c < plot->curve_count; ++c) {
        svg_line(out, plot, &plot->curve[c], axis);
        svg_dots(out, plot, &plot->curve[c], axis, c == plot->curve_count - 1 ? plot->mark : NULL);
    }

    pl_text_add(out, "<text class=label x=%d y=%d text-anchor=end>", plot->width - SVG_RIGHT,
                plot->height - SVG_BOTTOM + 31);
    result_html_text(out, plot->x_label);
    pl_text_add(out, "</text><text class=label text-anchor=end transform=\"translate(13 %d) rotate(-90)\">",
                SVG_TOP);
    result_html_text(out, plot->y_label);
    pl_text_add(out, "</text>");
    svg_legend(out, plot);
    pl_text_add(out, "</svg></figure>\n");
}
