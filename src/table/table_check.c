/*
 * A table against itself: what snapshots, lists and manifests say of each other, of the files that
 * they name, and of what is in these.
 */
#include "sinter/table_check.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "table/deletion_file.h"
#include "table/external_paths.h"
#include "table/file_check.h"
#include "table/index_manifest.h"
#include "table/live_files.h"
#include "table/manifest.h"
#include "table/manifest_list.h"
#include "table/name_set.h"
#include "table/partitions.h"

/* A check under way. */
typedef struct table_check {
    sinter_table *table;
    const sinter_env *env;
    sinter_table_check_options options;
    sinter_table_check_result result;
    sinter__table_options table_options;
    sinter__partitions partitions;
    sinter__scan_columns columns; /* of the newest schema: keys */
    sinter__file_checker checker;
    sinter__name_set seen; /* files that were looked at */
    sinter_text path;
    sinter_text dir;
    sinter_error *err; /* the caller's */
} table_check;

/* The entries that lists name, counted. */
typedef struct list_counts {
    int64_t rows; /* added less deleted ones */
} list_counts;

/* ---- faults ---- */

/* Tell a fault and go on; what isn't the table's fault ends the check. */
static sinter_status
note(table_check *self, sinter_status st, sinter_error *fault)
{
    if (st == SINTER_OK) {
        return SINTER_OK;
    }
    if (st == SINTER_E_NOMEM || st == SINTER_E_CANCELLED || st == SINTER_E_TOO_LARGE) {
        if (self->err != NULL) {
            *self->err = *fault;
        }
        return st;
    }
    self->result.faults++;
    if (self->options.fault != NULL) {
        self->options.fault(self->options.ctx, st, fault);
    }
    return SINTER_OK;
}

/* Tell what is wrong with the file at the path. */
static sinter_status __attribute__((format(printf, 2, 3)))
tell(table_check *self, const char *format, ...)
{
    sinter_error fault = SINTER_ERROR_INIT;
    char text[sizeof fault.text];
    sinter_status st = SINTER_OK;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    st = SINTER__ERR_AT(&fault, SINTER_E_CORRUPT, self->path.data, -1, "%s", text);
    return note(self, st, &fault);
}

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

/* Make "ROOT/DIR/NAME" the path. */
static sinter_status
set_path(table_check *self, const char *dir, sinter_bytes name)
{
    sinter_text_reset(&self->path);
    SINTER__CHECK(sinter__text_puts(&self->path, self->table->root, self->err));
    SINTER__CHECK(sinter__text_puts(&self->path, "/", self->err));
    SINTER__CHECK(sinter__text_puts(&self->path, dir, self->err));
    SINTER__CHECK(sinter__text_puts(&self->path, "/", self->err));
    return sinter_text_append(&self->path, name.data, name.size, self->err);
}

/* Is the file at the path there, with this size (below 0: any)? */
static sinter_status
check_size(table_check *self, int64_t size, bool *is_good)
{
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_io_stat stat = {0};
    const sinter_status st =
        self->env->io->ops->stat(self->env->io, self->path.data, &stat, &fault);

    *is_good = st == SINTER_OK;
    SINTER__CHECK(note(self, st, &fault));
    if (*is_good && size >= 0 && stat.size_bytes != (uint64_t)size) {
        *is_good = false;
        SINTER__CHECK(
            tell(self, "%" PRIu64 " bytes, %" PRId64 " on record", stat.size_bytes, size));
    }
    return SINTER_OK;
}

/* Is the file at the path one that wasn't looked at? */
static sinter_status
is_new(table_check *self, bool *out)
{
    return sinter__name_set_add(&self->seen, sinter_text_bytes(&self->path), out, self->err);
}

/* ---- manifests ---- */

/* Ranges of what a manifest has, as its list knows it. */
typedef struct manifest_ranges {
    int32_t min_bucket;
    int32_t max_bucket;
    int32_t min_level;
    int32_t max_level;
    bool is_begun;
} manifest_ranges;

