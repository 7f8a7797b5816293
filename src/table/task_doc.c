/*
 * Documents `sinter.task` (interchange.md 4). Files of older schemas need these, so `schemas` holds
 * them: a member that readers have to understand when it is there.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "doc/binary.h"
#include "doc/files_doc.h"
#include "doc/text.h"
#include "sinter/rows.h"
#include "table/schema.h"
#include "table/task.h"

enum { ARITY_BYTES = 4 };

static const char *const types[] = {"compact", "rewrite-files", "append", NULL};

/* ---- partitions ---- */

sinter_status
sinter__partition_open(const sinter__scan_columns *columns, sinter_bytes partition,
                       sinter__arena *arena, sinter__partition_values *out, sinter_error *err)
{
    const sinter_schema *schema = columns->schema;
    sinter__slots slots;

    out->count = schema->partition_key_count;
    if (partition.size < ARITY_BYTES || sinter__get_be32(partition.data) != out->count) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a partition of %zu columns expected",
                           out->count);
    }
    SINTER__CHECK(
        sinter__doc_room(arena, out->count, sizeof *out->columns, (void **)&out->columns, err));
    SINTER__CHECK(
        sinter__doc_room(arena, out->count, sizeof *out->values, (void **)&out->values, err));
    SINTER__CHECK(sinter__slots_of_row(
        out->count, (sinter_bytes){partition.data + ARITY_BYTES, partition.size - ARITY_BYTES},
        &slots, err));
    for (size_t i = 0; i < out->count; i++) {
        out->columns[i].name = schema->partition_keys[i];
        out->columns[i].type =
            *sinter_row_type_column_type(schema->row_type, columns->partition_keys[i]);
        SINTER__CHECK(sinter__slots_get(&slots, &out->columns[i].type, i, &out->values[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter__partition_text(const sinter__scan_columns *columns, const sinter__partition_names *names,
                       sinter_bytes partition, sinter_text *out, sinter_error *err)
{
    sinter__arena arena = {.env = columns->arena.env};
    sinter__partition_values values = {.count = 0};
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__partition_open(columns, partition, &arena, &values, err));
    SINTER__TRY(
        sinter__partition_path(names, values.columns, values.count, values.values, out, err));
out:
    sinter__arena_fini(&arena);
    return st;
}

sinter_status
sinter__bucket_dir(const sinter__scan_columns *columns, const sinter__table_options *options,
                   sinter_bytes partition, int32_t bucket, sinter_text *out, sinter_error *err)
{
    size_t before = 0;

    if (options->data_dir != NULL) {
        SINTER__CHECK(sinter__text_puts(out, options->data_dir, err));
        SINTER__CHECK(sinter__text_puts(out, "/", err));
    }
    before = out->size;
    SINTER__CHECK(sinter__partition_text(columns, &options->partition_names, partition, out, err));
    SINTER__CHECK(sinter__text_puts(out, out->size == before ? "" : "/", err));
    return sinter__bucket_path(bucket, out, err);
}

/* Print a partition as a row and take the text apart again: one way to print values. */
static sinter_status
make_partition(const sinter__scan_columns *columns, sinter_bytes partition, json_t **out,
               sinter_error *err)
{
    const sinter_env *env = columns->arena.env;
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    sinter__arena arena = {.env = env};
    sinter__partition_values values = {.count = 0};
    sinter_row_layout layout = {.struct_size = (uint32_t)sizeof layout};
    sinter_row_type *type = NULL;
    sinter_row_writer *writer = NULL;
    sinter_text text;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &text);
    SINTER__TRY(sinter__partition_open(columns, partition, &arena, &values, err));
    if (values.count > 0) {
        layout.columns = values.columns;
        layout.count = values.count;
        SINTER__TRY(sinter_row_type_create(env, &layout, &type, err));
        SINTER__TRY(sinter_row_writer_create(env, type, &options, &writer, err));
        SINTER__TRY(sinter_row_writer_append(writer, 0, values.values, &text, err));
    }
    *out =
        values.count > 0 ? json_loadb(text.data, text.size, JSON_ALLOW_NUL, NULL) : json_object();
    if (*out == NULL) {
        SINTER__FAIL(err, SINTER_E_NOMEM, "no memory for a partition's values");
    }
out:
    sinter_row_writer_destroy(writer);
    sinter_row_type_destroy(type);
    sinter_text_fini(&text);
    sinter__arena_fini(&arena);
    return st;
}

/* ---- table and commit ---- */

void
sinter__place_doc_put(sinter__doc_writer *writer, json_t *root, const sinter__doc_table *table,
                      const sinter__task_place *place)
{
    json_t *member = sinter__doc_put_object(writer, root, "table");
    json_t *partition = NULL;

    sinter__doc_put_integer(writer, member, "schema_id", place->schema_id);
    sinter__doc_put_integer(writer, member, "snapshot_id", place->snapshot_id);
    (void)make_partition(table->columns, place->partition, &partition, NULL);
    sinter__doc_put(writer, member, "partition", partition);
    sinter__doc_put_hex(writer, member, "partition_bytes", place->partition, table->env);
    sinter__doc_put_integer(writer, member, "bucket", place->bucket);
    sinter__doc_put_integer(writer, member, "total_buckets", place->total_buckets);
    if (place->branch != NULL) {
        sinter__doc_put_string(writer, member, "branch", place->branch);
    }
    member = sinter__doc_put_object(writer, root, "commit");
    sinter__doc_put_string(writer, member, "user", place->user);
    sinter__doc_put_integer(writer, member, "identifier", place->identifier);
}

void
sinter__range_doc_put(sinter__doc_writer *writer, json_t *root, const sinter__doc_table *table,
                      const sinter__key_range *range)
{
    const sinter_key_codec *codec = table->columns->key_codec;
    json_t *object = NULL;

    if (!range->has_begin && !range->has_end) {
        sinter__doc_put_null(writer, root, "range");
        return;
    }
    object = sinter__doc_put_object(writer, root, "range");
    if (range->has_begin) {
        sinter__doc_put_key(writer, object, "begin_key", range->begin, codec, table->env);
    } else {
        sinter__doc_put_null(writer, object, "begin_key");
    }
    if (range->has_end) {
        sinter__doc_put_key(writer, object, "end_key", range->end, codec, table->env);
    } else {
        sinter__doc_put_null(writer, object, "end_key");
    }
}

sinter_status
sinter__range_doc_parse(const sinter__doc_object *root, sinter__key_range *out, sinter_error *err)
{
    sinter__doc_object object;

    *out = (sinter__key_range){.has_begin = false};
    SINTER__CHECK(sinter__doc_child(root, "range", SINTER__DOC_OPTIONAL, &object, err));
    if (object.json == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_hex(&object, "begin_key", &out->has_begin, &out->begin, err));
    SINTER__CHECK(sinter__doc_hex(&object, "end_key", &out->has_end, &out->end, err));
    if (out->has_begin && out->has_end && sinter__key_compare(out->begin, out->end) >= 0) {
        return sinter__doc_fail(&object, SINTER_E_INVALID, "end_key",
                                "a range ends behind its begin", err);
    }
    return SINTER_OK;
}

static sinter_status
parse_needed(const sinter__doc_object *object, const char *name, sinter__doc_range range,
             int64_t *out, sinter_error *err)
{
    const json_t *member = NULL;
    bool has = false;

    SINTER__CHECK(sinter__doc_member(object, name, SINTER__DOC_NEEDED, &member, err));
    return sinter__doc_integer(object, name, range, &has, out, err);
}

sinter_status
sinter__place_doc_parse(const sinter__doc_object *root, sinter__task_place *out, sinter_error *err)
{
    const sinter__doc_range counts = {0, INT64_MAX};
    const sinter__doc_range buckets = {-2, INT32_MAX};
    sinter__doc_object member;
    int64_t number = 0;
    bool has = false;

    SINTER__CHECK(sinter__doc_child(root, "table", SINTER__DOC_NEEDED, &member, err));
    SINTER__CHECK(parse_needed(&member, "schema_id", counts, &out->schema_id, err));
    SINTER__CHECK(parse_needed(&member, "snapshot_id", counts, &out->snapshot_id, err));
    SINTER__CHECK(sinter__doc_hex(&member, "partition_bytes", &has, &out->partition, err));
    if (!has || out->partition.size < ARITY_BYTES) {
        return sinter__doc_fail(&member, SINTER_E_INVALID, "partition_bytes", "a row expected",
                                err);
    }
    SINTER__CHECK(parse_needed(&member, "bucket", buckets, &number, err));
    out->bucket = (int32_t)number;
    SINTER__CHECK(parse_needed(&member, "total_buckets", buckets, &number, err));
    out->total_buckets = (int32_t)number;
    SINTER__CHECK(sinter__doc_string(&member, "branch", SINTER__DOC_OPTIONAL, &out->branch, err));
    SINTER__CHECK(sinter__doc_child(root, "commit", SINTER__DOC_NEEDED, &member, err));
    SINTER__CHECK(sinter__doc_string(&member, "user", SINTER__DOC_NEEDED, &out->user, err));
    return parse_needed(&member, "identifier", SINTER__DOC_ANY_INTEGER, &out->identifier, err);
}

/* ---- printing ---- */

static void
put_schemas(sinter__doc_writer *writer, json_t *root, const sinter_bytes *schemas, size_t count)
{
    json_t *older = NULL;

    for (size_t i = 0; i < count; i++) {
        json_t *schema =
            json_loadb((const char *)schemas[i].data, schemas[i].size, JSON_ALLOW_NUL, NULL);

        if (i == 0) {
            sinter__doc_put(writer, root, "schema", schema);
            continue;
        }
        older = older == NULL ? sinter__doc_put_array(writer, root, "schemas") : older;
        if (json_array_append_new(older, schema) != 0 && writer->status == SINTER_OK) {
            writer->status = SINTER_E_NOMEM;
        }
    }
}

static void
put_merge(sinter__doc_writer *writer, json_t *root, const sinter__table_task *task,
          const sinter__compaction *options)
{
    json_t *merge = sinter__doc_put_object(writer, root, "merge");
    json_t *fields = NULL;
    const char *at = options->has_key ? options->table.sequence_field : NULL;

    sinter__doc_put_string(writer, merge, "engine", task->engine);
    sinter__doc_put_bool(writer, merge, "ignore_delete", options->table.ignore_delete);
    fields = sinter__doc_put_array(writer, merge, "sequence_fields");
    while (at != NULL) {
        char name[256];
        const size_t size = strcspn(at, ",");

        (void)snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : 255), at);
        sinter__doc_append_string(writer, fields, name);
        at = at[size] == '\0' ? NULL : at + size + 1;
    }
    sinter__doc_put_string(writer, merge, "sequence_order",
                           options->table.sequence_descending ? "descending" : "ascending");
    sinter__doc_put_string(writer, merge, "sort_engine",
                           options->core.sort_engine == SINTER_SORT_MIN_HEAP ? "min-heap"
                                                                             : "loser-tree");
    sinter__doc_put_count(writer, merge, "spill_threshold",
                          sinter_compact_spill_threshold(&options->core));
}

