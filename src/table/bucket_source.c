#include "table/bucket_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/binary.h"
#include "doc/text.h"
#include "table/bucket_output.h"
#include "table/columns_reader.h"
#include "table/deletion_file.h"
#include "table/row_tracking.h"

enum {
    ARITY_BYTES = 4,
    GROUP_BYTES = 128 << 20,        /* a row group that nobody limits */
    PARQUET_COLUMN_BYTES = 3 << 20, /* pages and a dictionary */
    GATHER_BYTES = 4 << 20,         /* rows that wait to be written together */
    AVRO_WRITER_BYTES = 1 << 20
};

struct sinter__bucket_source {
    sinter__bucket_request request;
    sinter__arena arena;
    const char *dir;
    sinter__external_paths external; /* of files that are written */
    sinter_file_meta *metas;
    sinter__data_input *inputs; /* sorted by path */
    size_t count;
    sinter__deletion_vector **vectors; /* of files that have one */
    size_t vector_count;
    sinter__tracked_schema *tracked; /* of files that have the columns of row tracking */
    size_t tracked_count;
    sinter_datum *values; /* of a key or partition */
    sinter_text text;
    sinter_format format;
    sinter__bucket_output *output; /* NULL: files are only read */
    bool keeps_columns;            /* of files that are written again as they are */
};

/* ---- rows of metadata ---- */

/* Read a row that has its arity in front. */
static sinter_status
open_row(sinter_bytes row, size_t count, sinter__slots *out, sinter_error *err)
{
    if (row.size < ARITY_BYTES || sinter__get_be32(row.data) != count) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a row of %zu columns expected", count);
    }
    return sinter__slots_of_row(
        count, (sinter_bytes){row.data + ARITY_BYTES, row.size - ARITY_BYTES}, out, err);
}

static sinter_status
encode_key(sinter__bucket_source *self, sinter_bytes row, sinter_bytes *out, sinter_error *err)
{
    const sinter__scan_columns *columns = self->request.columns;
    sinter__slots slots;

    SINTER__CHECK(open_row(row, columns->key_count, &slots, err));
    for (size_t i = 0; i < columns->key_count; i++) {
        SINTER__CHECK(sinter__slots_get(&slots, &columns->fields[columns->keys[i]].type, i,
                                        &self->values[i], err));
    }
    sinter_text_reset(&self->text);
    SINTER__CHECK(sinter_key_encode(columns->key_codec, self->values, &self->text, err));
    return sinter__arena_copy(&self->arena, sinter_text_bytes(&self->text), out, err);
}

/* ---- places ---- */

static sinter_status
append_partition(sinter__bucket_source *self, sinter_error *err)
{
    const sinter_schema *schema = self->request.columns->schema;
    const size_t count = schema->partition_key_count;
    sinter_column *columns = NULL;
    sinter__slots slots;

    SINTER__CHECK(open_row(self->request.files->partition, count, &slots, err));
    SINTER__CHECK(
        sinter__arena_take(&self->arena, (count + 1) * sizeof *columns, (void **)&columns, err));
    for (size_t i = 0; i < count; i++) {
        const size_t at = self->request.columns->partition_keys[i];

        columns[i].name = schema->partition_keys[i];
        columns[i].type = *sinter_row_type_column_type(schema->row_type, at);
        SINTER__CHECK(sinter__slots_get(&slots, &columns[i].type, i, &self->values[i], err));
    }
    SINTER__CHECK(sinter__partition_path(&self->request.options->partition_names, columns, count,
                                         self->values, &self->text, err));
    return count == 0 ? SINTER_OK : sinter__text_puts(&self->text, "/", err);
}

static sinter_status
find_dir(sinter__bucket_source *self, sinter_error *err)
{
    const char *data_dir = self->request.options->data_dir;

    sinter_text_reset(&self->text);
    SINTER__CHECK(sinter__text_puts(&self->text, self->request.table->root, err));
    SINTER__CHECK(sinter__text_puts(&self->text, "/", err));
    if (data_dir != NULL) {
        SINTER__CHECK(sinter__text_puts(&self->text, data_dir, err));
        SINTER__CHECK(sinter__text_puts(&self->text, "/", err));
    }
    SINTER__CHECK(append_partition(self, err));
    SINTER__CHECK(sinter__bucket_path(self->request.files->bucket, &self->text, err));
    return sinter__arena_strdup(&self->arena, self->text.data, &self->dir, err);
}

