/*
 * Sets of files and what those of one bucket share (include/sinter/levels.h has the public part).
 */
#ifndef SINTER_COMPACT_FILE_SET_H
#define SINTER_COMPACT_FILE_SET_H

#include "compact/file_block.h"
#include "sinter/levels.h"

/**
 * What the levels of a bucket and all sets acquired from them share: the lock, and which files they
 * list, by name. Counted: the last to leave frees it.
 */
typedef struct sinter__file_home sinter__file_home;

/** Make one with one use. @param base_dir  copied; NULL: files can't be removed */
sinter_status
sinter__file_home_create(const sinter_env *env, const char *base_dir, sinter__file_home **out,
                         sinter_error *err);

/** One use less; takes NULL. */
void
sinter__file_home_release(sinter__file_home *home);

/** Where the files lie; NULL: not known. */
const char *
sinter__file_home_base_dir(const sinter__file_home *home);

/** Make room for `extra` more files. Confined to who changes the levels. */
sinter_status
sinter__file_home_reserve(sinter__file_home *home, size_t extra, sinter_error *err);

/**
 * Let `block`, which is new and has room, be known by its name: as another block of the file of
 * this name, if that is retired, or if it `is_back`, which is when the current set lists it and the
 * next one will list `block` instead.
 * @return SINTER_OK, SINTER_E_INVALID: the file waits for its removal
 */
sinter_status
sinter__file_block_join(sinter__file_home *home, sinter__file_block *block, bool is_back,
                        sinter_error *err);

/** One use of each block less. */
void
sinter__file_blocks_release(sinter__file_home *home, sinter__file_block *const *blocks,
                            size_t count);

/** Who lists a file. */
typedef enum sinter__file_use {
    SINTER__FILE_UNUSED, /* no set */
    SINTER__FILE_HELD,   /* only sets that somebody holds */
    SINTER__FILE_LISTED  /* the current set */
} sinter__file_use;

/** Remove the file of this name when its last set goes, if it is held; tell what it is. */
sinter__file_use
sinter__file_home_doom(sinter__file_home *home, const char *file_name);

/**
 * Make a set with one use.
 *
 * @param blocks  `count` of them in the order of level-sorted runs; each is used once more
 */
sinter_status
sinter__file_set_create(sinter__file_home *home, sinter__file_block *const *blocks, size_t count,
                        uint32_t num_levels, const sinter_file_set **out, sinter_error *err);

/** The blocks of the set's files, in their order. */
sinter__file_block *const *
sinter__file_set_blocks(const sinter_file_set *set);

/** Let `*current` (NULL: there is none yet) be `next` (NULL: none any more): the use of the one
 * moves into it, that of the other is the caller's. @return what it was */
const sinter_file_set *
sinter__file_set_swap(sinter__file_home *home, const sinter_file_set **current,
                      const sinter_file_set *next);

/** Acquire what `*current` is at this moment. Thread-safe. */
const sinter_file_set *
sinter__file_set_acquire_current(sinter__file_home *home, const sinter_file_set *const *current);

#endif
