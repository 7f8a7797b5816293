/*
 * A bucket in memory: files with records that a test knows, metadata as a catalog would hold it,
 * and the merged view read back.
 */
#ifndef SINTER_TESTS_COMPACT_WORLD_H
#define SINTER_TESTS_COMPACT_WORLD_H

#include "files.h"
#include "model/model.h"
#include "sinter/io.h"
#include "support/columnar.h"

typedef struct world {
    sinter_env env; /* memory io, a clock that ticks with each look */
    sinter_io *io;  /* beneath env.io, which a test may replace */
    int64_t now_ms;
    sinter_format format;
    bool is_columnar;
    columnar_options columnar;
    sinter_write_options write; /* of files that a test adds */
    sinter_compact_options options;
    sinter_file_meta *files; /* what the bucket holds; strings in `pool` */
    size_t count;
    size_t capacity;
    unsigned names;
    test_runs written; /* every record ever added, its origin the place of its file in time */
    test_pool pool;
} world;

/** Rows of a view. */
typedef struct world_rows {
    sinter_status status;
    sinter_error err;
    test_record *records;
    size_t count;
    size_t capacity;
    test_pool pool;
} world_rows;

extern const char *const world_dir;

/** `allocator` NULL: that of the system. */
void
world_init(world *w, bool is_columnar, const sinter_allocator *allocator);
void
world_fini(world *w);

/** Write records (ascending keys) as a new file of a level; gives its place. */
size_t
world_add(world *w, int32_t level, const test_record *records, size_t count);

/** Add a file of `count` rows: keys from `first` on, `step` apart, values of `bytes` bytes. */
size_t
world_add_rows(world *w, int32_t level, unsigned first, unsigned step, unsigned count,
               int64_t sequence, size_t bytes);

/** A record with a key and a value as text. */
test_record
world_record(const char *key, int64_t sequence, const char *value);

/** The same as a DELETE. */
test_record
world_delete(const char *key, int64_t sequence);

/** Set up a task over `unit_count` places (NULL: all files). Files are copied to `unit_out`. */
void
world_task(world *w, const size_t *unit, size_t unit_count, sinter_file_meta *unit_out,
           sinter_compact_task *task);

/** Run a task and put its result into the bucket. */
sinter_status
world_compact(world *w, const sinter_compact_task *task, sinter_error *err);

/** The same, keeping the result for the caller to destroy. */
sinter_status
world_run(world *w, const sinter_compact_task *task, sinter_compact_result **out,
          sinter_error *err);

/** Replace `before` by `after` in the bucket. */
void
world_apply(world *w, const sinter_compact_result *result);

/** Read through a view; release with world_rows_fini(). */
void
world_read(world *w, const sinter_view_options *options, world_rows *out);
void
world_rows_fini(world_rows *rows);

/** Fail unless the view is what a model makes of all records ever added. */
void
world_expect_model(world *w, const model_rules *rules, const char *when);

/** "k=v k=v " of the view. Static memory. */
const char *
world_text(world *w);

/** Number of names in the directory. */
size_t
world_name_count(world *w);

/** Whole content of a file, into the pool. */
sinter_bytes
world_content(world *w, const char *name);

#endif
