/*
 * Walks the index of a file leaf page by leaf page; one page per level is in memory.
 */
#ifndef SINTER_SST_INDEX_CURSOR_H
#define SINTER_SST_INDEX_CURSOR_H

#include "sst/file.h"

/** A leaf page, decoded. Zeroed is empty; entries point into `bytes`. */
typedef struct sinter__leaf {
    sinter__scratch bytes;
    sinter__scratch entry_memory;
    sinter__sst_entry *entries;
    uint32_t count;
    uint64_t offset; /* of the page */
    uint32_t size;
    uint64_t filter_offset; /* of the filter section, which ends where the page begins */
    uint64_t filter_checksum;
    uint32_t filter_size;
    bool is_last; /* no leaf follows */
} sinter__leaf;

/** A place of something in the file. */
typedef struct sinter__extent {
    uint64_t offset;
    uint64_t size;
} sinter__extent;

/** An upper page on the way from the root to the current leaf. */
typedef struct sinter__upper_page {
    sinter__scratch bytes;
    sinter__extent place;
    size_t position;       /* of the next entry */
    size_t end;            /* of the entries */
    uint32_t left;         /* entries not yet taken */
    sinter_bytes last_key; /* as the page above says, into its bytes; data NULL: root */
} sinter__upper_page;

/** Zeroed with `file` set stands before the first leaf. Confined. */
typedef struct sinter__index_cursor {
    sinter__sst_file *file; /* borrowed */
    uint32_t depth;         /* upper pages loaded, from the root */
    bool is_placed;         /* the root was loaded or, being a leaf, taken */
    uint64_t floor;         /* what comes next must not stand before this */
    sinter__scratch last_key;
    size_t last_key_size;
    bool has_last_key; /* keys of the next leaf must be above last_key */
    sinter__upper_page path[SINTER__SST_LEVEL_COUNT_MAX];
    /* Told of each upper page when the walk leaves it; NULL: nobody wants to know. */
    sinter_status (*leave)(void *ctx, sinter__extent place, sinter_error *err);
    void *leave_ctx;
} sinter__index_cursor;

/**
 * Load the next leaf page into `leaf`.
 *
 * Everything a page claims is checked: checksum, sizes, that entries and pages stand in file order
 * without gaps or overlaps, that keys ascend. So a walk ends, whatever the bytes.
 *
 * @return SINTER_OK, SINTER_END after the last leaf, SINTER_E_CORRUPT with file and offset,
 *         SINTER_E_UNSUPPORTED (codec), or as of reading
 */
sinter_status
sinter__index_cursor_next(sinter__index_cursor *cursor, sinter__leaf *leaf, sinter_error *err);

/**
 * Load the leaf page that holds the first block whose last key is >= `key`.
 * @return as above; SINTER_END if all keys are below `key`
 */
sinter_status
sinter__index_cursor_seek(sinter__index_cursor *cursor, sinter_bytes key, sinter__leaf *leaf,
                          sinter_error *err);

/** Check what an entry claims about its block. NULL, or what is wrong. */
const char *
sinter__sst_entry_fault(const sinter__sst_entry *entry);

/** The first block of the leaf whose last key is >= `key`; `count` if there is none. */
uint32_t
sinter__leaf_find(const sinter__leaf *leaf, sinter_bytes key);

/** Read and verify the leaf's filter section into `out`. */
sinter_status
sinter__leaf_load_filters(sinter__sst_file *file, const sinter__leaf *leaf, sinter__scratch *out,
                          sinter_error *err);

void
sinter__leaf_fini(const sinter_env *env, sinter__leaf *leaf);

void
sinter__index_cursor_fini(sinter__index_cursor *cursor);

#endif
