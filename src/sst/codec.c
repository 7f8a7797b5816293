#include "sst/codec.h"

#include <assert.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>
#ifdef SINTER_HAVE_LZ4
#include <lz4.h>
#endif

#include "sinter/sst.h"

#ifdef SINTER_HAVE_LZ4
static_assert(SINTER_BLOCK_BYTES_MAX <= LZ4_MAX_INPUT_SIZE, "lz4 takes every block (F21)");
#endif

bool
sinter_codec_is_built_in(int codec)
{
#ifdef SINTER_HAVE_LZ4
    if (codec == SINTER_CODEC_LZ4) {
        return true;
    }
#endif
    return codec == SINTER_CODEC_NONE || codec == SINTER_CODEC_ZSTD;
}

sinter_status
sinter__codec_check(int codec, sinter_error *err)
{
    if (sinter_codec_is_built_in(codec)) {
        return SINTER_OK;
    }
    if (sinter_codec_name(codec) == NULL) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "codec number %d is not known", codec);
    }
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "codec %s is not built in",
                       sinter_codec_name(codec));
}

sinter_status
sinter__codec_check_level(int codec, int level, sinter_error *err)
{
    if (codec == SINTER_CODEC_ZSTD && (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel())) {
        return SINTER__ERR(err, SINTER_E_INVALID, "zstd has levels %d to %d, not %d",
                           ZSTD_minCLevel(), ZSTD_maxCLevel(), level);
    }
    return SINTER_OK;
}

size_t
sinter__codec_bound(int codec, size_t raw_size)
{
    assert(raw_size <= SINTER_BLOCK_BYTES_MAX);
#ifdef SINTER_HAVE_LZ4
    if (codec == SINTER_CODEC_LZ4) {
        return (size_t)LZ4_compressBound((int)raw_size);
    }
#endif
    return codec == SINTER_CODEC_ZSTD ? ZSTD_compressBound(raw_size) : raw_size;
}

uint64_t
sinter__codec_encoder_bytes(int codec, int level, uint64_t raw_size)
{
    /* Of zstd 1.5: tables grow with the level and are cut to the size of what is encoded. */
    static const struct {
        int level;
        uint64_t bytes;
    } largest[] = {{2, 1 << 20},   {3, 3 << 19},   {4, 3 << 20},  {9, 16 << 20},
                   {12, 56 << 20}, {15, 72 << 20}, {19, 96 << 20}};
    uint64_t size = 64 << 10;
    uint64_t bytes = (uint64_t)1 << 30;

    if (codec != SINTER_CODEC_ZSTD) {
        return 0;
    }
    while (size < raw_size && size < SINTER_BLOCK_BYTES_MAX) {
        size *= 2;
    }
    for (size_t i = sizeof largest / sizeof largest[0]; i > 0; i--) {
        bytes = level <= largest[i - 1].level ? largest[i - 1].bytes : bytes;
    }
    return bytes < (1 << 20) + 18 * size ? bytes : (1 << 20) + 18 * size;
}

uint64_t
sinter__codec_decoder_bytes(int codec)
{
    return codec == SINTER_CODEC_ZSTD ? 128 << 10 : 0;
}

bool
sinter__codec_may_expand(int codec, uint64_t stored, uint64_t raw)
{
    /* The densest they have: a zstd block of 128 KiB in 4 bytes; in lz4 a byte counts 255. */
    enum { ZSTD_RATIO = 32 << 10, LZ4_RATIO = 255 };

    if (codec == SINTER_CODEC_ZSTD) {
        return raw / ZSTD_RATIO <= stored;
    }
    if (codec == SINTER_CODEC_LZ4) {
        return raw / LZ4_RATIO <= stored;
    }
    return true;
}

/** Reserve what the contexts hold by now. */
static sinter_status
account(sinter__codec *self, sinter_error *err)
{
    const uint64_t held = ZSTD_sizeof_CCtx(self->encoder) + ZSTD_sizeof_DCtx(self->decoder);

    if (held > self->reserved_bytes) {
        SINTER__CHECK(sinter_memory_reserve(self->env->memory, held - self->reserved_bytes, err));
        self->reserved_bytes = held;
    }
    return SINTER_OK;
}

size_t
sinter__zstd_configure(ZSTD_CCtx *encoder, int level, size_t raw_size)
{
    enum { USUAL_BYTES_MAX = 128 << 10, HASH_LOG = 12 };
    const int hash_log = level == 1 && raw_size <= USUAL_BYTES_MAX ? HASH_LOG : 0; /* 0: its own */
    const size_t code = ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, level);

    return ZSTD_isError(code) ? code : ZSTD_CCtx_setParameter(encoder, ZSTD_c_hashLog, hash_log);
}

