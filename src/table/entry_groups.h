/*
 * Numbers for the buckets that entries of manifests belong to, so that entries are sorted by bucket
 * without looking at their partitions again (table-layout.md 6.3).
 */
#ifndef SINTER_TABLE_ENTRY_GROUPS_H
#define SINTER_TABLE_ENTRY_GROUPS_H

#include "base/arena.h"

/** A bucket of a partition. */
typedef struct sinter__entry_group {
    sinter_bytes partition;
    int32_t bucket;
    uint32_t partition_number; /* of partitions, in the order in which they came */
} sinter__entry_group;

/** Groups by number, in the order in which they came. Zeroed with both `env` set is empty.
 *  Confined. */
typedef struct sinter__entry_groups {
    const sinter_env *env;
    sinter__arena arena; /* of partitions */
    sinter__entry_group *items;
    uint32_t count;
    uint32_t *slots;   /* numbers from 1, by partition and bucket; 0: free */
    size_t slot_count; /* a power of 2, or 0; half used at most */
    sinter_bytes *partitions;
    uint32_t partition_count;
    uint32_t *partition_slots; /* as above, by the partition's bytes */
    size_t partition_slot_count;
    uint64_t reserved_bytes;
} sinter__entry_groups;

/**
 * The number of a group, a new one if it didn't come before.
 * @param partition  copied if it is new
 * @param last       a number that was given before, whose group is tried first; any if there is
 * none
 * @return           SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget): nothing has changed
 */
sinter_status
sinter__entry_groups_number(sinter__entry_groups *groups, sinter_bytes partition, int32_t bucket,
                            uint32_t last, uint32_t *out, sinter_error *err);

/** Release what they hold; they can be used again. */
void
sinter__entry_groups_fini(sinter__entry_groups *groups);

#endif
