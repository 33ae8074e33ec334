// The desk between the thread of the sockets and the worker: wishes go one way, finished messages the other.
// Everything on it is guarded by one lock, held for a few instructions at a time.
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

bool server_desk_init(server_desk *desk)
{
    memset(desk, 0, sizeof *desk);
    desk->letter_end = &desk->letter;
    if (pthread_mutex_init(&desk->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&desk->changed, NULL) != 0) {
        pthread_mutex_destroy(&desk->lock);
        return false;
    }
    return true;
}

void server_desk_clear(server_desk *desk)
{
    for (int c = 0; c < SERVER_CHANNEL_COUNT; ++c) {
        server_message_free(desk->channel[c]);
    }
    while (desk->letter) {
        server_letter *next = desk->letter->next;
        server_message_free(desk->letter->message);
        free(desk->letter);
        desk->letter = next;
    }
    free(desk->load);
    for (int i = 0; i < SERVER_SLOTS; ++i) {
        free(desk->job[i].point);
        free(desk->job[i].shape);
    }
    pthread_cond_destroy(&desk->changed);
    pthread_mutex_destroy(&desk->lock);
}

static void desk_wake(server_desk *desk)
{
    if (desk->wake) {
        desk->wake(desk->wake_user);
    }
}

// ---- for the viewers
void server_publish(server_desk *desk, server_channel channel, server_message *message)
{
    pthread_mutex_lock(&desk->lock);
    server_message *old = desk->channel[channel];
    desk->channel[channel] = message;
    ++desk->version[channel];
    const bool last = old && --old->references == 0;
    pthread_mutex_unlock(&desk->lock);
    if (last) {
        server_message_free(old);
    }
    desk_wake(desk);
}

static server_message *desk_text(json_t *root)
{
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(root);
    server_message *m = text ? server_pack_text(text) : NULL;
    free(text);
    return m;
}

void server_publish_json(server_desk *desk, server_channel channel, json_t *root)
{
    server_message *m = desk_text(root);
    if (m) {
        server_publish(desk, channel, m);
    }
}

void server_write_letter(server_desk *desk, uint32_t viewer, server_message *message)
{
    server_letter *letter = message ? malloc(sizeof *letter) : NULL;
    if (!letter) {
        server_message_free(message);
        return;
    }
    *letter = (server_letter){.viewer = viewer, .message = message};
    pthread_mutex_lock(&desk->lock);
    *desk->letter_end = letter;
    desk->letter_end = &letter->next;
    pthread_mutex_unlock(&desk->lock);
    desk_wake(desk);
}

void server_refuse(server_desk *desk, uint32_t viewer, const char *format, ...)
{
    char text[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    server_write_letter(desk, viewer,
                        desk_text(json_pack("{s:s,s:o}", "type", "refused", "text", server_text(text))));
}

// ---- for the worker
void server_wish_pose(server_desk *desk, const server_pose *pose)
{
    pthread_mutex_lock(&desk->lock);
    desk->pose = *pose;
    desk->has_pose = true;
    const double now = server_now();
    atomic_store(&desk->drags, now - atomic_load(&desk->posed) < SERVER_DRAGS);
    atomic_store(&desk->posed, now);
    atomic_fetch_add(&desk->poses, 1);
    pthread_cond_signal(&desk->changed);
    pthread_mutex_unlock(&desk->lock);
}

bool server_wish_load(server_desk *desk, const char *path)
{
    char *copy = malloc(strlen(path) + 1);
    if (!copy) {
        return false;
    }
    strcpy(copy, path);
    pthread_mutex_lock(&desk->lock);
    free(desk->load);
    desk->load = copy;
    desk->has_load = true;
    atomic_fetch_add(&desk->loads, 1);
    pthread_cond_signal(&desk->changed);
    pthread_mutex_unlock(&desk->lock);
    return true;
}

// A free slot for a file of this viewer; -1 when it has one already, or all are taken.
static int desk_file_slot(const server_desk *desk, uint32_t viewer)
{
    int slot = -1;
    for (int i = 1; i < SERVER_SLOTS; ++i) {
        if (desk->has_job[i] && desk->job[i].viewer == viewer) {
            return -1;
        }
        slot = slot < 0 && !desk->has_job[i] ? i : slot;
    }
    return slot;
}

bool server_wish_job(server_desk *desk, server_job *job)
{
    pthread_mutex_lock(&desk->lock);
    const int slot = job->kind == SERVER_JOB_EXPORT ? desk_file_slot(desk, job->viewer)
                     : desk->has_job[0]             ? -1
                                                    : 0;
    const bool taken = slot >= 0;
    if (taken) {
        job->slot = slot;
        job->turn = ++desk->turns;
        desk->job[slot] = *job;
        desk->has_job[slot] = true;
        if (slot == 0) {
            atomic_store(&desk->cancel, false);
        }
        pthread_cond_signal(&desk->changed);
        *job = (server_job){0};
    }
    pthread_mutex_unlock(&desk->lock);
    return taken;
}