static void
put_output(sinter__doc_writer *writer, json_t *root, const sinter__table_task *task)
{
    json_t *output = sinter__doc_put_object(writer, root, "output");

    sinter__doc_put_string(writer, output, "dir", task->output_dir);
    sinter__doc_put_string(writer, output, "format", task->format);
    sinter__doc_put_string(writer, output, "file_prefix", task->file_prefix);
}

static void
put_key_types(sinter__doc_writer *writer, json_t *root, const sinter__scan_columns *columns)
{
    json_t *array = sinter__doc_put_array(writer, root, "key_types");
    const char *line = columns->key_codec == NULL ? "" : sinter_key_codec_types(columns->key_codec);

    while (line[0] != '\0') {
        const size_t size = strcspn(line, "\n");
        char text[SINTER_TYPE_TEXT_MAX];

        (void)snprintf(text, sizeof text, "%.*s",
                       (int)(size < sizeof text ? size : sizeof text - 1), line);
        sinter__doc_append_string(writer, array, text);
        line += size + (line[size] == '\0' ? 0 : 1);
    }
}

static void
put_reason(sinter__doc_writer *writer, json_t *root, const sinter__table_task *task)
{
    json_t *reason = sinter__doc_put_object(writer, root, "reason");
    json_t *values = NULL;
    uint64_t bytes = 0;

    for (size_t i = 0; i < task->count; i++) {
        bytes += (uint64_t)task->files[i]->file.file_size;
    }
    sinter__doc_put_string(writer, reason, "code", task->reason);
    sinter__doc_put_string(writer, reason, "text", task->reason_text);
    values = sinter__doc_put_object(writer, reason, "values");
    sinter__doc_put_count(writer, values, "file_count", task->count);
    sinter__doc_put_count(writer, values, "file_bytes", bytes);
    values = sinter__doc_put_object(writer, root, "estimate");
    sinter__doc_put_count(writer, values, "read_bytes", bytes);
    sinter__doc_put_count(writer, values, "write_bytes", bytes);
    sinter__doc_put_integer(writer, values, "upgrade_bytes", 0);
    sinter__doc_put_count(writer, values, "temporary_bytes", bytes);
}

