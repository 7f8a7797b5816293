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
    /* Where each manifest describes what is unknown in its entries, so that these may be written
     * again; several threads read manifests. NULL: lean */
    sinter__arena *keeps;
    size_t keep_count;
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
    sinter__arena *keeps;       /* one a manifest that may be wanted; NULL: nothing is kept */
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
    sinter__arena *keep = self->keeps == NULL ? NULL : &self->keeps[meta - self->list.items];
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_reader *reader = NULL;
    sinter__entry_sieve sieve;
    sinter_text path;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__entry_sieve_init(&sieve, env, self->filter, err));
    sinter_text_init(env, &path);
    SINTER__TRY(manifest_path(self->table, meta->file_name, &path, err));
    SINTER__TRY(sinter__manifest_open(env, path.data, meta, keep, &reader, err));
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

/* How many entries there will be, by what the lists say. */
static size_t
count_expected(const manifests_read *self)
{
    enum { ENTRY_BYTES_MIN = 16 }; /* compressed; what a list says may be anything */
    uint64_t count = 0;

    for (size_t i = 0; i < self->count; i++) {
        const sinter__manifest_meta *meta = &self->list.items[i];
        const uint64_t most = (uint64_t)meta->file_size / ENTRY_BYTES_MIN;
        const int64_t left =
            meta->added_count > meta->deleted_count ? meta->added_count - meta->deleted_count : 0;

        count += (uint64_t)left < most ? (uint64_t)left : most;
    }
    return count < SIZE_MAX ? (size_t)count : SIZE_MAX;
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

/* Have a place for what each manifest describes. */
static sinter_status
begin_keeping(sinter__live_files *files, size_t count, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(files->env, files->keeps, count + 1, err));
    files->keep_count = count;
    for (size_t i = 0; i < count; i++) {
        files->keeps[i].env = files->env;
    }
    return SINTER_OK;
}

static sinter_status
read_all(const sinter_table *table, const sinter_snapshot *snapshot,
         const sinter__entry_filter *filter, sinter__live_files *files,
         sinter__live_files_counters *counters, sinter_error *err)
{
    sinter__manifest_merge *merge = files->merge;
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
    if (!files->is_lean) {
        SINTER__TRY(begin_keeping(files, self->count, err));
        self->keeps = files->keeps;
    }
    if (filter == NULL || (filter->predicate == NULL && filter->bucket < 0)) {
        sinter__manifest_merge_expect(merge, count_expected(self));
    }
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

/* A group of entries: the place of its partition in the order of bytes, then its bucket. Sorting
 * looks at nothing else. */
typedef struct placed_group {
    uint64_t rank;
    size_t number;
} placed_group;

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

/* Put them in the order of one byte of their ranks; the order of equal ones stays. */
static void
sort_by_byte(const placed_group *from, placed_group *to, size_t count, unsigned shift)
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
static placed_group *
sort_placed(placed_group *placed, placed_group *spare, size_t count)
{
    uint64_t differing = 0;

    for (size_t i = 1; i < count; i++) {
        differing |= placed[i].rank ^ placed[0].rank;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((differing >> shift & 0xff) != 0) {
            placed_group *sorted = spare;

            sort_by_byte(placed, sorted, count, shift);
            spare = placed;
            placed = sorted;
        }
    }
    return placed;
}

/* Sort the groups into `placed`, which has room for twice as many, and say where they are then. */
static sinter_status
sort_groups(const sinter__live_files *files, placed_group *placed, const placed_group **out,
            sinter_error *err)
{
    size_t count = 0;
    const sinter__entry_group *groups = sinter__manifest_merge_groups(files->merge, &count);
    numbered_partition *partitions = NULL;
    uint32_t *ranks = NULL; /* of partitions */
    uint32_t partition_count = 0;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(files->env, partitions, count + 1, err));
    SINTER__TRY(SINTER__NEW(files->env, ranks, count + 1, err));
    for (size_t i = 0; i < count; i++) {
        if (groups[i].partition_number == partition_count) { /* the first of its partition */
            partitions[partition_count] =
                (numbered_partition){.bytes = groups[i].partition, .number = partition_count};
            partition_count++;
        }
    }
    if (partition_count > 1) {
        qsort(partitions, partition_count, sizeof *partitions, compare_partitions);
    }
    for (uint32_t i = 0; i < partition_count; i++) {
        ranks[partitions[i].number] = i;
    }
    for (size_t i = 0; i < count; i++) {
        /* With the sign turned, numbers are in order as unsigned ones. */
        const uint32_t bucket = (uint32_t)groups[i].bucket ^ UINT32_C(0x80000000);

        placed[i] = (placed_group){
            .rank = (uint64_t)ranks[groups[i].partition_number] << 32 | bucket, .number = i};
    }
    *out = sort_placed(placed, placed + count, count);
out:
    sinter__free(files->env, partitions);
    sinter__free(files->env, ranks);
    return st;
}

