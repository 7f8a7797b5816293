/*
 * The batch builder: single records become columns.
 */
#include "base/bytes.h"
#include "sinter/sst.h"
#include "sst/open_block.h"
#include "sst/payload.h"

struct sinter_batch_builder {
    const sinter_env *env;
    sinter__open_block block;
    sinter__scratch prefixes;
    bool has_one_width; /* all keys so far have the size of the first */
    uint32_t retracts;
    sinter__sst_payload payload;
    sinter_batch batch;
};

sinter_status
sinter_batch_builder_create(const sinter_env *env, sinter_batch_builder **out, sinter_error *err)
{
    sinter_batch_builder *builder = NULL;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, builder, 1, err));
    builder->env = env;
    builder->block.env = env;
    *out = builder;
    return SINTER_OK;
}

void
sinter_batch_builder_destroy(sinter_batch_builder *builder)
{
    if (builder != NULL) {
        sinter__open_block_fini(&builder->block);
        sinter__scratch_fini(builder->env, &builder->prefixes);
        sinter__free(builder->env, builder);
    }
}

/** Make room for a record, its prefix, and the slack that readers of the batch may touch. */
static inline sinter_status
fit_record(sinter_batch_builder *builder, size_t key_size, size_t value_size, sinter_error *err)
{
    sinter__open_block *block = &builder->block;
    const size_t keys = block->key_bytes + key_size + SINTER__SST_SLACK_BYTES;
    const size_t values = block->value_bytes + value_size + SINTER__SST_SLACK_BYTES;

    if (block->rows < block->row_capacity && keys <= block->key_memory.capacity &&
        values <= block->value_memory.capacity &&
        builder->prefixes.capacity / sizeof(uint64_t) >= block->row_capacity) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__open_block_fit_rows(block, block->rows + 1, err));
    SINTER__CHECK(sinter__scratch_grow(builder->env, &builder->prefixes,
                                       block->row_capacity * sizeof(uint64_t), err));
    SINTER__CHECK(sinter__open_block_fit_keys(block, keys, err));
    return sinter__open_block_fit_values(block, values, err);
}

sinter_status
sinter_batch_builder_add(sinter_batch_builder *builder, sinter_bytes key, int64_t sequence,
                         uint8_t kind, sinter_bytes value, sinter_error *err)
{
    const sinter__single_row row = {key, value, sequence, kind};
    sinter__open_block *block = NULL;
    uint64_t *prefixes = NULL;

    SINTER__REQUIRE(err, builder != NULL);
    SINTER__REQUIRE(err, key.data != NULL || key.size == 0);
    SINTER__REQUIRE(err, value.data != NULL || value.size == 0);
    SINTER__REQUIRE(err, kind <= SINTER_KIND_DELETE);
    block = &builder->block;
    if (key.size > SINTER_KEY_BYTES_MAX || value.size > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a key of %zu bytes (at most 1 MiB) or a value of %zu (at most 1 GiB)",
                           key.size, value.size);
    }
    if ((uint64_t)block->raw + key.size + value.size > UINT32_MAX - SINTER__SST_SLACK_BYTES ||
        block->rows >= UINT32_MAX / 4) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a batch holds less than 4 GiB");
    }
    SINTER__CHECK(fit_record(builder, key.size, value.size, err));
    prefixes = (uint64_t *)(void *)builder->prefixes.data;
    builder->has_one_width =
        block->rows == 0 || (builder->has_one_width && key.size == block->key_offsets[1]);
    assert(block->rows < block->row_capacity);
    assert(builder->prefixes.capacity >= block->row_capacity * sizeof(uint64_t));
    prefixes[block->rows] = sinter__key_prefix(key.data, key.size);
    sinter__open_block_add(block, &row);
    builder->retracts += sinter_kind_is_retract(kind) ? 1u : 0u;
    return SINTER_OK;
}

size_t
sinter_batch_builder_bytes(const sinter_batch_builder *builder)
{
    return builder->block.raw;
}

const sinter_batch *
sinter_batch_builder_batch(sinter_batch_builder *builder)
{
    const sinter__open_block *block = &builder->block;
    const bool is_fixed = block->rows > 0 && builder->has_one_width;

    assert(block->raw == block->key_bytes + block->value_bytes);
    assert(builder->retracts <= block->rows);
    builder->payload =
        (sinter__sst_payload){.values = block->values, .value_offsets = block->value_offsets};
    builder->batch = (sinter_batch){
        .struct_size = (uint32_t)sizeof builder->batch,
        .row_count = block->rows,
        .keys = block->keys,
        .key_width = is_fixed ? block->key_offsets[1] : 0,
        .key_offsets = is_fixed ? NULL : block->key_offsets,
        .prefixes = (const uint64_t *)(const void *)builder->prefixes.data,
        .sequences = block->sequences,
        .kinds = block->kinds,
        .retract_count = builder->retracts,
        .payload = &builder->payload,
        .payload_ops = &sinter__sst_payload_ops,
    };
    return &builder->batch;
}

void
sinter_batch_builder_reset(sinter_batch_builder *builder)
{
    sinter__open_block_reset(&builder->block);
    builder->retracts = 0;
}
