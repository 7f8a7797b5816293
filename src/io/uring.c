/*
 * Files over io_uring: several reads and writes on their way at a time.
 *
 * Reads go straight into the caller's memory. Appends gather in slots; a full slot is submitted and
 * the next one filled meanwhile, up to SLOTS_MAX per file. Slots, and the aligned memory that
 * direct reads need, come from buffers registered with the kernel while there are any, else from
 * plain memory: registering may be refused (a small memlock limit), and more files may be open than
 * there are buffers. Names, directories and locks are those of the posix backend, and so is every
 * way out: what direct io can't finish (a tail, a short count) the posix functions do.
 *
 * Files of a file system in memory are the exception: reading one never waits for a device, and the
 * kernel can't do it without blocking either, so that each request would travel to a worker thread
 * and back. They are plain files of the posix backend, unless everything has to go through the
 * ring.
 *
 * A file is confined: its lists need no lock. The ring and the buffers are shared and have one
 * each.
 */
#include "io/uring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOTS_MAX = 4,               /* write-behind of one file: one is filled, three on their way */
    LARGE_APPEND_BYTES = 262144, /* from here on written from the caller's memory */
    READS_MAX = 32               /* ranges of one vectored read that are in flight together */
};

/* Registered buffers. Shared. */
typedef struct buffer_pool {
    sinter__mutex mutex; /* guards `is_tried`, `free_list`, `free_count` */
    bool is_tried;       /* made, or found that there can be none */
    sinter__io_chunk memory;
    size_t buffer_bytes;
    unsigned buffer_count;
    int *free_list;
    size_t free_count;
} buffer_pool;

typedef struct uring_io {
    sinter__posix_io posix;
    sinter__ring ring;
    buffer_pool pool;
    size_t slot_bytes;
    bool is_ring_only;
    pid_t owner; /* a ring doesn't survive a fork */
} uring_io;

/* Aligned memory: a registered buffer or a chunk of its own. */
typedef struct buffer {
    uint8_t *data;
    size_t capacity;
    int index;    /* -1: none of the registered ones */
    bool is_huge; /* a piece of the pool for direct files */
    sinter__io_chunk chunk;
} buffer;

typedef struct write_slot {
    sinter__ring_request request;
    buffer memory;
    size_t size; /* bytes submitted */
    bool is_flying;
} write_slot;

/* A read on its way. `read_begin` puts it on the heap, `read` on the stack. */
typedef struct read_slot {
    sinter__ring_request request;
    sinter_io_range range; /* as asked for */
    buffer bounce;         /* data NULL: none */
    size_t skip;           /* bytes in `bounce` before those asked for */
    bool is_deferred;      /* no memory to bounce in: read at the end, piece by piece */
    struct read_slot *next;
    struct read_slot **link; /* what points at this one in the file's list */
} read_slot;

typedef struct uring_file {
    sinter__posix_file posix; /* flushed_bytes: file offset where the slot being filled begins */
    write_slot slots[SLOTS_MAX];
    unsigned filling;     /* index of the slot being filled; those after it are the oldest */
    size_t filled;        /* bytes in it */
    read_slot *reads;     /* begun, not ended */
    read_slot *idle_read; /* kept for the next begin */
} uring_file;

static uring_io *
uring_of(const uring_file *file)
{
    return (uring_io *)file->posix.io;
}

static uring_file *
uring_file_of(sinter_io_file *base)
{
    return (uring_file *)base;
}

/* ---- buffers ---- */

static void
pool_fini(uring_io *uring)
{
    buffer_pool *pool = &uring->pool;

    sinter__free(uring->posix.base.env, pool->free_list);
    sinter__io_chunk_fini(uring->posix.base.env, &pool->memory);
    pool->free_list = NULL;
    pool->free_count = 0;
}

static int
pool_register(uring_io *uring, struct iovec *parts)
{
    const size_t size = uring->pool.buffer_bytes;

    for (unsigned i = 0; i < uring->pool.buffer_count; i++) {
        parts[i].iov_base = uring->pool.memory.data + i * size;
        parts[i].iov_len = size;
        uring->pool.free_list[i] = (int)i;
    }
    return io_uring_register_buffers(&uring->ring.uring, parts, uring->pool.buffer_count);
}

