#include "manifest_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

uint32_t
bed_roll(uint64_t *state, uint32_t sides)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % sides;
}

sinter_bytes
bed_text(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

static void *
take(sinter__arena *arena, size_t size)
{
    void *out = NULL;

    cr_assert_eq(sinter__arena_take(arena, size, &out, NULL), SINTER_OK);
    return out;
}

static sinter_bytes
random_bytes(sinter__arena *arena, uint64_t *state)
{
    const size_t size = bed_roll(state, 8) == 0 ? 0 : bed_roll(state, 90);
    uint8_t *data = take(arena, size);

    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)bed_roll(state, 256);
    }
    return (sinter_bytes){data, size};
}

static sinter_bytes
random_name(sinter__arena *arena, uint64_t *state)
{
    char *text = take(arena, 64);

    (void)snprintf(text, 64, "data-%08x-%u.parquet", bed_roll(state, UINT32_MAX),
                   bed_roll(state, 1000));
    return bed_text(text);
}

static sinter__bytes_list
random_names(sinter__arena *arena, uint64_t *state)
{
    const size_t count = bed_roll(state, 4);
    sinter_bytes *items = take(arena, count * sizeof *items);

    for (size_t i = 0; i < count; i++) {
        items[i] = random_name(arena, state);
    }
    return (sinter__bytes_list){items, count};
}

static int64_t
random_long(uint64_t *state)
{
    (void)bed_roll(state, 2);
    return (int64_t)(*state >> 1) >> bed_roll(state, 63);
}

static sinter__simple_stats
random_stats(sinter__arena *arena, uint64_t *state)
{
    const size_t count = bed_roll(state, 5);
    int64_t *counts = take(arena, count * sizeof *counts);
    sinter__simple_stats stats = {.min_values = random_bytes(arena, state),
                                  .max_values = random_bytes(arena, state)};

    for (size_t i = 0; i < count; i++) {
        counts[i] = bed_roll(state, 4) == 0 ? SINTER__NULL_COUNT_UNKNOWN : random_long(state);
    }
    if (bed_roll(state, 3) > 0) {
        stats.null_counts = (sinter__int64_list){counts, count};
        stats.has = SINTER__STATS_HAS_NULL_COUNTS;
    }
    return stats;
}

const sinter__manifest_entry *
bed_entry(sinter__arena *arena, uint64_t *state, const char *name)
{
    sinter__manifest_entry *entry = take(arena, sizeof *entry);
    sinter__data_file *file = &entry->file;

    *entry = (sinter__manifest_entry){.version = SINTER__MANIFEST_VERSION,
                                      .kind = (int32_t)bed_roll(state, 2),
                                      .partition = random_bytes(arena, state),
                                      .bucket = (int32_t)bed_roll(state, 5) - 2,
                                      .total_buckets = (int32_t)bed_roll(state, 5) - 2};
    file->file_name = name == NULL ? random_name(arena, state) : bed_text(name);
    file->file_size = random_long(state);
    file->row_count = random_long(state);
    file->min_key = random_bytes(arena, state);
    file->max_key = random_bytes(arena, state);
    file->key_stats = random_stats(arena, state);
    file->value_stats = random_stats(arena, state);
    file->min_sequence = random_long(state) - 1;
    file->max_sequence = random_long(state);
    file->schema_id = random_long(state);
    file->level = (int32_t)bed_roll(state, 6);
    file->extra_files = random_names(arena, state);
    file->has = bed_roll(state, 256);
    if ((file->has & SINTER__FILE_HAS_CREATION_TIME) != 0) {
        file->creation_time_ms = random_long(state);
    }
    if ((file->has & SINTER__FILE_HAS_DELETE_ROW_COUNT) != 0) {
        file->delete_row_count = random_long(state);
    }
    if ((file->has & SINTER__FILE_HAS_EMBEDDED_INDEX) != 0) {
        file->embedded_index = random_bytes(arena, state);
    }
    if ((file->has & SINTER__FILE_HAS_SOURCE) != 0) {
        file->source = (int32_t)bed_roll(state, 2);
    }
    if ((file->has & SINTER__FILE_HAS_VALUE_STATS_COLS) != 0) {
        file->value_stats_cols = random_names(arena, state);
    }
    if ((file->has & SINTER__FILE_HAS_EXTERNAL_PATH) != 0) {
        file->external_path = random_bytes(arena, state);
    }
    if ((file->has & SINTER__FILE_HAS_FIRST_ROW_ID) != 0) {
        file->first_row_id = random_long(state);
    }
    if ((file->has & SINTER__FILE_HAS_WRITE_COLS) != 0) {
        file->write_cols = random_names(arena, state);
    }
    return entry;
}

bool
bed_is_equal_bytes(sinter_bytes a, sinter_bytes b)
{
    return sinter__key_equal(a, b);
}

