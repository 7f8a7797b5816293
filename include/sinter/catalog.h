/*
 * A directory of files with a catalog, and the way rows enter it.
 *
 * The catalog is the `sinter.files` document CATALOG.json in the directory. It is replaced
 * atomically, under a lock, so that a reader and a crash see the old or the new one. Readers take
 * no lock. Files that a compaction retires stay until sinter_catalog_gc() removes them.
 */
#ifndef SINTER_CATALOG_H
#define SINTER_CATALOG_H

#include "sinter/base.h"
#include "sinter/compact.h"
#include "sinter/doc.h"
#include "sinter/env.h"
#include "sinter/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Names in the directory. */
#define SINTER_CATALOG_FILE "CATALOG.json"
#define SINTER_CATALOG_LOCK ".sinter-lock"

/** An open catalog. Confined. */
typedef struct sinter_catalog sinter_catalog;

enum {
    SINTER_CATALOG_WRITE = 1u << 0 /* take the lock; needed for everything that changes it */
};

/** What a new catalog holds. */
typedef struct sinter_catalog_options {
    uint32_t struct_size;
    int32_t num_levels;              /* -1: not set */
    const sinter_row_type *row_type; /* with key columns; borrowed for the call */
    const sinter_option *options;    /* checked, copied */
    size_t option_count;
} sinter_catalog_options;

/**
 * Make a catalog in a directory, which is made if missing.
 *
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_IO, SINTER_E_NO_SPACE,
 *         SINTER_E_EXISTS       the directory has a catalog
 *         SINTER_E_BUSY         another process holds its lock
 *         SINTER_E_INVALID      no key columns, an option refused
 *         SINTER_E_UNSUPPORTED  a column of VARIANT or BLOB, a nested key, named
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_catalog_create(const sinter_env *env, const char *dir, const sinter_catalog_options *options,
                      sinter_error *err);

/**
 * Open a catalog. With SINTER_CATALOG_WRITE the lock is held until close, and temporary files that
 * a killed run left in the directory are removed.
 *
 * @param env  borrowed until close
 * @return     as sinter_files_doc_load(); SINTER_E_NOT_FOUND without a catalog; SINTER_E_BUSY when
 *             another process or handle holds the lock
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_catalog_open(const sinter_env *env, const char *dir, uint32_t flags, sinter_catalog **out,
                    sinter_error *err);

/** Give the lock back, release. Takes NULL. Changes that were not committed are forgotten. */
SINTER_API void
sinter_catalog_close(sinter_catalog *catalog);

/** The content, with changes not yet committed; lives until the next change. */
SINTER_API const sinter_files_doc *
sinter_catalog_doc(const sinter_catalog *catalog);

/**
 * Add new files.
 * @param files          copied
 * @param next_sequence  the first number that is free afterwards; not below the present one
 * @return               SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (read-only, sequence),
 *                       SINTER_E_EXISTS (a name that is there)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_catalog_add(sinter_catalog *catalog, const sinter_file_meta *files, size_t count,
                   int64_t next_sequence, sinter_error *err);

/**
 * Apply what a compaction did. Retired files are remembered for gc.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (read-only),
 *         SINTER_E_CONFLICT (a retired file isn't there)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_catalog_apply(sinter_catalog *catalog, const sinter_compact_result *result,
                     sinter_error *err);

/**
 * Make the changes last: the generation grows by one and the document is replaced.
 * @return SINTER_OK; SINTER_E_INVALID (read-only), SINTER_E_OVERFLOW (generation), SINTER_E_NOMEM,
 *         SINTER_E_TOO_LARGE, SINTER_E_IO, SINTER_E_NO_SPACE. After a failure the directory has the
 *         old or, when only the last sync failed, the new catalog.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_catalog_commit(sinter_catalog *catalog, sinter_error *err);

/**
 * Remove the new files of a result whose commit failed. The catalog on disk is read again before:
 * when it names one of them, the commit did happen and nothing is removed.
 *
 * @param catalog  opened for writing; a failed commit doesn't matter
 * @param result   of a task over this catalog's files
 * @return         SINTER_OK
 *                 SINTER_E_EXISTS   the catalog names a new file (err->file): committed
 *                 SINTER_E_INVALID  read-only
 *                 failures of reading the catalog, after which nothing is removed either, and those
 *                 of sinter_compact_result_discard(); sinter_catalog_gc() removes what stays
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_catalog_discard(sinter_catalog *catalog, const sinter_compact_result *result,
                       sinter_error *err);

/** Why gc removes a file. */
typedef enum sinter_gc_reason {
    SINTER_GC_RETIRED = 0, /* a compaction replaced it */
    SINTER_GC_ORPHAN = 1   /* a data file that no catalog ever named: its run failed */
} sinter_gc_reason;