static sinter_status
find_path(sinter__bucket_source *self, const sinter__data_file *file, const char **out,
          sinter_error *err)
{
    sinter_text_reset(&self->text);
    if ((file->has & SINTER__FILE_HAS_EXTERNAL_PATH) != 0) {
        SINTER__CHECK(sinter_text_append(&self->text, file->external_path.data,
                                         file->external_path.size, err));
        SINTER__CHECK(sinter__local_path(self->text.data, out, err));
        return sinter__arena_strdup(&self->arena, *out, out, err);
    }
    SINTER__CHECK(sinter__text_puts(&self->text, self->dir, err));
    SINTER__CHECK(sinter__text_puts(&self->text, "/", err));
    SINTER__CHECK(sinter_text_append(&self->text, file->file_name.data, file->file_name.size, err));
    return sinter__arena_strdup(&self->arena, self->text.data, out, err);
}

/* ---- files ---- */

static sinter_status
fill_meta(sinter__bucket_source *self, const sinter__manifest_entry *entry, sinter_file_meta *out,
          sinter_error *err)
{
    const sinter__data_file *file = &entry->file;
    char *name = NULL;

    *out = (sinter_file_meta){
        .struct_size = (uint32_t)sizeof *out,
        .level = file->level,
        .file_size = (uint64_t)file->file_size,
        .row_count = (uint64_t)file->row_count,
        .delete_row_count =
            (file->has & SINTER__FILE_HAS_DELETE_ROW_COUNT) != 0 ? file->delete_row_count : -1,
        .min_sequence_number = file->min_sequence,
        .max_sequence_number = file->max_sequence,
        .creation_time_ms = file->creation_time_ms,
        .schema_id = file->schema_id,
        .file_source = SINTER_FILE_SOURCE_UNKNOWN,
        .upgraded_from = -1,
        .carried = entry};
    if ((file->has & SINTER__FILE_HAS_SOURCE) != 0) {
        out->file_source = file->source == SINTER__FILE_SOURCE_COMPACT ? SINTER_FILE_SOURCE_COMPACT
                                                                       : SINTER_FILE_SOURCE_APPEND;
    }
    SINTER__CHECK(find_path(self, file, &out->external_path, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, file->file_name.size + 1, (void **)&name, err));
    memcpy(name, file->file_name.data, file->file_name.size);
    name[file->file_name.size] = '\0';
    out->file_name = name;
    if (self->request.columns->key_codec == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(encode_key(self, file->min_key, &out->min_key, err));
    return encode_key(self, file->max_key, &out->max_key, err);
}

/* Files of compactions in tables that track rows list all columns, and those of the tracking. */
static bool
has_all_columns(const sinter__bytes_list *names, const sinter_row_type *row_type)
{
    for (size_t i = 0; i < sinter_row_type_count(row_type); i++) {
        const char *name = sinter_row_type_column_name(row_type, i);
        size_t at = 0;

        while (at < names->count &&
               (names->items[at].size != strlen(name) ||
                memcmp(names->items[at].data, name, names->items[at].size) != 0)) {
            at++;
        }
        if (at == names->count) {
            return false;
        }
    }
    return true;
}

/* The input with the columns of row tracking, where it has them, and what stands for them where
 * not. */
static sinter_status
track_input(sinter__bucket_source *self, const sinter__data_file *file, const sinter_schema *schema,
            sinter__data_input *input, sinter_error *err)
{
    sinter__tracked_schema *tracked = &self->tracked[self->tracked_count];

    input->defaults = sinter__row_defaults_of(file, self->request.columns->count - 2);
    if (!sinter__has_tracking_columns(file)) {
        return SINTER_OK;
    }
    *tracked = (sinter__tracked_schema){.row_type = NULL};
    SINTER__CHECK(sinter__tracked_schema_init(self->arena.env, schema, tracked, err));
    self->tracked_count++;
    input->row_type = tracked->row_type;
    return SINTER_OK;
}

static sinter_status
fill_input(sinter__bucket_source *self, const sinter__manifest_entry *entry, const char *path,
           sinter__data_input *out, sinter_error *err)
{
    const sinter_schema *schema = NULL;

    SINTER__CHECK(
        sinter_table_schema_get(self->request.table, entry->file.schema_id, &schema, err));
    if ((entry->file.has & SINTER__FILE_HAS_WRITE_COLS) != 0 &&
        !has_all_columns(&entry->file.write_cols, schema->row_type)) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, path, -1,
                              "the file has some of the columns only (data evolution), which this "
                              "version can't read");
    }
    *out = (sinter__data_input){
        .path = path, .row_type = schema->row_type, .checks_texts = self->request.checks_texts};
    return self->request.tracks_rows ? track_input(self, &entry->file, schema, out, err)
                                     : SINTER_OK;
}

