#include "columnar/orc_stripes.hh"

#include <algorithm>

#include "columnar/cast.hh"
#include "columnar/fields.hh"

namespace columnar
{

OrcStripes::Stripe
OrcStripes::stripe_of(const uint8_t *bytes, uint64_t size)
{
    enum { OFFSET = 1, INDEX_LENGTH = 2, DATA_LENGTH = 3, FOOTER_LENGTH = 4 };
    Fields fields(bytes, size);
    Stripe stripe;

    while (fields.next()) {
        if (fields.field() == OFFSET) {
            stripe.offset = fields.value();
        }
        if (fields.field() >= OFFSET && fields.field() <= DATA_LENGTH) {
            stripe.footer_offset += fields.value();
        } else if (fields.field() == FOOTER_LENGTH) {
            stripe.footer_bytes = fields.value();
        }
    }
    return stripe;
}

OrcStripes::OrcStripes(const std::string &tail)
{
    enum { POSTSCRIPT = 1, FOOTER = 2, STRIPES = 3, CODEC = 2, CHUNK_BYTES = 3 };
    Fields fields(reinterpret_cast<const uint8_t *>(tail.data()), tail.size());

    while (fields.next()) {
        if (fields.bytes() == nullptr) {
            continue;
        }
        Fields part(fields.bytes(), fields.value());

        while (part.next()) {
            if (fields.field() == POSTSCRIPT && part.field() == CODEC) {
                chunks_.codec = part.value();
            } else if (fields.field() == POSTSCRIPT && part.field() == CHUNK_BYTES) {
                chunks_.chunk_bytes = part.value();
            } else if (fields.field() == FOOTER && part.field() == STRIPES &&
                       part.bytes() != nullptr) {
                stripes_.push_back(stripe_of(part.bytes(), part.value()));
            }
        }
    }
}

arrow::Result<std::string>
OrcStripes::footer(size_t stripe, Source &source) const
{
    const uint64_t size = stripes_[stripe].footer_bytes;
    const uint64_t offset = stripes_[stripe].footer_offset;
    std::string stored;

    if (size > kMessageBytesMax || size > source.size() || offset > source.size() - size ||
        chunks_.chunk_bytes > kChunkBytesMax) {
        return arrow::Status::Invalid("the footer of a stripe lies outside of the file");
    }
    ARROW_RETURN_NOT_OK(check_chunks(chunks_, offset, size, source));
    stored.resize(size);
    ARROW_ASSIGN_OR_RAISE(
        const int64_t got,
        source.ReadAt(static_cast<int64_t>(offset), static_cast<int64_t>(size), stored.data()));
    stored.resize(static_cast<size_t>(got));
    return decode_chunks(chunks_, stored, kMessageBytesMax);
}

arrow::Status
OrcStripes::check(size_t stripe, const std::vector<bool> &types, Source &source) const
{
    enum { STREAMS = 1, COLUMN = 2, LENGTH = 3 };

    if (chunks_.codec != ORC_ZSTD || stripe >= stripes_.size()) {
        return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const std::string raw, footer(stripe, source));
    Fields fields(reinterpret_cast<const uint8_t *>(raw.data()), raw.size());
    uint64_t at = stripes_[stripe].offset;

    while (fields.next()) {
        if (fields.field() != STREAMS || fields.bytes() == nullptr) {
            continue;
        }
        Fields stream(fields.bytes(), fields.value());
        uint64_t type = 0;
        uint64_t size = 0;

        while (stream.next()) {
            type = stream.field() == COLUMN ? stream.value() : type;
            size = stream.field() == LENGTH ? stream.value() : size;
        }
        if (type >= types.size() || types[type]) {
            ARROW_RETURN_NOT_OK(check_chunks(chunks_, at, size, source));
        }
        at += std::min(size, source.size());
    }
    return arrow::Status::OK();
}

std::vector<bool>
types_of(const arrow::Schema &schema, const std::vector<int> &columns)
{
    std::vector<bool> types = {true}; // the row itself

    for (int i = 0; i < schema.num_fields(); i++) {
        const bool is_wanted =
            columns.empty() || std::find(columns.begin(), columns.end(), i) != columns.end();

        types.insert(types.end(), number_behind(*schema.field(i)->type(), 0), is_wanted);
    }
    return types;
}

} // namespace columnar
