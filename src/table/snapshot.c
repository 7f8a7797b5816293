#include "table/snapshot.h"

#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "doc/doc_write.h"
#include "doc/files_doc.h"
#include "table/json_file.h"

/* A snapshot with what its strings live in. The snapshot comes first: callers hold a pointer to
 * it. */
typedef struct owned_snapshot {
    sinter_snapshot snapshot;
    sinter__arena arena;
} owned_snapshot;

static const char *const kind_names[] = {"APPEND", "COMPACT", "OVERWRITE", "ANALYZE", NULL};

const char *
sinter_commit_kind_name(int32_t kind)
{
    return kind >= SINTER_COMMIT_APPEND && kind <= SINTER_COMMIT_ANALYZE ? kind_names[kind] : "?";
}

void
sinter_snapshot_destroy(sinter_snapshot *snapshot)
{
    owned_snapshot *owned = (owned_snapshot *)snapshot;

    if (owned != NULL) {
        const sinter_env *env = owned->arena.env;

        sinter__arena_fini(&owned->arena);
        sinter__free(env, owned);
    }
}

/* ---- reading ---- */

static sinter_status
read_integer(const sinter__doc_object *object, const char *name, sinter__doc_need need, int64_t min,
             int64_t *value, sinter_error *err)
{
    const json_t *member = NULL;
    bool is_given = false;

    SINTER__CHECK(sinter__doc_member(object, name, need, &member, err));
    return sinter__doc_integer(object, name, (sinter__doc_range){min, INT64_MAX}, &is_given, value,
                               err);
}

/* A file name: it becomes part of a path. */
static sinter_status
read_name(const sinter__doc_object *object, const char *name, sinter__doc_need need,
          const char **out, sinter_error *err)
{
    SINTER__CHECK(sinter__doc_string(object, name, need, out, err));
    if (*out != NULL && !sinter__file_name_is_plain(*out)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, name, "no file name", err);
    }
    return SINTER_OK;
}

static sinter_status
read_list(const sinter__doc_object *object, const char *name, sinter__doc_need need,
          sinter_list_file *out, sinter_error *err)
{
    char size_name[40];

    (void)snprintf(size_name, sizeof size_name, "%sSize", name);
    out->size_bytes = -1;
    SINTER__CHECK(read_name(object, name, need, &out->name, err));
    return read_integer(object, size_name, SINTER__DOC_OPTIONAL, 0, &out->size_bytes, err);
}

static sinter_status
read_version(const sinter__doc_object *root, int64_t *version, sinter_error *err)
{
    char what[80];

    *version = 1;
    SINTER__CHECK(read_integer(root, "version", SINTER__DOC_OPTIONAL, 1, version, err));
    if (*version > SINTER__SNAPSHOT_VERSION) {
        (void)snprintf(what, sizeof what, "version %lld of snapshots; up to %d are understood",
                       (long long)*version, SINTER__SNAPSHOT_VERSION);
        return sinter__doc_fail(root, SINTER_E_UNSUPPORTED, "version", what, err);
    }
    return SINTER_OK;
}

static sinter_status
read_files(const sinter__doc_object *root, sinter_snapshot *out, sinter_error *err)
{
    SINTER__CHECK(read_list(root, "baseManifestList", SINTER__DOC_NEEDED, &out->base, err));
    SINTER__CHECK(read_list(root, "deltaManifestList", SINTER__DOC_NEEDED, &out->delta, err));
    SINTER__CHECK(
        read_list(root, "changelogManifestList", SINTER__DOC_OPTIONAL, &out->changelog, err));
    SINTER__CHECK(
        read_name(root, "indexManifest", SINTER__DOC_OPTIONAL, &out->index_manifest, err));
    return read_name(root, "statistics", SINTER__DOC_OPTIONAL, &out->statistics, err);
}

static sinter_status
read_commit(const sinter__doc_object *root, sinter_snapshot *out, sinter_error *err)
{
    const json_t *member = NULL;
    int kind = -1;

    SINTER__CHECK(
        sinter__doc_string(root, "commitUser", SINTER__DOC_NEEDED, &out->commit_user, err));
    SINTER__CHECK(read_integer(root, "commitIdentifier", SINTER__DOC_NEEDED, INT64_MIN,
                               &out->commit_identifier, err));
    SINTER__CHECK(sinter__doc_member(root, "commitKind", SINTER__DOC_NEEDED, &member, err));
    SINTER__CHECK(sinter__doc_enum(root, "commitKind", kind_names, &kind, err));
    out->commit_kind = kind;
    return read_integer(root, "timeMillis", SINTER__DOC_NEEDED, INT64_MIN, &out->time_ms, err);
}

static sinter_status
read_counts(const sinter__doc_object *root, sinter_snapshot *out, sinter_error *err)
{
    out->watermark = INT64_MIN;
    out->next_row_id = -1;
    SINTER__CHECK(read_integer(root, "totalRecordCount", SINTER__DOC_OPTIONAL, INT64_MIN,
                               &out->total_record_count, err));
    SINTER__CHECK(read_integer(root, "deltaRecordCount", SINTER__DOC_OPTIONAL, INT64_MIN,
                               &out->delta_record_count, err));
    SINTER__CHECK(read_integer(root, "changelogRecordCount", SINTER__DOC_OPTIONAL, INT64_MIN,
                               &out->changelog_record_count, err));
    SINTER__CHECK(
        read_integer(root, "watermark", SINTER__DOC_OPTIONAL, INT64_MIN, &out->watermark, err));
    return read_integer(root, "nextRowId", SINTER__DOC_OPTIONAL, 0, &out->next_row_id, err);
}

