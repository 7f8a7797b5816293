/*
 * Raw key part: a header that names base and width of each integer column, the packed columns in
 * the order key lengths, sequences, kinds, value lengths, shared lengths of front-coded keys, then
 * the keys back to back, or what front coding leaves of them. Raw value part: the values back to
 * back. A column of equal values has width 0 and no bytes, so keys of one width and values of one
 * length cost nothing.
 */
#include "sst/block.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cpu.h"
#include "sst/front.h"
#include "sst/pack.h"

enum { COLUMN_COUNT = 4, KINDS_ALL = 3, LENGTH_WIDTH_MAX = 31 };

SINTER__INLINE void
lengths_extent(const uint32_t *offsets, uint32_t rows, sinter__sst_extent *out)
{
    uint32_t min = UINT32_MAX;
    uint32_t max = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t length = offsets[i + 1] - offsets[i];

        min = length < min ? length : min;
        max = length > max ? length : max;
    }
    out->min = min;
    out->max = max;
}

SINTER__INLINE void
summarize(const sinter__sst_columns *columns, sinter__sst_summary *out)
{
    const uint32_t rows = columns->rows;
    int64_t min = INT64_MAX;
    int64_t max = INT64_MIN;
    uint8_t kinds_or = 0;
    uint8_t kinds_and = UINT8_MAX;
    uint32_t retracts = 0;

    assert(rows > 0);
    lengths_extent(columns->key_offsets, rows, &out->key_bytes);
    lengths_extent(columns->value_offsets, rows, &out->value_bytes);
    for (uint32_t i = 0; i < rows; i++) {
        const int64_t sequence = columns->sequences[i];

        min = sequence < min ? sequence : min;
        max = sequence > max ? sequence : max;
    }
    for (uint32_t i = 0; i < rows; i++) {
        kinds_or |= columns->kinds[i];
        kinds_and &= columns->kinds[i];
        retracts += columns->kinds[i] & 1u;
    }
    out->sequence_min = min;
    out->sequence_max = max;
    out->kinds_or = kinds_or;
    out->kinds_equal = kinds_or == kinds_and;
    out->retracts = retracts;
}

SINTER__TARGET_AVX2 static void
summarize_avx2(const sinter__sst_columns *columns, sinter__sst_summary *out)
{
    summarize(columns, out);
}

void
sinter__sst_summarize(const sinter__sst_columns *columns, sinter__sst_summary *out)
{
    if (sinter__cpu_has_avx2()) {
        summarize_avx2(columns, out);
    } else {
        summarize(columns, out);
    }
}

size_t
sinter__sst_key_part_bound(uint32_t rows, size_t key_bytes)
{
    const size_t row_bytes = sizeof(uint32_t) * 3 + sizeof(int64_t) + 1;

    return SINTER__SST_KEY_HEADER_BYTES + rows * row_bytes + key_bytes +
           (size_t)2 * SINTER__SST_SLACK_BYTES;
}

