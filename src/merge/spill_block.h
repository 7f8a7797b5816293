/*
 * Blocks of a spill file: rows collected into columns, encoded, appended, and read back.
 *
 * A spill file lives as long as the process that wrote it, so numbers stand in the machine's own
 * order and there is no version. Every block has a checksum over all its bytes all the same: what
 * comes back wrong from a disk must not be merged.
 *
 *     header   spill_header, below
 *     body     through the codec: sequences, prefixes (8 bytes each), key ends, value ends, order
 *              ends, origins (4 each), kinds (1 each), keys, orders, values
 */
#ifndef SINTER_MERGE_SPILL_BLOCK_H
#define SINTER_MERGE_SPILL_BLOCK_H

#include "base/alloc.h"
#include "sinter/batch.h"
#include "sinter/io.h"
#include "sst/codec.h"
#include "sst/payload.h"
#include "sst/scratch.h"

enum { SINTER__SPILL_BLOCK_BYTES = 64 * 1024 };

/** Collects rows and appends blocks to a file. Confined. */
typedef struct sinter__spill_writer {
    const sinter_env *env;
    sinter_io_file *file; /* borrowed */
    const char *dir;      /* for errors; borrowed */
    uint64_t offset;      /* bytes appended */
    sinter_memory *space; /* that these bytes are taken from; NULL: no limit. Borrowed */
    uint64_t space_bytes; /* taken, to be given back when the file is gone */
    int32_t codec_id;
    int32_t codec_level;
    sinter__codec codec;
    const sinter_payload_ops *ops; /* of the rows at hand */
    uint32_t rows;
    uint32_t row_capacity;
    bool has_orders;
    sinter__scratch fixed; /* sequences, prefixes, ends, origins, kinds of the rows at hand */
    sinter__scratch keys, orders, values;
    uint64_t key_bytes, order_bytes, value_bytes;
    sinter__scratch body, stored;
    uint64_t block_memory_max;  /* what reading the largest block since the last reset takes */
    uint64_t stored_memory_max; /* the same of all blocks, for the bytes that readers share */
} sinter__spill_writer;

/** What a block takes of the memory budget. */
typedef struct sinter__spill_block_size {
    uint64_t body_bytes;
    uint64_t reader_bytes; /* of each reader */
    uint64_t shared_bytes; /* of all readers together */
    uint64_t writer_bytes; /* without the codec's context */
} sinter__spill_block_size;

/** A block of `rows` rows and so many bytes of keys, orders and values. */
void
sinter__spill_block_measure(int codec, uint64_t bytes, uint64_t rows,
                            sinter__spill_block_size *out);

/** Where a run lies and how its rows are to be understood. */
typedef struct sinter__spill_extent {
    uint64_t begin; /* bytes of the file */
    uint64_t end;
    uint64_t block_memory; /* what a reader of it needs */
    bool is_multi;
} sinter__spill_extent;

/** Add a row. Blocks are cut between keys only, so versions of a key are never parted. */
sinter_status
sinter__spill_writer_add(sinter__spill_writer *writer, const sinter_batch *batch, uint32_t row,
                         sinter_error *err);

/** Append what is collected. */
sinter_status
sinter__spill_writer_flush(sinter__spill_writer *writer, sinter_error *err);

/** Give back the memory that writing took; the file and what is known of it stay. */
void
sinter__spill_writer_rest(sinter__spill_writer *writer);

void
sinter__spill_writer_fini(sinter__spill_writer *writer);

/**
 * Read an extent of what `writer` wrote. File, codec and the buffer for stored bytes are the
 * writer's, shared by all readers: a codec context for each would be most of their memory. The
 * writer rests meanwhile and is released after the reader, which closes with ops->close.
 */
sinter_status
sinter__spill_reader_open(sinter__spill_writer *writer, const sinter__spill_extent *extent,
                          sinter_reader **out, sinter_error *err);

#endif
