// Stripes with early fractions (orc_times.hh), put right before they go into the file, and the end
// of a file that has had some.
#ifndef SINTER_COLUMNAR_ORC_MEND_HH
#define SINTER_COLUMNAR_ORC_MEND_HH

#include <arrow/io/interfaces.h>

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/orc_chunks.hh"

namespace columnar
{

/** Bytes of a stripe's three parts. */
struct OrcLengths {
    uint64_t index = 0;
    uint64_t data = 0;
    uint64_t footer = 0;

    uint64_t sum() const
    {
        return index + data + footer;
    }
};

/** A stripe that was put right. */
struct OrcMended {
    uint64_t offset = 0; // that the ORC library gave it
    OrcLengths before;
    OrcLengths after;
};

/** What all stripes of a file share. */
struct OrcMendOptions {
    OrcChunks chunks;
    arrow::MemoryPool *pool = nullptr;
};

/**
 * Where in the bytes of a stripe its footer begins: at one of `marks`, where the ORC library began
 * to write something, the last of which the lengths in the footer agree with. Invalid: at none, as
 * if it were not one whole stripe.
 */
arrow::Result<uint64_t>
find_stripe_footer(const OrcMendOptions &options, const Pieces &held,
                   const std::vector<uint64_t> &marks);

/**
 * Write the stripe that the first bytes of `held` are, put right.
 * @param footer  where its footer begins, and how many bytes it has
 * @param types   the numbers of types that have early fractions
 * @param out     lengths before and after
 */
arrow::Status
mend_stripe(const OrcMendOptions &options, const Pieces &held, uint64_t footer,
            uint64_t footer_bytes, const std::vector<bool> &types, arrow::io::OutputStream *to,
            OrcMended *out);

/** The end of a file, from its metadata on. */
class OrcEnd
{
  public:
    explicit OrcEnd(const OrcMendOptions &options) : options_(options)
    {
    }
    /** Find out what the last bytes of `held` are. */
    arrow::Status open(const Pieces &held);
    /** Where it begins. */
    uint64_t begin() const
    {
        return begin_;
    }
    /** The last stripe's place and lengths, as the ORC library has them. Invalid: there is none. */
    arrow::Status last_stripe(uint64_t *offset, OrcLengths *out) const;
    /** Write it, put right. `mended`: in the order of the file. */
    arrow::Status write(const std::vector<OrcMended> &mended, arrow::io::OutputStream *to) const;

  private:
    arrow::Status read_postscript(const std::string &bytes, uint64_t room);

    const OrcMendOptions options_;
    uint64_t begin_ = 0;
    uint64_t metadata_bytes_ = 0;
    uint64_t footer_bytes_ = 0;
    std::string metadata_; // decoded
    std::string footer_;
    std::string postscript_;
};

} // namespace columnar

#endif
