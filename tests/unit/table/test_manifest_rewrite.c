#include "table/manifest_rewrite.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commit_bed.h"
#include "manifest_bed.h"

TestSuite(table_manifest_rewrite, .timeout = 60);

/** An entry as the model has it. */
typedef struct item {
    int32_t kind;
    int32_t partition;
    int32_t level;
    uint32_t file;
} item;

enum { ITEMS_MAX = 256, MANIFESTS_MAX = 40 };

typedef struct items {
    item all[ITEMS_MAX];
    size_t count;
} items;

/** What merges need, over a table in memory. */
typedef struct bed {
    commit_bed commit;
    sinter_schema schema;
    sinter__table_options options;
    sinter__partitions partitions;
    sinter__new_meta meta;
    sinter__manifest_list list; /* inputs */
    items model[MANIFESTS_MAX]; /* the same */
} bed;

static void
bed_begin(bed *b)
{
    memset(b, 0, sizeof *b);
    commit_bed_init(&b->commit, NULL, "\"bucket\":\"2\"");
    commit_bed_open(&b->commit);
    (void)b->commit.place.memory->ops->mkdir(b->commit.place.memory, "t/manifest", NULL);
    cr_assert_eq(
        sinter__table_options_load(sinter_table_schema(b->commit.table), &b->options, NULL),
        SINTER_OK);
    b->partitions.arena.env = &b->commit.env;
    cr_assert_eq(sinter__partitions_init(&b->partitions, sinter_table_schema(b->commit.table),
                                         &b->options, NULL),
                 SINTER_OK);
    b->list.arena.env = &b->commit.env;
    b->meta = (sinter__new_meta){
        .arena.env = &b->commit.env, .table = b->commit.table, .partitions = &b->partitions};
    cr_assert_eq(sinter__new_meta_init(&b->meta, NULL), SINTER_OK);
}

static void
bed_end(bed *b)
{
    sinter__manifest_list_fini(&b->list);
    sinter__new_meta_fini(&b->meta);
    sinter__partitions_fini(&b->partitions);
    commit_bed_fini(&b->commit);
}

static const sinter__manifest_entry *
entry_of(bed *b, const item *from)
{
    char *name = NULL;

    cr_assert_eq(sinter__arena_take(&b->commit.arena, 16, (void **)&name, NULL), SINTER_OK);
    (void)snprintf(name, 16, "f%u", from->file);
    return commit_bed_entry(
        &b->commit, from->kind,
        &(bed_file){.name = name, .partition = from->partition, .level = from->level});
}

/** Write a manifest of these entries, behind the others. */
static void
add_manifest(bed *b, const items *all)
{
    const sinter__manifest_entry *entries[ITEMS_MAX];

    for (size_t i = 0; i < all->count; i++) {
        entries[i] = entry_of(b, &all->all[i]);
    }
    b->model[b->list.count] = *all;
    cr_assert_eq(sinter__new_meta_manifests(&b->meta, entries, all->count, &b->list, NULL),
                 SINTER_OK);
}

/** The entries of a manifest. */
static items
read_manifest(bed *b, const sinter__manifest_meta *meta)
{
    sinter__manifest_reader *reader = NULL;
    const sinter__manifest_entry *entry = NULL;
    items all = {.count = 0};
    char path[160];

    (void)snprintf(path, sizeof path, "t/manifest/%.*s", (int)meta->file_name.size,
                   (const char *)meta->file_name.data);
    cr_assert_eq(sinter__manifest_open(&b->commit.env, path, meta, NULL, &reader, NULL), SINTER_OK);
    while (sinter__manifest_next(reader, &entry, NULL) == SINTER_OK) {
        char name[16];

        (void)snprintf(name, sizeof name, "%.*s", (int)entry->file.file_name.size,
                       (const char *)entry->file.file_name.data);
        cr_assert_lt(all.count, ITEMS_MAX);
        all.all[all.count++] = (item){entry->kind, entry->partition.data[12], entry->file.level,
                                      (uint32_t)atoi(name + 1)};
    }
    sinter__manifest_close(reader);
    return all;
}

/* ---- the model ---- */

static bool
is_same(const item *a, const item *b)
{
    return a->file == b->file && a->level == b->level && a->partition == b->partition;
}

