/*
 * The codec alone: values of every input block decoded, values of every output block encoded,
 * contexts and buffers reused. A block is made right before its turn, so that it lies in the
 * cache, and only the call of the codec is timed.
 */
#include "micro/floor.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

typedef struct recode_state {
    floor_codec codec;
    uint32_t block_bytes;
    ZSTD_CCtx *encoder;
    ZSTD_DCtx *decoder;
    uint8_t *raw;
    uint8_t *stored;
    uint8_t *decoded;
    size_t raw_bytes;    /* values in the open block */
    size_t block_filled; /* keys counted as well */
    size_t raw_room;
    size_t stored_room;
    double cpu_s;
} recode_state;

static double
thread_cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t
encode(recode_state *state)
{
    size_t size = 0;

    if (state->codec.codec == BENCH_CODEC_LZ4) {
        size = (size_t)LZ4_compress_default((const char *)state->raw, (char *)state->stored,
                                            (int)state->raw_bytes, (int)state->stored_room);
    } else {
        size = ZSTD_compressCCtx(state->encoder, state->stored, state->stored_room, state->raw,
                                 state->raw_bytes, state->codec.level);
    }
    if (size == 0 || ZSTD_isError(size)) {
        floor_fail("a block does not encode");
    }
    return size;
}

static size_t
decode(recode_state *state, size_t stored_bytes)
{
    if (state->codec.codec == BENCH_CODEC_LZ4) {
        return (size_t)LZ4_decompress_safe((const char *)state->stored, (char *)state->decoded,
                                           (int)stored_bytes, (int)state->raw_room);
    }
    return ZSTD_decompressDCtx(state->decoder, state->decoded, state->raw_room, state->stored,
                               stored_bytes);
}

/* Both ways are walked; the clock runs for the one that is asked for. */
static void
end_block(recode_state *state, bool is_output)
{
    double times[3] = {0, 0, 0};
    size_t stored_bytes = 0;
    size_t size = 0;

    if (state->raw_bytes > 0) {
        times[0] = thread_cpu_s();
        stored_bytes = encode(state);
        times[1] = thread_cpu_s();
        size = decode(state, stored_bytes);
        times[2] = thread_cpu_s();
        if (size != state->raw_bytes || memcmp(state->raw, state->decoded, size) != 0) {
            floor_fail("a block does not decode to what it was");
        }
        state->cpu_s += is_output ? times[1] - times[0] : times[2] - times[1];
    }
    state->raw_bytes = 0;
    state->block_filled = 0;
}

static void
walk(recode_state *state, const bench_workload *workload, uint32_t run)
{
    bench_cursor *cursor = malloc(sizeof *cursor);
    bench_record record;

    if (cursor == NULL) {
        floor_fail("no memory");
    }
    bench_cursor_init(cursor, workload, run);
    while (bench_cursor_next(cursor, &record)) {
        memcpy(state->raw + state->raw_bytes, record.value, record.value_bytes);
        state->raw_bytes += record.value_bytes;
        state->block_filled += record.key_bytes + record.value_bytes;
        if (state->block_filled >= state->block_bytes) {
            end_block(state, run == BENCH_LIVE);
        }
    }
    end_block(state, run == BENCH_LIVE);
    free(cursor);
}

double
floor_recode(const bench_workload *workload, floor_codec codec, uint32_t block_bytes)
{
    recode_state state = {.codec = codec, .block_bytes = block_bytes};

    if (codec.codec == BENCH_CODEC_NONE) {
        floor_fail("without a codec there is nothing to do");
    }
    state.raw_room = block_bytes + BENCH_VALUE_BYTES_MAX;
    state.stored_room = ZSTD_compressBound(state.raw_room) + state.raw_room / 255 + 64;
    state.raw = malloc(state.raw_room);
    state.stored = malloc(state.stored_room);
    state.decoded = malloc(state.raw_room);
    state.encoder = ZSTD_createCCtx();
    state.decoder = ZSTD_createDCtx();
    if (state.raw == NULL || state.stored == NULL || state.decoded == NULL ||
        state.encoder == NULL || state.decoder == NULL) {
        floor_fail("no memory");
    }
    for (uint32_t run = 0; run < workload->run_count; run++) {
        walk(&state, workload, run);
    }
    walk(&state, workload, BENCH_LIVE);
    ZSTD_freeDCtx(state.decoder);
    ZSTD_freeCCtx(state.encoder);
    free(state.decoded);
    free(state.stored);
    free(state.raw);
    return state.cpu_s;
}
