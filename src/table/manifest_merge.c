#include "table/manifest_merge.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

enum {
    SLOTS_MIN = 64,
    ENTRIES_MAX = INT32_MAX,
    EXPECTED_EXTRA_BYTES = 16 /* that an entry may have more than the first one */
};

#define SLOT_HASH (~(uint64_t)UINT32_MAX) /* the part of a slot that is of the hash */

/* What is looked at of an entry without looking at the entry itself. */
typedef struct entry_mark {
    uint64_t hash;
    uint32_t group; /* number */
    int32_t kind;
} entry_mark;

/* A hash table over the entries in their order. What is taken away leaves a hole in the order, and
 * its slot stays for those that were put behind it; both go when the table grows. */
struct sinter__manifest_merge {
    const sinter_env *env;
    sinter__arena arena;
    bool is_lean;
    bool is_pending; /* behind the last entry is another one that isn't compared with them yet */
    /* One of both has the entries; NULL among them: taken away; room for half the slots. */
    const sinter__manifest_entry **entries;
    const sinter__lean_entry **leans;
    entry_mark *marks; /* of them */
    size_t count;      /* holes are among them */
    uint64_t *slots;   /* the upper half of an entry's hash, its number from 1; 0: free */
    size_t slot_count; /* a power of 2 */
    size_t slots_used; /* half of them at most */
    uint64_t reserved_bytes;
    size_t delete_count; /* DELETEs among the entries */
    size_t expected;     /* entries; 0: nobody said */
    sinter__entry_groups groups;
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

static bool
is_gone(const sinter__manifest_merge *self, size_t number)
{
    return self->is_lean ? self->leans[number] == NULL : self->entries[number] == NULL;
}

/** An entry that is there; a lean one comes into `room`. */
static const sinter__manifest_entry *
get_entry(const sinter__manifest_merge *self, size_t number, sinter__manifest_entry *room)
{
    if (self->is_lean) {
        sinter__lean_entry_get(self->leans[number], &self->groups.items[self->marks[number].group],
                               room);
        return room;
    }
    return self->entries[number];
}

/** Names are as good as unique; level and bucket tell the rest apart, but for what is odd. */
static uint64_t
hash_of(const sinter__manifest_entry *entry)
{
    const uint64_t seed = (uint64_t)(uint32_t)entry->bucket << 32 | (uint32_t)entry->file.level;

    return sinter__hash_seeded(entry->file.file_name.data, entry->file.file_name.size, seed);
}

/** What the slot of an entry has; its number is the lower half. */
static uint64_t
slot_of(uint64_t hash, size_t number)
{
    return (hash & SLOT_HASH) | ((uint64_t)number + 1);
}

/* The number of the entry in a slot that isn't free. */
static size_t
number_of(uint64_t slot)
{
    return (size_t)(uint32_t)slot - 1;
}

/** The slot of the entry that is the same, or the free one where it would be. `entry` NULL: the one
 *  that is pending. */
static uint64_t *
find_slot(const sinter__manifest_merge *self, const sinter__manifest_entry *entry, uint64_t hash)
{
    size_t at = (size_t)hash & (self->slot_count - 1);
    sinter__manifest_entry pending;
    sinter__manifest_entry room;

    while (self->slots[at] != 0) {
        const size_t number = number_of(self->slots[at]);

        if (((self->slots[at] ^ hash) & SLOT_HASH) == 0 && !is_gone(self, number)) {
            entry = entry == NULL ? get_entry(self, self->count, &pending) : entry;
            if (sinter__manifest_entry_is_same(get_entry(self, number, &room), entry)) {
                break;
            }
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

/** Close the holes of the order; numbers of entries are others then. Were there any? */
static bool
close_holes(sinter__manifest_merge *self)
{
    const size_t count = self->count;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_gone(self, i)) {
            continue;
        }
        self->marks[kept] = self->marks[i];
        if (self->is_lean) {
            self->leans[kept++] = self->leans[i];
        } else {
            self->entries[kept++] = self->entries[i];
        }
    }
    self->count = kept;
    return kept < count;
}

/** Put all entries into the slots again: no two are the same. */
static void
rebuild(sinter__manifest_merge *self)
{
    memset(self->slots, 0, self->slot_count * sizeof *self->slots);
    self->slots_used = self->count;
    for (size_t i = 0; i < self->count; i++) {
        size_t at = (size_t)self->marks[i].hash & (self->slot_count - 1);

        while (self->slots[at] != 0) {
            at = (at + 1) & (self->slot_count - 1);
        }
        self->slots[at] = slot_of(self->marks[i].hash, i);
    }
}

static size_t
count_live(const sinter__manifest_merge *self)
{
    size_t live = 0;

    for (size_t i = 0; i < self->count; i++) {
        live += !is_gone(self, i);
    }
    return live;
}

/** Have that many slots, and places for half as many entries; nothing has changed after a failure.
 */
static sinter_status
grow(sinter__manifest_merge *self, size_t slot_count, sinter_error *err)
{
    const size_t places = slot_count / 2; /* for entries: slots are half used at most */
    const size_t place_bytes = sizeof *self->entries + sizeof *self->marks;
    uint64_t *slots = NULL;

    SINTER__CHECK(
        reserve(self, (slot_count - self->slot_count) * (sizeof *slots + place_bytes / 2), err));
    SINTER__CHECK(self->is_lean ? sinter__resize(self->env, (void **)&self->leans, places,
                                                 sizeof *self->leans, err)
                                : sinter__resize(self->env, (void **)&self->entries, places,
                                                 sizeof *self->entries, err));
    SINTER__CHECK(
        sinter__resize(self->env, (void **)&self->marks, places, sizeof *self->marks, err));
    SINTER__CHECK(SINTER__NEW(self->env, slots, slot_count, err));
    sinter__free(self->env, self->slots);
    self->slots = slots;
    self->slot_count = slot_count;
    return SINTER_OK;
}

/** Have room for one more entry and its slot; nothing has changed after a failure. */
static sinter_status
make_room(sinter__manifest_merge *self, sinter_error *err)
{
    const size_t live = self->slots_used < self->slot_count / 2 ? 0 : count_live(self);
    size_t slot_count = SLOTS_MIN;

    if (self->slots_used < self->slot_count / 2) {
        return SINTER_OK;
    }
    if (live == ENTRIES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "more than %d files", ENTRIES_MAX);
    }
    while (slot_count < 4 * live) {
        slot_count *= 2;
    }
    if (slot_count > self->slot_count) {
        SINTER__CHECK(grow(self, slot_count, err));
    }
    (void)close_holes(self);
    rebuild(self);
    return SINTER_OK;
}

/* ---- for others ---- */

sinter_status
sinter__manifest_merge_create(const sinter_env *env, sinter__manifest_merge **out,
                              sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(env, *out, 1, err));
    (*out)->env = env;
    (*out)->arena.env = env;
    (*out)->groups = (sinter__entry_groups){.env = env, .arena.env = env};
    return SINTER_OK;
}

