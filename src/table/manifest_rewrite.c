#include "table/manifest_rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "table/manifest_merge.h"

enum { PILE_TARGETS = 8, PILE_SHARE = 8 }; /* of the target; of the budget */

/** A merge of manifests. */
typedef struct rewrite {
    sinter__new_meta *meta;
    const sinter__manifest_limits *limits;
    const sinter__manifest_list *inputs;
    sinter__manifest_list *out;
    sinter__arena keep; /* what entries carry is described here */
    sinter_text path;
    sinter__manifest_merge *deleted; /* identities of all DELETEs that had no ADD yet */
    sinter_bytes *partitions;        /* of these, each once */
    size_t partition_count;
} rewrite;

static const sinter_env *
env_of(const rewrite *self)
{
    return self->meta->arena.env;
}

static sinter_status
open_input(rewrite *self, const sinter__manifest_meta *meta, sinter__manifest_reader **out,
           sinter_error *err)
{
    SINTER__CHECK(sinter__manifest_path(self->meta->table, meta->file_name, &self->path, err));
    return sinter__manifest_open(env_of(self), self->path.data, meta, &self->keep, out, err);
}

/** Call `each` with the entries of a manifest. SINTER_END from it ends the walk. */
static sinter_status
walk(rewrite *self, const sinter__manifest_meta *meta,
     sinter_status (*each)(void *ctx, const sinter__manifest_entry *entry, sinter_error *err),
     void *ctx, sinter_error *err)
{
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_reader *reader = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(open_input(self, meta, &reader, err));
    while (st == SINTER_OK) {
        st = sinter__manifest_next(reader, &entry, err);
        if (st == SINTER_OK) {
            st = each(ctx, entry, err);
        }
    }
    sinter__manifest_close(reader);
    return st == SINTER_END ? SINTER_OK : st;
}

/* ---- entries on their way into new manifests ---- */

/** Entries that are written together. */
typedef struct pile {
    rewrite *rewrite;
    sinter__arena arena;
    const sinter__manifest_entry **items;
    size_t count;
    size_t capacity;
    uint64_t bytes;
    uint64_t bytes_max;
} pile;

static void
pile_init(pile *self, rewrite *r)
{
    const uint64_t share = sinter_memory_limit(env_of(r)->memory) / PILE_SHARE;
    const uint64_t wanted = PILE_TARGETS * r->limits->target_bytes;

    *self =
        (pile){.rewrite = r, .arena.env = env_of(r), .bytes_max = wanted < share ? wanted : share};
}

static void
pile_empty(pile *self)
{
    sinter_memory_release(self->arena.env->memory, self->bytes);
    sinter__arena_fini(&self->arena);
    self->count = 0;
    self->bytes = 0;
}

static void
pile_fini(pile *self)
{
    pile_empty(self);
    sinter__free(self->arena.env, self->items);
}

static sinter_status
pile_write(pile *self, sinter_error *err)
{
    const sinter_status st = sinter__new_meta_manifests(self->rewrite->meta, self->items,
                                                        self->count, self->rewrite->out, err);

    pile_empty(self);
    return st;
}

static sinter_status
pile_add(pile *self, const sinter__manifest_entry *entry, sinter_error *err)
{
    const uint64_t bytes = sinter__manifest_entry_bytes(entry);

    if (self->count == self->capacity) {
        const size_t capacity = self->capacity == 0 ? 64 : 2 * self->capacity;

        SINTER__CHECK(sinter__resize(self->arena.env, (void **)&self->items, capacity,
                                     sizeof *self->items, err));
        self->capacity = capacity;
    }
    SINTER__CHECK(sinter_memory_reserve(self->arena.env->memory, bytes, err));
    self->bytes += bytes;
    SINTER__CHECK(sinter__manifest_entry_copy(&self->arena, entry, &self->items[self->count], err));
    self->count++;
    return self->bytes < self->bytes_max ? SINTER_OK : pile_write(self, err);
}

/* ---- the full merge ---- */

static bool
must_change(const rewrite *self, const sinter__manifest_meta *meta)
{
    return meta->deleted_count > 0 || (uint64_t)meta->file_size < self->limits->target_bytes;
}

/** A DELETE that comes twice: only the order tells what is left, so this is no case for the full
 *  merge. */
static sinter_status
note_delete(void *ctx, const sinter__manifest_entry *entry, sinter_error *err)
{
    rewrite *self = ctx;

    if (entry->kind != SINTER__ENTRY_DELETE) {
        return SINTER_OK;
    }
    return sinter__manifest_merge_has(self->deleted, entry)
               ? SINTER_E_UNSUPPORTED
               : sinter__manifest_merge_add(self->deleted, entry, err);
}

