#include "compact/rolling_writer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/listener.h"
#include "base/uuid.h"
#include "compact/path.h"
#include "compact/remove.h"
#include "sinter/io.h"

struct sinter__rolling_writer {
    const sinter_env *env;
    const sinter__rolling_config *config;
    char uuid[SINTER__UUID_CHARS + 1];
    sinter_writer *current; /* NULL between files */
    char *name;             /* of the current file */
    char *path;
    uint64_t rows_in_current;
    uint64_t rows_finished;
    uint64_t file_number;
    size_t first_dir; /* of the external ones */
    char **finished;  /* paths of files that may stand under their name */
    size_t finished_count;
    size_t finished_capacity;
    int64_t finish_ns;
    sinter_status deferred; /* a failure inside accepts */
    sinter_error deferred_error;
};

/* Where the file of a number goes. */
static const char *
dir_of(const sinter__rolling_writer *writer, uint64_t file_number)
{
    const sinter__rolling_config *config = writer->config;

    return config->external_dir_count == 0
               ? config->dir
               : config->external_dirs[(writer->first_dir + file_number) %
                                       config->external_dir_count];
}

/* Writers begin with different directories, so that these fill alike. */
static void
choose_first_dir(sinter__rolling_writer *writer)
{
    writer->first_dir = 0;
    for (size_t i = 0; writer->config->external_dir_count > 0 && writer->uuid[i] != '\0'; i++) {
        writer->first_dir = (writer->first_dir * 31 + (uint8_t)writer->uuid[i]) %
                            writer->config->external_dir_count;
    }
}

static sinter_status
make_name(const sinter__rolling_writer *writer, char **out, sinter_error *err)
{
    const sinter__rolling_config *config = writer->config;
    const size_t size =
        strlen(config->prefix) + sizeof writer->uuid + 24 + strlen(config->format->extension);

    SINTER__CHECK(sinter__alloc(writer->env, size, 1, (void **)out, err));
    (void)snprintf(*out, size, "%s%s-%llu%s", config->prefix, writer->uuid,
                   (unsigned long long)writer->file_number, config->format->extension);
    return SINTER_OK;
}

/* A UUID whose first name is free. One from the system always is; one from a seed comes again when
 * the same program runs again. */
static sinter_status
draw_uuid(sinter__rolling_writer *writer, sinter_error *err)
{
    enum { ATTEMPTS_MAX = 64 };
    static const uint64_t NONCES_APART = (uint64_t)1 << 48; /* of writers of one task */
    const sinter_env *env = writer->env;
    uint64_t nonce = (uint64_t)sinter__now_ms(env) + writer->config->name_salt * NONCES_APART;

    if (env->random_seed == 0) {
        return sinter__uuid(env, nonce, writer->uuid, err);
    }
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++, nonce++) {
        sinter_io_stat stat = {0};
        char *name = NULL;
        char *path = NULL;
        sinter_status st = SINTER_OK;

        SINTER__CHECK(sinter__uuid(env, nonce, writer->uuid, err));
        choose_first_dir(writer);
        SINTER__CHECK(make_name(writer, &name, err));
        st = sinter__path_join(env, dir_of(writer, 0), NULL, name, &path, err);
        if (st == SINTER_OK) {
            st = env->io->ops->stat(env->io, path, &stat, err);
        }
        sinter__free(env, path);
        sinter__free(env, name);
        if (st != SINTER_OK) {
            return st == SINTER_E_NOT_FOUND ? SINTER_OK : st;
        }
    }
    return SINTER__ERR_AT(err, SINTER_E_EXISTS, writer->config->dir, -1,
                          "the names of %d seeded UUIDs are taken", ATTEMPTS_MAX);
}

sinter_status
sinter__rolling_writer_create(const sinter_env *env, const sinter__rolling_config *config,
                              sinter__rolling_writer **out, sinter_error *err)
{
    sinter__rolling_writer *writer = NULL;
    sinter_status st = SINTER_OK;

    assert(config->target_bytes > 0);
    assert(config->prefix != NULL);
    assert(config->dir != NULL);
    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, writer, 1, err));
    writer->env = env;
    writer->config = config;
    SINTER__TRY(draw_uuid(writer, err));
    choose_first_dir(writer);
    *out = writer;
    writer = NULL;
out:
    sinter__rolling_writer_destroy(writer);
    return st;
}

