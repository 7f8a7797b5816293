#include "columnar/orc_chunks.hh"

#include <algorithm>
#include <cstring>
#include <utility>

namespace columnar
{

namespace
{

constexpr uint64_t kHeaderBytes = 3; // of a chunk

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

void
put_chunk_header(uint64_t size, bool is_raw, uint8_t *out)
{
    const uint64_t header = size << 1 | (is_raw ? 1 : 0);

    for (unsigned i = 0; i < kHeaderBytes; i++) {
        out[i] = static_cast<uint8_t>(header >> (8 * i));
    }
}

arrow::Result<std::unique_ptr<arrow::util::Codec>>
codec_of(uint64_t number)
{
    switch (number) {
    case ORC_ZLIB: {
        arrow::util::GZipCodecOptions options;

        options.gzip_format = arrow::util::GZipFormat::DEFLATE;
        return arrow::util::Codec::Create(arrow::Compression::GZIP, options);
    }
    case ORC_SNAPPY:
        return arrow::util::Codec::Create(arrow::Compression::SNAPPY);
    case ORC_LZ4:
        return arrow::util::Codec::Create(arrow::Compression::LZ4);
    case ORC_ZSTD:
        return arrow::util::Codec::Create(arrow::Compression::ZSTD);
    default:
        return arrow::Status::NotImplemented("ORC of codec ", number);
    }
}

/** Decodes chunks of zstd, and keeps nothing of them. */
class ChunkTrial
{
  public:
    arrow::Status open()
    {
        ARROW_ASSIGN_OR_RAISE(codec_, codec_of(ORC_ZSTD));
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

} // namespace

arrow::Status
OrcCodec::open(const OrcChunks &chunks)
{
    if (chunks.codec == ORC_NONE) {
        return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(codec_, codec_of(chunks.codec));
    if (chunks.codec == ORC_ZSTD || chunks.codec == ORC_ZLIB) {
        ARROW_ASSIGN_OR_RAISE(decoder_, codec_->MakeDecompressor());
    }
    return arrow::Status::OK();
}

/** Arrow decodes zstd and zlib at once only where it is known how many bytes a chunk holds. */
arrow::Result<uint64_t>
OrcCodec::decode(const uint8_t *stored, uint64_t size, uint8_t *raw, uint64_t room)
{
    const auto stored_size = static_cast<int64_t>(size);
    const auto raw_size = static_cast<int64_t>(room);
    int64_t got = 0;

    if (decoder_ == nullptr) {
        ARROW_ASSIGN_OR_RAISE(got, codec_->Decompress(stored_size, stored, raw_size, raw));
    } else {
        ARROW_RETURN_NOT_OK(decoder_->Reset());
        ARROW_ASSIGN_OR_RAISE(const auto done,
                              decoder_->Decompress(stored_size, stored, raw_size, raw));
        got = done.bytes_written;
    }
    return static_cast<uint64_t>(got);
}

uint64_t
OrcCodec::room_for(uint64_t size) const
{
    return codec_ == nullptr ? size
                             : kHeaderBytes + static_cast<uint64_t>(codec_->MaxCompressedLen(
                                                  static_cast<int64_t>(size), nullptr));
}

arrow::Result<uint64_t>
OrcCodec::encode(const uint8_t *raw, uint64_t size, uint8_t *out)
{
    const auto raw_size = static_cast<int64_t>(size);
    int64_t got = 0;

    if (codec_ == nullptr) {
        std::memcpy(out, raw, size);
        return size;
    }
    ARROW_ASSIGN_OR_RAISE(got,
                          codec_->Compress(raw_size, raw, codec_->MaxCompressedLen(raw_size, raw),
                                           out + kHeaderBytes));
    if (got >= raw_size) {
        std::memcpy(out + kHeaderBytes, raw, size);
        got = raw_size;
    }
    put_chunk_header(static_cast<uint64_t>(got), got == raw_size, out);
    return kHeaderBytes + static_cast<uint64_t>(got);
}

arrow::Result<std::string>
decode_chunks(const OrcChunks &chunks, const std::string &stored, uint64_t most)
{
    OrcCodec codec;
    std::string raw;
    size_t at = 0;

    if (chunks.codec == ORC_NONE) {
        return stored;
    }
    ARROW_RETURN_NOT_OK(codec.open(chunks));
    while (stored.size() - at >= kHeaderBytes) {
        const auto *bytes = reinterpret_cast<const uint8_t *>(stored.data()) + at;
        const ChunkHeader header = header_of(bytes);
        const size_t begin = raw.size();

        at += kHeaderBytes;
        if (header.size > stored.size() - at || begin > most) {
            break;
        }
        if (header.is_raw) {
            raw.append(stored, at, header.size);
        } else {
            raw.resize(begin + chunks.chunk_bytes);
            ARROW_ASSIGN_OR_RAISE(const uint64_t got,
                                  codec.decode(bytes + kHeaderBytes, header.size,
                                               reinterpret_cast<uint8_t *>(raw.data()) + begin,
                                               chunks.chunk_bytes));
            raw.resize(begin + got);
        }
        at += header.size;
    }
    if (at != stored.size()) {
        return arrow::Status::Invalid("a footer or an index is damaged");
    }
    return raw;
}

arrow::Result<std::string>
encode_chunks(const OrcChunks &chunks, const std::string &raw)
{
    OrcCodec codec;
    std::string stored;

    ARROW_RETURN_NOT_OK(codec.open(chunks));
    for (size_t at = 0; at < raw.size(); at += chunks.chunk_bytes) {
        const uint64_t size = std::min<uint64_t>(chunks.chunk_bytes, raw.size() - at);
        const size_t begin = stored.size();

        stored.resize(begin + codec.room_for(size));
        ARROW_ASSIGN_OR_RAISE(const uint64_t got,
                              codec.encode(reinterpret_cast<const uint8_t *>(raw.data()) + at, size,
                                           reinterpret_cast<uint8_t *>(stored.data()) + begin));
        stored.resize(begin + got);
    }
    return stored;
}

arrow::Status
check_chunks(const OrcChunks &chunks, uint64_t offset, uint64_t size, Source &source)
{
    ChunkTrial trial;

    if (offset > source.size() || size > source.size() - offset) {
        return arrow::Status::Invalid("a part of the file lies outside of it");
    }
    if (chunks.codec != ORC_ZSTD || size == 0) {
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

arrow::Status
OrcChunkReader::open(uint64_t begin, uint64_t size)
{
    begin_ = begin;
    size_ = size;
    ARROW_ASSIGN_OR_RAISE(content_, arrow::AllocateResizableBuffer(0, pool_));
    ARROW_ASSIGN_OR_RAISE(window_, arrow::AllocateResizableBuffer(0, pool_));
    return codec_.open(chunks_);
}

/** Make room for more bytes behind those that are ahead, which move to the front. */
arrow::Status
OrcChunkReader::make_room(uint64_t bytes)
{
    const uint64_t ahead = size();

    if (at_ > 0 && ahead > 0) {
        std::memmove(window_->mutable_data(), window_->data() + at_, ahead);
    }
    raw_begin_ += at_;
    at_ = 0;
    end_ = ahead;
    return static_cast<uint64_t>(window_->size()) >= ahead + bytes
               ? arrow::Status::OK()
               : window_->Resize(static_cast<int64_t>(ahead + bytes));
}

arrow::Status
OrcChunkReader::read_chunk()
{
    uint8_t bytes[kHeaderBytes] = {0};
    ChunkHeader header = {std::min(size_ - stored_, chunks_.chunk_bytes), true};

    ARROW_RETURN_NOT_OK(make_room(chunks_.chunk_bytes));
    if (chunks_.codec != ORC_NONE) {
        ARROW_RETURN_NOT_OK(held_.copy(begin_ + stored_, kHeaderBytes, bytes));
        header = header_of(bytes);
        seen_.push_back({stored_, raw_begin_ + end_});
        stored_ += kHeaderBytes;
    }
    if (stored_ > size_ || header.size > size_ - stored_ || header.size > chunks_.chunk_bytes) {
        return arrow::Status::Invalid("a chunk lies outside of its stream");
    }
    if (header.is_raw) {
        ARROW_RETURN_NOT_OK(
            held_.copy(begin_ + stored_, header.size, window_->mutable_data() + end_));
        end_ += header.size;
    } else {
        ARROW_RETURN_NOT_OK(content_->Resize(static_cast<int64_t>(header.size), false));
        ARROW_RETURN_NOT_OK(held_.copy(begin_ + stored_, header.size, content_->mutable_data()));
        ARROW_ASSIGN_OR_RAISE(const uint64_t got,
                              codec_.decode(content_->data(), header.size,
                                            window_->mutable_data() + end_, chunks_.chunk_bytes));
        end_ += got;
    }
    stored_ += header.size;
    return arrow::Status::OK();
}

arrow::Status
OrcChunkReader::fill(uint64_t wanted)
{
    while (size() < wanted && stored_ < size_) {
        ARROW_RETURN_NOT_OK(read_chunk());
    }
    return arrow::Status::OK();
}

uint64_t
OrcChunkReader::offset_of(uint64_t chunk, uint64_t offset) const
{
    if (chunks_.codec == ORC_NONE || (chunk == size_ && stored_ == size_)) {
        return (chunks_.codec == ORC_NONE ? chunk : raw_begin_ + end_) + offset;
    }
    const auto found =
        std::lower_bound(seen_.begin(), seen_.end(), chunk,
                         [](const Chunk &one, uint64_t at) { return one.stored < at; });

    return found == seen_.end() || found->stored != chunk ? UINT64_MAX : found->raw + offset;
}

arrow::Status
OrcChunkWriter::open()
{
    ARROW_RETURN_NOT_OK(codec_.open(chunks_));
    ARROW_ASSIGN_OR_RAISE(raw_,
                          arrow::AllocateBuffer(static_cast<int64_t>(chunks_.chunk_bytes), pool_));
    ARROW_ASSIGN_OR_RAISE(
        content_,
        arrow::AllocateBuffer(static_cast<int64_t>(codec_.room_for(chunks_.chunk_bytes)), pool_));
    return arrow::Status::OK();
}

arrow::Status
OrcChunkWriter::put(const uint8_t *data, uint64_t size)
{
    while (size > 0) {
        if (size_ == chunks_.chunk_bytes) { // not before: places at its end belong to it
            ARROW_RETURN_NOT_OK(finish());
        }
        const uint64_t step = std::min(size, chunks_.chunk_bytes - size_);

        std::memcpy(raw_->mutable_data() + size_, data, step);
        data += step;
        size -= step;
        size_ += step;
    }
    return arrow::Status::OK();
}

arrow::Status
OrcChunkWriter::finish()
{
    if (size_ > 0) {
        ARROW_ASSIGN_OR_RAISE(const uint64_t got,
                              codec_.encode(raw_->data(), size_, content_->mutable_data()));

        ARROW_RETURN_NOT_OK(stored_.append(content_->data(), got));
        size_ = 0;
    }
    return arrow::Status::OK();
}

} // namespace columnar
