/*
 * What the built-in backends share: counters, failures from errno, aligned chunks.
 */
#ifndef SINTER_IO_IO_BASE_H
#define SINTER_IO_IO_BASE_H

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "sinter/io.h"

enum {
    SINTER__IO_ALIGN = 4096,            /* address, offset and size of direct reads and writes */
    SINTER__IO_HUGE_BYTES = 2 << 20,    /* a huge page: what chunks of that size and more lie in */
    SINTER__IO_CHUNK_BYTES = 1 << 20,   /* write-behind: what one write carries */
    SINTER__IO_CHUNK_BYTES_MIN = 65536, /* the same where the memory budget is short */
    SINTER__IO_WORDS_BYTES = 128
};

/** Head of every built-in backend. Shared: counters are atomic, the rest never changes. */
typedef struct sinter__io_base {
    sinter_io io;
    const sinter_env *env; /* borrowed */
    _Atomic uint64_t reads;
    _Atomic uint64_t read_bytes;
    _Atomic uint64_t writes;
    _Atomic uint64_t written_bytes;
    _Atomic uint64_t syncs;
    _Atomic uint64_t registered_buffers;
    _Atomic uint64_t ring_calls;
} sinter__io_base;

static inline void
sinter__io_count(_Atomic uint64_t *counter, uint64_t amount)
{
    (void)atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

/** Status for an errno. Source: design 4.10, io.h. */
sinter_status
sinter__io_status(int sys_errno);

/** The system's words for `sys_errno`, written to `buffer` or static. */
const char *
sinter__io_words(int sys_errno, char *buffer, size_t size);

/** Fill `err` with text, path, offset and the system's words; the status follows from the errno. */
#define SINTER__IO_ERR(err, sys_errno, path, offset, text)                                    \
    SINTER__ERR_SYS(                                                                          \
        (err), sinter__io_status(sys_errno), (sys_errno), (path), (offset), "%s: %s", (text), \
        sinter__io_words((sys_errno), (char[SINTER__IO_WORDS_BYTES]){0}, SINTER__IO_WORDS_BYTES))

/** The same bytes for an interface that takes no const, though it only reads. */
static inline void *
sinter__io_writable(const void *data)
{
    const union {
        const void *given;
        void *taken;
    } same = {.given = data};

    return same.taken;
}

/** A pointer in a word of a ticket. */
static inline void
sinter__ticket_put(sinter_io_ticket *ticket, size_t word, const void *pointer)
{
    static_assert(sizeof pointer <= sizeof ticket->words[0], "a word holds a pointer");
    memcpy(&ticket->words[word], &pointer, sizeof pointer);
}

static inline void *
sinter__ticket_get(const sinter_io_ticket *ticket, size_t word)
{
    void *pointer = NULL;

    memcpy(&pointer, &ticket->words[word], sizeof pointer);
    return pointer;
}

/** An aligned stretch of memory that counts against the budget of the environment. */
typedef struct sinter__io_chunk {
    void *block; /* what the allocator gave */
    uint8_t *data;
    size_t capacity;
    size_t reserved_bytes; /* of the budget */
    size_t used;
} sinter__io_chunk;

/**
 * Get memory for a chunk: `wanted` bytes, or `least` where that would be more than an eighth of
 * what the budget has left. Both are multiples of SINTER__IO_ALIGN.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE
 */
sinter_status
sinter__io_chunk_init(const sinter_env *env, sinter__io_chunk *chunk, size_t wanted, size_t least,
                      sinter_error *err);
/** Give it back; takes a zeroed chunk. */
void
sinter__io_chunk_fini(const sinter_env *env, sinter__io_chunk *chunk);

/** As borrow and give_back of sinter_io_ops, for files of any version of the struct. */
void *
sinter__io_borrow(sinter_io_file *file, size_t size);
void
sinter__io_give_back(sinter_io_file *file, void *data);

/** As free_bytes of sinter_io_ops, of any version of the struct. @return SINTER_OK, SINTER_END: not
 *  to be told, or a failure */
sinter_status
sinter__io_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err);

/** Does the stretch lie within what a file offset can name? SINTER_E_CORRUPT if not. */
sinter_status
sinter__io_check_range(const char *path, const sinter_io_range *range, sinter_error *err);

/** The failure of a read that met the end of the file at `offset` with `missing` bytes to go. */
#define SINTER__IO_ERR_END(err, path, offset, missing)        \
    SINTER__ERR_AT((err), SINTER_E_CORRUPT, (path), (offset), \
                   "the file ends where %llu more bytes should be", (unsigned long long)(missing))

extern const sinter_io_ops sinter__posix_ops;
extern const sinter_io_ops sinter__memory_ops;
#ifdef SINTER_HAVE_URING
extern const sinter_io_ops sinter__uring_ops;
#endif

extern const sinter_io_ops sinter__fault_ops;
extern const sinter_io_ops sinter__limit_ops;
extern const sinter_io_ops sinter__watch_ops;

/** Head of the wrappers. */
typedef struct sinter__io_wrapper {
    sinter_io io;
    sinter_io *under; /* borrowed */
} sinter__io_wrapper;

/** The backend beneath any number of wrappers. */
const sinter_io *
sinter__io_unwrap(const sinter_io *io);

/** The memory backend; sinter_io_destroy() releases it. */
sinter_status
sinter__memory_create(const sinter_env *env, sinter_io **out, sinter_error *err);

/** Drop what was not synced. SINTER_E_BUSY while files are open, SINTER_E_NOMEM never. */
sinter_status
sinter__memory_restart(sinter_io *io, sinter_error *err);

#endif
