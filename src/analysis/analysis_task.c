// A task file on a robot: its names found in the model, its objects where they are now, its stages run one by
// one.
#include <string.h>
#include "base/base.h"
#include "pliant/target.h"
#include "analysis/analysis_task.h"
#include "pliant/text.h"
#include "kinematics/kinematics_task.h"

struct pl_task_job {
    pl_model *model;
    const pl_task_file *file;
    const char *path;
    int marker, gripper; // of a move that names none, and of the gripper; -1: none
    int steps;           // of all stages
    int32_t *segment, segment_count;
    double *center; // 3 per object
    bool *end;      // per command: bends the end segment
    bool *hold;     // two sets of commands, for a grasp
};

// The marker of a move: its own, or that of the file.
static const char *job_marker_name(const pl_task_job *j, const pl_task_item *item)
{
    return item->marker ? item->marker : j->file->marker;
}

// ---- names
// Markers exist, and the total number of steps is bounded.
static pl_status job_check_stages(pl_task_job *j, pl_error *err)
{
    int64_t steps = 0;
    for (int i = 0; i < j->file->item_count; ++i) {
        const pl_task_item *item = &j->file->item[i];
        const char *name = job_marker_name(j, item);
        steps += item->steps;
        if (item->what == PL_TASK_MOVE && name && pl_model_find_marker(j->model, name) < 0) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: stage: the robot has no marker '%s'", j->path,
                           item->line, name);
        }

        if (item->what == PL_TASK_MOVE && !name && j->marker < 0) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: stage '%s': the marker is not given: add 'marker'",
                           j->path, item->line, item->name);
        }
    }

    if (steps > PL_TASK_STEPS) {
        return pl_fail(err, PL_BAD_INPUT, "%s: %lld steps in all stages, the limit is %d", j->path,
                       (long long)steps, PL_TASK_STEPS);
    }

    j->steps = (int)steps;
    return PL_OK;
}

// Marker, commands and body points of the gripper.
static pl_status job_find_gripper(pl_task_job *j, pl_error *err)
{
    const pl_task_file *f = j->file;
    j->gripper = pl_model_find_marker(j->model, f->gripper_marker);
    if (j->gripper < 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: gripper: the robot has no marker '%s'", j->path,
                       f->gripper_line, f->gripper_marker);
    }

    for (int i = 0; i < f->command_count; ++i) {
        const int c = pl_model_find_command(j->model, f->command[i]);
        if (c < 0) {
            return pl_fail(err, PL_BAD_INPUT, "%s:%d: gripper: the robot has no command '%s'", j->path,
                           f->gripper_line, f->command[i]);
        }

        j->end[c] = true;
    }

    pl_error why = {0};
    const pl_status status = f->segment
                                 ? pl_model_points(j->model, f->segment, &j->segment, &j->segment_count, &why)
                                 : pl_model_points_on_line(j->model, f->line_from, f->line_to, &j->segment,
                                                           &j->segment_count, &why);

    return status == PL_OK ? PL_OK
                           : pl_fail(err, status, "%s:%d: gripper: %s: %s", j->path, f->gripper_line,
                                     f->segment ? "segment" : "line", why.text);
}

// Names are resolved once; `file` and `path` must outlive the job.
pl_status pl_task_job_create(pl_model *model, const pl_task_file *file, const char *path, int marker,
                             pl_task_job **out, pl_error *err)
{
    const size_t commands = (size_t)pl_model_get_info(model).command_count;
    pl_task_job *j = PL_NEW(pl_task_job);

    *out = NULL;
    if (!j) {
        return pl_fail_memory(err, "the task");
    }
    *j = (pl_task_job){.model = model,
                       .file = file,
                       .path = path,
                       .marker = marker,
                       .gripper = -1,
                       .end = PL_NEW_ARRAY(bool, commands),
                       .hold = PL_NEW_ARRAY(bool, 2 * commands),
                       .center = PL_NEW_ARRAY(double, 3 * (size_t)file->object_count)};
    pl_status status =
        j->end && j->hold && j->center ? job_check_stages(j, err) : pl_fail_memory(err, "the task");
    for (int i = 0; status == PL_OK && i < file->object_count; ++i) {
        memcpy(j->center + 3 * i, file->object[i].center, 3 * sizeof *j->center);
    }
    if (status == PL_OK && file->has_gripper) {
        status = job_find_gripper(j, err);
    }
    if (status != PL_OK) {
        pl_task_job_destroy(j);
        j = NULL;
    }

    *out = j;

    return status;
}

