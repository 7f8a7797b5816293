#include "columnar/orc_tail.hh"

#include <arrow/result.h>

#include <cstring>

#include "columnar/message.hh"
#include "columnar/orc_chunks.hh"

namespace columnar
{

namespace
{

constexpr uint64_t kMagicBytes = 3;

/** From the statistics of one type. Local and UTC times differ by less than a day. */
Span
span_of(Fields statistics)
{
    enum { TIMESTAMPS = 9, MIN = 1, MAX_UTC = 4 }; // minimum, maximum, and both again in UTC
    constexpr int64_t kDayMs = 86400000;
    constexpr int64_t kNanosMaxMs = INT64_MAX / 1000000 - kDayMs;
    Span span;
    bool has_any = false;

    while (statistics.next()) {
        if (statistics.field() != TIMESTAMPS || statistics.bytes() == nullptr) {
            continue;
        }
        Fields bounds(statistics.bytes(), statistics.value());

        while (bounds.next()) {
            const int64_t ms = signed_of(bounds.value());

            if (bounds.field() >= MIN && bounds.field() <= MAX_UTC) {
                span.min_ms = has_any && span.min_ms < ms ? span.min_ms : ms;
                span.max_ms = has_any && span.max_ms > ms ? span.max_ms : ms;
                has_any = true;
            }
        }
    }
    span.is_known = has_any;
    span.is_wide = has_any && (span.min_ms < -kNanosMaxMs || span.max_ms > kNanosMaxMs);
    return span;
}

/** Calls `visit` with the messages of one field of the footer. */
template <typename Visit>
void
visit_footer(const std::string &tail, uint64_t field, Visit &&visit)
{
    enum { FOOTER = 2 };

    for (Fields fields = fields_of(tail); fields.next();) {
        if (fields.field() != FOOTER) {
            continue;
        }
        for (Fields footer = fields.message(); footer.next();) {
            if (footer.field() == field && footer.bytes() != nullptr) {
                visit(footer.message());
            }
        }
    }
}

bool
is_good_type(Fields type)
{
    enum { KIND = 1, LENGTH_MAX = 4, PRECISION = 5, DECIMAL = 14, CHAR = 17 };
    constexpr uint64_t kPrecisionMax = 38;
    uint64_t kind = 0;
    uint64_t precision = 0;
    uint64_t length = 0;

    while (type.next()) {
        kind = type.field() == KIND ? type.value() : kind;
        precision = type.field() == PRECISION ? type.value() : precision;
        length = type.field() == LENGTH_MAX ? type.value() : length;
    }
    return (kind != DECIMAL || precision <= kPrecisionMax) && (kind != CHAR || length <= INT32_MAX);
}

} // namespace

arrow::Status
check_orc_tail(Source &source)
{
    enum { FOOTER_LENGTH = 1, CODEC = 2, CHUNK_BYTES = 3, VERSION = 4, METADATA_LENGTH = 5 };
    constexpr uint64_t kMagicField = 8000;
    uint8_t tail[256] = {0};
    const uint64_t size = source.size();
    const auto tail_size = static_cast<int64_t>(size < sizeof tail ? size : sizeof tail);
    uint64_t room = 0;
    uint64_t footer_bytes = 0;
    OrcChunks chunks;
    bool has_magic = false;

    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          source.ReadAt(static_cast<int64_t>(size) - tail_size, tail_size, tail));
    if (got < 1 || tail[got - 1] >= got) {
        return arrow::Status::Invalid("the file ends without a postscript");
    }
    const uint8_t script_size = tail[got - 1];
    Fields script(tail + got - 1 - script_size, script_size);

    room = size - 1 - script_size;
    room = room < kMagicBytes ? 0 : room - kMagicBytes;
    while (script.next()) {
        switch (script.field()) {
        case FOOTER_LENGTH:
        case METADATA_LENGTH:
            if (script.value() > room) {
                return arrow::Status::Invalid("the postscript tells of more than the file has");
            }
            room -= script.value();
            footer_bytes = script.field() == FOOTER_LENGTH ? script.value() : footer_bytes;
            break;
        case CODEC:
            chunks.codec = script.value();
            break;
        case CHUNK_BYTES:
            if (script.value() > kChunkBytesMax) {
                return arrow::Status::Invalid("the postscript tells of chunks of ", script.value(),
                                              " bytes");
            }
            chunks.chunk_bytes = script.value();
            break;
        case VERSION: // two numbers; of a later one the library tells on the terminal, and goes on
            if (script.bytes() != nullptr && script.value() == 2 &&
                (script.bytes()[0] != 0 || script.bytes()[1] > 12)) {
                return arrow::Status::NotImplemented("ORC of version ", int(script.bytes()[0]), ".",
                                                     int(script.bytes()[1]));
            }
            break;
        case kMagicField:
            has_magic = script.bytes() != nullptr && script.value() == kMagicBytes &&
                        std::memcmp(script.bytes(), "ORC", kMagicBytes) == 0;
            break;
        default:
            break;
        }
    }
    if (!script.is_whole() || !has_magic) {
        return arrow::Status::Invalid("the file's postscript is damaged");
    }
    return check_chunks(chunks, size - 1 - script_size - footer_bytes, footer_bytes, source);
}

arrow::Status
check_orc_types(const std::string &tail)
{
    enum { TYPES = 4 };
    bool is_good = true;

    visit_footer(tail, TYPES, [&](Fields type) { is_good = is_good && is_good_type(type); });
    return is_good ? arrow::Status::OK()
                   : arrow::Status::Invalid("the footer tells of a type that there isn't");
}

std::vector<Span>
spans_of(const std::string &tail)
{
    enum { COLUMN_STATISTICS = 7 };
    std::vector<Span> spans;

    visit_footer(tail, COLUMN_STATISTICS,
                 [&](Fields statistics) { spans.push_back(span_of(statistics)); });
    return spans;
}

} // namespace columnar
