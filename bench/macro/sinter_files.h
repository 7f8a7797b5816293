/*
 * What the programs that measure sinter share: lists of its data files, and the end after an error.
 */
#ifndef BENCH_SINTER_FILES_H
#define BENCH_SINTER_FILES_H

#include "macro/program.h"

#include <sinter/sinter.h>

enum { FILES_MAX = 1024, PATH_ROOM = 512 };

/** Files of a directory, with what compaction and views want to know of them. */
typedef struct file_set {
    sinter_sst *open[FILES_MAX];
    sinter_file_meta metas[FILES_MAX];
    char paths[FILES_MAX][PATH_ROOM];
    size_t count;
    uint64_t file_bytes;
    uint64_t block_count;
} file_set;

/** End the program with what happened. */
_Noreturn void
fail(const char *what, const sinter_error *err);

/** The same, unless it went well. */
void
require(sinter_status st, const char *what, const sinter_error *err);

/** Make a directory that isn't there yet. */
void
make_dir(const char *path);

/** An empty list; release with files_close(). */
file_set *
files_create(void);

/** Open a file and append it. */
void
files_add(file_set *files, const char *dir, const char *name);

/** Close all and release the list. */
void
files_close(file_set *files);

/** The codec of the command line. */
int
codec_of(const bench_options *options);

/** The io of the command line. */
sinter_io_kind
io_kind_of(const char *name);

#endif
