/*
 * A table in memory that commits are made to: columns p INT (partition), k INT (key), v STRING.
 */
#ifndef SINTER_TESTS_COMMIT_BED_H
#define SINTER_TESTS_COMMIT_BED_H

#include "place.h"
#include "table/commit.h"

enum { BED_FILES_MAX = 64 };

/** A table and what entries of it live in. */
typedef struct commit_bed {
    place place;
    sinter_env env; /* of the table: the place's, with another io where a test wants it */
    sinter__arena arena;
    sinter_table *table;
    const char *user; /* of commits that name none; NULL: "u" */
} commit_bed;

/** A data file as tests speak of it. */
typedef struct bed_file {
    const char *name;
    int32_t partition;
    int32_t bucket;
    int32_t level;
    int32_t min; /* keys */
    int32_t max;
    int64_t rows; /* 0: 1 */
} bed_file;

/** Make the table; `options` are members of JSON, "\"bucket\":\"2\"". It is not opened. */
void
commit_bed_init(commit_bed *bed, const sinter_env *env, const char *options);

/** Open the table with bed->env. */
void
commit_bed_open(commit_bed *bed);

void
commit_bed_fini(commit_bed *bed);

/** An entry, in the bed's arena. */
const sinter__manifest_entry *
commit_bed_entry(commit_bed *bed, int32_t kind, const bed_file *file);

/** A partition's row. */
sinter_bytes
commit_bed_partition(commit_bed *bed, int32_t partition);

/** Commit; a request without a user has the bed's. */
sinter_status
commit_bed_commit(commit_bed *bed, sinter__commit_request request, sinter__commit_outcome *out,
                  sinter_error *err);

/** Append one file, which must work. @return the snapshot */
int64_t
commit_bed_append(commit_bed *bed, const bed_file *file);

/** The same, and its file is there. */
int64_t
commit_bed_append_file(commit_bed *bed, const bed_file *file);

/** Is there something at this path? */
bool
commit_bed_has(const commit_bed *bed, const char *path);

/** Do all live files of all snapshots exist? */
bool
commit_bed_is_whole(commit_bed *bed);

/** The names and levels of a snapshot's live files, "a@0 b@5", sorted. Static until the next call.
 *  @param id  0: the latest; without any: "none" */
const char *
commit_bed_live(commit_bed *bed, int64_t id);

/** Files in manifest/ that no snapshot names, and those that a snapshot names and aren't there. */
size_t
commit_bed_orphans(commit_bed *bed);
size_t
commit_bed_missing(commit_bed *bed);

#endif