size_t
sinter__sst_put_key_part(uint8_t *out, const sinter__sst_columns *columns,
                         const sinter__sst_summary *summary)
{
    const uint32_t rows = columns->rows;
    const size_t key_bytes = columns->key_offsets[rows] - columns->key_offsets[0];
    const uint32_t key_width = sinter__pack_width(summary->key_bytes.max - summary->key_bytes.min);
    const uint32_t sequence_width =
        sinter__pack_width((uint64_t)summary->sequence_max - (uint64_t)summary->sequence_min);
    const uint32_t kind_width = summary->kinds_equal ? 0 : sinter__pack_width(summary->kinds_or);
    const uint32_t value_width =
        sinter__pack_width(summary->value_bytes.max - summary->value_bytes.min);
    const uint32_t shared_width =
        columns->shared == NULL ? 0 : sinter__pack_width(columns->shared_max);
    uint8_t *p = out + SINTER__SST_KEY_HEADER_BYTES;

    assert(summary->kinds_or <= KINDS_ALL);
    memset(out, 0, SINTER__SST_KEY_HEADER_BYTES);
    sinter__put_le32(out, rows);
    out[4] = (uint8_t)key_width;
    out[5] = (uint8_t)sequence_width;
    out[6] = (uint8_t)kind_width;
    out[7] = (uint8_t)value_width;
    out[9] = (uint8_t)shared_width;
    sinter__put_le64(out + 16, summary->key_bytes.min);
    sinter__put_le64(out + 24, (uint64_t)summary->sequence_min);
    sinter__put_le64(out + 32, summary->kinds_equal ? columns->kinds[0] : 0u);
    sinter__put_le64(out + 40, summary->value_bytes.min);

    p += sinter__pack_lengths(p, columns->key_offsets, rows, summary->key_bytes.min, key_width);
    p += sinter__pack_i64(p, columns->sequences, rows, summary->sequence_min, sequence_width);
    p += sinter__pack_u8(p, columns->kinds, rows, kind_width);
    p += sinter__pack_lengths(p, columns->value_offsets, rows, summary->value_bytes.min,
                              value_width);
    if (columns->shared != NULL) {
        p += sinter__pack_lengths(p, columns->shared, rows, 0, shared_width);
        p += sinter__front_put(p, columns->keys, columns->key_offsets, columns->shared, rows);
    } else {
        memcpy(p, columns->keys + columns->key_offsets[0], key_bytes);
        p += key_bytes;
    }
    return (size_t)(p - out);
}

/** A key part's header, and where its columns stand. */
typedef struct key_header {
    uint32_t width[COLUMN_COUNT]; /* key lengths, sequences, kinds, value lengths */
    int64_t base[COLUMN_COUNT];
    size_t begin[COLUMN_COUNT]; /* of each column in the raw part */
    uint32_t shared_width;
    size_t shared_begin;
    size_t keys_begin;
} key_header;

enum { COLUMN_KEY = 0, COLUMN_SEQUENCE = 1, COLUMN_KIND = 2, COLUMN_VALUE = 3 };

/** May a column of lengths with this base and width describe lengths up to `max`? */
static bool
lengths_ok(int64_t base, uint32_t width, uint64_t max)
{
    return base >= 0 && (uint64_t)base <= max && width <= LENGTH_WIDTH_MAX;
}

static bool
kinds_ok(int64_t base, uint32_t width)
{
    return width == 0 ? base >= 0 && base <= KINDS_ALL : base == 0 && width <= 2;
}

/** Read and check the header; of a bare entry the bytes of keys aren't known. NULL, or what is
 * wrong with it. */
static const char *
get_key_header(const uint8_t *raw, const sinter__sst_entry *entry, bool is_bare, key_header *out)
{
    size_t begin = SINTER__SST_KEY_HEADER_BYTES;

    assert(entry->key_raw >= SINTER__SST_KEY_HEADER_BYTES);
    if (sinter__get_le32(raw) != entry->rows) {
        return "its row count differs from the index";
    }
    if (raw[8] != 0) {
        return "it has a stream column, which this format version has not";
    }
    for (int i = entry->keys_front_coded ? 10 : 9; i < 16; i++) {
        if (raw[i] != 0) {
            return "reserved bytes are set";
        }
    }
    for (int i = 0; i < COLUMN_COUNT; i++) {
        out->width[i] = raw[4 + i];
        out->base[i] = (int64_t)sinter__get_le64(raw + 16 + (size_t)i * 8);
        if (!sinter__pack_width_ok(out->width[i])) {
            return "a column has an impossible width";
        }
        out->begin[i] = begin;
        begin += sinter__pack_bytes(entry->rows, out->width[i]);
    }
    out->shared_width = entry->keys_front_coded ? raw[9] : 0;
    if (out->shared_width > LENGTH_WIDTH_MAX) {
        return "a column has an impossible width";
    }
    out->shared_begin = begin;
    begin += sinter__pack_bytes(entry->rows, out->shared_width);
    out->keys_begin = begin;
    if (!lengths_ok(out->base[COLUMN_KEY], out->width[COLUMN_KEY], SINTER_KEY_BYTES_MAX) ||
        !lengths_ok(out->base[COLUMN_VALUE], out->width[COLUMN_VALUE], SINTER_VALUE_BYTES_MAX)) {
        return "lengths are impossible";
    }
    if (!kinds_ok(out->base[COLUMN_KIND], out->width[COLUMN_KIND])) {
        return "kinds are impossible";
    }
    if (begin > entry->key_raw) {
        return "its columns don't fill it";
    }
    if (!is_bare && (entry->keys_front_coded ? entry->key_raw - begin > entry->key_bytes
                                             : entry->key_raw - begin != entry->key_bytes)) {
        return "its columns don't fill it";
    }
    return NULL;
}

