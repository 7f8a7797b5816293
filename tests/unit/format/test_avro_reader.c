#include "format/avro_reader.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "avro_bed.h"
#include "support/fault_alloc.h"

TestSuite(format_avro_reader, .timeout = 120);

#define SCHEMA "Obj\1\4\26avro.schema\20\"string\"\24avro.codec"
#define SYNC "0123456789abcdef"
#define PUT(bed, text) avro_bed_put((bed), "f", (text), sizeof(text) - 1)

static sinter_status
read_through(const avro_bed *bed, const sinter__avro_reader_options *options, sinter_error *err)
{
    size_t count = 0;

    return avro_bed_read(&bed->env, "f", options, &count, err);
}

Test(format_avro_reader, files_of_any_size_and_codec_are_read_in_pieces_of_any_size)
{
    static const uint32_t read_sizes[] = {1, 7, 64, 1000, 0};

    for (int codec = 0; codec < 3; codec++) {
        const sinter__avro_writer_options options = {.schema = "\"string\"",
                                                     .codec = {.codec = (sinter__avro_codec)codec},
                                                     .block_bytes = 300};
        avro_bed bed;

        avro_bed_init(&bed, NULL);
        cr_assert_eq(avro_bed_write(&bed.env, "f", &options, 1000, NULL), SINTER_OK);
        for (size_t i = 0; i < sizeof read_sizes / sizeof read_sizes[0]; i++) {
            const sinter__avro_reader_options how = {.read_bytes = read_sizes[i]};
            size_t count = 0;

            cr_assert_eq(avro_bed_read(&bed.env, "f", &how, &count, NULL), SINTER_OK);
            cr_expect_eq(count, 1000);
        }
        avro_bed_fini(&bed);
    }
}

Test(format_avro_reader, an_empty_list_is_a_header_alone)
{
    size_t count = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    PUT(&bed, SCHEMA "\10null\0" SYNC);
    cr_expect_eq(avro_bed_read(&bed.env, "f", NULL, &count, NULL), SINTER_OK);
    cr_expect_eq(count, 0);
    avro_bed_fini(&bed);
}

Test(format_avro_reader, metadata_in_several_blocks_with_sizes_or_without_a_codec_is_read)
{
    sinter__avro_reader *reader = NULL;
    sinter_bytes value = {0};
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    PUT(&bed, "Obj\1\1\50\26avro.schema\20\"string\"\2\2k\4vw\0" SYNC);
    cr_assert_eq(sinter__avro_reader_open(&bed.env, "f", NULL, &reader, NULL), SINTER_OK);
    cr_assert(sinter__avro_reader_meta(reader, "k", &value));
    cr_expect(value.size == 2 && memcmp(value.data, "vw", 2) == 0);
    cr_expect_not(sinter__avro_reader_meta(reader, "avro.codec", &value));
    cr_expect_str_eq(sinter__avro_reader_path(reader), "f");
    sinter__avro_reader_close(reader);
    avro_bed_fini(&bed);
}

Test(format_avro_reader, a_header_larger_than_one_read_is_read)
{
    enum { TEXT = 3 << 20 };
    char *schema = malloc(TEXT + 1);
    const sinter__avro_writer_options options = {.schema = schema};
    size_t count = 0;
    avro_bed bed;

    memset(schema, ' ', TEXT);
    schema[TEXT] = '\0';
    avro_bed_init(&bed, NULL);
    cr_assert_eq(avro_bed_write(&bed.env, "f", &options, 3, NULL), SINTER_OK);
    cr_expect_eq(avro_bed_read(&bed.env, "f", NULL, &count, NULL), SINTER_OK);
    cr_expect_eq(count, 3);
    avro_bed_fini(&bed);
    free(schema);
}

/* What is refused, with the status, the place and a word of the text. */
static void
expect_refused(const char *data, size_t size, sinter_status status, int64_t offset,
               const char *word)
{
    const sinter__avro_reader_options options = {.block_bytes_max = 1000};
    sinter_error err = SINTER_ERROR_INIT;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    avro_bed_put(&bed, "f", data, size);
    cr_expect_eq(read_through(&bed, &options, &err), status, "%s", word);
    cr_expect_str_eq(err.file, "f");
    cr_expect_eq(err.offset, offset, "%s: offset %lld", word, (long long)err.offset);
    cr_expect_not_null(strstr(err.text, word), "%s, not: %s", word, err.text);
    avro_bed_fini(&bed);
}

#define REFUSED(data, status, offset, word) \
    expect_refused((data), sizeof(data) - 1, (status), (offset), (word))

