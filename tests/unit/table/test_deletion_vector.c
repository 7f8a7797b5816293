#include "table/deletion_vector.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "support/fault_alloc.h"
#include "support/records.h"

TestSuite(table_deletion_vector, .timeout = 120);

static sinter__deletion_vector *
make(sinter__deletion_format format, const uint64_t *positions, size_t count)
{
    sinter__deletion_vector *vector = NULL;
    bool added = false;

    cr_assert_eq(sinter__deletion_vector_create(sinter_env_default(), format, &vector, NULL),
                 SINTER_OK);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(sinter__deletion_vector_add(vector, positions[i], &added, NULL), SINTER_OK);
        cr_assert(added);
    }
    return vector;
}

#define MAKE(format, ...)                           \
    make((format), (const uint64_t[]){__VA_ARGS__}, \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* The bytes of a vector; free() them. */
static uint8_t *
encode(sinter__deletion_vector *vector, size_t *size_out)
{
    uint64_t size = 0;
    uint8_t *bytes = NULL;

    cr_assert_eq(sinter__deletion_vector_encoded_bytes(vector, &size, NULL), SINTER_OK);
    bytes = malloc(size);
    cr_assert_eq((uint64_t)(sinter__deletion_vector_encode(vector, bytes) - bytes), size);
    *size_out = (size_t)size;
    return bytes;
}

static void
expect_same_bytes(sinter__deletion_vector *a, sinter__deletion_vector *b)
{
    size_t size_a = 0;
    size_t size_b = 0;
    uint8_t *bytes_a = encode(a, &size_a);
    uint8_t *bytes_b = encode(b, &size_b);

    cr_assert_eq(size_a, size_b);
    cr_assert_eq(memcmp(bytes_a, bytes_b, size_a), 0);
    free(bytes_a);
    free(bytes_b);
}

Test(table_deletion_vector, the_examples_of_the_layout_page)
{
    static const uint8_t v1[] = {0, 0, 0, 0x18, 0x5e, 0x43, 0xf2, 0xd0, 0x3a, 0x30, 0,
                                 0, 1, 0, 0,    0,    0,    0,    1,    0,    0x10, 0,
                                 0, 0, 1, 0,    4,    0,    0x95, 0x6c, 0xcf, 0x14};
    static const uint8_t v2[] = {0, 0, 0, 0x24, 0xd1, 0xd3, 0x39, 0x64, 1,    0,    0,
                                 0, 0, 0, 0,    0,    0,    0,    0,    0,    0x3a, 0x30,
                                 0, 0, 1, 0,    0,    0,    0,    0,    1,    0,    0x10,
                                 0, 0, 0, 1,    0,    4,    0,    0x27, 0x75, 1,    0x6e};
    sinter__deletion_vector *vector = MAKE(SINTER__DELETION_V1, 4, 1);
    size_t size = 0;
    uint8_t *bytes = encode(vector, &size);

    cr_assert_eq(size, sizeof v1);
    cr_expect_arr_eq(bytes, v1, size);
    free(bytes);
    sinter__deletion_vector_widen(vector);
    bytes = encode(vector, &size);
    cr_assert_eq(size, sizeof v2);
    cr_expect_arr_eq(bytes, v2, size);
    free(bytes);
    sinter__deletion_vector_destroy(vector);
}

Test(table_deletion_vector, a_vector_that_grew_from_commit_to_commit_has_the_bytes_of_the_reference)
{
    /* Of a table that Paimon wrote: the rows 8 to 11 were deleted by one commit, then 3 and 5. */
    static const uint8_t theirs[] = {0, 0, 0, 0x1b, 0x5e, 0x43, 0xf2, 0xd0, 0x3b, 0x30, 0,   0,
                                     1, 0, 0, 5,    0,    3,    0,    3,    0,    0,    0,   5,
                                     0, 0, 0, 8,    0,    3,    0,    0x80, 0x33, 0x31, 0x42};
    const sinter__deletion_source source = {.bytes = {theirs, sizeof theirs}};
    sinter__deletion_vector *vector = MAKE(SINTER__DELETION_V1, 8, 9, 10, 11);
    sinter__deletion_vector *read = NULL;
    size_t size = 0;
    bool added = false;
    uint8_t *bytes = encode(vector, &size);

    free(bytes);
    cr_assert_eq(sinter__deletion_vector_add(vector, 3, &added, NULL), SINTER_OK);
    cr_assert_eq(sinter__deletion_vector_add(vector, 5, &added, NULL), SINTER_OK);
    bytes = encode(vector, &size);
    cr_assert_eq(size, sizeof theirs);
    cr_expect_arr_eq(bytes, theirs, size);
    cr_assert_eq(sinter__deletion_vector_decode(sinter_env_default(), &source, &read, NULL),
                 SINTER_OK);
    expect_same_bytes(read, vector);
    sinter__deletion_vector_destroy(read);
    sinter__deletion_vector_destroy(vector);
    free(bytes);
}

Test(table_deletion_vector, positions_out_of_the_range_of_the_format_are_refused)
{
    static const struct {
        sinter__deletion_format format;
        uint64_t position;
    } cases[] = {
        {SINTER__DELETION_V1, INT32_MAX},
        {SINTER__DELETION_V2, ((uint64_t)INT32_MAX - 1) << 32 | 0x80000000u},
    };

    for (size_t i = 0; i < 2; i++) {
        sinter__deletion_vector *vector = make(cases[i].format, &cases[i].position, 1);
        const uint64_t refused[] = {cases[i].position + 1, UINT64_MAX, (uint64_t)INT64_MIN};
        sinter_error err = SINTER_ERROR_INIT;
        bool added = true;

        for (size_t j = 0; j < 3; j++) {
            cr_expect_eq(sinter__deletion_vector_add(vector, refused[j], &added, &err),
                         SINTER_E_OVERFLOW);
            cr_expect_not(added);
            cr_expect_not(sinter__deletion_vector_contains(vector, refused[j]));
        }
        cr_expect_not_null(strstr(err.text, "position out of range"));
        cr_expect_eq(sinter__deletion_vector_count(vector), 1);
        cr_expect(sinter__deletion_vector_contains(vector, cases[i].position));
        sinter__deletion_vector_destroy(vector);
    }
}

Test(table_deletion_vector, positions_of_format_2_ascend_over_upper_halves)
{
    const uint64_t high = (uint64_t)5 << 32;
    sinter__deletion_vector *vector =
        MAKE(SINTER__DELETION_V2, high | UINT32_MAX, 7, high, (uint64_t)1 << 32, 8);
    const uint64_t expected[][2] = {{7, 8},
                                    {(uint64_t)1 << 32, (uint64_t)1 << 32},
                                    {high, high},
                                    {high | UINT32_MAX, high | UINT32_MAX}};
    sinter__deletion_run run = {0};
    uint64_t from = 0;

    for (size_t i = 0; i < 4; i++) {
        cr_assert(sinter__deletion_vector_next(vector, from, &run));
        cr_expect(run.first == expected[i][0] && run.last == expected[i][1]);
        from = run.last + 1;
    }
    cr_expect_not(sinter__deletion_vector_next(vector, from, &run));
    cr_assert(sinter__deletion_vector_next(vector, 8, &run));
    cr_expect(run.first == 8 && run.last == 8);
    sinter__deletion_vector_destroy(vector);
}

Test(table_deletion_vector, vectors_are_merged_inside_one_format_only)
{
    sinter__deletion_vector *a = MAKE(SINTER__DELETION_V1, 1, 2);
    sinter__deletion_vector *b = MAKE(SINTER__DELETION_V2, 2, 3, (uint64_t)9 << 32);
    sinter__deletion_vector *both = MAKE(SINTER__DELETION_V2, (uint64_t)9 << 32, 3, 2, 1);
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter__deletion_vector_merge(a, b, &err), SINTER_E_INVALID);
    cr_expect_eq(sinter__deletion_vector_merge(b, a, &err), SINTER_E_INVALID);
    cr_expect_eq(sinter__deletion_vector_count(a), 2);
    sinter__deletion_vector_widen(a);
    cr_assert_eq(sinter__deletion_vector_merge(a, b, &err), SINTER_OK);
    expect_same_bytes(a, both);
    cr_assert_eq(sinter__deletion_vector_merge(b, a, &err), SINTER_OK);
    expect_same_bytes(b, both);
    sinter__deletion_vector_destroy(a);
    sinter__deletion_vector_destroy(b);
    sinter__deletion_vector_destroy(both);
}

