/*
 * Jobs that wait, in the order in which they should run.
 *
 * A job comes before another when it has more sorted runs, where each second that one has waited
 * longer is worth so many runs. That order never changes while both wait: a job's *due time* is
 * when it was queued, less the time that its runs are worth, and the earliest is due first.
 */
#ifndef SINTER_COMPACT_JOB_QUEUE_H
#define SINTER_COMPACT_JOB_QUEUE_H

#include "compact/scheduler.h"

/** The due time of a job whose runs are worth 1/`age_runs_per_second` seconds each. */
int64_t
sinter__job_due_ns(const sinter__job *job, uint32_t age_runs_per_second);

/** Add a job, whose due time and number are set, to the queue with `first` in front.
 *  @return the new first */
sinter__job *
sinter__job_queue_add(sinter__job *first, sinter__job *job);

/** Take a job out, wherever it is. @return the new first, NULL when none is left */
sinter__job *
sinter__job_queue_remove(sinter__job *first, sinter__job *job);

#endif
