#include "merge/spill_block.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

enum {
    SPILL_MAGIC = 0x4c50534e,
    FIXED_ROW_BYTES = 8 + 8 + 4 + 4 + 4 + 4 + 1,
    OFFSETS_ROW_BYTES = 12,         /* of keys, orders and values, in memory */
    COLUMN_DOUBLED_BYTES = 3 << 20, /* by which three columns may be larger than they need */
    ROWS_FIRST = 2048,              /* room for so many at first */
    ROWS_FULL = 16384,              /* a block is cut at so many, or where its bytes say */
    ROWS_MAX = 1 << 24,
    SLACK_BYTES = 64
};

typedef struct spill_header {
    uint32_t magic;
    uint32_t rows;
    uint64_t key_bytes;
    uint64_t order_bytes;
    uint64_t value_bytes;
    uint64_t stored_bytes;
    uint32_t codec_id;
    uint32_t has_orders;
    uint64_t ops; /* address of the payload's ops in this process */
    uint64_t body_checksum;
    uint64_t header_checksum; /* of the fields before it */
} spill_header;

/* The columns of a body, `rows` long each. */
typedef struct columns {
    int64_t *sequences;
    uint64_t *prefixes;
    uint32_t *key_ends;
    uint32_t *value_ends;
    uint32_t *order_ends;
    uint32_t *origins;
    uint8_t *kinds;
    uint8_t *bytes; /* keys, orders, values */
} columns;

static columns
columns_at(uint8_t *body, size_t rows)
{
    columns c;

    c.sequences = (int64_t *)(void *)body;
    c.prefixes = (uint64_t *)(void *)(body + 8 * rows);
    c.key_ends = (uint32_t *)(void *)(body + 16 * rows);
    c.value_ends = c.key_ends + rows;
    c.order_ends = c.value_ends + rows;
    c.origins = c.order_ends + rows;
    c.kinds = body + 32 * rows;
    c.bytes = body + (size_t)FIXED_ROW_BYTES * rows;
    return c;
}

static uint64_t
body_size(uint64_t rows, uint64_t key_bytes, uint64_t order_bytes, uint64_t value_bytes)
{
    return FIXED_ROW_BYTES * rows + key_bytes + order_bytes + value_bytes;
}

static void
copy_fixed(columns *to, columns from, size_t rows)
{
    memcpy(to->sequences, from.sequences, 8 * rows);
    memcpy(to->prefixes, from.prefixes, 8 * rows);
    memcpy(to->key_ends, from.key_ends, 4 * rows);
    memcpy(to->value_ends, from.value_ends, 4 * rows);
    memcpy(to->order_ends, from.order_ends, 4 * rows);
    memcpy(to->origins, from.origins, 4 * rows);
    memcpy(to->kinds, from.kinds, rows);
}

/* Make room for one more row. */
static sinter_status
reserve_row(sinter__spill_writer *writer, sinter_error *err)
{
    const uint32_t capacity = writer->row_capacity == 0 ? ROWS_FIRST : writer->row_capacity * 2;
    sinter__scratch grown = {NULL, 0};
    columns to;

    if (writer->rows < writer->row_capacity) {
        return SINTER_OK;
    }
    if (capacity > ROWS_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a key has more than %d spilled versions",
                           ROWS_MAX);
    }
    SINTER__CHECK(
        sinter__scratch_fit(writer->env, &grown, (size_t)FIXED_ROW_BYTES * capacity, err));
    to = columns_at(grown.data, capacity);
    if (writer->rows > 0) {
        copy_fixed(&to, columns_at(writer->fixed.data, writer->row_capacity), writer->rows);
    }
    sinter__scratch_fini(writer->env, &writer->fixed);
    writer->fixed = grown;
    writer->row_capacity = capacity;
    return SINTER_OK;
}

static bool
is_same_key_as_last(const sinter__spill_writer *writer, sinter_bytes key)
{
    const columns c = columns_at(writer->fixed.data, writer->row_capacity);
    const uint32_t begin = writer->rows < 2 ? 0 : c.key_ends[writer->rows - 2];
    const uint32_t end = c.key_ends[writer->rows - 1];

    return sinter__key_equal((sinter_bytes){writer->keys.data + begin, end - begin}, key);
}