static int
compare_bytes(const void *a, const void *b)
{
    return sinter__key_compare(*(const sinter_bytes *)a, *(const sinter_bytes *)b);
}

static sinter_status
find_deleted(rewrite *self, sinter_error *err)
{
    const sinter__manifest_entry *const *entries = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__manifest_merge_create(env_of(self), &self->deleted, err));
    for (size_t i = 0; i < self->inputs->count; i++) {
        if (self->inputs->items[i].deleted_count > 0) {
            SINTER__CHECK(walk(self, &self->inputs->items[i], note_delete, self, err));
        }
    }
    entries = sinter__manifest_merge_entries(self->deleted, &count);
    SINTER__CHECK(SINTER__NEW(env_of(self), self->partitions, count + 1, err));
    for (size_t i = 0; i < count; i++) {
        self->partitions[i] = entries[i]->partition;
    }
    if (count > 1) {
        qsort(self->partitions, count, sizeof *self->partitions, compare_bytes);
    }
    for (size_t i = 0; i < count; i++) {
        if (self->partition_count == 0 ||
            !sinter__key_equal(self->partitions[self->partition_count - 1], self->partitions[i])) {
            self->partitions[self->partition_count++] = self->partitions[i];
        }
    }
    return SINTER_OK;
}

static sinter_status
is_candidate(rewrite *self, const sinter__manifest_meta *meta, bool *out, sinter_error *err)
{
    *out = must_change(self, meta);
    for (size_t i = 0; i < self->partition_count && !*out; i++) {
        SINTER__CHECK(sinter__partitions_may_hold(self->meta->partitions, meta, self->partitions[i],
                                                  out, err));
    }
    return SINTER_OK;
}

/** Is there an ADD of a file that was deleted? */
typedef struct look {
    const sinter__manifest_merge *deleted;
    bool is_there;
} look;

static sinter_status
look_for_deleted(void *ctx, const sinter__manifest_entry *entry, sinter_error *err)
{
    look *self = ctx;

    (void)err;
    self->is_there =
        entry->kind == SINTER__ENTRY_ADD && sinter__manifest_merge_has(self->deleted, entry);
    return self->is_there ? SINTER_END : SINTER_OK;
}

static sinter_status
take_live(void *ctx, const sinter__manifest_entry *entry, sinter_error *err)
{
    pile *self = ctx;

    if (entry->kind == SINTER__ENTRY_DELETE ||
        sinter__manifest_merge_take(self->rewrite->deleted, entry)) {
        return SINTER_OK;
    }
    return pile_add(self, entry, err);
}

/** A candidate that has nothing but live entries stays as it is. */
static sinter_status
check_candidate(rewrite *self, const sinter__manifest_meta *meta, bool *is_candidate,
                sinter_error *err)
{
    look found = {.deleted = self->deleted};

    if (!*is_candidate || must_change(self, meta)) {
        return SINTER_OK;
    }
    SINTER__CHECK(walk(self, meta, look_for_deleted, &found, err));
    *is_candidate = found.is_there;
    return SINTER_OK;
}

static sinter_status
merge_candidates(rewrite *self, bool *candidates, sinter_error *err)
{
    const sinter__manifest_meta *inputs = self->inputs->items;
    pile entries;
    size_t left = 0;
    sinter_status st = SINTER_OK;

    pile_init(&entries, self);
    for (size_t i = 0; i < self->inputs->count; i++) {
        SINTER__TRY(check_candidate(self, &inputs[i], &candidates[i], err));
        if (!candidates[i]) {
            SINTER__TRY(sinter__manifest_list_push(self->out, &inputs[i], err));
        }
    }
    for (size_t i = 0; i < self->inputs->count; i++) {
        if (candidates[i]) {
            SINTER__TRY(walk(self, &inputs[i], take_live, &entries, err));
        }
    }
    SINTER__TRY(pile_write(&entries, err));
    (void)sinter__manifest_merge_entries(self->deleted, &left);
    if (left > 0) { /* damage, which reading the table tells of; nothing is hidden here */
        st = SINTER_E_UNSUPPORTED;
    }
out:
    pile_fini(&entries);
    return st;
}

