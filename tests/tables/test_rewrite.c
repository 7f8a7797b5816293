/*
 * A data file that is read and written again gets the metadata that Paimon gave it: keys,
 * sequences, counts and statistics; it holds the same rows, and an Avro file the same schema.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/binary.h"
#include "format/avro_reader.h"
#include "sinter/io.h"
#include "table/bucket_source.h"
#include "tables.h"

/* Files of a table resemble each other. */
enum { PATH_BYTES = 4096, BUCKET_FILES_MAX = 2, TABLE_FILES_MAX = 8 };

/** A table of which files are written again. */
typedef struct rewrite {
    const table_case *test;
    const sinter_env *env; /* of new files, which lie in memory */
    const sinter_schema *schema;
    sinter__table_options options;
    sinter__scan_columns columns;
    sinter__write_plan plan;
    size_t files;
} rewrite;

static void
open_plan(rewrite *self, const sinter_schema *schema)
{
    sinter_error err = SINTER_ERROR_INIT;

    self->schema = schema;
    self->columns = (sinter__scan_columns){.arena.env = &self->test->env};
    self->plan = (sinter__write_plan){.arena.env = &self->test->env};
    cr_assert_eq(sinter__table_options_load(schema, &self->options, NULL), SINTER_OK);
    cr_assert_eq(sinter__scan_columns_init(&self->columns, schema, &self->options, NULL, 0, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__write_plan_init(&self->plan, schema, &self->options, &err), SINTER_OK,
                 "%s: %s", self->test->name, err.text);
}

static void
close_plan(rewrite *self)
{
    sinter__write_plan_fini(&self->plan);
    sinter__scan_columns_fini(&self->columns);
}

/* ---- copying ---- */

static void
copy_rows(const rewrite *self, sinter_reader *reader, sinter_writer *writer)
{
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    while ((st = reader->ops->next(reader, &batch, &err)) == SINTER_OK) {
        const sinter_range range = {.batch = batch, .count = batch->row_count};
        uint32_t rows = 0;
        size_t taken = 0;

        st = writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, &err);
        cr_assert_eq(st, SINTER_OK, "%s: %s", self->test->name, err.text);
        cr_assert_eq(taken, 1);
    }
    cr_assert_eq(st, SINTER_END, "%s: %s", self->test->name, err.text);
}

static sinter_file_meta
meta_of(const sinter_file_stats *stats, const char *name, const sinter_file_meta *like)
{
    return (sinter_file_meta){.struct_size = (uint32_t)sizeof(sinter_file_meta),
                              .file_name = name,
                              .level = like->level,
                              .file_source = like->file_source,
                              .file_size = stats->file_size,
                              .row_count = stats->row_count,
                              .delete_row_count = (int64_t)stats->retract_count,
                              .min_sequence_number = stats->sequence_min,
                              .max_sequence_number = stats->sequence_max,
                              .creation_time_ms = stats->creation_time_ms,
                              .extra_files = stats->extra_files,
                              .extra_file_count = stats->extra_file_count,
                              .min_key = stats->min_key,
                              .max_key = stats->max_key};
}

/* Write the source's only file again; its entry lives as long as the source. */
static void
write_again(rewrite *self, sinter__bucket_source *source, char path[PATH_BYTES],
            sinter__manifest_entry *out)
{
    const sinter_format *format = sinter__bucket_source_format(source);
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter_write_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_reader *reader = NULL;
    sinter_writer *writer = NULL;
    sinter_file_meta made;
    size_t count = 0;
    const sinter_file_meta *meta = sinter__bucket_source_files(source, &count);

    cr_assert_eq(count, 1);
    (void)snprintf(path, PATH_BYTES, "/copy-%zu%s", self->files, format->extension);
    options.level = meta->level;
    cr_assert_eq(format->open_reader(format->self, &self->test->env, meta->external_path, NULL,
                                     &reader, &err),
                 SINTER_OK, "%s: %s", self->test->name, err.text);
    cr_assert_eq(format->open_writer(format->self, self->env, path, &options, &writer, &err),
                 SINTER_OK, "%s: %s", self->test->name, err.text);
    copy_rows(self, reader, writer);
    cr_assert_eq(writer->ops->finish(writer, &stats, &err), SINTER_OK, "%s: %s", self->test->name,
                 err.text);
    made = meta_of(&stats, strrchr(path, '/') + 1, meta);
    cr_assert_eq(sinter__bucket_source_new_file(source, &made, out, &err), SINTER_OK, "%s: %s",
                 self->test->name, err.text);
    writer->ops->close(writer);
    reader->ops->close(reader);
}

