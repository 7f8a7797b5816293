#include "table/manifest_list.h"

#include <inttypes.h>
#include <string.h>

#include "table/manifest_entry.h"

#define META_WANT(field, form, member, has_bit)                                                \
    {                                                                                          \
        (field), SINTER__AVRO_FORM_##form, offsetof(sinter__manifest_meta, member), (has_bit), \
            NULL                                                                               \
    }

static const sinter__avro_want wants[] = {
    META_WANT("_VERSION", INT32, version, 0),
    META_WANT("_FILE_NAME", BYTES, file_name, 0),
    META_WANT("_FILE_SIZE", INT64, file_size, 0),
    META_WANT("_NUM_ADDED_FILES", INT64, added_count, 0),
    META_WANT("_NUM_DELETED_FILES", INT64, deleted_count, 0),
    {"_PARTITION_STATS", SINTER__AVRO_FORM_RECORD, offsetof(sinter__manifest_meta, partition_stats),
     0, &sinter__simple_stats_shape},
    META_WANT("_SCHEMA_ID", INT64, schema_id, 0),
    META_WANT("_MIN_BUCKET", INT32, min_bucket, SINTER__MANIFEST_HAS_MIN_BUCKET),
    META_WANT("_MAX_BUCKET", INT32, max_bucket, SINTER__MANIFEST_HAS_MAX_BUCKET),
    META_WANT("_MIN_LEVEL", INT32, min_level, SINTER__MANIFEST_HAS_MIN_LEVEL),
    META_WANT("_MAX_LEVEL", INT32, max_level, SINTER__MANIFEST_HAS_MAX_LEVEL)};

static const sinter__avro_shape shape = {wants, sizeof wants / sizeof wants[0],
                                         sizeof(sinter__manifest_meta),
                                         offsetof(sinter__manifest_meta, has)};

/* Paimon 1.3.1's, letter for letter. */
static const sinter__meta_kind kind = {
    .what = "manifest list",
    .shape = &shape,
    .version = SINTER__MANIFEST_LIST_VERSION,
    .schema_begin =
        "{\"type\":\"record\",\"name\":\"record\",\"namespace\":\"org.apache.paimon.avro."
        "generated\","
        "\"fields\":[{\"name\":\"_VERSION\",\"type\":\"int\"},"
        "{\"name\":\"_FILE_NAME\",\"type\":\"string\"},"
        "{\"name\":\"_FILE_SIZE\",\"type\":\"long\"},"
        "{\"name\":\"_NUM_ADDED_FILES\",\"type\":\"long\"},"
        "{\"name\":\"_NUM_DELETED_FILES\",\"type\":\"long\"},"
        "{\"name\":\"_PARTITION_STATS\",\"type\":{\"type\":\"record\",\"name\":"
        "\"record__PARTITION_STATS\",\"fields\":[{\"name\":\"_MIN_VALUES\",\"type\":\"bytes\"},"
        "{\"name\":\"_MAX_VALUES\",\"type\":\"bytes\"},{\"name\":\"_NULL_COUNTS\",\"type\":["
        "\"null\","
        "{\"type\":\"array\",\"items\":[\"null\",\"long\"]}],\"default\":null}]}},"
        "{\"name\":\"_SCHEMA_ID\",\"type\":\"long\"},"
        "{\"name\":\"_MIN_BUCKET\",\"type\":[\"null\",\"int\"],\"default\":null},"
        "{\"name\":\"_MAX_BUCKET\",\"type\":[\"null\",\"int\"],\"default\":null},"
        "{\"name\":\"_MIN_LEVEL\",\"type\":[\"null\",\"int\"],\"default\":null},"
        "{\"name\":\"_MAX_LEVEL\",\"type\":[\"null\",\"int\"],\"default\":null}"};

static sinter_status
check(const sinter__manifest_meta *meta, sinter_error *err)
{
    SINTER__CHECK(sinter__meta_name_check(meta->file_name, "_FILE_NAME", err));
    if (meta->file_size < 0 || meta->added_count < 0 || meta->deleted_count < 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT,
                           "a manifest of %" PRId64 " bytes, %" PRId64 " and %" PRId64 " entries",
                           meta->file_size, meta->added_count, meta->deleted_count);
    }
    return SINTER_OK;
}

/** Let what a manifest's metadata points to lie in the list's arena. */
static sinter_status
settle(sinter__arena *arena, sinter__manifest_meta *meta, sinter_error *err)
{
    sinter__simple_stats *stats = &meta->partition_stats;
    sinter__int64_list *counts = &stats->null_counts;
    const size_t values = meta->cargo.carried == NULL ? 0 : meta->cargo.carried->value_count;
    sinter_bytes copy = {(const uint8_t *)counts->items, counts->count * sizeof *counts->items};
    sinter_bytes *items = NULL;

    SINTER__CHECK(sinter__arena_copy(arena, meta->file_name, &meta->file_name, err));
    SINTER__CHECK(sinter__arena_copy(arena, stats->min_values, &stats->min_values, err));
    SINTER__CHECK(sinter__arena_copy(arena, stats->max_values, &stats->max_values, err));
    SINTER__CHECK(sinter__arena_copy(arena, copy, &copy, err));
    counts->items = (const int64_t *)(const void *)copy.data;
    SINTER__CHECK(sinter__arena_take(arena, values * sizeof *items, (void **)&items, err));
    for (size_t i = 0; i < values; i++) {
        SINTER__CHECK(sinter__arena_copy(arena, meta->cargo.values[i], &items[i], err));
    }
    meta->cargo.values = items;
    return SINTER_OK;
}

