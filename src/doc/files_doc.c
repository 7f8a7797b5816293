/*
 * `sinter.files` documents: parsing, and what is asked of them (interchange.md 3).
 */
#include "doc/files_doc.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/row_type.h"
#include "doc/text.h"

static const char *const known_names[] = {
    "format",
    "version",
    "must_understand",
    "base_dir",
    "key_types",
    "row_type",
    "num_levels",
    "options",
    "unit",
    "output_level",
    "next_sequence",
    "generation",
    "retired",
    "files",
    "file_name",
    "level",
    "dir",
    "external_path",
    "file_size",
    "row_count",
    "min_key",
    "max_key",
    "schema_id",
    "min_sequence_number",
    "file_source",
    "delete_row_count",
    "extra_files",
    "max_sequence_number",
    "compression",
    "table_meta",
    "retired_ms",
    "creation_time_ms",
    NULL,
};

static const sinter__doc_kind files_kind = {
    .format = "sinter.files", .version = 1, .names = known_names};

void
sinter_files_init(sinter_files *files)
{
    memset(files, 0, sizeof *files);
    files->struct_size = (uint32_t)sizeof *files;
    files->num_levels = -1;
    files->output_level = -1;
    files->next_sequence = -1;
    files->generation = -1;
}

void
sinter_files_doc_destroy(sinter_files_doc *doc)
{
    if (doc == NULL) {
        return;
    }
    sinter_key_codec_destroy(doc->codec);
    sinter_row_type_destroy(doc->row_type);
    sinter__arena_fini(&doc->arena);
    sinter__free(doc->env, doc);
}

const sinter_files *
sinter_files_doc_get(const sinter_files_doc *doc)
{
    return &doc->content;
}

const char *
sinter_files_doc_base_dir(const sinter_files_doc *doc)
{
    return doc->base_dir;
}

const size_t *
sinter_files_doc_unit(const sinter_files_doc *doc, size_t *count_out)
{
    const bool known = doc->content.has_unit && doc->unit != NULL;

    *count_out = known ? doc->content.unit_count : 0;
    return known ? doc->unit : NULL;
}

const sinter_row_type *
sinter_files_doc_row_type(const sinter_files_doc *doc)
{
    return doc->row_type;
}

const sinter_key_codec *
sinter_files_doc_key_codec(const sinter_files_doc *doc)
{
    return doc->codec;
}

sinter_status
sinter_files_doc_options(const sinter_files_doc *doc, sinter_compact_options *options,
                         sinter_error *err)
{
    SINTER__REQUIRE(err, doc != NULL);
    SINTER__REQUIRE(err, options != NULL);
    for (size_t i = 0; i < doc->content.option_count; i++) {
        const sinter_option *option = &doc->content.options[i];

        SINTER__CHECK(sinter_compact_options_set(options, option->key, option->value, err));
    }
    return SINTER_OK;
}

/* Key types: an array of type texts; kept canonical, one per line. */
static sinter_status
parse_key_types(sinter_files_doc *doc, const sinter__doc_object *root, sinter_error *err)
{
    const char *const *texts = NULL;
    const json_t *array = NULL;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_text lines;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    sinter_text_init(doc->env, &lines);
    SINTER__TRY(sinter__doc_array(root, "key_types", SINTER__DOC_OPTIONAL, &array, err));
    SINTER__TRY(sinter__doc_strings(root, "key_types", &texts, &count, err));
    if (array == NULL) {
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(sinter__text_puts(&lines, i == 0 ? "" : "\n", err));
        SINTER__TRY(sinter__text_puts(&lines, texts[i], err));
    }
    if (count > 0) {
        st = sinter_key_codec_parse(doc->env, lines.data, &doc->codec, &detail);
        if (st != SINTER_OK) {
            st = sinter__doc_fail(root, st, "key_types", detail.text, err);
            goto out;
        }
    }
    SINTER__TRY(sinter__arena_strdup(&doc->arena,
                                     count == 0 ? "" : sinter_key_codec_types(doc->codec),
                                     &doc->content.key_types, err));
out:
    sinter_text_fini(&lines);
    return st;
}

static sinter_status
parse_row_type(sinter_files_doc *doc, const sinter__doc_object *root, sinter_error *err)
{
    const json_t *value = NULL;
    sinter__doc_object object = *root;

    SINTER__CHECK(sinter__doc_member(root, "row_type", SINTER__DOC_OPTIONAL, &value, err));
    if (value == NULL) {
        return SINTER_OK;
    }
    object.json = value;
    (void)snprintf(object.path, sizeof object.path, "row_type");
    SINTER__CHECK(sinter__row_type_from_json(doc->env, &object, &doc->row_type, err));
    doc->content.row_type = sinter_row_type_json(doc->row_type);
    return SINTER_OK;
}

