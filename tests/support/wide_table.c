#include "wide_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "sinter/io.h"
#include "sinter/type.h"
#include "table/make_dirs.h"
#include "table/manifest.h"

enum { ROWS = 1000, BATCH = 20000, PATH_BYTES = 512, COLUMNS = 7, LEVEL = 5 };

static const char columns_json[] =
    "[{\"id\":0,\"name\":\"dt\",\"type\":\"STRING NOT NULL\"},"
    "{\"id\":1,\"name\":\"hr\",\"type\":\"INT NOT NULL\"},"
    "{\"id\":2,\"name\":\"id\",\"type\":\"BIGINT NOT NULL\"},"
    "{\"id\":3,\"name\":\"name\",\"type\":\"STRING\"},{\"id\":4,\"name\":\"n\",\"type\":\"INT\"},"
    "{\"id\":5,\"name\":\"price\",\"type\":\"DOUBLE\"},"
    "{\"id\":6,\"name\":\"at\",\"type\":\"TIMESTAMP(6)\"}]";

/* A table being written. */
typedef struct writing {
    const sinter_env *env;
    const char *dir;
    const wide_table *shape;
    sinter_row_type *types[3]; /* of partitions, keys, all columns */
    sinter__arena kept;        /* of what lists say */
    sinter__manifest_meta *metas;
    size_t meta_count;
    sinter__arena arena; /* of the entries at hand */
    const sinter__manifest_entry **entries;
    uint32_t *partitions; /* one for each */
    size_t entry_count;
    sinter_text text;
} writing;

enum { TYPE_PARTITION, TYPE_KEY, TYPE_ALL };

static sinter_status
write_text(const writing *w, const char *name, const char *text, sinter_error *err)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof path, "%s/%s", w->dir, name);
    return w->env->io->ops->replace(w->env->io, path, text, strlen(text), err);
}

static sinter_status
make_dir(const writing *w, const char *name, sinter_error *err)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof path, "%s/%s", w->dir, name);
    return sinter__dirs_make(w->env, path, NULL, err);
}

/* A row of metadata: its arity, then the row. */
static sinter_status
put_row(writing *w, int type, const sinter_datum *values, sinter_bytes *out, sinter_error *err)
{
    uint8_t arity[4];

    sinter__put_be32(arity, (uint32_t)sinter_row_type_count(w->types[type]));
    sinter_text_reset(&w->text);
    SINTER__CHECK(sinter_text_append(&w->text, arity, sizeof arity, err));
    SINTER__CHECK(sinter_row_encode(w->types[type], values, 0, &w->text, err));
    return sinter__arena_copy(&w->arena, sinter_text_bytes(&w->text), out, err);
}

static sinter_datum
text_datum(const char *text)
{
    return (sinter_datum){.as.bytes = {(const uint8_t *)text, strlen(text)}};
}

static sinter_datum
double_datum(double value)
{
    sinter_datum out = {.nanos = 0};

    memcpy(&out.as.double_bits, &value, sizeof value);
    return out;
}

/* Days ascend with the number of the partition. */
static const char *
day_of(uint32_t partition, char out[32])
{
    (void)snprintf(out, 32, "2024-%02u-%02u", 1 + partition / 24 / 28 % 12,
                   1 + partition / 24 % 28);
    return out;
}

/* Where a file stands. */
typedef struct place {
    uint32_t partition;
    uint32_t bucket;
    uint32_t file;
} place;

