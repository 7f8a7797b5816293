#include "support/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_START = 37 };

struct test_pool_chunk {
    struct test_pool_chunk *next;
    uint64_t used;
    uint64_t size;
    uint64_t padding; /* data is aligned to 16 */
    uint8_t data[];
};

uint64_t
test_rng_next(test_rng *rng)
{
    uint64_t z = 0;

    rng->state += 0x9e3779b97f4a7c15u;
    z = rng->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t
test_rng_below(test_rng *rng, uint64_t limit)
{
    return limit == 0 ? 0 : test_rng_next(rng) % limit;
}

bool
test_rng_chance(test_rng *rng, uint32_t percent)
{
    return test_rng_below(rng, 100) < percent;
}

void *
test_pool_take(test_pool *pool, size_t size)
{
    const size_t aligned = (size + 15) & ~(size_t)15;
    struct test_pool_chunk *chunk = pool->chunks;

    if (chunk == NULL || chunk->size - chunk->used < aligned) {
        const size_t room = aligned > 65536 ? aligned : 65536;

        chunk = malloc(sizeof *chunk + room);
        if (chunk == NULL) {
            fputs("out of memory\n", stderr);
            exit(70);
        }
        chunk->next = pool->chunks;
        chunk->used = 0;
        chunk->size = room;
        pool->chunks = chunk;
    }
    chunk->used += aligned;
    return chunk->data + chunk->used - aligned;
}

sinter_bytes
test_pool_copy(test_pool *pool, sinter_bytes bytes)
{
    uint8_t *data = test_pool_take(pool, bytes.size);

    if (bytes.size > 0) {
        memcpy(data, bytes.data, bytes.size);
    }
    return (sinter_bytes){data, bytes.size};
}

void
test_pool_fini(test_pool *pool)
{
    while (pool->chunks != NULL) {
        struct test_pool_chunk *next = pool->chunks->next;

        free(pool->chunks);
        pool->chunks = next;
    }
}

int
test_bytes_compare(sinter_bytes a, sinter_bytes b)
{
    const size_t shorter = a.size < b.size ? a.size : b.size;
    const int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool
test_bytes_equal(sinter_bytes a, sinter_bytes b)
{
    return test_bytes_compare(a, b) == 0;
}

/* Bytes that follow from `index`, of a small alphabet so that starts are shared. */
static size_t
alphabet_bytes(uint64_t index, uint8_t *out, size_t size_max)
{
    static const uint8_t alphabet[] = {0x00, 0x01, 'a', 0x7f, 0x80, 0xff};
    test_rng rng = {index * 0x2545f4914f6cdd1du};
    const size_t size = (size_t)test_rng_below(&rng, size_max + 1);

    for (size_t i = 0; i < size; i++) {
        out[i] = alphabet[test_rng_below(&rng, sizeof alphabet)];
    }
    return size;
}

/* Number `index` in `width` bytes; differs in the last bytes or, reversed, in the first. */
static void
fixed_bytes(uint64_t index, uint32_t width, uint8_t *out)
{
    memset(out, 'k', width);
    for (uint32_t i = 0; i < width && i < 8; i++) {
        out[width - 1 - i] = (uint8_t)(index >> (8 * i));
    }
}

static sinter_bytes
key_long(uint64_t index, test_pool *pool)
{
    static const size_t sizes[] = {0, 1, 8, 9, 4095, 65536, 300000, (size_t)1 << 20};
    const size_t size = sizes[index % (sizeof sizes / sizeof sizes[0])];
    uint8_t *data = test_pool_take(pool, size);

    if (size > 0) {
        memset(data, 'L', size);
        data[size - 1] = (uint8_t)(index >> 3); /* the last byte decides */
    }
    return (sinter_bytes){data, size};
}

static sinter_bytes
key_make(const test_shape *shape, uint64_t index, test_pool *pool)
{
    uint8_t bytes[128];
    size_t size = 0;

    switch (shape->keys) {
    case TEST_KEYS_FIXED:
        fixed_bytes(index, shape->key_width, bytes);
        size = shape->key_width;
        break;
    case TEST_KEYS_VARIABLE:
        size = alphabet_bytes(index, bytes, 24);
        break;
    case TEST_KEYS_PREFIX_TIES:
        memcpy(bytes, "samehead", 8);
        size = 8 + alphabet_bytes(index, bytes + 8, 10);
        break;
    case TEST_KEYS_ZEROS:
        size = (size_t)(index % 64);
        memset(bytes, 0, sizeof bytes);
        break;
    case TEST_KEYS_SHARED_START:
        memset(bytes, 's', SHARED_START);
        size = SHARED_START + alphabet_bytes(index, bytes + SHARED_START, 20);
        break;
    case TEST_KEYS_LONG:
    case TEST_KEYS_COUNT:
        return key_long(index, pool);
    }
    return test_pool_copy(pool, (sinter_bytes){bytes, size});
}

static sinter_bytes
value_make(test_rng *rng, uint64_t size_max, test_pool *pool)
{
    const size_t size = (size_t)test_rng_below(rng, size_max + 1);
    uint8_t *data = test_pool_take(pool, size);
    const uint64_t salt = test_rng_next(rng);

    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)((salt >> (8 * (i % 8))) + i / 8);
    }
    return (sinter_bytes){data, size};
}