/* ---- comparing ---- */

static void
check_bytes(const rewrite *self, const char *what, sinter_bytes found, sinter_bytes expected)
{
    sinter_text texts[2];

    for (int i = 0; i < 2; i++) {
        sinter_text_init(sinter_env_default(), &texts[i]);
        cr_assert_eq(sinter_hex_print(i == 0 ? found : expected, &texts[i], NULL), SINTER_OK);
    }
    cr_assert(found.size == expected.size &&
                  (found.size == 0 || memcmp(found.data, expected.data, found.size) == 0),
              "%s: %s is %s instead of %s", self->test->name, what, texts[0].data, texts[1].data);
    sinter_text_fini(&texts[0]);
    sinter_text_fini(&texts[1]);
}

/* The types that bounds are of. */
static void
take_fields(const rewrite *self, const sinter__data_file *file, size_t count, sinter_field *out)
{
    const sinter_row_type *columns = self->schema->row_type;

    for (size_t i = 0; i < count; i++) {
        char name[256] = "";
        size_t at = i;

        if (file->value_stats_cols.count > 0) {
            const sinter_bytes column = file->value_stats_cols.items[i];

            (void)snprintf(name, sizeof name, "%.*s", (int)column.size, (const char *)column.data);
            at = sinter_row_type_find(columns, name);
        }
        cr_assert_lt(at, sinter_row_type_count(columns), "%s", name);
        out[i] = sinter_row_type_fields(columns)[at];
    }
}

/* Where a column of ORC holds NaN, Paimon tells the bounds of its other values, which would hide
 * NaN; sinter tells none. Paimon's are taken away where sinter has none. */
static sinter_bytes
without_nan(const rewrite *self, const sinter__data_file *file, sinter_bytes found,
            sinter_bytes expected, uint8_t *room, size_t room_size)
{
    enum { ARITY = 4, COLUMNS_MAX = 64 };
    const size_t count = file->value_stats.null_counts.count;
    const sinter_bytes rows[2] = {{found.data + ARITY, found.size - ARITY},
                                  {expected.data + ARITY, expected.size - ARITY}};
    sinter_field fields[COLUMNS_MAX];
    sinter_datum values[COLUMNS_MAX];
    const sinter__shape shape = {.fields = fields, .count = count};
    sinter__slots slots[2];
    size_t size = 0;

    cr_assert_leq(count, COLUMNS_MAX);
    take_fields(self, file, count, fields);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(sinter__slots_of_row(count, rows[i], &slots[i], NULL), SINTER_OK);
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t id = fields[i].type.id;
        sinter_datum own;

        cr_assert_eq(sinter__slots_get(&slots[0], &fields[i].type, i, &own, NULL), SINTER_OK);
        cr_assert_eq(sinter__slots_get(&slots[1], &fields[i].type, i, &values[i], NULL), SINTER_OK);
        if (own.is_null && (id == SINTER_TYPE_FLOAT || id == SINTER_TYPE_DOUBLE)) {
            values[i] = (sinter_datum){.is_null = true};
        }
    }
    cr_assert_eq(sinter__binary_size(&shape, values, &size, NULL), SINTER_OK);
    cr_assert_leq(ARITY + size, room_size);
    memset(room, 0, ARITY + size);
    memcpy(room, expected.data, ARITY);
    sinter__binary_put(&shape, values, room + ARITY);
    return (sinter_bytes){room, ARITY + size};
}

