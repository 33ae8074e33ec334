// The worker: the thread that owns the models (the coarse one it may give to the leader). It always works on
// the newest request; whatever is overtaken by a newer one is stopped. What it finishes goes to the queue.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "server_worker.h"

#define WORKER_RESTED 0.3  // s without a newer request: the hand rests
#define WORKER_DETAILS 0.1 // of the time: what details of shapes may take while a hand drags
#define WORKER_PAUSE 0.02  // s after a shape in which a hand may begin to drag
#define WORKER_RENEW 5     // moves while a hand drags after which the derivative is computed again, unless
#define WORKER_OFTEN 0.1   // s: the shapes themselves come that often

// ---- being watched
bool worker_overtaken(const server_worker *w)
{
    const server_queue *queue = w->queue;
    return atomic_load(&queue->stop) || atomic_load(&queue->loads) != w->loads ||
           (!w->in_load && atomic_load(&queue->poses) != w->poses) ||
           (w->in_job && atomic_load(&queue->cancel));
}

bool worker_rested(const server_worker *w)
{
    return server_now() - atomic_load(&w->queue->posed) > WORKER_RESTED;
}

bool worker_must_stop(server_worker *w)
{
    const server_queue *queue = w->queue;
    if (w->in_job || w->yield == WORKER_AT_ONCE) {
        return worker_overtaken(w);
    }

    const bool gone = atomic_load(&queue->stop) || atomic_load(&queue->loads) != w->loads;
    return gone || (w->yield == WORKER_WHEN_RESTED && worker_overtaken(w) && worker_rested(w) &&
                    !worker_approaches(w));
}

void worker_report(server_worker *w, const char *state, const char *text, double fraction)
{
    json_t *root =
        json_pack("{s:s,s:s,s:s,s:f}", "type", "status", "state", state, "text", text, "serial", w->serial);
    if (root && fraction >= 0) {
        json_object_set_new(root, "fraction", json_real(fraction));
    }
    server_publish_json(w->queue, SERVER_STATUS, root);
}

static bool worker_step(void *user, double fraction, const char *what)
{
    server_worker *w = user;
    const double now = server_now();

    atomic_store(&w->queue->alive, now);
    w->fraction = fraction >= 0 ? fraction : w->fraction;

    // quick work is not worth a message
    if (!w->quiet && now - w->begun > 0.25 && now - w->reported > 0.15) {
        w->reported = now;
        worker_report(w, w->has_fine && !w->opening ? "solving" : "loading", what ? what : "", w->fraction);
    }

    return !worker_must_stop(w);
}

pl_progress worker_progress(server_worker *w)
{
    return (pl_progress){worker_step, w};
}

// A slice ends after at least one step, when its time is over or a newer request waits.
static bool worker_search_step(void *user, double fraction, const char *what)
{
    server_worker *w = user;
    const bool stepped = w->slice_steps++ > 0;
    if (w->slice_end > 0 && stepped && (server_now() > w->slice_end || worker_overtaken(w))) {
        return false;
    }
    return worker_step(user, fraction, what);
}

pl_progress worker_search_progress(server_worker *w)
{
    return (pl_progress){worker_search_step, w};
}

// ---- shapes
// Remembers what the shape says; w->publishing is held.
static void worker_log(server_worker *w, server_model *m)
{
    const pl_model_info *info = &m->info;
    const pl_model_answer answer = pl_model_get_answer(m->model);
    const size_t c = (size_t)info->command_count, a = (size_t)info->actuator_count,
                 k = 3 * (size_t)info->marker_count, n = (size_t)info->sensor_count;
    worker_entry *entry = &w->log[m->shape % WORKER_LOG];
    double *value = realloc(entry->value, (c + 2 * a + k + n + 1) * sizeof *value);

    if (!value) {
        return;
    }

    const pl_record *record = m->record; // it takes as long as the message
    m->record = NULL;
    pl_file_free(entry->row);
    *entry = (worker_entry){.shape = m->shape, .coarse = m->coarse, .value = value};
    if (m->pull.gripped) {
        const double *f = m->pull.force, *at = m->pull.at;
        snprintf(entry->pull, sizeof entry->pull, ", pulled by (%.4g %.4g %.4g) N at (%.4g %.4g %.4g) mm",
                 f[0], f[1], f[2], at[0], at[1], at[2]);
    }

    if (record || pl_model_record_brief(m->model, &m->report, &record, NULL) == PL_OK) {
        entry->row = pl_record_csv_row(record);
    }
    memcpy(value, answer.command, c * sizeof *value);
    memcpy(value + c, answer.effort, a * sizeof *value);
    memcpy(value + c + a, answer.measure, a * sizeof *value);
    memcpy(value + c + 2 * a, answer.marker, k * sizeof *value);
    memcpy(value + c + 2 * a + k, answer.sensor, n * sizeof *value);
}

