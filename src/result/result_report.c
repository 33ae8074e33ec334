// A motion as one HTML page that needs nothing but itself: facts, plots, and the table of all waypoints.
#include <stdio.h>
#include "result/result_draw.h"
#include "result/result_motion.h"
#include "result/result_svg.h"
#include "meshfile/meshfile_vtu.h"

#define REPORT_CURVES 8  // in one plot; more commands or actuators get further plots
#define REPORT_FLAT 0.02 // of the largest extent: a coordinate that extends less is not drawn

static const char report_style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#6a737d;--rule:#e4e6e9;"
    "--bad:#c9302c;--good:#1c7c54;\n"
    "--c0:#2f6fdb;--c1:#e07b00;--c2:#1c8a5f;--c3:#a03fb8;--c4:#c9302c;--c5:#00858f;--c6:#7a6a00;--c7:#8a8f98}"
    "\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#15181c;--card:#1d2126;--ink:#e8eaed;--soft:#9aa3ad;--rule:"
    "#31373e;"
    "--bad:#ff6b63;--good:#4fc38d;\n"
    "--c0:#6ea4ff;--c1:#ffab4a;--c2:#52c796;--c3:#d084e6;--c4:#ff7b74;--c5:#3fc6d0;--c6:#d0bd3f;--c7:#a8aeb6}"
    "}\n"
    "body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}\n"
    "main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}\n"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:17px;margin:34px 0 10px}p.sub{color:var(--soft);margin:0 "
    "0 20px}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:10px}\n"
    ".card{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 14px}\n"
    ".card b{display:block;font-size:20px;font-weight:600}.card span{color:var(--soft);font-size:13px}\n"
    ".bad{color:var(--bad)}.good{color:var(--good)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(330px,1fr));gap:12px}\n"
    ".wide{grid-template-columns:1fr}\n"
    "figure img{display:block;width:100%;border-radius:4px}\n"
    "figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:8px}\n"
    "svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "svg text{fill:var(--ink);font:11px system-ui,sans-serif}svg .title{font-size:13px;font-weight:600}\n"
    "svg .tick,svg .label{fill:var(--soft)}\n"
    ".grid{stroke:var(--rule);stroke-width:1}.frame{fill:none;stroke:var(--rule)}\n"
    ".curve{fill:none;stroke-width:1.6;stroke-linejoin:round}.dashed{stroke-dasharray:5 4;stroke-width:1.2}\n"
    ".mark{fill:none;stroke:var(--bad)!important;stroke-width:1.6}\n"
    ".c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)"
    "}"
    ".c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}.dot{stroke-width:1.6;fill:var(--card)}\n"
    ".scroll{overflow:auto;max-height:520px;border:1px solid "
    "var(--rule);border-radius:8px;background:var(--card)}\n"
    "table{border-collapse:collapse;width:100%;font:12.5px ui-monospace,monospace;white-space:nowrap}\n"
    "th,td{padding:3px 10px;text-align:right;border-bottom:1px solid var(--rule)}\n"
    "th{position:sticky;top:0;background:var(--card);color:var(--soft);font-weight:600}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px "
    "18px;margin:0}dt{color:var(--soft)}dd{margin:0}\n"
    "footer{margin-top:36px;color:var(--soft);font-size:13px}\n"
    "</style>\n";

static void report_card(pl_text *t, const char *class, const char *label, const char *format, double value)
{
    pl_text_add(t, "<div class=card><b%s%s>", class[0] ? " class=" : "", class);
    pl_text_add(t, format, value);
    pl_text_add(t, "</b><span>%s</span></div>\n", label);
}

// The largest change of a command between waypoints, in parts of its range.
static double report_largest_step(const pl_motion *m)
{
    double most = 0;
    for (int64_t k = 1; k < m->count; ++k) {
        for (int c = 0; c < m->info.command_count; ++c) {
            const pl_command_info *command = &m->info.command[c];
            const double d =
                m->command[k * m->info.command_count + c] - m->command[(k - 1) * m->info.command_count + c];
            const double span = command->range[1] - command->range[0];
            if (command->has_range && span > 0 && isfinite(d)) {
                most = fmax(most, fabs(d) / span);
            }
        }
    }

    return most;
}

// The largest error of the model along the motion; NAN: not known somewhere.
static double motion_model_error(const pl_motion *m)
{
    double most = 0;
    for (int k = 0; k < m->count; ++k) {
        most = isnan(most) || isnan(m->model_error[k]) ? NAN : fmax(most, m->model_error[k]);
    }
    return most;
}

static void report_cards(pl_text *t, const pl_motion *m)
{
    int reached = 0;
    double worst = 0, worst_reached = 0;

    for (int k = 0; k < m->count; ++k) {
        reached += m->reached[k];
        worst = isfinite(m->distance[k]) ? fmax(worst, m->distance[k]) : worst;
        worst_reached =
            m->reached[k] && isfinite(m->distance[k]) ? fmax(worst_reached, m->distance[k]) : worst_reached;
    }

    pl_text_add(
        t,
        "<div class=cards>\n<div class=card><b class=%s>%d of %d</b><span>waypoints reached</span></div>\n",
        reached == m->count ? "good" : "bad", reached, m->count);
    report_card(t, "", "largest error of reached waypoints", "%.4g mm", worst_reached);
    report_card(t, reached == m->count ? "" : "bad", "largest error of all", "%.4g mm", worst);

    if (m->surrogate) {
        const double error = motion_model_error(m);
        report_card(t, "", "error of the model itself, at most", isfinite(error) ? "%.2g mm" : "not known",
                    error);
    }

    report_card(t, "", "largest step of a command, relative to its range", "%.2f %%",
                100 * report_largest_step(m));
    report_card(t, "", "duration", "%.4g s", m->count ? m->time[m->count - 1] : 0);
    pl_text_add(t, "</div>\n");
}

// The coordinates worth a view: those that count and in which the motion extends, at least two.
static void report_axes(const pl_motion *m, const pl_report_def *def, bool shown[3])
{
    const bool all = !def->axes[0] && !def->axes[1] && !def->axes[2];
    double span[3], most = 0;

    for (int i = 0; i < 3; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < m->count; ++k) {
            const double x[2] = {m->position[3 * (int64_t)k + i], m->target[3 * (int64_t)k + i]};
            for (int j = 0; j < 2; ++j) {
                low = isfinite(x[j]) ? fmin(low, x[j]) : low;
                high = isfinite(x[j]) ? fmax(high, x[j]) : high;
            }
        }

        span[i] = high > low ? high - low : 0;
        span[i] *= all || def->axes[i] ? 1 : 1e-9; // what does not count comes last
        most = fmax(most, span[i]);
    }

    int count = 0;
    for (int i = 0; i < 3; ++i) {
        shown[i] = span[i] > REPORT_FLAT * most;
        count += shown[i];
    }

    for (; count < 2; ++count) {
        int next = -1;
        for (int i = 0; i < 3; ++i) {
            next = !shown[i] && (next < 0 || span[i] > span[next]) ? i : next;
        }
        shown[next] = true;
    }
}

