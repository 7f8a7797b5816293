#include "table/columns_reader.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/binary.h"
#include "doc/text.h"
#include "doc/type.h"
#include "sinter/io.h"
#include "sst/keys.h"
#include "table/columnar_type.h"

enum { KEY_SLACK = 16 /* readable bytes behind the last key */ };

/** A batch's own arrays, one item a row. */
typedef struct row_arrays {
    uint32_t capacity;
    uint32_t *key_offsets; /* one more */
    uint64_t *prefixes;
    int64_t *positions; /* sequences of files without them */
    uint8_t *zeros;     /* kinds of files without them */
    uint8_t *dropped;
} row_arrays;

typedef struct columns_reader {
    sinter_reader base;
    const sinter_env *env;
    sinter__columns_request request;
    sinter__arena arena;
    sinter__columnar library;
    sinter__columnar_file *file;
    sinter__columnar_batch *read;
    struct ArrowArray array; /* of it */
    sinter__cells *cells;    /* one per field */
    sinter_datum *key_values;
    size_t *keys;    /* positions of the key's fields */
    size_t sequence; /* position of the field; the kind follows */
    sinter_text key_bytes;
    sinter_text begin_key;
    sinter_text end_key;
    bool has_begin_key;
    bool has_end_key;
    bool is_over;
    uint64_t position; /* in the file, of the next batch that is read */
    uint32_t prefix_skip;
    uint32_t origin;
    row_arrays rows;
    sinter__columns_payload payload;
    sinter_batch batch;
} columns_reader;

static void
release_read(columns_reader *self)
{
    if (self->array.release != NULL) {
        self->array.release(&self->array);
    }
    self->library.api->batch_release(self->read);
    self->read = NULL;
}

static void
columns_close(sinter_reader *base)
{
    columns_reader *self = (columns_reader *)base;
    const sinter_env *env = self->env;

    for (size_t i = 0; self->cells != NULL && i < self->request.plan->field_count; i++) {
        sinter__cells_fini(&self->cells[i]);
    }
    if (self->library.api != NULL) {
        release_read(self);
        self->library.api->file_close(self->file);
    }
    sinter__free(env, self->rows.key_offsets);
    sinter__free(env, self->rows.prefixes);
    sinter__free(env, self->rows.positions);
    sinter__free(env, self->rows.zeros);
    sinter__free(env, self->rows.dropped);
    sinter_text_fini(&self->key_bytes);
    sinter_text_fini(&self->begin_key);
    sinter_text_fini(&self->end_key);
    sinter__arena_fini(&self->arena);
    sinter__free(env, self);
}

/* ---- spilling ---- */

/* A row as BinaryRow of the table's columns. */
static sinter_status
freeze_columns(const sinter__columns_payload *payload, uint32_t row,
               sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
               sinter_error *err)
{
    const sinter__write_plan *plan = payload->plan;
    const size_t count = plan->field_count - plan->system_count;
    const sinter__shape shape = {.fields = plan->fields + plan->system_count, .count = count};
    const sinter_env *env = plan->arena.env;
    sinter_datum *values = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(env, values, count, err));
    for (size_t i = 0; i < count; i++) {
        const size_t field = plan->system_count + i;

        SINTER__TRY(sinter__cells_get(&payload->cells[field], payload->array->children[field],
                                      (int64_t)(payload->first + row), &values[i], err));
    }
    SINTER__TRY(sinter__binary_size(&shape, values, &size, err));
    SINTER__TRY(SINTER__NEW(env, bytes, size, err));
    sinter__binary_put(&shape, values, bytes);
    st = put(put_ctx, bytes, size);
out:
    sinter__free(env, bytes);
    sinter__free(env, values);
    return st;
}

/* Rows that were spilled before are what they become. */
static sinter_status
freeze(const sinter_batch *batch, uint32_t row,
       sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
       sinter_error *err)
{
    const sinter__columns_payload *payload = batch->payload;

    return payload->batch == NULL ? put(put_ctx, payload->rows[row].data, payload->rows[row].size)
                                  : freeze_columns(payload, row, put, put_ctx, err);
}

static sinter_status
thaw(const sinter_env *env, const sinter_bytes *frozen, uint32_t row_count, void **state,
     const void **payload_out, sinter_error *err)
{
    sinter__columns_payload *payload = *state;

    (void)row_count;
    if (payload == NULL) {
        SINTER__CHECK(SINTER__NEW(env, payload, 1, err));
        *state = payload;
    }
    payload->rows = frozen;
    *payload_out = payload;
    return SINTER_OK;
}

