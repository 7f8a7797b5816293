// Reading and writing ORC.
#include <arrow/adapters/orc/adapter.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/data.h>
#include <arrow/table.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "columnar/columnar.hh"
#include "columnar/orc_hold.hh"
#include "columnar/orc_stripes.hh"
#include "columnar/orc_tail.hh"
#include "columnar/orc_times.hh"
#include "columnar/orc_zone.hh"

namespace columnar
{

namespace
{

namespace orc = arrow::adapters::orc;

constexpr int64_t kChunkBytes = 128 << 10; // of compression, as Paimon's files have
constexpr int64_t kStripeBytes = 64 << 20;
constexpr int64_t kRowsAtOnce = 1024; // that Arrow gives the ORC library, which then looks at sizes

/** Bytes of a row in memory that follow from types; texts and lists count `has_more_out`. */
int64_t
row_width(const arrow::DataType &type, bool *has_more_out)
{
    constexpr int64_t kValidBytes = 1;
    constexpr int64_t kTextBytes = 32; // where a dictionary says less than its texts have
    int64_t width = kValidBytes + width_of(type);

    if (type.num_fields() == 0 && width == kValidBytes) {
        width += kTextBytes;
        *has_more_out = true;
    }
    for (const auto &field : type.fields()) {
        width += row_width(*field->type(), has_more_out);
        *has_more_out = *has_more_out || type.id() != arrow::Type::STRUCT;
    }
    return width;
}

class OrcFile final : public sinter__columnar_file
{
  public:
    using sinter__columnar_file::sinter__columnar_file;

    arrow::Status open()
    {
        ARROW_RETURN_NOT_OK(check_orc_tail(*source));
        ARROW_ASSIGN_OR_RAISE(reader_, orc::ORCFileReader::Open(source, session->pool()));
        const std::string tail = reader_->GetSerializedFileTail();
        ARROW_RETURN_NOT_OK(check_orc_types(tail));
        ARROW_ASSIGN_OR_RAISE(schema, reader_->ReadSchema());
        std::vector<Span> spans = spans_of(tail);
        int64_t offset = 0;

        stripes_ = OrcStripes(tail);
        if (may_be_near_1970(spans)) {
            ARROW_ASSIGN_OR_RAISE(offset, zone_offset_of(stripes_, *source));
        }
        cast = std::make_unique<Cast>(std::move(spans), offset, session->pool());
        writer = "ORC " + reader_->GetSoftwareVersion();
        return check_counts();
    }

    void info(sinter__columnar_info *out) const override
    {
        out->kind = SINTER__COLUMNAR_ORC;
        out->row_count = static_cast<uint64_t>(reader_->NumberOfRows());
        out->group_count = static_cast<uint32_t>(reader_->NumberOfStripes());
    }

    void group(int index, sinter__columnar_group *out) const override
    {
        const auto stripe = reader_->GetStripeInformation(index);

        out->row_count = static_cast<uint64_t>(stripe.num_rows);
        out->stored_bytes = static_cast<uint64_t>(stripe.length);
    }

    arrow::Status read(const std::vector<int> &columns, int first, int end,
                       int64_t batch_rows) override
    {
        std::vector<std::string> names;

        stripe_.reset();
        columns_ = columns;
        next_stripe_ = first;
        end_stripe_ = end;
        batch_rows_ = batch_rows;
        types_ = types_of(*schema, columns);
        tried_stripe_ = first;
        rows_ = first < end ? reader_->GetStripeInformation(first).first_row_id : 0;
        ARROW_RETURN_NOT_OK(try_stripes());
        if (first == 0 && end > 0 && end == reader_->NumberOfStripes()) {
            // One reader for all stripes seeks nowhere, so it needs no row index.
            if (columns.size() < static_cast<size_t>(schema->num_fields())) {
                for (const int column : columns) {
                    names.push_back(schema->field(column)->name());
                }
            }
            next_stripe_ = end;
            ARROW_ASSIGN_OR_RAISE(stripe_, reader_->GetRecordBatchReader(batch_rows, names));
            return arrow::Status::OK();
        }
        return first < end ? reader_->Seek(reader_->GetStripeInformation(first).first_row_id)
                           : arrow::Status::OK();
    }

