#include "columnar/orc_zone.hh"

#include <arrow/compute/api.h>
#include <arrow/scalar.h>
#include <arrow/util/compression.h>

#include <memory>
#include <utility>
#include <vector>

#include "columnar/fields.hh"
#include "columnar/orc_tail.hh"

namespace columnar
{

namespace
{

constexpr uint64_t kFooterBytesMax = 16 << 20; // of a stripe, far more than columns have names for
constexpr size_t kHeaderBytes = 3;             // of a chunk

/** What the tail says of how stripes are stored. */
struct Tail {
    uint64_t codec = 0;
    uint64_t chunk_bytes = 256 << 10;
    std::vector<std::pair<uint64_t, uint64_t>> footers; // of stripes: where and how long
};

std::pair<uint64_t, uint64_t>
footer_of(Fields stripe)
{
    enum { OFFSET = 1, INDEX_LENGTH = 2, DATA_LENGTH = 3, FOOTER_LENGTH = 4 };
    uint64_t at = 0;
    uint64_t size = 0;

    while (stripe.next()) {
        if (stripe.field() >= OFFSET && stripe.field() <= DATA_LENGTH) {
            at += stripe.value();
        } else if (stripe.field() == FOOTER_LENGTH) {
            size = stripe.value();
        }
    }
    return {at, size};
}

Tail
parse_tail(const std::string &text)
{
    enum { POSTSCRIPT = 1, FOOTER = 2, STRIPES = 3, CODEC = 2, CHUNK_BYTES = 3 };
    Fields fields(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    Tail tail;

    while (fields.next()) {
        if (fields.bytes() == nullptr) {
            continue;
        }
        Fields part(fields.bytes(), fields.value());

        while (part.next()) {
            if (fields.field() == POSTSCRIPT && part.field() == CODEC) {
                tail.codec = part.value();
            } else if (fields.field() == POSTSCRIPT && part.field() == CHUNK_BYTES) {
                tail.chunk_bytes = part.value();
            } else if (fields.field() == FOOTER && part.field() == STRIPES &&
                       part.bytes() != nullptr) {
                tail.footers.push_back(footer_of(Fields(part.bytes(), part.value())));
            }
        }
    }
    return tail;
}

arrow::Result<std::unique_ptr<arrow::util::Codec>>
codec_of(uint64_t number)
{
    enum { ZLIB = 1, SNAPPY = 2, LZ4 = 4, ZSTD = 5 };

    switch (number) {
    case ZLIB: {
        arrow::util::GZipCodecOptions options;

        options.gzip_format = arrow::util::GZipFormat::DEFLATE;
        return arrow::util::Codec::Create(arrow::Compression::GZIP, options);
    }
    case SNAPPY:
        return arrow::util::Codec::Create(arrow::Compression::SNAPPY);
    case LZ4:
        return arrow::util::Codec::Create(arrow::Compression::LZ4);
    case ZSTD:
        return arrow::util::Codec::Create(arrow::Compression::ZSTD);
    default:
        return arrow::Status::NotImplemented("ORC of codec ", number);
    }
}

/** How many bytes a chunk holds. Arrow decodes zstd and zlib at once only where that is known. */
arrow::Result<int64_t>
decode_chunk(arrow::util::Codec &codec, const uint8_t *stored, int64_t size, uint8_t *raw,
             int64_t room)
{
    if (codec.compression_type() != arrow::Compression::ZSTD &&
        codec.compression_type() != arrow::Compression::GZIP) {
        return codec.Decompress(size, stored, room, raw);
    }
    ARROW_ASSIGN_OR_RAISE(const auto decoder, codec.MakeDecompressor());
    ARROW_ASSIGN_OR_RAISE(const auto done, decoder->Decompress(size, stored, room, raw));
    return done.bytes_written;
}

/** What stored chunks, one behind the other, hold. */
arrow::Result<std::string>
decode(const Tail &tail, const std::string &stored)
{
    std::unique_ptr<arrow::util::Codec> codec;
    std::string raw;
    size_t at = 0;

    if (tail.codec == 0) {
        return stored;
    }
    ARROW_ASSIGN_OR_RAISE(codec, codec_of(tail.codec));
    while (stored.size() - at >= kHeaderBytes) {
        const auto *bytes = reinterpret_cast<const uint8_t *>(stored.data()) + at;
        const uint32_t header =
            bytes[0] | static_cast<uint32_t>(bytes[1]) << 8 | static_cast<uint32_t>(bytes[2]) << 16;
        const size_t size = header >> 1;
        const size_t begin = raw.size();

        at += kHeaderBytes;
        if (size > stored.size() - at || begin > kFooterBytesMax) {
            break;
        }
        if ((header & 1) != 0) {
            raw.append(stored, at, size);
        } else {
            raw.resize(begin + tail.chunk_bytes);
            ARROW_ASSIGN_OR_RAISE(const int64_t got,
                                  decode_chunk(*codec, bytes + kHeaderBytes,
                                               static_cast<int64_t>(size),
                                               reinterpret_cast<uint8_t *>(raw.data()) + begin,
                                               static_cast<int64_t>(tail.chunk_bytes)));
            raw.resize(begin + static_cast<size_t>(got));
        }
        at += size;
    }
    if (at != stored.size()) {
        return arrow::Status::Invalid("the footer of a stripe is damaged");
    }
    return raw;
}

arrow::Result<std::string>
zone_of_stripe(const Tail &tail, const std::pair<uint64_t, uint64_t> &place, Source &source)
{
    enum { ZONE = 3 };
    std::string stored;
    std::string zone;

    if (place.second > kFooterBytesMax || place.second > source.size() ||
        place.first > source.size() - place.second || tail.chunk_bytes > kChunkBytesMax) {
        return arrow::Status::Invalid("the footer of a stripe lies outside of the file");
    }
    stored.resize(place.second);
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          source.ReadAt(static_cast<int64_t>(place.first),
                                        static_cast<int64_t>(place.second), stored.data()));
    stored.resize(static_cast<size_t>(got));
    ARROW_ASSIGN_OR_RAISE(const std::string raw, decode(tail, stored));
    Fields footer(reinterpret_cast<const uint8_t *>(raw.data()), raw.size());

    while (footer.next()) {
        if (footer.field() == ZONE && footer.bytes() != nullptr) {
            zone.assign(reinterpret_cast<const char *>(footer.bytes()), footer.value());
        }
    }
    return zone;
}

bool
is_utc(const std::string &zone)
{
    return zone.empty() || zone == "UTC" || zone == "GMT" || zone == "Etc/UTC";
}

} // namespace

arrow::Result<int64_t>
zone_offset_of(const std::string &tail, Source &source)
{
    const Tail parsed = parse_tail(tail);
    std::string zone;

    for (size_t i = 0; i < parsed.footers.size(); i++) {
        ARROW_ASSIGN_OR_RAISE(const std::string next,
                              zone_of_stripe(parsed, parsed.footers[i], source));
        if (i > 0 && next != zone) {
            return arrow::Status::NotImplemented("times near 1970 in stripes of the time zones ",
                                                 zone, " and ", next);
        }
        zone = next;
    }
    if (is_utc(zone)) {
        return 0;
    }
    const auto local = arrow::MakeScalar(arrow::timestamp(arrow::TimeUnit::SECOND), int64_t(0));
    const arrow::compute::AssumeTimezoneOptions options(
        zone, arrow::compute::AssumeTimezoneOptions::AMBIGUOUS_EARLIEST,
        arrow::compute::AssumeTimezoneOptions::NONEXISTENT_EARLIEST);

    ARROW_ASSIGN_OR_RAISE(const auto moment, local);
    const auto instant = arrow::compute::CallFunction("assume_timezone", {moment}, &options);

    if (!instant.ok()) {
        return arrow::Status::NotImplemented("times near 1970 of the time zone ", zone, ": ",
                                             instant.status().message());
    }
    return -instant->scalar_as<arrow::TimestampScalar>().value;
}

} // namespace columnar
