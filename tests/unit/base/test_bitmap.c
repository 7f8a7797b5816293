/*
 * Bitmaps, by hand, against an array of bools, and against CRoaring where the build has it.
 */
#include "base/bitmap.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/fault_alloc.h"
#include "support/records.h"

#ifdef SINTER_TEST_ROARING
#include <roaring/roaring.h>
#endif

TestSuite(base_bitmap, .timeout = 240);

enum { CHUNK = 65536, CHUNKS = 6, NUMBERS = CHUNKS * CHUNK };

/** A bitmap and what should be in it: of the numbers below NUMBERS, with `base` added. */
typedef struct twin {
    sinter__bitmap bitmap;
    uint32_t base;
    bool *has;
} twin;

static void
twin_init(twin *t, uint32_t base)
{
    *t = (twin){.bitmap = {.env = sinter_env_default()}, .base = base};
    t->has = calloc(NUMBERS, sizeof *t->has);
    cr_assert_not_null(t->has);
}

static void
twin_fini(twin *t)
{
    sinter__bitmap_fini(&t->bitmap);
    free(t->has);
}

static void
twin_add(twin *t, uint32_t number)
{
    bool added = false;

    cr_assert_eq(sinter__bitmap_add(&t->bitmap, t->base + number, &added, NULL), SINTER_OK);
    cr_assert_eq(added, !t->has[number]);
    t->has[number] = true;
}

/* Add some numbers of a chunk: few, many, or in runs, in any order. */
static void
twin_grow(twin *t, test_rng *rng)
{
    const uint32_t begin = (uint32_t)test_rng_below(rng, CHUNKS) * CHUNK;
    const uint64_t shape = test_rng_below(rng, 4);
    const uint64_t steps = shape == 3 ? 9000 : test_rng_below(rng, 600);
    const uint32_t stride = 1 + (uint32_t)test_rng_below(rng, 3);
    uint32_t at = (uint32_t)test_rng_below(rng, CHUNK);

    for (uint64_t i = 0; i < steps; i++) {
        if (shape == 0 || shape == 3 || test_rng_chance(rng, 1)) {
            at = (uint32_t)test_rng_below(rng, CHUNK);
        }
        twin_add(t, begin + at);
        at = shape == 1 ? (at + stride) % CHUNK : (at + CHUNK - stride) % CHUNK;
    }
}

static bool
has(const twin *t, uint64_t number)
{
    return number >= t->base && number - t->base < NUMBERS && t->has[number - t->base];
}

/* Bytes that the format page's rule gives. */
static uint64_t
bytes_by_the_rule(const twin *t)
{
    uint64_t data = 0;
    uint64_t chunks = 0;
    bool any_runs = false;

    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        uint64_t count = 0;
        uint64_t runs = 0;
        uint64_t plain = 0;

        for (uint32_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
            count += t->has[i];
            runs += t->has[i] && (i % CHUNK == 0 || !t->has[i - 1]);
        }
        plain = count <= 4096 ? 2 * count : 8192;
        if (count > 0) {
            chunks++;
            any_runs = any_runs || 2 + 4 * runs < plain;
            data += 2 + 4 * runs < plain ? 2 + 4 * runs : plain;
        }
    }
    return data + 4 * chunks + (any_runs ? 4 + (chunks + 7) / 8 : 8) +
           (any_runs && chunks < 4 ? 0 : 4 * chunks);
}

static void
expect_the_same(const twin *t, const sinter__bitmap *bitmap)
{
    sinter__bitmap_run run;
    uint64_t count = 0;
    uint64_t from = 0;

    while (from <= UINT32_MAX && sinter__bitmap_next(bitmap, (uint32_t)from, &run)) {
        cr_assert_geq(run.first, from);
        for (uint64_t i = run.first; i <= run.last; i++) {
            cr_assert(has(t, i), "%" PRIu64 " is not in it", i);
        }
        cr_assert(run.last % CHUNK == CHUNK - 1 || !has(t, (uint64_t)run.last + 1));
        count += run.last - run.first + 1;
        from = (uint64_t)run.last + 1;
        cr_assert_eq(sinter__bitmap_last(bitmap) >= run.last, true);
    }
    cr_assert_eq(bitmap->count, count);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        count -= t->has[i];
    }
    cr_assert_eq(count, 0);
    for (uint32_t i = 0; i < NUMBERS; i += 7) {
        cr_assert_eq(sinter__bitmap_contains(bitmap, t->base + i), t->has[i]);
    }
}

