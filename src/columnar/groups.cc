#include "columnar/groups.hh"

#include <arrow/array/data.h>
#include <arrow/type_traits.h>
#include <parquet/exception.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "columnar/int96.hh"

namespace columnar
{

namespace
{

constexpr char kKeyPrefix[] = "_KEY_"; // of a key's column, before the name that the table has

/** Stands for a column whose values are written by another. */
class TwinColumn final : public parquet::ColumnWriter
{
  public:
    TwinColumn(parquet::ColumnWriter *other, const parquet::ColumnDescriptor *words)
        : other_(other), words_(words)
    {
    }

    arrow::Status WriteArrow(const int16_t *, const int16_t *, int64_t, const arrow::Array &,
                             parquet::ArrowWriteContext *, bool) override
    {
        return arrow::Status::OK();
    }
    int64_t Close() override
    {
        return other_->total_bytes_written();
    }
    parquet::Type::type type() const override
    {
        return other_->type();
    }
    const parquet::ColumnDescriptor *descr() const override
    {
        return words_;
    }
    int64_t rows_written() const override
    {
        return other_->rows_written();
    }
    int64_t total_compressed_bytes() const override
    {
        return other_->total_compressed_bytes();
    }
    int64_t total_bytes_written() const override
    {
        return other_->total_bytes_written();
    }
    int64_t total_compressed_bytes_written() const override
    {
        return other_->total_compressed_bytes_written();
    }
    int64_t estimated_buffered_value_bytes() const override
    {
        return 0;
    }
    const parquet::WriterProperties *properties() override
    {
        return other_->properties();
    }
    void AddKeyValueMetadata(const std::shared_ptr<const arrow::KeyValueMetadata> &) override
    {
    }
    void ResetKeyValueMetadata() override
    {
    }

  private:
    parquet::ColumnWriter *const other_;
    const parquet::ColumnDescriptor *const words_;
};

/** What a row group is made with. Borrowed. */
struct GroupParts {
    parquet::RowGroupMetaDataBuilder *footer;
    parquet::PageIndexBuilder *indexes;
    arrow::io::OutputStream *file;
    const parquet::WriterProperties *properties;
    QuickZstd *zstd;
};

/** The columns of a row group. */
class GroupColumns final : public parquet::RowGroupWriter::Contents
{
  public:
    GroupColumns(const GroupParts &parts, const Twins &twins, int ordinal)
        : footer_(parts.footer),
          ordinal_(static_cast<int16_t>(ordinal <= INT16_MAX ? ordinal : -1)) // -1: none
    {
        for (int i = 0; i < footer_->num_columns(); i++) {
            const int twin = twins[static_cast<size_t>(i)];
            Leaf leaf;

            leaf.words = {footer_->NextColumnChunk(), parts.indexes->GetColumnIndexBuilder(i),
                          parts.indexes->GetOffsetIndexBuilder(i)};
            if (twin == i) {
                auto pages = std::make_unique<Pages>(leaf.words, *parts.properties, parts.file,
                                                     parts.zstd, i);

                leaf.pages = pages.get();
                leaf.writer = parquet::ColumnWriter::Make(leaf.words.builder, std::move(pages),
                                                          parts.properties);
                if (leaf.writer->type() == parquet::Type::INT96) {
                    leaf.own = with_own_int96(leaf.writer.get());
                }
            } else {
                const Leaf &other = leaves_[static_cast<size_t>(twin)];

                other.pages->add_twin(leaf.words);
                leaf.twin = other.pages;
                leaf.own =
                    std::make_unique<TwinColumn>(other.writer.get(), leaf.words.builder->descr());
            }
            leaves_.push_back(std::move(leaf));
        }
    }

