#include "table/manifest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_bed.h"
#include "support/fault_alloc.h"

TestSuite(table_manifest, .timeout = 300);

enum { ENTRIES = 400 };

static const sinter__meta_write zstd_write = {.path = "m",
                                              .codec = {.codec = SINTER__AVRO_CODEC_ZSTANDARD}};

Test(table_manifest, a_manifest_of_paimon_is_read_field_by_field)
{
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entries[16];
    const sinter__data_file *file = NULL;
    size_t count = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    bed_put_sample(&bed, "manifest-1");
    cr_assert_eq(bed_read(&bed.env, "manifest-1", NULL, &arena, entries, 16, &count, NULL),
                 SINTER_OK);
    cr_assert_eq(count, 6);
    file = &entries[0]->file;
    cr_expect_eq(entries[0]->kind, SINTER__ENTRY_DELETE);
    cr_expect_eq(entries[count - 1]->kind, SINTER__ENTRY_ADD);
    cr_expect_eq(entries[0]->partition.size, 12);
    cr_expect(memcmp(file->file_name.data, "data-", 5) == 0);
    cr_expect_neq(file->has & SINTER__FILE_HAS_SOURCE, 0);
    cr_expect_eq(file->has & SINTER__FILE_HAS_EXTERNAL_PATH, 0);
    cr_expect_eq(entries[count - 1]->file.source, SINTER__FILE_SOURCE_COMPACT);
    cr_expect_eq(file->key_stats.null_counts.count, 1);
    cr_expect_null(entries[0]->cargo.carried);
    sinter__arena_fini(&arena);
    avro_bed_fini(&bed);
}

