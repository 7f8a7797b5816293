#include "table/entry_groups.h"

#include "base/bytes.h"
#include "base/hash.h"

enum { SLOTS_MIN = 64 };

static sinter_status
reserve(sinter__entry_groups *self, uint64_t bytes, sinter_error *err)
{
    SINTER__CHECK(sinter_memory_reserve(self->env->memory, bytes, err));
    self->reserved_bytes += bytes;
    return SINTER_OK;
}

static size_t
more_slots(size_t slot_count)
{
    return slot_count == 0 ? SLOTS_MIN : 2 * slot_count;
}

/* ---- partitions ---- */

static uint32_t *
find_partition(const sinter__entry_groups *self, sinter_bytes partition)
{
    const size_t mask = self->partition_slot_count - 1;
    size_t at = (size_t)sinter__hash_seeded(partition.data, partition.size, 0) & mask;

    while (self->partition_slots[at] != 0 &&
           !sinter__key_equal(self->partitions[self->partition_slots[at] - 1], partition)) {
        at = (at + 1) & mask;
    }
    return &self->partition_slots[at];
}

static sinter_status
make_partition_room(sinter__entry_groups *self, sinter_error *err)
{
    const size_t wanted = more_slots(self->partition_slot_count);
    uint32_t *slots = NULL;

    if (self->partition_count < self->partition_slot_count / 2) {
        return SINTER_OK;
    }
    SINTER__CHECK(reserve(self,
                          (wanted - self->partition_slot_count) *
                              (sizeof *slots + sizeof *self->partitions / 2),
                          err));
    SINTER__CHECK(sinter__resize(self->env, (void **)&self->partitions, wanted / 2,
                                 sizeof *self->partitions, err));
    SINTER__CHECK(SINTER__NEW(self->env, slots, wanted, err));
    sinter__free(self->env, self->partition_slots);
    self->partition_slots = slots;
    self->partition_slot_count = wanted;
    for (uint32_t i = 0; i < self->partition_count; i++) {
        *find_partition(self, self->partitions[i]) = i + 1;
    }
    return SINTER_OK;
}

static sinter_status
number_partition(sinter__entry_groups *self, sinter_bytes partition, uint32_t *out,
                 sinter_error *err)
{
    uint32_t *slot = NULL;

    SINTER__CHECK(make_partition_room(self, err));
    slot = find_partition(self, partition);
    if (*slot == 0) {
        SINTER__CHECK(reserve(self, partition.size, err));
        SINTER__CHECK(sinter__arena_copy(&self->arena, partition,
                                         &self->partitions[self->partition_count], err));
        *slot = ++self->partition_count;
    }
    *out = *slot - 1;
    return SINTER_OK;
}

/* ---- groups ---- */

static uint32_t *
find_group(const sinter__entry_groups *self, uint32_t partition_number, int32_t bucket)
{
    const uint64_t mixed =
        ((uint64_t)partition_number << 32 | (uint32_t)bucket) * UINT64_C(0x9e3779b97f4a7c15);
    const size_t mask = self->slot_count - 1;
    size_t at = (size_t)(mixed >> 32) & mask;

    while (self->slots[at] != 0 &&
           (self->items[self->slots[at] - 1].bucket != bucket ||
            self->items[self->slots[at] - 1].partition_number != partition_number)) {
        at = (at + 1) & mask;
    }
    return &self->slots[at];
}

static sinter_status
make_group_room(sinter__entry_groups *self, sinter_error *err)
{
    const size_t wanted = more_slots(self->slot_count);
    uint32_t *slots = NULL;

    if (self->count < self->slot_count / 2) {
        return SINTER_OK;
    }
    SINTER__CHECK(reserve(
        self, (wanted - self->slot_count) * (sizeof *slots + sizeof *self->items / 2), err));
    SINTER__CHECK(
        sinter__resize(self->env, (void **)&self->items, wanted / 2, sizeof *self->items, err));
    SINTER__CHECK(SINTER__NEW(self->env, slots, wanted, err));
    sinter__free(self->env, self->slots);
    self->slots = slots;
    self->slot_count = wanted;
    for (uint32_t i = 0; i < self->count; i++) {
        *find_group(self, self->items[i].partition_number, self->items[i].bucket) = i + 1;
    }
    return SINTER_OK;
}

/* Most entries belong to the group of the one before, or to another bucket of its partition. */
sinter_status
sinter__entry_groups_number(sinter__entry_groups *groups, sinter_bytes partition, int32_t bucket,
                            uint32_t last, uint32_t *out, sinter_error *err)
{
    const sinter__entry_group *before = last < groups->count ? &groups->items[last] : NULL;
    const bool is_same = before != NULL && sinter__key_equal(before->partition, partition);
    uint32_t partition_number = 0;
    uint32_t *slot = NULL;

    if (is_same && before->bucket == bucket) {
        *out = last;
        return SINTER_OK;
    }
    /* First, so that there is no partition without a group. `before` is not looked at again, as
     * groups may move. */
    partition_number = is_same ? before->partition_number : 0;
    SINTER__CHECK(make_group_room(groups, err));
    if (!is_same) {
        SINTER__CHECK(number_partition(groups, partition, &partition_number, err));
    }
    slot = find_group(groups, partition_number, bucket);
    if (*slot == 0) {
        groups->items[groups->count] =
            (sinter__entry_group){.partition = groups->partitions[partition_number],
                                  .bucket = bucket,
                                  .partition_number = partition_number};
        *slot = ++groups->count;
    }
    *out = *slot - 1;
    return SINTER_OK;
}

void
sinter__entry_groups_fini(sinter__entry_groups *groups)
{
    sinter_memory_release(groups->env->memory, groups->reserved_bytes);
    sinter__arena_fini(&groups->arena);
    sinter__free(groups->env, groups->items);
    sinter__free(groups->env, groups->slots);
    sinter__free(groups->env, groups->partitions);
    sinter__free(groups->env, groups->partition_slots);
    *groups = (sinter__entry_groups){.env = groups->env, .arena.env = groups->env};
}
