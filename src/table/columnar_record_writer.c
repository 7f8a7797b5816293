#include "table/columnar_record_writer.h"

#include <string.h>

#include "base/fail.h"
#include "table/avro_rows.h"
#include "table/columnar_builder.h"

enum { BATCH_BYTES = 1 << 20, MILLI_DIGITS = 3 };

struct sinter__record_writer {
    const sinter_env *env;
    sinter__arena arena; /* of types and fields */
    sinter__avro_schema *schema;
    sinter__avro_rows *rows;
    sinter__columnar_field *fields;
    sinter_datum *values;
    size_t count;
    sinter__columnar library;
    sinter__columnar_builder *builder;
    sinter__columnar_output *output;
};

/* ---- types ---- */

static sinter_status
make_type(sinter__record_writer *self, const char *name, const sinter__avro_node *avro,
          sinter_type *out, sinter_error *err);

static sinter_status
make_parts(sinter__record_writer *self, const sinter__avro_node *avro, sinter_type *out,
           sinter_error *err)
{
    sinter_type_parts *parts = NULL;
    sinter_field *fields = NULL;

    SINTER__CHECK(sinter__arena_take(&self->arena, sizeof *parts, (void **)&parts, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, (avro->field_count + 1) * sizeof *fields,
                                     (void **)&fields, err));
    memset(fields, 0, (avro->field_count + 1) * sizeof *fields);
    for (uint32_t i = 0; i < avro->field_count; i++) {
        const char *name = avro->fields[i].name == NULL ? "element" : avro->fields[i].name;

        fields[i].name = name;
        fields[i].id = -1;
        SINTER__CHECK(make_type(self, name, avro->fields[i].type, &fields[i].type, err));
    }
    *parts = (sinter_type_parts){.fields = fields, .count = avro->field_count};
    out->parts = parts;
    return SINTER_OK;
}

/** The type that Paimon has for a field of metadata in Avro. */
static sinter_status
make_type(sinter__record_writer *self, const char *name, const sinter__avro_node *avro,
          sinter_type *out, sinter_error *err)
{
    static const int32_t ids[] = {
        [SINTER__AVRO_BOOLEAN] = SINTER_TYPE_BOOLEAN, [SINTER__AVRO_INT] = SINTER_TYPE_INT,
        [SINTER__AVRO_LONG] = SINTER_TYPE_BIGINT,     [SINTER__AVRO_FLOAT] = SINTER_TYPE_FLOAT,
        [SINTER__AVRO_DOUBLE] = SINTER_TYPE_DOUBLE,   [SINTER__AVRO_BYTES] = SINTER_TYPE_VARBINARY,
        [SINTER__AVRO_STRING] = SINTER_TYPE_VARCHAR,  [SINTER__AVRO_ARRAY] = SINTER_TYPE_ARRAY,
        [SINTER__AVRO_RECORD] = SINTER_TYPE_ROW,
    };
    int32_t branch = -1;
    const sinter__avro_node *value = sinter__avro_node_unwrap(avro, &branch);
    const bool is_known = value != NULL && value->type != SINTER__AVRO_NULL &&
                          (value->type <= SINTER__AVRO_STRING ||
                           value->type == SINTER__AVRO_ARRAY || value->type == SINTER__AVRO_RECORD);
    const char *logical = is_known ? value->logical_type : NULL;

    if (!is_known || (branch >= 0 && avro->field_count != 2) ||
        (logical != NULL && strcmp(logical, "timestamp-millis") != 0)) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "field %.100s, of Avro's type %s, in Parquet and ORC", name,
                           logical != NULL ? logical : sinter__avro_type_name(avro->type));
    }
    *out = (sinter_type){.id = ids[value->type], .nullable = branch >= 0};
    if (logical != NULL) {
        out->id = SINTER_TYPE_TIMESTAMP;
        out->precision = MILLI_DIGITS;
    } else if (value->type == SINTER__AVRO_BYTES || value->type == SINTER__AVRO_STRING) {
        out->precision = SINTER_TYPE_LENGTH_MAX;
    }
    if (value->type == SINTER__AVRO_ARRAY || value->type == SINTER__AVRO_RECORD) {
        return make_parts(self, value, out, err);
    }
    return SINTER_OK;
}

static sinter_status
make_columns(sinter__record_writer *self, sinter_error *err)
{
    const sinter__avro_node *root = sinter__avro_schema_root(self->schema);
    sinter_column *columns = NULL;

    if (root->type != SINTER__AVRO_RECORD) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "a file of records needs a record");
    }
    self->count = root->field_count;
    SINTER__CHECK(sinter__arena_take(&self->arena, (self->count + 1) * sizeof *self->fields,
                                     (void **)&self->fields, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, (self->count + 1) * sizeof *columns,
                                     (void **)&columns, err));
    SINTER__CHECK(SINTER__NEW(self->env, self->values, self->count + 1, err));
    for (size_t i = 0; i < self->count; i++) {
        columns[i].name = root->fields[i].name;
        SINTER__CHECK(
            make_type(self, columns[i].name, root->fields[i].type, &columns[i].type, err));
        self->fields[i] = (sinter__columnar_field){columns[i].name, columns[i].type, -1};
    }
    return sinter__avro_rows_create(self->env, self->schema, columns, self->count, &self->rows,
                                    err);
}

