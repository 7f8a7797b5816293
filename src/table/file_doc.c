/*
 * File objects of a table (interchange.md 2): entries of manifests, to documents and back. Keys are
 * encoded keys there and rows here.
 */
#include <string.h>

#include "base/fail.h"
#include "doc/binary.h"
#include "doc/files_doc.h"
#include "doc/text.h"
#include "table/task.h"

enum { ARITY_BYTES = 4 };

static const char *const sources[] = {"APPEND", "COMPACT", NULL};

/* ---- keys ---- */

static sinter_status
encode_key(const sinter__doc_table *table, sinter_bytes row, sinter_text *out, sinter_error *err)
{
    const sinter__scan_columns *columns = table->columns;
    sinter__arena arena = {.env = table->env};
    sinter_datum *values = NULL;
    sinter__slots slots;
    sinter_status st = SINTER_OK;

    if (row.size < ARITY_BYTES) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a key of %zu bytes", row.size);
    }
    SINTER__TRY(
        sinter__doc_room(&arena, columns->key_count, sizeof *values, (void **)&values, err));
    SINTER__TRY(sinter__slots_of_row(columns->key_count,
                                     (sinter_bytes){row.data + ARITY_BYTES, row.size - ARITY_BYTES},
                                     &slots, err));
    for (size_t i = 0; i < columns->key_count; i++) {
        SINTER__TRY(
            sinter__slots_get(&slots, &columns->fields[columns->keys[i]].type, i, &values[i], err));
    }
    SINTER__TRY(sinter_key_encode(columns->key_codec, values, out, err));
out:
    sinter__arena_fini(&arena);
    return st;
}

/* The row of an encoded key, with its arity in front, in `arena`. */
static sinter_status
decode_key(const sinter__doc_table *table, sinter_bytes key, sinter__arena *arena,
           sinter_bytes *out, sinter_error *err)
{
    const sinter__scan_columns *columns = table->columns;
    sinter_field *fields = NULL;
    sinter_datum *values = NULL;
    uint8_t *bytes = NULL;
    sinter__shape shape = {.count = columns->key_count};
    sinter_text scratch;
    size_t size = 0;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &scratch);
    SINTER__TRY(sinter__doc_room(arena, shape.count, sizeof *values, (void **)&values, err));
    SINTER__TRY(sinter__doc_room(arena, shape.count, sizeof *fields, (void **)&fields, err));
    for (size_t i = 0; i < shape.count; i++) {
        fields[i] = columns->fields[columns->keys[i]];
    }
    shape.fields = fields;
    SINTER__TRY(sinter_key_decode(columns->key_codec, key, &scratch, values, err));
    SINTER__TRY(sinter__binary_size(&shape, values, &size, err));
    SINTER__TRY(sinter__doc_room(arena, ARITY_BYTES + size, 1, (void **)&bytes, err));
    sinter__put_be32(bytes, (uint32_t)shape.count);
    sinter__binary_put(&shape, values, bytes + ARITY_BYTES);
    *out = (sinter_bytes){bytes, ARITY_BYTES + size};
out:
    sinter_text_fini(&scratch);
    return st;
}

/* ---- to documents ---- */

static sinter_status
put_key(sinter__doc_writer *writer, json_t *object, const char *name,
        const sinter__doc_table *table, sinter_bytes row, sinter_error *err)
{
    sinter_text key;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &key);
    SINTER__TRY(encode_key(table, row, &key, err));
    sinter__doc_put_key(writer, object, name, sinter_text_bytes(&key), table->columns->key_codec,
                        table->env);
out:
    sinter_text_fini(&key);
    return st;
}

static void
append_bytes(sinter__doc_writer *writer, json_t *array, sinter_bytes text)
{
    if (json_array_append_new(array, json_stringn((const char *)text.data, text.size)) != 0 &&
        writer->status == SINTER_OK) {
        writer->status = SINTER_E_NOMEM;
    }
}

static void
put_names(sinter__doc_writer *writer, json_t *object, const char *name,
          const sinter__bytes_list *names)
{
    json_t *array = sinter__doc_put_array(writer, object, name);

    for (size_t i = 0; i < names->count; i++) {
        append_bytes(writer, array, names->items[i]);
    }
}

