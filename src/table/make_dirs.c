#include "table/make_dirs.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "sinter/io.h"

/* Length of the path of the directory above `path[0..size)`; 0: there is none in the path. */
static size_t
parent_size(const char *path, size_t size)
{
    while (size > 0 && path[size - 1] != '/') {
        size--;
    }
    while (size > 1 && path[size - 1] == '/') {
        size--;
    }
    return size;
}

/* Length of the next longer directory of the path. */
static size_t
child_size(const char *path, size_t size)
{
    while (path[size] == '/') {
        size++;
    }
    return size + strcspn(path + size, "/");
}

/* The longest part of the path that is there, to begin with. */
static sinter_status
find_kept(const sinter_env *env, const char *path, char *part, size_t *out, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    size_t size = strlen(path);

    while (size > 0) {
        sinter_io_stat stat = {0};
        sinter_status st = SINTER_OK;

        part[size] = '\0';
        st = env->io->ops->stat(env->io, part, &stat, &detail);
        if (st == SINTER_OK && !stat.is_directory) {
            return SINTER__ERR_AT(err, SINTER_E_IO, part, -1, "it is no directory");
        }
        if (st == SINTER_OK) {
            break;
        }
        if (st != SINTER_E_NOT_FOUND) {
            if (err != NULL) {
                *err = detail;
            }
            return st;
        }
        size = parent_size(path, size);
    }
    *out = size;
    return SINTER_OK;
}

/* Make the directory `part` below the first `above` bytes of it. */
static sinter_status
make_one(const sinter_env *env, char *part, size_t above, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = env->io->ops->mkdir(env->io, part, &detail);

    if (st == SINTER_OK && above > 0) {
        const char next = part[above];

        part[above] = '\0';
        st = env->io->ops->sync_dir(env->io, part, &detail);
        part[above] = next;
        if (st != SINTER_OK) {
            (void)env->io->ops->unlink(env->io, part, NULL);
        }
    }
    if (st == SINTER_E_EXISTS) {
        return SINTER_OK; /* somebody else was faster */
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    return st;
}

sinter_status
sinter__dirs_make(const sinter_env *env, const char *path, size_t *kept_out, sinter_error *err)
{
    const size_t whole = strlen(path);
    size_t kept = 0;
    size_t size = 0;
    char *part = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__strdup(env, path, &part, err));
    SINTER__TRY(find_kept(env, path, part, &kept, err));
    for (size = kept; size < whole && st == SINTER_OK;) {
        const size_t above = size;

        size = child_size(path, size);
        memcpy(part, path, size);
        part[size] = '\0';
        st = make_one(env, part, above, err);
    }
    if (st != SINTER_OK) {
        (void)sinter__dirs_undo(env, path, kept);
    } else if (kept_out != NULL) {
        *kept_out = kept;
    }
out:
    sinter__free(env, part);
    return st;
}

bool
sinter__dirs_undo(const sinter_env *env, const char *path, size_t kept)
{
    size_t size = strlen(path);
    bool is_removed = false;
    char *part = NULL;

    if (sinter__strdup(env, path, &part, NULL) != SINTER_OK) {
        return false;
    }
    while (size > kept) {
        part[size] = '\0';
        is_removed |= env->io->ops->unlink(env->io, part, NULL) == SINTER_OK;
        size = parent_size(path, size);
    }
    sinter__free(env, part);
    return is_removed;
}
