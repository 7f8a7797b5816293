/*
 * How bytes move in the posix backend.
 *
 * Reads: stretches that touch become one preadv. Writes: appends gather in an aligned chunk, so
 * that small ones cost no system call; a large one goes out together with what waits, uncopied.
 * Direct files move whole aligned blocks past the page cache; whatever doesn't fit that (a tail, a
 * short count, a file system that refuses) switches the file back to the page cache, for good.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/statvfs.h>

#include "io/posix.h"

enum {
    PARTS_MAX = 64,             /* stretches in one preadv */
    PUSH_BYTES = 4 << 20,       /* a window: dirty are two of them, and what is on its way */
    ALLOCATE_BYTES = 16 << 20,  /* what a direct file grows by at a time */
    LARGE_APPEND_BYTES = 262144 /* from here on a system call is cheaper than a copy */
};

static sinter__posix_file *
posix_file(sinter_io_file *base)
{
    return (sinter__posix_file *)base;
}

static size_t
align_down(size_t size)
{
    return size - size % SINTER__IO_ALIGN;
}

bool
sinter__posix_again(int sys_errno, unsigned *tries)
{
    if (sys_errno != EINTR && sys_errno != EAGAIN) {
        return false;
    }
    if (sys_errno == EAGAIN) {
        (void)sched_yield();
    }
    return ++*tries < SINTER__RETRIES_MAX;
}

void
sinter__posix_leave_direct(sinter__posix_file *file)
{
    assert(file->is_direct);
    file->is_direct = false;
    (void)file->io->calls->set_flags(file->fd, 0);
}

/* Take `size` bytes off the front of the parts. */
static void
parts_advance(struct iovec **parts, int *count, size_t size)
{
    while (*count > 0 && size >= (*parts)->iov_len) {
        size -= (*parts)->iov_len;
        (*parts)++;
        (*count)--;
    }
    if (size > 0) {
        assert(*count > 0);
        (*parts)->iov_base = (uint8_t *)(*parts)->iov_base + size;
        (*parts)->iov_len -= size;
    }
}

sinter_status
sinter__posix_size(sinter_io_file *base, uint64_t *size_out, sinter_error *err)
{
    const sinter__posix_file *file = posix_file(base);
    struct stat about;

    if (file->is_created) {
        *size_out = file->flushed_bytes + file->chunk.used;
        return SINTER_OK;
    }
    if (file->io->calls->stat_file(file->fd, &about) != 0) {
        return SINTER__IO_ERR(err, errno, file->path, -1, "can't ask for the size of a file");
    }
    *size_out = (uint64_t)about.st_size;
    return SINTER_OK;
}

/* ---- reading ---- */

static sinter_status
read_parts(sinter__posix_file *file, struct iovec *parts, int count, uint64_t offset,
           sinter_error *err)
{
    sinter__posix_io *io = file->io;
    uint64_t wanted = 0;
    unsigned tries = 0;

    for (int i = 0; i < count; i++) {
        wanted += parts[i].iov_len;
    }
    while (wanted > 0) {
        const ssize_t n = io->calls->preadv(file->fd, parts, count, (off_t)offset);

        sinter__io_count(&io->base.reads, 1);
        if (n < 0) {
            if (sinter__posix_again(errno, &tries)) {
                continue;
            }
            return SINTER__IO_ERR(err, errno, file->path, offset, "can't read");
        }
        if (n == 0) {
            return SINTER__IO_ERR_END(err, file->path, offset, wanted);
        }
        assert((uint64_t)n <= wanted);
        sinter__io_count(&io->base.read_bytes, (uint64_t)n);
        tries = 0;
        offset += (uint64_t)n;
        wanted -= (uint64_t)n;
        parts_advance(&parts, &count, (size_t)n);
    }
    return SINTER_OK;
}

/* One direct read of aligned memory. Bytes read, or 0 when the page cache must take over. */
static sinter_status
read_direct_once(sinter__posix_file *file, struct iovec part, uint64_t offset, size_t *got,
                 sinter_error *err)
{
    unsigned tries = 0;
    ssize_t n = 0;

    assert(offset % SINTER__IO_ALIGN == 0);
    do {
        n = file->io->calls->preadv(file->fd, &part, 1, (off_t)offset);
        sinter__io_count(&file->io->base.reads, 1);
    } while (n < 0 && sinter__posix_again(errno, &tries));
    if (n < 0 && errno != EINVAL) {
        return SINTER__IO_ERR(err, errno, file->path, offset, "can't read");
    }
    *got = n < 0 ? 0 : (size_t)n;
    return SINTER_OK;
}

