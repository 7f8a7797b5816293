/*
 * Where a rewrite is cut into parts by key range.
 *
 *     blocks by first key   a  b  c  d  e  f  g  h  i  j      of all files, with their stored bytes
 *     cuts into 3                     e        h              about a third of the bytes in each
 * part parts                 [.. e)   [e .. h)   [h ..]
 *
 * Only indexes are read. Cuts follow from the files and the numbers given, never from threads or
 * time, so the same task is cut at the same keys however it is run.
 */
#ifndef SINTER_COMPACT_CUT_H
#define SINTER_COMPACT_CUT_H

#include "base/arena.h"
#include "compact/run_reader.h"

/** Cuts of a rewrite: part i begins with key i - 1 and ends before key i. */
typedef struct sinter__cuts {
    sinter_bytes *keys; /* strictly ascending */
    size_t count;
    sinter__arena arena;
} sinter__cuts;

/** How finely to cut. */
typedef struct sinter__cut_limits {
    size_t parts_max;
    uint64_t part_bytes_min; /* at least 1 */
} sinter__cut_limits;

/**
 * Choose at most `parts_max - 1` cuts, so that parts hold about the same number of stored bytes,
 * and no part much less than `part_bytes_min`.
 *
 * @param read  how files are opened: format, base directory
 * @param out   release with sinter__cuts_fini(), also after a failure
 * @return      SINTER_OK, SINTER_E_NOMEM, failures of opening files; err->file names the file
 */
sinter_status
sinter__cuts_choose(const sinter_env *env, const sinter__read_config *read,
                    const sinter_rewrite_request *request, sinter__cut_limits limits,
                    sinter__cuts *out, sinter_error *err);

/** Release; takes a zeroed struct. */
void
sinter__cuts_fini(const sinter_env *env, sinter__cuts *cuts);

#endif
