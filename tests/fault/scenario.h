/*
 * One compaction on disk that has everything in it: runs that are spilled, two outputs and more, a
 * file that is upgraded, blocks that pass as they are, deletes that are dropped.
 *
 *   keys      0 .. 400        .. 4000      5000 .. 9000      10000 .. 10100
 *   level 0   f1 f2 f3 f4                                     g1 g2
 *   level 1   f0 ------------------
 *   level 2                                big
 *
 * All of it goes to level 5, the highest: {f0..f4} and {g1, g2} are rewritten, big is upgraded.
 */
#ifndef SINTER_TESTS_SCENARIO_H
#define SINTER_TESTS_SCENARIO_H

#include "model/bucket.h"

enum { SCENARIO_FILES = 8 };

typedef struct scenario {
    char dir[256];
    bucket bucket; /* over posix: what the test itself reads and writes with */
    sinter_compact_options options;
    sinter_file_meta files[SCENARIO_FILES];
    sinter_compact_task task;
} scenario;

/** Make the directory and the inputs; with `deletes_late` only g2 holds deletes. */
void
scenario_begin(scenario *s, bool deletes_late);

/** The same in a directory of `parent`. */
void
scenario_begin_in(scenario *s, const char *parent, bool deletes_late);

/** Remove everything. */
void
scenario_end(scenario *s);

/**
 * Run the task with `env` and check what must hold whatever came of it: inputs as they were, no
 * file left behind, no descriptor left open. After a success the outputs are checked, and removed.
 * Ends the process where something is wrong, naming `label` and `point`.
 */
sinter_status
scenario_run(scenario *s, const sinter_env *env, sinter_error *err, const char *label,
             uint64_t point);

/** The same without looking at the directory: after a crash new files may lie there. They must be
 *  whole; they are removed. */
sinter_status
scenario_run_crash(scenario *s, const sinter_env *env, sinter_error *err, uint64_t point);

/** Descriptors of this process. */
size_t
open_descriptors(void);

/** Make a directory: in `parent`, or, NULL, in $SINTER_TEST_DIR, in memory, or in /tmp. */
void
test_directory(char *out, size_t size, const char *parent, const char *name);

#endif
