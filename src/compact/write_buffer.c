/*
 * Taking rows in. A buffer that is full says so; one that may spill sorts its memory and writes it
 * as one run of a temporary file, and goes on.
 */
#include "compact/write_buffer.h"

#include <assert.h>

#include "base/alloc.h"
#include "compact/write_buffer_priv.h"

sinter_status
sinter__write_buffer_create(const sinter_env *env, const sinter__write_buffer_config *config,
                            sinter__write_buffer **out, sinter_error *err)
{
    sinter__write_buffer *buffer = NULL;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, buffer, 1, err));
    buffer->env = env;
    buffer->config = *config;
    buffer->last_sequence = INT64_MIN;
    sinter__row_pages_init(&buffer->pages, env, config->memory, config->limit_bytes);
    *out = buffer;
    return SINTER_OK;
}

/* The rows in memory are gone. A buffer that was full is going to be filled again. */
static void
clear_memory(sinter__write_buffer *buffer)
{
    if (buffer->was_full) {
        sinter__row_pages_reuse(&buffer->pages);
    } else {
        sinter__row_pages_clear(&buffer->pages);
    }
    buffer->was_full = false;
    buffer->entries = NULL;
}

void
sinter__write_buffer_clear(sinter__write_buffer *buffer)
{
    clear_memory(buffer);
    for (size_t i = 0; i < buffer->spill_count; i++) {
        sinter__spill_destroy(buffer->spills[i]);
    }
    sinter__free(buffer->env, buffer->spills);
    buffer->spills = NULL;
    buffer->spill_count = 0;
    buffer->spilled_rows = 0;
    buffer->is_last_failed = false;
}

void
sinter__write_buffer_destroy(sinter__write_buffer *buffer)
{
    if (buffer != NULL) {
        buffer->was_full = false;
        sinter__write_buffer_clear(buffer);
        sinter__free(buffer->env, buffer);
    }
}

sinter_status
sinter__write_buffer_sort(sinter__write_buffer *buffer, sinter_error *err)
{
    return buffer->entries != NULL || buffer->pages.rows == 0
               ? SINTER_OK
               : sinter__row_pages_sort(&buffer->pages, &buffer->entries, err);
}

sinter_status
sinter__write_buffer_read(const sinter__write_buffer *buffer, const sinter_env *env, size_t skip,
                          sinter_reader **out, sinter_error *err)
{
    const sinter__buffered_rows rows = {.entries = buffer->entries,
                                        .count = buffer->pages.rows,
                                        .entry_skip = buffer->pages.shared_size,
                                        .skip = skip,
                                        .origin = (uint32_t)buffer->spill_times,
                                        .keeps_newest = buffer->config.keeps_newest};

    assert(buffer->entries != NULL);
    return sinter__buffer_reader_open(env, &rows, out, err);
}

/* A file that can be written. */
static sinter_status
open_spill(sinter__write_buffer *buffer, sinter_error *err)
{
    const sinter__write_buffer_config *config = &buffer->config;
    const sinter__spill_options options = {.dir = config->spill_dir,
                                           .codec = config->spill_codec,
                                           .codec_level = config->spill_codec_level};

    if (buffer->spill_count > 0 && !buffer->is_last_failed) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__resize(buffer->env, (void **)&buffer->spills, buffer->spill_count + 1,
                                 sizeof(sinter__spill *), err));
    SINTER__CHECK(
        sinter__spill_create(buffer->env, &options, &buffer->spills[buffer->spill_count], err));
    buffer->spill_count++;
    buffer->is_last_failed = false;
    return SINTER_OK;
}

/* The last file can't be written any more; it stays if there are rows in it. */
static void
give_up_spill(sinter__write_buffer *buffer)
{
    sinter__spill *last = buffer->spills[buffer->spill_count - 1];

    buffer->is_last_failed = true;
    if (sinter__spill_run_count(last) == 0) {
        sinter__spill_destroy(last);
        buffer->spill_count--;
    }
}

static uint64_t
spilled_bytes(const sinter__write_buffer *buffer)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < buffer->spill_count; i++) {
        bytes += sinter__spill_bytes(buffer->spills[i]);
    }
    return bytes;
}

