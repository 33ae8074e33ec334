// pliant task: stages one after the other, such as reach, grasp and place, from a task file.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli_goal.h"

static const cli_option options[] = {
    CLI_LIMITS,
    {"tolerance", 0, "LENGTH",
     "of positions (default 0.005 mm); of reduced, learned and adapted models it includes their own error",
     NULL, CLI_NUMBER(PL_DIM_LENGTH, 1e-9, 100)},
    {"marker", 0, "NAME", "the marker shown in the table (default: that of the gripper)", NULL},
    {"out", 0, "FILE",
     "write .csv, .html, the shapes as .pvd, .xdmf, .glb or .usda, a film\n"
     "(.gif .webm .mp4), or pictures (frame_%04d.png); may be\n"
     "repeated",
     NULL},
    CLI_JSON,
    CLI_PICTURE,
    {"save-state", 0, "FILE", "save the last state here", NULL},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

// What --out may end in.
static const char *const extensions[] = {".csv", CLI_SERIES_EXTENSIONS, ".html", NULL};

// What the verb holds; task_run releases all of it.
typedef struct task_verb {
    const cli_args *args;
    cli_model m;
    cli_goals g;
    pl_task_file *file;
    const char *path; // of the task file
    pl_task_job *job;
    pl_motion motion;           // the steps done, in their order
    json_t *json;               // the records of --json, or NULL
    cli_series series;          // files of shapes being written
    int reached, steps, status; // steps that met their goal, steps done, exit status of a record that failed
    int *stage_of;              // per recorded step
    int stage;                  // the stage that runs
} task_verb;

// ---- recording
// Called by the library after every step: keeps it, and writes its shape at once, since the model moves on.
// Returns false to end the task.
static bool task_record(void *user, const pl_waypoint *step)
{
    task_verb *t = user;
    pl_error err = {0};

    // a search that was interrupted has not found a step worth keeping
    if (step->ik->outcome == PL_IK_STOPPED && cli_interrupted()) {
        return false;
    }
    t->stage_of[t->motion.count] = t->stage;
    if (pl_motion_add(&t->motion, t->motion.count, NULL, &step->answer, step->ik, &err) != PL_OK) {
        t->status = cli_fail(t->args, &err);
        return false;
    }

    t->status = cli_series_frame(t->args, &t->series, &t->m);
    if (t->json) {
        json_t *one = cli_record_json(&t->m);
        cli_ik_json(one, &t->m, step->ik);
        json_object_set_new(one, "stage", json_string(pl_task_file_stage_name(t->file, t->stage)));
        json_object_set_new(one, "stage_step", json_integer(step->index));
        json_array_append_new(t->json, one);
    }

    t->reached += step->ik->outcome == PL_IK_REACHED;
    ++t->steps;

    return t->status == CLI_DONE && !cli_interrupted();
}

static const char *task_name(const task_verb *t)
{
    const char *name = pl_task_file_name(t->file);
    return name ? name : "task";
}

// Runs the stages in their order; each begins where the one before it ended.
static int task_go(task_verb *t)
{
    const int stages = pl_task_file_stage_count(t->file);
    for (int i = 0; i < stages && !cli_interrupted(); ++i) {
        pl_error err = {0};
        t->stage = i;
        cli_progress_part(i, stages, "stage %d of %d, %s", i + 1, stages,
                          pl_task_file_stage_name(t->file, i));
        const pl_status status = pl_task_job_run(t->job, i, &t->g.options, task_record, t, &err);

        // the record that failed says more than the interruption it caused
        if (t->status) {
            return t->status;
        }
        if (status != PL_OK && status != PL_INTERRUPTED) {
            cli_error(t->args, "%s", err.text);
            return status == PL_NO_MEMORY ? CLI_EXIT_SYSTEM
                   : status == PL_FAILED  ? CLI_EXIT_UNSOLVED
                                          : CLI_EXIT_USAGE;
        }
    }

    return CLI_DONE;
}

// ---- what comes out
// The table: one row per step, with the stage it belongs to.
static void task_print(const task_verb *t)
{
    cli_table table = {0};
    const pl_motion *m = &t->motion;
    char row[900];

    // models that are not the full one have a further column: the error of the model itself
    snprintf(row, sizeof row, "stage\tx\ty\tz mm\terror mm%s", m->surrogate ? "\tmodel error mm" : "");
    cli_motion_cells(m, -1, row, sizeof row);
    cli_row(&table, "%s\t", row);

    for (int k = 0; k < m->count; ++k) {
        const double *p = m->position + 3 * (size_t)k;
        snprintf(row, sizeof row, "%s\t%.3f\t%.3f\t%.3f\t%.2g",
                 pl_task_file_stage_name(t->file, t->stage_of[k]), cli_tidy(p[0], 3), cli_tidy(p[1], 3),
                 cli_tidy(p[2], 3), m->distance[k]);
        cli_motion_error(m, k, row, sizeof row);
        cli_motion_cells(m, k, row, sizeof row);
        cli_row(&table, "%s\t%s", row, pl_ik_outcome_name(m->outcome[k]));
    }

    cli_say(t->args, "%s: %s\n\n", t->m.info.name, task_name(t));
    cli_table_print(t->args, &table);
}

// The files of --out, the saved state, and the JSON.
static int task_write(task_verb *t)
{
    int cursor = 0;

    // films and shapes were written step by step and only need their end
    const int done = cli_series_finish(t->args, &t->series, t->motion.time);

    if (done) {
        return done;
    }

    for (const char *path; (path = cli_next(t->args, "out", &cursor));) {
        pl_error err = {0};
        const char *extension = cli_extension(path), *title = task_name(t);
        const char *const fact[][2] = {{"robot file", t->m.path}, {"task file", t->path}};
        const pl_report_def def = {.title = title, .fact = fact, .fact_count = 2};
        const pl_status status =
            strcasecmp(extension, ".csv") == 0    ? pl_motion_write_csv(&t->motion, path, &err)
            : strcasecmp(extension, ".html") == 0 ? pl_motion_write_html(&t->motion, &def, path, &err)
                                                  : PL_OK;
        if (status != PL_OK) {
            return cli_fail(t->args, &err);
        }
        cli_say(t->args, "  wrote %s\n", path);
    }

    const int saved = cli_model_save_state(t->args, &t->m);
    if (saved || !t->json) {
        return saved;
    }

    json_t *root = cli_json_head(t->m.info.robot_hash, t->m.findings);
    json_object_set_new(root, "task", json_string(task_name(t)));
    json_object_set_new(root, "reached_count", json_integer(t->reached));
    json_object_set_new(root, "waypoints", t->json);
    t->json = NULL; // root owns it now

    return cli_json_write(t->args, root);
}

// Reads the task file; t->path was checked to be readable. Findings name line and column.
static int task_read(task_verb *t)
{
    pl_error err = {0};
    pl_findings *findings = pl_findings_create();

    if (!findings) {
        return cli_no_memory(t->args);
    }

    const pl_status status = pl_task_read(t->path, &t->file, findings, &err);
    cli_findings(findings);

    // a defect was printed as a finding: no second message for it
    const bool reported = pl_findings_defect_count(findings) > 0;
    pl_findings_destroy(findings);

    return status == PL_OK ? CLI_DONE : reported ? CLI_EXIT_USAGE : cli_fail(t->args, &err);
}

// Names in the task become parts of this robot; also makes room for the stage of every step.
static int task_resolve(task_verb *t)
{
    pl_error err = {0};
    if (pl_task_job_create(t->m.model, t->file, t->path, t->g.marker, &t->job, &err) != PL_OK) {
        return cli_fail(t->args, &err);
    }
    t->stage_of = calloc((size_t)pl_task_job_steps(t->job) + 1, sizeof *t->stage_of);
    return t->stage_of ? CLI_DONE : cli_no_memory(t->args);
}

// The verb from its options to its exit status. The task file is read first, since it costs nothing and the
// model may need a mesh.
static int task_work(const cli_args *args, task_verb *t)
{
    t->args = args;
    t->path = args->plain[1];
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, t->path);
    status = status ? status : task_read(t);
    status = status ? status : cli_model_open(args, args->plain[0], &t->m);
    status = status ? status : cli_check_outputs(args, NULL, t->m.path, NULL);
    status = status ? status : cli_goals_init(args, &t->m, &t->g);
    status = status ? status : cli_goals_marker(args, &t->m, &t->g);
    status = status ? status : task_resolve(t);
    status = status ? status : cli_goals_limits(args, &t->m, &t->g);
    if (!status && !cli_number(args, "tolerance", &t->g.options.length_tolerance)) {
        status = CLI_EXIT_USAGE;
    }
    status = status ? status : cli_goals_start(args, &t->m);
    if (status) {
        return status;
    }

    // the marker worth showing is the gripper's, unless one is asked for
    const int gripper = pl_task_job_gripper(t->job);
    const int shown = cli_value(args, "marker") || gripper < 0 ? t->g.marker : gripper;
    pl_motion_init(&t->motion, t->m.model, shown);
    t->json = cli_value(args, "json") ? json_array() : NULL;
    status = task_go(t);
    if (!status && t->motion.count == 0) {
        cli_error(args, "%s before the first step was done", cli_stop_reason());
        cli_outcome_advice("interrupted");
        status = CLI_EXIT_UNSOLVED;
    }

    if (status) {
        return status;
    }

    // what was done is shown and written also when it was interrupted or did not reach
    task_print(t);
    status = task_write(t);
    if (!status && cli_interrupted()) {
        cli_error(args, "%s after %d steps, which are kept", cli_stop_reason(), t->motion.count);
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    if (!status && t->reached < t->steps) {
        cli_error(args, "%d of %d steps did not reach their goal%s", t->steps - t->reached, t->steps,
                  t->motion.surrogate ? ", with the error of the model" : "");
        int first = 0;
        while (first + 1 < t->motion.count && t->motion.outcome[first] == PL_IK_REACHED) {
            ++first;
        }
        cli_outcome_advice(pl_ik_outcome_name(t->motion.outcome[first]));
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

static int task_run(cli_args *args)
{
    task_verb t = {0};
    const int status = task_work(args, &t);

    cli_series_clear(&t.series);
    free(t.stage_of);
    pl_task_job_destroy(t.job);
    json_decref(t.json);
    pl_motion_clear(&t.motion);
    pl_task_file_destroy(t.file);
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
