/*
 * The data files of a snapshot, one after the other.
 */
#include "sinter/table_files.h"

#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "doc/text.h"
#include "sinter/compact.h"
#include "table/index_manifest.h"
#include "table/key_rows.h"
#include "table/live_files.h"
#include "table/partitions.h"
#include "table/table.h"

/** A walk under way. */
typedef struct walk {
    sinter_table *table;
    sinter__table_options options;
    sinter__partitions partitions;
    sinter__index_manifest index;
    sinter__live_files *files;
    /* Of the file: */
    sinter_text partition;
    sinter_text dir; /* of the bucket, with a slash */
    sinter_text path;
    sinter_text name;
    sinter_text min_key;
    sinter_text max_key;
} walk;

static sinter_status
read_index(walk *self, const char *name, sinter_error *err)
{
    if (name == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__manifest_path(
        self->table, (sinter_bytes){(const uint8_t *)name, strlen(name)}, &self->path, err));
    return sinter__index_manifest_read(self->table->env, self->path.data, &self->index, err);
}

static sinter_status
open_walk(walk *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    const sinter_schema *schema = sinter_table_schema(self->table);

    SINTER__CHECK(sinter__table_options_load(schema, &self->options, err));
    SINTER__CHECK(sinter__partitions_init(&self->partitions, schema, &self->options, err));
    SINTER__CHECK(read_index(self, snapshot->index_manifest, err));
    return sinter__live_files_read(self->table, snapshot, &self->files, err);
}

static sinter_status
enter_bucket(walk *self, const sinter__bucket_files *bucket, sinter_error *err)
{
    sinter_text_reset(&self->partition);
    SINTER__CHECK(sinter__text_puts(&self->partition, "", err));
    SINTER__CHECK(
        sinter__partitions_path(&self->partitions, bucket->partition, &self->partition, err));
    sinter_text_reset(&self->dir);
    SINTER__CHECK(sinter__text_puts(&self->dir, self->table->root, err));
    SINTER__CHECK(sinter__text_puts(&self->dir, "/", err));
    if (self->options.data_dir != NULL) {
        SINTER__CHECK(sinter__text_puts(&self->dir, self->options.data_dir, err));
        SINTER__CHECK(sinter__text_puts(&self->dir, "/", err));
    }
    SINTER__CHECK(sinter__text_puts(&self->dir, self->partition.data, err));
    SINTER__CHECK(sinter__text_puts(&self->dir, self->partition.size > 0 ? "/" : "", err));
    SINTER__CHECK(sinter__bucket_path(bucket->bucket, &self->dir, err));
    return sinter__text_puts(&self->dir, "/", err);
}

static sinter_status
print_key(const sinter__manifest_entry *entry, sinter__key_rows *keys, sinter_bytes row,
          sinter_text *out, sinter_error *err)
{
    sinter_bytes key;
    sinter_status st = SINTER_OK;

    sinter_text_reset(out);
    st = sinter__key_rows_encode(keys, row, &key, err);
    if (st == SINTER_OK) {
        st = sinter_key_print(keys->codec, key, out, err);
    }
    if (st != SINTER_OK) {
        sinter__fail_context(
            err, "file %.*s",
            (int)(entry->file.file_name.size < 100 ? entry->file.file_name.size : 100),
            (const char *)entry->file.file_name.data);
    }
    return st;
}

/** Keys of the file's own schema. */
static sinter_status
fill_keys(walk *self, const sinter__manifest_entry *entry, sinter_table_file *out,
          sinter_error *err)
{
    sinter__key_rows keys = {.arena.env = self->table->env};
    const sinter_schema *schema = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter_table_schema_get(self->table, entry->file.schema_id, &schema, err));
    SINTER__TRY(sinter__key_rows_init(&keys, schema, err));
    if (keys.codec != NULL) {
        SINTER__TRY(print_key(entry, &keys, entry->file.min_key, &self->min_key, err));
        SINTER__TRY(print_key(entry, &keys, entry->file.max_key, &self->max_key, err));
        out->min_key = self->min_key.data;
        out->max_key = self->max_key.data;
    }
out:
    sinter__key_rows_fini(&keys);
    return st;
}

static void
fill_vector(const walk *self, const sinter__manifest_entry *entry, sinter_table_file *out)
{
    out->vector_row_count = -1;
    for (size_t i = 0; i < self->index.count; i++) {
        const sinter__index_entry *index = &self->index.items[i];

        if (index->bucket != entry->bucket ||
            !sinter__key_equal(index->partition, entry->partition)) {
            continue;
        }
        for (size_t v = 0; v < index->vectors.count; v++) {
            const sinter__vector_range *vector = &index->vectors.items[v];

            if (sinter__key_equal(vector->data_file, entry->file.file_name)) {
                out->has_vector = 1;
                out->vector_row_count =
                    (vector->has & SINTER__VECTOR_HAS_CARDINALITY) != 0 ? vector->cardinality : -1;
            }
        }
    }
}

