/*
 * Copying what is intact of a damaged file.
 *
 * Where the index is in order, the walk over it says where every block is. What no index describes,
 * because a page of it or the footer is damaged, is looked through byte by byte for the ends of
 * blocks: the sizes in a trailer lead back to where its block must begin.
 *
 *      pos                                p
 *       | value part      | key part      | trailer | ...
 *       <------- sizes of the trailer ---->           it begins at pos: that is it
 *
 * A block that begins behind `pos` is taken only where none begins at it, since values may hold
 * blocks of other files. Either way both checksums have to hold, and its keys have to follow those
 * of the block before. Invariant: everything in front of `pos` is copied or told as lost.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/load.h"
#include "sinter/sst.h"
#include "sst/block.h"
#include "sst/index_cursor.h"
#include "sst/payload.h"

enum {
    WINDOW_BYTES = 64 * 1024,
    TRAILER_IN_ENTRY = 8,
    NEAR_BYTES = 16 << 20 /* how far the end of a block that begins at `pos` is looked for first */
};

typedef struct rescue {
    const sinter_env *env;
    sinter_sst_rescue_options options;
    sinter__sst_file file;
    sinter__sst_file like; /* whose types and schema new files have where `file` has lost its own */
    sinter__index_cursor cursor;
    sinter__leaf leaf;
    sinter__sst_decoder decoder;
    sinter__scratch stored;
    sinter__scratch window;
    sinter__scratch last_key; /* of the last row that was copied */
    size_t last_key_size;
    bool has_last_key;
    sinter__sst_payload payload;
    sinter_batch batch;
    sinter_writer *writer; /* NULL until there is a row */
    uint64_t pos;
    sinter__extent stretch; /* lost, not told yet: who follows it isn't known */
    sinter_error fault;     /* what is wrong there */
    sinter_sst_rescue_result result;
} rescue;

/* Is that a fault of the file, and not one of doing the work? */
static bool
is_damage(sinter_status st)
{
    return st == SINTER_E_CORRUPT || st == SINTER_E_IO;
}

static sinter_status
check_cancelled(const rescue *self, sinter_error *err)
{
    if (self->options.is_cancelled != NULL &&
        self->options.is_cancelled(self->options.cancel_ctx)) {
        return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled while a file was rescued");
    }
    return SINTER_OK;
}

static sinter_status
read_bytes(const rescue *self, uint64_t offset, void *data, size_t size, sinter_error *err)
{
    const sinter_io_range range = {.offset = offset, .data = data, .size = size};

    assert(offset <= self->file.size && size <= self->file.size - offset);
    return self->file.handle->ops->read(self->file.handle, &range, 1, err);
}

/* ---- what is lost ---- */

static void
tell(rescue *self, const sinter_sst_loss *loss)
{
    self->result.losses++;
    self->result.bytes_lost += loss->size;
    if (self->options.lost != NULL) {
        self->options.lost(self->options.lost_ctx, loss);
    }
}

/* Tell of the stretch that is waiting, now that it is known what follows it. */
static void
tell_stretch(rescue *self, const sinter_bytes *next_key)
{
    const bool is_index = self->fault.status == SINTER_OK;
    const sinter_sst_loss loss = {
        .struct_size = (uint32_t)sizeof loss,
        .status = is_index ? SINTER_E_CORRUPT : self->fault.status,
        .offset = self->stretch.offset,
        .size = self->stretch.size,
        .has_first_key = self->has_last_key,
        .has_last_key = next_key != NULL,
        .are_between = true,
        .first_key = {self->last_key.data, self->last_key_size},
        .last_key = next_key == NULL ? (sinter_bytes){NULL, 0} : *next_key,
        .text = is_index ? "no intact block: index, or a damaged block" : self->fault.text,
    };

    if (self->stretch.size > 0) {
        tell(self, &loss);
        self->stretch = (sinter__extent){0, 0};
        self->fault = (sinter_error)SINTER_ERROR_INIT;
    }
}

