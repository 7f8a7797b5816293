// Messages of protocol buffers, field by field.
#ifndef SINTER_COLUMNAR_FIELDS_HH
#define SINTER_COLUMNAR_FIELDS_HH

#include <cstddef>
#include <cstdint>
#include <vector>

namespace columnar
{

/** A signed number of zigzag form, and back. */
inline int64_t
signed_of(uint64_t value)
{
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

inline uint64_t
zigzag_of(int64_t value)
{
    return static_cast<uint64_t>(value) << 1 ^ (value < 0 ? ~UINT64_C(0) : 0);
}

/** Fields of a protocol buffer message, one after another. */
class Fields
{
  public:
    Fields(const uint8_t *data, size_t size) : at_(data), end_(data + size)
    {
    }

    /** false: the end, or bytes that are no field; is_whole() tells which. */
    bool next()
    {
        uint64_t tag = 0;

        begin_ = at_;
        if (at_ == end_ || !number(&tag)) {
            return false;
        }
        field_ = tag >> 3;
        value_ = 0;
        bytes_ = nullptr;
        switch (tag & 7) {
        case 0:
            return number(&value_);
        case 1:
            return skip(8);
        case 2:
            return number(&value_) && (bytes_ = at_, skip(value_));
        case 5:
            return skip(4);
        default:
            is_whole_ = false;
            return false;
        }
    }
    bool is_whole() const
    {
        return is_whole_;
    }
    uint64_t field() const
    {
        return field_;
    }
    /** The number, or of bytes how many. */
    uint64_t value() const
    {
        return value_;
    }
    const uint8_t *bytes() const
    {
        return bytes_;
    }
    /** The message that these bytes are. */
    Fields message() const
    {
        return {bytes_, bytes_ == nullptr ? 0 : static_cast<size_t>(value_)};
    }
    /** The numbers that these bytes are. false: they are none. */
    bool numbers(std::vector<uint64_t> *out) const
    {
        Fields packed = message();
        uint64_t value = 0;

        while (packed.at_ != packed.end_) {
            if (!packed.number(&value)) {
                return false;
            }
            out->push_back(value);
        }
        return bytes_ != nullptr;
    }
    /** The field as it is stored. */
    const uint8_t *begin() const
    {
        return begin_;
    }
    size_t size() const
    {
        return static_cast<size_t>(at_ - begin_);
    }

  private:
    bool skip(uint64_t size)
    {
        is_whole_ = size <= static_cast<uint64_t>(end_ - at_);
        at_ += is_whole_ ? size : 0;
        return is_whole_;
    }
    bool number(uint64_t *out)
    {
        *out = 0;
        for (unsigned shift = 0; shift < 64 && at_ < end_; shift += 7) {
            const uint8_t byte = *at_++;

            *out |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                return true;
            }
        }
        is_whole_ = false;
        return false;
    }

    const uint8_t *begin_ = nullptr; // of the field
    const uint8_t *at_;
    const uint8_t *end_;
    bool is_whole_ = true;
    uint64_t field_ = 0;
    uint64_t value_ = 0;
    const uint8_t *bytes_ = nullptr;
};

} // namespace columnar

#endif
