/*
 * The catalog of a directory: CATALOG.json, replaced atomically under a lock.
 *
 *     open(WRITE)  take .sinter-lock, read CATALOG.json
 *     add, apply   change the content in memory
 *     commit       generation + 1, write a new document, rename it over the old one
 *     close        give the lock back
 *
 * New data files are complete, synced and published before a commit names them, and retired ones
 * are removed by gc only, after a commit that no longer names them. So whatever dies in between
 * leaves a directory whose catalog names complete files.
 */
#include "doc/catalog.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/load.h"
#include "compact/path.h"
#include "doc/json_walk.h"
#include "doc/row_type.h"

static sinter_status
take_lock(const sinter_env *env, const char *dir, sinter_io_file **out, sinter_error *err)
{
    char *path = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    if (env->io->ops->lock == NULL) {
        return SINTER_OK;
    }
    SINTER__TRY(sinter__path_join(env, dir, NULL, SINTER_CATALOG_LOCK, &path, err));
    st = env->io->ops->lock(env->io, path, out, err);
    if (st == SINTER_E_BUSY) {
        st = SINTER__ERR_AT(err, SINTER_E_BUSY, path, -1,
                            "another process or handle is changing this directory");
    }
out:
    sinter__free(env, path);
    return st;
}

static void
release_lock(sinter_io_file *lock)
{
    if (lock != NULL) {
        lock->ops->close(lock);
    }
}

static sinter_status
write_document(const sinter_env *env, const char *path, const sinter_files *content,
               sinter_error *err)
{
    sinter_text text;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &text);
    SINTER__TRY(sinter_files_print(content, NULL, 0, &text, err));
    if (text.size > SINTER_DOC_BYTES_MAX) {
        SINTER__FAIL_AT(err, SINTER_E_TOO_LARGE, path, -1,
                        "the catalog would have %zu bytes, at most %llu are possible", text.size,
                        (unsigned long long)SINTER_DOC_BYTES_MAX);
    }
    SINTER__TRY(env->io->ops->replace(env->io, path, text.data, text.size, err));
out:
    sinter_text_fini(&text);
    return st;
}

static sinter_status
check_options(const sinter_catalog_options *options, sinter_error *err)
{
    sinter_compact_options compact;

    sinter_compact_options_init(&compact);
    for (size_t i = 0; i < options->option_count; i++) {
        SINTER__REQUIRE(err, options->options[i].key != NULL && options->options[i].value != NULL);
        SINTER__CHECK(sinter_compact_options_set(&compact, options->options[i].key,
                                                 options->options[i].value, err));
    }
    return sinter_compact_options_check(&compact, err);
}

/* The row type is part of a document, whose depth is limited. */
static sinter_status
check_depth(const sinter_row_type *row_type, sinter_error *err)
{
    const char *json = sinter_row_type_json(row_type);
    const size_t depth = sinter__json_depth((sinter_bytes){(const uint8_t *)json, strlen(json)});

    if (depth + 1 > SINTER_DOC_NESTING_MAX) {
        return SINTER__ERR(
            err, SINTER_E_UNSUPPORTED,
            "the row type is %zu brackets deep, in a catalog at most %d are possible", depth,
            SINTER_DOC_NESTING_MAX - 1);
    }
    return SINTER_OK;
}

/* The first document of a directory. */
static sinter_status
write_first(const sinter_env *env, const char *path, const sinter_catalog_options *options,
            sinter_error *err)
{
    sinter_key_codec *codec = NULL;
    sinter_io_stat info = {0};
    sinter_files content;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter_key_codec_of_row_type(env, options->row_type, &codec, err));
    st = env->io->ops->stat(env->io, path, &info, NULL);
    if (st == SINTER_OK) {
        SINTER__FAIL_AT(err, SINTER_E_EXISTS, path, -1, "the directory has a catalog");
    }
    if (st != SINTER_E_NOT_FOUND) {
        SINTER__FAIL_AT(err, st, path, -1, "can't see whether the directory has a catalog");
    }
    sinter_files_init(&content);
    content.num_levels = options->num_levels;
    content.key_types = sinter_key_codec_types(codec);
    content.row_type = sinter_row_type_json(options->row_type);
    content.options = options->options;
    content.option_count = options->option_count;
    content.next_sequence = 0;
    content.generation = 0;
    SINTER__TRY(write_document(env, path, &content, err));
out:
    sinter_key_codec_destroy(codec);
    return st;
}

