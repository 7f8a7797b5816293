#include "macro/limit_file.h"

#include "macro/program.h"

#include <assert.h>
#include <fcntl.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#ifdef SINTER_XXHASH_DISPATCHES
#include <xxh_x86dispatch.h> /* its XXH3_64bits is the widest that the processor has */
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

static const uint64_t MAGIC = UINT64_C(0x314B4E454254494C);

static _Noreturn void
fail(const char *what)
{
    fprintf(stderr, "limit_bench: ");
    perror(what);
    exit(1);
}

static void
require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "limit_bench: %s\n", what);
        exit(1);
    }
}

void *
limit_allocate(size_t size)
{
    void *memory = malloc(size + LIMIT_SLACK_BYTES);

    if (memory == NULL) {
        fail("malloc");
    }
    return memory;
}

void
limit_path(char *out, size_t room, const char *dir, uint32_t number)
{
    const int size = snprintf(out, room, "%s/%06u.limit", dir, number);

    require(size > 0 && (size_t)size < room, "path too long");
}

static void
read_all(int fd, void *data, size_t size, uint64_t offset)
{
    uint8_t *at = data;

    while (size > 0) {
        const ssize_t got = pread(fd, at, size, (off_t)offset);

        if (got <= 0) {
            fail("pread");
        }
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
}

void
limit_reader_open(limit_reader *reader, const char *path, void *decoder)
{
    struct stat stat;
    size_t index_bytes = 0;

    memset(reader, 0, sizeof *reader);
    reader->decoder = decoder;
    reader->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0 || fstat(reader->fd, &stat) != 0) {
        fail(path);
    }
    reader->file_bytes = (uint64_t)stat.st_size;
    read_all(reader->fd, &reader->footer, sizeof reader->footer,
             reader->file_bytes - sizeof reader->footer);
    require(reader->footer.magic == MAGIC, "not a file of this program");
    index_bytes = reader->footer.block_count * sizeof *reader->index;
    reader->index = limit_allocate(index_bytes);
    read_all(reader->fd, reader->index, index_bytes, reader->footer.index_offset);
    for (uint64_t i = 0; i < reader->footer.block_count; i++) {
        const limit_block *block = &reader->index[i];

        if (block->value_raw_bytes > reader->value_room_bytes) {
            reader->value_room_bytes = block->value_raw_bytes;
        }
        if (block->stored_bytes > reader->group_bytes) {
            reader->group_bytes = block->stored_bytes;
        }
    }
    if (reader->group_bytes < LIMIT_READ_BYTES) {
        reader->group_bytes = LIMIT_READ_BYTES;
    }
    reader->group = limit_allocate(reader->group_bytes);
    if (reader->footer.codec != BENCH_CODEC_NONE) {
        reader->value_room = limit_allocate(reader->value_room_bytes);
    }
}

void
limit_reader_close(limit_reader *reader)
{
    close(reader->fd);
    free(reader->index);
    free(reader->group);
    free(reader->value_room);
}

/* Read as many whole blocks as fit. */
static void
fill_group(limit_reader *reader)
{
    const uint64_t begin = reader->index[reader->next_block].offset;
    uint64_t end = begin;

    while (reader->group_end < reader->footer.block_count) {
        const limit_block *block = &reader->index[reader->group_end];

        if (block->offset + block->stored_bytes - begin > reader->group_bytes) {
            break;
        }
        end = block->offset + block->stored_bytes;
        reader->group_end++;
    }
    assert(end > begin);
    read_all(reader->fd, reader->group, end - begin, begin);
    reader->read_calls++;
    reader->stored = reader->group;
}

bool
limit_reader_next(limit_reader *reader)
{
    const limit_block *block = NULL;

    if (reader->next_block == reader->footer.block_count) {
        return false;
    }
    if (reader->next_block == reader->group_end) {
        fill_group(reader);
    } else {
        reader->stored += reader->block->stored_bytes;
    }
    block = &reader->index[reader->next_block++];
    require(XXH3_64bits(reader->stored, block->stored_bytes) == block->checksum,
            "checksum mismatch");
    reader->block = block;
    reader->keys = reader->stored + block->value_stored_bytes;
    reader->lengths = reader->keys + (size_t)block->row_count * reader->footer.key_bytes;
    reader->values = NULL;
    return true;
}

