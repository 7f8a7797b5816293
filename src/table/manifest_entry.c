#include "table/manifest_entry.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define FILE_WANT(field, form, member, has_bit, shape)                                             \
    {                                                                                              \
        (field), SINTER__AVRO_FORM_##form, offsetof(sinter__data_file, member), (has_bit), (shape) \
    }

static const sinter__avro_want file_wants[] = {
    FILE_WANT("_FILE_NAME", BYTES, file_name, 0, NULL),
    FILE_WANT("_FILE_SIZE", INT64, file_size, 0, NULL),
    FILE_WANT("_ROW_COUNT", INT64, row_count, 0, NULL),
    FILE_WANT("_MIN_KEY", BYTES, min_key, 0, NULL),
    FILE_WANT("_MAX_KEY", BYTES, max_key, 0, NULL),
    FILE_WANT("_KEY_STATS", RECORD, key_stats, 0, &sinter__simple_stats_shape),
    FILE_WANT("_VALUE_STATS", RECORD, value_stats, 0, &sinter__simple_stats_shape),
    FILE_WANT("_MIN_SEQUENCE_NUMBER", INT64, min_sequence, 0, NULL),
    FILE_WANT("_MAX_SEQUENCE_NUMBER", INT64, max_sequence, 0, NULL),
    FILE_WANT("_SCHEMA_ID", INT64, schema_id, 0, NULL),
    FILE_WANT("_LEVEL", INT32, level, 0, NULL),
    FILE_WANT("_EXTRA_FILES", BYTES_LIST, extra_files, 0, NULL),
    FILE_WANT("_CREATION_TIME", INT64, creation_time_ms, SINTER__FILE_HAS_CREATION_TIME, NULL),
    FILE_WANT("_DELETE_ROW_COUNT", INT64, delete_row_count, SINTER__FILE_HAS_DELETE_ROW_COUNT,
              NULL),
    FILE_WANT("_EMBEDDED_FILE_INDEX", BYTES, embedded_index, SINTER__FILE_HAS_EMBEDDED_INDEX, NULL),
    FILE_WANT("_FILE_SOURCE", INT32, source, SINTER__FILE_HAS_SOURCE, NULL),
    FILE_WANT("_VALUE_STATS_COLS", BYTES_LIST, value_stats_cols, SINTER__FILE_HAS_VALUE_STATS_COLS,
              NULL),
    FILE_WANT("_EXTERNAL_PATH", BYTES, external_path, SINTER__FILE_HAS_EXTERNAL_PATH, NULL),
    FILE_WANT("_FIRST_ROW_ID", INT64, first_row_id, SINTER__FILE_HAS_FIRST_ROW_ID, NULL),
    FILE_WANT("_WRITE_COLS", BYTES_LIST, write_cols, SINTER__FILE_HAS_WRITE_COLS, NULL)};

static const sinter__avro_shape file_shape = {file_wants, sizeof file_wants / sizeof file_wants[0],
                                              sizeof(sinter__data_file),
                                              offsetof(sinter__data_file, has)};

static const sinter__avro_want entry_wants[] = {
    {"_VERSION", SINTER__AVRO_FORM_INT32, offsetof(sinter__manifest_entry, version), 0, NULL},
    {"_KIND", SINTER__AVRO_FORM_INT32, offsetof(sinter__manifest_entry, kind), 0, NULL},
    {"_PARTITION", SINTER__AVRO_FORM_BYTES, offsetof(sinter__manifest_entry, partition), 0, NULL},
    {"_BUCKET", SINTER__AVRO_FORM_INT32, offsetof(sinter__manifest_entry, bucket), 0, NULL},
    {"_TOTAL_BUCKETS", SINTER__AVRO_FORM_INT32, offsetof(sinter__manifest_entry, total_buckets), 0,
     NULL},
    {"_FILE", SINTER__AVRO_FORM_RECORD, offsetof(sinter__manifest_entry, file), 0, &file_shape}};

const sinter__avro_shape sinter__manifest_entry_shape = {
    entry_wants, sizeof entry_wants / sizeof entry_wants[0], sizeof(sinter__manifest_entry), 0};