static sinter_status
append_bytes(const sinter_env *env, sinter__scratch *column, uint64_t *used, sinter_bytes bytes,
             sinter_error *err)
{
    if (bytes.size > SINTER_BLOCK_BYTES_MAX - *used) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "the versions of one key don't fit into a spill block of %llu bytes",
                           (unsigned long long)SINTER_BLOCK_BYTES_MAX);
    }
    SINTER__CHECK(sinter__scratch_grow(env, column, (size_t)*used + bytes.size + 1, err));
    if (bytes.size > 0) {
        memcpy(column->data + *used, bytes.data, bytes.size);
    }
    *used += bytes.size;
    return SINTER_OK;
}

/* Where a frozen row goes, and where put_value() tells of its failures. */
typedef struct put_target {
    sinter__spill_writer *writer;
    sinter_error *err;
} put_target;

static sinter_status
put_value(void *ctx, const void *data, size_t size)
{
    const put_target *target = ctx;
    sinter__spill_writer *writer = target->writer;

    return append_bytes(writer->env, &writer->values, &writer->value_bytes,
                        (sinter_bytes){data, size}, target->err);
}

static sinter_status
append_value(sinter__spill_writer *writer, const sinter_batch *batch, uint32_t row,
             sinter_error *err)
{
    const sinter_payload_ops *ops = batch->payload_ops;

    if (ops == NULL) {
        return SINTER_OK;
    }
    if (ops->freeze != NULL) {
        put_target target = {writer, err};

        return ops->freeze(batch, row, put_value, &target, err);
    }
    if (ops->value == NULL) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "rows of format %s can't be spilled",
                           ops->format);
    }
    return append_bytes(writer->env, &writer->values, &writer->value_bytes, ops->value(batch, row),
                        err);
}

sinter_status
sinter__spill_writer_add(sinter__spill_writer *writer, const sinter_batch *batch, uint32_t row,
                         sinter_error *err)
{
    const sinter_bytes key = sinter_batch_key(batch, row);
    const bool is_full = writer->key_bytes + writer->value_bytes >= SINTER__SPILL_BLOCK_BYTES ||
                         writer->rows >= ROWS_FULL;
    sinter_bytes order = {NULL, 0};
    columns c;

    if (writer->rows > 0 &&
        ((is_full && !is_same_key_as_last(writer, key)) || writer->ops != batch->payload_ops ||
         writer->has_orders != (batch->orders != NULL))) {
        SINTER__CHECK(sinter__spill_writer_flush(writer, err));
    }
    if (batch->orders != NULL) {
        order.data = batch->orders + batch->order_offsets[row];
        order.size = batch->order_offsets[row + 1] - batch->order_offsets[row];
    }
    SINTER__CHECK(reserve_row(writer, err));
    SINTER__CHECK(append_bytes(writer->env, &writer->keys, &writer->key_bytes, key, err));
    SINTER__CHECK(append_bytes(writer->env, &writer->orders, &writer->order_bytes, order, err));
    SINTER__CHECK(append_value(writer, batch, row, err));
    c = columns_at(writer->fixed.data, writer->row_capacity);
    c.sequences[writer->rows] = batch->sequences[row];
    c.prefixes[writer->rows] = batch->prefixes[row];
    c.key_ends[writer->rows] = (uint32_t)writer->key_bytes;
    c.value_ends[writer->rows] = (uint32_t)writer->value_bytes;
    c.order_ends[writer->rows] = (uint32_t)writer->order_bytes;
    c.origins[writer->rows] = batch->origins != NULL ? batch->origins[row] : batch->origin;
    c.kinds[writer->rows] = batch->kinds[row];
    writer->ops = batch->payload_ops;
    writer->has_orders = batch->orders != NULL;
    writer->rows++;
    return SINTER_OK;
}

/* Gather the columns of the rows at hand into one body. */
static sinter_status
gather_body(sinter__spill_writer *writer, size_t size, sinter_error *err)
{
    const size_t rows = writer->rows;
    columns to;

    SINTER__CHECK(sinter__scratch_fit(writer->env, &writer->body, size, err));
    to = columns_at(writer->body.data, rows);
    copy_fixed(&to, columns_at(writer->fixed.data, writer->row_capacity), rows);
    memcpy(to.bytes, writer->keys.data, writer->key_bytes);
    memcpy(to.bytes + writer->key_bytes, writer->orders.data, writer->order_bytes);
    if (writer->value_bytes > 0) {
        memcpy(to.bytes + writer->key_bytes + writer->order_bytes, writer->values.data,
               writer->value_bytes);
    }
    return SINTER_OK;
}

