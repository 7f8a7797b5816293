#include "table/live_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/fan_out.h"
#include "doc/text.h"
#include "table/manifest.h"
#include "table/manifest_list.h"
#include "table/manifest_merge.h"
#include "table/table.h"

struct sinter__live_files {
    const sinter_env *env;
    sinter__manifest_merge *merge;
    bool is_lean;
    const sinter__manifest_entry **entries; /* sorted by bucket; NULL: lean */
    uint32_t *places;                       /* lean: in the merge, sorted by bucket */
    sinter__bucket_files *buckets;
    size_t bucket_count;
};

/* ---- reading ---- */

/* Manifests of one window are read side by side, each into memory of its own, and merged in their
 * order. A window is small, so that what waits to be merged is. */
enum { WINDOW_MAX = 16, WINDOW_BYTES_MAX = 8 << 20, ENTRIES_FIRST = 64 };

/* A manifest that is read on its own. */
typedef struct manifest_load {
    const sinter__manifest_meta *meta;
    sinter__arena arena; /* of the entries */
    const sinter__manifest_entry **entries;
    size_t count;
    size_t capacity;
    uint64_t reserved_bytes;
    bool drops_stats;
    sinter_status st;
    sinter_error err;
} manifest_load;

/* A read of all manifests. */
typedef struct manifests_read {
    const sinter_table *table;
    const sinter__entry_filter *filter;
    sinter__manifest_merge *merge;
    sinter__manifest_list list; /* of base and delta */
    size_t count;               /* of those that may be wanted, which stand first */
    manifest_load loads[WINDOW_MAX];
} manifests_read;

static bool
drops_stats(const sinter__entry_filter *filter)
{
    return filter != NULL && filter->drops_stats;
}

static sinter_status
manifest_path(const sinter_table *table, sinter_bytes name, sinter_text *out, sinter_error *err)
{
    sinter_text_reset(out);
    SINTER__CHECK(sinter__text_puts(out, table->root, err));
    SINTER__CHECK(sinter__text_puts(out, "/manifest/", err));
    return sinter_text_append(out, name.data, name.size, err);
}

static sinter_status
read_list(manifests_read *self, const sinter_list_file *file, sinter_error *err)
{
    const sinter_bytes name = {(const uint8_t *)file->name, strlen(file->name)};
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->table->env, &path);
    SINTER__TRY(manifest_path(self->table, name, &path, err));
    SINTER__TRY(sinter__manifest_list_read(self->table->env, path.data,
                                           file->size_bytes > 0 ? (uint64_t)file->size_bytes : 0,
                                           &self->list, err));
out:
    sinter_text_fini(&path);
    return st;
}

/* Give the entries of a manifest that are wanted to `take`. */
static sinter_status
each_entry(const manifests_read *self, const sinter__manifest_meta *meta,
           sinter_status (*take)(void *ctx, const sinter__manifest_entry *, sinter_error *),
           void *ctx, sinter_error *err)
{
    const sinter_env *env = self->table->env;
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_reader *reader = NULL;
    sinter__entry_sieve sieve;
    sinter_text path;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__entry_sieve_init(&sieve, env, self->filter, err));
    sinter_text_init(env, &path);
    SINTER__TRY(manifest_path(self->table, meta->file_name, &path, err));
    SINTER__TRY(sinter__manifest_open(env, path.data, meta, NULL, &reader, err));
    while ((st = sinter__manifest_next(reader, &entry, err)) == SINTER_OK) {
        if (sinter__entry_sieve_takes(&sieve, entry)) {
            SINTER__TRY(take(ctx, entry, err));
        }
    }
    if (st == SINTER_END) {
        st = SINTER_OK;
    }
out:
    sinter__manifest_close(reader);
    sinter_text_fini(&path);
    sinter__entry_sieve_fini(&sieve);
    return st;
}

/* ---- one after the other ---- */

static sinter_status
take_into_merge(void *ctx, const sinter__manifest_entry *entry, sinter_error *err)
{
    return sinter__manifest_merge_add(ctx, entry, err);
}

static sinter_status
read_in_order(const manifests_read *self, size_t first, size_t count, sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(
            each_entry(self, &self->list.items[first + i], take_into_merge, self->merge, err));
    }
    return SINTER_OK;
}

/* ---- side by side ---- */