Test(table_deletion_vector, a_widened_vector_is_one_of_the_other_format)
{
    sinter__deletion_vector *none[2] = {make(SINTER__DELETION_V1, NULL, 0),
                                        make(SINTER__DELETION_V2, NULL, 0)};
    sinter__deletion_vector *some[2] = {MAKE(SINTER__DELETION_V1, 70000, 3),
                                        MAKE(SINTER__DELETION_V2, 3, 70000)};
    bool added = false;

    sinter__deletion_vector_widen(none[0]);
    sinter__deletion_vector_widen(some[0]);
    cr_expect_eq(sinter__deletion_vector_format(some[0]), SINTER__DELETION_V2);
    expect_same_bytes(none[0], none[1]);
    expect_same_bytes(some[0], some[1]);
    cr_expect_eq(sinter__deletion_vector_add(some[0], (uint64_t)INT32_MAX + 1, &added, NULL),
                 SINTER_OK);
    for (size_t i = 0; i < 2; i++) {
        sinter__deletion_vector_destroy(none[i]);
        sinter__deletion_vector_destroy(some[i]);
    }
}

Test(table_deletion_vector, a_vector_that_would_take_2_gib_is_told_before_it_is_written)
{
    sinter__deletion_vector *vector =
        MAKE(SINTER__DELETION_V2, SINTER__DELETION_V2_POSITION_MAX, 1);
    sinter__deletion_vector *largest = MAKE(SINTER__DELETION_V2, (uint64_t)178956967 << 32);
    sinter__deletion_vector *larger = MAKE(SINTER__DELETION_V2, (uint64_t)178956968 << 32);
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t bytes = 0;

    cr_expect_eq(sinter__deletion_vector_encoded_bytes(vector, &bytes, &err), SINTER_E_TOO_LARGE);
    cr_expect_not_null(strstr(err.text, "2 GiB"));
    cr_expect_eq(sinter__deletion_vector_encoded_bytes(largest, &bytes, NULL), SINTER_OK);
    cr_expect_eq(bytes, 2147483646);
    cr_expect_eq(sinter__deletion_vector_encoded_bytes(larger, &bytes, NULL), SINTER_E_TOO_LARGE);
    sinter__deletion_vector_destroy(vector);
    sinter__deletion_vector_destroy(largest);
    sinter__deletion_vector_destroy(larger);
}