static sinter_status
put_stats(writing *w, const place *at, sinter__data_file *file, sinter_error *err)
{
    const int64_t first = (int64_t)at->file * ROWS;
    char dt[32];
    char low[32];
    char high[32];
    int64_t *nulls = NULL;
    sinter_datum values[COLUMNS];

    (void)snprintf(low, sizeof low, "name-%010" PRId64, first);
    (void)snprintf(high, sizeof high, "name-%010" PRId64, first + ROWS - 1);
    for (int i = 0; i < 2; i++) {
        const int64_t id = first + (i == 0 ? 0 : ROWS - 1);

        values[0] = text_datum(day_of(at->partition, dt));
        values[1] = (sinter_datum){.as.integer = at->partition % 24};
        values[2] = (sinter_datum){.as.integer = id};
        values[3] = text_datum(i == 0 ? low : high);
        values[4] = (sinter_datum){.as.integer = i == 0 ? at->bucket : at->bucket + 100};
        values[5] = double_datum((double)at->file + 0.25 + i);
        values[6] = (sinter_datum){.as.integer = 1700000000000 + id, .nanos = 1000};
        SINTER__CHECK(
            put_row(w, TYPE_KEY, &values[2], i == 0 ? &file->min_key : &file->max_key, err));
        SINTER__CHECK(
            put_row(w, TYPE_ALL, values,
                    i == 0 ? &file->value_stats.min_values : &file->value_stats.max_values, err));
    }
    SINTER__CHECK(sinter__arena_take(&w->arena, COLUMNS * sizeof *nulls, (void **)&nulls, err));
    memset(nulls, 0, COLUMNS * sizeof *nulls);
    file->key_stats = (sinter__simple_stats){.min_values = file->min_key,
                                             .max_values = file->max_key,
                                             .null_counts = {nulls, 1},
                                             .has = SINTER__STATS_HAS_NULL_COUNTS};
    file->value_stats.null_counts = (sinter__int64_list){nulls, COLUMNS};
    file->value_stats.has = SINTER__STATS_HAS_NULL_COUNTS;
    return SINTER_OK;
}

static sinter_status
make_entry(writing *w, const place *at, uint32_t number, sinter__manifest_entry *out,
           sinter_error *err)
{
    sinter__data_file *file = &out->file;
    sinter_datum values[2];
    char name[64];
    char dt[32];

    values[0] = text_datum(day_of(at->partition, dt));
    values[1] = (sinter_datum){.as.integer = at->partition % 24};
    /* Like the names of real files: a UUID for each writer, and a number. */
    (void)snprintf(name, sizeof name, "data-%08x-%04x-4%03x-8%03x-%012" PRIx64 "-%u.parquet",
                   (at->partition * 2654435761u) ^ number, at->bucket, at->partition & 0xfff,
                   number & 0xfff, (uint64_t)number * 11400714819323198485u >> 16, at->file);
    *out = (sinter__manifest_entry){.version = SINTER__MANIFEST_VERSION,
                                    .kind = SINTER__ENTRY_ADD,
                                    .bucket = (int32_t)at->bucket,
                                    .total_buckets = (int32_t)w->shape->buckets};
    SINTER__CHECK(put_row(w, TYPE_PARTITION, values, &out->partition, err));
    *file = (sinter__data_file){.file_size = 40000 + number % 5000,
                                .row_count = ROWS,
                                .min_sequence = (int64_t)number * ROWS,
                                .max_sequence = (int64_t)number * ROWS + ROWS - 1,
                                .level = LEVEL,
                                .has = SINTER__FILE_HAS_CREATION_TIME |
                                       SINTER__FILE_HAS_DELETE_ROW_COUNT | SINTER__FILE_HAS_SOURCE,
                                .creation_time_ms = 1700000000000 + number,
                                .source = SINTER__FILE_SOURCE_COMPACT};
    SINTER__CHECK(sinter__arena_copy(&w->arena, (sinter_bytes){(const uint8_t *)name, strlen(name)},
                                     &file->file_name, err));
    return put_stats(w, at, file, err);
}

/* ---- manifests ---- */

