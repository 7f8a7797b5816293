#include "columnar/orc_rle.hh"

#include <algorithm>

#include "columnar/fields.hh"

namespace columnar
{

namespace
{

enum RunKind { SHORT_REPEAT = 0, DIRECT = 1, PATCHED_BASE = 2, DELTA = 3 };

constexpr size_t kRepeatMin = 3; // of a short one
constexpr size_t kRepeatMax = 10;
constexpr unsigned kWideWidths[] = {26, 28, 30, 32, 40, 48, 56, 64}; // with codes from 24 on

unsigned
width_of_code(unsigned code)
{
    return code < 24 ? code + 1 : kWideWidths[code - 24];
}

/** Bits that a number of so many bits takes in a list of patches. */
unsigned
stored_width(unsigned bits)
{
    return bits <= 24 ? bits : *std::lower_bound(kWideWidths, kWideWidths + 7, bits);
}

/** Bytes and bits, one after another; the end makes it bad, and gives zeros. */
class RunReader
{
  public:
    RunReader(const uint8_t *data, size_t size) : begin_(data), at_(data), end_(data + size)
    {
    }

    uint8_t byte()
    {
        if (at_ == end_) {
            is_whole_ = false;
            return 0;
        }
        return *at_++;
    }
    uint64_t big_endian(size_t bytes)
    {
        uint64_t value = 0;

        for (size_t i = 0; i < bytes; i++) {
            value = value << 8 | byte();
        }
        return value;
    }
    uint64_t varint()
    {
        uint64_t value = 0;

        for (unsigned shift = 0; shift < 64; shift += 7) {
            const uint8_t next = byte();

            value |= static_cast<uint64_t>(next & 0x7f) << shift;
            if ((next & 0x80) == 0) {
                return value;
            }
        }
        is_whole_ = false;
        return value;
    }
    uint64_t bits(unsigned width)
    {
        uint64_t value = 0;

        while (width > 0) {
            if (bits_left_ == 0) {
                current_ = byte();
                bits_left_ = 8;
            }
            const unsigned step = std::min(width, bits_left_);

            bits_left_ -= step;
            width -= step;
            value = value << step | ((current_ >> bits_left_) & ((1u << step) - 1));
        }
        return value;
    }
    /** What is left of a byte of bits is nothing. */
    void end_bits()
    {
        bits_left_ = 0;
    }
    bool is_whole() const
    {
        return is_whole_;
    }
    size_t size() const
    {
        return static_cast<size_t>(at_ - begin_);
    }

