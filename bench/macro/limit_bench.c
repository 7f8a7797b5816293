/*
 * The limit: the least work that turns these sorted runs into one. It reads every block from the
 * page cache, verifies one checksum, decodes, merges with a loser tree, encodes, checksums and
 * writes. Blocks that nothing overlaps go across as they are. docs/benchmarks.md tells how the
 * figure is used.
 *
 *                 winner of all              A node holds the loser of the match played there.
 *                /             \             The winner's next key plays its way up again, one
 *            loser             loser         match per level; an exchange is a few conditional
 *           /     \           /     \        moves, never a branch.
 *        loser   loser     loser   loser
 *        /  \    /  \      /  \    /  \
 *       r0  r1  r2  r3    r4  r5  r6  r7
 */
#include "macro/limit_file.h"
#include "macro/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

__extension__ typedef unsigned __int128 wide_key;

enum { RUNS_MAX = 64 };

/* A run's next key. `age`: 0 is the newest run, whose version of a key wins. */
typedef struct entry {
    wide_key key;
    uint64_t age; /* EXHAUSTED once the run is at its end */
} entry;

static const uint64_t EXHAUSTED = UINT64_MAX;

typedef struct merge_state {
    limit_reader readers[RUNS_MAX]; /* newest first: the index is the age */
    uint32_t rows[RUNS_MAX];        /* next row */
    uint64_t value_offsets[RUNS_MAX];
    entry nodes[RUNS_MAX]; /* losers; nodes[0] is the winner */
    uint32_t run_count;
    uint32_t leaf_count; /* a power of two */
    uint32_t key_bytes;
    bool has_last;
    wide_key last_key;
} merge_state;

static inline uint64_t
load_be64(const uint8_t *data)
{
    uint64_t value = 0;

    memcpy(&value, data, sizeof value);
    return __builtin_bswap64(value);
}

static inline wide_key
load_key(const uint8_t *data, uint32_t key_bytes)
{
    const wide_key high = (wide_key)load_be64(data) << 64;

    return key_bytes == 16 ? high | load_be64(data + 8) : high;
}

static inline bool
is_less(const entry *a, const entry *b)
{
    return (a->key < b->key) | ((a->key == b->key) & (a->age < b->age));
}

/* Exhausted runs sort behind every key: the largest key and the largest age. */
static entry
head_of(const merge_state *tree, uint32_t run)
{
    entry out = {~(wide_key)0, EXHAUSTED};

    if (run < tree->run_count && tree->readers[run].block != NULL) {
        out.key = load_key(tree->readers[run].keys, tree->key_bytes);
        out.age = run;
    }
    return out;
}

static inline entry
play(merge_state *tree, entry challenger, uint32_t leaf)
{
    for (uint32_t i = (leaf + tree->leaf_count) / 2; i > 0; i /= 2) {
        entry *node = &tree->nodes[i];
        const entry other = *node;
        const bool lost = is_less(&other, &challenger);

        node->key = lost ? challenger.key : other.key;
        node->age = lost ? challenger.age : other.age;
        challenger.key = lost ? other.key : challenger.key;
        challenger.age = lost ? other.age : challenger.age;
    }
    return challenger;
}

static void
build_tree(merge_state *tree)
{
    entry winners[2 * RUNS_MAX] = {{0, 0}};

    for (uint32_t i = 0; i < tree->leaf_count; i++) {
        winners[tree->leaf_count + i] = head_of(tree, i);
    }
    for (uint32_t i = tree->leaf_count - 1; i > 0; i--) {
        const entry *left = &winners[(size_t)2 * i];
        const entry *right = &winners[(size_t)2 * i + 1];
        const bool is_left = is_less(left, right);

        winners[i] = is_left ? *left : *right;
        tree->nodes[i] = is_left ? *right : *left;
    }
    tree->nodes[0] = winners[1];
}

/* The least key among all other runs: it lost to the winner somewhere on the winner's path. */
static entry
runner_up(const merge_state *tree, uint32_t run)
{
    entry least = {~(wide_key)0, EXHAUSTED};

    for (uint32_t i = (run + tree->leaf_count) / 2; i > 0; i /= 2) {
        if (is_less(&tree->nodes[i], &least)) {
            least = tree->nodes[i];
        }
    }
    return least;
}

static bool
next_block(merge_state *tree, uint32_t run)
{
    tree->rows[run] = 0;
    tree->value_offsets[run] = 0;
    return limit_reader_next(&tree->readers[run]);
}

/* May the winner's fresh block go across as it is? Nothing overlaps it, it loses no row, and no
 * tiny block has to be cut for it. */
