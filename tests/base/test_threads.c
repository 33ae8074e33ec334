// The pool of threads: loops and tasks do all their work once for any number of threads, from several callers
// at once, inside each other and after a fork; it sleeps when idle and ends with its last user.
#include <dirent.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "base/threads.h"
#include "check.h"

#define COUNT 100000

static const int threads[] = {1, 2, 3, 8};

// Threads of this process; -1 where the system does not tell.
static int threads_alive(void)
{
    DIR *list = opendir("/proc/self/task");
    int count = list ? -2 : -1; // . and ..

    while (list && readdir(list)) {
        ++count;
    }
    if (list) {
        closedir(list);
    }

    return count;
}

static void pause_ms(int ms)
{
    const struct timespec t = {.tv_nsec = 1000000L * ms};
    nanosleep(&t, NULL);
}

// The setting wins, then the environment, then the machine.
static void test_how_many(void **state)
{
    (void)state;
    setenv("PLIANT_THREADS", "3", 1); // read once, by the first who asks
    pl_threads_set(0);
    assert_int_equal(pl_threads_get(), 3);
    pl_threads_set(5);
    assert_int_equal(pl_threads_get(), 5);
    pl_threads_set(100000);
    assert_int_equal(pl_threads_get(), PL_THREADS_MAX);
    pl_threads_set(0);
    assert_int_equal(pl_threads_get(), 3);
}

static void add_one(void *context, int64_t from, int64_t to)
{
    int *visits = context;
    assert_true(from < to);
    for (int64_t i = from; i < to; ++i) {
        ++visits[i];
    }
}

// Every index once, whatever the count and the grain.
static void test_loops(void **state)
{
    (void)state;
    static int visits[COUNT + 1];
    const int64_t counts[] = {0, 1, 2, 7, 64, 65, 1000, COUNT}, grains[] = {1, 8, 64, 100000};
    pl_threads_hold();
    for (int t = 0; t < PL_COUNT(threads); ++t) {
        pl_threads_set(threads[t]);
        for (int c = 0; c < PL_COUNT(counts); ++c) {
            for (int g = 0; g < PL_COUNT(grains); ++g) {
                memset(visits, 0, sizeof visits);
                pl_loop(counts[c], grains[g], add_one, visits);
                for (int64_t i = 0; i <= COUNT; ++i) {
                    assert_int_equal(visits[i], i < counts[c]);
                }
            }
        }
    }

    pl_threads_release();
}

typedef struct product {
    double *row;
    int64_t columns;
    _Atomic double largest;
} product;

static void product_row(void *context, int64_t from, int64_t to)
{
    double *cell = context;
    for (int64_t i = from; i < to; ++i) {
        cell[i] = 1 / (1.0 + (double)i);
    }
}

static void product_rows(void *context, int64_t from, int64_t to)
{
    product *p = context;
    for (int64_t r = from; r < to; ++r) {
        double *row = p->row + r * p->columns;
        pl_loop(p->columns, 10, product_row, row);
        for (int64_t i = 0; i < p->columns; ++i) {
            row[i] *= (double)(r + 1);
        }
        pl_atomic_max(&p->largest, row[0]);
    }
}

// Loops inside loops, and several callers at once: the same numbers as alone.
static void *many_products(void *context)
{
    product *p = context;
    for (int round = 0; round < 50; ++round) {
        p->largest = 0;
        memset(p->row, 0, 100 * (size_t)p->columns * sizeof *p->row);
        pl_loop(100, 1, product_rows, p);
    }

    return NULL;
}

