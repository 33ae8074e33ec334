// The queue between the thread of the sockets and the worker: requests in one direction, finished messages in
// the other. Everything on it is guarded by one lock, held for a few instructions at a time.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "server_impl.h"

pl_status server_fail(pl_error *err, pl_status status, const char *format, ...)
{
    if (err) {
        va_list list;
        va_start(list, format);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, list);
        va_end(list);
    }
    return status;
}

double server_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

json_t *server_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *server_numbers(const double *value, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(array, server_number(value[i]));
    }
    return array;
}

json_t *server_text(const char *text)
{
    json_t *good = json_string(text);
    char plain[1200];
    size_t n = 0;

    for (; !good && text[n] && n < sizeof plain - 1; ++n) {
        plain[n] = (unsigned char)text[n] < 128 ? text[n] : '?';
    }
    plain[n] = 0;

    return good ? good : json_string(plain);
}

bool server_queue_init(server_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    queue->reply_end = &queue->reply;
    if (pthread_mutex_init(&queue->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&queue->changed, NULL) != 0) {
        pthread_mutex_destroy(&queue->lock);
        return false;
    }

    return true;
}

void server_queue_clear(server_queue *queue)
{
    for (int c = 0; c < SERVER_CHANNEL_COUNT; ++c) {
        server_message_free(queue->channel[c]);
    }

    while (queue->reply) {
        server_reply *next = queue->reply->next;
        server_message_free(queue->reply->message);
        free(queue->reply);
        queue->reply = next;
    }

    free(queue->load);
    for (int i = 0; i < SERVER_SLOTS; ++i) {
        free(queue->job[i].point);
        free(queue->job[i].shape);
    }

    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

static void queue_wake(server_queue *queue)
{
    if (queue->wake) {
        queue->wake(queue->wake_user);
    }
}

// ---- for the viewers
void server_publish(server_queue *queue, server_channel channel, server_message *message)
{
    pthread_mutex_lock(&queue->lock);
    server_message *old = queue->channel[channel];
    queue->channel[channel] = message;
    ++queue->version[channel];
    const bool last = old && --old->references == 0;
    pthread_mutex_unlock(&queue->lock);
    if (last) {
        server_message_free(old);
    }
    queue_wake(queue);
}

static server_message *queue_text(json_t *root)
{
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(root);
    server_message *m = text ? server_pack_text(text) : NULL;
    free(text);
    return m;
}

void server_publish_json(server_queue *queue, server_channel channel, json_t *root)
{
    server_message *m = queue_text(root);
    if (m) {
        server_publish(queue, channel, m);
    }
}

void server_write_reply(server_queue *queue, uint32_t viewer, server_message *message)
{
    server_reply *reply = message ? malloc(sizeof *reply) : NULL;
    if (!reply) {
        server_message_free(message);
        return;
    }

    *reply = (server_reply){.viewer = viewer, .message = message};
    pthread_mutex_lock(&queue->lock);
    *queue->reply_end = reply;
    queue->reply_end = &reply->next;
    pthread_mutex_unlock(&queue->lock);
    queue_wake(queue);
}

void server_refuse(server_queue *queue, uint32_t viewer, const char *format, ...)
{
    char text[1200];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    server_write_reply(queue, viewer,
                       queue_text(json_pack("{s:s,s:o}", "type", "refused", "text", server_text(text))));
}

// ---- for the worker
void server_request_pose(server_queue *queue, const server_pose *pose)
{
    pthread_mutex_lock(&queue->lock);
    queue->pose = *pose;
    queue->pose.order = ++queue->order;
    queue->has_pose = true;
    const double now = server_now();
    atomic_store(&queue->interval, now - atomic_load(&queue->posed));
    atomic_store(&queue->posed, now);
    atomic_fetch_add(&queue->poses, 1);
    pthread_cond_broadcast(&queue->changed); // the worker and the leader
    pthread_mutex_unlock(&queue->lock);
}

bool server_request_load(server_queue *queue, const char *path)
{
    char *copy = malloc(strlen(path) + 1);
    if (!copy) {
        return false;
    }
    strcpy(copy, path);
    pthread_mutex_lock(&queue->lock);
    free(queue->load);
    queue->load = copy;
    queue->has_load = true;
    atomic_fetch_add(&queue->loads, 1);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);

    return true;
}

// A free slot for a file of this viewer; -1 when it has one already, or all are taken.
static int queue_file_slot(const server_queue *queue, uint32_t viewer)
{
    int slot = -1;
    for (int i = 1; i < SERVER_SLOTS; ++i) {
        if (queue->has_job[i] && queue->job[i].viewer == viewer) {
            return -1;
        }
        slot = slot < 0 && !queue->has_job[i] ? i : slot;
    }

    return slot;
}

bool server_request_job(server_queue *queue, server_job *job)
{
    pthread_mutex_lock(&queue->lock);
    const int slot = job->kind == SERVER_JOB_EXPORT ? queue_file_slot(queue, job->viewer)
                     : queue->has_job[0]            ? -1
                                                    : 0;
    const bool taken = slot >= 0;
    if (taken) {
        job->slot = slot;
        job->turn = ++queue->turns;
        queue->job[slot] = *job;
        queue->has_job[slot] = true;
        if (slot == 0) {
            atomic_store(&queue->cancel, false);
        }
        pthread_cond_broadcast(&queue->changed);
        *job = (server_job){0};
    }

    pthread_mutex_unlock(&queue->lock);

    return taken;
}
