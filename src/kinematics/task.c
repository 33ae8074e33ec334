// Tasks: stages of inverse problems, each continuing the one before; and the stages of picking, grasping and
// placing a round object (Fang 2022, thesis, section 4.4).
#include "kinematics/kinematics_impl.h"
#include "kinematics/kinematics_task.h"

typedef bool (*task_record)(void *user, const pl_waypoint *step);

// Solves the stage in its steps; *last is the report of the last one, without borrowed pointers.
static pl_status task_stage_run(pl_model *model, const pl_task_stage *stage, int number,
                                const pl_ik_options *options, task_record record, void *user,
                                pl_ik_report *last, bool *go_on, pl_error *err)
{
    // held commands of the stage replace those of the options
    pl_ik *ik = NULL;
    pl_ik_options own = *options;

    own.hold = stage->hold ? stage->hold : options->hold;
    pl_status status = pl_ik_create(model, stage->objective, stage->objective_count, &own, &ik, err);
    const int steps = stage->steps > 1 ? stage->steps : 1;

    for (int k = 1; status == PL_OK && *go_on && k <= steps; ++k) {
        // the target moves in equal steps from where the stage begins
        if (stage->moves) {
            double target[3];
            for (int i = 0; i < 3; ++i) {
                const double to = stage->objective[0].target[i];
                target[i] = k == steps ? to : stage->from[i] + (to - stage->from[i]) * k / steps;
            }

            status = pl_ik_set_target(ik, 0, target, err);
        }

        if (status == PL_OK) {
            status = pl_ik_solve(ik, NULL, last, err);
        }
        if (status == PL_OK) {
            const pl_waypoint step = {.stage = number,
                                      .index = k - 1,
                                      .name = stage->name,
                                      .command = last->command,
                                      .answer = pl_model_get_answer(model),
                                      .ik = last};
            *go_on = (!record || record(user, &step)) && last->outcome != PL_IK_STOPPED;
        }
    }

    // they would dangle: ik is destroyed
    last->command = NULL;
    last->active = NULL;
    pl_ik_destroy(ik);

    return status;
}

// record (may be NULL) returns false to stop; report (may be NULL) has one entry per stage.
pl_status pl_task_run(pl_model *model, const pl_task_stage *stage, int stage_count,
                      const pl_ik_options *options, task_record record, void *user, pl_ik_report *report,
                      pl_error *err)
{
    pl_status status = PL_OK;
    bool go_on = true;

    for (int i = 0; status == PL_OK && go_on && i < stage_count; ++i) {
        pl_ik_report last = {0};
        const char *name = stage[i].name ? stage[i].name : "";

        // what moves must be a point
        if (stage[i].moves &&
            (stage[i].objective_count < 1 || (stage[i].objective[0].kind != PL_OBJECTIVE_POSITION &&
                                              stage[i].objective[0].kind != PL_OBJECTIVE_DISTANCE))) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "task: stage %d `%s` moves its first objective, which must be a position or distance", i,
                name);
        }

        pl_error own = {0};
        status = task_stage_run(model, &stage[i], i, options, record, user, &last, &go_on, &own);
        if (status != PL_OK) {
            return pl_fail(err, status, "task: stage %d `%s`: %.900s", i, name, own.text);
        }
        if (report) {
            report[i] = last;
        }
    }

    return status;
}

// Marker, radius and clearance in mm, and at least one command for the end segment.
static pl_status grasp_check(const pl_model_info *info, const pl_grasp_def *def, pl_error *err)
{
    if (def->marker < 0 || def->marker >= info->marker_count) {
        return pl_fail(err, PL_BAD_INPUT, "grasp: there is no marker %d, the robot has %d", def->marker,
                       info->marker_count);
    }

    if (!(def->radius > 0) || !isfinite(def->radius)) {
        return pl_fail(err, PL_BAD_INPUT, "grasp: radius of the object is %g mm, must be > 0", def->radius);
    }
    if (!(def->clearance >= 0) || !isfinite(def->clearance)) {
        return pl_fail(err, PL_BAD_INPUT, "grasp: clearance is %g mm, must be >= 0", def->clearance);
    }
    if (def->steps < 1) {
        return pl_fail(err, PL_BAD_INPUT, "grasp: steps is %d, must be >= 1", def->steps);
    }

    bool some = false;
    for (int i = 0; i < info->command_count; ++i) {
        some = some || def->end_command[i];
    }
    if (!some) {
        return pl_fail(err, PL_BAD_INPUT, "grasp: no command bends the end segment");
    }

    return PL_OK;
}

// Objectives, held commands and stages of the thesis; the caller owns the arrays. Commands of the end segment
// are held while the arm reaches and places, all others while it grasps.
pl_status pl_task_grasp(const pl_model *model, const pl_grasp_def *def,
                        pl_objective objective[PL_GRASP_OBJECTIVES], bool *hold,
                        pl_task_stage stage[PL_GRASP_STAGES], pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    const pl_status status = grasp_check(&info, def, err);

    if (status != PL_OK) {
        return status;
    }

    // (|p1 - p0| - (R + d))^2 + w (n . (p1 - p0) / |p1 - p0|)^2, eq. 4.5
    objective[0] = pl_objective_default(PL_OBJECTIVE_DISTANCE);
    objective[0].index = def->marker;
    objective[0].value = def->radius + def->clearance;
    memcpy(objective[0].target, def->object, sizeof def->object);
    objective[1] = pl_objective_default(PL_OBJECTIVE_ORTHOGONAL);
    objective[1].index = def->marker;
    objective[1].weight = def->orthogonality;
    memcpy(objective[1].target, def->object, sizeof def->object);
    memcpy(objective[1].axis, def->normal, sizeof def->normal);

    // curvature 1/R of the end segment, eq. 4.7
    objective[2] = pl_objective_default(PL_OBJECTIVE_CURVATURE);
    objective[2].weight = def->radius * def->radius; // a relative change of R counts as mm of R
    objective[2].value = def->curl / def->radius;
    memcpy(objective[2].axis, def->curl_axis, sizeof def->curl_axis);
    objective[2].point = def->segment;
    objective[2].point_count = def->segment_count;

    // (|p1' - p0| - (R + d))^2
    objective[3] = objective[0];
    memcpy(objective[3].target, def->place, sizeof def->place);

    // who moves when
    for (int i = 0; i < info.command_count; ++i) {
        hold[i] = def->end_command[i];
        hold[info.command_count + i] = !def->end_command[i];
    }

    // stages
    stage[0] = (pl_task_stage){
        .name = "reach", .objective = objective, .objective_count = 2, .hold = hold, .steps = 1};
    stage[1] = (pl_task_stage){.name = "grasp",
                               .objective = objective + 2,
                               .objective_count = 1,
                               .hold = hold + info.command_count,
                               .steps = 1};
    stage[2] = (pl_task_stage){.name = "place",
                               .objective = objective + 3,
                               .objective_count = 1,
                               .hold = hold,
                               .steps = def->steps,
                               .moves = true};
    memcpy(stage[2].from, def->object, sizeof def->object);

    return PL_OK;
}