/* ---- deletion vectors ---- */

static bool
is_deleted(void *ctx, uint64_t position)
{
    return sinter__deletion_vector_contains(ctx, position);
}

static bool
is_of_bucket(const sinter__bucket_source *self, const sinter__index_entry *entry)
{
    const sinter_bytes partition = self->request.files->partition;

    return entry->bucket == self->request.files->bucket && entry->vectors.count > 0 &&
           sinter__key_equal(entry->partition, partition);
}

static sinter_status
index_path(sinter__bucket_source *self, const sinter__index_entry *entry, const char **out,
           sinter_error *err)
{
    sinter_text_reset(&self->text);
    if ((entry->has & SINTER__INDEX_HAS_EXTERNAL_PATH) != 0) {
        SINTER__CHECK(sinter_text_append(&self->text, entry->external_path.data,
                                         entry->external_path.size, err));
        return sinter__local_path(self->text.data, out, err);
    }
    if (self->request.options->index_in_data_dir) {
        SINTER__CHECK(sinter__text_puts(&self->text, self->dir, err));
        SINTER__CHECK(sinter__text_puts(&self->text, "/", err));
    } else {
        SINTER__CHECK(sinter__text_puts(&self->text, self->request.table->root, err));
        SINTER__CHECK(sinter__text_puts(&self->text, "/index/", err));
    }
    SINTER__CHECK(
        sinter_text_append(&self->text, entry->file_name.data, entry->file_name.size, err));
    *out = self->text.data;
    return SINTER_OK;
}

/* The file that a vector belongs to; NULL: one that isn't read. */
static sinter__data_input *
find_input(const sinter__bucket_source *self, sinter_bytes name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strlen(self->metas[i].file_name) == name.size &&
            memcmp(self->metas[i].file_name, name.data, name.size) == 0) {
            return &self->inputs[i];
        }
    }
    return NULL;
}

static sinter_status
read_vectors(sinter__bucket_source *self, const sinter__index_entry *entry, sinter_error *err)
{
    sinter__deletion_file *file = NULL;
    const char *path = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(index_path(self, entry, &path, err));
    SINTER__CHECK(
        sinter__deletion_file_open(self->arena.env, path, (uint64_t)entry->file_size, &file, err));
    for (size_t i = 0; i < entry->vectors.count; i++) {
        const sinter__vector_range *range = &entry->vectors.items[i];
        sinter__data_input *input = find_input(self, range->data_file);

        if (input == NULL) {
            continue;
        }
        if (input->is_deleted != NULL) {
            SINTER__FAIL_AT(err, SINTER_E_CORRUPT, input->path, -1,
                            "the file has two deletion vectors");
        }
        SINTER__TRY(
            sinter__deletion_file_read(file, range, 0, &self->vectors[self->vector_count], err));
        input->is_deleted = is_deleted;
        input->deleted_ctx = self->vectors[self->vector_count++];
    }
out:
    sinter__deletion_file_close(file);
    return st;
}

