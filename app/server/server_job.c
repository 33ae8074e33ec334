// Longer work on demand: files of the shape shown.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "server_worker.h"

// ---- files
// Writes the fine shape into a folder of its own and reads it back.
static pl_status job_shape_file(server_worker *w, const char *format, char **data, size_t *bytes,
                                pl_error *err)
{
    const char *root = getenv("TMPDIR");
    char folder[400], path[500];
    snprintf(folder, sizeof folder, "%.300s/pliant-XXXXXX", root && root[0] ? root : "/tmp");
    if (!mkdtemp(folder)) {
        return server_fail(err, PL_BAD_FILE, "no folder for the file can be made in %.300s",
                           root && root[0] ? root : "/tmp");
    }
    snprintf(path, sizeof path, "%s/shape.%s", folder, format);
    server_model *m = &w->fine;
    pl_status status = PL_BAD_INPUT;
    if (strcmp(format, "vtu") == 0) {
        status = pl_state_write_vtu(m->statics, m->robot, m->state, path, err);
    } else if (strcmp(format, "stl") == 0) {
        status = pl_mesh_write_stl(pl_robot_mesh(m->robot), NULL, pl_state_positions(m->state), path, err);
    } else {
        server_fail(err, PL_BAD_INPUT, "the server writes vtu and stl, not '%.20s'", format);
    }
    if (status == PL_OK) {
        status = pl_file_read(path, data, bytes, err);
    }
    unlink(path);
    rmdir(folder);
    return status;
}

static void job_export(server_worker *w, const server_job *job)
{
    char *data = NULL;
    size_t bytes = 0;
    pl_error err = {0};
    if (job_shape_file(w, job->format, &data, &bytes, &err) != PL_OK) {
        server_refuse(w->desk, job->viewer, "%s", err.text);
        return;
    }
    char name[200];
    snprintf(name, sizeof name, "%.150s.%s", pl_robot_name(w->fine.robot), job->format);
    json_t *head = json_pack("{s:s}", "name", name);
    char *json = head ? json_dumps(head, JSON_COMPACT) : NULL;
    const server_array array = {"bytes", SERVER_U8, data, bytes};
    if (json) {
        server_write_letter(w->desk, job->viewer, server_pack(SERVER_KIND_FILE, json, &array, 1));
    }
    free(json);
    json_decref(head);
    pl_file_free(data);
}

void worker_job(server_worker *w, const server_job *job)
{
    if (!w->has_fine || job->robot != w->robot) {
        return;
    }
    if (job->kind == SERVER_JOB_EXPORT) {
        job_export(w, job);
    } else {
        server_refuse(w->desk, job->viewer, "this is not possible yet");
    }
}
