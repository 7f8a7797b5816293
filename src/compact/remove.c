#include "compact/remove.h"

#include <stdio.h>
#include <string.h>

#include "base/listener.h"
#include "compact/path.h"
#include "sinter/io.h"

enum { PATH_ROOM = 4096 }; /* systems take no longer ones */

static sinter_status
unlink_path(const sinter_env *env, const char *path, sinter_error *err)
{
    const sinter_status st = env->io->ops->unlink(env->io, path, err);

    if (st == SINTER_OK) {
        const sinter_event event = {.struct_size = (uint32_t)sizeof event, .file = path};

        SINTER__TELL(env->listener, file_deleted, &event);
    }
    return st;
}

static sinter_status
remove_one(const sinter_env *env, const char *base_dir, const sinter_file_meta *file,
           sinter_error *err)
{
    char room[PATH_ROOM];
    char *path = NULL;
    sinter_status st = SINTER_OK;

    if (sinter__path_print(base_dir, file, room, sizeof room) < sizeof room) {
        return unlink_path(env, room, err);
    }
    SINTER__CHECK(sinter__path_of_file(env, base_dir, file, &path, err));
    st = unlink_path(env, path, err);
    sinter__free(env, path);
    return st;
}

/* Remove a file that lies beside one outside. */
static sinter_status
remove_beside(const sinter_env *env, const char *path, const char *name, sinter_error *err)
{
    const char *slash = strrchr(path, '/');
    const int dir = slash == NULL ? 0 : (int)(slash + 1 - path);
    char room[PATH_ROOM];
    const int size = snprintf(room, sizeof room, "%.*s%s", dir, path, name);

    return size >= 0 && (size_t)size < sizeof room
               ? unlink_path(env, room, err)
               : SINTER__ERR(err, SINTER_E_TOO_LARGE, "a path of more than %d bytes", PATH_ROOM);
}

sinter_status
sinter__file_remove(const sinter_env *env, const char *base_dir, const sinter_file_meta *file,
                    sinter_error *err)
{
    sinter_status first_failure = SINTER_OK;
    sinter_file_meta extra = *file;

    for (size_t i = 0; i <= file->extra_file_count; i++) {
        sinter_error detail = SINTER_ERROR_INIT;
        sinter_status st = SINTER_OK;

        extra.file_name = i == 0 ? file->file_name : file->extra_files[i - 1];
        st = i > 0 && file->external_path != NULL
                 ? remove_beside(env, file->external_path, extra.file_name, &detail)
                 : remove_one(env, base_dir, &extra, &detail);
        if (st != SINTER_OK && st != SINTER_E_NOT_FOUND && first_failure == SINTER_OK) {
            first_failure = st;
            if (err != NULL) {
                *err = detail;
            }
        }
    }
    return first_failure;
}