static void
check_bounds(const rewrite *self, const char *what, const sinter__data_file *file,
             sinter_bytes found, sinter_bytes expected)
{
    static uint8_t room[1 << 16];
    const sinter_bytes name = file->file_name;
    const bool is_orc = name.size > 4 && memcmp(name.data + name.size - 4, ".orc", 4) == 0;

    if (is_orc && strstr(what, "values") != NULL && found.size > 0 && expected.size > 0) {
        expected = without_nan(self, file, found, expected, room, sizeof room);
    }
    check_bytes(self, what, found, expected);
}

static void
check_stats(const rewrite *self, const char *what, const sinter__data_file *file,
            const sinter__simple_stats *found, const sinter__simple_stats *expected)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%s: min", what);
    check_bounds(self, text, file, found->min_values, expected->min_values);
    (void)snprintf(text, sizeof text, "%s: max", what);
    check_bounds(self, text, file, found->max_values, expected->max_values);
    cr_assert_eq(found->has, expected->has, "%s: %s", self->test->name, what);
    cr_assert_eq(found->null_counts.count, expected->null_counts.count, "%s: %s", self->test->name,
                 what);
    for (size_t i = 0; i < found->null_counts.count; i++) {
        cr_assert_eq(found->null_counts.items[i], expected->null_counts.items[i],
                     "%s: %s: nulls of column %zu", self->test->name, what, i);
    }
}

static void
check_names(const rewrite *self, const sinter__bytes_list *found,
            const sinter__bytes_list *expected)
{
    cr_assert_eq(found->count, expected->count, "%s: columns of statistics", self->test->name);
    for (size_t i = 0; i < found->count; i++) {
        check_bytes(self, "a column of statistics", found->items[i], expected->items[i]);
    }
}

static void
check_entry(const rewrite *self, const sinter__manifest_entry *found,
            const sinter__manifest_entry *expected)
{
    const sinter__data_file *file = &found->file;
    const sinter__data_file *given = &expected->file;
    const char *name = self->test->name;

    check_bytes(self, "partition", found->partition, expected->partition);
    cr_assert_eq(found->bucket, expected->bucket);
    cr_assert_eq(found->total_buckets, expected->total_buckets);
    check_bytes(self, "least key", file->min_key, given->min_key);
    check_bytes(self, "greatest key", file->max_key, given->max_key);
    check_names(self, &file->value_stats_cols, &given->value_stats_cols);
    check_stats(self, "statistics of keys", given, &file->key_stats, &given->key_stats);
    check_stats(self, "statistics of values", given, &file->value_stats, &given->value_stats);
    cr_assert_eq(file->row_count, given->row_count, "%s", name);
    cr_assert_eq(file->min_sequence, given->min_sequence, "%s", name);
    cr_assert_eq(file->max_sequence, given->max_sequence, "%s", name);
    cr_assert_eq(file->schema_id, given->schema_id, "%s", name);
    cr_assert_eq(file->level, given->level, "%s", name);
    cr_assert_eq(file->delete_row_count, given->delete_row_count, "%s", name);
    cr_assert_eq(file->source, given->source, "%s", name);
    cr_assert_eq(file->has, given->has, "%s: fields %x instead of %x", name, file->has, given->has);
    check_bytes(self, "file indexes", file->embedded_index, given->embedded_index);
    cr_assert_eq(file->extra_files.count, given->extra_files.count, "%s", name);
}

/* Read a whole file. */
static sinter_bytes
read_whole(const sinter_env *env, const char *path, sinter_text *text)
{
    sinter_io_file *file = NULL;
    sinter_io_range range = {.offset = 0};
    uint64_t size = 0;

    sinter_text_init(sinter_env_default(), text);
    cr_assert_eq(env->io->ops->open(env->io, path, 0, &file, NULL), SINTER_OK, "%s", path);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    range.size = (size_t)size;
    range.data = malloc(range.size + 1);
    cr_assert_not_null(range.data);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_assert_eq(sinter_text_append(text, range.data, range.size, NULL), SINTER_OK);
    free(range.data);
    file->ops->close(file);
    return sinter_text_bytes(text);
}

