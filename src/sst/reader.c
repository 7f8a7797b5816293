/*
 * The reader: blocks of a file as batches. Spans are read ahead (span.h), a block is verified and
 * decoded into columns that are reused (block.h); with codec none keys and values stay where they
 * were read to.
 */
#include "sst/reader.h"

#include <string.h>

#include "base/bytes.h"
#include "base/load.h"
#include "sst/block.h"
#include "sst/filter.h"
#include "sst/footprint.h"
#include "sst/payload.h"
#include "sst/span.h"

typedef struct sst_reader {
    sinter_reader base;
    const sinter_env *env;
    sinter__sst_file file;
    sinter__span_reader spans;
    sinter__sst_decoder decoder;
    sinter__scratch begin_key; /* rows below it are not yielded */
    sinter_bytes begin;
    sinter__scratch end_key;
    sinter__scratch seek_key; /* the same, of the last seek */
    sinter_bytes seek;
    bool has_begin; /* `begin` counts */
    bool has_seek;  /* `seek` counts, until the first block after it is used */
    bool keys_only;
    uint32_t origin;
    sinter_status failed; /* what a call returned that left the reader in the middle */
    sinter__scratch filters;
    const sinter__leaf *filters_leaf; /* whose filters are loaded */
    uint64_t filters_offset;
    sinter_block_info info;
    sinter__sst_payload payload;
    sinter_batch batch;
} sst_reader;

static sst_reader *
self_of(sinter_reader *reader)
{
    return (sst_reader *)(void *)reader;
}

/** Keep `st` if it means that the reader can't go on, and name the file. */
static sinter_status
settle(sst_reader *self, sinter_status st, sinter_error *err)
{
    if (st < 0) {
        self->failed = st;
        sinter__fail_file(err, self->file.path);
    }
    return st;
}

static sinter_status
refuse_failed(const sst_reader *self, sinter_error *err)
{
    return SINTER__ERR_AT(err, self->failed, self->file.path, -1,
                          "the reader can't go on after a failure");
}

/** The key below which rows of the block that comes next are left out; data NULL: none. */
static sinter_bytes
lower_key(const sst_reader *self)
{
    return self->has_seek ? self->seek : (sinter_bytes){NULL, 0};
}

static bool
is_whole(const sst_reader *self, const sinter__sst_entry *entry)
{
    const sinter_bytes lower = lower_key(self);

    return (lower.data == NULL || sinter__key_compare(lower, entry->first_key) <= 0) &&
           (!self->spans.has_end_key ||
            sinter__key_compare(entry->last_key, self->spans.end_key) < 0);
}

/** Prefix of a block's first key, as its batch will have it. */
static uint64_t
first_prefix(const sst_reader *self, sinter_bytes key)
{
    const size_t skip = self->decoder.shared_prefix.size;

    return key.size <= skip ? 0 : sinter__key_prefix(key.data + skip, key.size - skip);
}

static sinter_status
reader_peek(sinter_reader *reader, const sinter_block_info **out, sinter_error *err)
{
    sst_reader *self = self_of(reader);
    const sinter__sst_entry *entry = NULL;
    const sinter__leaf *leaf = NULL;
    sinter__keys first = {.rows = 1};
    sinter_status st = SINTER_OK;

    if (self->failed != SINTER_OK) {
        return refuse_failed(self, err);
    }
    st = sinter__span_peek(&self->spans, &entry, &leaf, err);
    if (st != SINTER_OK) {
        return settle(self, st, err);
    }
    assert(leaf->count > 0);
    first.data = entry->first_key.data; /* the page has slack behind its keys */
    first.width = (uint32_t)entry->first_key.size;
    self->info = (sinter_block_info){
        .struct_size = (uint32_t)sizeof self->info,
        .row_count = entry->rows,
        .retract_count = entry->retracts,
        .format_tag = self->file.format_tag,
        .is_whole = is_whole(self, entry),
        .is_last = leaf->is_last && entry == &leaf->entries[leaf->count - 1],
        .first_key = entry->first_key,
        .last_key = entry->last_key,
        .first_prefix = first_prefix(self, entry->first_key),
        .sequence_min = entry->sequence_min,
        .sequence_max = entry->sequence_max,
        .raw_bytes = sinter__sst_entry_raw(entry),
        .stored_bytes = sinter__sst_entry_stored(entry),
    };
    sinter__keys_prefixes(&first, (uint32_t)self->decoder.shared_prefix.size,
                          &self->info.first_prefix);
    *out = &self->info;
    return SINTER_OK;
}

