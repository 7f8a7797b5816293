#include "table/meta_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_bed.h"

TestSuite(table_meta_file, .timeout = 60);

static void
refused(const char *data, size_t size, sinter_status status, const char *text)
{
    sinter__manifest_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    avro_bed_put(&bed, "m", data, size);
    cr_expect_eq(sinter__manifest_open(&bed.env, "m", NULL, NULL, &reader, &err), status);
    cr_expect_null(reader);
    cr_expect_str_eq(err.text, text);
    cr_expect_str_eq(err.file, "m");
    cr_expect_eq(err.offset, 0);
    avro_bed_fini(&bed);
}

Test(table_meta_file, what_a_file_is_made_of_is_seen_at_its_first_bytes)
{
    static const char none[] = "no Avro container: it doesn't begin with \"Obj\" 1";

    refused("PAR2more", 8, SINTER_E_CORRUPT, none);
    refused("OR", 2, SINTER_E_CORRUPT, none);
    refused("", 0, SINTER_E_CORRUPT, none);
}

Test(table_meta_file, formats_go_by_their_names)
{
    sinter__meta_format format = SINTER__META_AVRO;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__meta_format_find("orc", &format, NULL), SINTER_OK);
    cr_expect_eq(format, SINTER__META_ORC);
    cr_assert_eq(sinter__meta_format_find("parquet", &format, NULL), SINTER_OK);
    cr_expect_eq(format, SINTER__META_PARQUET);
    cr_assert_eq(sinter__meta_format_find("avro", &format, NULL), SINTER_OK);
    cr_expect_eq(format, SINTER__META_AVRO);
    cr_expect_eq(sinter__meta_format_find("csv", &format, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "csv"), "%s", err.text);
}

Test(table_meta_file, a_file_that_is_not_there_is_told_so)
{
    sinter__manifest_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_expect_eq(sinter__manifest_open(&bed.env, "m", NULL, NULL, &reader, &err),
                 SINTER_E_NOT_FOUND);
    cr_expect_str_eq(err.file, "m");
    avro_bed_fini(&bed);
}

Test(table_meta_file, codecs_go_by_the_names_of_paimon_and_avro)
{
    static const struct {
        const char *name;
        sinter__avro_codec codec;
    } cases[] = {{"zstd", SINTER__AVRO_CODEC_ZSTANDARD},
                 {"zstandard", SINTER__AVRO_CODEC_ZSTANDARD},
                 {"deflate", SINTER__AVRO_CODEC_DEFLATE},
                 {"null", SINTER__AVRO_CODEC_NULL}};
    sinter__avro_codec_choice choice = {0};
    sinter_error err = SINTER_ERROR_INIT;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(sinter__meta_codec(cases[i].name, 3, &choice, NULL), SINTER_OK);
        cr_expect(choice.codec == cases[i].codec && choice.level == 3);
    }
    cr_expect_eq(sinter__meta_codec("bzip2", 1, &choice, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "codec \"bzip2\": null, deflate"), "%s", err.text);
}

Test(table_meta_file, bytes_behind_the_last_record_of_a_block_are_refused)
{
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry *entries[64];
    sinter__avro_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t *to = NULL;
    uint64_t bytes = 0;
    size_t count = 0;
    bed_content content;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    bed_put_sample(&bed, "manifest-0");
    content = bed_content_of(&bed.env, "manifest-0");
    cr_assert_eq(sinter__avro_writer_open(
                     &bed.env, "m", &(const sinter__avro_writer_options){.schema = content.schema},
                     &writer, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__avro_writer_reserve(writer, content.size, &to, NULL), SINTER_OK);
    memcpy(to, content.records, content.size);
    cr_assert_eq(sinter__avro_writer_commit(writer, content.size, NULL), SINTER_OK);
    cr_assert_eq(sinter__avro_writer_finish(writer, &bytes, NULL), SINTER_OK);
    sinter__avro_writer_close(writer);
    cr_assert_gt(content.count, 1);
    cr_expect_eq(bed_read(&bed.env, "m", NULL, &arena, entries, 64, &count, &err),
                 SINTER_E_CORRUPT);
    cr_expect_not_null(strstr(err.text, "bytes follow the last record of a block"), "%s", err.text);
    bed_content_fini(&content);
    sinter__arena_fini(&arena);
    avro_bed_fini(&bed);
}