static uint64_t
key_part_offset(const sinter__sst_entry *entry)
{
    return entry->offset + entry->value_stored;
}

static sinter_status
fail_keys(const sinter__sst_decoder *decoder, const sinter__sst_entry *entry, const char *what,
          sinter_error *err)
{
    return SINTER__ERR_AT(err, SINTER_E_CORRUPT, decoder->path, key_part_offset(entry),
                          "key part of a block: %s", what);
}

static sinter_status
fail_row(const sinter__sst_decoder *decoder, const sinter__sst_entry *entry, uint32_t row,
         const char *what, sinter_error *err)
{
    return SINTER__ERR_AT(err, SINTER_E_CORRUPT, decoder->path, key_part_offset(entry),
                          "row %u of a block: %s", row, what);
}

/** Name the place of a failure that a codec reported. */
static sinter_status
place_failure(const sinter__sst_decoder *decoder, uint64_t offset, sinter_status st,
              sinter_error *err)
{
    sinter__fail_file(err, decoder->path);
    if (err != NULL && err->offset < 0) {
        err->offset = (int64_t)offset;
    }
    return st;
}

/** A part of a block as it is stored. */
typedef struct stored_part {
    uint64_t offset;
    uint64_t checksum;
    sinter_bytes stored;
    size_t raw_size;
    int codec;
} stored_part;

/** Verify a part and undo its codec; `*raw_out` is the stored bytes when there is nothing to undo.
 */
static sinter_status
open_part(sinter__sst_decoder *decoder, const stored_part *part, sinter__scratch *scratch,
          const uint8_t **raw_out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (!sinter__sst_checksum_ok(part->checksum, part->stored.data, part->stored.size)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, decoder->path, part->offset,
                              "checksum of a block's part is wrong");
    }
    if (part->codec == SINTER_CODEC_NONE) {
        assert(part->stored.size == part->raw_size);
        *raw_out = part->stored.data;
        return SINTER_OK;
    }
    SINTER__TRY(
        sinter__scratch_fit(decoder->env, scratch, part->raw_size + SINTER__SST_SLACK_BYTES, err));
    SINTER__TRY(sinter__codec_decode(&decoder->codec, part->codec, part->stored, scratch->data,
                                     part->raw_size, err));
    memset(scratch->data + part->raw_size, 0, SINTER__SST_SLACK_BYTES);
    *raw_out = scratch->data;
out:
    return st == SINTER_OK ? st : place_failure(decoder, part->offset, st, err);
}

/** Columns of `rows` rows in one piece of memory: the widest items first. */
typedef struct column_memory {
    uint64_t *prefixes;
    int64_t *sequences;
    uint32_t *key_offsets;
    uint32_t *value_offsets;
    uint32_t *shared; /* NULL unless keys are front-coded */
    uint8_t *kinds;
} column_memory;

static sinter_status
fit_columns(sinter__sst_decoder *decoder, const sinter__sst_entry *entry, column_memory *out,
            sinter_error *err)
{
    const size_t items = (size_t)entry->rows + 2; /* even sizes keep the next column aligned */
    const size_t row_bytes = 8 + 8 + 4 + 4 + (entry->keys_front_coded ? 4 : 0) + 1;
    sinter_status st = SINTER_OK;
    uint8_t *p = NULL;

    assert(entry->rows > 0 && entry->rows <= SINTER__SST_BLOCK_ROWS_MAX);
    SINTER__TRY(sinter__scratch_fit(decoder->env, &decoder->columns, items * row_bytes, err));
    p = decoder->columns.data;
    out->prefixes = (uint64_t *)(void *)p;
    out->sequences = (int64_t *)(void *)(p + items * 8);
    out->key_offsets = (uint32_t *)(void *)(p + items * 16);
    out->value_offsets = (uint32_t *)(void *)(p + items * 20);
    out->shared = entry->keys_front_coded ? (uint32_t *)(void *)(p + items * 24) : NULL;
    out->kinds = p + items * (row_bytes - 1);
out:
    return st == SINTER_OK ? st : place_failure(decoder, 0, st, err);
}