static void
thaw_end(const sinter_env *env, void *state)
{
    sinter__free(env, state);
}

const sinter_payload_ops sinter__columns_payload_ops = {.struct_size =
                                                            (uint32_t)sizeof(sinter_payload_ops),
                                                        .format = "columns",
                                                        .freeze = freeze,
                                                        .thaw = thaw,
                                                        .thaw_end = thaw_end};

/* ---- keys ---- */

/* Arrays for so many rows, none of which hold anything yet but zeros. */
static sinter_status
fit_rows(columns_reader *self, uint32_t count, sinter_error *err)
{
    row_arrays *rows = &self->rows;
    const sinter_env *env = self->env;

    if (count <= rows->capacity) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__resize(env, (void **)&rows->key_offsets, (size_t)count + 1,
                                 sizeof *rows->key_offsets, err));
    SINTER__CHECK(
        sinter__resize(env, (void **)&rows->prefixes, count, sizeof *rows->prefixes, err));
    SINTER__CHECK(
        sinter__resize(env, (void **)&rows->positions, count, sizeof *rows->positions, err));
    SINTER__CHECK(sinter__resize(env, (void **)&rows->zeros, count, 1, err));
    SINTER__CHECK(sinter__resize(env, (void **)&rows->dropped, count, 1, err));
    memset(rows->zeros, 0, count);
    rows->capacity = count;
    return SINTER_OK;
}

static sinter_status
encode_key(columns_reader *self, int64_t row, sinter_error *err)
{
    const size_t count = self->request.plan->key_count;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < count; i++) {
        const size_t field = self->keys[i];

        SINTER__CHECK(sinter__cells_get(&self->cells[field], self->array.children[field], row,
                                        &self->key_values[i], err));
    }
    st = sinter_key_encode(self->request.key_codec, self->key_values, &self->key_bytes, &detail);
    if (st == SINTER_E_INVALID) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "key: %s", detail.text);
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    return st;
}

/* May keys be encoded by encode_plain_keys()? Their one column is a number or a text, of which
 * columns may not be null. */
static bool
is_plain_key(const columns_reader *self)
{
    const sinter__cells *cells = &self->cells[self->keys[0]];
    const struct ArrowArray *array = self->array.children[self->keys[0]];
    const sinter_type *type = sinter_key_codec_type(self->request.key_codec, 0);

    return sinter_key_codec_count(self->request.key_codec) == 1 && !type->nullable &&
           !cells->is_padded && (array->null_count == 0 || array->buffers[0] == NULL) &&
           ((type->id == SINTER_TYPE_INT && cells->form == SINTER__CELL_INT32) ||
            (type->id == SINTER_TYPE_BIGINT && cells->form == SINTER__CELL_INT64) ||
            (sinter__type_is_bytes(type) && cells->form == SINTER__CELL_BYTES));
}

/* Numbers as the codec has them: from the most significant byte on, the sign turned. */
static sinter_status
encode_numbers(columns_reader *self, uint32_t count, sinter_error *err)
{
    const struct ArrowArray *array = self->array.children[self->keys[0]];
    const bool is_wide = self->cells[self->keys[0]].form == SINTER__CELL_INT64;
    const size_t width = is_wide ? sizeof(int64_t) : sizeof(int32_t);
    uint8_t *to = NULL;

    SINTER__CHECK(sinter__text_reserve(&self->key_bytes, count * width, err));
    to = (uint8_t *)self->key_bytes.data;
    for (uint32_t i = 0; i < count; i++, to += width) {
        if (is_wide) {
            const int64_t value = ((const int64_t *)array->buffers[1])[array->offset + i];

            sinter__put_be64(to, (uint64_t)value ^ (uint64_t)1 << 63);
        } else {
            const int32_t value = ((const int32_t *)array->buffers[1])[array->offset + i];

            sinter__put_be32(to, (uint32_t)value ^ (uint32_t)1 << 31);
        }
        self->rows.key_offsets[i + 1] = (uint32_t)((i + 1) * width);
    }
    self->key_bytes.size = count * width;
    return SINTER_OK;
}