static void report_view(pl_text *t, const pl_motion *m, int across, int up)
{
    static const char *const label[3] = {"x, mm", "y, mm", "z, mm"};
    char title[] = "path in the xy plane";

    title[12] = (char)('x' + across);
    title[13] = (char)('x' + up);
    const result_svg_curve curve[2] = {
        {"target", m->target + up, m->target + across, 3, 3, 7, false, true},
        {"marker", m->position + up, m->position + across, 3, 3, 0, m->count <= 400, false},
    };
    const result_svg_plot plot = {.title = title,
                                  .x_label = label[across],
                                  .y_label = label[up],
                                  .width = 400,
                                  .height = 360,
                                  .equal = true,
                                  .count = m->count,
                                  .curve = curve,
                                  .curve_count = 2,
                                  .mark = m->reached,
                                  .mark_value = false};
    result_svg_add(t, &plot);
}

static pl_status report_views(pl_text *t, const pl_motion *m, const pl_report_def *def, pl_error *err)
{
    pl_status status = PL_OK;
    bool shown[3];
    report_axes(m, def, shown);
    pl_text_add(t, "<h2>Path</h2><div class=plots>\n");

    if (def->picture) {
        pl_text png = {0};
        pl_picture picture = *def->picture;
        status = result_picture_png(&picture, &png, err);
        if (status == PL_OK) {
            pl_text_add(t, "<figure class=robot><img alt=\"the robot at the last waypoint, with the path\" "
                           "src=\"data:image/png;base64,");
            pl_text_add_base64(t, (const unsigned char *)png.data, png.length);
            pl_text_add(t, "\"></figure>\n");
        }

        pl_text_clear(&png);
    }

    for (int across = 0; across < 2; ++across) {
        for (int up = across + 1; up < 3; ++up) {
            if (shown[across] && shown[up]) {
                report_view(t, m, across, up);
            }
        }
    }

    pl_text_add(t, "</div>\n");
    return status;
}

