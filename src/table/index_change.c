#include "table/index_change.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"

static bool
has_type(const sinter__index_entry *entry, const char *type)
{
    return entry->index_type.size == strlen(type) &&
           memcmp(entry->index_type.data, type, entry->index_type.size) == 0;
}

static bool
is_same_file(const sinter__index_entry *a, const sinter__index_entry *b)
{
    return a->bucket == b->bucket && sinter__key_equal(a->file_name, b->file_name) &&
           sinter__key_equal(a->index_type, b->index_type) &&
           sinter__key_equal(a->partition, b->partition);
}

/** Is there room for one of the two only? */
static bool
has_same_key(const sinter__index_change *self, const sinter__index_entry *a,
             const sinter__index_entry *b)
{
    if (a->bucket != b->bucket || !sinter__key_equal(a->index_type, b->index_type) ||
        !sinter__key_equal(a->partition, b->partition)) {
        return false;
    }
    return has_type(a, "HASH") || (has_type(a, "DELETION_VECTORS") && self->has_buckets) ||
           sinter__key_equal(a->file_name, b->file_name);
}

static bool
is_removed(const sinter__index_change *self, const sinter__index_entry *entry)
{
    for (size_t i = 0; i < self->request->index_removed_count; i++) {
        if (is_same_file(self->request->index_removed[i], entry)) {
            return true;
        }
    }
    return false;
}

static bool
is_replaced(const sinter__index_change *self, const sinter__index_entry *entry)
{
    for (size_t i = 0; i < self->request->index_added_count; i++) {
        if (has_same_key(self, self->request->index_added[i], entry)) {
            return true;
        }
    }
    return false;
}

static bool
has_file(const sinter__index_manifest *manifest, const sinter__index_entry *entry)
{
    for (size_t i = 0; i < manifest->count; i++) {
        if (is_same_file(&manifest->items[i], entry)) {
            return true;
        }
    }
    return false;
}

static sinter_status
conflict(const sinter__index_entry *entry, const char *what, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_CONFLICT, "index file %.*s of bucket %d %s",
                       (int)(entry->file_name.size < 160 ? entry->file_name.size : 160),
                       (const char *)entry->file_name.data, entry->bucket, what);
}

/* ---- files that go ---- */

/** Data files that the request deletes and does not add again, sorted. */
typedef struct gone_files {
    const sinter__manifest_entry **items;
    size_t count;
} gone_files;

static int
compare_files(const sinter__manifest_entry *a, sinter_bytes partition, int32_t bucket,
              sinter_bytes name)
{
    int order = sinter__key_compare(a->file.file_name, name);

    if (order == 0) {
        order = (a->bucket > bucket) - (a->bucket < bucket);
    }
    return order != 0 ? order : sinter__key_compare(a->partition, partition);
}

static int
compare_gone(const void *a, const void *b)
{
    const sinter__manifest_entry *y = *(const sinter__manifest_entry *const *)b;

    return compare_files(*(const sinter__manifest_entry *const *)a, y->partition, y->bucket,
                         y->file.file_name);
}

static const sinter__manifest_entry **
find_gone(const gone_files *files, const sinter__manifest_entry *like)
{
    return files->count == 0
               ? NULL
               : bsearch(&like, files->items, files->count, sizeof *files->items, compare_gone);
}

