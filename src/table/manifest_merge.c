#include "table/manifest_merge.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

enum { SLOTS_MIN = 64, ENTRIES_MAX = INT32_MAX };

/* A hash table over the entries in their order. What is taken away leaves a hole in the order, and
 * its slot stays for those that were put behind it; both go when the table grows. */
struct sinter__manifest_merge {
    const sinter_env *env;
    sinter__arena arena;
    const sinter__manifest_entry **entries; /* NULL: taken away; room for half the slots */
    size_t count;                           /* holes are among them */
    uint32_t *slots;                        /* numbers of entries, from 1; 0: free */
    size_t slot_count;                      /* a power of 2 */
    size_t slots_used;                      /* half of them at most */
    uint64_t reserved_bytes;
};

static bool
is_same_list(const sinter__bytes_list *a, const sinter__bytes_list *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!sinter__key_equal(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

/** Are both null, or both there and the same? */
static bool
is_same_maybe(const sinter__data_file *a, const sinter__data_file *b, uint32_t has_bit,
              sinter_bytes value_a, sinter_bytes value_b)
{
    return ((a->has ^ b->has) & has_bit) == 0 &&
           ((a->has & has_bit) == 0 || sinter__key_equal(value_a, value_b));
}

bool
sinter__manifest_entry_is_same(const sinter__manifest_entry *a, const sinter__manifest_entry *b)
{
    const sinter__data_file *file_a = &a->file;
    const sinter__data_file *file_b = &b->file;

    return sinter__key_equal(file_a->file_name, file_b->file_name) &&
           file_a->level == file_b->level && a->bucket == b->bucket &&
           sinter__key_equal(a->partition, b->partition) &&
           is_same_list(&file_a->extra_files, &file_b->extra_files) &&
           is_same_maybe(file_a, file_b, SINTER__FILE_HAS_EMBEDDED_INDEX, file_a->embedded_index,
                         file_b->embedded_index) &&
           is_same_maybe(file_a, file_b, SINTER__FILE_HAS_EXTERNAL_PATH, file_a->external_path,
                         file_b->external_path);
}

/** Names are as good as unique; level and bucket tell the rest apart, but for what is odd. */
static uint64_t
hash_of(const sinter__manifest_entry *entry)
{
    const uint64_t seed = (uint64_t)(uint32_t)entry->bucket << 32 | (uint32_t)entry->file.level;

    return sinter__hash_seeded(entry->file.file_name.data, entry->file.file_name.size, seed);
}

/** The slot of the entry that is the same, or the free one where it would be. */
static uint32_t *
find_slot(const sinter__manifest_merge *self, const sinter__manifest_entry *entry)
{
    size_t at = (size_t)hash_of(entry) & (self->slot_count - 1);

    while (self->slots[at] != 0) {
        const sinter__manifest_entry *other = self->entries[self->slots[at] - 1];

        if (other != NULL && sinter__manifest_entry_is_same(other, entry)) {
            break;
        }
        at = (at + 1) & (self->slot_count - 1);
    }
    return &self->slots[at];
}

static sinter_status
reserve(sinter__manifest_merge *self, uint64_t bytes, sinter_error *err)
{
    SINTER__CHECK(sinter_memory_reserve(self->env->memory, bytes, err));
    self->reserved_bytes += bytes;
    return SINTER_OK;
}

/** Close the holes of the order; numbers of entries are others then. */
static void
close_holes(sinter__manifest_merge *self)
{
    size_t kept = 0;

    for (size_t i = 0; i < self->count; i++) {
        if (self->entries[i] != NULL) {
            self->entries[kept++] = self->entries[i];
        }
    }
    self->count = kept;
}

/** Put all entries into the slots again. */
static void
rebuild(sinter__manifest_merge *self)
{
    memset(self->slots, 0, self->slot_count * sizeof *self->slots);
    self->slots_used = self->count;
    for (size_t i = 0; i < self->count; i++) {
        *find_slot(self, self->entries[i]) = (uint32_t)i + 1;
    }
}

static size_t
count_live(const sinter__manifest_merge *self)
{
    size_t live = 0;

    for (size_t i = 0; i < self->count; i++) {
        live += self->entries[i] != NULL;
    }
    return live;
}

/** Have room for one more entry and its slot; nothing has changed after a failure. */
static sinter_status
make_room(sinter__manifest_merge *self, sinter_error *err)
{
    const size_t live = self->slots_used < self->slot_count / 2 ? 0 : count_live(self);
    uint32_t *slots = NULL;
    size_t slot_count = SLOTS_MIN;

    if (self->slots_used < self->slot_count / 2) {
        return SINTER_OK;
    }
    if (live == ENTRIES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "more than %d files", ENTRIES_MAX);
    }
    while (slot_count < 4 * (live + 1)) {
        slot_count *= 2;
    }
    if (slot_count > self->slot_count) {
        const size_t places = slot_count / 2; /* for entries: slots are half used at most */

        SINTER__CHECK(reserve(
            self, (slot_count - self->slot_count) * (sizeof *slots + sizeof *self->entries / 2),
            err));
        SINTER__CHECK(
            sinter__resize(self->env, (void **)&self->entries, places, sizeof *self->entries, err));
        SINTER__CHECK(SINTER__NEW(self->env, slots, slot_count, err));
        sinter__free(self->env, self->slots);
        self->slots = slots;
        self->slot_count = slot_count;
    }
    close_holes(self);
    rebuild(self);
    return SINTER_OK;
}

sinter_status
sinter__manifest_merge_create(const sinter_env *env, sinter__manifest_merge **out,
                              sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(env, *out, 1, err));
    (*out)->env = env;
    (*out)->arena.env = env;
    return SINTER_OK;
}

