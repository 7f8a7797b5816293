#include "support/run_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum { BATCH_ROWS_RANDOM_MAX = 40, BLOCK_ROW_OVERHEAD = 20, COLUMNS_MAX = 10 };

/* Records of a batch, for payloads of bytes and of stored blocks. */
typedef struct run_rows {
    const test_record *records;
    uint32_t count;
} run_rows;

typedef struct run_reader {
    sinter_reader base;
    run_world *world;
    const test_run *run;
    test_rng rng;
    size_t at;        /* next record */
    size_t next_rows; /* rows of the next batch */
    sinter_block_info info;
    uint8_t *info_keys; /* first and last key of `info`, gone with the next call */
    columnar_builder columns;
    run_rows *rows;
    sinter_batch *batch; /* given out, with columns of its own */
    void *columns_memory[COLUMNS_MAX];
    size_t columns_sizes[COLUMNS_MAX];
    size_t columns_count;
} run_reader;

static sinter_bytes
rows_value(const sinter_batch *batch, uint32_t row)
{
    const run_rows *rows = batch->payload;

    return rows->records[row].value;
}

const sinter_payload_ops run_bytes_payload_ops = {
    .struct_size = sizeof(sinter_payload_ops),
    .format = "run",
    .value = rows_value,
};

const test_record *
run_block_records(const sinter_batch *batch, uint32_t *count_out)
{
    const run_rows *rows = batch->payload;

    *count_out = rows->count;
    return rows->records;
}

static sinter_status
world_call(run_world *world, sinter_error *err)
{
    if (++world->calls == world->fail_at_call) {
        return SINTER__ERR_AT(err, world->fail_status, "run-reader", 4711, "told to fail");
    }
    return SINTER_OK;
}

static void *
column(run_reader *reader, size_t size)
{
    void *memory = calloc(size + 1, 1);

    if (memory == NULL) {
        abort();
    }
    reader->columns_memory[reader->columns_count] = memory;
    reader->columns_sizes[reader->columns_count] = size;
    reader->columns_count++;
    return memory;
}

/* The batch given out before is no more: spoil what still refers to it. */
static void
spoil(run_reader *reader)
{
    if (reader->info_keys != NULL) {
        memset(reader->info_keys, 0xdd, reader->info.first_key.size + reader->info.last_key.size);
        free(reader->info_keys);
        reader->info_keys = NULL;
    }
    for (size_t i = 0; i < reader->columns_count; i++) {
        memset(reader->columns_memory[i], 0xdd, reader->columns_sizes[i]);
        free(reader->columns_memory[i]);
    }
    reader->columns_count = 0;
    if (reader->batch != NULL) {
        memset(reader->batch, 0xdd, sizeof *reader->batch);
        free(reader->batch);
        reader->batch = NULL;
    }
    if (reader->rows != NULL) {
        memset(reader->rows, 0xdd, sizeof *reader->rows);
        free(reader->rows);
        reader->rows = NULL;
    }
}

static void
choose_next_rows(run_reader *reader)
{
    const run_world *world = reader->world;
    const size_t left = reader->run->count - reader->at;
    size_t rows = world->batch_rows != 0 ? world->batch_rows : left;

    if (world->batch_seed != 0) {
        const size_t rows_max = world->batch_rows != 0 ? world->batch_rows : BATCH_ROWS_RANDOM_MAX;

        rows = 1 + (size_t)test_rng_below(&reader->rng, rows_max);
    }
    rows = rows < left ? rows : left;
    while (world->has_versions && rows < left &&
           test_bytes_equal(reader->run->records[reader->at + rows - 1].key,
                            reader->run->records[reader->at + rows].key)) {
        rows++;
    }
    reader->next_rows = rows;
}

static void
fill_keys(run_reader *reader, const test_record *records, uint32_t count)
{
    const uint32_t width = reader->world->key_width;
    sinter_batch *batch = reader->batch;
    size_t bytes = 0;
    uint32_t *offsets = width == UINT32_MAX ? column(reader, ((size_t)count + 1) * 4) : NULL;
    uint64_t *prefixes = column(reader, (size_t)count * 8);
    uint8_t *keys = NULL;

    for (uint32_t i = 0; i < count; i++) {
        bytes += records[i].key.size;
    }
    keys = column(reader, bytes + 16);
    bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const sinter_bytes key = records[i].key;

        if (key.size > 0) {
            memcpy(keys + bytes, key.data, key.size);
        }
        prefixes[i] = sinter__key_prefix(key.data + reader->world->prefix_skip,
                                         key.size - reader->world->prefix_skip);
        bytes += key.size;
        if (offsets != NULL) {
            offsets[i + 1] = (uint32_t)bytes;
        }
    }
    batch->keys = keys;
    batch->key_offsets = offsets;
    batch->key_width = offsets == NULL ? width : 0;
    batch->prefixes = prefixes;
}

