#include "table/commit_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/fail.h"
#include "base/uuid.h"
#include "doc/text.h"
#include "table/deletion_file.h"
#include "table/external_paths.h"
#include "table/make_dirs.h"

sinter_status
sinter__index_read(const sinter_table *table, const sinter_snapshot *snapshot,
                   sinter__index_manifest *out, sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    if (snapshot->index_manifest == NULL) {
        return SINTER_OK;
    }
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__text_puts(&path, table->root, err));
    SINTER__TRY(sinter__text_puts(&path, "/manifest/", err));
    SINTER__TRY(sinter__text_puts(&path, snapshot->index_manifest, err));
    SINTER__TRY(sinter__index_manifest_read(table->env, path.data, out, err));
out:
    sinter_text_fini(&path);
    return st;
}

/* ---- has a vector changed? ---- */

static bool
is_same_vector(const sinter__index_entry *entry, const sinter__vector_range *found,
               const sinter__file_vector *read)
{
    const char *slash = strrchr(read->index_file, '/');
    const char *name = slash == NULL ? read->index_file : slash + 1;

    if ((found->has & read->range.has & SINTER__VECTOR_HAS_CARDINALITY) != 0) {
        return found->cardinality == read->range.cardinality;
    }
    return found->offset == read->range.offset && entry->file_name.size == strlen(name) &&
           memcmp(entry->file_name.data, name, entry->file_name.size) == 0;
}

sinter_status
sinter__index_check_vector(const sinter__index_manifest *index, sinter_bytes data_file,
                           const sinter__file_vector *read, sinter_error *err)
{
    bool is_same = read == NULL;

    for (size_t i = 0; i < index->count; i++) {
        const sinter__vector_list *list = &index->items[i].vectors;

        for (size_t k = 0; k < list->count; k++) {
            if (sinter__key_equal(list->items[k].data_file, data_file)) {
                is_same = read != NULL && is_same_vector(&index->items[i], &list->items[k], read);
            }
        }
    }
    return is_same ? SINTER_OK
                   : SINTER__ERR(err, SINTER_E_CONFLICT,
                                 "rows of file %.*s were deleted while it was compacted",
                                 (int)(data_file.size < 120 ? data_file.size : 120),
                                 (const char *)data_file.data);
}

/* ---- what stays ---- */

/* An index file that is written anew. */
typedef struct index_rewrite {
    const sinter_table *table;
    const sinter__index_retire *retire;
    sinter__arena *arena;
    const sinter__index_entry *entry;
} index_rewrite;

static int
compare_bytes(const void *a, const void *b)
{
    return sinter__key_compare(*(const sinter_bytes *)a, *(const sinter_bytes *)b);
}

static bool
is_retired(const sinter__index_retire *retire, const sinter_bytes *sorted, sinter_bytes name)
{
    return retire->retired_count > 0 &&
           bsearch(&name, sorted, retire->retired_count, sizeof *sorted, compare_bytes) != NULL;
}

/* Directory of a bucket's index files. */
static sinter_status
put_dir(const index_rewrite *rewrite, sinter_text *out, sinter_error *err)
{
    SINTER__CHECK(sinter__text_puts(out, rewrite->table->root, err));
    SINTER__CHECK(sinter__text_puts(out, "/", err));
    SINTER__CHECK(rewrite->retire->options->index_in_data_dir
                      ? sinter__bucket_dir(rewrite->retire->columns, rewrite->retire->options,
                                           rewrite->entry->partition, rewrite->entry->bucket, out,
                                           err)
                      : sinter__text_puts(out, "index", err));
    return sinter__text_puts(out, "/", err);
}

