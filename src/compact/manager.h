/*
 * What a write path needs of its manager beside the public calls.
 */
#ifndef SINTER_COMPACT_MANAGER_H
#define SINTER_COMPACT_MANAGER_H

#include "compact/metrics.h"
#include "sinter/manager.h"

/** Add files of one flush at once: all of them or, after a failure, none. */
sinter_status
sinter__manager_add_files(sinter_manager *manager, const sinter_file_meta *files, size_t count,
                          sinter_error *err);

/** Is there a task whose result was not taken? */
bool
sinter__manager_has_task(const sinter_manager *manager);

/** Has it ended, in a failure? */
bool
sinter__manager_has_failed(const sinter_manager *manager);

/** How far the bucket is on its way from the compaction trigger, 0, to the stop trigger, 1, while a
 *  compaction is being run by another thread; 0 when none is. */
double
sinter__manager_pressure(const sinter_manager *manager);

/** The levels, for retiring files that nobody may hold any more. */
sinter_levels *
sinter__manager_levels(const sinter_manager *manager);

/** The bucket's name; "" if it has none. */
const char *
sinter__manager_name(const sinter_manager *manager);

/** The bucket's counters, which the write path adds to. */
sinter__bucket_counters *
sinter__manager_counters(sinter_manager *manager);

#endif