static int64_t
sequence_make(test_rng *rng, uint64_t space)
{
    if (test_rng_below(rng, 64) == 0) {
        return test_rng_chance(rng, 50) ? INT64_MIN : INT64_MAX;
    }
    return (int64_t)test_rng_below(rng, space) - (int64_t)(space / 2);
}

static void
record_make(test_rng *rng, const test_shape *shape, uint64_t index, test_pool *pool,
            test_record *out)
{
    const bool is_retract = test_rng_chance(rng, shape->retract_percent);

    out->key = key_make(shape, index, pool);
    out->value = value_make(rng, shape->value_max, pool);
    out->order = (sinter_bytes){NULL, 0};
    if (shape->orders) {
        uint8_t bytes[16];
        const size_t size = alphabet_bytes(test_rng_below(rng, 9), bytes, 9);

        out->order = test_pool_copy(pool, (sinter_bytes){bytes, size});
    }
    out->sequence = sequence_make(rng, shape->sequence_space);
    out->origin = 0;
    out->kind = (uint8_t)(2 * test_rng_below(rng, 2) + (is_retract ? 1 : 0));
    out->dropped = 0;
    if (test_rng_chance(rng, shape->dropped_percent)) {
        out->dropped = (uint8_t)(1 + test_rng_below(rng, 3));
    }
}

static int
record_compare_key(const void *a, const void *b)
{
    const test_record *x = a;
    const test_record *y = b;

    return test_bytes_compare(x->key, y->key);
}

size_t
test_records_sort_unique(test_record *records, size_t count)
{
    size_t kept = 0;

    if (count == 0) {
        return 0;
    }
    qsort(records, count, sizeof *records, record_compare_key);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !test_bytes_equal(records[kept - 1].key, records[i].key)) {
            records[kept++] = records[i];
        }
    }
    return kept;
}

static void
run_make(test_rng *rng, const test_shape *shape, test_pool *pool, test_run *out)
{
    const size_t wanted = (size_t)test_rng_below(rng, shape->rows_max + 1);
    uint64_t index = test_rng_below(rng, shape->key_space);

    out->records = test_pool_take(pool, wanted * sizeof *out->records);
    for (size_t i = 0; i < wanted; i++) {
        const bool is_jump = !shape->stretches || test_rng_below(rng, 50) == 0;

        index = is_jump ? test_rng_below(rng, shape->key_space) : (index + 1) % shape->key_space;
        record_make(rng, shape, index, pool, &out->records[i]);
    }
    out->count = test_records_sort_unique(out->records, wanted);
}

