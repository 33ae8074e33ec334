// A motion as one HTML page that needs nothing but itself: facts, plots, and the table of all waypoints.
#include <stdio.h>
#include "io/io_motion.h"
#include "io/io_svg.h"

#define REPORT_CURVES 8 // in one plot; more commands or actuators get further plots

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
    report_card(t, "", "largest step of a command, relative to its range", "%.2f %%",
                100 * report_largest_step(m));
    report_card(t, "", "duration", "%.4g s", m->count ? m->time[m->count - 1] : 0);
    pl_text_add(t, "</div>\n");
}

static void report_views(pl_text *t, const pl_motion *m)
{
    static const int view[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    static const char *const title[3] = {"path from above (xy)", "path from the front (xz)",
                                         "path from the side (yz)"};
    static const char *const label[3] = {"x, mm", "y, mm", "z, mm"};
    pl_text_add(t, "<h2>Path</h2><div class=plots>\n");
    for (int v = 0; v < 3; ++v) {
        const io_svg_curve curve[2] = {
            {"target", m->target + view[v][1], m->target + view[v][0], 3, 3, 7, false, true},
            {"marker", m->position + view[v][1], m->position + view[v][0], 3, 3, 0, m->count <= 400, false},
        };
        const io_svg_plot plot = {.title = title[v],
                                  .x_label = label[view[v][0]],
                                  .y_label = label[view[v][1]],
                                  .width = 360,
                                  .height = 330,
                                  .equal = true,
                                  .count = m->count,
                                  .curve = curve,
                                  .curve_count = 2,
                                  .mark = m->reached,
                                  .mark_value = false};
        io_svg_add(t, &plot);
    }
    pl_text_add(t, "</div>\n");
}

static void report_errors(pl_text *t, const pl_motion *m)
{
    const io_svg_curve curve = {"distance to the target", m->distance, NULL, 0, 1, 4, m->count <= 400, false};
    const io_svg_plot plot = {.title = "error",
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
    io_svg_add(t, &plot);
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
    io_svg_curve curve[REPORT_CURVES];
    for (int i = 0; i < g->count; ++i) {
        curve[i] = (io_svg_curve){g->name[i], g->value + g->column[i], NULL, 0, g->width, i, false, false};
    }
    const io_svg_plot plot = {.title = g->title,
                              .x_label = "time, s",
                              .y_label = g->unit,
                              .width = 1040,
                              .height = 300,
                              .x = m->time,
                              .count = m->count,
                              .curve = curve,
                              .curve_count = g->count};
    if (g->count > 0) {
        io_svg_add(t, &plot);
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

static bool report_take(const pl_motion *m, bool efforts, report_data *d)
{
    d->width = efforts ? m->info.actuator_count : m->info.command_count;
    d->value = PL_NEW_ARRAY(double, (int64_t)m->count * d->width + 1);
    d->name = PL_NEW_ARRAY(const char *, d->width + 1);
    d->unit = PL_NEW_ARRAY(const char *, d->width + 1);
    if (!d->value || !d->name || !d->unit) {
        return false;
    }
    for (int c = 0; c < d->width; ++c) {
        const double scale =
            efforts ? io_effort_scale(m->info.actuator[c].kind) : pl_drive_scale(m->info.command[c].drive);
        d->name[c] = efforts ? m->info.actuator[c].name : m->info.command[c].name;
        d->unit[c] =
            efforts ? io_effort_unit(m->info.actuator[c].kind) : pl_drive_unit(m->info.command[c].drive);
        for (int64_t k = 0; k < m->count; ++k) {
            d->value[k * d->width + c] = (efforts ? m->effort : m->command)[k * d->width + c] / scale;
        }
    }
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

static void report_table(pl_text *t, const pl_motion *m, const report_data *commands,
                         const report_data *efforts)
{
    const report_data *const data[2] = {commands, efforts};
    pl_text_add(
        t,
        "<h2>Waypoints</h2><div class=scroll><table><tr><th>#<th>time s<th>target x<th>y<th>z mm<th>marker "
        "x<th>y<th>z mm<th>error mm");
    for (int d = 0; d < 2; ++d) {
        for (int c = 0; c < data[d]->width; ++c) {
            pl_text_add(t, "<th>");
            io_html_text(t, data[d]->name[c]);
            pl_text_add(t, "%s%s", strcmp(data[d]->unit[c], "1") ? " " : "",
                        strcmp(data[d]->unit[c], "1") ? data[d]->unit[c] : "");
        }
    }
    pl_text_add(t, "<th>outcome</tr>\n");
    for (int64_t k = 0; k < m->count; ++k) {
        pl_text_add(t, "<tr><td>%d<td>%.6g", (int)k, m->time[k]);
        for (int i = 0; i < 6; ++i) {
            report_cell(t, i < 3 ? m->target[3 * k + i] : m->position[3 * k + i - 3]);
        }
        report_cell(t, m->distance[k]);
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
        io_html_text(t, def->fact[i][0]);
        pl_text_add(t, "<dd>");
        io_html_text(t, def->fact[i][1]);
    }
    pl_text_add(t, "</dl>\n");
}

pl_status pl_motion_write_html(const pl_motion *motion, const pl_report_def *def, const char *path,
                               pl_error *err)
{
    if (motion->count == 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the motion has no waypoint", path);
    }
    report_data commands = {0}, efforts = {0};
    pl_text t = {0};
    const bool taken = report_take(motion, false, &commands) && report_take(motion, true, &efforts);
    if (taken) {
        pl_text_add(&t, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n"
                        "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>");
        io_html_text(&t, def->title);
        pl_text_add(&t, "</title>\n%s</head><body><main>\n<h1>", report_style);
        io_html_text(&t, def->title);
        pl_text_add(&t, "</h1><p class=sub>");
        io_html_text(&t, motion->info.name);
        pl_text_add(&t, ", marker ");
        io_html_text(&t, motion->marker >= 0 ? motion->info.marker_name[motion->marker] : "none");
        pl_text_add(&t, "</p>\n");
        report_cards(&t, motion);
        report_views(&t, motion);
        report_errors(&t, motion);
        pl_text_add(&t, "<h2>Commands</h2><div class=\"plots wide\">\n");
        report_columns(&t, motion, "commands", commands.value, commands.width, commands.name, commands.unit);
        pl_text_add(&t, "</div>\n<h2>Efforts</h2><div class=\"plots wide\">\n");
        report_columns(&t, motion, "tensions and pressures", efforts.value, efforts.width, efforts.name,
                       efforts.unit);
        pl_text_add(&t, "</div>\n");
        report_facts(&t, def);
        report_table(&t, motion, &commands, &efforts);
        pl_text_add(&t,
                    "<footer>Circles mark waypoints that were not reached: there the marker is at the "
                    "nearest reachable point. "
                    "Written by pliant %s.</footer>\n</main></body></html>\n",
                    pl_version());
    }
    report_release(&commands);
    report_release(&efforts);
    t.failed = t.failed || !taken;
    return io_text_write(&t, path, err);
}
