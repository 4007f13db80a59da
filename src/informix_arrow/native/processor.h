/* What the processor can do, asked at run time where one build is for many. */
#ifndef INFORMIX_ARROW_PROCESSOR_H
#define INFORMIX_ARROW_PROCESSOR_H

#if defined(__x86_64__) || defined(_M_X64)
#define IA_X86 1
#ifdef _MSC_VER
#include <intrin.h>
#endif

#define IA_SSE41 __attribute__((target("sse4.1")))
#define IA_AVX2 __attribute__((target("avx2,bmi2"))) /* Intel's and AMD's that have the one have both */

static inline int ia_has_sse41(void)
{
#ifdef _MSC_VER
    int leaf[4];
    __cpuid(leaf, 1);
    return leaf[2] >> 19 & 1;
#else
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.1");
#endif
}

static inline int ia_has_avx2(void)
{
#ifdef _MSC_VER
    return 0; /* clang-cl links no runtime that could say whether the system saves the registers */
#else
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#endif
}
#endif

#endif