/* ---- bytes ---- */

/** Bytes of a vector with a frame that fits around a bitmap. */
typedef struct framed {
    uint8_t bytes[256];
    size_t size;
} framed;

static framed
frame(uint32_t magic, const char *bitmap, size_t size)
{
    framed f = {.size = 12 + size};

    sinter__put_be32(f.bytes, (uint32_t)size + 4);
    sinter__put_be32(f.bytes + 4, magic);
    memcpy(f.bytes + 8, bitmap, size);
    sinter__put_be32(f.bytes + 8 + size, (uint32_t)crc32(0, f.bytes + 4, (uInt)size + 4));
    return f;
}

static sinter_status
decode(const uint8_t *bytes, size_t size, uint64_t length, sinter__deletion_vector **out,
       sinter_error *err)
{
    uint8_t *tight = malloc(size + 1);
    sinter_status st = SINTER_OK;

    memcpy(tight, bytes, size);
    st = sinter__deletion_vector_decode(
        sinter_env_default(),
        &(sinter__deletion_source){
            .path = "index/i", .offset = 1000, .bytes = {tight, size}, .length = length},
        out, err);
    free(tight);
    return st;
}

static void
expect_refused(const framed *f, uint64_t length, int64_t offset, const char *word)
{
    sinter__deletion_vector *vector = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(decode(f->bytes, f->size, length, &vector, &err), SINTER_E_CORRUPT, "%s", word);
    cr_expect_null(vector);
    cr_expect_str_eq(err.file, "index/i");
    cr_expect_eq(err.offset, 1000 + offset, "%s: offset %lld", word, (long long)err.offset);
    cr_expect_not_null(strstr(err.text, word), "%s, not: %s", word, err.text);
}