static bool
is_aligned(const void *data)
{
    return (uintptr_t)data % SINTER__IO_ALIGN == 0;
}

/* Where the rest of a stretch is read to: in place when all is aligned, else the bounce chunk. */
static sinter_status
aim_direct(sinter__posix_file *file, const sinter_io_range *rest, struct iovec *part,
           sinter_error *err)
{
    sinter__io_chunk *bounce = &file->bounce;
    const size_t skip = (size_t)(rest->offset % SINTER__IO_ALIGN);
    const size_t span = align_down(skip + rest->size + SINTER__IO_ALIGN - 1);

    part->iov_base = rest->data;
    part->iov_len = align_down(rest->size);
    if (skip == 0 && is_aligned(rest->data) && part->iov_len > 0) {
        return SINTER_OK;
    }
    if (bounce->block == NULL) {
        const size_t least = SINTER__IO_CHUNK_BYTES_MIN;
        const size_t most = SINTER__IO_CHUNK_BYTES;
        const size_t wanted = span < least ? least : span > most ? most : span;

        SINTER__CHECK(sinter__io_chunk_init(file->io->base.env, bounce, wanted, least, err));
    }
    part->iov_base = bounce->data;
    part->iov_len = span < bounce->capacity ? span : bounce->capacity;
    return SINTER_OK;
}

/* Read the front of a stretch directly; `*done_out` bytes are there, the page cache has the rest.
 * What was bounced through is given back at once: each open file would keep it otherwise. */
static sinter_status
read_direct(sinter__posix_file *file, const sinter_io_range *range, size_t *done_out,
            sinter_error *err)
{
    sinter_io_range rest = *range;
    sinter_status st = SINTER_OK;

    while (rest.size > 0 && file->is_direct) {
        const size_t skip = (size_t)(rest.offset % SINTER__IO_ALIGN);
        struct iovec part = {0};
        size_t got = 0;

        SINTER__TRY(aim_direct(file, &rest, &part, err));
        SINTER__TRY(read_direct_once(file, part, rest.offset - skip, &got, err));
        if ((got % SINTER__IO_ALIGN != 0 || got == 0) && got < skip + rest.size) {
            sinter__posix_leave_direct(file);
        }
        got = got > skip ? got - skip : 0;
        got = got < rest.size ? got : rest.size;
        if (part.iov_base != rest.data && got > 0) {
            memcpy(rest.data, file->bounce.data + skip, got);
        }
        sinter__io_count(&file->io->base.read_bytes, got);
        rest.offset += got;
        rest.data = (uint8_t *)rest.data + got;
        rest.size -= got;
    }
    assert(rest.size <= range->size);
    *done_out = range->size - rest.size;
out:
    sinter__io_chunk_fini(file->io->base.env, &file->bounce);
    return st;
}

sinter_status
sinter__posix_read_range(sinter__posix_file *file, const sinter_io_range *range, sinter_error *err)
{
    struct iovec part = {0};
    size_t done = 0;

    SINTER__CHECK(sinter__io_check_range(file->path, range, err));
    if (file->is_direct && range->size > 0) {
        SINTER__CHECK(read_direct(file, range, &done, err));
    }
    part.iov_base = (uint8_t *)range->data + done;
    part.iov_len = range->size - done;
    return read_parts(file, &part, 1, range->offset + done, err);
}

void *
sinter__posix_borrow(sinter_io_file *base, size_t size)
{
    sinter__posix_file *file = posix_file(base);
    const bool is_fit = size <= SINTER__HUGE_PIECE_BYTES && size > SINTER__HUGE_PIECE_BYTES / 2;

    return file->is_direct && is_fit ? sinter__huge_pool_take(&file->io->huge) : NULL;
}

void
sinter__posix_give_back(sinter_io_file *base, void *data)
{
    sinter__huge_pool_give(&posix_file(base)->io->huge, data);
}

static sinter_status
flush(sinter__posix_file *file, sinter_error *err);

/* Make what was appended readable through the descriptor. */
static sinter_status
settle(sinter__posix_file *file, sinter_error *err)
{
    return file->chunk.used > 0 ? flush(file, err) : SINTER_OK;
}

/* Read the first range and those after it that touch, as many as `parts` holds; `*used_out` ranges.
 */
static sinter_status
read_touching(sinter__posix_file *file, const sinter_io_range *ranges, size_t count, int *used_out,
              sinter_error *err)
{
    struct iovec parts[PARTS_MAX];
    uint64_t end = ranges[0].offset;
    int used = 0;

    while ((size_t)used < count && used < PARTS_MAX && ranges[used].offset == end) {
        SINTER__CHECK(sinter__io_check_range(file->path, &ranges[used], err));
        parts[used].iov_base = ranges[used].data;
        parts[used].iov_len = ranges[used].size;
        end += ranges[used].size;
        used++;
    }
    assert(used > 0);
    *used_out = used;
    return read_parts(file, parts, used, ranges[0].offset, err);
}

