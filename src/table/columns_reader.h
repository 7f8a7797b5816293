/*
 * Parquet and ORC data files as batches whose values stay columns: for files that are written again
 * with the same columns in the same format. Keys, sequences and kinds are there as in any batch;
 * the rest is handed to the writer as it was read.
 */
#ifndef SINTER_TABLE_COLUMNS_READER_H
#define SINTER_TABLE_COLUMNS_READER_H

#include "table/columnar_rows.h"
#include "table/data_reader.h"
#include "table/write_plan.h"

/** Values of a batch with sinter__columns_payload_ops. Rows that were spilled come back as
 *  BinaryRows of the table's columns. */
typedef struct sinter__columns_payload {
    const sinter__columnar_batch *batch; /* NULL: see `rows` */
    const struct ArrowArray *array;      /* of the batch: a child per field of the file */
    uint64_t first;                      /* row of the array that is row 0 of the batch */
    const sinter__cells *cells;          /* one per field */
    const sinter__write_plan *plan;
    const sinter_bytes *rows;
} sinter__columns_payload;

/** Tells these batches from others. */
extern const sinter_payload_ops sinter__columns_payload_ops;

/** Which file, and what it is written as. Borrowed by its reader as long as it lives. */
typedef struct sinter__columns_request {
    const sinter__write_plan *plan;
    const sinter__file_form *form;     /* Parquet or ORC */
    const sinter_key_codec *key_codec; /* NULL: no key */
    const sinter__data_input *file;
} sinter__columns_request;

/**
 * Open a file.
 *
 * @return SINTER_OK; SINTER_END: it is of another format or has other columns, nothing was opened;
 *         else as sinter__data_reader_open()
 */
sinter_status
sinter__columns_reader_open(const sinter_env *env, const sinter__columns_request *request,
                            const sinter_read_options *options, sinter_reader **out,
                            sinter_error *err);

/**
 * Learn what such a reader will take of the memory budget, as the file's footer says.
 * @return  as of opening
 */
sinter_status
sinter__columns_reader_measure(const sinter_env *env, const sinter__columns_request *request,
                               const sinter_read_options *options, sinter_footprint *out,
                               sinter_error *err);

#endif
