#include "table/index_change.h"

#include <criterion/criterion.h>
#include <string.h>

#include "commit_bed.h"
#include "manifest_bed.h"

TestSuite(table_index_change, .timeout = 20);

static sinter_bytes
partition(uint8_t value)
{
    static uint8_t rows[8][20];

    rows[value][3] = 1;
    rows[value][12] = value;
    return (sinter_bytes){rows[value], 20};
}

static sinter__index_entry
hash(const char *name, uint8_t p, int32_t bucket)
{
    return (sinter__index_entry){.partition = partition(p),
                                 .bucket = bucket,
                                 .index_type = bed_text("HASH"),
                                 .file_name = bed_text(name)};
}

/** An index file with the vectors of up to two data files. */
static sinter__index_entry
vectors(const char *name, const char *const files[2])
{
    static sinter__vector_range ranges[16];
    static size_t used;
    sinter__index_entry entry = hash(name, 0, 0);

    entry.index_type = bed_text("DELETION_VECTORS");
    entry.has = SINTER__INDEX_HAS_VECTORS;
    entry.vectors.items = &ranges[used];
    for (size_t i = 0; i < 2 && files[i] != NULL; i++) {
        ranges[used++] = (sinter__vector_range){.data_file = bed_text(files[i]), .offset = 1};
        entry.vectors.count++;
    }
    return entry;
}

static sinter__manifest_entry
data(int32_t kind, const char *name, int32_t level)
{
    return (sinter__manifest_entry){.kind = kind,
                                    .partition = partition(0),
                                    .file = {.file_name = bed_text(name), .level = level}};
}

/** What a test gives, and what comes of it. */
typedef struct bed {
    sinter__index_entry old[4];
    sinter__index_manifest manifest;
    sinter__index_manifest planned;
    sinter__commit_request request;
    sinter__index_change change;
    sinter__arena arena;
    const sinter__index_entry *const *entries;
    size_t count;
    sinter_error err;
} bed;

static sinter_status
apply(bed *b)
{
    b->arena.env = sinter_env_default();
    b->manifest.items = b->old;
    b->change.request = &b->request;
    b->change.old = &b->manifest;
    b->err = (sinter_error)SINTER_ERROR_INIT;
    return sinter__index_change_apply(&b->change, &b->arena, &b->entries, &b->count, &b->err);
}

static bool
has(const bed *b, const char *name)
{
    for (size_t i = 0; i < b->count; i++) {
        if (bed_is_equal_bytes(b->entries[i]->file_name, bed_text(name))) {
            return true;
        }
    }
    return false;
}

Test(table_index_change, a_hash_index_takes_the_place_of_its_buckets)
{
    const sinter__index_entry new_one = hash("n", 1, 1);
    const sinter__index_entry *added = &new_one;
    bed b = {.old = {hash("a", 1, 1), hash("b", 1, 2), hash("c", 2, 1)},
             .manifest.count = 3,
             .request = {.index_added = &added, .index_added_count = 1}};

    cr_assert_eq(apply(&b), SINTER_OK);
    cr_expect_eq(b.count, 3);
    cr_expect(has(&b, "n") && has(&b, "b") && has(&b, "c"));
    sinter__arena_fini(&b.arena);
}

Test(table_index_change, vectors_of_buckets_have_one_file_and_those_without_have_many)
{
    const sinter__index_entry new_one = vectors("n", (const char *const[2]){"y", NULL});
    const sinter__index_entry *added = &new_one;
    bed b = {.old = {vectors("a", (const char *const[2]){"x", NULL})},
             .manifest.count = 1,
             .request = {.index_added = &added, .index_added_count = 1}};

    cr_assert_eq(apply(&b), SINTER_OK);
    cr_expect(has(&b, "a") && has(&b, "n"), "without buckets");
    b.change.has_buckets = true;
    sinter__arena_fini(&b.arena);
    cr_assert_eq(apply(&b), SINTER_OK);
    cr_expect(!has(&b, "a") && has(&b, "n"), "with buckets");
    sinter__arena_fini(&b.arena);
}