static void
widen(manifest_ranges *ranges, const sinter__manifest_entry *entry)
{
    const int32_t bucket = entry->bucket;
    const int32_t level = entry->file.level;

    if (!ranges->is_begun) {
        *ranges = (manifest_ranges){bucket, bucket, level, level, true};
        return;
    }
    ranges->min_bucket = bucket < ranges->min_bucket ? bucket : ranges->min_bucket;
    ranges->max_bucket = bucket > ranges->max_bucket ? bucket : ranges->max_bucket;
    ranges->min_level = level < ranges->min_level ? level : ranges->min_level;
    ranges->max_level = level > ranges->max_level ? level : ranges->max_level;
}

static sinter_status
check_ranges(table_check *self, const sinter__manifest_meta *meta, const manifest_ranges *ranges)
{
    const struct {
        uint32_t bit;
        int32_t said;
        int32_t found;
        const char *what;
    } bounds[] = {
        {SINTER__MANIFEST_HAS_MIN_BUCKET, meta->min_bucket, ranges->min_bucket, "smallest bucket"},
        {SINTER__MANIFEST_HAS_MAX_BUCKET, meta->max_bucket, ranges->max_bucket, "largest bucket"},
        {SINTER__MANIFEST_HAS_MIN_LEVEL, meta->min_level, ranges->min_level, "smallest level"},
        {SINTER__MANIFEST_HAS_MAX_LEVEL, meta->max_level, ranges->max_level, "largest level"},
    };

    for (size_t i = 0; ranges->is_begun && i < sizeof bounds / sizeof bounds[0]; i++) {
        if ((meta->has & bounds[i].bit) != 0 && bounds[i].said != bounds[i].found) {
            SINTER__CHECK(tell(self, "the %s is %d, %d in its list", bounds[i].what,
                               (int)bounds[i].found, (int)bounds[i].said));
        }
    }
    return SINTER_OK;
}

/* What is done with each entry. */
typedef sinter_status (*take_entry)(table_check *self, const sinter__manifest_entry *entry,
                                    sinter_error *fault);

static sinter_status
check_manifest(table_check *self, const sinter__manifest_meta *meta, list_counts *counts,
               take_entry take)
{
    const sinter__manifest_entry *entry = NULL;
    sinter_error fault = SINTER_ERROR_INIT;
    sinter__manifest_reader *reader = NULL;
    manifest_ranges ranges = {0};
    bool is_first = false;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(set_path(self, "manifest", meta->file_name));
    SINTER__CHECK(is_new(self, &is_first));
    self->result.manifests += is_first ? 1 : 0;
    st = sinter__manifest_open(self->env, self->path.data, meta, NULL, &reader, &fault);
    while (st == SINTER_OK) {
        st = sinter__manifest_next(reader, &entry, &fault);
        if (st == SINTER_OK) {
            widen(&ranges, entry);
            counts->rows +=
                entry->kind == SINTER__ENTRY_ADD ? entry->file.row_count : -entry->file.row_count;
            st = take == NULL ? SINTER_OK : take(self, entry, &fault);
        }
    }
    sinter__manifest_close(reader);
    if (st == SINTER_END) {
        return check_ranges(self, meta, &ranges);
    }
    sinter__fail_file(&fault, self->path.data);
    return note(self, st, &fault);
}

