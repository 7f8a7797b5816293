/*
 * Keys seldom gain from a codec, and front coding costs time on both sides, so both are tried on
 * the first block and then on one of sixteen, and used in between as the last trial found.
 */
#include "sst/block_encoder.h"

#include <string.h>

#include "base/hash.h"
#include "sst/filter.h"
#include "sst/front.h"
#include "sst/pack.h"

enum {
    KEY_TRIAL_BLOCKS = 16,
    FRONT_CODING_GAIN = 4 /* bytes of a key that are worth the time */
};

sinter__key_packing
sinter__key_trials_next(sinter__key_trials *trials)
{
    const bool is_trial = trials->blocks % KEY_TRIAL_BLOCKS == 0;

    trials->blocks++;
    if (is_trial) {
        return SINTER__KEYS_TRIED;
    }
    return trials->gains;
}

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

size_t
sinter__block_encoder_bound(int codec, const sinter__open_block *block)
{
    const size_t key_bound = sinter__sst_key_part_bound(block->rows, block->key_bytes);

    return sinter__codec_bound(codec, block->value_bytes) + sinter__codec_bound(codec, key_bound) +
           SINTER__SST_TRAILER_BYTES;
}

/** Keys of the block, as a column of one width if they have one. */
static sinter__keys
block_keys(const sinter__open_block *block, const sinter__sst_summary *summary)
{
    const bool is_fixed = summary->key_bytes.min == summary->key_bytes.max;

    return (sinter__keys){.data = block->keys,
                          .offsets = is_fixed ? NULL : block->key_offsets,
                          .width = summary->key_bytes.min,
                          .rows = block->rows};
}

/** Have the keys front-coded; in a trial if that leaves out four bytes of each on average. */
static sinter_status
plan_front_coding(sinter__block_encoder *encoder, sinter__encoding *encoding,
                  sinter__sst_columns *columns, sinter_error *err)
{
    const uint32_t rows = columns->rows;
    const uint64_t key_bytes = encoding->entry.key_bytes;
    const bool is_trial = encoding->packing == SINTER__KEYS_TRIED;
    uint32_t *shared = NULL;
    sinter__front front;

    if ((!is_trial && (encoding->packing & SINTER__KEYS_FRONT_CODED) == 0) ||
        key_bytes > SINTER__SST_FRONT_CODED_KEY_BYTES_MAX) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__scratch_fit(encoder->contexts.env, &encoder->shared,
                                      ((size_t)rows + 1) * sizeof *shared, err));
    shared = (uint32_t *)(void *)encoder->shared.data;
    front = sinter__front_measure(columns->keys, columns->key_offsets, rows, shared);
    if (is_trial) {
        const uint64_t lengths = sinter__pack_bytes(rows, sinter__pack_width(front.max));

        if (front.sum < lengths + (uint64_t)FRONT_CODING_GAIN * rows) {
            return SINTER_OK;
        }
        encoding->keys_gain |= SINTER__KEYS_FRONT_CODED;
    }
    columns->shared = shared;
    columns->shared_max = front.max;
    return SINTER_OK;
}

/** Do the keys of the block ascend? As sinter__keys_ascend(). */
static sinter_status
check_ascent(sinter__block_encoder *encoder, const sinter__encoding *encoding,
             const sinter__keys *keys, const sinter__sst_columns *columns, sinter_error *err)
{
    bool is_right = false;
    uint32_t row = 0;

    if (columns->shared != NULL) {
        is_right = sinter__front_ascends(columns->keys, columns->key_offsets, columns->shared,
                                         columns->rows, &row);
    } else {
        uint64_t *prefixes = NULL;

        SINTER__CHECK(sinter__scratch_fit(encoder->contexts.env, &encoder->prefixes,
                                          keys->rows * sizeof *prefixes, err));
        prefixes = (uint64_t *)(void *)encoder->prefixes.data;
        sinter__keys_prefixes(keys, 0, prefixes);
        is_right = sinter__keys_ascend(keys, prefixes, &row);
    }
    if (!is_right) {
        return SINTER__ERR(err, SINTER_E_INVALID, "rows are not in ascending key order: row %llu",
                           (unsigned long long)encoding->first_row + row);
    }
    return SINTER_OK;
}

/** Refuse what no reader would take back. */
static sinter_status
check_summary(const sinter__sst_summary *summary, sinter_error *err)
{
    if (summary->key_bytes.max > SINTER_KEY_BYTES_MAX ||
        summary->value_bytes.max > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a key has more than 1 MiB or a value more than 1 GiB");
    }
    if (summary->kinds_or > SINTER_KIND_DELETE) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a row has an unknown kind");
    }
    return SINTER_OK;
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