const worker_entry *worker_remember(const server_worker *w, uint32_t shape, pl_model_answer *answer)
{
    const worker_entry *entry = &w->log[shape % WORKER_LOG];
    const pl_model_info *info = &w->fine.info;

    *answer = (pl_model_answer){0};
    if (!entry->value || entry->shape != shape) {
        return NULL;
    }
    answer->command = entry->value;
    answer->effort = answer->command + info->command_count;
    answer->measure = answer->effort + info->actuator_count;
    answer->marker = answer->measure + info->actuator_count;
    answer->sensor = answer->marker + 3 * info->marker_count;

    return entry;
}

static void worker_send(server_worker *w, server_model *m, bool brief, json_t *extra)
{
    server_message *message = server_model_shape(m, brief, extra);
    if (message) {
        server_publish(w->queue, SERVER_SHAPE, message);
    }
    if (!brief) {
        w->detailed = server_now();
    }
}

// The next number, and what a message says besides the shape; w->publishing is held. An intermediate shape
// answers no request newer than the last one that was answered.
static void worker_number(server_worker *w, server_model *m, uint32_t viewer, double serial, uint64_t order,
                          bool intermediate, json_t *extra)
{
    m->shape = ++w->shape;
    json_object_set_new(extra, "robot", json_integer(w->robot));
    json_object_set_new(extra, "shape", json_integer(m->shape));
    if (intermediate) {
        json_object_set_new(extra, "towards", json_real(serial));
    } else {
        w->reached_viewer = viewer;
        w->reached = serial;
        w->answered = order;
    }
    json_object_set_new(extra, "viewer", json_integer(w->reached_viewer));
    json_object_set_new(extra, "serial", json_real(w->reached));
}

static void worker_show(server_worker *w, server_model *m, bool brief, json_t *extra)
{
    pthread_mutex_lock(&w->publishing);

    // the leader has shown this request, to which the shape only leads, or a newer one: it is not seen again
    const bool seen = w->intermediate ? w->lead.order >= w->order : w->lead.order > w->order;
    worker_number(w, m, w->viewer, w->serial, w->order, w->intermediate || seen, extra);
    if (!seen) {
        worker_send(w, m, brief, extra);
    }
    worker_log(w, m);
    pthread_mutex_unlock(&w->publishing);

    const bool details_follow = brief && !seen;
    json_decref(w->extra);
    w->extra = details_follow ? extra : NULL;
    w->brief = details_follow ? m : NULL;
    if (!details_follow) {
        json_decref(extra);
    }
}

void worker_publish_shape(server_worker *w, server_model *m, json_t *extra)
{
    worker_show(w, m, false, extra);
}

void worker_publish_frame(server_worker *w, server_model *m, json_t *extra)
{
    worker_show(w, m, true, extra);
}

void worker_publish_brief(server_worker *w, server_model *m, json_t *extra)
{
    worker_show(w, m, m->info.element_count >= WORKER_LARGE, extra);
}

void worker_publish_lead(server_worker *w, const server_pose *pose, bool intermediate, json_t *extra)
{
    pthread_mutex_lock(&w->publishing);
    if (w->answered < pose->order) { // the fine shape did not come first
        w->lead.order = pose->order;
        worker_number(w, &w->coarse, pose->viewer, pose->serial, pose->order, intermediate, extra);
        worker_send(w, &w->coarse, true, extra);
        worker_log(w, &w->coarse);
    }
    pthread_mutex_unlock(&w->publishing);
    json_decref(extra);
}

// To the model's own tolerances, where the shape that was shown at once is looser.
static void worker_complete(server_worker *w, server_model *m)
{
    // what was not solved stays as it was reported
    if (!m->loose || m->report.outcome != PL_SOLVED || worker_overtaken(w)) {
        return;
    }

    double command[SERVER_COMMANDS];
    pl_solve_report report, first = m->report;
    const double start = server_now();
    memcpy(command, pl_model_get_answer(m->model).command, (size_t)m->info.command_count * sizeof *command);
    if (pl_model_fk(m->model, command, &report, NULL) == PL_OK && report.outcome == PL_SOLVED) {
        m->loose = false;
        m->seconds += server_now() - start;
        m->report = report;
        m->report.iterations += first.iterations;
        m->report.factorizations += first.factorizations;
        m->report.solves += first.solves;
        m->report.seconds += first.seconds;
        pthread_mutex_lock(&w->publishing);
        worker_log(w, m);
        pthread_mutex_unlock(&w->publishing);
    }
}

