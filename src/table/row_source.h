/*
 * Rows of a data file as values of its columns, whatever its format.
 */
#ifndef SINTER_TABLE_ROW_SOURCE_H
#define SINTER_TABLE_ROW_SOURCE_H

#include "sinter/format.h"
#include "sinter/type.h"

typedef struct sinter__row_source sinter__row_source;

/** A file that is being read. Confined. */
struct sinter__row_source {
    /** The next row: one value per column that was asked for, whose bytes live until the next call.
     *  SINTER_END after the last. */
    sinter_status (*next)(sinter__row_source *source, sinter_datum *values, sinter_error *err);
    /** Release, in any state. */
    void (*close)(sinter__row_source *source);
    /** Rows are given as bytes, too: as records of the schema that was asked for. */
    bool gives_records;
    sinter_bytes record; /* the last row; it lives until a call of next() after `ends_block` */
    bool ends_block;
};

/** Which columns of which file. Borrowed for the call, the types' parts as long as the source. */
typedef struct sinter__row_request {
    const char *path;
    const sinter_column *columns; /* as the file has them */
    size_t count;
    const sinter_read_options *options; /* size of reads, expected size, direct; NULL: defaults */
    /* Avro: give records as bytes if this is the file's schema, to the letter; their nested values
     * are checked, but not made. NULL: don't. */
    const char *record_schema;
    const bool *kept; /* with records: columns whose values are given; the others are checked */
} sinter__row_request;

/**
 * Open an Avro file.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of the io,
 *         SINTER_E_CORRUPT      (file and offset; or a column that it doesn't have, named)
 *         SINTER_E_UNSUPPORTED  (codec, or a type, by name)
 */
sinter_status
sinter__avro_source_open(const sinter_env *env, const sinter__row_request *request,
                         sinter__row_source **out, sinter_error *err);

/**
 * Open a Parquet or ORC file, told apart by its first bytes.
 * @return as above; SINTER_E_UNSUPPORTED also when libsinter_columnar is missing
 */
sinter_status
sinter__columnar_source_open(const sinter_env *env, const sinter__row_request *request,
                             sinter__row_source **out, sinter_error *err);

/**
 * What reading the columns takes, by what the file's first block says: no other one is looked at,
 * and none that ends as Java's writer ends it is much larger.
 *
 * @param out  all but key_part_bytes; rows_bytes may be 0
 * @return     as of opening
 */
sinter_status
sinter__avro_source_measure(const sinter_env *env, const sinter__row_request *request,
                            sinter_footprint *out, sinter_error *err);

/**
 * What reading the columns takes, as the file's footer says.
 * @param out  all but key_part_bytes
 * @return     as of opening
 */
sinter_status
sinter__columnar_source_measure(const sinter_env *env, const sinter__row_request *request,
                                sinter_footprint *out, sinter_error *err);

/** Open a file of sinter's own format. @return as above */
sinter_status
sinter__sst_source_open(const sinter_env *env, const sinter__row_request *request,
                        sinter__row_source **out, sinter_error *err);

/** What reading it takes. @param out  as above @return as of opening */
sinter_status
sinter__sst_source_measure(const sinter_env *env, const sinter__row_request *request,
                           sinter_footprint *out, sinter_error *err);

#endif
