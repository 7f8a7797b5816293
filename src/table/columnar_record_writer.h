/*
 * Records in Avro's binary form into Parquet and ORC files: the way back of columnar_records.h.
 */
#ifndef SINTER_TABLE_COLUMNAR_RECORD_WRITER_H
#define SINTER_TABLE_COLUMNAR_RECORD_WRITER_H

#include "format/avro_block.h"
#include "format/columnar.h"

/** A file that is being written. Confined. */
typedef struct sinter__record_writer sinter__record_writer;

/** What to write. */
typedef struct sinter__record_writer_options {
    int32_t kind;       /* sinter__columnar_kind */
    const char *schema; /* Avro's, a record; borrowed for the call */
    sinter__avro_codec_choice codec;
} sinter__record_writer_options;

/**
 * Begin a nameless file.
 *
 * @param path  where finish() publishes it; copied
 * @param out   release with sinter__record_writer_close()
 * @return      SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of io, SINTER_E_UNSUPPORTED
 *              (libsinter_columnar is missing; a field of a type that metadata doesn't have, named)
 */
sinter_status
sinter__record_writer_open(const sinter_env *env, const char *path,
                           const sinter__record_writer_options *options,
                           sinter__record_writer **out, sinter_error *err);

/** Append a record, copied. @return as of open; SINTER_E_CORRUPT: it isn't of the schema */
sinter_status
sinter__record_writer_append(sinter__record_writer *self, sinter_bytes record, sinter_error *err);

/** Bytes so far: of the file, and of records that aren't encoded yet. */
uint64_t
sinter__record_writer_bytes(const sinter__record_writer *self);

/** Write the rest, sync and publish. @param bytes_out  size of the file. @return as of append;
 *  SINTER_E_EXISTS: the name is taken */
sinter_status
sinter__record_writer_finish(sinter__record_writer *self, uint64_t *bytes_out, sinter_error *err);

/** Release; a file that was not finished vanishes. Takes NULL. */
void
sinter__record_writer_close(sinter__record_writer *self);

#endif
