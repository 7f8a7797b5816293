/*
 * Rows in, level-0 files out. Rows are kept encoded until the buffer is full, then sorted by key
 * and sequence; versions of one key are reduced as a merge would; what is left becomes a file.
 * Buffers overlap in their keys, and so do their files: putting them in order is what compaction
 * is for.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/load.h"
#include "base/uuid.h"
#include "compact/path.h"
#include "doc/catalog.h"
#include "doc/row_type.h"
#include "sinter/merge.h"

enum {
    BUFFER_DEFAULT_BYTES = 32 << 20,
    BUFFER_LEAST_BYTES = 64 << 10,
    BATCH_BYTES = 256 << 10, /* rows handed to the writer at once */
    ROW_OVERHEAD = 32,       /* rounding of the arena */
    CANCEL_ROWS = 1024       /* asked once in so many rows */
};

/* A buffered row. */
typedef struct buffered_row {
    uint64_t prefix;
    sinter_bytes key;
    sinter_bytes value;
    int64_t sequence;
    uint8_t kind;
} buffered_row;

struct sinter_ingest {
    const sinter_env *env;
    sinter_catalog *catalog;
    const sinter_row_type *row_type;
    sinter_key_codec *codec;
    const size_t *key_columns;
    size_t key_count;
    sinter_datum *key_values;
    sinter_compact_options compact;
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
    uint64_t buffer_bytes; /* reserved from the budget */
    uint64_t buffer_rows;
    int64_t next_sequence;
    sinter_text key; /* of the row at hand */
    sinter_text value;
    sinter__arena arena; /* keys and values of the buffer */
    buffered_row *rows;
    size_t row_count;
    size_t row_capacity;
    uint64_t used_bytes;
    sinter_batch_builder *builder;  /* rows on their way to the writer */
    sinter_batch_builder *versions; /* versions of one key */
    sinter_row *version_rows;
    size_t version_capacity;
    char uuid[SINTER__UUID_CHARS + 1];
    sinter__arena file_arena; /* metadata of finished files */
    sinter_file_meta *files;
    size_t file_count;
    size_t file_capacity;
    sinter_ingest_counters counters;
    bool has_failed;
    bool is_committed; /* or may be: the files must stay */
};

static sinter_status
choose_options(sinter_ingest *ingest, const sinter_ingest_options *options, sinter_error *err)
{
    const uint64_t limit = sinter_memory_limit(ingest->env->memory);

    if (options->compact != NULL) {
        ingest->compact = *options->compact;
    } else {
        sinter_compact_options_init(&ingest->compact);
        SINTER__CHECK(sinter_files_doc_options(ingest->catalog->doc, &ingest->compact, err));
    }
    SINTER__CHECK(sinter_compact_options_check(&ingest->compact, err));
    ingest->is_cancelled = options->is_cancelled;
    ingest->cancel_ctx = options->cancel_ctx;
    ingest->buffer_rows = options->buffer_rows;
    ingest->buffer_bytes = options->buffer_bytes;
    if (ingest->buffer_bytes == 0) {
        ingest->buffer_bytes = limit / 2 < BUFFER_DEFAULT_BYTES ? limit / 2 : BUFFER_DEFAULT_BYTES;
    }
    if (ingest->buffer_bytes < BUFFER_LEAST_BYTES) {
        ingest->buffer_bytes = BUFFER_LEAST_BYTES;
    }
    return SINTER_OK;
}

static sinter_status
prepare(sinter_ingest *ingest, const sinter_ingest_options *options, sinter_error *err)
{
    const sinter_env *env = ingest->env;
    uint64_t bytes = 0;

    ingest->row_type = sinter_files_doc_row_type(ingest->catalog->doc);
    if (ingest->row_type == NULL) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, ingest->catalog->path, -1,
                              "the catalog has no row type, so rows can't be written to it");
    }
    SINTER__CHECK(sinter__row_type_check_atomic(ingest->row_type, err));
    SINTER__CHECK(sinter_key_codec_of_row_type(env, ingest->row_type, &ingest->codec, err));
    ingest->key_columns = sinter_row_type_keys(ingest->row_type, &ingest->key_count);
    SINTER__CHECK(SINTER__NEW(env, ingest->key_values, ingest->key_count, err));
    SINTER__CHECK(sinter_batch_builder_create(env, &ingest->builder, err));
    SINTER__CHECK(sinter_batch_builder_create(env, &ingest->versions, err));
    SINTER__CHECK(choose_options(ingest, options, err));
    bytes = ingest->buffer_bytes;
    ingest->buffer_bytes = 0; /* nothing to give back until this succeeds */
    SINTER__CHECK(sinter_memory_reserve(env->memory, bytes, err));
    ingest->buffer_bytes = bytes;
    ingest->next_sequence = ingest->catalog->doc->content.next_sequence;
    ingest->next_sequence = ingest->next_sequence < 0 ? 0 : ingest->next_sequence;
    return sinter__uuid(env, ~(uint64_t)ingest->next_sequence, ingest->uuid, err);
}

