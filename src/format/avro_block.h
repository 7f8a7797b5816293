/*
 * The codecs of Avro's object container files: null, deflate, zstandard, snappy.
 *
 * But for snappy nothing in a container says how many bytes a block decodes to, and Paimon's zstd
 * frames don't either, so room is made as it is needed, up to a limit and the memory budget.
 */
#ifndef SINTER_FORMAT_AVRO_BLOCK_H
#define SINTER_FORMAT_AVRO_BLOCK_H

#include "sst/scratch.h"

/** Codecs by their names in `avro.codec`. */
typedef enum sinter__avro_codec {
    SINTER__AVRO_CODEC_NULL = 0,
    SINTER__AVRO_CODEC_DEFLATE = 1,
    SINTER__AVRO_CODEC_ZSTANDARD = 2,
    SINTER__AVRO_CODEC_SNAPPY = 3
} sinter__avro_codec;

/** Contexts and room of one reader or writer. Zeroed with `env` set is ready. Confined. */
typedef struct sinter__avro_coder {
    const sinter_env *env;
    struct ZSTD_CCtx_s *encoder;
    struct ZSTD_DCtx_s *decoder;
    uint64_t reserved_bytes; /* of the contexts, in the memory budget */
    sinter__scratch room;    /* what was decoded or encoded last */
    uint32_t encoded;        /* blocks, with zstd */
    bool likes_small;        /* by the last one that was tried: a smaller table finds as much */
} sinter__avro_coder;

/** The name as files have it, "zstandard". */
const char *
sinter__avro_codec_name(sinter__avro_codec codec);

/**
 * Find a codec by the name that a file has; an empty name is "null".
 * @return SINTER_OK; SINTER_E_UNSUPPORTED, naming what this build knows
 */
sinter_status
sinter__avro_codec_find(sinter_bytes name, sinter__avro_codec *out, sinter_error *err);

/**
 * Decode a block.
 *
 * @param raw_max  more bytes than these are SINTER_E_TOO_LARGE
 * @param raw      what it holds, until the next call; with codec null, `stored` itself
 * @return         SINTER_OK, SINTER_E_CORRUPT, SINTER_E_TOO_LARGE (also the budget), SINTER_E_NOMEM
 */
sinter_status
sinter__avro_block_decode(sinter__avro_coder *self, sinter__avro_codec codec, sinter_bytes stored,
                          uint64_t raw_max, sinter_bytes *raw, sinter_error *err);

/** Bytes of the memory budget that decoding blocks of `raw` bytes takes at most. */
uint64_t
sinter__avro_decoder_bytes(sinter__avro_codec codec, uint64_t raw);

/** A codec and how hard it tries. */
typedef struct sinter__avro_codec_choice {
    sinter__avro_codec codec;
    int level; /* zstd; 0 counts as 1 */
} sinter__avro_codec_choice;

/**
 * Encode a block.
 *
 * @param stored  the bytes to write, until the next call; with codec null, `raw` itself
 * @return        SINTER_OK, SINTER_E_TOO_LARGE (the budget), SINTER_E_NOMEM
 */
sinter_status
sinter__avro_block_encode(sinter__avro_coder *self, sinter__avro_codec_choice choice,
                          sinter_bytes raw, sinter_bytes *stored, sinter_error *err);

void
sinter__avro_coder_fini(sinter__avro_coder *self);

#endif