static void test_together(void **state)
{
    (void)state;
    pl_threads_set(3);
    pthread_t thread[4];
    product p[4];
    for (int i = 0; i < 4; ++i) {
        p[i] = (product){.columns = 300};
        p[i].row = malloc(100 * 300 * sizeof *p[i].row);
        assert_non_null(p[i].row);
        assert_int_equal(pthread_create(&thread[i], NULL, many_products, &p[i]), 0);
    }

    for (int i = 0; i < 4; ++i) {
        pthread_join(thread[i], NULL);
        PL_CHECK_NEAR(p[i].largest, 100, 0);
        for (int64_t r = 0; r < 100; ++r) {
            for (int64_t c = 0; c < 300; ++c) {
                PL_CHECK_NEAR(p[i].row[300 * r + c], (double)(r + 1) * (1 / (1.0 + (double)c)), 0);
            }
        }
        free(p[i].row);
    }
}

// A binary tree of 2^12 - 1 items: leaves first, each of three parts; the last child adds the parent.
#define LEAVES 2048
typedef struct tree {
    pl_tasks tasks;
    atomic_int waiting[2 * LEAVES], parts[2 * LEAVES], wrong;
    int threads;
} tree;

static void tree_part(void *context, int32_t item, int32_t part, int worker)
{
    tree *t = context;
    if (worker < 0 || worker >= t->threads || part < 0 || part > 2 || atomic_load(&t->waiting[item]) != 0) {
        atomic_fetch_add(&t->wrong, 1);
    }
    if (atomic_fetch_add(&t->parts[item], 1) == 2 && item > 1 &&
        atomic_fetch_sub(&t->waiting[item / 2], 1) == 1) {
        pl_tasks_add(&t->tasks, item / 2, 3);
    }
}

static void test_tasks(void **state)
{
    (void)state;
    static tree t;
    assert_true(pl_tasks_init(&t.tasks, 2 * LEAVES));
    for (int k = 0; k < PL_COUNT(threads); ++k) {
        t.threads = threads[k];
        for (int i = 1; i < 2 * LEAVES; ++i) {
            t.parts[i] = 0;
            t.waiting[i] = i < LEAVES ? 2 : 0;
        }
        for (int i = LEAVES; i < 2 * LEAVES; ++i) {
            pl_tasks_add(&t.tasks, i, 3);
        }
        pl_tasks_run(&t.tasks, t.threads, tree_part, &t);
        assert_int_equal(t.wrong, 0);
        for (int i = 1; i < 2 * LEAVES; ++i) {
            assert_int_equal(t.parts[i], 3);
        }
    }

    pl_tasks_clear(&t.tasks);
}

// Idle threads sleep; the last release ends them; the next loop starts them again.
static void test_sleep_and_end(void **state)
{
    (void)state;
    static int visits[COUNT];
    const int others = threads_alive(); // this thread, and those of sanitizers
    pl_threads_set(4);
    for (int round = 0; round < 3; ++round) {
        pl_threads_hold();
        pl_loop(COUNT, 10, add_one, visits);
        const int alive = threads_alive();
        pause_ms(20);
        const double before = pl_cpu_seconds();
        pause_ms(200);
        PL_CHECK_BELOW(pl_cpu_seconds() - before, 0.02);
        pl_threads_release();
        if (alive >= 0) {
            assert_int_equal(alive, others + 3);
            assert_int_equal(threads_alive(), others);
        }
    }

    for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(visits[i], 3);
    }
}

// A child has no helpers of its parent; it makes its own, and the parent's go on.
static void test_fork(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); // it allows no threads after a fork
#endif
    static int visits[COUNT];
    pl_threads_set(3);
    pl_threads_hold();
    pl_loop(COUNT, 10, add_one, visits);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pl_loop(COUNT, 10, add_one, visits);
        int sum = 0;
        for (int i = 0; i < COUNT; ++i) {
            sum += visits[i];
        }
        _exit(sum == 2 * COUNT ? 7 : 1);
    }
    pl_loop(COUNT, 10, add_one, visits);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    pl_threads_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_many), cmocka_unit_test(test_loops), cmocka_unit_test(test_together),
        cmocka_unit_test(test_tasks),    cmocka_unit_test(test_fork),  cmocka_unit_test(test_sleep_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
