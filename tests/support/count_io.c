#include "support/count_io.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct count_file {
    sinter_io_file base;
    count_io *io;
    sinter_io_file *inner;
} count_file;

static sinter_io *
inner_io(sinter_io *io)
{
    return ((count_io *)io)->inner;
}

static sinter_io_file *
inner_file(sinter_io_file *file)
{
    return ((count_file *)file)->inner;
}

static const sinter_io_ops count_ops;

/* Wrap a file that was opened; takes it. */
static sinter_status
count_wrap(sinter_io *base, sinter_io_file *inner, sinter_io_file **out)
{
    count_io *io = (count_io *)base;
    count_file *file = malloc(sizeof *file);
    int64_t open_files = 0;

    if (file == NULL) {
        abort();
    }
    *file = (count_file){.base.ops = &count_ops, .io = io, .inner = inner};
    open_files = atomic_fetch_add(&io->open_files, 1) + 1;
    if (open_files > atomic_load(&io->open_files_max)) {
        atomic_store(&io->open_files_max, open_files);
    }
    *out = &file->base;
    return SINTER_OK;
}

static sinter_status
count_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    sinter_io_file *inner = NULL;
    const sinter_status st = inner_io(io)->ops->open(inner_io(io), path, flags, &inner, err);

    *out = NULL;
    if (st != SINTER_OK) {
        return st;
    }
    atomic_fetch_add(&((count_io *)io)->opened, 1);
    return count_wrap(io, inner, out);
}

static sinter_status
count_create(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
             sinter_error *err)
{
    sinter_io_file *inner = NULL;
    const sinter_status st = inner_io(io)->ops->create(inner_io(io), dir, flags, &inner, err);

    *out = NULL;
    if (st != SINTER_OK) {
        return st;
    }
    atomic_fetch_add(&((count_io *)io)->created, 1);
    return count_wrap(io, inner, out);
}

static sinter_status
count_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    sinter_io_file *inner = NULL;
    sinter_status st = SINTER_E_UNSUPPORTED;

    *out = NULL;
    if (inner_io(io)->ops->lock != NULL) {
        st = inner_io(io)->ops->lock(inner_io(io), path, &inner, err);
    }
    return st != SINTER_OK ? st : count_wrap(io, inner, out);
}

static sinter_status
count_size(sinter_io_file *file, uint64_t *size_out, sinter_error *err)
{
    return inner_file(file)->ops->size(inner_file(file), size_out, err);
}

static sinter_status
count_read(sinter_io_file *file, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    return inner_file(file)->ops->read(inner_file(file), ranges, count, err);
}

static sinter_status
count_read_begin(sinter_io_file *file, const sinter_io_range *range, sinter_io_ticket *ticket,
                 sinter_error *err)
{
    const sinter_status st =
        inner_file(file)->ops->read_begin(inner_file(file), range, ticket, err);

    atomic_fetch_add(&((count_file *)file)->io->reads, st == SINTER_OK ? 1 : 0);
    return st;
}

static sinter_status
count_read_end(sinter_io_file *file, sinter_io_ticket *ticket, sinter_error *err)
{
    atomic_fetch_sub(&((count_file *)file)->io->reads, 1);
    return inner_file(file)->ops->read_end(inner_file(file), ticket, err);
}

static sinter_status
count_append(sinter_io_file *file, const void *data, size_t size, sinter_error *err)
{
    return inner_file(file)->ops->append(inner_file(file), data, size, err);
}

static sinter_status
count_sync(sinter_io_file *file, sinter_error *err)
{
    return inner_file(file)->ops->sync(inner_file(file), err);
}

static sinter_status
count_publish(sinter_io_file *file, const char *path, sinter_error *err)
{
    return inner_file(file)->ops->publish(inner_file(file), path, err);
}

static void
count_close(sinter_io_file *base)
{
    count_file *file = (count_file *)base;

    file->inner->ops->close(file->inner);
    atomic_fetch_sub(&file->io->open_files, 1);
    free(file);
}

static sinter_status
count_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    return inner_io(io)->ops->stat(inner_io(io), path, out, err);
}

static sinter_status
count_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    return inner_io(io)->ops->sync_dir(inner_io(io), path, err);
}

static sinter_status
count_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    return inner_io(io)->ops->mkdir(inner_io(io), path, err);
}

static sinter_status
count_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    return inner_io(io)->ops->unlink(inner_io(io), path, err);
}

static sinter_status
count_list(sinter_io *io, const char *path, sinter_status (*each)(void *ctx, const char *name),
           void *ctx, sinter_error *err)
{
    return inner_io(io)->ops->list(inner_io(io), path, each, ctx, err);
}

static sinter_status
count_clean(sinter_io *io, const char *dir, uint64_t *removed_out, sinter_error *err)
{
    *removed_out = 0;
    return inner_io(io)->ops->clean == NULL
               ? SINTER_OK
               : inner_io(io)->ops->clean(inner_io(io), dir, removed_out, err);
}

static sinter_status
count_replace(sinter_io *io, const char *path, const void *data, size_t size, sinter_error *err)
{
    return inner_io(io)->ops->replace(inner_io(io), path, data, size, err);
}

static sinter_status
count_free_bytes(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err)
{
    const count_io *count = (const count_io *)io;

    (void)dir;
    (void)err;
    *out = count->free_bytes;
    return count->tells_free ? SINTER_OK : SINTER_END;
}

static const sinter_io_ops count_ops = {
    .struct_size = sizeof(sinter_io_ops),
    .name = "count",
    .open = count_open,
    .create = count_create,
    .size = count_size,
    .read = count_read,
    .read_begin = count_read_begin,
    .read_end = count_read_end,
    .append = count_append,
    .sync = count_sync,
    .publish = count_publish,
    .close = count_close,
    .stat = count_stat,
    .sync_dir = count_sync_dir,
    .mkdir = count_mkdir,
    .unlink = count_unlink,
    .list = count_list,
    .clean = count_clean,
    .replace = count_replace,
    .lock = count_lock,
    .free_bytes = count_free_bytes,
};

void
count_io_init(count_io *io, sinter_io *inner)
{
    *io = (count_io){.base.ops = &count_ops, .inner = inner};
}
