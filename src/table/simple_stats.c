#include "table/simple_stats.h"

#include <assert.h>

static_assert(sizeof(sinter__bytes_list) == sizeof(sinter__avro_list), "filled as such");
static_assert(sizeof(sinter__int64_list) == sizeof(sinter__avro_list), "filled as such");

static const sinter__avro_want wants[] = {
    {"_MIN_VALUES", SINTER__AVRO_FORM_BYTES, offsetof(sinter__simple_stats, min_values), 0, NULL},
    {"_MAX_VALUES", SINTER__AVRO_FORM_BYTES, offsetof(sinter__simple_stats, max_values), 0, NULL},
    {"_NULL_COUNTS", SINTER__AVRO_FORM_INT64_LIST, offsetof(sinter__simple_stats, null_counts),
     SINTER__STATS_HAS_NULL_COUNTS, NULL}};

const sinter__avro_shape sinter__simple_stats_shape = {wants, sizeof wants / sizeof wants[0],
                                                       sizeof(sinter__simple_stats),
                                                       offsetof(sinter__simple_stats, has)};

size_t
sinter__simple_stats_room(const sinter__simple_stats *stats)
{
    /* Two sizes; branch, count and end of the list; a branch and a number for each column. */
    return stats->min_values.size + stats->max_values.size +
           SINTER__AVRO_LONG_BYTES_MAX * (5 + 2 * stats->null_counts.count);
}

uint8_t *
sinter__simple_stats_put(uint8_t *to, const sinter__simple_stats *stats)
{
    const sinter__int64_list *counts = &stats->null_counts;

    to = sinter__avro_put_bytes(to, stats->min_values);
    to = sinter__avro_put_bytes(to, stats->max_values);
    if ((stats->has & SINTER__STATS_HAS_NULL_COUNTS) == 0) {
        return sinter__avro_put_long(to, 0);
    }
    to = sinter__avro_put_long(to, 1);
    if (counts->count > 0) {
        to = sinter__avro_put_long(to, (int64_t)counts->count);
        for (size_t i = 0; i < counts->count; i++) {
            const bool is_known = counts->items[i] != SINTER__NULL_COUNT_UNKNOWN;

            to = sinter__avro_put_long(to, is_known);
            to = is_known ? sinter__avro_put_long(to, counts->items[i]) : to;
        }
    }
    return sinter__avro_put_long(to, 0);
}
