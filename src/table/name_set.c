#include "table/name_set.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/hash.h"

enum { SLOTS_MIN = 64 };

void
sinter__name_set_fini(sinter__name_set *set)
{
    if (set->arena.env != NULL) {
        sinter__free(set->arena.env, set->slots);
        sinter__arena_fini(&set->arena);
    }
    set->slots = NULL;
    set->slot_count = set->count = 0;
}

/** The slot of a name, or the free one where it would be. */
static sinter_bytes *
find(sinter_bytes *slots, size_t slot_count, sinter_bytes name)
{
    size_t at = (size_t)sinter__hash(name.data, name.size) & (slot_count - 1);

    while (slots[at].size != 0 && !sinter__key_equal(slots[at], name)) {
        at = (at + 1) & (slot_count - 1);
    }
    return &slots[at];
}

static sinter_status
make_room(sinter__name_set *set, sinter_error *err)
{
    const size_t wanted = set->slot_count == 0 ? SLOTS_MIN : 2 * set->slot_count;
    sinter_bytes *slots = NULL;

    if (set->count < set->slot_count / 2) {
        return SINTER_OK;
    }
    SINTER__CHECK(SINTER__NEW(set->arena.env, slots, wanted, err));
    for (size_t i = 0; i < set->slot_count; i++) {
        if (set->slots[i].size != 0) {
            *find(slots, wanted, set->slots[i]) = set->slots[i];
        }
    }
    sinter__free(set->arena.env, set->slots);
    set->slots = slots;
    set->slot_count = wanted;
    return SINTER_OK;
}

sinter_status
sinter__name_set_add(sinter__name_set *set, sinter_bytes name, bool *is_new_out, sinter_error *err)
{
    sinter_bytes *slot = NULL;
    sinter_bytes copy;

    assert(name.size > 0);
    SINTER__CHECK(make_room(set, err));
    slot = find(set->slots, set->slot_count, name);
    if (is_new_out != NULL) {
        *is_new_out = slot->size == 0;
    }
    if (slot->size != 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_copy(&set->arena, name, &copy, err));
    *slot = copy;
    set->count++;
    return SINTER_OK;
}

bool
sinter__name_set_has(const sinter__name_set *set, sinter_bytes name)
{
    return set->slot_count > 0 && find(set->slots, set->slot_count, name)->size != 0;
}
