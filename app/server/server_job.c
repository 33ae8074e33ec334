// Longer work on demand: following a path, the workspace, files of shapes and of commands.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "server_worker.h"

#define JOB_PERIOD 0.3 // s between two messages of a growing result
#define JOB_PACE 0.03  // s at least between two waypoints, so that viewers see each

// ---- following a path
typedef struct job_path {
    server_worker *w;
    const server_job *job;
    json_t *waypoints;
    double reported, last; // s
} job_path;

static void job_publish_path(job_path *p, bool done)
{
    if (done) {
        worker_free_slot(p->w);
    }

    json_t *root =
        json_pack("{s:s,s:I,s:i,s:i,s:b,s:O}", "type", "path", "robot", (json_int_t)p->w->robot, "marker",
                  p->job->marker, "count", p->job->count, "done", done, "waypoints", p->waypoints);
    server_publish_json(p->w->queue, SERVER_PATH, root);
}

static json_t *job_waypoint(const pl_waypoint *at, int marker, uint32_t shape)
{
    json_t *one = json_object();
    json_object_set_new(one, "target", server_numbers(at->target, 3));
    json_object_set_new(one, "position", server_numbers(at->answer.marker + 3 * marker, 3));
    json_object_set_new(one, "distance", server_number(at->ik->distance));
    json_object_set_new(one, "outcome", json_string(pl_ik_outcome_name(at->ik->outcome)));
    json_object_set_new(one, "model_error", server_number(at->ik->model_error));
    json_object_set_new(one, "shape", json_integer(shape));

    return one;
}

static void job_pace(job_path *p)
{
    const double left = p->last + JOB_PACE - server_now();
    if (left > 0) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * left)}, NULL);
    }
    p->last = server_now();
}

static bool job_record(void *user, const pl_waypoint *at)
{
    job_path *p = user;
    server_model *m = &p->w->fine;

    job_pace(p);
    if (worker_overtaken(p->w)) {
        return false;
    }
    worker_check(m, at->ik);
    worker_publish_shape(p->w, m, json_pack("{s:i}", "waypoint", at->index));
    json_array_append_new(p->waypoints, job_waypoint(at, p->job->marker, p->w->shape));
    if (server_now() - p->reported > JOB_PERIOD) {
        p->reported = server_now();
        job_publish_path(p, false);
    }

    return true;
}

static void job_follow(server_worker *w, const server_job *job)
{
    const pl_progress progress = worker_search_progress(w);
    job_path path = {.w = w, .job = job, .waypoints = json_array()};
    pl_ik *ik = NULL;
    pl_follow_options options = pl_follow_options_default();
    pl_follow_report report;
    pl_error err = {0};

    options.record = job_record;
    options.user = &path;
    w->viewer = job->viewer;
    w->serial = 0;

    // newer than every pose answered so far
    pthread_mutex_lock(&w->publishing);
    w->order = w->lead.order > w->answered ? w->lead.order : w->answered;
    pthread_mutex_unlock(&w->publishing);
    worker_let_go(w, &w->fine);
    pl_status status = server_model_ik(&w->fine, job->marker, job->hold, &progress, &ik, &err);
    if (status == PL_OK) {
        status = pl_follow(ik, job->point, job->count, &options, &report, &err);
    }
    if (status != PL_OK && !worker_overtaken(w)) {
        server_refuse(w->queue, job->viewer, "%s", err.text);
    }
    job_publish_path(&path, true);
    json_decref(path.waypoints);
}

// ---- the workspace
typedef struct job_cloud_work {
    server_worker *w;
    const server_job *job;
    server_model *m;
    float *point;
    double *place; // the same, for its hull
    int count, planned;
    double reported;
} job_cloud_work;

static void job_hull_text(const job_cloud_work *c, char *text, size_t room)
{
    pl_hull hull;
    text[0] = 0;
    if (c->count < 4 || pl_hull_measure(c->place, c->count, &hull, NULL) != PL_OK) {
        return;
    }

    if (hull.dimension == 3) {
        snprintf(text, room, "a volume of %.3g mL", hull.volume / 1000);
    } else if (hull.dimension == 2) {
        snprintf(text, room, "an area of %.3g mm²", hull.area);
    } else if (hull.dimension == 1) {
        snprintf(text, room, "a line of %.3g mm", hull.length);
    }
}

