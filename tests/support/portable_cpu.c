/*
 * A processor that has nothing beyond what the build assumes. Linked before the library it takes
 * the place of base/cpu.c.
 */
#include "base/cpu.h"

bool
sinter__cpu_has_avx2(void)
{
    return false;
}
