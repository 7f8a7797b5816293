/*
 * Loading `sinter.files` documents: metadata from footers, and the checks that need all files.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/load.h"
#include "compact/path.h"
#include "doc/files_doc.h"
#include "sinter/catalog.h"
#include "sinter/io.h"

sinter_status
sinter__doc_path_join(sinter__arena *arena, const char *dir, const char *name, const char **out,
                      sinter_error *err)
{
    const bool has_dir = dir != NULL && dir[0] != '\0' && name[0] != '/';
    const size_t dir_size = has_dir ? strlen(dir) : 0;
    const size_t size = dir_size + strlen(name) + 2;
    char *path = NULL;

    SINTER__CHECK(sinter__doc_room(arena, size, 1, (void **)&path, err));
    (void)snprintf(path, size, "%s%s%s", has_dir ? dir : "",
                   has_dir && dir[dir_size - 1] != '/' ? "/" : "", name);
    *out = path;
    return SINTER_OK;
}

sinter_status
sinter__doc_read_file(const sinter_env *env, const char *path, sinter_text *out, sinter_error *err)
{
    sinter_io_file *file = NULL;
    sinter_io_range range = {0};
    uint64_t size = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env->io != NULL);
    SINTER__TRY(env->io->ops->open(env->io, path, SINTER_IO_SEQUENTIAL, &file, err));
    SINTER__TRY(file->ops->size(file, &size, err));
    if (size > SINTER_DOC_BYTES_MAX) {
        SINTER__FAIL_AT(err, SINTER_E_TOO_LARGE, path, -1,
                        "%" PRIu64 " bytes of JSON, at most %" PRIu64 " are read", size,
                        (uint64_t)SINTER_DOC_BYTES_MAX);
    }
    SINTER__TRY(sinter_text_append(out, NULL, 0, err));
    if (size > 0) {
        sinter_text room;

        /* One allocation of the right size; the text then takes it over. */
        sinter_text_init(env, &room);
        st = sinter__alloc(env, (size_t)size + 1, 1, (void **)&room.data, err);
        room.capacity = st == SINTER_OK ? (size_t)size + 1 : 0;
        range.data = room.data;
        range.size = (size_t)size;
        if (st == SINTER_OK) {
            st = file->ops->read(file, &range, 1, err);
        }
        if (st == SINTER_OK) {
            st = sinter_text_append(out, room.data, (size_t)size, err);
        }
        sinter_text_fini(&room);
    }
out:
    if (file != NULL) {
        file->ops->close(file);
    }
    return st;
}

static sinter_status
differs_number(const char *path, const char *member, int64_t stated, int64_t found,
               sinter_error *err)
{
    return SINTER__ERR_AT(err, SINTER_E_INVALID, path, -1,
                          "member %s: stated %" PRId64 ", the file has %" PRId64, member, stated,
                          found);
}

static sinter_status
check_number(const char *path, const char *member, bool given, int64_t *value, int64_t found,
             sinter_error *err)
{
    if (given && *value != found) {
        return differs_number(path, member, *value, found, err);
    }
    *value = found;
    return SINTER_OK;
}

static sinter_status
check_count(const char *path, const char *member, bool given, uint64_t *value, uint64_t found,
            sinter_error *err)
{
    if (given && *value != found) {
        return differs_number(path, member, (int64_t)*value, (int64_t)found, err);
    }
    *value = found;
    return SINTER_OK;
}

static void
hex_start(sinter_bytes bytes, char out[72])
{
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; i < bytes.size && i < 32; i++) {
        length += (size_t)snprintf(out + length, 72 - length, "%02x", bytes.data[i]);
    }
    if (bytes.size > 32) {
        (void)snprintf(out + length, 72 - length, "...");
    }
}

static sinter_status
check_key(const char *path, const char *member, sinter_bytes stated, sinter_bytes found,
          sinter_error *err)
{
    char stated_text[72];
    char found_text[72];

    if (sinter__key_compare(stated, found) == 0) {
        return SINTER_OK;
    }
    hex_start(stated, stated_text);
    hex_start(found, found_text);
    return SINTER__ERR_AT(err, SINTER_E_INVALID, path, -1, "member %s: stated %s, the file has %s",
                          member, stated_text, found_text);
}