static void report_errors(pl_text *t, const pl_motion *m)
{
    const result_svg_curve curve = {"distance to the target", m->distance, NULL, 0, 1, 4,
                                    m->count <= 400,          false};
    const result_svg_plot plot = {.title = "error",
                                  .x_label = "time, s",
                                  .y_label = "mm",
                                  .width = 1040,
                                  .height = 250,
                                  .zero = true,
                                  .x = m->time,
                                  .count = m->count,
                                  .curve = &curve,
                                  .curve_count = 1,
                                  .mark = m->reached,
                                  .mark_value = false};

    pl_text_add(t, "<h2>Error</h2><div class=\"plots wide\">\n");
    result_svg_add(t, &plot);
    pl_text_add(t, "</div>\n");
}

// Plots of columns of one unit, REPORT_CURVES at a time. `column` picks them.
typedef struct report_group {
    const char *title, *unit;
    const double *value; // scaled, width columns
    int width;
    int column[REPORT_CURVES];
    const char *name[REPORT_CURVES];
    int count;
} report_group;

static void report_group_plot(pl_text *t, const pl_motion *m, report_group *g)
{
    result_svg_curve curve[REPORT_CURVES];
    for (int i = 0; i < g->count; ++i) {
        curve[i] =
            (result_svg_curve){g->name[i], g->value + g->column[i], NULL, 0, g->width, i, false, false};
    }

    const result_svg_plot plot = {.title = g->title,
                                  .x_label = "time, s",
                                  .y_label = g->unit,
                                  .width = 1040,
                                  .height = 300,
                                  .x = m->time,
                                  .count = m->count,
                                  .curve = curve,
                                  .curve_count = g->count};
    if (g->count > 0) {
        result_svg_add(t, &plot);
    }
    g->count = 0;
}

static void report_columns(pl_text *t, const pl_motion *m, const char *title, const double *value, int width,
                           const char *const *name, const char *const *unit)
{
    for (int first = 0; first < width; ++first) {
        bool seen = false; // a unit is plotted where it stands first
        for (int c = 0; c < first; ++c) {
            seen = seen || strcmp(unit[c], unit[first]) == 0;
        }
        report_group g = {.title = title,
                          .unit = strcmp(unit[first], "1") ? unit[first] : "ratio",
                          .value = value,
                          .width = width};
        for (int c = first; c < width && !seen; ++c) {
            if (strcmp(unit[c], unit[first]) == 0) {
                g.column[g.count] = c;
                g.name[g.count++] = name[c];
            }

            if (g.count == REPORT_CURVES || c == width - 1) {
                report_group_plot(t, m, &g);
            }
        }
    }
}