/* Before the inputs are sorted. */
static sinter_status
fill_vectors(sinter__bucket_source *self, sinter_error *err)
{
    const sinter__index_manifest *index = self->request.index;

    SINTER__CHECK(sinter__arena_take(&self->arena, (self->count + 1) * sizeof(void *),
                                     (void **)&self->vectors, err));
    for (size_t i = 0; index != NULL && i < index->count; i++) {
        if (is_of_bucket(self, &index->items[i])) {
            SINTER__CHECK(read_vectors(self, &index->items[i], err));
        }
    }
    return SINTER_OK;
}

/* ---- the format ---- */

static int
compare_inputs(const void *a, const void *b)
{
    return strcmp(((const sinter__data_input *)a)->path, ((const sinter__data_input *)b)->path);
}

static int
compare_path(const void *path, const void *input)
{
    return strcmp(path, ((const sinter__data_input *)input)->path);
}

static const sinter__file_form *
form_of(const sinter__bucket_source *self)
{
    return sinter__write_plan_form(self->request.write, self->request.write_level);
}

/* Is the file of the schema and format that it would be written in? */
static bool
may_stay(const sinter__bucket_source *self, const sinter__data_input *input)
{
    const char *dot = strrchr(input->path, '.');

    return input->row_type == self->request.write->schema->row_type && dot != NULL &&
           strcmp(dot + 1, form_of(self)->name) == 0;
}

static sinter_status
find_file(const sinter__bucket_source *self, const char *path, const sinter__data_input **out,
          sinter_error *err)
{
    *out = bsearch(path, self->inputs, self->count, sizeof *self->inputs, compare_path);
    return *out == NULL ? SINTER__ERR_AT(err, SINTER_E_INVALID, path, -1, "no file of this bucket")
                        : SINTER_OK;
}

static sinter__columns_request
columns_request_of(const sinter__bucket_source *self, const sinter__data_input *input)
{
    return (sinter__columns_request){.plan = self->request.write,
                                     .form = form_of(self),
                                     .key_codec = self->request.columns->key_codec,
                                     .file = input};
}

static sinter_status
open_reader(void *ctx, const sinter_env *env, const char *path, const sinter_read_options *options,
            sinter_reader **out, sinter_error *err)
{
    const sinter__bucket_source *self = ctx;
    const sinter__data_input *input = NULL;

    SINTER__CHECK(find_file(self, path, &input, err));
    if (self->keeps_columns && may_stay(self, input)) {
        const sinter__columns_request request = columns_request_of(self, input);
        const sinter_status st = sinter__columns_reader_open(env, &request, options, out, err);

        if (st != SINTER_END) {
            return st;
        }
    }
    return sinter__data_reader_open(env, &self->request.columns->plan, input, options, out, err);
}

static sinter_status
measure(void *ctx, const sinter_env *env, const char *path, const sinter_read_options *options,
        sinter_footprint *out, sinter_error *err)
{
    const sinter__bucket_source *self = ctx;
    const sinter__data_input *input = NULL;

    SINTER__CHECK(find_file(self, path, &input, err));
    if (self->keeps_columns && may_stay(self, input)) {
        const sinter__columns_request request = columns_request_of(self, input);
        const sinter_status st = sinter__columns_reader_measure(env, &request, options, out, err);

        if (st != SINTER_END) {
            return st;
        }
    }
    return sinter__data_reader_measure(env, &self->request.columns->plan, input, options, out, err);
}

/* What a writer is left, so that merges spill rather than fill the budget with readers: what its
 * columns hold, of rows of which no more wait than there are, but never more than half of all. */
static uint64_t
writer_bytes(void *ctx, const sinter_write_options *options, const sinter_footprint *blocks)
{
    const sinter__bucket_source *self = ctx;
    const sinter__file_form *form = form_of(self);
    const uint64_t half = sinter_memory_limit(self->arena.env->memory) / 2;
    const uint64_t group = form->group_bytes > 0 ? form->group_bytes : GROUP_BYTES;
    const uint64_t rows = blocks->rows_bytes == 0 ? group : blocks->rows_bytes;
    uint64_t bytes = 0;

    (void)options;
    switch (form->kind) {
    case SINTER__FILE_PARQUET:
        bytes = PARQUET_COLUMN_BYTES * self->request.write->field_count +
                2 * (rows < group ? rows : group);
        break;
    case SINTER__FILE_ORC:
        bytes = 3 * (rows < GATHER_BYTES ? rows : GATHER_BYTES);
        break;
    case SINTER__FILE_AVRO:
    case SINTER__FILE_SST:
    default:
        bytes = AVRO_WRITER_BYTES;
        break;
    }
    return bytes < half ? bytes : half;
}