static sinter_status
check_list(table_check *self, const sinter_list_file *file, list_counts *counts, take_entry take)
{
    sinter__manifest_list list = {.arena.env = self->env};
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    bool is_first = false;

    if (file->name == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(set_path(self, "manifest", bytes_of(file->name)));
    SINTER__CHECK(is_new(self, &is_first));
    self->result.lists += is_first ? 1 : 0;
    st = sinter__manifest_list_read(self->env, self->path.data,
                                    file->size_bytes > 0 ? (uint64_t)file->size_bytes : 0, &list,
                                    &fault);
    sinter__fail_file(st == SINTER_OK ? NULL : &fault, self->path.data);
    st = note(self, st, &fault);
    for (size_t i = 0; st == SINTER_OK && i < list.count; i++) {
        st = check_manifest(self, &list.items[i], counts, take);
    }
    sinter__manifest_list_fini(&list);
    return st;
}

/* ---- files of a bucket ---- */

static sinter_status
set_bucket_dir(table_check *self, sinter_bytes partition, int32_t bucket, sinter_error *fault)
{
    sinter_text_reset(&self->dir);
    SINTER__CHECK(sinter__text_puts(&self->dir, self->table->root, fault));
    SINTER__CHECK(sinter__text_puts(&self->dir, "/", fault));
    if (self->table_options.data_dir != NULL) {
        SINTER__CHECK(sinter__text_puts(&self->dir, self->table_options.data_dir, fault));
        SINTER__CHECK(sinter__text_puts(&self->dir, "/", fault));
    }
    SINTER__CHECK(sinter__partitions_path(&self->partitions, partition, &self->dir, fault));
    if (self->partitions.count > 0) {
        SINTER__CHECK(sinter__text_puts(&self->dir, "/", fault));
    }
    return sinter__bucket_path(bucket, &self->dir, fault);
}

/* Make the file's path the path: in the bucket's directory, unless it says otherwise. */
static sinter_status
set_file_path(table_check *self, sinter_bytes external, sinter_bytes name, sinter_error *fault)
{
    sinter_text_reset(&self->path);
    if (external.size > 0) {
        return sinter__external_path_local(external, (sinter_bytes){0}, &self->path, fault);
    }
    SINTER__CHECK(sinter_text_append(&self->path, self->dir.data, self->dir.size, fault));
    SINTER__CHECK(sinter__text_puts(&self->path, "/", fault));
    return sinter_text_append(&self->path, name.data, name.size, fault);
}

static sinter_bytes
external_path(const sinter__data_file *file)
{
    return (file->has & SINTER__FILE_HAS_EXTERNAL_PATH) != 0 ? file->external_path
                                                             : (sinter_bytes){0};
}

/* Files beside a data file: its index. */
static sinter_status
check_extra_files(table_check *self, const sinter__data_file *file)
{
    const sinter_bytes external = external_path(file);
    bool is_good = false;

    for (size_t i = 0; i < file->extra_files.count; i++) {
        const sinter_bytes name = file->extra_files.items[i];

        if (external.size > 0) {
            sinter_text_reset(&self->path);
            SINTER__CHECK(sinter__external_path_local(external, name, &self->path, self->err));
        } else {
            SINTER__CHECK(set_file_path(self, external, name, self->err));
        }
        SINTER__CHECK(check_size(self, -1, &is_good));
    }
    return SINTER_OK;
}

static sinter_status
check_data_file(table_check *self, const sinter__manifest_entry *entry, bool is_changelog)
{
    const sinter__data_file *file = &entry->file;
    sinter_error fault = SINTER_ERROR_INIT;
    bool is_first = false;
    bool is_good = false;
    sinter_status st = set_file_path(self, external_path(file), file->file_name, &fault);

    SINTER__CHECK(note(self, st, &fault));
    SINTER__CHECK(is_new(self, &is_first));
    if (st != SINTER_OK || !is_first) {
        return SINTER_OK;
    }
    self->result.data_files++;
    SINTER__CHECK(check_size(self, file->file_size, &is_good));
    if (is_good && (self->options.flags & SINTER_CHECK_METADATA_ONLY) == 0) {
        st = sinter__file_check(&self->checker, entry, self->path.data, is_changelog, &fault);
        SINTER__CHECK(note(self, st, &fault));
    }
    self->result.bytes += is_good ? (uint64_t)file->file_size : 0;
    self->result.rows = self->checker.rows;
    if (self->options.progress != NULL) {
        self->options.progress(self->options.ctx, self->result.bytes, self->result.rows);
    }
    return check_extra_files(self, file);
}

static sinter_status
take_changelog(table_check *self, const sinter__manifest_entry *entry, sinter_error *fault)
{
    /* The path stands for the manifest, and is wanted again. */
    sinter_text manifest = self->path;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->env, &self->path);
    st = set_bucket_dir(self, entry->partition, entry->bucket, fault);
    st = st == SINTER_OK ? check_data_file(self, entry, true) : note(self, st, fault);
    sinter_text_fini(&self->path);
    self->path = manifest;
    return st;
}

