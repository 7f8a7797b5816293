/*
 * The write path of one bucket: a sorted write buffer, flushes to level 0, background compaction,
 * and increments for the caller's catalog (spec/compaction.md 15.3, 15.4).
 *
 * There is no write-ahead log. A row is safe once the caller's catalog holds the increment that
 * names its file; what was written after the last committed increment is gone after a crash.
 */
#ifndef SINTER_MERGE_TREE_H
#define SINTER_MERGE_TREE_H

#include "sinter/manager.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory that the write buffers of several trees share: when it is used up, the tree with the
 *  largest buffer gives way. Confined, and so are all trees that use it: to one thread. */
typedef struct sinter_write_pool sinter_write_pool;

/**
 * Make a pool.
 * @param env    allocator; borrowed until destroy
 * @param bytes  write-buffer-size of all its trees together; at least 64 KiB
 * @return       SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_write_pool_create(const sinter_env *env, uint64_t bytes, sinter_write_pool **out,
                         sinter_error *err);

/** Release; takes NULL. All its trees have been closed. */
SINTER_API void
sinter_write_pool_destroy(sinter_write_pool *pool);

/** What a merge tree is made of. Zeroed with struct_size and task set: a new bucket. */
typedef struct sinter_merge_tree_config {
    uint32_t struct_size;
    bool needs_lookup;
    bool keep_deletes;
    const char *name; /* of the bucket, for events and metrics; copied */
    /* As in sinter_manager_config. Its options also say how the write buffer works: write-buffer-*,
     * commit.force-compact, write-only, merge-engine. Its schema_id is that of new files of flushes
     * too, unless restored files have a newer one. Borrowed until close. */
    const sinter_compact_task *task;
    sinter_strategy *strategy;
    sinter_scheduler *scheduler;
    const sinter_file_meta *files; /* what the catalog holds of this bucket; copied */
    size_t count;
    int64_t max_sequence;    /* largest number that was given out, as far as the catalog knows; its
                                files may know more. Below 0: none, numbers begin with 0 */
    sinter_write_pool *pool; /* for the write buffer; NULL: write-buffer-size of its own. Borrowed
                                until close */
} sinter_merge_tree_config;

/** The write path of a bucket. Confined, but for what says otherwise. */
typedef struct sinter_merge_tree sinter_merge_tree;

/**
 * Open, with the state that the caller's catalog holds. Sequence numbers go on behind the largest
 * one known.
 *
 * @param env  borrowed until close, and until all sets and increments are released
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID as sinter_manager_create(),
 *             SINTER_E_TOO_LARGE as there; SINTER_E_OVERFLOW: a schema id is above
 *             2^32 - 1. A bucket without a sequence number left opens, and can be read and
 *             compacted; the first write fails
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_tree_open(const sinter_env *env, const sinter_merge_tree_config *config,
                       sinter_merge_tree **out, sinter_error *err);

/**
 * Cancel what runs, wait for it, release; takes NULL. Files that no increment has given away are
 * removed, each with the last set that lists it; so is what was written and not flushed.
 */
SINTER_API void
sinter_merge_tree_close(sinter_merge_tree *tree);

/**
 * Write one record. It gets the next sequence number. A full buffer is spilled before or, with
 * `write-buffer-spillable` false, flushed; a flush with more sorted runs than the compaction
 * trigger, while a compaction runs, takes longer, at most a second, so that writers slow down
 * before they have to stop. In a write pool another tree's buffer may be flushed instead, and its
 * failure comes out here.
 *
 * @param key    key bytes in memcmp order; copied. At most SINTER_KEY_BYTES_MAX
 * @param kind   sinter_kind
 * @param value  copied. At most SINTER_VALUE_BYTES_MAX
 * @return       SINTER_OK, SINTER_E_INVALID, SINTER_E_TOO_LARGE (key, value, or a record that the
 *               budget can't hold), SINTER_E_OVERFLOW, SINTER_E_NOMEM; what flushing and a
 *               compaction that was waited for fail with. After a failure the record is not in the
 *               tree; what was written before is, and the call may be tried again (after
 *               SINTER_E_NO_SPACE: once there is space)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_tree_write(sinter_merge_tree *tree, sinter_bytes key, uint8_t kind, sinter_bytes value,
                        sinter_error *err);

/**
 * Make level-0 files of what is buffered, then start a compaction if one is due. Waits for the
 * running compaction if there are more runs than the stop trigger.
 * @return as sinter_merge_tree_write()
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_tree_flush(sinter_merge_tree *tree, sinter_error *err);

/**
 * Flush, wait for the running compaction, start a new one.
 * @param full  of all files, to the highest level
 * @return      as sinter_merge_tree_write(); SINTER_E_INVALID: full with `write-only`
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_tree_compact(sinter_merge_tree *tree, bool full, sinter_error *err);

/** What changed between two commits. Owns its metadata. Confined. */
typedef struct sinter_increment sinter_increment;