static sinter_status
put_files(sinter__doc_writer *writer, json_t *root, const sinter__doc_table *table,
          const sinter__table_task *task, sinter_error *err)
{
    json_t *files = sinter__doc_put_array(writer, root, "files");

    for (size_t i = 0; i < task->count; i++) {
        const sinter__file_doc file = {.entry = task->files[i],
                                       .dir = task->output_dir,
                                       .vector = &task->vectors[i],
                                       .with_stats = task->has_now};

        SINTER__CHECK(sinter__file_doc_put(writer, sinter__doc_append_object(writer, files), table,
                                           &file, err));
    }
    return SINTER_OK;
}

static void
put_options(sinter__doc_writer *writer, json_t *root, const sinter__table_task *task)
{
    json_t *options = sinter__doc_put_object(writer, root, "options");

    for (size_t i = 0; i < task->setting_count; i++) {
        sinter__doc_put_string(writer, options, task->settings[i].key, task->settings[i].value);
    }
}

sinter_status
sinter__task_doc_print(const sinter__doc_table *table, const sinter__table_task *task,
                       const sinter_bytes *schemas, size_t schema_count, sinter_text *out,
                       sinter_error *err)
{
    const sinter__settings settings = {task->settings, task->setting_count};
    sinter__compaction options;
    sinter__doc_writer writer;
    json_t *root = NULL;
    json_t *must = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__compaction_load(table->schema, &settings, &options, err));
    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_string(&writer, root, "format", "sinter.task");
    sinter__doc_put_integer(&writer, root, "version", 1);
    must = sinter__doc_put_array(&writer, root, "must_understand");
    if (schema_count > 1) {
        sinter__doc_append_string(&writer, must, "schemas");
    }
    sinter__doc_put_string(&writer, root, "task_id", task->place.task_id);
    sinter__doc_put_string(&writer, root, "type", types[task->type]);
    sinter__doc_put_string(&writer, root, "base_dir", task->place.base_dir);
    sinter__place_doc_put(&writer, root, table, &task->place);
    put_key_types(&writer, root, table->columns);
    put_schemas(&writer, root, schemas, schema_count);
    sinter__doc_put_integer(&writer, root, "output_level", task->output_level);
    sinter__doc_put_integer(&writer, root, "max_level", task->max_level);
    sinter__doc_put_bool(&writer, root, "drop_delete", task->drop_delete);
    sinter__doc_put_bool(&writer, root, "force_rewrite_all_files", task->force_rewrite_all_files);
    sinter__doc_put_count(&writer, root, "small_file_bytes", task->small_file_bytes);
    sinter__doc_put_count(&writer, root, "target_file_bytes", task->target_file_bytes);
    put_output(&writer, root, task);
    put_merge(&writer, root, task, &options);
    if (task->has_now) {
        sinter__doc_put_integer(&writer, root, "now_ms", task->now_ms);
    } else {
        sinter__doc_put_null(&writer, root, "now_ms");
    }
    sinter__range_doc_put(&writer, root, table, &task->place.range);
    put_options(&writer, root, task);
    st = put_files(&writer, root, table, task, err);
    put_reason(&writer, root, task);
    if (st != SINTER_OK) {
        json_decref(root);
        return st;
    }
    return sinter__doc_writer_end(&writer, root, 0, out, err);
}