/* ---- files ---- */

static sinter_status
open_output(sinter__record_writer *self, const char *path,
            const sinter__record_writer_options *options, sinter_error *err)
{
    static const int32_t codecs[] = {
        [SINTER__AVRO_CODEC_NULL] = SINTER__COLUMNAR_NONE,
        [SINTER__AVRO_CODEC_DEFLATE] = SINTER__COLUMNAR_GZIP,
        [SINTER__AVRO_CODEC_ZSTANDARD] = SINTER__COLUMNAR_ZSTD,
        [SINTER__AVRO_CODEC_SNAPPY] = SINTER__COLUMNAR_SNAPPY,
    };
    const bool has_level = options->kind == SINTER__COLUMNAR_PARQUET &&
                           options->codec.codec == SINTER__AVRO_CODEC_ZSTANDARD;
    const sinter__columnar_write write = {.struct_size = (uint32_t)sizeof write,
                                          .kind = options->kind,
                                          .codec = codecs[options->codec.codec],
                                          .codec_level = has_level ? options->codec.level : 0};
    struct ArrowSchema schema = {0};
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__columnar_schema_make(self->env, self->fields, self->count, &schema, err));
    st = self->library.api->output_open(&self->library.host, path, &schema, &write, &self->output,
                                        err);
    schema.release(&schema);
    return st;
}

static sinter_status
open_file(sinter__record_writer *self, const char *path,
          const sinter__record_writer_options *options, sinter_error *err)
{
    const sinter_bytes text = {(const uint8_t *)options->schema, strlen(options->schema)};

    SINTER__CHECK(sinter__columnar_load(self->env, &self->library, err));
    SINTER__CHECK(sinter__avro_schema_parse(self->env, text, &self->schema, err));
    SINTER__CHECK(make_columns(self, err));
    SINTER__CHECK(sinter__columnar_builder_create(self->env, options->kind, self->fields,
                                                  self->count, &self->builder, err));
    return open_output(self, path, options, err);
}

sinter_status
sinter__record_writer_open(const sinter_env *env, const char *path,
                           const sinter__record_writer_options *options,
                           sinter__record_writer **out, sinter_error *err)
{
    sinter__record_writer *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->arena.env = env;
    st = open_file(self, path, options, err);
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
        sinter__record_writer_close(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

/** Hand the rows that were built to the file. */
static sinter_status
flush(sinter__record_writer *self, sinter_error *err)
{
    const sinter__columnar_api *api = self->library.api;
    sinter__columnar_range range = {.count = sinter__columnar_builder_rows(self->builder)};
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};
    sinter_status st = SINTER_OK;

    if (range.count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__columnar_schema_make(self->env, self->fields, self->count, &schema, err));
    st = sinter__columnar_builder_take(self->builder, &array, err);
    if (st != SINTER_OK) {
        schema.release(&schema);
        return st;
    }
    SINTER__CHECK(api->batch_import(&schema, &array, &batch, err));
    range.batch = batch;
    st = api->output_append(self->output, &range, 1, err);
    api->batch_release(batch);
    return st;
}

sinter_status
sinter__record_writer_append(sinter__record_writer *self, sinter_bytes record, sinter_error *err)
{
    sinter__avro_cursor cursor = {record.data, record.data + record.size};

    SINTER__CHECK(sinter__avro_rows_next(self->rows, &cursor, self->values, err));
    if (cursor.at != cursor.end) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a record has more bytes than its schema");
    }
    SINTER__CHECK(sinter__columnar_builder_append(self->builder, self->values, err));
    return sinter__columnar_builder_bytes(self->builder) < BATCH_BYTES ? SINTER_OK
                                                                       : flush(self, err);
}

uint64_t
sinter__record_writer_bytes(const sinter__record_writer *self)
{
    return self->library.api->output_size(self->output) +
           sinter__columnar_builder_bytes(self->builder);
}

sinter_status
sinter__record_writer_finish(sinter__record_writer *self, uint64_t *bytes_out, sinter_error *err)
{
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};

    SINTER__CHECK(flush(self, err));
    SINTER__CHECK(self->library.api->output_finish(self->output, &written, err));
    *bytes_out = written.file_bytes;
    return SINTER_OK;
}

void
sinter__record_writer_close(sinter__record_writer *self)
{
    if (self == NULL) {
        return;
    }
    if (self->library.api != NULL) {
        self->library.api->output_close(self->output);
    }
    sinter__columnar_builder_destroy(self->builder);
    sinter__avro_rows_destroy(self->rows);
    sinter__avro_schema_destroy(self->schema);
    sinter__free(self->env, self->values);
    sinter__arena_fini(&self->arena);
    sinter__free(self->env, self);
}