sinter_status
sinter_ingest_open(const sinter_env *env, sinter_catalog *catalog,
                   const sinter_ingest_options *options, sinter_ingest **out, sinter_error *err)
{
    sinter_ingest_options known = {.struct_size = (uint32_t)sizeof known};
    sinter_ingest *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, catalog != NULL && env->io != NULL);
    if (options != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&known, sizeof known, options, "sinter_ingest_options", err));
    }
    SINTER__CHECK(sinter__catalog_check_writable(catalog, err));
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    made->catalog = catalog;
    made->arena.env = env;
    made->file_arena.env = env;
    made->counters.struct_size = (uint32_t)sizeof made->counters;
    sinter_text_init(env, &made->key);
    sinter_text_init(env, &made->value);
    SINTER__TRY(prepare(made, &known, err));
    *out = made;
    made = NULL;
out:
    sinter_ingest_close(made);
    return st;
}

static void
remove_files(const sinter_ingest *ingest)
{
    for (size_t i = 0; i < ingest->file_count; i++) {
        char *path = NULL;

        if (sinter__path_join(ingest->env, ingest->catalog->doc->base_dir, NULL,
                              ingest->files[i].file_name, &path, NULL) == SINTER_OK) {
            /* A file that stays is an orphan, which gc removes. */
            (void)ingest->env->io->ops->unlink(ingest->env->io, path, NULL);
        }
        sinter__free(ingest->env, path);
    }
}

void
sinter_ingest_close(sinter_ingest *ingest)
{
    if (ingest == NULL) {
        return;
    }
    if (!ingest->is_committed) {
        remove_files(ingest);
    }
    sinter_memory_release(ingest->env->memory, ingest->buffer_bytes);
    sinter__free(ingest->env, ingest->files);
    sinter__free(ingest->env, ingest->version_rows);
    sinter__free(ingest->env, ingest->rows);
    sinter__free(ingest->env, ingest->key_values);
    sinter_batch_builder_destroy(ingest->versions);
    sinter_batch_builder_destroy(ingest->builder);
    sinter_key_codec_destroy(ingest->codec);
    sinter__arena_fini(&ingest->file_arena);
    sinter__arena_fini(&ingest->arena);
    sinter_text_fini(&ingest->value);
    sinter_text_fini(&ingest->key);
    sinter__free(ingest->env, ingest);
}

