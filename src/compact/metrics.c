#include "compact/metrics.h"

#include <assert.h>

#include "base/load.h"

void
sinter__bucket_counters_get(const sinter__bucket_counters *counters, sinter_bucket_metrics *out)
{
    sinter_bucket_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

#define LOAD(type, name) \
    metrics.name = (type)atomic_load_explicit(&counters->name, memory_order_relaxed);
    SINTER__BUCKET_COUNTER_MAP(LOAD)
#undef LOAD
    static_assert((size_t)SINTER_REASON_COUNT <=
                      sizeof metrics.files_by_reason / sizeof metrics.files_by_reason[0],
                  "a place for each reason");
    static_assert((size_t)SINTER_PICK_RULE_COUNT <=
                      sizeof metrics.picks_by_rule / sizeof metrics.picks_by_rule[0],
                  "a place for each rule");
    for (size_t i = 0; i < SINTER_REASON_COUNT; i++) {
        metrics.files_by_reason[i] =
            atomic_load_explicit(&counters->files_by_reason[i], memory_order_relaxed);
    }
    for (size_t i = 0; i < SINTER_PICK_RULE_COUNT; i++) {
        metrics.picks_by_rule[i] =
            atomic_load_explicit(&counters->picks_by_rule[i], memory_order_relaxed);
    }
    sinter__struct_store(out, &metrics, sizeof metrics);
}

double
sinter_bucket_write_amplification(const sinter_bucket_metrics *metrics)
{
    return metrics->flushed_bytes == 0
               ? 0
               : ((double)metrics->flushed_bytes + (double)metrics->compact_written_bytes) /
                     (double)metrics->flushed_bytes;
}

double
sinter_bucket_space_amplification(const sinter_bucket_metrics *metrics)
{
    return metrics->bottom_bytes == 0 ? 0 : (double)metrics->bytes / (double)metrics->bottom_bytes;
}
