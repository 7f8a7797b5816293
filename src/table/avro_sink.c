/*
 * Rows into Avro data files. A record is encoded straight into the writer's block; values of nested
 * types are walked in their binary form.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/number.h"
#include "doc/type.h"
#include "format/avro_binary.h"
#include "format/avro_reader.h"
#include "format/avro_writer.h"
#include "sinter/nested.h"
#include "table/avro_row_schema.h"
#include "table/row_sink.h"

enum {
    MILLI_DIGITS = 3,
    THOUSAND = 1000,
    DECIMAL_BYTES = 16,
    ATOMIC_BYTES_MAX = 32, /* of a union's branch and a number, or the size of bytes */
    /* A nested value takes no more bytes in Avro than these per byte of its binary form. */
    NESTED_GROWTH = 3
};

typedef struct avro_sink {
    sinter__row_sink base;
    const sinter_env *env;
    sinter__avro_writer *writer;
    sinter_field *fields;
    size_t count;
} avro_sink;

/** A record on its way into the block. */
typedef struct encoder {
    uint8_t *at;
    uint8_t *end;
    const char *column; /* for errors */
    sinter_error *err;
} encoder;

static sinter_status
put(encoder *self, const sinter_type *type, const sinter_datum *value);

/* ---- atomic values ---- */

static void
put_decimal(encoder *self, const sinter_datum *value)
{
    const sinter__uint128 bits = (sinter__uint128)sinter__decimal_get(value);
    const uint8_t sign = value->as.decimal.high < 0 ? 0xff : 0;
    uint8_t big[DECIMAL_BYTES];
    size_t first = 0;

    for (size_t i = 0; i < DECIMAL_BYTES; i++) {
        big[i] = (uint8_t)(bits >> (8 * (DECIMAL_BYTES - 1 - i)));
    }
    while (first + 1 < DECIMAL_BYTES && big[first] == sign &&
           (big[first + 1] & 0x80u) == (sign & 0x80u)) {
        first++; /* the fewest bytes that keep the sign */
    }
    self->at = sinter__avro_put_bytes(self->at, (sinter_bytes){big + first, DECIMAL_BYTES - first});
}

static sinter_status
put_timestamp(encoder *self, const sinter_type *type, const sinter_datum *value)
{
    int64_t units = value->as.integer;

    if (type->precision > MILLI_DIGITS &&
        (__builtin_mul_overflow(units, THOUSAND, &units) ||
         __builtin_add_overflow(units, value->nanos / THOUSAND, &units))) {
        return SINTER__ERR(self->err, SINTER_E_OVERFLOW,
                           "column %.100s: a timestamp that 64 bits don't reach: %lld ms since "
                           "1970",
                           self->column, (long long)value->as.integer);
    }
    self->at = sinter__avro_put_long(self->at, units);
    return SINTER_OK;
}

static sinter_status
put_atomic(encoder *self, const sinter_type *type, const sinter_datum *value)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        *self->at++ = value->as.integer != 0;
        return SINTER_OK;
    case SINTER_TYPE_FLOAT:
        sinter__put_le32(self->at, value->as.float_bits);
        self->at += 4;
        return SINTER_OK;
    case SINTER_TYPE_DOUBLE:
        sinter__put_le64(self->at, value->as.double_bits);
        self->at += 8;
        return SINTER_OK;
    case SINTER_TYPE_DECIMAL:
        put_decimal(self, value);
        return SINTER_OK;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return put_timestamp(self, type, value);
    default:
        if (sinter__type_is_bytes(type)) {
            self->at = sinter__avro_put_bytes(self->at, value->as.bytes);
        } else {
            self->at = sinter__avro_put_long(self->at, value->as.integer);
        }
        return SINTER_OK;
    }
}

/* ---- nested values ---- */

static sinter_status
put_array(encoder *self, const sinter_type *type, sinter_bytes bytes)
{
    sinter_array array;
    sinter_datum element;

    SINTER__CHECK(sinter_array_open(type, bytes, &array, self->err));
    if (array.count > 0) {
        self->at = sinter__avro_put_long(self->at, (int64_t)array.count);
    }
    for (size_t i = 0; i < array.count; i++) {
        SINTER__CHECK(sinter_array_get(&array, i, &element, self->err));
        SINTER__CHECK(put(self, array.element, &element));
    }
    self->at = sinter__avro_put_long(self->at, 0);
    return SINTER_OK;
}

static sinter_status
put_map(encoder *self, const sinter_type *type, sinter_bytes bytes)
{
    sinter_type key_type = type->parts->fields[0].type;
    sinter_type value_type = type->parts->fields[1].type;
    sinter_array keys;
    sinter_array values;
    sinter_datum key;
    sinter_datum value;

    key_type.nullable = false;
    value_type.nullable = value_type.nullable || type->id == SINTER_TYPE_MULTISET;
    SINTER__CHECK(sinter_map_open(type, bytes, &keys, &values, self->err));
    if (keys.count > 0) {
        self->at = sinter__avro_put_long(self->at, (int64_t)keys.count);
    }
    for (size_t i = 0; i < keys.count; i++) {
        SINTER__CHECK(sinter_array_get(&keys, i, &key, self->err));
        SINTER__CHECK(sinter_array_get(&values, i, &value, self->err));
        SINTER__CHECK(put(self, &key_type, &key));
        SINTER__CHECK(put(self, &value_type, &value));
    }
    self->at = sinter__avro_put_long(self->at, 0);
    return SINTER_OK;
}