/* The bytes of a bitmap; free() them. */
static uint8_t *
encode(sinter__bitmap *bitmap, size_t *size_out)
{
    uint8_t *bytes = NULL;

    *size_out = (size_t)sinter__bitmap_encoded_bytes(bitmap);
    bytes = malloc(*size_out);
    cr_assert_not_null(bytes);
    cr_assert_eq((size_t)(sinter__bitmap_encode(bitmap, bytes) - bytes), *size_out);
    return bytes;
}

static void
expect_encodes_as(sinter__bitmap *bitmap, const uint8_t *bytes, size_t size)
{
    size_t found_size = 0;
    uint8_t *found = encode(bitmap, &found_size);

    cr_assert_eq(found_size, size);
    cr_assert_eq(memcmp(found, bytes, size), 0);
    free(found);
}

/* Read these bytes: the twin's numbers, which are written as `expected`. */
static void
expect_reads(const twin *t, const void *bytes, size_t size, sinter_bytes expected)
{
    sinter__bitmap read = {.env = sinter_env_default()};
    sinter_error err = SINTER_ERROR_INIT;
    size_t used = 0;

    cr_assert_eq(sinter__bitmap_decode(&read, (sinter_bytes){bytes, size}, &used, &err), SINTER_OK,
                 "%s", err.text);
    cr_assert_eq(used, size);
    expect_the_same(t, &read);
    expect_encodes_as(&read, expected.data, expected.size);
    sinter__bitmap_fini(&read);
}

#ifdef SINTER_TEST_ROARING
/* CRoaring reads what we write and writes it as it is. Of what it writes without runs we make the
 * same again; where it chose runs, we keep them. */
static void
compare_with_roaring(const twin *t, sinter_bytes ours)
{
    roaring_bitmap_t *theirs =
        roaring_bitmap_portable_deserialize_safe((const char *)ours.data, ours.size);

    cr_assert_not_null(theirs);
    cr_assert_eq(roaring_bitmap_get_cardinality(theirs), t->bitmap.count);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        cr_assert_eq(roaring_bitmap_contains(theirs, t->base + i), t->has[i]);
    }
    for (int step = 0; step < 3; step++) {
        const size_t size = roaring_bitmap_portable_size_in_bytes(theirs);
        char *bytes = malloc(size);

        cr_assert_eq(roaring_bitmap_portable_serialize(theirs, bytes), size);
        expect_reads(t, bytes, size,
                     step == 1 ? ours : (sinter_bytes){(const uint8_t *)bytes, size});
        cr_assert(step != 0 || (size == ours.size && memcmp(bytes, ours.data, size) == 0));
        free(bytes);
        (void)(step == 0 ? roaring_bitmap_remove_run_compression(theirs)
                         : roaring_bitmap_run_optimize(theirs));
    }
    roaring_bitmap_free(theirs);
}
#else
static void
compare_with_roaring(const twin *t, sinter_bytes ours)
{
    (void)t;
    (void)ours;
}
#endif

Test(base_bitmap, numbers_come_back_however_they_came_in)
{
    const char *scale = getenv("SINTER_TEST_SCALE");
    const uint64_t cases = 20 * (scale == NULL ? 1 : strtoull(scale, NULL, 10));

    for (uint64_t seed = 1; seed <= cases; seed++) {
        static const uint32_t bases[] = {0, 5u << 16, UINT32_MAX - NUMBERS + 1};
        test_rng rng = {seed};
        size_t size = 0;
        uint8_t *bytes = NULL;
        twin t;

        twin_init(&t, bases[seed % 3]);
        for (uint64_t i = test_rng_below(&rng, 20); i > 0; i--) {
            twin_grow(&t, &rng);
        }
        expect_the_same(&t, &t.bitmap);
        bytes = encode(&t.bitmap, &size);
        cr_assert_eq(size, bytes_by_the_rule(&t), "seed %" PRIu64, seed);
        expect_reads(&t, bytes, size, (sinter_bytes){bytes, size});
        compare_with_roaring(&t, (sinter_bytes){bytes, size});
        twin_fini(&t);
        free(bytes);
    }
}

