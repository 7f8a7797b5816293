/*
 * A merge with a function of one's own: the values of a key are numbers, and their sum stays.
 *
 * Two runs are merged that live in memory; a reader over a file of any format works the same way.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sinter/sinter.h>

/* --- the function --- */

enum { RESULTS_MAX = 64 };

/* Results have to live until recycle(): each gets a batch of its own. */
typedef struct sum_function {
    sinter_merge_function base; /* first: the merge hands back this */
    sinter_batch_builder *results[RESULTS_MAX];
    size_t used;
} sum_function;

static int64_t
value_of(const sinter_row *row)
{
    const sinter_bytes bytes = row->batch->payload_ops->value(row->batch, row->index);
    int64_t value = 0;

    if (bytes.size == sizeof value) {
        memcpy(&value, bytes.data, sizeof value);
    }
    return value;
}

static sinter_status
sum_reduce(sinter_merge_function *function, const sinter_row *rows, size_t count, sinter_row *out,
           sinter_error *err)
{
    sum_function *sum = (sum_function *)(void *)function;
    const sinter_row *newest = &rows[count - 1]; /* rows come oldest first */
    sinter_batch_builder *builder;
    int64_t total = 0;
    sinter_status st;

    if (sum->used == RESULTS_MAX) {
        return SINTER_E_TOO_LARGE;
    }
    for (size_t i = 0; i < count; i++) {
        total += value_of(&rows[i]);
    }
    builder = sum->results[sum->used++];
    st = sinter_batch_builder_add(builder, sinter_batch_key(newest->batch, newest->index),
                                  newest->batch->sequences[newest->index], SINTER_KIND_INSERT,
                                  (sinter_bytes){(const uint8_t *)&total, sizeof total}, err);
    if (st == SINTER_OK) {
        *out = (sinter_row){.batch = sinter_batch_builder_batch(builder), .index = 0};
    }
    return st;
}

static void
sum_recycle(sinter_merge_function *function)
{
    sum_function *sum = (sum_function *)(void *)function;

    while (sum->used > 0) {
        sinter_batch_builder_reset(sum->results[--sum->used]);
    }
}

static const sinter_merge_function_ops sum_ops = {
    .struct_size = (uint32_t)sizeof sum_ops,
    .name = "sum",
    .reduce = sum_reduce,
    .recycle = sum_recycle,
};

/* --- a run in memory --- */

typedef struct memory_reader {
    sinter_reader base;
    const sinter_batch *batch; /* NULL once given */
} memory_reader;

static sinter_status
memory_next(sinter_reader *reader, const sinter_batch **out, sinter_error *err)
{
    memory_reader *memory = (memory_reader *)(void *)reader;

    (void)err;
    *out = memory->batch;
    memory->batch = NULL;
    return *out != NULL ? SINTER_OK : SINTER_END;
}

static void
memory_close(sinter_reader *reader)
{
    free(reader);
}

static const sinter_reader_ops memory_ops = {
    .struct_size = (uint32_t)sizeof memory_ops,
    .next = memory_next,
    .close = memory_close,
};

static sinter_status
memory_open(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err)
{
    memory_reader *memory = malloc(sizeof *memory);

    (void)env;
    (void)err;
    if (memory == NULL) {
        return SINTER_E_NOMEM;
    }
    *memory = (memory_reader){.base = {.ops = &memory_ops}, .batch = ctx};
    *out = &memory->base;
    return SINTER_OK;
}

/* Keys "a", "b", ... with the given numbers; 0 leaves a key out. */
static sinter_status
fill(sinter_batch_builder *builder, const int64_t *numbers, size_t count, int64_t sequence,
     sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (size_t i = 0; st == SINTER_OK && i < count; i++) {
        const uint8_t key = (uint8_t)('a' + i);

        if (numbers[i] != 0) {
            st = sinter_batch_builder_add(
                builder, (sinter_bytes){&key, 1}, sequence, SINTER_KIND_INSERT,
                (sinter_bytes){(const uint8_t *)&numbers[i], sizeof numbers[i]}, err);
        }
    }
    return st;
}

static sinter_status
print_merge(sinter_merge *merge, sinter_error *err)
{
    sinter_range ranges[8];
    sinter_status st;
    size_t count = 0;

    while ((st = sinter_merge_next(merge, ranges, 8, &count, err)) == SINTER_OK) {
        for (size_t r = 0; r < count; r++) {
            for (uint32_t i = 0; i < ranges[r].count; i++) {
                const sinter_row row = {.batch = ranges[r].batch, .index = ranges[r].first + i};

                printf("%c %" PRId64 "\n", sinter_batch_key(row.batch, row.index).data[0],
                       value_of(&row));
            }
        }
    }
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_status
merge_runs(const sinter_env *env, sum_function *sum, sinter_batch_builder *const *runs,
           sinter_error *err)
{
    sinter_merge_input inputs[2] = {0};
    sinter_merge_options options;
    sinter_merge *merge = NULL;
    sinter_status st;

    for (size_t i = 0; i < 2; i++) {
        inputs[i].struct_size = (uint32_t)sizeof inputs[i];
        inputs[i].open = memory_open;
        inputs[i].ctx = (void *)(uintptr_t)sinter_batch_builder_batch(runs[i]);
    }
    sinter_merge_options_init(&options);
    options.function = &sum->base;
    st = sinter_merge_open(env, inputs, 2, &options, &merge, err);
    if (st == SINTER_OK) {
        st = print_merge(merge, err);
    }
    sinter_merge_close(merge);
    return st;
}

int
main(void)
{
    static const int64_t older[] = {1, 2, 3, 0, 5};
    static const int64_t newer[] = {0, 20, 30, 40, 0};
    const sinter_env *env = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;
    sum_function sum = {.base = {.ops = &sum_ops}};
    sinter_batch_builder *runs[2] = {NULL, NULL};
    sinter_status st = SINTER_OK;

    for (size_t i = 0; st == SINTER_OK && i < RESULTS_MAX; i++) {
        st = sinter_batch_builder_create(env, &sum.results[i], &err);
    }
    for (size_t i = 0; st == SINTER_OK && i < 2; i++) {
        st = sinter_batch_builder_create(env, &runs[i], &err);
        if (st == SINTER_OK) {
            st = fill(runs[i], i == 0 ? older : newer, 5, (int64_t)i, &err);
        }
    }
    if (st == SINTER_OK) {
        st = merge_runs(env, &sum, runs, &err);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s\n", err.text);
    }
    for (size_t i = 0; i < RESULTS_MAX; i++) {
        sinter_batch_builder_destroy(sum.results[i]);
    }
    sinter_batch_builder_destroy(runs[0]);
    sinter_batch_builder_destroy(runs[1]);
    return st == SINTER_OK ? 0 : 1;
}
