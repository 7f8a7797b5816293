#include "compact/remove.h"

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

/* The directory of a file outside, in which those that belong to it lie as well. */
static void
print_dir(const char *path, char out[PATH_ROOM])
{
    const char *slash = strrchr(path, '/');
    const size_t size = slash == NULL ? 0 : (size_t)(slash - path) + (slash == path ? 1 : 0);

    out[0] = '.';
    out[1] = '\0';
    if (size > 0 && size < PATH_ROOM) {
        memcpy(out, path, size);
        out[size] = '\0';
    }
}

sinter_status
sinter__file_remove(const sinter_env *env, const char *base_dir, const sinter_file_meta *file,
                    sinter_error *err)
{
    sinter_status first_failure = SINTER_OK;
    sinter_file_meta extra = *file;
    char outside[PATH_ROOM];

    if (file->external_path != NULL) {
        print_dir(file->external_path, outside);
        extra.external_path = NULL;
        extra.dir = NULL;
    }
    for (size_t i = 0; i <= file->extra_file_count; i++) {
        sinter_error detail = SINTER_ERROR_INIT;
        sinter_status st = SINTER_OK;

        extra.file_name = i == 0 ? file->file_name : file->extra_files[i - 1];
        st = remove_one(env, i > 0 && file->external_path != NULL ? outside : base_dir,
                        i == 0 ? file : &extra, &detail);
        if (st != SINTER_OK && st != SINTER_E_NOT_FOUND && first_failure == SINTER_OK) {
            first_failure = st;
            if (err != NULL) {
                *err = detail;
            }
        }
    }
    return first_failure;
}
