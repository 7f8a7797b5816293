/*
 * Statistics as metadata holds them: least and greatest values as rows, and how many nulls.
 * Source: spec/table-layout.md 6.1, 7.
 */
#ifndef SINTER_TABLE_SIMPLE_STATS_H
#define SINTER_TABLE_SIMPLE_STATS_H

#include "format/avro_codec.h"

/** Strings or bytes, one behind the other. */
typedef struct sinter__bytes_list {
    const sinter_bytes *items;
    size_t count;
} sinter__bytes_list;

/** Numbers. */
typedef struct sinter__int64_list {
    const int64_t *items;
    size_t count;
} sinter__int64_list;

/** A null count that nobody knows. */
#define SINTER__NULL_COUNT_UNKNOWN INT64_MIN

enum { SINTER__STATS_HAS_NULL_COUNTS = 1u << 0 };

/** Statistics of some columns. The rows begin with their arity (table-layout.md 5.1). */
typedef struct sinter__simple_stats {
    sinter_bytes min_values;
    sinter_bytes max_values;
    sinter__int64_list null_counts; /* one a column; empty and null are not the same: see has */
    uint32_t has;
    uint32_t reserved;
} sinter__simple_stats;

/** How they are read. */
extern const sinter__avro_shape sinter__simple_stats_shape;

/** Room that writing them takes, at most. */
size_t
sinter__simple_stats_room(const sinter__simple_stats *stats);

/** Write them as a record of Avro. @return its end */
uint8_t *
sinter__simple_stats_put(uint8_t *to, const sinter__simple_stats *stats);

#endif
