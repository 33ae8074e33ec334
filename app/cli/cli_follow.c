// pliant follow: a marker along a path, with every bound and rate kept; tables, series, reports, and files
// for the machine.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli_follow.h"

static const cli_option options[] = {
    {"marker", 0, "NAME", "the marker that follows (default: the only one, or tip)", NULL},
    {"path", 0, "KIND", "a built-in path: circle, eight, flower, square, ell, flame, line or box",
     "circle eight flower square ell flame line box"},
    {"span", 0, "S[,S[,S]]", "size of the path, mm: width, height, depth (default 20)", NULL},
    {"center", 0, "X,Y,Z", "centre of the path (default: the undeformed position of the marker)", NULL},
    {"plane", 0, "AXES", "plane of the path: xy (default), yz, zx, or two vectors X,Y,Z:X,Y,Z", "xy yz zx"},
    {"count", 0, "N", "number of waypoints (default 60)", NULL, CLI_WHOLE(1, FOLLOW_COUNT)},
    {"relative", 0, NULL, "points of a file are relative to the undeformed position of the marker", NULL},
    {"resample", 0, "N", "N equally spaced waypoints along the path instead of the given ones", NULL,
     CLI_WHOLE(2, FOLLOW_COUNT)},
    {"closed", 0, NULL, "with --resample: the path of a file is closed", NULL},
    {"axes", 0, "xyz", "coordinates to use, such as xy", "x y z xy xz yz"},
    {"axis", 0, "X,Y,Z", "axis of the marker (undeformed) that follows the columns nx, ny, nz of a file",
     NULL},
    {"tolerance", 0, "LENGTH",
     "tolerance (default 0.005 mm); of reduced, learned and adapted models it includes their own error", NULL,
     CLI_NUMBER(PL_DIM_LENGTH, 1e-9, 100)},
    {"dt", 0, "TIME", "time between waypoints; rates then bound every step", NULL,
     CLI_NUMBER(PL_DIM_TIME, 1e-9, 1e9)},
    {"rate", 0, "NAME=VALUE", "largest rate of a command, such as air=5kPa/s; may be repeated", NULL},
    {"from-rest", 0, NULL, "rates also limit the motion to the first waypoint", NULL},
    CLI_LIMITS,
    {"out", 0, "FILE",
     "write .csv, .html (a report), .png, the shapes as .pvd, .xdmf, .glb or .usda, a film\n"
     "(.gif .webm .mp4), or pictures (frame_%04d.png); may be\n"
     "repeated",
     NULL},
    {"export", 0, "KIND=FILE", "write marlin=FILE (G-code) or pressures=FILE (time table); may be repeated",
     "marlin= pressures="},
    CLI_JSON,
    CLI_PICTURE,
    {"save-state", 0, "FILE", "save the last state here", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FALLBACK,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".csv", CLI_SERIES_EXTENSIONS, ".html", ".png", ".svg", NULL};

// ---- files for the machine, judged before the work
// 0: marlin, 1: pressures, -1 after a message.
static int follow_export_kind(const cli_args *args, const char *text, const char **file)
{
    static const char *const kinds[] = {"marlin", "pressures"}, *const usual[] = {"follow.gcode",
                                                                                  "pressures.csv"};
    for (int k = 0; k < 2; ++k) {
        const size_t length = strlen(kinds[k]);
        if (strncmp(text, kinds[k], length) == 0 && (text[length] == 0 || text[length] == '=')) {
            *file = text[length] && text[length + 1] ? text + length + 1 : usual[k];
            return k;
        }
    }

    cli_error(args, "--export %s: expected marlin=FILE or pressures=FILE", text);
    return -1;
}

// The robot must have what the file describes: axes, or chambers.
static int follow_check_exports(const cli_args *args, const follow *f)
{
    int cursor = 0, status = CLI_DONE;
    for (const char *text; !status && (text = cli_next(args, "export", &cursor));) {
        const char *file;
        const int kind = follow_export_kind(args, text, &file);
        if (kind < 0) {
            return CLI_EXIT_USAGE;
        }

        // judged like any other output
        static const cli_option out = {.name = "out"}, force = {.name = "force"};
        cli_given given[2] = {{&out, file}, {&force, NULL}};
        cli_args own = *args;
        own.given = given;
        own.given_count = 1 + cli_flag(args, "force");
        status = cli_check_outputs(&own, NULL, f->m.path, args->plain_count > 1 ? args->plain[1] : NULL);
        bool fits = false;

        for (int a = 0; a < f->m.info.actuator_count; ++a) {
            const pl_actuator_info *actuator = &f->m.info.actuator[a];
            const char *effort = pl_actuator_kind_get(actuator->kind)->effort;
            fits = fits || (kind == 0 ? actuator->axis != 0 : strcmp(effort, "pressure") == 0);
        }

        if (!status && !fits) {
            cli_error(args, "--export %s: %s", text,
                      kind == 0 ? "no actuator has an axis: the robot file needs a 'hardware' block"
                                : "the robot has no chamber");
            status = CLI_EXIT_USAGE;
        }
    }

    return status;
}

// ---- goals and rates
// Position first: pl_ik_set_target counts on it.
static int follow_goals(const cli_args *args, follow *f)
{
    pl_objective *o = cli_goals_add(args, &f->g, PL_OBJECTIVE_POSITION);
    o->index = f->g.marker;
    const char *axes = cli_value(args, "axes"), *axis = cli_value(args, "axis");

    for (const char *c = axes; c && *c; ++c) {
        if (*c < 'x' || *c > 'z') {
            cli_error(args, "--axes %s: expected letters of x, y, z such as xy", axes);
            return CLI_EXIT_USAGE;
        }

        o->axes[*c - 'x'] = true;
    }

    if (!cli_number(args, "tolerance", &o->tolerance)) {
        return CLI_EXIT_USAGE;
    }
    f->direction = f->orientation = -1;

    // columns of the file become goals of their own
    if (f->normal) {
        f->direction = f->g.count;
        o = cli_goals_add(args, &f->g, PL_OBJECTIVE_DIRECTION);
        o->index = f->g.marker;
        memcpy(o->target, f->normal, sizeof o->target);
        if (!axis) {
            cli_error(args, "the file has columns nx, ny, nz: give the axis of the marker with --axis");
            return CLI_EXIT_USAGE;
        }

        if (!cli_triple(args, "axis", axis, PL_DIM_NUMBER, o->axis)) {
            return CLI_EXIT_USAGE;
        }
    }

    if (f->turn) {
        f->orientation = f->g.count;
        o = cli_goals_add(args, &f->g, PL_OBJECTIVE_ORIENTATION);
        o->index = f->g.marker;
    }

    return CLI_DONE;
}

// Rates of the robot file, then those of the options; they bind only where time is known.
static int follow_rates(const cli_args *args, follow *f)
{
    for (int i = 0; i < f->m.info.command_count; ++i) {
        f->g.rate[i] = f->m.info.command[i].rate;
    }

    int cursor = 0;
    for (const char *text; (text = cli_next(args, "rate", &cursor));) {
        char name[200];
        const size_t length = strcspn(text, "=");
        pl_error err = {0};
        if (!text[length] || length == 0 || length >= sizeof name) {
            cli_error(args, "--rate %s: expected NAME=VALUE, such as air=5kPa/s", text);
            return CLI_EXIT_USAGE;
        }

        snprintf(name, sizeof name, "%.*s", (int)length, text);
        const int i = cli_model_command(args, &f->m, "rate", name);
        if (i < 0) {
            return CLI_EXIT_USAGE;
        }
        const pl_dimension dimension = pl_drive_dimension(f->m.info.command[i].drive);
        if (pl_rate_parse(text + length + 1, dimension, &f->g.rate[i], &err) != PL_OK ||
            !(f->g.rate[i] > 0)) {
            cli_error(args, "--rate %s: %s", text, err.text[0] ? err.text : "must be greater than 0");
            return CLI_EXIT_USAGE;
        }
    }

    if (!cli_number(args, "dt", &f->period)) {
        return CLI_EXIT_USAGE;
    }
    if (f->period > 0 && f->time) {
        cli_error(args, "--dt: the file already has times (column t), expected one of the two");
        return CLI_EXIT_USAGE;
    }

    if (f->period > 0 || f->time) {
        // of the path to the first waypoint, where rates bind it, that to the second is taken
        const double first = f->time && f->count > 1 ? f->time[1] - f->time[0] : 1;
        f->g.options.rate = f->g.rate;
        f->g.options.period = f->period > 0 ? f->period : first;
    }

    return CLI_DONE;
}

// ---- along the path
// Called before each waypoint.
static pl_status follow_set(void *user, pl_ik *ik, int i, pl_error *err)
{
    follow *f = user;
    pl_status status = pl_ik_set_target(ik, 0, f->point + 3 * (size_t)i, err);

    if (status == PL_OK && f->direction >= 0) {
        status = pl_ik_set_target(ik, f->direction, f->normal + 3 * (size_t)i, err);
    }

    if (status == PL_OK && f->orientation >= 0) {
        double R[9];
        cli_rotation(f->turn + 3 * (size_t)i, R);
        status = pl_ik_set_target(ik, f->orientation, R, err);
    }

    if (f->time && i > 0) {
        pl_ik_set_period(ik, f->time[i] - f->time[i - 1]);
    }

    return status;
}

static void follow_part(const follow *f, int index)
{
    cli_progress_part(index, f->count, "waypoint %d of %d", index < f->count ? index + 1 : f->count,
                      f->count);
}

// Called after each waypoint; false ends the motion.
static bool follow_record(void *user, const pl_waypoint *w)
{
    follow *f = user;
    pl_error err = {0};

    if (w->ik->outcome == PL_IK_STOPPED && cli_interrupted()) {
        return false; // an interrupted waypoint is no result
    }

    const double *target = f->point + 3 * (size_t)w->index;
    if (pl_motion_add(&f->motion, w->time, target, &w->answer, w->ik, &err) != PL_OK) {
        f->status = cli_fail(f->args, &err);
        return false;
    }

    if (f->json) {
        json_t *one = cli_record_json(&f->m);
        cli_ik_json(one, &f->m, w->ik);
        json_object_set_new(one, "target", cli_json_numbers(target, 3));
        json_array_append_new(f->json, one);
    }

    f->status = cli_series_frame(f->args, &f->series, &f->m);
    follow_part(f, w->index + 1);

    return f->status == CLI_DONE && !cli_interrupted();
}

// Without times the schedule follows from the rates of the commands.
static int follow_go(const cli_args *args, follow *f)
{
    pl_error err = {0};
    f->g.options.start_limit = f->g.samples.count > 0 ? 2 : 0;
    if (pl_ik_create(f->m.model, f->g.objective, f->g.count, &f->g.options, &f->ik, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    pl_ik_set_samples(f->ik, f->g.samples.count > 0 ? &f->g.samples : NULL);
    pl_follow_options how = pl_follow_options_default();
    how.set = follow_set;
    how.record = follow_record;
    how.user = f;
    how.samples = f->g.samples.count > 0 ? &f->g.samples : NULL;
    how.period = f->period > 0 ? f->period : 1;
    how.free_start = !cli_flag(args, "from-rest");
    cli_stage("following", false);
    follow_part(f, 0);
    const pl_status status = pl_follow(f->ik, NULL, f->count, &how, &f->report, &err);
    cli_stage(NULL, false);
    if (f->status) {
        return f->status;
    }
    if (status != PL_OK && status != PL_INTERRUPTED) {
        err.status = status;
        return cli_fail(args, &err);
    }

    // times of the file, or from rates
    if (f->time) {
        for (int k = 0; k < f->motion.count; ++k) {
            f->motion.time[k] = f->time[k] - f->time[0];
        }
    } else if (f->period <= 0) {
        bool limited = true; // all that move
        for (int i = 0; i < f->m.info.command_count; ++i) {
            limited = limited && (f->g.rate[i] > 0 || f->g.hold[i]);
        }
        pl_motion_schedule(&f->motion, f->g.rate, limited ? 0 : 1);
    }

    return CLI_DONE;
}

// ---- what comes out
// The last shape with the path it followed.
typedef struct follow_drawing {
    pl_picture picture;
    double *place, *line;
    int32_t start[3];
    char title[200];
} follow_drawing;

// Two lines: the targets, and where the marker went.
static pl_status follow_draw(const cli_args *args, follow *f, follow_drawing *d, pl_error *err)
{
    const int n = f->motion.count;
    const char *view = cli_value(args, "view");

    *d = (follow_drawing){.picture = pl_picture_default(), .start = {0, n, 2 * n}};
    d->line = calloc(6 * (size_t)n + 1, sizeof *d->line);
    if (!d->line) {
        *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the picture"};
        return PL_NO_MEMORY;
    }

    pl_status status = cli_shape_body(&f->m, &d->place, &d->picture, err);
    if (status == PL_OK && view) {
        status = pl_picture_view(view, d->picture.view, err);
    }
    snprintf(d->title, sizeof d->title, "%s: %d waypoints", f->m.info.name, n);
    memcpy(d->line, f->motion.target, 3 * (size_t)n * sizeof *d->line);
    memcpy(d->line + 3 * (size_t)n, f->motion.position, 3 * (size_t)n * sizeof *d->line);
    d->picture.wireframe = cli_flag(args, "edges");
    d->picture.title = d->title;
    d->picture.line = d->line;
    d->picture.line_start = d->start;
    d->picture.line_count = 2;

    return status;
}

static void follow_drawing_clear(follow_drawing *d)
{
    free(d->place);
    free(d->line);
}

static pl_status follow_picture(const cli_args *args, follow *f, const char *path, pl_error *err)
{
    follow_drawing d;
    pl_status status = follow_draw(args, f, &d, err);

    if (status == PL_OK) {
        status = pl_picture_write(&d.picture, path, err);
    }
    follow_drawing_clear(&d);
    return status;
}

// The report says how it was computed.
static pl_status follow_report_html(const cli_args *args, follow *f, const char *path, pl_error *err)
{
    char cost[200], model[200], title[300];
    const int n = f->motion.count > 0 ? f->motion.count : 1;

    snprintf(cost, sizeof cost, "%.1f factorizations and %.0f solves per waypoint, %.1f s in all",
             (double)f->report.costs.factorizations / n, (double)f->report.costs.solves / n,
             f->report.seconds);
    snprintf(model, sizeof model, "%s, %d body points", f->m.info.kind, (int)f->m.info.point_count);
    const char *kind = cli_value(f->args, "path");
    const char *source = kind ? kind : f->args->plain[1];
    snprintf(title, sizeof title, "%s follows %s", f->m.info.name, source);
    const char *const fact[][2] = {{"robot file", f->m.path},
                                   {"model", model},
                                   {"path", source},
                                   {"method", pl_ik_method_name(f->g.options.method)},
                                   {"cost", cost}};
    pl_report_def def = {.title = title, .fact = fact, .fact_count = 5};
    memcpy(def.axes, f->g.objective[0].axes, sizeof def.axes);

    // a model without a body has no picture
    follow_drawing d;
    pl_error ignored = {0};
    if (follow_draw(args, f, &d, &ignored) == PL_OK) {
        d.picture.width = 800;
        d.picture.height = 720;
        def.picture = &d.picture;
    }

    const pl_status status = pl_motion_write_html(&f->motion, &def, path, err);
    follow_drawing_clear(&d);

    return status;
}

// Series first: they are complete; then files for people, then for the machine.
static int follow_write(const cli_args *args, follow *f)
{
    int cursor = 0;
    const int done = cli_series_finish(args, &f->series, f->motion.time);

    if (done) {
        return done;
    }

    // files for people, by extension
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        const char *extension = cli_extension(path);
        pl_status status;
        if (strcasecmp(extension, ".csv") == 0) {
            status = pl_motion_write_csv(&f->motion, path, &err);
        } else if (strcasecmp(extension, ".html") == 0) {
            status = follow_report_html(args, f, path, &err);
        } else if (cli_series_is(path)) {
            status = PL_OK;
        } else {
            status = follow_picture(args, f, path, &err);
        }
        if (status != PL_OK) {
            return cli_fail(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }

    // files for machines: what was changed to fit them is reported
    cursor = 0;
    for (const char *text; (text = cli_next(args, "export", &cursor));) {
        pl_error err = {0};
        const char *file;
        pl_findings *changed = pl_findings_create();
        const pl_status status = follow_export_kind(args, text, &file) == 0
                                     ? pl_motion_write_gcode(&f->motion, f->m.model, file, changed, &err)
                                     : pl_motion_write_pressures(&f->motion, file, changed, &err);
        if (status == PL_OK) {
            cli_findings(changed);
        }
        pl_findings_destroy(changed);
        if (status != PL_OK) {
            return cli_fail(args, &err);
        }
        cli_say(args, "  wrote %s\n", file);
    }

    return CLI_DONE;
}

static int follow_json(const cli_args *args, follow *f)
{
    const int saved = cli_model_save_state(args, &f->m);
    if (saved || !f->json) {
        return saved;
    }

    json_t *root = cli_json_head(f->m.info.robot_hash, f->m.findings);
    json_object_set_new(root, "reached_count", json_integer(f->report.reached));
    json_object_set_new(root, "largest_error", cli_json_number(f->report.largest_distance));
    json_object_set_new(root, "largest_error_reached", cli_json_number(f->report.largest_reached));
    json_object_set_new(root, "uncertain_count", json_integer(f->report.uncertain));
    json_object_set_new(root, "largest_model_error", cli_json_number(f->report.largest_model_error));
    json_object_set_new(root, "largest_step", cli_json_number(f->report.largest_step));
    json_object_set_new(root, "times", cli_json_numbers(f->motion.time, f->motion.count));
    json_object_set_new(root, "seconds", cli_json_number(f->report.seconds));
    json_object_set_new(root, "waypoints", f->json);
    f->json = NULL;

    return cli_json_write(args, root);
}

#define FOLLOW_ROWS 60 // printed at most

// At most FOLLOW_ROWS lines: every k-th waypoint.
static void follow_print(const cli_args *args, const follow *f)
{
    cli_table table = {0};
    const pl_motion *m = &f->motion;
    const int stride = m->count > FOLLOW_ROWS ? (m->count + FOLLOW_ROWS - 1) / FOLLOW_ROWS : 1;
    char row[900];

    snprintf(row, sizeof row, "#\ttime s\tx\ty\tz mm\terror mm%s", m->surrogate ? "\tmodel error mm" : "");
    cli_motion_cells(m, -1, row, sizeof row);
    cli_row(&table, "%s\t", row);

    for (int k = 0; k < m->count; k += stride) {
        const double *p = m->position + 3 * (size_t)k;
        snprintf(row, sizeof row, "%d\t%.3g\t%.3f\t%.3f\t%.3f\t%.2g", k, m->time[k], cli_tidy(p[0], 3),
                 cli_tidy(p[1], 3), cli_tidy(p[2], 3), m->distance[k]);
        cli_motion_error(m, k, row, sizeof row);
        cli_motion_cells(m, k, row, sizeof row);
        cli_row(&table, "%s\t%s", row, m->reached[k] ? "" : pl_ik_outcome_name(m->outcome[k]));
    }

    // summary
    cli_table_print(args, &table);
    const pl_follow_report *r = &f->report;
    const int n = m->count > 0 ? m->count : 1;
    cli_say(args, "\n  %d of %d waypoint%s reached; largest error ", r->reached, m->count,
            m->count == 1 ? "" : "s");
    if (r->reached > 0 && r->reached < m->count) {
        cli_say(args, "%.3g mm of those reached, ", r->largest_reached);
    }
    cli_say(args, "%.3g mm%s\n", r->largest_distance, m->count > 1 ? " of all" : "");
    if (r->largest_step_command >= 0 && r->largest_step_command < m->info.command_count && m->count > 1) {
        cli_say(args, "  largest step of a command: %.2f %% of its range (%s, waypoint %d)\n",
                100 * r->largest_step, m->info.command[r->largest_step_command].name, r->largest_step_at);
    }

    cli_say(args, "  per waypoint: %.2f factorizations, %.1f solves; %.2f s in all\n",
            (double)r->costs.factorizations / n, (double)r->costs.solves / n, r->seconds);
}

// In the order in which mistakes are cheapest to find.
static int follow_prepare(const cli_args *args, follow *f)
{
    f->args = args;
    int status = cli_setup(args);
    const char *file = args->plain_count > 1 ? args->plain[1] : NULL;
    status = status ? status : cli_check_outputs(args, extensions, NULL, file);
    status = status ? status : cli_model_open(args, args->plain[0], &f->m);
    status = status ? status : cli_check_outputs(args, NULL, f->m.path, file);
    status = status ? status : follow_check_exports(args, f);
    status = status ? status : cli_goals_init(args, &f->m, &f->g);
    status = status ? status : cli_goals_marker(args, &f->m, &f->g);
    status = status ? status : cli_follow_path(args, f);
    status = status ? status : follow_goals(args, f);
    status = status ? status : cli_goals_limits(args, &f->m, &f->g);
    status = status ? status : follow_rates(args, f);
    status = status ? status : cli_goals_start(args, &f->m);
    if (status) {
        return status;
    }
    pl_motion_init(&f->motion, f->m.model, f->g.marker);
    f->json = cli_value(args, "json") ? json_array() : NULL;

    return CLI_DONE;
}

// Refers to the page of the outcome of the first waypoint that was not reached.
static void follow_advice(const pl_motion *m)
{
    for (int k = 0; k < m->count; ++k) {
        if (!m->reached[k]) {
            cli_outcome_advice(pl_ik_outcome_name(m->outcome[k]));
            return;
        }
    }
}

// Exit 0 only if every waypoint was reached.
static int follow_work(const cli_args *args, follow *f)
{
    int status = follow_prepare(args, f);
    status = status ? status : follow_go(args, f);
    if (status) {
        return status;
    }
    if (f->motion.count == 0) {
        cli_error(args, "%s before the first waypoint was reached", cli_stop_reason());
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    follow_print(args, f);
    status = follow_write(args, f);
    status = status ? status : follow_json(args, f);
    if (status) {
        return status;
    }

    // why not
    if (f->motion.count < f->count) {
        cli_error(args, "%s after %d of %d waypoints, which are kept", cli_stop_reason(), f->motion.count,
                  f->count);
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    if (f->report.reached < f->motion.count && f->report.reached + f->report.uncertain == f->motion.count) {
        cli_error(
            args,
            "%d of %d waypoints were reached by the model only, which is itself up to %.2g mm uncertain "
            "(%.0f %%); a larger --tolerance accepts it",
            f->report.uncertain, f->motion.count, f->report.largest_model_error,
            100 * f->motion.confidence[0]);
        follow_advice(&f->motion);
        return CLI_EXIT_UNSOLVED;
    }

    if (f->report.reached < f->motion.count) {
        cli_error(args,
                  "%d of %d waypoint%s not reached; the motion continues through the nearest reachable "
                  "points, at most %.4g mm away",
                  f->motion.count - f->report.reached, f->motion.count, f->motion.count == 1 ? "" : "s",
                  f->report.largest_distance);
        follow_advice(&f->motion);
        return CLI_EXIT_UNSOLVED;
    }

    return CLI_DONE;
}

static int follow_run(cli_args *args)
{
    follow f = {0};
    const int status = follow_work(args, &f);

    pl_ik_destroy(f.ik);
    pl_motion_clear(&f.motion);
    json_decref(f.json);
    cli_series_clear(&f.series);
    free(f.point);
    free(f.normal);
    free(f.turn);
    free(f.time);
    cli_goals_clear(&f.g);
    cli_model_close(&f.m);

    return status;
}

const cli_verb cli_verb_follow = {
    .name = "follow",
    .summary = "move a marker along a path: commands, errors, a report, machine files",
    .usage = "ROBOT [PATH.csv | --path KIND] [options]",
    .about = "Solves the waypoints of a table (columns x, y, z; also t, nx ny nz, rx ry rz) or of a\n"
             "built-in path, each starting from the previous one, within all ranges, efforts and rates.\n"
             "For waypoints out of reach the nearest reachable point is used, so the motion stays\n"
             "continuous; the exit status is then 1. Without --dt the times follow from the rates.",
    .examples =
        "  pliant follow finger --path circle --span 10 --plane yz --out circle.html --out circle.csv\n"
        "  pliant follow finger points.csv --resample 100 --dt 0.1s --out motion.pvd\n"
        "  pliant follow finger --path ell --span 20,30 --export marlin=ell.gcode\n"
        "  pliant follow trunk --path flower --count 120 --export pressures=valves.csv\n",
    .option = options,
    .least = 1,
    .most = 2,
    .run = follow_run,
};
