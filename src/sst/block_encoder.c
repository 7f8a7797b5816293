/*
 * Keys seldom gain from a codec, so it is tried on the first block and then on one of sixteen, and
 * used in between as the last trial found.
 */
#include "sst/block_encoder.h"

#include <string.h>

#include "base/hash.h"

enum { KEY_TRIAL_BLOCKS = 16 };

sinter__sst_columns
sinter__open_block_columns(const sinter__open_block *block)
{
    return (sinter__sst_columns){.rows = block->rows,
                                 .keys = block->keys,
                                 .key_offsets = block->key_offsets,
                                 .value_offsets = block->value_offsets,
                                 .sequences = block->sequences,
                                 .kinds = block->kinds};
}

/** Put the value part at `out`; without a codec it stands there already. */
static sinter_status
put_values(sinter__block_encoder *encoder, sinter_bytes raw, uint8_t *out, sinter__sst_entry *entry,
           sinter_error *err)
{
    const bool has_codec = encoder->choice.codec != SINTER_CODEC_NONE;
    size_t stored = raw.size;

    assert(has_codec || raw.data == out);
    entry->value_raw = (uint32_t)raw.size;
    entry->value_codec = SINTER_CODEC_NONE;
    if (has_codec && raw.size > 0) {
        SINTER__CHECK(
            sinter__codec_encode(&encoder->contexts, encoder->choice, raw, out, &stored, err));
        if (stored < raw.size) {
            entry->value_codec = (uint8_t)encoder->choice.codec;
        } else {
            memcpy(out, raw.data, raw.size);
            stored = raw.size;
        }
    }
    assert(stored <= raw.size);
    entry->value_stored = (uint32_t)stored;
    entry->value_checksum = sinter__hash(out, stored);
    return SINTER_OK;
}

static bool
is_key_trial(const sinter__block_encoder *encoder)
{
    return encoder->blocks % KEY_TRIAL_BLOCKS == 0;
}

/** Put the key part through the codec, if that gains an eighth. */
static sinter_status
put_packed_keys(sinter__block_encoder *encoder, const sinter__open_block *block,
                const sinter__sst_summary *summary, uint8_t *out, sinter__sst_entry *entry,
                sinter_error *err)
{
    const sinter__sst_columns columns = sinter__open_block_columns(block);
    const size_t bound = sinter__sst_key_part_bound(block->rows, block->key_bytes);
    sinter_bytes raw = {NULL, 0};
    size_t stored = 0;

    SINTER__CHECK(sinter__scratch_fit(encoder->contexts.env, &encoder->key_part, bound, err));
    raw.data = encoder->key_part.data;
    raw.size = sinter__sst_put_key_part(encoder->key_part.data, &columns, summary);
    assert(raw.size <= bound);
    SINTER__CHECK(
        sinter__codec_encode(&encoder->contexts, encoder->choice, raw, out, &stored, err));
    if (is_key_trial(encoder)) {
        encoder->keys_are_packed = stored + raw.size / 8 < raw.size;
    }
    if (encoder->keys_are_packed && stored < raw.size) {
        entry->key_codec = (uint8_t)encoder->choice.codec;
    } else {
        memcpy(out, raw.data, raw.size);
        stored = raw.size;
    }
    entry->key_raw = (uint32_t)raw.size;
    entry->key_stored = (uint32_t)stored;
    return SINTER_OK;
}

static sinter_status
put_keys(sinter__block_encoder *encoder, const sinter__open_block *block,
         const sinter__sst_summary *summary, uint8_t *out, sinter__sst_entry *entry,
         sinter_error *err)
{
    const bool may_pack = encoder->choice.codec != SINTER_CODEC_NONE;

    entry->key_codec = SINTER_CODEC_NONE;
    if (may_pack && (is_key_trial(encoder) || encoder->keys_are_packed)) {
        SINTER__CHECK(put_packed_keys(encoder, block, summary, out, entry, err));
    } else {
        const sinter__sst_columns columns = sinter__open_block_columns(block);

        entry->key_raw = (uint32_t)sinter__sst_put_key_part(out, &columns, summary);
        entry->key_stored = entry->key_raw;
    }
    entry->key_checksum = sinter__hash(out, entry->key_stored);
    return SINTER_OK;
}

sinter_status
sinter__block_encoder_put(sinter__block_encoder *encoder, sinter__open_block *block,
                          const sinter__sst_summary *summary, sinter__sst_entry *entry,
                          sinter_error *err)
{
    const int codec = encoder->choice.codec;
    const size_t key_bound = sinter__sst_key_part_bound(block->rows, block->key_bytes);
    const size_t bound = sinter__codec_bound(codec, block->value_bytes) +
                         sinter__codec_bound(codec, key_bound) + SINTER__SST_TRAILER_BYTES;
    uint8_t *out = NULL;

    assert(block->rows > 0 && block->rows <= SINTER__SST_BLOCK_ROWS_MAX);
    assert(block->raw == block->key_bytes + block->value_bytes);
    SINTER__CHECK(sinter__sst_sink_reserve(encoder->sink, bound, &out, err));
    if (codec == SINTER_CODEC_NONE) {
        block->values = out;
    }
    entry->offset = sinter__sst_sink_offset(encoder->sink);
    entry->streams = 1;
    SINTER__CHECK(
        put_values(encoder, (sinter_bytes){block->values, block->value_bytes}, out, entry, err));
    out += entry->value_stored;
    SINTER__CHECK(put_keys(encoder, block, summary, out, entry, err));
    out += entry->key_stored;
    sinter__sst_put_trailer(out, entry);
    encoder->blocks++;
    return sinter__sst_sink_commit(encoder->sink, (size_t)sinter__sst_entry_stored(entry), err);
}

void
sinter__block_encoder_fini(sinter__block_encoder *encoder)
{
    const sinter_env *env = encoder->contexts.env;

    if (env != NULL) {
        sinter__scratch_fini(env, &encoder->key_part);
        sinter__codec_fini(&encoder->contexts);
    }
}
