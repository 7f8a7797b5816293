#include "columnar/orc_hold.hh"

#include <algorithm>

namespace columnar
{

arrow::Status
OrcHold::look(const arrow::RecordBatch &rows)
{
    ARROW_ASSIGN_OR_RAISE(const bool has_early, find_early_times(rows, &types_));
    holds_ = holds_ || has_early;
    return arrow::Status::OK();
}

arrow::Status
OrcHold::mend(uint64_t footer, uint64_t footer_bytes)
{
    OrcMended mended;

    mended.offset = held_offset_;
    ARROW_RETURN_NOT_OK(
        mend_stripe(options_, held_, footer, footer_bytes, types_, sink_.get(), &mended));
    mended_.push_back(mended);
    return arrow::Status::OK();
}

arrow::Status
OrcHold::settle()
{
    if (held_.size() == 0) {
        return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const uint64_t footer, find_stripe_footer(options_, held_, marks_));
    ARROW_RETURN_NOT_OK(mend(footer, held_.size() - footer));
    held_.clear();
    marks_.clear();
    types_.assign(types_.size(), false);
    holds_ = false;
    return arrow::Status::OK();
}

void
OrcHold::begin_end()
{
    holds_ = holds_ || !mended_.empty();
}

arrow::Status
OrcHold::finish()
{
    OrcEnd end(options_);

    if (!holds_) {
        return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(end.open(held_));
    if (std::find(types_.begin(), types_.end(), true) ==
        types_.end()) { // a last stripe, or none, in which everything is right
        ARROW_RETURN_NOT_OK(held_.write(0, end.begin(), sink_.get()));
    } else {
        uint64_t offset = 0;
        OrcLengths lengths;

        ARROW_RETURN_NOT_OK(end.last_stripe(&offset, &lengths));
        if (offset != held_offset_ || lengths.footer > end.begin()) {
            return arrow::Status::Invalid("the last stripe is not where it is told to be");
        }
        ARROW_RETURN_NOT_OK(mend(end.begin() - lengths.footer, lengths.footer));
    }
    ARROW_RETURN_NOT_OK(end.write(mended_, sink_.get()));
    held_.clear();
    return arrow::Status::OK();
}

arrow::Status
OrcHold::Write(const void *data, int64_t nbytes)
{
    const uint64_t offset = offset_;

    offset_ += static_cast<uint64_t>(nbytes);
    if (!holds_ || offset == 0) { // a file's first bytes tell its format, and are in no stripe
        return sink_->Write(data, nbytes);
    }
    if (held_.size() == 0) {
        held_offset_ = offset;
    }
    marks_.push_back(held_.size());
    return held_.append(data, static_cast<uint64_t>(nbytes));
}

arrow::Status
OrcHold::Close()
{
    return sink_->Close();
}

bool
OrcHold::closed() const
{
    return sink_->closed();
}

arrow::Result<int64_t>
OrcHold::Tell() const
{
    return static_cast<int64_t>(offset_);
}

} // namespace columnar
