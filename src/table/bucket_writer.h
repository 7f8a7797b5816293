/*
 * New rows of one bucket into files: sorted through a write buffer where there is a key, else one
 * after the other into a file that stays open.
 */
#ifndef SINTER_TABLE_BUCKET_WRITER_H
#define SINTER_TABLE_BUCKET_WRITER_H

#include "table/bucket_source.h"

/** What the writers of all buckets share. Borrowed as long as they live. */
typedef struct sinter__bucket_writer_config {
    sinter_table *table;
    const sinter__table_options *options;
    const sinter__scan_columns *columns; /* all of the schema */
    const sinter__write_plan *plan;
    const sinter_compact_options *compact; /* merge engine, target size */
    sinter_memory *memory;                 /* of all write buffers together */
    uint64_t buffer_bytes;
    const char *spill_dir; /* NULL: buffers are not spilled */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
} sinter__bucket_writer_config;

/** Which bucket. The partition is copied. */
typedef struct sinter__bucket_place {
    sinter_bytes partition; /* a row with its arity in front */
    int32_t bucket;
    int32_t total_buckets;
    int64_t next_sequence;
} sinter__bucket_place;

/** Writes a bucket. Confined. */
typedef struct sinter__bucket_writer sinter__bucket_writer;

/**
 * Make one; nothing is written yet.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a partition without a name)
 */
sinter_status
sinter__bucket_writer_create(const sinter__bucket_writer_config *config,
                             const sinter__bucket_place *place, sinter__bucket_writer **out,
                             sinter_error *err);

/** Release, and discard; takes NULL. */
void
sinter__bucket_writer_destroy(sinter__bucket_writer *self);

/** Remove the files, unless they are kept. The writer can only be destroyed afterwards. */
void
sinter__bucket_writer_discard(sinter__bucket_writer *self);

/** Remove the directories that were made for files which are not kept, as far as they are empty.
 *  @return something was removed: where writers share directories, another one may now, too */
bool
sinter__bucket_writer_remove_dirs(const sinter__bucket_writer *self);

/** Where it writes. */
const sinter__bucket_place *
sinter__bucket_writer_place(const sinter__bucket_writer *self);

/**
 * Put a row; it gets the next sequence number.
 *
 * @param key    encoded; empty without a key
 * @param value  BinaryRow of all columns
 * @return       SINTER_OK; SINTER_END: there is no room, flush this or another bucket and try
 *               again; SINTER_E_TOO_LARGE, SINTER_E_OVERFLOW (no sequence number is left),
 *               SINTER_E_NOMEM, failures of writing
 */
sinter_status
sinter__bucket_writer_put(sinter__bucket_writer *self, sinter_bytes key, uint8_t kind,
                          sinter_bytes value, sinter_error *err);

/** Bytes of rows that are held. */
uint64_t
sinter__bucket_writer_bytes(const sinter__bucket_writer *self);

/** Is a file open? With a key it never is between calls. */
bool
sinter__bucket_writer_is_open(const sinter__bucket_writer *self);

/**
 * Make files of what is held, and end the open one. They are complete, synced and published, their
 * directory is synced. After a failure the writer can only be destroyed.
 */
sinter_status
sinter__bucket_writer_flush(sinter__bucket_writer *self, sinter_error *err);

/** The files so far, and the source that knows their entries. */
const sinter_file_list *
sinter__bucket_writer_files(const sinter__bucket_writer *self, sinter__bucket_source **source_out);

/** From now on files stay when the writer is released. */
void
sinter__bucket_writer_keep(sinter__bucket_writer *self);

#endif
