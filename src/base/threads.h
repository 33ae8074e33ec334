// Threads of our own: one pool for the process, used for a moment at a time by whoever has work to share.
//
// A loop or a set of tasks runs on the calling thread and on as many of the pool's threads as are free to
// help; the caller never waits for a helper to wake up, only for helpers that are in the middle of a piece.
// While one thread uses the pool, the loops of others (other solvers, or a loop inside a loop) run on their
// own thread alone, so nothing can deadlock. Which thread works on which piece is left open: bodies write to
// places of their own, and sums over pieces are taken afterwards in a fixed order, so the bits do not depend
// on the count.
#ifndef PL_BASE_THREADS_H
#define PL_BASE_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PL_THREADS_MAX 128

// The pool's threads start at the first loop that is worth it and end when the last holder lets go. Objects
// with loops hold the pool for as long as they live.
void pl_threads_hold(void);
void pl_threads_release(void);

// Runs body(context, from, to) on pieces of 0 .. count that together make the whole. `grain`: the smallest
// piece worth handing over, some microseconds of work; a loop of no more than one grain runs on the caller.
typedef void pl_loop_body(void *context, int64_t from, int64_t to);
void pl_loop(int64_t count, int64_t grain, pl_loop_body *body, void *context);

// The largest of several values from several threads: value = max(value, x).
void pl_atomic_max(_Atomic double *value, double x);

// Tasks that lead to further tasks. An item 0 .. capacity - 1 is a group of independent parts; it may be
// added again once all its parts have been taken. The newest item comes first.
typedef void pl_task_body(void *context, int32_t item, int32_t part, int worker);

typedef struct pl_tasks {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int32_t *item;           // the stack
    int32_t *next, *parts;   // per item: the next part to take, and how many there are
    int32_t capacity, depth; // items, on the stack
    int sleepers;            // threads that wait for `more`
    atomic_int ready;        // parts that wait on the stack
    atomic_int open;         // parts added and not yet done
    pl_task_body *body;
    void *context;
    bool made; // by pl_tasks_init
} pl_tasks;

bool pl_tasks_init(pl_tasks *tasks, int32_t capacity); // false when out of memory
void pl_tasks_clear(pl_tasks *tasks);                  // a zeroed one is fine
void pl_tasks_add(pl_tasks *tasks, int32_t item, int32_t parts);

// Runs all that has been added and all that these add; `worker` is 0 (the caller) .. threads - 1.
void pl_tasks_run(pl_tasks *tasks, int threads, pl_task_body *body, void *context);

#endif