/** Merge one more entry, as table-layout.md 6.3 says. */
static void
merge_item(items *into, const item *next)
{
    size_t i = 0;

    while (i < into->count && !is_same(&into->all[i], next)) {
        i++;
    }
    if (i == into->count) {
        into->all[into->count++] = *next;
    } else {
        cr_assert_eq(next->kind, SINTER__ENTRY_DELETE, "the history is wrong");
        memmove(&into->all[i], &into->all[i + 1], (into->count - i - 1) * sizeof into->all[0]);
        into->count--;
    }
}

static int
compare_items(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(item));
}

static items
merge_all(const items *manifests, size_t count)
{
    items merged = {.count = 0};

    for (size_t m = 0; m < count; m++) {
        for (size_t i = 0; i < manifests[m].count; i++) {
            merge_item(&merged, &manifests[m].all[i]);
        }
    }
    qsort(merged.all, merged.count, sizeof merged.all[0], compare_items);
    return merged;
}

static bool
has_partition(const items *all, int32_t partition)
{
    int32_t min = INT32_MAX;
    int32_t max = INT32_MIN;

    for (size_t i = 0; i < all->count; i++) {
        min = all->all[i].partition < min ? all->all[i].partition : min;
        max = all->all[i].partition > max ? all->all[i].partition : max;
    }
    return partition >= min && partition <= max;
}

/** Which inputs a full merge keeps; false: there is none. */
static bool
full_model(const bed *b, const sinter__manifest_limits *limits, bool kept[MANIFESTS_MAX])
{
    const size_t count = b->list.count;
    uint64_t bytes = 0;
    size_t candidates = 0;

    for (size_t m = 0; m < count; m++) {
        const sinter__manifest_meta *meta = &b->list.items[m];

        bytes += meta->deleted_count > 0 || (uint64_t)meta->file_size < limits->target_bytes
                     ? (uint64_t)meta->file_size
                     : 0;
    }
    if (bytes < limits->full_bytes) {
        return false;
    }
    for (size_t m = 0; m < count; m++) {
        const sinter__manifest_meta *meta = &b->list.items[m];
        const bool must =
            meta->deleted_count > 0 || (uint64_t)meta->file_size < limits->target_bytes;
        bool is_candidate = must;
        bool has_deleted = false;

        for (size_t d = 0; d < count; d++) {
            for (size_t i = 0; i < b->model[d].count; i++) {
                const item *deleted = &b->model[d].all[i];

                if (deleted->kind != SINTER__ENTRY_DELETE) {
                    continue;
                }
                is_candidate = is_candidate || has_partition(&b->model[m], deleted->partition);
                for (size_t j = 0; j < b->model[m].count; j++) {
                    has_deleted = has_deleted || (b->model[m].all[j].kind == SINTER__ENTRY_ADD &&
                                                  is_same(&b->model[m].all[j], deleted));
                }
            }
        }
        candidates += is_candidate;
        kept[m] = !is_candidate || (!must && !has_deleted);
    }
    return candidates >= 2;
}

static bool
is_input(const bed *b, size_t m, const sinter__manifest_meta *meta)
{
    return bed_is_equal_bytes(b->list.items[m].file_name, meta->file_name);
}

static void
check_full(bed *b, const bool kept[MANIFESTS_MAX], const sinter__manifest_list *out)
{
    size_t at = 0;

    for (size_t m = 0; m < b->list.count; m++) {
        if (kept[m]) {
            cr_assert_lt(at, out->count);
            cr_expect(is_input(b, m, &out->items[at++]), "manifest %zu is kept", m);
        }
    }
    for (; at < out->count; at++) {
        cr_expect_eq(out->items[at].deleted_count, 0, "a full merge leaves no DELETE");
    }
}

/** Check groups against the outputs; gives where the outputs of the group end. */
static size_t
check_group(bed *b, size_t begin, size_t end, const sinter__manifest_list *out, size_t at)
{
    items merged;
    items found;

    if (end - begin == 1) {
        cr_assert_lt(at, out->count);
        cr_expect(is_input(b, begin, &out->items[at]), "manifest %zu stays", begin);
        return at + 1;
    }
    merged = merge_all(&b->model[begin], end - begin);
    if (merged.count == 0) {
        return at;
    }
    cr_assert_lt(at, out->count);
    found = read_manifest(b, &out->items[at]);
    qsort(found.all, found.count, sizeof found.all[0], compare_items);
    cr_expect_eq(found.count, merged.count);
    cr_expect_eq(memcmp(found.all, merged.all, merged.count * sizeof merged.all[0]), 0);
    return at + 1;
}

