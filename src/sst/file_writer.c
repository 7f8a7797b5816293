/*
 * A full block goes on the line, if there is one that takes it; else it is encoded straight into
 * the output buffer, value part first, and gets its index entry. Without a codec the values are
 * copied to their final place in the output buffer at once.
 */
#include "sst/file_writer.h"

#include <string.h>

#include "base/bytes.h"
#include "base/env.h"
#include "base/hash.h"
#include "sinter/version.h"
#include "sst/file.h"
#include "sst/properties.h"

enum {
    FIT_BYTES_FIRST = 1 << 20,      /* larger blocks begin with less memory than their target */
    BLOCK_BYTES_LATEST = 1073741824 /* a block that is larger than this takes no second row */
};

/** Place for values: the output buffer if they need no codec. */
static sinter_status
fit_values(sinter__file_writer *self, size_t bytes, sinter_error *err)
{
    if (self->codec != SINTER_CODEC_NONE) {
        return sinter__open_block_fit_values(&self->block, bytes, err);
    }
    return sinter__sst_sink_reserve(&self->sink, bytes, &self->block.values, err);
}

/** Room behind the sink's end, or in the value memory. */
static size_t
value_capacity(const sinter__file_writer *self)
{
    return self->codec != SINTER_CODEC_NONE ? self->block.value_memory.capacity
                                            : self->sink.pending.capacity - self->sink.pending_size;
}

/** Make room for one more row and compute how far rows may be added unchecked. */
static sinter_status
fit_row(sinter__file_writer *self, size_t key_size, size_t value_size, sinter_error *err)
{
    sinter__open_block *block = &self->block;
    const size_t first = self->block_bytes < FIT_BYTES_FIRST ? self->block_bytes : FIT_BYTES_FIRST;
    size_t keys = block->key_bytes + key_size;
    size_t values = block->value_bytes + value_size;
    size_t limit = self->block_bytes;

    assert(self->block_bytes > 0);
    assert(block->rows < SINTER__SST_BLOCK_ROWS_MAX);
    keys = (keys < first ? first : keys) + SINTER__SST_SLACK_BYTES;
    values = (values < first ? first : values) + SINTER__SST_SLACK_BYTES;
    SINTER__CHECK(sinter__open_block_fit_rows(block, block->rows + 1, err));
    SINTER__CHECK(sinter__open_block_fit_keys(block, keys, err));
    SINTER__CHECK(fit_values(self, values, err));
    keys = block->key_memory.capacity - SINTER__SST_SLACK_BYTES;
    values = value_capacity(self) - SINTER__SST_SLACK_BYTES;
    limit = limit < keys ? limit : keys;
    limit = limit < values ? limit : values;
    assert(limit <= self->block_bytes);
    block->raw_limit = (uint32_t)limit;
    return SINTER_OK;
}

static sinter_status
keep_bytes(sinter__file_writer *self, sinter__scratch *memory, sinter_bytes bytes,
           sinter_error *err)
{
    SINTER__CHECK(sinter__scratch_fit(self->env, memory, bytes.size + 1, err));
    if (bytes.size > 0) {
        memcpy(memory->data, bytes.data, bytes.size);
    }
    return SINTER_OK;
}

/** Refuse a block whose first key is not above all that was written. */
static sinter_status
check_above_last(const sinter__file_writer *self, sinter_bytes first_key, sinter_error *err)
{
    const sinter_bytes last = {self->last_key.data, self->last_key_size};

    assert(first_key.size <= SINTER_KEY_BYTES_MAX);
    if (self->sums.block_count > 0 && sinter__key_compare(last, first_key) >= 0) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, self->path, -1,
                              "rows are not in ascending key order: row %llu",
                              (unsigned long long)self->sums.row_count);
    }
    return SINTER_OK;
}

/** Count an entry in the file's sums, and keep its last key. */
static sinter_status
count_entry(sinter__file_writer *self, const sinter__sst_entry *entry, sinter_error *err)
{
    sinter_sst_properties *sums = &self->sums;

    assert(entry->rows > 0);
    assert(entry->retracts <= entry->rows);
    assert(entry->sequence_min <= entry->sequence_max);
    if (sums->block_count == 0) {
        SINTER__CHECK(keep_bytes(self, &self->min_key, entry->first_key, err));
        sums->min_key = (sinter_bytes){self->min_key.data, entry->first_key.size};
        sums->sequence_min = entry->sequence_min;
        sums->sequence_max = entry->sequence_max;
    }
    SINTER__CHECK(keep_bytes(self, &self->last_key, entry->last_key, err));
    self->last_key_size = entry->last_key.size;
    sums->sequence_min =
        entry->sequence_min < sums->sequence_min ? entry->sequence_min : sums->sequence_min;
    sums->sequence_max =
        entry->sequence_max > sums->sequence_max ? entry->sequence_max : sums->sequence_max;
    sums->block_count++;
    sums->row_count += entry->rows;
    sums->retract_count += entry->retracts;
    sums->raw_key_bytes += entry->key_bytes;
    sums->raw_value_bytes += entry->value_raw;
    sums->stored_bytes += sinter__sst_entry_stored(entry);
    sums->features_incompatible |=
        entry->keys_front_coded ? SINTER__SST_INCOMPATIBLE_FRONT_CODING : 0;
    sinter__sst_count_largest(sums, entry);
    return SINTER_OK;
}

