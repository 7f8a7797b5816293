/*
 * The writer: rows are copied into the columns of an open block; a full block is encoded straight
 * into the output buffer, value part first, and gets its index entry. Without a codec the values
 * are copied to their final place in the output buffer at once.
 */
#include "sst/writer.h"

#include <string.h>

#include "base/bytes.h"
#include "base/env.h"
#include "base/hash.h"
#include "base/load.h"
#include "sinter/sst.h"
#include "sinter/version.h"
#include "sst/block_encoder.h"
#include "sst/file.h"
#include "sst/filter.h"
#include "sst/index_writer.h"
#include "sst/properties.h"

enum {
    FIT_BYTES_FIRST = 1 << 20,      /* larger blocks begin with less memory than their target */
    BLOCK_BYTES_LATEST = 1073741824 /* a block that is larger than this takes no second row */
};

typedef struct sst_writer {
    sinter_writer base;
    const sinter_env *env;
    char *path;
    char *key_types;
    char *row_type;
    uint32_t block_bytes;
    int32_t codec;
    uint32_t filter_bits;
    bool no_pass;
    bool is_finished;
    uint32_t format_tag;
    sinter_status failed; /* a failed append: the file can't be finished any more */
    sinter_io_file *handle;
    sinter__sst_sink sink;
    sinter__index_writer index;
    sinter__block_encoder encoder;
    sinter__open_block block;
    sinter__scratch prefixes;
    sinter__scratch filter;
    sinter__scratch min_key;
    sinter__scratch last_key;
    size_t last_key_size;
    sinter__buffer user_properties;
    sinter_sst_properties sums;
    uint64_t blocks_passed;
} sst_writer;

static sst_writer *
self_of(sinter_writer *writer)
{
    return (sst_writer *)(void *)writer;
}

/** Place for values: the output buffer if they need no codec. */
static sinter_status
fit_values(sst_writer *self, size_t bytes, sinter_error *err)
{
    if (self->codec != SINTER_CODEC_NONE) {
        return sinter__open_block_fit_values(&self->block, bytes, err);
    }
    return sinter__sst_sink_reserve(&self->sink, bytes, &self->block.values, err);
}

/** Room behind the sink's end, or in the value memory. */
static size_t
value_capacity(const sst_writer *self)
{
    return self->codec != SINTER_CODEC_NONE ? self->block.value_memory.capacity
                                            : self->sink.pending.capacity - self->sink.pending_size;
}

/** Make room for one more row and compute how far rows may be added unchecked. */
static sinter_status
fit_row(sst_writer *self, size_t key_size, size_t value_size, sinter_error *err)
{
    sinter__open_block *block = &self->block;
    const size_t first = self->block_bytes < FIT_BYTES_FIRST ? self->block_bytes : FIT_BYTES_FIRST;
    size_t keys = block->key_bytes + key_size;
    size_t values = block->value_bytes + value_size;
    size_t limit = self->block_bytes;

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
keep_bytes(sst_writer *self, sinter__scratch *memory, sinter_bytes bytes, sinter_error *err)
{
    SINTER__CHECK(sinter__scratch_fit(self->env, memory, bytes.size + 1, err));
    if (bytes.size > 0) {
        memcpy(memory->data, bytes.data, bytes.size);
    }
    return SINTER_OK;
}

/** Refuse a block whose first key is not above all that was written. */
static sinter_status
check_above_last(const sst_writer *self, sinter_bytes first_key, sinter_error *err)
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

/** Refuse what no reader would take back. */
static sinter_status
check_block(sst_writer *self, const sinter__keys *keys, const sinter__sst_summary *summary,
            sinter_error *err)
{
    uint32_t row = 0;

    if (summary->key_bytes.max > SINTER_KEY_BYTES_MAX ||
        summary->value_bytes.max > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, self->path, -1,
                              "a key has more than 1 MiB or a value more than 1 GiB");
    }
    if (summary->kinds_or > SINTER_KIND_DELETE) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, self->path, -1, "a row has an unknown kind");
    }
    SINTER__CHECK(check_above_last(self, sinter__keys_at(keys, 0), err));
    SINTER__CHECK(
        sinter__scratch_fit(self->env, &self->prefixes, keys->rows * sizeof(uint64_t), err));
    sinter__keys_prefixes(keys, 0, (uint64_t *)(void *)self->prefixes.data);
    if (!sinter__keys_ascend(keys, (const uint64_t *)(const void *)self->prefixes.data, &row)) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, self->path, -1,
                              "rows are not in ascending key order: row %llu",
                              (unsigned long long)self->sums.row_count + row);
    }
    return SINTER_OK;
}

