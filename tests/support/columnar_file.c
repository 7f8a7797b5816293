/*
 * Files of the columnar test format:
 *
 *   block*  index  footer
 *
 * A block is a header and its columns, widest first, so that they can be used where they were
 * read. The index has one entry per block; the footer says where the index is.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "sinter/io.h"
#include "support/columnar.h"

#define COLUMNAR_MAGIC 0x31304c4f43545353u /* "SSTCOL01" */

enum { KEY_PADDING = 16, BLOCK_ROWS_DEFAULT = 64 };

typedef struct block_header {
    uint64_t checksum; /* of everything behind the header */
    uint32_t row_count;
    uint32_t text_count;
    uint32_t text_bytes;
    uint32_t order_bytes;
    uint32_t key_bytes;
    uint32_t has_orders;
} block_header;

typedef struct index_entry {
    uint64_t offset;
    uint32_t size;
    uint32_t row_count;
    uint32_t last_key_offset; /* in the keys behind the entries */
    uint32_t last_key_size;
} index_entry;

typedef struct file_footer {
    uint64_t index_offset;
    uint64_t index_bytes;
    uint64_t index_checksum;
    uint32_t block_count;
    uint32_t reserved;
    uint64_t magic;
} file_footer;

/* ---- reader ---- */

typedef struct columnar_reader {
    sinter_reader base;
    const sinter_env *env;
    sinter_io_file *file;
    char *path;
    uint8_t *index; /* entries, then last keys */
    uint32_t index_keys_bytes;
    uint32_t block_count;
    uint32_t block; /* the next to load */
    uint32_t row;   /* next row of the loaded block */
    uint32_t prefix_skip;
    uint32_t batch_rows;
    uint32_t origin;
    bool has_end_key;
    sinter__buffer end_key;
    uint8_t *data; /* loaded block */
    uint64_t *prefixes;
    sinter_batch whole; /* the loaded block */
    columnar_payload whole_payload;
    sinter_batch batch; /* the rows given out */
    columnar_payload payload;
} columnar_reader;

static const index_entry *
reader_entry(const columnar_reader *reader, uint32_t block)
{
    return (const index_entry *)(const void *)reader->index + block;
}

static sinter_bytes
reader_last_key(const columnar_reader *reader, uint32_t block)
{
    const index_entry *entry = reader_entry(reader, block);
    const uint8_t *keys = reader->index + reader->block_count * sizeof *entry;

    return (sinter_bytes){keys + entry->last_key_offset, entry->last_key_size};
}

static uint64_t
columns_bytes(const block_header *header)
{
    const uint64_t rows = header->row_count;

    return rows * (8 + 8 + 4 + 1 + 1) + (rows + 1) * 4 * (header->has_orders != 0 ? 2 : 1) +
           ((uint64_t)header->text_count + 1) * 4 + header->text_bytes + header->order_bytes +
           header->key_bytes;
}

/* Point the batch's columns into the loaded block. */
static void
reader_map(columnar_reader *reader, const block_header *header)
{
    const uint32_t rows = header->row_count;
    uint8_t *at = reader->data + sizeof *header;
    sinter_batch *whole = &reader->whole;
    columnar_payload *payload = &reader->whole_payload;

    *whole = (sinter_batch){.struct_size = sizeof *whole, .row_count = rows};
    *payload = (columnar_payload){.row_count = rows, .text_count = header->text_count};
    whole->origin = reader->origin;
    whole->sequences = (const void *)at;
    at += (size_t)rows * 8;
    payload->numbers = (const void *)at;
    at += (size_t)rows * 8;
    payload->text_refs = (const void *)at;
    at += (size_t)rows * 4;
    whole->key_offsets = (const void *)at;
    at += ((size_t)rows + 1) * 4;
    if (header->has_orders != 0) {
        whole->order_offsets = (const void *)at;
        at += ((size_t)rows + 1) * 4;
    }
    payload->text_offsets = (const void *)at;
    at += ((size_t)header->text_count + 1) * 4;
    whole->kinds = at;
    at += rows;
    payload->has_number = at;
    at += rows;
    payload->text_bytes = at;
    at += header->text_bytes;
    whole->orders = header->has_orders != 0 ? at : NULL;
    at += header->order_bytes;
    whole->keys = at;
    whole->payload_ops = &columnar_payload_ops;
}

