// Going where the owner of the controls requests, on the fine mesh; the leader (server_lead.c) is ahead on
// the coarse one where the fine one is slow. While a hand drags, requests come faster than solves: the step
// in hand finishes, then the newest request is taken; the page predicts what lies between.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_worker.h"

#define POSE_QUICK 2.0 // s: a fine mesh that answers faster is pulled without the coarse one

// A search for a target shows where it stands after so many seconds, between two of its steps, and then after
// twice as long each time; what came less near than this share of the distance is not shown.
#define POSE_SLICE 0.5
#define POSE_NEARER 0.999

// ---- commands
bool worker_commands(server_worker *w, const server_pose *pose, const uint32_t *viewer, double *command)
{
    const int count = w->fine.info.command_count;
    if (pose->command_count != count) {
        if (viewer) {
            server_refuse(w->queue, *viewer, "%d commands were sent, the robot has %d", pose->command_count,
                          count);
        }
        return false;
    }

    for (int i = 0; i < count; ++i) {
        const server_command_view view = server_command_view_of(&w->fine, i);
        const double slack = 1e-9 * (fabs(view.low) + fabs(view.high));
        command[i] = pose->command[i] * view.scale;
        if (!view.assumed && (pose->command[i] < view.low - slack || pose->command[i] > view.high + slack)) {
            if (viewer) {
                server_refuse(w->queue, *viewer, "%s is %g %s, outside its range of %g to %g %s",
                              w->fine.info.command[i].name, pose->command[i], view.unit, view.low, view.high,
                              view.unit);
            }
            return false;
        }
    }

    return true;
}

static bool pose_is_idle(const double *command, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!isnan(command[i])) {
            return false;
        }
    }
    return true;
}

bool server_model_forward(server_model *m, const double *command, bool loosely)
{
    const double start = server_now();
    const bool idle = pose_is_idle(command, m->info.command_count);
    pl_error err = {0};

    server_tried(pl_model_pull(m->model, NULL, NULL)); // a hand lets go, where the model has one
    if (idle) {
        server_model_go_home(m);
    }
    m->shape = 0;
    m->at_home = false;
    m->loose = pl_model_set_tolerance_factor(m->model, loosely ? POSE_LOOSE : 1) && loosely;
    const pl_status status = pl_model_fk(m->model, command, &m->report, &err);
    pl_model_set_tolerance_factor(m->model, 1);
    if (idle && status == PL_OK && m->report.outcome == PL_SOLVED) {
        server_model_keep_home(m);
    }
    if (status == PL_INTERRUPTED || (status == PL_OK && m->report.outcome == PL_STOPPED)) {
        return false;
    }
    if (m->pull.gripped) {
        server_pull_end(m);
    }
    m->seconds = server_now() - start; // a solve that was stopped says nothing about the next one
    if (status != PL_OK) {
        m->report = (pl_solve_report){.outcome = PL_ITERATION_LIMIT, .residual = NAN};
        snprintf(m->report.message, sizeof m->report.message, "%.239s", err.text);
    }

    return true;
}

bool worker_forward(server_worker *w, server_model *m, const double *command, bool loosely)
{
    w->fraction = 0;
    return server_model_forward(m, command, loosely);
}

static void pose_to_commands(server_worker *w, const server_pose *pose)
{
    double command[SERVER_COMMANDS];
    if (!worker_commands(w, pose, &pose->viewer, command)) {
        return;
    }

    // nobody knows yet how long the first solve takes; later ones the leader shows
    const bool preview = w->has_coarse && w->in_load;
    if (preview) {
        w->yield = WORKER_NEVER;
        if (!worker_forward(w, &w->coarse, command, false)) {
            return;
        }
        worker_publish_shape(w, &w->coarse, json_object());
        worker_tangent(w, &w->coarse, false);
    }

    if (!preview || !worker_overtaken(w)) {
        worker_walk(w, &w->fine, command, preview);
    }
}

// ---- targets
json_t *worker_ik_json(const server_pose *pose, const pl_ik_report *report, bool searching)
{
    static const char *const kind[] = {"command", "rate", "effort"};
    json_t *bounds = json_array();

    for (int i = 0; i < report->active_count; ++i) {
        const pl_ik_active *a = &report->active[i];
        json_array_append_new(
            bounds, json_pack("{s:s,s:s,s:b}", "name", a->name, "kind", kind[a->kind], "upper", a->upper));
    }

    json_t *ik = json_object();
    json_object_set_new(ik, "outcome", json_string(pl_ik_outcome_name(report->outcome)));
    json_object_set_new(ik, "message", json_string(report->message));
    json_object_set_new(ik, "distance", server_number(report->distance));
    json_object_set_new(ik, "model_error", server_number(report->model_error));
    json_object_set_new(ik, "confidence", server_number(report->confidence));
    json_object_set_new(ik, "bounds", bounds);
    json_object_set_new(ik, "marker", json_integer(pose->marker));
    json_object_set_new(ik, "target", server_numbers(pose->target, 3));
    json_object_set_new(ik, "iterations", json_integer(report->iterations));
    json_object_set_new(ik, "seconds", server_number(report->seconds));
    json_object_set_new(ik, "searching", json_boolean(searching));

    return ik;
}