static void
fill_orders(run_reader *reader, const test_record *records, uint32_t count)
{
    size_t bytes = 0;
    uint32_t *offsets = column(reader, ((size_t)count + 1) * 4);
    uint8_t *orders = NULL;

    for (uint32_t i = 0; i < count; i++) {
        bytes += records[i].order.size;
        offsets[i + 1] = (uint32_t)bytes;
    }
    orders = column(reader, bytes);
    for (uint32_t i = 0; i < count; i++) {
        if (records[i].order.size > 0) {
            memcpy(orders + offsets[i], records[i].order.data, records[i].order.size);
        }
    }
    reader->batch->orders = orders;
    reader->batch->order_offsets = offsets;
}

static void
fill_origins(run_reader *reader, const test_record *records, uint32_t count)
{
    bool is_single = !reader->world->origins_column;
    uint32_t *origins = NULL;

    for (uint32_t i = 1; i < count; i++) {
        is_single = is_single && records[i].origin == records[0].origin;
    }
    reader->batch->origin = records[0].origin;
    if (is_single) {
        return;
    }
    origins = column(reader, (size_t)count * 4);
    for (uint32_t i = 0; i < count; i++) {
        origins[i] = records[i].origin;
    }
    reader->batch->origins = origins;
    reader->batch->origin = UINT32_MAX; /* not to be looked at */
}

static void
fill_small(run_reader *reader, const test_record *records, uint32_t count)
{
    sinter_batch *batch = reader->batch;
    int64_t *sequences = column(reader, (size_t)count * 8);
    uint8_t *kinds = column(reader, count);
    uint8_t *dropped = column(reader, count);
    bool has_dropped = false;

    for (uint32_t i = 0; i < count; i++) {
        sequences[i] = records[i].sequence;
        kinds[i] = records[i].kind;
        dropped[i] = records[i].dropped;
        has_dropped = has_dropped || dropped[i] != 0;
        batch->retract_count += sinter_kind_is_retract(kinds[i]) ? 1 : 0;
    }
    batch->sequences = sequences;
    batch->kinds = kinds;
    batch->dropped = has_dropped ? dropped : NULL;
}

static sinter_status
fill_payload(run_reader *reader, const test_record *records, uint32_t count, sinter_error *err)
{
    sinter_batch *batch = reader->batch;

    if (reader->world->payload == RUN_PAYLOAD_BYTES) {
        batch->payload_ops = &run_bytes_payload_ops;
        batch->payload = reader->rows;
        return SINTER_OK;
    }
    columnar_builder_reset(&reader->columns);
    for (uint32_t i = 0; i < count; i++) {
        SINTER__CHECK(columnar_builder_add_value(&reader->columns, records[i].value, err));
    }
    batch->payload_ops = &columnar_payload_ops;
    batch->payload = columnar_builder_payload(&reader->columns);
    return SINTER_OK;
}

/* A new batch of the next rows, without columns yet. */
static const test_record *
batch_begin(run_reader *reader, uint32_t flags)
{
    const test_record *records = reader->run->records + reader->at;

    spoil(reader);
    reader->batch = calloc(1, sizeof *reader->batch);
    reader->rows = calloc(1, sizeof *reader->rows);
    if (reader->batch == NULL || reader->rows == NULL) {
        abort();
    }
    reader->rows->records = records;
    reader->rows->count = (uint32_t)reader->next_rows;
    reader->batch->struct_size = sizeof *reader->batch;
    reader->batch->flags = flags;
    reader->batch->row_count = (uint32_t)reader->next_rows;
    reader->at += reader->next_rows;
    choose_next_rows(reader);
    return records;
}

static sinter_status
run_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    run_reader *reader = (run_reader *)base;
    const uint32_t count = (uint32_t)reader->next_rows;
    const test_record *records = NULL;

    *out = NULL;
    SINTER__CHECK(world_call(reader->world, err));
    if (count == 0) {
        spoil(reader);
        return SINTER_END;
    }
    records = batch_begin(reader, 0);
    fill_keys(reader, records, count);
    fill_small(reader, records, count);
    fill_origins(reader, records, count);
    if (reader->world->has_orders) {
        fill_orders(reader, records, count);
    }
    SINTER__CHECK(fill_payload(reader, records, count, err));
    reader->world->decoded_rows += count;
    *out = reader->batch;
    return SINTER_OK;
}