sinter_status
sinter__posix_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count,
                   sinter_error *err)
{
    sinter__posix_file *file = posix_file(base);
    sinter_status st = settle(file, err);

    while (count > 0 && st == SINTER_OK) {
        int used = 1;

        st = file->is_direct ? sinter__posix_read_range(file, ranges, err)
                             : read_touching(file, ranges, count, &used, err);
        assert(used > 0);
        ranges += used;
        count -= (size_t)used;
    }
    return st;
}

/*
 * Reads are made at the end, so that the kernel has had the time between for its own read-ahead:
 * of sequential files it knows what comes next, for others it is told.
 */
sinter_status
sinter__posix_read_begin(sinter_io_file *base, const sinter_io_range *range,
                         sinter_io_ticket *ticket, sinter_error *err)
{
    sinter__posix_file *file = posix_file(base);

    memset(ticket, 0, sizeof *ticket);
    SINTER__CHECK(sinter__io_check_range(file->path, range, err));
    SINTER__CHECK(settle(file, err));
#if defined(POSIX_FADV_WILLNEED)
    if (!file->is_sequential && !file->is_direct) {
        (void)posix_fadvise(file->fd, (off_t)range->offset, (off_t)range->size,
                            POSIX_FADV_WILLNEED);
    }
#endif
    ticket->words[SINTER__TICKET_STATE] = SINTER__TICKET_BEGUN;
    ticket->words[SINTER__TICKET_OFFSET] = range->offset;
    sinter__ticket_put(ticket, SINTER__TICKET_DATA, range->data);
    ticket->words[SINTER__TICKET_SIZE] = range->size;
    return SINTER_OK;
}

sinter_status
sinter__posix_read_end(sinter_io_file *base, sinter_io_ticket *ticket, sinter_error *err)
{
    const sinter_io_range range = {
        .offset = ticket->words[SINTER__TICKET_OFFSET],
        .data = sinter__ticket_get(ticket, SINTER__TICKET_DATA),
        .size = (size_t)ticket->words[SINTER__TICKET_SIZE],
    };

    SINTER__REQUIRE(err, ticket->words[SINTER__TICKET_STATE] == SINTER__TICKET_BEGUN);
    ticket->words[SINTER__TICKET_STATE] = SINTER__TICKET_IDLE;
    return sinter__posix_read_range(posix_file(base), &range, err);
}

/* ---- writing ---- */

sinter_status
sinter__posix_fail_write(sinter__posix_file *file, int sys_errno, uint64_t offset, uint64_t size,
                         sinter_error *err)
{
    const sinter_status st = sinter__io_status(sys_errno);
    struct statvfs fs;

    assert(sys_errno > 0);
    if (file->failure.status == SINTER_OK) {
        file->failure = (sinter__io_failure){st, sys_errno, (int64_t)offset};
    }
    if (st == SINTER_E_NO_SPACE && fstatvfs(file->fd, &fs) == 0) {
        return SINTER__ERR_SYS(
            err, st, sys_errno, file->path, offset, "no space left: %llu bytes to write, %llu free",
            (unsigned long long)size, (unsigned long long)fs.f_bavail * fs.f_frsize);
    }
    return SINTER__IO_ERR(err, sys_errno, file->path, offset, "can't write");
}

sinter_status
sinter__posix_check_writable(const sinter__posix_file *file, sinter_error *err)
{
    const sinter__io_failure *failure = &file->failure;

    if (!file->is_created || file->is_published) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, file->path, -1,
                              "only a created file that has no name yet can be written");
    }
    if (failure->status != SINTER_OK) {
        return SINTER__ERR_SYS(err, failure->status, failure->sys_errno, file->path,
                               failure->offset, "an earlier write of this file failed");
    }
    return SINTER_OK;
}

static bool
is_direct_write(const struct iovec *parts, int count, uint64_t offset)
{
    return count == 1 && is_aligned(parts[0].iov_base) &&
           parts[0].iov_len % SINTER__IO_ALIGN == 0 && offset % SINTER__IO_ALIGN == 0;
}