static void
leave_file(sinter__rolling_writer *writer)
{
    if (writer->current != NULL) {
        writer->current->ops->close(writer->current);
    }
    sinter__free(writer->env, writer->path);
    sinter__free(writer->env, writer->name);
    writer->current = NULL;
    writer->path = NULL;
    writer->name = NULL;
    writer->rows_in_current = 0;
}

static sinter_status
enter_file(sinter__rolling_writer *writer, sinter_error *err)
{
    const sinter__rolling_config *config = writer->config;
    sinter_status st = SINTER_OK;

    assert(writer->current == NULL);
    assert(writer->path == NULL);
    assert(writer->rows_in_current == 0);
    SINTER__TRY(make_name(writer, &writer->name, err));
    SINTER__TRY(sinter__path_join(writer->env, dir_of(writer, writer->file_number), NULL,
                                  writer->name, &writer->path, err));
    st = config->format->open_writer(config->format->self, writer->env, writer->path,
                                     &config->write, &writer->current, err);
    if (st != SINTER_OK) {
        writer->current = NULL;
        sinter__fail_file(err, writer->path);
        goto out;
    }
    writer->file_number++;
out:
    if (st != SINTER_OK) {
        leave_file(writer);
    }
    return st;
}

static sinter_status
add_to_result(const sinter__rolling_writer *writer, const sinter_file_stats *stats,
              sinter_compact_result *result, sinter_error *err)
{
    const bool is_external = writer->config->external_dir_count > 0;
    const sinter_file_meta file = {
        .struct_size = (uint32_t)sizeof file,
        .level = writer->config->write.level,
        .file_name = writer->name,
        .dir = is_external ? NULL : writer->config->meta_dir,
        .external_path = is_external ? writer->path : NULL,
        .file_size = stats->file_size,
        .row_count = stats->row_count,
        .delete_row_count = (int64_t)stats->retract_count,
        .min_sequence_number = stats->sequence_min,
        .max_sequence_number = stats->sequence_max,
        .creation_time_ms = stats->creation_time_ms,
        .extra_files = stats->extra_files,
        .extra_file_count = stats->extra_file_count,
        .min_key = stats->min_key,
        .max_key = stats->max_key,
        .schema_id = writer->config->schema_id,
        .file_source = writer->config->file_source,
        .upgraded_from = -1,
    };

    return sinter_compact_result_add_after(result, &file, err);
}

static void
report_created(const sinter__rolling_writer *writer, const sinter_file_stats *stats)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                .file = writer->path,
                                .bytes = stats->file_size,
                                .records = stats->row_count};

    SINTER__TELL(writer->env->listener, file_created, &event);
}

/* Room for more paths, so that nothing can fail between publishing a file and noting it. */
static sinter_status
reserve_finished(sinter__rolling_writer *writer, size_t more, sinter_error *err)
{
    if (writer->finished_capacity - writer->finished_count < more) {
        const size_t capacity =
            (writer->finished_capacity < 8 ? 8 : writer->finished_capacity * 2) + more;

        SINTER__CHECK(sinter__resize(writer->env, (void **)&writer->finished, capacity,
                                     sizeof *writer->finished, err));
        writer->finished_capacity = capacity;
    }
    return SINTER_OK;
}

/* Note the files beside a finished one. Those that can't be noted go at once. */
static sinter_status
note_extra_files(sinter__rolling_writer *writer, const sinter_file_stats *stats, sinter_error *err)
{
    const char *dir = dir_of(writer, writer->file_number - 1); /* of the current file */
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < stats->extra_file_count && st == SINTER_OK; i++) {
        char *path = NULL;

        st = sinter__path_join(writer->env, dir, NULL, stats->extra_files[i], &path, err);
        if (st == SINTER_OK) {
            st = reserve_finished(writer, 2, err); /* the file's own path comes behind */
        }
        if (st == SINTER_OK) {
            writer->finished[writer->finished_count++] = path;
        } else {
            sinter__free(writer->env, path);
        }
    }
    if (st != SINTER_OK) {
        const sinter_file_meta file = {.struct_size = (uint32_t)sizeof file,
                                       .file_name = writer->name,
                                       .extra_files = stats->extra_files,
                                       .extra_file_count = stats->extra_file_count};
        const sinter_status ignored = sinter__file_remove(writer->env, dir, &file, NULL);

        (void)ignored;
    }
    return st;
}

