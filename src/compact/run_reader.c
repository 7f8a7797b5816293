#include "compact/run_reader.h"

#include <assert.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/env.h"
#include "compact/age.h"
#include "compact/path.h"

/* The file after the open one, opened before its turn. */
typedef struct file_ahead {
    bool was_tried;       /* for the file after the open one */
    sinter_status status; /* of opening it */
    sinter_reader *inner; /* NULL: it wasn't opened */
    char *path;
    sinter_error err;
} file_ahead;

typedef struct run_reader {
    sinter_reader base;
    const sinter_env *env;
    sinter__run run;
    size_t file_index;      /* of the open file, or of the next one */
    sinter_reader *inner;   /* NULL between files */
    char *path;             /* of the open file */
    uint64_t rows_in_file;  /* read from the open file */
    uint64_t bytes_in_file; /* of its size, counted as done */
    file_ahead ahead;
} run_reader;

/* Size of reader ops that know of filters. */
#define MAY_HOLD_SIZE (offsetof(sinter_reader_ops, may_hold) + sizeof(void (*)(void)))

/* Size of reader ops that know whether all reads were begun. */
#define HAS_BEGUN_ALL_SIZE (offsetof(sinter_reader_ops, has_begun_all) + sizeof(void (*)(void)))

/* Size of formats that know what reading takes. */
#define MEASURE_SIZE (offsetof(sinter_format, measure) + sizeof(void (*)(void)))

static const sinter_reader_ops run_ops_plain;
static const sinter_reader_ops run_ops_blocks;

/* Can the file hold keys of the range? */
static bool
is_in_range(const sinter__read_config *config, const sinter_file_meta *file)
{
    return !(config->has_begin_key && sinter__key_compare(file->max_key, config->begin_key) < 0) &&
           !(config->has_end_key && sinter__key_compare(file->min_key, config->end_key) >= 0);
}

sinter_rewrite_run
sinter__run_in_range(const sinter__read_config *config, const sinter_rewrite_run *run)
{
    size_t first = 0;
    size_t end = run->count;

    while (first < end && !is_in_range(config, run->files[first])) {
        first++;
    }
    while (end > first && !is_in_range(config, run->files[end - 1])) {
        end--;
    }
    return (sinter_rewrite_run){.files = run->files + first, .count = end - first};
}

static const sinter_file_meta *
open_file(const run_reader *reader)
{
    assert(reader->file_index < reader->run.count);
    return reader->run.files[reader->file_index];
}

static void
close_file(const run_reader *reader, sinter_reader **inner, char **path)
{
    if (*inner != NULL) {
        (*inner)->ops->close(*inner);
    }
    sinter__free(reader->env, *path);
    *inner = NULL;
    *path = NULL;
}

static void
leave_file(run_reader *reader)
{
    close_file(reader, &reader->inner, &reader->path);
    reader->rows_in_file = 0;
    reader->bytes_in_file = 0;
}

/* How a file of the run is to be read. */
static sinter_read_options
options_for(const sinter__run *run, const sinter_file_meta *file)
{
    const sinter__read_config *config = run->config;

    return (sinter_read_options){
        .struct_size = (uint32_t)sizeof(sinter_read_options),
        .read_bytes = run->read_bytes,
        .key_prefix_skip = run->key_prefix_skip,
        .origin = sinter__age_rank(run->by_age, run->by_age_count, file),
        .has_begin_key = config->has_begin_key,
        .has_end_key = config->has_end_key,
        .keys_only = config->keys_only,
        .direct = config->direct,
        .begin_key = config->begin_key,
        .end_key = config->end_key,
        .expected_file_bytes = file->file_size,
    };
}

/* Many files are opened before the first row comes, and each takes reads. */
static sinter_status
check_cancelled(const sinter__read_config *config, sinter_error *err)
{
    if (config->is_cancelled != NULL && config->is_cancelled(config->cancel_ctx)) {
        return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled before a file was opened");
    }
    return SINTER_OK;
}

