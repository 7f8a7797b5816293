// The time zone that the times of an ORC file are of.
#ifndef SINTER_COLUMNAR_ORC_ZONE_HH
#define SINTER_COLUMNAR_ORC_ZONE_HH

#include <arrow/result.h>

#include "columnar/orc_stripes.hh"

namespace columnar
{

/** Seconds by which the writer's time zone was ahead of UTC when 1970 began. Stripes of several
 *  zones are NotImplemented, as are zones that this machine doesn't know. */
arrow::Result<int64_t>
zone_offset_of(const OrcStripes &stripes, Source &source);

} // namespace columnar

#endif
