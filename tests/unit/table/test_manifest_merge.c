#include "table/manifest_merge.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_bed.h"
#include "support/fault_alloc.h"

TestSuite(table_manifest_merge, .timeout = 120);

/* An entry of which only the identity and the kind matter. */
static sinter__manifest_entry
file_entry(int32_t kind, const char *name, int32_t level)
{
    sinter__manifest_entry entry = {.kind = kind, .partition = bed_text("p"), .bucket = 3};

    entry.file.file_name = bed_text(name);
    entry.file.level = level;
    return entry;
}

static sinter_status
add(sinter__manifest_merge *merge, int32_t kind, const char *name, int32_t level, sinter_error *err)
{
    const sinter__manifest_entry entry = file_entry(kind, name, level);

    return sinter__manifest_merge_add(merge, &entry, err);
}

/* Whatever is to be told of the entry, told at once. */
static sinter_status
add_settled(sinter__manifest_merge *merge, const sinter__manifest_entry *entry, sinter_error *err)
{
    const sinter_status st = sinter__manifest_merge_add(merge, entry, err);

    return st == SINTER_OK ? sinter__manifest_merge_settle(merge, err) : st;
}

Test(table_manifest_merge, a_lean_merge_tells_of_a_file_added_twice_no_later_than_at_its_end)
{
    for (int end = 0; end < 3; end++) {
        sinter__manifest_merge *merge = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_status st = SINTER_OK;

        cr_assert_eq(sinter__manifest_merge_create_lean(sinter_env_default(), &merge, NULL),
                     SINTER_OK);
        cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "a", 1, NULL), SINTER_OK);
        cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "b", 1, NULL), SINTER_OK);
        cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "a", 1, NULL), SINTER_OK);
        st = end == 0   ? add(merge, SINTER__ENTRY_DELETE, "b", 1, &err)
             : end == 1 ? sinter__manifest_merge_settle(merge, &err)
                        : sinter__manifest_merge_check(merge, &err);
        cr_expect_eq(st, SINTER_E_CORRUPT);
        cr_expect_not_null(strstr(err.text, "file a (bucket 3, level 1) is already added"), "%s",
                           err.text);
        cr_expect_eq(sinter__manifest_merge_count(merge), 2);
        sinter__manifest_merge_destroy(merge);
    }
}

Test(table_manifest_merge, what_was_deleted_is_gone_and_an_upgrade_keeps_the_file)
{
    sinter__manifest_merge *merge = NULL;
    const sinter__manifest_entry *const *entries = NULL;
    size_t count = 0;

    cr_assert_eq(sinter__manifest_merge_create(sinter_env_default(), &merge, NULL), SINTER_OK);
    cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "a", 0, NULL), SINTER_OK);
    cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "b", 0, NULL), SINTER_OK);
    cr_assert_eq(add(merge, SINTER__ENTRY_DELETE, "b", 0, NULL), SINTER_OK);
    cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "b", 5, NULL), SINTER_OK);
    cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "c", 0, NULL), SINTER_OK);
    cr_assert_eq(add(merge, SINTER__ENTRY_DELETE, "a", 0, NULL), SINTER_OK);
    cr_expect_eq(sinter__manifest_merge_check(merge, NULL), SINTER_OK);
    entries = sinter__manifest_merge_entries(merge, &count);
    cr_assert_eq(count, 2);
    cr_expect(entries[0]->file.level == 5 &&
              bed_is_equal_bytes(entries[0]->file.file_name, bed_text("b")));
    cr_expect(bed_is_equal_bytes(entries[1]->file.file_name, bed_text("c")));
    sinter__manifest_merge_destroy(merge);
}

