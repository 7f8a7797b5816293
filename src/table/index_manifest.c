#include "table/index_manifest.h"

#include <inttypes.h>
#include <string.h>

#include "table/manifest_entry.h"

static const sinter__avro_want vector_wants[] = {
    {"f0", SINTER__AVRO_FORM_BYTES, offsetof(sinter__vector_range, data_file), 0, NULL},
    {"f1", SINTER__AVRO_FORM_INT32, offsetof(sinter__vector_range, offset), 0, NULL},
    {"f2", SINTER__AVRO_FORM_INT32, offsetof(sinter__vector_range, length), 0, NULL},
    {"_CARDINALITY", SINTER__AVRO_FORM_INT64, offsetof(sinter__vector_range, cardinality),
     SINTER__VECTOR_HAS_CARDINALITY, NULL}};

static const sinter__avro_shape vector_shape = {
    vector_wants, sizeof vector_wants / sizeof vector_wants[0], sizeof(sinter__vector_range),
    offsetof(sinter__vector_range, has)};

#define INDEX_WANT(field, form, member, has_bit)                                                  \
    {                                                                                             \
        (field), SINTER__AVRO_FORM_##form, offsetof(sinter__index_entry, member), (has_bit), NULL \
    }

static const sinter__avro_want wants[] = {
    INDEX_WANT("_VERSION", INT32, version, 0),
    INDEX_WANT("_KIND", INT32, kind, 0),
    INDEX_WANT("_PARTITION", BYTES, partition, 0),
    INDEX_WANT("_BUCKET", INT32, bucket, 0),
    INDEX_WANT("_INDEX_TYPE", BYTES, index_type, 0),
    INDEX_WANT("_FILE_NAME", BYTES, file_name, 0),
    INDEX_WANT("_FILE_SIZE", INT64, file_size, 0),
    INDEX_WANT("_ROW_COUNT", INT64, row_count, 0),
    {"_DELETIONS_VECTORS_RANGES", SINTER__AVRO_FORM_RECORD_LIST,
     offsetof(sinter__index_entry, vectors), SINTER__INDEX_HAS_VECTORS, &vector_shape},
    INDEX_WANT("_EXTERNAL_PATH", BYTES, external_path, SINTER__INDEX_HAS_EXTERNAL_PATH)};

static const sinter__avro_shape shape = {wants, sizeof wants / sizeof wants[0],
                                         sizeof(sinter__index_entry),
                                         offsetof(sinter__index_entry, has)};

/* Paimon 1.3.1's, letter for letter. */
static const sinter__meta_kind kind = {
    .what = "index manifest",
    .shape = &shape,
    .version = SINTER__INDEX_MANIFEST_VERSION,
    .schema_begin =
        "{\"type\":\"record\",\"name\":\"record\",\"namespace\":\"org.apache.paimon.avro."
        "generated\","
        "\"fields\":[{\"name\":\"_VERSION\",\"type\":\"int\"},"
        "{\"name\":\"_KIND\",\"type\":\"int\"},"
        "{\"name\":\"_PARTITION\",\"type\":\"bytes\"},"
        "{\"name\":\"_BUCKET\",\"type\":\"int\"},"
        "{\"name\":\"_INDEX_TYPE\",\"type\":\"string\"},"
        "{\"name\":\"_FILE_NAME\",\"type\":\"string\"},"
        "{\"name\":\"_FILE_SIZE\",\"type\":\"long\"},"
        "{\"name\":\"_ROW_COUNT\",\"type\":\"long\"},"
        "{\"name\":\"_DELETIONS_VECTORS_RANGES\",\"type\":[\"null\",{\"type\":\"array\",\"items\":"
        "[\"null\",{\"type\":\"record\",\"name\":\"record__DELETIONS_VECTORS_RANGES\",\"fields\":["
        "{\"name\":\"f0\",\"type\":\"string\"},{\"name\":\"f1\",\"type\":\"int\"},"
        "{\"name\":\"f2\",\"type\":\"int\"},"
        "{\"name\":\"_CARDINALITY\",\"type\":[\"null\",\"long\"],\"default\":null}]}]}],"
        "\"default\":null},"
        "{\"name\":\"_EXTERNAL_PATH\",\"type\":[\"null\",\"string\"],\"default\":null}"};

