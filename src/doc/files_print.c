/*
 * Printing `sinter.files` documents, and the document that follows a compaction.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/load.h"
#include "doc/files_doc.h"
#include "doc/text.h"

/* An array of the lines of a text. */
static void
put_lines(sinter__doc_writer *writer, json_t *object, const char *name, const char *lines)
{
    json_t *array = sinter__doc_put_array(writer, object, name);

    while (lines[0] != '\0') {
        const char *end = strchr(lines, '\n');
        const size_t size = end == NULL ? strlen(lines) : (size_t)(end - lines);

        if (json_array_append_new(array, json_stringn(lines, size)) != 0) {
            writer->status = SINTER_E_NOMEM;
            return;
        }
        lines += size + (end == NULL ? 0 : 1);
    }
}

static void
put_options(sinter__doc_writer *writer, json_t *root, const sinter_files *files)
{
    json_t *options = sinter__doc_put_object(writer, root, "options");

    for (size_t i = 0; i < files->option_count; i++) {
        sinter__doc_put_string(writer, options, files->options[i].key, files->options[i].value);
    }
}

static void
put_unit(sinter__doc_writer *writer, json_t *root, const sinter_files *files)
{
    if (!files->has_unit) {
        sinter__doc_put_null(writer, root, "unit");
    } else {
        json_t *unit = sinter__doc_put_array(writer, root, "unit");

        for (size_t i = 0; i < files->unit_count; i++) {
            sinter__doc_append_string(writer, unit, files->unit[i]);
        }
    }
    if (files->output_level < 0) {
        sinter__doc_put_null(writer, root, "output_level");
    } else {
        sinter__doc_put_integer(writer, root, "output_level", files->output_level);
    }
}

static void
put_catalog(sinter__doc_writer *writer, json_t *root, const sinter_files *files)
{
    if (files->next_sequence >= 0) {
        sinter__doc_put_integer(writer, root, "next_sequence", files->next_sequence);
    }
    if (files->generation >= 0) {
        sinter__doc_put_integer(writer, root, "generation", files->generation);
    }
    if (files->retired_count > 0) {
        json_t *retired = sinter__doc_put_array(writer, root, "retired");

        for (size_t i = 0; i < files->retired_count; i++) {
            json_t *file = sinter__doc_append_object(writer, retired);

            sinter__doc_put_string(writer, file, "file_name", files->retired[i].file_name);
            sinter__doc_put_integer(writer, file, "retired_ms", files->retired[i].retired_ms);
        }
    }
}

static void
put_types(sinter__doc_writer *writer, json_t *root, const sinter_files *files)
{
    if (files->key_types != NULL) {
        put_lines(writer, root, "key_types", files->key_types);
    }
    if (files->row_type != NULL) {
        sinter__doc_put(writer, root, "row_type",
                        json_loads(files->row_type, JSON_REJECT_DUPLICATES, NULL));
    }
}

sinter_status
sinter_files_print(const sinter_files *given, const sinter_key_codec *codec, uint32_t flags,
                   sinter_text *out, sinter_error *err)
{
    sinter_files known;
    const sinter_files *files = &known;
    sinter__doc_writer writer;
    json_t *root = NULL;
    json_t *list = NULL;

    SINTER__REQUIRE(err, given != NULL);
    sinter_files_init(&known);
    SINTER__CHECK(sinter__struct_load(&known, sizeof known, given, "sinter_files", err));
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_string(&writer, root, "format", "sinter.files");
    sinter__doc_put_integer(&writer, root, "version", 1);
    if (files->base_dir != NULL) {
        sinter__doc_put_string(&writer, root, "base_dir", files->base_dir);
    }
    put_types(&writer, root, files);
    if (files->num_levels >= 0) {
        sinter__doc_put_integer(&writer, root, "num_levels", files->num_levels);
    }
    put_options(&writer, root, files);
    put_unit(&writer, root, files);
    put_catalog(&writer, root, files);
    list = sinter__doc_put_array(&writer, root, "files");
    for (size_t i = 0; i < files->file_count; i++) {
        const char *extras = files->file_extras == NULL ? NULL : files->file_extras[i];
        const sinter_status st =
            sinter__file_object_put(&writer, sinter__doc_append_object(&writer, list),
                                    &files->files[i], extras, codec, out->env);

        if (st != SINTER_OK && writer.status == SINTER_OK) {
            writer.status = st;
        }
    }
    SINTER__CHECK(sinter__doc_writer_end(&writer, root, flags, out, err));
    return sinter__text_puts(out, "\n", err);
}

sinter_status
sinter__files_doc_copy(const sinter_env *env, const sinter_files *content,
                       const sinter_files_doc *like, sinter_files_doc **out, sinter_error *err)
{
    sinter_files_doc *made = NULL;
    sinter_text text;
    sinter_status st = SINTER_OK;

    /* Printing and parsing is the copy that can't forget a member. */
    *out = NULL;
    sinter_text_init(env, &text);
    SINTER__TRY(sinter_files_print(content, NULL, 0, &text, err));
    SINTER__TRY(sinter_files_doc_parse(env, NULL, sinter_text_bytes(&text), &made, err));
    SINTER__TRY(sinter__arena_strdup(&made->arena, like->base_dir, &made->base_dir, err));
    *out = made;
    made = NULL;
out:
    sinter_files_doc_destroy(made);
    sinter_text_fini(&text);
    return st;
}