/* Cut runs into files and give each file an age of its own, in random order. */
static void
ages_assign(test_rng *rng, const test_shape *shape, test_runs *runs)
{
    const size_t files_max = runs->count * shape->files_per_run;
    uint32_t *ages = test_pool_take(&runs->pool, (files_max + 1) * sizeof *ages);
    size_t file = 0;

    for (size_t i = 0; i < files_max; i++) {
        const size_t j = (size_t)test_rng_below(rng, i + 1);

        ages[i] = ages[j];
        ages[j] = (uint32_t)i;
    }
    for (size_t r = 0; r < runs->count; r++) {
        const test_run *run = &runs->items[r];
        size_t files_left = shape->files_per_run - 1;

        for (size_t i = 0; i < run->count; i++) {
            if (i > 0 && files_left > 0 && test_rng_below(rng, run->count) < 3) {
                files_left--;
                file++;
            }
            run->records[i].origin = ages[file];
        }
        file++;
    }
}

void
test_shape_random(test_rng *rng, test_shape *out)
{
    static const uint32_t widths[] = {0, 1, 2, 3, 4, 7, 8, 9, 12, 16, 40, 100};
    static const uint64_t sequences[] = {1, 2, 5, 1000};
    const uint64_t kind = test_rng_below(rng, 12);

    *out = (test_shape){.run_count = (size_t)test_rng_below(rng, 9), .files_per_run = 1};
    out->rows_max = (size_t)(kind < 8 ? test_rng_below(rng, 30) : test_rng_below(rng, 400));
    out->files_per_run = 1 + (size_t)test_rng_below(rng, 3);
    out->key_space = 1 + test_rng_below(rng, test_rng_chance(rng, 50) ? 40 : 4000);
    out->sequence_space = sequences[test_rng_below(rng, 4)];
    out->value_max = test_rng_below(rng, 60);
    out->keys = kind < 4 ? TEST_KEYS_FIXED : (test_keys)(kind % TEST_KEYS_LONG);
    out->key_width = widths[test_rng_below(rng, sizeof widths / sizeof widths[0])];
    out->retract_percent = (uint32_t)test_rng_below(rng, 3) * 30;
    out->dropped_percent = test_rng_chance(rng, 20) ? 20 : 0;
    out->orders = test_rng_chance(rng, 25);
    out->stretches = test_rng_chance(rng, 40);
    if (test_rng_below(rng, 40) == 0) {
        out->run_count = 20 + (size_t)test_rng_below(rng, 100);
    }
}

void
test_runs_random(test_rng *rng, const test_shape *shape, test_runs *out)
{
    *out = (test_runs){.count = shape->run_count, .has_orders = shape->orders};
    out->key_width = shape->keys == TEST_KEYS_FIXED ? shape->key_width : UINT32_MAX;
    out->prefix_skip = shape->keys == TEST_KEYS_SHARED_START ? SHARED_START : 0;
    out->items = test_pool_take(&out->pool, (shape->run_count + 1) * sizeof *out->items);
    for (size_t r = 0; r < shape->run_count; r++) {
        run_make(rng, shape, &out->pool, &out->items[r]);
    }
    ages_assign(rng, shape, out);
}

void
test_runs_fini(test_runs *runs)
{
    test_pool_fini(&runs->pool);
    *runs = (test_runs){0};
}

size_t
test_runs_rows(const test_runs *runs)
{
    size_t rows = 0;

    for (size_t r = 0; r < runs->count; r++) {
        rows += runs->items[r].count;
    }
    return rows;
}

void
test_runs_add(test_runs *runs, const test_record *records, size_t count)
{
    test_run *items = test_pool_take(&runs->pool, (runs->count + 1) * sizeof *items);

    for (size_t r = 0; r < runs->count; r++) {
        items[r] = runs->items[r];
    }
    items[runs->count].records = test_pool_take(&runs->pool, (count + 1) * sizeof *records);
    items[runs->count].count = count;
    for (size_t i = 0; i < count; i++) {
        items[runs->count].records[i] = records[i];
    }
    runs->items = items;
    runs->count++;
    runs->key_width = UINT32_MAX;
}
