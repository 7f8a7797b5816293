/*
 * Writing Avro object container files (see avro_reader.h for their form).
 *
 * A block ends with the record that fills it, as Java's writer does it. The sync marker is random,
 * from the system or from the environment's seed.
 */
#ifndef SINTER_FORMAT_AVRO_WRITER_H
#define SINTER_FORMAT_AVRO_WRITER_H

#include "format/avro_block.h"
#include "sinter/io.h"

/** What to write. */
typedef struct sinter__avro_writer_options {
    const char *schema; /* the text of `avro.schema`; borrowed for the call */
    sinter__avro_codec_choice codec;
    uint32_t block_bytes; /* raw bytes at which a block ends; 0: 64000 */
    uint32_t flags;       /* SINTER_IO_* */
} sinter__avro_writer_options;

/** A file that is being written. Confined. */
typedef struct sinter__avro_writer sinter__avro_writer;

/**
 * Begin a nameless file in the directory of `path`, and write its header.
 *
 * @param env   allocator, io, budget, seed; borrowed, must outlive the writer
 * @param path  where finish() publishes it; copied
 * @param out   release with sinter__avro_writer_close()
 * @return      SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget), failures of the io
 */
sinter_status
sinter__avro_writer_open(const sinter_env *env, const char *path,
                         const sinter__avro_writer_options *options, sinter__avro_writer **out,
                         sinter_error *err);

/**
 * Get room for a record of up to `size` bytes, to be filled and then told of by commit().
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the limit of a block, or the budget)
 */
sinter_status
sinter__avro_writer_reserve(sinter__avro_writer *writer, size_t size, uint8_t **out,
                            sinter_error *err);

/**
 * Take the record of `size` bytes that was put where reserve() said. A block that is full is
 * encoded and appended.
 * @return SINTER_OK, as of reserve(), failures of the io
 */
sinter_status
sinter__avro_writer_commit(sinter__avro_writer *writer, size_t size, sinter_error *err);

/** Take records as they are, each of at least a byte. @return as of reserve() and commit() */
sinter_status
sinter__avro_writer_append(sinter__avro_writer *writer, const sinter_bytes *records, size_t count,
                           sinter_error *err);

/** Bytes appended to the file so far; the open block is not among them. */
uint64_t
sinter__avro_writer_bytes(const sinter__avro_writer *writer);

/**
 * End the last block, sync, and publish under the path; the directory is the caller's to sync.
 * @param bytes_out  size of the file
 * @return           SINTER_OK; SINTER_E_EXISTS: the name is taken; as of commit
 */
sinter_status
sinter__avro_writer_finish(sinter__avro_writer *writer, uint64_t *bytes_out, sinter_error *err);

/** Release; a file that was not finished vanishes. Takes NULL. */
void
sinter__avro_writer_close(sinter__avro_writer *writer);

#endif
