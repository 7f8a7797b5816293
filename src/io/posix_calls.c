#include "io/posix_calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

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
call_stat_file(int fd, struct stat *out)
{
    return fstat(fd, out);
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

const sinter__posix_calls sinter__posix_calls_system = {
    .open = call_open,
    .close = close,
    .preadv = preadv,
    .pwritev = pwritev,
    .sync_data = call_sync_data,
    .sync_all = fsync,
    .stat_file = call_stat_file,
    .set_flags = call_set_flags,
    .lock = call_lock,
    .link = call_link,
    .unlink = remove, /* an empty directory as well */
    .rename = rename,
    .mkdir = mkdir,
};