/* What a reader holds for a block: its body, and offsets into that. */
static uint64_t
reading_memory(uint64_t size, uint64_t rows)
{
    return sinter__scratch_room((size_t)size + SLACK_BYTES) +
           sinter__scratch_room((size_t)(OFFSETS_ROW_BYTES * (rows + 1)));
}

void
sinter__spill_block_measure(int codec, uint64_t bytes, uint64_t rows, sinter__spill_block_size *out)
{
    const uint64_t counted = rows < ROWS_FULL ? rows : ROWS_FULL;
    const uint64_t size = bytes + counted * FIXED_ROW_BYTES;
    const uint64_t capacity = counted < ROWS_FIRST ? ROWS_FIRST : 2 * counted;
    uint64_t stored = 0;

    assert(bytes <= 2 * SINTER_BLOCK_BYTES_MAX);
    if (codec != SINTER_CODEC_NONE) {
        stored = sinter__codec_bound(
            codec, (size_t)(size < SINTER_BLOCK_BYTES_MAX ? size : SINTER_BLOCK_BYTES_MAX));
        stored = sinter__scratch_room((size_t)stored + SLACK_BYTES);
    }
    out->body_bytes = size;
    out->reader_bytes = reading_memory(size, counted);
    out->shared_bytes = stored;
    /* Columns grow by doubling while they are small; the body is gathered from them. */
    out->writer_bytes = 3 * sinter__scratch_room((size_t)(capacity * FIXED_ROW_BYTES)) +
                        sinter__scratch_room((size_t)bytes) + COLUMN_DOUBLED_BYTES +
                        sinter__scratch_room((size_t)size) + stored;
}

/* Remember what reading the block that was written will take. */
static void
note_memory(sinter__spill_writer *writer, uint64_t size, uint64_t stored_size)
{
    uint64_t bytes = reading_memory(size, writer->rows);
    uint64_t stored = sinter__scratch_room((size_t)stored_size + SLACK_BYTES);

    if (writer->ops != NULL && writer->ops->freeze != NULL) {
        /* What another format thaws is not known: taken as large as the body. */
        bytes += size + sinter__scratch_room(writer->rows * sizeof(sinter_bytes));
    }
    if (bytes > writer->block_memory_max) {
        writer->block_memory_max = bytes;
    }
    stored = writer->codec_id == SINTER_CODEC_NONE ? 0 : stored;
    if (stored > writer->stored_memory_max) {
        writer->stored_memory_max = stored;
    }
}

/* Have room for so many bytes more in the file. */
static sinter_status
take_space(sinter__spill_writer *writer, uint64_t bytes, sinter_error *err)
{
    if (sinter_memory_reserve(writer->space, bytes, NULL) != SINTER_OK) {
        return SINTER__ERR_AT(
            err, SINTER_E_NO_SPACE, writer->dir, -1,
            "spill files may take %llu bytes, %llu are taken and %llu more don't fit: raise "
            "sinter.spill-limit, or the memory budget so that less is spilled; no data is lost",
            (unsigned long long)sinter_memory_limit(writer->space),
            (unsigned long long)sinter_memory_used(writer->space), (unsigned long long)bytes);
    }
    writer->space_bytes += bytes;
    return SINTER_OK;
}

