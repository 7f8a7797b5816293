/*
 * An open file: its properties, its blocks, and single keys.
 */
#include "sinter/sst.h"

#include <string.h>

#include "base/bytes.h"
#include "base/load.h"
#include "sst/block.h"
#include "sst/filter.h"
#include "sst/index_cursor.h"
#include "sst/payload.h"
#include "sst/properties.h"

struct sinter_sst {
    const sinter_env *env;
    sinter__sst_file file;
    sinter__index_cursor cursor;
    sinter__leaf leaf;
    bool has_leaf;
    sinter__scratch filters; /* of `leaf`, if has_filters */
    bool has_filters;
    sinter__scratch stored; /* the block read last */
    sinter__sst_decoder decoder;
    sinter__sst_payload payload;
    sinter_batch batch;
};

void
sinter_sst_close(sinter_sst *sst)
{
    if (sst == NULL) {
        return;
    }
    sinter__sst_decoder_fini(&sst->decoder);
    sinter__scratch_fini(sst->env, &sst->stored);
    sinter__scratch_fini(sst->env, &sst->filters);
    sinter__leaf_fini(sst->env, &sst->leaf);
    sinter__index_cursor_fini(&sst->cursor);
    sinter__sst_file_close(&sst->file);
    sinter__free(sst->env, sst);
}

sinter_status
sinter_sst_open(const sinter_env *env, const char *path, sinter_sst **out, sinter_error *err)
{
    const sinter__sst_open_options options = {.flags = 0};
    sinter_sst *sst = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && path != NULL && out != NULL);
    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, sst, 1, err));
    sst->env = env;
    SINTER__TRY(sinter__sst_file_open(env, path, &options, &sst->file, err));
    sst->cursor.file = &sst->file;
    sst->decoder.env = env;
    sst->decoder.codec.env = env;
    sst->decoder.path = sst->file.path;
    *out = sst;
    sst = NULL;
out:
    sinter_sst_close(sst);
    return st;
}

void
sinter_sst_properties_get(const sinter_sst *sst, sinter_sst_properties *out)
{
    sinter__struct_store(out, &sst->file.properties, sizeof sst->file.properties);
}

const char *
sinter_sst_user_property(const sinter_sst *sst, const char *name)
{
    const sinter_bytes section = {sst->file.section.data, (size_t)sst->file.footer.properties_size};

    return name == NULL ? NULL : sinter__sst_find_property(section, name);
}

static void
describe_block(const sinter__sst_entry *entry, sinter_sst_block *out)
{
    *out = (sinter_sst_block){
        .struct_size = (uint32_t)sizeof *out,
        .row_count = entry->rows,
        .retract_count = entry->retracts,
        .filter_bytes = entry->filter_size,
        .offset = entry->offset,
        .key_raw_bytes = entry->key_raw,
        .key_stored_bytes = entry->key_stored,
        .value_raw_bytes = entry->value_raw,
        .value_stored_bytes = entry->value_stored,
        .key_codec = entry->key_codec,
        .value_codec = entry->value_codec,
        .sequence_min = entry->sequence_min,
        .sequence_max = entry->sequence_max,
        .first_key = entry->first_key,
        .last_key = entry->last_key,
        .key_bytes = entry->key_bytes,
        .keys_front_coded = entry->keys_front_coded,
    };
}

sinter_status
sinter_sst_each_block(sinter_sst *sst,
                      sinter_status (*each)(void *ctx, const sinter_sst_block *block), void *ctx,
                      sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, sst != NULL && each != NULL);
    sst->has_leaf = false;
    sst->cursor.is_placed = false;
    for (;;) {
        st = sinter__index_cursor_next(&sst->cursor, &sst->leaf, err);
        if (st != SINTER_OK) {
            break;
        }
        for (uint32_t i = 0; i < sst->leaf.count; i++) {
            sinter_sst_block block;

            describe_block(&sst->leaf.entries[i], &block);
            st = each(ctx, &block);
            if (st != SINTER_OK) {
                return st;
            }
        }
    }
    if (st < 0) {
        sinter__fail_file(err, sst->file.path);
    }
    return st == SINTER_END ? SINTER_OK : st;
}

/** Have the leaf page that would hold the key. SINTER_END: none. */
static sinter_status
find_leaf(sinter_sst *sst, sinter_bytes key, sinter_error *err)
{
    const sinter__leaf *leaf = &sst->leaf;

    assert(!sst->has_filters || sst->has_leaf);
    if (sst->has_leaf && leaf->count > 0 &&
        sinter__key_compare(leaf->entries[0].first_key, key) <= 0 &&
        sinter__key_compare(key, leaf->entries[leaf->count - 1].last_key) <= 0) {
        return SINTER_OK;
    }
    sst->has_leaf = false;
    sst->has_filters = false;
    SINTER__CHECK(sinter__index_cursor_seek(&sst->cursor, key, &sst->leaf, err));
    sst->has_leaf = true;
    return SINTER_OK;
}