/** Give memory back that only an unusually large block needed. */
static void
release_excess(sinter__file_writer *self)
{
    const size_t usual = 4 * ((size_t)self->block_bytes + FIT_BYTES_FIRST);
    sinter__open_block *block = &self->block;

    if (block->value_memory.capacity > usual) {
        sinter__scratch_fini(self->env, &block->value_memory);
    }
    if (self->line != NULL && sinter__block_line_is_outgrown(self->line, block)) {
        sinter__open_block_fini(block);
        *block = (sinter__open_block){.env = self->env};
    }
    if (self->sink.pending_size == 0 && self->sink.pending.capacity > usual) {
        sinter__scratch_fini(self->env, &self->sink.pending);
    }
}

/** Enter a block that stands at the end of the file. */
static sinter_status
enter_block(sinter__file_writer *self, const sinter__sst_entry *entry, sinter_bytes filter,
            sinter_error *err)
{
    SINTER__CHECK(sinter__index_writer_add(&self->index, entry, filter, err));
    return count_entry(self, entry, err);
}

/** Write a block that came along the line. */
static sinter_status
write_from_line(void *ctx, sinter__encoding *encoding, sinter_error *err)
{
    sinter__file_writer *self = ctx;
    sinter__sst_entry *entry = &encoding->entry;

    SINTER__CHECK(check_above_last(self, entry->first_key, err));
    entry->offset = sinter__sst_sink_offset(&self->sink);
    SINTER__CHECK(sinter__sst_sink_write(&self->sink, encoding->out,
                                         (size_t)sinter__sst_entry_stored(entry), err));
    return enter_block(self, entry, sinter__encoding_filter(encoding), err);
}

static uint64_t
spoken_for(const void *ctx)
{
    const sinter__file_writer *self = ctx;

    return sinter__sst_sink_offset(&self->sink) + sinter__index_writer_pending(&self->index);
}

static const sinter__block_line_end line_end = {.write = write_from_line, .spoken_for = spoken_for};

/** Encode the open block straight into the output buffer. */
static sinter_status
write_block(sinter__file_writer *self, sinter_error *err)
{
    sinter__open_block *block = &self->block;
    const size_t bound = sinter__block_encoder_bound(self->codec, block);
    sinter__encoding encoding = {.block = block,
                                 .first_row = self->sums.row_count,
                                 .packing = sinter__key_trials_next(&self->trials),
                                 .filter = &self->filter};

    SINTER__CHECK(sinter__sst_sink_reserve(&self->sink, bound, &encoding.out, err));
    if (self->codec == SINTER_CODEC_NONE) {
        block->values = encoding.out; /* the sink may have moved */
    }
    SINTER__CHECK(sinter__block_encoder_run(&self->encoder, &encoding, err));
    if (encoding.packing == SINTER__KEYS_TRIED) {
        self->trials.gains = encoding.keys_gain;
    }
    SINTER__CHECK(check_above_last(self, encoding.entry.first_key, err));
    encoding.entry.offset = sinter__sst_sink_offset(&self->sink);
    SINTER__CHECK(sinter__sst_sink_commit(&self->sink,
                                          (size_t)sinter__sst_entry_stored(&encoding.entry), err));
    SINTER__CHECK(enter_block(self, &encoding.entry, sinter__encoding_filter(&encoding), err));
    sinter__open_block_reset(block);
    release_excess(self);
    return SINTER_OK;
}

/** Let nothing be on its way. */
static sinter_status
drain(const sinter__file_writer *self, sinter_error *err)
{
    return self->line == NULL ? SINTER_OK : sinter__block_line_drain(self->line, err);
}

sinter_status
sinter__file_writer_end_block(sinter__file_writer *self, sinter_error *err)
{
    sinter__open_block *block = &self->block;
    const uint32_t rows = block->rows;

    if (rows == 0) {
        return SINTER_OK;
    }
    if (self->line != NULL && sinter__block_line_takes(self->line, block)) {
        SINTER__CHECK(sinter__block_line_put(self->line, block, self->rows, err));
    } else {
        SINTER__CHECK(drain(self, err));
        SINTER__CHECK(write_block(self, err));
    }
    block->raw_limit = 0; /* the next row makes room first */
    self->rows += rows;
    self->blocks++;
    return SINTER_OK;
}