/* A failure inside accepts comes out here. */
static sinter_status
check_deferred(const sinter__rolling_writer *writer, sinter_error *err)
{
    if (writer->deferred != SINTER_OK && err != NULL) {
        *err = writer->deferred_error;
    }
    return writer->deferred;
}

sinter_status
sinter__rolling_writer_finish(sinter__rolling_writer *writer, sinter_compact_result *result,
                              sinter_error *err)
{
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    const int64_t begin_ns = sinter__now_ns(writer->env);
    sinter_status st = SINTER_OK;

    SINTER__CHECK(check_deferred(writer, err));
    if (writer->current == NULL || writer->rows_in_current == 0) {
        leave_file(writer);
        return SINTER_OK;
    }
    assert(writer->path != NULL);
    SINTER__CHECK(reserve_finished(writer, 1, err));
    st = writer->current->ops->finish(writer->current, &stats, err);
    writer->finish_ns += sinter__now_ns(writer->env) - begin_ns;
    if (st == SINTER_OK) {
        st = note_extra_files(writer, &stats, err);
    }
    if (st != SINTER_OK) {
        sinter__fail_file(err, writer->path);
    } else if (stats.row_count != writer->rows_in_current) {
        st = SINTER__ERR_AT(err, SINTER_E_CONFLICT, writer->path, -1,
                            "%llu rows were written, the finished file says %llu",
                            (unsigned long long)writer->rows_in_current,
                            (unsigned long long)stats.row_count);
    } else {
        writer->rows_finished += stats.row_count;
        report_created(writer, &stats);
        st = add_to_result(writer, &stats, result, err);
    }
    if (st != SINTER_E_EXISTS) {
        /* Also after a failure: publishing may have worked and said otherwise. The name is ours
         * alone, but for the one case where somebody had it before. */
        assert(writer->finished_count < writer->finished_capacity);
        writer->finished[writer->finished_count++] = writer->path;
        writer->path = NULL;
    }
    leave_file(writer);
    return st;
}

/** Ranges on their way into the current file. */
typedef struct step {
    const sinter_range *ranges;
    size_t count;
    size_t taken;        /* whole ranges */
    uint32_t taken_rows; /* of the next one */
} step;

static sinter_status
append_until(sinter__rolling_writer *writer, step *at, uint64_t stop_bytes, sinter_error *err)
{
    const sinter_status st = writer->current->ops->append(
        writer->current, at->ranges, at->count, stop_bytes, &at->taken, &at->taken_rows, err);

    if (st != SINTER_OK) {
        sinter__fail_file(err, writer->path);
        return st;
    }
    assert(at->taken <= at->count);
    assert(at->taken < at->count || at->taken_rows == 0);
    for (size_t i = 0; i < at->taken; i++) {
        writer->rows_in_current += at->ranges[i].count;
    }
    writer->rows_in_current += at->taken_rows;
    return SINTER_OK;
}

/* Where a file begins larger than the target, its first row has to go in all the same. */
static sinter_status
append_first_row(sinter__rolling_writer *writer, step *at, sinter_error *err)
{
    const bool is_stored = (at->ranges[0].batch->flags & SINTER_BATCH_STORED) != 0;
    sinter_range row = at->ranges[0];
    step one = {.ranges = &row, .count = 1};

    row.count = is_stored ? row.count : 1;
    SINTER__CHECK(append_until(writer, &one, UINT64_MAX, err));
    if (row.count == at->ranges[0].count) {
        at->taken = one.taken;
    } else {
        at->taken_rows = (uint32_t)one.taken;
    }
    return SINTER_OK;
}

/* Rows that the current file may still take. */
static uint64_t
rows_left(const sinter__rolling_writer *writer)
{
    const uint64_t most = writer->config->target_rows;

    assert(most == 0 || writer->rows_in_current <= most);
    return most == 0 ? UINT64_MAX : most - writer->rows_in_current;
}

/* How many of the ranges, whole, have no more than so many rows. */
static size_t
ranges_within(const sinter_range *ranges, size_t count, uint64_t rows)
{
    size_t within = 0;

    if (rows == UINT64_MAX) {
        return count;
    }
    while (within < count && ranges[within].count <= rows) {
        rows -= ranges[within].count;
        within++;
    }
    return within;
}

