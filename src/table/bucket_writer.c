#include "table/bucket_writer.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compact/section_merge.h"
#include "compact/write_buffer.h"
#include "sinter/sst.h"
#include "table/make_dirs.h"

enum { BATCH_ROWS = 1024, BATCH_BYTES = 256 << 10 };

struct sinter__bucket_writer {
    const sinter__bucket_writer_config *config;
    const sinter_env *env;
    sinter__arena arena;
    sinter__bucket_place place;
    sinter__bucket_files no_files; /* what the source knows of the bucket */
    sinter__bucket_source *source;
    sinter__rolling_config rolling;
    sinter_compact_result *result; /* the files */
    sinter__write_buffer *buffer;  /* with a key */
    sinter_batch_builder *rows;    /* without: those on their way into the file */
    uint32_t row_count;
    sinter__rolling_writer *writer;         /* without: made when the first rows come */
    bool is_open;                           /* it may have a file open */
    const sinter__external_paths *external; /* directories that take the files instead of one */
    size_t *kept;                           /* of each directory's path, what was there before */
    size_t dir_count;                       /* that are there */
    bool keeps_files;
};

static bool
has_key(const sinter__bucket_writer *self)
{
    return self->config->columns->key_codec != NULL;
}

/* ---- making and releasing ---- */

static sinter_status
make_buffer(sinter__bucket_writer *self, sinter_error *err)
{
    const sinter__bucket_writer_config *shared = self->config;
    const sinter__write_buffer_config config = {
        .memory = shared->memory,
        .limit_bytes = shared->buffer_bytes,
        .spill_dir = shared->spill_dir,
        .spill_bytes_max = UINT64_MAX,
        .spill_codec = shared->compact->spill_codec,
        .spill_codec_level = shared->compact->spill_codec_level,
        .keeps_newest = shared->options->merge_engine == SINTER__ENGINE_DEDUPLICATE &&
                        shared->columns->order == NULL,
    };

    return sinter__write_buffer_create(self->env, &config, &self->buffer, err);
}

static void
configure_rolling(sinter__bucket_writer *self)
{
    const sinter__bucket_writer_config *shared = self->config;

    self->rolling = (sinter__rolling_config){
        .format = sinter__bucket_source_format(self->source),
        .write = {.struct_size = (uint32_t)sizeof self->rolling.write,
                  .schema_id = (uint32_t)shared->columns->schema->id},
        .dir = sinter__bucket_source_dir(self->source),
        .external_dirs = self->external->dirs,
        .external_dir_count = self->external->count,
        .prefix = shared->plan->file_prefix,
        .target_bytes = shared->compact->target_file_bytes,
        .schema_id = shared->columns->schema->id,
        .file_source = SINTER_FILE_SOURCE_APPEND,
    };
}

static sinter_status
make_parts(sinter__bucket_writer *self, sinter_error *err)
{
    const sinter__bucket_writer_config *shared = self->config;
    const sinter__bucket_request request = {.table = shared->table,
                                            .options = shared->options,
                                            .columns = shared->columns,
                                            .files = &self->no_files,
                                            .write = shared->plan,
                                            .first_sequence = self->place.next_sequence};

    SINTER__CHECK(sinter__bucket_source_create(&request, &self->source, err));
    self->external = sinter__bucket_source_external(self->source);
    SINTER__CHECK(sinter__arena_take(&self->arena, (self->external->count + 1) * sizeof *self->kept,
                                     (void **)&self->kept, err));
    configure_rolling(self);
    SINTER__CHECK(sinter__result_create(self->env, NULL, 0, &self->result, err));
    return has_key(self) ? make_buffer(self, err)
                         : sinter_batch_builder_create(self->env, &self->rows, err);
}

