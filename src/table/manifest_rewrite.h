/*
 * Manifests merged into fewer, larger ones, before a commit adds its own.
 *
 * A full merge drops what was deleted and is tried first; it is made when the manifests that it
 * must change, those with DELETEs and those below the target, come to
 * `manifest.full-compaction-threshold-size`. Else neighbours are merged up to the target, as soon
 * as there are `manifest.merge-min-count` of them or enough bytes. The live files stay the same,
 * and so does the order in which a DELETE follows its ADD. Source: table-layout.md 13.
 */
#ifndef SINTER_TABLE_MANIFEST_REWRITE_H
#define SINTER_TABLE_MANIFEST_REWRITE_H

#include "table/new_meta.h"

/** When to merge. */
typedef struct sinter__manifest_limits {
    uint64_t target_bytes; /* manifest.target-file-size */
    uint64_t full_bytes;   /* manifest.full-compaction-threshold-size */
    uint64_t count_min;    /* manifest.merge-min-count */
} sinter__manifest_limits;

/**
 * Merge. Manifests with fields that can't be carried over together are left as they are.
 *
 * @param meta    makes the new files; they are taken back by whoever takes back the attempt
 * @param inputs  in their order; borrowed as long as the result
 * @param out     what the base list has then. Empty with `arena.env` set before; released by the
 *                caller after a failure too
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget), SINTER_E_CORRUPT,
 *                failures of the io
 */
sinter_status
sinter__manifests_rewrite(sinter__new_meta *meta, const sinter__manifest_limits *limits,
                          const sinter__manifest_list *inputs, sinter__manifest_list *out,
                          sinter_error *err);

#endif