static sinter_status
put_row(encoder *self, const sinter_type *type, sinter_bytes bytes)
{
    sinter_datum field;

    for (size_t i = 0; i < type->parts->count; i++) {
        SINTER__CHECK(sinter_nested_row_get(type, bytes, i, &field, self->err));
        SINTER__CHECK(put(self, &type->parts->fields[i].type, &field));
    }
    return SINTER_OK;
}

static sinter_status
put_nested(encoder *self, const sinter_type *type, sinter_bytes bytes)
{
    switch (type->id) {
    case SINTER_TYPE_ARRAY:
        return put_array(self, type, bytes);
    case SINTER_TYPE_ROW:
        return put_row(self, type, bytes);
    default:
        return put_map(self, type, bytes);
    }
}

/* ---- rows ---- */

static size_t
room_of(const sinter_type *type, const sinter_datum *value)
{
    if (value->is_null) {
        return ATOMIC_BYTES_MAX;
    }
    if (sinter_type_is_nested(type)) {
        return ATOMIC_BYTES_MAX + NESTED_GROWTH * value->as.bytes.size;
    }
    return ATOMIC_BYTES_MAX + (sinter__type_is_bytes(type) ? value->as.bytes.size : 0);
}

static sinter_status
put(encoder *self, const sinter_type *type, const sinter_datum *value)
{
    /* What follows an array's items is below this, too. */
    if ((size_t)(self->end - self->at) <
        ATOMIC_BYTES_MAX +
            (value->is_null || !sinter__type_is_bytes(type) ? 0 : value->as.bytes.size)) {
        return SINTER__ERR(self->err, SINTER_E_CORRUPT, "column %.100s: the value is damaged",
                           self->column);
    }
    if (value->is_null && !type->nullable) {
        return SINTER__ERR(self->err, SINTER_E_INVALID,
                           "column %.100s: null in a type that is "
                           "NOT NULL",
                           self->column);
    }
    if (type->nullable) {
        *self->at++ = value->is_null ? 0 : 2; /* the branch, as a number */
    }
    if (value->is_null) {
        return SINTER_OK;
    }
    return sinter_type_is_nested(type) ? put_nested(self, type, value->as.bytes)
                                       : put_atomic(self, type, value);
}

static sinter_status
avro_append(sinter__row_sink *base, const sinter_datum *values, sinter_error *err)
{
    avro_sink *sink = (avro_sink *)base;
    size_t room = ATOMIC_BYTES_MAX;
    encoder record = {.err = err};
    uint8_t *begin = NULL;

    for (size_t i = 0; i < sink->count; i++) {
        room += room_of(&sink->fields[i].type, &values[i]);
    }
    SINTER__CHECK(sinter__avro_writer_reserve(sink->writer, room, &begin, err));
    record.at = begin;
    record.end = begin + room;
    for (size_t i = 0; i < sink->count; i++) {
        record.column = sink->fields[i].name;
        SINTER__CHECK(put(&record, &sink->fields[i].type, &values[i]));
    }
    return sinter__avro_writer_commit(sink->writer, (size_t)(record.at - begin), err);
}

static sinter_status
avro_append_records(sinter__row_sink *base, const sinter_bytes *records, size_t count,
                    sinter_error *err)
{
    return sinter__avro_writer_append(((avro_sink *)base)->writer, records, count, err);
}

static uint64_t
avro_bytes(const sinter__row_sink *base)
{
    return sinter__avro_writer_bytes(((const avro_sink *)base)->writer);
}

static sinter_status
avro_finish(sinter__row_sink *base, uint64_t *bytes_out, sinter_error *err)
{
    return sinter__avro_writer_finish(((avro_sink *)base)->writer, bytes_out, err);
}

static void
avro_close(sinter__row_sink *base)
{
    avro_sink *sink = (avro_sink *)base;

    sinter__avro_writer_close(sink->writer);
    sinter__free(sink->env, sink->fields);
    sinter__free(sink->env, sink);
}

static sinter_status
open_file(avro_sink *sink, const sinter__row_output *output, sinter_error *err)
{
    sinter__avro_writer_options options = {
        .codec = {.codec = (sinter__avro_codec)output->form->codec,
                  .level = output->form->codec_level},
        .flags = output->io_flags};
    sinter_text schema;
    sinter_status st = SINTER_OK;

    sinter_text_init(sink->env, &schema);
    SINTER__TRY(sinter__avro_row_schema(output->fields, output->count, &schema, err));
    if (schema.size > SINTER__AVRO_SCHEMA_BYTES_MAX) {
        SINTER__FAIL_AT(err, SINTER_E_TOO_LARGE, output->path, -1,
                        "the columns take a schema of %zu bytes", schema.size);
    }
    options.schema = schema.data;
    SINTER__TRY(sinter__avro_writer_open(sink->env, output->path, &options, &sink->writer, err));
out:
    sinter_text_fini(&schema);
    return st;
}

sinter_status
sinter__avro_sink_open(const sinter_env *env, const sinter__row_output *output,
                       sinter__row_sink **out, sinter_error *err)
{
    avro_sink *sink = NULL;
    sinter_status st = SINTER_OK;

    assert(output->form->kind == SINTER__FILE_AVRO);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, sink, 1, err));
    sink->base = (sinter__row_sink){.append = avro_append,
                                    .append_records = avro_append_records,
                                    .bytes = avro_bytes,
                                    .finish = avro_finish,
                                    .close = avro_close};
    sink->env = env;
    SINTER__TRY(SINTER__NEW(env, sink->fields, output->count, err));
    memcpy(sink->fields, output->fields, output->count * sizeof *sink->fields);
    sink->count = output->count;
    SINTER__TRY(open_file(sink, output, err));
    *out = &sink->base;
    sink = NULL;
out:
    if (sink != NULL) {
        avro_close(&sink->base);
    }
    return st;
}