void worker_details(server_worker *w)
{
    server_model *m = w->brief;
    const double begun = server_now();
    const bool old = begun - w->detailed > w->detail_seconds / WORKER_DETAILS;
    const pl_record *record;
    pl_mesh_error error;

    // each of these takes as long as a solve or two
    for (int part = 0; m && m->shape != 0 && part < 4 && (old || !worker_overtaken(w)); ++part) {
        if (part == 0) {
            worker_complete(w, m);
        } else if (part == 1) {
            server_tried(pl_model_mesh_error(m->model, &error, NULL)); // the model keeps it
        } else if (part == 2) {
            server_tried(pl_model_record(m->model, &m->report, &record, NULL)); // and the crossings
        } else {
            pthread_mutex_lock(&w->publishing);
            if (w->lead.order <= w->order) {
                worker_send(w, m, false, w->extra);
            }
            pthread_mutex_unlock(&w->publishing);
        }
    }

    w->detail_seconds = fmax(w->detail_seconds, server_now() - begun);
    json_decref(w->extra);
    w->extra = NULL;
    w->brief = NULL;
}

// Whether inverse kinematics stands at an answer, the solve that led there says.
void worker_check(server_model *m, const pl_ik_report *ik)
{
    m->report = pl_model_get_report(m->model);
    m->report.iterations = ik->iterations;
    m->report.factorizations = (int)ik->costs.factorizations;
    m->report.solves = (int)ik->costs.solves;
    m->report.seconds = ik->seconds;
    m->seconds = ik->seconds;
}

// ---- opening a robot
static void worker_close(server_worker *w)
{
    w->live = NULL;
    json_decref(w->extra);
    w->extra = NULL;
    w->brief = NULL;
    if (w->has_fine) {
        server_model_close(&w->fine);
    }
    if (w->has_coarse) {
        server_model_close(&w->coarse);
    }
    w->has_fine = w->has_coarse = false;
    for (int i = 0; i < WORKER_LOG; ++i) {
        free(w->log[i].value);
        pl_file_free(w->log[i].row);
        w->log[i] = (worker_entry){0};
    }
}

static void worker_empty_channels(server_worker *w)
{
    for (int c = SERVER_MESH_FINE; c < SERVER_CHANNEL_COUNT; ++c) {
        if (c != SERVER_STATUS) {
            server_publish(w->queue, (server_channel)c, NULL);
        }
    }
}

// The model, by the method its file asks for. The one before stays until this one stands.
static pl_status worker_load_fine(server_worker *w, const pl_robot_document *document,
                                  const pl_model_load_options *options, pl_findings *findings, pl_error *err)
{
    pl_model *model = NULL;
    server_model next;
    pl_status status = pl_model_from_document(document, options, &model, findings, err);

    if (status == PL_OK) {
        status = server_model_open(&next, model, false, w->mesh + 1, err);
    }

    if (status == PL_OK) {
        worker_close(w);
        worker_empty_channels(w);
        w->fine = next;
        w->has_fine = true;
        ++w->mesh;
        ++w->robot;
    }

    return status;
}

// For previews, where a coarse mesh pays.
static void worker_load_coarse(server_worker *w, const pl_robot_document *document,
                               const pl_model_load_options *options)
{
    pl_model *model = NULL;
    pl_error err = {0};
    pl_model_load_options coarse = *options;
    coarse.progress = lead_progress(w);

    w->has_coarse = pl_model_coarse_from_document(document, &coarse, w->fine.model, &model, &err) == PL_OK &&
                    model && server_model_open(&w->coarse, model, true, ++w->mesh, &err) == PL_OK;
    if (w->has_coarse) {
        server_publish(w->queue, SERVER_MESH_COARSE, server_model_mesh(&w->coarse));
    }
}

// Its body is shown before the solver, which takes longer, is ready.
static pl_status worker_drawn(void *user, const pl_robot *robot, pl_error *err)
{
    (void)err;
    server_worker *w = user;
    server_publish(w->queue, SERVER_DRAWN, server_drawn(robot));
    return PL_OK;
}

