// Inside result: plots as SVG text inside a page, coloured by the page's own variables.
#ifndef PL_RESULT_SVG_H
#define PL_RESULT_SVG_H

#include "base/base.h"

// Text inside HTML: the five characters that mean something there are replaced, control characters dropped.
void result_html_text(pl_text *out, const char *text);

typedef struct result_svg_curve {
    const char *name;
    const double *y; // NAN: a gap
    const double *x; // NULL: the plot's
    int stride_x, stride_y;
    int colour; // 0 .. 7
    bool dots, dashed;
} result_svg_curve;

typedef struct result_svg_plot {
    const char *title, *x_label, *y_label;
    int width, height;
    bool equal; // one scale for both axes
    bool zero;  // the y axis begins at 0
    const double *x;
    int count;
    const result_svg_curve *curve;
    int curve_count;
    const bool *mark; // points of the last curve to be marked, or NULL
    bool mark_value;  // those with this value
} result_svg_plot;

void result_svg_add(pl_text *out, const result_svg_plot *plot);

#endif