Test(table_index_change, unknown_types_are_carried_over)
{
    const sinter__index_entry new_one = hash("n", 0, 0);
    const sinter__index_entry *added = &new_one;
    bed b = {.old = {hash("a", 0, 0)},
             .manifest.count = 1,
             .request = {.index_added = &added, .index_added_count = 1}};

    b.old[0].index_type = bed_text("BTREE");
    cr_assert_eq(apply(&b), SINTER_OK);
    cr_expect(has(&b, "a") && has(&b, "n"));
    sinter__arena_fini(&b.arena);
}

Test(table_index_change, what_is_removed_must_be_there)
{
    const sinter__index_entry other = hash("z", 0, 0);
    const sinter__index_entry *removed = &other;
    bed b = {.old = {hash("a", 0, 0)},
             .manifest.count = 1,
             .request = {.index_removed = &removed, .index_removed_count = 1}};

    cr_expect_eq(apply(&b), SINTER_E_CONFLICT);
    cr_expect_not_null(strstr(b.err.text, "index file z"));
    removed = &b.old[0];
    sinter__arena_fini(&b.arena);
    cr_assert_eq(apply(&b), SINTER_OK);
    cr_expect_eq(b.count, 0);
    sinter__arena_fini(&b.arena);
}

Test(table_index_change, f4_a_vector_does_not_outlive_its_file)
{
    const sinter__manifest_entry gone = data(SINTER__ENTRY_DELETE, "m", 5);
    const sinter__manifest_entry *entries[2] = {&gone, NULL};
    const sinter__index_entry without = vectors("n", (const char *const[2]){"o", NULL});
    const sinter__index_entry *added = &without;
    bed b = {.old = {vectors("a", (const char *const[2]){"m", "o"})},
             .manifest.count = 1,
             .change.has_buckets = true,
             .request = {.entries = entries, .count = 1}};

    cr_expect_eq(apply(&b), SINTER_E_INVALID);
    cr_expect_not_null(strstr(b.err.text, "vector of m"));
    b.request.index_added = &added;
    b.request.index_added_count = 1;
    sinter__arena_fini(&b.arena);
    cr_expect_eq(apply(&b), SINTER_OK);
    sinter__arena_fini(&b.arena);
}

Test(table_index_change, a_file_that_is_upgraded_keeps_its_vector)
{
    const sinter__manifest_entry gone = data(SINTER__ENTRY_DELETE, "m", 4);
    const sinter__manifest_entry again = data(SINTER__ENTRY_ADD, "m", 5);
    const sinter__manifest_entry *entries[2] = {&gone, &again};
    bed b = {.old = {vectors("a", (const char *const[2]){"m", NULL})},
             .manifest.count = 1,
             .request = {.entries = entries, .count = 2}};

    cr_expect_eq(apply(&b), SINTER_OK, "%s", b.err.text);
    sinter__arena_fini(&b.arena);
}

Test(table_index_change, rows_that_were_deleted_meanwhile_are_a_conflict)
{
    const sinter__manifest_entry gone = data(SINTER__ENTRY_DELETE, "m", 0);
    const sinter__manifest_entry *entries[1] = {&gone};
    bed b = {.old = {vectors("a", (const char *const[2]){"m", NULL})},
             .manifest.count = 1,
             .change.has_buckets = false,
             .request = {.entries = entries, .count = 1}};

    b.change.read = &b.planned; /* had no vectors at all */
    cr_expect_eq(apply(&b), SINTER_E_CONFLICT);
    cr_expect_not_null(strstr(b.err.text, "since this one was planned"));
    sinter__arena_fini(&b.arena);
}

Test(table_index_change, a_bucket_whose_vectors_another_changed_is_a_conflict)
{
    sinter__index_entry read[1] = {vectors("a", (const char *const[2]){"x", NULL})};
    const sinter__index_entry new_one = vectors("n", (const char *const[2]){"x", NULL});
    const sinter__index_entry *added = &new_one;
    bed b = {.old = {vectors("b", (const char *const[2]){"x", NULL})},
             .manifest.count = 1,
             .planned = {.items = read, .count = 1},
             .change.has_buckets = true,
             .request = {.index_added = &added, .index_added_count = 1}};

    b.change.read = &b.planned;
    cr_expect_eq(apply(&b), SINTER_E_CONFLICT);
    b.old[0] = read[0];
    sinter__arena_fini(&b.arena);
    cr_expect_eq(apply(&b), SINTER_OK);
    sinter__arena_fini(&b.arena);
}