/* Open a reader of one of the run's files. */
static sinter_status
open_reader_of(const run_reader *reader, const sinter_file_meta *file, bool is_ahead,
               sinter_reader **inner_out, char **path_out, sinter_error *err)
{
    const sinter__read_config *config = reader->run.config;
    const int64_t begin_ns = sinter__now_ns(reader->env);
    sinter_read_options options = options_for(&reader->run, file);
    sinter_status st = SINTER_OK;

    assert(*inner_out == NULL);
    assert(*path_out == NULL);
    assert(file->row_count > 0);
    options.begins_reading = is_ahead;
    SINTER__CHECK(check_cancelled(config, err));
    SINTER__CHECK(sinter__path_of_file(reader->env, config->base_dir, file, path_out, err));
    st = config->format->open_reader(config->format->self, reader->env, *path_out, &options,
                                     inner_out, err);
    config->counters->read_ns += sinter__now_ns(reader->env) - begin_ns;
    if (st != SINTER_OK) {
        *inner_out = NULL;
        sinter__fail_file(err, *path_out);
        return st;
    }
    assert(*inner_out != NULL);
    config->counters->files_opened++;
    return SINTER_OK;
}

/* Open the file after the open one, if it is time to and allowed. */
static void
look_ahead(run_reader *reader)
{
    const sinter_reader_ops *ops = NULL;
    file_ahead *ahead = &reader->ahead;

    assert(reader->inner != NULL);
    ops = reader->inner->ops;
    if (!reader->run.reads_ahead || ahead->was_tried ||
        reader->file_index + 1 == reader->run.count || ops->struct_size < HAS_BEGUN_ALL_SIZE ||
        ops->has_begun_all == NULL || !ops->has_begun_all(reader->inner)) {
        return;
    }
    ahead->was_tried = true;
    ahead->err = (sinter_error)SINTER_ERROR_INIT;
    ahead->status = open_reader_of(reader, reader->run.files[reader->file_index + 1], true,
                                   &ahead->inner, &ahead->path, &ahead->err);
    if (ahead->status == SINTER_E_TOO_LARGE) {
        close_file(reader, &ahead->inner, &ahead->path); /* no room beside the open one: later */
    }
}

/* The file that was opened ahead is the one to be read now. */
static sinter_status
take_ahead(run_reader *reader, sinter_error *err)
{
    file_ahead *ahead = &reader->ahead;

    assert((ahead->status == SINTER_OK) == (ahead->inner != NULL));
    reader->inner = ahead->inner;
    reader->path = ahead->path;
    ahead->inner = NULL;
    ahead->path = NULL;
    if (ahead->status != SINTER_OK && err != NULL) {
        *err = ahead->err;
    }
    return ahead->status;
}

static sinter_status
open_inner(run_reader *reader, sinter_error *err)
{
    const bool is_ahead = reader->ahead.was_tried && reader->ahead.status != SINTER_E_TOO_LARGE;

    reader->ahead.was_tried = false;
    if (is_ahead) {
        return take_ahead(reader, err);
    }
    SINTER__CHECK(
        open_reader_of(reader, open_file(reader), false, &reader->inner, &reader->path, err));
    assert(reader->inner != NULL);
    if (reader->base.ops == NULL) {
        reader->base.ops = reader->inner->ops->peek != NULL ? &run_ops_blocks : &run_ops_plain;
    }
    return SINTER_OK;
}

/* May the open file hold the one key that is looked for? Always true for ranges. */
static sinter_status
ask_file(run_reader *reader, bool *maybe_out, sinter_error *err)
{
    const sinter__read_config *config = reader->run.config;
    const sinter_reader_ops *ops = reader->inner->ops;
    sinter_status st = SINTER_OK;

    *maybe_out = true;
    if (!config->is_single_key || ops->struct_size < MAY_HOLD_SIZE || ops->may_hold == NULL) {
        return SINTER_OK;
    }
    st = ops->may_hold(reader->inner, config->begin_key, maybe_out, err);
    if (st == SINTER_END) {
        *maybe_out = false;
        return SINTER_OK;
    }
    if (st != SINTER_OK) {
        sinter__fail_file(err, reader->path);
    }
    return st;
}

/* Open the file at file_index, or the first one after it that may hold what is looked for.
 * SINTER_END: none does. */
