/*
 * Which partitions a plan is about.
 */
#ifndef SINTER_TABLE_PLAN_FILTER_H
#define SINTER_TABLE_PLAN_FILTER_H

#include "table/task.h"

/** Texts taken apart: for each of them one value a partition column, of size 0 where any fits. */
typedef struct sinter__partition_filter {
    const sinter_bytes *values;
    size_t count; /* 0: all partitions fit */
} sinter__partition_filter;

/** Texts to take apart. Borrowed. */
typedef struct sinter__partition_texts {
    const char *const *items;
    size_t count;
    const sinter__partition_names *names;
} sinter__partition_texts;

/**
 * Take texts "a=1,b=x" apart.
 * @param arena  keeps the values
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a column that isn't there or is named
 *               twice, a value that is none of its type)
 */
sinter_status
sinter__partition_filter_parse(const sinter__scan_columns *columns,
                               const sinter__partition_texts *texts, sinter__arena *arena,
                               sinter__partition_filter *out, sinter_error *err);

/** Does a partition fit one of them? */
sinter_status
sinter__partition_filter_fits(const sinter__partition_filter *filter,
                              const sinter__scan_columns *columns, sinter_bytes partition,
                              bool *out, sinter_error *err);

#endif