static sinter_status
encode_zstd(sinter__codec *self, int level, sinter_bytes raw, uint8_t *out, size_t *size_out,
            sinter_error *err)
{
    size_t size = 0;

    assert(level <= ZSTD_maxCLevel() && level >= ZSTD_minCLevel());
    if (self->encoder == NULL) {
        self->encoder = ZSTD_createCCtx();
    }
    if (self->encoder == NULL) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for a zstd encoder");
    }
    size = sinter__zstd_configure(self->encoder, level == 0 ? 1 : level, raw.size);
    if (!ZSTD_isError(size)) {
        size = ZSTD_compress2(self->encoder, out, ZSTD_compressBound(raw.size), raw.data, raw.size);
    }
    if (ZSTD_isError(size)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "zstd can't encode %zu bytes: %s", raw.size,
                           ZSTD_getErrorName(size));
    }
    *size_out = size;
    return account(self, err);
}

static sinter_status
decode_zstd(sinter__codec *self, sinter_bytes stored, uint8_t *out, size_t raw_size,
            sinter_error *err)
{
    size_t size = 0;

    if (ZSTD_getFrameContentSize(stored.data, stored.size) != raw_size) {
        return SINTER__ERR(err, SINTER_E_CORRUPT,
                           "zstd data doesn't have the %zu bytes it should have", raw_size);
    }
    if (self->decoder == NULL) {
        self->decoder = ZSTD_createDCtx();
    }
    if (self->decoder == NULL) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for a zstd decoder");
    }
    size = ZSTD_decompressDCtx(self->decoder, out, raw_size, stored.data, stored.size);
    if (ZSTD_isError(size) && ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for decoding zstd");
    }
    if (size != raw_size) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "zstd data can't be decoded: %s",
                           ZSTD_isError(size) ? ZSTD_getErrorName(size) : "another size");
    }
    return account(self, err);
}

#ifdef SINTER_HAVE_LZ4
static sinter_status
encode_lz4(sinter__codec *self, sinter_bytes raw, uint8_t *out, size_t *size_out, sinter_error *err)
{
    int size = 0;

    if (self->lz4_state == NULL) {
        SINTER__CHECK(
            sinter__resize(self->env, &self->lz4_state, (size_t)LZ4_sizeofState(), 1, err));
    }
    size = LZ4_compress_fast_extState(self->lz4_state, (const char *)raw.data, (char *)out,
                                      (int)raw.size, LZ4_compressBound((int)raw.size), 1);
    if (size <= 0) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "lz4 can't encode %zu bytes", raw.size);
    }
    *size_out = (size_t)size;
    return SINTER_OK;
}

static sinter_status
decode_lz4(sinter_bytes stored, uint8_t *out, size_t raw_size, sinter_error *err)
{
    const int size = LZ4_decompress_safe((const char *)stored.data, (char *)out, (int)stored.size,
                                         (int)raw_size);

    if (size < 0 || (size_t)size != raw_size) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "lz4 data can't be decoded to %zu bytes",
                           raw_size);
    }
    return SINTER_OK;
}
#endif

sinter_status
sinter__codec_encode(sinter__codec *self, sinter__codec_choice choice, sinter_bytes raw,
                     uint8_t *out, size_t *size_out, sinter_error *err)
{
    assert(raw.size <= SINTER_BLOCK_BYTES_MAX);
    switch (choice.codec) {
    case SINTER_CODEC_NONE:
        if (raw.size > 0) {
            memcpy(out, raw.data, raw.size);
        }
        *size_out = raw.size;
        return SINTER_OK;
#ifdef SINTER_HAVE_LZ4
    case SINTER_CODEC_LZ4:
        return encode_lz4(self, raw, out, size_out, err);
#endif
    case SINTER_CODEC_ZSTD:
        return encode_zstd(self, choice.level, raw, out, size_out, err);
    default:
        return sinter__codec_check(choice.codec, err);
    }
}

sinter_status
sinter__codec_decode(sinter__codec *self, int codec, sinter_bytes stored, uint8_t *out,
                     size_t raw_size, sinter_error *err)
{
    assert(raw_size <= SINTER_BLOCK_BYTES_MAX);
    switch (codec) {
    case SINTER_CODEC_NONE:
        if (stored.size != raw_size) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "%zu bytes are stored for %zu", stored.size,
                               raw_size);
        }
        if (raw_size > 0) {
            memcpy(out, stored.data, raw_size);
        }
        return SINTER_OK;
#ifdef SINTER_HAVE_LZ4
    case SINTER_CODEC_LZ4:
        return decode_lz4(stored, out, raw_size, err);
#endif
    case SINTER_CODEC_ZSTD:
        return decode_zstd(self, stored, out, raw_size, err);
    default:
        return sinter__codec_check(codec, err);
    }
}

void
sinter__codec_fini(sinter__codec *self)
{
    if (self->env == NULL) {
        return;
    }
    sinter__free(self->env, self->lz4_state);
    ZSTD_freeCCtx(self->encoder);
    ZSTD_freeDCtx(self->decoder);
    sinter_memory_release(self->env->memory, self->reserved_bytes);
    memset(self, 0, sizeof *self);
}