/* Write what is in memory, sorted, as one run. */
static sinter_status
spill_rows(sinter__write_buffer *buffer, sinter_error *err)
{
    sinter_merge_counters counters = {.struct_size = (uint32_t)sizeof counters};
    sinter_reader *reader = NULL;
    sinter__spill *spill = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(open_spill(buffer, err));
    spill = buffer->spills[buffer->spill_count - 1];
    SINTER__CHECK(sinter__write_buffer_read(buffer, buffer->env, 0, &reader, err));
    st = sinter__spill_run(spill, reader, true, &counters, err);
    reader->ops->close(reader);
    if (st == SINTER_OK) {
        st = sinter__spill_settle(spill, err);
    }
    if (st != SINTER_OK) {
        give_up_spill(buffer);
        return st;
    }
    buffer->spilled_rows += buffer->pages.rows;
    buffer->spill_times++;
    clear_memory(buffer);
    return SINTER_OK;
}

/* Spill what is in memory, if the buffer may. */
static sinter_status
spill(sinter__write_buffer *buffer, sinter_error *err)
{
    if (buffer->config.spill_dir == NULL || buffer->pages.rows == 0 ||
        spilled_bytes(buffer) >= buffer->config.spill_bytes_max) {
        return SINTER_END;
    }
    SINTER__CHECK(sinter__write_buffer_sort(buffer, err));
    return spill_rows(buffer, err);
}

sinter_status
sinter__write_buffer_spill(sinter__write_buffer *buffer, sinter_error *err)
{
    buffer->was_full = false; /* it is others that need the memory */
    if (buffer->pages.rows == 0 && buffer->pages.held_bytes > 0) {
        clear_memory(buffer);
        return SINTER_OK;
    }
    return spill(buffer, err);
}

static sinter_status
check_row(const sinter__write_buffer *buffer, const sinter__new_row *row, sinter_error *err)
{
    if (row->key.size > SINTER_KEY_BYTES_MAX || row->value.size > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a key of %zu bytes (at most 1 MiB) or a value of %zu (at most 1 GiB)",
                           row->key.size, row->value.size);
    }
    if (row->sequence <= buffer->last_sequence && buffer->last_sequence != INT64_MIN) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "sequence number %lld comes after %lld: it must be larger",
                           (long long)row->sequence, (long long)buffer->last_sequence);
    }
    if (row->kind > SINTER_KIND_DELETE) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%u is no kind of row", row->kind);
    }
    return SINTER_OK;
}

/* Nothing is in the buffer and the row doesn't fit: will it ever? */
static sinter_status
refuse(const sinter__write_buffer *buffer, const sinter__new_row *row, sinter_error *err)
{
    const uint64_t least = sinter__row_pages_least(row->key.size, row->value.size);
    const uint64_t memory = sinter_memory_limit(buffer->config.memory);
    const uint64_t limit =
        buffer->config.limit_bytes < memory ? buffer->config.limit_bytes : memory;

    if (least > limit) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a write buffer of %llu bytes can't hold a row of %zu: "
                           "write-buffer-size has to be at least %llu",
                           (unsigned long long)limit, row->key.size + row->value.size,
                           (unsigned long long)least);
    }
    return SINTER_END;
}

/* There is no room in memory for the row: make some, if the buffer may. */
static sinter_status
add_when_full(sinter__write_buffer *buffer, const sinter__new_row *row, sinter_error *err)
{
    const sinter_status st = spill(buffer, err);

    if (st == SINTER_OK) {
        return sinter__row_pages_add(&buffer->pages, row, err);
    }
    return st == SINTER_END && sinter__write_buffer_rows(buffer) == 0 ? refuse(buffer, row, err)
                                                                      : st;
}

sinter_status
sinter__write_buffer_put(sinter__write_buffer *buffer, sinter_bytes key, int64_t sequence,
                         uint8_t kind, sinter_bytes value, sinter_error *err)
{
    const sinter__new_row row = {key, value, sequence, kind};
    sinter_status st = check_row(buffer, &row, err);

    if (st == SINTER_OK) {
        st = sinter__row_pages_add(&buffer->pages, &row, err);
    }
    if (st == SINTER_END) {
        buffer->was_full = true;
        st = add_when_full(buffer, &row, err);
    }
    if (st == SINTER_OK) {
        buffer->last_sequence = sequence;
        buffer->was_full = false;
        buffer->entries = NULL;
    }
    return st;
}

uint64_t
sinter__write_buffer_least(size_t key_size, size_t value_size)
{
    return sinter__row_pages_least(key_size, value_size);
}

uint64_t
sinter__write_buffer_rows(const sinter__write_buffer *buffer)
{
    return buffer->pages.rows + buffer->spilled_rows;
}

uint64_t
sinter__write_buffer_bytes(const sinter__write_buffer *buffer)
{
    return buffer->pages.held_bytes;
}

uint64_t
sinter__write_buffer_spills(const sinter__write_buffer *buffer)
{
    return buffer->spill_times;
}