/* ---- reading ---- */

static const char *const known_names[] = {"format",
                                          "version",
                                          "must_understand",
                                          "task_id",
                                          "type",
                                          "base_dir",
                                          "table",
                                          "commit",
                                          "key_types",
                                          "schema",
                                          "schemas",
                                          "output_level",
                                          "max_level",
                                          "drop_delete",
                                          "force_rewrite_all_files",
                                          "small_file_bytes",
                                          "target_file_bytes",
                                          "output",
                                          "merge",
                                          "now_ms",
                                          "range",
                                          "options",
                                          "files",
                                          "deletion_vector",
                                          "table_meta",
                                          "reason",
                                          "estimate",
                                          NULL};

static const sinter__doc_kind kind = {"sinter.task", 1, known_names};

static sinter_status
add_schema(sinter_table *table, const json_t *json, const sinter__doc_object *root,
           const char *name, sinter_error *err)
{
    sinter__schema_node *node = NULL;
    sinter__doc_writer writer;
    sinter_text text;
    sinter_status st = SINTER_OK;

    if (!json_is_object(json)) {
        return sinter__doc_fail(root, SINTER_E_INVALID, name, "a schema expected", err);
    }
    sinter_text_init(table->env, &text);
    sinter__doc_writer_init(&writer);
    SINTER__TRY(sinter__doc_writer_end(&writer, json_deep_copy(json), 0, &text, err));
    SINTER__TRY(SINTER__NEW(table->env, node, 1, err));
    SINTER__TRY(sinter__schema_of_text(table->env, root->source->name, sinter_text_bytes(&text),
                                       &node->schema, err));
    node->next = table->schemas;
    table->schemas = node;
    table->latest = table->latest == NULL ? node->schema : table->latest;
    node = NULL;
out:
    sinter__free(table->env, node);
    sinter_text_fini(&text);
    return st;
}

