#include "format/avro_block.h"

#include <assert.h>
#include <limits.h>
#ifdef SINTER_HAVE_SNAPPY
#include <snappy-c.h>
#endif
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "sst/codec.h"

enum {
    ROOM_BYTES_MIN = 64 << 10,
    GUESSED_RATIO = 4,
    INFLATE_BYTES = 64 << 10,    /* what zlib holds at most for a window of 32 KiB, and a little */
    ZSTD_DCTX_BYTES = 160 << 10, /* of a decoder that decodes at once, and a little */
    DEFLATE_BYTES = 272 << 10,
    SMALL_HASH_LOG = 10, /* of zstd 1 */
    SMALL_LOSS = 256,    /* a part of so many is given for it */
    TRY_FIRST = 4,       /* not in files that are small anyway */
    TRY_BLOCKS = 128,
    WINDOW_BITS = -15, /* no zlib header around it */
    DEFLATE_MEMORY = 8,
    CRC_BYTES = 4 /* behind a snappy block: of what it holds */
};

static const char *const codec_names[] = {
    "null",
    "deflate",
    "zstandard",
#ifdef SINTER_HAVE_SNAPPY
    "snappy",
#endif
};
#ifdef SINTER_HAVE_SNAPPY
#define CODECS_KNOWN "null, deflate, zstandard and snappy"
#else
#define CODECS_KNOWN "null, deflate and zstandard"
#endif

const char *
sinter__avro_codec_name(sinter__avro_codec codec)
{
    assert((size_t)codec < sizeof codec_names / sizeof codec_names[0]);
    return codec_names[codec];
}

sinter_status
sinter__avro_codec_find(sinter_bytes name, sinter__avro_codec *out, sinter_error *err)
{
    enum { SHOWN_CHARS_MAX = 32 };

    *out = SINTER__AVRO_CODEC_NULL;
    if (name.size == 0) {
        return SINTER_OK;
    }
    for (size_t i = 0; i < sizeof codec_names / sizeof codec_names[0]; i++) {
        if (name.size == strlen(codec_names[i]) &&
            memcmp(name.data, codec_names[i], name.size) == 0) {
            *out = (sinter__avro_codec)i;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "codec \"%.*s\": " CODECS_KNOWN " are known",
                       (int)(name.size < SHOWN_CHARS_MAX ? name.size : SHOWN_CHARS_MAX),
                       (const char *)name.data);
}

/** Reserve what the contexts hold by now. */
static sinter_status
account(sinter__avro_coder *self, sinter_error *err)
{
    const uint64_t held = ZSTD_sizeof_CCtx(self->encoder) + ZSTD_sizeof_DCtx(self->decoder);

    if (held > self->reserved_bytes) {
        SINTER__CHECK(sinter_memory_reserve(self->env->memory, held - self->reserved_bytes, err));
        self->reserved_bytes = held;
    }
    return SINTER_OK;
}

static sinter_status
too_large(uint64_t raw_max, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a block decodes to more than %llu bytes",
                       (unsigned long long)raw_max);
}

/** How much room to decode with at first: what is there already, unless it is out of proportion. */
static size_t
first_room(const sinter__avro_coder *self, size_t stored, uint64_t raw_max)
{
    uint64_t room = (uint64_t)stored * GUESSED_RATIO;

    room = room < ROOM_BYTES_MIN ? ROOM_BYTES_MIN : room;
    if (self->room.capacity > room && self->room.capacity / GUESSED_RATIO < room) {
        room = self->room.capacity;
    }
    return (size_t)(room < raw_max ? room : raw_max);
}

/* One call decodes all frames, whether they say their size or not, and needs no window beside the
 * room. Where the room was too small it is made twice as large and all is decoded again: the room
 * stays for the blocks that follow, so this happens once or twice a file. */