sinter_status
sinter__meta_name_check(sinter_bytes name, const char *what, sinter_error *err)
{
    enum { SHOWN_CHARS_MAX = 100 };

    if (name.size == 0 || memchr(name.data, '/', name.size) != NULL ||
        memchr(name.data, '\0', name.size) != NULL || (name.size == 1 && name.data[0] == '.') ||
        (name.size == 2 && memcmp(name.data, "..", 2) == 0)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "%s \"%.*s\" is no name of a file", what,
                           (int)(name.size < SHOWN_CHARS_MAX ? name.size : SHOWN_CHARS_MAX),
                           name.size == 0 ? "" : (const char *)name.data);
    }
    return SINTER_OK;
}

static sinter_status
check_number(int64_t number, const char *what, sinter_error *err)
{
    return number >= 0 ? SINTER_OK
                       : SINTER__ERR(err, SINTER_E_CORRUPT, "%s is %" PRId64, what, number);
}

sinter_status
sinter__manifest_entry_check(const sinter__manifest_entry *entry, sinter_error *err)
{
    const sinter__data_file *file = &entry->file;

    if (entry->kind != SINTER__ENTRY_ADD && entry->kind != SINTER__ENTRY_DELETE) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "_KIND is %d", entry->kind);
    }
    SINTER__CHECK(sinter__meta_name_check(file->file_name, "_FILE_NAME", err));
    for (size_t i = 0; i < file->extra_files.count; i++) {
        SINTER__CHECK(sinter__meta_name_check(file->extra_files.items[i], "_EXTRA_FILES", err));
    }
    SINTER__CHECK(check_number(file->file_size, "_FILE_SIZE", err));
    SINTER__CHECK(check_number(file->row_count, "_ROW_COUNT", err));
    SINTER__CHECK(check_number(file->schema_id, "_SCHEMA_ID", err));
    return check_number(file->level, "_LEVEL", err);
}

/** What an entry points to: everything that a copy copies. */
typedef struct parts {
    const sinter_bytes *bytes[10];
    const sinter__bytes_list *lists[3];
    const sinter__int64_list *numbers[2];
    sinter__bytes_list cargo;
} parts;

static parts
parts_of(const sinter__manifest_entry *entry)
{
    const sinter__data_file *file = &entry->file;
    const sinter__carried *carried = entry->cargo.carried;

    return (parts){.bytes = {&entry->partition, &file->file_name, &file->min_key, &file->max_key,
                             &file->key_stats.min_values, &file->key_stats.max_values,
                             &file->value_stats.min_values, &file->value_stats.max_values,
                             &file->embedded_index, &file->external_path},
                   .lists = {&file->extra_files, &file->value_stats_cols, &file->write_cols},
                   .numbers = {&file->key_stats.null_counts, &file->value_stats.null_counts},
                   .cargo = {entry->cargo.values, carried == NULL ? 0 : carried->value_count}};
}

enum { BYTES_PARTS = 10, LIST_PARTS = 3, NUMBER_PARTS = 2 };

static size_t
list_bytes(const sinter__bytes_list *list)
{
    size_t size = list->count * sizeof *list->items;

    for (size_t i = 0; i < list->count; i++) {
        size += list->items[i].size;
    }
    return size;
}

size_t
sinter__manifest_entry_bytes(const sinter__manifest_entry *entry)
{
    const parts from = parts_of(entry);
    size_t size = sizeof *entry + list_bytes(&from.cargo);

    for (size_t i = 0; i < BYTES_PARTS; i++) {
        size += from.bytes[i]->size;
    }
    for (size_t i = 0; i < LIST_PARTS; i++) {
        size += list_bytes(from.lists[i]);
    }
    for (size_t i = 0; i < NUMBER_PARTS; i++) {
        size += from.numbers[i]->count * sizeof(int64_t);
    }
    return size;
}

/** Copy bytes to `*to`, move it behind them, and say where they are. */
static sinter_bytes
place_bytes(sinter_bytes bytes, uint8_t **to)
{
    const sinter_bytes placed = {*to, bytes.size};

    if (bytes.size > 0) {
        memcpy(*to, bytes.data, bytes.size);
    }
    *to += bytes.size;
    return placed;
}

