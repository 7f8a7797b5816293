// Reading and writing Parquet.
#include <arrow/table.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "columnar/columnar.hh"
#include "columnar/dictionary.hh"
#include "columnar/groups.hh"

namespace columnar
{

namespace
{

constexpr int64_t kStreamBytes = 256 << 10; // read of a column chunk at a time
constexpr int64_t kGroupBytes = 128 << 20;
constexpr int64_t kPageBytes = 1 << 20;
constexpr int64_t kGroupRowsMax = 1 << 30; // bytes decide
constexpr char kRootName[] = "paimon_schema";

/** What reading the chunks of a column takes, at their largest. */
struct LeafFootprint {
    int64_t pages = 0;  // stored and decoded, and dictionaries
    int64_t values = 0; // of a batch
    int64_t all = 0;    // values of all rows
};

constexpr int64_t kFixedBytes = 16;   // of a value, decimals the widest
constexpr int64_t kTextBytesMin = 32; // where a dictionary says less than its texts have
constexpr int64_t kLevelBytes = 5;    // of a value: two levels and a bit
constexpr int64_t kColumnBytes = 4 << 10;
constexpr int64_t kPacked = 8; // how much smaller than itself a stored dictionary may be

/** Footers may say anything: sizes are never less than nothing, nor more than a file can have. */
int64_t
sane(int64_t number)
{
    return std::clamp<int64_t>(number, 0, INT64_C(1) << 40);
}

/** The largest of a chunk's data pages, which together have so many bytes: some are twice the
 *  mean. Where the footer doesn't count them, they are as writers end them. */
int64_t
page_of(const parquet::ColumnChunkMetaData &chunk, int64_t bytes)
{
    int64_t count = 0;

    for (const auto &kind : chunk.encoding_stats()) {
        if (kind.page_type == parquet::PageType::DATA_PAGE ||
            kind.page_type == parquet::PageType::DATA_PAGE_V2) {
            count += std::max(0, kind.count);
        }
    }
    return std::min(bytes, count > 0 ? 2 * (bytes / count) + kColumnBytes : kPageBytes * 5 / 4);
}

/** A dictionary as it was read, and decoded. */
int64_t
dictionary_of(const parquet::ColumnChunkMetaData &chunk, int64_t raw)
{
    const int64_t stored =
        sane(sane(chunk.data_page_offset()) - sane(chunk.dictionary_page_offset()));

    return chunk.has_dictionary_page() ? 2 * std::min({raw, kPageBytes, kPacked * stored}) : 0;
}

void
add_chunk(const parquet::ColumnChunkMetaData &chunk, int64_t rows, int64_t batch_rows,
          LeafFootprint *leaf)
{
    const int64_t stored = sane(chunk.total_compressed_size());
    const int64_t raw = sane(chunk.total_uncompressed_size());
    const int64_t values = std::max<int64_t>(1, sane(chunk.num_values()));
    const int64_t text =
        4 + std::max(2 * (raw / values + 1), chunk.has_dictionary_page() ? kTextBytesMin : 0);
    const int64_t width =
        kLevelBytes + (chunk.type() == parquet::Type::BYTE_ARRAY ? text : kFixedBytes);
    const int64_t in_batch =
        std::min(values, batch_rows * (values / std::max<int64_t>(1, rows) + 1));

    leaf->pages = std::max(leaf->pages, std::min(stored, kStreamBytes) + page_of(chunk, stored) +
                                            page_of(chunk, raw) + dictionary_of(chunk, raw));
    leaf->values = std::max(leaf->values, in_batch * width);
    leaf->all += sane(values * width);
}

class ParquetFile final : public sinter__columnar_file
{
  public:
    using sinter__columnar_file::sinter__columnar_file;

    arrow::Status open()
    {
        parquet::ReaderProperties properties(session->pool());
        parquet::ArrowReaderProperties arrow_properties(false);
        parquet::arrow::FileReaderBuilder builder;

        properties.enable_buffered_stream();
        properties.set_buffer_size(kStreamBytes);
        properties.set_page_checksum_verification(true);
        arrow_properties.set_pre_buffer(false);
        ARROW_RETURN_NOT_OK(builder.Open(source, properties));
        builder.memory_pool(session->pool())->properties(arrow_properties);
        ARROW_RETURN_NOT_OK(builder.Build(&reader_));
        ARROW_RETURN_NOT_OK(reader_->GetSchema(&schema));
        cast = std::make_unique<Cast>(std::vector<Span>(), 0, session->pool());
        writer = metadata().created_by();
        return check_counts();
    }

