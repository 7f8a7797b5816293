/*
 * Rows and arrays as Paimon's binary forms, all numbers little-endian (table-layout.md 5).
 *
 *     row    header 1 byte (0) | null bits, padded so that both take a multiple of 8 bytes
 *            | one slot of 8 bytes per column | variable part
 *     array  int32 count | null bits in words of 4 bytes
 *            | one slot of 1, 2, 4 or 8 bytes per element, padded to a multiple of 8 | variable
 * part
 *
 * A slot holds the value, up to 7 bytes of a short string, or offset and length of a chunk in the
 * variable part. Chunks take multiples of 8 bytes; offsets count from the first byte of the row or
 * array.
 */
#include "doc/binary.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "doc/number.h"

enum {
    SLOT_BYTES = 8,
    INLINE_MAX = 7,
    DECIMAL_CHUNK = 16,
    TIMESTAMP_CHUNK = 8,
    NANOS_MAX = 999999,
    MS_PER_DAY = 86400000,
    ROW_NULL_BIT = 8,    /* behind the header byte */
    ARRAY_NULL_BIT = 32, /* behind the count */
    ARRAY_COUNT_BYTES = 4
};

static uint64_t
padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

static size_t
element_bytes(const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
    case SINTER_TYPE_TINYINT:
        return 1;
    case SINTER_TYPE_SMALLINT:
        return 2;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_FLOAT:
        return 4;
    default:
        return SLOT_BYTES;
    }
}

/* Where the parts of a row or array stand. */
typedef struct slot_layout {
    size_t null_bit; /* the first */
    uint64_t slots_at;
    size_t slot_bytes;
    uint64_t variable_at;
} slot_layout;

static slot_layout
row_layout(size_t count)
{
    slot_layout layout = {.null_bit = ROW_NULL_BIT, .slot_bytes = SLOT_BYTES};

    layout.slots_at = ((uint64_t)count + 63 + 8) / 64 * 8;
    layout.variable_at = layout.slots_at + (uint64_t)count * SLOT_BYTES;
    return layout;
}

static slot_layout
array_layout(const sinter_type *element, size_t count)
{
    slot_layout layout = {.null_bit = ARRAY_NULL_BIT, .slot_bytes = element_bytes(element)};

    layout.slots_at = ARRAY_COUNT_BYTES + ((uint64_t)count + 31) / 32 * 4;
    layout.variable_at = padded(layout.slots_at + (uint64_t)count * layout.slot_bytes);
    return layout;
}

static slot_layout
shape_layout(const sinter__shape *shape)
{
    return shape->element == NULL ? row_layout(shape->count)
                                  : array_layout(shape->element, shape->count);
}

static const sinter_type *
type_at(const sinter__shape *shape, size_t index)
{
    return shape->element == NULL ? &shape->fields[index].type : shape->element;
}

/* What a value takes in the variable part. */
static uint64_t
chunk_bytes(const sinter__shape *shape, const sinter_type *type, const sinter_datum *datum)
{
    if (sinter_type_is_nested(type)) {
        return datum->is_null ? 0 : padded(datum->as.bytes.size);
    }
    if (sinter__type_is_bytes(type)) {
        return datum->is_null || datum->as.bytes.size <= INLINE_MAX ? 0
                                                                    : padded(datum->as.bytes.size);
    }
    if (sinter__type_is_compact(type) || (datum->is_null && shape->element != NULL)) {
        return 0;
    }
    /* In rows, nulls of these two keep their place: rows are compared and hashed as bytes. */
    return type->id == SINTER_TYPE_DECIMAL ? DECIMAL_CHUNK : TIMESTAMP_CHUNK;
}

sinter_status
sinter__binary_size(const sinter__shape *shape, const sinter_datum *values, size_t *out,
                    sinter_error *err)
{
    uint64_t size = shape_layout(shape).variable_at;

    *out = 0;
    for (size_t i = 0; i < shape->count && size <= SINTER_VALUE_BYTES_MAX; i++) {
        const sinter_type *type = type_at(shape, i);

        if (!values[i].is_null && (sinter__type_is_bytes(type) || sinter_type_is_nested(type)) &&
            values[i].as.bytes.size > SINTER_VALUE_BYTES_MAX) {
            size = SINTER_VALUE_BYTES_MAX + 1;
            break;
        }
        size += chunk_bytes(shape, type, &values[i]);
    }
    if (size > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "%s above %llu bytes",
                           shape->element == NULL ? "a row" : "an array",
                           (unsigned long long)SINTER_VALUE_BYTES_MAX);
    }
    *out = (size_t)size;
    return SINTER_OK;
}

