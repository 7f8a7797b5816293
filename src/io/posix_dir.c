/*
 * Names in the posix backend: directories, temporary files, and the one file that is replaced.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/uuid.h"
#include "io/posix.h"

enum { TEMP_NAMES_MAX = 1000 }; /* names tried before giving up; a seed may meet old leftovers */

static const sinter__posix_calls *
calls_of(sinter_io *io)
{
    return ((sinter__posix_io *)io)->calls;
}

int
sinter__posix_open_fd(const sinter__posix_calls *calls, const char *path, int flags)
{
    unsigned tries = 0;
    int fd = -1;

    do {
        fd = calls->open(path, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR && sinter__posix_again(errno, &tries));
    return fd;
}

sinter_status
sinter__posix_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    struct stat about;

    (void)io;
    if (stat(path, &about) != 0) {
        return SINTER__IO_ERR(err, errno, path, -1, "can't ask about a file");
    }
    *out = (sinter_io_stat)
    {
        .size_bytes = (uint64_t)about.st_size,
#if defined(__APPLE__)
        .mtime_ms =
            (int64_t)about.st_mtimespec.tv_sec * 1000 + about.st_mtimespec.tv_nsec / 1000000,
#else
        .mtime_ms = (int64_t)about.st_mtim.tv_sec * 1000 + about.st_mtim.tv_nsec / 1000000,
#endif
        .is_directory = S_ISDIR(about.st_mode),
    };
    return SINTER_OK;
}

sinter_status
sinter__posix_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err)
{
    unsigned tries = 0;
    int result = 0;

    do {
        result = calls_of(io)->free_bytes(dir, out);
    } while (result != 0 && errno == EINTR && sinter__posix_again(errno, &tries));
    if (result != 0 && (errno == ENOSYS || errno == EOPNOTSUPP)) {
        return SINTER_END;
    }
    return result == 0 ? SINTER_OK
                       : SINTER__IO_ERR(err, errno, dir, -1, "can't ask for free space");
}

sinter_status
sinter__posix_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    const sinter__posix_calls *calls = calls_of(io);
    const int fd = sinter__posix_open_fd(calls, path, O_RDONLY | O_DIRECTORY);
    sinter_status st = SINTER_OK;
    unsigned tries = 0;
    int rc = 0;

    if (fd < 0) {
        return SINTER__IO_ERR(err, errno, path, -1, "can't open the directory");
    }
    do {
        rc = calls->sync_all(fd);
    } while (rc != 0 && sinter__posix_again(errno, &tries));
    sinter__io_count(&((sinter__posix_io *)io)->base.syncs, 1);
    if (rc != 0 && errno != EINVAL) { /* EINVAL: this file system syncs no directories */
        st = SINTER__IO_ERR(err, errno, path, -1, "can't sync the directory");
    }
    (void)calls->close(fd);
    return st;
}

sinter_status
sinter__posix_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    if (calls_of(io)->mkdir(path, 0777) != 0) {
        return SINTER__IO_ERR(err, errno, path, -1, "can't make the directory");
    }
    return SINTER_OK;
}

sinter_status
sinter__posix_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    if (calls_of(io)->unlink(path) != 0) {
        return SINTER__IO_ERR(err, errno, path, -1, "can't remove");
    }
    return SINTER_OK;
}

