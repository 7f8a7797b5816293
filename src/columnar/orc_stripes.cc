#include "columnar/orc_stripes.hh"

#include <arrow/util/compression.h>

#include <algorithm>
#include <memory>

#include "columnar/fields.hh"
#include "columnar/orc_tail.hh"

namespace columnar
{

namespace
{

constexpr uint64_t kFooterBytesMax = 16 << 20; // of a stripe, far more than columns have names for
constexpr size_t kHeaderBytes = 3;             // of a chunk
constexpr uint64_t kZstd = 5;                  // as a codec of ORC

struct ChunkHeader {
    uint64_t size;
    bool is_raw;
};

ChunkHeader
header_of(const uint8_t *bytes)
{
    const uint32_t header =
        bytes[0] | static_cast<uint32_t>(bytes[1]) << 8 | static_cast<uint32_t>(bytes[2]) << 16;

    return {header >> 1, (header & 1) != 0};
}

arrow::Result<std::unique_ptr<arrow::util::Codec>>
codec_of(uint64_t number)
{
    enum { ZLIB = 1, SNAPPY = 2, LZ4 = 4, ZSTD = kZstd };

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
decode(const OrcChunks &chunks, const std::string &stored)
{
    std::unique_ptr<arrow::util::Codec> codec;
    std::string raw;
    size_t at = 0;

    if (chunks.codec == 0) {
        return stored;
    }
    ARROW_ASSIGN_OR_RAISE(codec, codec_of(chunks.codec));
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
            raw.resize(begin + chunks.chunk_bytes);
            ARROW_ASSIGN_OR_RAISE(const int64_t got,
                                  decode_chunk(*codec, bytes + kHeaderBytes,
                                               static_cast<int64_t>(size),
                                               reinterpret_cast<uint8_t *>(raw.data()) + begin,
                                               static_cast<int64_t>(chunks.chunk_bytes)));
            raw.resize(begin + static_cast<size_t>(got));
        }
        at += size;
    }
    if (at != stored.size()) {
        return arrow::Status::Invalid("the footer of a stripe is damaged");
    }
    return raw;
}

/** Decodes chunks of zstd, and keeps nothing of them. */
class ChunkTrial
{
  public:
    arrow::Status open()
    {
        ARROW_ASSIGN_OR_RAISE(codec_, codec_of(kZstd));
        ARROW_ASSIGN_OR_RAISE(decoder_, codec_->MakeDecompressor());
        stored_.resize(kPieceBytes);
        raw_.resize(kPieceBytes);
        return arrow::Status::OK();
    }

    arrow::Status try_chunk(Source &source, uint64_t offset, uint64_t size, uint64_t raw_bytes)
    {
        uint64_t done = 0;

        ARROW_RETURN_NOT_OK(decoder_->Reset());
        while (size > 0) {
            const uint64_t piece = std::min(size, kPieceBytes);
            ARROW_ASSIGN_OR_RAISE(const int64_t got,
                                  source.ReadAt(static_cast<int64_t>(offset),
                                                static_cast<int64_t>(piece), stored_.data()));

            if (static_cast<uint64_t>(got) != piece || !decode_piece(piece, raw_bytes, &done)) {
                return damaged(offset);
            }
            offset += piece;
            size -= piece;
        }
        return decoder_->IsFinished() ? arrow::Status::OK() : damaged(offset);
    }

    static arrow::Status damaged(uint64_t offset)
    {
        return arrow::Status::Invalid("a compressed chunk near byte ", offset, " is damaged");
    }

  private:
    static constexpr uint64_t kPieceBytes = 64 << 10;

    bool decode_piece(uint64_t piece, uint64_t raw_bytes, uint64_t *done)
    {
        uint64_t at = 0;
        bool has_more = false;

        while (at < piece || has_more) {
            const auto step =
                decoder_->Decompress(static_cast<int64_t>(piece - at), stored_.data() + at,
                                     static_cast<int64_t>(raw_.size()), raw_.data());

            if (!step.ok() || (step->bytes_read == 0 && step->bytes_written == 0)) {
                return step.ok() && at == piece;
            }
            at += static_cast<uint64_t>(step->bytes_read);
            *done += static_cast<uint64_t>(step->bytes_written);
            has_more = step->need_more_output;
            if (*done > raw_bytes || (decoder_->IsFinished() && at < piece)) {
                return false;
            }
        }
        return true;
    }

    std::unique_ptr<arrow::util::Codec> codec_;
    std::shared_ptr<arrow::util::Decompressor> decoder_;
    std::vector<uint8_t> stored_;
    std::vector<uint8_t> raw_;
};

int
type_count(const arrow::DataType &type)
{
    const bool is_map = type.id() == arrow::Type::MAP; // its entries are no type of ORC's
    int count = is_map ? 0 : 1;

    for (const auto &field : type.fields()) {
        count += type_count(*field->type());
    }
    return count;
}

} // namespace

arrow::Status
check_chunks(const OrcChunks &chunks, uint64_t offset, uint64_t size, Source &source)
{
    ChunkTrial trial;

    if (offset > source.size() || size > source.size() - offset) {
        return arrow::Status::Invalid("a part of the file lies outside of it");
    }
    if (chunks.codec != kZstd || size == 0) {
        return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(trial.open());
    while (size > 0) {
        uint8_t bytes[kHeaderBytes] = {0};
        const auto room = static_cast<int64_t>(std::min<uint64_t>(size, kHeaderBytes));
        ARROW_ASSIGN_OR_RAISE(const int64_t got,
                              source.ReadAt(static_cast<int64_t>(offset), room, bytes));
        const ChunkHeader header = header_of(bytes);

        if (got != static_cast<int64_t>(kHeaderBytes) || header.size > size - kHeaderBytes) {
            return ChunkTrial::damaged(offset);
        }
        if (!header.is_raw) {
            ARROW_RETURN_NOT_OK(
                trial.try_chunk(source, offset + kHeaderBytes, header.size, chunks.chunk_bytes));
        }
        offset += kHeaderBytes + header.size;
        size -= kHeaderBytes + header.size;
    }
    return arrow::Status::OK();
}

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

    if (size > kFooterBytesMax || size > source.size() || offset > source.size() - size ||
        chunks_.chunk_bytes > kChunkBytesMax) {
        return arrow::Status::Invalid("the footer of a stripe lies outside of the file");
    }
    ARROW_RETURN_NOT_OK(check_chunks(chunks_, offset, size, source));
    stored.resize(size);
    ARROW_ASSIGN_OR_RAISE(
        const int64_t got,
        source.ReadAt(static_cast<int64_t>(offset), static_cast<int64_t>(size), stored.data()));
    stored.resize(static_cast<size_t>(got));
    return decode(chunks_, stored);
}

arrow::Status
OrcStripes::check(size_t stripe, const std::vector<bool> &types, Source &source) const
{
    enum { STREAMS = 1, COLUMN = 2, LENGTH = 3 };

    if (chunks_.codec != kZstd || stripe >= stripes_.size()) {
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

        types.insert(types.end(), static_cast<size_t>(type_count(*schema.field(i)->type())),
                     is_wanted);
    }
    return types;
}

} // namespace columnar