/**
 * Flush, and hand over what the catalog has to learn. From here on the new files are the caller's.
 *
 * @param wait  wait for the running compaction; also done with commit.force-compact, and when there
 *              are too many runs
 * @param out   release with sinter_increment_destroy(), before the tree, or give it back
 * @return      as sinter_merge_tree_write(). After a failure nothing was handed over
 * Source: spec/compaction.md 15.4.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_tree_prepare_commit(sinter_merge_tree *tree, bool wait, sinter_increment **out,
                                 sinter_error *err);

/** Does the increment change nothing? */
SINTER_API bool
sinter_increment_is_empty(const sinter_increment *increment);

/** Files that flushes made. */
SINTER_API const sinter_file_list *
sinter_increment_new_files(const sinter_increment *increment);

/** Files that compactions retire: the catalog's own, or new files of this increment. */
SINTER_API const sinter_file_list *
sinter_increment_compact_before(const sinter_increment *increment);

/** Files that compactions made, or moved to another level. */
SINTER_API const sinter_file_list *
sinter_increment_compact_after(const sinter_increment *increment);

/** Largest sequence number given out so far; the catalog keeps it for the next open. */
SINTER_API int64_t
sinter_increment_max_sequence(const sinter_increment *increment);

/**
 * The commit of an increment failed for sure, or wasn't tried: give it back. What it says is part
 * of the next increment, so nothing that was written is lost, and no file that somebody may list is
 * removed. Sequence numbers go on.
 *
 * Increments build on each other, so they come back in the opposite order: first the one that was
 * prepared last. One that may have reached the catalog must not come back.
 *
 * @param increment  taken, unless the call fails
 * @return           SINTER_OK, SINTER_E_INVALID: a later increment that is not empty was handed out
 *                   and has not come back, or this one was committed. Needs no memory
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_tree_return(sinter_merge_tree *tree, sinter_increment *increment, sinter_error *err);

/** Release; takes NULL. Files stay. */
SINTER_API void
sinter_increment_destroy(sinter_increment *increment);

/**
 * The commit of an increment is durable: remove the files that it retired, each as soon as no
 * file set lists it. Without this call they stay, for the caller to remove.
 * @return SINTER_OK, SINTER_E_NOMEM, failures of unlink (of the first; the rest is removed too)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_tree_committed(sinter_merge_tree *tree, const sinter_increment *increment,
                            sinter_error *err);

/** The files as they are now, flushed rows only; release with sinter_file_set_release(). Any
 *  thread. A view over them is opened with sinter_view_open(). A set that outlives its tree is not
 *  known to the next tree of the bucket, which removes what it retires. */
SINTER_API const sinter_file_set *
sinter_merge_tree_acquire(sinter_merge_tree *tree);

/** Cancel the running compaction; it leaves nothing behind. Thread-safe. */
SINTER_API void
sinter_merge_tree_cancel(sinter_merge_tree *tree);

/** The manager, for its thread-safe calls, and for reading on the tree's thread. */
SINTER_API sinter_manager *
sinter_merge_tree_manager(sinter_merge_tree *tree);

/** Copy the counters, without a lock. Thread-safe. */
SINTER_API void
sinter_merge_tree_metrics_get(const sinter_merge_tree *tree, sinter_bucket_metrics *out);

#ifdef __cplusplus
}
#endif
#endif