/* Buffers are a gain, not a need: where the budget or the kernel refuses them there are none. */
static sinter_status
pool_init(uring_io *uring, sinter_error *err)
{
    const sinter_env *env = uring->posix.base.env;
    buffer_pool *pool = &uring->pool;
    const size_t bytes = (size_t)pool->buffer_count * pool->buffer_bytes;
    struct iovec *parts = NULL;
    sinter_status st = SINTER_OK;

    pool->is_tried = true;
    st = sinter__io_chunk_init(env, &pool->memory, bytes, bytes, err);
    if (st == SINTER_E_TOO_LARGE) {
        return SINTER_OK;
    }
    SINTER__CHECK(st);
    SINTER__TRY(SINTER__NEW(env, parts, pool->buffer_count, err));
    SINTER__TRY(SINTER__NEW(env, pool->free_list, pool->buffer_count, err));
    if (pool_register(uring, parts) == 0) {
        pool->free_count = pool->buffer_count;
        sinter__io_count(&uring->posix.base.registered_buffers, pool->buffer_count);
    }
out:
    sinter__free(env, parts);
    if (pool->free_count == 0) {
        pool_fini(uring);
    }
    return st;
}

/* The first file that the ring moves brings the buffers: files in memory do without. Short of
 * memory they do too. */
static void
pool_need(uring_io *uring)
{
    sinter__mutex_lock(&uring->pool.mutex);
    if (!uring->pool.is_tried) {
        const sinter_status ignored = pool_init(uring, NULL);

        (void)ignored;
    }
    sinter__mutex_unlock(&uring->pool.mutex);
}

static int
pool_take(buffer_pool *pool)
{
    int index = -1;

    sinter__mutex_lock(&pool->mutex);
    if (pool->free_count > 0) {
        index = pool->free_list[--pool->free_count];
    }
    sinter__mutex_unlock(&pool->mutex);
    return index;
}

static void
pool_give(buffer_pool *pool, int index)
{
    sinter__mutex_lock(&pool->mutex);
    assert(index >= 0);
    assert(pool->free_list != NULL);
    pool->free_list[pool->free_count++] = index;
    sinter__mutex_unlock(&pool->mutex);
}

/* Registered memory if there is some of that size, else plain: `wanted` bytes or `least`. */
static sinter_status
buffer_init(uring_io *uring, buffer *memory, size_t wanted, size_t least, sinter_error *err)
{
    assert(memory->data == NULL);
    memory->index = wanted <= uring->pool.buffer_bytes ? pool_take(&uring->pool) : -1;
    if (memory->index >= 0) {
        memory->data = uring->pool.memory.data + (size_t)memory->index * uring->pool.buffer_bytes;
        memory->capacity = uring->pool.buffer_bytes;
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__io_chunk_init(uring->posix.base.env, &memory->chunk, wanted, least, err));
    memory->data = memory->chunk.data;
    memory->capacity = memory->chunk.capacity;
    return SINTER_OK;
}

static void
buffer_fini(uring_io *uring, buffer *memory)
{
    if (memory->is_huge) {
        sinter__huge_pool_give(&uring->posix.huge, memory->data);
    } else if (memory->data != NULL && memory->index >= 0) {
        pool_give(&uring->pool, memory->index);
    }
    memory->is_huge = false;
    sinter__io_chunk_fini(uring->posix.base.env, &memory->chunk);
    memory->data = NULL;
}

/* ---- writing ---- */

