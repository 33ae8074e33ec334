// The work memory of OpenBLAS. It maps one block of 128 MB for every thread that multiplies at the same time,
// keeps it, and where the system refuses the memory it asks again for ever. So the blocks are asked for here,
// after a look at whether the system would give them, before a factor is created: the answer to a limit that
// is too small is a sentence.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS is POSIX 2024; asked for beside C17
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "solver/solver_impl.h"

#define BLAS_BLOCK ((size_t)129 << 20) // bytes, somewhat more than OpenBLAS takes
#define BLAS_MOST 40                   // OpenBLAS has room for 50 blocks at least

// OpenBLAS' own calls, which another BLAS does not have
extern void *blas_memory_alloc(int where) __attribute__((weak));
extern void blas_memory_free(void *block) __attribute__((weak));

static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;
static int blas_ready; // blocks OpenBLAS has

static bool blas_is_limited(void)
{
    static const int which[] = {RLIMIT_AS, RLIMIT_DATA};
    for (int i = 0; i < PL_COUNT(which); ++i) {
        struct rlimit limit;
        if (getrlimit(which[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
            return true;
        }
    }

    return false;
}

static bool blas_block_fits(void)
{
    void *block = mmap(NULL, BLAS_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED && munmap(block, BLAS_BLOCK) == 0;
}

// Takes blocks until there are `wanted`, and gives them back to OpenBLAS's store; how many there are.
static int blas_take(int wanted)
{
    void *block[BLAS_MOST];
    int count = 0;

    while (count < wanted && (count < blas_ready || blas_block_fits())) {
        block[count++] = blas_memory_alloc(0);
    }
    for (int i = 0; i < count; ++i) {
        blas_memory_free(block[i]);
    }

    return count;
}

pl_status solver_blas_reserve(pl_error *err)
{
    if (!blas_memory_alloc || !blas_memory_free || !blas_is_limited()) {
        return PL_OK;
    }

    const int threads = pl_threads_get(), wanted = threads < BLAS_MOST ? threads : BLAS_MOST;
    pthread_mutex_lock(&blas_lock);
    if (blas_ready < wanted) {
        blas_ready = blas_take(wanted);
    }

    const int ready = blas_ready;
    pthread_mutex_unlock(&blas_lock);
    if (ready >= wanted) {
        return PL_OK;
    }

    return pl_fail(err, PL_NO_MEMORY,
                   "solver: no memory: the linear algebra needs 128 MB of address space for each of %d "
                   "threads and this process is limited (ulimit -v, -d); raise the limit%s",
                   wanted, wanted > 1 ? " or use fewer threads (--threads 1)" : "");
}