static sinter_status
complete_keys(sinter_files_doc *doc, size_t index, const char *path,
              const sinter_sst_properties *found, sinter_error *err)
{
    sinter_file_meta *file = &doc->files[index];
    const uint32_t given = doc->given[index];

    SINTER__CHECK((given & SINTER__GIVEN_MIN_KEY) != 0
                      ? check_key(path, "min_key", file->min_key, found->min_key, err)
                      : sinter__arena_copy(&doc->arena, found->min_key, &file->min_key, err));
    return (given & SINTER__GIVEN_MAX_KEY) != 0
               ? check_key(path, "max_key", file->max_key, found->max_key, err)
               : sinter__arena_copy(&doc->arena, found->max_key, &file->max_key, err);
}

static sinter_status
complete_numbers(sinter_file_meta *file, uint32_t given, const char *path,
                 const sinter_sst_properties *found, sinter_error *err)
{
    SINTER__CHECK(check_count(path, "file_size", (given & SINTER__GIVEN_FILE_SIZE) != 0,
                              &file->file_size, found->file_size, err));
    SINTER__CHECK(check_count(path, "row_count", (given & SINTER__GIVEN_ROW_COUNT) != 0,
                              &file->row_count, found->row_count, err));
    SINTER__CHECK(check_number(path, "min_sequence_number",
                               (given & SINTER__GIVEN_MIN_SEQUENCE) != 0,
                               &file->min_sequence_number, found->sequence_min, err));
    SINTER__CHECK(check_number(path, "max_sequence_number",
                               (given & SINTER__GIVEN_MAX_SEQUENCE) != 0,
                               &file->max_sequence_number, found->sequence_max, err));
    SINTER__CHECK(check_number(path, "delete_row_count", (given & SINTER__GIVEN_DELETE_COUNT) != 0,
                               &file->delete_row_count, (int64_t)found->retract_count, err));
    SINTER__CHECK(check_number(path, "creation_time_ms", (given & SINTER__GIVEN_CREATION_TIME) != 0,
                               &file->creation_time_ms, found->creation_time_ms, err));
    return check_number(path, "schema_id", (given & SINTER__GIVEN_SCHEMA_ID) != 0, &file->schema_id,
                        found->schema_id, err);
}

/* All files must have the key types of the document, or else of the first file. */
static sinter_status
check_key_types(sinter_files_doc *doc, const char *path, const char *found, sinter_error *err)
{
    sinter_key_codec *codec = NULL;
    sinter_status st = SINTER_OK;

    if (found[0] != '\0') {
        SINTER__TRY(sinter_key_codec_parse(doc->env, found, &codec, err));
        found = sinter_key_codec_types(codec);
    }
    if (doc->content.key_types == NULL) {
        SINTER__TRY(sinter__arena_strdup(&doc->arena, found, &doc->content.key_types, err));
        doc->codec = codec;
        codec = NULL;
    } else if (strcmp(doc->content.key_types, found) != 0) {
        SINTER__FAIL_AT(err, SINTER_E_INVALID, path, -1,
                        "member key_types: stated \"%.120s\", the file has \"%.120s\"",
                        doc->content.key_types, found);
    }
out:
    sinter_key_codec_destroy(codec);
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
    }
    return st;
}

static bool
same_columns(const sinter_row_type *a, const sinter_row_type *b)
{
    if (sinter_row_type_count(a) != sinter_row_type_count(b)) {
        return false;
    }
    for (size_t i = 0; i < sinter_row_type_count(a); i++) {
        if (strcmp(sinter_row_type_column_name(a, i), sinter_row_type_column_name(b, i)) != 0 ||
            !sinter_type_equal(sinter_row_type_column_type(a, i),
                               sinter_row_type_column_type(b, i))) {
            return false;
        }
    }
    return true;
}

