/*
 * File objects (interchange.md 2): metadata of one data file.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/files_doc.h"

static const char *const file_sources[] = {"APPEND", "COMPACT", NULL};
static const char *const formats[] = {"sst", "avro", "parquet", "orc", NULL};
static const char *const codecs[] = {"none", "lz4", "zstd", NULL};

bool
sinter__file_name_is_plain(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

bool
sinter__dir_is_below(const char *dir)
{
    const char *part = dir;

    if (dir[0] == '/') {
        return false;
    }
    while (part != NULL) {
        const char *slash = strchr(part, '/');
        const size_t size = slash == NULL ? strlen(part) : (size_t)(slash - part);

        if (size == 2 && memcmp(part, "..", 2) == 0) {
            return false;
        }
        part = slash == NULL ? NULL : slash + 1;
    }
    return true;
}

static sinter_status
parse_place(const sinter__doc_object *object, sinter_file_meta *out, sinter_error *err)
{
    bool has = false;
    int64_t level = 0;

    SINTER__CHECK(
        sinter__doc_string(object, "file_name", SINTER__DOC_NEEDED, &out->file_name, err));
    if (!sinter__file_name_is_plain(out->file_name)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, "file_name",
                                "a file name has no \"/\" and isn't \"..\"", err);
    }
    SINTER__CHECK(
        sinter__doc_integer(object, "level", (sinter__doc_range){0, INT32_MAX}, &has, &level, err));
    if (!has) {
        return sinter__doc_fail(object, SINTER_E_INVALID, NULL, "member \"level\" is missing", err);
    }
    out->level = (int32_t)level;
    SINTER__CHECK(sinter__doc_string(object, "dir", SINTER__DOC_OPTIONAL, &out->dir, err));
    if (out->dir != NULL && !sinter__dir_is_below(out->dir)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, "dir",
                                "a directory is relative to base_dir and has no \"..\"", err);
    }
    return sinter__doc_string(object, "external_path", SINTER__DOC_OPTIONAL, &out->external_path,
                              err);
}

static sinter_status
parse_count(const sinter__doc_object *object, const char *name, uint32_t bit, uint64_t *out,
            uint32_t *given, sinter_error *err)
{
    int64_t value = 0;
    bool has = false;

    SINTER__CHECK(
        sinter__doc_integer(object, name, (sinter__doc_range){0, INT64_MAX}, &has, &value, err));
    *out = (uint64_t)value;
    *given |= has ? bit : 0;
    return SINTER_OK;
}

static sinter_status
parse_signed(const sinter__doc_object *object, const char *name, uint32_t bit, int64_t *out,
             uint32_t *given, sinter_error *err)
{
    bool has = false;

    SINTER__CHECK(sinter__doc_integer(object, name, SINTER__DOC_ANY_INTEGER, &has, out, err));
    *given |= has ? bit : 0;
    return SINTER_OK;
}

static sinter_status
parse_key(const sinter__doc_object *object, const char *name, uint32_t bit, sinter_bytes *out,
          uint32_t *given, sinter_error *err)
{
    bool has = false;

    SINTER__CHECK(sinter__doc_hex(object, name, &has, out, err));
    if (out->size > SINTER_KEY_BYTES_MAX) {
        return sinter__doc_fail(object, SINTER_E_TOO_LARGE, name, "a key above 1 MiB", err);
    }
    *given |= has ? bit : 0;
    return SINTER_OK;
}

static sinter_status
parse_numbers(const sinter__doc_object *object, sinter_file_meta *out, uint32_t *given,
              sinter_error *err)
{
    const sinter__doc_range counts = {0, INT64_MAX};
    bool has = false;

    SINTER__CHECK(
        parse_count(object, "file_size", SINTER__GIVEN_FILE_SIZE, &out->file_size, given, err));
    SINTER__CHECK(
        parse_count(object, "row_count", SINTER__GIVEN_ROW_COUNT, &out->row_count, given, err));
    SINTER__CHECK(parse_key(object, "min_key", SINTER__GIVEN_MIN_KEY, &out->min_key, given, err));
    SINTER__CHECK(parse_key(object, "max_key", SINTER__GIVEN_MAX_KEY, &out->max_key, given, err));
    SINTER__CHECK(parse_signed(object, "min_sequence_number", SINTER__GIVEN_MIN_SEQUENCE,
                               &out->min_sequence_number, given, err));
    SINTER__CHECK(parse_signed(object, "max_sequence_number", SINTER__GIVEN_MAX_SEQUENCE,
                               &out->max_sequence_number, given, err));
    SINTER__CHECK(parse_signed(object, "creation_time_ms", SINTER__GIVEN_CREATION_TIME,
                               &out->creation_time_ms, given, err));
    SINTER__CHECK(
        sinter__doc_integer(object, "delete_row_count", counts, &has, &out->delete_row_count, err));
    *given |= has ? SINTER__GIVEN_DELETE_COUNT : 0;
    SINTER__CHECK(sinter__doc_integer(object, "schema_id", counts, &has, &out->schema_id, err));
    *given |= has ? SINTER__GIVEN_SCHEMA_ID : 0;
    return SINTER_OK;
}

/* What sinter_file_meta has no place for, kept as JSON text. */
static sinter_status
parse_extras(const sinter__doc_object *object, const char **out, sinter_error *err)
{
    const json_t *vector = NULL;
    const json_t *table_meta = NULL;
    int format = -1;
    int codec = -1;
    sinter__doc_writer writer;
    sinter_text text;
    json_t *extras = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(
        sinter__doc_member(object, "deletion_vector", SINTER__DOC_OPTIONAL, &vector, err));
    if (vector != NULL) {
        /* Leaving it out would bring deleted rows back. */
        return sinter__doc_fail(object, SINTER_E_UNSUPPORTED, "deletion_vector",
                                "deletion vectors are not supported", err);
    }
    SINTER__CHECK(sinter__doc_enum(object, "format", formats, &format, err));
    SINTER__CHECK(sinter__doc_enum(object, "compression", codecs, &codec, err));
    SINTER__CHECK(sinter__doc_member(object, "table_meta", SINTER__DOC_OPTIONAL, &table_meta, err));
    if (table_meta != NULL && !json_is_object(table_meta)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, "table_meta", "an object expected", err);
    }
    if (format > 0) {
        return sinter__doc_fail(object, SINTER_E_UNSUPPORTED, "format",
                                "only files of format sst can be read", err);
    }
    if (format < 0 && codec < 0 && table_meta == NULL) {
        return SINTER_OK;
    }
    sinter__doc_writer_init(&writer);
    extras = sinter__doc_new_object(&writer);
    if (format >= 0) {
        sinter__doc_put_string(&writer, extras, "format", formats[format]);
    }
    if (codec >= 0) {
        sinter__doc_put_string(&writer, extras, "compression", codecs[codec]);
    }
    if (table_meta != NULL) {
        sinter__doc_put(&writer, extras, "table_meta", json_deep_copy(table_meta));
    }
    sinter_text_init(object->arena->env, &text);
    st = sinter__doc_writer_end(&writer, extras, 0, &text, err);
    if (st == SINTER_OK) {
        st = sinter__arena_strdup(object->arena, text.data, out, err);
    }
    sinter_text_fini(&text);
    return st;
}

