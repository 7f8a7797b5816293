// Rows of many batches, copied together by ranges, column by column.
#ifndef SINTER_COLUMNAR_GATHER_HH
#define SINTER_COLUMNAR_GATHER_HH

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <memory>
#include <vector>

namespace columnar
{

/** Can values of one type be written where the other is declared? Names and ids don't matter. */
bool
is_compatible(const arrow::DataType &from, const arrow::DataType &to);

/** The same values under names and ids of another, compatible type. Shares the memory. */
std::shared_ptr<arrow::ArrayData>
retyped(const std::shared_ptr<arrow::ArrayData> &data,
        const std::shared_ptr<arrow::DataType> &type);

/** Rows of an array, side by side; `first` counts from the array's own offset. */
struct Piece {
    const arrow::ArrayData *data;
    int64_t first;
    int64_t count;
};

/** The columns of a batch that is held elsewhere, looked into once for all ranges of it. */
struct Columns {
    Columns() = default;
    explicit Columns(const arrow::RecordBatch &rows);

    std::vector<const arrow::ArrayData *> data;
    std::vector<int> twins; // of each column, the first one that is the same array
    bool is_light = false;  // nothing is nested, and no column has many bytes
};

/** One column, nested ones with their children. Its memory is used again after clear(). */
class Column
{
  public:
    static arrow::Result<std::unique_ptr<Column>> make(const std::shared_ptr<arrow::DataType> &type,
                                                       arrow::MemoryPool *pool);

    /** Would these rows pass what 32-bit offsets reach, `noted` bytes coming first? */
    bool has_room(const arrow::ArrayData &data, int64_t first, int64_t count,
                  int64_t noted = 0) const;
    /** Are there offsets in it? */
    bool has_offsets() const
    {
        return layout_ == Layout::kBytes || layout_ == Layout::kList || layout_ == Layout::kStruct;
    }
    bool is_nested() const
    {
        return layout_ == Layout::kList || layout_ == Layout::kStruct;
    }
    /** `first` counts from the array's own offset. */
    arrow::Status append(const arrow::ArrayData &data, int64_t first, int64_t count);
    /** The same for many, which is cheaper than one by one where they are short. */
    arrow::Status append(const std::vector<Piece> &pieces);
    /** The rows so far; valid until append or clear. */
    std::shared_ptr<arrow::ArrayData> view() const;
    void clear();
    /** Bytes that the rows take, validity aside. */
    int64_t bytes() const;

  private:
    enum class Layout { kBits, kFixed, kBytes, kList, kStruct };

    explicit Column(std::shared_ptr<arrow::DataType> type) : type_(std::move(type))
    {
    }
    arrow::Status fit(arrow::ResizableBuffer &buffer, int64_t bytes);
    arrow::Status append_validity(const arrow::ArrayData &data, int64_t first, int64_t count);
    arrow::Status append_validity(const std::vector<Piece> &pieces);
    arrow::Status append_fixed(const std::vector<Piece> &pieces);
    arrow::Status append_bytes(const std::vector<Piece> &pieces);
    arrow::Status append_offsets(const arrow::ArrayData &data, int64_t first, int64_t count,
                                 int32_t end);
    /** Offsets of the rows in `data`, where they begin and how far they go. */
    static const int32_t *offsets_of(const arrow::ArrayData &data, int64_t first);

    const std::shared_ptr<arrow::DataType> type_;
    Layout layout_ = Layout::kFixed;
    int64_t width_ = 0; // of kFixed
    int64_t length_ = 0;
    int64_t null_count_ = 0;
    bool has_validity_ = false;
    std::shared_ptr<arrow::ResizableBuffer> validity_;
    std::shared_ptr<arrow::ResizableBuffer> offsets_;
    std::shared_ptr<arrow::ResizableBuffer> values_;
    int64_t value_bytes_ = 0; // of kBytes
    std::vector<std::unique_ptr<Column>> children_;
};

/** Columns of a schema. */
class Gather
{
  public:
    static arrow::Result<std::unique_ptr<Gather>> make(const std::shared_ptr<arrow::Schema> &schema,
                                                       arrow::MemoryPool *pool);

    /** Do the batch's columns have the schema's types? */
    arrow::Status check(const arrow::RecordBatch &rows);
    /** Some rows of a batch, not copied. */
    std::shared_ptr<arrow::RecordBatch> slice(const arrow::RecordBatch &rows, int64_t first,
                                              int64_t count) const;
    /** Of rows that append() may get next. Settles where that must be known. */
    arrow::Result<bool> has_room(const Columns &columns, int64_t first, int64_t count);
    /** Are the same columns of these one array as of the rows so far? */
    bool is_alike(const Columns &columns) const
    {
        return row_count_ == 0 || columns.twins == twins_;
    }
    /** Rows are only noted: they are copied by settle(), until which the batch must live. */
    void append(const Columns &columns, int64_t first, int64_t count);
    arrow::Status settle();
    /** Rows appended and settled so far, valid until the next append or clear. */
    std::shared_ptr<arrow::RecordBatch> view() const;
    void clear();

    /** Do rows have to be settled before has_room() is asked again? */
    bool has_nested() const
    {
        return has_nested_;
    }
    int64_t row_count() const
    {
        return row_count_;
    }
    int64_t bytes() const;
    /** Bytes of texts that are only noted, where the columns are not light. */
    int64_t noted_bytes() const
    {
        return noted_total_;
    }

  private:
    explicit Gather(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema))
    {
    }

    const std::shared_ptr<arrow::Schema> schema_;
    std::vector<std::shared_ptr<arrow::Schema>> checked_; // of batches that were seen
    std::vector<std::unique_ptr<Column>> columns_;
    int64_t row_count_ = 0;
    struct Noted {
        const Columns *columns;
        int64_t first;
        int64_t count;
    };
    static constexpr size_t kNotedMax = 64; // of light columns these have a GiB at most
    std::vector<Noted> noted_;
    bool has_light_noted_ = false; // whose bytes nobody counted
    int64_t settled_bytes_ = 0;
    std::vector<int> twins_;           // of the rows so far
    std::vector<size_t> with_offsets_; // columns
    std::vector<int64_t> more_;        // bytes of each of them that has_room() was asked for last
    std::vector<int64_t> noted_bytes_; // of each of them
    int64_t noted_total_ = 0;
    bool has_nested_ = false;
    std::vector<Piece> pieces_; // of the column at hand
};

} // namespace columnar

#endif
