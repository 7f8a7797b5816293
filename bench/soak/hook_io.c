#include "soak/hook_io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct hook_io {
    sinter_io base;
    sinter_io *under;
    soak_hook hook;
} hook_io;

typedef struct hook_file {
    sinter_io_file base;
    hook_io *io;
    sinter_io_file *under;
} hook_file;

static const sinter_io_ops hook_ops;

static hook_io *
io_of(sinter_io *io)
{
    return (hook_io *)io;
}

static hook_file *
file_of(sinter_io_file *file)
{
    return (hook_file *)file;
}

static sinter_status
fail(sinter_error *err, soak_verdict verdict, const char *what)
{
    const bool is_full = verdict == SOAK_FAIL_NO_SPACE;
    const sinter_status st = is_full ? SINTER_E_NO_SPACE : SINTER_E_IO;

    if (err != NULL) {
        *err = (sinter_error)SINTER_ERROR_INIT;
        err->status = st;
        err->sys_errno = is_full ? ENOSPC : EIO;
        err->origin_file = "bench/soak/hook_io.c";
        err->origin_line = __LINE__;
        (void)snprintf(err->text, sizeof err->text, "a failure of %s, injected", what);
    }
    return st;
}

static soak_verdict
before(hook_io *io, soak_op op)
{
    return io->hook.before(io->hook.ctx, op);
}

static sinter_status
after(hook_io *io, soak_op op, sinter_status st)
{
    if (io->hook.after != NULL) {
        io->hook.after(io->hook.ctx, op);
    }
    return st;
}

/* Make the call unless the hook lets it fail. */
#define HOOKED(io_, op_, err_, call_)                                                 \
    do {                                                                              \
        hook_io *hooked_ = (io_);                                                     \
        const soak_verdict verdict_ = before(hooked_, SOAK_OP_##op_);                 \
                                                                                      \
        return after(hooked_, SOAK_OP_##op_,                                          \
                     verdict_ == SOAK_PASS ? (call_) : fail((err_), verdict_, #op_)); \
    } while (0)

/* ---- files ---- */

static sinter_status
wrap(hook_io *io, sinter_status st, sinter_io_file *under, sinter_io_file **out)
{
    hook_file *file = NULL;

    *out = NULL;
    if (st == SINTER_OK) {
        file = soak_allocate(sizeof *file);
        *file = (hook_file){.base.ops = &hook_ops, .io = io, .under = under};
        *out = &file->base;
    }
    return st;
}

static sinter_status
pass_open(hook_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    sinter_io_file *under = NULL;
    const sinter_status st = io->under->ops->open(io->under, path, flags, &under, err);

    return wrap(io, st, under, out);
}

static sinter_status
hook_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    *out = NULL;
    HOOKED(io_of(io), OPEN, err, pass_open(io_of(io), path, flags, out, err));
}

static sinter_status
pass_create(hook_io *io, const char *dir, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    sinter_io_file *under = NULL;
    const sinter_status st = io->under->ops->create(io->under, dir, flags, &under, err);

    return wrap(io, st, under, out);
}

static sinter_status
hook_create(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    *out = NULL;
    HOOKED(io_of(io), CREATE, err, pass_create(io_of(io), dir, flags, out, err));
}

static sinter_status
pass_lock(hook_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    sinter_io_file *under = NULL;
    const sinter_status st = io->under->ops->lock(io->under, path, &under, err);

    return wrap(io, st, under, out);
}

static sinter_status
hook_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    *out = NULL;
    HOOKED(io_of(io), LOCK, err, pass_lock(io_of(io), path, out, err));
}

static sinter_status
hook_size(sinter_io_file *file, uint64_t *size_out, sinter_error *err)
{
    sinter_io_file *under = file_of(file)->under;

    HOOKED(file_of(file)->io, SIZE, err, under->ops->size(under, size_out, err));
}

static sinter_status
hook_read(sinter_io_file *file, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    sinter_io_file *under = file_of(file)->under;

    HOOKED(file_of(file)->io, READ, err, under->ops->read(under, ranges, count, err));
}

static sinter_status
hook_read_begin(sinter_io_file *file, const sinter_io_range *range, sinter_io_ticket *ticket,
                sinter_error *err)
{
    sinter_io_file *under = file_of(file)->under;

    memset(ticket, 0, sizeof *ticket);
    HOOKED(file_of(file)->io, READ_BEGIN, err, under->ops->read_begin(under, range, ticket, err));
}

/* What was begun is ended beneath in any case. */
static sinter_status
hook_read_end(sinter_io_file *file, sinter_io_ticket *ticket, sinter_error *err)
{
    hook_io *io = file_of(file)->io;
    sinter_io_file *under = file_of(file)->under;
    const soak_verdict verdict = before(io, SOAK_OP_READ_END);
    const sinter_status st = under->ops->read_end(under, ticket, verdict == SOAK_PASS ? err : NULL);

    return after(io, SOAK_OP_READ_END, verdict == SOAK_PASS ? st : fail(err, verdict, "READ_END"));
}

static sinter_status
hook_append(sinter_io_file *file, const void *data, size_t size, sinter_error *err)
{
    hook_io *io = file_of(file)->io;
    sinter_io_file *under = file_of(file)->under;
    const soak_verdict verdict = before(io, SOAK_OP_APPEND);
    sinter_status st = SINTER_OK;

    if (verdict == SOAK_PASS || verdict == SOAK_FAIL_TORN) {
        st = under->ops->append(under, data, verdict == SOAK_PASS ? size : size / 2, err);
    }
    if (verdict != SOAK_PASS && st == SINTER_OK) {
        st = fail(err, verdict, "APPEND");
    }
    return after(io, SOAK_OP_APPEND, st);
}

static sinter_status
hook_sync(sinter_io_file *file, sinter_error *err)
{
    sinter_io_file *under = file_of(file)->under;

    HOOKED(file_of(file)->io, SYNC, err, under->ops->sync(under, err));
}

static sinter_status
hook_publish(sinter_io_file *file, const char *path, sinter_error *err)
{
    sinter_io_file *under = file_of(file)->under;

    HOOKED(file_of(file)->io, PUBLISH, err, under->ops->publish(under, path, err));
}

static void
hook_close(sinter_io_file *file)
{
    sinter_io_file *under = file_of(file)->under;

    under->ops->close(under);
    free(file);
}

static void *
hook_borrow(sinter_io_file *file, size_t size)
{
    sinter_io_file *under = file_of(file)->under;

    return under->ops->borrow == NULL ? NULL : under->ops->borrow(under, size);
}

static void
hook_give_back(sinter_io_file *file, void *data)
{
    sinter_io_file *under = file_of(file)->under;

    under->ops->give_back(under, data);
}

/* ---- names ---- */

static sinter_status
hook_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    sinter_io *under = io_of(io)->under;

    HOOKED(io_of(io), STAT, err, under->ops->stat(under, path, out, err));
}

