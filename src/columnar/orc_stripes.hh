// Stripes of an ORC file, looked at before the ORC library reads them: it takes an error of zstd
// for the size of what was decoded.
#ifndef SINTER_COLUMNAR_ORC_STRIPES_HH
#define SINTER_COLUMNAR_ORC_STRIPES_HH

#include <arrow/result.h>
#include <arrow/type.h>

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/orc_chunks.hh"
#include "columnar/session.hh"

namespace columnar
{

class OrcStripes
{
  public:
    OrcStripes() = default;
    /** `tail`: the footer as the ORC library hands it out. */
    explicit OrcStripes(const std::string &tail);

    size_t size() const
    {
        return stripes_.size();
    }
    /** The footer of a stripe, decoded. */
    arrow::Result<std::string> footer(size_t stripe, Source &source) const;
    /** Can all that the columns have in a stripe be decoded? `types`: see types_of(). */
    arrow::Status check(size_t stripe, const std::vector<bool> &types, Source &source) const;

  private:
    struct Stripe {
        uint64_t offset = 0;
        uint64_t footer_offset = 0;
        uint64_t footer_bytes = 0;
    };
    static Stripe stripe_of(const uint8_t *bytes, uint64_t size);

    OrcChunks chunks_;
    std::vector<Stripe> stripes_;
};

/** The numbers that ORC gives to the types of some columns, or of all when none is named. */
std::vector<bool>
types_of(const arrow::Schema &schema, const std::vector<int> &columns);

} // namespace columnar

#endif
