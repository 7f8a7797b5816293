/*
 * Merging sorted runs that lie decoded in memory: what the tree itself costs per record. The cases
 * named gallop have runs that interleave in stretches; beside each stands a plain loser tree, which
 * takes every record in a step of its own.
 */
#include "micro/micro.h"

#include "macro/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIV = 40, RUNS_MAX = 64, BLOCK_BYTES = 64 * 1024, KEY_SLACK = 16, RANGES = 256 };
enum {
    STRETCH_RUNS = 8,
    STRETCH_ROWS = 20000,
    STRETCH_KEY_BYTES = 8,
    STRETCH_KEY_SHIFT = 40,
    STRETCH_BATCH_ROWS = 565
};

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
cut_batches(memory_run *run, uint32_t key_bytes, uint32_t number, size_t row_count, size_t rows)
{
    run->batch_count = (row_count + rows - 1) / rows;
    run->batches = micro_allocate(run->batch_count * sizeof *run->batches);
    memset(run->batches, 0, run->batch_count * sizeof *run->batches);
    for (size_t i = 0; i < run->batch_count; i++) {
        sinter_batch *batch = &run->batches[i];
        const size_t first = i * rows;

        batch->struct_size = sizeof *batch;
        batch->row_count = (uint32_t)(row_count - first < rows ? row_count - first : rows);
        batch->key_width = key_bytes;
        batch->keys = run->keys + first * key_bytes;
        batch->prefixes = run->prefixes + first;
        batch->sequences = run->sequences + first;
        batch->kinds = run->kinds + first;
        batch->origin = number;
        for (uint32_t row = 0; row < batch->row_count; row++) {
            batch->retract_count += sinter_kind_is_retract(batch->kinds[row]) ? 1 : 0;
        }
    }
}

static void
allocate_run(memory_run *run, size_t count, uint32_t key_bytes)
{
    run->keys = micro_allocate(count * key_bytes + KEY_SLACK);
    run->prefixes = micro_allocate(count * sizeof *run->prefixes);
    run->sequences = micro_allocate(count * sizeof *run->sequences);
    run->kinds = micro_allocate(count);
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

        allocate_run(run, count, workload.key_bytes);
        fill_run(run, &workload, i, &sequence);
        cut_batches(run, workload.key_bytes, i, count,
                    BLOCK_BYTES / (workload.key_bytes + workload.value_bytes));
        state->row_count += count;
    }
    return state;
}

/* Keys 0, 1, 2, ... in turns: `parameter` of them to each run. Which run has its turn is not
 * regular, so that nothing can foretell it. */