static void pose_show(server_worker *w, server_model *m, const server_pose *pose, const pl_ik_report *report,
                      bool searching)
{
    worker_check(m, report);
    w->intermediate = report->outcome == PL_IK_STOPPED;
    worker_publish_brief(w, m, json_pack("{s:o}", "ik", worker_ik_json(pose, report, searching)));
    w->intermediate = false;
}

// From where the model stands towards the target, in slices: after each of them the place reached is shown,
// an equilibrium at its own commands, and the search goes on there unless a newer request waits. False:
// stopped or refused; otherwise the report is that of its end.
static bool pose_search(server_worker *w, server_model *m, const server_pose *pose, pl_ik *ik,
                        pl_ik_report *report)
{
    pl_error err = {0};
    double slice = POSE_SLICE, nearest = INFINITY;

    pl_ik_set_start_limit(ik, 0);
    do {
        w->slice_end = server_now() + slice;
        w->slice_steps = 0;
        m->shape = 0;
        const double seconds = m->seconds;
        const pl_status status = pl_ik_solve(ik, NULL, report, &err);
        w->slice_end = 0;
        if (worker_must_stop(w)) {
            return false;
        }
        if (status != PL_OK) {
            server_refuse(w->queue, pose->viewer, "%s", err.text);
            return false;
        }
        const bool stopped = report->outcome == PL_IK_STOPPED,
                   there = report->outcome == PL_IK_REACHED || report->outcome == PL_IK_UNCERTAIN;
        const bool nearer = report->distance < POSE_NEARER * nearest;
        if (nearer || !stopped) {
            pose_show(w, m, pose, report, !there);
            m->seconds = stopped ? seconds : m->seconds; // a part says nothing about the whole
        }
        slice *= nearer ? 2 : 4; // each begins with what is known, but with its first step again
        nearest = fmin(nearest, report->distance);
        w->yield = WORKER_AT_ONCE; // there is something to see
    } while (report->outcome == PL_IK_STOPPED && !worker_overtaken(w));

    return report->outcome != PL_IK_STOPPED;
}

// Not reached from where it stood: from further starts as well. A newer request brings it back to the place
// shown.
static void pose_search_widely(server_worker *w, server_model *m, const server_pose *pose, pl_ik *ik)
{
    pl_ik_report report = {0};
    pl_error err = {0};
    const uint32_t shown = m->shape;

    if (worker_overtaken(w)) {
        return;
    }
    pl_status status = pl_model_keep(m->model, PL_SLOT_CALLER, &err);
    if (status != PL_OK) {
        server_refuse(w->queue, pose->viewer, "%s", err.text);
        return;
    }

    pl_ik_set_start_limit(ik, pl_ik_options_default().start_limit);
    m->shape = 0;
    status = pl_ik_solve(ik, NULL, &report, &err);

    // stopped by a newer request, which will be answered; a failure is the answer to this one
    const bool stopped = worker_must_stop(w) || (status == PL_OK && report.outcome == PL_IK_STOPPED);
    if (stopped || status != PL_OK) {
        if (pl_model_recall(m->model, PL_SLOT_CALLER, NULL) != PL_OK) {
            pl_model_reset(m->model);
        }
        m->shape = shown;
        if (!stopped) {
            server_refuse(w->queue, pose->viewer, "%s", err.text);
        }
        return;
    }

    pose_show(w, m, pose, &report, false);
}

// Goes to the target; where it is not reached, also from elsewhere.
static void pose_reach(server_worker *w, server_model *m, const server_pose *pose)
{
    const pl_progress progress = worker_search_progress(w);
    pl_ik *ik = NULL;
    pl_ik_report report = {0};
    pl_error err = {0};
    pl_status status = server_model_ik(m, pose->marker, pose->hold, &progress, &ik, &err);

    if (status == PL_OK) {
        status = pl_ik_set_target(ik, 0, pose->target, &err);
    }
    if (status != PL_OK) {
        server_refuse(w->queue, pose->viewer, "%s", err.text);
        return;
    }

    if (!pose_search(w, m, pose, ik, &report)) {
        return;
    }
    if (report.outcome != PL_IK_REACHED && report.outcome != PL_IK_UNCERTAIN) {
        pose_search_widely(w, m, pose, ik);
    }
}

static void pose_to_target(server_worker *w, const server_pose *pose)
{
    worker_let_go(w, &w->fine);
    w->yield = WORKER_WHEN_RESTED;
    pose_reach(w, &w->fine, pose);
}

void worker_pose(server_worker *w, const server_pose *pose)
{
    if (!w->has_fine || pose->robot != w->robot) {
        return; // meant for a robot that is no longer shown
    }
    w->begun = server_now();
    w->viewer = pose->viewer;
    w->serial = pose->serial;
    w->order = pose->order;
    double command[SERVER_COMMANDS];

    // in time: until a newer request comes; come to rest, the equilibrium there is solved
    if (pose->live && pose->kind != SERVER_POSE_TARGET) {
        if (!worker_commands(w, pose, &pose->viewer, command) || worker_live(w, pose, command) ||
            worker_overtaken(w)) {
            return;
        }
    } else {
        worker_live_end(w);
    }

    if (pose->kind == SERVER_POSE_COMMANDS) {
        pose_to_commands(w, pose);
    } else if (pose->kind == SERVER_POSE_PULL) {
        if (worker_commands(w, pose, &pose->viewer, command)) {
            worker_pull(w, pose, command, w->has_coarse && w->fine.seconds > POSE_QUICK);
        }
    } else {
        pose_to_target(w, pose);
    }
}
