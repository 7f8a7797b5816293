#include "compact/off_peak.h"

#include <assert.h>

uint32_t
sinter__off_peak_ratio(const sinter_compact_options *options, int32_t hour)
{
    const int32_t begin = options->offpeak_start_hour;
    const int32_t end = options->offpeak_end_hour;
    bool is_inside = false;

    assert(hour >= 0 && hour <= 23);
    if (begin == -1 || end == -1 || begin == end) {
        return 0;
    }
    is_inside = begin < end ? begin <= hour && hour < end : hour >= begin || hour < end;
    return is_inside ? options->offpeak_ratio : 0;
}