static sinter_status
reader_load(columnar_reader *reader, sinter_error *err)
{
    const index_entry *entry = reader_entry(reader, reader->block);
    sinter_io_range range = {.offset = entry->offset, .size = entry->size};
    block_header header;

    SINTER__CHECK(sinter__resize(reader->env, (void **)&reader->data,
                                 (size_t)entry->size + KEY_PADDING, 1, err));
    SINTER__CHECK(sinter__resize(reader->env, (void **)&reader->prefixes,
                                 (size_t)entry->row_count + 1, sizeof(uint64_t), err));
    range.data = reader->data;
    SINTER__CHECK(reader->file->ops->read(reader->file, &range, 1, err));
    memset(reader->data + entry->size, 0, KEY_PADDING);
    memcpy(&header, reader->data, sizeof header);
    if (entry->size < sizeof header || header.row_count != entry->row_count ||
        header.checksum != sinter__hash(reader->data + sizeof header.checksum,
                                        entry->size - sizeof header.checksum) ||
        columns_bytes(&header) != entry->size - sizeof header) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->path, entry->offset,
                              "block %u is damaged", reader->block);
    }
    reader_map(reader, &header);
    for (uint32_t i = 0; i < header.row_count; i++) {
        const sinter_bytes key = sinter_batch_key(&reader->whole, i);
        const size_t skip = key.size < reader->prefix_skip ? key.size : reader->prefix_skip;

        reader->prefixes[i] = sinter__key_prefix(key.data + skip, key.size - skip);
    }
    reader->block++;
    reader->row = 0;
    return SINTER_OK;
}

/* Rows of the loaded block from `row` on, as many as one batch holds. */
static void
reader_slice(columnar_reader *reader)
{
    const uint32_t first = reader->row;
    const uint32_t left = reader->whole.row_count - first;
    const uint32_t count =
        reader->batch_rows != 0 && reader->batch_rows < left ? reader->batch_rows : left;
    sinter_batch *batch = &reader->batch;

    reader->payload = reader->whole_payload;
    reader->payload.row_count = count;
    reader->payload.numbers += first;
    reader->payload.text_refs += first;
    reader->payload.has_number += first;
    *batch = reader->whole;
    batch->row_count = count;
    batch->key_offsets += first;
    batch->prefixes = reader->prefixes + first;
    batch->sequences += first;
    batch->kinds += first;
    batch->order_offsets = batch->orders == NULL ? NULL : batch->order_offsets + first;
    batch->payload = &reader->payload;
    batch->retract_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        batch->retract_count += sinter_kind_is_retract(batch->kinds[i]) ? 1 : 0;
    }
    reader->row = first + count;
}

/* Leave out rows at and behind the end key; false: none is left. */
static bool
reader_cut(columnar_reader *reader)
{
    const sinter_bytes end = {reader->end_key.data, reader->end_key.size};
    sinter_batch *batch = &reader->batch;

    if (!reader->has_end_key) {
        return true;
    }
    while (batch->row_count > 0 &&
           sinter__key_compare(sinter_batch_key(batch, batch->row_count - 1), end) >= 0) {
        batch->row_count--;
        batch->retract_count -= sinter_kind_is_retract(batch->kinds[batch->row_count]) ? 1 : 0;
        reader->block = reader->block_count;
        reader->row = reader->whole.row_count;
    }
    reader->payload.row_count = batch->row_count;
    return batch->row_count > 0;
}

static sinter_status
reader_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    columnar_reader *reader = (columnar_reader *)base;

    *out = NULL;
    if (reader->row == reader->whole.row_count) {
        if (reader->block == reader->block_count) {
            return SINTER_END;
        }
        SINTER__CHECK(reader_load(reader, err));
    }
    reader_slice(reader);
    if (!reader_cut(reader)) {
        return SINTER_END;
    }
    *out = &reader->batch;
    return SINTER_OK;
}

