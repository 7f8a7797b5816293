/*
 * A directory with a catalog in memory, for the tests of documents, catalogs and ingest.
 */
#ifndef SINTER_TESTS_DOC_BUCKET_H
#define SINTER_TESTS_DOC_BUCKET_H

#include "sinter/catalog.h"
#include "sinter/io.h"

/** An environment over the memory backend, or over what `env` says. */
typedef struct bucket {
    sinter_env env;
    sinter_io *memory;
} bucket;

/** Fill with a fresh memory backend; allocations by `env`'s allocator (NULL: default). */
void
bucket_init(bucket *b, const sinter_env *env);

void
bucket_fini(bucket *b);

/** Make the catalog "db" of rows (k INT NOT NULL, v STRING) with key k and these options. */
sinter_status
bucket_create(const sinter_env *env, const sinter_option *options, size_t option_count,
              sinter_error *err);

/** Ingest CSV text into "db"; `buffer_rows` 0: one file. */
sinter_status
bucket_ingest(const sinter_env *env, const char *csv, uint64_t buffer_rows,
              sinter_ingest_counters *counters, sinter_error *err);

/** Compact all files of "db" to the top level and commit. */
sinter_status
bucket_compact(const sinter_env *env, sinter_error *err);

/** The merged view of "db" as JSON lines. */
sinter_status
bucket_scan(const sinter_env *env, sinter_text *out, sinter_error *err);

/** The catalog's text; ends the test when there is none. */
void
bucket_catalog_text(const sinter_env *env, sinter_text *out);

/** Number of names in "db" that end in ".sst". */
size_t
bucket_file_count(const sinter_env *env);

/** Write a file, synced, under any name. */
void
bucket_write(const sinter_env *env, const char *path, const char *text);

#endif