static sinter_status
decode_zstd(sinter__avro_coder *self, sinter_bytes stored, uint64_t raw_max, sinter_bytes *raw,
            sinter_error *err)
{
    size_t room = first_room(self, stored.size, raw_max);
    size_t size = 0;

    if (self->decoder == NULL) {
        self->decoder = ZSTD_createDCtx();
    }
    if (self->decoder == NULL) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for a zstd decoder");
    }
    for (;;) {
        SINTER__CHECK(sinter__scratch_fit(self->env, &self->room, room, err));
        size = ZSTD_decompressDCtx(self->decoder, self->room.data, room, stored.data, stored.size);
        if (!ZSTD_isError(size) || ZSTD_getErrorCode(size) != ZSTD_error_dstSize_tooSmall) {
            break;
        }
        if (room >= raw_max) {
            return too_large(raw_max, err);
        }
        room = (size_t)(room < raw_max / 2 ? room * 2 : raw_max);
    }
    if (ZSTD_isError(size)) {
        return SINTER__ERR(err,
                           ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation
                               ? SINTER_E_NOMEM
                               : SINTER_E_CORRUPT,
                           "a zstandard block can't be decoded: %s", ZSTD_getErrorName(size));
    }
    *raw = (sinter_bytes){self->room.data, size};
    return account(self, err);
}

static void *
zlib_allocate(void *opaque, unsigned int items, unsigned int size)
{
    const sinter_env *env = opaque;
    void *block = NULL;

    (void)(sinter__alloc(env, items, size, &block, NULL) == SINTER_OK); /* NULL tells zlib */
    return block;
}

static void
zlib_release(void *opaque, void *block)
{
    sinter__free(opaque, block);
}

/** The same pointer for an interface that takes no const, though it only reads. */
static void *
writable(const void *data)
{
    const union {
        const void *given;
        void *taken;
    } same = {.given = data};

    return same.taken;
}

static z_stream
stream_over(const sinter_env *env, sinter_bytes input)
{
    return (z_stream){.next_in = writable(input.data),
                      .avail_in = (uInt)input.size,
                      .zalloc = zlib_allocate,
                      .zfree = zlib_release,
                      .opaque = writable(env)};
}

static sinter_status
inflate_all(sinter__avro_coder *self, z_stream *stream, uint64_t raw_max, sinter_error *err)
{
    size_t room = first_room(self, stream->avail_in, raw_max);
    int code = Z_OK;

    SINTER__CHECK(sinter__scratch_fit(self->env, &self->room, room, err));
    while (code != Z_STREAM_END) {
        if (stream->total_out == room) {
            if (room >= raw_max) {
                return too_large(raw_max, err);
            }
            room = (size_t)(room < raw_max / 2 ? room * 2 : raw_max);
            SINTER__CHECK(sinter__scratch_grow(self->env, &self->room, room, err));
        }
        stream->next_out = self->room.data + stream->total_out;
        stream->avail_out = (uInt)(room - stream->total_out);
        code = inflate(stream, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR) {
            return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for decoding deflate");
        }
        /* Z_BUF_ERROR: the input ended within the stream, as there was room. */
        if (code != Z_OK && code != Z_STREAM_END) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "a deflate block can't be decoded: %s",
                               stream->msg == NULL ? "it ends too early" : stream->msg);
        }
    }
    if (stream->avail_in != 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "%u bytes follow the end of a deflate block",
                           stream->avail_in);
    }
    return SINTER_OK;
}

static sinter_status
decode_deflate(sinter__avro_coder *self, sinter_bytes stored, uint64_t raw_max, sinter_bytes *raw,
               sinter_error *err)
{
    z_stream stream = stream_over(self->env, stored);
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_memory_reserve(self->env->memory, INFLATE_BYTES, err));
    if (inflateInit2(&stream, WINDOW_BITS) != Z_OK) {
        st = SINTER__ERR(err, SINTER_E_NOMEM, "no memory for decoding deflate");
        goto out;
    }
    st = inflate_all(self, &stream, raw_max, err);
    *raw = (sinter_bytes){self->room.data, (size_t)stream.total_out};
    (void)inflateEnd(&stream);
out:
    sinter_memory_release(self->env->memory, INFLATE_BYTES);
    return st;
}

#ifdef SINTER_HAVE_SNAPPY
static uint32_t
crc_of(sinter_bytes raw)
{
    return (uint32_t)crc32(0, raw.data, (uInt)raw.size);
}

