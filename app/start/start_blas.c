// Before anything else in a program: OpenBLAS starts threads of its own when it is loaded, and they spin for a
// tenth of a second before they sleep, each on a processor that our threads want. They shall sleep at once.
// Its setting is an environment variable that it reads when it is loaded, before main begins; whoever has set
// it keeps it.
#define _DEFAULT_SOURCE // setenv; asked for beside C17
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void start_blas(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0); // 2^4 cycles, the least
}

// run by the dynamic linker before the libraries' own beginnings
__attribute__((section(".preinit_array"), used)) static void (*const start_first)(int, char **,
                                                                                 char **) = start_blas;
#endif
typedef int start_not_empty; // where there is nothing to do