/* Texts that are as they should be; `*done_out` is how many of the first ones were. */
static sinter_status
encode_texts(columns_reader *self, uint32_t count, uint32_t *done_out, sinter_error *err)
{
    const struct ArrowArray *array = self->array.children[self->keys[0]];
    const uint32_t precision = sinter_key_codec_type(self->request.key_codec, 0)->precision;
    const int32_t *offsets = (const int32_t *)array->buffers[1] + array->offset;
    const size_t size = (size_t)(offsets[count] - offsets[0]);
    uint32_t i = 0;

    SINTER__CHECK(sinter__text_reserve(&self->key_bytes, size, err));
    /* Not more bytes than characters may be is short enough. What isn't is looked at by the codec,
     * which knows what to say. */
    while (i < count && (uint32_t)(offsets[i + 1] - offsets[i]) <= precision &&
           (uint32_t)(offsets[i + 1] - offsets[i]) <= SINTER_KEY_BYTES_MAX) {
        self->rows.key_offsets[i + 1] = (uint32_t)(offsets[i + 1] - offsets[0]);
        i++;
    }
    self->key_bytes.size = self->rows.key_offsets[i];
    if (self->key_bytes.size > 0) {
        memcpy(self->key_bytes.data, (const uint8_t *)array->buffers[2] + offsets[0],
               self->key_bytes.size);
    }
    *done_out = i;
    return SINTER_OK;
}

/* The keys of all rows that were read. */
static sinter_status
encode_keys(columns_reader *self, uint32_t count, sinter__keys *out, sinter_error *err)
{
    bool is_fixed = true;
    uint32_t done = 0;

    sinter_text_reset(&self->key_bytes);
    self->rows.key_offsets[0] = 0;
    if (self->request.key_codec != NULL && is_plain_key(self)) {
        if (self->cells[self->keys[0]].form == SINTER__CELL_BYTES) {
            SINTER__CHECK(encode_texts(self, count, &done, err));
        } else {
            SINTER__CHECK(encode_numbers(self, count, err));
            done = count;
        }
    }
    for (uint32_t i = 0; self->request.key_codec != NULL && i < count; i++) {
        if (i >= done) {
            SINTER__CHECK(encode_key(self, i, err));
        }
        if (self->key_bytes.size > UINT32_MAX - KEY_SLACK) {
            return SINTER__ERR(err, SINTER_E_TOO_LARGE, "4 GiB of keys in the rows of one batch");
        }
        if (i >= done) {
            self->rows.key_offsets[i + 1] = (uint32_t)self->key_bytes.size;
        }
        is_fixed = is_fixed && self->rows.key_offsets[i + 1] - self->rows.key_offsets[i] ==
                                   self->rows.key_offsets[1];
    }
    SINTER__CHECK(sinter__text_reserve(&self->key_bytes, KEY_SLACK, err));
    memset(self->key_bytes.data + self->key_bytes.size, 0, KEY_SLACK);
    *out = (sinter__keys){.data = (const uint8_t *)self->key_bytes.data,
                          .offsets = is_fixed ? NULL : self->rows.key_offsets,
                          .width = 0,
                          .rows = count};
    if (is_fixed && self->request.key_codec != NULL) {
        out->width = self->rows.key_offsets[1];
    }
    return SINTER_OK;
}

/* ---- sequences and kinds ---- */

static bool
has_nulls(const struct ArrowArray *array)
{
    const uint8_t *valid = array->null_count == 0 ? NULL : array->buffers[0];

    for (int64_t i = array->offset; valid != NULL && i < array->offset + array->length; i++) {
        if ((valid[i / CHAR_BIT] >> (i % CHAR_BIT) & 1) == 0) {
            return true;
        }
    }
    return false;
}

/* Where the rows of a batch lie among those that were read. */
typedef struct row_span {
    uint32_t first;
    uint32_t count;
} row_span;

/* The columns as they lie in memory serve as the batch's. */
static sinter_status
set_system(columns_reader *self, row_span span, sinter_error *err)
{
    const struct ArrowArray *sequences = self->array.children[self->sequence];
    const struct ArrowArray *kinds = self->array.children[self->sequence + 1];
    sinter_batch *batch = &self->batch;

    if (has_nulls(sequences) || has_nulls(kinds)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a row without _SEQUENCE_NUMBER or _VALUE_KIND");
    }
    batch->sequences = (const int64_t *)sequences->buffers[1] + sequences->offset + span.first;
    batch->kinds = (const uint8_t *)kinds->buffers[1] + kinds->offset + span.first;
    for (uint32_t i = 0; i < span.count; i++) {
        if (batch->kinds[i] > SINTER_KIND_DELETE) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "_VALUE_KIND is %d", (int8_t)batch->kinds[i]);
        }
        batch->retract_count += sinter_kind_is_retract(batch->kinds[i]) ? 1 : 0;
    }
    return SINTER_OK;
}

