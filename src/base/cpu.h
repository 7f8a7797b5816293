/*
 * What the processor can do beyond what the build assumes.
 */
#ifndef SINTER_BASE_CPU_H
#define SINTER_BASE_CPU_H

#include <stdbool.h>

/** Is the code built for a processor that may have AVX2? */
#if defined(__x86_64__) && defined(__GNUC__)
#define SINTER__MAY_HAVE_AVX2 1
#else
#define SINTER__MAY_HAVE_AVX2 0
#endif

/** A function that is compiled for AVX2, where that is possible, and one that becomes part of
 *  whatever calls it: so one loop is compiled twice, for any processor and for AVX2. */
#if SINTER__MAY_HAVE_AVX2
#define SINTER__TARGET_AVX2 __attribute__((target("avx2")))
#else
#define SINTER__TARGET_AVX2
#endif
#define SINTER__INLINE static inline __attribute__((always_inline))

/** Has this processor AVX2? Any thread. Alone in its object file, so that a program can be linked
 *  with one that says no. */
bool
sinter__cpu_has_avx2(void);

#endif