/** Rows of the decoded block that lie in the range: first..end. */
typedef struct row_span {
    uint32_t first;
    uint32_t end;
} row_span;

static row_span
rows_in_range(const sst_reader *self, const sinter__sst_entry *entry)
{
    const sinter_bytes lower = lower_key(self);
    const sinter__keys *keys = &self->decoder.out.keys;
    row_span rows = {0, keys->rows};

    assert(keys->rows == entry->rows);
    if (lower.data != NULL && sinter__key_compare(entry->first_key, lower) < 0) {
        rows.first = sinter__keys_lower_bound(keys, lower);
    }
    if (self->spans.has_end_key && sinter__key_compare(entry->last_key, self->spans.end_key) >= 0) {
        rows.end = sinter__keys_lower_bound(keys, self->spans.end_key);
    }
    return rows;
}

static uint32_t
count_retracts(const uint8_t *kinds, row_span rows)
{
    uint32_t count = 0;

    for (uint32_t i = rows.first; i < rows.end; i++) {
        count += kinds[i] & 1u;
    }
    return count;
}

/** Let the batch show these rows of the decoded block. */
static void
show_rows(sst_reader *self, const sinter__sst_entry *entry, row_span rows)
{
    const sinter__sst_decoded *decoded = &self->decoder.out;
    const sinter__keys *keys = &decoded->keys;
    const bool is_cut = rows.first > 0 || rows.end < keys->rows;

    assert(rows.first < rows.end);
    assert(rows.end <= keys->rows);
    assert(self->keys_only == (decoded->values == NULL));
    self->payload = (sinter__sst_payload){
        .values = decoded->values,
        .value_offsets = decoded->values == NULL ? NULL : decoded->value_offsets + rows.first,
        .format_tag = self->file.format_tag,
    };
    self->batch = (sinter_batch){
        .struct_size = (uint32_t)sizeof self->batch,
        .row_count = rows.end - rows.first,
        .key_width = keys->width,
        .keys = keys->offsets != NULL ? keys->data : keys->data + (size_t)rows.first * keys->width,
        .key_offsets = keys->offsets == NULL ? NULL : keys->offsets + rows.first,
        .prefixes = decoded->prefixes + rows.first,
        .sequences = decoded->sequences + rows.first,
        .kinds = decoded->kinds + rows.first,
        .origin = self->origin,
        .retract_count = is_cut ? count_retracts(decoded->kinds, rows) : entry->retracts,
        .payload = &self->payload,
        .payload_ops = &sinter__sst_payload_ops,
    };
}

/** Decode the next block; `*rows_out` may be empty if the range cuts all of it away. */
static sinter_status
decode_next(sst_reader *self, const sinter__sst_entry **entry_out, row_span *rows_out,
            sinter_error *err)
{
    const sinter__sst_entry *entry = NULL;
    const uint8_t *stored = NULL;
    const uint8_t *key_part = NULL;

    SINTER__CHECK(sinter__span_next(&self->spans, &entry, &stored, err));
    key_part = self->keys_only ? stored : stored + entry->value_stored;
    SINTER__CHECK(
        sinter__sst_check_trailer(self->file.path, entry, key_part + entry->key_stored, err));
    SINTER__CHECK(sinter__sst_decode_keys(&self->decoder, entry, key_part, err));
    if (!self->keys_only) {
        SINTER__CHECK(sinter__sst_decode_values(&self->decoder, entry, stored, err));
    }
    *entry_out = entry;
    *rows_out = rows_in_range(self, entry);
    self->has_seek = false;
    return SINTER_OK;
}

static sinter_status
reader_next(sinter_reader *reader, const sinter_batch **out, sinter_error *err)
{
    sst_reader *self = self_of(reader);
    const sinter__sst_entry *entry = NULL;
    row_span rows = {0, 0};

    if (self->failed != SINTER_OK) {
        return refuse_failed(self, err);
    }
    do {
        const sinter_status st = decode_next(self, &entry, &rows, err);

        if (st != SINTER_OK) {
            return settle(self, st, err);
        }
    } while (rows.first >= rows.end);
    show_rows(self, entry, rows);
    *out = &self->batch;
    return SINTER_OK;
}