static sinter_status
decode_snappy(sinter__avro_coder *self, sinter_bytes stored, uint64_t raw_max, sinter_bytes *raw,
              sinter_error *err)
{
    const char *block = (const char *)stored.data;
    size_t size = 0;

    if (stored.size <= CRC_BYTES ||
        snappy_uncompressed_length(block, stored.size - CRC_BYTES, &size) != SNAPPY_OK) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a snappy block can't be decoded");
    }
    if (size > raw_max) {
        return too_large(raw_max, err);
    }
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->room, size + 1, err));
    if (snappy_uncompress(block, stored.size - CRC_BYTES, (char *)self->room.data, &size) !=
        SNAPPY_OK) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a snappy block can't be decoded");
    }
    *raw = (sinter_bytes){self->room.data, size};
    if (crc_of(*raw) != sinter__get_be32(stored.data + stored.size - CRC_BYTES)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "the checksum of a snappy block is another one");
    }
    return SINTER_OK;
}

static sinter_status
encode_snappy(sinter__avro_coder *self, sinter_bytes raw, sinter_bytes *stored, sinter_error *err)
{
    size_t size = snappy_max_compressed_length(raw.size);

    SINTER__CHECK(sinter__scratch_fit(self->env, &self->room, size + CRC_BYTES, err));
    if (snappy_compress((const char *)raw.data, raw.size, (char *)self->room.data, &size) !=
        SNAPPY_OK) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "snappy can't encode %zu bytes", raw.size);
    }
    sinter__put_be32(self->room.data + size, crc_of(raw));
    *stored = (sinter_bytes){self->room.data, size + CRC_BYTES};
    return SINTER_OK;
}
#endif

sinter_status
sinter__avro_block_decode(sinter__avro_coder *self, sinter__avro_codec codec, sinter_bytes stored,
                          uint64_t raw_max, sinter_bytes *raw, sinter_error *err)
{
    assert(raw_max <= SINTER_BLOCK_BYTES_MAX);
    static_assert(SINTER_BLOCK_BYTES_MAX <= UINT_MAX, "zlib counts a block in an int");
    switch (codec) {
    case SINTER__AVRO_CODEC_DEFLATE:
        return decode_deflate(self, stored, raw_max, raw, err);
    case SINTER__AVRO_CODEC_ZSTANDARD:
        return decode_zstd(self, stored, raw_max, raw, err);
#ifdef SINTER_HAVE_SNAPPY
    case SINTER__AVRO_CODEC_SNAPPY:
        return decode_snappy(self, stored, raw_max, raw, err);
#endif
    case SINTER__AVRO_CODEC_NULL:
    default:
        *raw = stored;
        return SINTER_OK;
    }
}

uint64_t
sinter__avro_decoder_bytes(sinter__avro_codec codec, uint64_t raw)
{
    const uint64_t room =
        sinter__scratch_room((size_t)(2 * raw > ROOM_BYTES_MIN ? 2 * raw : ROOM_BYTES_MIN));

    assert(raw <= SINTER_BLOCK_BYTES_MAX);
    switch (codec) {
    case SINTER__AVRO_CODEC_DEFLATE:
        return room + INFLATE_BYTES;
    case SINTER__AVRO_CODEC_ZSTANDARD:
        return room + ZSTD_DCTX_BYTES;
    case SINTER__AVRO_CODEC_SNAPPY:
        return room;
    case SINTER__AVRO_CODEC_NULL:
    default:
        return 0;
    }
}

/* The bytes of a block with a hash table of so many entries, 0: as many as usual. */
static size_t
zstd_of(sinter__avro_coder *self, int level, int hash_log, sinter_bytes raw)
{
    size_t code = sinter__zstd_configure(self->encoder, level, raw.size);

    if (!ZSTD_isError(code) && hash_log != 0) {
        code = ZSTD_CCtx_setParameter(self->encoder, ZSTD_c_hashLog, hash_log);
    }
    return ZSTD_isError(code) ? code
                              : ZSTD_compress2(self->encoder, self->room.data,
                                               ZSTD_compressBound(raw.size), raw.data, raw.size);
}