sinter_status
sinter__posix_write_all(sinter__posix_file *file, struct iovec *parts, int count, uint64_t offset,
                        sinter_error *err)
{
    sinter__posix_io *io = file->io;
    unsigned tries = 0;
    uint64_t left = 0;

    for (int i = 0; i < count; i++) {
        left += parts[i].iov_len;
    }
    while (left > 0) {
        ssize_t n = 0;

        if (file->is_direct && !is_direct_write(parts, count, offset)) {
            sinter__posix_leave_direct(file);
        }
        n = io->calls->pwritev(file->fd, parts, count, (off_t)offset);
        sinter__io_count(&io->base.writes, 1);
        if (n < 0 && errno == EINVAL && file->is_direct) {
            sinter__posix_leave_direct(file);
            continue;
        }
        if (n < 0 && sinter__posix_again(errno, &tries)) {
            continue;
        }
        if (n <= 0) { /* a write without progress would be one without end */
            return sinter__posix_fail_write(file, n < 0 ? errno : EIO, offset, left, err);
        }
        assert((uint64_t)n <= left);
        sinter__io_count(&io->base.written_bytes, (uint64_t)n);
        tries = 0;
        offset += (uint64_t)n;
        left -= (uint64_t)n;
        parts_advance(&parts, &count, (size_t)n);
    }
    return SINTER_OK;
}

static sinter_status
sync_range(sinter__posix_file *file, uint64_t offset, uint64_t size, bool wait, sinter_error *err)
{
    unsigned tries = 0;

    while (file->io->calls->sync_range(file->fd, (off_t)offset, (off_t)size, wait) != 0) {
        if (sinter__posix_again(errno, &tries)) {
            continue;
        }
        if (errno == ENOSYS || errno == EINVAL || errno == ESPIPE || errno == EOPNOTSUPP) {
            file->is_left_alone = true;
            return SINTER_OK;
        }
        return sinter__posix_fail_write(file, errno, offset, size, err);
    }
    return SINTER_OK;
}

sinter_status
sinter__posix_push(sinter__posix_file *file, sinter_error *err)
{
    const uint64_t begin = file->pushed_bytes;
    const uint64_t size = file->flushed_bytes - begin;

    if (file->is_left_alone || file->is_direct || size < PUSH_BYTES) {
        return SINTER_OK;
    }
    SINTER__CHECK(sync_range(file, begin, size, false, err));
    if (begin > file->waited_bytes && !file->is_left_alone) {
        SINTER__CHECK(sync_range(file, file->waited_bytes, begin - file->waited_bytes, true, err));
        file->waited_bytes = begin;
    }
    file->pushed_bytes = file->flushed_bytes;
    return SINTER_OK;
}

void
sinter__posix_allocate(sinter__posix_file *file, uint64_t end)
{
    const uint64_t begin =
        file->allocated_bytes > file->flushed_bytes ? file->allocated_bytes : file->flushed_bytes;
    const uint64_t size = end - begin + ALLOCATE_BYTES;
    unsigned tries = 0;
    int failed = 0;

    if (!file->is_direct || file->is_not_allocated || end <= file->allocated_bytes ||
        size > (uint64_t)INT64_MAX - begin) {
        return;
    }
    /* If the disk is full, a write will say so when it is reached; part may have been given. */
    do {
        failed = file->io->calls->allocate(file->fd, (off_t)begin, (off_t)size);
    } while (failed != 0 && sinter__posix_again(errno, &tries));
    file->is_not_allocated = failed != 0;
    file->allocated_bytes = begin + size;
}

sinter_status
sinter__posix_trim(sinter__posix_file *file, sinter_error *err)
{
    unsigned tries = 0;

    if (file->allocated_bytes <= file->flushed_bytes) {
        return SINTER_OK;
    }
    while (file->io->calls->truncate(file->fd, (off_t)file->flushed_bytes) != 0) {
        if (!sinter__posix_again(errno, &tries)) {
            return sinter__posix_fail_write(file, errno, file->flushed_bytes, 0, err);
        }
    }
    file->allocated_bytes = 0;
    return SINTER_OK;
}

/* Hand the chunk to the kernel; a direct file's tail goes separately. */
static sinter_status
flush(sinter__posix_file *file, sinter_error *err)
{
    sinter__io_chunk *chunk = &file->chunk;
    const size_t head = file->is_direct ? align_down(chunk->used) : chunk->used;
    struct iovec parts[] = {{.iov_base = chunk->data, .iov_len = head},
                            {.iov_base = chunk->data + head, .iov_len = chunk->used - head}};

    assert(chunk->used > 0 && chunk->used <= chunk->capacity);
    sinter__posix_allocate(file, file->flushed_bytes + head);

    SINTER__CHECK(sinter__posix_write_all(file, &parts[0], 1, file->flushed_bytes, err));
    SINTER__CHECK(sinter__posix_write_all(file, &parts[1], 1, file->flushed_bytes + head, err));
    file->flushed_bytes += chunk->used;
    chunk->used = 0;
    return sinter__posix_push(file, err);
}

