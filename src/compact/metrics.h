/*
 * Counters of a bucket while they grow: atomics, written by its manager and write path, read by
 * anyone without a lock.
 */
#ifndef SINTER_COMPACT_METRICS_H
#define SINTER_COMPACT_METRICS_H

#include <stdatomic.h>

#include "sinter/compact.h"
#include "sinter/metrics.h"
#include "sinter/strategy.h"

/** The numbers of sinter_bucket_metrics, each with its type there. */
#define SINTER__BUCKET_COUNTER_MAP(X)   \
    X(uint32_t, running)                \
    X(uint64_t, runs)                   \
    X(uint64_t, level0_files)           \
    X(uint64_t, files)                  \
    X(uint64_t, bytes)                  \
    X(uint64_t, bottom_bytes)           \
    X(uint64_t, buffer_bytes)           \
    X(uint64_t, buffer_limit_bytes)     \
    X(uint64_t, rows_written)           \
    X(uint64_t, bytes_in)               \
    X(uint64_t, flushes)                \
    X(uint64_t, flushed_bytes)          \
    X(uint64_t, spills)                 \
    X(uint64_t, compactions)            \
    X(uint64_t, compactions_completed)  \
    X(uint64_t, compactions_failed)     \
    X(uint64_t, compactions_cancelled)  \
    X(uint64_t, compact_read_bytes)     \
    X(uint64_t, compact_written_bytes)  \
    X(uint64_t, compact_upgraded_bytes) \
    X(uint64_t, compact_ns)             \
    X(uint64_t, records_superseded)     \
    X(uint64_t, records_deleted)        \
    X(uint64_t, last_input_bytes)       \
    X(uint64_t, last_output_bytes)      \
    X(int64_t, last_compaction_ms)      \
    X(uint64_t, stalls)                 \
    X(uint64_t, stall_ns)               \
    X(uint64_t, slowdowns)              \
    X(uint64_t, slowdown_ns)

/** One atomic for each number that grows or changes. */
typedef struct sinter__bucket_counters {
#define SINTER__BUCKET_COUNTER_FIELD(type, name) _Atomic uint64_t name;
    SINTER__BUCKET_COUNTER_MAP(SINTER__BUCKET_COUNTER_FIELD)
#undef SINTER__BUCKET_COUNTER_FIELD
    /* Half as wide as the others, for the sake of many idle buckets. */
    _Atomic uint32_t files_by_reason[SINTER_REASON_COUNT];
    _Atomic uint32_t picks_by_rule[SINTER_PICK_RULE_COUNT];
} sinter__bucket_counters;

/** Copy them out; as much as out->struct_size says. */
void
sinter__bucket_counters_get(const sinter__bucket_counters *counters, sinter_bucket_metrics *out);

/** Add to one. */
static inline void
sinter__count(_Atomic uint64_t *counter, uint64_t more)
{
    (void)atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

/** Set one. */
static inline void
sinter__gauge(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

#endif
