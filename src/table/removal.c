#include "table/removal.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/listener.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "table/external_paths.h"
#include "table/table.h"

void
sinter__removal_fini(sinter__removal *self)
{
    sinter__free(self->env, self->items);
    sinter__name_set_fini(&self->paths);
}

static sinter_status
add_path(sinter__removal *self, const sinter_text *path, sinter_error *err)
{
    /* With its zero, so that what the set keeps is a string. */
    const sinter_bytes whole = {(const uint8_t *)path->data, path->size + 1};
    bool is_new = false;
    const char *copy = NULL;

    self->paths.arena.env = self->env;
    if (self->count == self->capacity) {
        const size_t capacity = self->capacity == 0 ? 64 : 2 * self->capacity;

        SINTER__CHECK(
            sinter__resize(self->env, (void **)&self->items, capacity, sizeof *self->items, err));
        self->capacity = capacity;
    }
    SINTER__CHECK(sinter__name_set_add(&self->paths, whole, &is_new, err));
    if (is_new) {
        SINTER__CHECK(sinter__arena_strdup(&self->paths.arena, path->data, &copy, err));
        self->items[self->count++] = copy;
    }
    return SINTER_OK;
}

sinter_status
sinter__removal_file(sinter__removal *self, const char *dir, sinter_bytes name, sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->env, &path);
    SINTER__TRY(sinter__text_puts(&path, self->root, err));
    SINTER__TRY(sinter__text_puts(&path, "/", err));
    SINTER__TRY(sinter__text_puts(&path, dir, err));
    SINTER__TRY(sinter__text_puts(&path, "/", err));
    SINTER__TRY(sinter_text_append(&path, name.data, name.size, err));
    st = add_path(self, &path, err);
out:
    sinter_text_fini(&path);
    return st;
}

/** Append the directory of a bucket and a slash. */
static sinter_status
append_bucket(const sinter__removal *self, sinter_bytes partition, int32_t bucket, sinter_text *out,
              sinter_error *err)
{
    SINTER__CHECK(sinter__text_puts(out, self->root, err));
    SINTER__CHECK(sinter__text_puts(out, "/", err));
    if (self->options->data_dir != NULL) {
        SINTER__CHECK(sinter__text_puts(out, self->options->data_dir, err));
        SINTER__CHECK(sinter__text_puts(out, "/", err));
    }
    SINTER__CHECK(sinter__partitions_path(self->partitions, partition, out, err));
    if (self->partitions->count > 0) {
        SINTER__CHECK(sinter__text_puts(out, "/", err));
    }
    SINTER__CHECK(sinter__bucket_path(bucket, out, err));
    return sinter__text_puts(out, "/", err);
}

/** Add a file that lies beside an external one. */
static sinter_status
add_external(sinter__removal *self, sinter_bytes whole, sinter_bytes name, sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->env, &path);
    st = sinter__external_path_local(whole, name, &path, err);
    if (st == SINTER_OK) {
        st = add_path(self, &path, err);
    } else if (st == SINTER_E_UNSUPPORTED) {
        self->foreign++;
        st = SINTER_OK;
    }
    sinter_text_fini(&path);
    return st;
}

static sinter_status
add_in_bucket(sinter__removal *self, sinter_bytes partition, int32_t bucket, sinter_bytes name,
              sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->env, &path);
    SINTER__TRY(append_bucket(self, partition, bucket, &path, err));
    SINTER__TRY(sinter_text_append(&path, name.data, name.size, err));
    st = add_path(self, &path, err);
out:
    sinter_text_fini(&path);
    return st;
}

sinter_status
sinter__removal_data_file(sinter__removal *self, const sinter__manifest_entry *entry,
                          sinter_bytes name, sinter_error *err)
{
    if ((entry->file.has & SINTER__FILE_HAS_EXTERNAL_PATH) != 0) {
        return add_external(self, entry->file.external_path, name, err);
    }
    return add_in_bucket(self, entry->partition, entry->bucket, name, err);
}

sinter_status
sinter__removal_index_file(sinter__removal *self, const sinter__index_entry *entry,
                           sinter_error *err)
{
    if ((entry->has & SINTER__INDEX_HAS_EXTERNAL_PATH) != 0) {
        return add_external(self, entry->external_path, entry->file_name, err);
    }
    return self->options->index_in_data_dir
               ? add_in_bucket(self, entry->partition, entry->bucket, entry->file_name, err)
               : sinter__removal_file(self, "index", entry->file_name, err);
}

/* ---- removing ---- */

static void
tell(const sinter__removal *self, const sinter__removal_listener *listener, const char *path,
     uint64_t bytes)
{
    const sinter_removed_file file = {
        .struct_size = (uint32_t)sizeof file, .path = path, .bytes = bytes};
    const sinter_event event = {
        .struct_size = (uint32_t)sizeof event, .file = path, .bytes = bytes};

    if (listener->each != NULL) {
        listener->each(listener->ctx, &file);
    }
    if (!listener->is_dry) {
        SINTER__TELL(self->env->listener, file_deleted, &event);
    }
}

/** Remove one. @return SINTER_OK, SINTER_E_NOT_FOUND, failures of the io */
static sinter_status
remove_one(const sinter__removal *self, const sinter__removal_listener *listener, const char *path)
{
    sinter_io *io = self->env->io;
    sinter_io_stat info = {0};

    if (listener->each != NULL || listener->is_dry) {
        SINTER__CHECK(io->ops->stat(io, path, &info, NULL));
    }
    if (!listener->is_dry) {
        SINTER__CHECK(io->ops->unlink(io, path, NULL));
    }
    tell(self, listener, path, info.size_bytes);
    return SINTER_OK;
}

uint64_t
sinter__removal_run(sinter__removal *self, const sinter__removal_listener *listener, uint64_t *left)
{
    uint64_t done = 0;

    for (size_t i = 0; i < self->count; i++) {
        const sinter_status st = remove_one(self, listener, self->items[i]);

        done += st == SINTER_OK;
        *left += st != SINTER_OK && st != SINTER_E_NOT_FOUND;
    }
    *left += self->foreign;
    return done;
}

/** Remove the directories above a file that are empty, below the table's. */
static void
clean_above(const sinter__removal *self, char *path)
{
    sinter_io *io = self->env->io;
    const size_t root = strlen(self->root);

    for (char *slash = strrchr(path, '/'); slash != NULL && (size_t)(slash - path) > root;
         slash = strrchr(path, '/')) {
        *slash = '\0';
        if (io->ops->unlink(io, path, NULL) != SINTER_OK) {
            return;
        }
    }
}

void
sinter__removal_clean_dirs(const sinter__removal *self)
{
    const size_t root = strlen(self->root);

    for (size_t i = 0; i < self->count; i++) {
        char *path = NULL;

        if (strncmp(self->items[i], self->root, root) != 0 ||
            sinter__strdup(self->env, self->items[i], &path, NULL) != SINTER_OK) {
            continue;
        }
        clean_above(self, path);
        sinter__free(self->env, path);
    }
}
