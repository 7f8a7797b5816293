/*
 * Copies of file metadata that several sets of files share.
 */
#ifndef SINTER_COMPACT_FILE_BLOCK_H
#define SINTER_COMPACT_FILE_BLOCK_H

#include "sinter/compact.h"

/**
 * The metadata of one file with all that it points to, in one piece of memory. Immutable but for
 * the counts.
 *
 * An upgraded file has another block, as its level is another, and is still the same file on disk.
 * All its blocks hold the first one, the root: only when the root goes, nobody lists the file.
 */
typedef struct sinter__file_block sinter__file_block;
struct sinter__file_block {
    sinter_file_meta meta;
    sinter__file_block *root; /* itself in a root */
    /* The mutex of the sets that share the block guards what follows. */
    uint32_t uses;            /* sets that list it, who makes it, and for a root its other blocks */
    uint32_t listed;          /* of a root: whether the current set lists one of its blocks */
    bool is_named;            /* a root that can be found by its name */
    bool is_retired;          /* of a root: it was listed and isn't any more */
    bool is_doomed;           /* of a root: the file is removed when it goes */
    uint64_t hash;            /* of the name, of one that is_named */
    sinter__file_block *next; /* with names that hash alike; then, of those that are to be freed */
};

/** Copy metadata into a new block, a root with one use. It passed sinter__file_meta_check().
 *  Release with sinter__free(). @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__file_block_create(const sinter_env *env, const sinter_file_meta *file,
                          sinter__file_block **out, sinter_error *err);

/** Are two files equal in all fields (spec/compaction.md 2)? upgraded_from is none. */
bool
sinter__file_meta_equal(const sinter_file_meta *a, const sinter_file_meta *b);

#endif