static sinter_status
load_schemas(const sinter__doc_object *root, sinter_table *table, sinter_error *err)
{
    const json_t *member = NULL;

    SINTER__CHECK(sinter__doc_member(root, "schema", SINTER__DOC_NEEDED, &member, err));
    SINTER__CHECK(add_schema(table, member, root, "schema", err));
    SINTER__CHECK(sinter__doc_array(root, "schemas", SINTER__DOC_OPTIONAL, &member, err));
    for (size_t i = 0; i < json_array_size(member); i++) {
        SINTER__CHECK(add_schema(table, json_array_get(member, i), root, "schemas", err));
    }
    return SINTER_OK;
}

/* A table that has these schemas and nothing else. */
static sinter_status
make_table(const sinter_env *env, const char *base_dir, sinter_table **out, sinter_error *err)
{
    const char *path = NULL;

    SINTER__CHECK(sinter__local_path(base_dir, &path, err));
    SINTER__CHECK(SINTER__NEW(env, *out, 1, err));
    (*out)->env = env;
    SINTER__CHECK(sinter__strdup(env, path, &(*out)->root, err));
    return sinter__strdup(env, path, &(*out)->home, err);
}

static sinter_status
join_settings(sinter__task_doc *doc, const sinter__doc_object *root,
              const sinter__settings *settings, sinter_error *err)
{
    const sinter_option *given = NULL;
    sinter_option *all = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_string_map(root, "options", &given, &count, err));
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, count + settings->count, sizeof *all, (void **)&all, err));
    for (size_t i = 0; i < count + settings->count; i++) {
        all[i] = i < count ? given[i] : settings->items[i - count];
    }
    doc->task.settings = all;
    doc->task.setting_count = count + settings->count;
    return SINTER_OK;
}