/** Does the block's filter let the key through? Blocks without one let all through. */
static sinter_status
ask_filter(sinter_sst *sst, const sinter__sst_entry *entry, sinter_bytes key, bool *maybe_out,
           sinter_error *err)
{
    sinter_bytes filter = {NULL, entry->filter_size};

    assert(sst->has_leaf);
    *maybe_out = true;
    if (entry->filter_size == 0) {
        return SINTER_OK;
    }
    if (!sst->has_filters) {
        SINTER__CHECK(sinter__leaf_load_filters(&sst->file, &sst->leaf, &sst->filters, err));
        sst->has_filters = true;
    }
    assert(entry->filter_offset + (uint64_t)entry->filter_size <= sst->leaf.filter_size);
    filter.data = sst->filters.data + entry->filter_offset;
    if (!sinter__filter_ok(filter)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, sst->file.path,
                              sst->leaf.filter_offset + entry->filter_offset,
                              "a key filter is malformed");
    }
    *maybe_out = sinter__filter_may_hold(filter, key);
    return SINTER_OK;
}

/** Let the batch show one row of the decoded block. */
static void
show_row(sinter_sst *sst, uint32_t row)
{
    const sinter__sst_decoded *decoded = &sst->decoder.out;
    const sinter__keys *keys = &decoded->keys;

    assert(row < keys->rows);
    assert(decoded->values != NULL);
    sst->payload = (sinter__sst_payload){.values = decoded->values,
                                         .value_offsets = decoded->value_offsets + row,
                                         .format_tag = sst->file.format_tag};
    sst->batch = (sinter_batch){
        .struct_size = (uint32_t)sizeof sst->batch,
        .row_count = 1,
        .key_width = keys->width,
        .keys = keys->offsets != NULL ? keys->data : keys->data + (size_t)row * keys->width,
        .key_offsets = keys->offsets == NULL ? NULL : keys->offsets + row,
        .prefixes = decoded->prefixes + row,
        .sequences = decoded->sequences + row,
        .kinds = decoded->kinds + row,
        .retract_count = decoded->kinds[row] & 1u,
        .payload = &sst->payload,
        .payload_ops = &sinter__sst_payload_ops,
    };
}

/** Look into a block. SINTER_END: the key isn't there. */
static sinter_status
look_up(sinter_sst *sst, const sinter__sst_entry *entry, sinter_bytes key, sinter_error *err)
{
    const size_t size = (size_t)sinter__sst_entry_stored(entry);
    const sinter__keys *keys = &sst->decoder.out.keys;
    const uint8_t *key_part = NULL;
    uint32_t row = 0;

    SINTER__CHECK(sinter__scratch_fit(sst->env, &sst->stored, size + SINTER__SST_SLACK_BYTES, err));
    SINTER__CHECK(sinter__sst_file_read(&sst->file, entry->offset, sst->stored.data, size, err));
    key_part = sst->stored.data + entry->value_stored;
    SINTER__CHECK(
        sinter__sst_check_trailer(sst->file.path, entry, key_part + entry->key_stored, err));
    SINTER__CHECK(sinter__sst_decode_keys(&sst->decoder, entry, key_part, err));
    row = sinter__keys_lower_bound(keys, key);
    if (row == keys->rows || sinter__key_compare(sinter__keys_at(keys, row), key) != 0) {
        return SINTER_END;
    }
    SINTER__CHECK(sinter__sst_decode_values(&sst->decoder, entry, sst->stored.data, err));
    show_row(sst, row);
    return SINTER_OK;
}

/** Find the key and let the batch show it. SINTER_END: it isn't there. */
static sinter_status
find_key(sinter_sst *sst, sinter_bytes key, sinter_error *err)
{
    const sinter__sst_entry *entry = NULL;
    bool is_possible = false;

    SINTER__CHECK(find_leaf(sst, key, err));
    assert(sinter__leaf_find(&sst->leaf, key) < sst->leaf.count); /* find_leaf() saw to it */
    entry = &sst->leaf.entries[sinter__leaf_find(&sst->leaf, key)];
    if (sinter__key_compare(key, entry->first_key) < 0) {
        return SINTER_END;
    }
    SINTER__CHECK(ask_filter(sst, entry, key, &is_possible, err));
    if (!is_possible) {
        return SINTER_END;
    }
    return look_up(sst, entry, key, err);
}

sinter_status
sinter_sst_get(sinter_sst *sst, sinter_bytes key, sinter_row *row_out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, sst != NULL && row_out != NULL);
    SINTER__REQUIRE(err, key.data != NULL || key.size == 0);
    st = find_key(sst, key, err);
    if (st == SINTER_OK) {
        *row_out = (sinter_row){.batch = &sst->batch, .index = 0};
    } else if (st < 0) {
        sinter__fail_file(err, sst->file.path);
    }
    return st;
}
