// The pages of a column chunk of Parquet, which wait in memory for the end of their row group.
#ifndef SINTER_COLUMNAR_PAGES_HH
#define SINTER_COLUMNAR_PAGES_HH

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <parquet/column_writer.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

struct ZSTD_CCtx_s;

namespace columnar
{

/** Bytes in blocks, which never move while more are added. */
class Blocks final : public arrow::io::OutputStream
{
  public:
    explicit Blocks(arrow::MemoryPool *pool) : pool_(pool)
    {
    }

    using arrow::io::OutputStream::Write;
    arrow::Status Write(const void *data, int64_t nbytes) override;
    arrow::Status Close() override
    {
        return arrow::Status::OK();
    }
    bool closed() const override
    {
        return false;
    }
    arrow::Result<int64_t> Tell() const override
    {
        return size_;
    }
    /** Write all of them into another stream. */
    arrow::Status put(arrow::io::OutputStream &to) const;

  private:
    arrow::MemoryPool *const pool_;
    std::vector<std::unique_ptr<arrow::Buffer>> blocks_;
    int64_t size_ = 0;
    int64_t room_ = 0; // of all blocks
};

/** zstd's level 1 for the pages of a file's columns. Its table of 16384 places for pages of a MiB
 *  doesn't fit the first cache; a quarter of them finds as much where values have little in common,
 *  in four fifths of the time. Which it is, some pages of each column tell. */
class QuickZstd
{
  public:
    explicit QuickZstd(int column_count) : columns_(static_cast<size_t>(column_count))
    {
    }
    QuickZstd(const QuickZstd &) = delete;
    QuickZstd &operator=(const QuickZstd &) = delete;
    ~QuickZstd();

    /** Encode a page of a column. */
    void encode(int column, const arrow::Buffer &raw, arrow::ResizableBuffer *out);

  private:
    struct Column {
        int64_t page_count = 0;
        bool is_small = false; // the table
    };

    size_t encode_with(int hash_log, const arrow::Buffer &raw, arrow::ResizableBuffer *out);

    ZSTD_CCtx_s *context_ = nullptr; // made for the first page
    std::vector<Column> columns_;
};

/** What is told of a column chunk. Borrowed. */
struct ChunkWords {
    parquet::ColumnChunkMetaDataBuilder *builder = nullptr;
    parquet::ColumnIndexBuilder *columns = nullptr;
    parquet::OffsetIndexBuilder *offsets = nullptr;
};

/** Pages of one column, and of others that have the same values (twins), whose chunks are the same
 *  bytes at other places of the file. */
class Pages final : public parquet::PageWriter
{
  public:
    /** `zstd` is for columns whose pages zstd's level 1 encodes; the others have Arrow's codec. */
    Pages(const ChunkWords &words, const parquet::WriterProperties &properties,
          arrow::io::OutputStream *file, QuickZstd *zstd, int column);

    /** Another column has the same pages; before the first of them. */
    void add_twin(const ChunkWords &words)
    {
        twins_.push_back(words);
    }
    /** Once the column's own chunk is written: write a twin's. */
    void put_twin(const ChunkWords &words) const;

    void Close(bool has_dictionary, bool fallback) override;
    int64_t WriteDataPage(const parquet::DataPage &page) override;
    int64_t WriteDictionaryPage(const parquet::DictionaryPage &page) override;
    int64_t total_compressed_bytes_written() const override
    {
        return pager_->total_compressed_bytes_written();
    }
    bool has_compressor() override
    {
        return pager_->has_compressor();
    }
    void Compress(const arrow::Buffer &from, arrow::ResizableBuffer *to) override;

  private:
    void put(const ChunkWords &words) const;
    void copy_statistics(const ChunkWords &to) const;

    const ChunkWords words_;
    std::vector<ChunkWords> twins_;
    arrow::io::OutputStream *const file_;
    QuickZstd *const zstd_; // NULL: Arrow's codec
    const int column_;
    std::shared_ptr<Blocks> blocks_;
    std::unique_ptr<parquet::PageWriter> pager_; // into `blocks_`
    std::map<parquet::Encoding::type, int32_t> dictionary_encodings_;
    std::map<parquet::Encoding::type, int32_t> data_encodings_;
    int64_t dictionary_at_ = -1; // in `blocks_`
    int64_t data_at_ = -1;
    int64_t value_count_ = 0;
    int64_t raw_bytes_ = 0;
    bool has_dictionary_ = false;
    bool falls_back_ = false;
    bool lacks_extremes_ = false; // of some page, which has values
};

} // namespace columnar

#endif
