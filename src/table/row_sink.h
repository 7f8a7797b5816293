/*
 * Rows of values into a data file, whatever its format: the counterpart of row_source.h.
 */
#ifndef SINTER_TABLE_ROW_SINK_H
#define SINTER_TABLE_ROW_SINK_H

#include "format/columnar.h"
#include "table/write_plan.h"

typedef struct sinter__row_sink sinter__row_sink;

/** A file that is being written. Confined. After a failure it can only be closed. */
struct sinter__row_sink {
    /** Append a row: one value per column, within its type; copied. */
    sinter_status (*append)(sinter__row_sink *sink, const sinter_datum *values, sinter_error *err);
    /** Append rows as records of the file's schema, to the letter. NULL: no Avro. */
    sinter_status (*append_records)(sinter__row_sink *sink, const sinter_bytes *records,
                                    size_t count, sinter_error *err);
    /** Append rows of batches that have the file's columns. NULL: the format has no such batches.
     */
    sinter_status (*append_columns)(sinter__row_sink *sink, const sinter__columnar_range *ranges,
                                    size_t count, sinter_error *err);
    /** Bytes of the file so far, and encoded ones that are still held; rows that are not encoded
     *  yet are not among them. */
    uint64_t (*bytes)(const sinter__row_sink *sink);
    /** Write what is left, sync, and publish; the directory is the caller's to sync. */
    sinter_status (*finish)(sinter__row_sink *sink, uint64_t *bytes_out, sinter_error *err);
    /** Release, in any state; a file that was not finished vanishes. */
    void (*close)(sinter__row_sink *sink);
};

/** Which file, with which columns. Borrowed for the call, the types' parts as long as the sink. */
typedef struct sinter__row_output {
    const char *path; /* where finish() publishes it */
    const sinter_field *fields;
    size_t count;
    const sinter__file_form *form;
    uint32_t io_flags; /* SINTER_IO_* */
    int32_t level;
    const sinter__write_plan *plan; /* whose fields these are; as long as the sink */
} sinter__row_output;

/**
 * Begin an Avro file.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of the io,
 *         SINTER_E_UNSUPPORTED (a column's type, both named)
 */
sinter_status
sinter__avro_sink_open(const sinter_env *env, const sinter__row_output *output,
                       sinter__row_sink **out, sinter_error *err);

/**
 * Begin a Parquet or ORC file.
 * @return as above; SINTER_E_UNSUPPORTED also when libsinter_columnar is missing
 */
sinter_status
sinter__columnar_sink_open(const sinter_env *env, const sinter__row_output *output,
                           sinter__row_sink **out, sinter_error *err);

/** Begin a file of sinter's own format. @return as above */
sinter_status
sinter__sst_sink_open(const sinter_env *env, const sinter__row_output *output,
                      sinter__row_sink **out, sinter_error *err);

#endif
