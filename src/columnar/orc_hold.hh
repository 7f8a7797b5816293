// What lies between the ORC library and the file.
#ifndef SINTER_COLUMNAR_ORC_HOLD_HH
#define SINTER_COLUMNAR_ORC_HOLD_HH

#include <arrow/io/interfaces.h>

#include <memory>
#include <utility>
#include <vector>

#include "columnar/orc_mend.hh"
#include "columnar/orc_times.hh"
#include "columnar/session.hh"

namespace columnar
{

/**
 * Passes on what the ORC library writes, as it is, but for stripes whose rows have early fractions
 * (orc_times.hh): their bytes are held back until they are whole, put right, and written. The
 * library writes a stripe from beginning to end while it takes rows, so of rows that are handed to
 * it a few at a time, each time settle() finds nothing or one stripe.
 */
class OrcHold final : public arrow::io::OutputStream
{
  public:
    OrcHold(std::shared_ptr<Sink> sink, const OrcMendOptions &options, size_t type_count)
        : sink_(std::move(sink)), options_(options), types_(type_count), held_(options.pool)
    {
    }

    /** The library will take these rows next. NotImplemented: see find_early_times(). */
    arrow::Status look(const arrow::RecordBatch &rows);
    /** It took them: write the stripe that was held back, if it ended. */
    arrow::Status settle();
    /** Is the stripe held back that the next rows are in? */
    bool holds() const
    {
        return holds_;
    }
    /** The library will close the file. Where a stripe was held back, the end is. */
    void begin_end();
    /** Write the end, after the library closed the file. */
    arrow::Status finish();

    using arrow::io::OutputStream::Write;
    arrow::Status Write(const void *data, int64_t nbytes) override;
    arrow::Status Close() override;
    bool closed() const override;
    arrow::Result<int64_t> Tell() const override;

  private:
    arrow::Status mend(uint64_t footer, uint64_t footer_bytes);

    const std::shared_ptr<Sink> sink_;
    const OrcMendOptions options_;
    bool holds_ = false;
    std::vector<bool> types_; // with early fractions in the stripe that is held back
    uint64_t offset_ = 0;     // of what the library writes next, as it counts
    Pieces held_;
    uint64_t held_offset_ = 0;    // of the first byte held back, as it counts
    std::vector<uint64_t> marks_; // where in held_ it began to write
    std::vector<OrcMended> mended_;
};

} // namespace columnar

#endif