  private:
    const uint8_t *const begin_;
    const uint8_t *at_;
    const uint8_t *const end_;
    unsigned current_ = 0;
    unsigned bits_left_ = 0;
    bool is_whole_ = true;
};

int64_t
number_of(uint64_t stored, bool is_signed)
{
    return is_signed ? signed_of(stored) : static_cast<int64_t>(stored);
}

int64_t
sum_of(int64_t value, uint64_t more)
{
    return static_cast<int64_t>(static_cast<uint64_t>(value) + more);
}

void
decode_repeat(unsigned first, RunReader *in, bool is_signed, OrcRun *out)
{
    const int64_t value = number_of(in->big_endian(1 + (first >> 3 & 7)), is_signed);

    out->count = kRepeatMin + (first & 7);
    std::fill_n(out->values, out->count, value);
}

void
decode_direct(unsigned width, RunReader *in, bool is_signed, OrcRun *out)
{
    for (size_t i = 0; i < out->count; i++) {
        out->values[i] = number_of(in->bits(width), is_signed);
    }
}

/** @return is the run as it should be? */
bool
decode_patched(unsigned width, RunReader *in, OrcRun *out)
{
    const unsigned third = in->byte();
    const unsigned fourth = in->byte();
    const size_t base_bytes = 1 + (third >> 5);
    const unsigned patch_width = width_of_code(third & 31);
    const unsigned gap_width = 1 + (fourth >> 5);
    const uint64_t sign = UINT64_C(1) << (8 * base_bytes - 1);
    uint64_t base = in->big_endian(base_bytes);
    uint64_t values[kOrcRunValues];
    size_t at = 0;

    base = (base & sign) != 0 ? 0 - (base ^ sign) : base;
    if (patch_width + gap_width > 64) {
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        values[i] = in->bits(width);
    }
    in->end_bits();
    for (unsigned i = 0; i < (fourth & 31); i++) {
        const uint64_t entry = in->bits(stored_width(patch_width + gap_width));
        const uint64_t patch = entry & (~UINT64_C(0) >> (64 - patch_width));

        at += static_cast<size_t>(entry >> patch_width);
        if (at >= out->count || (patch != 0 && width == 64)) {
            return false;
        }
        values[at] |= patch != 0 ? patch << width : 0;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->values[i] = static_cast<int64_t>(base + values[i]);
    }
    return true;
}

void
decode_delta(unsigned width, RunReader *in, bool is_signed, OrcRun *out)
{
    int64_t value = number_of(in->varint(), is_signed);
    const int64_t first = signed_of(in->varint());

    out->values[0] = value;
    for (size_t i = 1; i < out->count; i++) {
        if (i == 1 || width == 0) {
            value = sum_of(value, static_cast<uint64_t>(first));
        } else {
            const uint64_t step = in->bits(width);

            value = sum_of(value, first < 0 ? 0 - step : step);
        }
        out->values[i] = value;
    }
}

unsigned
bits_of(uint64_t value)
{
    unsigned bits = 1;

    while (value > 1) {
        value >>= 1;
        bits++;
    }
    return bits;
}

/** The least width of whole bytes, or a part of one that divides it. */
unsigned
aligned_width(unsigned bits)
{
    if (bits > 8) {
        return (bits + 7) / 8 * 8;
    }
    return bits > 4 ? 8 : bits > 2 ? 4 : bits;
}

unsigned
code_of_width(unsigned width)
{
    return width <= 24 ? width - 1 : 27 + (width - 32) / 8;
}

uint8_t *
put_header(RunKind kind, unsigned code, size_t count, uint8_t *out)
{
    *out++ = static_cast<uint8_t>(static_cast<unsigned>(kind) << 6 | code << 1 | (count - 1) >> 8);
    *out++ = static_cast<uint8_t>(count - 1);
    return out;
}

uint8_t *
put_repeats(uint64_t value, size_t count, uint8_t *out)
{
    const unsigned bytes = (bits_of(value) + 7) / 8;

    if (count > kRepeatMax) { // a first number and a step of 0
        out = put_header(DELTA, 0, count, out);
        for (; value > 0x7f; value >>= 7) {
            *out++ = static_cast<uint8_t>(value | 0x80);
        }
        *out++ = static_cast<uint8_t>(value);
        *out++ = 0;
        return out;
    }
    *out++ = static_cast<uint8_t>((bytes - 1) << 3 | (count - kRepeatMin));
    for (unsigned i = bytes; i > 0; i--) {
        *out++ = static_cast<uint8_t>(value >> (8 * (i - 1)));
    }
    return out;
}

} // namespace

bool
decode_orc_run(const uint8_t *data, size_t size, bool is_signed, OrcRun *out)
{
    RunReader in(data, size);
    const unsigned first = in.byte();
    const unsigned code = first >> 1 & 31;
    bool is_good = true;

    if (first >> 6 == SHORT_REPEAT) {
        decode_repeat(first, &in, is_signed, out);
    } else {
        out->count = ((first & 1) << 8 | in.byte()) + size_t{1};
        switch (first >> 6) {
        case DIRECT:
            decode_direct(width_of_code(code), &in, is_signed, out);
            break;
        case PATCHED_BASE:
            is_good = decode_patched(width_of_code(code), &in, out);
            break;
        default: // where steps are stored, 0 bits mean that all are the first
            decode_delta(code == 0 ? 0 : width_of_code(code), &in, is_signed, out);
            break;
        }
    }
    out->bytes = in.size();
    return is_good && in.is_whole();
}

size_t
encode_orc_run(const int64_t *values, size_t count, bool is_signed, uint8_t *out)
{
    uint8_t *at = out;
    uint64_t stored[kOrcRunValues];
    uint64_t all = 0;
    bool is_same = true;

    for (size_t i = 0; i < count; i++) {
        stored[i] = is_signed ? zigzag_of(values[i]) : static_cast<uint64_t>(values[i]);
        all |= stored[i];
        is_same = is_same && stored[i] == stored[0];
    }
    if (is_same && count >= kRepeatMin) {
        return static_cast<size_t>(put_repeats(stored[0], count, out) - out);
    }
    const unsigned width = aligned_width(bits_of(all));
    unsigned room = 8; // bits of the byte `at` that are free

    at = put_header(DIRECT, code_of_width(width), count, at);
    for (size_t i = 0; i < count; i++) {
        if (width < 8) {
            *at = static_cast<uint8_t>((room == 8 ? 0 : *at) | stored[i] << (room - width));
            room = room == width ? 8 : room - width;
            at += room == 8 ? 1 : 0;
        }
        for (unsigned left = width; left >= 8; left -= 8) {
            *at++ = static_cast<uint8_t>(stored[i] >> (left - 8));
        }
    }
    return static_cast<size_t>(at + (room == 8 ? 0 : 1) - out);
}

} // namespace columnar
