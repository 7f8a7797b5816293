/*
 * Batches of rows into a data file: the counterpart of data_reader.h.
 */
#ifndef SINTER_TABLE_DATA_WRITER_H
#define SINTER_TABLE_DATA_WRITER_H

#include "sinter/format.h"
#include "table/file_index_writer.h"
#include "table/row_sink.h"

/** What is to be known of a finished file besides its sinter_file_stats. */
typedef struct sinter__data_made {
    const char *path;
    uint64_t row_count;
    sinter__simple_stats key_stats;
    sinter__stats_result value_stats;
    sinter_bytes embedded_index; /* no bytes: there is none */
} sinter__data_made;

/** A file to be made. Copied; what it points to must outlive the writer. */
typedef struct sinter__data_output {
    const sinter__write_plan *plan;
    int32_t level;
    bool direct;
    int64_t first_sequence; /* of the first row, where there is no key: rows are counted from it */
    /** Told of the file before it is published: a failure lets it vanish. The arguments live for
     *  the call. */
    sinter_status (*made)(void *ctx, const sinter__data_made *made, sinter_error *err);
    void *made_ctx;
} sinter__data_output;

/**
 * Begin a file. It takes ranges of batches whose values are BinaryRows of all columns of the table,
 * as sinter__data_reader_open() gives them for all columns in their order.
 *
 * @param path  where finish() publishes it
 * @return      SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of the io,
 *              SINTER_E_UNSUPPORTED (a column's type, or libsinter_columnar is missing)
 */
sinter_status
sinter__data_writer_open(const sinter_env *env, const sinter__data_output *output, const char *path,
                         sinter_writer **out, sinter_error *err);

#endif