Test(base_bitmap, a_merge_has_the_numbers_of_both_and_the_other_stays)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        test_rng rng = {seed};
        size_t size = 0;
        uint8_t *bytes = NULL;
        twin a;
        twin b;

        twin_init(&a, 0);
        twin_init(&b, 0);
        for (uint64_t i = test_rng_below(&rng, 9); i > 0; i--) {
            twin_grow(test_rng_chance(&rng, 50) ? &a : &b, &rng);
        }
        cr_assert_eq(sinter__bitmap_merge(&a.bitmap, &b.bitmap, NULL), SINTER_OK);
        expect_the_same(&b, &b.bitmap);
        for (uint32_t i = 0; i < NUMBERS; i++) {
            a.has[i] = a.has[i] || b.has[i];
        }
        expect_the_same(&a, &a.bitmap);
        bytes = encode(&a.bitmap, &size);
        cr_assert_eq(sinter__bitmap_merge(&a.bitmap, &a.bitmap, NULL), SINTER_OK);
        expect_encodes_as(&a.bitmap, bytes, size);
        twin_grow(&a, &rng); /* it may still be changed */
        expect_the_same(&a, &a.bitmap);
        twin_fini(&a);
        twin_fini(&b);
        free(bytes);
    }
}

Test(base_bitmap, runs_are_written_only_where_they_are_smaller)
{
    static const uint8_t array[] = {0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 2,
                                    0,    16,   0, 0, 0, 0, 0, 1, 0, 2, 0};
    static const uint8_t run[] = {0x3b, 0x30, 0, 0, 1, 0, 0, 3, 0, 1, 0, 0, 0, 3, 0};
    twin t;

    twin_init(&t, 0);
    expect_encodes_as(&t.bitmap, (const uint8_t *)"\x3a\x30\0\0\0\0\0\0", 8);
    twin_add(&t, 1);
    twin_add(&t, 2);
    twin_add(&t, 0);
    expect_encodes_as(&t.bitmap, array, sizeof array); /* 6 bytes either way */
    twin_add(&t, 3);
    expect_encodes_as(&t.bitmap, run, sizeof run);
    twin_fini(&t);
}

Test(base_bitmap, what_was_written_as_runs_stays_so_among_equals)
{
    const uint32_t runs_bytes = 4 + 1 + 4 + 2;
    sinter__bitmap other = {.env = sinter_env_default()};
    bool added = false;
    size_t size = 0;
    twin t;

    twin_init(&t, 0);
    for (uint32_t i = 0; i < 4; i++) {
        twin_add(&t, 8 + i);
        cr_assert_eq(sinter__bitmap_add(&other, 8 + i, &added, NULL), SINTER_OK);
    }
    free(encode(&t.bitmap, &size));
    cr_assert_eq(size, runs_bytes + 4);
    twin_add(&t, 3);
    twin_add(&t, 5);
    cr_expect_eq(sinter__bitmap_encoded_bytes(&t.bitmap), runs_bytes + 12, "14 bytes either way");
    for (uint32_t i = 3; i <= 5; i += 2) {
        cr_assert_eq(sinter__bitmap_add(&other, i, &added, NULL), SINTER_OK);
    }
    cr_expect_eq(sinter__bitmap_encoded_bytes(&other), 16 + 12, "this one wasn't written");
    cr_assert_eq(sinter__bitmap_merge(&other, &t.bitmap, NULL), SINTER_OK);
    cr_expect_eq(sinter__bitmap_encoded_bytes(&other), runs_bytes + 12, "one of both was runs");
    twin_add(&t, 1);
    free(encode(&t.bitmap, &size));
    cr_expect_eq(size, 16 + 14, "18 bytes of runs, 14 of values");
    twin_add(&t, 4);
    cr_expect_eq(sinter__bitmap_encoded_bytes(&t.bitmap), runs_bytes + 12, "14 to 16");
    sinter__bitmap_fini(&other);
    twin_fini(&t);
}

Test(base_bitmap, forms_change_at_their_borders)
{
    twin t;

    twin_init(&t, 0);
    for (uint32_t i = 0; i < 4097; i++) {
        twin_add(&t, 2 * i);
        if (i == 4095) {
            cr_expect_eq(sinter__bitmap_encoded_bytes(&t.bitmap), 16 + 8192);
        }
    }
    cr_expect_eq(sinter__bitmap_encoded_bytes(&t.bitmap), 16 + 8192);
    for (uint32_t i = 0; i < CHUNK; i++) {
        twin_add(&t, i);
    }
    cr_expect_eq(sinter__bitmap_encoded_bytes(&t.bitmap), 4 + 1 + 4 + 6);
    expect_the_same(&t, &t.bitmap);
    twin_fini(&t);
}

/* ---- bytes that make no sense ---- */