void pl_task_job_destroy(pl_task_job *j)
{
    if (j) {
        pl_mesh_free_indices(j->segment);
        pl_free(j->end);
        pl_free(j->hold);
        pl_free(j->center);
        pl_free(j);
    }
}

int pl_task_job_steps(const pl_task_job *j)
{
    return j->steps;
}

int pl_task_job_gripper(const pl_task_job *j)
{
    return j->gripper;
}

// ---- stages
#define JOB_DIRECTION 20 // weight of a direction: 0.05 rad beside 1 mm

// Where steps go to.
typedef struct job_sink {
    const pl_ik_options *options;
    bool (*record)(void *user, const pl_waypoint *step);
    void *user;
} job_sink;

static pl_status job_stage(pl_task_job *j, const pl_task_stage *stage, const job_sink *sink, pl_error *err)
{
    return pl_task_run(j->model, stage, 1, sink->options, sink->record, sink->user, NULL, err);
}

// A move: position in steps from where the marker is, direction, or both.
static pl_status job_move(pl_task_job *j, const pl_task_item *item, const job_sink *sink, pl_error *err)
{
    const char *name = job_marker_name(j, item);
    const int marker = name ? pl_model_find_marker(j->model, name) : j->marker;
    pl_objective objective[2];
    pl_task_stage stage = {.name = item->name, .objective = objective, .steps = item->steps};

    if (item->has_to) {
        pl_objective *o = &objective[stage.objective_count++];
        *o = pl_objective_default(PL_OBJECTIVE_POSITION);
        o->index = marker;
        memcpy(o->target, item->to, sizeof o->target);
        memcpy(o->axes, item->axes, sizeof o->axes);
        stage.moves = true;
        memcpy(stage.from, pl_model_get_answer(j->model).marker + 3 * marker, sizeof stage.from);
    }

    if (item->has_direction) {
        pl_objective *o = &objective[stage.objective_count++];
        *o = pl_objective_default(PL_OBJECTIVE_DIRECTION);
        o->index = marker;
        o->weight = JOB_DIRECTION;
        memcpy(o->target, item->direction, sizeof o->target);
        memcpy(o->axis, item->axis, sizeof o->axis);
    }

    return job_stage(j, &stage, sink, err);
}

// Reach, grasp or place: one of the stages of pl_task_grasp; a placed object is at its new place afterwards.
static pl_status job_handle(pl_task_job *j, const pl_task_item *item, const job_sink *sink, pl_error *err)
{
    const pl_task_file *f = j->file;
    double *center = j->center + 3 * item->object;
    pl_grasp_def def = {.marker = j->gripper,
                        .radius = f->object[item->object].radius,
                        .clearance = f->clearance,
                        .orthogonality = f->weight,
                        .segment = j->segment,
                        .segment_count = j->segment_count,
                        .end_command = j->end,
                        .curl = f->curl,
                        .steps = item->steps};

    memcpy(def.normal, f->normal, sizeof def.normal);
    memcpy(def.curl_axis, f->curl_axis, sizeof def.curl_axis);
    memcpy(def.object, center, sizeof def.object);
    memcpy(def.place, item->what == PL_TASK_PLACE ? item->to : center, sizeof def.place);
    pl_objective objective[PL_GRASP_OBJECTIVES];
    pl_task_stage stage[PL_GRASP_STAGES];
    pl_status status = pl_task_grasp(j->model, &def, objective, j->hold, stage, err);
    if (status == PL_OK) {
        status = job_stage(j, &stage[item->what - PL_TASK_REACH], sink, err);
    }
    if (status == PL_OK && item->what == PL_TASK_PLACE) {
        memcpy(center, item->to, 3 * sizeof *center);
    }

    return status;
}

// Runs stage `item`; a failure names file and line.
pl_status pl_task_job_run(pl_task_job *j, int item, const pl_ik_options *options,
                          bool (*record)(void *user, const pl_waypoint *step), void *user, pl_error *err)
{
    const job_sink sink = {options, record, user};
    const pl_task_item *one = &j->file->item[item];
    pl_error why = {0};
    const pl_status status =
        one->what == PL_TASK_MOVE ? job_move(j, one, &sink, &why) : job_handle(j, one, &sink, &why);
    return status == PL_OK ? PL_OK : pl_fail(err, status, "%s:%d: %s", j->path, one->line, why.text);
}
