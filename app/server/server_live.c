// A body in motion: frames of a simulation that follow the clock as far as the machine allows, under commands
// and the force of a hand as they come. A frame is no equilibrium and says so; once the body has come to rest
// the equilibrium is solved and shown as such.
//
// The hand holds a spring: f' = (f + k (hand - y)) / 2 with k = 1 / C, C the largest static compliance of the
// body at the point y it grips. Forces are constant during a frame, and a body that follows at once, y = C f,
// then settles within a frame or two instead of being shaken.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "server_worker.h"

#define LIVE_FRAME (1.0 / 30) // s
#define LIVE_TOLERANCE 0.01   // error of a step, of the largest displacement
#define LIVE_RANGE 0.5        // s: commands take at least so long for their whole range, as a hand does
#define LIVE_LARGE 3000       // elements from which the coarse mesh swings, where there is one
#define LIVE_STILL 1e-5       // of the largest kinetic energy: the body rests
#define LIVE_FRAMES_STILL 15  // after so many frames of it

static server_model *live_model(server_worker *w)
{
    return w->has_coarse && w->fine.info.element_count >= LIVE_LARGE ? &w->coarse : &w->fine;
}

void worker_live_end(server_worker *w)
{
    server_model *m = w->live;
    if (!m) {
        return;
    }
    w->live = NULL;
    pl_simulation_pull(m->simulation, NULL);
    server_tried(pl_simulation_grip(m->simulation, NULL, 0, NULL));
    server_pull_end(m);
    if (pl_model_recall(m->model, PL_SLOT_CALLER, NULL) !=
        PL_OK) { // the equilibrium that the motion began at
        pl_model_reset(m->model);
    }
    m->shape = 0;
}

// Starts the motion at the equilibrium where the model stands. False after telling the viewer why not.
static bool live_begin(server_worker *w, server_model *m, const server_pose *pose)
{
    pl_dynamics_options options = pl_dynamics_options_default();
    options.largest_step = LIVE_FRAME;
    options.tolerance = LIVE_TOLERANCE;
    pl_error err = {0};
    pl_status status = PL_OK;
    if (!m->simulation) {
        status = pl_simulation_create(m->model, &options, &m->simulation, &err);
    }
    status = status == PL_OK ? pl_model_keep(m->model, PL_SLOT_CALLER, &err) : status;
    status = status == PL_OK ? pl_simulation_from_model(m->simulation, &err) : status;
    status = status == PL_OK ? pl_simulation_start(m->simulation, &err) : status;
    if (status != PL_OK) {
        server_refuse(w->queue, pose->viewer, "no motion in time: %s", err.text);
        return false;
    }

    w->live = m;
    w->live_most = w->live_force[0] = w->live_force[1] = w->live_force[2] = 0;

    return true;
}

// The hand takes hold, moves on or lets go.
static bool live_hand(server_worker *w, server_model *m, const server_pose *pose, const double *command)
{
    const bool pulls = pose->kind == SERVER_POSE_PULL,
               same = pulls && m->pull.gripped && memcmp(m->pull.at, pose->grip, sizeof m->pull.at) == 0;
    pl_error err = {0};

    if (pulls && !same) {
        // its compliance is that of an equilibrium: the motion so far ends
        worker_live_end(w);
        w->yield = WORKER_NEVER;
        if (!worker_grip(w, m, pose, command) || !live_begin(w, m, pose)) {
            return false;
        }
        if (pl_simulation_grip(m->simulation, pose->grip, worker_grip_radius(m), &err) != PL_OK) {
            server_refuse(w->queue, pose->viewer, "%s", err.text);
            return false;
        }
    }

    if (!w->live && !live_begin(w, m, pose)) {
        return false;
    }

    return true;
}