/* A place being written: the slot, and where its chunk would stand. */
typedef struct slot_place {
    uint8_t *begin; /* of the row or array */
    uint8_t *slot;
    size_t chunk_at;
} slot_place;

static void
put_reference(const slot_place *place, uint32_t low)
{
    assert(place->chunk_at <= INT32_MAX);
    sinter__put_le64(place->slot, (uint64_t)place->chunk_at << 32 | low);
}

static void
put_bytes(const slot_place *place, sinter_bytes bytes)
{
    memcpy(place->begin + place->chunk_at, bytes.data, bytes.size);
    put_reference(place, (uint32_t)bytes.size);
}

static void
put_string(const slot_place *place, sinter_bytes bytes)
{
    if (bytes.size <= INLINE_MAX) {
        if (bytes.size > 0) {
            memcpy(place->slot, bytes.data, bytes.size);
        }
        place->slot[INLINE_MAX] = (uint8_t)(0x80u | bytes.size);
        return;
    }
    put_bytes(place, bytes);
}

/* The fewest big-endian bytes of two's complement. */
static void
put_decimal(const slot_place *place, sinter__int128 value)
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
    memcpy(place->begin + place->chunk_at, big + first, DECIMAL_CHUNK - first);
    put_reference(place, (uint32_t)(DECIMAL_CHUNK - first));
}

static void
put_value(const sinter_type *type, const sinter_datum *datum, const slot_place *place)
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
            sinter__put_le64(place->begin + place->chunk_at, (uint64_t)datum->as.integer);
            put_reference(place, (uint32_t)datum->nanos);
        }
        break;
    case SINTER_TYPE_BIGINT:
        sinter__put_le64(place->slot, (uint64_t)datum->as.integer);
        break;
    default:
        if (sinter_type_is_nested(type)) {
            put_bytes(place, datum->as.bytes);
        } else {
            put_string(place, datum->as.bytes);
        }
        break;
    }
}

static void
put_null(const sinter__shape *shape, const sinter_type *type, size_t bit, const slot_place *place)
{
    place->begin[bit / 8] |= (uint8_t)(1u << bit % 8);
    if (shape->element == NULL && !sinter__type_is_compact(type)) {
        put_reference(place, 0);
    }
}

void
sinter__binary_put(const sinter__shape *shape, const sinter_datum *values, uint8_t *out)
{
    const slot_layout layout = shape_layout(shape);
    slot_place place = {
        .begin = out, .slot = out + layout.slots_at, .chunk_at = (size_t)layout.variable_at};

    if (shape->element != NULL) {
        sinter__put_le32(out, (uint32_t)shape->count);
    }
    for (size_t i = 0; i < shape->count; i++) {
        const sinter_type *type = type_at(shape, i);

        if (values[i].is_null) {
            put_null(shape, type, layout.null_bit + i, &place);
        } else {
            put_value(type, &values[i], &place);
        }
        place.slot += layout.slot_bytes;
        place.chunk_at += (size_t)chunk_bytes(shape, type, &values[i]);
    }
}

sinter_status
sinter__slots_of_row(size_t count, sinter_bytes bytes, sinter__slots *out, sinter_error *err)
{
    const slot_layout layout = row_layout(count);

    if (bytes.size < layout.variable_at || bytes.size % 8 != 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT,
                           "a row of %zu columns has %zu bytes, not a multiple of 8 from %llu on",
                           count, bytes.size, (unsigned long long)layout.variable_at);
    }
    *out = (sinter__slots){.bytes = bytes,
                           .count = count,
                           .null_bit = layout.null_bit,
                           .slots_at = (size_t)layout.slots_at,
                           .slot_bytes = layout.slot_bytes,
                           .variable_at = (size_t)layout.variable_at};
    return SINTER_OK;
}

sinter_status
sinter__slots_of_array(const sinter_type *element, sinter_bytes bytes, sinter__slots *out,
                       sinter_error *err)
{
    const uint64_t count = bytes.size < ARRAY_COUNT_BYTES ? 0 : sinter__get_le32(bytes.data);
    const slot_layout layout = array_layout(element, (size_t)count);

    if (count > INT32_MAX || bytes.size < layout.variable_at) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "an array of %llu elements has %zu bytes",
                           (unsigned long long)count, bytes.size);
    }
    *out = (sinter__slots){.bytes = bytes,
                           .count = (size_t)count,
                           .null_bit = layout.null_bit,
                           .slots_at = (size_t)layout.slots_at,
                           .slot_bytes = layout.slot_bytes,
                           .variable_at = (size_t)layout.variable_at};
    return SINTER_OK;
}