static sinter_status
reader_seek(sinter_reader *base, sinter_bytes key, sinter_error *err)
{
    columnar_reader *reader = (columnar_reader *)base;

    reader->block = 0;
    reader->row = 0;
    reader->whole.row_count = 0;
    while (reader->block < reader->block_count &&
           sinter__key_compare(reader_last_key(reader, reader->block), key) < 0) {
        reader->block++;
    }
    if (reader->block == reader->block_count) {
        return SINTER_OK;
    }
    SINTER__CHECK(reader_load(reader, err));
    while (sinter__key_compare(sinter_batch_key(&reader->whole, reader->row), key) < 0) {
        reader->row++;
    }
    return SINTER_OK;
}

static void
reader_close(sinter_reader *base)
{
    columnar_reader *reader = (columnar_reader *)base;
    const sinter_env *env = reader->env;

    if (reader->file != NULL) {
        reader->file->ops->close(reader->file);
    }
    sinter__free(env, reader->path);
    sinter__free(env, reader->index);
    sinter__free(env, reader->data);
    sinter__free(env, reader->prefixes);
    sinter__buffer_fini(env, &reader->end_key);
    sinter__free(env, reader);
}

static const sinter_reader_ops reader_ops = {
    .struct_size = sizeof(sinter_reader_ops),
    .next = reader_next,
    .seek = reader_seek,
    .close = reader_close,
};

static sinter_status
reader_load_index(columnar_reader *reader, uint64_t size, sinter_error *err)
{
    file_footer footer = {0};
    sinter_io_range range = {.data = &footer, .size = sizeof footer};
    uint64_t entries_bytes = 0;

    if (size < sizeof footer) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->path, 0, "file has no footer");
    }
    range.offset = size - sizeof footer;
    SINTER__CHECK(reader->file->ops->read(reader->file, &range, 1, err));
    entries_bytes = (uint64_t)footer.block_count * sizeof(index_entry);
    if (footer.magic != COLUMNAR_MAGIC || footer.index_bytes > range.offset ||
        footer.index_offset != range.offset - footer.index_bytes ||
        entries_bytes > footer.index_bytes) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->path, range.offset,
                              "footer is damaged");
    }
    SINTER__CHECK(
        sinter__alloc(reader->env, (size_t)footer.index_bytes, 1, (void **)&reader->index, err));
    range = (sinter_io_range){footer.index_offset, reader->index, (size_t)footer.index_bytes};
    SINTER__CHECK(reader->file->ops->read(reader->file, &range, 1, err));
    if (footer.index_checksum != sinter__hash(reader->index, range.size)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->path, range.offset,
                              "index is damaged");
    }
    reader->index_keys_bytes = (uint32_t)(footer.index_bytes - entries_bytes);
    reader->block_count = footer.block_count;
    return SINTER_OK;
}

static sinter_status
columnar_open_reader(void *self, const sinter_env *env, const char *path,
                     const sinter_read_options *options, sinter_reader **out, sinter_error *err)
{
    const columnar_options *format = self;
    columnar_reader *reader = NULL;
    uint64_t size = 0;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, reader, 1, err));
    reader->base.ops = &reader_ops;
    reader->env = env;
    reader->batch_rows = format->batch_rows;
    reader->prefix_skip = options->key_prefix_skip;
    reader->origin = options->origin;
    SINTER__TRY(sinter__strdup(env, path, &reader->path, err));
    SINTER__TRY(env->io->ops->open(env->io, path, SINTER_IO_SEQUENTIAL, &reader->file, err));
    SINTER__TRY(reader->file->ops->size(reader->file, &size, err));
    if (options->expected_file_bytes != 0 && options->expected_file_bytes != size) {
        SINTER__FAIL_AT(err, SINTER_E_CORRUPT, path, size, "file has another size than expected");
    }
    SINTER__TRY(reader_load_index(reader, size, err));
    if (options->has_end_key) {
        reader->has_end_key = true;
        SINTER__TRY(sinter__buffer_append(env, &reader->end_key, options->end_key.data,
                                          options->end_key.size, err));
    }
    if (options->has_begin_key) {
        SINTER__TRY(reader_seek(&reader->base, options->begin_key, err));
    }
    *out = &reader->base;
    reader = NULL;
out:
    if (reader != NULL) {
        reader_close(&reader->base);
    }
    return st;
}

/* ---- writer ---- */