static sinter_status
load_limits(const sinter__doc_object *root, sinter__table_task *task, sinter_error *err)
{
    const sinter__doc_range levels = {0, INT32_MAX};
    const sinter__doc_range sizes = {0, INT64_MAX};
    int64_t number = 0;

    SINTER__CHECK(parse_needed(root, "output_level", levels, &number, err));
    task->output_level = (int32_t)number;
    SINTER__CHECK(parse_needed(root, "max_level", levels, &number, err));
    task->max_level = (int32_t)number;
    if (task->output_level > task->max_level) {
        return sinter__doc_fail(root, SINTER_E_INVALID, "output_level", "above max_level", err);
    }
    SINTER__CHECK(sinter__doc_bool(root, "drop_delete", &task->drop_delete, err));
    SINTER__CHECK(
        sinter__doc_bool(root, "force_rewrite_all_files", &task->force_rewrite_all_files, err));
    SINTER__CHECK(parse_needed(root, "small_file_bytes", sizes, &number, err));
    task->small_file_bytes = (uint64_t)number;
    SINTER__CHECK(
        parse_needed(root, "target_file_bytes", (sinter__doc_range){1, INT64_MAX}, &number, err));
    task->target_file_bytes = (uint64_t)number;
    return SINTER_OK;
}

static sinter_status
load_output(const sinter__doc_object *root, sinter__table_task *task, sinter_error *err)
{
    sinter__doc_object member;

    SINTER__CHECK(sinter__doc_child(root, "output", SINTER__DOC_NEEDED, &member, err));
    SINTER__CHECK(sinter__doc_string(&member, "dir", SINTER__DOC_NEEDED, &task->output_dir, err));
    if (!sinter__dir_is_below(task->output_dir)) {
        return sinter__doc_fail(&member, SINTER_E_INVALID, "dir",
                                "a directory is relative to base_dir and has no \"..\"", err);
    }
    SINTER__CHECK(sinter__doc_string(&member, "format", SINTER__DOC_NEEDED, &task->format, err));
    SINTER__CHECK(
        sinter__doc_string(&member, "file_prefix", SINTER__DOC_NEEDED, &task->file_prefix, err));
    if (strchr(task->file_prefix, '/') != NULL) {
        return sinter__doc_fail(&member, SINTER_E_INVALID, "file_prefix",
                                "a file name has no \"/\"", err);
    }
    SINTER__CHECK(sinter__doc_child(root, "merge", SINTER__DOC_NEEDED, &member, err));
    return sinter__doc_string(&member, "engine", SINTER__DOC_NEEDED, &task->engine, err);
}

static sinter_status
load_files(const sinter__doc_object *root, sinter__task_doc *doc, sinter_error *err)
{
    const sinter__doc_table table = {doc->table->env, doc->table->latest, &doc->columns};
    const sinter__manifest_entry **files = NULL;
    sinter__manifest_entry *entries = NULL;
    sinter__file_vector *vectors = NULL;
    const json_t *array = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_array(root, "files", SINTER__DOC_NEEDED, &array, err));
    count = json_array_size(array);
    SINTER__CHECK(sinter__doc_room(&doc->arena, count, sizeof *files, (void **)&files, err));
    SINTER__CHECK(sinter__doc_room(&doc->arena, count, sizeof *entries, (void **)&entries, err));
    SINTER__CHECK(sinter__doc_room(&doc->arena, count, sizeof *vectors, (void **)&vectors, err));
    for (size_t i = 0; i < count; i++) {
        sinter__doc_object object;

        SINTER__CHECK(sinter__doc_element(root, "files", array, i, &object, err));
        SINTER__CHECK(sinter__file_doc_parse(&object, &table, &doc->task.place, &entries[i],
                                             &vectors[i], err));
        files[i] = &entries[i];
    }
    doc->task.files = files;
    doc->task.vectors = vectors;
    doc->task.count = count;
    return SINTER_OK;
}