/** Count an entry in the file's sums, and keep its last key. */
static sinter_status
count_entry(sst_writer *self, const sinter__sst_entry *entry, sinter_error *err)
{
    sinter_sst_properties *sums = &self->sums;

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
    sinter__sst_count_largest(sums, entry);
    return SINTER_OK;
}

static sinter_status
make_filter(sst_writer *self, const sinter__keys *keys, sinter_bytes *out, sinter_error *err)
{
    if (self->filter_bits == 0) {
        return SINTER_OK;
    }
    out->size = sinter__filter_bytes(keys->rows, self->filter_bits);
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->filter, out->size, err));
    sinter__filter_put(self->filter.data, keys, self->filter_bits);
    out->data = self->filter.data;
    return SINTER_OK;
}

/** Keys of the open block, as a column of one width if they have one. */
static sinter__keys
block_keys(const sinter__open_block *block, const sinter__sst_summary *summary)
{
    const bool is_fixed = summary->key_bytes.min == summary->key_bytes.max;

    return (sinter__keys){.data = block->keys,
                          .offsets = is_fixed ? NULL : block->key_offsets,
                          .width = summary->key_bytes.min,
                          .rows = block->rows};
}

/** Give memory back that only an unusually large block needed. */
static void
release_excess(sst_writer *self)
{
    const size_t usual = 4 * ((size_t)self->block_bytes + FIT_BYTES_FIRST);
    sinter__open_block *block = &self->block;

    if (block->value_memory.capacity > usual) {
        sinter__scratch_fini(self->env, &block->value_memory);
    }
    if (self->sink.pending_size == 0 && self->sink.pending.capacity > usual) {
        sinter__scratch_fini(self->env, &self->sink.pending);
    }
}

/** Write the open block, if it has rows. */
static sinter_status
end_block(sst_writer *self, sinter_error *err)
{
    sinter__open_block *block = &self->block;
    const sinter__sst_columns columns = sinter__open_block_columns(block);
    sinter_bytes filter = {NULL, 0};
    sinter__sst_summary summary;
    sinter__sst_entry entry;
    sinter__keys keys;

    if (block->rows == 0) {
        return SINTER_OK;
    }
    sinter__sst_summarize(&columns, &summary);
    keys = block_keys(block, &summary);
    SINTER__CHECK(check_block(self, &keys, &summary, err));
    entry = (sinter__sst_entry){
        .rows = block->rows,
        .retracts = summary.retracts,
        .key_bytes = block->key_bytes,
        .sequence_min = summary.sequence_min,
        .sequence_max = summary.sequence_max,
        .first_key = sinter__keys_at(&keys, 0),
        .last_key = sinter__keys_at(&keys, keys.rows - 1),
    };
    SINTER__CHECK(sinter__block_encoder_put(&self->encoder, block, &summary, &entry, err));
    SINTER__CHECK(make_filter(self, &keys, &filter, err));
    SINTER__CHECK(sinter__index_writer_add(&self->index, &entry, filter, err));
    SINTER__CHECK(count_entry(self, &entry, err));
    sinter__open_block_reset(block);
    block->raw_limit = 0; /* the next row makes room first */
    release_excess(self);
    return SINTER_OK;
}

/** Append a row that needs more than the fast path; may end a block before or after it. */
static sinter_status
add_row(sst_writer *self, const sinter__single_row *row, sinter_error *err)
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
    return block->raw >= self->block_bytes ? end_block(self, err) : SINTER_OK;
}

/** Must the open block be ended before a row of this size? */
static bool
must_end_before(const sst_writer *self, uint64_t row_bytes)
{
    const sinter__open_block *block = &self->block;

    return block->rows > 0 &&
           (block->rows >= SINTER__SST_BLOCK_ROWS_MAX || row_bytes >= self->block_bytes ||
            block->raw + row_bytes > BLOCK_BYTES_LATEST);
}

/** Where an append has got to. */
typedef struct progress {
    const sinter_range *ranges;
    size_t count;
    size_t taken;
    uint32_t rows; /* taken of the range `taken` */
    uint64_t stop_bytes;
    bool is_stopped; /* at a block border, with enough bytes */
} progress;

static void
note_border(const sst_writer *self, progress *at)
{
    at->is_stopped =
        self->block.rows == 0 && sinter__sst_sink_offset(&self->sink) >= at->stop_bytes;
}