static bool
is_same_file(const sinter_file_meta *a, const sinter_file_meta *b)
{
    return a->level == b->level && strcmp(a->file_name, b->file_name) == 0;
}

static const sinter_file_meta *
find_name(const sinter_file_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->files[i].file_name, name) == 0) {
            return &list->files[i];
        }
    }
    return NULL;
}

static sinter_status
check_before(const sinter_files_doc *before, const sinter_file_list *retired, sinter_error *err)
{
    for (size_t i = 0; i < retired->count; i++) {
        size_t found = 0;

        while (found < before->content.file_count &&
               !is_same_file(&before->files[found], &retired->files[i])) {
            found++;
        }
        if (found == before->content.file_count) {
            return SINTER__ERR_AT(err, SINTER_E_CONFLICT, retired->files[i].file_name, -1,
                                  "the compacted file is not there at level %d",
                                  retired->files[i].level);
        }
    }
    return SINTER_OK;
}

/* Arrays of the document that follows. */
typedef struct after_lists {
    sinter_file_meta *files;
    const char **extras;
    size_t count;
    sinter_retired_file *retired;
    size_t retired_count;
} after_lists;

static void
add_file(after_lists *lists, const sinter_file_meta *file, const char *extras)
{
    lists->files[lists->count] = *file;
    lists->files[lists->count].upgraded_from = -1;
    lists->files[lists->count].carried = NULL;
    lists->extras[lists->count] = extras;
    lists->count++;
}

/* Remember the names that gc may remove: those that lie in the base directory itself. */
static void
add_retired(after_lists *lists, const sinter_file_meta *file, int64_t now_ms)
{
    if (file->external_path != NULL || (file->dir != NULL && file->dir[0] != '\0')) {
        return;
    }
    lists->retired[lists->retired_count++] =
        (sinter_retired_file){.file_name = file->file_name, .retired_ms = now_ms};
    for (size_t i = 0; i < file->extra_file_count; i++) {
        lists->retired[lists->retired_count++] =
            (sinter_retired_file){.file_name = file->extra_files[i], .retired_ms = now_ms};
    }
}

/* Files that stay or change their level keep their place in the list; new ones follow. */
static void
fill_after(after_lists *lists, const sinter_files_doc *before, const sinter_compact_result *result,
           int64_t now_ms)
{
    const sinter_file_list *gone = sinter_compact_result_before(result);
    const sinter_file_list *come = sinter_compact_result_after(result);

    for (size_t i = 0; i < before->content.file_count; i++) {
        const sinter_file_meta *file = &before->files[i];
        const sinter_file_meta *retired = find_name(gone, file->file_name);
        const sinter_file_meta *upgraded = find_name(come, file->file_name);

        if (retired == NULL || !is_same_file(retired, file)) {
            add_file(lists, file, before->extras[i]);
        } else if (upgraded != NULL) {
            add_file(lists, upgraded, before->extras[i]);
        } else if (now_ms >= 0) {
            add_retired(lists, file, now_ms);
        }
    }
    for (size_t i = 0; i < come->count; i++) {
        if (find_name(gone, come->files[i].file_name) == NULL) {
            add_file(lists, &come->files[i], NULL);
        }
    }
}

sinter_status
sinter__files_after(sinter__arena *arena, const sinter_files_doc *before,
                    const sinter_compact_result *result, int64_t now_ms, sinter_files *out,
                    sinter_error *err)
{
    const size_t most = before->content.file_count + sinter_compact_result_after(result)->count;
    size_t retired_most = before->content.retired_count + before->content.file_count;
    after_lists lists = {0};

    assert(before->files == before->content.files);
    SINTER__CHECK(check_before(before, sinter_compact_result_before(result), err));
    SINTER__CHECK(sinter__doc_room(arena, most, sizeof *lists.files, (void **)&lists.files, err));
    SINTER__CHECK(sinter__doc_room(arena, most, sizeof *lists.extras, (void **)&lists.extras, err));
    SINTER__CHECK(
        sinter__doc_room(arena, retired_most, sizeof *lists.retired, (void **)&lists.retired, err));
    if (before->content.retired_count > 0) {
        memcpy(lists.retired, before->content.retired,
               before->content.retired_count * sizeof *lists.retired);
    }
    lists.retired_count = before->content.retired_count;
    fill_after(&lists, before, result, now_ms);
    *out = before->content;
    out->has_unit = false;
    out->unit = NULL;
    out->unit_count = 0;
    out->output_level = -1;
    out->files = lists.files;
    out->file_extras = lists.extras;
    out->file_count = lists.count;
    out->retired = lists.retired;
    out->retired_count = lists.retired_count;
    return SINTER_OK;
}

sinter_status
sinter_files_doc_apply(const sinter_env *env, const sinter_files_doc *before,
                       const sinter_compact_result *result, sinter_files_doc **out,
                       sinter_error *err)
{
    sinter__arena arena = {.env = env};
    sinter_files content;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, before != NULL && result != NULL);
    SINTER__TRY(sinter__files_after(&arena, before, result, -1, &content, err));
    SINTER__TRY(sinter__files_doc_copy(env, &content, before, out, err));
out:
    sinter__arena_fini(&arena);
    return st;
}