/* Nothing of [begin, end) can be used. */
static void
lose_stretch(rescue *self, uint64_t begin, uint64_t end)
{
    if (begin == end) {
        return;
    }
    if (self->stretch.size > 0 && self->stretch.offset + self->stretch.size != begin) {
        tell_stretch(self, NULL);
    }
    self->stretch.offset = self->stretch.size > 0 ? self->stretch.offset : begin;
    self->stretch.size += end - begin;
}

static void
lose_block(rescue *self, const sinter__sst_entry *entry, const sinter_error *fault)
{
    const sinter_sst_loss loss = {
        .struct_size = (uint32_t)sizeof loss,
        .status = fault->status,
        .offset = entry->offset,
        .size = sinter__sst_entry_stored(entry),
        .knows_rows = true,
        .rows = entry->rows,
        .has_first_key = true,
        .has_last_key = true,
        .first_key = entry->first_key,
        .last_key = entry->last_key,
        .text = fault->text,
    };

    tell_stretch(self, &entry->first_key);
    tell(self, &loss);
}

/* ---- blocks that are intact ---- */

/* Read and decode a block. Damage comes back as the status, with `fault` its detail. A bare entry
 * is one from a trailer alone; what else it has to say is filled in. */
static sinter_status
read_block(rescue *self, sinter__sst_entry *entry, bool is_bare, sinter_error *fault)
{
    const size_t size = (size_t)sinter__sst_entry_stored(entry);
    const sinter_bytes last = {self->last_key.data, self->last_key_size};
    const uint8_t *key_part = NULL;

    SINTER__CHECK(
        sinter__scratch_fit(self->env, &self->stored, size + SINTER__SST_SLACK_BYTES, fault));
    SINTER__CHECK(read_bytes(self, entry->offset, self->stored.data, size, fault));
    memset(self->stored.data + size, 0, SINTER__SST_SLACK_BYTES);
    key_part = self->stored.data + entry->value_stored;
    SINTER__CHECK(sinter__sst_check_stored(self->file.path, entry, self->stored.data, fault));
    SINTER__CHECK(is_bare ? sinter__sst_decode_bare_keys(&self->decoder, entry, key_part, fault)
                          : sinter__sst_decode_keys(&self->decoder, entry, key_part, fault));
    SINTER__CHECK(sinter__sst_decode_values(&self->decoder, entry, self->stored.data, fault));
    if (self->has_last_key && sinter__key_compare(last, entry->first_key) >= 0) {
        return SINTER__ERR_AT(fault, SINTER_E_CORRUPT, self->file.path, entry->offset,
                              "keys of a block don't follow those before it");
    }
    return SINTER_OK;
}

/* Types, schema and codec of the new file: the damaged file's own, if it still knows them. */
static sinter_status
open_writer(rescue *self, const sinter__sst_entry *entry, sinter_error *err)
{
    const sinter_format *format = sinter_format_sst();
    const bool has_own = self->file.properties.struct_size != 0;
    const sinter_sst_properties *known = has_own ? &self->file.properties : &self->like.properties;
    const bool is_known = known->struct_size != 0;
    const sinter_write_options options = {
        .struct_size = (uint32_t)sizeof options,
        .codec = is_known ? known->codec
                          : (entry->value_codec > entry->key_codec ? entry->value_codec
                                                                   : entry->key_codec),
        .level = is_known ? known->level : 0,
        .filter_bits_per_key = is_known ? known->filter_bits_per_key : 0,
        .schema_id = is_known ? known->schema_id : 0,
        .key_types = is_known && known->key_types[0] != '\0' ? known->key_types : NULL,
        .row_type = is_known && known->row_type[0] != '\0' ? known->row_type : NULL,
    };

    self->result.knows_types = is_known;
    return format->open_writer(format->self, self->env, self->options.out_path, &options,
                               &self->writer, err);
}

static void
show_block(rescue *self, const sinter__sst_entry *entry)
{
    const sinter__sst_decoded *decoded = &self->decoder.out;
    const sinter__keys *keys = &decoded->keys;

    self->payload =
        (sinter__sst_payload){.values = decoded->values, .value_offsets = decoded->value_offsets};
    self->batch = (sinter_batch){
        .struct_size = (uint32_t)sizeof self->batch,
        .row_count = entry->rows,
        .key_width = keys->width,
        .keys = keys->data,
        .key_offsets = keys->offsets,
        .prefixes = decoded->prefixes,
        .sequences = decoded->sequences,
        .kinds = decoded->kinds,
        .retract_count = entry->retracts,
        .payload = &self->payload,
        .payload_ops = &sinter__sst_payload_ops,
    };
}