void
limit_reader_decode(limit_reader *reader)
{
    const limit_block *block = reader->block;
    size_t size = 0;

    if (reader->footer.codec == BENCH_CODEC_NONE) {
        reader->values = reader->stored;
        return;
    }
    if (reader->footer.codec == BENCH_CODEC_LZ4) {
        size = (size_t)LZ4_decompress_safe((const char *)reader->stored, (char *)reader->value_room,
                                           (int)block->value_stored_bytes,
                                           (int)reader->value_room_bytes);
    } else {
        size = ZSTD_decompressDCtx(reader->decoder, reader->value_room, reader->value_room_bytes,
                                   reader->stored, block->value_stored_bytes);
    }
    require(size == block->value_raw_bytes, "block does not decode");
    reader->values = reader->value_room;
}

static void
write_all(limit_writer *writer, const void *data, size_t size)
{
    const uint8_t *at = data;

    while (size > 0) {
        const ssize_t put = write(writer->fd, at, size);

        if (put <= 0) {
            fail("write");
        }
        at += put;
        size -= (size_t)put;
        writer->write_calls++;
    }
}

static void
flush_buffer(limit_writer *writer)
{
    write_all(writer, writer->buffer, writer->buffered);
    writer->buffered = 0;
}

static size_t
codec_bound(const limit_writer *writer, size_t size)
{
    if (writer->layout.codec == BENCH_CODEC_LZ4) {
        return (size_t)LZ4_compressBound((int)size);
    }
    return ZSTD_compressBound(size);
}

/* The open block's values go straight into the write buffer when nothing encodes them. */
static void
place_values(limit_writer *writer)
{
    if (writer->layout.codec == BENCH_CODEC_NONE) {
        writer->values = writer->buffer + writer->buffered;
    }
}

void
limit_writer_open(limit_writer *writer, const limit_layout *layout, const char *dir)
{
    size_t block_room = 0;

    memset(writer, 0, sizeof *writer);
    writer->layout = *layout;
    writer->dir = dir;
    writer->fd = -1;
    writer->row_room = layout->block_bytes / layout->key_bytes + 1;
    writer->value_room = layout->block_bytes + BENCH_VALUE_BYTES_MAX;
    writer->keys = limit_allocate((size_t)writer->row_room * layout->key_bytes);
    writer->lengths = limit_allocate(writer->row_room * sizeof *writer->lengths);
    block_room = codec_bound(writer, writer->value_room) +
                 writer->row_room * (layout->key_bytes + sizeof *writer->lengths);
    writer->buffer_room = LIMIT_WRITE_BYTES + block_room;
    writer->buffer = limit_allocate(writer->buffer_room);
    if (layout->codec != BENCH_CODEC_NONE) {
        writer->values = limit_allocate(writer->value_room);
    }
    writer->encoder = ZSTD_createCCtx();
    if (writer->encoder == NULL) {
        fail("ZSTD_createCCtx");
    }
    place_values(writer);
}

void
limit_writer_close(limit_writer *writer)
{
    assert(writer->fd < 0);
    ZSTD_freeCCtx(writer->encoder);
    if (writer->layout.codec != BENCH_CODEC_NONE) {
        free(writer->values);
    }
    free(writer->index);
    free(writer->buffer);
    free(writer->lengths);
    free(writer->keys);
}

static void
begin_file(limit_writer *writer)
{
    char path[4096];

    limit_path(path, sizeof path, writer->dir, writer->file_count++);
    writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (writer->fd < 0) {
        fail(path);
    }
    writer->file_offset = 0;
    writer->block_count = 0;
}

static limit_block *
new_block(limit_writer *writer)
{
    limit_block *block = NULL;

    if (writer->fd < 0) {
        begin_file(writer);
    }
    if (writer->block_count == writer->block_room) {
        writer->block_room = writer->block_room * 2 + 1024;
        writer->index = realloc(writer->index, writer->block_room * sizeof *writer->index);
        if (writer->index == NULL) {
            fail("realloc");
        }
    }
    block = &writer->index[writer->block_count++];
    memset(block, 0, sizeof *block);
    block->offset = writer->file_offset;
    return block;
}