static bool
can_pass(const merge_state *tree, uint32_t run, const limit_writer *writer)
{
    const limit_reader *reader = &tree->readers[run];
    const limit_block *block = reader->block;
    const uint8_t *last_key = reader->keys + (size_t)(block->row_count - 1) * tree->key_bytes;
    const entry other = runner_up(tree, run);
    const size_t open_bytes = writer->value_bytes + (size_t)writer->row_count * tree->key_bytes;

    return block->delete_count == 0 && !(tree->has_last && tree->nodes[0].key == tree->last_key) &&
           (other.age == EXHAUSTED || load_key(last_key, tree->key_bytes) < other.key) &&
           (open_bytes == 0 || open_bytes >= writer->layout.block_bytes / 4);
}

static void
pass_block(merge_state *tree, uint32_t run, limit_writer *writer)
{
    const limit_reader *reader = &tree->readers[run];
    const uint32_t row_count = reader->block->row_count;

    if (writer->row_count > 0) {
        limit_writer_flush_block(writer);
    }
    limit_writer_pass(writer, reader);
    tree->rows[run] = row_count;
    tree->last_key =
        load_key(reader->keys + (size_t)(row_count - 1) * tree->key_bytes, tree->key_bytes);
    tree->has_last = true;
}

/* In steps of 32 bytes; both sides have slack behind them. */
static inline void
copy_value(uint8_t *out, const uint8_t *in, size_t size)
{
    for (size_t i = 0; i < size; i += 32) {
        memcpy(out + i, in + i, 32);
    }
}

static inline void
put_row(limit_writer *writer, const uint8_t *key, uint32_t key_bytes, const uint8_t *value,
        uint32_t length)
{
    memcpy(writer->keys + (size_t)writer->row_count * key_bytes, key, key_bytes);
    writer->lengths[writer->row_count++] = length + 1;
    copy_value(writer->values + writer->value_bytes, value, length);
    writer->value_bytes += length;
    if (limit_writer_is_full(writer)) {
        limit_writer_flush_block(writer);
    }
}

static inline void
take_row(merge_state *tree, uint32_t run, limit_writer *writer, uint32_t key_bytes)
{
    limit_reader *reader = &tree->readers[run];
    const uint32_t row = tree->rows[run]++;
    const wide_key key = tree->nodes[0].key;
    const uint8_t *value = NULL;
    int64_t length = 0;

    if (reader->values == NULL) {
        limit_reader_decode(reader);
    }
    length = limit_length(reader, row);
    value = reader->values + tree->value_offsets[run];
    tree->value_offsets[run] += length > 0 ? (uint64_t)length : 0;
    if ((!tree->has_last || key != tree->last_key) && length >= 0) {
        put_row(writer, reader->keys + (size_t)row * key_bytes, key_bytes, value, (uint32_t)length);
    }
    tree->last_key = key;
    tree->has_last = true;
}

static inline void
run_merge(merge_state *tree, limit_writer *writer, uint32_t key_bytes)
{
    while (tree->nodes[0].age != EXHAUSTED) {
        const uint32_t run = (uint32_t)tree->nodes[0].age;
        limit_reader *reader = &tree->readers[run];
        entry next = {~(wide_key)0, EXHAUSTED};

        if (reader->values == NULL && can_pass(tree, run, writer)) {
            pass_block(tree, run, writer);
        } else {
            take_row(tree, run, writer, key_bytes);
        }
        if (tree->rows[run] < reader->block->row_count || next_block(tree, run)) {
            next.key = load_key(reader->keys + (size_t)tree->rows[run] * key_bytes, key_bytes);
            next.age = run;
        }
        tree->nodes[0] = play(tree, next, run);
    }
}

static uint32_t
open_runs(merge_state *tree, const char *dir, void *decoder)
{
    uint32_t count = 0;
    char path[4096];

    for (;; count++) {
        limit_path(path, sizeof path, dir, count);
        if (access(path, F_OK) != 0) {
            break;
        }
        if (count == RUNS_MAX) {
            fprintf(stderr, "limit_bench: more than %d runs\n", RUNS_MAX);
            exit(1);
        }
    }
    tree->run_count = count;
    for (tree->leaf_count = 1; tree->leaf_count < count;) {
        tree->leaf_count *= 2;
    }
    for (uint32_t i = 0; i < count; i++) {
        limit_path(path, sizeof path, dir, count - 1 - i);
        limit_reader_open(&tree->readers[i], path, decoder);
        tree->key_bytes = tree->readers[i].footer.key_bytes;
    }
    return count;
}

