/*
 * The codecs behind one door: none, lz4, zstd, with contexts that are made once and reused.
 */
#ifndef SINTER_SST_CODEC_H
#define SINTER_SST_CODEC_H

#include "base/alloc.h"

/** Contexts of one reader or writer. Zeroed with `env` set is ready. Confined. */
typedef struct sinter__codec {
    const sinter_env *env;
    void *lz4_state;
    struct ZSTD_CCtx_s *encoder;
    struct ZSTD_DCtx_s *decoder;
    uint64_t reserved_bytes; /* of the contexts, in the memory budget */
} sinter__codec;

/** A codec and how hard it tries. */
typedef struct sinter__codec_choice {
    int codec;
    int level; /* zstd; 0 counts as 1 */
} sinter__codec_choice;

/** Refuse a codec that this build has not, by name: SINTER_E_UNSUPPORTED. */
sinter_status
sinter__codec_check(int codec, sinter_error *err);

/** Refuse a level that the codec has not: SINTER_E_INVALID. Level 0 counts as 1. */
sinter_status
sinter__codec_check_level(int codec, int level, sinter_error *err);

/** Room that encoding `raw_size` bytes may need. */
size_t
sinter__codec_bound(int codec, size_t raw_size);

/** Bytes of the budget that the context for encoding up to `raw_size` bytes holds, at most. */
uint64_t
sinter__codec_encoder_bytes(int codec, int level, uint64_t raw_size);

/** The same for decoding, whatever the size. */
uint64_t
sinter__codec_decoder_bytes(int codec);

/**
 * Choose level and hash table of a zstd encoder. Level 1 takes 8192 entries for a block of usual
 * size, which no longer fit in the first cache beside the block; with half of them it encodes 5 to
 * 25 % faster and packs -0.4 to 1.9 % worse (docs/performance.md).
 * @return zstd's code
 */
size_t
sinter__zstd_configure(struct ZSTD_CCtx_s *encoder, int level, size_t raw_size);

/** Can `stored` bytes of this codec stand for `raw` bytes? Refuses claims before memory is taken.
 */
bool
sinter__codec_may_expand(int codec, uint64_t stored, uint64_t raw);

/**
 * Encode into `out`, which holds sinter__codec_bound() bytes.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget), SINTER_E_UNSUPPORTED
 */
sinter_status
sinter__codec_encode(sinter__codec *self, sinter__codec_choice choice, sinter_bytes raw,
                     uint8_t *out, size_t *size_out, sinter_error *err);

/**
 * Decode into exactly `raw_size` bytes.
 * @return SINTER_OK, SINTER_E_CORRUPT (no file or offset named), or as encode
 */
sinter_status
sinter__codec_decode(sinter__codec *self, int codec, sinter_bytes stored, uint8_t *out,
                     size_t raw_size, sinter_error *err);

void
sinter__codec_fini(sinter__codec *self);

#endif
