#include "table/columnar_records.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "doc/text.h"
#include "doc/type.h"
#include "format/avro_binary.h"
#include "format/avro_reader.h"

enum { BATCH_ROWS = 1024, DEPTH_MAX = 16, LETTER_OF_UNIT = 2 };

/** How the values of a column, or of a part of one, are put. */
typedef enum node_form {
    NODE_BOOLEAN,
    NODE_INT8,
    NODE_INT16,
    NODE_INT32,
    NODE_INT64,
    NODE_FLOAT,
    NODE_DOUBLE,
    NODE_MILLIS, /* a timestamp */
    NODE_BYTES,
    NODE_RECORD,
    NODE_LIST
} node_form;

typedef struct node node;
struct node {
    node_form form;
    bool is_nullable;
    int64_t per_ms; /* NODE_MILLIS: units of a millisecond */
    node *parts;
    size_t part_count;
};

struct sinter__columnar_records {
    const sinter_env *env;
    sinter__arena arena; /* of nodes */
    sinter__columnar library;
    sinter__columnar_file *file;
    sinter__columnar_batch *batch;
    struct ArrowArray array; /* of the batch */
    int64_t row;             /* the next one of the batch */
    node root;
    sinter_text schema;
    sinter_text record; /* the last one */
};

/* ---- schema ---- */

/** Arrow's words for atomic types, and Avro's. */
static const struct {
    const char *format;
    const char *avro;
    node_form form;
} plain_forms[] = {
    {"b", "\"boolean\"", NODE_BOOLEAN}, {"c", "\"int\"", NODE_INT8},
    {"s", "\"int\"", NODE_INT16},       {"i", "\"int\"", NODE_INT32},
    {"l", "\"long\"", NODE_INT64},      {"f", "\"float\"", NODE_FLOAT},
    {"g", "\"double\"", NODE_DOUBLE},   {"u", "\"string\"", NODE_BYTES},
    {"z", "\"bytes\"", NODE_BYTES},
};

static const char millis[] = "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}";

/** The Avro type of a column that isn't nested; NULL: metadata has none of its type. */
static const char *
find_plain(const struct ArrowSchema *field, node *out)
{
    static const struct {
        char letter;
        int64_t per_ms;
    } units[] = {{'m', 1}, {'u', 1000}, {'n', 1000000}};

    for (size_t i = 0; i < sizeof plain_forms / sizeof plain_forms[0]; i++) {
        if (strcmp(field->format, plain_forms[i].format) == 0) {
            out->form = plain_forms[i].form;
            return plain_forms[i].avro;
        }
    }
    for (size_t i = 0; strncmp(field->format, "ts", 2) == 0 && i < sizeof units / sizeof units[0];
         i++) {
        if (field->format[LETTER_OF_UNIT] == units[i].letter) {
            out->form = NODE_MILLIS;
            out->per_ms = units[i].per_ms;
            return millis;
        }
    }
    return NULL;
}

/** A record, list, or column that is being compiled. */
typedef struct place {
    const struct ArrowSchema *field;
    const char *record_name; /* of a record that it is or holds: "record", "record__FILE" */
    uint32_t depth;
} place;

static sinter_status
compile(sinter__columnar_records *self, const place *at, node *out, sinter_error *err);

/** A field of a record: its name, type, default. */
static sinter_status
compile_field(sinter__columnar_records *self, const place *outer, size_t index, node *out,
              sinter_error *err)
{
    const struct ArrowSchema *field = outer->field->children[index];
    const sinter_bytes name = {(const uint8_t *)field->name, strlen(field->name)};
    sinter_bytes full = {NULL, strlen(outer->record_name) + 1 + name.size + 1};
    const place at = {field, NULL, outer->depth + 1};
    place inner = at;
    char *to = NULL;

    if (!sinter__utf8_is_valid(name)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "the name of a column isn't UTF-8");
    }
    SINTER__CHECK(sinter__arena_take(&self->arena, full.size, (void **)&to, err));
    inner.record_name = to;
    to = stpcpy(stpcpy(stpcpy(to, outer->record_name), "_"), field->name);
    assert((size_t)(to - inner.record_name) == full.size - 1);
    SINTER__CHECK(sinter__text_puts(&self->schema, index == 0 ? "{\"name\":" : ",{\"name\":", err));
    SINTER__CHECK(sinter__json_string_print(name, &self->schema, err));
    SINTER__CHECK(sinter__text_puts(&self->schema, ",\"type\":", err));
    SINTER__CHECK(compile(self, &inner, out, err));
    return sinter__text_puts(&self->schema, out->is_nullable ? ",\"default\":null}" : "}", err);
}

