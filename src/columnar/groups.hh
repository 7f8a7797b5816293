// A Parquet file of row groups that are held in memory until they end. What Arrow's own writer
// does, but that pages of columns with the same values are made once.
#ifndef SINTER_COLUMNAR_GROUPS_HH
#define SINTER_COLUMNAR_GROUPS_HH

#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <parquet/file_writer.h>
#include <parquet/page_index.h>

#include <memory>
#include <vector>

#include "columnar/pages.hh"

namespace columnar
{

/** Of each leaf, the one whose values it has too; its own number: none before it. */
using Twins = std::vector<int>;

/** Leaves that a key's column and its table's column are, and that can be the same bytes. */
Twins
key_twins(const parquet::SchemaDescriptor &words, const parquet::WriterProperties &properties);

/** Does each column of these rows have the values of its twin? `twins` counts leaves. */
bool
has_twins(const arrow::RecordBatch &rows, const parquet::SchemaDescriptor &words,
          const Twins &twins);

/** The inside of a file's writer. */
class GroupFile final : public parquet::ParquetFileWriter::Contents
{
  public:
    GroupFile(std::shared_ptr<arrow::io::OutputStream> file,
              std::shared_ptr<parquet::schema::GroupNode> root,
              std::shared_ptr<parquet::WriterProperties> properties);

    void Close() override;
    parquet::RowGroupWriter *AppendRowGroup() override;
    parquet::RowGroupWriter *AppendBufferedRowGroup() override;
    int64_t num_rows() const override
    {
        return row_count_;
    }
    int num_columns() const override
    {
        return schema_.num_columns();
    }
    int num_row_groups() const override
    {
        return group_count_;
    }
    const std::shared_ptr<parquet::WriterProperties> &properties() const override
    {
        return properties_;
    }
    void AddKeyValueMetadata(const std::shared_ptr<const arrow::KeyValueMetadata> &pairs) override
    {
        key_value_metadata_ = pairs;
    }

    /** Of row groups that begin from now on, each column is written for itself. */
    void forget_twins();
    const Twins &twins() const
    {
        return twins_;
    }
    /** Encoded bytes of the row group in work, which lie in memory; twins' are counted, too. */
    int64_t held_bytes() const;

  private:
    void end_group();

    const std::shared_ptr<arrow::io::OutputStream> file_;
    const std::shared_ptr<parquet::WriterProperties> properties_;
    std::unique_ptr<parquet::FileMetaDataBuilder> footer_;
    std::unique_ptr<parquet::PageIndexBuilder> indexes_;
    QuickZstd zstd_;
    std::unique_ptr<parquet::RowGroupWriter> group_; // in work
    Twins twins_;
    int64_t row_count_ = 0; // of row groups that ended
    int group_count_ = 0;
    bool is_open_ = true;
};

} // namespace columnar

#endif