static sinter_status
take_into_load(void *ctx, const sinter__manifest_entry *entry, sinter_error *err)
{
    manifest_load *load = ctx;
    const sinter_env *env = load->arena.env;
    sinter__manifest_entry bare;
    uint64_t bytes = 0;

    if (load->drops_stats) {
        entry = sinter__manifest_entry_bare(entry, &bare);
    }
    bytes = sinter__manifest_entry_bytes(entry);
    SINTER__CHECK(sinter_memory_reserve(env->memory, bytes, err));
    load->reserved_bytes += bytes;
    if (load->count == load->capacity) {
        const size_t wanted = load->capacity == 0 ? ENTRIES_FIRST : 2 * load->capacity;

        SINTER__CHECK(
            sinter__resize(env, (void **)&load->entries, wanted, sizeof *load->entries, err));
        load->capacity = wanted;
    }
    SINTER__CHECK(
        sinter__manifest_entry_copy(&load->arena, entry, &load->entries[load->count], err));
    load->count++;
    return SINTER_OK;
}

static void
read_load(void *ctx, size_t index)
{
    manifests_read *self = ctx;
    manifest_load *load = &self->loads[index];

    load->st = each_entry(self, load->meta, take_into_load, load, &load->err);
}

static void
release_load(manifest_load *load)
{
    const sinter_env *env = load->arena.env;

    sinter_memory_release(env->memory, load->reserved_bytes);
    sinter__arena_fini(&load->arena);
    sinter__free(env, load->entries);
}

/* Merge what was read, in order; what failed comes behind the entries before it, as if manifests
 * had been read one after the other. */
static sinter_status
merge_loads(manifests_read *self, size_t count, sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const manifest_load *load = &self->loads[i];

        for (size_t e = 0; e < load->count; e++) {
            SINTER__CHECK(sinter__manifest_merge_add(self->merge, load->entries[e], err));
        }
        if (load->st != SINTER_OK) {
            if (err != NULL) {
                *err = load->err;
            }
            return load->st;
        }
    }
    return SINTER_OK;
}

/* Does memory not suffice to have them all at once? */
static bool
lacks_memory(const manifests_read *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (self->loads[i].st == SINTER_E_TOO_LARGE || self->loads[i].st == SINTER_E_NOMEM) {
            return true;
        }
    }
    return false;
}

static sinter_status
read_window(manifests_read *self, size_t first, size_t count, sinter_error *err)
{
    bool is_too_much = false;
    sinter_status st = SINTER_OK;

    if (count < 2 || self->table->env->executor.submit == NULL) {
        return read_in_order(self, first, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        self->loads[i] = (manifest_load){.meta = &self->list.items[first + i],
                                         .arena.env = self->table->env,
                                         .drops_stats = drops_stats(self->filter),
                                         .err = SINTER_ERROR_INIT};
    }
    sinter__fan_out(self->table->env, count, read_load, self);
    is_too_much = lacks_memory(self, count);
    if (!is_too_much) {
        st = merge_loads(self, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        release_load(&self->loads[i]);
    }
    return is_too_much ? read_in_order(self, first, count, err) : st;
}

/* ---- all ---- */

/* Put the manifests that may be wanted in front, in their order. */
static sinter_status
choose_manifests(manifests_read *self, sinter_error *err)
{
    sinter__entry_sieve sieve;

    SINTER__CHECK(sinter__entry_sieve_init(&sieve, self->table->env, self->filter, err));
    for (size_t i = 0; i < self->list.count; i++) {
        if (sinter__entry_sieve_takes_manifest(&sieve, &self->list.items[i])) {
            self->list.items[self->count++] = self->list.items[i];
        }
    }
    sinter__entry_sieve_fini(&sieve);
    return SINTER_OK;
}

static sinter_status
read_manifests(manifests_read *self, sinter_error *err)
{
    size_t first = 0;

    while (first < self->count) {
        uint64_t bytes = (uint64_t)self->list.items[first].file_size;
        size_t count = 1;

        while (count < WINDOW_MAX && first + count < self->count &&
               bytes + (uint64_t)self->list.items[first + count].file_size <= WINDOW_BYTES_MAX) {
            bytes += (uint64_t)self->list.items[first + count].file_size;
            count++;
        }
        SINTER__CHECK(read_window(self, first, count, err));
        first += count;
    }
    return SINTER_OK;
}

static sinter_status
read_all(const sinter_table *table, const sinter_snapshot *snapshot,
         const sinter__entry_filter *filter, sinter__manifest_merge *merge,
         sinter__live_files_counters *counters, sinter_error *err)
{
    manifests_read *self = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(SINTER__NEW(table->env, self, 1, err));
    self->table = table;
    self->filter = filter;
    self->merge = merge;
    self->list.arena.env = table->env;
    SINTER__TRY(read_list(self, &snapshot->base, err));
    SINTER__TRY(read_list(self, &snapshot->delta, err));
    SINTER__TRY(choose_manifests(self, err));
    counters->manifests_read = self->count;
    counters->manifests_skipped = self->list.count - self->count;
    SINTER__TRY(read_manifests(self, err));
    SINTER__TRY(sinter__manifest_merge_check(merge, err));
out:
    sinter__manifest_list_fini(&self->list);
    sinter__free(table->env, self);
    return st;
}

/* ---- by bucket ---- */

/* Where an entry belongs: the place of its partition in the order of bytes, then its bucket, and
 * where the entry stands. Sorting looks at nothing else. */
typedef struct placed_entry {
    uint64_t rank;
    size_t place;
} placed_entry;

/* A partition and its number. */
typedef struct numbered_partition {
    sinter_bytes bytes;
    uint32_t number;
} numbered_partition;

static int
compare_partitions(const void *a, const void *b)
{
    return sinter__key_compare(((const numbered_partition *)a)->bytes,
                               ((const numbered_partition *)b)->bytes);
}

/* Find the place of each partition in their order, by its number. */
static sinter_status
rank_partitions(const sinter__live_files *files, uint32_t **out, sinter_error *err)
{
    numbered_partition *sorted = NULL;
    size_t count = 0;
    const sinter_bytes *partitions = sinter__manifest_merge_partitions(files->merge, &count);
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(files->env, sorted, count + 1, err));
    SINTER__TRY(SINTER__NEW(files->env, *out, count + 1, err));
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (numbered_partition){.bytes = partitions[i], .number = (uint32_t)i};
    }
    if (count > 1) {
        qsort(sorted, count, sizeof *sorted, compare_partitions);
    }
    for (size_t i = 0; i < count; i++) {
        (*out)[sorted[i].number] = (uint32_t)i;
    }
out:
    sinter__free(files->env, sorted);
    return st;
}

