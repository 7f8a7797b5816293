/*
 * Snapshots made visible: a file that appears whole, under a name that nobody has, and the hint
 * that points to it.
 */
#ifndef SINTER_TABLE_SNAPSHOT_WRITE_H
#define SINTER_TABLE_SNAPSHOT_WRITE_H

#include "table/table.h"

/** How far the writing of a snapshot got. */
typedef enum sinter__publish_step {
    SINTER__PUBLISH_NOT_BEGUN, /* nothing can be there */
    SINTER__PUBLISH_BEGUN,     /* the failure leaves open whether it is there, or will last */
    SINTER__PUBLISH_DONE
} sinter__publish_step;

/**
 * Write "snapshot/snapshot-ID", synced, and sync its directory. A directory that isn't there is
 * made. Of "snapshot/LATEST" a failure doesn't matter.
 *
 * @param step_out  what can be said of the snapshot, after failures too
 * @return          SINTER_OK, SINTER_E_EXISTS (this id is somebody else's; step NOT_BEGUN),
 *                  SINTER_E_NOMEM, failures of the io
 */
sinter_status
sinter__snapshot_publish(const sinter_table *table, const sinter_snapshot *snapshot,
                         sinter__publish_step *step_out, sinter_error *err);

/** Write "changelog/changelog-ID" of a snapshot that goes, and "LATEST" beside it. One that is
 *  there already is the same. @return SINTER_OK, SINTER_E_NOMEM, failures of the io */
sinter_status
sinter__changelog_publish(const sinter_table *table, const sinter_snapshot *snapshot,
                          sinter_error *err);

/** Make sure that the names of snapshots last. @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_IO */
sinter_status
sinter__snapshots_sync(const sinter_table *table, sinter_error *err);

/** Write "LATEST" or "EARLIEST" of a directory of numbered files, as far as that works. */
void
sinter__hint_write(const sinter_table *table, const char *dir, const char *name, int64_t number);

#endif