static sinter_status
read_members(const sinter__doc_object *root, sinter_snapshot *out, sinter_error *err)
{
    SINTER__CHECK(read_version(root, &out->version, err));
    SINTER__CHECK(read_integer(root, "id", SINTER__DOC_NEEDED, 1, &out->id, err));
    SINTER__CHECK(read_integer(root, "schemaId", SINTER__DOC_NEEDED, 0, &out->schema_id, err));
    SINTER__CHECK(read_files(root, out, err));
    SINTER__CHECK(read_commit(root, out, err));
    SINTER__CHECK(read_counts(root, out, err));
    return sinter__doc_string_map(root, "properties", &out->properties, &out->property_count, err);
}

sinter_status
sinter__snapshot_parse(const sinter_env *env, const char *path, sinter_bytes text,
                       sinter_snapshot **out, sinter_error *err)
{
    sinter__json_file file = {0};
    owned_snapshot *owned = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, owned, 1, err));
    owned->arena.env = env;
    owned->snapshot.struct_size = (uint32_t)sizeof owned->snapshot;
    SINTER__TRY(sinter__json_file_open(path, text, &owned->arena, &file, err));
    SINTER__TRY(
        sinter__json_file_status(read_members(&file.root, &owned->snapshot, err), path, err));
    *out = &owned->snapshot;
    owned = NULL;
out:
    sinter__json_file_close(&file);
    if (owned != NULL) {
        sinter_snapshot_destroy(&owned->snapshot);
    }
    return st;
}

sinter_status
sinter__snapshot_read(const sinter_env *env, const char *path, sinter_snapshot **out,
                      sinter_error *err)
{
    sinter_text text;
    sinter_status st = SINTER_OK;

    *out = NULL;
    sinter_text_init(env, &text);
    st = sinter__doc_read_file(env, path, &text, err);
    if (st == SINTER_OK) {
        st = sinter__snapshot_parse(env, path, sinter_text_bytes(&text), out, err);
    }
    sinter_text_fini(&text);
    return st;
}

/* ---- writing ---- */

static void
put_list(sinter__doc_writer *writer, json_t *root, const char *name, const sinter_list_file *file)
{
    char size_name[40];

    (void)snprintf(size_name, sizeof size_name, "%sSize", name);
    sinter__doc_put_string(writer, root, name, file->name);
    if (file->name != NULL && file->size_bytes >= 0) {
        sinter__doc_put_integer(writer, root, size_name, file->size_bytes);
    }
}

static void
put_optional(sinter__doc_writer *writer, json_t *root, const char *name, const char *value)
{
    if (value != NULL) {
        sinter__doc_put_string(writer, root, name, value);
    }
}

static void
put_commit(sinter__doc_writer *writer, json_t *root, const sinter_snapshot *s)
{
    put_optional(writer, root, "indexManifest", s->index_manifest);
    sinter__doc_put_string(writer, root, "commitUser", s->commit_user);
    sinter__doc_put_integer(writer, root, "commitIdentifier", s->commit_identifier);
    sinter__doc_put_string(writer, root, "commitKind", sinter_commit_kind_name(s->commit_kind));
    sinter__doc_put_integer(writer, root, "timeMillis", s->time_ms);
    (void)sinter__doc_put_object(writer, root, "logOffsets");
    sinter__doc_put_integer(writer, root, "totalRecordCount", s->total_record_count);
    sinter__doc_put_integer(writer, root, "deltaRecordCount", s->delta_record_count);
    sinter__doc_put_integer(writer, root, "changelogRecordCount", s->changelog_record_count);
    if (s->watermark != INT64_MIN) {
        sinter__doc_put_integer(writer, root, "watermark", s->watermark);
    }
    put_optional(writer, root, "statistics", s->statistics);
}

sinter_status
sinter__snapshot_print(const sinter_snapshot *snapshot, sinter_text *out, sinter_error *err)
{
    sinter__doc_writer writer;
    json_t *root = NULL;

    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_integer(&writer, root, "version", SINTER__SNAPSHOT_VERSION);
    sinter__doc_put_integer(&writer, root, "id", snapshot->id);
    sinter__doc_put_integer(&writer, root, "schemaId", snapshot->schema_id);
    put_list(&writer, root, "baseManifestList", &snapshot->base);
    put_list(&writer, root, "deltaManifestList", &snapshot->delta);
    put_list(&writer, root, "changelogManifestList", &snapshot->changelog);
    put_commit(&writer, root, snapshot);
    if (snapshot->property_count > 0) {
        json_t *properties = sinter__doc_put_object(&writer, root, "properties");

        for (size_t i = 0; i < snapshot->property_count; i++) {
            sinter__doc_put_string(&writer, properties, snapshot->properties[i].key,
                                   snapshot->properties[i].value);
        }
    }
    if (snapshot->next_row_id >= 0) {
        sinter__doc_put_integer(&writer, root, "nextRowId", snapshot->next_row_id);
    }
    return sinter__doc_writer_end(&writer, root, SINTER_PRINT_PRETTY, out, err);
}
