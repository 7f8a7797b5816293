/*
 * A row as Paimon's BinaryRow, all numbers little-endian (table-layout.md 5).
 *
 *     header 1 byte (0) | null bits, padded so that both take a multiple of 8 bytes
 *     one slot of 8 bytes per column: the value, 7 bytes of a short string, or offset and length
 *     variable part: chunks of 8-byte multiples; offsets count from the row's first byte
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "doc/number.h"
#include "doc/row_type.h"
#include "doc/text.h"
#include "doc/type.h"

enum {
    SLOT_BYTES = 8,
    INLINE_MAX = 7,
    DECIMAL_CHUNK = 16,
    TIMESTAMP_CHUNK = 8,
    NANOS_MAX = 999999,
    MS_PER_DAY = 86400000
};

static size_t
header_bytes(size_t columns)
{
    return (columns + 63 + 8) / 64 * 8;
}

static size_t
padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* What a value takes in the variable part. */
static size_t
chunk_bytes(const sinter_type *type, const sinter_datum *datum)
{
    if (sinter__type_is_bytes(type)) {
        return datum->is_null || datum->as.bytes.size <= INLINE_MAX ? 0
                                                                    : padded(datum->as.bytes.size);
    }
    if (sinter__type_is_compact(type)) {
        return 0;
    }
    /* Nulls of these two keep their place, since rows are compared and hashed as bytes. */
    return type->id == SINTER_TYPE_DECIMAL ? DECIMAL_CHUNK : TIMESTAMP_CHUNK;
}

/* A place in a row being written: the slot, and where its chunk would stand. */
typedef struct row_place {
    uint8_t *row;
    uint8_t *slot;
    size_t chunk_at;
} row_place;

static void
put_reference(const row_place *place, uint32_t low)
{
    assert(place->chunk_at <= INT32_MAX);
    sinter__put_le64(place->slot, (uint64_t)place->chunk_at << 32 | low);
}

static void
put_string(const row_place *place, sinter_bytes bytes)
{
    if (bytes.size <= INLINE_MAX) {
        if (bytes.size > 0) {
            memcpy(place->slot, bytes.data, bytes.size);
        }
        place->slot[INLINE_MAX] = (uint8_t)(0x80u | bytes.size);
        return;
    }
    memcpy(place->row + place->chunk_at, bytes.data, bytes.size);
    put_reference(place, (uint32_t)bytes.size);
}

/* The fewest big-endian bytes of two's complement. */
static void
put_decimal(const row_place *place, sinter__int128 value)
{
    uint8_t big[DECIMAL_CHUNK];
    size_t first = 0;

    for (size_t i = 0; i < DECIMAL_CHUNK; i++) {
        big[i] = (uint8_t)((sinter__uint128)value >> (8 * (DECIMAL_CHUNK - 1 - i)));
    }
    while (first + 1 < DECIMAL_CHUNK && big[first] == (value < 0 ? 0xff : 0) &&
           (big[first + 1] & 0x80u) == (value < 0 ? 0x80u : 0u)) {
        first++;
    }
    memcpy(place->row + place->chunk_at, big + first, DECIMAL_CHUNK - first);
    put_reference(place, (uint32_t)(DECIMAL_CHUNK - first));
}

static void
put_value(const sinter_type *type, const sinter_datum *datum, const row_place *place)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
    case SINTER_TYPE_TINYINT:
        place->slot[0] = (uint8_t)datum->as.integer;
        break;
    case SINTER_TYPE_SMALLINT:
        sinter__put_le16(place->slot, (uint16_t)datum->as.integer);
        break;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
        sinter__put_le32(place->slot, (uint32_t)datum->as.integer);
        break;
    case SINTER_TYPE_FLOAT:
        sinter__put_le32(place->slot, datum->as.float_bits);
        break;
    case SINTER_TYPE_DOUBLE:
        sinter__put_le64(place->slot, datum->as.double_bits);
        break;
    case SINTER_TYPE_DECIMAL:
        if (sinter__type_is_compact(type)) {
            sinter__put_le64(place->slot, datum->as.decimal.low);
        } else {
            put_decimal(place, sinter__decimal_get(datum));
        }
        break;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        if (sinter__type_is_compact(type)) {
            sinter__put_le64(place->slot, (uint64_t)datum->as.integer);
        } else {
            sinter__put_le64(place->row + place->chunk_at, (uint64_t)datum->as.integer);
            put_reference(place, (uint32_t)datum->nanos);
        }
        break;
    case SINTER_TYPE_BIGINT:
        sinter__put_le64(place->slot, (uint64_t)datum->as.integer);
        break;
    default:
        put_string(place, datum->as.bytes);
        break;
    }
}

static void
put_null(const sinter_type *type, size_t index, const row_place *place)
{
    const size_t bit = index + 8; /* behind the header byte */

    place->row[bit / 8] |= (uint8_t)(1u << bit % 8);
    if (!sinter__type_is_bytes(type) && !sinter__type_is_compact(type)) {
        put_reference(place, 0);
    }
}

