/*
 * The rewriter that merges files into new ones (spec/compaction.md 13.1).
 */
#ifndef SINTER_COMPACT_MERGE_REWRITER_H
#define SINTER_COMPACT_MERGE_REWRITER_H

#include "compact/result.h"

/** Merges sections for one task and answers for the files it made until commit. Confined. */
typedef struct sinter__merge_rewriter sinter__merge_rewriter;

/**
 * Make a rewriter for a task that was loaded and checked.
 *
 * @param env   with io; borrowed until destroy
 * @param task  borrowed until destroy; its options are set
 * @return      SINTER_OK, SINTER_E_INVALID (no base directory, no io), SINTER_E_NOMEM, failures of
 *              the io
 */
sinter_status
sinter__merge_rewriter_create(const sinter_env *env, const sinter_compact_task *task,
                              sinter__merge_rewriter **out, sinter_error *err);

/** The interface that a task calls; lives as long as the rewriter. */
const sinter_rewriter *
sinter__merge_rewriter_get(const sinter__merge_rewriter *rewriter);

/** Make the new files' names durable, read them back if the options ask for it, and give the files
 *  to the caller. Phase "sync" of `result`. */
sinter_status
sinter__merge_rewriter_commit(sinter__merge_rewriter *rewriter, sinter_compact_result *result,
                              sinter_error *err);

/** Release; takes NULL. Without a commit every file that was made is removed: the one path that
 *  failure, cancellation and an error of the merge function take. */
void
sinter__merge_rewriter_destroy(sinter__merge_rewriter *rewriter);

#endif
