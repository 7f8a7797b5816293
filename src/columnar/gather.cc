#include "columnar/gather.hh"

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace columnar
{

namespace
{

constexpr int64_t kBytesFirst = 1024;
constexpr int64_t kLightBytes = 16 << 20; // of a column
constexpr int64_t kOffsetMax = std::numeric_limits<int32_t>::max();

/** Map arrays have a struct of key and value as their only child. */
std::shared_ptr<arrow::DataType>
child_type(const arrow::DataType &type, int index)
{
    return type.field(index)->type();
}

std::shared_ptr<arrow::Buffer>
view_of(const std::shared_ptr<arrow::ResizableBuffer> &buffer, int64_t bytes)
{
    return std::make_shared<arrow::Buffer>(buffer->data(), bytes);
}

} // namespace

bool
is_compatible(const arrow::DataType &from, const arrow::DataType &to)
{
    if (from.id() == arrow::Type::TIME32 && to.id() == arrow::Type::INT32) { // as ORC has it
        return true;
    }
    if (from.id() != to.id() || from.num_fields() != to.num_fields()) {
        return false;
    }
    if (from.id() == arrow::Type::TIMESTAMP) { // with or without a zone, it is a number
        return static_cast<const arrow::TimestampType &>(from).unit() ==
               static_cast<const arrow::TimestampType &>(to).unit();
    }
    if (from.num_fields() == 0) {
        return from.Equals(to);
    }
    for (int i = 0; i < from.num_fields(); i++) {
        if (!is_compatible(*from.field(i)->type(), *to.field(i)->type())) {
            return false;
        }
    }
    return true;
}

std::shared_ptr<arrow::ArrayData>
retyped(const std::shared_ptr<arrow::ArrayData> &data, const std::shared_ptr<arrow::DataType> &type)
{
    auto same = std::make_shared<arrow::ArrayData>(*data);

    same->type = type;
    for (size_t i = 0; i < same->child_data.size(); i++) {
        same->child_data[i] = retyped(same->child_data[i], child_type(*type, static_cast<int>(i)));
    }
    return same;
}

Columns::Columns(const arrow::RecordBatch &rows) : is_light(true)
{
    for (int i = 0; i < rows.num_columns(); i++) {
        const arrow::ArrayData *own = rows.column_data(i).get();
        const auto found = std::find(data.begin(), data.end(), own);

        twins.push_back(static_cast<int>(found - data.begin()));
        data.push_back(own);
        is_light = is_light && own->child_data.empty();
        if (own->type->id() == arrow::Type::STRING || own->type->id() == arrow::Type::BINARY) {
            const auto *offsets = own->GetValues<int32_t>(1);

            is_light =
                is_light && offsets != nullptr && offsets[own->length] - offsets[0] <= kLightBytes;
        }
    }
}

arrow::Result<std::unique_ptr<Column>>
Column::make(const std::shared_ptr<arrow::DataType> &type, arrow::MemoryPool *pool)
{
    std::unique_ptr<Column> column(new Column(type));

    switch (type->id()) {
    case arrow::Type::BOOL:
        column->layout_ = Layout::kBits;
        break;
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
        column->layout_ = Layout::kBytes;
        break;
    case arrow::Type::LIST:
    case arrow::Type::MAP:
        column->layout_ = Layout::kList;
        break;
    case arrow::Type::STRUCT:
        column->layout_ = Layout::kStruct;
        break;
    default:
        if (!arrow::is_fixed_width(type->id()) || type->id() == arrow::Type::DICTIONARY) {
            return arrow::Status::NotImplemented("columns of type ", type->ToString());
        }
        column->width_ = static_cast<const arrow::FixedWidthType &>(*type).bit_width() / 8;
        break;
    }
    for (int i = 0; i < type->num_fields(); i++) {
        ARROW_ASSIGN_OR_RAISE(auto child, make(child_type(*type, i), pool));
        column->children_.push_back(std::move(child));
    }
    ARROW_ASSIGN_OR_RAISE(column->validity_, arrow::AllocateResizableBuffer(0, pool));
    ARROW_ASSIGN_OR_RAISE(column->offsets_, arrow::AllocateResizableBuffer(0, pool));
    ARROW_ASSIGN_OR_RAISE(column->values_, arrow::AllocateResizableBuffer(0, pool));
    return column;
}

arrow::Status
Column::fit(arrow::ResizableBuffer &buffer, int64_t bytes)
{
    if (bytes <= buffer.size()) {
        return arrow::Status::OK();
    }
    return buffer.Resize(std::max({bytes, 2 * buffer.size(), kBytesFirst}), false);
}

arrow::Status
Column::append_validity(const arrow::ArrayData &data, int64_t first, int64_t count)
{
    const bool may_have = data.buffers[0] != nullptr && data.GetNullCount() != 0;

    if (!may_have && !has_validity_) {
        return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(fit(*validity_, arrow::bit_util::BytesForBits(length_ + count)));
    if (!has_validity_) {
        has_validity_ = true;
        arrow::bit_util::SetBitsTo(validity_->mutable_data(), 0, length_, true);
    }
    if (!may_have) {
        arrow::bit_util::SetBitsTo(validity_->mutable_data(), length_, count, true);
        return arrow::Status::OK();
    }
    arrow::internal::CopyBitmap(data.buffers[0]->data(), data.offset + first, count,
                                validity_->mutable_data(), length_);
    null_count_ +=
        count - arrow::internal::CountSetBits(data.buffers[0]->data(), data.offset + first, count);
    return arrow::Status::OK();
}

const int32_t *
Column::offsets_of(const arrow::ArrayData &data, int64_t first)
{
    return data.GetValues<int32_t>(1) + first;
}

arrow::Status
Column::append_offsets(const arrow::ArrayData &data, int64_t first, int64_t count, int32_t end)
{
    const int32_t *source = offsets_of(data, first);
    int32_t *target = nullptr;
    const int32_t shift = end - source[0];

    ARROW_RETURN_NOT_OK(fit(*offsets_, (length_ + count + 1) * 4));
    target = reinterpret_cast<int32_t *>(offsets_->mutable_data()) + length_;
    for (int64_t i = 0; i <= count; i++) {
        target[i] = source[i] + shift;
    }
    return arrow::Status::OK();
}

bool
Column::has_room(const arrow::ArrayData &data, int64_t first, int64_t count, int64_t noted) const
{
    if (layout_ == Layout::kStruct) {
        for (size_t i = 0; i < children_.size(); i++) {
            if (!children_[i]->has_room(*data.child_data[i], data.offset + first, count)) {
                return false;
            }
        }
    }
    if (layout_ == Layout::kBytes || layout_ == Layout::kList) {
        const int32_t *offsets = offsets_of(data, first);
        const int64_t more = offsets[count] - offsets[0];
        const int64_t used = layout_ == Layout::kBytes ? value_bytes_ : children_[0]->length_;

        return more <= kOffsetMax - used - noted &&
               (layout_ == Layout::kBytes ||
                children_[0]->has_room(*data.child_data[0], offsets[0], more));
    }
    return true;
}

arrow::Status
Column::append(const arrow::ArrayData &data, int64_t first, int64_t count)
{
    ARROW_RETURN_NOT_OK(append_validity(data, first, count));
    switch (layout_) {
    case Layout::kBits:
        ARROW_RETURN_NOT_OK(fit(*values_, arrow::bit_util::BytesForBits(length_ + count)));
        arrow::internal::CopyBitmap(data.buffers[1]->data(), data.offset + first, count,
                                    values_->mutable_data(), length_);
        break;
    case Layout::kFixed:
        ARROW_RETURN_NOT_OK(fit(*values_, (length_ + count) * width_));
        std::memcpy(values_->mutable_data() + length_ * width_,
                    data.buffers[1]->data() + (data.offset + first) * width_,
                    static_cast<size_t>(count * width_));
        break;
    case Layout::kBytes: {
        const int32_t *offsets = offsets_of(data, first);
        const int64_t more = offsets[count] - offsets[0];

        ARROW_RETURN_NOT_OK(append_offsets(data, first, count, static_cast<int32_t>(value_bytes_)));
        ARROW_RETURN_NOT_OK(fit(*values_, value_bytes_ + more));
        if (more > 0) {
            std::memcpy(values_->mutable_data() + value_bytes_,
                        data.buffers[2]->data() + offsets[0], static_cast<size_t>(more));
        }
        value_bytes_ += more;
        break;
    }
    case Layout::kList: {
        const int32_t *offsets = offsets_of(data, first);

        ARROW_RETURN_NOT_OK(
            append_offsets(data, first, count, static_cast<int32_t>(children_[0]->length_)));
        ARROW_RETURN_NOT_OK(
            children_[0]->append(*data.child_data[0], offsets[0], offsets[count] - offsets[0]));
        break;
    }
    case Layout::kStruct:
        for (size_t i = 0; i < children_.size(); i++) {
            ARROW_RETURN_NOT_OK(
                children_[i]->append(*data.child_data[i], data.offset + first, count));
        }
        break;
    }
    length_ += count;
    return arrow::Status::OK();
}

arrow::Status
Column::append_validity(const std::vector<Piece> &pieces)
{
    int64_t length = length_;
    int64_t count = 0;
    bool has_any = has_validity_;

    for (const Piece &piece : pieces) {
        has_any = has_any || (piece.data->buffers[0] != nullptr && piece.data->GetNullCount() != 0);
        count += piece.count;
    }
    if (!has_any) {
        return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(fit(*validity_, arrow::bit_util::BytesForBits(length + count)));
    if (!has_validity_) {
        has_validity_ = true;
        arrow::bit_util::SetBitsTo(validity_->mutable_data(), 0, length, true);
    }
    for (const Piece &piece : pieces) {
        const uint8_t *valid =
            piece.data->GetNullCount() == 0 ? nullptr : piece.data->buffers[0]->data();

        if (piece.count > 8) {
            length_ = length;
            ARROW_RETURN_NOT_OK(append_validity(*piece.data, piece.first, piece.count));
        }
        for (int64_t i = 0; piece.count <= 8 && i < piece.count; i++) {
            const int64_t row = piece.data->offset + piece.first + i;
            const bool is_valid =
                valid == nullptr || arrow::bit_util::GetBit(valid, static_cast<uint64_t>(row));

            arrow::bit_util::SetBitTo(validity_->mutable_data(), length + i, is_valid);
            null_count_ += is_valid ? 0 : 1;
        }
        length += piece.count;
    }
    length_ = length - count;
    return arrow::Status::OK();
}

arrow::Status
Column::append_fixed(const std::vector<Piece> &pieces)
{
    const auto width = static_cast<size_t>(width_);
    int64_t count = 0;
    uint8_t *to = nullptr;

    for (const Piece &piece : pieces) {
        count += piece.count;
    }
    ARROW_RETURN_NOT_OK(fit(*values_, (length_ + count) * width_));
    to = values_->mutable_data() + length_ * width_;
    for (const Piece &piece : pieces) {
        const uint8_t *from =
            piece.data->buffers[1]->data() + (piece.data->offset + piece.first) * width_;

        if (piece.count == 1 && width == 8) { // sizes that are known are copied in place
            std::memcpy(to, from, 8);
        } else if (piece.count == 1 && width == 4) {
            std::memcpy(to, from, 4);
        } else {
            std::memcpy(to, from, static_cast<size_t>(piece.count) * width);
        }
        to += static_cast<size_t>(piece.count) * width;
    }
    length_ += count;
    return arrow::Status::OK();
}

arrow::Status
Column::append_bytes(const std::vector<Piece> &pieces)
{
    int64_t count = 0;
    int64_t more = 0;
    int32_t *ends = nullptr;
    uint8_t *to = nullptr;

    for (const Piece &piece : pieces) {
        const int32_t *offsets = offsets_of(*piece.data, piece.first);

        count += piece.count;
        more += offsets[piece.count] - offsets[0];
    }
    ARROW_RETURN_NOT_OK(fit(*offsets_, (length_ + count + 1) * 4));
    ARROW_RETURN_NOT_OK(fit(*values_, value_bytes_ + more));
    ends = reinterpret_cast<int32_t *>(offsets_->mutable_data()) + length_;
    to = values_->mutable_data();
    *ends = static_cast<int32_t>(value_bytes_);
    for (const Piece &piece : pieces) {
        const int32_t *offsets = offsets_of(*piece.data, piece.first);
        const int32_t shift = static_cast<int32_t>(value_bytes_) - offsets[0];
        const int32_t size = offsets[piece.count] - offsets[0];

        for (int64_t i = 1; i <= piece.count; i++) {
            *++ends = offsets[i] + shift;
        }
        if (size > 0) {
            std::memcpy(to + value_bytes_, piece.data->buffers[2]->data() + offsets[0],
                        static_cast<size_t>(size));
        }
        value_bytes_ += size;
    }
    length_ += count;
    return arrow::Status::OK();
}

arrow::Status
Column::append(const std::vector<Piece> &pieces)
{
    if (layout_ == Layout::kFixed || layout_ == Layout::kBytes) {
        ARROW_RETURN_NOT_OK(append_validity(pieces));
        return layout_ == Layout::kFixed ? append_fixed(pieces) : append_bytes(pieces);
    }
    for (const Piece &piece : pieces) {
        ARROW_RETURN_NOT_OK(append(*piece.data, piece.first, piece.count));
    }
    return arrow::Status::OK();
}

std::shared_ptr<arrow::ArrayData>
Column::view() const
{
    auto data = std::make_shared<arrow::ArrayData>(type_, length_, null_count_);

    data->buffers.push_back(
        null_count_ > 0 ? view_of(validity_, arrow::bit_util::BytesForBits(length_)) : nullptr);
    if (layout_ == Layout::kBytes || layout_ == Layout::kList) {
        data->buffers.push_back(view_of(offsets_, (length_ + 1) * 4));
    }
    if (layout_ == Layout::kBits) {
        data->buffers.push_back(view_of(values_, arrow::bit_util::BytesForBits(length_)));
    } else if (layout_ == Layout::kFixed) {
        data->buffers.push_back(view_of(values_, length_ * width_));
    } else if (layout_ == Layout::kBytes) {
        data->buffers.push_back(view_of(values_, value_bytes_));
    }
    for (const auto &child : children_) {
        data->child_data.push_back(child->view());
    }
    return data;
}

void
Column::clear()
{
    length_ = 0;
    null_count_ = 0;
    has_validity_ = false;
    value_bytes_ = 0;
    for (const auto &child : children_) {
        child->clear();
    }
}

int64_t
Column::bytes() const
{
    int64_t sum = layout_ == Layout::kFixed ? length_ * width_ : value_bytes_;

    for (const auto &child : children_) {
        sum += child->bytes();
    }
    return sum;
}

arrow::Result<std::unique_ptr<Gather>>
Gather::make(const std::shared_ptr<arrow::Schema> &schema, arrow::MemoryPool *pool)
{
    std::unique_ptr<Gather> gather(new Gather(schema));

    for (const auto &field : schema->fields()) {
        ARROW_ASSIGN_OR_RAISE(auto column, Column::make(field->type(), pool));
        if (column->has_offsets()) {
            gather->with_offsets_.push_back(gather->columns_.size());
        }
        gather->has_nested_ = gather->has_nested_ || column->is_nested();
        gather->columns_.push_back(std::move(column));
    }
    gather->more_.resize(gather->with_offsets_.size());
    gather->noted_bytes_.resize(gather->with_offsets_.size());
    return gather;
}

arrow::Status
Gather::check(const arrow::RecordBatch &rows)
{
    constexpr size_t kCheckedMax = 64;

    for (const auto &schema : checked_) {
        if (rows.schema() == schema) {
            return arrow::Status::OK();
        }
    }
    if (rows.num_columns() != schema_->num_fields()) {
        return arrow::Status::Invalid("rows of ", rows.num_columns(), " columns for a file of ",
                                      schema_->num_fields());
    }
    for (int i = 0; i < rows.num_columns(); i++) {
        const auto &from = *rows.schema()->field(i)->type();
        const auto &to = *schema_->field(i)->type();

        if (!is_compatible(from, to)) {
            return arrow::Status::Invalid("column ", schema_->field(i)->name(), " is ",
                                          to.ToString(), ", not ", from.ToString());
        }
    }
    if (checked_.size() == kCheckedMax) {
        checked_.clear();
    }
    checked_.push_back(rows.schema());
    return arrow::Status::OK();
}

std::shared_ptr<arrow::RecordBatch>
Gather::slice(const arrow::RecordBatch &rows, int64_t first, int64_t count) const
{
    std::vector<std::shared_ptr<arrow::ArrayData>> columns;

    columns.reserve(columns_.size());
    for (int i = 0; i < rows.num_columns(); i++) {
        columns.push_back(
            retyped(rows.column_data(i)->Slice(first, count), schema_->field(i)->type()));
    }
    return arrow::RecordBatch::Make(schema_, count, std::move(columns));
}

arrow::Result<bool>
Gather::has_room(const Columns &columns, int64_t first, int64_t count)
{
    if (noted_.size() == kNotedMax || (has_light_noted_ && !columns.is_light)) {
        ARROW_RETURN_NOT_OK(settle());
    }
    if (columns.is_light) { // what is settled has little of what offsets reach
        return settled_bytes_ <= kLightBytes;
    }
    for (size_t i = 0; i < with_offsets_.size(); i++) {
        const size_t at = with_offsets_[i];
        const arrow::ArrayData &data = *columns.data[at];

        if (!columns_[at]->has_room(data, first, count, noted_bytes_[i])) {
            return false;
        }
        more_[i] = 0;
        if (!columns_[at]->is_nested()) {
            const int32_t *offsets = data.GetValues<int32_t>(1) + first;

            more_[i] = offsets[count] - offsets[0];
        }
    }
    return true;
}

void
Gather::append(const Columns &columns, int64_t first, int64_t count)
{
    if (row_count_ == 0) {
        twins_ = columns.twins;
    }
    noted_.push_back({&columns, first, count});
    row_count_ += count;
    has_light_noted_ = has_light_noted_ || columns.is_light;
    for (size_t i = 0; i < more_.size() && !columns.is_light; i++) {
        noted_bytes_[i] += more_[i];
        noted_total_ += more_[i];
    }
}

arrow::Status
Gather::settle()
{
    for (size_t i = 0; i < columns_.size() && !noted_.empty(); i++) {
        if (twins_[i] != static_cast<int>(i)) {
            continue;
        }
        pieces_.clear();
        for (const Noted &noted : noted_) {
            pieces_.push_back({noted.columns->data[i], noted.first, noted.count});
        }
        ARROW_RETURN_NOT_OK(columns_[i]->append(pieces_));
    }
    noted_.clear();
    has_light_noted_ = false;
    settled_bytes_ = bytes();
    std::fill(noted_bytes_.begin(), noted_bytes_.end(), 0);
    noted_total_ = 0;
    return arrow::Status::OK();
}

std::shared_ptr<arrow::RecordBatch>
Gather::view() const
{
    std::vector<std::shared_ptr<arrow::ArrayData>> columns;

    for (size_t i = 0; i < columns_.size(); i++) {
        const auto twin = static_cast<size_t>(twins_[i]);

        columns.push_back(
            twin == i ? columns_[i]->view()
                      : retyped(columns[twin], schema_->field(static_cast<int>(i))->type()));
    }
    return arrow::RecordBatch::Make(schema_, row_count_, std::move(columns));
}

void
Gather::clear()
{
    for (const auto &column : columns_) {
        column->clear();
    }
    noted_.clear();
    has_light_noted_ = false;
    settled_bytes_ = 0;
    row_count_ = 0;
}

int64_t
Gather::bytes() const
{
    int64_t sum = 0;

    for (const auto &column : columns_) {
        sum += column->bytes();
    }
    return sum;
}

} // namespace columnar