static void
put_stats(sinter__doc_writer *writer, json_t *meta, const char *name, const sinter_env *env,
          const sinter__simple_stats *stats)
{
    json_t *object = sinter__doc_put_object(writer, meta, name);
    json_t *counts = NULL;

    sinter__doc_put_hex(writer, object, "min", stats->min_values, env);
    sinter__doc_put_hex(writer, object, "max", stats->max_values, env);
    if ((stats->has & SINTER__STATS_HAS_NULL_COUNTS) == 0) {
        sinter__doc_put_null(writer, object, "null_counts");
        return;
    }
    counts = sinter__doc_put_array(writer, object, "null_counts");
    for (size_t i = 0; i < stats->null_counts.count; i++) {
        const int64_t count = stats->null_counts.items[i];

        if (json_array_append_new(counts, count == SINTER__NULL_COUNT_UNKNOWN
                                              ? json_null()
                                              : json_integer(count)) != 0 &&
            writer->status == SINTER_OK) {
            writer->status = SINTER_E_NOMEM;
        }
    }
}

/* With statistics, and what else an entry must have; or what reading the rows takes, if anything.
 */
static void
put_table_meta(sinter__doc_writer *writer, json_t *object, const sinter_env *env,
               const sinter__file_doc *doc)
{
    const sinter__data_file *file = &doc->entry->file;
    json_t *meta = NULL;

    if (!doc->with_stats &&
        (file->has & (SINTER__FILE_HAS_WRITE_COLS | SINTER__FILE_HAS_FIRST_ROW_ID)) == 0) {
        return;
    }
    meta = sinter__doc_put_object(writer, object, "table_meta");
    if (doc->with_stats) {
        put_stats(writer, meta, "key_stats", env, &file->key_stats);
        put_stats(writer, meta, "value_stats", env, &file->value_stats);
    }
    if (doc->with_stats && (file->has & SINTER__FILE_HAS_VALUE_STATS_COLS) != 0) {
        put_names(writer, meta, "value_stats_cols", &file->value_stats_cols);
    }
    if ((file->has & SINTER__FILE_HAS_WRITE_COLS) != 0) {
        put_names(writer, meta, "write_cols", &file->write_cols);
    }
    if (doc->with_stats && (file->has & SINTER__FILE_HAS_EMBEDDED_INDEX) != 0) {
        sinter__doc_put_hex(writer, meta, "embedded_index", file->embedded_index, env);
    }
    if ((file->has & SINTER__FILE_HAS_FIRST_ROW_ID) != 0) {
        sinter__doc_put_integer(writer, meta, "first_row_id", file->first_row_id);
    }
}

static void
put_vector(sinter__doc_writer *writer, json_t *object, const sinter__file_vector *vector)
{
    json_t *member = sinter__doc_put_object(writer, object, "deletion_vector");

    sinter__doc_put_string(writer, member, "index_file", vector->index_file);
    sinter__doc_put_integer(writer, member, "offset", vector->range.offset);
    sinter__doc_put_integer(writer, member, "length", vector->range.length);
    if ((vector->range.has & SINTER__VECTOR_HAS_CARDINALITY) != 0) {
        sinter__doc_put_integer(writer, member, "cardinality", vector->range.cardinality);
    }
}

static void
put_numbers(sinter__doc_writer *writer, json_t *object, const sinter__data_file *file)
{
    sinter__doc_put_integer(writer, object, "min_sequence_number", file->min_sequence);
    sinter__doc_put_integer(writer, object, "max_sequence_number", file->max_sequence);
    if ((file->has & SINTER__FILE_HAS_DELETE_ROW_COUNT) != 0) {
        sinter__doc_put_integer(writer, object, "delete_row_count", file->delete_row_count);
    }
    if ((file->has & SINTER__FILE_HAS_CREATION_TIME) != 0) {
        sinter__doc_put_integer(writer, object, "creation_time_ms", file->creation_time_ms);
    }
    sinter__doc_put_integer(writer, object, "schema_id", file->schema_id);
    if ((file->has & SINTER__FILE_HAS_SOURCE) != 0) {
        sinter__doc_put_string(writer, object, "file_source", sources[file->source != 0]);
    }
}

