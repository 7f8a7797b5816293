/*
 * A wrapper that lets the n-th call fail, for tests of whatever uses files.
 *
 * Every operation takes a step; the step tells whether this call goes through, fails, arrives by
 * half, or is the one at which the power goes. What the backends themselves must cope with (short
 * counts, EINTR, EAGAIN) can't be seen at this height and is not here.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/sync.h"
#include "io/io_base.h"

typedef struct fault_io {
    sinter__io_wrapper base;
    const sinter_env *env;
    sinter__mutex mutex; /* guards what follows */
    sinter_fault_options rule;
    uint64_t calls;
    bool is_crashed;
} fault_io;

typedef struct fault_file {
    sinter_io_file base;
    fault_io *io;
    sinter_io_file *under;
    char *path; /* for messages */
} fault_file;

static fault_io *
fault_of(sinter_io *io)
{
    return (fault_io *)io;
}

static fault_file *
fault_file_of(sinter_io_file *file)
{
    return (fault_file *)file;
}

/* ---- the step ---- */

static sinter_fault_kind
step(fault_io *fault, const char *op)
{
    sinter_fault_kind kind = SINTER_FAULT_NONE;

    sinter__mutex_lock(&fault->mutex);
    if (fault->is_crashed) {
        kind = SINTER_FAULT_CRASH;
    }
    if (fault->rule.only_op == NULL || strcmp(fault->rule.only_op, op) == 0) {
        if (fault->calls == fault->rule.at_call && fault->rule.kind != SINTER_FAULT_NONE) {
            kind = fault->is_crashed ? kind : fault->rule.kind;
            fault->is_crashed = kind == SINTER_FAULT_CRASH;
        }
        fault->calls++;
    }
    sinter__mutex_unlock(&fault->mutex);
    return kind;
}

static sinter_status
injected(sinter_fault_kind kind, const char *path, const char *op, sinter_error *err)
{
    const int sys_errno = kind == SINTER_FAULT_ENOSPC ? ENOSPC : EIO;

    assert(kind != SINTER_FAULT_NONE);
    assert(op != NULL);
    return SINTER__ERR_SYS(err, sinter__io_status(sys_errno), sys_errno, path, -1,
                           "%s in %s, injected",
                           kind == SINTER_FAULT_CRASH ? "loss of power" : "a failure", op);
}

/* Take a step; return its failure, if it is one. */
#define STEP(fault, op, path, err)                           \
    do {                                                     \
        const sinter_fault_kind kind_ = step((fault), (op)); \
        if (kind_ != SINTER_FAULT_NONE) {                    \
            return injected(kind_, (path), (op), (err));     \
        }                                                    \
    } while (0)

/* ---- files ---- */

static sinter_status
file_new(fault_io *fault, const char *path, fault_file **out, sinter_error *err)
{
    fault_file *file = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(fault->env, file, 1, err));
    file->base.ops = &sinter__fault_ops;
    file->io = fault;
    st = sinter__strdup(fault->env, path, &file->path, err);
    if (st != SINTER_OK) {
        sinter__free(fault->env, file);
        return st;
    }
    *out = file;
    return SINTER_OK;
}

/* Closing always goes through: memory and descriptors are the living's. */
static void
fault_close(sinter_io_file *base)
{
    fault_file *file = fault_file_of(base);

    if (file->under != NULL) {
        file->under->ops->close(file->under);
    }
    sinter__free(file->io->env, file->path);
    sinter__free(file->io->env, file);
}

static sinter_status
file_hand_out(fault_file *file, sinter_status st, sinter_io_file **out)
{
    if (st == SINTER_OK) {
        assert(file->under != NULL);
        *out = &file->base;
    } else {
        file->under = NULL;
        fault_close(&file->base);
    }
    return st;
}

static sinter_status
fault_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    fault_io *fault = fault_of(io);
    fault_file *file = NULL;

    *out = NULL;
    STEP(fault, "open", path, err);
    SINTER__CHECK(file_new(fault, path, &file, err));
    return file_hand_out(
        file, fault->base.under->ops->open(fault->base.under, path, flags, &file->under, err), out);
}