/* What lists say of a manifest: its name, and the bounds of its partitions. */
static sinter_status
add_meta(writing *w, const char *name, size_t first, sinter__manifest_meta *made, sinter_error *err)
{
    static int64_t none[2];
    const size_t entries = (size_t)(made->added_count + made->deleted_count);
    sinter__simple_stats *stats = &made->partition_stats;
    const sinter_bytes name_bytes = {(const uint8_t *)name, strlen(name)};
    uint32_t ends[2] = {w->partitions[first], w->partitions[first]};

    for (size_t e = first; e < first + entries; e++) {
        ends[0] = w->partitions[e] < ends[0] ? w->partitions[e] : ends[0];
        ends[1] = w->partitions[e] > ends[1] ? w->partitions[e] : ends[1];
    }
    SINTER__CHECK(
        sinter__resize(w->env, (void **)&w->metas, w->meta_count + 1, sizeof *w->metas, err));
    for (int i = 0; i < 2; i++) {
        char dt[32];
        const sinter_datum values[2] = {text_datum(day_of(ends[i], dt)),
                                        {.as.integer = i == 0 ? 0 : 23}};
        sinter_bytes row = {0};

        SINTER__CHECK(put_row(w, TYPE_PARTITION, values, &row, err));
        SINTER__CHECK(sinter__arena_copy(&w->kept, row,
                                         i == 0 ? &stats->min_values : &stats->max_values, err));
    }
    stats->null_counts = (sinter__int64_list){none, 2};
    stats->has = SINTER__STATS_HAS_NULL_COUNTS;
    SINTER__CHECK(sinter__arena_copy(&w->kept, name_bytes, &made->file_name, err));
    w->metas[w->meta_count++] = *made;
    return SINTER_OK;
}

/* Write the entries at hand. */
static sinter_status
flush(writing *w, sinter_error *err)
{
    size_t done = 0;

    while (done < w->entry_count) {
        sinter__manifest_meta made = {.version = SINTER__MANIFEST_LIST_VERSION};
        sinter__meta_write how = {.target_bytes = w->shape->manifest_bytes};
        char name[64];
        char path[PATH_BYTES];

        (void)snprintf(name, sizeof name, "manifest-00000000-0000-4000-8000-000000000000-%zu",
                       w->meta_count);
        (void)snprintf(path, sizeof path, "%s/manifest/%s", w->dir, name);
        how.path = path;
        SINTER__CHECK(sinter__meta_codec("zstd", 1, &how.codec, err));
        SINTER__CHECK(sinter__manifest_write(w->env, &how, w->entries + done, w->entry_count - done,
                                             &made, err));
        SINTER__CHECK(add_meta(w, name, done, &made, err));
        done += (size_t)(made.added_count + made.deleted_count);
    }
    w->entry_count = 0;
    sinter__arena_fini(&w->arena);
    return SINTER_OK;
}

static sinter_status
add_entry(writing *w, const place *at, uint32_t number, int32_t kind, sinter_error *err)
{
    sinter__manifest_entry *entry = NULL;

    SINTER__CHECK(sinter__arena_take(&w->arena, sizeof *entry, (void **)&entry, err));
    SINTER__CHECK(make_entry(w, at, number, entry, err));
    entry->kind = kind;
    w->partitions[w->entry_count] = at->partition;
    w->entries[w->entry_count++] = entry;
    return w->entry_count == BATCH ? flush(w, err) : SINTER_OK;
}

static sinter_status
write_manifests(writing *w, sinter_error *err)
{
    const wide_table *shape = w->shape;
    const place first = {.file = 0};
    uint32_t number = 0;

    for (uint32_t p = 0; p < shape->partitions; p++) {
        for (uint32_t b = 0; b < shape->buckets; b++) {
            for (uint32_t f = 0; f < shape->files; f++) {
                const place at = {.partition = p, .bucket = b, .file = f};

                SINTER__CHECK(add_entry(w, &at, number++, SINTER__ENTRY_ADD, err));
            }
        }
    }
    for (uint32_t i = 0; i < 2 * shape->deleted; i++) {
        SINTER__CHECK(add_entry(w, &first, number + i % shape->deleted,
                                i < shape->deleted ? SINTER__ENTRY_ADD : SINTER__ENTRY_DELETE,
                                err));
    }
    return flush(w, err);
}