sinter_status
sinter__file_doc_put(sinter__doc_writer *writer, json_t *object, const sinter__doc_table *table,
                     const sinter__file_doc *doc, sinter_error *err)
{
    const sinter__data_file *file = &doc->entry->file;

    sinter__doc_put_bytes_text(writer, object, "file_name", file->file_name);
    sinter__doc_put_integer(writer, object, "level", file->level);
    if ((file->has & SINTER__FILE_HAS_EXTERNAL_PATH) != 0) {
        sinter__doc_put_bytes_text(writer, object, "external_path", file->external_path);
    } else if (doc->dir != NULL) {
        sinter__doc_put_string(writer, object, "dir", doc->dir);
    }
    sinter__doc_put_integer(writer, object, "file_size", file->file_size);
    sinter__doc_put_integer(writer, object, "row_count", file->row_count);
    if (table->columns->key_codec != NULL && file->row_count > 0) {
        SINTER__CHECK(put_key(writer, object, "min_key", table, file->min_key, err));
        SINTER__CHECK(put_key(writer, object, "max_key", table, file->max_key, err));
    }
    put_numbers(writer, object, file);
    if (file->extra_files.count > 0) {
        put_names(writer, object, "extra_files", &file->extra_files);
    }
    if (doc->vector != NULL && doc->vector->index_file != NULL) {
        put_vector(writer, object, doc->vector);
    }
    put_table_meta(writer, object, table->env, doc);
    return SINTER_OK;
}

/* ---- from documents ---- */

static const sinter__doc_range counts = {0, INT64_MAX};

static sinter_status
parse_integer(const sinter__doc_object *object, const char *name, sinter__doc_range range,
              int64_t *out, sinter_error *err)
{
    bool has = false;

    SINTER__CHECK(sinter__doc_integer(object, name, range, &has, out, err));
    if (!has) {
        char what[96];

        (void)snprintf(what, sizeof what, "member \"%.40s\" is missing", name);
        return sinter__doc_fail(object, SINTER_E_INVALID, NULL, what, err);
    }
    return SINTER_OK;
}

/* A member that may be missing, with the bit that says so. */
static sinter_status
parse_optional(const sinter__doc_object *object, const char *name, uint32_t bit,
               sinter__data_file *file, int64_t *out, sinter_error *err)
{
    bool has = false;

    SINTER__CHECK(sinter__doc_integer(object, name, SINTER__DOC_ANY_INTEGER, &has, out, err));
    file->has |= has ? bit : 0;
    return SINTER_OK;
}

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, text == NULL ? 0 : strlen(text)};
}

static sinter_status
parse_name(const sinter__doc_object *object, sinter__data_file *file, sinter_error *err)
{
    const char *text = NULL;

    SINTER__CHECK(sinter__doc_string(object, "file_name", SINTER__DOC_NEEDED, &text, err));
    if (!sinter__file_name_is_plain(text)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, "file_name",
                                "a file name has no \"/\" and isn't \"..\"", err);
    }
    file->file_name = bytes_of(text);
    SINTER__CHECK(sinter__doc_string(object, "external_path", SINTER__DOC_OPTIONAL, &text, err));
    if (text != NULL) {
        file->external_path = bytes_of(text);
        file->has |= SINTER__FILE_HAS_EXTERNAL_PATH;
    }
    return SINTER_OK;
}

static sinter_status
parse_names(const sinter__doc_object *object, const char *name, sinter__bytes_list *out,
            sinter_error *err)
{
    const char *const *texts = NULL;
    sinter_bytes *items = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_strings(object, name, &texts, &count, err));
    SINTER__CHECK(sinter__doc_room(object->arena, count, sizeof *items, (void **)&items, err));
    for (size_t i = 0; i < count; i++) {
        items[i] = bytes_of(texts[i]);
    }
    *out = (sinter__bytes_list){items, count};
    return SINTER_OK;
}

/* The row without columns. */
static const uint8_t empty_row[12] = {0};

