#include "table/file_index_builder.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/fail.h"

sinter_status
sinter__index_room(const sinter_env *env, sinter__pile *pile, size_t size, uint8_t **out,
                   sinter_error *err)
{
    if (size > INT32_MAX || pile->size > INT32_MAX - size) {
        const sinter_status st = SINTER__ERR(err, SINTER_E_TOO_LARGE,
                                             "a file index of more than 2 GiB, which is the limit");

        assert(st != SINTER_OK);
        return st;
    }
    SINTER__CHECK(sinter__scratch_grow(env, &pile->memory, pile->size + size + 1, err));
    assert(pile->memory.data != NULL);
    *out = pile->memory.data + pile->size;
    pile->size += size;
    return SINTER_OK;
}

sinter_status
sinter__index_put_byte(const sinter_env *env, sinter__pile *pile, unsigned number,
                       sinter_error *err)
{
    uint8_t *to = NULL;

    assert(number <= UINT8_MAX);
    SINTER__CHECK(sinter__index_room(env, pile, 1, &to, err));
    *to = (uint8_t)number;
    return SINTER_OK;
}

sinter_status
sinter__index_put_int(const sinter_env *env, sinter__pile *pile, uint64_t number, sinter_error *err)
{
    uint8_t *to = NULL;

    SINTER__CHECK(sinter__index_room(env, pile, sizeof(uint32_t), &to, err));
    sinter__put_be32(to, (uint32_t)number);
    return SINTER_OK;
}

sinter_status
sinter__index_put_long(const sinter_env *env, sinter__pile *pile, int64_t number, sinter_error *err)
{
    uint8_t *to = NULL;

    SINTER__CHECK(sinter__index_room(env, pile, sizeof(uint64_t), &to, err));
    sinter__put_be64(to, (uint64_t)number);
    return SINTER_OK;
}

sinter_status
sinter__index_append(const sinter_env *env, sinter__pile *pile, const sinter__pile *from,
                     sinter_error *err)
{
    uint8_t *to = NULL;

    SINTER__CHECK(sinter__index_room(env, pile, from->size, &to, err));
    if (from->size > 0) {
        memcpy(to, from->memory.data, from->size);
    }
    return SINTER_OK;
}