#define V1 0x5e43f2d0u
#define V2 0xd1d33964u
#define REFUSED(magic, bitmap, offset, word)                                 \
    do {                                                                     \
        const framed refused = frame((magic), (bitmap), sizeof(bitmap) - 1); \
        expect_refused(&refused, 0, (offset), (word));                       \
    } while (0)
#define EMPTY "\x3a\x30\0\0\0\0\0\0"
#define TWO "\x3a\x30\0\0\1\0\0\0\0\0\1\0\x10\0\0\0\5\0\6\0"
#define ONE "\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\5\0"

Test(table_deletion_vector, frames_and_bitmaps_that_make_no_sense_are_told_with_file_and_offset)
{
    REFUSED(0x64d3d139u, EMPTY, 4, "bad magic: no deletion vector has 0x64d3d139");
    REFUSED(V1, "\x3a\x30\0\0\0\0\0", 0, "length mismatch");
    REFUSED(V1, EMPTY "\0", 16, "length mismatch: 1 bytes behind");
    REFUSED(V1, "\x3b\x30\0\0\0\0\0\0", 13, "truncated");
    REFUSED(V1, "\x3a\x30\0\0\1\0\0\0\0\x80\0\0\x10\0\0\0\0\0", 26,
            "position out of range: 2147483648");
    REFUSED(V2, "\1\0\0\0\0\0\0\0\0\0\0\0" EMPTY "\0", 28, "length mismatch: 1 bytes behind");
    REFUSED(V2, "\1\0\0\0\0\0\0\0", 16, "1 bitmaps in a deletion vector of 8 bytes");
    REFUSED(V2, "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0" EMPTY, 16, "18446744073709551615");
    REFUSED(V2, "\1\0\0\0\0\0\0\0\xff\xff\xff\x7f" ONE, 16, "upper half 2147483647");
    REFUSED(V2, "\2\0\0\0\0\0\0\0\1\0\0\0" EMPTY "\1\0\0\0" EMPTY, 28, "upper half 1 behind 1");
    REFUSED(V2, "\2\0\0\0\0\0\0\0\0\0\0\0" TWO, 40,
            "truncated: a deletion vector ends at bitmap 1 of 2");
    REFUSED(V2, "\1\0\0\0\0\0\0\0\xfe\xff\xff\x7f\x3a\x30\0\0\1\0\0\0\0\x80\0\0\x10\0\0\0\1\0", 38,
            "position out of range: 9223372030412324865");
}

Test(table_deletion_vector, lengths_of_ranges_are_those_of_the_format)
{
    const framed v1 = frame(V1, ONE, sizeof ONE - 1);
    const framed v2 = frame(V2, "\1\0\0\0\0\0\0\0\0\0\0\0" ONE, sizeof ONE - 1 + 12);
    sinter__deletion_vector *vector = NULL;

    cr_assert_eq(decode(v1.bytes, v1.size, v1.size - 8, &vector, NULL), SINTER_OK);
    cr_expect(sinter__deletion_vector_contains(vector, 5));
    sinter__deletion_vector_destroy(vector);
    cr_assert_eq(decode(v2.bytes, v2.size, v2.size, &vector, NULL), SINTER_OK);
    cr_expect(sinter__deletion_vector_contains(vector, 5));
    sinter__deletion_vector_destroy(vector);
    expect_refused(&v1, v1.size, 0, "length mismatch");
    expect_refused(&v2, v2.size - 8, 0, "length mismatch");
}