sinter_status
sinter_catalog_create(const sinter_env *env, const char *dir, const sinter_catalog_options *given,
                      sinter_error *err)
{
    sinter_catalog_options options = {.struct_size = (uint32_t)sizeof options, .num_levels = -1};
    sinter_io_file *lock = NULL;
    char *path = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL);
    SINTER__REQUIRE(err, dir != NULL && given != NULL);
    SINTER__CHECK(
        sinter__struct_load(&options, sizeof options, given, "sinter_catalog_options", err));
    SINTER__REQUIRE(err, options.row_type != NULL);
    SINTER__REQUIRE(err, options.options != NULL || options.option_count == 0);
    SINTER__CHECK(sinter__row_type_check_values(options.row_type, err));
    SINTER__CHECK(check_depth(options.row_type, err));
    SINTER__CHECK(check_options(&options, err));
    st = env->io->ops->mkdir(env->io, dir, err);
    if (st != SINTER_OK && st != SINTER_E_EXISTS) {
        return st;
    }
    SINTER__TRY(take_lock(env, dir, &lock, err));
    SINTER__TRY(sinter__path_join(env, dir, NULL, SINTER_CATALOG_FILE, &path, err));
    SINTER__TRY(write_first(env, path, &options, err));
out:
    sinter__free(env, path);
    release_lock(lock);
    return st;
}

/* Remove what killed runs left under temporary names; never what a live one holds. Leftovers take
 * space and do no other harm, so failing to remove them is no reason to refuse the work. */
static void
clean_temporaries(const sinter_env *env, const char *dir)
{
    uint64_t removed = 0;

    if (env->io->ops->clean != NULL) {
        (void)env->io->ops->clean(env->io, dir, &removed, NULL);
    }
}

sinter_status
sinter_catalog_open(const sinter_env *env, const char *dir, uint32_t flags, sinter_catalog **out,
                    sinter_error *err)
{
    sinter_catalog *made = NULL;
    sinter_io_stat info = {0};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, dir != NULL && env->io != NULL);
    SINTER__REQUIRE(err, (flags & ~(uint32_t)SINTER_CATALOG_WRITE) == 0);
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    made->is_writable = (flags & SINTER_CATALOG_WRITE) != 0;
    SINTER__TRY(sinter__strdup(env, dir, &made->dir, err));
    SINTER__TRY(sinter__path_join(env, dir, NULL, SINTER_CATALOG_FILE, &made->path, err));
    /* First, so that a directory that is none of ours gets no lock file. */
    SINTER__TRY(env->io->ops->stat(env->io, made->path, &info, err));
    if (made->is_writable) {
        SINTER__TRY(take_lock(env, dir, &made->lock, err));
        clean_temporaries(env, dir);
    }
    SINTER__TRY(sinter_files_doc_load(env, made->path, NULL, &made->doc, err));
    *out = made;
    made = NULL;
out:
    sinter_catalog_close(made);
    return st;
}

void
sinter_catalog_close(sinter_catalog *catalog)
{
    if (catalog == NULL) {
        return;
    }
    sinter_files_doc_destroy(catalog->doc);
    release_lock(catalog->lock);
    sinter__free(catalog->env, catalog->path);
    sinter__free(catalog->env, catalog->dir);
    sinter__free(catalog->env, catalog);
}

const sinter_files_doc *
sinter_catalog_doc(const sinter_catalog *catalog)
{
    return catalog->doc;
}

sinter_status
sinter__catalog_check_writable(const sinter_catalog *catalog, sinter_error *err)
{
    if (!catalog->is_writable) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, catalog->path, -1,
                              "the catalog was opened for reading only");
    }
    if (catalog->is_broken) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, catalog->path, -1,
                              "an earlier commit failed: open the catalog again");
    }
    return SINTER_OK;
}

sinter_status
sinter__catalog_replace(sinter_catalog *catalog, const sinter_files *content, sinter_error *err)
{
    sinter_files_doc *changed = NULL;

    SINTER__CHECK(sinter__files_doc_copy(catalog->env, content, catalog->doc, &changed, err));
    sinter_files_doc_destroy(catalog->doc);
    catalog->doc = changed;
    catalog->is_changed = true;
    return SINTER_OK;
}

static sinter_status
check_new_names(const sinter_catalog *catalog, const sinter_file_meta *files, size_t count,
                sinter_error *err)
{
    const sinter_files *content = &catalog->doc->content;

    for (size_t i = 0; i < count; i++) {
        bool taken = false;

        SINTER__REQUIRE(err, files[i].file_name != NULL);
        if (!sinter__file_name_is_plain(files[i].file_name)) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, files[i].file_name, -1,
                                  "a file name has no \"/\" and isn't \"..\"");
        }
        for (size_t k = 0; k < content->file_count && !taken; k++) {
            taken = strcmp(content->files[k].file_name, files[i].file_name) == 0;
        }
        for (size_t k = 0; k < content->retired_count && !taken; k++) {
            taken = strcmp(content->retired[k].file_name, files[i].file_name) == 0;
        }
        if (taken) {
            return SINTER__ERR_AT(err, SINTER_E_EXISTS, files[i].file_name, -1,
                                  "the catalog has a file of this name");
        }
    }
    return SINTER_OK;
}

