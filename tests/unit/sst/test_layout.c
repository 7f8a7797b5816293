/*
 * The example in docs/sst-format.md is a real file, and what is written today.
 */
#include "sst/layout.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sst_support.h"

TestSuite(sst_layout, .timeout = 120);

static test_record example[] = {
    {.key = {(const uint8_t *)"apple", 5}, .value = {(const uint8_t *)"red", 3}, .sequence = 7},
    {.key = {(const uint8_t *)"banana", 6}, .sequence = 9, .kind = SINTER_KIND_DELETE},
    {.key = {(const uint8_t *)"cherry", 6},
     .value = {(const uint8_t *)"dark", 4},
     .sequence = 8,
     .kind = SINTER_KIND_UPDATE_AFTER},
};

/** Bytes of the hex dump in the document. */
static size_t
read_example(uint8_t *out, size_t room)
{
    FILE *file = fopen(SST_DOCUMENT, "r");
    char line[512];
    size_t size = 0;

    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        const char *p = line + 8;
        int used = 0;
        unsigned byte = 0;

        if (strspn(line, "0123456789abcdef") != 8 || strchr(line, '|') == NULL) {
            continue;
        }
        while (size < room && sscanf(p, " %2x%n", &byte, &used) == 1) {
            out[size++] = (uint8_t)byte;
            p += used;
        }
    }
    (void)fclose(file);
    return size;
}

Test(sst_layout, the_documented_example_is_a_file_with_the_documented_records)
{
    const test_run run = {.records = example, .count = 3};
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t bytes[4096];
    sst_world world;
    size_t size = 0;

    sst_world_init(&world);
    size = read_example(bytes, sizeof bytes);
    cr_assert_gt(size, 500);
    sst_put_file(&world.env, "doc.sst", bytes, size);
    cr_expect_eq(sinter_sst_verify(&world.env, "doc.sst", NULL, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(sst_read_compare(&world.env, "doc.sst", NULL, &run, &err), SINTER_OK, "%s",
                 err.text);
    sst_world_fini(&world);
}

Test(sst_layout, blocks_and_index_are_written_as_documented)
{
    const test_run run = {.records = example, .count = 3};
    const sst_plan plan = {.page_bytes = 0};
    uint8_t bytes[4096];
    size_t written_size = 0;
    size_t properties = 0;
    uint8_t *written = NULL;
    sst_world world;
    size_t size = 0;

    sst_world_init(&world);
    size = read_example(bytes, sizeof bytes);
    cr_assert_eq(sst_write(&world.env, "new.sst", &run, &plan, NULL, NULL), SINTER_OK);
    written = sst_file_bytes(&world.env, "new.sst", &written_size);
    properties = (size_t)sinter__get_le64(bytes + size - SINTER__SST_FOOTER_BYTES);
    cr_assert_leq(properties, written_size);
    cr_expect_arr_eq(written, bytes, properties);
    free(written);
    sst_world_fini(&world);
}

Test(sst_layout, a_footer_comes_back_and_each_changed_byte_is_noticed)
{
    const sinter__sst_footer footer = {.properties_offset = 1,
                                       .properties_size = 2,
                                       .properties_checksum = 3,
                                       .root_offset = 4,
                                       .root_checksum = 5,
                                       .root_size = 6,
                                       .level_count = 7,
                                       .block_count = 8,
                                       .features_compatible = 9,
                                       .features_incompatible = 10,
                                       .file_size = 11,
                                       .version = 12};
    uint8_t bytes[SINTER__SST_FOOTER_BYTES];
    sinter__sst_footer back;

    sinter__sst_put_footer(bytes, &footer);
    cr_assert(sinter__sst_get_footer(bytes, &back));
    cr_expect_eq(back.root_size, 6);
    cr_expect_eq(back.file_size, 11);
    cr_expect_eq(back.version, 12);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 0x10;
        cr_expect_not(sinter__sst_get_footer(bytes, &back), "byte %zu", i);
        bytes[i] ^= 0x10;
    }
}

Test(sst_layout, an_entry_comes_back)
{
    const sinter__sst_entry entry = {.offset = 1,
                                     .value_checksum = 2,
                                     .key_checksum = 3,
                                     .value_stored = 4,
                                     .value_raw = 5,
                                     .key_stored = 6,
                                     .key_raw = 7,
                                     .rows = 8,
                                     .value_codec = 1,
                                     .key_codec = 2,
                                     .keys_front_coded = true,
                                     .streams = 1,
                                     .retracts = 9,
                                     .filter_offset = 10,
                                     .filter_size = 11,
                                     .key_bytes = 12,
                                     .sequence_min = -13,
                                     .sequence_max = 14,
                                     .first_key = {NULL, 15},
                                     .last_key = {NULL, 16}};
    uint8_t bytes[SINTER__SST_ENTRY_BYTES];
    sinter__sst_entry back = {0};

    sinter__sst_put_entry(bytes, &entry);
    sinter__sst_get_entry(bytes, &back);
    cr_expect_eq(back.offset, 1);
    cr_expect_eq(back.value_checksum, 2);
    cr_expect_eq(back.key_checksum, 3);
    cr_expect_eq(bytes[45], 0x82);
    cr_expect(back.key_codec == 2 && back.keys_front_coded);
    cr_expect_eq(sinter__sst_entry_stored(&back), 4 + 6 + 40);
    cr_expect_eq(sinter__sst_entry_raw(&back), 5 + 12);
    cr_expect_eq(back.key_raw, 7);
    cr_expect_eq(back.rows, 8);
    cr_expect(back.value_codec == 1 && back.key_codec == 2 && back.streams == 1);
    cr_expect_eq(back.retracts, 9);
    cr_expect(back.filter_offset == 10 && back.filter_size == 11);
    cr_expect(back.sequence_min == -13 && back.sequence_max == 14);
    cr_expect(back.first_key.size == 15 && back.last_key.size == 16);
}