    int num_columns() const override
    {
        return static_cast<int>(leaves_.size());
    }
    int64_t num_rows() const override
    {
        return leaves_.empty() ? 0 : leaves_[0].shown()->rows_written();
    }
    parquet::ColumnWriter *NextColumn() override
    {
        throw parquet::ParquetException("row groups are written row by row");
    }
    parquet::ColumnWriter *column(int i) override
    {
        return leaves_[static_cast<size_t>(i)].shown();
    }
    int current_column() const override
    {
        return footer_->current_column();
    }
    void Close() override
    {
        if (is_closed_) {
            return;
        }
        is_closed_ = true; // whatever fails
        for (const Leaf &leaf : leaves_) {
            bytes_ += leaf.shown()->Close();
            if (leaf.twin != nullptr) {
                leaf.twin->put_twin(leaf.words);
            }
        }
        footer_->set_num_rows(GroupColumns::num_rows());
        footer_->Finish(bytes_, ordinal_);
    }
    int64_t total_bytes_written() const override
    {
        return sum(&parquet::ColumnWriter::total_bytes_written);
    }
    int64_t total_compressed_bytes() const override
    {
        return sum(&parquet::ColumnWriter::total_compressed_bytes);
    }
    int64_t total_compressed_bytes_written() const override
    {
        return sum(&parquet::ColumnWriter::total_compressed_bytes_written);
    }
    bool buffered() const override
    {
        return true;
    }

  private:
    struct Leaf {
        ChunkWords words;
        Pages *pages = nullptr;                        // the writer's
        Pages *twin = nullptr;                         // that has its pages
        std::shared_ptr<parquet::ColumnWriter> writer; // NULL: a twin's
        std::unique_ptr<parquet::ColumnWriter> own;    // in front of it

        parquet::ColumnWriter *shown() const
        {
            return own != nullptr ? own.get() : writer.get();
        }
    };

    int64_t sum(int64_t (parquet::ColumnWriter::*what)() const) const
    {
        int64_t sum = 0;

        for (const Leaf &leaf : leaves_) {
            sum += (leaf.shown()->*what)();
        }
        return sum;
    }