sinter_status
sinter__file_writer_has_reached(sinter__file_writer *self, uint64_t size, bool *out,
                                sinter_error *err)
{
    bool is_below = false;

    assert(self->block.rows == 0);
    if (self->line != NULL) {
        SINTER__CHECK(sinter__block_line_settle(self->line, size, &is_below, err));
    }
    *out = !is_below && sinter__sst_sink_offset(&self->sink) >= size;
    return SINTER_OK;
}

uint64_t
sinter__file_writer_size(const sinter__file_writer *self)
{
    const sinter_status ignored = drain(self, NULL); /* the next append or finish tells it */

    (void)ignored;
    return sinter__sst_sink_offset(&self->sink) + self->block.raw;
}

sinter_status
sinter__file_writer_add(sinter__file_writer *self, const sinter__single_row *row, sinter_error *err)
{
    sinter__open_block *block = &self->block;
    const size_t key_size = row->key.size;
    const size_t value_size = row->value.size;

    if (key_size > SINTER_KEY_BYTES_MAX) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, self->path, -1,
                              "a key of %zu bytes is longer than 1 MiB", key_size);
    }
    if (value_size > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, self->path, -1,
                              "a value of %zu bytes is longer than 1 GiB", value_size);
    }
    SINTER__CHECK(fit_row(self, key_size, value_size, err));
    sinter__open_block_add(block, row);
    return block->raw >= self->block_bytes ? sinter__file_writer_end_block(self, err) : SINTER_OK;
}

bool
sinter__file_writer_must_end(const sinter__file_writer *self, uint64_t row_bytes)
{
    const sinter__open_block *block = &self->block;

    return block->rows > 0 &&
           (block->rows >= SINTER__SST_BLOCK_ROWS_MAX || row_bytes >= self->block_bytes ||
            block->raw + row_bytes > BLOCK_BYTES_LATEST);
}

sinter_status
sinter__file_writer_add_stored(sinter__file_writer *self, const sinter__sst_payload *payload,
                               sinter_error *err)
{
    sinter__sst_entry entry = *payload->entry;

    assert(self->block.rows == 0);
    assert(payload->stored != NULL);
    assert(payload->format_tag == self->format_tag);
    SINTER__CHECK(drain(self, err));
    SINTER__CHECK(check_above_last(self, entry.first_key, err));
    entry.offset = sinter__sst_sink_offset(&self->sink);
    SINTER__CHECK(sinter__sst_sink_write(&self->sink, payload->stored,
                                         (size_t)sinter__sst_entry_stored(&entry), err));
    SINTER__CHECK(enter_block(self, &entry, payload->filter, err));
    self->block.raw_limit = 0; /* the output buffer has moved on */
    self->rows += entry.rows;
    self->blocks++;
    self->blocks_passed++;
    return SINTER_OK;
}

/** Write properties and footer behind the index. */
static sinter_status
write_end(sinter__file_writer *self, sinter__sst_footer *footer, sinter_error *err)
{
    const sinter_bytes user = {self->user_properties.data, self->user_properties.size};
    sinter__buffer section = {0};
    uint8_t bytes[SINTER__SST_FOOTER_BYTES];
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__sst_put_properties(self->env, &self->sums, user, &section, err));
    footer->properties_offset = sinter__sst_sink_offset(&self->sink);
    footer->properties_size = section.size;
    footer->properties_checksum = sinter__hash(section.data, section.size);
    SINTER__TRY(sinter__sst_sink_write(&self->sink, section.data, section.size, err));
    footer->version = SINTER__SST_VERSION;
    footer->block_count = self->sums.block_count;
    footer->features_compatible = self->filter_bits > 0 ? SINTER__SST_COMPATIBLE_FILTERS : 0;
    footer->features_incompatible = self->sums.features_incompatible;
    footer->file_size = sinter__sst_sink_offset(&self->sink) + sizeof bytes;
    sinter__sst_put_footer(bytes, footer);
    SINTER__TRY(sinter__sst_sink_write(&self->sink, bytes, sizeof bytes, err));
    SINTER__TRY(sinter__sst_sink_flush(&self->sink, err));
out:
    sinter__buffer_fini(self->env, &section);
    return st;
}

sinter_status
sinter__file_writer_finish(sinter__file_writer *self, sinter__sst_footer *footer, sinter_error *err)
{
    SINTER__CHECK(sinter__file_writer_end_block(self, err));
    SINTER__CHECK(drain(self, err));
    assert(self->block.rows == 0);
    assert(self->sums.row_count == self->rows && self->sums.block_count == self->blocks);
    self->sums.max_key = (sinter_bytes){self->last_key.data, self->last_key_size};
    self->sums.creation_time_ms = sinter__now_ms(self->env);
    SINTER__CHECK(sinter__index_writer_finish(&self->index, footer, err));
    self->sums.largest_page = self->index.largest_page;
    SINTER__CHECK(write_end(self, footer, err));
    SINTER__CHECK(self->handle->ops->sync(self->handle, err));
    return self->handle->ops->publish(self->handle, self->path, err);
}