sinter_status
sinter__bucket_writer_create(const sinter__bucket_writer_config *config,
                             const sinter__bucket_place *place, sinter__bucket_writer **out,
                             sinter_error *err)
{
    const sinter_env *env = config->table->env;
    sinter__bucket_writer *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->config = config;
    self->env = env;
    self->arena.env = env;
    self->place = *place;
    st = sinter__arena_copy(&self->arena, place->partition, &self->place.partition, err);
    if (st == SINTER_OK) {
        self->no_files = (sinter__bucket_files){.partition = self->place.partition,
                                                .bucket = place->bucket,
                                                .total_buckets = place->total_buckets};
        st = make_parts(self, err);
    }
    if (st != SINTER_OK) {
        sinter__bucket_writer_destroy(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

/* Directory `i` of those that take files. */
static const char *
dir_at(const sinter__bucket_writer *self, size_t i)
{
    return self->external->count == 0 ? self->rolling.dir : self->external->dirs[i];
}

void
sinter__bucket_writer_discard(sinter__bucket_writer *self)
{
    sinter__rolling_writer_destroy(self->writer);
    self->writer = NULL;
    if (self->result != NULL && !self->keeps_files) {
        /* What can't be removed is an orphan: the failure that led here is the one that is told. */
        const sinter_status st =
            sinter_compact_result_discard(self->env, self->result, self->rolling.dir, NULL);

        (void)st;
    }
}

bool
sinter__bucket_writer_remove_dirs(const sinter__bucket_writer *self)
{
    bool is_removed = false;

    for (size_t i = 0; i < self->dir_count && !self->keeps_files; i++) {
        is_removed |= sinter__dirs_undo(self->env, dir_at(self, i), self->kept[i]);
    }
    return is_removed;
}

void
sinter__bucket_writer_destroy(sinter__bucket_writer *self)
{
    if (self != NULL) {
        const sinter_env *env = self->env;

        sinter__bucket_writer_discard(self);
        sinter__write_buffer_destroy(self->buffer);
        sinter_batch_builder_destroy(self->rows);
        sinter_compact_result_destroy(self->result);
        sinter__bucket_source_destroy(self->source);
        sinter__arena_fini(&self->arena);
        sinter__free(env, self);
    }
}

void
sinter__bucket_writer_keep(sinter__bucket_writer *self)
{
    self->keeps_files = true;
    if (self->writer != NULL) {
        sinter__rolling_writer_keep(self->writer);
    }
}

const sinter__bucket_place *
sinter__bucket_writer_place(const sinter__bucket_writer *self)
{
    return &self->place;
}

uint64_t
sinter__bucket_writer_bytes(const sinter__bucket_writer *self)
{
    return self->buffer != NULL ? sinter__write_buffer_bytes(self->buffer)
                                : sinter_batch_builder_bytes(self->rows);
}

bool
sinter__bucket_writer_is_open(const sinter__bucket_writer *self)
{
    return self->is_open;
}

const sinter_file_list *
sinter__bucket_writer_files(const sinter__bucket_writer *self, sinter__bucket_source **source_out)
{
    *source_out = self->source;
    return sinter_compact_result_after(self->result);
}

/* ---- rows ---- */

static sinter_status
need_dirs(sinter__bucket_writer *self, sinter_error *err)
{
    const size_t wanted = self->external->count == 0 ? 1 : self->external->count;

    while (self->dir_count < wanted) {
        SINTER__CHECK(sinter__dirs_make(self->env, dir_at(self, self->dir_count),
                                        &self->kept[self->dir_count], err));
        self->dir_count++;
    }
    return SINTER_OK;
}

/* Put the rows that are held into the open file. */
static sinter_status
write_rows(sinter__bucket_writer *self, sinter_error *err)
{
    sinter_range range = {.count = self->row_count};

    if (self->row_count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(need_dirs(self, err));
    if (self->writer == NULL) {
        SINTER__CHECK(sinter__rolling_writer_create(self->env, &self->rolling, &self->writer, err));
    }
    range.batch = sinter_batch_builder_batch(self->rows);
    assert(range.batch->row_count == range.count);
    SINTER__CHECK(sinter__rolling_writer_append(self->writer, &range, 1, self->result, err));
    sinter_batch_builder_reset(self->rows);
    self->row_count = 0;
    return SINTER_OK;
}

static sinter_status
put_plain(sinter__bucket_writer *self, sinter_bytes value, sinter_error *err)
{
    self->is_open = true;
    SINTER__CHECK(sinter_batch_builder_add(self->rows, (sinter_bytes){0}, self->place.next_sequence,
                                           SINTER_KIND_INSERT, value, err));
    self->row_count++;
    return self->row_count == BATCH_ROWS || sinter_batch_builder_bytes(self->rows) >= BATCH_BYTES
               ? write_rows(self, err)
               : SINTER_OK;
}

sinter_status
sinter__bucket_writer_put(sinter__bucket_writer *self, sinter_bytes key, uint8_t kind,
                          sinter_bytes value, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (self->place.next_sequence == INT64_MAX) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "the bucket has no sequence number left");
    }
    st = self->buffer != NULL ? sinter__write_buffer_put(
                                    self->buffer, key, self->place.next_sequence, kind, value, err)
                              : put_plain(self, value, err);
    if (st == SINTER_OK) {
        self->place.next_sequence++;
    }
    return st;
}

/* ---- files ---- */

static sinter_status
flush_buffer(sinter__bucket_writer *self, sinter_error *err)
{
    const sinter__bucket_writer_config *shared = self->config;
    const sinter__sequence_order *order = shared->columns->order;
    sinter__flush_config config = {
        .rolling = &self->rolling,
        .order = order == NULL ? NULL : sinter__sequence_order_get(order),
        .sort_engine = shared->compact->sort_engine,
        .memory_bytes = shared->compact->memory_bytes,
        .is_cancelled = shared->is_cancelled,
        .cancel_ctx = shared->cancel_ctx,
    };
    sinter_status st = SINTER_OK;

    if (sinter__write_buffer_rows(self->buffer) == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(need_dirs(self, err));
    SINTER__CHECK(
        sinter__merge_function_create(self->env, NULL, shared->compact, &config.function, err));
    st = sinter__write_buffer_flush(self->buffer, &config, self->result, err);
    sinter__merge_function_destroy(config.function);
    return st;
}

sinter_status
sinter__bucket_writer_flush(sinter__bucket_writer *self, sinter_error *err)
{
    if (self->buffer != NULL) {
        return flush_buffer(self, err);
    }
    SINTER__CHECK(write_rows(self, err));
    self->is_open = false;
    if (self->writer == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__rolling_writer_finish(self->writer, self->result, err));
    return sinter__rolling_writer_sync(self->writer, err);
}
