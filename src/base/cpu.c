#include "base/cpu.h"

bool
sinter__cpu_has_avx2(void)
{
#if SINTER__MAY_HAVE_AVX2
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}