/* ---- levels ---- */

/* A file of a level above 0. */
typedef struct level_file {
    int32_t level;
    sinter_bytes min;
    sinter_bytes max;
    const sinter__manifest_entry *entry;
} level_file;

static int
compare_level_files(const void *a, const void *b)
{
    const level_file *x = a;
    const level_file *y = b;

    return x->level != y->level ? (x->level > y->level) - (x->level < y->level)
                                : sinter__key_compare(x->min, y->min);
}

static sinter_status
encode_key(table_check *self, sinter__arena *arena, sinter_bytes row, sinter_bytes *out,
           sinter_error *fault)
{
    sinter_text key;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->env, &key);
    st = sinter__metadata_key_encode(&self->columns, row, &key, fault);
    if (st == SINTER_OK) {
        st = sinter__arena_copy(arena, sinter_text_bytes(&key), out, fault);
    }
    sinter_text_fini(&key);
    return st;
}

static sinter_status
tell_overlaps(table_check *self, const level_file *files, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const sinter__data_file *file = &files[i].entry->file;

        if (files[i - 1].level == files[i].level &&
            sinter__key_compare(files[i - 1].max, files[i].min) >= 0) {
            SINTER__CHECK(set_file_path(self, external_path(file), file->file_name, self->err));
            SINTER__CHECK(tell(self, "it overlaps %.*s of the same level, %d",
                               (int)files[i - 1].entry->file.file_name.size,
                               (const char *)files[i - 1].entry->file.file_name.data,
                               (int)file->level));
        }
    }
    return SINTER_OK;
}

static sinter_status
check_levels(table_check *self, const sinter__bucket_files *bucket)
{
    sinter__arena arena = {.env = self->env};
    sinter_error fault = SINTER_ERROR_INIT;
    level_file *files = NULL;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    if (self->columns.key_codec == NULL) {
        return SINTER_OK;
    }
    st = sinter__arena_take(&arena, (bucket->count + 1) * sizeof *files, (void **)&files, &fault);
    for (size_t i = 0; st == SINTER_OK && i < bucket->count; i++) {
        const sinter__data_file *file = &bucket->entries[i]->file;
        level_file *to = &files[count];

        if (file->level > 0 && file->row_count > 0) {
            *to = (level_file){.level = file->level, .entry = bucket->entries[i]};
            st = encode_key(self, &arena, file->min_key, &to->min, &fault);
            st = st == SINTER_OK ? encode_key(self, &arena, file->max_key, &to->max, &fault) : st;
            count++;
        }
    }
    st = note(self, st, &fault);
    if (st == SINTER_OK && count > 1 && fault.status == SINTER_OK) {
        qsort(files, count, sizeof *files, compare_level_files);
        st = tell_overlaps(self, files, count);
    }
    sinter__arena_fini(&arena);
    return st;
}

/* ---- buckets ---- */

static sinter_status
check_bucket(table_check *self, const sinter__bucket_files *bucket)
{
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_status st = set_bucket_dir(self, bucket->partition, bucket->bucket, &fault);

    if (st != SINTER_OK) {
        return note(self, st, &fault);
    }
    SINTER__CHECK(check_levels(self, bucket));
    for (size_t i = 0; i < bucket->count; i++) {
        SINTER__CHECK(check_data_file(self, bucket->entries[i], false));
    }
    return SINTER_OK;
}

/* Do two buckets of a partition agree on their number? */
static sinter_status
check_totals(table_check *self, const sinter__bucket_files *a, const sinter__bucket_files *b)
{
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (a->total_buckets <= 0 || b->total_buckets <= 0 || a->total_buckets == b->total_buckets ||
        !sinter__key_equal(a->partition, b->partition)) {
        return SINTER_OK;
    }
    st = set_bucket_dir(self, b->partition, b->bucket, &fault);
    if (st == SINTER_OK) {
        st = SINTER__ERR_AT(&fault, SINTER_E_CORRUPT, self->dir.data, -1,
                            "files are of %d buckets, others of the partition of %d",
                            (int)b->total_buckets, (int)a->total_buckets);
    }
    return note(self, st, &fault);
}

