#include "cli/text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/compact.h"

TestSuite(cli_text, .timeout = 20);

static void
expect_bytes(uint64_t bytes, const char *wanted)
{
    char out[CLI_NUMBER_CHARS];

    cr_expect_str_eq(cli_bytes_text(bytes, out), wanted);
}

Test(cli_text, sizes_have_binary_units_and_at_most_one_decimal)
{
    expect_bytes(0, "0B");
    expect_bytes(1023, "1023B");
    expect_bytes(1024, "1KB");
    expect_bytes(1536, "1.5KB");
    expect_bytes((uint64_t)128 << 20, "128MB");
    expect_bytes(((uint64_t)128 << 20) + 1, "128MB");
    expect_bytes((uint64_t)1 << 60, "1EB");
    expect_bytes(UINT64_MAX, "16.0EB");
}

Test(cli_text, sizes_that_are_shown_whole_can_be_parsed_back)
{
    for (unsigned shift = 0; shift < 50; shift++) {
        char out[CLI_NUMBER_CHARS];
        uint64_t parsed = 0;

        cli_bytes_text((uint64_t)1 << shift, out);
        cr_expect_eq(sinter_parse_bytes(out, &parsed, NULL), SINTER_OK, "%s", out);
        cr_expect_eq(parsed, (uint64_t)1 << shift, "%s", out);
    }
}

Test(cli_text, counts_are_grouped_by_thousands)
{
    char out[CLI_NUMBER_CHARS];

    cr_expect_str_eq(cli_count_text(0, out), "0");
    cr_expect_str_eq(cli_count_text(999, out), "999");
    cr_expect_str_eq(cli_count_text(1000, out), "1,000");
    cr_expect_str_eq(cli_count_text(1234567, out), "1,234,567");
    cr_expect_str_eq(cli_count_text(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

Test(cli_text, durations_are_as_coarse_as_they_are_long)
{
    char out[CLI_NUMBER_CHARS];

    cr_expect_str_eq(cli_seconds_text(0.44, out), "440ms");
    cr_expect_str_eq(cli_seconds_text(1.52, out), "1.5s");
    cr_expect_str_eq(cli_seconds_text(12.9, out), "12s");
    cr_expect_str_eq(cli_seconds_text(185, out), "3m05s");
    cr_expect_str_eq(cli_seconds_text(7860, out), "2h11m");
    cr_expect_str_eq(cli_seconds_text(-1, out), "0.0s");
}

Test(cli_text, times_are_utc)
{
    char out[CLI_NUMBER_CHARS];

    cr_expect_str_eq(cli_time_text(0, out), "1970-01-01 00:00:00");
    cr_expect_str_eq(cli_time_text(-1, out), "1969-12-31 23:59:59");
    cr_expect_str_eq(cli_time_text(1732603136001, out), "2024-11-26 06:38:56");
}

Test(cli_text, one_slip_of_the_fingers_is_one_change)
{
    cr_expect_eq(cli_distance("compact", "compact"), 0);
    cr_expect_eq(cli_distance("compct", "compact"), 1);
    cr_expect_eq(cli_distance("comapct", "compact"), 1);
    cr_expect_eq(cli_distance("compactt", "compact"), 1);
    cr_expect_eq(cli_distance("conpact", "compact"), 1);
    cr_expect_eq(cli_distance("", "gc"), 2);
    cr_expect_eq(cli_distance("scan", "inspect"), 6);
    cr_expect(cli_is_near("compct", 1));
    cr_expect_not(cli_is_near("xyz", 3));
}

/* The same by the definition: recursion over prefixes. */
static size_t
slow_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t best;
    size_t other;

    if (a_size == 0 || b_size == 0) {
        return a_size + b_size;
    }
    best = slow_distance(a, a_size - 1, b, b_size - 1) + (a[a_size - 1] != b[b_size - 1]);
    other = slow_distance(a, a_size - 1, b, b_size) + 1;
    best = other < best ? other : best;
    other = slow_distance(a, a_size, b, b_size - 1) + 1;
    best = other < best ? other : best;
    if (a_size > 1 && b_size > 1 && a[a_size - 1] == b[b_size - 2] &&
        a[a_size - 2] == b[b_size - 1]) {
        other = slow_distance(a, a_size - 2, b, b_size - 2) + 1;
        best = other < best ? other : best;
    }
    return best;
}

Test(cli_text, the_distance_is_that_of_the_definition)
{
    unsigned seed = 20241126;

    for (int round = 0; round < 300; round++) {
        char words[2][7] = {"", ""};

        for (size_t w = 0; w < 2; w++) {
            seed = seed * 1103515245u + 12345u;
            const size_t size = seed >> 16 & 3u;

            for (size_t i = 0; i < size + 2; i++) {
                seed = seed * 1103515245u + 12345u;
                words[w][i] = (char)('a' + (seed >> 16) % 3);
            }
        }
        cr_expect_eq(cli_distance(words[0], words[1]),
                     slow_distance(words[0], strlen(words[0]), words[1], strlen(words[1])),
                     "seed 20241126, round %d: '%s' and '%s'", round, words[0], words[1]);
    }
}

static void
expect_printable(const char *data, size_t size, size_t limit, const char *wanted)
{
    char *text = cli_printable((sinter_bytes){(const uint8_t *)data, size}, limit);

    cr_expect_str_eq(text, wanted);
    free(text);
}

Test(cli_text, bytes_are_shown_as_text_where_they_are_text)
{
    expect_printable("", 0, 10, "");
    expect_printable("abc", 3, 10, "abc");
    expect_printable("\xc3\xa9t\xc3\xa9", 5, 10, "\xc3\xa9t\xc3\xa9");
    expect_printable("a\nb", 3, 20, "0x610a62");
    expect_printable("\xff", 1, 20, "0xff");
    expect_printable("\xc0\x80", 2, 20, "0xc080");
    expect_printable("\xed\xa0\x80", 3, 20, "0xeda080");
    expect_printable("\xc2\x9b", 2, 20, "0xc29b");
    expect_printable("abcdefghijklmnop", 16, 10, "abcdefg...");
    expect_printable("abcdefghij", 10, 10, "abcdefghij");
    expect_printable("\x01\x02\x03\x04\x05\x06\x07\x08", 8, 11, "0x010203...");
}

Test(cli_text, width_counts_code_points)
{
    cr_expect_eq(cli_width(""), 0);
    cr_expect_eq(cli_width("abc"), 3);
    cr_expect_eq(cli_width("\xc3\xa9t\xc3\xa9"), 3);
    cr_expect_eq(cli_width("\xf0\x9f\x98\x80"), 1);
}

Test(cli_text, hex_is_lower_case)
{
    char *text = cli_hex((sinter_bytes){(const uint8_t *)"\x00\xab\xff", 3});

    cr_expect_str_eq(text, "00abff");
    free(text);
}
