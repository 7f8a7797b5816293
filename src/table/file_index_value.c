#include "table/file_index_value.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"

enum {
    MILLIS_MAX = 3, /* precision up to which a TIMESTAMP counts milliseconds */
    MICROS = 1000,
    NANOS = 1000,
    MURMUR_SEED = 42,
    JAVA_TRUE = 1231,
    JAVA_FALSE = 1237
};

#define FLOAT_NAN 0x7fc00000u
#define FLOAT_INFINITY 0x7f800000u
#define DOUBLE_NAN 0x7ff8000000000000u
#define DOUBLE_INFINITY 0x7ff0000000000000u

sinter__index_form
sinter__index_form_of(const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        return SINTER__INDEX_BOOLEAN;
    case SINTER_TYPE_TINYINT:
        return SINTER__INDEX_INT8;
    case SINTER_TYPE_SMALLINT:
        return SINTER__INDEX_INT16;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
        return SINTER__INDEX_INT32;
    case SINTER_TYPE_FLOAT:
        return SINTER__INDEX_FLOAT;
    case SINTER_TYPE_DOUBLE:
        return SINTER__INDEX_DOUBLE;
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        return SINTER__INDEX_BYTES;
    default:
        return SINTER__INDEX_INT64;
    }
}

static sinter_status
set_timestamp(const sinter_type *type, const sinter_datum *datum, int64_t *out, sinter_error *err)
{
    int64_t number = datum->as.integer;

    if (type->precision > MILLIS_MAX &&
        (__builtin_mul_overflow(number, MICROS, &number) ||
         __builtin_add_overflow(number, datum->nanos / NANOS, &number))) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW,
                           "the microseconds of a TIMESTAMP don't go into 64 bits");
    }
    *out = number;
    return SINTER_OK;
}

static sinter_status
set_decimal(const sinter_datum *datum, int64_t *out, sinter_error *err)
{
    const int64_t low = (int64_t)datum->as.decimal.low;

    if (datum->as.decimal.high != (low < 0 ? -1 : 0)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "the digits of a DECIMAL don't go into 64 bits");
    }
    *out = low;
    return SINTER_OK;
}

sinter_status
sinter__index_value_of(const sinter_type *type, const sinter_datum *datum, sinter__index_value *out,
                       sinter_error *err)
{
    *out = (sinter__index_value){.number = 0};
    switch (type->id) {
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        out->bytes = datum->as.bytes;
        return SINTER_OK;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return set_timestamp(type, datum, &out->number, err);
    case SINTER_TYPE_DECIMAL:
        return set_decimal(datum, &out->number, err);
    case SINTER_TYPE_FLOAT: {
        const uint32_t bits = datum->as.float_bits;

        out->number = (int32_t)((bits & ~(1u << 31)) > FLOAT_INFINITY ? FLOAT_NAN : bits);
        return SINTER_OK;
    }
    case SINTER_TYPE_DOUBLE: {
        const uint64_t bits = datum->as.double_bits;

        out->number =
            (int64_t)((bits & ~((uint64_t)1 << 63)) > DOUBLE_INFINITY ? DOUBLE_NAN : bits);
        return SINTER_OK;
    }
    default:
        out->number = datum->as.integer;
        return SINTER_OK;
    }
}

/* A number that sorts as it does: bits of a negative FLOAT or DOUBLE count backwards. */
static int64_t
rank_of(sinter__index_form form, int64_t number)
{
    return (form == SINTER__INDEX_FLOAT || form == SINTER__INDEX_DOUBLE) && number < 0
               ? number ^ INT64_MAX
               : number;
}

int
sinter__index_value_compare(sinter__index_form form, const sinter__index_value *a,
                            const sinter__index_value *b)
{
    const int64_t left = rank_of(form, a->number);
    const int64_t right = rank_of(form, b->number);

    return form == SINTER__INDEX_BYTES ? sinter__key_compare(a->bytes, b->bytes)
                                       : (left > right) - (left < right);
}

size_t
sinter__index_value_size(sinter__index_form form, const sinter__index_value *value)
{
    static const uint8_t sizes[] = {[SINTER__INDEX_BYTES] = sizeof(uint32_t),
                                    [SINTER__INDEX_BOOLEAN] = 1,
                                    [SINTER__INDEX_INT8] = 1,
                                    [SINTER__INDEX_INT16] = sizeof(int16_t),
                                    [SINTER__INDEX_INT32] = sizeof(int32_t),
                                    [SINTER__INDEX_INT64] = sizeof(int64_t),
                                    [SINTER__INDEX_FLOAT] = sizeof(int32_t),
                                    [SINTER__INDEX_DOUBLE] = sizeof(int64_t)};

    return sizes[form] + (form == SINTER__INDEX_BYTES ? value->bytes.size : 0);
}

uint8_t *
sinter__index_value_put(sinter__index_form form, const sinter__index_value *value, uint8_t *to)
{
    size_t size = sinter__index_value_size(form, value);

    if (form == SINTER__INDEX_BYTES) {
        sinter__put_be32(to, (uint32_t)value->bytes.size);
        if (value->bytes.size > 0) {
            memcpy(to + sizeof(uint32_t), value->bytes.data, value->bytes.size);
        }
        return to + size;
    }
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)((uint64_t)value->number >> (8 * (size - 1 - i)));
    }
    return to + size;
}

/* ---- hashes ---- */

static uint32_t
rotate(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

static uint32_t
murmur_step(uint32_t hash, uint32_t word)
{
    hash ^= rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
    return rotate(hash, 13) * 5 + 0xe6546b64u;
}

/* MurmurHash3 of 32 bits, but bytes behind the last word count one by one, with their sign. */
static uint32_t
murmur(sinter_bytes bytes)
{
    uint32_t hash = MURMUR_SEED;
    size_t at = 0;

    for (; at + 4 <= bytes.size; at += 4) {
        hash = murmur_step(hash, sinter__get_le32(bytes.data + at));
    }
    for (; at < bytes.size; at++) {
        hash = murmur_step(hash, (uint32_t)(int32_t)(int8_t)bytes.data[at]);
    }
    hash ^= (uint32_t)bytes.size;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

uint32_t
sinter__index_value_java_hash(sinter__index_form form, const sinter__index_value *value)
{
    const uint64_t number = (uint64_t)value->number;

    switch (form) {
    case SINTER__INDEX_BYTES:
        return murmur(value->bytes);
    case SINTER__INDEX_BOOLEAN:
        return number != 0 ? JAVA_TRUE : JAVA_FALSE;
    case SINTER__INDEX_INT64:
    case SINTER__INDEX_DOUBLE:
        return (uint32_t)(number ^ number >> 32);
    default:
        return (uint32_t)number;
    }
}

/* Shift right and keep the sign, whatever the compiler makes of negative numbers. */
static uint64_t
shift_signed(uint64_t number, unsigned bits)
{
    return number >> bits | (number >> 63 != 0 ? ~(UINT64_MAX >> bits) : 0);
}

uint64_t
sinter__index_value_bloom_hash(sinter__index_form form, const sinter__index_value *value)
{
    uint64_t key = (uint64_t)value->number;

    if (form == SINTER__INDEX_BYTES) {
        return sinter__hash_xx64(value->bytes.data, value->bytes.size);
    }
    key = ~key + (key << 21);
    key ^= shift_signed(key, 24);
    key = key + (key << 3) + (key << 8);
    key ^= shift_signed(key, 14);
    key = key + (key << 2) + (key << 4);
    key ^= shift_signed(key, 28);
    return key + (key << 31);
}