/* Wait for a slot; whatever the ring left of it, the posix way finishes or fails. */
static sinter_status
slot_land(uring_file *file, write_slot *slot, sinter_error *err)
{
    sinter__ring_request *request = &slot->request;
    struct iovec rest = {0};

    if (!slot->is_flying) {
        return SINTER_OK;
    }
    sinter__ring_wait(&uring_of(file)->ring, request);
    slot->is_flying = false;
    sinter__io_count(&file->posix.io->base.written_bytes, slot->size - request->size);
    if (request->sys_errno == EINVAL && request->is_whole_only) {
        if (file->posix.is_direct) { /* an earlier slot may have said so already */
            sinter__posix_leave_direct(&file->posix);
        }
    } else if (request->sys_errno != 0) {
        return sinter__posix_fail_write(&file->posix, request->sys_errno, request->offset,
                                        request->size, err);
    }
    rest.iov_base = request->data;
    rest.iov_len = request->size;
    return sinter__posix_write_all(&file->posix, &rest, 1, request->offset, err);
}

static sinter_status
slots_land(uring_file *file, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (unsigned i = 1; i <= SLOTS_MAX; i++) { /* all of them, and the oldest failure counts */
        write_slot *slot = &file->slots[(file->filling + i) % SLOTS_MAX];
        const sinter_status landed = slot_land(file, slot, st == SINTER_OK ? err : NULL);

        st = st == SINTER_OK ? landed : st;
    }
    return st;
}

static void
slot_submit(uring_file *file, write_slot *slot, size_t size)
{
    sinter__ring_request *request = &slot->request;

    assert(!slot->is_flying);
    assert(size > 0 && size <= slot->memory.capacity);
    sinter__posix_allocate(&file->posix, file->posix.flushed_bytes + size);
    *request = (sinter__ring_request){.data = slot->memory.data,
                                      .offset = file->posix.flushed_bytes,
                                      .size = size,
                                      .fd = file->posix.fd,
                                      .buffer_index = slot->memory.index,
                                      .is_write = true,
                                      .is_whole_only = file->posix.is_direct};
    slot->size = size;
    slot->is_flying = true;
    sinter__io_count(&file->posix.io->base.writes, 1);
    sinter__io_count(&file->posix.io->base.ring_calls, 1);
    sinter__ring_start(&uring_of(file)->ring, &request, 1);
    file->posix.flushed_bytes += size;
    file->filled = 0;
    file->filling = (file->filling + 1) % SLOTS_MAX;
}

/* Hand over what waits in the slot being filled. A direct file's tail goes through the page cache.
 */
static sinter_status
slots_flush(uring_file *file, sinter_error *err)
{
    write_slot *slot = &file->slots[file->filling];
    const size_t filled = file->filled;
    const size_t tail = file->posix.is_direct ? filled % SINTER__IO_ALIGN : 0;
    struct iovec rest = {0};

    if (filled == 0) {
        return SINTER_OK;
    }
    if (filled > tail) {
        slot_submit(file, slot, filled - tail);
    }
    if (tail > 0) {
        rest.iov_base = slot->memory.data + (filled - tail);
        rest.iov_len = tail;
        SINTER__CHECK(
            sinter__posix_write_all(&file->posix, &rest, 1, file->posix.flushed_bytes, err));
        file->posix.flushed_bytes += tail;
        file->filled = 0;
    }
    return sinter__posix_push(&file->posix, err);
}

/* Everything appended is the kernel's, and it has said so. */
static sinter_status
settle(uring_file *file, sinter_error *err)
{
    const sinter_status st = slots_flush(file, err);
    const sinter_status landed = slots_land(file, st == SINTER_OK ? err : NULL);

    return st == SINTER_OK ? landed : st;
}

/* The slot to fill, with memory, not on its way. */
static sinter_status
slot_ready(uring_file *file, write_slot **out, sinter_error *err)
{
    uring_io *uring = uring_of(file);
    write_slot *slot = &file->slots[file->filling];

    SINTER__CHECK(slot_land(file, slot, err));
    if (slot->memory.data == NULL && file->posix.is_direct) {
        slot->memory.data = sinter__huge_pool_take(&uring->posix.huge);
        slot->memory.is_huge = slot->memory.data != NULL;
        slot->memory.capacity = SINTER__HUGE_PIECE_BYTES;
        slot->memory.index = -1;
    }
    if (slot->memory.data == NULL) {
        const size_t least = uring->slot_bytes < SINTER__IO_CHUNK_BYTES_MIN
                                 ? uring->slot_bytes
                                 : SINTER__IO_CHUNK_BYTES_MIN;

        SINTER__CHECK(buffer_init(uring, &slot->memory, uring->slot_bytes, least, err));
    }
    assert(!slot->is_flying);
    assert(slot->memory.data != NULL);
    *out = slot;
    return SINTER_OK;
}

