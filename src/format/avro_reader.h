/*
 * Reading Avro object container files, block by block.
 *
 *   "Obj" 1 | metadata: a map with "avro.schema" and "avro.codec" | sync marker, 16 bytes
 *   { long: records | long: bytes | bytes, encoded by the codec | sync marker } ...
 *
 * A file may end after any block, and nothing in it says how many there are: who has the file's
 * size from elsewhere hands it over. Source: spec/table-layout.md 4.
 */
#ifndef SINTER_FORMAT_AVRO_READER_H
#define SINTER_FORMAT_AVRO_READER_H

#include "format/avro_block.h"
#include "sinter/io.h"

enum {
    SINTER__AVRO_MAGIC_BYTES = 4,
    SINTER__AVRO_SYNC_BYTES = 16,
    SINTER__AVRO_META_BYTES_MAX = 8 << 20,   /* of the metadata */
    SINTER__AVRO_SCHEMA_BYTES_MAX = 4 << 20, /* of the schema's text */
    SINTER__AVRO_BLOCK_BYTES = 64000         /* raw bytes at which Java's writer ends a block */
};

/** "Obj" 1, which every container begins with. */
extern const uint8_t sinter__avro_magic[SINTER__AVRO_MAGIC_BYTES];

/** How to open. Zeroed: any size, the largest blocks. */
typedef struct sinter__avro_reader_options {
    uint64_t expected_bytes;  /* 0: unknown; else another size of the file is SINTER_E_CORRUPT */
    uint64_t block_bytes_max; /* raw bytes of a block; 0: SINTER_BLOCK_BYTES_MAX */
    uint32_t read_bytes;      /* size of one read; 0: 256 KiB */
    uint32_t flags;           /* SINTER_IO_* */
} sinter__avro_reader_options;

/** A block, decoded. */
typedef struct sinter__avro_block {
    uint64_t count; /* records, at least one byte each */
    sinter_bytes bytes;
    uint64_t offset; /* of the block in the file */
} sinter__avro_block;

/** A file that is being read. Confined. */
typedef struct sinter__avro_reader sinter__avro_reader;

/**
 * Open a file and read its header.
 *
 * @param env      allocator, io, budget; borrowed, must outlive the reader
 * @param path     copied
 * @param options  NULL: defaults
 * @param out      release with sinter__avro_reader_close()
 * @return         SINTER_OK; SINTER_E_CORRUPT and SINTER_E_TOO_LARGE with file and offset;
 *                 SINTER_E_UNSUPPORTED (the codec, by name); SINTER_E_NOMEM; failures of the io
 */
sinter_status
sinter__avro_reader_open(const sinter_env *env, const char *path,
                         const sinter__avro_reader_options *options, sinter__avro_reader **out,
                         sinter_error *err);

/** A value of the metadata, until close; false: there is none of this key. */
bool
sinter__avro_reader_meta(const sinter__avro_reader *reader, const char *key, sinter_bytes *out);

/** The path, until close. */
const char *
sinter__avro_reader_path(const sinter__avro_reader *reader);

/**
 * Read and decode the next block.
 *
 * @param out  its bytes live until the next call
 * @return     SINTER_OK, SINTER_END, or as open; also SINTER_E_TOO_LARGE: the block is larger than
 *             the limit or the budget
 */
sinter_status
sinter__avro_reader_next(sinter__avro_reader *reader, sinter__avro_block *out, sinter_error *err);

/**
 * What reading takes of the memory budget, by the first block and what usual writers do: no block
 * after it is looked at. To be asked before anything is read.
 *
 * @param block_bytes_out  raw bytes of the largest block
 * @param reader_bytes_out all of it
 * @return                 SINTER_OK, SINTER_END (no block), or as sinter__avro_reader_next()
 */
sinter_status
sinter__avro_reader_measure(sinter__avro_reader *reader, uint64_t *block_bytes_out,
                            uint64_t *reader_bytes_out, sinter_error *err);

/** Close and release; takes NULL. */
void
sinter__avro_reader_close(sinter__avro_reader *reader);

#endif
