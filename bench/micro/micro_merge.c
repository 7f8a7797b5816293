/* Merging sorted runs that lie decoded in memory: what the tree itself costs per record. */
#include "micro/micro.h"

#include "macro/workload.h"

#include <stdlib.h>
#include <string.h>

enum { DIV = 40, RUNS_MAX = 64, BLOCK_BYTES = 64 * 1024, KEY_SLACK = 16, RANGES = 256 };

/* One run as batches side by side. */
typedef struct memory_run {
    sinter_batch *batches;
    size_t batch_count;
    uint8_t *keys;
    uint64_t *prefixes;
    int64_t *sequences;
    uint8_t *kinds;
} memory_run;

typedef struct memory_runs {
    memory_run runs[RUNS_MAX];
    uint32_t run_count;
    uint64_t row_count;
} memory_runs;

typedef struct memory_reader {
    sinter_reader base;
    const memory_run *run;
    size_t next;
} memory_reader;

static uint64_t
prefix_of(const uint8_t *key)
{
    uint64_t prefix = 0;

    for (int i = 0; i < 8; i++) {
        prefix = prefix << 8 | key[i];
    }
    return prefix;
}

static void
fill_run(memory_run *run, const bench_workload *workload, uint32_t number, int64_t *sequence)
{
    bench_cursor cursor;
    bench_record record;
    size_t row = 0;

    bench_cursor_init(&cursor, workload, number);
    while (bench_cursor_next(&cursor, &record)) {
        memcpy(run->keys + row * workload->key_bytes, record.key, record.key_bytes);
        run->prefixes[row] = prefix_of(record.key);
        run->sequences[row] = (*sequence)++;
        run->kinds[row] = record.is_delete ? SINTER_KIND_DELETE : SINTER_KIND_INSERT;
        row++;
    }
}

static size_t
count_rows(const bench_workload *workload, uint32_t number)
{
    bench_cursor cursor;
    bench_record record;
    size_t count = 0;

    bench_cursor_init(&cursor, workload, number);
    while (bench_cursor_next(&cursor, &record)) {
        count++;
    }
    return count;
}

static void
cut_batches(memory_run *run, const bench_workload *workload, uint32_t number, size_t row_count)
{
    const size_t rows = BLOCK_BYTES / (workload->key_bytes + workload->value_bytes);

    run->batch_count = (row_count + rows - 1) / rows;
    run->batches = micro_allocate(run->batch_count * sizeof *run->batches);
    memset(run->batches, 0, run->batch_count * sizeof *run->batches);
    for (size_t i = 0; i < run->batch_count; i++) {
        sinter_batch *batch = &run->batches[i];
        const size_t first = i * rows;

        batch->struct_size = sizeof *batch;
        batch->row_count = (uint32_t)(row_count - first < rows ? row_count - first : rows);
        batch->key_width = workload->key_bytes;
        batch->keys = run->keys + first * workload->key_bytes;
        batch->prefixes = run->prefixes + first;
        batch->sequences = run->sequences + first;
        batch->kinds = run->kinds + first;
        batch->origin = number;
        for (uint32_t row = 0; row < batch->row_count; row++) {
            batch->retract_count += sinter_kind_is_retract(batch->kinds[row]) ? 1 : 0;
        }
    }
}

static void *
setup(const micro_case *self)
{
    memory_runs *state = micro_allocate(sizeof *state);
    bench_workload workload;
    int64_t sequence = 0;

    memset(state, 0, sizeof *state);
    if (!bench_workload_init(&workload, self->text, DIV)) {
        free(state);
        return NULL;
    }
    state->run_count = workload.run_count;
    for (uint32_t i = 0; i < workload.run_count; i++) {
        memory_run *run = &state->runs[i];
        const size_t count = count_rows(&workload, i);

        run->keys = micro_allocate(count * workload.key_bytes + KEY_SLACK);
        run->prefixes = micro_allocate(count * sizeof *run->prefixes);
        run->sequences = micro_allocate(count * sizeof *run->sequences);
        run->kinds = micro_allocate(count);
        fill_run(run, &workload, i, &sequence);
        cut_batches(run, &workload, i, count);
        state->row_count += count;
    }
    return state;
}

static void
teardown(void *pointer)
{
    memory_runs *state = pointer;

    for (uint32_t i = 0; i < state->run_count; i++) {
        free(state->runs[i].batches);
        free(state->runs[i].kinds);
        free(state->runs[i].sequences);
        free(state->runs[i].prefixes);
        free(state->runs[i].keys);
    }
    free(state);
}

static sinter_status
reader_next(sinter_reader *reader, const sinter_batch **out, sinter_error *err)
{
    memory_reader *self = (memory_reader *)reader;

    (void)err;
    if (self->next == self->run->batch_count) {
        return SINTER_END;
    }
    *out = &self->run->batches[self->next++];
    return SINTER_OK;
}

static void
reader_close(sinter_reader *reader)
{
    free(reader);
}

static const sinter_reader_ops READER_OPS = {
    .struct_size = sizeof READER_OPS, .next = reader_next, .close = reader_close};

static sinter_status
open_run(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err)
{
    memory_reader *reader = micro_allocate(sizeof *reader);

    (void)env;
    (void)err;
    reader->base.ops = &READER_OPS;
    reader->run = ctx;
    reader->next = 0;
    *out = &reader->base;
    return SINTER_OK;
}

static uint64_t
run_merge(const micro_case *self, void *pointer)
{
    memory_runs *state = pointer;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_merge_input inputs[RUNS_MAX];
    sinter_merge_options options;
    sinter_merge *merge = NULL;
    sinter_range ranges[RANGES];
    size_t count = 0;
    sinter_status st = SINTER_OK;

    sinter_merge_options_init(&options);
    options.sort_engine = self->parameter;
    options.drop_delete = true;
    options.has_ages = true;
    for (uint32_t i = 0; i < state->run_count; i++) {
        inputs[i] = (sinter_merge_input){
            .struct_size = sizeof inputs[i], .open = open_run, .ctx = &state->runs[i]};
    }
    micro_require(
        sinter_merge_open(sinter_env_default(), inputs, state->run_count, &options, &merge, &err),
        "merge", &err);
    do {
        st = sinter_merge_next(merge, ranges, RANGES, &count, &err);
    } while (st == SINTER_OK);
    if (st != SINTER_END) {
        micro_require(st, "merge", &err);
    }
    sinter_merge_close(merge);
    return state->row_count;
}

#define MERGE_CASE(label, workload, engine)                           \
    {                                                                 \
        label, "record", setup, run_merge, teardown, workload, engine \
    }

const micro_case MICRO_MERGE_CASES[] = {
    MERGE_CASE("merge-loser-tree-W1", "W1", SINTER_SORT_LOSER_TREE),
    MERGE_CASE("merge-loser-tree-W3", "W3", SINTER_SORT_LOSER_TREE),
    MERGE_CASE("merge-loser-tree-W4", "W4", SINTER_SORT_LOSER_TREE),
    MERGE_CASE("merge-loser-tree-W5", "W5", SINTER_SORT_LOSER_TREE),
    MERGE_CASE("merge-loser-tree-W6", "W6", SINTER_SORT_LOSER_TREE),
    MERGE_CASE("merge-loser-tree-W1T", "W1T", SINTER_SORT_LOSER_TREE),
    MERGE_CASE("merge-min-heap-W1", "W1", SINTER_SORT_MIN_HEAP),
    MERGE_CASE("merge-min-heap-W5", "W5", SINTER_SORT_MIN_HEAP),
    {0},
};