/** Unpack the columns. NULL, or what is wrong. */
static const char *
unpack_columns(const uint8_t *raw, const key_header *header, const sinter__sst_entry *entry,
               const column_memory *columns, uint32_t *retracts_out)
{
    const uint32_t rows = entry->rows;
    uint32_t retracts = 0;

    if (sinter__unpack_lengths(columns->key_offsets, raw + header->begin[COLUMN_KEY], rows,
                               (uint32_t)header->base[COLUMN_KEY],
                               header->width[COLUMN_KEY]) != entry->key_bytes) {
        return "key lengths don't add up";
    }
    if (sinter__unpack_lengths(columns->value_offsets, raw + header->begin[COLUMN_VALUE], rows,
                               (uint32_t)header->base[COLUMN_VALUE],
                               header->width[COLUMN_VALUE]) != entry->value_raw) {
        return "value lengths don't add up";
    }
    sinter__unpack_i64(columns->sequences, raw + header->begin[COLUMN_SEQUENCE], rows,
                       header->base[COLUMN_SEQUENCE], header->width[COLUMN_SEQUENCE]);
    if (header->width[COLUMN_KIND] == 0) {
        memset(columns->kinds, (int)header->base[COLUMN_KIND], rows);
        retracts = (header->base[COLUMN_KIND] & 1) != 0 ? rows : 0;
    } else {
        sinter__unpack_u8(columns->kinds, raw + header->begin[COLUMN_KIND], rows,
                          header->width[COLUMN_KIND]);
        for (uint32_t i = 0; i < rows; i++) {
            retracts += columns->kinds[i] & 1u;
        }
    }
    *retracts_out = retracts;
    return NULL;
}

/** A column of lengths wide enough to pass the limit is looked through. */
static bool
has_length_above(const uint32_t *offsets, uint32_t rows, const key_header *header, int column,
                 uint64_t max)
{
    const uint64_t largest =
        (uint64_t)header->base[column] + (((uint64_t)1 << (header->width[column] & 63)) - 1);

    if (largest <= max) {
        return false;
    }
    for (uint32_t i = 0; i < rows; i++) {
        if (offsets[i + 1] - offsets[i] > max) {
            return true;
        }
    }
    return false;
}

