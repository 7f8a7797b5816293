#include "columnar/orc_times.hh"

#include <arrow/array/data.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <cstdlib>

#include "columnar/cast.hh"

namespace columnar
{

namespace
{

constexpr int64_t kNanosOfMs = 1000000;
constexpr int64_t kNanosOfSecond = 1000 * kNanosOfMs;

bool
has_times(const arrow::DataType &type)
{
    return type.id() == arrow::Type::TIMESTAMP ||
           std::any_of(type.fields().begin(), type.fields().end(),
                       [](const auto &field) { return has_times(*field->type()); });
}

/** Looks through columns for early times. */
class EarlyTimes
{
  public:
    explicit EarlyTimes(std::vector<bool> *types) : types_(types)
    {
    }

    /** Values [first, end) of a type with this number. */
    arrow::Status look(const arrow::ArrayData &data, int64_t first, int64_t end, size_t number)
    {
        if (data.type->id() == arrow::Type::TIMESTAMP) {
            look_at_times(data, first, end, number);
            return arrow::Status::OK();
        }
        while (first < end && has_times(*data.type)) { // what a NULL has inside doesn't count
            int64_t next = data.buffers[0] == nullptr ? end : first;

            while (next < end && is_valid(data, next)) {
                next++;
            }
            if (next > first) {
                ARROW_RETURN_NOT_OK(look_inside(data, first, next, number));
            }
            first = next + 1;
        }
        return arrow::Status::OK();
    }

    bool has_any() const
    {
        return has_any_;
    }
    /** Is there one that the format can't hold? */
    bool has_lost() const
    {
        return has_lost_;
    }

  private:
    static bool is_valid(const arrow::ArrayData &data, int64_t at)
    {
        return data.buffers[0] == nullptr ||
               arrow::bit_util::GetBit(data.buffers[0]->data(),
                                       static_cast<uint64_t>(data.offset + at));
    }

    arrow::Status look_inside(const arrow::ArrayData &data, int64_t first, int64_t end,
                              size_t number)
    {
        switch (data.type->id()) {
        case arrow::Type::STRUCT:
            return look_at_parts(data, data.offset + first, data.offset + end, number);
        case arrow::Type::LIST:
        case arrow::Type::MAP: {
            const auto *offsets = data.GetValues<int32_t>(1);
            const arrow::ArrayData &child = *data.child_data[0];

            return data.type->id() == arrow::Type::LIST
                       ? look(child, offsets[first], offsets[end], number + 1)
                       : look_at_parts(child, child.offset + offsets[first],
                                       child.offset + offsets[end], number);
        }
        default:
            return arrow::Status::NotImplemented("timestamps in ", data.type->ToString(),
                                                 ", in ORC");
        }
    }

    /** The children of a struct, which don't know of its offset. */
    arrow::Status look_at_parts(const arrow::ArrayData &data, int64_t first, int64_t end,
                                size_t number)
    {
        number++;
        for (const auto &child : data.child_data) {
            ARROW_RETURN_NOT_OK(look(*child, first, end, number));
            number = number_behind(*child->type, number);
        }
        return arrow::Status::OK();
    }

    void look_at_times(const arrow::ArrayData &data, int64_t first, int64_t end, size_t number)
    {
        static constexpr int64_t per_second[] = {1, 1000, 1000000, kNanosOfSecond};
        const int64_t second =
            per_second[static_cast<const arrow::TimestampType &>(*data.type).unit()];
        const int64_t nanos = kNanosOfSecond / second; // of a unit
        const auto *values = data.GetValues<int64_t>(1);

        for (int64_t i = first; i < end; i++) {
            if (values[i] < 0 && values[i] % second != 0 && is_valid(data, i)) {
                has_any_ = true;
                (*types_)[number] = true;
                has_lost_ = has_lost_ ||
                            (values[i] > -second && (values[i] + second) * nanos >= kNanosOfMs);
            }
        }
    }