static void
number_rows(columns_reader *self, row_span span)
{
    for (uint32_t i = 0; i < span.count; i++) {
        self->rows.positions[i] = (int64_t)(self->position + span.first + i);
    }
    self->batch.sequences = self->rows.positions;
    self->batch.kinds = self->rows.zeros;
}

static void
mark_deleted(columns_reader *self, row_span span)
{
    const sinter__data_input *file = self->request.file;
    bool has_dropped = false;

    for (uint32_t i = 0; file->is_deleted != NULL && i < span.count; i++) {
        const bool is_deleted =
            file->is_deleted(file->deleted_ctx, self->position + span.first + i);

        self->rows.dropped[i] = is_deleted ? SINTER_DROP_VECTOR : SINTER_DROP_KEEP;
        has_dropped = has_dropped || is_deleted;
    }
    self->batch.dropped = has_dropped ? self->rows.dropped : NULL;
}

/* ---- batches ---- */

/* Which of the rows lie in the range of keys. */
static row_span
rows_in_range(columns_reader *self, const sinter__keys *keys)
{
    row_span span = {.first = 0, .count = keys->rows};

    if (self->has_begin_key) {
        span.first = sinter__keys_lower_bound(keys, sinter_text_bytes(&self->begin_key));
    }
    if (self->has_end_key) {
        span.count = sinter__keys_lower_bound(keys, sinter_text_bytes(&self->end_key));
        self->is_over = span.count < keys->rows;
    }
    span.count = span.count > span.first ? span.count - span.first : 0;
    return span;
}

static sinter_status
set_batch(columns_reader *self, const sinter__keys *keys, row_span span, sinter_error *err)
{
    sinter__keys own = *keys;

    own.rows = span.count;
    if (own.offsets != NULL) {
        own.offsets += span.first;
    } else {
        own.data += (size_t)span.first * own.width;
    }
    sinter__keys_prefixes(&own, self->prefix_skip, self->rows.prefixes);
    self->payload.batch = self->read;
    self->payload.first = span.first;
    self->batch = (sinter_batch){.struct_size = (uint32_t)sizeof self->batch,
                                 .row_count = span.count,
                                 .key_width = own.width,
                                 .keys = own.data,
                                 .key_offsets = own.offsets,
                                 .prefixes = self->rows.prefixes,
                                 .origin = self->origin,
                                 .payload = &self->payload,
                                 .payload_ops = &sinter__columns_payload_ops};
    if (self->request.key_codec == NULL) {
        number_rows(self, span);
    } else {
        SINTER__CHECK(set_system(self, span, err));
    }
    mark_deleted(self, span);
    return SINTER_OK;
}

static sinter_status
read_batch(columns_reader *self, sinter_error *err)
{
    const sinter__columnar_api *api = self->library.api;
    sinter__keys keys = {.rows = 0};
    row_span span;
    uint64_t count = 0;

    release_read(self);
    self->batch.row_count = 0;
    SINTER__CHECK(api->file_next(self->file, &self->read, err));
    SINTER__CHECK(api->batch_export(self->read, &self->array, err));
    count = api->batch_rows(self->read);
    assert(count > 0 && count < UINT32_MAX);
    SINTER__CHECK(fit_rows(self, (uint32_t)count, err));
    SINTER__CHECK(encode_keys(self, (uint32_t)count, &keys, err));
    span = rows_in_range(self, &keys);
    if (span.count > 0) {
        SINTER__CHECK(set_batch(self, &keys, span, err));
    }
    self->position += count;
    return SINTER_OK;
}

static sinter_status
columns_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    columns_reader *self = (columns_reader *)base;

    do {
        sinter_status st = SINTER_END;

        if (!self->is_over) {
            st = read_batch(self, err);
        }
        if (st != SINTER_OK) {
            sinter__fail_file(err, self->request.file->path);
            return st;
        }
    } while (self->batch.row_count == 0);
    *out = &self->batch;
    return SINTER_OK;
}

static const sinter_reader_ops columns_ops = {.struct_size = (uint32_t)sizeof(sinter_reader_ops),
                                              .next = columns_next,
                                              .close = columns_close};

