/*
 * Least and greatest values of columns, and how many nulls, as metadata holds them.
 * Source: table-layout.md 7.
 */
#ifndef SINTER_TABLE_STATS_COLLECTOR_H
#define SINTER_TABLE_STATS_COLLECTOR_H

#include "base/arena.h"
#include "sinter/type.h"
#include "table/extremes.h"
#include "table/simple_stats.h"

/** What is kept of a column. */
typedef enum sinter__stats_kind {
    SINTER__STATS_NONE = 0,
    SINTER__STATS_COUNTS = 1,   /* nulls only */
    SINTER__STATS_TRUNCATE = 2, /* bounds, strings cut to some characters */
    SINTER__STATS_FULL = 3
} sinter__stats_kind;

/** A mode as options name it. */
typedef struct sinter__stats_mode {
    sinter__stats_kind kind;
    uint32_t length; /* characters, of TRUNCATE */
} sinter__stats_mode;

/** Characters that keys are cut to. */
enum { SINTER__STATS_KEY_CHARS = 128 };

/**
 * Read "none", "counts", "truncate(16)" or "full"; case doesn't matter.
 * @return SINTER_OK, SINTER_E_INVALID
 */
sinter_status
sinter__stats_mode_parse(const char *text, sinter__stats_mode *out, sinter_error *err);

/** A column. */
typedef struct sinter__stats_column {
    const char *name;
    sinter_type type;
    sinter__stats_mode mode;
} sinter__stats_column;

/** What the formats tell of their columns. */
typedef enum sinter__stats_source {
    SINTER__STATS_OF_AVRO = 0,
    SINTER__STATS_OF_PARQUET =
        1,                   /* nothing of nested columns, no bounds of INT96; NaN: no bounds */
    SINTER__STATS_OF_ORC = 2 /* CHAR is padded with blanks */
} sinter__stats_source;

/** Collects statistics of rows. Confined. */
typedef struct sinter__stats_collector sinter__stats_collector;

/**
 * Make one.
 *
 * @param columns  `count` of them; names and types' parts are borrowed as long as it, and results,
 * live
 * @param out      release with sinter__stats_collector_destroy()
 * @return         SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__stats_collector_create(const sinter_env *env, const sinter__stats_column *columns,
                               size_t count, sinter__stats_source source,
                               sinter__stats_collector **out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__stats_collector_destroy(sinter__stats_collector *self);

/** Is anything to be known of a column's values? Else those that it is given don't matter. */
bool
sinter__stats_collector_wants(const sinter__stats_collector *self, size_t column);

/**
 * Take a row into account.
 * @param values  one per column
 * @return        SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__stats_collector_add(sinter__stats_collector *self, const sinter_datum *values,
                            sinter_error *err);

/** Rows that are columns of Arrow, one per column of the collector. */
typedef struct sinter__stats_rows {
    const sinter__cells *cells;
    struct ArrowArray *const *arrays;
    const sinter__row_span *spans;
    size_t span_count;
} sinter__stats_rows;

/**
 * Take several rows into account.
 * @return SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__stats_collector_add_rows(sinter__stats_collector *self, const sinter__stats_rows *rows,
                                 sinter_error *err);

/** Statistics of all rows so far. */
typedef struct sinter__stats_result {
    sinter__simple_stats stats;
    sinter__bytes_list columns; /* those that they are of, with has_columns */
    bool has_columns;           /* false: all */
} sinter__stats_result;

/** What is wanted of them. Borrowed for the call. */
typedef struct sinter__stats_choice {
    const size_t *positions; /* of columns, in the order that is wanted */
    size_t count;
    bool is_dense; /* columns that nothing is known of are left out, and the others named */
} sinter__stats_choice;

/**
 * Make statistics of some columns. Names in `out` are the collector's; all else is the arena's.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (a row of bounds)
 */
sinter_status
sinter__stats_collector_finish(const sinter__stats_collector *self,
                               const sinter__stats_choice *choice, sinter__arena *arena,
                               sinter__stats_result *out, sinter_error *err);

#endif