/* Check every value and sum what the row will take. */
static sinter_status
measure(const sinter_row_type *row_type, const sinter_datum *values, uint8_t kind, size_t *out,
        sinter_error *err)
{
    const size_t count = sinter_row_type_count(row_type);
    uint64_t size = header_bytes(count) + (uint64_t)count * SLOT_BYTES;

    for (size_t i = 0; i < count; i++) {
        sinter_type type = *sinter_row_type_column_type(row_type, i);

        if (sinter_kind_is_retract(kind) && !sinter__row_type_is_key(row_type, i)) {
            type.nullable = true;
        }
        SINTER__CHECK(
            sinter_datum_check(&type, sinter_row_type_column_name(row_type, i), &values[i], err));
        if (sinter__type_is_bytes(&type) && !values[i].is_null &&
            values[i].as.bytes.size > SINTER_VALUE_BYTES_MAX) {
            size = SINTER_VALUE_BYTES_MAX + 1;
            break;
        }
        size += chunk_bytes(&type, &values[i]);
        if (size > SINTER_VALUE_BYTES_MAX) {
            break;
        }
    }
    if (size > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a row above %llu bytes",
                           (unsigned long long)SINTER_VALUE_BYTES_MAX);
    }
    *out = (size_t)size;
    return SINTER_OK;
}

sinter_status
sinter_row_encode(const sinter_row_type *row_type, const sinter_datum *values, uint8_t kind,
                  sinter_text *out, sinter_error *err)
{
    size_t size = 0;
    size_t count = 0;
    row_place place;

    SINTER__REQUIRE(err, row_type != NULL && values != NULL);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    SINTER__CHECK(measure(row_type, values, kind, &size, err));
    SINTER__CHECK(sinter__text_reserve(out, size, err));
    count = sinter_row_type_count(row_type);
    place.row = (uint8_t *)out->data + out->size;
    place.slot = place.row + header_bytes(count);
    place.chunk_at = header_bytes(count) + count * SLOT_BYTES;
    memset(place.row, 0, size + 1);
    for (size_t i = 0; i < count; i++) {
        const sinter_type *type = sinter_row_type_column_type(row_type, i);

        if (values[i].is_null) {
            put_null(type, i, &place);
        } else {
            put_value(type, &values[i], &place);
        }
        place.slot += SLOT_BYTES;
        place.chunk_at += chunk_bytes(type, &values[i]);
    }
    assert(place.chunk_at == size);
    out->size += size;
    return SINTER_OK;
}

/* Where a decoder stands in a row. */
typedef struct row_cursor {
    const sinter_row_type *row_type;
    sinter_bytes row;
    size_t column;
    size_t variable_at;
    sinter_error *err;
} row_cursor;

static sinter_status
row_fault(const row_cursor *cursor, const char *what)
{
    return SINTER__ERR(cursor->err, SINTER_E_CORRUPT, "row, column \"%.100s\": %s",
                       sinter_row_type_column_name(cursor->row_type, cursor->column), what);
}

/* The chunk that a slot refers to: `size` bytes that lie in the variable part; else NULL. */
static const uint8_t *
find_chunk(const row_cursor *cursor, uint64_t slot, size_t size)
{
    const uint64_t offset = slot >> 32;

    if (offset < cursor->variable_at || offset > cursor->row.size ||
        size > cursor->row.size - offset) {
        return NULL;
    }
    return cursor->row.data + offset;
}

static sinter_status
outside_fault(const row_cursor *cursor)
{
    return row_fault(cursor, "a value lies outside the row");
}

static sinter_status
get_string(const row_cursor *cursor, const uint8_t *slot, sinter_datum *out)
{
    if ((slot[INLINE_MAX] & 0x80u) != 0) {
        out->as.bytes.data = slot;
        out->as.bytes.size = slot[INLINE_MAX] & 0x7fu;
        return out->as.bytes.size <= INLINE_MAX ? SINTER_OK
                                                : row_fault(cursor, "a short string is too long");
    }
    out->as.bytes.size = sinter__get_le32(slot);
    out->as.bytes.data = find_chunk(cursor, sinter__get_le64(slot), out->as.bytes.size);
    return out->as.bytes.data != NULL ? SINTER_OK : outside_fault(cursor);
}

static sinter_status
get_decimal(const row_cursor *cursor, const uint8_t *slot, sinter_datum *out)
{
    const size_t size = sinter__get_le32(slot);
    const uint8_t *chunk = find_chunk(cursor, sinter__get_le64(slot), DECIMAL_CHUNK);
    sinter__uint128 value = 0;

    if (size == 0 || size > DECIMAL_CHUNK) {
        return row_fault(cursor, "a DECIMAL has 1 to 16 bytes");
    }
    if (chunk == NULL) {
        return outside_fault(cursor);
    }
    if ((chunk[0] & 0x80u) != 0) {
        value = ~(sinter__uint128)0;
    }
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | chunk[i];
    }
    sinter__decimal_set(out, (sinter__int128)value);
    return SINTER_OK;
}