static sinter_status
open_writer(void *ctx, const sinter_env *env, const char *path, const sinter_write_options *options,
            sinter_writer **out, sinter_error *err)
{
    const sinter__bucket_source *self = ctx;

    return sinter__bucket_output_open(self->output, env, path, options, out, err);
}

/* Does nobody look into the rows of files that are written again in their format? Indexes do. */
static bool
can_keep_rows(const sinter__bucket_source *self)
{
    const sinter__bucket_request *request = &self->request;
    const sinter__merge_engine engine = request->options->merge_engine;

    return !request->wants_values && !request->tracks_rows && request->columns->order == NULL &&
           request->write->indexes.count == 0 &&
           (request->columns->key_codec == NULL || engine == SINTER__ENGINE_DEDUPLICATE ||
            engine == SINTER__ENGINE_FIRST_ROW);
}

static sinter_status
begin_writing(sinter__bucket_source *self, sinter_error *err)
{
    const sinter__bucket_output_config config = {.plan = self->request.write,
                                                 .level = self->request.write_level,
                                                 .first_sequence = self->request.first_sequence};

    SINTER__CHECK(sinter__external_paths_join(&self->request.write->external,
                                              self->dir + strlen(self->request.table->root) + 1,
                                              &self->arena, &self->external, err));
    SINTER__CHECK(sinter__bucket_output_create(self->arena.env, &config, &self->output, err));
    self->format.extension = sinter__bucket_output_extension(self->output);
    self->format.open_writer = open_writer;
    self->format.writer_bytes = writer_bytes;
    if (!can_keep_rows(self)) {
        return SINTER_OK;
    }
    self->keeps_columns =
        form_of(self)->kind == SINTER__FILE_PARQUET || form_of(self)->kind == SINTER__FILE_ORC;
    for (size_t i = 0; form_of(self)->kind == SINTER__FILE_AVRO && i < self->count; i++) {
        if (may_stay(self, &self->inputs[i])) {
            self->inputs[i].written_as = self->request.write;
        }
    }
    return SINTER_OK;
}

static sinter_status
fill_files(sinter__bucket_source *self, sinter_error *err)
{
    const sinter__bucket_files *files = self->request.files;

    for (size_t i = 0; i < files->count; i++) {
        const sinter__manifest_entry *entry = files->entries[i];
        sinter_status st = SINTER_OK;

        if (entry->file.row_count == 0 || (self->request.skips_level_0 && entry->file.level == 0)) {
            continue;
        }
        st = fill_meta(self, entry, &self->metas[self->count], err);
        if (st == SINTER_OK) {
            st = fill_input(self, entry, self->metas[self->count].external_path,
                            &self->inputs[self->count], err);
        }
        if (st != SINTER_OK) {
            sinter__fail_context(
                err, "file %.*s",
                (int)(entry->file.file_name.size < 100 ? entry->file.file_name.size : 100),
                (const char *)entry->file.file_name.data);
            return st;
        }
        self->count++;
    }
    SINTER__CHECK(fill_vectors(self, err));
    if (self->count > 1) {
        qsort(self->inputs, self->count, sizeof *self->inputs, compare_inputs);
    }
    return SINTER_OK;
}