static sinter_status
parse_keys(const sinter__doc_object *object, const sinter__doc_table *table,
           sinter__data_file *file, sinter_error *err)
{
    static const char *const names[] = {"min_key", "max_key"};
    sinter_bytes *const rows[] = {&file->min_key, &file->max_key};

    for (size_t i = 0; i < 2; i++) {
        sinter_bytes key = {NULL, 0};
        bool has = false;

        *rows[i] = (sinter_bytes){empty_row, sizeof empty_row};
        SINTER__CHECK(sinter__doc_hex(object, names[i], &has, &key, err));
        if (table->columns->key_codec == NULL) {
            continue;
        }
        if (!has) {
            return sinter__doc_fail(object, SINTER_E_INVALID, names[i],
                                    "files of a table with primary key have one", err);
        }
        if (decode_key(table, key, object->arena, rows[i], err) != SINTER_OK) {
            return sinter__doc_fail(object, SINTER_E_INVALID, names[i], "no key of this table",
                                    err);
        }
    }
    return SINTER_OK;
}

static sinter_status
parse_extra_files(const sinter__doc_object *object, sinter__data_file *file, sinter_error *err)
{
    SINTER__CHECK(parse_names(object, "extra_files", &file->extra_files, err));
    for (size_t i = 0; i < file->extra_files.count; i++) {
        const char *name = (const char *)file->extra_files.items[i].data;

        if (!sinter__file_name_is_plain(name)) {
            return sinter__doc_fail(object, SINTER_E_INVALID, "extra_files",
                                    "a file name has no \"/\" and isn't \"..\"", err);
        }
    }
    return SINTER_OK;
}

static sinter_status
parse_numbers(const sinter__doc_object *object, sinter__data_file *file, sinter_error *err)
{
    int64_t level = 0;
    int source = -1;

    SINTER__CHECK(parse_integer(object, "level", (sinter__doc_range){0, INT32_MAX}, &level, err));
    file->level = (int32_t)level;
    SINTER__CHECK(parse_integer(object, "file_size", counts, &file->file_size, err));
    SINTER__CHECK(parse_integer(object, "row_count", counts, &file->row_count, err));
    SINTER__CHECK(parse_integer(object, "min_sequence_number", SINTER__DOC_ANY_INTEGER,
                                &file->min_sequence, err));
    SINTER__CHECK(parse_integer(object, "max_sequence_number", SINTER__DOC_ANY_INTEGER,
                                &file->max_sequence, err));
    SINTER__CHECK(parse_optional(object, "delete_row_count", SINTER__FILE_HAS_DELETE_ROW_COUNT,
                                 file, &file->delete_row_count, err));
    SINTER__CHECK(parse_optional(object, "creation_time_ms", SINTER__FILE_HAS_CREATION_TIME, file,
                                 &file->creation_time_ms, err));
    SINTER__CHECK(parse_integer(object, "schema_id", counts, &file->schema_id, err));
    SINTER__CHECK(sinter__doc_enum(object, "file_source", sources, &source, err));
    if (source >= 0) {
        file->source = source;
        file->has |= SINTER__FILE_HAS_SOURCE;
    }
    return parse_extra_files(object, file, err);
}

static sinter_status
parse_counts(const sinter__doc_object *object, sinter__simple_stats *stats, sinter_error *err)
{
    const json_t *array = NULL;
    int64_t *items = NULL;

    SINTER__CHECK(sinter__doc_array(object, "null_counts", SINTER__DOC_OPTIONAL, &array, err));
    if (array == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_room(object->arena, json_array_size(array), sizeof *items,
                                   (void **)&items, err));
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);

        if (!json_is_null(item) && !json_is_integer(item)) {
            return sinter__doc_fail(object, SINTER_E_INVALID, "null_counts",
                                    "numbers or nulls expected", err);
        }
        items[i] = json_is_null(item) ? SINTER__NULL_COUNT_UNKNOWN : json_integer_value(item);
    }
    stats->null_counts = (sinter__int64_list){items, json_array_size(array)};
    stats->has |= SINTER__STATS_HAS_NULL_COUNTS;
    return SINTER_OK;
}

static sinter_status
parse_stats(const sinter__doc_object *meta, const char *name, sinter__simple_stats *stats,
            sinter_error *err)
{
    sinter__doc_object object;
    bool has_min = false;
    bool has_max = false;

    *stats = (sinter__simple_stats){.min_values = {empty_row, sizeof empty_row},
                                    .max_values = {empty_row, sizeof empty_row},
                                    .has = SINTER__STATS_HAS_NULL_COUNTS};
    if (meta->json == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_child(meta, name, SINTER__DOC_NEEDED, &object, err));
    stats->has = 0;
    SINTER__CHECK(sinter__doc_hex(&object, "min", &has_min, &stats->min_values, err));
    SINTER__CHECK(sinter__doc_hex(&object, "max", &has_max, &stats->max_values, err));
    if (!has_min || !has_max || stats->min_values.size < ARITY_BYTES ||
        stats->max_values.size < ARITY_BYTES) {
        return sinter__doc_fail(&object, SINTER_E_INVALID, NULL, "rows min and max expected", err);
    }
    return parse_counts(&object, stats, err);
}

