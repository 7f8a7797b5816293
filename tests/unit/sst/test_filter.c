#include "sst/filter.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "records.h"

TestSuite(sst_filter, .timeout = 120);

enum { KEYS = 5000 };

/** Big-endian numbers as keys of 8 bytes. */
static uint8_t *
numbers(uint64_t first, uint64_t step)
{
    uint8_t *bytes = calloc(KEYS * 8 + 16, 1);

    for (uint64_t i = 0; i < KEYS; i++) {
        sinter__put_be64(bytes + i * 8, first + i * step);
    }
    return bytes;
}

/** Share of foreign keys that a filter lets through. */
static double
false_positives(uint32_t bits_per_key)
{
    uint8_t *own = numbers(0, 2);
    uint8_t *other = numbers(1, 2);
    const sinter__keys keys = {.data = own, .width = 8, .rows = KEYS};
    const size_t size = sinter__filter_bytes(KEYS, bits_per_key);
    uint8_t *filter = malloc(size);
    size_t let_through = 0;

    sinter__filter_put(filter, &keys, bits_per_key);
    cr_assert(sinter__filter_ok((sinter_bytes){filter, size}));
    for (size_t i = 0; i < KEYS; i++) {
        cr_assert(
            sinter__filter_may_hold((sinter_bytes){filter, size}, (sinter_bytes){own + i * 8, 8}),
            "no key of its own is turned away");
        let_through +=
            sinter__filter_may_hold((sinter_bytes){filter, size}, (sinter_bytes){other + i * 8, 8});
    }
    free(filter);
    free(own);
    free(other);
    return (double)let_through / KEYS;
}

Test(sst_filter, ten_bits_let_one_in_a_hundred_strangers_through)
{
    cr_expect_lt(false_positives(10), 0.02);
    cr_expect_lt(false_positives(20), 0.001);
    cr_expect_lt(false_positives(1), 0.8);
    cr_expect_lt(false_positives(64), 0.0005);
}

Test(sst_filter, malformed_filters_are_known)
{
    uint8_t filter[24] = {SINTER__FILTER_KIND_BLOOM, 7};

    cr_expect(sinter__filter_ok((sinter_bytes){filter, 24}));
    cr_expect_not(sinter__filter_ok((sinter_bytes){filter, 23}));
    cr_expect_not(sinter__filter_ok((sinter_bytes){filter, 8}), "no bits");
    filter[1] = 0;
    cr_expect_not(sinter__filter_ok((sinter_bytes){filter, 24}), "no probes");
    filter[1] = 33;
    cr_expect_not(sinter__filter_ok((sinter_bytes){filter, 24}));
    filter[1] = 7;
    filter[4] = 1;
    cr_expect_not(sinter__filter_ok((sinter_bytes){filter, 24}), "reserved");
}