/** The same for a list: its items to `*items`, which is aligned, their bytes to `*to`. */
static sinter__bytes_list
place_list(const sinter__bytes_list *list, sinter_bytes **items, uint8_t **to)
{
    const sinter__bytes_list placed = {*items, list->count};

    for (size_t i = 0; i < list->count; i++) {
        (*items)[i] = place_bytes(list->items[i], to);
    }
    *items += list->count;
    return placed;
}

static sinter__int64_list
place_numbers(const sinter__int64_list *list, int64_t **to)
{
    const sinter__int64_list placed = {*to, list->count};

    if (list->count > 0) {
        memcpy(*to, list->items, list->count * sizeof **to);
    }
    *to += list->count;
    return placed;
}

/* One piece: the entry, items of lists, numbers, and then bytes, which need no alignment. */
sinter_status
sinter__manifest_entry_copy(sinter__arena *arena, const sinter__manifest_entry *entry,
                            const sinter__manifest_entry **out, sinter_error *err)
{
    const parts from = parts_of(entry);
    const sinter__data_file *file = &entry->file;
    sinter__manifest_entry *copy = NULL;
    sinter_bytes *items = NULL;
    int64_t *numbers = NULL;
    uint8_t *to = NULL;
    size_t item_count = from.cargo.count;

    *out = NULL;
    SINTER__CHECK(
        sinter__arena_take(arena, sinter__manifest_entry_bytes(entry), (void **)&copy, err));
    *copy = *entry;
    for (size_t i = 0; i < LIST_PARTS; i++) {
        item_count += from.lists[i]->count;
    }
    items = (sinter_bytes *)(void *)(copy + 1);
    numbers = (int64_t *)(void *)(items + item_count);
    to = (uint8_t *)(numbers + from.numbers[0]->count + from.numbers[1]->count);
    copy->partition = place_bytes(entry->partition, &to);
    copy->file.file_name = place_bytes(file->file_name, &to);
    copy->file.min_key = place_bytes(file->min_key, &to);
    copy->file.max_key = place_bytes(file->max_key, &to);
    copy->file.key_stats.min_values = place_bytes(file->key_stats.min_values, &to);
    copy->file.key_stats.max_values = place_bytes(file->key_stats.max_values, &to);
    copy->file.value_stats.min_values = place_bytes(file->value_stats.min_values, &to);
    copy->file.value_stats.max_values = place_bytes(file->value_stats.max_values, &to);
    copy->file.embedded_index = place_bytes(file->embedded_index, &to);
    copy->file.external_path = place_bytes(file->external_path, &to);
    copy->file.extra_files = place_list(&file->extra_files, &items, &to);
    copy->file.value_stats_cols = place_list(&file->value_stats_cols, &items, &to);
    copy->file.write_cols = place_list(&file->write_cols, &items, &to);
    copy->cargo.values = place_list(&from.cargo, &items, &to).items;
    copy->file.key_stats.null_counts = place_numbers(&file->key_stats.null_counts, &numbers);
    copy->file.value_stats.null_counts = place_numbers(&file->value_stats.null_counts, &numbers);
    assert((size_t)(to - (uint8_t *)copy) == sinter__manifest_entry_bytes(entry));
    *out = copy;
    return SINTER_OK;
}

size_t
sinter__manifest_entry_room(const sinter__manifest_entry *entry,
                            const sinter__carried_union *carried)
{
    enum { NUMBERS_MAX = 48 }; /* fields, sizes, branches and ends of lists */
    const parts from = parts_of(entry);
    size_t room = (size_t)NUMBERS_MAX * SINTER__AVRO_LONG_BYTES_MAX;

    for (size_t i = 0; i < BYTES_PARTS; i++) {
        room += from.bytes[i]->size;
    }
    for (size_t i = 0; i < LIST_PARTS; i++) {
        room += list_bytes(from.lists[i]); /* an item's struct is larger than its size's number */
    }
    return room + sinter__simple_stats_room(&entry->file.key_stats) +
           sinter__simple_stats_room(&entry->file.value_stats) +
           sinter__carried_union_room(carried, &entry->cargo);
}