/** Have the filters of a leaf in memory. */
static sinter_status
load_filters(sst_reader *self, const sinter__leaf *leaf, sinter_error *err)
{
    if (self->filters_leaf == leaf && self->filters_offset == leaf->filter_offset) {
        return SINTER_OK;
    }
    assert(leaf->filter_size > 0);
    self->filters_leaf = NULL;
    SINTER__CHECK(sinter__leaf_load_filters(&self->file, leaf, &self->filters, err));
    self->filters_leaf = leaf;
    self->filters_offset = leaf->filter_offset;
    return SINTER_OK;
}

static sinter_status
reader_may_hold(sinter_reader *reader, sinter_bytes key, bool *maybe_out, sinter_error *err)
{
    sst_reader *self = self_of(reader);
    const sinter__sst_entry *entry = NULL;
    const sinter__leaf *leaf = NULL;
    sinter_bytes filter = {NULL, 0};
    sinter_status st = SINTER_OK;

    if (self->failed != SINTER_OK) {
        return refuse_failed(self, err);
    }
    SINTER__TRY(sinter__span_peek(&self->spans, &entry, &leaf, err));
    *maybe_out = sinter__key_compare(entry->first_key, key) <= 0 &&
                 sinter__key_compare(key, entry->last_key) <= 0;
    if (!*maybe_out || entry->filter_size == 0) {
        goto out;
    }
    SINTER__TRY(load_filters(self, leaf, err));
    filter = (sinter_bytes){self->filters.data + entry->filter_offset, entry->filter_size};
    if (!sinter__filter_ok(filter)) {
        SINTER__FAIL_AT(err, SINTER_E_CORRUPT, self->file.path,
                        leaf->filter_offset + entry->filter_offset, "a key filter is malformed");
    }
    *maybe_out = sinter__filter_may_hold(filter, key);
out:
    return settle(self, st, err);
}

static sinter_status
take_block(sst_reader *self, sinter_error *err)
{
    const sinter__sst_entry *entry = NULL;
    const sinter__leaf *leaf = NULL;
    const uint8_t *stored = NULL;

    SINTER__CHECK(sinter__span_peek(&self->spans, &entry, &leaf, err));
    if (self->keys_only || !is_whole(self, entry)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a block that is cut can't be taken as stored");
    }
    SINTER__CHECK(sinter__span_next(&self->spans, &entry, &stored, err));
    assert(!self->has_seek || sinter__key_compare(self->seek, entry->first_key) <= 0);
    SINTER__CHECK(sinter__sst_check_stored(self->file.path, entry, stored, err));
    self->payload = (sinter__sst_payload){
        .entry = entry, .stored = stored, .format_tag = self->file.format_tag};
    if (entry->filter_size > 0) {
        SINTER__CHECK(load_filters(self, leaf, err));
        self->payload.filter =
            (sinter_bytes){self->filters.data + entry->filter_offset, entry->filter_size};
    }
    self->has_seek = false;
    self->batch = (sinter_batch){
        .struct_size = (uint32_t)sizeof self->batch,
        .flags = SINTER_BATCH_STORED,
        .row_count = entry->rows,
        .origin = self->origin,
        .retract_count = entry->retracts,
        .payload = &self->payload,
        .payload_ops = &sinter__sst_payload_ops,
    };
    return SINTER_OK;
}

static sinter_status
reader_take(sinter_reader *reader, const sinter_batch **out, sinter_error *err)
{
    sst_reader *self = self_of(reader);
    sinter_status st = SINTER_OK;

    if (self->failed != SINTER_OK) {
        return refuse_failed(self, err);
    }
    st = take_block(self, err);
    if (st != SINTER_OK) {
        return st == SINTER_E_INVALID ? st : settle(self, st, err);
    }
    *out = &self->batch;
    return SINTER_OK;
}

/** Copy a key that must outlive its caller. */
static sinter_status
keep_key(const sst_reader *self, sinter_bytes key, sinter__scratch *memory, sinter_bytes *out,
         sinter_error *err)
{
    SINTER__CHECK(sinter__scratch_fit(self->env, memory, key.size + 1, err));
    if (key.size > 0) {
        memcpy(memory->data, key.data, key.size);
    }
    *out = (sinter_bytes){memory->data, key.size};
    return SINTER_OK;
}

static sinter_status
reader_seek(sinter_reader *reader, sinter_bytes key, sinter_error *err)
{
    sst_reader *self = self_of(reader);
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, key.data != NULL || key.size == 0);
    if (self->has_begin && sinter__key_compare(key, self->begin) < 0) {
        key = self->begin;
    }
    assert(!self->has_begin || sinter__key_compare(self->begin, key) <= 0);
    self->failed = SINTER_OK;
    SINTER__TRY(keep_key(self, key, &self->seek_key, &self->seek, err));
    self->has_seek = true;
    SINTER__TRY(sinter__span_seek(&self->spans, self->seek, err));