void worker_load(server_worker *w)
{
    w->begun = server_now();
    w->fraction = 0;
    w->viewer = w->reached_viewer = 0;
    w->serial = w->reached = 0;
    w->order = w->answered = w->lead.order = 0;
    w->opening = true;
    worker_report(w, "loading", "opening the robot", -1);
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    const pl_progress progress = worker_progress(w);
    const pl_model_load_options options = {.load = {.mesher = pl_meshing_mesher(),
                                                    .progress = &progress,
                                                    .size = w->options->size,
                                                    .order = w->options->order,
                                                    .no_cache = w->options->no_cache},
                                           .progress = progress,
                                           .spare_factor = true,
                                           .built = worker_drawn,
                                           .built_user = w};
    pl_robot_document *document = NULL;
    pl_status status = pl_robot_document_read(w->path, &document, findings, &err);
    status = status == PL_OK ? worker_load_fine(w, document, &options, findings, &err) : status;
    server_publish(w->queue, SERVER_DRAWN, NULL);
    w->opening = false;
    if (status != PL_OK) {
        if (!worker_overtaken(w)) {
            server_publish_json(w->queue, SERVER_PROBLEM,
                                server_problem_json(findings, &err, w->path, w->has_fine));
            worker_report(w, "problem", "the robot cannot be opened", -1);
        }
        pl_findings_destroy(findings);
        pl_robot_document_destroy(document);
        return;
    }

    server_publish_json(w->queue, SERVER_ROBOT, server_robot_json(&w->fine, findings, document, w->robot));
    server_publish(w->queue, SERVER_MESH_FINE, server_model_mesh(&w->fine));
    pl_findings_destroy(findings);
    worker_load_coarse(w, document, &options);
    pl_robot_document_destroy(document);

    // where loads bring it without any command
    server_pose rest = {.robot = w->robot, .command_count = w->fine.info.command_count};
    for (int i = 0; i < SERVER_COMMANDS; ++i) {
        rest.command[i] = NAN;
    }
    worker_pose(w, &rest);
}

// ---- the thread
typedef struct worker_request {
    bool load, pose, job;
    char *path;
    server_pose the_pose;
    server_job the_job;
} worker_request;

// The slot whose turn it is, -1 for none: the controls' own, then the file asked for first.
static int worker_next_job(const server_queue *queue)
{
    int next = queue->has_job[0] ? 0 : -1;
    for (int i = 1; next != 0 && i < SERVER_SLOTS; ++i) {
        if (queue->has_job[i] && (next < 0 || queue->job[i].turn < queue->job[next].turn)) {
            next = i;
        }
    }

    return next;
}

// Waits for the next request; false when it is time to go. A robot goes before a pose, a pose before a job.
static bool worker_wait(server_worker *w, worker_request *request)
{
    server_queue *queue = w->queue;
    *request = (worker_request){0};
    pthread_mutex_lock(&queue->lock);
    while (!atomic_load(&queue->stop) && !queue->has_load && !queue->has_pose && worker_next_job(queue) < 0) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    w->loads = atomic_load(&queue->loads);
    w->poses = atomic_load(&queue->poses);
    if (queue->has_load) {
        request->load = true;
        request->path = queue->load;
        queue->load = NULL;
        queue->has_load = false;
    } else if (queue->has_pose) {
        request->pose = true;
        request->the_pose = queue->pose;
        queue->has_pose = false;
    } else if (worker_next_job(queue) >= 0) {
        const int slot = worker_next_job(queue);
        request->job = true;
        request->the_job = queue->job[slot];
        queue->job[slot].shape = NULL;
        queue->job[slot].point = NULL; // ours now; the queue stays taken until the job is done
    }

    const bool go_on = !atomic_load(&queue->stop);
    atomic_store(&queue->alive, server_now());
    atomic_store(&queue->busy, true);
    pthread_mutex_unlock(&queue->lock);

    return go_on;
}

void worker_free_slot(server_worker *w)
{
    if (w->slot >= 0) {
        pthread_mutex_lock(&w->queue->lock);
        w->queue->has_job[w->slot] = false;
        pthread_mutex_unlock(&w->queue->lock);
        w->slot = -1;
    }
}

static void worker_run_job(server_worker *w, server_job *job)
{
    worker_live_end(w);
    w->slot = job->slot;
    if (job->slot > 0) {
        atomic_store(&w->queue->cancel, false); // it was meant for the work before
    }
    w->in_job = true;
    w->begun = server_now();
    worker_job(w, job);
    w->in_job = false;
    free(job->point);
    free(job->shape);
    worker_free_slot(w);
}

// s until a hand that drags would have moved on: three times the time between its last two requests.
static double worker_patience(const server_worker *w)
{
    const double interval = atomic_load(&w->queue->interval);
    return interval < SERVER_DRAGS ? atomic_load(&w->queue->posed) + 3 * interval - server_now() : 0;
}