/* ---- opening ---- */

/* Does the file have the columns that are written, in their order, and nothing else? */
static bool
is_same(const struct ArrowSchema *schema, const sinter__write_plan *plan)
{
    if (schema->n_children != (int64_t)plan->field_count) {
        return false;
    }
    for (size_t i = 0; i < plan->field_count; i++) {
        const struct ArrowSchema *child = schema->children[i];

        if (child->name == NULL || strcmp(child->name, plan->fields[i].name) != 0 ||
            sinter__columnar_check_fields(child, &plan->fields[i].type, NULL) != SINTER_OK) {
            return false;
        }
    }
    return true;
}

/* The column of the key's that a column of the table repeats, value for value: it is read once.
 * UINT32_MAX: none. */
static uint32_t
key_twin(const sinter__write_plan *plan, size_t field)
{
    for (size_t k = 0; plan->has_key_fields && k < plan->key_count; k++) {
        if (plan->system_count + plan->keys[k] == field) {
            return (uint32_t)k;
        }
    }
    return UINT32_MAX;
}

/* All fields of the plan, each of which is read once. */
static sinter_status
choose_columns(columns_reader *self, sinter__columnar_read *out, sinter_error *err)
{
    const sinter__write_plan *plan = self->request.plan;
    uint32_t *columns = NULL;
    uint32_t *shown = NULL;

    SINTER__CHECK(sinter__arena_take(&self->arena, plan->field_count * sizeof *columns,
                                     (void **)&columns, err));
    SINTER__CHECK(
        sinter__arena_take(&self->arena, plan->field_count * sizeof *shown, (void **)&shown, err));
    *out = (sinter__columnar_read){.struct_size = (uint32_t)sizeof *out,
                                   .columns = columns,
                                   .shown = shown,
                                   .shown_count = (uint32_t)plan->field_count};
    for (size_t i = 0; i < plan->field_count; i++) {
        const uint32_t twin = key_twin(plan, i);

        shown[i] = twin == UINT32_MAX ? out->column_count : twin;
        if (twin == UINT32_MAX) {
            columns[out->column_count++] = (uint32_t)i;
        }
    }
    return SINTER_OK;
}

static sinter_status
begin_read(columns_reader *self, int32_t kind, sinter_error *err)
{
    const sinter__write_plan *plan = self->request.plan;
    sinter__columnar_read read;
    sinter__columnar_field *fields = NULL;
    struct ArrowSchema as = {0};
    sinter_status st = SINTER_OK;

    SINTER__CHECK(choose_columns(self, &read, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, plan->field_count * sizeof *fields,
                                     (void **)&fields, err));
    for (uint32_t i = 0; i < read.column_count; i++) {
        const sinter_field *field = &plan->fields[read.columns[i]];

        fields[i] = (sinter__columnar_field){.name = field->name, .type = field->type, .id = -1};
    }
    SINTER__CHECK(sinter__columnar_schema_make(self->env, fields, read.column_count, &as, err));
    for (size_t i = 0; i < plan->field_count && st == SINTER_OK; i++) {
        st = sinter__cells_bind(&self->arena, kind, as.children[read.shown[i]],
                                &plan->fields[i].type, &self->cells[i], err);
    }
    read.as = &as;
    if (st == SINTER_OK) {
        st = self->library.api->file_read(self->file, &read, err);
    }
    as.release(&as);
    return st;
}

/* Open the file; SINTER_END: it is none that stays columns. */
static sinter_status
open_file(columns_reader *self, const sinter_read_options *options, sinter__columnar_info *info,
          sinter_error *err)
{
    const bool is_orc = self->request.form->kind == SINTER__FILE_ORC;
    const sinter__columnar_api *api = NULL;
    struct ArrowSchema schema = {0};
    bool is_wanted = false;

    SINTER__CHECK(sinter__columnar_load(self->env, &self->library, err));
    api = self->library.api;
    SINTER__CHECK(api->file_open(&self->library.host, self->request.file->path,
                                 SINTER_IO_SEQUENTIAL, options->expected_file_bytes, &self->file,
                                 err));
    SINTER__CHECK(api->file_info(self->file, info, err));
    if (info->kind != (is_orc ? SINTER__COLUMNAR_ORC : SINTER__COLUMNAR_PARQUET)) {
        return SINTER_END;
    }
    SINTER__CHECK(api->file_schema(self->file, &schema, err));
    is_wanted = is_same(&schema, self->request.plan);
    schema.release(&schema);
    return is_wanted ? SINTER_OK : SINTER_END;
}