static int
compare_rows(const void *left, const void *right)
{
    const buffered_row *a = left;
    const buffered_row *b = right;
    int order = (a->prefix > b->prefix) - (a->prefix < b->prefix);

    if (order == 0) {
        order = sinter__key_compare(a->key, b->key);
    }
    return order != 0 ? order : (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* A file being written from the buffer. */
typedef struct ingest_file {
    sinter_ingest *ingest;
    sinter_writer *writer;
    uint64_t row_count;
} ingest_file;

/* Hand the collected rows to the writer. */
static sinter_status
drain(ingest_file *file, sinter_error *err)
{
    sinter_range range = {.batch = sinter_batch_builder_batch(file->ingest->builder)};
    size_t taken = 0;
    uint32_t taken_rows = 0;

    range.count = range.batch->row_count;
    if (range.count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        file->writer->ops->append(file->writer, &range, 1, UINT64_MAX, &taken, &taken_rows, err));
    assert(taken == 1);
    file->row_count += range.count;
    sinter_batch_builder_reset(file->ingest->builder);
    return SINTER_OK;
}

static sinter_status
write_row(ingest_file *file, sinter_bytes key, int64_t sequence, uint8_t kind, sinter_bytes value,
          sinter_error *err)
{
    sinter_batch_builder *builder = file->ingest->builder;

    SINTER__CHECK(sinter_batch_builder_add(builder, key, sequence, kind, value, err));
    return sinter_batch_builder_bytes(builder) >= BATCH_BYTES ? drain(file, err) : SINTER_OK;
}

static sinter_merge_function *
merge_function(const sinter_ingest *ingest)
{
    return ingest->compact.merge_engine == SINTER_MERGE_ENGINE_FIRST_ROW
               ? sinter_merge_first_row(ingest->compact.ignore_delete)
               : sinter_merge_deduplicate(ingest->compact.ignore_delete);
}

/* Several versions of one key: the merge function makes one record of them, or none. */
static sinter_status
reduce_versions(ingest_file *file, const buffered_row *rows, size_t count, sinter_error *err)
{
    sinter_ingest *ingest = file->ingest;
    sinter_merge_function *function = merge_function(ingest);
    const sinter_batch *batch = NULL;
    sinter_row result = {0};
    sinter_status st = SINTER_OK;

    if (ingest->version_capacity < count) {
        SINTER__CHECK(sinter__resize(ingest->env, (void **)&ingest->version_rows, count,
                                     sizeof *ingest->version_rows, err));
        ingest->version_capacity = count;
    }
    sinter_batch_builder_reset(ingest->versions);
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(sinter_batch_builder_add(ingest->versions, rows[i].key, rows[i].sequence,
                                               rows[i].kind, rows[i].value, err));
    }
    batch = sinter_batch_builder_batch(ingest->versions);
    for (size_t i = 0; i < count; i++) {
        ingest->version_rows[i] = (sinter_row){.batch = batch, .index = (uint32_t)i};
    }
    st = function->ops->reduce(function, ingest->version_rows, count, &result, err);
    if (st == SINTER_END) {
        return SINTER_OK;
    }
    SINTER__CHECK(st);
    return write_row(file, sinter_batch_key(result.batch, result.index),
                     result.batch->sequences[result.index], result.batch->kinds[result.index],
                     result.batch->payload_ops->value(result.batch, result.index), err);
}

static sinter_status
write_rows(ingest_file *file, sinter_error *err)
{
    sinter_ingest *ingest = file->ingest;
    size_t begin = 0;

    while (begin < ingest->row_count) {
        const buffered_row *first = &ingest->rows[begin];
        size_t end = begin + 1;

        while (end < ingest->row_count && ingest->rows[end].prefix == first->prefix &&
               sinter__key_compare(ingest->rows[end].key, first->key) == 0) {
            end++;
        }
        SINTER__CHECK(end - begin == 1 ? write_row(file, first->key, first->sequence, first->kind,
                                                   first->value, err)
                                       : reduce_versions(file, first, end - begin, err));
        begin = end;
    }
    return drain(file, err);
}

static sinter_status
keep_metadata(sinter_ingest *ingest, const char *name, const sinter_file_stats *stats,
              sinter_error *err)
{
    sinter_file_meta *file = &ingest->files[ingest->file_count];

    *file = (sinter_file_meta){
        .struct_size = (uint32_t)sizeof *file,
        .level = 0,
        .file_size = stats->file_size,
        .row_count = stats->row_count,
        .delete_row_count = (int64_t)stats->retract_count,
        .min_sequence_number = stats->sequence_min,
        .max_sequence_number = stats->sequence_max,
        .creation_time_ms = stats->creation_time_ms,
        .file_source = SINTER_FILE_SOURCE_APPEND,
        .upgraded_from = -1,
    };
    SINTER__CHECK(sinter__arena_strdup(&ingest->file_arena, name, &file->file_name, err));
    /* From here on close() knows the file. */
    ingest->file_count++;
    SINTER__CHECK(sinter__arena_copy(&ingest->file_arena, stats->min_key, &file->min_key, err));
    SINTER__CHECK(sinter__arena_copy(&ingest->file_arena, stats->max_key, &file->max_key, err));
    ingest->counters.rows_written += stats->row_count;
    ingest->counters.rows_retract += stats->retract_count;
    ingest->counters.bytes_written += stats->file_size;
    ingest->counters.files++;
    return SINTER_OK;
}

static sinter_status
make_room_for_file(sinter_ingest *ingest, sinter_error *err)
{
    const size_t wanted = ingest->file_capacity < 16 ? 16 : ingest->file_capacity * 2;

    if (ingest->file_count < ingest->file_capacity) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__resize(ingest->env, (void **)&ingest->files, wanted, sizeof *ingest->files, err));
    ingest->file_capacity = wanted;
    return SINTER_OK;
}