/* Put them in the order of one byte of their ranks; the order of equal ones stays. */
static void
sort_by_byte(const placed_entry *from, placed_entry *to, size_t count, unsigned shift)
{
    size_t ends[256] = {0};

    for (size_t i = 0; i < count; i++) {
        ends[from[i].rank >> shift & 0xff]++;
    }
    for (size_t b = 1; b < 256; b++) {
        ends[b] += ends[b - 1];
    }
    for (size_t i = count; i > 0; i--) {
        to[--ends[from[i - 1].rank >> shift & 0xff]] = from[i - 1];
    }
}

/* Sort by rank: byte after byte, from the lowest, where not all are the same. @return which of both
 * arrays has the result */
static placed_entry *
sort_placed(placed_entry *placed, placed_entry *spare, size_t count)
{
    uint64_t differing = 0;

    for (size_t i = 1; i < count; i++) {
        differing |= placed[i].rank ^ placed[0].rank;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((differing >> shift & 0xff) != 0) {
            placed_entry *sorted = spare;

            sort_by_byte(placed, sorted, count, shift);
            spare = placed;
            placed = sorted;
        }
    }
    return placed;
}

static bool
are_in_order(const placed_entry *placed, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (placed[i].rank < placed[i - 1].rank) {
            return false;
        }
    }
    return true;
}

static void
group_entries(sinter__live_files *files, const placed_entry *placed, size_t count)
{
    sinter__bucket_files *bucket = NULL;
    sinter__manifest_entry room;

    for (size_t i = 0; i < count; i++) {
        if (files->is_lean) {
            files->places[i] = (uint32_t)placed[i].place;
        } else {
            files->entries[i] = sinter__manifest_merge_get(files->merge, placed[i].place, &room);
        }
        if (i == 0 || placed[i].rank != placed[i - 1].rank) {
            const sinter__manifest_entry *first =
                sinter__manifest_merge_get(files->merge, placed[i].place, &room);

            bucket = &files->buckets[files->bucket_count++];
            *bucket = (sinter__bucket_files){.partition = first->partition,
                                             .bucket = first->bucket,
                                             .total_buckets = first->total_buckets,
                                             .entries = files->is_lean ? NULL : files->entries + i,
                                             .first = i};
        }
        bucket->count++;
    }
}

