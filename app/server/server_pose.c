// Going where the owner of the controls wishes: first the coarse mesh, when the fine one is slow, then the
// fine one. Both are published; each says which it is.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_worker.h"

#define POSE_QUICK 0.1 // s: a fine mesh that answers faster needs no coarse one before it

// ---- judging a wish
// Commands from the units of the page to internal ones. False after telling the viewer what is wrong.
static bool pose_commands(server_worker *w, const server_pose *pose, double *command)
{
    const pl_robot *robot = w->fine.robot;
    const int count = pl_robot_command_count(robot);
    if (pose->command_count != count) {
        server_refuse(w->desk, pose->viewer, "%d commands were sent, the robot has %d", pose->command_count,
                      count);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const pl_command_info info = pl_robot_command(robot, i);
        const server_knob knob = server_knob_of(robot, i);
        const double slack = 1e-9 * (fabs(knob.low) + fabs(knob.high));
        command[i] = pose->command[i] * knob.scale;
        if (info.has_range && (pose->command[i] < knob.low - slack || pose->command[i] > knob.high + slack)) {
            server_refuse(w->desk, pose->viewer, "%s is %g %s, outside its range of %g to %g %s", info.name,
                          pose->command[i], knob.unit, knob.low, knob.high, knob.unit);
            return false;
        }
    }
    return true;
}

// ---- forward
static bool pose_is_idle(const double *command, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!isnan(command[i])) {
            return false;
        }
    }
    return true;
}

// Solves for the commands; false when overtaken.
static bool pose_forward(server_worker *w, server_model *m, const double *command)
{
    const int count = pl_robot_command_count(m->robot);
    const double start = server_now();
    pl_error err = {0};
    if (pose_is_idle(command, count)) {
        pl_state_reset(m->state, m->robot);
    }
    const pl_status status = pl_statics_solve(m->statics, m->state, command, &m->report, &err);
    m->seconds = server_now() - start;
    if (status == PL_INTERRUPTED || (status == PL_OK && m->report.outcome == PL_STOPPED)) {
        return !worker_overtaken(w);
    }
    memcpy(m->command, command, (size_t)count * sizeof *command);
    if (status != PL_OK) {
        m->report = (pl_statics_report){.outcome = PL_ITERATION_LIMIT, .residual = NAN};
        snprintf(m->report.message, sizeof m->report.message, "%.239s", err.text);
    }
    return true;
}

static void pose_publish(server_worker *w, server_model *m, const server_pose *pose, json_t *extra)
{
    json_object_set_new(extra, "robot", json_integer(w->robot));
    json_object_set_new(extra, "serial", json_real(pose->serial));
    server_message *message = server_model_shape(m, extra);
    if (message) {
        server_publish(w->desk, SERVER_SHAPE, message);
    }
}

static void pose_to_commands(server_worker *w, const server_pose *pose)
{
    double command[SERVER_COMMANDS];
    if (!pose_commands(w, pose, command)) {
        return;
    }
    if (w->has_coarse && w->fine.seconds > POSE_QUICK) {
        if (!pose_forward(w, &w->coarse, command)) {
            return;
        }
        pose_publish(w, &w->coarse, pose, json_object());
    }
    if (!worker_overtaken(w) && pose_forward(w, &w->fine, command)) {
        pose_publish(w, &w->fine, pose, json_object());
    }
}

void worker_pose(server_worker *w, const server_pose *pose)
{
    if (!w->has_fine || pose->robot != w->robot) {
        return; // meant for a robot that is no longer shown
    }
    w->begun = server_now();
    w->serial = pose->serial;
    if (pose->kind == SERVER_POSE_COMMANDS) {
        pose_to_commands(w, pose);
    } else {
        server_refuse(w->desk, pose->viewer, "pointing at a target is not possible yet");
    }
}