static sinter_status
get_timestamp(const row_cursor *cursor, const uint8_t *slot, sinter_datum *out)
{
    const uint32_t nanos = sinter__get_le32(slot);
    const uint8_t *chunk = find_chunk(cursor, sinter__get_le64(slot), TIMESTAMP_CHUNK);

    if (nanos > NANOS_MAX) {
        return row_fault(cursor, "more than 999999 nanoseconds in a millisecond");
    }
    if (chunk == NULL) {
        return outside_fault(cursor);
    }
    out->nanos = (int32_t)nanos;
    out->as.integer = (int64_t)sinter__get_le64(chunk);
    return SINTER_OK;
}

static sinter_status
get_integer(const row_cursor *cursor, const sinter_type *type, const uint8_t *slot,
            sinter_datum *out)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        out->as.integer = slot[0];
        return slot[0] <= 1 ? SINTER_OK : row_fault(cursor, "a BOOLEAN is 0 or 1");
    case SINTER_TYPE_TINYINT:
        out->as.integer = (int64_t)(slot[0] ^ 0x80u) - 0x80;
        return SINTER_OK;
    case SINTER_TYPE_SMALLINT:
        out->as.integer = (int16_t)sinter__get_le16(slot);
        return SINTER_OK;
    case SINTER_TYPE_BIGINT:
        out->as.integer = (int64_t)sinter__get_le64(slot);
        return SINTER_OK;
    default:
        out->as.integer = (int32_t)sinter__get_le32(slot);
        if (type->id == SINTER_TYPE_TIME &&
            (out->as.integer < 0 || out->as.integer >= MS_PER_DAY)) {
            return row_fault(cursor, "a TIME outside the day");
        }
        return SINTER_OK;
    }
}

static sinter_status
get_value(const row_cursor *cursor, const sinter_type *type, const uint8_t *slot, sinter_datum *out)
{
    if (sinter_type_is_nested(type)) {
        return SINTER__ERR(cursor->err, SINTER_E_UNSUPPORTED,
                           "column \"%.100s\": values of type %s are not supported",
                           sinter_row_type_column_name(cursor->row_type, cursor->column),
                           sinter_type_name(type->id));
    }
    if (sinter__type_is_bytes(type)) {
        return get_string(cursor, slot, out);
    }
    switch (type->id) {
    case SINTER_TYPE_FLOAT:
        out->as.float_bits = sinter__get_le32(slot);
        return SINTER_OK;
    case SINTER_TYPE_DOUBLE:
        out->as.double_bits = sinter__get_le64(slot);
        return SINTER_OK;
    case SINTER_TYPE_DECIMAL:
        if (!sinter__type_is_compact(type)) {
            return get_decimal(cursor, slot, out);
        }
        sinter__decimal_set(out, (int64_t)sinter__get_le64(slot));
        return SINTER_OK;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        if (!sinter__type_is_compact(type)) {
            return get_timestamp(cursor, slot, out);
        }
        out->as.integer = (int64_t)sinter__get_le64(slot);
        return SINTER_OK;
    default:
        return get_integer(cursor, type, slot, out);
    }
}

static sinter_status
decode_column(const row_cursor *cursor, sinter_datum *out)
{
    const size_t count = sinter_row_type_count(cursor->row_type);
    const size_t bit = cursor->column + 8;
    const uint8_t *slot = cursor->row.data + header_bytes(count) + cursor->column * SLOT_BYTES;

    memset(out, 0, sizeof *out);
    out->is_null = (cursor->row.data[bit / 8] >> bit % 8 & 1u) != 0;
    return out->is_null
               ? SINTER_OK
               : get_value(cursor, sinter_row_type_column_type(cursor->row_type, cursor->column),
                           slot, out);
}

sinter_status
sinter_row_decode(const sinter_row_type *row_type, sinter_bytes row, sinter_datum *values,
                  sinter_error *err)
{
    row_cursor cursor = {.row_type = row_type, .row = row, .err = err};
    size_t count = 0;

    SINTER__REQUIRE(err, row_type != NULL && values != NULL);
    SINTER__REQUIRE(err, row.data != NULL || row.size == 0);
    count = sinter_row_type_count(row_type);
    cursor.variable_at = header_bytes(count) + count * SLOT_BYTES;
    if (row.size < cursor.variable_at || row.size % 8 != 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT,
                           "a row of %zu columns has %zu bytes, not a multiple of 8 from %zu on",
                           count, row.size, cursor.variable_at);
    }
    for (; cursor.column < count; cursor.column++) {
        SINTER__CHECK(decode_column(&cursor, &values[cursor.column]));
    }
    return SINTER_OK;
}