static sinter_status
name_old(const index_rewrite *rewrite, const char **out, sinter_error *err)
{
    const sinter__index_entry *entry = rewrite->entry;
    const char *local = NULL;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(rewrite->arena->env, &path);
    if ((entry->has & SINTER__INDEX_HAS_EXTERNAL_PATH) != 0) {
        SINTER__TRY(
            sinter_text_append(&path, entry->external_path.data, entry->external_path.size, err));
    } else {
        SINTER__TRY(put_dir(rewrite, &path, err));
        SINTER__TRY(sinter_text_append(&path, entry->file_name.data, entry->file_name.size, err));
    }
    SINTER__TRY(sinter__local_path(path.data, &local, err));
    SINTER__TRY(sinter__arena_strdup(rewrite->arena, local, out, err));
out:
    sinter_text_fini(&path);
    return st;
}

/* Where the new index file goes: to the data files, if the table says so, and with them out of the
 * table. */
static sinter_status
put_new_dir(const index_rewrite *rewrite, const char *uuid, bool *is_external, sinter_text *out,
            sinter_error *err)
{
    const sinter__index_retire *retire = rewrite->retire;
    sinter__external_paths external = {.count = 0};

    if (retire->options->index_in_data_dir) {
        SINTER__CHECK(
            sinter__external_paths_load(retire->columns->schema, rewrite->arena, &external, err));
    }
    *is_external = external.count > 0;
    if (external.count == 0) {
        return put_dir(rewrite, out, err);
    }
    SINTER__CHECK(sinter__text_puts(out, external.dirs[(uint8_t)uuid[0] % external.count], err));
    SINTER__CHECK(sinter__text_puts(out, "/", err));
    SINTER__CHECK(sinter__bucket_dir(retire->columns, retire->options, rewrite->entry->partition,
                                     rewrite->entry->bucket, out, err));
    SINTER__CHECK(sinter__dirs_make(rewrite->arena->env, out->data, NULL, err));
    return sinter__text_puts(out, "/", err);
}

/* A name of its own, and the path of it. */
static sinter_status
name_new(const index_rewrite *rewrite, sinter__index_entry *entry, const char **path_out,
         sinter_error *err)
{
    const sinter_env *env = rewrite->arena->env;
    char uuid[SINTER__UUID_CHARS + 1];
    sinter_text path;
    size_t dir_size = 0;
    bool is_external = false;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &path);
    SINTER__TRY(sinter__uuid(env, (uint64_t)sinter__now_ns(env), uuid, err));
    SINTER__TRY(put_new_dir(rewrite, uuid, &is_external, &path, err));
    dir_size = path.size;
    SINTER__TRY(sinter__text_puts(&path, "index-", err));
    SINTER__TRY(sinter__text_puts(&path, uuid, err));
    SINTER__TRY(sinter__text_puts(&path, "-0", err));
    SINTER__TRY(sinter__arena_strdup(rewrite->arena, path.data, path_out, err));
    entry->file_name = (sinter_bytes){(const uint8_t *)*path_out + dir_size, path.size - dir_size};
    if (is_external) {
        entry->has |= SINTER__INDEX_HAS_EXTERNAL_PATH;
        st = sinter__external_path_name(rewrite->arena, *path_out, &entry->external_path, err);
    }
out:
    sinter_text_fini(&path);
    return st;
}

/* Copy what the writer says of its vectors, which goes with it. */
static sinter_status
copy_vectors(sinter__arena *arena, const sinter__vector_list *list, sinter__vector_list *out,
             sinter_error *err)
{
    sinter__vector_range *items = NULL;

    SINTER__CHECK(sinter__doc_room(arena, list->count, sizeof *items, (void **)&items, err));
    for (size_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        SINTER__CHECK(
            sinter__arena_copy(arena, list->items[i].data_file, &items[i].data_file, err));
    }
    *out = (sinter__vector_list){items, list->count};
    return SINTER_OK;
}