/* Write what waits and the front of `data` up to an aligned end; `*written_out` bytes of it. */
static sinter_status
append_large(sinter__posix_file *file, const uint8_t *data, size_t size, size_t *written_out,
             sinter_error *err)
{
    const uint64_t end = file->flushed_bytes + file->chunk.used + size;
    const size_t taken = size - (size_t)(end % SINTER__IO_ALIGN);
    struct iovec parts[] = {{.iov_base = file->chunk.data, .iov_len = file->chunk.used},
                            {.iov_base = sinter__io_writable(data), .iov_len = taken}};
    const int first = file->chunk.used > 0 ? 0 : 1;

    assert(size >= LARGE_APPEND_BYTES);
    assert(taken > 0);
    assert(!file->is_direct);
    SINTER__CHECK(
        sinter__posix_write_all(file, &parts[first], 2 - first, file->flushed_bytes, err));
    file->flushed_bytes += file->chunk.used + taken;
    file->chunk.used = 0;
    *written_out = taken;
    return sinter__posix_push(file, err);
}

/* Take bytes into the chunk, and hand it over when it is full. */
static sinter_status
append_some(sinter__posix_file *file, const uint8_t *data, size_t size, size_t *taken_out,
            sinter_error *err)
{
    sinter__io_chunk *chunk = &file->chunk;
    size_t room = 0;

    if (chunk->block == NULL) {
        SINTER__CHECK(
            sinter__io_chunk_init(file->io->base.env, chunk,
                                  file->is_direct ? SINTER__IO_HUGE_BYTES : SINTER__IO_CHUNK_BYTES,
                                  SINTER__IO_CHUNK_BYTES_MIN, err));
    }
    /* Chunks end at multiples of their size, whatever was flushed in between. */
    room = chunk->capacity - (size_t)(file->flushed_bytes % chunk->capacity) - chunk->used;
    room = room < size ? room : size;
    assert(room > 0);
    memcpy(chunk->data + chunk->used, data, room);
    chunk->used += room;
    *taken_out = room;
    return (file->flushed_bytes + chunk->used) % chunk->capacity == 0 ? flush(file, err)
                                                                      : SINTER_OK;
}

sinter_status
sinter__posix_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err)
{
    sinter__posix_file *file = posix_file(base);
    const uint8_t *rest = data;

    SINTER__CHECK(sinter__posix_check_writable(file, err));
    if (size > (uint64_t)INT64_MAX - file->flushed_bytes - file->chunk.used) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, file->path, file->flushed_bytes,
                              "a file holds at most 2^63 - 1 bytes");
    }
    if (size >= LARGE_APPEND_BYTES && !file->is_direct) {
        size_t written = 0;

        SINTER__CHECK(append_large(file, rest, size, &written, err));
        rest += written;
        size -= written;
    }
    while (size > 0) {
        size_t taken = 0;

        SINTER__CHECK(append_some(file, rest, size, &taken, err));
        rest += taken;
        size -= taken;
    }
    return SINTER_OK;
}

sinter_status
sinter__posix_sync_fd(sinter__posix_file *file, sinter_error *err)
{
    unsigned tries = 0;
    int rc = 0;

    assert(file->fd >= 0);
    assert(file->chunk.used == 0);
    do {
        rc = file->io->calls->sync_data(file->fd);
    } while (rc != 0 && sinter__posix_again(errno, &tries));
    sinter__io_count(&file->io->base.syncs, 1);
    if (rc != 0) { /* which bytes were lost is unknown: nothing in the file can be trusted */
        return sinter__posix_fail_write(file, errno, file->flushed_bytes, 0, err);
    }
    return SINTER_OK;
}

sinter_status
sinter__posix_sync(sinter_io_file *base, sinter_error *err)
{
    sinter__posix_file *file = posix_file(base);

    SINTER__CHECK(sinter__posix_check_writable(file, err));
    SINTER__CHECK(settle(file, err));
    SINTER__CHECK(sinter__posix_trim(file, err));
    return sinter__posix_sync_fd(file, err);
}

sinter_status
sinter__posix_publish(sinter_io_file *base, const char *path, sinter_error *err)
{
    sinter__posix_file *file = posix_file(base);

    SINTER__CHECK(sinter__posix_check_writable(file, err));
    SINTER__CHECK(settle(file, err));
    SINTER__CHECK(sinter__posix_trim(file, err));
    return sinter__posix_link(file, path, err);
}