sinter_status
sinter__file_object_parse(const sinter__doc_object *object, sinter_file_meta *out,
                          const char **extras_out, uint32_t *given_out, sinter_error *err)
{
    int source = -1;

    memset(out, 0, sizeof *out);
    out->struct_size = (uint32_t)sizeof *out;
    out->delete_row_count = -1;
    out->upgraded_from = -1;
    *extras_out = NULL;
    *given_out = 0;
    SINTER__CHECK(parse_place(object, out, err));
    SINTER__CHECK(parse_numbers(object, out, given_out, err));
    SINTER__CHECK(sinter__doc_enum(object, "file_source", file_sources, &source, err));
    out->file_source = source;
    SINTER__CHECK(
        sinter__doc_strings(object, "extra_files", &out->extra_files, &out->extra_file_count, err));
    for (size_t i = 0; i < out->extra_file_count; i++) {
        if (!sinter__file_name_is_plain(out->extra_files[i])) {
            return sinter__doc_fail(object, SINTER_E_INVALID, "extra_files",
                                    "a file name has no \"/\" and isn't \"..\"", err);
        }
    }
    return parse_extras(object, extras_out, err);
}

void
sinter__file_identity_put(sinter__doc_writer *writer, json_t *object, const sinter_file_meta *file)
{
    sinter__doc_put_string(writer, object, "file_name", file->file_name);
    sinter__doc_put_integer(writer, object, "level", file->level);
}

static sinter_status
put_extras(sinter__doc_writer *writer, json_t *object, const char *extras)
{
    json_t *members = json_loads(extras, 0, NULL);

    if (members == NULL) {
        return SINTER_E_NOMEM;
    }
    for (void *member = json_object_iter(members); member != NULL;
         member = json_object_iter_next(members, member)) {
        sinter__doc_put(writer, object, json_object_iter_key(member),
                        json_incref(json_object_iter_value(member)));
    }
    json_decref(members);
    return SINTER_OK;
}

sinter_status
sinter__file_object_put(sinter__doc_writer *writer, json_t *object, const sinter_file_meta *file,
                        const char *extras, const sinter_key_codec *codec, const sinter_env *env)
{
    assert(file->file_name != NULL);
    sinter__file_identity_put(writer, object, file);
    if (file->dir != NULL && file->dir[0] != '\0') {
        sinter__doc_put_string(writer, object, "dir", file->dir);
    }
    if (file->external_path != NULL) {
        sinter__doc_put_string(writer, object, "external_path", file->external_path);
    }
    sinter__doc_put_count(writer, object, "file_size", file->file_size);
    sinter__doc_put_count(writer, object, "row_count", file->row_count);
    if (file->row_count > 0) {
        sinter__doc_put_key(writer, object, "min_key", file->min_key, codec, env);
        sinter__doc_put_key(writer, object, "max_key", file->max_key, codec, env);
    }
    sinter__doc_put_integer(writer, object, "min_sequence_number", file->min_sequence_number);
    sinter__doc_put_integer(writer, object, "max_sequence_number", file->max_sequence_number);
    if (file->delete_row_count >= 0) {
        sinter__doc_put_integer(writer, object, "delete_row_count", file->delete_row_count);
    }
    sinter__doc_put_integer(writer, object, "creation_time_ms", file->creation_time_ms);
    sinter__doc_put_integer(writer, object, "schema_id", file->schema_id);
    if (file->file_source >= 0) {
        sinter__doc_put_string(writer, object, "file_source", file_sources[file->file_source != 0]);
    }
    if (extras != NULL) {
        const sinter_status st = put_extras(writer, object, extras);

        if (st != SINTER_OK) {
            return st;
        }
    }
    if (file->extra_file_count > 0) {
        json_t *names = sinter__doc_put_array(writer, object, "extra_files");

        for (size_t i = 0; i < file->extra_file_count; i++) {
            sinter__doc_append_string(writer, names, file->extra_files[i]);
        }
    }
    return SINTER_OK;
}