static sinter_status
check_buckets(table_check *self, const sinter__live_files *files, int64_t *rows_out)
{
    size_t count = 0;
    const sinter__bucket_files *buckets = sinter__live_files_buckets(files, &count);

    *rows_out = 0;
    for (size_t b = 0; b < count; b++) {
        for (size_t i = 0; i < buckets[b].count; i++) {
            *rows_out += buckets[b].entries[i]->file.row_count;
        }
        if (b > 0) {
            SINTER__CHECK(check_totals(self, &buckets[b - 1], &buckets[b]));
        }
        SINTER__CHECK(check_bucket(self, &buckets[b]));
    }
    return SINTER_OK;
}

/* ---- index files ---- */

static const sinter__manifest_entry *
find_file(const sinter__live_files *files, const sinter__index_entry *index, sinter_bytes name)
{
    size_t count = 0;
    const sinter__bucket_files *buckets = sinter__live_files_buckets(files, &count);

    for (size_t b = 0; b < count; b++) {
        if (buckets[b].bucket != index->bucket ||
            !sinter__key_equal(buckets[b].partition, index->partition)) {
            continue;
        }
        for (size_t i = 0; i < buckets[b].count; i++) {
            if (sinter__key_equal(buckets[b].entries[i]->file.file_name, name)) {
                return buckets[b].entries[i];
            }
        }
    }
    return NULL;
}

static sinter_status
check_vector(table_check *self, sinter__deletion_file *file, const sinter__vector_range *range,
             const sinter__manifest_entry *entry)
{
    sinter_error fault = SINTER_ERROR_INIT;
    sinter__deletion_vector *vector = NULL;
    sinter__deletion_run run = {0};
    sinter_status st = sinter__deletion_file_read(file, range, 0, &vector, &fault);

    if (st == SINTER_OK && entry == NULL) {
        st = SINTER__ERR_AT(&fault, SINTER_E_CORRUPT, self->path.data, range->offset,
                            "a vector of a file that the bucket doesn't have: %.*s",
                            (int)range->data_file.size, (const char *)range->data_file.data);
    } else if (st == SINTER_OK &&
               sinter__deletion_vector_next(vector, (uint64_t)entry->file.row_count, &run)) {
        st = SINTER__ERR_AT(&fault, SINTER_E_CORRUPT, self->path.data, range->offset,
                            "row %" PRIu64 " of %.*s is deleted, which has %" PRId64, run.first,
                            (int)range->data_file.size, (const char *)range->data_file.data,
                            entry->file.row_count);
    }
    sinter__deletion_vector_destroy(vector);
    return note(self, st, &fault);
}

static sinter_status
check_vectors(table_check *self, const sinter__live_files *files, const sinter__index_entry *entry)
{
    sinter_error fault = SINTER_ERROR_INIT;
    sinter__deletion_file *file = NULL;
    sinter_status st = sinter__deletion_file_open(self->env, self->path.data,
                                                  (uint64_t)entry->file_size, &file, &fault);

    if (st != SINTER_OK) {
        return note(self, st, &fault);
    }
    for (size_t i = 0; st == SINTER_OK && i < entry->vectors.count; i++) {
        const sinter__vector_range *range = &entry->vectors.items[i];

        st = check_vector(self, file, range, find_file(files, entry, range->data_file));
    }
    sinter__deletion_file_close(file);
    return st;
}

