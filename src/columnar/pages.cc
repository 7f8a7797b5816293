#include "columnar/pages.hh"

#include <arrow/util/config.h>
#include <parquet/column_page.h>
#include <parquet/exception.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <cstring>

namespace columnar
{

namespace
{

constexpr int64_t kBlockBytesMin = 4 << 10;
constexpr int64_t kBlockBytesMax = 1 << 20;

void
check(const arrow::Status &status)
{
    PARQUET_THROW_NOT_OK(status);
}

} // namespace

arrow::Status
Blocks::Write(const void *data, int64_t nbytes)
{
    const auto *from = static_cast<const uint8_t *>(data);

    while (nbytes > 0) {
        if (size_ == room_) {
            const int64_t more = std::clamp(room_, kBlockBytesMin, kBlockBytesMax);

            ARROW_ASSIGN_OR_RAISE(auto block, arrow::AllocateBuffer(more, pool_));
            blocks_.push_back(std::move(block));
            room_ += more;
        }
        arrow::Buffer &block = *blocks_.back();
        const int64_t count = std::min(nbytes, room_ - size_);

        std::memcpy(block.mutable_data() + (block.size() - (room_ - size_)), from,
                    static_cast<size_t>(count));
        from += count;
        nbytes -= count;
        size_ += count;
    }
    return arrow::Status::OK();
}

arrow::Status
Blocks::put(arrow::io::OutputStream &to) const
{
    int64_t left = size_;

    for (const auto &block : blocks_) {
        const int64_t count = std::min(left, block->size());

        ARROW_RETURN_NOT_OK(to.Write(block->data(), count));
        left -= count;
    }
    return arrow::Status::OK();
}

Pages::Pages(const ChunkWords &words, const parquet::WriterProperties &properties,
             arrow::io::OutputStream *file)
    : words_(words), file_(file), blocks_(std::make_shared<Blocks>(properties.memory_pool()))
{
    const auto &path = words.builder->descr()->path();
    const auto &options = properties.column_properties(path).codec_options();

    pager_ = PageWriter::Open(blocks_, properties.compression(path), words.builder, -1, -1,
                              properties.memory_pool(), false, nullptr, nullptr,
                              properties.page_checksum_enabled(), words.columns, words.offsets,
                              options == nullptr ? parquet::CodecOptions() : *options);
}

int64_t
Pages::WriteDictionaryPage(const parquet::DictionaryPage &page)
{
    int64_t bytes = 0;

    dictionary_at_ = *blocks_->Tell();
    bytes = pager_->WriteDictionaryPage(page);
    raw_bytes_ += bytes;
    dictionary_encodings_[page.encoding()]++;
    return bytes;
}

int64_t
Pages::WriteDataPage(const parquet::DataPage &page)
{
    const int64_t at = *blocks_->Tell();
    const int64_t bytes = pager_->WriteDataPage(page);
    const auto stored = static_cast<int32_t>(*blocks_->Tell() - at);
    const parquet::EncodedStatistics &known = page.statistics();

    data_at_ = data_at_ < 0 ? at : data_at_;
    raw_bytes_ += bytes;
    value_count_ += page.num_values();
    data_encodings_[page.encoding()]++;
    lacks_extremes_ = lacks_extremes_ ||
                      (!(known.has_min && known.has_max) && known.null_count < page.num_values());
    for (const ChunkWords &twin : twins_) {
#if ARROW_VERSION_MAJOR >= 19
        twin.columns->AddPage(known, page.size_statistics());
        twin.offsets->AddPage(at, stored, *page.first_row_index(),
                              page.size_statistics().unencoded_byte_array_data_bytes);
#else
        twin.columns->AddPage(known);
        twin.offsets->AddPage(at, stored, *page.first_row_index());
#endif
    }
    return bytes;
}

void
Pages::Close(bool has_dictionary, bool fallback)
{
    has_dictionary_ = has_dictionary;
    falls_back_ = fallback;
    put(words_);
}

/** Write the bytes, and say where they are. */
void
Pages::put(const ChunkWords &words) const
{
    PARQUET_ASSIGN_OR_THROW(const int64_t at, file_->Tell());

    words.builder->Finish(value_count_, dictionary_at_ < 0 ? 0 : at + dictionary_at_, -1,
                          at + std::max<int64_t>(data_at_, 0),
                          pager_->total_compressed_bytes_written(), raw_bytes_, has_dictionary_,
                          falls_back_, dictionary_encodings_, data_encodings_);
    words.columns->Finish();
    words.offsets->Finish(at);
    check(blocks_->put(*file_));
}

void
Pages::put_twin(const ChunkWords &words) const
{
    copy_statistics(words);
    put(words);
}

/** They can only be had the way a reader has them, who gets none with one extreme. */
void
Pages::copy_statistics(const ChunkWords &to) const
{
    const parquet::ApplicationVersion own("parquet-cpp-arrow version " ARROW_VERSION_STRING);
    const auto known =
        parquet::ColumnChunkMetaData::Make(words_.builder->contents(), words_.builder->descr(),
                                           parquet::default_reader_properties(), &own);

    if (known->is_stats_set()) {
        parquet::EncodedStatistics statistics = known->statistics()->Encode();

        if (lacks_extremes_) { // they are longer than statistics may be
            statistics.has_min = false;
            statistics.has_max = false;
        }
        statistics.set_is_signed(parquet::SortOrder::SIGNED == to.builder->descr()->sort_order());
        to.builder->SetStatistics(statistics);
    }
#if ARROW_VERSION_MAJOR >= 19
    if (known->size_statistics() != nullptr) {
        to.builder->SetSizeStatistics(*known->size_statistics());
    }
#endif
}

} // namespace columnar