typedef struct columnar_writer {
    sinter_writer base;
    const sinter_env *env;
    sinter_io_file *file;
    char *path;
    uint32_t block_rows;
    uint64_t emitted_bytes;
    /* the open block */
    columnar_builder values;
    sinter__buffer keys, key_offsets, orders, order_offsets, sequences, kinds;
    bool has_orders;
    /* the file */
    sinter__buffer block;
    sinter__buffer index;
    sinter__buffer index_keys;
    sinter__buffer min_key;
    sinter__buffer max_key;
    sinter_file_stats stats;
} columnar_writer;

static uint64_t
writer_size(const sinter_writer *base)
{
    const columnar_writer *writer = (const columnar_writer *)base;

    return writer->emitted_bytes + writer->keys.size + writer->key_offsets.size +
           writer->orders.size + writer->order_offsets.size + writer->sequences.size +
           writer->kinds.size + writer->values.text_bytes.size + writer->values.text_offsets.size +
           (uint64_t)writer->values.row_count * 13;
}

static sinter_status
writer_encode_block(columnar_writer *writer, sinter_error *err)
{
    const columnar_payload *payload = columnar_builder_payload(&writer->values);
    const uint32_t rows = payload->row_count;
    block_header header = {.row_count = rows, .text_count = payload->text_count};
    const struct {
        const void *data;
        size_t size;
    } columns[] = {
        {writer->sequences.data, writer->sequences.size},
        {payload->numbers, (size_t)rows * 8},
        {payload->text_refs, (size_t)rows * 4},
        {writer->key_offsets.data, writer->key_offsets.size},
        {writer->order_offsets.data, writer->has_orders ? writer->order_offsets.size : 0},
        {payload->text_offsets, ((size_t)payload->text_count + 1) * 4},
        {writer->kinds.data, writer->kinds.size},
        {payload->has_number, rows},
        {payload->text_bytes, payload->text_offsets[payload->text_count]},
        {writer->orders.data, writer->orders.size},
        {writer->keys.data, writer->keys.size},
    };

    header.text_bytes = payload->text_offsets[payload->text_count];
    header.order_bytes = (uint32_t)writer->orders.size;
    header.key_bytes = (uint32_t)writer->keys.size;
    header.has_orders = writer->has_orders ? 1 : 0;
    writer->block.size = 0;
    SINTER__CHECK(sinter__buffer_append(writer->env, &writer->block, &header, sizeof header, err));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        SINTER__CHECK(sinter__buffer_append(writer->env, &writer->block, columns[i].data,
                                            columns[i].size, err));
    }
    header.checksum = sinter__hash(writer->block.data + sizeof header.checksum,
                                   writer->block.size - sizeof header.checksum);
    memcpy(writer->block.data, &header, sizeof header);
    return SINTER_OK;
}

