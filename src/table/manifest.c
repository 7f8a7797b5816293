#include "table/manifest.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { ROLL_ENTRIES = 1000 }; /* between two looks at a file's size */

#define STATS_SCHEMA(name)                                                                    \
    "{\"type\":\"record\",\"name\":\"" name                                                   \
    "\",\"fields\":[{\"name\":\"_MIN_VALUES\",\"type\":\"bytes\"},{\"name\":\"_MAX_VALUES\"," \
    "\"type\":\"bytes\"},{\"name\":\"_NULL_COUNTS\",\"type\":[\"null\",{\"type\":\"array\","  \
    "\"items\":[\"null\",\"long\"]}],\"default\":null}]}"

/* Paimon 1.3.1's, letter for letter. */
static const sinter__meta_kind kind = {
    .what = "manifest",
    .shape = &sinter__manifest_entry_shape,
    .version = SINTER__MANIFEST_VERSION,
    .schema_begin =
        "{\"type\":\"record\",\"name\":\"record\",\"namespace\":\"org.apache.paimon.avro."
        "generated\","
        "\"fields\":[{\"name\":\"_VERSION\",\"type\":\"int\"},"
        "{\"name\":\"_KIND\",\"type\":\"int\"},"
        "{\"name\":\"_PARTITION\",\"type\":\"bytes\"},"
        "{\"name\":\"_BUCKET\",\"type\":\"int\"},"
        "{\"name\":\"_TOTAL_BUCKETS\",\"type\":\"int\"},"
        "{\"name\":\"_FILE\",\"type\":{\"type\":\"record\",\"name\":\"record__FILE\",\"fields\":["
        "{\"name\":\"_FILE_NAME\",\"type\":\"string\"},"
        "{\"name\":\"_FILE_SIZE\",\"type\":\"long\"},"
        "{\"name\":\"_ROW_COUNT\",\"type\":\"long\"},"
        "{\"name\":\"_MIN_KEY\",\"type\":\"bytes\"},"
        "{\"name\":\"_MAX_KEY\",\"type\":\"bytes\"},"
        "{\"name\":\"_KEY_STATS\",\"type\":" STATS_SCHEMA(
            "record__FILE__KEY_STATS") "},"
                                       "{\"name\":\"_VALUE_STATS\",\"type\":" STATS_SCHEMA(
                                           "record__FILE__VALUE_STATS") "},"
                                                                        "{\"name\":\"_MIN_SEQUENCE_"
                                                                        "NUMBER\",\"type\":"
                                                                        "\"long\"},"
                                                                        "{\"name\":\"_MAX_SEQUENCE_"
                                                                        "NUMBER\",\"type\":"
                                                                        "\"long\"},"
                                                                        "{\"name\":\"_SCHEMA_ID\","
                                                                        "\"type\":\"long\"},"
                                                                        "{\"name\":\"_LEVEL\","
                                                                        "\"type\":\"int\"},"
                                                                        "{\"name\":\"_EXTRA_"
                                                                        "FILES\",\"type\":{"
                                                                        "\"type\":\"array\","
                                                                        "\"items\":\"string\"}},"
                                                                        "{\"name\":\"_CREATION_"
                                                                        "TIME\",\"type\":[\"null\","
                                                                        "{\"type\":\"long\","
                                                                        "\"logicalType\":"
                                                                        "\"timestamp-millis\"}],"
                                                                        "\"default\":null},"
                                                                        "{\"name\":\"_DELETE_ROW_"
                                                                        "COUNT\",\"type\":["
                                                                        "\"null\",\"long\"],"
                                                                        "\"default\":null},"
                                                                        "{\"name\":\"_EMBEDDED_"
                                                                        "FILE_INDEX\",\"type\":["
                                                                        "\"null\",\"bytes\"],"
                                                                        "\"default\":null},"
                                                                        "{\"name\":\"_FILE_"
                                                                        "SOURCE\",\"type\":["
                                                                        "\"null\",\"int\"],"
                                                                        "\"default\":null},"
                                                                        "{\"name\":\"_VALUE_STATS_"
                                                                        "COLS\",\"type\":[\"null\","
                                                                        "{\"type\":\"array\","
                                                                        "\"items\":"
                                                                        "\"string\"}],\"default\":"
                                                                        "null},"
                                                                        "{\"name\":\"_EXTERNAL_"
                                                                        "PATH\",\"type\":[\"null\","
                                                                        "\"string\"],\"default\":"
                                                                        "null},"
                                                                        "{\"name\":\"_FIRST_ROW_"
                                                                        "ID\",\"type\":[\"null\","
                                                                        "\"long\"],\"default\":"
                                                                        "null},"
                                                                        "{\"name\":\"_WRITE_COLS\","
                                                                        "\"type\":[\"null\",{"
                                                                        "\"type\":\"array\","
                                                                        "\"items\":\"string\"}],"
                                                                        "\"default\":null}",
    .outer = "_FILE",
    .schema_outer = "]}}"};

struct sinter__manifest_reader {
    const sinter_env *env;
    sinter__meta_file *file;
    sinter__manifest_entry entry;
    int64_t counts[2];   /* of entries so far, by kind */
    int64_t expected[2]; /* -1: unknown */
};