/** The next row by itself, whatever its payload. */
static sinter_status
get_row(const sst_writer *self, const sinter_range *range, uint32_t row, sinter__single_row *out,
        sinter_error *err)
{
    const sinter_batch *batch = range->batch;
    const sinter__sst_payload *payload = batch->payload;

    if (batch->payload_ops == NULL || batch->payload_ops->value == NULL ||
        (batch->payload_ops == &sinter__sst_payload_ops && payload->value_offsets == NULL)) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, self->path, -1,
                              "values of format %s can't be written as bytes",
                              batch->payload_ops == NULL ? "?" : batch->payload_ops->format);
    }
    out->key = sinter_batch_key(batch, row);
    out->value = batch->payload_ops->value(batch, row);
    out->sequence = batch->sequences[row];
    out->kind = batch->kinds[row];
    return SINTER_OK;
}

/** Append the next row by itself, or end the block before it. */
static sinter_status
append_row(sst_writer *self, progress *at, sinter_error *err)
{
    const sinter_range *range = &at->ranges[at->taken];
    sinter__single_row row = {.kind = 0};

    SINTER__CHECK(get_row(self, range, range->first + at->rows, &row, err));
    if (must_end_before(self, (uint64_t)row.key.size + row.value.size)) {
        SINTER__CHECK(end_block(self, err));
    } else {
        SINTER__CHECK(add_row(self, &row, err));
        at->rows++;
    }
    note_border(self, at);
    return SINTER_OK;
}

/** Append rows of one range until it is taken or the file may end. */
static sinter_status
append_range(sst_writer *self, progress *at, sinter_error *err)
{
    const sinter_range *range = &at->ranges[at->taken];
    sinter__row_source source = {.keys = NULL};
    const bool is_known = sinter__row_source_of(range->batch, &source);
    sinter_status st = SINTER_OK;

    while (st == SINTER_OK && at->rows < range->count && !at->is_stopped) {
        uint32_t fitting = 0;

        if (is_known) {
            fitting = sinter__open_block_take_rows(&self->block, &source, range->first + at->rows,
                                                   range->count - at->rows);
            at->rows += fitting;
        }
        if (fitting == 0) {
            st = append_row(self, at, err);
        }
    }
    if (at->rows == range->count) {
        at->taken++;
        at->rows = 0;
    }
    return st;
}

/** Append a stored block as it is, behind the open one. */
static sinter_status
append_stored(sst_writer *self, progress *at, sinter_error *err)
{
    const sinter_range *range = &at->ranges[at->taken];
    const sinter__sst_payload *payload = range->batch->payload;
    sinter__sst_entry entry;

    if (range->batch->payload_ops != &sinter__sst_payload_ops || payload->stored == NULL ||
        range->first != 0 || range->count != range->batch->row_count) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, self->path, -1,
                              "a stored block must be an sst block and whole");
    }
    if (payload->format_tag != self->format_tag ||
        (payload->filter.size > 0) != (self->filter_bits > 0)) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, self->path, -1,
                              "a stored block has another format than the file");
    }
    if (self->block.rows > 0) {
        SINTER__CHECK(end_block(self, err));
        note_border(self, at);
        if (at->is_stopped) {
            return SINTER_OK;
        }
    }
    entry = *payload->entry;
    SINTER__CHECK(check_above_last(self, entry.first_key, err));
    entry.offset = sinter__sst_sink_offset(&self->sink);
    SINTER__CHECK(sinter__sst_sink_write(&self->sink, payload->stored,
                                         (size_t)sinter__sst_entry_stored(&entry), err));
    SINTER__CHECK(sinter__index_writer_add(&self->index, &entry, payload->filter, err));
    SINTER__CHECK(count_entry(self, &entry, err));
    self->block.raw_limit = 0; /* the output buffer has moved on */
    self->blocks_passed++;
    at->taken++;
    note_border(self, at);
    return SINTER_OK;
}

static sinter_status
append_all(sst_writer *self, progress *at, sinter_error *err)
{
    bool is_stored = false;

    /* The append before may have taken its last row at a place where the file may end. */
    if (self->sums.block_count > 0) {
        note_border(self, at);
    }
    while (at->taken < at->count && !at->is_stopped) {
        at->taken +=
            sinter__open_block_take(&self->block, at->ranges + at->taken, at->count - at->taken);
        if (at->taken == at->count) {
            break;
        }
        is_stored = (at->ranges[at->taken].batch->flags & SINTER_BATCH_STORED) != 0;
        SINTER__CHECK(is_stored ? append_stored(self, at, err) : append_range(self, at, err));
    }
    return SINTER_OK;
}