/** SINTER_END: there is nothing to do for a full merge. */
static sinter_status
full_merge(rewrite *self, sinter_error *err)
{
    bool *candidates = NULL;
    uint64_t bytes = 0;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < self->inputs->count; i++) {
        bytes += must_change(self, &self->inputs->items[i])
                     ? (uint64_t)self->inputs->items[i].file_size
                     : 0;
    }
    if (bytes < self->limits->full_bytes) {
        return SINTER_END;
    }
    SINTER__CHECK(find_deleted(self, err));
    SINTER__CHECK(SINTER__NEW(env_of(self), candidates, self->inputs->count, err));
    for (size_t i = 0; i < self->inputs->count; i++) {
        SINTER__TRY(is_candidate(self, &self->inputs->items[i], &candidates[i], err));
        count += candidates[i];
    }
    st = count < 2 ? SINTER_END : merge_candidates(self, candidates, err);
out:
    sinter__free(env_of(self), candidates);
    return st;
}

/* ---- the minor merge ---- */

static sinter_status
add_entry(void *ctx, const sinter__manifest_entry *entry, sinter_error *err)
{
    /* A DELETE may stand here whose ADD, and whose ADD again, are elsewhere: not damage, but
     * nothing to merge. */
    const sinter_status st = sinter__manifest_merge_add(ctx, entry, err);

    return st == SINTER_E_CORRUPT ? SINTER_E_UNSUPPORTED : st;
}

static sinter_status
write_group(rewrite *self, size_t begin, size_t end, sinter_error *err)
{
    const sinter__manifest_entry *const *entries = NULL;
    sinter__manifest_merge *merge = NULL;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__manifest_merge_create(env_of(self), &merge, err));
    for (size_t i = begin; i < end; i++) {
        SINTER__TRY(walk(self, &self->inputs->items[i], add_entry, merge, err));
    }
    entries = sinter__manifest_merge_entries(merge, &count);
    SINTER__TRY(sinter__new_meta_manifests(self->meta, entries, count, self->out, err));
out:
    sinter__manifest_merge_destroy(merge);
    return st;
}

static sinter_status
keep_group(rewrite *self, size_t begin, size_t end, sinter_error *err)
{
    for (size_t i = begin; i < end; i++) {
        SINTER__CHECK(sinter__manifest_list_push(self->out, &self->inputs->items[i], err));
    }
    return SINTER_OK;
}

/** Did a merge fail for a reason that is none to fail the commit: what it can't carry over, hold in
 *  the budget, or put in order stays as it is? */
static bool
is_no_matter(sinter_status st)
{
    return st == SINTER_E_UNSUPPORTED || st == SINTER_E_TOO_LARGE;
}

static sinter_status
merge_group(rewrite *self, size_t begin, size_t end, sinter_error *err)
{
    const size_t files = self->meta->count;
    const size_t listed = self->out->count;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (end - begin == 1) {
        return keep_group(self, begin, end, err);
    }
    st = write_group(self, begin, end, &detail);
    if (is_no_matter(st)) {
        sinter__new_meta_undo(self->meta, files);
        self->out->count = listed;
        return keep_group(self, begin, end, err);
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    return st;
}

static sinter_status
minor_merge(rewrite *self, sinter_error *err)
{
    const size_t count = self->inputs->count;
    size_t begin = 0;
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        bytes += (uint64_t)self->inputs->items[i].file_size;
        if (bytes >= self->limits->target_bytes) {
            SINTER__CHECK(merge_group(self, begin, i + 1, err));
            begin = i + 1;
            bytes = 0;
        }
    }
    return count > begin && count - begin >= self->limits->count_min
               ? merge_group(self, begin, count, err)
               : keep_group(self, begin, count, err);
}

sinter_status
sinter__manifests_rewrite(sinter__new_meta *meta, const sinter__manifest_limits *limits,
                          const sinter__manifest_list *inputs, sinter__manifest_list *out,
                          sinter_error *err)
{
    rewrite self = {.meta = meta, .limits = limits, .inputs = inputs, .out = out};
    const size_t files = meta->count;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    self.keep.env = env_of(&self);
    sinter_text_init(env_of(&self), &self.path);
    st = full_merge(&self, &detail);
    if (st == SINTER_END || is_no_matter(st)) {
        sinter__new_meta_undo(meta, files);
        out->count = 0;
        st = minor_merge(&self, err);
    } else if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    sinter__manifest_merge_destroy(self.deleted);
    sinter__free(env_of(&self), self.partitions);
    sinter_text_fini(&self.path);
    sinter__arena_fini(&self.keep);
    return st;
}
