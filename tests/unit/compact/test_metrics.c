#include <criterion/criterion.h>
#include <string.h>

#include "compact/metrics.h"

TestSuite(compact_metrics, .timeout = 20);

Test(compact_metrics, every_counter_is_copied_to_its_own_place)
{
    sinter__bucket_counters counters;
    sinter_bucket_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};
    uint64_t next = 1;

    memset(&counters, 0, sizeof counters);
#define SET(type, name) sinter__gauge(&counters.name, next++);
    SINTER__BUCKET_COUNTER_MAP(SET)
#undef SET
    sinter__count(&counters.slowdown_ns, 1000);
    sinter__bucket_counters_get(&counters, &metrics);
    next = 1;
#define CHECK(type, name)                                                        \
    cr_expect_eq((uint64_t)metrics.name, next + (next == 30 ? 1000 : 0), #name); \
    next++;
    SINTER__BUCKET_COUNTER_MAP(CHECK)
#undef CHECK
    cr_expect_eq(next, 31, "the last is slowdown_ns");
    cr_expect_eq(metrics.reserved[0], 0);
}

Test(compact_metrics, an_older_caller_gets_the_counters_it_knows)
{
    sinter__bucket_counters counters;
    sinter_bucket_metrics metrics;

    memset(&counters, 0, sizeof counters);
    memset(&metrics, 0xab, sizeof metrics);
    metrics.struct_size = (uint32_t)offsetof(sinter_bucket_metrics, files);
    sinter__gauge(&counters.runs, 3);
    sinter__bucket_counters_get(&counters, &metrics);
    cr_expect_eq(metrics.runs, 3);
    cr_expect_eq(metrics.files, UINT64_C(0xabababababababab));
}

Test(compact_metrics, amplification_is_bytes_written_and_bytes_there_by_what_they_stand_for)
{
    sinter_bucket_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

    cr_expect(sinter_bucket_write_amplification(&metrics) < 0.001, "nothing was flushed");
    cr_expect(sinter_bucket_space_amplification(&metrics) < 0.001, "there are no files");
    metrics.flushed_bytes = 200;
    metrics.bytes = 500;
    metrics.bottom_bytes = 400;
    cr_expect(sinter_bucket_write_amplification(&metrics) > 0.999 &&
              sinter_bucket_write_amplification(&metrics) < 1.001);
    metrics.compact_written_bytes = 500;
    cr_expect(sinter_bucket_write_amplification(&metrics) > 3.499 &&
              sinter_bucket_write_amplification(&metrics) < 3.501);
    cr_expect(sinter_bucket_space_amplification(&metrics) > 1.249 &&
              sinter_bucket_space_amplification(&metrics) < 1.251);
}
