// Chunks, in which the parts of an ORC file are compressed.
#ifndef SINTER_COLUMNAR_ORC_CHUNKS_HH
#define SINTER_COLUMNAR_ORC_CHUNKS_HH

#include <arrow/result.h>
#include <arrow/util/compression.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "columnar/pieces.hh"
#include "columnar/session.hh"

namespace columnar
{

constexpr uint64_t kChunkBytesMax = 8 << 20;    // a chunk's size has 23 bits
constexpr uint64_t kMessageBytesMax = 16 << 20; // of a stripe's footer or an index, far more than
                                                // they have
constexpr uint64_t kEndBytesMax = INT32_MAX;    // of a file's end: it has the bounds of all texts

/** Codecs, by the format's numbers. */
enum OrcCodecNumber : uint64_t {
    ORC_NONE = 0,
    ORC_ZLIB = 1,
    ORC_SNAPPY = 2,
    ORC_LZ4 = 4,
    ORC_ZSTD = 5
};

/** How parts of a file are compressed. */
struct OrcChunks {
    uint64_t codec = ORC_NONE;
    uint64_t chunk_bytes = 256 << 10;
};

/** A codec, one chunk at a time. */
class OrcCodec
{
  public:
    arrow::Status open(const OrcChunks &chunks);
    /** @return how many bytes a compressed chunk gave */
    arrow::Result<uint64_t> decode(const uint8_t *stored, uint64_t size, uint8_t *raw,
                                   uint64_t room);
    /** Bytes that encode() needs room for. */
    uint64_t room_for(uint64_t size) const;
    /** Header and content. @return their size */
    arrow::Result<uint64_t> encode(const uint8_t *raw, uint64_t size, uint8_t *out);

  private:
    std::unique_ptr<arrow::util::Codec> codec_;
    std::shared_ptr<arrow::util::Decompressor> decoder_; // where codec_ can't tell an end
};

/** What stored chunks, one behind the other, hold. Invalid: they are damaged, or hold more than
 *  `most` bytes and a chunk. */
arrow::Result<std::string>
decode_chunks(const OrcChunks &chunks, const std::string &stored, uint64_t most);

/** Chunks that hold these bytes. */
arrow::Result<std::string>
encode_chunks(const OrcChunks &chunks, const std::string &raw);

/** Can all chunks of a part of the file be decoded? Those of zstd are tried, as the library sees to
 *  all others itself. */
arrow::Status
check_chunks(const OrcChunks &chunks, uint64_t offset, uint64_t size, Source &source);

/** What a stream in memory holds, from its first byte to its last. */
class OrcChunkReader
{
  public:
    /** `held` must outlive the reader. */
    OrcChunkReader(const OrcChunks &chunks, const Pieces &held, arrow::MemoryPool *pool)
        : chunks_(chunks), held_(held), pool_(pool)
    {
    }
    arrow::Status open(uint64_t begin, uint64_t size);

    /** Have at least so many bytes ahead, or all that there are. */
    arrow::Status fill(uint64_t wanted);
    const uint8_t *data() const
    {
        return window_->data() + at_;
    }
    uint64_t size() const
    {
        return end_ - at_;
    }
    void skip(uint64_t bytes)
    {
        at_ += bytes;
    }
    /** Bytes that were skipped. */
    uint64_t offset() const
    {
        return raw_begin_ + at_;
    }
    /** The offset that a place in the index means: where its chunk begins, and an offset in that.
     *  UINT64_MAX: in no chunk that was seen yet. */
    uint64_t offset_of(uint64_t chunk, uint64_t offset) const;

  private:
    struct Chunk {
        uint64_t stored;
        uint64_t raw;
    };
    arrow::Status read_chunk();
    arrow::Status make_room(uint64_t bytes);

    const OrcChunks chunks_;
    const Pieces &held_;
    arrow::MemoryPool *const pool_;
    OrcCodec codec_;
    uint64_t begin_ = 0;  // of the stream
    uint64_t stored_ = 0; // of it was read
    uint64_t size_ = 0;   // of it
    std::vector<Chunk> seen_;
    std::unique_ptr<arrow::ResizableBuffer> content_; // of a chunk, compressed
    std::unique_ptr<arrow::ResizableBuffer> window_;
    uint64_t raw_begin_ = 0; // of the window, in the stream
    uint64_t at_ = 0;        // in the window
    uint64_t end_ = 0;
};

/** A stream that is written into memory. */
class OrcChunkWriter
{
  public:
    OrcChunkWriter(const OrcChunks &chunks, arrow::MemoryPool *pool)
        : chunks_(chunks), pool_(pool), stored_(pool)
    {
    }
    arrow::Status open();
    arrow::Status put(const uint8_t *data, uint64_t size);
    /** Write what is left. */
    arrow::Status finish();
    /** A place as the index has it, of what is put next. */
    void place(uint64_t *chunk, uint64_t *offset) const
    {
        *chunk = stored_.size();
        *offset = size_;
    }
    /** What was written; the writer's own memory can go. */
    Pieces take()
    {
        return std::move(stored_);
    }

  private:
    const OrcChunks chunks_;
    arrow::MemoryPool *const pool_;
    OrcCodec codec_;
    std::unique_ptr<arrow::Buffer> raw_; // of the chunk
    std::unique_ptr<arrow::Buffer> content_;
    uint64_t size_ = 0; // of what is in raw_
    Pieces stored_;
};

} // namespace columnar

#endif