static void job_publish_cloud(job_cloud_work *c, bool done)
{
    char span[80] = "";
    if (done) {
        worker_free_slot(c->w);
        job_hull_text(c, span, sizeof span);
    }

    json_t *head = json_pack("{s:I,s:i,s:i,s:i,s:b,s:s,s:s}", "robot", (json_int_t)c->w->robot, "marker",
                             c->job->marker, "count", c->count, "planned", c->planned, "done", done, "level",
                             c->m->coarse ? "coarse" : "fine", "hull", span);
    char *json = head ? json_dumps(head, JSON_COMPACT) : NULL;
    const server_array array = {"point", SERVER_F32, c->point, 3 * (size_t)c->count};
    server_message *message = json ? server_pack(SERVER_KIND_CLOUD, json, &array, 1) : NULL;
    if (message) {
        server_publish(c->w->queue, SERVER_CLOUD, message);
    }
    free(json);
    json_decref(head);
}

static bool job_sample(void *user, const pl_sample *sample)
{
    job_cloud_work *c = user;
    if (worker_overtaken(c->w)) {
        return false;
    }

    if (sample->fk->outcome == PL_SOLVED && c->count < c->planned) {
        for (int i = 0; i < 3; ++i) {
            c->place[3 * c->count + i] = sample->answer.marker[3 * c->job->marker + i];
            c->point[3 * c->count + i] = (float)c->place[3 * c->count + i];
        }
        ++c->count;
    }

    if (server_now() - c->reported > JOB_PERIOD) {
        c->reported = server_now();
        job_publish_cloud(c, false);
    }

    return true;
}

static pl_status job_cloud_run(job_cloud_work *c, pl_error *err)
{
    double low[SERVER_COMMANDS], high[SERVER_COMMANDS];
    for (int i = 0; i < c->m->info.command_count; ++i) {
        const server_command_view view = server_command_view_of(c->m, i);
        low[i] = view.low * view.scale;
        high[i] = view.high * view.scale;
    }

    const pl_workspace_def def = {
        .order = PL_WORKSPACE_HALTON, .count = c->job->count, .low = low, .high = high, .ends = true};
    pl_workspace_plan plan = {0};
    pl_status status = pl_workspace_plan_init(c->m->model, &def, &plan, err);
    if (status == PL_OK) {
        c->planned = plan.count;
        c->point = calloc(3 * (size_t)plan.count + 1, sizeof *c->point);
        c->place = calloc(3 * (size_t)plan.count + 1, sizeof *c->place);
        status = c->point && c->place ? pl_workspace_run(c->m->model, &plan, 0, job_sample, c, err)
                                      : server_fail(err, PL_NO_MEMORY, "no memory for the workspace");
    }

    pl_workspace_plan_clear(&plan);

    return status;
}

static void job_cloud(server_worker *w, const server_job *job)
{
    job_cloud_work c = {.w = w, .job = job, .m = w->has_coarse ? &w->coarse : &w->fine};
    pl_error err = {0};

    if (job->marker >= c.m->info.marker_count || c.m->info.command_count == 0) {
        server_refuse(w->queue, job->viewer, "a workspace needs a marker and a command");
        return;
    }

    worker_let_go(w, c.m);

    // the robot goes back to where it was
    const bool kept = pl_model_keep(c.m->model, PL_SLOT_CALLER, NULL) == PL_OK;
    const pl_status status = job_cloud_run(&c, &err);
    if (kept) {
        if (pl_model_recall(c.m->model, PL_SLOT_CALLER, NULL) != PL_OK) {
            pl_model_reset(c.m->model);
        }
    }

    if (status != PL_OK && !worker_overtaken(w)) {
        server_refuse(w->queue, job->viewer, "%s", err.text);
    }
    if (c.point && c.place) {
        job_publish_cloud(&c, true);
    }
    free(c.point);
    free(c.place);
}

// ---- files
static pl_status job_forgotten(uint32_t shape, pl_error *err)
{
    return server_fail(err, PL_BAD_INPUT, "shape %u is no longer stored: move the robot there again", shape);
}