static bool
bytes_equal(sinter_bytes a, sinter_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/** Make prefixes and check the keys themselves. */
static sinter_status
check_keys(sinter__sst_decoder *decoder, const sinter__sst_entry *entry,
           const column_memory *columns, sinter_error *err)
{
    const sinter__keys *keys = &decoder->out.keys;
    uint32_t row = 0;
    bool is_right = false;

    if (decoder->shared_prefix.size > 0 &&
        !sinter__keys_begin_with(keys, decoder->shared_prefix, &row)) {
        return fail_row(decoder, entry, row, "the key lacks the prefix that all keys share", err);
    }
    sinter__keys_prefixes(keys, (uint32_t)decoder->shared_prefix.size, columns->prefixes);
    is_right = columns->shared != NULL ? sinter__front_ascends(keys->data, columns->key_offsets,
                                                               columns->shared, keys->rows, &row)
                                       : sinter__keys_ascend(keys, columns->prefixes, &row);
    if (!is_right) {
        return fail_row(decoder, entry, row, "its key is not above the key before it", err);
    }
    if (!bytes_equal(sinter__keys_at(keys, 0), entry->first_key) ||
        !bytes_equal(sinter__keys_at(keys, keys->rows - 1), entry->last_key)) {
        return fail_keys(decoder, entry, "first or last key differs from the index", err);
    }
    return SINTER_OK;
}

/** Keys as they stand in the raw part, or put together from it. */
static sinter_status
take_keys(sinter__sst_decoder *decoder, const sinter__sst_entry *entry, const uint8_t *raw,
          const key_header *header, const column_memory *columns, sinter_error *err)
{
    const size_t rest = entry->key_raw - header->keys_begin;
    const uint8_t *data = raw + header->keys_begin;
    sinter_status st = SINTER_OK;

    if (entry->keys_front_coded) {
        if (sinter__unpack_lengths(columns->shared, raw + header->shared_begin, entry->rows, 0,
                                   header->shared_width) != entry->key_bytes - rest) {
            return fail_keys(decoder, entry, "shared lengths don't add up", err);
        }
        st = sinter__scratch_fit(decoder->env, &decoder->keys,
                                 (size_t)entry->key_bytes + SINTER__SST_SLACK_BYTES, err);
        if (st != SINTER_OK) {
            return place_failure(decoder, key_part_offset(entry), st, err);
        }
        if (!sinter__front_get(decoder->keys.data, data, columns->key_offsets, columns->shared,
                               entry->rows)) {
            return fail_keys(decoder, entry, "a key shares more than there is", err);
        }
        data = decoder->keys.data;
    }
    decoder->out.keys = (sinter__keys){
        .data = data,
        .offsets = header->width[COLUMN_KEY] == 0 ? NULL : columns->key_offsets,
        .width = (uint32_t)header->base[COLUMN_KEY],
        .rows = entry->rows,
    };
    return SINTER_OK;
}

/** Bytes of the keys of a block that no index describes, once its columns have room. NULL, or what
 * is wrong. */
static const char *
learn_key_bytes(const uint8_t *raw, sinter__sst_entry *entry, const key_header *header,
                const column_memory *columns)
{
    uint64_t bytes = entry->key_raw - header->keys_begin;

    if (entry->keys_front_coded) {
        bytes = sinter__unpack_lengths(columns->key_offsets, raw + header->begin[COLUMN_KEY],
                                       entry->rows, (uint32_t)header->base[COLUMN_KEY],
                                       header->width[COLUMN_KEY]);
    }
    if (bytes < entry->key_raw - header->keys_begin ||
        bytes > (entry->keys_front_coded ? (uint64_t)SINTER__SST_FRONT_CODED_KEY_BYTES_MAX
                                         : entry->key_raw)) {
        return "key lengths are impossible";
    }
    entry->key_bytes = (uint32_t)bytes;
    return NULL;
}

/** Decode a key part. `learned`: the entry, if only what its trailer says is known. */
static sinter_status
decode_keys(sinter__sst_decoder *decoder, const sinter__sst_entry *entry,
            sinter__sst_entry *learned, const uint8_t *stored, sinter_error *err)
{
    const stored_part part = {.offset = key_part_offset(entry),
                              .checksum = entry->key_checksum,
                              .stored = {stored, entry->key_stored},
                              .raw_size = entry->key_raw,
                              .codec = entry->key_codec};
    sinter__sst_decoded *out = &decoder->out;
    const uint8_t *raw = NULL;
    const char *fault = NULL;
    uint32_t retracts = 0;
    column_memory columns;
    key_header header;

    assert(entry->rows > 0 && entry->rows <= SINTER__SST_BLOCK_ROWS_MAX);
    assert(entry->key_raw >= SINTER__SST_KEY_HEADER_BYTES);
    out->values = NULL;
    SINTER__CHECK(open_part(decoder, &part, &decoder->key_raw, &raw, err));
    assert(raw != NULL);
    fault = get_key_header(raw, entry, learned != NULL, &header);
    if (fault != NULL) {
        return fail_keys(decoder, entry, fault, err);
    }
    SINTER__CHECK(fit_columns(decoder, entry, &columns, err));
    fault = learned == NULL ? NULL : learn_key_bytes(raw, learned, &header, &columns);
    fault = fault == NULL ? unpack_columns(raw, &header, entry, &columns, &retracts) : fault;
    if (fault != NULL) {
        return fail_keys(decoder, entry, fault, err);
    }
    if (has_length_above(columns.key_offsets, entry->rows, &header, COLUMN_KEY,
                         SINTER_KEY_BYTES_MAX) ||
        has_length_above(columns.value_offsets, entry->rows, &header, COLUMN_VALUE,
                         SINTER_VALUE_BYTES_MAX)) {
        return fail_keys(decoder, entry, "a key or value is longer than allowed", err);
    }
    SINTER__CHECK(take_keys(decoder, entry, raw, &header, &columns, err));
    out->prefixes = columns.prefixes;
    out->sequences = columns.sequences;
    out->kinds = columns.kinds;
    out->value_offsets = columns.value_offsets;
    if (learned != NULL) {
        learned->retracts = retracts;
        learned->first_key = sinter__keys_at(&out->keys, 0);
        learned->last_key = sinter__keys_at(&out->keys, out->keys.rows - 1);
    } else if (retracts != entry->retracts) {
        return fail_keys(decoder, entry, "its retract count differs from the index", err);
    }
    return check_keys(decoder, entry, &columns, err);
}

sinter_status
sinter__sst_decode_keys(sinter__sst_decoder *decoder, const sinter__sst_entry *entry,
                        const uint8_t *stored, sinter_error *err)
{
    return decode_keys(decoder, entry, NULL, stored, err);
}

sinter_status
sinter__sst_decode_bare_keys(sinter__sst_decoder *decoder, sinter__sst_entry *entry,
                             const uint8_t *stored, sinter_error *err)
{
    return decode_keys(decoder, entry, entry, stored, err);
}

sinter_status
sinter__sst_decode_values(sinter__sst_decoder *decoder, const sinter__sst_entry *entry,
                          const uint8_t *stored, sinter_error *err)
{
    const stored_part part = {.offset = entry->offset,
                              .checksum = entry->value_checksum,
                              .stored = {stored, entry->value_stored},
                              .raw_size = entry->value_raw,
                              .codec = entry->value_codec};

    assert(decoder->out.keys.rows == entry->rows);
    return open_part(decoder, &part, &decoder->value_raw, &decoder->out.values, err);
}

sinter_status
sinter__sst_check_trailer(const char *path, const sinter__sst_entry *entry, const uint8_t *trailer,
                          sinter_error *err)
{
#ifndef SINTER_FUZZING
    uint8_t expected[SINTER__SST_TRAILER_BYTES];

    sinter__sst_put_trailer(expected, entry);
    if (memcmp(expected, trailer, sizeof expected) != 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, path,
                              key_part_offset(entry) + entry->key_stored,
                              "the end of a block differs from its index entry");
    }
#else
    (void)path;
    (void)entry;
    (void)trailer;
    (void)err;
#endif
    return SINTER_OK;
}

sinter_status
sinter__sst_check_stored(const char *path, const sinter__sst_entry *entry, const uint8_t *stored,
                         sinter_error *err)
{
    const uint8_t *key_part = stored + entry->value_stored;

    if (!sinter__sst_checksum_ok(entry->value_checksum, stored, entry->value_stored)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, path, entry->offset,
                              "checksum of a block's values is wrong");
    }
    if (!sinter__sst_checksum_ok(entry->key_checksum, key_part, entry->key_stored)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, path, key_part_offset(entry),
                              "checksum of a block's keys is wrong");
    }
    return sinter__sst_check_trailer(path, entry, key_part + entry->key_stored, err);
}

void
sinter__sst_decoder_fini(sinter__sst_decoder *decoder)
{
    if (decoder->env == NULL) {
        return;
    }
    sinter__codec_fini(&decoder->codec);
    sinter__scratch_fini(decoder->env, &decoder->key_raw);
    sinter__scratch_fini(decoder->env, &decoder->value_raw);
    sinter__scratch_fini(decoder->env, &decoder->columns);
    sinter__scratch_fini(decoder->env, &decoder->keys);
}
