/*
 * Files of the posix backend: how they are opened, made, named and closed.
 *
 * A created file has no name (O_TMPFILE) where the file system and /proc allow it: it vanishes
 * with its last descriptor, whatever happens to the process. Elsewhere it has a temporary name and
 * is held by a lock, which tells clean() that its process lives.
 */
#include "io/posix.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"

static void
posix_destroy(sinter_io *io)
{
    sinter__posix_io *posix = (sinter__posix_io *)io;

    sinter__posix_fini(posix);
    sinter__free(posix->base.env, posix);
}

const sinter_io_ops sinter__posix_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "posix",
    .open = sinter__posix_open,
    .create = sinter__posix_create_file,
    .size = sinter__posix_size,
    .read = sinter__posix_read,
    .read_begin = sinter__posix_read_begin,
    .read_end = sinter__posix_read_end,
    .append = sinter__posix_append,
    .sync = sinter__posix_sync,
    .publish = sinter__posix_publish,
    .close = sinter__posix_close,
    .stat = sinter__posix_stat,
    .sync_dir = sinter__posix_sync_dir,
    .mkdir = sinter__posix_mkdir,
    .unlink = sinter__posix_unlink,
    .list = sinter__posix_list,
    .clean = sinter__posix_clean,
    .replace = sinter__posix_replace,
    .lock = sinter__posix_lock,
    .destroy = posix_destroy,
    .borrow = sinter__posix_borrow,
    .give_back = sinter__posix_give_back,
    .free_bytes = sinter__posix_free_bytes,
};

static sinter__posix_io static_posix;
static sinter_env static_env;
static pthread_once_t static_once = PTHREAD_ONCE_INIT;

sinter_status
sinter__posix_init(sinter__posix_io *posix, const sinter_io_ops *ops, const sinter_env *env,
                   const sinter__posix_calls *calls, sinter_error *err)
{
    posix->base.io.ops = ops;
    posix->base.env = env;
    posix->calls = calls;
    posix->file_bytes = sizeof(sinter__posix_file);
    return sinter__huge_pool_init(&posix->huge, env, err);
}

void
sinter__posix_fini(sinter__posix_io *posix)
{
    sinter__huge_pool_fini(&posix->huge);
}

static void
make_static(void)
{
    sinter__env_init(&static_env);
    (void)sinter__posix_init(&static_posix, &sinter__posix_ops, &static_env,
                             &sinter__posix_calls_system, NULL); /* mutexes never fail on Linux */
}

sinter_io *
sinter_io_posix(void)
{
    (void)pthread_once(&static_once, make_static);
    return &static_posix.base.io;
}

sinter_status
sinter__posix_create(const sinter_env *env, const sinter__posix_calls *calls, sinter_io **out,
                     sinter_error *err)
{
    sinter__posix_io *posix = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, posix, 1, err));
    st = sinter__posix_init(posix, &sinter__posix_ops, env, calls, err);
    if (st != SINTER_OK) {
        sinter__free(env, posix);
        return st;
    }
    *out = &posix->base.io;
    return SINTER_OK;
}

static void
file_free(sinter__posix_file *file)
{
    const sinter_env *env = file->io->base.env;

    assert(env != NULL);
    sinter__io_chunk_fini(env, &file->chunk);
    sinter__io_chunk_fini(env, &file->bounce);
    sinter__free(env, file->path);
    sinter__free(env, file->temp_path);
    sinter__free(env, file);
}

static sinter_status
file_new(sinter__posix_io *posix, const char *path, sinter__posix_file **out, sinter_error *err)
{
    sinter__posix_file *file = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    assert(posix->file_bytes >= sizeof *file);
    SINTER__CHECK(sinter__alloc(posix->base.env, posix->file_bytes, 1, (void **)&file, err));
    file->base.ops = posix->base.io.ops;
    file->io = posix;
    file->fd = -1;
    st = sinter__strdup(posix->base.env, path, &file->path, err);
    if (st != SINTER_OK) {
        file_free(file);
        return st;
    }
    *out = file;
    return SINTER_OK;
}

/* Take the page cache out of the way where the file system lets us. */
static void
enter_direct(sinter__posix_file *file)
{
#if defined(O_DIRECT)
    file->is_direct = file->io->calls->set_flags(file->fd, O_DIRECT) == 0;
#else
    (void)file;
#endif
}

