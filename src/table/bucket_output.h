/*
 * Files that are made for a bucket, and what is known of them when they are finished.
 */
#ifndef SINTER_TABLE_BUCKET_OUTPUT_H
#define SINTER_TABLE_BUCKET_OUTPUT_H

#include "table/data_writer.h"

/** How they are made. Copied. */
typedef struct sinter__bucket_output_config {
    const sinter__write_plan *plan; /* borrowed as long as the output */
    int32_t level;
    int64_t first_sequence; /* tables without key: of the first row, which the others follow */
} sinter__bucket_output_config;

/** Shared: several threads may write files at a time, one each. */
typedef struct sinter__bucket_output sinter__bucket_output;

/** Make one. @return SINTER_OK, SINTER_E_NOMEM; release with sinter__bucket_output_destroy() */
sinter_status
sinter__bucket_output_create(const sinter_env *env, const sinter__bucket_output_config *config,
                             sinter__bucket_output **out, sinter_error *err);

/** Release; takes NULL. No file is being written. */
void
sinter__bucket_output_destroy(sinter__bucket_output *self);

/** What names of its files end with. */
const char *
sinter__bucket_output_extension(const sinter__bucket_output *self);

/** Begin a file: as open_writer of a sinter_format whose `self` is the output. SINTER_E_INVALID: it
 *  is for another level. */
sinter_status
sinter__bucket_output_open(void *self, const sinter_env *env, const char *path,
                           const sinter_write_options *options, sinter_writer **out,
                           sinter_error *err);

/** What is known of a finished file, by its name without directories; NULL: none was made. It lives
 *  as long as the output. Not while files are being written. */
const sinter__data_made *
sinter__bucket_output_find(const sinter__bucket_output *self, const char *name);

#endif