static sinter_status
keep_options(columns_reader *self, const sinter_read_options *options, sinter_error *err)
{
    self->prefix_skip = options->key_prefix_skip;
    self->origin = options->origin;
    self->has_begin_key = options->has_begin_key;
    self->has_end_key = options->has_end_key;
    if (self->has_begin_key) {
        SINTER__CHECK(sinter_text_append(&self->begin_key, options->begin_key.data,
                                         options->begin_key.size, err));
    }
    if (self->has_end_key) {
        SINTER__CHECK(
            sinter_text_append(&self->end_key, options->end_key.data, options->end_key.size, err));
    }
    return SINTER_OK;
}

static sinter_status
take_arrays(columns_reader *self, sinter_error *err)
{
    const sinter__write_plan *plan = self->request.plan;

    SINTER__CHECK(sinter__arena_take(&self->arena, plan->field_count * sizeof *self->cells,
                                     (void **)&self->cells, err));
    memset(self->cells, 0, plan->field_count * sizeof *self->cells);
    SINTER__CHECK(sinter__arena_take(&self->arena, (plan->key_count + 1) * sizeof *self->key_values,
                                     (void **)&self->key_values, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, (plan->key_count + 1) * sizeof *self->keys,
                                     (void **)&self->keys, err));
    for (size_t i = 0; i < plan->key_count; i++) {
        self->keys[i] = plan->has_key_fields ? i : plan->system_count + plan->keys[i];
    }
    self->sequence = plan->has_key_fields ? plan->key_count : 0;
    self->payload.array = &self->array;
    self->payload.cells = self->cells;
    self->payload.plan = plan;
    return SINTER_OK;
}

static const sinter_read_options whole = {.struct_size = (uint32_t)sizeof whole};

static sinter_status
create_reader(const sinter_env *env, const sinter__columns_request *request, columns_reader **out,
              sinter_error *err)
{
    columns_reader *self = NULL;

    assert(request->form->kind != SINTER__FILE_AVRO);
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->base.ops = &columns_ops;
    self->env = env;
    self->request = *request;
    self->arena.env = env;
    sinter_text_init(env, &self->key_bytes);
    sinter_text_init(env, &self->begin_key);
    sinter_text_init(env, &self->end_key);
    *out = self;
    return SINTER_OK;
}

sinter_status
sinter__columns_reader_open(const sinter_env *env, const sinter__columns_request *request,
                            const sinter_read_options *options, sinter_reader **out,
                            sinter_error *err)
{
    sinter__columnar_info info = {.struct_size = (uint32_t)sizeof info};
    columns_reader *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    options = options == NULL ? &whole : options;
    SINTER__TRY(create_reader(env, request, &self, err));
    SINTER__TRY(take_arrays(self, err));
    SINTER__TRY(keep_options(self, options, err));
    SINTER__TRY(open_file(self, options, &info, err));
    SINTER__TRY(begin_read(self, info.kind, err));
    *out = &self->base;
    self = NULL;
out:
    if (self != NULL) {
        sinter__fail_file(err, request->file->path);
        columns_close(&self->base);
    }
    return st;
}

sinter_status
sinter__columns_reader_measure(const sinter_env *env, const sinter__columns_request *request,
                               const sinter_read_options *options, sinter_footprint *out,
                               sinter_error *err)
{
    sinter__columnar_read read;
    sinter__columnar_footprint found = {.struct_size = (uint32_t)sizeof found};
    sinter__columnar_info info = {.struct_size = (uint32_t)sizeof info};
    columns_reader *self = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(create_reader(env, request, &self, err));
    SINTER__TRY(open_file(self, options == NULL ? &whole : options, &info, err));
    SINTER__TRY(choose_columns(self, &read, err));
    SINTER__TRY(self->library.api->file_footprint(self->file, &read, &found, err));
    *out = (sinter_footprint){.struct_size = (uint32_t)sizeof *out,
                              .block_rows = found.batch_rows,
                              .value_part_bytes = found.batch_bytes,
                              .reader_bytes = found.reader_bytes,
                              .rows_bytes = found.rows_bytes};
out:
    if (st < SINTER_OK) {
        sinter__fail_file(err, request->file->path);
    }
    columns_close(&self->base);
    return st;
}
