// What viewers say: requests of the owner of the controls, asking for the controls, files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_net.h"

#define TALK_ROWS 2000 // of a log in one message

// ---- fields of a message. Each returns false after telling the viewer what was expected.
static bool talk_number(server_net *net, const server_viewer *v, const json_t *root, const char *key,
                        double *out)
{
    const json_t *item = json_object_get(root, key);
    if (!json_is_number(item) || !isfinite(json_number_value(item))) {
        server_refuse(net->queue, v->id, "'%s' must be a number", key);
        return false;
    }

    *out = json_number_value(item);
    return true;
}

static bool talk_index(server_net *net, const server_viewer *v, const json_t *root, const char *key, int high,
                       int *out)
{
    double value = 0;
    if (!talk_number(net, v, root, key, &value)) {
        return false;
    }

    if (value < 0 || value > high || value != floor(value)) {
        server_refuse(net->queue, v->id, "'%s' is %g, expected a whole number from 0 to %d", key, value,
                      high);
        return false;
    }

    *out = (int)value;
    return true;
}

// A list of numbers, null where an entry may be empty (then NAN).
static bool talk_numbers(server_net *net, const server_viewer *v, const json_t *root, const char *key,
                         int least, int most, bool empty, double *out, int *count)
{
    const json_t *list = json_object_get(root, key);
    const size_t n = json_array_size(list);

    if (!json_is_array(list) || n < (size_t)least || n > (size_t)most) {
        server_refuse(net->queue, v->id, "'%s' must be a list of %d to %d numbers", key, least, most);
        return false;
    }

    for (size_t i = 0; i < n; ++i) {
        const json_t *item = json_array_get(list, i);
        if (json_is_number(item) && isfinite(json_number_value(item))) {
            out[i] = json_number_value(item);
        } else if (empty && json_is_null(item)) {
            out[i] = NAN;
        } else {
            server_refuse(net->queue, v->id, "entry %zu of '%s' must be a number", i + 1, key);
            return false;
        }
    }

    *count = (int)n;

    return true;
}

// Which robot a request is meant for, and the viewer's own number of it.
static bool talk_robot(server_net *net, const server_viewer *v, const json_t *root, uint32_t *robot)
{
    int number = 0;
    const bool good = talk_index(net, v, root, "robot", 1 << 30, &number);
    *robot = (uint32_t)number;
    return good;
}

// ---- poses
static void talk_set(server_net *net, server_viewer *v, const json_t *root)
{
    server_pose pose = {.kind = SERVER_POSE_COMMANDS, .viewer = v->id};
    if (talk_robot(net, v, root, &pose.robot) && talk_number(net, v, root, "serial", &pose.serial) &&
        talk_numbers(net, v, root, "commands", 0, SERVER_COMMANDS, true, pose.command, &pose.command_count)) {
        pose.live = json_is_true(json_object_get(root, "live"));
        server_request_pose(net->queue, &pose);
    }
}

static bool talk_flags(server_net *net, const server_viewer *v, const json_t *root, const char *key, int most,
                       bool *out)
{
    const json_t *list = json_object_get(root, key);
    if (!list) {
        return true;
    }
    if (!json_is_array(list) || json_array_size(list) > (size_t)most) {
        server_refuse(net->queue, v->id, "'%s' must be a list of at most %d booleans", key, most);
        return false;
    }

    for (size_t i = 0; i < json_array_size(list); ++i) {
        out[i] = json_is_true(json_array_get(list, i));
    }

    return true;
}

static void talk_target(server_net *net, server_viewer *v, const json_t *root)
{
    server_pose pose = {.kind = SERVER_POSE_TARGET, .viewer = v->id};
    int count = 0;

    if (talk_robot(net, v, root, &pose.robot) && talk_number(net, v, root, "serial", &pose.serial) &&
        talk_index(net, v, root, "marker", 1000, &pose.marker) &&
        talk_numbers(net, v, root, "target", 3, 3, false, pose.target, &count) &&
        talk_flags(net, v, root, "hold", SERVER_COMMANDS, pose.hold)) {
        server_request_pose(net->queue, &pose);
    }
}

static void talk_pull(server_net *net, server_viewer *v, const json_t *root)
{
    server_pose pose = {.kind = SERVER_POSE_PULL, .viewer = v->id};
    int count = 0;

    if (talk_robot(net, v, root, &pose.robot) && talk_number(net, v, root, "serial", &pose.serial) &&
        talk_numbers(net, v, root, "commands", 0, SERVER_COMMANDS, true, pose.command, &pose.command_count) &&
        talk_numbers(net, v, root, "at", 3, 3, false, pose.grip, &count) &&
        talk_numbers(net, v, root, "hand", 3, 3, false, pose.hand, &count)) {
        pose.live = json_is_true(json_object_get(root, "live"));
        server_request_pose(net->queue, &pose);
    }
}

// ---- jobs
static void talk_start(server_net *net, server_viewer *v, server_job *job)
{
    if (!server_request_job(net->queue, job)) {
        server_refuse(net->queue, v->id,
                      "still busy with the last request of this kind; wait for it or cancel it");
    }
    free(job->point);
    free(job->shape);
}