static sinter_status
walk(DIR *dir, const char *path, sinter_status (*each)(void *ctx, const char *name), void *ctx,
     sinter_error *err)
{
    for (;;) {
        const struct dirent *entry = NULL;

        errno = 0;
        entry = readdir(dir);
        if (entry == NULL) {
            return errno == 0 ? SINTER_OK
                              : SINTER__IO_ERR(err, errno, path, -1, "can't read the directory");
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        SINTER__CHECK(each(ctx, entry->d_name));
    }
}

sinter_status
sinter__posix_list(sinter_io *io, const char *path,
                   sinter_status (*each)(void *ctx, const char *name), void *ctx, sinter_error *err)
{
    const sinter__posix_calls *calls = calls_of(io);
    const int fd = sinter__posix_open_fd(calls, path, O_RDONLY | O_DIRECTORY);
    sinter_status st = SINTER_OK;
    DIR *dir = NULL;

    if (fd < 0) {
        return SINTER__IO_ERR(err, errno, path, -1, "can't open the directory");
    }
    dir = fdopendir(fd);
    if (dir == NULL) {
        st = SINTER__IO_ERR(err, errno, path, -1, "can't open the directory");
        (void)calls->close(fd);
        return st;
    }
    st = walk(dir, path, each, ctx, err);
    (void)closedir(dir);
    return st;
}

/* ---- temporary files with names ---- */

static sinter_status
join_path(const sinter_env *env, const char *dir, const char *name, char **out, sinter_error *err)
{
    const size_t dir_size = strlen(dir);
    const size_t size = dir_size + strlen(name) + 2;
    const char *slash = dir_size == 0 || dir[dir_size - 1] == '/' ? "" : "/";

    SINTER__CHECK(sinter__alloc(env, size, 1, (void **)out, err));
    (void)snprintf(*out, size, "%s%s%s", dir, slash, name);
    return SINTER_OK;
}

/* Lock a new file against clean(). False: clean() was faster, the name is lost. */
static bool
hold_temp(const sinter__posix_calls *calls, int fd)
{
    struct stat about;

    if (calls->lock(fd) != 0 && errno == EWOULDBLOCK) {
        return false;
    }
    /* Where nothing can be locked, clean() can't lock either and leaves the file alone. */
    return calls->stat_file(fd, &about) == 0 && about.st_nlink > 0;
}

sinter_status
sinter__posix_open_temp(sinter__posix_io *posix, const char *dir, int *fd_out, char **path_out,
                        sinter_error *err)
{
    const sinter_env *env = posix->base.env;
    char uuid[SINTER__UUID_CHARS + 1];
    char name[SINTER__UUID_CHARS + sizeof SINTER__TEMP_SUFFIX + 2];

    *path_out = NULL;
    assert(dir != NULL);
    for (int i = 0; i < TEMP_NAMES_MAX; i++) {
        char *path = NULL;
        int fd = -1;

        SINTER__CHECK(sinter__uuid(env, atomic_fetch_add(&posix->nonce, 1), uuid, err));
        (void)snprintf(name, sizeof name, ".%s%s", uuid, SINTER__TEMP_SUFFIX);
        SINTER__CHECK(join_path(env, dir, name, &path, err));
        fd = sinter__posix_open_fd(posix->calls, path, O_RDWR | O_CREAT | O_EXCL);
        if (fd >= 0 && hold_temp(posix->calls, fd)) {
            *fd_out = fd;
            *path_out = path;
            return SINTER_OK;
        }
        if (fd < 0 && errno != EEXIST) {
            const int sys_errno = errno;

            sinter__free(env, path);
            return SINTER__IO_ERR(err, sys_errno, dir, -1, "can't make a temporary file");
        }
        if (fd >= 0) {
            (void)posix->calls->close(fd);
        }
        sinter__free(env, path);
    }
    return SINTER__IO_ERR(err, EEXIST, dir, -1, "every name for a temporary file was taken");
}

static bool
is_temp_name(const char *name)
{
    const size_t size = strlen(name);
    const size_t suffix = sizeof SINTER__TEMP_SUFFIX - 1;

    return size == 1 + SINTER__UUID_CHARS + suffix && name[0] == '.' &&
           strcmp(name + size - suffix, SINTER__TEMP_SUFFIX) == 0;
}

typedef struct cleaner {
    sinter__posix_io *posix;
    const char *dir;
    uint64_t removed;
    sinter_error *err;
} cleaner;

static sinter_status
clean_one(void *ctx, const char *name)
{
    cleaner *job = ctx;
    const sinter__posix_calls *calls = job->posix->calls;
    sinter_status st = SINTER_OK;
    char *path = NULL;
    int fd = -1;

    assert(strchr(name, '/') == NULL);
    if (!is_temp_name(name)) {
        return SINTER_OK;
    }
    SINTER__CHECK(join_path(job->posix->base.env, job->dir, name, &path, job->err));
    fd = sinter__posix_open_fd(calls, path, O_RDWR | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) { /* gone meanwhile, or not ours to touch */
        goto out;
    }
    if (calls->lock(fd) == 0) {
        if (calls->unlink(path) == 0) {
            job->removed++;
        } else if (errno != ENOENT) {
            st = SINTER__IO_ERR(job->err, errno, path, -1, "can't remove a temporary file");
        }
    }
    (void)calls->close(fd);
out:
    sinter__free(job->posix->base.env, path);
    return st;
}

sinter_status
sinter__posix_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    cleaner job = {.posix = (sinter__posix_io *)io, .dir = dir, .err = err};
    const sinter_status st = sinter__posix_list(io, dir, clean_one, &job, err);

    if (removed_out != NULL) {
        *removed_out = job.removed;
    }
    return st;
}

/* ---- replace ---- */

/* The directory that holds `path`: a copy, "." when it names none. */
static sinter_status
parent_path(const sinter_env *env, const char *path, char **out, sinter_error *err)
{
    const char *slash = strrchr(path, '/');

    SINTER__CHECK(sinter__strdup(env, slash == NULL ? "." : path, out, err));
    if (slash != NULL) {
        assert(slash >= path);
        (*out)[slash == path ? 1 : slash - path] = '\0';
    }
    return SINTER_OK;
}

static sinter_status
rename_over(const sinter__posix_calls *calls, const char *source, const char *target,
            sinter_error *err)
{
    if (calls->rename(source, target) != 0) {
        return SINTER__IO_ERR(err, errno, target, -1, "can't replace the file");
    }
    return SINTER_OK;
}

sinter_status
sinter__posix_replace(sinter_io *io, const char *path, const void *data, size_t size,
                      sinter_error *err)
{
    sinter__posix_io *posix = (sinter__posix_io *)io;
    const sinter_env *env = posix->base.env;
    struct iovec part = {.iov_base = sinter__io_writable(data), .iov_len = size};
    sinter__posix_file file = {.io = posix, .fd = -1};
    char *dir = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(parent_path(env, path, &dir, err));
    SINTER__TRY(sinter__posix_open_temp(posix, dir, &file.fd, &file.temp_path, err));
    file.path = file.temp_path;
    SINTER__TRY(sinter__posix_write_all(&file, &part, 1, 0, err));
    SINTER__TRY(sinter__posix_sync_fd(&file, err));
    SINTER__TRY(rename_over(posix->calls, file.temp_path, path, err));
    sinter__free(env, file.temp_path);
    file.temp_path = NULL;
    SINTER__TRY(sinter__posix_sync_dir(io, dir, err));
out:
    if (file.temp_path != NULL) {
        (void)posix->calls->unlink(file.temp_path);
        sinter__free(env, file.temp_path);
    }
    if (file.fd >= 0) {
        (void)posix->calls->close(file.fd);
    }
    sinter__free(env, dir);
    return st;
}
