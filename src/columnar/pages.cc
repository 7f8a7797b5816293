#include "columnar/pages.hh"

#include <arrow/util/config.h>
#include <parquet/column_page.h>
#include <parquet/exception.h>
#include <parquet/statistics.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace columnar
{

namespace
{

constexpr int64_t kBlockBytesMin = 4 << 10;
constexpr int64_t kBlockBytesMax = 1 << 20;
constexpr int kSmallHashLog = 12;
constexpr int64_t kTriedPages = 32; // of so many, one is encoded both ways
constexpr size_t kLossPart = 200;   // a table may cost half a percent of the size

void
check(const arrow::Status &status)
{
    PARQUET_THROW_NOT_OK(status);
}

/** Does zstd's level 1 encode the column's pages? */
bool
is_quick(const parquet::ColumnDescriptor &words, const parquet::WriterProperties &properties)
{
    return properties.compression(words.path()) == parquet::Compression::ZSTD &&
           properties.compression_level(words.path()) == 1;
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

QuickZstd::~QuickZstd()
{
    (void)ZSTD_freeCCtx(context_);
}

/** @return bytes, at the beginning of `out` */
size_t
QuickZstd::encode_with(int hash_log, const arrow::Buffer &raw, arrow::ResizableBuffer *out)
{
    size_t code = ZSTD_CCtx_setParameter(context_, ZSTD_c_hashLog, hash_log);

    if (!ZSTD_isError(code)) {
        code = ZSTD_compress2(context_, out->mutable_data(), static_cast<size_t>(out->size()),
                              raw.data(), static_cast<size_t>(raw.size()));
    }
    if (ZSTD_isError(code)) {
        throw parquet::ParquetException(std::string("zstd: ") + ZSTD_getErrorName(code));
    }
    return code;
}

void
QuickZstd::encode(int column, const arrow::Buffer &raw, arrow::ResizableBuffer *out)
{
    Column &own = columns_[static_cast<size_t>(column)];
    const bool is_tried = own.page_count++ % kTriedPages == 1; // one page isn't worth it
    const auto room = static_cast<int64_t>(ZSTD_compressBound(static_cast<size_t>(raw.size())));
    size_t size = 0;

    if (context_ == nullptr) {
        context_ = ZSTD_createCCtx();
        if (context_ == nullptr) {
            throw std::bad_alloc();
        }
        (void)ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
    }
    check(out->Resize(room, false));
    if (is_tried) {
        const size_t small = encode_with(kSmallHashLog, raw, out);

        size = encode_with(0, raw, out);
        own.is_small = small <= size + size / kLossPart;
    } else {
        size = encode_with(own.is_small ? kSmallHashLog : 0, raw, out);
    }
    check(out->Resize(static_cast<int64_t>(size), false));
}

Pages::Pages(const ChunkWords &words, const parquet::WriterProperties &properties,
             arrow::io::OutputStream *file, QuickZstd *zstd, int column)
    : words_(words), file_(file),
      zstd_(is_quick(*words.builder->descr(), properties) ? zstd : nullptr), column_(column),
      blocks_(std::make_shared<Blocks>(properties.memory_pool()))
{
    const auto &path = words.builder->descr()->path();
    const auto &options = properties.column_properties(path).codec_options();

    pager_ = PageWriter::Open(blocks_, properties.compression(path), words.builder, -1, -1,
                              properties.memory_pool(), false, nullptr, nullptr,
                              properties.page_checksum_enabled(), words.columns, words.offsets,
                              options == nullptr ? parquet::CodecOptions() : *options);
}

void
Pages::Compress(const arrow::Buffer &from, arrow::ResizableBuffer *to)
{
    if (zstd_ == nullptr) {
        pager_->Compress(from, to);
    } else {
        zstd_->encode(column_, from, to);
    }
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