static sinter_status
list_gone(const sinter__index_change *self, sinter__arena *arena, gone_files *out,
          sinter_error *err)
{
    const sinter__commit_request *request = self->request;
    size_t kept = 0;

    SINTER__CHECK(sinter__arena_take(arena, (request->count + 1) * sizeof *out->items,
                                     (void **)&out->items, err));
    for (size_t i = 0; i < request->count; i++) {
        if (request->entries[i]->kind == SINTER__ENTRY_DELETE) {
            out->items[out->count++] = request->entries[i];
        }
    }
    if (out->count > 1) {
        qsort(out->items, out->count, sizeof *out->items, compare_gone);
    }
    for (size_t i = 0; i < request->count; i++) { /* an upgrade: the file stays */
        if (request->entries[i]->kind == SINTER__ENTRY_ADD) {
            const sinter__manifest_entry **same = find_gone(out, request->entries[i]);

            if (same != NULL) {
                *same = request->entries[i];
            }
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        if (out->items[i]->kind == SINTER__ENTRY_DELETE) {
            out->items[kept++] = out->items[i];
        }
    }
    out->count = kept;
    return SINTER_OK;
}

/** The file that a vector belongs to, if it goes. */
static const sinter__manifest_entry *
owner_of(const gone_files *gone, const sinter__index_entry *entry,
         const sinter__vector_range *vector)
{
    const sinter__manifest_entry like = {.partition = entry->partition,
                                         .bucket = entry->bucket,
                                         .file.file_name = vector->data_file};
    const sinter__manifest_entry **found = find_gone(gone, &like);

    return found == NULL ? NULL : *found;
}

/* ---- what was planned from ---- */

static bool
is_changed_here(const sinter__index_change *self, const sinter__index_entry *entry)
{
    return is_removed(self, entry) || is_replaced(self, entry);
}

/** Is each file of `a` that the request takes away, or whose vectors go with their data files, in
 *  `b`? */
static sinter_status
check_against(const sinter__index_change *self, const sinter__index_manifest *a,
              const sinter__index_manifest *b, const gone_files *gone, sinter_error *err)
{
    for (size_t i = 0; i < a->count; i++) {
        const sinter__index_entry *entry = &a->items[i];
        bool matters = is_changed_here(self, entry);

        for (size_t v = 0; v < entry->vectors.count && !matters; v++) {
            matters = owner_of(gone, entry, &entry->vectors.items[v]) != NULL;
        }
        if (matters && !has_file(b, entry)) {
            return conflict(entry, "was changed by another commit since this one was planned", err);
        }
    }
    return SINTER_OK;
}

static sinter_status
check_planned(const sinter__index_change *self, const gone_files *gone, sinter_error *err)
{
    for (size_t i = 0; i < self->request->index_removed_count; i++) {
        if (!has_file(self->old, self->request->index_removed[i])) {
            return conflict(self->request->index_removed[i], "is not there any more", err);
        }
    }
    if (self->read == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(check_against(self, self->old, self->read, gone, err));
    return check_against(self, self->read, self->old, gone, err);
}

static sinter_status
check_owners(const sinter__index_entry *const *entries, size_t count, const gone_files *gone,
             sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t v = 0; v < entries[i]->vectors.count; v++) {
            const sinter__vector_range *vector = &entries[i]->vectors.items[v];

            if (owner_of(gone, entries[i], vector) != NULL) {
                return SINTER__ERR(
                    err, SINTER_E_INVALID,
                    "the deletion vector of %.*s would outlive the file, which is deleted",
                    (int)(vector->data_file.size < 160 ? vector->data_file.size : 160),
                    (const char *)vector->data_file.data);
            }
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__index_change_apply(const sinter__index_change *self, sinter__arena *arena,
                           const sinter__index_entry *const **out, size_t *count_out,
                           sinter_error *err)
{
    const size_t room = self->old->count + self->request->index_added_count + 1;
    const sinter__index_entry **entries = NULL;
    gone_files gone = {0};
    size_t count = 0;

    SINTER__CHECK(list_gone(self, arena, &gone, err));
    SINTER__CHECK(check_planned(self, &gone, err));
    SINTER__CHECK(sinter__arena_take(arena, room * sizeof *entries, (void **)&entries, err));
    for (size_t i = 0; i < self->old->count; i++) {
        if (!is_changed_here(self, &self->old->items[i])) {
            entries[count++] = &self->old->items[i];
        }
    }
    for (size_t i = 0; i < self->request->index_added_count; i++) {
        entries[count++] = self->request->index_added[i];
    }
    SINTER__CHECK(check_owners(entries, count, &gone, err));
    *out = entries;
    *count_out = count;
    return SINTER_OK;
}