    void info(sinter__columnar_info *out) const override
    {
        out->kind = SINTER__COLUMNAR_PARQUET;
        out->row_count = static_cast<uint64_t>(metadata().num_rows());
        out->group_count = static_cast<uint32_t>(metadata().num_row_groups());
    }

    void group(int index, sinter__columnar_group *out) const override
    {
        const auto group = metadata().RowGroup(index);
        int64_t stored = 0;

        for (int i = 0; i < group->num_columns(); i++) {
            stored += group->ColumnChunk(i)->total_compressed_size();
        }
        out->row_count = static_cast<uint64_t>(group->num_rows());
        out->stored_bytes = static_cast<uint64_t>(stored);
        out->raw_bytes = static_cast<uint64_t>(group->total_byte_size());
    }

    arrow::Status read(const std::vector<int> &columns, int first, int end,
                       int64_t batch_rows) override
    {
        std::vector<int> leaves;
        std::vector<int> groups;

        batches_.reset();
        for (const int column : columns) {
            add_leaves(reader_->manifest().schema_fields[static_cast<size_t>(column)], &leaves);
        }
        for (int i = first; i < end; i++) {
            groups.push_back(i);
        }
        ARROW_RETURN_NOT_OK(check_int96(groups, leaves));
        reader_->set_batch_size(batch_rows);
#if ARROW_VERSION_MAJOR >= 19
        ARROW_ASSIGN_OR_RAISE(batches_, reader_->GetRecordBatchReader(groups, leaves));
        return arrow::Status::OK();
#else
        return reader_->GetRecordBatchReader(groups, leaves, &batches_);
#endif
    }

    void footprint(const std::vector<int> &columns, int first, int end,
                   sinter__columnar_footprint *out) const override
    {
        std::vector<int> leaves;

        for (const int column : columns) {
            add_leaves(reader_->manifest().schema_fields[static_cast<size_t>(column)], &leaves);
        }
        for (const int column : leaves) {
            LeafFootprint leaf;

            for (int i = first; i < end; i++) {
                const auto group = metadata().RowGroup(i);

                add_chunk(*group->ColumnChunk(column), group->num_rows(), out->batch_rows, &leaf);
            }
            out->batch_bytes += static_cast<uint64_t>(leaf.values);
            out->rows_bytes += static_cast<uint64_t>(leaf.all);
            // A batch is built in room that doubles, and its last part is made anew.
            out->reader_bytes += static_cast<uint64_t>(leaf.pages + 3 * leaf.values + kColumnBytes);
        }
    }

    arrow::Result<std::shared_ptr<arrow::RecordBatch>> next() override
    {
        std::shared_ptr<arrow::RecordBatch> batch;

        ARROW_RETURN_NOT_OK(batches_->ReadNext(&batch));
        return batch;
    }

  private:
    const parquet::FileMetaData &metadata() const
    {
        return *reader_->parquet_reader()->metadata();
    }

    /** Numbers of a footer are whatever bytes were there. */
    arrow::Status check_counts() const
    {
        int64_t rows = 0;

        for (int i = 0; i < metadata().num_row_groups(); i++) {
            const int64_t count = metadata().RowGroup(i)->num_rows();

            if (count < 0 || count > metadata().num_rows() - rows) {
                return arrow::Status::Invalid("row groups and footer count different rows");
            }
            rows += count;
        }
        return rows == metadata().num_rows()
                   ? arrow::Status::OK()
                   : arrow::Status::Invalid("row groups and footer count different rows");
    }

    /** Arrow hands out INT96 as nanoseconds modulo 2^64: look for days that they don't reach. */
    arrow::Status check_int96(const std::vector<int> &groups, const std::vector<int> &leaves) const
    {
        const parquet::SchemaDescriptor &words = *metadata().schema();

        for (const int leaf : leaves) {
            if (words.Column(leaf)->physical_type() != parquet::Type::INT96) {
                continue;
            }
            for (const int group : groups) {
                const auto column = reader_->parquet_reader()->RowGroup(group)->Column(leaf);

                if (!is_int96_near(static_cast<parquet::Int96Reader &>(*column))) {
                    return arrow::Status::NotImplemented("timestamps before 1677 or after 2262 "
                                                         "with more than six decimals in column ",
                                                         words.Column(leaf)->path()->ToDotString());
                }
            }
        }
        return arrow::Status::OK();
    }