static void *
setup_stretches(const micro_case *self)
{
    memory_runs *state = micro_allocate(sizeof *state);
    const uint64_t stretch = (uint64_t)self->parameter;
    size_t filled[STRETCH_RUNS] = {0};
    uint64_t random = 88172645463325252u;
    uint64_t key = 0;

    memset(state, 0, sizeof *state);
    state->run_count = STRETCH_RUNS;
    for (uint32_t i = 0; i < STRETCH_RUNS; i++) {
        allocate_run(&state->runs[i], 2 * STRETCH_ROWS, STRETCH_KEY_BYTES);
    }
    while (key < (uint64_t)STRETCH_RUNS * STRETCH_ROWS) {
        uint32_t number = 0;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        number = (uint32_t)(random >> 32) % STRETCH_RUNS;
        for (uint64_t i = 0; i < stretch && filled[number] < (size_t)2 * STRETCH_ROWS; i++) {
            memory_run *run = &state->runs[number];
            const size_t row = filled[number]++;
            /* As keys are once their common beginning is stripped: the first bits tell them apart.
             */
            const uint64_t prefix = key << STRETCH_KEY_SHIFT;
            const uint64_t big_endian = __builtin_bswap64(prefix);

            memcpy(run->keys + row * STRETCH_KEY_BYTES, &big_endian, sizeof big_endian);
            run->prefixes[row] = prefix;
            run->sequences[row] = (int64_t)key++;
            run->kinds[row] = SINTER_KIND_INSERT;
        }
    }
    for (uint32_t i = 0; i < STRETCH_RUNS; i++) {
        cut_batches(&state->runs[i], STRETCH_KEY_BYTES, i, filled[i], STRETCH_BATCH_ROWS);
    }
    state->row_count = key;
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
    options.sort_engine = self->setup == setup_stretches ? SINTER_SORT_LOSER_TREE : self->parameter;
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

/* A tree of losers of `STRETCH_RUNS` leaves without anything that foresees: one match per level and
 * record, and a range per record handed out unless it continues the last one. */
typedef struct plain_tree {
    uint64_t keys[STRETCH_RUNS];  /* of the node's run */
    uint32_t runs[STRETCH_RUNS];  /* node 0: the winner */
    size_t batches[STRETCH_RUNS]; /* current batch of each run */
    uint32_t rows[STRETCH_RUNS];  /* next row in it */
    sinter_range ranges[RANGES];  /* handed out */
    size_t count;
    uint64_t row_count;
} plain_tree;

/* One more than the key: 0 sorts before all, and the largest number behind them. */
static uint64_t
plain_key(const plain_tree *tree, const memory_run *run, uint32_t number)
{
    return tree->batches[number] < run->batch_count
               ? run->batches[tree->batches[number]].prefixes[tree->rows[number]] + 1
               : UINT64_MAX;
}

static void
plain_play(plain_tree *tree, uint64_t key, uint32_t number)
{
    for (uint32_t i = (number + STRETCH_RUNS) / 2; i > 0; i /= 2) {
        const uint64_t other_key = tree->keys[i];
        const uint32_t other = tree->runs[i];
        const bool lost = other_key < key;

        tree->keys[i] = lost ? key : other_key;
        tree->runs[i] = lost ? number : other;
        key = lost ? other_key : key;
        number = lost ? other : number;
    }
    tree->keys[0] = key;
    tree->runs[0] = number;
}

static void
plain_take(plain_tree *tree, const sinter_batch *batch, uint32_t row)
{
    sinter_range *last = tree->count > 0 ? &tree->ranges[tree->count - 1] : NULL;

    tree->row_count++;
    if (last != NULL && last->batch == batch && last->first + last->count == row) {
        last->count++;
        return;
    }
    if (tree->count == RANGES) {
        tree->count = 0; /* consumed */
    }
    tree->ranges[tree->count++] = (sinter_range){batch, row, 1};
}

static uint64_t
run_plain(const micro_case *self, void *pointer)
{
    const memory_runs *state = pointer;
    plain_tree tree;

    (void)self;
    memset(&tree, 0, sizeof tree);
    for (uint32_t i = 0; i < STRETCH_RUNS; i++) {
        tree.keys[i] = 0; /* below every key: each leaf climbs as far as it can */
        tree.runs[i] = STRETCH_RUNS;
    }
    for (uint32_t i = 0; i < STRETCH_RUNS; i++) {
        plain_play(&tree, plain_key(&tree, &state->runs[i], i), i);
    }
    while (tree.row_count < state->row_count) {
        const uint32_t number = tree.runs[0];
        const memory_run *run = &state->runs[number];
        const sinter_batch *batch = &run->batches[tree.batches[number]];

        if (tree.keys[0] != tree.row_count + 1) {
            fprintf(stderr, "micro_bench: the plain tree is out of order\n");
            exit(1);
        }
        plain_take(&tree, batch, tree.rows[number]++);
        if (tree.rows[number] == batch->row_count) {
            tree.rows[number] = 0;
            tree.batches[number]++;
        }
        plain_play(&tree, plain_key(&tree, run, number), number);
    }
    return tree.row_count;
}

#define GALLOP_CASES(stretch)                                                                  \
    {"merge-gallop-" #stretch, "record", setup_stretches, run_merge, teardown, NULL, stretch}, \
    {                                                                                          \
        "merge-plain-" #stretch, "record", setup_stretches, run_plain, teardown, NULL, stretch \
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
    GALLOP_CASES(1),
    GALLOP_CASES(2),
    GALLOP_CASES(4),
    GALLOP_CASES(16),
    GALLOP_CASES(64),
    GALLOP_CASES(256),
    {0},
};
