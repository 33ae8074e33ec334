// The pool of threads: how many, sleeping and waking, loops, and tasks that lead to further tasks.
//
// A job is open while its caller works on it. A helper counts itself into `helping` before it looks whether a
// job is open, and the caller closes the job before it waits for `helping` to fall to 0: so a helper that
// comes late finds the job closed, and none is inside when the caller returns. Both sides write their own
// variable before they read the other's, all in sequentially consistent order.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/base.h"
#include "base/threads.h"

// How long to look for work before going to sleep, in looks of some 40 ns. Loops of one iteration follow each
// other within some 10 us, waking a thread takes 5 us of the caller and 50 us until it runs: bench_warm.
#define THREADS_LOOKS 1000

// One helper; a cache line of its own, so that flags of others do not disturb it.
typedef struct pool_thread {
    _Alignas(64) pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_bool asleep;
} pool_thread;

static struct {
    pthread_mutex_t life;  // guards users, started, and starting and ending threads
    pthread_mutex_t owner; // held by whoever has a job in the pool
    pthread_mutex_t lock;  // with `left`: the caller that waits for its helpers
    pthread_cond_t left;
    int users, started;
    bool fork_ready;
    // the job: written by the owner while it is closed
    void (*body)(void *context, int worker);
    void *context;
    int limit;                       // workers numbered below it may help
    _Alignas(64) atomic_uint number; // of the job
    atomic_bool open, quit, waiting;
    _Alignas(64) atomic_int helping;
    pool_thread helper[PL_THREADS_MAX];
} pool = {.life = PTHREAD_MUTEX_INITIALIZER,
          .owner = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

// Tells the processor that this is a waiting loop.
static inline void threads_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// ---- how many

static atomic_int threads_wanted;
static int threads_default = 1;
static pthread_once_t threads_once = PTHREAD_ONCE_INIT;

// PLIANT_THREADS, or the processors this process may use.
static void threads_count(void)
{
    const char *text = getenv("PLIANT_THREADS");
    char *end = NULL;
    const long given = text ? strtol(text, &end, 10) : 0;
    if (given > 0 && *end == 0) {
        threads_default = given < PL_THREADS_MAX ? (int)given : PL_THREADS_MAX;
        return;
    }

    int count = 0;
#ifdef __linux__
    cpu_set_t set;
    count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
#endif
    if (count < 1) {
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    }
    threads_default = count < 1 ? 1 : count < PL_THREADS_MAX ? count : PL_THREADS_MAX;
}

void pl_threads_set(int count)
{
    atomic_store(&threads_wanted, count < PL_THREADS_MAX ? count : PL_THREADS_MAX);
}

int pl_threads_get(void)
{
    const int wanted = atomic_load_explicit(&threads_wanted, memory_order_relaxed);
    if (wanted > 0) {
        return wanted;
    }
    pthread_once(&threads_once, threads_count);
    return threads_default;
}

// ---- helpers

// Waits for a job after number `seen`, or the end.
static unsigned helper_wait(pool_thread *h, unsigned seen)
{
    // look for a while, then sleep: `asleep` is set before the number is read again, so no wake-up is lost
    for (int i = 0; i < THREADS_LOOKS; ++i) {
        const unsigned now = atomic_load(&pool.number);
        if (now != seen) {
            return now;
        }
        threads_pause();
    }

    pthread_mutex_lock(&h->lock);
    atomic_store(&h->asleep, true);
    while (atomic_load(&pool.number) == seen) {
        pthread_cond_wait(&h->wake, &h->lock);
    }
    atomic_store(&h->asleep, false);
    pthread_mutex_unlock(&h->lock);

    return atomic_load(&pool.number);
}

// The last helper to leave wakes a caller that waits for it.
static void helper_leave(void)
{
    if (atomic_fetch_sub(&pool.helping, 1) == 1 && atomic_load(&pool.waiting)) {
        pthread_mutex_lock(&pool.lock);
        pthread_cond_signal(&pool.left);
        pthread_mutex_unlock(&pool.lock);
    }
}

// A helper's life: wait, help while the job is open, leave.
static void *helper_main(void *argument)
{
    pool_thread *h = argument;
    const int worker = 1 + (int)(h - pool.helper);
    unsigned seen = 0;

    for (;;) {
        seen = helper_wait(h, seen);
        if (atomic_load(&pool.quit)) {
            return NULL;
        }
        atomic_fetch_add(&pool.helping, 1);
        if (atomic_load(&pool.open) && worker < pool.limit) {
            pool.body(pool.context, worker);
        }
        helper_leave();
    }
}

// Wakes helpers that sleep; the others look for work anyway.
static void helpers_wake(int count)
{
    for (int i = 0; i < count; ++i) {
        pool_thread *h = &pool.helper[i];
        if (atomic_load(&h->asleep)) {
            pthread_mutex_lock(&h->lock);
            pthread_cond_signal(&h->wake);
            pthread_mutex_unlock(&h->lock);
        }
    }
}

// After a fork the child has the calling thread alone.
static void pool_in_child(void)
{
    pthread_mutex_init(&pool.life, NULL);
    pthread_mutex_init(&pool.owner, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.left, NULL);
    pool.started = 0;
    atomic_store(&pool.open, false);
    atomic_store(&pool.waiting, false);
    atomic_store(&pool.helping, 0);
}

// Helpers leave all signals to the program's own threads. Fewer of them than wanted is no failure.
static void helpers_start(int wanted)
{
    if (pool.started >= wanted) {
        return;
    }
    pthread_mutex_lock(&pool.life);
    if (!pool.fork_ready) {
        pool.fork_ready = pthread_atfork(NULL, NULL, pool_in_child) == 0;
    }

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    // numbered from 1: worker 0 is the caller
    for (; pool.started < wanted; ++pool.started) {
        pool_thread *h = &pool.helper[pool.started];
        pthread_mutex_init(&h->lock, NULL);
        pthread_cond_init(&h->wake, NULL);
        atomic_store(&h->asleep, false);

        if (pthread_create(&h->thread, NULL, helper_main, h) != 0) {
            pthread_cond_destroy(&h->wake);
            pthread_mutex_destroy(&h->lock);
            break;
        }
    }

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_unlock(&pool.life);
}

// Called by the last holder, with `life` locked: no job can be open.
static void helpers_end(void)
{
    atomic_store(&pool.quit, true);
    atomic_fetch_add(&pool.number, 1);
    helpers_wake(pool.started);

    for (; pool.started > 0; --pool.started) {
        pool_thread *h = &pool.helper[pool.started - 1];
        pthread_join(h->thread, NULL);
        pthread_cond_destroy(&h->wake);
        pthread_mutex_destroy(&h->lock);
    }

    atomic_store(&pool.quit, false);
}

// As long as someone holds the pool its threads are kept.
void pl_threads_hold(void)
{
    pthread_mutex_lock(&pool.life);
    ++pool.users;
    pthread_mutex_unlock(&pool.life);
}

void pl_threads_release(void)
{
    pthread_mutex_lock(&pool.life);
    PL_ASSERT(pool.users > 0);
    if (--pool.users == 0) {
        helpers_end();
    }
    pthread_mutex_unlock(&pool.life);
}

// ---- jobs

// Until all helpers have left: a short look first, since they finish at about the same time.
static void job_wait(void)
{
    for (int i = 0; i < THREADS_LOOKS; ++i) {
        if (atomic_load(&pool.helping) == 0) {
            return;
        }
        threads_pause();
    }

    pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.waiting, true);
    while (atomic_load(&pool.helping) != 0) {
        pthread_cond_wait(&pool.left, &pool.lock);
    }
    atomic_store(&pool.waiting, false);
    pthread_mutex_unlock(&pool.lock);
}

