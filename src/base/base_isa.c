// Which instruction sets the processor has.
#include "base/isa.h"

// All of the sets that the kernels are compiled with must be there.
pl_isa pl_isa_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd")) {
        return PL_ISA_AVX512;
    }

    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return PL_ISA_AVX2;
    }
#endif
    return PL_ISA_GENERIC;
}