sinter_status
sinter__manifest_open(const sinter_env *env, const char *path, const sinter__manifest_meta *listed,
                      sinter__arena *keep, sinter__manifest_reader **out, sinter_error *err)
{
    const sinter__meta_read how = {
        .expected_bytes = listed == NULL ? 0 : (uint64_t)listed->file_size, .keep = keep};
    sinter__manifest_reader *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->expected[SINTER__ENTRY_ADD] = listed == NULL ? -1 : listed->added_count;
    self->expected[SINTER__ENTRY_DELETE] = listed == NULL ? -1 : listed->deleted_count;
    SINTER__TRY(sinter__meta_file_open(env, path, &kind, &how, &self->file, err));
    *out = self;
    self = NULL;
out:
    sinter__manifest_close(self);
    return st;
}

static sinter_status
check_counts(const sinter__manifest_reader *self, sinter_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (self->expected[i] >= 0 && self->expected[i] != self->counts[i]) {
            return SINTER__ERR(
                err, SINTER_E_CORRUPT, "%" PRId64 " %s entries where the list says %" PRId64,
                self->counts[i], i == SINTER__ENTRY_ADD ? "ADD" : "DELETE", self->expected[i]);
        }
    }
    return SINTER_END;
}

static sinter_status
next_entry(sinter__manifest_reader *self, sinter_error *err)
{
    sinter__cargo cargo = {0};
    const sinter_status st = sinter__meta_file_next(self->file, &self->entry, &cargo, err);

    if (st == SINTER_END) {
        return check_counts(self, err);
    }
    SINTER__CHECK(st);
    self->entry.cargo = cargo;
    SINTER__CHECK(sinter__manifest_entry_check(&self->entry, err));
    self->counts[self->entry.kind]++;
    return SINTER_OK;
}

sinter_status
sinter__manifest_next(sinter__manifest_reader *reader, const sinter__manifest_entry **out,
                      sinter_error *err)
{
    const sinter_status st = sinter__meta_file_fault(reader->file, next_entry(reader, err), err);

    *out = st == SINTER_OK ? &reader->entry : NULL;
    return st;
}

void
sinter__manifest_close(sinter__manifest_reader *reader)
{
    if (reader != NULL) {
        sinter__meta_file_close(reader->file);
        sinter__free(reader->env, reader);
    }
}

static void
widen(int32_t *min, int32_t *max, int32_t value, bool is_first)
{
    *min = is_first || value < *min ? value : *min;
    *max = is_first || value > *max ? value : *max;
}

/** Take an entry into what the list has to know. */
static void
count_entry(sinter__manifest_meta *meta, const sinter__manifest_entry *entry)
{
    const bool is_first = meta->added_count + meta->deleted_count == 0;

    meta->added_count += entry->kind == SINTER__ENTRY_ADD;
    meta->deleted_count += entry->kind == SINTER__ENTRY_DELETE;
    meta->schema_id =
        entry->file.schema_id > meta->schema_id ? entry->file.schema_id : meta->schema_id;
    widen(&meta->min_bucket, &meta->max_bucket, entry->bucket, is_first);
    widen(&meta->min_level, &meta->max_level, entry->file.level, is_first);
}

/** A file that is being written. */
typedef struct writing {
    sinter__meta_writer *writer;
    sinter__carried_union carried;
    uint64_t target_bytes;
} writing;

static sinter_status
write_entries(writing *self, const sinter__manifest_entry *const *entries, size_t count,
              sinter__manifest_meta *meta, sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *to = NULL;
        const uint8_t *end = NULL;

        SINTER__CHECK(sinter__meta_writer_reserve(
            self->writer, sinter__manifest_entry_room(entries[i], &self->carried), &to, err));
        end = sinter__manifest_entry_put(to, entries[i], &self->carried);
        SINTER__CHECK(sinter__meta_writer_commit(self->writer, (size_t)(end - to), err));
        count_entry(meta, entries[i]);
        if ((i + 1) % ROLL_ENTRIES == 0 && self->target_bytes != 0 &&
            sinter__meta_writer_bytes(self->writer) >= self->target_bytes) {
            break;
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__manifest_write(const sinter_env *env, const sinter__meta_write *how,
                       const sinter__manifest_entry *const *entries, size_t count,
                       sinter__manifest_meta *out, sinter_error *err)
{
    const char *slash = strrchr(how->path, '/');
    const char *name = slash == NULL ? how->path : slash + 1;
    writing self = {.carried = {.env = env}, .target_bytes = how->target_bytes};
    uint64_t bytes = 0;
    sinter_status st = SINTER_OK;

    assert(count > 0);
    *out = (sinter__manifest_meta){
        .version = SINTER__MANIFEST_LIST_VERSION,
        .has = SINTER__MANIFEST_HAS_MIN_BUCKET | SINTER__MANIFEST_HAS_MAX_BUCKET |
               SINTER__MANIFEST_HAS_MIN_LEVEL | SINTER__MANIFEST_HAS_MAX_LEVEL,
        .file_name = {(const uint8_t *)name, strlen(name)}};
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(sinter__carried_union_note(&self.carried, entries[i]->cargo.carried, err));
    }
    SINTER__TRY(sinter__meta_file_create(env, how, &kind, &self.carried, &self.writer, err));
    SINTER__TRY(write_entries(&self, entries, count, out, err));
    SINTER__TRY(sinter__meta_writer_finish(self.writer, &bytes, err));
    out->file_size = (int64_t)bytes;
out:
    sinter__meta_writer_close(self.writer);
    sinter__carried_union_fini(&self.carried);
    sinter__fail_file(st < 0 ? err : NULL, how->path);
    return st;
}