    /** What the ORC library holds itself is not counted, so batches are all. */
    void footprint(const std::vector<int> &columns, int first, int end,
                   sinter__columnar_footprint *out) const override
    {
        constexpr int64_t kPacked = 4; // how much smaller than texts their stripes may be
        constexpr int64_t kRowsMax = INT64_C(1) << 36; // footers may say anything
        int64_t width = 0;
        int64_t stored = 0;
        int64_t rows = 0;
        bool has_more = false;

        for (const int column : columns) {
            width += row_width(*schema->field(column)->type(), &has_more);
        }
        for (int i = first; i < end; i++) {
            const auto stripe = reader_->GetStripeInformation(i);

            stored += std::clamp<int64_t>(stripe.length, 0, static_cast<int64_t>(source->size()));
            rows = std::min(kRowsMax, rows + std::clamp<int64_t>(stripe.num_rows, 0, kRowsMax));
        }
        width += has_more && rows > 0 ? kPacked * stored / rows : 0;
        out->batch_bytes = static_cast<uint64_t>(width * std::min<int64_t>(rows, out->batch_rows));
        out->rows_bytes = static_cast<uint64_t>(width * rows);
        out->reader_bytes = 3 * out->batch_bytes; // one that grows, and a column that is cast
    }

    arrow::Result<std::shared_ptr<arrow::RecordBatch>> next() override
    {
        std::shared_ptr<arrow::RecordBatch> batch;

        while (batch == nullptr && (stripe_ != nullptr || next_stripe_ < end_stripe_)) {
            ARROW_RETURN_NOT_OK(try_stripes());
            if (stripe_ == nullptr) {
                ARROW_ASSIGN_OR_RAISE(stripe_, reader_->NextStripeReader(batch_rows_, columns_));
                next_stripe_++;
            }
            if (stripe_ != nullptr) {
                ARROW_RETURN_NOT_OK(stripe_->ReadNext(&batch));
            }
            if (batch == nullptr) {
                stripe_.reset();
            } else {
                rows_ += batch->num_rows();
            }
        }
        return batch;
    }

  private:
    /** Look at the stripes that the next rows are in, once each. */
    arrow::Status try_stripes()
    {
        while (tried_stripe_ < end_stripe_ &&
               reader_->GetStripeInformation(tried_stripe_).first_row_id <= rows_) {
            ARROW_RETURN_NOT_OK(
                stripes_.check(static_cast<size_t>(tried_stripe_), types_, *source));
            tried_stripe_++;
        }
        return arrow::Status::OK();
    }

    /** Within a day, which is more than any time zone is ahead or behind. */
    static bool may_be_near_1970(const std::vector<Span> &spans)
    {
        constexpr int64_t kNearMs = int64_t{2} * 86400000;

        return std::any_of(spans.begin(), spans.end(), [](const Span &span) {
            return span.is_known && span.min_ms < kNearMs && span.max_ms > -kNearMs;
        });
    }

    arrow::Status check_counts() const
    {
        int64_t rows = 0;

        for (int64_t i = 0; i < reader_->NumberOfStripes(); i++) {
            const int64_t count = reader_->GetStripeInformation(i).num_rows;

            if (count < 0 || count > reader_->NumberOfRows() - rows) {
                return arrow::Status::Invalid("stripes and footer count different rows");
            }
            rows += count;
        }
        return rows == reader_->NumberOfRows()
                   ? arrow::Status::OK()
                   : arrow::Status::Invalid("stripes and footer count different rows");
    }

    std::unique_ptr<orc::ORCFileReader> reader_;
    std::shared_ptr<arrow::RecordBatchReader> stripe_;
    OrcStripes stripes_;
    std::vector<bool> types_; // that are read
    std::vector<int> columns_;
    int64_t rows_ = 0;     // behind the last batch
    int tried_stripe_ = 0; // the first that nobody looked at
    int next_stripe_ = 0;
    int end_stripe_ = 0;
    int64_t batch_rows_ = 0;
};

/** Is there a ROW inside that may be NULL and doesn't begin with its array, or whose fields don't?
 *  Arrow forgets such an offset. `offset`: that the array around it has. */
bool
has_row_with_offset(const arrow::ArrayData &data, int64_t offset)
{
    const bool is_row = data.type->id() == arrow::Type::STRUCT;
    const bool may_be_null = is_row && data.buffers[0] != nullptr;
    const int64_t own = is_row ? data.offset + offset : 0; // lists tell where their elements begin

    return (may_be_null && own != 0) ||
           std::any_of(data.child_data.begin(), data.child_data.end(), [&](const auto &child) {
               return (may_be_null && child->offset != 0) || has_row_with_offset(*child, own);
           });
}

class OrcOutput final : public sinter__columnar_output
{
  public:
    using sinter__columnar_output::sinter__columnar_output;

