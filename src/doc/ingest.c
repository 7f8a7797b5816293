/*
 * Rows in, level-0 files out. Rows are encoded and put into a write buffer; a full one is flushed.
 * Flushes overlap in their keys, and so do their files: putting them in order is what compaction
 * is for.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/load.h"
#include "compact/write_buffer.h"
#include "doc/catalog.h"
#include "doc/row_type.h"
#include "sinter/merge.h"

enum {
    BUFFER_DEFAULT_BYTES = 32 << 20,
    BUFFER_LEAST_BYTES = 64 << 10,
    CANCEL_ROWS = 1024 /* asked once in so many rows */
};

struct sinter_ingest {
    const sinter_env *env;
    sinter_catalog *catalog;
    const sinter_row_type *row_type;
    sinter_key_codec *codec;
    const size_t *key_columns;
    size_t key_count;
    sinter_datum *key_values;
    sinter_compact_options compact;
    sinter__rolling_config rolling;
    sinter__flush_config flush;
    uint64_t buffer_bytes; /* reserved from the budget */
    uint64_t buffer_rows;
    int64_t next_sequence;
    sinter_text key; /* of the row at hand */
    sinter_text value;
    sinter__write_buffer *buffer;
    sinter_compact_result *written; /* its new files */
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
    ingest->flush.is_cancelled = options->is_cancelled;
    ingest->flush.cancel_ctx = options->cancel_ctx;
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

static void
configure_flush(sinter_ingest *ingest)
{
    const sinter_compact_options *compact = &ingest->compact;

    ingest->rolling = (sinter__rolling_config){
        .format = sinter_format_sst(),
        .write = {.struct_size = (uint32_t)sizeof ingest->rolling.write,
                  .block_bytes = compact->block_bytes,
                  .codec = sinter_compact_codec_of_level(compact, 0),
                  .codec_level = compact->codec_level,
                  .filter_bits_per_key = compact->filter_bits_per_key,
                  .direct = compact->direct,
                  .key_types = sinter_key_codec_types(ingest->codec),
                  .row_type = sinter_row_type_json(ingest->row_type)},
        .dir = ingest->catalog->doc->base_dir,
        .prefix = "data-",
        .target_bytes = compact->target_file_bytes,
        .file_source = SINTER_FILE_SOURCE_APPEND,
    };
    ingest->flush.rolling = &ingest->rolling;
    ingest->flush.sort_engine = compact->sort_engine;
    ingest->flush.reads_back = compact->verify_output;
    ingest->flush.function = compact->merge_engine == SINTER_MERGE_ENGINE_FIRST_ROW
                                 ? sinter_merge_first_row(compact->ignore_delete)
                                 : sinter_merge_deduplicate(compact->ignore_delete);
}

/* Its bytes are reserved already. */
static sinter_status
open_buffer(const sinter_ingest *ingest, uint64_t bytes, sinter__write_buffer **out,
            sinter_error *err)
{
    const sinter__write_buffer_config config = {.limit_bytes = bytes};

    return sinter__write_buffer_create(ingest->env, &config, out, err);
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
    SINTER__CHECK(sinter__row_type_check_values(ingest->row_type, err));
    SINTER__CHECK(sinter_key_codec_of_row_type(env, ingest->row_type, &ingest->codec, err));
    ingest->key_columns = sinter_row_type_keys(ingest->row_type, &ingest->key_count);
    SINTER__CHECK(SINTER__NEW(env, ingest->key_values, ingest->key_count, err));
    SINTER__CHECK(choose_options(ingest, options, err));
    bytes = ingest->buffer_bytes;
    ingest->buffer_bytes = 0; /* nothing to give back until this succeeds */
    SINTER__CHECK(sinter_memory_reserve(env->memory, bytes, err));
    ingest->buffer_bytes = bytes;
    ingest->next_sequence = ingest->catalog->doc->content.next_sequence;
    ingest->next_sequence = ingest->next_sequence < 0 ? 0 : ingest->next_sequence;
    configure_flush(ingest);
    SINTER__CHECK(sinter__result_create(env, NULL, 0, &ingest->written, err));
    return open_buffer(ingest, bytes, &ingest->buffer, err);
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

void
sinter_ingest_close(sinter_ingest *ingest)
{
    if (ingest == NULL) {
        return;
    }
    sinter__write_buffer_destroy(ingest->buffer);
    if (ingest->written != NULL && !ingest->is_committed) {
        const sinter_status st = sinter_compact_result_discard(
            ingest->env, ingest->written, ingest->catalog->doc->base_dir, NULL);

        (void)st; /* a file that stays is an orphan, which gc removes */
    }
    sinter_compact_result_destroy(ingest->written);
    sinter_memory_release(ingest->env->memory, ingest->buffer_bytes);
    sinter__free(ingest->env, ingest->key_values);
    sinter_key_codec_destroy(ingest->codec);
    sinter_text_fini(&ingest->value);
    sinter_text_fini(&ingest->key);
    sinter__free(ingest->env, ingest);
}

static sinter_status
flush(sinter_ingest *ingest, sinter__write_buffer *buffer, sinter_error *err)
{
    const sinter_file_list *files = sinter_compact_result_after(ingest->written);
    const size_t before = files->count;

    SINTER__CHECK(sinter__write_buffer_flush(buffer, &ingest->flush, ingest->written, err));
    for (size_t i = before; i < files->count; i++) {
        ingest->counters.rows_written += files->files[i].row_count;
        ingest->counters.rows_retract += (uint64_t)files->files[i].delete_row_count;
        ingest->counters.bytes_written += files->files[i].file_size;
        ingest->counters.files++;
    }
    return SINTER_OK;
}

static sinter_status
check_state(const sinter_ingest *ingest, sinter_error *err)
{
    if (ingest->has_failed || ingest->is_committed) {
        return SINTER__ERR(err, SINTER_E_INVALID, "this ingest has failed or is finished");
    }
    if (ingest->flush.is_cancelled != NULL && ingest->counters.rows_in % CANCEL_ROWS == 0 &&
        ingest->flush.is_cancelled(ingest->flush.cancel_ctx)) {
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
put(const sinter_ingest *ingest, sinter__write_buffer *buffer, uint8_t kind, sinter_error *err)
{
    return sinter__write_buffer_put(buffer, sinter_text_bytes(&ingest->key), ingest->next_sequence,
                                    kind, sinter_text_bytes(&ingest->value), err);
}

/* A row larger than the buffer, which is empty, goes through one of its own. */
static sinter_status
write_large_row(sinter_ingest *ingest, uint8_t kind, uint64_t bytes, sinter_error *err)
{
    const uint64_t extra = bytes - ingest->buffer_bytes;
    sinter__write_buffer *buffer = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_memory_reserve(ingest->env->memory, extra, err));
    SINTER__TRY(open_buffer(ingest, bytes, &buffer, err));
    SINTER__TRY(put(ingest, buffer, kind, err));
    SINTER__TRY(flush(ingest, buffer, err));
out:
    sinter__write_buffer_destroy(buffer);
    sinter_memory_release(ingest->env->memory, extra);
    return st;
}

static sinter_status
buffer_row(sinter_ingest *ingest, uint8_t kind, sinter_error *err)
{
    const uint64_t bytes = sinter__write_buffer_least(ingest->key.size, ingest->value.size);
    sinter_status st = SINTER_OK;

    if (bytes > ingest->buffer_bytes) {
        SINTER__CHECK(flush(ingest, ingest->buffer, err));
        return write_large_row(ingest, kind, bytes, err);
    }
    st = put(ingest, ingest->buffer, kind, err);
    if (st == SINTER_END) {
        SINTER__CHECK(flush(ingest, ingest->buffer, err));
        st = put(ingest, ingest->buffer, kind, err);
        assert(st != SINTER_END);
    }
    return st;
}

static sinter_status
add(sinter_ingest *ingest, uint8_t kind, const sinter_datum *values, sinter_error *err)
{
    SINTER__CHECK(check_state(ingest, err));
    if (ingest->next_sequence == INT64_MAX) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "no sequence number is left after 2^63 - 2");
    }
    SINTER__CHECK(encode_row(ingest, kind, values, err));
    SINTER__CHECK(buffer_row(ingest, kind, err));
    ingest->next_sequence++;
    ingest->counters.rows_in++;
    if (ingest->buffer_rows > 0 &&
        sinter__write_buffer_rows(ingest->buffer) >= ingest->buffer_rows) {
        return flush(ingest, ingest->buffer, err);
    }
    return SINTER_OK;
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
    st = flush(ingest, ingest->buffer, err);
    ingest->has_failed = ingest->has_failed || st != SINTER_OK;
    return st;
}

sinter_status
sinter_ingest_finish(sinter_ingest *ingest, sinter_ingest_counters *out, sinter_error *err)
{
    const sinter_file_list *files = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, ingest != NULL);
    SINTER__REQUIRE(err, out == NULL || out->struct_size >= sizeof out->struct_size);
    SINTER__TRY(check_state(ingest, err));
    SINTER__TRY(flush(ingest, ingest->buffer, err));
    files = sinter_compact_result_after(ingest->written);
    SINTER__TRY(sinter_catalog_add(ingest->catalog, files->files, files->count,
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
