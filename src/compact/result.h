/*
 * The result of a compact task while it is made (spec/compaction.md 11).
 */
#ifndef SINTER_COMPACT_RESULT_H
#define SINTER_COMPACT_RESULT_H

#include "base/arena.h"
#include "sinter/compact.h"

/** Room of a growing file list. */
typedef struct sinter__file_list {
    sinter_file_list list;
    size_t capacity;
} sinter__file_list;

struct sinter_compact_result {
    sinter_env env;      /* a copy: the result may outlive the caller's */
    sinter__arena arena; /* metadata of new files */
    sinter__file_list before;
    sinter__file_list after;
    sinter_file_decision *decisions;
    size_t decision_count;
    sinter_compact_counters counters;
    void (*release)(void *ctx); /* of what the inputs' metadata lies in; NULL: the caller's */
    void *release_ctx;
};

/** Make an empty result with a decision for each of `count` files, "kept, at-level" at first. */
sinter_status
sinter__result_create(const sinter_env *env, const sinter_file_meta *files, size_t count,
                      sinter_compact_result **out, sinter_error *err);

/** From now on the result keeps what its inputs' metadata lies in: `release` is called at its end.
 */
void
sinter__result_hold(sinter_compact_result *result, void (*release)(void *ctx), void *ctx);

/** Append a retired file; what it points to stays the caller's. */
sinter_status
sinter__result_add_before(sinter_compact_result *result, const sinter_file_meta *file,
                          sinter_error *err);

/** Append an upgraded file: equal in every field but the level (spec 2). Its level is lower. */
sinter_status
sinter__result_add_upgraded(sinter_compact_result *result, const sinter_file_meta *file,
                            int32_t level, sinter_error *err);

/** Take back what was appended to `after` last: the first `count` stay. */
void
sinter__result_cut_after(sinter_compact_result *result, size_t count);

#endif