/* Write the front of a large append from where it is; `*written_out` bytes. */
static sinter_status
append_large(uring_file *file, const uint8_t *data, size_t size, size_t *written_out,
             sinter_error *err)
{
    struct iovec part = {.iov_base = sinter__io_writable(data)};
    uint64_t end = 0;

    assert(!file->posix.is_direct);
    SINTER__CHECK(slots_flush(file, err));
    assert(file->filled == 0);
    end = file->posix.flushed_bytes + size;
    part.iov_len = size - (size_t)(end % SINTER__IO_ALIGN);
    *written_out = part.iov_len;
    SINTER__CHECK(sinter__posix_write_all(&file->posix, &part, 1, file->posix.flushed_bytes, err));
    file->posix.flushed_bytes += *written_out;
    return sinter__posix_push(&file->posix, err);
}

/* Take bytes into the slot being filled, and submit it when it is full. */
static sinter_status
append_some(uring_file *file, const uint8_t *data, size_t size, size_t *taken_out,
            sinter_error *err)
{
    write_slot *slot = NULL;
    size_t capacity = 0;
    size_t room = 0;

    SINTER__CHECK(slot_ready(file, &slot, err));
    /* Slots end at multiples of their size, whatever was flushed in between. */
    capacity = slot->memory.capacity;
    room = capacity - (size_t)(file->posix.flushed_bytes % capacity) - file->filled;
    room = room < size ? room : size;
    assert(room > 0);
    memcpy(slot->memory.data + file->filled, data, room);
    file->filled += room;
    *taken_out = room;
    return (file->posix.flushed_bytes + file->filled) % capacity == 0 ? slots_flush(file, err)
                                                                      : SINTER_OK;
}