    static bool is_int96_near(parquet::Int96Reader &column)
    {
        constexpr int64_t kRows = 1024;
        constexpr int64_t kDayNs = 86400 * INT64_C(1000000000);
        std::vector<int16_t> definitions(kRows);
        std::vector<int16_t> repetitions(kRows);
        std::vector<parquet::Int96> values(kRows);

        while (column.HasNext()) {
            int64_t count = 0;

            (void)column.ReadBatch(kRows, definitions.data(), repetitions.data(), values.data(),
                                   &count);
            for (int64_t i = 0; i < count; i++) {
                const auto time = parquet::DecodeInt96Timestamp(values[static_cast<size_t>(i)]);
                const __int128 nanos =
                    static_cast<__int128>(static_cast<int64_t>(time.days_since_epoch)) * kDayNs +
                    static_cast<int64_t>(time.nanoseconds); // negative ones are Arrow's own

                if (nanos < INT64_MIN || nanos > INT64_MAX) {
                    return false;
                }
            }
        }
        return true;
    }

    static void add_leaves(const parquet::arrow::SchemaField &field, std::vector<int> *leaves)
    {
        if (field.is_leaf()) {
            leaves->push_back(field.column_index);
        }
        for (const auto &child : field.children) {
            add_leaves(child, leaves);
        }
    }

    std::unique_ptr<parquet::arrow::FileReader> reader_;
    std::unique_ptr<arrow::RecordBatchReader> batches_;
};

class ParquetOutput final : public sinter__columnar_output
{
  public:
    using sinter__columnar_output::sinter__columnar_output;

    /** Nothing is written before the first rows tell which columns are worth a dictionary. */
    arrow::Status open(const sinter__columnar_write &write)
    {
        write_ = write;
        ARROW_ASSIGN_OR_RAISE(const auto properties, make_properties({}));
        ARROW_ASSIGN_OR_RAISE(root_, make_root(*properties));
        group_bytes_ = write.group_bytes > 0
                           ? static_cast<int64_t>(std::min<uint64_t>(write.group_bytes, INT64_MAX))
                           : kGroupBytes;
        return arrow::Status::OK();
    }

    arrow::Status write(const std::shared_ptr<arrow::RecordBatch> &rows) override
    {
        if (writer_ == nullptr) {
            ARROW_RETURN_NOT_OK(begin(rows.get()));
        }
        if (!has_twins(*rows, *inside_->schema(), inside_->twins())) { // of this file no more
            inside_->forget_twins();
            ARROW_RETURN_NOT_OK(writer_->NewBufferedRowGroup());
        }
        if (inside_->held_bytes() >= group_bytes_) {
            ARROW_RETURN_NOT_OK(writer_->NewBufferedRowGroup());
        }
        return writer_->WriteRecordBatch(*rows);
    }

    arrow::Status finish() override
    {
        if (writer_ == nullptr) {
            ARROW_RETURN_NOT_OK(begin(nullptr));
        }
        inside_ = nullptr;
        ARROW_RETURN_NOT_OK(writer_->Close());
        group_count_ = static_cast<uint32_t>(writer_->metadata()->num_row_groups());
        return arrow::Status::OK();
    }

    uint64_t size() const override
    {
        return sink->size() +
               (inside_ == nullptr ? 0 : static_cast<uint64_t>(inside_->held_bytes()));
    }

    uint32_t group_count() const override
    {
        return group_count_;
    }

  private:
    /** Begin the file. `rows` are its first ones, NULL: there are none. */
    arrow::Status begin(const arrow::RecordBatch *rows)
    {
        const auto arrow_properties =
            parquet::ArrowWriterProperties::Builder().enable_deprecated_int96_timestamps()->build();
        parquet::SchemaDescriptor words;
        std::vector<std::string> plain;

        words.Init(root_);
        if (rows != nullptr && !write_.no_dictionary) {
            plain = columns_without_dictionary(*rows, words);
        }
        ARROW_ASSIGN_OR_RAISE(const auto properties, make_properties(plain));
        auto inside = std::make_unique<GroupFile>(sink, root_, properties);
        auto file = std::make_unique<parquet::ParquetFileWriter>();

        inside_ = inside.get();
        file->Open(std::move(inside));
        return parquet::arrow::FileWriter::Make(session->pool(), std::move(file), schema,
                                                arrow_properties, &writer_);
    }