sinter_status
sinter__spill_writer_flush(sinter__spill_writer *writer, sinter_error *err)
{
    const uint64_t size =
        body_size(writer->rows, writer->key_bytes, writer->order_bytes, writer->value_bytes);
    spill_header header = {.magic = SPILL_MAGIC,
                           .rows = writer->rows,
                           .key_bytes = writer->key_bytes,
                           .order_bytes = writer->order_bytes,
                           .value_bytes = writer->value_bytes,
                           .has_orders = writer->has_orders,
                           .codec_id = (uint32_t)writer->codec_id,
                           .ops = (uint64_t)(uintptr_t)writer->ops};
    const uint8_t *stored = NULL;
    size_t stored_size = (size_t)size;

    if (writer->rows == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(gather_body(writer, (size_t)size, err));
    stored = writer->body.data;
    if (writer->codec_id != SINTER_CODEC_NONE) {
        SINTER__CHECK(sinter__scratch_fit(writer->env, &writer->stored,
                                          sinter__codec_bound(writer->codec_id, (size_t)size),
                                          err));
        SINTER__CHECK(sinter__codec_encode(
            &writer->codec, (sinter__codec_choice){writer->codec_id, writer->codec_level},
            (sinter_bytes){writer->body.data, (size_t)size}, writer->stored.data, &stored_size,
            err));
        stored = writer->stored.data;
    }
    header.stored_bytes = stored_size;
    header.body_checksum = sinter__hash(stored, stored_size);
    header.header_checksum = sinter__hash(&header, offsetof(spill_header, header_checksum));
    SINTER__CHECK(take_space(writer, sizeof header + stored_size, err));
    SINTER__CHECK(writer->file->ops->append(writer->file, &header, sizeof header, err));
    SINTER__CHECK(writer->file->ops->append(writer->file, stored, stored_size, err));
    writer->offset += sizeof header + stored_size;
    note_memory(writer, size, stored_size);
    writer->rows = 0;
    writer->key_bytes = 0;
    writer->order_bytes = 0;
    writer->value_bytes = 0;
    return SINTER_OK;
}

void
sinter__spill_writer_rest(sinter__spill_writer *writer)
{
    assert(writer->rows == 0);
    sinter__scratch_fini(writer->env, &writer->fixed);
    sinter__scratch_fini(writer->env, &writer->keys);
    sinter__scratch_fini(writer->env, &writer->orders);
    sinter__scratch_fini(writer->env, &writer->values);
    sinter__scratch_fini(writer->env, &writer->body);
    sinter__scratch_fini(writer->env, &writer->stored);
    sinter__codec_fini(&writer->codec);
    writer->codec.env = writer->env;
    writer->row_capacity = 0;
}

void
sinter__spill_writer_fini(sinter__spill_writer *writer)
{
    if (writer->env != NULL) {
        writer->rows = 0;
        sinter__spill_writer_rest(writer);
    }
}

/* ---- reading back ---- */

typedef struct spill_reader {
    sinter_reader reader;
    const sinter_env *env;
    sinter_io_file *file;
    const char *dir;
    uint64_t at;
    uint64_t end;
    sinter__codec *codec;    /* the writer's */
    sinter__scratch *stored; /* the writer's; in use only while a block is decoded */
    sinter__scratch body, offsets, frozen;
    sinter_batch batch;
    sinter__sst_payload payload;
    const sinter_payload_ops *thaw_ops; /* whose thaw_state it is */
    void *thaw_state;
} spill_reader;

static sinter_status
read_header(spill_reader *self, spill_header *header, sinter_error *err)
{
    const sinter_io_range range = {self->at, header, sizeof *header};

    if (self->end - self->at < sizeof *header) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->dir, self->at,
                              "the spill file ends inside a block");
    }
    SINTER__CHECK(self->file->ops->read(self->file, &range, 1, err));
    if (header->magic != SPILL_MAGIC ||
        header->header_checksum != sinter__hash(header, offsetof(spill_header, header_checksum)) ||
        header->stored_bytes > self->end - self->at - sizeof *header) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->dir, self->at,
                              "a block of the spill file came back different");
    }
    return SINTER_OK;
}

static sinter_status
read_body(spill_reader *self, const spill_header *header, sinter_error *err)
{
    const size_t size = (size_t)body_size(header->rows, header->key_bytes, header->order_bytes,
                                          header->value_bytes);
    const size_t stored_size = (size_t)header->stored_bytes;
    const bool is_plain = header->codec_id == SINTER_CODEC_NONE;
    sinter__scratch *target = is_plain ? &self->body : self->stored;
    sinter_io_range range = {self->at + sizeof *header, NULL, stored_size};

    SINTER__CHECK(sinter__scratch_fit(self->env, target, stored_size + SLACK_BYTES, err));
    range.data = target->data;
    SINTER__CHECK(self->file->ops->read(self->file, &range, 1, err));
    if (sinter__hash(target->data, stored_size) != header->body_checksum ||
        (is_plain && stored_size != size)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->dir, range.offset,
                              "a block of the spill file came back different");
    }
    if (!is_plain) {
        SINTER__CHECK(sinter__scratch_fit(self->env, &self->body, size + SLACK_BYTES, err));
        SINTER__CHECK(sinter__codec_decode(self->codec, (int)header->codec_id,
                                           (sinter_bytes){self->stored->data, stored_size},
                                           self->body.data, size, err));
    }
    memset(self->body.data + size, 0, SLACK_BYTES);
    return SINTER_OK;
}

/* Ends become offsets from 0. */
static uint32_t *
offsets_of(uint32_t *out, const uint32_t *ends, size_t rows)
{
    out[0] = 0;
    memcpy(out + 1, ends, 4 * rows);
    return out;
}

