/*
 * A file while it is written: the open block, the output buffer, the index, and sums over all of
 * it. What is appended in which order is writer.c's business.
 */
#ifndef SINTER_SST_FILE_WRITER_H
#define SINTER_SST_FILE_WRITER_H

#include "sinter/sst.h"
#include "sst/block_line.h"
#include "sst/index_writer.h"
#include "sst/payload.h"
#include "sst/sink.h"

/**
 * Zeroed is closed. Confined. With a line, blocks may be on their way into the file: then what is
 * marked belongs to them, until the line has been drained.
 */
typedef struct sinter__file_writer {
    const sinter_env *env;
    char *path;
    char *key_types;
    char *row_type;
    uint32_t block_bytes; /* target of a block's keys and values */
    int32_t codec;
    uint32_t filter_bits;
    uint32_t format_tag;
    sinter_io_file *handle;
    sinter__block_line *line; /* NULL: each block is encoded and written when it is full */
    sinter__open_block block;
    uint64_t rows; /* in ended blocks and stored ones */
    uint64_t blocks;
    sinter__block_encoder encoder;
    sinter__key_trials trials; /* the line's */
    sinter__sst_sink sink;     /* the line's, but without codec the open block's values are there */
    sinter__index_writer index; /* the line's, and what follows */
    sinter__scratch filter;
    sinter__scratch min_key;
    sinter__scratch last_key; /* of the last block that was written */
    size_t last_key_size;
    sinter__buffer user_properties; /* in the form of the section */
    sinter_sst_properties sums;
    uint64_t blocks_passed;
} sinter__file_writer;

/**
 * Begin a nameless file in the directory of the path, and write its header.
 * @param options  checked
 * @param self     zeroed; call sinter__file_writer_fini() after a failure too
 */
sinter_status
sinter__file_writer_open(const sinter_env *env, const char *path,
                         const sinter_write_options *options, sinter__file_writer *self,
                         sinter_error *err);

/** Must the open block be ended before a row of this size? */
bool
sinter__file_writer_must_end(const sinter__file_writer *self, uint64_t row_bytes);

/** Append a row, making room for it; ends the block if that makes it full. */
sinter_status
sinter__file_writer_add(sinter__file_writer *self, const sinter__single_row *row,
                        sinter_error *err);

/** End the open block, if it has rows: it is written, or on its way. Their order is checked. */
sinter_status
sinter__file_writer_end_block(sinter__file_writer *self, sinter_error *err);

/**
 * Has the file so many bytes, while no block is open? Waits for blocks on their way only if they
 * could make the difference.
 * @return SINTER_OK, or the failure of a block that was on its way
 */
sinter_status
sinter__file_writer_has_reached(sinter__file_writer *self, uint64_t size, bool *out,
                                sinter_error *err);

/** Bytes of the file and the open block. Waits for blocks on their way. */
uint64_t
sinter__file_writer_size(const sinter__file_writer *self);

/** Append a stored block of the same format as it is, while no block is open. */
sinter_status
sinter__file_writer_add_stored(sinter__file_writer *self, const sinter__sst_payload *payload,
                               sinter_error *err);

/** Write what is left, sync, publish. */
sinter_status
sinter__file_writer_finish(sinter__file_writer *self, sinter__sst_footer *footer,
                           sinter_error *err);

/** Release; a file that was not finished vanishes. */
void
sinter__file_writer_fini(sinter__file_writer *self);

#endif
