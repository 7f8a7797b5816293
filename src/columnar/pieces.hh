// Bytes in memory that are handed on later.
#ifndef SINTER_COLUMNAR_PIECES_HH
#define SINTER_COLUMNAR_PIECES_HH

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace columnar
{

/** A row of bytes that grows at its end, in pieces, so that nothing is copied when it does. */
class Pieces
{
  public:
    explicit Pieces(arrow::MemoryPool *pool) : pool_(pool)
    {
    }

    arrow::Status append(const void *data, uint64_t size);
    uint64_t size() const
    {
        return size_;
    }
    /** Copy bytes out. Invalid: there are not so many. */
    arrow::Status copy(uint64_t begin, uint64_t size, void *out) const;
    /** The same into a stream. */
    arrow::Status write(uint64_t begin, uint64_t size, arrow::io::OutputStream *to) const;
    /** Give all memory back. */
    void clear();

  private:
    struct Piece {
        uint64_t begin;
        std::unique_ptr<arrow::Buffer> buffer;
    };
    /** Visit the stretches of memory that bytes lie in. */
    template <typename Visit>
    arrow::Status visit(uint64_t begin, uint64_t size, Visit &&visit) const;

    arrow::MemoryPool *const pool_;
    std::vector<Piece> pieces_;
    uint64_t size_ = 0;
    uint64_t room_ = 0; // of the last piece
};

} // namespace columnar

#endif