static sinter_status
thaw(spill_reader *self, const uint8_t *values, size_t rows, sinter_error *err)
{
    const uint32_t *offsets = self->payload.value_offsets;
    sinter_bytes *frozen = NULL;

    if (self->thaw_ops != self->batch.payload_ops) {
        if (self->thaw_ops != NULL) {
            self->thaw_ops->thaw_end(self->env, self->thaw_state);
        }
        self->thaw_state = NULL;
        self->thaw_ops = self->batch.payload_ops;
    }
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->frozen, rows * sizeof *frozen, err));
    frozen = (sinter_bytes *)(void *)self->frozen.data;
    for (size_t i = 0; i < rows; i++) {
        frozen[i] = (sinter_bytes){values + offsets[i], offsets[i + 1] - offsets[i]};
    }
    return self->thaw_ops->thaw(self->env, frozen, (uint32_t)rows, &self->thaw_state,
                                &self->batch.payload, err);
}

static sinter_status
make_batch(spill_reader *self, const spill_header *header, sinter_error *err)
{
    const size_t rows = header->rows;
    const columns c = columns_at(self->body.data, rows);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): this process wrote the pointer itself */
    const sinter_payload_ops *ops = (const sinter_payload_ops *)(uintptr_t)header->ops;
    const uint8_t *orders = c.bytes + header->key_bytes;
    const uint8_t *values = orders + header->order_bytes;
    uint32_t *offsets = NULL;

    SINTER__CHECK(sinter__scratch_fit(self->env, &self->offsets, 12 * (rows + 1), err));
    offsets = (uint32_t *)(void *)self->offsets.data;
    self->batch = (sinter_batch){
        .struct_size = (uint32_t)sizeof self->batch,
        .row_count = header->rows,
        .keys = c.bytes,
        .key_offsets = offsets_of(offsets, c.key_ends, rows),
        .prefixes = c.prefixes,
        .sequences = c.sequences,
        .kinds = c.kinds,
        .orders = header->has_orders ? orders : NULL,
        .order_offsets = offsets_of(offsets + rows + 1, c.order_ends, rows),
        .origins = c.origins,
        .payload_ops = ops,
    };
    for (size_t i = 0; i < rows; i++) {
        self->batch.retract_count += sinter_kind_is_retract(c.kinds[i]);
    }
    self->payload = (sinter__sst_payload){
        .values = values,
        .value_offsets = offsets_of(offsets + 2 * (rows + 1), c.value_ends, rows)};
    if (ops != NULL && ops->freeze != NULL) {
        return thaw(self, values, rows, err);
    }
    self->batch.payload = &self->payload;
    self->batch.payload_ops = &sinter__sst_payload_ops;
    return SINTER_OK;
}

static sinter_status
spill_reader_next(sinter_reader *reader, const sinter_batch **out, sinter_error *err)
{
    spill_reader *self = (spill_reader *)reader;
    spill_header header = {.magic = 0};

    *out = NULL;
    if (self->at == self->end) {
        return SINTER_END;
    }
    SINTER__CHECK(read_header(self, &header, err));
    SINTER__CHECK(read_body(self, &header, err));
    SINTER__CHECK(make_batch(self, &header, err));
    self->at += sizeof header + header.stored_bytes;
    *out = &self->batch;
    return SINTER_OK;
}

static void
spill_reader_close(sinter_reader *reader)
{
    spill_reader *self = (spill_reader *)reader;

    if (self->thaw_ops != NULL) {
        self->thaw_ops->thaw_end(self->env, self->thaw_state);
    }
    sinter__scratch_fini(self->env, &self->body);
    sinter__scratch_fini(self->env, &self->offsets);
    sinter__scratch_fini(self->env, &self->frozen);
    sinter__free(self->env, self);
}

static const sinter_reader_ops spill_reader_ops = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = spill_reader_next,
    .close = spill_reader_close,
};

sinter_status
sinter__spill_reader_open(sinter__spill_writer *writer, const sinter__spill_extent *extent,
                          sinter_reader **out, sinter_error *err)
{
    spill_reader *self = NULL;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(writer->env, self, 1, err));
    self->reader.ops = &spill_reader_ops;
    self->env = writer->env;
    self->file = writer->file;
    self->dir = writer->dir;
    self->codec = &writer->codec;
    self->stored = &writer->stored;
    self->at = extent->begin;
    self->end = extent->end;
    *out = &self->reader;
    return SINTER_OK;
}
