/*
 * Rows lie scattered over pages. They are gathered into columns, which writers copy in bulk; large
 * values stay where they are.
 */
#include "compact/buffer_reader.h"

#include <assert.h>

#include "base/fail.h"
#include "sst/payload.h"
#include "sst/scratch.h"

enum {
    BATCH_BYTES = 64 << 10, /* of keys and values gathered at once */
    BATCH_ROWS = 4096,
    GATHERED_BYTES_MAX = 2 * BATCH_BYTES, /* more are not copied */
    AHEAD_ROWS = 32,  /* so many rows are fetched into the cache before they are looked at */
    LINE_BYTES = 64,  /* of the cache */
    COPY_BYTES = 32,  /* copied at once; rows and columns have so much behind them */
    SLACK_BYTES = 64, /* behind the last key and value */
    ROW_BYTES = 8 + 8 + 4 + 4 + 1
};

typedef struct buffer_reader {
    sinter_reader base;
    const sinter_env *env;
    sinter__buffered_rows rows;
    size_t at;
    sinter__scratch fixed; /* prefixes, sequences, offsets of keys and values, kinds */
    sinter__scratch keys;
    sinter__scratch values;
    sinter__sst_payload payload;
    sinter_batch batch;
} buffer_reader;

/* Rows that go into a batch. */
typedef struct piece {
    const sinter__row_entry *entries;
    size_t count;
    size_t taken; /* rows that are done with it: these, and versions that one of them outdoes */
    uint64_t key_bytes;
    uint64_t value_bytes;
    bool has_one_width; /* all keys are as long as the first */
} piece;

/* Columns of a batch in `fixed`. */
typedef struct columns {
    uint64_t *prefixes;
    int64_t *sequences;
    uint32_t *key_offsets;
    uint32_t *value_offsets;
    uint8_t *kinds;
} columns;

/* Values where they lie: the payload is the batch's first entry. */
static sinter_bytes
value_in_page(const sinter_batch *batch, uint32_t row)
{
    const sinter__row_entry *entries = batch->payload;

    assert(row < batch->row_count);
    return sinter__page_row_value(entries[row].row);
}

static const sinter_payload_ops in_page_ops = {
    .struct_size = (uint32_t)sizeof(sinter_payload_ops),
    .format = "buffered",
    .value = value_in_page,
};

static bool
is_same_key(const sinter__row_entry *a, const sinter__row_entry *b)
{
    return a->prefix == b->prefix &&
           sinter__key_equal(sinter__page_row_key(a->row), sinter__page_row_key(b->row));
}

static void
fetch_ahead(const buffer_reader *self, size_t at)
{
    if (at + AHEAD_ROWS < self->rows.count) {
        const uint8_t *row = (const uint8_t *)self->rows.entries[at + AHEAD_ROWS].row;

        __builtin_prefetch(row);
        __builtin_prefetch(row + LINE_BYTES);
        __builtin_prefetch(row + (size_t)2 * LINE_BYTES);
    }
}

/*
 * The piece is full and ends amid versions of a key: end it before them. If it is of this key only,
 * the newest of all its versions is enough.
 */
static void
end_amid_versions(const buffer_reader *self, piece *p)
{
    const sinter__row_entry *entries = p->entries;
    const size_t left = self->rows.count - self->at;
    size_t first = p->count - 1;
    size_t newest = 0;
    size_t end = 1;

    while (first > 0 && is_same_key(&entries[first - 1], &entries[first])) {
        first--;
    }
    if (first > 0) {
        for (size_t i = first; i < p->count; i++) {
            p->key_bytes -= entries[i].row->key_size;
            p->value_bytes -= entries[i].row->value_size;
        }
        p->count = first;
        p->taken = first;
        return;
    }
    for (; end < left && is_same_key(&entries[0], &entries[end]); end++) {
        fetch_ahead(self, self->at + end);
        newest = entries[end].row->sequence > entries[newest].row->sequence ? end : newest;
    }
    *p = (piece){.entries = &entries[newest],
                 .count = 1,
                 .taken = end,
                 .key_bytes = entries[newest].row->key_size,
                 .value_bytes = entries[newest].row->value_size,
                 .has_one_width = true};
}

/* The rows of the next batch: full, and behind all versions of a key. */
static piece
next_piece(const buffer_reader *self)
{
    const sinter__row_entry *entries = self->rows.entries + self->at;
    const size_t left = self->rows.count - self->at;
    piece p = {.entries = entries, .has_one_width = true};

    while (p.count < left) {
        const sinter__page_row *row = entries[p.count].row;
        const bool is_full = p.key_bytes + p.value_bytes >= BATCH_BYTES || p.count >= BATCH_ROWS;

        if (is_full && !is_same_key(&entries[p.count - 1], &entries[p.count])) {
            break;
        }
        if (is_full && self->rows.keeps_newest) {
            end_amid_versions(self, &p);
            return p;
        }
        fetch_ahead(self, self->at + p.count);
        p.key_bytes += row->key_size;
        p.value_bytes += row->value_size;
        p.has_one_width = p.has_one_width && row->key_size == entries[0].row->key_size;
        p.count++;
    }
    p.taken = p.count;
    return p;
}

static columns
columns_at(uint8_t *fixed, size_t rows)
{
    columns c;

    c.prefixes = (uint64_t *)(void *)fixed;
    c.sequences = (int64_t *)(void *)(fixed + 8 * rows);
    c.key_offsets = (uint32_t *)(void *)(fixed + 16 * rows);
    c.value_offsets = c.key_offsets + rows + 1;
    c.kinds = (uint8_t *)(c.value_offsets + rows + 1);
    return c;
}

