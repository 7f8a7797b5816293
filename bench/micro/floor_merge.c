/*
 * Small records: a loser tree for keys of 8 bytes and values of 16, up to 8 runs, and nothing that
 * a general engine needs. Blocks are read, verified, decoded, encoded and written as the limit
 * program does it; a row is one match per level of the tree and three copies of 8 bytes, and no
 * branch depends on the data: a row that must not be kept is overwritten by the next one.
 */
#include "micro/floor.h"

#include "macro/limit_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

__extension__ typedef unsigned __int128 node;

enum { RUNS = 8, LEAVES = 8, KEY_BYTES = 8, VALUE_BYTES = 16, BLOCK_ROWS_MAX = 1 << 16 };

/* Key above, age below: 0 is the newest run, so the least node is the newest version of the least
 * key. Behind every key once the run is at its end. */
static const node EXHAUSTED = ~(node)0;

typedef struct run_head {
    limit_reader reader;
    const uint8_t *key;
    const uint8_t *value;
    const uint8_t *length; /* value bytes + 1 of each row, 0: a delete */
    const uint8_t *key_end;
} run_head;

typedef struct merge_state {
    run_head runs[RUNS]; /* newest first */
    node nodes[LEAVES];  /* losers; nodes[0] is the winner */
    uint32_t run_count;
    uint8_t all_puts[BLOCK_ROWS_MAX];
} merge_state;

static node
next_node(const run_head *run, uint64_t age)
{
    uint64_t key = 0;

    memcpy(&key, run->key, sizeof key);
    return (node)__builtin_bswap64(key) << 64 | age;
}

/* The run's next block; false after its last. */
static bool
next_block(merge_state *state, run_head *run)
{
    limit_reader *reader = &run->reader;

    if (!limit_reader_next(reader)) {
        return false;
    }
    limit_reader_decode(reader);
    if (reader->block->length_width > 1 || reader->block->row_count > BLOCK_ROWS_MAX) {
        floor_fail("values are not of the size that this loop is made for");
    }
    run->key = reader->keys;
    run->key_end = reader->keys + (size_t)reader->block->row_count * KEY_BYTES;
    run->value = reader->values;
    run->length = reader->block->length_width == 1 ? reader->lengths : state->all_puts;
    return true;
}

static inline node
play(node *nodes, node challenger, uint32_t leaf)
{
    for (uint32_t i = (leaf + LEAVES) / 2; i > 0; i /= 2) {
        const node other = nodes[i];
        const bool lost = other < challenger;

        nodes[i] = lost ? challenger : other;
        challenger = lost ? other : challenger;
    }
    return challenger;
}

static void
build_tree(merge_state *state)
{
    for (uint32_t i = 0; i < LEAVES; i++) {
        state->nodes[i] = 0; /* sorts before every key: each leaf climbs as far as it can */
    }
    for (uint32_t i = 0; i < LEAVES; i++) {
        node head = EXHAUSTED;

        if (i < state->run_count && next_block(state, &state->runs[i])) {
            head = next_node(&state->runs[i], i + 1);
        }
        state->nodes[0] = play(state->nodes, head, i);
    }
}

static void
merge(merge_state *state, limit_writer *writer)
{
    const uint32_t rows_most = writer->layout.block_bytes / (KEY_BYTES + VALUE_BYTES) + 1;
    uint64_t last_key = 0;
    uint64_t is_first = 1;

    memset(state->all_puts, VALUE_BYTES + 1, sizeof state->all_puts);
    build_tree(state);
    for (uint32_t i = 0; i < writer->row_room; i++) {
        writer->lengths[i] = VALUE_BYTES + 1;
    }
    while (state->nodes[0] != EXHAUSTED) {
        const uint64_t key = (uint64_t)(state->nodes[0] >> 64);
        const uint32_t age = (uint32_t)state->nodes[0];
        run_head *run = &state->runs[age - 1];
        const uint32_t length = *run->length++;
        const uint64_t is_new = (uint64_t)(key != last_key) | is_first;
        const uint64_t keep = is_new & (uint64_t)(length > 0);
        node next = EXHAUSTED;

        memcpy(writer->keys + (size_t)writer->row_count * KEY_BYTES, run->key, KEY_BYTES);
        memcpy(writer->values + writer->value_bytes, run->value, VALUE_BYTES);
        writer->row_count += (uint32_t)keep;
        writer->value_bytes += keep * VALUE_BYTES;
        run->value += length > 0 ? VALUE_BYTES : 0;
        run->key += KEY_BYTES;
        last_key = key;
        is_first = 0;
        if (run->key < run->key_end || next_block(state, run)) {
            next = next_node(run, age);
        }
        state->nodes[0] = play(state->nodes, next, age - 1);
        if (writer->row_count == rows_most - 1) {
            limit_writer_flush_block(writer);
        }
    }
    if (writer->row_count > 0) {
        limit_writer_flush_block(writer);
    }
    limit_writer_finish_file(writer);
}

static void
open_runs(merge_state *state, const char *dir, void *decoder)
{
    char path[4096];

    for (;; state->run_count++) {
        limit_path(path, sizeof path, dir, state->run_count);
        if (access(path, F_OK) != 0) {
            break;
        }
    }
    if (state->run_count == 0 || state->run_count > RUNS) {
        floor_fail("none, or more than 8 runs");
    }
    for (uint32_t i = 0; i < state->run_count; i++) {
        limit_path(path, sizeof path, dir, state->run_count - 1 - i);
        limit_reader_open(&state->runs[i].reader, path, decoder);
        if (state->runs[i].reader.footer.key_bytes != KEY_BYTES) {
            floor_fail("keys are not of the size that this loop is made for");
        }
    }
}

double
floor_merge(const char *in, const char *out, floor_codec codec, uint32_t block_bytes)
{
    static merge_state state;
    const limit_layout layout = {.key_bytes = KEY_BYTES,
                                 .block_bytes = block_bytes,
                                 .file_bytes = BENCH_TARGET_FILE_BYTES,
                                 .codec = codec.codec,
                                 .codec_level = codec.level};
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    limit_writer writer;
    bench_clock before;
    bench_clock after;

    if (decoder == NULL || mkdir(out, 0755) != 0) {
        floor_fail("no output folder");
    }
    bench_clock_read(&before);
    open_runs(&state, in, decoder);
    limit_writer_open(&writer, &layout, out);
    merge(&state, &writer);
    for (uint32_t i = 0; i < state.run_count; i++) {
        limit_reader_close(&state.runs[i].reader);
    }
    limit_writer_close(&writer);
    bench_clock_read(&after);
    ZSTD_freeDCtx(decoder);
    return after.user_s + after.system_s - before.user_s - before.system_s;
}
