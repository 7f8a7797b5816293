/*
 * The file of the limit program: columns in blocks, one checksum a block, nothing else.
 *
 *   block   values, through the codec | keys, fixed width | value lengths + 1, 0 for a delete
 *   file    block ... block | one limit_block each | limit_footer
 *
 * No sequence numbers, no filter, no statistics: what is left is the work that no compaction of
 * these bytes can avoid. Numbers are stored as the machine has them.
 */
#ifndef BENCH_LIMIT_FILE_H
#define BENCH_LIMIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LIMIT_SLACK_BYTES = 64,        /* readable and writable behind every buffer */
    LIMIT_READ_BYTES = 256 * 1024, /* one pread, at least one block */
    LIMIT_WRITE_BYTES = 256 * 1024
};

/** One entry of the index. */
typedef struct limit_block {
    uint64_t offset;
    uint64_t checksum; /* XXH3 of the stored bytes */
    uint32_t stored_bytes;
    uint32_t value_stored_bytes;
    uint32_t value_raw_bytes;
    uint32_t row_count;
    uint32_t delete_count;
    uint32_t length_width;   /* 1, 2, 4; 0: every value has uniform_length bytes */
    uint32_t uniform_length; /* with width 0 */
    uint32_t reserved;
} limit_block;

/** The last bytes of a file. */
typedef struct limit_footer {
    uint64_t index_offset;
    uint64_t block_count;
    uint32_t key_bytes;
    uint32_t codec;
    uint64_t magic;
} limit_footer;

/** How blocks are made. */
typedef struct limit_layout {
    uint32_t key_bytes;
    uint32_t block_bytes; /* raw bytes of keys and values */
    uint64_t file_bytes;  /* files end at the first block border behind this size */
    int codec;
    int codec_level;
} limit_layout;

/** A file read block by block. Any failure ends the program with a message. */
typedef struct limit_reader {
    int fd;
    limit_footer footer;
    limit_block *index;
    uint64_t next_block;
    uint64_t group_end;  /* blocks before it lie in the buffer */
    uint8_t *group;      /* some blocks side by side */
    size_t group_bytes;  /* room */
    uint8_t *value_room; /* decoded values */
    size_t value_room_bytes;
    void *decoder; /* ZSTD_DCtx; borrowed */
    uint64_t read_calls;
    uint64_t file_bytes;

    const limit_block *block; /* the current one */
    const uint8_t *stored;
    const uint8_t *keys;
    const uint8_t *lengths;
    const uint8_t *values; /* NULL until limit_reader_decode() */
} limit_reader;

void
limit_reader_open(limit_reader *reader, const char *path, void *decoder);

/** Go to the next block and verify its checksum; false after the last. */
bool
limit_reader_next(limit_reader *reader);

/** Make the values of the current block readable. */
void
limit_reader_decode(limit_reader *reader);

void
limit_reader_close(limit_reader *reader);

/** Bytes of a row's value from the length column; -1: a delete. */
static inline int64_t
limit_length(const limit_reader *reader, uint32_t row)
{
    switch (reader->block->length_width) {
    case 0:
        return reader->block->uniform_length;
    case 1:
        return (int64_t)reader->lengths[row] - 1;
    case 2:
        return (int64_t)((const uint16_t *)(const void *)reader->lengths)[row] - 1;
    default:
        return (int64_t)((const uint32_t *)(const void *)reader->lengths)[row] - 1;
    }
}

/** Files written block by block, rolling at the target size. Rows are put straight into `keys`,
 *  `lengths` and `values`. */
typedef struct limit_writer {
    limit_layout layout;
    const char *dir;
    int fd;
    uint32_t file_count;
    uint64_t file_offset; /* bytes of this file so far, buffered ones included */
    uint64_t file_bytes;  /* of all files */
    uint64_t write_calls;
    limit_block *index;
    size_t block_count;
    size_t block_room;
    uint8_t *buffer; /* bytes not yet written */
    size_t buffered;
    size_t buffer_room;
    void *encoder; /* ZSTD_CCtx */

    /* the open block */
    uint8_t *keys;
    uint32_t *lengths; /* + 1; 0: a delete */
    uint8_t *values;   /* with codec none inside `buffer` */
    size_t value_bytes;
    size_t value_room;
    uint32_t row_count;
    uint32_t row_room;
    uint32_t delete_count;
    uint64_t blocks_passed;
} limit_writer;

void
limit_writer_open(limit_writer *writer, const limit_layout *layout, const char *dir);

/** Is the open block as large as it should be? Then flush it before the next row. */
static inline bool
limit_writer_is_full(const limit_writer *writer)
{
    return writer->value_bytes + (size_t)writer->row_count * writer->layout.key_bytes >=
           writer->layout.block_bytes;
}

/** Close the open block. */
void
limit_writer_flush_block(limit_writer *writer);

/** Take the reader's current block as it is stored. The open block must be empty. */
void
limit_writer_pass(limit_writer *writer, const limit_reader *reader);

/** Finish the current file; the next block begins another. */
void
limit_writer_finish_file(limit_writer *writer);

void
limit_writer_close(limit_writer *writer);

/** Path of file `number` in `dir`, in `out`. */
void
limit_path(char *out, size_t room, const char *dir, uint32_t number);

/** malloc or the end of the program. */
void *
limit_allocate(size_t size);

#endif