static uint8_t *
put_list(uint8_t *to, const sinter__bytes_list *list)
{
    if (list->count > 0) {
        to = sinter__avro_put_long(to, (int64_t)list->count);
        for (size_t i = 0; i < list->count; i++) {
            to = sinter__avro_put_bytes(to, list->items[i]);
        }
    }
    return sinter__avro_put_long(to, 0);
}

/** Write which branch of ["null", T] follows. */
static uint8_t *
put_branch(uint8_t *to, const sinter__data_file *file, uint32_t has_bit)
{
    return sinter__avro_put_long(to, (file->has & has_bit) != 0);
}

static uint8_t *
put_maybe_long(uint8_t *to, const sinter__data_file *file, uint32_t has_bit, int64_t value)
{
    to = put_branch(to, file, has_bit);
    return (file->has & has_bit) != 0 ? sinter__avro_put_long(to, value) : to;
}

static uint8_t *
put_maybe_bytes(uint8_t *to, const sinter__data_file *file, uint32_t has_bit, sinter_bytes value)
{
    to = put_branch(to, file, has_bit);
    return (file->has & has_bit) != 0 ? sinter__avro_put_bytes(to, value) : to;
}

static uint8_t *
put_maybe_list(uint8_t *to, const sinter__data_file *file, uint32_t has_bit,
               const sinter__bytes_list *value)
{
    to = put_branch(to, file, has_bit);
    return (file->has & has_bit) != 0 ? put_list(to, value) : to;
}

static uint8_t *
put_file(uint8_t *to, const sinter__data_file *file)
{
    to = sinter__avro_put_bytes(to, file->file_name);
    to = sinter__avro_put_long(to, file->file_size);
    to = sinter__avro_put_long(to, file->row_count);
    to = sinter__avro_put_bytes(to, file->min_key);
    to = sinter__avro_put_bytes(to, file->max_key);
    to = sinter__simple_stats_put(to, &file->key_stats);
    to = sinter__simple_stats_put(to, &file->value_stats);
    to = sinter__avro_put_long(to, file->min_sequence);
    to = sinter__avro_put_long(to, file->max_sequence);
    to = sinter__avro_put_long(to, file->schema_id);
    to = sinter__avro_put_long(to, file->level);
    to = put_list(to, &file->extra_files);
    to = put_maybe_long(to, file, SINTER__FILE_HAS_CREATION_TIME, file->creation_time_ms);
    to = put_maybe_long(to, file, SINTER__FILE_HAS_DELETE_ROW_COUNT, file->delete_row_count);
    to = put_maybe_bytes(to, file, SINTER__FILE_HAS_EMBEDDED_INDEX, file->embedded_index);
    to = put_maybe_long(to, file, SINTER__FILE_HAS_SOURCE, file->source);
    to = put_maybe_list(to, file, SINTER__FILE_HAS_VALUE_STATS_COLS, &file->value_stats_cols);
    to = put_maybe_bytes(to, file, SINTER__FILE_HAS_EXTERNAL_PATH, file->external_path);
    to = put_maybe_long(to, file, SINTER__FILE_HAS_FIRST_ROW_ID, file->first_row_id);
    return put_maybe_list(to, file, SINTER__FILE_HAS_WRITE_COLS, &file->write_cols);
}

uint8_t *
sinter__manifest_entry_put(uint8_t *to, const sinter__manifest_entry *entry,
                           const sinter__carried_union *carried)
{
    to = sinter__avro_put_long(to, SINTER__MANIFEST_VERSION);
    to = sinter__avro_put_long(to, entry->kind);
    to = sinter__avro_put_bytes(to, entry->partition);
    to = sinter__avro_put_long(to, entry->bucket);
    to = sinter__avro_put_long(to, entry->total_buckets);
    to = put_file(to, &entry->file);
    to = sinter__carried_union_put(carried, &entry->cargo, "_FILE", to);
    return sinter__carried_union_put(carried, &entry->cargo, NULL, to);
}