// body(context, 0) on this thread, body(context, w) with 1 <= w < threads on helpers that are free.
static void job_run(int threads, void (*body)(void *context, int worker), void *context)
{
    pl_threads_hold();

    // somebody else has a job: alone, without waiting
    if (pthread_mutex_trylock(&pool.owner) != 0) {
        body(context, 0);
        pl_threads_release();
        return;
    }

    // publish the job, then open it
    helpers_start(threads - 1);
    pool.body = body;
    pool.context = context;
    pool.limit = threads;
    atomic_store(&pool.open, true);
    atomic_fetch_add(&pool.number, 1);
    helpers_wake(threads - 1 < pool.started ? threads - 1 : pool.started);

    // work, close, wait for helpers inside
    body(context, 0);
    atomic_store(&pool.open, false);
    job_wait();
    pthread_mutex_unlock(&pool.owner);
    pl_threads_release();
}

// ---- loops: every worker has a share, contiguous and the same in each loop of one length, which keeps its
// data in its cache; who has finished his own takes from the others'.

typedef struct loop_share {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} loop_share;

typedef struct loop {
    loop_share share[PL_THREADS_MAX];
    int shares;
    int64_t grain;
    pl_loop_body *body;
    void *context;
} loop;

// Own share first, then those of the other workers, grain by grain.
static void loop_work(void *context, int worker)
{
    loop *l = context;
    for (int k = 0; k < l->shares; ++k) {
        loop_share *s = &l->share[(worker + k) % l->shares];

        while (atomic_load_explicit(&s->next, memory_order_relaxed) < s->end) {
            const int64_t from = atomic_fetch_add_explicit(&s->next, l->grain, memory_order_relaxed);
            if (from < s->end) {
                l->body(l->context, from, from + l->grain < s->end ? from + l->grain : s->end);
            }
        }
    }
}

