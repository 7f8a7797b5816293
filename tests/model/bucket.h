/*
 * A bucket of files on any backend and in either format, whose records a test knows: written,
 * compacted, read back.
 */
#ifndef SINTER_TESTS_BUCKET_H
#define SINTER_TESTS_BUCKET_H

#include "model/model.h"
#include "sinter/compact.h"
#include "sinter/sst.h"
#include "support/columnar.h"
#include "support/count_io.h"

enum { BUCKET_TEXT_BYTES = 512 };

/** One file: its metadata, and its records as they were read back or written. */
typedef struct bucket_file {
    sinter_file_meta meta;
    test_run run;
    uint64_t hash; /* of its bytes */
} bucket_file;

/** Where files lie and how they are written. */
typedef struct bucket {
    sinter_env env;  /* allocator, io and budget; its io is `io` */
    count_io io;     /* counts open files */
    sinter_io *base; /* the backend beneath */
    const char *dir;
    sinter_format format;
    columnar_options columnar;
    bool is_columnar;
    bool has_order_callback; /* user sequences follow from values, see bucket_order_of() */
    sinter_write_options write;
    bucket_file *files;
    size_t count;
    size_t capacity;
    uint64_t names;
    int64_t clock_ms; /* creation time of the next file */
    test_pool pool;
} bucket;

/** Begin a bucket in `dir`, which must exist; its io is that of `backend`. */
void
bucket_init(bucket *b, sinter_io *backend, const char *dir, bool is_columnar);

/** Forget the files; they stay where they are. */
void
bucket_fini(bucket *b);

/** Remove all files of the directory. */
void
bucket_remove_files(bucket *b);

/** Write a file of `count` records at `level` and put it into the bucket. */
void
bucket_add(bucket *b, const test_record *records, size_t count, int32_t level);

/** Bytes of a value that are its user sequence: at most 2. */
static inline sinter_bytes
bucket_order_of(sinter_bytes value)
{
    return (sinter_bytes){value.data, value.size < 2 ? value.size : 2};
}

/** The callback that computes them. */
extern const sinter_order bucket_order;

/** Replace what a result says; reads new files back and checks their metadata against their
 *  records. False: `text_out` says what is wrong. */
bool
bucket_apply(bucket *b, const sinter_compact_result *result, char *text_out);

/** Read a file of the directory; records live as long as the bucket. */
sinter_status
bucket_read(bucket *b, const char *name, test_run *out, sinter_error *err);

/** Age of each file among all of the bucket, 0 = oldest (spec 1). */
uint32_t
bucket_age(const bucket *b, size_t position);

/** Are the files of the bucket, and nothing else, in the directory, byte for byte as they were? */
bool
bucket_is_intact(bucket *b, char *text_out);

/** All records of some files (NULL: of all), with the age of their files: one run per file. */
void
bucket_runs(const bucket *b, const size_t *positions, size_t count, test_runs *out);

/** Does a view show what the model says? */
bool
bucket_view_matches(bucket *b, const sinter_compact_options *options, const model_result *model,
                    const sinter_view_options *view_options, char *text_out);

/** Names in a directory but those that end in ".lock". */
size_t
bucket_count_names(sinter_io *io, const char *dir);

#endif
