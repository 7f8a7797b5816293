#include "table/conflicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "table/key_rows.h"
#include "table/manifest.h"

enum { SHOWN_CHARS_MAX = 160 };

static const sinter_env *
env_of(const sinter__conflicts *self)
{
    return self->arena.env;
}

/* ---- which partitions ---- */

static int
compare_touched(const void *a, const void *b)
{
    return sinter__key_compare(((const sinter__touched *)a)->partition,
                               ((const sinter__touched *)b)->partition);
}

static sinter__touched *
find_touched(const sinter__conflicts *self, sinter_bytes partition)
{
    const sinter__touched key = {.partition = partition};

    return self->touched_count == 0
               ? NULL
               : bsearch(&key, self->touched, self->touched_count, sizeof key, compare_touched);
}

static sinter_status
find_partitions(sinter__conflicts *self, sinter_error *err)
{
    const size_t count = self->request->count;
    size_t kept = 0;

    if (self->touched != NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(&self->arena, (count + 1) * sizeof *self->touched,
                                     (void **)&self->touched, err));
    for (size_t i = 0; i < count; i++) {
        self->touched[i] = (sinter__touched){.partition = self->request->entries[i]->partition};
    }
    if (count > 1) {
        qsort(self->touched, count, sizeof *self->touched, compare_touched);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || compare_touched(&self->touched[kept - 1], &self->touched[i]) != 0) {
            self->touched[kept++] = self->touched[i];
        }
    }
    self->touched_count = kept;
    return SINTER_OK;
}

/* ---- live files ---- */

static sinter_status
read_manifest(sinter__conflicts *self, const sinter__manifest_meta *meta, sinter_text *path,
              sinter_error *err)
{
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_reader *reader = NULL;
    bool may_hold = false;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < self->touched_count && !may_hold; i++) {
        SINTER__CHECK(sinter__partitions_may_hold(self->partitions, meta,
                                                  self->touched[i].partition, &may_hold, err));
    }
    if (!may_hold) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__manifest_path(self->table, meta->file_name, path, err));
    SINTER__CHECK(sinter__manifest_open(env_of(self), path->data, meta, NULL, &reader, err));
    while ((st = sinter__manifest_next(reader, &entry, err)) == SINTER_OK) {
        if (find_touched(self, entry->partition) != NULL) {
            SINTER__TRY(sinter__manifest_merge_add(self->live, entry, err));
        }
    }
    st = st == SINTER_END ? SINTER_OK : st;
out:
    sinter__manifest_close(reader);
    return st;
}

static sinter_status
read_list(sinter__conflicts *self, const sinter_list_file *file, sinter_error *err)
{
    sinter__manifest_list list = {.arena.env = env_of(self)};
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__manifest_path(
        self->table, (sinter_bytes){(const uint8_t *)file->name, strlen(file->name)}, &path, err));
    SINTER__TRY(sinter__manifest_list_read(env_of(self), path.data,
                                           file->size_bytes > 0 ? (uint64_t)file->size_bytes : 0,
                                           &list, err));
    for (size_t i = 0; i < list.count; i++) {
        SINTER__TRY(read_manifest(self, &list.items[i], &path, err));
    }
out:
    sinter__manifest_list_fini(&list);
    sinter_text_fini(&path);
    return st;
}

static void
forget(sinter__conflicts *self)
{
    sinter__manifest_merge_destroy(self->live);
    self->live = NULL;
    self->live_id = 0;
}

static sinter_status
read_all(sinter__conflicts *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    forget(self);
    SINTER__CHECK(sinter__manifest_merge_create(env_of(self), &self->live, err));
    SINTER__CHECK(read_list(self, &snapshot->base, err));
    return read_list(self, &snapshot->delta, err);
}

/** Read what came between the snapshot before and this one. */
static sinter_status
read_deltas(sinter__conflicts *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    for (int64_t id = self->live_id + 1; id < snapshot->id; id++) {
        sinter_snapshot *between = NULL;
        sinter_status st = sinter_table_snapshot_get(self->table, id, &between, err);

        if (st == SINTER_OK) {
            st = read_list(self, &between->delta, err);
        }
        sinter_snapshot_destroy(between);
        SINTER__CHECK(st);
    }
    return snapshot->id > self->live_id ? read_list(self, &snapshot->delta, err) : SINTER_OK;
}

