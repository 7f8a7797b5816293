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
    bool is_known = false;
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
    /** `spans`: by the numbers that ORC gives types; empty: no column is wide. `zone_offset`:
     * seconds by which the writer's time zone was ahead of UTC when 1970 began, see corrected(). */
    Cast(std::vector<Span> spans, int64_t zone_offset, arrow::MemoryPool *pool)
        : spans_(std::move(spans)), zone_offset_(zone_offset), pool_(pool)
    {
    }

    /** The column's values as `to`; its own memory where nothing changes. `number` is the type's,
     * and is moved behind it. */
    arrow::Result<std::shared_ptr<arrow::ArrayData>>
    column(const std::shared_ptr<arrow::ArrayData> &data,
           const std::shared_ptr<arrow::DataType> &to, size_t *number) const;

    /** Does the type with this number, or one inside it, have wide timestamps? */
    bool is_wide(const arrow::DataType &type, size_t *number) const;

    /** May values of the type have to be corrected? */
    bool is_corrected(const arrow::DataType &type) const;

  private:
    /**
     * A time, in nanoseconds, as Java reads it. In ORC a second before 1970, with milliseconds
     * behind it, counts one more than it should, which readers take off. Java does so where the
     * instant was before 1970 at the writer's place, the ORC library where the clock that is read
     * is: between the two it misses what it should take off, or takes off what it shouldn't.
     */
    template <typename Number> Number corrected(Number nanos) const;
    arrow::Status unwrap_all(const arrow::ArrayData &data, const Span &span, int64_t by,
                             bool corrects, int64_t *target) const;
    arrow::Result<std::shared_ptr<arrow::ArrayData>>
    timestamps(const std::shared_ptr<arrow::ArrayData> &data,
               const std::shared_ptr<arrow::DataType> &to, const Span &span) const;

    const std::vector<Span> spans_;
    const int64_t zone_offset_;
    arrow::MemoryPool *const pool_;
};

/** Step over the numbers that ORC gives a type and those inside it. */
size_t
number_behind(const arrow::DataType &type, size_t number);

} // namespace columnar

#endif
