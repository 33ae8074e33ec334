// Before main: OpenBLAS starts threads of its own when it is loaded, and they spin for a tenth of a second
// before they sleep, on the processors that our threads want. They are ended here; it starts them again when
// a large product wants them (CHOLMOD, MUMPS, training). A program may do that before it has begun, a library
// may not.

extern int blas_thread_shutdown_(void) __attribute__((weak)); // OpenBLAS' own call; another BLAS has none

__attribute__((constructor)) static void start_blas(void)
{
    if (blas_thread_shutdown_) {
        blas_thread_shutdown_();
    }
}
