#include "compact/metrics.h"

#include "base/load.h"

void
sinter__bucket_counters_get(const sinter__bucket_counters *counters, sinter_bucket_metrics *out)
{
    sinter_bucket_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

#define LOAD(type, name) \
    metrics.name = (type)atomic_load_explicit(&counters->name, memory_order_relaxed);
    SINTER__BUCKET_COUNTER_MAP(LOAD)
#undef LOAD
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