static sinter_status
load_task(const sinter_env *env, const sinter__doc_object *root, const char *base_dir,
          const sinter__settings *settings, sinter__task_doc *doc, sinter_error *err)
{
    const sinter__doc_range times = {INT64_MIN, INT64_MAX};
    sinter__table_task *task = &doc->task;
    int type = -1;

    SINTER__CHECK(sinter__doc_check(root, &kind, err));
    SINTER__CHECK(sinter__range_doc_parse(root, &task->place.range, err));
    SINTER__CHECK(sinter__doc_integer(root, "now_ms", times, &task->has_now, &task->now_ms, err));
    SINTER__CHECK(
        sinter__doc_string(root, "task_id", SINTER__DOC_NEEDED, &task->place.task_id, err));
    SINTER__CHECK(
        sinter__doc_string(root, "base_dir", SINTER__DOC_NEEDED, &task->place.base_dir, err));
    task->place.base_dir = base_dir != NULL ? base_dir : task->place.base_dir;
    SINTER__CHECK(sinter__doc_enum(root, "type", types, &type, err));
    if (type < 0) {
        return sinter__doc_fail(root, SINTER_E_INVALID, NULL, "member \"type\" is missing", err);
    }
    task->type = (sinter__task_type)type;
    if (task->type != SINTER__TASK_COMPACT &&
        (task->place.range.has_begin || task->place.range.has_end)) {
        return sinter__doc_fail(root, SINTER_E_INVALID, "range",
                                "only tasks of type \"compact\" have a part of the keys", err);
    }
    SINTER__CHECK(sinter__place_doc_parse(root, &task->place, err));
    SINTER__CHECK(make_table(env, task->place.base_dir, &doc->table, err));
    SINTER__CHECK(load_schemas(root, doc->table, err));
    SINTER__CHECK(join_settings(doc, root, settings, err));
    SINTER__CHECK(sinter__compaction_load(doc->table->latest,
                                          &(sinter__settings){task->settings, task->setting_count},
                                          &doc->options, err));
    SINTER__CHECK(sinter__scan_columns_init(&doc->columns, doc->table->latest, &doc->options.table,
                                            NULL, 0, err));
    SINTER__CHECK(load_limits(root, task, err));
    SINTER__CHECK(load_output(root, task, err));
    if (strcmp(task->engine, sinter__merge_engine_name(doc->options.table.merge_engine)) != 0) {
        return sinter__doc_fail(root, SINTER_E_UNSUPPORTED, "merge",
                                "another engine than the schema's", err);
    }
    return load_files(root, doc, err);
}

sinter_status
sinter__task_doc_load(const sinter_env *env, const sinter__json_source *text, const char *base_dir,
                      const sinter__settings *settings, sinter__task_doc *out, sinter_error *err)
{
    sinter__doc_object root = {.source = &out->source, .arena = &out->arena};

    out->arena.env = env;
    out->columns.arena.env = env;
    out->source = *text;
    SINTER__CHECK(sinter__json_load(text, SINTER__JSON_TYPES, &out->json, err));
    root.json = out->json;
    return load_task(env, &root, base_dir, settings, out, err);
}

void
sinter__task_doc_fini(sinter__task_doc *doc)
{
    sinter__scan_columns_fini(&doc->columns);
    sinter_table_close(doc->table);
    json_decref(doc->json);
    sinter__arena_fini(&doc->arena);
}