/* Write the sorted buffer as `name`. A file that would hold nothing isn't made. */
static sinter_status
write_file(sinter_ingest *ingest, const char *name, const char *path, sinter_error *err)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_write_options options = {
        .struct_size = (uint32_t)sizeof options,
        .block_bytes = ingest->compact.block_bytes,
        .codec = sinter_compact_codec_of_level(&ingest->compact, 0),
        .codec_level = ingest->compact.codec_level,
        .filter_bits_per_key = ingest->compact.filter_bits_per_key,
        .direct = ingest->compact.direct,
        .key_types = sinter_key_codec_types(ingest->codec),
        .row_type = sinter_row_type_json(ingest->row_type),
    };
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    ingest_file file = {.ingest = ingest};
    sinter_status st = SINTER_OK;

    SINTER__TRY(make_room_for_file(ingest, err));
    SINTER__TRY(format->open_writer(format->self, ingest->env, path, &options, &file.writer, err));
    SINTER__TRY(write_rows(&file, err));
    if (file.row_count == 0) {
        goto out;
    }
    SINTER__TRY(file.writer->ops->finish(file.writer, &stats, err));
    st = keep_metadata(ingest, name, &stats, err);
    if (st != SINTER_OK) {
        /* Without its metadata nobody would remove it. */
        (void)ingest->env->io->ops->unlink(ingest->env->io, path, NULL);
    }
out:
    if (file.writer != NULL) {
        file.writer->ops->close(file.writer);
    }
    sinter_batch_builder_reset(ingest->builder);
    return st;
}

static sinter_status
flush(sinter_ingest *ingest, sinter_error *err)
{
    const char *base_dir = ingest->catalog->doc->base_dir;
    char name[sizeof ingest->uuid + 40];
    char *path = NULL;
    sinter_status st = SINTER_OK;

    if (ingest->row_count == 0) {
        return SINTER_OK;
    }
    qsort(ingest->rows, ingest->row_count, sizeof *ingest->rows, compare_rows);
    (void)snprintf(name, sizeof name, "data-%s-%zu.sst", ingest->uuid, ingest->file_count);
    SINTER__TRY(sinter__path_join(ingest->env, base_dir, NULL, name, &path, err));
    SINTER__TRY(write_file(ingest, name, path, err));
    sinter__arena_fini(&ingest->arena);
    ingest->row_count = 0;
    ingest->used_bytes = 0;
out:
    sinter__free(ingest->env, path);
    return st;
}

static sinter_status
check_state(const sinter_ingest *ingest, sinter_error *err)
{
    if (ingest->has_failed || ingest->is_committed) {
        return SINTER__ERR(err, SINTER_E_INVALID, "this ingest has failed or is finished");
    }
    if (ingest->is_cancelled != NULL && ingest->counters.rows_in % CANCEL_ROWS == 0 &&
        ingest->is_cancelled(ingest->cancel_ctx)) {
        return SINTER__ERR(err, SINTER_E_CANCELLED, "the ingest was cancelled");
    }
    return SINTER_OK;
}

/* Encode the row into `key` and `value`. */
static sinter_status
encode_row(sinter_ingest *ingest, uint8_t kind, const sinter_datum *values, sinter_error *err)
{
    sinter_text_reset(&ingest->key);
    sinter_text_reset(&ingest->value);
    SINTER__CHECK(sinter_row_encode(ingest->row_type, values, kind, &ingest->value, err));
    for (size_t i = 0; i < ingest->key_count; i++) {
        ingest->key_values[i] = values[ingest->key_columns[i]];
    }
    return sinter_key_encode(ingest->codec, ingest->key_values, &ingest->key, err);
}