static sinter_status
enter_file(run_reader *reader, sinter_error *err)
{
    while (reader->file_index < reader->run.count) {
        bool is_possible = false;

        SINTER__CHECK(open_inner(reader, err));
        SINTER__CHECK(ask_file(reader, &is_possible, err));
        if (is_possible) {
            return SINTER_OK;
        }
        reader->run.config->counters->files_filtered++;
        leave_file(reader);
        reader->file_index++;
    }
    return SINTER_END;
}

/* The open file has no more rows: compare with its metadata and go on to the next one.
 * SINTER_END after the last. */
static sinter_status
next_file(run_reader *reader, sinter_error *err)
{
    const sinter__read_config *config = reader->run.config;
    const sinter_file_meta *file = open_file(reader);

    if (!config->has_begin_key && !config->has_end_key && reader->rows_in_file != file->row_count) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->path, -1,
                              "the file holds %llu rows, its metadata says %llu",
                              (unsigned long long)reader->rows_in_file,
                              (unsigned long long)file->row_count);
    }
    config->counters->bytes_done += file->file_size - reader->bytes_in_file;
    leave_file(reader);
    reader->file_index++;
    return enter_file(reader, err);
}

static sinter_status
check_keys(const run_reader *reader, sinter_bytes first, sinter_bytes last, sinter_error *err)
{
    const sinter_file_meta *file = open_file(reader);

    if (sinter__key_compare(first, file->min_key) < 0 ||
        sinter__key_compare(last, file->max_key) > 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->path, -1,
                              "the file holds keys outside of the range in its metadata");
    }
    return SINTER_OK;
}

/* A file's bytes are counted as its rows come; what is left over when it ends. */
static void
count_bytes(run_reader *reader, uint32_t rows)
{
    const sinter_file_meta *file = open_file(reader);
    const double share = (double)rows / (double)file->row_count;
    const uint64_t bytes = (uint64_t)((double)file->file_size * (share < 1 ? share : 1));
    const uint64_t left = file->file_size - reader->bytes_in_file;
    const uint64_t counted = bytes < left ? bytes : left;

    reader->bytes_in_file += counted;
    reader->run.config->counters->bytes_done += counted;
}

static void
count_rows(run_reader *reader, const sinter_batch *batch)
{
    assert(batch->row_count > 0);
    reader->rows_in_file += batch->row_count;
    reader->run.config->counters->rows_read += batch->row_count;
    count_bytes(reader, batch->row_count);
}

/* Which call is passed on to the open file's reader. */
typedef enum call_kind { CALL_NEXT, CALL_TAKE } call_kind;

static sinter_status
call_timed(run_reader *reader, call_kind kind, const sinter_batch **out, sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(reader->env);
    const sinter_reader_ops *ops = reader->inner->ops;
    sinter_status st = SINTER_OK;

    st =
        kind == CALL_NEXT ? ops->next(reader->inner, out, err) : ops->take(reader->inner, out, err);
    reader->run.config->counters->read_ns += sinter__now_ns(reader->env) - begin_ns;
    if (st < SINTER_OK) {
        sinter__fail_file(err, reader->path);
    }
    return st;
}

static sinter_status
run_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    run_reader *reader = (run_reader *)base;
    sinter_status st = SINTER_OK;

    if (reader->file_index == reader->run.count) {
        return SINTER_END;
    }
    while ((st = call_timed(reader, CALL_NEXT, out, err)) == SINTER_END) {
        SINTER__CHECK(next_file(reader, err));
    }
    SINTER__CHECK(st);
    count_rows(reader, *out);
    reader->run.config->counters->blocks_read++;
    look_ahead(reader);
    return check_keys(reader, sinter_batch_key(*out, 0),
                      sinter_batch_key(*out, (*out)->row_count - 1), err);
}

/* Peek into the open file. */
static sinter_status
peek_file(run_reader *reader, const sinter_block_info **out, sinter_error *err)
{
    const sinter_reader_ops *ops = reader->inner->ops;
    sinter_status st = SINTER_OK;

    if (ops->peek == NULL) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, reader->path, -1,
                              "the format %s gives readers with and without stored blocks",
                              reader->run.config->format->name);
    }
    st = ops->peek(reader->inner, out, err);
    if (st < SINTER_OK) {
        sinter__fail_file(err, reader->path);
    }
    return st;
}

