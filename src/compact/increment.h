/*
 * What a write path has done since its last commit (spec/compaction.md 15.4).
 */
#ifndef SINTER_COMPACT_INCREMENT_H
#define SINTER_COMPACT_INCREMENT_H

#include "compact/meta_list.h"
#include "sinter/merge_tree.h"

struct sinter_increment {
    const sinter_env *env;
    sinter__meta_list new_files;
    sinter__meta_list compact_before;
    sinter__meta_list compact_after;
    int64_t max_sequence;
    uint64_t number;        /* of those of its tree that aren't empty, from 1 on; 0: it is empty */
    sinter_increment *next; /* of those that came back: the one that was prepared after it */
};

/** An increment in place, empty; `env` is borrowed. Release with sinter__increment_fini(). */
void
sinter__increment_init(sinter_increment *increment, const sinter_env *env);

void
sinter__increment_fini(sinter_increment *increment);

/**
 * Note what a compaction did, so that a chain of compactions collapses to its net effect.
 *
 * @param gone      called for each file that an earlier compaction of this increment made and this
 *                  one replaced: nobody will name it
 * @return          SINTER_OK; SINTER_E_NOMEM: nothing was noted, and it can be tried again
 */
sinter_status
sinter__increment_note(sinter_increment *increment, const sinter_compact_result *result,
                       void (*gone)(void *ctx, const sinter_file_meta *file), void *ctx,
                       sinter_error *err);

/**
 * Note what `later` says, so that `earlier` is what it were if the two had never been parted.
 * Parameters and results as of sinter__increment_note(); `later` stays as it is.
 */
sinter_status
sinter__increment_join(sinter_increment *earlier, const sinter_increment *later,
                       void (*gone)(void *ctx, const sinter_file_meta *file), void *ctx,
                       sinter_error *err);

/**
 * Call `each` for the files that the increment makes and nobody else names, in any case for those
 * of flushes; a file may come twice. An input of an earlier commit that was upgraded is not one of
 * them. Without memory an output that was upgraded is left out.
 */
void
sinter__increment_each_own(const sinter_increment *increment,
                           void (*each)(void *ctx, const sinter_file_meta *file), void *ctx);

/** Move everything to `target`, which is empty. */
void
sinter__increment_move(sinter_increment *source, sinter_increment *target);

#endif
