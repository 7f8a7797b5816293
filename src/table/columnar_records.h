/*
 * Records of Parquet and ORC files in Avro's binary form, so that metadata in any format is decoded
 * by the same shapes, and what is unknown in it is carried the same way.
 */
#ifndef SINTER_TABLE_COLUMNAR_RECORDS_H
#define SINTER_TABLE_COLUMNAR_RECORDS_H

#include "base/arena.h"
#include "format/columnar.h"

/** A file that is being read. Confined. */
typedef struct sinter__columnar_records sinter__columnar_records;

/**
 * Open a file of either format.
 *
 * @param expected_bytes  0: unknown; else another size is SINTER_E_CORRUPT
 * @param out             release with sinter__columnar_records_close()
 * @return                SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of io,
 *                        SINTER_E_CORRUPT, SINTER_E_UNSUPPORTED (libsinter_columnar is missing; a
 *                        column of a type that metadata doesn't have, named)
 */
sinter_status
sinter__columnar_records_open(const sinter_env *env, const char *path, uint64_t expected_bytes,
                              sinter__columnar_records **out, sinter_error *err);

/** The Avro schema of the records, until close: types as they are in metadata that Paimon writes in
 *  Avro. */
sinter_bytes
sinter__columnar_records_schema(const sinter__columnar_records *self);

/**
 * The next record.
 * @param out  until the next call
 * @return     SINTER_OK, SINTER_END; SINTER_E_CORRUPT, SINTER_E_UNSUPPORTED (a timestamp that is no
 *             whole millisecond), SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of io
 */
sinter_status
sinter__columnar_records_next(sinter__columnar_records *self, sinter_bytes *out, sinter_error *err);

/** Close and release; takes NULL. */
void
sinter__columnar_records_close(sinter__columnar_records *self);

#endif