/* Copy the rows of the block that was read last. */
static sinter_status
write_block(rescue *self, const sinter__sst_entry *entry, sinter_error *err)
{
    const sinter_bytes key = entry->last_key;
    sinter_range range = {.batch = &self->batch, .first = 0, .count = entry->rows};
    size_t taken = 0;
    uint32_t taken_rows = 0;

    tell_stretch(self, &entry->first_key);
    show_block(self, entry);
    if (self->writer == NULL) {
        SINTER__CHECK(open_writer(self, entry, err));
    }
    SINTER__CHECK(
        self->writer->ops->append(self->writer, &range, 1, UINT64_MAX, &taken, &taken_rows, err));
    assert(taken == 1);
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->last_key, key.size + 1, err));
    memcpy(self->last_key.data, key.data, key.size);
    self->last_key_size = key.size;
    self->has_last_key = true;
    self->result.blocks_copied++;
    self->result.rows_copied += entry->rows;
    return SINTER_OK;
}

/* ---- stretches that no index describes ---- */

/* The trailer at `bytes`, which ends a block at `end` of the file, as an entry. False: it is none.
 */
static bool
take_trailer(const uint8_t *bytes, uint64_t end, uint64_t begin, sinter__sst_entry *entry)
{
    uint8_t fixed[SINTER__SST_ENTRY_BYTES] = {0};
    uint64_t stored = 0;

    if (sinter__get_le16(bytes + 38) != 1 || bytes[36] > SINTER_CODEC_ZSTD ||
        (bytes[37] & 0x7f) > SINTER_CODEC_ZSTD) {
        return false;
    }
    memcpy(fixed + TRAILER_IN_ENTRY, bytes, SINTER__SST_TRAILER_BYTES);
    sinter__sst_get_entry(fixed, entry);
    stored = sinter__sst_entry_stored(entry);
    if (stored > end || end - stored < begin) {
        return false;
    }
    entry->offset = end - stored;
    entry->key_bytes =
        entry->keys_front_coded ? (uint32_t)SINTER__SST_FRONT_CODED_KEY_BYTES_MAX : entry->key_raw;
    return sinter__sst_entry_fault(entry) == NULL;
}

/* Where a search is. */
typedef struct search {
    uint64_t begin; /* blocks begin here, or, unless `is_exact`, behind */
    uint64_t end;
    bool is_exact;
    uint64_t window_offset;
    size_t window_size;
} search;

/* Have the bytes from `offset` on in the window; what can't be read is taken as zeros. */
static sinter_status
fill_window(rescue *self, search *s, uint64_t offset, sinter_error *err)
{
    const uint64_t left = s->end - offset;

    SINTER__CHECK(check_cancelled(self, err));
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->window, WINDOW_BYTES, err));
    s->window_offset = offset;
    s->window_size = left < WINDOW_BYTES ? (size_t)left : (size_t)WINDOW_BYTES;
    if (read_bytes(self, offset, self->window.data, s->window_size, NULL) != SINTER_OK) {
        memset(self->window.data, 0, s->window_size);
    }
    return SINTER_OK;
}

/* Is there an intact block with its trailer there? SINTER_END: no. */
static sinter_status
try_trailer(rescue *self, const search *s, const uint8_t *bytes, uint64_t end,
            sinter__sst_entry *entry, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (!take_trailer(bytes, end, s->begin, entry) || (s->is_exact && entry->offset != s->begin)) {
        return SINTER_END;
    }
    st = read_block(self, entry, true, err);
    if (st == SINTER_E_TOO_LARGE && !s->is_exact) {
        return SINTER_END; /* sizes by chance */
    }
    return is_damage(st) ? SINTER_END : st;
}