/* The files beside both, which hold indexes of values, have the same bytes. */
static void
check_extra_files(const rewrite *self, const sinter__data_file *given, const char *const paths[2])
{
    for (size_t i = 0; i < given->extra_files.count; i++) {
        char names[2][PATH_BYTES + 8];
        sinter_text texts[2];
        sinter_bytes bytes[2];

        for (int k = 0; k < 2; k++) {
            (void)snprintf(names[k], sizeof names[k], "%s.index", paths[k]);
            bytes[k] = read_whole(k == 0 ? &self->test->env : self->env, names[k], &texts[k]);
        }
        cr_assert(bytes[0].size == bytes[1].size &&
                      memcmp(bytes[0].data, bytes[1].data, bytes[0].size) == 0,
                  "%s: file indexes of %s", self->test->name, paths[0]);
        cr_assert_eq(self->env->io->ops->unlink(self->env->io, names[1], NULL), SINTER_OK);
        sinter_text_fini(&texts[0]);
        sinter_text_fini(&texts[1]);
    }
}

static void
check_batches(const rewrite *self, const sinter_batch *a, const sinter_batch *b)
{
    cr_assert_eq(a->row_count, b->row_count, "%s", self->test->name);
    for (uint32_t i = 0; i < a->row_count; i++) {
        check_bytes(self, "a key", sinter_batch_key(a, i), sinter_batch_key(b, i));
        cr_assert_eq(a->sequences[i], b->sequences[i], "%s", self->test->name);
        cr_assert_eq(a->kinds[i], b->kinds[i], "%s", self->test->name);
        check_bytes(self, "a row", a->payload_ops->value(a, i), b->payload_ops->value(b, i));
    }
}

/* Both files hold the same rows. */
static void
check_rows(const rewrite *self, const char *const paths[2])
{
    sinter_reader *readers[2] = {NULL, NULL};
    sinter__data_input inputs[2];
    const sinter_batch *batches[2] = {NULL, NULL};
    sinter_status st = SINTER_OK;

    for (int i = 0; i < 2; i++) {
        sinter_error err = SINTER_ERROR_INIT;

        inputs[i] = (sinter__data_input){.path = paths[i], .row_type = self->schema->row_type};
        st = sinter__data_reader_open(i == 0 ? &self->test->env : self->env, &self->columns.plan,
                                      &inputs[i], NULL, &readers[i], &err);
        cr_assert_eq(st, SINTER_OK, "%s: %s", self->test->name, err.text);
    }
    while ((st = readers[0]->ops->next(readers[0], &batches[0], NULL)) == SINTER_OK) {
        cr_assert_eq(readers[1]->ops->next(readers[1], &batches[1], NULL), SINTER_OK);
        check_batches(self, batches[0], batches[1]);
    }
    cr_assert_eq(st, SINTER_END);
    cr_assert_eq(readers[1]->ops->next(readers[1], &batches[1], NULL), SINTER_END);
    readers[0]->ops->close(readers[0]);
    readers[1]->ops->close(readers[1]);
}

/* Both Avro files have the same words for their columns. */
static void
check_schemas(const rewrite *self, const char *const paths[2])
{
    const sinter__avro_reader_options options = {.flags = 0};
    sinter__avro_reader *readers[2] = {NULL, NULL};
    sinter_bytes texts[2];

    for (int i = 0; i < 2; i++) {
        cr_assert_eq(sinter__avro_reader_open(i == 0 ? &self->test->env : self->env, paths[i],
                                              &options, &readers[i], NULL),
                     SINTER_OK);
        cr_assert(sinter__avro_reader_meta(readers[i], "avro.schema", &texts[i]));
    }
    cr_assert(texts[0].size == texts[1].size &&
                  memcmp(texts[0].data, texts[1].data, texts[0].size) == 0,
              "%s:\n%.*s\n%.*s", self->test->name, (int)texts[0].size, (const char *)texts[0].data,
              (int)texts[1].size, (const char *)texts[1].data);
    sinter__avro_reader_close(readers[0]);
    sinter__avro_reader_close(readers[1]);
}

