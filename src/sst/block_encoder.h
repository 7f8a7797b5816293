/*
 * Turns the open block of a writer into stored bytes at the end of its sink.
 */
#ifndef SINTER_SST_BLOCK_ENCODER_H
#define SINTER_SST_BLOCK_ENCODER_H

#include "sst/codec.h"
#include "sst/open_block.h"
#include "sst/sink.h"

/** Zeroed with `sink`, `choice` and `contexts.env` set is ready. Confined. */
typedef struct sinter__block_encoder {
    sinter__sst_sink *sink; /* borrowed */
    sinter__codec_choice choice;
    sinter__codec contexts;
    sinter__scratch key_part; /* raw, before the codec */
    uint64_t blocks;          /* encoded so far */
    bool keys_are_packed;     /* the last trial found the codec worth it for keys */
} sinter__block_encoder;

/** The columns of a block, to be looked through or encoded. */
sinter__sst_columns
sinter__open_block_columns(const sinter__open_block *block);

/**
 * Put value part, key part and trailer into the sink. Without a codec the values must stand where
 * the sink reserves room next; `block->values` follows if the sink moves.
 *
 * @param entry  offset, sizes, codecs, checksums and streams are filled in
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget), or as the io
 */
sinter_status
sinter__block_encoder_put(sinter__block_encoder *encoder, sinter__open_block *block,
                          const sinter__sst_summary *summary, sinter__sst_entry *entry,
                          sinter_error *err);

void
sinter__block_encoder_fini(sinter__block_encoder *encoder);

#endif