static sinter_status
write_rest(const index_rewrite *rewrite, const sinter_bytes *sorted, const char *path,
           sinter__index_entry *out, sinter_error *err)
{
    const sinter__index_entry *entry = rewrite->entry;
    sinter__deletion_file *from = NULL;
    sinter__deletion_writer *writer = NULL;
    sinter__vector_list written;
    const char *old = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(name_old(rewrite, &old, err));
    SINTER__TRY(sinter__deletion_file_open(rewrite->arena->env, old, (uint64_t)entry->file_size,
                                           &from, err));
    SINTER__TRY(sinter__deletion_writer_open(rewrite->arena->env, path, &writer, err));
    for (size_t i = 0; i < entry->vectors.count; i++) {
        if (!is_retired(rewrite->retire, sorted, entry->vectors.items[i].data_file)) {
            SINTER__TRY(sinter__deletion_writer_take(writer, from, &entry->vectors.items[i], err));
        }
    }
    written = sinter__deletion_writer_vectors(writer);
    SINTER__TRY(copy_vectors(rewrite->arena, &written, &out->vectors, err));
    out->file_size = (int64_t)sinter__deletion_writer_bytes(writer);
    out->row_count = (int64_t)written.count;
    SINTER__TRY(sinter__deletion_writer_finish(writer, err));
out:
    sinter__deletion_writer_close(writer);
    sinter__deletion_file_close(from);
    return st;
}

static sinter_status
rewrite_entry(const index_rewrite *rewrite, const sinter_bytes *sorted, size_t left,
              sinter__index_change *out, sinter_error *err)
{
    sinter__index_entry *made = NULL;
    const char *path = NULL;

    out->removed[out->removed_count++] = rewrite->entry;
    if (left == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_room(rewrite->arena, 1, sizeof *made, (void **)&made, err));
    *made = (sinter__index_entry){.version = SINTER__INDEX_MANIFEST_VERSION,
                                  .partition = rewrite->entry->partition,
                                  .bucket = rewrite->entry->bucket,
                                  .has = SINTER__INDEX_HAS_VECTORS,
                                  .index_type = rewrite->entry->index_type};
    SINTER__CHECK(name_new(rewrite, made, &path, err));
    SINTER__CHECK(write_rest(rewrite, sorted, path, made, err));
    out->paths[out->path_count++] = path;
    out->added[out->added_count++] = made;
    return SINTER_OK;
}

sinter_status
sinter__index_change_make(const sinter_table *table, const sinter__index_retire *retire,
                          sinter__arena *arena, sinter__index_change *out, sinter_error *err)
{
    const size_t room = retire->index->count;
    sinter_bytes *sorted = NULL;
    sinter_status st = SINTER_OK;

    *out = (sinter__index_change){.added_count = 0};
    SINTER__TRY(sinter__doc_room(arena, room, sizeof *out->added, (void **)&out->added, err));
    SINTER__TRY(sinter__doc_room(arena, room, sizeof *out->removed, (void **)&out->removed, err));
    SINTER__TRY(sinter__doc_room(arena, room, sizeof *out->paths, (void **)&out->paths, err));
    SINTER__TRY(
        sinter__doc_room(arena, retire->retired_count, sizeof *sorted, (void **)&sorted, err));
    for (size_t i = 0; i < retire->retired_count; i++) {
        sorted[i] = retire->retired[i];
    }
    qsort(sorted, retire->retired_count, sizeof *sorted, compare_bytes);
    for (size_t i = 0; i < room; i++) {
        const index_rewrite rewrite = {table, retire, arena, &retire->index->items[i]};
        const sinter__vector_list *list = &retire->index->items[i].vectors;
        size_t left = 0;

        for (size_t k = 0; k < list->count; k++) {
            left += is_retired(retire, sorted, list->items[k].data_file) ? 0 : 1;
        }
        if (left < list->count) {
            SINTER__TRY(rewrite_entry(&rewrite, sorted, left, out, err));
        }
    }
out:
    if (st != SINTER_OK) {
        sinter__index_change_undo(table, out);
    }
    return st;
}

void
sinter__index_change_undo(const sinter_table *table, sinter__index_change *change)
{
    for (size_t i = 0; i < change->path_count; i++) {
        const sinter_status ignored =
            table->env->io->ops->unlink(table->env->io, change->paths[i], NULL);

        (void)ignored; /* an orphan at worst */
    }
    change->path_count = 0;
}