static bool
is_equal_list(const sinter__bytes_list *a, const sinter__bytes_list *b)
{
    bool is_equal = a->count == b->count;

    for (size_t i = 0; is_equal && i < a->count; i++) {
        is_equal = bed_is_equal_bytes(a->items[i], b->items[i]);
    }
    return is_equal;
}

bool
bed_is_equal_stats(const sinter__simple_stats *a, const sinter__simple_stats *b)
{
    return a->has == b->has && bed_is_equal_bytes(a->min_values, b->min_values) &&
           bed_is_equal_bytes(a->max_values, b->max_values) &&
           a->null_counts.count == b->null_counts.count &&
           (a->null_counts.count == 0 ||
            memcmp(a->null_counts.items, b->null_counts.items,
                   a->null_counts.count * sizeof *a->null_counts.items) == 0);
}

static bool
is_equal_cargo(const sinter__cargo *a, const sinter__cargo *b)
{
    const size_t count = a->carried == NULL ? 0 : a->carried->value_count;
    bool is_equal = count == (b->carried == NULL ? 0 : b->carried->value_count);

    for (size_t i = 0; is_equal && i < count; i++) {
        is_equal = strcmp(a->carried->fields[i].json, b->carried->fields[i].json) == 0 &&
                   bed_is_equal_bytes(a->values[i], b->values[i]);
    }
    return is_equal;
}

bool
bed_is_equal(const sinter__manifest_entry *a, const sinter__manifest_entry *b)
{
    const sinter__data_file *x = &a->file;
    const sinter__data_file *y = &b->file;

    return a->version == b->version && a->kind == b->kind && a->bucket == b->bucket &&
           a->total_buckets == b->total_buckets && bed_is_equal_bytes(a->partition, b->partition) &&
           bed_is_equal_bytes(x->file_name, y->file_name) && x->file_size == y->file_size &&
           x->row_count == y->row_count && bed_is_equal_bytes(x->min_key, y->min_key) &&
           bed_is_equal_bytes(x->max_key, y->max_key) &&
           bed_is_equal_stats(&x->key_stats, &y->key_stats) &&
           bed_is_equal_stats(&x->value_stats, &y->value_stats) &&
           x->min_sequence == y->min_sequence && x->max_sequence == y->max_sequence &&
           x->schema_id == y->schema_id && x->level == y->level && x->has == y->has &&
           is_equal_list(&x->extra_files, &y->extra_files) &&
           x->creation_time_ms == y->creation_time_ms &&
           x->delete_row_count == y->delete_row_count &&
           bed_is_equal_bytes(x->embedded_index, y->embedded_index) && x->source == y->source &&
           is_equal_list(&x->value_stats_cols, &y->value_stats_cols) &&
           bed_is_equal_bytes(x->external_path, y->external_path) &&
           x->first_row_id == y->first_row_id && is_equal_list(&x->write_cols, &y->write_cols) &&
           is_equal_cargo(&a->cargo, &b->cargo);
}

sinter_status
bed_read(const sinter_env *env, const char *path, const sinter__manifest_meta *listed,
         sinter__arena *arena, const sinter__manifest_entry **entries, size_t room,
         size_t *count_out, sinter_error *err)
{
    sinter__manifest_reader *reader = NULL;
    const sinter__manifest_entry *entry = NULL;
    sinter_status st = sinter__manifest_open(env, path, listed, arena, &reader, err);

    *count_out = 0;
    while (st == SINTER_OK && (st = sinter__manifest_next(reader, &entry, err)) == SINTER_OK) {
        cr_assert_lt(*count_out, room);
        st = sinter__manifest_entry_copy(arena, entry, &entries[*count_out], err);
        *count_out += st == SINTER_OK;
    }
    sinter__manifest_close(reader);
    return st == SINTER_END ? SINTER_OK : st;
}

bed_content
bed_content_of(const sinter_env *env, const char *path)
{
    bed_content content = {0};
    sinter__avro_reader *reader = NULL;
    sinter__avro_block block = {0};
    sinter_bytes schema = {0};

    cr_assert_eq(sinter__avro_reader_open(env, path, NULL, &reader, NULL), SINTER_OK);
    cr_assert(sinter__avro_reader_meta(reader, "avro.schema", &schema));
    content.schema = strndup((const char *)schema.data, schema.size);
    while (sinter__avro_reader_next(reader, &block, NULL) == SINTER_OK) {
        content.records = realloc(content.records, content.size + block.bytes.size);
        memcpy(content.records + content.size, block.bytes.data, block.bytes.size);
        content.size += block.bytes.size;
        content.count += block.count;
    }
    sinter__avro_reader_close(reader);
    return content;
}

void
bed_content_fini(bed_content *content)
{
    free(content->schema);
    free(content->records);
}

void
bed_put_sample(const avro_bed *bed, const char *name)
{
    char path[512];
    size_t size = 0;
    uint8_t *data = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", SINTER_MANIFESTS, name);
    data = avro_bed_load(path, &size);
    avro_bed_put(bed, name, data, size);
    free(data);
}
