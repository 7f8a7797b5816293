/*
 * Reading tables: the rows that a batch read of a snapshot returns.
 */
#ifndef SINTER_TABLE_SCAN_H
#define SINTER_TABLE_SCAN_H

#include "sinter/predicate.h"
#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What to read. Zeroed with struct_size set and bucket -1: everything of the newest snapshot. All
 *  is borrowed for the call of open. */
typedef struct sinter_table_scan_options {
    uint32_t struct_size;
    int32_t bucket;                  /* only this one; -1: all */
    const sinter_snapshot *snapshot; /* NULL: the newest */
    const char *const *columns;      /* names, in this order; NULL: all of the schema */
    size_t column_count;
    /* For merges of more runs than memory can hold open; NULL: the directory of their files. */
    const char *spill_dir;
    /* Rows that are wanted; NULL: all. Columns are those of the schema, shown or not. */
    const sinter_predicate *where;
    /* The same, of partition columns only, which then need no file to be opened. NULL: all. */
    const sinter_predicate *partitions;
    uint64_t limit;    /* rows at most, with `has_limit` */
    int32_t level_min; /* only files of these levels, with `has_levels`: others are not merged */
    int32_t level_max;
    bool has_limit;
    bool has_levels;
    /* A text that is no UTF-8 ends the scan with SINTER_E_CORRUPT, the file and the row; else the
     * bytes are handed out as they are. */
    bool checks_texts;
    uint8_t reserved[5];
} sinter_table_scan_options;

/** What a read has done so far. */
typedef struct sinter_table_scan_counters {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t manifests_read;
    uint64_t manifests_skipped; /* nothing in them can be wanted */
    uint64_t files;             /* live files of partitions, buckets and levels that are wanted */
    uint64_t files_skipped;     /* of these, by keys and statistics, in buckets that were begun */
    uint64_t rows_merged;       /* before `where` */
    uint64_t rows;              /* handed out */
} sinter_table_scan_counters;

/** A read under way. Confined. */
typedef struct sinter_table_scan sinter_table_scan;

/**
 * Begin to read. Rows have the columns of the newest schema when the newest snapshot is read, else
 * of the snapshot's. With the option scan.fallback-branch, partitions that the main branch lacks
 * come from that branch, as it was at the snapshot's time.
 *
 * @param table    borrowed until close
 * @param options  NULL: everything
 * @param out      release with sinter_table_scan_close()
 * @return         SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a column that isn't there, a
 *                 predicate), SINTER_E_CORRUPT, SINTER_E_IO,
 *                 SINTER_E_NOT_FOUND    a file that metadata names
 *                 SINTER_E_EXPIRED      the same, where the snapshot is no longer kept
 *                 SINTER_E_UNSUPPORTED  what this version can't read, by name: a merge engine, a
 *                                       format, data evolution
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_scan_open(sinter_table *table, const sinter_table_scan_options *options,
                       sinter_table_scan **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_table_scan_close(sinter_table_scan *scan);

/** Columns of the rows; lives as long as the scan. */
SINTER_API const sinter_row_type *
sinter_table_scan_row_type(const sinter_table_scan *scan);

/**
 * The next row. Partitions come in the order of their bytes, buckets by number, rows of a bucket
 * with a key in its order.
 *
 * @param values_out  one per column, until the next call
 * @return            SINTER_OK, SINTER_END, failures as of open, SINTER_E_TOO_LARGE (the budget),
 *                    SINTER_E_INVALID (a value that can't be cast to its column's type)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_scan_next(sinter_table_scan *scan, const sinter_datum **values_out, sinter_error *err);

/**
 * Write the rows that are left as a stream of Arrow's IPC format, through libsinter_columnar.
 *
 * @param put  takes the bytes as they are made; a failure of it ends the stream
 * @return     SINTER_OK, what `put` gave, failures as of sinter_table_scan_next(),
 *             SINTER_E_UNSUPPORTED  libsinter_columnar is missing (the text says what to install),
 *                                   or a column of VARIANT or BLOB
 *             SINTER_E_OVERFLOW     a timestamp that Arrow can't hold
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_scan_arrow(sinter_table_scan *scan,
                        sinter_status (*put)(void *ctx, const void *data, size_t size,
                                             sinter_error *err),
                        void *ctx, sinter_error *err);

/** What was done. `out`: struct_size must be set; no more than that is written. */
SINTER_API void
sinter_table_scan_counters_get(const sinter_table_scan *scan, sinter_table_scan_counters *out);

#ifdef __cplusplus
}
#endif
#endif
