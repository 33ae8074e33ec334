// Before main: OpenBLAS starts threads of its own when it is loaded, and they spin for a tenth of a second
// before they sleep, on the processors that our threads want. They are ended here; it starts them again when
// a large product wants them (CHOLMOD, MUMPS, training). A program may do that before it has begun, a library
// may not.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS is POSIX 2024; asked for beside C17
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#define BLAS_BLOCK ((size_t)129 << 20) // bytes, somewhat more than each of them maps

// OpenBLAS' own calls; another BLAS has none
extern int blas_thread_shutdown_(void) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

// Where the system refuses their memory they ask again for ever, and waiting for their end would not end.
static bool start_has_room(void)
{
    const size_t bytes = BLAS_BLOCK * (size_t)openblas_get_num_threads();
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED && munmap(block, bytes) == 0;
}

__attribute__((constructor)) static void start_blas(void)
{
    if (blas_thread_shutdown_ && openblas_get_num_threads && start_has_room()) {
        blas_thread_shutdown_();
    }
}
