#include "io/posix_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

static int
call_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

static int
call_sync_data(int fd)
{
#if defined(__APPLE__)
    return fcntl(fd, F_FULLFSYNC);
#else
    return fdatasync(fd);
#endif
}

static int
call_sync_range(int fd, off_t offset, off_t size, bool wait)
{
#if defined(__linux__)
    const unsigned begin = SYNC_FILE_RANGE_WRITE;
    const unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | begin | SYNC_FILE_RANGE_WAIT_AFTER;

    return sync_file_range(fd, offset, size, wait ? all : begin);
#else
    (void)fd;
    (void)offset;
    (void)size;
    (void)wait;
    errno = ENOSYS;
    return -1;
#endif
}

static int
call_allocate(int fd, off_t offset, off_t size)
{
#if defined(__linux__)
    return fallocate(fd, 0, offset, size);
#else
    (void)fd;
    (void)offset;
    (void)size;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

static int
call_stat_file(int fd, struct stat *out)
{
    return fstat(fd, out);
}

static bool
call_is_in_memory(int fd)
{
#if defined(__linux__)
    struct statfs about;

    return fstatfs(fd, &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
#else
    (void)fd;
    return false;
#endif
}

static int
call_set_flags(int fd, int flags)
{
    return fcntl(fd, F_SETFL, flags);
}

static int
call_lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB);
}

static int
call_link(const char *source, const char *target, int flags)
{
    return linkat(AT_FDCWD, source, AT_FDCWD, target, flags);
}

static int
call_free_bytes(const char *dir, uint64_t *out)
{
    struct statvfs about;
    const int result = statvfs(dir, &about);

    if (result == 0 &&
        __builtin_mul_overflow((uint64_t)about.f_bavail, (uint64_t)about.f_frsize, out)) {
        *out = UINT64_MAX;
    }
    return result;
}

const sinter__posix_calls sinter__posix_calls_system = {
    .open = call_open,
    .close = close,
    .preadv = preadv,
    .pwritev = pwritev,
    .sync_data = call_sync_data,
    .sync_all = fsync,
    .sync_range = call_sync_range,
    .allocate = call_allocate,
    .truncate = ftruncate,
    .stat_file = call_stat_file,
    .is_in_memory = call_is_in_memory,
    .set_flags = call_set_flags,
    .lock = call_lock,
    .link = call_link,
    .unlink = remove, /* an empty directory as well */
    .rename = rename,
    .mkdir = mkdir,
    .free_bytes = call_free_bytes,
};
