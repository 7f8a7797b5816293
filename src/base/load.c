#include "base/load.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"

sinter_status
sinter__struct_load(void *target, size_t size, const void *source, const char *name,
                    sinter_error *err)
{
    const uint32_t own_size = (uint32_t)size;
    uint32_t given = 0;

    assert(size >= sizeof own_size);
    memcpy(&given, source, sizeof given);
    if (given < sizeof given) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%s: struct_size isn't set", name);
    }
    for (size_t i = size; i < given; i++) {
        if (((const uint8_t *)source)[i] != 0) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "%s has %u bytes and uses fields that this version doesn't know",
                               name, given);
        }
    }
    memcpy(target, source, given < size ? given : size);
    memcpy(target, &own_size, sizeof own_size);
    return SINTER_OK;
}

void
sinter__struct_store(void *target, const void *source, size_t size)
{
    uint32_t given = 0;

    memcpy(&given, target, sizeof given);
    assert(size >= sizeof given);
    assert(size <= UINT32_MAX);
    given = given == 0 ? (uint32_t)size : given;
    assert(given >= sizeof given);
    memcpy(target, source, given < size ? given : size);
    if (given > size) {
        memset((uint8_t *)target + size, 0, given - size);
    }
    memcpy(target, &given, sizeof given);
}
