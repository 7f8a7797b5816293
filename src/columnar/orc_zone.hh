// The time zone that the times of an ORC file are of.
#ifndef SINTER_COLUMNAR_ORC_ZONE_HH
#define SINTER_COLUMNAR_ORC_ZONE_HH

#include <arrow/result.h>

#include <string>

#include "columnar/session.hh"

namespace columnar
{

/** Seconds by which the writer's time zone was ahead of UTC when 1970 began. `tail`: the footer as
 *  the ORC library hands it out. Stripes of several zones are NotImplemented, as are zones that
 *  this machine doesn't know. */
arrow::Result<int64_t>
zone_offset_of(const std::string &tail, Source &source);

} // namespace columnar

#endif