static sinter_status
check(const sinter__index_entry *entry, sinter_error *err)
{
    if (entry->kind != 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "_KIND is %d, where a full list has ADD only",
                           entry->kind);
    }
    SINTER__CHECK(sinter__meta_name_check(entry->file_name, "_FILE_NAME", err));
    if (entry->file_size < 0 || entry->row_count < 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT,
                           "an index file of %" PRId64 " bytes and %" PRId64 " rows",
                           entry->file_size, entry->row_count);
    }
    for (size_t i = 0; i < entry->vectors.count; i++) {
        const sinter__vector_range *vector = &entry->vectors.items[i];

        SINTER__CHECK(sinter__meta_name_check(vector->data_file, "f0", err));
        if (vector->offset < 0 || vector->length < 0) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "a vector of %d bytes at %d", vector->length,
                               vector->offset);
        }
    }
    return SINTER_OK;
}

static sinter_status
settle_vectors(sinter__arena *arena, sinter__vector_list *list, sinter_error *err)
{
    sinter__vector_range *items = NULL;

    SINTER__CHECK(sinter__arena_take(arena, list->count * sizeof *items, (void **)&items, err));
    for (size_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        SINTER__CHECK(sinter__arena_copy(arena, items[i].data_file, &items[i].data_file, err));
    }
    list->items = items;
    return SINTER_OK;
}

/** Let what an entry points to lie in the arena. */
static sinter_status
settle(sinter__arena *arena, sinter__index_entry *entry, sinter_error *err)
{
    sinter_bytes *const bytes[] = {&entry->partition, &entry->index_type, &entry->file_name,
                                   &entry->external_path};
    const size_t values = entry->cargo.carried == NULL ? 0 : entry->cargo.carried->value_count;
    sinter_bytes *items = NULL;

    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        SINTER__CHECK(sinter__arena_copy(arena, *bytes[i], bytes[i], err));
    }
    SINTER__CHECK(settle_vectors(arena, &entry->vectors, err));
    SINTER__CHECK(sinter__arena_take(arena, values * sizeof *items, (void **)&items, err));
    for (size_t i = 0; i < values; i++) {
        SINTER__CHECK(sinter__arena_copy(arena, entry->cargo.values[i], &items[i], err));
    }
    entry->cargo.values = items;
    return SINTER_OK;
}

static sinter_status
add(sinter__index_manifest *manifest, const sinter__index_entry *entry, sinter_error *err)
{
    if (manifest->count == manifest->capacity) {
        const size_t capacity = manifest->capacity == 0 ? 16 : 2 * manifest->capacity;

        SINTER__CHECK(sinter__resize(manifest->arena.env, (void **)&manifest->items, capacity,
                                     sizeof *manifest->items, err));
        manifest->capacity = capacity;
    }
    manifest->items[manifest->count] = *entry;
    SINTER__CHECK(settle(&manifest->arena, &manifest->items[manifest->count], err));
    manifest->count++;
    return SINTER_OK;
}

sinter_status
sinter__index_manifest_read(const sinter_env *env, const char *path,
                            sinter__index_manifest *manifest, sinter_error *err)
{
    const sinter__meta_read how = {.keep = &manifest->arena};
    sinter__meta_file *file = NULL;
    sinter_status st = SINTER_OK;

    manifest->arena.env = env;
    SINTER__TRY(sinter__meta_file_open(env, path, &kind, &how, &file, err));
    for (;;) {
        sinter__index_entry entry;
        sinter__cargo cargo = {0};

        SINTER__TRY(sinter__meta_file_next(file, &entry, &cargo, err));
        entry.cargo = cargo;
        SINTER__TRY(sinter__meta_file_fault(file, check(&entry, err), err));
        SINTER__TRY(add(manifest, &entry, err));
    }
out:
    sinter__meta_file_close(file);
    return st == SINTER_END ? SINTER_OK : st;
}

void
sinter__index_manifest_fini(sinter__index_manifest *manifest)
{
    if (manifest->arena.env != NULL) {
        sinter__free(manifest->arena.env, manifest->items);
        sinter__arena_fini(&manifest->arena);
        memset(manifest, 0, sizeof *manifest);
    }
}

