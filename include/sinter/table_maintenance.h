/*
 * Keeping a table clean: snapshots that are no longer wanted, and files that nobody knows
 * (table-layout.md 14).
 */
#ifndef SINTER_TABLE_MAINTENANCE_H
#define SINTER_TABLE_MAINTENANCE_H

#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is told of a file that goes, or would go. */
typedef struct sinter_removed_file {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path; /* for the call */
    uint64_t bytes;   /* 0 where that isn't known */
} sinter_removed_file;

enum { SINTER_REMOVE_DRY_RUN = 1u << 0 /* tell what would be done, and do nothing */ };

/** How to expire snapshots. Zeroed with struct_size set: as the table's options say. */
typedef struct sinter_expire_options {
    uint32_t struct_size;
    uint32_t flags;        /* SINTER_REMOVE_DRY_RUN */
    int64_t retain_min;    /* snapshots that stay at least; 0: snapshot.num-retained.min */
    int64_t retain_max;    /* those beyond go whatever their age; 0: snapshot.num-retained.max */
    int64_t older_than_ms; /* in between those go that are older, by the Unix epoch; 0: now without
                              snapshot.time-retained */
    int64_t limit;         /* snapshots at most at a time; 0: snapshot.expire.limit */
    void (*each)(void *ctx, const sinter_removed_file *file); /* NULL: nobody asks */
    void *ctx;
} sinter_expire_options;

/** What was done. */
typedef struct sinter_expire_result {
    uint32_t struct_size;
    uint32_t reserved32;
    int64_t first_id; /* of the snapshots that went; 0: none */
    int64_t last_id;  /* inclusive */
    uint64_t snapshots;
    uint64_t data_files; /* changelog files and what lies beside data files included */
    uint64_t meta_files; /* lists, manifests, index files, statistics */
    uint64_t left_files; /* that could not be removed: cleaning orphans finds them */
    uint64_t changelogs; /* that outlived their snapshots, and went now */
    uint64_t reserved[3];
} sinter_expire_result;

/**
 * Expire snapshots, the oldest first, with the files that nothing else needs: no snapshot that
 * stays, no tag, no branch, and no consumer, which keeps all snapshots from its next one on.
 *
 * Where changelogs outlive their snapshots (changelog.num-retained.*, changelog.time-retained), a
 * snapshot that goes becomes a changelog, and with it stays what reading its changes takes: its
 * changelog files, or without a changelog-producer what its delta appended. Then changelogs expire.
 *
 * Everything that goes is found before anything is removed. Then the snapshots go, and after them
 * their files: a reader that begins meanwhile sees a snapshot whole or not at all, and an
 * interruption leaves files that sinter_table_remove_orphans() finds.
 *
 * @param options  NULL: as the table's options say
 * @param out      what was done, or would be; NULL: nobody asks. Its struct_size must be set
 * @return         SINTER_OK, also when there is nothing to do;
 *                 SINTER_E_CORRUPT      metadata that can't be read: nothing is removed
 *                 SINTER_E_INVALID      arguments or options that contradict each other
 *                 SINTER_E_NOMEM, SINTER_E_IO
 * Others may commit and read at the same time. Source: table-layout.md 14.1, 14.2.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_expire(sinter_table *table, const sinter_expire_options *options,
                    sinter_expire_result *out, sinter_error *err);

/** How to clean. Zeroed with struct_size set: files older than a day. */
typedef struct sinter_orphan_options {
    uint32_t struct_size;
    uint32_t flags;        /* SINTER_REMOVE_DRY_RUN */
    int64_t older_than_ms; /* by the Unix epoch; 0: a day ago. Not in the future */
    void (*each)(void *ctx, const sinter_removed_file *file); /* NULL: nobody asks */
    void *ctx;
} sinter_orphan_options;

/** What was done. */
typedef struct sinter_orphan_result {
    uint32_t struct_size;
    uint32_t reserved32;
    uint64_t files;
    uint64_t bytes;
    uint64_t temporary_files; /* that dead processes left */
    uint64_t left_files;      /* that could not be removed */
    uint64_t reserved[4];
} sinter_orphan_result;

/**
 * Remove files that no snapshot, tag or changelog of any branch names: in directories of buckets,
 * of manifests, index files and statistics, and what has no proper name among snapshots and
 * changelogs.
 *
 * First the files are listed that are older than the limit, then all that are in use; what was
 * written or committed meanwhile is never among those that go. When metadata that exists can't be
 * read, nothing is removed.
 *
 * @param table    of any branch: all are looked at
 * @param options  NULL: defaults
 * @param out      what was done, or would be; NULL: nobody asks. Its struct_size must be set
 * @return         SINTER_OK;
 *                 SINTER_E_INVALID    a limit in the future
 *                 SINTER_E_NOT_FOUND  a branch without a schema
 *                 SINTER_E_CORRUPT, SINTER_E_NOMEM, SINTER_E_IO
 * Source: table-layout.md 14.4.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_remove_orphans(sinter_table *table, const sinter_orphan_options *options,
                            sinter_orphan_result *out, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