static sinter_status
fault_create_file(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                  sinter_error *err)
{
    fault_io *fault = fault_of(io);
    fault_file *file = NULL;

    *out = NULL;
    STEP(fault, "create", dir, err);
    SINTER__CHECK(file_new(fault, dir, &file, err));
    return file_hand_out(
        file, fault->base.under->ops->create(fault->base.under, dir, flags, &file->under, err),
        out);
}

static sinter_status
fault_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    fault_io *fault = fault_of(io);
    fault_file *file = NULL;

    *out = NULL;
    if (fault->base.under->ops->lock == NULL) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, path, -1, "the io beneath has no locks");
    }
    STEP(fault, "lock", path, err);
    SINTER__CHECK(file_new(fault, path, &file, err));
    return file_hand_out(
        file, fault->base.under->ops->lock(fault->base.under, path, &file->under, err), out);
}

static sinter_status
fault_size(sinter_io_file *base, uint64_t *size_out, sinter_error *err)
{
    fault_file *file = fault_file_of(base);

    STEP(file->io, "size", file->path, err);
    return file->under->ops->size(file->under, size_out, err);
}

static sinter_status
fault_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    fault_file *file = fault_file_of(base);

    STEP(file->io, "read", file->path, err);
    return file->under->ops->read(file->under, ranges, count, err);
}

static sinter_status
fault_read_begin(sinter_io_file *base, const sinter_io_range *range, sinter_io_ticket *ticket,
                 sinter_error *err)
{
    fault_file *file = fault_file_of(base);

    memset(ticket, 0, sizeof *ticket);
    STEP(file->io, "read_begin", file->path, err);
    return file->under->ops->read_begin(file->under, range, ticket, err);
}

/* What was begun beneath is ended beneath, or the kernel would go on writing into the range. */
static sinter_status
fault_read_end(sinter_io_file *base, sinter_io_ticket *ticket, sinter_error *err)
{
    fault_file *file = fault_file_of(base);
    const sinter_fault_kind kind = step(file->io, "read_end");
    const sinter_status st =
        file->under->ops->read_end(file->under, ticket, kind == SINTER_FAULT_NONE ? err : NULL);

    return kind == SINTER_FAULT_NONE ? st : injected(kind, file->path, "read_end", err);
}

static sinter_status
fault_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err)
{
    fault_file *file = fault_file_of(base);
    const sinter_fault_kind kind = step(file->io, "append");

    if (kind == SINTER_FAULT_TORN_WRITE) {
        SINTER__CHECK(file->under->ops->append(file->under, data, size / 2, err));
    }
    return kind == SINTER_FAULT_NONE ? file->under->ops->append(file->under, data, size, err)
                                     : injected(kind, file->path, "append", err);
}

static sinter_status
fault_sync(sinter_io_file *base, sinter_error *err)
{
    fault_file *file = fault_file_of(base);

    STEP(file->io, "sync", file->path, err);
    return file->under->ops->sync(file->under, err);
}

static sinter_status
fault_publish(sinter_io_file *base, const char *path, sinter_error *err)
{
    fault_file *file = fault_file_of(base);

    STEP(file->io, "publish", path, err);
    return file->under->ops->publish(file->under, path, err);
}

static void *
fault_borrow(sinter_io_file *base, size_t size)
{
    return sinter__io_borrow(fault_file_of(base)->under, size);
}

static void
fault_give_back(sinter_io_file *base, void *data)
{
    sinter__io_give_back(fault_file_of(base)->under, data);
}

/* ---- names ---- */

static sinter_status
fault_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    STEP(fault, "stat", path, err);
    return fault->base.under->ops->stat(fault->base.under, path, out, err);
}

static sinter_status
fault_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    STEP(fault, "sync_dir", path, err);
    return fault->base.under->ops->sync_dir(fault->base.under, path, err);
}

static sinter_status
fault_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    STEP(fault, "mkdir", path, err);
    return fault->base.under->ops->mkdir(fault->base.under, path, err);
}