/* Find the next block, read. SINTER_END: there is none. */
static sinter_status
find_block(rescue *self, search *s, sinter__sst_entry *entry, sinter_error *err)
{
    sinter_status st = SINTER_END;

    s->window_size = 0;
    for (uint64_t at = s->begin + 1; at + SINTER__SST_TRAILER_BYTES <= s->end && st == SINTER_END;
         at++) {
        if (s->window_size == 0 ||
            at + SINTER__SST_TRAILER_BYTES > s->window_offset + s->window_size) {
            SINTER__CHECK(fill_window(self, s, at, err));
        }
        st = try_trailer(self, s, self->window.data + (at - s->window_offset),
                         at + SINTER__SST_TRAILER_BYTES, entry, err);
    }
    return st;
}

/* Copy the blocks of a stretch that no index describes, from `pos` on. */
static sinter_status
search_stretch(rescue *self, uint64_t end, sinter_error *err)
{
    assert(self->pos <= end && end <= self->file.size);
    while (self->pos < end) {
        const uint64_t near = end - self->pos < NEAR_BYTES ? end : self->pos + NEAR_BYTES;
        search s = {.begin = self->pos, .end = near, .is_exact = true};
        sinter__sst_entry entry;
        sinter_error scratch = SINTER_ERROR_INIT;
        sinter_status st = find_block(self, &s, &entry, &scratch);

        if (st == SINTER_END) {
            s = (search){.begin = self->pos, .end = end, .is_exact = false};
            st = find_block(self, &s, &entry, &scratch);
        }
        if (st == SINTER_END) {
            break;
        }
        if (st != SINTER_OK) {
            if (err != NULL) {
                *err = scratch;
            }
            return st;
        }
        lose_stretch(self, self->pos, entry.offset);
        SINTER__CHECK(write_block(self, &entry, err));
        self->pos = entry.offset + sinter__sst_entry_stored(&entry);
    }
    lose_stretch(self, self->pos, end);
    self->pos = end;
    return SINTER_OK;
}

/* ---- by the index ---- */

static sinter_status
copy_leaf(rescue *self, sinter_error *err)
{
    const sinter__leaf *leaf = &self->leaf;

    SINTER__CHECK(search_stretch(self, leaf->entries[0].offset, err));
    for (uint32_t i = 0; i < leaf->count; i++) {
        sinter_error fault = SINTER_ERROR_INIT;
        sinter_status st = SINTER_OK;

        SINTER__CHECK(check_cancelled(self, err));
        st = read_block(self, &leaf->entries[i], false, &fault);
        if (is_damage(st)) {
            lose_block(self, &leaf->entries[i], &fault);
            continue;
        }
        if (st != SINTER_OK) {
            if (err != NULL) {
                *err = fault;
            }
            return st;
        }
        SINTER__CHECK(write_block(self, &leaf->entries[i], err));
    }
    self->pos = leaf->offset + leaf->size;
    return SINTER_OK;
}

static sinter_status
leave_upper_page(void *ctx, sinter__extent place, sinter_error *err)
{
    rescue *self = ctx;

    SINTER__CHECK(search_stretch(self, place.offset, err));
    self->pos = place.offset + place.size;
    return SINTER_OK;
}

/* Entries that the walk has not taken yet. */
static uint64_t
entries_left(const sinter__index_cursor *cursor)
{
    uint64_t left = cursor->is_placed ? 0 : UINT64_MAX;

    for (uint32_t i = 0; cursor->is_placed && i < cursor->depth; i++) {
        left += cursor->path[i].left;
    }
    return left;
}

/* Walk over the index. Pages that are damaged are passed over: the cursor has left them. */
static sinter_status
walk(rescue *self, sinter_error *err)
{
    sinter__index_cursor *cursor = &self->cursor;

    for (;;) {
        const uint64_t left = entries_left(cursor);
        const uint32_t depth = cursor->depth;
        sinter_error fault = SINTER_ERROR_INIT;
        const sinter_status st = sinter__index_cursor_next(cursor, &self->leaf, &fault);

        if (st == SINTER_OK) {
            SINTER__CHECK(copy_leaf(self, err));
            continue;
        }
        if (st == SINTER_END) {
            break;
        }
        if (!is_damage(st)) {
            if (err != NULL) {
                *err = fault;
            }
            return st;
        }
        self->fault = fault;
        if (cursor->depth == 0 || (entries_left(cursor) == left && cursor->depth == depth)) {
            break;
        }
    }
    if (self->file.properties.block_count == 0 && self->fault.status == SINTER_OK) {
        self->pos = self->leaf.offset + self->leaf.size; /* the one page of an empty file */
    }
    return search_stretch(self, self->file.footer.properties_offset, err);
}

