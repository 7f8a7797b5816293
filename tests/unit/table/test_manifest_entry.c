#include "table/manifest_entry.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_bed.h"
#include "table/lean_entry.h"

TestSuite(table_manifest_entry, .timeout = 60);

enum { ENTRIES = 500 };

Test(table_manifest_entry, a_copy_is_one_piece_that_needs_nothing_of_the_original)
{
    uint64_t state = 11;

    for (size_t i = 0; i < ENTRIES; i++) {
        sinter__arena original = {.env = sinter_env_default()};
        sinter__arena kept = {.env = sinter_env_default()};
        const uint64_t before = state;
        const sinter__manifest_entry *copy = NULL;
        const sinter__manifest_entry *again = NULL;

        cr_assert_eq(
            sinter__manifest_entry_copy(&kept, bed_entry(&original, &state, NULL), &copy, NULL),
            SINTER_OK);
        sinter__arena_fini(&original);
        state = before;
        again = bed_entry(&original, &state, NULL);
        cr_assert(bed_is_equal(copy, again));
        cr_assert_lt((const uint8_t *)copy->file.key_stats.max_values.data,
                     (const uint8_t *)copy + sinter__manifest_entry_bytes(again) + 1);
        sinter__arena_fini(&original);
        sinter__arena_fini(&kept);
    }
}

Test(table_manifest_entry, a_lean_entry_has_all_but_statistics)
{
    uint64_t state = 13;
    size_t small = 0;

    for (size_t i = 0; i < ENTRIES; i++) {
        sinter__arena original = {.env = sinter_env_default()};
        sinter__arena kept = {.env = sinter_env_default()};
        const uint64_t before = state;
        const sinter__manifest_entry *made = bed_entry(&original, &state, NULL);
        sinter__manifest_entry entry = *made;
        const sinter__lean_entry *lean = NULL;
        sinter__manifest_entry bare;
        sinter__manifest_entry out;
        sinter__entry_group group = {.bucket = made->bucket};

        if (i % 2 == 0) { /* most entries of tables */
            entry.file.has &= SINTER__FILE_HAS_CREATION_TIME | SINTER__FILE_HAS_SOURCE;
            entry.file.delete_row_count = entry.file.first_row_id = 0;
            entry.file.extra_files = entry.file.write_cols = (sinter__bytes_list){.count = 0};
            entry.file.embedded_index = entry.file.external_path = (sinter_bytes){.size = 0};
        }
        small += sinter__lean_entry_bytes(&entry) < sizeof entry;
        cr_assert_eq(sinter__arena_copy(&kept, entry.partition, &group.partition, NULL), SINTER_OK);
        cr_assert_eq(sinter__lean_entry_create(&kept, &entry, &lean, NULL), SINTER_OK);
        sinter__lean_entry_get(lean, &group, &out);
        cr_assert(bed_is_equal(&out, sinter__manifest_entry_bare(&entry, &bare)));
        cr_assert_eq(out.file.value_stats.min_values.size + out.file.key_stats.has, 0);
        sinter__arena_fini(&original); /* and needs nothing of it */
        sinter__lean_entry_get(lean, &group, &out);
        state = before;
        made = bed_entry(&original, &state, NULL);
        cr_assert(bed_is_equal_bytes(out.file.file_name, made->file.file_name));
        cr_assert(bed_is_equal_bytes(out.file.max_key, made->file.max_key));
        cr_assert(bed_is_equal_bytes(out.partition, made->partition));
        sinter__arena_fini(&original);
        sinter__arena_fini(&kept);
    }
    cr_expect_geq(small, ENTRIES / 3);
}

Test(table_manifest_entry, writing_takes_no_more_than_the_room_that_was_asked_for)
{
    const sinter__carried_union nothing = {0};
    uint64_t state = 12;

    for (size_t i = 0; i < ENTRIES; i++) {
        sinter__arena arena = {.env = sinter_env_default()};
        const sinter__manifest_entry *entry = bed_entry(&arena, &state, NULL);
        const size_t room = sinter__manifest_entry_room(entry, &nothing);
        uint8_t *out = malloc(room);

        cr_assert_leq((size_t)(sinter__manifest_entry_put(out, entry, &nothing) - out), room);
        free(out);
        sinter__arena_fini(&arena);
    }
}

Test(table_manifest_entry, names_that_leave_their_directory_are_refused)
{
    static const struct {
        const char *name;
        size_t size;
        bool is_name;
    } cases[] = {{"", 0, false},        {".", 1, false},    {"..", 2, false}, {"/", 1, false},
                 {"a/b", 3, false},     {"a\0b", 3, false}, {"...", 3, true}, {"..a", 3, true},
                 {"\xc3\xa9", 2, true}, {"data-1", 6, true}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter_bytes name = {(const uint8_t *)cases[i].name, cases[i].size};

        cr_expect_eq(sinter__meta_name_check(name, "_FILE_NAME", NULL) == SINTER_OK,
                     cases[i].is_name, "%s", cases[i].name);
    }
}