    std::vector<bool> *const types_;
    bool has_any_ = false;
    bool has_lost_ = false;
};

/** Nanoseconds of a time, of which digits that are 0 at the end are counted rather than stored. */
int64_t
stored_nanos(int64_t nanos)
{
    int64_t zeros = 0;

    while (nanos != 0 && zeros < 8 && nanos % 10 == 0) {
        nanos /= 10;
        zeros++;
    }
    if (zeros == 1) { // two at least
        nanos *= 10;
        zeros = 0;
    }
    return nanos * 8 + (zeros > 0 ? zeros - 1 : 0);
}

/** Can this be what the least or greatest time has behind its milliseconds? */
bool
are_nanos(int64_t nanos)
{
    return nanos > -kNanosOfMs && nanos < kNanosOfMs;
}

/** Milliseconds of the least and greatest time, once or twice, and what these have behind them,
 *  which counts one more than it is. */
arrow::Result<Message>
mend_times(const Fields &times)
{
    enum { MIN = 1, MAX = 2, MIN_UTC = 3, MAX_UTC = 4, MIN_NANOS = 5, MAX_NANOS = 6 };
    constexpr int64_t kMaxNanosUsual = kNanosOfMs - 1; // is left out
    int64_t least = 0;
    int64_t greatest = 0;
    Message out;

    for (Fields fields = times; fields.next();) {
        const auto nanos = static_cast<int64_t>(fields.value()) - 1;

        least = fields.field() == MIN_NANOS ? nanos : least;
        greatest = fields.field() == MAX_NANOS ? nanos : greatest;
    }
    if (!are_nanos(least) || !are_nanos(greatest)) {
        return arrow::Status::Invalid("statistics of timestamps have other nanoseconds");
    }
    Fields in = times;
    while (in.next()) {
        const bool is_least = in.field() == MIN || in.field() == MIN_UTC || in.field() == MIN_NANOS;
        const int64_t nanos = is_least ? least : greatest;

        if (in.field() < MIN || in.field() > MAX_NANOS || nanos >= 0) {
            out.copy(in);
        } else if (in.field() <= MAX_UTC) {
            out.number(in.field(), zigzag_of(signed_of(in.value()) - 1));
        } else if (is_least || nanos + kNanosOfMs != kMaxNanosUsual) {
            out.number(in.field(), static_cast<uint64_t>(nanos + kNanosOfMs + 1));
        }
    }
    if (!in.is_whole()) {
        return arrow::Status::Invalid("statistics of timestamps are damaged");
    }
    return out;
}

} // namespace

arrow::Result<bool>
find_early_times(const arrow::RecordBatch &rows, std::vector<bool> *types)
{
    size_t number = 1; // the root has 0
    bool has_any = false;

    for (int i = 0; i < rows.num_columns(); i++) {
        const arrow::ArrayData &data = *rows.column_data(i);
        EarlyTimes times(types);

        ARROW_RETURN_NOT_OK(times.look(data, 0, data.length, number));
        if (times.has_lost()) {
            return arrow::Status::NotImplemented(
                "a timestamp with milliseconds in the last second before 1970, in ORC, column ",
                rows.schema()->field(i)->name());
        }
        number = number_behind(*data.type, number);
        has_any = has_any || times.has_any();
    }
    return has_any;
}

arrow::Result<OrcTime>
mend_nanos(int64_t *stored)
{
    const int64_t zeros = *stored & 7;
    int64_t nanos = (*stored - zeros) / 8;

    for (int64_t i = zeros > 0 ? -1 : 0; i < zeros && std::abs(nanos) < kNanosOfSecond; i++) {
        nanos *= 10;
    }
    if (std::abs(nanos) >= kNanosOfSecond) {
        return arrow::Status::Invalid("nanoseconds of a timestamp are a second");
    }
    if (nanos >= 0) {
        return OrcTime::RIGHT;
    }
    nanos += kNanosOfSecond;
    *stored = stored_nanos(nanos);
    return nanos < kNanosOfMs ? OrcTime::EARLY_BY_LESS : OrcTime::EARLY;
}

arrow::Status
mend_second(OrcTime time, int64_t *stored)
{
    constexpr int64_t kFirst = -1420070400; // of 1970; they count from 2015 on

    *stored -= time == OrcTime::EARLY_BY_LESS ? 1 : 0;
    return time == OrcTime::RIGHT || *stored < kFirst
               ? arrow::Status::OK()
               : arrow::Status::Invalid("a second of 1970 has nanoseconds below 0");
}

arrow::Result<Message>
mend_statistics(Fields statistics)
{
    enum { TIMESTAMPS = 9 };
    Message out;

    while (statistics.next()) {
        if (statistics.field() == TIMESTAMPS && statistics.bytes() != nullptr) {
            ARROW_ASSIGN_OR_RAISE(const Message times, mend_times(statistics.message()));

            out.message(TIMESTAMPS, times);
        } else {
            out.copy(statistics);
        }
    }
    if (!statistics.is_whole()) {
        return arrow::Status::Invalid("statistics of a column are damaged");
    }
    return out;
}

} // namespace columnar
