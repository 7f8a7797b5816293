/*
 * Inside of the posix backend, which io_uring builds on: that one replaces how bytes move and
 * keeps how files are made, named and removed.
 */
#ifndef SINTER_IO_POSIX_H
#define SINTER_IO_POSIX_H

#include "io/huge_pool.h"
#include "io/io_base.h"
#include "io/posix_calls.h"

/** Suffix of temporary files that have a name: ".<uuid>.sinter-tmp". */
#define SINTER__TEMP_SUFFIX ".sinter-tmp"

enum { SINTER__RETRIES_MAX = 10000 }; /* EINTR, EAGAIN in a row before a call counts as failed */

/** The backend. Shared. */
typedef struct sinter__posix_io {
    sinter__io_base base;
    const sinter__posix_calls *calls;
    sinter__huge_pool huge; /* for direct files */
    size_t file_bytes;      /* size of the struct of a file: sinter__posix_file or larger */
    _Atomic uint64_t nonce; /* for names that follow from a seed */
} sinter__posix_io;

/** The first write or sync that failed: the file can't be trusted from there on. */
typedef struct sinter__io_failure {
    sinter_status status;
    int sys_errno;
    int64_t offset;
} sinter__io_failure;

/** An open file. Confined. */
typedef struct sinter__posix_file {
    sinter_io_file base;
    sinter__posix_io *io;
    char *path;      /* for messages: the name, or the directory while it has none */
    char *temp_path; /* the name to take away at close; NULL: none */
    int fd;
    bool is_created;
    bool is_published;
    bool is_direct;
    bool is_sequential;
    bool is_left_alone; /* nothing of it is written out before it is synced */
    sinter__io_failure failure;
    bool is_not_allocated; /* the file system refused it once */
    uint64_t
        allocated_bytes;     /* direct: size of the file, where that is ahead of what was written */
    uint64_t waited_bytes;   /* these are written out */
    uint64_t pushed_bytes;   /* the kernel was told to write these out */
    uint64_t flushed_bytes;  /* what is behind: file offset of the first byte of `chunk` */
    sinter__io_chunk chunk;  /* appended, not yet handed to the kernel */
    sinter__io_chunk bounce; /* aligned memory for direct reads */
} sinter__posix_file;

/** Words of a ticket. */
enum {
    SINTER__TICKET_STATE = 0,
    SINTER__TICKET_OFFSET = 1,
    SINTER__TICKET_DATA = 2,
    SINTER__TICKET_SIZE = 3,
    SINTER__TICKET_REQUEST = 4
};
enum { SINTER__TICKET_IDLE = 0, SINTER__TICKET_BEGUN = 1 };

/** Set up the fields of a posix backend in zeroed memory. SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__posix_init(sinter__posix_io *posix, const sinter_io_ops *ops, const sinter_env *env,
                   const sinter__posix_calls *calls, sinter_error *err);
/** The other way round. */
void
sinter__posix_fini(sinter__posix_io *posix);

/** A posix backend of its own over `calls` (borrowed); sinter_io_destroy() releases it. */
sinter_status
sinter__posix_create(const sinter_env *env, const sinter__posix_calls *calls, sinter_io **out,
                     sinter_error *err);

/* posix.c: files. As the members of sinter_io_ops. */
sinter_status
sinter__posix_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out,
                   sinter_error *err);
sinter_status
sinter__posix_create_file(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                          sinter_error *err);
sinter_status
sinter__posix_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err);
/** Give a created file whose bytes are all handed over its name. */
sinter_status
sinter__posix_link(sinter__posix_file *file, const char *path, sinter_error *err);
void
sinter__posix_close(sinter_io_file *base);

/* posix_data.c: bytes. */
sinter_status
sinter__posix_size(sinter_io_file *base, uint64_t *size_out, sinter_error *err);
sinter_status
sinter__posix_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count,
                   sinter_error *err);