Test(table_deletion_vector, missing_and_empty_upper_halves_are_read)
{
    const framed f = frame(V2, "\2\0\0\0\0\0\0\0\3\0\0\0" ONE "\x07\0\0\0" EMPTY, 8 + 22 + 12);
    sinter__deletion_vector *vector = NULL;
    sinter__deletion_vector *expected = MAKE(SINTER__DELETION_V2, (uint64_t)3 << 32 | 5);

    cr_assert_eq(decode(f.bytes, f.size, 0, &vector, NULL), SINTER_OK);
    cr_expect_eq(sinter__deletion_vector_count(vector), 1);
    expect_same_bytes(vector, expected);
    sinter__deletion_vector_destroy(vector);
    sinter__deletion_vector_destroy(expected);
}

Test(table_deletion_vector, a_wrong_checksum_is_damage_unless_it_is_to_be_ignored)
{
    framed f = frame(V1, ONE, sizeof ONE - 1);
    sinter__deletion_source source = {.bytes = {f.bytes, f.size}};
    sinter__deletion_vector *vector = NULL;

    f.bytes[f.size - 1] ^= 1;
    expect_refused(&f, 0, (int64_t)f.size - 4, "checksum mismatch");
    source.flags = SINTER__DELETION_IGNORE_CHECKSUM;
    cr_assert_eq(sinter__deletion_vector_decode(sinter_env_default(), &source, &vector, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter__deletion_vector_count(vector), 1);
    sinter__deletion_vector_destroy(vector);
}

/* ---- memory ---- */

static sinter_status
work(const sinter_env *env, sinter__deletion_format format, sinter_error *err)
{
    const uint64_t step = format == SINTER__DELETION_V1 ? 30000 : (uint64_t)1 << 31;
    sinter__deletion_vector *a = NULL;
    sinter__deletion_vector *b = NULL;
    sinter__deletion_vector *c = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool added = false;
    sinter_status st = sinter__deletion_vector_create(env, format, &a, err);

    if (st == SINTER_OK) {
        st = sinter__deletion_vector_create(env, format, &b, err);
    }
    for (uint64_t i = 0; i < 40 && st == SINTER_OK; i++) {
        const uint64_t count = sinter__deletion_vector_count(a);

        st = sinter__deletion_vector_add(i % 3 == 0 ? b : a, (40 - i) * step, &added, err);
        cr_assert_eq(added, st == SINTER_OK);
        cr_assert_eq(sinter__deletion_vector_count(a) - count, added && i % 3 != 0);
    }
    if (st == SINTER_OK) {
        st = sinter__deletion_vector_merge(a, b, err);
    }
    if (st == SINTER_OK) {
        cr_assert_eq(sinter__deletion_vector_count(a), 40);
        bytes = encode(a, &size);
        st = sinter__deletion_vector_decode(env, &(sinter__deletion_source){.bytes = {bytes, size}},
                                            &c, err);
        cr_assert((st == SINTER_OK) == (c != NULL));
    } else if (a != NULL) {
        free(encode(a, &size)); /* what was half merged is sound */
    }
    sinter__deletion_vector_destroy(a);
    sinter__deletion_vector_destroy(b);
    sinter__deletion_vector_destroy(c);
    free(bytes);
    return st;
}

Test(table_deletion_vector, every_allocation_may_fail)
{
    for (int format = 1; format <= 2; format++) {
        sinter_status st = SINTER_E_NOMEM;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;

            fault_alloc_init(&fault, n);
            st = work(&fault.env, (sinter__deletion_format)format, &err);
            cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
            cr_assert_eq(fault.live, 0);
        }
    }
}

Test(table_deletion_vector, a_budget_is_kept_and_given_back)
{
    sinter_status st = SINTER_E_TOO_LARGE;

    for (uint64_t limit = 16; st != SINTER_OK; limit *= 2) {
        sinter_env env = *sinter_env_default();

        cr_assert_lt(limit, 1 << 20);
        cr_assert_eq(sinter_memory_create(sinter_env_default(), limit, &env.memory, NULL),
                     SINTER_OK);
        st = work(&env, SINTER__DELETION_V2, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_TOO_LARGE);
        cr_assert_eq(sinter_memory_used(env.memory), 0);
        sinter_memory_destroy(env.memory);
    }
}
