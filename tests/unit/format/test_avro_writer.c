#include "format/avro_writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "avro_bed.h"
#include "support/fault_alloc.h"

TestSuite(format_avro_writer, .timeout = 120);

static const sinter__avro_writer_options plain = {.schema = "\"string\"",
                                                  .codec = {.codec = SINTER__AVRO_CODEC_NULL}};

Test(format_avro_writer, a_small_file_is_what_the_specification_says)
{
    avro_bed bed;
    size_t size = 0;
    uint8_t *bytes = NULL;
    static const char head[] = "Obj\1\4\26avro.schema\20\"string\"\24avro.codec\10null";

    avro_bed_init(&bed, NULL);
    cr_assert_eq(avro_bed_write(&bed.env, "f", &plain, 2, NULL), SINTER_OK);
    bytes = avro_bed_get(&bed, "f", &size);
    cr_assert_eq(size, sizeof head + 16 + 2 + 18 + 16);
    cr_expect_arr_eq(bytes, head, sizeof head); /* with the closing zero, which ends the map */
    cr_expect_arr_eq(bytes + sizeof head + 16, "\4\44\20record 0\20record 1", 20);
    cr_expect_arr_eq(bytes + sizeof head, bytes + size - 16, 16, "the sync marker comes again");
    free(bytes);
    avro_bed_fini(&bed);
}

Test(format_avro_writer, a_block_ends_with_the_record_that_fills_it)
{
    sinter__avro_writer_options options = plain;
    sinter__avro_reader *reader = NULL;
    sinter__avro_block block = {0};
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    options.block_bytes = 20; /* records have 9 bytes */
    cr_assert_eq(avro_bed_write(&bed.env, "f", &options, 7, NULL), SINTER_OK);
    cr_assert_eq(sinter__avro_reader_open(&bed.env, "f", NULL, &reader, NULL), SINTER_OK);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(sinter__avro_reader_next(reader, &block, NULL), SINTER_OK);
        cr_expect_eq(block.count, i < 2 ? 3 : 1);
    }
    cr_expect_eq(sinter__avro_reader_next(reader, &block, NULL), SINTER_END);
    sinter__avro_reader_close(reader);
    avro_bed_fini(&bed);
}

Test(format_avro_writer, the_sync_marker_follows_from_the_seed_and_the_path_or_from_the_system)
{
    uint8_t *bytes[4];
    size_t size = 0;

    for (size_t i = 0; i < 4; i++) {
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        bed.env.random_seed = i < 3 ? 5 : 0;
        cr_assert_eq(avro_bed_write(&bed.env, i == 2 ? "g" : "f", &plain, 1, NULL), SINTER_OK);
        bytes[i] = avro_bed_get(&bed, i == 2 ? "g" : "f", &size);
        avro_bed_fini(&bed);
    }
    cr_expect_arr_eq(bytes[0], bytes[1], size);
    cr_expect_neq(memcmp(bytes[0] + size - 16, bytes[2] + size - 16, 16), 0);
    cr_expect_neq(memcmp(bytes[0] + size - 16, bytes[3] + size - 16, 16), 0);
    for (size_t i = 0; i < 4; i++) {
        free(bytes[i]);
    }
}

Test(format_avro_writer, a_name_that_is_taken_is_not_written_over)
{
    avro_bed bed;
    size_t count = 0;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(avro_bed_write(&bed.env, "f", &plain, 3, NULL), SINTER_OK);
    cr_expect_eq(avro_bed_write(&bed.env, "f", &plain, 5, NULL), SINTER_E_EXISTS);
    cr_assert_eq(avro_bed_read(&bed.env, "f", NULL, &count, NULL), SINTER_OK);
    cr_expect_eq(count, 3);
    avro_bed_fini(&bed);
}

Test(format_avro_writer, a_record_larger_than_any_block_is_refused)
{
    sinter__avro_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t *to = NULL;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(sinter__avro_writer_open(&bed.env, "f", &plain, &writer, NULL), SINTER_OK);
    cr_expect_eq(sinter__avro_writer_reserve(writer, SINTER_BLOCK_BYTES_MAX + 1, &to, &err),
                 SINTER_E_TOO_LARGE);
    cr_expect_str_eq(err.file, "f");
    sinter__avro_writer_close(writer);
    avro_bed_fini(&bed);
}

static sinter_status
write_small_blocks(const sinter_env *env, sinter_error *err)
{
    const sinter__avro_writer_options options = {.schema = "\"string\"",
                                                 .codec = {.codec = SINTER__AVRO_CODEC_ZSTANDARD},
                                                 .block_bytes = 50};

    return avro_bed_write(env, "dir/f", &options, 20, err);
}

Test(format_avro_writer, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        avro_bed bed;

        fault_alloc_init(&fault, n);
        avro_bed_init(&bed, &fault.env);
        cr_assert_eq(bed.memory->ops->mkdir(bed.memory, "dir", NULL), SINTER_OK);
        st = write_small_blocks(&bed.env, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        cr_assert_eq(fault.live, 0);
        avro_bed_fini(&bed);
    }
}

Test(format_avro_writer, every_call_of_the_io_may_fail_and_then_there_is_no_file)
{
    sinter_status st = SINTER_E_IO;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options fault = {
            .struct_size = (uint32_t)sizeof fault, .kind = SINTER_FAULT_ENOSPC, .at_call = n};
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io_stat stat = {0};
        sinter_io *faulty = NULL;
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        cr_assert_eq(bed.memory->ops->mkdir(bed.memory, "dir", NULL), SINTER_OK);
        cr_assert_eq(
            sinter_io_fault_create(sinter_env_default(), bed.memory, &fault, &faulty, NULL),
            SINTER_OK);
        bed.env.io = faulty;
        st = write_small_blocks(&bed.env, &err);
        cr_assert(st == SINTER_OK || st == SINTER_E_NO_SPACE);
        cr_expect_eq(bed.memory->ops->stat(bed.memory, "dir/f", &stat, NULL) == SINTER_OK,
                     st == SINTER_OK);
        sinter_io_destroy(faulty);
        avro_bed_fini(&bed);
    }
}
