/*
 * Data files of a table as batches: keys encoded, values as BinaryRow of the columns that are
 * wanted, whatever the file's format and schema.
 */
#ifndef SINTER_TABLE_DATA_READER_H
#define SINTER_TABLE_DATA_READER_H

#include "sinter/format.h"
#include "sinter/type.h"

struct sinter__write_plan;

/** What is wanted of the files of a table. Borrowed by readers as long as they live. */
typedef struct sinter__row_plan {
    const sinter_row_type *row_type; /* the table's */
    const sinter_field *fields;      /* columns that are wanted, with the table's types */
    const size_t *positions;         /* of them in the row type */
    size_t count;
    const size_t *keys; /* positions among the wanted columns of the key, in key order */
    size_t key_count;
    const sinter_key_codec *key_codec; /* NULL: files without key, sequence and kind */
} sinter__row_plan;

/** Values of rows in whose place the file has null or nothing: two columns that are wanted, BIGINT.
 */
typedef struct sinter__row_defaults {
    bool is_set;
    bool has_first_row_id;
    size_t at;            /* among the wanted columns: of the row's id; its sequence is the next */
    int64_t first_row_id; /* of the file's first row */
    int64_t sequence;     /* of all rows */
} sinter__row_defaults;

/** A file. Borrowed by its reader as long as it lives. */
typedef struct sinter__data_input {
    const char *path;
    const sinter_row_type *row_type; /* of the schema it was written with */
    const size_t *columns;           /* positions of those that the file has; NULL: all */
    size_t column_count;             /* with `columns` */
    /* The file is of the plan's schema, and its rows go to files of the plan with nobody looking
     * into them: where an Avro file has the columns of those to the letter, its batches have
     * sinter__records_payload_ops. NULL: rows are wanted. Ask for all columns in their order. */
    const struct sinter__write_plan *written_as;
    /** Is the row at this position deleted? NULL: none is. */
    bool (*is_deleted)(void *ctx, uint64_t position);
    void *deleted_ctx;
    sinter__row_defaults defaults;
    bool checks_texts; /* a text that is no UTF-8 is SINTER_E_CORRUPT, and named; not of records */
} sinter__data_input;

/**
 * Open a file for reading, by what stands behind its last dot.
 *
 * Rows that a vector marks as deleted are marked as dropped (SINTER_DROP_VECTOR). A file without
 * keys gives rows with empty keys, sequences from 0 on, and kind INSERT.
 *
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, SINTER_E_CORRUPT, failures of the io,
 *         SINTER_E_UNSUPPORTED (a format, or types that can't be cast, by name)
 */
sinter_status
sinter__data_reader_open(const sinter_env *env, const sinter__row_plan *plan,
                         const sinter__data_input *file, const sinter_read_options *options,
                         sinter_reader **out, sinter_error *err);

/**
 * Learn what such a reader will take of the memory budget, by the file's footer or first block.
 *
 * @param out  what is said of the largest batch is said of rows as they come from the reader
 * @return     as of opening
 */
sinter_status
sinter__data_reader_measure(const sinter_env *env, const sinter__row_plan *plan,
                            const sinter__data_input *file, const sinter_read_options *options,
                            sinter_footprint *out, sinter_error *err);

#endif
