#include "table/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "doc/files_doc.h"
#include "doc/row_type.h"
#include "sinter/table_create.h"
#include "table/json_file.h"

/* A schema with what it lives in. The schema comes first: callers hold a pointer to it. */
typedef struct owned_schema {
    sinter_schema schema;
    sinter__arena arena;
    sinter_row_type *row_type;
} owned_schema;

const char *
sinter_schema_option(const sinter_schema *schema, const char *key)
{
    for (size_t i = 0; i < schema->option_count; i++) {
        if (strcmp(schema->options[i].key, key) == 0) {
            return schema->options[i].value;
        }
    }
    return NULL;
}

void
sinter_schema_destroy(sinter_schema *schema)
{
    owned_schema *owned = (owned_schema *)schema;

    if (owned != NULL) {
        const sinter_env *env = owned->arena.env;

        sinter_row_type_destroy(owned->row_type);
        sinter__arena_fini(&owned->arena);
        sinter__free(env, owned);
    }
}

static sinter_status
read_version(const sinter__doc_object *root, int64_t *version, sinter_error *err)
{
    char what[80];
    bool is_given = false;

    *version = 1;
    SINTER__CHECK(sinter__doc_integer(root, "version", (sinter__doc_range){1, INT32_MAX}, &is_given,
                                      version, err));
    if (*version > SINTER__SCHEMA_VERSION) {
        (void)snprintf(what, sizeof what, "version %lld of schemas; up to %d are understood",
                       (long long)*version, SINTER__SCHEMA_VERSION);
        return sinter__doc_fail(root, SINTER_E_UNSUPPORTED, "version", what, err);
    }
    return SINTER_OK;
}

static sinter_status
read_integer(const sinter__doc_object *root, const char *name, sinter__doc_need need,
             sinter__doc_range range, int64_t *value, sinter_error *err)
{
    const json_t *member = NULL;
    bool is_given = false;

    SINTER__CHECK(sinter__doc_member(root, name, need, &member, err));
    return sinter__doc_integer(root, name, range, &is_given, value, err);
}

static sinter_status
check_columns(const sinter__doc_object *root, const sinter_schema *schema, sinter_error *err)
{
    char what[160];

    for (size_t i = 0; i < schema->partition_key_count; i++) {
        if (sinter_row_type_find(schema->row_type, schema->partition_keys[i]) == SIZE_MAX) {
            (void)snprintf(what, sizeof what, "there is no column \"%.100s\"",
                           schema->partition_keys[i]);
            return sinter__doc_fail(root, SINTER_E_INVALID, "partitionKeys", what, err);
        }
    }
    return SINTER_OK;
}

/* What describes a table, whether it is there or to be made. */
static sinter_status
read_description(const sinter__doc_object *root, owned_schema *owned, sinter_error *err)
{
    sinter_schema *out = &owned->schema;

    SINTER__CHECK(sinter__row_type_from_json(root->arena->env, root, &owned->row_type, err));
    out->row_type = owned->row_type;
    SINTER__CHECK(sinter__doc_strings(root, "partitionKeys", &out->partition_keys,
                                      &out->partition_key_count, err));
    SINTER__CHECK(
        sinter__doc_strings(root, "primaryKeys", &out->primary_keys, &out->primary_key_count, err));
    SINTER__CHECK(sinter__doc_string_map(root, "options", &out->options, &out->option_count, err));
    SINTER__CHECK(sinter__doc_string(root, "comment", SINTER__DOC_OPTIONAL, &out->comment, err));
    return check_columns(root, out, err);
}

static sinter_status
read_members(const sinter__doc_object *root, owned_schema *owned, sinter_error *err)
{
    const sinter__doc_range ids = {0, INT64_MAX};
    sinter_schema *out = &owned->schema;

    SINTER__CHECK(read_version(root, &out->version, err));
    SINTER__CHECK(read_integer(root, "id", SINTER__DOC_NEEDED, ids, &out->id, err));
    SINTER__CHECK(read_description(root, owned, err));
    SINTER__CHECK(read_integer(root, "highestFieldId", SINTER__DOC_NEEDED,
                               (sinter__doc_range){-1, INT32_MAX}, &out->highest_field_id, err));
    return read_integer(root, "timeMillis", SINTER__DOC_OPTIONAL, SINTER__DOC_ANY_INTEGER,
                        &out->time_ms, err);
}

static sinter_status
owned_alloc(const sinter_env *env, owned_schema **out, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(env, *out, 1, err));
    (*out)->arena.env = env;
    (*out)->schema.struct_size = (uint32_t)sizeof(*out)->schema;
    (*out)->schema.version = SINTER__SCHEMA_VERSION;
    return SINTER_OK;
}

sinter_status
sinter__schema_of_text(const sinter_env *env, const char *name, sinter_bytes text,
                       sinter_schema **out, sinter_error *err)
{
    sinter__json_file file = {0};
    owned_schema *owned = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(owned_alloc(env, &owned, err));
    SINTER__TRY(sinter__json_file_open(name, text, &owned->arena, &file, err));
    SINTER__TRY(sinter__json_file_status(read_members(&file.root, owned, err), name, err));
    *out = &owned->schema;
    owned = NULL;
out:
    sinter__json_file_close(&file);
    if (owned != NULL) {
        sinter_schema_destroy(&owned->schema);
    }
    return st;
}

sinter_status
sinter__schema_read(const sinter_env *env, const char *path, sinter_schema **out, sinter_error *err)
{
    sinter_text text;
    sinter_status st = SINTER_OK;

    *out = NULL;
    sinter_text_init(env, &text);
    SINTER__TRY(sinter__doc_read_file(env, path, &text, err));
    SINTER__TRY(sinter__schema_of_text(env, path, sinter_text_bytes(&text), out, err));
out:
    sinter_text_fini(&text);
    return st;
}

sinter_status
sinter_schema_parse(const sinter_env *env, const char *source, sinter_bytes text,
                    sinter_schema **out, sinter_error *err)
{
    sinter__json_source json_source = {.name = source, .text = text};
    sinter__doc_object root = {.source = &json_source};
    owned_schema *owned = NULL;
    json_t *json = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, text.data != NULL || text.size == 0);
    SINTER__TRY(owned_alloc(env, &owned, err));
    SINTER__TRY(sinter__json_load(&json_source, SINTER__JSON_TYPES, &json, err));
    root.arena = &owned->arena;
    root.json = json;
    if (!json_is_object(json)) {
        st = sinter__doc_fail(&root, SINTER_E_INVALID, NULL, "an object expected", err);
        goto out;
    }
    SINTER__TRY(read_description(&root, owned, err));
    *out = &owned->schema;
    owned = NULL;
out:
    json_decref(json);
    if (owned != NULL) {
        sinter_schema_destroy(&owned->schema);
    }
    return st;
}