static sinter_status
parse_table_meta(const sinter__doc_object *object, sinter__data_file *file, sinter_error *err)
{
    const json_t *member = NULL;
    sinter__doc_object meta;
    sinter__doc_object stats;
    bool has = false;

    SINTER__CHECK(sinter__doc_child(object, "table_meta", SINTER__DOC_OPTIONAL, &meta, err));
    stats = meta;
    if (json_object_get(meta.json, "key_stats") == NULL &&
        json_object_get(meta.json, "value_stats") == NULL) {
        stats.json = NULL; /* a file that is read */
    }
    SINTER__CHECK(parse_stats(&stats, "key_stats", &file->key_stats, err));
    SINTER__CHECK(parse_stats(&stats, "value_stats", &file->value_stats, err));
    if (meta.json == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__doc_member(&meta, "value_stats_cols", SINTER__DOC_OPTIONAL, &member, err));
    file->has |= member == NULL ? 0 : SINTER__FILE_HAS_VALUE_STATS_COLS;
    SINTER__CHECK(parse_names(&meta, "value_stats_cols", &file->value_stats_cols, err));
    SINTER__CHECK(sinter__doc_member(&meta, "write_cols", SINTER__DOC_OPTIONAL, &member, err));
    file->has |= member == NULL ? 0 : SINTER__FILE_HAS_WRITE_COLS;
    SINTER__CHECK(parse_names(&meta, "write_cols", &file->write_cols, err));
    SINTER__CHECK(sinter__doc_hex(&meta, "embedded_index", &has, &file->embedded_index, err));
    file->has |= has ? SINTER__FILE_HAS_EMBEDDED_INDEX : 0;
    return parse_optional(&meta, "first_row_id", SINTER__FILE_HAS_FIRST_ROW_ID, file,
                          &file->first_row_id, err);
}

static sinter_status
parse_vector(const sinter__doc_object *object, sinter_bytes data_file, sinter__file_vector *out,
             sinter_error *err)
{
    const sinter__doc_range positions = {0, INT32_MAX};
    sinter__doc_object vector;
    int64_t offset = 0;
    int64_t length = 0;
    bool has = false;

    *out = (sinter__file_vector){.range.data_file = data_file};
    SINTER__CHECK(sinter__doc_child(object, "deletion_vector", SINTER__DOC_OPTIONAL, &vector, err));
    if (vector.json == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__doc_string(&vector, "index_file", SINTER__DOC_NEEDED, &out->index_file, err));
    SINTER__CHECK(parse_integer(&vector, "offset", positions, &offset, err));
    SINTER__CHECK(parse_integer(&vector, "length", positions, &length, err));
    SINTER__CHECK(
        sinter__doc_integer(&vector, "cardinality", counts, &has, &out->range.cardinality, err));
    out->range.offset = (int32_t)offset;
    out->range.length = (int32_t)length;
    out->range.has = has ? SINTER__VECTOR_HAS_CARDINALITY : 0;
    return SINTER_OK;
}

sinter_status
sinter__file_doc_parse(const sinter__doc_object *object, const sinter__doc_table *table,
                       const sinter__task_place *place, sinter__manifest_entry *out,
                       sinter__file_vector *vector_out, sinter_error *err)
{
    *out = (sinter__manifest_entry){.version = SINTER__MANIFEST_VERSION,
                                    .kind = SINTER__ENTRY_ADD,
                                    .partition = place->partition,
                                    .bucket = place->bucket,
                                    .total_buckets = place->total_buckets};
    SINTER__CHECK(parse_name(object, &out->file, err));
    SINTER__CHECK(parse_numbers(object, &out->file, err));
    SINTER__CHECK(parse_keys(object, table, &out->file, err));
    SINTER__CHECK(parse_table_meta(object, &out->file, err));
    return parse_vector(object, out->file.file_name, vector_out, err);
}
