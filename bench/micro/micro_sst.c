/* Encoding and decoding sst blocks, into and out of files in memory: codec, columns, checksums. */
#include "micro/micro.h"

#include "macro/workload.h"

#include <stdlib.h>
#include <string.h>

enum { DIV = 40 };

static const char PATH[] = "/file.sst";

typedef struct sst_state {
    sinter_env env;
    sinter_io *io;
    sinter_batch_builder *builder;
    sinter_write_options write;
} sst_state;

static void
fill_builder(sinter_batch_builder *builder)
{
    bench_workload workload;
    bench_cursor cursor;
    bench_record record;
    int64_t sequence = 0;
    sinter_error err = SINTER_ERROR_INIT;

    (void)bench_workload_init(&workload, "W1", DIV);
    bench_cursor_init(&cursor, &workload, BENCH_LIVE);
    while (bench_cursor_next(&cursor, &record)) {
        const sinter_bytes key = {record.key, record.key_bytes};
        const sinter_bytes value = {record.value, record.value_bytes};

        micro_require(
            sinter_batch_builder_add(builder, key, sequence++, SINTER_KIND_INSERT, value, &err),
            "add", &err);
    }
}

/* `parameter` is the codec and, in hundreds, its level. */
static void *
setup(const micro_case *self)
{
    sst_state *state = micro_allocate(sizeof *state);
    sinter_error err = SINTER_ERROR_INIT;

    memset(state, 0, sizeof *state);
    if (!sinter_codec_is_built_in(self->parameter % 100)) {
        free(state);
        return NULL;
    }
    sinter_env_init(&state->env);
    micro_require(sinter_io_create(&state->env, SINTER_IO_MEMORY, NULL, &state->io, &err), "io",
                  &err);
    state->env.io = state->io;
    state->write.struct_size = sizeof state->write;
    state->write.codec = self->parameter % 100;
    state->write.codec_level = self->parameter / 100;
    micro_require(sinter_batch_builder_create(&state->env, &state->builder, &err), "builder", &err);
    fill_builder(state->builder);
    return state;
}

static void
teardown(void *pointer)
{
    sst_state *state = pointer;

    sinter_batch_builder_destroy(state->builder);
    sinter_io_destroy(state->io);
    free(state);
}

static uint64_t
write_file(const micro_case *self, void *pointer)
{
    sst_state *state = pointer;
    const sinter_format *format = sinter_format_sst();
    const sinter_batch *batch = sinter_batch_builder_batch(state->builder);
    const sinter_range range = {batch, 0, batch->row_count};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_file_stats stats = {.struct_size = sizeof stats};
    sinter_writer *writer = NULL;
    size_t taken = 0;
    uint32_t taken_rows = 0;

    (void)self;
    (void)state->io->ops->unlink(state->io, PATH, NULL);
    micro_require(
        format->open_writer(format->self, &state->env, PATH, &state->write, &writer, &err), PATH,
        &err);
    micro_require(writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &taken_rows, &err),
                  "append", &err);
    micro_require(writer->ops->finish(writer, &stats, &err), "finish", &err);
    writer->ops->close(writer);
    return stats.row_count;
}

static void *
setup_file(const micro_case *self)
{
    void *state = setup(self);

    if (state != NULL) {
        (void)write_file(self, state);
    }
    return state;
}

static uint64_t
read_file(const micro_case *self, void *pointer)
{
    sst_state *state = pointer;
    const sinter_format *format = sinter_format_sst();
    const sinter_read_options read = {.struct_size = sizeof read};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;
    uint64_t rows = 0;

    (void)self;
    micro_require(format->open_reader(format->self, &state->env, PATH, &read, &reader, &err), PATH,
                  &err);
    while ((st = reader->ops->next(reader, &batch, &err)) == SINTER_OK) {
        rows += batch->row_count;
    }
    if (st != SINTER_END) {
        micro_require(st, PATH, &err);
    }
    reader->ops->close(reader);
    return rows;
}

#define WRITE_CASE(label, codec, level)                                             \
    {                                                                               \
        label, "record", setup, write_file, teardown, NULL, (codec) + 100 * (level) \
    }
#define READ_CASE(label, codec, level)                                                  \
    {                                                                                   \
        label, "record", setup_file, read_file, teardown, NULL, (codec) + 100 * (level) \
    }

const micro_case MICRO_SST_CASES[] = {
    WRITE_CASE("sst-encode-none", SINTER_CODEC_NONE, 0),
    WRITE_CASE("sst-encode-lz4", SINTER_CODEC_LZ4, 0),
    WRITE_CASE("sst-encode-zstd1", SINTER_CODEC_ZSTD, 1),
    READ_CASE("sst-decode-none", SINTER_CODEC_NONE, 0),
    READ_CASE("sst-decode-lz4", SINTER_CODEC_LZ4, 0),
    READ_CASE("sst-decode-zstd1", SINTER_CODEC_ZSTD, 1),
    {0},
};
