/*
 * Levels, as those see them that end a bucket.
 */
#ifndef SINTER_COMPACT_LEVELS_H
#define SINTER_COMPACT_LEVELS_H

#include "sinter/levels.h"

/** The bucket ends: from here on the levels list nothing, so that each file may be discarded. Only
 *  sinter_levels_discard() and sinter_levels_destroy() may follow; sets that are held live on.
 * Needs no memory. */
void
sinter__levels_abandon(sinter_levels *levels);

#endif
