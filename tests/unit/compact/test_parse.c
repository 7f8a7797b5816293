#include "compact/parse.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "files.h"
#include "support/records.h"

static void
expect_bytes(const char *text, uint64_t expected)
{
    uint64_t found = 0;

    cr_expect_eq(sinter_parse_bytes(text, &found, NULL), SINTER_OK, "%s", text);
    cr_expect_eq(found, expected, "%s gives %" PRIu64, text, found);
}

Test(compact_parse, sizes_are_binary_multiples_and_a_bare_number_is_bytes)
{
    expect_bytes("0", 0);
    expect_bytes("7 b", 7);
    expect_bytes("1024", 1024);
    expect_bytes("128 mb", 134217728);
    expect_bytes("128mb", 134217728);
    expect_bytes("  128\tMB  ", 134217728);
    expect_bytes("3kb", 3072);
    expect_bytes("2 gb", 2147483648);
    expect_bytes("1 tb", 1099511627776);
    expect_bytes("9223372036854775807 bytes", INT64_MAX);
    expect_bytes("8388607 tb", 8388607ull << 40);
}

Test(compact_parse, what_is_no_size_is_refused)
{
    static const char *const bad[] = {"",      " ",    "mb",    "-1",  "1.5 mb", "1 eb",
                                      "1 m b", "0x10", "1 mbb", "++1", "1,000",  "1 mb 2"};
    uint64_t bytes = 5;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_eq(sinter_parse_bytes(bad[i], &bytes, NULL), SINTER_E_INVALID, "%s", bad[i]);
    }
    cr_expect_eq(sinter_parse_bytes("9223372036854775808", &bytes, NULL), SINTER_E_OVERFLOW);
    cr_expect_eq(sinter_parse_bytes("8388608 tb", &bytes, NULL), SINTER_E_OVERFLOW);
    cr_expect_eq(sinter_parse_bytes("99999999999999999999 b", &bytes, NULL), SINTER_E_OVERFLOW);
    cr_expect_eq(sinter_parse_bytes(NULL, &bytes, NULL), SINTER_E_INVALID);
    cr_expect_eq(bytes, 5, "a failure writes nothing");
}

static void
expect_duration(const char *text, int64_t expected)
{
    int64_t found = -1;

    cr_expect_eq(sinter__parse_duration(text, &found, NULL), SINTER_OK, "%s", text);
    cr_expect_eq(found, expected, "%s gives %" PRId64, text, found);
}

Test(compact_parse, durations_have_a_unit_and_a_bare_number_is_milliseconds)
{
    static const char *const bad[] = {"",    " ",     "h",    "-1 s",  "1.5 h", "1 w",
                                      "1 x", "1 s s", "PT1H", "1 mon", "0x1 s", "1 hourss"};
    int64_t ms = 5;

    expect_duration("0", 0);
    expect_duration("1500", 1500);
    expect_duration(" 500 ms ", 500);
    expect_duration("10 s", 10000);
    expect_duration("30min", 1800000);
    expect_duration("2 m", 120000);
    expect_duration("1 H", 3600000);
    expect_duration("2 days", 172800000);
    expect_duration("3 seconds", 3000);
    expect_duration("1999 micros", 1);
    expect_duration("7 \xc2\xb5s", 0);
    expect_duration("2500000 ns", 2);
    expect_duration("106751991167 d", 106751991167 * 86400000);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_eq(sinter__parse_duration(bad[i], &ms, NULL), SINTER_E_INVALID, "%s", bad[i]);
    }
    cr_expect_eq(sinter__parse_duration("106751991168 d", &ms, NULL), SINTER_E_OVERFLOW);
    cr_expect_eq(sinter__parse_duration("9223372036854775808", &ms, NULL), SINTER_E_OVERFLOW);
    cr_expect_eq(ms, 5, "a failure writes nothing");
}

Test(compact_parse, whole_numbers_have_the_range_of_int64)
{
    int64_t value = 0;

    cr_expect(sinter__parse_int("-9223372036854775807", &value, NULL) == SINTER_OK &&
              value == -INT64_MAX);
    cr_expect(sinter__parse_int(" 12 ", &value, NULL) == SINTER_OK && value == 12);
    cr_expect_eq(sinter__parse_int("9223372036854775808", &value, NULL), SINTER_E_OVERFLOW);
    cr_expect_eq(sinter__parse_int("- 1", &value, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter__parse_int("1e3", &value, NULL), SINTER_E_INVALID);
}

Test(compact_parse, ratios_are_the_doubles_nearest_to_their_text)
{
    for (uint64_t seed = 1; seed <= scaled_cases(2000); seed++) {
        test_rng rng = {seed};
        const int digits = 1 + (int)test_rng_below(&rng, 14);
        uint64_t fraction = test_rng_next(&rng);
        char text[32];
        double found = -1;

        for (int i = digits; i < 20; i++) {
            fraction /= 10;
        }
        (void)snprintf(text, sizeof text, "0.%0*" PRIu64, digits, fraction);
        if (strlen(text) > 16) {
            continue;
        }
        cr_assert_eq(sinter__parse_ratio(text, &found, NULL), SINTER_OK, "%s", text);
        cr_assert_eq(found, strtod(text, NULL), "seed %" PRIu64 ": %s", seed, text);
    }
}
