// pliant task: stages one after the other, such as reach, grasp and place, from a task file.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli_goal.h"

static const cli_option options[] = {
    CLI_LIMITS,
    {"marker", 0, "NAME", "the marker shown in the table (default: that of the gripper)", NULL},
    {"out", 0, "FILE", "write .csv, .html, or the shapes as .pvd, .xdmf or .glb; may be repeated", NULL},
    CLI_JSON,
    {"save-state", 0, "FILE", "save the last state here", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".csv", ".pvd", ".xdmf", ".glb", ".html", NULL};

#define TASK_STEPS 1000000 // of all stages

typedef struct task_verb {
    const cli_args *args;
    cli_model m;
    cli_goals g;
    pl_task_file file;
    const char *path; // of the task file
    int32_t *segment;
    int32_t segment_count;
    int gripper;    // its marker
    bool *end;      // per command: bends the end segment
    bool *hold;     // two sets of commands, for a grasp
    double *center; // 3 per object: where it is now
    pl_motion motion;
    json_t *json;
    cli_series series;
    int reached, steps, status;
    int *stage_of; // per recorded step
    const pl_task_item *item;
} task_verb;

// Complains about a line of the task file.
static int task_wrong(const task_verb *t, int line, const char *what, const char *name, const char *expected)
{
    cli_error(t->args, "%s:%d: %s '%s'%s%s", t->path, line, what, name, expected[0] ? ": " : "", expected);
    return CLI_WRONG;
}

// ---- names of the file in the model
static int task_gripper(task_verb *t)
{
    const pl_task_file *f = &t->file;
    if (!f->has_gripper) {
        return CLI_DONE;
    }
    t->gripper = pl_model_find_marker(t->m.model, f->gripper_marker);
    if (t->gripper < 0) {
        return task_wrong(t, f->gripper_line, "gripper: the robot has no marker", f->gripper_marker, "");
    }
    for (int i = 0; i < f->command_count; ++i) {
        const int c = pl_model_find_command(t->m.model, f->command[i]);
        if (c < 0) {
            return task_wrong(t, f->gripper_line, "gripper: the robot has no command", f->command[i], "");
        }
        t->end[c] = true;
    }
    char line[300];
    const double *a = f->line_from, *b = f->line_to;
    snprintf(line, sizeof line, "%.17g,%.17g,%.17g:%.17g,%.17g,%.17g", a[0], a[1], a[2], b[0], b[1], b[2]);
    return cli_body_points(t->args, &t->m, "segment", f->segment ? f->segment : line, &t->segment,
                           &t->segment_count);
}

static int task_resolve(task_verb *t)
{
    const size_t commands = (size_t)t->m.info.command_count + 1;
    t->end = calloc(commands, sizeof *t->end);
    t->hold = calloc(2 * commands, sizeof *t->hold);
    t->center = calloc(3 * (size_t)t->file.object_count + 1, sizeof *t->center);
    int64_t steps = 0;
    for (int i = 0; i < t->file.item_count; ++i) {
        steps += t->file.item[i].steps;
    }
    if (steps > TASK_STEPS) {
        cli_error(t->args, "%s: %lld steps in all stages, the limit is %d", t->path, (long long)steps,
                  TASK_STEPS);
        return CLI_WRONG;
    }
    t->stage_of = calloc((size_t)steps + 1, sizeof *t->stage_of);
    if (!t->end || !t->hold || !t->center || !t->stage_of) {
        return cli_no_memory(t->args);
    }
    for (int i = 0; i < t->file.object_count; ++i) {
        memcpy(t->center + 3 * i, t->file.object[i].center, 3 * sizeof *t->center);
    }
    for (int i = 0; i < t->file.item_count; ++i) {
        const pl_task_item *item = &t->file.item[i];
        const char *marker = item->marker ? item->marker : t->file.marker;
        if (item->what == PL_TASK_MOVE && marker && pl_model_find_marker(t->m.model, marker) < 0) {
            return task_wrong(t, item->line, "stage: the robot has no marker", marker, "");
        }
        if (item->what == PL_TASK_MOVE && !marker && t->g.marker < 0) {
            return task_wrong(t, item->line, "stage", item->name, "the marker is not given: add 'marker'");
        }
    }
    return task_gripper(t);
}

// ---- recording
static bool task_record(void *user, const pl_task_step *step)
{
    task_verb *t = user;
    pl_error err = {0};
    if (step->ik->outcome == PL_IK_STOPPED && cli_interrupted()) {
        return false;
    }
    t->stage_of[t->motion.count] = (int)(t->item - t->file.item);
    if (pl_motion_add(&t->motion, t->motion.count, NULL, &step->answer, step->ik, &err) != PL_OK) {
        t->status = cli_fail(t->args, &err);
        return false;
    }
    t->status = cli_series_frame(t->args, &t->series, &t->m);
    if (t->json) {
        json_t *one = cli_record_json(&t->m);
        cli_ik_json(one, &t->m, step->ik);
        json_object_set_new(one, "stage", json_string(t->item->name));
        json_object_set_new(one, "step", json_integer(step->step));
        json_array_append_new(t->json, one);
    }
    t->reached += step->ik->outcome == PL_IK_REACHED;
    ++t->steps;
    return t->status == CLI_DONE && !cli_interrupted();
}

// ---- stages
static pl_status task_run_stage(task_verb *t, const pl_task_stage *stage, pl_error *err)
{
    return pl_task_run(t->m.model, stage, 1, &t->g.options, task_record, t, NULL, err);
}

static pl_status task_move(task_verb *t, pl_error *err)
{
    const pl_task_item *item = t->item;
    const char *name = item->marker ? item->marker : t->file.marker;
    const int marker = name ? pl_model_find_marker(t->m.model, name) : t->g.marker;
    pl_objective objective[2];
    pl_task_stage stage = {.name = item->name, .objective = objective, .steps = item->steps};
    if (item->has_to) {
        pl_objective *o = &objective[stage.objective_count++];
        *o = pl_objective_default(PL_OBJECTIVE_POSITION);
        o->index = marker;
        memcpy(o->target, item->to, sizeof o->target);
        memcpy(o->axes, item->axes, sizeof o->axes);
        stage.moves = true;
        memcpy(stage.from, pl_model_get_answer(t->m.model).marker + 3 * marker, sizeof stage.from);
    }
    if (item->has_direction) {
        pl_objective *o = &objective[stage.objective_count++];
        *o = pl_objective_default(PL_OBJECTIVE_DIRECTION);
        o->index = marker;
        o->weight = 20; // 0.05 rad beside 1 mm
        memcpy(o->target, item->direction, sizeof o->target);
        memcpy(o->axis, item->axis, sizeof o->axis);
    }
    return task_run_stage(t, &stage, err);
}

static pl_status task_handle(task_verb *t, pl_error *err)
{
    const pl_task_item *item = t->item;
    const pl_task_file *f = &t->file;
    double *center = t->center + 3 * item->object;
    pl_grasp_def def = {.marker = t->gripper,
                        .radius = f->object[item->object].radius,
                        .clearance = f->clearance,
                        .orthogonality = f->weight,
                        .segment = t->segment,
                        .segment_count = t->segment_count,
                        .end_command = t->end,
                        .curl = f->curl,
                        .steps = item->steps};
    memcpy(def.normal, f->normal, sizeof def.normal);
    memcpy(def.curl_axis, f->curl_axis, sizeof def.curl_axis);
    memcpy(def.object, center, sizeof def.object);
    memcpy(def.place, item->what == PL_TASK_PLACE ? item->to : center, sizeof def.place);
    pl_objective objective[PL_GRASP_OBJECTIVES];
    pl_task_stage stage[PL_GRASP_STAGES];
    pl_status status = pl_task_grasp(t->m.model, &def, objective, t->hold, stage, err);
    if (status == PL_OK) {
        status = task_run_stage(t, &stage[item->what - PL_TASK_REACH], err);
    }
    if (status == PL_OK && item->what == PL_TASK_PLACE) {
        memcpy(center, item->to, 3 * sizeof *center);
    }
    return status;
}

static int task_go(task_verb *t)
{
    for (int i = 0; i < t->file.item_count && !cli_interrupted(); ++i) {
        pl_error err = {0};
        t->item = &t->file.item[i];
        cli_progress_part(i, t->file.item_count, "stage %d of %d, %s", i + 1, t->file.item_count,
                          t->item->name);
        const pl_status status = t->item->what == PL_TASK_MOVE ? task_move(t, &err) : task_handle(t, &err);
        if (t->status) {
            return t->status;
        }
        if (status != PL_OK && status != PL_INTERRUPTED) {
            cli_error(t->args, "%s:%d: %s", t->path, t->item->line, err.text);
            return status == PL_NO_MEMORY ? CLI_MACHINE : status == PL_FAILED ? CLI_BADLY : CLI_WRONG;
        }
    }
    return CLI_DONE;
}

// ---- what comes out
static void task_print(const task_verb *t)
{
    cli_table table = {0};
    const pl_motion *m = &t->motion;
    char row[900];
    snprintf(row, sizeof row, "stage\tx\ty\tz mm\terror mm");
    cli_motion_cells(m, -1, row, sizeof row);
    cli_row(&table, "%s\t", row);
    for (int k = 0; k < m->count; ++k) {
        const double *p = m->position + 3 * (size_t)k;
        snprintf(row, sizeof row, "%s\t%.3f\t%.3f\t%.3f\t%.2g", t->file.item[t->stage_of[k]].name,
                 cli_tidy(p[0], 3), cli_tidy(p[1], 3), cli_tidy(p[2], 3), m->distance[k]);
        cli_motion_cells(m, k, row, sizeof row);
        cli_row(&table, "%s\t%s", row, pl_ik_outcome_name(m->outcome[k]));
    }
    cli_say(t->args, "%s: %s\n\n", t->m.info.name, t->file.name ? t->file.name : "task");
    cli_table_print(t->args, &table);
}

static int task_write(task_verb *t)
{
    int cursor = 0;
    const int done = cli_series_finish(t->args, &t->series, t->motion.time);
    if (done) {
        return done;
    }
    for (const char *path; (path = cli_next(t->args, "out", &cursor));) {
        pl_error err = {0};
        const char *extension = cli_extension(path), *title = t->file.name ? t->file.name : "task";
        const char *const fact[][2] = {{"robot file", t->m.path}, {"task file", t->path}};
        const pl_report_def def = {.title = title, .fact = fact, .fact_count = 2};
        const pl_status status =
            strcasecmp(extension, ".csv") == 0    ? pl_motion_write_csv(&t->motion, path, &err)
            : strcasecmp(extension, ".html") == 0 ? pl_motion_write_html(&t->motion, &def, path, &err)
                                                  : PL_OK;
        if (status != PL_OK) {
            return cli_fail_writing(t->args, &err);
        }
        cli_say(t->args, "  wrote %s\n", path);
    }
    const int saved = cli_model_save_state(t->args, &t->m);
    if (saved || !t->json) {
        return saved;
    }
    json_t *root = cli_json_head(t->m.info.robot_hash, t->m.findings);
    json_object_set_new(root, "task", json_string(t->file.name ? t->file.name : "task"));
    json_object_set_new(root, "reached_count", json_integer(t->reached));
    json_object_set_new(root, "waypoints", t->json);
    t->json = NULL;
    return cli_json_write(t->args, root);
}

static int task_read(task_verb *t)
{
    pl_error err = {0};
    pl_findings *findings = pl_findings_create();
    if (!findings) {
        return cli_no_memory(t->args);
    }
    const pl_status status = pl_task_read(t->path, &t->file, findings, &err);
    cli_findings(findings);
    const bool told = pl_findings_defect_count(findings) > 0;
    pl_findings_destroy(findings);
    return status == PL_OK ? CLI_DONE : told ? CLI_WRONG : cli_fail(t->args, &err);
}

static int task_work(const cli_args *args, task_verb *t)
{
    t->args = args;
    t->path = args->plain[1];
    t->gripper = -1;
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, t->path);
    status = status ? status : task_read(t);
    status = status ? status : cli_model_open(args, args->plain[0], &t->m);
    status = status ? status : cli_check_outputs(args, NULL, t->m.path, NULL);
    status = status ? status : cli_goals_init(args, &t->m, &t->g);
    status = status ? status : cli_goals_marker(args, &t->m, &t->g);
    status = status ? status : task_resolve(t);
    status = status ? status : cli_goals_limits(args, &t->m, &t->g);
    status = status ? status : cli_goals_start(args, &t->m);
    if (status) {
        return status;
    }
    const int shown = cli_value(args, "marker") || t->gripper < 0 ? t->g.marker : t->gripper;
    pl_motion_init(&t->motion, t->m.model, shown);
    t->json = cli_value(args, "json") ? json_array() : NULL;
    status = task_go(t);
    if (!status && t->motion.count == 0) {
        cli_error(args, "%s before the first step was done", cli_stop_reason());
        status = CLI_BADLY;
    }
    if (status) {
        return status;
    }
    task_print(t);
    status = task_write(t);
    if (!status && cli_interrupted()) {
        cli_error(args, "%s after %d steps, which are kept", cli_stop_reason(), t->motion.count);
        return CLI_BADLY;
    }
    if (!status && t->reached < t->steps) {
        cli_error(args, "%d of %d steps did not reach their goal", t->steps - t->reached, t->steps);
        return CLI_BADLY;
    }
    return status;
}

static int task_run(cli_args *args)
{
    task_verb t = {0};
    const int status = task_work(args, &t);
    cli_series_clear(&t.series);
    free(t.stage_of);
    pl_mesh_free_indices(t.segment);
    free(t.end);
    free(t.hold);
    free(t.center);
    json_decref(t.json);
    pl_motion_clear(&t.motion);
    pl_task_file_clear(&t.file);
    cli_goals_clear(&t.g);
    cli_model_close(&t.m);
    return status;
}

const cli_verb cli_verb_task = {
    .name = "task",
    .summary = "run the stages of a task file: move, reach, grasp, place",
    .usage = "ROBOT TASK.yaml [options]",
    .about = "Runs the stages of a task file, each starting where the previous one ended. `reach` brings\n"
             "the gripper's marker to the circle around an object, `grasp` bends the end segment to the\n"
             "object's curvature, `place` moves it to a new centre, `move` brings any marker to a point.\n"
             "Exit status 1 when a step does not reach its goal.",
    .examples = "  pliant task arm pick.yaml\n"
                "  pliant task arm pick.yaml --out pick.pvd --out pick.html\n",
    .option = options,
    .least = 2,
    .most = 2,
    .run = task_run,
};