static sinter_status
uring_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err)
{
    uring_file *file = uring_file_of(base);
    const uint8_t *rest = data;

    SINTER__CHECK(sinter__posix_check_writable(&file->posix, err));
    if (size > (uint64_t)INT64_MAX - file->posix.flushed_bytes - file->filled) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, file->posix.path, file->posix.flushed_bytes,
                              "a file holds at most 2^63 - 1 bytes");
    }
    if (size >= LARGE_APPEND_BYTES && !file->posix.is_direct) {
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

static sinter_status
uring_size(sinter_io_file *base, uint64_t *size_out, sinter_error *err)
{
    const uring_file *file = uring_file_of(base);

    if (file->posix.is_created) {
        *size_out = file->posix.flushed_bytes + file->filled;
        return SINTER_OK;
    }
    return sinter__posix_size(base, size_out, err);
}

static sinter_status
uring_sync(sinter_io_file *base, sinter_error *err)
{
    uring_file *file = uring_file_of(base);

    SINTER__CHECK(sinter__posix_check_writable(&file->posix, err));
    SINTER__CHECK(settle(file, err));
    SINTER__CHECK(sinter__posix_trim(&file->posix, err));
    return sinter__posix_sync_fd(&file->posix, err);
}

static sinter_status
uring_publish(sinter_io_file *base, const char *path, sinter_error *err)
{
    uring_file *file = uring_file_of(base);

    SINTER__CHECK(sinter__posix_check_writable(&file->posix, err));
    SINTER__CHECK(settle(file, err));
    SINTER__CHECK(sinter__posix_trim(&file->posix, err));
    return sinter__posix_link(&file->posix, path, err);
}

/* ---- reading ---- */

/* Direct reads need aligned memory, offset and size: read what encloses the range, copy later. */
static sinter_status
bounce_init(uring_file *file, read_slot *slot, sinter_error *err)
{
    sinter__ring_request *request = &slot->request;
    const size_t skip = (size_t)(slot->range.offset % SINTER__IO_ALIGN);
    size_t span = 0;
    sinter_status st = SINTER_OK;

    if (__builtin_add_overflow(slot->range.size, skip + SINTER__IO_ALIGN - 1, &span)) {
        slot->is_deferred = true;
        return SINTER_OK;
    }
    span -= span % SINTER__IO_ALIGN;
    st = buffer_init(uring_of(file), &slot->bounce, span, span, err);
    if (st == SINTER_E_TOO_LARGE) {
        slot->is_deferred = true;
        return SINTER_OK;
    }
    slot->skip = skip;
    request->data = slot->bounce.data;
    request->buffer_index = slot->bounce.index;
    request->offset -= skip;
    request->size = span;
    return st;
}

static sinter_status
read_prepare(uring_file *file, read_slot *slot, const sinter_io_range *range, sinter_error *err)
{
    const bool is_aligned =
        (range->offset | range->size | (uintptr_t)range->data) % SINTER__IO_ALIGN == 0;

    memset(slot, 0, sizeof *slot);
    SINTER__CHECK(sinter__io_check_range(file->posix.path, range, err));
    slot->range = *range;
    slot->request = (sinter__ring_request){.data = range->data,
                                           .offset = range->offset,
                                           .size = range->size,
                                           .fd = file->posix.fd,
                                           .buffer_index = -1,
                                           .is_whole_only = file->posix.is_direct};
    if (file->posix.is_direct && !is_aligned && range->size > 0) {
        SINTER__CHECK(bounce_init(file, slot, err));
    }
    sinter__io_count(&file->posix.io->base.reads, 1);
    sinter__io_count(&file->posix.io->base.ring_calls, slot->is_deferred ? 0 : 1);
    return SINTER_OK;
}

/* What the ring did of the range, then what it left, then what it has to say. */
static sinter_status
read_result(uring_file *file, const read_slot *slot, sinter_error *err)
{
    const sinter__ring_request *request = &slot->request;
    const sinter_io_range *range = &slot->range;
    sinter_io_range rest = *range;
    size_t got = 0;

    if (slot->is_deferred) {
        return sinter__posix_read_range(&file->posix, range, err);
    }
    if (request->sys_errno != 0 && !(request->sys_errno == EINVAL && request->is_whole_only)) {
        return SINTER__IO_ERR(err, request->sys_errno, file->posix.path, request->offset,
                              "can't read");
    }
    if (slot->bounce.data == NULL) {
        got = range->size - request->size;
    } else {
        got = (size_t)(request->data - slot->bounce.data);
        got = got > slot->skip ? got - slot->skip : 0;
        got = got < range->size ? got : range->size;
        memcpy(range->data, slot->bounce.data + slot->skip, got);
    }
    sinter__io_count(&file->posix.io->base.read_bytes, got);
    if (got == range->size) {
        return SINTER_OK;
    }
    if (request->is_end) {
        return SINTER__IO_ERR_END(err, file->posix.path, range->offset + got, range->size - got);
    }
    rest.offset += got;
    rest.data = (uint8_t *)range->data + got;
    rest.size -= got;
    return sinter__posix_read_range(&file->posix, &rest, err);
}

/* Wait for a prepared read, if the kernel has it, and release what it held. */
static sinter_status
read_finish(uring_file *file, read_slot *slot, bool is_started, sinter_error *err)
{
    uring_io *uring = uring_of(file);
    sinter_status st = SINTER_OK;

    if (is_started && !slot->is_deferred) {
        sinter__ring_wait(&uring->ring, &slot->request);
        st = read_result(file, slot, err);
    } else if (is_started) {
        st = read_result(file, slot, err);
    }
    buffer_fini(uring, &slot->bounce);
    return st;
}

/* Up to READS_MAX ranges, all in flight together; every one is waited for, whatever fails. */
static sinter_status
read_some(uring_file *file, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    read_slot slots[READS_MAX];
    sinter__ring_request *requests[READS_MAX] = {NULL};
    sinter_status st = SINTER_OK;
    size_t prepared = 0;
    size_t started = 0;
    bool is_started = false;

    assert(count <= READS_MAX);
    while (prepared < count && st == SINTER_OK) {
        st = read_prepare(file, &slots[prepared], &ranges[prepared], err);
        prepared++;
    }
    is_started = st == SINTER_OK;
    for (size_t i = 0; i < prepared && is_started; i++) {
        if (!slots[i].is_deferred) {
            requests[started++] = &slots[i].request;
        }
    }
    sinter__ring_start(&uring_of(file)->ring, requests, started);
    for (size_t i = 0; i < prepared; i++) {
        const sinter_status finished =
            read_finish(file, &slots[i], is_started, st == SINTER_OK ? err : NULL);

        st = st == SINTER_OK ? finished : st;
    }
    return st;
}

static sinter_status
uring_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    uring_file *file = uring_file_of(base);

    if (file->posix.is_created) {
        SINTER__CHECK(settle(file, err));
    }
    while (count > 0) {
        const size_t some = count < READS_MAX ? count : READS_MAX;

        SINTER__CHECK(read_some(file, ranges, some, err));
        ranges += some;
        count -= some;
    }
    return SINTER_OK;
}