    /** `plain`: paths of columns without a dictionary. */
    arrow::Result<std::shared_ptr<parquet::WriterProperties>>
    make_properties(const std::vector<std::string> &plain) const
    {
        static constexpr parquet::Compression::type codecs[] = {
            parquet::Compression::ZSTD, parquet::Compression::UNCOMPRESSED,
            parquet::Compression::SNAPPY, parquet::Compression::LZ4, parquet::Compression::GZIP};
        parquet::WriterProperties::Builder builder;

        if (write_.codec < 0 || write_.codec > SINTER__COLUMNAR_GZIP) {
            return arrow::Status::NotImplemented("no such codec");
        }
        builder.memory_pool(session->pool())
            ->version(parquet::ParquetVersion::PARQUET_1_0)
            ->data_page_version(parquet::ParquetDataPageVersion::V1)
            ->compression(codecs[write_.codec])
            ->data_pagesize(write_.page_bytes > 0 ? write_.page_bytes : kPageBytes)
            ->dictionary_pagesize_limit(write_.dictionary_bytes > 0 ? write_.dictionary_bytes
                                                                    : kPageBytes)
            ->max_row_group_length(kGroupRowsMax)
            ->enable_store_decimal_as_integer()
            ->enable_write_page_index()
            ->enable_page_checksum();
        if (write_.codec_level != 0 || write_.codec == SINTER__COLUMNAR_ZSTD) {
            builder.compression_level(write_.codec_level != 0 ? write_.codec_level : 1);
        }
        if (write_.no_dictionary) {
            builder.disable_dictionary();
        }
        for (const std::string &path : plain) {
            builder.disable_dictionary(path);
        }
        return builder.build();
    }

    /** The schema in Parquet's words, under the name that Paimon's files have. */
    arrow::Result<std::shared_ptr<parquet::schema::GroupNode>>
    make_root(const parquet::WriterProperties &properties) const
    {
        std::shared_ptr<parquet::SchemaDescriptor> found;
        parquet::schema::NodeVector fields;
        // Version 2.6 leaves nanoseconds what they are, so that they can be told from others.
        const auto words = parquet::WriterProperties::Builder(properties)
                               .version(parquet::ParquetVersion::PARQUET_2_6)
                               ->build();

        ARROW_RETURN_NOT_OK(parquet::arrow::ToParquetSchema(schema.get(), *words, &found));
        for (int i = 0; i < found->group_node()->field_count(); i++) {
            fields.push_back(with_int96(found->group_node()->field(i)));
        }
        return std::static_pointer_cast<parquet::schema::GroupNode>(
            parquet::schema::GroupNode::Make(kRootName, parquet::Repetition::REQUIRED, fields));
    }

    /** The same node, with INT96 where there are nanoseconds (table-layout.md 9.1). */
    static parquet::schema::NodePtr with_int96(const parquet::schema::NodePtr &node)
    {
        const auto &type = node->logical_type();

        if (node->is_group()) {
            const auto &group = static_cast<const parquet::schema::GroupNode &>(*node);
            parquet::schema::NodeVector fields;

            for (int i = 0; i < group.field_count(); i++) {
                fields.push_back(with_int96(group.field(i)));
            }
            const bool is_plain = type == nullptr || !type->is_nested();

            return parquet::schema::GroupNode::Make(node->name(), node->repetition(), fields,
                                                    is_plain ? nullptr : type, node->field_id());
        }
        if (type != nullptr && type->is_timestamp() &&
            static_cast<const parquet::TimestampLogicalType &>(*type).time_unit() ==
                parquet::LogicalType::TimeUnit::NANOS) {
            return parquet::schema::PrimitiveNode::Make(
                node->name(), node->repetition(), parquet::Type::INT96,
                parquet::ConvertedType::NONE, -1, -1, -1, node->field_id());
        }
        return node;
    }

    sinter__columnar_write write_ = {};
    std::shared_ptr<parquet::schema::GroupNode> root_;
    std::unique_ptr<parquet::arrow::FileWriter> writer_; // NULL: nothing was written
    GroupFile *inside_ = nullptr;                        // the writer's, until it is closed
    int64_t group_bytes_ = 0;
    uint32_t group_count_ = 0;
};

} // namespace

arrow::Status
open_parquet(std::unique_ptr<Session> &&session, std::shared_ptr<Source> source,
             std::unique_ptr<sinter__columnar_file> *out)
{
    auto file = std::make_unique<ParquetFile>(std::move(session));
    ParquetFile *opened = file.get();

    file->source = std::move(source);
    *out = std::move(file);
    return opened->open();
}

arrow::Status
make_parquet(std::unique_ptr<Session> &&session, std::shared_ptr<Sink> sink,
             const std::shared_ptr<arrow::Schema> &schema, const sinter__columnar_write &write,
             std::unique_ptr<sinter__columnar_output> *out)
{
    auto output = std::make_unique<ParquetOutput>(std::move(session));
    ParquetOutput *opened = output.get();

    output->sink = std::move(sink);
    *out = std::move(output);
    opened->schema = with_ids(*schema, kParquetIdKey);
    return opened->open(write);
}

} // namespace columnar