/* Make a bucket of each group that has entries. `ends` has how many, and gets where they begin. */
static void
make_buckets(sinter__live_files *files, const placed_group *sorted, size_t *ends)
{
    size_t count = 0;
    const sinter__entry_group *groups = sinter__manifest_merge_groups(files->merge, &count);
    size_t first = 0;

    for (size_t i = 0; i < count; i++) {
        const sinter__entry_group *group = &groups[sorted[i].number];
        const size_t entries = ends[sorted[i].number];

        ends[sorted[i].number] = first;
        if (entries > 0) {
            files->buckets[files->bucket_count++] =
                (sinter__bucket_files){.partition = group->partition,
                                       .bucket = group->bucket,
                                       .entries = files->is_lean ? NULL : files->entries + first,
                                       .count = entries,
                                       .first = first};
        }
        first += entries;
    }
}

/* Put the entries to where their buckets are, in the order in which they came. */
static void
place_entries(sinter__live_files *files, size_t *ends, size_t count)
{
    sinter__manifest_entry room;

    for (size_t i = 0; i < count; i++) {
        const size_t at = ends[sinter__manifest_merge_group(files->merge, i)]++;

        if (files->is_lean) {
            files->places[at] = (uint32_t)i;
        } else {
            files->entries[at] = sinter__manifest_merge_get(files->merge, i, &room);
        }
    }
    for (size_t b = 0; b < files->bucket_count; b++) {
        sinter__bucket_files *bucket = &files->buckets[b];

        bucket->total_buckets =
            files->is_lean
                ? sinter__manifest_merge_get(files->merge, files->places[bucket->first], &room)
                      ->total_buckets
                : bucket->entries[0]->total_buckets;
    }
}

static sinter_status
sort_entries(sinter__live_files *files, sinter_error *err)
{
    const size_t count = sinter__manifest_merge_count(files->merge);
    const placed_group *sorted = NULL;
    placed_group *placed = NULL;
    size_t *ends = NULL;
    size_t group_count = 0;
    sinter_status st = SINTER_OK;

    (void)sinter__manifest_merge_groups(files->merge, &group_count);
    SINTER__TRY(SINTER__NEW(files->env, placed, 2 * group_count + 1, err));
    SINTER__TRY(SINTER__NEW(files->env, ends, group_count + 1, err));
    SINTER__TRY(SINTER__NEW(files->env, files->buckets, group_count + 1, err));
    if (files->is_lean) {
        SINTER__TRY(sinter__resize(files->env, (void **)&files->places, count + 1,
                                   sizeof *files->places, err));
    } else {
        SINTER__TRY(SINTER__NEW(files->env, files->entries, count + 1, err));
    }
    SINTER__TRY(sort_groups(files, placed, &sorted, err));
    for (size_t i = 0; i < count; i++) {
        ends[sinter__manifest_merge_group(files->merge, i)]++;
    }
    make_buckets(files, sorted, ends);
    place_entries(files, ends, count);
out:
    sinter__free(files->env, placed);
    sinter__free(files->env, ends);
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
    SINTER__TRY(read_all(table, snapshot, filter, files, &counters, err));
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
        for (size_t i = 0; i < files->keep_count; i++) {
            sinter__arena_fini(&files->keeps[i]);
        }
        sinter__free(files->env, files->keeps);
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