static sinter_status
store_row(sinter_ingest *ingest, uint8_t kind, uint64_t bytes, sinter_error *err)
{
    buffered_row *row = NULL;

    if (ingest->row_count == ingest->row_capacity) {
        const size_t wanted = ingest->row_capacity < 1024 ? 1024 : ingest->row_capacity * 2;

        SINTER__CHECK(
            sinter__resize(ingest->env, (void **)&ingest->rows, wanted, sizeof *ingest->rows, err));
        ingest->row_capacity = wanted;
    }
    row = &ingest->rows[ingest->row_count];
    SINTER__CHECK(
        sinter__arena_copy(&ingest->arena, sinter_text_bytes(&ingest->key), &row->key, err));
    SINTER__CHECK(
        sinter__arena_copy(&ingest->arena, sinter_text_bytes(&ingest->value), &row->value, err));
    row->prefix = sinter__key_prefix(row->key.data, row->key.size);
    row->kind = kind;
    row->sequence = ingest->next_sequence++;
    ingest->row_count++;
    ingest->used_bytes += bytes;
    ingest->counters.rows_in++;
    return SINTER_OK;
}

static sinter_status
add(sinter_ingest *ingest, uint8_t kind, const sinter_datum *values, sinter_error *err)
{
    uint64_t bytes = 0;
    uint64_t extra = 0;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(check_state(ingest, err));
    if (ingest->next_sequence == INT64_MAX) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "no sequence number is left after 2^63 - 2");
    }
    SINTER__CHECK(encode_row(ingest, kind, values, err));
    bytes = (uint64_t)ingest->key.size + ingest->value.size + ROW_OVERHEAD + sizeof(buffered_row);
    if (ingest->row_count > 0 && bytes > ingest->buffer_bytes - ingest->used_bytes) {
        SINTER__CHECK(flush(ingest, err));
    }
    if (bytes > ingest->buffer_bytes) {
        /* A row larger than the buffer gets a file of its own. */
        extra = bytes - ingest->buffer_bytes;
        SINTER__CHECK(sinter_memory_reserve(ingest->env->memory, extra, err));
    }
    st = store_row(ingest, kind, bytes, err);
    if (st == SINTER_OK &&
        (extra > 0 || (ingest->buffer_rows > 0 && ingest->row_count >= ingest->buffer_rows))) {
        st = flush(ingest, err);
    }
    sinter_memory_release(ingest->env->memory, extra);
    return st;
}

sinter_status
sinter_ingest_add(sinter_ingest *ingest, uint8_t kind, const sinter_datum *values,
                  sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, ingest != NULL);
    SINTER__REQUIRE(err, values != NULL && kind <= SINTER_KIND_DELETE);
    st = add(ingest, kind, values, err);
    ingest->has_failed = ingest->has_failed || st != SINTER_OK;
    return st;
}

sinter_status
sinter_ingest_flush(sinter_ingest *ingest, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, ingest != NULL);
    SINTER__CHECK(check_state(ingest, err));
    st = flush(ingest, err);
    ingest->has_failed = ingest->has_failed || st != SINTER_OK;
    return st;
}

sinter_status
sinter_ingest_finish(sinter_ingest *ingest, sinter_ingest_counters *out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, ingest != NULL);
    SINTER__REQUIRE(err, out == NULL || out->struct_size >= sizeof out->struct_size);
    SINTER__TRY(check_state(ingest, err));
    SINTER__TRY(flush(ingest, err));
    if (ingest->file_count > 0) {
        /* The names must last before a catalog that lasts refers to them. */
        SINTER__TRY(
            ingest->env->io->ops->sync_dir(ingest->env->io, ingest->catalog->doc->base_dir, err));
    }
    SINTER__TRY(sinter_catalog_add(ingest->catalog, ingest->files, ingest->file_count,
                                   ingest->next_sequence, err));
    /* Whether a commit that fails has happened isn't known, so the files stay in any case. */
    ingest->is_committed = true;
    SINTER__TRY(sinter_catalog_commit(ingest->catalog, err));
    if (out != NULL) {
        sinter__struct_store(out, &ingest->counters, sizeof ingest->counters);
    }
out:
    ingest->has_failed = ingest->has_failed || st != SINTER_OK;
    return st;
}
