#include "compact/early_full.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "compact/strategy_parts.h"

void
sinter__early_full_init(sinter__early_full *early, const sinter_compact_options *options,
                        const sinter_strategy_origin *origin)
{
    *early = (sinter__early_full){.interval_ms = (int64_t)options->optimization_interval_ms,
                                  .total_bytes = options->total_size_threshold,
                                  .incremental_bytes = options->incremental_size_threshold,
                                  .has_last = origin->has_last_full,
                                  .last_ms = origin->last_full_ms};
}

/* Time since the last full compaction; a clock that was put back gives less than nothing. */
static int64_t
elapsed_ms(const sinter__early_full *early, int64_t now_ms)
{
    int64_t elapsed = 0;

    if (__builtin_sub_overflow(now_ms, early->last_ms, &elapsed)) {
        return now_ms > early->last_ms ? INT64_MAX : INT64_MIN;
    }
    return elapsed;
}

static bool
try_interval(const sinter__early_full *early, int64_t now_ms, sinter_pick *out)
{
    if (early->interval_ms == 0) {
        return false;
    }
    if (!early->has_last) {
        sinter__pick_explain(out, SINTER_PICK_OPTIMIZATION_INTERVAL,
                             "no full compaction is known of, and one is due each %" PRId64 " ms",
                             early->interval_ms);
        return true;
    }
    if (elapsed_ms(early, now_ms) > early->interval_ms) {
        sinter__pick_explain(out, SINTER_PICK_OPTIMIZATION_INTERVAL,
                             "last full compaction %" PRId64 " ms ago > %" PRId64 " ms",
                             elapsed_ms(early, now_ms), early->interval_ms);
        return true;
    }
    return false;
}

static bool
try_sizes(const sinter__early_full *early, const sinter_pick_request *request, sinter_pick *out)
{
    const int32_t max_level = (int32_t)(request->num_levels - 1);
    uint64_t total = 0;
    uint64_t above = 0;

    for (size_t i = 0; i < request->run_count; i++) {
        const uint64_t bytes = sinter__run_bytes(&request->runs[i]);

        total = sinter__add_bytes(total, bytes);
        above = request->runs[i].level == max_level ? above : sinter__add_bytes(above, bytes);
    }
    if (early->total_bytes > 0 && total < early->total_bytes) {
        sinter__pick_explain(out, SINTER_PICK_TOTAL_SIZE,
                             "%" PRIu64 " bytes in all < %" PRIu64 " bytes", total,
                             early->total_bytes);
        return true;
    }
    if (early->incremental_bytes > 0 && above > early->incremental_bytes) {
        sinter__pick_explain(out, SINTER_PICK_INCREMENTAL_SIZE,
                             "%" PRIu64 " bytes above level %d > %" PRIu64 " bytes", above,
                             max_level, early->incremental_bytes);
        return true;
    }
    return false;
}

bool
sinter__early_full_try(sinter__early_full *early, const sinter_pick_request *request,
                       sinter_pick *out)
{
    assert(request->num_levels >= 2);
    if (request->run_count == 1) {
        return false;
    }
    if (try_interval(early, request->now_ms, out) || try_sizes(early, request, out)) {
        sinter__early_full_note(early, request->now_ms);
        return true;
    }
    return false;
}

void
sinter__early_full_note(sinter__early_full *early, int64_t now_ms)
{
    if (early->interval_ms > 0 || early->total_bytes > 0 || early->incremental_bytes > 0) {
        early->has_last = true;
        early->last_ms = now_ms;
    }
}