Test(table_manifest, what_paimon_wrote_is_written_again_byte_for_byte)
{
    static const char *const names[] = {"manifest-0", "manifest-1"};

    for (size_t i = 0; i < 2; i++) {
        sinter__arena arena = {.env = sinter_env_default()};
        const sinter__manifest_entry *entries[64];
        sinter__manifest_meta meta;
        size_t count = 0;
        bed_content theirs;
        bed_content ours;
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        bed_put_sample(&bed, names[i]);
        cr_assert_eq(bed_read(&bed.env, names[i], NULL, &arena, entries, 64, &count, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter__manifest_write(&bed.env, &zstd_write, entries, count, &meta, NULL),
                     SINTER_OK);
        theirs = bed_content_of(&bed.env, names[i]);
        ours = bed_content_of(&bed.env, "m");
        cr_expect_str_eq(ours.schema, theirs.schema);
        cr_expect_eq(ours.count, theirs.count);
        cr_expect(ours.size == theirs.size && memcmp(ours.records, theirs.records, ours.size) == 0);
        bed_content_fini(&theirs);
        bed_content_fini(&ours);
        sinter__arena_fini(&arena);
        avro_bed_fini(&bed);
    }
}

Test(table_manifest, random_entries_come_back_and_the_list_is_told_of_them)
{
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entries[ENTRIES];
    const sinter__manifest_entry *back[ENTRIES];
    uint64_t state = 42;

    for (int codec = 0; codec < 3; codec++) {
        const sinter__meta_write how = {.path = "d/m",
                                        .codec = {.codec = (sinter__avro_codec)codec}};
        sinter__manifest_meta meta;
        size_t count = 0;
        int64_t added = 0;
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        cr_assert_eq(bed.memory->ops->mkdir(bed.memory, "d", NULL), SINTER_OK);
        for (size_t i = 0; i < ENTRIES; i++) {
            entries[i] = bed_entry(&arena, &state, NULL);
            added += entries[i]->kind == SINTER__ENTRY_ADD;
        }
        cr_assert_eq(sinter__manifest_write(&bed.env, &how, entries, ENTRIES, &meta, NULL),
                     SINTER_OK);
        cr_expect(bed_is_equal_bytes(meta.file_name, bed_text("m")));
        cr_expect_eq(meta.added_count, added);
        cr_expect_eq(meta.deleted_count, ENTRIES - added);
        cr_expect(meta.min_bucket == -2 && meta.max_bucket == 2 && meta.min_level == 0 &&
                  meta.max_level == 5);
        cr_expect_eq(meta.has, 15);
        cr_assert_eq(bed_read(&bed.env, "d/m", &meta, &arena, back, ENTRIES, &count, NULL),
                     SINTER_OK);
        cr_assert_eq(count, ENTRIES);
        for (size_t i = 0; i < ENTRIES; i++) {
            cr_assert(bed_is_equal(entries[i], back[i]), "entry %zu", i);
            cr_assert_geq(meta.schema_id, back[i]->file.schema_id);
        }
        avro_bed_fini(&bed);
    }
    sinter__arena_fini(&arena);
}

Test(table_manifest, a_file_that_reaches_its_target_ends_there)
{
    enum { MANY = 5500 };
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry **entries = calloc(MANY, sizeof(void *));
    const sinter__manifest_entry **back = calloc(MANY, sizeof(void *));
    sinter__manifest_meta meta;
    uint64_t state = 1;
    size_t done = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    for (size_t i = 0; i < MANY; i++) {
        entries[i] = bed_entry(&arena, &state, NULL);
    }
    for (size_t n = 0; done < MANY; n++) {
        char path[16];
        const sinter__meta_write how = {.path = path, .target_bytes = 600000};
        size_t count = 0;

        (void)snprintf(path, sizeof path, "m%zu", n);
        cr_assert_eq(
            sinter__manifest_write(&bed.env, &how, entries + done, MANY - done, &meta, NULL),
            SINTER_OK);
        cr_assert_eq(bed_read(&bed.env, path, &meta, &arena, back, MANY, &count, NULL), SINTER_OK);
        cr_expect_eq(count, (size_t)(meta.added_count + meta.deleted_count));
        cr_expect(count == 2000 || done + count == MANY, "%zu of %lld bytes", count,
                  (long long)meta.file_size);
        for (size_t i = 0; i < count; i++) {
            cr_assert(bed_is_equal(back[i], entries[done + i]));
        }
        done += count;
    }
    free(entries);
    free(back);
    sinter__arena_fini(&arena);
    avro_bed_fini(&bed);
}

/* Read a file of these bytes through; what is refused must say what and where. */
static sinter_status
try_bytes(const avro_bed *bed, const uint8_t *bytes, size_t size,
          const sinter__manifest_meta *listed)
{
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entries[64];
    sinter_error err = SINTER_ERROR_INIT;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    avro_bed_put(bed, "m", bytes, size);
    st = bed_read(&bed->env, "m", listed, &arena, entries, 64, &count, &err);
    cr_expect(st == SINTER_OK || st == SINTER_E_CORRUPT || st == SINTER_E_UNSUPPORTED ||
                  st == SINTER_E_TOO_LARGE,
              "%s", err.text);
    cr_expect(st == SINTER_OK || (strcmp(err.file, "m") == 0 && err.offset >= 0));
    sinter__arena_fini(&arena);
    return st;
}

Test(table_manifest, a_manifest_cut_at_any_byte_is_refused)
{
    sinter__manifest_meta listed = {0};
    bed_content content;
    size_t size = 0;
    uint8_t *bytes = NULL;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    bed_put_sample(&bed, "manifest-0");
    bytes = avro_bed_get(&bed, "manifest-0", &size);
    listed = (sinter__manifest_meta){.file_size = (int64_t)size};
    content = bed_content_of(&bed.env, "manifest-0");
    listed.added_count = (int64_t)content.count;
    bed_content_fini(&content);
    cr_expect_eq(try_bytes(&bed, bytes, size, &listed), SINTER_OK);
    for (size_t cut = 0; cut < size; cut++) {
        sinter__manifest_meta no_size = listed;

        cr_expect_eq(try_bytes(&bed, bytes, cut, &listed), SINTER_E_CORRUPT, "cut at %zu", cut);
        no_size.file_size = 0;
        cr_expect_eq(try_bytes(&bed, bytes, cut, &no_size), SINTER_E_CORRUPT, "cut at %zu", cut);
    }
    listed.added_count++;
    cr_expect_eq(try_bytes(&bed, bytes, size, &listed), SINTER_E_CORRUPT);
    free(bytes);
    avro_bed_fini(&bed);
}

Test(table_manifest, no_flipped_bit_of_a_manifest_does_harm)
{
    static const char *const names[] = {"manifest-1", "plain"};

    const size_t step = getenv("SINTER_TEST_SCALE") == NULL ? 5 : 1; /* then every bit */

    for (size_t i = 0; i < 2; i++) {
        const sinter__meta_write plain = {.path = "plain"};
        sinter__arena arena = {.env = sinter_env_default()};
        const sinter__manifest_entry *entries[64];
        sinter__manifest_meta meta;
        size_t count = 0;
        size_t size = 0;
        uint8_t *bytes = NULL;
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        bed_put_sample(&bed, "manifest-1");
        cr_assert_eq(bed_read(&bed.env, "manifest-1", NULL, &arena, entries, 64, &count, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter__manifest_write(&bed.env, &plain, entries, count, &meta, NULL),
                     SINTER_OK);
        bytes = avro_bed_get(&bed, names[i], &size);
        for (size_t bit = 0; bit < 8 * size; bit += step) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            (void)try_bytes(&bed, bytes, size, NULL);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(bytes);
        sinter__arena_fini(&arena);
        avro_bed_fini(&bed);
    }
}

Test(table_manifest, impossible_entries_are_refused_with_what_is_wrong)
{
    static const struct {
        const char *name;
        int32_t kind;
        int64_t rows;
        const char *word;
    } cases[] = {{"", 0, 1, "_FILE_NAME \"\""},
                 {"../x", 0, 1, "_FILE_NAME \"../x\" is no name of a file"},
                 {"..", 0, 1, "is no name"},
                 {"ok", 2, 1, "_KIND is 2"},
                 {"ok", 0, -1, "_ROW_COUNT is -1"}};
    sinter__arena arena = {.env = sinter_env_default()};
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[8];
        const sinter__meta_write how = {.path = path};
        uint64_t state = 5;
        sinter__manifest_entry entry = *bed_entry(&arena, &state, cases[i].name);
        const sinter__manifest_entry *entries[] = {&entry};
        sinter__manifest_meta meta;
        sinter_error err = SINTER_ERROR_INIT;
        size_t count = 0;

        (void)snprintf(path, sizeof path, "m%zu", i);
        entry.kind = cases[i].kind;
        entry.file.row_count = cases[i].rows;
        cr_assert_eq(sinter__manifest_write(&bed.env, &how, entries, 1, &meta, NULL), SINTER_OK);
        cr_expect_eq(bed_read(&bed.env, path, NULL, &arena, entries, 1, &count, &err),
                     SINTER_E_CORRUPT);
        cr_expect_not_null(strstr(err.text, cases[i].word), "%s", err.text);
        cr_expect_str_eq(err.file, path);
    }
    sinter__arena_fini(&arena);
    avro_bed_fini(&bed);
}

Test(table_manifest, every_allocation_and_every_call_of_the_io_may_fail)
{
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entries[3];
    uint64_t state = 9;
    sinter_status st = SINTER_E_NOMEM;

    for (size_t i = 0; i < 3; i++) {
        entries[i] = bed_entry(&arena, &state, NULL);
    }
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter__arena kept = {0};
        const sinter__manifest_entry *back[3];
        sinter__manifest_meta meta;
        size_t count = 0;
        fault_alloc fault;
        avro_bed bed;

        fault_alloc_init(&fault, n);
        avro_bed_init(&bed, &fault.env);
        kept.env = &bed.env;
        st = sinter__manifest_write(&bed.env, &zstd_write, entries, 3, &meta, &err);
        if (st == SINTER_OK) {
            st = bed_read(&bed.env, "m", &meta, &kept, back, 3, &count, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter__arena_fini(&kept);
        cr_assert_eq(fault.live, 0);
        avro_bed_fini(&bed);
    }
    st = SINTER_E_IO;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        const sinter__manifest_entry *back[3];
        sinter__manifest_meta meta;
        sinter_io *faulty = NULL;
        size_t count = 0;
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), bed.memory, &rule, &faulty, NULL),
                     SINTER_OK);
        bed.env.io = faulty;
        st = sinter__manifest_write(&bed.env, &zstd_write, entries, 3, &meta, NULL);
        if (st == SINTER_OK) {
            st = bed_read(&bed.env, "m", &meta, &arena, back, 3, &count, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_IO);
        sinter_io_destroy(faulty);
        avro_bed_fini(&bed);
    }
    sinter__arena_fini(&arena);
}
