#include "columnar/orc_column.hh"

#include <utility>

namespace columnar
{

namespace
{

arrow::Status
bad_stream()
{
    return arrow::Status::Invalid("a stream of timestamps is damaged");
}

arrow::Status
bad_index()
{
    return arrow::Status::Invalid("the index of a column of timestamps is damaged");
}

} // namespace

arrow::Status
OrcRuns::open(const OrcStream &stream, std::vector<OrcPlace> *places)
{
    places_ = places;
    ARROW_RETURN_NOT_OK(reader_.open(stream.begin, stream.size));
    return writer_.open();
}

/** The places at which the old stream's reader stands are those at which the new one's writer
 *  does. */
arrow::Status
OrcRuns::move_places()
{
    for (; moved_ < places_->size(); moved_++) {
        OrcPlace &place = (*places_)[moved_];
        const uint64_t offset = reader_.offset_of(place.chunk, place.offset);

        if (offset > reader_.offset()) {
            return arrow::Status::OK();
        }
        if (offset < reader_.offset()) { // within a run
            return bad_index();
        }
        writer_.place(&place.chunk, &place.offset);
    }
    return arrow::Status::OK();
}

arrow::Result<bool>
OrcRuns::next()
{
    ARROW_RETURN_NOT_OK(reader_.fill(kOrcRunBytes));
    ARROW_RETURN_NOT_OK(move_places());
    if (reader_.size() == 0) {
        ARROW_RETURN_NOT_OK(writer_.finish());
        return moved_ == places_->size() ? arrow::Result<bool>(false) : bad_index();
    }
    return decode_orc_run(reader_.data(), reader_.size(), is_signed_, &run_)
               ? arrow::Result<bool>(true)
               : bad_stream();
}

arrow::Status
OrcRuns::put(bool has_changed)
{
    uint8_t bytes[kOrcRunBytes];
    const uint8_t *data = reader_.data();
    size_t size = run_.bytes;

    if (has_changed) {
        size = encode_orc_run(run_.values, run_.count, is_signed_, bytes);
        data = bytes;
    }
    ARROW_RETURN_NOT_OK(writer_.put(data, size));
    reader_.skip(run_.bytes);
    return arrow::Status::OK();
}

arrow::Status
OrcColumn::read_entry(const Fields &entry)
{
    enum { POSITIONS = 1 };
    const size_t numbers = place_numbers();
    std::vector<uint64_t> positions;
    Fields in = entry;

    while (in.next()) {
        if (in.field() == POSITIONS && !in.numbers(&positions)) {
            return bad_index();
        }
    }
    // A place and a count in a run each; PRESENT has a count in a byte, too.
    const size_t own = 2 * (numbers + 1);

    if (!in.is_whole() || (positions.size() != own && positions.size() != own + numbers + 2)) {
        return bad_index();
    }
    for (size_t i = 0; i < 2; i++) {
        const uint64_t *at = &positions[positions.size() - own + i * (numbers + 1)];

        (i == 0 ? data_places_ : second_places_).push_back({at[0], numbers == 2 ? at[1] : 0});
    }
    positions_.push_back(std::move(positions));
    return arrow::Status::OK();
}

arrow::Status
OrcColumn::read_index(const OrcStream &index)
{
    enum { ENTRIES = 1 };
    std::string stored;

    if (index.size > kMessageBytesMax) {
        return bad_index();
    }
    stored.resize(index.size);
    ARROW_RETURN_NOT_OK(held_.copy(index.begin, index.size, stored.data()));
    ARROW_ASSIGN_OR_RAISE(raw_index_, decode_chunks(chunks_, stored, kMessageBytesMax));
    Fields in = fields_of(raw_index_);

    while (in.next()) {
        if (in.field() == ENTRIES && in.bytes() != nullptr) {
            ARROW_RETURN_NOT_OK(read_entry(in.message()));
        }
    }
    return in.is_whole() ? arrow::Status::OK() : bad_index();
}

arrow::Result<Message>
OrcColumn::mend_entry(Fields entry, size_t number) const
{
    enum { POSITIONS = 1, STATISTICS = 2 };
    const size_t numbers = place_numbers();
    std::vector<uint64_t> positions = positions_[number];
    Message out;

    for (size_t i = 0; i < 2; i++) {
        const OrcPlace &place = (i == 0 ? data_places_ : second_places_)[number];
        uint64_t *at = &positions[positions.size() - (2 - i) * (numbers + 1)];

        at[0] = numbers == 2 ? place.chunk : place.chunk + place.offset;
        at[1] = numbers == 2 ? place.offset : at[1];
    }
    while (entry.next()) {
        if (entry.field() == POSITIONS) {
            out.numbers(POSITIONS, positions);
        } else if (entry.field() == STATISTICS && entry.bytes() != nullptr) {
            ARROW_ASSIGN_OR_RAISE(const Message statistics, mend_statistics(entry.message()));

            out.message(STATISTICS, statistics);
        } else {
            out.copy(entry);
        }
    }
    return out;
}

arrow::Status
OrcColumn::mend_index()
{
    enum { ENTRIES = 1 };
    Fields in = fields_of(raw_index_);
    size_t number = 0;
    Message out;

    while (in.next()) {
        if (in.field() == ENTRIES && in.bytes() != nullptr) {
            ARROW_ASSIGN_OR_RAISE(const Message entry, mend_entry(in.message(), number));

            out.message(ENTRIES, entry);
            number++;
        } else {
            out.copy(in);
        }
    }
    return encode_chunks(chunks_, out.data()).Value(&index_);
}

arrow::Status
OrcColumn::mend_nanos_run()
{
    bool has_changed = false;

    ARROW_ASSIGN_OR_RAISE(const bool has_run, second_.next());
    if (!has_run) {
        return bad_stream();
    }
    OrcRun &run = second_.run();

    times_.clear();
    for (size_t i = 0; i < run.count; i++) {
        ARROW_ASSIGN_OR_RAISE(const OrcTime time, mend_nanos(&run.values[i]));

        has_changed = has_changed || time != OrcTime::RIGHT;
        times_.push_back(time);
    }
    return second_.put(has_changed);
}

/** Values go through both streams side by side, though their runs end at different ones. */
arrow::Status
OrcColumn::mend_values()
{
    size_t at = 0; // in times_

    for (;;) {
        bool has_changed = false;

        ARROW_ASSIGN_OR_RAISE(const bool has_run, data_.next());
        if (!has_run) {
            break;
        }
        for (size_t i = 0; i < data_.run().count; i++) {
            if (at == times_.size()) {
                ARROW_RETURN_NOT_OK(mend_nanos_run());
                at = 0;
            }
            ARROW_RETURN_NOT_OK(mend_second(times_[at], &data_.run().values[i]));
            has_changed = has_changed || times_[at] == OrcTime::EARLY_BY_LESS;
            at++;
        }
        ARROW_RETURN_NOT_OK(data_.put(has_changed));
    }
    ARROW_ASSIGN_OR_RAISE(const bool has_more, second_.next());
    return has_more || at != times_.size() ? bad_stream() : arrow::Status::OK();
}

arrow::Status
OrcColumn::mend(const OrcStream &data, const OrcStream &second, const OrcStream &index)
{
    if (index.size > 0) {
        ARROW_RETURN_NOT_OK(read_index(index));
    }
    ARROW_RETURN_NOT_OK(data_.open(data, &data_places_));
    ARROW_RETURN_NOT_OK(second_.open(second, &second_places_));
    ARROW_RETURN_NOT_OK(mend_values());
    return index.size > 0 ? mend_index() : arrow::Status::OK();
}

} // namespace columnar