void
limit_writer_finish_file(limit_writer *writer)
{
    limit_footer footer = {.magic = MAGIC};

    if (writer->fd < 0) {
        return;
    }
    assert(writer->row_count == 0);
    flush_buffer(writer);
    place_values(writer);
    footer.index_offset = writer->file_offset;
    footer.block_count = writer->block_count;
    footer.key_bytes = writer->layout.key_bytes;
    footer.codec = (uint32_t)writer->layout.codec;
    write_all(writer, writer->index, writer->block_count * sizeof *writer->index);
    write_all(writer, &footer, sizeof footer);
    writer->file_bytes += writer->file_offset + writer->block_count * sizeof *writer->index;
    writer->file_bytes += sizeof footer;
    if (close(writer->fd) != 0) {
        fail("close");
    }
    writer->fd = -1;
}

static void
end_block(limit_writer *writer, const limit_block *block)
{
    writer->file_offset += block->stored_bytes;
    if (writer->file_offset >= writer->layout.file_bytes) {
        limit_writer_finish_file(writer);
    }
}

static size_t
encode_values(limit_writer *writer, uint8_t *out, size_t room)
{
    size_t size = writer->value_bytes;

    if (writer->layout.codec == BENCH_CODEC_LZ4) {
        size = (size_t)LZ4_compress_default((const char *)writer->values, (char *)out,
                                            (int)writer->value_bytes, (int)room);
        require(size > 0 || writer->value_bytes == 0, "lz4 failed");
    } else if (writer->layout.codec == BENCH_CODEC_ZSTD) {
        size = ZSTD_compressCCtx(writer->encoder, out, room, writer->values, writer->value_bytes,
                                 writer->layout.codec_level);
        require(!ZSTD_isError(size), "zstd failed");
    }
    return size;
}

/* The narrowest column that holds all lengths; none at all when they are equal. */
static uint32_t
encode_lengths(const limit_writer *writer, limit_block *block, uint8_t *out)
{
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;

    for (uint32_t i = 0; i < writer->row_count; i++) {
        least = writer->lengths[i] < least ? writer->lengths[i] : least;
        most = writer->lengths[i] > most ? writer->lengths[i] : most;
    }
    if (least == most && least > 0) {
        block->uniform_length = least - 1;
        return 0;
    }
    block->length_width = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 4;
    for (uint32_t i = 0; i < writer->row_count; i++) {
        memcpy(out + (size_t)i * block->length_width, &writer->lengths[i], block->length_width);
    }
    return writer->row_count * block->length_width;
}

void
limit_writer_flush_block(limit_writer *writer)
{
    const size_t key_bytes = (size_t)writer->row_count * writer->layout.key_bytes;
    uint8_t *out = writer->buffer + writer->buffered;
    limit_block *block = new_block(writer);
    size_t size = 0;

    assert(writer->row_count > 0);
    size = encode_values(writer, out, writer->buffer_room - writer->buffered);
    block->value_stored_bytes = (uint32_t)size;
    block->value_raw_bytes = (uint32_t)writer->value_bytes;
    block->row_count = writer->row_count;
    block->delete_count = writer->delete_count;
    memcpy(out + size, writer->keys, key_bytes);
    size += key_bytes;
    size += encode_lengths(writer, block, out + size);
    /* Lengths are read as whole words: keep the next block aligned. */
    while (size % sizeof(uint64_t) != 0) {
        out[size++] = 0;
    }
    block->stored_bytes = (uint32_t)size;
    block->checksum = XXH3_64bits(out, size);
    writer->buffered += size;
    if (writer->buffered >= LIMIT_WRITE_BYTES) {
        flush_buffer(writer);
    }
    writer->row_count = 0;
    writer->delete_count = 0;
    writer->value_bytes = 0;
    place_values(writer);
    end_block(writer, block);
}

void
limit_writer_pass(limit_writer *writer, const limit_reader *reader)
{
    limit_block *block = new_block(writer);
    const uint64_t offset = block->offset;

    assert(writer->row_count == 0);
    *block = *reader->block;
    block->offset = offset;
    flush_buffer(writer);
    write_all(writer, reader->stored, block->stored_bytes);
    writer->blocks_passed++;
    place_values(writer);
    end_block(writer, block);
}