static sinter_status
file_prepare(sinter__posix_file *file, uint32_t flags, sinter_error *err)
{
    const sinter__posix_calls *calls = file->io->calls;
    struct stat about;

    assert(file->fd >= 0);
    assert(!file->is_created);
    if (calls->stat_file(file->fd, &about) != 0) {
        return SINTER__IO_ERR(err, errno, file->path, -1, "can't ask about a file");
    }
    if (!S_ISREG(about.st_mode)) {
        return SINTER__IO_ERR(err, S_ISDIR(about.st_mode) ? EISDIR : EINVAL, file->path, -1,
                              "only regular files can be read");
    }
    (void)calls->set_flags(file->fd, 0); /* O_NONBLOCK was for what isn't a regular file */
    if ((flags & SINTER_IO_DIRECT) != 0) {
        enter_direct(file);
    }
#if defined(POSIX_FADV_SEQUENTIAL)
    if ((flags & SINTER_IO_SEQUENTIAL) != 0 && !file->is_direct) {
        file->is_sequential = true;
        (void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
#endif
    return SINTER_OK;
}

sinter_status
sinter__posix_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out,
                   sinter_error *err)
{
    sinter__posix_io *posix = (sinter__posix_io *)io;
    sinter__posix_file *file = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(file_new(posix, path, &file, err));
    file->fd = sinter__posix_open_fd(posix->calls, path, O_RDONLY | O_NONBLOCK);
    if (file->fd < 0) {
        st = SINTER__IO_ERR(err, errno, path, -1, "can't open the file");
        goto out;
    }
    SINTER__TRY(file_prepare(file, flags, err));
    *out = &file->base;
    file = NULL;
out:
    if (file != NULL) {
        sinter__posix_close(&file->base);
    }
    return st;
}

#if defined(O_TMPFILE)
/* Where a descriptor can be linked from; NULL-terminated into `path`. */
static void
descriptor_path(int fd, char *path, size_t size)
{
    (void)snprintf(path, size, "/proc/self/fd/%d", fd);
}

/* A file without a name that can be given one later, or -1: use a temporary name then. */
static int
open_nameless(const sinter__posix_calls *calls, const char *dir)
{
    const int fd = sinter__posix_open_fd(calls, dir, O_TMPFILE | O_RDWR);
    char path[64];
    int probe = -1;

    if (fd < 0) {
        return -1;
    }
    descriptor_path(fd, path, sizeof path);
    probe = sinter__posix_open_fd(calls, path, O_RDONLY);
    if (probe < 0) { /* no /proc: the file could never be published */
        (void)calls->close(fd);
        return -1;
    }
    (void)calls->close(probe);
    return fd;
}
#else
static int
open_nameless(const sinter__posix_calls *calls, const char *dir)
{
    (void)calls;
    (void)dir;
    return -1;
}
#endif

sinter_status
sinter__posix_create_file(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                          sinter_error *err)
{
    sinter__posix_io *posix = (sinter__posix_io *)io;
    sinter__posix_file *file = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(file_new(posix, dir, &file, err));
    file->is_created = true;
    file->fd = open_nameless(posix->calls, dir);
    if (file->fd < 0) {
        SINTER__TRY(sinter__posix_open_temp(posix, dir, &file->fd, &file->temp_path, err));
    }
    if ((flags & SINTER_IO_DIRECT) != 0) {
        enter_direct(file);
    }
    file->is_left_alone = (flags & SINTER_IO_SCRATCH) != 0 || posix->calls->is_in_memory(file->fd);
    *out = &file->base;
    file = NULL;
out:
    if (file != NULL) {
        sinter__posix_close(&file->base);
    }
    return st;
}

static int
link_file(const sinter__posix_file *file, const char *path)
{
    const sinter__posix_calls *calls = file->io->calls;
    unsigned tries = 0;
    int rc = 0;

    do {
        if (file->temp_path != NULL) {
            rc = calls->link(file->temp_path, path, 0);
        } else {
#if defined(O_TMPFILE)
            char source[64];

            descriptor_path(file->fd, source, sizeof source);
            rc = calls->link(source, path, AT_SYMLINK_FOLLOW);
#endif
        }
    } while (rc != 0 && sinter__posix_again(errno, &tries));
    return rc;
}

sinter_status
sinter__posix_link(sinter__posix_file *file, const char *path, sinter_error *err)
{
    const sinter_env *env = file->io->base.env;
    char *name = NULL;

    assert(file->is_created && !file->is_published);
    assert(file->failure.status == SINTER_OK);
    assert(file->chunk.used == 0);
    SINTER__CHECK(sinter__strdup(env, path, &name, err));
    if (link_file(file, path) != 0) {
        const int sys_errno = errno;

        sinter__free(env, name);
        return SINTER__IO_ERR(err, sys_errno, path, -1, "can't give the file its name");
    }
    if (file->temp_path != NULL) { /* should it stay, the next clean takes it */
        (void)file->io->calls->unlink(file->temp_path);
        sinter__free(env, file->temp_path);
        file->temp_path = NULL;
    }
    sinter__free(env, file->path);
    file->path = name;
    file->is_published = true;
    return SINTER_OK;
}

sinter_status
sinter__posix_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    sinter__posix_io *posix = (sinter__posix_io *)io;
    sinter__posix_file *file = NULL;
    sinter_status st = SINTER_OK;
    unsigned tries = 0;

    *out = NULL;
    SINTER__CHECK(file_new(posix, path, &file, err));
    file->fd = sinter__posix_open_fd(posix->calls, path, O_RDWR | O_CREAT);
    if (file->fd < 0) {
        st = SINTER__IO_ERR(err, errno, path, -1, "can't open the lock");
        goto out;
    }
    while (posix->calls->lock(file->fd) != 0) {
        if (errno == EWOULDBLOCK) {
            st = SINTER__ERR_SYS(err, SINTER_E_BUSY, EWOULDBLOCK, path, -1,
                                 "another process or handle holds the lock");
            goto out;
        }
        if (!sinter__posix_again(errno, &tries)) {
            st = SINTER__IO_ERR(err, errno, path, -1, "can't take the lock");
            goto out;
        }
    }
    *out = &file->base;
    file = NULL;
out:
    if (file != NULL) {
        sinter__posix_close(&file->base);
    }
    return st;
}

void
sinter__posix_close(sinter_io_file *base)
{
    sinter__posix_file *file = (sinter__posix_file *)base;
    const sinter__posix_calls *calls = file->io->calls;

    if (file->temp_path != NULL) {
        (void)calls->unlink(file->temp_path);
    }
    if (file->fd >= 0) {
        (void)calls->close(file->fd);
    }
    file_free(file);
}