static sinter_status
read_live(sinter__conflicts *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    sinter_status st = SINTER_E_EXPIRED;

    if (snapshot == NULL) {
        forget(self);
        return sinter__manifest_merge_create(env_of(self), &self->live, err);
    }
    if (self->live != NULL && self->live_id > 0 && self->live_id <= snapshot->id) {
        st = read_deltas(self, snapshot, NULL);
    }
    if (st != SINTER_OK) { /* also when a snapshot between is gone */
        SINTER__CHECK(read_all(self, snapshot, err));
    }
    self->live_id = snapshot->id;
    return sinter__manifest_merge_check(self->live, err);
}

/* ---- the request on top of them ---- */

static sinter_status
conflict(sinter__conflicts *self, const sinter__manifest_entry *entry, const char *what,
         sinter_error *err)
{
    const sinter_bytes name = entry->file.file_name;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &path);
    st = sinter__partitions_path(self->partitions, entry->partition, &path, NULL);
    st =
        SINTER__ERR(err, SINTER_E_CONFLICT, "%s%.120s%sbucket %d: file %.*s of level %d %s",
                    path.size > 0 ? "partition " : "",
                    st == SINTER_OK && path.size > 0 ? path.data : "", path.size > 0 ? ", " : "",
                    entry->bucket, (int)(name.size < SHOWN_CHARS_MAX ? name.size : SHOWN_CHARS_MAX),
                    (const char *)name.data, entry->file.level, what);
    sinter_text_fini(&path);
    return st;
}

static sinter_status
apply(sinter__conflicts *self, int32_t kind, sinter_error *err)
{
    for (size_t i = 0; i < self->request->count; i++) {
        const sinter__manifest_entry *entry = self->request->entries[i];

        if (entry->kind != kind) {
            continue;
        }
        if (kind == SINTER__ENTRY_DELETE) {
            if (!sinter__manifest_merge_take(self->live, entry)) {
                return conflict(self, entry, "is not there any more", err);
            }
        } else if (sinter__manifest_merge_has(self->live, entry)) {
            return conflict(self, entry, "is there already", err);
        } else {
            SINTER__CHECK(sinter__manifest_merge_add(self->live, entry, err));
        }
    }
    return SINTER_OK;
}

/** Take the request off again, for the next attempt. */
static sinter_status
take_off(sinter__conflicts *self, sinter_error *err)
{
    for (size_t i = 0; i < self->request->count; i++) {
        if (self->request->entries[i]->kind == SINTER__ENTRY_ADD) {
            (void)sinter__manifest_merge_take(self->live, self->request->entries[i]);
        }
    }
    for (size_t i = 0; i < self->request->count; i++) {
        sinter__manifest_entry entry = *self->request->entries[i];

        if (entry.kind == SINTER__ENTRY_DELETE) {
            entry.kind = SINTER__ENTRY_ADD;
            SINTER__CHECK(sinter__manifest_merge_add(self->live, &entry, err));
        }
    }
    return SINTER_OK;
}

static sinter_status
check_bucket_counts(sinter__conflicts *self, const sinter__manifest_entry *const *entries,
                    size_t count, sinter_error *err)
{
    char what[96];

    for (size_t i = 0; i < self->touched_count; i++) {
        self->touched[i].total_buckets = 0;
    }
    for (size_t i = 0; i < count; i++) {
        sinter__touched *touched = find_touched(self, entries[i]->partition);

        if (touched == NULL || entries[i]->total_buckets <= 0) {
            continue;
        }
        if (touched->total_buckets == 0) {
            touched->total_buckets = entries[i]->total_buckets;
        } else if (touched->total_buckets != entries[i]->total_buckets) {
            (void)snprintf(what, sizeof what,
                           "is of %d buckets, where other files of the partition are of %d",
                           entries[i]->total_buckets, touched->total_buckets);
            return conflict(self, entries[i], what, err);
        }
    }
    return SINTER_OK;
}

/* ---- files of one level ---- */

/** A file with its keys as they are compared. */
typedef struct ranged_file {
    const sinter__manifest_entry *entry;
    sinter_bytes min;
    sinter_bytes max;
} ranged_file;

static int
compare_levels(const sinter__manifest_entry *a, const sinter__manifest_entry *b)
{
    const int order = sinter__key_compare(a->partition, b->partition);

    if (order != 0) {
        return order;
    }
    if (a->bucket != b->bucket) {
        return a->bucket < b->bucket ? -1 : 1;
    }
    return (a->file.level > b->file.level) - (a->file.level < b->file.level);
}