static void live_pull(server_worker *w, server_model *m, const server_pose *pose)
{
    const bool pulls = pose->kind == SERVER_POSE_PULL;
    const double stiffness = worker_live_spring(w);
    double place[3] = {0};

    if (pulls) {
        pl_model_grip_place(m->model, place);
    }
    for (int i = 0; i < 3; ++i) {
        w->live_force[i] = pulls ? 0.5 * (w->live_force[i] + stiffness * (pose->hand[i] - place[i])) : 0;
    }
    pl_simulation_pull(m->simulation, pulls ? w->live_force : NULL);
}

// The commands at the end of the next frame: a jump would shake the body at frequencies that nobody can see.
static void live_commands(const server_model *m, const double *command, double *out)
{
    const double *now = pl_model_get_answer(m->model).command;
    for (int i = 0; i < m->info.command_count; ++i) {
        const server_command_view view = server_command_view_of(m, i);
        const double most = (view.high - view.low) * view.scale * LIVE_FRAME / LIVE_RANGE,
                     from = isnan(now[i]) ? view.rest * view.scale : now[i],
                     to = isnan(command[i]) ? view.rest * view.scale : command[i];
        out[i] = fabs(to - from) <= most ? command[i] : from + copysign(most, to - from);
    }
}

static void live_show(server_worker *w, server_model *m, const pl_motion_row *row, double ratio)
{
    double speed = 0;
    for (int k = 0; k < m->info.marker_count; ++k) {
        const double *v = row->velocity + 3 * k;
        speed = fmax(speed, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }

    m->report = (pl_solve_report){.outcome = PL_UNCERTAIN, .negative_count = -1, .load_reached = 1};
    snprintf(m->report.message, sizeof m->report.message, "in motion, no equilibrium");
    json_t *live = json_object();
    json_object_set_new(live, "time", server_number(row->time));
    json_object_set_new(live, "speed", server_number(speed));
    json_object_set_new(live, "kinetic", server_number(row->energy.kinetic));
    json_object_set_new(live, "ratio", server_number(ratio));
    json_object_set_new(live, "force", server_numbers(w->live_force, 3));
    worker_publish_frame(w, m, json_pack("{s:o}", "live", live));
}

// Whether the commands have arrived and the body rests.
static bool live_rests(server_worker *w, const server_model *m, const server_pose *pose,
                       const double *command, const pl_motion_row *row)
{
    bool there = pose->kind != SERVER_POSE_PULL;
    for (int i = 0; i < m->info.command_count; ++i) {
        const double now = row->answer->command[i];
        there = there && (isnan(command[i]) ? isnan(now) : fabs(now - command[i]) <= 1e-9 * (1 + fabs(now)));
    }

    w->live_most = fmax(w->live_most, row->energy.kinetic);
    w->live_still = there && row->energy.kinetic <= LIVE_STILL * w->live_most ? w->live_still + 1 : 0;
    return w->live_still >= LIVE_FRAMES_STILL;
}

bool worker_live(server_worker *w, const server_pose *pose, const double *command)
{
    server_model *m = w->live ? w->live : live_model(w);
    if (!live_hand(w, m, pose, command)) {
        worker_live_end(w);
        return false;
    }

    for (w->live_still = 0;;) {
        const double start = server_now();
        pl_motion_row row;
        pl_motion_report report = {0};
        pl_error err = {0};
        w->yield = WORKER_NEVER;
        double next[SERVER_COMMANDS];
        live_pull(w, m, pose);
        live_commands(m, command, next);
        if (pl_simulation_advance(m->simulation, next, NULL, LIVE_FRAME, &row, &report, &err) != PL_OK) {
            server_refuse(w->queue, pose->viewer, "the motion ends: %s", err.text);
            worker_live_end(w);
            return false;
        }
        atomic_store(&w->queue->alive, server_now());
        const double taken = server_now() - start, left = LIVE_FRAME - taken;
        live_show(w, m, &row, left > 0 ? 1 : LIVE_FRAME / taken);
        if (worker_overtaken(w)) {
            return true;
        }
        if (live_rests(w, m, pose, command, &row)) {
            worker_live_end(w);
            return false;
        }
        if (left > 0) {
            nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * left)}, NULL);
        }
    }
}