/** Take over the options, which were checked. */
static sinter_status
set_up(sinter__file_writer *self, const sinter_write_options *options, sinter_error *err)
{
    const sinter_env *env = self->env;
    sinter_sst_properties *sums = &self->sums;

    self->block_bytes =
        options->block_bytes == 0 ? SINTER__SST_BLOCK_BYTES_DEFAULT : options->block_bytes;
    self->codec = options->codec;
    self->filter_bits = options->filter_bits_per_key;
    self->sink.env = env;
    self->index.sink = &self->sink;
    self->index.page_bytes = SINTER__SST_PAGE_TARGET_BYTES;
    self->encoder.choice =
        (sinter__codec_choice){.codec = options->codec, .level = options->codec_level};
    self->encoder.filter_bits = options->filter_bits_per_key;
    self->encoder.contexts.env = env;
    self->block.env = env;
    SINTER__CHECK(sinter__strdup(env, options->key_types, &self->key_types, err));
    SINTER__CHECK(sinter__strdup(env, options->row_type, &self->row_type, err));
    sums->level = options->level;
    sums->codec = options->codec;
    sums->schema_id = options->schema_id;
    sums->filter_bits_per_key = options->filter_bits_per_key;
    sums->key_types = self->key_types;
    sums->row_type = self->row_type;
    sums->writer_version = "sinter " SINTER_VERSION_TEXT;
    self->format_tag = sinter__sst_format_tag(sums);
    return SINTER_OK;
}

/** Begin a nameless file in the directory of the path, and write its header. */
static sinter_status
create_file(sinter__file_writer *self, uint32_t flags, sinter_error *err)
{
    const sinter_env *env = self->env;
    char *slash = NULL;
    char *dir = NULL;
    uint8_t header[SINTER__SST_HEADER_BYTES];
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__strdup(env, self->path, &dir, err));
    slash = strrchr(dir, '/');
    if (slash != NULL) {
        slash[slash == dir ? 1 : 0] = '\0';
    }
    SINTER__TRY(
        env->io->ops->create(env->io, slash == NULL ? "." : dir, flags, &self->handle, err));
    self->sink.handle = self->handle;
    sinter__sst_put_header(header);
    SINTER__TRY(sinter__sst_sink_write(&self->sink, header, sizeof header, err));
out:
    sinter__free(env, dir);
    return st;
}

/** Have a line, if others are to encode and somebody may. */
static sinter_status
make_line(sinter__file_writer *self, uint32_t blocks_beside, sinter_error *err)
{
    const sinter__block_line_config config = {.slots = blocks_beside,
                                              .block_bytes = self->block_bytes,
                                              .encoder = &self->encoder,
                                              .trials = &self->trials,
                                              .end = &line_end,
                                              .ctx = self};

    if (blocks_beside == 0 || self->env->executor.submit == NULL ||
        self->codec == SINTER_CODEC_NONE) {
        return SINTER_OK;
    }
    return sinter__block_line_create(self->env, &config, &self->line, err);
}

sinter_status
sinter__file_writer_open(const sinter_env *env, const char *path,
                         const sinter_write_options *options, sinter__file_writer *self,
                         sinter_error *err)
{
    assert(self->handle == NULL);
    self->env = env;
    SINTER__CHECK(sinter__strdup(env, path, &self->path, err));
    SINTER__CHECK(set_up(self, options, err));
    SINTER__CHECK(make_line(self, options->blocks_beside, err));
    return create_file(self, options->direct ? (uint32_t)SINTER_IO_DIRECT : 0u, err);
}

void
sinter__file_writer_fini(sinter__file_writer *self)
{
    const sinter_env *env = self->env;

    sinter__block_line_destroy(self->line); /* first: it waits for who works on the rest */
    if (self->handle != NULL) {
        self->handle->ops->close(self->handle);
    }
    sinter__sst_sink_fini(&self->sink);
    sinter__index_writer_fini(&self->index);
    sinter__block_encoder_fini(&self->encoder);
    sinter__open_block_fini(&self->block);
    sinter__scratch_fini(env, &self->filter);
    sinter__scratch_fini(env, &self->min_key);
    sinter__scratch_fini(env, &self->last_key);
    sinter__buffer_fini(env, &self->user_properties);
    sinter__free(env, self->path);
    sinter__free(env, self->key_types);
    sinter__free(env, self->row_type);
}