/* Copy; less than 32 bytes are read behind `size`, and written behind it. */
static inline void
copy_over(uint8_t *to, const uint8_t *from, size_t size)
{
    size_t at = 0;

    do {
        memcpy(to + at, from + at, COPY_BYTES);
        at += COPY_BYTES;
    } while (at < size);
}

static uint32_t
gather_fixed(const piece *p, columns c)
{
    uint32_t retracts = 0;

    for (size_t i = 0; i < p->count; i++) {
        const sinter__page_row *row = p->entries[i].row;

        c.prefixes[i] = p->entries[i].prefix;
        c.sequences[i] = row->sequence;
        c.kinds[i] = (uint8_t)row->kind;
        retracts += sinter_kind_is_retract((uint8_t)row->kind) ? 1 : 0;
    }
    return retracts;
}

static void
gather_keys(const piece *p, uint8_t *keys, uint32_t *offsets)
{
    uint32_t at = 0;

    for (size_t i = 0; i < p->count; i++) {
        const sinter_bytes key = sinter__page_row_key(p->entries[i].row);

        offsets[i] = at;
        copy_over(keys + at, key.data, key.size);
        at += (uint32_t)key.size;
    }
    offsets[p->count] = at;
}

static void
gather_values(const piece *p, uint8_t *values, uint32_t *offsets)
{
    uint32_t at = 0;

    for (size_t i = 0; i < p->count; i++) {
        const sinter_bytes value = sinter__page_row_value(p->entries[i].row);

        offsets[i] = at;
        copy_over(values + at, value.data, value.size);
        at += (uint32_t)value.size;
    }
    offsets[p->count] = at;
}

static sinter_status
fit(buffer_reader *self, const piece *p, bool is_gathered, sinter_error *err)
{
    if (p->key_bytes > UINT32_MAX - SLACK_BYTES || p->count > UINT32_MAX / 2) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "the keys of all versions of one key take more than 4 GiB");
    }
    SINTER__CHECK(
        sinter__scratch_fit(self->env, &self->fixed, (p->count + 1) * ROW_BYTES + 8, err));
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->keys, p->key_bytes + SLACK_BYTES, err));
    return is_gathered
               ? sinter__scratch_fit(self->env, &self->values, p->value_bytes + SLACK_BYTES, err)
               : SINTER_OK;
}

static sinter_status
buffer_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    buffer_reader *self = (buffer_reader *)base;
    const piece p = next_piece(self);
    const bool is_gathered = p.key_bytes + p.value_bytes <= GATHERED_BYTES_MAX;
    columns c;

    *out = NULL;
    if (p.count == 0) {
        return SINTER_END;
    }
    SINTER__CHECK(fit(self, &p, is_gathered, err));
    c = columns_at(self->fixed.data, p.count);
    self->batch = (sinter_batch){.struct_size = (uint32_t)sizeof self->batch,
                                 .row_count = (uint32_t)p.count,
                                 .keys = self->keys.data,
                                 .prefixes = c.prefixes,
                                 .sequences = c.sequences,
                                 .kinds = c.kinds,
                                 .origin = self->rows.origin,
                                 .payload = p.entries,
                                 .payload_ops = &in_page_ops};
    self->batch.retract_count = gather_fixed(&p, c);
    gather_keys(&p, self->keys.data, c.key_offsets);
    if (p.has_one_width) {
        self->batch.key_width = p.entries[0].row->key_size;
    } else {
        self->batch.key_offsets = c.key_offsets;
    }
    if (self->rows.skip != self->rows.entry_skip) {
        for (size_t i = 0; i < p.count; i++) {
            c.prefixes[i] = sinter__page_row_prefix(p.entries[i].row, self->rows.skip);
        }
    }
    if (is_gathered) {
        gather_values(&p, self->values.data, c.value_offsets);
        self->payload =
            (sinter__sst_payload){.values = self->values.data, .value_offsets = c.value_offsets};
        self->batch.payload = &self->payload;
        self->batch.payload_ops = &sinter__sst_payload_ops;
    }
    self->at += p.taken;
    *out = &self->batch;
    return SINTER_OK;
}

static void
buffer_close(sinter_reader *base)
{
    buffer_reader *self = (buffer_reader *)base;

    sinter__scratch_fini(self->env, &self->fixed);
    sinter__scratch_fini(self->env, &self->keys);
    sinter__scratch_fini(self->env, &self->values);
    sinter__free(self->env, self);
}

static const sinter_reader_ops buffer_ops = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = buffer_next,
    .close = buffer_close,
};

sinter_status
sinter__buffer_reader_open(const sinter_env *env, const sinter__buffered_rows *rows,
                           sinter_reader **out, sinter_error *err)
{
    buffer_reader *self = NULL;

    assert(rows->skip <= rows->entry_skip);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->base.ops = &buffer_ops;
    self->env = env;
    self->rows = *rows;
    *out = &self->base;
    return SINTER_OK;
}

uint64_t
sinter__buffer_reader_bytes(void)
{
    return sinter__scratch_room((BATCH_ROWS + 1) * ROW_BYTES + 8) +
           2 * sinter__scratch_room(GATHERED_BYTES_MAX + SLACK_BYTES);
}