static sinter_status
check_index_file(table_check *self, const sinter__live_files *files,
                 const sinter__index_entry *entry)
{
    enum { HASH_BYTES = 4 };
    const bool has_external = (entry->has & SINTER__INDEX_HAS_EXTERNAL_PATH) != 0;
    sinter_error fault = SINTER_ERROR_INIT;
    bool is_good = false;
    bool is_first = false;
    sinter_status st = SINTER_OK;

    if (has_external || self->table_options.index_in_data_dir) {
        st = set_bucket_dir(self, entry->partition, entry->bucket, &fault);
        st = st == SINTER_OK
                 ? set_file_path(self, has_external ? entry->external_path : (sinter_bytes){0},
                                 entry->file_name, &fault)
                 : st;
        SINTER__CHECK(note(self, st, &fault));
    } else {
        SINTER__CHECK(set_path(self, "index", entry->file_name));
    }
    if (st != SINTER_OK) {
        return SINTER_OK;
    }
    SINTER__CHECK(is_new(self, &is_first));
    self->result.index_files += is_first ? 1 : 0;
    SINTER__CHECK(check_size(self, entry->file_size, &is_good));
    if (is_good && sinter__key_equal(entry->index_type, bytes_of("HASH")) &&
        entry->file_size != entry->row_count * HASH_BYTES) {
        SINTER__CHECK(tell(self, "%" PRId64 " bytes for %" PRId64 " hashes", entry->file_size,
                           entry->row_count));
    }
    return is_good && entry->vectors.count > 0 ? check_vectors(self, files, entry) : SINTER_OK;
}