/* A block now and then tells whether a table that stays in the first cache would do. It gets the
 * usual one itself. */
static size_t
zstd_trying(sinter__avro_coder *self, int level, sinter_bytes raw)
{
    const size_t small = zstd_of(self, level, SMALL_HASH_LOG, raw);
    const size_t usual = zstd_of(self, level, 0, raw);

    self->likes_small =
        !ZSTD_isError(small) && !ZSTD_isError(usual) && small <= usual + usual / SMALL_LOSS;
    return usual;
}

static sinter_status
encode_zstd(sinter__avro_coder *self, int level, sinter_bytes raw, sinter_bytes *stored,
            sinter_error *err)
{
    size_t size = ZSTD_compressBound(raw.size);

    level = level == 0 ? 1 : level;
    if (self->encoder == NULL) {
        self->encoder = ZSTD_createCCtx();
    }
    if (self->encoder == NULL) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for a zstd encoder");
    }
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->room, size, err));
    if (level == 1 && self->encoded % TRY_BLOCKS == TRY_FIRST) {
        size = zstd_trying(self, level, raw);
    } else {
        size = zstd_of(self, level, level == 1 && self->likes_small ? SMALL_HASH_LOG : 0, raw);
    }
    self->encoded++;
    if (ZSTD_isError(size)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "zstd can't encode %zu bytes: %s", raw.size,
                           ZSTD_getErrorName(size));
    }
    *stored = (sinter_bytes){self->room.data, size};
    return account(self, err);
}

static sinter_status
encode_deflate(sinter__avro_coder *self, sinter_bytes raw, sinter_bytes *stored, sinter_error *err)
{
    z_stream stream = stream_over(self->env, raw);
    sinter_status st = SINTER_OK;
    size_t room = 0;
    int code = Z_OK;

    SINTER__CHECK(sinter_memory_reserve(self->env->memory, DEFLATE_BYTES, err));
    code = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, DEFLATE_MEMORY,
                        Z_DEFAULT_STRATEGY);
    if (code != Z_OK) {
        st = SINTER__ERR(err, SINTER_E_NOMEM, "no memory for encoding deflate");
        goto out;
    }
    room = deflateBound(&stream, (uLong)raw.size);
    st = sinter__scratch_fit(self->env, &self->room, room, err);
    if (st == SINTER_OK) {
        stream.next_out = self->room.data;
        stream.avail_out = (uInt)room;
        code = deflate(&stream, Z_FINISH);
        assert(code == Z_STREAM_END); /* its bound is one */
        *stored = (sinter_bytes){self->room.data, (size_t)stream.total_out};
    }
    (void)deflateEnd(&stream);
out:
    sinter_memory_release(self->env->memory, DEFLATE_BYTES);
    return st;
}

sinter_status
sinter__avro_block_encode(sinter__avro_coder *self, sinter__avro_codec_choice choice,
                          sinter_bytes raw, sinter_bytes *stored, sinter_error *err)
{
    assert(raw.size <= SINTER_BLOCK_BYTES_MAX);
    switch (choice.codec) {
    case SINTER__AVRO_CODEC_DEFLATE:
        return encode_deflate(self, raw, stored, err);
    case SINTER__AVRO_CODEC_ZSTANDARD:
        return encode_zstd(self, choice.level, raw, stored, err);
#ifdef SINTER_HAVE_SNAPPY
    case SINTER__AVRO_CODEC_SNAPPY:
        return encode_snappy(self, raw, stored, err);
#endif
    case SINTER__AVRO_CODEC_NULL:
    default:
        *stored = raw;
        return SINTER_OK;
    }
}

void
sinter__avro_coder_fini(sinter__avro_coder *self)
{
    if (self->env == NULL) {
        return;
    }
    ZSTD_freeCCtx(self->encoder);
    ZSTD_freeDCtx(self->decoder);
    sinter_memory_release(self->env->memory, self->reserved_bytes);
    sinter__scratch_fini(self->env, &self->room);
    memset(self, 0, sizeof *self);
}