static sinter_status
fault_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    STEP(fault, "unlink", path, err);
    return fault->base.under->ops->unlink(fault->base.under, path, err);
}

static sinter_status
fault_list(sinter_io *io, const char *path, sinter_status (*each)(void *ctx, const char *name),
           void *ctx, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    STEP(fault, "list", path, err);
    return fault->base.under->ops->list(fault->base.under, path, each, ctx, err);
}

static sinter_status
fault_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    STEP(fault, "clean", dir, err);
    if (fault->base.under->ops->clean != NULL) {
        return fault->base.under->ops->clean(fault->base.under, dir, removed_out, err);
    }
    if (removed_out != NULL) {
        *removed_out = 0;
    }
    return SINTER_OK;
}

static sinter_status
fault_replace(sinter_io *io, const char *path, const void *data, size_t size, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    STEP(fault, "replace", path, err);
    return fault->base.under->ops->replace(fault->base.under, path, data, size, err);
}

static sinter_status
fault_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err)
{
    STEP(fault_of(io), "free_bytes", dir, err);
    return sinter__io_free_bytes(fault_of(io)->base.under, dir, out, err);
}

/* ---- the whole ---- */

static void
fault_destroy(sinter_io *io)
{
    fault_io *fault = fault_of(io);

    sinter__mutex_fini(&fault->mutex);
    sinter__free(fault->env, fault);
}

const sinter_io_ops sinter__fault_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "fault",
    .open = fault_open,
    .create = fault_create_file,
    .size = fault_size,
    .read = fault_read,
    .read_begin = fault_read_begin,
    .read_end = fault_read_end,
    .append = fault_append,
    .sync = fault_sync,
    .publish = fault_publish,
    .close = fault_close,
    .stat = fault_stat,
    .sync_dir = fault_sync_dir,
    .mkdir = fault_mkdir,
    .unlink = fault_unlink,
    .list = fault_list,
    .clean = fault_clean,
    .replace = fault_replace,
    .lock = fault_lock,
    .destroy = fault_destroy,
    .borrow = fault_borrow,
    .give_back = fault_give_back,
    .free_bytes = fault_free_bytes,
};

sinter_status
sinter_io_fault_create(const sinter_env *env, sinter_io *base, const sinter_fault_options *options,
                       sinter_io **out, sinter_error *err)
{
    fault_io *fault = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && base != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, fault, 1, err));
    fault->base.io.ops = &sinter__fault_ops;
    fault->env = env;
    fault->base.under = base;
    st = sinter__mutex_init(&fault->mutex, err);
    if (st != SINTER_OK) {
        sinter__free(env, fault);
        return st;
    }
    sinter_io_fault_set(&fault->base.io, options);
    *out = &fault->base.io;
    return SINTER_OK;
}

uint64_t
sinter_io_fault_calls(const sinter_io *io)
{
    fault_io *fault = sinter__io_writable(io); /* only its mutex changes */
    uint64_t calls = 0;

    assert(io->ops == &sinter__fault_ops);
    sinter__mutex_lock(&fault->mutex);
    calls = fault->calls;
    sinter__mutex_unlock(&fault->mutex);
    return calls;
}

void
sinter_io_fault_set(sinter_io *io, const sinter_fault_options *options)
{
    fault_io *fault = fault_of(io);

    assert(io->ops == &sinter__fault_ops);
    sinter__mutex_lock(&fault->mutex);
    fault->rule = options != NULL ? *options : (sinter_fault_options){.at_call = UINT64_MAX};
    fault->calls = 0;
    sinter__mutex_unlock(&fault->mutex);
}

sinter_status
sinter_io_fault_restart(sinter_io *io, sinter_error *err)
{
    fault_io *fault = fault_of(io);

    SINTER__REQUIRE(err, io != NULL && io->ops == &sinter__fault_ops);
    if (fault->base.under->ops == &sinter__memory_ops) {
        SINTER__CHECK(sinter__memory_restart(fault->base.under, err));
    }
    sinter__mutex_lock(&fault->mutex);
    fault->is_crashed = false;
    sinter__mutex_unlock(&fault->mutex);
    return SINTER_OK;
}