static sinter_status
check_index(table_check *self, const sinter_snapshot *snapshot, const sinter__live_files *files)
{
    sinter__index_manifest index = {.arena.env = self->env};
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    bool is_first = false;

    if (snapshot->index_manifest == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(set_path(self, "manifest", bytes_of(snapshot->index_manifest)));
    SINTER__CHECK(is_new(self, &is_first));
    self->result.lists += is_first ? 1 : 0;
    st = sinter__index_manifest_read(self->env, self->path.data, &index, &fault);
    st = note(self, st, &fault);
    for (size_t i = 0; st == SINTER_OK && i < index.count; i++) {
        st = check_index_file(self, files, &index.items[i]);
    }
    sinter__index_manifest_fini(&index);
    return st;
}

/* ---- snapshots ---- */

static sinter_status
check_count(table_check *self, const sinter_snapshot *snapshot, const char *what, int64_t said,
            int64_t found)
{
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (said != found) {
        st = SINTER__ERR(&fault, SINTER_E_CORRUPT,
                         "snapshot %" PRId64 ": %s is %" PRId64 ", its files have %" PRId64,
                         snapshot->id, what, said, found);
    }
    return note(self, st, &fault);
}

static sinter_status
check_statistics(table_check *self, const sinter_snapshot *snapshot)
{
    bool is_good = false;

    if (snapshot->statistics == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(set_path(self, "statistics", bytes_of(snapshot->statistics)));
    return check_size(self, -1, &is_good);
}

/* The live files, where lists and manifests can be read. */
static sinter_status
check_live_files(table_check *self, const sinter_snapshot *snapshot)
{
    sinter_error fault = SINTER_ERROR_INIT;
    sinter__live_files *files = NULL;
    int64_t rows = 0;
    sinter_status st = sinter__live_files_read(self->table, snapshot, &files, &fault);

    if (st != SINTER_OK) {
        sinter__fail_context(&fault, "snapshot %" PRId64, snapshot->id);
        return note(self, st, &fault);
    }
    st = check_buckets(self, files, &rows);
    if (st == SINTER_OK) {
        st = check_count(self, snapshot, "totalRecordCount", snapshot->total_record_count, rows);
    }
    if (st == SINTER_OK) {
        st = check_index(self, snapshot, files);
    }
    sinter__live_files_destroy(files);
    return st;
}

static sinter_status
check_snapshot(table_check *self, const sinter_snapshot *snapshot)
{
    const uint64_t before = self->result.faults;
    list_counts base = {0};
    list_counts delta = {0};
    list_counts changelog = {0};

    self->result.snapshots++;
    SINTER__CHECK(check_list(self, &snapshot->base, &base, NULL));
    SINTER__CHECK(check_list(self, &snapshot->delta, &delta, NULL));
    if (self->result.faults == before) {
        SINTER__CHECK(check_count(self, snapshot, "deltaRecordCount", snapshot->delta_record_count,
                                  delta.rows));
        SINTER__CHECK(check_live_files(self, snapshot));
    }
    if (snapshot->changelog.name != NULL) {
        SINTER__CHECK(check_list(self, &snapshot->changelog, &changelog, take_changelog));
    }
    return check_statistics(self, snapshot);
}

static sinter_status
check_by_id(void *ctx, int64_t id)
{
    table_check *self = ctx;
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = sinter_table_snapshot_get(self->table, id, &snapshot, &fault);

    if (st == SINTER_E_EXPIRED) {
        return SINTER_OK; /* it has gone meanwhile */
    }
    st = st == SINTER_OK ? check_snapshot(self, snapshot) : note(self, st, &fault);
    sinter_snapshot_destroy(snapshot);
    return st;
}

static sinter_status
check_tag(void *ctx, const char *name)
{
    table_check *self = ctx;
    sinter_error fault = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = sinter_table_snapshot_of_tag(self->table, name, &snapshot, &fault);

    if (st == SINTER_OK) {
        /* The changelog expires with the snapshot; a tag keeps the rows alone. */
        snapshot->changelog.name = NULL;
        st = check_snapshot(self, snapshot);
    } else {
        st = note(self, st, &fault);
    }
    sinter_snapshot_destroy(snapshot);
    return st;
}

static sinter_status
check_wanted(table_check *self)
{
    sinter_error fault = SINTER_ERROR_INIT;
    int64_t id = 0;
    sinter_status st = SINTER_OK;

    if (self->options.snapshot != NULL) {
        return check_snapshot(self, self->options.snapshot);
    }
    if ((self->options.flags & SINTER_CHECK_ALL) != 0) {
        SINTER__CHECK(sinter_table_each_snapshot(self->table, check_by_id, self, self->err));
        return sinter_table_each_tag(self->table, check_tag, self, self->err);
    }
    st = sinter_table_latest_id(self->table, &id, &fault);
    if (st != SINTER_OK) {
        return st == SINTER_END ? SINTER_OK : note(self, st, &fault);
    }
    return check_by_id(self, id);
}

static sinter_status
run(table_check *self)
{
    const sinter_schema *schema = sinter_table_schema(self->table);

    SINTER__CHECK(sinter__table_options_load(schema, &self->table_options, self->err));
    SINTER__CHECK(
        sinter__partitions_init(&self->partitions, schema, &self->table_options, self->err));
    SINTER__CHECK(sinter__scan_columns_init(&self->columns, schema, &self->table_options, NULL, 0,
                                            self->err));
    return check_wanted(self);
}

sinter_status
sinter_table_check(sinter_table *table, const sinter_table_check_options *options,
                   sinter_table_check_result *out, sinter_error *err)
{
    const uint32_t known = SINTER_CHECK_ALL | SINTER_CHECK_METADATA_ONLY;
    table_check self = {.table = table, .err = err};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    self.options.struct_size = (uint32_t)sizeof self.options;
    if (options != NULL) {
        SINTER__CHECK(sinter__struct_load(&self.options, sizeof self.options, options,
                                          "sinter_table_check_options", err));
    }
    SINTER__REQUIRE(err, (self.options.flags & ~known) == 0);
    self.env = table->env;
    self.result.struct_size = (uint32_t)sizeof self.result;
    self.partitions.arena.env = self.columns.arena.env = self.seen.arena.env = table->env;
    self.checker = (sinter__file_checker){.table = table,
                                          .is_cancelled = self.options.is_cancelled,
                                          .cancel_ctx = self.options.cancel_ctx};
    sinter_text_init(table->env, &self.path);
    sinter_text_init(table->env, &self.dir);
    st = run(&self);
    sinter__struct_store(out, &self.result, sizeof self.result);
    sinter__file_checker_fini(&self.checker);
    sinter__name_set_fini(&self.seen);
    sinter__scan_columns_fini(&self.columns);
    sinter__partitions_fini(&self.partitions);
    sinter_text_fini(&self.path);
    sinter_text_fini(&self.dir);
    return st;
}