    parquet::RowGroupMetaDataBuilder *const footer_;
    const int16_t ordinal_;
    std::vector<Leaf> leaves_;
    int64_t bytes_ = 0;
    bool is_closed_ = false;
};

/** Can the pages of one column stand for the other's? */
bool
is_alike(const parquet::ColumnDescriptor &one, const parquet::ColumnDescriptor &other,
         const parquet::WriterProperties &properties)
{
    return one.physical_type() == other.physical_type() &&
           one.type_length() == other.type_length() && one.sort_order() == other.sort_order() &&
           one.max_definition_level() == other.max_definition_level() &&
           one.max_repetition_level() == 0 && other.max_repetition_level() == 0 &&
           properties.dictionary_enabled(one.path()) == properties.dictionary_enabled(other.path());
}

bool
is_same_text(const arrow::ArrayData &one, const arrow::ArrayData &other)
{
    const auto *ends = one.GetValues<int32_t>(1);
    const auto *other_ends = other.GetValues<int32_t>(1);
    const int32_t size = ends[one.length] - ends[0];

    for (int64_t i = 1; i <= one.length; i++) {
        if (ends[i] - ends[0] != other_ends[i] - other_ends[0]) {
            return false;
        }
    }
    return size == 0 ||
           std::memcmp(one.buffers[2]->data() + ends[0], other.buffers[2]->data() + other_ends[0],
                       static_cast<size_t>(size)) == 0;
}

/** The same bytes? Values with NULLs among them, and booleans, count as others, unless they are
 *  one array. */
bool
is_same(const arrow::ArrayData &one, const arrow::ArrayData &other)
{
    if (one.buffers == other.buffers && one.offset == other.offset && one.length == other.length) {
        return true;
    }
    if (one.length != other.length || one.GetNullCount() != 0 || other.GetNullCount() != 0 ||
        one.type->id() != other.type->id()) {
        return false;
    }
    if (one.type->id() == arrow::Type::STRING || one.type->id() == arrow::Type::BINARY) {
        return one.length == 0 || is_same_text(one, other);
    }
    if (!arrow::is_fixed_width(one.type->id()) || one.type->id() == arrow::Type::BOOL) {
        return false;
    }
    const int64_t width = static_cast<const arrow::FixedWidthType &>(*one.type).bit_width() / 8;

    return one.length == 0 || std::memcmp(one.buffers[1]->data() + one.offset * width,
                                          other.buffers[1]->data() + other.offset * width,
                                          static_cast<size_t>(one.length * width)) == 0;
}

} // namespace

Twins
key_twins(const parquet::SchemaDescriptor &words, const parquet::WriterProperties &properties)
{
    Twins twins(static_cast<size_t>(words.num_columns()));
    std::unordered_map<std::string, int> leaves; // by name, of those that aren't within others

    std::iota(twins.begin(), twins.end(), 0);
    for (int i = 0; i < words.num_columns(); i++) {
        const parquet::schema::Node *column = words.GetColumnRoot(i);

        if (column->is_group()) {
            continue;
        }
        const auto key = leaves.find(kKeyPrefix + column->name());

        // A twin has no pages that a third could have.
        if (key != leaves.end() && twins[static_cast<size_t>(key->second)] == key->second &&
            is_alike(*words.Column(key->second), *words.Column(i), properties)) {
            twins[static_cast<size_t>(i)] = key->second;
        }
        leaves.emplace(column->name(), i);
    }
    return twins;
}

bool
has_twins(const arrow::RecordBatch &rows, const parquet::SchemaDescriptor &words,
          const Twins &twins)
{
    const auto column_of = [&](int leaf) -> const arrow::ArrayData & {
        return *rows.column_data(words.group_node()->FieldIndex(*words.GetColumnRoot(leaf)));
    };

    for (size_t i = 0; i < twins.size(); i++) {
        const auto leaf = static_cast<int>(i);

        if (twins[i] != leaf && !is_same(column_of(twins[i]), column_of(leaf))) {
            return false;
        }
    }
    return true;
}

GroupFile::GroupFile(std::shared_ptr<arrow::io::OutputStream> file,
                     std::shared_ptr<parquet::schema::GroupNode> root,
                     std::shared_ptr<parquet::WriterProperties> properties)
    : Contents(std::move(root), nullptr), file_(std::move(file)),
      properties_(std::move(properties)),
      footer_(parquet::FileMetaDataBuilder::Make(&schema_, properties_)),
      indexes_(parquet::PageIndexBuilder::Make(&schema_)), zstd_(schema_.num_columns()),
      twins_(key_twins(schema_, *properties_))
{
    PARQUET_THROW_NOT_OK(file_->Write(parquet::kParquetMagic, sizeof parquet::kParquetMagic));
}

void
GroupFile::end_group()
{
    const std::unique_ptr<parquet::RowGroupWriter> group = std::move(group_);

    if (group != nullptr) {
        row_count_ += group->num_rows();
        group->Close();
    }
}

void
GroupFile::Close()
{
    parquet::PageIndexLocation places;

    if (!is_open_) {
        return;
    }
    is_open_ = false; // whatever fails
    end_group();
    indexes_->Finish();
    indexes_->WriteTo(file_.get(), &places);
    footer_->SetPageIndexLocation(places);
    file_metadata_ = footer_->Finish(key_value_metadata_);
    parquet::WriteFileMetaData(*file_metadata_, file_.get());
}

parquet::RowGroupWriter *
GroupFile::AppendRowGroup()
{
    return AppendBufferedRowGroup();
}

parquet::RowGroupWriter *
GroupFile::AppendBufferedRowGroup()
{
    end_group();
    indexes_->AppendRowGroup();
    const GroupParts parts = {footer_->AppendRowGroup(), indexes_.get(), file_.get(),
                              properties_.get(), &zstd_};

    group_ = std::make_unique<parquet::RowGroupWriter>(
        std::make_unique<GroupColumns>(parts, twins_, group_count_++));
    return group_.get();
}

void
GroupFile::forget_twins()
{
    std::iota(twins_.begin(), twins_.end(), 0);
}

int64_t
GroupFile::held_bytes() const
{
    return group_ == nullptr
               ? 0
               : group_->total_compressed_bytes() + group_->total_compressed_bytes_written();
}

} // namespace columnar
