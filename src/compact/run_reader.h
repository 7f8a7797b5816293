/*
 * The files of one run as one reader: lazily, one open at a time (spec/compaction.md 14, layer 3),
 * or two where the next one's first read is begun before the current one ends.
 */
#ifndef SINTER_COMPACT_RUN_READER_H
#define SINTER_COMPACT_RUN_READER_H

#include "sinter/compact.h"

/** What reading cost so far. */
typedef struct sinter__read_counters {
    uint64_t files_opened;
    uint64_t files_filtered; /* opened, and left again: they don't hold the one key of the range */
    uint64_t blocks_read;    /* decoded */
    uint64_t rows_read;
    uint64_t bytes_done; /* of the files' sizes, in proportion to the rows read */
    int64_t read_ns;
} sinter__read_counters;

/** How the files of a merge are read; the same for all its runs. Borrowed by its readers. */
typedef struct sinter__read_config {
    const sinter_format *format;
    const char *base_dir;
    bool direct;
    bool keys_only;
    bool has_begin_key;
    bool has_end_key;
    bool is_single_key;     /* the range is begin_key alone: key filters are asked */
    sinter_bytes begin_key; /* inclusive */
    sinter_bytes end_key;   /* exclusive */
    sinter__read_counters *counters;
    bool (*is_cancelled)(void *ctx); /* asked before each file is opened; NULL: never */
    void *cancel_ctx;
} sinter__read_config;

/** A run and what its files have in common with the others of the section. */
typedef struct sinter__run {
    const sinter__read_config *config;
    const sinter_file_meta *const *files;  /* in key order */
    size_t count;                          /* at least 1 */
    const sinter_file_meta *const *by_age; /* all files of the section, oldest first */
    size_t by_age_count;
    uint32_t key_prefix_skip;
    uint32_t read_bytes; /* of one read; 0: the format's default */
    bool reads_ahead;    /* beyond the end of a file: two are open then, with two readers' memory */
} sinter__run;

/** The files of a run that may hold keys of the range, which lie side by side; none: count 0. */
sinter_rewrite_run
sinter__run_in_range(const sinter__read_config *config, const sinter_rewrite_run *run);

/**
 * Open a run's first file; the others follow when it is drained. When a single key is looked for,
 * files whose index or key filter say that it isn't there are left at once.
 *
 * A run that reads ahead opens the next file, and begins to read it, once all reads of the current
 * one were begun; never more than one. How that fails is told when the file is reached; where the
 * budget had no room for it, it is opened then.
 *
 * Batches carry the age rank of their file as origin. Stored blocks can be peeked at and taken if
 * the format has them. What a file holds is compared with its metadata: keys outside of its range
 * and another number of rows are SINTER_E_CORRUPT, since sections rest on them.
 *
 * @param run  copied; what it points to is borrowed until close
 * @return     SINTER_OK, SINTER_E_NOMEM, failures of the format; err->file names the file
 */
sinter_status
sinter__run_reader_open(const sinter_env *env, const sinter__run *run, sinter_reader **out,
                        sinter_error *err);

/**
 * Learn what reading a run takes: the most of all its files, one being open at a time; reading
 * ahead takes up to as much again. Each is
 * opened, not read.
 * @return SINTER_OK, SINTER_END (a file or the format doesn't say), or as of opening
 */
sinter_status
sinter__run_measure(const sinter_env *env, const sinter__run *run, sinter_footprint *out,
                    sinter_error *err);

/** Let `one` count in `all`: the largest of each number, the sum of rows_bytes. */
void
sinter__footprint_add(sinter_footprint *all, const sinter_footprint *one);

#endif