static void
check_file(rewrite *self, const sinter__bucket_files *bucket,
           const sinter__manifest_entry *const *entry, bool wants_values)
{
    sinter__bucket_files one = *bucket;
    const sinter__bucket_request request = {.table = self->test->table,
                                            .options = &self->options,
                                            .columns = &self->columns,
                                            .files = &one,
                                            .write = &self->plan,
                                            .write_level = (*entry)->file.level,
                                            .wants_values = wants_values,
                                            .first_sequence = (*entry)->file.min_sequence};
    sinter__bucket_source *source = NULL;
    sinter__manifest_entry made;
    char path[PATH_BYTES];
    const char *paths[2] = {NULL, path};
    size_t count = 0;

    one.entries = entry;
    one.count = 1;
    one.total_buckets = (*entry)->total_buckets;
    cr_assert_eq(sinter__bucket_source_create(&request, &source, NULL), SINTER_OK);
    write_again(self, source, path, &made);
    check_entry(self, &made, *entry);
    paths[0] = sinter__bucket_source_files(source, &count)->external_path;
    check_extra_files(self, &(*entry)->file, paths);
    check_rows(self, paths);
    if (strcmp(strrchr(path, '.'), ".avro") == 0) {
        check_schemas(self, paths);
    }
    cr_assert_eq(self->env->io->ops->unlink(self->env->io, path, NULL), SINTER_OK);
    self->files++;
    sinter__bucket_source_destroy(source);
}

static void
check_bucket(rewrite *self, const sinter__bucket_files *bucket)
{
    for (size_t i = 0; i < bucket->count && i < BUCKET_FILES_MAX && self->files < TABLE_FILES_MAX;
         i++) {
        const sinter_schema *schema = NULL;

        cr_assert_eq(sinter_table_schema_get(self->test->table, bucket->entries[i]->file.schema_id,
                                             &schema, NULL),
                     SINTER_OK);
        open_plan(self, schema);
        check_file(self, bucket, &bucket->entries[i], false); /* columns, where they can stay */
        check_file(self, bucket, &bucket->entries[i], true);
        close_plan(self);
    }
}

static bool
check_case(table_case *test)
{
    sinter_env env = test->env;
    rewrite self = {.test = test, .env = &env};
    const sinter__bucket_files *buckets = NULL;
    sinter_snapshot *snapshot = NULL;
    sinter__live_files *files = NULL;
    char reason[160];
    size_t count = 0;
    int64_t id = 0;

    if (!tables_can_read(test) || tables_find_exception(test, "rewrite", reason, sizeof reason)) {
        return false;
    }
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &env.io, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_table_latest_id(test->table, &id, NULL), SINTER_OK, "%s", test->name);
    cr_assert_eq(sinter_table_snapshot_get(test->table, id, &snapshot, NULL), SINTER_OK);
    cr_assert_eq(sinter__live_files_read(test->table, snapshot, &files, NULL), SINTER_OK);
    buckets = sinter__live_files_buckets(files, &count);
    for (size_t i = 0; i < count; i++) {
        if (buckets[i].bucket >= 0) {
            check_bucket(&self, &buckets[i]);
        }
    }
    sinter__live_files_destroy(files);
    sinter_snapshot_destroy(snapshot);
    sinter_io_destroy(env.io);
    return self.files > 0;
}

Test(tables_rewrite, files_that_are_written_again_have_the_metadata_that_paimon_gave_them)
{
    tables_run(check_case);
}