// A motion through remembered shapes, at no less than a tenth of a second each.
static pl_status job_motion(server_worker *w, const server_job *job, pl_motion *motion, pl_error *err)
{
    const double target[3] = {NAN, NAN, NAN};
    double rate[SERVER_COMMANDS];
    pl_status status = PL_OK;

    for (int i = 0; i < job->count && status == PL_OK; ++i) {
        pl_model_answer answer;
        const worker_entry *entry = worker_remember(w, job->shape[i], &answer);
        if (!entry) {
            return job_forgotten(job->shape[i], err);
        }
        if (entry->coarse) {
            return server_fail(err, PL_BAD_INPUT,
                               "G-code is not written from the coarse mesh: wait for the fine shape");
        }
        status = pl_motion_add(motion, 0.1 * i, target, &answer, NULL, err);
    }

    for (int i = 0; i < w->fine.info.command_count; ++i) {
        rate[i] = w->fine.info.command[i].rate;
    }
    pl_motion_schedule(motion, rate, 0.1);

    return status;
}

static pl_status job_write_gcode(server_worker *w, const server_job *job, const char *path, pl_error *err)
{
    pl_motion motion;
    pl_motion_init(&motion, w->fine.model, 0);
    pl_status status = job_motion(w, job, &motion, err);
    if (status == PL_OK) {
        status = pl_motion_write_gcode(&motion, w->fine.model, path, NULL, err);
    }
    pl_motion_clear(&motion);

    return status;
}

// The rows of remembered shapes, as `pliant sweep` writes them.
static pl_status job_write_table(server_worker *w, const server_job *job, const char *path, pl_error *err)
{
    const pl_record *record = NULL;
    pl_model_answer answer;
    pl_status status = pl_model_record(w->fine.model, NULL, &record, err);
    char *head = status == PL_OK ? pl_record_csv_head(record) : NULL;
    FILE *file = head ? fopen(path, "w") : NULL;
    bool good = file && fputs(head, file) >= 0;

    for (int i = 0; good && status == PL_OK && i < job->count; ++i) {
        const worker_entry *entry = worker_remember(w, job->shape[i], &answer);
        good = entry && entry->row && fputs(entry->row, file) >= 0;
        status = entry ? PL_OK : job_forgotten(job->shape[i], err);
    }

    good = (!file || fclose(file) == 0) && good;
    pl_file_free(head);

    return status != PL_OK || good ? status : server_fail(err, PL_BAD_FILE, "the table cannot be written");
}

// A shape in one line: robot, commands, mesh. Written into every file.
static void job_title(const server_worker *w, const worker_entry *entry, const double *sensor, char *text,
                      size_t room)
{
    const server_model *m = entry->coarse ? &w->coarse : &w->fine;
    size_t n = (size_t)snprintf(text, room, "%.60s, shape %u, %s mesh", m->info.name ? m->info.name : "robot",
                                entry->shape, entry->coarse ? "coarse" : "fine");

    for (int i = 0; i < m->info.command_count && n < room; ++i) {
        const server_command_view view = server_command_view_of(m, i);
        const double *span = m->info.command[i].span;
        const bool zero = fabs(entry->value[i]) < 1e-9 * fabs(span[1] - span[0]);
        const double value = zero ? 0 : entry->value[i] / view.scale;
        n += isnan(value) ? (size_t)snprintf(text + n, room - n, ", %.40s idle", m->info.command[i].name)
                          : (size_t)snprintf(text + n, room - n, ", %.40s %.6g%s%s", m->info.command[i].name,
                                             value, strcmp(view.unit, "1") ? " " : "",
                                             strcmp(view.unit, "1") ? view.unit : "");
    }

    for (int i = 0; i < m->info.sensor_count && n < room; ++i) {
        const pl_sensor_kind kind = m->info.sensor_kind[i];
        n += (size_t)snprintf(text + n, room - n, ", %.40s %.6g %s", m->info.sensor_name[i],
                              sensor[i] / pl_sensor_scale(kind), pl_sensor_unit(kind));
    }

    if (n < room) {
        snprintf(text + n, room - n, "%s", entry->pull);
    }
}