/* Copy the keys of the info, so that keeping them too long is found out. */
static void
info_copy_keys(run_reader *reader)
{
    sinter_bytes *first = &reader->info.first_key;
    sinter_bytes *last = &reader->info.last_key;

    reader->info_keys = malloc(first->size + last->size + 1);
    if (reader->info_keys == NULL) {
        abort();
    }
    if (first->size > 0) {
        memcpy(reader->info_keys, first->data, first->size);
    }
    if (last->size > 0) {
        memcpy(reader->info_keys + first->size, last->data, last->size);
    }
    first->data = reader->info_keys;
    last->data = reader->info_keys + first->size;
}

static sinter_status
run_peek(sinter_reader *base, const sinter_block_info **out, sinter_error *err)
{
    run_reader *reader = (run_reader *)base;
    const test_record *records = reader->run->records + reader->at;
    sinter_block_info *info = &reader->info;

    *out = NULL;
    SINTER__CHECK(world_call(reader->world, err));
    if (reader->next_rows == 0) {
        return SINTER_END;
    }
    if (reader->info_keys != NULL) {
        *out = info; /* peeked already */
        return SINTER_OK;
    }
    *info = (sinter_block_info){
        .struct_size = sizeof *info,
        .row_count = (uint32_t)reader->next_rows,
        .is_whole = true,
        .is_last = reader->at + reader->next_rows == reader->run->count,
        .first_key = records[0].key,
        .last_key = records[reader->next_rows - 1].key,
        .sequence_min = INT64_MAX,
        .sequence_max = INT64_MIN,
    };
    for (size_t i = 0; i < reader->next_rows; i++) {
        const int64_t sequence = records[i].sequence;

        info->retract_count += sinter_kind_is_retract(records[i].kind) ? 1 : 0;
        info->raw_bytes += records[i].key.size + records[i].value.size;
        info->sequence_min = sequence < info->sequence_min ? sequence : info->sequence_min;
        info->sequence_max = sequence > info->sequence_max ? sequence : info->sequence_max;
        info->is_whole = info->is_whole && records[i].dropped == 0;
    }
    info->stored_bytes = info->raw_bytes + (uint64_t)BLOCK_ROW_OVERHEAD * info->row_count;
    info->first_prefix = sinter__key_prefix(info->first_key.data + reader->world->prefix_skip,
                                            info->first_key.size - reader->world->prefix_skip);
    info_copy_keys(reader);
    *out = info;
    return SINTER_OK;
}

static sinter_status
run_take(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    run_reader *reader = (run_reader *)base;

    *out = NULL;
    SINTER__CHECK(world_call(reader->world, err));
    if (reader->next_rows == 0) {
        reader->world->complaint = "take at the end of a run";
        return SINTER_END;
    }
    batch_begin(reader, SINTER_BATCH_STORED);
    reader->batch->payload = reader->rows;
    reader->batch->payload_ops = &run_bytes_payload_ops;
    reader->world->taken_blocks++;
    *out = reader->batch;
    return SINTER_OK;
}

static void
run_close(sinter_reader *base)
{
    run_reader *reader = (run_reader *)base;

    spoil(reader);
    columnar_builder_fini(&reader->columns);
    reader->world->live_readers--;
    free(reader);
}

static const sinter_reader_ops run_ops = {
    .struct_size = sizeof(sinter_reader_ops),
    .next = run_next,
    .close = run_close,
};

static const sinter_reader_ops run_block_ops = {
    .struct_size = sizeof(sinter_reader_ops),
    .next = run_next,
    .peek = run_peek,
    .take = run_take,
    .close = run_close,
};

sinter_status
run_reader_open(run_world *world, const test_run *run, uint32_t index, sinter_reader **out,
                sinter_error *err)
{
    run_reader *reader = NULL;

    *out = NULL;
    SINTER__CHECK(world_call(world, err));
    reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        abort();
    }
    reader->base.ops = world->has_blocks ? &run_block_ops : &run_ops;
    reader->world = world;
    reader->run = run;
    reader->rng.state = world->batch_seed + index;
    reader->columns.env = sinter_env_default();
    reader->columns.resets = index;
    choose_next_rows(reader);
    world->live_readers++;
    if (world->live_readers > world->live_readers_max) {
        world->live_readers_max = world->live_readers;
    }
    *out = &reader->base;
    return SINTER_OK;
}

sinter_status
run_source_open(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err)
{
    run_source *source = ctx;

    (void)env;
    if (source->was_opened) {
        source->world->complaint = "a run was opened twice";
    }
    source->was_opened = true;
    if (source->world->open_order != NULL) {
        source->world->open_order[source->world->open_count++] = source->index;
    }
    return run_reader_open(source->world, source->run, source->index, out, err);
}