/** Put the key part through the codec; a trial says whether that gains an eighth. */
static sinter_status
put_packed_keys(sinter__block_encoder *encoder, sinter__encoding *encoding,
                const sinter__sst_columns *columns, const sinter__sst_summary *summary,
                uint8_t *out, sinter_error *err)
{
    sinter__sst_entry *entry = &encoding->entry;
    const size_t bound = sinter__sst_key_part_bound(columns->rows, entry->key_bytes);
    bool is_packed = encoding->packing != SINTER__KEYS_TRIED;
    sinter_bytes raw = {NULL, 0};
    size_t stored = 0;

    SINTER__CHECK(sinter__scratch_fit(encoder->contexts.env, &encoder->key_part, bound, err));
    raw.data = encoder->key_part.data;
    raw.size = sinter__sst_put_key_part(encoder->key_part.data, columns, summary);
    assert(raw.size <= bound);
    SINTER__CHECK(
        sinter__codec_encode(&encoder->contexts, encoder->choice, raw, out, &stored, err));
    if (!is_packed && stored + raw.size / 8 < raw.size) {
        encoding->keys_gain |= SINTER__KEYS_PACKED;
        is_packed = true;
    }
    if (is_packed && stored < raw.size) {
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
put_keys(sinter__block_encoder *encoder, sinter__encoding *encoding,
         const sinter__sst_columns *columns, const sinter__sst_summary *summary, uint8_t *out,
         sinter_error *err)
{
    const bool may_pack = encoder->choice.codec != SINTER_CODEC_NONE;
    sinter__sst_entry *entry = &encoding->entry;

    entry->key_codec = SINTER_CODEC_NONE;
    if (may_pack && (encoding->packing & (SINTER__KEYS_PACKED | SINTER__KEYS_TRIED)) != 0) {
        SINTER__CHECK(put_packed_keys(encoder, encoding, columns, summary, out, err));
    } else {
        entry->key_raw = (uint32_t)sinter__sst_put_key_part(out, columns, summary);
        entry->key_stored = entry->key_raw;
    }
    entry->key_checksum = sinter__hash(out, entry->key_stored);
    return SINTER_OK;
}

static sinter_status
make_filter(const sinter__block_encoder *encoder, sinter__encoding *encoding,
            const sinter__keys *keys, sinter_error *err)
{
    const size_t size = sinter__filter_bytes(keys->rows, encoder->filter_bits);

    SINTER__CHECK(sinter__scratch_fit(encoder->contexts.env, encoding->filter, size, err));
    sinter__filter_put(encoding->filter->data, keys, encoder->filter_bits);
    encoding->entry.filter_size = (uint32_t)size;
    return SINTER_OK;
}

sinter_status
sinter__block_encoder_run(sinter__block_encoder *encoder, sinter__encoding *encoding,
                          sinter_error *err)
{
    const sinter__open_block *block = encoding->block;
    sinter__sst_columns columns = sinter__open_block_columns(block);
    sinter__sst_entry *entry = &encoding->entry;
    uint8_t *out = encoding->out;
    sinter__sst_summary summary;
    sinter__keys keys;

    assert(block->rows > 0 && block->rows <= SINTER__SST_BLOCK_ROWS_MAX);
    assert(block->raw == block->key_bytes + block->value_bytes);
    sinter__sst_summarize(&columns, &summary);
    keys = block_keys(block, &summary);
    SINTER__CHECK(check_summary(&summary, err));
    *entry = (sinter__sst_entry){
        .rows = block->rows,
        .retracts = summary.retracts,
        .key_bytes = block->key_bytes,
        .sequence_min = summary.sequence_min,
        .sequence_max = summary.sequence_max,
        .first_key = sinter__keys_at(&keys, 0),
        .last_key = sinter__keys_at(&keys, keys.rows - 1),
        .streams = 1,
    };
    encoding->keys_gain = SINTER__KEYS_PLAIN;
    SINTER__CHECK(plan_front_coding(encoder, encoding, &columns, err));
    entry->keys_front_coded = columns.shared != NULL;
    SINTER__CHECK(check_ascent(encoder, encoding, &keys, &columns, err));
    SINTER__CHECK(
        put_values(encoder, (sinter_bytes){block->values, block->value_bytes}, out, entry, err));
    out += entry->value_stored;
    SINTER__CHECK(put_keys(encoder, encoding, &columns, &summary, out, err));
    out += entry->key_stored;
    sinter__sst_put_trailer(out, entry);
    return encoder->filter_bits == 0 ? SINTER_OK : make_filter(encoder, encoding, &keys, err);
}

void
sinter__block_encoder_fini(sinter__block_encoder *encoder)
{
    const sinter_env *env = encoder->contexts.env;

    if (env != NULL) {
        sinter__scratch_fini(env, &encoder->key_part);
        sinter__scratch_fini(env, &encoder->prefixes);
        sinter__scratch_fini(env, &encoder->shared);
        sinter__codec_fini(&encoder->contexts);
    }
}
