// The end of an ORC file, looked at before the ORC library does, which trusts what it reads there.
#ifndef SINTER_COLUMNAR_ORC_TAIL_HH
#define SINTER_COLUMNAR_ORC_TAIL_HH

#include <arrow/status.h>

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/cast.hh"
#include "columnar/session.hh"

namespace columnar
{

/** Is there a postscript whose sizes lie within the file, and a footer that can be decoded? */
arrow::Status
check_orc_tail(Source &source);

/** Are there no types that Arrow ends the process at? `tail`: the footer as the ORC library hands
 * it out. */
arrow::Status
check_orc_types(const std::string &tail);

/** Of each type, by its number, whether its statistics tell of timestamps beyond 64 bits of
 *  nanoseconds. */
std::vector<Span>
spans_of(const std::string &tail);

} // namespace columnar

#endif
