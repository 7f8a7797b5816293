#include "sst/properties.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/bytes.h"
#include "sst_support.h"

TestSuite(sst_properties, .timeout = 120);

static const sinter_sst_properties sample = {.row_count = 1,
                                             .retract_count = 2,
                                             .raw_key_bytes = 3,
                                             .raw_value_bytes = 4,
                                             .stored_bytes = 5,
                                             .sequence_min = INT64_MIN,
                                             .sequence_max = INT64_MAX,
                                             .creation_time_ms = 6,
                                             .min_key = {(const uint8_t *)"a\0b", 3},
                                             .max_key = {(const uint8_t *)"z", 1},
                                             .level = -1,
                                             .codec = 2,
                                             .schema_id = UINT32_MAX,
                                             .filter_bits_per_key = 10,
                                             .key_types = "INT\nBIGINT",
                                             .row_type = NULL,
                                             .writer_version = "test",
                                             .largest_block = 7,
                                             .largest_key_part = 8,
                                             .largest_value_part = 9,
                                             .largest_block_rows = 10,
                                             .largest_page = 11};

/** A section with one user property "colour". */
static sinter__buffer
section(const sinter_env *env)
{
    sinter__buffer user = {0};
    sinter__buffer out = {0};

    cr_assert_eq(sinter__sst_put_property(env, "colour", (sinter_bytes){(const uint8_t *)"red", 4},
                                          &user, NULL),
                 SINTER_OK);
    cr_assert_eq(
        sinter__sst_put_properties(env, &sample, (sinter_bytes){user.data, user.size}, &out, NULL),
        SINTER_OK);
    sinter__buffer_fini(env, &user);
    return out;
}

Test(sst_properties, come_back_as_they_were)
{
    const sinter_env *env = sinter_env_default();
    sinter__buffer bytes = section(env);
    sinter_sst_properties back = {0};

    cr_assert_null(sinter__sst_get_properties((sinter_bytes){bytes.data, bytes.size}, &back));
    cr_expect_eq(back.row_count, 1);
    cr_expect_eq(back.retract_count, 2);
    cr_expect_eq(back.raw_key_bytes, 3);
    cr_expect_eq(back.raw_value_bytes, 4);
    cr_expect_eq(back.stored_bytes, 5);
    cr_expect_eq(back.sequence_min, INT64_MIN);
    cr_expect_eq(back.sequence_max, INT64_MAX);
    cr_expect_eq(back.creation_time_ms, 6);
    cr_expect(test_bytes_equal(back.min_key, sample.min_key));
    cr_expect(test_bytes_equal(back.max_key, sample.max_key));
    cr_expect_eq(back.level, -1);
    cr_expect_eq(back.codec, 2);
    cr_expect_eq(back.schema_id, UINT32_MAX);
    cr_expect_eq(back.filter_bits_per_key, 10);
    cr_expect_str_eq(back.key_types, "INT\nBIGINT");
    cr_expect_str_eq(back.row_type, "");
    cr_expect_str_eq(back.writer_version, "test");
    cr_expect(back.largest_block == 7 && back.largest_key_part == 8);
    cr_expect(back.largest_value_part == 9 && back.largest_block_rows == 10);
    cr_expect_eq(back.largest_page, 11);
    cr_expect_str_eq(sinter__sst_find_property((sinter_bytes){bytes.data, bytes.size}, "colour"),
                     "red");
    cr_expect_null(
        sinter__sst_find_property((sinter_bytes){bytes.data, bytes.size}, "sinter.level"));
    sinter__buffer_fini(env, &bytes);
}

