#include "table/manifest_list.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_bed.h"
#include "support/fault_alloc.h"

TestSuite(table_manifest_list, .timeout = 120);

static const sinter__meta_write zstd_write = {.path = "m",
                                              .codec = {.codec = SINTER__AVRO_CODEC_ZSTANDARD}};

Test(table_manifest_list, a_list_of_paimon_is_read_and_written_again_byte_for_byte)
{
    sinter__manifest_list list = {0};
    bed_content theirs;
    bed_content ours;
    uint64_t bytes = 0;
    size_t size = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    bed_put_sample(&bed, "manifest-list-0");
    free(avro_bed_get(&bed, "manifest-list-0", &size));
    cr_assert_eq(sinter__manifest_list_read(&bed.env, "manifest-list-0", size, &list, NULL),
                 SINTER_OK);
    cr_assert_eq(list.count, 2);
    cr_expect(memcmp(list.items[0].file_name.data, "manifest-", 9) == 0);
    cr_expect_eq(list.items[0].has, 15);
    cr_expect_gt(list.items[0].added_count, 0);
    cr_expect_eq(list.items[0].partition_stats.has, SINTER__STATS_HAS_NULL_COUNTS);
    cr_assert_eq(
        sinter__manifest_list_write(&bed.env, &zstd_write, list.items, list.count, &bytes, NULL),
        SINTER_OK);
    theirs = bed_content_of(&bed.env, "manifest-list-0");
    ours = bed_content_of(&bed.env, "m");
    cr_expect_str_eq(ours.schema, theirs.schema);
    cr_expect(ours.size == theirs.size && memcmp(ours.records, theirs.records, ours.size) == 0);
    bed_content_fini(&theirs);
    bed_content_fini(&ours);
    sinter__manifest_list_fini(&list);
    avro_bed_fini(&bed);
}

Test(table_manifest_list, an_empty_list_is_as_large_as_that_of_paimon)
{
    sinter__manifest_list list = {0};
    uint64_t bytes = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(sinter__manifest_list_write(&bed.env, &zstd_write, NULL, 0, &bytes, NULL),
                 SINTER_OK);
    cr_expect_eq(bytes, 884);
    cr_assert_eq(sinter__manifest_list_read(&bed.env, "m", bytes, &list, NULL), SINTER_OK);
    cr_expect_eq(list.count, 0);
    sinter__manifest_list_fini(&list);
    avro_bed_fini(&bed);
}

Test(table_manifest_list, another_size_than_that_of_the_snapshot_is_refused)
{
    sinter__manifest_list list = {0};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t bytes = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(sinter__manifest_list_write(&bed.env, &zstd_write, NULL, 0, &bytes, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter__manifest_list_read(&bed.env, "m", bytes + 1, &list, &err),
                 SINTER_E_CORRUPT);
    cr_expect_str_eq(err.text, "the file has 884 bytes where it should have 885");
    sinter__manifest_list_fini(&list);
    avro_bed_fini(&bed);
}

#define STATS                                                                              \
    "{\"type\":\"record\",\"name\":\"s\",\"fields\":[{\"name\":\"_MIN_VALUES\",\"type\":"  \
    "\"bytes\"},{\"name\":\"_MAX_VALUES\",\"type\":\"bytes\"},{\"name\":\"_NULL_COUNTS\"," \
    "\"type\":[\"null\",{\"type\":\"array\",\"items\":[\"null\",\"long\"]}]}]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define OLD_FIELDS                                                                       \
    FIELD("_VERSION", "\"int\"")                                                         \
    "," FIELD("_FILE_NAME", "\"string\"") "," FIELD("_FILE_SIZE", "\"long\"") "," FIELD( \
        "_NUM_ADDED_FILES", "\"long\"") "," FIELD("_NUM_DELETED_FILES", "\"long\"")