static void talk_follow(server_net *net, server_viewer *v, const json_t *root)
{
    server_job job = {.kind = SERVER_JOB_FOLLOW, .viewer = v->id};
    int count = 0;

    job.point = malloc(3 * SERVER_POINTS * sizeof *job.point);
    if (!job.point) {
        server_refuse(net->queue, v->id, "no memory for the path");
        return;
    }

    if (!talk_robot(net, v, root, &job.robot) || !talk_index(net, v, root, "marker", 1000, &job.marker) ||
        !talk_numbers(net, v, root, "points", 6, 3 * SERVER_POINTS, false, job.point, &count) ||
        !talk_flags(net, v, root, "hold", SERVER_COMMANDS, job.hold)) {
        free(job.point);
        return;
    }

    if (count % 3 != 0) {
        server_refuse(net->queue, v->id, "'points' has %d numbers, expected three per point", count);
        free(job.point);
        return;
    }

    job.count = count / 3;
    talk_start(net, v, &job);
}

// A path as text, read as the command reads it; the points go back to the viewer.
static void talk_read(server_net *net, server_viewer *v, const json_t *root)
{
    const char *text = json_string_value(json_object_get(root, "text"));
    const char *name = json_string_value(json_object_get(root, "name"));
    pl_path_file file = {0};
    pl_error err = {0};

    if (!text || !name) {
        server_refuse(net->queue, v->id, "'text' and 'name' must be texts");
    } else if (server_path_read(text, name, &file, &err) != PL_OK) {
        server_refuse(net->queue, v->id, "%s", err.text);
    } else if (file.count < 2 || file.count > SERVER_POINTS) {
        server_refuse(net->queue, v->id, "%.100s: %d points, expected 2 to %d", name, file.count,
                      SERVER_POINTS);
    } else {
        json_t *answer =
            json_pack("{s:s,s:o}", "type", "points", "points", server_numbers(file.point, 3 * file.count));
        char *line = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
        server_write_reply(net->queue, v->id, line ? server_pack_text(line) : NULL);
        free(line);
        json_decref(answer);
    }

    pl_path_clear(&file);
}

// The next rows of the log of a run, for a viewer that has those before `from`.
static void talk_log(server_net *net, server_viewer *v, const json_t *root)
{
    const json_int_t from = json_integer_value(json_object_get(root, "from"));
    char *csv = NULL;
    int64_t rows = 0, total = 0;
    pl_error err = {0};

    if (!net->options->log || from < 0) {
        server_refuse(net->queue, v->id,
                      net->options->log ? "'from' must not be negative" : "the server has no log");
        return;
    }

    const bool there =
        pl_run_log_read(net->options->log, from, TALK_ROWS, &csv, &rows, &total, &err) == PL_OK;
    json_t *answer = json_pack("{s:s,s:I,s:I,s:I,s:o}", "type", "log", "from", from, "rows", (json_int_t)rows,
                               "total", (json_int_t)total, "text", server_text(there ? csv : ""));
    char *line = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
    server_write_reply(net->queue, v->id, line ? server_pack_text(line) : NULL);
    free(line);
    json_decref(answer);
    pl_file_free(csv);
}

static void talk_cloud(server_net *net, server_viewer *v, const json_t *root)
{
    server_job job = {.kind = SERVER_JOB_CLOUD, .viewer = v->id};
    if (talk_robot(net, v, root, &job.robot) && talk_index(net, v, root, "marker", 1000, &job.marker) &&
        talk_index(net, v, root, "count", 20000, &job.count)) {
        talk_start(net, v, &job);
    }
}

// Numbers of shapes for files of commands; absent for files of the shape shown.
static bool talk_shapes(server_net *net, const server_viewer *v, const json_t *root, server_job *job)
{
    const json_t *list = json_object_get(root, "shapes");
    const size_t n = json_array_size(list);

    if (!list) {
        return true;
    }
    job->shape = n > 0 && n <= SERVER_POINTS ? malloc(n * sizeof *job->shape) : NULL;
    for (size_t i = 0; job->shape && i < n; ++i) {
        const json_int_t value = json_integer_value(json_array_get(list, i));
        job->shape[i] = value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
    }

    job->count = job->shape ? (int)n : 0;
    if (!job->shape) {
        server_refuse(net->queue, v->id, "'shapes' must be a list of 1 to %d numbers of shapes",
                      SERVER_POINTS);
    }

    return job->shape != NULL;
}

static void talk_export(server_net *net, server_viewer *v, const json_t *root)
{
    server_job job = {.kind = SERVER_JOB_EXPORT, .viewer = v->id};
    const char *format = json_string_value(json_object_get(root, "format"));

    if (!format || strlen(format) >= sizeof job.format ||
        strspn(format, "abcdefghijklmnopqrstuvwxyz") != strlen(format)) {
        server_refuse(net->queue, v->id, "'format' must be one of vtu, stl, obj, ply, csv, gcode");
        return;
    }

    strcpy(job.format, format);
    if (talk_robot(net, v, root, &job.robot) && talk_shapes(net, v, root, &job)) {
        talk_start(net, v, &job);
    }
}

