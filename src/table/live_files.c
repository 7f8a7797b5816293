#include "table/live_files.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/text.h"
#include "table/manifest.h"
#include "table/manifest_list.h"
#include "table/manifest_merge.h"
#include "table/table.h"

struct sinter__live_files {
    const sinter_env *env;
    sinter__manifest_merge *merge;
    const sinter__manifest_entry **entries; /* sorted by bucket */
    sinter__bucket_files *buckets;
    size_t bucket_count;
};

/* ---- reading ---- */

static sinter_status
manifest_path(const sinter_table *table, sinter_bytes name, sinter_text *out, sinter_error *err)
{
    sinter_text_reset(out);
    SINTER__CHECK(sinter__text_puts(out, table->root, err));
    SINTER__CHECK(sinter__text_puts(out, "/manifest/", err));
    return sinter_text_append(out, name.data, name.size, err);
}

static sinter_status
read_manifest(const sinter_table *table, const sinter__manifest_meta *meta,
              sinter__manifest_merge *merge, sinter_text *path, sinter_error *err)
{
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_reader *reader = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(manifest_path(table, meta->file_name, path, err));
    SINTER__CHECK(sinter__manifest_open(table->env, path->data, meta, NULL, &reader, err));
    while ((st = sinter__manifest_next(reader, &entry, err)) == SINTER_OK) {
        SINTER__TRY(sinter__manifest_merge_add(merge, entry, err));
    }
    if (st == SINTER_END) {
        st = SINTER_OK;
    }
out:
    sinter__manifest_close(reader);
    return st;
}

static sinter_status
read_list(const sinter_table *table, const sinter_list_file *file, sinter__manifest_merge *merge,
          sinter_error *err)
{
    sinter__manifest_list list = {.arena.env = table->env};
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &path);
    SINTER__TRY(manifest_path(
        table, (sinter_bytes){(const uint8_t *)file->name, strlen(file->name)}, &path, err));
    SINTER__TRY(sinter__manifest_list_read(
        table->env, path.data, file->size_bytes > 0 ? (uint64_t)file->size_bytes : 0, &list, err));
    for (size_t i = 0; i < list.count; i++) {
        SINTER__TRY(read_manifest(table, &list.items[i], merge, &path, err));
    }
out:
    sinter__manifest_list_fini(&list);
    sinter_text_fini(&path);
    return st;
}

/* ---- by bucket ---- */

static int
compare_buckets(const sinter__manifest_entry *a, const sinter__manifest_entry *b)
{
    const int order = sinter__key_compare(a->partition, b->partition);

    return order != 0 ? order : (a->bucket > b->bucket) - (a->bucket < b->bucket);
}

/* An entry and where it stood, since sorting must not change the order within a bucket. */
typedef struct placed_entry {
    const sinter__manifest_entry *entry;
    size_t place;
} placed_entry;

static int
compare_placed(const void *a, const void *b)
{
    const placed_entry *x = a;
    const placed_entry *y = b;
    const int order = compare_buckets(x->entry, y->entry);

    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static sinter_status
sort_entries(sinter__live_files *files, const sinter__manifest_entry *const *entries, size_t count,
             sinter_error *err)
{
    placed_entry *placed = NULL;

    SINTER__CHECK(SINTER__NEW(files->env, files->entries, count + 1, err));
    SINTER__CHECK(SINTER__NEW(files->env, placed, count + 1, err));
    for (size_t i = 0; i < count; i++) {
        placed[i] = (placed_entry){entries[i], i};
    }
    qsort(placed, count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < count; i++) {
        files->entries[i] = placed[i].entry;
    }
    sinter__free(files->env, placed);
    return SINTER_OK;
}

static sinter_status
group_entries(sinter__live_files *files, size_t count, sinter_error *err)
{
    size_t first = 0;

    for (size_t i = 0; i < count; i++) {
        files->bucket_count +=
            i == 0 || compare_buckets(files->entries[i - 1], files->entries[i]) != 0 ? 1 : 0;
    }
    SINTER__CHECK(SINTER__NEW(files->env, files->buckets, files->bucket_count + 1, err));
    for (size_t b = 0; b < files->bucket_count; b++) {
        const sinter__manifest_entry *head = files->entries[first];
        size_t end = first + 1;

        while (end < count && compare_buckets(head, files->entries[end]) == 0) {
            end++;
        }
        files->buckets[b] = (sinter__bucket_files){.partition = head->partition,
                                                   .bucket = head->bucket,
                                                   .total_buckets = head->total_buckets,
                                                   .entries = files->entries + first,
                                                   .count = end - first};
        first = end;
    }
    assert(first == count);
    return SINTER_OK;
}

sinter_status
sinter__live_files_read(const sinter_table *table, const sinter_snapshot *snapshot,
                        sinter__live_files **out, sinter_error *err)
{
    sinter__live_files *files = NULL;
    const sinter__manifest_entry *const *entries = NULL;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(table->env, files, 1, err));
    files->env = table->env;
    SINTER__TRY(sinter__manifest_merge_create(table->env, &files->merge, err));
    SINTER__TRY(read_list(table, &snapshot->base, files->merge, err));
    SINTER__TRY(read_list(table, &snapshot->delta, files->merge, err));
    SINTER__TRY(sinter__manifest_merge_check(files->merge, err));
    entries = sinter__manifest_merge_entries(files->merge, &count);
    SINTER__TRY(sort_entries(files, entries, count, err));
    SINTER__TRY(group_entries(files, count, err));
    *out = files;
    files = NULL;
out:
    sinter__live_files_destroy(files);
    return st;
}

void
sinter__live_files_destroy(sinter__live_files *files)
{
    if (files != NULL) {
        sinter__manifest_merge_destroy(files->merge);
        sinter__free(files->env, files->entries);
        sinter__free(files->env, files->buckets);
        sinter__free(files->env, files);
    }
}

const sinter__bucket_files *
sinter__live_files_buckets(const sinter__live_files *files, size_t *count_out)
{
    *count_out = files->bucket_count;
    return files->buckets;
}