sinter_status
sinter__posix_read_begin(sinter_io_file *base, const sinter_io_range *range,
                         sinter_io_ticket *ticket, sinter_error *err);
sinter_status
sinter__posix_read_end(sinter_io_file *base, sinter_io_ticket *ticket, sinter_error *err);
sinter_status
sinter__posix_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err);
sinter_status
sinter__posix_sync(sinter_io_file *base, sinter_error *err);
sinter_status
sinter__posix_publish(sinter_io_file *base, const char *path, sinter_error *err);

/** Memory for direct reads. */
void *
sinter__posix_borrow(sinter_io_file *base, size_t size);
void
sinter__posix_give_back(sinter_io_file *base, void *data);
/** Read one stretch, past the page cache where the file is direct. */
sinter_status
sinter__posix_read_range(sinter__posix_file *file, const sinter_io_range *range, sinter_error *err);
/** Write all parts at `offset`; `parts` is used up. A failure stays with the file. */
sinter_status
sinter__posix_write_all(sinter__posix_file *file, struct iovec *parts, int count, uint64_t offset,
                        sinter_error *err);
/**
 * Let what was handed to the kernel be written out in windows: when one is full its writing begins,
 * and the one before has to be on the disk
 * (as far as the ring has handed it over, with io_uring). So dirty pages stay few, and the last
 * sync is short. Left alone are direct files, scratch files, file systems in memory, and those that
 * refuse.
 */
sinter_status
sinter__posix_push(sinter__posix_file *file, sinter_error *err);
/** Have room for a direct file up to `end`, in large steps: a write within the size of a file costs
 *  half of one that extends it, and doesn't wait for others. Where it is refused, writes extend. */
void
sinter__posix_allocate(sinter__posix_file *file, uint64_t end);
/** Cut off what was allocated beyond the bytes that were written. A failure stays with the file. */
sinter_status
sinter__posix_trim(sinter__posix_file *file, sinter_error *err);
/** Use the page cache from now on. */
void
sinter__posix_leave_direct(sinter__posix_file *file);
/** Note the first failure of a file's writes, fill `err` and return the status. */
sinter_status
sinter__posix_fail_write(sinter__posix_file *file, int sys_errno, uint64_t offset, uint64_t size,
                         sinter_error *err);
/** May this file be appended to, synced, published? SINTER_E_INVALID, or its first failure. */
sinter_status
sinter__posix_check_writable(const sinter__posix_file *file, sinter_error *err);
/** The system call of sync. */
sinter_status
sinter__posix_sync_fd(sinter__posix_file *file, sinter_error *err);

/** Should a call that failed with `sys_errno` be made again? Counts in `*tries`. */
bool
sinter__posix_again(int sys_errno, unsigned *tries);

/* posix_dir.c: names. */
sinter_status
sinter__posix_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err);
sinter_status
sinter__posix_sync_dir(sinter_io *io, const char *path, sinter_error *err);
sinter_status
sinter__posix_mkdir(sinter_io *io, const char *path, sinter_error *err);
sinter_status
sinter__posix_unlink(sinter_io *io, const char *path, sinter_error *err);
sinter_status
sinter__posix_list(sinter_io *io, const char *path,
                   sinter_status (*each)(void *ctx, const char *name), void *ctx,
                   sinter_error *err);
sinter_status
sinter__posix_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err);
sinter_status
sinter__posix_replace(sinter_io *io, const char *path, const void *data, size_t size,
                      sinter_error *err);

sinter_status
sinter__posix_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err);

/** Open with EINTR taken care of; errno is the caller's to read when the result is below 0. */
int
sinter__posix_open_fd(const sinter__posix_calls *calls, const char *path, int flags);

/**
 * Make a temporary file with a name in `dir` and lock it.
 * @param path_out  its name; the caller's, release through the environment
 */
sinter_status
sinter__posix_open_temp(sinter__posix_io *posix, const char *dir, int *fd_out, char **path_out,
                        sinter_error *err);

#endif
