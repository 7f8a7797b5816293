/*
 * A file while it is written: the open block, the output buffer, the index, and sums over all of
 * it. What is appended in which order is writer.c's business.
 */
#ifndef SINTER_SST_FILE_WRITER_H
#define SINTER_SST_FILE_WRITER_H

#include "sinter/sst.h"
#include "sst/block_encoder.h"
#include "sst/index_writer.h"
#include "sst/payload.h"

/** Zeroed is closed. Confined. */
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
    sinter__sst_sink sink;
    sinter__index_writer index;
    sinter__block_encoder encoder;
    sinter__key_trials trials;
    sinter__open_block block;
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

/** Write the open block, if it has rows. Here their order is checked. */
sinter_status
sinter__file_writer_end_block(sinter__file_writer *self, sinter_error *err);

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
