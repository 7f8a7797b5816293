/*
 * Turns a filled block into stored bytes, its index entry and its key filter.
 */
#ifndef SINTER_SST_BLOCK_ENCODER_H
#define SINTER_SST_BLOCK_ENCODER_H

#include "sst/codec.h"
#include "sst/open_block.h"

/** Working memory of one thread that encodes. Zeroed with `choice`, `filter_bits` and
 *  `contexts.env` set is ready. Confined. */
typedef struct sinter__block_encoder {
    sinter__codec_choice choice;
    uint32_t filter_bits; /* per key; 0: no filter */
    sinter__codec contexts;
    sinter__scratch key_part; /* raw, before the codec */
    sinter__scratch prefixes;
    sinter__scratch shared; /* lengths that keys share with the key before them */
} sinter__block_encoder;

/** How the keys of a block are stored: flags. */
typedef uint32_t sinter__key_packing;
enum {
    SINTER__KEYS_PLAIN = 0,
    SINTER__KEYS_PACKED = 1 << 0,      /* through the codec */
    SINTER__KEYS_FRONT_CODED = 1 << 1, /* without what they share with the key before them */
    SINTER__KEYS_TRIED = 1 << 2        /* by itself: each way if it gains enough, which is told */
};

/** Which blocks of a file try how their keys are best stored, and what the last trial said. Zeroed
 *  is before the first block. */
typedef struct sinter__key_trials {
    uint64_t blocks; /* that were asked for */
    sinter__key_packing gains;
} sinter__key_trials;

/** What the next block does, without codec too. After SINTER__KEYS_TRIED the outcome is put into
 *  `gains` before this is called again. */
sinter__key_packing
sinter__key_trials_next(sinter__key_trials *trials);

/** A block to be encoded, and what came of it. */
typedef struct sinter__encoding {
    const sinter__open_block *block; /* rows; without a codec its values stand at `out` */
    uint64_t first_row;              /* rows of the file before the block, for messages */
    sinter__key_packing packing;
    uint8_t *out;            /* room for sinter__block_encoder_bound() bytes */
    sinter__scratch *filter; /* where the filter is made */
    sinter__sst_entry entry; /* out: all but the offset; its keys point into the block */
    /* out: of a trial, SINTER__KEYS_PACKED and SINTER__KEYS_FRONT_CODED as they gain */
    sinter__key_packing keys_gain;
} sinter__encoding;

/** The columns of a block, to be looked through or encoded. */
sinter__sst_columns
sinter__open_block_columns(const sinter__open_block *block);

/** Room that encoding a block may need, with what packing writes over. */
size_t
sinter__block_encoder_bound(int codec, const sinter__open_block *block);

/**
 * Check the rows of a block, which has some, and put value part, key part and trailer.
 * @return SINTER_OK; SINTER_E_INVALID (rows out of order, an unknown kind); SINTER_E_TOO_LARGE (a
 *         key or value, the budget); SINTER_E_NOMEM
 */
sinter_status
sinter__block_encoder_run(sinter__block_encoder *encoder, sinter__encoding *encoding,
                          sinter_error *err);

/** The filter of an encoded block; empty if it has none. */
static inline sinter_bytes
sinter__encoding_filter(const sinter__encoding *encoding)
{
    return (sinter_bytes){encoding->filter->data, encoding->entry.filter_size};
}

void
sinter__block_encoder_fini(sinter__block_encoder *encoder);

#endif