static size_t
room_of(const sinter__index_entry *entry, const sinter__carried_union *carried)
{
    enum { NUMBERS_MAX = 16, VECTOR_NUMBERS_MAX = 6 };
    size_t room = (size_t)NUMBERS_MAX * SINTER__AVRO_LONG_BYTES_MAX + entry->partition.size +
                  entry->index_type.size + entry->file_name.size + entry->external_path.size +
                  sinter__carried_union_room(carried, &entry->cargo);

    for (size_t i = 0; i < entry->vectors.count; i++) {
        room += entry->vectors.items[i].data_file.size +
                (size_t)VECTOR_NUMBERS_MAX * SINTER__AVRO_LONG_BYTES_MAX;
    }
    return room;
}

static uint8_t *
put_vectors(uint8_t *to, const sinter__vector_list *vectors)
{
    if (vectors->count > 0) {
        to = sinter__avro_put_long(to, (int64_t)vectors->count);
    }
    for (size_t i = 0; i < vectors->count; i++) {
        const sinter__vector_range *vector = &vectors->items[i];
        const bool has = (vector->has & SINTER__VECTOR_HAS_CARDINALITY) != 0;

        to = sinter__avro_put_long(to, 1);
        to = sinter__avro_put_bytes(to, vector->data_file);
        to = sinter__avro_put_long(to, vector->offset);
        to = sinter__avro_put_long(to, vector->length);
        to = sinter__avro_put_long(to, has);
        to = has ? sinter__avro_put_long(to, vector->cardinality) : to;
    }
    return sinter__avro_put_long(to, 0);
}

static uint8_t *
put(uint8_t *to, const sinter__index_entry *entry, const sinter__carried_union *carried)
{
    const bool has_vectors = (entry->has & SINTER__INDEX_HAS_VECTORS) != 0;
    const bool has_path = (entry->has & SINTER__INDEX_HAS_EXTERNAL_PATH) != 0;

    to = sinter__avro_put_long(to, SINTER__INDEX_MANIFEST_VERSION);
    to = sinter__avro_put_long(to, entry->kind);
    to = sinter__avro_put_bytes(to, entry->partition);
    to = sinter__avro_put_long(to, entry->bucket);
    to = sinter__avro_put_bytes(to, entry->index_type);
    to = sinter__avro_put_bytes(to, entry->file_name);
    to = sinter__avro_put_long(to, entry->file_size);
    to = sinter__avro_put_long(to, entry->row_count);
    to = sinter__avro_put_long(to, has_vectors);
    to = has_vectors ? put_vectors(to, &entry->vectors) : to;
    to = sinter__avro_put_long(to, has_path);
    to = has_path ? sinter__avro_put_bytes(to, entry->external_path) : to;
    return sinter__carried_union_put(carried, &entry->cargo, NULL, to);
}

sinter_status
sinter__index_manifest_write(const sinter_env *env, const sinter__meta_write *how,
                             const sinter__index_entry *const *entries, size_t count,
                             uint64_t *bytes_out, sinter_error *err)
{
    sinter__carried_union carried = {.env = env};
    sinter__meta_writer *writer = NULL;
    sinter_status st = SINTER_OK;

    *bytes_out = 0;
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(sinter__carried_union_note(&carried, entries[i]->cargo.carried, err));
    }
    SINTER__TRY(sinter__meta_file_create(env, how, &kind, &carried, &writer, err));
    for (size_t i = 0; i < count; i++) {
        uint8_t *to = NULL;
        const uint8_t *end = NULL;

        SINTER__TRY(sinter__meta_writer_reserve(writer, room_of(entries[i], &carried), &to, err));
        end = put(to, entries[i], &carried);
        SINTER__TRY(sinter__meta_writer_commit(writer, (size_t)(end - to), err));
    }
    SINTER__TRY(sinter__meta_writer_finish(writer, bytes_out, err));
out:
    sinter__meta_writer_close(writer);
    sinter__carried_union_fini(&carried);
    sinter__fail_file(st < 0 ? err : NULL, how->path);
    return st;
}