static void
merge_files(const bench_options *options, bench_report *report)
{
    static merge_state state;
    limit_layout layout = {.block_bytes = options->block_bytes,
                           .file_bytes = BENCH_TARGET_FILE_BYTES,
                           .codec = options->codec,
                           .codec_level = options->codec_level};
    limit_writer writer;
    ZSTD_DCtx *decoder = ZSTD_createDCtx();

    if (decoder == NULL || open_runs(&state, options->dir, decoder) == 0) {
        fprintf(stderr, "limit_bench: no runs in %s\n", options->dir);
        exit(1);
    }
    layout.key_bytes = state.key_bytes;
    limit_writer_open(&writer, &layout, options->out);
    for (uint32_t i = 0; i < state.run_count; i++) {
        next_block(&state, i);
    }
    build_tree(&state);
    if (state.key_bytes == 16) {
        run_merge(&state, &writer, 16);
    } else {
        run_merge(&state, &writer, 8);
    }
    if (writer.row_count > 0) {
        limit_writer_flush_block(&writer);
    }
    limit_writer_finish_file(&writer);
    for (uint32_t i = 0; i < state.run_count; i++) {
        report->file_bytes_in += state.readers[i].file_bytes;
        report->blocks_in += state.readers[i].footer.block_count;
        report->io_reads += state.readers[i].read_calls;
        limit_reader_close(&state.readers[i]);
    }
    report->file_bytes_out = writer.file_bytes;
    report->blocks_passed = writer.blocks_passed;
    report->io_read_bytes = report->file_bytes_in;
    report->io_writes = writer.write_calls;
    limit_writer_close(&writer);
    ZSTD_freeDCtx(decoder);
}

static int
compact(const bench_options *options, const bench_clock *idle)
{
    bench_report report = {.io = "posix", .library = "limit"};
    bench_clock before;
    bench_clock after;

    if (mkdir(options->out, 0755) != 0) {
        perror(options->out);
        return 1;
    }
    bench_clock_read(&before);
    merge_files(options, &report);
    bench_clock_read(&after);
    bench_report_times(&report, idle, &before, &after);
    bench_report_print(&report);
    return 0;
}

static void
build_run(const bench_workload *workload, uint32_t run, limit_writer *writer)
{
    bench_cursor cursor;
    bench_record record;

    bench_cursor_init(&cursor, workload, run);
    while (bench_cursor_next(&cursor, &record)) {
        if (!record.is_delete) {
            put_row(writer, record.key, record.key_bytes, record.value, record.value_bytes);
            continue;
        }
        memcpy(writer->keys + (size_t)writer->row_count * record.key_bytes, record.key,
               record.key_bytes);
        writer->lengths[writer->row_count++] = 0;
        writer->delete_count++;
        if (limit_writer_is_full(writer)) {
            limit_writer_flush_block(writer);
        }
    }
    if (writer->row_count > 0) {
        limit_writer_flush_block(writer);
    }
    limit_writer_finish_file(writer);
}

static int
build(const bench_options *options)
{
    bench_workload workload;
    limit_writer writer;
    limit_layout layout = {.block_bytes = options->block_bytes,
                           .file_bytes = UINT64_MAX, /* one file a run */
                           .codec = options->codec,
                           .codec_level = options->codec_level};

    if (!bench_workload_init(&workload, options->workload, options->div)) {
        fprintf(stderr, "limit_bench: no workload %s\n", options->workload);
        return 2;
    }
    if (mkdir(options->dir, 0755) != 0) {
        perror(options->dir);
        return 1;
    }
    layout.key_bytes = workload.key_bytes;
    limit_writer_open(&writer, &layout, options->dir);
    for (uint32_t run = 0; run < workload.run_count; run++) {
        build_run(&workload, run, &writer);
    }
    limit_writer_close(&writer);
    return 0;
}

static void
verify_file(const char *path, void *decoder, bench_digest *digest)
{
    limit_reader reader;

    limit_reader_open(&reader, path, decoder);
    while (limit_reader_next(&reader)) {
        uint64_t offset = 0;

        limit_reader_decode(&reader);
        for (uint32_t i = 0; i < reader.block->row_count; i++) {
            const int64_t length = limit_length(&reader, i);

            if (length < 0) {
                fprintf(stderr, "limit_bench: a delete is left\n");
                exit(1);
            }
            bench_digest_add(digest, reader.keys + (size_t)i * reader.footer.key_bytes,
                             reader.footer.key_bytes, reader.values + offset, (size_t)length);
            offset += (uint64_t)length;
        }
    }
    limit_reader_close(&reader);
}

static int
verify(const bench_options *options)
{
    bench_digest digest = BENCH_DIGEST_INIT;
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    char path[4096];

    for (uint32_t number = 0;; number++) {
        limit_path(path, sizeof path, options->dir, number);
        if (access(path, F_OK) != 0) {
            break;
        }
        verify_file(path, decoder, &digest);
    }
    ZSTD_freeDCtx(decoder);
    bench_digest_print(&digest);
    return 0;
}

int
main(int argc, char **argv)
{
    bench_clock idle;
    bench_options options;

    bench_clock_read(&idle);
    if (!bench_options_parse(argc, argv, "build|compact|verify", &options)) {
        return 2;
    }
    if (strcmp(options.command, "build") == 0) {
        return build(&options);
    }
    if (strcmp(options.command, "compact") == 0) {
        return compact(&options, &idle);
    }
    return verify(&options);
}