static sinter_status
add(sinter__manifest_list *list, const sinter__manifest_meta *meta, sinter_error *err)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;

        SINTER__CHECK(sinter__resize(list->arena.env, (void **)&list->items, capacity,
                                     sizeof *list->items, err));
        list->capacity = capacity;
    }
    list->items[list->count] = *meta;
    SINTER__CHECK(settle(&list->arena, &list->items[list->count], err));
    list->count++;
    return SINTER_OK;
}

sinter_status
sinter__manifest_list_read(const sinter_env *env, const char *path, uint64_t expected_bytes,
                           sinter__manifest_list *list, sinter_error *err)
{
    const sinter__meta_read how = {.expected_bytes = expected_bytes, .keep = &list->arena};
    sinter__meta_file *file = NULL;
    sinter_status st = SINTER_OK;

    list->arena.env = env;
    SINTER__TRY(sinter__meta_file_open(env, path, &kind, &how, &file, err));
    for (;;) {
        sinter__manifest_meta meta;
        sinter__cargo cargo = {0};

        SINTER__TRY(sinter__meta_file_next(file, &meta, &cargo, err));
        meta.cargo = cargo;
        SINTER__TRY(sinter__meta_file_fault(file, check(&meta, err), err));
        SINTER__TRY(add(list, &meta, err));
    }
out:
    sinter__meta_file_close(file);
    return st == SINTER_END ? SINTER_OK : st;
}

void
sinter__manifest_list_fini(sinter__manifest_list *list)
{
    if (list->arena.env != NULL) {
        sinter__free(list->arena.env, list->items);
        sinter__arena_fini(&list->arena);
        memset(list, 0, sizeof *list);
    }
}

static size_t
room_of(const sinter__manifest_meta *meta, const sinter__carried_union *carried)
{
    enum { NUMBERS_MAX = 16 };

    return (size_t)NUMBERS_MAX * SINTER__AVRO_LONG_BYTES_MAX + meta->file_name.size +
           sinter__simple_stats_room(&meta->partition_stats) +
           sinter__carried_union_room(carried, &meta->cargo);
}

static uint8_t *
put_maybe(uint8_t *to, const sinter__manifest_meta *meta, uint32_t has_bit, int32_t value)
{
    const bool has = (meta->has & has_bit) != 0;

    to = sinter__avro_put_long(to, has);
    return has ? sinter__avro_put_long(to, value) : to;
}

static uint8_t *
put(uint8_t *to, const sinter__manifest_meta *meta, const sinter__carried_union *carried)
{
    to = sinter__avro_put_long(to, SINTER__MANIFEST_LIST_VERSION);
    to = sinter__avro_put_bytes(to, meta->file_name);
    to = sinter__avro_put_long(to, meta->file_size);
    to = sinter__avro_put_long(to, meta->added_count);
    to = sinter__avro_put_long(to, meta->deleted_count);
    to = sinter__simple_stats_put(to, &meta->partition_stats);
    to = sinter__avro_put_long(to, meta->schema_id);
    to = put_maybe(to, meta, SINTER__MANIFEST_HAS_MIN_BUCKET, meta->min_bucket);
    to = put_maybe(to, meta, SINTER__MANIFEST_HAS_MAX_BUCKET, meta->max_bucket);
    to = put_maybe(to, meta, SINTER__MANIFEST_HAS_MIN_LEVEL, meta->min_level);
    to = put_maybe(to, meta, SINTER__MANIFEST_HAS_MAX_LEVEL, meta->max_level);
    return sinter__carried_union_put(carried, &meta->cargo, NULL, to);
}

sinter_status
sinter__manifest_list_write(const sinter_env *env, const sinter__meta_write *how,
                            const sinter__manifest_meta *items, size_t count, uint64_t *bytes_out,
                            sinter_error *err)
{
    sinter__carried_union carried = {.env = env};
    sinter__meta_writer *writer = NULL;
    sinter_status st = SINTER_OK;

    *bytes_out = 0;
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(sinter__carried_union_note(&carried, items[i].cargo.carried, err));
    }
    SINTER__TRY(sinter__meta_file_create(env, how, &kind, &carried, &writer, err));
    for (size_t i = 0; i < count; i++) {
        uint8_t *to = NULL;
        const uint8_t *end = NULL;

        SINTER__TRY(sinter__meta_writer_reserve(writer, room_of(&items[i], &carried), &to, err));
        end = put(to, &items[i], &carried);
        SINTER__TRY(sinter__meta_writer_commit(writer, (size_t)(end - to), err));
    }
    SINTER__TRY(sinter__meta_writer_finish(writer, bytes_out, err));
out:
    sinter__meta_writer_close(writer);
    sinter__carried_union_fini(&carried);
    sinter__fail_file(st < 0 ? err : NULL, how->path);
    return st;
}
