/*
 * Memory that write buffers share (spec/compaction.md 15.3).
 */
#ifndef SINTER_COMPACT_WRITE_POOL_H
#define SINTER_COMPACT_WRITE_POOL_H

#include "compact/write_buffer.h"
#include "sinter/merge_tree.h"

/** A tree's place in its pool. Zeroed but for the first three. */
typedef struct sinter__pool_member {
    const sinter__write_buffer *buffer;
    /** Free the memory of the buffer: flush it. */
    sinter_status (*give_way)(void *ctx, sinter_error *err);
    void *ctx;
    struct sinter__pool_member *next;
    struct sinter__pool_member *previous;
} sinter__pool_member;

void
sinter__write_pool_enter(sinter_write_pool *pool, sinter__pool_member *member);

void
sinter__write_pool_leave(sinter_write_pool *pool, sinter__pool_member *member);

/** Let the member with the largest buffer give way. @return SINTER_OK; SINTER_END: all are empty;
 *  what give_way failed with */
sinter_status
sinter__write_pool_make_room(sinter_write_pool *pool, sinter_error *err);

/** What the buffers take their pages from. */
sinter_memory *
sinter__write_pool_memory(const sinter_write_pool *pool);

#endif