Test(table_manifest_merge, a_file_added_twice_and_a_delete_left_over_are_told_by_name)
{
    sinter__manifest_merge *merge = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__manifest_merge_create(sinter_env_default(), &merge, NULL), SINTER_OK);
    cr_assert_eq(add(merge, SINTER__ENTRY_ADD, "a", 1, NULL), SINTER_OK);
    cr_expect_eq(add(merge, SINTER__ENTRY_ADD, "a", 1, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.text, "file a (bucket 3, level 1) is already added");
    cr_assert_eq(add(merge, SINTER__ENTRY_DELETE, "b", 0, NULL), SINTER_OK);
    cr_expect_eq(sinter__manifest_merge_check(merge, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.text, "file b (bucket 3, level 0) is deleted but was never added");
    cr_expect_eq(add(merge, SINTER__ENTRY_ADD, "b", 0, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.text, "file b (bucket 3, level 0) is added after it was deleted");
    cr_assert_eq(add(merge, SINTER__ENTRY_DELETE, "b", 0, NULL), SINTER_OK);
    cr_expect_eq(sinter__manifest_merge_check(merge, &err), SINTER_OK);
    sinter__manifest_merge_destroy(merge);
}

Test(table_manifest_merge, every_part_of_the_identity_counts_and_nothing_else)
{
    static const sinter_bytes extra[] = {{(const uint8_t *)"x", 1}};
    const sinter__manifest_entry base = file_entry(SINTER__ENTRY_ADD, "a", 0);
    sinter__manifest_entry others[8];

    for (size_t i = 0; i < 8; i++) {
        others[i] = base;
    }
    others[0].partition = bed_text("q");
    others[1].bucket = 4;
    others[2].file.level = 1;
    others[3].file.file_name = bed_text("b");
    others[4].file.extra_files = (sinter__bytes_list){extra, 1};
    others[5].file.has = SINTER__FILE_HAS_EMBEDDED_INDEX;
    others[6].file.has = SINTER__FILE_HAS_EXTERNAL_PATH;
    others[7].file.row_count = 8;
    others[7].file.schema_id = 9;
    others[7].total_buckets = 10;
    others[7].file.has = SINTER__FILE_HAS_SOURCE;
    for (size_t i = 0; i < 8; i++) {
        cr_expect_eq(sinter__manifest_entry_is_same(&base, &others[i]), i == 7, "%zu", i);
    }
}

/* The same with lists that are searched. */
typedef struct model {
    sinter__manifest_entry entries[3000];
    size_t count;
} model;

static sinter_status
model_add(model *m, const sinter__manifest_entry *entry)
{
    for (size_t i = 0; i < m->count; i++) {
        if (sinter__manifest_entry_is_same(&m->entries[i], entry)) {
            if (entry->kind == SINTER__ENTRY_ADD) {
                return SINTER_E_CORRUPT;
            }
            memmove(&m->entries[i], &m->entries[i + 1], (m->count - i - 1) * sizeof m->entries[0]);
            m->count--;
            return SINTER_OK;
        }
    }
    m->entries[m->count++] = *entry;
    return SINTER_OK;
}

Test(table_manifest_merge, random_entries_are_merged_as_by_a_list_that_is_searched)
{
    model *m = malloc(sizeof *m);

    for (uint64_t seed = 1; seed <= 30; seed++) {
        sinter__arena arena = {.env = sinter_env_default()};
        sinter__manifest_merge *merge = NULL;
        sinter__manifest_entry room;
        uint64_t state = seed;
        size_t count = 0;

        m->count = 0;
        cr_assert_eq((seed % 2 == 0
                          ? sinter__manifest_merge_create
                          : sinter__manifest_merge_create_lean)(sinter_env_default(), &merge, NULL),
                     SINTER_OK);
        if (seed % 3 == 0) { /* less than, and more than, what comes */
            sinter__manifest_merge_expect(merge, 100 * seed * seed);
        }
        for (size_t i = 0; i < 2500; i++) {
            char name[16];
            sinter__manifest_entry entry;

            (void)snprintf(name, sizeof name, "f%u",
                           bed_roll(&state, 20 + (uint32_t)(seed * seed)));
            entry = file_entry((int32_t)bed_roll(&state, 2), name, (int32_t)bed_roll(&state, 2));
            entry.file.row_count = (int64_t)i;
            entry.bucket = (int32_t)bed_roll(&state, 2);
            entry.partition = bed_text(bed_roll(&state, 3) == 0 ? "p" : "another");
            cr_assert_eq(
                sinter__arena_copy(&arena, entry.file.file_name, &entry.file.file_name, NULL),
                SINTER_OK);
            cr_assert_eq(add_settled(merge, &entry, NULL), model_add(m, &entry));
            if (i % 700 == 0) {
                cr_assert_eq(sinter__manifest_merge_count(merge), m->count);
            }
        }
        count = sinter__manifest_merge_count(merge);
        cr_assert_eq(count, m->count);
        for (size_t i = 0; i < count; i++) {
            cr_assert(bed_is_equal(sinter__manifest_merge_get(merge, i, &room), &m->entries[i]));
        }
        sinter__manifest_merge_destroy(merge);
        sinter__arena_fini(&arena);
    }
    free(m);
}

Test(table_manifest_merge, every_allocation_may_fail_and_the_budget_is_kept)
{
    sinter_memory *memory = NULL;
    sinter_status st = SINTER_E_NOMEM;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 200000, &memory, NULL), SINTER_OK);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__manifest_merge *merge = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.memory = memory;
        st = (n % 2 == 0 ? sinter__manifest_merge_create
                         : sinter__manifest_merge_create_lean)(&fault.env, &merge, &err);
        if (st == SINTER_OK && n % 3 == 0) {
            sinter__manifest_merge_expect(merge, 300);
        }
        for (size_t i = 0; i < 300 && st == SINTER_OK; i++) {
            char name[16];

            (void)snprintf(name, sizeof name, "f%zu", i);
            st = add(merge, SINTER__ENTRY_ADD, name, 0, &err);
            if (st == SINTER_E_NOMEM) { /* and it can be tried again */
                cr_assert_eq(sinter__manifest_merge_settle(merge, NULL), SINTER_OK);
                cr_assert_eq(sinter__manifest_merge_count(merge), i);
                cr_assert_eq(add(merge, SINTER__ENTRY_ADD, name, 0, &err), SINTER_OK);
            }
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        sinter__manifest_merge_destroy(merge);
        cr_assert_eq(fault.live, 0);
        cr_assert_eq(sinter_memory_used(memory), 0);
    }
    st = SINTER_OK;
    {
        sinter__manifest_merge *merge = NULL;
        sinter_env env = *sinter_env_default();

        env.memory = memory;
        cr_assert_eq(sinter__manifest_merge_create(&env, &merge, NULL), SINTER_OK);
        sinter__manifest_merge_expect(merge, 1 << 20); /* what the budget can't hold */
        cr_expect_eq(sinter_memory_used(memory), 0);
        for (size_t i = 0; st == SINTER_OK; i++) {
            char name[16];

            (void)snprintf(name, sizeof name, "f%zu", i);
            st = add(merge, SINTER__ENTRY_ADD, name, 0, NULL);
        }
        cr_expect_eq(st, SINTER_E_TOO_LARGE);
        sinter__manifest_merge_destroy(merge);
    }
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
}
