// Instruction sets that hot kernels (*_kernel.c) are compiled for, one copy each, and the choice at run time.
#ifndef PL_BASE_ISA_H
#define PL_BASE_ISA_H

// in ascending order: each has what those before it have
typedef enum pl_isa { PL_ISA_GENERIC, PL_ISA_AVX2, PL_ISA_AVX512 } pl_isa;

pl_isa pl_isa_best(void); // of those, what this processor has

// A kernel file is compiled with PL_ISA as one of the names generic, avx2, avx512.
#define PL_CAT2(a, b) a##b
#define PL_CAT(a, b) PL_CAT2(a, b)
#define PL_TEXT2(a) #a
#define PL_TEXT(a) PL_TEXT2(a)

#endif
