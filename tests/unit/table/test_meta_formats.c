/*
 * Metadata in ORC and Parquet: what is written is read again, with what is unknown in it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "manifest_bed.h"
#include "support/fault_alloc.h"

TestSuite(table_meta_formats, .timeout = 120);

enum { ENTRIES = 300, FEW = 2, TEXT_BYTES = 8000 };

static const sinter__meta_format formats[] = {SINTER__META_PARQUET, SINTER__META_ORC};

static void
bed_begin(avro_bed *bed, const sinter_env *env)
{
    avro_bed_init(bed, env);
    bed->env.columnar_library = COLUMNAR_LIBRARY;
}

/** A random entry with a time that every format has. */
static const sinter__manifest_entry *
entry_of(sinter__arena *arena, uint64_t *state)
{
    sinter__manifest_entry *entry = NULL;

    cr_assert_eq(sinter__arena_take(arena, sizeof *entry, (void **)&entry, NULL), SINTER_OK);
    *entry = *bed_entry(arena, state, NULL);
    if ((entry->file.has & SINTER__FILE_HAS_CREATION_TIME) != 0) {
        entry->file.creation_time_ms = 1700000000000 + (int64_t)bed_roll(state, 100000);
    }
    return entry;
}

Test(table_meta_formats, random_entries_come_back_from_every_format)
{
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entries[ENTRIES];
    const sinter__manifest_entry *back[ENTRIES];
    uint64_t state = 11;

    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i] = entry_of(&arena, &state);
    }
    for (size_t f = 0; f < 2; f++) {
        const sinter__meta_write how = {
            .path = "m", .format = formats[f], .codec = {.codec = SINTER__AVRO_CODEC_ZSTANDARD}};
        sinter__manifest_meta meta;
        sinter_error err = SINTER_ERROR_INIT;
        size_t count = 0;
        avro_bed bed;

        bed_begin(&bed, NULL);
        cr_assert_eq(sinter__manifest_write(&bed.env, &how, entries, ENTRIES, &meta, &err),
                     SINTER_OK, "%s", err.text);
        cr_assert_eq(bed_read(&bed.env, "m", &meta, &arena, back, ENTRIES, &count, &err), SINTER_OK,
                     "%s", err.text);
        cr_assert_eq(count, ENTRIES);
        for (size_t i = 0; i < ENTRIES; i++) {
            cr_assert(bed_is_equal(entries[i], back[i]), "entry %zu", i);
        }
        meta.file_size++;
        cr_expect_eq(bed_read(&bed.env, "m", &meta, &arena, back, ENTRIES, &count, &err),
                     SINTER_E_CORRUPT, "another size than the list has");
        avro_bed_fini(&bed);
    }
    sinter__arena_fini(&arena);
}

