/*
 * Reading new files back before anybody hears of them (sinter.verify-output).
 */
#ifndef SINTER_COMPACT_READ_BACK_H
#define SINTER_COMPACT_READ_BACK_H

#include "sinter/compact.h"

/** What new files are and where. Borrowed for the call. */
typedef struct sinter__read_back {
    const sinter_format *format;
    const char *dir;                 /* where they lie: a full path */
    bool direct;                     /* past the page cache, where the io can */
    bool (*is_cancelled)(void *ctx); /* NULL: never */
    void *cancel_ctx;
} sinter__read_back;

/** Can files of the format be verified? @return SINTER_OK, SINTER_E_UNSUPPORTED (names it) */
sinter_status
sinter__read_back_check(const sinter_format *format, sinter_error *err);

/**
 * Verify those of `files` that are new, all of each, against their metadata.
 * @param bytes_out  of the files that were read; added to
 * @return           SINTER_OK, SINTER_E_CORRUPT (err->file names the file), SINTER_E_CANCELLED,
 *                   failures of reading
 */
sinter_status
sinter__read_back_files(const sinter_env *env, const sinter__read_back *how, sinter_file_list files,
                        uint64_t *bytes_out, sinter_error *err);

#endif
