/*
 * Filled blocks on their way into a file: encoded by the writer's thread and a helper from the
 * executor, side by side, and written in order. A block is handed over by exchanging it for an
 * empty one, so rows are not copied. What is written where is the file writer's business.
 */
#ifndef SINTER_SST_BLOCK_LINE_H
#define SINTER_SST_BLOCK_LINE_H

#include "sst/block_encoder.h"

enum { SINTER__BLOCK_LINE_SLOTS_MAX = 64 };

/** Where encoded blocks go. Called for one block at a time, in order, on either thread; between two
 *  calls, and when nothing is on its way, the file is the writer's own. */
typedef struct sinter__block_line_end {
    sinter_status (*write)(void *ctx, sinter__encoding *encoding, sinter_error *err);
    /** Bytes of the file so far, and those of the index that may be written with the next block. */
    uint64_t (*spoken_for)(const void *ctx);
} sinter__block_line_end;

/** How to make a line. Copied; what it points to is borrowed until destroy. */
typedef struct sinter__block_line_config {
    uint32_t slots;                    /* blocks on their way at a time, at least 1 */
    uint32_t block_bytes;              /* target of a block's keys and values */
    sinter__block_encoder *encoder;    /* of the writer's thread; has a codec */
    sinter__key_trials *trials;        /* the line's while blocks are on their way */
    const sinter__block_line_end *end; /* static */
    void *ctx;                         /* of `end` */
} sinter__block_line_config;

/** A line. Confined. */
typedef struct sinter__block_line sinter__block_line;

/** Make a line with nothing on it. @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__block_line_create(const sinter_env *env, const sinter__block_line_config *config,
                          sinter__block_line **out, sinter_error *err);

/** Should this block be put on the line? Not if it takes more memory than a block of the line may,
 *  nor while the executor has no thread for it: then the writer is as fast by itself. */
bool
sinter__block_line_takes(sinter__block_line *line, const sinter__open_block *block);

/** Has the block come to hold more memory than one of the line may? */
bool
sinter__block_line_is_outgrown(const sinter__block_line *line, const sinter__open_block *block);

/**
 * Put a block, which the line takes, on its way and get an empty one for it.
 * @param first_row  rows of the file before the block
 * @return SINTER_OK, or the first failure of encoding and writing, in the order of blocks
 */
sinter_status
sinter__block_line_put(sinter__block_line *line, sinter__open_block *block, uint64_t first_row,
                       sinter_error *err);

/**
 * Wait until it is certain that the file is below this size with all blocks on their way, or until
 * there are none any more. The answer depends on the blocks only, but for when it comes.
 * @param is_below_out  true: it surely is below; false: nothing is on its way
 */
sinter_status
sinter__block_line_settle(sinter__block_line *line, uint64_t size, bool *is_below_out,
                          sinter_error *err);

/** Wait until nothing is on its way; the file is the writer's own then, also after a failure. */
sinter_status
sinter__block_line_drain(sinter__block_line *line, sinter_error *err);

/** Release; blocks on their way are dropped. Takes NULL. */
void
sinter__block_line_destroy(sinter__block_line *line);

/** Bytes of the memory budget that a line takes, at most, beside the writer's own encoder. */
uint64_t
sinter__block_line_bytes(uint32_t slots, uint32_t block_bytes, sinter__codec_choice choice,
                         uint32_t filter_bits);

#endif