// Numbers, names and units of commands or actuators as the terminal has them; one block each, freed with
// pl_free.
typedef struct report_data {
    double *value;
    const char **name, **unit;
    int width;
} report_data;

// Whether the effort of an actuator is a command, number for number and name for name.
static bool report_doubled(const pl_motion *m, int actuator)
{
    const pl_actuator_info *a = &m->info.actuator[actuator];
    const int commands = m->info.command_count, actuators = m->info.actuator_count;

    for (int c = 0; c < commands; ++c) {
        bool same = strcmp(m->info.command[c].name, a->name) == 0 &&
                    strcmp(pl_drive_unit(m->info.command[c].drive), result_effort_unit(a->kind)) == 0;
        for (int64_t k = 0; same && k < m->count; ++k) {
            const double x = m->command[k * commands + c], y = m->effort[k * actuators + actuator];
            same = (!isfinite(x) && (!isfinite(y) || y == 0)) || fabs(x - y) <= 1e-9 * fabs(x);
        }

        if (same) {
            return true;
        }
    }

    return false;
}

static bool report_take(const pl_motion *m, bool efforts, report_data *d)
{
    const int columns = efforts ? m->info.actuator_count : m->info.command_count;
    d->value = PL_NEW_ARRAY(double, (int64_t)m->count *columns + 1);
    d->name = PL_NEW_ARRAY(const char *, columns + 1);
    d->unit = PL_NEW_ARRAY(const char *, columns + 1);
    int *from = PL_NEW_ARRAY(int, columns + 1);
    if (!d->value || !d->name || !d->unit || !from) {
        pl_free(from);
        return false;
    }

    for (int c = 0; c < columns; ++c) {
        if (!efforts || !report_doubled(m, c)) {
            from[d->width++] = c;
        }
    }

    for (int i = 0; i < d->width; ++i) {
        const int c = from[i];
        const double scale = efforts ? result_effort_scale(m->info.actuator[c].kind)
                                     : pl_drive_scale(m->info.command[c].drive);
        d->name[i] = efforts ? m->info.actuator[c].name : m->info.command[c].name;
        d->unit[i] =
            efforts ? result_effort_unit(m->info.actuator[c].kind) : pl_drive_unit(m->info.command[c].drive);
        for (int64_t k = 0; k < m->count; ++k) {
            d->value[k * d->width + i] = (efforts ? m->effort : m->command)[k * columns + c] / scale;
        }
    }

    pl_free(from);

    return true;
}

static void report_release(report_data *d)
{
    pl_free(d->value);
    pl_free(d->name);
    pl_free(d->unit);
}

static void report_cell(pl_text *t, double value)
{
    if (isfinite(value)) {
        pl_text_add(t, "<td>%.6g", fabs(value) < 1e-12 ? 0.0 : value);
    } else {
        pl_text_add(t, "<td>");
    }
}