sinter_status
sinter__bucket_source_create(const sinter__bucket_request *request, sinter__bucket_source **out,
                             sinter_error *err)
{
    const sinter_env *env = request->table->env;
    const size_t columns =
        request->columns->key_count + request->columns->schema->partition_key_count + 1;
    sinter__bucket_source *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->request = *request;
    self->arena.env = env;
    sinter_text_init(env, &self->text);
    self->format = (sinter_format){.struct_size = (uint32_t)sizeof self->format,
                                   .self = self,
                                   .name = "table",
                                   .extension = "",
                                   .open_reader = open_reader,
                                   .measure = measure};
    SINTER__TRY(sinter__arena_take(&self->arena, columns * sizeof *self->values,
                                   (void **)&self->values, err));
    SINTER__TRY(sinter__arena_take(&self->arena, (request->files->count + 1) * sizeof *self->metas,
                                   (void **)&self->metas, err));
    SINTER__TRY(sinter__arena_take(&self->arena, (request->files->count + 1) * sizeof *self->inputs,
                                   (void **)&self->inputs, err));
    SINTER__TRY(sinter__arena_take(&self->arena,
                                   (request->files->count + 1) * sizeof *self->tracked,
                                   (void **)&self->tracked, err));
    SINTER__TRY(find_dir(self, err));
    SINTER__TRY(fill_files(self, err));
    if (request->write != NULL) {
        SINTER__TRY(begin_writing(self, err));
    }
    *out = self;
    self = NULL;
out:
    sinter__bucket_source_destroy(self);
    return st;
}

void
sinter__bucket_source_destroy(sinter__bucket_source *self)
{
    if (self != NULL) {
        const sinter_env *env = self->arena.env;

        sinter__bucket_output_destroy(self->output);
        for (size_t i = 0; i < self->vector_count; i++) {
            sinter__deletion_vector_destroy(self->vectors[i]);
        }
        for (size_t i = 0; i < self->tracked_count; i++) {
            sinter__tracked_schema_fini(&self->tracked[i]);
        }
        sinter_text_fini(&self->text);
        sinter__arena_fini(&self->arena);
        sinter__free(env, self);
    }
}

const sinter_file_meta *
sinter__bucket_source_files(const sinter__bucket_source *self, size_t *count_out)
{
    *count_out = self->count;
    return self->metas;
}

const sinter_format *
sinter__bucket_source_format(const sinter__bucket_source *self)
{
    return &self->format;
}

/* ---- new files ---- */

/* A key as metadata has it. */
static sinter_status
decode_key(sinter__bucket_source *self, sinter_bytes key, sinter_bytes *out, sinter_error *err)
{
    const sinter__scan_columns *columns = self->request.columns;
    sinter__shape shape = {.count = columns->key_count};
    sinter_field *fields = NULL;
    uint8_t *row = NULL;
    size_t size = 0;

    SINTER__CHECK(sinter__arena_take(&self->arena, (columns->key_count + 1) * sizeof *fields,
                                     (void **)&fields, err));
    for (size_t i = 0; i < columns->key_count; i++) {
        fields[i] = columns->fields[columns->keys[i]];
    }
    shape.fields = fields;
    sinter_text_reset(&self->text);
    if (columns->key_codec != NULL) {
        SINTER__CHECK(sinter_key_decode(columns->key_codec, key, &self->text, self->values, err));
    }
    SINTER__CHECK(sinter__binary_size(&shape, self->values, &size, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, ARITY_BYTES + size, (void **)&row, err));
    memset(row, 0, ARITY_BYTES + size);
    sinter__put_be32(row, (uint32_t)columns->key_count);
    sinter__binary_put(&shape, self->values, row + ARITY_BYTES);
    *out = (sinter_bytes){row, ARITY_BYTES + size};
    return SINTER_OK;
}

/* Files with the columns of row tracking say which columns they have. */
static sinter_status
fill_columns(sinter__bucket_source *self, sinter__data_file *out, sinter_error *err)
{
    const sinter__write_plan *plan = self->request.write;
    sinter_bytes *names = NULL;

    if (!self->request.tracks_rows) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(&self->arena, (plan->field_count + 1) * sizeof *names,
                                     (void **)&names, err));
    for (size_t i = 0; i < plan->field_count; i++) {
        const char *name = plan->fields[i].name;

        names[i] = (sinter_bytes){(const uint8_t *)name, strlen(name)};
    }
    out->has |= SINTER__FILE_HAS_WRITE_COLS;
    out->write_cols = (sinter__bytes_list){names, plan->field_count};
    return SINTER_OK;
}

