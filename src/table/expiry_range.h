/*
 * Which snapshots of a table expire, or which changelogs that outlived theirs.
 */
#ifndef SINTER_TABLE_EXPIRY_RANGE_H
#define SINTER_TABLE_EXPIRY_RANGE_H

#include "sinter/table_maintenance.h"
#include "table/table.h"

/** How long changelogs live. */
typedef struct sinter__changelog_lives {
    bool are_longer; /* than those of snapshots: changelogs are kept on their own */
    int64_t retain_min;
    int64_t retain_max;
    int64_t older_than_ms;
} sinter__changelog_lives;

/** Begin with `table` and `is_of_changelogs`; the rest is found. */
typedef struct sinter__expiry_range {
    sinter_table *table;
    bool is_of_changelogs;
    bool has_producer; /* changes are in changelog files, else in deltas */
    sinter__changelog_lives lives;
    sinter_expire_options options;
    bool clean_directories; /* snapshot.clean-empty-directories */
    int64_t begin;
    int64_t end;
    int64_t first_kept; /* `end`, or for changelogs the next that there is */
} sinter__expiry_range;

/** The directory and the beginning of names: those of snapshots, or of changelogs. */
const char *
sinter__expiry_dir(const sinter__expiry_range *self);
const char *
sinter__expiry_prefix(const sinter__expiry_range *self);

/**
 * Take the options, and fill in what the caller leaves to the table.
 * @param given  NULL: all is left to the table
 * @return       SINTER_OK, SINTER_E_INVALID (an argument, or an option, named)
 */
sinter_status
sinter__expiry_range_load(sinter__expiry_range *self, const sinter_expire_options *given,
                          sinter_error *err);

/**
 * Find begin, end and what is kept first.
 * @return SINTER_OK; SINTER_END: there is nothing to do; failures of reading snapshots and
 * consumers
 */
sinter_status
sinter__expiry_range_find(sinter__expiry_range *self, sinter_error *err);

/**
 * Begin behind a gap in the numbers: what lies before it was expired by somebody who was
 * interrupted.
 * @return SINTER_OK, SINTER_E_NOMEM, failures of the io
 */
sinter_status
sinter__expiry_range_skip_gap(sinter__expiry_range *self, sinter_error *err);

/** Read a snapshot, or changelog, by its number. @return as sinter_table_snapshot_get() */
sinter_status
sinter__expiry_range_get(const sinter__expiry_range *self, int64_t id, sinter_snapshot **out,
                         sinter_error *err);

#endif