void
sinter__manifest_merge_destroy(sinter__manifest_merge *merge)
{
    if (merge != NULL) {
        sinter_memory_release(merge->env->memory, merge->reserved_bytes);
        sinter__arena_fini(&merge->arena);
        sinter__free(merge->env, merge->slots);
        sinter__free(merge->env, merge->entries);
        sinter__free(merge->env, merge);
    }
}

/** A failure that tells which file it is about. */
static sinter_status
refuse(sinter_error *err, const sinter__manifest_entry *entry, const char *what)
{
    enum { SHOWN_CHARS_MAX = 160 };
    const sinter_bytes name = entry->file.file_name;

    return SINTER__ERR(err, SINTER_E_CORRUPT, "file %.*s (bucket %d, level %d) %s",
                       (int)(name.size < SHOWN_CHARS_MAX ? name.size : SHOWN_CHARS_MAX),
                       (const char *)name.data, entry->bucket, entry->file.level, what);
}

sinter_status
sinter__manifest_merge_add(sinter__manifest_merge *merge, const sinter__manifest_entry *entry,
                           sinter_error *err)
{
    const sinter__manifest_entry *copy = NULL;
    uint32_t *slot = NULL;

    SINTER__CHECK(make_room(merge, err));
    slot = find_slot(merge, entry);
    if (*slot != 0) {
        if (entry->kind == SINTER__ENTRY_ADD) {
            return refuse(err, entry,
                          merge->entries[*slot - 1]->kind == SINTER__ENTRY_ADD
                              ? "is already added"
                              : "is added after it was deleted");
        }
        merge->entries[*slot - 1] = NULL;
        return SINTER_OK;
    }
    SINTER__CHECK(reserve(merge, sinter__manifest_entry_bytes(entry), err));
    SINTER__CHECK(sinter__manifest_entry_copy(&merge->arena, entry, &copy, err));
    assert(merge->count < merge->slot_count / 2);
    merge->entries[merge->count++] = copy;
    *slot = (uint32_t)merge->count;
    merge->slots_used++;
    return SINTER_OK;
}

bool
sinter__manifest_merge_has(const sinter__manifest_merge *merge, const sinter__manifest_entry *entry)
{
    return merge->slot_count > 0 && *find_slot(merge, entry) != 0;
}

bool
sinter__manifest_merge_take(sinter__manifest_merge *merge, const sinter__manifest_entry *entry)
{
    const uint32_t at = merge->slot_count > 0 ? *find_slot(merge, entry) : 0;

    if (at != 0) {
        merge->entries[at - 1] = NULL;
    }
    return at != 0;
}

const sinter__manifest_entry *const *
sinter__manifest_merge_entries(sinter__manifest_merge *merge, size_t *count_out)
{
    close_holes(merge);
    if (merge->slot_count > 0) {
        rebuild(merge);
    }
    *count_out = merge->count;
    return merge->entries;
}

sinter_status
sinter__manifest_merge_check(const sinter__manifest_merge *merge, sinter_error *err)
{
    for (size_t i = 0; i < merge->count; i++) {
        const sinter__manifest_entry *entry = merge->entries[i];

        if (entry != NULL && entry->kind == SINTER__ENTRY_DELETE) {
            return refuse(err, entry, "is deleted but was never added");
        }
    }
    return SINTER_OK;
}