static sinter_status
compile_nested(sinter__columnar_records *self, const place *at, node *out, sinter_error *err)
{
    const size_t count = (size_t)at->field->n_children;
    const place element = {at->field->children[0], at->record_name, at->depth + 1};

    if (at->depth >= DEPTH_MAX) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "types are nested more than %d deep",
                           DEPTH_MAX);
    }
    SINTER__CHECK(
        sinter__arena_take(&self->arena, count * sizeof *out->parts, (void **)&out->parts, err));
    memset(out->parts, 0, count * sizeof *out->parts);
    out->part_count = count;
    if (out->form == NODE_LIST) {
        SINTER__CHECK(sinter__text_puts(&self->schema, "{\"type\":\"array\",\"items\":", err));
        SINTER__CHECK(compile(self, &element, &out->parts[0], err));
        return sinter__text_puts(&self->schema, "}", err);
    }
    SINTER__CHECK(sinter__text_puts(&self->schema, "{\"type\":\"record\",\"name\":", err));
    SINTER__CHECK(sinter__json_string_print(
        (sinter_bytes){(const uint8_t *)at->record_name, strlen(at->record_name)}, &self->schema,
        err));
    SINTER__CHECK(sinter__text_puts(&self->schema, ",\"fields\":[", err));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(compile_field(self, at, i, &out->parts[i], err));
    }
    return sinter__text_puts(&self->schema, "]}", err);
}

static sinter_status
compile(sinter__columnar_records *self, const place *at, node *out, sinter_error *err)
{
    const struct ArrowSchema *field = at->field;
    const bool is_record = strcmp(field->format, "+s") == 0 && field->n_children > 0;
    const bool is_list = strcmp(field->format, "+l") == 0 && field->n_children == 1;
    const char *plain = NULL;

    out->is_nullable = at->depth > 0 && (field->flags & ARROW_FLAG_NULLABLE) != 0;
    if (out->is_nullable) {
        SINTER__CHECK(sinter__text_puts(&self->schema, "[\"null\",", err));
    }
    if (is_record || is_list) {
        out->form = is_record ? NODE_RECORD : NODE_LIST;
        SINTER__CHECK(compile_nested(self, at, out, err));
    } else {
        plain = field->dictionary == NULL ? find_plain(field, out) : NULL;
        if (plain == NULL) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                               "column %.100s is %s, which no metadata is", field->name,
                               field->format);
        }
        SINTER__CHECK(sinter__text_puts(&self->schema, plain, err));
    }
    return sinter__text_puts(&self->schema, out->is_nullable ? "]" : "", err);
}

/* ---- values ---- */

static bool
get_bit(const void *bits, int64_t at)
{
    return (((const uint8_t *)bits)[at / 8] >> (at % 8) & 1) != 0;
}

static sinter_status
put_long(sinter_text *out, int64_t value, sinter_error *err)
{
    uint8_t bytes[SINTER__AVRO_LONG_BYTES_MAX];
    const uint8_t *end = sinter__avro_put_long(bytes, value);

    return sinter_text_append(out, bytes, (size_t)(end - bytes), err);
}

static sinter_status
put_bytes(sinter_text *out, const struct ArrowArray *array, int64_t at, sinter_error *err)
{
    const int32_t *offsets = array->buffers[1];
    const uint8_t *bytes = array->buffers[2];
    const size_t size = (size_t)(offsets[at + 1] - offsets[at]);

    SINTER__CHECK(put_long(out, (int64_t)size, err));
    return size == 0 ? SINTER_OK : sinter_text_append(out, bytes + offsets[at], size, err);
}

static sinter_status
put_millis(sinter_text *out, int64_t value, int64_t per_ms, sinter_error *err)
{
    if (value % per_ms != 0) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "a timestamp that is no whole millisecond");
    }
    return put_long(out, value / per_ms, err);
}

static sinter_status
put_plain(sinter_text *out, const node *n, const struct ArrowArray *array, int64_t at,
          sinter_error *err)
{
    const void *values = array->buffers[1];

    switch (n->form) {
    case NODE_BOOLEAN: {
        const uint8_t byte = get_bit(values, at) ? 1 : 0;

        return sinter_text_append(out, &byte, 1, err);
    }
    case NODE_INT8:
        return put_long(out, (int64_t)((const int8_t *)values)[at], err);
    case NODE_INT16:
        return put_long(out, ((const int16_t *)values)[at], err);
    case NODE_INT32:
        return put_long(out, ((const int32_t *)values)[at], err);
    case NODE_INT64:
        return put_long(out, ((const int64_t *)values)[at], err);
    case NODE_FLOAT: /* in the byte order of the machine, which is Avro's */
        return sinter_text_append(out, (const float *)values + at, sizeof(float), err);
    case NODE_DOUBLE:
        return sinter_text_append(out, (const double *)values + at, sizeof(double), err);
    case NODE_MILLIS:
        return put_millis(out, ((const int64_t *)values)[at], n->per_ms, err);
    default:
        return put_bytes(out, array, at, err);
    }
}

static sinter_status
put(sinter_text *out, const node *n, const struct ArrowArray *array, int64_t row,
    sinter_error *err);