/* NOLINTBEGIN(readability-function-size): the vtable says which parameters it has */
static sinter_status
writer_append(sinter_writer *writer, const sinter_range *ranges, size_t count, uint64_t stop_bytes,
              size_t *taken_out, uint32_t *taken_rows_out, sinter_error *err)
{
    sst_writer *self = self_of(writer);
    progress at = {.ranges = ranges, .count = count, .stop_bytes = stop_bytes};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, ranges != NULL || count == 0);
    SINTER__REQUIRE(err, !self->is_finished);
    if (self->failed != SINTER_OK) {
        return SINTER__ERR_AT(err, self->failed, self->path, -1, "an earlier append has failed");
    }
    st = append_all(self, &at, err);
    if (st != SINTER_OK) {
        self->failed = st;
        sinter__fail_file(err, self->path);
        return st;
    }
    *taken_out = at.taken;
    *taken_rows_out = at.rows;
    return SINTER_OK;
}
/* NOLINTEND(readability-function-size) */

/* Worth keeping: see design 4.4, last point. */
static bool
writer_accepts(sinter_writer *writer, const sinter_block_info *info)
{
    const sst_writer *self = self_of(writer);
    const uint64_t target = self->block_bytes;

    return !self->no_pass && info->is_whole && info->format_tag == self->format_tag &&
           (self->block.rows == 0 || self->block.raw >= target / 4) &&
           (info->raw_bytes >= target / 2 || info->is_last);
}

static uint64_t
writer_size(const sinter_writer *writer)
{
    const sst_writer *self = (const sst_writer *)(const void *)writer;

    return sinter__sst_sink_offset(&self->sink) + self->block.raw;
}

/** Write properties and footer behind the index. */
static sinter_status
write_end(sst_writer *self, sinter__sst_footer *footer, sinter_error *err)
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
    footer->file_size = sinter__sst_sink_offset(&self->sink) + sizeof bytes;
    sinter__sst_put_footer(bytes, footer);
    SINTER__TRY(sinter__sst_sink_write(&self->sink, bytes, sizeof bytes, err));
    SINTER__TRY(sinter__sst_sink_flush(&self->sink, err));
out:
    sinter__buffer_fini(self->env, &section);
    return st;
}

static sinter_status
finish_file(sst_writer *self, sinter__sst_footer *footer, sinter_error *err)
{
    SINTER__CHECK(end_block(self, err));
    assert(self->block.rows == 0);
    self->sums.max_key = (sinter_bytes){self->last_key.data, self->last_key_size};
    self->sums.creation_time_ms = sinter__now_ms(self->env);
    SINTER__CHECK(sinter__index_writer_finish(&self->index, footer, err));
    self->sums.largest_page = self->index.largest_page;
    SINTER__CHECK(write_end(self, footer, err));
    SINTER__CHECK(self->handle->ops->sync(self->handle, err));
    return self->handle->ops->publish(self->handle, self->path, err);
}

static sinter_status
writer_finish(sinter_writer *writer, sinter_file_stats *out, sinter_error *err)
{
    sst_writer *self = self_of(writer);
    const sinter_sst_properties *sums = &self->sums;
    sinter__sst_footer footer = {0};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, !self->is_finished);
    if (self->failed != SINTER_OK) {
        return SINTER__ERR_AT(err, self->failed, self->path, -1, "an earlier append has failed");
    }
    st = finish_file(self, &footer, err);
    if (st != SINTER_OK) {
        self->failed = st;
        sinter__fail_file(err, self->path);
        return st;
    }
    self->is_finished = true;
    if (out != NULL) {
        const sinter_file_stats stats = {
            .struct_size = (uint32_t)sizeof stats,
            .file_size = footer.file_size,
            .row_count = sums->row_count,
            .retract_count = sums->retract_count,
            .sequence_min = sums->sequence_min,
            .sequence_max = sums->sequence_max,
            .creation_time_ms = sums->creation_time_ms,
            .min_key = sums->min_key,
            .max_key = sums->max_key,
            .blocks_passed = self->blocks_passed,
        };

        sinter__struct_store(out, &stats, sizeof stats);
    }
    return SINTER_OK;
}

static void
writer_close(sinter_writer *writer)
{
    sst_writer *self = self_of(writer);
    const sinter_env *env = self->env;

    if (self->handle != NULL) {
        self->handle->ops->close(self->handle);
    }
    sinter__sst_sink_fini(&self->sink);
    sinter__index_writer_fini(&self->index);
    sinter__block_encoder_fini(&self->encoder);
    sinter__open_block_fini(&self->block);
    sinter__scratch_fini(env, &self->prefixes);
    sinter__scratch_fini(env, &self->filter);
    sinter__scratch_fini(env, &self->min_key);
    sinter__scratch_fini(env, &self->last_key);
    sinter__buffer_fini(env, &self->user_properties);
    sinter__free(env, self->path);
    sinter__free(env, self->key_types);
    sinter__free(env, self->row_type);
    sinter__free(env, self);
}