static void
read_link(uring_file *file, read_slot *slot)
{
    slot->next = file->reads;
    slot->link = &file->reads;
    if (slot->next != NULL) {
        slot->next->link = &slot->next;
    }
    file->reads = slot;
}

static void
read_unlink(read_slot *slot)
{
    assert(*slot->link == slot);
    *slot->link = slot->next;
    if (slot->next != NULL) {
        slot->next->link = slot->link;
    }
}

static sinter_status
uring_read_begin(sinter_io_file *base, const sinter_io_range *range, sinter_io_ticket *ticket,
                 sinter_error *err)
{
    uring_file *file = uring_file_of(base);
    uring_io *uring = uring_of(file);
    const sinter_env *env = uring->posix.base.env;
    read_slot *slot = file->idle_read;
    sinter__ring_request *request = NULL;
    sinter_status st = SINTER_OK;

    memset(ticket, 0, sizeof *ticket);
    if (file->posix.is_created) {
        SINTER__CHECK(settle(file, err));
    }
    if (slot == NULL) {
        SINTER__CHECK(SINTER__NEW(env, slot, 1, err));
    }
    assert(slot != file->reads);
    file->idle_read = NULL;
    st = read_prepare(file, slot, range, err);
    if (st != SINTER_OK) {
        buffer_fini(uring, &slot->bounce);
        file->idle_read = slot;
        return st;
    }
    read_link(file, slot);
    if (!slot->is_deferred) {
        request = &slot->request;
        sinter__ring_start(&uring->ring, &request, 1);
    }
    ticket->words[SINTER__TICKET_STATE] = SINTER__TICKET_BEGUN;
    sinter__ticket_put(ticket, SINTER__TICKET_REQUEST, slot);
    return SINTER_OK;
}

static sinter_status
uring_read_end(sinter_io_file *base, sinter_io_ticket *ticket, sinter_error *err)
{
    uring_file *file = uring_file_of(base);
    read_slot *slot = sinter__ticket_get(ticket, SINTER__TICKET_REQUEST);
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, ticket->words[SINTER__TICKET_STATE] == SINTER__TICKET_BEGUN);
    ticket->words[SINTER__TICKET_STATE] = SINTER__TICKET_IDLE;
    st = read_finish(file, slot, true, err);
    read_unlink(slot);
    if (file->idle_read == NULL) {
        file->idle_read = slot;
    } else {
        sinter__free(file->posix.io->base.env, slot);
    }
    return st;
}

/* ---- files and the whole ---- */

/* What the kernel holds is waited for first, on this path as on every other. */
static void
uring_close(sinter_io_file *base)
{
    uring_file *file = uring_file_of(base);
    uring_io *uring = uring_of(file);

    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        if (file->slots[i].is_flying) {
            sinter__ring_wait(&uring->ring, &file->slots[i].request);
        }
        buffer_fini(uring, &file->slots[i].memory);
    }
    while (file->reads != NULL) {
        read_slot *slot = file->reads;

        if (!slot->is_deferred) {
            sinter__ring_wait(&uring->ring, &slot->request);
        }
        buffer_fini(uring, &slot->bounce);
        read_unlink(slot);
        sinter__free(uring->posix.base.env, slot);
    }
    sinter__free(uring->posix.base.env, file->idle_read);
    sinter__posix_close(base);
}