static sinter_status
put_list(sinter_text *out, const node *n, const struct ArrowArray *array, int64_t at,
         sinter_error *err)
{
    const int32_t *offsets = array->buffers[1];

    if (offsets[at] < offsets[at + 1]) {
        SINTER__CHECK(put_long(out, offsets[at + 1] - offsets[at], err));
    }
    for (int64_t i = offsets[at]; i < offsets[at + 1]; i++) {
        SINTER__CHECK(put(out, &n->parts[0], array->children[0], i, err));
    }
    return put_long(out, 0, err);
}

static sinter_status
put(sinter_text *out, const node *n, const struct ArrowArray *array, int64_t row, sinter_error *err)
{
    const int64_t at = array->offset + row;
    const bool is_null = array->null_count != 0 && array->n_buffers > 0 &&
                         array->buffers[0] != NULL && !get_bit(array->buffers[0], at);

    assert(row >= 0 && row < array->length);
    if (is_null && !n->is_nullable) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a value is null where there is always one");
    }
    if (n->is_nullable) {
        SINTER__CHECK(put_long(out, is_null ? 0 : 1, err));
    }
    if (is_null) {
        return SINTER_OK;
    }
    if (n->form == NODE_LIST) {
        return put_list(out, n, array, at, err);
    }
    if (n->form != NODE_RECORD) {
        return put_plain(out, n, array, at, err);
    }
    for (size_t i = 0; i < n->part_count; i++) {
        SINTER__CHECK(put(out, &n->parts[i], array->children[i], at, err));
    }
    return SINTER_OK;
}

/* ---- files ---- */

static void
release_batch(sinter__columnar_records *self)
{
    if (self->array.release != NULL) {
        self->array.release(&self->array);
    }
    self->library.api->batch_release(self->batch);
    self->batch = NULL;
}

static sinter_status
compile_schema(sinter__columnar_records *self, sinter_error *err)
{
    struct ArrowSchema schema = {0};
    sinter_status st = SINTER_OK;

    SINTER__CHECK(self->library.api->file_schema(self->file, &schema, err));
    if (schema.n_children == 0) {
        st = SINTER__ERR(err, SINTER_E_CORRUPT, "the file has no columns");
    } else {
        st = compile(self, &(const place){&schema, "record", 0}, &self->root, err);
    }
    schema.release(&schema);
    if (st == SINTER_OK && self->schema.size > SINTER__AVRO_SCHEMA_BYTES_MAX) {
        st = SINTER__ERR(err, SINTER_E_TOO_LARGE, "the file has %zu columns and parts",
                         self->root.part_count);
    }
    return st;
}

static sinter_status
open_file(sinter__columnar_records *self, const char *path, uint64_t expected_bytes,
          sinter_error *err)
{
    const sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read,
                                        .batch_rows = BATCH_ROWS};

    SINTER__CHECK(sinter__columnar_load(self->env, &self->library, err));
    SINTER__CHECK(self->library.api->file_open(&self->library.host, path, SINTER_IO_SEQUENTIAL,
                                               expected_bytes, &self->file, err));
    SINTER__CHECK(compile_schema(self, err));
    return self->library.api->file_read(self->file, &read, err);
}

sinter_status
sinter__columnar_records_open(const sinter_env *env, const char *path, uint64_t expected_bytes,
                              sinter__columnar_records **out, sinter_error *err)
{
    sinter__columnar_records *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->arena.env = env;
    sinter_text_init(env, &self->schema);
    sinter_text_init(env, &self->record);
    st = open_file(self, path, expected_bytes, err);
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
        sinter__columnar_records_close(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

sinter_bytes
sinter__columnar_records_schema(const sinter__columnar_records *self)
{
    return (sinter_bytes){(const uint8_t *)self->schema.data, self->schema.size};
}

sinter_status
sinter__columnar_records_next(sinter__columnar_records *self, sinter_bytes *out, sinter_error *err)
{
    const sinter__columnar_api *api = self->library.api;

    while (self->batch == NULL || self->row == self->array.length) {
        release_batch(self);
        SINTER__CHECK(api->file_next(self->file, &self->batch, err));
        SINTER__CHECK(api->batch_export(self->batch, &self->array, err));
        self->row = 0;
    }
    sinter_text_reset(&self->record);
    SINTER__CHECK(put(&self->record, &self->root, &self->array, self->row, err));
    self->row++;
    *out = (sinter_bytes){(const uint8_t *)self->record.data, self->record.size};
    return SINTER_OK;
}

void
sinter__columnar_records_close(sinter__columnar_records *self)
{
    if (self == NULL) {
        return;
    }
    if (self->library.api != NULL) {
        release_batch(self);
        self->library.api->file_close(self->file);
    }
    sinter_text_fini(&self->schema);
    sinter_text_fini(&self->record);
    sinter__arena_fini(&self->arena);
    sinter__free(self->env, self);
}