Test(table_meta_formats, lists_and_index_manifests_come_back_from_every_format)
{
    const sinter__vector_range vectors[] = {
        {.data_file = bed_text("d-1"), .offset = 1, .length = 30},
        {.data_file = bed_text("d-2"),
         .offset = 39,
         .length = 24,
         .cardinality = 3,
         .has = SINTER__VECTOR_HAS_CARDINALITY}};
    const sinter__index_entry made = {.partition = bed_text("p"),
                                      .index_type = bed_text("DELETION_VECTORS"),
                                      .file_name = bed_text("index-2"),
                                      .has = SINTER__INDEX_HAS_VECTORS,
                                      .vectors = {vectors, 2}};
    const sinter__index_entry *entries[] = {&made};
    const sinter__manifest_meta listed = {
        .has = SINTER__MANIFEST_HAS_MAX_LEVEL,
        .file_name = bed_text("manifest-1"),
        .file_size = 123,
        .added_count = 4,
        .partition_stats = {.min_values = bed_text("a"), .max_values = bed_text("z")},
        .max_level = 5};

    for (size_t f = 0; f < 2; f++) {
        sinter__meta_write how = {.path = "i", .format = formats[f]};
        sinter__index_manifest indexes = {0};
        sinter__manifest_list list = {0};
        uint64_t bytes = 0;
        avro_bed bed;

        bed_begin(&bed, NULL);
        cr_assert_eq(sinter__index_manifest_write(&bed.env, &how, entries, 1, &bytes, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter__index_manifest_read(&bed.env, "i", &indexes, NULL), SINTER_OK);
        cr_assert_eq(indexes.count, 1);
        cr_assert_eq(indexes.items[0].vectors.count, 2);
        cr_expect_eq(indexes.items[0].vectors.items[0].has, 0);
        cr_expect_eq(indexes.items[0].vectors.items[1].cardinality, 3);
        cr_expect_eq(indexes.items[0].has, SINTER__INDEX_HAS_VECTORS);
        how.path = "l";
        cr_assert_eq(sinter__manifest_list_write(&bed.env, &how, &listed, 1, &bytes, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter__manifest_list_read(&bed.env, "l", bytes, &list, NULL), SINTER_OK);
        cr_assert_eq(list.count, 1);
        cr_expect_eq(list.items[0].has, SINTER__MANIFEST_HAS_MAX_LEVEL);
        cr_expect_eq(list.items[0].max_level, 5);
        cr_expect(bed_is_equal_bytes(list.items[0].file_name, listed.file_name));
        cr_expect(bed_is_equal_stats(&list.items[0].partition_stats, &listed.partition_stats));
        how.path = "e";
        cr_assert_eq(sinter__manifest_list_write(&bed.env, &how, NULL, 0, &bytes, NULL), SINTER_OK);
        cr_assert_eq(sinter__manifest_list_read(&bed.env, "e", bytes, &list, NULL), SINTER_OK);
        cr_expect_eq(list.count, 1, "a list may be empty");
        sinter__manifest_list_fini(&list);
        sinter__index_manifest_fini(&indexes);
        avro_bed_fini(&bed);
    }
}

/** Write an entry with a field behind those that are known: _NEW is 7. */
static void
write_newer(const avro_bed *bed, const char *path, const sinter__manifest_entry *entry)
{
    static const char end[] = "]}";
    const sinter__carried_union nothing = {0};
    sinter__avro_writer *writer = NULL;
    char schema[TEXT_BYTES];
    bed_content content;
    uint64_t bytes = 0;
    uint8_t *to = NULL;
    uint8_t *at = NULL;

    bed_put_sample(bed, "manifest-0");
    content = bed_content_of(&bed->env, "manifest-0");
    (void)snprintf(schema, sizeof schema,
                   "%.*s,{\"name\":\"_NEW\",\"type\":[\"null\",\"long\"],\"default\":null}]}",
                   (int)(strlen(content.schema) - strlen(end)), content.schema);
    bed_content_fini(&content);
    cr_assert_eq(sinter__avro_writer_open(&bed->env, path,
                                          &(const sinter__avro_writer_options){.schema = schema},
                                          &writer, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__avro_writer_reserve(
                     writer, sinter__manifest_entry_room(entry, &nothing) + 2, &to, NULL),
                 SINTER_OK);
    at = sinter__manifest_entry_put(to, entry, &nothing);
    *at++ = 2;
    *at++ = 14;
    cr_assert_eq(sinter__avro_writer_commit(writer, (size_t)(at - to), NULL), SINTER_OK);
    cr_assert_eq(sinter__avro_writer_finish(writer, &bytes, NULL), SINTER_OK);
    sinter__avro_writer_close(writer);
}

Test(table_meta_formats, what_is_unknown_is_carried_from_format_to_format)
{
    static const sinter__meta_format ways[] = {SINTER__META_ORC, SINTER__META_PARQUET,
                                               SINTER__META_AVRO};
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_meta meta;
    uint64_t state = 5;
    size_t count = 0;
    avro_bed bed;

    bed_begin(&bed, NULL);
    write_newer(&bed, "new", entry_of(&arena, &state));
    cr_assert_eq(bed_read(&bed.env, "new", NULL, &arena, &entry, 1, &count, NULL), SINTER_OK);
    for (size_t w = 0; w < 3; w++) {
        const char *const names[] = {"a", "b", "c"};
        const sinter__meta_write how = {.path = names[w], .format = ways[w]};
        sinter_error err = SINTER_ERROR_INIT;

        cr_assert_eq(sinter__manifest_write(&bed.env, &how, &entry, 1, &meta, &err), SINTER_OK,
                     "%s", err.text);
        cr_assert_eq(bed_read(&bed.env, names[w], &meta, &arena, &entry, 1, &count, &err),
                     SINTER_OK, "%s", err.text);
        cr_assert_not_null(entry->cargo.carried);
        cr_assert_eq(entry->cargo.carried->count, 1);
        cr_expect_str_eq(entry->cargo.carried->fields[0].name, "_NEW");
        cr_expect(bed_is_equal_bytes(entry->cargo.values[0], bed_text("\2\16")));
    }
    sinter__arena_fini(&arena);
    avro_bed_fini(&bed);
}

Test(table_meta_formats, without_the_library_such_files_are_refused)
{
    sinter__manifest_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    bed.env.columnar_library = "/nowhere/libsinter_columnar.so";
    avro_bed_put(&bed, "m", "ORC\0more", 8);
    cr_expect_neq(sinter__manifest_open(&bed.env, "m", NULL, NULL, &reader, &err), SINTER_OK);
    cr_expect_null(reader);
    bed.env.columnar_library = COLUMNAR_LIBRARY;
    cr_expect_eq(sinter__manifest_open(&bed.env, "m", NULL, NULL, &reader, &err), SINTER_E_CORRUPT);
    cr_expect_null(reader);
    cr_expect_str_eq(err.file, "m");
    avro_bed_fini(&bed);
}

static sinter_status
around(const avro_bed *bed, sinter__meta_format format,
       const sinter__manifest_entry *const *entries, sinter_error *err)
{
    const sinter__meta_write how = {.path = "m", .format = format};
    const sinter__manifest_entry *back[FEW];
    sinter__arena kept = {.env = &bed->env};
    sinter__manifest_meta meta;
    size_t count = 0;
    sinter_status st = sinter__manifest_write(&bed->env, &how, entries, FEW, &meta, err);

    if (st == SINTER_OK) {
        st = bed_read(&bed->env, "m", &meta, &kept, back, FEW, &count, err);
    }
    sinter__arena_fini(&kept);
    return st;
}

Test(table_meta_formats, every_allocation_and_every_call_of_the_io_may_fail)
{
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entries[FEW];
    uint64_t state = 9;

    for (size_t i = 0; i < FEW; i++) {
        entries[i] = entry_of(&arena, &state);
    }
    for (size_t f = 0; f < 2; f++) {
        sinter_status st = SINTER_E_NOMEM;

        for (uint64_t n = 0; st != SINTER_OK; n += 1 + n / 2) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;
            avro_bed bed;

            fault_alloc_init(&fault, n);
            bed_begin(&bed, &fault.env);
            st = around(&bed, formats[f], entries, &err);
            cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %d: %s", (int)n,
                      err.text);
            cr_assert_eq(fault.live, 0, "allocation %d", (int)n);
            avro_bed_fini(&bed);
        }
        st = SINTER_E_IO;
        for (uint64_t n = 0; st != SINTER_OK; n += 1 + n / 2) {
            const sinter_fault_options rule = {
                .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
            sinter_io *faulty = NULL;
            avro_bed bed;

            bed_begin(&bed, NULL);
            cr_assert_eq(
                sinter_io_fault_create(sinter_env_default(), bed.memory, &rule, &faulty, NULL),
                SINTER_OK);
            bed.env.io = faulty;
            st = around(&bed, formats[f], entries, NULL);
            cr_assert(st == SINTER_OK || st == SINTER_E_IO);
            sinter_io_destroy(faulty);
            avro_bed_fini(&bed);
        }
    }
    sinter__arena_fini(&arena);
}
