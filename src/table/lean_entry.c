#include "table/lean_entry.h"

#include <string.h>

/* What an entry nearly always has; the bytes of name and keys follow. */
struct sinter__lean_entry {
    const sinter__manifest_entry *whole; /* not NULL: the entry, and nothing else is set */
    int64_t file_size;
    int64_t row_count;
    int64_t min_sequence;
    int64_t max_sequence;
    int64_t schema_id;
    int64_t creation_time_ms;
    int64_t delete_row_count;
    uint32_t name_size;
    uint32_t min_key_size;
    uint32_t max_key_size;
    int32_t total_buckets;
    int32_t version;
    int32_t level;
    int32_t source;
    uint16_t kind;
    uint16_t has;
};

enum {
    HAS_KEPT = SINTER__FILE_HAS_CREATION_TIME | SINTER__FILE_HAS_DELETE_ROW_COUNT |
               SINTER__FILE_HAS_SOURCE,
    HAS_UNKNOWN = 1 << 15, /* something that was not kept when the entry was read */
    HAS_STATS = SINTER__FILE_HAS_VALUE_STATS_COLS
};

const sinter__manifest_entry *
sinter__manifest_entry_bare(const sinter__manifest_entry *entry, sinter__manifest_entry *bare)
{
    *bare = *entry;
    bare->file.key_stats = (sinter__simple_stats){.has = 0};
    bare->file.value_stats = (sinter__simple_stats){.has = 0};
    bare->file.value_stats_cols = (sinter__bytes_list){.count = 0};
    bare->file.has &= ~(uint32_t)HAS_STATS;
    return bare;
}

/** Does the lean form have all of it? */
static bool
is_plain(const sinter__manifest_entry *entry)
{
    const sinter__data_file *file = &entry->file;

    return (file->has & ~(uint32_t)(HAS_KEPT | HAS_STATS)) == 0 && file->extra_files.count == 0 &&
           (entry->cargo.carried == NULL ||
            entry->cargo.carried == &sinter__carried_nothing_kept) &&
           (file->file_name.size | file->min_key.size | file->max_key.size) <= UINT32_MAX;
}

static size_t
plain_bytes(const sinter__data_file *file)
{
    return sizeof(sinter__lean_entry) + file->file_name.size + file->min_key.size +
           file->max_key.size;
}

size_t
sinter__lean_entry_bytes(const sinter__manifest_entry *entry)
{
    sinter__manifest_entry bare;

    return is_plain(entry)
               ? plain_bytes(&entry->file)
               : sizeof(sinter__lean_entry) +
                     sinter__manifest_entry_bytes(sinter__manifest_entry_bare(entry, &bare));
}

static uint8_t *
put_bytes(uint8_t *to, sinter_bytes bytes)
{
    if (bytes.size > 0) {
        memcpy(to, bytes.data, bytes.size);
    }
    return to + bytes.size;
}

static sinter_bytes
next_bytes(const uint8_t **at, uint32_t size)
{
    const sinter_bytes bytes = {*at, size};

    *at += size;
    return bytes;
}

sinter_status
sinter__lean_entry_create(sinter__arena *arena, const sinter__manifest_entry *entry,
                          const sinter__lean_entry **out, sinter_error *err)
{
    const sinter__data_file *file = &entry->file;
    sinter__lean_entry *lean = NULL;
    uint8_t *to = NULL;

    *out = NULL;
    if (!is_plain(entry)) {
        sinter__manifest_entry bare;

        SINTER__CHECK(sinter__arena_take(arena, sizeof *lean, (void **)&lean, err));
        *lean = (sinter__lean_entry){.whole = NULL};
        SINTER__CHECK(sinter__manifest_entry_copy(arena, sinter__manifest_entry_bare(entry, &bare),
                                                  &lean->whole, err));
        *out = lean;
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(arena, plain_bytes(file), (void **)&lean, err));
    *lean = (sinter__lean_entry){.file_size = file->file_size,
                                 .row_count = file->row_count,
                                 .min_sequence = file->min_sequence,
                                 .max_sequence = file->max_sequence,
                                 .schema_id = file->schema_id,
                                 .creation_time_ms = file->creation_time_ms,
                                 .delete_row_count = file->delete_row_count,
                                 .name_size = (uint32_t)file->file_name.size,
                                 .min_key_size = (uint32_t)file->min_key.size,
                                 .max_key_size = (uint32_t)file->max_key.size,
                                 .total_buckets = entry->total_buckets,
                                 .version = entry->version,
                                 .level = file->level,
                                 .source = file->source,
                                 .kind = (uint16_t)entry->kind,
                                 .has = (uint16_t)(file->has & HAS_KEPT)};
    lean->has |= entry->cargo.carried == NULL ? 0 : HAS_UNKNOWN;
    to = put_bytes((uint8_t *)(lean + 1), file->file_name);
    to = put_bytes(to, file->min_key);
    (void)put_bytes(to, file->max_key);
    *out = lean;
    return SINTER_OK;
}

void
sinter__lean_entry_get(const sinter__lean_entry *lean, const sinter__entry_group *group,
                       sinter__manifest_entry *out)
{
    const uint8_t *at = (const uint8_t *)(lean + 1);

    if (lean->whole != NULL) {
        *out = *lean->whole;
        out->partition = group->partition;
        return;
    }
    *out = (sinter__manifest_entry){.version = lean->version,
                                    .kind = lean->kind,
                                    .partition = group->partition,
                                    .bucket = group->bucket,
                                    .total_buckets = lean->total_buckets,
                                    .file = {.file_size = lean->file_size,
                                             .row_count = lean->row_count,
                                             .min_sequence = lean->min_sequence,
                                             .max_sequence = lean->max_sequence,
                                             .schema_id = lean->schema_id,
                                             .level = lean->level,
                                             .has = lean->has & HAS_KEPT,
                                             .creation_time_ms = lean->creation_time_ms,
                                             .delete_row_count = lean->delete_row_count,
                                             .source = lean->source}};
    if ((lean->has & HAS_UNKNOWN) != 0) {
        out->cargo.carried = &sinter__carried_nothing_kept;
    }
    out->file.file_name = next_bytes(&at, lean->name_size);
    out->file.min_key = next_bytes(&at, lean->min_key_size);
    out->file.max_key = next_bytes(&at, lean->max_key_size);
}