// ---- robots
static void talk_open(server_net *net, server_viewer *v, const json_t *root)
{
    const char *design = json_string_value(json_object_get(root, "design"));
    char *path = design ? server_gallery_path(net->options->gallery, design) : NULL;

    if (path) {
        net_open(net, path);
    } else {
        server_refuse(net->queue, v->id, "there is no such design in the gallery: '%.60s'",
                      design ? design : "");
    }

    free(path);
}

// Other values for parameters of the design; the robot is opened from a file beside its own.
static void talk_parameters(server_net *net, server_viewer *v, const json_t *root)
{
    const json_t *values = json_object_get(root, "values");
    char *edited = NULL;
    pl_error err = {0};

    if (!json_is_object(values) || !net->path) {
        server_refuse(net->queue, v->id, "'values' must be an object of numbers");
    } else if (server_edit(net->path, values, &edited, &err) != PL_OK) {
        server_refuse(net->queue, v->id, "%s", err.text);
    } else {
        net_open(net, edited);
    }

    free(edited);
}

static void talk_suggest(server_net *net, server_viewer *v, const json_t *root)
{
    server_job job = {.kind = SERVER_JOB_SUGGEST, .viewer = v->id};
    job.count = json_is_true(json_object_get(root, "curve"));
    if (talk_robot(net, v, root, &job.robot) && talk_index(net, v, root, "marker", 1000, &job.marker)) {
        talk_start(net, v, &job);
    }
}

static void talk_reload(server_net *net, server_viewer *v, const json_t *root)
{
    (void)v;
    (void)root;
    if (net->path) {
        server_request_load(net->queue, net->path);
    }
}

static void talk_cancel(server_net *net, server_viewer *v, const json_t *root)
{
    (void)v;
    (void)root;
    atomic_store(&net->queue->cancel, true);
}

// ---- the controls
void net_publish_control(server_net *net)
{
    server_publish_json(net->queue, SERVER_CONTROL,
                        json_pack("{s:s,s:I,s:I,s:i}", "type", "control", "owner", (json_int_t)net->owner,
                                  "asking", (json_int_t)net->asking, "viewers", net->viewer_count));
}

void net_hand_over(server_net *net, uint32_t id)
{
    net->owner = id;
    net->asking = 0;
    net_publish_control(net);
}

static void talk_ask(server_net *net, server_viewer *v, const json_t *root)
{
    (void)root;
    if (net->owner == 0 || net->owner == v->id) {
        net_hand_over(net, v->id);
    } else if (net->asking == 0) {
        net->asking = v->id;
        net->asked = server_now();
        net_publish_control(net);
    } else if (net->asking != v->id) {
        server_refuse(net->queue, v->id, "another viewer is asking for the controls at this moment");
    }
}

static void talk_give(server_net *net, server_viewer *v, const json_t *root)
{
    const bool yes = json_is_true(json_object_get(root, "yes"));
    if (net->asking == 0) {
        server_refuse(net->queue, v->id, "the controls have not been asked for");
    } else if (yes) {
        net_hand_over(net, net->asking);
    } else {
        server_refuse(net->queue, net->asking, "the viewer who has the controls keeps them");
        net_hand_over(net, net->owner);
    }
}

// ---- all of it
static const struct {
    const char *type;
    bool owner; // only for the one who has the controls
    void (*act)(server_net *net, server_viewer *v, const json_t *root);
} talk_table[] = {
    {"set", true, talk_set},        {"target", true, talk_target},   {"follow", true, talk_follow},
    {"cloud", true, talk_cloud},    {"open", true, talk_open},       {"reload", true, talk_reload},
    {"cancel", true, talk_cancel},  {"give", true, talk_give},       {"ask", false, talk_ask},
    {"export", false, talk_export}, {"read", false, talk_read},      {"pull", true, talk_pull},
    {"log", false, talk_log},       {"suggest", true, talk_suggest}, {"parameters", true, talk_parameters},
};

void net_hear(server_net *net, server_viewer *viewer, const char *text, size_t bytes)
{
    json_error_t where;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &where);
    const char *type = json_string_value(json_object_get(root, "type"));

    if (!type) {
        server_refuse(net->queue, viewer->id, "a message must be a JSON object with a 'type'%s%.100s",
                      root ? "" : ": ", root ? "" : where.text);
        json_decref(root);
        return;
    }

    for (size_t i = 0; i < sizeof talk_table / sizeof *talk_table; ++i) {
        if (strcmp(type, talk_table[i].type) != 0) {
            continue;
        }
        if (talk_table[i].owner && net->owner != viewer->id) {
            server_refuse(net->queue, viewer->id, "another viewer has the controls; ask for them first");
        } else {
            talk_table[i].act(net, viewer, root);
        }
        json_decref(root);
        return;
    }

    server_refuse(net->queue, viewer->id, "there is no message of type '%.40s'", type);
    json_decref(root);
}