static sinter_status
run_peek(sinter_reader *base, const sinter_block_info **out, sinter_error *err)
{
    run_reader *reader = (run_reader *)base;
    sinter_status st = SINTER_OK;

    if (reader->file_index == reader->run.count) {
        return SINTER_END;
    }
    while ((st = peek_file(reader, out, err)) == SINTER_END) {
        SINTER__CHECK(next_file(reader, err));
    }
    SINTER__CHECK(st);
    return check_keys(reader, (*out)->first_key, (*out)->last_key, err);
}

static sinter_status
run_take(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    run_reader *reader = (run_reader *)base;

    assert(reader->inner != NULL);
    SINTER__CHECK(call_timed(reader, CALL_TAKE, out, err));
    count_rows(reader, *out);
    look_ahead(reader);
    return SINTER_OK;
}

static void
run_close(sinter_reader *base)
{
    run_reader *reader = (run_reader *)base;

    leave_file(reader);
    close_file(reader, &reader->ahead.inner, &reader->ahead.path);
    sinter__free(reader->env, reader);
}

static const sinter_reader_ops run_ops_plain = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = run_next,
    .close = run_close,
};

static const sinter_reader_ops run_ops_blocks = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = run_next,
    .peek = run_peek,
    .take = run_take,
    .close = run_close,
};

sinter_status
sinter__run_reader_open(const sinter_env *env, const sinter__run *run, sinter_reader **out,
                        sinter_error *err)
{
    run_reader *reader = NULL;
    sinter_status st = SINTER_OK;

    assert(run->count > 0);
    assert(run->by_age_count >= run->count);
    assert(run->config->counters != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, reader, 1, err));
    reader->env = env;
    reader->run = *run;
    st = enter_file(reader, err);
    if (st != SINTER_OK && st != SINTER_END) {
        goto out;
    }
    st = SINTER_OK; /* of no file that counts: a reader at its end */
    *out = &reader->base;
    reader = NULL;
out:
    if (reader != NULL) {
        run_close(&reader->base);
    }
    return st;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void
sinter__footprint_add(sinter_footprint *all, const sinter_footprint *one)
{
    all->block_rows = (uint32_t)larger(all->block_rows, one->block_rows);
    all->key_part_bytes = larger(all->key_part_bytes, one->key_part_bytes);
    all->value_part_bytes = larger(all->value_part_bytes, one->value_part_bytes);
    all->reader_bytes = larger(all->reader_bytes, one->reader_bytes);
    if (__builtin_add_overflow(all->rows_bytes, one->rows_bytes, &all->rows_bytes)) {
        all->rows_bytes = UINT64_MAX;
    }
}

static sinter_status
measure_file(const sinter_env *env, const sinter__run *run, const sinter_file_meta *file,
             sinter_footprint *out, sinter_error *err)
{
    const sinter__read_config *config = run->config;
    const sinter_read_options options = options_for(run, file);
    char *path = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__path_of_file(env, config->base_dir, file, &path, err));
    st = config->format->measure(config->format->self, env, path, &options, out, err);
    if (st < SINTER_OK) {
        sinter__fail_file(err, path);
    }
    sinter__free(env, path);
    return st;
}

sinter_status
sinter__run_measure(const sinter_env *env, const sinter__run *run, sinter_footprint *out,
                    sinter_error *err)
{
    const sinter_format *format = run->config->format;
    sinter_footprint all = {.struct_size = (uint32_t)sizeof all};

    assert(run->count > 0);
    if (format->struct_size < MEASURE_SIZE || format->measure == NULL) {
        return SINTER_END;
    }
    for (size_t i = 0; i < run->count; i++) {
        sinter_footprint one = {.struct_size = (uint32_t)sizeof one};

        SINTER__CHECK(check_cancelled(run->config, err));
        SINTER__CHECK(measure_file(env, run, run->files[i], &one, err));
        sinter__footprint_add(&all, &one);
    }
    *out = all;
    return SINTER_OK;
}
