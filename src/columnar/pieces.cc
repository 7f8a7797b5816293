#include "columnar/pieces.hh"

#include <algorithm>
#include <cstring>
#include <utility>

namespace columnar
{

arrow::Status
Pieces::append(const void *data, uint64_t size)
{
    constexpr uint64_t kParts = 4; // a piece is no larger than one of what there is
    constexpr uint64_t kLeast = 4 << 10;
    constexpr uint64_t kMost = 1 << 20;
    const auto *bytes = static_cast<const uint8_t *>(data);

    while (size > 0) {
        if (room_ == 0) {
            const uint64_t room = std::clamp(size_ / kParts, kLeast, kMost);

            pieces_.reserve(pieces_.size() + 1);
            ARROW_ASSIGN_OR_RAISE(auto buffer,
                                  arrow::AllocateBuffer(static_cast<int64_t>(room), pool_));
            pieces_.push_back({size_, std::move(buffer)});
            room_ = room;
        }
        const Piece &last = pieces_.back();
        const uint64_t step = std::min(size, room_);

        std::memcpy(last.buffer->mutable_data() + (size_ - last.begin), bytes, step);
        bytes += step;
        size -= step;
        size_ += step;
        room_ -= step;
    }
    return arrow::Status::OK();
}

template <typename Visit>
arrow::Status
Pieces::visit(uint64_t begin, uint64_t size, Visit &&visit) const
{
    if (begin > size_ || size > size_ - begin) {
        return arrow::Status::Invalid("a part of a stripe lies outside of it");
    }
    auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), begin,
                                  [](uint64_t at, const Piece &one) { return at < one.begin; });

    while (size > 0) { // from the last piece that doesn't begin behind `begin`
        const Piece &one = *(piece - 1);
        const uint64_t skipped = begin - one.begin;
        const uint64_t step = std::min(size, static_cast<uint64_t>(one.buffer->size()) - skipped);

        ARROW_RETURN_NOT_OK(visit(one.buffer->data() + skipped, step));
        begin += step;
        size -= step;
        piece++;
    }
    return arrow::Status::OK();
}

arrow::Status
Pieces::copy(uint64_t begin, uint64_t size, void *out) const
{
    auto *target = static_cast<uint8_t *>(out);

    return visit(begin, size, [&](const uint8_t *data, uint64_t step) {
        std::memcpy(target, data, step);
        target += step;
        return arrow::Status::OK();
    });
}

arrow::Status
Pieces::write(uint64_t begin, uint64_t size, arrow::io::OutputStream *to) const
{
    return visit(begin, size, [to](const uint8_t *data, uint64_t step) {
        return to->Write(data, static_cast<int64_t>(step));
    });
}

void
Pieces::clear()
{
    pieces_.clear();
    size_ = 0;
    room_ = 0;
}

} // namespace columnar