/* Bytes of the open file move by the ring, or by plain calls. */
static void
choose_way(uring_io *uring, sinter_io_file *base)
{
    const uring_file *file = uring_file_of(base);

    assert(base->ops == &sinter__uring_ops);
    if (!uring->is_ring_only && uring->posix.calls->is_in_memory(file->posix.fd)) {
        base->ops = &sinter__posix_ops;
    } else {
        pool_need(uring);
    }
}

static sinter_status
uring_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    assert(((uring_io *)io)->owner == getpid());
    SINTER__CHECK(sinter__posix_open(io, path, flags, out, err));
    choose_way((uring_io *)io, *out);
    return SINTER_OK;
}

static sinter_status
uring_create_file(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                  sinter_error *err)
{
    assert(((uring_io *)io)->owner == getpid());
    SINTER__CHECK(sinter__posix_create_file(io, dir, flags, out, err));
    choose_way((uring_io *)io, *out);
    return SINTER_OK;
}

static void
uring_destroy(sinter_io *io)
{
    uring_io *uring = (uring_io *)io;

    sinter__ring_fini(&uring->ring);
    pool_fini(uring);
    sinter__mutex_fini(&uring->pool.mutex);
    sinter__posix_fini(&uring->posix);
    sinter__free(uring->posix.base.env, uring);
}

const sinter_io_ops sinter__uring_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "io_uring",
    .open = uring_open,
    .create = uring_create_file,
    .size = uring_size,
    .read = uring_read,
    .read_begin = uring_read_begin,
    .read_end = uring_read_end,
    .append = uring_append,
    .sync = uring_sync,
    .publish = uring_publish,
    .close = uring_close,
    .stat = sinter__posix_stat,
    .sync_dir = sinter__posix_sync_dir,
    .mkdir = sinter__posix_mkdir,
    .unlink = sinter__posix_unlink,
    .list = sinter__posix_list,
    .clean = sinter__posix_clean,
    .replace = sinter__posix_replace,
    .lock = sinter__posix_lock,
    .destroy = uring_destroy,
    .borrow = sinter__posix_borrow,
    .give_back = sinter__posix_give_back,
    .free_bytes = sinter__posix_free_bytes,
};

sinter_status
sinter__uring_create(const sinter_env *env, const sinter__uring_setup *setup, sinter_io **out,
                     sinter_error *err)
{
    uring_io *uring = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, uring, 1, err));
    st = sinter__posix_init(&uring->posix, &sinter__uring_ops, env, setup->calls, err);
    if (st != SINTER_OK) {
        sinter__free(env, uring);
        return st;
    }
    uring->posix.file_bytes = sizeof(uring_file);
    uring->slot_bytes = setup->buffer_bytes;
    uring->is_ring_only = setup->is_ring_only;
    uring->pool.buffer_bytes = setup->buffer_bytes;
    uring->pool.buffer_count = setup->buffer_count;
    uring->owner = getpid();
    st = sinter__mutex_init(&uring->pool.mutex, err);
    if (st != SINTER_OK) {
        sinter__posix_fini(&uring->posix);
        sinter__free(env, uring);
        return st;
    }
    st = sinter__ring_init(&uring->ring, setup->queue_depth, err);
    if (st != SINTER_OK) {
        sinter__mutex_fini(&uring->pool.mutex);
        sinter__posix_fini(&uring->posix);
        sinter__free(env, uring);
        return st;
    }
    uring->ring.hooks = setup->hooks;
    st = setup->is_ring_only ? pool_init(uring, err) : SINTER_OK;
    if (st != SINTER_OK) {
        uring_destroy(&uring->posix.base.io);
        return st;
    }
    *out = &uring->posix.base.io;
    return SINTER_OK;
}