static void
expect_refused(const char *bytes, size_t size, int64_t offset, const char *word)
{
    uint8_t *tight = malloc(size + 1);
    sinter__bitmap bitmap = {.env = sinter_env_default()};
    sinter_error err = SINTER_ERROR_INIT;
    size_t used = 0;

    memcpy(tight, bytes, size);
    cr_expect_eq(sinter__bitmap_decode(&bitmap, (sinter_bytes){tight, size}, &used, &err),
                 SINTER_E_CORRUPT, "%s", word);
    cr_expect_not_null(strstr(err.text, word), "%s, not: %s", word, err.text);
    cr_expect_eq(err.offset, offset, "%s: offset %lld", word, (long long)err.offset);
    cr_expect(bitmap.chunk_count == 0 && bitmap.count == 0 && bitmap.chunks == NULL);
    free(tight);
}

#define REFUSED(bytes, offset, word) expect_refused((bytes), sizeof(bytes) - 1, (offset), (word))

#define PLAIN "\x3a\x30\0\0"
#define RUNS "\x3b\x30\0\0\1"

Test(base_bitmap, counts_orders_and_offsets_must_be_right)
{
    REFUSED("", 0, "truncated");
    REFUSED("\x3a\x30\0", 0, "truncated");
    REFUSED("\x3a\x30\0\1\0\0\0\0", 4, "no bitmap begins with 0x0100303a");
    REFUSED(PLAIN "\0\0\0", 4, "truncated");
    REFUSED(PLAIN "\xff\xff\xff\xff", 8, "4294967295 chunks");
    REFUSED(PLAIN "\1\0\1\0", 8, "65537 chunks");
    REFUSED(PLAIN "\0\0\1\0", 8, "truncated");
    REFUSED(PLAIN "\1\0\0\0\0\0\0\0\x11\0\0\0\1\0", 16, "a chunk of a bitmap at 16 where 17");
    REFUSED(PLAIN "\1\0\0\0\0\0\0\0\x10\0\0\0\1", 16, "truncated");
    REFUSED(PLAIN "\1\0\0\0\0\0\1\0\x10\0\0\0\2\0\2\0", 20, "don't ascend: 2, 2");
    REFUSED(PLAIN "\2\0\0\0\1\0\0\0\1\0\0\0\x18\0\0\0\x1a\0\0\0\2\0\2\0", 26,
            "chunks of a bitmap don't ascend: 1, 1");
    REFUSED(PLAIN "\1\0\0\0\0\0\xff\xff\x10\0\0\0", 16, "truncated");
    REFUSED(RUNS "\0\0\0\0", 9, "truncated");
    REFUSED(RUNS "\0\0\0\0\0\0", 11, "0 numbers in runs where a bitmap counts 1");
    REFUSED(RUNS "\0\0\0\0\1\0\5\0", 11, "truncated");
    REFUSED(RUNS "\0\0\1\0\1\0\xff\xff\1\0", 15, "a run 65535..65536");
    REFUSED(RUNS "\0\0\3\0\2\0\5\0\1\0\6\0\1\0", 19, "a run 6..7 of a bitmap where 7..65535");
    REFUSED(RUNS "\0\0\2\0\1\0\5\0\1\0", 15, "2 numbers in runs where a bitmap counts 3");
}

Test(base_bitmap, bits_must_be_as_many_as_counted)
{
    uint8_t *bytes = calloc(1, 16 + 8192);
    sinter__bitmap bitmap = {.env = sinter_env_default()};
    size_t used = 0;

    memcpy(bytes, PLAIN "\1\0\0\0\0\0\0\x10\x10\0\0\0", 16);
    memset(bytes + 16, 0xff, 512); /* 4096 of 4097 */
    cr_expect_eq(sinter__bitmap_decode(&bitmap, (sinter_bytes){bytes, 16 + 8192}, &used, NULL),
                 SINTER_E_CORRUPT);
    bytes[8000] = 1;
    cr_expect_eq(sinter__bitmap_decode(&bitmap, (sinter_bytes){bytes, 16 + 8191}, &used, NULL),
                 SINTER_E_CORRUPT);
    cr_expect_eq(sinter__bitmap_decode(&bitmap, (sinter_bytes){bytes, 16 + 8192}, &used, NULL),
                 SINTER_OK);
    cr_expect_eq(bitmap.count, 4097);
    sinter__bitmap_fini(&bitmap);
    free(bytes);
}

