/*
 * Writes ranges into a row of new files, each closed at the target size (spec/compaction.md 15.1).
 */
#ifndef SINTER_COMPACT_ROLLING_WRITER_H
#define SINTER_COMPACT_ROLLING_WRITER_H

#include "compact/result.h"

/** How and where files are made. Borrowed by the writer. */
typedef struct sinter__rolling_config {
    const sinter_format *format;
    sinter_write_options write;
    const char *dir;      /* where files are made: a full path */
    const char *meta_dir; /* the same as the files' metadata has it; NULL: the base directory */
    /* Full paths of directories that take files in turn, instead of `dir`; metadata has the whole
     * path then. */
    const char *const *external_dirs;
    size_t external_dir_count;
    const char *prefix;
    uint64_t target_bytes;
    uint64_t target_rows; /* a file ends with so many; 0: no limit. Not where blocks pass */
    int64_t schema_id;
    int32_t file_source; /* SINTER_FILE_SOURCE_* of the files */
    uint64_t name_salt;  /* tells writers apart that get their names from a seed at the same time */
} sinter__rolling_config;

/**
 * Makes the files of one task and answers for them: destroy removes what was not kept. Confined.
 *
 * Names are `<prefix><uuid>-<n><extension>` with a UUID of its own. A file is opened when the first
 * rows for it come, so no rows make no file. The size is looked at where a file may end: at block
 * borders.
 */
typedef struct sinter__rolling_writer sinter__rolling_writer;

/** Make a writer. @return SINTER_OK, SINTER_E_NOMEM, failures of the io */
sinter_status
sinter__rolling_writer_create(const sinter_env *env, const sinter__rolling_config *config,
                              sinter__rolling_writer **out, sinter_error *err);

/** Append ranges in key order. Finished files are added to `result`. */
sinter_status
sinter__rolling_writer_append(sinter__rolling_writer *writer, const sinter_range *ranges,
                              size_t count, sinter_compact_result *result, sinter_error *err);

/**
 * Would the current file take this block as it is stored? Begins one if there is none; a failure of
 * that is kept: the answer is no, and the next append returns it.
 */
bool
sinter__rolling_writer_accepts(sinter__rolling_writer *writer, const sinter_block_info *info);

/** Finish the current file, if it has rows, and add it to `result`. */
sinter_status
sinter__rolling_writer_finish(sinter__rolling_writer *writer, sinter_compact_result *result,
                              sinter_error *err);

/** Nanoseconds spent finishing files: last bytes, sync, publish. */
int64_t
sinter__rolling_writer_finish_ns(const sinter__rolling_writer *writer);

/** Rows in finished files. */
uint64_t
sinter__rolling_writer_rows(const sinter__rolling_writer *writer);

/** Sync the directories that files were made in: their names are durable then. */
sinter_status
sinter__rolling_writer_sync(sinter__rolling_writer *writer, sinter_error *err);

/** From now on destroy leaves the finished files. */
void
sinter__rolling_writer_keep(sinter__rolling_writer *writer);

/** Release; takes NULL. The current file vanishes, and finished ones do unless they are kept. */
void
sinter__rolling_writer_destroy(sinter__rolling_writer *writer);

#endif
