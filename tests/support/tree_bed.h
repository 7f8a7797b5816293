/*
 * A merge tree with what a program around it has: a directory in memory, a catalog that can be
 * stored, a clock that a test moves, and a model of what reads must show.
 */
#ifndef SINTER_TESTS_TREE_BED_H
#define SINTER_TESTS_TREE_BED_H

#include "sinter/io.h"
#include "sinter/merge_tree.h"
#include "support/records.h"

enum { BED_KEYS = 512, BED_FILES_MAX = 1024, BED_NAME_BYTES = 96, BED_VALUE_MAX = 4096 };

/** What each key holds: the number of the write that gave it its value; 0: it isn't there. */
typedef struct bed_state {
    uint64_t versions[BED_KEYS];
} bed_state;

/** A file as the catalog has it. */
typedef struct bed_file {
    char name[BED_NAME_BYTES];
    uint64_t size;
    uint64_t rows;
    int64_t deletes;
    int64_t sequence_min;
    int64_t sequence_max;
    int64_t created_ms;
    int64_t schema_id;
    int32_t level;
    int32_t source;
    uint8_t keys[2][4];
} bed_file;

/** The catalog: plain memory, stored as it is. */
typedef struct bed_catalog {
    uint64_t generation; /* commits so far */
    int64_t max_sequence;
    uint64_t count;
    bed_state state; /* what a read of these files shows */
    bed_file files[BED_FILES_MAX];
} bed_catalog;

/** A clock that stands still but for a tick with each look, and for who sleeps. */
typedef struct bed_clock {
    _Atomic int64_t now_ns;
    void *ctx;
    void (*slept)(void *ctx, int64_t ns); /* NULL: nobody is told */
} bed_clock;

/** Let an environment use it. */
void
bed_clock_use(bed_clock *clock, sinter_env *env);

typedef struct tree_bed {
    sinter_env env; /* for the tree; a test may put another io over `memory` */
    sinter_io *memory;
    const char *dir;
    bed_clock clock;
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_merge_tree_config config; /* files and sequence are set at opening */
    sinter_merge_tree *tree;
    size_t value_bytes;       /* of each value, at least 8 */
    const char *catalog_path; /* "dir/name"; NULL: the catalog is not stored */
    bed_catalog catalog;
    bed_state live;    /* with what is buffered */
    bed_state flushed; /* what a read of the tree's files shows */
    uint64_t flushes;  /* of the tree, when `flushed` was set */
    uint64_t writes;   /* that succeeded, over all trees */
    int64_t sequence;  /* at least as large as the last number given out; -1: none */
    const char *label; /* named in complaints; NULL: none */
    uint64_t seed;     /* as well */
} tree_bed;

/** An empty bucket; nothing is opened. `dir` is made on `memory` if missing; NULL: a memory io of
 *  its own. */
void
bed_init(tree_bed *bed, sinter_io *memory, const char *dir);

/** Close the tree; the directory goes with its io, if that is the bed's own. */
void
bed_fini(tree_bed *bed, bool owns_memory);

/** Set an option by its key; it must be good. */
void
bed_set(tree_bed *bed, const char *key, const char *value);

/** Open a tree with what the catalog holds. */
sinter_status
bed_open(tree_bed *bed, sinter_error *err);

/** Close it; what was not committed is forgotten. */
void
bed_close(tree_bed *bed);

/** Write a record of key number `key`, and note it in the model if it went in. */
sinter_status
bed_write(tree_bed *bed, uint32_t key, uint8_t kind, sinter_error *err);

/** The same, and it must go in. */
void
bed_put(tree_bed *bed, uint32_t key);
void
bed_delete(tree_bed *bed, uint32_t key);

/** Flush, or flush and compact. */
sinter_status
bed_flush(tree_bed *bed, sinter_error *err);
sinter_status
bed_compact(tree_bed *bed, bool full, sinter_error *err);

/** Prepare an increment; *out is NULL after a failure. */
sinter_status
bed_prepare(tree_bed *bed, bool wait, sinter_increment **out, sinter_error *err);

/** Prepare an increment, put it into the catalog, store that and tell the tree. Fails with what
 *  preparing or storing failed with; then the catalog is as before. */
sinter_status
bed_commit(tree_bed *bed, bool wait, sinter_error *err);

/** Apply an increment to the catalog; complains of a file that isn't there. */
void
bed_apply(tree_bed *bed, const sinter_increment *increment);

/** Read the stored catalog; an empty one if there is none. */
void
bed_load(tree_bed *bed);

/** Remove what a killed process left: files that the catalog doesn't name. */
void
bed_clean(tree_bed *bed);

/** A read of the tree's files shows `flushed`; its levels are sound. */
void
bed_expect_view(tree_bed *bed, const char *when);

/** A read of a set's files shows a state. */
void
bed_expect_set(tree_bed *bed, const sinter_file_set *set, const bed_state *state, const char *when);

/** A read of the catalog's files shows the catalog's state. */
void
bed_expect_catalog(tree_bed *bed, const char *when);

/** The catalog lists what the tree has. */
void
bed_expect_same_files(tree_bed *bed);

/** The directory holds the files of tree and catalog and nothing else. For quiet moments: no task
 *  and no result that wasn't taken. */
void
bed_expect_names(tree_bed *bed, const char *when);

/** "name@level " of the tree's files, or of a list. Static memory, two texts at a time. */
const char *
bed_files_text(tree_bed *bed);
const char *
bed_list_text(const sinter_file_list *list);

/** Number of names in the directory. */
size_t
bed_name_count(tree_bed *bed);

/** Runs of the tree, and files of level 0. */
size_t
bed_run_count(tree_bed *bed);

#endif
