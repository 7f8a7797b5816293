#include "columnar/int96.hh"

#include <arrow/array.h>
#include <parquet/types.h>

#include <cstring>
#include <vector>

namespace columnar
{

namespace
{

constexpr int64_t kDayNanos = 86400 * INT64_C(1000000000);
constexpr int64_t kEpochDay = 2440588; // 1970-01-01 as a Julian day

parquet::Int96
int96_of(int64_t nanos)
{
    parquet::Int96 value = {};
    const int64_t rest = (nanos % kDayNanos + kDayNanos) % kDayNanos;
    const int64_t day = nanos / kDayNanos - (nanos % kDayNanos < 0 ? 1 : 0);

    std::memcpy(&value.value[0], &rest, sizeof rest);
    value.value[2] = static_cast<uint32_t>(day + kEpochDay);
    return value;
}

class Int96Column final : public parquet::ColumnWriter
{
  public:
    explicit Int96Column(parquet::ColumnWriter *inner) : inner_(inner)
    {
    }

    arrow::Status WriteArrow(const int16_t *def_levels, const int16_t *rep_levels,
                             int64_t num_levels, const arrow::Array &leaf_array,
                             parquet::ArrowWriteContext *, bool) override
    {
        const auto *nanos = leaf_array.data()->GetValues<int64_t>(1);

        values_.clear();
        for (int64_t i = 0; i < leaf_array.length(); i++) {
            values_.push_back(int96_of(nanos[i]));
        }
        static_cast<parquet::Int96Writer *>(inner_)->WriteBatchSpaced(
            num_levels, def_levels, rep_levels, leaf_array.null_bitmap_data(), leaf_array.offset(),
            values_.data());
        return arrow::Status::OK();
    }

    int64_t Close() override
    {
        return inner_->Close();
    }
    parquet::Type::type type() const override
    {
        return inner_->type();
    }
    const parquet::ColumnDescriptor *descr() const override
    {
        return inner_->descr();
    }
    int64_t rows_written() const override
    {
        return inner_->rows_written();
    }
    int64_t total_compressed_bytes() const override
    {
        return inner_->total_compressed_bytes();
    }
    int64_t total_bytes_written() const override
    {
        return inner_->total_bytes_written();
    }
    int64_t total_compressed_bytes_written() const override
    {
        return inner_->total_compressed_bytes_written();
    }
    int64_t estimated_buffered_value_bytes() const override
    {
        return inner_->estimated_buffered_value_bytes();
    }
    const parquet::WriterProperties *properties() override
    {
        return inner_->properties();
    }
    void AddKeyValueMetadata(const std::shared_ptr<const arrow::KeyValueMetadata> &pairs) override
    {
        inner_->AddKeyValueMetadata(pairs);
    }
    void ResetKeyValueMetadata() override
    {
        inner_->ResetKeyValueMetadata();
    }

  private:
    parquet::ColumnWriter *const inner_;
    std::vector<parquet::Int96> values_;
};

} // namespace

std::unique_ptr<parquet::ColumnWriter>
with_own_int96(parquet::ColumnWriter *inner)
{
    return std::make_unique<Int96Column>(inner);
}

} // namespace columnar
