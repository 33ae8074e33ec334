// The leader: while a hand drags, a second thread solves the newest request on the coarse mesh, and the
// worker follows on the fine one. A coarse shape is an equilibrium of its own mesh at the commands it names,
// and says which mesh it is of. The fine shape of the last request comes when the worker gets there.
//
// The coarse model belongs to the leader between lead_give and lead_take, to the worker otherwise: one thread
// at a time. What both publish is numbered and remembered under w->publishing.
#include "server_worker.h"

#define LEAD_SLOW 0.05 // s: a fine mesh that answers faster shows 20 shapes a second by itself
#define LEAD_RENEW 5   // moves after which the derivative for the page's predictions is computed again

// ---- whose turn
// A request that the leader has not taken yet, of a kind that it solves; the queue's lock is held.
static bool lead_wanted(const server_worker *w)
{
    const server_pose *pose = &w->queue->pose;
    const server_lead *lead = &w->lead;

    return atomic_load(&lead->open) && atomic_load(&lead->slow) &&
           atomic_load(&w->queue->poses) != lead->poses && pose->robot == w->robot &&
           pose->kind != SERVER_POSE_PULL && !pose->live;
}

void lead_give(server_worker *w)
{
    if (!w->has_coarse || w->live || !w->lead.started) {
        return;
    }

    // details of a coarse shape (a frame of a motion) would be computed with a model that the leader moves
    if (w->brief == &w->coarse) {
        json_decref(w->extra);
        w->extra = NULL;
        w->brief = NULL;
    }

    pthread_mutex_lock(&w->queue->lock);
    atomic_store(&w->lead.slow, w->fine.seconds > LEAD_SLOW);
    if (!atomic_load(&w->lead.open)) {
        // what was asked for before is the worker's
        w->lead.poses = w->poses;
        atomic_store(&w->lead.open, true);
    }
    pthread_cond_broadcast(&w->queue->changed);
    pthread_mutex_unlock(&w->queue->lock);
}

void lead_take(server_worker *w)
{
    pthread_mutex_lock(&w->queue->lock);
    atomic_store(&w->lead.open, false); // ends the solve in hand
    while (atomic_load(&w->lead.busy)) {
        pthread_cond_wait(&w->queue->changed, &w->queue->lock);
    }
    pthread_mutex_unlock(&w->queue->lock);
}

// ---- progress of the coarse model
static bool lead_must_stop(const server_worker *w)
{
    return !atomic_load(&w->lead.open) || atomic_load(&w->queue->stop) ||
           atomic_load(&w->queue->loads) != w->lead.loads;
}

static bool lead_step(void *user, double fraction, const char *what)
{
    server_worker *w = user;
    if (atomic_load(&w->lead.busy)) {
        return !lead_must_stop(w);
    }

    const pl_progress usual = worker_progress(w);
    return usual.step(usual.user, fraction, what);
}

pl_progress lead_progress(server_worker *w)
{
    return (pl_progress){lead_step, w};
}

// A search shows where it stands after a step, when a newer request waits: the next one begins there.
static bool lead_search_step(void *user, double fraction, const char *what)
{
    server_worker *w = user;
    if (!atomic_load(&w->lead.busy)) {
        const pl_progress usual = worker_search_progress(w);
        return usual.step(usual.user, fraction, what);
    }

    const bool stepped = w->lead.steps++ > 0;
    return !lead_must_stop(w) && !(stepped && atomic_load(&w->queue->poses) != w->lead.poses);
}

pl_progress lead_search_progress(server_worker *w)
{
    return (pl_progress){lead_search_step, w};
}

// ---- solving
static void lead_commands(server_worker *w, const server_pose *pose)
{
    server_model *m = &w->coarse;
    double command[SERVER_COMMANDS];

    // what is refused, or has no equilibrium, the worker reports
    if (!worker_commands(w, pose, NULL, command) || !server_model_forward(m, command, true) ||
        m->report.outcome != PL_SOLVED) {
        return;
    }

    worker_publish_lead(w, pose, false, json_object());
    if (++m->moves >= LEAD_RENEW) {
        worker_tangent(w, m, false);
    }
}

static void lead_target(server_worker *w, const server_pose *pose)
{
    server_model *m = &w->coarse;
    const pl_progress progress = lead_search_progress(w);
    pl_ik_report report = {0};
    pl_ik *ik = NULL;

    server_model_let_go(m);
    m->shape = 0;
    w->lead.steps = 0;
    if (server_model_ik(m, pose->marker, pose->hold, &progress, &ik, NULL) != PL_OK ||
        pl_ik_set_target(ik, 0, pose->target, NULL) != PL_OK) {
        return;
    }

    pl_ik_set_start_limit(ik, 0);
    if (pl_ik_solve(ik, NULL, &report, NULL) != PL_OK || lead_must_stop(w)) {
        return;
    }

    worker_check(m, &report);
    if (m->report.outcome == PL_SOLVED) {
        const bool there = report.outcome == PL_IK_REACHED || report.outcome == PL_IK_UNCERTAIN;
        worker_publish_lead(w, pose, report.outcome == PL_IK_STOPPED,
                            json_pack("{s:o}", "ik", worker_ik_json(pose, &report, !there)));
    }
}

// ---- the thread
static void *lead_main(void *user)
{
    server_worker *w = user;
    server_queue *queue = w->queue;

    pthread_mutex_lock(&queue->lock);
    while (!atomic_load(&queue->stop)) {
        if (!lead_wanted(w)) {
            pthread_cond_wait(&queue->changed, &queue->lock);
            continue;
        }

        const server_pose pose = queue->pose;
        w->lead.poses = atomic_load(&queue->poses);
        w->lead.loads = atomic_load(&queue->loads);
        atomic_store(&w->lead.busy, true);
        pthread_mutex_unlock(&queue->lock);

        if (pose.kind == SERVER_POSE_COMMANDS) {
            lead_commands(w, &pose);
        } else {
            lead_target(w, &pose);
        }

        pthread_mutex_lock(&queue->lock);
        atomic_store(&w->lead.busy, false);
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);

    return NULL;
}

void lead_start(server_worker *w)
{
    w->lead.started =
        pthread_create(&w->lead.thread, NULL, lead_main, w) == 0; // without it the worker does all
}

void lead_stop(server_worker *w)
{
    if (w->lead.started) {
        pthread_join(w->lead.thread, NULL);
    }
}