static sinter_status
check_row_type(sinter_files_doc *doc, const char *path, const char *found, sinter_error *err)
{
    sinter_row_type *row_type = NULL;
    sinter_status st = SINTER_OK;

    if (found[0] == '\0') {
        return SINTER_OK;
    }
    SINTER__TRY(sinter_row_type_parse(doc->env, found, strlen(found), &row_type, err));
    if (doc->row_type == NULL) {
        doc->row_type = row_type;
        row_type = NULL;
        doc->content.row_type = sinter_row_type_json(doc->row_type);
    } else if (!same_columns(doc->row_type, row_type)) {
        SINTER__FAIL(err, SINTER_E_INVALID,
                     "member row_type: stated \"%.120s\", the file has \"%.120s\"",
                     doc->content.row_type, sinter_row_type_json(row_type));
    }
out:
    sinter_row_type_destroy(row_type);
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
    }
    return st;
}

static sinter_status
complete_file(sinter_files_doc *doc, size_t index, sinter_error *err)
{
    sinter_file_meta *file = &doc->files[index];
    sinter_sst_properties found = {.struct_size = (uint32_t)sizeof found};
    const uint32_t given = doc->given[index];
    char *path = NULL;
    sinter_sst *sst = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__path_of_file(doc->env, doc->base_dir, file, &path, err));
    SINTER__TRY(sinter_sst_open(doc->env, path, &sst, err));
    sinter_sst_properties_get(sst, &found);
    SINTER__TRY(complete_numbers(file, given, path, &found, err));
    SINTER__TRY(complete_keys(doc, index, path, &found, err));
    SINTER__TRY(check_key_types(doc, path, found.key_types == NULL ? "" : found.key_types, err));
    SINTER__TRY(check_row_type(doc, path, found.row_type == NULL ? "" : found.row_type, err));
out:
    sinter_sst_close(sst);
    sinter__free(doc->env, path);
    return st;
}

/* The document's own place and its base directory, which may be relative to it. */
static sinter_status
resolve_base(sinter_files_doc *doc, const char *path, const char *override, sinter_error *err)
{
    const char *slash = strrchr(path, '/');
    char *dir = NULL;

    if (override != NULL) {
        return sinter__arena_strdup(&doc->arena, override, &doc->base_dir, err);
    }
    if (slash != NULL) {
        const size_t size = slash == path ? 1 : (size_t)(slash - path);

        SINTER__CHECK(sinter__doc_room(&doc->arena, size + 1, 1, (void **)&dir, err));
        memcpy(dir, path, size);
    }
    if (doc->content.base_dir == NULL || doc->content.base_dir[0] == '\0') {
        doc->base_dir = dir == NULL ? "." : dir;
        return SINTER_OK;
    }
    return sinter__doc_path_join(&doc->arena, dir, doc->content.base_dir, &doc->base_dir, err);
}

static sinter_status
resolve_unit(sinter_files_doc *doc, const char *path, sinter_error *err)
{
    SINTER__CHECK(sinter__doc_room(&doc->arena, doc->content.unit_count, sizeof *doc->unit,
                                   (void **)&doc->unit, err));
    for (size_t i = 0; i < doc->content.unit_count; i++) {
        size_t found = 0;

        while (found < doc->content.file_count &&
               strcmp(doc->files[found].file_name, doc->content.unit[i]) != 0) {
            found++;
        }
        if (found == doc->content.file_count) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, path, -1,
                                  "member unit[%zu]: \"%.100s\" is none of the files", i,
                                  doc->content.unit[i]);
        }
        for (size_t k = 0; k < i; k++) {
            if (doc->unit[k] == found) {
                return SINTER__ERR_AT(err, SINTER_E_INVALID, path, -1,
                                      "member unit[%zu]: \"%.100s\" is named twice", i,
                                      doc->content.unit[i]);
            }
        }
        doc->unit[i] = found;
    }
    return SINTER_OK;
}