sinter_status
sinter_catalog_add(sinter_catalog *catalog, const sinter_file_meta *files, size_t count,
                   int64_t next_sequence, sinter_error *err)
{
    sinter__arena arena = {0};
    sinter_file_meta *list = NULL;
    const char **extras = NULL;
    sinter_files content;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, catalog != NULL);
    SINTER__REQUIRE(err, files != NULL || count == 0);
    SINTER__CHECK(sinter__catalog_check_writable(catalog, err));
    arena.env = catalog->env;
    content = catalog->doc->content;
    if (next_sequence < 0 || next_sequence < content.next_sequence) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, catalog->path, -1,
                              "next sequence %lld is below %lld", (long long)next_sequence,
                              (long long)content.next_sequence);
    }
    SINTER__TRY(check_new_names(catalog, files, count, err));
    SINTER__TRY(
        sinter__doc_room(&arena, content.file_count + count, sizeof *list, (void **)&list, err));
    SINTER__TRY(sinter__doc_room(&arena, content.file_count + count, sizeof *extras,
                                 (void **)&extras, err));
    if (content.file_count > 0) {
        memcpy(list, content.files, content.file_count * sizeof *list);
        memcpy(extras, catalog->doc->extras, content.file_count * sizeof *extras);
    }
    if (count > 0) {
        memcpy(list + content.file_count, files, count * sizeof *list);
    }
    content.files = list;
    content.file_extras = extras;
    content.file_count += count;
    content.next_sequence = next_sequence;
    SINTER__TRY(sinter_files_check(catalog->env, list, content.file_count, err));
    SINTER__TRY(sinter__catalog_replace(catalog, &content, err));
out:
    sinter__arena_fini(&arena);
    return st;
}

sinter_status
sinter_catalog_apply(sinter_catalog *catalog, const sinter_compact_result *result,
                     sinter_error *err)
{
    sinter__arena arena = {0};
    sinter_files content;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, catalog != NULL);
    SINTER__REQUIRE(err, result != NULL);
    SINTER__CHECK(sinter__catalog_check_writable(catalog, err));
    arena.env = catalog->env;
    SINTER__TRY(sinter__files_after(&arena, catalog->doc, result, sinter__now_ms(catalog->env),
                                    &content, err));
    SINTER__TRY(sinter_files_check(catalog->env, content.files, content.file_count, err));
    SINTER__TRY(sinter__catalog_replace(catalog, &content, err));
out:
    sinter__arena_fini(&arena);
    return st;
}

sinter_status
sinter_catalog_commit(sinter_catalog *catalog, sinter_error *err)
{
    sinter_files content;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, catalog != NULL);
    SINTER__CHECK(sinter__catalog_check_writable(catalog, err));
    content = catalog->doc->content;
    if (content.generation == INT64_MAX) {
        return SINTER__ERR_AT(err, SINTER_E_OVERFLOW, catalog->path, -1,
                              "the catalog has no generation left");
    }
    content.generation = content.generation < 0 ? 1 : content.generation + 1;
    content.next_sequence = content.next_sequence < 0 ? 0 : content.next_sequence;
    st = write_document(catalog->env, catalog->path, &content, err);
    if (st != SINTER_OK) {
        catalog->is_broken = true;
        return st;
    }
    catalog->doc->content.generation = content.generation;
    catalog->doc->content.next_sequence = content.next_sequence;
    catalog->is_changed = false;
    return SINTER_OK;
}

/* Name of a new file that the catalog on disk has; NULL: it has none. */
static const char *
find_new_name(const sinter_files *content, const sinter_compact_result *result)
{
    const sinter_file_list *after = sinter_compact_result_after(result);

    for (size_t i = 0; i < after->count; i++) {
        for (size_t k = 0; after->files[i].upgraded_from < 0 && k < content->file_count; k++) {
            if (strcmp(content->files[k].file_name, after->files[i].file_name) == 0) {
                return after->files[i].file_name;
            }
        }
    }
    return NULL;
}

sinter_status
sinter_catalog_discard(sinter_catalog *catalog, const sinter_compact_result *result,
                       sinter_error *err)
{
    sinter_files_doc *now = NULL;
    const char *name = NULL;
    sinter_text text;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, catalog != NULL && result != NULL);
    if (!catalog->is_writable) { /* without the lock another process may be committing */
        return SINTER__ERR_AT(err, SINTER_E_INVALID, catalog->path, -1,
                              "the catalog was opened for reading only");
    }
    sinter_text_init(catalog->env, &text);
    SINTER__TRY(sinter__doc_read_file(catalog->env, catalog->path, &text, err));
    SINTER__TRY(
        sinter_files_doc_parse(catalog->env, catalog->path, sinter_text_bytes(&text), &now, err));
    name = find_new_name(&now->content, result);
    if (name != NULL) {
        SINTER__FAIL_AT(err, SINTER_E_EXISTS, name, -1,
                        "the catalog names this new file: the commit did happen");
    }
    SINTER__TRY(sinter_compact_result_discard(catalog->env, result, catalog->doc->base_dir, err));
out:
    sinter_files_doc_destroy(now);
    sinter_text_fini(&text);
    return st;
}