static sinter_status
hook_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    sinter_io *under = io_of(io)->under;

    HOOKED(io_of(io), SYNC_DIR, err, under->ops->sync_dir(under, path, err));
}

static sinter_status
hook_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    sinter_io *under = io_of(io)->under;

    HOOKED(io_of(io), MKDIR, err, under->ops->mkdir(under, path, err));
}

static sinter_status
hook_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    sinter_io *under = io_of(io)->under;

    HOOKED(io_of(io), UNLINK, err, under->ops->unlink(under, path, err));
}

static sinter_status
hook_list(sinter_io *io, const char *path, sinter_status (*each)(void *ctx, const char *name),
          void *ctx, sinter_error *err)
{
    sinter_io *under = io_of(io)->under;

    HOOKED(io_of(io), LIST, err, under->ops->list(under, path, each, ctx, err));
}

static sinter_status
pass_clean(sinter_io *under, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    if (under->ops->clean != NULL) {
        return under->ops->clean(under, dir, removed_out, err);
    }
    if (removed_out != NULL) {
        *removed_out = 0;
    }
    return SINTER_OK;
}

static sinter_status
hook_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    HOOKED(io_of(io), CLEAN, err, pass_clean(io_of(io)->under, dir, removed_out, err));
}

static sinter_status
hook_replace(sinter_io *io, const char *path, const void *data, size_t size, sinter_error *err)
{
    sinter_io *under = io_of(io)->under;

    HOOKED(io_of(io), REPLACE, err, under->ops->replace(under, path, data, size, err));
}

static void
hook_destroy(sinter_io *io)
{
    free(io);
}

static const sinter_io_ops hook_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "hook",
    .open = hook_open,
    .create = hook_create,
    .size = hook_size,
    .read = hook_read,
    .read_begin = hook_read_begin,
    .read_end = hook_read_end,
    .append = hook_append,
    .sync = hook_sync,
    .publish = hook_publish,
    .close = hook_close,
    .stat = hook_stat,
    .sync_dir = hook_sync_dir,
    .mkdir = hook_mkdir,
    .unlink = hook_unlink,
    .list = hook_list,
    .clean = hook_clean,
    .replace = hook_replace,
    .lock = hook_lock,
    .destroy = hook_destroy,
    .borrow = hook_borrow,
    .give_back = hook_give_back,
};

sinter_io *
soak_hook_io_create(sinter_io *base, const soak_hook *hook)
{
    hook_io *io = soak_allocate(sizeof *io);

    *io = (hook_io){.base.ops = &hook_ops, .under = base, .hook = *hook};
    return &io->base;
}
