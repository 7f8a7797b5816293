// Columns as a caller wants them, where a format stores a type in other units or under another one.
#ifndef SINTER_COLUMNAR_CAST_HH
#define SINTER_COLUMNAR_CAST_HH

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <memory>
#include <vector>

namespace columnar
{

/** Least and greatest of a column's timestamps, in milliseconds, where they are known to lie beyond
 *  what 64 bits of nanoseconds reach; Arrow hands out such a one modulo 2^64. */
struct Span {
    bool is_wide = false;
    int64_t min_ms = 0;
    int64_t max_ms = 0;
};

/** Is there a way from one type to the other? Timestamps to coarser units, and int32 to times. */
bool
can_cast(const arrow::DataType &from, const arrow::DataType &to);

/** Casts the columns of one file. */
class Cast
{
  public:
    /** `spans`: by the numbers that ORC gives types; empty: no column is wide. */
    Cast(std::vector<Span> spans, arrow::MemoryPool *pool) : spans_(std::move(spans)), pool_(pool)
    {
    }

    /** The column's values as `to`; its own memory where nothing changes. `number` is the type's,
     * and is moved behind it. */
    arrow::Result<std::shared_ptr<arrow::ArrayData>>
    column(const std::shared_ptr<arrow::ArrayData> &data,
           const std::shared_ptr<arrow::DataType> &to, size_t *number) const;

    /** Does the type with this number, or one inside it, have wide timestamps? */
    bool is_wide(const arrow::DataType &type, size_t *number) const;

  private:
    arrow::Result<std::shared_ptr<arrow::ArrayData>>
    timestamps(const std::shared_ptr<arrow::ArrayData> &data,
               const std::shared_ptr<arrow::DataType> &to, const Span &span) const;

    const std::vector<Span> spans_;
    arrow::MemoryPool *const pool_;
};

/** Step over the numbers that ORC gives a type and those inside it. */
size_t
number_behind(const arrow::DataType &type, size_t number);

} // namespace columnar

#endif