static void
put_file(const avro_bed *bed, const char *schema, sinter_bytes record)
{
    const sinter__avro_writer_options options = {.schema = schema};
    sinter__avro_writer *writer = NULL;
    uint8_t *to = NULL;
    uint64_t bytes = 0;

    cr_assert_eq(sinter__avro_writer_open(&bed->env, "f", &options, &writer, NULL), SINTER_OK);
    cr_assert_eq(sinter__avro_writer_reserve(writer, record.size, &to, NULL), SINTER_OK);
    memcpy(to, record.data, record.size);
    cr_assert_eq(sinter__avro_writer_commit(writer, record.size, NULL), SINTER_OK);
    cr_assert_eq(sinter__avro_writer_finish(writer, &bytes, NULL), SINTER_OK);
    sinter__avro_writer_close(writer);
}

Test(table_manifest_list, the_generation_that_wraps_records_in_unions_is_read)
{
    /* Branches in front of the record and of its statistics; no bounds of buckets and levels. */
    static const char schema[] =
        "[\"null\",{\"type\":\"record\",\"name\":\"r\",\"fields\":[" OLD_FIELDS "," FIELD(
            "_PARTITION_STATS", "[\"null\"," STATS "]") "," FIELD("_SCHEMA_ID", "\"long\"") "]}]";
    static const uint8_t record[] = "\2\4\6m-1\20\2\4\2\2a\2b\2\2\0\0\12";
    sinter__manifest_list list = {0};
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    put_file(&bed, schema, (sinter_bytes){record, sizeof record - 1});
    cr_assert_eq(sinter__manifest_list_read(&bed.env, "f", 0, &list, NULL), SINTER_OK);
    cr_assert_eq(list.count, 1);
    cr_expect(bed_is_equal_bytes(list.items[0].file_name, bed_text("m-1")));
    cr_expect_eq(list.items[0].file_size, 8);
    cr_expect_eq(list.items[0].added_count, 1);
    cr_expect_eq(list.items[0].deleted_count, 2);
    cr_expect(bed_is_equal_bytes(list.items[0].partition_stats.max_values, bed_text("b")));
    cr_expect_eq(list.items[0].partition_stats.null_counts.items[0], SINTER__NULL_COUNT_UNKNOWN);
    cr_expect_eq(list.items[0].schema_id, 5);
    cr_expect_eq(list.items[0].has, 0);
    sinter__manifest_list_fini(&list);
    avro_bed_fini(&bed);
}

Test(table_manifest_list, another_version_is_refused_by_name_also_where_fields_are_missing)
{
    static const char *const schemas[] = {
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" OLD_FIELDS
        "," FIELD("_PARTITION_STATS", STATS) "," FIELD("_SCHEMA_ID", "\"long\"") "]}",
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" OLD_FIELDS "]}"};
    static const uint8_t record[] = "\6\6m-1\20\2\4\2a\2b\0\12";

    for (size_t i = 0; i < 2; i++) {
        sinter__manifest_list list = {0};
        sinter_error err = SINTER_ERROR_INIT;
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        put_file(&bed, schemas[i],
                 (sinter_bytes){record, i == 0 ? sizeof record - 1 : sizeof record - 7});
        cr_expect_eq(sinter__manifest_list_read(&bed.env, "f", 0, &list, &err),
                     SINTER_E_UNSUPPORTED);
        cr_expect_str_eq(err.text,
                         "version 3 of a manifest list is not known; 2 is the one that is");
        cr_expect_str_eq(err.file, "f");
        sinter__manifest_list_fini(&list);
        avro_bed_fini(&bed);
    }
}

Test(table_manifest_list, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__manifest_list list = {0};
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t bytes = 0;
        fault_alloc fault;
        avro_bed bed;

        fault_alloc_init(&fault, n);
        avro_bed_init(&bed, &fault.env);
        bed_put_sample(&bed, "manifest-list-0");
        st = sinter__manifest_list_read(&bed.env, "manifest-list-0", 0, &list, &err);
        if (st == SINTER_OK) {
            st = sinter__manifest_list_write(&bed.env, &zstd_write, list.items, list.count, &bytes,
                                             &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter__manifest_list_fini(&list);
        cr_assert_eq(fault.live, 0);
        avro_bed_fini(&bed);
    }
}
