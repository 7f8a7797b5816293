/*
 * Levels of a bucket: which files it holds, in which order a strategy sees them, and sets of files
 * that readers may hold while levels change (spec/compaction.md 5).
 */
#ifndef SINTER_LEVELS_H
#define SINTER_LEVELS_H

#include "sinter/compact.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A level-sorted run: one file of level 0, or all files of a higher level in key order. */
typedef struct sinter_level_run {
    int32_t level;
    uint32_t reserved;
    uint64_t bytes;                /* of its files */
    const sinter_file_meta *files; /* `count`, side by side */
    size_t count;
} sinter_level_run;

/**
 * The files of a bucket at one moment. Owns their metadata. Immutable and counted: any number of
 * threads may read one, and whoever acquired it releases it.
 *
 * A file that was given to sinter_levels_discard() stays on disk as long as a set that lists it is
 * held, at whatever level.
 */
typedef struct sinter_file_set sinter_file_set;

/** One more holder of a set; gives `set`. Thread-safe. */
SINTER_API const sinter_file_set *
sinter_file_set_acquire(const sinter_file_set *set);

/** One holder less; takes NULL. The last one frees it, and removes the files that wait for that
 *  (sinter_levels_discard()) on the calling thread. Thread-safe. */
SINTER_API void
sinter_file_set_release(const sinter_file_set *set);

/** All files, run by run, newest data first. Live as long as the set is held. */
SINTER_API const sinter_file_meta *
sinter_file_set_files(const sinter_file_set *set, size_t *count_out);

/** The runs: files of level 0 in their order, then each level that isn't empty, ascending. */
SINTER_API const sinter_level_run *
sinter_file_set_runs(const sinter_file_set *set, size_t *count_out);

/** Number of levels, level 0 included. */
SINTER_API uint32_t
sinter_file_set_num_levels(const sinter_file_set *set);

/** Highest level that holds a file; 0 if only level 0 does; -1 if none. */
SINTER_API int32_t
sinter_file_set_highest_level(const sinter_file_set *set);

/** Sum of the file sizes. */
SINTER_API uint64_t
sinter_file_set_bytes(const sinter_file_set *set);

/** Options of levels. Zeroed with struct_size set: no callback. */
typedef struct sinter_levels_options {
    uint32_t struct_size;
    uint32_t num_levels; /* num-levels; at least 2. Raised to the highest level of a file + 1 */
    /** Told once of each file name that an update retires for good (upgraded files are not). On the
     *  updating thread, after the levels have changed, in no fixed order. NULL: nobody is told. */
    void (*dropped)(void *ctx, const char *file_name);
    void *dropped_ctx;
    /** Where the files lie; copied. NULL: sinter_levels_discard() is refused. */
    const char *base_dir;
} sinter_levels_options;

/** Levels of one bucket. Confined, but for sinter_levels_acquire(), which any thread may call. */
typedef struct sinter_levels sinter_levels;

/**
 * Make levels of a list of files.
 *
 * @param env    allocator; with base_dir also io and listener. Borrowed, must outlive the levels
 * and all sets acquired from them
 * @param files  `count` files in any order; copied, `carried` pointers and all. upgraded_from is a
 *               note of results and becomes -1
 * @param out    the new levels, NULL after a failure; release with sinter_levels_destroy()
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID: fewer than two levels, a bad file, a
 *               file that is listed twice, two files of one level above 0 that overlap (err->text
 *               names both)
 * Source: spec/compaction.md 5.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_levels_create(const sinter_env *env, const sinter_levels_options *options,
                     const sinter_file_meta *files, size_t count, sinter_levels **out,
                     sinter_error *err);

/** Release; takes NULL. Sets that are held live on. */
SINTER_API void
sinter_levels_destroy(sinter_levels *levels);

/** Acquire the files as they are now; release with sinter_file_set_release(). Thread-safe. */
SINTER_API const sinter_file_set *
sinter_levels_acquire(sinter_levels *levels);

/** The files as they are now; lives until the next update. */
SINTER_API const sinter_file_set *
sinter_levels_current(const sinter_levels *levels);

/** Number of sorted runs: files of level 0 and levels above it that aren't empty. */
SINTER_API size_t
sinter_levels_run_count(const sinter_levels *levels);

/**
 * Retire and add files at once: who acquires sees all of it or nothing.
 *
 * Files of `before` that aren't there are ignored, as are files of levels that don't exist. In
 * level 0 a file is found by largest and smallest sequence, creation time and name, and adding it
 * again changes nothing; above, it is found by all fields.
 *
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID: a bad file, files of one level would overlap
 *         (err->text names both), a name would be listed twice, a new file waits for its removal.
 *         After a failure the levels are as before.
 *
 * Time O(n log n) for n files. Source: spec/compaction.md 5.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_levels_update(sinter_levels *levels, const sinter_file_meta *before, size_t before_count,
                     const sinter_file_meta *after, size_t after_count, sinter_error *err);

/**
 * Remove a file that an update has retired, and its extra files, from the disk: at once, or with
 * the last set that lists it. Needs no memory for paths below 4 KiB.
 *
 * @param file  name, directory, external path and extra files are read
 * @return      SINTER_OK: they are gone, or will be (what fails then is a background_error);
 *              SINTER_E_INVALID: the levels list the file, or have no base_dir; failures of unlink,
 *              of the first file (the others are removed all the same)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_levels_discard(sinter_levels *levels, const sinter_file_meta *file, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