static void
check_minor(bed *b, const sinter__manifest_limits *limits, const sinter__manifest_list *out)
{
    size_t begin = 0;
    size_t at = 0;
    uint64_t bytes = 0;

    for (size_t m = 0; m < b->list.count; m++) {
        bytes += (uint64_t)b->list.items[m].file_size;
        if (bytes >= limits->target_bytes) {
            at = check_group(b, begin, m + 1, out, at);
            begin = m + 1;
            bytes = 0;
        }
    }
    if (begin < b->list.count && b->list.count - begin >= limits->count_min) {
        at = check_group(b, begin, b->list.count, out, at);
    } else {
        for (; begin < b->list.count; begin++) {
            at = check_group(b, begin, begin + 1, out, at);
        }
    }
    cr_expect_eq(at, out->count);
}

static void
check(bed *b, const sinter__manifest_limits *limits, const sinter__manifest_list *out)
{
    items found[MANIFESTS_MAX];
    bool kept[MANIFESTS_MAX] = {false};
    items before = merge_all(b->model, b->list.count);
    items after;

    cr_assert_leq(out->count, MANIFESTS_MAX);
    for (size_t m = 0; m < out->count; m++) {
        found[m] = read_manifest(b, &out->items[m]);
    }
    after = merge_all(found, out->count);
    cr_expect_eq(before.count, after.count);
    cr_expect_eq(memcmp(before.all, after.all, before.count * sizeof before.all[0]), 0,
                 "the live files are others");
    if (full_model(b, limits, kept)) {
        check_full(b, kept, out);
    } else {
        check_minor(b, limits, out);
    }
}

/* ---- histories ---- */

/** One commit: files added, some deleted, some upgraded. */
static items
random_commit(uint64_t *state, items *live, uint32_t *next_file)
{
    const size_t changes = 1 + bed_roll(state, 5);
    items commit = {.count = 0};

    for (size_t c = 0; c < changes; c++) {
        const uint32_t what = bed_roll(state, 4);

        if (what < 2 || live->count == 0) {
            const item added = {SINTER__ENTRY_ADD, (int32_t)bed_roll(state, 4), 0, (*next_file)++};

            commit.all[commit.count++] = added;
            live->all[live->count++] = added;
        } else {
            item *victim = &live->all[bed_roll(state, (uint32_t)live->count)];
            item deleted = *victim;

            deleted.kind = SINTER__ENTRY_DELETE;
            commit.all[commit.count++] = deleted;
            if (what == 2 && victim->level == 0) {
                victim->level = 5;
                commit.all[commit.count++] = *victim;
            } else {
                *victim = live->all[--live->count];
            }
        }
    }
    return commit;
}

Test(table_manifest_rewrite, random_histories_are_merged_as_the_model_merges_them)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed;
        static bed b;
        items live = {.count = 0};
        uint32_t next_file = 0;
        sinter__manifest_limits limits;
        sinter__manifest_list out = {.arena.env = sinter_env_default()};
        const size_t commits = 1 + bed_roll(&state, 16);

        bed_begin(&b);
        for (size_t c = 0; c < commits; c++) {
            const items commit = random_commit(&state, &live, &next_file);

            add_manifest(&b, &commit);
        }
        limits = (sinter__manifest_limits){.target_bytes = 2000 + bed_roll(&state, 20000),
                                           .full_bytes = bed_roll(&state, 60000),
                                           .count_min = 1 + bed_roll(&state, 8)};
        cr_assert_eq(sinter__manifests_rewrite(&b.meta, &limits, &b.list, &out, NULL), SINTER_OK,
                     "seed %lu", seed);
        check(&b, &limits, &out);
        sinter__manifest_list_fini(&out);
        bed_end(&b);
    }
}

static const sinter__manifest_limits merge_all_of_them = {
    .target_bytes = 1 << 20, .full_bytes = 1, .count_min = 1};

Test(table_manifest_rewrite, four_manifests_of_one_entry_become_one)
{
    static bed b;
    sinter__manifest_list out = {.arena.env = sinter_env_default()};
    const sinter__manifest_limits limits = {
        .target_bytes = 8 << 20, .full_bytes = 16 << 20, .count_min = 4};

    bed_begin(&b);
    for (uint32_t i = 0; i < 4; i++) {
        add_manifest(&b, &(items){.all = {{SINTER__ENTRY_ADD, 0, 0, i}}, .count = 1});
    }
    cr_assert_eq(sinter__manifests_rewrite(&b.meta, &limits, &b.list, &out, NULL), SINTER_OK);
    cr_expect_eq(out.count, 1);
    cr_expect_eq(out.items[0].added_count, 4);
    sinter__manifest_list_fini(&out);
    bed_end(&b);
}