static sinter_status
write_list(writing *w, const char *name, size_t count, uint64_t *bytes_out, sinter_error *err)
{
    sinter__meta_write how = {.target_bytes = 0};
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof path, "%s/manifest/%s", w->dir, name);
    how.path = path;
    SINTER__CHECK(sinter__meta_codec("zstd", 1, &how.codec, err));
    return sinter__manifest_list_write(w->env, &how, w->metas, count, bytes_out, err);
}

static sinter_status
write_documents(writing *w, sinter_error *err)
{
    const uint64_t files = (uint64_t)w->shape->partitions * w->shape->buckets * w->shape->files;
    uint64_t base_bytes = 0;
    uint64_t delta_bytes = 0;
    char text[2048];

    SINTER__CHECK(write_list(w, "manifest-list-0", w->meta_count, &base_bytes, err));
    SINTER__CHECK(write_list(w, "manifest-list-1", 0, &delta_bytes, err));
    (void)snprintf(text, sizeof text,
                   "{\"version\":3,\"id\":0,\"fields\":%s,\"highestFieldId\":6,"
                   "\"partitionKeys\":[\"dt\",\"hr\"],\"primaryKeys\":[\"dt\",\"hr\",\"id\"],"
                   "\"options\":{\"bucket\":\"%u\",\"file.format\":\"parquet\"},"
                   "\"timeMillis\":1700000000000}",
                   columns_json, w->shape->buckets);
    SINTER__CHECK(write_text(w, "schema/schema-0", text, err));
    (void)snprintf(
        text, sizeof text,
        "{\"version\":3,\"id\":1,\"schemaId\":0,\"baseManifestList\":\"manifest-list-0\","
        "\"baseManifestListSize\":%" PRIu64
        ",\"deltaManifestList\":\"manifest-list-1\",\"deltaManifestListSize\":%" PRIu64
        ",\"changelogManifestList\":null,\"commitUser\":\"u\",\"commitIdentifier\":1,"
        "\"commitKind\":\"COMPACT\",\"timeMillis\":1700000000000,\"logOffsets\":{},"
        "\"totalRecordCount\":%" PRIu64 ",\"deltaRecordCount\":0,\"changelogRecordCount\":0}",
        base_bytes, delta_bytes, files * ROWS);
    SINTER__CHECK(write_text(w, "snapshot/snapshot-1", text, err));
    return write_text(w, "snapshot/LATEST", "1", err);
}

static sinter_status
make_types(writing *w, sinter_error *err)
{
    static const char *const parts[] = {
        "[{\"name\":\"dt\",\"type\":\"STRING\"},{\"name\":\"hr\",\"type\":\"INT\"}]",
        "[{\"name\":\"id\",\"type\":\"BIGINT\"}]", columns_json};

    for (size_t i = 0; i < 3; i++) {
        SINTER__CHECK(sinter_row_type_parse(w->env, parts[i], strlen(parts[i]), &w->types[i], err));
    }
    return SINTER_OK;
}

sinter_status
wide_table_write(const sinter_env *env, const char *dir, const wide_table *shape, sinter_error *err)
{
    writing w = {.env = env, .dir = dir, .shape = shape, .arena.env = env, .kept.env = env};
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &w.text);
    SINTER__TRY(make_types(&w, err));
    SINTER__TRY(SINTER__NEW(env, w.entries, BATCH, err));
    SINTER__TRY(SINTER__NEW(env, w.partitions, BATCH, err));
    SINTER__TRY(make_dir(&w, "schema", err));
    SINTER__TRY(make_dir(&w, "snapshot", err));
    SINTER__TRY(make_dir(&w, "manifest", err));
    SINTER__TRY(write_manifests(&w, err));
    SINTER__TRY(write_documents(&w, err));
out:
    for (size_t i = 0; i < 3; i++) {
        sinter_row_type_destroy(w.types[i]);
    }
    sinter_text_fini(&w.text);
    sinter__arena_fini(&w.arena);
    sinter__free(env, w.entries);
    sinter__free(env, w.metas);
    sinter__free(env, w.partitions);
    sinter__arena_fini(&w.kept);
    return st;
}