// Brings the model to a remembered shape: the equilibrium is found again from its commands, and must be the
// same one.
static pl_status job_revisit(server_model *m, const worker_entry *entry, const pl_model_answer *then,
                             pl_error *err)
{
    pl_solve_report report;
    if (m->pull.gripped || entry->pull[0]) {
        return server_fail(err, PL_BAD_INPUT, "shape %u: %s", entry->shape,
                           entry->pull[0] ? "a hand pulled the body there and has let go"
                                          : "a hand pulls the body now; let it go first");
    }

    m->shape = 0;
    const pl_status status = pl_model_fk(m->model, then->command, &report, err);
    if (status != PL_OK) {
        return status;
    }

    const double *marker = pl_model_get_answer(m->model).marker;
    double off = 0;
    for (int i = 0; i < 3 * m->info.marker_count; ++i) {
        off = fmax(off, fabs(marker[i] - then->marker[i]));
    }

    if (report.outcome != PL_SOLVED || off > 1e-3 * m->info.size) {
        return server_fail(
            err, PL_BAD_INPUT,
            "shape %u cannot be reproduced from its commands (%s, difference %.3g mm): move the robot "
            "there again",
            entry->shape, pl_outcome_name(report.outcome), off);
    }

    return PL_OK;
}

static pl_status job_write_shape(server_model *m, const char *format, const char *path, pl_error *err)
{
    if (strcmp(format, "stl") == 0) {
        return pl_mesh_write(m->body, NULL, server_model_positions(m), NULL, path, err);
    }
    if (strcmp(format, "obj") == 0) { // readers that do not know colours take them for coordinates
        return pl_model_write_surface(m->model, PL_FIELD_COUNT, path, err);
    }
    if (strcmp(format, "ply") == 0) {
        const bool known = m->info.fields & (1u << PL_FIELD_DISPLACEMENT);
        return pl_model_write_surface(m->model, known ? PL_FIELD_DISPLACEMENT : PL_FIELD_COUNT, path, err);
    }

    return pl_model_write_vtu(m->model, path, err);
}

// The formats that hold one shape.
static bool job_is_shape(const char *format)
{
    static const char *const known[] = {"vtu", "stl", "obj", "ply"};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(format, known[i]) == 0) {
            return true;
        }
    }

    return false;
}

// The shape that the viewer sees, which need not be where the model stands.
static pl_status job_write_seen(server_worker *w, const server_job *job, const char *path, pl_error *err)
{
    pl_model_answer then;
    const worker_entry *entry = job->count == 1 ? worker_remember(w, job->shape[0], &then) : NULL;

    if (!entry) {
        return job->count == 1
                   ? job_forgotten(job->shape[0], err)
                   : server_fail(err, PL_BAD_INPUT, "'shapes' must contain the number of one shape");
    }

    server_model *m = entry->coarse ? &w->coarse : &w->fine;
    if (m->shape == entry->shape) {
        return job_write_shape(m, job->format, path, err);
    }

    const uint32_t stands = m->shape;
    pl_status status = pl_model_keep(m->model, PL_SLOT_CALLER, err);
    if (status == PL_OK) {
        status = job_revisit(m, entry, &then, err);
        if (status == PL_OK) {
            status = job_write_shape(m, job->format, path, err);
        }
        if (pl_model_recall(m->model, PL_SLOT_CALLER, NULL) != PL_OK) {
            pl_model_reset(m->model);
        }
        m->shape = stands;
    }

    return status;
}

// Says in the file what it holds: in the header of an STL, in a comment of the others. Takes `data` over.
static char *job_label(char *data, size_t *bytes, const char *format, const char *title)
{
    char line[1200], date[40];
    int n = 0;
    size_t at = 0;
    const time_t now = time(NULL);
    struct tm utc;

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (strcmp(format, "stl") == 0) {
        memset(data, ' ', 80);
        memcpy(data, title, strlen(title) < 80 ? strlen(title) : 80);
        return data;
    }

    if (strcmp(format, "vtu") == 0) {
        const char *second = memchr(data, '\n', *bytes); // behind the XML declaration
        at = second ? (size_t)(second - data) + 1 : 0;
        n = snprintf(line, sizeof line, "<!-- pliant %s, %s: %s -->\n", pl_version(), date, title);
        for (char *two = strstr(line + 4, "--"); two && two < line + n - 4; two = strstr(two, "--")) {
            two[1] = '_'; // a comment may not hold two hyphens
        }
    } else if (strcmp(format, "ply") == 0) {
        const char *words = "format binary_little_endian 1.0\n"; // a comment stands behind it
        at = *bytes > 80 && strncmp(data + 4, words, strlen(words)) == 0 ? 4 + strlen(words) : 0;
        n = at ? snprintf(line, sizeof line, "comment pliant %s, %s: %s\n", pl_version(), date, title) : 0;
    } else {
        const bool hash = strcmp(format, "csv") == 0 || strcmp(format, "obj") == 0;
        n = snprintf(line, sizeof line, "%s pliant %s, %s: %s\n", hash ? "#" : ";", pl_version(), date,
                     title);
    }

    char *grown = realloc(data, *bytes + (size_t)n);
    if (!grown) {
        free(data);
        return NULL;
    }

    memmove(grown + at + n, grown + at, *bytes - at);
    memcpy(grown + at, line, (size_t)n);
    *bytes += (size_t)n;

    return grown;
}

