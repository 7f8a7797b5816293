#include "sst/layout.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

static_assert(SINTER_BLOCK_BYTES_MAX <= UINT32_MAX, "sizes of parts are stored in 32 bits");
static_assert(SINTER__SST_ENTRY_BYTES == 8 + SINTER__SST_TRAILER_BYTES + 48, "entry width");

void
sinter__sst_put_trailer(uint8_t out[SINTER__SST_TRAILER_BYTES], const sinter__sst_entry *entry)
{
    sinter__put_le64(out, entry->value_checksum);
    sinter__put_le64(out + 8, entry->key_checksum);
    sinter__put_le32(out + 16, entry->value_stored);
    sinter__put_le32(out + 20, entry->value_raw);
    sinter__put_le32(out + 24, entry->key_stored);
    sinter__put_le32(out + 28, entry->key_raw);
    sinter__put_le32(out + 32, entry->rows);
    out[36] = entry->value_codec;
    out[37] = (uint8_t)(entry->key_codec |
                        (entry->keys_front_coded ? (unsigned)SINTER__SST_FRONT_CODED_BIT : 0));
    sinter__put_le16(out + 38, entry->streams);
}

void
sinter__sst_put_entry(uint8_t out[SINTER__SST_ENTRY_BYTES], const sinter__sst_entry *entry)
{
    assert(entry->first_key.size <= SINTER_KEY_BYTES_MAX);
    assert(entry->last_key.size <= SINTER_KEY_BYTES_MAX);
    sinter__put_le64(out, entry->offset);
    sinter__sst_put_trailer(out + 8, entry);
    sinter__put_le32(out + 48, entry->retracts);
    sinter__put_le32(out + 52, entry->filter_offset);
    sinter__put_le64(out + 56, (uint64_t)entry->sequence_min);
    sinter__put_le64(out + 64, (uint64_t)entry->sequence_max);
    sinter__put_le32(out + 72, entry->filter_size);
    sinter__put_le32(out + 76, (uint32_t)entry->first_key.size);
    sinter__put_le32(out + 80, (uint32_t)entry->last_key.size);
    sinter__put_le32(out + 84, entry->key_bytes);
    sinter__put_le64(out + 88, 0);
}

void
sinter__sst_get_entry(const uint8_t in[SINTER__SST_ENTRY_BYTES], sinter__sst_entry *entry)
{
    entry->offset = sinter__get_le64(in);
    entry->value_checksum = sinter__get_le64(in + 8);
    entry->key_checksum = sinter__get_le64(in + 16);
    entry->value_stored = sinter__get_le32(in + 24);
    entry->value_raw = sinter__get_le32(in + 28);
    entry->key_stored = sinter__get_le32(in + 32);
    entry->key_raw = sinter__get_le32(in + 36);
    entry->rows = sinter__get_le32(in + 40);
    entry->value_codec = in[44];
    entry->key_codec = in[45] & (uint8_t)~SINTER__SST_FRONT_CODED_BIT;
    entry->keys_front_coded = (in[45] & SINTER__SST_FRONT_CODED_BIT) != 0;
    entry->streams = sinter__get_le16(in + 46);
    entry->retracts = sinter__get_le32(in + 48);
    entry->filter_offset = sinter__get_le32(in + 52);
    entry->sequence_min = (int64_t)sinter__get_le64(in + 56);
    entry->sequence_max = (int64_t)sinter__get_le64(in + 64);
    entry->filter_size = sinter__get_le32(in + 72);
    entry->first_key = (sinter_bytes){.size = sinter__get_le32(in + 76)};
    entry->last_key = (sinter_bytes){.size = sinter__get_le32(in + 80)};
    entry->key_bytes = sinter__get_le32(in + 84);
}

bool
sinter__sst_checksum_ok(uint64_t checksum, const void *data, size_t size)
{
#ifdef SINTER_FUZZING
    (void)checksum;
    (void)data;
    (void)size;
    return true;
#else
    return sinter__hash(data, size) == checksum;
#endif
}

void
sinter__sst_put_footer(uint8_t out[SINTER__SST_FOOTER_BYTES], const sinter__sst_footer *footer)
{
    sinter__put_le64(out, footer->properties_offset);
    sinter__put_le64(out + 8, footer->properties_size);
    sinter__put_le64(out + 16, footer->properties_checksum);
    sinter__put_le64(out + 24, footer->root_offset);
    sinter__put_le64(out + 32, footer->root_checksum);
    sinter__put_le32(out + 40, footer->root_size);
    sinter__put_le32(out + 44, footer->level_count);
    sinter__put_le64(out + 48, footer->block_count);
    sinter__put_le64(out + 56, footer->features_compatible);
    sinter__put_le64(out + 64, footer->features_incompatible);
    sinter__put_le64(out + 72, footer->file_size);
    sinter__put_le32(out + 80, footer->version);
    sinter__put_le32(out + 84, 0);
    sinter__put_le64(out + 88, sinter__hash(out, 88));
    memcpy(out + 96, SINTER__SST_MAGIC, SINTER__SST_MAGIC_BYTES);
}

bool
sinter__sst_get_footer(const uint8_t in[SINTER__SST_FOOTER_BYTES], sinter__sst_footer *footer)
{
    if (memcmp(in + 96, SINTER__SST_MAGIC, SINTER__SST_MAGIC_BYTES) != 0 ||
        !sinter__sst_checksum_ok(sinter__get_le64(in + 88), in, 88) ||
        sinter__get_le32(in + 84) != 0) {
        return false;
    }
    footer->properties_offset = sinter__get_le64(in);
    footer->properties_size = sinter__get_le64(in + 8);
    footer->properties_checksum = sinter__get_le64(in + 16);
    footer->root_offset = sinter__get_le64(in + 24);
    footer->root_checksum = sinter__get_le64(in + 32);
    footer->root_size = sinter__get_le32(in + 40);
    footer->level_count = sinter__get_le32(in + 44);
    footer->block_count = sinter__get_le64(in + 48);
    footer->features_compatible = sinter__get_le64(in + 56);
    footer->features_incompatible = sinter__get_le64(in + 64);
    footer->file_size = sinter__get_le64(in + 72);
    footer->version = sinter__get_le32(in + 80);
    return true;
}

void
sinter__sst_put_header(uint8_t out[SINTER__SST_HEADER_BYTES])
{
    memcpy(out, SINTER__SST_MAGIC, SINTER__SST_MAGIC_BYTES);
    sinter__put_le32(out + 8, SINTER__SST_VERSION);
    sinter__put_le32(out + 12, 0);
}
