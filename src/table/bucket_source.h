/*
 * The files of a bucket as the compaction core takes them: metadata with encoded keys, and a format
 * that opens each by its own schema, whatever format that has.
 */
#ifndef SINTER_TABLE_BUCKET_SOURCE_H
#define SINTER_TABLE_BUCKET_SOURCE_H

#include "table/index_manifest.h"
#include "table/live_files.h"
#include "table/scan_columns.h"
#include "table/table.h"
#include "table/write_plan.h"

/** A bucket's files. Confined while it is made, then immutable. */
typedef struct sinter__bucket_source sinter__bucket_source;

/** Which files of which bucket of which table. Borrowed as long as the source. */
typedef struct sinter__bucket_request {
    sinter_table *table;
    const sinter__table_options *options;
    const sinter__scan_columns *columns;
    const sinter__bucket_files *files;
    const sinter__index_manifest *index; /* of the snapshot; NULL: it has none */
    bool skips_level_0;
    bool checks_texts;               /* as in sinter__data_input */
    const sinter__write_plan *write; /* NULL: files are only read */
    int32_t write_level;             /* of the files that are written */
    /* Somebody looks at values of rows while they are merged (a merge function, an order): they
     * come as BinaryRows even where columns or records could stay what they are. */
    bool wants_values;
    /* `columns` and `write` are of a schema with the columns of row tracking at its end, which get
     * values where files have none. */
    bool tracks_rows;
    /** Tables without key: the sequence of the first row that is written. Files go on from there,
     * so one is written after the other. */
    int64_t first_sequence;
} sinter__bucket_request;

/**
 * Make a source.
 * @param out  release with sinter__bucket_source_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (deletion vectors, in the budget),
 *             SINTER_E_CORRUPT (an entry, its file named, or deletion vectors),
 *             SINTER_E_UNSUPPORTED (a file with some of the columns only), failures of reading
 * schemas
 */
sinter_status
sinter__bucket_source_create(const sinter__bucket_request *request, sinter__bucket_source **out,
                             sinter_error *err);

/** Release; takes NULL. */
void
sinter__bucket_source_destroy(sinter__bucket_source *self);

/** Metadata of the files; `external_path` is the whole path of each. */
const sinter_file_meta *
sinter__bucket_source_files(const sinter__bucket_source *self, size_t *count_out);

/** The format that opens these files. With a plan for writing it makes files as well, for the level
 *  that was asked for; batches must have all columns of the table in their order. Shared: several
 *  threads may write at a time. */
const sinter_format *
sinter__bucket_source_format(const sinter__bucket_source *self);

/**
 * The entry of a file that was made through the format: to be added to the table.
 *
 * @param made  as a result of compaction has it: its name, level, numbers and time count
 * @param out   kind ADD; what it points to lives as long as the source
 * @return      SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (no file of this source's making)
 */
sinter_status
sinter__bucket_source_new_file(sinter__bucket_source *self, const sinter_file_meta *made,
                               sinter__manifest_entry *out, sinter_error *err);

/** The bucket's directory. */
const char *
sinter__bucket_source_dir(const sinter__bucket_source *self);

/** The bucket's directories outside of the table that new files go into instead; none: they go into
 *  its own. Of a source that writes. */
const sinter__external_paths *
sinter__bucket_source_external(const sinter__bucket_source *self);

#endif