Test(table_manifest_rewrite, a_file_that_was_added_again_is_not_lost_by_a_full_merge)
{
    const item added = {SINTER__ENTRY_ADD, 0, 0, 7};
    const item deleted = {SINTER__ENTRY_DELETE, 0, 0, 7};
    static bed b;
    sinter__manifest_list out = {.arena.env = sinter_env_default()};
    items live;

    bed_begin(&b);
    add_manifest(&b, &(items){.all = {added}, .count = 1});
    add_manifest(&b, &(items){.all = {deleted}, .count = 1});
    add_manifest(&b, &(items){.all = {added}, .count = 1});
    cr_assert_eq(sinter__manifests_rewrite(&b.meta, &merge_all_of_them, &b.list, &out, NULL),
                 SINTER_OK);
    cr_assert_eq(out.count, 1);
    live = read_manifest(&b, &out.items[0]);
    cr_expect_eq(live.count, 1);
    cr_expect_eq(live.all[0].kind, SINTER__ENTRY_ADD);
    sinter__manifest_list_fini(&out);
    bed_end(&b);
}

Test(table_manifest_rewrite, damage_is_not_merged_away)
{
    static bed b;
    sinter__manifest_list out = {.arena.env = sinter_env_default()};
    size_t deletes = 0;

    bed_begin(&b);
    add_manifest(&b, &(items){.all = {{SINTER__ENTRY_ADD, 0, 0, 1}}, .count = 1});
    add_manifest(&b, &(items){.all = {{SINTER__ENTRY_DELETE, 0, 0, 2}}, .count = 1});
    cr_assert_eq(sinter__manifests_rewrite(&b.meta, &merge_all_of_them, &b.list, &out, NULL),
                 SINTER_OK);
    for (size_t m = 0; m < out.count; m++) {
        deletes += (size_t)out.items[m].deleted_count;
    }
    cr_expect_eq(deletes, 1, "a DELETE of a file that was never added is still there to be told");
    sinter__manifest_list_fini(&out);
    bed_end(&b);
}

Test(table_manifest_rewrite, what_the_budget_cannot_hold_stays_as_it_is)
{
    static bed b;
    sinter_memory *memory = NULL;
    sinter__manifest_list out = {.arena.env = sinter_env_default()};
    const size_t files = 3;

    bed_begin(&b);
    for (uint32_t i = 0; i < files; i++) {
        add_manifest(&b, &(items){.all = {{SINTER__ENTRY_ADD, 0, 0, i}}, .count = 1});
    }
    cr_assert_eq(sinter_memory_create(sinter_env_default(), 1, &memory, NULL), SINTER_OK);
    b.commit.env.memory = memory;
    cr_assert_eq(sinter__manifests_rewrite(&b.meta, &merge_all_of_them, &b.list, &out, NULL),
                 SINTER_OK);
    cr_expect_eq(out.count, files);
    cr_expect_eq(b.meta.count, files, "nothing was written");
    sinter__manifest_list_fini(&out);
    b.commit.env.memory = NULL;
    sinter_memory_destroy(memory);
    bed_end(&b);
}

Test(table_manifest_rewrite, statistics_of_partitions_are_of_all_entries)
{
    static bed b;
    sinter__manifest_list out = {.arena.env = sinter_env_default()};
    bool may = false;

    bed_begin(&b);
    add_manifest(&b, &(items){.all = {{SINTER__ENTRY_ADD, 3, 0, 0}, {SINTER__ENTRY_ADD, 1, 5, 1}},
                              .count = 2});
    add_manifest(&b, &(items){.all = {{SINTER__ENTRY_ADD, 2, 4, 2}}, .count = 1});
    cr_assert_eq(sinter__manifests_rewrite(&b.meta, &merge_all_of_them, &b.list, &out, NULL),
                 SINTER_OK);
    cr_assert_eq(out.count, 1);
    cr_expect_eq(out.items[0].min_level, 0);
    cr_expect_eq(out.items[0].max_level, 5);
    cr_expect_eq(out.items[0].partition_stats.null_counts.items[0], 0);
    for (int32_t p = 0; p <= 4; p++) {
        cr_assert_eq(sinter__partitions_may_hold(&b.partitions, &out.items[0],
                                                 commit_bed_partition(&b.commit, p), &may, NULL),
                     SINTER_OK);
        cr_expect_eq(may, p >= 1 && p <= 3, "%d", p);
    }
    sinter__manifest_list_fini(&out);
    bed_end(&b);
}
