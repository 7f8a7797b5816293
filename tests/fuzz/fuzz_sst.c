/*
 * Arbitrary bytes as an sst file, used in every way a file can be used. Fuzz builds don't compare
 * checksums, so changed bytes get past them.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/io.h"
#include "sinter/sst.h"

enum { BUDGET_BYTES = 64 << 20, SEEK_KEY_MAX = 64 };

static const char path[] = "f.sst";

/** Add bytes to a sum, so that each of them is really read. */
static uint64_t
touch(sinter_bytes bytes)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes.size; i++) {
        sum += bytes.data[i];
    }
    return sum;
}

static uint64_t
touch_batch(const sinter_batch *batch)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < batch->row_count; i++) {
        const sinter_bytes key = sinter_batch_key(batch, i);

        sum += touch(key) + touch(batch->payload_ops->value(batch, i));
        sum += batch->prefixes[i] + (uint64_t)batch->sequences[i] + batch->kinds[i];
        assert(i == 0 || batch->prefixes[i] >= batch->prefixes[i - 1]);
    }
    return sum;
}

/** Read batches; every other block that can be is taken as stored. Remembers a key on the way. */
static uint64_t
read_through(sinter_reader *reader, uint8_t *key, size_t *key_size, bool may_take)
{
    uint64_t sum = 0;

    for (unsigned i = 0;; i++) {
        const sinter_block_info *info = NULL;
        const sinter_batch *batch = NULL;
        sinter_status st = reader->ops->peek(reader, &info, NULL);

        if (st != SINTER_OK) {
            break;
        }
        *key_size = info->last_key.size < SEEK_KEY_MAX ? info->last_key.size : SEEK_KEY_MAX;
        memcpy(key, info->last_key.data, *key_size);
        if (may_take && info->is_whole && i % 2 == 1) {
            st = reader->ops->take(reader, &batch, NULL);
        } else {
            st = reader->ops->next(reader, &batch, NULL);
            sum += st == SINTER_OK ? touch_batch(batch) : 0;
        }
        if (st != SINTER_OK) {
            break;
        }
    }
    return sum;
}

static uint64_t
use_reader(const sinter_env *env, uint8_t *key, size_t *key_size)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_read_options ways[] = {
        {.struct_size = sizeof(sinter_read_options), .read_bytes = 1000},
        {.struct_size = sizeof(sinter_read_options), .keys_only = true},
        {.struct_size = sizeof(sinter_read_options),
         .has_begin_key = true,
         .begin_key = {(const uint8_t *)"k", 1},
         .has_end_key = true,
         .end_key = {(const uint8_t *)"s", 1},
         .key_prefix_skip = 1},
    };
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        sinter_reader *reader = NULL;

        if (format->open_reader(format->self, env, path, &ways[i], &reader, NULL) != SINTER_OK) {
            continue;
        }
        sum += read_through(reader, key, key_size, i == 0);
        if (reader->ops->seek(reader, (sinter_bytes){key, *key_size}, NULL) == SINTER_OK) {
            sum += read_through(reader, key, key_size, false);
        }
        reader->ops->close(reader);
    }
    return sum;
}

static sinter_status
count_block(void *ctx, const sinter_sst_block *block)
{
    uint64_t *sum = ctx;

    *sum += block->row_count + touch(block->first_key) + touch(block->last_key);
    return SINTER_OK;
}

static uint64_t
use_sst(const sinter_env *env, sinter_bytes key)
{
    sinter_sst_properties properties = {.struct_size = sizeof properties};
    sinter_sst *sst = NULL;
    sinter_row row;
    uint64_t sum = 0;

    if (sinter_sst_open(env, path, &sst, NULL) != SINTER_OK) {
        return 0;
    }
    sinter_sst_properties_get(sst, &properties);
    sum += touch(properties.min_key) + touch(properties.max_key) + strlen(properties.key_types) +
           strlen(properties.row_type) + strlen(properties.writer_version);
    sum += sinter_sst_user_property(sst, "who") != NULL;
    sum += (uint64_t)sinter_sst_each_block(sst, count_block, &sum, NULL);
    if (sinter_sst_get(sst, properties.min_key, &row, NULL) == SINTER_OK) {
        sum += touch_batch(row.batch);
    }
    if (sinter_sst_get(sst, key, &row, NULL) == SINTER_OK) {
        sum += touch_batch(row.batch);
    }
    sinter_sst_close(sst);
    return sum;
}

static void
put_file(sinter_io *io, const uint8_t *data, size_t size)
{
    sinter_io_file *file = NULL;

    if (io->ops->create(io, ".", 0, &file, NULL) != SINTER_OK ||
        file->ops->append(file, data, size, NULL) != SINTER_OK ||
        file->ops->publish(file, path, NULL) != SINTER_OK) {
        abort();
    }
    file->ops->close(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile uint64_t sink;
    sinter_env env;
    uint8_t key[SEEK_KEY_MAX] = {0};
    size_t key_size = 0;

    sinter_env_init(&env);
    if (sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &env.io, NULL) !=
            SINTER_OK ||
        sinter_memory_create(&env, BUDGET_BYTES, &env.memory, NULL) != SINTER_OK) {
        abort();
    }
    put_file(env.io, data, size);
    sink += use_reader(&env, key, &key_size);
    sink += use_sst(&env, (sinter_bytes){key, key_size});
    sink += (uint64_t)sinter_sst_verify(&env, path, NULL, NULL);
    (void)sink;
    sinter_memory_destroy(env.memory);
    sinter_io_destroy(env.io);
    return 0;
}