bool worker_drags(const server_worker *w)
{
    return worker_overtaken(w) || worker_patience(w) > 0;
}

// Gives a hand that drags the time to move on, unless a job waits: work that is begun and stopped at once
// costs more than it.
static void worker_pause(server_worker *w)
{
    const double wait = fmax(worker_patience(w), WORKER_PAUSE);
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += (long)(1e9 * wait);
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&w->queue->lock);
    while (!worker_overtaken(w) && worker_next_job(w->queue) < 0 &&
           pthread_cond_timedwait(&w->queue->changed, &w->queue->lock, &end) == 0) {
    }
    pthread_mutex_unlock(&w->queue->lock);
}

// What is done once the shape has been seen: the factor and the derivative for the next move, given up
// without loss when that comes; then the details of the shape.
static void worker_afterwards(server_worker *w)
{
    atomic_store(&w->queue->busy, worker_overtaken(w));
    worker_pause(w);
    const bool overtaken = worker_overtaken(w);
    atomic_store(&w->queue->busy, overtaken);
    w->quiet = true; // it is ready; what follows is not worth a word

    // while a hand drags, an old factor and an old derivative are renewed now and then
    w->yield = overtaken ? WORKER_NEVER : WORKER_AT_ONCE;
    if (!overtaken || (w->fine.moves >= WORKER_RENEW && w->fine.seconds > WORKER_OFTEN)) {
        worker_tangent(w, &w->fine, !overtaken);
    }
    w->yield = WORKER_NEVER; // with the new factor it takes a solve or two
    worker_details(w);
    w->yield = WORKER_AT_ONCE;
    w->quiet = false;
}

static void *worker_main(void *user)
{
    server_worker *w = user;
    worker_request request;

    while (worker_wait(w, &request)) {
        const uint32_t robots = w->robot;
        const bool pulls =
            request.pose && (request.the_pose.kind == SERVER_POSE_PULL || request.the_pose.live);
        if (request.load || request.job || pulls) {
            lead_take(w);
        }
        if (request.load) {
            free(w->path);
            w->path = request.path;
            w->in_load = true; // poses wait until there is something to pose
            worker_load(w);
            w->in_load = false;
        } else if (request.pose) {
            worker_pose(w, &request.the_pose);
        } else if (request.job) {
            worker_run_job(w, &request.the_job);
        }
        lead_give(w);
        w->yield = WORKER_AT_ONCE;
        const bool failed =
            request.load && robots == w->robot; // the robot before stays, and the problem is reported
        if (!worker_overtaken(w) && w->has_fine && !failed) {
            worker_report(w, "ready", "", -1);
        }
        if (w->has_fine && !failed && !w->live && (request.load || request.pose)) {
            worker_afterwards(w);
        }
        atomic_store(&w->queue->busy, false);
    }

    free(request.path);
    free(request.the_job.point);
    free(request.the_job.shape);
    lead_take(w);
    worker_close(w);

    return NULL;
}

pl_status server_worker_start(server_queue *queue, const server_options *options, server_worker **out,
                              pl_error *err)
{
    *out = NULL;
    server_worker *w = calloc(1, sizeof *w);
    if (!w) {
        return server_fail(err, PL_NO_MEMORY, "no memory for the worker");
    }
    *w = (server_worker){.queue = queue, .options = options};
    if (pthread_mutex_init(&w->publishing, NULL) != 0) {
        free(w);
        return server_fail(err, PL_FAILED, "the worker's lock cannot be made");
    }

    // signals belong to the thread of the sockets
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    lead_start(w);
    const int failed = pthread_create(&w->thread, NULL, worker_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        pthread_mutex_lock(&queue->lock);
        atomic_store(&queue->stop, true);
        pthread_cond_broadcast(&queue->changed);
        pthread_mutex_unlock(&queue->lock);
        lead_stop(w);
        pthread_mutex_destroy(&w->publishing);
        free(w);
        return server_fail(err, PL_FAILED, "the worker's thread cannot be started: %s", strerror(failed));
    }

    *out = w;

    return PL_OK;
}

void server_worker_stop(server_worker *worker)
{
    if (!worker) {
        return;
    }
    pthread_mutex_lock(&worker->queue->lock);
    atomic_store(&worker->queue->stop, true);
    pthread_cond_broadcast(&worker->queue->changed);
    pthread_mutex_unlock(&worker->queue->lock);
    pthread_join(worker->thread, NULL);
    lead_stop(worker);
    pthread_mutex_destroy(&worker->publishing);
    free(worker->path);
    free(worker);
}