/* Append up to the place where the current file may end, and end it there. */
static sinter_status
append_some(sinter__rolling_writer *writer, step *at, sinter_compact_result *result,
            sinter_error *err)
{
    SINTER__CHECK(check_deferred(writer, err));
    if (writer->current == NULL) {
        SINTER__CHECK(enter_file(writer, err));
    }
    SINTER__CHECK(append_until(writer, at, writer->config->target_bytes, err));
    if (writer->rows_in_current == 0) {
        SINTER__CHECK(append_first_row(writer, at, err));
    } else if (at->taken < at->count) {
        return sinter__rolling_writer_finish(writer, result, err);
    }
    return rows_left(writer) == 0 ? sinter__rolling_writer_finish(writer, result, err) : SINTER_OK;
}

sinter_status
sinter__rolling_writer_append(sinter__rolling_writer *writer, const sinter_range *ranges,
                              size_t count, sinter_compact_result *result, sinter_error *err)
{
    size_t first = 0;
    uint32_t rows_done = 0; /* of ranges[first] */

    while (first < count) {
        const uint64_t room = rows_left(writer);
        const uint32_t left = ranges[first].count - rows_done;
        const sinter_range rest = {.batch = ranges[first].batch,
                                   .first = ranges[first].first + rows_done,
                                   .count = left < room ? left : (uint32_t)room};
        step at = {.ranges = ranges + first,
                   .count = ranges_within(ranges + first, count - first, room)};

        assert(left > 0);
        if (rows_done == 0 && at.count > 0) {
            SINTER__CHECK(append_some(writer, &at, result, err));
            first += at.taken;
            rows_done = at.taken_rows;
            continue;
        }
        at = (step){.ranges = &rest, .count = 1};
        SINTER__CHECK(append_some(writer, &at, result, err));
        rows_done += at.taken == 1 ? rest.count : at.taken_rows;
        if (rows_done == ranges[first].count) {
            rows_done = 0;
            first++;
        }
    }
    return SINTER_OK;
}

bool
sinter__rolling_writer_accepts(sinter__rolling_writer *writer, const sinter_block_info *info)
{
    if (writer->deferred == SINTER_OK && writer->current == NULL) {
        writer->deferred = enter_file(writer, &writer->deferred_error);
    }
    return writer->deferred == SINTER_OK && writer->current->ops->accepts != NULL &&
           writer->current->ops->accepts(writer->current, info);
}

int64_t
sinter__rolling_writer_finish_ns(const sinter__rolling_writer *writer)
{
    return writer->finish_ns;
}

uint64_t
sinter__rolling_writer_rows(const sinter__rolling_writer *writer)
{
    return writer->rows_finished;
}

sinter_status
sinter__rolling_writer_sync(sinter__rolling_writer *writer, sinter_error *err)
{
    const sinter_env *env = writer->env;

    assert(writer->current == NULL);
    if (writer->finished_count == 0) {
        return SINTER_OK;
    }
    if (writer->config->external_dir_count == 0) {
        return env->io->ops->sync_dir(env->io, writer->config->dir, err);
    }
    for (uint64_t i = 0; i < writer->file_number && i < writer->config->external_dir_count; i++) {
        SINTER__CHECK(env->io->ops->sync_dir(env->io, dir_of(writer, i), err));
    }
    return SINTER_OK;
}

void
sinter__rolling_writer_keep(sinter__rolling_writer *writer)
{
    for (size_t i = 0; i < writer->finished_count; i++) {
        sinter__free(writer->env, writer->finished[i]);
    }
    writer->finished_count = 0;
}

static void
remove_finished(sinter__rolling_writer *writer)
{
    const sinter_env *env = writer->env;

    for (size_t i = 0; i < writer->finished_count; i++) {
        const char *path = writer->finished[i];

        /* What can't be removed stays as an orphan: the failure that led here is the one told. */
        if (env->io->ops->unlink(env->io, path, NULL) == SINTER_OK) {
            const sinter_event event = {.struct_size = (uint32_t)sizeof event, .file = path};

            SINTER__TELL(env->listener, file_deleted, &event);
        }
        sinter__free(env, path);
    }
    writer->finished_count = 0;
}

void
sinter__rolling_writer_destroy(sinter__rolling_writer *writer)
{
    if (writer != NULL) {
        leave_file(writer);
        remove_finished(writer);
        sinter__free(writer->env, writer->finished);
        sinter__free(writer->env, writer);
    }
}