void pl_loop(int64_t count, int64_t grain, pl_loop_body *body, void *context)
{
    const int64_t grains = (count + grain - 1) / grain;
    int threads = pl_threads_get();

    threads = grains < threads ? (int)grains : threads;
    if (threads <= 1) {
        if (count > 0) {
            body(context, 0, count);
        }
        return;
    }

    // shares are whole grains, so their borders do not depend on timing
    loop l;
    l.shares = threads;
    l.grain = grain;
    l.body = body;
    l.context = context;
    for (int k = 0; k < threads; ++k) {
        atomic_init(&l.share[k].next, grains * k / threads * grain);
        l.share[k].end = grains * (k + 1) / threads * grain;
    }

    l.share[threads - 1].end = count;
    job_run(threads, loop_work, &l);
}

void pl_atomic_max(_Atomic double *value, double x)
{
    double now = atomic_load(value);
    while (x > now && !atomic_compare_exchange_weak(value, &now, x)) {
    }
}

// ---- tasks

bool pl_tasks_init(pl_tasks *t, int32_t capacity)
{
    *t = (pl_tasks){.capacity = capacity};
    t->item = PL_NEW_ARRAY(int32_t, 3 * (int64_t)capacity);
    if (!t->item) {
        return false;
    }
    t->next = t->item + capacity;
    t->parts = t->next + capacity;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->more, NULL);
    t->made = true;

    return true;
}

void pl_tasks_clear(pl_tasks *t)
{
    if (t->made) {
        pthread_cond_destroy(&t->more);
        pthread_mutex_destroy(&t->lock);
        pl_free(t->item);
        t->made = false;
    }
}

// The lock protects the stack; counters are atomic because workers read them without it.
void pl_tasks_add(pl_tasks *t, int32_t item, int32_t parts)
{
    pthread_mutex_lock(&t->lock);
    PL_ASSERT(t->depth < t->capacity && item >= 0 && item < t->capacity && parts > 0);
    t->item[t->depth++] = item;
    t->next[item] = 0;
    t->parts[item] = parts;
    atomic_fetch_add(&t->open, parts);
    atomic_fetch_add(&t->ready, parts);
    if (t->sleepers > 0) {
        pthread_cond_broadcast(&t->more);
    }
    pthread_mutex_unlock(&t->lock);
}

// The next part of the newest item; an item leaves the stack with its last part.
static bool tasks_take(pl_tasks *t, int32_t *item, int32_t *part)
{
    pthread_mutex_lock(&t->lock);
    const bool any = t->depth > 0;
    if (any) {
        *item = t->item[t->depth - 1];
        *part = t->next[*item]++;
        atomic_fetch_sub(&t->ready, 1);
        t->depth -= t->next[*item] == t->parts[*item];
    }

    pthread_mutex_unlock(&t->lock);
    return any;
}

// Until there is a part to take or nothing left to come.
static void tasks_wait(pl_tasks *t)
{
    for (int i = 0; i < THREADS_LOOKS; ++i) {
        if (atomic_load(&t->ready) > 0 || atomic_load(&t->open) == 0) {
            return;
        }
        threads_pause();
    }

    pthread_mutex_lock(&t->lock);
    ++t->sleepers;
    while (t->depth == 0 && atomic_load(&t->open) > 0) {
        pthread_cond_wait(&t->more, &t->lock);
    }
    --t->sleepers;
    pthread_mutex_unlock(&t->lock);
}

// Works until everything added is done; the worker that finishes the last part wakes the others.
static void tasks_work(void *context, int worker)
{
    pl_tasks *t = context;
    while (atomic_load(&t->open) > 0) {
        int32_t item, part;
        if (!tasks_take(t, &item, &part)) {
            tasks_wait(t);
            continue;
        }

        t->body(t->context, item, part, worker);
        if (atomic_fetch_sub(&t->open, 1) == 1) {
            pthread_mutex_lock(&t->lock);
            pthread_cond_broadcast(&t->more);
            pthread_mutex_unlock(&t->lock);
        }
    }
}

void pl_tasks_run(pl_tasks *t, int threads, pl_task_body *body, void *context)
{
    t->body = body;
    t->context = context;
    job_run(threads, tasks_work, t);
}
