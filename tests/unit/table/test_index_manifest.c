#include "table/index_manifest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_bed.h"
#include "support/fault_alloc.h"

TestSuite(table_index_manifest, .timeout = 120);

static const sinter__meta_write zstd_write = {.path = "m",
                                              .codec = {.codec = SINTER__AVRO_CODEC_ZSTANDARD}};

static sinter_status
write_all(const sinter_env *env, const sinter__index_manifest *manifest, sinter_error *err)
{
    const sinter__index_entry *entries[16];
    uint64_t bytes = 0;

    cr_assert_leq(manifest->count, 16);
    for (size_t i = 0; i < manifest->count; i++) {
        entries[i] = &manifest->items[i];
    }
    return sinter__index_manifest_write(env, &zstd_write, entries, manifest->count, &bytes, err);
}

Test(table_index_manifest, vectors_of_paimon_are_read_and_written_again_byte_for_byte)
{
    sinter__index_manifest manifest = {0};
    const sinter__index_entry *entry = NULL;
    bed_content theirs;
    bed_content ours;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    bed_put_sample(&bed, "index-manifest-0");
    cr_assert_eq(sinter__index_manifest_read(&bed.env, "index-manifest-0", &manifest, NULL),
                 SINTER_OK);
    cr_assert_eq(manifest.count, 2);
    entry = &manifest.items[0];
    cr_expect(bed_is_equal_bytes(entry->index_type, bed_text("DELETION_VECTORS")));
    cr_assert_eq(entry->has, SINTER__INDEX_HAS_VECTORS);
    cr_assert_eq(entry->vectors.count, (size_t)entry->row_count);
    cr_expect_eq(entry->vectors.items[0].offset, 1);
    cr_expect_eq(entry->vectors.items[0].has, SINTER__VECTOR_HAS_CARDINALITY);
    cr_expect_gt(entry->vectors.items[0].cardinality, 0);
    cr_expect(memcmp(entry->vectors.items[0].data_file.data, "data-", 5) == 0);
    cr_assert_eq(write_all(&bed.env, &manifest, NULL), SINTER_OK);
    theirs = bed_content_of(&bed.env, "index-manifest-0");
    ours = bed_content_of(&bed.env, "m");
    cr_expect_str_eq(ours.schema, theirs.schema);
    cr_expect(ours.size == theirs.size && memcmp(ours.records, theirs.records, ours.size) == 0);
    bed_content_fini(&theirs);
    bed_content_fini(&ours);
    sinter__index_manifest_fini(&manifest);
    avro_bed_fini(&bed);
}

Test(table_index_manifest, entries_of_any_type_come_back)
{
    const sinter__vector_range vectors[] = {
        {.data_file = bed_text("d-1"), .offset = 1, .length = 30},
        {.data_file = bed_text("d-2"),
         .offset = 39,
         .length = 24,
         .cardinality = 3,
         .has = SINTER__VECTOR_HAS_CARDINALITY}};
    const sinter__index_entry made[] = {
        {.partition = bed_text("p"),
         .bucket = 1,
         .index_type = bed_text("HASH"),
         .file_name = bed_text("index-1"),
         .file_size = 12,
         .row_count = 3},
        {.index_type = bed_text("DELETION_VECTORS"),
         .file_name = bed_text("index-2"),
         .has = SINTER__INDEX_HAS_VECTORS | SINTER__INDEX_HAS_EXTERNAL_PATH,
         .vectors = {vectors, 2},
         .external_path = bed_text("file:/x/index-2")},
        {.bucket = -2,
         .index_type = bed_text("NEVER_HEARD_OF"),
         .file_name = bed_text("index-3"),
         .has = SINTER__INDEX_HAS_VECTORS}};
    const sinter__index_entry *entries[] = {&made[0], &made[1], &made[2]};
    sinter__index_manifest back = {0};
    uint64_t bytes = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(sinter__index_manifest_write(&bed.env, &zstd_write, entries, 3, &bytes, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__index_manifest_read(&bed.env, "m", &back, NULL), SINTER_OK);
    cr_assert_eq(back.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const sinter__index_entry *entry = &back.items[i];

        cr_expect_eq(entry->bucket, made[i].bucket);
        cr_expect_eq(entry->has, made[i].has);
        cr_expect_eq(entry->file_size, made[i].file_size);
        cr_expect_eq(entry->row_count, made[i].row_count);
        cr_expect_eq(entry->vectors.count, made[i].vectors.count);
        cr_expect(bed_is_equal_bytes(entry->partition, made[i].partition));
        cr_expect(bed_is_equal_bytes(entry->index_type, made[i].index_type));
        cr_expect(bed_is_equal_bytes(entry->file_name, made[i].file_name));
        cr_expect(bed_is_equal_bytes(entry->external_path, made[i].external_path));
    }
    cr_expect_eq(back.items[1].vectors.items[0].has, 0);
    cr_expect_eq(back.items[1].vectors.items[1].cardinality, 3);
    cr_expect_eq(back.items[1].vectors.items[1].length, 24);
    sinter__index_manifest_fini(&back);
    avro_bed_fini(&bed);
}

Test(table_index_manifest, impossible_entries_are_refused_with_what_is_wrong)
{
    const sinter__vector_range bad_place = {.data_file = bed_text("d"), .offset = -1};
    const sinter__vector_range bad_name = {.data_file = bed_text("a/b")};
    const struct {
        sinter__index_entry entry;
        const char *text;
    } cases[] = {
        {{.kind = 1, .file_name = bed_text("f")}, "_KIND is 1, where a full list has ADD only"},
        {{.file_name = bed_text("a/b")}, "_FILE_NAME \"a/b\" is no name of a file"},
        {{.file_name = bed_text("f"), .file_size = -1}, "an index file of -1 bytes and 0 rows"},
        {{.file_name = bed_text("f"), .has = SINTER__INDEX_HAS_VECTORS, .vectors = {&bad_place, 1}},
         "a vector of 0 bytes at -1"},
        {{.file_name = bed_text("f"), .has = SINTER__INDEX_HAS_VECTORS, .vectors = {&bad_name, 1}},
         "f0 \"a/b\" is no name of a file"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter__index_entry *entry = &cases[i].entry;
        sinter__index_manifest back = {0};
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t bytes = 0;
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        cr_assert_eq(sinter__index_manifest_write(&bed.env, &zstd_write, &entry, 1, &bytes, NULL),
                     SINTER_OK);
        cr_expect_eq(sinter__index_manifest_read(&bed.env, "m", &back, &err), SINTER_E_CORRUPT);
        cr_expect_str_eq(err.text, cases[i].text);
        cr_expect_str_eq(err.file, "m");
        sinter__index_manifest_fini(&back);
        avro_bed_fini(&bed);
    }
}

Test(table_index_manifest, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__index_manifest manifest = {0};
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        avro_bed bed;

        fault_alloc_init(&fault, n);
        avro_bed_init(&bed, &fault.env);
        bed_put_sample(&bed, "index-manifest-0");
        st = sinter__index_manifest_read(&bed.env, "index-manifest-0", &manifest, &err);
        if (st == SINTER_OK) {
            st = write_all(&bed.env, &manifest, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter__index_manifest_fini(&manifest);
        cr_assert_eq(fault.live, 0);
        avro_bed_fini(&bed);
    }
}