    arrow::Status open(const sinter__columnar_write &write)
    {
        static constexpr arrow::Compression::type codecs[] = {
            arrow::Compression::ZSTD, arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY,
            arrow::Compression::LZ4, arrow::Compression::GZIP};
        static constexpr OrcCodecNumber numbers[] = {ORC_ZSTD, ORC_NONE, ORC_SNAPPY, ORC_LZ4,
                                                     ORC_ZLIB};
        orc::WriteOptions options;
        OrcMendOptions mends;

        if (write.codec < 0 || write.codec > SINTER__COLUMNAR_GZIP) {
            return arrow::Status::NotImplemented("no such codec");
        }
        options.compression = codecs[write.codec];
        options.compression_block_size = kChunkBytes;
        options.stripe_size =
            write.group_bytes > 0
                ? static_cast<int64_t>(std::min<uint64_t>(write.group_bytes, INT64_MAX))
                : kStripeBytes;
        mends.chunks.codec = numbers[write.codec];
        mends.chunks.chunk_bytes = static_cast<uint64_t>(kChunkBytes);
        mends.pool = session->pool();
        type_count_ = types_of(*schema, {}).size();
        hold_ = std::make_unique<OrcHold>(sink, mends, type_count_);
        ARROW_ASSIGN_OR_RAISE(writer_, orc::ORCFileWriter::Open(hold_.get(), options));
        return arrow::Status::OK();
    }

    arrow::Status write(const std::shared_ptr<arrow::RecordBatch> &rows) override
    {
        std::vector<bool> types(type_count_);

        ARROW_ASSIGN_OR_RAISE(const bool has_early, find_early_times(*rows, &types));
        if (!has_early && !hold_->holds()) {
            return write_rows(*rows);
        }
        for (int64_t first = 0; first < rows->num_rows(); first += kRowsAtOnce) {
            const auto slice = rows->Slice(first, kRowsAtOnce);

            ARROW_RETURN_NOT_OK(hold_->look(*slice));
            ARROW_RETURN_NOT_OK(write_rows(*slice));
            ARROW_RETURN_NOT_OK(hold_->settle());
        }
        return arrow::Status::OK();
    }

    arrow::Status finish() override
    {
        if (row_count == 0) { // a writer that never wrote has no schema, and makes no file
            ARROW_ASSIGN_OR_RAISE(const auto none,
                                  arrow::RecordBatch::MakeEmpty(schema, session->pool()));
            ARROW_RETURN_NOT_OK(writer_->Write(*none));
        }
        hold_->begin_end();
        ARROW_RETURN_NOT_OK(writer_->Close());
        return hold_->finish();
    }

    uint64_t size() const override
    {
        return sink->size();
    }

    uint32_t group_count() const override
    {
        return 0;
    }

  private:
    arrow::Status write_rows(const arrow::RecordBatch &rows)
    {
        std::vector<std::shared_ptr<arrow::ArrayData>> columns;

        for (int i = 0; i < rows.num_columns(); i++) {
            columns.push_back(rows.column_data(i));
            if (has_row_with_offset(*columns.back(), 0)) {
                ARROW_ASSIGN_OR_RAISE(const auto copied,
                                      arrow::Concatenate({rows.column(i)}, session->pool()));
                columns.back() = copied->data();
            }
        }
        return writer_->Write(
            *arrow::RecordBatch::Make(rows.schema(), rows.num_rows(), std::move(columns)));
    }

    size_t type_count_ = 0;
    std::unique_ptr<OrcHold> hold_;
    std::unique_ptr<orc::ORCFileWriter> writer_; // writes into it
};

} // namespace

arrow::Status
open_orc(std::unique_ptr<Session> &&session, std::shared_ptr<Source> source,
         std::unique_ptr<sinter__columnar_file> *out)
{
    auto file = std::make_unique<OrcFile>(std::move(session));
    OrcFile *opened = file.get();

    file->source = std::move(source);
    *out = std::move(file);
    return opened->open();
}

arrow::Status
make_orc(std::unique_ptr<Session> &&session, std::shared_ptr<Sink> sink,
         const std::shared_ptr<arrow::Schema> &schema, const sinter__columnar_write &write,
         std::unique_ptr<sinter__columnar_output> *out)
{
    auto output = std::make_unique<OrcOutput>(std::move(session));
    OrcOutput *opened = output.get();

    output->sink = std::move(sink);
    *out = std::move(output);
    opened->schema = without_times(*with_ids(*schema, kOrcIdKey));
    return opened->open(write);
}

} // namespace columnar