static sinter_status
fill_path(walk *self, const sinter__data_file *file, sinter_table_file *out, sinter_error *err)
{
    sinter_text_reset(&self->name);
    sinter_text_reset(&self->path);
    SINTER__CHECK(sinter_text_append(&self->name, file->file_name.data, file->file_name.size, err));
    if ((file->has & SINTER__FILE_HAS_EXTERNAL_PATH) != 0) {
        SINTER__CHECK(sinter_text_append(&self->path, file->external_path.data,
                                         file->external_path.size, err));
    } else {
        SINTER__CHECK(sinter__text_puts(&self->path, self->dir.data, err));
        SINTER__CHECK(sinter__text_puts(&self->path, self->name.data, err));
    }
    out->file_name = self->name.data;
    out->path = self->path.data;
    return SINTER_OK;
}

static sinter_status
fill(walk *self, const sinter__manifest_entry *entry, sinter_table_file *out, sinter_error *err)
{
    const sinter__data_file *file = &entry->file;

    *out = (sinter_table_file){
        .struct_size = (uint32_t)sizeof *out,
        .bucket = entry->bucket,
        .total_buckets = entry->total_buckets,
        .level = file->level,
        .partition = self->partition.data,
        .file_size = (uint64_t)file->file_size,
        .row_count = (uint64_t)file->row_count,
        .delete_row_count =
            (file->has & SINTER__FILE_HAS_DELETE_ROW_COUNT) != 0 ? file->delete_row_count : -1,
        .min_sequence_number = file->min_sequence,
        .max_sequence_number = file->max_sequence,
        .schema_id = file->schema_id,
        .creation_time_ms = file->creation_time_ms,
        .file_source = SINTER_FILE_SOURCE_UNKNOWN};
    if ((file->has & SINTER__FILE_HAS_SOURCE) != 0) {
        out->file_source = file->source == SINTER__FILE_SOURCE_COMPACT ? SINTER_FILE_SOURCE_COMPACT
                                                                       : SINTER_FILE_SOURCE_APPEND;
    }
    fill_vector(self, entry, out);
    SINTER__CHECK(fill_path(self, file, out, err));
    return fill_keys(self, entry, out, err);
}

static sinter_status
walk_files(walk *self, sinter_status (*each)(void *ctx, const sinter_table_file *file), void *ctx,
           sinter_error *err)
{
    size_t count = 0;
    const sinter__bucket_files *buckets = sinter__live_files_buckets(self->files, &count);

    for (size_t b = 0; b < count; b++) {
        SINTER__CHECK(enter_bucket(self, &buckets[b], err));
        for (size_t i = 0; i < buckets[b].count; i++) {
            sinter_table_file file;

            SINTER__CHECK(fill(self, buckets[b].entries[i], &file, err));
            SINTER__CHECK(each(ctx, &file));
        }
    }
    return SINTER_OK;
}

/** The newest snapshot; NULL: there is none. */
static sinter_status
find_newest(sinter_table *table, sinter_snapshot **out, sinter_error *err)
{
    int64_t id = 0;
    const sinter_status st = sinter_table_latest_id(table, &id, err);

    *out = NULL;
    if (st == SINTER_END) {
        return SINTER_OK;
    }
    SINTER__CHECK(st);
    return sinter_table_snapshot_get(table, id, out, err);
}

sinter_status
sinter_table_each_file(sinter_table *table, const sinter_snapshot *snapshot,
                       sinter_status (*each)(void *ctx, const sinter_table_file *file), void *ctx,
                       sinter_error *err)
{
    walk self = {.table = table};
    sinter_text *const texts[] = {&self.partition, &self.dir,     &self.path,
                                  &self.name,      &self.min_key, &self.max_key};
    sinter_snapshot *newest = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && each != NULL);
    self.partitions.arena.env = table->env;
    self.index.arena.env = table->env;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sinter_text_init(table->env, texts[i]);
    }
    if (snapshot == NULL) {
        SINTER__TRY(find_newest(table, &newest, err));
        snapshot = newest;
    }
    if (snapshot != NULL) {
        SINTER__TRY(open_walk(&self, snapshot, err));
        st = walk_files(&self, each, ctx, err);
    }
out:
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sinter_text_fini(texts[i]);
    }
    sinter__live_files_destroy(self.files);
    sinter__index_manifest_fini(&self.index);
    sinter__partitions_fini(&self.partitions);
    sinter_snapshot_destroy(newest);
    return st;
}
