// Messages of protocol buffers, written field by field.
#ifndef SINTER_COLUMNAR_MESSAGE_HH
#define SINTER_COLUMNAR_MESSAGE_HH

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/fields.hh"

namespace columnar
{

/** Fields of a protocol buffer message as they are added. */
class Message
{
  public:
    void number(uint64_t field, uint64_t value)
    {
        varint(field << 3);
        varint(value);
    }
    void bytes(uint64_t field, const std::string &value)
    {
        varint(field << 3 | 2);
        varint(value.size());
        data_ += value;
    }
    void message(uint64_t field, const Message &value)
    {
        bytes(field, value.data_);
    }
    /** Numbers as one field. */
    void numbers(uint64_t field, const std::vector<uint64_t> &values)
    {
        Message packed;

        for (const uint64_t value : values) {
            packed.varint(value);
        }
        message(field, packed);
    }
    /** The field that `fields` is at, as it is. */
    void copy(const Fields &fields)
    {
        data_.append(reinterpret_cast<const char *>(fields.begin()), fields.size());
    }
    const std::string &data() const
    {
        return data_;
    }

  private:
    void varint(uint64_t value)
    {
        for (; value > 0x7f; value >>= 7) {
            data_ += static_cast<char>(value | 0x80);
        }
        data_ += static_cast<char>(value);
    }

    std::string data_;
};

/** The fields of a message. */
inline Fields
fields_of(const std::string &message)
{
    return {reinterpret_cast<const uint8_t *>(message.data()), message.size()};
}

} // namespace columnar

#endif
