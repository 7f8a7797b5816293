/*
 * Builds the index of a file: leaf pages behind the blocks they describe, upper pages above them,
 * one root at the end. One page per level is held in memory.
 */
#ifndef SINTER_SST_INDEX_WRITER_H
#define SINTER_SST_INDEX_WRITER_H

#include "sst/layout.h"
#include "sst/sink.h"

/** A page that is being filled. */
typedef struct sinter__open_page {
    sinter__pile bytes; /* header and entries; empty: no entry yet */
    uint32_t entry_count;
    uint32_t written_count; /* pages of this level already in the file */
    uint64_t rows;
    uint64_t blocks;
    size_t last_key_begin; /* of the last entry, in `bytes` */
    size_t last_key_size;
} sinter__open_page;

/** Zeroed with `sink` and `page_bytes` set is empty. Confined. */
typedef struct sinter__index_writer {
    sinter__sst_sink *sink; /* borrowed */
    uint32_t page_bytes;
    uint32_t largest_page; /* written so far */
    sinter__pile filters;  /* of the open leaf page */
    sinter__open_page levels[SINTER__SST_LEVEL_COUNT_MAX];
} sinter__index_writer;

/**
 * Add a block and its filter (may be empty); its keys are copied. `entry->filter_offset` and
 * `filter_size` are set here. May write pages. The block must end where the sink ends.
 */
sinter_status
sinter__index_writer_add(sinter__index_writer *index, const sinter__sst_entry *entry,
                         sinter_bytes filter, sinter_error *err);

/** Bytes that wait to be written: pages with their checksums, and filters. */
uint64_t
sinter__index_writer_pending(const sinter__index_writer *index);

/** Write what is left; the root's place goes into the footer. */
sinter_status
sinter__index_writer_finish(sinter__index_writer *index, sinter__sst_footer *footer,
                            sinter_error *err);

void
sinter__index_writer_fini(sinter__index_writer *index);

#endif