static void report_table(pl_text *t, const pl_motion *m, const pl_report_def *def,
                         const report_data *commands, const report_data *efforts)
{
    const report_data *const data[2] = {commands, efforts};
    const bool all = !def->axes[0] && !def->axes[1] && !def->axes[2];

    pl_text_add(t, "<h2>Waypoints</h2><div class=scroll><table><tr><th>#<th>time s");
    for (int i = 0; i < 3; ++i) {
        if (all || def->axes[i]) {
            pl_text_add(t, "<th>target %c mm", 'x' + i);
        }
    }

    pl_text_add(t, "<th>x mm<th>y mm<th>z mm<th>error mm%s", m->surrogate ? "<th>model error mm" : "");
    for (int d = 0; d < 2; ++d) {
        for (int c = 0; c < data[d]->width; ++c) {
            pl_text_add(t, "<th>");
            result_html_text(t, data[d]->name[c]);
            pl_text_add(t, "%s%s", strcmp(data[d]->unit[c], "1") ? " " : "",
                        strcmp(data[d]->unit[c], "1") ? data[d]->unit[c] : "");
        }
    }

    pl_text_add(t, "<th>outcome</tr>\n");
    for (int64_t k = 0; k < m->count; ++k) {
        pl_text_add(t, "<tr><td>%d<td>%.6g", (int)k, m->time[k]);

        for (int i = 0; i < 3; ++i) {
            if (all || def->axes[i]) {
                report_cell(t, m->target[3 * k + i]);
            }
        }

        for (int i = 0; i < 3; ++i) {
            report_cell(t, m->position[3 * k + i]);
        }
        report_cell(t, m->distance[k]);
        if (m->surrogate) {
            report_cell(t, m->model_error[k]);
        }
        for (int d = 0; d < 2; ++d) {
            for (int c = 0; c < data[d]->width; ++c) {
                report_cell(t, data[d]->value[k * data[d]->width + c]);
            }
        }

        pl_text_add(t, "<td class=%s>%s</tr>\n", m->reached[k] ? "good" : "bad",
                    pl_ik_outcome_name(m->outcome[k]));
    }

    pl_text_add(t, "</table></div>\n");
}

static void report_facts(pl_text *t, const pl_report_def *def)
{
    if (def->fact_count == 0) {
        return;
    }
    pl_text_add(t, "<h2>Settings</h2><dl>\n");

    for (int i = 0; i < def->fact_count; ++i) {
        pl_text_add(t, "<dt>");
        result_html_text(t, def->fact[i][0]);
        pl_text_add(t, "<dd>");
        result_html_text(t, def->fact[i][1]);
    }

    pl_text_add(t, "</dl>\n");
}

// One file without anything outside of it: pictures and plots stand in the page.
pl_status pl_motion_write_html(const pl_motion *motion, const pl_report_def *def, const char *path,
                               pl_error *err)
{
    if (motion->count == 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the motion has no waypoint", path);
    }

    report_data commands = {0}, efforts = {0};
    pl_status status = PL_OK;
    pl_text t = {0};
    const bool taken = report_take(motion, false, &commands) && report_take(motion, true, &efforts);

    if (taken) {
        pl_text_add(&t, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n"
                        "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>");
        result_html_text(&t, def->title);
        pl_text_add(&t, "</title>\n%s</head><body><main>\n<h1>", report_style);
        result_html_text(&t, def->title);
        pl_text_add(&t, "</h1><p class=sub>");
        result_html_text(&t, motion->info.name);
        pl_text_add(&t, ", marker ");
        result_html_text(&t, motion->marker >= 0 ? motion->info.marker_name[motion->marker] : "none");
        pl_text_add(&t, "</p>\n");

        // what one wants to know first: how far, how fast, where it failed
        report_cards(&t, motion);
        status = report_views(&t, motion, def, err);
        report_errors(&t, motion);
        pl_text_add(&t, "<h2>Commands</h2><div class=\"plots wide\">\n");
        report_columns(&t, motion, "commands", commands.value, commands.width, commands.name, commands.unit);
        pl_text_add(&t, "</div>\n");

        // reduced models may have no efforts
        if (efforts.width > 0) {
            pl_text_add(&t, "<h2>Efforts</h2><div class=\"plots wide\">\n");
            report_columns(&t, motion, "tensions and pressures", efforts.value, efforts.width, efforts.name,
                           efforts.unit);
            pl_text_add(&t, "</div>\n");
        }

        report_facts(&t, def);
        report_table(&t, motion, def, &commands, &efforts);
        pl_text_add(&t,
                    "<footer>Circles mark waypoints that were not reached: there the marker is at the "
                    "nearest reachable point. "
                    "Written by pliant %s.</footer>\n</main></body></html>\n",
                    pl_version());
    }

    report_release(&commands);
    report_release(&efforts);
    t.failed = t.failed || !taken;
    if (status != PL_OK) {
        pl_text_clear(&t);
        return status;
    }

    return result_text_write(&t, path, err);
}
