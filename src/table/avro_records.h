/*
 * Values of batches that are records of an Avro file, as bytes: for files that are written again in
 * the same schema. Nobody looks into them on their way.
 */
#ifndef SINTER_TABLE_AVRO_RECORDS_H
#define SINTER_TABLE_AVRO_RECORDS_H

#include "sinter/batch.h"
#include "sinter/type.h"

/** Whole records, one a row: with the row's key, sequence and kind where the file has them. */
typedef struct sinter__records_payload {
    const sinter_bytes *rows;
} sinter__records_payload;

/** Tells these batches from others. */
extern const sinter_payload_ops sinter__records_payload_ops;

/** Decodes records. Confined. */
typedef struct sinter__record_decoder sinter__record_decoder;

/**
 * Make a decoder of records whose schema is sinter__avro_row_schema() of these fields.
 *
 * @param fields  borrowed as long as the decoder, `count` of them
 * @param out     release with sinter__record_decoder_destroy()
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a column's type)
 */
sinter_status
sinter__record_decoder_create(const sinter_env *env, const sinter_field *fields, size_t count,
                              sinter__record_decoder **out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__record_decoder_destroy(sinter__record_decoder *self);

/**
 * Decode the first fields of a record. Nested values are not made: of them is told only whether
 * they are null.
 *
 * @param count   how many
 * @param values  one per field; bytes point into the record
 * @return        SINTER_OK; SINTER_E_CORRUPT with the column's name
 */
sinter_status
sinter__record_decode(sinter__record_decoder *self, sinter_bytes record, size_t count,
                      sinter_datum *values, sinter_error *err);

#endif