static sinter_status
parse_retired(sinter_files_doc *doc, const sinter__doc_object *root, sinter_error *err)
{
    const json_t *array = NULL;
    sinter_retired_file *list = NULL;

    SINTER__CHECK(sinter__doc_array(root, "retired", SINTER__DOC_OPTIONAL, &array, err));
    if (array == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, json_array_size(array), sizeof *list, (void **)&list, err));
    for (size_t i = 0; i < json_array_size(array); i++) {
        sinter__doc_object element;
        bool has = false;

        SINTER__CHECK(sinter__doc_element(root, "retired", array, i, &element, err));
        SINTER__CHECK(
            sinter__doc_string(&element, "file_name", SINTER__DOC_NEEDED, &list[i].file_name, err));
        if (!sinter__file_name_is_plain(list[i].file_name)) {
            return sinter__doc_fail(&element, SINTER_E_INVALID, "file_name",
                                    "a file name has no \"/\" and isn't \"..\"", err);
        }
        SINTER__CHECK(sinter__doc_integer(&element, "retired_ms", SINTER__DOC_ANY_INTEGER, &has,
                                          &list[i].retired_ms, err));
    }
    doc->content.retired = list;
    doc->content.retired_count = json_array_size(array);
    return SINTER_OK;
}

static sinter_status
parse_files(sinter_files_doc *doc, const sinter__doc_object *root, sinter_error *err)
{
    const json_t *array = NULL;
    bool any_extras = false;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_array(root, "files", SINTER__DOC_NEEDED, &array, err));
    count = json_array_size(array);
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, count, sizeof *doc->files, (void **)&doc->files, err));
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, count, sizeof *doc->extras, (void **)&doc->extras, err));
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, count, sizeof *doc->given, (void **)&doc->given, err));
    for (size_t i = 0; i < count; i++) {
        sinter__doc_object element;

        SINTER__CHECK(sinter__doc_element(root, "files", array, i, &element, err));
        SINTER__CHECK(sinter__file_object_parse(&element, &doc->files[i], &doc->extras[i],
                                                &doc->given[i], err));
        any_extras = any_extras || doc->extras[i] != NULL;
        if (doc->content.num_levels >= 0 && doc->files[i].level >= doc->content.num_levels) {
            return sinter__doc_fail(&element, SINTER_E_INVALID, "level",
                                    "the level is not below num_levels", err);
        }
    }
    doc->content.files = doc->files;
    doc->content.file_count = count;
    doc->content.file_extras = any_extras ? doc->extras : NULL;
    return SINTER_OK;
}

static sinter_status
parse_level(const sinter__doc_object *root, const char *name, sinter__doc_range range, int32_t *out,
            sinter_error *err)
{
    int64_t value = -1;
    bool has = false;

    SINTER__CHECK(sinter__doc_integer(root, name, range, &has, &value, err));
    *out = (int32_t)value;
    return SINTER_OK;
}

static sinter_status
parse_members(sinter_files_doc *doc, const sinter__doc_object *root, sinter_error *err)
{
    sinter_files *content = &doc->content;
    const sinter__doc_range counts = {0, INT64_MAX};
    const json_t *unit = NULL;
    bool has = false;

    SINTER__CHECK(
        sinter__doc_string(root, "base_dir", SINTER__DOC_OPTIONAL, &content->base_dir, err));
    SINTER__CHECK(parse_key_types(doc, root, err));
    SINTER__CHECK(parse_row_type(doc, root, err));
    SINTER__CHECK(parse_level(root, "num_levels", (sinter__doc_range){1, INT32_MAX},
                              &content->num_levels, err));
    SINTER__CHECK(sinter__doc_string_map(root, "options", &doc->content.options,
                                         &doc->content.option_count, err));
    SINTER__CHECK(sinter__doc_array(root, "unit", SINTER__DOC_OPTIONAL, &unit, err));
    content->has_unit = unit != NULL;
    SINTER__CHECK(sinter__doc_strings(root, "unit", &content->unit, &content->unit_count, err));
    SINTER__CHECK(parse_level(root, "output_level", (sinter__doc_range){0, INT32_MAX},
                              &content->output_level, err));
    SINTER__CHECK(
        sinter__doc_integer(root, "next_sequence", counts, &has, &content->next_sequence, err));
    SINTER__CHECK(sinter__doc_integer(root, "generation", counts, &has, &content->generation, err));
    SINTER__CHECK(parse_retired(doc, root, err));
    return parse_files(doc, root, err);
}

sinter_status
sinter_files_doc_parse(const sinter_env *env, const char *source, sinter_bytes text,
                       sinter_files_doc **out, sinter_error *err)
{
    const sinter__json_source json_source = {.name = source, .text = text};
    sinter__doc_object root = {.source = &json_source};
    sinter_files_doc *made = NULL;
    json_t *json = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, text.data != NULL || text.size == 0);
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    made->arena.env = env;
    made->base_dir = ".";
    sinter_files_init(&made->content);
    SINTER__TRY(sinter__json_load(&json_source, 0, &json, err));
    root.json = json;
    root.arena = &made->arena;
    SINTER__TRY(sinter__doc_check(&root, &files_kind, err));
    SINTER__TRY(parse_members(made, &root, err));
    *out = made;
    made = NULL;
out:
    json_decref(json);
    sinter_files_doc_destroy(made);
    return st;
}