static sinter_status
writer_flush(columnar_writer *writer, sinter_error *err)
{
    const sinter_env *env = writer->env;
    index_entry entry = {.offset = writer->emitted_bytes, .row_count = writer->values.row_count};

    if (writer->values.row_count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(writer_encode_block(writer, err));
    SINTER__CHECK(
        writer->file->ops->append(writer->file, writer->block.data, writer->block.size, err));
    entry.size = (uint32_t)writer->block.size;
    entry.last_key_offset = (uint32_t)writer->index_keys.size;
    entry.last_key_size = (uint32_t)writer->max_key.size;
    SINTER__CHECK(sinter__buffer_append(env, &writer->index, &entry, sizeof entry, err));
    SINTER__CHECK(sinter__buffer_append(env, &writer->index_keys, writer->max_key.data,
                                        writer->max_key.size, err));
    writer->emitted_bytes += writer->block.size;
    columnar_builder_reset(&writer->values);
    writer->keys.size = 0;
    writer->key_offsets.size = 0;
    writer->orders.size = 0;
    writer->order_offsets.size = 0;
    writer->sequences.size = 0;
    writer->kinds.size = 0;
    return SINTER_OK;
}

static void
writer_count(columnar_writer *writer, int64_t sequence, uint8_t kind)
{
    sinter_file_stats *stats = &writer->stats;

    if (stats->row_count == 0 || sequence < stats->sequence_min) {
        stats->sequence_min = sequence;
    }
    if (stats->row_count == 0 || sequence > stats->sequence_max) {
        stats->sequence_max = sequence;
    }
    stats->row_count++;
    stats->retract_count += sinter_kind_is_retract(kind) ? 1 : 0;
}

static sinter_status
writer_add_order(columnar_writer *writer, const sinter_batch *batch, uint32_t row,
                 sinter_error *err)
{
    const uint32_t zero = 0;
    uint32_t end = 0;

    if (batch->orders == NULL) {
        return writer->has_orders ? SINTER__ERR(err, SINTER_E_INVALID, "rows without user sequence")
                                  : SINTER_OK;
    }
    writer->has_orders = true;
    if (writer->order_offsets.size == 0) {
        SINTER__CHECK(sinter__buffer_append(writer->env, &writer->order_offsets, &zero, 4, err));
    }
    SINTER__CHECK(sinter__buffer_append(
        writer->env, &writer->orders, batch->orders + batch->order_offsets[row],
        batch->order_offsets[row + 1] - batch->order_offsets[row], err));
    end = (uint32_t)writer->orders.size;
    return sinter__buffer_append(writer->env, &writer->order_offsets, &end, 4, err);
}

static sinter_status
writer_add(columnar_writer *writer, const sinter_batch *batch, uint32_t row, sinter_error *err)
{
    const sinter_env *env = writer->env;
    const sinter_bytes key = sinter_batch_key(batch, row);
    const uint32_t zero = 0;
    uint32_t end = 0;

    if (writer->stats.row_count > 0 &&
        sinter__key_compare(key, (sinter_bytes){writer->max_key.data, writer->max_key.size}) <= 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "keys don't ascend");
    }
    if (writer->key_offsets.size == 0) {
        SINTER__CHECK(sinter__buffer_append(env, &writer->key_offsets, &zero, 4, err));
    }
    SINTER__CHECK(sinter__buffer_append(env, &writer->keys, key.data, key.size, err));
    end = (uint32_t)writer->keys.size;
    SINTER__CHECK(sinter__buffer_append(env, &writer->key_offsets, &end, 4, err));
    SINTER__CHECK(sinter__buffer_append(env, &writer->sequences, &batch->sequences[row], 8, err));
    SINTER__CHECK(sinter__buffer_append(env, &writer->kinds, &batch->kinds[row], 1, err));
    SINTER__CHECK(writer_add_order(writer, batch, row, err));
    SINTER__CHECK(columnar_builder_add_row(&writer->values, batch->payload, row, err));
    if (writer->stats.row_count == 0) {
        SINTER__CHECK(sinter__buffer_append(env, &writer->min_key, key.data, key.size, err));
    }
    writer->max_key.size = 0;
    SINTER__CHECK(sinter__buffer_append(env, &writer->max_key, key.data, key.size, err));
    writer_count(writer, batch->sequences[row], batch->kinds[row]);
    return SINTER_OK;
}

static sinter_status
writer_append(sinter_writer *base, const sinter_range *ranges, size_t count, uint64_t stop_bytes,
              size_t *taken_out, uint32_t *taken_rows_out, sinter_error *err)
{
    columnar_writer *writer = (columnar_writer *)base;

    *taken_out = 0;
    *taken_rows_out = 0;
    for (size_t i = 0; i < count; i++) {
        const sinter_range *range = &ranges[i];

        if (range->batch->payload_ops != &columnar_payload_ops ||
            (range->batch->flags & SINTER_BATCH_STORED) != 0) {
            return SINTER__ERR(err, SINTER_E_INVALID, "rows of another format");
        }
        for (uint32_t row = 0; row < range->count; row++) {
            SINTER__CHECK(writer_add(writer, range->batch, range->first + row, err));
            if (writer->values.row_count < writer->block_rows) {
                continue;
            }
            SINTER__CHECK(writer_flush(writer, err));
            if (writer->emitted_bytes >= stop_bytes) {
                *taken_out = row + 1 == range->count ? i + 1 : i;
                *taken_rows_out = row + 1 == range->count ? 0 : row + 1;
                return SINTER_OK;
            }
        }
        *taken_out = i + 1;
    }
    return SINTER_OK;
}

