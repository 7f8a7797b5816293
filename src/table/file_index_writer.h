/*
 * The indexes of a data file: filled row by row, then put into a container that either stands in
 * the manifest or in a file beside the data file.
 *
 *   u64 0x00054e4ed01a35ae | i32 1 | i32 bytes of the head | i32 names
 *   a name: text | i32 indexes, and each: kind, text | i32 place | i32 bytes
 *   i32 0 | indexes
 *
 * A text is u16 bytes and UTF-8 as Java's DataOutput has it.
 */
#ifndef SINTER_TABLE_FILE_INDEX_WRITER_H
#define SINTER_TABLE_FILE_INDEX_WRITER_H

#include "table/file_index_plan.h"

/** What the name of an index file has behind that of its data file. */
#define SINTER__FILE_INDEX_SUFFIX ".index"

/** Indexes that are being made. Confined. What they hold is charged to env->memory. */
typedef struct sinter__file_index_writer sinter__file_index_writer;

/**
 * Begin.
 * @param plan    has one or more; borrowed as long as the writer
 * @param fields  columns of the table; borrowed as long as the writer
 * @param out     release with sinter__file_index_writer_close()
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget, a bloom filter)
 */
sinter_status
sinter__file_index_writer_open(const sinter_env *env, const sinter__file_index_plan *plan,
                               const sinter_field *fields, sinter__file_index_writer **out,
                               sinter_error *err);

/**
 * Take the next row.
 * @param values  one for each column of the table
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget, rows, a number that
 *                doesn't go into an index), SINTER_E_OVERFLOW, SINTER_E_CORRUPT (a MAP); index and
 *                column named
 */
sinter_status
sinter__file_index_writer_add(sinter__file_index_writer *self, const sinter_datum *values,
                              sinter_error *err);

/** What became of the indexes of a file. */
typedef struct sinter__file_index_made {
    sinter_bytes embedded; /* for the manifest; no bytes: they are in a file */
    const char *file_name; /* of that file, without directories; NULL: none */
} sinter__file_index_made;

/**
 * End, once. A file beside the data file is written, synced and published; close() removes it
 * unless it is kept.
 * @param data_path  of the data file
 * @param out        lives as long as the writer
 * @return           as above; SINTER_E_TOO_LARGE also: more than 2 GiB; SINTER_E_EXISTS and other
 *                   failures of the io
 */
sinter_status
sinter__file_index_writer_finish(sinter__file_index_writer *self, const char *data_path,
                                 sinter__file_index_made *out, sinter_error *err);

/** The data file is there: its index file may stay. */
void
sinter__file_index_writer_keep(sinter__file_index_writer *self);

/** Release; takes NULL. */
void
sinter__file_index_writer_close(sinter__file_index_writer *self);

#endif