/* What reading a slot needs. */
typedef struct slot_cursor {
    const sinter__slots *slots;
    sinter_error *err;
} slot_cursor;

static sinter_status
slot_fault(const slot_cursor *cursor, const char *what)
{
    return SINTER__ERR(cursor->err, SINTER_E_CORRUPT, "%s", what);
}

/* The chunk that a slot refers to: `size` bytes that lie in the variable part; else NULL. */
static const uint8_t *
find_chunk(const slot_cursor *cursor, uint64_t slot, size_t size)
{
    const uint64_t offset = slot >> 32;

    if (offset < cursor->slots->variable_at || offset > cursor->slots->bytes.size ||
        size > cursor->slots->bytes.size - offset) {
        return NULL;
    }
    return cursor->slots->bytes.data + offset;
}

static sinter_status
outside_fault(const slot_cursor *cursor)
{
    return slot_fault(cursor, cursor->slots->null_bit == ROW_NULL_BIT
                                  ? "a value lies outside the row"
                                  : "a value lies outside the array");
}

/* Bytes that lie in the variable part. */
static sinter_status
get_bytes(const slot_cursor *cursor, const uint8_t *slot, sinter_datum *out)
{
    out->as.bytes.size = sinter__get_le32(slot);
    out->as.bytes.data = find_chunk(cursor, sinter__get_le64(slot), out->as.bytes.size);
    return out->as.bytes.data != NULL ? SINTER_OK : outside_fault(cursor);
}

static sinter_status
get_string(const slot_cursor *cursor, const uint8_t *slot, sinter_datum *out)
{
    if ((slot[INLINE_MAX] & 0x80u) != 0) {
        out->as.bytes.data = slot;
        out->as.bytes.size = slot[INLINE_MAX] & 0x7fu;
        return out->as.bytes.size <= INLINE_MAX ? SINTER_OK
                                                : slot_fault(cursor, "a short string is too long");
    }
    return get_bytes(cursor, slot, out);
}

static sinter_status
get_decimal(const slot_cursor *cursor, const uint8_t *slot, sinter_datum *out)
{
    const size_t size = sinter__get_le32(slot);
    const uint8_t *chunk = find_chunk(cursor, sinter__get_le64(slot), DECIMAL_CHUNK);
    sinter__uint128 value = 0;

    if (size == 0 || size > DECIMAL_CHUNK) {
        return slot_fault(cursor, "a DECIMAL has 1 to 16 bytes");
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
get_timestamp(const slot_cursor *cursor, const uint8_t *slot, sinter_datum *out)
{
    const uint32_t nanos = sinter__get_le32(slot);
    const uint8_t *chunk = find_chunk(cursor, sinter__get_le64(slot), TIMESTAMP_CHUNK);

    if (nanos > NANOS_MAX) {
        return slot_fault(cursor, "more than 999999 nanoseconds in a millisecond");
    }
    if (chunk == NULL) {
        return outside_fault(cursor);
    }
    out->nanos = (int32_t)nanos;
    out->as.integer = (int64_t)sinter__get_le64(chunk);
    return SINTER_OK;
}

static sinter_status
get_integer(const slot_cursor *cursor, const sinter_type *type, const uint8_t *slot,
            sinter_datum *out)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        out->as.integer = slot[0];
        return slot[0] <= 1 ? SINTER_OK : slot_fault(cursor, "a BOOLEAN is 0 or 1");
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
            return slot_fault(cursor, "a TIME outside the day");
        }
        return SINTER_OK;
    }
}

static sinter_status
get_value(const slot_cursor *cursor, const sinter_type *type, const uint8_t *slot,
          sinter_datum *out)
{
    if (type->id > SINTER_TYPE_ROW) {
        return SINTER__ERR(cursor->err, SINTER_E_UNSUPPORTED, "values of type %s are not supported",
                           sinter_type_name(type->id));
    }
    if (sinter_type_is_nested(type)) {
        return get_bytes(cursor, slot, out);
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

sinter_status
sinter__slots_get(const sinter__slots *slots, const sinter_type *type, size_t index,
                  sinter_datum *out, sinter_error *err)
{
    const slot_cursor cursor = {.slots = slots, .err = err};
    const size_t bit = slots->null_bit + index;
    const uint8_t *slot = slots->bytes.data + slots->slots_at + index * slots->slot_bytes;

    assert(index < slots->count);
    assert(slots->slot_bytes == SLOT_BYTES || slots->slot_bytes == element_bytes(type));
    memset(out, 0, sizeof *out);
    out->is_null = (slots->bytes.data[bit / 8] >> bit % 8 & 1u) != 0;
    return out->is_null ? SINTER_OK : get_value(&cursor, type, slot, out);
}