static sinter_status
writer_finish(sinter_writer *base, sinter_file_stats *out, sinter_error *err)
{
    columnar_writer *writer = (columnar_writer *)base;
    const sinter_env *env = writer->env;
    sinter_io_file *file = writer->file;
    file_footer footer = {.magic = COLUMNAR_MAGIC};

    SINTER__CHECK(writer_flush(writer, err));
    footer.block_count = (uint32_t)(writer->index.size / sizeof(index_entry));
    footer.index_offset = writer->emitted_bytes;
    SINTER__CHECK(sinter__buffer_append(env, &writer->index, writer->index_keys.data,
                                        writer->index_keys.size, err));
    footer.index_bytes = writer->index.size;
    footer.index_checksum = sinter__hash(writer->index.data, writer->index.size);
    if (writer->index.size > 0) {
        SINTER__CHECK(file->ops->append(file, writer->index.data, writer->index.size, err));
    }
    SINTER__CHECK(file->ops->append(file, &footer, sizeof footer, err));
    SINTER__CHECK(file->ops->sync(file, err));
    SINTER__CHECK(file->ops->publish(file, writer->path, err));
    *out = writer->stats;
    out->struct_size = sizeof *out;
    out->file_size = writer->emitted_bytes + writer->index.size + sizeof footer;
    out->creation_time_ms = env->clock.wall_ms(env->clock.ctx);
    out->min_key = (sinter_bytes){writer->min_key.data, writer->min_key.size};
    out->max_key = (sinter_bytes){writer->max_key.data, writer->max_key.size};
    return SINTER_OK;
}

static void
writer_close(sinter_writer *base)
{
    columnar_writer *writer = (columnar_writer *)base;
    const sinter_env *env = writer->env;
    sinter__buffer *const buffers[] = {
        &writer->keys,       &writer->key_offsets, &writer->orders, &writer->order_offsets,
        &writer->sequences,  &writer->kinds,       &writer->block,  &writer->index,
        &writer->index_keys, &writer->min_key,     &writer->max_key};

    if (writer->file != NULL) {
        writer->file->ops->close(writer->file);
    }
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        sinter__buffer_fini(env, buffers[i]);
    }
    columnar_builder_fini(&writer->values);
    sinter__free(env, writer->path);
    sinter__free(env, writer);
}

static const sinter_writer_ops writer_ops = {
    .struct_size = sizeof(sinter_writer_ops),
    .append = writer_append,
    .size = writer_size,
    .finish = writer_finish,
    .close = writer_close,
};

/* The directory of `path`: everything before the last '/', or ".". Cut from a copy. */
static sinter_status
writer_create_file(columnar_writer *writer, const char *path, sinter_error *err)
{
    sinter_io *io = writer->env->io;
    char *dir = NULL;
    char *slash = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__strdup(writer->env, path, &dir, err));
    slash = strrchr(dir, '/');
    if (slash != NULL) {
        slash[slash == dir ? 1 : 0] = '\0';
    }
    SINTER__TRY(io->ops->create(io, slash == NULL ? "." : dir, 0, &writer->file, err));
out:
    sinter__free(writer->env, dir);
    return st;
}

static sinter_status
columnar_open_writer(void *self, const sinter_env *env, const char *path,
                     const sinter_write_options *options, sinter_writer **out, sinter_error *err)
{
    const columnar_options *format = self;
    columnar_writer *writer = NULL;
    sinter_status st = SINTER_OK;

    (void)options;
    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, writer, 1, err));
    writer->base.ops = &writer_ops;
    writer->env = env;
    writer->values.env = env;
    writer->block_rows = format->block_rows != 0 ? format->block_rows : BLOCK_ROWS_DEFAULT;
    SINTER__TRY(sinter__strdup(env, path, &writer->path, err));
    SINTER__TRY(writer_create_file(writer, path, err));
    *out = &writer->base;
    writer = NULL;
out:
    if (writer != NULL) {
        writer_close(&writer->base);
    }
    return st;
}

void
columnar_format_init(sinter_format *format, const columnar_options *options)
{
    union {
        const columnar_options *given;
        void *self;
    } options_ptr = {.given = options};

    *format = (sinter_format){
        .struct_size = sizeof *format,
        .self = options_ptr.self,
        .name = "columnar",
        .extension = ".col",
        .open_reader = columnar_open_reader,
        .open_writer = columnar_open_writer,
    };
}