static size_t
count_ranks(const placed_entry *placed, size_t count)
{
    size_t ranks = 0;

    for (size_t i = 0; i < count; i++) {
        ranks += i == 0 || placed[i].rank != placed[i - 1].rank ? 1 : 0;
    }
    return ranks;
}

/* Where the entries belong, in the order in which they came. */
static void
place_entries(const sinter__live_files *files, const uint32_t *ranks, placed_entry *placed,
              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t rank = ranks[sinter__manifest_merge_partition(files->merge, i)];
        /* With the sign turned, numbers are in order as unsigned ones. */
        const uint32_t bucket =
            (uint32_t)sinter__manifest_merge_bucket(files->merge, i) ^ UINT32_C(0x80000000);

        placed[i] = (placed_entry){.rank = rank << 32 | bucket, .place = i};
    }
}

static sinter_status
sort_entries(sinter__live_files *files, sinter_error *err)
{
    const size_t count = sinter__manifest_merge_count(files->merge);
    const placed_entry *sorted = NULL;
    placed_entry *placed = NULL;
    placed_entry *spare = NULL;
    uint32_t *ranks = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(rank_partitions(files, &ranks, err));
    if (files->is_lean) {
        SINTER__TRY(SINTER__NEW(files->env, files->places, count + 1, err));
    } else {
        SINTER__TRY(SINTER__NEW(files->env, files->entries, count + 1, err));
    }
    SINTER__TRY(SINTER__NEW(files->env, placed, count + 1, err));
    place_entries(files, ranks, placed, count);
    sorted = placed;
    if (!are_in_order(placed, count)) {
        SINTER__TRY(SINTER__NEW(files->env, spare, count + 1, err));
        sorted = sort_placed(placed, spare, count);
    }
    SINTER__TRY(SINTER__NEW(files->env, files->buckets, count_ranks(sorted, count) + 1, err));
    group_entries(files, sorted, count);
out:
    sinter__free(files->env, ranks);
    sinter__free(files->env, placed);
    sinter__free(files->env, spare);
    return st;
}

sinter_status
sinter__live_files_read_some(const sinter_table *table, const sinter_snapshot *snapshot,
                             const sinter__entry_filter *filter, sinter__live_files **out,
                             sinter__live_files_counters *counters_out, sinter_error *err)
{
    sinter__live_files_counters counters = {0};
    sinter__live_files *files = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(table->env, files, 1, err));
    files->env = table->env;
    files->is_lean = drops_stats(filter);
    SINTER__TRY(files->is_lean ? sinter__manifest_merge_create_lean(table->env, &files->merge, err)
                               : sinter__manifest_merge_create(table->env, &files->merge, err));
    SINTER__TRY(read_all(table, snapshot, filter, files->merge, &counters, err));
    SINTER__TRY(sort_entries(files, err));
    *out = files;
    files = NULL;
out:
    if (counters_out != NULL) {
        *counters_out = counters;
    }
    sinter__live_files_destroy(files);
    return st;
}

sinter_status
sinter__live_files_read(const sinter_table *table, const sinter_snapshot *snapshot,
                        sinter__live_files **out, sinter_error *err)
{
    return sinter__live_files_read_some(table, snapshot, NULL, out, NULL, err);
}

void
sinter__live_files_destroy(sinter__live_files *files)
{
    if (files != NULL) {
        sinter__manifest_merge_destroy(files->merge);
        sinter__free(files->env, files->entries);
        sinter__free(files->env, files->places);
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

sinter_status
sinter__live_files_unfold(const sinter__live_files *files, const sinter__bucket_files *bucket,
                          sinter__scratch *room, sinter__bucket_files *out, sinter_error *err)
{
    const sinter__manifest_entry **pointers = NULL;
    sinter__manifest_entry *entries = NULL;
    size_t bytes = 0;

    *out = *bucket;
    if (!files->is_lean) {
        return SINTER_OK;
    }
    if (__builtin_mul_overflow(bucket->count, sizeof *entries + sizeof *pointers, &bytes)) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a bucket of %zu files", bucket->count);
    }
    SINTER__CHECK(sinter__scratch_fit(files->env, room, bytes, err));
    entries = (sinter__manifest_entry *)(void *)room->data;
    pointers = (const sinter__manifest_entry **)(void *)(entries + bucket->count);
    for (size_t i = 0; i < bucket->count; i++) {
        pointers[i] =
            sinter__manifest_merge_get(files->merge, files->places[bucket->first + i], &entries[i]);
    }
    out->entries = pointers;
    return SINTER_OK;
}