Test(base_bitmap, runs_that_touch_are_one)
{
    static const uint8_t bytes[] = RUNS "\7\0\3\0\2\0\5\0\1\0\7\0\1\0";
    sinter__bitmap bitmap = {.env = sinter_env_default()};
    sinter__bitmap_run run = {0};
    size_t used = 0;

    cr_assert_eq(sinter__bitmap_decode(&bitmap, (sinter_bytes){bytes, sizeof bytes}, &used, NULL),
                 SINTER_OK);
    cr_expect_eq(used, sizeof bytes - 1, "what stands behind is left alone");
    cr_assert(sinter__bitmap_next(&bitmap, 0, &run));
    cr_expect(run.first == (7u << 16 | 5) && run.last == (7u << 16 | 8));
    cr_expect_not(sinter__bitmap_next(&bitmap, run.last + 1, &run));
    sinter__bitmap_fini(&bitmap);
}

Test(base_bitmap, more_runs_than_pay_are_read_written_as_bits_and_go_on)
{
    enum { SIZE = 4 + 1 + 4 + 2 + 4 * CHUNK / 2 };
    uint8_t *bytes = calloc(1, SIZE);
    size_t used = 0;
    twin t;

    twin_init(&t, 0);
    memcpy(bytes, RUNS "\0\0\xff\x7f\0\x80", 11);
    for (uint32_t i = 0; i < CHUNK; i += 2) {
        bytes[11 + 2 * i] = (uint8_t)i;
        bytes[12 + 2 * i] = (uint8_t)(i >> 8);
        t.has[i] = true;
    }
    cr_assert_eq(sinter__bitmap_decode(&t.bitmap, (sinter_bytes){bytes, SIZE}, &used, NULL),
                 SINTER_OK);
    expect_the_same(&t, &t.bitmap);
    cr_expect_eq(sinter__bitmap_encoded_bytes(&t.bitmap), 16 + 8192);
    twin_add(&t, 1);
    for (uint32_t i = 2001; i < CHUNK; i += 2) {
        twin_add(&t, i);
    }
    expect_the_same(&t, &t.bitmap);
    cr_expect_eq(sinter__bitmap_encoded_bytes(&t.bitmap), bytes_by_the_rule(&t));
    twin_fini(&t);
    free(bytes);
}

/* ---- memory ---- */

/* Grow through all forms, merge, write and read. */
static sinter_status
work(const sinter_env *env, sinter_error *err)
{
    sinter__bitmap a = {.env = env};
    sinter__bitmap b = {.env = env};
    sinter__bitmap c = {.env = env};
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool added = false;
    sinter_status st = SINTER_OK;

    for (uint32_t i = 0; i < 30000 && st == SINTER_OK; i++) {
        const uint64_t count = a.count;

        st = sinter__bitmap_add(&a, i < 4200 ? 3 * i : i < 8000 ? CHUNK + i : i * 40, &added, err);
        cr_assert_eq(a.count - count, added);
    }
    for (uint32_t i = 0; i < 5000 && st == SINTER_OK; i++) {
        st = sinter__bitmap_add(&b, i < 2000 ? 5 * i : i * 100, &added, err);
    }
    if (st == SINTER_OK) {
        st = sinter__bitmap_merge(&a, &b, err);
    }
    bytes = encode(&a, &size);
    if (st == SINTER_OK) {
        st = sinter__bitmap_decode(&c, (sinter_bytes){bytes, size}, &size, err);
        cr_assert_eq(c.count, st == SINTER_OK ? a.count : 0);
    }
    sinter__bitmap_fini(&a);
    sinter__bitmap_fini(&b);
    sinter__bitmap_fini(&c);
    free(bytes);
    return st;
}

Test(base_bitmap, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = work(&fault.env, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        cr_assert_eq(fault.live, 0);
    }
}

Test(base_bitmap, what_it_holds_is_charged_and_given_back)
{
    for (uint64_t limit = 1000; limit < 4 << 20; limit *= 2) {
        sinter_env env = *sinter_env_default();
        sinter_error err = SINTER_ERROR_INIT;
        sinter_status st = SINTER_OK;

        cr_assert_eq(sinter_memory_create(sinter_env_default(), limit, &env.memory, NULL),
                     SINTER_OK);
        st = work(&env, &err);
        cr_assert_eq(st, limit < 60000 ? SINTER_E_TOO_LARGE : st);
        cr_assert(st == SINTER_OK || limit < 1 << 20, "%s", err.text);
        cr_assert_eq(sinter_memory_used(env.memory), 0);
        sinter_memory_destroy(env.memory);
    }
}
