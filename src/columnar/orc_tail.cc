#include "columnar/orc_tail.hh"

#include <arrow/result.h>

#include <cstring>

#include "columnar/fields.hh"
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

std::vector<Span>
spans_of(const std::string &tail)
{
    enum { FOOTER = 2, COLUMN_STATISTICS = 7 };
    std::vector<Span> spans;
    Fields fields(reinterpret_cast<const uint8_t *>(tail.data()), tail.size());

    while (fields.next()) {
        if (fields.field() == FOOTER && fields.bytes() != nullptr) {
            Fields footer(fields.bytes(), fields.value());

            while (footer.next()) {
                if (footer.field() == COLUMN_STATISTICS && footer.bytes() != nullptr) {
                    spans.push_back(span_of(Fields(footer.bytes(), footer.value())));
                }
            }
        }
    }
    return spans;
}

} // namespace columnar