out:
    return settle(self, st, err);
}

static bool
reader_has_begun_all(const sinter_reader *reader)
{
    const sst_reader *self = (const sst_reader *)(const void *)reader;

    return self->failed == SINTER_OK && sinter__span_has_begun_all(&self->spans);
}

static void
reader_close(sinter_reader *reader)
{
    sst_reader *self = self_of(reader);
    const sinter_env *env = self->env;

    sinter__span_reader_fini(&self->spans);
    sinter__sst_decoder_fini(&self->decoder);
    sinter__scratch_fini(env, &self->begin_key);
    sinter__scratch_fini(env, &self->end_key);
    sinter__scratch_fini(env, &self->seek_key);
    sinter__scratch_fini(env, &self->filters);
    sinter__sst_file_close(&self->file);
    sinter__free(env, self);
}

static const sinter_reader_ops reader_ops = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = reader_next,
    .peek = reader_peek,
    .take = reader_take,
    .seek = reader_seek,
    .close = reader_close,
    .may_hold = reader_may_hold,
    .has_begun_all = reader_has_begun_all,
};

/** Read the options, when the file is open. */
static sinter_status
set_up(sst_reader *self, const sinter_read_options *options, sinter_error *err)
{
    const sinter_sst_properties *properties = &self->file.properties;
    sinter_status st = SINTER_OK;

    self->origin = options->origin;
    self->keys_only = options->keys_only;
    self->decoder.env = self->env;
    self->decoder.codec.env = self->env;
    self->decoder.path = self->file.path;
    self->spans.file = &self->file;
    self->spans.cursor.file = &self->file;
    self->spans.keys_only = options->keys_only;
    self->spans.is_direct = options->direct;
    self->spans.read_bytes = sinter__sst_read_bytes(options);
    if (options->key_prefix_skip > 0 && properties->row_count > 0) {
        if (properties->min_key.size < options->key_prefix_skip) {
            SINTER__FAIL_AT(err, SINTER_E_INVALID, self->file.path, -1,
                            "not all keys share %u bytes", options->key_prefix_skip);
        }
        self->decoder.shared_prefix =
            (sinter_bytes){properties->min_key.data, options->key_prefix_skip};
    }
    if (options->has_end_key) {
        SINTER__TRY(keep_key(self, options->end_key, &self->end_key, &self->spans.end_key, err));
        self->spans.has_end_key = true;
    }
    if (options->has_begin_key) {
        SINTER__TRY(keep_key(self, options->begin_key, &self->begin_key, &self->begin, err));
        self->has_begin = true;
        SINTER__TRY(reader_seek(&self->base, self->begin, err));
    }
out:
    return st;
}

sinter_status
sinter__sst_reader_open(void *format, const sinter_env *env, const char *path,
                        const sinter_read_options *given, sinter_reader **out, sinter_error *err)
{
    sinter_read_options options = {.struct_size = (uint32_t)sizeof options};
    sinter__sst_open_options open_options = {.flags = SINTER_IO_SEQUENTIAL};
    sst_reader *self = NULL;
    sinter_status st = SINTER_OK;

    (void)format;
    SINTER__REQUIRE(err, env != NULL && path != NULL && out != NULL);
    *out = NULL;
    if (given != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&options, sizeof options, given, "sinter_read_options", err));
    }
    SINTER__REQUIRE(err, options.key_prefix_skip <= SINTER_KEY_BYTES_MAX);
    SINTER__REQUIRE(err, options.begin_key.data != NULL || options.begin_key.size == 0);
    SINTER__REQUIRE(err, options.end_key.data != NULL || options.end_key.size == 0);
    open_options.flags |= options.direct ? (uint32_t)SINTER_IO_DIRECT : 0u;
    open_options.expected_bytes = options.expected_file_bytes;

    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->base.ops = &reader_ops;
    self->env = env;
    SINTER__TRY(sinter__sst_file_open(env, path, &open_options, &self->file, err));
    SINTER__TRY(set_up(self, &options, err));
    if (options.begins_reading) {
        SINTER__TRY(settle(self, sinter__span_begin(&self->spans, err), err));
    }
    *out = &self->base;
    self = NULL;
out:
    if (self != NULL) {
        reader_close(&self->base);
    }
    return st;
}