sinter_status
sinter__manifest_merge_create_lean(const sinter_env *env, sinter__manifest_merge **out,
                                   sinter_error *err)
{
    SINTER__CHECK(sinter__manifest_merge_create(env, out, err));
    (*out)->is_lean = true;
    return SINTER_OK;
}

void
sinter__manifest_merge_expect(sinter__manifest_merge *merge, size_t count)
{
    size_t slot_count = SLOTS_MIN;

    assert(merge->count == 0);
    while (slot_count / 2 < count && slot_count < (size_t)ENTRIES_MAX) {
        slot_count *= 2;
    }
    if (slot_count > merge->slot_count && grow(merge, slot_count, NULL) == SINTER_OK) {
        merge->expected = count;
    }
}

void
sinter__manifest_merge_destroy(sinter__manifest_merge *merge)
{
    if (merge != NULL) {
        sinter_memory_release(merge->env->memory, merge->reserved_bytes);
        sinter__arena_fini(&merge->arena);
        sinter__free(merge->env, merge->slots);
        sinter__free(merge->env, merge->marks);
        sinter__entry_groups_fini(&merge->groups);
        sinter__free(merge->env, merge->entries);
        sinter__free(merge->env, merge->leans);
        sinter__free(merge->env, merge);
    }
}

static void
take_away(sinter__manifest_merge *self, size_t number)
{
    self->delete_count -= self->marks[number].kind == SINTER__ENTRY_DELETE;
    if (self->is_lean) {
        self->leans[number] = NULL;
    } else {
        self->entries[number] = NULL;
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

/** Bytes of all entries, by those of the first one. */
static size_t
bytes_expected(size_t count, size_t first_bytes)
{
    size_t bytes = 0;

    return __builtin_mul_overflow(count, first_bytes + EXPECTED_EXTRA_BYTES, &bytes) ? SIZE_MAX
                                                                                     : bytes;
}

/** Copy an entry to the place behind the last one, which it isn't yet. */
static sinter_status
keep(sinter__manifest_merge *self, const sinter__manifest_entry *entry, entry_mark mark,
     sinter_error *err)
{
    assert(self->count < self->slot_count / 2);
    SINTER__CHECK(sinter__entry_groups_number(
        &self->groups, entry->partition, entry->bucket,
        self->count > 0 ? self->marks[self->count - 1].group : 0, &mark.group, err));
    if (self->is_lean) {
        const size_t bytes = sinter__lean_entry_bytes(entry);

        SINTER__CHECK(reserve(self, bytes, err));
        if (self->expected > 0 && self->arena.chunks == NULL) { /* entries are much alike */
            sinter__arena_expect(&self->arena, bytes_expected(self->expected, bytes));
        }
        SINTER__CHECK(
            sinter__lean_entry_create(&self->arena, entry, &self->leans[self->count], err));
    } else {
        SINTER__CHECK(reserve(self, sinter__manifest_entry_bytes(entry), err));
        SINTER__CHECK(
            sinter__manifest_entry_copy(&self->arena, entry, &self->entries[self->count], err));
    }
    self->marks[self->count] = mark;
    return SINTER_OK;
}

static sinter_status
refuse_added(const sinter__manifest_merge *self, size_t number, const sinter__manifest_entry *entry,
             sinter_error *err)
{
    return refuse(err, entry,
                  self->marks[number].kind == SINTER__ENTRY_ADD ? "is already added"
                                                                : "is added after it was deleted");
}

/** Give the entry behind the last one its place. */
static void
place_last(sinter__manifest_merge *self, uint64_t *slot, bool is_delete)
{
    self->delete_count += is_delete;
    *slot = slot_of(self->marks[self->count].hash, self->count);
    self->count++;
    self->slots_used++;
}

sinter_status
sinter__manifest_merge_settle(sinter__manifest_merge *merge, sinter_error *err)
{
    sinter__manifest_entry room;
    uint64_t *slot = NULL;

    if (!merge->is_pending) {
        return SINTER_OK;
    }
    slot = find_slot(merge, NULL, merge->marks[merge->count].hash);
    merge->is_pending = false;
    if (*slot != 0) {
        return refuse_added(merge, number_of(*slot), get_entry(merge, merge->count, &room), err);
    }
    place_last(merge, slot, false);
    return SINTER_OK;
}

/* The slot is asked for early and looked at late: in large tables it is far away. An ADD is copied
 * meanwhile, as nearly all of them stay; a lean merge looks when the next entry has come. */
sinter_status
sinter__manifest_merge_add(sinter__manifest_merge *merge, const sinter__manifest_entry *entry,
                           sinter_error *err)
{
    const entry_mark mark = {.hash = hash_of(entry), .kind = entry->kind};
    const bool is_delete = entry->kind == SINTER__ENTRY_DELETE;
    uint64_t *slot = NULL;

    SINTER__CHECK(sinter__manifest_merge_settle(merge, err));
    SINTER__CHECK(make_room(merge, err));
    __builtin_prefetch(&merge->slots[mark.hash & (merge->slot_count - 1)]);
    if (!is_delete) {
        SINTER__CHECK(keep(merge, entry, mark, err));
        merge->is_pending = merge->is_lean;
    }
    if (merge->is_pending) {
        return SINTER_OK;
    }
    slot = find_slot(merge, entry, mark.hash);
    if (*slot != 0) {
        if (!is_delete) {
            return refuse_added(merge, number_of(*slot), entry, err);
        }
        take_away(merge, number_of(*slot));
        return SINTER_OK;
    }
    if (is_delete) {
        SINTER__CHECK(keep(merge, entry, mark, err));
    }
    place_last(merge, slot, is_delete);
    return SINTER_OK;
}

bool
sinter__manifest_merge_has(const sinter__manifest_merge *merge, const sinter__manifest_entry *entry)
{
    assert(!merge->is_pending);
    return merge->slot_count > 0 && *find_slot(merge, entry, hash_of(entry)) != 0;
}

bool
sinter__manifest_merge_take(sinter__manifest_merge *merge, const sinter__manifest_entry *entry)
{
    const uint64_t slot = merge->slot_count > 0 ? *find_slot(merge, entry, hash_of(entry)) : 0;

    assert(!merge->is_pending);
    if (slot != 0) {
        take_away(merge, number_of(slot));
    }
    return slot != 0;
}

size_t
sinter__manifest_merge_count(sinter__manifest_merge *merge)
{
    assert(!merge->is_pending);
    if (close_holes(merge)) {
        rebuild(merge);
    }
    return merge->count;
}

const sinter__manifest_entry *const *
sinter__manifest_merge_entries(sinter__manifest_merge *merge, size_t *count_out)
{
    assert(!merge->is_lean);
    *count_out = sinter__manifest_merge_count(merge);
    return merge->entries;
}

const sinter__manifest_entry *
sinter__manifest_merge_get(const sinter__manifest_merge *merge, size_t number,
                           sinter__manifest_entry *room)
{
    assert(number < merge->count);
    return get_entry(merge, number, room);
}

sinter_status
sinter__manifest_merge_check(sinter__manifest_merge *merge, sinter_error *err)
{
    sinter__manifest_entry room;

    SINTER__CHECK(sinter__manifest_merge_settle(merge, err));
    for (size_t i = 0; merge->delete_count > 0 && i < merge->count; i++) {
        if (!is_gone(merge, i) && merge->marks[i].kind == SINTER__ENTRY_DELETE) {
            return refuse(err, get_entry(merge, i, &room), "is deleted but was never added");
        }
    }
    return SINTER_OK;
}

uint32_t
sinter__manifest_merge_group(const sinter__manifest_merge *merge, size_t number)
{
    assert(number < merge->count);
    return merge->marks[number].group;
}

const sinter__entry_group *
sinter__manifest_merge_groups(const sinter__manifest_merge *merge, size_t *count_out)
{
    *count_out = merge->groups.count;
    return merge->groups.items;
}