static const sinter_writer_ops writer_ops = {
    .struct_size = (uint32_t)sizeof(sinter_writer_ops),
    .append = writer_append,
    .accepts = writer_accepts,
    .size = writer_size,
    .finish = writer_finish,
    .close = writer_close,
};

/** Take over the options, which were checked. */
static sinter_status
set_up(sst_writer *self, const sinter_write_options *options, sinter_error *err)
{
    const sinter_env *env = self->env;
    sinter_sst_properties *sums = &self->sums;

    self->block_bytes =
        options->block_bytes == 0 ? SINTER__SST_BLOCK_BYTES_DEFAULT : options->block_bytes;
    self->codec = options->codec;
    self->filter_bits = options->filter_bits_per_key;
    self->no_pass = options->no_pass;
    self->sink.env = env;
    self->index.sink = &self->sink;
    self->index.page_bytes = SINTER__SST_PAGE_TARGET_BYTES;
    self->encoder.sink = &self->sink;
    self->encoder.choice =
        (sinter__codec_choice){.codec = options->codec, .level = options->codec_level};
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
create_file(sst_writer *self, uint32_t flags, sinter_error *err)
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

static sinter_status
check_options(const sinter_write_options *options, sinter_error *err)
{
    if (options->block_bytes > SINTER_BLOCK_OPTION_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a block size of %u bytes is above 1 GiB",
                           options->block_bytes);
    }
    if (options->filter_bits_per_key > SINTER__FILTER_BITS_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%u filter bits per key are more than %d",
                           options->filter_bits_per_key, SINTER__FILTER_BITS_MAX);
    }
    SINTER__CHECK(sinter__codec_check(options->codec, err));
    return sinter__codec_check_level(options->codec, options->codec_level, err);
}

sinter_status
sinter__sst_writer_open(void *format, const sinter_env *env, const char *path,
                        const sinter_write_options *given, sinter_writer **out, sinter_error *err)
{
    sinter_write_options options = {.struct_size = (uint32_t)sizeof options};
    sst_writer *self = NULL;
    sinter_status st = SINTER_OK;

    (void)format;
    SINTER__REQUIRE(err, env != NULL && path != NULL && out != NULL);
    *out = NULL;
    if (given != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&options, sizeof options, given, "sinter_write_options", err));
    }
    SINTER__CHECK(check_options(&options, err));
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->base.ops = &writer_ops;
    self->env = env;
    SINTER__TRY(sinter__strdup(env, path, &self->path, err));
    SINTER__TRY(set_up(self, &options, err));
    SINTER__TRY(create_file(self, options.direct ? (uint32_t)SINTER_IO_DIRECT : 0u, err));
    *out = &self->base;
    self = NULL;
out:
    if (self != NULL) {
        writer_close(&self->base);
        sinter__fail_file(err, path);
    }
    return st;
}

void
sinter__sst_writer_set_page_bytes(sinter_writer *writer, uint32_t page_bytes)
{
    assert(writer->ops == &writer_ops);
    self_of(writer)->index.page_bytes = page_bytes;
}

sinter_status
sinter_sst_writer_set_property(sinter_writer *writer, const char *name, const char *value,
                               sinter_error *err)
{
    sst_writer *self = NULL;
    sinter_bytes user = {NULL, 0};

    SINTER__REQUIRE(err, writer != NULL && writer->ops == &writer_ops);
    SINTER__REQUIRE(err, name != NULL && name[0] != '\0' && value != NULL);
    self = self_of(writer);
    SINTER__REQUIRE(err, self->sums.block_count == 0 && self->block.rows == 0);
    SINTER__REQUIRE(err, !self->is_finished);
    if (strncmp(name, SINTER__SST_OWN_PREFIX, sizeof SINTER__SST_OWN_PREFIX - 1) == 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "property names with %s are reserved: %s",
                           SINTER__SST_OWN_PREFIX, name);
    }
    user = (sinter_bytes){self->user_properties.data, self->user_properties.size};
    if (sinter__sst_find_property(user, name) != NULL) {
        return SINTER__ERR(err, SINTER_E_EXISTS, "property %s is set already", name);
    }
    return sinter__sst_put_property(self->env, name,
                                    (sinter_bytes){(const uint8_t *)value, strlen(value) + 1},
                                    &self->user_properties, err);
}