/** Options of gc. Zeroed with struct_size set: everything that may go, now. */
typedef struct sinter_gc_options {
    uint32_t struct_size;
    bool dry_run;          /* report only */
    int64_t older_than_ms; /* leave files retired or written less than this long ago */
    /** Told of each file before it goes; may be NULL. */
    void (*each)(void *ctx, const char *file_name, sinter_gc_reason reason, uint64_t bytes);
    void *each_ctx;
} sinter_gc_options;

/** What gc did. */
typedef struct sinter_gc_result {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t retired_files;
    uint64_t orphan_files;
    uint64_t temporary_files; /* left by dead processes; 0 in a dry run */
    uint64_t bytes;
} sinter_gc_result;

/**
 * Remove retired files, data files that nobody names, and temporaries of dead processes; commits.
 * Only names that this library gives to data files are looked at. Never a file of the catalog.
 *
 * @param catalog  opened for writing, without changes waiting
 * @param options  NULL: defaults
 * @param out      counts, also after a failure; may be NULL; no more than its struct_size is
 * written
 * @return         SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM, SINTER_E_IO, failures of commit
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_catalog_gc(sinter_catalog *catalog, const sinter_gc_options *options, sinter_gc_result *out,
                  sinter_error *err);

/** Options of ingesting. Zeroed with struct_size set: defaults. */
typedef struct sinter_ingest_options {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t buffer_bytes; /* keys, values and bookkeeping held before a file is written; 0: 32 MiB,
                              or half of a smaller memory budget */
    uint64_t buffer_rows;  /* rows held before a file is written; 0: no limit */
    const sinter_compact_options *compact; /* codec, block size, filter, merge engine; NULL: those
                                              of the catalog. Borrowed for the call */
    bool (*is_cancelled)(void *ctx);       /* asked now and then; NULL: never */
    void *cancel_ctx;
} sinter_ingest_options;

/** What an ingest did. */
typedef struct sinter_ingest_counters {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t rows_in;
    uint64_t rows_written; /* after keeping one version per key and file */
    uint64_t rows_retract; /* of those written */
    uint64_t files;
    uint64_t bytes_written;
} sinter_ingest_counters;

/** Turns rows into level-0 files. Confined. */
typedef struct sinter_ingest sinter_ingest;

/**
 * Begin.
 * @param catalog  opened for writing, with a row type; borrowed until close
 * @param options  NULL: defaults
 * @return         SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID, SINTER_E_TOO_LARGE (budget),
 *                 SINTER_E_UNSUPPORTED (a column of VARIANT or BLOB, named)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_ingest_open(const sinter_env *env, sinter_catalog *catalog,
                   const sinter_ingest_options *options, sinter_ingest **out, sinter_error *err);

/**
 * Add a row. It gets the next sequence number; a full buffer becomes a file.
 * @param values  one per column, copied
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a value, column named),
 *                SINTER_E_TOO_LARGE, SINTER_E_OVERFLOW (no sequence number left),
 *                SINTER_E_CANCELLED, SINTER_E_RETRACT, failures of writing. After a failure the
 *                ingest can only be closed.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_ingest_add(sinter_ingest *ingest, uint8_t kind, const sinter_datum *values,
                  sinter_error *err);

/** Write what is buffered as a file of its own; nothing buffered, no file.
 *  @return as sinter_ingest_add() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_ingest_flush(sinter_ingest *ingest, sinter_error *err);

/**
 * Write the rest and commit the catalog: all files of this ingest appear at once.
 * @param out  counters; may be NULL; no more than its struct_size is written
 * @return     as sinter_ingest_add() and sinter_catalog_commit()
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_ingest_finish(sinter_ingest *ingest, sinter_ingest_counters *out, sinter_error *err);

/** Release; takes NULL. Without a successful finish the files written are removed. */
SINTER_API void
sinter_ingest_close(sinter_ingest *ingest);

#ifdef __cplusplus
}
#endif
#endif
