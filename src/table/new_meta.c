#include "table/new_meta.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/fail.h"
#include "base/hash.h"
#include "doc/text.h"

sinter_status
sinter__new_meta_init(sinter__new_meta *self, sinter_error *err)
{
    const sinter_env *env = self->arena.env;
    const uint64_t nonce = sinter__hash_seeded(self->table->root, strlen(self->table->root),
                                               (uint64_t)sinter__now_ns(env));

    return sinter__uuid(env, nonce, self->uuid, err);
}

void
sinter__new_meta_fini(sinter__new_meta *self)
{
    sinter__free(self->arena.env, self->files);
    sinter__arena_fini(&self->arena);
}

/** Name a file "WHAT-UUID-NUMBER" of the attempt. */
static sinter_status
name_file(sinter__new_meta *self, const char *what, uint32_t *number, sinter__new_file *out,
          sinter_error *err)
{
    const char *root = self->table->root;
    const size_t size = strlen(root) + strlen(what) + sizeof "/manifest/--" + sizeof self->uuid +
                        10; /* digits of a number */
    char *path = NULL;

    if (self->count == self->capacity) {
        const size_t capacity = self->capacity == 0 ? 16 : 2 * self->capacity;

        SINTER__CHECK(sinter__resize(self->arena.env, (void **)&self->files, capacity,
                                     sizeof *self->files, err));
        self->capacity = capacity;
    }
    SINTER__CHECK(sinter__arena_take(&self->arena, size, (void **)&path, err));
    (void)snprintf(path, size, "%s/manifest/%s-%s-%u", root, what, self->uuid, (*number)++);
    *out = (sinter__new_file){path, strrchr(path, '/') + 1, self->attempt};
    self->files[self->count++] = *out;
    return SINTER_OK;
}

/** A name that is taken already is somebody else's file, which must not be taken back. */
static sinter_status
unless_taken(sinter__new_meta *self, sinter_status st)
{
    self->count -= st == SINTER_E_EXISTS;
    return st;
}

sinter_status
sinter__manifest_list_push(sinter__manifest_list *list, const sinter__manifest_meta *meta,
                           sinter_error *err)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;

        SINTER__CHECK(sinter__resize(list->arena.env, (void **)&list->items, capacity,
                                     sizeof *list->items, err));
        list->capacity = capacity;
    }
    list->items[list->count++] = *meta;
    return SINTER_OK;
}

sinter_status
sinter__new_meta_manifests(sinter__new_meta *self, const sinter__manifest_entry *const *entries,
                           size_t count, sinter__manifest_list *list, sinter_error *err)
{
    const sinter_env *env = self->arena.env;
    size_t done = 0;

    while (done < count) {
        sinter__new_file file;
        sinter__manifest_meta meta;
        sinter__meta_write how = {
            .format = self->format, .codec = self->codec, .target_bytes = self->target_bytes};
        size_t written = 0;

        SINTER__CHECK(name_file(self, "manifest", &self->manifests, &file, err));
        how.path = file.path;
        SINTER__CHECK(unless_taken(
            self, sinter__manifest_write(env, &how, entries + done, count - done, &meta, err)));
        written = (size_t)(meta.added_count + meta.deleted_count);
        assert(written > 0 && written <= count - done);
        SINTER__CHECK(sinter__partitions_stats(self->partitions, entries + done, written,
                                               &list->arena, &meta.partition_stats, err));
        SINTER__CHECK(sinter__manifest_list_push(list, &meta, err));
        done += written;
    }
    return SINTER_OK;
}

sinter_status
sinter__new_meta_list(sinter__new_meta *self, const sinter__manifest_meta *items, size_t count,
                      sinter_list_file *out, sinter_error *err)
{
    sinter__meta_write how = {.format = self->format, .codec = self->codec};
    sinter__new_file file;
    uint64_t bytes = 0;

    SINTER__CHECK(name_file(self, "manifest-list", &self->lists, &file, err));
    how.path = file.path;
    SINTER__CHECK(unless_taken(
        self, sinter__manifest_list_write(self->arena.env, &how, items, count, &bytes, err)));
    *out = (sinter_list_file){file.name, (int64_t)bytes};
    return SINTER_OK;
}

sinter_status
sinter__new_meta_index(sinter__new_meta *self, const sinter__index_entry *const *entries,
                       size_t count, const char **name_out, sinter_error *err)
{
    sinter__meta_write how = {.format = self->format, .codec = self->codec};
    sinter__new_file file;
    uint64_t bytes = 0;

    SINTER__CHECK(name_file(self, "index-manifest", &self->indexes, &file, err));
    how.path = file.path;
    SINTER__CHECK(unless_taken(
        self, sinter__index_manifest_write(self->arena.env, &how, entries, count, &bytes, err)));
    *name_out = file.name;
    return SINTER_OK;
}

/** Remove a file of ours; one that was never there is as good, and others are garbage that cleaning
 *  finds. */
static void
take_back(const sinter__new_meta *self, const sinter__new_file *file)
{
    sinter_io *io = self->arena.env->io;

    (void)io->ops->unlink(io, file->path, NULL);
}

void
sinter__new_meta_discard(sinter__new_meta *self, uint32_t attempt)
{
    size_t kept = 0;

    for (size_t i = 0; i < self->count; i++) {
        if (self->files[i].attempt == attempt) {
            take_back(self, &self->files[i]);
        } else {
            self->files[kept++] = self->files[i];
        }
    }
    self->count = kept;
}

void
sinter__new_meta_undo(sinter__new_meta *self, size_t count)
{
    while (self->count > count) {
        take_back(self, &self->files[--self->count]);
    }
}

bool
sinter__new_meta_keep(sinter__new_meta *self, const char *name)
{
    const sinter__new_file *kept = NULL;

    for (size_t i = 0; i < self->count && name != NULL && kept == NULL; i++) {
        kept = strcmp(self->files[i].name, name) == 0 ? &self->files[i] : NULL;
    }
    for (size_t i = 0; i < self->count; i++) {
        if (kept == NULL || self->files[i].attempt != kept->attempt) {
            take_back(self, &self->files[i]);
        }
    }
    self->count = 0;
    return kept != NULL;
}