/* Names of the files that belong to a new one. */
static sinter_status
fill_extra_files(sinter__bucket_source *self, const sinter_file_meta *made, sinter__bytes_list *out,
                 sinter_error *err)
{
    sinter_bytes *names = NULL;

    SINTER__CHECK(sinter__arena_take(&self->arena, (made->extra_file_count + 1) * sizeof *names,
                                     (void **)&names, err));
    for (size_t i = 0; i < made->extra_file_count; i++) {
        const char *name = NULL;

        SINTER__CHECK(sinter__arena_strdup(&self->arena, made->extra_files[i], &name, err));
        names[i] = (sinter_bytes){(const uint8_t *)name, strlen(name)};
    }
    *out = (sinter__bytes_list){names, made->extra_file_count};
    return SINTER_OK;
}

static sinter_status
fill_made(sinter__bucket_source *self, const sinter__data_made *known, const sinter_file_meta *made,
          sinter__data_file *out, sinter_error *err)
{
    const char *name = NULL;

    *out = (sinter__data_file){.file_size = (int64_t)made->file_size,
                               .row_count = (int64_t)made->row_count,
                               .key_stats = known->key_stats,
                               .value_stats = known->value_stats.stats,
                               .min_sequence = made->min_sequence_number,
                               .max_sequence = made->max_sequence_number,
                               .schema_id = self->request.write->schema->id,
                               .level = made->level,
                               .has = SINTER__FILE_HAS_CREATION_TIME | SINTER__FILE_HAS_SOURCE |
                                      SINTER__FILE_HAS_DELETE_ROW_COUNT,
                               .creation_time_ms = made->creation_time_ms,
                               .delete_row_count = made->delete_row_count,
                               .source = made->file_source == SINTER_FILE_SOURCE_COMPACT
                                             ? SINTER__FILE_SOURCE_COMPACT
                                             : SINTER__FILE_SOURCE_APPEND};
    if (known->value_stats.has_columns) {
        out->has |= SINTER__FILE_HAS_VALUE_STATS_COLS;
        out->value_stats_cols = known->value_stats.columns;
    }
    SINTER__CHECK(sinter__arena_strdup(&self->arena, made->file_name, &name, err));
    out->file_name = (sinter_bytes){(const uint8_t *)name, strlen(name)};
    SINTER__CHECK(fill_columns(self, out, err));
    if (made->external_path != NULL) {
        out->has |= SINTER__FILE_HAS_EXTERNAL_PATH;
        SINTER__CHECK(sinter__external_path_name(&self->arena, made->external_path,
                                                 &out->external_path, err));
    }
    if (known->embedded_index.size > 0) {
        out->has |= SINTER__FILE_HAS_EMBEDDED_INDEX;
        out->embedded_index = known->embedded_index;
    }
    SINTER__CHECK(fill_extra_files(self, made, &out->extra_files, err));
    SINTER__CHECK(decode_key(self, made->min_key, &out->min_key, err));
    return decode_key(self, made->max_key, &out->max_key, err);
}

sinter_status
sinter__bucket_source_new_file(sinter__bucket_source *self, const sinter_file_meta *made,
                               sinter__manifest_entry *out, sinter_error *err)
{
    const sinter__data_made *known =
        self->output == NULL ? NULL : sinter__bucket_output_find(self->output, made->file_name);

    *out = (sinter__manifest_entry){.version = SINTER__MANIFEST_VERSION,
                                    .kind = SINTER__ENTRY_ADD,
                                    .partition = self->request.files->partition,
                                    .bucket = self->request.files->bucket,
                                    .total_buckets = self->request.files->total_buckets};
    if (known == NULL) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, made->file_name, -1,
                              "the file wasn't made for this bucket");
    }
    return fill_made(self, known, made, &out->file, err);
}

const char *
sinter__bucket_source_dir(const sinter__bucket_source *self)
{
    return self->dir;
}

const sinter__external_paths *
sinter__bucket_source_external(const sinter__bucket_source *self)
{
    return &self->external;
}