static pl_status job_write(server_worker *w, const server_job *job, const char *path, pl_error *err)
{
    if (job_is_shape(job->format)) {
        return job_write_seen(w, job, path, err);
    }
    if (job->count == 0) {
        return server_fail(err, PL_BAD_INPUT, "there is nothing to write: 'shapes' is empty");
    }
    if (strcmp(job->format, "gcode") == 0) {
        return job_write_gcode(w, job, path, err);
    }
    if (strcmp(job->format, "csv") == 0) {
        return job_write_table(w, job, path, err);
    }

    return server_fail(err, PL_BAD_INPUT, "the server writes vtu, stl, obj, ply, csv and gcode, not '%s'",
                       job->format);
}

// Writes the file into a folder of its own and reads it back; `data` is on the heap.
static pl_status job_file(server_worker *w, const server_job *job, char **data, size_t *bytes, pl_error *err)
{
    char folder[400], path[500], title[1000];
    pl_status status = server_temporary(folder, sizeof folder, err);

    if (status != PL_OK) {
        return status;
    }
    snprintf(path, sizeof path, "%s/shape.%s", folder, job->format);
    char *read = NULL;
    status = job_write(w, job, path, err);
    if (status == PL_OK) {
        status = pl_file_read(path, &read, bytes, err);
    }
    unlink(path);
    rmdir(folder);
    if (status == PL_OK) {
        pl_model_answer then;
        const worker_entry *entry = worker_remember(w, job->shape[0], &then);
        job_title(w, entry, then.sensor, title, sizeof title);
        if (job->count > 1) {
            const size_t n = strlen(title);
            snprintf(title + n, sizeof title - n, " and %d more", job->count - 1);
        }
        *data = malloc(*bytes + 1);
        if (*data) {
            memcpy(*data, read, *bytes);
            *data = job_label(*data, bytes, job->format, title);
        }
        status = *data ? PL_OK : server_fail(err, PL_NO_MEMORY, "no memory for the file");
    }

    pl_file_free(read);

    return status;
}

static void job_export(server_worker *w, const server_job *job)
{
    char *data = NULL;
    size_t bytes = 0;
    pl_error err = {0};
    const pl_status status = job_file(w, job, &data, &bytes, &err);

    worker_free_slot(w);
    if (status != PL_OK) {
        server_refuse(w->queue, job->viewer, "%s", err.text);
        return;
    }

    char name[200];
    snprintf(name, sizeof name, "%.150s.%s", w->fine.info.name ? w->fine.info.name : "robot", job->format);
    json_t *head = json_pack("{s:s}", "name", name);
    char *json = head ? json_dumps(head, JSON_COMPACT) : NULL;
    const server_array array = {"bytes", SERVER_U8, data, bytes};
    if (json) {
        server_write_reply(w->queue, job->viewer, server_pack(SERVER_KIND_FILE, json, &array, 1));
    }
    free(json);
    json_decref(head);
    free(data);
}

void worker_job(server_worker *w, const server_job *job)
{
    if (!w->has_fine || job->robot != w->robot) {
        return;
    }
    if (job->kind == SERVER_JOB_EXPORT) {
        job_export(w, job);
    } else if (job->kind == SERVER_JOB_SUGGEST) {
        worker_suggest(w, job);
    } else if (job->kind == SERVER_JOB_FOLLOW) {
        job_follow(w, job);
    } else {
        job_cloud(w, job);
    }
}