/* ---- the whole ---- */

static void
prepare(rescue *self)
{
    self->cursor.file = &self->file;
    self->cursor.leave = leave_upper_page;
    self->cursor.leave_ctx = self;
    self->decoder.env = self->env;
    self->decoder.codec.env = self->env;
    self->decoder.path = self->file.path;
    self->pos = SINTER__SST_HEADER_BYTES;
}

/* Copy all that can be found. */
static sinter_status
copy(rescue *self, sinter_status opened, const sinter_error *fault, sinter_error *err)
{
    const uint64_t size = self->file.size;

    prepare(self);
    if (opened == SINTER_OK) {
        self->result.knows_rows = true;
        self->result.rows_said = self->file.properties.row_count;
        SINTER__CHECK(walk(self, err));
    } else {
        self->file.properties.struct_size = 0;
        self->result.fault = *fault;
        if (self->pos > size) {
            self->pos = size;
        }
        SINTER__CHECK(search_stretch(self, size, err));
    }
    tell_stretch(self, NULL);
    return SINTER_OK;
}

static sinter_status
finish(rescue *self, sinter_error *err)
{
    sinter_sst_rescue_result *result = &self->result;
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};

    if (self->writer != NULL) {
        SINTER__CHECK(self->writer->ops->finish(self->writer, &stats, err));
        assert(stats.row_count == result->rows_copied);
        result->has_file = true;
        result->file_size = stats.file_size;
    }
    result->is_complete = result->knows_rows && result->rows_copied == result->rows_said;
    return SINTER_OK;
}

static void
rescue_fini(rescue *self)
{
    if (self->writer != NULL) {
        self->writer->ops->close(self->writer);
    }
    sinter__sst_decoder_fini(&self->decoder);
    sinter__scratch_fini(self->env, &self->stored);
    sinter__scratch_fini(self->env, &self->window);
    sinter__scratch_fini(self->env, &self->last_key);
    sinter__leaf_fini(self->env, &self->leaf);
    sinter__index_cursor_fini(&self->cursor);
    sinter__sst_file_close(&self->like);
    sinter__sst_file_close(&self->file);
}

sinter_status
sinter_sst_rescue(const sinter_env *env, const char *path, const sinter_sst_rescue_options *given,
                  sinter_sst_rescue_result *out, sinter_error *err)
{
    const sinter__sst_open_options damaged = {.flags = SINTER_IO_SEQUENTIAL,
                                              .ignores_header = true};
    const sinter__sst_open_options whole = {.flags = 0};
    sinter_sst_rescue_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_error fault = SINTER_ERROR_INIT;
    rescue *self = NULL;
    sinter_status st = SINTER_OK;
    sinter_status opened = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && path != NULL && given != NULL);
    SINTER__CHECK(
        sinter__struct_load(&options, sizeof options, given, "sinter_sst_rescue_options", err));
    SINTER__REQUIRE(err, options.out_path != NULL);
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->options = options;
    self->fault = (sinter_error)SINTER_ERROR_INIT;
    self->result = (sinter_sst_rescue_result){.struct_size = (uint32_t)sizeof self->result,
                                              .fault = SINTER_ERROR_INIT};
    if (options.like_path != NULL) {
        SINTER__TRY(sinter__sst_file_open(env, options.like_path, &whole, &self->like, err));
    }
    opened = sinter__sst_file_open(env, path, &damaged, &self->file, &fault);
    if (opened != SINTER_OK && (!is_damage(opened) || self->file.size == 0)) {
        if (err != NULL) {
            *err = fault;
        }
        st = opened;
        goto out;
    }
    SINTER__TRY(copy(self, opened, &fault, err));
    SINTER__TRY(finish(self, err));
    if (out != NULL) {
        sinter__struct_store(out, &self->result, sizeof self->result);
    }
out:
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
    }
    rescue_fini(self);
    sinter__free(env, self);
    return st;
}
