/*
 * The system calls under the posix and the io_uring backend, as a table, so that tests can make
 * them fail or do less than asked. Each has the meaning and the errno of its namesake.
 */
#ifndef SINTER_IO_POSIX_CALLS_H
#define SINTER_IO_POSIX_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef struct sinter__posix_calls {
    int (*open)(const char *path, int flags, mode_t mode);
    int (*close)(int fd);
    ssize_t (*preadv)(int fd, const struct iovec *parts, int count, off_t offset);
    ssize_t (*pwritev)(int fd, const struct iovec *parts, int count, off_t offset);
    int (*sync_data)(int fd); /* fdatasync */
    int (*sync_all)(int fd);  /* fsync */
    /* sync_file_range: begin to write a stretch out, or have it written out (`wait`) */
    int (*sync_range)(int fd, off_t offset, off_t size, bool wait);
    int (*allocate)(int fd, off_t offset, off_t size); /* fallocate; the file grows */
    int (*truncate)(int fd, off_t size);
    int (*stat_file)(int fd, struct stat *out);
    bool (*is_in_memory)(int fd);        /* does its file system keep files in memory (fstatfs)? */
    int (*set_flags)(int fd, int flags); /* fcntl F_SETFL */
    int (*lock)(int fd);                 /* flock, exclusive, not waiting */
    int (*link)(const char *source, const char *target, int flags);
    int (*unlink)(const char *path); /* remove: a file or an empty directory */
    int (*rename)(const char *source, const char *target);
    int (*mkdir)(const char *path, mode_t mode);
    int (*free_bytes)(const char *dir, uint64_t *out); /* statvfs: what others than root may take */
} sinter__posix_calls;

/** The system's own. */
extern const sinter__posix_calls sinter__posix_calls_system;

#endif
