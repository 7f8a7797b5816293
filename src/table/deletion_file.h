/*
 * Index files of deletion vectors: a version byte, then the vectors, back to back. Where each one
 * is stands in the index manifest. Source: spec/deletion-vectors.md 2.
 */
#ifndef SINTER_TABLE_DELETION_FILE_H
#define SINTER_TABLE_DELETION_FILE_H

#include "sinter/io.h"
#include "table/deletion_vector.h"
#include "table/index_manifest.h"

/** An open index file. Confined. */
typedef struct sinter__deletion_file sinter__deletion_file;

/**
 * Open a file and check its size and version.
 *
 * @param env             allocator, io, budget; borrowed, must outlive the file and its vectors
 * @param path            copied
 * @param expected_bytes  0: unknown; else another size is SINTER_E_CORRUPT
 * @param out             release with sinter__deletion_file_close()
 * @return                SINTER_OK; SINTER_E_CORRUPT; SINTER_E_UNSUPPORTED (the version, told);
 *                        SINTER_E_NOMEM; failures of the io
 */
sinter_status
sinter__deletion_file_open(const sinter_env *env, const char *path, uint64_t expected_bytes,
                           sinter__deletion_file **out, sinter_error *err);

/**
 * Read the vector of a range. A range that the file doesn't hold is refused before there is memory
 * for it. A cardinality that is known has to be right, unless checksums are ignored.
 *
 * @param flags  SINTER__DELETION_IGNORE_CHECKSUM
 * @param out    release with sinter__deletion_vector_destroy()
 * @return       SINTER_OK; SINTER_E_CORRUPT with path and offset, as of
 *               sinter__deletion_vector_decode(); SINTER_E_NOMEM; SINTER_E_TOO_LARGE (the budget);
 *               failures of the io
 */
sinter_status
sinter__deletion_file_read(sinter__deletion_file *file, const sinter__vector_range *range,
                           uint32_t flags, sinter__deletion_vector **out, sinter_error *err);

/** Close; takes NULL. */
void
sinter__deletion_file_close(sinter__deletion_file *file);

/** A file that is being written. Confined. */
typedef struct sinter__deletion_writer sinter__deletion_writer;

/**
 * Begin a nameless file in the directory of `path`.
 *
 * @param env   allocator, io, budget; borrowed, must outlive the writer
 * @param path  where finish() publishes it; copied
 * @param out   release with sinter__deletion_writer_close()
 * @return      SINTER_OK, SINTER_E_NOMEM, failures of the io
 */
sinter_status
sinter__deletion_writer_open(const sinter_env *env, const char *path, sinter__deletion_writer **out,
                             sinter_error *err);

/**
 * Append a vector in its own format. None at all make a file of one byte, which is valid.
 *
 * @param data_file  copied
 * @return           SINTER_OK; SINTER_E_TOO_LARGE (a file of 2 GiB, or the budget): the file may go
 *                   on without it; SINTER_E_NOMEM; failures of the io
 */
sinter_status
sinter__deletion_writer_add(sinter__deletion_writer *writer, sinter_bytes data_file,
                            sinter__deletion_vector *vector, sinter_error *err);

/**
 * Append a vector of another file as its bytes are. Its frame is checked, its bitmap isn't read.
 * @return as of sinter__deletion_writer_add(); SINTER_E_CORRUPT of the other file
 */
sinter_status
sinter__deletion_writer_take(sinter__deletion_writer *writer, sinter__deletion_file *from,
                             const sinter__vector_range *range, sinter_error *err);

/** Bytes of the file so far. */
uint64_t
sinter__deletion_writer_bytes(const sinter__deletion_writer *writer);

/** What was written, in file order, as the index manifest has it; until the next call or close. */
sinter__vector_list
sinter__deletion_writer_vectors(const sinter__deletion_writer *writer);

/**
 * Sync, publish under the path, sync the directory. After a failure there is no such file.
 * @return SINTER_OK; SINTER_E_EXISTS: the name is taken; failures of the io
 */
sinter_status
sinter__deletion_writer_finish(sinter__deletion_writer *writer, sinter_error *err);

/** Release; a file that was not finished vanishes. Takes NULL. */
void
sinter__deletion_writer_close(sinter__deletion_writer *writer);

#endif