Test(format_avro_reader, damage_is_told_with_file_and_offset)
{
    enum { FIRST = 43 + 16 };

    REFUSED("", SINTER_E_CORRUPT, 0, "no Avro container");
    REFUSED("Obj", SINTER_E_CORRUPT, 0, "no Avro container");
    REFUSED("ORC\1aaaaaaaaaaaaa", SINTER_E_CORRUPT, 0, "no Avro container");
    REFUSED("Obj\1\2\2k\2v\0" SYNC, SINTER_E_CORRUPT, 4, "no avro.schema");
    REFUSED(SCHEMA "\12bzip2\0" SYNC, SINTER_E_UNSUPPORTED, 4, "codec \"bzip2\"");
    REFUSED(SCHEMA "\10null\0" SYNC "\2\3" SYNC, SINTER_E_CORRUPT, FIRST, "-2 bytes");
    REFUSED(SCHEMA "\10null\0" SYNC "\3\2a" SYNC, SINTER_E_CORRUPT, FIRST, "-2 records");
    REFUSED(SCHEMA "\10null\0" SYNC "\2\4a" SYNC, SINTER_E_CORRUPT, FIRST, "beyond the end");
    REFUSED(SCHEMA "\10null\0" SYNC "\2\xd2\x0f", SINTER_E_TOO_LARGE, FIRST, "1000 are the limit");
    REFUSED(SCHEMA "\10null\0" SYNC "\4\2a" SYNC, SINTER_E_CORRUPT, FIRST, "for 2 records");
    REFUSED(SCHEMA "\10null\0" SYNC "\2\2\0"
                   "0123456789abcdeF",
            SINTER_E_CORRUPT, FIRST + 3, "sync marker");
    REFUSED(SCHEMA "\10null\0" SYNC "\xff", SINTER_E_CORRUPT, FIRST, "the head of a block");
    REFUSED(SCHEMA "\22zstandard\0" SYNC "\2\2a" SYNC, SINTER_E_CORRUPT, FIRST + 5, "zstandard");
}

Test(format_avro_reader, another_size_than_the_one_on_record_is_refused)
{
    const sinter__avro_writer_options plain = {.schema = "\"string\""};
    const sinter__avro_reader_options options = {.expected_bytes = 100};
    sinter_error err = SINTER_ERROR_INIT;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(avro_bed_write(&bed.env, "f", &plain, 1, NULL), SINTER_OK);
    cr_expect_eq(read_through(&bed, &options, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.text, "the file has 86 bytes where it should have 100");
    avro_bed_fini(&bed);
}

Test(format_avro_reader, a_file_cut_anywhere_but_behind_a_block_is_refused)
{
    const sinter__avro_writer_options options = {.schema = "\"string\"",
                                                 .codec = {.codec = SINTER__AVRO_CODEC_ZSTANDARD},
                                                 .block_bytes = 40};
    size_t size = 0;
    size_t whole = 0;
    uint8_t *bytes = NULL;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(avro_bed_write(&bed.env, "f", &options, 12, NULL), SINTER_OK);
    bytes = avro_bed_get(&bed, "f", &size);
    for (size_t cut = 0; cut < size; cut++) {
        sinter_error err = SINTER_ERROR_INIT;
        size_t count = 0;
        sinter_status st = SINTER_OK;

        avro_bed_put(&bed, "f", bytes, cut);
        st = avro_bed_read(&bed.env, "f", NULL, &count, &err);
        cr_expect(st == SINTER_E_CORRUPT || (st == SINTER_OK && count % 5 == 0), "cut at %zu", cut);
        cr_expect(st == SINTER_OK || (err.offset >= 0 && err.file[0] == 'f'));
        whole += st == SINTER_OK;
    }
    cr_expect_eq(whole, 3, "none, five and ten records");
    free(bytes);
    avro_bed_fini(&bed);
}

Test(format_avro_reader, the_budget_is_kept_and_given_back)
{
    const sinter__avro_writer_options plain = {.schema = "\"string\""};
    sinter_memory *memory = NULL;
    size_t refused = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(avro_bed_write(&bed.env, "f", &plain, 5000, NULL), SINTER_OK);
    for (uint64_t limit = 16 << 10; limit <= 1 << 20; limit *= 2) {
        size_t count = 0;
        sinter_status st = SINTER_OK;

        cr_assert_eq(sinter_memory_create(sinter_env_default(), limit, &memory, NULL), SINTER_OK);
        bed.env.memory = memory;
        st = avro_bed_read(&bed.env, "f", NULL, &count, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_TOO_LARGE);
        refused += st != SINTER_OK;
        cr_expect_eq(sinter_memory_used(memory), 0);
        sinter_memory_destroy(memory);
    }
    cr_expect(refused > 0 && refused < 7);
    avro_bed_fini(&bed);
}

Test(format_avro_reader, every_allocation_and_every_call_of_the_io_may_fail)
{
    const sinter__avro_writer_options options = {
        .schema = "\"string\"", .codec = {.codec = SINTER__AVRO_CODEC_DEFLATE}, .block_bytes = 100};
    const sinter__avro_reader_options how = {.read_bytes = 200};
    sinter_status st = SINTER_E_NOMEM;
    size_t count = 0;
    avro_bed bed;

    avro_bed_init(&bed, NULL);
    cr_assert_eq(avro_bed_write(&bed.env, "f", &options, 40, NULL), SINTER_OK);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = bed.memory;
        st = avro_bed_read(&fault.env, "f", &how, &count, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        cr_assert_eq(fault.live, 0);
    }
    st = SINTER_E_IO;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_env env = bed.env;
        sinter_io *faulty = NULL;

        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), bed.memory, &rule, &faulty, NULL),
                     SINTER_OK);
        env.io = faulty;
        st = avro_bed_read(&env, "f", &how, &count, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_IO);
        sinter_io_destroy(faulty);
    }
    avro_bed_fini(&bed);
}
