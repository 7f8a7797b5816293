/*
 * Spans: neighbouring blocks that are read together, one span being used while the next is on its
 * way.
 */
#ifndef SINTER_SST_SPAN_H
#define SINTER_SST_SPAN_H

#include "sst/index_cursor.h"

/** Blocks begin..end of a leaf page that are read in one go. */
typedef struct sinter__span {
    sinter__leaf *leaf; /* one of the planner's two */
    uint32_t begin;
    uint32_t end;
    uint32_t next; /* block to be used next */
    enum { SINTER__SPAN_EMPTY, SINTER__SPAN_PLANNED, SINTER__SPAN_BEGUN, SINTER__SPAN_READ } state;
    uint64_t offset;
    uint64_t size;
    sinter__scratch bytes;
    size_t lent_bytes;   /* that were asked for */
    void *lent;          /* memory of the io that holds the bytes instead; NULL: none */
    const uint8_t *data; /* first byte of the span, in `bytes` or `lent` */
    sinter_io_ticket ticket;
    sinter_io_range range; /* of the read that was begun */
} sinter__span;

/** Plans and reads spans in file order. Zeroed with the borrowed parts set is ready. Confined. */
typedef struct sinter__span_reader {
    sinter__sst_file *file; /* borrowed */
    sinter__index_cursor cursor;
    uint32_t read_bytes;
    bool is_direct;       /* read whole aligned pages to aligned memory: without a copy */
    bool keys_only;       /* read key parts alone */
    bool has_end_key;     /* blocks at or behind end_key are not read */
    sinter_bytes end_key; /* borrowed */
    sinter__leaf leaves[2];
    sinter__leaf *planned_leaf; /* the one the next span is cut from; NULL: none yet */
    uint32_t planned_block;     /* first block of that leaf not yet in a span */
    bool is_at_end;             /* no more blocks to plan */
    sinter__span spans[2];
    uint32_t current; /* span being used; the other one is ahead */
} sinter__span_reader;

/**
 * The entry of the block to be used next, without reading it.
 * @return SINTER_OK, SINTER_END, or as of sinter__index_cursor_next()
 */
sinter_status
sinter__span_peek(sinter__span_reader *reader, const sinter__sst_entry **out,
                  const sinter__leaf **leaf_out, sinter_error *err);

/**
 * Go to that block and make its bytes ready: `*stored_out` is its first byte, or, with keys only,
 * the first byte of its key part. They and the leaf live until the next call.
 */
sinter_status
sinter__span_next(sinter__span_reader *reader, const sinter__sst_entry **out,
                  const uint8_t **stored_out, sinter_error *err);

/**
 * Begin the read of what comes first, unless it was begun or the memory budget refuses it.
 * @return SINTER_OK, or as of sinter__span_peek() and of reading
 */
sinter_status
sinter__span_begin(sinter__span_reader *reader, sinter_error *err);

/** Were the reads of all blocks that are left begun? */
bool
sinter__span_has_begun_all(const sinter__span_reader *reader);

/** Stand before the first block whose last key is >= `key`, or before the first (NULL data). */
sinter_status
sinter__span_seek(sinter__span_reader *reader, sinter_bytes key, sinter_error *err);

/** Wait for reads and release. */
void
sinter__span_reader_fini(sinter__span_reader *reader);

#endif
