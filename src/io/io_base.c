#include "io/io_base.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { LEFT_SHARE = 8 /* a chunk larger than need be takes one part in so many of what is left */ };

sinter_status
sinter__io_status(int sys_errno)
{
    switch (sys_errno) {
    case ENOSPC:
    case EDQUOT:
        return SINTER_E_NO_SPACE;
    case ENOENT:
        return SINTER_E_NOT_FOUND;
    case EEXIST:
        return SINTER_E_EXISTS;
    case ENOMEM:
        return SINTER_E_NOMEM;
    default:
        return SINTER_E_IO;
    }
}

const char *
sinter__io_words(int sys_errno, char *buffer, size_t size)
{
#if defined(__GLIBC__)
    return strerror_r(sys_errno, buffer, size);
#else
    return strerror_r(sys_errno, buffer, size) == 0 ? buffer : "unknown system error";
#endif
}

const sinter_io *
sinter__io_unwrap(const sinter_io *io)
{
    while (io->ops == &sinter__fault_ops || io->ops == &sinter__limit_ops ||
           io->ops == &sinter__watch_ops) {
        io = ((const sinter__io_wrapper *)io)->under;
    }
    return io;
}

sinter_status
sinter__io_chunk_init(const sinter_env *env, sinter__io_chunk *chunk, size_t wanted, size_t least,
                      sinter_error *err)
{
    const uint64_t left = sinter_memory_limit(env->memory) - sinter_memory_used(env->memory);
    size_t bytes = wanted;
    size_t align = 0;
    size_t reserved = 0;
    sinter_status st = SINTER_OK;

    assert(wanted >= least && least % SINTER__IO_ALIGN == 0);
    assert(chunk->block == NULL);
    /* What others need of the budget comes first: they were told of `least` only. */
    if (least < wanted && wanted > left / LEFT_SHARE) {
        bytes = least;
    }
    align = bytes >= SINTER__IO_HUGE_BYTES ? SINTER__IO_HUGE_BYTES : SINTER__IO_ALIGN;
    reserved = align == SINTER__IO_HUGE_BYTES ? bytes + align : bytes;
    st = sinter_memory_reserve(env->memory, reserved, bytes == least ? err : NULL);
    if (st == SINTER_E_TOO_LARGE && bytes > least) { /* another thread was faster */
        return sinter__io_chunk_init(env, chunk, least, least, err);
    }
    SINTER__CHECK(st);
    st = sinter__resize(env, &chunk->block, bytes + align, 1, err);
    if (st != SINTER_OK) {
        sinter_memory_release(env->memory, reserved);
        return st;
    }
    chunk->data = (uint8_t *)chunk->block + (align - (uintptr_t)chunk->block % align) % align;
#if defined(MADV_HUGEPAGE)
    if (align == SINTER__IO_HUGE_BYTES) { /* a gain where the system has them */
        (void)madvise(chunk->data, bytes - bytes % SINTER__IO_HUGE_BYTES, MADV_HUGEPAGE);
    }
#endif
    chunk->capacity = bytes;
    chunk->reserved_bytes = reserved;
    chunk->used = 0;
    return SINTER_OK;
}

void
sinter__io_chunk_fini(const sinter_env *env, sinter__io_chunk *chunk)
{
    if (chunk->block != NULL) {
        sinter__free(env, chunk->block);
        sinter_memory_release(env->memory, chunk->reserved_bytes);
    }
    memset(chunk, 0, sizeof *chunk);
}

/* Size of io ops that know of lending. */
#define LENDING_SIZE (offsetof(sinter_io_ops, give_back) + sizeof(void (*)(void)))

void *
sinter__io_borrow(sinter_io_file *file, size_t size)
{
    const sinter_io_ops *ops = file->ops;

    return ops->struct_size >= LENDING_SIZE && ops->borrow != NULL ? ops->borrow(file, size) : NULL;
}

void
sinter__io_give_back(sinter_io_file *file, void *data)
{
    assert(file->ops->struct_size >= LENDING_SIZE);
    file->ops->give_back(file, data);
}

/* Size of io ops that know of free space. */
#define FREE_BYTES_SIZE (offsetof(sinter_io_ops, free_bytes) + sizeof(void (*)(void)))

sinter_status
sinter__io_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err)
{
    const sinter_io_ops *ops = io->ops;

    return ops->struct_size >= FREE_BYTES_SIZE && ops->free_bytes != NULL
               ? ops->free_bytes(io, dir, out, err)
               : SINTER_END;
}

sinter_status
sinter__io_check_range(const char *path, const sinter_io_range *range, sinter_error *err)
{
    if (range->offset > (uint64_t)INT64_MAX || range->size > (uint64_t)INT64_MAX - range->offset) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, path,
                              range->offset > (uint64_t)INT64_MAX ? INT64_MAX : range->offset,
                              "no file reaches to byte %llu of a stretch of %zu",
                              (unsigned long long)range->offset, range->size);
    }
    return SINTER_OK;
}