static int
compare_ranged(const void *a, const void *b)
{
    const ranged_file *x = a;
    const ranged_file *y = b;
    const int order = compare_levels(x->entry, y->entry);

    return order != 0 ? order : sinter__key_compare(x->min, y->min);
}

static int
compare_entries(const void *a, const void *b)
{
    return compare_levels(*(const sinter__manifest_entry *const *)a,
                          *(const sinter__manifest_entry *const *)b);
}

/** The levels that get new files, sorted: one entry for each of these files. */
static sinter_status
find_levels(const sinter__conflicts *self, sinter__arena *arena,
            const sinter__manifest_entry ***out, size_t *count_out, sinter_error *err)
{
    const sinter__commit_request *request = self->request;
    const sinter__manifest_entry **levels = NULL;
    size_t count = 0;

    SINTER__CHECK(
        sinter__arena_take(arena, (request->count + 1) * sizeof *levels, (void **)&levels, err));
    for (size_t i = 0; i < request->count; i++) {
        if (request->entries[i]->kind == SINTER__ENTRY_ADD && request->entries[i]->file.level > 0) {
            levels[count++] = request->entries[i];
        }
    }
    if (count > 1) {
        qsort(levels, count, sizeof *levels, compare_entries);
    }
    *out = levels;
    *count_out = count;
    return SINTER_OK;
}

static sinter_status
check_order(sinter__conflicts *self, const ranged_file *files, size_t count, sinter_error *err)
{
    for (size_t i = 1; i < count; i++) {
        if (compare_levels(files[i - 1].entry, files[i].entry) == 0 &&
            sinter__key_compare(files[i - 1].max, files[i].min) >= 0) {
            return conflict(self, files[i].entry, "shares keys with another file of its level",
                            err);
        }
    }
    return SINTER_OK;
}

static sinter_status
check_levels(sinter__conflicts *self, const sinter__manifest_entry *const *entries, size_t count,
             sinter_error *err)
{
    sinter__key_rows keys = {.arena.env = env_of(self)};
    const sinter__manifest_entry **levels = NULL;
    size_t level_count = 0;
    ranged_file *files = NULL;
    size_t file_count = 0;
    sinter_status st = SINTER_OK;

    if (self->schema->primary_key_count == 0) {
        return SINTER_OK;
    }
    SINTER__TRY(sinter__key_rows_init(&keys, self->schema, err));
    SINTER__TRY(find_levels(self, &keys.arena, &levels, &level_count, err));
    SINTER__TRY(sinter__arena_take(&keys.arena, (count + 1) * sizeof *files, (void **)&files, err));
    for (size_t i = 0; i < count && level_count > 0; i++) {
        if (bsearch(&entries[i], levels, level_count, sizeof *levels, compare_entries) != NULL) {
            ranged_file *file = &files[file_count++];

            file->entry = entries[i];
            SINTER__TRY(sinter__key_rows_encode(&keys, entries[i]->file.min_key, &file->min, err));
            SINTER__TRY(sinter__key_rows_encode(&keys, entries[i]->file.max_key, &file->max, err));
        }
    }
    if (file_count > 1) {
        qsort(files, file_count, sizeof *files, compare_ranged);
    }
    st = check_order(self, files, file_count, err);
out:
    sinter__key_rows_fini(&keys);
    return st;
}

sinter_status
sinter__conflicts_check(sinter__conflicts *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    const sinter__manifest_entry *const *entries = NULL;
    size_t count = 0;

    SINTER__CHECK(find_partitions(self, err));
    SINTER__CHECK(read_live(self, snapshot, err));
    SINTER__CHECK(apply(self, SINTER__ENTRY_DELETE, err));
    SINTER__CHECK(apply(self, SINTER__ENTRY_ADD, err));
    entries = sinter__manifest_merge_entries(self->live, &count);
    if (self->request->kind != SINTER_COMMIT_OVERWRITE) {
        SINTER__CHECK(check_bucket_counts(self, entries, count, err));
    }
    SINTER__CHECK(check_levels(self, entries, count, err));
    return take_off(self, err);
}

void
sinter__conflicts_fini(sinter__conflicts *self)
{
    forget(self);
    sinter__arena_fini(&self->arena);
}