/* Does the document say all of this file that its footer could? */
static bool
is_stated(const sinter_files_doc *doc, size_t index)
{
    const uint32_t needed = SINTER__GIVEN_FILE_SIZE | SINTER__GIVEN_ROW_COUNT |
                            SINTER__GIVEN_MIN_KEY | SINTER__GIVEN_MAX_KEY |
                            SINTER__GIVEN_MIN_SEQUENCE | SINTER__GIVEN_MAX_SEQUENCE |
                            SINTER__GIVEN_DELETE_COUNT | SINTER__GIVEN_CREATION_TIME;

    return doc->content.key_types != NULL && doc->row_type != NULL &&
           (doc->given[index] & needed) == needed;
}

static sinter_status
load_document(const sinter_env *env, const char *path, const sinter_files_load_options *options,
              sinter_files_doc **out, sinter_error *err)
{
    const bool is_trusted = (options->flags & SINTER_FILES_LOAD_TRUST) != 0;
    sinter_files_doc *doc = NULL;
    sinter_text text;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &text);
    SINTER__TRY(sinter__doc_read_file(env, path, &text, err));
    SINTER__TRY(sinter_files_doc_parse(env, path, sinter_text_bytes(&text), &doc, err));
    sinter_text_fini(&text);
    SINTER__TRY(resolve_base(doc, path, options->base_dir, err));
    SINTER__TRY(resolve_unit(doc, path, err));
    for (size_t i = 0; i < doc->content.file_count; i++) {
        if (!is_trusted || !is_stated(doc, i)) {
            SINTER__TRY(complete_file(doc, i, err));
        }
    }
    SINTER__TRY(sinter_files_check(env, doc->files, doc->content.file_count, err));
    *out = doc;
    doc = NULL;
out:
    sinter_files_doc_destroy(doc);
    sinter_text_fini(&text);
    return st;
}

sinter_status
sinter_files_doc_load(const sinter_env *env, const char *path,
                      const sinter_files_load_options *options, sinter_files_doc **out,
                      sinter_error *err)
{
    sinter_files_load_options known = {.struct_size = (uint32_t)sizeof known};
    sinter__arena arena = {.env = env};
    sinter_io_stat info = {0};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, path != NULL && env->io != NULL);
    if (options != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&known, sizeof known, options, "sinter_files_load_options", err));
    }
    SINTER__REQUIRE(err, (known.flags & ~(uint32_t)SINTER_FILES_LOAD_TRUST) == 0);
    SINTER__TRY(env->io->ops->stat(env->io, path, &info, err));
    if (info.is_directory) {
        SINTER__TRY(sinter__doc_path_join(&arena, path, SINTER_CATALOG_FILE, &path, err));
    }
    SINTER__TRY(load_document(env, path, &known, out, err));
out:
    sinter__arena_fini(&arena);
    return st;
}

/* Lists of one file of which nothing but the name is known yet. */
static sinter_status
put_single_file(sinter_files_doc *doc, const char *path, sinter_error *err)
{
    const char *slash = strrchr(path, '/');

    SINTER__CHECK(sinter__doc_room(&doc->arena, 1, sizeof *doc->files, (void **)&doc->files, err));
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, 1, sizeof *doc->extras, (void **)&doc->extras, err));
    SINTER__CHECK(sinter__doc_room(&doc->arena, 1, sizeof *doc->given, (void **)&doc->given, err));
    doc->files[0] = (sinter_file_meta){.struct_size = (uint32_t)sizeof doc->files[0],
                                       .delete_row_count = -1,
                                       .file_source = SINTER_FILE_SOURCE_UNKNOWN,
                                       .upgraded_from = -1};
    doc->content.files = doc->files;
    doc->content.file_count = 1;
    return sinter__arena_strdup(&doc->arena, slash == NULL ? path : slash + 1,
                                &doc->files[0].file_name, err);
}

sinter_status
sinter_files_doc_of_file(const sinter_env *env, const char *path, sinter_files_doc **out,
                         sinter_error *err)
{
    sinter_files_doc *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, path != NULL && env->io != NULL);
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    made->arena.env = env;
    sinter_files_init(&made->content);
    SINTER__TRY(put_single_file(made, path, err));
    SINTER__TRY(resolve_base(made, path, NULL, err));
    SINTER__TRY(complete_file(made, 0, err));
    *out = made;
    made = NULL;
out:
    sinter_files_doc_destroy(made);
    return st;
}
