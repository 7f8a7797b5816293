/*
 * Hours of the day in which more is compacted (spec/compaction.md 7.2).
 */
#ifndef SINTER_COMPACT_OFF_PEAK_H
#define SINTER_COMPACT_OFF_PEAK_H

#include "sinter/compact.h"

/** The percentage by which `compaction.size-ratio` is raised at this local hour, 0..23. Pure. */
uint32_t
sinter__off_peak_ratio(const sinter_compact_options *options, int32_t hour);

#endif