Test(sst_properties, a_cut_section_is_refused_wherever_it_is_cut)
{
    const sinter_env *env = sinter_env_default();
    sinter__buffer bytes = section(env);
    const size_t user_size = 8 + 7 + 4;
    /* The properties that a file may lack, the last one first. */
    static const char *const optional[] = {"sinter.largest_page", "sinter.largest_block_rows",
                                           "sinter.largest_value_part", "sinter.largest_key_part",
                                           "sinter.largest_block"};
    enum { OPTIONAL_COUNT = sizeof optional / sizeof optional[0] };
    size_t whole[OPTIONAL_COUNT + 1] = {bytes.size - user_size};
    sinter_sst_properties back = {0};

    for (size_t i = 0; i < OPTIONAL_COUNT; i++) {
        whole[i + 1] = whole[i] - (8 + strlen(optional[i]) + 1 + 8);
        cr_assert_str_eq((const char *)bytes.data + whole[i + 1] + 8, optional[i]);
    }
    for (size_t size = 0; size < bytes.size; size++) {
        bool is_whole = false;

        for (size_t i = 0; i <= OPTIONAL_COUNT; i++) {
            is_whole = is_whole || size == whole[i];
        }
        cr_expect_eq(sinter__sst_get_properties((sinter_bytes){bytes.data, size}, &back) == NULL,
                     is_whole, "%zu bytes", size);
    }
    sinter__buffer_fini(env, &bytes);
}

Test(sst_properties, the_largest_of_each_kind_may_be_of_different_blocks)
{
    const sinter__sst_entry wide = {
        .value_stored = 100, .value_raw = 900, .key_stored = 60, .key_raw = 70, .rows = 2};
    const sinter__sst_entry many = {
        .value_stored = 10, .value_raw = 20, .key_stored = 500, .key_raw = 800, .rows = 90};
    sinter_sst_properties largest = {0};

    sinter__sst_count_largest(&largest, &wide);
    cr_expect_eq(largest.largest_block, 100 + 60 + 40);
    sinter__sst_count_largest(&largest, &many);
    cr_expect_eq(largest.largest_block, 10 + 500 + 40);
    cr_expect_eq(largest.largest_key_part, 800);
    cr_expect_eq(largest.largest_value_part, 900);
    cr_expect_eq(largest.largest_block_rows, 90);
}

/** Append one more property to the sample; is it accepted? */
static bool
accepts_also(const char *name, const void *value, size_t size)
{
    const sinter_env *env = sinter_env_default();
    sinter__buffer bytes = section(env);
    sinter_sst_properties back = {0};
    bool answer = false;

    cr_assert_eq(sinter__sst_put_property(env, name, (sinter_bytes){value, size}, &bytes, NULL),
                 SINTER_OK);
    answer = sinter__sst_get_properties((sinter_bytes){bytes.data, bytes.size}, &back) == NULL;
    sinter__buffer_fini(env, &bytes);
    return answer;
}

Test(sst_properties, additions_are_skipped_and_nonsense_is_refused)
{
    cr_expect(accepts_also("sinter.of_tomorrow", "\x01\x02", 2), "unknown own names are skipped");
    cr_expect(accepts_also("size", "big", 4));
    cr_expect_not(accepts_also("sinter.level", "\0\0\0\0\0\0\0\0", 8), "twice");
    cr_expect_not(accepts_also("size", "big", 3), "a text without its end");
    cr_expect_not(accepts_also("size", "b\0g", 4), "a text that ends early");
}

Test(sst_properties, a_number_out_of_range_is_refused)
{
    const sinter_env *env = sinter_env_default();
    sinter__buffer bytes = section(env);
    sinter_sst_properties back = {0};
    uint8_t *place = NULL;

    for (size_t i = 0; i + 13 < bytes.size; i++) {
        if (memcmp(bytes.data + i, "sinter.level", 13) == 0) {
            place = bytes.data + i + 13;
        }
    }
    cr_assert_not_null(place);
    sinter__put_le64(place, (uint64_t)INT32_MAX + 1);
    cr_expect_not_null(sinter__sst_get_properties((sinter_bytes){bytes.data, bytes.size}, &back));
    sinter__buffer_fini(env, &bytes);
}
