/*
 * Runs of ORC's numbers: the examples of its specification, and what is encoded comes back.
 */
#include <criterion/criterion.h>

#include <cstring>
#include <vector>

#include "columnar/orc_rle.hh"

TestSuite(format_orc_rle, .timeout = 120);

using columnar::decode_orc_run;
using columnar::encode_orc_run;
using columnar::kOrcRunBytes;
using columnar::kOrcRunValues;
using columnar::OrcRun;

namespace
{

uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void
check_run(const std::vector<uint8_t> &bytes, bool is_signed, const std::vector<int64_t> &values)
{
    OrcRun run;

    for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 32) {
        const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));

        cr_assert(!decode_orc_run(cut.data(), size, is_signed, &run), "of %zu bytes", size);
    }
    cr_assert(decode_orc_run(bytes.data(), bytes.size(), is_signed, &run));
    cr_assert_eq(run.bytes, bytes.size());
    cr_assert_eq(run.count, values.size());
    for (size_t i = 0; i < values.size(); i++) {
        cr_assert_eq(run.values[i], values[i], "number %zu: %lld", i, (long long)run.values[i]);
    }
}

/** Encode a run, and decode it. @return its bytes */
std::vector<uint8_t>
round_trip(const std::vector<int64_t> &values, bool is_signed)
{
    std::vector<uint8_t> bytes(kOrcRunBytes);

    bytes.resize(encode_orc_run(values.data(), values.size(), is_signed, bytes.data()));
    check_run(bytes, is_signed, values);
    return bytes;
}

/** Numbers of few or many bits, either sign, with repeats. */
std::vector<int64_t>
random_run(uint64_t *state)
{
    std::vector<int64_t> values(1 + next_random(state) % kOrcRunValues);
    const unsigned shift = next_random(state) % 64;
    const uint64_t repeats = next_random(state) % 4;

    for (size_t i = 0; i < values.size(); i++) {
        const auto sign = static_cast<int64_t>(next_random(state) % 2);

        values[i] = static_cast<int64_t>(next_random(state) >> shift) ^ -sign;
        if (i > 0 && repeats > 1 && (repeats == 3 || next_random(state) % 3 != 0)) {
            values[i] = values[i - 1];
        }
    }
    return values;
}

} // namespace

Test(format_orc_rle, the_examples_of_the_specification_are_decoded)
{
    check_run({0x0a, 0x27, 0x10}, false, {10000, 10000, 10000, 10000, 10000});
    check_run({0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef}, false,
              {23713, 43806, 57005, 48879});
    check_run({0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46,
               0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8},
              false, {2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090,
                      2100, 2110, 2120, 2130,    2140, 2150, 2160, 2170, 2180, 2190});
    check_run({0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46}, false,
              {2, 3, 5, 7, 11, 13, 17, 19, 23, 29});
}

Test(format_orc_rle, runs_of_every_kind_are_decoded_with_numbers_below_zero)
{
    /* a base of -3 with three patches, a step of -2 each time, steps of which the first is below 0
     */
    check_run({0x80, 0x03, 0x01, 0x03, 0x83, 0x50, 0xdf, 0x80}, false, {-3, 2, 3, 4});
    check_run({0xc0, 0x03, 0x05, 0x03}, true, {-3, -5, -7, -9});
    check_run({0xc2, 0x03, 0x00, 0x01, 0x60}, true, {0, -1, -2, -4});
}

Test(format_orc_rle, what_is_encoded_is_decoded)
{
    const int64_t least = INT64_MIN;
    uint64_t state = 20260131;

    for (const bool is_signed : {false, true}) {
        for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MAX, least}) {
            for (const size_t count : std::vector<size_t>{1, 2, 3, 10, 11, 511, 512}) {
                (void)round_trip(std::vector<int64_t>(count, value), is_signed);
            }
        }
        (void)round_trip({least, INT64_MAX, 0}, is_signed);
        for (int i = 0; i < 500; i++) {
            (void)round_trip(random_run(&state), is_signed);
        }
    }
}

Test(format_orc_rle, repeats_take_a_few_bytes_and_numbers_the_bits_of_the_largest)
{
    cr_expect_eq(round_trip(std::vector<int64_t>(10, 1000), false).size(), 3);
    cr_expect_eq(round_trip(std::vector<int64_t>(512, 1000), false).size(), 5);
    cr_expect_eq(round_trip({1, 0, 1, 1, 0, 0, 1, 1, 1}, false).size(), 4);
    cr_expect_eq(round_trip({1, 9, 1}, false).size(), 4);
    cr_expect_eq(round_trip({-1, -65536, 5}, true).size(), 11);
}

Test(format_orc_rle, any_bytes_are_a_run_or_none)
{
    uint64_t state = 77;
    OrcRun run;

    for (int i = 0; i < 100000; i++) {
        std::vector<uint8_t> bytes(next_random(&state) % 64);

        for (uint8_t &byte : bytes) {
            byte = static_cast<uint8_t>(next_random(&state));
        }
        if (decode_orc_run(bytes.data(), bytes.size(), i % 2 == 0, &run)) {
            cr_assert(run.count >= 1 && run.count <= kOrcRunValues && run.bytes <= bytes.size());
        }
    }
}
