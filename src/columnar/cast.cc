#include "columnar/cast.hh"

#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <utility>

#include "columnar/gather.hh"

namespace columnar
{

namespace
{

using Wide = __int128;

constexpr int64_t kNanosPerMs = 1000000;
constexpr int64_t kTurnsMax = 20; // of 2^64 nanoseconds: more than the years 1 to 9999 are

arrow::TimeUnit::type
unit_of(const arrow::DataType &type)
{
    return static_cast<const arrow::TimestampType &>(type).unit();
}

int64_t
nanos_of(const arrow::DataType &type)
{
    switch (unit_of(type)) {
    case arrow::TimeUnit::NANO:
        return 1;
    case arrow::TimeUnit::MICRO:
        return 1000;
    case arrow::TimeUnit::MILLI:
        return kNanosPerMs;
    default:
        return 1000 * kNanosPerMs;
    }
}

int64_t
floor_div(int64_t value, int64_t by)
{
    const int64_t down = value / by;

    return down - (value % by < 0 ? 1 : 0);
}

/**
 * What a number of nanoseconds was before it was cut to 64 bits. Of the numbers that are equal to
 * it modulo 2^64 and whole in microseconds no two are less than 125 turns apart, so within the
 * years that there are it is the only one, or the value had more decimals than it is wanted with.
 */
bool
unwrap(int64_t nanos, const Span &span, Wide *out)
{
    constexpr Wide kDayNanos = Wide(86400000) * kNanosPerMs; // statistics are of some time zone

    for (int64_t turn = 0; turn <= kTurnsMax; turn = turn > 0 ? -turn : 1 - turn) {
        const Wide value = static_cast<Wide>(nanos) + static_cast<Wide>(turn) * (Wide(1) << 64);

        if (value % 1000 == 0 && value >= Wide(span.min_ms) * kNanosPerMs - kDayNanos &&
            value <= Wide(span.max_ms) * kNanosPerMs + kDayNanos) {
            *out = value;
            return true;
        }
    }
    return false;
}

arrow::Status
too_wide()
{
    return arrow::Status::NotImplemented(
        "timestamps before 1677 or after 2262 with more than six decimals");
}

bool
is_local_time(const arrow::DataType &type)
{
    return type.id() == arrow::Type::TIMESTAMP &&
           static_cast<const arrow::TimestampType &>(type).timezone().empty();
}

} // namespace

size_t
number_behind(const arrow::DataType &type, size_t number)
{
    if (type.id() == arrow::Type::MAP) { // Arrow has a struct between a map and its key
        const auto &map = static_cast<const arrow::MapType &>(type);

        return number_behind(*map.item_type(), number_behind(*map.key_type(), number + 1));
    }
    number++;
    for (const auto &field : type.fields()) {
        number = number_behind(*field->type(), number);
    }
    return number;
}

bool
can_cast(const arrow::DataType &from, const arrow::DataType &to)
{
    if (from.id() == arrow::Type::TIMESTAMP && to.id() == arrow::Type::TIMESTAMP) {
        return nanos_of(from) <= nanos_of(to);
    }
    if (from.id() == arrow::Type::INT32 && to.id() == arrow::Type::TIME32) {
        return static_cast<const arrow::Time32Type &>(to).unit() == arrow::TimeUnit::MILLI;
    }
    if (from.num_fields() == 0 || from.id() != to.id() || from.num_fields() != to.num_fields()) {
        return is_compatible(from, to);
    }
    for (int i = 0; i < from.num_fields(); i++) {
        if (!can_cast(*from.field(i)->type(), *to.field(i)->type())) {
            return false;
        }
    }
    return true;
}

bool
Cast::is_wide(const arrow::DataType &type, size_t *number) const
{
    const size_t end = number_behind(type, *number);
    bool found = false;

    for (; *number < end; ++*number) {
        found = found || (*number < spans_.size() && spans_[*number].is_wide);
    }
    return found;
}

bool
Cast::is_corrected(const arrow::DataType &type) const
{
    if (zone_offset_ == 0 || is_local_time(type)) {
        return zone_offset_ != 0;
    }
    return std::any_of(type.fields().begin(), type.fields().end(),
                       [this](const auto &field) { return is_corrected(*field->type()); });
}

template <typename Number>
Number
Cast::corrected(Number nanos) const
{
    constexpr Number kSecond = 1000 * kNanosPerMs;
    const Number second = nanos / kSecond - (nanos % kSecond < 0 ? 1 : 0);

    if (nanos - second * kSecond < kNanosPerMs) {
        return nanos;
    }
    if (second >= 0 && second < zone_offset_) {
        return nanos - kSecond;
    }
    return second >= zone_offset_ - 1 && second < -1 ? nanos + kSecond : nanos;
}

arrow::Status
Cast::unwrap_all(const arrow::ArrayData &data, const Span &span, int64_t by, bool corrects,
                 int64_t *target) const
{
    const uint8_t *valid = data.buffers[0] == nullptr ? nullptr : data.buffers[0]->data();
    const auto *source = data.GetValues<int64_t>(1);

    for (int64_t i = 0; i < data.length; i++) {
        Wide value = 0;

        if (valid != nullptr &&
            !arrow::bit_util::GetBit(valid, static_cast<uint64_t>(data.offset + i))) {
            target[i] = 0;
        } else if (unwrap(source[i], span, &value)) {
            value = corrects ? corrected(value) : value;
            target[i] = static_cast<int64_t>(value / by) - (value % by < 0 ? 1 : 0);
        } else {
            return too_wide();
        }
    }
    return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>>
Cast::timestamps(const std::shared_ptr<arrow::ArrayData> &data,
                 const std::shared_ptr<arrow::DataType> &to, const Span &span) const
{
    const int64_t by = nanos_of(*to) / nanos_of(*data->type);
    const bool corrects = is_corrected(*data->type);
    auto same = std::make_shared<arrow::ArrayData>(*data);

    same->type = to;
    if (by == 1 && span.is_wide) {
        return too_wide();
    }
    if (by == 1 && !corrects) {
        return same;
    }
    ARROW_ASSIGN_OR_RAISE(auto buffer,
                          arrow::AllocateBuffer((data->offset + data->length) * 8, pool_));
    auto *target = reinterpret_cast<int64_t *>(buffer->mutable_data()) + data->offset;
    if (span.is_wide) {
        ARROW_RETURN_NOT_OK(unwrap_all(*data, span, by, corrects, target));
    } else {
        const auto *source = data->GetValues<int64_t>(1);

        for (int64_t i = 0; i < data->length; i++) {
            target[i] = floor_div(corrects ? corrected(source[i]) : source[i], by);
        }
    }
    same->buffers[1] = std::move(buffer);
    return same;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>>
Cast::column(const std::shared_ptr<arrow::ArrayData> &data,
             const std::shared_ptr<arrow::DataType> &to, size_t *number) const
{
    const size_t own = *number;
    auto same = std::make_shared<arrow::ArrayData>(*data);

    *number = own + 1;
    if (data->type->id() == arrow::Type::TIMESTAMP) {
        return timestamps(data, to, own < spans_.size() ? spans_[own] : Span());
    }
    same->type = to;
    if (data->type->id() == arrow::Type::MAP) {
        const auto pairs = std::make_shared<arrow::ArrayData>(*data->child_data[0]);
        const auto &pair_type = to->field(0)->type();

        for (size_t i = 0; i < 2; i++) {
            ARROW_ASSIGN_OR_RAISE(pairs->child_data[i],
                                  column(pairs->child_data[i],
                                         pair_type->field(static_cast<int>(i))->type(), number));
        }
        pairs->type = pair_type;
        same->child_data[0] = pairs;
        return same;
    }
    for (size_t i = 0; i < same->child_data.size(); i++) {
        ARROW_ASSIGN_OR_RAISE(
            same->child_data[i],
            column(same->child_data[i], to->field(static_cast<int>(i))->type(), number));
    }
    return same;
}

} // namespace columnar
